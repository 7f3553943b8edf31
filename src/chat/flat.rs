//! A chunk as a flat run of deltas.

use super::choice::ChoiceCursor;
use super::delta::PartsCursor;
use super::index::{self, choice, delta, ChoiceIndex, DeltaIndex};
use super::tool_call::CallCursor;
use super::{
    ApiError, Audio, Chunk, ContentPart, FinishReason, FunctionCall, Logprobs, Message, ReasoningDetails, Source,
    ToolCall, Usage,
};
use crate::json::{Kind, Text, Value};

/// One thing that a chunk brings.
#[derive(Clone, Debug)]
pub struct Delta<'a> {
    /// The index of the choice that it belongs to; 0 for usage and errors of the chunk as a whole.
    pub choice: u32,
    /// What it is.
    pub kind: DeltaKind<'a>,
}

/// What a delta brings. No text is empty.
///
/// A delta is read by itself. Some servers cut an escaped surrogate pair in two (`\ud83d` at the end of one chunk,
/// `\ude00` at the start of the next), repeat the role in each chunk, or name a tool call only once: to have that
/// joined and said once, give the deltas to a [`Tracker`](crate::track::Tracker), or use
/// [`Parser::feed`](crate::Parser::feed) or the assembler, which do.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum DeltaKind<'a> {
    /// The role of the author. Many providers repeat it in each chunk.
    Role(Text<'a>),
    /// Content; legacy `text` too.
    Content(Text<'a>),
    /// Reasoning, by whichever name it came first in: `reasoning_content`, `reasoning`, `reasoning_details`,
    /// `thinking`, `thought`, or a thinking part of the content.
    Reasoning(Text<'a>),
    /// A refusal.
    Refusal(Text<'a>),
    /// A fragment of a function call (deprecated form).
    FunctionCall(FunctionCall<'a>),
    /// A fragment of a tool call.
    ToolCall(ToolCall<'a>),
    /// A fragment of audio.
    Audio(Audio<'a>),
    /// Log probabilities of this chunk's tokens.
    Logprobs(Logprobs<'a>),
    /// The whole message so far, of a body or of a cumulative dialect. It replaces, and counts only if no other delta
    /// of its choice ever came.
    Message(Message<'a>),
    /// The choice finished.
    Finish(FinishReason<'a>),
    /// The choice failed.
    ChoiceError(ApiError<'a>),
    /// How many tokens were used so far.
    Usage(Usage<'a>),
    /// The API reported an error.
    Error(ApiError<'a>),
}

/// The deltas of a chunk: choice by choice, texts before the finish reason, usage and errors last.
#[derive(Clone)]
pub struct Deltas<'a> {
    chunk: Option<Chunk<'a>>,
    cursor: DeltaCursor,
}

impl<'a> Deltas<'a> {
    pub(crate) fn new(chunk: Chunk<'a>) -> Self {
        Deltas { chunk: Some(chunk), cursor: DeltaCursor::START }
    }

    pub(crate) fn none() -> Self {
        Deltas { chunk: None, cursor: DeltaCursor::START }
    }
}

impl<'a> Iterator for Deltas<'a> {
    type Item = Delta<'a>;

    #[inline]
    fn next(&mut self) -> Option<Delta<'a>> {
        self.cursor.next(self.chunk?)
    }
}

/// Which delta of a chunk comes next: offsets, plain data that can be kept while the chunk is not at hand.
#[derive(Clone, Debug)]
pub(crate) struct DeltaCursor {
    choices: ChoiceCursor,
    /// The choice at hand, if it is not the first: that one is in the chunk's index.
    own: Option<ChoiceIndex>,
    /// Its number.
    index: u32,
    delta: Parts,
    tail: Tail,
}

/// What is still to be given after the deltas of the choice at hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tail {
    Message,
    Logprobs,
    Finish,
    Error,
    NextChoice,
    Usage,
    ChunkError,
    End,
}

impl DeltaCursor {
    /// Before the first delta.
    pub(crate) const START: DeltaCursor =
        DeltaCursor { choices: ChoiceCursor::new(), own: None, index: 0, delta: Parts::NONE, tail: Tail::NextChoice };

    /// Goes before the first delta again, of another chunk.
    pub(crate) fn restart(&mut self) {
        self.choices = ChoiceCursor::new();
        self.own = None;
        self.index = 0;
        self.delta = Parts::NONE;
        self.tail = Tail::NextChoice;
    }

    /// Goes to the next choice.
    fn next_choice(&mut self, source: Source<'_>) -> Option<()> {
        let Source { payload, index } = source;
        self.own = self.choices.next(source)?;
        let fields = self.own.as_ref().unwrap_or(&index.first);
        let member = |member| index::member(index, payload, &fields.spans, member);
        self.index = member(choice::INDEX).and_then(index::index_number).unwrap_or(0);
        let has_delta = member(choice::DELTA).is_some_and(|value| value.kind() == Kind::Object);
        let legacy = legacy_text(member(choice::TEXT)).is_some();
        self.delta = Parts::new(if has_delta { fields.delta.spans.mask() } else { 0 }, legacy);
        Some(())
    }

    /// The next delta. It must be the same chunk at each call.
    pub(crate) fn next<'a>(&mut self, chunk: Chunk<'a>) -> Option<Delta<'a>> {
        let source = chunk.source;
        loop {
            if self.delta.any() {
                let indexed = &source.index.first;
                let fields = self.own.as_ref().unwrap_or(indexed);
                let text = || index::member(source.index, source.payload, &fields.spans, choice::TEXT);
                let legacy = if self.delta.legacy { legacy_text(text()) } else { None };
                let kind = match &self.own {
                    None => self.delta.next(source, &indexed.delta, Some(&indexed.delta), legacy),
                    Some(own) => self.delta.next(source, &own.delta, None, legacy),
                };
                if let Some(kind) = kind {
                    return Some(Delta { choice: self.index, kind });
                }
            }
            let fields = self.own.as_ref().unwrap_or(&source.index.first);
            let member = |member| index::member(source.index, source.payload, &fields.spans, member);
            let object = |place| member(place).filter(|value: &Value<'a>| value.kind() == Kind::Object);
            let (kind, next) = match self.tail {
                Tail::Message => {
                    let message = object(choice::MESSAGE).map(|value| DeltaKind::Message(Message { source, value }));
                    (message, Tail::Logprobs)
                }
                Tail::Logprobs => {
                    (object(choice::LOGPROBS).map(|value| DeltaKind::Logprobs(Logprobs::of(value))), Tail::Finish)
                }
                Tail::Finish => {
                    let text = index::finish_reason(member);
                    (text.map(|text| DeltaKind::Finish(FinishReason::of(text))), Tail::Error)
                }
                Tail::Error => {
                    let error = member(choice::ERROR).filter(|value| index::is_error(*value));
                    (error.map(|value| DeltaKind::ChoiceError(ApiError::of(value))), Tail::NextChoice)
                }
                Tail::NextChoice => {
                    self.tail = match self.next_choice(source) {
                        Some(()) => Tail::Message,
                        None => Tail::Usage,
                    };
                    continue;
                }
                Tail::Usage => {
                    self.index = 0;
                    (chunk.usage().map(DeltaKind::Usage), Tail::ChunkError)
                }
                Tail::ChunkError => (chunk.error().map(DeltaKind::Error), Tail::End),
                Tail::End => return None,
            };
            self.tail = next;
            if let Some(kind) = kind {
                return Some(Delta { choice: self.index, kind });
            }
        }
    }
}

/// The text of a legacy completion, if it says something.
fn legacy_text(value: Option<Value<'_>>) -> Option<Text<'_>> {
    value?.as_text().filter(|text| !text.is_empty())
}

/// What is still to be given of a `delta` or a `message`.
#[derive(Clone, Debug)]
struct Parts {
    /// Members that are there and were not looked at, by their numbers.
    mask: u32,
    /// Legacy text of the choice is due, unless there is content.
    legacy: bool,
    inner: Inner,
}

/// The members that reasoning may come in, best first.
const REASONING: u32 = 1 << delta::REASONING_CONTENT
    | 1 << delta::REASONING
    | 1 << delta::REASONING_DETAILS
    | 1 << delta::THINKING
    | 1 << delta::THOUGHT;

/// A member of which there may be several things to give.
#[derive(Clone, Debug)]
enum Inner {
    None,
    /// `reasoning_details`, from an offset.
    Details(usize),
    Parts(PartsCursor),
    Calls(CallCursor),
}

impl Parts {
    const NONE: Parts = Parts { mask: 0, legacy: false, inner: Inner::None };

    fn new(mask: u32, legacy: bool) -> Self {
        Parts { mask: mask & !(1 << delta::ANNOTATIONS), legacy, inner: Inner::None }
    }

    #[inline]
    fn any(&self) -> bool {
        self.mask != 0 || self.legacy || !matches!(self.inner, Inner::None)
    }

    /// Takes a member out of those to be looked at.
    fn take(&mut self, members: u32) -> bool {
        let there = self.mask & members != 0;
        self.mask &= !members;
        there
    }

    /// The next thing that it brings. `indexed` are the same fields, if they live as long as the chunk; `legacy` is the
    /// choice's legacy text, if it is due.
    fn next<'a>(
        &mut self,
        source: Source<'a>,
        fields: &DeltaIndex,
        indexed: Option<&'a DeltaIndex>,
        legacy: Option<Text<'a>>,
    ) -> Option<DeltaKind<'a>> {
        let value = |member| index::member(source.index, source.payload, &fields.spans, member);
        let text = |member| value(member).and_then(|value| value.as_text()).filter(|text| !text.is_empty());
        loop {
            let kind = match &mut self.inner {
                Inner::None => None,
                Inner::Details(at) => {
                    let mut items = ReasoningDetails::from(value(delta::REASONING_DETAILS), *at);
                    let text = items.find_map(|item| item.text());
                    *at = items.at();
                    text.map(DeltaKind::Reasoning)
                }
                Inner::Parts(parts) => {
                    value(delta::CONTENT).and_then(|array| parts.next(array)).map(|part| match part {
                        ContentPart::Text(text) => DeltaKind::Content(text),
                        ContentPart::Thinking(text) => DeltaKind::Reasoning(text),
                    })
                }
                Inner::Calls(calls) => calls.next(source, fields, indexed).map(DeltaKind::ToolCall),
            };
            if kind.is_some() {
                return kind;
            }
            self.inner = Inner::None;
            let kind = if self.take(1 << delta::ROLE) {
                text(delta::ROLE).map(DeltaKind::Role)
            } else if self.take(REASONING) {
                let named = text(delta::REASONING_CONTENT).or_else(|| text(delta::REASONING));
                let text = named.or_else(|| {
                    let mut details = ReasoningDetails::of(value(delta::REASONING_DETAILS));
                    let first = details.find_map(|item| item.text());
                    self.inner = Inner::Details(details.at());
                    first.or_else(|| text(delta::THINKING)).or_else(|| text(delta::THOUGHT))
                });
                text.map(DeltaKind::Reasoning)
            } else if self.take(1 << delta::CONTENT) || self.legacy {
                self.legacy = false;
                let content = value(delta::CONTENT).filter(|value| matches!(value.kind(), Kind::String | Kind::Array));
                match content {
                    Some(value) if value.kind() == Kind::Array => {
                        self.inner = Inner::Parts(PartsCursor::default());
                        continue;
                    }
                    Some(_) => text(delta::CONTENT).or(legacy),
                    None => legacy,
                }
                .map(DeltaKind::Content)
            } else if self.take(1 << delta::REFUSAL) {
                text(delta::REFUSAL).map(DeltaKind::Refusal)
            } else if self.take(1 << delta::FUNCTION_CALL) {
                value(delta::FUNCTION_CALL).and_then(FunctionCall::of).map(DeltaKind::FunctionCall)
            } else if self.take(1 << delta::TOOL_CALLS) {
                self.inner = Inner::Calls(CallCursor::new());
                continue;
            } else if self.take(1 << delta::AUDIO) {
                value(delta::AUDIO).and_then(Audio::of).map(DeltaKind::Audio)
            } else {
                return None;
            };
            if kind.is_some() {
                return kind;
            }
        }
    }
}

impl<'a> Message<'a> {
    /// What the message brings, flat, as the deltas of a stream would.
    pub fn deltas(&self) -> impl Iterator<Item = DeltaKind<'a>> {
        let view = self.view();
        let mut parts = Parts::new(view.as_ref().map_or(0, |view| view.fields.spans.mask()), false);
        core::iter::from_fn(move || {
            let view = view.as_ref()?;
            parts.next(view.source, &view.fields, None, None)
        })
    }
}
