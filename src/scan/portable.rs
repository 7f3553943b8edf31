//! The kernel for targets without a vector unit supported here: eight bytes at a time, in a 64-bit word. Tests compare
//! every other kernel with it.

use super::block64::{Block, Kernel, Sum};
use super::utf8_masks::Check;

/// The portable kernel.
pub(crate) struct Portable;

impl Kernel for Portable {
    type Narrow = Words<2>;
    type Wide = Words<8>;
    type Utf8 = Check;
    const MASKED_UTF8: bool = false;
    const IS_BRIEF: bool = false;
    const BY_BYTES: bool = cfg!(all(target_pointer_width = "32", not(target_arch = "wasm32")));
}

const LOW: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x8080_8080_8080_8080;

/// `8 * N` bytes, the first in the low byte of the first word.
#[derive(Clone, Copy)]
pub(crate) struct Words<const N: usize>([u64; N]);

/// Returns a word with `byte` in all eight positions.
#[inline(always)]
const fn splat(byte: u8) -> u64 {
    LOW * byte as u64
}

/// Sets the top bit of each zero byte, and no other bit. No borrow crosses a byte.
#[inline(always)]
const fn zero(word: u64) -> u64 {
    !(((word & !HIGH) + !HIGH) | word) & HIGH
}

/// Gathers the top bits of the eight bytes.
#[inline(always)]
const fn gather(tops: u64) -> u64 {
    // Bit 8i of the word moves to bit 56 + i. No two products overlap, so nothing carries.
    (tops >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56
}

impl<const N: usize> Words<N> {
    #[inline(always)]
    fn read(mut bytes: &[u8]) -> Self {
        let mut words = [0; N];
        for word in &mut words {
            if let Some((eight, rest)) = bytes.split_first_chunk::<8>() {
                *word = u64::from_le_bytes(*eight);
                bytes = rest;
            }
        }
        Words(words)
    }

    #[inline(always)]
    fn masks(self, tops: impl Fn(u64) -> u64) -> u64 {
        let mut shift = 0u32;
        self.0.into_iter().fold(0, |all, word| {
            let mask = all | gather(tops(word)).wrapping_shl(shift);
            shift += 8;
            mask
        })
    }

    #[inline(always)]
    fn eq(self, byte: u8) -> u64 {
        self.masks(|word| zero(word ^ splat(byte)))
    }

    #[inline(always)]
    fn eq_folded(self, byte: u8) -> u64 {
        self.masks(|word| zero((word | splat(0x20)) ^ splat(byte)))
    }

    #[inline(always)]
    fn at_least(self, bound: u8) -> u64 {
        self.masks(|word| {
            // Compare the low seven bits of the bytes that have the top bit.
            HIGH & word & (word | HIGH).wrapping_sub(splat(bound & 0x7f))
        })
    }

    #[inline(always)]
    fn control(self) -> u64 {
        self.masks(|word| zero(word & splat(0xe0)))
    }

    #[inline(always)]
    fn high(self) -> u64 {
        self.masks(|word| word & HIGH)
    }
}

impl Words<8> {
    #[inline(always)]
    fn both(mut self, other: Self, of: impl Fn(u64, u64) -> u64) -> Self {
        self.0.iter_mut().zip(other.0).for_each(|(word, other)| *word = of(*word, other));
        self
    }
}

impl Sum for Words<8> {
    #[inline(always)]
    fn equal(self, byte: u8) -> Self {
        Words(self.0.map(|word| zero(word ^ splat(byte))))
    }
    #[inline(always)]
    fn or(self, other: Self) -> Self {
        self.both(other, |word, other| word | other)
    }
    #[inline(always)]
    fn lesser(self, other: Self) -> Self {
        // Set a byte to zero where `other` has a control character.
        self.both(other, |word, other| word & !(zero(other & splat(0xe0)) >> 7).wrapping_mul(0xff))
    }
    #[inline(always)]
    fn is_high(self) -> bool {
        self.0.into_iter().fold(0, |all, word| all | word) & HIGH != 0
    }
}

macro_rules! block {
    ($bytes:literal, $words:literal) => {
        impl Block<$bytes> for Words<$words> {
            #[inline(always)]
            fn load(bytes: &[u8; $bytes]) -> Self {
                Words::read(bytes)
            }
            #[inline(always)]
            fn eq(self, byte: u8) -> u64 {
                Words::eq(self, byte)
            }
            #[inline(always)]
            fn eq_folded(self, byte: u8) -> u64 {
                Words::eq_folded(self, byte)
            }
            #[inline(always)]
            fn at_least(self, bound: u8) -> u64 {
                Words::at_least(self, bound)
            }
            #[inline(always)]
            fn control(self) -> u64 {
                Words::control(self)
            }
            #[inline(always)]
            fn high(self) -> u64 {
                Words::high(self)
            }
        }
    };
}

block!(16, 2);
block!(64, 8);
