//! Fast paths of the machine, for what nearly every step contains. Each has the same effect as [`read_lines`](Machine::read_lines), or
//! none.

use super::config::Validate;
use super::facts::Evidence;
use super::found::{Found, Place, Span, Step};
use super::machine::Machine;
use super::memo::HEAD;
use super::state::{After, Ending, Line};
use crate::chat::index::{Hint, Read};
use crate::chat::read::read;
use crate::scan::find;
use crate::sse::Ended;
use crate::Storage;

/// Where a slice may cut the event, the pass over its JSON is wasted. So [`usual_chunk`](Machine::usual_chunk) reads at most twice
/// the length of the event before, and this many bytes more.
const LONGER: usize = 128;

impl<const SLOTS: usize> Machine<SLOTS> {
    /// Reads on where [`recognise`](Machine::recognise) recognised nothing.
    #[inline]
    pub(super) fn read_on<S: Storage + ?Sized>(&mut self, storage: &mut S, window: &[u8]) -> Step {
        if let Some(protocol) = self.skips() {
            if let Some(step) = self.unread(storage, window, protocol) {
                return step;
            }
        }
        match self.quick(storage, window) {
            Some(step) => step,
            None => self.read_lines(storage, window),
        }
    }

    /// Reads on by a fast path, if one applies.
    #[inline]
    pub(super) fn quick<S: Storage + ?Sized>(&mut self, storage: &mut S, window: &[u8]) -> Option<Step> {
        if self.appendable > 0 {
            self.go_on_in_payload(storage, window)
        } else if self.rested || self.lines.is_at_start() && self.is_rested() {
            self.begin_event(storage, window)
        } else if self.after == After::Nothing && self.silent_next <= self.silent {
            self.go_on_in_line(storage, window)
        } else {
            None
        }
    }

    /// Takes an event that consists of one `data` line: all of it, if a LF or a CRLF and a blank line end it, or its beginning,
    /// if the window ends inside the line.
    #[inline]
    fn begin_event<S: Storage + ?Sized>(&mut self, storage: &mut S, window: &[u8]) -> Option<Step> {
        let skipped = usize::from(self.lines.is_after_cr() && window.first() == Some(&b'\n'));
        let line = window.get(skipped..)?;
        let value = line.strip_prefix(HEAD).filter(|value| !value.is_empty() && window.len() <= i32::MAX as usize)?;
        let start = skipped.saturating_add(HEAD.len());
        // Nearly every event is about as long as the one before it. If the window has all of it, nothing has to search for the
        // end of its line: the pass over its JSON comes to it.
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
            return self.begin_cut(storage, value, Some(skipped > 0)).then(|| self.taken(window));
        }
        // Bytes behind the value belong to the payload.
        if storage.can_move() && value.len().saturating_add(self.buffer.lasting()) > storage.bytes().len() {
            return None;
        }
        self.rested = false;
        // Nothing waits to be reported: an event may begin here.
        self.free_last(storage);
        self.line_start = self.offset.saturating_add(skipped as u64);
        self.line = Line::Payload;
        self.open();
        // It fits, as was looked at, and stays in the window.
        let _ = self.buffer.data(storage, window, value, true, start);
        let consumed = start.saturating_add(value.len()).saturating_add(tail);
        Some(self.end_payload(storage, window, consumed, ended))
    }

    /// Finds the event whose payload is at the front of `bytes` and begins at `start` of the window, behind its `data: `, if
    /// it is an ordinary chunk in a stream of chunks, and a LF or a CRLF and a blank line end it: then
    /// [`dispatch`](Machine::dispatch) would do no more than this.
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
        self.memo.forget_shown();
        let Read { end, seen, may_break } = read(&mut self.index, bytes, Hint::None, config.limits.max_depth).ok()?;
        let (facts, quirks) = (self.index.facts, self.index.quirks);
        let is_chunk = facts.chat && self.index.has_choices() && !facts.error;
        if !is_chunk || self.has_error(quirks) || end > self.buffer.room(storage) {
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
            if !self.memo.has_envelope(ends) {
                self.memo.note_envelope(window.get(begin..consumed)?, HEAD.len(), end, b"");
            }
            if self.memo.wants() {
                self.memo.learn(&self.index, payload, b"", false, &seen);
            }
        }
        let frame = (self.offset.saturating_add(begin as u64), self.offset.saturating_add(consumed as u64));
        self.index.frame = frame;
        self.note_choices(&seen);
        self.name = Span::EMPTY;
        self.pass_event(storage, frame.1, ended, quirks);
        // As `is_rested` has it: the next event may begin here.
        self.rested = true;
        let payload = Span { place: Place::Input, start: start as u32, len: end as u32 };
        Some(Step { consumed, found: Found::Chunk(payload) })
    }

    /// The payload of what the last step found, if a run can emit it: a chunk, or other JSON, without a name and without quirks, in a
    /// stream that is of no other protocol than chat completions, behind which an event may begin.
    #[inline(always)]
    pub(super) fn usual_payload(&self, found: Found) -> Option<Span> {
        match found {
            Found::Chunk(span) if self.index.quirks.is_empty() && (self.rested || self.is_usual_chunk()) => Some(span),
            _ => None,
        }
    }

    #[inline(never)]
    fn is_usual_chunk(&self) -> bool {
        self.name.len == 0 && self.index.plan.protocol().is_none() && !self.is_native() && self.is_rested()
    }

    /// A step that consumes all of the window, and finds nothing.
    #[inline]
    pub(super) fn taken(&mut self, window: &[u8]) -> Step {
        self.offset = self.offset.saturating_add(window.len() as u64);
        Step { consumed: window.len(), found: Found::NeedMore }
    }

    /// Whether an event may begin here, nothing waits to be reported, and a further chunk would change no fact of the stream.
    #[inline(never)]
    pub(super) fn is_rested(&self) -> bool {
        let between = match self.after {
            After::Release => !self.buffer.has_next(),
            After::Nothing => !self.block.open,
            After::Line | After::Unstage | After::Trailing(_) | After::Done { .. } => false,
        };
        between && self.lines.is_at_start() && self.silent_next <= self.silent && self.is_usual_place()
    }

    /// Whether a further chunk would change no fact of the stream.
    #[inline]
    pub(super) fn is_usual_place(&self) -> bool {
        !self.in_array && self.facts.evidence == Evidence::Fields && !self.facts.done && self.ending == Ending::Open
    }
}
