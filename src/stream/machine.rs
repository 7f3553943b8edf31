//! Incremental state machine: consumes bytes, reports events as offsets.
//!
//! It reads one block of lines at a time. A payload that lies whole in the caller's slice stays there; it is copied to the
//! storage once, when the slice ends inside the event, when a second data line joins it, or when another item is emitted
//! before its end. Lines come from [`sse::Lines`](crate::sse::Lines) in pieces; the first
//! piece of a line decides what the line is, and [`Line`] keeps that, so no byte is searched twice.
//!
//! The answers must not depend on how the bytes were cut. Therefore: every limit is a function of the bytes so far;
//! an event is found at the CR of a CRLF that ends it; and nothing is decided by what happens to lie in the slice.

use super::config::Config;
use super::end::{Pending, DONE};
use super::facts::PlainLines;
use super::found::{Found, Span, Step};
use super::memo::Memo;
use super::state::{After, Ending, EventBlock, Line, StreamState};
use crate::chat::Index;
use crate::json::{JsonError, JsonErrorKind};
use crate::sse::{LineKind, Piece};
use crate::{Quirk, QuirkSet, Storage};
use core::ops::{Deref, DerefMut};

/// How many bytes are searched at a time for the end of a line with raw JSON. Inside a value that has more bytes so far, as many
/// as it has.
const NEAR: usize = 24;

/// Whether a byte is white space of JSON that may stand inside a line.
pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

/// The incremental machine: the state of a stream, and what is needed while an event is read. Plain data without pointers.
/// [`Parser`](super::Parser) wraps it.
///
/// `SLOTS` is how many shapes of events it remembers, 0 to 4.
///
/// The state comes first, as in [`Parked`](super::Parked): a pointer to either is one to a state.
#[derive(Clone)]
#[repr(C)]
pub struct Machine<const SLOTS: usize = 2> {
    pub(super) state: StreamState,
    pub(super) index: Index,
    pub(super) memo: Memo<SLOTS>,
}

impl<const SLOTS: usize> Deref for Machine<SLOTS> {
    type Target = StreamState;

    #[inline(always)]
    fn deref(&self) -> &StreamState {
        &self.state
    }
}

impl<const SLOTS: usize> DerefMut for Machine<SLOTS> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut StreamState {
        &mut self.state
    }
}

/// Prints how far it is, not what it keeps.
impl<const SLOTS: usize> core::fmt::Debug for Machine<SLOTS> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Machine")
            .field("offset", &self.offset)
            .field("verdict", &self.end().verdict)
            .field("slots", &SLOTS)
            .field("config", &self.config)
            .finish_non_exhaustive()
    }
}

/// What to do after a piece.
pub(super) enum AfterPiece {
    Go,
    Found(Found),
    /// Something was found, and the line goes on at this offset of the window.
    Within(usize, Found),
    /// Something was found, and the line is to be read again.
    Again(Found),
}

impl Machine {
    /// A machine at the start of a stream.
    pub const fn new(config: Config) -> Self {
        Machine::with_slots(config)
    }
}

impl<const SLOTS: usize> Machine<SLOTS> {
    /// A machine at the start of a stream that remembers `SLOTS` shapes of events, 4 at most; more do not compile.
    pub const fn with_slots(config: Config) -> Self {
        const { assert!(SLOTS <= 4, "SLOTS is 0 to 4") };
        Machine { state: StreamState::new(config), index: Index::new(), memo: Memo::NEW }
    }

    /// The index of the chunk found last.
    pub fn index(&self) -> &Index {
        &self.index
    }

    /// Where what was found last lies in the stream: offsets of its first byte, and of one past its last.
    // Not inlined, so that the two words return in registers: one load of both would wait for the two stores that a step has
    // just made.
    #[inline(never)]
    pub fn index_frame(&self) -> (u64, u64) {
        self.index.frame
    }

    /// Reads on until something is found or the window is used up. The bytes from `consumed` on are to be given again.
    #[inline]
    pub fn step<S: Storage + ?Sized>(&mut self, storage: &mut S, window: &[u8]) -> Step {
        match self.recognise(storage, window) {
            Some(recognised) => {
                self.join();
                recognised.step(window)
            }
            None => self.read_on(storage, window),
        }
    }

