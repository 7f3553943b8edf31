//! `Debug` output of texts and bytes: escaped, and cut after 64 bytes.

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
    use super::Bytes;
    use std::format;

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
