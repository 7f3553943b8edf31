//! A chunk as a flat run of deltas.

use super::choice::{choice_at, ChoiceCursor};
use super::delta::PartsCursor;
use super::index::{self, choice, delta, ChoiceIndex, DeltaIndex, Index};
use super::tool_call::CallCursor;
use super::{
    ApiError, Audio, Chunk, ContentPart, DeltaView, FinishReason, FunctionCall, Logprobs, Message, ReasoningDetails,
    Source, ToolCall, Usage,
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
    payload: &'a [u8],
    /// None: it is no chunk.
    index: Option<&'a Index>,
    cursor: DeltaCursor,
}

impl<'a> Deltas<'a> {
    #[inline(always)]
    pub(crate) fn new(Source { payload, index }: Source<'a>) -> Self {
        Deltas { payload, index: Some(index), cursor: DeltaCursor::of(index) }
    }

    pub(crate) fn none() -> Self {
        Deltas { payload: &[], index: None, cursor: DeltaCursor::END }
    }
}

impl<'a> Iterator for Deltas<'a> {
    type Item = Delta<'a>;

    #[inline(always)]
    fn next(&mut self) -> Option<Delta<'a>> {
        let Deltas { payload, index, cursor } = self;
        cursor.next(payload, (*index)?)
    }
}

/// What a choice or a chunk may bring, a bit each, in the order in which it is given: the lowest first, and before all of
/// them more of what came last.
const MORE: u32 = 1;
const ROLE: u32 = 1 << 1;
const REASONING: u32 = 1 << 2;
const CONTENT: u32 = 1 << 3;
const REFUSAL: u32 = 1 << 4;
const FUNCTION_CALL: u32 = 1 << 5;
const TOOL_CALLS: u32 = 1 << 6;
const AUDIO: u32 = 1 << 7;
const MESSAGE: u32 = 1 << 8;
const LOGPROBS: u32 = 1 << 9;
const FINISH: u32 = 1 << 10;
const CHOICE_ERROR: u32 = 1 << 11;
const NEXT_CHOICE: u32 = 1 << 12;
const USAGE: u32 = 1 << 13;
pub(super) const ERROR: u32 = 1 << 14;

/// What the chunk as a whole may bring.
pub(super) fn due_of_chunk(index: &Index, payload: &[u8]) -> u32 {
    use index::top;
    let object = |member| index.top(payload, member).is_some_and(|value| value.kind() == Kind::Object);
    let error = index.facts.error_is_whole || index.top(payload, top::ERROR).is_some_and(index::is_error);
    let mut due = if index.choices > 1 { NEXT_CHOICE } else { 0 };
    if (index.top.has(top::USAGE) && object(top::USAGE)) || (index.top.has(top::X_GROQ) && object(top::X_GROQ)) {
        due |= USAGE;
    }
    if error {
        due |= ERROR;
    }
    due
}

