//! The finished message, as data.

use super::error::AssembleError;
use super::raw::{RawJson, RawList};
use crate::chat::LISTS;
use alloc::string::String;
use alloc::vec::Vec;

/// The result of a stream: the completion that the API would have sent in one piece.
///
/// If a member of the top level comes several times, the first value that is not empty counts. Of `usage` the last one
/// counts, of errors the first. Texts are never `Some("")`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Completion {
    /// `id`.
    pub id: Option<String>,
    /// `object`, as sent: `chat.completion.chunk`, `text_completion`, …
    pub object: Option<String>,
    /// `created`, in seconds since 1970; never 0.
    pub created: Option<u64>,
    /// `model`.
    pub model: Option<String>,
    /// `system_fingerprint`.
    pub system_fingerprint: Option<String>,
    /// `service_tier`.
    pub service_tier: Option<String>,
    /// `provider` (OpenRouter).
    pub provider: Option<String>,
    /// The choices, by ascending index.
    pub choices: Vec<Choice>,
    /// `usage`: the last that was not empty, never a sum. For another protocol, its counts under the names of chat
    /// completions.
    pub usage: Option<RawJson>,
    /// Whether the message is of another protocol than chat completions.
    pub is_native: bool,
    /// For another protocol, the usage under the names of that protocol.
    pub native_usage: Option<RawJson>,
    /// The first error that the API reported.
    pub error: Option<Failure>,
    /// Members of the top level that no other field has: `citations`, `timings`, …
    pub members: Vec<Member>,
    /// The first thing that was left out, or `None` if the message is all that came.
    pub left_out: Option<AssembleError>,
}

/// A member that a provider added. If it comes several times, the last value that is not null counts.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Member {
    /// Its name.
    pub name: String,
    /// Its value, as it came.
    pub value: RawJson,
}

impl Completion {
    /// Returns the choice with this index.
    pub fn choice(&self, index: u32) -> Option<&Choice> {
        let place = self.choices.binary_search_by_key(&index, |choice| choice.index).ok()?;
        self.choices.get(place)
    }
}

/// One choice.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Choice {
    /// Its index.
    pub index: u32,
    /// The role of its author.
    pub role: Option<String>,
    /// Its content.
    pub content: Option<String>,
    /// Its refusal.
    pub refusal: Option<String>,
    /// Its reasoning.
    pub reasoning: Option<String>,
    /// The name of the member that its first reasoning was in: `reasoning_content`, `reasoning`, `thinking`, `thought` or
    /// `reasoning_text`;
    /// `None` if reasoning only came in other ways. `Completion::extended` (feature `serde`) writes the reasoning under this
    /// name.
    pub reasoning_name: Option<String>,
    /// The function that it calls (deprecated form).
    pub function_call: Option<FunctionCall>,
    /// The tools that it calls, by ascending index, or in order of appearance if two calls have one index or the protocol is not
    /// chat completions.
    pub tool_calls: Vec<ToolCall>,
    /// Its audio.
    pub audio: Option<Audio>,
    /// The items of `annotations`, as strict JSON.
    pub annotations: RawList,
    /// For another protocol, the signatures of reasoning and the encrypted reasoning, as strings.
    pub signatures: RawList,
    /// For another protocol, the parts that no other field has, as strict JSON: tools that the server ran, their results,
    /// media.
    pub native_content: RawList,
    /// The entries of `reasoning_details`, as strict JSON. Consecutive entries of equal type and index are one: their `text`
    /// and `summary` are joined, and of any other member the last value that is not null counts. An entry with `data` stays
    /// as it is, and so does one without an index.
    pub reasoning_details: RawList,
    /// Why it finished, as sent; the last reason counts. For another protocol, in the words of chat completions, if they
    /// have one.
    pub finish_reason: Option<String>,
    /// The finish reason of the model's own provider. For another protocol, the reason as sent.
    pub native_finish_reason: Option<String>,
    /// Log probabilities.
    pub logprobs: Option<Logprobs>,
    /// The first error of this choice alone.
    pub error: Option<Failure>,
    /// Members of the choice that no other field has.
    pub members: Vec<Member>,
    /// Members of its deltas, or of its `message`, that no other field has.
    pub message_members: Vec<Member>,
}

/// A `function_call` (deprecated form).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FunctionCall {
    /// The name of the function.
    pub name: Option<String>,
    /// Its arguments: the text that was sent, JSON if the model was right.
    pub arguments: Option<String>,
}

/// A tool call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolCall {
    /// Its index, as sent or as understood. In a whole `message`, its position.
    pub index: u32,
    /// Its ID.
    pub id: Option<String>,
    /// Its type, as sent.
    pub kind: Option<String>,
    /// Whether it calls a custom tool, whose input is in `arguments`.
    pub custom: bool,
    /// The name of the function or tool.
    pub name: Option<String>,
    /// Its arguments: the text that was sent, JSON if the model was right.
    pub arguments: Option<String>,
    /// Its members that no other field has, such as `extra_content` with the signature of a thought.
    pub members: Vec<Member>,
    /// Members of its `function`, or of its `custom` tool, that no other field has.
    pub function_members: Vec<Member>,
    /// Its number in order of appearance.
    pub(super) number: u32,
}

/// Audio.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Audio {
    /// Its ID.
    pub id: Option<String>,
    /// The pieces that came, as strings of base64. Each may be encoded by itself, with padding at its end: decode each, then
    /// join the bytes.
    pub data: RawList,
    /// Its transcript.
    pub transcript: Option<String>,
    /// Until when it can be referred to, in seconds since 1970.
    pub expires_at: Option<u64>,
}

/// Log probabilities: the items of all chunks, in order, as strict JSON. A list is `None` if no chunk had it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Logprobs {
    /// The tokens of the content.
    pub content: Option<RawList>,
    /// The tokens of the refusal.
    pub refusal: Option<RawList>,
    /// Legacy completions: the tokens.
    pub tokens: Option<RawList>,
    /// Legacy completions: the log probability of each token.
    pub token_logprobs: Option<RawList>,
    /// Legacy completions: the alternatives to each token, with their log probabilities.
    pub top_logprobs: Option<RawList>,
    /// Legacy completions: the offset of each token in the text.
    pub text_offset: Option<RawList>,
}

/// An error that the API reported, as it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// JSON, usually an object.
    Json(RawJson),
    /// Plain text.
    Text(String),
}

impl Logprobs {
    /// Returns the lists in the order of [`LISTS`].
    pub(super) fn lists(&mut self) -> [&mut Option<RawList>; LISTS.len()] {
        let Logprobs { content, refusal, tokens, token_logprobs, top_logprobs, text_offset } = self;
        [content, refusal, tokens, token_logprobs, top_logprobs, text_offset]
    }
}
