//! State of the block being read, and the layout of its bytes in the storage.
//!
//! ```text
//! | ID slot | ID slot | data, grows → | staged value → |   free   | event name |
//! ```
//!
//! One slot holds the committed ID, the other slot holds the ID that the block's blank line will commit. Slots only
//! grow, and at least double, so the data behind them rarely moves. A stored event name lies at the far end, where
//! growing data does not run into it. An event name, ID or comment that a slice cut is staged behind the data; data
//! cannot grow while that line lasts.
//!
//! Data and name may also lie in the input. The limits count them as if they were stored, because the verdict must not
//! depend on where the input was cut.

use super::Piece;
use crate::visits::visit;
use crate::{Limits, Storage};
use core::cell::Cell;

/// Which buffer a span refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// The slice passed to this call.
    Input,
    /// In the storage.
    Store,
}

/// A range of the input or of the storage.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    pub(crate) place: Place,
    pub(crate) start: usize,
    pub(crate) len: usize,
}

impl Span {
    pub(crate) const EMPTY: Span = Span { place: Place::Input, start: 0, len: 0 };

    fn input(start: usize, len: usize) -> Span {
        Span { place: Place::Input, start, len }
    }

    fn store(start: usize, len: usize) -> Span {
        Span { place: Place::Store, start, len }
    }

    /// Returns the span's bytes.
    pub(crate) fn of<'a>(self, input: &'a [u8], store: &'a [u8]) -> &'a [u8] {
        let bytes = match self.place {
            Place::Input => input,
            Place::Store => store,
        };
        bytes.get(self.start..self.start.saturating_add(self.len)).unwrap_or(&[])
    }

    fn stored_len(self) -> usize {
        match self.place {
            Place::Input => 0,
            Place::Store => self.len,
        }
    }
}

/// The event or comment is too long: it exceeds the limit or the storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NoRoom;

/// State of the block being read. Its bytes are in the storage, which the caller passes to each call.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    max_event: u32,
    max_id: u32,
    /// Length of one ID slot in bytes.
    slot: usize,
    /// Whether the committed ID is in the second slot.
    second: bool,
    id_len: usize,
    /// Length of the ID that the blank line will commit.
    pending: Option<usize>,
    /// Whether the ID line being read can still become an ID: no NUL so far, and it fits.
    id_sound: bool,
    data: Option<Span>,
    name: Span,
    /// Length in bytes of the part of a cut line that is staged behind the data.
    staged: usize,
}

impl Block {
    pub(crate) const fn new(limits: Limits) -> Self {
        Block {
            max_event: limits.max_event_len,
            max_id: limits.max_id_len,
            slot: 0,
            second: false,
            id_len: 0,
            pending: None,
            id_sound: false,
            data: None,
            name: Span::EMPTY,
            staged: 0,
        }
    }

    /// Drops the block. The committed ID stays.
    pub(crate) fn clear(&mut self) {
        self.pending = None;
        self.data = None;
        self.name = Span::EMPTY;
        self.staged = 0;
    }

    /// Drops the block and both IDs.
    pub(crate) fn reset(&mut self) {
        self.clear();
        self.slot = 0;
        self.id_len = 0;
    }

    /// Whether nothing is kept but IDs.
    pub(crate) fn is_empty(&self) -> bool {
        self.data.is_none() && self.name.len == 0 && self.staged == 0
    }

    /// Whether the block has a data line, even an empty one.
    pub(crate) fn has_data(&self) -> bool {
        self.data.is_some()
    }

    /// Returns the data so far.
    pub(crate) fn data_span(&self) -> Span {
        self.data.unwrap_or(Span::EMPTY)
    }

    /// Returns the event name so far.
    pub(crate) fn name_span(&self) -> Span {
        self.name
    }

    /// Whether an ID is pending until the blank line.
    pub(crate) fn has_id(&self) -> bool {
        self.pending.is_some()
    }

    /// Drops the staged part of a line.
    pub(crate) fn unstage(&mut self) {
        self.staged = 0;
    }

