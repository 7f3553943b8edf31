//! The layout of the block's bytes in the storage: how much room there is, and which bytes move when others grow.

use super::span::{copy, Place, Span};
use super::{EventBuffer, NoRoom};
use crate::storage::shift;
use crate::visits::visit;
use crate::Storage;

impl EventBuffer {
    /// Returns the length of one ID slot.
    pub(super) fn slot(&self) -> usize {
        self.slot as usize
    }

    /// Returns the total length of the ID slots, the bytes at the front of the storage that outlive the block.
    pub(crate) fn lasting(&self) -> usize {
        self.slot().saturating_mul(2)
    }

    /// Returns where the slot of the pending ID begins.
    pub(super) fn pending_slot(&self) -> usize {
        if self.second {
            0
        } else {
            self.slot()
        }
    }

    /// Returns the number of bytes of storage in use, at the front and at the far end.
    pub(crate) fn retained(&self) -> usize {
        self.front().saturating_add(self.tail_len())
    }

    /// Returns the number of bytes in use at the far end.
    pub(super) fn tail_len(&self) -> usize {
        self.name.stored_len().saturating_add(self.next_len())
    }

    /// Returns where the bytes at the far end begin, if there are any.
    pub(super) fn tail_start(&self) -> usize {
        self.next.unwrap_or(self.name).start as usize
    }

    /// Moves the bytes at the far end to the end of the storage, if it became larger and they were left where they
    /// were.
    pub(crate) fn settle(&mut self, storage: &mut [u8]) {
        self.move_tail(storage, storage.len());
    }

    /// Moves the bytes at the far end to the end of a storage of `len` bytes.
    fn move_tail(&mut self, storage: &mut [u8], len: usize) {
        let tail = self.tail_len();
        let at = len.saturating_sub(tail);
        if tail > 0 && at != self.tail_start() {
            shift(storage, self.tail_start(), at, tail);
            self.tail_moved(at);
        }
    }

    /// Moves bytes of the storage to its far end, as the event name.
    pub(super) fn place_name(&mut self, storage: &mut [u8], start: usize, len: usize) {
        let at = storage.len().saturating_sub(len);
        shift(storage, start, at, len);
        self.name = Span::storage(at, len);
    }

    /// Notes that the bytes at the far end were moved to `start`.
    pub(super) fn tail_moved(&mut self, start: usize) {
        if let Some(next) = &mut self.next {
            next.start = start as u32;
        }
        if self.name.place == Place::Storage {
            self.name.start = start.saturating_add(self.next_len()) as u32;
        }
    }

    /// Returns the number of bytes in use at the front.
    pub(super) fn front(&self) -> usize {
        self.lasting().saturating_add(self.after_ids())
    }

    /// Returns the number of bytes in use after the ID slots: stored data and the staged part of a line.
    pub(super) fn after_ids(&self) -> usize {
        if self.staged > 0 {
            self.data_len().saturating_add(self.staged as usize)
        } else {
            self.data.map_or(0, Span::stored_len)
        }
    }

    /// Returns where the staged part of a line begins.
    pub(super) fn stage_start(&self) -> usize {
        self.lasting().saturating_add(self.data_len())
    }

    /// Moves the stored bytes to another storage. Returns `false`, with no effect, if they do not fit.
    pub(crate) fn relocate(&mut self, from: &[u8], to: &mut [u8]) -> bool {
        if self.retained() > to.len() {
            return false;
        }
        copy(to, 0, from.get(..self.front()).unwrap_or(&[]));
        let tail = self.tail_len();
        if tail > 0 {
            let at = to.len().saturating_sub(tail);
            copy(to, at, Span::storage(self.tail_start(), tail).of(&[], from));
            self.tail_moved(at);
        }
        true
    }

    /// Adapts the layout to a storage that now has `len` bytes. The storage contains both its old and its new extent.
    /// Returns `false`, with no effect, if the stored bytes do not fit.
    pub(crate) fn resize(&mut self, storage: &mut [u8], len: usize) -> bool {
        if self.retained() > len {
            return false;
        }
        self.move_tail(storage, len);
        true
    }

    /// Restores the layout of `earlier`, a previous state of this block. The ID slots may have grown since then.
    pub(crate) fn undo(&self, earlier: &EventBuffer, storage: &mut [u8]) {
        if self.slot() > earlier.slot() {
            shift(storage, self.slot(), earlier.slot(), earlier.slot());
            shift(storage, self.lasting(), earlier.lasting(), earlier.after_ids());
        }
    }