/// What a choice may bring, and its index as a number. This depends on members that are there and on their kinds; whether
/// a text is empty shows when it is read.
pub(super) fn due(index: &Index, fields: &ChoiceIndex, payload: &[u8]) -> (u32, u32) {
    let member = |member| index::member(index, payload, &fields.spans, member);
    let object = |place| member(place).is_some_and(|value: Value<'_>| value.kind() == Kind::Object);
    let number = member(choice::INDEX).and_then(index::index_number).unwrap_or(0);
    let mut due = 0;
    if object(choice::DELTA) {
        due = due_of_delta(index, &fields.delta, payload);
    }
    let here = fields.spans.mask();
    let mut put = |member: usize, bit: u32, says: &dyn Fn() -> bool| {
        if here >> (member & 31) & 1 != 0 && says() {
            due |= bit;
        }
    };
    put(choice::TEXT, CONTENT, &|| true);
    put(choice::MESSAGE, MESSAGE, &|| object(choice::MESSAGE));
    put(choice::LOGPROBS, LOGPROBS, &|| object(choice::LOGPROBS));
    put(choice::FINISH_REASON, FINISH, &|| index::finish_reason(member).is_some());
    put(choice::FINISH_CAMEL, FINISH, &|| index::finish_reason(member).is_some());
    put(choice::ERROR, CHOICE_ERROR, &|| member(choice::ERROR).is_some_and(index::is_error));
    (due, number)
}

/// What a `delta` or a `message` may bring.
fn due_of_delta(index: &Index, fields: &DeltaIndex, payload: &[u8]) -> u32 {
    let mut due = 0;
    let mut rest = fields.spans.mask() & !(1 << delta::ANNOTATIONS);
    while rest != 0 {
        let member = rest.trailing_zeros() as usize;
        rest &= rest - 1;
        let value = index::member(index, payload, &fields.spans, member);
        if value.is_some_and(|value| value.is_null()) {
            continue;
        }
        due |= match member {
            delta::ROLE => ROLE,
            delta::CONTENT => CONTENT,
            delta::REFUSAL => REFUSAL,
            delta::FUNCTION_CALL => FUNCTION_CALL,
            delta::TOOL_CALLS => TOOL_CALLS,
            delta::AUDIO => AUDIO,
            _ => REASONING,
        };
    }
    due
}

/// Which delta of a chunk comes next: offsets, plain data that can be kept while the chunk is not at hand.
///
/// It is small, because it is made for each chunk. Of a choice that is not the first it knows where that begins: each
/// member that it has is found by walking it once more.
#[derive(Clone, Debug)]
pub(crate) struct DeltaCursor {
    /// What is still to be looked at of the choice at hand and of the chunk.
    due: u32,
    /// The number of the choice at hand.
    number: u32,
    /// Where the choice at hand begins, if it is not the first: that one is in the chunk's index.
    further: Option<usize>,
    choices: ChoiceCursor,
    /// More of the member that was looked at last.
    inner: Inner,
}

/// A member of which there may be several things to give.
#[derive(Clone, Debug)]
enum Inner {
    None,
    /// `reasoning_details`: where it lies, and how much of it was given.
    Details(Range, usize),
    /// `content`: where it lies.
    Parts(Range, PartsCursor),
    Calls(CallCursor),
}

/// Where a value lies in the payload.
#[derive(Clone, Copy, Debug)]
struct Range {
    start: usize,
    end: usize,
}

impl Range {
    fn of(payload: &[u8], value: Value<'_>) -> Self {
        Range { start: index::start_of(payload, value), end: index::end_of(payload, value) }
    }

    fn value(self, payload: &[u8]) -> Value<'_> {
        Value::from_raw(payload.get(self.start..self.end).unwrap_or(b"null"))
    }
}

impl DeltaCursor {
    /// Behind the last delta.
    pub(crate) const END: DeltaCursor =
        DeltaCursor { due: 0, number: 0, further: None, choices: ChoiceCursor::FIRST_GIVEN, inner: Inner::None };

    /// Before the first delta of the chunk with this index.
    #[inline]
    pub(crate) fn of(index: &Index) -> Self {
        let Index { due, number, .. } = *index;
        DeltaCursor { due, number, further: None, choices: ChoiceCursor::FIRST_GIVEN, inner: Inner::None }
    }

    /// The next delta. It must be the same chunk at each call.
    #[inline(always)]
    pub(crate) fn next<'a>(&mut self, payload: &'a [u8], index: &'a Index) -> Option<Delta<'a>> {
        if self.due == 0 {
            return None;
        }
        // Nearly always the content of the first choice.
        if self.due & (MORE | ROLE | REASONING | CONTENT) == CONTENT && self.further.is_none() {
            let content = index::member(index, payload, &index.first.delta.spans, delta::CONTENT);
            if let Some(text) = content.and_then(|value| value.as_text()).filter(|text| !text.is_empty()) {
                self.due ^= CONTENT;
                return Some(Delta { choice: self.number, kind: DeltaKind::Content(text) });
            }
        }
        self.next_of_any(Source { payload, index })
    }

