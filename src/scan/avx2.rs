//! The kernel for x86-64 with AVX2, BMI and LZCNT, chosen at run time ([`level`](super::level)).
//!
//! The compiler does not inline a function that is compiled for more than the target guarantees into a function that is
//! not. So a whole [`Task`] runs in such a function, [`run`], and everything of this kernel except [`Narrow`] is used
//! only there.
#![allow(unsafe_code)]

use super::block64::{Block, Kernel, Sum, Task, Utf8};
use super::fixed;
use super::vector::Narrow;
use core::arch::x86_64::{
    __m128i, __m256i, _mm256_alignr_epi8, _mm256_and_si256, _mm256_cmpeq_epi8, _mm256_cmpgt_epi8, _mm256_loadu_si256,
    _mm256_min_epu8, _mm256_movemask_epi8, _mm256_or_si256, _mm256_permute2x128_si256, _mm256_set1_epi8,
    _mm256_setr_epi8, _mm256_setzero_si256, _mm256_shuffle_epi8, _mm256_srli_epi16, _mm256_subs_epu8,
    _mm256_testz_si256, _mm256_xor_si256,
};

/// The kernel for AVX2.
pub(crate) struct Avx2;

/// Runs a task with this kernel.
///
/// # Safety
/// The processor has the features named in the attribute, which [`has_avx2`](super::level::has_avx2) checks.
#[inline(never)]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) unsafe fn run<T: Task>(task: T) -> T::Out {
    task.run::<Avx2>()
}

impl Kernel for Avx2 {
    type Narrow = Narrow<__m128i>;
    type Wide = Wide256;
    type Utf8 = Lookup;
    const MASKED_UTF8: bool = true;
    const IS_BRIEF: bool = true;

    const BLOCK: usize = 32;

    #[inline(always)]
    fn same(a: &[u8], b: &[u8]) -> bool {
        let Some(last) = a.len().checked_sub(32).filter(|_| a.len() == b.len()) else {
            return fixed::same_aside(a, b);
        };
        let (a, b) = (a.as_ptr(), b.as_ptr());
        // SAFETY: `at` is at most `last`, so both slices have 32 bytes from `at` on. The loads need no alignment. AVX2
        // as in `Wide256`.
        let differ = |at: usize| unsafe {
            _mm256_xor_si256(_mm256_loadu_si256(a.add(at).cast()), _mm256_loadu_si256(b.add(at).cast()))
        };
        // SAFETY: AVX2 as in `Wide256`.
        let or = |a, b| unsafe { _mm256_or_si256(a, b) };
        // The last 32 bytes, some of which the loop below may compare again.
        let mut all = differ(last);
        let mut at = 0;
        while at + 32 < last {
            all = or(all, or(differ(at), differ(at + 32)));
            at += 64;
        }
        if at < last {
            all = or(all, differ(at));
        }
        // SAFETY: AVX2 as in `Wide256`.
        unsafe { _mm256_testz_si256(all, all) != 0 }
    }

    #[inline(always)]
    fn differ(a: &[u8], b: &[u8]) -> u32 {
        let (Some(a), Some(b)) = (a.first_chunk::<32>(), b.first_chunk::<32>()) else { return u32::MAX };
        let (a, b) = (a.as_ptr(), b.as_ptr());
        // SAFETY: 32 bytes are readable, and the loads need no alignment. AVX2 as in `Wide256`.
        let same = unsafe { _mm256_cmpeq_epi8(_mm256_loadu_si256(a.cast()), _mm256_loadu_si256(b.cast())) };
        // SAFETY: AVX2 as in `Wide256`.
        !unsafe { _mm256_movemask_epi8(same) } as u32
    }

    #[inline(always)]
    fn best<T: Task>(task: T) -> T::Out {
        // SAFETY: this kernel is used only if the processor has its features.
        unsafe { run(task) }
    }
}

/// 64 bytes in two vectors.
///
/// Its functions, and those of [`Lookup`], need AVX2. They are private to `scan`, and used only within [`run`].
#[derive(Clone, Copy)]
pub(crate) struct Wide256([__m256i; 2]);

