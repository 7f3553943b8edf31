//! How a stream ended: the verdict and its facts.

use super::media::{Media, Sniff};
use crate::chat::index::ChoiceSet;
use crate::dialect::Protocol;
use core::fmt;

/// The payload that ends a response.
pub(super) const DONE: &[u8] = b"[DONE]";

/// What became of a stream, in one word: the first that applies, in the order of the numbers, which are those of the C
/// interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
#[non_exhaustive]
pub enum Verdict {
    /// Nothing came, or blanks only, or nothing but `[DONE]`.
    Empty = 1,
    /// The response is no event stream, and no JSON either. [`End::media`] is what it is instead.
    NotAStream = 2,
    /// The API reported an error, in whatever place.
    ApiError = 3,
    /// `[DONE]` came, and a chunk; or the event that ends a response of another protocol: `response.completed`,
    /// `response.incomplete`, `message_stop`. `Done` does not mean complete: ask [`End::is_complete`].
    Done = 4,
    /// No such end came, but every choice that was seen has a finish reason. So ends every stream of Gemini.
    Finished = 5,
    /// A whole JSON body came instead of a stream, without a finish reason; with one it is [`Finished`](Verdict::Finished).
    /// [`End::body`] is set for both. A body has a message, or its `object` is that of a whole answer: `chat.completion`,
    /// `text_completion`.
    Body = 6,
    /// Another whole JSON value: a list of models, an embedding, a number, choices that are null.
    JsonAnswer = 7,
    /// A stream of a protocol that is not read. [`End::protocol`] names it.
    OtherProtocol = 8,
    /// The stream ended between events, without an end that counts as `Done` or `Finished`, and something was too long,
    /// malformed or left out. `Done` and `Finished` can lose parts too: ask [`End::is_complete`].
    Lost = 9,
    /// The stream was cut: no `[DONE]`, and a choice without a finish reason, or none at all.
    Truncated = 10,
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
            Verdict::JsonAnswer => "a JSON value that is no completion",
            Verdict::OtherProtocol => "an event stream of another protocol",
            Verdict::Lost => "lost: parts of the stream could not be read",
            Verdict::Truncated => "truncated: the stream was cut",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

/// What was left when the stream ended: whatever began and did not end. Nothing is emitted for it; its bytes are in the last
/// [`Frame`](super::Frame). Of what is [no event stream](Verdict::NotAStream) no line, event or JSON began: nothing is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[repr(u8)]
#[non_exhaustive]
pub enum Pending {
    /// Nothing: the stream ended between events.
    #[default]
    Nothing = 0,
    /// An event that was cut, or that has no blank line and is not whole JSON.
    Event = 1,
    /// A raw JSON value that was cut.
    Json = 2,
    /// A line that was cut, outside of an event: `dat`, `data: `, `: pin`.
    Line = 3,
}

/// The verdict, with its facts.
///
/// Before [`Parser::finish`](super::Parser::finish) it is the verdict as if the stream ended now, without what is pending.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct End {
    /// The verdict.
    pub verdict: Verdict,
    /// What came instead of an event stream, if the verdict is [`NotAStream`](Verdict::NotAStream).
    pub media: Option<Media>,
    /// With [`OtherProtocol`](Verdict::OtherProtocol), which protocol that is. For the protocol that was read see
    /// [`dialect`](End::dialect).
    pub protocol: Option<Protocol>,
    /// The protocol that was read, if something of it came: chat completions, Responses, Anthropic Messages or Gemini.
    pub dialect: Option<Protocol>,
    /// `[DONE]` came.
    pub done: bool,
    /// How many choices were seen, by their indexes. All from 127 on count as one.
    pub choices_seen: u32,
    /// How many of them have a finish reason.
    pub choices_finished: u32,
    /// The API reported an error: in the stream, in a choice, as a finish reason or as a body.
    pub api_error: bool,
    /// A JSON body came instead of a stream, and nothing else.
    pub body: bool,
    /// What was left over.
    pub pending: Pending,
    /// How many payloads, or rests of payloads, could not be read.
    pub malformed: u32,
    /// How many events and comments were over a limit and discarded.
    pub too_long: u32,
    /// How many messages so far were other than what was reported of the ones before, as far as a tracker saw them
    /// ([`Quirk::ReplacedMessage`](crate::Quirk::ReplacedMessage)). The verdict does not count them.
    pub replaced: u32,
    /// How many events had deltas that were left out, because a table was full or an index out of range.
    /// [`Parser::feed`](super::Parser::feed) and an [`Emitter`](super::Emitter) count them. A program that pulls with a
    /// [`Tracker`](crate::track::Tracker) of its own adds them by [`with_left_out`](End::with_left_out).
    pub left_out: u32,
    /// How many bytes were read.
    pub offset: u64,
    /// Payloads are not looked into: any event stream will do.
    opaque: bool,
    /// Deltas of an event were not emitted: a handler broke off, or the event is an error by the configuration.
    broke_off: bool,
}

