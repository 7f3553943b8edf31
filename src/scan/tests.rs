//! Compares every search, with every kernel, with the search that looks at one byte at a time.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, clippy::expect_used)]

use super::block64::{below_lowest, prefix_xor, Block, Escapes, Kernel, Seen, Sum, Task};
use super::container::{self, ContainerEnd, Unbalanced};
use super::portable::Portable;
use super::string;
use super::target::Target;
use super::{bytes, find, utf8};
#[cfg(feature = "alloc")]
use std::string::String;
use std::vec::Vec;
extern crate std;

/// Returns the step of exhaustive loops: 1, or `n` if `DELTAWIRE_EMULATED=n`. Emulated processors, and code under
/// AddressSanitizer that is not optimized, are slow.
pub(super) fn every() -> usize {
    let given = std::env::var("DELTAWIRE_EMULATED").map(|given| given.parse().expect("DELTAWIRE_EMULATED is a number"));
    given.unwrap_or(1)
}

/// Runs a test with every kernel that [`Kernel::best`] may choose on this processor.
pub(super) fn at_each_level(test: impl FnMut()) {
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    super::level::forced::each(test);
    #[cfg(not(all(target_arch = "x86_64", target_feature = "sse2")))]
    core::iter::once(test).for_each(|mut test| test());
}

/// A xorshift generator, which gives the same bytes in every run.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }
    /// Returns `len` random bytes of an alphabet.
    fn bytes(&mut self, alphabet: &[u8], len: usize) -> Vec<u8> {
        (0..len).map(|_| alphabet[self.below(alphabet.len())]).collect()
    }
}

pub(super) fn check_string(bytes: &[u8], from: usize) {
    let expected = bytes::string_end(bytes, from);
    assert_eq!(string::end_with::<Target>(bytes, from), expected, "target, {bytes:?} from {from}");
    assert_eq!(string::end_with::<Portable>(bytes, from), expected, "portable, {bytes:?} from {from}");
    let expected = bytes::run(bytes, from, false);
    assert_eq!(string::run_with::<Target, false>(bytes, from), expected, "target, {bytes:?} from {from}");
    assert_eq!(string::run_with::<Portable, false>(bytes, from), expected, "portable, {bytes:?} from {from}");
    let expected = bytes::run(bytes, from, true);
    assert_eq!(string::run_with::<Target, true>(bytes, from), expected, "target, {bytes:?} from {from}");
    assert_eq!(string::run_with::<Portable, true>(bytes, from), expected, "portable, {bytes:?} from {from}");
}

pub(super) fn check_container(bytes: &[u8], from: usize, max_depth: u32) {
    let expected = bytes::container_end(bytes, from, max_depth, false);
    assert_eq!(container::end_with::<Target>(bytes, from, max_depth), expected, "target, {bytes:?}, {max_depth}");
    assert_eq!(container::end_with::<Portable>(bytes, from, max_depth), expected, "portable, {bytes:?}, {max_depth}");
}

/// Checks the search for a container that lies in one line.
fn check_container_in_line(bytes: &[u8], max_depth: u32) {
    let found = bytes::container_end(bytes, 0, max_depth, false);
    let expected = found.ok().filter(|end| !end.breaks).map(|end| end.at);
    assert_eq!(container::end_in_line(bytes, max_depth), expected, "{bytes:?}, {max_depth}");
    let by_bytes = bytes::container_end(bytes, 0, max_depth, true);
    assert_eq!(by_bytes.ok().map(|end| end.at), expected, "{bytes:?}, {max_depth}");
}

pub(super) fn check_utf8(bytes: &[u8]) -> bool {
    let expected = core::str::from_utf8(bytes);
    assert_eq!(utf8::to_str(bytes), expected.ok(), "{bytes:x?}");
    assert_eq!(utf8::is_valid::<Target>(bytes), expected.is_ok(), "target, {bytes:x?}");
    assert_eq!(utf8::is_valid::<Portable>(bytes), expected.is_ok(), "portable, {bytes:x?}");
    let mut copy = std::vec![0; bytes.len()];
    assert_eq!(utf8::copy(bytes, &mut copy), expected.is_ok(), "{bytes:x?}");
    assert!(copy == bytes || expected.is_err(), "{bytes:x?}");
    if bytes.len() < 16 {
        assert_eq!(utf8::is_valid_short::<Target>(bytes), expected.is_ok(), "target, {bytes:x?}");
        assert_eq!(utf8::is_valid_short::<Portable>(bytes), expected.is_ok(), "portable, {bytes:x?}");
    }
    expected.is_ok()
}

