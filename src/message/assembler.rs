//! The assembler on the heap: makes a completion of the events of a stream.

use super::completion::{Completion, RawJson};
use super::error::LogError;
use super::json::Detail;
use super::log::{MessageLog, MessageLogOf};
use super::record::{kind, RecordKey};
use super::table;
use crate::chat::Update;
use crate::json::Balance;
use crate::stream::{Event, Flow, Handler, Pulled, Track};
use crate::tables::Heap;
use crate::{Error, Limits, Quirk, QuirkSet};
use alloc::string::String;
use alloc::vec::Vec;

/// How many choices a message can have, and how many tool calls all choices can have together.
#[derive(Clone, Copy, Debug)]
struct Room {
    choices: u16,
    calls: u16,
}

impl Room {
    const DEFAULT: Room = Room { choices: 128, calls: 256 };
}

type HeapLog = MessageLogOf<Heap<table::LoggedChoice, table::LoggedCall>>;

/// Length of the initial buffer in bytes.
const LEAST: usize = 2048;

/// Assembles the message from the deltas of one stream.
///
/// ```
/// use deltawire::{message::Assembler, Growing, Parser};
///
/// let stream = br#"data: {"id":"c1","choices":[{"index":0,"delta":{"role":"assistant","content":"Hel"}}]}
///
/// data: {"id":"c1","choices":[{"index":0,"delta":{"content":"lo"},"finish_reason":"stop"}]}
///
/// data: [DONE]
///
/// "#;
/// let mut parser = Parser::new(Growing::new());
/// let mut assembler = Assembler::new();
/// for mut slice in stream.chunks(7) {
///     while let Some(event) = parser.next(&mut slice)? {
///         assembler.add(event)?;
///     }
/// }
/// while let Some(event) = parser.finish()? {
///     assembler.add(event)?;
/// }
/// assert!(parser.end().is_complete());
///
/// let message = assembler.into_message()?;
/// assert_eq!(message.id.as_deref(), Some("c1"));
/// let choice = &message.choices[0];
/// assert_eq!(choice.content.as_deref(), Some("Hello"));
/// assert_eq!(choice.finish_reason.as_deref(), Some("stop"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// The assembler is also a [`Handler`] for push.
///
/// ```
/// use deltawire::{message::Assembler, Growing, Parser};
///
/// # let stream = b"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hello\"}}]}\n\n";
/// let mut parser = Parser::new(Growing::new());
/// let mut assembler = Assembler::new();
/// parser.feed(stream, &mut assembler).into_result()?;
/// parser.finish_into(&mut assembler)?;
/// assert_eq!(assembler.error(), None);
/// assert_eq!(assembler.message()?.choices[0].content.as_deref(), Some("Hello"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A handler of your own that has an assembler must pass [`event`](Handler::event), [`update`](Handler::update) and
/// [`limit`](Handler::limit) on to it. A chunk cannot leave the handler, so the assembler must run in the parser's
/// thread. With updates alone, such as those that came through a channel, the message has no ID, no model and, in other
/// protocols than chat completions, no usage; [`error`](Assembler::error) is then [`LogError::NoChunk`].
///
/// # Memory
///
/// The assembler itself takes about 240 bytes. With the first chunk it allocates a [`MessageLog`] (13 KB with the
/// default [room](Assembler::with_room), and its buffer).
/// [`Limits::max_message_len`] bounds the log: all texts and all raw JSON count, in bytes. A piece that does not
/// continue the previous text, because it belongs to another choice or call, takes 12 bytes more. The log is never
/// longer than four times the limit plus 64 KiB. Each completion is a copy. If memory runs out, the assembler returns
/// an error and does not abort.
#[derive(Clone)]
pub struct Assembler {
    pub(super) kept: Growable,
    drops_repeats: bool,
    /// Whether a parser pushed a chunk.
    has_chunk: bool,
    quirks: [u32; Quirk::ALL.len()],
    error: Option<LogError>,
}

/// Prints the length of the log, the limit and the first error.
impl core::fmt::Debug for Assembler {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Assembler")
            .field("len", &self.kept.log.first().map_or(0, |log| log.len()))
            .field("limit", &self.kept.limit)
            .field("error", &self.error)
            .finish_non_exhaustive()
    }
}

