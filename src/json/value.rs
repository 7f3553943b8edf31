//! A value that is still bytes.

use super::kind::Kind;
use super::number::Number;
use super::text::{Text, TextFlags};
use super::walk::Walk;
use core::fmt;

/// A JSON value: its bytes, not read yet. It borrows them.
///
/// What [`Cursor::value`](super::Cursor::value) leaves unchecked is still unchecked here, and shows when it is read.
///
/// ```
/// let value = deltawire::json::parse(br#"{"a": [1, "two", null]}"#)?;
/// let list = value.get("a")?.unwrap();
/// assert_eq!(list.raw(), br#"[1, "two", null]"#);
/// let mut elements = list.elements();
/// assert_eq!(elements.next().unwrap()?.as_number().unwrap().to_u64(), Some(1));
/// assert_eq!(elements.next().unwrap()?.as_text().unwrap(), "two");
/// assert!(elements.next().unwrap()?.is_null());
/// assert!(elements.next().is_none());
/// # Ok::<(), deltawire::json::JsonError>(())
/// ```
#[derive(Clone, Copy)]
pub struct Value<'a> {
    raw: &'a [u8],
    flags: TextFlags,
}

impl<'a> Value<'a> {
    /// The value with these bytes, without looking at them: they and the flags are what a cursor gave.
    #[inline]
    pub(crate) fn from_span(raw: &'a [u8], flags: TextFlags) -> Self {
        Value { raw, flags }
    }

    /// What the search for the string's end found out about its bytes.
    #[cfg(test)]
    pub(crate) fn flags(&self) -> TextFlags {
        self.flags
    }

    /// Its bytes as they stand, a string with its quotes.
    #[inline]
    pub fn raw(&self) -> &'a [u8] {
        self.raw
    }

    /// Its kind, by the first byte.
    #[inline]
    pub fn kind(&self) -> Kind {
        self.raw.first().and_then(|&byte| Kind::of(byte)).unwrap_or(Kind::Null)
    }

    /// Whether it is `null`.
    #[inline]
    pub fn is_null(&self) -> bool {
        self.kind() == Kind::Null
    }

    /// The truth value, if it is one.
    #[inline]
    pub fn as_bool(&self) -> Option<bool> {
        match self.raw.first() {
            Some(b't') => Some(true),
            Some(b'f') => Some(false),
            _ => None,
        }
    }

    /// The text, if it is a string.
    #[inline]
    pub fn as_text(&self) -> Option<Text<'a>> {
        match self.raw {
            [b'"', raw @ .., b'"'] => Some(Text::from_raw(raw, self.flags)),
            _ => None,
        }
    }

    /// The number, if it is one.
    #[inline]
    pub fn as_number(&self) -> Option<Number<'a>> {
        if self.kind() != Kind::Number {
            return None;
        }
        Number::from_checked(self.raw)
    }

    /// The value with these bytes, which a cursor or a view gave before: what lets a value be kept as an offset and a
    /// length. Only the part that is asked for is read, and any bytes are allowed.
    #[inline]
    pub fn from_raw(raw: &'a [u8]) -> Self {
        Value::from_span(raw, TextFlags::UNKNOWN)
    }

    /// The next element of an array. `at` is 0 at first, and then where the search goes on: an offset, plain data, that
    /// can be kept where an iterator cannot. `None`: the end, also where the bytes are malformed, or no array.
    #[inline]
    pub fn element_at(&self, at: &mut usize) -> Option<Value<'a>> {
        let mut walk = self.walk_at(b'[', at)?;
        if !walk.element() {
            return None;
        }
        let value = self.read(&mut walk)?;
        *at = walk.offset();
        Some(value)
    }

    /// The next member of an object: its name and its value. As [`element_at`](Value::element_at).
    #[inline]
    pub fn member_at(&self, at: &mut usize) -> Option<(Text<'a>, Value<'a>)> {
        let mut walk = self.walk_at(b'{', at)?;
        let name = walk.member()?;
        let name = Text::from_raw(name, walk.flags());
        let value = self.read(&mut walk)?;
        *at = walk.offset();
        Some((name, value))
    }

    /// A walk inside this container. `at` says that it is over, unless the caller puts it right.
    fn walk_at(&self, bracket: u8, at: &mut usize) -> Option<Walk<'a>> {
        let offset = core::mem::replace(at, usize::MAX);
        if offset > 0 {
            return (self.raw.first() == Some(&bracket)).then(|| Walk::again(self.raw, offset));
        }
        let mut walk = Walk::new(self.raw, u32::MAX);
        walk.begin(bracket).then_some(walk)
    }

    fn read(&self, walk: &mut Walk<'a>) -> Option<Value<'a>> {
        let (start, end) = walk.value()?;
        Some(Value::from_span(self.raw.get(start..end)?, walk.flags()))
    }
}

impl fmt::Debug for Value<'_> {
    /// The bytes as they stand, ill-formed UTF-8 replaced.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&Text::verbatim(self.raw), f)
    }
}
