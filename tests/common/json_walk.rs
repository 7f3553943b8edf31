//! Reads whole JSON by everything that reads it without a parser, and compares it with the naive readers.

use super::naive_json;
use deltawire::json::{self, Fragment, Kind, Text, Value};
use deltawire::Limits;

fn show(bytes: &[u8]) -> String {
    bytes.escape_ascii().to_string()
}

/// Compares the strict check and the values that it accepts with serde_json; also walks what it rejects.
pub fn json(bytes: &[u8]) -> u64 {
    let strict = json::validate(bytes, Limits::MAX_DEPTH);
    match (strict, naive_json::is_json(bytes)) {
        (Ok(()), Ok(other)) => {
            let value = json::parse_lazy(bytes).unwrap_or_else(|fault| panic!("{fault}: b\"{}\"", show(bytes)));
            walk(value);
            if let Some(other) = other {
                assert!(is_same(value, &other), "b\"{}\" is not {other}", show(bytes));
            }
            3
        }
        (Err(fault), Err(naive_json::NotJson)) => {
            assert!(fault.offset <= bytes.len(), "{fault}: b\"{}\"", show(bytes));
            json::parse_lazy(bytes).map_or(1, |value| {
                walk(value);
                2
            })
        }
        (strict, other) => panic!("{strict:?}, but {other:?}: b\"{}\"", show(bytes)),
    }
}

fn is_same(value: Value<'_>, other: &serde_json::Value) -> bool {
    match other {
        serde_json::Value::Null => value.is_null(),
        serde_json::Value::Bool(other) => value.as_bool() == Some(*other),
        serde_json::Value::Number(other) => value.as_number().is_some_and(|number| {
            // serde_json's default configuration may be off in the last bit.
            let (double, other) = (number.to_f64(), other.as_f64().unwrap());
            (double - other).abs() <= double.abs() * 1e-15
        }),
        serde_json::Value::String(other) => value.as_text().is_some_and(|text| text == other.as_str()),
        serde_json::Value::Array(other) => {
            let mut others = other.iter();
            value.elements().all(|element| others.next().is_some_and(|other| is_same(element.unwrap(), other)))
                && others.next().is_none()
        }
        serde_json::Value::Object(other) => {
            value.members().all(|member| other.contains_key(&*member.unwrap().0.to_cow()))
                && other.iter().all(|(name, other)| is_same(value.get(name).unwrap().unwrap(), other))
        }
    }
}

/// Reads everything there is, valid or not, and compares texts and integers with the naive readers.
fn walk(value: Value<'_>) {
    match value.kind() {
        Kind::Object => {
            for member in value.members() {
                let Ok((name, value)) = member else { break };
                text(name);
                walk(value);
            }
        }
        Kind::Array => {
            for element in value.elements() {
                let Ok(element) = element else { break };
                walk(element);
            }
        }
        Kind::String => text(value.as_text().unwrap()),
        Kind::Number => {
            let number = value.as_number().unwrap();
            let whole = naive_json::integer(number.as_str());
            assert_eq!(number.to_u64(), whole.and_then(|whole| u64::try_from(whole).ok()), "{number}");
            assert_eq!(number.to_i64(), whole.and_then(|whole| i64::try_from(whole).ok()), "{number}");
            let double: f64 = number.as_str().parse().unwrap();
            assert_eq!(number.to_f64().to_bits(), double.to_bits(), "{number}");
        }
        Kind::Bool | Kind::Null => {}
    }
}

/// Reads a text in every possible way.
fn text(text: Text<'_>) {
    let wanted = naive_json::unescaped(text.raw());
    let shown = || show(text.raw());
    let mut pushed = String::new();
    let quirks = text.push_to(&mut pushed);
    assert_eq!(pushed, wanted, "push_to: {}", shown());
    assert_eq!((text.quirks(), text.decoded_len()), (quirks, wanted.len()), "{}", shown());
    assert!(text == *wanted && text.as_str().is_none_or(|text| text == wanted), "{}", shown());
    let mut joined = String::new();
    for fragment in text.fragments() {
        match fragment {
            Fragment::Str(run) => joined += run,
            Fragment::Char(char) => joined.push(char),
        }
    }
    assert_eq!(joined, wanted, "fragments: {}", shown());
    let mut buffer = [0; 4];
    let (mut rest, mut taken) = (text, Vec::new());
    while !rest.is_empty() {
        let len = rest.take_to(&mut buffer);
        assert!(len > 0, "take_to stands still: {}", shown());
        taken.extend_from_slice(&buffer[..len]);
    }
    assert_eq!(taken, wanted.as_bytes(), "take_to: {}", shown());
}