/// A log whose buffer grows.
#[derive(Clone, Debug)]
pub(super) struct Growable {
    /// Empty before the first update. Then it has one element.
    pub(super) log: Vec<HeapLog>,
    pub(super) buffer: Vec<u8>,
    /// The limit in bytes. A log is at most 4 GiB long.
    limit: u32,
    room: Room,
}

impl Default for Assembler {
    fn default() -> Self {
        Assembler::new()
    }
}

impl Assembler {
    /// Creates an assembler with the default limits.
    pub const fn new() -> Self {
        Assembler::with_limits(Limits::DEFAULT)
    }

    /// Creates an assembler with the given limits. Only [`Limits::max_message_len`] applies.
    pub const fn with_limits(limits: Limits) -> Self {
        let len = limits.max_message_len();
        let limit = if len > u32::MAX as usize { u32::MAX } else { len as u32 };
        let kept = Growable { log: Vec::new(), buffer: Vec::new(), limit, room: Room::DEFAULT };
        let quirks = [0; Quirk::ALL.len()];
        Assembler { kept, drops_repeats: false, has_chunk: false, quirks, error: None }
    }

    /// Makes the assembler drop arguments of a call that repeat all of its previous arguments, and `{}` before the
    /// arguments. By default it keeps the arguments as they were sent.
    #[must_use]
    pub fn drop_repeated_arguments(mut self) -> Self {
        self.drops_repeats = true;
        self
    }

    /// Sets how many choices, and how many tool calls of all choices together, the assembler has room for. The default
    /// is 128 and 256. Call this before the first update. The room of the parser's [`Tracker`](crate::track::Tracker) also
    /// limits the message.
    pub fn with_room(mut self, choices: u16, calls: u16) -> Self {
        self.kept.room = Room { choices, calls };
        self
    }

    /// Adds an event to the message, with its deltas. Only a chunk, and [`Event::Rest`], add anything.
    ///
    /// # Errors
    ///
    /// Returns why the first part of the event was left out. All other parts were added, and the next event can be
    /// added. What the parser's tracker left out is also the error of the parser's next call.
    pub fn add<T: Track>(&mut self, event: Pulled<'_, T>) -> Result<(), LogError> {
        let mut done = event.chunk().map_or(Ok(()), |chunk| self.kept.write(|log, buffer| log.chunk(buffer, &chunk)));
        let mut deltas = event.deltas();
        for (choice, update) in deltas.by_ref() {
            done = done.and(self.kept.put(choice, &update));
        }
        done = done.and(deltas.limit().map_or(Ok(()), |error| limit(&error)));
        self.conclude(done)
    }

    /// Returns the message so far.
    ///
    /// # Errors
    ///
    /// Returns [`OutOfMemory`](LogError::OutOfMemory) if memory runs out.
    pub fn message(&self) -> Result<Completion, LogError> {
        let Some(log) = self.kept.log.first() else {
            return Ok(Completion { left_out: self.error, ..Completion::default() });
        };
        let mut message = log.completion(&self.kept.buffer)?;
        message.left_out = self.error;
        if self.drops_repeats {
            for choice in &mut message.choices {
                if let Some(call) = &mut choice.function_call {
                    drop_repeats(&mut call.arguments)?;
                }
                for call in choice.tool_calls.iter_mut().filter(|call| !call.custom) {
                    drop_repeats(&mut call.arguments)?;
                }
            }
        }
        Ok(message)
    }

    /// Returns the message so far as JSON, as [`MessageLog::json`] writes it. Its bytes have numbers as they were sent
    /// (`-0`, `1e400`, integers of any length). With feature `serde` it passes to any serializer, as a
    /// [`Value`](crate::json::Value) does.
    ///
    /// # Errors
    ///
    /// Returns [`OutOfMemory`](LogError::OutOfMemory) if memory runs out.
    pub fn json(&self, detail: Detail) -> Result<RawJson, LogError> {
        let Some(log) = self.kept.log.first() else {
            return written(|out| MessageLog::<0, 0>::new().json(&[], detail, out));
        };
        let message = if self.drops_repeats { self.message()? } else { Completion::default() };
        let mut texts = Vec::new();
        for choice in &message.choices {
            let Some(place) = log.state.table.place(choice.index) else { continue };
            let calls = choice.tool_calls.iter();
            let calls = calls.map(|call| (RecordKey::new(kind::CALL_ARGUMENTS, place, call.number), &call.arguments));
            let function = choice.function_call.iter();
            let function = function.map(|call| (RecordKey::new(kind::FUNCTION_ARGUMENTS, place, 0), &call.arguments));
            for (key, text) in calls.chain(function) {
                texts.try_reserve(1).map_err(|_| LogError::OutOfMemory)?;
                texts.push((key, text.as_deref().unwrap_or_default()));
            }
        }
        written(|out| log.json_with(&self.kept.buffer, detail, &texts, out))
    }

