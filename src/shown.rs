//! Texts, bytes and numbers for people. `Debug` output is escaped, and cut after 64 bytes.

use core::fmt::{self, Write as _};

/// The maximum number of bytes that are shown, counted before they are escaped.
const LEN: usize = 64;

/// Writes characters between quotes, and escapes those that `escapes` selects as in a Rust string. If they are longer
/// than [`LEN`], writes as many as fit, and `len`, their length in bytes.
pub(crate) fn show(
    f: &mut fmt::Formatter<'_>,
    quote: &str,
    chars: impl Iterator<Item = char>,
    len: usize,
    escapes: impl Fn(char) -> bool,
) -> fmt::Result {
    f.write_str(quote)?;
    let mut room = LEN;
    for char in chars {
        match room.checked_sub(char.len_utf8()) {
            Some(left) => room = left,
            None => return write!(f, "{quote}… ({len} bytes)"),
        }
        if escapes(char) {
            char.escape_debug().try_for_each(|part| f.write_char(part))?;
        } else {
            f.write_char(char)?;
        }
    }
    f.write_str(quote)
}

/// Bytes that `Debug` writes as a quoted text, with ill-formed UTF-8 replaced.
pub(crate) struct Bytes<'a>(pub(crate) &'a [u8]);

impl fmt::Debug for Bytes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let chars = self.0.utf8_chunks().flat_map(|chunk| {
            let replaced = (!chunk.invalid().is_empty()).then_some('\u{FFFD}');
            chunk.valid().chars().chain(replaced)
        });
        show(f, "\"", chars, self.0.len(), |char| char != '\'')
    }
}

/// Gives `put` the bytes as a text of one line, piece by piece: without a byte order mark, with each run of white space
/// as one space, and with ill-formed UTF-8 replaced. Characters that a terminal could obey are escaped: control
/// characters, and those that turn the direction of text. `goes_on` means that more bytes follow; a character that the
/// end of `bytes` cuts is left out then, and `…` stands for them.
pub(crate) fn put_line(bytes: &[u8], goes_on: bool, put: &mut dyn FnMut(&str)) {
    let mut chunks = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes).utf8_chunks().peekable();
    let (mut is_begun, mut is_blank) = (false, false);
    while let Some(chunk) = chunks.next() {
        let is_cut = goes_on && chunks.peek().is_none();
        let replaced = (!chunk.invalid().is_empty() && !is_cut).then_some('\u{FFFD}');
        for char in chunk.valid().chars().chain(replaced) {
            if matches!(char, ' ' | '\t' | '\r' | '\n') {
                is_blank = is_begun;
                continue;
            }
            if is_blank {
                put(" ");
            }
            (is_begun, is_blank) = (true, false);
            if char.is_control() || matches!(char, '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}') {
                char.escape_unicode().for_each(|part| put(part.encode_utf8(&mut [0; 4])));
            } else {
                put(char.encode_utf8(&mut [0; 4]));
            }
        }
    }
    if goes_on {
        put("…");
    }
}

/// Gives `put` the digits of a number.
pub(crate) fn put_number(number: u64, put: &mut dyn FnMut(&[u8])) {
    let mut digits = [0; 20];
    let (mut left, mut count) = (number, 0usize);
    for digit in digits.iter_mut().rev() {
        *digit = b'0'.wrapping_add((left % 10) as u8);
        left /= 10;
        count = count.saturating_add(1);
        if left == 0 {
            break;
        }
    }
    let from = digits.len().saturating_sub(count);
    put(digits.get(from..).unwrap_or_default());
}

/// Implements `Debug` for a type whose fields say little: prints the given values instead.
macro_rules! shown {
    ($name:literal: $type:ty, $this:ident => $($field:ident: $value:expr),+) => {
        impl core::fmt::Debug for $type {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                let $this = self;
                f.debug_struct($name)$(.field(stringify!($field), &$value))+.finish()
            }
        }
    };
}
pub(crate) use shown;

#[cfg(test)]
mod tests {
    extern crate std;
    use super::{put_line, Bytes};
    use std::format;
    use std::string::String;

    #[test]
    fn a_line_has_nothing_that_a_terminal_obeys() {
        let line = |bytes: &[u8], goes_on| {
            let mut line = String::new();
            put_line(bytes, goes_on, &mut |text| line += text);
            line
        };
        assert_eq!(line(b"\xEF\xBB\xBF \n<p>\r\n\t502 Bad </p>\n\n", false), "<p> 502 Bad </p>");
        assert_eq!(
            line("\u{1b}[2J\u{9b}1m\u{202e}\u{2066}\u{7f}é".as_bytes(), false),
            "\\u{1b}[2J\\u{9b}1m\\u{202e}\\u{2066}\\u{7f}é"
        );
        assert_eq!(line(b"a\xFFb\xC3", false), "a\u{FFFD}b\u{FFFD}");
        assert_eq!(line(b"a\xFFb\xC3", true), "a\u{FFFD}b…");
        assert_eq!(line(b"a \n", true), "a…");
        assert_eq!(line(b"", false), "");
    }

    #[test]
    fn bytes_are_escaped_and_cut() {
        assert_eq!(format!("{:?}", Bytes(b"a\"\n'\xFF\xC3\xA9")), "\"a\\\"\\n'\u{FFFD}é\"");
        let all = "x".repeat(64);
        assert_eq!(format!("{:?}", Bytes(all.as_bytes())), format!("{all:?}"));
        assert_eq!(format!("{:?}", Bytes(format!("{all}y").as_bytes())), format!("{all:?}… (65 bytes)"));
        let wide = "é".repeat(33);
        assert_eq!(
            format!("{:?}", Bytes(format!("x{wide}").as_bytes())),
            format!("\"x{}\"… (67 bytes)", "é".repeat(31))
        );
    }
}
