//! Checks JSON that comes in pieces, without storing them.

/// The deepest nesting that is accepted.
const MAX_DEPTH: u32 = 127;

/// What may come next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expected {
    Value,
    /// The first element of an array, or its end.
    Element,
    /// The first name of an object, or its end.
    FirstName,
    Name,
    Colon,
    /// After a value: a comma, or the end of what contains it.
    Behind,
    /// In a string.
    Text,
    Escape,
    /// In a string, before so many hex digits.
    Hex(u8),
    /// In a word, with the rest of it.
    Word(&'static [u8]),
    Number(Digits),
    Fault,
}

/// How far a number came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Digits {
    Sign,
    Zero,
    Whole,
    Point,
    Fraction,
    Exponent,
    ExponentSign,
    Power,
}

/// Whether the bytes so far are one JSON value by RFC 8259. They must be valid UTF-8.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Checker {
    expected: Expected,
    /// Whether the string is a name.
    is_name: bool,
    /// One bit for each open container, the innermost lowest: 1 for an array.
    arrays: u128,
    depth: u32,
}

impl Checker {
    pub(crate) const START: Checker = Checker { expected: Expected::Value, is_name: false, arrays: 0, depth: 0 };

    /// Whether the value is whole.
    pub(crate) fn is_whole(&self) -> bool {
        let is_over = match self.expected {
            Expected::Behind => true,
            Expected::Number(digits) => digits.may_end(),
            _ => false,
        };
        self.depth == 0 && is_over
    }

    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.byte(*byte));
    }

    fn byte(&mut self, byte: u8) {
        self.expected = match self.expected {
            Expected::Text => match byte {
                b'"' if self.is_name => Expected::Colon,
                b'"' => Expected::Behind,
                b'\\' => Expected::Escape,
                0..=0x1f => Expected::Fault,
                _ => return,
            },
            Expected::Escape => match byte {
                b'u' => Expected::Hex(4),
                b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Expected::Text,
                _ => Expected::Fault,
            },
            Expected::Hex(1) if byte.is_ascii_hexdigit() => Expected::Text,
            Expected::Hex(left) if byte.is_ascii_hexdigit() => Expected::Hex(left.saturating_sub(1)),
            Expected::Word([next]) if byte == *next => Expected::Behind,
            Expected::Word([next, rest @ ..]) if byte == *next => Expected::Word(rest),
            Expected::Hex(_) | Expected::Word(_) => Expected::Fault,
            Expected::Number(digits) => match digits.after(byte) {
                Some(digits) => Expected::Number(digits),
                None if digits.may_end() => self.behind(byte),
                None => Expected::Fault,
            },
            _ if matches!(byte, b' ' | b'\t' | b'\n' | b'\r') => return,
            Expected::Element if byte == b']' => self.close(),
            Expected::Value | Expected::Element => self.begin(byte),
            Expected::FirstName if byte == b'}' => self.close(),
            Expected::FirstName | Expected::Name if byte == b'"' => self.text(true),
            Expected::Colon if byte == b':' => Expected::Value,
            Expected::Behind => self.behind(byte),
            _ => Expected::Fault,
        };
    }

    /// Takes in a byte after a value.
    fn behind(&mut self, byte: u8) -> Expected {
        match (self.arrays & 1 != 0, byte) {
            (_, b' ' | b'\t' | b'\n' | b'\r') => Expected::Behind,
            _ if self.depth == 0 => Expected::Fault,
            (true, b',') => Expected::Value,
            (false, b',') => Expected::Name,
            (true, b']') | (false, b'}') => self.close(),
            _ => Expected::Fault,
        }
    }

    fn begin(&mut self, byte: u8) -> Expected {
        match byte {
            b'{' => self.open(false, Expected::FirstName),
            b'[' => self.open(true, Expected::Element),
            b'"' => self.text(false),
            b't' => Expected::Word(b"rue"),
            b'f' => Expected::Word(b"alse"),
            b'n' => Expected::Word(b"ull"),
            b'-' => Expected::Number(Digits::Sign),
            b'0' => Expected::Number(Digits::Zero),
            b'1'..=b'9' => Expected::Number(Digits::Whole),
            _ => Expected::Fault,
        }
    }

    fn text(&mut self, is_name: bool) -> Expected {
        self.is_name = is_name;
        Expected::Text
    }

    fn open(&mut self, is_array: bool, inside: Expected) -> Expected {
        if self.depth >= MAX_DEPTH {
            return Expected::Fault;
        }
        (self.depth, self.arrays) = (self.depth.saturating_add(1), self.arrays << 1 | u128::from(is_array));
        inside
    }

    fn close(&mut self) -> Expected {
        (self.depth, self.arrays) = (self.depth.saturating_sub(1), self.arrays >> 1);
        Expected::Behind
    }
}

impl Digits {
    /// Whether the number may end here.
    fn may_end(self) -> bool {
        matches!(self, Digits::Zero | Digits::Whole | Digits::Fraction | Digits::Power)
    }

    /// Returns how far the number comes with this byte, or `None` if the byte is not a part of it.
    fn after(self, byte: u8) -> Option<Digits> {
        Some(match (self, byte) {
            (Digits::Sign, b'0') => Digits::Zero,
            (Digits::Sign, b'1'..=b'9') | (Digits::Whole, b'0'..=b'9') => Digits::Whole,
            (Digits::Zero | Digits::Whole, b'.') => Digits::Point,
            (Digits::Point | Digits::Fraction, b'0'..=b'9') => Digits::Fraction,
            (Digits::Zero | Digits::Whole | Digits::Fraction, b'e' | b'E') => Digits::Exponent,
            (Digits::Exponent, b'+' | b'-') => Digits::ExponentSign,
            (Digits::Exponent | Digits::ExponentSign | Digits::Power, b'0'..=b'9') => Digits::Power,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::Checker;
    use std::string::String;
    use std::vec::Vec;

    /// The check in pieces agrees with the check of the whole, for every JSON-like text of up to five of these tokens.
    #[test]
    fn pieces_are_checked_as_the_whole() {
        let tokens: Vec<_> = r#"{|}|[|]|,|:|"a"|"\u00e9\"|"|1|0|-|.5|e+|true|nul| |é"#.split('|').collect();
        let (mut texts, mut whole) = (std::vec![String::new()], 0);
        for _ in 0..4 {
            let longer = texts.iter().flat_map(|text| tokens.iter().map(|token| text.clone() + token)).collect();
            for text in &texts {
                let mut checker = Checker::START;
                text.as_bytes().iter().for_each(|byte| checker.feed(&[*byte]));
                assert_eq!(checker.is_whole(), crate::json::validate(text.as_bytes(), 128).is_ok(), "{text}");
                whole += usize::from(checker.is_whole());
            }
            texts = longer;
        }
        assert!(whole > 100, "{whole}");
    }

    #[test]
    fn deep_nesting_is_refused() {
        let nested = |depth: usize| {
            let mut checker = Checker::START;
            (0..depth).for_each(|_| checker.feed(b"["));
            (0..depth).for_each(|_| checker.feed(b"]"));
            checker.is_whole()
        };
        assert!(nested(127) && !nested(128));
    }
}
