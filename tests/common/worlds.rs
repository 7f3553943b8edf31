//! Every string over an alphabet, on two threads, and every way to cut it.

use super::thin::thin;
use std::sync::atomic::{AtomicU64, Ordering};

/// How many strings were tried, in how many runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tried {
    pub strings: u64,
    pub runs: u64,
}

impl std::ops::AddAssign for Tried {
    fn add_assign(&mut self, more: Tried) {
        self.strings += more.strings;
        self.runs += more.runs;
    }
}

/// Returns the step between the strings of `len` tokens: 1, unless `DELTAWIRE_THIN` requests fewer.
fn step(len: u32) -> usize {
    if len < 4 {
        1
    } else {
        thin()
    }
}

/// Returns how many strings of up to `len` of `tokens` tokens to try.
pub fn number(tokens: usize, len: u32) -> u64 {
    (0..=len).map(|len| tokens.pow(len).div_ceil(step(len)) as u64).sum()
}

/// Calls `f` with every string of up to `len` tokens: its number among those of its length, its bytes, and its number
/// of tokens. `f` returns the number of its runs.
pub fn each(alphabet: &[&[u8]], len: u32, f: impl Fn(usize, &[u8], u32) -> u64 + Sync) -> Tried {
    const BLOCK: usize = 1024;
    let mut tried = Tried::default();
    for len in 0..=len {
        let (next, strings, runs) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
        let all = alphabet.len().pow(len);
        let step = step(len);
        let count = all.div_ceil(step);
        let work = || {
            let mut bytes = Vec::new();
            loop {
                let from = next.fetch_add(BLOCK as u64, Ordering::Relaxed) as usize;
                if from >= count {
                    break;
                }
                let to = count.min(from + BLOCK);
                for place in from..to {
                    let mut rest = place * step;
                    bytes.clear();
                    for _ in 0..len {
                        bytes.extend_from_slice(alphabet[rest % alphabet.len()]);
                        rest /= alphabet.len();
                    }
                    runs.fetch_add(f(place, &bytes, len), Ordering::Relaxed);
                }
                strings.fetch_add((to - from) as u64, Ordering::Relaxed);
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(work);
            }
        });
        tried += Tried { strings: strings.into_inner(), runs: runs.into_inner() };
    }
    tried
}

/// A way to cut: bit `n` cuts after byte `n`.
pub type Cuts = u64;

/// Returns the pieces of `bytes`.
pub fn pieces(bytes: &[u8], cuts: Cuts) -> impl Iterator<Item = &[u8]> {
    let (mut rest, mut from, mut over) = (cuts, 0, false);
    std::iter::from_fn(move || {
        if over {
            return None;
        }
        let end = from + rest.trailing_zeros() as usize + 1;
        over = rest == 0 || end >= bytes.len();
        let to = if over { bytes.len() } else { end };
        let piece = &bytes[from..to];
        if !over {
            rest >>= end - from;
        }
        from = to;
        Some(piece)
    })
}

/// The ways to cut to try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ways {
    /// Every combination of positions.
    All,
    /// Uncut, at each single position, and at all positions at once.
    Each,
    /// Like `Each`, but single positions only from the first to before the second.
    Within(usize, usize),
    /// Only at this position.
    One(usize),
}

/// Calls `f` with each of those ways to cut `len` bytes. Returns their number.
pub fn cuttings(len: usize, ways: Ways, mut f: impl FnMut(Cuts)) -> u64 {
    let places = len.saturating_sub(1);
    let everywhere: Cuts = (1 << places) - 1;
    let mut count = 0;
    let mut call = |cuts| {
        f(cuts);
        count += 1;
    };
    let (from, to) = match ways {
        Ways::All => {
            (0..=everywhere).for_each(call);
            return count;
        }
        Ways::One(place) => {
            assert!(place < places, "{len} bytes have no place {place}");
            call(1 << place);
            return count;
        }
        Ways::Each => (0, places),
        Ways::Within(from, to) => (from, to.min(places)),
    };
    call(0);
    (from..to).for_each(|place| call(1 << place));
    if places > 1 {
        call(everywhere);
    }
    count
}

/// Returns a number that depends on every byte: FNV-1a.
pub fn hash(bytes: &[u8]) -> u64 {
    let mixed = bytes
        .iter()
        .fold(0xCBF2_9CE4_8422_2325, |hash: u64, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3));
    mixed ^ mixed >> 32
}
