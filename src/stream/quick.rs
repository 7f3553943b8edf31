//! Fast paths for the common cases. Each has the same effect as [`read_lines`](Machine::read_lines), or returns `None`
//! and has no effect.

use super::config::Validate;
use super::facts::Evidence;
use super::found::{Found, Place, Span, Step};
use super::machine::Machine;
use super::memo::DATA_PREFIX;
use super::state::{After, Ending, Line, StreamState};
use crate::chat::index::{Hint, Read};
use crate::chat::read::read;
use crate::scan::find;
use crate::sse::Ended;
use crate::Storage;

/// [`usual_chunk`](Machine::usual_chunk) reads at most twice the length of the event before, and this many bytes more.
/// If a slice cuts the event, its pass over the JSON is wasted, and the bound limits that waste.
const LONGER: usize = 128;

impl<const SLOTS: usize> Machine<SLOTS> {
    /// Reads from the front of the window, after [`recognize`](Machine::recognize) recognized nothing there.
    #[inline]
    pub(super) fn read_on<S: Storage + ?Sized>(&mut self, storage: &mut S, window: &[u8]) -> Step {
        match self.quick(storage, window) {
            Some(step) => step,
            None => self.read_lines(storage, window),
        }
    }

    /// Takes the fast path that applies, if one does.
    #[inline]
    pub(super) fn quick<S: Storage + ?Sized>(&mut self, storage: &mut S, window: &[u8]) -> Option<Step> {
        if self.appendable > 0 {
            self.continue_payload(storage, window)
        } else if self.between_events || self.lines.is_at_start() && self.is_between_events() {
            self.begin_event(storage, window)
        } else {
            None
        }
    }

    /// Takes an event that consists of one `data` line: the whole event if a LF or CRLF and a blank line follow the
    /// payload, or its beginning if the window ends inside the line.
    #[inline]
    fn begin_event<S: Storage + ?Sized>(&mut self, storage: &mut S, window: &[u8]) -> Option<Step> {
        let skipped = usize::from(self.lines.is_after_cr() && window.first() == Some(&b'\n'));
        let line = window.get(skipped..)?;
        let value =
            line.strip_prefix(DATA_PREFIX).filter(|value| !value.is_empty() && window.len() <= i32::MAX as usize)?;
        let start = skipped.saturating_add(DATA_PREFIX.len());
        // Most events are about as long as the one before. If the window probably has the whole event, the pass over
        // its JSON finds the end of the payload, and the search for the line end is saved.
        let before = self.index.frame.1.saturating_sub(self.index.frame.0) as usize;
        let is_whole = value.len() >= before;
        if is_whole {
            let most = before.saturating_mul(2).saturating_add(LONGER);
            if let Some(step) = self.usual_chunk(storage, window, start, value.get(..most).unwrap_or(value)) {
                return Some(step);
            }
        }
        let end = find::line_end(value);
        let (value, ends) = match end {
            Some(end) => value.split_at_checked(end)?,
            None => (value, &[][..]),
        };
        let (tail, ended) = match ends {
            [] => (0, Ended::Alone),
            [b'\n', b'\n', ..] => (2, Ended::Alone),
            [b'\r', b'\n', b'\r', ..] => (3, Ended::CrBehindCrLf),
            _ => return None,
        };
        if value.len() > self.buffer.room(storage) {
            return None;
        }
        if tail > 0 && !is_whole {
            if let Some(step) = self.usual_chunk(storage, window, start, value) {
                return Some(step);
            }
        }
        if tail == 0 {
            return self.begin_cut(storage, value, skipped > 0).then(|| self.consume_all(window));
        }
        // `dispatch` stores the payload if bytes follow its JSON. If the storage can move and is too small for that,
        // the step must be undone, which only the general way can do.
        if storage.can_move() && value.len().saturating_add(self.buffer.lasting()) > storage.bytes().len() {
            return None;
        }
        self.between_events = false;
        // Between events this has nothing to report.
        self.free_last(storage);
        self.line_start = self.offset.saturating_add(skipped as u64);
        self.line = Line::Payload;
        self.open();
        // The payload stays in the window. It is within the limit: `room` was compared above.
        let _ = self.buffer.data(storage, window, value, true, start);
        let consumed = start.saturating_add(value.len()).saturating_add(tail);
        Some(self.end_payload(storage, window, consumed, ended))
    }

