//! Compares decoding with every kernel with a naive decoder.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, clippy::expect_used)]

use super::block64::Kernel;
use super::portable::Portable;
use super::string;
use super::target::Target;
use super::tests::{at_each_level, every, Random};
use super::unescape::{self, Decoded};
use crate::{visits, Quirk, QuirkSet};
use std::string::String;
use std::vec::Vec;
extern crate std;

/// Decodes one character or escape after the other. The bytes are UTF-8.
fn naive_unescape(raw: &str) -> (String, QuirkSet) {
    let (mut text, mut quirks) = (String::new(), QuirkSet::EMPTY);
    let unit = |at: usize| {
        let digits = raw.get(at..at + 6)?.strip_prefix("\\u")?;
        let hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        hex.then(|| u16::from_str_radix(digits, 16).unwrap())
    };
    let mut at = 0;
    while let Some(char) = raw[at..].chars().next() {
        if let Some(first) = unit(at) {
            at += 6;
            let mut pair = char::decode_utf16([first].into_iter().chain(unit(at)));
            match pair.next().unwrap() {
                Ok(char) => {
                    at += if char > '\u{ffff}' { 6 } else { 0 };
                    text.push(char);
                }
                Err(_) => {
                    quirks.insert(Quirk::LoneSurrogate);
                    text.push('\u{fffd}');
                }
            }
            continue;
        }
        at += char.len_utf8();
        if char != '\\' {
            if char < ' ' {
                quirks.insert(Quirk::RawControl);
            }
            text.push(char);
            continue;
        }
        let kind = raw.as_bytes().get(at).copied().unwrap_or(0);
        match b"\"\\/bfnrt".iter().position(|&known| known == kind) {
            Some(known) => {
                at += 1;
                text.push(char::from(b"\"\\/\x08\x0c\n\r\t"[known]));
            }
            None => {
                quirks.insert(Quirk::BadEscape);
                text.push('\\');
            }
        }
    }
    (text, quirks)
}

/// The portable kernel as on processors of 32 bits.
struct ByBytes;

impl Kernel for ByBytes {
    type Narrow = <Portable as Kernel>::Narrow;
    type Wide = <Portable as Kernel>::Wide;
    type Utf8 = <Portable as Kernel>::Utf8;
    const MASKED_UTF8: bool = false;
    const IS_BRIEF: bool = false;
    const BY_BYTES: bool = true;
}

/// Decodes with a kernel into `room` bytes, and compares the result with the naive decoder.
fn check_unescape<K: Kernel>(raw: &[u8], room: usize) -> Decoded {
    let mut bytes = std::vec![0xaa; room];
    let progress = unescape::copy_with::<K>(raw, &mut bytes);
    let written = &bytes[..progress.wrote];
    // The decoding ends between characters, and the decoded bytes do not depend on the bytes after them.
    let taken = core::str::from_utf8(&raw[..progress.took]).unwrap();
    let (text, quirks) = naive_unescape(taken);
    assert_eq!((core::str::from_utf8(written), progress.quirks), (Ok(&*text), quirks), "{raw:x?} into {room}");
    if let Ok(whole) = core::str::from_utf8(raw) {
        let (text, quirks) = naive_unescape(whole);
        assert!(text.as_bytes().starts_with(written), "{raw:x?} into {room}");
        if room >= raw.len() {
            assert_eq!((progress.took, progress.quirks), (raw.len(), quirks), "{raw:x?} into {room}");
        }
    }
    progress
}

#[test]
fn texts_against_the_naive_decoder() {
    at_each_level(|| {
        let tokens: &[&[u8]] = &[
            b"a",
            b"token ",
            b"a run of plain text that is longer than sixteen bytes; ",
            b"\\n",
            b"\\\"",
            b"\\\\",
            b"\\u00e9",
            b"\\ud83d\\ude00",
            b"\\ud83d",
            b"\\ude00",
            b"\\q",
            b"\\u12",
            b"\\",
            b"\xc3\xa9",
            b"\xe2\x80\x94",
            b"\xf0\x9f\x98\x80",
            b"\x01",
            b"\xff",
            b"\xe2\x82",
        ];
        let mut random = Random(31);
        let (mut whole, mut faults) = (0, 0);
        for round in 0..60_000 / every() {
            // Alternate between well-formed and ill-formed tokens, and between mostly plain and mostly escaped ones.
            let most = if round % 4 == 0 { tokens.len() } else { tokens.len() - 2 };
            let (skip, count) = [(0, 6), (0, 40), (3, 50), (6, 12)][round / 4 % 4];
            let mut raw = Vec::new();
            for _ in 0..random.below(count) {
                raw.extend_from_slice(tokens[skip + random.below(most - skip)]);
            }
            raw.drain(..random.below(raw.len().min(3) + 1));
            let roomy = raw.len() + 200;
            let room = [roomy, raw.len(), random.below(raw.len() + 1)][random.below(3)];
            let native = check_unescape::<Target>(&raw, room);
            let portable = check_unescape::<Portable>(&raw, room);
            check_unescape::<ByBytes>(&raw, room);
            if room == roomy {
                assert_eq!((unescape::measure(&raw), unescape::copy(&raw, &mut std::vec![0; room])), (native, native));
                assert_eq!(unescape::measure_with::<Portable>(&raw).quirks, portable.quirks, "{raw:x?}");
            }
            #[cfg(feature = "alloc")]
            if let Ok(raw) = core::str::from_utf8(&raw) {
                let mut text = String::from("=");
                assert_eq!(unescape::append(raw.as_bytes(), &mut text).took, raw.len(), "{raw:?}");
                assert_eq!(text, std::format!("={}", naive_unescape(raw).0));
            }
            whole += u32::from(native.took == raw.len());
            faults += u32::from(core::str::from_utf8(&raw).is_err());
        }
        assert!(whole > 30_000 / every() as u32 && faults > 5000 / every() as u32, "{whole} {faults}");
    });
}