    /// Copies data and name from the input to the storage, because the next call has another input.
    #[inline]
    pub(crate) fn save<S: Storage + ?Sized>(&mut self, storage: &mut S, input: &[u8]) -> Result<(), NoRoom> {
        if self.data.is_some() {
            self.save_data(storage, input)?;
        }
        if self.name.len > 0 {
            self.save_name(storage, input)?;
        }
        Ok(())
    }

    /// Copies the data from the input to the storage, unless it is stored already.
    pub(super) fn save_data<S: Storage + ?Sized>(&mut self, storage: &mut S, input: &[u8]) -> Result<(), NoRoom> {
        let Some(data) = self.data.filter(|data| data.place == Place::Input) else { return Ok(()) };
        let (start, (_, len)) = (self.lasting(), data.range());
        self.reserve(storage, start.saturating_add(len))?;
        copy(storage.bytes_mut(), start, data.within(input));
        self.data = Some(Span::storage(start, len));
        Ok(())
    }

    /// Copies the event name from the input to the far end of the storage, unless it is stored already.
    pub(super) fn save_name<S: Storage + ?Sized>(&mut self, storage: &mut S, input: &[u8]) -> Result<(), NoRoom> {
        if self.name.place == Place::Storage {
            return Ok(());
        }
        let (_, len) = self.name.range();
        self.reserve(storage, self.stage_start().saturating_add(self.staged as usize).saturating_add(len))?;
        let at = storage.bytes().len().saturating_sub(len);
        copy(storage.bytes_mut(), at, self.name.within(input));
        self.name = Span::storage(at, len);
        Ok(())
    }

    /// Returns the longest event allowed now, in bytes.
    #[inline]
    pub(crate) fn room<S: Storage + ?Sized>(&self, storage: &S) -> usize {
        (self.max_event as usize).min(storage.max_len().saturating_sub(self.lasting()))
    }

    /// Whether the event, or a comment inside it, would exceed the limit with `more` bytes.
    pub(crate) fn is_over<S: Storage + ?Sized>(&self, storage: &S, more: usize) -> bool {
        self.check(storage, more).is_err()
    }

    /// Returns the longest data allowed now, in bytes.
    pub(crate) fn allowance<S: Storage + ?Sized>(&self, storage: &S) -> usize {
        let others = self.event_len().saturating_sub(self.data_len());
        self.room(storage).saturating_sub(others)
    }

    /// Checks that the event, or a comment inside it, may grow by `more` bytes.
    #[inline]
    pub(super) fn check<S: Storage + ?Sized>(&self, storage: &S, more: usize) -> Result<(), NoRoom> {
        let len = self.event_len().saturating_add(self.staged as usize).saturating_add(more);
        if len <= self.room(storage) {
            Ok(())
        } else {
            Err(NoRoom::Limit)
        }
    }

    /// Makes the first `front` bytes of the storage usable. If the storage grows, moves the bytes at the far end to its
    /// new end.
    #[inline]
    pub(super) fn reserve<S: Storage + ?Sized>(&mut self, storage: &mut S, front: usize) -> Result<(), NoRoom> {
        let need = front.saturating_add(self.tail_len());
        if need <= storage.bytes().len() {
            return Ok(());
        }
        if !storage.grow(need) {
            return Err(NoRoom::Storage);
        }
        let len = storage.bytes().len();
        self.move_tail(storage.bytes_mut(), len);
        Ok(())
    }

    /// Makes each ID slot `slot` bytes long, and moves the bytes after the slots.
    pub(super) fn grow_slots<S: Storage + ?Sized>(&mut self, storage: &mut S, slot: usize) -> Result<(), NoRoom> {
        let after = self.after_ids();
        let (from, to) = (self.lasting(), slot.saturating_mul(2));
        self.reserve(storage, to.saturating_add(after))?;
        shift(storage.bytes_mut(), from, to, after);
        shift(storage.bytes_mut(), self.slot(), slot, self.slot());
        self.slot = slot as u32;
        if let Some(Span { place: Place::Storage, start, .. }) = &mut self.data {
            *start = to as u32;
        }
        Ok(())
    }

    /// Appends to stored data. Grows the storage if needed.
    pub(crate) fn append_growing<S: Storage + ?Sized>(&mut self, storage: &mut S, bytes: &[u8]) -> Result<(), NoRoom> {
        let at = self.stage_start();
        self.reserve(storage, at.saturating_add(bytes.len()))?;
        copy(storage.bytes_mut(), at, bytes);
        if let Some(data) = &mut self.data {
            data.len = data.len.saturating_add(bytes.len() as u32);
        }
        Ok(())
    }

