//! The object that a choice brings: `delta`, or `message`, which has the same members.

use super::index::{self, delta, DeltaIndex};
use super::pass::Pass;
use super::{member_of, text_of, Source, ToolCalls, Walked};
use crate::json::{Kind, Text, Value};

/// The `delta` of a choice. The first choice's costs nothing more; a further one's is walked once.
#[derive(Clone)]
pub struct DeltaView<'a> {
    pub(crate) source: Source<'a>,
    /// The whole object.
    pub(crate) value: Value<'a>,
    pub(crate) fields: Walked<'a, DeltaIndex>,
}

/// The `message` of a choice: the whole message so far. It counts only if no delta ever came.
#[derive(Clone, Copy)]
pub struct Message<'a> {
    pub(crate) source: Source<'a>,
    pub(crate) value: Value<'a>,
}

impl<'a> Message<'a> {
    /// Its members, walked once.
    pub fn view(&self) -> Option<DeltaView<'a>> {
        let mut own = DeltaIndex::EMPTY;
        let offset = index::start_of(self.source.payload, self.value);
        Pass::again(self.source.payload, offset).delta(&mut own)?;
        Some(DeltaView { source: self.source, value: self.value, fields: Walked::Own(own) })
    }

    /// The whole as raw JSON.
    pub fn value(&self) -> Value<'a> {
        self.value
    }
}

impl core::fmt::Debug for Message<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        core::fmt::Debug::fmt(&Text::verbatim(self.value.raw()), f)
    }
}

impl<'a> DeltaView<'a> {
    #[inline]
    pub(crate) fn member(&self, member: usize) -> Option<Value<'a>> {
        index::member(self.source.index, self.source.payload, &self.fields.spans, member)
    }

    #[inline]
    fn text(&self, member: usize) -> Option<Text<'a>> {
        self.member(member)?.as_text().filter(|text| !text.is_empty())
    }

    /// `role`, if it is not empty. Many providers repeat it in each chunk.
    pub fn role(&self) -> Option<Text<'a>> {
        self.text(delta::ROLE)
    }

    /// `content`, if it is a text and not empty. An array is in [`content_parts`](Self::content_parts).
    #[inline]
    pub fn content(&self) -> Option<Text<'a>> {
        self.text(delta::CONTENT)
    }

    /// `content`, if it is an array: texts and thoughts in order, unknown parts left out (Mistral).
    pub fn content_parts(&self) -> ContentParts<'a> {
        ContentParts::of(self.member(delta::CONTENT))
    }

    /// `refusal`, if it is not empty.
    pub fn refusal(&self) -> Option<Text<'a>> {
        self.text(delta::REFUSAL)
    }

    /// `reasoning_content`, if it is not empty (DeepSeek, vLLM, llama.cpp and others).
    pub fn reasoning_content(&self) -> Option<Text<'a>> {
        self.text(delta::REASONING_CONTENT)
    }

    /// `reasoning`, if it is not empty (OpenRouter, Groq, Ollama).
    pub fn reasoning(&self) -> Option<Text<'a>> {
        self.text(delta::REASONING)
    }

    /// `thinking`, or `thought`, if it is not empty.
    pub fn thinking(&self) -> Option<Text<'a>> {
        self.text(delta::THINKING).or_else(|| self.text(delta::THOUGHT))
    }

    /// `reasoning_details[]`: objects with a text, a summary or encrypted data (OpenRouter).
    pub fn reasoning_details(&self) -> ReasoningDetails<'a> {
        ReasoningDetails::of(self.member(delta::REASONING_DETAILS))
    }

    /// `function_call`, if it is an object (deprecated form).
    pub fn function_call(&self) -> Option<FunctionCall<'a>> {
        self.member(delta::FUNCTION_CALL).and_then(FunctionCall::of)
    }

    /// The tool calls, in the order in which they stand.
    pub fn tool_calls(&self) -> ToolCalls<'a> {
        ToolCalls::new(self.clone())
    }

    /// `annotations`, if it is an array, as raw JSON.
    pub fn annotations(&self) -> Option<Value<'a>> {
        self.member(delta::ANNOTATIONS).filter(|value| value.kind() == Kind::Array)
    }

    /// `images`, if it is an array, as raw JSON (OpenRouter).
    pub fn images(&self) -> Option<Value<'a>> {
        self.get("images").filter(|value| value.kind() == Kind::Array)
    }

    /// Any member by name, as raw JSON. Walks the object.
    pub fn get(&self, name: &str) -> Option<Value<'a>> {
        self.value.get(name).ok()?
    }

    /// The whole as raw JSON.
    pub fn value(&self) -> Value<'a> {
        self.value
    }

    /// `audio`, if it is an object.
    pub fn audio(&self) -> Option<Audio<'a>> {
        self.member(delta::AUDIO).and_then(Audio::of)
    }
}

