//! Fast paths of the machine, for what nearly every step contains. Each has the same effect as [`read`](Machine::read), or
//! none.

use super::config::{Payload, Validate};
use super::end::Lines;
use super::found::{Found, Place, Recalled, Span, Step};
use super::machine::{After, Ending, Line, Machine, Next, StreamState};
use super::memo::{HEAD, NONE};
use crate::chat::index::{Hint, Read};
use crate::chat::read::read;
use crate::dialect::Protocol;
use crate::scan::find;
use crate::sse::{Ended, Field, Held, Piece};
use crate::{QuirkSet, Storage};

/// A run of events that templates recognise, one behind the other. What the machine keeps of an event is the same for each
/// of them but for offsets; so it is settled once, behind the last.
pub(super) struct Run {
    /// The longest payload that is allowed.
    room: usize,
    max_depth: u32,
    /// Stream offset of the next byte.
    offset: u64,
    /// How the line before that ended.
    ended: Ended,
    /// The slot that recognised the event before, or none.
    shown: u8,
    /// The quirks of the event before. An event with quirks ends the run.
    quirks: QuirkSet,
}

impl Run {
    /// Whether the event before ended in a CR, to which a LF that comes next probably belongs.
    #[inline(always)]
    pub(super) fn expects_lf(&self) -> bool {
        self.ended == Ended::CrBehindCrLf
    }
}

/// The bytes behind a LF at their front, if there is one.
#[cold]
fn behind_lf(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\n").unwrap_or(bytes)
}

/// How much longer than twice the event before it an event may be, to be read before its line end is known.
const LONGER: usize = 128;

/// A window longer than this probably has a line end: to look for one twice does not pay.
const NEAR: usize = 128;

