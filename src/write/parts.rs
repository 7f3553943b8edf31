//! The parts of a response: what a text belongs to, the bytes around it, and the row of parts of the protocols that have one
//! open at a time.

use super::log::{Mark, Tag};
use super::out::AFTER;
use crate::chat::FinishKind;

/// What a text belongs to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Part {
    #[default]
    Nothing,
    Content,
    Reasoning,
    /// Reasoning that is redacted.
    Redacted,
    Refusal,
    /// The call at this place of the table, and its arguments.
    Call(usize),
    FunctionName,
    FunctionArguments,
    Annotations,
}

/// The choice and the part that an event is about.
pub(super) type Of = (u32, Part);

/// The name of an event, and its data from behind the type (and the number, in Responses) on. In chat completions both
/// together are the data.
pub(super) type Event = [&'static str; 2];

/// How far a text, or a list of annotations, of the caller came that takes several events: what it is a part of, its length
/// in raw bytes, and how many of these were written.
pub(super) type Progress = (Of, usize, usize);

/// The event around the texts of a part, which lies in the lent memory behind the names.
#[derive(Clone, Copy, Debug)]
pub(super) struct Envelope {
    pub(super) of: Of,
    /// Whether it is right for the next event.
    pub(super) is_current: bool,
    /// Which texts make the present run, or 0.
    pub(super) run: u64,
    /// How many bytes are before the text, and where the number of the event ends, or 0.
    pub(super) len: usize,
    pub(super) number: usize,
    /// The bytes behind the text, and how many they are.
    pub(super) after: [u8; AFTER],
    pub(super) after_len: usize,
}

impl Envelope {
    pub(super) const NONE: Envelope = Envelope {
        of: (0, Part::Nothing),
        is_current: false,
        run: 0,
        len: 0,
        number: 0,
        after: [0; AFTER],
        after_len: 0,
    };
}

/// What is being written, in several steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Task {
    /// The beginning of the stream.
    Begin,
    /// The beginning of the part that is open.
    Open,
    /// The end of the part that is open.
    Close,
    /// The end of the stream.
    End,
}

/// A step of a task.
pub(super) enum Step {
    Event(Event),
    /// An event that has these parts of the output, and what is behind them.
    Repeat(Event, (Tag, Tag), &'static str),
    /// A record of the log.
    Keep(Tag, &'static str),
    /// Nothing, because this part does not need the step.
    Skip,
    /// The task is done.
    Done,
}

/// What is left of an event that repeats the output: from where on, up to where, which parts of it, and what is behind them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Body {
    pub(super) from: Mark,
    pub(super) end: u32,
    pub(super) tags: (Tag, Tag),
    pub(super) tail: &'static str,
}

/// The state of the row of parts.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Row {
    pub(super) open: Part,
    /// Whether the signature of the open reasoning was written, so that no more of it can follow.
    pub(super) is_signed: bool,
    /// Whether a refusal was written.
    pub(super) refused: bool,
    /// The number of the open part, or of the next one.
    pub(super) index: u32,
    pub(super) task: Option<Task>,
    /// How many steps of the task were taken.
    pub(super) step: u8,
    /// Why the response finished, and the word for it in Anthropic Messages.
    pub(super) reason: Option<FinishKind>,
    pub(super) stop: &'static str,
    /// Where the records of the open item begin, and the number of its annotations.
    pub(super) item: u32,
    pub(super) notes: u64,
    pub(super) body: Option<Body>,
}
