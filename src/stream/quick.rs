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
    /// The slot that recognised the event before, or none.
    shown: u8,
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

/// Removes a LF from the front, if there is one.
#[cold]
fn behind_lf(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\n").unwrap_or(bytes)
}

/// An event that is read before its line end was searched for is at most twice as long as the event before it, and this many
/// bytes longer.
const LONGER: usize = 128;

impl<const SLOTS: usize> Machine<SLOTS> {
    /// Recognises the event at the front of the window, if the window has all of it and a template matches. The result is the
    /// chunk that [`read`](Machine::read) would find.
    #[inline(always)]
    pub(super) fn recall<'w, S: Storage + ?Sized>(&mut self, store: &mut S, window: &'w [u8]) -> Option<Recalled<'w>> {
        let mut run = self.begin_run(store, window, false)?;
        let recalled = self.recall_next::<true>(&mut run, window)?;
        self.settle_run::<_, true>(&run, store);
        Some(recalled)
    }

    /// Begins a run, if an event may begin here and a template may recognise it. `skips`: also where no template may, because
    /// events that nobody asks for are skipped.
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

    /// Recognises the next event of a run, at the front of the window. Updates the index; where events of other protocols may
    /// come (`NATIVE`), also the name and the token counts. [`settle_run`](Machine::settle_run) updates all else.
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
        // Offsets of bytes that were read do not overflow.
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

    /// Takes in the token counts and the name of an event of another protocol than chat completions. Its payload begins at
    /// `at`. `None`: the event is too long, and nothing was taken in.
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

    /// Passes over the next event of a run, at the front of the window, if nobody asks for what such an event says. The event is
    /// of this protocol, and consists of an `event` line, if it has one, a `data` line and a blank line, which LFs end.
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
        self.name = if name.is_empty() { Span::NONE } else { span(name_at, name.len()) };
        let [start, end] = [bytes, rest].map(|bytes| run.offset.wrapping_add(before(bytes) as u64));
        let frame = (start, end);
        self.index.frame = frame;
        (run.offset, run.ended, run.shown, run.quirks) = (end, Ended::Alone, NONE, QuirkSet::EMPTY);
        Some(Recalled { payload, at: at as u32, rest, frame, repeats: false, is_native: true, is_unread: true })
    }

    /// [`pass_unread`](Machine::pass_unread) as a run of one event.
    #[inline(never)]
    fn unread<S: Storage + ?Sized>(&mut self, store: &mut S, window: &[u8], protocol: Protocol) -> Option<Step> {
        let mut run = self.begin_run(store, window, true)?;
        let recalled = self.pass_unread(&mut run, window, protocol)?;
        self.settle_run::<_, true>(&run, store);
        Some(recalled.step(window))
    }

    /// Adds the facts of the events that shared templates recognised, as a full reading would. It leaves out their
    /// [texts](Machine::report_text). With templates of its own, the machine has added these facts when it learned them.
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

    /// Notes that the part of the output is reported to which a recognised event of Responses belongs. An empty text reports
    /// none.
    #[inline]
    pub(super) fn report_text(&mut self) {
        if self.memo.is_shared() && self.index.plan.protocol == Some(Protocol::Responses) {
            if let Some((slot, is_summary)) = self.index.slot() {
                self.dialect.report(slot, is_summary);
            }
        }
    }

    /// Brings the machine up to date with the last event of a run, as if it had read each.
    #[inline(always)]
    pub(super) fn settle_run<S: Storage + ?Sized, const NATIVE: bool>(&mut self, run: &Run, store: &mut S) {
        if !NATIVE {
            self.name = Span::NONE;
        }
        // Only the last event of a run can have quirks.
        self.pass_event(store, run.offset, run.ended, run.quirks);
    }

    /// Puts the machine behind an event of which the window has all: at this offset of the stream, behind a line that `ended`
    /// this way.
    #[inline(always)]
    fn pass_event<S: Storage + ?Sized>(&mut self, store: &mut S, offset: u64, ended: Ended, quirks: QuirkSet) {
        self.offset = offset;
        self.lines.start_line(ended);
        self.note_event(quirks);
        store.shrink(self.kept.lasting());
    }

    /// Notes that an event ended, with these quirks. Its bytes stay in place up to the next step.
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

    /// Whether [`Config::errors`](super::Config::errors) has one of these quirks.
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

    /// Reads on by a fast path, if one applies.
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

    /// Takes a byte of `data: `, the first bytes of the payload behind that, or the blank line behind the payload. The step
    /// before left nothing to report.
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

    /// The payload of the event without quirks that [`recall_stored`](Machine::recall_stored) found in the last step, if it
    /// did.
    #[inline(always)]
    pub(super) fn recalled_stored(&self, found: Found) -> Option<Span> {
        match found {
            Found::Chunk(span) if span.place == Place::Storage && self.rested && self.index.quirks.is_empty() => {
                Some(span)
            }
            _ => None,
        }
    }

    /// Begins an event whose `data` line the slice cuts: `value` is the beginning of its payload. `after_lf`: the line began in
    /// this window, and whether the LF of a CRLF came before it. `false`: nothing was done.
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

    /// Recognises an event that a slice cut, and whose payload is in the storage, if it is an ordinary chunk in a stream of
    /// chunks: then [`dispatch`](Machine::dispatch) would do the same. `end`: the offset in the stream where the event ends.
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
        // `is_rested` would say so: the next event may begin here.
        self.rested = self.silent_next <= self.silent;
        Some(Found::Chunk(data.into()))
    }
}