/// Compares all masks of a block with the answer for each byte.
fn check_block<const N: usize>(block: impl Block<N>, bytes: &[u8; N]) {
    let mask = |of: &dyn Fn(u8) -> bool| (0..N).fold(0u64, |mask, i| mask | u64::from(of(bytes[i])) << i);
    assert_eq!(block.quote(), mask(&|byte| byte == b'"'));
    assert_eq!(block.backslash(), mask(&|byte| byte == b'\\'));
    assert_eq!(block.open(), mask(&|byte| byte == b'[' || byte == b'{'));
    assert_eq!(block.close(), mask(&|byte| byte == b']' || byte == b'}'));
    assert_eq!(block.control(), mask(&|byte| byte < 0x20));
    assert_eq!(block.high(), mask(&|byte| byte >= 0x80));
    assert_eq!(block.odd(), mask(&|byte| !(0x20..0x80).contains(&byte)));
    assert_eq!(block.stops(), block.quote() | block.backslash() | block.odd());
    for bound in [0, 1, 0x20, 0x7f, 0x80, 0x81, 0x90, 0xa0, 0xc0, 0xe0, 0xf0, 0xf5, 0xff] {
        if bound >= 0x80 {
            assert_eq!(block.at_least(bound), mask(&|byte| byte >= bound), "{bound:x}");
        }
        assert_eq!(block.eq(bound), mask(&|byte| byte == bound), "{bound:x}");
    }
}

/// Checks the properties of several blocks together: a block of all values, and blocks of plain text with at most one
/// odd byte.
fn check_sums<K: Kernel>(bytes: &[u8; 64], random: &mut Random) {
    let block = K::Wide::load(bytes);
    let mask = |of: &dyn Fn(u8) -> bool| (0..64).fold(0u64, |mask, i| mask | u64::from(of(bytes[i])) << i);
    assert_eq!(block.line_ends().high(), mask(&|byte| byte == b'\r' || byte == b'\n'));
    for byte in [b'"', b'\\', 0, 0xff] {
        assert_eq!(block.equal(byte).high(), mask(&|other| other == byte));
    }
    assert_eq!((block.is_high(), block.is_control()), (block.high() != 0, block.control() != 0));
    let (mut seen, mut all) = (Seen::<K::Wide>::nothing(), Vec::new());
    for _ in 0..random.next() % 4 {
        let mut text = [0; 64];
        text.iter_mut().for_each(|byte| *byte = b' ' + (random.next() % 0x3c) as u8);
        if random.next() % 4 == 0 {
            text[(random.next() % 64) as usize] = random.next() as u8;
        }
        seen.add(K::Wide::load(&text));
        all.extend_from_slice(&text);
    }
    let has = |of: fn(&u8) -> bool| all.iter().any(of);
    assert_eq!(
        seen.what(),
        (has(|byte| *byte == b'\\'), has(|byte| *byte >= 0x80), has(|byte| *byte < 0x20)),
        "{all:x?}"
    );
}

/// Runs [`check_kernel`] with the chosen kernel.
struct CheckKernel;

impl Task for CheckKernel {
    type Out = ();

    #[inline(always)]
    fn run<K: Kernel>(self) {
        check_kernel::<K>();
    }
}

fn check_kernel<K: Kernel>() {
    let mut random = Random(7);
    for round in 0..2000 {
        let mut bytes = [0u8; 64];
        for (i, byte) in bytes.iter_mut().enumerate() {
            // Every byte value at every position, then random bytes.
            *byte = if round < 256 { (round + i) as u8 } else { random.next() as u8 };
        }
        check_block(K::Wide::load(&bytes), &bytes);
        check_sums::<K>(&bytes, &mut random);
        let narrow: &[u8; 16] = bytes[round % 49..].first_chunk().unwrap();
        check_block(K::Narrow::load(narrow), narrow);
    }
}

#[test]
fn target_masks() {
    at_each_level(|| {
        Target::best(CheckKernel);
    });
}

#[test]
fn portable_masks() {
    check_kernel::<Portable>();
}

#[test]
fn escapes_prefix_and_lowest() {
    let mut random = Random(3);
    for _ in 0..20_000 {
        let (mut escapes, mut escaped) = (Escapes::default(), false);
        for _ in 0..4 {
            let backslash = random.next() | random.next() & random.next();
            let mut expected = 0;
            for i in 0..64 {
                expected |= u64::from(escaped) << i;
                escaped = !escaped && backslash >> i & 1 != 0;
            }
            // Any byte can be escaped, not only backslashes.
            assert_eq!(escapes.escaped(backslash), expected, "{backslash:b}");
        }
        let bits = random.next();
        let expected = (0..64).fold(0, |all, i| all | u64::from((bits << (63 - i)).count_ones() & 1) << i);
        assert_eq!(prefix_xor(bits), expected);
    }
    assert_eq!((below_lowest(0), below_lowest(1), below_lowest(0b1000)), (u64::MAX, 0, 0b111));
}

