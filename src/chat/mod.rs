//! What a chunk means: OpenAI's `chat.completion.chunk` and its dialects, and the events of other protocols.
//!
//! A [`Chunk`] borrows its payload and the [`Index`] that one pass over the payload filled. A pulled event
//! ([`Pulled::deltas`](crate::Pulled::deltas)) has the deltas of all that the chunk reports, whether it is OpenAI's
//! chunk, OpenRouter's dialect, a reasoning dialect, a legacy completion, a non-streaming `chat.completion` body, or an
//! error in any place. A member that no delta is made of is in [`Chunk::other_members`], or found by walking the payload:
//! [`json::parse_lazy`](crate::json::parse_lazy).
//!
//! Sources: the provider's references of the chat completion chunk object and of legacy completions. `docs/quirks.md`
//! lists where real streams deviate from them.

mod call;
mod choices;
mod cursor;
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
mod rewrite;
pub(crate) mod scalar;
pub(crate) mod shape;
mod update;
mod views;
mod work;

#[cfg(test)]
mod tests;

pub use crate::delta::FinishKind;
pub use crate::dialect::{TokenCounts, Usage};
pub(crate) use cursor::{Ahead, DeltaCursor, ItemDeltas, PageCursor};
pub use index::Index;
pub use key::Owner;
pub use others::{OtherMember, OtherMembers};
#[cfg(feature = "alloc")]
pub use owned::OwnedUpdate;
pub(crate) use parts::detail_text;
pub use rewrite::replaced;
pub use update::{CallUpdate, NamePiece, Update};
pub(crate) use views::{meta_bit, name_before};
pub use views::{ApiError, Chunk, ChunkMember, Created, ErrorPart, FinishReason};
