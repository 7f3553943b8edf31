//! Lazy views of a chunk: an accessor reads its member when it is called.

mod choice;
mod chunk;
mod delta;
mod error;
mod logprobs;
mod tool_call;
mod usage;

pub use choice::{Choice, Choices, FinishReason};
pub(crate) use chunk::{meta_bit, name_before};
pub use chunk::{Chunk, ChunkMember, Created};
pub use delta::{Audio, DeltaView, FunctionCall};
pub use error::{ApiError, ErrorPart};
pub(crate) use logprobs::LISTS;
pub use logprobs::{Logprobs, TokenBytes, TokenLogprob, TokenLogprobs};
pub use tool_call::{ToolCall, ToolCalls};
pub use usage::{TokenCounts, Usage};
