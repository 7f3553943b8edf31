//! The kernel for 64-bit Arm: NEON, which every such target with hardware floats has. As with SSE2, there is no
//! detection at run time, and no function needs a target feature attribute.
#![allow(unsafe_code)]

use super::block64::Kernel;
use super::utf8_masks::Check;
use super::vector::{Narrow, Vector, Wide};
use core::arch::aarch64::{
    uint8x16_t, vandq_u8, vceqq_u8, vcgeq_u8, vcltq_s8, vcltq_u8, vdupq_n_s8, vdupq_n_u8, veorq_u8, vgetq_lane_u64,
    vld1q_u8, vminq_u8, vorrq_u8, vpaddq_u8, vreinterpretq_s8_u8, vreinterpretq_u64_u8,
};

/// The kernel for NEON.
pub(crate) struct Neon;

impl Kernel for Neon {
    type Narrow = Narrow<uint8x16_t>;
    type Wide = Wide<uint8x16_t>;
    type Utf8 = Check;
    const MASKED_UTF8: bool = true;
    const IS_BRIEF: bool = true;
}

/// Returns one bit for each byte; each byte must be all ones or all zeros. NEON has no instruction for that. Instead,
/// each byte keeps the bit of its position in a group of eight, and three rounds of pairwise sums gather a group into
/// one byte.
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

impl Vector for uint8x16_t {
    #[inline(always)]
    fn load(bytes: &[u8; 16]) -> Self {
        // SAFETY: the pointer is to 16 readable bytes, and the load needs no alignment. NEON as in `gather`.
        unsafe { vld1q_u8(bytes.as_ptr()) }
    }
    #[inline(always)]
    fn eq(self, byte: u8) -> Self {
        // SAFETY: NEON as in `gather`.
        unsafe { vceqq_u8(self, splat(byte)) }
    }
    #[inline(always)]
    fn eq_folded(self, byte: u8) -> Self {
        // SAFETY: NEON as in `gather`.
        unsafe { vceqq_u8(vorrq_u8(self, splat(0x20)), splat(byte)) }
    }
    #[inline(always)]
    fn at_least(self, bound: u8) -> Self {
        // SAFETY: NEON as in `gather`.
        unsafe { vcgeq_u8(self, splat(bound)) }
    }
    #[inline(always)]
    fn control(self) -> Self {
        // SAFETY: NEON as in `gather`.
        unsafe { vcltq_u8(self, splat(0x20)) }
    }
    #[inline(always)]
    fn high(self) -> Self {
        self.at_least(0x80)
    }
    /// Below 0x20 as signed bytes: control characters, and bytes of at least 0x80.
    #[inline(always)]
    fn odd(self) -> Self {
        // SAFETY: NEON as in `gather`.
        unsafe { vcltq_s8(vreinterpretq_s8_u8(self), vdupq_n_s8(0x20)) }
    }
    #[inline(always)]
    fn or(self, other: Self) -> Self {
        // SAFETY: NEON as in `gather`.
        unsafe { vorrq_u8(self, other) }
    }
    #[inline(always)]
    fn xor(self, byte: u8) -> Self {
        // SAFETY: NEON as in `gather`.
        unsafe { veorq_u8(self, splat(byte)) }
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        // SAFETY: NEON as in `gather`.
        unsafe { vminq_u8(self, other) }
    }
    #[inline(always)]
    fn mask(self) -> u64 {
        let none = splat(0);
        gather([self, none, none, none])
    }
    #[inline(always)]
    fn masks(of: [Self; 4]) -> u64 {
        gather(of)
    }
}
