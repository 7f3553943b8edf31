//! What goes to standard error, and the exit status.

use deltawire::stream::Pending;
use deltawire::{End, Quirk, Verdict};
use std::fmt::Display;
use std::io::{self, Write};

/// Wrong use, or the input cannot be read.
pub const UNREADABLE: u8 = 1;
/// The stream was cut, or something of it was lost.
pub const TRUNCATED: u8 = 3;
/// Nothing came that could be read as what it should be.
pub const NO_STREAM: u8 = 4;

/// Why a command broke off.
#[derive(Debug)]
pub enum Failure {
    /// The input of this name cannot be read.
    Read(String, io::Error),
    /// The output cannot be written.
    Write(io::Error),
}

impl Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Failure::Read(name, error) => write!(f, "{name}: {error}"),
            Failure::Write(error) => write!(f, "standard output: {error}"),
        }
    }
}

/// Writes a line to standard error; if that is closed nobody wants to know.
pub fn complain(line: impl Display) {
    let _ = writeln!(io::stderr(), "deltawire: {line}");
}

/// Tells how the stream ended and what was odd about it; gives the exit status.
pub fn conclude(end: &End, count: impl Fn(Quirk) -> u64) -> u8 {
    complain(format_args!("verdict: {end}"));
    match end.malformed {
        0 => {}
        1 => complain("1 payload could not be read"),
        many => complain(format_args!("{many} payloads could not be read")),
    }
    too_long_items(end.too_long.into());
    match end.pending {
        Pending::Event => complain("the stream ended inside an event"),
        Pending::Json => complain("the stream ended inside a JSON value"),
        Pending::Line => complain("the stream ended inside a line"),
        _ => {}
    }
    for &quirk in Quirk::ALL {
        let times = count(quirk);
        if times > 0 {
            let unit = if times == 1 { "time" } else { "times" };
            complain(format_args!("quirk {}: {quirk} ({times} {unit})", quirk.code()));
        }
    }
    status(end)
}

/// Says how many events and comments were over the limit, if any were.
pub fn too_long_items(count: u64) {
    match count {
        0 => {}
        1 => complain("1 event or comment was too long and left out"),
        many => complain(format_args!("{many} events or comments were too long and left out")),
    }
}

fn status(end: &End) -> u8 {
    match end.verdict {
        _ if end.is_complete() => 0,
        Verdict::ApiError => 2,
        Verdict::Truncated | Verdict::Lost | Verdict::Done | Verdict::Finished | Verdict::Body => TRUNCATED,
        // Empty, no stream, another value or protocol, and what a later version may tell apart.
        _ => NO_STREAM,
    }
}
