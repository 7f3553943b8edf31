//! Why an update was not written.

use core::fmt;

/// Why a [`Writer`](super::Writer) did not write something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WriteError {
    /// The next event does not fit into the room that is left. Make room, and pass the same update again.
    NeedRoom {
        /// The room that the next event needs, in bytes.
        need: usize,
    },
    /// The lent memory is too small for what has to be written later.
    NeedMemory {
        /// The length that the memory would need, in bytes.
        need: usize,
    },
    /// The protocol has no place for the update.
    NoPlace,
    /// The update comes too late: its choice finished, its call is over, or the call's ID and name were written.
    Late,
    /// A value is not JSON by RFC 8259, or nests more than 100 levels deep.
    Json,
    /// The stream has more tool calls than 32.
    TooManyCalls,
    /// The index of the choice is 64 or more.
    TooManyChoices,
    /// A choice has no finish reason, or no choice began.
    Unfinished,
    /// The stream ended before.
    Ended,
}

impl WriteError {
    /// Whether the caller has to make room or give memory, and then to call again.
    pub fn is_need(&self) -> bool {
        matches!(self, WriteError::NeedRoom { .. } | WriteError::NeedMemory { .. })
    }
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            WriteError::NeedRoom { need } => return write!(f, "the next event needs room for {need} bytes"),
            WriteError::NeedMemory { need } => return write!(f, "the writer needs {need} bytes of memory"),
            WriteError::NoPlace => "the protocol has no place for the update",
            WriteError::Late => "the update comes after its choice or its call was written",
            WriteError::Json => "the value is not JSON",
            WriteError::TooManyCalls => "more tool calls than 32",
            WriteError::TooManyChoices => "the index of the choice is 64 or more",
            WriteError::Unfinished => "a choice has no finish reason",
            WriteError::Ended => "the stream ended before",
        })
    }
}

impl core::error::Error for WriteError {}