impl End {
    /// Whether the response is whole: its end came (`[DONE]`, or the event that ends a response of another protocol), or every
    /// choice has a finish reason, or it is a whole body; nothing was
    /// malformed, too long, left out or replaced; no handler [broke off](super::Stop::Abort), and no event was an error by
    /// [`Config::errors`](super::Config); and `[DONE]` came or nothing is [pending](Pending). Of a stream whose payloads are
    /// not looked into ([`Payload::Opaque`](super::Payload::Opaque)): it ended between events, and nothing was too long.
    ///
    /// Complete means that all of the response arrived. Whether the model finished its answer is the finish reason: `length` and
    /// `content_filter` cut the answer itself.
    ///
    /// It counts the choices that came. Compare [`choices_seen`](End::choices_seen) with the `n` of the request, and
    /// [`choices_finished`](End::choices_finished) with `choices_seen`. If you asked for usage and none is known, the verdict
    /// [`Finished`](Verdict::Finished) of a stream of chat completions means that its end was cut off. A Gemini server that sends
    /// a finish reason with every chunk cannot be seen to be cut. With the quirk
    /// [`ArgumentsAfterEnd`](crate::Quirk::ArgumentsAfterEnd) the arguments of a call may be several JSON values, one behind the
    /// other: check that they parse before you run the call.
    ///
    /// Call it after [`finish`](super::Parser::finish): before, it cannot know that the stream was cut.
    ///
    /// What an assembler left out because its table was full is not known here: see what it answered.
    ///
    /// ```
    /// # #[cfg(feature = "alloc")] {
    /// let ended = |mut stream: &[u8]| {
    ///     let mut parser = deltawire::Parser::new(deltawire::Growing::new());
    ///     while parser.next(&mut stream)?.is_some() {}
    ///     while parser.finish()?.is_some() {} // here the events do not matter, only how the stream ended
    ///     Ok::<_, deltawire::Error>(parser.end())
    /// };
    /// assert!(ended(b"data: {\"choices\":[]}\n\ndata: [DONE]\n\n")?.is_complete());
    /// assert!(!ended(b"data: {\"choices\":[]}\n\n")?.is_complete());
    /// let end = ended(b"data: {\"choices\":[]}\n\ndata: oops\n\ndata: [DONE]\n\n")?;
    /// assert_eq!((end.verdict, end.malformed, end.is_complete()), (deltawire::Verdict::Done, 1, false));
    /// # }
    /// # Ok::<(), deltawire::Error>(())
    /// ```
    pub fn is_complete(&self) -> bool {
        let came_to_its_end = match self.verdict {
            Verdict::Done | Verdict::Finished | Verdict::Body => true,
            Verdict::OtherProtocol => self.opaque,
            Verdict::Empty
            | Verdict::NotAStream
            | Verdict::ApiError
            | Verdict::JsonAnswer
            | Verdict::Lost
            | Verdict::Truncated => false,
        };
        let lost_nothing = self.malformed == 0 && self.too_long == 0 && self.left_out == 0 && self.replaced == 0;
        came_to_its_end && lost_nothing && !self.broke_off && (self.done || self.pending == Pending::Nothing)
    }
}

impl End {
    /// The same where so many more events had deltas that were left out. For programs that pull with a
    /// [`Tracker`](crate::track::Tracker) of their own, which answers that with an error.
    pub fn with_left_out(self, events: u32) -> End {
        let left_out = self.left_out.saturating_add(events);
        let is_lost = self.verdict == Verdict::Truncated && self.pending == Pending::Nothing && left_out > 0;
        End { left_out, verdict: if is_lost { Verdict::Lost } else { self.verdict }, ..self }
    }
}

