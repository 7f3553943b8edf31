//! Spans: bytes by their place in the input or in the storage. Also copies bytes to the storage.

use crate::visits::visit;
use crate::Storage;

/// Where a span's bytes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In the window of input that the step was given.
    Input,
    /// In the storage.
    Storage,
}

/// Bytes that a step found, by their place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Which memory they are in.
    pub place: Place,
    /// The offset of the first byte in that memory.
    pub start: u32,
    /// The number of bytes.
    pub len: u32,
}

impl Span {
    pub(crate) const EMPTY: Span = Span { place: Place::Input, start: 0, len: 0 };

    /// Returns a span of the input. A window has at most 2 GiB, so 32 bits are enough.
    pub(super) fn input(start: usize, len: usize) -> Span {
        Span { place: Place::Input, start: start as u32, len: len as u32 }
    }

    /// Returns a span of the storage. Events and IDs use less than 4 GiB of it, so 32 bits are enough.
    pub(super) fn storage(start: usize, len: usize) -> Span {
        Span { place: Place::Storage, start: start as u32, len: len as u32 }
    }

    /// Returns the offset of the first byte in the input, in which the window begins at `base`. Returns `None` if the
    /// bytes lie in the storage, or if the span is empty.
    #[inline]
    pub(crate) fn offset_in_input(self, base: u32) -> Option<u32> {
        (self.place == Place::Input && self.len > 0).then(|| base.saturating_add(self.start))
    }

    /// Returns the first `len` bytes, and the rest.
    pub(crate) fn split(self, len: u32) -> (Span, Span) {
        let rest = Span { start: self.start.saturating_add(len), len: self.len.saturating_sub(len), ..self };
        (Span { len, ..self }, rest)
    }

    /// Returns the offset of its first byte, and its length.
    pub(crate) fn range(self) -> (usize, usize) {
        (self.start as usize, self.len as usize)
    }

    /// Returns the bytes of the span. `bytes` must be the window or the storage, whichever the span refers to.
    pub(crate) fn within(self, bytes: &[u8]) -> &[u8] {
        let (start, len) = self.range();
        bytes.get(start..start.saturating_add(len)).unwrap_or(&[])
    }

    /// Returns the span's bytes.
    pub(crate) fn of<'a, S: Storage + ?Sized>(self, input: &'a [u8], storage: &'a S) -> &'a [u8] {
        match self.place {
            Place::Input => self.within(input),
            Place::Storage => self.within(storage.bytes()),
        }
    }

    /// Returns the span's bytes. For a span of the input, it adds up to `more` of the bytes that follow.
    pub(crate) fn with_more<'a>(self, input: &'a [u8], storage: &'a [u8], more: usize) -> &'a [u8] {
        if self.place == Place::Storage {
            return self.of(input, storage);
        }
        let rest = input.get(self.start as usize..).unwrap_or(&[]);
        rest.get(..(self.len as usize).saturating_add(more)).unwrap_or(rest)
    }

    /// Returns the bytes of a span of the storage, followed by up to `more` bytes. Sets those to zero first, because
    /// the bytes of a C caller's block must not be read before they are written. No bytes in use may follow the span.
    pub(crate) fn padded(self, storage: &mut [u8], more: usize) -> &[u8] {
        let rest = storage.get_mut(self.start as usize..).unwrap_or_default();
        rest.iter_mut().skip(self.len as usize).take(more).for_each(|byte| *byte = 0);
        rest.get(..(self.len as usize).saturating_add(more)).unwrap_or(rest)
    }

    /// Returns how many bytes of the storage the span has.
    pub(super) fn stored_len(self) -> usize {
        match self.place {
            Place::Input => 0,
            Place::Storage => self.len as usize,
        }
    }
}

/// Copies bytes into `storage`. Does nothing if they do not fit there.
pub(super) fn copy(storage: &mut [u8], at: usize, bytes: &[u8]) {
    visit!(bytes.len());
    if let Some(to) = storage.get_mut(at..at.saturating_add(bytes.len())) {
        if to.len() == bytes.len() {
            to.copy_from_slice(bytes);
        }
    }
}
