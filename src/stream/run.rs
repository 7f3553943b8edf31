//! Runs: consecutive events that templates recognize.

use super::config::Payload;
use super::found::{Place, Recognized, Span};
use super::machine::Machine;
use super::memo::NONE;
use super::state::After;
use crate::dialect::Protocol;
use crate::sse::Ended;
use crate::{QuirkSet, Storage};

/// A run in progress. Its events change little in the machine but offsets, so [`settle_run`](Machine::settle_run)
/// updates the machine once, after the last event of the run.
pub(super) struct Run {
    /// The longest payload that is allowed.
    room: usize,
    max_depth: u32,
    /// Stream offset after the last event.
    offset: u64,
    /// How the last line of that event ended.
    ended: Ended,
    /// The template that recognized that event, or [`NONE`].
    template: u8,
    /// The quirks of that event. An event with quirks ends the run.
    quirks: QuirkSet,
}

impl Run {
    /// Whether the run has events that are not yet settled in the machine.
    #[inline(always)]
    pub(super) fn is_ahead_of<const SLOTS: usize>(&self, machine: &Machine<SLOTS>) -> bool {
        self.offset > machine.offset
    }

    /// Whether the last event ended in a CR that a LF probably follows.
    #[inline(always)]
    pub(super) fn expects_lf(&self) -> bool {
        self.ended == Ended::CrBehindCrLf
    }
}

/// Returns the bytes without a LF at their front.
#[cold]
fn strip_lf(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\n").unwrap_or(bytes)
}

impl<const SLOTS: usize> Machine<SLOTS> {
    /// Recognizes the event at the front of the window, if the window has the whole event and a template matches. The
    /// result is the chunk that [`read_lines`](Machine::read_lines) would find.
    #[inline(always)]
    pub(super) fn recognize<'w, S: Storage + ?Sized>(
        &mut self,
        storage: &mut S,
        window: &'w [u8],
    ) -> Option<Recognized<'w>> {
        let mut run = self.try_begin_run(storage, window)?;
        let recognized = self.recognize_next::<true>(&mut run, window)?;
        self.settle_run::<_, true>(&run, storage);
        Some(recognized)
    }

    /// Begins a run, if an event may begin here and a template may recognize it.
    #[inline(always)]
    pub(super) fn try_begin_run<S: Storage + ?Sized>(&mut self, storage: &S, window: &[u8]) -> Option<Run> {
        if !self.memo.may_recognize(window.len()) {
            return None;
        }
        if !self.between_events {
            if !self.is_between_events() {
                return None;
            }
            self.between_events = true;
        }
        Some(self.begin_run(storage))
    }

    /// Begins a run. The machine is between events.
    #[inline(always)]
    pub(super) fn begin_run<S: Storage + ?Sized>(&self, storage: &S) -> Run {
        Run {
            // Spans are 32 bits wide.
            room: self.buffer.room(storage).min(i32::MAX as usize),
            max_depth: self.config.limits.max_depth,
            offset: self.offset,
            ended: self.lines.ended(),
            template: NONE,
            quirks: QuirkSet::EMPTY,
        }
    }

    /// Recognizes the next event of a run, at the front of the window, and updates the index. `NATIVE` means that the
    /// event may be of another protocol than chat completions; then this also updates the name and the token counts.
    /// [`settle_run`](Machine::settle_run) updates everything else.
    #[inline(always)]
    pub(super) fn recognize_next<'w, const NATIVE: bool>(
        &mut self,
        run: &mut Run,
        window: &'w [u8],
    ) -> Option<Recognized<'w>> {
        if !self.memo.may_recognize(window.len()) {
            return None;
        }
        let bytes = if run.ended.is_cr() { strip_lf(window) } else { window };
        // Offsets of bytes that were read do not overflow.
        let offset_of = |rest: &[u8]| run.offset.wrapping_add(window.len().wrapping_sub(rest.len()) as u64);
        let Some(hit) = self.memo.recognize_event(&mut self.index, bytes, run.max_depth) else {
            self.unknown_at = offset_of(bytes);
            return None;
        };
        let quirks = self.index.quirks;
        if hit.len > run.room || self.has_error(quirks) {
            self.memo.refuse(run.template);
            return None;
        }
        let (payload, rest) = (bytes.get(hit.start..hit.start.wrapping_add(hit.len))?, bytes.get(hit.end..)?);
        let at = window.len().wrapping_sub(bytes.len()).wrapping_add(hit.start) as u32;
        let is_native = NATIVE && hit.is_native;
        if is_native {
            self.take_native(payload, at, run)?;
        } else if NATIVE {
            self.name = Span::EMPTY;
        }
        let frame = (offset_of(bytes), offset_of(rest));
        self.index.frame = frame;
        let template = self.memo.current();
        let repeats = template == run.template;
        (run.offset, run.ended, run.template, run.quirks) = (frame.1, hit.ended, template, quirks);
        Some(Recognized { payload, at, rest, frame, repeats, is_native })
    }

    /// Notes the token counts and the name of an event of another protocol than chat completions, whose payload begins
    /// at `at`. Returns `None`, and notes nothing, if the event is too long or this stream would read it differently.
    #[inline(never)]
    fn take_native(&mut self, payload: &[u8], at: u32, run: &Run) -> Option<()> {
        let (len, before) = self.memo.name();
        if payload.len().wrapping_add(len) > run.room || !self.report_text(payload) {
            self.memo.refuse(run.template);
            return None;
        }
        self.restore_counts(payload);
        let name = Span { place: Place::Input, start: at.wrapping_sub(before as u32), len: len as u32 };
        self.name = if len > 0 { name } else { Span::EMPTY };
        Some(())
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

    /// Updates the machine after the last event of a run, as if it had read each of them.
    #[inline(always)]
    pub(super) fn settle_run<S: Storage + ?Sized, const NATIVE: bool>(&mut self, run: &Run, storage: &mut S) {
        if !NATIVE {
            self.name = Span::EMPTY;
        }
        // Only the last event of a run can have quirks.
        self.pass_event(storage, run.offset, run.ended, run.quirks);
    }

    /// Moves the machine past an event that is whole in the window: to this stream offset, after a line that `ended`
    /// this way.
    #[inline(always)]
    pub(super) fn pass_event<S: Storage + ?Sized>(
        &mut self,
        storage: &mut S,
        offset: u64,
        ended: Ended,
        quirks: QuirkSet,
    ) {
        self.offset = offset;
        self.lines.start_line(ended);
        self.note_event(quirks);
        storage.shrink(self.buffer.lasting());
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
