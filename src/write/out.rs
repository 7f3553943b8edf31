//! The bytes that are written: the caller's buffer, and one frame of it.

use super::WriteError;
use crate::json::{self, Text, Value};
use crate::scan::string;

/// The part of a buffer that has been written, and the room behind it.
///
/// A [`Writer`](super::Writer) appends whole events. Whoever sends the bytes takes [`written`](Self::written), and then
/// calls [`clear`](Self::clear); [`send`](Self::send) does both.
#[derive(Debug)]
pub struct Out<'b> {
    buffer: &'b mut [u8],
    len: usize,
}

impl<'b> Out<'b> {
    /// Wraps a buffer of which nothing is written.
    pub fn new(buffer: &'b mut [u8]) -> Self {
        Out { buffer, len: 0 }
    }

    /// Returns the bytes that were written and not cleared.
    #[inline]
    pub fn written(&self) -> &[u8] {
        self.buffer.get(..self.len).unwrap_or_default()
    }

    /// Returns the number of bytes that were written and not cleared.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether nothing is written.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Forgets what was written: the whole buffer is room again.
    pub fn clear(&mut self) {
        self.len = 0;
    }

    /// Calls `write` until all of its update is written, and passes the written bytes to `send` whenever the room is used
    /// up, and at the end. Nothing is left in this buffer.
    ///
    /// # Errors
    ///
    /// Those of `write`. [`NeedRoom`](WriteError::NeedRoom) only if the whole buffer is too small for an event.
    pub fn send(
        &mut self,
        mut write: impl FnMut(&mut Self) -> Result<(), WriteError>,
        mut send: impl FnMut(&[u8]),
    ) -> Result<(), WriteError> {
        loop {
            let result = write(self);
            let is_full = matches!(result, Err(WriteError::NeedRoom { .. })) && !self.is_empty();
            if !self.is_empty() {
                send(self.written());
            }
            self.clear();
            if !is_full {
                return result;
            }
        }
    }

    /// Appends what `write` writes, or nothing if it does not fit or has a value that is not JSON.
    pub(super) fn frame(&mut self, memory: &[u8], write: impl FnOnce(&mut Frame<'_>)) -> Written {
        let room = self.buffer.get_mut(self.len..).unwrap_or_default();
        let size = room.len();
        let mut frame = Frame::new(room, memory);
        write(&mut frame);
        let need = frame.end()?;
        if need > size {
            return Err(WriteError::NeedRoom { need });
        }
        self.len = self.len.wrapping_add(need);
        Ok(())
    }

    /// Appends a text between these bytes: the first `len` of `text`, and the first `after_len` of `after`. Returns `None`,
    /// with no effect, if there is room for these, but not for all bytes.
    #[inline(always)]
    pub(super) fn quick(
        &mut self,
        before: &[u8],
        (text, len): (&[u8; 16], usize),
        (after, after_len): (&[u8; AFTER], usize),
    ) -> Option<Written> {
        let room = self.buffer.get_mut(self.len..)?;
        let (need, size) = (before.len().wrapping_add(len).wrapping_add(after_len), room.len());
        let Some(room) = room.get_mut(..before.len().checked_add(16 + AFTER)?) else {
            return (size < need).then_some(Err(WriteError::NeedRoom { need }));
        };
        let (head, room) = room.split_at_mut_checked(before.len())?;
        let room = room.first_chunk_mut::<{ 16 + AFTER }>()?;
        *room.first_chunk_mut()? = *text;
        *room.get_mut(len..)?.first_chunk_mut()? = *after;
        head.copy_from_slice(before);
        self.len = self.len.wrapping_add(need);
        Some(Ok(()))
    }

    /// Appends as many of these bytes as fit. Returns how many.
    pub(super) fn fill(&mut self, bytes: &[u8]) -> usize {
        let room = self.buffer.get_mut(self.len..).unwrap_or_default();
        let len = room.len().min(bytes.len());
        if let (Some(to), Some(from)) = (room.get_mut(..len), bytes.get(..len)) {
            to.copy_from_slice(from);
        }
        self.len = self.len.wrapping_add(len);
        len
    }
}

/// A range of the lent memory.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Span {
    pub(super) start: u32,
    pub(super) len: u32,
}

impl Span {
    #[inline(always)]
    pub(super) fn of(self, memory: &[u8]) -> &[u8] {
        let start = self.start as usize;
        memory.get(start..start.saturating_add(self.len as usize)).unwrap_or_default()
    }
}

/// What a writer writes to: the lent memory, and the caller's buffer.
pub(super) struct To<'t, 'b> {
    pub(super) memory: &'t mut [u8],
    pub(super) out: &'t mut Out<'b>,
}

/// What writing returns.
pub(super) type Written<T = ()> = Result<T, WriteError>;

/// A frame that is being written. Bytes beyond the room are only counted.
pub(super) struct Frame<'f> {
    to: &'f mut [u8],
    at: usize,
    /// The lent memory in use.
    pub(super) memory: &'f [u8],
    has_other_than_json: bool,
    /// Where the text goes in the frame of an envelope, and where the number of the event ends.
    pub(super) hole: usize,
    pub(super) number_end: usize,
}

