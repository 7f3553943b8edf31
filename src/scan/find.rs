//! Finds the first of one or two byte values, with memchr's vector searchers.
//!
//! The searcher is chosen at compile time, among the features that the target guarantees. memchr's own functions choose
//! at run time, which needs a writable pointer in the data segment.

use super::block64::{Block, Kernel, Sum, Task};
use super::target::Target;
use crate::visits::visit;
#[cfg(all(target_arch = "aarch64", target_feature = "neon"))]
use memchr::arch::aarch64::neon::memchr as vector;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
use memchr::arch::wasm32::simd128::memchr as vector;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
use memchr::arch::x86_64::sse2::memchr as vector;

/// The portable searcher. Its constructors cannot fail; these wrappers give them the signature of the others.
#[cfg(not(any(
    all(target_arch = "aarch64", target_feature = "neon"),
    all(target_arch = "wasm32", target_feature = "simd128"),
    all(target_arch = "x86_64", target_feature = "sse2")
)))]
mod vector {
    use memchr::arch::all::memchr as words;

    pub(super) struct One;
    impl One {
        #[inline]
        pub(super) fn new(needle: u8) -> Option<words::One> {
            Some(words::One::new(needle))
        }
    }

    pub(super) struct Two;
    impl Two {
        #[inline]
        pub(super) fn new(first: u8, second: u8) -> Option<words::Two> {
            Some(words::Two::new(first, second))
        }
    }
}

/// After this many bytes without a line end, more than most events have, the search looks at pairs of blocks.
const FAR: usize = 512;

/// The length of two blocks.
const PAIR: usize = 128;

/// Below this length, setting up a searcher costs more than it saves.
const SHORT: usize = 8;

/// Returns the offset of the first CR or LF.
#[inline]
pub(crate) fn line_end(bytes: &[u8]) -> Option<usize> {
    let found = search_line_end(bytes);
    visit!(looked_at(bytes, found));
    found
}

#[inline]
fn search_line_end(bytes: &[u8]) -> Option<usize> {
    if Target::BY_BYTES {
        return vector::Two::new(b'\r', b'\n')?.find(bytes);
    }
    if bytes.len() < SHORT {
        return bytes.iter().position(|&byte| byte == b'\r' || byte == b'\n');
    }
    let near = bytes.get(..FAR).unwrap_or(bytes);
    let from = match first_line_end(near) {
        Some(found) => return Some(found),
        None => near.len().saturating_sub(skip_without_control(near).len()),
    };
    match vector::Two::new(b'\r', b'\n') {
        Some(searcher) => near.get(from..).and_then(|rest| searcher.find(rest)).map_or_else(
            || {
                let from = far(bytes)?;
                Some(from.wrapping_add(searcher.find(bytes.get(from..)?)?))
            },
            |at| Some(from.wrapping_add(at)),
        ),
        // Not reached, because this searcher is compiled only if the target has the vector unit.
        None => bytes.iter().position(|&byte| byte == b'\r' || byte == b'\n'),
    }
}

/// Returns the offset of the first line end in the first 16 bytes.
#[inline(always)]
fn first_line_end(bytes: &[u8]) -> Option<usize> {
    let first = bytes.first_chunk::<16>().filter(|_| Target::IS_BRIEF)?;
    let block = <Target as Kernel>::Narrow::load(first);
    let ends = block.eq(b'\r') | block.eq(b'\n');
    (ends != 0).then(|| ends.trailing_zeros() as usize)
}

/// Skips the blocks at the front that have no control character, and so no line end. A slice inside an event then needs
/// no search.
#[inline(always)]
fn skip_without_control(bytes: &[u8]) -> &[u8] {
    let mut rest = bytes;
    if !Target::IS_BRIEF {
        return rest;
    }
    while let Some((block, after)) = rest.split_first_chunk::<64>() {
        if <Target as Kernel>::Wide::load(block).is_control() {
            return rest;
        }
        rest = after;
    }
    // Less than a block is left. Look at the last 64 of all bytes instead.
    match bytes.last_chunk::<64>() {
        Some(block) if !rest.is_empty() && !<Target as Kernel>::Wide::load(block).is_control() => &[],
        _ => rest,
    }
}

/// Returns an offset from which a search finds the first line end after the first [`FAR`] bytes. The offset lies less
/// than two [`PAIR`]s before that line end, or before the end of the bytes. Returns `None` if there are no more than
/// [`FAR`] bytes.
#[inline(always)]
fn far(bytes: &[u8]) -> Option<usize> {
    (bytes.len() > FAR).then(|| aside(bytes))
}

#[inline(never)]
fn aside(bytes: &[u8]) -> usize {
    Target::best(FarLineEnd(bytes))
}

/// The task of [`far`], for more than [`FAR`] bytes.
struct FarLineEnd<'b>(&'b [u8]);

impl Task for FarLineEnd<'_> {
    type Out = usize;

    #[inline(always)]
    fn run<K: Kernel>(self) -> usize {
        let mut rest = self.0.get(FAR..).unwrap_or_default();
        while let Some((pair, after)) = rest.split_first_chunk::<PAIR>() {
            let (Some(first), Some(last)) = (pair.first_chunk::<64>(), pair.last_chunk::<64>()) else { break };
            let ends = K::Wide::load(first).line_ends().or(K::Wide::load(last).line_ends());
            if ends.is_high() {
                break;
            }
            rest = after;
        }
        self.0.len().wrapping_sub(rest.len())
    }
}

/// Returns the offset of the first `needle`.
#[inline]
pub(crate) fn byte(needle: u8, bytes: &[u8]) -> Option<usize> {
    let found = match vector::One::new(needle) {
        Some(searcher) => searcher.find(bytes),
        None => bytes.iter().position(|&byte| byte == needle),
    };
    visit!(looked_at(bytes, found));
    found
}

/// The number of bytes that a search loads: the first 16, then 64 at a time, and the block with the result twice.
#[cfg(test)]
fn looked_at(bytes: &[u8], found: Option<usize>) -> usize {
    let ahead = |at: usize| at + if at < 16 { 16 } else { 128 };
    found.map_or(bytes.len(), |at| ahead(at).min(bytes.len()))
}
