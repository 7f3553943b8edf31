//! How a stream ended: the verdict and its facts.

use super::media::Media;
use crate::dialect::Protocol;
use crate::words::words;
use core::fmt;

/// The payload that ends a response.
pub(super) const DONE: &[u8] = b"[DONE]";

words! {
    /// What became of a stream, in one word: the first that applies, in the order of the numbers, which are those of the C
    /// interface.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    #[repr(u8)]
    #[non_exhaustive]
    pub enum Verdict {
        /// Nothing came, or blanks only, or nothing but `[DONE]`.
        Empty = 1, "empty: nothing came";
        /// The response is no event stream, and no JSON either. [`End::media`] is what it is instead.
        NotAStream = 2, "not an event stream";
        /// The API reported an error, in whatever place.
        ApiError = 3, "the API reported an error";
        /// `[DONE]` came, and a chunk; or the event that ends a response of another protocol: `response.completed`,
        /// `response.incomplete`, `message_stop`. `Done` does not mean complete: ask [`End::is_complete`].
        Done = 4, "done";
        /// No such end came, but every choice that was seen has a finish reason. So ends every stream of Gemini.
        Finished = 5, "finished, without [DONE]";
        /// A whole JSON body came instead of a stream, without a finish reason; with one it is [`Finished`](Verdict::Finished).
        /// [`End::body`] is set for both. A body has a message, or its `object` is that of a whole answer: `chat.completion`,
        /// `text_completion`.
        Body = 6, "a whole JSON body instead of a stream";
        /// Another whole JSON value: a list of models, an embedding, a number, choices that are null.
        JsonAnswer = 7, "a JSON value that is no completion";
        /// A stream of a protocol that is not read. [`End::protocol`] names it.
        OtherProtocol = 8, "an event stream of another protocol";
        /// The stream ended between events, without an end that counts as `Done` or `Finished`, and something was too long,
        /// malformed or left out. `Done` and `Finished` can lose parts too: ask [`End::is_complete`].
        Lost = 9, "lost: parts of the stream could not be read";
        /// The stream was cut: no `[DONE]`, and a choice without a finish reason, or none at all.
        Truncated = 10, "truncated: the stream was cut";
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
    /// How many messages so far were other than what was reported of the ones before, as far as a tracker saw them, and how many
    /// responses of Responses and Anthropic began before the one before had ended
    /// ([`Quirk::ReplacedMessage`](crate::Quirk::ReplacedMessage)). The verdict does not count them.
    pub replaced: u32,
    /// How many events had deltas that were left out, because a table was full or an index out of range.
    /// [`Parser::feed`](super::Parser::feed) and an [`Emitter`](super::Emitter) count them. A program that pulls with a
    /// [`Tracker`](crate::track::Tracker) of its own adds them by [`with_left_out`](End::with_left_out).
    pub left_out: u32,
    /// How many bytes were read.
    pub offset: u64,
    /// Payloads are not looked into: any event stream will do.
    pub(super) opaque: bool,
    /// Deltas of an event were not emitted: a handler broke off, or the event is an error by the configuration.
    pub(super) broke_off: bool,
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
    /// What an assembler left out because its table was full is not known here: see what it answered. Nor is a line that is no
    /// field (`Data: …`, ` data: …`): it is ignored, as the standard requires, and does not count as lost.
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
