//! The view of a choice, and its finish reason.

use super::{ApiError, DeltaView, Logprobs};
use crate::chat::choices::{further_choice, Further};
use crate::chat::index::{choice, member, top, ChoiceIndex, Fields, Index};
use crate::chat::scalar::{index_number, is_error, native_reason_of, reason_of, text_of};
use crate::delta::{FinishKind, Part};
use crate::json::{Text, Value, ValueKind};
use crate::shown::{shown, Bytes};

/// Iterates over the choices of a chunk. The index has the first choice; the iterator walks each further choice once.
#[derive(Clone)]
pub struct Choices<'a> {
    payload: &'a [u8],
    index: &'a Index,
    returned: u32,
    /// The offset one past the choice that was returned last.
    offset: usize,
}

shown!("Choices": Choices<'_>, this => count: this.index.choices, payload: Bytes(this.payload));

impl<'a> Choices<'a> {
    pub(super) fn new(payload: &'a [u8], index: &'a Index) -> Self {
        Choices { payload, index, returned: 0, offset: 0 }
    }
}

impl<'a> Iterator for Choices<'a> {
    type Item = Choice<'a>;

    #[inline]
    fn next(&mut self) -> Option<Choice<'a>> {
        let Choices { payload, index, .. } = *self;
        if self.returned >= index.choices {
            return None;
        }
        self.returned = self.returned.saturating_add(1);
        if self.returned == 1 {
            return Some(Choice { payload, fields: Fields::Indexed(index, &index.first) });
        }
        if self.returned == 2 {
            self.offset = end_of_first(payload, index)?;
        }
        let Further { fields, end, .. } = further_choice(payload, self.offset)?;
        self.offset = end;
        Some(Choice { payload, fields: Fields::Own(fields) })
    }
}

/// Returns the offset one past the first choice.
fn end_of_first(payload: &[u8], index: &Index) -> Option<usize> {
    let first = match member(index, payload, &index.first.spans, choice::ITSELF) {
        Some(whole) => whole,
        // The index has no span of a first choice that is no object.
        None => index.top(payload, top::CHOICES)?.elements().next()?.ok()?,
    };
    Some(Part::raw(payload, first).end() as usize)
}

/// One choice of a chunk or of a body.
///
/// ```
/// # use deltawire::chat::{Chunk, Index, FinishKind};
/// # let mut index = Index::new();
/// let chunk = Chunk::read(br#"{"choices":[{"index":1,"delta":{},"finish_reason":"stop"}]}"#, &mut index)?;
/// let choice = chunk.choices().next().unwrap();
/// assert_eq!(choice.index(), 1);
/// assert_eq!(choice.finish_reason().unwrap().kind(), FinishKind::Stop);
/// # Ok::<(), deltawire::json::JsonError>(())
/// ```
#[derive(Clone)]
pub struct Choice<'a> {
    payload: &'a [u8],
    fields: Fields<'a, ChoiceIndex>,
}

