//! Bytes with the times at which they came: of a pipe, as they come, or of a recording. A plain file has no times.

use crate::input::Input;
use crate::recording::{Recording, MAGIC};
use crate::report::Failure;
use std::path::Path;
use std::time::{Duration, Instant};

/// Where the bytes are from.
pub enum Source {
    /// A pipe, with the beginning of the command, or a plain file.
    Input(Input, Instant),
    Recorded(Recording),
}

/// Bytes that came at once, and when; a plain file has no times.
pub struct Timed<'a> {
    pub at: Option<Duration>,
    pub bytes: &'a [u8],
}

impl Source {
    /// Opens a file, or standard input if it is missing or `-`. A plain file that begins like a recording is one.
    pub fn open(file: Option<&Path>, read_size: Option<u64>, began: Instant) -> Result<Source, Failure> {
        let mut input = Input::open(file, read_size)?.with_progress();
        if input.len().is_some() && input.begins_with(MAGIC)? {
            return Ok(Source::Recorded(input.into_recording()));
        }
        Ok(Source::Input(input, began))
    }

    pub fn name(&self) -> &str {
        match self {
            Source::Input(input, _) => input.name(),
            Source::Recorded(recording) => recording.name(),
        }
    }

    /// Whether somebody sends the bytes now.
    pub fn is_live(&self) -> bool {
        matches!(self, Source::Input(input, _) if input.len().is_none())
    }

    /// Returns the next bytes as soon as they are there, or `None` at the end.
    pub fn next(&mut self) -> Result<Option<Timed<'_>>, Failure> {
        let is_live = self.is_live();
        match self {
            Source::Input(input, began) => {
                let bytes = input.next()?;
                Ok(bytes.map(|bytes| Timed { at: is_live.then(|| began.elapsed()), bytes }))
            }
            Source::Recorded(recording) => {
                if recording.next()?.is_none() {
                    return Ok(None);
                }
                Ok(Some(Timed { at: Some(recording.at()), bytes: recording.bytes() }))
            }
        }
    }

    /// When the end came, if `next` returned it just now.
    pub fn ended(&self) -> Option<Duration> {
        match self {
            Source::Input(_, began) => self.is_live().then(|| began.elapsed()),
            Source::Recorded(recording) => Some(recording.at()),
        }
    }
}
