//! Tests the JSON reader with JSONTestSuite, and against serde_json on generated and damaged JSON.
#![cfg(feature = "alloc")]

use crate::common::corpus;
use crate::common::json_walk::{compare, escaped_text, walk};
use crate::common::random::Random;
use deltawire::json::{self, Cursor, JsonError, JsonErrorKind, Number, ValueKind};
use deltawire::{Quirk, QuirkSet};
use std::fs;

/// Enters every container with one cursor, reads every text and number, and returns the quirks of the texts.
fn enter_all(bytes: &[u8], max_depth: u32) -> Result<QuirkSet, JsonError> {
    let mut cursor = Cursor::with_max_depth(bytes, max_depth);
    let mut quirks = QuirkSet::EMPTY;
    // Whether each open container is an object.
    let mut open = Vec::new();
    loop {
        match cursor.peek()? {
            ValueKind::Object => {
                cursor.begin_object()?;
                open.push(true);
            }
            ValueKind::Array => {
                cursor.begin_array()?;
                open.push(false);
            }
            _ => {
                let value = cursor.value()?;
                if let Some(text) = value.as_text() {
                    quirks |= escaped_text(text);
                }
                if let Some(number) = value.as_number() {
                    assert!(!number.to_f64().is_nan() && (number.to_u64().is_none() || number.to_f64() >= 0.0));
                }
            }
        }
        loop {
            match open.last() {
                None => return cursor.end().map(|()| quirks),
                Some(true) => {
                    if let Some(name) = cursor.next_member()? {
                        quirks |= escaped_text(name);
                        break;
                    }
                }
                Some(false) => {
                    if cursor.next_element()? {
                        break;
                    }
                }
            }
            open.pop();
        }
    }
}

/// The quirks that a text of strict JSON may have: the grammar does not require surrogate pairs.
fn is_strict(mut quirks: QuirkSet) -> bool {
    quirks.remove(Quirk::LoneSurrogate);
    quirks.is_empty()
}

#[test]
fn json_test_suite() {
    let Some(corpus) = corpus::folder("json_suite") else { return };
    let directory = corpus.join("json/JSONTestSuite/test_parsing");
    let mut files: Vec<_> = fs::read_dir(&directory).expect("the suite").map(|file| file.expect("a file")).collect();
    files.sort_by_key(|file| file.file_name());

    // For each group: files, files accepted strictly, files that the lazy cursor walks without an error.
    let mut counts = [(b'y', 0, 0, 0), (b'n', 0, 0, 0), (b'i', 0, 0, 0)];
    let mut wrong = Vec::new();
    for file in files {
        let name = file.file_name().into_string().expect("ASCII names");
        let bytes = fs::read(file.path()).expect("readable");
        let strict = json::validate(&bytes, 1024);
        let lazy = enter_all(&bytes, 1024);
        if let Ok(value) = Cursor::with_max_depth(&bytes, 1024).value() {
            walk(value);
        }
        // Entering every container finds the errors of the strict check, or flags them as quirks.
        assert_eq!(strict.is_ok(), lazy.is_ok_and(is_strict), "{name}: {strict:?}, {lazy:?}");

        let group = name.as_bytes()[0];
        let count = counts.iter_mut().find(|count| count.0 == group).expect("a known group");
        count.1 += 1;
        count.2 += usize::from(strict.is_ok());
        count.3 += usize::from(lazy.is_ok());
        if group == b'y' && (strict.is_err() || lazy.is_err()) || group == b'n' && strict.is_ok() {
            wrong.push((name, strict));
        }
    }
    for (group, files, strict, lazy) in counts {
        eprintln!("{}_: {files} files, strict accepts {strict}, lazy walks {lazy} to the end", group as char);
    }
    assert!(wrong.is_empty(), "{wrong:?}");
    let [y, n, i] = counts.map(|(_, files, strict, _)| (files, strict));
    assert_eq!((y, n, i.0), ((95, 95), (188, 0), 35));
}

/// Generates a valid JSON value, with whitespace, escapes, non-ASCII text and strings longer than a block.
fn generate(random: &mut Random, depth: usize, out: &mut String) {
    let space = |random: &mut Random, out: &mut String| {
        if random.below(4) == 0 {
            out.push_str(random.pick(&[" ", "\n", "\r\n", "\t", "  ", "\n      "]));
        }
    };
    space(random, out);
    match random.below(if depth > 0 { 10 } else { 6 }) {
        0 => out.push_str(random.pick(&["null", "true", "false"])),
        1 | 2 => out.push_str(&generate_number(random)),
        3..=5 => generate_string(random, out),
        kind => {
            let object = kind < 8;
            out.push(if object { '{' } else { '[' });
            for i in 0..random.below(6) {
                if i > 0 {
                    out.push(',');
                }
                if object {
                    space(random, out);
                    if random.below(2) == 0 {
                        out.push_str(random.pick(&[
                            "\"a\"",
                            "\"b\"",
                            "\"\\u0061\"",
                            "\"finish_reason\"",
                            "\"\"",
                            "\"é\"",
                        ]));
                    } else {
                        generate_string(random, out);
                    }
                    space(random, out);
                    out.push(':');
                }
                generate(random, depth - 1, out);
            }
            space(random, out);
            out.push(if object { '}' } else { ']' });
        }
    }
    space(random, out);
}

