//! Tests the cursor's grammar, and compares texts with a naive decoder.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, clippy::expect_used)]

extern crate std;
use super::*;
use crate::scan::tests::Random;
use crate::{Quirk, QuirkSet};
use std::format;
use std::string::{String, ToString};
use std::vec;
use std::vec::Vec;

/// Decodes byte by byte. UTF-8 and surrogates are left to the standard library.
fn naive(raw: &[u8], lead: u16, verbatim: bool) -> (String, QuirkSet) {
    let (mut text, mut quirks) = (String::new(), QuirkSet::EMPTY);
    let mut units = if lead == 0 { vec![] } else { vec![lead] };
    let mut plain = Vec::new();
    fn flush(units: &mut Vec<u16>, plain: &mut Vec<u8>, text: &mut String, quirks: &mut QuirkSet) {
        for unit in char::decode_utf16(units.drain(..)) {
            if unit.is_err() {
                quirks.insert(Quirk::LoneSurrogate);
            }
            text.push(unit.unwrap_or('\u{fffd}'));
        }
        if core::str::from_utf8(plain).is_err() {
            quirks.insert(Quirk::IllFormedUtf8);
        }
        text.push_str(&String::from_utf8_lossy(plain));
        plain.clear();
    }
    let mut at = 0;
    while let Some(&byte) = raw.get(at) {
        let hex = raw.get(at + 2..at + 6).filter(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        if byte != b'\\' || verbatim {
            if !units.is_empty() {
                flush(&mut units, &mut plain, &mut text, &mut quirks);
            }
            if byte < 0x20 && !verbatim {
                quirks.insert(Quirk::RawControl);
            }
            plain.push(byte);
            at += 1;
        } else if let (Some(b'u'), Some(hex)) = (raw.get(at + 1), hex) {
            if !plain.is_empty() {
                flush(&mut vec![], &mut plain, &mut text, &mut quirks);
            }
            units.push(u16::from_str_radix(core::str::from_utf8(hex).unwrap(), 16).unwrap());
            at += 6;
        } else {
            flush(&mut units, &mut plain, &mut text, &mut quirks);
            at += 2;
            match raw.get(at - 1) {
                Some(b'n') => text.push('\n'),
                Some(b'r') => text.push('\r'),
                Some(b't') => text.push('\t'),
                Some(b'b') => text.push('\u{8}'),
                Some(b'f') => text.push('\u{c}'),
                Some(&byte @ (b'"' | b'\\' | b'/')) => text.push(char::from(byte)),
                _ => {
                    quirks.insert(Quirk::BadEscape);
                    text.push('\\');
                    at -= 1;
                }
            }
        }
    }
    flush(&mut units, &mut plain, &mut text, &mut quirks);
    (text, quirks)
}

/// The flags that a search would return for these bytes.
fn flags(raw: &[u8]) -> TextFlags {
    let flag = |set, flag| if set { flag } else { TextFlags::PLAIN };
    flag(raw.contains(&b'\\'), TextFlags::ESCAPED)
        .with(flag(!raw.is_ascii(), TextFlags::NON_ASCII))
        .with(flag(raw.iter().any(|byte| *byte < 0x20), TextFlags::CONTROL))
}

/// Reads the text in every way that there is.
fn check(text: Text<'_>, expected: &str, quirks: QuirkSet) {
    let raw = text.raw();
    let mut decoded = String::new();
    let mut fragments = text.fragments();
    for fragment in fragments.by_ref() {
        assert!(fragment.len() > 0 && fragment != Fragment::Str(""));
        decoded.push_str(fragment.encode(&mut [0; 4]));
    }
    assert_eq!(decoded, expected, "{raw:x?}");
    assert_eq!(fragments.quirks(), quirks, "{raw:x?}");
    assert_eq!(fragments.next(), None);
    assert_eq!(text.quirks(), quirks);
    assert_eq!(text.decoded_len(), expected.len());
    assert_eq!(text.is_empty(), expected.is_empty());
    assert_eq!(text.to_string(), expected);
    // Of a long one the first 64 bytes.
    let shown = (0..=64).rev().find_map(|len| expected.get(..len)).unwrap();
    let mut debug = format!("{shown:?}");
    if shown != expected {
        debug += &format!("… ({} bytes)", raw.len());
    }
    assert_eq!(format!("{text:?}"), debug);

    assert!(text == *expected && text == expected && text == Text::clone(&text));
    assert!(text != *format!("{expected}x") && text != *format!("x{expected}"));
    if let Some((at, char)) = expected.char_indices().next_back() {
        assert!(
            text != expected[..at] && text != *format!("{}{}", &expected[..at], if char == 'q' { 'p' } else { 'q' })
        );
    }

    for len in (0..expected.len() + 2).chain([expected.len() + 300]) {
        let mut buffer = vec![0; len];
        let copied = text.copy_to(&mut buffer);
        let fits = (0..=len.min(expected.len())).rev().find(|&at| expected.is_char_boundary(at)).unwrap();
        assert_eq!((copied.written, copied.complete), (fits, fits == expected.len()), "{raw:x?} into {len}");
        assert_eq!(&buffer[..fits], &expected.as_bytes()[..fits]);
        assert!(!copied.complete || copied.quirks == quirks);
    }
    for len in (4..9).chain([expected.len() + 300]) {
        let mut reader = text.unescape();
        let (mut whole, mut buffer) = (Vec::new(), vec![0; len]);
        while !reader.is_done() {
            let written = reader.read(&mut buffer);
            assert!(written > 0 && core::str::from_utf8(&buffer[..written]).is_ok());
            whole.extend_from_slice(&buffer[..written]);
        }
        assert_eq!((whole, reader.read(&mut buffer), reader.quirks()), (expected.as_bytes().to_vec(), 0, quirks));
    }
    // Into a buffer with room for many characters at once.
    for len in [150, expected.len() + 300] {
        let mut reader = text.unescape();
        let (mut whole, mut buffer) = (Vec::new(), vec![0; len]);
        loop {
            let written = reader.read(&mut buffer);
            whole.extend_from_slice(&buffer[..written]);
            if written == 0 {
                break;
            }
        }
        assert_eq!((whole, reader.is_done(), reader.quirks()), (expected.as_bytes().to_vec(), true, quirks));
    }
    if let Some(text) = text.as_str() {
        assert_eq!((text, text.as_bytes()), (expected, raw));
    }
    #[cfg(feature = "alloc")]
    {
        for capacity in [1, raw.len() + 300] {
            let mut pushed = String::with_capacity(capacity);
            pushed.push('=');
            assert_eq!(text.push_to(&mut pushed), quirks);
            assert_eq!(pushed, format!("={expected}"));
        }
        let cow = text.to_cow();
        assert_eq!(cow, expected);
        assert_eq!(matches!(cow, std::borrow::Cow::Borrowed(_)), text.as_str().is_some());
    }
}

fn check_raw(raw: &[u8]) {
    let (expected, quirks) = naive(raw, 0, false);
    for known in [flags(raw), TextFlags::UNKNOWN] {
        let text = Text::from_raw(raw, known);
        check(text, &expected, quirks);
        let plain = !raw.contains(&b'\\') && core::str::from_utf8(raw).is_ok();
        assert_eq!(text.as_str().is_some(), plain);
        let (expected, quirks) = naive(raw, 0xd83d, false);
        check(text.with_lead(0xd83d), &expected, quirks);
        assert!(text.with_lead(0xd83d).as_str().is_none());
    }
    let (expected, quirks) = naive(raw, 0, true);
    check(Text::verbatim(raw), &expected, quirks);
    assert_eq!(Text::verbatim(raw).trailing_half(), None);
}

#[test]
fn escapes_and_surrogates() {
    let one = |quirk| QuirkSet::from(quirk);
    let table: &[(&[u8], &str, QuirkSet)] = &[
        (b"", "", QuirkSet::EMPTY),
        (br#"\"\\\/\b\f\n\r\t"#, "\"\\/\u{8}\u{c}\n\r\t", QuirkSet::EMPTY),
        (br"\u0000\u001F\u00e9\u00E9", "\0\u{1f}éé", QuirkSet::EMPTY),
        (br"\ud83d\ude00", "😀", QuirkSet::EMPTY),
        (br"\uD83D\uDE00", "😀", QuirkSet::EMPTY),
        (br"\ud800\udc00\udbff\udfff", "\u{10000}\u{10ffff}", QuirkSet::EMPTY),
        (br"\ud83d", "\u{fffd}", one(Quirk::LoneSurrogate)),
        (br"\ude00", "\u{fffd}", one(Quirk::LoneSurrogate)),
        (br"\ud83d\ud83d\ude00", "\u{fffd}😀", one(Quirk::LoneSurrogate)),
        (br"\ude00\ud83d", "\u{fffd}\u{fffd}", one(Quirk::LoneSurrogate)),
        (br"\ud83d\u0041", "\u{fffd}A", one(Quirk::LoneSurrogate)),
        (br"\ud83dx", "\u{fffd}x", one(Quirk::LoneSurrogate)),
        (br"\ud83d\n", "\u{fffd}\n", one(Quirk::LoneSurrogate)),
        (br"\ud83d\u12", "\u{fffd}\\u12", one(Quirk::LoneSurrogate) | Quirk::BadEscape),
        (br"\q", "\\q", one(Quirk::BadEscape)),
        (br"\u12", "\\u12", one(Quirk::BadEscape)),
        (br"\u12g4", "\\u12g4", one(Quirk::BadEscape)),
        (br"\u+123", "\\u+123", one(Quirk::BadEscape)),
        (br"\u12\ud83d\ude00", "\\u12😀", one(Quirk::BadEscape)),
        (br"\U0041\x41\'\0", "\\U0041\\x41\\'\\0", one(Quirk::BadEscape)),
        (b"\\", "\\", one(Quirk::BadEscape)),
        (b"\\\xc3\xa9", "\\é", one(Quirk::BadEscape)),
        (b"a\tb\0", "a\tb\0", one(Quirk::RawControl)),
        (b"a\xffb", "a\u{fffd}b", one(Quirk::IllFormedUtf8)),
        (b"\xf0\x9f\x98", "\u{fffd}", one(Quirk::IllFormedUtf8)),
        (b"\xed\xa0\x80", "\u{fffd}\u{fffd}\u{fffd}", one(Quirk::IllFormedUtf8)),
        (b"\xc0\xaf", "\u{fffd}\u{fffd}", one(Quirk::IllFormedUtf8)),
        (b"\xe2\x82\\n\xac", "\u{fffd}\n\u{fffd}", one(Quirk::IllFormedUtf8)),
        ("\u{7f}\u{85}\u{2028}\u{2029}é日😀".as_bytes(), "\u{7f}\u{85}\u{2028}\u{2029}é日😀", QuirkSet::EMPTY),
    ];
    for (raw, expected, quirks) in table {
        assert_eq!((naive(raw, 0, false)), (expected.to_string(), *quirks), "the twin, {raw:x?}");
        check_raw(raw);
    }
    // Every byte after a backslash, and every code unit.
    for byte in 0..=255 {
        check_raw(&[b'\\', byte]);
        check_raw(&[b'\\', byte, b'n', byte]);
    }
    for unit in 0..=0xffffu16 {
        let raw = format!("\\u{unit:04x}");
        let text = Text::from_raw(raw.as_bytes(), TextFlags::ESCAPED);
        let expected = char::from_u32(u32::from(unit));
        assert!(text.fragments().eq([Fragment::Char(expected.unwrap_or('\u{fffd}'))]));
        assert_eq!(text.trailing_half(), Some(unit).filter(|unit| (0xd800..0xdc00).contains(unit)));
    }
}

const TOKENS: &[&[u8]] = &[
    b"a",
    b"token ",
    b"a long run of plain text, longer than one narrow block; ",
    b"\\n",
    b"\\\"",
    b"\\\\",
    b"\\/",
    b"\\u0041",
    b"\\u0000",
    b"\\ud83d",
    b"\\ude00",
    b"\\uD83D\\uDE00",
    b"\\udbff",
    b"\\q",
    b"\\u1",
    b"\\u",
    b"\xc3\xa9",
    b"\xf0\x9f\x98\x80",
    b"\xff",
    b"\xe2\x82",
    b"\x80",
    b"\x01",
    b"\n",
    b"'",
    b"\x7f",
];

#[test]
fn text_against_the_naive_twin() {
    let mut random = Random(21);
    for round in 0..6000 {
        let mut raw = Vec::new();
        for _ in 0..random.below(if round % 10 == 0 { 30 } else { 6 }) {
            raw.extend_from_slice(TOKENS[random.below(TOKENS.len())]);
        }
        // Cut the text anywhere, so that it may begin and end inside a token.
        let from = random.below(raw.len() + 1);
        check_raw(&raw);
        check_raw(&raw[from..]);
        check_raw(&raw[..from]);
    }
}

#[test]
fn every_length_with_one_odd_byte_anywhere() {
    for len in 0..=200usize {
        for odd in [&b"\\n"[..], b"\x80", b"\x01", b"\xc3\xa9"] {
            for place in (0..=len).filter(|place| len < 80 || place % 7 == 0 || place + 3 > len) {
                let mut raw = vec![b'a'; len];
                raw.splice(place..place, odd.iter().copied());
                let (expected, quirks) = naive(&raw, 0, false);
                let text = Text::from_raw(&raw, flags(&raw));
                assert!(text == *expected, "{raw:x?}");
                assert_eq!((text.to_string(), text.quirks()), (expected, quirks));
            }
        }
    }
}

#[test]
fn halves_join_across_texts() {
    let mut random = Random(23);
    let mut joined = 0;
    for _ in 0..40_000 {
        let tokens: Vec<_> = (0..random.below(7)).map(|_| TOKENS[random.below(16)]).collect();
        let cut = random.below(tokens.len() + 1);
        let (left, right) = (tokens[..cut].concat(), tokens[cut..].concat());
        let left_text = Text::from_raw(&left, flags(&left));
        let mut right_text = Text::from_raw(&right, flags(&right));
        if let Some(half) = left_text.trailing_half() {
            right_text = right_text.with_lead(half);
            joined += u32::from(right.starts_with(b"\\ude00"));
        }
        let (whole, quirks) = naive(&tokens.concat(), 0, false);
        // A cut between `\u` and its digits changes the meaning of both parts.
        if naive(&left, 0, false).1.contains(Quirk::BadEscape) {
            continue;
        }
        let first = left_text.without_trailing_half();
        assert_eq!(format!("{first}{right_text}"), whole, "{left:?} {right:?}");
        assert_eq!(first.quirks() | right_text.quirks(), quirks);
        assert_eq!(first.trailing_half(), None, "it is taken once");
    }
    assert!(joined > 100, "{joined}");
}

#[test]
fn trailing_halves() {
    let half = |raw: &[u8]| Text::from_raw(raw, TextFlags::UNKNOWN).trailing_half();
    assert_eq!(half(br"\ud83d"), Some(0xd83d));
    assert_eq!(half(br"a\uDBFF"), Some(0xdbff));
    assert_eq!(half(br"\\\ud83d"), Some(0xd83d));
    assert_eq!(half(br"\\ud83d"), None);
    assert_eq!(half(br"\\\\ud83d"), None);
    assert_eq!(half(br"\ude00"), None);
    assert_eq!(half(br"\ud83d\ude00"), None);
    assert_eq!(half(br"\ud83"), None);
    assert_eq!(half(br"\ud83d "), None);
    assert_eq!(half(b""), None);
    let text = Text::from_raw(br"\ud83d", TextFlags::ESCAPED).with_lead(0xd83d);
    assert_eq!(text.trailing_half(), Some(0xd83d));
    assert_eq!(text.without_trailing_half(), "\u{fffd}");
    assert!(Text::from_raw(br"\ud83d", TextFlags::ESCAPED).without_trailing_half().is_empty());
    // A pending value that is no high surrogate is replaced and does not join.
    assert_eq!(Text::from_raw(br"\ude00", TextFlags::ESCAPED).with_lead(0xde00), "\u{fffd}\u{fffd}");
}

#[test]
fn texts_compare_decoded() {
    let mut random = Random(29);
    let mut equal = 0;
    let pool: &[&[u8]] = &[
        b"",
        b"a",
        b"\\u0061",
        b"\\u0061b",
        b"ab",
        b"a\\u0062",
        b"\xff",
        b"\xef\xbf\xbd",
        b"\\ufffd",
        b"\\ud800",
        b"\\n",
        b"\n",
        b"\\\\n",
        b"a\xff",
        b"a\xfe",
    ];
    for _ in 0..20_000 {
        let pick = |random: &mut Random| {
            let raw = pool[random.below(pool.len())];
            match random.below(4) {
                0 => Text::from_raw(raw, TextFlags::UNKNOWN),
                1 => Text::verbatim(raw),
                2 => Text::from_raw(raw, flags(raw)).with_lead(0xd83d),
                _ => Text::from_raw(raw, flags(raw)),
            }
        };
        let (left, right) = (pick(&mut random), pick(&mut random));
        assert_eq!(left == right, left.to_string() == right.to_string(), "{left:?} {right:?}");
        assert_eq!(left == *right.to_string(), left.to_string() == right.to_string(), "{left:?} {right:?}");
        equal += u32::from(left == right);
    }
    assert!(equal > 1000);
}

#[test]
fn faults_of_the_cursor() {
    use JsonErrorKind::*;
    let value = |bytes: &'static [u8]| parse_lazy(bytes).map(|value| value.raw());
    let table: &[(&[u8], JsonErrorKind, usize)] = &[
        (b"", UnexpectedEnd, 0),
        (b"  ", UnexpectedEnd, 2),
        (b"x", UnexpectedByte, 0),
        (b"NaN", UnexpectedByte, 0),
        (b"}", UnexpectedByte, 0),
        (b"'a'", UnexpectedByte, 0),
        (b"\xef\xbb\xbf{}", UnexpectedByte, 0),
        (b"tru", UnexpectedEnd, 3),
        (b"trux", BadLiteral, 3),
        (b"nULL", BadLiteral, 1),
        (b"fals", UnexpectedEnd, 4),
        (b"falsx", BadLiteral, 4),
        (b"truex", TrailingBytes, 4),
        (b"\"a", UnexpectedEnd, 2),
        (b"\"a\\\"", UnexpectedEnd, 4),
        (b"{\"a\": \"}\"", UnexpectedEnd, 9),
        (b"[1] x", TrailingBytes, 4),
        (b"{}{}", TrailingBytes, 2),
        (b"-", UnexpectedEnd, 1),
        (b"-a", BadNumber, 1),
        (b"1.x", BadNumber, 2),
        (b"01", TrailingBytes, 1),
    ];
    for &(bytes, kind, offset) in table {
        assert_eq!(value(bytes), Err(JsonError { kind, offset }), "{:?}", Text::verbatim(bytes));
    }
    assert_eq!(value(b" [ 1 , ] "), Ok(&b"[ 1 , ]"[..]), "only balance is checked");

    // Inside a container, where the grammar matters.
    let members = |bytes: &'static [u8]| {
        let value = Value::from_span(bytes, TextFlags::PLAIN);
        let mut members = value.members().chain(core::iter::empty());
        let fault = members.find_map(Result::err);
        assert!(members.next().is_none(), "it ends after an error");
        assert_eq!(value.get("no such").err(), fault);
        fault
    };
    let elements = |bytes: &'static [u8]| {
        let mut elements = Value::from_span(bytes, TextFlags::PLAIN).elements();
        let fault = elements.find_map(Result::err);
        assert!(elements.next().is_none());
        fault
    };
    let fault = |kind, offset| Some(JsonError { kind, offset });
    assert_eq!(members(b"{}"), None);
    assert_eq!(members(b"{ \"a\" : 1 , \"b\" : [ ] }"), None);
    assert_eq!(members(b"{,}"), fault(UnexpectedByte, 1));
    assert_eq!(members(b"{\"a\":1,}"), fault(UnexpectedByte, 7));
    assert_eq!(members(b"{\"a\":1 \"b\":2}"), fault(UnexpectedByte, 7));
    assert_eq!(members(b"{\"a\":1]"), fault(UnexpectedByte, 6));
    assert_eq!(members(b"{\"a\" 1}"), fault(UnexpectedByte, 5));
    assert_eq!(members(b"{\"a\":}"), fault(UnexpectedByte, 5));
    assert_eq!(members(b"{\"a\":,}"), fault(UnexpectedByte, 5));
    assert_eq!(members(b"{a:1}"), fault(UnexpectedByte, 1));
    assert_eq!(members(b"{\"a\":1"), fault(UnexpectedEnd, 6));
    assert_eq!(elements(b"[]"), None);
    assert_eq!(elements(b"[ 1 , {} ]"), None);
    assert_eq!(elements(b"[,]"), fault(UnexpectedByte, 1));
    assert_eq!(elements(b"[1,]"), fault(UnexpectedByte, 3));
    assert_eq!(elements(b"[1 2]"), fault(UnexpectedByte, 3));
    assert_eq!(elements(b"[1}"), fault(UnexpectedByte, 2));
    assert_eq!(elements(b"[[}]"), None, "brackets are not distinguished where nothing is entered");
    assert_eq!(elements(b"[1,"), fault(UnexpectedEnd, 3));

    // The cursor checks that a value can begin here before it reads one.
    for (bytes, at) in [(&b"[,1]"[..], 1), (b"[ x]", 2)] {
        let mut cursor = Cursor::new(bytes);
        cursor.begin_array().unwrap();
        assert_eq!(cursor.next_element(), Err(UnexpectedByte.at(at)));
    }
    let mut cursor = Cursor::new(b"[1");
    cursor.begin_array().unwrap();
    assert_eq!(cursor.next_element(), Ok(true));
    assert_eq!(cursor.value().unwrap().raw(), b"1");
    assert_eq!(cursor.end(), Err(JsonErrorKind::UnexpectedEnd.at(2)));
}

