//! A choice, and why it finished.

use super::index::{self, choice, ChoiceIndex, Pass};
use super::{member_of, text_of, ApiError, DeltaView, Logprobs, Message, Source, Walked};
use crate::json::{Cursor, Kind, Text, Value};

/// The choices of a chunk. The first costs nothing more; each further one is walked once.
#[derive(Clone)]
pub struct Choices<'a> {
    source: Source<'a>,
    given: u32,
    /// One past the choice given last.
    offset: usize,
}

impl<'a> Choices<'a> {
    pub(crate) fn new(source: Source<'a>) -> Self {
        Choices { source, given: 0, offset: 0 }
    }
}

impl<'a> Iterator for Choices<'a> {
    type Item = Choice<'a>;

    #[inline]
    fn next(&mut self) -> Option<Choice<'a>> {
        let Source { payload, index } = self.source;
        if self.given >= index.choices {
            return None;
        }
        let fields = if self.given == 0 {
            Walked::Indexed(&index.first)
        } else {
            let mut cursor = Cursor::inside(payload, self.offset);
            if !cursor.next_element().ok()? {
                return None;
            }
            let mut own = ChoiceIndex::EMPTY;
            let mut pass = Pass::of(cursor);
            pass.choice(&mut own).ok()?;
            self.offset = pass.offset();
            Walked::Own(own)
        };
        self.given += 1;
        let given = Choice { source: self.source, fields };
        if self.given == 1 && index.choices > 1 {
            // Where the next one is to be looked for.
            self.offset = match given.member(choice::WHOLE) {
                Some(whole) => crate::chat::index::end_of(payload, whole),
                // It is no object: read over it.
                None => {
                    let choices = index.top(payload, index::top::CHOICES)?;
                    let first = choices.elements().next()?.ok()?;
                    crate::chat::index::end_of(payload, first)
                }
            };
        }
        Some(given)
    }
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
    source: Source<'a>,
    fields: Walked<'a, ChoiceIndex>,
}

impl<'a> Choice<'a> {
    #[inline]
    pub(crate) fn member(&self, member: usize) -> Option<Value<'a>> {
        index::member(self.source.index, self.source.payload, &self.fields.spans, member)
    }

    /// Whether any of these members is there.
    #[inline]
    pub(crate) fn has(&self, members: &[usize]) -> bool {
        self.fields.spans.any(members)
    }

    /// `delta.annotations`, if it is an array. Walks the delta.
    pub(crate) fn annotations(&self) -> Option<Value<'a>> {
        let items = member_of(self.object(choice::DELTA)?, "annotations")?;
        (items.kind() == Kind::Array).then_some(items)
    }

    fn object(&self, member: usize) -> Option<Value<'a>> {
        self.member(member).filter(|value| value.kind() == Kind::Object)
    }

    /// `index`: 0 if it is missing or negative; a number in a string counts.
    #[inline]
    pub fn index(&self) -> u32 {
        self.member(choice::INDEX).and_then(index::index_number).unwrap_or(0)
    }

    /// `delta`, if it is an object.
    #[inline]
    pub fn delta(&self) -> Option<DeltaView<'a>> {
        self.object(choice::DELTA)?;
        let fields = match &self.fields {
            Walked::Indexed(choice) => Walked::Indexed(&choice.delta),
            Walked::Own(choice) => Walked::Own(choice.delta.clone()),
        };
        Some(DeltaView { source: self.source, fields })
    }

    /// `message`, if it is an object: the whole message so far, of a body or of a cumulative dialect.
    pub fn message(&self) -> Option<Message<'a>> {
        self.object(choice::MESSAGE).map(|value| Message { source: self.source, value })
    }

    /// `text`, if it is not empty (legacy completions).
    pub fn text(&self) -> Option<Text<'a>> {
        self.member(choice::TEXT)?.as_text().filter(|text| !text.is_empty())
    }

    /// `finish_reason`, unless it is null, empty or "None".
    #[inline]
    pub fn finish_reason(&self) -> Option<FinishReason<'a>> {
        let text = self.member(choice::FINISH_REASON).and_then(index::finish_text)?;
        Some(FinishReason { text })
    }

    /// `native_finish_reason`: what the model's own provider said; also inside `provider_specific_fields`.
    pub fn native_finish_reason(&self) -> Option<Text<'a>> {
        let inner = || member_of(self.member(choice::PROVIDER_FIELDS)?, "native_finish_reason").and_then(text_of);
        self.member(choice::NATIVE_FINISH_REASON).and_then(text_of).or_else(inner)
    }

    /// `logprobs`, if it is an object.
    #[inline]
    pub fn logprobs(&self) -> Option<Logprobs<'a>> {
        self.object(choice::LOGPROBS).map(Logprobs::of)
    }

    /// An error in this choice alone.
    #[inline]
    pub fn error(&self) -> Option<ApiError<'a>> {
        self.member(choice::ERROR).filter(|value| index::is_error(*value)).map(ApiError::of)
    }

    /// The choice as raw JSON.
    pub fn value(&self) -> Option<Value<'a>> {
        self.member(choice::WHOLE)
    }

    /// Any member by name, as raw JSON (`content_filter_results`, …). Walks the choice.
    pub fn get(&self, name: &str) -> Option<Value<'a>> {
        self.value()?.get(name).ok()?
    }
}

/// Why a choice finished, as it was sent.
#[derive(Clone, Copy)]
pub struct FinishReason<'a> {
    text: Text<'a>,
}

/// The finish reasons that the provider's reference names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FinishKind {
    /// `stop`: a natural end, or a stop sequence.
    Stop,
    /// `length`: the token limit.
    Length,
    /// `tool_calls`: the model called tools.
    ToolCalls,
    /// `content_filter`: content was left out.
    ContentFilter,
    /// `function_call`: the model called a function (deprecated form).
    FunctionCall,
    /// `error`: the choice failed.
    Error,
    /// Any other; the text tells.
    Other,
}

impl<'a> FinishReason<'a> {
    /// As it was sent.
    pub fn text(&self) -> Text<'a> {
        self.text
    }

    /// Which of the known ones it is.
    pub fn kind(&self) -> FinishKind {
        const KINDS: [(&str, FinishKind); 6] = [
            ("stop", FinishKind::Stop),
            ("length", FinishKind::Length),
            ("tool_calls", FinishKind::ToolCalls),
            ("content_filter", FinishKind::ContentFilter),
            ("function_call", FinishKind::FunctionCall),
            ("error", FinishKind::Error),
        ];
        KINDS.iter().find(|(word, _)| self.text == *word).map_or(FinishKind::Other, |(_, kind)| *kind)
    }
}

impl core::fmt::Debug for FinishReason<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        core::fmt::Debug::fmt(&self.text, f)
    }
}
