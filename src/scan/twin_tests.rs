//! Compares the kernels with the searches that look at one byte at a time, for every length, alignment and position of
//! a byte up to 256 bytes.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, clippy::expect_used)]

use super::block64::{Kernel, Task};
use super::parts::{Fill, Parts, HOLES};
use super::portable::Portable;
use super::target::Target;
use super::tests::{at_each_level, check_container, check_string, check_utf8, every};
use super::{find, quoted, string};
use std::vec::Vec;
extern crate std;

const LONGEST: usize = 256;
const ALIGNMENTS: usize = 16;

/// Seven values, because 7 and [`ALIGNMENTS`] have no common divisor: each value occurs at each alignment.
const BYTES: [u8; 7] = [b'"', b'\\', b'[', b'}', 0x1f, 0x80, b'\n'];

/// Calls `check` with bytes of each length at each alignment, with an odd byte at each position. The bytes around them
/// would change the result of a search that reads too far.
fn everywhere(lengths: core::ops::RangeInclusive<usize>, mut check: impl FnMut(&[u8], usize)) {
    let mut memory = Vec::new();
    let (mut count, every) = (0, every());
    for len in lengths {
        for place in 0..len.max(1) {
            for alignment in 0..ALIGNMENTS {
                count += 1;
                if count % every != 0 {
                    continue;
                }
                memory.clear();
                memory.resize(LONGEST + 128, b'"');
                let first = memory.as_ptr().align_offset(ALIGNMENTS);
                assert!(first < ALIGNMENTS);
                let bytes = &mut memory[first + alignment..][..len];
                bytes.fill(b'a');
                if let Some(byte) = bytes.get_mut(place) {
                    *byte = BYTES[(len + place + alignment) % BYTES.len()];
                }
                check(bytes, place);
            }
        }
    }
}

#[test]
fn strings_and_runs() {
    at_each_level(|| {
        everywhere(0..=LONGEST, |bytes, place| {
            check_string(bytes, 0);
            check_string(bytes, place.min(bytes.len()));
            // Add a quote after the odd byte, so that there is an end to find.
            check_string(&[bytes, b"\""].concat(), 0);
        });
    });
}

#[test]
fn containers() {
    at_each_level(|| {
        everywhere(0..=LONGEST, |bytes, place| {
            check_container(bytes, 0, 1);
            check_container(bytes, 0, 2);
            // Check the bytes inside a closed container.
            if place % ALIGNMENTS == 0 {
                check_container(&[b"{", bytes, b"\"]}}"].concat(), 0, 9);
            }
        });
    });
}

#[test]
fn utf8_validity() {
    at_each_level(|| {
        everywhere(0..=LONGEST, |bytes, _| {
            check_utf8(bytes);
        });
    });
}

#[test]
fn lines_and_bytes() {
    at_each_level(|| {
        everywhere(0..=LONGEST, |bytes, _| {
            for needle in BYTES {
                let expected = bytes.iter().position(|&byte| byte == needle);
                assert_eq!(find::byte(needle, bytes), expected, "{needle} in {bytes:?}");
            }
            let expected = bytes.iter().position(|byte| b"\r\n".contains(byte));
            assert_eq!(find::line_end(bytes), expected, "{bytes:?}");
        });
    });
}

#[test]
fn brief_texts() {
    at_each_level(|| {
        everywhere(0..=LONGEST, |bytes, place| {
            let from = &bytes[place.min(bytes.len())..];
            for bytes in [bytes, from] {
                let found = string::brief_end::<Target>(bytes);
                assert_eq!(found, string::brief_end::<Portable>(bytes), "{bytes:?}");
                let is_near = |at: usize| at < 64 && bytes.len() >= at / 16 * 16 + 16 && !Target::BY_BYTES;
                let end = string::end_with::<Portable>(bytes, 0).filter(|end| is_near(end.at));
                let end = end.filter(|end| !end.escaped && end.ascii && !end.control);
                assert_eq!(found, end.map(|end| end.at), "{bytes:?}");
            }
        });
    });
}

