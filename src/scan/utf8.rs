//! UTF-8: checked, then taken as `str`.
#![allow(unsafe_code)]

use super::block64::{walk, Block, Kernel, Look};
use super::native::Native;
use super::string;
use crate::visits::visit;

/// From this length on the check by masks is quicker than core's.
const LONG: usize = 64;

/// The bytes as text, or `None` if they are not valid UTF-8.
#[inline(never)]
pub(crate) fn to_str(bytes: &[u8]) -> Option<&str> {
    if bytes.len() < LONG {
        visit!(2 * bytes.len());
        if is_ascii(bytes) {
            // SAFETY: all bytes are below 0x80, and ASCII is UTF-8.
            return Some(unsafe { core::str::from_utf8_unchecked(bytes) });
        }
        if bytes.len() >= 16 || !<Native as Kernel>::MASKED_UTF8 {
            return core::str::from_utf8(bytes).ok();
        }
        // SAFETY: `is_valid_short` accepts the same as `is_valid` below.
        return is_valid_short::<Native>(bytes).then(|| unsafe { core::str::from_utf8_unchecked(bytes) });
    }
    to_str_long::<Native>(bytes)
}

/// Appends the bytes if they are valid UTF-8, and says whether they are. Short ones it takes for ill-formed if they are
/// not ASCII: for what is known to be.
#[cfg(feature = "alloc")]
#[inline]
pub(crate) fn append_ascii(bytes: &[u8], text: &mut alloc::string::String) -> bool {
    let len = bytes.len();
    if len > 16 {
        return append_long(bytes, text);
    }
    visit!(len);
    text.reserve(len);
    // SAFETY: what is appended to the bytes below is ASCII.
    let all = unsafe { text.as_mut_vec() };
    let (from, to) = (bytes.as_ptr(), all.spare_capacity_mut().as_mut_ptr().cast::<u8>());
    let seen = if len >= 4 {
        // Four words that overlap: two from the front, and two up to the end.
        let step = len / 8 * 4;
        let places = [0, step, len - 4 - step, len - 4];
        // SAFETY: `len` is 4 to 16, so that each place is at most `len - 4`; the bytes are `len`, and as many are reserved.
        // A new reservation is no part of the bytes.
        unsafe {
            let words = places.map(|place| from.add(place).cast::<u32>().read_unaligned());
            for (place, word) in places.into_iter().zip(words) {
                to.add(place).cast::<u32>().write_unaligned(word);
            }
            words[0] | words[1] | words[2] | words[3]
        }
    } else if len > 0 {
        let places = [0, len / 2, len - 1];
        // SAFETY: as above; `len` is 1 to 3 and each place below it.
        unsafe {
            let words = places.map(|place| from.add(place).read());
            for (place, word) in places.into_iter().zip(words) {
                to.add(place).write(word);
            }
            u32::from(words[0] | words[1] | words[2])
        }
    } else {
        0
    };
    let ascii = seen & 0x8080_8080 == 0;
    if ascii {
        // SAFETY: `len` bytes were reserved behind those there were. The places cover them all, so all are written and
        // were seen to be below 0x80, and ASCII is UTF-8.
        unsafe { all.set_len(all.len() + len) };
    }
    ascii
}

#[cfg(feature = "alloc")]
#[inline(never)]
fn append_long(bytes: &[u8], text: &mut alloc::string::String) -> bool {
    let run = to_str(bytes);
    if let Some(run) = run {
        text.push_str(run);
    }
    run.is_some()
}