#[test]
fn offsets_of_the_cursor() {
    let bytes = b" { \"a\" : [1, \"x\"] , \"b\":-1.5e3}";
    let mut cursor = Cursor::new(bytes);
    assert_eq!((cursor.peek(), cursor.offset()), (Ok(Kind::Object), 1));
    cursor.begin_object().unwrap();
    assert_eq!(cursor.next_member().unwrap().unwrap(), "a");
    assert_eq!((cursor.peek(), cursor.offset()), (Ok(Kind::Array), 9));
    let value = cursor.value().unwrap();
    assert_eq!(cursor.offset() - value.raw().len(), 9);
    assert_eq!(cursor.next_member().unwrap().unwrap(), "b");
    let value = cursor.value().unwrap();
    assert_eq!((value.raw(), value.kind()), (&b"-1.5e3"[..], Kind::Number));
    assert_eq!(cursor.offset(), bytes.len() - 1);
    assert!(cursor.next_member().unwrap().is_none());
    assert_eq!((cursor.offset(), cursor.end()), (bytes.len(), Ok(())));
    assert!(format!("{cursor:?}").contains("offset: 31"));
    // `peek` reports the same error as a step.
    assert_eq!(Cursor::new(b"  ").peek(), Err(JsonErrorKind::UnexpectedEnd.at(2)));
    assert_eq!(Cursor::new(b"  x").peek(), Err(JsonErrorKind::UnexpectedByte.at(2)));
}