    /// Returns the committed ID.
    pub(crate) fn id<'a>(&self, store: &'a [u8]) -> &'a [u8] {
        let start = if self.second { self.slot } else { 0 };
        store.get(start..start.saturating_add(self.id_len)).unwrap_or(&[])
    }

    /// Returns the length of the ID slots: bytes at the front of the storage that outlive the block.
    pub(crate) fn lasting(&self) -> usize {
        self.slot.saturating_mul(2)
    }

    /// Ends the block at its blank line: commits the pending ID, and returns data and name if the block has data.
    pub(crate) fn end(&mut self) -> Option<(Span, Span)> {
        if let Some(len) = self.pending {
            self.second = !self.second;
            self.id_len = len;
        }
        let event = self.data.map(|data| (data, self.name));
        self.clear();
        event
    }

    /// Copies data and name returned by [`end`](Block::end) from the input to the storage, so that they outlive the
    /// input.
    pub(crate) fn hold<S: Storage + ?Sized>(
        &mut self,
        store: &mut S,
        input: &[u8],
        (data, name): (Span, Span),
    ) -> Result<(Span, Span), NoRoom> {
        self.data = Some(data);
        self.name = name;
        let saved = self.save(store, input);
        let held = (self.data_span(), self.name);
        self.clear();
        saved.map(|()| held)
    }

    /// Whether part of a cut line is staged.
    pub(crate) fn is_staged(&self) -> bool {
        self.staged > 0
    }

    /// Returns the number of bytes of storage in use: at the front, and the stored name at the far end.
    pub(crate) fn retained(&self) -> usize {
        self.front().saturating_add(self.name.stored_len())
    }

    fn front(&self) -> usize {
        self.lasting().saturating_add(self.behind_ids())
    }

    /// Bytes in use behind the ID slots: stored data and the staged part of a line.
    fn behind_ids(&self) -> usize {
        if self.staged > 0 {
            self.data_len().saturating_add(self.staged)
        } else {
            self.data.map_or(0, Span::stored_len)
        }
    }

    /// Moves the stored bytes to another storage. Returns `false`, with no effect, if they do not fit.
    pub(crate) fn relocate(&mut self, from: &[u8], to: &mut [u8]) -> bool {
        let front = self.front();
        let name = self.name.stored_len();
        if front.saturating_add(name) > to.len() {
            return false;
        }
        copy(to, 0, from.get(..front).unwrap_or(&[]));
        if name > 0 {
            let at = to.len().saturating_sub(name);
            copy(to, at, self.name.of(&[], from));
            self.name.start = at;
        }
        true
    }

    /// Restores the layout of `earlier`, a previous state of this block: the ID slots may have grown since.
    pub(crate) fn undo(&self, earlier: &Block, store: &mut [u8]) {
        if self.slot > earlier.slot {
            shift(store, self.slot, earlier.slot, earlier.slot);
            shift(store, self.lasting(), earlier.lasting(), earlier.behind_ids());
        }
    }

    /// Adds a piece of a data line. `start` is the offset of the piece's value in the input.
    pub(crate) fn data<S: Storage + ?Sized>(
        &mut self,
        store: &mut S,
        input: &[u8],
        piece: &Piece<'_>,
        start: usize,
    ) -> Result<(), NoRoom> {
        self.staged = 0;
        let len = piece.value.len();
        if self.data.is_none() {
            self.check(store, len)?;
            self.data = Some(Span::input(start, len));
            return Ok(());
        }
        let join: &[u8] = if piece.first { b"\n" } else { b"" };
        self.check(store, len.saturating_add(join.len()))?;
        self.save_data(store, input)?;
        self.append(store, join)?;
        self.append(store, piece.value)
    }

    /// Appends to a data line whose value is already in the storage. Returns `false`, with no effect, if it is not or
    /// if `bytes` do not fit.
    #[inline]
    pub(crate) fn append_payload<S: Storage + ?Sized>(&mut self, store: &mut S, bytes: &[u8]) -> bool {
        let limit = self.room(store);
        // A name or a staged line also counts towards the limit: leave those to the general path.
        let alone = self.staged == 0 && self.name.len == 0;
        let Some(Span { place: Place::Store, start, len }) = &mut self.data else { return false };
        let longer = len.saturating_add(bytes.len());
        let at = start.saturating_add(*len);
        let room = store.bytes_mut().get_mut(at..).and_then(|room| room.get_mut(..bytes.len()));
        let Some(room) = room.filter(|room| alone && longer <= limit && room.len() == bytes.len()) else {
            return false;
        };
        match (room, bytes) {
            // A single byte is not worth a call to memcpy.
            ([to], [from]) => *to = *from,
            (room, bytes) => room.copy_from_slice(bytes),
        }
        *len = longer;
        true
    }

    /// Adds a piece of an event line. The first piece discards the previous name: this line replaces it however it
    /// ends.
    pub(crate) fn name<S: Storage + ?Sized>(
        &mut self,
        store: &mut S,
        piece: &Piece<'_>,
        start: usize,
    ) -> Result<(), NoRoom> {
        if piece.first {
            self.staged = 0;
            self.name = Span::EMPTY;
        }
        self.check(store, piece.value.len())?;
        if piece.first && piece.last {
            self.name = Span::input(start, piece.value.len());
            return Ok(());
        }
        self.stage(store, piece.value)?;
        if piece.last {
            let at = store.bytes().len().saturating_sub(self.staged);
            shift(store.bytes_mut(), self.stage_start(), at, self.staged);
            self.name = Span::store(at, self.staged);
            self.staged = 0;
        }
        Ok(())
    }

    /// Adds a piece of a comment. Returns the whole comment at its last piece.
    pub(crate) fn comment<S: Storage + ?Sized>(
        &mut self,
        store: &mut S,
        piece: &Piece<'_>,
        start: usize,
    ) -> Result<Option<Span>, NoRoom> {
        if piece.first {
            self.staged = 0;
        }
        self.check(store, piece.value.len())?;
        if piece.first && piece.last {
            return Ok(Some(Span::input(start, piece.value.len())));
        }
        self.stage(store, piece.value)?;
        Ok(piece.last.then(|| Span::store(self.stage_start(), self.staged)))
    }

    /// Adds a piece of an ID line. An ID that contains a NUL or does not fit is ignored, and the previous ID stays. The
    /// first piece that does not fit returns `NoRoom`; a NUL is no error.
    pub(crate) fn identify<S: Storage + ?Sized>(&mut self, store: &mut S, piece: &Piece<'_>) -> Result<(), NoRoom> {
        if piece.first {
            self.staged = 0;
            self.id_sound = true;
        }
        let mut result = Ok(());
        if self.id_sound {
            // Look for a NUL only in what fits: the first of NUL and excess byte decides.
            let beside = self.lasting().saturating_add(self.event_len());
            let room = (self.max_id as usize).min(store.max_len().saturating_sub(beside)).saturating_sub(self.staged);
            let inside = piece.value.get(..room).unwrap_or(piece.value);
            visit!(inside.len());
            if inside.iter().any(|byte| matches!(byte, 0)) {
                self.id_sound = false;
            } else {
                result = self.take_id(store, piece);
                self.id_sound = result.is_ok();
            }
        }
        if piece.last || !self.id_sound {
            self.staged = 0;
        }
        result
    }

    fn take_id<S: Storage + ?Sized>(&mut self, store: &mut S, piece: &Piece<'_>) -> Result<(), NoRoom> {
        let len = self.staged.saturating_add(piece.value.len());
        if len > self.max_id as usize {
            return Err(NoRoom);
        }
        // Count the value as staged even if the line lies whole in the input: the verdict must not depend on cuts.
        let beside = self.event_len().saturating_add(len);
        if self.lasting().saturating_add(beside) > store.max_len() {
            return Err(NoRoom);
        }
        let whole = piece.first && piece.last;
        if !whole {
            self.stage(store, piece.value)?;
        }
        if !piece.last {
            return Ok(());
        }
        if len > self.slot {
            let slot = self.slot.saturating_mul(2).min(self.max_id as usize).max(len);
            if slot.saturating_mul(2).saturating_add(beside) > store.max_len() {
                return Err(NoRoom);
            }
            self.grow_slots(store, slot)?;
        }
        let to = if self.second { 0 } else { self.slot };
        if whole {
            copy(store.bytes_mut(), to, piece.value);
        } else {
            shift(store.bytes_mut(), self.stage_start(), to, len);
        }
        self.pending = Some(len);
        Ok(())
    }

    /// Copies to the storage what still lies in the input, which will not be there at the next call.
    #[inline]
    pub(crate) fn save<S: Storage + ?Sized>(&mut self, store: &mut S, input: &[u8]) -> Result<(), NoRoom> {
        if self.data.is_some() {
            self.save_data(store, input)?;
        }
        if self.name.len > 0 {
            self.save_name(store, input)?;
        }
        Ok(())
    }

    fn save_data<S: Storage + ?Sized>(&mut self, store: &mut S, input: &[u8]) -> Result<(), NoRoom> {
        let Some(Span { place: Place::Input, len, .. }) = self.data else {
            return Ok(());
        };
        let Some(bytes) = self.data.map(|data| data.of(input, &[])) else {
            return Ok(());
        };
        let start = self.lasting();
        self.reserve(store, start.saturating_add(len))?;
        copy(store.bytes_mut(), start, bytes);
        self.data = Some(Span::store(start, len));
        Ok(())
    }

    fn save_name<S: Storage + ?Sized>(&mut self, store: &mut S, input: &[u8]) -> Result<(), NoRoom> {
        let Span { place: Place::Input, len, .. } = self.name else {
            return Ok(());
        };
        self.reserve(store, self.stage_start().saturating_add(self.staged).saturating_add(len))?;
        let at = store.bytes().len().saturating_sub(len);
        copy(store.bytes_mut(), at, self.name.of(input, &[]));
        self.name = Span::store(at, len);
        Ok(())
    }

    /// Returns the longest event allowed now, in bytes.
    #[inline]
    pub(crate) fn room<S: Storage + ?Sized>(&self, store: &S) -> usize {
        (self.max_event as usize).min(store.max_len().saturating_sub(self.lasting()))
    }

    /// Whether an event of `len` bytes, which is not 0, is allowed now.
    #[inline(always)]
    pub(crate) fn has_room<S: Storage + ?Sized>(&self, store: &S, len: usize) -> bool {
        len <= self.max_event as usize && len.saturating_add(self.lasting()) <= store.max_len()
    }

    /// Checks that the event, or a comment inside it, may grow by `more` bytes.
    #[inline]
    fn check<S: Storage + ?Sized>(&self, store: &S, more: usize) -> Result<(), NoRoom> {
        let len = self.event_len().saturating_add(self.staged).saturating_add(more);
        if len <= self.room(store) {
            Ok(())
        } else {
            Err(NoRoom)
        }
    }

    pub(crate) fn data_len(&self) -> usize {
        self.data.map_or(0, |data| data.len)
    }

    fn event_len(&self) -> usize {
        self.data_len().saturating_add(self.name.len)
    }

    fn stage_start(&self) -> usize {
        self.lasting().saturating_add(self.data_len())
    }

    /// Appends to stored data.
    fn append<S: Storage + ?Sized>(&mut self, store: &mut S, bytes: &[u8]) -> Result<(), NoRoom> {
        let at = self.stage_start();
        self.reserve(store, at.saturating_add(bytes.len()))?;
        copy(store.bytes_mut(), at, bytes);
        if let Some(data) = &mut self.data {
            data.len = data.len.saturating_add(bytes.len());
        }
        Ok(())
    }

    fn stage<S: Storage + ?Sized>(&mut self, store: &mut S, bytes: &[u8]) -> Result<(), NoRoom> {
        let at = self.stage_start().saturating_add(self.staged);
        self.reserve(store, at.saturating_add(bytes.len()))?;
        copy(store.bytes_mut(), at, bytes);
        self.staged = self.staged.saturating_add(bytes.len());
        Ok(())
    }

    /// Makes the first `front` bytes usable, and moves the stored name to the new far end.
    #[inline]
    fn reserve<S: Storage + ?Sized>(&mut self, store: &mut S, front: usize) -> Result<(), NoRoom> {
        let name = self.name.stored_len();
        let need = front.saturating_add(name);
        if need <= store.bytes().len() {
            return Ok(());
        }
        if !store.grow(need) {
            return Err(NoRoom);
        }
        if name > 0 {
            let at = store.bytes().len().saturating_sub(name);
            shift(store.bytes_mut(), self.name.start, at, name);
            self.name.start = at;
        }
        Ok(())
    }

    fn grow_slots<S: Storage + ?Sized>(&mut self, store: &mut S, slot: usize) -> Result<(), NoRoom> {
        let behind = self.behind_ids();
        let (from, to) = (self.lasting(), slot.saturating_mul(2));
        self.reserve(store, to.saturating_add(behind))?;
        shift(store.bytes_mut(), from, to, behind);
        shift(store.bytes_mut(), self.slot, slot, self.slot);
        self.slot = slot;
        if let Some(Span { place: Place::Store, start, .. }) = &mut self.data {
            *start = to;
        }
        Ok(())
    }
}

fn copy(store: &mut [u8], at: usize, bytes: &[u8]) {
    visit!(bytes.len());
    if let Some(to) = store.get_mut(at..at.saturating_add(bytes.len())) {
        if to.len() == bytes.len() {
            to.copy_from_slice(bytes);
        }
    }
}

/// Moves `len` bytes within `store`; the ranges may overlap. Uses cells, because `copy_within` can panic.
fn shift(store: &mut [u8], from: usize, to: usize, len: usize) {
    visit!(len);
    let cells = Cell::from_mut(store).as_slice_of_cells();
    let source = cells.get(from..from.saturating_add(len)).unwrap_or(&[]);
    let target = cells.get(to..to.saturating_add(len)).unwrap_or(&[]);
    let pairs = target.iter().zip(source);
    if to < from {
        pairs.for_each(|(to, from)| to.set(from.get()));
    } else {
        pairs.rev().for_each(|(to, from)| to.set(from.get()));
    }
}

#[cfg(test)]
mod tests;
