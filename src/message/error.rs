//! Why something was not kept.

use crate::Error;
use core::fmt;

/// Why a log did not take in something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LogError {
    /// The buffer is too small, and nothing was taken in. Repeat the call with a buffer that begins with the first
    /// [`len`](super::MessageLog::len) bytes of this one.
    NeedStorage {
        /// The length in bytes that the buffer needs: enough for this call and, if the log may be that long, at least half
        /// as much again as it has.
        need: usize,
    },
    /// The message would be longer than its limit, its log longer than 4 GiB, or its members of providers more than 256. The
    /// update was left out. Unless it was a member, no update that appends to a text is taken in from here on, so that no
    /// text has a gap.
    TooLong,
    /// There are more choices than the log has room for. The update was left out.
    TooManyChoices,
    /// There are more tool calls than the log has room for. The update was left out.
    TooManyCalls,
    /// The index of a choice or a tool call is out of range. The update was left out.
    BadIndex,
}

impl LogError {
    /// Returns why a tracker left something out, or `None` if the error is no limit.
    pub(super) fn of(error: &Error) -> Option<LogError> {
        match error {
            Error::TooManyChoices { .. } => Some(LogError::TooManyChoices),
            Error::TooManyCalls { .. } => Some(LogError::TooManyCalls),
            Error::BadIndex { .. } => Some(LogError::BadIndex),
            Error::Quirk { .. } => None,
        }
    }
}

const TOO_LONG: &str = "the message is too long";
const TOO_MANY_CHOICES: &str = "too many choices";
const TOO_MANY_CALLS: &str = "too many tool calls";
const BAD_INDEX: &str = "index out of range";

impl fmt::Display for LogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            LogError::NeedStorage { .. } => "the buffer is too small",
            LogError::TooLong => TOO_LONG,
            LogError::TooManyChoices => TOO_MANY_CHOICES,
            LogError::TooManyCalls => TOO_MANY_CALLS,
            LogError::BadIndex => BAD_INDEX,
        })
    }
}

impl core::error::Error for LogError {}

/// Why an assembler did not keep something. The message has everything that came before, with no gap in a text.
#[cfg(feature = "alloc")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AssembleError {
    /// The message would be longer than [`Limits::max_message_len`](crate::Limits::max_message_len), and no update that
    /// appends to a text is kept from here on; or it would have more than 256 members of providers.
    TooLong,
    /// There are more choices than the assembler has [room](super::Assembler::with_room) for.
    TooManyChoices,
    /// There are more tool calls than the assembler has [room](super::Assembler::with_room) for.
    TooManyCalls,
    /// The index of a choice or a tool call is out of range.
    BadIndex,
    /// The allocator had no memory.
    OutOfMemory,
    /// Updates came before any chunk: the handler that has the assembler does not pass
    /// [`Handler::chunk`](crate::Handler::chunk) on. The message has no ID and no model; of other protocols than chat
    /// completions it lacks usage and arguments.
    NoChunk,
}

#[cfg(feature = "alloc")]
impl fmt::Display for AssembleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            AssembleError::TooLong => TOO_LONG,
            AssembleError::TooManyChoices => TOO_MANY_CHOICES,
            AssembleError::TooManyCalls => TOO_MANY_CALLS,
            AssembleError::BadIndex => BAD_INDEX,
            AssembleError::OutOfMemory => "out of memory",
            AssembleError::NoChunk => "updates came without their chunk: pass Handler::chunk on too",
        })
    }
}

#[cfg(feature = "alloc")]
impl core::error::Error for AssembleError {}

/// A buffer that is still too small could not grow, because there was no memory.
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
