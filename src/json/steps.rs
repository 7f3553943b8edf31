//! The steps of reading JSON, for callers that track which containers they entered.
//!
//! [`Steps`] is a slice that becomes shorter. Common paths are inlined, and functions out of line take the slice
//! instead of `&mut Steps`, so that the compiler can keep a `Steps` in registers. Strings and literals without
//! whitespace around them, which nearly all are, take a fast path.

use super::error::{JsonError, JsonErrorKind};
use super::kind::ValueKinds;
use super::lexeme::{literal_end, significant, skip_space};
use super::number;
use super::text::TextFlags;
use crate::scan::{
    container,
    string::{self, StringEnd},
};
use crate::visits::visit;

/// A position in JSON bytes, and how many levels deeper it may go.
#[derive(Clone, Copy)]
pub(crate) struct Steps<'a> {
    bytes: &'a [u8],
    /// The bytes not read yet, a suffix of `bytes`.
    rest: &'a [u8],
    /// How many more levels may be entered.
    levels: u32,
    /// Whether the bytes read so far may contain a CR or an LF.
    breaks: bool,
}

/// The byte before a name, if it was not passed yet, and the name's quote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub(crate) enum Before {
    /// The object's bracket.
    Bracket = u16::from_le_bytes(*b"{\""),
    Comma = u16::from_le_bytes(*b",\""),
}

/// The first bytes of a member: its name in quotes, and the colon.
pub(crate) struct Head {
    bytes: u128,
    /// All ones where a byte counts.
    mask: u128,
}

impl Head {
    /// How many bytes a head has at most.
    const LEN: usize = 16;

    pub(crate) const fn of(name: &str) -> Self {
        let (mut head, mut at) = (Head { bytes: b'"' as u128, mask: 0xff }, 1);
        let mut rest = name.as_bytes();
        while at < Head::LEN && at < name.len() + 3 {
            let byte = match rest {
                [byte, after @ ..] => {
                    rest = after;
                    *byte
                }
                [] if at == name.len() + 1 => b'"',
                [] => b':',
            };
            head.bytes |= (byte as u128) << (8 * at);
            head.mask |= 0xff << (8 * at);
            at += 1;
        }
        head
    }
}

/// A value that was skipped.
#[derive(Clone, Copy)]
pub(crate) struct Skipped {
    /// Offset of its first byte.
    pub(crate) start: usize,
    /// Offset one past its last byte.
    pub(crate) end: usize,
    pub(crate) kind: ValueKinds,
    /// For a string, what its bytes may contain.
    pub(crate) flags: TextFlags,
}

impl<'a> Steps<'a> {
    /// Starts at `offset`; containers may nest `levels` deep.
    #[inline]
    pub(crate) fn new(bytes: &'a [u8], offset: usize, levels: u32) -> Self {
        Steps { bytes, rest: bytes.get(offset..).unwrap_or_default(), levels, breaks: false }
    }

    #[inline(always)]
    pub(crate) fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Returns the bytes not read yet.
    #[inline(always)]
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    #[inline(always)]
    pub(crate) fn offset(&self) -> usize {
        self.bytes.len().wrapping_sub(self.rest.len())
    }

    #[inline(always)]
    pub(crate) fn levels(&self) -> u32 {
        self.levels
    }

    /// Whether the bytes read so far may contain a CR or an LF, as whitespace or in a string.
    #[inline(always)]
    pub(crate) fn may_break(&self) -> bool {
        self.breaks
    }

    /// Moves to the end, so that every further step fails.
    #[inline(always)]
    pub(crate) fn stop(&mut self) {
        self.rest = &[];
    }

    /// Moves to the position of `other`, which reads the same bytes.
    #[inline(always)]
    pub(crate) fn go_to(&mut self, other: Steps<'a>) {
        (self.rest, self.levels, self.breaks) = (other.rest, other.levels, other.breaks);
    }

