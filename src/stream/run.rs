//! Runs: consecutive events that templates recognise, or that nobody asks for.

use super::config::Payload;
use super::found::{Place, Recognised, Span, Step};
use super::machine::Machine;
use super::memo::{HEAD, NONE};
use super::state::After;
use crate::dialect::{has_no_usage, Protocol};
use crate::scan::find;
use crate::sse::Ended;
use crate::{QuirkSet, Storage};

/// A run of consecutive events that templates recognise. Such events leave the machine in the same state but for offsets, so
/// the machine is brought up to date once, behind the last of them.
pub(super) struct Run {
    /// The longest payload that is allowed.
    room: usize,
    max_depth: u32,
    /// Stream offset of the next byte.
    offset: u64,
    /// How the line before that ended.
    ended: Ended,
    /// The template that recognised the event before, or [`NONE`].
    template: u8,
    /// The quirks of the event before. An event with quirks ends the run.
    quirks: QuirkSet,
}

impl Run {
    /// Whether the run passed an event that the machine was not yet brought up to date with.
    #[inline(always)]
    pub(super) fn is_ahead<const SLOTS: usize>(&self, machine: &Machine<SLOTS>) -> bool {
        self.offset > machine.offset
    }

    /// Whether the event before ended in a CR; a LF that comes next probably belongs to it.
    #[inline(always)]
    pub(super) fn expects_lf(&self) -> bool {
        self.ended == Ended::CrBehindCrLf
    }
}

/// Returns the bytes behind the LF that they begin with, if they do.
#[cold]
fn behind_lf(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\n").unwrap_or(bytes)
}

