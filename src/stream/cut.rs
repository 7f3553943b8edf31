//! Events that a slice cuts: their payload goes to the storage, and is recognised there.

use super::found::{Found, Span, Step};
use super::machine::Machine;
use super::memo::MORE;
use super::state::{After, EventBlock, Line, StreamState};
use crate::chat::index::SeenChoices;
use crate::scan::find;
use crate::sse::Ended;
use crate::Storage;

impl<const SLOTS: usize> Machine<SLOTS> {
    /// Takes a byte of `data: `, the first bytes of the payload behind that, or the blank line behind the payload. The step
    /// before left nothing to report.
    #[inline]
    pub(super) fn go_on_in_line<S: Storage + ?Sized>(&mut self, storage: &mut S, window: &[u8]) -> Option<Step> {
        if self.lines.go_on_in_head(window) {
            return Some(self.taken(window));
        }
        if !self.block.open {
            let begins = self.lines.is_before_data() && self.is_usual_place();
            // Spans are 32 bits wide.
            let fits = begins && !window.is_empty() && window.len() <= i32::MAX as usize;
            if !fits || find::line_end(window).is_some() {
                return None;
            }
            return self.begin_cut(storage, window, None).then(|| self.taken(window));
        }
        let is_over = self.line == Line::Payload && self.lines.is_at_start() && !self.lines.is_after_cr();
        if is_over && self.is_plain_data() && window.first() == Some(&b'\n') && self.buffer.is_stored() {
            return Some(self.end_payload(storage, window, 1, Ended::Alone));
        }
        None
    }

    /// Whether the payload so far is data of an event within the limit, with nothing behind it.
    fn is_plain_data(&self) -> bool {
        !self.block.skipping && !self.block.raw && !self.block.skim.is_on() && !self.buffer.has_next()
    }

    /// Begins an event whose `data` line the slice cuts: `value` is the beginning of its payload. `after_lf`: whether the LF of
    /// a CRLF begins this window; `None` if the line began in an earlier one. `false`: nothing was done.
    #[inline]
    pub(super) fn begin_cut<S: Storage + ?Sized>(
        &mut self,
        storage: &mut S,
        value: &[u8],
        after_lf: Option<bool>,
    ) -> bool {
        let is_behind = self.after == After::Release;
        if is_behind {
            storage.shrink(self.buffer.lasting());
        }
        let Some(left) = self.buffer.begin_data(storage, value) else { return false };
        if is_behind {
            (self.after, self.block) = (After::Nothing, EventBlock::NEW);
        }
        if let Some(after_lf) = after_lf {
            self.line_start = self.offset.saturating_add(u64::from(after_lf));
        }
        // The template was compared with less than the whole event.
        (self.rested, self.unknown_at) = (false, u64::MAX);
        self.line = Line::Payload;
        self.open();
        self.lines.start_data(after_lf == Some(true));
        // Spans are 32 bits wide.
        self.appendable = left.min(i32::MAX as usize) as u32;
        true
    }

    /// Ends an event that has a payload. Its blank line ends at offset `consumed` of the window.
    #[inline]
    pub(super) fn end_payload<S: Storage + ?Sized>(
        &mut self,
        storage: &mut S,
        window: &[u8],
        consumed: usize,
        ended: Ended,
    ) -> Step {
        self.lines.start_line(ended);
        (self.rested, self.appendable) = (false, 0);
        let end = self.offset.saturating_add(consumed as u64);
        let found = match self.recognise_stored(storage, end) {
            Some(found) => found,
            None => self.dispatch(storage, window, end, false),
        };
        self.offset = end;
        Step { consumed, found }
    }

    /// Recognises an event that a slice cut, and whose payload is in the storage, if it is an ordinary chunk in a stream of
    /// chunks: then [`dispatch`](Machine::dispatch) would do the same. `end`: the offset in the stream where the event ends.
    #[inline]
    fn recognise_stored<S: Storage + ?Sized>(&mut self, storage: &mut S, end: u64) -> Option<Found> {
        let is_usual =
            self.reads_chunks() && !self.block.error_field && self.block.quirks.is_empty() && self.is_usual_place();
        let data = self.buffer.lone_data().filter(|_| is_usual)?;
        let bytes = (data.padded(storage.bytes_mut(), MORE), data.len as usize);
        let max_depth = self.config.limits.max_depth;
        if !self.memo.payload(&mut self.index, bytes, b"", max_depth) {
            self.unknown_at = self.block.start;
            return None;
        }
        let (facts, quirks) = (self.index.facts, self.index.quirks);
        if !facts.chat || facts.error || self.index.plan.protocol().is_some() || self.has_error(quirks) {
            return None;
        }
        self.join();
        self.buffer.end();
        self.name = Span::EMPTY;
        self.index.frame = (self.block.start, end);
        self.note_choices(&SeenChoices::default());
        self.note_event(quirks);
        // `is_rested` would say so: the next event may begin here.
        self.rested = self.silent_next <= self.silent;
        Some(Found::Chunk(data))
    }
}

