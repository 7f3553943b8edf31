//! The reasons for which a message leaves out an update.

use crate::Error;
use core::fmt;

/// Why a log did not add an update.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LogError {
    /// The buffer is too small, and nothing was added. Repeat the call with a larger buffer that begins with the first
    /// [`len`](super::MessageLog::len) bytes of this buffer.
    NeedStorage {
        /// The length in bytes that the buffer needs: enough for this call, and at least 1.5 times its length now,
        /// unless the log must not become that long.
        need: usize,
    },
    /// The message would be longer than its limit, its log longer than 4 GiB, or its members of providers more than
    /// 256. The update was left out. Unless it was a member, the log adds no further update that appends to a text, so
    /// that no text has a gap.
    ///
    /// Or messages repeat short values (audio, log probabilities, `reasoning_details`) so often, in a log of so many
    /// records, that to find what is new would take more than linear time. Only that value was left out; a later message
    /// contains it again.
    TooLong,
    /// There are more choices than the log has room for. The update was left out.
    TooManyChoices,
    /// There are more tool calls than the log has room for. The update was left out.
    TooManyCalls,
    /// The index of a choice or a tool call is out of range. The update was left out.
    BadIndex,
}

impl LogError {
    /// Returns why a tracker left out a delta, or `None` if the error is not a limit.
    pub(super) fn of(error: &Error) -> Option<LogError> {
        match error {
            Error::TooManyChoices { .. } => Some(LogError::TooManyChoices),
            Error::TooManyCalls { .. } => Some(LogError::TooManyCalls),
            Error::BadIndex { .. } => Some(LogError::BadIndex),
            Error::Quirk { .. } => None,
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
        })
    }
}

impl core::error::Error for LogError {}

/// Why an assembler left out an update. The message has everything before it, with no gap in a text.
#[cfg(feature = "alloc")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AssembleError {
    /// The message would be longer than [`Limits::max_message_len`](crate::Limits::max_message_len), and the assembler
    /// adds no further update that appends to a text; or the message would have more than 256 members of providers; or
    /// messages repeat short values too often ([`LogError::TooLong`]).
    TooLong,
    /// There are more choices than the assembler has [room](super::Assembler::with_room) for.
    TooManyChoices,
    /// There are more tool calls than the assembler has [room](super::Assembler::with_room) for.
    TooManyCalls,
    /// The index of a choice or a tool call is out of range.
    BadIndex,
    /// The allocator had no memory.
    OutOfMemory,
    /// Updates came before any chunk, because the handler that has the assembler does not pass
    /// [`Handler::chunk`](crate::Handler::chunk) on. The message has no ID and no model; in other protocols than chat
    /// completions it also lacks usage and arguments.
    NoChunk,
}

#[cfg(feature = "alloc")]
impl fmt::Display for AssembleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AssembleError::TooLong => LogError::TooLong.fmt(f),
            AssembleError::TooManyChoices => LogError::TooManyChoices.fmt(f),
            AssembleError::TooManyCalls => LogError::TooManyCalls.fmt(f),
            AssembleError::BadIndex => LogError::BadIndex.fmt(f),
            AssembleError::OutOfMemory => f.write_str("out of memory"),
            AssembleError::NoChunk => f.write_str("updates came without their chunk: pass Handler::chunk on too"),
        }
    }
}

#[cfg(feature = "alloc")]
impl core::error::Error for AssembleError {}

/// `NeedStorage` becomes `OutOfMemory`, because a buffer stays too small only if there is no memory.
#[cfg(feature = "alloc")]
impl From<LogError> for AssembleError {
    fn from(error: LogError) -> Self {
        match error {
            LogError::NeedStorage { .. } => AssembleError::OutOfMemory,
            LogError::TooLong => AssembleError::TooLong,
            LogError::TooManyChoices => AssembleError::TooManyChoices,
            LogError::TooManyCalls => AssembleError::TooManyCalls,
            LogError::BadIndex => AssembleError::BadIndex,
        }
    }
}
