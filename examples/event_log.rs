//! Writes the event log (`tests/quirks/README.md`) of streams. Tests in other languages compare their logs with these.
//!
//! `event_log FOLDER FILE…` writes for each stream `FOLDER/NAME.log`; `NAME.strict.log` (every quirk is an error),
//! `NAME.spec.log` (framing exactly as the standard requires, JSON checked), `NAME.short.log` (low limits) and
//! `NAME.small.log` (little storage); `NAME.meter` (below); and, with feature `serde`, `NAME.message.json` (the assembled
//! message, extended).
//!
//! `NAME.meter` has a line `from OFFSET METER` for each change of the [`Meter`] of a parser that was fed so many bytes: it
//! holds up to the offset of the next line, so the file has the meter at every cut. `cut OFFSET METER` is the meter of the
//! stream cut there, when it has ended; the last of these lines is that of the whole stream.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

#[path = "../tests/common/mod.rs"]
mod common;

use common::log::Log;
use common::read::{pull, How, Store};
use deltawire::chat::TokenCounts;
use deltawire::stream::{Amount, Meter, Token};
use deltawire::{Config, Framing, Growing, Limits, Parser, QuirkSet, Validate};
use std::collections::BTreeSet;
use std::path::Path;

/// Longer than the longest event, so that the limit is that of the config, as with a storage that grows.
const ROOM: usize = 4 << 20;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().expect("event_log FOLDER FILE...");
    for path in arguments {
        let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
        let name = Path::new(&path).file_name().unwrap().to_str().unwrap();
        let write = |suffix: &str, text: String| std::fs::write(format!("{folder}/{name}.{suffix}"), text).unwrap();
        for (suffix, storage, config) in variants() {
            let log = pull(&bytes, &How::whole(storage, config));
            write(suffix, log.lines().join("\n") + "\n");
        }
        write("meter", meters(&bytes));
        #[cfg(feature = "serde")]
        write("message.json", message(&bytes));
    }
}

/// A configuration of the parser that has a separate log.
fn variants() -> [(&'static str, Store, Config); 5] {
    let usual = Config::default();
    let limits = Limits::new().with_max_event_len(200).with_max_id_len(8).with_max_depth(4).unwrap();
    [
        ("log", Store::Fixed(ROOM), usual),
        ("strict.log", Store::Fixed(ROOM), usual.with_errors(QuirkSet::ALL)),
        ("spec.log", Store::Fixed(ROOM), usual.with_framing(Framing::Spec).with_validate(Validate::Strict)),
        ("short.log", Store::Fixed(ROOM), usual.with_limits(limits)),
        ("small.log", Store::Fixed(256), usual),
    ]
}

#[cfg(feature = "serde")]
fn message(mut bytes: &[u8]) -> String {
    use deltawire::message::{Assembler, Detail};
    let mut parser: Parser<Growing> = Parser::with_config(Growing::new(), Config::default());
    let mut assembler = Assembler::new();
    while let Some(event) = parser.next(&mut bytes).unwrap() {
        assembler.add(event).unwrap();
    }
    while let Some(event) = parser.finish().unwrap() {
        assembler.add(event).unwrap();
    }
    serde_json::to_string(&assembler.json(Detail::Extended).unwrap()).unwrap()
}

/// How many of the changes of a meter have cuts before them.
const CHANGES: usize = 12;

fn meters(bytes: &[u8]) -> String {
    let (mut parser, mut meter) = (Parser::new(Growing::new()), Meter::new());
    let (mut changes, mut lines) = (vec![0], Log::default());
    meter_line(&mut lines, "from", 0, &meter);
    for (at, byte) in bytes.iter().enumerate() {
        let events = meter.events;
        feed(&mut parser, std::slice::from_ref(byte), &mut meter);
        if meter.events != events {
            changes.push(at + 1);
            meter_line(&mut lines, "from", at + 1, &meter);
        }
    }
    // Without the last byte or two an event may be whole, in its middle it is not.
    let mut cuts = BTreeSet::from([0, bytes.len() / 3, bytes.len() / 2, bytes.len()]);
    for pair in changes.windows(2).step_by(changes.len().div_ceil(CHANGES)) {
        cuts.extend([pair[1] - 1, pair[1].saturating_sub(2), (pair[0] + pair[1]) / 2]);
    }
    let (mut parser, mut meter, mut fed) = (Parser::new(Growing::new()), Meter::new(), 0);
    for cut in cuts {
        feed(&mut parser, &bytes[fed..cut], &mut meter);
        fed = cut;
        let (mut parser, mut meter) = (parser.clone(), meter);
        while parser.finish_into(&mut meter).is_err() {}
        meter_line(&mut lines, "cut", cut, &meter);
    }
    lines.lines().map(|line| line.to_string() + "\n").collect()
}

/// Goes on after what the parser has no room for, such as a ninth choice.
fn feed(parser: &mut Parser<Growing>, mut bytes: &[u8], meter: &mut Meter) {
    while !bytes.is_empty() {
        bytes = &bytes[parser.feed(bytes, meter).consumed..];
    }
}

/// Writes a line with all of a meter that is not empty. A count that did not come is `-`.
fn meter_line(lines: &mut Log, word: &str, at: usize, meter: &Meter) {
    lines.line(word);
    lines.word(at);
    for (name, token) in [("first", meter.first), ("last", meter.last)] {
        if let Some(Token { kind, event, offset, .. }) = token {
            lines.word(format_args!("{name}={}:{event}:{offset}", kind as u8));
        }
    }
    lines.word(format_args!("events={}/{}", meter.token_events, meter.events));
    let amounts = [
        ("content", meter.content),
        ("reasoning", meter.reasoning),
        ("refusal", meter.refusal),
        ("arguments", meter.arguments),
    ];
    for (name, Amount { bytes, chars, .. }) in amounts {
        lines.word(format_args!("{name}={bytes}/{chars}"));
    }
    lines.word(format_args!("calls={}", meter.calls));
    let mut text = |name: &str, text: &str| {
        if !text.is_empty() {
            lines.quoted(name, text.as_bytes());
        }
    };
    meter.call_names().for_each(|name| text("name", name.as_str()));
    text("model", meter.model.as_str());
    text("id", meter.id.as_str());
    text("finish", meter.finish_reason.as_str());
    text("error", meter.error.as_str());
    text("tool_usage", meter.tool_usage.as_str());
    lines.word(format_args!("kind={}", meter.finish(0).map_or(0, |finish| finish.number())));
    let usages =
        [("usage", meter.usage), ("iterations", meter.iterations), ("other_iterations", meter.other_iterations)];
    for (name, usage) in usages {
        let Some(TokenCounts { has: has @ 1.., counts, .. }) = usage else { continue };
        let count = |(bit, count): (u32, &u64)| if has >> bit & 1 == 1 { count.to_string() } else { "-".into() };
        let counts: Vec<String> = (0..).zip(&counts).map(count).collect();
        lines.word(format_args!("{name}={}", counts.join(",")));
    }
}