/// Runs [`Kernel::same`] with the chosen kernel.
struct Same<'b>(&'b [u8], &'b [u8]);

impl Task for Same<'_> {
    type Out = bool;

    #[inline(always)]
    fn run<K: Kernel>(self) -> bool {
        K::same(self.0, self.1)
    }
}

#[test]
fn fixed_parts() {
    at_each_level(|| {
        everywhere(0..=LONGEST, |bytes, place| {
            // The bytes before and after match or differ, but must not be read.
            let mut memory = [&b"?"[..], bytes, b"?"].concat();
            for (change, same) in [(0, true), (0x20, place >= bytes.len())] {
                if let Some(byte) = memory[1..=bytes.len()].get_mut(place) {
                    *byte ^= change;
                }
                let other = &memory[1..=bytes.len()];
                assert_eq!(Target::best(Same(bytes, other)), same, "{bytes:?} {place}");
                assert_eq!(Portable::same(bytes, other), same, "{bytes:?} {place}");
            }
            let shorter = &bytes[..bytes.len().saturating_sub(1)];
            assert_eq!(Target::best(Same(bytes, shorter)), bytes.is_empty());
            assert_eq!(Portable::same(shorter, bytes), bytes.is_empty());
        });
    });
}

/// Compares bytes with parts, by the chosen kernel, where the values have these lengths, and notes where they end.
struct Compare<'b>(&'b Parts, &'b [u8], (usize, usize, usize), &'b mut [usize]);

impl Task for Compare<'_> {
    type Out = Option<usize>;

    #[inline(always)]
    fn run<K: Kernel>(self) -> Option<usize> {
        self.0.compare::<K>(self.1, self.2, &mut Values(self.3))
    }
}

struct Values<'v>(&'v mut [usize]);

impl Fill for Values<'_> {
    #[inline(always)]
    fn fill<K: Kernel>(&mut self, hole: usize, _: &[u8]) -> Option<usize> {
        Some(self.0[hole])
    }
    #[inline(always)]
    fn note(&mut self, hole: usize, end: usize) {
        self.0[hole] = end;
    }
}

#[test]
fn parts_between_holes() {
    at_each_level(|| {
        let lens = [1, 2, 15, 16, 17, 31, 32, 33, 63, 64, 65, 96, 97, 130];
        for (number, first) in lens.into_iter().enumerate() {
            for len in lens.into_iter().skip(number % every().min(3)) {
                for value in [0, 1, 40] {
                    for (skip, cut) in [(0, 0), (first / 2, len / 2)] {
                        check_parts(&[first, len, 1, len], value, (skip, cut));
                    }
                }
            }
        }
    });
}

/// Checks parts of these lengths, between which are values of the length `value`.
fn check_parts(lens: &[usize], value: usize, (skip, cut): (usize, usize)) {
    let (mut parts, mut event, mut fixed) = (Parts::EMPTY, Vec::new(), Vec::new());
    for (number, len) in lens.iter().enumerate() {
        let part: Vec<u8> = (0..*len).map(|at| b'a' + ((at + number) % 23) as u8).collect();
        if number > 0 {
            parts.end_part().unwrap();
            event.resize(event.len() + value, b'?');
            fixed.resize(event.len(), false);
        }
        parts.append(&part).unwrap();
        event.extend(part);
        fixed.resize(event.len(), true);
    }
    let holes = lens.len() - 1;
    assert_eq!(parts.holes(), holes);
    let (mut event, fixed) = (event[skip..event.len() - cut].to_vec(), &fixed[skip..]);
    let compare = |event: &[u8]| {
        let mut ends = [value; HOLES];
        let found = Target::best(Compare(&parts, event, (1, skip, cut), &mut ends[..holes]));
        let mut others = [value; HOLES];
        let portable = Compare(&parts, event, (1, skip, cut), &mut others[..holes]).run::<Portable>();
        assert_eq!((found, ends), (portable, others), "{lens:?} {value} {skip} {cut}");
        found.map(|len| (len, ends))
    };
    let mut ends = [value; HOLES];
    let mut at = 0;
    for (end, len) in ends.iter_mut().zip(lens).take(holes) {
        at += len + value;
        *end = at - skip - 1;
    }
    assert_eq!(compare(&event), Some((event.len(), ends)), "{lens:?} {value} {skip} {cut}");
    // Bytes behind it do not matter, and each byte of it does, unless it is in a hole.
    assert_eq!(compare(&[&event[..], b"more"].concat()), Some((event.len(), ends)));
    assert_eq!(compare(&event[..event.len() - 1]), None);
    for at in 0..event.len() {
        event[at] ^= 1;
        assert_eq!(compare(&event).is_none(), fixed[at], "{at} of {lens:?} {value} {skip} {cut}");
        event[at] ^= 1;
    }
}

