//! Blocks of bytes that answer with a mask: bit `i` is about byte `i`.

use super::fixed::{self, Row};
use crate::visits::visit;

/// A loaded block of `N` bytes, 64 at most. Masks are made only when they are asked for.
pub(crate) trait Block<const N: usize>: Copy {
    /// Loads the block.
    fn load(bytes: &[u8; N]) -> Self;
    /// Which bytes are `byte`.
    fn eq(self, byte: u8) -> u64;
    /// Which bytes are `byte` once bit 5 is set in them; `byte` has that bit.
    fn eq_folded(self, byte: u8) -> u64;
    /// Which bytes are at least `bound`.
    fn at_least(self, bound: u8) -> u64;
    /// Which bytes are control characters, below 0x20.
    fn control(self) -> u64;
    /// Which bytes are at least 0x80.
    fn high(self) -> u64;

    /// Which bytes are control characters or at least 0x80.
    #[inline(always)]
    fn odd(self) -> u64 {
        self.control() | self.high()
    }
    /// Which bytes end a run of plain text in a string: `"`, `\` and the [`odd`](Block::odd) ones.
    #[inline(always)]
    fn stops(self) -> u64 {
        self.quote() | self.backslash() | self.odd()
    }
    /// Which bytes are `"`.
    #[inline(always)]
    fn quote(self) -> u64 {
        self.eq(b'"')
    }
    /// Which bytes are `\`.
    #[inline(always)]
    fn backslash(self) -> u64 {
        self.eq(b'\\')
    }
    /// Which bytes are `[` or `{`; they differ in bit 5.
    #[inline(always)]
    fn open(self) -> u64 {
        self.eq_folded(b'{')
    }
    /// Which bytes are `]` or `}`.
    #[inline(always)]
    fn close(self) -> u64 {
        self.eq_folded(b'}')
    }
}

/// What a target offers.
pub(crate) trait Kernel {
    /// 16 bytes: most strings end within one.
    type Narrow: Block<16>;
    /// 64 bytes.
    type Wide: Block<64>;
    /// Whether the UTF-8 check by masks is quicker here than core's.
    const MASKED_UTF8: bool;
    /// Whether a look at 16 bytes is a few instructions, so few that a short way that is common may have its own.
    const IS_BRIEF: bool;

    /// As [`begins_with`](super::native::begins_with).
    #[inline(always)]
    fn begins(rows: &[Row], bytes: &[u8], len: usize) -> bool {
        fixed::begins_by_words(rows, bytes, len)
    }
}

/// Which bytes are escaped by a backslash, block after block.
#[derive(Clone, Copy, Default)]
pub(crate) struct Escapes {
    /// 1 if the first byte of the next block is escaped.
    carry: u64,
}

impl Escapes {
    /// The escaped bytes of the next block, whose backslashes are given. In a run of backslashes every second one is
    /// escaped, and so is what follows a run of odd length.
    #[inline(always)]
    pub(crate) fn escaped(&mut self, backslash: u64) -> u64 {
        const EVEN: u64 = 0x5555_5555_5555_5555;
        if backslash == 0 {
            return core::mem::take(&mut self.carry);
        }
        // A run that starts at an odd bit is added to itself there, so that the carry runs through it. The bits that
        // the addition flips tell runs with an odd start from runs with an even one.
        let backslash = backslash & !self.carry;
        let follows = backslash << 1 | self.carry;
        let odd_starts = backslash & !EVEN & !follows;
        let (even_runs, overflow) = odd_starts.overflowing_add(backslash);
        self.carry = u64::from(overflow);
        (EVEN ^ (even_runs << 1)) & follows
    }
}

/// Bit `i` is the parity of the bits up to and with `i`: from the quotes of a block, the bytes inside strings (with
/// the opening quote, without the closing one).
#[inline(always)]
pub(crate) fn prefix_xor(mut bits: u64) -> u64 {
    bits ^= bits << 1;
    bits ^= bits << 2;
    bits ^= bits << 4;
    bits ^= bits << 8;
    bits ^= bits << 16;
    bits ^ bits << 32
}

/// The bits below the lowest set bit; all of them if none is set.
#[inline(always)]
pub(crate) fn below_lowest(bits: u64) -> u64 {
    bits.wrapping_sub(1) & !bits
}

/// A search that is answered block by block.
pub(crate) trait Look<K: Kernel> {
    /// What is found.
    type Found;
    /// Looks at the block that starts at offset `base`. Masks must be shifted right by `shift`: a tail stands at the
    /// upper end of its block, and after the shift the bits past it are zero.
    fn look(&mut self, block: K::Wide, base: usize, shift: u32) -> Option<Self::Found>;
}

/// Shows `looker` the bytes from offset `from`, 64 at a time, until it has found something.
#[inline(always)]
pub(crate) fn walk<K: Kernel, L: Look<K>>(bytes: &[u8], from: usize, looker: &mut L) -> Option<L::Found> {
    let mut rest = bytes.get(from..)?;
    let mut base = from;
    while let Some((block, after)) = rest.split_first_chunk::<64>() {
        visit!(64);
        if let Some(found) = looker.look(K::Wide::load(block), base, 0) {
            return Some(found);
        }
        rest = after;
        base += 64;
    }
    if rest.is_empty() {
        return None;
    }
    visit!(rest.len());
    let shift = 64 - rest.len() as u32;
    // The last 64 bytes hold the tail at their end; only a shorter slice needs a copy.
    let block = match bytes.last_chunk::<64>() {
        Some(block) => K::Wide::load(block),
        None => K::Wide::load(&at_end(rest)),
    };
    looker.look(block, base, shift)
}

/// A copy of up to 64 bytes at the end of a block of zeros.
#[inline]
fn at_end(tail: &[u8]) -> [u8; 64] {
    let mut block = [0; 64];
    for (to, from) in block.iter_mut().rev().zip(tail.iter().rev()) {
        *to = *from;
    }
    block
}
