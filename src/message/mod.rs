//! The assembler: deltas to the whole message (feature `alloc`).
//!
//! [`Assembler`] takes the events of a stream and keeps what they say as a [`Completion`], the same that the API would
//! have sent in one piece. With feature `serde` that serializes in the shape of a `chat.completion`.

mod assembler;
mod budget;
mod choice;
mod completion;
mod raw;
#[cfg(feature = "serde")]
mod serialize;
#[cfg(test)]
mod tests;

pub use assembler::{AssembleError, Assembler};
pub use completion::{Audio, Choice, Completion, Failure, FunctionCall, Logprobs, ToolCall};
pub use raw::{Items, RawJson, RawList};
