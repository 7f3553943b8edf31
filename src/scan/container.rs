//! Finds the end of a JSON object or array by counting brackets.

use super::block64::{prefix_xor, walk, Block, Escapes, Kernel, Look, Task};
use super::native::Native;

/// Why no end was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unbalanced {
    /// The bracket at this offset exceeds the depth limit.
    TooDeep(usize),
    /// The bytes end inside the container.
    UnexpectedEnd,
}

/// Returns the offset one past the bracket that closes the container at offset `from`, which has depth 1. Skips
/// strings. Counts both kinds of brackets alike and checks nothing else: a backslash outside strings, invalid in JSON,
/// hides a quote after it.
#[inline]
pub(crate) fn end(bytes: &[u8], from: usize, max_depth: u32) -> Result<usize, Unbalanced> {
    end_with::<Native>(bytes, from, max_depth)
}

/// [`end`] with a given kernel.
#[inline(always)]
pub(super) fn end_with<K: Kernel>(bytes: &[u8], from: usize, max_depth: u32) -> Result<usize, Unbalanced> {
    K::best(End { bytes, from, max_depth })
}

/// See [`end`].
struct End<'b> {
    bytes: &'b [u8],
    from: usize,
    max_depth: u32,
}

impl Task for End<'_> {
    type Out = Result<usize, Unbalanced>;

    #[inline(always)]
    fn run<K: Kernel>(self) -> Self::Out {
        let mut balance = Balance { escapes: Escapes::default(), inside: 0, depth: 0, max_depth: self.max_depth };
        walk::<K, _>(self.bytes, self.from, &mut balance).unwrap_or(Err(Unbalanced::UnexpectedEnd))
    }
}

/// Counts brackets outside strings.
struct Balance {
    escapes: Escapes,
    /// All ones if the previous block ended inside a string.
    inside: u64,
    depth: u32,
    max_depth: u32,
}

impl<K: Kernel> Look<K> for Balance {
    type Found = Result<usize, Unbalanced>;

    #[inline(always)]
    fn look(&mut self, block: K::Wide, base: usize, shift: u32) -> Option<Self::Found> {
        let escaped = self.escapes.escaped(block.backslash() >> shift);
        let inside = prefix_xor(block.quote() >> shift & !escaped) ^ self.inside;
        self.inside = ((inside as i64) >> 63) as u64;
        let open = block.open() >> shift & !inside;
        let close = block.close() >> shift & !inside;

        // With fewer closing brackets than open levels, and room for all opening ones, their order does not matter.
        let deepest = self.depth.saturating_add(open.count_ones());
        if close.count_ones() < self.depth && deepest <= self.max_depth {
            self.depth = deepest - close.count_ones();
            return None;
        }
        let mut brackets = open | close;
        while brackets != 0 {
            let at = base + brackets.trailing_zeros() as usize;
            let bracket = brackets & brackets.wrapping_neg();
            brackets ^= bracket;
            if open & bracket != 0 {
                if self.depth >= self.max_depth {
                    return Some(Err(Unbalanced::TooDeep(at)));
                }
                self.depth += 1;
            } else {
                self.depth = self.depth.saturating_sub(1);
                if self.depth == 0 {
                    return Some(Ok(at + 1));
                }
            }
        }
        None
    }
}
