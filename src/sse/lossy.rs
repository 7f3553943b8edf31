//! Decodes bytes as UTF-8 text with replacement characters.

use crate::shown::Bytes;
use core::fmt;
use core::str::Utf8Chunks;

/// Bytes decoded as UTF-8 without copying. Each maximal part of an ill-formed sequence becomes one U+FFFD, as in the
/// Encoding standard's decoder.
///
/// ```
/// let text = deltawire::sse::Lossy::new(b"a\xF0\x9Fb");
/// assert_eq!(text.to_string(), "a\u{FFFD}b");
/// assert_eq!(text.chunks().collect::<Vec<_>>(), ["a", "\u{FFFD}", "b"]);
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Lossy<'a>(&'a [u8]);

impl<'a> Lossy<'a> {
    /// Wraps `bytes`.
    pub const fn new(bytes: &'a [u8]) -> Self {
        Lossy(bytes)
    }

    /// Returns the bytes unchanged.
    pub const fn as_bytes(&self) -> &'a [u8] {
        self.0
    }

    /// Returns the text, or `None` if it needs replacements.
    pub fn as_str(&self) -> Option<&'a str> {
        core::str::from_utf8(self.0).ok()
    }

    /// Returns the text in non-empty parts, borrowed from the bytes.
    pub fn chunks(&self) -> LossyChunks<'a> {
        LossyChunks { chunks: self.0.utf8_chunks(), replace: false }
    }
}

impl fmt::Display for Lossy<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.chunks().try_for_each(|chunk| f.write_str(chunk))
    }
}

impl fmt::Debug for Lossy<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&Bytes(self.0), f)
    }
}

/// The parts of a [`Lossy`] text: each well-formed run, and `"\u{FFFD}"` for each ill-formed sequence.
#[derive(Clone)]
pub struct LossyChunks<'a> {
    chunks: Utf8Chunks<'a>,
    /// Whether a replacement character follows the run returned last.
    replace: bool,
}

impl fmt::Debug for LossyChunks<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LossyChunks").finish_non_exhaustive()
    }
}

impl<'a> Iterator for LossyChunks<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        if !self.replace {
            let chunk = self.chunks.next()?;
            self.replace = !chunk.invalid().is_empty();
            if !chunk.valid().is_empty() {
                return Some(chunk.valid());
            }
        }
        // A chunk is never empty, so a chunk without a valid part has an invalid one.
        self.replace = false;
        Some("\u{FFFD}")
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, clippy::expect_used)]
    extern crate std;
    use super::Lossy;
    use std::string::{String, ToString};

    #[test]
    fn agrees_with_the_standard_library() {
        let parts: [&[u8]; 9] = [
            b"a",
            b"\xC3\xA9",
            b"\xF0\x9F\x91\x8D",
            b"\xF0\x9F",
            b"\xFF",
            b"\xED\xA0\x80",
            b"\xC0\xAF",
            b"\x80",
            b"\xE2",
        ];
        for number in 0..9usize.pow(4) {
            let mut bytes = std::vec::Vec::new();
            for place in 0..4 {
                bytes.extend_from_slice(parts[number / 9usize.pow(place) % 9]);
            }
            let bytes = &bytes[number % 5..];
            let text = Lossy::new(bytes);
            let want = String::from_utf8_lossy(bytes);
            assert_eq!(text.to_string(), want);
            assert_eq!(text.chunks().collect::<String>(), want);
            assert!(text.chunks().all(|chunk| !chunk.is_empty()));
            assert_eq!(text.as_str().is_some(), want == bytes_as_str(bytes));
        }
        assert_eq!(Lossy::new(b"").chunks().next(), None);
        assert_eq!(std::format!("{:?}", Lossy::new(b"a\"\n\xFF")), "\"a\\\"\\n\u{FFFD}\"");
    }

    fn bytes_as_str(bytes: &[u8]) -> &str {
        core::str::from_utf8(bytes).unwrap_or("not UTF-8")
    }
}
