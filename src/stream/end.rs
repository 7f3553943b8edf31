//! The end of a stream: the verdict, and the facts that explain it.

use super::media::{FirstBytes, Media};
use crate::dialect::Protocol;
use crate::shown::{put_line, put_number};
use crate::words::words;
use crate::Error;
use core::fmt;

/// The payload that ends a response.
pub(super) const DONE: &[u8] = b"[DONE]";

words! {
    /// How a stream ended, in one word. If several variants apply, the one with the lowest number counts, but `Aborted`
    /// counts before `Lost` and `Truncated`. The numbers are those of the C interface.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    #[repr(u8)]
    #[non_exhaustive]
    pub enum Verdict {
        /// Nothing came but blanks, or nothing but `[DONE]`.
        Empty = 1, "empty: nothing came";
        /// The response is neither an event stream nor JSON. [`End::media`] is what it is instead.
        NotAStream = 2, "not an event stream";
        /// The API reported an error: in the stream, in a choice, as a finish reason or as a body.
        ApiError = 3, "the API reported an error";
        /// `[DONE]` came, and a chunk. In other protocols, the event came that ends a response: `response.completed`,
        /// `response.incomplete`, `message_stop`. `Done` does not mean complete: ask [`End::is_complete`].
        Done = 4, "done";
        /// No such end came, but every choice that came has a finish reason. Every whole stream of Gemini ends like
        /// this.
        Finished = 5, "finished, without [DONE]";
        /// A whole JSON body came instead of a stream, without a finish reason. A body with a finish reason is
        /// [`Finished`](Verdict::Finished). [`End::body`] is set for both. A body has a message, or its `object` is
        /// that of a whole response: `chat.completion`, `text_completion`.
        Body = 6, "a whole JSON body instead of a stream";
        /// Another whole JSON value came: a list of models, an embedding, a chunk whose choices are null.
        JsonAnswer = 7, "a JSON value that is no completion";
        /// A stream of a protocol that is not read came. [`End::protocol`] names it.
        OtherProtocol = 8, "an event stream of another protocol";
        /// The stream ended between events, without an end that counts as `Done` or `Finished`, and something was too
        /// long, malformed or left out. `Done` and `Finished` can lose parts too: ask [`End::is_complete`].
        Lost = 9, "lost: parts of the stream could not be read";
        /// The stream was cut: `[DONE]` did not come, and a choice has no finish reason, or no choice came.
        Truncated = 10, "truncated: the stream was cut";
        /// The stream would be `Lost` or `Truncated`, but a handler had [broken off](super::Stop::Abort), so nobody
        /// knows how it would have ended.
        Aborted = 11, "aborted: the caller broke off";
    }
}

words! {
    /// What had begun but not ended when the stream ended. No delta is emitted for it; its bytes are in the last
    /// [`Frame`](super::Frame). For a response that is [not an event stream](Verdict::NotAStream) this is always `Nothing`.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
    #[repr(u8)]
    #[non_exhaustive]
    pub enum Pending {
        /// Nothing: the stream ended between events.
        #[default]
        Nothing = 0, "it ended between events";
        /// An event that was cut: it has no blank line, and its payload is not whole JSON.
        Event = 1, "it ended inside an event";
        /// A raw JSON value that was cut.
        Json = 2, "it ended inside a JSON value";
        /// A line outside of an event that was cut: `dat`, `data: `, `: pin`.
        Line = 3, "it ended inside a line";
    }
}

/// The verdict, with the facts that explain it.
///
/// Before [`Parser::finish`](super::Parser::finish), this is the verdict on the stream so far, without what is pending.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct End {
    /// The verdict.
    pub verdict: Verdict,
    /// What came instead of an event stream, if the verdict is [`NotAStream`](Verdict::NotAStream).
    pub media: Option<Media>,
    /// The protocol of the stream: the one that was read or, if the verdict is
    /// [`OtherProtocol`](Verdict::OtherProtocol), the one that is not read. `None` if no event showed a protocol, or if
    /// payloads are not read.
    pub protocol: Option<Protocol>,
    /// `[DONE]` came.
    pub done: bool,
    /// How many choices came, by their indexes. All indexes from 127 on count as one choice.
    pub choices_seen: u32,
    /// How many of them have a finish reason.
    pub choices_finished: u32,
    /// The API reported an error: in the stream, in a choice, as a finish reason or as a body.
    pub api_error: bool,
    /// A JSON body came instead of a stream, and nothing else.
    pub body: bool,
    /// What was pending when the stream ended.
    pub pending: Pending,
    /// How many payloads could not be read, in whole or in part.
    pub malformed: u32,
    /// How many events and comments were over a limit and discarded.
    pub too_long: u32,
    /// How many messages so far contradict what an earlier message of the choice reported; how many responses of
    /// Responses and Anthropic began before the response before had ended
    /// ([`Quirk::ReplacedMessage`](crate::Quirk::ReplacedMessage)); and how many events of Responses repeat a text of the
    /// message and have another one than its deltas ([`Quirk::ChangedText`](crate::Quirk::ChangedText)). The verdict
    /// does not depend on them.
    pub replaced: u32,
    /// How many events had a finish reason of a choice with a tool call whose arguments were cut or no JSON, if a
    /// tracker saw them ([`Quirk::BrokenArguments`](crate::Quirk::BrokenArguments)). The verdict does not depend on
    /// them.
    pub broken_calls: u32,
    /// How many events had deltas that were left out, because a table was full or an index out of range.
    pub left_out: u32,
    /// How many bytes were read.
    pub offset: u64,
    /// Why: a bit for each [`Error::number`].
    pub(super) limits: u8,
    /// The first bytes, if they are no event stream.
    pub(super) first: FirstBytes,
    /// Payloads are not read, so any event stream can be complete.
    pub(super) opaque: bool,
    /// Deltas of an event were not emitted, because a handler stopped inside the event, or the event has a quirk that
    /// is configured as an error.
    pub(super) broke_off: bool,
}

