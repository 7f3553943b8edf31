//! The ends of strings from masks that are kept: one look at 64 bytes serves all the short strings in them.

use super::block64::{below_lowest, Block, Escapes, Kernel, Native};
use super::string::{self, StringEnd};

/// The masks of 64 bytes, for one who goes forward through them from string to string.
///
/// A window is laid where a string begins, so that its first byte is not escaped; which later bytes are follows from the
/// backslashes right before them. Nothing depends on where the window happens to lie.
#[derive(Clone)]
pub(crate) struct Window {
    /// Offset of the first of the 64 bytes.
    base: usize,
    /// Its quotes that are not escaped.
    quote: u64,
    backslash: u64,
    /// Control characters, and bytes from 0x80 on.
    odd: u64,
}

impl Window {
    /// A window that shows nothing.
    pub(crate) const EMPTY: Window = Window { base: 0, quote: 0, backslash: 0, odd: 0 };

    /// The closing quote of a string that lies whole in the window and is printable ASCII, and whether a backslash is in
    /// it. `from` is as in [`string_end`](Window::string_end). `None` says nothing.
    #[inline(always)]
    pub(crate) fn plain_string(&self, from: usize) -> Option<(usize, bool)> {
        let shift = from.wrapping_sub(self.base);
        if shift >= 64 {
            return None;
        }
        let quote = self.quote >> shift;
        let before = below_lowest(quote);
        if quote == 0 || self.odd >> shift & before != 0 {
            return None;
        }
        Some((from + quote.trailing_zeros() as usize, self.backslash >> shift & before != 0))
    }

    /// As [`string::end_with`]; `from` must be right behind the opening quote of a string, and not before that of an earlier
    /// call. The bytes must be the same in all calls. The window is laid anew.
    pub(crate) fn string_end(&mut self, bytes: &[u8], from: usize) -> Option<StringEnd> {
        self.end_with::<Native>(bytes, from)
    }

    /// [`string_end`](Window::string_end) with a given kernel.
    #[inline(never)]
    pub(super) fn end_with<K: Kernel>(&mut self, bytes: &[u8], from: usize) -> Option<StringEnd> {
        let rest = bytes.get(from..)?;
        match (rest.first_chunk::<64>(), bytes.last_chunk::<64>()) {
            (Some(block), _) => self.lay::<K>(block, from),
            // What stands before `from` changes nothing behind it: there is a quote between.
            (None, Some(block)) => self.lay::<K>(block, bytes.len() - 64),
            (None, None) => {
                let mut block = [0; 64];
                for (to, byte) in block.iter_mut().zip(rest) {
                    *to = *byte;
                }
                self.lay::<K>(&block, from);
            }
        }
        // What is long or odd is for the search that tells exactly.
        match self.plain_string(from) {
            Some((at, escaped)) => Some(StringEnd { at, escaped, ascii: true, control: false }),
            None => string::end_with::<K>(bytes, from),
        }
    }

    #[inline(always)]
    fn lay<K: Kernel>(&mut self, block: &[u8; 64], base: usize) {
        let block = K::Wide::load(block);
        let backslash = block.backslash();
        let quote = block.quote() & !Escapes::default().escaped(backslash);
        *self = Window { base, quote, backslash, odd: block.odd() };
    }
}
