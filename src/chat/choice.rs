//! A choice, and why it finished.

use super::index::{self, choice, ChoiceIndex};
use super::pass::Pass;
use super::{member_of, text_of, ApiError, DeltaView, Logprobs, Message, Source, Walked};
use crate::json::{Kind, Text, Value};

/// Which of a chunk's choices comes next.
#[derive(Clone, Debug)]
pub(crate) struct ChoiceCursor {
    given: u32,
    /// One past the choice given last.
    offset: usize,
}

impl ChoiceCursor {
    pub(crate) const fn new() -> Self {
        ChoiceCursor { given: 0, offset: 0 }
    }

    /// Behind the first choice.
    pub(crate) const FIRST_GIVEN: ChoiceCursor = ChoiceCursor { given: 1, offset: 0 };

    /// Whether there is another.
    pub(crate) fn has_more(&self, index: &index::Index) -> bool {
        self.given < index.choices
    }

    /// Walks the next choice, and says where it begins; the first was walked by the pass: `Some(None)`. None: there is none.
    #[inline]
    pub(crate) fn next(&mut self, source: Source<'_>) -> Option<Option<(ChoiceIndex, usize)>> {
        let given = self.given;
        if given >= source.index.choices {
            return None;
        }
        self.given = given.saturating_add(1);
        if given == 0 {
            return Some(None);
        }
        self.further(source).map(Some)
    }

    fn further(&mut self, source: Source<'_>) -> Option<(ChoiceIndex, usize)> {
        let Source { payload, index } = source;
        if self.given == 2 {
            self.offset = match index::member(index, payload, &index.first.spans, choice::WHOLE) {
                Some(whole) => index::end_of(payload, whole),
                // It is no object: read over it.
                None => {
                    let choices = index.top(payload, index::top::CHOICES)?;
                    index::end_of(payload, choices.elements().next()?.ok()?)
                }
            };
        }
        let mut own = ChoiceIndex::EMPTY;
        let mut pass = Pass::next_element(payload, self.offset)?;
        let start = pass.offset();
        pass.choice(&mut own)?;
        self.offset = pass.offset();
        Some((own, start))
    }
}

/// Walks the choice that begins at `start` once more.
pub(crate) fn choice_at(payload: &[u8], start: usize) -> ChoiceIndex {
    let mut own = ChoiceIndex::EMPTY;
    Pass::again(payload, start).choice(&mut own);
    own
}

/// The choices of a chunk. The first costs nothing more; each further one is walked once.
#[derive(Clone)]
pub struct Choices<'a> {
    source: Source<'a>,
    cursor: ChoiceCursor,
}

impl<'a> Choices<'a> {
    pub(crate) fn new(source: Source<'a>) -> Self {
        Choices { source, cursor: ChoiceCursor::new() }
    }
}

impl<'a> Iterator for Choices<'a> {
    type Item = Choice<'a>;

    #[inline]
    fn next(&mut self) -> Option<Choice<'a>> {
        let fields = match self.cursor.next(self.source)? {
            None => Walked::Indexed(&self.source.index.first),
            Some((own, _)) => Walked::Own(own),
        };
        Some(Choice { source: self.source, fields })
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
        let value = self.object(choice::DELTA)?;
        let fields = match &self.fields {
            Walked::Indexed(choice) => Walked::Indexed(&choice.delta),
            Walked::Own(choice) => Walked::Own(choice.delta.clone()),
        };
        Some(DeltaView { source: self.source, value, fields })
    }

    /// `message`, if it is an object: the whole message so far, of a body or of a cumulative dialect.
    pub fn message(&self) -> Option<Message<'a>> {
        self.object(choice::MESSAGE).map(|value| Message { source: self.source, value })
    }

    /// `text`, if it is not empty (legacy completions).
    pub fn text(&self) -> Option<Text<'a>> {
        self.member(choice::TEXT)?.as_text().filter(|text| !text.is_empty())
    }

    /// `finish_reason` (or `finishReason`), unless it is null, empty or "None".
    #[inline]
    pub fn finish_reason(&self) -> Option<FinishReason<'a>> {
        index::finish_reason(|member| self.member(member)).map(FinishReason::of)
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

    /// `content_filter_results`, if it is an object, as raw JSON (Azure). Walks the choice.
    pub fn content_filter_results(&self) -> Option<Value<'a>> {
        self.get("content_filter_results").filter(|value| value.kind() == Kind::Object)
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

impl FinishKind {
    /// Its number in the C interface.
    pub const fn number(self) -> u32 {
        match self {
            FinishKind::Other => 1,
            FinishKind::Stop => 2,
            FinishKind::Length => 3,
            FinishKind::ToolCalls => 4,
            FinishKind::ContentFilter => 5,
            FinishKind::FunctionCall => 6,
            FinishKind::Error => 7,
        }
    }
}

impl<'a> FinishReason<'a> {
    pub(crate) fn of(text: Text<'a>) -> Self {
        FinishReason { text }
    }

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
