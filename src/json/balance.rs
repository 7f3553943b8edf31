//! Finds the end of a JSON object, array or string in bytes that arrive in slices.

use crate::scan::block64::prefix_xor;
use crate::scan::quoted::Marks;
use crate::scan::string;
use crate::visits::visit;

/// Incremental state: how far a JSON object has been read. With [`feed_value`](Self::feed_value), the value may also be
/// an array or a string.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Balance {
    depth: u32,
    in_string: bool,
    escaped: bool,
    /// Whether the first byte that is not whitespace does not begin such a value. After [`follow`](Self::follow), also
    /// whether bytes that are not whitespace follow the value.
    other: bool,
    /// Whether the first byte that is not whitespace begins no JSON value at all.
    broken: bool,
    closed: bool,
    /// Whether the value is a string.
    text: bool,
}

impl Balance {
    /// The state before the first byte.
    pub(crate) const NOTHING: Balance =
        Balance { depth: 0, in_string: false, escaped: false, other: false, broken: false, closed: false, text: false };

    /// Whether the value began and has not ended.
    pub(crate) fn is_open(&self) -> bool {
        self.depth > 0 || self.in_string
    }

    /// Whether the value ended.
    pub(crate) fn is_closed(&self) -> bool {
        self.closed
    }

    /// Whether the value is an object or an array, and ended.
    pub(crate) fn is_closed_container(&self) -> bool {
        self.closed && !self.text
    }

    /// Whether the first byte that is not whitespace begins no JSON value at all.
    pub(crate) fn is_broken(&self) -> bool {
        self.broken
    }

    /// Whether further bytes cannot change the result, because the value ended or the bytes are not such a value.
    pub(crate) fn is_over(&self) -> bool {
        self.closed || self.other
    }

    /// Whether the bytes are not an object.
    #[inline(always)]
    pub(crate) fn is_no_object(&self) -> bool {
        self.other && !self.closed
    }

    /// Whether the object ended and only whitespace followed, in the bytes passed to [`follow`](Self::follow).
    pub(crate) fn is_whole(&self) -> bool {
        self.closed && !self.other
    }

    /// Reads `bytes`, including those after the object.
    pub(crate) fn follow(&mut self, bytes: &[u8]) {
        let after = if self.closed { Some(0) } else { self.feed(bytes) };
        let after = after.and_then(|at| bytes.get(at..)).filter(|_| !self.other).unwrap_or_default();
        let other = after.iter().position(|byte| !matches!(byte, b' ' | b'\t' | b'\n' | b'\r'));
        visit!(other.map_or(after.len(), |at| at.saturating_add(1)));
        self.other |= other.is_some();
    }

    /// Reads `bytes` up to the end of the object. Returns the offset one past its closing byte.
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> Option<usize> {
        self.feed_as::<false>(bytes)
    }

    /// Does what [`feed`](Self::feed) does, for an object, an array or a string.
    pub(crate) fn feed_value(&mut self, bytes: &[u8]) -> Option<usize> {
        self.feed_as::<true>(bytes)
    }

    #[inline(always)]
    fn feed_as<const ANY: bool>(&mut self, bytes: &[u8]) -> Option<usize> {
        if self.is_over() {
            return None;
        }
        let mut at = 0;
        loop {
            if self.in_string && !self.escaped {
                let Some(end) = string::end(bytes, at) else {
                    let rest = bytes.get(at..).unwrap_or_default();
                    let backslashes = rest.iter().rev().take_while(|byte| **byte == b'\\').count();
                    self.escaped = backslashes % 2 != 0;
                    return None;
                };
                at = end.at;
            }
            let byte = *bytes.get(at)?;
            visit!(1);
            at = at.saturating_add(1);
            if self.follow_byte::<ANY>(byte) {
                return self.closed.then_some(at);
            }
        }
    }

    /// Whether a string is open.
    #[inline(always)]
    pub(crate) fn is_in_string(&self) -> bool {
        self.in_string
    }

    /// Whether a byte of an object or array changes nothing, because it is not a quote, backslash or bracket.
    #[inline(always)]
    pub(crate) fn passes(&self, byte: u8) -> bool {
        self.depth > 0 && !self.escaped && !matches!(byte, b'{' | b'[' | b'}' | b']' | b'"' | b'\\')
    }