/// The verdict in words, with what came instead of a stream or whose protocol it is; for a whole body, that it is one. That a
/// stream finished without `[DONE]` is said only of chat completions: the other protocols never send it. If the verdict claims an
/// end of the response that is [not complete](End::is_complete), what was lost follows.
impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.verdict, self.media, self.protocol) {
            (Verdict::NotAStream, Some(media), _) => write!(f, "{}: {media}", self.verdict),
            (Verdict::OtherProtocol, _, Some(protocol)) => write!(f, "{}: {protocol}", self.verdict),
            (Verdict::Finished, ..) if self.body => fmt::Display::fmt(&Verdict::Body, f),
            (Verdict::Finished, ..) if self.dialect.is_some_and(|dialect| dialect != Protocol::Chat) => {
                f.write_str("finished")
            }
            (verdict, ..) => fmt::Display::fmt(&verdict, f),
        }?;
        if self.is_complete() || !matches!(self.verdict, Verdict::Done | Verdict::Finished | Verdict::Body) {
            return Ok(());
        }
        let lost = [
            (self.malformed, "malformed"),
            (self.too_long, "too long"),
            (self.left_out, "left out"),
            (self.replaced, "replaced"),
        ];
        f.write_str(", incomplete")?;
        let mut before = ": ";
        for (count, what) in lost.into_iter().filter(|(count, _)| *count > 0) {
            write!(f, "{before}{count} {what}")?;
            before = ", ";
        }
        Ok(())
    }
}

/// The most that is known of the lines that came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Lines {
    /// No field and no comment.
    #[default]
    Unknown,
    Comments,
    Fields,
}

/// What lines contained that are no fields, no comments and no JSON objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Plain {
    #[default]
    Nothing,
    /// One whole JSON value: a scalar, or an array of such values.
    Json,
    Text,
}

/// What raw JSON values are by their members.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Whole {
    #[default]
    Unknown,
    /// One is a whole answer.
    Body,
    /// One is a chunk by its `object`.
    Chunk,
}

/// Where an error came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Failed {
    #[default]
    No,
    /// In JSON without a field.
    Raw,
    /// In a field of an event stream.
    Field,
}

/// What the machine notes on the way.
#[derive(Clone, Debug)]
pub(crate) struct Facts {
    pub(crate) sniff: Sniff,
    pub(crate) lines: Lines,
    pub(crate) plain: Plain,
    /// How many raw JSON objects came.
    pub(crate) raw_values: u8,
    /// How many raw JSON values came, an array being one.
    pub(crate) whole_values: u8,
    pub(crate) done: bool,
    pub(crate) failed: Failed,
    pub(crate) chat: bool,
    /// The event came that ends a response of another protocol. Of that `[DONE]` means nothing.
    pub(crate) ended: Option<bool>,
    pub(crate) whole: Whole,
    /// An event came that is no chunk: JSON, or with a name, or one that is not looked into.
    pub(crate) foreign: bool,
    pub(crate) protocol: Option<Protocol>,
    pub(crate) seen: ChoiceSet,
    pub(crate) finished: ChoiceSet,
    pub(crate) pending: Pending,
    pub(crate) malformed: u32,
    pub(crate) too_long: u32,
    pub(crate) left_out: u32,
    /// Deltas of an event were not emitted: a handler broke off, or the event is an error by the configuration.
    pub(crate) broke_off: bool,
}

impl Facts {
    /// At the start of a stream.
    pub(crate) const NEW: Facts = Facts {
        sniff: Sniff::Blank,
        lines: Lines::Unknown,
        plain: Plain::Nothing,
        raw_values: 0,
        whole_values: 0,
        done: false,
        failed: Failed::No,
        chat: false,
        whole: Whole::Unknown,
        foreign: false,
        protocol: None,
        ended: None,
        seen: ChoiceSet::EMPTY,
        finished: ChoiceSet::EMPTY,
        pending: Pending::Nothing,
        malformed: 0,
        too_long: 0,
        left_out: 0,
        broke_off: false,
    };
}

impl Facts {
    /// Nothing came but blanks and comments.
    pub(super) fn is_bodiless(&self) -> bool {
        self.lines != Lines::Fields && self.raw_values == 0 && self.plain == Plain::Nothing && !self.done
    }