fn generate_number(random: &mut Random) -> String {
    let sign = random.pick(&["", "", "", "-"]);
    match random.below(6) {
        0 => format!("{sign}{}", random.below(100)),
        1 => format!("{sign}{}", random.number()),
        2 => format!("{sign}{}.{}", random.below(1000), random.below(100_000)),
        3 => format!("{sign}{}{}{}", random.below(1000), random.pick(&["e", "E", "e+", "e-"]), random.below(30)),
        4 => format!("{sign}0.{:017}", random.number() >> 8),
        _ => format!("{sign}{}", random.pick(&["0", "18446744073709551615", "9223372036854775808", "1.7e9"])),
    }
}

fn generate_string(random: &mut Random, out: &mut String) {
    out.push('"');
    let pieces = [1, 2, 3, 3, 4, 8, 40][random.below(7)];
    for _ in 0..random.below(pieces) {
        let plain = ["a", "token", " the ", "[", "}", ":", ",", "data: ", "é", "日本", "😀", "\u{7f}", "\u{2028}"];
        let escaped = ["\\n", "\\\"", "\\\\", "\\/", "\\b\\f\\r\\t", "\\u0000", "\\u00e9", "\\ud83d\\ude00", "\\uFFFD"];
        out.push_str(if random.below(3) == 0 { random.pick(&escaped) } else { random.pick(&plain) });
    }
    out.push('"');
}

#[test]
fn lazily_read_as_serde_json_reads_it() {
    let mut random = Random::new(2);
    let mut values = 0;
    for _ in 0..12_000 {
        let mut text = String::new();
        generate(&mut random, 5, &mut text);
        let other: serde_json::Value = serde_json::from_str(&text).expect("valid");
        let value = json::parse_lazy(text.as_bytes()).expect("valid");
        assert_eq!(value.raw(), text.trim().as_bytes());
        values += compare(value, &other);
        walk(value);
        assert_eq!(json::validate(text.as_bytes(), 5), Ok(()));
        assert_eq!(enter_all(text.as_bytes(), 5), Ok(QuirkSet::EMPTY));
    }
    assert!(values > 20_000, "{values}");
}

/// Changes a few bytes.
fn damage(random: &mut Random, bytes: &mut Vec<u8>) {
    const BYTES: &[u8] = b"{}[]\",:\\u0e1-+.tfn \n\t\x00\x1f\x7f\x80\xbf\xc3\xe2\xf0\xff/DdAa";
    for _ in 0..random.below(3) + 1 {
        let byte = random.pick(BYTES);
        let at = random.below(bytes.len() + 1);
        match random.below(5) {
            0 => bytes.insert(at, byte),
            1 => bytes.truncate(at),
            2 if at < bytes.len() => drop(bytes.remove(at)),
            3 if at < bytes.len() => {
                let piece = bytes[at..bytes.len().min(at + 8)].to_vec();
                let to = random.below(bytes.len() + 1);
                bytes.splice(to..to, piece);
            }
            _ if at < bytes.len() => bytes[at] = byte,
            _ => bytes.push(byte),
        }
    }
}

#[test]
fn strictly_refused_as_serde_json_refuses_it() {
    let mut random = Random::new(4);
    let (mut accepted, mut refused) = (0, 0);
    for _ in 0..60_000 {
        let mut text = String::new();
        generate(&mut random, 4, &mut text);
        let mut bytes = text.into_bytes();
        damage(&mut random, &mut bytes);
        let strict = json::validate(&bytes, 100);
        let other = serde_json::from_slice::<serde_json::Value>(&bytes);
        let shown = String::from_utf8_lossy(&bytes);
        match (&strict, &other) {
            (Ok(()), Ok(_)) => accepted += 1,
            (Err(_), Err(_)) => refused += 1,
            // serde_json rejects unpaired surrogates and numbers beyond a double; RFC 8259 does not.
            (Ok(()), Err(error)) => {
                let text = error.to_string();
                let known = ["surrogate", "unexpected end of hex escape", "number out of range"];
                assert!(known.iter().any(|known| text.contains(known)), "{error}: {shown}");
            }
            (Err(error), Ok(_)) => panic!("{error}: {shown}"),
        }

        // The strict check must equal a lazy walk that enters every container and rejects quirks in texts.
        let lazy = enter_all(&bytes, 100);
        assert_eq!(strict.is_ok(), lazy.is_ok_and(is_strict), "{strict:?}, {lazy:?}: {shown}");
        if let Ok(value) = json::parse_lazy(&bytes) {
            walk(value);
        }
        if let Err(error) = strict {
            check_fault(&bytes, error);
        }
    }
    assert!(accepted > 5_000 && refused > 20_000, "{accepted}, {refused}");
}

