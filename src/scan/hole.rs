//! The end of a text whose place is known: where events that are alike differ.

use super::block64::{below_lowest, Block, Kernel};
use super::native::Native;
use super::string;
use crate::visits::visit;

/// Where a text ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TextEnd {
    /// Offset of its closing quote; `usize::MAX` if there is none.
    pub(crate) at: usize,
    /// What is in it: bit 0 a backslash, bit 1 a byte from 0x80 on, bit 2 a control character.
    pub(crate) flags: u8,
}

/// The end of the text at the front of `bytes`, which begin inside a string. The texts of a stream are mostly a token
/// long: one look at 16 bytes settles those.
#[inline(always)]
pub(crate) fn text_end(bytes: &[u8]) -> TextEnd {
    text_end_with::<Native>(bytes)
}

/// [`text_end`] with a given kernel.
#[inline(always)]
pub(super) fn text_end_with<K: Kernel>(bytes: &[u8]) -> TextEnd {
    if let Some(first) = bytes.first_chunk::<16>() {
        visit!(16);
        let block = K::Narrow::load(first);
        let quote = block.quote();
        // An odd byte in front of the first quote is left to the exact search.
        if quote != 0 && (block.backslash() | block.odd()) & below_lowest(quote) == 0 {
            return TextEnd { at: quote.trailing_zeros() as usize, flags: 0 };
        }
    }
    odd_end::<K>(bytes)
}

/// The same of a text that is long, or more than printable ASCII.
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
