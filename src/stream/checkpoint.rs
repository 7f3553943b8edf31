//! Steps that can be undone: a step whose storage turns out to be too small has no effect.

use super::end::Facts;
use super::found::{Found, Span, Step};
use super::machine::{After, Block, Ending, Line, Machine};
use super::memo::Memo;
use crate::dialect::State;
use crate::json::Bare;
use crate::scan::find;
use crate::sse::block::Block as Kept;
use crate::sse::Lines;
use crate::{Quirk, Storage};

/// What a step changes, except for the index.
struct Checkpoint {
    lines: Lines,
    kept: Kept,
    name: Span,
    offset: u64,
    line_start: u64,
    silent: u64,
    silent_next: u64,
    line: Line,
    block: Block,
    retry: u64,
    in_array: bool,
    plain: Bare,
    after: After,
    ending: Ending,
    facts: Facts,
    counts: [u16; Quirk::ALL.len()],
    dialect: State,
}

/// The storage is too small for the event that a slice cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NeedStorage {
    /// Bytes of storage: what is needed now, or twice what there is if an event can ever come to that.
    pub len: usize,
}

impl<const SLOTS: usize> Machine<SLOTS> {
    /// A [`step`](Machine::step) that fails, and changes nothing, if the storage is too small.
    ///
    /// # Errors
    ///
    /// [`NeedStorage`]: move to a larger storage ([`relocate`](Machine::relocate)), then step again on the same window.
    #[inline]
    #[doc(hidden)]
    pub fn try_step<S: Storage + ?Sized>(&mut self, store: &mut S, window: &[u8]) -> Result<Step, NeedStorage> {
        if let Some(recalled) = self.recall(store, window) {
            return Ok(recalled.step(window));
        }
        self.try_go_on(store, window)
    }

    /// [`try_step`](Machine::try_step) of an event that the memo did not recognise.
    #[inline(never)]
    pub(super) fn try_go_on<S: Storage + ?Sized>(&mut self, store: &mut S, window: &[u8]) -> Result<Step, NeedStorage> {
        if let Some(step) = self.quick(store, window) {
            return Ok(step);
        }
        if !store.can_move() {
            return Ok(self.read(store, window));
        }
        // All that could be copied in one step, more than twice over.
        let most = window.len().saturating_mul(5).saturating_add(self.kept.retained().saturating_mul(5));
        if most.saturating_add(64) <= store.bytes().len() {
            return Ok(self.read(store, window));
        }
        // The end of a cut line moves what is staged, which no checkpoint restores: the step goes no further than that end.
        let line = if self.kept.is_staged() { find::line_end(window) } else { None };
        let window = line.and_then(|end| window.get(..=end)).unwrap_or(window);
        let checkpoint = self.checkpoint();
        let step = self.read(store, window);
        self.settled(store, checkpoint).map(|()| step)
    }

    /// A [`finish`](Machine::finish) that fails, and changes nothing, if the storage is too small.
    ///
    /// # Errors
    ///
    /// As [`try_step`](Machine::try_step).
    #[doc(hidden)]
    pub fn try_finish<S: Storage + ?Sized>(&mut self, store: &mut S) -> Result<Found, NeedStorage> {
        if !store.can_move() {
            return Ok(self.finish(store));
        }
        let checkpoint = self.checkpoint();
        let found = self.finish(store);
        self.settled(store, checkpoint).map(|()| found)
    }

    /// Bytes of storage that are in use between steps. While something that was found is still looked at
    /// (`looked_at`), all of the storage may be.
    #[doc(hidden)]
    pub fn retained(&self, store: &[u8], looked_at: bool) -> usize {
        match self.after {
            After::Trailing(_) => store.len(),
            _ if looked_at => store.len(),
            _ => self.kept.retained(),
        }
    }

    /// Moves what is retained from one storage to another. `false`: it does not fit, and nothing was done.
    #[doc(hidden)]
    pub fn relocate(&mut self, from: &[u8], to: &mut [u8], looked_at: bool) -> bool {
        if self.is_fixed(looked_at) {
            return match to.get_mut(..from.len()) {
                Some(to) => {
                    to.copy_from_slice(from);
                    true
                }
                None => false,
            };
        }
        self.appendable = 0;
        self.kept.relocate(from, to)
    }

    /// The storage, which had `from` bytes, has `len` now, and `store` is the longer of the two. `false`: what is retained does
    /// not fit, and nothing was done.
    pub fn resize(&mut self, store: &mut [u8], from: usize, len: usize, looked_at: bool) -> bool {
        if self.is_fixed(looked_at) {
            return from <= len;
        }
        self.appendable = 0;
        self.kept.resize(store, len)
    }

    /// Whether spans of the storage were handed out, which stay as they are.
    fn is_fixed(&self, looked_at: bool) -> bool {
        looked_at || matches!(self.after, After::Trailing(_))
    }

    fn checkpoint(&self) -> Checkpoint {
        Checkpoint {
            lines: self.lines.clone(),
            kept: self.kept.clone(),
            name: self.name,
            offset: self.offset,
            line_start: self.line_start,
            silent: self.silent,
            silent_next: self.silent_next,
            line: self.line,
            block: self.block.clone(),
            retry: self.retry,
            in_array: self.in_array,
            plain: self.plain,
            after: self.after,
            ending: self.ending,
            facts: self.facts.clone(),
            counts: self.counts,
            dialect: self.dialect.clone(),
        }
    }

    /// Goes back to the checkpoint if the storage was too small.
    fn settled<S: Storage + ?Sized>(&mut self, store: &mut S, checkpoint: Checkpoint) -> Result<(), NeedStorage> {
        let Some(wanted) = store.take_wanted() else { return Ok(()) };
        let Checkpoint {
            lines,
            kept,
            name,
            offset,
            line_start,
            silent,
            silent_next,
            line,
            block,
            retry,
            in_array,
            plain,
            after,
            ending,
            facts,
            counts,
            dialect,
        } = checkpoint;
        self.kept.undo(&kept, store.bytes_mut());
        (self.lines, self.kept, self.name) = (lines, kept, name);
        (self.offset, self.line_start) = (offset, line_start);
        (self.silent, self.silent_next) = (silent, silent_next);
        (self.line, self.block, self.retry) = (line, block, retry);
        (self.in_array, self.plain) = (in_array, plain);
        (self.after, self.ending, self.facts, self.counts) = (after, ending, facts, counts);
        self.dialect = dialect;
        // It may have learned from an event that was never emitted.
        self.memo = Memo::NEW;
        (self.rested, self.appendable) = (false, 0);
        // Twice as much, so that copying stays linear; but not more than can ever be of use.
        let limits = self.config.limits;
        let most = (limits.max_id_len as usize).saturating_mul(3).saturating_add(limits.max_event_len as usize);
        let twice = store.bytes().len().saturating_mul(2).min(most);
        Err(NeedStorage { len: wanted.max(twice) })
    }
}
