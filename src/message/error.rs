//! The reasons for which a message leaves out an update.

use crate::Error;
use core::fmt;

/// Why a message did not add an update, or not all of it. It has everything before that, with no gap in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LogError {
    /// The buffer of a [`MessageLog`](super::MessageLog) is too small, and nothing was added, or only the first members of
    /// a chunk. Repeat the call with a larger buffer that begins with the first [`len`](super::MessageLog::len) bytes of
    /// this buffer.
    NeedStorage {
        /// The length in bytes that the buffer needs: enough for this call, and at least 1.5 times its length now,
        /// unless the log must not become that long.
        need: usize,
    },
    /// The message would be longer than its limit (of an `Assembler` that is
    /// [`Limits::max_message_len`](crate::Limits::max_message_len)), its log longer than 4 GiB, or its members of
    /// providers more than 256. The update was left out. Unless it was a member, the message adds no further update that
    /// appends to a text, so that no text has a gap.
    ///
    /// Or messages repeat short values (audio, log probabilities, `reasoning_details`) so often, in a log of so many
    /// records, that to find what is new would take more than linear time. Only that value was left out; a later message
    /// contains it again.
    TooLong,
    /// There are more choices than the message, or its tracker, has room for. The update was left out.
    TooManyChoices,
    /// There are more tool calls than the message, or its tracker, has room for. The update was left out.
    TooManyCalls,
    /// The index of a choice or a tool call is out of range. The update was left out.
    BadIndex,
    /// The allocator of an `Assembler` had no memory.
    OutOfMemory,
    /// An `Assembler` got updates before any chunk, because the handler that has it does not pass
    /// [`Handler::event`](crate::Handler::event) on. The message has no ID and no model; in other protocols than chat
    /// completions it also lacks usage and arguments.
    NoChunk,
}

impl LogError {
    /// Returns why a tracker left out a delta, or `None` if the error is not a limit.
    pub(super) fn of(error: &Error) -> Option<LogError> {
        match error {
            Error::TooManyChoices { .. } => Some(LogError::TooManyChoices),
            Error::TooManyCalls { .. } => Some(LogError::TooManyCalls),
            Error::BadIndex { .. } => Some(LogError::BadIndex),
            Error::Quirk { .. } | Error::Finished { .. } => None,
        }
    }
}

impl fmt::Display for LogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            LogError::NeedStorage { .. } => "the buffer is too small",
            LogError::TooLong => "the message is too long",
            LogError::TooManyChoices => "too many choices",
            LogError::TooManyCalls => "too many tool calls",
            LogError::BadIndex => "index out of range",
            LogError::OutOfMemory => "out of memory",
            LogError::NoChunk => "updates came without their chunk: pass Handler::event on too",
        })
    }
}

impl core::error::Error for LogError {}