    /// Reads on, line by line.
    #[inline(never)]
    pub(super) fn read_lines<S: Storage + ?Sized>(&mut self, storage: &mut S, window: &[u8]) -> Step {
        (self.rested, self.appendable) = (false, 0);
        // No byte is looked at in two steps: as long as the bytes decide nothing, a step takes all of them.
        self.facts.sniff.begin(window);
        if let Some(found) = self.free_last(storage) {
            return Step { consumed: 0, found };
        }
        if self.silent_next > self.silent {
            // The frames see this end before another block ends.
            self.silent = self.silent_next;
            return Step { consumed: 0, found: Found::NeedMore };
        }
        // Spans are 32 bits wide.
        let bytes = window.get(..i32::MAX as usize).unwrap_or(window);
        let mut rest = bytes;
        loop {
            self.lines.skip_between(&mut rest);
            let at = bytes.len().saturating_sub(rest.len());
            if rest.is_empty() {
                break;
            }
            if !self.lines.in_line() {
                self.line_start = self.offset.saturating_add(at as u64);
            }
            let saved = (self.block.raw || self.buffer.has_data()).then(|| self.lines.clone());
            let ended = self.lines.ended();
            let in_raw = matches!(self.line, Line::Raw | Line::AfterRaw | Line::BetweenRaw);
            let piece = if in_raw && self.lines.in_line() {
                // There may be many values in what is left of the line: do not look for its end at each of them.
                let so_far = if self.line == Line::Raw { self.buffer.data_len() } else { 0 };
                let mut near = rest.get(..NEAR.max(so_far)).unwrap_or(rest);
                let len = near.len();
                let piece = self.lines.next(&mut near);
                rest = rest.get(len.saturating_sub(near.len())..).unwrap_or(&[]);
                piece
            } else {
                self.lines.next(&mut rest)
            };
            let Some(piece) = piece else { continue };
            let end = bytes.len().saturating_sub(rest.len());
            let (consumed, found) = match self.piece(storage, bytes, piece, end) {
                AfterPiece::Go => continue,
                AfterPiece::Found(found) => (end, found),
                AfterPiece::Within(consumed, found) => {
                    self.lines.stay_in_unknown(ended);
                    (consumed, found)
                }
                AfterPiece::Again(found) => {
                    if let Some(lines) = saved {
                        self.lines = lines;
                    }
                    (at, found)
                }
            };
            self.offset = self.offset.saturating_add(consumed as u64);
            return Step { consumed, found };
        }
        // The templates were compared with a part of the event.
        self.unknown_at = u64::MAX;
        let fits = self.settle(storage, bytes);
        self.offset = self.offset.saturating_add(bytes.len() as u64);
        let found = if fits { Found::NeedMore } else { self.too_long() };
        self.note_appendable(storage);
        Step { consumed: bytes.len(), found }
    }

    /// Ends the stream. Returns what is pending then, one thing a call; [`Found::NeedMore`] when there is no more.
    pub fn finish<S: Storage + ?Sized>(&mut self, storage: &mut S) -> Found {
        (self.rested, self.appendable) = (false, 0);
        if let Some(found) = self.free_last(storage).filter(|found| *found != Found::NeedMore) {
            return found;
        }
        self.silent = self.silent.max(self.silent_next);
        if self.ending == Ending::Open {
            self.ending = Ending::Lines;
            if let Some(piece) = self.lines.finish() {
                match self.last_line(storage, piece) {
                    AfterPiece::Go | AfterPiece::Found(Found::NeedMore) | AfterPiece::Within(_, Found::NeedMore) => {}
                    // No piece is to be read again: that is asked of the first piece of a line only.
                    AfterPiece::Found(found) | AfterPiece::Within(_, found) | AfterPiece::Again(found) => return found,
                }
            }
        }
        if self.ending == Ending::Lines {
            self.ending = Ending::Over;
            if let Some(found) = self.last_block(storage) {
                return found;
            }
        }
        Found::NeedMore
    }

    /// The stream ended in this line. A value that is whole and the payload so far count; any other line is pending.
    fn last_line<S: Storage + ?Sized>(&mut self, storage: &mut S, piece: Piece<'_>) -> AfterPiece {
        let has_value = !piece.first && matches!(piece.field, LineKind::Data | LineKind::Unknown);
        let is_next = matches!(self.line, Line::NextDone(matched) if usize::from(matched) < DONE.len());
        if !has_value || is_next && piece.field == LineKind::Data {
            self.facts.pending = Pending::Line;
            return AfterPiece::Go;
        }
        let next = self.piece(storage, &[], piece, 0);
        let is_cut = match self.line {
            Line::Lead | Line::Skip => self.facts.plain != PlainLines::Json,
            Line::ErrorName(_) | Line::ErrorColon => true,
            _ => false,
        };
        if is_cut || matches!(self.line, Line::Bracket(matched) if usize::from(matched) < DONE.len()) {
            self.facts.pending = Pending::Line;
        }
        next
    }

