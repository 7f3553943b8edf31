//! The `delta` of a choice, and its `message`, which has the same members.

use super::ToolCalls;
use crate::chat::choices::delta_at;
use crate::chat::index::{delta, DeltaIndex, Fields};
use crate::chat::parts::{ContentParts, ReasoningDetails};
use crate::chat::scalar::{input_of, member_of, string_of, text_of, whole_number};
use crate::json::{Text, Value, ValueKind};
use crate::shown::shown;

/// The `delta` of a choice. The index has the delta of the first choice; the delta of a further choice was walked with
/// it.
#[derive(Clone)]
pub struct DeltaView<'a> {
    payload: &'a [u8],
    /// The whole object.
    value: Value<'a>,
    fields: Fields<'a, DeltaIndex>,
}

shown!("DeltaView": DeltaView<'_>, this => value: this.value);

impl<'a> DeltaView<'a> {
    #[inline]
    pub(crate) fn of(payload: &'a [u8], value: Value<'a>, fields: Fields<'a, DeltaIndex>) -> Self {
        DeltaView { payload, value, fields }
    }

    /// Walks a message.
    pub(super) fn walk(value: Value<'a>) -> Option<Self> {
        Some(DeltaView { payload: value.raw(), value, fields: Fields::Own(delta_at(value.raw(), 0)?) })
    }

    #[inline]
    fn member(&self, member: usize) -> Option<Value<'a>> {
        self.fields.value(self.payload, |fields| &fields.spans, member)
    }

    #[inline]
    fn text(&self, member: usize) -> Option<Text<'a>> {
        self.member(member)?.as_text().filter(|text| !text.is_empty())
    }

    /// Returns `role`, if it is not empty. Many providers repeat it in each chunk.
    pub fn role(&self) -> Option<Text<'a>> {
        self.text(delta::ROLE)
    }

    /// Returns `content`, if it is a text and not empty, or a number, as it is written (Cloudflare). An array is in
    /// [`content_parts`](Self::content_parts).
    #[inline]
    pub fn content(&self) -> Option<Text<'a>> {
        let content = self.member(delta::CONTENT)?;
        match content.kind() {
            ValueKind::Number => Some(Text::verbatim(content.raw())),
            _ => string_of(content),
        }
    }

    /// Returns `content`, if it is an array: texts and thoughts in order, without unknown parts (Mistral).
    pub fn content_parts(&self) -> ContentParts<'a> {
        ContentParts::of(self.member(delta::CONTENT))
    }

    /// Returns `refusal`, if it is not empty.
    pub fn refusal(&self) -> Option<Text<'a>> {
        self.text(delta::REFUSAL)
    }

    /// Returns `reasoning_content`, if it is not empty (DeepSeek, vLLM, llama.cpp and others).
    pub fn reasoning_content(&self) -> Option<Text<'a>> {
        self.text(delta::REASONING_CONTENT)
    }

    /// Returns `reasoning`, if it is not empty (OpenRouter, Groq, Ollama).
    pub fn reasoning(&self) -> Option<Text<'a>> {
        self.text(delta::REASONING)
    }

    /// Returns the first of `thinking`, `thought` and `reasoning_text` (GitHub Copilot) that is not empty.
    pub fn thinking(&self) -> Option<Text<'a>> {
        [delta::THINKING, delta::THOUGHT, delta::REASONING_TEXT].into_iter().find_map(|member| self.text(member))
    }

    /// Returns the items of `reasoning_details[]`: objects with a text, a summary or encrypted data (OpenRouter). An
    /// object in the place of the array is the only item.
    pub fn reasoning_details(&self) -> ReasoningDetails<'a> {
        ReasoningDetails::of(self.member(delta::REASONING_DETAILS))
    }

    /// Returns `function_call`, if it is an object (deprecated form).
    pub fn function_call(&self) -> Option<FunctionCall<'a>> {
        self.member(delta::FUNCTION_CALL).and_then(FunctionCall::of)
    }

    /// Returns the tool calls, in the order in which they were sent.
    pub fn tool_calls(&self) -> ToolCalls<'a> {
        ToolCalls::of(self.member(delta::TOOL_CALLS))
    }

    /// Returns `annotations`, if it is an array, as raw JSON.
    pub fn annotations(&self) -> Option<Value<'a>> {
        self.member(delta::ANNOTATIONS).filter(|value| value.kind() == ValueKind::Array)
    }

    /// Returns `images`, if it is an array, as raw JSON (OpenRouter).
    pub fn images(&self) -> Option<Value<'a>> {
        self.get("images").filter(|value| value.kind() == ValueKind::Array)
    }

    /// Returns any member by name, as raw JSON. Walks the object.
    pub fn get(&self, name: &str) -> Option<Value<'a>> {
        self.value.get(name).ok()?
    }

    /// Returns the whole as raw JSON.
    pub fn value(&self) -> Value<'a> {
        self.value
    }

    /// Returns `audio`, if it is an object.
    pub fn audio(&self) -> Option<Audio<'a>> {
        self.member(delta::AUDIO).and_then(Audio::of)
    }
}

/// The `function_call` of a delta: a fragment of a call.
#[derive(Clone, Copy)]
pub struct FunctionCall<'a> {
    value: Value<'a>,
}

impl<'a> FunctionCall<'a> {
    /// Returns `None` unless the value is an object.
    pub(in crate::chat) fn of(value: Value<'a>) -> Option<Self> {
        (value.kind() == ValueKind::Object).then_some(FunctionCall { value })
    }

    /// Returns `name`, if it is not empty.
    pub fn name(&self) -> Option<Text<'a>> {
        member_of(self.value, "name").and_then(text_of)
    }

    /// Returns `arguments`, if it is not empty: a fragment of text.
    pub fn arguments(&self) -> Option<Text<'a>> {
        member_of(self.value, "arguments").and_then(input_of)
    }

    /// Returns the whole as raw JSON.
    pub fn value(&self) -> Value<'a> {
        self.value
    }
}

shown!("FunctionCall": FunctionCall<'_>, this => name: this.name(), arguments: this.arguments());

/// The `audio` of a delta: a fragment.
#[derive(Clone, Copy)]
pub struct Audio<'a> {
    value: Value<'a>,
}

impl<'a> Audio<'a> {
    /// Returns `None` unless the value is an object.
    pub(in crate::chat) fn of(value: Value<'a>) -> Option<Self> {
        (value.kind() == ValueKind::Object).then_some(Audio { value })
    }

    /// Returns `id`, if it is not empty.
    pub fn id(&self) -> Option<Text<'a>> {
        member_of(self.value, "id").and_then(text_of)
    }

    /// Returns `data`, which is base64, if it is not empty.
    pub fn data(&self) -> Option<Text<'a>> {
        member_of(self.value, "data").and_then(text_of)
    }

    /// Returns `transcript`, if it is not empty. It may end in half a surrogate pair whose other half begins the next
    /// fragment. An assembled message joins the halves.
    pub fn transcript(&self) -> Option<Text<'a>> {
        member_of(self.value, "transcript").and_then(text_of)
    }

    /// Returns `expires_at`, in seconds since 1970.
    pub fn expires_at(&self) -> Option<u64> {
        member_of(self.value, "expires_at").and_then(whole_number)
    }

    /// Returns the whole as raw JSON.
    pub fn value(&self) -> Value<'a> {
        self.value
    }
}

shown!("Audio": Audio<'_>, this => id: this.id(), transcript: this.transcript());
