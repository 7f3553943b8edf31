//! The targets, and whether they are reached.

use crate::gateway;
use crate::measure::{mean, Results, Run};
use deltawire_benches::contenders::*;
use deltawire_benches::WHOLE;

pub const FIRST_FOUR: [&str; 4] = ["content", "content-plain", "tools", "vllm-like"];
pub const OTHER_TWO: [&str; 2] = ["logprobs", "real"];
/// The inputs of the geometric means.
pub const SIX: [&str; 6] = ["content", "content-plain", "tools", "logprobs", "vllm-like", "real"];
const ALL: [&str; 7] = ["content", "content-plain", "tools", "logprobs", "vllm-like", "real", "alternate"];

/// Sizes of the chunks of long content.
pub const LARGE: [usize; 6] = [1_000, 4_000, 16_000, 64_000, 256_000, 1_000_000];
pub const LARGE_SLICES: [usize; 4] = [64, 1448, 16 * 1024, WHOLE];

/// A row of the table.
pub struct Row {
    pub mode: &'static str,
    pub target: &'static str,
    pub measured: String,
    /// `None`: it could not be measured.
    pub reached: Option<bool>,
}

pub fn large(len: usize) -> String {
    format!("content of {len} B")
}

/// Returns the least value over runs, and its run.
fn least<'r>(runs: &[&'r Run], value: impl Fn(&Run) -> Option<f64>) -> Option<(f64, &'r str)> {
    let values = runs.iter().map(|run| Some((value(run)?, run.input.as_str()))).collect::<Option<Vec<_>>>()?;
    values.into_iter().min_by(|a, b| a.0.total_cmp(&b.0))
}

fn greatest<'r>(runs: &[&'r Run], value: impl Fn(&Run) -> Option<f64>) -> Option<(f64, &'r str)> {
    least(runs, |run| value(run).map(|value| -value)).map(|(value, at)| (-value, at))
}

/// Makes a row that compares a measured value with a bound, or says that there is no value.
fn row(mode: &'static str, target: &'static str, found: Option<(bool, String)>) -> Row {
    let (reached, measured) = match found {
        Some((reached, measured)) => (Some(reached), measured),
        None => (None, "not measured".into()),
    };
    Row { mode, target, measured, reached }
}

fn at_least(found: Option<(f64, &str)>, bound: f64) -> Option<(bool, String)> {
    found.map(|(value, at)| (value >= bound, format!("{value:.2} ({at})")))
}

fn at_most(found: Option<(f64, &str)>, bound: f64, digits: usize) -> Option<(bool, String)> {
    found.map(|(value, at)| (value <= bound, format!("{value:.digits$} ({at})")))
}

/// Returns the ratios of this library to another contender on some inputs.
fn ratios(runs: &[&Run], own: &str, other: &str) -> Option<Vec<f64>> {
    runs.iter().map(|run| run.ratio(own, other)).collect()
}

fn mean_at_least(values: Option<Vec<f64>>, expected: usize, bound: f64) -> Option<(bool, String)> {
    // Without the recorded streams it would be another mean.
    values.filter(|values| values.len() == expected).map(|values| {
        let mean = mean(&values);
        (mean >= bound, format!("{mean:.2}"))
    })
}

/// Returns the greatest value of the seconds in slices of some size and of 16 KiB, and its run.
fn beside(results: &Results, size: usize, value: impl Fn(f64, f64, u64) -> f64) -> Option<(f64, &str)> {
    let values = results.sizes.iter().filter(|one| ALL.contains(&one.input.as_str()));
    let values = values.map(|one| Some((one.compare(size, 16384, |a, b| value(a, b, one.bytes))?, one.input.as_str())));
    values.collect::<Option<Vec<_>>>()?.into_iter().max_by(|a, b| a.0.total_cmp(&b.0))
}

