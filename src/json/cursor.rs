//! The lazy, forward-only cursor.

use super::error::{JsonError, JsonErrorKind};
use super::kind::ValueKind;
use super::steps::Steps;
use super::text::Text;
use super::value::Value;
use crate::shown::{shown, Bytes};
use crate::Limits;

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
/// use deltawire::json::{Cursor, ValueKind};
/// let mut cursor = Cursor::new(br#"{"skip": [1, {"a": 2}], "list": [true, null]}"#);
/// cursor.begin_object()?;
/// while let Some(name) = cursor.next_member()? {
///     if name == "list" {
///         cursor.begin_array()?;
///         while cursor.next_element()? {
///             assert!(matches!(cursor.value()?.kind(), ValueKind::Bool | ValueKind::Null));
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
    steps: Steps<'a>,
    max_depth: u32,
    /// Whether a container was just entered, so that no comma precedes its first member or element. There is no stack,
    /// because the caller knows which containers it entered.
    fresh: bool,
    /// The first error. It ends the reading.
    fault: Option<JsonError>,
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
        Cursor { steps: Steps::new(bytes, 0, max_depth), max_depth, fresh: false, fault: None }
    }

    /// Creates a cursor at `offset`, right after a member or element of a container that an earlier cursor entered.
    #[inline]
    pub(super) fn again(bytes: &'a [u8], offset: usize) -> Self {
        Cursor { steps: Steps::new(bytes, offset, u32::MAX), ..Cursor::with_max_depth(bytes, u32::MAX) }
    }

    /// Returns the offset in the bytes right after what was read last; after [`peek`](Cursor::peek), the offset of the
    /// value's first byte.
    #[inline]
    pub fn offset(&self) -> usize {
        self.steps.offset()
    }

    /// Returns the kind of the next value, judged by its first byte. Consumes only the whitespace before it.
    ///
    /// # Errors
    /// `UnexpectedEnd`, or `UnexpectedByte` if no value can begin with this byte.
    #[inline]
    pub fn peek(&mut self) -> Result<ValueKind, JsonError> {
        let byte = self.steps.peek();
        ValueKind::of(byte).ok_or_else(|| self.fault.unwrap_or_else(|| self.steps.unexpected()))
    }

    /// Enters the next value, an object.
    ///
    /// # Errors
    /// `UnexpectedEnd`, `UnexpectedByte` if the next value is not an object, `TooDeep`.
    #[inline]
    pub fn begin_object(&mut self) -> Result<(), JsonError> {
        self.begin(b'{')
    }

    /// Enters the next value, an array.
    ///
    /// # Errors
    /// `UnexpectedEnd`, `UnexpectedByte` if the next value is not an array, `TooDeep`.
    #[inline]
    pub fn begin_array(&mut self) -> Result<(), JsonError> {
        self.begin(b'[')
    }

    #[inline]
    pub(super) fn begin(&mut self, bracket: u8) -> Result<(), JsonError> {
        let entered = self.steps.enter(bracket);
        self.fresh = entered.is_ok();
        self.kept(entered)
    }

    /// Returns the name of the next member of the innermost open object. The caller must then read or enter its value.
    /// Returns `None` at the end of the object and moves past it.
    ///
    /// # Errors
    /// `UnexpectedEnd`; `UnexpectedByte` instead of a comma, a name, a colon or the closing brace.
    #[inline(never)]
    pub fn next_member(&mut self) -> Result<Option<Text<'a>>, JsonError> {
        if !self.next(b'}')? {
            return Ok(None);
        }
        let name = self.steps.name();
        self.kept(name).map(|(name, flags)| Some(Text::from_raw(name, flags)))
    }

    /// Moves to the next element of the innermost open array and returns `true`. The caller must then read or enter it.
    /// Returns `false` at the end of the array and moves past it.
    ///
    /// # Errors
    /// `UnexpectedEnd`; `UnexpectedByte` instead of a comma, a value or the closing bracket.
    #[inline(never)]
    pub fn next_element(&mut self) -> Result<bool, JsonError> {
        if !self.next(b']')? {
            return Ok(false);
        }
        let comes = self.steps.expect_value();
        self.kept(comes).map(|()| true)
    }

    /// Consumes a comma, if one is expected, and returns `true`, or consumes the closing bracket and returns `false`.
    #[inline(always)]
    fn next(&mut self, close: u8) -> Result<bool, JsonError> {
        if core::mem::take(&mut self.fresh) {
            return Ok(self.steps.first(close));
        }
        let more = self.steps.more(close);
        self.kept(more)
    }

    /// Skips the next value and returns its bytes. Checks only as much as finding the end requires, which the
    /// [module](super) lists. The value ends at [`offset`](Cursor::offset).
    ///
    /// # Errors
    /// `UnexpectedEnd`, `UnexpectedByte`, `TooDeep`, `BadNumber`, `BadLiteral`.
    #[inline(never)]
    pub fn value(&mut self) -> Result<Value<'a>, JsonError> {
        let read = self.steps.value();
        let read = self.kept(read)?;
        Ok(Value::from_span(self.steps.bytes().get(read.start..read.end).unwrap_or_default(), read.flags))
    }

    /// Checks that only whitespace is left.
    ///
    /// # Errors
    /// `TrailingBytes`; `UnexpectedEnd` if a container is still open.
    #[inline]
    pub fn end(&mut self) -> Result<(), JsonError> {
        self.steps.peek();
        let at = self.steps.offset();
        if let Some(fault) = self.fault {
            Err(fault)
        } else if at < self.steps.bytes().len() {
            Err(JsonErrorKind::TrailingBytes.at(at))
        } else if self.depth() > 0 {
            Err(JsonErrorKind::UnexpectedEnd.at(at))
        } else {
            Ok(())
        }
    }

    /// Returns the number of open containers.
    fn depth(&self) -> u32 {
        self.max_depth.saturating_sub(self.steps.levels())
    }

    /// Returns the result of a step. Stores the first error, and moves to the end, so that every later step fails.
    #[inline(always)]
    fn kept<T>(&mut self, read: Result<T, JsonError>) -> Result<T, JsonError> {
        read.map_err(|fault| {
            self.steps.stop();
            *self.fault.get_or_insert(fault)
        })
    }
}

shown!("Cursor": Cursor<'_>, this => offset: this.offset(), depth: this.depth(),
    rest: Bytes(this.steps.bytes().get(this.offset()..).unwrap_or_default()));

/// Returns the only value in `bytes`; whitespace may surround it. Checks only as much as finding the end requires, as
/// [`Cursor::value`] does; the [module](super) lists what. Containers may nest 128 levels deep. An error inside the
/// value appears when that part is read; to check all of it first, call [`validate`](super::validate).
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
