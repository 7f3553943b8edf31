//! What a chunk means: lazy views of OpenAI's `chat.completion.chunk` and its dialects.
//!
//! A [`Chunk`] borrows its payload and the [`Index`] that one pass over it filled; everything else is read when it is
//! asked for. The same views serve OpenAI's chunk, OpenRouter's dialect, the reasoning dialects, legacy completions,
//! a non-streaming `chat.completion` body, and errors wherever they come. [`Chunk::deltas`] gives the lot as a flat
//! run of deltas.
//!
//! Sources: the provider's references of the chat completion chunk object and of legacy completions; what real
//! streams deviate in is in `docs/quirks.md`.

mod choice;
mod chunk;
mod delta;
mod error;
mod expect;
mod flat;
#[cfg(test)]
mod flat_tests;
pub(crate) mod index;
mod key;
mod logprobs;
mod pass;
pub(crate) mod shape;
mod tool_call;
mod usage;
mod work;

#[cfg(test)]
mod tests;

pub use choice::{Choice, Choices, FinishKind, FinishReason};
pub use chunk::{Chunk, Field};
pub use delta::{
    Audio, ContentPart, ContentParts, DeltaView, FunctionCall, Message, ReasoningDetail, ReasoningDetails,
};
pub use error::{ApiError, ErrorPart};
pub(crate) use flat::DeltaCursor;
pub use flat::{Delta, DeltaKind, Deltas};
pub use index::Index;
pub(crate) use logprobs::LISTS;
pub use logprobs::{Logprobs, TokenBytes, TokenLogprob, TokenLogprobs};
pub use tool_call::{ToolCall, ToolCalls};
pub use usage::{TokenCounts, Usage};

/// A payload and where its members lie.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a> {
    pub(crate) payload: &'a [u8],
    pub(crate) index: &'a Index,
}

/// Spans that an index holds, or that a view walked for itself.
#[derive(Clone)]
pub(crate) enum Walked<'a, T> {
    Indexed(&'a T),
    Own(T),
}

impl<T> core::ops::Deref for Walked<'_, T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        match self {
            Walked::Indexed(index) => index,
            Walked::Own(index) => index,
        }
    }
}

/// A text that says something: a string, not empty. Other scalars are handed on as they are written.
pub(crate) fn text_of(value: crate::json::Value<'_>) -> Option<crate::json::Text<'_>> {
    use crate::json::{Kind, Text};
    match value.kind() {
        Kind::String => value.as_text().filter(|text| !text.is_empty()),
        Kind::Number | Kind::Bool => Some(Text::verbatim(value.raw())),
        Kind::Null | Kind::Array | Kind::Object => None,
    }
}

/// The member `name` of a small object that the pass did not enter.
pub(crate) fn member_of<'a>(value: crate::json::Value<'a>, name: &str) -> Option<crate::json::Value<'a>> {
    value.get(name).ok().flatten().filter(|value| !value.is_null())
}