impl<const SLOTS: usize> Machine<SLOTS> {
    /// Recognises the event at the front of the window, if it lies whole in it and matches a template: the chunk that
    /// [`read`](Machine::read) would find.
    #[inline(always)]
    pub(super) fn recall<'w, S: Storage + ?Sized>(&mut self, store: &mut S, window: &'w [u8]) -> Option<Recalled<'w>> {
        let mut run = self.begin_run(store, window)?;
        let recalled = self.recall_next(&mut run, window)?;
        self.settle_run(&run, store);
        Some(recalled)
    }

    /// Begins a run of events that templates recognise, if there may be one in the window.
    #[inline(always)]
    pub(super) fn begin_run<S: Storage + ?Sized>(&mut self, store: &S, window: &[u8]) -> Option<Run> {
        if !self.memo.may_know(window.len()) {
            return None;
        }
        if !self.rested {
            if !self.is_rested() {
                return None;
            }
            self.rested = true;
        }
        Some(Run {
            // Spans are 32 bits wide.
            room: self.kept.room(store).min(i32::MAX as usize),
            max_depth: self.config.limits.max_depth,
            offset: self.offset,
            ended: self.lines.ended(),
            shown: NONE,
            quirks: QuirkSet::EMPTY,
        })
    }

    /// The next event of a run, at the front of the window. The index is that of the event; all else of the machine stays as
    /// it is up to [`settle_run`](Machine::settle_run).
    #[inline(always)]
    pub(super) fn recall_next<'w>(&mut self, run: &mut Run, window: &'w [u8]) -> Option<Recalled<'w>> {
        if !self.memo.may_know(window.len()) {
            return None;
        }
        let bytes = if run.ended.is_cr() { behind_lf(window) } else { window };
        // Offsets of bytes that were read: they do not overflow.
        let behind = |rest: &[u8]| run.offset.wrapping_add(window.len().wrapping_sub(rest.len()) as u64);
        let Some(hit) = self.memo.event(&mut self.index, bytes, run.max_depth) else {
            self.unknown_at = behind(bytes);
            return None;
        };
        if hit.is_native {
            // A longer one is read, and recognised by its payload.
            self.memo.pending = u16::try_from(hit.end).unwrap_or(0);
            return None;
        }
        let quirks = self.index.quirks;
        if hit.len > run.room || self.has_error(quirks) {
            return None;
        }
        let (payload, rest) = (bytes.get(hit.start..hit.start.wrapping_add(hit.len))?, bytes.get(hit.end..)?);
        let frame = (behind(bytes), behind(rest));
        self.index.frame = frame;
        let shown = self.memo.shown();
        let repeats = shown == run.shown;
        if !repeats && self.memo.is_shared() {
            self.join();
        }
        (run.offset, run.ended, run.shown, run.quirks) = (frame.1, hit.ended, shown, quirks);
        let at = window.len().wrapping_sub(bytes.len()).wrapping_add(hit.start) as u32;
        Some(Recalled { payload, at, rest, frame, repeats })
    }

    /// Notes what the event that a template recognised says of the stream, where that template may have been learned from
    /// another: what its reading would note.
    #[cold]
    #[inline(never)]
    pub(super) fn join(&mut self) {
        let seen = self.memo.said().seen();
        self.facts.seen.add(seen.all);
        self.facts.finished.add(seen.finished);
        self.facts.chat |= self.index.facts.chat;
        let Some(protocol) = self.index.plan.protocol else { return };
        let state = &mut self.state;
        state.note_protocol(state.dialect.protocol);
        state.facts.ended = Some(state.dialect.ended);
        if let (Protocol::Responses, Some((slot, is_summary))) = (protocol, self.index.slot()) {
            state.dialect.report(slot, is_summary);
        }
    }

    /// Brings the machine to behind the last event of a run, as if each had been read.
    #[inline(always)]
    pub(super) fn settle_run<S: Storage + ?Sized>(&mut self, run: &Run, store: &mut S) {
        // The others have no quirks.
        self.pass_event(store, run.offset, run.ended, run.quirks);
    }

    /// Brings the machine to behind an event without a name, which lies whole in the window: to this offset of the stream, behind
    /// a line that ended so.
    #[inline(always)]
    fn pass_event<S: Storage + ?Sized>(&mut self, store: &mut S, offset: u64, ended: Ended, quirks: QuirkSet) {
        self.offset = offset;
        self.lines.start_line(ended);
        self.name = Span::NONE;
        self.block.quirks = quirks;
        self.count(quirks);
        self.after = After::Release;
        store.shrink(self.kept.lasting());
    }

    /// Whether one of these quirks is an error.
    #[inline(always)]
    fn has_error(&self, quirks: QuirkSet) -> bool {
        !quirks.is_empty() && !quirks.and(self.config.errors).is_empty()
    }

    /// The event of another protocol than chat completions that [`recall`](Machine::recall) recognised in this window, if it did,
    /// but left, because it has a name or token counts.
    #[inline(always)]
    pub(super) fn recall_pending<S: Storage + ?Sized>(&mut self, store: &mut S, window: &[u8]) -> Option<Step> {
        if self.memo.pending == 0 {
            return None;
        }
        self.recall_native(store, window)
    }

    #[inline(never)]
    fn recall_native<S: Storage + ?Sized>(&mut self, store: &mut S, window: &[u8]) -> Option<Step> {
        let end = usize::from(core::mem::take(&mut self.memo.pending));
        let skipped = usize::from(self.lines.is_after_cr() && window.first() == Some(&b'\n'));
        let hit = self.memo.hit(end);
        let (name_len, before) = self.memo.name();
        let quirks = self.index.quirks;
        if self.has_error(quirks) || hit.len.wrapping_add(name_len) > self.kept.room(store) {
            return None;
        }
        if self.memo.is_shared() {
            self.join();
        }
        // Sums of offsets in the window: they do not overflow.
        let (start, consumed) = (skipped.wrapping_add(hit.start), skipped.wrapping_add(hit.end));
        let end = self.offset.saturating_add(consumed as u64);
        self.index.frame = (self.offset.saturating_add(skipped as u64), end);
        self.pass_event(store, end, hit.ended, quirks);
        if name_len > 0 {
            let start = start.wrapping_sub(before) as u32;
            self.name = Span { place: Place::Input, start, len: name_len as u32 };
        }
        let payload = Span { place: Place::Input, start: start as u32, len: hit.len as u32 };
        self.recall_counts(payload.of(window, store));
        Some(Step { consumed, found: Found::Chunk(payload) })
    }

    /// Reads on where [`recall`](Machine::recall) recognised nothing.
    #[inline]
    pub(super) fn go_on<S: Storage + ?Sized>(&mut self, store: &mut S, window: &[u8]) -> Step {
        if let Some(step) = self.recall_pending(store, window) {
            return step;
        }
        match self.quick(store, window) {
            Some(step) => step,
            None => self.read(store, window),
        }
    }

    /// Reads on by a fast path, if one applies.
    #[inline]
    pub(super) fn quick<S: Storage + ?Sized>(&mut self, store: &mut S, window: &[u8]) -> Option<Step> {
        if self.appendable > 0 {
            self.go_on_in_payload(store, window)
        } else if self.rested || self.is_rested() {
            self.begin_event(store, window)
        } else if self.after == After::Nothing && self.silent_next <= self.silent && self.lines.go_on_in_head(window) {
            Some(self.taken(window))
        } else {
            None
        }
    }
}

impl StreamState {
    /// Takes a byte as more of a payload that was cut: what nearly every step with slices of one byte does. `false`: nothing
    /// was done, because it ends a line, or there is no such payload, or no room. If there is one, the last step found
    /// nothing, so that no event is pending.
    #[doc(hidden)]
    #[inline(always)]
    pub fn append_byte<S: Storage + ?Sized>(&mut self, store: &mut S, byte: u8) -> bool {
        self.appendable > 0 && !matches!(byte, b'\r' | b'\n') && self.append_all(store, &[byte])
    }

