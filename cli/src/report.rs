//! Reports to standard error how a stream ended, and chooses the exit status.

use crate::opening::Opening;
use crate::output::complain;
use deltawire::stream::Pending;
use deltawire::{End, Quirk, Verdict};
use std::fmt::Display;
use std::io;

/// Wrong usage, or the input cannot be read.
pub const UNREADABLE: u8 = 1;
/// The API reported an error.
pub const API_ERROR: u8 = 2;
/// The stream was cut, or part of it was lost.
pub const TRUNCATED: u8 = 3;
/// The input is neither an event stream nor a response.
pub const NO_STREAM: u8 = 4;
/// The response is complete, but `check` found something.
pub const FOUND: u8 = 5;

/// Ctrl-C: 128 and the number of the signal, as shells report it.
pub const INTERRUPTED: u8 = 130;

/// Why a command broke off.
#[derive(Debug)]
pub enum Failure {
    /// The input of this name cannot be read.
    Read(String, io::Error),
    /// The output cannot be written.
    Write(io::Error),
}

impl Failure {
    /// Whether the reader of the output has closed it, which is not an error.
    pub fn is_broken_pipe(&self) -> bool {
        matches!(self, Failure::Write(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }
}

impl Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Failure::Read(name, error) => write!(f, "{name}: {error}"),
            Failure::Write(error) => write!(f, "standard output: {error}"),
        }
    }
}

/// Counts that the verdict does not include.
pub struct Met<C> {
    /// Returns how often the stream had a quirk.
    pub count: C,
    /// How many payloads nest deeper than the limit.
    pub too_deep: u64,
}

/// Reports how the stream ended and which quirks it had. Returns the exit status.
pub fn conclude(end: &End, met: &Met<impl Fn(Quirk) -> u64>, opening: &Opening) -> u8 {
    // The lines after it have the rest of the sentence, with the names of this command's options.
    let mut verdict = String::from("verdict: ");
    end.put(false, &mut |text| verdict += text);
    complain(verdict);
    if is_foreign(end) {
        opening.name_foreign();
    }
    opening.name_http();
    // `[DONE]` ends a response even if the server cut a choice.
    if end.is_complete() && end.choices_finished < end.choices_seen {
        let unfinished = end.choices_seen - end.choices_finished;
        complain(format_args!("{unfinished} of {} choices without a finish reason", end.choices_seen));
    }
    match end.malformed {
        0 => {}
        1 => complain("1 payload could not be read"),
        many => complain(format_args!("{many} payloads could not be read")),
    }
    if met.too_deep > 0 {
        complain(format_args!("{} of them nested too deep (--max-depth raises the limit)", met.too_deep));
    }
    too_long_items(end.too_long.into());
    pending(end);
    quirks(&met.count);
    status(end)
}

/// The end in words, with the escapes of this command in what came: the library has `\u{7f}` for `\u007f`.
pub fn verdict(end: &End) -> String {
    let words = end.to_string();
    let mut parts = words.split("\\u{");
    let mut verdict = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        verdict += &part.split_once('}').map_or(format!("\\u{{{part}"), |(code, rest)| format!("\\u{code:0>4}{rest}"));
    }
    verdict
}

/// Reports what the stream ended inside of.
pub fn pending(end: &End) {
    match end.pending {
        Pending::Event => complain("the stream ended inside an event"),
        Pending::Json => complain("the stream ended inside a JSON value"),
        Pending::Line => complain("the stream ended inside a line"),
        _ => {}
    }
}

/// Reports how often the stream had each quirk.
pub fn quirks(counted: impl Fn(Quirk) -> u64) {
    for &quirk in Quirk::ALL {
        let times = counted(quirk);
        if times > 0 {
            let raise = if quirk == Quirk::LongId { "; --max-id-len raises the limit" } else { "" };
            complain(format_args!("quirk {}: {quirk} ({}{raise})", quirk.code(), count(times, "time")));
        }
    }
}

/// Whether no part of the input was a response.
pub fn is_foreign(end: &End) -> bool {
    let is_known = end.choices_seen > 0 || end.api_error || end.body || end.verdict == Verdict::Done;
    !is_known || end.verdict == Verdict::NotAStream
}

/// Reports how many events and comments were over the limit, if any were.
pub fn too_long_items(count: u64) {
    let raise = "(--max-event-len raises the limit)";
    match count {
        0 => {}
        1 => complain(format_args!("1 event or comment was too long and left out {raise}")),
        many => complain(format_args!("{many} events or comments were too long and left out {raise}")),
    }
}

/// Returns the exit status of a stream that ended so.
pub fn status(end: &End) -> u8 {
    match end.verdict {
        _ if end.is_complete() => 0,
        Verdict::NotAStream => NO_STREAM,
        _ if end.api_error => API_ERROR,
        Verdict::Truncated | Verdict::Lost | Verdict::Done | Verdict::Finished | Verdict::Body => TRUNCATED,
        // Empty, a JSON value that is not a response, another protocol, and verdicts of later versions.
        _ => NO_STREAM,
    }
}

/// Returns the exit status after the output was closed early: that of the first error so far, or 0.
pub fn status_so_far(end: &End) -> u8 {
    if end.api_error {
        API_ERROR
    } else if end.malformed > 0 || end.too_long > 0 {
        TRUNCATED
    } else {
        0
    }
}

/// A number of things of this name.
pub fn count(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
