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
use crate::json_walk::{compare, decodes_to, walk};
use crate::log::escaped;
use crate::naive_json::unescaped;
use deltawire::json::{self, JsonErrorKind, Text};
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
    // Any bytes: walk as far as possible.
    if let Ok(value) = json::parse_lazy(bytes) {
        walk(value);
    }
    if let Ok(wanted) = serde_json::from_slice::<Json>(bytes) {
        let value = json::parse_lazy(bytes).unwrap_or_else(|fault| panic!("{fault:?} in b\"{}\"", escaped(bytes)));
        compare(value, &wanted);
        COMPARED.fetch_add(1, Relaxed);
    }
    let room = 4 + control.below(12);
    if input::which(&mut control, bytes.len(), 2) == 1 {
        decodes_to(Text::verbatim(bytes), &String::from_utf8_lossy(bytes), room);
        return;
    }
    // Any bytes as the contents of a string.
    let inside: Vec<u8> = string_of(bytes);
    let quoted = [b"\"", inside.as_slice(), b"\""].concat();
    let value = json::parse_lazy(&quoted).unwrap_or_else(|fault| panic!("{fault:?} in b\"{}\"", escaped(&quoted)));
    assert_eq!(value.raw(), quoted);
    decodes_to(value.as_text().expect("a string"), &unescaped(&inside), room);
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