#[inline(always)]
fn splat(byte: u8) -> __m256i {
    // SAFETY: AVX2 as in `Wide256`.
    unsafe { _mm256_set1_epi8(byte as i8) }
}

impl Wide256 {
    /// Returns one bit for each byte: its top bit.
    #[inline(always)]
    fn tops(low: __m256i, high: __m256i) -> u64 {
        // SAFETY: AVX2 as in `Wide256`.
        let (low, high) = unsafe { (_mm256_movemask_epi8(low), _mm256_movemask_epi8(high)) };
        u64::from(low as u32) | u64::from(high as u32) << 32
    }
}

impl Block<64> for Wide256 {
    #[inline(always)]
    fn load(bytes: &[u8; 64]) -> Self {
        let bytes = bytes.as_ptr();
        // SAFETY: 64 bytes are readable, and the loads need no alignment. AVX2 as in `Wide256`.
        unsafe { Wide256([_mm256_loadu_si256(bytes.cast()), _mm256_loadu_si256(bytes.add(32).cast())]) }
    }
    #[inline(always)]
    fn eq(self, byte: u8) -> u64 {
        let Wide256([low, high]) = self;
        // SAFETY: AVX2 as in `Wide256`.
        unsafe { Wide256::tops(_mm256_cmpeq_epi8(low, splat(byte)), _mm256_cmpeq_epi8(high, splat(byte))) }
    }
    #[inline(always)]
    fn eq_folded(self, byte: u8) -> u64 {
        let Wide256([low, high]) = self;
        // SAFETY: AVX2 as in `Wide256`.
        unsafe { Wide256([_mm256_or_si256(low, splat(0x20)), _mm256_or_si256(high, splat(0x20))]).eq(byte) }
    }
    #[inline(always)]
    fn at_least(self, bound: u8) -> u64 {
        let Wide256([low, high]) = self;
        // SAFETY: AVX2 as in `Wide256`.
        unsafe {
            let below = splat(bound.wrapping_sub(0x80));
            Wide256::tops(_mm256_subs_epu8(low, below), _mm256_subs_epu8(high, below))
        }
    }
    #[inline(always)]
    fn control(self) -> u64 {
        let Wide256([low, high]) = self;
        // SAFETY: AVX2 as in `Wide256`.
        unsafe {
            Wide256::tops(
                _mm256_cmpeq_epi8(_mm256_min_epu8(low, splat(0x1f)), low),
                _mm256_cmpeq_epi8(_mm256_min_epu8(high, splat(0x1f)), high),
            )
        }
    }
    #[inline(always)]
    fn high(self) -> u64 {
        let Wide256([low, high]) = self;
        Wide256::tops(low, high)
    }
    /// Below 0x20 as signed bytes: control characters, and bytes of at least 0x80.
    #[inline(always)]
    fn odd(self) -> u64 {
        let Wide256([low, high]) = self;
        // SAFETY: AVX2 as in `Wide256`.
        unsafe { Wide256::tops(_mm256_cmpgt_epi8(splat(0x20), low), _mm256_cmpgt_epi8(splat(0x20), high)) }
    }
}

