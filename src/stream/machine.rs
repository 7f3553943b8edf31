//! Incremental state machine: consumes bytes, reports events as offsets.
//!
//! The machine reads one block at a time: the lines up to a blank line, usually one event. A payload that is whole in
//! the caller's slice stays there. The machine copies it to the storage once if the slice ends inside the event, if the
//! event has a second `data` line, or if something else, such as a comment, is emitted before the event ends.
//! [`sse::Lines`](crate::sse::Lines) delivers lines in pieces. The first piece of a line decides what the line is, and
//! [`Line`] keeps that, so no byte is searched twice.
//!
//! The results must not depend on how the caller cuts the stream into slices. Therefore every limit is a function of
//! the bytes so far, an event that ends in CRLF is found at its CR, and no decision depends on where the slice ends.

use super::config::Config;
use super::end::{Pending, DONE};
use super::found::{Found, Span, Step};
use super::memo::Memo;
use super::state::{After, Ending, EventBlock, Line, StreamState};
use crate::chat::Index;
use crate::json::{JsonError, JsonErrorKind};
use crate::sse::{LineKind, Piece};
use crate::{Quirk, QuirkSet, Storage};
use core::ops::{Deref, DerefMut};

/// How many bytes of a line with raw JSON are searched for the line end at a time, at least. A value that already has
/// more bytes than this is searched in steps of its length so far, so that the work stays linear.
const NEAR: usize = 24;

/// Whether the byte is JSON white space that does not end a line.
pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

/// The incremental machine: the state of a stream, the index of the last event, and the templates. It is plain data
/// without pointers. [`Parser`](super::Parser) wraps it.
///
/// `SLOTS` is the number of templates, 0 to 4. A template is an event that the machine recognizes when it is repeated
/// with other texts.
///
/// The state is the first field, so a pointer to a machine of any size is a pointer to a [`StreamState`].
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

/// Prints the offset, the verdict and the configuration, but no bytes of the stream.
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

/// What a piece of a line led to.
pub(super) enum AfterPiece {
    /// Read the next piece.
    Go,
    /// End the step with this result, after the piece.
    Found(Found),
    /// End the step with this result, at this offset of the window, inside the line.
    Within(usize, Found),
    /// End the step with this result, before the piece, which the next step reads again.
    Again(Found),
}

impl Machine {
    /// A machine at the start of a stream.
    pub const fn new(config: Config) -> Self {
        Machine::with_slots(config)
    }
}

impl<const SLOTS: usize> Machine<SLOTS> {
    /// A machine at the start of a stream, with `SLOTS` templates. More than 4 do not compile.
    pub const fn with_slots(config: Config) -> Self {
        const { assert!(SLOTS <= 4, "SLOTS is 0 to 4") };
        let index = Index { snapshots: config.snapshots, ..Index::new() };
        Machine { state: StreamState::new(config), index, memo: Memo::NEW }
    }

    /// The index of the chunk found last.
    pub fn index(&self) -> &Index {
        &self.index
    }

    /// Stream offsets of the event found last: of its first byte, and of the byte after its last.
    // Not inlined, so that both words return in registers. Inlined, one load of 16 bytes reads them and stalls, because
    // the step wrote them just before with two stores of 8 bytes.
    #[inline(never)]
    pub fn index_frame(&self) -> (u64, u64) {
        self.index.frame
    }

    /// Reads until something is found or all of the window is consumed. Give the bytes from `consumed` on again in the
    /// next step.
    #[inline]
    pub fn step<S: Storage + ?Sized>(&mut self, storage: &mut S, window: &[u8]) -> Step {
        match self.recognize(storage, window) {
            Some(recognized) => {
                self.note_template_facts();
                recognized.step(window)
            }
            None => self.read_on(storage, window),
        }
    }