    /// Skips whitespace and returns the next byte, or 0 at the end.
    #[inline(always)]
    pub(crate) fn peek(&mut self) -> u8 {
        match self.rest {
            [byte, ..] if *byte > b' ' => *byte,
            _ => {
                self.skip_space();
                self.rest.first().copied().unwrap_or(0)
            }
        }
    }

    #[inline(always)]
    fn skip_space(&mut self) {
        (self.rest, self.breaks) = (skip_space(self.rest), true);
    }

    /// Enters the container that begins with `bracket`.
    #[inline(always)]
    pub(crate) fn enter(&mut self, bracket: u8) -> Result<(), JsonError> {
        self.descend(bracket)?;
        self.rest = self.rest.get(1..).unwrap_or_default();
        Ok(())
    }

    /// Enters the object or array that begins with `bracket`, but stays before the bracket. In an object,
    /// [`tag`](Steps::tag) and [`more_after`](Steps::more_after) then compare or pass the bracket together with the
    /// bytes after it.
    #[inline(always)]
    pub(crate) fn descend(&mut self, bracket: u8) -> Result<(), JsonError> {
        if self.peek() != bracket {
            return Err(self.unexpected());
        }
        match self.levels.checked_sub(1) {
            Some(levels) => {
                self.levels = levels;
                Ok(())
            }
            None => Err(JsonErrorKind::TooDeep.at(self.offset())),
        }
    }

    /// Does what [`descend`](Steps::descend) does, if `bracket` is the next byte and a level is left. Returns whether
    /// it did.
    #[inline(always)]
    pub(crate) fn descend_here(&mut self, bracket: u8) -> bool {
        match (self.rest, self.levels.checked_sub(1)) {
            ([byte, ..], Some(levels)) if *byte == bracket => {
                self.levels = levels;
                true
            }
            _ => false,
        }
    }

    /// Enters an array whose first element is an object, without whitespace between their brackets. Returns whether it
    /// did.
    #[inline(always)]
    pub(crate) fn enter_objects(&mut self) -> bool {
        match (self.rest, self.levels.checked_sub(1)) {
            ([b'[', rest @ ..], Some(levels)) if rest.first() == Some(&b'{') => {
                (self.rest, self.levels) = (rest, levels);
                true
            }
            _ => false,
        }
    }

    /// At the bracket of an object, or after a member: passes the bracket or the comma and returns `true`, or consumes
    /// the closing brace and returns `false`.
    #[inline(always)]
    pub(crate) fn more_after(&mut self, before: Before) -> Result<bool, JsonError> {
        if before == Before::Comma {
            return self.more(b'}');
        }
        self.rest = self.rest.get(1..).unwrap_or_default();
        Ok(self.first(b'}'))
    }

    /// After an opening bracket: returns whether the container has contents. Consumes the closing bracket if not.
    #[inline(always)]
    pub(crate) fn first(&mut self, close: u8) -> bool {
        self.peek();
        !self.close(close)
    }

    /// After a value: consumes the comma and returns `true`, or consumes the closing bracket and returns `false`.
    #[inline(always)]
    pub(crate) fn more(&mut self, close: u8) -> Result<bool, JsonError> {
        if let [b',', rest @ ..] = self.rest {
            self.rest = rest;
            return Ok(true);
        }
        if self.close(close) {
            return Ok(false);
        }
        self.skip_space();
        if let [b',', rest @ ..] = self.rest {
            self.rest = rest;
            return Ok(true);
        }
        if self.close(close) {
            return Ok(false);
        }
        Err(self.unexpected())
    }

    /// Consumes the closing bracket and returns `true`, if it is the next byte.
    #[inline(always)]
    pub(crate) fn close(&mut self, close: u8) -> bool {
        match self.rest {
            [byte, rest @ ..] if *byte == close => {
                (self.rest, self.levels) = (rest, self.levels.saturating_add(1));
                true
            }
            _ => false,
        }
    }

    /// Checks that a value can begin at the next byte.
    #[inline(always)]
    pub(crate) fn expect_value(&mut self) -> Result<(), JsonError> {
        match self.peek() {
            b'"' | b'{' | b'[' | b'-' | b'0'..=b'9' | b't' | b'f' | b'n' => Ok(()),
            _ => Err(self.unexpected()),
        }
    }

