//! The finished message, as data.

use super::error::AssembleError;
use super::raw::{RawJson, RawList};
use crate::chat::LISTS;
use alloc::string::String;
use alloc::vec::Vec;

/// The result of a stream: the completion that the API would have sent in one piece.
///
/// Of the members of the top level the first that is not empty counts, of `usage` the last, of errors the first. Texts are
/// never `Some("")`.
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
    /// `usage`: the last that was not empty, never a sum. Of another protocol, its counts as chat completions have them.
    pub usage: Option<RawJson>,
    /// It is of another protocol than chat completions.
    pub is_native: bool,
    /// Of another protocol: the usage under its own names.
    pub native_usage: Option<RawJson>,
    /// The first error that the API reported.
    pub error: Option<Failure>,
    /// Members of the top level that no other field has: `citations`, `timings`, …
    pub members: Vec<Member>,
    /// The first thing that was left out. `None`: the message is all that came.
    pub left_out: Option<AssembleError>,
}

/// A member of a provider: of its name the last value that was not null.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Member {
    /// Its name.
    pub name: String,
    /// Its value, as it came.
    pub value: RawJson,
}

impl Completion {
    /// The choice with this index.
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
    /// The name of the member that its first reasoning was in: `reasoning_content`, `reasoning`, `thinking` or `thought`; `None`
    /// if reasoning only came in other ways. `Completion::extended` (feature `serde`) writes the reasoning under it.
    pub reasoning_name: Option<String>,
    /// The function that it calls (deprecated form).
    pub function_call: Option<FunctionCall>,
    /// The tools that it calls: by ascending index; in order of appearance if two calls
    /// have one index.
    pub tool_calls: Vec<ToolCall>,
    /// Its audio.
    pub audio: Option<Audio>,
    /// The items of `annotations`, as strict JSON.
    pub annotations: RawList,
    /// Of another protocol: signatures of reasoning, and reasoning that is encrypted, strings.
    pub signatures: RawList,
    /// Of another protocol: parts that no other field has, as strict JSON: tools that the server ran, their results, media.
    pub native_content: RawList,
    /// The entries of `reasoning_details`, as strict JSON: `text` and `summary` of consecutive entries of equal type and index
    /// are joined, other members of them are the last that are not null. An entry with `data` stays as it is, and so does one
    /// without an index.
    pub reasoning_details: RawList,
    /// Why it finished, as sent; the last reason counts. Of another protocol: in the words of chat completions, if they have one.
    pub finish_reason: Option<String>,
    /// What the model's own provider said of that; of another protocol the reason as sent.
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
    /// Its index, as sent or as understood; of a whole `message` its position.
    pub index: u32,
    /// Its ID.
    pub id: Option<String>,
    /// Its type, as sent.
    pub kind: Option<String>,
    /// It calls a custom tool: `arguments` are its input.
    pub custom: bool,
    /// The name of the function or tool.
    pub name: Option<String>,
    /// Its arguments: the text that was sent, JSON if the model was right.
    pub arguments: Option<String>,
    /// Its members that no other field has, such as `extra_content` with the signature of a thought.
    pub members: Vec<Member>,
    /// Those of its `function`, or of its `custom` tool.
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
    /// The pieces that came, strings of base64. Each may be encoded by itself, with padding at its end: decode each, then join the
    /// bytes.
    pub data: RawList,
    /// Its words.
    pub transcript: Option<String>,
    /// When it can no longer be referred to, in seconds since 1970.
    pub expires_at: Option<u64>,
}

/// Log probabilities: the items of every chunk, in order, as strict JSON. A list is `None` if no chunk had it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Logprobs {
    /// The tokens of the content.
    pub content: Option<RawList>,
    /// The tokens of the refusal.
    pub refusal: Option<RawList>,
    /// Legacy completions: the tokens.
    pub tokens: Option<RawList>,
    /// Legacy completions: how likely each was.
    pub token_logprobs: Option<RawList>,
    /// Legacy completions: what else was likely in its place.
    pub top_logprobs: Option<RawList>,
    /// Legacy completions: where in the text it is.
    pub text_offset: Option<RawList>,
}

/// An error that the API reported, as it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// JSON: an object as a rule.
    Json(RawJson),
    /// Plain text.
    Text(String),
}

impl Failure {
    /// Plain text without a word.
    pub(super) fn empty() -> Self {
        Failure::Text(String::new())
    }
}

impl Logprobs {
    /// The lists in the order of [`LISTS`].
    pub(super) fn lists(&mut self) -> [&mut Option<RawList>; LISTS.len()] {
        let Logprobs { content, refusal, tokens, token_logprobs, top_logprobs, text_offset } = self;
        [content, refusal, tokens, token_logprobs, top_logprobs, text_offset]
    }
}
