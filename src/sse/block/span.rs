//! Where bytes lie, in the input or in the storage, and how they are copied and moved there.

use crate::visits::visit;
use core::cell::Cell;

/// Which buffer a span refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// The slice passed to this call.
    Input,
    /// The storage.
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

    pub(super) fn input(start: usize, len: usize) -> Span {
        Span { place: Place::Input, start, len }
    }

    pub(super) fn store(start: usize, len: usize) -> Span {
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

    /// Returns the span's bytes. For a span of the input, it adds up to `more` of the bytes that follow.
    pub(crate) fn with_more<'a>(self, input: &'a [u8], store: &'a [u8], more: usize) -> &'a [u8] {
        if self.place == Place::Store {
            return self.of(input, store);
        }
        let rest = input.get(self.start..).unwrap_or(&[]);
        rest.get(..self.len.saturating_add(more)).unwrap_or(rest)
    }

    /// Returns the bytes of a span of the storage, followed by up to `more` bytes, which it sets to zero first: bytes of a C
    /// caller's block that were never written must not be read. Nothing else may lie behind the span.
    pub(crate) fn padded(self, store: &mut [u8], more: usize) -> &[u8] {
        let rest = store.get_mut(self.start..).unwrap_or_default();
        rest.iter_mut().skip(self.len).take(more).for_each(|byte| *byte = 0);
        rest.get(..self.len.saturating_add(more)).unwrap_or(rest)
    }

    pub(super) fn stored_len(self) -> usize {
        match self.place {
            Place::Input => 0,
            Place::Store => self.len,
        }
    }
}

/// Name and ID from the `event` and `id` lines behind a whole value. They belong to the next value if the block contains
/// one, otherwise to this event. Both lie in the storage, side by side.
#[derive(Clone, Copy, Debug)]
pub(super) struct Next {
    pub(super) start: u32,
    /// Length of the name, or [`Next::UNSET`].
    pub(super) name: u32,
    /// Length of the ID, or [`Next::UNSET`].
    pub(super) id: u32,
    /// Whether the ID lies before the name.
    pub(super) id_is_first: bool,
}

impl Next {
    pub(super) const UNSET: u32 = u32::MAX;
    pub(super) const NONE: Next = Next { start: 0, name: Next::UNSET, id: Next::UNSET, id_is_first: false };

    pub(super) fn is_set(self) -> bool {
        self.name != Next::UNSET || self.id != Next::UNSET
    }

    /// Returns the length of a name or an ID, which is 0 if it is unset.
    pub(super) fn len_of(value: u32) -> usize {
        if value == Next::UNSET {
            0
        } else {
            value as usize
        }
    }

    pub(super) fn len(self) -> usize {
        Next::len_of(self.name).saturating_add(Next::len_of(self.id))
    }

    pub(super) fn name(self) -> Option<Span> {
        let before = if self.id_is_first { Next::len_of(self.id) } else { 0 };
        let start = (self.start as usize).saturating_add(before);
        (self.name != Next::UNSET).then(|| Span::store(start, self.name as usize))
    }

    pub(super) fn id(self) -> Option<Span> {
        let before = if self.id_is_first { 0 } else { Next::len_of(self.name) };
        let start = (self.start as usize).saturating_add(before);
        (self.id != Next::UNSET).then(|| Span::store(start, self.id as usize))
    }
}

pub(super) fn copy(store: &mut [u8], at: usize, bytes: &[u8]) {
    visit!(bytes.len());
    if let Some(to) = store.get_mut(at..at.saturating_add(bytes.len())) {
        if to.len() == bytes.len() {
            to.copy_from_slice(bytes);
        }
    }
}

/// Moves `len` bytes within `store`; the ranges may overlap. Uses cells, because `copy_within` can panic.
pub(super) fn shift(store: &mut [u8], from: usize, to: usize, len: usize) {
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