    /// Returns the tag of the next name: the first four bytes after its opening quote, which include the closing quote
    /// and the colon of a short name. `before` must not be passed yet. Returns 0 if the next bytes are not `before`, or
    /// if the end is too near: then use [`more_after`](Steps::more_after) and [`name`](Steps::name).
    #[inline(always)]
    pub(crate) fn tag(&self, before: Before) -> u32 {
        let Some(eight) = self.rest.first_chunk() else { return 0 };
        visit!(8);
        let word = u64::from_le_bytes(*eight);
        if word as u16 == before as u16 {
            (word >> 16) as u32
        } else {
            0
        }
    }

    /// Skips the name whose [`tag`](Steps::tag) matched, with the byte before it and its colon, if the bytes after the
    /// tag are `end`: the rest of the name, its quote and the colon. Returns whether it did.
    #[inline(always)]
    pub(crate) fn took(&mut self, end: &[u8]) -> bool {
        let after = self.rest.get(6..).and_then(|rest| rest.strip_prefix(end));
        if let Some(rest) = after {
            visit!(end.len());
            self.rest = rest;
        }
        after.is_some()
    }

    /// Skips these bytes, if they come next. Returns whether it did.
    #[inline(always)]
    pub(crate) fn take(&mut self, bytes: &[u8]) -> bool {
        let after = self.rest.strip_prefix(bytes);
        if let Some(rest) = after {
            visit!(bytes.len());
            self.rest = rest;
        }
        after.is_some()
    }

    /// Skips the name of a member and its colon, if they are this name, ASCII without escapes, and nothing else. Returns
    /// whether it did. Returns `false` near the end, too, and for a name of 14 bytes: then use [`name`](Steps::name).
    #[inline(always)]
    pub(crate) fn took_head(&mut self, head: &Head, name: &str) -> bool {
        let Some((first, after)) = self.rest.split_first_chunk() else { return false };
        visit!(Head::LEN);
        if (u128::from_le_bytes(*first) ^ head.bytes) & head.mask != 0 {
            return false;
        }
        let rest = if name.len() <= Head::LEN - 3 {
            self.rest.get(name.len().wrapping_add(3)..)
        } else {
            // Compare what is behind the first bytes once more with the end of the name.
            let behind = name.as_bytes().get(Head::LEN - 1..).unwrap_or_default();
            after.strip_prefix(behind).and_then(|rest| rest.strip_prefix(b"\":"))
        };
        if let Some(rest) = rest {
            self.rest = rest;
        }
        rest.is_some()
    }

    /// Skips a digit, and returns its value.
    #[inline(always)]
    pub(crate) fn digit(&mut self) -> Option<u32> {
        let (digit, rest) = self.rest.split_first().filter(|(byte, _)| byte.is_ascii_digit())?;
        self.rest = rest;
        Some(u32::from(digit & 15))
    }

    /// Skips a number of ten digits, directly followed by a comma or bracket. Times in seconds have ten digits until
    /// the year 2286. Returns whether it did.
    #[inline(always)]
    pub(crate) fn ten_digits(&mut self) -> bool {
        let Some((&[a, b, c, d, e, f, g, h, tens, ones], rest)) = self.rest.split_first_chunk::<10>() else {
            return false;
        };
        visit!(10);
        let is_number = a != b'0'
            && number::no_digits(u64::from_le_bytes([a, b, c, d, e, f, g, h])) == 0
            && tens.is_ascii_digit()
            && ones.is_ascii_digit()
            && matches!(rest, [b',' | b'}', ..]);
        if is_number {
            self.rest = rest;
        }
        is_number
    }

    /// Skips the next name and its colon. Returns the name, still escaped, and what its bytes may contain.
    #[inline(always)]
    pub(crate) fn name(&mut self) -> Result<(&'a [u8], TextFlags), JsonError> {
        self.peek();
        let [b'"', inner @ ..] = self.rest else { return Err(self.unexpected()) };
        let (len, flags) = self.string(inner)?;
        self.peek();
        let [b':', rest @ ..] = self.rest else { return Err(self.unexpected()) };
        self.rest = rest;
        Ok((inner.get(..len).unwrap_or_default(), flags))
    }