    /// Appends bytes to the staged part of a line.
    pub(super) fn stage<S: Storage + ?Sized>(&mut self, storage: &mut S, bytes: &[u8]) -> Result<(), NoRoom> {
        let at = self.stage_start().saturating_add(self.staged as usize);
        self.reserve(storage, at.saturating_add(bytes.len()))?;
        copy(storage.bytes_mut(), at, bytes);
        self.staged = self.staged.saturating_add(bytes.len() as u32);
        Ok(())
    }

    /// Moves the staged line to the far end, as the name of the next value. It replaces an earlier one.
    pub(super) fn place_next<S: Storage + ?Sized>(&mut self, storage: &mut S) {
        let len = self.staged as usize;
        let end =
            if self.tail_len() > 0 { self.tail_start().saturating_add(self.next_len()) } else { storage.bytes().len() };
        let at = end.saturating_sub(len);
        shift(storage.bytes_mut(), self.stage_start(), at, len);
        self.next = Some(Span::storage(at, len));
        self.staged = 0;
    }

    /// Empties the data, so that the caller can append it again. Returns where in the storage the old data lies, and
    /// its length.
    pub(crate) fn restart(&mut self) -> (usize, usize) {
        let len = self.data.map_or(0, Span::stored_len);
        self.data = Some(Span::storage(self.lasting(), 0));
        (self.lasting(), len)
    }

    /// Copies the start of a payload that a slice cut to the storage. Returns how many bytes
    /// [`append`](EventBuffer::append) may add. Returns `None`, with no effect, if the block already has bytes, if
    /// there is no room, or if the storage would have to move.
    #[inline]
    pub(crate) fn begin_data<S: Storage + ?Sized>(&mut self, storage: &mut S, bytes: &[u8]) -> Option<usize> {
        let left = self.room(storage).checked_sub(bytes.len())?;
        let start = self.lasting();
        let end = start.saturating_add(bytes.len());
        let is_alone = self.is_empty() && self.pending.is_none() && !self.has_next();
        if !is_alone || end > storage.bytes().len() && (storage.can_move() || !storage.grow(end)) {
            return None;
        }
        copy(storage.bytes_mut(), start, bytes);
        self.data = Some(Span::storage(start, bytes.len()));
        Some(left.min(storage.bytes().len().saturating_sub(end)))
    }

    /// Returns how many bytes [`append`](EventBuffer::append) may add to the data, provided that nothing else changes
    /// the block or moves the storage. Returns 0 if the data is not in the storage.
    #[inline]
    pub(crate) fn appendable<S: Storage + ?Sized>(&self, storage: &S) -> usize {
        match self.data {
            Some(data) if data.place == Place::Storage && self.staged == 0 => {
                let (start, len) = data.range();
                let used = start.saturating_add(len).saturating_add(self.tail_len());
                let free = storage.bytes().len().saturating_sub(used);
                self.room(storage).saturating_sub(self.event_len()).min(free)
            }
            _ => 0,
        }
    }

    /// Appends at most [`appendable`](EventBuffer::appendable) bytes to data that is in the storage. Returns `false`,
    /// with no effect, if they do not fit.
    #[inline(always)]
    pub(crate) fn append<S: Storage + ?Sized>(&mut self, storage: &mut S, bytes: &[u8]) -> bool {
        let Some(Span { place: Place::Storage, start, len }) = &mut self.data else { return false };
        // The sum does not overflow, because both are offsets in the storage.
        let Some(room) = storage.bytes_mut().get_mut((*start as usize).wrapping_add(*len as usize)..) else {
            return false;
        };
        visit!(bytes.len());
        match (room, bytes) {
            // A call to memcpy would cost more than copying a single byte.
            ([to, ..], [from]) => *to = *from,
            (room, bytes) => match room.get_mut(..bytes.len()) {
                Some(room) => room.copy_from_slice(bytes),
                None => return false,
            },
        }
        *len = len.wrapping_add(bytes.len() as u32);
        true
    }

    /// Copies data and name returned by [`end`](EventBuffer::end) from the input to the storage, so that they outlive
    /// the input.
    pub(crate) fn hold<S: Storage + ?Sized>(
        &mut self,
        storage: &mut S,
        input: &[u8],
        (data, name): (Span, Span),
    ) -> Result<(Span, Span), NoRoom> {
        self.data = Some(data);
        self.name = name;
        let saved = self.save(storage, input);
        let held = (self.data_span(), self.name);
        self.end_value();
        saved.map(|()| held)
    }
}