    /// What came instead of an event stream, if it did.
    fn media(&self) -> Option<Media> {
        let is_text = self.plain == Plain::Text && self.lines != Lines::Fields;
        let media = self.sniff.media().or(is_text.then_some(Media::Text))?;
        let has_event = match media {
            // No event stream begins so, whatever else its lines look like.
            Media::Gzip | Media::Zstd | Media::Html => false,
            Media::Binary => self.foreign && self.lines == Lines::Fields,
            Media::Text => self.foreign || self.failed != Failed::No,
        };
        (!self.chat && self.failed != Failed::Field && !has_event).then_some(media)
    }

    pub(crate) fn end(&self, offset: u64, opaque: bool) -> End {
        let lost = self.malformed > 0 || self.too_long > 0 || self.left_out > 0;
        let between = self.pending == Pending::Nothing;
        let media = self.media();
        let body = self.is_alone() && self.whole == Whole::Body;
        // Unknown lines of an event stream are ignored, except JSON.
        let has_json = self.whole_values > 0 || self.plain == Plain::Json;
        let came = self.chat || self.foreign || self.failed != Failed::No || has_json;
        let verdict = if self.sniff == Sniff::Blank || self.done && !came && media.is_none() && between && !lost {
            Verdict::Empty
        } else if media.is_some() {
            Verdict::NotAStream
        } else if self.failed != Failed::No {
            Verdict::ApiError
        } else if self.ended.unwrap_or(self.done && self.chat) {
            Verdict::Done
        } else if !self.seen.is_empty() && self.seen == self.finished {
            Verdict::Finished
        } else if body {
            Verdict::Body
        } else if self.is_json_answer() && self.pending != Pending::Json && !lost {
            Verdict::JsonAnswer
        } else if self.foreign && !self.chat && !(opaque && (lost || !between)) {
            Verdict::OtherProtocol
        } else if between && lost {
            Verdict::Lost
        } else {
            Verdict::Truncated
        };
        End {
            verdict,
            media: media.filter(|_| verdict == Verdict::NotAStream),
            protocol: (self.foreign && !opaque).then(|| self.protocol.unwrap_or(Protocol::Other)),
            dialect: None,
            done: self.done,
            choices_seen: self.seen.len(),
            choices_finished: self.finished.len(),
            api_error: self.failed != Failed::No,
            body,
            pending: if verdict == Verdict::NotAStream { Pending::Nothing } else { self.pending },
            malformed: self.malformed,
            too_long: self.too_long,
            replaced: 0,
            left_out: self.left_out,
            offset,
            opaque,
            broke_off: self.broke_off,
        }
    }

    /// One JSON value came, and nothing else but comments.
    fn is_alone(&self) -> bool {
        let is_one = match self.plain {
            Plain::Nothing => self.whole_values == 1,
            Plain::Json => true,
            Plain::Text => false,
        };
        is_one && self.lines != Lines::Fields && !self.done
    }

    /// One JSON value and nothing else, of no protocol that is known, and no choices in it. A response that was read and is under
    /// way, or has no candidates, is one, too.
    fn is_json_answer(&self) -> bool {
        let is_chunk = self.whole == Whole::Chunk || !self.seen.is_empty();
        let came = self.plain == Plain::Json || self.foreign || self.chat;
        let is_answer = match self.protocol {
            None | Some(Protocol::Other) => true,
            Some(Protocol::Responses | Protocol::Gemini) => self.ended.is_some() && self.raw_values == 1,
            Some(_) => false,
        };
        self.is_alone() && came && !is_chunk && is_answer
    }
}

#[cfg(test)]
mod tests {
    use super::{ChoiceSet, End, Facts, Failed, Lines, Media, Pending, Plain, Protocol, Sniff, Verdict, Whole};

    type Note = fn(&mut Facts);

    /// Of nothing but what `note` notes.
    fn end(opaque: bool, note: impl FnOnce(&mut Facts)) -> End {
        let mut facts = Facts { sniff: Sniff::Other, lines: Lines::Fields, ..Facts::NEW };
        note(&mut facts);
        facts.end(0, opaque)
    }

    fn one() -> ChoiceSet {
        let mut set = ChoiceSet::EMPTY;
        set.insert(0);
        set
    }

