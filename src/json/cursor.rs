//! The lazy, forward-only cursor.

use super::error::{JsonError, JsonErrorKind};
use super::kind::Kind;
use super::text::Text;
use super::value::Value;
use super::walk::Walk;
use crate::Limits;
use core::fmt;

/// Reads JSON bytes forward only, and enters only the containers that its caller enters.
///
/// Enter a container with [`begin_object`](Cursor::begin_object) or [`begin_array`](Cursor::begin_array), and call
/// [`next_member`](Cursor::next_member) or [`next_element`](Cursor::next_element) until it reports the end. After each
/// member name or element, either skip the value ([`value`](Cursor::value)) or enter it. A caller that does neither, or
/// asks for a member inside an array, gets an error or meaningless values, but never a panic.
///
/// After an error every method returns that error again.
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
    /// Creates a cursor before the first byte. Containers may nest 128 levels deep.
    #[inline]
    pub fn new(bytes: &'a [u8]) -> Self {
        Cursor::with_max_depth(bytes, Limits::DEFAULT.max_depth)
    }

    /// Creates a cursor before the first byte. Containers may nest `max_depth` levels deep, whether entered or skipped.
    #[inline]
    pub fn with_max_depth(bytes: &'a [u8], max_depth: u32) -> Self {
        Cursor { walk: Walk::new(bytes, max_depth) }
    }

    /// Returns the offset in the bytes right after what was read last; after [`peek`](Cursor::peek), the offset of the
    /// value's first byte.
    #[inline]
    pub fn offset(&self) -> usize {
        self.walk.offset()
    }

    /// Returns the kind of the next value, judged by its first byte. Consumes only the whitespace before it.
    ///
    /// # Errors
    /// `UnexpectedEnd`, or `UnexpectedByte` if no value can begin with this byte.
    #[inline]
    pub fn peek(&mut self) -> Result<Kind, JsonError> {
        let byte = self.walk.peek();
        self.or_error(())?;
        Kind::of(byte).ok_or_else(|| {
            let at = self.walk.offset();
            let ended = at >= self.walk.bytes().len();
            (if ended { JsonErrorKind::UnexpectedEnd } else { JsonErrorKind::UnexpectedByte }).at(at)
        })
    }

    /// Enters the next value, an object.
    ///
    /// # Errors
    /// `UnexpectedEnd`, `UnexpectedByte` if the next value is not an object, `TooDeep`.
    #[inline]
    pub fn begin_object(&mut self) -> Result<(), JsonError> {
        self.walk.begin(b'{');
        self.or_error(())
    }

    /// Enters the next value, an array.
    ///
    /// # Errors
    /// `UnexpectedEnd`, `UnexpectedByte` if the next value is not an array, `TooDeep`.
    #[inline]
    pub fn begin_array(&mut self) -> Result<(), JsonError> {
        self.walk.begin(b'[');
        self.or_error(())
    }

    /// Returns the name of the next member of the innermost open object. The caller must then read or enter its value.
    /// Returns `None` at the end of the object and moves behind it.
    ///
    /// # Errors
    /// `UnexpectedEnd`; `UnexpectedByte` instead of a comma, a name, a colon or the closing brace.
    #[inline]
    pub fn next_member(&mut self) -> Result<Option<Text<'a>>, JsonError> {
        let name = self.walk.member();
        let flags = self.walk.flags();
        self.or_error(name.map(|name| Text::from_raw(name, flags)))
    }

    /// Moves to the next element of the innermost open array and returns `true`. The caller must then read or enter it.
    /// Returns `false` at the end of the array and moves behind it.
    ///
    /// # Errors
    /// `UnexpectedEnd`; `UnexpectedByte` instead of a comma, a value or the closing bracket.
    #[inline]
    pub fn next_element(&mut self) -> Result<bool, JsonError> {
        let more = self.walk.element();
        self.or_error(more)
    }

    /// Skips the next value and returns its bytes. Reads only what it takes to find the end: the [module](super) lists what
    /// that checks. The value ends at [`offset`](Cursor::offset).
    ///
    /// # Errors
    /// `UnexpectedEnd`, `UnexpectedByte`, `TooDeep`, `BadNumber`, `BadLiteral`.
    #[inline]
    pub fn value(&mut self) -> Result<Value<'a>, JsonError> {
        let (start, end) = self.walk.value().unwrap_or_default();
        let raw = self.walk.bytes().get(start..end).unwrap_or_default();
        self.or_error(Value::from_span(raw, self.walk.flags()))
    }

    /// Checks that only whitespace is left.
    ///
    /// # Errors
    /// `TrailingBytes`; `UnexpectedEnd` if a container is still open.
    #[inline]
    pub fn end(&mut self) -> Result<(), JsonError> {
        self.walk.peek();
        self.or_error(())?;
        let at = self.walk.offset();
        if at < self.walk.bytes().len() {
            Err(JsonErrorKind::TrailingBytes.at(at))
        } else if self.walk.depth() > 0 {
            Err(JsonErrorKind::UnexpectedEnd.at(at))
        } else {
            Ok(())
        }
    }

    /// Returns `read`, or the error of the walk if there is one.
    #[inline]
    fn or_error<T>(&self, read: T) -> Result<T, JsonError> {
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

/// Returns the only value in `bytes`; whitespace may surround it. Checks no more than it takes to find the end, as
/// [`Cursor::value`] does: the [module](super) lists what. Containers may nest 128 levels deep. Errors inside appear when
/// that part is read; to have all of it checked first, call [`validate`](super::validate).
///
/// ```
/// use deltawire::json::{parse_lazy, validate};
/// let value = parse_lazy(b"[1 2}").unwrap(); // as many brackets closed as opened
/// assert!(value.elements().any(|element| element.is_err()));
/// assert!(validate(b"[1 2}", 128).is_err());
/// assert!(parse_lazy(b"[1, 2").is_err() && parse_lazy(b"[tru]").is_ok() && parse_lazy(b"tru").is_err());
/// ```
///
/// # Errors
/// Those of [`Cursor::value`] and [`Cursor::end`].
#[inline]
pub fn parse_lazy(bytes: &[u8]) -> Result<Value<'_>, JsonError> {
    let mut cursor = Cursor::new(bytes);
    let value = cursor.value()?;
    cursor.end()?;
    Ok(value)
}
