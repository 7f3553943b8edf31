//! Memory for what the parser keeps between slices: the last event ID, and an event that a slice cut.

#[cfg(feature = "alloc")]
use crate::visits::visit;

mod sealed {
    /// Keeps the trait closed, so that methods can be added.
    pub trait Sealed {}
    impl<const N: usize> Sealed for [u8; N] {}
    impl Sealed for &mut [u8] {}
    impl Sealed for super::Movable<'_> {}
    #[cfg(feature = "alloc")]
    impl Sealed for super::Growing {}
}

/// Memory for a cut event: an inline array, a borrowed slice, or (feature `alloc`) a [`Growing`] buffer.
///
/// Once the stream sent an ID, two slots as long as the longest ID so far stay reserved: for the last event ID and for
/// the next.
///
/// The trait is sealed. The capacity of a storage limits the length of every event, whether the event was cut or not.
pub trait Storage: sealed::Sealed {
    /// Returns the bytes usable now.
    fn bytes(&self) -> &[u8];
    /// Returns the bytes usable now, mutably.
    fn bytes_mut(&mut self) -> &mut [u8];
    /// Returns the largest length that the storage can reach, in bytes.
    fn max_len(&self) -> usize {
        self.bytes().len()
    }
    /// Makes at least `len` bytes usable and keeps the existing ones in front. Returns `false` if it cannot.
    fn grow(&mut self, len: usize) -> bool {
        len <= self.bytes().len()
    }
    /// Announces that only the first `len` bytes are still needed: the storage may release a large buffer.
    fn shrink(&mut self, len: usize) {
        let _ = len;
    }
    /// Whether the caller can move the contents to a larger storage: [`Movable`].
    fn can_move(&self) -> bool {
        false
    }
    /// Returns the largest length for which [`grow`](Storage::grow) failed since the last call, if the contents can be
    /// moved.
    fn take_wanted(&mut self) -> Option<usize> {
        None
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

/// A borrowed slice whose owner can move the contents to a larger one on request.
///
/// If an event does not fit, [`Machine::try_step`](crate::stream::Machine::try_step) does nothing and returns the
/// length that it needs, instead of reporting the event as too long. So only
/// [`Limits::max_event_len`](crate::Limits::max_event_len) limits an event.
///
/// ```
/// use deltawire::stream::{Found, Machine};
/// use deltawire::{Config, Movable};
///
/// let mut machine = Machine::new(Config::default());
/// let (mut small, mut large) = ([0; 4], [0; 64]);
/// let cut = b"data: longer than four";
/// let need = machine.try_step(&mut Movable::new(&mut small, true), cut).unwrap_err();
/// assert!(need.len <= large.len() && machine.relocate(&small, &mut large, false));
/// let step = machine.try_step(&mut Movable::new(&mut large, true), cut).unwrap();
/// assert_eq!((step.consumed, step.found), (cut.len(), Found::NeedMore));
/// ```
#[derive(Debug)]
pub struct Movable<'a> {
    bytes: &'a mut [u8],
    can_move: bool,
    wanted: Option<usize>,
}

impl<'a> Movable<'a> {
    /// Wraps a slice. If `can_move` is false, it behaves like `&mut [u8]`.
    pub fn new(bytes: &'a mut [u8], can_move: bool) -> Self {
        Movable { bytes, can_move, wanted: None }
    }
}

impl Storage for Movable<'_> {
    #[inline]
    fn bytes(&self) -> &[u8] {
        self.bytes
    }
    #[inline]
    fn bytes_mut(&mut self) -> &mut [u8] {
        self.bytes
    }
    fn max_len(&self) -> usize {
        if self.can_move {
            usize::MAX
        } else {
            self.bytes.len()
        }
    }
    fn grow(&mut self, len: usize) -> bool {
        let fits = len <= self.bytes.len();
        if !fits && self.can_move {
            self.wanted = Some(self.wanted.unwrap_or(0).max(len));
        }
        fits
    }
    #[inline]
    fn can_move(&self) -> bool {
        self.can_move
    }
    #[inline]
    fn take_wanted(&mut self) -> Option<usize> {
        self.wanted.take()
    }
}

