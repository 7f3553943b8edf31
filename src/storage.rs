//! Where the parser keeps what one slice of input cannot: the last event ID, and an event that a slice cut.

mod sealed {
    /// Keeps the trait closed, so that it can grow.
    pub trait Sealed {}
    impl<const N: usize> Sealed for [u8; N] {}
    impl Sealed for &mut [u8] {}
    #[cfg(feature = "alloc")]
    impl Sealed for super::Growing {}
}

/// Memory for a cut event: an inline array, a borrowed slice, or (feature `alloc`) a [`Growing`] buffer.
///
/// Once an ID came, two places as long as the longest so far stay taken, one for the last event ID and one for the next.
///
/// The trait is sealed. What a storage can hold bounds an event in the same way whether the event was cut or not.
pub trait Storage: sealed::Sealed {
    /// What can be used now.
    fn bytes(&self) -> &[u8];
    /// The same, to write to.
    fn bytes_mut(&mut self) -> &mut [u8];
    /// The most bytes that it can come to.
    fn max_len(&self) -> usize {
        self.bytes().len()
    }
    /// Makes at least `len` bytes usable, those there are kept in front. Says whether it could.
    fn grow(&mut self, len: usize) -> bool {
        len <= self.bytes().len()
    }
    /// Says that only the first `len` bytes still matter: a large buffer may be given back.
    fn shrink(&mut self, len: usize) {
        let _ = len;
    }
}

impl<const N: usize> Storage for [u8; N] {
    #[inline]
    fn bytes(&self) -> &[u8] {
        self
    }
    #[inline]
    fn bytes_mut(&mut self) -> &mut [u8] {
        self
    }
}

impl Storage for &mut [u8] {
    #[inline]
    fn bytes(&self) -> &[u8] {
        self
    }
    #[inline]
    fn bytes_mut(&mut self) -> &mut [u8] {
        self
    }
}

/// Bytes that a [`Growing`] storage holds without the heap.
#[cfg(feature = "alloc")]
const INLINE: usize = 512;

/// A storage that grows on the heap when an event needs it, and gives a large buffer back when that event is done.
///
/// It starts with 512 bytes of its own, so that ordinary events never allocate. When memory cannot be had, the event
/// is too long; nothing aborts.
#[cfg(feature = "alloc")]
#[derive(Clone, Debug, Default)]
pub struct Growing {
    buffer: smallvec::SmallVec<[u8; INLINE]>,
}

#[cfg(feature = "alloc")]
impl Growing {
    /// An empty storage. [`Limits::max_event_len`](crate::Limits::max_event_len) bounds what it comes to.
    pub fn new() -> Self {
        let mut buffer = smallvec::SmallVec::new();
        buffer.resize(INLINE, 0);
        Growing { buffer }
    }
}

#[cfg(feature = "alloc")]
impl Storage for Growing {
    #[inline]
    fn bytes(&self) -> &[u8] {
        &self.buffer
    }
    #[inline]
    fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.buffer
    }
    fn max_len(&self) -> usize {
        usize::MAX
    }
    fn grow(&mut self, len: usize) -> bool {
        let have = self.buffer.len();
        if len <= have {
            return true;
        }
        // Doubling keeps the copying linear in what is kept.
        let want = len.max(have.saturating_mul(2)).max(INLINE);
        if self.buffer.try_reserve_exact(want - have).is_err() {
            return false;
        }
        self.buffer.resize(want, 0);
        true
    }
    fn shrink(&mut self, len: usize) {
        const LARGE: usize = 16 * 1024;
        let have = self.buffer.len();
        if have <= LARGE || len > LARGE / 2 {
            return;
        }
        let small = len.max(INLINE);
        let mut kept = smallvec::SmallVec::new();
        if kept.try_reserve_exact(small).is_ok() {
            kept.extend_from_slice(self.buffer.get(..small).unwrap_or(&[]));
            self.buffer = kept;
        }
    }
}