impl StreamState {
    /// Notes a byte that the caller appends to the payload that a slice cut, where [`appends_at`](Self::appends_at) says. `false`:
    /// nothing was done, because the byte ends a line or no payload is cut.
    #[doc(hidden)]
    #[inline(always)]
    pub fn notes_byte(&mut self, byte: u8) -> bool {
        let is_more = self.appendable > 0 && !matches!(byte, b'\r' | b'\n');
        if is_more {
            self.buffer.lengthen(1);
            self.offset = self.offset.wrapping_add(1);
            self.appendable = self.appendable.wrapping_sub(1);
        }
        is_more
    }

    /// Does the same for the bytes of `window` up to a line end, and returns how many they are: 0 if nothing was done.
    #[doc(hidden)]
    #[inline]
    pub fn notes_line(&mut self, window: &[u8]) -> usize {
        if self.appendable == 0 {
            return 0;
        }
        let end = find::line_end(window).unwrap_or(window.len());
        if end > self.appendable as usize {
            return 0;
        }
        self.buffer.lengthen(end);
        self.offset = self.offset.wrapping_add(end as u64);
        self.appendable = self.appendable.wrapping_sub(end as u32);
        end
    }

    /// Where in a storage of `len` bytes the next byte of the payload that a slice cut goes. `None`: no payload is cut, or the
    /// storage has less room than was noted.
    #[doc(hidden)]
    pub fn appends_at(&self, len: usize) -> Option<usize> {
        let end = self.buffer.stored_end().filter(|_| self.appendable > 0)?;
        (end.checked_add(self.appendable as usize)? <= len).then_some(end)
    }

    /// Makes the next step look at the whole state before it appends to a payload.
    #[doc(hidden)]
    pub fn stop_appending(&mut self) {
        self.appendable = 0;
    }

    /// Takes the bytes at the front of `input`, up to a line end, and appends them to the payload that a slice cut; none, if a
    /// line ends there, no payload is cut, or the storage has no room. Returns whether bytes were taken and none are left. Where a
    /// payload is cut, the step before found nothing, so no event waits to be reported.
    #[inline(always)]
    pub(super) fn append<S: Storage + ?Sized>(&mut self, storage: &mut S, input: &mut &[u8]) -> bool {
        if let [byte] = **input {
            // Nearly every step that gets slices of one byte.
            if self.appendable > 0 && !matches!(byte, b'\r' | b'\n') && self.append_all(storage, &[byte]) {
                *input = &[];
                return true;
            }
        }
        self.appendable > 0 && self.append_line(storage, input)
    }

    /// [`append`](Self::append) where a payload is cut.
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

    /// Appends bytes that have no line end and are at most `appendable`.
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
    /// Goes on in a payload that a slice cut: takes more of it, or its end, where a LF or a CRLF and a blank line, or a LF at the
    /// end of the window, follow.
    pub(super) fn go_on_in_payload<S: Storage + ?Sized>(&mut self, storage: &mut S, window: &[u8]) -> Option<Step> {
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
                let _ = self.taken(rest);
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

    /// Notes how many bytes the next steps may append, if the machine is inside a `data` line whose payload so far is in the
    /// storage, and nothing waits to be reported.
    pub(super) fn note_appendable<S: Storage + ?Sized>(&mut self, storage: &S) {
        let is_in_payload = self.line == Line::Payload
            && self.lines.is_in_data()
            && self.after == After::Nothing
            && self.is_plain_data()
            && self.silent_next <= self.silent;
        // Spans are 32 bits wide.
        let most = if is_in_payload { self.buffer.appendable(storage) } else { 0 };
        self.appendable = most.min(i32::MAX as usize) as u32;
    }
}
