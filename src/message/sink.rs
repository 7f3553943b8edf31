//! A log as a sink, for the deltas of an emitter.

use super::error::LogError;
use super::log::MessageLogOf;
use super::table::{LoggedCall, LoggedChoice, Rows};
use crate::delta::{Delta, Kind};
use crate::stream::{Context, Put, Sink};
use crate::tables::Arrays;
use crate::{Error, Update};

/// A log and its buffer, for an [`Emitter`](crate::stream::Emitter) to fill.
///
/// ```
/// use deltawire::message::{Field, LogSink, MessageLog};
/// use deltawire::stream::{Emitter, Machine, Outcome};
/// use deltawire::{track::Tracker, Config};
///
/// let input = b"data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\n\n";
/// let (mut machine, mut emitter) = (Machine::new(Config::default()), Emitter::new());
/// // A longer event is skipped.
/// let (mut memory, mut tracker) = ([0; 512], Tracker::<8, 32>::new());
/// let (mut log, mut buffer): (MessageLog, _) = (MessageLog::new(), Vec::new());
/// let mut rest = &input[..];
/// loop {
///     let mut sink = LogSink::new(&mut log, &mut buffer);
///     let (spent, outcome) = emitter.run(&mut machine, &mut memory, &mut tracker, rest, 0, &mut sink);
///     let need = sink.need();
///     rest = &rest[spent..];
///     match outcome {
///         Outcome::Full => buffer.resize(need, 0),
///         _ => break,
///     }
/// }
/// let mut text = [0; 2];
/// assert_eq!(log.text(&buffer, Field::Content, 0, 0, &mut text), Some(2));
/// assert_eq!(&text, b"Hi");
/// ```
pub struct LogSink<'l, T: Rows + ?Sized = Arrays<LoggedChoice, LoggedCall, 8, 32>> {
    log: &'l mut MessageLogOf<T>,
    buffer: &'l mut [u8],
    need: usize,
}

/// Prints the log, and the length of its buffer.
impl<T: Rows + ?Sized> core::fmt::Debug for LogSink<'_, T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let len = self.buffer.len();
        f.debug_struct("LogSink").field("log", &self.log).field("buffer_len", &len).field("need", &self.need).finish()
    }
}

impl<'l, T: Rows + ?Sized> LogSink<'l, T> {
    /// Creates a sink for a log and its buffer. A new buffer must begin with the first [`len`](MessageLogOf::len) bytes
    /// of the previous one.
    pub fn new(log: &'l mut MessageLogOf<T>, buffer: &'l mut [u8]) -> Self {
        LogSink { log, buffer, need: 0 }
    }

    /// Returns how many bytes the buffer needs, if it was full.
    pub fn need(&self) -> usize {
        self.need
    }

    /// Returns the answer to the emitter. Only a full buffer stops it; [`MessageLogOf::left_out`] reports updates that
    /// were left out.
    #[inline]
    fn answer(&mut self, done: Result<(), LogError>) -> Put {
        if let Err(LogError::NeedStorage { need }) = done {
            self.need = need;
            return Put::Full;
        }
        Put::Go
    }

    #[inline(never)]
    fn limit(&mut self, error: Option<Error>) -> Put {
        let done = error.map_or(Ok(()), |error| self.log.limit(&error));
        self.answer(done)
    }
}

impl<T: Rows + ?Sized> Sink for LogSink<'_, T> {
    /// Excludes the members of the top level, because the log reads each of them from the chunks until it has a value.
    /// The emitter still emits a choice's native finish reason and the name of its reasoning, because these are deltas
    /// of the choice.
    #[inline(always)]
    fn wants(&self, kind: Kind) -> bool {
        Kind::MESSAGE & !Kind::Meta.bit() & kind.bit() != 0
    }

    #[inline(always)]
    fn put(&mut self, context: &Context<'_>, delta: &Delta, _: &mut usize) -> Put {
        let done = match delta.kind {
            Kind::Chunk => match context.chunk() {
                Some(chunk) => self.log.chunk(self.buffer, chunk),
                None => Ok(()),
            },
            Kind::Limit => return self.limit(Error::from_number(delta.code, delta.choice, context.start)),
            _ => match Update::of(delta, context.payload()) {
                Some(update) => self.log.put(self.buffer, delta.choice, &update),
                None => Ok(()),
            },
        };
        self.answer(done)
    }
}