#[test]
fn a_walk_ends_with_its_first_fault() {
    for (bytes, fault) in [
        (&b"[1 2, 3]"[..], JsonErrorKind::UnexpectedByte.at(3)),
        (b"[1, x, 3]", JsonErrorKind::UnexpectedByte.at(4)),
        (b"[[[1]], 3]", JsonErrorKind::TooDeep.at(2)),
        (b"[1, tru, 3]", JsonErrorKind::BadLiteral.at(7)),
    ] {
        let mut walk = walk::Walk::new(bytes, 2);
        assert!(walk.begin(b'['));
        while walk.element() && walk.value().is_some() {}
        for _ in 0..2 {
            assert_eq!(walk.fault(), Some(fault));
            // Nothing is returned after the error, although some of the rest is valid.
            assert_eq!((walk.peek(), walk.value(), walk.member(), walk.element()), (0, None, None, false));
            assert!(!walk.begin(b'['));
        }
    }
}

#[test]
fn only_names_have_a_tag() {
    let tag = |bytes: &'static [u8]| Steps::new(bytes, 0, 1).tag(steps::Before::Bracket);
    assert_eq!(tag(b"{\"content\":1"), u32::from_le_bytes(*b"cont"));
    assert_eq!((tag(b"{xcontent\":1"), tag(b"{\"id\":1")), (0, 0));
    assert_eq!(Text::verbatim(b"a\\n").as_str(), Some("a\\n"), "it has no escape");
}