impl<const SLOTS: usize> Machine<SLOTS> {
    /// Recognises the event at the front of the window, if the window has all of it and a template matches. The result is the
    /// chunk that [`read_lines`](Machine::read_lines) would find.
    #[inline(always)]
    pub(super) fn recognise<'w, S: Storage + ?Sized>(
        &mut self,
        storage: &mut S,
        window: &'w [u8],
    ) -> Option<Recognised<'w>> {
        let mut run = self.begin_run(storage, window, false)?;
        let recognised = self.recognise_next::<true>(&mut run, window)?;
        self.settle_run::<_, true>(&run, storage);
        Some(recognised)
    }

    /// Begins a run, if an event may begin here and a template may recognise it. `skips`: also where no template may, because
    /// events that nobody asks for are skipped.
    #[inline(always)]
    pub(super) fn begin_run<S: Storage + ?Sized>(&mut self, storage: &S, window: &[u8], skips: bool) -> Option<Run> {
        if !skips && !self.memo.may_know(window.len()) {
            return None;
        }
        if !self.rested {
            if !self.is_rested() {
                return None;
            }
            self.rested = true;
        }
        Some(self.start_run(storage))
    }

    /// Begins a run of events where an event may begin.
    #[inline(always)]
    pub(super) fn start_run<S: Storage + ?Sized>(&self, storage: &S) -> Run {
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

    /// Recognises the next event of a run, at the front of the window. Updates the index; where events of other protocols may
    /// come (`NATIVE`), also the name and the token counts. [`settle_run`](Machine::settle_run) updates all else.
    #[inline(always)]
    pub(super) fn recognise_next<'w, const NATIVE: bool>(
        &mut self,
        run: &mut Run,
        window: &'w [u8],
    ) -> Option<Recognised<'w>> {
        if !self.memo.may_know(window.len()) {
            return None;
        }
        let bytes = if run.ended.is_cr() { behind_lf(window) } else { window };
        // Offsets of bytes that were read do not overflow.
        let behind = |rest: &[u8]| run.offset.wrapping_add(window.len().wrapping_sub(rest.len()) as u64);
        let Some(hit) = self.memo.event(&mut self.index, bytes, run.max_depth) else {
            self.unknown_at = behind(bytes);
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
        let frame = (behind(bytes), behind(rest));
        self.index.frame = frame;
        let template = self.memo.current();
        let repeats = template == run.template;
        (run.offset, run.ended, run.template, run.quirks) = (frame.1, hit.ended, template, quirks);
        Some(Recognised { payload, at, rest, frame, repeats, is_native, is_unread: false })
    }

    /// Takes in the token counts and the name of an event of another protocol than chat completions. Its payload begins at
    /// `at`. `None`: the event is too long, or this stream reads it another way, and nothing was taken in.
    #[inline(never)]
    fn take_native(&mut self, payload: &[u8], at: u32, run: &Run) -> Option<()> {
        let (len, before) = self.memo.name();
        if payload.len().wrapping_add(len) > run.room || !self.report_text() {
            self.memo.refuse(run.template);
            return None;
        }
        self.restore_counts(payload);
        let name = Span { place: Place::Input, start: at.wrapping_sub(before as u32), len: len as u32 };
        self.name = if len > 0 { name } else { Span::EMPTY };
        Some(())
    }

    /// Passes over the next event of a run, at the front of the window, if nobody asks for what such an event says. The event is
    /// of this protocol, and consists of an `event` line, if it has one, a `data` line and a blank line, which LFs end.
    #[inline(never)]
    pub(super) fn pass_unread<'w>(
        &mut self,
        run: &mut Run,
        window: &'w [u8],
        protocol: Protocol,
    ) -> Option<Recognised<'w>> {
        let bytes = if run.ended.is_cr() { behind_lf(window) } else { window };
        let (name, line) = match bytes.strip_prefix(b"event: ") {
            None => (&[][..], bytes),
            Some(line) => {
                let (name, line) = line.split_at_checked(find::best_line_end(line)?)?;
                // An event named `error` is one, whatever its payload is.
                (!name.is_empty() && name != b"error").then_some((name, line.strip_prefix(b"\n")?))?
            }
        };
        let value = line.strip_prefix(HEAD)?;
        let (payload, ends) = value.split_at_checked(find::best_line_end(value)?)?;
        let rest = ends.strip_prefix(b"\n\n")?;
        if name.len().wrapping_add(payload.len()) > run.room || !has_no_usage(protocol, payload) {
            return None;
        }
        self.note_unread();
        // Offsets of bytes that were read do not overflow.
        let before = |rest: &[u8]| window.len().wrapping_sub(rest.len());
        let span = |start: usize, len: usize| Span { place: Place::Input, start: start as u32, len: len as u32 };
        let at = before(value);
        let name_at = before(line).wrapping_sub(name.len()).wrapping_sub(1);
        self.name = if name.is_empty() { Span::EMPTY } else { span(name_at, name.len()) };
        let [start, end] = [bytes, rest].map(|bytes| run.offset.wrapping_add(before(bytes) as u64));
        let frame = (start, end);
        self.index.frame = frame;
        (run.offset, run.ended, run.template, run.quirks) = (end, Ended::Alone, NONE, QuirkSet::EMPTY);
        Some(Recognised { payload, at: at as u32, rest, frame, repeats: false, is_native: true, is_unread: true })
    }

    /// [`pass_unread`](Machine::pass_unread) as a run of one event.
    #[inline(never)]
    pub(super) fn unread<S: Storage + ?Sized>(
        &mut self,
        storage: &mut S,
        window: &[u8],
        protocol: Protocol,
    ) -> Option<Step> {
        let mut run = self.begin_run(storage, window, true)?;
        let recognised = self.pass_unread(&mut run, window, protocol)?;
        self.settle_run::<_, true>(&run, storage);
        Some(recognised.step(window))
    }

    /// Adds what a full reading would have noted about the stream: which choices came, and which finished. Only for shared
    /// templates: the machine's own were learned from events of this stream. [`report_text`](Machine::report_text) notes the texts.
    #[inline(always)]
    pub(super) fn join(&mut self) {
        if self.memo.is_shared() {
            self.join_all();
        }
    }

    #[cold]
    #[inline(never)]
    fn join_all(&mut self) {
        let seen = self.memo.take_added();
        self.facts.seen.add(seen.all);
        self.facts.finished.add(seen.finished);
        if self.is_native() {
            self.state.note_protocol(self.state.dialect.protocol);
            self.facts.ended = Some(self.dialect.ended);
        }
    }

    /// Notes that the part of the output is reported to which an event of Responses belongs that a shared template recognised. Returns
    /// `false`, with no effect, if this stream may read the event another way: its text is empty, or part of another item.
    #[inline]
    pub(super) fn report_text(&mut self) -> bool {
        if !self.memo.is_shared() || self.index.plan.protocol() != Some(Protocol::Responses) {
            return true;
        }
        self.index.slot().is_some_and(|(kind, slot, is_summary)| self.dialect.report(kind, slot, is_summary))
    }

    /// Brings the machine up to date with the last event of a run, as if it had read each.
    #[inline(always)]
    pub(super) fn settle_run<S: Storage + ?Sized, const NATIVE: bool>(&mut self, run: &Run, storage: &mut S) {
        if !NATIVE {
            self.name = Span::EMPTY;
        }
        // Only the last event of a run can have quirks.
        self.pass_event(storage, run.offset, run.ended, run.quirks);
    }

    /// Puts the machine behind an event of which the window has all: at this offset of the stream, behind a line that `ended`
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

    /// Notes that an event ended, with these quirks. Its bytes stay in place up to the next step.
    #[inline(always)]
    pub(super) fn note_event(&mut self, quirks: QuirkSet) {
        self.block.quirks = quirks;
        self.count(quirks);
        self.after = After::Release;
    }

    /// Whether the stream is one of chat completions, and its payloads are read as chunks.
    #[inline(always)]
    pub(super) fn reads_chunks(&self) -> bool {
        self.facts.chat && self.dialect.protocol == Some(Protocol::Chat) && self.config.payload == Payload::Chunks
    }

    /// Whether [`Config::errors`](super::Config::errors) has one of these quirks.
    #[inline(always)]
    pub(super) fn has_error(&self, quirks: QuirkSet) -> bool {
        !quirks.is_empty() && !quirks.and(self.config.errors).is_empty()
    }
}