/// The offset of an error is that of the first byte that no JSON can continue with.
fn check_fault(bytes: &[u8], error: JsonError) {
    let until = |len| json::validate(&bytes[..len], 100);
    let shown = String::from_utf8_lossy(bytes);
    match error.kind {
        JsonErrorKind::UnexpectedEnd => assert_eq!(error.offset, bytes.len(), "{shown}"),
        kind => {
            let before = until(error.offset).map_err(|error| error.kind);
            let viable = before == Ok(()) || before == Err(JsonErrorKind::UnexpectedEnd);
            assert!(viable, "{error}, before it {before:?}: {shown}");
            let whole_byte = !matches!(kind, JsonErrorKind::BadEscape | JsonErrorKind::IllFormedUtf8);
            assert!(!whole_byte || until(error.offset + 1) == Err(error), "{error}: {shown}");
        }
    }
}

#[test]
fn all_readers_limit_depth_alike() {
    for depth in [1, 2, 63, 64, 65, 127, 128, 129, 500, 1023, 1024, 1025, 3000] {
        let mut bytes = Vec::new();
        (0..depth).for_each(|level| bytes.extend_from_slice(if level % 3 == 0 { b"{\"a\":" } else { b"[" }));
        bytes.push(b'1');
        (0..depth).rev().for_each(|level| bytes.push(if level % 3 == 0 { b'}' } else { b']' }));
        let limit = u32::try_from(depth).expect("small");
        assert_eq!(json::validate(&bytes, limit).is_ok(), depth <= 1024);
        assert_eq!(enter_all(&bytes, limit), Ok(QuirkSet::EMPTY));
        assert!(Cursor::with_max_depth(&bytes, limit).value().is_ok());

        // All three find the same bracket beyond the depth limit.
        let expected = Err(JsonErrorKind::TooDeep);
        let strict = json::validate(&bytes, limit - 1);
        let lazy = enter_all(&bytes, limit - 1).map(drop);
        let skipped = Cursor::with_max_depth(&bytes, limit - 1).value().map(drop);
        assert_eq!(lazy.map_err(|error| error.kind), expected);
        assert_eq!(skipped, lazy);
        if depth <= 1025 {
            assert_eq!(strict, lazy);
        }
    }
    // The default is 128 levels.
    let nested = |depth| [b"[".repeat(depth), b"]".repeat(depth)].concat();
    assert!(json::parse_lazy(&nested(128)).is_ok());
    assert_eq!(json::parse_lazy(&nested(129)).map(drop), Err(JsonError { kind: JsonErrorKind::TooDeep, offset: 128 }));
}

#[test]
fn long_inputs_take_linear_time() {
    // Quadratic work on any of these inputs would take minutes.
    let many = 1 << 20;
    let strings = [
        b"\"".iter().chain([0xff].repeat(many).iter()).chain(b"\"").copied().collect::<Vec<_>>(),
        format!("\"{}\"", "\\q".repeat(many)).into_bytes(),
        format!("\"{}\"", "\\ud83d".repeat(many / 4)).into_bytes(),
        format!("\"{}\"", "\\\\".repeat(many)).into_bytes(),
    ];
    for bytes in strings {
        let value = json::parse_lazy(&bytes).expect("a string");
        let text = value.as_text().expect("a string");
        for size in [7, 3 * many] {
            let (mut rest, mut buffer, mut len) = (text, vec![0; size], 0);
            while !rest.is_empty() {
                len += rest.take_to(&mut buffer);
            }
            assert_eq!(len, text.decoded_len());
        }
    }
    let open = "[".repeat(many);
    assert!(json::parse_lazy(open.as_bytes()).is_err());
    assert!(json::validate(open.as_bytes(), 1024).is_err());
    let digits = format!("1{}e-{many}", "0".repeat(many));
    assert_eq!(Number::new(digits.as_bytes()).and_then(|number| number.to_u64()), Some(1));
}