    /// Returns the message.
    ///
    /// # Errors
    ///
    /// The same as those of [`message`](Self::message).
    pub fn into_message(self) -> Result<Completion, LogError> {
        self.message()
    }

    /// Returns why the first part of the message was left out, or `None` if nothing was.
    pub fn error(&self) -> Option<LogError> {
        self.error
    }

    /// Returns how many deltas had `quirk` in what only a message reads: the texts of the top level, signatures, audio
    /// and log probabilities. The [`Parser`](crate::Parser) counts all other quirks.
    pub fn quirk_count(&self, quirk: Quirk) -> u32 {
        let count = self.quirks.get(quirk as usize).copied().unwrap_or(0);
        let halves = self.kept.log.first().filter(|_| quirk == Quirk::LoneSurrogate);
        count.saturating_add(halves.map_or(0, |log| log.state.table.transcript_halves()))
    }

    /// Returns the quirks met so far.
    pub fn quirks(&self) -> QuirkSet {
        Quirk::ALL.iter().copied().filter(|quirk| self.quirk_count(*quirk) > 0).collect()
    }

    /// Returns to the start of a stream, for a new message.
    pub fn reset(&mut self) {
        // The memory stays allocated.
        self.kept.log.iter_mut().for_each(HeapLog::reset);
        self.quirks = [0; Quirk::ALL.len()];
        (self.error, self.has_chunk) = (None, false);
    }

    /// Returns how many bytes are on the heap.
    #[cfg(test)]
    pub(super) fn allocated(&self) -> usize {
        use core::mem::size_of;
        let Growable { log, buffer, room: Room { choices, calls }, .. } = &self.kept;
        let (choices, calls) = (usize::from(*choices), usize::from(*calls));
        let state =
            size_of::<HeapLog>() + size_of::<table::LoggedChoice>() * choices + size_of::<table::LoggedCall>() * calls;
        state * log.capacity() + buffer.capacity()
    }

    /// Counts the quirks of texts that no tracker reads, and notes the first error.
    #[inline]
    fn conclude(&mut self, done: Result<(), LogError>) -> Result<(), LogError> {
        let quirks = self.kept.log.first_mut().map_or(QuirkSet::EMPTY, HeapLog::take_quirks);
        if done.is_err() || !quirks.is_empty() {
            self.note(done.err(), quirks);
        }
        done
    }

    #[inline(never)]
    fn note(&mut self, error: Option<LogError>, quirks: QuirkSet) {
        self.error = self.error.or(error);
        self.count(quirks);
    }

    fn count(&mut self, quirks: QuirkSet) {
        for quirk in quirks.iter() {
            if let Some(count) = self.quirks.get_mut(quirk as usize) {
                *count = count.saturating_add(1);
            }
        }
    }
}

/// Stores the first error in [`error`](Assembler::error), and does not stop the parser.
impl Handler for Assembler {
    /// Adds a chunk's own members: ID, model, usage, and arguments that come by path.
    fn event(&mut self, event: &Event<'_>) -> Flow {
        if let Event::Chunk(chunk) = event {
            self.has_chunk = true;
            let done = self.kept.write(|log, buffer| log.chunk(buffer, chunk));
            let _ = self.conclude(done);
        }
        Flow::Continue(())
    }

    /// Adds a delta. Its chunk must have come before.
    #[inline]
    fn update(&mut self, choice: u32, update: Update<'_>) -> Flow {
        let chunk = if self.has_chunk { Ok(()) } else { Err(LogError::NoChunk) };
        let done = self.kept.put(choice, &update).and(chunk);
        let _ = self.conclude(done);
        Flow::Continue(())
    }

    /// Notes that the parser left deltas out.
    fn limit(&mut self, error: &Error) -> Flow {
        let _ = self.conclude(limit(error));
        Flow::Continue(())
    }
}

