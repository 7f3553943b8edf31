//! Compares texts, read in every possible way, with a naive decoder.
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

/// Returns the flags that a search would find for these bytes.
fn flags(raw: &[u8]) -> TextFlags {
    let flag = |set, flag| if set { flag } else { TextFlags::PLAIN };
    flag(raw.contains(&b'\\'), TextFlags::ESCAPED)
        .with(flag(!raw.is_ascii(), TextFlags::NON_ASCII))
        .with(flag(raw.iter().any(|byte| *byte < 0x20), TextFlags::CONTROL))
}

/// Reads the text in every possible way.
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
    // `Debug` prints the first 64 bytes of a long text.
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
        assert_eq!({ text }.take_to(&mut buffer), fits, "{raw:x?} into {len}");
    }
    for len in (4..9).chain([150, expected.len() + 300]) {
        let (mut rest, mut whole, mut buffer) = (text, Vec::new(), vec![0; len]);
        while !rest.is_empty() {
            let written = rest.take_to(&mut buffer);
            assert!(written > 0 && core::str::from_utf8(&buffer[..written]).is_ok());
            whole.extend_from_slice(&buffer[..written]);
        }
        assert_eq!(whole, expected.as_bytes(), "{raw:x?} into {len}");
    }
    for len in 0..expected.len() + 2 {
        let (mut rest, mut front) = (text, Vec::new());
        let took = rest.take_first(len as u32, |bytes| front.extend_from_slice(bytes)) as usize;
        let fits = (0..=len.min(expected.len())).rev().find(|&at| expected.is_char_boundary(at)).unwrap();
        assert_eq!((took, front.as_slice()), (fits, &expected.as_bytes()[..fits]), "{raw:x?} to {len}");
        rest.take_first(u32::MAX, |bytes| front.extend_from_slice(bytes));
        assert_eq!(front, expected.as_bytes(), "{raw:x?} from {len}");
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
    for text in [Text::verbatim(raw), Text::from_raw(raw, TextFlags::UNKNOWN.with(TextFlags::VERBATIM))] {
        check(text, &expected, quirks);
        assert_eq!(text.as_str().is_some(), core::str::from_utf8(raw).is_ok());
        assert_eq!(text.trailing_half(), None);
    }
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
fn texts_against_the_naive_decoder() {
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
        assert_eq!(first.trailing_half(), None, "the half is taken only once");
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
    // A pending value that is not a high surrogate is replaced and does not join.
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
fn is_sound_accepts_only_sound_texts() {
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
