//! The kernel of WebAssembly with `simd128`. The feature is a matter of the whole module: a target that has it has it
//! everywhere.
#![allow(unsafe_code)]

use super::block64::{Block, Kernel};
use core::arch::wasm32::{
    i8x16_lt, i8x16_splat, u8x16_bitmask, u8x16_eq, u8x16_ge, u8x16_lt, u8x16_splat, v128, v128_load, v128_or,
};

/// See the module.
pub(crate) struct Wasm;

impl Kernel for Wasm {
    type Narrow = Narrow;
    type Wide = Wide;
    const MASKED_UTF8: bool = true;
}

/// One bit a byte, the top one of each.
#[inline(always)]
fn mask(vector: v128) -> u64 {
    u64::from(u8x16_bitmask(vector))
}

#[inline(always)]
fn eq(vector: v128, byte: u8) -> v128 {
    u8x16_eq(vector, u8x16_splat(byte))
}

#[inline(always)]
fn eq_folded(vector: v128, byte: u8) -> v128 {
    u8x16_eq(v128_or(vector, u8x16_splat(0x20)), u8x16_splat(byte))
}

#[inline(always)]
fn at_least(vector: v128, bound: u8) -> v128 {
    u8x16_ge(vector, u8x16_splat(bound))
}

#[inline(always)]
fn control(vector: v128) -> v128 {
    u8x16_lt(vector, u8x16_splat(0x20))
}

/// Below 0x20 as signed bytes: controls, and all from 0x80 on.
#[inline(always)]
fn odd(vector: v128) -> v128 {
    i8x16_lt(vector, i8x16_splat(0x20))
}

/// 16 bytes in one vector.
#[derive(Clone, Copy)]
pub(crate) struct Narrow(v128);

impl Block<16> for Narrow {
    #[inline(always)]
    fn load(bytes: &[u8; 16]) -> Self {
        // SAFETY: the pointer is to 16 readable bytes, and the load needs no alignment.
        Narrow(unsafe { v128_load(bytes.as_ptr().cast()) })
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
}

/// 64 bytes in four vectors.
#[derive(Clone, Copy)]
pub(crate) struct Wide(v128, v128, v128, v128);

impl Wide {
    #[inline(always)]
    fn masks(self, of: impl Fn(v128) -> v128) -> u64 {
        mask(of(self.0)) | mask(of(self.1)) << 16 | mask(of(self.2)) << 32 | mask(of(self.3)) << 48
    }
}

impl Block<64> for Wide {
    #[inline(always)]
    fn load(bytes: &[u8; 64]) -> Self {
        let at = bytes.as_ptr();
        // SAFETY: the four loads read bytes 0..16, 16..32, 32..48 and 48..64 of the 64, and need no alignment.
        unsafe {
            Wide(
                v128_load(at.cast()),
                v128_load(at.add(16).cast()),
                v128_load(at.add(32).cast()),
                v128_load(at.add(48).cast()),
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
}
