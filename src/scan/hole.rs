//! Finds the end of a string whose start is known, in a hole of a remembered template: the places where similar events
//! differ.

use super::block64::{below_lowest, Block, Kernel};
use super::string;
use crate::visits::visit;

/// The end of a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TextEnd {
    /// Offset of the closing quote, or `usize::MAX` if there is none.
    pub(crate) at: usize,
    /// Bits for what the string contains: bit 0 a backslash, bit 1 a byte of at least 0x80, bit 2 a control character.
    pub(crate) flags: u8,
}

/// Returns the end of the string that `bytes` begins in. Most strings of a stream are one token long, so one look at 16
/// bytes decides.
#[inline(always)]
pub(crate) fn text_end<K: Kernel>(bytes: &[u8]) -> TextEnd {
    if let Some(first) = bytes.first_chunk::<16>() {
        visit!(16);
        let block = K::Narrow::load(first);
        let quote = block.quote();
        // An odd byte before the first quote needs the full search.
        if quote != 0 && (block.backslash() | block.odd()) & below_lowest(quote) == 0 {
            return TextEnd { at: quote.trailing_zeros() as usize, flags: 0 };
        }
    }
    odd_end::<K>(bytes)
}

/// [`text_end`] for strings that are long or contain more than printable ASCII.
#[inline(never)]
fn odd_end<K: Kernel>(bytes: &[u8]) -> TextEnd {
    match string::end_with::<K>(bytes, 0) {
        Some(end) => TextEnd {
            at: end.at,
            flags: u8::from(end.escaped) | u8::from(!end.ascii) << 1 | u8::from(end.control) << 2,
        },
        None => TextEnd { at: usize::MAX, flags: 0 },
    }
}
