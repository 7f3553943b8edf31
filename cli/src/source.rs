//! Bytes with the times at which they came: from a pipe, as they come.

use crate::input::Input;
use crate::options::Sizes;
use crate::report::Failure;
use std::path::Path;
use std::time::{Duration, Instant};

/// The input, and a clock that runs from the beginning of the command.
pub struct Source {
    input: Input,
    began: Instant,
}

/// Bytes that came at once, and when; a plain file has no times.
pub struct Timed<'a> {
    pub at: Option<Duration>,
    pub bytes: &'a [u8],
}

impl Source {
    pub fn open(file: Option<&Path>, sizes: &Sizes, began: Instant) -> Result<Source, Failure> {
        Ok(Source { input: Input::open(file, sizes.read_size)?, began })
    }

    pub fn name(&self) -> &str {
        self.input.name()
    }

    /// Whether bytes come from somebody who sends them now, not from a plain file.
    pub fn is_live(&self) -> bool {
        self.input.len().is_none()
    }

    /// Returns the next bytes as soon as they are there, or `None` at the end.
    pub fn next(&mut self) -> Result<Option<Timed<'_>>, Failure> {
        let (is_live, began) = (self.is_live(), self.began);
        let bytes = self.input.next()?;
        Ok(bytes.map(|bytes| Timed { at: is_live.then(|| began.elapsed()), bytes }))
    }

    /// When the end came, if `next` returned it just now.
    pub fn ended(&self) -> Option<Duration> {
        self.is_live().then(|| self.began.elapsed())
    }
}
