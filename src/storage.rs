//! Memory for what the parser keeps between slices: the last event ID, and an event that a slice cut.

use crate::visits::visit;
use core::cell::Cell;

mod sealed {
    /// Keeps the trait closed, so that methods can be added.
    pub trait Sealed {}
    impl<const N: usize> Sealed for [u8; N] {}
    impl Sealed for [u8] {}
    impl<S: Sealed + ?Sized> Sealed for &mut S {}
    impl Sealed for super::Movable<'_> {}
    #[cfg(feature = "alloc")]
    impl Sealed for super::Growing {}
    #[cfg(feature = "alloc")]
    impl Sealed for alloc::vec::Vec<u8> {}
    #[cfg(feature = "alloc")]
    impl<S: Sealed + ?Sized> Sealed for alloc::boxed::Box<S> {}
}

/// Memory for a cut event.
///
/// | Storage | an event is skipped ([`Event::TooLong`](crate::Event::TooLong)) if it is longer than |
/// | --- | --- |
/// | [`Growing`], `Vec<u8>` (feature `alloc`) | [`Limits::max_event_len`](crate::Limits::max_event_len), 1 MiB by default |
/// | `[u8; N]`, `[u8]` | the array or slice, less what is reserved for IDs |
///
/// `&mut S` and (feature `alloc`) `Box<S>` behave like `S`: `&mut [u8]`, `&mut [u8; 4096]`, `Box<[u8]>`,
/// `&mut Vec<u8>`. Prefer a storage that grows: events of real streams (a tool call sent whole, the final message of
/// some servers) are often longer than a few KiB.
///
/// Once the stream has sent an ID, the storage reserves two slots, each as long as the longest ID so far: one for the
/// last event ID and one for the next.
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
    #[doc(hidden)]
    fn can_move(&self) -> bool {
        false
    }
    /// Returns the largest length for which [`grow`](Storage::grow) failed since the last call, if the contents can be
    /// moved.
    #[doc(hidden)]
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

impl Storage for [u8] {
    #[inline]
    fn bytes(&self) -> &[u8] {
        self
    }
    #[inline]
    fn bytes_mut(&mut self) -> &mut [u8] {
        self
    }
}

/// Implements [`Storage`] for a pointer, by calls of the storage that it points to.
macro_rules! forward {
    ($pointer:ty) => {
        impl<S: Storage + ?Sized> Storage for $pointer {
            #[inline]
            fn bytes(&self) -> &[u8] {
                (**self).bytes()
            }
            #[inline]
            fn bytes_mut(&mut self) -> &mut [u8] {
                (**self).bytes_mut()
            }
            #[inline]
            fn max_len(&self) -> usize {
                (**self).max_len()
            }
            #[inline]
            fn grow(&mut self, len: usize) -> bool {
                (**self).grow(len)
            }
            #[inline]
            fn shrink(&mut self, len: usize) {
                (**self).shrink(len);
            }
            #[inline]
            fn can_move(&self) -> bool {
                (**self).can_move()
            }
            #[inline]
            fn take_wanted(&mut self) -> Option<usize> {
                (**self).take_wanted()
            }
        }
    };
}
forward!(&mut S);
#[cfg(feature = "alloc")]
forward!(alloc::boxed::Box<S>);

/// A borrowed slice whose owner can move the contents to a larger slice on request. The C interface uses it for blocks
/// of its callers' memory. In Rust, prefer a storage that grows.
///
/// If an event does not fit, [`Emitter::run`](crate::stream::Emitter::run) does nothing and returns the length that it
/// needs, instead of reporting the event as too long. So only [`Limits::max_event_len`](crate::Limits::max_event_len)
/// limits an event.
#[doc(hidden)]
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

/// Prints the length of the slice, not its contents.
impl core::fmt::Debug for Movable<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Movable").field("len", &self.bytes.len()).field("can_move", &self.can_move).finish()
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
#[derive(Clone)]
pub struct Growing {
    buffer: smallvec::SmallVec<[u8; INLINE]>,
}

#[cfg(feature = "alloc")]
impl Growing {
    /// Creates an empty storage. [`Limits::max_event_len`](crate::Limits::max_event_len) limits its growth.
    pub const fn new() -> Self {
        Growing { buffer: smallvec::SmallVec::from_const([0; INLINE]) }
    }
}

#[cfg(feature = "alloc")]
impl Default for Growing {
    fn default() -> Self {
        Growing::new()
    }
}

/// Prints the length of the buffer, not its contents.
#[cfg(feature = "alloc")]
impl core::fmt::Debug for Growing {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Growing").field("len", &self.buffer.len()).finish()
    }
}

/// Moves `len` bytes within `storage`; the ranges may overlap. Uses cells instead of `copy_within`, which can panic.
pub(crate) fn shift(storage: &mut [u8], from: usize, to: usize, len: usize) {
    visit!(len);
    let cells = Cell::from_mut(storage).as_slice_of_cells();
    let source = cells.get(from..from.saturating_add(len)).unwrap_or(&[]);
    let target = cells.get(to..to.saturating_add(len)).unwrap_or(&[]);
    let pairs = target.iter().zip(source);
    if to < from {
        pairs.for_each(|(to, from)| to.set(from.get()));
    } else {
        pairs.rev().for_each(|(to, from)| to.set(from.get()));
    }
}

