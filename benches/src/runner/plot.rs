//! Pictures of the tables, in SVG.

use crate::measure::{mean, Results};
use crate::targets::{large, LARGE, SIX};
use deltawire_benches::contenders::{BATCH, C_BATCH, PULL, PULL_GENERIC, PUSH, SIMDJSON, TAPE};
use deltawire_benches::{Kind, WHOLE};
use std::fmt::Write;

const WIDTH: f64 = 760.0;
const INK: &str = "#24292f";
const PALE: &str = "#d0d7de";
const COLORS: [&str; 6] = ["#0969da", "#54aeff", "#1a7f37", "#bf3989", "#9a6700", "#6e7781"];

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

fn text(out: &mut String, x: f64, y: f64, anchor: &str, what: &str) {
    let _ = writeln!(out, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{}</text>", escaped(what));
}

fn line(out: &mut String, from: (f64, f64), to: (f64, f64), color: &str) {
    let _ = writeln!(
        out,
        "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" stroke=\"{color}\"/>",
        from.0, from.1, to.0, to.1
    );
}

fn picture(height: f64, title: &str, body: &str) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" \
         font-family=\"sans-serif\" font-size=\"12\" fill=\"{INK}\">\n<title>{title}</title>\n\
         <rect width=\"{WIDTH}\" height=\"{height}\" fill=\"#ffffff\"/>\n\
         <text x=\"12\" y=\"22\" font-size=\"15\" font-weight=\"bold\">{title}</text>\n{body}</svg>\n",
        title = escaped(title)
    )
}

/// Returns the powers of ten in a range, with their labels.
fn decades(least: f64, most: f64) -> Vec<f64> {
    let (first, last) = (least.log10().floor() as i32, most.log10().ceil() as i32);
    (first..=last).map(|power| 10f64.powi(power)).collect()
}

fn short(value: f64) -> String {
    match value {
        value if value >= 1e6 => format!("{} M", value / 1e6),
        value if value >= 1e3 => format!("{} k", value / 1e3),
        value => format!("{value}"),
    }
}

/// Returns a name without the part that identifies its slices.
fn short_name(name: &str) -> String {
    name.trim_start_matches("C++: memchr + ").trim_start_matches("lines + ").into()
}

/// Draws a bar for the geometric mean of each contender, and a dot for each input.
pub fn throughput(results: &Results) -> Option<String> {
    let runs = results.of(&SIX, 16384);
    let first = runs.first()?;
    let mut rows: Vec<(&str, Kind, Vec<f64>)> = first
        .series
        .iter()
        .filter_map(|series| {
            let rates = runs.iter().map(|run| run.rate(series.name)).collect::<Option<Vec<_>>>()?;
            Some((series.name, series.kind, rates))
        })
        .collect();
    rows.sort_by(|a, b| mean(&b.2).total_cmp(&mean(&a.2)));
    let marks = decades(0.1, rows.iter().flat_map(|row| &row.2).copied().fold(1.0, f64::max));
    let (left, right, top, step) = (325.0, WIDTH - 60.0, 48.0, 24.0);
    let (low, high) = (marks[0].log10(), marks[marks.len() - 1].log10());
    let x = |value: f64| left + (value.log10().clamp(low, high) - low) / (high - low) * (right - left);
    let bottom = top + step * rows.len() as f64;
    let mut body = String::new();
    for mark in &marks {
        line(&mut body, (x(*mark), top), (x(*mark), bottom), PALE);
        text(&mut body, x(*mark), bottom + 16.0, "middle", &format!("{mark}"));
    }
    text(
        &mut body,
        (left + right) / 2.0,
        bottom + 34.0,
        "middle",
        "GB/s of input; bar: geometric mean, dots: the inputs",
    );
    for (nth, (name, kind, rates)) in rows.iter().enumerate() {
        let y = top + step * nth as f64;
        let color = match kind {
            Kind::Own => COLORS[0],
            Kind::Peer => COLORS[5],
            Kind::Bound => PALE,
        };
        text(&mut body, left - 8.0, y + 16.0, "end", name);
        let _ = writeln!(
            body,
            "<rect x=\"{left}\" y=\"{:.1}\" width=\"{:.1}\" height=\"14\" fill=\"{color}\" fill-opacity=\"0.75\"/>",
            y + 5.0,
            x(mean(rates)) - left
        );
        for rate in rates {
            let _ = writeln!(body, "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"2.5\"/>", x(*rate), y + 12.0);
        }
        text(
            &mut body,
            x(rates.iter().copied().fold(mean(rates), f64::max)) + 8.0,
            y + 16.0,
            "start",
            &format!("{:.2}", mean(rates)),
        );
    }
    Some(picture(bottom + 46.0, "Throughput, slices of 16 KiB", &body))
}

