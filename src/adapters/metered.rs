//! A source of bytes that passes on unaltered, and is metered on its way.

use super::reader::{Reader, Setup};
use crate::stream::Meter;
use crate::{Config, End};
use alloc::boxed::Box;
use core::fmt;

/// A source whose bytes pass unaltered, and are metered on their way: what a gateway needs. It is a `Stream`, `Read`,
/// `AsyncRead` or HTTP `Body`, as the source is.
///
/// It calls its function once, with what it metered and how the stream ended: when the source ends, when the source fails,
/// or when it is dropped before, as a server drops a body whose client hung up. The verdict of a response that was dropped
/// before its end is [`Verdict::Aborted`](crate::Verdict::Aborted). The function runs where the source is polled, read or
/// dropped, so it should not wait: let it send to a channel.
///
#[cfg_attr(feature = "std", doc = "```")]
#[cfg_attr(not(feature = "std"), doc = "```ignore")]
/// use deltawire::adapters::DeltaReadExt;
/// let answer = &b"data: {\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":3}}\n\ndata: [DONE]\n\n"[..];
/// let mut passed = Vec::new();
/// let mut body = answer.metered(|meter, end| {
///     let usage = meter.usage.unwrap_or_default();
///     assert_eq!((usage.prompt_tokens(), usage.completion_tokens()), (Some(9), Some(3)));
///     assert!(end.is_complete());
/// });
/// std::io::copy(&mut body, &mut passed)?;
/// assert_eq!(passed, answer);
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Metered<S, F: FnOnce(&Meter, &End)> {
    pub(super) source: S,
    reader: Box<Reader<Meter>>,
    /// `None` once it was called.
    report: Option<F>,
}

impl<S, F: FnOnce(&Meter, &End)> Metered<S, F> {
    pub(super) fn new(source: S, report: F) -> Self {
        Metered { source, reader: Reader::new(Setup::DEFAULT, Meter::new()), report: Some(report) }
    }

    /// Sets the configuration. Call it before the first byte is read. A body that is not streamed is one event, so for
    /// such bodies raise [`Limits::max_event_len`](crate::Limits::with_max_event_len).
    #[must_use]
    pub fn with_config(self, config: Config) -> Self {
        self.set_up(|setup| setup.config = config)
    }

    /// Sets how many choices, and how many tool calls of all choices together, there is room for: 8 and 32 by default.
    /// What there is no room for is not metered, and the response is not complete. Call it before the first byte is read.
    #[must_use]
    pub fn with_room(self, choices: u16, calls: u16) -> Self {
        self.set_up(|setup| setup.room = (choices, calls))
    }

    fn set_up(mut self, change: impl FnOnce(&mut Setup)) -> Self {
        self.reader.set_up(change, Meter::new());
        self
    }

    /// What was metered so far. A program with a clock looks after each read whether [`Meter::first`] is there now.
    pub fn meter(&self) -> &Meter {
        &self.reader.handler
    }

    /// Meters bytes that pass. None pass after the end.
    pub(super) fn meter_bytes(&mut self, bytes: &[u8]) {
        if self.report.is_some() {
            self.reader.read_all(bytes);
        }
    }

    /// Ends the stream, and reports, unless that happened before.
    pub(super) fn finish(&mut self) {
        if let Some(report) = self.report.take() {
            let end = self.reader.finish();
            report(&self.reader.handler, &end);
        }
    }
}

/// Prints the state of the parser.
impl<S, F: FnOnce(&Meter, &End)> fmt::Debug for Metered<S, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metered").field("parser", &self.reader).finish_non_exhaustive()
    }
}

impl<S, F: FnOnce(&Meter, &End)> Drop for Metered<S, F> {
    fn drop(&mut self) {
        if self.report.is_some() {
            self.reader.parser.note_abort();
            self.finish();
        }
    }
}

// Only the source is pinned, and that only if it may be moved.
impl<S: Unpin, F: FnOnce(&Meter, &End)> Unpin for Metered<S, F> {}
