//! Assembles the whole message from deltas.
//!
//! [`MessageLog`] assembles the updates of a stream without a heap, in the caller's memory, and writes the message as
//! JSON. [`LogSink`] feeds it from an [`Emitter`](crate::stream::Emitter). `Assembler` (feature `alloc`) keeps a log on
//! the heap and reads a `Completion` from it: the message that the API would have sent without streaming.

#[cfg(feature = "alloc")]
mod assembler;
#[cfg(feature = "alloc")]
mod collect;
#[cfg(feature = "alloc")]
mod completion;
mod details;
mod error;
mod json;
#[cfg(all(test, feature = "alloc"))]
mod limit_tests;
#[cfg(all(test, feature = "alloc"))]
mod linear_tests;
mod lists;
mod log;
mod members;
mod native;
mod parts;
mod read;
mod record;
mod sink;
mod table;
#[cfg(all(test, feature = "alloc"))]
mod tests;
mod tokens;
mod write;

#[cfg(feature = "alloc")]
pub use assembler::Assembler;
#[cfg(feature = "alloc")]
pub use completion::{Audio, Choice, Completion, Failure, FunctionCall, Logprobs, Member, RawJson, ToolCall};
pub use error::LogError;
pub use json::Detail;
pub use log::{MessageLog, MessageLogOf};
pub(crate) use native::put_paths;
pub use read::Field;
pub use sink::LogSink;
pub use table::{LoggedCall, LoggedChoice, Rows};
