//! Fast paths of the machine, for what nearly every step contains. Each has the same effect as [`read`](Machine::read), or
//! none.

use super::config::{Payload, Validate};
use super::end::Lines;
use super::found::{Found, Place, Recalled, Span, Step};
use super::machine::{After, Block, Ending, Line, Machine, StreamState};
use super::memo::{HEAD, MORE, NONE};
use crate::chat::index::{Hint, Read, Seen};
use crate::chat::read::read;
use crate::dialect::{has_no_usage, Protocol};
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
    /// Whether it has an event that the machine is not behind.
    #[inline(always)]
    pub(super) fn is_ahead<const SLOTS: usize>(&self, machine: &Machine<SLOTS>) -> bool {
        self.offset > machine.offset
    }

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

impl<const SLOTS: usize> Machine<SLOTS> {
    /// Recognises the event at the front of the window, if it lies whole in it and matches a template: the chunk that
    /// [`read`](Machine::read) would find.
    #[inline(always)]
    pub(super) fn recall<'w, S: Storage + ?Sized>(&mut self, store: &mut S, window: &'w [u8]) -> Option<Recalled<'w>> {
        let mut run = self.begin_run(store, window, false)?;
        let recalled = self.recall_next::<true>(&mut run, window)?;
        self.settle_run::<_, true>(&run, store);
        Some(recalled)
    }

    /// Begins a run of events that templates recognise, if there may be one in the window, or (`skips`) of events that are not to
    /// be read.
    #[inline(always)]
    pub(super) fn begin_run<S: Storage + ?Sized>(&mut self, store: &S, window: &[u8], skips: bool) -> Option<Run> {
        if !skips && !self.memo.may_know(window.len()) {
            return None;
        }
        if !self.rested {
            if !self.is_rested() {
                return None;
            }
            self.rested = true;
        }
        Some(self.start_run(store))
    }

    /// Begins a run of events where an event may begin.
    #[inline(always)]
    pub(super) fn start_run<S: Storage + ?Sized>(&self, store: &S) -> Run {
        Run {
            // Spans are 32 bits wide.
            room: self.kept.room(store).min(i32::MAX as usize),
            max_depth: self.config.limits.max_depth,
            offset: self.offset,
            ended: self.lines.ended(),
            shown: NONE,
            quirks: QuirkSet::EMPTY,
        }
    }

    /// The next event of a run, at the front of the window. The index is that of the event, and where events of other protocols
    /// may come (`NATIVE`), the machine has its name and token counts; all else of the machine stays as it is up to
    /// [`settle_run`](Machine::settle_run).
    #[inline(always)]
    pub(super) fn recall_next<'w, const NATIVE: bool>(
        &mut self,
        run: &mut Run,
        window: &'w [u8],
    ) -> Option<Recalled<'w>> {
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
        let quirks = self.index.quirks;
        if hit.len > run.room || self.has_error(quirks) {
            self.memo.forget_shown();
            return None;
        }
        let (payload, rest) = (bytes.get(hit.start..hit.start.wrapping_add(hit.len))?, bytes.get(hit.end..)?);
        let at = window.len().wrapping_sub(bytes.len()).wrapping_add(hit.start) as u32;
        let is_native = NATIVE && hit.is_native;
        if is_native {
            self.take_native(payload, at, run.room)?;
        } else if NATIVE {
            self.name = Span::NONE;
        }
        let frame = (behind(bytes), behind(rest));
        self.index.frame = frame;
        let shown = self.memo.shown();
        let repeats = shown == run.shown;
        (run.offset, run.ended, run.shown, run.quirks) = (frame.1, hit.ended, shown, quirks);
        Some(Recalled { payload, at, rest, frame, repeats, is_native, is_unread: false })
    }

    /// Takes in what an event of another protocol than chat completions has beside its index: the token counts of its payload,
    /// which begins at `at`, and its name. `None`: the event is too long, and nothing was taken in.
    #[inline(never)]
    fn take_native(&mut self, payload: &[u8], at: u32, room: usize) -> Option<()> {
        let (len, before) = self.memo.name();
        if payload.len().wrapping_add(len) > room {
            self.memo.forget_shown();
            return None;
        }
        self.recall_counts(payload);
        self.report_text();
        let name = Span { place: Place::Input, start: at.wrapping_sub(before as u32), len: len as u32 };
        self.name = if len > 0 { name } else { Span::NONE };
        Some(())
    }

    /// The next event of a run, at the front of the window, if it is of this protocol and not to be read, and LFs end its lines: a
    /// name, if it has one, and its payload.
    #[inline(never)]
    pub(super) fn pass_unread<'w>(
        &mut self,
        run: &mut Run,
        window: &'w [u8],
        protocol: Protocol,
    ) -> Option<Recalled<'w>> {
        let bytes = if run.ended.is_cr() { behind_lf(window) } else { window };
        let (name, line) = match bytes.strip_prefix(b"event: ") {
            None => (&[][..], bytes),
            Some(line) => {
                let (name, line) = line.split_at_checked(find::best_line_end(line)?)?;
                // That of an error makes its payload one.
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
        // Offsets of bytes that were read: they do not overflow.
        let before = |rest: &[u8]| window.len().wrapping_sub(rest.len());
        let span = |start: usize, len: usize| Span { place: Place::Input, start: start as u32, len: len as u32 };
        let at = before(value);
        let name_at = before(line).wrapping_sub(name.len()).wrapping_sub(1);
        self.name = if name.is_empty() { Span::NONE } else { span(name_at, name.len()) };
        let [start, end] = [bytes, rest].map(|bytes| run.offset.wrapping_add(before(bytes) as u64));
        let frame = (start, end);
        self.index.frame = frame;
        (run.offset, run.ended, run.shown, run.quirks) = (end, Ended::Alone, NONE, QuirkSet::EMPTY);
        Some(Recalled { payload, at: at as u32, rest, frame, repeats: false, is_native: true, is_unread: true })
    }

    /// An event that is not to be read, by itself.
    #[inline(never)]
    fn unread<S: Storage + ?Sized>(&mut self, store: &mut S, window: &[u8], protocol: Protocol) -> Option<Step> {
        let mut run = self.begin_run(store, window, true)?;
        let recalled = self.pass_unread(&mut run, window, protocol)?;
        self.settle_run::<_, true>(&run, store);
        Some(recalled.step(window))
    }

    /// Notes what the events that were recognised say of the stream, but for the [texts](Machine::report_text) in them: what
    /// their reading would note. A machine of its own read such events itself.
    #[inline(always)]
    pub(super) fn join(&mut self) {
        if self.memo.is_shared() {
            self.join_all();
        }
    }

    #[cold]
    #[inline(never)]
    fn join_all(&mut self) {
        let seen = self.memo.take_said();
        self.facts.seen.add(seen.all);
        self.facts.finished.add(seen.finished);
        if self.is_native() {
            self.state.note_protocol(self.state.dialect.protocol);
            self.facts.ended = Some(self.dialect.ended);
        }
    }

    /// Notes of an event of Responses that was recognised that a part of the output is reported. An empty text is none.
    #[inline]
    pub(super) fn report_text(&mut self) {
        if self.memo.is_shared() && self.index.plan.protocol == Some(Protocol::Responses) {
            if let Some((slot, is_summary)) = self.index.slot() {
                self.dialect.report(slot, is_summary);
            }
        }
    }

    /// Brings the machine to behind the last event of a run, as if each had been read.
    #[inline(always)]
    pub(super) fn settle_run<S: Storage + ?Sized, const NATIVE: bool>(&mut self, run: &Run, store: &mut S) {
        if !NATIVE {
            self.name = Span::NONE;
        }
        // The others have no quirks.
        self.pass_event(store, run.offset, run.ended, run.quirks);
    }

    /// Brings the machine to behind an event that lies whole in the window: to this offset of the stream, behind a line that
    /// ended so.
    #[inline(always)]
    fn pass_event<S: Storage + ?Sized>(&mut self, store: &mut S, offset: u64, ended: Ended, quirks: QuirkSet) {
        self.offset = offset;
        self.lines.start_line(ended);
        self.note_event(quirks);
        store.shrink(self.kept.lasting());
    }

    /// Notes an event that is over but for its bytes, and its quirks.
    #[inline(always)]
    fn note_event(&mut self, quirks: QuirkSet) {
        self.block.quirks = quirks;
        self.count(quirks);
        self.after = After::Release;
    }

    /// Whether the stream is one of chat completions, and its payloads are read as chunks.
    #[inline(always)]
    fn reads_chunks(&self) -> bool {
        self.facts.chat && self.dialect.protocol == Some(Protocol::Chat) && self.config.payload == Payload::Chunks
    }

    /// Whether one of these quirks is an error.
    #[inline(always)]
    fn has_error(&self, quirks: QuirkSet) -> bool {
        !quirks.is_empty() && !quirks.and(self.config.errors).is_empty()
    }

    /// Reads on where [`recall`](Machine::recall) recognised nothing.
    #[inline]
    pub(super) fn go_on<S: Storage + ?Sized>(&mut self, store: &mut S, window: &[u8]) -> Step {
        match self.quick(store, window) {
            Some(step) => step,
            None => self.read(store, window),
        }
    }

    /// Reads on by a fast path, if one applies. It asks no caller to move the storage.
    #[inline]
    pub(super) fn quick<S: Storage + ?Sized>(&mut self, store: &mut S, window: &[u8]) -> Option<Step> {
        if self.appendable > 0 {
            self.go_on_in_payload(store, window)
        } else if self.rested || self.lines.is_at_start() && self.is_rested() {
            if let Some(step) = self.skips().and_then(|protocol| self.unread(store, window, protocol)) {
                return Some(step);
            }
            self.begin_event(store, window)
        } else if self.after == After::Nothing && self.silent_next <= self.silent {
            self.go_on_in_line(store, window)
        } else {
            None
        }
    }

    /// Takes a byte of what stands before a payload, the beginning of that payload, or the blank line behind it. Nothing is
    /// pending.
    #[inline]
    fn go_on_in_line<S: Storage + ?Sized>(&mut self, store: &mut S, window: &[u8]) -> Option<Step> {
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
            return self.begin_cut(store, window, None).then(|| self.taken(window));
        }
        let is_over = self.line == Line::Payload && self.lines.is_at_start() && !self.lines.is_after_cr();
        let is_plain = !self.block.skipping && !self.block.raw && !self.block.skim.is_on() && !self.kept.has_next();
        if is_over && is_plain && window.first() == Some(&b'\n') && self.kept.is_stored() {
            return Some(self.end_payload(store, window, 1, Ended::Alone));
        }
        None
    }

    /// The payload of an event that [`recall_stored`](Machine::recall_stored) found in the last step, without quirks.
    #[inline(always)]
    pub(super) fn recalled_stored(&self, found: Found) -> Option<Span> {
        match found {
            Found::Chunk(span) if span.place == Place::Storage && self.rested && self.index.quirks.is_empty() => {
                Some(span)
            }
            _ => None,
        }
    }

    /// Begins an event with the first bytes of its payload, in which no line ends, behind `data: `. `after_lf`: the line begins
    /// in this window, and whether the LF of a CRLF came before it. `false`: nothing was done.
    #[inline]
    fn begin_cut<S: Storage + ?Sized>(&mut self, store: &mut S, value: &[u8], after_lf: Option<bool>) -> bool {
        let is_behind = self.after == After::Release;
        if is_behind {
            store.shrink(self.kept.lasting());
        }
        let Some(left) = self.kept.begin_data(store, value) else { return false };
        if is_behind {
            (self.after, self.block) = (After::Nothing, Block::NEW);
        }
        if let Some(after_lf) = after_lf {
            self.line_start = self.offset.saturating_add(u64::from(after_lf));
        }
        // What was compared was not all of it.
        (self.rested, self.unknown_at) = (false, u64::MAX);
        self.line = Line::Payload;
        self.open();
        self.lines.start_data(after_lf == Some(true));
        // Spans are 32 bits wide.
        self.appendable = left.min(i32::MAX as usize) as u32;
        true
    }

    /// Ends an event with a payload, at this offset of the window, behind a blank line.
    #[inline]
    fn end_payload<S: Storage + ?Sized>(
        &mut self,
        store: &mut S,
        window: &[u8],
        consumed: usize,
        ended: Ended,
    ) -> Step {
        self.lines.start_line(ended);
        (self.rested, self.appendable) = (false, 0);
        let end = self.offset.saturating_add(consumed as u64);
        let found = match self.recall_stored(store, end) {
            Some(found) => found,
            None => self.dispatch(store, window, end, false),
        };
        self.offset = end;
        Step { consumed, found }
    }

    /// Finds the event of a payload that was cut, if a template recognises it and it is an ordinary chunk in a stream of chunks,
    /// which ends at this offset of the stream: then [`dispatch`](Machine::dispatch) would do no more than this.
    #[inline]
    fn recall_stored<S: Storage + ?Sized>(&mut self, store: &mut S, end: u64) -> Option<Found> {
        let is_usual =
            self.reads_chunks() && !self.block.error_field && self.block.quirks.is_empty() && self.is_usual_place();
        let data = self.kept.lone_data().filter(|_| is_usual)?;
        let bytes = (data.padded(store.bytes_mut(), MORE), data.len);
        let max_depth = self.config.limits.max_depth;
        if !self.memo.payload(&mut self.index, bytes, b"", max_depth) {
            self.unknown_at = self.block.start;
            return None;
        }
        let (facts, quirks) = (self.index.facts, self.index.quirks);
        if !facts.chat || facts.error || self.index.plan.protocol.is_some() || self.has_error(quirks) {
            return None;
        }
        self.join();
        self.kept.end();
        self.name = Span::NONE;
        self.index.frame = (self.block.start, end);
        self.note_choices(&Seen::default());
        self.note_event(quirks);
        // As `is_rested` has it: the next event may begin here.
        self.rested = self.silent_next <= self.silent;
        Some(Found::Chunk(data.into()))
    }
}

