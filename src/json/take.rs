//! Takes a text piece by piece, into small buffers.

use super::fragments::Fragments;
use super::text::Text;
use crate::scan::escape::{encode, LONGEST};
use crate::scan::{find, unescape};

/// A buffer smaller than this is filled piece by piece.
const LEAST: usize = 16;

impl Text<'_> {
    /// Removes from the front of the text as many code points as fit into `buffer` when decoded, writes them there, and
    /// returns the number of bytes written. What remains is the rest of the text. A buffer of at least four bytes
    /// always makes progress. Linear in the length of the text, however small the buffers are.
    pub fn take_to(&mut self, buffer: &mut [u8]) -> usize {
        take(self, buffer)
    }
}

/// Does what [`Text::take_to`] does. Reads no more of the text than may fit, so that many small buffers cost no more than
/// one.
pub(super) fn take(text: &mut Text<'_>, buffer: &mut [u8]) -> usize {
    if let Some(written) = text.copy_plain(buffer) {
        *text = text.behind(written);
        return written;
    }
    let mut written = 0;
    if text.half() == 0 && !text.is_verbatim() && buffer.len() >= LEAST {
        let progress = unescape::copy(text.raw(), buffer);
        *text = text.behind(progress.took);
        written = progress.wrote;
    }
    while !text.is_empty() {
        let Some(room) = buffer.get_mut(written..) else { break };
        let len = piece(text, room);
        if len == 0 {
            break;
        }
        written = written.saturating_add(len);
    }
    written
}

/// Writes one piece and returns its length in bytes, or returns 0 and takes nothing if it does not fit.
fn piece(text: &mut Text<'_>, room: &mut [u8]) -> usize {
    let raw = text.raw();
    let verbatim = text.is_verbatim();
    if text.half() != 0 || (raw.first() == Some(&b'\\') && !verbatim) {
        let near = raw.get(..LONGEST).unwrap_or(raw);
        let mut fragments = Fragments::new(near, text.half(), verbatim);
        let mut bytes = [0; 4];
        let Some(fragment) = fragments.next() else { return 0 };
        if !put(room, fragment.encode(&mut bytes)) {
            return 0;
        }
        // Replacing an unpaired surrogate consumes no bytes.
        let took = near.len().saturating_sub(fragments.left());
        *text = text.behind(took);
        return fragment.len();
    }
    let fits = raw.get(..room.len()).unwrap_or(raw);
    let end = if verbatim { None } else { find::byte(b'\\', fits) };
    let run = fits.get(..end.unwrap_or(fits.len())).unwrap_or(fits);
    let Some(chunk) = run.utf8_chunks().next() else { return 0 };
    if !chunk.valid().is_empty() {
        put(room, chunk.valid());
        let took = chunk.valid().len();
        *text = text.behind(took);
        return took;
    }
    // Either ill-formed bytes or a character that does not fit: four bytes decide which.
    let near = raw.get(..4).unwrap_or(raw);
    let end = if verbatim { None } else { find::byte(b'\\', near) };
    let near = near.get(..end.unwrap_or(near.len())).unwrap_or(near);
    let Some(chunk) = near.utf8_chunks().next() else { return 0 };
    let (char, took) = match chunk.valid().chars().next() {
        Some(char) => (char, char.len_utf8()),
        None => (char::REPLACEMENT_CHARACTER, chunk.invalid().len()),
    };
    if !put(room, encode(char, &mut [0; 4])) {
        return 0;
    }
    *text = text.behind(took);
    char.len_utf8()
}

fn put(room: &mut [u8], text: &str) -> bool {
    match room.get_mut(..text.len()) {
        Some(to) if to.len() == text.len() => {
            to.copy_from_slice(text.as_bytes());
            true
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    extern crate std;
    use super::super::{Text, TextFlags};
    use std::string::ToString;
    use std::vec::Vec;

    /// Every buffer size yields the same text as the fragments.
    #[test]
    fn pieces_join_to_the_whole_text() {
        let parts: [&[u8]; 12] = [
            b"abc",
            b"\\n",
            "\u{e9}".as_bytes(),
            "\u{1F600}".as_bytes(),
            b"\\ud83d\\ude00",
            b"\\ud83d",
            b"\xF0\x9F",
            b"\xFF",
            b"\\q",
            b"\\u12",
            b"\xE2\x82",
            b"a long run that is longer than the buffers are",
        ];
        let mut checked = 0;
        for number in 0..12usize.pow(4) {
            let mut raw = Vec::new();
            for place in 0..4 {
                raw.extend_from_slice(parts[number / 12usize.pow(place) % 12]);
            }
            for (lead, flags) in
                [(0, TextFlags::UNKNOWN), (0xd83d, TextFlags::UNKNOWN), (0, Text::verbatim(b"").parts().0)]
            {
                let whole = Text::from_parts(&raw, (flags, lead));
                let want = whole.to_string();
                for size in [4, 5, 7, 16, 64, 300] {
                    let (mut text, mut got, mut buffer) = (whole, Vec::new(), [0u8; 300]);
                    while !text.is_empty() {
                        let len = text.take_to(&mut buffer[..size]);
                        assert!(len > 0, "{raw:?} in pieces of {size}");
                        assert!(std::str::from_utf8(&buffer[..len]).is_ok());
                        got.extend_from_slice(&buffer[..len]);
                    }
                    assert_eq!(std::str::from_utf8(&got).unwrap(), want, "{raw:?} in pieces of {size}");
                    checked += 1;
                }
            }
        }
        assert_eq!(checked, 12usize.pow(4) * 18);
        assert_eq!(Text::verbatim("\u{20ac}".as_bytes()).take_to(&mut [0; 2]), 0);
    }
}
