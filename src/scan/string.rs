//! Finds the end of a JSON string, and of a run of its bytes without a backslash.

use super::block64::{below_lowest, walk, Block, Escapes, Kernel, Look, Seen, Sum, Task};
use super::bytes;
pub(crate) use super::bytes::{RunEnd, StringEnd};
use super::target::Target;
use crate::visits::visit;

/// Fast path for short plain strings: returns the length of the string that `inner` begins in and the bytes after its
/// closing quote. `None` decides nothing: the first quote is far, or the bytes before it are not all printable ASCII
/// without a backslash. `inner` must be a suffix of `bytes`.
#[inline(always)]
pub(crate) fn plain<'a>(bytes: &[u8], inner: &'a [u8]) -> Option<(usize, &'a [u8])> {
    if Target::IS_BRIEF {
        plain_with::<Target>(bytes, inner)
    } else {
        plain_aside(bytes, inner)
    }
}

#[inline(never)]
fn plain_aside<'a>(bytes: &[u8], inner: &'a [u8]) -> Option<(usize, &'a [u8])> {
    plain_with::<Target>(bytes, inner)
}

/// [`plain`] for a string that ends before the last 16 bytes. Short enough to be inlined in many places.
#[inline(always)]
pub(crate) fn plain_before_end(inner: &[u8]) -> Option<&[u8]> {
    if !Target::IS_BRIEF {
        return None;
    }
    let mut rest = inner;
    while let Some((block, after)) = rest.split_first_chunk::<16>() {
        visit!(16);
        let stops = <Target as Kernel>::Narrow::load(block).stops();
        if stops != 0 {
            return match rest.get(stops.trailing_zeros() as usize..) {
                Some([b'"', rest @ ..]) => Some(rest),
                _ => None,
            };
        }
        if inner.len().wrapping_sub(after.len()) > FAR {
            return None;
        }
        rest = after;
    }
    None
}

/// Returns the offset of the closing quote of the string that `bytes` begins in, if that is in the first [`FAR`] bytes
/// or little behind them, and only printable ASCII is before it. So are most texts of a stream, and nearly all of them
/// end in the first 16 bytes.
#[inline(always)]
pub(crate) fn brief_end<K: Kernel>(bytes: &[u8]) -> Option<usize> {
    let (mut rest, mut at) = (bytes, 0);
    while !K::BY_BYTES && at <= FAR {
        let (block, after) = rest.split_first_chunk::<16>()?;
        visit!(16);
        let stops = K::Narrow::load(block).stops();
        if stops != 0 {
            let stop = stops.trailing_zeros() as usize;
            return (block.get(stop) == Some(&b'"')).then_some(at.wrapping_add(stop));
        }
        (rest, at) = (after, at.wrapping_add(16));
    }
    None
}

/// From this distance on, blocks of 64 bytes are faster.
const FAR: usize = 48;

/// [`plain`] with a given kernel.
#[inline(always)]
pub(super) fn plain_with<'a, K: Kernel>(bytes: &[u8], inner: &'a [u8]) -> Option<(usize, &'a [u8])> {
    if K::BY_BYTES {
        return bytes::plain(inner);
    }
    let mut rest = inner;
    let mut len = 0;
    while let Some((block, after)) = rest.split_first_chunk::<16>() {
        visit!(16);
        let stops = K::Narrow::load(block).stops();
        if stops != 0 {
            return quote_at(inner, len + stops.trailing_zeros() as usize);
        }
        if len >= FAR {
            return None;
        }
        rest = after;
        len += 16;
    }
    // Load the tail together with the bytes before it.
    visit!(rest.len());
    let stops = K::Narrow::load(bytes.last_chunk::<16>()?).stops() >> (16 - rest.len() as u32);
    if stops == 0 {
        return None;
    }
    quote_at(inner, len + stops.trailing_zeros() as usize)
}

/// Returns `at` and the bytes after the quote at `at`, if there is one.
#[inline(always)]
fn quote_at(bytes: &[u8], at: usize) -> Option<(usize, &[u8])> {
    match bytes.get(at..) {
        Some([b'"', rest @ ..]) => Some((at, rest)),
        _ => None,
    }
}

