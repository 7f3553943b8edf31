//! What the response is if it is not an event stream, by its bytes.

use crate::shown::Bytes;
use crate::visits::visit;
use crate::words::words;

words! {
    /// What came instead of an event stream. The numbers are those of the C interface.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    #[repr(u8)]
    #[non_exhaustive]
    pub enum Media {
        /// Bytes that begin like gzip. Decompress the body first.
        Gzip = 1, "gzip";
        /// Bytes that begin like Zstandard. Decompress the body first.
        Zstd = 2, "zstd";
        /// Other bytes that are not text.
        Binary = 3, "binary";
        /// A page: the first byte is `<`.
        Html = 4, "HTML or XML";
        /// Other text.
        Text = 5, "text";
    }
}

/// How many bytes of the beginning are kept.
const KEPT: usize = 128;

/// The beginning of a response, from its first byte that is not blank to its first field, at most [`KEPT`] bytes. An
/// event stream begins with a field, so of it nothing is kept.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct FirstBytes {
    /// Stream offset of the first byte that is not blank. If it does not fit, nothing is kept.
    at: u32,
    len: u8,
    /// The bytes, and then zeros.
    bytes: [u8; KEPT],
}

impl FirstBytes {
    /// The beginning of a response of which nothing came.
    pub(crate) const NONE: FirstBytes = FirstBytes { at: 0, len: 0, bytes: [0; KEPT] };

    /// The bytes with which the response begins, as far as these are kept.
    pub(crate) fn of(bytes: &[u8]) -> FirstBytes {
        let mut first = FirstBytes::NONE;
        first.keep(0, bytes);
        first
    }

    /// Returns the bytes.
    pub(crate) fn get(&self) -> &[u8] {
        self.bytes.get(..self.len.into()).unwrap_or_default()
    }

    /// Whether no more bytes are kept, so that others may follow.
    pub(crate) fn is_full(&self) -> bool {
        usize::from(self.len) >= KEPT
    }

    /// Keeps what there is room for of a window that begins at this stream offset. The window may begin with bytes that
    /// an earlier window had.
    pub(crate) fn keep(&mut self, offset: u64, window: &[u8]) {
        if self.is_full() {
            return;
        }
        if self.len == 0 {
            let blanks = window.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n')).count();
            visit!(blanks);
            match u32::try_from(offset.saturating_add(blanks as u64)) {
                Ok(at) if blanks < window.len() => self.at = at,
                _ => return,
            }
        }
        let next = u64::from(self.at).saturating_add(self.len.into());
        let seen = usize::try_from(next.saturating_sub(offset)).unwrap_or(usize::MAX);
        let room = self.bytes.get_mut(self.len.into()..).unwrap_or_default();
        for (to, byte) in room.iter_mut().zip(window.get(seen..).unwrap_or_default()) {
            *to = *byte;
            self.len = self.len.saturating_add(1);
        }
    }

    /// Forgets the bytes from this stream offset on, where the first field begins.
    pub(crate) fn end_at(&mut self, offset: u64) {
        let len = usize::try_from(offset.saturating_sub(self.at.into())).unwrap_or(KEPT).min(self.len.into());
        self.bytes.get_mut(len..).unwrap_or_default().fill(0);
        self.len = len as u8;
    }
}

impl core::fmt::Debug for FirstBytes {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        core::fmt::Debug::fmt(&Bytes(self.get()), f)
    }
}

/// What the first bytes of the response are, apart from blanks. `Mark1` and `Mark2`, `Gzip1`, `Zstd1` and so on mean
/// that this many bytes of a byte order mark or of a magic number came so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sniff {
    /// Only blanks and byte order marks so far.
    Blank,
    Mark1,
    Mark2,
    Gzip1,
    Zstd1,
    Zstd2,
    Zstd3,
    /// The first bytes do not begin a known kind.
    Other,
    Gzip,
    Zstd,
    Html,
    /// A line that no event stream has, or a malformed payload, contains binary bytes; or the first byte is that of
    /// gzip, and the second is not.
    Binary,
}

impl Sniff {
    /// Returns what came instead of an event stream, if the bytes so far show it.
    pub(crate) fn media(self) -> Option<Media> {
        match self {
            Sniff::Gzip => Some(Media::Gzip),
            Sniff::Zstd => Some(Media::Zstd),
            Sniff::Html => Some(Media::Html),
            // No text begins with the first byte of gzip, so even that byte alone is binary.
            Sniff::Binary | Sniff::Gzip1 => Some(Media::Binary),
            _ => None,
        }
    }

    /// Sniffs the first bytes of a stream. Once these have shown a kind, it looks at no more bytes.
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

    /// Sniffs bytes of a line that no event stream has, or of a malformed payload.
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

/// Whether the byte is a control character that text does not contain. Text may contain white space and ESC, which
/// begins the escape sequences of terminals.
fn is_binary(byte: u8) -> bool {
    matches!(byte, 0..=0x08 | 0x0E..=0x1A | 0x1C..=0x1F | 0x7F)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::indexing_slicing)]
    use super::{FirstBytes, Media, Sniff, KEPT};

    #[test]
    fn the_first_bytes_are_kept_however_they_are_cut() {
        let long = [b'x'; KEPT + 9];
        let cases: [(&[u8], &[u8]); 5] = [
            (b"", b""),
            (b" \r\n\t", b""),
            (b"\n <p>\n", b"<p>\n"),
            (b"{\"a\":1}", b"{\"a\":1}"),
            (&long, &long[..KEPT]),
        ];
        for (bytes, expected) in cases {
            for cut in 0..=bytes.len() {
                let mut first = FirstBytes::NONE;
                first.keep(0, &bytes[..cut]);
                // A step may have consumed less than its window.
                for back in [0, cut / 2] {
                    first.keep((cut - back) as u64, &bytes[cut - back..]);
                }
                assert_eq!((first.get(), first.is_full()), (expected, expected.len() == KEPT), "{cut}");
                for end in 0..=bytes.len() {
                    let mut first = first;
                    first.end_at(end as u64);
                    let blanks = bytes.len() - bytes.trim_ascii_start().len();
                    assert_eq!(first.get(), &expected[..end.saturating_sub(blanks).min(expected.len())]);
                }
            }
        }
    }

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
