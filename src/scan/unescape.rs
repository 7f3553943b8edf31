//! Decodes the bytes of a JSON string into a given buffer: copies whole blocks, then overwrites each escape with its
//! character.
#![allow(unsafe_code)]

use super::block64::{Block, Kernel, Sum, Task, Utf8};
use super::string::short;
use super::target::Target;
use super::utf8_masks::Check;
use super::{bytes, escape};
use crate::visits::visit;
use crate::{Quirk, QuirkSet};
use core::mem::MaybeUninit;
use core::num::NonZeroU64;

/// How far the decoding got. Decoding stops before the first ill-formed sequence, and before a character or escape that
/// may not fit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Decoded {
    /// How many bytes of the string are decoded: whole characters and whole escapes.
    pub(crate) took: usize,
    /// How many bytes were written.
    pub(crate) wrote: usize,
    /// What strict JSON forbids in the decoded bytes.
    pub(crate) quirks: QuirkSet,
}

/// Appends the decoded bytes to `text`, which has room for all of them. Stops early only at ill-formed bytes.
#[cfg(feature = "alloc")]
#[inline]
pub(crate) fn append(raw: &[u8], text: &mut alloc::string::String) -> Decoded {
    // An escape is longer than its character.
    text.reserve(raw.len());
    // SAFETY: only UTF-8 is appended to the bytes.
    let bytes = unsafe { text.as_mut_vec() };
    let progress = decode::<Target>(raw, Destination { room: bytes.spare_capacity_mut(), len: 0, offsets: usize::MAX });
    let len = bytes.len().saturating_add(progress.wrote).min(bytes.capacity());
    // SAFETY: `len` is within the capacity. The first `wrote` bytes of the spare capacity are initialized and UTF-8:
    // checked runs, cut between characters, and encoded characters.
    unsafe { bytes.set_len(len) };
    progress
}

/// Decodes into `buffer`.
pub(crate) fn copy(raw: &[u8], buffer: &mut [u8]) -> Decoded {
    copy_with::<Target>(raw, buffer)
}

/// [`copy`] with a given kernel.
#[inline(always)]
pub(super) fn copy_with<K: Kernel>(raw: &[u8], buffer: &mut [u8]) -> Decoded {
    let room: *mut [u8] = buffer;
    // SAFETY: `MaybeUninit<u8>` has the layout of `u8`, the borrow is exclusive and ends with this function, and only
    // initialized bytes are written.
    let room = unsafe { &mut *(room as *mut [MaybeUninit<u8>]) };
    decode::<K>(raw, Destination { room, len: 0, offsets: usize::MAX })
}

/// Measures the decoded bytes without writing them.
pub(crate) fn measure(raw: &[u8]) -> Decoded {
    measure_with::<Target>(raw)
}

/// [`measure`] with a given kernel.
#[inline(always)]
pub(super) fn measure_with<K: Kernel>(raw: &[u8]) -> Decoded {
    decode::<K>(raw, Destination { room: &mut [MaybeUninit::uninit(); WINDOW], len: 0, offsets: 0 })
}

/// The destination of decoded bytes. If the bytes are kept, the first `len` bytes of `room` are initialized. Otherwise
/// they are only counted, and every page is the same memory, of [`WINDOW`] bytes. A run-time value says which, and
/// measuring writes as decoding does, so that the code is compiled only once.
struct Destination<'b> {
    room: &'b mut [MaybeUninit<u8>],
    /// The number of bytes decoded so far.
    len: usize,
    /// A mask for offsets in `room`: all ones if the bytes are kept, otherwise 0.
    offsets: usize,
}