/// Escapes at each position of a block, adjacent, and across its end.
#[test]
fn escapes_over_block_ends() {
    at_each_level(|| {
        for lead in (0..140).step_by(every()) {
            for odd in [
                "\\n",
                "\\\\",
                "\\\\\\\\n",
                "\\u00e9",
                "\\ud83d\\ude00",
                "\\ud83d",
                "\\ud83d\\u0041",
                "\\q",
                "\\",
                "é",
                "—",
                "😀",
            ] {
                for tail in [0, 1, 5, 20, 70, 150] {
                    let raw = ["a".repeat(lead), odd.repeat(3), "z".repeat(tail)].concat();
                    for room in [raw.len() + 128, raw.len()] {
                        check_unescape::<Target>(raw.as_bytes(), room);
                        check_unescape::<Portable>(raw.as_bytes(), room);
                        check_unescape::<ByBytes>(raw.as_bytes(), room);
                    }
                }
            }
        }
    });
}

/// Characters cut short or lying across the end of a block, with ill-formed bytes after them.
#[test]
fn decoding_ends_before_ill_formed_bytes() {
    at_each_level(|| {
        for lead in 50..140 {
            for (odd, valid) in [
                (&b"\xc3"[..], 0),
                (b"\xe2\x80", 0),
                (b"\xf0\x9f\x98", 0),
                (b"\xff", 0),
                ("é".as_bytes(), 2),
                ("—".as_bytes(), 3),
                ("😀".as_bytes(), 4),
            ] {
                for gap in [0, 1, 20, 59, 60, 61, 62, 63, 64, 100] {
                    let plain = [&b"a".repeat(lead), odd, &b"b".repeat(gap)].concat();
                    let raw = [&plain, &b"\xff"[..], &b"c".repeat(200)].concat();
                    let end = if valid > 0 { plain.len() } else { lead };
                    for room in [raw.len() + 200, raw.len()] {
                        for progress in [
                            check_unescape::<Target>(&raw, room),
                            check_unescape::<Portable>(&raw, room),
                            check_unescape::<ByBytes>(&raw, room),
                        ] {
                            // The decoder may also leave earlier bytes of the same block.
                            assert!(progress.took <= end && progress.took + 128 > end, "{raw:x?}: {progress:?}");
                        }
                    }
                    let roomy = unescape::copy(&raw, &mut std::vec![0; raw.len() + 200]);
                    assert_eq!(unescape::measure(&raw), roomy, "{raw:x?}");
                }
            }
        }
    });
}

/// The fast paths apply: most bytes of a string are read once.
#[test]
fn decoding_looks_at_few_bytes_twice() {
    if Target::BY_BYTES {
        let raw = b"a".repeat(1000);
        let (_, visits) = visits::during(|| unescape::copy(&raw, &mut [0; 1000]));
        assert_eq!(visits, 1000);
        return;
    }
    at_each_level(|| {
        let looks = |raw: &[u8]| {
            let mut room = std::vec![0; raw.len() + 200];
            let (copied, copying) = visits::during(|| unescape::copy(raw, &mut room));
            let (measured, measuring) = visits::during(|| unescape::measure(raw));
            assert_eq!((copied, copied.took), (measured, raw.len()));
            assert!(measuring <= copying, "{measuring}");
            copying as usize
        };
        for len in 0..16 {
            assert_eq!(looks(&b"a".repeat(len)), len, "a token");
            let string = [&b"a".repeat(len)[..], b"\"", &b"b".repeat(99)].concat();
            let (end, visits) = visits::during(|| string::brief_end::<Target>(&string));
            assert_eq!((end, visits), (Some(len), 16));
        }
        for len in [16, 63, 64, 65, 1000, 4096] {
            assert_eq!(looks(&b"a".repeat(len)), len.next_multiple_of(64), "blocks");
            // Bytes after an escape are loaded again: 16 bytes, and 48 more if there are more; twice 64 in a block with
            // one or two escapes.
            let escapes = [b"\\n", &b"a".repeat(16)[..]].concat().repeat(len);
            assert!(looks(&escapes) <= 3 * escapes.len() + 64, "{}", looks(&escapes));
        }
    });
}