/// Draws lines with two logarithmic axes.
fn lines(
    title: &str,
    under: &str,
    beside: &str,
    ticks: &[(f64, String)],
    rows: &[(String, Vec<(f64, f64)>)],
) -> Option<String> {
    let values = || rows.iter().flat_map(|row| &row.1).map(|point| point.1);
    let (least, most) = (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max));
    if least > most {
        return None;
    }
    let (left, right, top, bottom) = (64.0, WIDTH - 250.0, 48.0, 340.0);
    let marks = decades(least, most);
    let (low, high) = (marks[0].log10(), marks[marks.len() - 1].log10());
    let (start, end) = (ticks.first()?.0.log10(), ticks.last()?.0.log10());
    let x = |value: f64| left + (value.log10() - start) / (end - start) * (right - left);
    let y = |value: f64| bottom - (value.log10() - low) / (high - low) * (bottom - top);
    let mut body = String::new();
    for mark in &marks {
        line(&mut body, (left, y(*mark)), (right, y(*mark)), PALE);
        text(&mut body, left - 6.0, y(*mark) + 4.0, "end", &short(*mark));
    }
    for (at, name) in ticks {
        line(&mut body, (x(*at), bottom), (x(*at), bottom + 4.0), INK);
        text(&mut body, x(*at), bottom + 18.0, "middle", name);
    }
    text(&mut body, (left + right) / 2.0, bottom + 36.0, "middle", under);
    text(&mut body, 12.0, top - 8.0, "start", beside);
    for (nth, (name, points)) in rows.iter().enumerate() {
        let color = COLORS[nth % COLORS.len()];
        let path: Vec<String> = points.iter().map(|point| format!("{:.1},{:.1}", x(point.0), y(point.1))).collect();
        let _ = writeln!(
            body,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"2\"/>",
            path.join(" ")
        );
        for point in points {
            let _ =
                writeln!(body, "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"3\" fill=\"{color}\"/>", x(point.0), y(point.1));
        }
        let place = top + 18.0 * nth as f64 + 8.0;
        let _ = writeln!(
            body,
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"12\" height=\"4\" fill=\"{color}\"/>",
            right + 16.0,
            place - 6.0
        );
        text(&mut body, right + 34.0, place, "start", name);
    }
    Some(picture(bottom + 50.0, title, &body))
}

/// Draws the nanoseconds an event by the size of the slices.
pub fn by_slice(results: &Results) -> Option<String> {
    let longest = results.run("content", WHOLE)?.bytes as f64 / results.run("content", WHOLE)?.responses as f64;
    let sizes = [(1, 1.0), (64, 64.0), (1448, 1448.0), (16384, 16384.0), (WHOLE, longest)];
    let ticks: Vec<(f64, String)> =
        sizes.iter().map(|(size, at)| (*at, if *size == WHOLE { "whole".into() } else { size.to_string() })).collect();
    let rows: Vec<(String, Vec<(f64, f64)>)> = [PULL, PULL_GENERIC, PUSH, BATCH, C_BATCH, SIMDJSON]
        .iter()
        .filter_map(|name| {
            let points = sizes.iter().map(|(size, at)| Some((*at, results.run("content", *size)?.each(name)?)));
            Some((short_name(name), points.collect::<Option<Vec<_>>>()?))
        })
        .collect();
    lines("Cost by the size of the slices, content", "bytes a slice", "ns an event", &ticks, &rows)
}

/// Draws the GB/s by the length of the content.
pub fn by_length(results: &Results) -> Option<String> {
    let ticks: Vec<(f64, String)> = LARGE.iter().map(|len| (*len as f64, short(*len as f64))).collect();
    let which = [(PULL, 1448), (PULL, 16384), (PULL, WHOLE), (SIMDJSON, 16384), (TAPE, 16384)];
    let rows: Vec<(String, Vec<(f64, f64)>)> = which
        .iter()
        .filter_map(|(name, size)| {
            let points = LARGE.iter().map(|len| Some((*len as f64, results.run(&large(*len), *size)?.rate(name)?)));
            let size = if *size == WHOLE { "whole".into() } else { size.to_string() };
            Some((format!("{}, {size}", short_name(name)), points.collect::<Option<Vec<_>>>()?))
        })
        .collect();
    lines("Throughput by the length of a chunk's content", "bytes of content a chunk", "GB/s", &ticks, &rows)
}
