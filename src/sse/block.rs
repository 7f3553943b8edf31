//! State of the block being read, and the layout of its bytes in the storage.
//!
//! ```text
//! | ID slot | ID slot | data, grows → | staged value → |   free   | next name, next ID | event name |
//! ```
//!
//! One slot holds the committed ID, the other slot holds the ID that the block's blank line will commit. Slots only
//! grow, and at least double, so the data behind them rarely moves. A stored event name lies at the far end, where
//! growing data does not run into it. An event name, ID or comment that a slice cut is staged behind the data; data
//! cannot grow while that line lasts. Name and ID from lines behind a whole value lie below the event name: see
//! [`Next`].
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

    /// Returns the span's bytes with what lies behind them, at most `more` bytes.
    pub(crate) fn with_more<'a>(self, input: &'a [u8], store: &'a [u8], more: usize) -> &'a [u8] {
        let len = self.len.saturating_add(more);
        let all = match self.place {
            Place::Input => input,
            Place::Store => store,
        };
        let rest = all.get(self.start..).unwrap_or(&[]);
        rest.get(..len).unwrap_or(rest)
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

/// Name and ID from the `event` and `id` lines behind a whole value. They belong to the next value if the block contains
/// one, otherwise to this event. Both lie in the storage, side by side.
#[derive(Clone, Copy, Debug)]
struct Next {
    start: u32,
    /// Length of the name, or [`Next::UNSET`].
    name: u32,
    /// Length of the ID, or [`Next::UNSET`].
    id: u32,
    /// Whether the ID lies before the name.
    id_is_first: bool,
}

impl Next {
    const UNSET: u32 = u32::MAX;
    const NONE: Next = Next { start: 0, name: Next::UNSET, id: Next::UNSET, id_is_first: false };

    fn is_set(self) -> bool {
        self.name != Next::UNSET || self.id != Next::UNSET
    }

    /// Returns the length of a value, which may be unset.
    fn len_of(value: u32) -> usize {
        if value == Next::UNSET {
            0
        } else {
            value as usize
        }
    }

    fn len(self) -> usize {
        Next::len_of(self.name).saturating_add(Next::len_of(self.id))
    }

    fn name(self) -> Option<Span> {
        let before = if self.id_is_first { Next::len_of(self.id) } else { 0 };
        let start = (self.start as usize).saturating_add(before);
        (self.name != Next::UNSET).then(|| Span::store(start, self.name as usize))
    }

    fn id(self) -> Option<Span> {
        let before = if self.id_is_first { 0 } else { Next::len_of(self.name) };
        let start = (self.start as usize).saturating_add(before);
        (self.id != Next::UNSET).then(|| Span::store(start, self.id as usize))
    }
}

/// State of the block being read. Its bytes are in the storage, which the caller passes to each call.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    max_event: u32,
    max_id: u32,
    /// Length of one ID slot in bytes.
    slot: u32,
    /// Whether the committed ID is in the second slot.
    second: bool,
    id_len: u32,
    /// Length of the ID that the blank line will commit.
    pending: Option<u32>,
    /// Whether the ID line being read can still become an ID: no NUL so far, and it fits.
    id_sound: bool,
    data: Option<Span>,
    name: Span,
    next: Next,
    /// Length in bytes of the part of a cut line that is staged behind the data.
    staged: u32,
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
            next: Next::NONE,
            staged: 0,
        }
    }

    /// Drops the block. The committed ID stays.
    pub(crate) fn clear(&mut self) {
        self.pending = None;
        self.data = None;
        self.name = Span::EMPTY;
        self.next = Next::NONE;
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

    /// Whether the data lies in the storage.
    pub(crate) fn is_stored(&self) -> bool {
        matches!(self.data, Some(Span { place: Place::Store, .. }))
    }

    /// Returns where data in the storage ends.
    pub(crate) fn stored_end(&self) -> Option<usize> {
        self.data.filter(|_| self.is_stored()).map(|data| data.start.saturating_add(data.len))
    }

    /// Bytes were put behind the data.
    #[inline(always)]
    pub(crate) fn lengthen(&mut self, by: usize) {
        if let Some(data) = &mut self.data {
            data.len = data.len.wrapping_add(by);
        }
    }

    /// Returns the data, if it lies in the storage and the block has nothing else.
    #[inline]
    pub(crate) fn lone_data(&self) -> Option<Span> {
        self.data.filter(|_| self.is_stored() && self.name.len == 0 && self.pending.is_none() && !self.has_next())
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
        let start = if self.second { self.slot() } else { 0 };
        store.get(start..start.saturating_add(self.id_len as usize)).unwrap_or(&[])
    }

    /// Returns the length of one ID slot.
    fn slot(&self) -> usize {
        self.slot as usize
    }

    /// Returns the length of the ID slots: bytes at the front of the storage that outlive the block.
    pub(crate) fn lasting(&self) -> usize {
        self.slot().saturating_mul(2)
    }

    /// Ends the block at its blank line: commits the pending ID, and returns data and name if the block has data. Lines
    /// behind its value are kept for the next one, unless [`adopt`](Block::adopt) was called.
    pub(crate) fn end(&mut self) -> Option<(Span, Span)> {
        if let Some(len) = self.pending {
            self.second = !self.second;
            self.id_len = len;
        }
        let (event, next) = (self.data.map(|data| (data, self.name)), self.next);
        self.clear();
        self.next = next;
        event
    }

    /// Whether lines behind a whole value set a name or an ID.
    pub(crate) fn has_next(&self) -> bool {
        self.next.is_set()
    }

    /// Gives the block the name and the ID from the lines behind a whole value.
    pub(crate) fn adopt<S: Storage + ?Sized>(&mut self, store: &mut S) {
        let next = core::mem::replace(&mut self.next, Next::NONE);
        if let Some(id) = next.id() {
            let to = self.pending_slot();
            shift(store.bytes_mut(), id.start, to, id.len);
            self.pending = Some(next.id);
        }
        if let Some(name) = next.name() {
            let at = store.bytes().len().saturating_sub(name.len);
            shift(store.bytes_mut(), name.start, at, name.len);
            self.name = Span::store(at, name.len);
        }
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

    /// Returns the number of bytes of storage in use: at the front, and at the far end.
    pub(crate) fn retained(&self) -> usize {
        self.front().saturating_add(self.tail_len())
    }

    /// Bytes in use at the far end.
    fn tail_len(&self) -> usize {
        self.name.stored_len().saturating_add(self.next.len())
    }

    /// Where the bytes at the far end begin, if there are any.
    fn tail_start(&self) -> usize {
        if self.next.is_set() {
            self.next.start as usize
        } else {
            self.name.start
        }
    }

    /// Notes that the bytes at the far end were moved to `start`.
    fn tail_moved(&mut self, start: usize) {
        if self.next.is_set() {
            self.next.start = start as u32;
        }
        if self.name.place == Place::Store {
            self.name.start = start.saturating_add(self.next.len());
        }
    }

    fn front(&self) -> usize {
        self.lasting().saturating_add(self.behind_ids())
    }

    /// Bytes in use behind the ID slots: stored data and the staged part of a line.
    fn behind_ids(&self) -> usize {
        if self.staged > 0 {
            self.data_len().saturating_add(self.staged as usize)
        } else {
            self.data.map_or(0, Span::stored_len)
        }
    }

    /// Moves the stored bytes to another storage. Returns `false`, with no effect, if they do not fit.
    pub(crate) fn relocate(&mut self, from: &[u8], to: &mut [u8]) -> bool {
        let front = self.front();
        let tail = self.tail_len();
        if front.saturating_add(tail) > to.len() {
            return false;
        }
        copy(to, 0, from.get(..front).unwrap_or(&[]));
        if tail > 0 {
            let at = to.len().saturating_sub(tail);
            copy(to, at, Span::store(self.tail_start(), tail).of(&[], from));
            self.tail_moved(at);
        }
        true
    }

    /// The storage has `len` bytes now, and `store` is what it is and was. Returns `false`, with no effect, if the stored bytes
    /// do not fit.
    pub(crate) fn resize(&mut self, store: &mut [u8], len: usize) -> bool {
        let tail = self.tail_len();
        if self.front().saturating_add(tail) > len {
            return false;
        }
        if tail > 0 {
            let at = len.saturating_sub(tail);
            shift(store, self.tail_start(), at, tail);
            self.tail_moved(at);
        }
        true
    }

    /// Restores the layout of `earlier`, a previous state of this block: the ID slots may have grown since.
    pub(crate) fn undo(&self, earlier: &Block, store: &mut [u8]) {
        if self.slot() > earlier.slot() {
            shift(store, self.slot(), earlier.slot(), earlier.slot());
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
        self.append_growing(store, join)?;
        self.append_growing(store, piece.value)
    }

    /// Copies the beginning of a payload that a slice cut to the storage, if the block has nothing else. Returns how many bytes
    /// [`append`](Block::append) may add. `None`, with no effect: it is not so, or there is no room, or the caller would have to
    /// move the storage.
    #[inline]
    pub(crate) fn begin_data<S: Storage + ?Sized>(&mut self, store: &mut S, bytes: &[u8]) -> Option<usize> {
        let left = self.room(store).checked_sub(bytes.len())?;
        let start = self.lasting();
        let end = start.saturating_add(bytes.len());
        let is_alone = self.is_empty() && self.pending.is_none() && !self.has_next();
        if !is_alone || end > store.bytes().len() && (store.can_move() || !store.grow(end)) {
            return None;
        }
        copy(store.bytes_mut(), start, bytes);
        self.data = Some(Span::store(start, bytes.len()));
        Some(left.min(store.bytes().len().saturating_sub(end)))
    }

    /// Returns how many bytes [`append`](Block::append) may add to the data, as long as nothing else changes the block or
    /// moves the storage: 0 if the data is not in the storage.
    #[inline]
    pub(crate) fn appendable<S: Storage + ?Sized>(&self, store: &S) -> usize {
        match self.data {
            Some(Span { place: Place::Store, start, len }) if self.staged == 0 => {
                let used = start.saturating_add(len).saturating_add(self.tail_len());
                let beside = store.bytes().len().saturating_sub(used);
                self.room(store).saturating_sub(self.event_len()).min(beside)
            }
            _ => 0,
        }
    }

    /// Appends to data that is in the storage, at most [`appendable`](Block::appendable) bytes. Returns `false`, with no
    /// effect, if they do not fit.
    #[inline(always)]
    pub(crate) fn append<S: Storage + ?Sized>(&mut self, store: &mut S, bytes: &[u8]) -> bool {
        let Some(Span { place: Place::Store, start, len }) = &mut self.data else { return false };
        // Sums of offsets in the storage: they do not overflow.
        let Some(room) = store.bytes_mut().get_mut(start.wrapping_add(*len)..) else { return false };
        visit!(bytes.len());
        match (room, bytes) {
            // A single byte is not worth a call to memcpy.
            ([to, ..], [from]) => *to = *from,
            (room, bytes) => match room.get_mut(..bytes.len()) {
                Some(room) => room.copy_from_slice(bytes),
                None => return false,
            },
        }
        *len = len.wrapping_add(bytes.len());
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
            let len = self.staged as usize;
            let at = store.bytes().len().saturating_sub(len);
            shift(store.bytes_mut(), self.stage_start(), at, len);
            self.name = Span::store(at, len);
            self.staged = 0;
        }
        Ok(())
    }

    /// Adds a piece of an event line behind a whole value. What the block has must be [saved](Block::save). The last
    /// piece moves what was stored: a step that might be taken back ends there.
    pub(crate) fn next_name<S: Storage + ?Sized>(&mut self, store: &mut S, piece: &Piece<'_>) -> Result<(), NoRoom> {
        if piece.first {
            self.staged = 0;
        }
        self.check(store, piece.value.len())?;
        self.stage(store, piece.value)?;
        if piece.last {
            self.place_next(store, false);
        }
        Ok(())
    }

    /// Moves the staged line to the far end: the ID of the next value, or its name. It replaces an earlier one.
    fn place_next<S: Storage + ?Sized>(&mut self, store: &mut S, is_id: bool) {
        let Next { name, id, id_is_first, .. } = self.next;
        let (old, other) = if is_id { (id, name) } else { (name, id) };
        let (old_len, len) = (Next::len_of(old), self.staged as usize);
        let start = if self.tail_len() > 0 { self.tail_start() } else { store.bytes().len() };
        if old != Next::UNSET && id_is_first != is_id {
            shift(store.bytes_mut(), start, start.saturating_add(old_len), Next::len_of(other));
        }
        let at = start.saturating_add(old_len).saturating_sub(len);
        shift(store.bytes_mut(), self.stage_start(), at, len);
        let (name, id) = if is_id { (name, self.staged) } else { (self.staged, id) };
        self.next = Next { start: at as u32, name, id, id_is_first: is_id };
        self.staged = 0;
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
        Ok(piece.last.then(|| Span::store(self.stage_start(), self.staged as usize)))
    }

    /// Adds a piece of an ID line. An ID that contains a NUL or does not fit is ignored, and the previous ID stays. The
    /// first piece that does not fit returns `NoRoom`; a NUL is no error. `is_next`: the line comes behind a whole value,
    /// as in [`next_name`](Block::next_name).
    pub(crate) fn identify<S: Storage + ?Sized>(
        &mut self,
        store: &mut S,
        piece: &Piece<'_>,
        is_next: bool,
    ) -> Result<(), NoRoom> {
        if piece.first {
            self.staged = 0;
            self.id_sound = true;
        }
        let mut result = Ok(());
        if self.id_sound {
            // Look for a NUL only in what fits: the first of NUL and excess byte decides.
            let beside = self.lasting().saturating_add(self.event_len());
            let room = (self.max_id as usize).min(store.max_len().saturating_sub(beside));
            let room = room.saturating_sub(self.staged as usize);
            let inside = piece.value.get(..room).unwrap_or(piece.value);
            visit!(inside.len());
            if inside.iter().any(|byte| matches!(byte, 0)) {
                self.id_sound = false;
            } else {
                result = self.take_id(store, piece, is_next);
                self.id_sound = result.is_ok();
            }
        }
        if piece.last || !self.id_sound {
            self.staged = 0;
        }
        result
    }

    fn take_id<S: Storage + ?Sized>(&mut self, store: &mut S, piece: &Piece<'_>, is_next: bool) -> Result<(), NoRoom> {
        let len = (self.staged as usize).saturating_add(piece.value.len());
        if len > self.max_id as usize {
            return Err(NoRoom);
        }
        // Count the value as staged even if the line lies whole in the input: the verdict must not depend on cuts.
        let beside = self.event_len().saturating_add(len);
        if self.lasting().saturating_add(beside) > store.max_len() {
            return Err(NoRoom);
        }
        let whole = piece.first && piece.last && !is_next;
        if !whole {
            self.stage(store, piece.value)?;
        }
        if !piece.last {
            return Ok(());
        }
        if len > self.slot() {
            let slot = self.slot().saturating_mul(2).min(self.max_id as usize).max(len);
            if slot.saturating_mul(2).saturating_add(beside) > store.max_len() {
                return Err(NoRoom);
            }
            self.grow_slots(store, slot)?;
        }
        if is_next {
            self.place_next(store, true);
            return Ok(());
        }
        let to = self.pending_slot();
        if whole {
            copy(store.bytes_mut(), to, piece.value);
        } else {
            shift(store.bytes_mut(), self.stage_start(), to, len);
        }
        self.pending = Some(len as u32);
        Ok(())
    }

    /// Where the slot of the pending ID begins.
    fn pending_slot(&self) -> usize {
        if self.second {
            0
        } else {
            self.slot()
        }
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
        self.reserve(store, self.stage_start().saturating_add(self.staged as usize).saturating_add(len))?;
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

    /// Whether the event, or a comment inside it, that grows by `more` bytes is over the limit.
    pub(crate) fn is_over<S: Storage + ?Sized>(&self, store: &S, more: usize) -> bool {
        self.check(store, more).is_err()
    }

    /// Returns the longest data allowed now, in bytes.
    pub(crate) fn allowance<S: Storage + ?Sized>(&self, store: &S) -> usize {
        let beside = self.event_len().saturating_sub(self.data_len());
        self.room(store).saturating_sub(beside)
    }

    /// Empties the data, to be appended to anew in the storage. Returns where the bytes lie that it had there, and how many.
    pub(crate) fn restart(&mut self) -> (usize, usize) {
        let len = self.data.map_or(0, Span::stored_len);
        self.data = Some(Span::store(self.lasting(), 0));
        (self.lasting(), len)
    }

    /// Takes bytes out of stored data, and makes room for all that the event may have: then nothing that was overwritten
    /// is missing, because the step need not be taken back. Returns `false`, with no effect, if there is no such room.
    pub(crate) fn cut<S: Storage + ?Sized>(&mut self, store: &mut S, from: usize, to: usize) -> bool {
        let all = self.lasting().saturating_add(self.allowance(store));
        let len = self.data_len();
        if self.reserve(store, all).is_err() || from > to || to > len {
            return false;
        }
        let start = self.lasting();
        shift(store.bytes_mut(), start.saturating_add(to), start.saturating_add(from), len.saturating_sub(to));
        if let Some(data) = &mut self.data {
            data.len = len.saturating_sub(to.saturating_sub(from));
        }
        true
    }

    /// Checks that the event, or a comment inside it, may grow by `more` bytes.
    #[inline]
    fn check<S: Storage + ?Sized>(&self, store: &S, more: usize) -> Result<(), NoRoom> {
        let len = self.event_len().saturating_add(self.staged as usize).saturating_add(more);
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
        self.data_len().saturating_add(self.name.len).saturating_add(self.next.len())
    }

    fn stage_start(&self) -> usize {
        self.lasting().saturating_add(self.data_len())
    }

    /// Appends to stored data, and makes room for it.
    pub(crate) fn append_growing<S: Storage + ?Sized>(&mut self, store: &mut S, bytes: &[u8]) -> Result<(), NoRoom> {
        let at = self.stage_start();
        self.reserve(store, at.saturating_add(bytes.len()))?;
        copy(store.bytes_mut(), at, bytes);
        if let Some(data) = &mut self.data {
            data.len = data.len.saturating_add(bytes.len());
        }
        Ok(())
    }

    fn stage<S: Storage + ?Sized>(&mut self, store: &mut S, bytes: &[u8]) -> Result<(), NoRoom> {
        let at = self.stage_start().saturating_add(self.staged as usize);
        self.reserve(store, at.saturating_add(bytes.len()))?;
        copy(store.bytes_mut(), at, bytes);
        self.staged = self.staged.saturating_add(bytes.len() as u32);
        Ok(())
    }

    /// Makes the first `front` bytes usable, and moves what lies at the far end to the new one.
    #[inline]
    fn reserve<S: Storage + ?Sized>(&mut self, store: &mut S, front: usize) -> Result<(), NoRoom> {
        let tail = self.tail_len();
        let need = front.saturating_add(tail);
        if need <= store.bytes().len() {
            return Ok(());
        }
        if !store.grow(need) {
            return Err(NoRoom);
        }
        if tail > 0 {
            let at = store.bytes().len().saturating_sub(tail);
            shift(store.bytes_mut(), self.tail_start(), at, tail);
            self.tail_moved(at);
        }
        Ok(())
    }

    fn grow_slots<S: Storage + ?Sized>(&mut self, store: &mut S, slot: usize) -> Result<(), NoRoom> {
        let behind = self.behind_ids();
        let (from, to) = (self.lasting(), slot.saturating_mul(2));
        self.reserve(store, to.saturating_add(behind))?;
        shift(store.bytes_mut(), from, to, behind);
        shift(store.bytes_mut(), self.slot(), slot, self.slot());
        self.slot = slot as u32;
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