/// Compares the searches by bytes, with which the others are compared, with results written by hand.
#[test]
fn searches_by_bytes() {
    let string =
        |text: &str| bytes::string_end(text.as_bytes(), 0).map(|end| (end.at, end.escaped, end.ascii, end.control));
    assert_eq!(string(r#"ab","c""#), Some((2, false, true, false)));
    assert_eq!(string(r#"a\"b\\" c"#), Some((6, true, true, false)));
    assert_eq!(string("é\n\" \u{1}\""), Some((3, false, false, true)));
    assert_eq!(string("a\\\u{1}\""), Some((3, true, true, true)), "an escaped control character also counts");
    assert_eq!([string(""), string("ab"), string(r#"a\""#)], [None; 3]);
    assert_eq!(bytes::string_end(b"\"", 2), None);

    let run = |text: &str, strict| {
        let end = bytes::run(text.as_bytes(), 1, strict);
        (end.at, end.ascii, end.control)
    };
    assert_eq!((run("\\a\"b\\c", false), run("\\a\"b\\c", true)), ((4, true, false), (2, true, false)));
    assert_eq!((run("xa\té", false), run("xa\té", true)), ((5, false, true), (2, true, false)));

    let container =
        |text: &str, depth| bytes::container_end(text.as_bytes(), 1, depth, false).map(|end| (end.at, end.breaks));
    assert_eq!(container(r#":{"a":["]}"],"b\"}":{}}, {"#, 2), Ok((23, false)));
    assert_eq!(container(":[\n[]]", 2), Ok((6, true)));
    assert_eq!(container(":[[]]", 1), Err(Unbalanced::TooDeep(2)));
    assert_eq!(container(":[\"]\"", 9), Err(Unbalanced::UnexpectedEnd));
    assert_eq!(
        container(r#":[\"]\]"#, 9),
        Ok((5, false)),
        "outside of strings a backslash hides a quote, but not a bracket"
    );
    assert_eq!(bytes::container_end(b"[\n]", 0, 1, true), Err(Unbalanced::UnexpectedEnd));
    assert_eq!(bytes::plain(b"ab\"c"), Some((2, &b"c"[..])));
    assert_eq!([&b"a\\\""[..], b"a", b"\xc3\xa9\"", b"\t\""].map(bytes::plain), [None; 4]);
}

#[test]
fn short_plain_texts() {
    for len in 0..18 {
        for (at, byte) in (0..len).flat_map(|at| (0..=u8::MAX).map(move |byte| (at, byte))).chain([(len, 0)]) {
            let (mut text, mut block) = ([b'a'; 19], [0; 16]);
            text[at] = byte;
            let is_plain = at == len || matches!(byte, 0x20..0x80) && byte != b'"' && byte != b'\\';
            let expected = (is_plain && (1..16).contains(&len)).then(|| {
                block[..len].copy_from_slice(&text[..len]);
                block
            });
            assert_eq!(string::short_plain(&text[..len]), expected, "{len} {at} {byte}");
        }
    }
}

#[test]
fn line_ends_far_away() {
    assert_eq!(find::line_end(b"data: x\r\n"), Some(7));
    // The search looks at pairs of blocks.
    at_each_level(|| {
        for len in [127, 128, 129, 255, 256, 257, 513, 639, 640, 641, 900] {
            let mut bytes: Vec<u8> = (0..len).map(|i| b" aJMjmz\x1a\x1d\x8a\x8d"[i % 11]).collect();
            assert_eq!(find::line_end(&bytes), None, "{len}");
            for place in (0..len).rev() {
                bytes[place] = b"\r\n"[place % 2];
                assert_eq!(find::line_end(&bytes), Some(place), "{place} of {len}");
            }
        }
    });
    assert_eq!(find::line_end(b""), None);
}

#[test]
fn strings_at_every_start_and_with_bytes_after() {
    at_each_level(|| {
        let mut random = Random(11);
        for round in 0..40_000 / every() {
            let len = random.below(160);
            let alphabet: &[u8] = if round % 2 == 0 { b"\\\\\"a" } else { b"abcdefghijklmnopqrstuvwxyz\\\"\x80\x01" };
            let bytes = random.bytes(alphabet, len);
            check_string(&bytes, random.below(len + 1));
        }
        assert_eq!(string::end_with::<Target>(b"a", 2), None);
        assert_eq!(string::end_with::<Target>(b"", 0), None);
    });
}

#[test]
fn runs_of_backslashes_over_block_ends() {
    at_each_level(|| {
        for lead in 0..70 {
            for run in 0..140 {
                let mut bytes = std::vec![b'x'; lead];
                bytes.resize(lead + run, b'\\');
                bytes.extend_from_slice(b"\"y\"");
                check_string(&bytes, 0);
                bytes.insert(0, b'"');
                bytes.insert(0, b'[');
                bytes.extend_from_slice(b"]]");
                check_container(&bytes, 0, 3);
            }
        }
    });
}

#[test]
fn containers_against_the_search_by_bytes() {
    at_each_level(|| {
        let mut random = Random(13);
        let mut ends = [0; 3];
        for round in 0..60_000 / every() {
            let len = random.below(300);
            let alphabet: &[u8] =
                [&b"[]{}"[..], b"[]{}\"\\", b"[{]}]}abcdefghijklmnopqrstuvwxyz", b"[]aaaaaaaaaaaaaaa\"\n\r"][round % 4];
            let lead = random.below(20);
            let mut bytes = random.bytes(alphabet, lead + len + 1);
            bytes[lead] = b'[';
            let max_depth = [0, 1, 2, 3, 5, 128, u32::MAX][random.below(7)];
            check_container(&bytes, lead, max_depth);
            check_container_in_line(&bytes[lead..], max_depth);
            match container::end(&bytes, lead, max_depth) {
                Ok(_) => ends[0] += 1,
                Err(Unbalanced::TooDeep(_)) => ends[1] += 1,
                Err(Unbalanced::UnexpectedEnd) => ends[2] += 1,
            }
        }
        assert!(ends.iter().all(|&count| count > 1000 / every()), "{ends:?}");
    });
}

#[test]
fn the_depth_limit_is_exact() {
    at_each_level(|| {
        for levels in 1..300u32 {
            let mut bytes = std::vec![b'['; levels as usize];
            bytes.resize(2 * levels as usize, b']');
            assert_eq!(container::end(&bytes, 0, levels), Ok(ContainerEnd { at: bytes.len(), breaks: false }));
            assert_eq!(container::end(&bytes, 0, levels - 1), Err(Unbalanced::TooDeep(levels as usize - 1)));
            check_container(&bytes, 0, levels);
            check_container(&bytes, 0, levels - 1);
            bytes.pop();
            assert_eq!(container::end(&bytes, 0, levels), Err(Unbalanced::UnexpectedEnd));
        }
    });
}

#[test]
fn utf8_at_block_ends() {
    at_each_level(|| {
        let starts: &[&[u8]] = &[
            b"a", b"\x7f", b"\x80", b"\xbf", b"\xc0", b"\xc1", b"\xc2", b"\xdf", b"\xe0", b"\xe1", b"\xec", b"\xed",
            b"\xee", b"\xef", b"\xf0", b"\xf1", b"\xf3", b"\xf4", b"\xf5", b"\xff",
        ];
        let follows = [0x00, 0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xff];
        let mut valid = 0;
        for lead in [0, 1, 2, 5, 13, 28, 29, 30, 31, 60, 61, 62, 63, 64, 65, 124, 125, 126, 127, 128] {
            for start in starts {
                let pairs = follows.iter().flat_map(|a| follows.iter().map(move |b| (a, b)));
                for (a, b) in pairs.skip(lead % every()).step_by(every()) {
                    for tail in [&[0x80][..], b"\xbf", b"", b"zz"] {
                        let mut bytes = std::vec![b'a'; lead];
                        bytes.extend_from_slice(start);
                        bytes.extend([a, b]);
                        bytes.extend_from_slice(tail);
                        valid += u32::from(check_utf8(&bytes));
                        bytes.resize(lead + 40, b'z');
                        valid += u32::from(check_utf8(&bytes));
                    }
                }
            }
        }
        assert!(valid > 1000 / every() as u32, "{valid}");
    });
}

#[test]
fn every_scalar_value_and_every_cut_of_some() {
    at_each_level(|| {
        let mut bytes = Vec::new();
        for char in (0..=0x10ffff).step_by(every()).filter_map(char::from_u32) {
            bytes.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
            if bytes.len() > 300 {
                assert!(check_utf8(&bytes));
                bytes.clear();
            }
        }
        let text = "aé€😀zß".repeat(12);
        for from in 0..70 {
            for to in from..text.len() {
                check_utf8(&text.as_bytes()[from..to]);
            }
        }
    });
}

#[test]
fn utf8_at_random() {
    at_each_level(|| {
        let alphabet = [
            0u8, 0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xec, 0xed, 0xee,
            0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xff,
        ];
        let mut random = Random(17);
        let mut valid = 0;
        for round in 0..200_000 / every() {
            let mut bytes = std::vec![b'a'; random.below(140)];
            let odd = random.below(6);
            bytes.extend(random.bytes(&alphabet, odd));
            if round % 2 == 0 {
                bytes.resize(bytes.len() + random.below(70), b'z');
            }
            valid += u32::from(check_utf8(&bytes));
        }
        assert!(valid > 20_000 / every() as u32, "{valid}");
    });
}

#[test]
fn text_runs() {
    let run = utf8::text_run("aé\t\\n".as_bytes());
    assert_eq!((run.run, run.control, run.rest), (Ok("aé\t"), true, &b"\\n"[..]));
    let run = utf8::text_run(b"a\xff");
    assert_eq!((run.run, run.control, run.rest), (Err(&b"a\xff"[..]), false, &b""[..]));
    let run = utf8::text_run(b"\\");
    assert_eq!((run.run, run.control, run.rest), (Ok(""), false, &b"\\"[..]));
}

/// Checks that the full search returns the same as the fast path, if that returns a result. Returns whether it did; for
/// plain strings with a near end it must.
fn check_plain<K: Kernel>(bytes: &[u8], from: usize) -> bool {
    let inner = &bytes[from..];
    let plain = bytes::string_end(bytes, from).filter(|end| end.ascii && !end.control && !end.escaped);
    let expected = plain.map(|end| (end.at - from, &bytes[end.at + 1..]));
    let shown = string::plain_with::<K>(bytes, inner);
    let by_bytes = expected.filter(|(len, _)| *len < 64);
    assert_eq!(bytes::plain(inner), by_bytes, "{bytes:?} from {from}");
    if shown.is_some() {
        assert_eq!(shown, expected, "{bytes:?} from {from}");
    } else if let Some((len, _)) = expected {
        assert!(len >= 48 || bytes.len() < 16, "{bytes:?} from {from}");
    }
    shown.is_some()
}

#[test]
fn plain_strings() {
    let mut random = Random(23);
    let mut shown = 0;
    for round in 0..60_000 / every() {
        let alphabet: &[u8] = [
            &b"\"ab"[..],
            b"\\\"a",
            b"abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz\\\"\x80\x01",
            b"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"\"",
        ][round % 4];
        let len = random.below(140);
        let bytes = random.bytes(alphabet, len);
        let from = random.below(len + 1);
        shown += u32::from(check_plain::<Target>(&bytes, from));
        assert_eq!(check_plain::<Target>(&bytes, from), check_plain::<Portable>(&bytes, from));
    }
    assert!(shown > 20_000 / every() as u32, "{shown}");
    for len in (0..100).step_by(every().min(11)) {
        for odd in [b'a', b'"', b'\\', 0x80, 0x1f, 0x7f, 0] {
            for place in 0..len {
                for after in 0..20 {
                    let mut bytes = std::vec![b'a'; len];
                    bytes[place] = odd;
                    bytes.push(b'"');
                    bytes.resize(len + 1 + after, b'x');
                    check_plain::<Target>(&bytes, 0);
                    check_plain::<Portable>(&bytes, 0);
                }
            }
        }
    }
}

#[cfg(feature = "alloc")]
#[test]
fn ascii_is_appended() {
    for len in 0..40 {
        for capacity in [0, 3, 64] {
            let mut text = String::with_capacity(capacity);
            text.push('=');
            let bytes: Vec<u8> = (0..len).map(|i| b'a' + i % 26).collect();
            assert!(utf8::append_ascii(&bytes, &mut text));
            assert_eq!(text.as_bytes(), [b"=", &bytes[..]].concat());
            // Replace one byte, or two, by bytes of at least 0x80.
            for (place, other) in
                (0..bytes.len()).flat_map(|place| (place..bytes.len()).map(move |other| (place, other)))
            {
                let mut bytes = bytes.clone();
                (bytes[place], bytes[other]) = (0x80, 0x80);
                let before = text.clone();
                assert!(!utf8::append_ascii(&bytes, &mut text), "{bytes:x?}");
                assert_eq!(text, before);
            }
        }
    }
}
