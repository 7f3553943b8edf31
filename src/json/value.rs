//! A JSON value that is still bytes.

use super::kind::ValueKind;
use super::number::{of_digits, Number};
use super::text::{Text, TextFlags};
use crate::shown::show;
use core::fmt;

/// A JSON value, not parsed yet. Borrows its bytes.
///
/// Only the parts that [`Cursor::value`](super::Cursor::value) checks are checked; errors in other parts appear when
/// these are read.
///
/// ```
/// let value = deltawire::json::parse_lazy(br#"{"a": [1, "two", null]}"#)?;
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
    /// Wraps the bytes and flags that a cursor returned, without checking them.
    #[inline]
    pub(crate) fn from_span(raw: &'a [u8], flags: TextFlags) -> Self {
        Value { raw, flags }
    }

    /// Returns the flags that the search for the string's end found.
    #[cfg(test)]
    pub(crate) fn flags(&self) -> TextFlags {
        self.flags
    }

    /// Returns its bytes, including the quotes of a string.
    #[inline]
    pub fn raw(&self) -> &'a [u8] {
        self.raw
    }

    /// Returns its kind, judged by the first byte.
    #[inline]
    pub fn kind(&self) -> ValueKind {
        self.raw.first().and_then(|&byte| ValueKind::of(byte)).unwrap_or(ValueKind::Null)
    }

    /// Whether the value is `null`.
    #[inline]
    pub fn is_null(&self) -> bool {
        self.kind() == ValueKind::Null
    }

    /// Returns the value of a boolean.
    #[inline]
    pub fn as_bool(&self) -> Option<bool> {
        match self.raw.first() {
            Some(b't') => Some(true),
            Some(b'f') => Some(false),
            _ => None,
        }
    }

    /// Returns the text of a string.
    #[inline]
    pub fn as_text(&self) -> Option<Text<'a>> {
        match self.raw {
            [b'"', raw @ .., b'"'] => Some(Text::from_raw(raw, self.flags)),
            _ => None,
        }
    }

    /// Returns the number.
    #[inline]
    pub fn as_number(&self) -> Option<Number<'a>> {
        if self.kind() != ValueKind::Number {
            return None;
        }
        Number::from_checked(self.raw)
    }

    /// Returns a number as [`Number::to_u64`] does.
    pub(crate) fn as_u64(&self) -> Option<u64> {
        // Nearly all numbers are only digits.
        of_digits(self.raw).or_else(|| self.as_number()?.to_u64())
    }

    /// Wraps bytes that a cursor or a view returned before, so that a value can be stored as offset and length. Any
    /// bytes are allowed; only those that the caller asks for are read.
    #[inline]
    pub fn from_raw(raw: &'a [u8]) -> Self {
        Value::from_span(raw, TextFlags::UNKNOWN)
    }

    /// Wraps a payload, without the whitespace around it. Out of line, because many places call it.
    #[inline(never)]
    pub(crate) fn of_payload(payload: &'a [u8]) -> Self {
        Value::from_raw(payload.trim_ascii())
    }
}

impl fmt::Debug for Value<'_> {
    /// Writes the bytes, or the first 64 of many, with ill-formed UTF-8 replaced and control characters escaped.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let chars = Text::verbatim(self.raw).chars();
        show(f, "", chars, self.raw.len(), char::is_control)
    }
}
