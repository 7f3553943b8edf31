//! JSON: compares the strict check with serde_json, and the lazy views with its values.
//!
//! They differ on purpose:
//! - Depth: serde_json limits its recursion to 128, but has no limit where it only skips a value ([`IgnoredAny`]). This
//!   target counts our depth itself.
//! - Unpaired surrogates: RFC 8259's grammar allows them; serde_json rejects them in a text but not in a skipped one.
//!   Ours decode to U+FFFD.
//! - UTF-8: serde_json does not check what it skips; this target checks all bytes at once.
//! - Numbers: serde_json with `arbitrary_precision` keeps their text; without it those beyond a double are rejected.
//! - Duplicate names: both use the last one.

use crate::input;
use crate::log::escaped;
use crate::naive_json::{integer, unescaped};
use deltawire::json::{self, Fragment, JsonErrorKind, Kind, Text, Value};
use deltawire::Limits;
use serde_json::Value as Json;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

// ---------------------------------------------------------------------------------------------------------------------
// Strict

pub fn strict(data: &[u8]) {
    let (mut control, bytes) = input::split(data);
    let max = control.pick(&[128, 1024, 5000, u32::MAX, 4, 3, 2, 1, 0]);
    let got = json::validate(bytes, max);
    if max > Limits::MAX_DEPTH {
        // Refused, whatever the bytes.
        assert!(
            got.is_err_and(|fault| (fault.kind, fault.offset) == (JsonErrorKind::TooDeep, 0)),
            "depth {max}: {got:?}"
        );
        return;
    }
    let context = || format!("{got:?} at depth {max} of b\"{}\"", escaped(bytes));
    let sound = std::str::from_utf8(bytes).is_ok() && serde_json::from_slice::<serde::de::IgnoredAny>(bytes).is_ok();
    match got {
        Ok(()) => {
            assert!(sound, "accepted what is no JSON: {}", context());
            assert!(depth(bytes) <= max, "accepted what is too deep: {}", context());
        }
        Err(fault) => {
            assert!(fault.offset <= bytes.len(), "a fault beyond the end: {}", context());
            if fault.kind == JsonErrorKind::TooDeep {
                assert!(depth(&bytes[..fault.offset]) == max, "that is not too deep: {}", context());
                assert!(b"[{".contains(&bytes[fault.offset]), "no bracket there: {}", context());
            } else {
                assert!(!sound, "refused JSON: {}", context());
                // The bytes before the error must be a valid prefix: there is no earlier error.
                prefix(bytes, fault.offset, fault.kind, max, &context);
            }
        }
    }
}

/// Checks the offset of an error: shorter bytes end too early or are valid.
fn prefix(bytes: &[u8], offset: usize, kind: JsonErrorKind, max: u32, context: &impl Fn() -> String) {
    match json::validate(&bytes[..offset], max) {
        Ok(()) => assert!(kind == JsonErrorKind::TrailingBytes || numeric(bytes, offset), "{kind:?}: {}", context()),
        Err(before) => {
            assert!(before.offset <= offset, "{}", context());
            let ends = before.offset == offset || before.kind == JsonErrorKind::UnexpectedEnd;
            // The offset of a bad number, literal or cut character is its first byte.
            let whole = [JsonErrorKind::BadNumber, JsonErrorKind::BadLiteral, JsonErrorKind::IllFormedUtf8];
            assert!(ends || whole.contains(&before.kind), "an earlier fault, {before:?}: {}", context());
        }
    }
}

/// Whether the previous byte belongs to a number: then the error is the number's.
fn numeric(bytes: &[u8], offset: usize) -> bool {
    offset > 0 && bytes[offset - 1].is_ascii_digit()
}

