//! The assembler: events in, a completion out.

use super::completion::Completion;
use super::error::{AssembleError, LogError};
use super::log::MessageLog;
use super::record::{kind, Key};
use crate::chat::{Chunk, Update};
use crate::delta::Meta;
use crate::dialect::Protocol;
use crate::json::Balance;
use crate::stream::{Event, Flow, Handler};
use crate::track::Tracker;
use crate::{Error, Limits, Quirk, QuirkSet};
use alloc::string::String;
use alloc::vec::Vec;

/// Choices that a message can have.
const CHOICES: usize = 128;
/// Tool calls that a stream can have, of all choices together.
const CALLS: usize = 256;
/// Bytes of the first buffer.
const LEAST: usize = 2048;

/// Puts the deltas of one stream together.
///
/// ```
/// use deltawire::{message::Assembler, Parser};
///
/// let stream = br#"data: {"id":"c1","choices":[{"index":0,"delta":{"role":"assistant","content":"Hel"}}]}
///
/// data: {"id":"c1","choices":[{"index":0,"delta":{"content":"lo"},"finish_reason":"stop"}]}
///
/// data: [DONE]
///
/// "#;
/// let mut parser = Parser::new([0; 4096]);
/// let mut assembler = Assembler::new();
/// for mut slice in stream.chunks(7) {
///     while let Some(event) = parser.next(&mut slice)? {
///         assembler.add(&event)?;
///     }
/// }
/// while let Some(event) = parser.finish()? {
///     assembler.add(&event)?;
/// }
/// assembler.finish()?;
///
/// let message = assembler.into_message()?;
/// assert_eq!(message.id.as_deref(), Some("c1"));
/// let choice = &message.choices[0];
/// assert_eq!(choice.content.as_deref(), Some("Hello"));
/// assert_eq!(choice.finish_reason.as_deref(), Some("stop"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Or push: the assembler is a [`Handler`], and the parser's own tracker does the tracking.
///
/// ```
/// use deltawire::{message::Assembler, Parser};
///
/// # let stream = b"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hello\"}}]}\n\n";
/// let mut parser = Parser::new([0; 4096]);
/// let mut assembler = Assembler::new();
/// let fed = parser.feed(stream, &mut assembler);
/// assert_eq!(fed.stop, None);
/// parser.finish_into(&mut assembler);
/// assert_eq!(assembler.error(), None);
/// assert_eq!(assembler.message()?.choices[0].content.as_deref(), Some("Hello"));
/// # Ok::<(), deltawire::message::AssembleError>(())
/// ```
///
/// # Memory
///
/// It is some 200 bytes itself. Nothing is taken from the heap before there is something to keep. Then it takes the state
/// of the choices (37 KB, of fixed size; 15 KB if it is pushed to) and a [`MessageLog`], bounded by
/// [`Limits::max_message_len`]: all texts and all raw JSON count, in bytes. A piece that does not go on with the text
/// before it (of another choice or call) takes 12 bytes more; the log is never longer than four times the limit and 64
/// KiB. Each completion is a copy. If memory runs out, an error says so; nothing aborts.
#[derive(Clone, Debug)]
pub struct Assembler {
    /// One, once deltas were pulled.
    tracker: Vec<Tracker<CHOICES, CALLS>>,
    pub(super) kept: Growable,
    drops_repeats: bool,
    quirks: [u32; Quirk::ALL.len()],
    error: Option<AssembleError>,
}

/// A log whose buffer grows.
#[derive(Clone, Debug)]
pub(super) struct Growable {
    /// One, once there is something to keep.
    pub(super) log: Vec<MessageLog<CHOICES, CALLS>>,
    pub(super) buffer: Vec<u8>,
    limit: usize,
}

impl Default for Assembler {
    fn default() -> Self {
        Assembler::new()
    }
}

impl Assembler {
    /// An assembler with the default limits.
    pub fn new() -> Self {
        Assembler::with_limits(Limits::DEFAULT)
    }

