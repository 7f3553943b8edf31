//! UTF-8: checked, then taken as `str`.
#![allow(unsafe_code)]

use super::block64::{walk, Block, Kernel, Look, Native};
use super::string;

/// From this length on the check by masks is quicker than core's.
const LONG: usize = 64;

/// The bytes as text, or `None` if they are not valid UTF-8.
#[inline]
pub(crate) fn to_str(bytes: &[u8]) -> Option<&str> {
    if bytes.len() < LONG {
        if is_ascii(bytes) {
            // SAFETY: all bytes are below 0x80, and ASCII is UTF-8.
            return Some(unsafe { core::str::from_utf8_unchecked(bytes) });
        }
        return core::str::from_utf8(bytes).ok();
    }
    to_str_long::<Native>(bytes)
}

fn to_str_long<K: Kernel>(bytes: &[u8]) -> Option<&str> {
    if !K::MASKED_UTF8 {
        return core::str::from_utf8(bytes).ok();
    }
    // SAFETY: `is_valid` accepts exactly the well-formed byte sequences of the Unicode standard (table 3-7).
    is_valid::<K>(bytes).then(|| unsafe { core::str::from_utf8_unchecked(bytes) })
}

/// A run of a string's bytes up to the first backslash, looked at once.
pub(crate) struct Plain<'a> {
    /// The run: text, or the bytes if they are ill-formed.
    pub(crate) run: Result<&'a str, &'a [u8]>,
    /// Whether a control character is in it.
    pub(crate) control: bool,
    /// What follows: nothing, or a backslash and more.
    pub(crate) rest: &'a [u8],
}

/// Takes the run of plain bytes at the front.
#[inline]
pub(crate) fn plain(bytes: &[u8]) -> Plain<'_> {
    let end = string::run(bytes, 0);
    let (run, rest) = bytes.split_at_checked(end.at).unwrap_or((bytes, &[]));
    let text = if end.ascii {
        // SAFETY: the search saw that all bytes of the run are below 0x80, and ASCII is UTF-8.
        Ok(unsafe { core::str::from_utf8_unchecked(run) })
    } else {
        to_str(run).ok_or(run)
    };
    Plain { run: text, control: end.control, rest }
}

/// Whether all bytes are below 0x80, by overlapping words: for short runs.
#[inline]
fn is_ascii(bytes: &[u8]) -> bool {
    let mut all = 0;
    if let Some(last) = bytes.last_chunk::<8>() {
        all = u64::from_ne_bytes(*last);
        let mut rest = bytes;
        while let Some((word, after)) = rest.split_first_chunk::<8>() {
            all |= u64::from_ne_bytes(*word);
            rest = after;
        }
    } else if let (Some(first), Some(last)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        all = u64::from(u32::from_ne_bytes(*first) | u32::from_ne_bytes(*last));
    } else {
        for &byte in bytes {
            all |= u64::from(byte);
        }
    }
    all & 0x8080_8080_8080_8080 == 0
}

/// Whether the bytes are well-formed UTF-8, by masks of 64 bytes: where a sequence must go on must be exactly where
/// the continuation bytes are, and four lead bytes narrow the byte after them.
#[inline]
pub(super) fn is_valid<K: Kernel>(bytes: &[u8]) -> bool {
    let mut check = Check::default();
    let fault = walk::<K, _>(bytes, 0, &mut check);
    fault.is_none() && check.is_complete()
}

/// Looks for ill-formed UTF-8. What it keeps reaches over into the next block.
#[derive(Default)]
struct Check {
    /// The first bytes of the next block that must be continuation bytes.
    due: u64,
    /// Bit 0: the last byte was 0xE0, which must be followed by 0xA0 or more.
    e0: u64,
    /// Likewise 0xED: less than 0xA0.
    ed: u64,
    /// Likewise 0xF0: 0x90 or more.
    f0: u64,
    /// Likewise 0xF4: less than 0x90.
    f4: u64,
}

/// A fault was found.
struct IllFormed;

impl Check {
    /// Whether the last sequence is whole. (The block of a tail has a byte of no sequence behind it.)
    fn is_complete(&self) -> bool {
        self.due == 0
    }
}

impl<K: Kernel> Look<K> for Check {
    type Found = IllFormed;

    #[inline(always)]
    fn look(&mut self, block: K::Wide, _base: usize, shift: u32) -> Option<IllFormed> {
        let high = block.high() >> shift;
        if high == 0 {
            let due = self.due != 0;
            *self = Check::default();
            return due.then_some(IllFormed);
        }
        let lead2 = block.at_least(0xc0) >> shift;
        let lead3 = block.at_least(0xe0) >> shift;
        let lead4 = block.at_least(0xf0) >> shift;
        let continuation = high & !lead2;
        let due = self.due | lead2 << 1 | lead3 << 2 | lead4 << 3;
        // 0xC0 and 0xC1 would be overlong, 0xF5 and more would pass U+10FFFF.
        let never = (block.eq(0xc0) | block.eq(0xc1) | block.at_least(0xf5)) >> shift;

        let e0 = block.eq(0xe0) >> shift;
        let ed = block.eq(0xed) >> shift;
        let f0 = block.eq(0xf0) >> shift;
        let f4 = block.eq(0xf4) >> shift;
        let from_90 = block.at_least(0x90) >> shift;
        let from_a0 = block.at_least(0xa0) >> shift;
        let narrowed = (e0 << 1 | self.e0) & !from_a0
            | (ed << 1 | self.ed) & from_a0
            | (f0 << 1 | self.f0) & !from_90
            | (f4 << 1 | self.f4) & from_90;

        self.due = lead2 >> 63 | lead3 >> 62 | lead4 >> 61;
        self.e0 = e0 >> 63;
        self.ed = ed >> 63;
        self.f0 = f0 >> 63;
        self.f4 = f4 >> 63;
        (never | (due ^ continuation) | narrowed != 0).then_some(IllFormed)
    }
}