/// Returns the first unescaped quote at or after offset `from`, which must be inside a string. Returns `None` if there
/// is none.
#[inline]
pub(crate) fn end(bytes: &[u8], from: usize) -> Option<StringEnd> {
    end_with::<Target>(bytes, from)
}

/// [`end`] with a given kernel.
#[inline(always)]
pub(super) fn end_with<K: Kernel>(bytes: &[u8], from: usize) -> Option<StringEnd> {
    if K::BY_BYTES {
        return bytes::string_end(bytes, from);
    }
    // Most strings of a stream are short: one look at 16 bytes finds their end.
    if let Some(first) = bytes.get(from..)?.first_chunk::<16>() {
        visit!(16);
        let block = K::Narrow::load(first);
        let backslash = block.backslash();
        let quote = block.quote() & !Escapes::default().escaped(backslash);
        if quote != 0 {
            let before = below_lowest(quote);
            return Some(StringEnd {
                at: from + quote.trailing_zeros() as usize,
                escaped: backslash & before != 0,
                ascii: block.high() & before == 0,
                control: block.control() & before != 0,
            });
        }
    }
    K::best(WideEnd { bytes, from })
}

/// The task of [`end_with`], for strings that are long or near the end of the bytes.
struct WideEnd<'b> {
    bytes: &'b [u8],
    from: usize,
}

impl Task for WideEnd<'_> {
    type Out = Option<StringEnd>;

    #[inline(always)]
    fn run<K: Kernel>(self) -> Option<StringEnd> {
        let WideEnd { bytes, from } = self;
        walk::<K, _>(bytes, from, &mut Quote::<K> { bytes, from, seen: Seen::nothing() })
    }
}

/// Searches for the closing quote.
struct Quote<'b, K: Kernel> {
    bytes: &'b [u8],
    from: usize,
    seen: Seen<K::Wide>,
}

impl<K: Kernel> Look<K> for Quote<'_, K> {
    type Found = StringEnd;

    /// Most blocks of a long string have no quote, so escapes are computed only for a block with one. For that the
    /// backslashes before the block are counted backwards. None is counted twice, because the count ends at the
    /// previous quote at the latest.
    #[inline(always)]
    fn look(&mut self, block: K::Wide, base: usize, shift: u32) -> Option<StringEnd> {
        if !block.equal(b'"').is_high() {
            self.seen.add(block);
            return None;
        }
        let mut escapes = Escapes::before(self.bytes, self.from, base);
        let backslash = block.backslash() >> shift;
        let quote = block.quote() >> shift & !escapes.escaped(backslash);
        if quote == 0 {
            self.seen.add(block);
            return None;
        }
        let before = below_lowest(quote);
        let (backslash, high) = (backslash & before != 0, block.high() >> shift & before != 0);
        let control = block.control() >> shift & before != 0;
        let seen = if base > self.from { self.seen.what() } else { (false, false, false) };
        Some(StringEnd {
            at: base + quote.trailing_zeros() as usize,
            escaped: backslash | seen.0,
            ascii: !(high | seen.1),
            control: control | seen.2,
        })
    }
}

/// Returns the run from offset `from` to the first backslash.
#[inline]
pub(crate) fn run(bytes: &[u8], from: usize) -> RunEnd {
    run_with::<Target, false>(bytes, from)
}

/// Returns the run from offset `from` to the first backslash, quote or control character.
#[inline]
pub(crate) fn strict_run(bytes: &[u8], from: usize) -> RunEnd {
    run_with::<Target, true>(bytes, from)
}

/// [`run`] or, if `STRICT`, [`strict_run`] with a given kernel.
#[inline(always)]
pub(super) fn run_with<K: Kernel, const STRICT: bool>(bytes: &[u8], from: usize) -> RunEnd {
    if K::BY_BYTES {
        return bytes::run(bytes, from, STRICT);
    }
    let rest = bytes.get(from..).unwrap_or_default();
    if rest.len() < 16 {
        return run_short::<K, STRICT>(rest, from);
    }
    if let Some(first) = rest.first_chunk::<16>() {
        visit!(16);
        let block = K::Narrow::load(first);
        let (stop, control) = stops::<16, STRICT>(block);
        if stop != 0 {
            let before = below_lowest(stop);
            return RunEnd {
                at: from + stop.trailing_zeros() as usize,
                ascii: block.high() & before == 0,
                control: control & before != 0,
            };
        }
    }
    K::best(WideRun::<STRICT> { bytes, from })
}

