//! Finds the end of a JSON object or array by counting brackets.

use super::block64::{below_lowest, prefix_xor, walk, Block, Escapes, Kernel, Look, Sum, Task};
use super::bytes;
pub(crate) use super::bytes::{ContainerEnd, Unbalanced};
use super::target::Target;

/// Returns the end of the container at offset `from`, which has depth 1. Skips strings. Does not tell brackets from
/// braces, and checks nothing else: a backslash outside strings, which is invalid in JSON, hides a quote after it.
#[inline]
pub(crate) fn end(bytes: &[u8], from: usize, max_depth: u32) -> Result<ContainerEnd, Unbalanced> {
    end_with::<Target>(bytes, from, max_depth)
}

/// Returns the [`end`] of a container at the front of the bytes, if it lies in one line. Looks at most 63 bytes beyond
/// that line.
#[inline]
pub(crate) fn end_in_line(bytes: &[u8], max_depth: u32) -> Option<usize> {
    let end = Target::best(EndSearch { bytes, from: 0, max_depth, in_line: true });
    end.ok().filter(|end| !end.breaks).map(|end| end.at)
}

/// [`end`] with a given kernel.
#[inline(always)]
pub(super) fn end_with<K: Kernel>(bytes: &[u8], from: usize, max_depth: u32) -> Result<ContainerEnd, Unbalanced> {
    K::best(EndSearch { bytes, from, max_depth, in_line: false })
}

/// The task of [`end`].
struct EndSearch<'b> {
    bytes: &'b [u8],
    from: usize,
    max_depth: u32,
    /// Whether to give up after a block with a line end.
    in_line: bool,
}

impl Task for EndSearch<'_> {
    type Out = Result<ContainerEnd, Unbalanced>;

    #[inline(always)]
    fn run<K: Kernel>(self) -> Self::Out {
        if K::BY_BYTES {
            return bytes::container_end(self.bytes, self.from, self.max_depth, self.in_line);
        }
        let blank = K::Wide::load(&[b' '; 64]);
        let mut balance = Brackets {
            escapes: Escapes::default(),
            inside: 0,
            depth: 0,
            max_depth: self.max_depth,
            line_ends: blank,
            in_line: self.in_line,
        };
        walk::<K, _>(self.bytes, self.from, &mut balance).unwrap_or(Err(Unbalanced::UnexpectedEnd))
    }
}

/// Counts brackets outside strings.
struct Brackets<B> {
    escapes: Escapes,
    /// All ones if the previous block ended inside a string.
    inside: u64,
    depth: u32,
    max_depth: u32,
    /// The line ends of the blocks so far.
    line_ends: B,
    in_line: bool,
}

impl<B: Sum> Brackets<B> {
    /// Continues after a block without the end, unless the container must end in its line and the block ends that line.
    #[inline(always)]
    fn go_on(&mut self, block: B) -> Option<Result<ContainerEnd, Unbalanced>> {
        self.line_ends = self.line_ends.or(block.line_ends());
        (self.in_line && self.line_ends.is_high()).then_some(Err(Unbalanced::UnexpectedEnd))
    }
}

impl<K: Kernel> Look<K> for Brackets<K::Wide> {
    type Found = Result<ContainerEnd, Unbalanced>;

    #[inline(always)]
    fn look(&mut self, block: K::Wide, base: usize, shift: u32) -> Option<Self::Found> {
        let escaped = self.escapes.escaped(block.backslash() >> shift);
        let inside = prefix_xor(block.quote() >> shift & !escaped) ^ self.inside;
        self.inside = ((inside as i64) >> 63) as u64;
        let open = block.open() >> shift & !inside;
        let close = block.close() >> shift & !inside;

        // If the block has fewer closing brackets than there are open levels, and the depth limit has room for all
        // opening ones, their order does not matter.
        let deepest = self.depth.saturating_add(open.count_ones());
        if close.count_ones() < self.depth && deepest <= self.max_depth {
            self.depth = deepest - close.count_ones();
            return self.go_on(block);
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
                    let line_ends = (block.eq(b'\r') | block.eq(b'\n')) >> shift & below_lowest(bracket);
                    return Some(Ok(ContainerEnd { at: at + 1, breaks: line_ends != 0 || self.line_ends.is_high() }));
                }
            }
        }
        self.go_on(block)
    }
}
