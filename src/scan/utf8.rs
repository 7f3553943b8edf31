//! Checks UTF-8 and converts checked bytes to `str`.
#![allow(unsafe_code)]

use super::block64::{Block, Kernel, Task, Utf8};
use super::string;
use super::target::Target;
use super::utf8_masks::Check;
use crate::visits::visit;

/// From this length on, the check by masks is faster than core's.
const LONG: usize = 64;

/// Returns the bytes as text, or `None` if they are not valid UTF-8.
#[inline(never)]
pub(crate) fn to_str(bytes: &[u8]) -> Option<&str> {
    if bytes.len() < LONG {
        visit!(2 * bytes.len());
        if is_ascii(bytes) {
            // SAFETY: all bytes are below 0x80, and ASCII is UTF-8.
            return Some(unsafe { core::str::from_utf8_unchecked(bytes) });
        }
    }
    to_str_other(bytes)
}

/// [`to_str`] of bytes that are long or not ASCII. A function of its own, so that the usual call need not save
/// registers.
#[inline(never)]
fn to_str_other(bytes: &[u8]) -> Option<&str> {
    if bytes.len() < LONG {
        if bytes.len() >= 16 || !<Target as Kernel>::MASKED_UTF8 {
            return core::str::from_utf8(bytes).ok();
        }
        // SAFETY: `is_valid_short` accepts the same bytes as `is_valid` below.
        return is_valid_short::<Target>(bytes).then(|| unsafe { core::str::from_utf8_unchecked(bytes) });
    }
    to_str_long::<Target>(bytes)
}

/// Copies the bytes to `to`, which has the same length, and returns whether they are valid UTF-8. If they are not, the
/// bytes written are arbitrary.
#[inline(always)]
pub(crate) fn copy(bytes: &[u8], to: &mut [u8]) -> bool {
    // Nearly all texts of a stream are short and ASCII. For these, the words that are copied are also the words that
    // are checked.
    let all = match bytes.len() {
        8..=16 => copy_ends(bytes, to).map(|(first, last)| u64::from_ne_bytes(first) | u64::from_ne_bytes(last)),
        4..=7 => {
            copy_ends(bytes, to).map(|(first, last)| (u32::from_ne_bytes(first) | u32::from_ne_bytes(last)).into())
        }
        2..=3 => {
            copy_ends(bytes, to).map(|(first, last)| (u16::from_ne_bytes(first) | u16::from_ne_bytes(last)).into())
        }
        1 => copy_ends(bytes, to).map(|([byte], _)| byte.into()),
        _ => None,
    };
    visit!(bytes.len().min(16));
    all.is_some_and(|all| all & 0x8080_8080_8080_8080 == 0) || copy_any(bytes, to)
}

/// Copies the first and the last `N` bytes, and returns them.
#[inline(always)]
fn copy_ends<const N: usize>(bytes: &[u8], to: &mut [u8]) -> Option<([u8; N], [u8; N])> {
    let (first, last) = (*bytes.first_chunk()?, *bytes.last_chunk()?);
    *to.first_chunk_mut()? = first;
    *to.last_chunk_mut()? = last;
    Some((first, last))
}

/// [`copy`] of any bytes. A function of its own, so that the usual call stays short.
#[inline(never)]
fn copy_any(bytes: &[u8], to: &mut [u8]) -> bool {
    visit!(bytes.len());
    let is_text = to.len() == bytes.len() && to_str(bytes).is_some();
    if is_text {
        to.copy_from_slice(bytes);
    }
    is_text
}