    /// Takes all of the window as more of a payload that was cut, if it is short and has no line end. `false`: nothing was
    /// done.
    #[inline(always)]
    pub(super) fn append<S: Storage + ?Sized>(&mut self, store: &mut S, window: &[u8]) -> bool {
        if self.appendable == 0 {
            return false;
        }
        if let [byte] = window {
            return self.append_byte(store, *byte);
        }
        let fits = !window.is_empty() && window.len() <= (self.appendable as usize).min(NEAR);
        fits && find::line_end(window).is_none() && self.append_all(store, window)
    }

    /// Takes all of the window, which has no line end and is not longer than `appendable`.
    #[inline(always)]
    fn append_all<S: Storage + ?Sized>(&mut self, store: &mut S, window: &[u8]) -> bool {
        let appended = self.kept.append(store, window);
        if appended {
            self.offset = self.offset.wrapping_add(window.len() as u64);
            self.appendable = self.appendable.wrapping_sub(window.len() as u32);
        }
        appended
    }
}

impl<const SLOTS: usize> Machine<SLOTS> {
    /// Takes more of a payload that was cut, and its end if a LF and a blank line end it, or if a LF ends the window.
    fn go_on_in_payload<S: Storage + ?Sized>(&mut self, store: &mut S, window: &[u8]) -> Option<Step> {
        let room = self.appendable as usize;
        let Some(end) = find::line_end(window) else {
            let appended = window.len() <= room && self.append_all(store, window);
            return appended.then_some(Step { consumed: window.len(), found: Found::NeedMore });
        };
        let (more, rest) = window.split_at_checked(end)?;
        let is_over = rest.starts_with(b"\n\n");
        if !is_over && rest != b"\n" || end > room || !self.kept.append(store, more) {
            return None;
        }
        self.lines.start_line(Ended::Alone);
        self.appendable = 0;
        if !is_over {
            self.offset = self.offset.saturating_add(window.len() as u64);
            return Some(Step { consumed: window.len(), found: Found::NeedMore });
        }
        let consumed = end.wrapping_add(2);
        let found = match self.blank(store, window, consumed) {
            Next::Found(found) => found,
            // Not so for a block with a payload.
            Next::Go | Next::Within(..) | Next::Again(_) => Found::NeedMore,
        };
        self.offset = self.offset.saturating_add(consumed as u64);
        Some(Step { consumed, found })
    }

