//! Errors that a call can return. Errors in the data are events instead.

use crate::Quirk;
use core::fmt;

/// Why the parser stopped. The parser stays usable and has consumed the event that caused the error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// A quirk that the configuration makes an error.
    Quirk {
        /// The quirk.
        quirk: Quirk,
        /// Stream offset of its event, in bytes.
        offset: u64,
    },
    /// The chunk had more choices than the tracker has room for; the deltas of the excess choice were skipped.
    TooManyChoices {
        /// Stream offset of the event, in bytes.
        offset: u64,
    },
    /// The chunk had more tool calls than the tracker has room for; the deltas of the excess call were skipped.
    TooManyCalls {
        /// Stream offset of the event, in bytes.
        offset: u64,
    },
    /// The index of a choice or a tool call is not an unsigned 32-bit integer; its deltas were skipped.
    BadIndex {
        /// Stream offset of the event, in bytes.
        offset: u64,
    },
}

impl Error {
    /// Returns its number in the C interface, or 0 for a quirk.
    pub const fn number(&self) -> u32 {
        match self {
            Error::Quirk { .. } => 0,
            Error::TooManyChoices { .. } => 1,
            Error::TooManyCalls { .. } => 2,
            Error::BadIndex { .. } => 3,
        }
    }

    /// Returns the error of a limit with this number in the C interface.
    pub(crate) const fn from_number(number: u32, offset: u64) -> Option<Error> {
        Some(match number {
            1 => Error::TooManyChoices { offset },
            2 => Error::TooManyCalls { offset },
            3 => Error::BadIndex { offset },
            _ => return None,
        })
    }

    /// Returns the stream offset, in bytes, of the event that caused the error.
    pub const fn offset(&self) -> u64 {
        match *self {
            Error::Quirk { offset, .. }
            | Error::TooManyChoices { offset }
            | Error::TooManyCalls { offset }
            | Error::BadIndex { offset } => offset,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Quirk { quirk, offset } => write!(f, "{} {quirk}, in the event at byte {offset}", quirk.code()),
            Error::TooManyChoices { offset } => {
                write!(f, "more choices than the tracker has room for, in the event at byte {offset}")
            }
            Error::BadIndex { offset } => {
                write!(f, "an index that is not an unsigned 32-bit integer, in the event at byte {offset}")
            }
            Error::TooManyCalls { offset } => {
                write!(f, "more tool calls than the tracker has room for, in the event at byte {offset}")
            }
        }
    }
}

impl core::error::Error for Error {}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::{Error, Quirk};
    use std::string::ToString;

    #[test]
    fn errors_have_a_number_an_offset_and_a_text() {
        for (at, (error, expected)) in (7..).zip([
            (
                Error::Quirk { quirk: Quirk::LongId, offset: 7 },
                "F11 an event ID over the limit was ignored, in the event at byte 7",
            ),
            (Error::TooManyChoices { offset: 8 }, "more choices than the tracker has room for, in the event at byte 8"),
            (
                Error::TooManyCalls { offset: 9 },
                "more tool calls than the tracker has room for, in the event at byte 9",
            ),
            (
                Error::BadIndex { offset: 10 },
                "an index that is not an unsigned 32-bit integer, in the event at byte 10",
            ),
        ]) {
            assert_eq!((error.to_string().as_str(), error.offset()), (expected, at));
            assert_eq!(u64::from(error.number()), at - 7);
        }
    }
}