    /// Reads line by line: the general way, without fast paths. Templates are compared with a payload alone, when its
    /// event ends ([`dispatch`](Self::dispatch)).
    #[inline(never)]
    pub(super) fn read_lines<S: Storage + ?Sized>(&mut self, storage: &mut S, window: &[u8]) -> Step {
        (self.between_events, self.appendable) = (false, 0);
        // No byte is sniffed in two steps: until the sniffing has a result, each step consumes its whole window.
        self.state.facts.begin(self.state.offset, window);
        if let Some(found) = self.free_last(storage) {
            return Step { consumed: 0, found };
        }
        if self.next_empty_block_end > self.empty_block_end {
            // The step ends here, so that the frames see this end before that of the next block.
            self.empty_block_end = self.next_empty_block_end;
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
                // The rest of the line may have many values. A search to its end for each of them would be quadratic.
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
        // The templates were compared with the first part of the event only, so the whole event is compared again.
        self.unknown_at = u64::MAX;
        let fits = self.save_to_storage(storage, bytes);
        self.offset = self.offset.saturating_add(bytes.len() as u64);
        let found = if fits { Found::NeedMore } else { self.too_long() };
        self.note_appendable(storage);
        Step { consumed: bytes.len(), found }
    }

    /// Ends the stream. Each call returns one pending result; [`Found::NeedMore`] means that none is left.
    pub fn finish<S: Storage + ?Sized>(&mut self, storage: &mut S) -> Found {
        (self.between_events, self.appendable) = (false, 0);
        if let Some(found) = self.free_last(storage).filter(|found| *found != Found::NeedMore) {
            return found;
        }
        self.empty_block_end = self.empty_block_end.max(self.next_empty_block_end);
        if self.ending == Ending::Open {
            self.ending = Ending::Lines;
            if let Some(piece) = self.lines.finish() {
                match self.last_line(storage, piece) {
                    AfterPiece::Go | AfterPiece::Found(Found::NeedMore) | AfterPiece::Within(_, Found::NeedMore) => {}
                    // `Again` leaves no piece unread here: it comes only of a piece that is the first of its line or
                    // has bytes, and this one is neither.
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

    /// Takes the line in which the stream ended. A `data` line or a line of raw JSON counts as if it had ended here;
    /// any other line is [`Pending::Line`].
    fn last_line<S: Storage + ?Sized>(&mut self, storage: &mut S, piece: Piece<'_>) -> AfterPiece {
        let has_value = !piece.first && matches!(piece.field, LineKind::Data | LineKind::Unknown);
        let is_next = matches!(self.line, Line::NextDone(matched) if usize::from(matched) < DONE.len());
        if !has_value || is_next && piece.field == LineKind::Data {
            self.facts.pending = Pending::Line;
            return AfterPiece::Go;
        }
        let next = self.piece(storage, &[], piece, 0);
        let is_cut = matches!(self.line, Line::Lead | Line::Skip | Line::ErrorName(_) | Line::ErrorColon);
        if is_cut || matches!(self.line, Line::Bracket(matched) if usize::from(matched) < DONE.len()) {
            self.facts.pending = Pending::Line;
        }
        next
    }

    /// Frees the storage of the event that was emitted. Returns what its block has besides that event: `[DONE]`, or
    /// bytes after its JSON.
    #[inline]
    pub(super) fn free_last<S: Storage + ?Sized>(&mut self, storage: &mut S) -> Option<Found> {
        match core::mem::replace(&mut self.after, After::Nothing) {
            After::Nothing => None,
            After::Release | After::Line => {
                if self.release(storage) {
                    // The release moved bytes in the storage, which no checkpoint restores, so the step ends here.
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
                Some(self.conclude_done())
            }
            After::Glued { payload, is_error } => Some(self.read_glued(storage, payload, is_error)),
            After::Trailing(span) => {
                self.after = After::Release;
                // The quirks were emitted with the value.
                self.block.quirks = QuirkSet::EMPTY;
                Some(Found::Malformed(span, JsonError { kind: JsonErrorKind::TrailingBytes, offset: 0 }))
            }
        }
    }

    /// Releases the event that was emitted. Returns whether its block goes on with another event, which already has a
    /// name or an ID.
    fn release<S: Storage + ?Sized>(&mut self, storage: &mut S) -> bool {
        let has_next = self.buffer.has_next();
        let start = if has_next { self.block.next_start } else { self.line_start };
        let goes_on = has_next || self.buffer.has_id();
        self.block = EventBlock::NEW;
        if goes_on {
            self.block = EventBlock { open: true, start, ..EventBlock::NEW };
            self.buffer.adopt(storage);
        } else {
            storage.shrink(self.buffer.lasting());
        }
        goes_on
    }

    /// Copies the parts of the event that are in the window to the storage. Returns `false` if they do not fit.
    pub(super) fn save_to_storage<S: Storage + ?Sized>(&mut self, storage: &mut S, window: &[u8]) -> bool {
        self.buffer.save(storage, window).is_ok()
    }

    /// Discards the event because it is over the limit, and skips the rest of its block. Returns [`Found::TooLong`], or
    /// [`Found::NeedMore`] if that was reported before.
    pub(super) fn too_long(&mut self) -> Found {
        let (start, quirks) = (self.block.start, self.block.quirks);
        let EventBlock { raw, balance, skim, .. } = self.block;
        let is_reported = skim.has_told();
        self.facts.too_long = self.facts.too_long.saturating_add(u32::from(!is_reported));
        if raw {
            self.count_raw_value();
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

    /// Counts a raw JSON value.
    pub(super) fn count_raw_value(&mut self) {
        self.facts.raw_values = self.facts.raw_values.saturating_add(1);
        if !self.in_array {
            self.facts.whole_values = self.facts.whole_values.saturating_add(1);
        }
    }

    /// Ends a block that was skipped, and counts its quirks.
    pub(super) fn end_skipped_block(&mut self) {
        let quirks = self.block.quirks;
        self.count(quirks);
        self.block = EventBlock::NEW;
    }

    /// Notes that a block ended at this stream offset without an event. The step ends here too, so that the frames see
    /// the end.
    pub(super) fn end_empty_block(&mut self, end: u64) -> AfterPiece {
        self.empty_block_end = end;
        AfterPiece::Found(Found::NeedMore)
    }

    /// Opens the block at the current line, unless it is open.
    pub(super) fn open(&mut self) {
        if !self.block.open {
            self.block.open = true;
            self.block.start = self.line_start;
        }
    }

    /// Begins a new stream with the same configuration.
    pub fn reset(&mut self) {
        *self = Machine::with_slots(self.state.config);
    }
}
