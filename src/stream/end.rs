//! How a stream ended: the verdict and its facts.

use crate::chat::index::ChoiceSet;
use core::fmt;

/// What became of a stream, in one word. The first that holds, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Verdict {
    /// No byte came, or blank lines only.
    Empty,
    /// What came is no event stream, and no JSON either.
    NotAStream,
    /// The API reported an error, in whatever place.
    ApiError,
    /// `[DONE]` came.
    Done,
    /// Every choice that was seen has a finish reason.
    Finished,
    /// A whole JSON body came instead of a stream, without a finish reason; with one it is [`Finished`](Verdict::Finished).
    /// [`End::body`] tells of both.
    Body,
    /// A stream of another protocol: events, none of them a chunk.
    OtherProtocol,
    /// The stream was cut: no `[DONE]`, and a choice without a finish reason, or none at all.
    Truncated,
}

impl Verdict {
    /// The verdict in words.
    pub const fn text(self) -> &'static str {
        match self {
            Verdict::Empty => "empty: nothing came",
            Verdict::NotAStream => "not an event stream",
            Verdict::ApiError => "the API reported an error",
            Verdict::Done => "done",
            Verdict::Finished => "finished, without [DONE]",
            Verdict::Body => "a whole JSON body instead of a stream",
            Verdict::OtherProtocol => "an event stream of another protocol",
            Verdict::Truncated => "truncated: the stream was cut",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

/// What was left when the stream ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Pending {
    /// Nothing: the stream ended between events.
    #[default]
    Nothing,
    /// An event that was cut, or that the standard's framing drops for want of a blank line.
    Event,
    /// A raw JSON value that was cut.
    Json,
}

/// The verdict, with its facts.
///
/// Before [`Parser::finish`](super::Parser::finish) it tells what the verdict would be if the stream ended now, leaving
/// out what is pending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct End {
    /// The verdict.
    pub verdict: Verdict,
    /// `[DONE]` came.
    pub done: bool,
    /// How many choices were seen, by their indexes. All from 127 on count as one.
    pub choices_seen: u32,
    /// How many of them have a finish reason.
    pub choices_finished: u32,
    /// The API reported an error: in the stream, in a choice, as a finish reason or as a body.
    pub api_error: bool,
    /// A JSON body with a message came instead of a stream.
    pub body: bool,
    /// What was left over.
    pub pending: Pending,
    /// How many payloads, or rests of payloads, could not be read. The verdict does not count them.
    pub malformed: u32,
    /// How many events and comments were over a limit and discarded. The verdict does not count them.
    pub too_long: u32,
    /// How many bytes were read.
    pub offset: u64,
}

/// What the machine notes on the way.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    /// A line that is not blank came.
    pub(crate) lines: bool,
    /// A field of an event stream came, or a comment.
    pub(crate) fields: bool,
    /// How many raw JSON values came.
    pub(crate) raw_values: u32,
    pub(crate) done: bool,
    pub(crate) error: bool,
    pub(crate) chat: bool,
    pub(crate) body: bool,
    /// An event came that is no chunk: JSON, or with a name.
    pub(crate) foreign: bool,
    pub(crate) seen: ChoiceSet,
    pub(crate) finished: ChoiceSet,
    pub(crate) pending: Pending,
    pub(crate) malformed: u32,
    pub(crate) too_long: u32,
}

impl Facts {
    pub(crate) fn end(&self, offset: u64) -> End {
        let verdict = if !self.lines {
            Verdict::Empty
        } else if !self.fields && self.raw_values == 0 && !self.done && self.pending != Pending::Json {
            Verdict::NotAStream
        } else if self.error {
            Verdict::ApiError
        } else if self.done {
            Verdict::Done
        } else if !self.seen.is_empty() && self.seen == self.finished {
            Verdict::Finished
        } else if self.body {
            Verdict::Body
        } else if self.foreign && !self.chat && self.pending == Pending::Nothing {
            Verdict::OtherProtocol
        } else {
            Verdict::Truncated
        };
        End {
            verdict,
            done: self.done,
            choices_seen: self.seen.len(),
            choices_finished: self.finished.len(),
            api_error: self.error,
            body: self.body,
            pending: self.pending,
            malformed: self.malformed,
            too_long: self.too_long,
            offset,
        }
    }
}