    /// In their order: each with what makes it so, and whether that is complete where nothing was lost.
    const VERDICTS: [(Note, Verdict, bool); 10] = [
        (|facts| facts.sniff = Sniff::Blank, Verdict::Empty, false),
        (|facts| facts.sniff = Sniff::Html, Verdict::NotAStream, false),
        (|facts| facts.failed = Failed::Raw, Verdict::ApiError, false),
        (|facts| (facts.done, facts.chat) = (true, true), Verdict::Done, true),
        (|facts| (facts.seen, facts.finished) = (one(), one()), Verdict::Finished, true),
        (
            |facts| (facts.lines, facts.whole_values, facts.whole) = (Lines::Unknown, 1, Whole::Body),
            Verdict::Body,
            true,
        ),
        (
            |facts| (facts.lines, facts.whole_values, facts.foreign) = (Lines::Unknown, 1, true),
            Verdict::JsonAnswer,
            false,
        ),
        (|facts| facts.foreign = true, Verdict::OtherProtocol, false),
        (|facts| facts.malformed = 1, Verdict::Lost, false),
        (|facts| (facts.chat, facts.seen) = (true, one()), Verdict::Truncated, false),
    ];

    #[test]
    fn the_first_verdict_that_holds_counts() {
        for (at, (note, verdict, complete)) in VERDICTS.into_iter().enumerate() {
            let alone = end(false, note);
            assert_eq!((alone.verdict, alone.is_complete()), (verdict, complete));
            assert_eq!(usize::from(verdict as u8), at + 1);
            for (other, behind, _) in VERDICTS.into_iter().skip(at + 1) {
                let both = end(false, |facts| {
                    other(facts);
                    note(facts);
                });
                // A chunk is no page, another protocol or another value; what was lost is no whole value.
                let excludes = match verdict {
                    Verdict::NotAStream | Verdict::JsonAnswer | Verdict::OtherProtocol => {
                        matches!(behind, Verdict::Done | Verdict::Truncated)
                    }
                    _ => false,
                };
                let lost = verdict == Verdict::JsonAnswer && behind == Verdict::Lost;
                let expected = match (verdict, behind) {
                    _ if lost => Verdict::OtherProtocol,
                    _ if excludes => behind,
                    _ => verdict,
                };
                assert_eq!(both.verdict, expected, "{verdict:?} and {behind:?}");
            }
        }
    }

    #[test]
    fn done_alone_is_empty() {
        let notes: [(Note, Verdict); 6] = [
            (|_| (), Verdict::Empty),
            (|facts| facts.chat = true, Verdict::Done),
            (|facts| facts.foreign = true, Verdict::OtherProtocol),
            (|facts| facts.malformed = 1, Verdict::Lost),
            (|facts| facts.pending = Pending::Line, Verdict::Truncated),
            (|facts| facts.failed = Failed::Field, Verdict::ApiError),
        ];
        for (note, verdict) in notes {
            let end = end(false, |facts| {
                facts.done = true;
                note(facts);
            });
            assert_eq!((end.verdict, end.is_complete()), (verdict, verdict == Verdict::Done));
        }
    }

    #[test]
    fn what_lost_something_is_not_complete() {
        let losses: [Note; 3] = [|facts| facts.malformed = 1, |facts| facts.too_long = 1, |facts| facts.left_out = 1];
        let cuts: [Note; 3] = [
            |facts| facts.pending = Pending::Event,
            |facts| facts.pending = Pending::Json,
            |facts| facts.pending = Pending::Line,
        ];
        for (note, verdict, _) in VERDICTS.into_iter().filter(|(.., complete)| *complete) {
            for (at, lose) in losses.into_iter().chain(cuts).enumerate() {
                let end = end(false, |facts| {
                    note(facts);
                    lose(facts);
                });
                // Behind `[DONE]` something may have begun.
                let complete = verdict == Verdict::Done && at >= losses.len();
                assert_eq!((end.verdict, end.is_complete()), (verdict, complete));
            }
        }
        for pending in [Pending::Nothing, Pending::Event] {
            let expected = if pending == Pending::Nothing { Verdict::Lost } else { Verdict::Truncated };
            for lose in losses {
                let end = end(false, |facts| {
                    lose(facts);
                    facts.pending = pending;
                });
                assert_eq!(end.verdict, expected);
            }
            let added = end(false, |facts| facts.pending = pending).with_left_out(2);
            assert_eq!((added.verdict, added.left_out), (expected, 2));
        }
        assert_eq!(end(false, |_| ()).with_left_out(0).verdict, Verdict::Truncated);
    }

