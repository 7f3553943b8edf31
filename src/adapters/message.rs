//! The whole message, with its end.

use crate::message::{Assembler, Completion, Detail, LogError, RawJson};
use crate::stream::End;
use alloc::boxed::Box;
use core::fmt;

/// The whole message, and how the stream ended.
#[must_use = "the response may be cut: `finished` tells"]
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Collected {
    /// The message. If memory ran out, only its [`left_out`](Completion::left_out) is set.
    pub message: Completion,
    /// How the stream ended.
    pub end: End,
    assembler: Assembler,
}

impl Collected {
    pub(super) fn new(assembler: Assembler, end: End) -> Self {
        let message = assembler.message();
        let message = message.unwrap_or_else(|error| Completion { left_out: Some(error), ..Completion::default() });
        Collected { message, end, assembler }
    }

    /// Returns the message as the JSON of a `chat.completion`, for every protocol: [`Assembler::json`]. With feature
    /// `serde` it passes to any serializer.
    ///
    /// # Errors
    ///
    /// [`LogError::OutOfMemory`].
    pub fn json(&self, detail: Detail) -> Result<RawJson, LogError> {
        self.assembler.json(detail)
    }

    /// Whether all of the response arrived and is in the message.
    pub fn is_complete(&self) -> bool {
        self.end.is_complete() && self.message.left_out.is_none()
    }

    /// Returns the message if it is [complete](Self::is_complete). Complete does not mean that the model finished its
    /// answer: that is the finish reason of the choice.
    ///
    /// # Errors
    ///
    /// Returns what came, if the response is cut, reports an error, or is not a stream at all.
    pub fn finished(self) -> Result<Completion, Incomplete> {
        if self.is_complete() {
            Ok(self.message)
        } else {
            Err(Incomplete(Box::new(self)))
        }
    }
}

/// A response that is not complete: what came of it. [`Display`](fmt::Display) says in one line what happened.
#[derive(Clone)]
pub struct Incomplete(pub Box<Collected>);

/// Prints what [`Display`](fmt::Display) prints, in parentheses, because a `main` that returns the error prints this.
impl fmt::Debug for Incomplete {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Incomplete").field(&format_args!("{self}")).finish()
    }
}

impl fmt::Display for Incomplete {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0.end, f)?;
        self.0.message.left_out.map_or(Ok(()), |left_out| write!(f, "; {left_out}"))
    }
}

impl core::error::Error for Incomplete {}