/// Returns the largest number of open brackets outside strings.
fn depth(bytes: &[u8]) -> u32 {
    let (mut depth, mut most, mut quoted, mut escaped) = (0u32, 0, false, false);
    for &byte in bytes {
        if quoted {
            quoted = escaped || byte != b'"';
            escaped = !escaped && byte == b'\\';
            continue;
        }
        match byte {
            b'"' => quoted = true,
            b'[' | b'{' => {
                depth += 1;
                most = most.max(depth);
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    most
}

// ---------------------------------------------------------------------------------------------------------------------
// Lazy

/// Inputs that serde_json accepted too.
pub static COMPARED: AtomicU64 = AtomicU64::new(0);

pub fn lazy(data: &[u8]) {
    let (mut control, bytes) = input::split(data);
    // Any bytes: walk as far as possible, twice.
    if let Ok(value) = json::parse_lazy(bytes) {
        walk(value, 0);
    }
    if let Ok(wanted) = serde_json::from_slice::<Json>(bytes) {
        let value = json::parse_lazy(bytes).unwrap_or_else(|fault| panic!("{fault:?} in b\"{}\"", escaped(bytes)));
        compare(value, &wanted);
        COMPARED.fetch_add(1, Relaxed);
    }
    let room = control.below(12);
    if input::which(&mut control, bytes.len(), 2) == 1 {
        return decoded(Text::verbatim(bytes), &String::from_utf8_lossy(bytes), room);
    }
    // Any bytes as the contents of a string.
    let inside: Vec<u8> = string_of(bytes);
    let quoted = [b"\"", inside.as_slice(), b"\""].concat();
    let value = json::parse_lazy(&quoted).unwrap_or_else(|fault| panic!("{fault:?} in b\"{}\"", escaped(&quoted)));
    assert_eq!(value.raw(), quoted);
    decoded(value.as_text().expect("a string"), &unescaped(&inside), room);
    // Compare it with another string too.
    let other = unescaped(&bytes[bytes.len() / 2..]);
    assert_eq!(value.as_text().expect("a string") == *other, unescaped(&inside) == other);
}

/// Returns the bytes up to one that would end a string, and without a backslash that would escape its quote.
pub(crate) fn string_of(bytes: &[u8]) -> Vec<u8> {
    let (mut at, mut end) = (0, bytes.len());
    while at < bytes.len() {
        match bytes[at] {
            b'"' => {
                end = at;
                break;
            }
            b'\\' if at + 1 == bytes.len() => {
                end = at;
                break;
            }
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes[..end].to_vec()
}

/// Checks that the text decodes to `wanted`, in every way of reading it.
pub(crate) fn decoded(text: Text<'_>, wanted: &str, room: usize) {
    let mut pushed = String::new();
    let quirks = text.push_to(&mut pushed);
    assert_eq!(pushed, wanted, "push_to of b\"{}\"", escaped(text.raw()));
    assert_eq!(text.quirks(), quirks);
    assert_eq!(text.decoded_len(), wanted.len());
    assert_eq!(text.to_string(), wanted);
    assert_eq!(text.to_cow(), wanted);
    assert!(text == *wanted);
    assert!(text == Text::verbatim(wanted.as_bytes()));
    assert_eq!(text.is_empty(), wanted.is_empty());
    let mut joined = String::new();
    for fragment in text.fragments() {
        match fragment {
            Fragment::Str(run) => {
                assert!(!run.is_empty(), "an empty fragment");
                std::str::from_utf8(run.as_bytes()).expect("a fragment is UTF-8");
                joined += run;
            }
            Fragment::Char(char) => joined.push(char),
        }
    }
    assert_eq!(joined, wanted, "fragments");
    if let Some(str) = text.as_str() {
        assert_eq!(str, wanted, "as_str");
        assert_eq!(str.as_ptr(), text.raw().as_ptr(), "as_str borrows");
    } else {
        assert!(
            text.raw().contains(&b'\\') || std::str::from_utf8(text.raw()).is_err(),
            "as_str of what needs no decoding"
        );
    }
    // One buffer at a time: 4 to 15 bytes always make progress.
    let mut buffer = vec![0; room + 4];
    let (mut rest, mut taken) = (text, Vec::new());
    while !rest.is_empty() {
        let len = rest.take_to(&mut buffer);
        assert!(len > 0, "take_to stands still");
        std::str::from_utf8(&buffer[..len]).expect("a piece is UTF-8");
        taken.extend_from_slice(&buffer[..len]);
    }
    assert_eq!(taken, wanted.as_bytes(), "take_to of b\"{}\"", escaped(text.raw()));
    let copied = text.copy_to(&mut buffer);
    assert_eq!(&buffer[..copied.written], &wanted.as_bytes()[..copied.written], "copy_to");
    assert!(wanted.is_char_boundary(copied.written));
    assert_eq!(copied.complete, copied.written == wanted.len());
    assert!(copied.complete || wanted.len() - copied.written > 0 && buffer.len() - copied.written < 4);
}

/// Walks a value; iterators and offset-based methods must agree.
fn walk(value: Value<'_>, depth: u32) {
    if depth > 40 {
        return;
    }
    match value.kind() {
        Kind::Object => {
            let mut at = 0;
            for member in value.members() {
                let Ok((name, inner)) = member else { break };
                let (again, same) = value.member_at(&mut at).expect("a member by offset");
                assert_eq!((again.raw().as_ptr(), same.raw()), (name.raw().as_ptr(), inner.raw()));
                walk(inner, depth + 1);
            }
        }
        Kind::Array => {
            let mut at = 0;
            for element in value.elements() {
                let Ok(inner) = element else { break };
                let same = value.element_at(&mut at).expect("an element by offset");
                assert_eq!((same.raw().as_ptr(), same.raw()), (inner.raw().as_ptr(), inner.raw()));
                walk(inner, depth + 1);
            }
        }
        Kind::String => drop(value.as_text().expect("a string is a text").to_cow()),
        Kind::Number => {
            let number = value.as_number().expect("a number is one");
            assert_eq!(number.to_u64(), integer(number.as_str()).and_then(|number| u64::try_from(number).ok()));
            assert_eq!(number.to_i64(), integer(number.as_str()).and_then(|number| i64::try_from(number).ok()));
        }
        Kind::Bool | Kind::Null => {}
    }
}

/// Compares the value with serde_json's value of the same bytes.
fn compare(value: Value<'_>, wanted: &Json) {
    match wanted {
        Json::Null => assert!(value.is_null()),
        Json::Bool(wanted) => assert_eq!(value.as_bool(), Some(*wanted)),
        Json::Number(wanted) => {
            let number = value.as_number().expect("a number");
            assert_eq!(number.to_f64(), wanted.as_str().parse::<f64>().expect("a number"));
            if let Some(wanted) = wanted.as_u64() {
                assert_eq!(number.to_u64(), Some(wanted));
            }
            if let Some(wanted) = wanted.as_i64() {
                assert_eq!(number.to_i64(), Some(wanted));
            }
        }
        Json::String(wanted) => decoded(value.as_text().expect("a string"), wanted, 3),
        Json::Array(wanted) => {
            let elements: Vec<Value<'_>> = value.elements().map(|element| element.expect("an element")).collect();
            assert_eq!(elements.len(), wanted.len());
            for (element, wanted) in elements.into_iter().zip(wanted) {
                compare(element, wanted);
            }
        }
        Json::Object(wanted) => {
            let mut names: Vec<String> = Vec::new();
            for member in value.members() {
                let (name, _) = member.expect("a member");
                names.push(name.to_string());
            }
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), wanted.len());
            for (name, wanted) in wanted {
                compare(value.get(name).expect("sound").expect("it is there"), wanted);
            }
        }
    }
}
