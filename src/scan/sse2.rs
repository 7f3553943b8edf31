//! Vectors of 16 bytes on x86-64: SSE2, which every such target with hardware floats has. No function of it needs a target
//! feature attribute, so that everything inlines.
#![allow(unsafe_code)]

use super::fixed::{self, Row};
use super::vector::Vector;
use core::arch::x86_64::{
    __m128i, _mm_and_si128, _mm_cmpeq_epi8, _mm_cmplt_epi8, _mm_loadu_si128, _mm_max_epu8, _mm_min_epu8,
    _mm_movemask_epi8, _mm_or_si128, _mm_set1_epi8, _mm_xor_si128,
};

/// As [`Kernel::begins`](super::block64::Kernel::begins).
#[inline(always)]
pub(super) fn begins(rows: &[Row], bytes: &[u8], len: usize) -> bool {
    let Some(last) = rows.len().checked_sub(1).filter(|last| *last < bytes.len() / Row::LEN) else {
        return fixed::begins_near_end(rows, bytes, len);
    };
    let (rows, bytes) = (rows.as_ptr(), bytes.as_ptr());
    // SAFETY: `at` is at most `last`, so row `at` is one of `rows`, each 16 bytes, and its bytes are within
    // `bytes`. Unaligned loads are allowed. SSE2 as in `splat`.
    let row = |at: usize| unsafe {
        _mm_cmpeq_epi8(_mm_loadu_si128(rows.add(at).cast()), _mm_loadu_si128(bytes.add(at * Row::LEN).cast()))
    };
    let mut all = splat(0xff);
    let mut at = 0;
    while at + 4 <= last {
        all = and(all, and(and(row(at), row(at + 1)), and(row(at + 2), row(at + 3))));
        at += 4;
    }
    // The last row, which may overlap rows already compared.
    if at < last {
        all = and(all, and(row(at), row(last - 1)));
        all = and(all, row(at + (last - at) / 2));
    }
    let beyond = u64::MAX << (len.wrapping_sub(last * Row::LEN) & 63);
    all.mask() == 0xffff && row(last).mask() | beyond == u64::MAX
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
    #[inline(always)]
    fn at_least(self, bound: u8) -> Self {
        // SAFETY: as in `splat`.
        unsafe { _mm_cmpeq_epi8(_mm_max_epu8(self, splat(bound)), self) }
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
