//! Blocks of bytes whose methods return masks: bit `i` of a mask is about byte `i`.

use super::fixed;
use crate::visits::visit;

/// A loaded block of `N` bytes, at most 64. Each method computes one mask.
pub(crate) trait Block<const N: usize>: Copy {
    /// Loads the block.
    fn load(bytes: &[u8; N]) -> Self;
    /// Mask of the bytes equal to `byte`.
    fn eq(self, byte: u8) -> u64;
    /// Mask of the bytes equal to `byte` after setting bit 5 in each; `byte` has that bit.
    fn eq_folded(self, byte: u8) -> u64;
    /// Mask of the bytes of at least `bound`, which is at least 0x80.
    fn at_least(self, bound: u8) -> u64;
    /// Mask of the control characters (below 0x20).
    fn control(self) -> u64;
    /// Mask of the bytes of at least 0x80.
    fn high(self) -> u64;

    /// Mask of the control characters and the bytes of at least 0x80.
    #[inline(always)]
    fn odd(self) -> u64 {
        self.control() | self.high()
    }
    /// Mask of the bytes that end a run of plain text in a string: `"`, `\` and the [`odd`](Block::odd) bytes.
    #[inline(always)]
    fn stops(self) -> u64 {
        self.quote() | self.backslash() | self.odd()
    }
    /// Mask of `"`.
    #[inline(always)]
    fn quote(self) -> u64 {
        self.eq(b'"')
    }
    /// Mask of `\`.
    #[inline(always)]
    fn backslash(self) -> u64 {
        self.eq(b'\\')
    }
    /// Mask of `[` and `{`, which differ in bit 5.
    #[inline(always)]
    fn open(self) -> u64 {
        self.eq_folded(b'{')
    }
    /// Mask of `]` and `}`.
    #[inline(always)]
    fn close(self) -> u64 {
        self.eq_folded(b'}')
    }
}

/// A block that can be combined with others. Properties of all blocks together, such as "some byte is high", then need
/// no mask of each block.
pub(crate) trait Sum: Block<64> {
    /// Returns a block with the top bit set where this one has `byte`.
    fn equal(self, byte: u8) -> Self;
    /// Bitwise OR.
    fn or(self, other: Self) -> Self;
    /// Returns a block that has a control character if either of the two blocks has one.
    fn lesser(self, other: Self) -> Self;
    /// Whether any byte is at least 0x80.
    fn is_high(self) -> bool;
    /// Notes in `noted`, which is blank at first, whether this block has `byte`. Vector kernels use XOR and minimum
    /// instead of a comparison. The compiler would merge the comparison with the one for a mask, and then expand that
    /// mask to a vector again.
    #[inline(always)]
    fn note(self, byte: u8, noted: Self) -> Self {
        noted.or(self.equal(byte))
    }
    /// Whether a byte was [noted](Sum::note).
    #[inline(always)]
    fn is_noted(noted: Self) -> bool {
        noted.is_high()
    }

    /// Returns a block with the top bit set where this one has a CR or LF.
    #[inline(always)]
    fn line_ends(self) -> Self {
        self.equal(b'\r').or(self.equal(b'\n'))
    }
    /// Whether any byte is a control character.
    #[inline(always)]
    fn is_control(self) -> bool {
        self.control() != 0
    }
}

/// What the blocks in the middle of a string contain.
#[derive(Clone, Copy)]
pub(crate) struct Seen<B> {
    backslash: B,
    high: B,
    least: B,
}

impl<B: Sum> Seen<B> {
    /// No block.
    #[inline(always)]
    pub(crate) fn nothing() -> Self {
        let blank = B::load(&[b' '; 64]);
        Seen { backslash: blank, high: blank, least: blank }
    }
    /// Adds a block.
    #[inline(always)]
    pub(crate) fn add(&mut self, block: B) {
        self.backslash = block.note(b'\\', self.backslash);
        self.high = self.high.or(block);
        self.least = self.least.lesser(block);
    }
    /// Returns whether a block had a backslash, whether one had a byte of at least 0x80, and whether one had a control
    /// character.
    #[inline(always)]
    pub(crate) fn what(self) -> (bool, bool, bool) {
        (B::is_noted(self.backslash), self.high.is_high(), self.least.is_control())
    }
}

/// Work that runs with one kernel from start to end, so that all of it is compiled for the processors of that kernel.
pub(crate) trait Task {
    /// The result.
    type Out;
    /// Does the work. This function, and all functions that it calls with `K::Wide`, `K::same` and `K::differ`, must always be
    /// inlined.
    fn run<K: Kernel>(self) -> Self::Out;
}

/// A UTF-8 check that takes block after block.
pub(crate) trait Utf8<B>: Default {
    /// Checks the next block. Returns whether a sequence in it, or one that began before it, is ill-formed. If the
    /// block cuts a sequence, the next block or [`is_complete`](Utf8::is_complete) decides.
    fn see(&mut self, block: B) -> bool;
    /// Whether the last sequence is complete.
    fn is_complete(&self) -> bool;
}

/// The vector operations of a target.
pub(crate) trait Kernel: Sized {
    /// 16 bytes, for the first look at a string: most strings end within them.
    type Narrow: Block<16>;
    /// 64 bytes.
    type Wide: Sum;
    /// The UTF-8 check of wide blocks.
    type Utf8: Utf8<Self::Wide>;
    /// Whether the UTF-8 check by masks is faster on this target than core's.
    const MASKED_UTF8: bool;
    /// Whether a look at 16 bytes takes so few instructions that common fast paths may inline it.
    const IS_BRIEF: bool;
    /// Whether searches look at one [byte](super::bytes) at a time, because that is no slower on this target, and takes
    /// less code.
    const BY_BYTES: bool = false;

