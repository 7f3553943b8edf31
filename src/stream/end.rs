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
    /// [`End::body`] is set for both.
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
/// Before [`Parser::finish`](super::Parser::finish) it is the verdict as if the stream ended now, without what is pending.
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
    /// How many messages so far were other than what was reported of the ones before, as far as a tracker saw them
    /// ([`Quirk::ReplacedMessage`](crate::Quirk::ReplacedMessage)). The verdict does not count them.
    pub replaced: u32,
    /// How many bytes were read.
    pub offset: u64,
    /// Payloads are not looked into: any event stream will do.
    opaque: bool,
}

impl End {
    /// Whether the response is whole: `[DONE]` came, or every choice has a finish reason, or it is a whole body; nothing was
    /// malformed, too long or replaced; and the stream did not end inside an event. Of a stream whose payloads are not looked
    /// into ([`Payload::Opaque`](super::Payload::Opaque)): it ended between events, and nothing was too long.
    ///
    /// Ask when the stream has [ended](super::Parser::finish): what it ended inside of is not known before.
    ///
    /// What a [`Tracker`](crate::track::Tracker) or an assembler left out because its table was full is not known here: see
    /// [`Stop`](super::Stop) and [`Handler::limit`](super::Handler::limit), or what the assembler answered.
    ///
    /// ```
    /// let ended = |mut stream: &[u8]| {
    ///     let mut parser = deltawire::Parser::new([0; 512]);
    ///     while parser.next(&mut stream)?.is_some() {}
    ///     while parser.finish()?.is_some() {}
    ///     Ok::<_, deltawire::Error>(parser.end())
    /// };
    /// assert!(ended(b"data: {\"choices\":[]}\n\ndata: [DONE]\n\n")?.is_complete());
    /// assert!(!ended(b"data: {\"choices\":[]}\n\n")?.is_complete());
    /// let end = ended(b"data: {\"choices\":[}\n\ndata: [DONE]\n\n")?;
    /// assert_eq!((end.verdict, end.malformed, end.is_complete()), (deltawire::Verdict::Done, 1, false));
    /// # Ok::<(), deltawire::Error>(())
    /// ```
    pub fn is_complete(&self) -> bool {
        let came_to_its_end = match self.verdict {
            Verdict::Done | Verdict::Finished | Verdict::Body => true,
            Verdict::OtherProtocol => self.opaque,
            Verdict::Empty | Verdict::NotAStream | Verdict::ApiError | Verdict::Truncated => false,
        };
        let is_lost = self.malformed > 0 || self.too_long > 0 || self.replaced > 0;
        came_to_its_end && self.pending == Pending::Nothing && !is_lost
    }
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
    pub(crate) fn end(&self, offset: u64, opaque: bool) -> End {
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
            replaced: 0,
            offset,
            opaque,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{End, Facts, Pending, Verdict};

    /// Of nothing but what `note` notes.
    fn end(opaque: bool, note: impl FnOnce(&mut Facts)) -> End {
        let mut facts = Facts { lines: true, fields: true, foreign: opaque, ..Facts::default() };
        note(&mut facts);
        facts.end(0, opaque)
    }

    type Note = fn(&mut Facts);

    /// Of each verdict one, and whether that is complete where nothing was lost.
    const VERDICTS: [(Note, Verdict, bool); 8] = [
        (|facts| facts.lines = false, Verdict::Empty, false),
        (|facts| facts.fields = false, Verdict::NotAStream, false),
        (|facts| (facts.error, facts.done) = (true, true), Verdict::ApiError, false),
        (|facts| facts.done = true, Verdict::Done, true),
        (|facts| (facts.seen, facts.finished) = (one(), one()), Verdict::Finished, true),
        (|facts| facts.body = true, Verdict::Body, true),
        (|facts| facts.foreign = true, Verdict::OtherProtocol, false),
        (|facts| facts.chat = true, Verdict::Truncated, false),
    ];

    fn one() -> super::ChoiceSet {
        let mut set = super::ChoiceSet::EMPTY;
        set.insert(0);
        set
    }

    #[test]
    fn what_is_complete_came_to_its_end() {
        for (note, verdict, complete) in VERDICTS {
            let end = end(false, note);
            assert_eq!((end.verdict, end.is_complete()), (verdict, complete));
        }
        let events = end(true, |_| {});
        assert_eq!((events.verdict, events.is_complete()), (Verdict::OtherProtocol, true));
        let nothing = end(true, |facts| facts.lines = false);
        assert_eq!((nothing.verdict, nothing.is_complete()), (Verdict::Empty, false));
    }

    #[test]
    fn what_lost_something_is_not_complete() {
        let losses: [Note; 4] = [
            |facts| facts.malformed = 1,
            |facts| facts.too_long = 1,
            |facts| facts.pending = Pending::Event,
            |facts| facts.pending = Pending::Json,
        ];
        for lose in losses {
            for (note, verdict, _) in VERDICTS.into_iter().filter(|(.., complete)| *complete) {
                let end = end(false, |facts| {
                    note(facts);
                    lose(facts);
                });
                assert_eq!((end.verdict, end.is_complete()), (verdict, false));
            }
            assert!(!end(true, lose).is_complete());
        }
    }
}
