//! Takes a text piece by piece, into small buffers.

use super::fragments::{Fragment, Fragments};
use super::text::{copy_fitting, Text};
use crate::scan::unescape;

/// A buffer smaller than this is filled fragment by fragment.
const LEAST: usize = 16;

/// How many bytes of the text are looked at for one fragment, which is more than the longest escape. The bound keeps
/// the cost of a fragment of a few bytes small, whatever the size of the buffer.
const NEAR: usize = 64;

impl Text<'_> {
    /// Removes from the front of the text as many code points as fit into `buffer` when decoded, writes them there, and
    /// returns the number of bytes written. What remains is the rest of the text. A buffer of at least four bytes
    /// always makes progress. Linear in the length of the text, whatever the sizes of the buffers.
    pub fn take_to(&mut self, buffer: &mut [u8]) -> usize {
        if let Some(written) = self.copy_unchanged(buffer) {
            *self = self.behind(written);
            return written;
        }
        let mut written = 0;
        if self.half() == 0 && !self.is_verbatim() && buffer.len() >= LEAST {
            let progress = unescape::copy(self.raw(), buffer);
            *self = self.behind(progress.took);
            written = progress.wrote;
        }
        while !self.is_empty() {
            let len = piece(self, buffer.get_mut(written..).unwrap_or_default());
            if len == 0 {
                break;
            }
            written = written.saturating_add(len);
        }
        written
    }

    /// Removes up to `len` decoded bytes from the front of the text, and passes them to `each`. Returns how many: less
    /// than `len` at the end of the text, or where a character does not fit.
    pub(crate) fn take_first(&mut self, len: u32, mut each: impl FnMut(&[u8])) -> u32 {
        let (mut buffer, mut left) = ([0; 64], len);
        while left > 0 && !self.is_empty() {
            let room = buffer.len().min(left as usize);
            let took = self.take_to(buffer.get_mut(..room).unwrap_or_default());
            if took == 0 {
                break;
            }
            each(buffer.get(..took).unwrap_or_default());
            left = left.saturating_sub(took as u32);
        }
        len.saturating_sub(left)
    }
}

/// Takes the first fragment of a text, or as much of a run as fits, and returns how many bytes it wrote. Returns 0, and
/// takes nothing, if not even one code point fits.
fn piece(text: &mut Text<'_>, room: &mut [u8]) -> usize {
    let near = text.raw().get(..NEAR).unwrap_or(text.raw());
    let mut fragments = Fragments::new(near, text.half(), text.is_verbatim());
    let Some(fragment) = fragments.next() else { return 0 };
    let mut encoded = [0; 4];
    let len = copy_fitting(fragment.encode(&mut encoded), room);
    if len == 0 {
        return 0;
    }
    let took = match fragment {
        Fragment::Str(_) => len,
        // The replacement of an unpaired surrogate takes no bytes.
        Fragment::Char(_) if text.half() != 0 || is_escape(text) => near.len().saturating_sub(fragments.left()),
        Fragment::Char(_) => near.utf8_chunks().next().map_or(0, |chunk| chunk.invalid().len()),
    };
    *text = text.behind(took);
    len
}

fn is_escape(text: &Text<'_>) -> bool {
    text.raw().first() == Some(&b'\\') && !text.is_verbatim()
}