/// Returns the error if a tracker left out a delta because of a limit.
fn limit(error: &Error) -> Result<(), LogError> {
    LogError::of(error).map_or(Ok(()), Err)
}

impl Growable {
    /// Allocates the log.
    #[cold]
    #[inline(never)]
    fn open(&mut self) -> Result<(), LogError> {
        let Room { choices, calls } = self.room;
        self.log.try_reserve_exact(1).map_err(|_| LogError::OutOfMemory)?;
        let tables = Heap::new((table::LoggedChoice::EMPTY, choices), (table::LoggedCall::EMPTY, calls))
            .ok_or(LogError::OutOfMemory)?;
        self.log.push(MessageLogOf::with_tables(tables, self.limit as usize));
        Ok(())
    }

    /// Writes to the log, in a larger buffer if needed.
    #[inline]
    fn write(
        &mut self,
        mut write: impl FnMut(&mut HeapLog, &mut [u8]) -> Result<(), LogError>,
    ) -> Result<(), LogError> {
        if self.log.is_empty() {
            self.open()?;
        }
        let Some(log) = self.log.first_mut() else { return Ok(()) };
        loop {
            match write(log, &mut self.buffer) {
                Err(LogError::NeedStorage { need }) if grow(&mut self.buffer, need) => {}
                done => {
                    if let Err(LogError::NeedStorage { .. }) = done {
                        log.cut();
                    }
                    // The buffer stays too small only if there is no memory.
                    return done.map_err(|error| match error {
                        LogError::NeedStorage { .. } => LogError::OutOfMemory,
                        error => error,
                    });
                }
            }
        }
    }

    /// Adds an update.
    #[inline]
    fn put(&mut self, choice: u32, update: &Update<'_>) -> Result<(), LogError> {
        self.write(|log, buffer| log.put(buffer, choice, update))
    }
}

/// Returns everything that `write` writes. `write` itself returns the length of that.
fn written(write: impl Fn(&mut [u8]) -> usize) -> Result<RawJson, LogError> {
    let mut bytes = Vec::new();
    let len = write(&mut []);
    bytes.try_reserve_exact(len).map_err(|_| LogError::OutOfMemory)?;
    bytes.resize(len, 0);
    write(&mut bytes);
    Ok(RawJson { bytes })
}

/// Makes the buffer at least `need` bytes long. Returns `false` if there is no memory.
#[inline(never)]
fn grow(buffer: &mut Vec<u8>, need: usize) -> bool {
    let len = need.max(LEAST);
    let has_memory = buffer.try_reserve_exact(len.saturating_sub(buffer.len())).is_ok();
    if has_memory {
        buffer.resize(len, 0);
    }
    has_memory
}

/// Drops repetitions of the whole arguments, and `{}` before an object.
fn drop_repeats(arguments: &mut Option<String>) -> Result<(), LogError> {
    let Some(all) = arguments else { return Ok(()) };
    let Some((mut first, mut after)) = split_value(all) else { return Ok(()) };
    let is_object = |text: &str| text.trim_start().starts_with('{');
    while let Some((next, rest)) = split_value(after).filter(|_| is_empty_object(first) && is_object(after)) {
        (first, after) = (next, rest);
    }
    let mut rest = after;
    while let Some(after) = rest.trim_start().strip_prefix(first.trim_start()) {
        rest = after;
    }
    if first.len().saturating_add(rest.len()) == all.len() {
        return Ok(());
    }
    let rest = if rest.trim().is_empty() { "" } else { rest };
    let mut once = String::new();
    let len = first.len().saturating_add(rest.len());
    once.try_reserve_exact(len).map_err(|_| LogError::OutOfMemory)?;
    once.push_str(first);
    once.push_str(rest);
    *arguments = Some(once);
    Ok(())
}

/// Returns the object, array or string that a text begins with, and the rest.
fn split_value(text: &str) -> Option<(&str, &str)> {
    text.split_at_checked(Balance::default().feed_value(text.as_bytes())?)
}

fn is_empty_object(object: &str) -> bool {
    object
        .trim()
        .strip_prefix('{')
        .and_then(|rest| rest.strip_suffix('}'))
        .is_some_and(|inside| inside.trim().is_empty())
}
