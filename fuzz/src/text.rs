//! Texts: long runs of one kind of bytes, with cut characters and unpaired surrogates at every position of a block of
//! 64 bytes, read through buffers of any size.
//!
//! `String::from_utf8_lossy` and UTF-16 ([`unescaped`]) give the expected text, and serde_json too if the bytes are
//! valid JSON.

use crate::input;
use crate::json::string_of;
use crate::json_walk::decodes_to;
use crate::log::escaped;
use crate::naive_json::unescaped;
use deltawire::json::{self, Text};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The bytes to repeat.
const BITS: &[&[u8]] = &[
    b"a",
    b" plain ASCII, 23 bytes.",
    // Continuation bytes without a lead byte, and lead bytes without continuation.
    b"\x80",
    b"\xbf",
    b"\xc3",
    b"\xe2",
    b"\xe2\x82",
    b"\xf0",
    b"\xf0\x9f",
    b"\xf0\x9f\x98",
    // Invalid lead bytes, overlong forms, surrogates, code points beyond U+10FFFF; and their valid neighbors.
    b"\xc0\x80",
    b"\xc1\xbf",
    b"\xe0\x9f\xbf",
    b"\xe0\xa0\x80",
    b"\xed\x9f\xbf",
    b"\xed\xa0\x80",
    b"\xed\xb0\x80",
    b"\xf0\x8f\xbf\xbf",
    b"\xf0\x90\x80\x80",
    b"\xf4\x8f\xbf\xbf",
    b"\xf4\x90\x80\x80",
    b"\xf5\x80\x80\x80",
    b"\xff",
    // Characters of two, three and four bytes.
    b"\xc3\xa9",
    b"\xe2\x82\xac",
    b"\xf0\x9f\x98\x80",
    // Escapes, including surrogates, and bytes that resemble escapes.
    b"\\n",
    b"\\\"",
    b"\\\\",
    b"\\/",
    b"\\u00e9",
    b"\\u20AC",
    b"\\ud83d\\ude00",
    b"\\ud83d",
    b"\\ude00",
    b"\\u12",
    b"\\x",
    // Control characters are kept.
    b"\x00",
    b"\n",
    b"\x1f",
    b"\x7f",
];

/// How often; mostly near the length of a block.
const TIMES: &[usize] = &[1, 1, 2, 3, 5, 15, 16, 17, 31, 32, 33, 63, 64, 65, 66, 127, 128, 129, 300];

/// How long a text is at most: several blocks, and several of the longest runs.
const MOST: usize = 1024;

/// Texts that serde_json accepted too.
pub static COMPARED: AtomicU64 = AtomicU64::new(0);

pub fn text(data: &[u8]) {
    let (mut control, body) = input::split(data);
    let how = input::which(&mut control, data.len(), 9);
    let before = control.below(80);
    let sizes: Vec<usize> = (0..1 + control.below(6)).map(|_| control.below(140)).collect();
    let mut bytes = Vec::new();
    while !control.is_empty() && bytes.len() < MOST {
        let (bit, times) = (control.pick(BITS), control.pick(TIMES));
        bytes.extend(bit.repeat(times));
    }
    bytes.extend_from_slice(body);
    bytes.truncate(MOST);

    let inside = string_of(&bytes);
    let wanted = unescaped(&inside);
    // Among other texts, so that reading beyond its ends would show.
    let document = [b"{\"", "é".repeat(before).as_bytes(), b"\":\"", &inside, b"\",\"\xff\":\"\xff\"}"].concat();
    let value = json::parse_lazy(&document).unwrap_or_else(|fault| panic!("{fault:?} in b\"{}\"", escaped(&document)));
    let (_, value) = value.member_at(&mut 0).expect("a member");
    let text = value.as_text().expect("a string");
    assert_eq!(text.raw(), inside);
    // As JSON, or as bytes that contain no escapes.
    let verbatim = String::from_utf8_lossy(&bytes);
    let (read, expected) = if how % 2 == 0 { (text, &*wanted) } else { (Text::verbatim(&bytes), &*verbatim) };
    // An ill-formed byte becomes three; nothing grows more.
    assert!(expected.len() <= 3 * read.raw().len());
    match how {
        0 | 1 => drop(decodes_to(read, expected, 4 + sizes[0] % 12)),
        2 | 3 => take_to(read, expected, &sizes),
        4..=7 => in_turn(read, expected, &sizes),
        _ => others(read, expected),
    }
    let quoted = [b"\"", inside.as_slice(), b"\""].concat();
    if let Ok(expected) = serde_json::from_slice::<String>(&quoted) {
        assert_eq!(wanted, expected, "the reference");
        COMPARED.fetch_add(1, Relaxed);
        assert!(text.quirks().is_empty(), "a quirk in what is sound: {:?}", text.quirks());
        assert_eq!(json::validate(&quoted, 8), Ok(()));
    } else {
        assert!(json::validate(&quoted, 8).is_err() || !text.quirks().is_empty(), "b\"{}\"", escaped(&quoted));
    }
}