impl End {
    /// Whether the response is whole. That requires all of the following:
    ///
    /// - Its end came (`[DONE]`, or the event that ends a response of another protocol), or every choice has a finish
    ///   reason, or the response is a whole body.
    /// - The API reported no error.
    /// - Nothing was malformed, too long, left out or replaced, and no tool call broken.
    /// - No handler [broke off](super::Stop::Abort), and no event had a quirk of [`Config::errors`](super::Config).
    /// - `[DONE]` came, or nothing is [pending](Pending).
    ///
    /// A stream whose payloads are not read ([`Payload::Opaque`](super::Payload::Opaque)) is whole if it ended between
    /// events and nothing was too long.
    ///
    /// Complete means that all of the response arrived. Whether the model finished its answer is the finish reason:
    /// `length` and `content_filter` mean that the answer itself was cut.
    ///
    /// Only the choices that came count. Compare [`choices_seen`](End::choices_seen) with the `n` of the request, and
    /// [`choices_finished`](End::choices_finished) with `choices_seen`. If you asked for usage and a stream of chat
    /// completions ends with the verdict [`Finished`](Verdict::Finished) without it, the stream was cut after its last
    /// finish reason. If a Gemini server sends a finish reason with every chunk, nothing shows that its stream was cut.
    /// With the quirk [`ArgumentsAfterEnd`](crate::Quirk::ArgumentsAfterEnd) the arguments of a call may be several
    /// JSON values in a row: check that they parse before you run the call.
    ///
    /// Call it after [`finish`](super::Parser::finish), because before that it cannot know that the stream was cut.
    ///
    /// It does not cover what an assembler left out because its table was full; the assembler returns that itself. Nor
    /// does it cover unknown lines (`Data: …`, ` data: …`): they are ignored, as the standard requires, and do not
    /// count as lost.
    ///
    /// ```
    /// # #[cfg(feature = "alloc")] {
    /// let ended = |mut stream: &[u8]| {
    ///     let mut parser = deltawire::Parser::new(deltawire::Growing::new());
    ///     while parser.next(&mut stream)?.is_some() {}
    ///     while parser.finish()?.is_some() {} // only the end of the stream matters here
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
            | Verdict::Truncated
            | Verdict::Aborted => false,
        };
        let lost = [self.malformed, self.too_long, self.left_out, self.replaced, self.broken_calls];
        let lost_nothing = lost == [0; 5];
        came_to_its_end && lost_nothing && !self.broke_off && (self.done || self.pending == Pending::Nothing)
    }

    /// The first bytes of a response that does not begin with an event stream: a page, the sentence of a proxy, a JSON
    /// body. They begin with the first byte that is not blank, and end before the first field, or after 128 bytes.
    /// They are as they came: escape them before you print them. [`Display`](fmt::Display) does that.
    ///
    /// ```
    /// # #[cfg(feature = "alloc")] {
    /// let mut parser = deltawire::Parser::new(deltawire::Growing::new());
    /// let mut page = &b"\n<html>\n<h1>502 Bad Gateway</h1>\n</html>\n"[..];
    /// while parser.next(&mut page)?.is_some() {}
    /// while parser.finish()?.is_some() {}
    /// let end = parser.end();
    /// assert_eq!(end.verdict, deltawire::Verdict::NotAStream);
    /// assert!(end.first_bytes().starts_with(b"<html>\n<h1>"));
    /// let text = "not an event stream: HTML or XML: <html> <h1>502 Bad Gateway</h1> </html>";
    /// assert_eq!(end.to_string(), text);
    /// # }
    /// # Ok::<(), deltawire::Error>(())
    /// ```
    pub fn first_bytes(&self) -> &[u8] {
        self.first.get()
    }

    /// An end with these facts, and no others.
    #[doc(hidden)]
    pub fn restored(verdict: Verdict, is_complete: bool, limits: u8, first_bytes: &[u8]) -> End {
        End {
            verdict,
            media: None,
            protocol: None,
            done: false,
            choices_seen: 0,
            choices_finished: 0,
            api_error: false,
            body: false,
            pending: Pending::Nothing,
            malformed: 0,
            too_long: 0,
            replaced: 0,
            broken_calls: 0,
            left_out: 0,
            offset: 0,
            limits,
            first: FirstBytes::of(first_bytes),
            opaque: is_complete,
            broke_off: !is_complete,
        }
    }

    /// Why deltas were left out: a bit for each [`Error::number`].
    #[doc(hidden)]
    pub fn limits(&self) -> u8 {
        self.limits
    }

    /// The end with one more event whose deltas were left out, if there is a limit.
    pub(super) fn with_left_out(self, limit: Option<Error>) -> End {
        let Some(limit) = limit else { return self };
        let is_lost = self.verdict == Verdict::Truncated && self.pending == Pending::Nothing;
        End {
            left_out: self.left_out.saturating_add(1),
            limits: self.limits | limit.bit(),
            verdict: if is_lost { Verdict::Lost } else { self.verdict },
            ..self
        }
    }

    /// Gives `put` the end in words, piece by piece. With `is_whole` that is what [`Display`](fmt::Display) writes;
    /// otherwise it is the verdict with media and protocol and, if the verdict suggests a whole response, the counts.
    #[doc(hidden)]
    pub fn put(&self, is_whole: bool, put: &mut dyn FnMut(&str)) {
        let is_native = self.protocol.is_some_and(|protocol| protocol != Protocol::Chat);
        let suggests_whole = matches!(self.verdict, Verdict::Done | Verdict::Finished | Verdict::Body);
        put(match self.verdict {
            _ if suggests_whole && self.body => Verdict::Body.text(),
            Verdict::Finished if is_native => "finished",
            Verdict::OtherProtocol if self.opaque => "an event stream whose payloads were not read",
            verdict => verdict.text(),
        });
        if let (Verdict::NotAStream, Some(media)) = (self.verdict, self.media) {
            put(": ");
            put(media.text());
        }
        if let (Verdict::OtherProtocol, Some(protocol)) = (self.verdict, self.protocol) {
            put(": ");
            put(protocol.text());
            if let Some(feature) = protocol.missing_feature() {
                put(", whose feature `");
                put(feature);
                put("` is off");
            }
        }
        let is_packed = matches!(self.media, Some(Media::Gzip | Media::Zstd));
        if is_whole && is_packed {
            put(" (decompress the body first)");
        }
        let is_quoted = matches!(self.verdict, Verdict::NotAStream | Verdict::JsonAnswer) && !is_packed;
        if is_whole && is_quoted && !self.first_bytes().is_empty() {
            put(": ");
            let goes_on = self.first.is_full() && self.offset > self.first_bytes().len() as u64;
            put_line(self.first_bytes(), goes_on, put);
        }
        if suggests_whole && !self.is_complete() {
            put(", incomplete");
            self.put_losses(is_whole, put);
        } else if is_whole && matches!(self.verdict, Verdict::Lost | Verdict::Truncated | Verdict::Aborted) {
            self.put_losses(true, put);
        }
    }

    /// Gives `put` the counts of what was lost. If `is_whole`, also the limits to raise, and what was pending.
    fn put_losses(&self, is_whole: bool, put: &mut dyn FnMut(&str)) {
        let by = |limit: u32| u8::from(self.limits & 1 << limit > 0);
        let raise = [
            (1, "raise max_event_len, or give more storage"),
            (by(1), "raise max_choices"),
            (by(2), "raise max_tool_calls"),
            (by(3), "an index out of range"),
        ];
        let lost = [
            (self.malformed, "malformed", 0..0),
            (self.too_long, "too long", 0..1),
            (self.left_out, "left out", 1..4),
            (self.replaced, "replaced", 0..0),
            (self.broken_calls, "with broken tool calls", 0..0),
        ];
        let mut before = ": ";
        for (count, what, reasons) in lost.into_iter().filter(|(count, ..)| *count > 0) {
            put(before);
            put_number(count.into(), &mut |digits| put(core::str::from_utf8(digits).unwrap_or_default()));
            put(" ");
            put(what);
            before = ", ";
            let mut open = " (";
            for (_, reason) in raise.get(reasons).unwrap_or_default().iter().filter(|(is, _)| *is > 0 && is_whole) {
                put(open);
                put(reason);
                open = ", ";
            }
            if open == ", " {
                put(")");
            }
        }
        if !self.done && is_whole && self.pending != Pending::Nothing {
            put(before);
            put(self.pending.text());
        }
    }
}

/// Writes the verdict in words, and after it
///
/// - the media of a response that is not a stream, and its [first bytes](End::first_bytes) on one line, escaped; those
///   of a JSON value that is no completion, too;
/// - the protocol of a stream that is not read, and the crate feature that would read it;
/// - of a response that is [not complete](End::is_complete), the counts of what was lost, what the end cut, and the
///   limits to raise: [`max_event_len`](crate::Limits::with_max_event_len), and the choices and tool calls that the
///   [`Tracker`](crate::track::Tracker) has room for, by their names in C.
///
/// A body with a finish reason is written as a body. The words "without \[DONE\]" are written for chat completions only,
/// because the other protocols never send it.
impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut written = Ok(());
        self.put(true, &mut |text| written = written.and_then(|()| f.write_str(text)));
        written
    }
}
