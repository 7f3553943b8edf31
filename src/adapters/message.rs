//! The whole message, with its end.

use crate::message::{Assembler, Completion, Detail, LogError, RawJson};
use crate::shown::put_line;
use crate::stream::End;
use alloc::boxed::Box;
use alloc::format;
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
    lacks_front: bool,
}

impl Collected {
    pub(super) fn new(assembler: Assembler, end: End, lacks_front: bool) -> Self {
        let message = assembler.message();
        let message = message.unwrap_or_else(|error| Completion { left_out: Some(error), ..Completion::default() });
        Collected { message, end, assembler, lacks_front }
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
        self.end.is_complete() && self.message.left_out.is_none() && !self.lacks_front
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
        let Collected { message, end, lacks_front, .. } = &*self.0;
        let mut written = Ok(());
        fmt::Display::fmt(end, f)?;
        let of_choice = || message.choices.iter().find_map(|choice| choice.error.as_ref());
        if let Some(error) = message.error.as_ref().or_else(of_choice) {
            f.write_str(": ")?;
            put_line(format!("{}", error.api_error()).as_bytes(), false, &mut |text| {
                written = written.and(f.write_str(text))
            });
        }
        written?;
        if let Some(left_out) = message.left_out {
            write!(f, "; {left_out}")?;
        }
        f.write_str(if *lacks_front { "; it lacks what was read before (assembled)" } else { "" })
    }
}

impl core::error::Error for Incomplete {}