impl Destination<'_> {
    /// Returns a page, the next `N` bytes of the destination, or `None` if there are fewer. The caller may write them
    /// ahead and in any order; bytes after the final end are ignored.
    #[inline(always)]
    fn page<const N: usize>(&mut self) -> Option<&mut [MaybeUninit<u8>; N]> {
        self.room.get_mut(self.len & self.offsets..)?.first_chunk_mut()
    }

    /// Commits the first `len` bytes of the page, which must be initialized.
    #[inline(always)]
    fn pass(&mut self, len: usize) {
        self.len = self.len.wrapping_add(len);
    }

    /// Removes `len` bytes from the end.
    #[inline(always)]
    fn back(&mut self, len: usize) {
        self.len = self.len.wrapping_sub(len);
    }

    /// Appends at most 64 bytes. Returns `false` if they do not fit.
    #[inline(always)]
    fn put(&mut self, bytes: &[u8]) -> bool {
        if self.offsets != 0 {
            let room = self.room.get_mut(self.len..).and_then(|room| room.get_mut(..bytes.len()));
            let Some(to) = room else { return false };
            copy_short(bytes, to);
        }
        self.pass(bytes.len());
        true
    }
}

/// Writes `bytes` at offset `at` of a page.
#[inline(always)]
fn put<const SIZE: usize, const N: usize>(page: &mut [MaybeUninit<u8>; SIZE], at: usize, bytes: &[u8; N]) {
    if let Some(to) = page.get_mut(at..).and_then(|page| page.first_chunk_mut::<N>()) {
        write(bytes, to);
    }
}

/// Copies `bytes`. `map(MaybeUninit::new)` would copy them to the stack first.
#[inline(always)]
fn write<const N: usize>(bytes: &[u8; N], to: &mut [MaybeUninit<u8>; N]) {
    // SAFETY: `MaybeUninit<u8>` has the layout of `u8`, so `to` is `N` writable bytes.
    unsafe { to.as_mut_ptr().cast::<[u8; N]>().write(*bytes) };
}

/// The length of a block and of the bytes after it, as many again, that may be read and written ahead.
const WINDOW: usize = 128;

/// Decodes `raw`. Returns how far the decoding got.
#[inline(always)]
fn decode<K: Kernel>(raw: &[u8], mut out: Destination<'_>) -> Decoded {
    // Most strings of a stream are one token.
    if raw.len() < 16 && !K::BY_BYTES {
        if let Some(progress) = tiny::<K>(raw, &mut out) {
            return progress;
        }
    }
    K::best(Long { raw, out })
}

/// [`decode`] for strings that are long, ill-formed, or have little room, and for all strings if the kernel looks at
/// one byte at a time.
struct Long<'r, 'b> {
    raw: &'r [u8],
    out: Destination<'b>,
}

impl Task for Long<'_, '_> {
    type Out = Decoded;

    #[inline(always)]
    fn run<K: Kernel>(self) -> Decoded {
        let Long { raw, mut out } = self;
        let mut quirks = QuirkSet::EMPTY;
        let mut took = if K::BY_BYTES { 0 } else { blocks::<K>(raw, &mut out, &mut quirks) };
        // The rest is ill-formed, or the destination is nearly full, or the kernel does not decode by blocks.
        while let Some(rest) = raw.get(took..).filter(|rest| !rest.is_empty()) {
            let (len, complete) = careful(rest, &mut out, &mut quirks);
            took = took.wrapping_add(len);
            if !complete {
                break;
            }
        }
        Decoded { took, wrote: out.len, quirks }
    }
}

