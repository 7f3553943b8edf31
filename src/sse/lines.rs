//! Splits an event stream into pieces of lines (WHATWG HTML 9.2.5 and 9.2.6).
//!
//! The input may cut a line anywhere and any number of times, since the machine itself holds at most eight bytes.
//! Pieces are borrowed from the input. The search for a line end reads each byte of input once.

use crate::scan::find::line_end;
use crate::shown::{shown, Bytes};
use crate::visits::visit;

const BOM: [u8; 3] = [0xEF, 0xBB, 0xBF];

/// How many bytes of a line are held while its field is not known. The longest known name has five bytes.
const HEAD: usize = 8;

/// The field of a line. Names are compared byte for byte: `Data` is not `data`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineKind {
    /// `data`
    Data,
    /// `event`
    Event,
    /// `id`
    Id,
    /// `retry`
    Retry,
    /// A line that starts with a colon.
    Comment,
    /// Any other line that is not empty. The standard ignores it.
    Unknown,
    /// An empty line, which ends a block.
    Blank,
}

impl LineKind {
    /// Returns the field with this name.
    fn named(name: &[u8]) -> LineKind {
        match name {
            b"data" => LineKind::Data,
            b"event" => LineKind::Event,
            b"id" => LineKind::Id,
            b"retry" => LineKind::Retry,
            _ => LineKind::Unknown,
        }
    }

    /// Whether `name` is a prefix of a known name.
    fn begins(name: &[u8]) -> bool {
        [&b"data"[..], b"event", b"id", b"retry"].iter().any(|known| known.starts_with(name))
    }

    /// Returns the field whose name and colon `line` starts with, and the bytes after the colon. Returns `None` if
    /// there is no such field, or not yet.
    #[inline]
    fn of(line: &[u8]) -> Option<(LineKind, &[u8])> {
        match line {
            [b'd', b'a', b't', b'a', b':', value @ ..] => Some((LineKind::Data, value)),
            [b'e', b'v', b'e', b'n', b't', b':', value @ ..] => Some((LineKind::Event, value)),
            [b'i', b'd', b':', value @ ..] => Some((LineKind::Id, value)),
            [b'r', b'e', b't', b'r', b'y', b':', value @ ..] => Some((LineKind::Retry, value)),
            [b':', value @ ..] => Some((LineKind::Comment, value)),
            _ => None,
        }
    }
}

/// A line or a part of one, borrowed from the input.
#[derive(Clone, Copy)]
pub struct Piece<'a> {
    /// The field of its line.
    pub field: LineKind,
    /// Whether it is the first piece of its line.
    pub first: bool,
    /// Whether it is the last piece of its line.
    pub last: bool,
    /// Bytes of the value, which begins after the colon and at most one space. For [`LineKind::Unknown`], bytes of the
    /// whole line, including name and colon. Never contains CR or LF.
    pub value: &'a [u8],
    /// Bytes from earlier slices that precede `value`, in the first piece of an [`LineKind::Unknown`] line. Empty in
    /// any other piece.
    pub held: Held,
}

shown!("Piece": Piece<'_>, this => field: this.field, first: this.first, last: this.last, value: Bytes(this.value), held: this.held);

/// Up to eight bytes from earlier slices, by value.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Held {
    bytes: [u8; HEAD],
    len: u8,
}

shown!("Held": Held, this => bytes: Bytes(this.as_slice()));

impl Held {
    pub(crate) const EMPTY: Held = Held { bytes: [0; HEAD], len: 0 };

    /// Returns the bytes.
    #[inline]
    pub fn as_slice(&self) -> &[u8] {
        self.bytes.get(..usize::from(self.len)).unwrap_or(&[])
    }

    /// Appends as many of `bytes` as fit.
    fn extend(&mut self, bytes: &[u8]) {
        let room = self.bytes.get_mut(usize::from(self.len)..).unwrap_or(&mut []);
        for (to, from) in room.iter_mut().zip(bytes) {
            *to = *from;
            self.len = self.len.saturating_add(1);
        }
    }
}

/// Position of the machine in the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Position {
    /// At the start of the stream. `head` may hold the first bytes of a byte order mark.
    Mark,
    /// At the start of a line.
    Start,
    /// In a line whose bytes so far, a prefix of a known name, are all in `head`.
    Name,
    /// After the colon of `field`, where one space may follow.
    Colon,
    /// In the value of `field`.
    Value,
}

