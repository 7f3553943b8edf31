//! The assembler without a heap: chunks in, a log of what they say in a block of memory that the caller gives.

use super::log_write::{Kept, Pen};
use crate::chat::Chunk;
use crate::track::Tracker;
use crate::Error;
use core::fmt;

/// What of a chunk could not be taken in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LogError {
    /// The buffer is too small. Nothing was taken in: give the chunk once more with a buffer that begins with the first
    /// [`len`](MessageLog::len) bytes of this one.
    NeedStorage {
        /// So many bytes the buffer is to have: enough for this chunk, and at least half as many again as it has.
        need: usize,
    },
    /// The log would be longer than 4 GiB. Nothing was taken in.
    TooLong,
    /// More choices than the log has room for. All else of the chunk was taken in.
    TooManyChoices,
    /// More tool calls than the log has room for. All else of the chunk was taken in.
    TooManyCalls,
    /// The index of a choice or a tool call is none. All else of the chunk was taken in.
    BadIndex,
}

impl fmt::Display for LogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            LogError::NeedStorage { .. } => "the buffer is too small",
            LogError::TooLong => "the message is too long",
            LogError::TooManyChoices => "too many choices",
            LogError::TooManyCalls => "too many tool calls",
            LogError::BadIndex => "an index that is none",
        })
    }
}

impl core::error::Error for LogError {}

/// Puts the deltas of one stream together without a heap.
///
/// It says what `Assembler` (feature `alloc`) says, for at most `CHOICES` choices with `CALLS` tool calls in all, and with
/// another limit: what the buffer holds. The texts are in the buffer, decoded, in a log to which each chunk is appended;
/// this is the state beside it, plain data of fixed size (3.5 KB) without pointers. The buffer is given with each call.
/// It may be moved at any time: what counts are its first [`len`](Self::len) bytes.
///
/// ```
/// use deltawire::message::{Field, LogError, MessageLog};
/// use deltawire::{Event, Parser};
///
/// let stream = br#"data: {"id":"c1","choices":[{"index":0,"delta":{"role":"assistant","content":"Hel"}}]}
///
/// data: {"id":"c1","choices":[{"index":0,"delta":{"content":"lo"},"finish_reason":"stop"}]}
///
/// data: [DONE]
///
/// "#;
/// let mut parser = Parser::new([0; 4096]);
/// let mut log: MessageLog = MessageLog::new();
/// let mut buffer = vec![0; 16];
/// let mut input = &stream[..];
/// while let Some(event) = parser.next(&mut input)? {
///     let Event::Chunk(chunk) = event else { continue };
///     while let Err(LogError::NeedStorage { need }) = log.add(&mut buffer, &chunk) {
///         buffer.resize(need, 0);
///     }
/// }
///
/// let mut text = [0; 5];
/// assert_eq!(log.text(&buffer, Field::Content, 0, 0, &mut text), Some(5));
/// assert_eq!(&text, b"Hello");
/// assert_eq!(log.text(&buffer, Field::Refusal, 0, 0, &mut text), None);
///
/// let mut json = vec![0; log.json(&buffer, false, &mut [])];
/// log.json(&buffer, false, &mut json);
/// assert!(json.ends_with(br#""message":{"role":"assistant","content":"Hello"},"finish_reason":"stop"}]}"#));
/// # Ok::<(), deltawire::Error>(())
/// ```
///
/// # Memory
///
/// A piece that goes on with the text before it takes its own bytes, any other 12 bytes more. What was replaced (usage
/// that comes with each chunk, a message that is said anew) is thrown out when it has become more than the rest and
/// 1 KiB.
#[derive(Clone, Debug)]
pub struct MessageLog<const CHOICES: usize = 8, const CALLS: usize = 32> {
    tracker: Tracker<CHOICES, CALLS>,
    pub(super) kept: Kept<CHOICES, CALLS>,
}

impl<const CHOICES: usize, const CALLS: usize> Default for MessageLog<CHOICES, CALLS> {
    fn default() -> Self {
        MessageLog::new()
    }
}