pub fn rows(results: &Results, gateway: &[gateway::Row]) -> Vec<Row> {
    let [four, two, six, all] =
        [&FIRST_FOUR[..], &OTHER_TWO[..], &SIX[..], &ALL[..]].map(|inputs| results.of(inputs, 16384));
    let [four_small, two_small, six_small] =
        [&FIRST_FOUR[..], &OTHER_TWO[..], &SIX[..]].map(|inputs| results.of(inputs, 1448));
    let full = |runs: &[&Run], expected: usize| runs.len() == expected;
    let against = |runs: &[&Run], other: &'static str| -> Option<(f64, String)> {
        least(runs, |run| run.ratio(PULL, other)).map(|(value, at)| (value, at.to_string()))
    };
    let bound = |runs: &[&Run], expected: usize, bound: f64| {
        let found = against(runs, SIMDJSON).filter(|_| full(runs, expected));
        at_least(found.as_ref().map(|(value, at)| (*value, at.as_str())), bound)
    };
    let mut rows = vec![
        row("pull, 16 KiB: content, content-plain, tools, vllm-like", "≥ 4.0 × B each", bound(&four, 4, 4.0)),
        row("pull, 16 KiB: logprobs, real", "≥ 3.5 × B each", bound(&two, 2, 3.5)),
        row("pull, 1448 B: content, content-plain, tools, vllm-like", "≥ 3.2 × B each", bound(&four_small, 4, 3.2)),
        row("pull, 1448 B: logprobs, real", "≥ 2.5 × B each", bound(&two_small, 2, 2.5)),
    ];
    let both: Vec<&Run> = six.iter().chain(&six_small).copied().collect();
    let total = mean_at_least(ratios(&both, PULL, SIMDJSON), 12, 4.0);
    rows.push(row("pull, geometric mean of the six inputs at both slice sizes", "≥ 4.0 × B", total));
    for (mode, target, other, bound) in [
        ("pull ÷ simd-json tape, every input, 16 KiB", "≥ 12 ×", TAPE, 12.0),
        ("pull ÷ eventsource-stream + serde_json, every input, 16 KiB", "≥ 50 ×", SERDE_STRUCTS, 50.0),
    ] {
        let found = against(&all, other);
        rows.push(row(mode, target, at_least(found.as_ref().map(|(value, at)| (*value, at.as_str())), bound)));
    }
    for (mode, target, runs, bound) in [
        ("pull ÷ memchr_iter('\\n'), geometric mean, 16 KiB", "≥ 0.60", &six, 0.60),
        ("pull ÷ memchr_iter('\\n'), geometric mean, 1448 B", "≥ 0.38", &six_small, 0.38),
    ] {
        rows.push(row(mode, target, mean_at_least(ratios(runs, PULL, NEWLINES), 6, bound)));
    }
    let generic = least(&all, |run| run.ratio(PULL_GENERIC, SIMDJSON));
    rows.push(row("pull, memo off (the generic path), every input, 16 KiB", "≥ 1.0 × B", at_least(generic, 1.0)));
    let alternate = least(&results.of(&["alternate"], 16384), |run| run.ratio(PULL, SIMDJSON));
    rows.push(row("pull, 16 KiB: alternate", "≥ 1.0 × B", at_least(alternate.filter(|_| !all.is_empty()), 1.0)));
    let missed = results.run("misses", 16384).and_then(|run| run.ratio(PULL_GENERIC, PULL));
    let missed = missed.map(|ratio| (ratio <= 1.10, format!("{:+.0} %", (ratio - 1.0) * 100.0)));
    rows.push(row("pull, 16 KiB, misses: extra time over memo off", "≤ 10 %", missed));

    let long: Vec<&Run> = LARGE_SLICES
        .iter()
        .flat_map(|slice| LARGE.iter().filter_map(|len| results.run(&large(*len), *slice)))
        .collect();
    let found = least(&long, |run| run.ratio(PULL, SIMDJSON)).filter(|_| !long.is_empty());
    rows.push(row(
        "pull, long content of 1 KB to 1 MB a chunk, slices of 64 B and more",
        "≥ 1.2 × B",
        at_least(found, 1.2),
    ));
    let flat = LARGE_SLICES.iter().filter_map(|slice| {
        let rates: Option<Vec<f64>> = LARGE.iter().map(|len| results.run(&large(*len), *slice)?.rate(PULL)).collect();
        let rates = rates?;
        Some((rates.iter().copied().fold(0.0, f64::max) / rates.iter().copied().fold(f64::INFINITY, f64::min), *slice))
    });
    let flat = flat.max_by(|a, b| a.0.total_cmp(&b.0));
    let flat = flat
        .map(|(spread, slice)| (spread <= 1.3, format!("{spread:.2} (slices of {})", crate::measure::slice(slice))));
    rows.push(row("long content: fastest length ÷ slowest length, at each slice size", "≤ 1.3", flat));

    let portable = results.run("content", 16384).and_then(|run| run.ratio(PORTABLE, SIMDJSON));
    let portable = portable.map(|ratio| (ratio >= 2.0, format!("{ratio:.2}")));
    rows.push(row("pull, u64 words (no vector unit), 16 KiB: content", "≥ 2 × B", portable));
    for (mode, target, size, bound) in [
        ("time in slices of 64 B ÷ 16 KiB", "≤ 5 ×", 64, 5.0),
        ("time in slices of 1448 B ÷ 16 KiB", "≤ 1.5 ×", 1448, 1.5),
        // Two runs of the same work differ by this much.
        ("time of the whole ÷ slices of 16 KiB", "≤ 1.0 ×", WHOLE, 1.005),
    ] {
        let slower = beside(results, size, |time, parse, _| time / parse);
        rows.push(row(mode, target, at_most(slower, bound, 2)));
    }
    let bytewise = beside(results, 1, |time, parse, bytes| (time - parse) * 1e9 / bytes as f64);
    let bytewise = bytewise.map(|(time, at)| (time <= 5.0, format!("{time:.1} ns ({at})")));
    rows.push(row("1-byte slices: time of a call above the parse", "≤ 5 ns", bytewise));
    for (mode, target, name, bound) in [
        ("C callbacks ÷ pull, 16 KiB", "≥ 0.70", C_CALLBACKS, 0.70),
        ("C batch ÷ pull, 16 KiB", "≥ 0.80", C_BATCH, 0.80),
    ] {
        rows.push(row(mode, target, at_least(least(&six, |run| run.ratio(name, PULL)), bound)));
    }
    let go = greatest(&six, |run| run.each(GO)).map(|(time, at)| (time <= 60.0, format!("{time:.0} ns ({at})")));
    rows.push(row("Go, 16 KiB: time of an event", "≤ 60 ns an event", go));
    let json = least(&six, |run| run.ratio(GO, GO_JSON));
    rows.push(row("Go ÷ bufio + encoding/json, 16 KiB", "≥ 25 ×", at_least(json, 25.0)));
    let garbage = greatest(&six, |run| Some(run.series(GO)?.allocations? as f64 / run.events as f64));
    // The measuring itself allocates less than a hundredth.
    let garbage = garbage.map(|(count, at)| (count < 0.01, format!("{count:.3} ({at})")));
    rows.push(row("Go: allocations an event", "0", garbage));

    let (two_slots, shared) = (gateway.iter().find(|row| row.slots == "2"), gateway.last());
    let idle = shared.map(|row| (row.size <= 4608, format!("{} B", row.size)));
    rows.push(row("idle memory of a stream, without the workspace that all share", "≤ 4.5 KiB", idle));
    let ratio = two_slots.zip(shared).map(|(own, shared)| shared.many / own.hot);
    let turn = ratio.map(|ratio| (ratio <= 3.0, format!("{ratio:.1} ×")));
    rows.push(row("time of 100,000 parsers in turn with a workspace ÷ hot parsers with 2 slots", "≤ 3 ×", turn));
    let allocations = results
        .runs
        .iter()
        .flat_map(|run| run.series.iter())
        .filter(|series| series.kind == deltawire_benches::Kind::Own && series.name != GO)
        .filter_map(|series| series.allocations)
        .max();
    rows.push(row("allocations after warm-up", "0", allocations.map(|count| (count == 0, count.to_string()))));
    rows
}
