//! The strict check: RFC 8259 in full, and UTF-8.

use super::error::{JsonError, JsonErrorKind};
use super::fragments;
use super::lexeme::{literal_end, significant, significant_of};
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
/// The first error and its offset. If `max_depth` exceeds [`Limits::MAX_DEPTH`](crate::Limits::MAX_DEPTH), that is
/// `TooDeep` at offset 0, whatever the bytes. The offset of `IllFormedUtf8` is where the ill-formed sequence begins,
/// that of `BadEscape` is its backslash.
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
    let (at, _) = significant(bytes, 0);
    match significant(bytes, value_end(bytes, at, max_depth)?) {
        (_, None) => Ok(()),
        (at, Some(_)) => Err(JsonErrorKind::TrailingBytes.at(at)),
    }
}

/// Returns the offset one past the value at `at`, which is not whitespace, if [`validate`] accepts it.
fn value_end(bytes: &[u8], at: usize, max_depth: u32) -> Result<usize, JsonError> {
    let mut levels = Levels::new(max_depth.min(MAX_DEPTH));
    let mut rest = bytes.get(at..).unwrap_or_default();
    let offset = |rest: &[u8]| bytes.len().wrapping_sub(rest.len());
    loop {
        // A value is expected here.
        let [first, inner @ ..] = rest else { return Err(JsonErrorKind::UnexpectedEnd.at(bytes.len())) };
        match first {
            b'"' => rest = string(bytes, inner)?,
            b'{' | b'[' => {
                let list = *first == b'[';
                if !levels.push(list) {
                    return Err(JsonErrorKind::TooDeep.at(offset(rest)));
                }
                rest = significant_of(inner);
                match rest.split_first() {
                    Some((byte, after)) if *byte == first + 2 => {
                        rest = after;
                        levels.pop();
                    }
                    _ => {
                        if !list {
                            rest = member_name(bytes, rest)?;
                        }
                        continue;
                    }
                }
            }
            b'-' | b'0'..=b'9' => {
                rest = match number::short(rest) {
                    Some(after) => after,
                    None => bytes.get(number::end(bytes, offset(rest))?..).unwrap_or_default(),
                };
            }
            b't' | b'f' | b'n' => {
                rest = bytes.get(literal_end(bytes, offset(rest), *first)?..).unwrap_or_default();
            }
            _ => return Err(JsonErrorKind::UnexpectedByte.at(offset(rest))),
        }
        // After a value: close containers until a comma requires another value.
        loop {
            if levels.depth == 0 {
                return Ok(offset(rest));
            }
            rest = significant_of(rest);
            let Some((byte, after)) = rest.split_first() else {
                return Err(JsonErrorKind::UnexpectedEnd.at(bytes.len()));
            };
            if *byte == b',' {
                rest = significant_of(after);
                if !levels.list {
                    rest = member_name(bytes, rest)?;
                }
                break;
            }
            if *byte != if levels.list { b']' } else { b'}' } {
                return Err(JsonErrorKind::UnexpectedByte.at(offset(rest)));
            }
            levels.pop();
            rest = after;
        }
    }
}

/// The open containers.
pub(super) struct Levels {
    /// Whether the innermost container is an array.
    pub(super) list: bool,
    /// The same for up to 64 containers around it, one bit each. The lowest bit is for the next outer container.
    around: u64,
    /// The same for the containers around those.
    words: [u64; MAX_DEPTH as usize / 64],
    pub(super) depth: u32,
    max: u32,
}

impl Levels {
    pub(super) fn new(max: u32) -> Self {
        Levels { list: false, around: 0, words: [0; MAX_DEPTH as usize / 64], depth: 0, max }
    }

    /// Opens a container. Returns `false` if it is too deep.
    #[inline(always)]
    pub(super) fn push(&mut self, list: bool) -> bool {
        if self.depth >= self.max {
            return false;
        }
        if self.depth % 64 == 0 {
            if let Some(word) = self.words.get_mut(self.depth as usize / 64) {
                *word = self.around;
            }
        }
        self.around = self.around << 1 | u64::from(self.list);
        self.list = list;
        self.depth = self.depth.wrapping_add(1);
        true
    }

    /// Closes a container, if one is open.
    #[inline(always)]
    pub(super) fn pop(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        self.list = self.around & 1 != 0;
        self.around >>= 1;
        if self.depth % 64 == 0 {
            self.around = self.words.get(self.depth as usize / 64).copied().unwrap_or(0);
        }
    }
}

/// Checks the member name that `rest` must begin with, and its colon. Returns the bytes from the value on.
#[inline(always)]
fn member_name<'a>(bytes: &'a [u8], rest: &'a [u8]) -> Result<&'a [u8], JsonError> {
    let rest = significant_of(string(bytes, expect(b'"', bytes, rest)?)?);
    Ok(significant_of(expect(b':', bytes, rest)?))
}

/// Returns the bytes after `expected`, which `rest` must begin with.
#[inline(always)]
fn expect<'a>(expected: u8, bytes: &[u8], rest: &'a [u8]) -> Result<&'a [u8], JsonError> {
    match rest.split_first() {
        Some((byte, after)) if *byte == expected => Ok(after),
        Some(_) => Err(JsonErrorKind::UnexpectedByte.at(bytes.len().wrapping_sub(rest.len()))),
        None => Err(JsonErrorKind::UnexpectedEnd.at(bytes.len())),
    }
}

/// Returns the bytes after the string whose bytes after the opening quote are `inner`, a suffix of `bytes`.
#[inline(always)]
fn string<'a>(bytes: &'a [u8], inner: &'a [u8]) -> Result<&'a [u8], JsonError> {
    match string::plain_before_end(inner) {
        Some(rest) => Ok(rest),
        None => Ok(bytes.get(string_end(bytes, bytes.len().wrapping_sub(inner.len()))?..).unwrap_or_default()),
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
