//! Decodes the escapes of a JSON string (RFC 8259, section 7).

use crate::Quirk;

/// A decoded escape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Escape {
    /// The character that the escape stands for.
    pub(crate) char: char,
    /// Length of the escape in bytes, never 0.
    pub(crate) len: usize,
    /// The quirk, if strict JSON forbids the escape. For `BadEscape` only the backslash is consumed, and decodes to
    /// itself.
    pub(crate) fault: Option<Quirk>,
}

/// Length in bytes of the longest escape, a surrogate pair.
pub(crate) const LONGEST: usize = 12;

/// Decodes the escape at the front of `bytes`. Its backslash is the first byte.
#[inline]
pub(crate) fn read(bytes: &[u8]) -> Escape {
    let Some(&kind) = bytes.get(1) else { return BAD };
    match simple(kind) {
        0 if kind == b'u' => unicode(bytes.get(2..).unwrap_or_default()),
        0 => BAD,
        byte => Escape { char: char::from(byte), len: 2, fault: None },
    }
}

const BAD: Escape = Escape { char: '\\', len: 1, fault: Some(Quirk::BadEscape) };

/// Decodes a `\u` escape, or two that form a surrogate pair. `digits` are the bytes after the `u`.
#[inline(never)]
fn unicode(digits: &[u8]) -> Escape {
    let Some((digits, after)) = digits.split_first_chunk::<4>() else { return BAD };
    let Some(first) = unit(digits) else { return BAD };
    if let Some(char) = char::from_u32(u32::from(first)) {
        return Escape { char, len: 6, fault: None };
    }
    match low_half(after).and_then(|low| join(first, low)) {
        Some(char) => Escape { char, len: LONGEST, fault: None },
        None => Escape { char: char::REPLACEMENT_CHARACTER, len: 6, fault: Some(Quirk::LoneSurrogate) },
    }
}

/// Encodes a character. Out of line, because every path that decodes an escape calls it.
#[inline(never)]
pub(crate) fn encode(char: char, buffer: &mut [u8; 4]) -> &str {
    char.encode_utf8(buffer)
}

/// Decodes an escape as [`read`] does. Also returns its character in UTF-8, with its length. Out of line, because few
/// escapes are not simple.
#[inline(never)]
pub(crate) fn decode(bytes: &[u8]) -> (Escape, [u8; 4], usize) {
    let (escape, mut utf8) = (read(bytes), [0; 4]);
    let len = escape.char.encode_utf8(&mut utf8).len();
    (escape, utf8, len)
}

/// Returns the character of the simple escape `\` + `kind` (RFC 8259, section 7), which is ASCII, or 0 if there is no
/// such escape.
#[inline(always)]
pub(crate) fn simple(kind: u8) -> u8 {
    SIMPLE.get(usize::from(kind)).copied().unwrap_or(0)
}

static SIMPLE: [u8; 256] = table(0, b"\"\"\\\\//b\x08f\x0cn\nr\rt\t");

/// Builds a table from pairs of an index and its value. All other entries are `default`.
const fn table(default: u8, mut pairs: &[u8]) -> [u8; 256] {
    let mut table = [default; 256];
    while let [kind, byte, rest @ ..] = pairs {
        // Evaluated at compile time, where an index out of bounds is an error.
        #[allow(clippy::indexing_slicing)]
        {
            table[*kind as usize] = *byte;
        }
        pairs = rest;
    }
    table
}

/// Returns the code unit of four hex digits.
#[inline]
pub(crate) fn unit(digits: &[u8; 4]) -> Option<u16> {
    let [a, b, c, d] = digits.map(|digit| HEX.get(usize::from(digit)).copied().unwrap_or(NO_DIGIT));
    let unit = u16::from(a) << 12 | u16::from(b) << 8 | u16::from(c) << 4 | u16::from(d);
    (a | b | c | d < 16).then_some(unit)
}

const NO_DIGIT: u8 = 0xff;

static HEX: [u8; 256] = table(
    NO_DIGIT,
    b"0\x001\x012\x023\x034\x045\x056\x067\x078\x089\x09\
      a\x0ab\x0bc\x0cd\x0de\x0ef\x0fA\x0aB\x0bC\x0cD\x0dE\x0eF\x0f",
);

/// Returns the low surrogate whose escape is at the front of `bytes`.
#[inline]
pub(crate) fn low_half(bytes: &[u8]) -> Option<u16> {
    let [b'\\', b'u', digits @ ..] = bytes else { return None };
    unit(digits.first_chunk::<4>()?).filter(|low| (0xdc00..0xe000).contains(low))
}

/// Returns the character of a surrogate pair, or `None` if `high` is not a high surrogate.
#[inline]
pub(crate) fn join(high: u16, low: u16) -> Option<char> {
    let high = high.checked_sub(0xd800).filter(|high| *high < 0x400)?;
    char::from_u32(0x1_0000 + (u32::from(high) << 10) + u32::from(low & 0x3ff))
}
