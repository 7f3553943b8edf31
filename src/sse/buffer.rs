//! State of the event being read: its data, its name and the ID so far, and the layout of these bytes in the storage.
//!
//! ```text
//! | ID slot | ID slot | data, grows → | staged value → |   free   | next name | event name |
//! ```
//!
//! One slot holds the committed ID, the other slot holds the ID that the block's blank line will commit. Slots only
//! grow, and at least double, so the data after them rarely moves. A stored event name lies at the far end, out of the
//! way of growing data. If a slice cut the line of an event name, an ID or a comment, the bytes so far are staged after
//! the data; data cannot grow during that line. The name from a line after a whole JSON value lies before the event
//! name: it is that of the next JSON value if the block has one, otherwise of this event.
//!
//! Data and name may also lie in the input. The limits count them as if they were stored, so that the result does not
//! depend on where the input was cut.

use super::Piece;
use crate::storage::shift;
use crate::visits::visit;
use crate::{Limits, Storage};
use span::copy;

mod layout;
mod span;

pub use span::{Place, Span};

/// Why bytes do not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoRoom {
    /// The event, the comment or the ID exceeds a limit, or what the storage can hold at most.
    Limit,
    /// The storage cannot grow. If it can be moved, the step is undone, so the step must end here.
    Storage,
}

/// State of the event being read, a block of lines. Its bytes are in the storage, which the caller passes to each
/// method.
#[derive(Clone, Debug)]
pub(crate) struct EventBuffer {
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
    /// The name from a line after a whole JSON value, in the storage.
    next: Option<Span>,
    /// Length in bytes of the staged part of a cut line.
    staged: u32,
}

impl EventBuffer {
    pub(crate) const fn new(limits: Limits) -> Self {
        EventBuffer {
            max_event: limits.max_event_len,
            max_id: limits.max_id_len,
            slot: 0,
            second: false,
            id_len: 0,
            pending: None,
            id_sound: false,
            data: None,
            name: Span::EMPTY,
            next: None,
            staged: 0,
        }
    }

    /// Drops the block. The committed ID stays.
    pub(crate) fn clear(&mut self) {
        self.pending = None;
        self.data = None;
        self.name = Span::EMPTY;
        self.next = None;
        self.staged = 0;
    }

    /// Drops the block and both IDs.
    pub(crate) fn reset(&mut self) {
        self.clear();
        self.slot = 0;
        self.id_len = 0;
    }

    /// Whether the block has no bytes yet: at most IDs are stored.
    pub(crate) fn is_empty(&self) -> bool {
        self.data.is_none() && self.name.len == 0 && self.staged == 0
    }

    /// Whether the block has a data line, even an empty one.
    pub(crate) fn has_data(&self) -> bool {
        self.data.is_some()
    }

    /// Whether the data lies in the storage.
    pub(crate) fn is_stored(&self) -> bool {
        matches!(self.data, Some(Span { place: Place::Storage, .. }))
    }

    /// Returns the data, if it lies in the storage and the block has nothing else.
    #[inline]
    pub(crate) fn lone_data(&self) -> Option<Span> {
        let is_alone = self.name.len == 0 && self.pending.is_none() && self.staged == 0 && !self.has_next();
        self.data.filter(|_| self.is_stored() && is_alone)
    }

    /// Returns the data so far.
    pub(crate) fn data_span(&self) -> Span {
        self.data.unwrap_or(Span::EMPTY)
    }

    /// Returns the event name so far.
    pub(crate) fn name_span(&self) -> Span {
        self.name
    }

    /// Whether the block has an event name that lies in the storage.
    pub(crate) fn has_stored_name(&self) -> bool {
        self.name.stored_len() > 0
    }

