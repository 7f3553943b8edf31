//! A chunk as a flat run of deltas.

use super::index::{choice, delta};
use super::{
    ApiError, Audio, Choice, Choices, Chunk, ContentPart, ContentParts, DeltaView, FinishReason, FunctionCall,
    Logprobs, Message, ReasoningDetails, ToolCall, ToolCalls, Usage,
};
use crate::json::Text;

/// One thing that a chunk brings.
#[derive(Clone)]
pub struct Delta<'a> {
    /// The index of the choice that it belongs to; 0 for usage and errors of the chunk as a whole.
    pub choice: u32,
    /// What it is.
    pub kind: DeltaKind<'a>,
}

/// What a delta brings. No text is empty.
#[derive(Clone)]
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
    choices: Option<Choices<'a>>,
    choice: Option<ChoiceDeltas<'a>>,
    stage: Stage,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Choices,
    Usage,
    Error,
    End,
}

impl<'a> Deltas<'a> {
    pub(crate) fn new(chunk: Chunk<'a>) -> Self {
        Deltas { chunk: Some(chunk), choices: Some(chunk.choices()), choice: None, stage: Stage::Choices }
    }

    pub(crate) fn none() -> Self {
        Deltas { chunk: None, choices: None, choice: None, stage: Stage::End }
    }
}

impl<'a> Iterator for Deltas<'a> {
    type Item = Delta<'a>;

    fn next(&mut self) -> Option<Delta<'a>> {
        loop {
            if let Some(choice) = &mut self.choice {
                if let Some(kind) = choice.next() {
                    return Some(Delta { choice: choice.index, kind });
                }
                self.choice = None;
            }
            match self.stage {
                Stage::Choices => match self.choices.as_mut().and_then(Iterator::next) {
                    Some(choice) => self.choice = Some(ChoiceDeltas::new(choice)),
                    None => self.stage = Stage::Usage,
                },
                Stage::Usage => {
                    self.stage = Stage::Error;
                    if let Some(usage) = self.chunk.and_then(|chunk| chunk.usage()) {
                        return Some(Delta { choice: 0, kind: DeltaKind::Usage(usage) });
                    }
                }
                Stage::Error => {
                    self.stage = Stage::End;
                    if let Some(error) = self.chunk.and_then(|chunk| chunk.error()) {
                        return Some(Delta { choice: 0, kind: DeltaKind::Error(error) });
                    }
                }
                Stage::End => return None,
            }
        }
    }
}

/// The deltas of one choice.
#[derive(Clone)]
struct ChoiceDeltas<'a> {
    choice: Choice<'a>,
    index: u32,
    view: Option<ViewDeltas<'a>>,
    parts: Parts,
}

/// What is still to be looked at: a bit for each part whose members are there.
#[derive(Clone, Copy)]
struct Parts(u32);

impl Parts {
    #[inline]
    fn of(there: impl IntoIterator<Item = bool>) -> Self {
        Parts(there.into_iter().enumerate().fold(0, |bits, (part, there)| bits | u32::from(there) << (part & 31)))
    }

    /// The number of the next one.
    #[inline]
    fn take(&mut self) -> Option<u32> {
        let part = self.0.trailing_zeros();
        self.0 &= self.0.wrapping_sub(1);
        (part < u32::BITS).then_some(part)
    }
}

impl<'a> ChoiceDeltas<'a> {
    fn new(choice: Choice<'a>) -> Self {
        let index = choice.index();
        let view = choice.delta();
        let text = choice.text().filter(|_| !view.as_ref().is_some_and(DeltaView::has_content));
        let view = match (view, text) {
            (None, None) => None,
            (view, text) => Some(ViewDeltas::new(view, text)),
        };
        let there = |member| choice.has(&[member]);
        let parts = [choice::MESSAGE, choice::LOGPROBS, choice::FINISH_REASON, choice::ERROR].map(there);
        ChoiceDeltas { choice, index, view, parts: Parts::of(parts) }
    }

