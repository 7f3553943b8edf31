//! What the storage holds, and where: the payload of the event at hand from the front, and from the end the last event
//! ID and the event's name.
//!
//! ```text
//! | payload … | staged value → |    free    | name | ID | ID |
//! ```
//!
//! The payload grows from the front. The value of a line that a slice cut is staged behind it until the line is whole.
//! The IDs have two places of equal size, one for the last event ID, one for an ID whose event is not complete yet; they
//! swap when it is. These places only double, and a name is written anew in one go, so that a flood of either costs no
//! more than its bytes. How much room is left is a function of the stream alone, never of how it was cut.

use crate::Storage;

/// The layout of a storage: lengths only.
#[derive(Clone, Debug, Default)]
pub(crate) struct Keep {
    /// Bytes of payload that are in the storage.
    pub(crate) payload: u32,
    /// Bytes of a cut line's value behind it.
    pub(crate) staged: u32,
    name: u32,
    /// Bytes of each of the two places for an ID.
    id_room: u32,
    ids: [u32; 2],
    /// Which of them is the last event ID.
    last: bool,
    /// The other one waits for its event.
    pub(crate) pending: bool,
}

impl Keep {
    pub(crate) const EMPTY: Keep =
        Keep { payload: 0, staged: 0, name: 0, id_room: 0, ids: [0; 2], last: false, pending: false };

    fn top(&self) -> usize {
        (self.name as usize).saturating_add(self.id_room as usize * 2)
    }

    /// What an event may come to: payload, name and what is staged.
    pub(crate) fn room<S: Storage + ?Sized>(&self, store: &S, max: u32) -> usize {
        store.max_len().saturating_sub(self.id_room as usize * 2).min(max as usize)
    }

    pub(crate) fn name_len(&self) -> usize {
        self.name as usize
    }

    /// Makes `len` bytes before the top usable; the top moves to the new end.
    fn reserve<S: Storage + ?Sized>(&self, store: &mut S, len: usize, top: usize) -> bool {
        let need = len.saturating_add(top);
        let before = store.bytes().len();
        if need <= before {
            return true;
        }
        if need > store.max_len() || !store.grow(need) {
            return false;
        }
        let bytes = store.bytes_mut();
        let from = before.saturating_sub(self.top());
        let to = bytes.len().saturating_sub(self.top());
        copy(bytes, from, self.top(), to);
        true
    }

    /// Adds to what is staged behind the payload.
    pub(crate) fn stage<S: Storage + ?Sized>(&mut self, store: &mut S, bytes: &[u8]) -> bool {
        let start = (self.payload as usize).saturating_add(self.staged as usize);
        let end = start.saturating_add(bytes.len());
        if !self.reserve(store, end, self.top()) {
            return false;
        }
        let Some(to) = store.bytes_mut().get_mut(start..end) else { return false };
        copy_from(to, bytes);
        self.staged = self.staged.saturating_add(bytes.len() as u32);
        true
    }

    /// What is staged becomes payload.
    pub(crate) fn adopt(&mut self) {
        self.payload = self.payload.saturating_add(self.staged);
        self.staged = 0;
    }

    /// Adds to the payload.
    pub(crate) fn append<S: Storage + ?Sized>(&mut self, store: &mut S, bytes: &[u8]) -> bool {
        let fits = self.stage(store, bytes);
        if fits {
            self.adopt();
        }
        fits
    }

