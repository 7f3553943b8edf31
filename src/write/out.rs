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

    /// Appends what `write` writes, or nothing if it does not fit or fails.
    #[inline(always)]
    pub(super) fn frame<R>(
        &mut self,
        write: impl FnOnce(&mut Frame<'_>) -> Result<R, WriteError>,
    ) -> Result<R, WriteError> {
        let room = self.buffer.get_mut(self.len..).unwrap_or_default();
        let size = room.len();
        let mut frame = Frame { to: room, at: 0 };
        let result = write(&mut frame)?;
        let len = frame.at;
        if len > size {
            return Err(WriteError::NeedRoom { need: len });
        }
        self.len = self.len.wrapping_add(len);
        Ok(result)
    }

    /// Appends a text between these bytes, if it needs no escape and all of it fits. Otherwise returns `false`, with no
    /// effect.
    #[inline(always)]
    pub(super) fn quick<const TAIL: usize>(&mut self, head: &[u8], text: Text<'_>, tail: &[u8; TAIL]) -> bool {
        let raw = text.raw();
        let Some(room) = self.buffer.get_mut(self.len..) else { return false };
        let Some((before, room)) = room.split_at_mut_checked(head.len()) else { return false };
        let Some((between, room)) = room.split_at_mut_checked(raw.len()) else { return false };
        let Some(after) = room.first_chunk_mut::<TAIL>() else { return false };
        if !stands(text) {
            return false;
        }
        before.copy_from_slice(head);
        between.copy_from_slice(raw);
        *after = *tail;
        self.len = self.len.wrapping_add(head.len()).wrapping_add(raw.len()).wrapping_add(TAIL);
        true
    }

    /// Takes back everything behind the first `len` bytes.
    pub(super) fn cut(&mut self, len: usize) {
        self.len = self.len.min(len);
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
}

impl<'f> Frame<'f> {
    /// Writes to these bytes.
    pub(super) fn new(to: &'f mut [u8]) -> Self {
        Frame { to, at: 0 }
    }

    /// Returns how many bytes the frame has, even if there is no room for them.
    #[inline(always)]
    pub(super) fn len(&self) -> usize {
        self.at
    }

    /// Writes bytes as they are.
    #[inline(always)]
    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        let rest = self.to.get_mut(self.at..).unwrap_or_default();
        if let Some(to) = rest.get_mut(..bytes.len()) {
            to.copy_from_slice(bytes);
        }
        self.at = self.at.saturating_add(bytes.len());
    }

    /// Begins an event whose name is also its type, up to that member of its object.
    #[inline(always)]
    pub(super) fn begin_typed(&mut self, name: &str) {
        for part in ["event: ", name, "\ndata: {\"type\":\"", name, "\""] {
            self.bytes(part.as_bytes());
        }
    }

    /// Writes a decimal number.
    #[inline]
    pub(super) fn number(&mut self, number: u64) {
        if let (true, Ok(digit)) = (number < 10, u8::try_from(number)) {
            return self.bytes(&[digit | b'0']);
        }
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

    /// Writes at most `limit` bytes of a text, counted decoded, as the contents of a JSON string without the quotes.
    /// Returns the rest of the text.
    #[inline(always)]
    pub(super) fn text<'a>(&mut self, text: Text<'a>, limit: u32) -> Text<'a> {
        let is_short = text.raw().len() <= limit as usize;
        if is_short && stands(text) {
            self.bytes(text.raw());
            return text.behind(text.raw().len());
        }
        match text.as_str().filter(|_| is_short) {
            Some(whole) => {
                json::escape(whole.as_bytes(), |bytes| self.bytes(bytes));
                text.behind(text.raw().len())
            }
            None => self.part_of(text, limit),
        }
    }

    /// Does what [`text`](Self::text) does, for a text that is long, escaped or ill-formed.
    #[inline(never)]
    fn part_of<'a>(&mut self, text: Text<'a>, limit: u32) -> Text<'a> {
        let mut rest = text;
        rest.take_first(limit, |decoded| json::escape(decoded, |bytes| self.bytes(bytes)));
        rest
    }

    /// Does what [`text`](Self::text) does, for a text in the JSON of a JSON string.
    pub(super) fn text_twice<'a>(&mut self, text: Text<'a>, limit: u32) -> Text<'a> {
        let mut rest = text;
        rest.take_first(limit, |decoded| {
            json::escape(decoded, |bytes| json::escape(bytes, |bytes| self.bytes(bytes)));
        });
        rest
    }

    /// Writes a text decoded, without escapes.
    pub(super) fn decoded(&mut self, text: Text<'_>) {
        let mut rest = text;
        rest.take_first(u32::MAX, |decoded| self.bytes(decoded));
    }

    /// Writes a text as a JSON string with its quotes.
    pub(super) fn string(&mut self, text: Text<'_>) {
        self.bytes(b"\"");
        self.text(text, u32::MAX);
        self.bytes(b"\"");
    }

    /// Writes raw JSON in one line, or fails if it is not JSON.
    pub(super) fn json(&mut self, value: Value<'_>) -> Result<(), WriteError> {
        if json::validate(value.raw(), MAX_DEPTH).is_err() {
            return Err(WriteError::Json);
        }
        // Line ends outside of strings are whitespace, and strict JSON has none inside. Halves of surrogate pairs, which
        // the grammar allows and many readers reject, are replaced.
        json::rewrite(value.raw().trim_ascii(), &mut |bytes| {
            bytes.split(|byte| matches!(byte, b'\r' | b'\n')).for_each(|line| self.bytes(line));
        });
        Ok(())
    }
}

/// Whether the text is printable ASCII without a quote or a backslash: it decodes to itself, and needs no escape.
#[inline(always)]
fn stands(text: Text<'_>) -> bool {
    let is_whole = |run: string::RunEnd| run.ascii && run.at == text.raw().len();
    text.is_plain() || text.parts().1 == 0 && is_whole(string::strict_run(text.raw(), 0))
}

/// The deepest nesting of raw JSON that is written: the default of what the parser reads, less the levels around it.
const MAX_DEPTH: u32 = 100;
