//! The kernel for x86-64: SSE2, and for long work the kernel for AVX2 if the processor has it.
#![allow(unsafe_code)]

use super::block64::{aside, Kernel, Task};
use super::utf8_masks::Check;
use super::vector::{Narrow, Wide};
use super::{avx2, level, sse2};
use core::arch::x86_64::__m128i;

/// The kernel for x86-64.
pub(crate) struct X86;

impl Kernel for X86 {
    type Narrow = Narrow<__m128i>;
    type Wide = Wide<__m128i>;
    type Utf8 = Check;
    const MASKED_UTF8: bool = true;
    const IS_BRIEF: bool = true;

    const BLOCK: usize = 16;

    #[inline(always)]
    fn same(a: &[u8], b: &[u8]) -> bool {
        sse2::same(a, b)
    }

    #[inline(always)]
    fn differ(a: &[u8], b: &[u8]) -> u32 {
        sse2::differ(a, b)
    }

    #[inline(always)]
    fn best<T: Task>(task: T) -> T::Out {
        if level::has_avx2() {
            // SAFETY: the processor has what AVX2's kernel needs.
            unsafe { avx2::run(task) }
        } else {
            aside::<Self, T>(task)
        }
    }
}
