//! The walk behind the cursor: the same steps, without a `Result` at each of them.
//!
//! A fault is kept, and from then on everything ends: a member, an element or a value is `None`. Who walks looks at the
//! fault once, at the end. Strings and literals that come without whitespace round them, as nearly all do, are read
//! inline; the rest is out of line.

use super::{literal_end, number, significant, JsonError, JsonErrorKind, TextFlags};
use crate::scan::{container, window::Window};

/// See the module.
#[derive(Clone)]
pub(crate) struct Walk<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Levels entered.
    depth: u32,
    max_depth: u32,
    /// A container was just entered: its first member or element has no comma before it. Nothing else needs a stack,
    /// because whoever walks knows what he entered.
    fresh: bool,
    /// What is known of the string read last.
    flags: TextFlags,
    fault: Option<JsonError>,
    /// The masks of the bytes at hand.
    window: Window,
}

impl<'a> Walk<'a> {
    #[inline]
    pub(crate) fn new(bytes: &'a [u8], max_depth: u32) -> Self {
        Walk {
            bytes,
            at: 0,
            depth: 0,
            max_depth,
            fresh: false,
            flags: TextFlags::PLAIN,
            fault: None,
            window: Window::EMPTY,
        }
    }

    /// A walk that begins at `offset`, of bytes that were walked before: depth was seen to then. It may begin `inside`
    /// an array, right after one of its elements.
    #[inline]
    pub(crate) fn again(bytes: &'a [u8], offset: usize, inside: bool) -> Self {
        Walk { at: offset, depth: u32::from(inside), ..Walk::new(bytes, u32::MAX) }
    }

    #[inline]
    pub(crate) fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    #[inline]
    pub(crate) fn offset(&self) -> usize {
        self.at
    }

    #[inline]
    pub(crate) fn depth(&self) -> u32 {
        self.depth
    }

    /// What is known of the string that was read last, as a value or as a name.
    #[inline]
    pub(crate) fn flags(&self) -> TextFlags {
        self.flags
    }

    /// What is wrong, if something is.
    #[inline]
    pub(crate) fn fault(&self) -> Option<JsonError> {
        self.fault
    }

    /// The first byte of what comes next, whitespace apart; 0 at the end.
    #[inline(always)]
    pub(crate) fn peek(&mut self) -> u8 {
        match self.bytes.get(self.at) {
            Some(&byte) if byte > b' ' => byte,
            _ => self.skip_space(),
        }
    }

    #[inline(never)]
    fn skip_space(&mut self) -> u8 {
        let (at, byte) = significant(self.bytes, self.at);
        self.at = at;
        byte.unwrap_or(0)
    }

    /// Enters the container that begins with `bracket`.
    #[inline(always)]
    pub(crate) fn begin(&mut self, bracket: u8) -> bool {
        if self.peek() != bracket {
            return self.unexpected::<()>().is_some();
        }
        if self.depth >= self.max_depth {
            return self.fail::<()>(JsonErrorKind::TooDeep.at(self.at)).is_some();
        }
        self.at += 1;
        self.depth += 1;
        self.fresh = true;
        true
    }

    /// Goes over the comma, if one is due, or over the closing bracket: then `false`.
    #[inline(always)]
    fn next(&mut self, close: u8) -> bool {
        let byte = self.peek();
        if byte == close {
            self.at += 1;
            self.fresh = false;
            self.depth = self.depth.saturating_sub(1);
            return false;
        }
        if core::mem::take(&mut self.fresh) {
            return true;
        }
        if byte != b',' {
            return self.unexpected::<()>().is_some();
        }
        self.at += 1;
        true
    }

    /// The name of the next member, still escaped. Its value comes next. `None`: the object closed.
    #[inline(always)]
    pub(crate) fn member(&mut self) -> Option<&'a [u8]> {
        if !self.next(b'}') {
            return None;
        }
        if self.peek() != b'"' {
            return self.unexpected();
        }
        let (start, end) = self.string()?;
        if self.peek() != b':' {
            return self.unexpected();
        }
        self.at += 1;
        self.bytes.get(start..end)
    }

    /// Whether another element comes. `false`: the array closed.
    #[inline(always)]
    pub(crate) fn element(&mut self) -> bool {
        if !self.next(b']') {
            return false;
        }
        match self.peek() {
            b'"' | b'{' | b'[' | b'-' | b'0'..=b'9' | b't' | b'f' | b'n' => true,
            _ => self.unexpected::<()>().is_some(),
        }
    }

    /// Reads over the value that comes next: where it begins and ends.
    #[inline(always)]
    pub(crate) fn value(&mut self) -> Option<(usize, usize)> {
        let byte = self.peek();
        let start = self.at;
        if byte == b'"' {
            self.string()?;
            return Some((start, self.at));
        }
        self.flags = TextFlags::PLAIN;
        if byte == b'n' {
            if let Some([b'n', b'u', b'l', b'l']) = self.bytes.get(start..start + 4) {
                self.at = start + 4;
                return Some((start, self.at));
            }
        }
        self.other(byte)
    }

    /// A value that is no string; `byte` is its first and comes next.
    #[inline(never)]
    fn other(&mut self, byte: u8) -> Option<(usize, usize)> {
        let start = self.at;
        let end = match byte {
            b'{' | b'[' => {
                let levels = self.max_depth.saturating_sub(self.depth);
                container::end(self.bytes, start, levels).map_err(|fault| match fault {
                    container::Unbalanced::TooDeep(at) => JsonErrorKind::TooDeep.at(at),
                    container::Unbalanced::UnexpectedEnd => JsonErrorKind::UnexpectedEnd.at(self.bytes.len()),
                })
            }
            b'-' | b'0'..=b'9' => number::end(self.bytes, start),
            b't' | b'f' | b'n' => literal_end(self.bytes, start, byte),
            _ => return self.unexpected(),
        };
        match end {
            Ok(end) => {
                self.at = end;
                Some((start, end))
            }
            Err(fault) => self.fail(fault),
        }
    }

    /// Goes over the string whose opening quote is at hand: where it lies between its quotes.
    #[inline(always)]
    fn string(&mut self) -> Option<(usize, usize)> {
        let start = self.at + 1;
        let end = match self.window.plain_string(start) {
            Some((end, escaped)) => {
                self.flags = if escaped { TextFlags::ESCAPED } else { TextFlags::PLAIN };
                end
            }
            None => self.next_window(start)?,
        };
        self.at = end + 1;
        Some((start, end))
    }

    #[inline(never)]
    fn next_window(&mut self, start: usize) -> Option<usize> {
        let Some(end) = self.window.string_end(self.bytes, start) else {
            return self.fail(JsonErrorKind::UnexpectedEnd.at(self.bytes.len()));
        };
        self.flags = TextFlags::of(&end);
        Some(end.at)
    }

    /// What comes next is not what is due.
    #[cold]
    fn unexpected<T>(&mut self) -> Option<T> {
        let kind =
            if self.at < self.bytes.len() { JsonErrorKind::UnexpectedByte } else { JsonErrorKind::UnexpectedEnd };
        self.fail(kind.at(self.at))
    }

    #[cold]
    fn fail<T>(&mut self, fault: JsonError) -> Option<T> {
        self.fault = self.fault.or(Some(fault));
        self.at = self.bytes.len();
        None
    }
}
