//! Numbers: text, and exact integers on request.

use super::decimal::Decimal;
use super::error::{JsonError, JsonErrorKind};
use crate::scan::utf8;
use crate::visits::visit;
use core::fmt;

/// A JSON number as written. Borrows its bytes.
///
/// ```
/// let number = |raw| deltawire::json::Number::new(raw).unwrap();
/// assert_eq!(number(b"1.7e9").to_u64(), Some(1_700_000_000));
/// assert_eq!(number(b"-0.5").to_i64(), None);
/// assert_eq!(number(b"0.25").to_f64(), 0.25);
/// ```
#[derive(Clone, Copy)]
pub struct Number<'a> {
    text: &'a str,
}

impl<'a> Number<'a> {
    /// Returns the number, or `None` if `raw` is not exactly one number (RFC 8259, section 6).
    #[inline]
    pub fn new(raw: &'a [u8]) -> Option<Self> {
        match end(raw, 0) {
            Ok(end) if end == raw.len() => Number::from_checked(raw),
            _ => None,
        }
    }

    /// Returns the number for bytes whose grammar is already checked.
    #[inline]
    pub(super) fn from_checked(raw: &'a [u8]) -> Option<Self> {
        utf8::to_str(raw).map(|text| Number { text })
    }

    /// Returns its bytes.
    #[inline]
    pub fn raw(&self) -> &'a [u8] {
        self.text.as_bytes()
    }

    /// Returns its text.
    #[inline]
    pub fn as_str(&self) -> &'a str {
        self.text
    }

    /// Whether the number is written as an integer: without fraction and exponent.
    #[inline]
    pub fn is_integer(&self) -> bool {
        self.raw().iter().all(|byte| matches!(byte, b'-' | b'0'..=b'9'))
    }

    /// Returns the exact value if it is an integer from 0 to `u64::MAX`, in any notation, such as `10.0`, `1.7e9` or
    /// `-0`. Takes time linear in the length of the text, whatever the exponent.
    #[inline]
    pub fn to_u64(&self) -> Option<u64> {
        match magnitude(self.raw())? {
            (true, 1..) => None,
            (_, value) => Some(value),
        }
    }

    /// Returns the value if it is an integer from `i64::MIN` to `i64::MAX`. Otherwise like [`to_u64`](Number::to_u64).
    #[inline]
    pub fn to_i64(&self) -> Option<i64> {
        match magnitude(self.raw())? {
            (false, value) => i64::try_from(value).ok(),
            (true, value) => 0i64.checked_sub_unsigned(value),
        }
    }

    /// Returns the number as a decimal, without floating point, to store values exactly, such as a price or a log
    /// probability. Takes time linear in the length of the text, whatever the exponent.
    pub fn to_decimal(&self) -> Decimal {
        Decimal::of(self.raw(), 19)
    }

    /// Returns the nearest double, infinite if out of range. Uses core's parser, which has panic paths; nothing in this
    /// library calls it.
    pub fn to_f64(&self) -> f64 {
        self.text.parse().unwrap_or(f64::NAN)
    }
}

impl fmt::Display for Number<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text)
    }
}

impl fmt::Debug for Number<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text)
    }
}

/// Returns the offset one past the number at `from`, as far as the grammar matches. Does not check what follows.
#[inline]
pub(super) fn end(bytes: &[u8], from: usize) -> Result<usize, JsonError> {
    let mut at = from;
    if bytes.get(at) == Some(&b'-') {
        at += 1;
    }
    at = match bytes.get(at) {
        Some(b'0') => at + 1,
        _ => digits(bytes, at)?,
    };
    if bytes.get(at) == Some(&b'.') {
        at = digits(bytes, at + 1)?;
    }
    if let Some(b'e' | b'E') = bytes.get(at) {
        at += 1;
        if let Some(b'+' | b'-') = bytes.get(at) {
            at += 1;
        }
        at = digits(bytes, at)?;
    }
    Ok(at)
}

/// Fast path: returns the bytes after the number that `rest` begins with, if it has no exponent, at most eight digits
/// before its point, and a comma or a bracket after it, as nearly all numbers have. Returns `None` for any other
/// number: then use [`end`].
#[inline(always)]
pub(super) fn short(rest: &[u8]) -> Option<&[u8]> {
    let digits = match rest {
        [b'-', digits @ ..] => digits,
        _ => rest,
    };
    visit!(8);
    let after = match digits {
        // A log probability has one digit before its point.
        [b'0'..=b'9', after @ ..] if after.first() == Some(&b'.') => after,
        _ => {
            let word = u64::from_le_bytes(*digits.first_chunk()?);
            let len = no_digits(word).trailing_zeros() >> 3;
            digits.get(len as usize..).filter(|_| len > 0 && !(word as u8 == b'0' && len > 1))?
        }
    };
    let after = match after {
        [b'.', fraction @ ..] => {
            let len = digits_len(fraction);
            fraction.get(len..).filter(|_| len > 0)?
        }
        after => after,
    };
    matches!(after, [b',' | b']' | b'}', ..]).then_some(after)
}

/// Returns the bytes after the number that `rest` begins with, as far as the grammar matches.
#[inline(always)]
pub(crate) fn skip(rest: &[u8]) -> Option<&[u8]> {
    short(rest).or_else(|| skip_any(rest))
}

