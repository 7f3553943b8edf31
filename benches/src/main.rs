//! All contenders in turn, round after round, so that whatever slows the machine slows all alike: medians, and ratios
//! within the run. Prints Markdown.
//!
//! `--rounds N` (9), `--bytes N` of each input (4,000,000), `--input NAME`, `--slice BYTES`, `--only PART-OF-NAME` to
//! run just those (for a profiler).

use deltawire_benches::{agree, all, Contender, Input, Kind, Sink, SHAPES, SLICES};
use std::fmt::Write;
use std::process::Command;
use std::time::Instant;

struct Options {
    rounds: usize,
    bytes: usize,
    input: Option<String>,
    slice: Option<usize>,
    only: Option<String>,
}

impl Options {
    fn from_args() -> Self {
        let mut options = Options { rounds: 9, bytes: 4_000_000, input: None, slice: None, only: None };
        let mut args = std::env::args().skip(1);
        while let Some(name) = args.next() {
            let value = args.next().unwrap_or_else(|| panic!("{name} needs a value"));
            let number = || value.parse().unwrap_or_else(|_| panic!("{name} needs a number"));
            match name.as_str() {
                "--rounds" => options.rounds = number(),
                "--bytes" => options.bytes = number(),
                "--slice" => options.slice = Some(number()),
                "--input" => options.input = Some(value),
                "--only" => options.only = Some(value),
                _ => panic!("unknown option {name}"),
            }
        }
        assert!(options.rounds > 0 && options.slice != Some(0), "nothing to do");
        options
    }
}

/// Seconds of every contender on one input, round by round.
fn measure(contenders: &mut [Box<dyn Contender>], input: &Input, slice: usize, rounds: usize) -> Vec<Vec<f64>> {
    let mut times = vec![Vec::new(); contenders.len()];
    let mut sink = Sink::default();
    for round in 0..=rounds {
        for nth in 0..contenders.len() {
            // Another one is the first each time.
            let place = (nth + round) % contenders.len();
            let start = Instant::now();
            contenders[place].run(input, slice, &mut sink);
            let time = start.elapsed().as_secs_f64();
            // The first round warms up.
            if round > 0 {
                times[place].push(time);
            }
        }
    }
    times
}

fn median(times: impl IntoIterator<Item = f64>) -> f64 {
    let mut times: Vec<f64> = times.into_iter().collect();
    times.sort_by(f64::total_cmp);
    let half = times.len() / 2;
    if times.len() % 2 == 1 {
        times[half]
    } else {
        (times[half - 1] + times[half]) / 2.0
    }
}

fn mean(values: &[f64]) -> f64 {
    (values.iter().map(|value| value.ln()).sum::<f64>() / values.len() as f64).exp()
}

/// A table of one number for each contender and input, the least and the geometric mean of the inputs at the end.
fn table(title: &str, inputs: &[Input], rows: &[(String, Vec<f64>)], decimals: impl Fn(f64) -> usize) {
    let mut out = format!("\n| {title} |");
    for input in inputs {
        let _ = write!(out, " {} |", input.name);
    }
    let _ = write!(out, " worst | mean |\n|---|{}", "--:|".repeat(inputs.len() + 2));
    let best_is_low = title.contains("ns");
    for (name, values) in rows {
        let _ = write!(out, "\n| {name} |");
        let fold = if best_is_low { f64::max } else { f64::min };
        let worst = values.iter().copied().reduce(fold).unwrap_or(0.0);
        for value in values.iter().copied().chain([worst, mean(values)]) {
            let _ = write!(out, " {value:.*} |", decimals(value));
        }
    }
    println!("{out}");
}

fn said(command: &str) -> String {
    let output = Command::new(command).arg("-V").output().ok();
    output.map_or_else(String::new, |output| String::from_utf8_lossy(&output.stdout).trim().to_string())
}

fn about(options: &Options, inputs: &[Input]) {
    let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpu.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": ")).map_or("?", |it| it.1);
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    println!("Machine: {model}, {cores} cores, {}.", std::env::consts::ARCH);
    let lock = include_str!("../../Cargo.lock");
    let version = |name: &str| {
        let entry = lock.split("[[package]]").find(|entry| entry.contains(&format!("name = \"{name}\"\n")));
        let version = entry.and_then(|entry| entry.split_once("version = \"")?.1.split_once('"'));
        format!("{name} {}", version.map_or("?", |it| it.0))
    };
    let crates = ["deltawire", "eventsource-stream", "serde_json", "simd-json", "memchr"].map(version);
    println!("Versions: {}, {}.", said("rustc"), crates.join(", "));
    let sizes: Vec<String> = inputs
        .iter()
        .map(|input| {
            let (events, bytes) = (input.due.events, input.bytes() as u64);
            format!("{} {events} events of {} bytes in {} responses", input.name, bytes / events, input.responses.len())
        })
        .collect();
    println!("Medians of {} rounds. Inputs: {}.", options.rounds, sizes.join(", "));
}

fn main() {
    let options = Options::from_args();
    let wanted = |shape: &&&str| options.input.as_deref().is_none_or(|name| name == **shape);
    let inputs: Vec<Input> = SHAPES.iter().filter(wanted).map(|shape| Input::new(shape, options.bytes)).collect();
    assert!(!inputs.is_empty(), "no such input; there are {SHAPES:?}");
    let mut contenders = all();
    contenders.retain(|contender| options.only.as_deref().is_none_or(|part| contender.name().contains(part)));
    about(&options, &inputs);
    let slices = options.slice.map_or(SLICES.to_vec(), |slice| vec![slice]);
    for slice in slices {
        // Seconds by input, by contender, by round.
        let mut times = Vec::new();
        for input in &inputs {
            if options.only.is_none() {
                agree(input, slice);
            }
            times.push(measure(&mut contenders, input, slice, options.rounds));
        }
        let row = |nth: usize, value: &dyn Fn(&Input, f64) -> f64| -> Vec<f64> {
            inputs.iter().zip(&times).map(|(input, times)| value(input, median(times[nth].iter().copied()))).collect()
        };
        let rows = |value: &dyn Fn(&Input, f64) -> f64| -> Vec<(String, Vec<f64>)> {
            (0..contenders.len()).map(|nth| (contenders[nth].name().into(), row(nth, value))).collect()
        };
        println!("\n## Slices of {slice} bytes");
        let rates = rows(&|input, time| input.bytes() as f64 / time / 1e9);
        table("GB/s", &inputs, &rates, |rate| usize::from(rate < 10.0) * 2);
        let each = rows(&|input, time| time * 1e9 / input.due.events as f64);
        table("ns an event", &inputs, &each, |_| 0);
        let mut ratios = Vec::new();
        for own in (0..contenders.len()).filter(|nth| contenders[*nth].kind() == Kind::Own) {
            for other in (0..contenders.len())
                .filter(|nth| contenders[*nth].kind() != Kind::Own && !contenders[*nth].name().contains("memcpy"))
            {
                let name = format!("{} ÷ {}", contenders[own].name(), contenders[other].name());
                // Within each round, so that a slow spell of the machine is in both.
                let paired = |times: &Vec<Vec<f64>>| {
                    median(times[other].iter().zip(&times[own]).map(|(other, own)| other / own))
                };
                ratios.push((name, times.iter().map(paired).collect()));
            }
        }
        if !ratios.is_empty() {
            table("ratio", &inputs, &ratios, |ratio| if ratio < 1.0 { 3 } else { 1 });
        }
    }
}