    /// Whether both slices are equal.
    #[inline(always)]
    fn same(a: &[u8], b: &[u8]) -> bool {
        if Self::BY_BYTES {
            fixed::same_aside(a, b)
        } else {
            fixed::same_by_words(a, b)
        }
    }

    /// How many bytes [`differ`](Kernel::differ) compares: 0 if nothing calls it.
    const BLOCK: usize = 0;

    /// Mask of the bytes that differ in two slices of [`BLOCK`](Kernel::BLOCK) bytes.
    #[inline(always)]
    fn differ(_a: &[u8], _b: &[u8]) -> u32 {
        u32::MAX
    }

    /// Runs a task with the best kernel that the processor has, out of line.
    #[inline(always)]
    fn best<T: Task>(task: T) -> T::Out {
        aside::<Self, T>(task)
    }
}

/// Runs a task with this kernel, out of line.
#[inline(never)]
pub(super) fn aside<K: Kernel, T: Task>(task: T) -> T::Out {
    task.run::<K>()
}

/// Finds the bytes escaped by a backslash, block after block.
#[derive(Clone, Copy, Default)]
pub(crate) struct Escapes {
    /// 1 if the first byte of the next block is escaped.
    carry: u64,
}

impl Escapes {
    /// Returns the state before the byte at `base`, in a string that begins at offset `from` of `bytes`.
    #[inline(always)]
    pub(crate) fn before(bytes: &[u8], from: usize, base: usize) -> Self {
        let is_behind = base > from && bytes.get(base.wrapping_sub(1)) == Some(&b'\\');
        Escapes { carry: if is_behind { run_len(bytes, from, base) & 1 } else { 0 } }
    }

    /// Returns the mask of escaped bytes in the next block, from the mask of its backslashes. In a run of backslashes
    /// every second one is escaped, and so is the byte after a run of odd length.
    #[inline(always)]
    pub(crate) fn escaped(&mut self, backslash: u64) -> u64 {
        const EVEN: u64 = 0x5555_5555_5555_5555;
        if backslash == 0 {
            return core::mem::take(&mut self.carry);
        }
        // Adding the odd bits makes a run that starts at an odd bit carry to its end. The bits that the addition flips
        // distinguish runs with an odd start from runs with an even start.
        let backslash = backslash & !self.carry;
        let follows = backslash << 1 | self.carry;
        let odd_starts = backslash & !EVEN & !follows;
        let (even_runs, overflow) = odd_starts.overflowing_add(backslash);
        self.carry = u64::from(overflow);
        (EVEN ^ (even_runs << 1)) & follows
    }
}

/// Returns the length of the run of backslashes before the byte at `base`.
#[cold]
#[inline(never)]
fn run_len(bytes: &[u8], from: usize, base: usize) -> u64 {
    let run = bytes.get(from..base).unwrap_or_default().iter().rev().take_while(|&&byte| byte == b'\\').count();
    visit!(run);
    run as u64
}

/// Bit `i` of the result is the parity of bits 0 to `i`. Applied to the quotes of a block, it marks the bytes inside
/// strings, including the opening quote and excluding the closing one.
#[inline(always)]
pub(crate) fn prefix_xor(mut bits: u64) -> u64 {
    bits ^= bits << 1;
    bits ^= bits << 2;
    bits ^= bits << 4;
    bits ^= bits << 8;
    bits ^= bits << 16;
    bits ^ bits << 32
}

/// Returns the bits below the lowest set bit, or all bits if none is set.
#[inline(always)]
pub(crate) fn below_lowest(bits: u64) -> u64 {
    bits.wrapping_sub(1) & !bits
}

/// A search that looks at block after block.
pub(crate) trait Look<K: Kernel> {
    /// The result of the search.
    type Found;
    /// Looks at the block at offset `base`. Masks must be shifted right by `shift`: a tail lies at the upper end of its
    /// block, and after the shift the bits beyond the tail are zero.
    fn look(&mut self, block: K::Wide, base: usize, shift: u32) -> Option<Self::Found>;
}

/// Passes the bytes from offset `from` to `looker`, 64 at a time, until it returns a result.
#[inline(always)]
pub(crate) fn walk<K: Kernel, L: Look<K>>(bytes: &[u8], from: usize, looker: &mut L) -> Option<L::Found> {
    let mut base = from;
    while let Some(block) = bytes.get(base..)?.first_chunk::<64>() {
        visit!(64);
        if let Some(found) = looker.look(K::Wide::load(block), base, 0) {
            return Some(found);
        }
        base += 64;
    }
    let rest = bytes.get(base..)?;
    if rest.is_empty() {
        return None;
    }
    visit!(rest.len());
    let shift = 64 - rest.len() as u32;
    // Load the tail together with the bytes before it. Only inputs shorter than 64 bytes need a copy.
    let block = match bytes.last_chunk::<64>() {
        Some(block) => K::Wide::load(block),
        None => K::Wide::load(&at_end(rest)),
    };
    looker.look(block, base, shift)
}

/// Copies up to 64 bytes to the end of a block of zeros.
#[inline]
fn at_end(tail: &[u8]) -> [u8; 64] {
    let mut block = [0; 64];
    for (to, from) in block.iter_mut().rev().zip(tail.iter().rev()) {
        *to = *from;
    }
    block
}
