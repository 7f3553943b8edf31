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
        /// The index of the choice.
        choice: u32,
        /// Stream offset of the event, in bytes.
        offset: u64,
    },
    /// The chunk had more tool calls than the tracker has room for; the deltas of the excess call were skipped.
    TooManyCalls {
        /// The index of the call's choice.
        choice: u32,
        /// Stream offset of the event, in bytes.
        offset: u64,
    },
    /// The index of a choice or a tool call is not an unsigned 32-bit integer; its deltas were skipped.
    BadIndex {
        /// The index of the call's choice; `u32::MAX` if the index of the choice itself is out of range.
        choice: u32,
        /// Stream offset of the event, in bytes.
        offset: u64,
    },
    /// The stream was ended before, so the bytes belong to another one: call
    /// [`Parser::reset`](crate::Parser::reset) first. None of the bytes was consumed, and the verdict is still that of the
    /// stream that ended.
    Finished {
        /// Stream offset of the end, in bytes.
        offset: u64,
    },
}

impl Error {
    /// Returns its number in the C interface, or 0 if it is not a limit.
    #[doc(hidden)]
    pub const fn number(&self) -> u32 {
        match self {
            Error::Quirk { .. } | Error::Finished { .. } => 0,
            Error::TooManyChoices { .. } => 1,
            Error::TooManyCalls { .. } => 2,
            Error::BadIndex { .. } => 3,
        }
    }

    /// Returns the bit with the number of the limit; 0 if it is not a limit.
    pub(crate) const fn bit(&self) -> u8 {
        match self.number() {
            0 => 0,
            number => 1 << (number & 7),
        }
    }

    /// Returns the error of a limit with this number in the C interface.
    pub(crate) const fn from_number(number: u32, choice: u32, offset: u64) -> Option<Error> {
        Some(match number {
            1 => Error::TooManyChoices { choice, offset },
            2 => Error::TooManyCalls { choice, offset },
            3 => Error::BadIndex { choice, offset },
            _ => return None,
        })
    }

    /// Returns the index of the choice whose deltas were left out; `None` if none were, and if that index is out of
    /// range.
    pub const fn choice(&self) -> Option<u32> {
        match *self {
            Error::Quirk { .. } | Error::Finished { .. } | Error::BadIndex { choice: u32::MAX, .. } => None,
            Error::TooManyChoices { choice, .. }
            | Error::TooManyCalls { choice, .. }
            | Error::BadIndex { choice, .. } => Some(choice),
        }
    }

    /// Returns the stream offset, in bytes, of the event that caused the error, or of the end of the stream.
    pub const fn offset(&self) -> u64 {
        match *self {
            Error::Quirk { offset, .. }
            | Error::TooManyChoices { offset, .. }
            | Error::TooManyCalls { offset, .. }
            | Error::BadIndex { offset, .. }
            | Error::Finished { offset } => offset,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Quirk { quirk, .. } => write!(f, "{} {quirk}", quirk.code())?,
            Error::TooManyChoices { .. } => {
                f.write_str("more choices than the tracker has room for (Parser::with_tracker, with_room)")?
            }
            Error::TooManyCalls { .. } => {
                f.write_str("more tool calls than the tracker has room for (Parser::with_tracker, with_room)")?
            }
            Error::BadIndex { .. } => f.write_str("an index that is not an unsigned 32-bit integer")?,
            Error::Finished { offset } => {
                return write!(f, "the stream was ended at byte {offset}: Parser::reset begins another one");
            }
        }
        if let Some(choice) = self.choice() {
            write!(f, ", at choice {choice}")?;
        }
        write!(f, ", in the event at byte {}", self.offset())
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
            (
                Error::TooManyChoices { choice: 5, offset: 8 },
                "more choices than the tracker has room for (Parser::with_tracker, with_room), at choice 5, in the event at byte 8",
            ),
            (
                Error::TooManyCalls { choice: 0, offset: 9 },
                "more tool calls than the tracker has room for (Parser::with_tracker, with_room), at choice 0, in the event at byte 9",
            ),
            (
                Error::BadIndex { choice: u32::MAX, offset: 10 },
                "an index that is not an unsigned 32-bit integer, in the event at byte 10",
            ),
        ]) {
            assert_eq!((error.to_string().as_str(), error.offset()), (expected, at));
            assert_eq!(u64::from(error.number()), at - 7);
            let choice = error.choice().unwrap_or(u32::MAX);
            assert_eq!(Error::from_number(error.number(), choice, at), (at > 7).then_some(error));
        }
        let finished = Error::Finished { offset: 5 };
        assert_eq!(finished.to_string(), "the stream was ended at byte 5: Parser::reset begins another one");
        assert_eq!((finished.number(), finished.choice(), finished.offset()), (0, None, 5));
        for (choice, known) in [(3, Some(3)), (u32::MAX, None)] {
            assert_eq!(Error::BadIndex { choice, offset: 0 }.choice(), known);
        }
    }
}