    pub(crate) fn payload<'a, S: Storage + ?Sized>(&self, store: &'a S) -> &'a [u8] {
        store.bytes().get(..self.payload as usize).unwrap_or(&[])
    }

    pub(crate) fn forget_name(&mut self) {
        self.name = 0;
    }

    /// What is staged, and then `bytes`, becomes the event's name.
    pub(crate) fn set_name<S: Storage + ?Sized>(&mut self, store: &mut S, bytes: &[u8]) -> bool {
        self.name = 0;
        let staged = self.staged;
        if !self.stage(store, bytes) {
            self.staged = staged;
            return false;
        }
        let (start, len) = (self.payload as usize, self.staged as usize);
        self.staged = 0;
        let ids = self.id_room as usize * 2;
        if !self.reserve(store, (self.payload as usize).saturating_add(len), ids) {
            return false;
        }
        let store = store.bytes_mut();
        let to = store.len().saturating_sub(ids).saturating_sub(len);
        copy(store, start, len, to);
        self.name = len as u32;
        true
    }

    pub(crate) fn name<'a, S: Storage + ?Sized>(&self, store: &'a S) -> &'a [u8] {
        let bytes = store.bytes();
        let end = bytes.len().saturating_sub(self.id_room as usize * 2);
        bytes.get(end.saturating_sub(self.name as usize)..end).unwrap_or(&[])
    }

    /// What is staged, and then `bytes`, becomes the ID that waits for its event. False: no room for it.
    ///
    /// `payload` is what the payload comes to, be it in the storage or not.
    pub(crate) fn set_id<S: Storage + ?Sized>(&mut self, store: &mut S, bytes: &[u8], payload: usize) -> bool {
        let staged = self.staged as usize;
        let len = staged.saturating_add(bytes.len());
        let mut room = self.id_room as usize;
        while room < len {
            room = room.saturating_mul(2).max(16);
        }
        // The same answer whether payload and value are in the storage or in the caller's slice.
        let used = payload.saturating_add(self.name as usize).saturating_add(room.saturating_mul(2));
        if used.saturating_add(len) > store.max_len() {
            self.staged = 0;
            return false;
        }
        if !self.stage(store, bytes) {
            self.staged = 0;
            return false;
        }
        self.staged = 0;
        let start = self.payload as usize;
        if room > self.id_room as usize && !self.widen(store, room, start.saturating_add(len)) {
            return false;
        }
        let place = usize::from(!self.last);
        let to = self.id_start(store.bytes().len(), place);
        copy(store.bytes_mut(), start, len, to);
        if let Some(slot) = self.ids.get_mut(place) {
            *slot = len as u32;
        }
        self.pending = true;
        true
    }

    /// Widens the places of the IDs; `used` bytes in front stay as they are.
    fn widen<S: Storage + ?Sized>(&mut self, store: &mut S, room: usize, used: usize) -> bool {
        let top = (self.name as usize).saturating_add(room.saturating_mul(2));
        if !self.reserve(store, used, top) {
            return false;
        }
        let old = self.clone();
        self.id_room = room as u32;
        let end = store.bytes().len();
        let bytes = store.bytes_mut();
        let name_from = end.saturating_sub(old.top());
        copy(bytes, name_from, self.name as usize, end.saturating_sub(self.top()));
        for place in 0..2 {
            let len = self.ids.get(place).copied().unwrap_or(0) as usize;
            copy(bytes, old.id_start(end, place), len, self.id_start(end, place));
        }
        true
    }

    fn id_start(&self, end: usize, place: usize) -> usize {
        end.saturating_sub((self.id_room as usize).saturating_mul(2usize.saturating_sub(place)))
    }

    /// The ID that waited is the last event ID now.
    pub(crate) fn commit_id(&mut self) {
        if self.pending {
            self.pending = false;
            self.last = !self.last;
        }
    }

    fn id<'a, S: Storage + ?Sized>(&self, store: &'a S, place: usize) -> &'a [u8] {
        let bytes = store.bytes();
        let start = self.id_start(bytes.len(), place);
        let len = self.ids.get(place).copied().unwrap_or(0) as usize;
        bytes.get(start..start.saturating_add(len)).unwrap_or(&[])
    }

    pub(crate) fn last_id<'a, S: Storage + ?Sized>(&self, store: &'a S) -> &'a [u8] {
        self.id(store, usize::from(self.last))
    }

    /// The event is done: its payload and name are forgotten, a large buffer may go.
    pub(crate) fn release<S: Storage + ?Sized>(&mut self, store: &mut S) {
        self.payload = 0;
        self.staged = 0;
        self.name = 0;
        store.shrink(self.top());
    }
}

/// Moves `len` bytes inside `bytes`, if both places are inside it.
fn copy(bytes: &mut [u8], from: usize, len: usize, to: usize) {
    let (from_end, to_end) = (from.saturating_add(len), to.saturating_add(len));
    if from <= from_end && from_end <= bytes.len() && to_end <= bytes.len() {
        bytes.copy_within(from..from_end, to);
    }
}

/// Copies as much as both sides have.
fn copy_from(to: &mut [u8], from: &[u8]) {
    let len = to.len().min(from.len());
    if let (Some(to), Some(from)) = (to.get_mut(..len), from.get(..len)) {
        to.copy_from_slice(from);
    }
}