/// A part of a frame.
#[derive(Clone, Copy)]
pub(super) enum Arg<'a> {
    /// Bytes as they are.
    Word(&'a str),
    Number(u64),
    /// A JSON string with its quotes.
    Text(Text<'a>),
    /// The contents of a JSON string.
    Inner(Text<'a>),
    /// The same, of a text that lies decoded in the lent memory.
    Kept(Span),
    /// A text decoded, without escapes.
    Decoded(Text<'a>),
    /// Raw JSON in one line.
    Json(Value<'a>),
    /// The members of an object, each behind a comma.
    Members(Value<'a>),
}

impl<'f> Frame<'f> {
    /// Writes to these bytes.
    pub(super) fn new(to: &'f mut [u8], memory: &'f [u8]) -> Self {
        Frame { to, at: 0, memory, has_other_than_json: false, hole: 0, number_end: 0 }
    }

    /// Returns how many bytes the frame has, even if there is no room for them.
    pub(super) fn len(&self) -> usize {
        self.at
    }

    /// Returns the length, or fails if a value was not JSON.
    pub(super) fn end(&self) -> Written<usize> {
        if self.has_other_than_json {
            return Err(WriteError::Json);
        }
        Ok(self.at)
    }

    /// Writes bytes as they are.
    #[inline]
    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        let rest = self.to.get_mut(self.at..).unwrap_or_default();
        if let Some(to) = rest.get_mut(..bytes.len()) {
            to.copy_from_slice(bytes);
        }
        self.at = self.at.saturating_add(bytes.len());
    }

    fn all(&mut self, parts: &[Arg<'_>]) {
        parts.iter().for_each(|part| self.put(*part));
    }

    pub(super) fn put(&mut self, arg: Arg<'_>) {
        match arg {
            Arg::Word(word) => self.bytes(word.as_bytes()),
            Arg::Number(number) => self.number(number),
            Arg::Text(text) => self.all(&[Arg::Word("\""), Arg::Inner(text), Arg::Word("\"")]),
            Arg::Inner(text) => drop(self.piece(text, u32::MAX, false)),
            Arg::Kept(span) => drop(self.piece(Text::verbatim(span.of(self.memory)), u32::MAX, false)),
            Arg::Decoded(mut text) => drop(text.take_first(u32::MAX, |decoded| self.bytes(decoded))),
            Arg::Json(value) => self.json(value),
            Arg::Members(object) => self.members(object, |_| false),
        }
    }

    /// Writes a decimal number.
    pub(super) fn number(&mut self, number: u64) {
        let (mut digits, mut rest) = ([0; 20], number);
        let mut start = digits.len();
        for (at, place) in digits.iter_mut().enumerate().rev() {
            (*place, start, rest) = ((rest % 10) as u8 | b'0', at, rest / 10);
            if rest == 0 {
                break;
            }
        }
        self.bytes(digits.get(start..).unwrap_or_default());
    }

    /// Writes at most `limit` bytes of a text, counted decoded, as the contents of a JSON string without the quotes, or of
    /// one in the JSON of another one. Returns how many raw bytes are left.
    pub(super) fn piece(&mut self, mut text: Text<'_>, limit: u32, is_twice: bool) -> usize {
        let (raw, run) = (text.raw(), string::strict_run(text.raw(), 0));
        if text.parts().1 == 0 && raw.len() <= limit as usize && run.ascii && run.at == raw.len() {
            self.bytes(raw);
            return 0;
        }
        let mut put = |decoded: &[u8]| {
            json::escape(decoded, |bytes| match is_twice {
                true => json::escape(bytes, |bytes| self.bytes(bytes)),
                false => self.bytes(bytes),
            });
        };
        if let Some(whole) = text.as_str().filter(|whole| whole.len() <= limit as usize) {
            put(whole.as_bytes());
            return 0;
        }
        text.take_first(limit, put);
        text.raw().len()
    }

    fn json(&mut self, value: Value<'_>) {
        if !is_json(value) {
            self.has_other_than_json = true;
            return;
        }
        // Line ends outside of strings are whitespace, and strict JSON has none inside. Halves of surrogate pairs, which
        // the grammar allows and many readers reject, are replaced.
        json::rewrite(value.raw().trim_ascii(), &mut |bytes| {
            bytes.split(|byte| matches!(byte, b'\r' | b'\n')).for_each(|line| self.bytes(line));
        });
    }

    /// Writes each member of an object behind a comma, except those that are left out.
    pub(super) fn members(&mut self, object: Value<'_>, is_left_out: impl Fn(Text<'_>) -> bool) {
        // Checks all of it before its members are taken apart.
        self.has_other_than_json |= !is_json(object);
        let mut at = 0;
        while let Some((name, value)) = object.member_at(&mut at).filter(|_| !self.has_other_than_json) {
            if !is_left_out(name) {
                self.all(&[Arg::Word(","), Arg::Text(name), Arg::Word(":"), Arg::Json(value)]);
            }
        }
    }

    /// Writes an object of those of these counts that are known. The first word is the object inside that has the count, if
    /// it is not empty.
    pub(super) fn counts(&mut self, counts: &[(&str, &str, Option<u64>)]) {
        let (mut start, mut inside) = ("{", "");
        for (object, name, count) in counts {
            let Some(count) = *count else { continue };
            if inside != *object {
                self.bytes(if inside.is_empty() { b"" } else { b"}" });
                inside = object;
                if !inside.is_empty() {
                    self.all(&[Arg::Word(start), Arg::Word("\""), Arg::Word(inside), Arg::Word("\":")]);
                    start = "{";
                }
            }
            self.all(&[Arg::Word(start), Arg::Word("\""), Arg::Word(name), Arg::Word("\":"), Arg::Number(count)]);
            start = ",";
        }
        self.bytes(if inside.is_empty() { b"}" } else { b"}}" });
    }
}

/// Whether the value is JSON by RFC 8259. The deepest nesting is the default of what the parser reads, less the levels
/// around it.
pub(super) fn is_json(value: Value<'_>) -> bool {
    json::validate(value.raw(), 100).is_ok()
}

/// The most bytes that follow a text.
pub(super) const AFTER: usize = 48;
