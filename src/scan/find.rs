//! Finds the first CR or LF, or the first byte of one value.

use super::block64::{walk, Block, Kernel, Look, Sum, Task};
use super::target::Target;
use crate::visits::visit;

/// Returns the offset of the first CR or LF.
#[inline]
pub(crate) fn line_end(bytes: &[u8]) -> Option<usize> {
    let Some((first, rest)) = bytes.split_first_chunk::<16>().filter(|_| Target::IS_BRIEF) else {
        return first_of(bytes, *b"\r\n");
    };
    visit!(16);
    let block = <Target as Kernel>::Narrow::load(first);
    let ends = block.eq(b'\r') | block.eq(b'\n');
    if ends != 0 {
        return Some(ends.trailing_zeros() as usize);
    }
    // A block takes fewer instructions than a part of one, which is copied.
    let is_block = bytes.len() >= 64 && rest.len() < 64;
    let (passed, rest) = if is_block { (0, bytes) } else { (16, rest) };
    first_of(rest, *b"\r\n").map(|at| at.wrapping_add(passed))
}

/// Returns the offset of the first `needle`.
#[inline]
pub(crate) fn byte(needle: u8, bytes: &[u8]) -> Option<usize> {
    first_of(bytes, [needle; 2])
}

fn first_of(bytes: &[u8], needles: [u8; 2]) -> Option<usize> {
    // Of a few bytes, one after the other is the fastest way.
    if Target::BY_BYTES || bytes.len() < 16 {
        let found = bytes.iter().position(|byte| needles.contains(byte));
        visit!(found.map_or(bytes.len(), |at| at + 1));
        return found;
    }
    Target::best(Search { bytes, needles })
}

/// The task of a search.
struct Search<'b> {
    bytes: &'b [u8],
    needles: [u8; 2],
}

impl Search<'_> {
    /// Whether a block has a byte that is searched for.
    #[inline(always)]
    fn sees<B: Sum>(&self, block: &[u8; 64]) -> B {
        let ([first, second], block) = (self.needles, B::load(block));
        block.equal(first).or(block.equal(second))
    }
}

impl Task for Search<'_> {
    type Out = Option<usize>;

    #[inline(always)]
    fn run<K: Kernel>(mut self) -> Self::Out {
        // Two blocks at a time, until one has the byte.
        let mut rest = self.bytes;
        while let Some((pair, after)) = rest.split_first_chunk::<128>() {
            let (Some(first), Some(last)) = (pair.first_chunk(), pair.last_chunk()) else { break };
            visit!(128);
            if self.sees::<K::Wide>(first).or(self.sees::<K::Wide>(last)).is_high() {
                break;
            }
            rest = after;
        }
        walk::<K, _>(self.bytes, self.bytes.len().wrapping_sub(rest.len()), &mut self)
    }
}

impl<K: Kernel> Look<K> for Search<'_> {
    type Found = usize;

    #[inline(always)]
    fn look(&mut self, block: K::Wide, base: usize, shift: u32) -> Option<usize> {
        let [first, second] = self.needles;
        let found = (block.eq(first) | block.eq(second)) >> shift;
        (found != 0).then(|| base.wrapping_add(found.trailing_zeros() as usize))
    }
}