shown!("Choice": Choice<'_>, this => index: this.index(), delta: this.delta(), finish_reason: this.finish_reason());

impl<'a> Choice<'a> {
    #[inline]
    fn member(&self, member: usize) -> Option<Value<'a>> {
        self.fields.value(self.payload, |fields| &fields.spans, member)
    }

    fn object(&self, member: usize) -> Option<Value<'a>> {
        self.member(member).filter(|value| value.kind() == ValueKind::Object)
    }

    /// Returns `index`, or 0 if it is missing or negative. A number in a string counts.
    #[inline]
    pub fn index(&self) -> u32 {
        self.member(choice::INDEX).and_then(index_number).unwrap_or(0)
    }

    /// Returns `delta`, if it is an object.
    #[inline]
    pub fn delta(&self) -> Option<DeltaView<'a>> {
        let value = self.object(choice::DELTA)?;
        let fields = match &self.fields {
            Fields::Indexed(index, choice) => Fields::Indexed(index, &choice.delta),
            Fields::Own(choice) => Fields::Own(choice.delta.clone()),
        };
        Some(DeltaView::of(self.payload, value, fields))
    }

    /// Returns `message`, if it is an object: the whole message so far, of a body or of a cumulative dialect. Walks it.
    pub fn message(&self) -> Option<DeltaView<'a>> {
        self.object(choice::MESSAGE).and_then(DeltaView::walk)
    }

    /// Returns `text`, if it is not empty (legacy completions).
    pub fn text(&self) -> Option<Text<'a>> {
        self.member(choice::TEXT)?.as_text().filter(|text| !text.is_empty())
    }

    /// Returns `finish_reason` (or `finishReason`), unless it is null, empty, "None" or "null".
    #[inline]
    pub fn finish_reason(&self) -> Option<FinishReason<'a>> {
        let reason = |member| self.member(member).and_then(reason_of);
        reason(choice::FINISH_REASON).or_else(|| reason(choice::FINISH_CAMEL)).map(FinishReason::of)
    }

    /// Returns `native_finish_reason`, the reason of the model's own provider. It may also be inside
    /// `provider_specific_fields`.
    pub fn native_finish_reason(&self) -> Option<Text<'a>> {
        let inner = || self.member(choice::PROVIDER_FIELDS).and_then(native_reason_of);
        self.member(choice::NATIVE_FINISH_REASON).and_then(text_of).or_else(inner)
    }

    /// Returns `logprobs`, if it is an object.
    #[inline]
    pub fn logprobs(&self) -> Option<Logprobs<'a>> {
        self.object(choice::LOGPROBS).map(Logprobs::of)
    }

    /// Returns `content_filter_results`, if it is an object, as raw JSON (Azure). Walks the choice.
    pub fn content_filter_results(&self) -> Option<Value<'a>> {
        self.get("content_filter_results").filter(|value| value.kind() == ValueKind::Object)
    }

    /// Returns `error`, the error of this choice alone.
    #[inline]
    pub fn error(&self) -> Option<ApiError<'a>> {
        self.member(choice::ERROR).filter(|value| is_error(*value)).map(ApiError::of)
    }

    /// Returns the choice as raw JSON, or `None` if it is no object.
    pub fn value(&self) -> Option<Value<'a>> {
        self.member(choice::ITSELF)
    }

    /// Returns any member by name, as raw JSON (`content_filter_results`, …). Walks the choice.
    pub fn get(&self, name: &str) -> Option<Value<'a>> {
        self.value()?.get(name).ok()?
    }
}

/// Why a choice finished, as it was sent.
#[derive(Clone, Copy)]
pub struct FinishReason<'a> {
    text: Text<'a>,
    /// The meaning of the text, if it is in the words of another protocol.
    native: Option<FinishKind>,
    is_of_prompt: bool,
}

impl<'a> FinishReason<'a> {
    pub(in crate::chat) fn of(text: Text<'a>) -> Self {
        FinishReason { text, native: None, is_of_prompt: false }
    }

    /// Returns a reason in the words of another protocol. `code` is the number of its [`FinishKind`].
    pub(in crate::chat) fn native(text: Text<'a>, code: u32, is_of_prompt: bool) -> Self {
        FinishReason { text, native: Some(FinishKind::from_number(code)), is_of_prompt }
    }

    /// Whether this is the reason why the prompt was refused (Gemini).
    pub fn is_of_prompt(&self) -> bool {
        self.is_of_prompt
    }

    /// Whether the reason is in the words of another protocol than chat completions.
    pub fn is_native(&self) -> bool {
        self.native.is_some()
    }

    /// Returns the reason as it was sent.
    pub fn text(&self) -> Text<'a> {
        self.text
    }

    /// Returns the reason as a message has it: in the word of chat completions, if there is one for a reason of another
    /// protocol, else as it was sent.
    pub(crate) fn in_message(&self) -> Text<'a> {
        let word = self.native.and_then(FinishKind::word);
        word.map_or(self.text, |word| Text::verbatim(word.as_bytes()))
    }

    /// Returns the meaning of the reason.
    pub fn kind(&self) -> FinishKind {
        let known = || FinishKind::WORDS.iter().find(|(word, _)| self.text == *word);
        self.native.unwrap_or_else(|| known().map_or(FinishKind::Other, |(_, kind)| *kind))
    }
}

/// Prints the reason as it was sent, decoded.
impl core::fmt::Display for FinishReason<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        core::fmt::Display::fmt(&self.text, f)
    }
}

impl core::fmt::Debug for FinishReason<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        core::fmt::Debug::fmt(&self.text, f)
    }
}
