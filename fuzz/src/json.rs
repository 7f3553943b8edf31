//! JSON: the strict check against serde_json, and the lazy views against its values.
//!
//! Where the two differ by intent:
//! - Depth: serde_json bounds its recursion at 128; what only skips a value ([`IgnoredAny`]) has no bound. Ours is
//!   counted here.
//! - Half a surrogate pair: RFC 8259's grammar allows it, serde_json refuses it in a text but not in what it skips. Ours
//!   is U+FFFD.
//! - UTF-8: serde_json does not check what it skips; it is checked here, of all bytes at once.
//! - Numbers: serde_json with `arbitrary_precision` keeps their text; without it those beyond a double are refused.
//! - A name that comes twice: the last one counts in both.

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
    let max = max.min(Limits::MAX_DEPTH);
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
                // What comes before the fault could be gone on with: the first fault is no later.
                prefix(bytes, fault.offset, fault.kind, max, &context);
            }
        }
    }
}

/// A fault is where it is said: bytes cut before it end too early, or are sound, and no more.
fn prefix(bytes: &[u8], offset: usize, kind: JsonErrorKind, max: u32, context: &impl Fn() -> String) {
    match json::validate(&bytes[..offset], max) {
        Ok(()) => assert!(kind == JsonErrorKind::TrailingBytes || numeric(bytes, offset), "{kind:?}: {}", context()),
        Err(before) => {
            assert!(before.offset <= offset, "{}", context());
            let ends = before.offset == offset || before.kind == JsonErrorKind::UnexpectedEnd;
            // A number or a literal is a fault from its first byte on; so is a character that is cut.
            let whole = [JsonErrorKind::BadNumber, JsonErrorKind::BadLiteral, JsonErrorKind::IllFormedUtf8];
            assert!(ends || whole.contains(&before.kind), "an earlier fault, {before:?}: {}", context());
        }
    }
}

/// Whether the byte before is of a number: what goes on there is a fault of the number.
fn numeric(bytes: &[u8], offset: usize) -> bool {
    offset > 0 && bytes[offset - 1].is_ascii_digit()
}

/// How many brackets are open at most, outside of strings.
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
    // Any bytes: what can be walked is walked, twice.
    if let Ok(value) = json::parse(bytes) {
        walk(value, 0);
    }
    if let Ok(wanted) = serde_json::from_slice::<Json>(bytes) {
        let value = json::parse(bytes).unwrap_or_else(|fault| panic!("{fault:?} in b\"{}\"", escaped(bytes)));
        compare(value, &wanted);
        COMPARED.fetch_add(1, Relaxed);
    }
    let room = control.below(12);
    if input::which(&mut control, bytes.len(), 2) == 1 {
        return decoded(Text::verbatim(bytes), &String::from_utf8_lossy(bytes), room);
    }
    // Any bytes as the inside of a string.
    let inside: Vec<u8> = string_of(bytes);
    let quoted = [b"\"", inside.as_slice(), b"\""].concat();
    let value = json::parse(&quoted).unwrap_or_else(|fault| panic!("{fault:?} in b\"{}\"", escaped(&quoted)));
    assert_eq!(value.raw(), quoted);
    decoded(value.as_text().expect("a string"), &unescaped(&inside), room);
    // And of any other string it says whether it is equal.
    let other = unescaped(&bytes[bytes.len() / 2..]);
    assert_eq!(value.as_text().expect("a string") == *other, unescaped(&inside) == other);
}

/// The bytes up to what would end a string, without a backslash that would escape its quote.
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

/// The text decodes to `wanted`, whichever way it is read.
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
    // A buffer at a time: 4 to 15 bytes, which always takes something.
    let mut buffer = vec![0; room + 4];
    let mut read = Vec::new();
    let mut reader = text.unescape();
    while !reader.is_done() {
        let len = reader.read(&mut buffer);
        assert!(len > 0, "unescape stands still");
        std::str::from_utf8(&buffer[..len]).expect("a piece is UTF-8");
        read.extend_from_slice(&buffer[..len]);
    }
    assert_eq!(read, wanted.as_bytes(), "unescape");
    assert_eq!(reader.quirks(), quirks);
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

/// Walks what there is; iterators and cursors that are offsets must see the same.
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

/// The value is what serde_json made of the same bytes.
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