/// A size below 4 may make no progress if a character is longer, so a sufficient size is part of the cycle.
fn cycle(sizes: &[usize]) -> impl Iterator<Item = usize> + '_ {
    sizes.iter().copied().chain([4]).cycle()
}

fn take_to(mut rest: Text<'_>, wanted: &str, sizes: &[usize]) {
    let (mut buffer, mut at) = ([0xA5; 140], 0);
    for (turn, size) in cycle(sizes).enumerate() {
        if rest.is_empty() {
            break;
        }
        // Not each time, which would be quadratic.
        if turn % 64 < 2 {
            assert_eq!(rest.decoded_len(), wanted.len() - at, "what is left");
        }
        let len = rest.take_to(&mut buffer[..size]);
        piece(&mut buffer, size, len, wanted, &mut at);
    }
    assert_eq!(at, wanted.len(), "take_to");
}

/// Copies and takes in turn: each continues where the other stopped.
fn in_turn(mut rest: Text<'_>, wanted: &str, sizes: &[usize]) {
    let (mut buffer, mut at) = ([0xA5; 140], 0);
    for size in cycle(sizes) {
        if rest.is_empty() {
            break;
        }
        let copied = rest.copy_to(&mut buffer[..size]);
        let (mut seen, written) = (at, copied.written);
        piece(&mut buffer, size, written, wanted, &mut seen);
        assert_eq!(copied.complete, seen == wanted.len());
        let len = rest.take_to(&mut buffer[..size]);
        piece(&mut buffer, size, len, wanted, &mut at);
    }
    assert_eq!(at, wanted.len(), "copy_to and take_to");
}

/// Checks that the `len` bytes written to a buffer of `size` are the next of `wanted`: whole characters, as many as
/// fit.
fn piece(buffer: &mut [u8; 140], size: usize, len: usize, wanted: &str, at: &mut usize) {
    assert!(len <= size, "more than the buffer");
    assert_eq!(buffer[size..], [0xA5; 140][size..], "written behind the buffer");
    assert_eq!(std::str::from_utf8(&buffer[..len]), Ok(&wanted[*at..][..len]));
    *at += len;
    let next = wanted[*at..].chars().next().map_or(0, char::len_utf8);
    assert!(next == 0 || size - len < next, "{next} bytes more would have fitted into {size} after {len}");
    buffer.fill(0xA5);
}

/// Checks that it equals the same text written differently, and nothing else.
fn others(text: Text<'_>, wanted: &str) {
    let units: String = wanted.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect();
    let plain = serde_json::to_string(wanted).expect("a string");
    for spelt in [format!("\"{units}\""), plain] {
        let value = json::parse_lazy(spelt.as_bytes()).expect("a string");
        let other = value.as_text().expect("a string");
        let (there, back) = (text == other, other == text);
        assert!(there && back && other == *wanted, "b\"{}\"", escaped(text.raw()));
        assert_eq!(format!("{other}"), wanted);
        // Behind the first of a long text comes how long it is as written.
        let first = |text: Text<'_>| format!("{text:?}").split('…').next().map(String::from);
        assert_eq!(first(other), first(text));
    }
    // With one character more, less or changed.
    let more = format!("{wanted}\u{fffd}");
    assert!(text != *more && text != Text::verbatim(more.as_bytes()));
    if let Some(last) = wanted.chars().next_back() {
        let less = &wanted[..wanted.len() - last.len_utf8()];
        let other = format!("{less}{}", if last == 'x' { 'y' } else { 'x' });
        for not in [less, &other] {
            assert!(text != *not && text != Text::verbatim(not.as_bytes()), "b\"{}\"", escaped(text.raw()));
        }
    }
}