/// Decodes less than 16 bytes. Returns `None` if they are ill-formed or do not fit.
#[inline(always)]
fn tiny<K: Kernel>(raw: &[u8], out: &mut Destination<'_>) -> Option<Decoded> {
    let page = out.page::<32>()?;
    let mut quirks = QuirkSet::EMPTY;
    let len = raw.len();
    let bytes = short(raw);
    visit!(len);
    let block = K::Narrow::load(&bytes);
    if block.high() != 0 {
        // The check sees a zero after a cut character, which makes it ill-formed.
        let ill_formed = if K::MASKED_UTF8 { Check::default().look(block) } else { core::str::from_utf8(raw).is_err() };
        if ill_formed {
            return None;
        }
    }
    if block.control() & !from(len) != 0 {
        quirks.insert(Quirk::RawControl);
    }
    let mut starts = block.backslash();
    let mut rest = u128::from_le_bytes(bytes);
    let (mut at, mut wrote) = (0usize, 0usize);
    loop {
        put(page, wrote & 15, &rest.to_le_bytes());
        if starts == 0 {
            break;
        }
        let start = starts.trailing_zeros() as usize;
        wrote = wrote.wrapping_add(start.wrapping_sub(at));
        let kind = raw.get(start.wrapping_add(1)).copied().unwrap_or(0);
        let (taken, written) = escape(raw, start, kind, page, wrote, &mut quirks);
        let end = start.wrapping_add(taken);
        wrote = wrote.wrapping_add(written);
        rest = rest.wrapping_shr((end.wrapping_sub(at) as u32).wrapping_mul(8));
        at = end;
        starts &= u64::MAX.wrapping_shl(at as u32);
    }
    out.pass(wrote.wrapping_add(len.saturating_sub(at)));
    Some(Decoded { took: len, wrote: out.len, quirks })
}

/// Decodes block after block while the destination has room for a window and nothing is ill-formed. Returns the number
/// of bytes decoded.
#[inline(always)]
fn blocks<K: Kernel>(raw: &[u8], out: &mut Destination<'_>, quirks: &mut QuirkSet) -> usize {
    let (mut rest, mut check) = (raw, K::Utf8::default());
    let mut padded: [u8; WINDOW];
    let mut least = K::Wide::load(&[b' '; 64]);
    while !rest.is_empty() {
        let Some(page) = out.page::<WINDOW>() else { break };
        let (window, mut len) = match rest.first_chunk::<WINDOW>() {
            Some(window) => (window, 64),
            None => {
                // The check sees a space after a cut character, which makes it ill-formed.
                padded = [b' '; WINDOW];
                if let Some(padded) = padded.get_mut(..rest.len()) {
                    padded.copy_from_slice(rest);
                }
                (&padded, rest.len().min(64))
            }
        };
        let Some(bytes) = window.first_chunk::<64>() else { break };
        visit!(64);
        let block = K::Wide::load(bytes);
        // If an escape crosses the end of the block, the next block begins after the escape. This block then ends with
        // ASCII, so the check carries nothing over.
        if K::MASKED_UTF8 {
            if check.see(block) {
                break;
            }
        } else if block.is_high() {
            let bytes = whole(rest, rest.get(..len).unwrap_or_default());
            if core::str::from_utf8(bytes).is_err() {
                break;
            }
            len = bytes.len();
        }
        least = least.lesser(block);
        put(page, 0, bytes);
        // No block begins inside an escape. The bytes of the block before `at` are decoded in the page, where they take
        // `saved` bytes less.
        let (mut at, mut saved) = (0usize, 0usize);
        if let Some(backslash) = NonZeroU64::new(block.backslash()) {
            (at, saved) = match few(window, page, backslash) {
                Some(done) => done,
                None => many(rest, window, page, backslash.get(), quirks),
            };
        }
        let Some(after) = (if at <= 64 { rest.get(len..) } else { skip_escape(rest, at) }) else { break };
        out.pass(rest.len().wrapping_sub(after.len()).wrapping_sub(saved));
        rest = after;
    }
    if least.is_control() {
        quirks.insert(Quirk::RawControl);
    }
    let took = raw.len().wrapping_sub(rest.len());
    let begun = begun(raw.get(..took).unwrap_or_default());
    out.back(begun);
    took.wrapping_sub(begun)
}

/// Skips an escape that crosses the end of the block. A function of its own, so that the compiler emits a branch, which
/// the processor predicts. With a conditional move, loading the next block would have to wait until the escapes are
/// decoded.
#[cold]
#[inline(never)]
fn skip_escape(rest: &[u8], at: usize) -> Option<&[u8]> {
    rest.get(at..)
}

