//! The measurements: every contender's seconds, round by round.

use deltawire_benches::allocations;
pub use deltawire_benches::allocations::Counting;
use deltawire_benches::{Contender, Input, Kind, Sink, WHOLE};

/// Returns the size of the slices in words.
pub fn slice(slice: usize) -> String {
    match slice {
        WHOLE => "the whole".into(),
        1 => "1 byte".into(),
        _ => format!("{slice} bytes"),
    }
}

/// One contender on one input in slices of one size.
pub struct Series {
    pub name: &'static str,
    pub kind: Kind,
    pub seconds: Vec<f64>,
    /// The allocations in the last round, if they are known.
    pub allocations: Option<u64>,
}

/// All contenders on one input in slices of one size.
pub struct Run {
    pub input: String,
    pub slice: usize,
    pub events: u64,
    pub bytes: u64,
    pub responses: usize,
    pub series: Vec<Series>,
}

impl Run {
    /// Lets all take their turn, round after round, so that a slow spell of the machine affects all of them.
    pub fn new(contenders: &mut [Box<dyn Contender>], input: &Input, slice: usize, rounds: usize) -> Self {
        let mut series: Vec<Series> = contenders
            .iter()
            .map(|contender| Series {
                name: contender.name(),
                kind: contender.kind(),
                seconds: Vec::new(),
                allocations: None,
            })
            .collect();
        let mut sink = Sink::default();
        for round in 0..=rounds {
            for nth in 0..contenders.len() {
                // Each round begins with another contender.
                let place = (nth + round) % contenders.len();
                // An untimed pass warms the caches, so that nobody pays for those that another contender or process
                // left.
                contenders[place].time(input, slice, &mut sink);
                let before = allocations::so_far();
                let time = contenders[place].time(input, slice, &mut sink);
                let counted = allocations::so_far() - before;
                // The first round warms up.
                if round > 0 {
                    series[place].seconds.push(time);
                    series[place].allocations = contenders[place].allocations(counted);
                }
            }
        }
        let (events, bytes, responses) = (input.expected.events, input.bytes() as u64, input.responses.len());
        Run { input: input.name.clone(), slice, events, bytes, responses, series }
    }

    pub fn series(&self, name: &str) -> Option<&Series> {
        self.series.iter().find(|series| series.name == name)
    }

    /// Returns the median of the seconds of a pass.
    pub fn seconds(&self, name: &str) -> Option<f64> {
        Some(median(self.series(name)?.seconds.iter().copied()))
    }

    /// Returns the GB/s of input.
    pub fn rate(&self, name: &str) -> Option<f64> {
        Some(self.bytes as f64 / self.seconds(name)? / 1e9)
    }

    /// Returns the nanoseconds an event.
    pub fn each(&self, name: &str) -> Option<f64> {
        Some(self.seconds(name)? * 1e9 / self.events as f64)
    }

    /// Returns how many times as fast as `other` it is: the median of the rounds' ratios, so that a slow spell affects
    /// both.
    pub fn ratio(&self, name: &str, other: &str) -> Option<f64> {
        let (own, other) = (&self.series(name)?.seconds, &self.series(other)?.seconds);
        Some(median(own.iter().zip(other).map(|(own, other)| other / own)))
    }
}

/// One contender on one input, in slices of several sizes in turn.
pub struct Sizes {
    pub input: String,
    pub bytes: u64,
    /// The size, and the seconds of each round.
    pub seconds: Vec<(usize, Vec<f64>)>,
}

impl Sizes {
    pub fn new(contender: &mut dyn Contender, input: &Input, sizes: &[usize], rounds: usize) -> Self {
        let mut seconds: Vec<(usize, Vec<f64>)> = sizes.iter().map(|size| (*size, Vec::new())).collect();
        let mut sink = Sink::default();
        for round in 0..=rounds {
            for nth in 0..sizes.len() {
                let (size, times) = &mut seconds[(nth + round) % sizes.len()];
                let time = contender.time(input, *size, &mut sink);
                if round > 0 {
                    times.push(time);
                }
            }
        }
        Sizes { input: input.name.clone(), bytes: input.bytes() as u64, seconds }
    }

    /// Returns the median of a value of the seconds in slices of two sizes, round by round.
    pub fn compare(&self, size: usize, other: usize, value: impl Fn(f64, f64) -> f64) -> Option<f64> {
        let of = |size| self.seconds.iter().find(|one| one.0 == size).map(|one| &one.1);
        Some(median(of(size)?.iter().zip(of(other)?).map(|(a, b)| value(*a, *b))))
    }
}

/// All runs.
#[derive(Default)]
pub struct Results {
    pub runs: Vec<Run>,
    pub sizes: Vec<Sizes>,
}

impl Results {
    pub fn run(&self, input: &str, slice: usize) -> Option<&Run> {
        self.runs.iter().find(|run| run.input == input && run.slice == slice)
    }

    /// Returns the runs in slices of one size, on the named inputs.
    pub fn of<'r>(&'r self, inputs: &[&str], slice: usize) -> Vec<&'r Run> {
        inputs.iter().filter_map(|input| self.run(input, slice)).collect()
    }
}

pub fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    let half = values.len() / 2;
    match values.len() {
        0 => f64::NAN,
        len if len % 2 == 1 => values[half],
        _ => (values[half - 1] + values[half]) / 2.0,
    }
}

/// Returns the geometric mean.
pub fn mean(values: &[f64]) -> f64 {
    (values.iter().map(|value| value.ln()).sum::<f64>() / values.len() as f64).exp()
}