    /// Drops the event name.
    pub(crate) fn drop_name(&mut self) {
        self.name = Span::EMPTY;
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
    pub(crate) fn id<'a>(&self, storage: &'a [u8]) -> &'a [u8] {
        let start = if self.second { self.slot() } else { 0 };
        storage.get(start..start.saturating_add(self.id_len as usize)).unwrap_or(&[])
    }

    /// Ends the block at its blank line: commits the pending ID, and returns data and name if the block has data.
    pub(crate) fn end(&mut self) -> Option<(Span, Span)> {
        if let Some(len) = self.pending.take() {
            self.second = !self.second;
            self.id_len = len;
        }
        self.end_value()
    }

    /// Ends an event, and returns its data and name if it has data. Keeps the pending ID for the blank line and, unless
    /// [`adopt`](EventBuffer::adopt) was called, the name from a line after a whole JSON value for the next value.
    pub(crate) fn end_value(&mut self) -> Option<(Span, Span)> {
        let event = self.data.map(|data| (data, self.name));
        (self.data, self.name, self.staged) = (None, Span::EMPTY, 0);
        event
    }

    /// Whether a line after a whole JSON value set a name.
    pub(crate) fn has_next(&self) -> bool {
        self.next.is_some()
    }

    /// Gives the event the name from the line after a whole JSON value.
    pub(crate) fn adopt<S: Storage + ?Sized>(&mut self, storage: &mut S) {
        if let Some(name) = self.next.take() {
            let (start, len) = name.range();
            self.place_name(storage.bytes_mut(), start, len);
        }
    }

    /// Whether part of a cut line is staged.
    pub(crate) fn is_staged(&self) -> bool {
        self.staged > 0
    }

    /// Returns the staged part of a line.
    #[cfg(test)]
    pub(crate) fn staged_bytes<'a>(&self, storage: &'a [u8]) -> &'a [u8] {
        Span::storage(self.stage_start(), self.staged as usize).within(storage)
    }

    /// Adds a piece of the value of a data line. `first` is whether it is the first piece of its line, `start` its
    /// offset in the input.
    pub(crate) fn data<S: Storage + ?Sized>(
        &mut self,
        storage: &mut S,
        input: &[u8],
        value: &[u8],
        first: bool,
        start: usize,
    ) -> Result<(), NoRoom> {
        self.staged = 0;
        let len = value.len();
        if self.data.is_none() {
            self.check(storage, len)?;
            self.data = Some(Span::input(start, len));
            return Ok(());
        }
        let join: &[u8] = if first { b"\n" } else { b"" };
        self.check(storage, len.saturating_add(join.len()))?;
        self.save_data(storage, input)?;
        self.append_growing(storage, join)?;
        self.append_growing(storage, value)
    }

    /// Adds a piece of an event line. The first piece discards the previous name, which this line replaces in any case.
    pub(crate) fn name<S: Storage + ?Sized>(
        &mut self,
        storage: &mut S,
        piece: &Piece<'_>,
        start: usize,
    ) -> Result<(), NoRoom> {
        if piece.first {
            self.staged = 0;
            self.name = Span::EMPTY;
        }
        self.check(storage, piece.value.len())?;
        if piece.first && piece.last {
            self.name = Span::input(start, piece.value.len());
            return Ok(());
        }
        self.stage(storage, piece.value)?;
        if piece.last {
            self.place_name(storage.bytes_mut(), self.stage_start(), self.staged as usize);
            self.staged = 0;
        }
        Ok(())
    }

    /// Adds a piece of an event line after a whole JSON value. The caller must have [saved](EventBuffer::save) the
    /// block. The last piece moves stored bytes, so a step that may be taken back must end there.
    pub(crate) fn next_name<S: Storage + ?Sized>(&mut self, storage: &mut S, piece: &Piece<'_>) -> Result<(), NoRoom> {
        if piece.first {
            self.staged = 0;
        }
        self.check(storage, piece.value.len())?;
        self.stage(storage, piece.value)?;
        if piece.last {
            self.place_next(storage);
        }
        Ok(())
    }

    /// Adds a piece of a comment. Returns the whole comment at its last piece.
    pub(crate) fn comment<S: Storage + ?Sized>(
        &mut self,
        storage: &mut S,
        piece: &Piece<'_>,
        start: usize,
    ) -> Result<Option<Span>, NoRoom> {
        if piece.first {
            self.staged = 0;
        }
        self.check(storage, piece.value.len())?;
        if piece.first && piece.last {
            return Ok(Some(Span::input(start, piece.value.len())));
        }
        self.stage(storage, piece.value)?;
        Ok(piece.last.then(|| Span::storage(self.stage_start(), self.staged as usize)))
    }

    /// Adds a piece of an ID line. An ID that contains a NUL or exceeds a limit is ignored, and the previous ID stays.
    /// Only the first piece over a limit returns [`NoRoom::Limit`]; a NUL is not an error.
    pub(crate) fn identify<S: Storage + ?Sized>(&mut self, storage: &mut S, piece: &Piece<'_>) -> Result<(), NoRoom> {
        if piece.first {
            self.staged = 0;
            self.id_sound = true;
        }
        let mut taken = Ok(());
        if self.id_sound {
            // Look for a NUL only in the bytes that fit, because whichever comes first, a NUL or an excess byte,
            // decides.
            let in_use = self.lasting().saturating_add(self.event_len());
            let room = (self.max_id as usize).min(storage.max_len().saturating_sub(in_use));
            let room = room.saturating_sub(self.staged as usize);
            let inside = piece.value.get(..room).unwrap_or(piece.value);
            visit!(inside.len());
            if inside.iter().any(|byte| matches!(byte, 0)) {
                self.id_sound = false;
            } else {
                taken = self.take_id(storage, piece);
                self.id_sound = taken.is_ok();
            }
        }
        if piece.last || !self.id_sound {
            self.staged = 0;
        }
        taken
    }

    /// Adds a piece of an ID line that can still become an ID. The last piece makes it the pending ID.
    fn take_id<S: Storage + ?Sized>(&mut self, storage: &mut S, piece: &Piece<'_>) -> Result<(), NoRoom> {
        let len = (self.staged as usize).saturating_add(piece.value.len());
        if len > self.max_id as usize {
            return Err(NoRoom::Limit);
        }
        // Count the value as staged even if the line lies whole in the input, so that the result does not depend on
        // cuts.
        let in_use = self.event_len().saturating_add(len);
        if self.lasting().saturating_add(in_use) > storage.max_len() {
            return Err(NoRoom::Limit);
        }
        let whole = piece.first && piece.last;
        if !whole {
            self.stage(storage, piece.value)?;
        }
        if !piece.last {
            return Ok(());
        }
        if len > self.slot() {
            let slot = self.slot().saturating_mul(2).min(self.max_id as usize).max(len);
            if slot.saturating_mul(2).saturating_add(in_use) > storage.max_len() {
                return Err(NoRoom::Limit);
            }
            self.grow_slots(storage, slot)?;
        }
        let to = self.pending_slot();
        if whole {
            copy(storage.bytes_mut(), to, piece.value);
        } else {
            shift(storage.bytes_mut(), self.stage_start(), to, len);
        }
        self.pending = Some(len as u32);
        Ok(())
    }

    /// Returns the length of the data so far.
    pub(crate) fn data_len(&self) -> usize {
        self.data.map_or(0, |data| data.len as usize)
    }

    /// Returns the length of the name of the next value.
    fn next_len(&self) -> usize {
        self.next.map_or(0, Span::stored_len)
    }

    /// Returns the length of the event so far, as the limits count it.
    fn event_len(&self) -> usize {
        self.data_len().saturating_add(self.name.len as usize).saturating_add(self.next_len())
    }
}

#[cfg(test)]
mod tests;
