//! Fast paths for events that a slice cuts: the machine collects their payload in the storage and compares it with the
//! templates when the event ends.

use super::found::{Found, Span, Step};
use super::machine::Machine;
use super::memo::READ_AHEAD;
use super::state::{After, EventBlock, Line, StreamState};
use crate::scan::find;
use crate::sse::Ended;
use crate::Storage;

impl<const SLOTS: usize> Machine<SLOTS> {
    /// Whether the payload so far is within the limit and not raw JSON, and no field of the next event follows it.
    fn is_only_data(&self) -> bool {
        !self.block.skipping && !self.block.raw && !self.block.skim.is_on() && !self.buffer.has_next()
    }

    /// Begins an event whose `data` line the slice cuts. `value` is the beginning of its payload. `after_lf` is whether
    /// the window begins with the LF of a CRLF. Returns `false`, without effect, if the storage has no room.
    #[inline]
    pub(super) fn begin_cut<S: Storage + ?Sized>(&mut self, storage: &mut S, value: &[u8], after_lf: bool) -> bool {
        let frees_event = self.after == After::Release;
        if frees_event {
            storage.shrink(self.buffer.lasting());
        }
        let Some(left) = self.buffer.begin_data(storage, value) else { return false };
        if frees_event {
            (self.after, self.block) = (After::Nothing, EventBlock::NEW);
        }
        self.line_start = self.offset.saturating_add(u64::from(after_lf));
        // The templates were compared with the first part of the event only, so the whole event is compared again.
        (self.between_events, self.unknown_at) = (false, u64::MAX);
        self.line = Line::Payload;
        self.open();
        self.lines.start_data(after_lf);
        // Spans are 32 bits wide.
        self.appendable = left.min(i32::MAX as usize) as u32;
        true
    }

    /// Ends an event that has a payload, and consumes the window up to `consumed`, the end of the event's blank line.
    #[inline]
    pub(super) fn end_payload<S: Storage + ?Sized>(
        &mut self,
        storage: &mut S,
        window: &[u8],
        consumed: usize,
        ended: Ended,
    ) -> Step {
        self.lines.start_line(ended);
        (self.between_events, self.appendable) = (false, 0);
        let end = self.offset.saturating_add(consumed as u64);
        let found = match self.recognize_stored(storage, end) {
            Some(found) => found,
            None => self.dispatch(storage, window, end, false),
        };
        self.offset = end;
        Step { consumed, found }
    }

    /// Recognizes an event that a slice cut, and whose payload is in the storage, if it is an ordinary chunk in a
    /// stream of chunks. For such an event [`dispatch`](Machine::dispatch) would do the same. `end` is the stream
    /// offset of its end.
    #[inline]
    fn recognize_stored<S: Storage + ?Sized>(&mut self, storage: &mut S, end: u64) -> Option<Found> {
        let is_usual =
            self.reads_chunks() && !self.block.error_field && self.block.quirks.is_empty() && self.is_usual_place();
        let data = self.buffer.lone_data().filter(|_| is_usual)?;
        let bytes = (data.padded(storage.bytes_mut(), READ_AHEAD), data.len as usize);
        let max_depth = self.config.limits.max_depth;
        if !self.memo.recognize_payload(&mut self.index, bytes, b"", max_depth) {
            self.unknown_at = self.block.start;
            return None;
        }
        let (facts, quirks) = (self.index.facts, self.index.quirks);
        if !facts.chat || facts.error || self.index.plan.protocol().is_some() || self.has_error(quirks) {
            return None;
        }
        self.note_template_facts();
        self.buffer.end();
        self.name = Span::EMPTY;
        self.index.frame = (self.block.start, end);
        self.note_event(quirks);
        // The other conditions of `is_between_events` were checked above.
        self.between_events = self.next_empty_block_end <= self.empty_block_end;
        Some(Found::Chunk(data))
    }
}

impl StreamState {
    /// Moves the bytes of `input` up to a line end to the payload of a cut event. Takes no byte if `input` begins with
    /// a line end, if the next step has more to do than to append, or if the storage has no room. Returns `true` if it
    /// took all of `input`, and `input` was not empty. While bytes may be appended, no event is waiting to be reported.
    #[doc(hidden)]
    #[inline(always)]
    pub fn append<S: Storage + ?Sized>(&mut self, storage: &mut S, input: &mut &[u8]) -> bool {
        if self.appendable == 0 {
            return false;
        }
        match **input {
            // The common case if the caller reads byte by byte.
            [byte] if !matches!(byte, b'\r' | b'\n') && self.append_all(storage, &[byte]) => {
                *input = &[];
                true
            }
            _ => self.append_line(storage, input),
        }
    }

    /// [`append`](Self::append) while bytes may be appended.
    #[inline(never)]
    fn append_line<S: Storage + ?Sized>(&mut self, storage: &mut S, input: &mut &[u8]) -> bool {
        let window = *input;
        let end = find::line_end(window).unwrap_or(window.len());
        match window.get(..end) {
            Some(more) if end <= self.appendable as usize && self.append_all(storage, more) => {}
            _ => return false,
        }
        *input = window.get(end..).unwrap_or_default();
        end > 0 && input.is_empty()
    }

    /// Appends bytes without a line end, at most `appendable` of them.
    #[inline(always)]
    fn append_all<S: Storage + ?Sized>(&mut self, storage: &mut S, window: &[u8]) -> bool {
        let appended = self.buffer.append(storage, window);
        if appended {
            self.offset = self.offset.wrapping_add(window.len() as u64);
            self.appendable = self.appendable.wrapping_sub(window.len() as u32);
        }
        appended
    }
}

impl<const SLOTS: usize> Machine<SLOTS> {
    /// Takes more of a cut payload. Also takes the end of the event if a LF or CRLF and a blank line follow, or a LF
    /// that ends the window.
    pub(super) fn continue_payload<S: Storage + ?Sized>(&mut self, storage: &mut S, window: &[u8]) -> Option<Step> {
        let is_over = matches!(window.first(), Some(b'\n' | b'\r'));
        let mut rest = window;
        if !is_over {
            self.append_line(storage, &mut rest);
        }
        let before = window.len().wrapping_sub(rest.len());
        let (tail, ended) = match rest {
            [b'\n'] => {
                self.lines.start_line(Ended::Alone);
                self.appendable = 0;
                let _ = self.consume_all(rest);
                return Some(Step { consumed: window.len(), found: Found::NeedMore });
            }
            [b'\n', b'\n', ..] => (2, Ended::Alone),
            [b'\r', b'\n', b'\r', ..] => (3, Ended::CrBehindCrLf),
            // The next step takes any other line end.
            _ => return (before > 0).then_some(Step { consumed: before, found: Found::NeedMore }),
        };
        let Step { consumed, found } = self.end_payload(storage, rest, tail, ended);
        Some(Step { consumed: before.wrapping_add(consumed), found })
    }

    /// Sets `appendable`, if the machine is inside a `data` line whose payload so far is in the storage, and nothing is
    /// waiting to be reported.
    pub(super) fn note_appendable<S: Storage + ?Sized>(&mut self, storage: &S) {
        let is_in_payload = self.line == Line::Payload
            && self.lines.is_in_data()
            && self.after == After::Nothing
            && self.is_only_data()
            && self.next_empty_block_end <= self.empty_block_end;
        // Spans are 32 bits wide.
        let most = if is_in_payload { self.buffer.appendable(storage) } else { 0 };
        self.appendable = most.min(i32::MAX as usize) as u32;
    }
}
