//! What the bytes are if they are no event stream.

use crate::visits::visit;
use crate::words::words;

words! {
    /// What came instead of an event stream. The numbers are those of the C interface.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    #[repr(u8)]
    #[non_exhaustive]
    pub enum Media {
        /// Bytes that begin as gzip does: the body is to be decompressed first.
        Gzip = 1, "gzip";
        /// Bytes that begin as Zstandard does: the body is to be decompressed first.
        Zstd = 2, "zstd";
        /// Other bytes that are no text.
        Binary = 3, "binary";
        /// A page, by its first byte, which is `<`.
        Html = 4, "HTML or XML";
        /// Other text.
        Text = 5, "text";
    }
}

/// What the first bytes that are not blank say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sniff {
    /// Blanks only so far, a byte order mark among them.
    Blank,
    /// So far one byte of the mark, or two.
    Mark1,
    Mark2,
    Gzip1,
    Zstd1,
    Zstd2,
    Zstd3,
    /// None of the kinds that are told by their first bytes.
    Other,
    Gzip,
    Zstd,
    Html,
    /// Binary bytes came in a line that no event stream has.
    Binary,
}

impl Sniff {
    /// Returns what came instead of an event stream, if the bytes so far say so.
    pub(crate) fn media(self) -> Option<Media> {
        match self {
            Sniff::Gzip => Some(Media::Gzip),
            Sniff::Zstd => Some(Media::Zstd),
            Sniff::Html => Some(Media::Html),
            // No text begins with that byte, whether it is cut off here or not.
            Sniff::Binary | Sniff::Gzip1 => Some(Media::Binary),
            _ => None,
        }
    }

    /// Looks at the first bytes of a stream, as far as they decide nothing.
    pub(crate) fn begin(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            if matches!(*self, Sniff::Other | Sniff::Gzip | Sniff::Zstd | Sniff::Html | Sniff::Binary) {
                return;
            }
            visit!(1);
            *self = match (*self, byte) {
                (Sniff::Blank, b' ' | b'\t' | b'\r' | b'\n') | (Sniff::Mark2, 0xBF) => Sniff::Blank,
                (Sniff::Blank, 0xEF) => Sniff::Mark1,
                (Sniff::Mark1, 0xBB) => Sniff::Mark2,
                (Sniff::Blank, 0x1F) => Sniff::Gzip1,
                (Sniff::Gzip1, 0x8B) => Sniff::Gzip,
                (Sniff::Gzip1, _) => Sniff::Binary,
                (Sniff::Blank, 0x28) => Sniff::Zstd1,
                (Sniff::Zstd1, 0xB5) => Sniff::Zstd2,
                (Sniff::Zstd2, 0x2F) => Sniff::Zstd3,
                (Sniff::Zstd3, 0xFD) => Sniff::Zstd,
                (Sniff::Blank, b'<') => Sniff::Html,
                _ => Sniff::Other,
            };
        }
    }

    /// Looks at bytes of a line that no event stream has, or of a malformed payload.
    pub(crate) fn foreign(&mut self, bytes: &[u8]) {
        if *self == Sniff::Other {
            let found = bytes.iter().position(|byte| is_binary(*byte));
            visit!(found.map_or(bytes.len(), |at| at + 1));
            if found.is_some() {
                *self = Sniff::Binary;
            }
        }
    }
}

/// Whether text does not contain this byte: a control character, but for white space and the escape of terminals.
fn is_binary(byte: u8) -> bool {
    matches!(byte, 0..=0x08 | 0x0E..=0x1A | 0x1C..=0x1F | 0x7F)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::indexing_slicing)]
    use super::{Media, Sniff};

    #[test]
    fn the_first_bytes_decide_however_they_are_cut() {
        let cases: [(&[u8], Sniff); 14] = [
            (b"", Sniff::Blank),
            (b"\xEF\xBB\xBF \r\n\t", Sniff::Blank),
            (b"\xEF\xBB", Sniff::Mark2),
            (b"\xEF\xBBx", Sniff::Other),
            (b"\x1F\x8B\x08", Sniff::Gzip),
            (b"\x1F", Sniff::Gzip1),
            (b"\x1F\x1F", Sniff::Binary),
            (b"\x28\xB5\x2F\xFD", Sniff::Zstd),
            (b"\x28\xB5\x2F", Sniff::Zstd3),
            (b"\x28\xB5\x2F\x28", Sniff::Other),
            (b"\n <html>", Sniff::Html),
            (b"data: <html>", Sniff::Other),
            (b": <", Sniff::Other),
            (b"{\"a\":1}", Sniff::Other),
        ];
        for (bytes, expected) in cases {
            for cut in 0..=bytes.len() {
                let mut sniff = Sniff::Blank;
                sniff.begin(&bytes[..cut]);
                sniff.begin(&bytes[cut..]);
                assert_eq!(sniff, expected, "{bytes:?} cut at {cut}");
            }
        }
    }

    #[test]
    fn control_characters_are_binary() {
        for byte in 0..=255 {
            let mut sniff = Sniff::Other;
            sniff.foreign(b"text");
            sniff.foreign(&[byte]);
            let control = char::from(byte).is_ascii_control() && !b"\t\n\x0B\x0C\r\x1B".contains(&byte);
            assert_eq!(sniff.media(), control.then_some(Media::Binary), "{byte}");
        }
    }
}
