//! Vectors of 16 bytes on x86-64: SSE2, which every such target with hardware floats has. No function needs a target
//! feature attribute, so everything can be inlined.
#![allow(unsafe_code)]

use super::fixed;
use super::vector::Vector;
use core::arch::x86_64::{
    __m128i, _mm_and_si128, _mm_cmpeq_epi8, _mm_cmplt_epi8, _mm_loadu_si128, _mm_min_epu8, _mm_movemask_epi8,
    _mm_or_si128, _mm_set1_epi8, _mm_subs_epu8, _mm_xor_si128,
};

/// As [`Kernel::same`](super::block64::Kernel::same).
#[inline(always)]
pub(super) fn same(a: &[u8], b: &[u8]) -> bool {
    let Some(last) = a.len().checked_sub(16).filter(|_| a.len() == b.len()) else {
        return fixed::same_aside(a, b);
    };
    let (a, b) = (a.as_ptr(), b.as_ptr());
    // SAFETY: `at` is at most `last`, so both slices have 16 bytes from `at` on. Unaligned loads are allowed. SSE2 as
    // in `splat`.
    let row =
        |at: usize| unsafe { _mm_cmpeq_epi8(_mm_loadu_si128(a.add(at).cast()), _mm_loadu_si128(b.add(at).cast())) };
    // The last 16 bytes, some of which the loop below may compare again.
    let mut all = row(last);
    let mut at = 0;
    while at + 16 < last {
        all = and(all, and(row(at), row(at + 16)));
        at += 32;
    }
    if at < last {
        all = and(all, row(at));
    }
    all.mask() == 0xffff
}

/// As [`Kernel::differ`](super::block64::Kernel::differ), of 16 bytes.
#[inline(always)]
pub(super) fn differ(a: &[u8], b: &[u8]) -> u32 {
    let (Some(a), Some(b)) = (a.first_chunk(), b.first_chunk()) else { return u32::MAX };
    // SAFETY: as in `splat`.
    let same = unsafe { _mm_cmpeq_epi8(Vector::load(a), Vector::load(b)) };
    same.mask() as u32 ^ 0xffff
}

#[inline(always)]
fn splat(byte: u8) -> __m128i {
    // SAFETY: SSE2 is enabled for the whole target (this module's `cfg`).
    unsafe { _mm_set1_epi8(byte as i8) }
}

#[inline(always)]
fn and(a: __m128i, b: __m128i) -> __m128i {
    // SAFETY: as in `splat`.
    unsafe { _mm_and_si128(a, b) }
}

impl Vector for __m128i {
    #[inline(always)]
    fn load(bytes: &[u8; 16]) -> Self {
        // SAFETY: the pointer is to 16 readable bytes, and the load needs no alignment. SSE2 as in `splat`.
        unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
    }
    #[inline(always)]
    fn eq(self, byte: u8) -> Self {
        // SAFETY: as in `splat`.
        unsafe { _mm_cmpeq_epi8(self, splat(byte)) }
    }
    #[inline(always)]
    fn eq_folded(self, byte: u8) -> Self {
        self.or(splat(0x20)).eq(byte)
    }
    /// [`mask`](Vector::mask) reads only the top bits.
    #[inline(always)]
    fn at_least(self, bound: u8) -> Self {
        // SAFETY: as in `splat`.
        unsafe { _mm_subs_epu8(self, splat(bound.wrapping_sub(0x80))) }
    }
    #[inline(always)]
    fn control(self) -> Self {
        // SAFETY: as in `splat`.
        unsafe { _mm_cmpeq_epi8(_mm_min_epu8(self, splat(0x1f)), self) }
    }
    /// [`mask`](Vector::mask) reads only the top bits.
    #[inline(always)]
    fn high(self) -> Self {
        self
    }
    /// Below 0x20 as signed bytes: control characters, and bytes of at least 0x80.
    #[inline(always)]
    fn odd(self) -> Self {
        // SAFETY: as in `splat`.
        unsafe { _mm_cmplt_epi8(self, splat(0x20)) }
    }
    #[inline(always)]
    fn or(self, other: Self) -> Self {
        // SAFETY: as in `splat`.
        unsafe { _mm_or_si128(self, other) }
    }
    #[inline(always)]
    fn xor(self, byte: u8) -> Self {
        // SAFETY: as in `splat`.
        unsafe { _mm_xor_si128(self, splat(byte)) }
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        // SAFETY: as in `splat`.
        unsafe { _mm_min_epu8(self, other) }
    }
    #[inline(always)]
    fn mask(self) -> u64 {
        // SAFETY: as in `splat`.
        u64::from(unsafe { _mm_movemask_epi8(self) } as u16)
    }
}