    #[inline(never)]
    fn next_of_any<'a>(&mut self, source: Source<'a>) -> Option<Delta<'a>> {
        while self.due != 0 {
            let bit = self.due & self.due.wrapping_neg();
            let kind = if bit == MORE {
                self.inner.next(source)
            } else {
                self.due ^= bit;
                self.look(source, bit)
            };
            // More of the same comes before all others.
            let more = !matches!(self.inner, Inner::None) && (bit != MORE || kind.is_some());
            self.due = self.due & !MORE | u32::from(more);
            if !more {
                self.inner = Inner::None;
            }
            if let Some(kind) = kind {
                return Some(Delta { choice: self.number, kind });
            }
        }
        None
    }

    /// Looks at what one bit stands for.
    fn look<'a>(&mut self, source: Source<'a>, bit: u32) -> Option<DeltaKind<'a>> {
        let chunk = Chunk { source, name: b"" };
        match bit {
            NEXT_CHOICE => {
                self.next_choice(source);
                None
            }
            USAGE => {
                self.number = 0;
                chunk.usage().map(DeltaKind::Usage)
            }
            ERROR => {
                self.number = 0;
                chunk.error().map(DeltaKind::Error)
            }
            _ => {
                let first = &source.index.first;
                match self.further {
                    None => self.look_at(source, first, Some(&first.delta), bit),
                    Some(start) => self.look_at(source, &choice_at(source.payload, start), None, bit),
                }
            }
        }
    }

    /// The same in the choice at hand. `indexed` are the fields of its delta, if they live as long as the chunk.
    fn look_at<'a>(
        &mut self,
        source: Source<'a>,
        fields: &ChoiceIndex,
        indexed: Option<&'a DeltaIndex>,
        bit: u32,
    ) -> Option<DeltaKind<'a>> {
        let member = |member| index::member(source.index, source.payload, &fields.spans, member);
        match bit {
            MESSAGE => member(choice::MESSAGE).map(|value| DeltaKind::Message(Message { source, value })),
            LOGPROBS => member(choice::LOGPROBS).map(|value| DeltaKind::Logprobs(Logprobs::of(value))),
            FINISH => index::finish_reason(member).map(|text| DeltaKind::Finish(FinishReason::of(text))),
            CHOICE_ERROR => member(choice::ERROR).map(|value| DeltaKind::ChoiceError(ApiError::of(value))),
            CONTENT => {
                let legacy = legacy_text(member(choice::TEXT));
                let has_delta = member(choice::DELTA).is_some_and(|value| value.kind() == Kind::Object);
                content(source, has_delta.then_some(&fields.delta), legacy, &mut self.inner)
            }
            _ => part(source, &fields.delta, indexed, bit, &mut self.inner),
        }
    }

    /// Goes to the next choice.
    fn next_choice(&mut self, source: Source<'_>) {
        let Some((own, start)) = self.choices.next(source).flatten() else { return };
        let (due, number) = due(source.index, &own, source.payload);
        (self.further, self.number) = (Some(start), number);
        self.due |= due;
        if self.choices.has_more(source.index) {
            self.due |= NEXT_CHOICE;
        }
    }
}

/// The text of a legacy completion, if it says something.
fn legacy_text(value: Option<Value<'_>>) -> Option<Text<'_>> {
    value?.as_text().filter(|text| !text.is_empty())
}

fn member_text<'a>(source: Source<'a>, fields: &DeltaIndex, member: usize) -> Option<Text<'a>> {
    let value = index::member(source.index, source.payload, &fields.spans, member);
    value.and_then(|value| value.as_text()).filter(|text| !text.is_empty())
}