fn to_str_long<K: Kernel>(bytes: &[u8]) -> Option<&str> {
    if !K::MASKED_UTF8 {
        visit!(bytes.len());
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

/// [`is_valid`] for less than 16 bytes.
#[inline]
pub(super) fn is_valid_short<K: Kernel>(bytes: &[u8]) -> bool {
    // A character that is cut has a zero behind it.
    !Check::default().see(K::Narrow::load(&string::short(bytes)), 0)
}

/// Looks for ill-formed UTF-8. What it keeps reaches over into the next block.
#[derive(Default)]
pub(super) struct Check {
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
pub(super) struct IllFormed;

impl Check {
    /// Whether the last sequence is whole. (The block of a tail has a byte of no sequence behind it.)
    #[inline(always)]
    pub(super) fn is_complete(&self) -> bool {
        self.due == 0
    }
}

impl Check {
    /// Looks at the next `N` bytes, without those past the end if `shift` is not 0: whether they are ill-formed.
    #[inline(always)]
    pub(super) fn see<const N: usize>(&mut self, block: impl Block<N>, shift: u32) -> bool {
        let high = block.high() >> shift;
        if high == 0 {
            let due = self.due != 0;
            *self = Check::default();
            return due;
        }
        let carried = |bits: u64, by: u32| bits.wrapping_shr((N as u32).wrapping_sub(by));
        let before = core::mem::take(self);
        let lead2 = block.at_least(0xc0) >> shift;
        let lead3 = block.at_least(0xe0) >> shift;
        let continuation = high & !lead2;
        let mut due = before.due | lead2 << 1 | lead3 << 2;
        self.due = carried(lead2, 1) | carried(lead3, 2);
        // 0xC0 and 0xC1 would be overlong.
        let mut faults = lead2 & !(block.at_least(0xc2) >> shift);
        if lead3 | before.e0 | before.ed != 0 {
            let lead4 = block.at_least(0xf0) >> shift;
            let e0 = block.eq(0xe0) >> shift;
            let ed = block.eq(0xed) >> shift;
            let from_a0 = block.at_least(0xa0) >> shift;
            faults |= (e0 << 1 | before.e0) & !from_a0 | (ed << 1 | before.ed) & from_a0;
            due |= lead4 << 3;
            self.due |= carried(lead4, 3);
            self.e0 = carried(e0, 1);
            self.ed = carried(ed, 1);
            if lead4 != 0 {
                let f0 = block.eq(0xf0) >> shift;
                let f4 = block.eq(0xf4) >> shift;
                let from_90 = block.at_least(0x90) >> shift;
                // 0xF5 and more would pass U+10FFFF.
                faults |= block.at_least(0xf5) >> shift;
                faults |= (f0 << 1) & !from_90 | (f4 << 1) & from_90;
                self.f0 = carried(f0, 1);
                self.f4 = carried(f4, 1);
            }
        }
        if before.f0 | before.f4 != 0 {
            let from_90 = block.at_least(0x90) >> shift;
            faults |= before.f0 & !from_90 | before.f4 & from_90;
        }
        let inside = u64::MAX.wrapping_shr(64u32.wrapping_sub(N as u32));
        faults | (due ^ continuation) & inside != 0
    }
}

impl<K: Kernel> Look<K> for Check {
    type Found = IllFormed;

    #[inline(always)]
    fn look(&mut self, block: K::Wide, _base: usize, shift: u32) -> Option<IllFormed> {
        self.see(block, shift).then_some(IllFormed)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::indexing_slicing)]
    extern crate std;
    #[cfg(feature = "alloc")]
    use super::append_ascii;
    use super::is_ascii;

    #[test]
    fn ascii_has_no_byte_from_0x80_on() {
        let all = [0x7f; 70];
        for len in 0..=all.len() {
            assert!(is_ascii(&all[..len]));
            for place in 0..len {
                let mut odd = all;
                odd[place] = 0x80;
                assert!(!is_ascii(&odd[..len]), "{place} of {len}");
            }
        }
    }

    /// To sixteen bytes only ASCII, the others being left to the decoder; more as UTF-8.
    #[cfg(feature = "alloc")]
    #[test]
    fn what_is_known_to_be_ascii_is_appended() {
        for len in 0..40 {
            let mut text = std::string::String::from("<");
            let ascii = std::string::String::from("a").repeat(len);
            assert!(append_ascii(ascii.as_bytes(), &mut text) && text[1..] == ascii, "{len}");
            for place in 0..len.saturating_sub(1) {
                let (mut text, mut long) = (std::string::String::from("<"), ascii.clone());
                long.replace_range(place..place + 2, "\u{e9}");
                assert_eq!(append_ascii(long.as_bytes(), &mut text), len > 16, "{place} of {len}");
                assert_eq!(text[1..], if len > 16 { long } else { std::string::String::new() });
            }
        }
    }
}
