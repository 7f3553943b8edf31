//! The kernel of x86-64: SSE2, which every such target with hardware floats has. No feature is looked up at run time,
//! and none is enabled by attribute, so that all of it inlines.
#![allow(unsafe_code)]

use super::block64::{Block, Kernel};
use super::fixed::{self, Row};
use core::arch::x86_64::{
    __m128i, _mm_and_si128, _mm_cmpeq_epi8, _mm_cmplt_epi8, _mm_loadu_si128, _mm_max_epu8, _mm_min_epu8,
    _mm_movemask_epi8, _mm_or_si128, _mm_set1_epi8,
};

/// See the module.
pub(crate) struct Sse2;

impl Kernel for Sse2 {
    type Narrow = Narrow;
    type Wide = Wide;
    const MASKED_UTF8: bool = true;

    #[inline(always)]
    fn begins(rows: &[Row], bytes: &[u8], len: usize) -> bool {
        let Some(last) = rows.len().checked_sub(1).filter(|last| *last < bytes.len() / Row::LEN) else {
            return begins_near_end(rows, bytes, len);
        };
        let (rows, bytes) = (rows.as_ptr(), bytes.as_ptr());
        // SAFETY: `at` is at most `last`, so row `at` is one of the rows, 16 bytes each, and its bytes are among those given; no
        // load needs an alignment. SSE2 as in `mask`.
        let row = |at: usize| unsafe {
            _mm_cmpeq_epi8(_mm_loadu_si128(rows.add(at).cast()), _mm_loadu_si128(bytes.add(at * Row::LEN).cast()))
        };
        let mut all = splat(0xff);
        let mut at = 0;
        while at + 4 <= last {
            all = and(all, and(and(row(at), row(at + 1)), and(row(at + 2), row(at + 3))));
            at += 4;
        }
        // Those that are left, some of them once more.
        if at < last {
            all = and(all, and(row(at), row(last - 1)));
            all = and(all, row(at + (last - at) / 2));
        }
        let beyond = u64::MAX << (len.wrapping_sub(last * Row::LEN) & 63);
        mask(all) == 0xffff && mask(row(last)) | beyond == u64::MAX
    }
    #[inline(always)]
    fn same_16(a: &[u8; 16], b: &[u8; 16]) -> bool {
        mask(equal(Narrow::load(a).0, Narrow::load(b).0)) == 0xffff
    }
    #[inline(always)]
    fn same_64(a: &[u8; 64], b: &[u8; 64]) -> bool {
        let (a, b) = (Wide::load(a), Wide::load(b));
        let (front, back) = (and(equal(a.0, b.0), equal(a.1, b.1)), and(equal(a.2, b.2), equal(a.3, b.3)));
        mask(and(front, back)) == 0xffff
    }
}

/// [`Kernel::begins`] where fewer bytes are left than the rows have.
#[inline(never)]
fn begins_near_end(rows: &[Row], bytes: &[u8], len: usize) -> bool {
    fixed::begins_by_words(rows, bytes, len)
}

#[inline(always)]
fn equal(a: __m128i, b: __m128i) -> __m128i {
    // SAFETY: as in `mask`.
    unsafe { _mm_cmpeq_epi8(a, b) }
}

#[inline(always)]
fn and(a: __m128i, b: __m128i) -> __m128i {
    // SAFETY: as in `mask`.
    unsafe { _mm_and_si128(a, b) }
}

/// One bit a byte, the top one of each.
#[inline(always)]
fn mask(vector: __m128i) -> u64 {
    // SAFETY: SSE2 is enabled for the whole target (this module's `cfg`).
    u64::from(unsafe { _mm_movemask_epi8(vector) } as u16)
}

#[inline(always)]
fn splat(byte: u8) -> __m128i {
    // SAFETY: as in `mask`.
    unsafe { _mm_set1_epi8(byte as i8) }
}

#[inline(always)]
fn eq(vector: __m128i, byte: u8) -> __m128i {
    // SAFETY: as in `mask`.
    unsafe { _mm_cmpeq_epi8(vector, splat(byte)) }
}

#[inline(always)]
fn eq_folded(vector: __m128i, byte: u8) -> __m128i {
    // SAFETY: as in `mask`.
    unsafe { _mm_cmpeq_epi8(_mm_or_si128(vector, splat(0x20)), splat(byte)) }
}

#[inline(always)]
fn at_least(vector: __m128i, bound: u8) -> __m128i {
    // SAFETY: as in `mask`.
    unsafe { _mm_cmpeq_epi8(_mm_max_epu8(vector, splat(bound)), vector) }
}

#[inline(always)]
fn control(vector: __m128i) -> __m128i {
    // SAFETY: as in `mask`.
    unsafe { _mm_cmpeq_epi8(_mm_min_epu8(vector, splat(0x1f)), vector) }
}

/// Below 0x20 as signed bytes: controls, and all from 0x80 on.
#[inline(always)]
fn odd(vector: __m128i) -> __m128i {
    // SAFETY: as in `mask`.
    unsafe { _mm_cmplt_epi8(vector, splat(0x20)) }
}

/// A quote, a backslash, or odd.
#[inline(always)]
fn stops(vector: __m128i) -> __m128i {
    // SAFETY: as in `mask`.
    unsafe { _mm_or_si128(_mm_or_si128(eq(vector, b'"'), eq(vector, b'\\')), odd(vector)) }
}

/// 16 bytes in one vector.
#[derive(Clone, Copy)]
pub(crate) struct Narrow(__m128i);

impl Block<16> for Narrow {
    #[inline(always)]
    fn load(bytes: &[u8; 16]) -> Self {
        // SAFETY: the pointer is to 16 readable bytes, and the load needs no alignment. SSE2 as in `mask`.
        Narrow(unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) })
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
        mask(self.0)
    }
    #[inline(always)]
    fn odd(self) -> u64 {
        mask(odd(self.0))
    }
    #[inline(always)]
    fn stops(self) -> u64 {
        mask(stops(self.0))
    }
}

/// 64 bytes in four vectors.
#[derive(Clone, Copy)]
pub(crate) struct Wide(__m128i, __m128i, __m128i, __m128i);

impl Wide {
    #[inline(always)]
    fn masks(self, of: impl Fn(__m128i) -> __m128i) -> u64 {
        mask(of(self.0)) | mask(of(self.1)) << 16 | mask(of(self.2)) << 32 | mask(of(self.3)) << 48
    }
}

impl Block<64> for Wide {
    #[inline(always)]
    fn load(bytes: &[u8; 64]) -> Self {
        let at = bytes.as_ptr();
        // SAFETY: the four loads read bytes 0..16, 16..32, 32..48 and 48..64 of the 64, and need no alignment. SSE2 as
        // in `mask`.
        unsafe {
            Wide(
                _mm_loadu_si128(at.cast()),
                _mm_loadu_si128(at.add(16).cast()),
                _mm_loadu_si128(at.add(32).cast()),
                _mm_loadu_si128(at.add(48).cast()),
            )
        }
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
        self.masks(|vector| vector)
    }
    #[inline(always)]
    fn odd(self) -> u64 {
        self.masks(odd)
    }
    #[inline(always)]
    fn stops(self) -> u64 {
        self.masks(stops)
    }
}
