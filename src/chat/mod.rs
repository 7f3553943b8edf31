//! What a chunk means: lazy views of OpenAI's `chat.completion.chunk` and its dialects, and of the events of other
//! protocols.
//!
//! A [`Chunk`] borrows its payload and the [`Index`] that one pass over the payload filled. It reads everything else on
//! request. The same views serve OpenAI's chunk, OpenRouter's dialect, the reasoning dialects, legacy completions, a
//! non-streaming `chat.completion` body, and errors in any place. [`Chunk::deltas`] iterates over everything that a
//! chunk reports.
//!
//! Sources: the provider's references of the chat completion chunk object and of legacy completions. `docs/quirks.md`
//! lists where real streams deviate from them.

mod choices;
mod cursor;
mod deltas;
#[cfg(test)]
mod deltas_tests;
mod expect;
pub(crate) mod index;
mod inside;
mod key;
mod list;
mod others;
#[cfg(feature = "alloc")]
mod owned;
mod page;
mod parts;
mod pass;
pub(crate) mod read;
pub(crate) mod scalar;
pub(crate) mod shape;
mod update;
mod views;
mod work;

#[cfg(test)]
mod tests;

pub use crate::delta::FinishKind;
pub(crate) use cursor::{Ahead, DeltaCursor, ItemDeltas};
pub use deltas::Deltas;
pub use index::Index;
pub use key::Owner;
pub use others::{OtherMember, OtherMembers};
#[cfg(feature = "alloc")]
pub use owned::OwnedUpdate;
pub use parts::{ContentPart, ContentParts, ReasoningDetail, ReasoningDetails};
pub use update::{CallUpdate, NamePiece, Update};
pub(crate) use views::{meta_bit, name_before, LISTS};
pub use views::{
    ApiError, Audio, Choice, Choices, Chunk, ChunkMember, Created, DeltaView, ErrorPart, FinishReason, FunctionCall,
    Logprobs, TokenBytes, TokenCounts, TokenLogprob, TokenLogprobs, ToolCall, ToolCalls, Usage,
};
