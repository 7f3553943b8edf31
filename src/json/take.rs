//! Takes a text piece by piece, into small buffers.

use super::fragments::{Fragment, Fragments};
use super::text::{copy_fitting, Text};
use crate::scan::{unescape, utf8};

/// A buffer smaller than this is filled fragment by fragment.
const LEAST: usize = 16;

/// How many bytes of the text are looked at for one fragment, which is more than the longest escape. The bound keeps
/// the cost of a fragment of a few bytes small, whatever the size of the buffer.
const NEAR: usize = 64;

impl<'a> Text<'a> {
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
        let (mut buffer, mut left, mut is_well_formed) = ([0; NEAR], len, true);
        while left > 0 && !self.is_empty() {
            // A long text is passed without a copy, but for its escapes.
            let is_long = is_well_formed && self.raw().len() > NEAR;
            let run = if is_long { self.run(left) } else { None };
            is_well_formed &= !is_long || run.is_some() || self.half() != 0 || is_escape(self);
            let took = if let Some(run) = run {
                each(run);
                *self = self.behind(run.len());
                run.len()
            } else {
                let room = buffer.get_mut(..NEAR.min(left as usize)).unwrap_or_default();
                let took = if is_long { piece(self, room) } else { self.take_to(room) };
                each(buffer.get(..took).unwrap_or_default());
                took
            };
            if took == 0 {
                break;
            }
            left = left.saturating_sub(took as u32);
        }
        len.saturating_sub(left)
    }

    /// Returns the bytes at the front of the text that decode to themselves, up to the first escape and at most `len`.
    /// Returns `None` if there are none, or if they are not UTF-8.
    fn run(&self, len: u32) -> Option<&'a [u8]> {
        if self.half() != 0 || self.is_verbatim() || is_escape(self) {
            return None;
        }
        let mut near = self.raw();
        if let Some(first) = near.get(..len as usize) {
            let is_inside = |at: usize| near.get(at).is_some_and(|byte| byte & 0xc0 == 0x80);
            // A character has at most three bytes after its first.
            let end = (0..4).map(|back| first.len().saturating_sub(back)).find(|at| !is_inside(*at))?;
            near = near.get(..end)?;
        }
        utf8::text_run(near).run.ok().map(str::as_bytes).filter(|run| !run.is_empty())
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