#[test]
fn parts_have_bounds() {
    let mut parts = Parts::EMPTY;
    for _ in 0..HOLES {
        parts.append(b"a").unwrap();
        parts.end_part().unwrap();
    }
    assert!(parts.append(b"b").is_some() && parts.end_part().is_none());
    let room = super::parts::FIXED - parts.bytes().len();
    assert!(parts.append(&std::vec![b'c'; room + 1]).is_none() && parts.append(&std::vec![b'c'; room]).is_some());
    assert!(parts.append(b"d").is_none() && parts.append(b"").is_some());
    // More than a part has cannot be left out of it, and a value cannot be longer than the bytes.
    let event = parts.bytes().to_vec();
    for (value, ends, found) in
        [(0, (0, 0, 0), true), (0, (0, 2, 0), false), (0, (0, 0, room + 2), false), (usize::MAX, (0, 0, 0), false)]
    {
        let mut values = [value; HOLES];
        assert_eq!(Target::best(Compare(&parts, &event, ends, &mut values)).is_some(), found, "{value} {ends:?}");
    }
    parts.clear();
    assert!(parts.bytes().is_empty() && parts.holes() == 0);
}

#[test]
fn marks_of_quoted_json() {
    at_each_level(|| {
        everywhere(0..=48, |bytes, place| {
            let mut pairs = bytes.to_vec();
            for at in [place, place / 2] {
                if let Some([backslash, quote]) = pairs.get_mut(at..).and_then(|rest| rest.first_chunk_mut()) {
                    (*backslash, *quote) = (b'\\', b'"');
                }
            }
            for bytes in [bytes, &pairs] {
                for len in [0, 1, place, place + 1, 16, 17, 31, 32].into_iter().filter(|len| *len <= bytes.len()) {
                    let marks = quoted::marks_with::<Target>(bytes, len);
                    assert_eq!(marks, quoted::marks_with::<Portable>(bytes, len), "{len} of {bytes:?}");
                    assert_eq!(marks, naive_marks(bytes, len), "{len} of {bytes:?}");
                }
            }
        });
    });
}

fn naive_marks(bytes: &[u8], len: usize) -> Option<quoted::Marks> {
    let loaded = if len > 16 { 32 } else { 16 };
    let text = (len < 32 && bytes.len() >= loaded).then(|| &bytes[..len])?;
    let of = |wanted: &[u8]| (0..len).filter(|at| wanted.contains(&text[*at])).fold(0, |mask, at| mask | 1 << at);
    let is_escaped = |at: usize| at > 0 && text[at - 1] == b'\\';
    let only = (0..len).all(|at| (text[at] == b'"') == is_escaped(at)) && text.last() != Some(&b'\\');
    only.then(|| quoted::Marks { quotes: of(b"\""), open: of(b"[{"), close: of(b"]}") })
}
