//! Reads JSON by everything that reads it without a parser, and compares it with naive readers and with serde_json's values.

use super::log::escaped;
use super::naive_json;
use deltawire::json::{self, Fragment, Text, Value, ValueKind};
use deltawire::{Limits, QuirkSet};

/// Compares the strict check and the values that it accepts with serde_json; also walks what it rejects.
pub fn json(bytes: &[u8]) -> u64 {
    let strict = json::validate(bytes, Limits::MAX_DEPTH);
    match (strict, naive_json::is_json(bytes)) {
        (Ok(()), Ok(other)) => {
            let value = json::parse_lazy(bytes).unwrap_or_else(|fault| panic!("{fault}: b\"{}\"", escaped(bytes)));
            walk(value);
            if let Some(other) = other {
                compare(value, &other);
            }
            3
        }
        (Err(fault), Err(naive_json::NotJson)) => {
            assert!(fault.offset <= bytes.len(), "{fault}: b\"{}\"", escaped(bytes));
            json::parse_lazy(bytes).map_or(1, |value| {
                walk(value);
                2
            })
        }
        (strict, other) => panic!("{strict:?}, but {other:?}: b\"{}\"", escaped(bytes)),
    }
}

/// Compares a value with serde_json's of the same bytes. Returns the number of values in it.
pub fn compare(value: Value<'_>, other: &serde_json::Value) -> usize {
    let shown = || format!("{other} is b\"{}\"", escaped(value.raw()));
    match other {
        serde_json::Value::Null => assert!(value.is_null(), "{}", shown()),
        serde_json::Value::Bool(other) => assert_eq!(value.as_bool(), Some(*other), "{}", shown()),
        serde_json::Value::Number(other) => {
            let number = value.as_number().expect("a number");
            if let Some(other) = other.as_u64() {
                assert_eq!(number.to_u64(), Some(other), "{}", shown());
            }
            if let Some(other) = other.as_i64() {
                assert_eq!(number.to_i64(), Some(other), "{}", shown());
            }
            // serde_json's default configuration may be off in the last bit.
            if let Some(other) = other.as_f64() {
                assert!((number.to_f64() - other).abs() <= other.abs() * 1e-15, "{}", shown());
            }
        }
        serde_json::Value::String(other) => {
            assert!(value.as_text().is_some_and(|text| text == other.as_str()), "{}", shown());
        }
        serde_json::Value::Array(other) => {
            assert_eq!(value.kind(), ValueKind::Array, "{}", shown());
            let elements: Vec<Value<'_>> = value.elements().map(|element| element.expect("an element")).collect();
            assert_eq!(elements.len(), other.len(), "{}", shown());
            return 1 + elements.into_iter().zip(other).map(|(element, other)| compare(element, other)).sum::<usize>();
        }
        serde_json::Value::Object(other) => {
            assert_eq!(value.kind(), ValueKind::Object, "{}", shown());
            for member in value.members() {
                let (name, _) = member.expect("a member");
                assert!(other.contains_key(&*name.to_cow()), "{}", shown());
            }
            // Both readers use the last of several members with one name.
            let of = |name: &str| value.get(name).expect("sound").expect("it is there");
            return 1 + other.iter().map(|(name, other)| compare(of(name), other)).sum::<usize>();
        }
    }
    1
}

/// Reads everything below a value, valid or not, by iterators and by offsets; compares texts and integers with the naive readers.
pub fn walk(value: Value<'_>) {
    match value.kind() {
        ValueKind::Object => {
            let mut at = 0;
            for member in value.members() {
                let Ok((name, inner)) = member else { break };
                let (again, same) = value.member_at(&mut at).expect("a member by offset");
                assert_eq!((again.raw().as_ptr(), same.raw()), (name.raw().as_ptr(), inner.raw()));
                escaped_text(name);
                walk(inner);
            }
        }
        ValueKind::Array => {
            let mut at = 0;
            for element in value.elements() {
                let Ok(inner) = element else { break };
                let same = value.element_at(&mut at).expect("an element by offset");
                assert_eq!((same.raw().as_ptr(), same.raw()), (inner.raw().as_ptr(), inner.raw()));
                walk(inner);
            }
        }
        ValueKind::String => drop(escaped_text(value.as_text().expect("a string is a text"))),
        ValueKind::Number => {
            let number = value.as_number().expect("a number is one");
            let whole = naive_json::integer(number.as_str());
            assert_eq!(number.to_u64(), whole.and_then(|whole| u64::try_from(whole).ok()), "{number}");
            assert_eq!(number.to_i64(), whole.and_then(|whole| i64::try_from(whole).ok()), "{number}");
            let double: f64 = number.as_str().parse().expect("Rust reads it too");
            assert_eq!(number.to_f64().to_bits(), double.to_bits(), "{number}");
        }
        ValueKind::Bool | ValueKind::Null => {}
    }
}

/// Reads the text of a JSON string in every way. Returns its quirks.
pub fn escaped_text(text: Text<'_>) -> QuirkSet {
    decodes_to(text, &naive_json::unescaped(text.raw()), 4)
}

/// Checks that a text decodes to `wanted`, in every way to read it; in pieces of `room` bytes, at least 4. Returns its quirks.
pub fn decodes_to(text: Text<'_>, wanted: &str, room: usize) -> QuirkSet {
    let shown = || format!("b\"{}\" is not {wanted:?}", escaped(text.raw()));
    let mut pushed = String::new();
    let quirks = text.push_to(&mut pushed);
    assert_eq!(pushed, wanted, "push_to: {}", shown());
    assert_eq!((text.quirks(), text.decoded_len(), text.is_empty()), (quirks, wanted.len(), wanted.is_empty()));
    assert_eq!((&*text.to_string(), &*text.to_cow()), (wanted, wanted));
    assert!(text == *wanted && text == Text::verbatim(wanted.as_bytes()), "equality: {}", shown());
    match text.as_str() {
        Some(str) => assert_eq!((str, str.as_ptr()), (wanted, text.raw().as_ptr()), "as_str borrows"),
        None => assert!(text.raw().contains(&b'\\') || std::str::from_utf8(text.raw()).is_err(), "as_str: {}", shown()),
    }
    let mut joined = String::new();
    for fragment in text.fragments() {
        match fragment {
            Fragment::Str(run) => {
                let is_borrowed = text.raw().as_ptr_range().contains(&run.as_ptr()) && run.len() <= text.raw().len();
                assert!(!run.is_empty() && (is_borrowed || run == "\\"), "a run that is not of the text: {}", shown());
                joined += run;
            }
            Fragment::Char(char) => joined.push(char),
        }
    }
    assert_eq!(joined, wanted, "fragments: {}", shown());
    let mut buffer = vec![0; room];
    let copied = text.copy_to(&mut buffer);
    let len = copied.written;
    assert_eq!(buffer[..len], wanted.as_bytes()[..len], "copy_to: {}", shown());
    assert_eq!(copied.complete, len == wanted.len(), "copy_to: {}", shown());
    assert!(wanted.is_char_boundary(len) && (copied.complete || room - len < 4), "copy_to: {}", shown());
    let (mut rest, mut taken) = (text, Vec::new());
    while !rest.is_empty() {
        let len = rest.take_to(&mut buffer);
        assert!(len > 0, "take_to stands still: {}", shown());
        std::str::from_utf8(&buffer[..len]).expect("a piece is UTF-8");
        taken.extend_from_slice(&buffer[..len]);
    }
    assert_eq!(taken, wanted.as_bytes(), "take_to: {}", shown());
    quirks
}
