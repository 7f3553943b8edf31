//! The fixed parts of similar events, between which the events differ, and the comparison of an event with them.
#![allow(unsafe_code)]

use super::block64::Kernel;
use super::fixed;
use crate::visits::visit;
use core::hint::assert_unchecked;
use core::slice::from_raw_parts;

/// The most holes. One part lies before each, and one after the last.
pub(crate) const HOLES: usize = 7;

/// The most bytes that all parts have.
pub(crate) const FIXED: usize = 416;

/// The bytes of an event outside its holes. They are compared without a check of each offset, so nothing else writes
/// these members: `all` is the sum of `lens`, and at most [`FIXED`].
#[derive(Clone, Debug)]
pub(crate) struct Parts {
    bytes: [u8; FIXED],
    /// How long the parts are.
    lens: [u16; HOLES + 1],
    all: u16,
    holes: u8,
}

/// What may be in the holes.
pub(crate) trait Fill {
    /// Returns the length of the value at the front of `bytes`, if the hole of this number may have it.
    fn fill<K: Kernel>(&mut self, hole: usize, bytes: &[u8]) -> Option<usize>;
    /// Takes the offset behind the `start` bytes of [`compare`](Parts::compare) at which the value in that hole ends.
    fn note(&mut self, hole: usize, end: usize);
}

impl Parts {
    /// One part without bytes.
    pub(crate) const EMPTY: Parts = Parts { bytes: [0; FIXED], lens: [0; HOLES + 1], all: 0, holes: 0 };

    /// Returns the bytes of all parts, one after the other.
    pub(crate) fn bytes(&self) -> &[u8] {
        self.bytes.get(..usize::from(self.all)).unwrap_or_default()
    }

    /// How many holes are between the parts.
    pub(crate) fn holes(&self) -> usize {
        self.holes.into()
    }

    /// Makes this one part without bytes.
    pub(crate) fn clear(&mut self) {
        (self.lens, self.all, self.holes) = ([0; HOLES + 1], 0, 0);
    }

    /// Appends bytes to the last part, if there is room.
    pub(crate) fn append(&mut self, more: &[u8]) -> Option<()> {
        let room = self.bytes.get_mut(usize::from(self.all)..)?.get_mut(..more.len())?;
        let len = self.lens.get_mut(usize::from(self.holes))?;
        room.iter_mut().zip(more).for_each(|(to, from)| *to = *from);
        (*len, self.all) = (len.wrapping_add(more.len() as u16), self.all.wrapping_add(more.len() as u16));
        Some(())
    }

    /// Ends the last part, which must have bytes: a hole follows, and then another part.
    pub(crate) fn end_part(&mut self) -> Option<()> {
        let holes = self.holes.wrapping_add(1);
        self.holes = Some(holes).filter(|holes| usize::from(*holes) <= HOLES)?;
        Some(())
    }

    /// Compares the front of `bytes` with the parts, of which the first has no bytes before `skip`, and the last `cut`
    /// bytes less. No part may be empty. `start` is the offset of `bytes` to which `fill` is told where each value is.
    /// Returns how many bytes match.
    #[inline(always)]
    pub(crate) fn compare<K: Kernel>(
        &self,
        bytes: &[u8],
        (start, skip, cut): (usize, usize, usize),
        fill: &mut impl Fill,
    ) -> Option<usize> {
        let holes = usize::from(self.holes);
        // How much longer the values may be.
        let mut room = bytes.len().checked_sub(usize::from(self.all).checked_sub(skip)?.checked_sub(cut)?)?;
        // SAFETY: `holes` is at most `HOLES`.
        let last = unsafe { *self.lens.get_unchecked(holes) };
        if skip > usize::from(*self.lens.first()?) || cut > usize::from(last) {
            return None;
        }
        let whole = bytes.as_ptr_range();
        let origin = whole.start.wrapping_add(start) as usize;
        let mut hole = 0_usize;
        // SAFETY: `part` and `here` are in `self.bytes` and in `bytes`, where the rest of the parts and, in `bytes`, `room`
        // more bytes follow. A block that ends at `floor` or behind it does not begin before the parts, so it is within
        // them, and within `bytes`, where as many bytes are before its end, and the values.
        unsafe {
            let (mut part, mut here) = (self.bytes.as_ptr().add(skip), whole.start);
            let floor = part.wrapping_add(K::BLOCK);
            loop {
                let mut len = usize::from(*self.lens.get_unchecked(hole));
                if hole == 0 {
                    len = len.wrapping_sub(skip);
                }
                if hole == holes {
                    len = len.wrapping_sub(cut);
                }
                visit!(len.max(K::BLOCK));
                (part, here) = (part.add(len), here.add(len));
                let same = if len >= K::BLOCK {
                    K::same(from_raw_parts(part.sub(len), len), from_raw_parts(here.sub(len), len))
                } else if part >= floor {
                    let (part, here) = (part.sub(K::BLOCK), here.sub(K::BLOCK));
                    let differ = K::differ(from_raw_parts(part, K::BLOCK), from_raw_parts(here, K::BLOCK));
                    differ.wrapping_shr(K::BLOCK.wrapping_sub(len) as u32) == 0
                } else {
                    fixed::same_aside(from_raw_parts(part.sub(len), len), from_raw_parts(here.sub(len), len))
                };
                if !same {
                    return None;
                }
                if hole == holes {
                    return Some((here as usize).wrapping_sub(whole.start as usize));
                }
                assert_unchecked(hole < HOLES);
                let rest = (whole.end as usize).wrapping_sub(here as usize);
                let value = fill.fill::<K>(hole, from_raw_parts(here, rest))?;
                room = room.checked_sub(value)?;
                here = here.add(value);
                fill.note(hole, (here as usize).wrapping_sub(origin));
                hole = hole.wrapping_add(1);
            }
        }
    }
}
