//! The cursor: forward only, and lazy.

use super::error::{JsonError, JsonErrorKind};
use super::kind::Kind;
use super::text::Text;
use super::value::Value;
use super::walk::Walk;
use crate::Limits;
use core::fmt;

/// Walks through JSON bytes, forward only, and enters only the containers that its caller enters.
///
/// Enter a container with [`begin_object`](Cursor::begin_object) or [`begin_array`](Cursor::begin_array), go from
/// member to member or element to element until the end of the container is reported, and after each member name or
/// element either read the value over ([`value`](Cursor::value)) or enter it. Doing neither, or asking for a member
/// inside an array, is reported as a fault of the bytes, or makes what follows meaningless; it cannot panic.
///
/// After an error every step gives that error again.
///
/// ```
/// use deltawire::json::{Cursor, Kind};
/// let mut cursor = Cursor::new(br#"{"skip": [1, {"a": 2}], "list": [true, null]}"#);
/// cursor.begin_object()?;
/// while let Some(name) = cursor.next_member()? {
///     if name == "list" {
///         cursor.begin_array()?;
///         while cursor.next_element()? {
///             assert!(matches!(cursor.value()?.kind(), Kind::Bool | Kind::Null));
///         }
///     } else {
///         assert_eq!(cursor.value()?.raw(), br#"[1, {"a": 2}]"#);
///     }
/// }
/// cursor.end()?;
/// # Ok::<(), deltawire::json::JsonError>(())
/// ```
#[derive(Clone)]
pub struct Cursor<'a> {
    walk: Walk<'a>,
}

impl<'a> Cursor<'a> {
    /// A cursor before the first byte. Containers may nest 128 levels deep.
    #[inline]
    pub fn new(bytes: &'a [u8]) -> Self {
        Cursor::with_max_depth(bytes, Limits::DEFAULT.max_depth)
    }

    /// A cursor before the first byte. Containers may nest `max_depth` levels deep, those entered and those read over
    /// alike.
    #[inline]
    pub fn with_max_depth(bytes: &'a [u8], max_depth: u32) -> Self {
        Cursor { walk: Walk::new(bytes, max_depth) }
    }

    /// Where the cursor stands: right after what was read last; after [`peek`](Cursor::peek) at the first byte of the
    /// value. An offset in the bytes given.
    #[inline]
    pub fn offset(&self) -> usize {
        self.walk.offset()
    }

    /// The kind of the value that comes next, by its first byte. Whitespace before it is consumed, nothing else.
    ///
    /// # Errors
    /// `UnexpectedEnd`, or `UnexpectedByte` if no value can begin so.
    #[inline]
    pub fn peek(&mut self) -> Result<Kind, JsonError> {
        let byte = self.walk.peek();
        self.told(())?;
        Kind::of(byte).ok_or_else(|| {
            let at = self.walk.offset();
            let ended = at >= self.walk.bytes().len();
            (if ended { JsonErrorKind::UnexpectedEnd } else { JsonErrorKind::UnexpectedByte }).at(at)
        })
    }

    /// Enters the object that comes next.
    ///
    /// # Errors
    /// `UnexpectedEnd`, `UnexpectedByte` if something else comes, `TooDeep`.
    #[inline]
    pub fn begin_object(&mut self) -> Result<(), JsonError> {
        self.walk.begin(b'{');
        self.told(())
    }

    /// Enters the array that comes next.
    ///
    /// # Errors
    /// `UnexpectedEnd`, `UnexpectedByte` if something else comes, `TooDeep`.
    #[inline]
    pub fn begin_array(&mut self) -> Result<(), JsonError> {
        self.walk.begin(b'[');
        self.told(())
    }

    /// The name of the next member of the object entered last, whose value then has to be read or entered. `None`: the
    /// object ended, and the cursor is behind it.
    ///
    /// # Errors
    /// `UnexpectedEnd`; `UnexpectedByte` where a comma, a name, a colon or the right bracket is expected.
    #[inline]
    pub fn next_member(&mut self) -> Result<Option<Text<'a>>, JsonError> {
        let name = self.walk.member();
        let flags = self.walk.flags();
        self.told(name.map(|name| Text::from_raw(name, flags)))
    }

    /// Whether the array entered last has another element, which then has to be read or entered. `false`: the array
    /// ended, and the cursor is behind it.
    ///
    /// # Errors
    /// `UnexpectedEnd`; `UnexpectedByte` where a comma, a value or the right bracket is expected.
    #[inline]
    pub fn next_element(&mut self) -> Result<bool, JsonError> {
        let more = self.walk.element();
        self.told(more)
    }

    /// Reads over the value that comes next and returns it, its bytes unread but for what it takes to find its end: a
    /// container is checked for balance, a string for its closing quote, a number and a literal in full. The bytes of
    /// the value are those before [`offset`](Cursor::offset).
    ///
    /// # Errors
    /// `UnexpectedEnd`, `UnexpectedByte`, `TooDeep`, `BadNumber`, `BadLiteral`.
    #[inline]
    pub fn value(&mut self) -> Result<Value<'a>, JsonError> {
        let (start, end) = self.walk.value().unwrap_or_default();
        let raw = self.walk.bytes().get(start..end).unwrap_or_default();
        self.told(Value::from_span(raw, self.walk.flags()))
    }

    /// Makes sure that nothing but whitespace is left.
    ///
    /// # Errors
    /// `TrailingBytes`; `UnexpectedEnd` if a container is still open.
    #[inline]
    pub fn end(&mut self) -> Result<(), JsonError> {
        self.walk.peek();
        self.told(())?;
        let at = self.walk.offset();
        if at < self.walk.bytes().len() {
            Err(JsonErrorKind::TrailingBytes.at(at))
        } else if self.walk.depth() > 0 {
            Err(JsonErrorKind::UnexpectedEnd.at(at))
        } else {
            Ok(())
        }
    }

    /// What was read, or what is wrong.
    #[inline]
    fn told<T>(&self, read: T) -> Result<T, JsonError> {
        match self.walk.fault() {
            None => Ok(read),
            Some(fault) => Err(fault),
        }
    }
}

impl fmt::Debug for Cursor<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rest = Text::verbatim(self.walk.bytes().get(self.offset()..).unwrap_or_default());
        f.debug_struct("Cursor")
            .field("offset", &self.offset())
            .field("depth", &self.walk.depth())
            .field("rest", &rest)
            .finish()
    }
}

/// The one value in `bytes`, with nothing but whitespace round it. It is checked as [`Cursor::value`] does: a container
/// for balance (128 levels at most), anything else in full but for what is inside a string.
///
/// # Errors
/// What [`Cursor::value`] and [`Cursor::end`] return.
#[inline]
pub fn parse(bytes: &[u8]) -> Result<Value<'_>, JsonError> {
    let mut cursor = Cursor::new(bytes);
    let value = cursor.value()?;
    cursor.end()?;
    Ok(value)
}