impl StreamState {
    /// Takes a byte as more of a payload that was cut: what nearly every step with slices of one byte does. `false`: nothing
    /// was done, because it ends a line, or there is no such payload, or no room. If there is one, the last step found
    /// nothing, so that no event is pending.
    #[inline(always)]
    pub(super) fn append_byte<S: Storage + ?Sized>(&mut self, store: &mut S, byte: u8) -> bool {
        self.appendable > 0 && !matches!(byte, b'\r' | b'\n') && self.append_all(store, &[byte])
    }

    /// [`append_byte`](Machine::append_byte) for a caller that puts the byte into the storage, where
    /// [`appends_at`](Machine::appends_at) says.
    #[doc(hidden)]
    #[inline(always)]
    pub fn notes_byte(&mut self, byte: u8) -> bool {
        let is_more = self.appendable > 0 && !matches!(byte, b'\r' | b'\n');
        if is_more {
            self.kept.lengthen(1);
            self.offset = self.offset.wrapping_add(1);
            self.appendable = self.appendable.wrapping_sub(1);
        }
        is_more
    }

    /// [`append`](Machine::append) for such a caller.
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
        self.kept.lengthen(end);
        self.offset = self.offset.wrapping_add(end as u64);
        self.appendable = self.appendable.wrapping_sub(end as u32);
        end
    }

    /// Where in a storage of `len` bytes more of a payload that was cut goes, if there is one and as much room as was noted.
    #[doc(hidden)]
    pub fn appends_at(&self, len: usize) -> Option<usize> {
        let end = self.kept.stored_end().filter(|_| self.appendable > 0)?;
        (end.checked_add(self.appendable as usize)? <= len).then_some(end)
    }

    /// Another look at everything is to be had before more of a payload is taken.
    #[doc(hidden)]
    pub fn stop_appending(&mut self) {
        self.appendable = 0;
    }

    /// Takes the bytes of the window up to a line end as more of a payload that was cut. Returns how many those are. If it is 0,
    /// nothing was done: a line ends there, or there is no such payload, or no room. If there is one, no event is pending.
    #[inline(always)]
    pub(super) fn append<S: Storage + ?Sized>(&mut self, store: &mut S, window: &[u8]) -> usize {
        if self.appendable == 0 {
            return 0;
        }
        self.append_line(store, window)
    }

    #[inline(never)]
    fn append_line<S: Storage + ?Sized>(&mut self, store: &mut S, window: &[u8]) -> usize {
        let end = find::line_end(window).unwrap_or(window.len());
        match window.get(..end) {
            Some(more) if end <= self.appendable as usize && self.append_all(store, more) => end,
            _ => 0,
        }
    }

    /// Takes bytes that have no line end and are not more than `appendable`.
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
    /// Takes more of a payload that was cut, or its end if a LF or a CRLF and a blank line end it, or if a LF ends the window.
    fn go_on_in_payload<S: Storage + ?Sized>(&mut self, store: &mut S, window: &[u8]) -> Option<Step> {
        let is_over = matches!(window.first(), Some(b'\n' | b'\r'));
        let before = if is_over { 0 } else { self.append_line(store, window) };
        let rest = window.get(before..)?;
        let (tail, ended) = match rest {
            [b'\n'] => {
                self.lines.start_line(Ended::Alone);
                self.appendable = 0;
                let _ = self.taken(rest);
                return Some(Step { consumed: window.len(), found: Found::NeedMore });
            }
            [b'\n', b'\n', ..] => (2, Ended::Alone),
            [b'\r', b'\n', b'\r', ..] => (3, Ended::CrBehindCrLf),
            // Another line end is for the next step.
            _ => return (before > 0).then_some(Step { consumed: before, found: Found::NeedMore }),
        };
        let Step { consumed, found } = self.end_payload(store, rest, tail, ended);
        Some(Step { consumed: before.wrapping_add(consumed), found })
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
        if tail == 0 {
            return self.begin_cut(store, value, Some(skipped > 0)).then(|| self.taken(window));
        }
        // What follows a value is kept with it.
        if store.can_move() && value.len().saturating_add(self.kept.lasting()) > store.bytes().len() {
            return None;
        }
        self.rested = false;
        // It rests: there is nothing to be delivered.
        self.begin(store);
        self.line_start = self.offset.saturating_add(skipped as u64);
        self.line = Line::Payload;
        self.open();
        let piece = Piece { field: Field::Data, first: true, last: true, value, held: Held::EMPTY };
        // It fits, as was looked at, and stays in the window.
        let _ = self.kept.data(store, window, &piece, start);
        let consumed = start.saturating_add(value.len()).saturating_add(tail);
        Some(self.end_payload(store, window, consumed, ended))
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
        if !self.reads_chunks() || config.validate != Validate::Lazy || bytes.first() != Some(&b'{') {
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
        self.name = Span::NONE;
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
        between && self.lines.is_at_start() && self.silent_next <= self.silent && self.is_usual_place()
    }

    /// Whether another chunk changes no fact of the stream.
    #[inline]
    fn is_usual_place(&self) -> bool {
        !self.in_array && self.facts.lines == Lines::Fields && !self.facts.done && self.ending == Ending::Open
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