    /// An assembler with its own limits: [`Limits::max_message_len`] matters to it.
    pub fn with_limits(limits: Limits) -> Self {
        let limit = limits.max_message_len;
        Assembler {
            tracker: Vec::new(),
            kept: Growable { log: Vec::new(), buffer: Vec::new(), limit },
            drops_repeats: false,
            quirks: [0; Quirk::ALL.len()],
            error: None,
        }
    }

    /// Whether to drop arguments of a call that repeat the whole arguments before them, and `{}` before the arguments. By
    /// default they are kept: the text is what was sent.
    pub fn drop_repeated_arguments(mut self, drop: bool) -> Self {
        self.drops_repeats = drop;
        self
    }

    /// Takes in an event. Only chunks contain something to keep.
    ///
    /// # Errors
    ///
    /// The first thing that could not be kept. All else of the event was, and the next one can be added.
    pub fn add(&mut self, event: &Event<'_>) -> Result<(), AssembleError> {
        match event {
            Event::Chunk(chunk) => self.add_chunk(chunk),
            _ => Ok(()),
        }
    }

    /// Says that the stream ended: half a character that still waits for its other half becomes U+FFFD.
    ///
    /// # Errors
    ///
    /// As [`add`](Self::add).
    pub fn finish(&mut self) -> Result<(), AssembleError> {
        let mut done = Ok(());
        if let Some(tracker) = self.tracker.first_mut() {
            let mut quirks = QuirkSet::EMPTY;
            while let Some(delta) = tracker.flush(None, &mut quirks) {
                if let Some(update) = Update::of(&delta, b"") {
                    done = done.and(self.kept.put(delta.choice, &update));
                }
            }
            self.count(quirks);
        }
        self.conclude(done)
    }

