//! Whitespace and literals, shared by all readers.

use super::error::{JsonError, JsonErrorKind};
use crate::visits::visit;

/// Returns the offset of the first byte at or after `at` that is not whitespace (RFC 8259, section 2), and that byte.
#[inline]
pub(super) fn significant(bytes: &[u8], mut at: usize) -> (usize, Option<u8>) {
    loop {
        visit!(1);
        match bytes.get(at) {
            Some(b' ' | b'\n' | b'\r' | b'\t') => at += 1,
            Some(&byte) => return (at, Some(byte)),
            None => return (at, None),
        }
    }
}

/// Returns the bytes from the first one that is not whitespace.
#[inline(always)]
pub(super) fn significant_of(rest: &[u8]) -> &[u8] {
    visit!(1);
    match rest {
        // Nearly all values have no whitespace before them.
        [byte, ..] if *byte > b' ' => rest,
        _ => skip_space(rest),
    }
}

#[inline(never)]
pub(super) fn skip_space(rest: &[u8]) -> &[u8] {
    rest.get(significant(rest, 0).0..).unwrap_or_default()
}

/// Returns the offset one past the literal at `at`, whose first byte `first` is `t`, `f` or `n`.
#[inline]
pub(super) fn literal_end(bytes: &[u8], at: usize, first: u8) -> Result<usize, JsonError> {
    visit!(5);
    let rest = bytes.get(at..).unwrap_or_default();
    // Comparisons with constants compile to no call of memcmp.
    let word: &[u8] = match (first, rest) {
        (b'n', [b'n', b'u', b'l', b'l', ..]) | (b't', [b't', b'r', b'u', b'e', ..]) => return Ok(at + 4),
        (b'f', [b'f', b'a', b'l', b's', b'e', ..]) => return Ok(at + 5),
        (b't', _) => b"true",
        (b'f', _) => b"false",
        _ => b"null",
    };
    let same = rest.iter().zip(word).take_while(|(byte, expected)| byte == expected).count();
    let kind = if same == rest.len() { JsonErrorKind::UnexpectedEnd } else { JsonErrorKind::BadLiteral };
    Err(kind.at(at + same))
}