    /// Reads a text of `len` bytes, in an object or array, by its marks. Returns `false`, with no effect, if bytes
    /// follow the end of the value, if the value has not begun, or if the byte before the text is a backslash.
    #[inline(always)]
    pub(crate) fn follow_marks(&mut self, marks: Marks, len: usize) -> bool {
        if self.depth == 0 || self.escaped {
            return false;
        }
        let before = if self.in_string { u32::MAX } else { 0 };
        let inside = prefix_xor(u64::from(marks.quotes)) as u32 ^ before;
        let (open, mut brackets, mut depth) = (marks.open & !inside, (marks.open | marks.close) & !inside, self.depth);
        visit!(brackets.count_ones() as usize);
        while brackets != 0 {
            let bracket = brackets & brackets.wrapping_neg();
            brackets ^= bracket;
            if open & bracket != 0 {
                depth = depth.saturating_add(1);
                continue;
            }
            depth = depth.saturating_sub(1);
            if depth == 0 && bracket.checked_shr(len.saturating_sub(1) as u32) != Some(1) {
                return false;
            }
        }
        self.closed = depth == 0;
        // The top bit is the parity of all quotes, which says whether a string is open.
        self.in_string = inside >> 31 != 0;
        self.depth = depth;
        true
    }

    /// Reads one byte inside a string. A run of bytes that are neither backslash nor quote has the same effect as one
    /// of them.
    #[inline(always)]
    pub(crate) fn follow_inside(&mut self, byte: u8) {
        if self.escaped {
            self.escaped = false;
        } else if byte == b'\\' {
            self.escaped = true;
        } else if byte == b'"' {
            self.in_string = false;
        }
    }

    /// Reads one byte of an object, or of `ANY` value, unless the value [`is_over`](Self::is_over). Returns whether it
    /// is over now.
    #[inline(always)]
    pub(crate) fn follow_byte<const ANY: bool>(&mut self, byte: u8) -> bool {
        if self.in_string {
            self.follow_inside(byte);
            // A string at depth 0 is the whole value.
            self.closed = ANY && !self.in_string && self.depth == 0;
            return self.closed;
        }
        match byte {
            b'"' if ANY || self.depth > 0 => (self.in_string, self.text) = (true, self.depth == 0),
            b'{' => self.depth = self.depth.saturating_add(1),
            b'[' if ANY || self.depth > 0 => self.depth = self.depth.saturating_add(1),
            b'}' | b']' if self.depth > 0 => {
                self.depth = self.depth.saturating_sub(1);
                self.closed = self.depth == 0;
                return self.closed;
            }
            b' ' | b'\t' | b'\n' | b'\r' => {}
            _ if self.depth == 0 => {
                self.other = true;
                self.broken = !matches!(byte, b'-' | b'0'..=b'9' | b't' | b'f' | b'n');
                return true;
            }
            _ => {}
        }
        false
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    use super::Balance;

    #[test]
    fn ends_where_the_value_ends_however_it_is_cut() {
        for (json, begin, end) in [
            (&br#"{}x"#[..], 0, 2),
            (br#" {"a":"}\"]","b":[{}]} ,"#, 1, 22),
            (br#"{"a":["#, 0, NONE),
            (br#"{"a\\":1}{}"#, 0, 9),
            (b"\t\r\n {}", 4, 6),
            (br#"x{}"#, NONE, NONE),
            (br#""{}" {}"#, NONE, NONE),
            (br#"[{}]"#, NONE, NONE),
            (br#"] {}"#, NONE, NONE),
            (br#"}{}"#, NONE, NONE),
        ] {
            ends_at(json, begin, end, Balance::feed);
            // An object ends in the same place if arrays and strings are allowed, too.
            if json.trim_ascii_start().first() == Some(&b'{') {
                ends_at(json, begin, end, Balance::feed_value);
            }
        }
        for (json, begin, end) in [
            (&br#"[1,"]",{"a":[]}]x"#[..], 0, 16),
            (b" []", 1, 3),
            (br#" "a\"[" "#, 1, 7),
            (br#""" {}"#, 0, 2),
            (br#""a\"#, 0, NONE),
            (b"12 []", NONE, NONE),
            (b"true", NONE, NONE),
            (b"]", NONE, NONE),
        ] {
            ends_at(json, begin, end, Balance::feed_value);
        }
    }

    /// Checks the offsets of the start and end of a value; `NONE` for values of another kind.
    const NONE: usize = usize::MAX;

    fn ends_at(json: &[u8], begin: usize, end: usize, feed: fn(&mut Balance, &[u8]) -> Option<usize>) {
        for cut in 0..=json.len() {
            let shown = core::str::from_utf8(json).unwrap();
            let mut balance = Balance::default();
            let first = feed(&mut balance, &json[..cut]);
            assert_eq!(balance.is_open(), begin < cut && cut < end, "{shown:?} at {cut}");
            assert_eq!(balance.is_closed(), end <= cut, "{shown:?} at {cut}");
            let got = first.or_else(|| feed(&mut balance, &json[cut..]).map(|at| at + cut));
            assert_eq!(got, Some(end).filter(|end| *end != NONE), "{shown:?} at {cut}");
        }
    }
}
