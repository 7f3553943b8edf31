//! Compares the kernels with the searches that look at one byte at a time, for every length, alignment and position of
//! a byte up to 256 bytes.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, clippy::expect_used)]

use super::block64::{Kernel, Task};
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
                let is_near = |at: usize| at < 16 && bytes.len() >= 16 && !Target::BY_BYTES;
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
