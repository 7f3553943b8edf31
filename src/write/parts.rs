//! The parts of a response: what a text belongs to, and the row of parts of the protocols that have one open at a time.

use super::calls::Calls;
use super::log::{Chain, Mark};
use crate::chat::{ApiError, FinishKind};
use crate::json::Text;

/// What a text is a part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Content,
    Reasoning,
    Refusal,
    /// The arguments of the call at this place of the table.
    Arguments(usize),
    FunctionName,
    FunctionArguments,
    Annotations,
}

/// Where a text that is written comes from.
#[derive(Clone, Copy)]
pub(super) enum Source<'t> {
    /// From the caller.
    Text(Text<'t>),
    /// From the log: the first record of the call at this place of the table.
    Waiting(usize),
}

impl<'t> Source<'t> {
    /// Returns the text behind its first `taken` raw bytes.
    #[inline(always)]
    pub(super) fn rest<'a>(self, memory: &'a [u8], calls: &Calls, taken: usize) -> Text<'a>
    where
        't: 'a,
    {
        let text = match self {
            Source::Text(text) => text,
            Source::Waiting(place) => {
                Text::verbatim(calls.get(place).waiting.first(memory).map_or(&b""[..], |(_, bytes)| bytes))
            }
        };
        if taken > 0 {
            text.behind(taken)
        } else {
            text
        }
    }
}

/// The part that is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Open {
    Nothing,
    Text,
    Refusal,
    Thinking,
    /// The call at this place of the table.
    Call(usize),
}

/// What is being written, in one event or several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Task {
    Nothing,
    /// The beginning of the stream.
    Begin,
    /// The beginning of a part.
    Open(Open),
    /// The end of the part that is open.
    Close,
    /// The end of the stream.
    End,
}

/// The state of the row of parts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Serial {
    pub(super) open: Open,
    /// Whether the signature of the open reasoning was written, so that no more of it can follow.
    pub(super) is_signed: bool,
    /// Whether a refusal was written.
    pub(super) refused: bool,
    /// The number of the open part, or of the next one.
    pub(super) index: u32,
    pub(super) task: Task,
    /// Why the response finished, and the word for it in Anthropic Messages.
    pub(super) reason: FinishKind,
    pub(super) stop: &'static str,
    pub(super) items: Items,
}

impl Serial {
    pub(super) const NEW: Serial = Serial {
        open: Open::Nothing,
        is_signed: false,
        refused: false,
        index: 0,
        task: Task::Nothing,
        reason: FinishKind::Stop,
        stop: "end_turn",
        items: Items::NONE,
    };

    /// Whether something that an earlier call began is not written to its end.
    #[inline(always)]
    pub(super) fn is_busy(&self) -> bool {
        self.task != Task::Nothing || self.items.is_busy()
    }
}

/// A range of the output: where it begins, and its length in bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Range {
    pub(super) from: Mark,
    pub(super) len: u64,
}

/// The items in the log.
#[derive(Clone, Copy, Debug)]
pub(super) struct Items {
    pub(super) output: Chain,
    /// Length of the output in bytes, with the item that is open, and without it.
    pub(super) len: u64,
    pub(super) closed: u64,
    /// The open item, its part, and the text of that. The length of each is, until its end, where it begins.
    pub(super) item: Range,
    pub(super) part: Range,
    pub(super) text: Range,
    /// The annotations of the open item, and their number.
    pub(super) notes: Chain,
    pub(super) note_count: u64,
    /// What is left of an event that repeats a range of the output, and the bytes behind that range.
    pub(super) body: Option<(Range, &'static str)>,
}

impl Items {
    pub(super) const NONE: Items = Items {
        output: Chain::NONE,
        len: 0,
        closed: 0,
        item: Range { from: Mark::START, len: 0 },
        part: Range { from: Mark::START, len: 0 },
        text: Range { from: Mark::START, len: 0 },
        notes: Chain::NONE,
        note_count: 0,
        body: None,
    };

    #[inline(always)]
    pub(super) fn is_busy(&self) -> bool {
        self.body.is_some()
    }
}

/// Returns the text that an error has in a protocol that demands one.
pub(super) fn error_message<'a>(error: &ApiError<'a>) -> Text<'a> {
    error.message().unwrap_or(Text::verbatim(b"the response broke off"))
}
