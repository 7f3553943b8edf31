//! Fast paths of the machine, for what nearly every step contains. Each has the same effect as [`read`](Machine::read), or
//! none.

use super::config::Validate;
use super::end::Lines;
use super::found::{Found, Place, Recalled, Span, Step};
use super::machine::{After, Ending, Line, Machine, Next};
use super::memo::{Hit, Rules, HEAD};
use crate::scan::find;
use crate::sse::{Ended, Field, Held, Piece};
use crate::Storage;

impl<const SLOTS: usize> Machine<SLOTS> {
    /// Recognises the event at the front of the window, if it lies whole in it and matches a template: the chunk that
    /// [`read`](Machine::read) would find.
    #[inline(always)]
    pub(super) fn recall<S: Storage + ?Sized>(&mut self, store: &mut S, window: &[u8]) -> Option<Recalled> {
        if !self.memo.may_know(window.len()) {
            return None;
        }
        if !self.rested {
            if !self.is_rested() {
                return None;
            }
            self.rested = true;
        }
        // Spans are 32 bits wide.
        let bytes = window.get(..i32::MAX as usize).unwrap_or(window);
        let skipped = usize::from(self.lines.is_after_cr() && bytes.first() == Some(&b'\n'));
        let bytes = bytes.get(skipped..)?;
        let rules = self.rules();
        let Some(hit) = self.memo.event(&mut self.index, bytes, rules) else {
            self.unknown_at = self.offset.saturating_add(skipped as u64);
            return None;
        };
        if hit.is_native {
            // A longer one is read, and recognised by its payload.
            self.memo.pending = u16::try_from(hit.end).unwrap_or(0);
            return None;
        }
        self.take_recalled(store, skipped, hit, Span::NONE)
    }

    /// Takes an event that was recognised, if there is room for it.
    #[inline(always)]
    fn take_recalled<S: Storage + ?Sized>(
        &mut self,
        store: &mut S,
        skipped: usize,
        hit: Hit,
        name: Span,
    ) -> Option<Recalled> {
        let quirks = self.index.quirks;
        if !self.kept.has_room(store, hit.len.wrapping_add(name.len as usize))
            || !quirks.is_empty() && !quirks.and(self.config.errors).is_empty()
        {
            return None;
        }
        let start = self.offset.saturating_add(skipped as u64);
        // Sums of offsets in the window: they do not overflow.
        let consumed = skipped.wrapping_add(hit.end);
        self.offset = self.offset.saturating_add(consumed as u64);
        self.index.frame = (start, self.offset);
        self.lines.start_line(hit.ended);
        self.name = name;
        self.block.quirks = quirks;
        self.count(quirks);
        self.after = After::Release;
        store.shrink(self.kept.lasting());
        let at = skipped.wrapping_add(hit.start) as u32;
        let payload = Span { place: Place::Input, start: at, len: hit.len as u32 };
        Some(Recalled { consumed, payload, frame: (start, self.offset) })
    }

    /// The event of another protocol than chat completions that [`recall`](Machine::recall) recognised in this window, but left,
    /// because it has a name or token counts.
    #[inline(never)]
    pub(super) fn recall_native<S: Storage + ?Sized>(&mut self, store: &mut S, window: &[u8]) -> Option<Step> {
        let end = usize::from(core::mem::take(&mut self.memo.pending));
        let skipped = usize::from(self.lines.is_after_cr() && window.first() == Some(&b'\n'));
        let hit = self.memo.hit(end);
        let (len, before) = self.memo.name();
        let start = skipped.wrapping_add(hit.start).wrapping_sub(before) as u32;
        let name = if len > 0 { Span { place: Place::Input, start, len: len as u32 } } else { Span::NONE };
        let Recalled { consumed, payload, .. } = self.take_recalled(store, skipped, hit, name)?;
        self.recall_counts(payload.of(window, store));
        Some(Step { consumed, found: Found::Chunk(payload) })
    }

    /// Reads on where [`recall`](Machine::recall) recognised nothing.
    #[inline]
    pub(super) fn go_on<S: Storage + ?Sized>(&mut self, store: &mut S, window: &[u8]) -> Step {
        if self.memo.pending != 0 {
            if let Some(step) = self.recall_native(store, window) {
                return step;
            }
        }
        match self.quick(store, window) {
            Some(step) => step,
            None => self.read(store, window),
        }
    }

    /// Reads on by a fast path, if one applies.
    #[inline]
    pub(super) fn quick<S: Storage + ?Sized>(&mut self, store: &mut S, window: &[u8]) -> Option<Step> {
        if self.in_payload {
            self.go_on_in_payload(store, window)
        } else if self.rested || self.is_rested() {
            self.begin_event(store, window)
        } else {
            None
        }
    }

    /// Takes all of the window as more of a payload that was cut.
    #[inline]
    pub(super) fn append<S: Storage + ?Sized>(&mut self, store: &mut S, window: &[u8]) -> bool {
        self.in_payload && find::line_end(window).is_none() && self.append_all(store, window)
    }

    /// Takes all of the window as more of a payload that was cut, if it has no line end.
    #[inline]
    fn append_all<S: Storage + ?Sized>(&mut self, store: &mut S, window: &[u8]) -> bool {
        let appended = window.len() <= i32::MAX as usize && self.kept.append_payload(store, window);
        if appended {
            self.offset = self.offset.saturating_add(window.len() as u64);
        }
        appended
    }

    /// Takes more of a payload that was cut, and its end if a LF and a blank line end it.
    fn go_on_in_payload<S: Storage + ?Sized>(&mut self, store: &mut S, window: &[u8]) -> Option<Step> {
        let Some(end) = find::line_end(window) else {
            return self.append_all(store, window).then_some(Step { consumed: window.len(), found: Found::NeedMore });
        };
        let (more, rest) = window.split_at_checked(end)?;
        let consumed = end.checked_add(2).filter(|end| *end <= i32::MAX as usize)?;
        if !rest.starts_with(b"\n\n") || !self.kept.append_payload(store, more) {
            return None;
        }
        self.lines.start_line(Ended::Alone);
        self.in_payload = false;
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
        let value = window.get(skipped..)?.strip_prefix(HEAD)?;
        if value.is_empty() || window.len() > i32::MAX as usize {
            return None;
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
        self.rested = false;
        // It rests: there is nothing to be delivered.
        self.begin(store);
        self.line_start = self.offset.saturating_add(skipped as u64);
        self.line = Line::Payload;
        self.open();
        let start = skipped.saturating_add(HEAD.len());
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
            self.in_payload = fits && self.settle(store, window);
            if self.in_payload {
                Found::NeedMore
            } else {
                self.too_long()
            }
        };
        self.offset = self.offset.saturating_add(consumed as u64);
        Some(Step { consumed, found })
    }

    /// How the memo checks holes.
    #[inline]
    pub(super) fn rules(&self) -> Rules {
        Rules { max_depth: self.config.limits.max_depth, strict: self.config.validate == Validate::Strict }
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

    /// Whether the machine is in the middle of a data line whose payload so far is in the storage, and nothing else is
    /// pending.
    pub(super) fn is_in_payload(&self) -> bool {
        self.line == Line::Payload
            && self.lines.is_in_data()
            && self.after == After::Nothing
            && !self.block.skipping
            && !self.block.raw
            && !self.kept.has_next()
            && self.silent_next <= self.silent
    }
}
