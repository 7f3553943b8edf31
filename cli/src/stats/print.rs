//! Statistics as lines for a reader, and as one JSON object.

use super::counts::Stats;
use super::times::Times;
use crate::output::escape;
use crate::report;
use deltawire::stream::{Amount, Meter};
use deltawire::{End, Quirk};
use serde_json::{json, Map, Value};
use std::fmt::Write as _;
use std::time::Duration;

/// What a parser counted beside the deltas.
pub type Quirks = Vec<(Quirk, u64)>;

impl Stats {
    /// Tokens a second: those that the usage counts, over the time from the first to the last read with one.
    fn speed(&self) -> Option<f64> {
        let tokens = self.meter.usage?.completion_tokens()?;
        Some(tokens as f64 / self.times.as_ref()?.streaming()?.as_secs_f64())
    }

    fn bytes_per_text(&self, end: &End) -> Option<f64> {
        let text = self.text();
        (text > 0).then(|| end.offset as f64 / text as f64)
    }
}

/// A row, with the name of what it tells in its first column. No text of the stream makes another row.
fn row(text: &mut String, name: &str, cells: &str) {
    if !cells.is_empty() {
        // Writing to a string never fails.
        let _ = writeln!(text, "{name:<8}{}", escape(cells, &[]));
    }
}

fn seconds(time: Duration) -> String {
    format!("{:.3} s", time.as_secs_f64())
}

fn millis(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1e3)
}

fn joined(cells: impl IntoIterator<Item = Option<String>>) -> String {
    cells.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// Counts that are not 0, each with its name.
fn counted<'a>(counts: impl IntoIterator<Item = (&'a str, u64)>) -> String {
    joined(counts.into_iter().map(|(name, count)| (count > 0).then(|| format!("{count} {name}"))))
}

fn plural(count: u64, one: &str) -> Option<String> {
    (count > 0).then(|| report::count(count, one))
}

fn amount(name: &str, Amount { bytes, chars, .. }: &Amount) -> Option<String> {
    (*bytes > 0).then(|| format!("{name} {bytes} bytes ({chars} characters)"))
}

/// The statistics in lines.
pub fn as_text(name: &str, stats: &Stats, end: &End, quirks: &Quirks) -> String {
    let Stats { meter, deltas, finish_reasons, comments, keep_alives, reads, times, .. } = stats;
    let mut text = String::new();
    let protocol = end.protocol.map_or("no protocol", |protocol| protocol.text());
    let model = Some(meter.model.as_str()).filter(|model| !model.is_empty()).map(|model| format!("model {model}"));
    row(&mut text, "stream", &joined([Some(name.into()), Some(protocol.into()), model]));
    row(&mut text, "verdict", &report::verdict(end));
    let kinds = counted([("with a token", meter.token_events), ("to keep alive", *keep_alives)]);
    let kinds = if kinds.is_empty() { kinds } else { format!(" ({kinds})") };
    let events = Some(format!("{}{kinds}", meter.events));
    row(&mut text, "events", &joined([events, plural(*comments, "comment"), plural(*reads, "read")]));
    let rate = stats.bytes_per_text(end).map(|rate| format!("{rate:.1} for each byte of text"));
    row(&mut text, "bytes", &joined([Some(end.offset.to_string()), rate]));
    let amounts = [
        amount("content", &meter.content),
        amount("reasoning", &meter.reasoning),
        amount("refusal", &meter.refusal),
        amount("arguments", &meter.arguments),
    ];
    row(&mut text, "text", &joined(amounts));
    row(&mut text, "deltas", &counted(deltas.iter().map(|(name, count)| (*name, *count))));
    row(&mut text, "usage", &usage_cells(meter));
    row(
        &mut text,
        "finish",
        &joined(finish_reasons.iter().map(|(choice, reason)| match choice {
            0 => Some(reason.clone()),
            _ => Some(format!("{reason} (choice {choice})")),
        })),
    );
    for (quirk, times) in quirks {
        row(&mut text, "quirk", &format!("{} {}: {quirk} ({times})", quirk.code(), quirk.name()));
    }
    if let Some(times) = times {
        time_rows(&mut text, stats, times);
    }
    text
}

