//! A value that is still bytes.

use super::walk::Walk;
use super::{Cursor, JsonError, Kind, Number, Text, TextFlags};
use core::fmt;
use core::iter::FusedIterator;

/// A JSON value: its bytes, not read yet. It borrows them.
///
/// What [`Cursor::value`] leaves unchecked is still unchecked here, and shows when it is read.
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

    /// What the search for its end told of a string's bytes.
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

    /// The members, in order; none if it is no object. Offsets of errors count from the first byte of this value. The
    /// iterator ends after an error.
    #[inline]
    pub fn members(&self) -> Members<'a> {
        let mut cursor = self.inner();
        let open = cursor.begin_object().is_ok();
        Members { cursor, open }
    }

    /// The elements, in order; none if it is no array. Offsets of errors count from the first byte of this value. The
    /// iterator ends after an error.
    #[inline]
    pub fn elements(&self) -> Elements<'a> {
        let mut cursor = self.inner();
        let open = cursor.begin_array().is_ok();
        Elements { cursor, open }
    }

    /// The value of the member with this name, `None` if there is none or this is no object. Of several the last one
    /// counts, so all members are walked. Names are compared after unescaping.
    ///
    /// # Errors
    /// The first fault among the members, wherever it is.
    pub fn get(&self, name: &str) -> Result<Option<Value<'a>>, JsonError> {
        let mut found = None;
        for member in self.members() {
            let (key, value) = member?;
            if key == name {
                found = Some(value);
            }
        }
        Ok(found)
    }

    /// The value with these bytes, which a cursor or a view gave before: what lets a value be kept as an offset and a
    /// length. Nothing is looked at but what is asked for, whatever the bytes are.
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

    /// Who made the value saw to its depth.
    #[inline]
    fn inner(&self) -> Cursor<'a> {
        Cursor::with_max_depth(self.raw, u32::MAX)
    }
}

impl fmt::Debug for Value<'_> {
    /// The bytes as they stand, ill-formed UTF-8 replaced.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&Text::verbatim(self.raw), f)
    }
}

/// The members of an object. Made by [`Value::members`].
#[derive(Clone, Debug)]
pub struct Members<'a> {
    cursor: Cursor<'a>,
    open: bool,
}

impl<'a> Iterator for Members<'a> {
    type Item = Result<(Text<'a>, Value<'a>), JsonError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if !self.open {
            return None;
        }
        let member = match self.cursor.next_member() {
            Ok(Some(name)) => self.cursor.value().map(|value| (name, value)),
            Ok(None) => {
                self.open = false;
                return None;
            }
            Err(error) => Err(error),
        };
        self.open = member.is_ok();
        Some(member)
    }
}

impl FusedIterator for Members<'_> {}

/// The elements of an array. Made by [`Value::elements`].
#[derive(Clone, Debug)]
pub struct Elements<'a> {
    cursor: Cursor<'a>,
    open: bool,
}

impl<'a> Iterator for Elements<'a> {
    type Item = Result<Value<'a>, JsonError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if !self.open {
            return None;
        }
        let element = match self.cursor.next_element() {
            Ok(true) => self.cursor.value(),
            Ok(false) => {
                self.open = false;
                return None;
            }
            Err(error) => Err(error),
        };
        self.open = element.is_ok();
        Some(element)
    }
}

impl FusedIterator for Elements<'_> {}