/// `function_call` of a delta: a fragment.
#[derive(Clone, Copy)]
pub struct FunctionCall<'a> {
    value: Value<'a>,
}

impl<'a> FunctionCall<'a> {
    /// None unless it is an object.
    pub(crate) fn of(value: Value<'a>) -> Option<Self> {
        (value.kind() == Kind::Object).then_some(FunctionCall { value })
    }

    /// `name`, if it is not empty.
    pub fn name(&self) -> Option<Text<'a>> {
        member_of(self.value, "name").and_then(text_of)
    }

    /// `arguments`, if it is not empty: a fragment of text.
    pub fn arguments(&self) -> Option<Text<'a>> {
        member_of(self.value, "arguments").and_then(super::tool_call::input_text)
    }

    /// The whole as raw JSON.
    pub fn value(&self) -> Value<'a> {
        self.value
    }
}

impl core::fmt::Debug for FunctionCall<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("FunctionCall").field("name", &self.name()).field("arguments", &self.arguments()).finish()
    }
}

/// `audio` of a delta: a fragment.
#[derive(Clone, Copy)]
pub struct Audio<'a> {
    value: Value<'a>,
}

impl<'a> Audio<'a> {
    /// None unless it is an object.
    pub(crate) fn of(value: Value<'a>) -> Option<Self> {
        (value.kind() == Kind::Object).then_some(Audio { value })
    }

    /// `id`, if it is not empty.
    pub fn id(&self) -> Option<Text<'a>> {
        member_of(self.value, "id").and_then(text_of)
    }

    /// `data`: base64, if it is not empty.
    pub fn data(&self) -> Option<Text<'a>> {
        member_of(self.value, "data").and_then(text_of)
    }

    /// `transcript`, if it is not empty.
    pub fn transcript(&self) -> Option<Text<'a>> {
        member_of(self.value, "transcript").and_then(text_of)
    }

    /// `expires_at`, in seconds since 1970.
    pub fn expires_at(&self) -> Option<u64> {
        member_of(self.value, "expires_at").and_then(super::usage::whole_number)
    }

    /// The whole as raw JSON.
    pub fn value(&self) -> Value<'a> {
        self.value
    }
}

impl core::fmt::Debug for Audio<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Audio").field("id", &self.id()).field("transcript", &self.transcript()).finish()
    }
}

/// One part of a content array.
#[derive(Clone, Copy)]
pub enum ContentPart<'a> {
    /// Content.
    Text(Text<'a>),
    /// Reasoning.
    Thinking(Text<'a>),
}

/// What a part of a content array is, if it is known.
pub(crate) fn part_type(part: Value<'_>) -> Option<bool> {
    let kind = member_of(part, "type")?.as_text()?;
    if kind == "text" || kind == "output_text" {
        return Some(false);
    }
    (kind == "thinking" || kind == "reasoning").then_some(true)
}

/// The parts of a content array: texts and thoughts, none empty.
#[derive(Clone)]
pub struct ContentParts<'a> {
    array: Option<Value<'a>>,
    cursor: PartsCursor,
}

impl<'a> ContentParts<'a> {
    /// Of an array; of anything else none.
    pub(crate) fn of(array: Option<Value<'a>>) -> Self {
        ContentParts { array, cursor: PartsCursor::default() }
    }
}

impl<'a> Iterator for ContentParts<'a> {
    type Item = ContentPart<'a>;