/// How the previous line ended. After a CR that is not certain until the next byte, because an LF may follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// By an LF alone, or no line ended yet.
    Alone,
    /// By CR LF.
    CrLf,
    /// By a CR alone.
    LoneCr,
    /// By a CR. If the next byte is an LF, it belongs to this line end.
    Cr,
    /// Like `Cr`. The line before that one ended in a CR alone, so no LF is expected.
    CrBehindCr,
    /// Like `Cr`. The line before that one ended in CR LF, so an LF is expected.
    CrBehindCrLf,
}

impl Ended {
    /// Whether an LF that comes next belongs to this line end.
    #[inline(always)]
    pub(crate) fn is_cr(self) -> bool {
        matches!(self, Ended::Cr | Ended::CrBehindCr | Ended::CrBehindCrLf)
    }

    /// Returns the state after one more line. `cr` is whether that line ended in a CR.
    #[inline]
    fn by(self, cr: bool) -> Ended {
        match (cr, self) {
            (false, _) => Ended::Alone,
            (true, Ended::CrLf) => Ended::CrBehindCrLf,
            (true, Ended::LoneCr) => Ended::CrBehindCr,
            (true, _) => Ended::Cr,
        }
    }

    /// Returns the state after the next byte. `lf` is whether that byte is an LF.
    #[inline]
    fn before(self, lf: bool) -> Ended {
        match (self, lf) {
            (Ended::Cr | Ended::CrBehindCr | Ended::CrBehindCrLf, true) => Ended::CrLf,
            (Ended::Cr | Ended::CrBehindCr | Ended::CrBehindCrLf, false) => Ended::LoneCr,
            (ended, _) => ended,
        }
    }
}

/// Resumable line splitter for event streams. Contains no pointers.
///
/// LF, CR and CRLF end a line. A CR ends it at once; a later call consumes the LF that may follow. One leading byte
/// order mark is dropped. A line that the input contains whole is one piece, found with one search; a cut line is one
/// piece for each slice. A line without a colon is a field name with an empty value.
///
/// A line becomes [`LineKind::Unknown`] as soon as its name is not a prefix of a known name, so `held` has at most a
/// prefix of a known name or of a byte order mark.
///
/// ```
/// use deltawire::sse::{LineKind, Lines};
///
/// let mut lines = Lines::new();
/// let mut value = Vec::new();
/// for mut slice in [&b"da"[..], b"ta: hel", b"lo\r", b"\n\r\n"] {
///     while let Some(piece) = lines.next(&mut slice) {
///         match piece.field {
///             LineKind::Data => value.extend_from_slice(piece.value),
///             LineKind::Blank => assert_eq!(value, b"hello"),
///             _ => {}
///         }
///     }
/// }
/// assert!(!lines.in_line());
/// ```
#[derive(Clone, Debug)]
pub struct Lines {
    at: Position,
    /// The field of the line. Valid in `Colon` and `Value`.
    field: LineKind,
    /// Whether no piece of the line was returned yet. Valid in `Colon` and `Value`.
    fresh: bool,
    ended: Ended,
    head: Held,
}

impl Default for Lines {
    fn default() -> Self {
        Lines::new()
    }
}

/// Returns the first line of `bytes` without its end, the bytes after it, and whether it ended in CR.
#[inline]
fn cut(bytes: &[u8]) -> Option<(&[u8], &[u8], bool)> {
    let (line, rest) = bytes.split_at_checked(line_end(bytes)?)?;
    let (end, rest) = rest.split_first()?;
    Some((line, rest, *end == b'\r'))
}

impl Lines {
    /// Creates a machine at the start of a stream.
    pub const fn new() -> Self {
        Lines { at: Position::Mark, field: LineKind::Blank, fresh: false, ended: Ended::Alone, head: Held::EMPTY }
    }