/// Returns the new length of a buffer of `have` bytes that must hold `len`. Doubling keeps the total cost of copying
/// linear.
#[cfg(feature = "alloc")]
fn grown(have: usize, len: usize) -> usize {
    len.max(have.saturating_mul(2)).max(INLINE)
}

/// Returns the new length of a buffer of `have` bytes that only needs its first `len`, or `None` if the buffer stays as
/// it is: only a large and mostly unused buffer is released.
#[cfg(feature = "alloc")]
fn shrunk(have: usize, len: usize) -> Option<usize> {
    const LARGE: usize = 16 * 1024;
    (have > LARGE && len <= LARGE / 2).then(|| len.max(INLINE))
}

/// Implements [`Storage`] for a buffer that grows, and that is released after a large event.
#[cfg(feature = "alloc")]
macro_rules! grows {
    ($(#[$doc:meta])* $storage:ty, $self:ident => $buffer:expr) => {
        $(#[$doc])*
        impl Storage for $storage {
            #[inline]
            fn bytes(&$self) -> &[u8] {
                &$buffer
            }
            #[inline]
            fn bytes_mut(&mut $self) -> &mut [u8] {
                &mut $buffer
            }
            fn max_len(&$self) -> usize {
                usize::MAX
            }
            fn grow(&mut $self, len: usize) -> bool {
                let have = $buffer.len();
                if len <= have {
                    return true;
                }
                visit!(have);
                let want = grown(have, len);
                if $buffer.try_reserve_exact(want - have).is_err() {
                    return false;
                }
                $buffer.resize(want, 0);
                true
            }
            fn shrink(&mut $self, len: usize) {
                let Some(small) = shrunk($buffer.len(), len) else { return };
                let large = core::mem::take(&mut $buffer);
                if $buffer.try_reserve_exact(small).is_ok() {
                    $buffer.extend_from_slice(large.get(..small).unwrap_or(&[]));
                } else {
                    $buffer = large;
                }
            }
        }
    };
}
#[cfg(feature = "alloc")]
grows!(Growing, self => self.buffer);
#[cfg(feature = "alloc")]
grows!(
    /// Grows like [`Growing`], without the 512 bytes inline. Keeps its capacity until an event needs more than 16 KiB.
    alloc::vec::Vec<u8>, self => *self
);

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
        check(&mut [0; 9], 9);
        check(&mut &mut [0; 9], 9);
        check(Movable::new(&mut [0; 9], false), 9);
        #[cfg(feature = "alloc")]
        check(alloc::boxed::Box::<[u8]>::from([0; 9]), 9);
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
            // `grow` asks the allocator for exactly this length.
            assert_eq!(storage.buffer.capacity(), len);
        }
        assert!(!storage.grow(usize::MAX), "no memory is that large");
        assert_eq!(storage.bytes().len(), 3000);
    }

    #[cfg(feature = "alloc")]
    #[test]
    fn a_vec_grows_and_releases_as_growing_does() {
        use alloc::{boxed::Box, vec::Vec};
        let mut storage: (Growing, Vec<u8>) = (Growing::new(), Vec::new());
        assert!(storage.1.grow(1), "an empty vector grows too");
        assert_eq!((storage.1.len(), storage.1.max_len()), (INLINE, usize::MAX));
        for (grow, len) in
            [(true, 513), (true, 700), (false, 0), (true, 9000), (false, 1), (true, 40_000), (false, 600)]
        {
            let each: [&mut dyn Storage; 3] = [&mut storage.0, &mut storage.1, &mut Box::new(Vec::new())];
            let [growing, vec, _] = each;
            if grow {
                assert!(growing.grow(len) && vec.grow(len));
            } else {
                growing.shrink(len);
                vec.shrink(len);
            }
            vec.bytes_mut().fill(7);
            assert_eq!(growing.bytes().len(), vec.bytes().len(), "{len}");
        }
        assert_eq!(storage.1.capacity(), 600);
        assert!(!storage.1.grow(usize::MAX), "no memory is that large");
        // Capacity that the caller reserved is used first.
        let mut made = Vec::with_capacity(4096);
        let at: *const u8 = made.as_ptr();
        assert!(made.grow(4000));
        assert_eq!(made.as_ptr(), at);
    }

    #[cfg(feature = "alloc")]
    #[test]
    fn pointers_forward() {
        use alloc::{boxed::Box, vec::Vec};
        let mut vec = Vec::new();
        for storage in [&mut &mut vec as &mut dyn Storage, &mut Box::new(Growing::new())] {
            assert!(storage.grow(20_000) && storage.max_len() == usize::MAX);
            assert_eq!((storage.bytes().len(), storage.bytes_mut().len()), (20_000, 20_000));
            storage.shrink(1);
            assert_eq!(storage.bytes().len(), INLINE);
        }
        let mut memory = [0; 4];
        let mut movable = Movable::new(&mut memory, true);
        let pointer: &mut dyn Storage = &mut &mut movable;
        assert!(pointer.can_move() && !pointer.grow(9));
        assert_eq!((pointer.take_wanted(), pointer.take_wanted()), (Some(9), None));
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
            assert_eq!(storage.bytes().len(), left, "{needed} of {len} bytes are needed");
            assert!(storage.bytes()[..needed].iter().all(|&byte| byte == 7));
        }
    }
}
