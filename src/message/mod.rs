//! Deltas to the whole message.
//!
//! `Assembler` (feature `alloc`) takes the events of a stream and keeps what they say as a `Completion`, the same that the
//! API would have sent in one piece. With feature `serde` that serializes in the shape of a `chat.completion`.
//! [`MessageLog`] does the same in a block of memory that the caller gives, without a heap, and writes that JSON itself.

#[cfg(feature = "alloc")]
mod assembler;
#[cfg(feature = "alloc")]
mod budget;
#[cfg(feature = "alloc")]
mod choice;
#[cfg(feature = "alloc")]
mod completion;
mod log;
mod log_json;
mod log_read;
mod log_record;
mod log_table;
mod log_write;
#[cfg(feature = "alloc")]
mod raw;
#[cfg(feature = "serde")]
mod serialize;
#[cfg(all(test, feature = "alloc"))]
mod tests;

#[cfg(feature = "alloc")]
pub use assembler::{AssembleError, Assembler};
#[cfg(feature = "alloc")]
pub use completion::{Audio, Choice, Completion, Failure, FunctionCall, Logprobs, ToolCall};
pub use log::{LogError, MessageLog};
pub use log_read::Field;
#[cfg(feature = "alloc")]
pub use raw::{Items, RawJson, RawList};
