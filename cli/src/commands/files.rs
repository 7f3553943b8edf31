//! The common part of `check` and `stats`, which read any number of streams one after the other.

use super::push::Wide;
use crate::options::Files;
use crate::output::complain;
use crate::report::{Failure, UNREADABLE};
use deltawire::track::Tracker;
use deltawire::{Growing, Handler, Parser};
use std::path::Path;

/// Calls `read` for each file, which returns the exit status that the file alone would have. Returns the status of all:
/// that of the first with a finding, unless a file cannot be read. The others are read all the same.
pub fn each(files: &Files, mut read: impl FnMut(Option<&Path>) -> Result<u8, Failure>) -> Result<u8, Failure> {
    let (mut found, mut unreadable) = (0, false);
    let paths: Vec<_> = files.files.iter().map(|file| Some(file.as_path())).collect();
    for path in if paths.is_empty() { vec![None] } else { paths } {
        match read(path) {
            Ok(status) if found == 0 => found = status,
            Ok(_) => {}
            Err(failure) if failure.is_broken_pipe() => break,
            Err(failure @ Failure::Write(_)) => return Err(failure),
            Err(failure) => {
                unreadable = true;
                complain(failure);
            }
        }
    }
    Ok(if unreadable { UNREADABLE } else { found })
}

pub fn parser(files: &Files) -> Wide {
    let config = files.meaning.config(files.sizes.limits());
    Parser::with_tracker(Growing::new(), config, Tracker::new())
}

/// Feeds all of a slice to a handler that never breaks off. What is over a limit is in the end, and a handler is told.
pub fn feed(parser: &mut Wide, slice: &[u8], handler: &mut impl Handler) {
    let mut rest = slice;
    loop {
        let fed = parser.feed(rest, handler);
        rest = rest.get(fed.consumed..).unwrap_or_default();
        if fed.stop.is_none() {
            return;
        }
    }
}