/// Positions are kept in 32 bits.
const MAX_LEN: usize = u32::MAX as usize;

impl<const CHOICES: usize, const CALLS: usize> MessageLog<CHOICES, CALLS> {
    /// More than a chunk of `payload` bytes can add. A byte that is not UTF-8 makes three, a control character in raw
    /// JSON six; a record takes 12 bytes and at least two of the payload, or it opens a call; halves of characters may
    /// be let go.
    fn bound(payload: usize) -> usize {
        payload.saturating_mul(8).saturating_add(CALLS.saturating_mul(16)).saturating_add(256)
    }

    /// A log at the start of a stream.
    pub const fn new() -> Self {
        MessageLog { tracker: Tracker::new(), kept: Kept::EMPTY }
    }

    /// A new stream. The buffer may hold anything then.
    pub fn reset(&mut self) {
        self.tracker.reset();
        self.kept = Kept::EMPTY;
    }

    /// Bytes of the buffer that are in use, from its beginning. They are what is to be copied to another buffer.
    pub fn len(&self) -> usize {
        self.kept.fill.len
    }

    /// Whether nothing of the buffer is in use.
    pub fn is_empty(&self) -> bool {
        self.kept.fill.len == 0
    }

    /// Takes in a chunk. The time is linear in its length, apart from what is thrown out now and then.
    ///
    /// # Errors
    ///
    /// [`NeedStorage`](LogError::NeedStorage) or [`TooLong`](LogError::TooLong): the log is as it was before. Any other:
    /// the first thing that could not be taken in; all else of the chunk was.
    pub fn add(&mut self, buffer: &mut [u8], chunk: &Chunk<'_>) -> Result<(), LogError> {
        let bound = Self::bound(chunk.payload().len());
        self.attempt(buffer, bound, |log, buffer| {
            let mut pen = Pen { kept: &mut log.kept, buffer };
            pen.head(chunk);
            let mut updates = log.tracker.updates(chunk);
            while let Some((choice, update)) = updates.next() {
                pen.update(choice, &update);
            }
            match updates.error() {
                Some(Error::TooManyChoices { .. }) => pen.fail(LogError::TooManyChoices),
                Some(Error::TooManyCalls { .. }) => pen.fail(LogError::TooManyCalls),
                Some(Error::BadIndex { .. }) => pen.fail(LogError::BadIndex),
                _ => {}
            }
        })
    }

    /// Says that the stream ended: half a character that still waits for its other half becomes U+FFFD.
    ///
    /// # Errors
    ///
    /// As [`add`](Self::add).
    pub fn finish(&mut self, buffer: &mut [u8]) -> Result<(), LogError> {
        self.attempt(buffer, Self::bound(0), |log, buffer| {
            let mut pen = Pen { kept: &mut log.kept, buffer };
            for (choice, update) in log.tracker.finish() {
                pen.update(choice, &update);
            }
        })
    }

    /// Runs `write`, and takes it back if the buffer was too small for it. That takes a copy of the state, so it is made
    /// ready for only where `bound` bytes more might not fit.
    #[inline(never)] // The copy is large: the callers' stack is not to have it too.
    fn attempt(
        &mut self,
        buffer: &mut [u8],
        bound: usize,
        write: impl FnOnce(&mut Self, &mut [u8]),
    ) -> Result<(), LogError> {
        let room = buffer.len().min(MAX_LEN);
        if self.kept.fill.len.saturating_add(bound) <= room {
            write(self, buffer);
            return self.kept.settle(buffer);
        }
        let before = self.clone();
        write(self, buffer);
        let need = self.kept.fill.len;
        if need <= room {
            return self.kept.settle(buffer);
        }
        *self = before;
        self.kept.fill.settle(buffer);
        match need {
            0..=MAX_LEN => {
                let half = buffer.len() / 2;
                Err(LogError::NeedStorage { need: need.max(buffer.len().saturating_add(half).min(MAX_LEN)) })
            }
            _ => Err(LogError::TooLong),
        }
    }
}