    /// Skips the next value.
    #[inline(always)]
    pub(crate) fn value(&mut self) -> Result<Skipped, JsonError> {
        let start = self.offset();
        let read = |kind, end| Ok(Skipped { start, end, kind, flags: TextFlags::PLAIN });
        if self.plain_string() {
            return read(ValueKinds::STRING, self.offset());
        }
        if self.null() {
            return read(ValueKinds::NULL, self.offset());
        }
        match self.digits_only() {
            Some(integer) => Ok(integer),
            None => self.any_value(),
        }
    }

    /// Skips the next value, whatever it is.
    #[inline(always)]
    pub(crate) fn any_value(&mut self) -> Result<Skipped, JsonError> {
        let from = self.offset();
        let read = any_value(self.bytes, from, self.levels)?;
        self.rest = self.bytes.get(read.end..).unwrap_or_default();
        self.breaks |= read.start != from || read.flags.any(TextFlags::CONTROL);
        Ok(read)
    }

    /// Skips a string of [`PLAIN`](TextFlags::PLAIN) bytes that ends soon. Returns whether it did.
    #[inline(always)]
    pub(crate) fn plain_string(&mut self) -> bool {
        let [b'"', inner @ ..] = self.rest else { return false };
        let Some((_, rest)) = string::plain(self.bytes, inner) else { return false };
        self.rest = rest;
        true
    }

    /// Does what [`plain_string`](Steps::plain_string) does, for a string that is not near the end. Short enough to be
    /// inlined in many places.
    #[inline(always)]
    pub(crate) fn plain_string_before_end(&mut self) -> bool {
        let [b'"', inner @ ..] = self.rest else { return false };
        let Some(rest) = string::plain_before_end(inner) else { return false };
        self.rest = rest;
        true
    }

    /// Skips the next value, if it is a string that has an end.
    #[inline(always)]
    pub(crate) fn string_value(&mut self) -> Option<Skipped> {
        let start = self.offset();
        if self.plain_string_before_end() {
            return Some(Skipped { start, end: self.offset(), kind: ValueKinds::STRING, flags: TextFlags::PLAIN });
        }
        if self.rest.first() != Some(&b'"') {
            return None;
        }
        self.any_value().ok()
    }

    /// Skips `null`. Returns whether it did.
    #[inline(always)]
    pub(crate) fn null(&mut self) -> bool {
        match self.rest.split_first_chunk::<4>() {
            Some((four, rest)) if u32::from_le_bytes(*four) == u32::from_le_bytes(*b"null") => {
                self.rest = rest;
                true
            }
            _ => false,
        }
    }

    /// Skips a number of digits only, directly followed by a comma or bracket. Returns `None`, with no effect, for
    /// anything else: then use [`value`](Steps::value).
    #[inline(always)]
    pub(crate) fn digits_only(&mut self) -> Option<Skipped> {
        let len = match self.rest {
            [b'0'..=b'9', b',' | b'}', ..] => 1,
            // A leading zero may not be followed by digits.
            [b'1'..=b'9', ..] => number::digits_len(self.rest),
            _ => return None,
        };
        let rest = self.rest.get(len..)?;
        if !matches!(rest, [b',' | b'}' | b']', ..]) {
            return None;
        }
        let start = self.offset();
        self.rest = rest;
        Some(Skipped { start, end: start.wrapping_add(len), kind: ValueKinds::NUMBER, flags: TextFlags::PLAIN })
    }

    /// Skips this name, which is ASCII without escapes, and its colon, if they come next without blanks. Returns whether
    /// it did.
    #[inline(always)]
    pub(crate) fn take_name(&mut self, name: &str) -> bool {
        let named = || self.rest.strip_prefix(b"\"")?.strip_prefix(name.as_bytes())?.strip_prefix(b"\":");
        let after = named();
        if let Some(rest) = after {
            visit!(self.rest.len() - rest.len());
            self.rest = rest;
        }
        after.is_some()
    }

