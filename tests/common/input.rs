//! The format of a fuzz input: a control part preceded by its length, then the body.
//!
//! A missing byte reads as 0, and 0 always selects the plain case. So `\0` followed by a stream is a good seed: that
//! stream, the default configuration, no cuts.

use super::random::Random;
use arbitrary::Unstructured;
use deltawire::stream::Payload;
use deltawire::{Config, Framing, Limits, Quirk, QuirkSet, Validate};

/// Reads bytes one after another.
#[derive(Debug)]
pub struct Source<'a> {
    rest: Unstructured<'a>,
    /// Whether only valid values are generated.
    pub sound: bool,
}

impl<'a> Source<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Source { rest: Unstructured::new(bytes), sound: false }
    }

    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    pub fn u8(&mut self) -> u8 {
        self.rest.arbitrary().unwrap_or(0)
    }

    pub fn u16(&mut self) -> u16 {
        self.rest.arbitrary().unwrap_or(0)
    }

    pub fn u64(&mut self) -> u64 {
        self.rest.arbitrary().unwrap_or(0)
    }

    /// Returns a number below `bound`, which is at most 65536.
    pub fn below(&mut self, bound: usize) -> usize {
        if bound <= 1 {
            return 0;
        }
        let number = if bound > 256 { usize::from(self.u16()) } else { usize::from(self.u8()) };
        number % bound
    }

    /// Returns `true` once in `times`, never if the bytes are used up.
    pub fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == times - 1
    }

    pub fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    pub fn take(&mut self, len: usize) -> &'a [u8] {
        self.rest.bytes(len.min(self.rest.len())).unwrap_or_default()
    }
}

/// Selects one of `count` comparisons for an input. Inputs without a control part select by their length, so that the
/// seeds cover all comparisons.
pub fn which(control: &mut Source<'_>, len: usize, count: usize) -> usize {
    if control.is_empty() {
        len % count
    } else {
        control.below(count)
    }
}

/// Splits an input into control part and body.
pub fn split(data: &[u8]) -> (Source<'_>, &[u8]) {
    let Some((len, rest)) = data.split_first() else { return (Source::new(&[]), &[]) };
    let (control, body) = rest.split_at(usize::from(*len).min(rest.len()));
    (Source::new(control), body)
}

/// Generates a configuration, usually the default.
pub fn config(from: &mut Source<'_>) -> Config {
    let how = from.u8();
    let limits = Limits::new().with_max_event_len(match from.below(8) {
        0..=3 => Limits::DEFAULT.max_event_len(),
        4 => 4096,
        5 => 400,
        6 => 2 * u32::from(from.u8()) + 1,
        _ => u32::from(from.u8()),
    });
    let limits = limits.with_max_depth(from.pick(&[128, 128, 128, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0])).unwrap();
    let limits = limits.with_max_id_len(from.pick(&[1024, 1024, 16, 2, 0]));
    let errors = match from.below(8) {
        7 => QuirkSet::ALL,
        6 => (0..3).map(|_| from.pick(Quirk::ALL)).collect(),
        _ => QuirkSet::EMPTY,
    };
    Config::new()
        .with_limits(limits)
        .with_framing(if how & 1 != 0 { Framing::Spec } else { Framing::Lenient })
        .with_validate(if how & 2 != 0 { Validate::Strict } else { Validate::Lazy })
        .with_payload(if how & 28 == 28 { Payload::Opaque } else { Payload::Chunks })
        .with_errors(errors)
}

/// Generates the positions at which to cut `len` bytes, in order.
pub fn cuts(from: &mut Source<'_>, len: usize) -> Vec<usize> {
    let mut cuts: Vec<usize> = match from.below(6) {
        0 => Vec::new(),
        1 => (1..len).collect(),
        2 => {
            let step = 1 + from.below(256);
            (1..len).filter(|at| at % step == 0).collect()
        }
        3 => {
            // Pieces of any length, from one number.
            let mut random = Random::new(from.u64());
            let most = 2 + from.below(400);
            let mut at = 0;
            std::iter::from_fn(|| {
                at += random.below(most);
                (at < len).then_some(at)
            })
            // Empty pieces too, but not forever.
            .take(4 * len + 16)
            .collect()
        }
        _ => (0..from.below(12)).map(|_| from.below((len + 1).min(65536))).collect(),
    };
    cuts.sort_unstable();
    // Thousands of calls take most of the time and find no more than hundreds: keep a window of the cuts.
    const MOST: usize = 512;
    if cuts.len() > MOST {
        cuts.drain(..from.below((cuts.len() - MOST).min(65536)));
        cuts.truncate(MOST);
    }
    cuts
}

/// Returns a storage that does not grow. On the heap, so that one type has any length and a sanitizer guards its ends.
pub fn storage(len: usize) -> Box<[u8]> {
    vec![0x55; len].into()
}

/// Returns the pieces of `input`.
pub fn pieces<'a>(input: &'a [u8], cuts: &'a [usize]) -> impl Iterator<Item = &'a [u8]> + 'a {
    let starts = std::iter::once(0).chain(cuts.iter().copied());
    let ends = cuts.iter().copied().chain(std::iter::once(input.len()));
    starts.zip(ends).map(|(start, end)| &input[start..end])
}
