//! The kernel of 64-bit Arm: NEON, which every such target with hardware floats has. As with SSE2, no feature is looked up
//! at run time, and none is enabled by attribute.
#![allow(unsafe_code)]

use super::block64::{Block, Kernel};
use core::arch::aarch64::{
    uint8x16_t, vandq_u8, vceqq_u8, vcgeq_u8, vcltq_s8, vcltq_u8, vdupq_n_s8, vdupq_n_u8, vgetq_lane_u64, vld1q_u8,
    vorrq_u8, vpaddq_u8, vreinterpretq_s8_u8, vreinterpretq_u64_u8,
};

/// See the module.
pub(crate) struct Neon;

impl Kernel for Neon {
    type Narrow = Narrow;
    type Wide = Wide;
    const MASKED_UTF8: bool = true;
}

/// One bit a byte, of bytes that are all ones or all zeros. NEON has no instruction for it: each byte keeps the bit of its
/// place in a group of eight, and sums of neighbours, three times over, bring a group into a byte.
#[inline(always)]
fn gather(parts: [uint8x16_t; 4]) -> u64 {
    const PLACES: [u8; 16] = [1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128];
    let [a, b, c, d] = parts;
    // SAFETY: NEON is enabled for the whole target (this module's `cfg`), and the load reads the 16 bytes of `PLACES`.
    unsafe {
        let places = vld1q_u8(PLACES.as_ptr());
        let low = vpaddq_u8(vandq_u8(a, places), vandq_u8(b, places));
        let high = vpaddq_u8(vandq_u8(c, places), vandq_u8(d, places));
        let sums = vpaddq_u8(low, high);
        vgetq_lane_u64::<0>(vreinterpretq_u64_u8(vpaddq_u8(sums, sums)))
    }
}

#[inline(always)]
fn splat(byte: u8) -> uint8x16_t {
    // SAFETY: NEON as in `gather`.
    unsafe { vdupq_n_u8(byte) }
}

#[inline(always)]
fn eq(vector: uint8x16_t, byte: u8) -> uint8x16_t {
    // SAFETY: NEON as in `gather`.
    unsafe { vceqq_u8(vector, splat(byte)) }
}

#[inline(always)]
fn eq_folded(vector: uint8x16_t, byte: u8) -> uint8x16_t {
    // SAFETY: NEON as in `gather`.
    unsafe { vceqq_u8(vorrq_u8(vector, splat(0x20)), splat(byte)) }
}

#[inline(always)]
fn at_least(vector: uint8x16_t, bound: u8) -> uint8x16_t {
    // SAFETY: NEON as in `gather`.
    unsafe { vcgeq_u8(vector, splat(bound)) }
}

#[inline(always)]
fn control(vector: uint8x16_t) -> uint8x16_t {
    // SAFETY: NEON as in `gather`.
    unsafe { vcltq_u8(vector, splat(0x20)) }
}

#[inline(always)]
fn high(vector: uint8x16_t) -> uint8x16_t {
    at_least(vector, 0x80)
}

/// Below 0x20 as signed bytes: controls, and all from 0x80 on.
#[inline(always)]
fn odd(vector: uint8x16_t) -> uint8x16_t {
    // SAFETY: NEON as in `gather`.
    unsafe { vcltq_s8(vreinterpretq_s8_u8(vector), vdupq_n_s8(0x20)) }
}

/// 16 bytes in one vector.
#[derive(Clone, Copy)]
pub(crate) struct Narrow(uint8x16_t);

/// The mask of one vector.
#[inline(always)]
fn mask(vector: uint8x16_t) -> u64 {
    let none = splat(0);
    gather([vector, none, none, none])
}

impl Block<16> for Narrow {
    #[inline(always)]
    fn load(bytes: &[u8; 16]) -> Self {
        // SAFETY: the pointer is to 16 readable bytes, and the load needs no alignment. NEON as in `gather`.
        Narrow(unsafe { vld1q_u8(bytes.as_ptr()) })
    }
    #[inline(always)]
    fn eq(self, byte: u8) -> u64 {
        mask(eq(self.0, byte))
    }
    #[inline(always)]
    fn eq_folded(self, byte: u8) -> u64 {
        mask(eq_folded(self.0, byte))
    }
    #[inline(always)]
    fn at_least(self, bound: u8) -> u64 {
        mask(at_least(self.0, bound))
    }
    #[inline(always)]
    fn control(self) -> u64 {
        mask(control(self.0))
    }
    #[inline(always)]
    fn high(self) -> u64 {
        mask(high(self.0))
    }
    #[inline(always)]
    fn odd(self) -> u64 {
        mask(odd(self.0))
    }
}

/// 64 bytes in four vectors.
#[derive(Clone, Copy)]
pub(crate) struct Wide([uint8x16_t; 4]);

impl Wide {
    #[inline(always)]
    fn masks(self, of: impl Fn(uint8x16_t) -> uint8x16_t) -> u64 {
        gather(self.0.map(of))
    }
}

impl Block<64> for Wide {
    #[inline(always)]
    fn load(bytes: &[u8; 64]) -> Self {
        let at = bytes.as_ptr();
        // SAFETY: the four loads read bytes 0..16, 16..32, 32..48 and 48..64 of the 64, and need no alignment. NEON as
        // in `gather`.
        Wide(unsafe { [vld1q_u8(at), vld1q_u8(at.add(16)), vld1q_u8(at.add(32)), vld1q_u8(at.add(48))] })
    }
    #[inline(always)]
    fn eq(self, byte: u8) -> u64 {
        self.masks(|vector| eq(vector, byte))
    }
    #[inline(always)]
    fn eq_folded(self, byte: u8) -> u64 {
        self.masks(|vector| eq_folded(vector, byte))
    }
    #[inline(always)]
    fn at_least(self, bound: u8) -> u64 {
        self.masks(|vector| at_least(vector, bound))
    }
    #[inline(always)]
    fn control(self) -> u64 {
        self.masks(control)
    }
    #[inline(always)]
    fn high(self) -> u64 {
        self.masks(high)
    }
    #[inline(always)]
    fn odd(self) -> u64 {
        self.masks(odd)
    }
}