impl Sum for Wide256 {
    #[inline(always)]
    fn equal(self, byte: u8) -> Self {
        let Wide256([low, high]) = self;
        // SAFETY: AVX2 as in `Wide256`.
        unsafe { Wide256([_mm256_cmpeq_epi8(low, splat(byte)), _mm256_cmpeq_epi8(high, splat(byte))]) }
    }
    #[inline(always)]
    fn or(self, other: Self) -> Self {
        let (Wide256([low, high]), Wide256([its_low, its_high])) = (self, other);
        // SAFETY: AVX2 as in `Wide256`.
        unsafe { Wide256([_mm256_or_si256(low, its_low), _mm256_or_si256(high, its_high)]) }
    }
    #[inline(always)]
    fn lesser(self, other: Self) -> Self {
        let (Wide256([low, high]), Wide256([its_low, its_high])) = (self, other);
        // SAFETY: AVX2 as in `Wide256`.
        unsafe { Wide256([_mm256_min_epu8(low, its_low), _mm256_min_epu8(high, its_high)]) }
    }
    #[inline(always)]
    fn is_high(self) -> bool {
        let Wide256([low, high]) = self;
        // SAFETY: AVX2 as in `Wide256`.
        unsafe { _mm256_movemask_epi8(_mm256_or_si256(low, high)) != 0 }
    }
    #[inline(always)]
    fn note(self, byte: u8, noted: Self) -> Self {
        let Wide256([low, high]) = self;
        // SAFETY: AVX2 as in `Wide256`.
        unsafe { Wide256([_mm256_xor_si256(low, splat(byte)), _mm256_xor_si256(high, splat(byte))]) }.lesser(noted)
    }
    #[inline(always)]
    fn is_noted(noted: Self) -> bool {
        noted.equal(0).is_high()
    }
    /// A table lookup by the lower half of a byte returns the only line end with that lower half. The byte is a line
    /// end if it equals the result.
    #[inline(always)]
    fn line_ends(self) -> Self {
        // For a lower half that no line end has, the entry is a byte with another lower half, so nothing equals it.
        let mut ends = [0_u8; 16];
        (ends[0], ends[0x0a], ends[0x0d]) = (1, b'\n', b'\r');
        let Wide256([low, high]) = self;
        // SAFETY: AVX2 as in `Wide256`.
        unsafe { Wide256([_mm256_cmpeq_epi8(look_up(ends, low), low), _mm256_cmpeq_epi8(look_up(ends, high), high)]) }
    }
}

/// The UTF-8 check by tables (Keiser and Lemire, "Validating UTF-8 in less than one instruction per byte"): three
/// tables, for the two halves of a byte and for the upper half of the byte after it. An entry has one bit for each
/// fault that the half allows. A fault is present if all three entries have its bit.
#[derive(Clone, Copy)]
pub(crate) struct Lookup {
    /// The last vector of the last block that was looked up. Only blocks of ASCII came after it.
    before: __m256i,
    /// The top bits of the previous block: 0 if that was ASCII.
    high: i32,
}

impl Default for Lookup {
    #[inline(always)]
    fn default() -> Self {
        // SAFETY: AVX2 as in `Wide256`.
        Lookup { before: unsafe { _mm256_setzero_si256() }, high: 0 }
    }
}

impl Utf8<Wide256> for Lookup {
    /// A block of ASCII after a block of ASCII needs no lookup. After any other block it does, because it may cut a
    /// character. In a text that mixes both, a branch for each block would often be mispredicted.
    #[inline(always)]
    fn see(&mut self, block: Wide256) -> bool {
        let Wide256([low, high]) = block;
        // SAFETY: AVX2 as in `Wide256`.
        unsafe {
            let top = _mm256_movemask_epi8(_mm256_or_si256(low, high));
            if core::mem::replace(&mut self.high, top) | top == 0 {
                return false;
            }
            let faults = _mm256_or_si256(faults(low, self.before), faults(high, low));
            self.before = high;
            _mm256_testz_si256(faults, faults) == 0
        }
    }
    /// The last three bytes may contain the lead byte of a character that continues after them.
    #[inline(always)]
    fn is_complete(&self) -> bool {
        let last = -1;
        // SAFETY: AVX2 as in `Wide256`.
        unsafe {
            #[rustfmt::skip]
            let most = _mm256_setr_epi8(
                last, last, last, last, last, last, last, last, last, last, last, last, last, last, last, last,
                last, last, last, last, last, last, last, last, last, last, last, last, last,
                0xef_u8 as i8, 0xdf_u8 as i8, 0xbf_u8 as i8,
            );
            let cut = _mm256_subs_epu8(self.before, most);
            _mm256_testz_si256(cut, cut) != 0
        }
    }
}

