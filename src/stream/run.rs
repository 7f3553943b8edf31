//! Events that templates recognize where they lie, in the window.

use super::config::Payload;
use super::found::{Place, Recognized, Span};
use super::machine::Machine;
use super::memo::NONE;
use super::state::After;
use crate::dialect::Protocol;
use crate::sse::Ended;
use crate::{QuirkSet, Storage};

/// Returns the bytes without a LF at their front.
#[cold]
fn strip_lf(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\n").unwrap_or(bytes)
}

impl<const SLOTS: usize> Machine<SLOTS> {
    /// Recognizes the event at the front of the window, if the window has the whole event and a template matches, and
    /// moves the machine past it. The result is the chunk that [`read_lines`](Machine::read_lines) would find.
    #[inline(always)]
    pub(super) fn recognize<'w, S: Storage + ?Sized>(
        &mut self,
        storage: &mut S,
        window: &'w [u8],
    ) -> Option<Recognized<'w>> {
        let recognized = self.recognize_next::<true>(window, self.longest_payload(storage), NONE)?;
        storage.shrink(self.buffer.lasting());
        Some(recognized)
    }

    /// Returns the length of the longest payload that is allowed now.
    #[inline(always)]
    pub(super) fn longest_payload<S: Storage + ?Sized>(&self, storage: &S) -> usize {
        // Spans are 32 bits wide.
        self.buffer.room(storage).min(i32::MAX as usize)
    }

    /// [`recognize`](Machine::recognize) in a run, a loop over consecutive events: the payload may have `room` bytes, and
    /// the template `before` recognized the event before, or [`NONE`]. `NATIVE` means that the event may be of another
    /// protocol than chat completions.
    #[inline(always)]
    pub(super) fn recognize_next<'w, const NATIVE: bool>(
        &mut self,
        window: &'w [u8],
        room: usize,
        before: u8,
    ) -> Option<Recognized<'w>> {
        if !self.memo.may_recognize(window.len()) {
            return None;
        }
        if !self.between_events {
            if !self.is_between_events() {
                return None;
            }
            self.between_events = true;
        }
        let bytes = if self.lines.is_after_cr() { strip_lf(window) } else { window };
        // Offsets of bytes that were read do not overflow.
        let begin = self.offset.wrapping_add(window.len().wrapping_sub(bytes.len()) as u64);
        let Some(hit) = self.memo.recognize_event(&mut self.index, bytes, self.state.config.limits.max_depth) else {
            self.unknown_at = begin;
            return None;
        };
        let quirks = self.index.quirks;
        if hit.len > room || self.has_error(quirks) {
            self.memo.refuse(before);
            return None;
        }
        let (payload, rest) = (bytes.get(hit.start..hit.start.wrapping_add(hit.len))?, bytes.get(hit.end..)?);
        let at = window.len().wrapping_sub(bytes.len()).wrapping_add(hit.start) as u32;
        let is_native = NATIVE && hit.is_native;
        if is_native {
            if !self.take_native(payload, at, room) {
                self.memo.refuse(before);
                return None;
            }
        } else {
            self.name = Span::EMPTY;
        }
        let frame = (begin, begin.wrapping_add(hit.end as u64));
        self.index.frame = frame;
        self.pass_event(frame.1, hit.ended, quirks);
        let template = self.memo.current();
        Some(Recognized { payload, at, rest, frame, template, is_native })
    }

    /// Notes the token counts and the name of an event of another protocol than chat completions, whose payload begins
    /// at `at`. Returns `false`, and notes nothing, if the event is too long or this stream would read it differently.
    #[inline(never)]
    fn take_native(&mut self, payload: &[u8], at: u32, room: usize) -> bool {
        let (len, before) = self.memo.name();
        if payload.len().wrapping_add(len) > room || !self.report_text(payload) {
            return false;
        }
        self.restore_counts(payload);
        let name = Span { place: Place::Input, start: at.wrapping_sub(before as u32), len: len as u32 };
        self.name = if len > 0 { name } else { Span::EMPTY };
        true
    }

    /// Adds the facts that a full reading of the recognized events would have noted: which choices came, and which
    /// finished. This is needed only for shared templates, which may have been learned from another stream. For them
    /// [`report_text`](Machine::report_text) notes the texts.
    #[inline(always)]
    pub(super) fn note_template_facts(&mut self) {
        if self.memo.is_shared() {
            self.note_shared_facts();
        }
    }

    /// [`note_template_facts`](Machine::note_template_facts) for shared templates.
    #[cold]
    #[inline(never)]
    fn note_shared_facts(&mut self) {
        let seen = self.memo.take_facts();
        self.facts.seen.add(seen.all);
        self.facts.finished.add(seen.finished);
        if self.is_native() {
            self.state.note_protocol(self.state.dialect.protocol);
            self.facts.ended = Some(self.dialect.ended);
        }
    }

    /// Notes the text of an event of Responses that a template recognized. Returns `false`, without effect, if this
    /// stream may read the event differently: its text is done, or a shared template recognized it and its text is
    /// empty or belongs to another item.
    #[inline]
    pub(super) fn report_text(&mut self, payload: &[u8]) -> bool {
        if self.index.plan.protocol() != Some(Protocol::Responses) {
            return true;
        }
        let is_shared = self.memo.is_shared();
        match self.index.only_text(payload) {
            Some(event) => self.state.dialect.follow(&event, is_shared),
            None => !is_shared,
        }
    }

    /// Moves the machine past an event that is whole in the window: to this stream offset, after a line that `ended`
    /// this way.
    #[inline(always)]
    pub(super) fn pass_event(&mut self, offset: u64, ended: Ended, quirks: QuirkSet) {
        self.offset = offset;
        self.lines.start_line(ended);
        self.note_event(quirks);
    }

    /// Notes that an event with these quirks ended. The next step releases its bytes.
    #[inline(always)]
    pub(super) fn note_event(&mut self, quirks: QuirkSet) {
        self.block.quirks = quirks;
        self.count(quirks);
        self.after = After::Release;
    }

    /// Whether this is a stream of chat completions whose payloads are read as chunks.
    #[inline(always)]
    pub(super) fn reads_chunks(&self) -> bool {
        self.facts.own_event && self.dialect.protocol == Some(Protocol::Chat) && self.config.payload == Payload::Chunks
    }

    /// Whether one of these quirks is configured as an [error](super::Config::errors).
    #[inline(always)]
    pub(super) fn has_error(&self, quirks: QuirkSet) -> bool {
        !quirks.is_empty() && !quirks.and(self.config.errors).is_empty()
    }
}