    fn next(&mut self) -> Option<ContentPart<'a>> {
        self.cursor.next(self.array?)
    }
}

/// Which part of a content array comes next: offsets in it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PartsCursor {
    at: usize,
    /// The array inside a thinking part: where it lies, and where in it the next text is looked for.
    inner: Option<(usize, usize, usize)>,
}

impl PartsCursor {
    pub(crate) fn next<'a>(&mut self, array: Value<'a>) -> Option<ContentPart<'a>> {
        loop {
            if let Some((start, end, at)) = &mut self.inner {
                let inner = Value::from_raw(array.raw().get(*start..*end).unwrap_or_default());
                while let Some(part) = inner.element_at(at) {
                    let text = if part.kind() == Kind::Object { member_of(part, "text") } else { Some(part) };
                    if let Some(text) = text.and_then(string) {
                        return Some(ContentPart::Thinking(text));
                    }
                }
                self.inner = None;
            }
            let part = array.element_at(&mut self.at)?;
            if let Some(text) = string(part) {
                return Some(ContentPart::Text(text));
            }
            match part_type(part) {
                Some(false) => {
                    if let Some(text) = member_of(part, "text").and_then(string) {
                        return Some(ContentPart::Text(text));
                    }
                }
                Some(true) => {
                    let thought = member_of(part, "thinking").or_else(|| member_of(part, "text"));
                    match thought {
                        Some(value) if value.kind() == Kind::Array => {
                            let raw = array.raw();
                            self.inner = Some((index::start_of(raw, value), index::end_of(raw, value), 0));
                        }
                        Some(value) => {
                            if let Some(text) = string(value) {
                                return Some(ContentPart::Thinking(text));
                            }
                        }
                        None => {}
                    }
                }
                None => {}
            }
        }
    }
}

fn string(value: Value<'_>) -> Option<Text<'_>> {
    value.as_text().filter(|text| !text.is_empty())
}

/// An item of `reasoning_details[]`.
#[derive(Clone, Copy)]
pub struct ReasoningDetail<'a> {
    value: Value<'a>,
}

impl<'a> ReasoningDetail<'a> {
    /// `text`, or `summary`, if it is not empty.
    pub fn text(&self) -> Option<Text<'a>> {
        let text = member_of(self.value, "text").and_then(string);
        text.or_else(|| member_of(self.value, "summary").and_then(string))
    }

    /// `data`: encrypted, if it is not empty.
    pub fn data(&self) -> Option<Text<'a>> {
        member_of(self.value, "data").and_then(string)
    }

    /// `type` (`reasoning.text`, `reasoning.summary`, `reasoning.encrypted`), if it is not empty.
    pub fn kind(&self) -> Option<Text<'a>> {
        member_of(self.value, "type").and_then(string)
    }

    /// The whole as raw JSON (`id`, `format`, `index`, `signature`, …).
    pub fn value(&self) -> Value<'a> {
        self.value
    }
}

impl core::fmt::Debug for ReasoningDetail<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("ReasoningDetail").field("type", &self.kind()).field("text", &self.text()).finish()
    }
}

/// The items of `reasoning_details[]`. Ends at the first that is malformed.
#[derive(Clone)]
pub struct ReasoningDetails<'a> {
    array: Option<Value<'a>>,
    at: usize,
}

impl<'a> ReasoningDetails<'a> {
    /// Of an array; of anything else none.
    pub(crate) fn of(array: Option<Value<'a>>) -> Self {
        ReasoningDetails::from(array, 0)
    }

    /// From an offset that [`at`](Self::at) told.
    pub(crate) fn from(array: Option<Value<'a>>, at: usize) -> Self {
        ReasoningDetails { array, at }
    }

    pub(crate) fn at(&self) -> usize {
        self.at
    }
}

impl<'a> Iterator for ReasoningDetails<'a> {
    type Item = ReasoningDetail<'a>;

    fn next(&mut self) -> Option<ReasoningDetail<'a>> {
        let value = self.array?.element_at(&mut self.at)?;
        Some(ReasoningDetail { value })
    }
}