    /// Frees the memory of the event that was emitted. Returns what is still to report of its block: `[DONE]`, or bytes behind its JSON.
    #[inline]
    pub(super) fn free_last<S: Storage + ?Sized>(&mut self, storage: &mut S) -> Option<Found> {
        match core::mem::replace(&mut self.after, After::Nothing) {
            After::Nothing => None,
            After::Release | After::Line => {
                if self.release(storage) {
                    // It moved what was stored: a step that might be taken back ends there.
                    return Some(Found::NeedMore);
                }
                None
            }
            After::Unstage => {
                self.buffer.unstage();
                None
            }
            After::Done { bare } => {
                let start = if self.release(storage) { self.block.start } else { self.line_start };
                if bare {
                    self.block.quirks.insert(Quirk::BareDone);
                }
                self.buffer.end();
                self.name = Span::EMPTY;
                self.index.frame = (start, self.offset);
                Some(self.done())
            }
            After::Trailing(span) => {
                self.after = After::Release;
                // They were emitted with the value.
                self.block.quirks = QuirkSet::EMPTY;
                Some(Found::Malformed(span, JsonError { kind: JsonErrorKind::TrailingBytes, offset: 0 }))
            }
        }
    }

    /// Releases the event that was emitted. Returns whether `event` and `id` lines behind it opened the next block.
    fn release<S: Storage + ?Sized>(&mut self, storage: &mut S) -> bool {
        let start = self.block.next_start;
        self.block = EventBlock::NEW;
        let has_next = self.buffer.has_next();
        if has_next {
            self.block = EventBlock { open: true, start, ..EventBlock::NEW };
            self.buffer.adopt(storage);
        } else {
            storage.shrink(self.buffer.lasting());
        }
        has_next
    }

    /// Copies what the event has in the window to the storage. Returns `false` if it does not fit.
    pub(super) fn settle<S: Storage + ?Sized>(&mut self, storage: &mut S, window: &[u8]) -> bool {
        self.buffer.save(storage, window).is_ok()
    }

    /// Discards the event, which is over the limit; the rest of its block is skipped.
    pub(super) fn too_long(&mut self) -> Found {
        let (start, quirks) = (self.block.start, self.block.quirks);
        let EventBlock { raw, balance, skim, .. } = self.block;
        // Of an event that lost output items that is reported already.
        let is_reported = skim.has_loss();
        self.facts.too_long = self.facts.too_long.saturating_add(u32::from(!is_reported));
        if raw {
            self.raw_value();
        }
        self.index.frame = (start, start);
        self.block = EventBlock { open: true, skipping: true, start, quirks, raw, balance, ..EventBlock::NEW };
        self.buffer.clear();
        self.line = Line::Skip;
        if is_reported {
            return Found::NeedMore;
        }
        Found::TooLong
    }

    /// Notes that a raw JSON value came.
    pub(super) fn raw_value(&mut self) {
        self.facts.raw_values = self.facts.raw_values.saturating_add(1);
        if !self.in_array {
            self.facts.whole_values = self.facts.whole_values.saturating_add(1);
        }
    }

    /// Ends a block that was skipped because it is over the limit.
    pub(super) fn skipped(&mut self) {
        let quirks = self.block.quirks;
        self.count(quirks);
        self.block = EventBlock::NEW;
    }

    /// Notes that a block ended at this stream offset without an event. The step ends all the same, so that the frames see each
    /// such end.
    pub(super) fn silence(&mut self, end: u64) -> AfterPiece {
        self.silent = end;
        AfterPiece::Found(Found::NeedMore)
    }

    /// Opens the block, because a field came.
    pub(super) fn open(&mut self) {
        if !self.block.open {
            self.block.open = true;
            self.block.start = self.line_start;
        }
    }

    /// A new stream with the same configuration.
    pub fn reset(&mut self) {
        *self = Machine::with_slots(self.state.config);
    }
}