/// The content of a `delta` or a `message`, or the legacy text where it says nothing. `inner` becomes what more there is.
fn content<'a>(
    source: Source<'a>,
    fields: Option<&DeltaIndex>,
    legacy: Option<Text<'a>>,
    inner: &mut Inner,
) -> Option<DeltaKind<'a>> {
    let value = fields.and_then(|fields| index::member(source.index, source.payload, &fields.spans, delta::CONTENT));
    if let Some(array) = value.filter(|value| value.kind() == Kind::Array) {
        *inner = Inner::Parts(Range::of(source.payload, array), PartsCursor::default());
        return inner.next(source);
    }
    let text = fields.and_then(|fields| member_text(source, fields, delta::CONTENT));
    text.or(legacy).map(DeltaKind::Content)
}

/// What another member, or one of those for reasoning, brings. `indexed` are the same fields, if they live as long as the
/// chunk; `inner` becomes what more there is.
fn part<'a>(
    source: Source<'a>,
    fields: &DeltaIndex,
    indexed: Option<&'a DeltaIndex>,
    bit: u32,
    inner: &mut Inner,
) -> Option<DeltaKind<'a>> {
    let value = |member| index::member(source.index, source.payload, &fields.spans, member);
    let text = |member| member_text(source, fields, member);
    match bit {
        ROLE => text(delta::ROLE).map(DeltaKind::Role),
        REFUSAL => text(delta::REFUSAL).map(DeltaKind::Refusal),
        FUNCTION_CALL => value(delta::FUNCTION_CALL).and_then(FunctionCall::of).map(DeltaKind::FunctionCall),
        AUDIO => value(delta::AUDIO).and_then(Audio::of).map(DeltaKind::Audio),
        TOOL_CALLS => {
            let mut calls = CallCursor::new(fields.calls);
            let first = calls.first(source, fields, indexed);
            if calls.has_more() {
                *inner = Inner::Calls(calls);
            }
            first.map(DeltaKind::ToolCall)
        }
        REASONING => {
            let text = text(delta::REASONING_CONTENT).or_else(|| text(delta::REASONING)).or_else(|| {
                let array = value(delta::REASONING_DETAILS);
                let mut details = ReasoningDetails::of(array);
                let first = details.find_map(|item| item.text());
                if let Some(array) = array {
                    *inner = Inner::Details(Range::of(source.payload, array), details.at());
                }
                first.or_else(|| text(delta::THINKING)).or_else(|| text(delta::THOUGHT))
            });
            text.map(DeltaKind::Reasoning)
        }
        _ => None,
    }
}

impl Inner {
    /// The next thing of a member that has several to give.
    fn next<'a>(&mut self, source: Source<'a>) -> Option<DeltaKind<'a>> {
        match self {
            Inner::None => None,
            Inner::Details(array, at) => {
                let mut items = ReasoningDetails::from(Some(array.value(source.payload)), *at);
                let text = items.find_map(|item| item.text());
                *at = items.at();
                text.map(DeltaKind::Reasoning)
            }
            Inner::Parts(array, parts) => parts.next(array.value(source.payload)).map(|part| match part {
                ContentPart::Text(text) => DeltaKind::Content(text),
                ContentPart::Thinking(text) => DeltaKind::Reasoning(text),
            }),
            Inner::Calls(calls) => calls.further(source).map(DeltaKind::ToolCall),
        }
    }
}

impl<'a> Message<'a> {
    /// What the message brings, flat, as the deltas of a stream would.
    pub fn deltas(&self) -> impl Iterator<Item = DeltaKind<'a>> {
        let view = self.view();
        let mut due =
            view.as_ref().map_or(0, |view| due_of_delta(view.source.index, &view.fields, view.source.payload));
        let mut inner = Inner::None;
        core::iter::from_fn(move || {
            let DeltaView { source, fields, .. } = view.as_ref()?;
            loop {
                if let Some(kind) = inner.next(*source) {
                    return Some(kind);
                }
                inner = Inner::None;
                if due == 0 {
                    return None;
                }
                let bit = due & due.wrapping_neg();
                due ^= bit;
                let kind = match bit {
                    CONTENT => content(*source, Some(fields), None, &mut inner),
                    _ => part(*source, fields, None, bit, &mut inner),
                };
                if kind.is_some() {
                    return kind;
                }
            }
        })
    }
}
