//! The end of a JSON string, and of a run in one.

use super::block64::{below_lowest, walk, Block, Escapes, Kernel, Look, Native};

/// Where a string ends and what is in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StringEnd {
    /// Offset of the closing quote.
    pub(crate) at: usize,
    /// Whether a backslash stands before it.
    pub(crate) escaped: bool,
    /// Whether all bytes before it are below 0x80.
    pub(crate) ascii: bool,
    /// Whether a raw control character (below 0x20) stands before it.
    pub(crate) control: bool,
}

/// The first unescaped quote at or after offset `from`, which is inside a string. `None`: the bytes end before.
#[inline(always)]
pub(super) fn end_with<K: Kernel>(bytes: &[u8], from: usize) -> Option<StringEnd> {
    // Most strings of a stream are short and plain: one 16-byte look settles them.
    if let Some(first) = bytes.get(from..)?.first_chunk::<16>() {
        let block = K::Narrow::load(first);
        let quote = block.quote();
        let before = below_lowest(quote);
        if quote != 0 && block.backslash() & before == 0 {
            return Some(StringEnd {
                at: from + quote.trailing_zeros() as usize,
                escaped: false,
                ascii: block.high() & before == 0,
                control: block.control() & before != 0,
            });
        }
    }
    end_wide::<K>(bytes, from)
}

/// The rest of [`end_with`]: what is long, escaped, or near the end of the bytes. Kept out of line, so that the short way
/// is small enough to be inlined where it is called.
#[inline(never)]
fn end_wide<K: Kernel>(bytes: &[u8], from: usize) -> Option<StringEnd> {
    walk::<K, _>(bytes, from, &mut Quote::default())
}

/// Looks for the closing quote.
#[derive(Default)]
struct Quote {
    escapes: Escapes,
    backslash: u64,
    high: u64,
    control: u64,
}

impl<K: Kernel> Look<K> for Quote {
    type Found = StringEnd;

    #[inline(always)]
    fn look(&mut self, block: K::Wide, base: usize, shift: u32) -> Option<StringEnd> {
        let backslash = block.backslash() >> shift;
        let quote = block.quote() >> shift & !self.escapes.escaped(backslash);
        let before = below_lowest(quote);
        self.backslash |= backslash & before;
        self.high |= block.high() >> shift & before;
        self.control |= block.control() >> shift & before;
        if quote == 0 {
            return None;
        }
        Some(StringEnd {
            at: base + quote.trailing_zeros() as usize,
            escaped: self.backslash != 0,
            ascii: self.high == 0,
            control: self.control != 0,
        })
    }
}

/// Where a run of plain bytes ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RunEnd {
    /// Offset of the byte that ends it; the length of the bytes if none does.
    pub(crate) at: usize,
    /// Whether all bytes of the run are below 0x80.
    pub(crate) ascii: bool,
    /// Whether a control character is in the run.
    pub(crate) control: bool,
}

/// The run from offset `from` to the first backslash.
#[inline]
pub(crate) fn run(bytes: &[u8], from: usize) -> RunEnd {
    run_with::<Native, false>(bytes, from)
}

/// The run from offset `from` to the first backslash, quote or control character.
#[inline]
pub(crate) fn strict_run(bytes: &[u8], from: usize) -> RunEnd {
    run_with::<Native, true>(bytes, from)
}

/// [`run`] or, if `STRICT`, [`strict_run`] with a given kernel.
#[inline(always)]
pub(super) fn run_with<K: Kernel, const STRICT: bool>(bytes: &[u8], from: usize) -> RunEnd {
    let rest = bytes.get(from..).unwrap_or_default();
    if rest.len() < 16 {
        return run_short::<STRICT>(rest, from);
    }
    if let Some(first) = rest.first_chunk::<16>() {
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
    run_wide::<K, STRICT>(bytes, from)
}

/// Most texts of a stream are a token, a few bytes long.
#[inline]
fn run_short<const STRICT: bool>(rest: &[u8], from: usize) -> RunEnd {
    let mut end = RunEnd { at: from, ascii: true, control: false };
    for &byte in rest {
        let control = byte < 0x20;
        if byte == b'\\' || STRICT && (byte == b'"' || control) {
            break;
        }
        end.ascii &= byte < 0x80;
        end.control |= control;
        end.at += 1;
    }
    end
}

#[inline(never)]
fn run_wide<K: Kernel, const STRICT: bool>(bytes: &[u8], from: usize) -> RunEnd {
    let mut run = Run::<STRICT>::default();
    let at = walk::<K, _>(bytes, from, &mut run).unwrap_or(bytes.len());
    RunEnd { at, ascii: run.high == 0, control: run.control != 0 }
}

/// The bytes of a block that end a run, and its control characters.
#[inline(always)]
fn stops<const N: usize, const STRICT: bool>(block: impl Block<N>) -> (u64, u64) {
    let control = block.control();
    if STRICT {
        (block.backslash() | block.quote() | control, control)
    } else {
        (block.backslash(), control)
    }
}

/// Looks for the end of a run.
#[derive(Default)]
struct Run<const STRICT: bool> {
    high: u64,
    control: u64,
}

impl<K: Kernel, const STRICT: bool> Look<K> for Run<STRICT> {
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
