//! The steps of a walk through JSON bytes, for those who know what they have entered.
//!
//! [`Steps`] is a slice that gets shorter. All that a step usually does is inline, and what is out of line gets the
//! slice and not the steps: so steps that nobody points to are kept in registers. Strings and literals that come without
//! whitespace round them, as nearly all do, take the short way.

use super::error::{JsonError, JsonErrorKind};
use super::lexeme::{literal_end, significant};
use super::number;
use super::text::TextFlags;
use crate::scan::{
    container,
    string::{self, StringEnd},
};

/// See the module.
#[derive(Clone, Copy)]
pub(crate) struct Steps<'a> {
    bytes: &'a [u8],
    /// What was not gone over yet: the end of `bytes`.
    rest: &'a [u8],
    /// How many levels more may be entered.
    levels: u32,
}

/// The kind of a value, as a bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kinds(u8);

impl Kinds {
    pub(crate) const NONE: Kinds = Kinds(0);
    pub(crate) const NULL: Kinds = Kinds(1);
    pub(crate) const STRING: Kinds = Kinds(2);
    pub(crate) const NUMBER: Kinds = Kinds(4);
    pub(crate) const OBJECT: Kinds = Kinds(8);
    /// An array, `true` or `false`.
    pub(crate) const OTHER: Kinds = Kinds(16);
    pub(crate) const ANY: Kinds = Kinds(31);

    /// The kinds of both.
    pub(crate) const fn or(self, other: Kinds) -> Kinds {
        Kinds(self.0 | other.0)
    }

    /// Whether one of them is among the others.
    #[inline(always)]
    pub(crate) const fn any(self, others: Kinds) -> bool {
        self.0 & others.0 != 0
    }

    /// Of the value that begins with `byte`.
    #[inline(always)]
    fn of(byte: u8) -> Kinds {
        match byte {
            b'-' | b'0'..=b'9' => Kinds::NUMBER,
            b'{' => Kinds::OBJECT,
            b'n' => Kinds::NULL,
            b'"' => Kinds::STRING,
            _ => Kinds::OTHER,
        }
    }
}

/// A value that was gone over.
#[derive(Clone, Copy)]
pub(crate) struct Read {
    /// Where it begins.
    pub(crate) start: usize,
    /// Where it ends.
    pub(crate) end: usize,
    pub(crate) kind: Kinds,
    /// What is known of a string.
    pub(crate) flags: TextFlags,
}

impl<'a> Steps<'a> {
    /// Steps that begin at `offset`, with so many levels to enter.
    #[inline]
    pub(crate) fn new(bytes: &'a [u8], offset: usize, levels: u32) -> Self {
        Steps { bytes, rest: bytes.get(offset..).unwrap_or_default(), levels }
    }

    #[inline(always)]
    pub(crate) fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    #[inline(always)]
    pub(crate) fn offset(&self) -> usize {
        self.bytes.len().wrapping_sub(self.rest.len())
    }

    #[inline(always)]
    pub(crate) fn levels(&self) -> u32 {
        self.levels
    }

    /// Goes to the end, where no step leads anywhere.
    #[inline(always)]
    pub(crate) fn stop(&mut self) {
        self.rest = &[];
    }

    /// Takes the place of others on the same bytes and the same level.
    #[inline(always)]
    pub(crate) fn go_to(&mut self, other: Steps<'a>) {
        self.rest = other.rest;
    }

    /// The first byte of what comes next, whitespace apart; 0 at the end.
    #[inline(always)]
    pub(crate) fn peek(&mut self) -> u8 {
        match self.rest {
            [byte, ..] if *byte > b' ' => *byte,
            _ => {
                self.rest = skip_space(self.rest);
                self.rest.first().copied().unwrap_or(0)
            }
        }
    }

    /// Enters the container that begins with `bracket`.
    #[inline(always)]
    pub(crate) fn enter(&mut self, bracket: u8) -> Result<(), JsonError> {
        self.peek();
        match self.rest {
            [byte, rest @ ..] if *byte == bracket => {
                let Some(levels) = self.levels.checked_sub(1) else {
                    return Err(JsonErrorKind::TooDeep.at(self.offset()));
                };
                (self.rest, self.levels) = (rest, levels);
                Ok(())
            }
            _ => Err(self.unexpected()),
        }
    }

    /// Right behind the opening bracket: goes over the closing one, if it comes; then `false`.
    #[inline(always)]
    pub(crate) fn first(&mut self, close: u8) -> bool {
        self.peek();
        !self.close(close)
    }

