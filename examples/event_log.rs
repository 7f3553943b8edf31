//! Writes the event log (`tests/quirks/README.md`) of streams. Tests in other languages compare their logs with these.
//!
//! `event_log FOLDER FILE…` writes for each stream `FOLDER/NAME.log`; `NAME.strict.log` (every quirk is an error),
//! `NAME.spec.log` (framing exactly as the standard requires, JSON checked), `NAME.short.log` (low limits) and
//! `NAME.small.log` (little storage); and, with feature `serde`, `NAME.message.json` (the assembled message, extended).
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../tests/common/mod.rs"]
mod common;

use common::read::{pull, How, Store};
use deltawire::{Config, Framing, Limits, QuirkSet, Validate};
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
    use deltawire::{message::Assembler, Growing, Parser};
    let mut parser: Parser<Growing, 2, ()> = Parser::with_tracker(Growing::new(), Config::default(), ());
    let mut assembler = Assembler::new();
    while let Some(event) = parser.next(&mut bytes).unwrap() {
        assembler.add(&event).unwrap();
    }
    while let Some(event) = parser.finish().unwrap() {
        assembler.add(&event).unwrap();
    }
    assembler.finish().unwrap();
    let message = serde_json::to_string(&assembler.message().unwrap().extended());
    message.unwrap()
}
