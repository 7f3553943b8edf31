//! Recognizes a bare value, which is a JSON value without an object (a scalar, or an array of bare values), in bytes
//! that arrive in slices.

use crate::visits::visit;

/// What is expected next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    Value,
    /// After a `[`: a value, or the end of the array.
    First,
    /// After a value.
    After,
    /// In a literal; the next letter is the one at this position of [`LETTERS`].
    Letter(u8),
    String,
    Escape,
    /// In a `\u` escape that lacks this many digits.
    Hex(u8),
    Minus,
    Zero,
    Digits,
    Point,
    Fraction,
    Exponent,
    ExponentSign,
    ExponentDigits,
    /// The bytes are not a bare value.
    Other,
    /// The value was complete, and other bytes follow.
    Past,
}

/// The literals without their first letters.
const LETTERS: &[u8] = b"rue alse ull ";

/// Incremental state: how far a bare value has been read, by the grammar of RFC 8259. Plain text is rejected after a
/// few bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bare {
    at: At,
    /// Number of open arrays.
    depth: u8,
}

impl Bare {
    /// The state before the first byte.
    pub(crate) const NOTHING: Bare = Bare { at: At::Value, depth: 0 };

    /// Whether the bytes are certainly not a bare value, or not only one.
    pub(crate) fn is_other(self) -> bool {
        matches!(self.at, At::Other | At::Past)
    }

    /// Whether bytes other than blanks follow a complete value.
    pub(crate) fn is_past(self) -> bool {
        self.at == At::Past
    }

    /// Whether the bytes so far are a complete value and blanks.
    pub(crate) fn is_whole(self) -> bool {
        self.depth == 0 && matches!(self.at, At::After | At::Zero | At::Digits | At::Fraction | At::ExponentDigits)
    }

    /// Reads `bytes`. A line end counts as a blank.
    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            if self.is_other() {
                return;
            }
            visit!(1);
            let was_whole = self.is_whole();
            self.at = match self.next(byte) {
                At::Other if was_whole => At::Past,
                at => at,
            };
        }
    }

    fn next(&mut self, byte: u8) -> At {
        match (self.at, byte) {
            (At::Value | At::First | At::After, b' ' | b'\t' | b'\n' | b'\r') => self.at,
            (At::First, b']') => self.close(),
            (At::Value | At::First, _) => self.begin(byte),
            (At::After, b',') if self.depth > 0 => At::Value,
            (At::After, b']') if self.depth > 0 => self.close(),
            (At::Letter(at), _) if LETTERS.get(usize::from(at)) == Some(&byte) => {
                let next = at.saturating_add(1);
                if LETTERS.get(usize::from(next)) == Some(&b' ') {
                    At::After
                } else {
                    At::Letter(next)
                }
            }
            (At::String, b'"') => At::After,
            (At::String, b'\\') => At::Escape,
            (At::String, b' '..) => At::String,
            (At::Escape, b'u') => At::Hex(4),
            (At::Escape, b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => At::String,
            (At::Hex(left), b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F') => {
                if left > 1 {
                    At::Hex(left.saturating_sub(1))
                } else {
                    At::String
                }
            }
            (At::Minus, b'0') => At::Zero,
            (At::Minus | At::Digits, b'0'..=b'9') => At::Digits,
            (At::Zero | At::Digits, b'.') => At::Point,
            (At::Point | At::Fraction, b'0'..=b'9') => At::Fraction,
            (At::Zero | At::Digits | At::Fraction, b'e' | b'E') => At::Exponent,
            (At::Exponent, b'+' | b'-') => At::ExponentSign,
            (At::Exponent | At::ExponentSign | At::ExponentDigits, b'0'..=b'9') => At::ExponentDigits,
            (At::Zero | At::Digits | At::Fraction | At::ExponentDigits, b' ' | b'\t' | b'\n' | b'\r') => At::After,
            (At::Zero | At::Digits | At::Fraction | At::ExponentDigits, b',') if self.depth > 0 => At::Value,
            (At::Zero | At::Digits | At::Fraction | At::ExponentDigits, b']') if self.depth > 0 => self.close(),
            _ => At::Other,
        }
    }

    fn begin(&mut self, byte: u8) -> At {
        match byte {
            b'[' => match self.depth.checked_add(1) {
                Some(depth) => {
                    self.depth = depth;
                    At::First
                }
                None => At::Other,
            },
            b'"' => At::String,
            b'-' => At::Minus,
            b'0' => At::Zero,
            b'1'..=b'9' => At::Digits,
            b't' => At::Letter(0),
            b'f' => At::Letter(4),
            b'n' => At::Letter(9),
            _ => At::Other,
        }
    }

    fn close(&mut self) -> At {
        self.depth = self.depth.saturating_sub(1);
        At::After
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::indexing_slicing)]
    extern crate std;
    use super::Bare;
    use std::string::String;
    use std::vec::Vec;

    /// Compares every string of up to 6 tokens, cut once, with the strict check. Values with an object are not
    /// accepted.
    #[test]
    fn a_value_is_whole_if_the_strict_check_finds_its_end() {
        const TOKENS: [&str; 16] =
            ["0", "7", "-", ".", "e", "+", "\"", "\\", "\\u00e9", "true", "nul", "l", "[", "]", ",", " "];
        let mut strings: Vec<String> = std::vec![String::new()];
        let (mut tried, mut whole) = (0, 0);
        for len in 1..=5 {
            let mut longer = Vec::new();
            for string in &strings {
                for token in TOKENS {
                    let string = std::format!("{string}{token}");
                    let cut = len % string.len();
                    let mut bare = Bare::NOTHING;
                    bare.feed(&string.as_bytes()[..cut]);
                    bare.feed(&string.as_bytes()[cut..]);
                    let sound = crate::json::validate(string.as_bytes(), 128).is_ok();
                    assert_eq!(bare.is_whole(), sound, "{string}");
                    whole += usize::from(sound);
                    tried += 1;
                    if len < 5 {
                        longer.push(string);
                    }
                }
            }
            strings = longer;
        }
        assert!(tried > 1_000_000 && whole > 1000, "{tried} {whole}");
        for (bytes, past) in [(&b"{}"[..], false), (b"[1,{", false), (b"[1] {", true), (b"1x", true), (b"1.x", false)] {
            let mut bare = Bare::NOTHING;
            bare.feed(bytes);
            assert!(bare.is_other() && bare.is_past() == past, "{bytes:?}");
        }
    }
}