    /// Takes an event that is a payload alone: the whole of it, if a LF or a CRLF and a blank line end it, or its beginning, if
    /// the window ends before its line does.
    #[inline]
    fn begin_event<S: Storage + ?Sized>(&mut self, store: &mut S, window: &[u8]) -> Option<Step> {
        let skipped = usize::from(self.lines.is_after_cr() && window.first() == Some(&b'\n'));
        let line = window.get(skipped..)?;
        let Some(value) = line.strip_prefix(HEAD).filter(|value| !value.is_empty()) else {
            return self.begin_head(store, line, skipped > 0).then(|| self.taken(window));
        };
        if window.len() > i32::MAX as usize {
            return None;
        }
        let start = skipped.saturating_add(HEAD.len());
        // Nearly every event is about as long as the one before it. If it lies whole in the window, its line need not be
        // searched for an end: the pass comes to it.
        let before = self.index.frame.1.saturating_sub(self.index.frame.0) as usize;
        let is_whole = value.len() >= before;
        if is_whole {
            let most = before.saturating_mul(2).saturating_add(LONGER);
            if let Some(step) = self.usual_chunk(store, window, start, value.get(..most).unwrap_or(value)) {
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
        if value.len() > self.kept.room(store) {
            return None;
        }
        if tail > 0 && !is_whole {
            if let Some(step) = self.usual_chunk(store, window, start, value) {
                return Some(step);
            }
        }
        self.rested = false;
        // It rests: there is nothing to be delivered.
        self.begin(store);
        self.line_start = self.offset.saturating_add(skipped as u64);
        self.line = Line::Payload;
        self.open();
        let piece = Piece { field: Field::Data, first: true, last: end.is_some(), value, held: Held::EMPTY };
        let fits = self.kept.data(store, window, &piece, start).is_ok();
        let consumed = start.saturating_add(value.len()).saturating_add(tail);
        let found = if end.is_some() {
            self.lines.start_line(ended);
            match self.blank(store, window, consumed) {
                Next::Found(found) => found,
                // Not so for a block with a payload.
                Next::Go | Next::Within(..) | Next::Again(_) => Found::NeedMore,
            }
        } else {
            self.lines.start_data(skipped > 0);
            if fits && self.settle(store, window) {
                self.note_appendable(store);
                Found::NeedMore
            } else {
                self.too_long()
            }
        };
        self.offset = self.offset.saturating_add(consumed as u64);
        Some(Step { consumed, found })
    }

    /// Finds the event whose payload is at the front of `bytes` and begins at `start` of the window, behind its `data: `, if
    /// it is an ordinary chunk in a stream of chunks, and a LF or a CRLF and a blank line end it: then
    /// [`dispatch`](Machine::dispatch) would do no more than this.
    #[inline]
    fn usual_chunk<S: Storage + ?Sized>(
        &mut self,
        store: &mut S,
        window: &[u8],
        start: usize,
        bytes: &[u8],
    ) -> Option<Step> {
        let config = &self.state.config;
        let is_usual = self.facts.chat
            && self.dialect.protocol == Some(Protocol::Chat)
            && config.validate == Validate::Lazy
            && config.payload == Payload::Chunks
            && bytes.first() == Some(&b'{');
        if !is_usual {
            return None;
        }
        self.memo.forget_shown();
        let Read { end, seen, may_break } = read(&mut self.index, bytes, Hint::None, config.limits.max_depth).ok()?;
        let (facts, quirks) = (self.index.facts, self.index.quirks);
        let is_chunk = facts.chat && self.index.has_choices() && !facts.error;
        if !is_chunk || self.has_error(quirks) || end > self.kept.room(store) {
            return None;
        }
        let payload = bytes.get(..end)?;
        if may_break && find::line_end(payload).is_some() {
            return None;
        }
        // Sums of offsets in the window: they do not overflow.
        let (begin, behind) = (start.wrapping_sub(HEAD.len()), start.wrapping_add(end));
        let (ends, tail, ended) = match window.get(behind..)? {
            [b'\n', b'\n', ..] => (*b"\n\n\0", 2, Ended::Alone),
            [b'\r', b'\n', b'\r', ..] => (*b"\r\n\r", 3, Ended::CrBehindCrLf),
            _ => return None,
        };
        let consumed = behind.wrapping_add(tail);
        if SLOTS > 0 {
            if !self.memo.is_framed(ends) {
                self.memo.note_framing(window.get(begin..consumed)?, HEAD.len(), end, b"");
            }
            if self.memo.wants() {
                self.memo.learn(&self.index, payload, b"", false, &seen);
            }
        }
        let frame = (self.offset.saturating_add(begin as u64), self.offset.saturating_add(consumed as u64));
        self.index.frame = frame;
        self.note_choices(&seen);
        self.pass_event(store, frame.1, ended, quirks);
        // As `is_rested` has it: the next event may begin here.
        self.rested = true;
        let payload = Span { place: Place::Input, start: start as u32, len: end as u32 };
        Some(Step { consumed, found: Found::Chunk(payload) })
    }

    /// Takes the first bytes of a line, if they may be those of a `data` line.
    #[inline(never)]
    fn begin_head<S: Storage + ?Sized>(&mut self, store: &mut S, line: &[u8], after_lf: bool) -> bool {
        if !self.lines.begin_in_head(line, after_lf) {
            return false;
        }
        self.rested = false;
        // It rests: there is nothing to be delivered.
        self.begin(store);
        self.line_start = self.offset.saturating_add(u64::from(after_lf));
        true
    }

    /// The step that took all of the window, and found nothing.
    #[inline]
    fn taken(&mut self, window: &[u8]) -> Step {
        self.offset = self.offset.saturating_add(window.len() as u64);
        Step { consumed: window.len(), found: Found::NeedMore }
    }

    /// Whether the machine is where an event may begin, nothing is pending, and another chunk changes no fact of the stream.
    #[inline(never)]
    fn is_rested(&self) -> bool {
        let between = match self.after {
            After::Release => !self.kept.has_next(),
            After::Nothing => !self.block.open,
            After::Line | After::Unstage | After::Trailing(_) | After::Done { .. } => false,
        };
        between
            && self.lines.is_at_start()
            && self.silent_next <= self.silent
            && !self.in_array
            && self.facts.lines == Lines::Fields
            && !self.facts.done
            && self.ending == Ending::Open
    }

    /// Notes how much may be appended, if the machine is in the middle of a data line whose payload so far is in the storage,
    /// and nothing else is pending.
    pub(super) fn note_appendable<S: Storage + ?Sized>(&mut self, store: &S) {
        let is_in_payload = self.line == Line::Payload
            && self.lines.is_in_data()
            && self.after == After::Nothing
            && !self.block.skipping
            && !self.block.raw
            && !self.block.skim.is_on()
            && !self.kept.has_next()
            && self.silent_next <= self.silent;
        // Spans are 32 bits wide.
        let most = if is_in_payload { self.kept.appendable(store) } else { 0 };
        self.appendable = most.min(i32::MAX as usize) as u32;
    }
}