#[inline(never)]
fn skip_any(rest: &[u8]) -> Option<&[u8]> {
    rest.get(end(rest, 0).ok()?..)
}

/// Returns the offset one past the digits at `from`, or an error if there is none.
#[inline]
fn digits(bytes: &[u8], from: usize) -> Result<usize, JsonError> {
    let at = from + digits_len(bytes.get(from..).unwrap_or_default());
    if at > from {
        return Ok(at);
    }
    let kind = if at < bytes.len() { JsonErrorKind::BadNumber } else { JsonErrorKind::UnexpectedEnd };
    Err(kind.at(at))
}

/// Returns how many digits `bytes` begins with.
#[inline(always)]
pub(crate) fn digits_len(bytes: &[u8]) -> usize {
    let mut rest = bytes;
    let mut len = 0;
    while let Some((eight, after)) = rest.split_first_chunk::<8>() {
        visit!(8);
        let others = no_digits(u64::from_le_bytes(*eight));
        if others != 0 {
            return len + (others.trailing_zeros() >> 3) as usize;
        }
        rest = after;
        len += 8;
    }
    visit!(rest.len());
    len + rest.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

/// Sets the top bit of each byte that is not a digit.
#[inline(always)]
pub(super) const fn no_digits(word: u64) -> u64 {
    const LOW: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    // The XOR maps digits (0x30 to 0x39) to 0 to 9; the addition carries any other byte into the top bit.
    let digits = word ^ (LOW * 0x30);
    (((digits & !HIGH) + LOW * 0x76) | digits) & HIGH
}

/// Returns sign and magnitude of an integer, or `None` if the number has a fraction or its magnitude exceeds
/// `u64::MAX`.
fn magnitude(raw: &[u8]) -> Option<(bool, u64)> {
    let (negative, raw) = match raw {
        [b'-', rest @ ..] => (true, rest),
        _ => (false, raw),
    };
    of_digits(raw).or_else(|| Decimal::of(raw, 20).to_integer()).map(|value| (negative, value))
}

/// Returns the number that 1 to 19 digits form, which cannot overflow. Returns `None` if there are more, or other
/// bytes.
#[inline(always)]
pub(crate) fn of_digits(raw: &[u8]) -> Option<u64> {
    let (mut value, mut fits) = (0u64, (1..=19).contains(&raw.len()));
    for &byte in raw.get(..19).unwrap_or(raw) {
        let digit = byte.wrapping_sub(b'0');
        fits &= digit <= 9;
        value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
    }
    fits.then_some(value)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, clippy::expect_used)]
    extern crate std;
    use super::*;
    use std::string::ToString;

    fn number(text: &str) -> Number<'_> {
        Number::new(text.as_bytes()).unwrap_or_else(|| panic!("{text}"))
    }

    #[test]
    fn grammar() {
        for text in ["0", "-0", "1", "10", "0.0", "1.5", "1e5", "1E5", "1e+5", "1e-5", "-1.25e-10", "0e0", "1e00"] {
            assert_eq!(number(text).as_str(), text);
            assert_eq!(number(text).raw(), text.as_bytes());
            assert_eq!(number(text).is_integer(), text.parse::<i64>().is_ok(), "{text}");
            assert_eq!(number(text).to_f64(), text.parse::<f64>().unwrap());
            assert_eq!((number(text).to_string(), std::format!("{:?}", number(text))), (text.into(), text.into()));
        }
        for text in [
            "", "-", "+1", ".5", "1.", "01", "-01", "1e", "1e+", "1.e5", "1 ", " 1", "0x1", "1a", "NaN", "inf", "--1",
            "1.5.5", "1e5e5", "1e5.5", "1_0", "\u{661}",
        ] {
            assert!(Number::new(text.as_bytes()).is_none(), "{text}");
        }
        for byte in 0..=255u8 {
            for place in 0..20 {
                let mut bytes = [b'7'; 20];
                bytes[place] = byte;
                let expected = bytes.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(20);
                assert_eq!(digits_len(&bytes), expected);
                assert_eq!(digits_len(&bytes[place..]), expected - place.min(expected));
            }
        }
        assert_eq!(digits_len(b""), 0);
        assert_eq!(end(b"-x", 0), Err(JsonErrorKind::BadNumber.at(1)));
        assert_eq!(end(b"1.", 0), Err(JsonErrorKind::UnexpectedEnd.at(2)));
        assert_eq!(end(b"012", 0), Ok(1));
        assert_eq!(number("1e999").to_f64(), f64::INFINITY);
    }

    #[test]
    fn short_finds_the_same_end_as_end() {
        let mut seen = 0;
        for number in ["0", "7", "00", "01", "42", "255", "1234567", "12345678", "-1", "1.5", "1e3", "1E3", "x", "9."] {
            for after in [",", "]", " ", ",.5e1,34", ""] {
                let text = std::format!("[{number}{after}           ");
                let end = end(text.as_bytes(), 1).ok();
                if let Some(rest) = short(&text.as_bytes()[1..]) {
                    assert_eq!(Some(text.len() - rest.len()), end, "{text}");
                    seen += 1;
                }
            }
            assert_eq!(short(number.as_bytes()), None, "no byte follows it");
        }
        assert!(seen > 20, "{seen}");
    }
}
