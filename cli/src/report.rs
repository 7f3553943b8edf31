//! What goes to standard error, and the exit status.

use deltawire::{End, Quirk, Verdict};
use std::fmt::Display;
use std::io::{self, Write};

/// Wrong use, or the input cannot be read.
pub const UNREADABLE: u8 = 1;
/// The stream was cut, or the message was too long.
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
    complain(format_args!("verdict: {}", end.verdict));
    if end.malformed > 0 {
        complain(format_args!("malformed payloads: {}", end.malformed));
    }
    if end.too_long > 0 {
        complain(format_args!("events or comments over the limit: {}", end.too_long));
    }
    for &quirk in Quirk::ALL {
        let times = count(quirk);
        if times > 0 {
            let unit = if times == 1 { "time" } else { "times" };
            complain(format_args!("quirk {}: {quirk} ({times} {unit})", quirk.code()));
        }
    }
    status(end.verdict)
}

fn status(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Done | Verdict::Finished | Verdict::Body => 0,
        Verdict::ApiError => 2,
        Verdict::Truncated => TRUNCATED,
        // Empty, no stream, another protocol, and what a later version may tell apart.
        _ => NO_STREAM,
    }
}
