//! The tables, in Markdown.

use crate::gateway;
use crate::measure::{mean, slice, Results, Run};
use crate::options::Options;
use crate::targets::{large, Row, LARGE, LARGE_SLICES, SIX};
use deltawire_benches::contenders::{native, PULL, PUSH, SIMDJSON};
use deltawire_benches::{Input, Kind, PROTOCOLS, SHAPES};
use std::fmt::Write;
use std::process::Command;

fn number(value: f64) -> String {
    match value {
        value if value >= 99.5 => format!("{value:.0}"),
        value if value >= 9.95 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

/// Returns the inputs in the order of the columns.
fn inputs(results: &Results, size: usize) -> Vec<&Run> {
    let names = SIX.into_iter().chain(SHAPES.into_iter().filter(|shape| !SIX.contains(shape)));
    let names = names.chain(PROTOCOLS);
    names.filter_map(|name| results.run(name, size)).collect()
}

/// Writes a table of one value of each contender on each input, with the worst and the geometric mean of the six
/// inputs.
fn table(out: &mut String, title: &str, runs: &[&Run], value: impl Fn(&Run, &str) -> Option<f64>) {
    let Some(first) = runs.first() else { return };
    let low_is_best = title.starts_with("ns");
    let rows: Vec<(&str, Vec<f64>)> = first
        .series
        .iter()
        .filter_map(|series| {
            Some((series.name, runs.iter().map(|run| value(run, series.name)).collect::<Option<Vec<_>>>()?))
        })
        .collect();
    if rows.is_empty() {
        return;
    }
    let heads: String = runs.iter().map(|run| format!(" {} |", run.input)).collect();
    // With streams of other protocols not all of the six inputs are here.
    let has_ends = !runs.iter().any(|run| PROTOCOLS.contains(&&*run.input));
    let (ends, columns) = if has_ends { (" worst | mean |", runs.len() + 2) } else { ("", runs.len()) };
    let _ = write!(out, "\n| {title} |{heads}{ends}\n|---|{}\n", "--:|".repeat(columns));
    let _ = rows.iter().try_for_each(|(name, values)| {
        let counted = runs.iter().zip(values).filter(|(run, _)| SIX.contains(&run.input.as_str()));
        let counted: Vec<f64> = counted.map(|(_, value)| *value).collect();
        let fold = if low_is_best { f64::max } else { f64::min };
        let ends = match counted.len() {
            _ if !has_ends => String::new(),
            0 => "  |  |".into(),
            _ => format!(
                " {} | {} |",
                number(counted.iter().copied().reduce(fold).unwrap_or_default()),
                number(mean(&counted))
            ),
        };
        let cells: String = values.iter().map(|value| format!(" {} |", number(*value))).collect();
        writeln!(out, "| {name} |{cells}{ends}")
    });
}

fn output_of(command: &str, option: &str) -> String {
    let output = Command::new(command).arg(option).output().ok();
    let text = output.map_or_else(String::new, |output| String::from_utf8_lossy(&output.stdout).into_owned());
    text.lines().next().unwrap_or_default().trim().to_string()
}

/// Writes the machine, the versions, the command, the inputs.
pub fn about(options: &Options, inputs: &[Input], left_out: Option<usize>) -> String {
    let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let field =
        |name: &str| cpu.lines().find_map(|line| line.strip_prefix(name)?.split_once(": ")).map_or("?", |it| it.1);
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let mut out = String::new();
    let _ = writeln!(
        out,
        "Machine: {}, family {}, model {}, {cores} cores, {}.",
        field("model name"),
        field("cpu family"),
        field("model\t"),
        std::env::consts::ARCH
    );
    let lock = include_str!("../../../Cargo.lock");
    let version = |name: &str| {
        let entry = lock.split("[[package]]").find(|entry| entry.contains(&format!("name = \"{name}\"\n")));
        let version = entry.and_then(|entry| entry.split_once("version = \"")?.1.split_once('"'));
        format!("{name} {}", version.map_or("?", |it| it.0))
    };
    let crates = ["deltawire", "memchr", "simd-json", "sonic-rs", "sse-stream", "eventsource-stream", "serde_json"];
    let mut versions = vec![output_of("rustc", "-V")];
    versions.extend(crates.map(version));
    versions.push(match native::simdjson_version() {
        Some(version) => format!("simdjson {version}, {}, -O3 -march=native", output_of("g++", "--version")),
        None => "no simdjson".into(),
    });
    versions.push(options.go_version.clone().unwrap_or_else(|| "no Go".into()));
    let _ = writeln!(out, "Versions: {}.", versions.join(", "));
    let sizes: Vec<String> = inputs
        .iter()
        .map(|input| {
            let (events, bytes) = (input.expected.events, input.bytes() as u64);
            format!("{} {events} of {} bytes in {} responses", input.name, bytes / events, input.responses.len())
        })
        .collect();
    let _ = writeln!(out, "Medians of {} rounds. Events: {}.", options.rounds, sizes.join("; "));
    match left_out {
        Some(left_out) => {
            let _ = writeln!(
                out,
                "Of the recorded chat streams {left_out} are left out, in which not all can do the same work."
            );
        }
        None if options.protocols || options.meter || options.adapters || !options.sdks.is_empty() => {}
        None => out.push_str("SKIP real: DELTAWIRE_CORPUS names no recorded streams.\n"),
    }
    out
}

pub fn targets(rows: &[Row]) -> String {
    let mut out = String::from("\n| row | target | measured | reached |\n|---|---|---|---|\n");
    for Row { mode, target, measured, reached } in rows {
        let reached = reached.map_or("–", |reached| if reached { "yes" } else { "**no**" });
        let _ = writeln!(out, "| {mode} | {target} | {measured} | {reached} |");
    }
    let reached = rows.iter().filter(|row| row.reached == Some(true)).count();
    let missing = rows.iter().filter(|row| row.reached.is_none()).count();
    let _ = writeln!(out, "\n{reached} of {} rows are reached, {missing} could not be measured.", rows.len());
    out
}

/// Writes the worst and the mean ratio of this library to B.
pub fn extremes(results: &Results) -> String {
    let mut values = Vec::new();
    for size in [16384, 1448] {
        for run in results.of(&SIX, size) {
            values.extend(run.ratio(PULL, SIMDJSON).map(|ratio| (ratio, run)));
        }
    }
    let Some((least, run)) = values.iter().min_by(|a, b| a.0.total_cmp(&b.0)) else { return String::new() };
    let all: Vec<f64> = values.iter().map(|value| value.0).collect();
    format!(
        "\nAgainst B, over {} pairs of input and slice size: minimum {least:.2} ({}, {}), geometric mean {:.2}.\n",
        all.len(),
        run.input,
        slice(run.slice),
        mean(&all)
    )
}

/// Writes the tables of all contenders in slices of one size.
pub fn slices(results: &Results, size: usize) -> String {
    let runs = inputs(results, size);
    let mut out = String::new();
    if runs.is_empty() {
        return out;
    }
    let _ = writeln!(out, "\n### Slices of {}", slice(size));
    if size == 16384 {
        table(&mut out, "GB/s", &runs, |run, name| run.rate(name));
    }
    table(&mut out, "ns an event", &runs, |run, name| run.each(name));
    table(&mut out, "× B", &runs, |run, name| run.ratio(name, SIMDJSON));
    if size == 16384 {
        let _ = write!(out, "\n| allocations an event | {} |\n|---|--:|\n", runs[0].input);
        for series in runs[0].series.iter().filter(|series| series.kind != Kind::Bound) {
            if let Some(count) = series.allocations {
                let _ = writeln!(out, "| {} | {:.2} |", series.name, count as f64 / runs[0].events as f64);
            }
        }
    }
    out
}

/// Writes the tables of the vendors' SDKs beside this library, in slices of one size.
pub fn sdks(results: &Results, size: usize) -> String {
    let runs = inputs(results, size);
    let mut out = format!("Slices of {}:\n", slice(size));
    table(&mut out, "ns an event", &runs, |run, name| run.each(name));
    table(&mut out, "time ÷ pull", &runs, |run, name| run.ratio(PULL, name));
    out
}

/// Writes the table of long content.
pub fn long(results: &Results) -> String {
    let heads: String = LARGE.iter().map(|len| format!(" {} KB |", len / 1000)).collect();
    let mut out = format!("\n| GB/s |{heads}\n|---|{}\n", "--:|".repeat(LARGE.len()));
    for size in LARGE_SLICES {
        let runs: Vec<&Run> = LARGE.iter().filter_map(|len| results.run(&large(*len), size)).collect();
        let Some(first) = runs.first() else { continue };
        for series in &first.series {
            let rates: String = runs
                .iter()
                .filter_map(|run| run.rate(series.name))
                .map(|rate| format!(" {} |", number(rate)))
                .collect();
            let _ = writeln!(out, "| {}, slices of {} |{rates}", series.name, slice(size));
        }
    }
    out
}

pub fn gateway(rows: &[gateway::Row]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let mut out = String::from(
        "\n| slots | idle bytes | ns an event, 100,000 in turn | ns an event, hot | ratio |\n\
         |--:|--:|--:|--:|--:|\n",
    );
    for gateway::Row { slots, size, many, hot } in rows {
        let _ = writeln!(out, "| {slots} | {size} | {many:.0} | {hot:.0} | {:.1} |", many / hot);
    }
    out
}

/// Writes the table of many streams in turn, through each interface.
pub fn ways(ways: &[gateway::Way]) -> String {
    let push = ways.iter().find(|way| way.name == PUSH).map_or(f64::NAN, |push| push.each);
    let mut out = String::from(
        "\n| 100,000 in turn, with a workspace that all share | ns an event | × push | streams of 100 tokens a second that a core carries |\n\
         |---|--:|--:|--:|\n",
    );
    for gateway::Way { name, each } in ways {
        let carried = 1e9 / each / 100.0;
        let _ = writeln!(out, "| {name} | {each:.0} | {:.2} | {carried:.0} |", each / push);
    }
    out
}