/// Decodes the escapes of a block that has one or two, both simple. Copies the rest of the block after each, whatever
/// its length, because branches on the number of escapes, or on their distance, would often be mispredicted. If there
/// is only one, the second step repeats the first. Returns where the last escape ends, and how many bytes are saved.
/// Returns `None` if the block has more escapes or one that is not simple.
#[inline(always)]
fn few(window: &[u8; WINDOW], page: &mut [MaybeUninit<u8>; WINDOW], backslash: NonZeroU64) -> Option<(usize, usize)> {
    // Clears both bytes of the escape at `start`.
    let without = |start: u32, mask: u64| mask & !(3 << start);
    let start = backslash.trailing_zeros();
    let more = NonZeroU64::new(without(start, backslash.get()));
    let last = more.unwrap_or(backslash).trailing_zeros();
    let (at, saved) = (last as usize, usize::from(more.is_some()));
    let places = [(start as usize, start as usize), (at, at.wrapping_sub(saved) & 63)];
    let bytes = places.map(|(from, _)| window.get(from.wrapping_add(1)).map_or(0, |kind| escape::simple(*kind)));
    if without(last, more.map_or(0, NonZeroU64::get)) != 0 || bytes.contains(&0) {
        return None;
    }
    for ((from, to), byte) in places.into_iter().zip(bytes) {
        visit!(64);
        if let Some(run) = window.get(from.wrapping_add(1)..).and_then(|run| run.first_chunk::<64>()) {
            put(page, to, run);
        }
        put(page, to, &[byte]);
    }
    Some((at.wrapping_add(2), saved.wrapping_add(1)))
}

/// Decodes the escapes of a block, one after the other. `rest` begins with the window, unless the window is the padded
/// end of the string. Returns the same as [`few`].
#[inline(never)]
fn many(
    rest: &[u8],
    window: &[u8; WINDOW],
    page: &mut [MaybeUninit<u8>; WINDOW],
    backslash: u64,
    quirks: &mut QuirkSet,
) -> (usize, usize) {
    // Each escape clears its own backslashes from `starts`.
    let (mut starts, mut at, mut saved) = (backslash, 0usize, 0usize);
    while starts != 0 {
        let start = starts.trailing_zeros() as usize;
        let kind = window.get(start.wrapping_add(1)).copied().unwrap_or(0);
        let (len, wrote) = escape(rest, start, kind, page, start.wrapping_sub(saved), quirks);
        (at, saved) = (start.wrapping_add(len), saved.wrapping_add(len.wrapping_sub(wrote)));
        if at >= 64 {
            break;
        }
        starts &= u64::MAX << at;
        // Copy the bytes after the escape, more than the run has. Both offsets are below 64.
        let (from, to) = (at & 63, at.wrapping_sub(saved) & 63);
        if let Some((first, more)) = window.get(from..).and_then(|run| run.split_first_chunk::<16>()) {
            visit!(16);
            put(page, to, first);
            let end = starts.trailing_zeros() as usize;
            if let Some(more) = more.first_chunk::<48>().filter(|_| end.wrapping_sub(at) > 16) {
                visit!(48);
                put(page, to.wrapping_add(16), more);
            }
        }
    }
    (at, saved)
}

/// Writes the character of the escape at `start`, whose second byte is `kind`, to position `to`; both are below 64.
/// Returns the length of the escape and that of the character.
#[inline(always)]
fn escape<const SIZE: usize>(
    bytes: &[u8],
    start: usize,
    kind: u8,
    page: &mut [MaybeUninit<u8>; SIZE],
    to: usize,
    quirks: &mut QuirkSet,
) -> (usize, usize) {
    // Escapes begin in the first half of a page. The mask tells the compiler so, which then needs no bounds check.
    let to = to & (SIZE / 2).wrapping_sub(1);
    let byte = escape::simple(kind);
    if byte != 0 {
        put(page, to, &[byte]);
        return (2, 1);
    }
    let (escape, utf8, len) = escape::decode(bytes.get(start..).unwrap_or_default());
    if let Some(fault) = escape.fault {
        quirks.insert(fault);
    }
    put(page, to, &utf8);
    (escape.len, len)
}