    /// Behind a value: goes over the comma, or over the closing bracket; then `false`.
    #[inline(always)]
    pub(crate) fn more(&mut self, close: u8) -> Result<bool, JsonError> {
        if let [b',', rest @ ..] = self.rest {
            self.rest = rest;
            return Ok(true);
        }
        if self.close(close) {
            return Ok(false);
        }
        self.rest = skip_space(self.rest);
        if let [b',', rest @ ..] = self.rest {
            self.rest = rest;
            return Ok(true);
        }
        if self.close(close) {
            return Ok(false);
        }
        Err(self.unexpected())
    }

    #[inline(always)]
    fn close(&mut self, close: u8) -> bool {
        match self.rest {
            [byte, rest @ ..] if *byte == close => {
                (self.rest, self.levels) = (rest, self.levels.saturating_add(1));
                true
            }
            _ => false,
        }
    }

    /// Makes sure that a value comes.
    #[inline(always)]
    pub(crate) fn expect_value(&mut self) -> Result<(), JsonError> {
        match self.peek() {
            b'"' | b'{' | b'[' | b'-' | b'0'..=b'9' | b't' | b'f' | b'n' => Ok(()),
            _ => Err(self.unexpected()),
        }
    }

    /// The first four bytes of the name that comes, its closing quote and the colon among them if it is so short. 0 says
    /// nothing.
    #[inline(always)]
    pub(crate) fn tag(&self) -> u32 {
        let Some(eight) = self.rest.first_chunk() else { return 0 };
        let word = u64::from_le_bytes(*eight);
        if word as u8 == b'"' {
            (word >> 8) as u32
        } else {
            0
        }
    }

    /// Goes over the name whose [`tag`](Steps::tag) was asked for, and over its colon, if `end` is what stands behind the four
    /// bytes of the tag: the rest of the name, its quote and the colon.
    #[inline(always)]
    pub(crate) fn took(&mut self, end: &[u8]) -> bool {
        let after = self.rest.get(5..).and_then(|rest| rest.strip_prefix(end));
        if let Some(rest) = after {
            self.rest = rest;
        }
        after.is_some()
    }

    /// The next name, still escaped, and what its bytes are like. Its value comes next.
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

    /// Goes over the value that comes.
    #[inline(always)]
    pub(crate) fn value(&mut self) -> Result<Read, JsonError> {
        let start = self.offset();
        if let [b'"', inner @ ..] = self.rest {
            let (_, flags) = self.string(inner)?;
            return Ok(Read { start, end: self.offset(), kind: Kinds::STRING, flags });
        }
        if let Some((b"null", rest)) = self.rest.split_first_chunk() {
            self.rest = rest;
            return Ok(Read { start, end: start.wrapping_add(4), kind: Kinds::NULL, flags: TextFlags::PLAIN });
        }
        let read = any_value(self.bytes, start, self.levels)?;
        self.rest = self.bytes.get(read.end..).unwrap_or_default();
        Ok(read)
    }

    /// Goes over a number that is digits alone, with a comma or a bracket right behind it. `None`: nothing was gone over,
    /// and what comes is for [`value`](Steps::value).
    #[inline(always)]
    pub(crate) fn plain_integer(&mut self) -> Option<Read> {
        let len = match self.rest {
            [b'0'..=b'9', b',' | b'}', ..] => 1,
            // Zero cannot be the first of several.
            [b'1'..=b'9', ..] => number::digits_len(self.rest),
            _ => return None,
        };
        let rest = self.rest.get(len..)?;
        if !matches!(rest, [b',' | b'}' | b']', ..]) {
            return None;
        }
        let start = self.offset();
        self.rest = rest;
        Some(Read { start, end: start.wrapping_add(len), kind: Kinds::NUMBER, flags: TextFlags::PLAIN })
    }

    /// Goes over the string that has `inner` behind its opening quote. Tells how long it is and what is in it.
    #[inline(always)]
    fn string(&mut self, inner: &'a [u8]) -> Result<(usize, TextFlags), JsonError> {
        if let Some((len, rest)) = string::plain(self.bytes, inner) {
            self.rest = rest;
            return Ok((len, TextFlags::PLAIN));
        }
        let Some(end) = string_end(inner) else { return Err(JsonErrorKind::UnexpectedEnd.at(self.bytes.len())) };
        self.rest = inner.get(end.at.wrapping_add(1)..).unwrap_or_default();
        Ok((end.at, TextFlags::of(&end)))
    }