    /// Skips a number of 1 to 19 digits, with at most a space before it and a comma or a brace after it. Returns the
    /// number. Returns `None`, with no effect, for anything else.
    #[inline(always)]
    pub(crate) fn count(&mut self) -> Option<u64> {
        let digits = self.rest.strip_prefix(b" ").unwrap_or(self.rest);
        let (mut count, mut rest) = (0_u64, digits);
        while let [byte @ b'0'..=b'9', more @ ..] = rest {
            count = count.wrapping_mul(10).wrapping_add(u64::from(byte & 15));
            rest = more;
        }
        let len = digits.len().wrapping_sub(rest.len());
        // A leading zero may not be followed by digits, and 20 may be too many for 64 bits.
        let is_count = len == 1 || (2..=19).contains(&len) && digits.first() != Some(&b'0');
        if !is_count || !matches!(rest, [b',' | b'}', ..]) {
            return None;
        }
        visit!(self.rest.len() - rest.len() + 1);
        self.rest = rest;
        Some(count)
    }

    /// Skips the string whose bytes after the opening quote are `inner`. Returns its length and what its bytes may
    /// contain.
    #[inline(always)]
    fn string(&mut self, inner: &'a [u8]) -> Result<(usize, TextFlags), JsonError> {
        if let Some((len, rest)) = string::plain(self.bytes, inner) {
            self.rest = rest;
            return Ok((len, TextFlags::PLAIN));
        }
        let Some(end) = string_end(inner) else { return Err(JsonErrorKind::UnexpectedEnd.at(self.bytes.len())) };
        self.rest = inner.get(end.at.wrapping_add(1)..).unwrap_or_default();
        self.breaks |= end.control;
        Ok((end.at, TextFlags::of(&end)))
    }

    /// Returns the error for a byte that the grammar does not allow here.
    #[inline(always)]
    pub(crate) fn unexpected(&self) -> JsonError {
        unexpected(self.bytes, self.offset())
    }
}

/// Finds the end of a string that is long, not plain, or unterminated.
#[inline(never)]
fn string_end(inner: &[u8]) -> Option<StringEnd> {
    string::end(inner, 0)
}

/// Reads the value of any kind at `from`. Containers may nest `levels` deep.
#[inline(never)]
fn any_value(bytes: &[u8], from: usize, levels: u32) -> Result<Skipped, JsonError> {
    let (start, first) = significant(bytes, from);
    let mut flags = TextFlags::PLAIN;
    let end = match first {
        Some(b'"') => {
            let Some(end) = string::end(bytes, start.wrapping_add(1)) else {
                return Err(JsonErrorKind::UnexpectedEnd.at(bytes.len()));
            };
            flags = TextFlags::of(&end);
            end.at.wrapping_add(1)
        }
        Some(b'{' | b'[') => {
            let end = container::end(bytes, start, levels).map_err(|fault| match fault {
                container::Unbalanced::TooDeep(at) => JsonErrorKind::TooDeep.at(at),
                container::Unbalanced::UnexpectedEnd => JsonErrorKind::UnexpectedEnd.at(bytes.len()),
            })?;
            if end.breaks {
                flags = TextFlags::CONTROL;
            }
            end.at
        }
        Some(b'-' | b'0'..=b'9') => number::end(bytes, start)?,
        Some(first @ (b't' | b'f' | b'n')) => literal_end(bytes, start, first)?,
        _ => return Err(unexpected(bytes, start)),
    };
    Ok(Skipped { start, end, kind: ValueKinds::of(first.unwrap_or(0)), flags })
}

#[cold]
#[inline(never)]
fn unexpected(bytes: &[u8], at: usize) -> JsonError {
    let kind = if at < bytes.len() { JsonErrorKind::UnexpectedByte } else { JsonErrorKind::UnexpectedEnd };
    kind.at(at)
}