    /// The message so far.
    ///
    /// # Errors
    ///
    /// [`OutOfMemory`](AssembleError::OutOfMemory).
    pub fn message(&self) -> Result<Completion, AssembleError> {
        let Some(log) = self.kept.log.first() else { return Ok(Completion::default()) };
        let mut message = log.completion(&self.kept.buffer)?;
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

    /// The message so far as JSON, as [`MessageLog::json`] writes it. Unlike `Serialize` (feature `serde`) it has numbers as they
    /// came: `-0`, `1e400`, integers of any length.
    ///
    /// # Errors
    ///
    /// [`OutOfMemory`](AssembleError::OutOfMemory).
    pub fn json(&self, extended: bool) -> Result<Vec<u8>, AssembleError> {
        let Some(log) = self.kept.log.first() else {
            return written(|out| MessageLog::<0, 0>::new().json(&[], extended, out));
        };
        let message = if self.drops_repeats { self.message()? } else { Completion::default() };
        let mut texts = Vec::new();
        for choice in &message.choices {
            let Some(place) = log.state.table.place(choice.index) else { continue };
            let calls = choice.tool_calls.iter();
            let calls = calls.map(|call| (Key::new(kind::CALL_ARGUMENTS, place, call.number), &call.arguments));
            let function = choice.function_call.iter();
            let function = function.map(|call| (Key::new(kind::FUNCTION_ARGUMENTS, place, 0), &call.arguments));
            for (key, text) in calls.chain(function) {
                texts.try_reserve(1).map_err(|_| AssembleError::OutOfMemory)?;
                texts.push((key, text.as_deref().unwrap_or_default()));
            }
        }
        written(|out| log.json_with(&self.kept.buffer, extended, &texts, out))
    }

    /// The message.
    ///
    /// # Errors
    ///
    /// As [`message`](Self::message).
    pub fn into_message(self) -> Result<Completion, AssembleError> {
        self.message()
    }

    /// The first thing that could not be kept.
    pub fn error(&self) -> Option<AssembleError> {
        self.error
    }

    /// How many deltas had `quirk`, in a text or given what came before. The [`Parser`](crate::Parser) counts the quirks
    /// of framing and shape and, if it is fed with the assembler as its handler, of most texts.
    pub fn quirk_count(&self, quirk: Quirk) -> u32 {
        self.quirks.get(quirk as usize).copied().unwrap_or(0)
    }

    /// The quirks met so far.
    pub fn quirks(&self) -> QuirkSet {
        Quirk::ALL.iter().copied().filter(|quirk| self.quirk_count(*quirk) > 0).collect()
    }

    /// A new stream.
    pub fn reset(&mut self) {
        // Its memory stays.
        self.tracker.clear();
        self.kept.log.clear();
        self.quirks = [0; Quirk::ALL.len()];
        self.error = None;
    }

    /// Bytes on the heap.
    #[cfg(test)]
    pub(super) fn allocated(&self) -> usize {
        let Growable { log, buffer, .. } = &self.kept;
        let tracker = core::mem::size_of::<Tracker<CHOICES, CALLS>>() * self.tracker.capacity();
        tracker + core::mem::size_of::<MessageLog<CHOICES, CALLS>>() * log.capacity() + buffer.capacity()
    }

    /// Takes the memory for the state of the choices. It is copied from a constant: 22 KiB made on the stack would be in
    /// the frame of each call of the caller.
    #[cold]
    #[inline(never)]
    fn track(&mut self) -> Result<(), AssembleError> {
        self.tracker.try_reserve_exact(1).map_err(|_| AssembleError::OutOfMemory)?;
        self.tracker.extend_from_slice(const { &[Tracker::new()] });
        Ok(())
    }

    fn add_chunk(&mut self, chunk: &Chunk<'_>) -> Result<(), AssembleError> {
        let mut done = self.kept.chunk(chunk);
        if self.tracker.is_empty() && chunk.deltas().next().is_some() {
            done = done.and(self.track());
        }
        if let Some(tracker) = self.tracker.first_mut() {
            let mut updates = tracker.updates(chunk);
            for (choice, update) in updates.by_ref() {
                done = done.and(self.kept.put(choice, &update));
            }
            if let Some(error) = updates.error() {
                done = done.and(limit(&error));
            }
            let quirks = updates.quirks();
            drop(updates);
            self.count(quirks);
        }
        self.conclude(done)
    }

    /// Counts the quirks of texts that no tracker read, and notes the first error.
    #[inline]
    fn conclude(&mut self, done: Result<(), AssembleError>) -> Result<(), AssembleError> {
        let quirks = self.kept.log.first().map_or(QuirkSet::EMPTY, |log| log.state.quirks);
        if done.is_err() || !quirks.is_empty() {
            self.note(done.err(), quirks);
        }
        done
    }

    #[inline(never)]
    fn note(&mut self, error: Option<AssembleError>, quirks: QuirkSet) {
        self.error = self.error.or(error);
        self.count(quirks);
        if let Some(log) = self.kept.log.first_mut() {
            log.state.quirks = QuirkSet::EMPTY;
        }
    }

    fn count(&mut self, quirks: QuirkSet) {
        for quirk in quirks.iter() {
            if let Some(count) = self.quirks.get_mut(quirk as usize) {
                *count = count.saturating_add(1);
            }
        }
    }
}

/// What could not be kept is in [`error`](Assembler::error); the parser is not stopped for that.
impl Handler for Assembler {
    fn chunk(&mut self, chunk: &Chunk<'_>) -> Flow {
        let done = self.kept.chunk(chunk);
        let _ = self.conclude(done);
        Flow::Continue(())
    }

    #[inline]
    fn update(&mut self, choice: u32, update: Update<'_>) -> Flow {
        let done = self.kept.put(choice, &update);
        let _ = self.conclude(done);
        Flow::Continue(())
    }

    fn limit(&mut self, error: &Error) -> Flow {
        let _ = self.conclude(limit(error));
        Flow::Continue(())
    }
}

/// A tracker left something out.
fn limit(error: &Error) -> Result<(), AssembleError> {
    LogError::of(error).map_or(Ok(()), |error| Err(error.into()))
}

impl Growable {
    /// Takes the memory for the log, from a constant as the tracker's.
    #[cold]
    #[inline(never)]
    fn open(&mut self) -> Result<(), AssembleError> {
        self.log.try_reserve_exact(1).map_err(|_| AssembleError::OutOfMemory)?;
        self.log.extend_from_slice(const { &[MessageLog::new()] });
        if let Some(log) = self.log.first_mut() {
            log.set_limit(self.limit);
        }
        Ok(())
    }