    /// The next byte is not one that the grammar expects.
    #[inline(always)]
    pub(crate) fn unexpected(&self) -> JsonError {
        unexpected(self.bytes, self.offset())
    }
}

/// The bytes from the first one on that is no whitespace.
#[inline(never)]
fn skip_space(rest: &[u8]) -> &[u8] {
    rest.get(significant(rest, 0).0..).unwrap_or_default()
}

/// The end of a string that is long, or not plain, or has no end.
#[inline(never)]
fn string_end(inner: &[u8]) -> Option<StringEnd> {
    string::end(inner, 0)
}

/// The value at `from`, of any type. It may nest `levels` deep.
#[inline(never)]
fn any_value(bytes: &[u8], from: usize, levels: u32) -> Result<Read, JsonError> {
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
        Some(b'{' | b'[') => container::end(bytes, start, levels).map_err(|fault| match fault {
            container::Unbalanced::TooDeep(at) => JsonErrorKind::TooDeep.at(at),
            container::Unbalanced::UnexpectedEnd => JsonErrorKind::UnexpectedEnd.at(bytes.len()),
        })?,
        Some(b'-' | b'0'..=b'9') => number::end(bytes, start)?,
        Some(first @ (b't' | b'f' | b'n')) => literal_end(bytes, start, first)?,
        _ => return Err(unexpected(bytes, start)),
    };
    Ok(Read { start, end, kind: Kinds::of(first.unwrap_or(0)), flags })
}

#[cold]
#[inline(never)]
fn unexpected(bytes: &[u8], at: usize) -> JsonError {
    let kind = if at < bytes.len() { JsonErrorKind::UnexpectedByte } else { JsonErrorKind::UnexpectedEnd };
    kind.at(at)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn steps(bytes: &str) -> Steps<'_> {
        Steps::new(bytes.as_bytes(), 0, 8)
    }

    #[test]
    fn an_integer_is_gone_over_the_short_way() {
        for (bytes, len) in [
            ("0,", Some(1)),
            ("7}", Some(1)),
            ("7]", Some(1)),
            ("10,", Some(2)),
            ("18446744073709551616}", Some(20)),
            // For these there is the long way.
            ("0]", None),
            ("01,", None),
            ("7 ,", None),
            ("7", None),
            ("-7,", None),
            ("7.5,", None),
            ("7e1,", None),
            ("x,", None),
            (",", None),
            ("", None),
        ] {
            let mut steps = steps(bytes);
            let read = steps.plain_integer();
            assert_eq!(read.map(|read| (read.start, read.end, read.kind)), len.map(|len| (0, len, Kinds::NUMBER)));
            assert_eq!(steps.offset(), len.unwrap_or(0), "{bytes}");
        }
    }

    #[test]
    fn a_name_is_known_by_its_tag() {
        for (bytes, end, taken) in [
            ("\"content\":1", "ent\":", Some(10)),
            ("\"content\" :1", "ent\":", None),
            ("\"contend\":1", "ent\":", None),
            ("\"id\":12345", "", Some(5)),
        ] {
            let mut steps = steps(bytes);
            assert_eq!(steps.tag().to_le_bytes(), *bytes.as_bytes().get(1..5).unwrap().first_chunk().unwrap());
            assert_eq!(steps.took(end.as_bytes()).then(|| steps.offset()), taken, "{bytes}");
        }
        // Nothing is said of what is no name, and of what is too near to the end.
        assert_eq!([" \"id\":1234", "12345678", "\"id\":12"].map(|bytes| steps(bytes).tag()), [0; 3]);
    }

    #[test]
    fn kinds_are_put_together() {
        let both = Kinds::STRING.or(Kinds::NULL);
        assert_eq!((both.or(Kinds::STRING), Kinds::NONE.or(Kinds::NONE)), (both, Kinds::NONE));
        assert!(both.any(Kinds::NULL) && both.any(Kinds::ANY) && !both.any(Kinds::NUMBER));
        let kinds = b"-09{n\"[tf".map(Kinds::of);
        let due = [Kinds::NUMBER, Kinds::NUMBER, Kinds::NUMBER, Kinds::OBJECT, Kinds::NULL, Kinds::STRING];
        assert!(kinds.starts_with(&due) && kinds.ends_with(&[Kinds::OTHER; 3]), "{kinds:?}");
    }
}