/// [`run_with`] for less than 16 bytes, because most strings of a stream are a token of a few bytes.
#[inline(always)]
fn run_short<K: Kernel, const STRICT: bool>(rest: &[u8], from: usize) -> RunEnd {
    visit!(rest.len());
    let block = K::Narrow::load(&short(rest));
    let (stop, control) = stops::<16, STRICT>(block);
    // The block has zeros after the bytes. A stop there means that the run extends to the end of the bytes.
    let stop = stop | 1u64.wrapping_shl(rest.len() as u32);
    let before = below_lowest(stop);
    RunEnd {
        at: from + stop.trailing_zeros() as usize,
        ascii: block.high() & before == 0,
        control: control & before != 0,
    }
}

/// Returns less than 16 bytes followed by zeros, assembled from overlapping words.
#[inline(always)]
pub(super) fn short(bytes: &[u8]) -> [u8; 16] {
    let len = bytes.len() as u32;
    let word = if let (Some(first), Some(last)) = (bytes.first_chunk::<8>(), bytes.last_chunk::<8>()) {
        let last = u128::from(u64::from_le_bytes(*last));
        u128::from(u64::from_le_bytes(*first)) | last.wrapping_shl(len.wrapping_mul(8).wrapping_sub(64))
    } else if let (Some(first), Some(last)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        let last = u64::from(u32::from_le_bytes(*last));
        u128::from(u64::from(u32::from_le_bytes(*first)) | last.wrapping_shl(len.wrapping_mul(8).wrapping_sub(32)))
    } else if let [first, .., last] = bytes {
        let middle = bytes.get(1).copied().unwrap_or(0);
        let last = u32::from(*last).wrapping_shl(len.wrapping_mul(8).wrapping_sub(8));
        u128::from(u32::from(*first) | u32::from(middle) << 8 | last)
    } else {
        bytes.first().map_or(0, |&byte| u128::from(byte))
    };
    word.to_le_bytes()
}

/// Returns the bytes followed by zeros, if they are from 1 to 15, and printable ASCII without a quote or a backslash.
#[inline(always)]
pub(crate) fn short_plain(bytes: &[u8]) -> Option<[u8; 16]> {
    if !matches!(bytes.len(), 1..=15) {
        return None;
    }
    visit!(bytes.len());
    let block = short(bytes);
    // The zeros are control characters.
    let stops = <Target as Kernel>::Narrow::load(&block).stops() | 1 << 16;
    (stops.trailing_zeros() as usize == bytes.len()).then_some(block)
}

/// The task of [`run_with`], for long runs.
struct WideRun<'b, const STRICT: bool> {
    bytes: &'b [u8],
    from: usize,
}

impl<const STRICT: bool> Task for WideRun<'_, STRICT> {
    type Out = RunEnd;

    #[inline(always)]
    fn run<K: Kernel>(self) -> RunEnd {
        let mut run = RunSearch::<STRICT>::default();
        let at = walk::<K, _>(self.bytes, self.from, &mut run).unwrap_or(self.bytes.len());
        RunEnd { at, ascii: run.high == 0, control: run.control != 0 }
    }
}

/// Returns the bytes of a block that end a run, and its control characters.
#[inline(always)]
fn stops<const N: usize, const STRICT: bool>(block: impl Block<N>) -> (u64, u64) {
    let control = block.control();
    if STRICT {
        (block.backslash() | block.quote() | control, control)
    } else {
        (block.backslash(), control)
    }
}

/// Searches for the end of a run.
#[derive(Default)]
struct RunSearch<const STRICT: bool> {
    high: u64,
    control: u64,
}

impl<K: Kernel, const STRICT: bool> Look<K> for RunSearch<STRICT> {
    type Found = usize;

    #[inline(always)]
    fn look(&mut self, block: K::Wide, base: usize, shift: u32) -> Option<usize> {
        let (stop, control) = stops::<64, STRICT>(block);
        let stop = stop >> shift;
        let before = below_lowest(stop);
        self.high |= block.high() >> shift & before;
        self.control |= control >> shift & before;
        (stop != 0).then(|| base + stop.trailing_zeros() as usize)
    }
}