    fn next(&mut self) -> Option<DeltaKind<'a>> {
        if let Some(view) = &mut self.view {
            if let Some(kind) = view.next() {
                return Some(kind);
            }
            self.view = None;
        }
        loop {
            let kind = match self.parts.take()? {
                0 => self.choice.message().map(DeltaKind::Message),
                1 => self.choice.logprobs().map(DeltaKind::Logprobs),
                2 => self.choice.finish_reason().map(DeltaKind::Finish),
                _ => self.choice.error().map(DeltaKind::ChoiceError),
            };
            if kind.is_some() {
                return kind;
            }
        }
    }
}

/// The deltas of one `delta` or `message`.
#[derive(Clone)]
pub(crate) struct ViewDeltas<'a> {
    view: Option<DeltaView<'a>>,
    /// Legacy text of the choice.
    text: Option<Text<'a>>,
    parts: Parts,
    inner: Inner<'a>,
}

#[derive(Clone)]
enum Inner<'a> {
    None,
    Details(ReasoningDetails<'a>),
    Parts(ContentParts<'a>),
    Calls(ToolCalls<'a>),
}

impl<'a> ViewDeltas<'a> {
    pub(crate) fn new(view: Option<DeltaView<'a>>, text: Option<Text<'a>>) -> Self {
        let parts = view.as_ref().map_or(Parts(0), |view| {
            let there = |members: &[usize]| view.fields.spans.any(members);
            Parts::of([
                there(&[delta::ROLE]),
                there(&[delta::REASONING_CONTENT, delta::REASONING, delta::REASONING_DETAILS]),
                there(&[delta::THINKING, delta::THOUGHT]),
                there(&[delta::CONTENT]) || text.is_some(),
                there(&[delta::REFUSAL]),
                there(&[delta::FUNCTION_CALL]),
                view.fields.calls > 0,
                there(&[delta::AUDIO]),
            ])
        });
        ViewDeltas { view, text, parts, inner: Inner::None }
    }
}

impl<'a> Iterator for ViewDeltas<'a> {
    type Item = DeltaKind<'a>;

    fn next(&mut self) -> Option<DeltaKind<'a>> {
        loop {
            let kind = match &mut self.inner {
                Inner::None => None,
                Inner::Details(texts) => texts.next().map(DeltaKind::Reasoning),
                Inner::Parts(parts) => parts.next().map(|part| match part {
                    ContentPart::Text(text) => DeltaKind::Content(text),
                    ContentPart::Thinking(text) => DeltaKind::Reasoning(text),
                }),
                Inner::Calls(calls) => calls.next().map(DeltaKind::ToolCall),
            };
            if kind.is_some() {
                return kind;
            }
            self.inner = Inner::None;
            let Some(view) = &self.view else {
                return self.text.take().map(DeltaKind::Content);
            };
            let kind = match self.parts.take()? {
                0 => view.role().map(DeltaKind::Role),
                1 => {
                    let text = view.reasoning_content().or_else(|| view.reasoning());
                    if text.is_none() {
                        self.inner = Inner::Details(view.reasoning_details());
                    }
                    text.map(DeltaKind::Reasoning)
                }
                2 => {
                    let thinking = view.thinking().filter(|_| {
                        let named = view.reasoning_content().or_else(|| view.reasoning());
                        named.is_none() && view.reasoning_details().next().is_none()
                    });
                    thinking.map(DeltaKind::Reasoning)
                }
                3 => {
                    let text = view.content().or_else(|| self.text.take());
                    if text.is_none() {
                        self.inner = Inner::Parts(view.content_parts());
                    }
                    text.map(DeltaKind::Content)
                }
                4 => view.refusal().map(DeltaKind::Refusal),
                5 => view.function_call().map(DeltaKind::FunctionCall),
                6 => {
                    self.inner = Inner::Calls(view.tool_calls());
                    None
                }
                _ => view.audio().map(DeltaKind::Audio),
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
        ViewDeltas::new(self.view(), None)
    }
}