#[test]
fn members_and_elements_by_offset() {
    for bytes in [
        &br#"[1, "a\u0062", [2], {"c": 3} , null]"#[..],
        br#" { "a" : 1 , "\u0062":[{"x":"y"}],"c":"d" } "#,
        b"[]",
        b"{}",
        b"7",
        b"\"[1]\"",
        // Malformed contents appear only where the container is entered, up to the error.
        b"[1, 2 3]",
        b"[1, 2,]",
        b"[,1]",
        br#"{"a":1,"b" 2}"#,
        br#"{"a":1,"b"}"#,
    ] {
        let value = parse_lazy(bytes).unwrap();
        for value in [value, Value::from_raw(value.raw())] {
            let mut at = 0;
            for element in value.elements().map_while(Result::ok) {
                assert_eq!(value.element_at(&mut at).unwrap().raw(), element.raw());
                assert!(value.raw()[..at].ends_with(element.raw()), "it is kept as an offset");
            }
            assert!(value.element_at(&mut at).is_none() && value.element_at(&mut at).is_none());
            let mut at = 0;
            for (name, element) in value.members().map_while(Result::ok) {
                let (member_name, value) = value.member_at(&mut at).unwrap();
                assert_eq!((member_name, value.raw()), (name, element.raw()));
            }
            assert!(value.member_at(&mut at).is_none() && value.member_at(&mut at).is_none());
        }
    }
    // An offset does not depend on the kind of container.
    assert!(parse_lazy(b"[1,2]").unwrap().member_at(&mut 2).is_none());
    assert!(parse_lazy(br#"{"a":1,"b":2}"#).unwrap().element_at(&mut 6).is_none());
}

#[test]
fn values() {
    let value = parse_lazy(br#"{"a":1,"\u0061":2,"b":null,"":true,"c":false}"#).unwrap();
    assert_eq!(value.get("a").unwrap().unwrap().raw(), b"2", "the last one, unescaped");
    assert!(value.get("b").unwrap().unwrap().is_null());
    assert_eq!(value.get("").unwrap().unwrap().as_bool(), Some(true));
    assert_eq!(value.get("c").unwrap().unwrap().as_bool(), Some(false));
    assert!(value.get("d").unwrap().is_none());
    assert_eq!(value.elements().count(), 0);
    let text = parse_lazy(br#""x""#).unwrap();
    assert_eq!((text.raw(), text.members().count(), text.get("x").unwrap().is_none()), (&br#""x""#[..], 0, true));
    assert!(text.as_number().is_none() && text.as_bool().is_none() && !text.is_null());
    let again = Value::from_span(text.raw(), TextFlags::from_bits(text.flags().bits()));
    assert_eq!(again.as_text(), text.as_text());
    // Bytes that are no value, as a caller might pass by mistake.
    for raw in [&b""[..], b"\"", b"-", b"x"] {
        let value = Value::from_span(raw, TextFlags::UNKNOWN);
        assert!(value.as_text().is_none() && value.as_bool().is_none() && value.members().count() == 0);
    }
    assert_eq!(format!("{:?}", parse_lazy(b"[\"\\n\"]").unwrap()), "[\"\\n\"]");
}

#[test]
fn flags_of_strings() {
    let flags = |bytes: &'static [u8]| parse_lazy(bytes).unwrap().flags();
    assert_eq!(flags(b"\"abc\""), TextFlags::PLAIN);
    assert_eq!(flags(b"\"a\\n\""), TextFlags::ESCAPED);
    assert_eq!(flags(b"\"\xc3\xa9\""), TextFlags::NON_ASCII);
    assert_eq!(flags(b"\"\t\""), TextFlags::CONTROL);
    assert_eq!(flags(b"\"\t\\\\\xff\""), TextFlags::UNKNOWN);
    // Bytes after the string do not matter.
    assert_eq!(parse_lazy(b"\"a\" \n\t").unwrap().flags(), TextFlags::PLAIN);
    assert_eq!(
        parse_lazy(b"[\"a\",\"\\n\xff\"]").unwrap().elements().next().unwrap().unwrap().flags(),
        TextFlags::PLAIN
    );
}

#[test]
fn strict_faults() {
    use JsonErrorKind::*;
    let table: &[(&[u8], JsonErrorKind, usize)] = &[
        (b"", UnexpectedEnd, 0),
        (b"[1,]", UnexpectedByte, 3),
        (b"{\"a\":1,}", UnexpectedByte, 7),
        (b"[1}", UnexpectedByte, 2),
        (b"{\"a\"]", UnexpectedByte, 4),
        (b"[1] 2", TrailingBytes, 4),
        (b"[[[1]]]", TooDeep, 2),
        (b"[\"\\u12g4\"]", BadEscape, 2),
        (b"[\"\\u12\"]", BadEscape, 2),
        (b"[\"\\u1g", BadEscape, 2),
        (b"[\"\\u12", UnexpectedEnd, 6),
        (b"[\"\\", UnexpectedEnd, 3),
        (b"[\"a\nb\"]", RawControl, 3),
        (b"[\"a\xffb\n\"]", IllFormedUtf8, 3),
        (b"[\"a\xf0\x9f\x98\"]", IllFormedUtf8, 3),
        (b"[\xff]", UnexpectedByte, 1),
        (b"[1e]", BadNumber, 3),
        (b"[nul]", BadLiteral, 4),
        (b"\xef\xbb\xbf1", UnexpectedByte, 0),
    ];
    for &(bytes, kind, offset) in table {
        assert_eq!(validate(bytes, 2), Err(JsonError { kind, offset }), "{:?}", Text::verbatim(bytes));
    }
    assert_eq!(validate(b"0", 0), Ok(()));
    assert_eq!(validate(b"[]", 0), Err(TooDeep.at(0)));
    assert_eq!(format!("{}", TooDeep.at(7)), "nested too deep at byte 7");
}

#[test]
fn a_short_look_finds_what_is_sound() {
    let both = TextFlags::ESCAPED.with(TextFlags::NON_ASCII);
    let sound = |raw: &[u8], flags: TextFlags| Text::from_raw(raw, flags).is_sound(|_| ());
    for raw in [&b""[..], b"a", br#"\n\"\\\/"#, br"\u00e9\u0000\uffff", "é日🙂".as_bytes(), &[b'a'; 48]] {
        assert!(sound(raw, both), "{raw:x?}");
    }
    for raw in [&[b'a'; 49][..], br"\ud83d", br"\ud83d\ude42", br"\ude42", br"\x", br"\u00e", b"\\", b"\xC3", b"\xA9"] {
        assert!(!sound(raw, both), "{raw:x?}");
    }
    assert!(!sound(b"a", both.with(TextFlags::CONTROL)) && !sound(b"a", both.with(TextFlags::VERBATIM)));
    assert!(!Text::from_raw(b"a", both).with_lead(0xd83d).is_sound(|_| ()));
    let mut seen = Vec::new();
    let text = Text::from_raw(br#"{\"ab\u0041\n\u00e9"#, both);
    assert!(text.is_sound(|byte| seen.push(byte)));
    assert_eq!(seen, b"{\"abA\n\x80");
}
