//! The parts of a response: what a text belongs to, the bytes around it, and the row of parts of the protocols that have one
//! open at a time.

use super::log::{Chain, Mark};
use super::out::AFTER;
use crate::chat::FinishKind;

/// What a text is a part of.
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

/// How far a text, or a list of annotations, of the caller came that takes several events: its choice and its part, its
/// length in raw bytes, and how many of these were written.
pub(super) type Progress = (u32, Part, usize, usize);

/// The bytes around a text, which are written once for all events of a part.
#[derive(Clone, Copy, Debug)]
pub(super) struct Envelope {
    pub(super) choice: u32,
    pub(super) part: Part,
    /// Whether the next event has these bytes.
    pub(super) is_current: bool,
    /// Which texts make the present run, or 0.
    pub(super) run: u64,
    /// Where the bytes before the text begin in the lent memory, how many they are, and where the number of the event ends,
    /// or 0.
    pub(super) start: usize,
    pub(super) len: usize,
    pub(super) number: usize,
    /// The bytes behind the text, and how many they are.
    pub(super) after: [u8; AFTER],
    pub(super) after_len: usize,
}

impl Envelope {
    pub(super) const NONE: Envelope = Envelope {
        choice: 0,
        part: Part::Nothing,
        is_current: false,
        run: 0,
        start: 0,
        len: 0,
        number: 0,
        after: [0; AFTER],
        after_len: 0,
    };
}

/// What is being written, in one event or several.
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

/// The state of the row of parts.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Serial {
    pub(super) open: Part,
    /// Whether the signature of the open reasoning was written, so that no more of it can follow.
    pub(super) is_signed: bool,
    /// Whether a refusal was written.
    pub(super) refused: bool,
    /// The number of the open part, or of the next one.
    pub(super) index: u32,
    pub(super) task: Option<Task>,
    /// Why the response finished, and the word for it in Anthropic Messages.
    pub(super) reason: Option<FinishKind>,
    pub(super) stop: &'static str,
    pub(super) items: Items,
}

/// A range of the output: where it begins, and its length in bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Range {
    pub(super) from: Mark,
    pub(super) len: u64,
}

impl Range {
    /// Ends a range whose length is, until then, where it begins.
    pub(super) fn end(&mut self, at: u64) {
        self.len = at.saturating_sub(self.len);
    }
}

/// The items in the log.
#[derive(Clone, Copy, Debug, Default)]
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
