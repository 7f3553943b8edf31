//! Steps that can be undone: a step whose storage turns out to be too small has no effect.

use super::found::{Found, Step};
use super::machine::Machine;
use super::state::{After, StreamState};
use crate::scan::find;
use crate::Storage;

/// The storage is too small for the event that a slice cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NeedStorage {
    /// Bytes of storage: what is needed now, or twice what there is if an event can ever come to that.
    pub len: usize,
}

impl<const SLOTS: usize> Machine<SLOTS> {
    /// A [`step`](Machine::step) that compares no event of the window with a template, because a run did. It fails, and changes
    /// nothing, if the storage is too small.
    ///
    /// # Errors
    ///
    /// [`NeedStorage`]: move to a larger storage ([`relocate`](StreamState::relocate)), then step again on the same window.
    #[inline(never)]
    pub(super) fn try_read_on<S: Storage + ?Sized>(
        &mut self,
        storage: &mut S,
        window: &[u8],
    ) -> Result<Step, NeedStorage> {
        if let Some(step) = self.quick(storage, window) {
            return Ok(step);
        }
        if !storage.can_move() {
            return Ok(self.read_lines(storage, window));
        }
        // All that could be copied in one step, more than twice over.
        let most = window.len().saturating_mul(5).saturating_add(self.buffer.retained().saturating_mul(5));
        if most.saturating_add(64) <= storage.bytes().len() {
            return Ok(self.read_lines(storage, window));
        }
        // The end of a cut line moves what is staged, which no checkpoint restores: the step goes no further than that end.
        let line = if self.buffer.is_staged() { find::line_end(window) } else { None };
        let window = line.and_then(|end| window.get(..=end)).unwrap_or(window);
        let checkpoint = self.state.clone();
        let step = self.read_lines(storage, window);
        self.settled(storage, checkpoint).map(|()| step)
    }

    /// A [`finish`](Machine::finish) that fails, and changes nothing, if the storage is too small.
    ///
    /// # Errors
    ///
    /// As [`try_read_on`](Machine::try_read_on).
    pub(super) fn try_finish<S: Storage + ?Sized>(&mut self, storage: &mut S) -> Result<Found, NeedStorage> {
        if !storage.can_move() {
            return Ok(self.finish(storage));
        }
        let checkpoint = self.state.clone();
        let found = self.finish(storage);
        self.settled(storage, checkpoint).map(|()| found)
    }

    /// Goes back to the checkpoint if the storage was too small.
    fn settled<S: Storage + ?Sized>(&mut self, storage: &mut S, checkpoint: StreamState) -> Result<(), NeedStorage> {
        let Some(wanted) = storage.take_wanted() else { return Ok(()) };
        self.buffer.undo(&checkpoint.buffer, storage.bytes_mut());
        // The index is not taken back: the next step makes it anew.
        self.state = checkpoint;
        self.memo.take_back();
        (self.rested, self.appendable) = (false, 0);
        // Twice as much, so that copying stays linear; but not more than an event within the limits can need.
        let limits = self.config.limits;
        let most = (limits.max_id_len as usize).saturating_mul(3).saturating_add(limits.max_event_len as usize);
        let twice = storage.bytes().len().saturating_mul(2).min(most);
        Err(NeedStorage { len: wanted.max(twice) })
    }
}

impl StreamState {
    /// Bytes of storage that are in use between steps. While something that was found is still looked at
    /// (`looked_at`), all of the storage may be.
    #[doc(hidden)]
    pub fn retained(&self, storage: &[u8], looked_at: bool) -> usize {
        if self.is_fixed(looked_at) {
            storage.len()
        } else {
            self.buffer.retained()
        }
    }

    /// Moves what is retained from one storage to another. `false`: it does not fit, and nothing was done.
    #[doc(hidden)]
    pub fn relocate(&mut self, from: &[u8], to: &mut [u8], looked_at: bool) -> bool {
        if self.is_fixed(looked_at) {
            let to = to.get_mut(..from.len());
            return to.map(|to| to.copy_from_slice(from)).is_some();
        }
        self.appendable = 0;
        self.buffer.relocate(from, to)
    }

    /// The storage, which had `from` bytes, has `len` now; it is given with the longer of the two. `false`: what is retained does
    /// not fit, and nothing was done.
    #[doc(hidden)]
    pub fn resize(&mut self, storage: &mut [u8], from: usize, len: usize, looked_at: bool) -> bool {
        if self.is_fixed(looked_at) {
            return from <= len;
        }
        self.appendable = 0;
        self.buffer.resize(storage, len)
    }

    /// Whether spans of the storage were handed out, which stay as they are.
    fn is_fixed(&self, looked_at: bool) -> bool {
        looked_at || matches!(self.after, After::Trailing(_))
    }
}