    /// Writes to the log, in a larger buffer if need be.
    #[inline]
    fn write(
        &mut self,
        mut write: impl FnMut(&mut MessageLog<CHOICES, CALLS>, &mut [u8]) -> Result<(), LogError>,
    ) -> Result<(), AssembleError> {
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
                    return done.map_err(AssembleError::from);
                }
            }
        }
    }

    /// Takes in the members of a chunk's top level.
    #[inline]
    fn chunk(&mut self, chunk: &Chunk<'_>) -> Result<(), AssembleError> {
        if self.log.is_empty() && is_empty(chunk) {
            return Ok(());
        }
        self.write(|log, buffer| log.chunk(buffer, chunk))
    }

    /// Takes in an update.
    #[inline]
    fn put(&mut self, choice: u32, update: &Update<'_>) -> Result<(), AssembleError> {
        self.write(|log, buffer| log.put(buffer, choice, update))
    }
}

/// All that `write` writes: it returns how many bytes that are.
fn written(write: impl Fn(&mut [u8]) -> usize) -> Result<Vec<u8>, AssembleError> {
    let mut bytes = Vec::new();
    let len = write(&mut []);
    bytes.try_reserve_exact(len).map_err(|_| AssembleError::OutOfMemory)?;
    bytes.resize(len, 0);
    write(&mut bytes);
    Ok(bytes)
}

/// Whether a chunk has nothing to keep but its deltas.
fn is_empty(chunk: &Chunk<'_>) -> bool {
    let has_text = chunk.id().is_some() || chunk.model().is_some();
    !has_text
        && Meta::ONCE.into_iter().all(|meta| chunk.meta(meta).is_none())
        && chunk.created().is_none()
        && !chunk.may_reason(|_| true)
        && !chunk.index().facts.others
        && chunk.protocol() == Protocol::Chat
}

/// Makes the buffer at least so long. `false`: there is no memory.
#[inline(never)]
fn grow(buffer: &mut Vec<u8>, need: usize) -> bool {
    let len = need.max(LEAST);
    let has_memory = buffer.try_reserve_exact(len.saturating_sub(buffer.len())).is_ok();
    if has_memory {
        buffer.resize(len, 0);
    }
    has_memory
}

/// Drops what repeats the whole arguments at the beginning, and `{}` before an object.
fn drop_repeats(arguments: &mut Option<String>) -> Result<(), AssembleError> {
    let Some(all) = arguments else { return Ok(()) };
    let Some((mut first, mut behind)) = split_object(all) else { return Ok(()) };
    while let Some((next, rest)) = split_object(behind).filter(|_| is_empty_object(first)) {
        (first, behind) = (next, rest);
    }
    let mut rest = behind;
    while let Some(after) = rest.trim_start().strip_prefix(first.trim_start()) {
        rest = after;
    }
    if first.len().saturating_add(rest.len()) == all.len() {
        return Ok(());
    }
    let rest = if rest.trim().is_empty() { "" } else { rest };
    let mut once = String::new();
    let len = first.len().saturating_add(rest.len());
    once.try_reserve_exact(len).map_err(|_| AssembleError::OutOfMemory)?;
    once.push_str(first);
    once.push_str(rest);
    *arguments = Some(once);
    Ok(())
}

/// The object that a text begins with, and what is behind it.
fn split_object(text: &str) -> Option<(&str, &str)> {
    text.split_at_checked(Balance::default().feed(text.as_bytes())?)
}

fn is_empty_object(object: &str) -> bool {
    object
        .trim()
        .strip_prefix('{')
        .and_then(|rest| rest.strip_suffix('}'))
        .is_some_and(|inside| inside.trim().is_empty())
}
