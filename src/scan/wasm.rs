//! The kernel for WebAssembly with `simd128`. The feature applies to a whole module, so no function needs an attribute.
#![allow(unsafe_code)]

use super::block64::Kernel;
use super::utf8_masks::Check;
use super::vector::{Narrow, Vector, Wide};
use core::arch::wasm32::{
    i8x16_lt, i8x16_splat, u8x16_bitmask, u8x16_eq, u8x16_ge, u8x16_lt, u8x16_min, u8x16_splat, v128, v128_load,
    v128_or, v128_xor,
};

/// The kernel for `simd128`.
pub(crate) struct Wasm;

impl Kernel for Wasm {
    type Narrow = Narrow<v128>;
    type Wide = Wide<v128>;
    type Utf8 = Check;
    const MASKED_UTF8: bool = true;
    const IS_BRIEF: bool = true;
}

impl Vector for v128 {
    #[inline(always)]
    fn load(bytes: &[u8; 16]) -> Self {
        // SAFETY: the pointer is to 16 readable bytes, and the load needs no alignment.
        unsafe { v128_load(bytes.as_ptr().cast()) }
    }
    #[inline(always)]
    fn eq(self, byte: u8) -> Self {
        u8x16_eq(self, u8x16_splat(byte))
    }
    #[inline(always)]
    fn eq_folded(self, byte: u8) -> Self {
        u8x16_eq(v128_or(self, u8x16_splat(0x20)), u8x16_splat(byte))
    }
    #[inline(always)]
    fn at_least(self, bound: u8) -> Self {
        u8x16_ge(self, u8x16_splat(bound))
    }
    #[inline(always)]
    fn control(self) -> Self {
        u8x16_lt(self, u8x16_splat(0x20))
    }
    /// [`mask`](Vector::mask) reads only the top bits.
    #[inline(always)]
    fn high(self) -> Self {
        self
    }
    /// Below 0x20 as signed bytes: control characters, and bytes of at least 0x80.
    #[inline(always)]
    fn odd(self) -> Self {
        i8x16_lt(self, i8x16_splat(0x20))
    }
    #[inline(always)]
    fn or(self, other: Self) -> Self {
        v128_or(self, other)
    }
    #[inline(always)]
    fn xor(self, byte: u8) -> Self {
        v128_xor(self, u8x16_splat(byte))
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        u8x16_min(self, other)
    }
    #[inline(always)]
    fn mask(self) -> u64 {
        u64::from(u8x16_bitmask(self))
    }
}
