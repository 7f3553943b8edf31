//! Finds quotes and brackets of JSON inside a JSON string, such as the arguments of a tool call.

use super::block64::{Block, Kernel};
use super::target::Target;
use crate::visits::visit;

/// Masks of the quotes and brackets in a short text: bit `i` is about byte `i`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Marks {
    /// Quotes. In the JSON that the text decodes to, no quote is escaped.
    pub(crate) quotes: u32,
    /// `[` and `{`.
    pub(crate) open: u32,
    /// `]` and `}`.
    pub(crate) close: u32,
}

/// Returns the marks of the text in the first `len` bytes, which must be ASCII without control characters. `None`
/// decides nothing: the text is long, is too close to the end of the bytes, or has another escape than `\"`.
#[inline(always)]
pub(crate) fn marks(bytes: &[u8], len: usize) -> Option<Marks> {
    marks_with::<Target>(bytes, len)
}

/// [`marks`] with a given kernel.
#[inline(always)]
pub(super) fn marks_with<K: Kernel>(bytes: &[u8], len: usize) -> Option<Marks> {
    let text = 1_u32.checked_shl(len as u32)?.wrapping_sub(1);
    let mut masks = look::<K>(bytes.first_chunk()?);
    if len > 16 {
        let after = look::<K>(bytes.get(16..)?.first_chunk()?);
        for (mask, after) in masks.iter_mut().zip(after) {
            *mask |= after << 16;
        }
    }
    let [backslashes, quotes, open, close] = masks.map(|mask| mask & text);
    // Each quote must have a backslash before it, and there must be no other backslash.
    (backslashes << 1 == quotes).then_some(Marks { quotes, open, close })
}

/// Returns masks of the backslashes, the quotes, the opening and the closing brackets.
#[inline(always)]
fn look<K: Kernel>(block: &[u8; 16]) -> [u32; 4] {
    visit!(16);
    let block = K::Narrow::load(block);
    [block.backslash(), block.quote(), block.open(), block.close()].map(|mask| mask as u32)
}