    /// Reads the event whose payload is at the front of `bytes`, which begins at `start` of the window, after `data: `.
    /// Returns `None` unless the event is an ordinary chunk with a choice in a stream of chunks, and a LF or CRLF and a
    /// blank line end it. For such an event [`dispatch`](Machine::dispatch) would do the same.
    #[inline]
    fn usual_chunk<S: Storage + ?Sized>(
        &mut self,
        storage: &mut S,
        window: &[u8],
        start: usize,
        bytes: &[u8],
    ) -> Option<Step> {
        let config = &self.state.config;
        if !self.reads_chunks() || config.validate != Validate::Lazy || bytes.first() != Some(&b'{') {
            return None;
        }
        self.memo.forget_current();
        let Read { end, seen, may_break } = read(&mut self.index, bytes, Hint::None, config.limits.max_depth).ok()?;
        let (facts, quirks) = (self.index.facts, self.index.quirks);
        let is_chunk = facts.chat && self.index.choices > 0 && !facts.error;
        if !is_chunk || self.has_error(quirks) || end > self.buffer.room(storage) {
            return None;
        }
        let payload = bytes.get(..end)?;
        if may_break && find::line_end(payload).is_some() {
            return None;
        }
        // These sums are offsets in the window, so they do not overflow.
        let (begin, payload_end) = (start.wrapping_sub(DATA_PREFIX.len()), start.wrapping_add(end));
        let (ends, tail, ended) = match window.get(payload_end..)? {
            [b'\n', b'\n', ..] => (*b"\n\n\0", 2, Ended::Alone),
            [b'\r', b'\n', b'\r', ..] => (*b"\r\n\r", 3, Ended::CrBehindCrLf),
            _ => return None,
        };
        let consumed = payload_end.wrapping_add(tail);
        if SLOTS > 0 {
            if !self.memo.has_envelope(ends) {
                self.memo.note_envelope(window.get(begin..consumed)?, DATA_PREFIX.len(), end, b"");
            }
            if self.memo.wants() {
                self.memo.learn(&self.index, payload, b"", false, &seen);
            }
        }
        let frame = (self.offset.saturating_add(begin as u64), self.offset.saturating_add(consumed as u64));
        self.index.frame = frame;
        self.note_choices(&seen);
        self.name = Span::EMPTY;
        self.pass_event(frame.1, ended, quirks);
        storage.shrink(self.buffer.lasting());
        // All conditions of `is_between_events` hold here.
        self.between_events = true;
        let payload = Span { place: Place::Input, start: start as u32, len: end as u32 };
        Some(Step { consumed, found: Found::Chunk(payload) })
    }

    /// The payload of the last step's result, if a run can emit it: JSON without an event name and without quirks, in a
    /// stream that is not known to be of another protocol than chat completions, and between events.
    #[inline(always)]
    pub(super) fn usual_payload(&self, found: Found) -> Option<Span> {
        match found {
            Found::Chunk(span) if self.index.quirks.is_empty() && (self.between_events || self.is_usual_chunk()) => {
                Some(span)
            }
            _ => None,
        }
    }

    /// The conditions of [`usual_payload`](Machine::usual_payload) on the stream and the event's name.
    #[inline(never)]
    fn is_usual_chunk(&self) -> bool {
        self.name.len == 0 && self.index.plan.protocol().is_none() && !self.is_native() && self.is_between_events()
    }

    /// Consumes the whole window. Returns the step, which found nothing.
    #[inline]
    pub(super) fn consume_all(&mut self, window: &[u8]) -> Step {
        self.offset = self.offset.saturating_add(window.len() as u64);
        Step { consumed: window.len(), found: Found::NeedMore }
    }

    /// Whether an event may begin here, nothing is waiting to be reported, and a further chunk would change no fact of
    /// the stream.
    #[inline(never)]
    pub(super) fn is_between_events(&self) -> bool {
        let between = match self.after {
            After::Release => !self.buffer.has_next() && !self.buffer.has_id(),
            After::Nothing => !self.block.open,
            After::Line | After::Unstage | After::Trailing(_) | After::Glued { .. } | After::Done { .. } => false,
        };
        between
            && self.lines.is_at_start()
            && self.next_empty_block_end <= self.empty_block_end
            && self.is_usual_place()
    }

    /// Whether a further chunk would change no fact of the stream.
    #[inline]
    pub(super) fn is_usual_place(&self) -> bool {
        !self.in_array && self.facts.evidence == Evidence::Fields && !self.facts.done && self.ending == Ending::Open
    }
}

impl StreamState {
    /// Whether a step would find nothing in an empty window and have nothing to free. It is so after each event that was
    /// whole in its window, which the caller's input often ends with. The block of an event that was cut stays open until
    /// the event, which lies in the storage, is released.
    #[inline(always)]
    pub(super) fn is_at_rest(&self) -> bool {
        self.between_events && !self.block.open
    }
}