/// Appends the bytes if they are valid UTF-8, and returns whether it did. Accepts only ASCII if there are at most 16
/// bytes; the caller must decode others in another way.
#[cfg(feature = "alloc")]
#[inline]
pub(crate) fn append_ascii(bytes: &[u8], text: &mut alloc::string::String) -> bool {
    let len = bytes.len();
    if len > 16 {
        return append_long(bytes, text);
    }
    visit!(len);
    text.reserve(len);
    // SAFETY: only ASCII is appended to the bytes.
    let all = unsafe { text.as_mut_vec() };
    let (from, to) = (bytes.as_ptr(), all.spare_capacity_mut().as_mut_ptr().cast::<u8>());
    let seen = if len >= 4 {
        // Four overlapping words: two from the front, two up to the end.
        let step = len / 8 * 4;
        let places = [0, step, len - 4 - step, len - 4];
        // SAFETY: `len` is 4 to 16, so each offset is at most `len - 4`. `bytes` has `len` bytes, and as many are
        // reserved. The reserved memory does not overlap `bytes`.
        unsafe {
            let words = places.map(|place| from.add(place).cast::<u32>().read_unaligned());
            for (place, word) in places.into_iter().zip(words) {
                to.add(place).cast::<u32>().write_unaligned(word);
            }
            words[0] | words[1] | words[2] | words[3]
        }
    } else if len > 0 {
        let places = [0, len / 2, len - 1];
        // SAFETY: as above; `len` is 1 to 3, and each offset is below it.
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
        // SAFETY: `len` bytes are reserved after the existing ones. The words cover all of them, so all are written and
        // were checked to be below 0x80, and ASCII is UTF-8.
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

/// A run of string bytes up to the first backslash, from one search.
pub(crate) struct TextRun<'a> {
    /// The run as text, or as bytes if they are ill-formed.
    pub(crate) run: Result<&'a str, &'a [u8]>,
    /// Whether the run contains a control character.
    pub(crate) control: bool,
    /// The bytes after the run: empty, or starting with a backslash.
    pub(crate) rest: &'a [u8],
}

/// Returns the run at the front of `bytes`, up to the first backslash.
#[inline]
pub(crate) fn text_run(bytes: &[u8]) -> TextRun<'_> {
    let end = string::run(bytes, 0);
    let (run, rest) = bytes.split_at_checked(end.at).unwrap_or((bytes, &[]));
    let text = if end.ascii {
        // SAFETY: the search checked that all bytes of the run are below 0x80, and ASCII is UTF-8.
        Ok(unsafe { core::str::from_utf8_unchecked(run) })
    } else {
        to_str(run).ok_or(run)
    };
    TextRun { run: text, control: end.control, rest }
}

/// Whether all bytes are below 0x80. Reads overlapping words; meant for short runs.
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

/// Whether the bytes are well-formed UTF-8, checked by masks of 64 bytes: continuation bytes must be exactly where lead
/// bytes require them, and four lead bytes restrict the byte after them.
#[inline]
pub(super) fn is_valid<K: Kernel>(bytes: &[u8]) -> bool {
    K::best(IsValid(bytes))
}

/// The task of [`is_valid`].
struct IsValid<'b>(&'b [u8]);

impl Task for IsValid<'_> {
    type Out = bool;

    #[inline(always)]
    fn run<K: Kernel>(self) -> bool {
        let (mut rest, mut check) = (self.0, K::Utf8::default());
        while let Some((block, after)) = rest.split_first_chunk::<64>() {
            visit!(64);
            if check.see(K::Wide::load(block)) {
                return false;
            }
            rest = after;
        }
        if rest.is_empty() {
            return check.is_complete();
        }
        visit!(rest.len());
        // A cut character has a zero after it.
        let mut last = [0; 64];
        if let Some(last) = last.get_mut(..rest.len()) {
            last.copy_from_slice(rest);
        }
        !check.see(K::Wide::load(&last))
    }
}

/// [`is_valid`] for less than 16 bytes.
#[inline]
pub(super) fn is_valid_short<K: Kernel>(bytes: &[u8]) -> bool {
    // A cut character has a zero after it.
    !Check::default().look(K::Narrow::load(&string::short(bytes)))
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

    /// `append_ascii` accepts only ASCII up to 16 bytes and any UTF-8 above.
    #[cfg(feature = "alloc")]
    #[test]
    fn append_ascii_accepts_short_ascii_and_long_utf8() {
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
