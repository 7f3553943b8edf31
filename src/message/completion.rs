//! The finished message, as data.

use super::error::LogError;
use crate::chat::ApiError;
use crate::json::Value;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

/// The message of a stream: the completion that the API would have sent without streaming.
///
/// If a member of the top level is sent several times, the first value that is not empty counts. The last `usage`, as
/// [`Field::Usage`](super::Field::Usage) has it, and the first error count. Texts are never `Some("")`.
/// [`Assembler::json`](super::Assembler::json) writes the same message as JSON.
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
    /// `usage`: the last that was not empty, never a sum. The counts of another protocol have the names of chat
    /// completions.
    pub usage: Option<RawJson>,
    /// Whether the message is of another protocol than chat completions.
    pub is_native: bool,
    /// For another protocol, the usage under the names of that protocol.
    pub native_usage: Option<RawJson>,
    /// The first error that the API reported.
    pub error: Option<Failure>,
    /// Members of the top level that have no field: `citations`, `timings`, …
    pub members: Vec<Member>,
    /// Why the first part was left out, or `None` if the message is complete so far.
    pub left_out: Option<LogError>,
}

/// A member that a provider added. If it is sent several times, the last value that is not null counts.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Member {
    /// Its name.
    pub name: String,
    /// Its value, as sent.
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
    /// The role of its author; `assistant` if none was sent.
    pub role: Option<String>,
    /// Its content.
    pub content: Option<String>,
    /// Its refusal.
    pub refusal: Option<String>,
    /// Its reasoning.
    pub reasoning: Option<String>,
    /// The name of the member that contained its first reasoning: `reasoning_content`, `reasoning`, `thinking`,
    /// `thought` or `reasoning_text`. `None` if only `reasoning_details` or parts of the content contained reasoning.
    /// [`Detail::Extended`](super::Detail) writes the reasoning under this name.
    pub reasoning_name: Option<String>,
    /// The function that it calls (deprecated form).
    pub function_call: Option<FunctionCall>,
    /// Its tool calls, by ascending index, or in order of appearance if two calls have the same index or the protocol
    /// is not chat completions.
    pub tool_calls: Vec<ToolCall>,
    /// Its audio.
    pub audio: Option<Audio>,
    /// `annotations`: an array of strict JSON, if there are any.
    pub annotations: Option<RawJson>,
    /// For another protocol, the signatures of reasoning and the encrypted reasoning: an array of strings.
    pub signatures: Option<RawJson>,
    /// For another protocol, an array of the parts that no other field contains, as strict JSON: tools that the server
    /// ran, their results, media.
    pub native_content: Option<RawJson>,
    /// `reasoning_details`, an array of strict JSON. Consecutive entries of equal type and index become one
    /// entry: their `text` and `summary` are joined, and for every other member the last value that is not null counts.
    /// Entries with `data` and entries without an index stay as they are.
    pub reasoning_details: Option<RawJson>,
    /// Why it finished, as sent; the last reason counts. A reason of another protocol is in the words of chat
    /// completions, if these have a word for it.
    pub finish_reason: Option<String>,
    /// The finish reason of the model's own provider (`native_finish_reason` of OpenRouter). For another protocol, the
    /// reason as sent.
    pub native_finish_reason: Option<String>,
    /// Log probabilities.
    pub logprobs: Option<Logprobs>,
    /// The first error that belongs to this choice.
    pub error: Option<Failure>,
    /// Members of the choice that have no field.
    pub members: Vec<Member>,
    /// Members of its deltas, or of its `message`, that have no field. Lists of several deltas become one, as
    /// [`MessageLog::members`](super::MessageLog::members) describes.
    pub message_members: Vec<Member>,
}

/// A `function_call` (deprecated form).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FunctionCall {
    /// The name of the function.
    pub name: Option<String>,
    /// Its arguments as the model wrote them. They should be JSON.
    pub arguments: Option<String>,
}

/// A tool call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolCall {
    /// Its index, as sent, or as the parser assigned it. In a whole `message`, its position.
    pub index: u32,
    /// Its ID.
    pub id: Option<String>,
    /// Its type, as sent.
    pub kind: Option<String>,
    /// Whether it calls a custom tool, whose input is in `arguments`.
    pub custom: bool,
    /// The name of the function or tool.
    pub name: Option<String>,
    /// Its arguments as the model wrote them. They should be JSON.
    pub arguments: Option<String>,
    /// Members of the call that have no field, such as `extra_content` with the signature of a thought.
    pub members: Vec<Member>,
    /// Members of its `function`, or of its `custom` tool, that have no field.
    pub function_members: Vec<Member>,
    /// Its number among the calls of its choice, in order of appearance: the `call` of its deltas
    /// ([`Update::CallEnd`](crate::Update::CallEnd) and others).
    pub number: u32,
}

/// Audio.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Audio {
    /// Its ID.
    pub id: Option<String>,
    /// An array of the pieces as sent, strings of base64. A piece may have padding at its end, so decode each piece, then join the
    /// bytes.
    pub data: Option<RawJson>,
    /// Its transcript.
    pub transcript: Option<String>,
    /// When it expires, in seconds since 1970: until then a request can refer to it.
    pub expires_at: Option<u64>,
}

/// Log probabilities: arrays of the items of all chunks, in order, as strict JSON. A list is `None` if no chunk had it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Logprobs {
    /// The tokens of the content.
    pub content: Option<RawJson>,
    /// The tokens of the refusal.
    pub refusal: Option<RawJson>,
    /// Legacy completions: the tokens.
    pub tokens: Option<RawJson>,
    /// Legacy completions: the log probability of each token.
    pub token_logprobs: Option<RawJson>,
    /// Legacy completions: the alternatives to each token, with their log probabilities.
    pub top_logprobs: Option<RawJson>,
    /// Legacy completions: the offset of each token in the text.
    pub text_offset: Option<RawJson>,
}

/// An error that the API reported, as sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// JSON, usually an object.
    Json(RawJson),
    /// Plain text.
    Text(String),
}

impl Failure {
    /// Returns the error, to read its message and its code. It prints them as sent.
    pub fn api_error(&self) -> ApiError<'_> {
        match self {
            Failure::Json(json) => ApiError::of(json.value()),
            Failure::Text(text) => ApiError::plain(text.as_bytes()),
        }
    }
}

/// A JSON value, as its bytes. With feature `serde` it serializes as its [value](Self::value) does.
#[derive(Clone, PartialEq, Eq)]
pub struct RawJson {
    pub(super) bytes: Vec<u8>,
}

impl RawJson {
    /// Returns its bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the value, to read it.
    pub fn value(&self) -> Value<'_> {
        Value::from_raw(&self.bytes)
    }
}

impl fmt::Debug for RawJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.value(), f)
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for RawJson {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value().serialize(serializer)
    }
}