/// Returns how many of the last bytes belong to a character that continues after them. The bytes must be well-formed
/// otherwise.
#[inline]
fn begun(bytes: &[u8]) -> usize {
    if bytes.last().is_some_and(u8::is_ascii) {
        return 0;
    }
    let mut last = bytes.iter().rev();
    let mut from = |bound: u8| last.next().is_some_and(|&byte| byte >= bound);
    match (from(0xc0), from(0xe0), from(0xf0)) {
        (true, ..) => 1,
        (_, true, _) => 2,
        (.., true) => 3,
        _ => 0,
    }
}

/// Returns a mask of the bits from bit `at` on.
#[inline(always)]
fn from(at: usize) -> u64 {
    if at < 64 {
        u64::MAX << at
    } else {
        0
    }
}

/// Decodes up to 64 bytes and the escape that they end in, without writing more than they decode to. Returns the number
/// of bytes decoded, and whether decoding can continue after them: it cannot before an ill-formed run, or without more
/// room. `rest` must not be empty.
#[inline(never)]
fn careful(rest: &[u8], out: &mut Destination<'_>, quirks: &mut QuirkSet) -> (usize, bool) {
    let window = whole(rest, rest.get(..64).unwrap_or(rest));
    let mut at = 0;
    while at < window.len() {
        let run = bytes::run(window, at, false);
        if run.at > at {
            let text = window.get(at..run.at).unwrap_or_default();
            let is_text = run.ascii || core::str::from_utf8(text).is_ok();
            if !is_text || !out.put(text) {
                return (at, false);
            }
            if run.control {
                quirks.insert(Quirk::RawControl);
            }
            at = run.at;
            continue;
        }
        let (escape, utf8, len) = escape::decode(rest.get(at..).unwrap_or_default());
        if !out.put(utf8.get(..len).unwrap_or_default()) {
            return (at, false);
        }
        if let Some(fault) = escape.fault {
            quirks.insert(fault);
        }
        at = at.wrapping_add(escape.len);
    }
    (at, true)
}

/// Shortens `bytes`, a prefix of `rest`, so that they end with a whole character if they are well-formed.
#[inline]
fn whole<'a>(rest: &[u8], bytes: &'a [u8]) -> &'a [u8] {
    let cut =
        rest.get(..=bytes.len()).unwrap_or_default().iter().rev().take_while(|&&byte| byte & 0xc0 == 0x80).count();
    bytes.get(..bytes.len().wrapping_sub(cut.min(3))).unwrap_or(bytes)
}

/// Copies at most 64 bytes, as many as `to` has, by overlapping chunks.
#[inline(always)]
fn copy_short(bytes: &[u8], to: &mut [MaybeUninit<u8>]) {
    if bytes.len() >= 16 {
        chunks::<16>(bytes, to);
    } else if bytes.len() >= 8 {
        chunks::<8>(bytes, to);
    } else if bytes.len() >= 4 {
        chunks::<4>(bytes, to);
    } else {
        for (to, &byte) in to.iter_mut().zip(bytes) {
            to.write(byte);
        }
    }
}

/// Copies chunk by chunk; the last chunk may overlap the previous one.
#[inline(always)]
fn chunks<const N: usize>(bytes: &[u8], to: &mut [MaybeUninit<u8>]) {
    if let (Some(last), Some(to)) = (bytes.last_chunk::<N>(), to.last_chunk_mut::<N>()) {
        write(last, to);
    }
    let (mut bytes, mut to) = (bytes, to);
    while let (Some((chunk, rest)), Some((room, more))) =
        (bytes.split_first_chunk::<N>(), to.split_first_chunk_mut::<N>())
    {
        write(chunk, room);
        (bytes, to) = (rest, more);
    }
}
