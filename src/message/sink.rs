//! A log as a sink of deltas: those of an emitter, and the records of a batch.

use super::error::LogError;
use super::log::MessageLogOf;
use super::table::{CallSlot, Rows, Slot};
use super::write::Piece;
use crate::chat::{CallUpdate, Update};
use crate::delta::{Delta, Kind, Part, FLAG_CUSTOM, FLAG_NATIVE, FLAG_NUMBER, FLAG_OPENS, FLAG_REUSES};
use crate::json::Text;
use crate::stream::{Context, Put, Record, Sink};
use crate::tables::Arrays;
use crate::Error;

/// A log and its buffer, to be given to an [`Emitter`](crate::stream::Emitter).
///
/// ```
/// use deltawire::message::{Field, LogSink, MessageLog};
/// use deltawire::stream::{Emitter, Machine, Outcome};
/// use deltawire::{track::Tracker, Config};
///
/// let input = b"data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\n\n";
/// let (mut machine, mut emitter) = (Machine::new(Config::default()), Emitter::new());
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
#[derive(Debug)]
pub struct LogSink<'l, T: Rows + ?Sized = Arrays<Slot, CallSlot, 8, 32>> {
    log: &'l mut MessageLogOf<T>,
    buffer: &'l mut [u8],
    need: usize,
}

impl<'l, T: Rows + ?Sized> LogSink<'l, T> {
    /// Of a log and its buffer, which begins with the first [`len`](MessageLogOf::len) bytes of the one before.
    pub fn new(log: &'l mut MessageLogOf<T>, buffer: &'l mut [u8]) -> Self {
        LogSink { log, buffer, need: 0 }
    }

    /// How many bytes the buffer needs, if the log was full.
    pub fn need(&self) -> usize {
        self.need
    }

    /// What is left out is noted in [`MessageLogOf::left_out`]; only a full buffer stops the emitter.
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
    /// Not the members of the top level, which it reads at the chunk, each until it has one. A choice's native finish
    /// reason is among its deltas all the same.
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

/// Whether pieces of a record of this kind can be put one by one. Any other record is put whole: the pieces of raw JSON
/// ([`FLAG_MORE`](crate::delta::FLAG_MORE)) have to be joined first.
pub const fn appends_pieces(kind: Kind) -> bool {
    matches!(kind, Kind::Content | Kind::Reasoning | Kind::Refusal | Kind::ToolArguments | Kind::FunctionArguments)
}

impl<T: Rows + ?Sized> MessageLogOf<T> {
    /// Takes in a record of a batch. `text` and `aux` are the bytes of its first and its second text, which are raw JSON
    /// or decoded.
    ///
    /// # Errors
    ///
    /// As [`put`](MessageLogOf::put).
    #[inline]
    pub fn put_record(&mut self, buffer: &mut [u8], record: &Record, text: &[u8], aux: &[u8]) -> Result<(), LogError> {
        // Nearly always.
        let is_known = record.kind == Kind::Chunk as u16 && self.has_head();
        if is_known || Piece::of_record(record, text).is_some_and(|piece| self.extend(buffer, &piece)) {
            return Ok(());
        }
        self.put_any_record(buffer, record, text, aux)
    }

    #[inline(never)]
    fn put_any_record(&mut self, buffer: &mut [u8], record: &Record, text: &[u8], aux: &[u8]) -> Result<(), LogError> {
        let Record { flags, choice, call, code, number, .. } = *record;
        let Some(kind) = Kind::from_number(u32::from(record.kind)) else { return Ok(()) };
        let number = (flags & FLAG_NUMBER != 0).then_some(number);
        let some = |bytes| Some(Text::verbatim(bytes)).filter(|text| !text.is_empty());
        let update = match kind {
            Kind::Chunk => {
                self.set_native(flags & FLAG_NATIVE != 0);
                return self.head(buffer, some(text), some(aux), number);
            }
            Kind::Limit => {
                return Error::from_number(code, choice, record.start).map_or(Ok(()), |error| self.limit(&error));
            }
            Kind::ToolCall => Some(Update::Call(CallUpdate {
                call,
                index: number.and_then(|index| u32::try_from(index).ok()),
                opens: flags & FLAG_OPENS != 0,
                reuses: flags & FLAG_REUSES != 0,
                id: some(text),
                kind: some(aux),
                custom: flags & FLAG_CUSTOM != 0,
            })),
            _ => {
                let part = Part::of(text, Text::verbatim(text));
                Update::of(&Delta { flags, choice, call, code, text: part, ..Delta::new(kind) }, text)
            }
        };
        update.map_or(Ok(()), |update| self.put(buffer, choice, &update))
    }
}
