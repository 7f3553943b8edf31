//! The strict check: RFC 8259 in full, and UTF-8.

use super::error::{JsonError, JsonErrorKind};
use super::fragments;
use super::lexeme::{literal_end, significant};
use super::number;
use crate::scan::{string, utf8};

/// The deepest nesting that can be checked: one bit for each level.
const MAX_DEPTH: u32 = crate::Limits::MAX_DEPTH;

/// Checks that `bytes` is exactly one JSON value (RFC 8259) in UTF-8; whitespace may surround it.
///
/// Escaped surrogates need not form pairs: the grammar of section 7 allows that (see section 8.2). A byte order mark is
/// an error. Containers may nest `max_depth` levels deep. The check does not recurse.
///
/// # Errors
/// The first error and its offset. If `max_depth` exceeds [`Limits::MAX_DEPTH`](crate::Limits::MAX_DEPTH), that is `TooDeep`
/// at offset 0, whatever the bytes. The offset of `IllFormedUtf8` is where the ill-formed sequence begins, that of
/// `BadEscape` is its backslash.
///
/// ```
/// use deltawire::json::{validate, JsonErrorKind};
/// assert!(validate(br#"{"a": [1e3, "\ud83d\ude00"]}"#, 128).is_ok());
/// let error = validate(br#"["\x"]"#, 128).unwrap_err();
/// assert_eq!((error.kind, error.offset), (JsonErrorKind::BadEscape, 2));
/// ```
pub fn validate(bytes: &[u8], max_depth: u32) -> Result<(), JsonError> {
    if max_depth > MAX_DEPTH {
        return Err(JsonErrorKind::TooDeep.at(0));
    }
    let (at, first) = significant(bytes, 0);
    match significant(bytes, value_end(bytes, at, first, max_depth)?) {
        (_, None) => Ok(()),
        (at, Some(_)) => Err(JsonErrorKind::TrailingBytes.at(at)),
    }
}

/// Returns the offset one past the value at `at`, whose first byte is `first`, if [`validate`] accepts it.
pub(super) fn value_end(bytes: &[u8], at: usize, first: Option<u8>, max_depth: u32) -> Result<usize, JsonError> {
    let mut levels = Levels { words: [0; MAX_DEPTH as usize / 64], depth: 0, max: max_depth.min(MAX_DEPTH) };
    let (mut at, mut next) = (at, first);
    // Whether the innermost open container is an object; `None` if none is open.
    let mut open = None;
    loop {
        // A value is expected here.
        let first = next.ok_or(JsonErrorKind::UnexpectedEnd.at(at))?;
        match first {
            b'{' | b'[' => {
                if !levels.push(first == b'{') {
                    return Err(JsonErrorKind::TooDeep.at(at));
                }
                let close = first + 2;
                (at, next) = significant(bytes, at + 1);
                if next != Some(close) {
                    open = Some(first == b'{');
                    if first == b'{' {
                        (at, next) = member_name(bytes, at, next)?;
                    }
                    continue;
                }
                levels.pop();
                at += 1;
            }
            b'"' => at = string_end(bytes, at + 1)?,
            b'0'..=b'9' if number::short_len(bytes, at) > 0 => at += number::short_len(bytes, at),
            b'-' | b'0'..=b'9' => at = number::end(bytes, at)?,
            b't' | b'f' | b'n' => at = literal_end(bytes, at, first)?,
            _ => return Err(JsonErrorKind::UnexpectedByte.at(at)),
        }
        // After a value: close containers until a comma requires another value.
        loop {
            let Some(object) = open else { return Ok(at) };
            (at, next) = significant(bytes, at);
            match (object, next) {
                (_, None) => return Err(JsonErrorKind::UnexpectedEnd.at(at)),
                (_, Some(b',')) => {
                    (at, next) = significant(bytes, at + 1);
                    if object {
                        (at, next) = member_name(bytes, at, next)?;
                    }
                    break;
                }
                (true, Some(b'}')) | (false, Some(b']')) => {
                    levels.pop();
                    open = levels.top();
                    at += 1;
                }
                _ => return Err(JsonErrorKind::UnexpectedByte.at(at)),
            }
        }
    }
}

/// Whether each open container is an object.
struct Levels {
    words: [u64; MAX_DEPTH as usize / 64],
    depth: u32,
    max: u32,
}

impl Levels {
    /// Opens a container. Returns `false` if it is too deep.
    #[inline]
    fn push(&mut self, object: bool) -> bool {
        if self.depth >= self.max {
            return false;
        }
        if let Some(word) = self.words.get_mut(self.depth as usize / 64) {
            let bit = 1 << (self.depth % 64);
            *word = if object { *word | bit } else { *word & !bit };
        }
        self.depth += 1;
        true
    }

    #[inline]
    fn pop(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    /// Whether the innermost open container is an object, or `None` if none is open.
    #[inline]
    fn top(&self) -> Option<bool> {
        let level = self.depth.checked_sub(1)?;
        self.words.get(level as usize / 64).map(|word| word >> (level % 64) & 1 != 0)
    }
}

/// Checks the member name expected at `at`, and its colon. Returns the offset of its value, and the value's first byte.
#[inline]
fn member_name(bytes: &[u8], at: usize, first: Option<u8>) -> Result<(usize, Option<u8>), JsonError> {
    expect(b'"', at, first)?;
    let (at, colon) = significant(bytes, string_end(bytes, at + 1)?);
    expect(b':', at, colon)?;
    Ok(significant(bytes, at + 1))
}

#[inline]
fn expect(expected: u8, at: usize, byte: Option<u8>) -> Result<(), JsonError> {
    match byte {
        Some(byte) if byte == expected => Ok(()),
        Some(_) => Err(JsonErrorKind::UnexpectedByte.at(at)),
        None => Err(JsonErrorKind::UnexpectedEnd.at(at)),
    }
}

/// Returns the offset one past the closing quote of the string whose first byte is at `from`.
pub(crate) fn string_end(bytes: &[u8], from: usize) -> Result<usize, JsonError> {
    let mut at = from;
    loop {
        let run = string::strict_run(bytes, at);
        if !run.ascii {
            let run = bytes.get(at..run.at).unwrap_or_default();
            if utf8::to_str(run).is_none() {
                let valid = core::str::from_utf8(run).map_or_else(|fault| fault.valid_up_to(), str::len);
                return Err(JsonErrorKind::IllFormedUtf8.at(at + valid));
            }
        }
        at = match bytes.get(run.at) {
            Some(b'"') => return Ok(run.at + 1),
            Some(b'\\') => escape_end(bytes, run.at)?,
            Some(_) => return Err(JsonErrorKind::RawControl.at(run.at)),
            None => return Err(JsonErrorKind::UnexpectedEnd.at(run.at)),
        }
    }
}

/// Returns the offset one past the escape whose backslash is at `at`.
#[inline]
fn escape_end(bytes: &[u8], at: usize) -> Result<usize, JsonError> {
    let bad = JsonErrorKind::BadEscape.at(at);
    let end = JsonErrorKind::UnexpectedEnd.at(bytes.len());
    match bytes.get(at + 1) {
        Some(b'u') => {}
        Some(&kind) if fragments::simple(kind) != 0 => return Ok(at + 2),
        Some(_) => return Err(bad),
        None => return Err(end),
    }
    let digits = bytes.get(at + 2..).unwrap_or_default();
    match digits.first_chunk::<4>() {
        Some(digits) if fragments::unit(digits).is_some() => Ok(at + 6),
        Some(_) => Err(bad),
        None if digits.iter().all(u8::is_ascii_hexdigit) => Err(end),
        None => Err(bad),
    }
}