/// Bytes that a [`Growing`] storage holds without allocating.
#[cfg(feature = "alloc")]
const INLINE: usize = 512;

/// A storage that grows on the heap when an event needs it, and releases a large buffer after that event.
///
/// It starts with 512 bytes inline, so ordinary events never allocate. It at least doubles when it grows, so its buffer
/// is less than twice as long as the event and the IDs need; while it grows, the old buffer, at most half as long,
/// exists too. If an allocation fails, the event is too long; nothing aborts.
#[cfg(feature = "alloc")]
#[derive(Clone, Debug, Default)]
pub struct Growing {
    buffer: smallvec::SmallVec<[u8; INLINE]>,
}

#[cfg(feature = "alloc")]
impl Growing {
    /// Creates an empty storage. [`Limits::max_event_len`](crate::Limits::max_event_len) limits its growth.
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
        visit!(have);
        // Doubling keeps the total cost of copying linear.
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    use super::*;

    #[test]
    fn fixed_storages_do_not_grow() {
        fn check(mut storage: impl Storage, can: usize) {
            assert_eq!((storage.bytes().len(), storage.max_len()), (can, can));
            for (len, fits) in [(0, true), (can - 1, true), (can, true), (can + 1, false)] {
                assert_eq!(storage.grow(len), fits);
                storage.shrink(0);
                assert_eq!((storage.bytes().len(), storage.bytes_mut().len()), (can, can));
            }
        }
        check([0; 9], 9);
        check(&mut [0; 9][..], 9);
        check(Movable::new(&mut [0; 9], false), 9);
    }

    #[test]
    fn movable_reports_the_largest_failed_request() {
        for can_move in [false, true] {
            let mut memory = [0; 9];
            let mut storage = Movable::new(&mut memory, can_move);
            assert_eq!(storage.can_move(), can_move);
            assert_eq!(storage.max_len(), if can_move { usize::MAX } else { 9 });
            assert!(storage.grow(9));
            assert_eq!(storage.take_wanted(), None);
            for len in [12, 40, 10] {
                assert!(!storage.grow(len));
            }
            assert!(storage.grow(3));
            assert_eq!(storage.take_wanted(), can_move.then_some(40));
            assert_eq!(storage.take_wanted(), None);
        }
    }

    #[cfg(feature = "alloc")]
    #[test]
    fn growing_at_least_doubles_and_keeps_its_bytes() {
        let mut storage = Growing::new();
        assert_eq!(storage.bytes(), [0; INLINE]);
        storage.bytes_mut().fill(7);
        for (asked, len) in [(INLINE, 512), (1500, 1500), (1501, 3000), (3000, 3000)] {
            assert!(storage.grow(asked));
            assert_eq!(storage.bytes().len(), len);
            assert!(storage.bytes().iter().enumerate().all(|(at, &byte)| byte == if at < INLINE { 7 } else { 0 }));
            // `grow` asks the allocator for exactly this length; the allocator may refuse.
            assert_eq!(storage.buffer.capacity(), len);
        }
        assert!(!storage.grow(usize::MAX), "there is no such memory");
        assert_eq!(storage.bytes().len(), 3000);
        assert!(Growing::default().grow(1), "one that has nothing, too");
    }

    #[cfg(feature = "alloc")]
    #[test]
    fn growing_releases_only_large_and_mostly_unused_buffers() {
        const LARGE: usize = 16 * 1024;
        for (len, needed, left) in [
            (LARGE, 0, LARGE),
            (LARGE + 1, 0, INLINE),
            (LARGE + 1, 600, 600),
            (LARGE + 1, LARGE / 2, LARGE / 2),
            (LARGE + 1, LARGE / 2 + 1, LARGE + 1),
            (LARGE + 1, LARGE + 1, LARGE + 1),
            (9 * LARGE, 20, INLINE),
        ] {
            let mut storage = Growing::new();
            assert!(storage.grow(len));
            storage.bytes_mut().fill(7);
            storage.shrink(needed);
            assert_eq!(storage.bytes().len(), left, "{len}, of which {needed} are needed");
            assert!(storage.bytes()[..needed].iter().all(|&byte| byte == 7));
        }
    }
}