    /// Removes the next piece from the front of `input`. Returns `None` when the input is used up.
    ///
    /// How many bytes a call consumes does not depend on the bytes after them, so offsets counted from the consumed
    /// bytes are the same however the stream is cut.
    #[inline]
    pub fn next<'a>(&mut self, input: &mut &'a [u8]) -> Option<Piece<'a>> {
        self.skip_between(input);
        if self.at != Position::Start {
            return self.resume(input);
        }
        let window: &'a [u8] = input;
        visit!(window.len().min(6));
        let Some((field, value)) = LineKind::of(window) else {
            return self.start(input);
        };
        let value = match value {
            [b' ', value @ ..] => value,
            // The slice ends after the colon; a space may follow in the next slice.
            [] => {
                self.begin(field, Position::Colon);
                *input = &[];
                return None;
            }
            value => value,
        };
        let Some((value, rest, cr)) = cut(value) else {
            self.begin(field, Position::Value);
            *input = &[];
            return self.part(value);
        };
        *input = rest;
        self.ended = self.ended.by(cr);
        Some(Piece { field, first: true, last: true, value, held: Held::EMPTY })
    }

    /// Consumes bytes between lines: the LF of a CRLF whose CR ended the previous line, and the byte order mark.
    /// [`next`](Lines::next) does so too; call this first to find the offset of a line. The next line begins at the
    /// front of `input` if input is left and [`in_line`](Lines::in_line) is false.
    #[inline]
    pub fn skip_between(&mut self, input: &mut &[u8]) {
        if self.is_after_cr() {
            if let Some((first, rest)) = input.split_first() {
                visit!(1);
                self.ended = self.ended.before(*first == b'\n');
                if *first == b'\n' {
                    *input = rest;
                }
            }
        } else if self.at == Position::Mark {
            self.skip_mark(input);
        }
    }

    /// Ends the stream. Returns the rest of an unfinished line as if its line end had come, and moves to the start of a
    /// line.
    pub fn finish(&mut self) -> Option<Piece<'static>> {
        let at = self.at;
        let head = core::mem::replace(&mut self.head, Held::EMPTY);
        self.at = Position::Start;
        self.ended = Ended::Alone;
        match at {
            Position::Start => None,
            Position::Mark if head.len == 0 => None,
            Position::Mark | Position::Name => {
                let field = LineKind::named(head.as_slice());
                let held = if field == LineKind::Unknown { head } else { Held::EMPTY };
                Some(Piece { field, first: true, last: true, value: &[], held })
            }
            Position::Colon | Position::Value => {
                Some(Piece { field: self.field, first: self.fresh, last: true, value: &[], held: head })
            }
        }
    }

    /// Moves back into the middle of an unknown line, because the caller will pass the rest of the last piece to the
    /// machine again. `before` is how the line before this one ended.
    #[inline]
    pub(crate) fn stay_in_unknown(&mut self, before: Ended) {
        self.begin(LineKind::Unknown, Position::Value);
        (self.fresh, self.ended) = (false, before);
    }

    /// Returns how the previous line ended.
    #[inline]
    pub(crate) fn ended(&self) -> Ended {
        self.ended
    }

    /// Expects an LF after the line that just ended, which is a frame of its own, if it ended in a CR. Expects none if
    /// the line before it ended in a CR alone.
    #[inline]
    pub(crate) fn expect_lf(&mut self) {
        if self.ended == Ended::Cr {
            self.ended = Ended::CrBehindCrLf;
        }
    }

    /// Whether the machine is inside a line: bytes of it were consumed, but not its end.
    #[inline]
    pub fn in_line(&self) -> bool {
        match self.at {
            Position::Mark => self.head.len > 0,
            Position::Start => false,
            Position::Name | Position::Colon | Position::Value => true,
        }
    }

    /// Whether the machine is at the start of a line, perhaps before the LF of a CRLF.
    #[inline]
    pub(crate) fn is_at_start(&self) -> bool {
        self.at == Position::Start
    }

    /// Moves into the value of a `data` line whose first piece the caller took. `after_lf` is whether the LF of a CRLF
    /// was consumed before that line.
    #[inline]
    pub(crate) fn start_data(&mut self, after_lf: bool) {
        self.begin(LineKind::Data, Position::Value);
        (self.fresh, self.ended) = (false, self.ended.before(after_lf));
    }

    /// Whether the machine is in the value of a `data` line, after a first piece.
    #[inline]
    pub(crate) fn is_in_data(&self) -> bool {
        self.at == Position::Value && self.field == LineKind::Data && !self.fresh
    }

    /// Whether a CR ended the previous line.
    #[inline]
    pub(crate) fn is_after_cr(&self) -> bool {
        self.ended.is_cr()
    }

    /// Whether a CR ended the previous line and an LF is expected to follow.
    #[inline]
    pub(crate) fn expects_lf(&self) -> bool {
        self.ended == Ended::CrBehindCrLf
    }

    /// Moves to the start of a line.
    #[inline]
    pub(crate) fn start_line(&mut self, ended: Ended) {
        (self.at, self.ended) = (Position::Start, ended);
    }

    #[inline]
    fn begin(&mut self, field: LineKind, at: Position) {
        self.at = at;
        self.field = field;
        self.fresh = true;
    }

    /// Consumes the byte order mark. The bytes of an incomplete one become the head of the first line.
    fn skip_mark(&mut self, input: &mut &[u8]) {
        while let Some((byte, rest)) = input.split_first() {
            if BOM.get(usize::from(self.head.len)) != Some(byte) {
                self.at = if self.head.len > 0 { Position::Name } else { Position::Start };
                return;
            }
            self.head.extend(&[*byte]);
            *input = rest;
            if usize::from(self.head.len) == BOM.len() {
                self.head = Held::EMPTY;
                self.at = Position::Start;
                return;
            }
        }
    }

    /// Reads a line that does not start with a known name and colon: blank, unknown, a bare name, or too short to
    /// decide.
    fn start<'a>(&mut self, input: &mut &'a [u8]) -> Option<Piece<'a>> {
        let window: &'a [u8] = input;
        if let Some((line, rest, cr)) = cut(window) {
            *input = rest;
            self.ended = self.ended.by(cr);
            let field = if line.is_empty() { LineKind::Blank } else { LineKind::named(line) };
            let value = if field == LineKind::Unknown { line } else { &[] };
            return Some(Piece { field, first: true, last: true, value, held: Held::EMPTY });
        }
        if window.is_empty() {
            return None;
        }
        *input = &[];
        if LineKind::begins(window) {
            self.head.extend(window);
            self.at = Position::Name;
            return None;
        }
        self.begin(LineKind::Unknown, Position::Value);
        self.part(window)
    }

    /// Continues a cut line.
    fn resume<'a>(&mut self, input: &mut &'a [u8]) -> Option<Piece<'a>> {
        match self.at {
            Position::Mark | Position::Start => None,
            Position::Name => self.name(input),
            Position::Colon => self.colon(input),
            Position::Value => self.value(input),
        }
    }

    /// Continues a line whose bytes so far are all in `head`.
    fn name<'a>(&mut self, input: &mut &'a [u8]) -> Option<Piece<'a>> {
        let window: &'a [u8] = input;
        let before = self.head;
        let room = HEAD.saturating_sub(usize::from(before.len));
        visit!(window.len().min(room));
        let stop = window.iter().take(room).position(|byte| matches!(byte, b':' | b'\r' | b'\n'));
        let (name, rest) = window.split_at_checked(stop.unwrap_or(room.min(window.len())))?;
        self.head.extend(name);
        if stop.is_none() && LineKind::begins(self.head.as_slice()) {
            *input = rest;
            return None;
        }
        let field = if stop.is_some() { LineKind::named(self.head.as_slice()) } else { LineKind::Unknown };
        if field == LineKind::Unknown {
            // The piece borrows the bytes in this slice, so `head` keeps only those from earlier slices.
            self.head = before;
            self.begin(field, Position::Value);
            return self.value(input);
        }
        self.head = Held::EMPTY;
        self.begin(field, Position::Value);
        *input = rest;
        match rest {
            [b':', value @ ..] => {
                *input = value;
                self.at = Position::Colon;
                self.colon(input)
            }
            _ => self.value(input),
        }
    }

    /// Continues after a colon.
    fn colon<'a>(&mut self, input: &mut &'a [u8]) -> Option<Piece<'a>> {
        if let Some((first, rest)) = input.split_first() {
            visit!(1);
            self.at = Position::Value;
            if *first == b' ' {
                *input = rest;
            }
        }
        self.value(input)
    }

    /// Continues in a value.
    fn value<'a>(&mut self, input: &mut &'a [u8]) -> Option<Piece<'a>> {
        let window: &'a [u8] = input;
        let Some((value, rest, cr)) = cut(window) else {
            *input = &[];
            return self.part(window);
        };
        *input = rest;
        self.ended = self.ended.by(cr);
        self.at = Position::Start;
        let held = core::mem::replace(&mut self.head, Held::EMPTY);
        Some(Piece { field: self.field, first: self.fresh, last: true, value, held })
    }

    /// Returns a piece that does not end its line, or `None` if the piece is empty.
    fn part<'a>(&mut self, value: &'a [u8]) -> Option<Piece<'a>> {
        if value.is_empty() {
            return None;
        }
        let first = core::mem::replace(&mut self.fresh, false);
        let held = core::mem::replace(&mut self.head, Held::EMPTY);
        Some(Piece { field: self.field, first, last: false, value, held })
    }
}

#[cfg(test)]
mod tests;