    /// Who prints the end of a response that is not complete must not read "done".
    #[test]
    fn an_end_in_words_names_what_was_lost() {
        extern crate std;
        use std::string::ToString;
        let of = |note: Note| end(false, note).to_string();
        assert_eq!(of(|facts| (facts.chat, facts.done) = (true, true)), "done");
        assert_eq!(
            of(|facts| (facts.chat, facts.done, facts.too_long) = (true, true, 1)),
            "done, incomplete: 1 too long"
        );
        let finished = |facts: &mut Facts| (facts.chat, facts.seen, facts.finished) = (true, one(), one());
        assert_eq!(end(false, finished).to_string(), "finished, without [DONE]");
        let cut = |facts: &mut Facts| {
            finished(facts);
            facts.pending = Pending::Event;
        };
        assert_eq!(end(false, cut).to_string(), "finished, without [DONE], incomplete");
        let left = end(false, |facts| (facts.chat, facts.done, facts.malformed) = (true, true, 2)).with_left_out(3);
        assert_eq!(left.to_string(), "done, incomplete: 2 malformed, 3 left out");
        // These verdicts promise nothing.
        assert_eq!(of(|facts| facts.malformed = 1), Verdict::Lost.text());
    }

    #[test]
    fn any_events_will_do_where_they_are_not_looked_into() {
        let events = end(true, |facts| facts.foreign = true);
        assert_eq!((events.verdict, events.is_complete()), (Verdict::OtherProtocol, true));
        let cut = end(true, |facts| (facts.foreign, facts.pending) = (true, Pending::Line));
        assert_eq!((cut.verdict, cut.is_complete()), (Verdict::Truncated, false));
        let lost = end(true, |facts| (facts.foreign, facts.too_long) = (true, 1));
        assert_eq!((lost.verdict, lost.is_complete()), (Verdict::Lost, false));
        let comments = end(true, |facts| facts.lines = Lines::Comments);
        assert_eq!((comments.verdict, comments.is_complete()), (Verdict::Truncated, false));
    }

    #[test]
    fn what_is_no_stream_has_no_chunk_and_no_error_from_a_field() {
        for sniff in [Sniff::Gzip, Sniff::Zstd, Sniff::Html, Sniff::Binary] {
            let notes: [(Note, bool); 5] = [
                (|_| (), true),
                (|facts| facts.failed = Failed::Raw, true),
                (|facts| facts.lines = Lines::Comments, true),
                (|facts| facts.failed = Failed::Field, false),
                (|facts| facts.chat = true, false),
            ];
            for (note, expected) in notes {
                let end = end(false, |facts| {
                    facts.sniff = sniff;
                    note(facts);
                });
                assert_eq!(
                    (end.verdict == Verdict::NotAStream, end.media),
                    (expected, sniff.media().filter(|_| expected))
                );
            }
        }
        for pending in [Pending::Event, Pending::Json, Pending::Line] {
            let left = |sniff| end(false, |facts| (facts.sniff, facts.pending) = (sniff, pending)).pending;
            assert_eq!((left(Sniff::Gzip), left(Sniff::default())), (Pending::Nothing, pending));
        }
        for (lines, text) in [(Lines::Unknown, true), (Lines::Comments, true), (Lines::Fields, false)] {
            let end = end(false, |facts| (facts.lines, facts.plain) = (lines, Plain::Text));
            assert_eq!(end.media, text.then_some(Media::Text));
        }
    }

    #[test]
    fn numbers_are_in_order() {
        assert!(Media::ALL.iter().enumerate().all(|(at, media)| *media as usize == at + 1));
        assert!(Protocol::ALL.iter().enumerate().all(|(at, protocol)| *protocol as usize == at + 1));
        let pending = [Pending::Nothing, Pending::Event, Pending::Json, Pending::Line];
        assert!(pending.iter().enumerate().all(|(at, pending)| *pending as usize == at));
    }
}