impl StreamState {
    /// Appends a byte to the payload that a slice cut, as nearly every step does that gets slices of one byte. `false`: nothing
    /// was done, because the byte ends a line, no payload is cut, or the storage has no room. Where a payload is cut, the step
    /// before found nothing, so no event waits to be reported.
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

    /// Where in a storage of `len` bytes the next byte of the payload that a slice cut goes. `None`: no payload is cut, or the
    /// storage has less room than was noted.
    #[doc(hidden)]
    pub fn appends_at(&self, len: usize) -> Option<usize> {
        let end = self.kept.stored_end().filter(|_| self.appendable > 0)?;
        (end.checked_add(self.appendable as usize)? <= len).then_some(end)
    }

    /// Makes the next step look at the whole state before it appends to a payload.
    #[doc(hidden)]
    pub fn stop_appending(&mut self) {
        self.appendable = 0;
    }

    /// Appends the bytes up to a line end to the payload that a slice cut, and returns how many they are. 0: nothing was done,
    /// because a line ends there, no payload is cut, or the storage has no room. Where a payload is cut, no event waits to be
    /// reported.
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

    /// Appends bytes that have no line end and are at most `appendable`.
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
    /// Goes on in a payload that a slice cut: takes more of it, or its end, where a LF or a CRLF and a blank line, or a LF at the
    /// end of the window, follow.
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
            // The next step takes any other line end.
            _ => return (before > 0).then_some(Step { consumed: before, found: Found::NeedMore }),
        };
        let Step { consumed, found } = self.end_payload(store, rest, tail, ended);
        Some(Step { consumed: before.wrapping_add(consumed), found })
    }

    /// Takes an event that consists of one `data` line: all of it, if a LF or a CRLF and a blank line end it, or its beginning,
    /// if the window ends inside the line.
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
        // Nearly every event is about as long as the one before it. If the window has all of it, nothing has to search for the
        // end of its line: the pass over its JSON comes to it.
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
        // Bytes behind the value belong to the payload.
        if store.can_move() && value.len().saturating_add(self.kept.lasting()) > store.bytes().len() {
            return None;
        }
        self.rested = false;
        // Nothing waits to be reported: an event may begin here.
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

    /// Takes the first bytes of a line, if a `data` line may begin so.
    #[inline(never)]
    fn begin_head<S: Storage + ?Sized>(&mut self, store: &mut S, line: &[u8], after_lf: bool) -> bool {
        if !self.lines.begin_in_head(line, after_lf) {
            return false;
        }
        self.rested = false;
        // Nothing waits to be reported: an event may begin here.
        self.begin(store);
        self.line_start = self.offset.saturating_add(u64::from(after_lf));
        true
    }

    /// A step that consumes all of the window, and finds nothing.
    #[inline]
    fn taken(&mut self, window: &[u8]) -> Step {
        self.offset = self.offset.saturating_add(window.len() as u64);
        Step { consumed: window.len(), found: Found::NeedMore }
    }

    /// Whether an event may begin here, nothing waits to be reported, and a further chunk would change no fact of the stream.
    #[inline(never)]
    fn is_rested(&self) -> bool {
        let between = match self.after {
            After::Release => !self.kept.has_next(),
            After::Nothing => !self.block.open,
            After::Line | After::Unstage | After::Trailing(_) | After::Done { .. } => false,
        };
        between && self.lines.is_at_start() && self.silent_next <= self.silent && self.is_usual_place()
    }

    /// Whether a further chunk would change no fact of the stream.
    #[inline]
    fn is_usual_place(&self) -> bool {
        !self.in_array && self.facts.lines == Lines::Fields && !self.facts.done && self.ending == Ending::Open
    }

    /// Notes how many bytes the next steps may append, if the machine is inside a `data` line whose payload so far is in the
    /// storage, and nothing waits to be reported.
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