/// Returns a vector that is not zero where `bytes`, which follow `before`, are ill-formed.
#[inline(always)]
fn faults(bytes: __m256i, before: __m256i) -> __m256i {
    const TOO_SHORT: u8 = 1 << 0;
    const TOO_LONG: u8 = 1 << 1;
    const OVERLONG_3: u8 = 1 << 2;
    const TOO_LARGE: u8 = 1 << 3;
    const SURROGATE: u8 = 1 << 4;
    const OVERLONG_2: u8 = 1 << 5;
    // Two faults share a bit: F4 to FF followed by 80 to 8F is too large, and F0 followed by 80 to 8F is overlong.
    const TOO_LARGE_8: u8 = 1 << 6;
    const OVERLONG_4: u8 = 1 << 6;
    const TWO_CONTINUATIONS: u8 = 1 << 7;
    /// Faults that do not depend on the lower half of the first byte.
    const ANY: u8 = TOO_SHORT | TOO_LONG | TWO_CONTINUATIONS;
    const F: u8 = ANY | TOO_LARGE | TOO_LARGE_8;

    let first_upper = [
        TOO_LONG,
        TOO_LONG,
        TOO_LONG,
        TOO_LONG,
        TOO_LONG,
        TOO_LONG,
        TOO_LONG,
        TOO_LONG,
        TWO_CONTINUATIONS,
        TWO_CONTINUATIONS,
        TWO_CONTINUATIONS,
        TWO_CONTINUATIONS,
        TOO_SHORT | OVERLONG_2,
        TOO_SHORT,
        TOO_SHORT | OVERLONG_3 | SURROGATE,
        TOO_SHORT | TOO_LARGE | TOO_LARGE_8 | OVERLONG_4,
    ];
    let first_lower = [
        ANY | OVERLONG_2 | OVERLONG_3 | OVERLONG_4,
        ANY | OVERLONG_2,
        ANY,
        ANY,
        ANY | TOO_LARGE,
        F,
        F,
        F,
        F,
        F,
        F,
        F,
        F,
        F | SURROGATE,
        F,
        F,
    ];
    const CONTINUES: u8 = TOO_LONG | OVERLONG_2 | TWO_CONTINUATIONS;
    let second_upper = [
        TOO_SHORT,
        TOO_SHORT,
        TOO_SHORT,
        TOO_SHORT,
        TOO_SHORT,
        TOO_SHORT,
        TOO_SHORT,
        TOO_SHORT,
        CONTINUES | OVERLONG_3 | TOO_LARGE_8 | OVERLONG_4,
        CONTINUES | OVERLONG_3 | TOO_LARGE,
        CONTINUES | SURROGATE | TOO_LARGE,
        CONTINUES | SURROGATE | TOO_LARGE,
        TOO_SHORT,
        TOO_SHORT,
        TOO_SHORT,
        TOO_SHORT,
    ];
    // SAFETY: AVX2 as in `Wide256`.
    unsafe {
        let between = _mm256_permute2x128_si256::<0x21>(before, bytes);
        let first = _mm256_alignr_epi8::<15>(bytes, between);
        let found = _mm256_and_si256(
            _mm256_and_si256(
                look_up(first_upper, upper(first)),
                look_up(first_lower, _mm256_and_si256(first, splat(0x0f))),
            ),
            look_up(second_upper, upper(bytes)),
        );
        // The third and fourth byte of a character follow another continuation byte, which is not a fault.
        let third = _mm256_subs_epu8(_mm256_alignr_epi8::<14>(bytes, between), splat(0xe0 - 0x80));
        let fourth = _mm256_subs_epu8(_mm256_alignr_epi8::<13>(bytes, between), splat(0xf0 - 0x80));
        _mm256_xor_si256(_mm256_and_si256(_mm256_or_si256(third, fourth), splat(0x80)), found)
    }
}

/// Returns the upper half of each byte.
#[inline(always)]
fn upper(bytes: __m256i) -> __m256i {
    // SAFETY: AVX2 as in `Wide256`.
    unsafe { _mm256_and_si256(_mm256_srli_epi16::<4>(bytes), splat(0x0f)) }
}

/// Returns the entry of the table for the lower half of each byte, or 0 for a byte of at least 0x80.
#[inline(always)]
fn look_up(table: [u8; 16], at: __m256i) -> __m256i {
    // A constant, which the compiler stores in the form in which it is loaded.
    let twice = [table, table];
    // SAFETY: 32 bytes are readable, and the load needs no alignment. AVX2 as in `Wide256`.
    unsafe { _mm256_shuffle_epi8(_mm256_loadu_si256(twice.as_ptr().cast()), at) }
}