fn usage_cells(meter: &Meter) -> String {
    let Some(usage) = meter.usage else { return String::new() };
    let tokens = [
        ("prompt", usage.prompt_tokens()),
        ("completion", usage.completion_tokens()),
        ("total", usage.total_tokens()),
        ("reasoning", usage.reasoning_tokens()),
        ("cached", usage.cached_tokens()),
    ];
    joined(tokens.map(|(name, count)| Some(format!("{} {name}", count?)))) + " tokens"
}

fn time_rows(text: &mut String, stats: &Stats, times: &Times) {
    let to = |what: &str, time: Option<Duration>| Some(format!("{} to the {what}", seconds(time?)));
    let cells = [
        to("first byte", Some(times.first_byte)),
        to("first token", times.first_token),
        to("last token", times.last_token),
        to("end", Some(times.ended)),
    ];
    row(text, "time", &joined(cells));
    if times.gaps() > 0 {
        let at = |name: &str, part| Some(format!("{name} {}", millis(times.gap(part))));
        let of = Some(format!("of {} between reads with tokens", times.gaps()));
        row(text, "gaps", &joined([at("p50", 0.5), at("p95", 0.95), at("p99", 0.99), at("longest", 1.0), of]));
    }
    let speed = stats.speed().map(|speed| format!("{speed:.1} tokens a second"));
    row(text, "speed", &joined([speed]));
}

/// The statistics as one JSON object. Times are in seconds, gaps in milliseconds.
pub fn as_json(name: &str, stats: &Stats, end: &End, quirks: &Quirks) -> Value {
    let Stats { meter, deltas, finish_reasons, comments, keep_alives, reads, times, .. } = stats;
    let amount = |amount: &Amount| json!({"bytes": amount.bytes, "chars": amount.chars});
    let word = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let quirks: Map<String, Value> = quirks.iter().map(|(quirk, times)| (quirk.name().into(), json!(times))).collect();
    let usage = meter.usage.map(|usage| {
        json!({
            "prompt_tokens": usage.prompt_tokens(), "completion_tokens": usage.completion_tokens(),
            "total_tokens": usage.total_tokens(), "reasoning_tokens": usage.reasoning_tokens(),
            "cached_tokens": usage.cached_tokens(),
        })
    });
    let times = times.as_ref().map(|times| {
        let gap = |part| times.gap(part).as_secs_f64() * 1e3;
        let gaps = (times.gaps() > 0).then(|| {
            json!({"count": times.gaps(), "p50": gap(0.5), "p95": gap(0.95), "p99": gap(0.99), "longest": gap(1.0)})
        });
        json!({
            "first_byte": times.first_byte.as_secs_f64(), "first_token": times.first_token.map(|time| time.as_secs_f64()),
            "last_token": times.last_token.map(|time| time.as_secs_f64()), "end": times.ended.as_secs_f64(),
            "gaps_ms": gaps, "tokens_per_second": stats.speed(),
        })
    });
    json!({
        "file": name, "protocol": end.protocol.map(|protocol| protocol.text()), "model": word(meter.model.as_str()),
        "verdict": report::verdict(end), "complete": end.is_complete(), "finish_reason": word(meter.finish_reason.as_str()),
        "finish_reasons": finish_reasons,
        "events": meter.events, "token_events": meter.token_events, "comments": comments, "keep_alives": keep_alives,
        "reads": reads, "bytes": end.offset, "text_bytes": stats.text(), "bytes_per_text_byte": stats.bytes_per_text(end),
        "content": amount(&meter.content), "reasoning": amount(&meter.reasoning), "refusal": amount(&meter.refusal),
        "arguments": amount(&meter.arguments), "calls": meter.calls, "deltas": deltas, "quirks": quirks, "usage": usage,
        "times": times,
    })
}

/// The line that a terminal shows while the stream comes.
pub fn live_line(stats: &Stats, at: Duration) -> String {
    let first = stats.times.as_ref().and_then(|times| times.first_token);
    let first = first.map_or("no token yet".into(), |first| format!("first token {}", seconds(first)));
    let streaming = stats.times.as_ref().and_then(|times| times.streaming());
    let rate = streaming.map(|time| format!("{:.0} bytes/s", stats.text() as f64 / time.as_secs_f64()));
    let counts = format!("{:.1} s, {} events, {} bytes of text", at.as_secs_f64(), stats.meter.events, stats.text());
    joined([Some(counts), Some(first), rate])
}
