//! The cursor: forward only, and lazy.

use super::{literal_end, number, significant, JsonError, JsonErrorKind, Kind, Text, TextFlags, Value};
use crate::scan::{container, window::Window};
use crate::Limits;
use core::fmt;

/// Walks through JSON bytes, forward only, and enters only what it is told to enter.
///
/// Enter a container with [`begin_object`](Cursor::begin_object) or [`begin_array`](Cursor::begin_array), go from
/// member to member or element to element until the end of the container is reported, and after each member name or
/// element either read the value over ([`value`](Cursor::value)) or enter it. Doing neither, or asking for a member
/// inside an array, is reported as a fault of the bytes, or makes what follows meaningless; it cannot panic.
///
/// After an error the cursor has no useful place; drop it.
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
    bytes: &'a [u8],
    at: usize,
    /// Levels entered.
    depth: u32,
    max_depth: u32,
    /// A container was just entered: its first member or element has no comma before it. Nothing else needs a stack,
    /// because whoever walks knows what he entered.
    fresh: bool,
    /// The masks of the bytes at hand.
    window: Window,
}

/// What [`Cursor::read`] read over.
pub(crate) struct Read {
    /// Offset of its first byte.
    pub(crate) start: usize,
    /// That byte.
    pub(crate) first: u8,
    pub(crate) flags: TextFlags,
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
        Cursor { bytes, at: 0, depth: 0, max_depth, fresh: false, window: Window::EMPTY }
    }

    /// A cursor before the value at `offset`, of bytes that were walked before: depth was seen to then.
    #[inline]
    pub(crate) fn at(bytes: &'a [u8], offset: usize) -> Self {
        Cursor { at: offset, ..Cursor::with_max_depth(bytes, u32::MAX) }
    }

    /// A cursor inside an array, right after one of its elements, of bytes that were walked before.
    #[inline]
    pub(crate) fn inside(bytes: &'a [u8], offset: usize) -> Self {
        Cursor { depth: 1, ..Cursor::at(bytes, offset) }
    }

    /// The bytes that it walks through.
    #[inline]
    pub(crate) fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Where the cursor stands: right after what was read last; after [`peek`](Cursor::peek) at the first byte of the
    /// value. An offset in the bytes given.
    #[inline]
    pub fn offset(&self) -> usize {
        self.at
    }

    /// The kind of the value that comes next, by its first byte. Whitespace before it is consumed, nothing else.
    ///
    /// # Errors
    /// `UnexpectedEnd`, or `UnexpectedByte` if no value can begin so.
    #[inline]
    pub fn peek(&mut self) -> Result<Kind, JsonError> {
        let byte = self.significant()?;
        Kind::of(byte).ok_or(JsonErrorKind::UnexpectedByte.at(self.at))
    }

    /// Enters the object that comes next.
    ///
    /// # Errors
    /// `UnexpectedEnd`, `UnexpectedByte` if something else comes, `TooDeep`.
    #[inline]
    pub fn begin_object(&mut self) -> Result<(), JsonError> {
        self.begin(b'{')
    }

    /// Enters the array that comes next.
    ///
    /// # Errors
    /// `UnexpectedEnd`, `UnexpectedByte` if something else comes, `TooDeep`.
    #[inline]
    pub fn begin_array(&mut self) -> Result<(), JsonError> {
        self.begin(b'[')
    }

    /// The name of the next member of the object entered last, whose value then has to be read or entered. `None`: the
    /// object ended, and the cursor is behind it.
    ///
    /// # Errors
    /// `UnexpectedEnd`; `UnexpectedByte` where a comma, a name, a colon or the right bracket is due.
    #[inline]
    pub fn next_member(&mut self) -> Result<Option<Text<'a>>, JsonError> {
        self.member()
    }

    /// [`next_member`](Cursor::next_member), to be inlined where each instruction counts. Members without whitespace
    /// round their names are seen to here, all else by calls.
    #[inline(always)]
    pub(crate) fn member(&mut self) -> Result<Option<Text<'a>>, JsonError> {
        match (self.fresh, self.bytes.get(self.at..)) {
            (false, Some([b',', b'"', ..])) => self.at += 1,
            (true, Some([b'"', ..])) => self.fresh = false,
            _ => {
                if !self.name()? {
                    return Ok(None);
                }
            }
        }
        let from = self.at + 1;
        let flags = self.string()?;
        let name = self.bytes.get(from..self.at - 1).unwrap_or_default();
        if self.bytes.get(self.at) != Some(&b':') {
            self.colon()?;
        }
        self.at += 1;
        Ok(Some(Text::from_raw(name, flags)))
    }

    /// Goes to the opening quote of the next member's name; false: behind the object.
    #[inline(never)]
    fn name(&mut self) -> Result<bool, JsonError> {
        if !self.next(b'}')? {
            return Ok(false);
        }
        if self.significant()? != b'"' {
            return Err(JsonErrorKind::UnexpectedByte.at(self.at));
        }
        Ok(true)
    }

    /// Goes to the colon.
    #[cold]
    fn colon(&mut self) -> Result<(), JsonError> {
        if self.significant()? != b':' {
            return Err(JsonErrorKind::UnexpectedByte.at(self.at));
        }
        Ok(())
    }

    /// Whether the array entered last has another element, which then has to be read or entered. `false`: the array
    /// ended, and the cursor is behind it.
    ///
    /// # Errors
    /// `UnexpectedEnd`; `UnexpectedByte` where a comma, a value or the right bracket is due.
    #[inline]
    pub fn next_element(&mut self) -> Result<bool, JsonError> {
        if !self.next(b']')? {
            return Ok(false);
        }
        self.peek().map(|_| true)
    }

    /// Reads over the value that comes next and returns it, its bytes unread but for what it takes to find its end: a
    /// container is checked for balance, a string for its closing quote, a number and a literal in full. The bytes of
    /// the value are those before [`offset`](Cursor::offset).
    ///
    /// # Errors
    /// `UnexpectedEnd`, `UnexpectedByte`, `TooDeep`, `BadNumber`, `BadLiteral`.
    #[inline]
    pub fn value(&mut self) -> Result<Value<'a>, JsonError> {
        let read = self.read()?;
        Ok(Value::from_span(self.bytes.get(read.start..self.at).unwrap_or_default(), read.flags))
    }

    /// Reads over the value that comes next and says where it began; it ends at the cursor.
    #[inline]
    pub(crate) fn read(&mut self) -> Result<Read, JsonError> {
        let first = match self.bytes.get(self.at) {
            // Most values come without whitespace before them.
            Some(&byte) if byte > b' ' => byte,
            _ => self.significant()?,
        };
        let start = self.at;
        let mut flags = TextFlags::PLAIN;
        match first {
            b'"' => flags = self.string()?,
            b'n' if matches!(self.bytes.get(start..), Some([b'n', b'u', b'l', b'l', ..])) => self.at += 4,
            _ => self.other_value(first)?,
        }
        Ok(Read { start, first, flags })
    }

    /// Makes sure that nothing but whitespace is left.
    ///
    /// # Errors
    /// `TrailingBytes`; `UnexpectedEnd` if a container is still open.
    #[inline]
    pub fn end(&mut self) -> Result<(), JsonError> {
        let (at, byte) = significant(self.bytes, self.at);
        self.at = at;
        match byte {
            Some(_) => Err(JsonErrorKind::TrailingBytes.at(at)),
            None if self.depth > 0 => Err(JsonErrorKind::UnexpectedEnd.at(at)),
            None => Ok(()),
        }
    }

    /// Goes over a value that is no string; `byte` is its first and at the cursor.
    fn other_value(&mut self, byte: u8) -> Result<(), JsonError> {
        let from = self.at;
        let end = match byte {
            b'{' | b'[' => {
                let levels = self.max_depth.saturating_sub(self.depth);
                container::end(self.bytes, from, levels).map_err(|fault| match fault {
                    container::Unbalanced::TooDeep(at) => JsonErrorKind::TooDeep.at(at),
                    container::Unbalanced::UnexpectedEnd => JsonErrorKind::UnexpectedEnd.at(self.bytes.len()),
                })?
            }
            b'-' | b'0'..=b'9' => number::end(self.bytes, from)?,
            b't' | b'f' | b'n' => literal_end(self.bytes, from, byte)?,
            _ => return Err(JsonErrorKind::UnexpectedByte.at(from)),
        };
        self.at = end;
        Ok(())
    }

    /// Goes over the string whose opening quote is at the cursor.
    #[inline(always)]
    fn string(&mut self) -> Result<TextFlags, JsonError> {
        let from = self.at + 1;
        if let Some((end, escaped)) = self.window.plain_string(from) {
            self.at = end + 1;
            return Ok(if escaped { TextFlags::ESCAPED } else { TextFlags::PLAIN });
        }
        match self.window.string_end(self.bytes, from) {
            Some(end) => {
                self.at = end.at + 1;
                Ok(TextFlags::of(&end))
            }
            None => Err(JsonErrorKind::UnexpectedEnd.at(self.bytes.len())),
        }
    }

    #[inline]
    fn begin(&mut self, bracket: u8) -> Result<(), JsonError> {
        if self.significant()? != bracket {
            return Err(JsonErrorKind::UnexpectedByte.at(self.at));
        }
        if self.depth >= self.max_depth {
            return Err(JsonErrorKind::TooDeep.at(self.at));
        }
        self.at += 1;
        self.depth += 1;
        self.fresh = true;
        Ok(())
    }

    /// Goes over the comma, if one is due, or over the closing bracket `close`: then `false`.
    fn next(&mut self, close: u8) -> Result<bool, JsonError> {
        let byte = self.significant()?;
        let fresh = core::mem::take(&mut self.fresh);
        if byte == close {
            self.at += 1;
            self.depth = self.depth.saturating_sub(1);
            return Ok(false);
        }
        if !fresh {
            if byte != b',' {
                return Err(JsonErrorKind::UnexpectedByte.at(self.at));
            }
            self.at += 1;
        }
        Ok(true)
    }

    /// Goes to the next byte that is not whitespace.
    #[inline]
    fn significant(&mut self) -> Result<u8, JsonError> {
        let (at, byte) = significant(self.bytes, self.at);
        self.at = at;
        byte.ok_or(JsonErrorKind::UnexpectedEnd.at(at))
    }
}

impl fmt::Debug for Cursor<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rest = Text::verbatim(self.bytes.get(self.at..).unwrap_or_default());
        f.debug_struct("Cursor").field("offset", &self.at).field("depth", &self.depth).field("rest", &rest).finish()
    }
}
