//! Push: a handler is called for what comes.

use super::{Event, Malformed};
use crate::chat::{ApiError, Audio, Chunk, Delta, DeltaKind, Deltas, FinishReason, Logprobs, Message, Usage};
use crate::json::Text;
use crate::sse;
use crate::track::{CallUpdate, Outcome, Tracker, Update};
use crate::{Error, Quirk, QuirkSet};
use core::ops::ControlFlow;

/// What a handler says: go on, or stop.
pub type Flow = ControlFlow<Stop>;

/// Why the parser stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stop {
    /// The handler asked for a pause. It takes effect after the current event, whose remaining calls are still made.
    Pause,
    /// The handler broke off: nothing more was said of the current event, which is consumed all the same.
    Abort,
    /// The current event brought an error. If that is a quirk of its framing or shape, nothing was said of it, as
    /// [`Parser::next`](super::Parser::next) gives nothing; otherwise its calls were made first. A handler that says so
    /// itself breaks off like [`Abort`](Stop::Abort).
    Error(Error),
}

/// What became of the input.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fed {
    /// How many bytes were consumed; give the rest again to go on. All of them, unless it stopped.
    pub consumed: usize,
    /// Why it stopped.
    pub stop: Option<Stop>,
}

/// Is called for what comes. Write the methods that you need: the others do nothing, but for
/// [`update`](Handler::update), which calls them.
///
/// Texts are valid until the call returns. None is empty, and none ends in half a character, be it of UTF-8 or of a
/// surrogate pair: a half waits for the next text of its choice and channel.
///
/// The order: [`event`](Handler::event) for everything, then what it is; for a chunk [`chunk`](Handler::chunk), then an
/// [`update`](Handler::update) for each thing that it brings, then its quirks.
#[allow(unused_variables)]
pub trait Handler {
    /// Anything that came.
    fn event(&mut self, event: &Event<'_>) -> Flow {
        Flow::Continue(())
    }
    /// An event whose payload is not looked into.
    fn sse(&mut self, event: &sse::Event<'_>) -> Flow {
        Flow::Continue(())
    }
    /// A comment, without its colon and at most one space.
    fn comment(&mut self, text: &[u8]) -> Flow {
        Flow::Continue(())
    }
    /// A payload that only keeps the connection alive.
    fn keep_alive(&mut self, payload: &[u8]) -> Flow {
        Flow::Continue(())
    }
    /// How long to wait before reconnecting, in milliseconds.
    fn retry(&mut self, ms: u64) -> Flow {
        Flow::Continue(())
    }
    /// A last event ID that came without an event.
    fn last_event_id(&mut self, id: &[u8]) -> Flow {
        Flow::Continue(())
    }
    /// A chunk; what it brings follows.
    fn chunk(&mut self, chunk: &Chunk<'_>) -> Flow {
        Flow::Continue(())
    }
    /// One thing that a chunk brings. Unless it is written anew, it calls the method for that thing.
    #[inline]
    fn update(&mut self, choice: u32, update: Update<'_>) -> Flow {
        match update {
            Update::Role(text) => self.role(choice, text),
            Update::Content(text) => self.content(choice, text),
            Update::Reasoning(text) => self.reasoning(choice, text),
            Update::Refusal(text) => self.refusal(choice, text),
            Update::Call(call) => self.tool_call(choice, &call),
            Update::CallName { call, text, replaces } => self.tool_name(choice, call, text, replaces),
            Update::CallArguments { call, text } => self.tool_arguments(choice, call, text),
            Update::FunctionName { text, replaces } => self.function_name(choice, text, replaces),
            Update::FunctionArguments(text) => self.function_arguments(choice, text),
            Update::Audio(audio) => self.audio(choice, audio),
            Update::Logprobs(logprobs) => self.logprobs(choice, logprobs),
            Update::Message(message) => self.message(choice, message),
            Update::Finish(reason) => self.finish_reason(choice, reason),
            Update::ChoiceError(error) => self.choice_error(choice, error),
            Update::Usage(usage) => self.usage(usage),
            Update::Error(error) => self.error(error),
        }
    }
    /// The role, once a choice.
    fn role(&mut self, choice: u32, text: Text<'_>) -> Flow {
        Flow::Continue(())
    }
    /// Content.
    fn content(&mut self, choice: u32, text: Text<'_>) -> Flow {
        Flow::Continue(())
    }
    /// Reasoning.
    fn reasoning(&mut self, choice: u32, text: Text<'_>) -> Flow {
        Flow::Continue(())
    }
    /// A refusal.
    fn refusal(&mut self, choice: u32, text: Text<'_>) -> Flow {
        Flow::Continue(())
    }
    /// A tool call opens, or its ID or type came late. Its name and arguments follow, by its number.
    fn tool_call(&mut self, choice: u32, call: &CallUpdate<'_>) -> Flow {
        Flow::Continue(())
    }
    /// A tool call's name, or (`replaces` is false) a piece of it to be put behind what came before.
    fn tool_name(&mut self, choice: u32, call: u32, text: Text<'_>, replaces: bool) -> Flow {
        Flow::Continue(())
    }
    /// A fragment of a tool call's arguments.
    fn tool_arguments(&mut self, choice: u32, call: u32, text: Text<'_>) -> Flow {
        Flow::Continue(())
    }
    /// The name of a `function_call`'s function, or a piece of it.
    fn function_name(&mut self, choice: u32, text: Text<'_>, replaces: bool) -> Flow {
        Flow::Continue(())
    }
    /// A fragment of a `function_call`'s arguments.
    fn function_arguments(&mut self, choice: u32, text: Text<'_>) -> Flow {
        Flow::Continue(())
    }
    /// A fragment of audio.
    fn audio(&mut self, choice: u32, audio: Audio<'_>) -> Flow {
        Flow::Continue(())
    }
    /// Log probabilities of more tokens.
    fn logprobs(&mut self, choice: u32, logprobs: Logprobs<'_>) -> Flow {
        Flow::Continue(())
    }
    /// The whole message so far, of a body or of a dialect without deltas; it replaces. [`Message::view`] has its members,
    /// [`Message::deltas`] what it brings.
    fn message(&mut self, choice: u32, message: Message<'_>) -> Flow {
        Flow::Continue(())
    }
    /// A choice finished.
    fn finish_reason(&mut self, choice: u32, reason: FinishReason<'_>) -> Flow {
        Flow::Continue(())
    }
    /// A choice failed.
    fn choice_error(&mut self, choice: u32, error: ApiError<'_>) -> Flow {
        Flow::Continue(())
    }
    /// How many tokens were used so far; the last one counts.
    fn usage(&mut self, usage: Usage<'_>) -> Flow {
        Flow::Continue(())
    }
    /// The API reported an error.
    fn error(&mut self, error: ApiError<'_>) -> Flow {
        Flow::Continue(())
    }
    /// A payload that is no JSON object, or what followed one; [`Malformed::wire_range`] tells where it lay.
    fn malformed(&mut self, malformed: &Malformed<'_>) -> Flow {
        Flow::Continue(())
    }
    /// An event over the limit was discarded; it began at this stream offset.
    fn too_long(&mut self, offset: u64) -> Flow {
        Flow::Continue(())
    }
    /// A comment over the limit was discarded; it began at this stream offset. The event round it goes on.
    fn comment_too_long(&mut self, offset: u64) -> Flow {
        Flow::Continue(())
    }
    /// Something of the event was left out: a table is full, or an index is none. The parser stops after the event and
    /// says so too ([`Stop::Error`]).
    fn limit(&mut self, error: &Error) -> Flow {
        Flow::Continue(())
    }
    /// A quirk of the event that was just told of, which began at this stream offset.
    fn quirk(&mut self, quirk: Quirk, offset: u64) -> Flow {
        Flow::Continue(())
    }
    /// `[DONE]` came.
    fn done(&mut self) -> Flow {
        Flow::Continue(())
    }
}

/// Per-choice state that [`Parser::feed`](super::Parser::feed) can use: a [`Tracker`] of any size.
pub trait Track: sealed::Sealed {
    /// As [`Tracker::update`].
    fn update<'a, B>(
        &mut self,
        delta: &crate::chat::Delta<'a>,
        offset: u64,
        each: impl FnMut(u32, Update<'a>) -> ControlFlow<B>,
    ) -> Outcome<B>;
    /// As [`Tracker::plain`].
    fn plain(&mut self, choice: u32, text: Text<'_>) -> bool;
    /// As [`Tracker::finish`].
    fn finish<B>(&mut self, each: impl FnMut(u32, Update<'static>) -> ControlFlow<B>) -> Outcome<B>;
}

mod sealed {
    pub trait Sealed {}
    impl<const CHOICES: usize, const CALLS: usize> Sealed for super::Tracker<CHOICES, CALLS> {}
}

impl<const CHOICES: usize, const CALLS: usize> Track for Tracker<CHOICES, CALLS> {
    fn update<'a, B>(
        &mut self,
        delta: &crate::chat::Delta<'a>,
        offset: u64,
        each: impl FnMut(u32, Update<'a>) -> ControlFlow<B>,
    ) -> Outcome<B> {
        Tracker::update(self, delta, offset, each)
    }
    #[inline(always)]
    fn plain(&mut self, choice: u32, text: Text<'_>) -> bool {
        Tracker::plain(self, choice, text)
    }
    fn finish<B>(&mut self, each: impl FnMut(u32, Update<'static>) -> ControlFlow<B>) -> Outcome<B> {
        Tracker::finish(self, each)
    }
}

/// Calls a handler and keeps what it said until the event is over.
pub(crate) struct Push<'h, H: ?Sized> {
    handler: &'h mut H,
    paused: bool,
    aborted: bool,
    /// What the handler broke off with.
    error: Option<Error>,
    /// What the tracker could not take in.
    limit: Option<Error>,
    /// What the tracker and the texts brought to light, to be counted.
    pub(crate) quirks: QuirkSet,
}

impl<'h, H: Handler + ?Sized> Push<'h, H> {
    #[inline(always)]
    pub(crate) fn new(handler: &'h mut H) -> Self {
        Push { handler, paused: false, aborted: false, error: None, limit: None, quirks: QuirkSet::EMPTY }
    }

    #[inline(always)]
    fn call(&mut self, f: impl FnOnce(&mut H) -> Flow) {
        if self.aborted {
            return;
        }
        match f(self.handler) {
            Flow::Continue(()) => {}
            Flow::Break(Stop::Pause) => self.paused = true,
            Flow::Break(Stop::Abort) => self.aborted = true,
            Flow::Break(Stop::Error(error)) => {
                self.aborted = true;
                self.error = Some(error);
            }
        }
    }

    /// Half a character that waited in vain.
    pub(crate) fn finish<T: Track>(&mut self, tracker: &mut T, offset: u64) {
        let outcome = tracker.finish(|choice, update| -> ControlFlow<()> {
            self.call(|handler| handler.update(choice, update));
            ControlFlow::Continue(())
        });
        self.quirks |= outcome.quirks;
        self.tell_quirks(outcome.quirks, offset);
    }

    /// The end of an event: what was left out, and what was odd.
    fn conclude(&mut self, quirks: QuirkSet, offset: u64) {
        if let Some(error) = self.limit {
            self.call(|handler| handler.limit(&error));
        }
        self.tell_quirks(quirks | self.quirks, offset);
    }

    fn tell_quirks(&mut self, quirks: QuirkSet, offset: u64) {
        if quirks.is_empty() {
            return;
        }
        for quirk in quirks.iter() {
            self.call(|handler| handler.quirk(quirk, offset));
        }
    }

    /// Whether the handler said nothing but to go on, and there is nothing to be told at the end of the event.
    #[inline(always)]
    fn is_quiet(&self) -> bool {
        !self.paused && !self.aborted && self.limit.is_none() && self.quirks.is_empty()
    }

    /// Why the parser has to stop, now that the event is over.
    pub(crate) fn stop(&self, errors: QuirkSet, offset: u64) -> Option<Stop> {
        let quirk = || self.quirks.and(errors).iter().next().map(|quirk| Error::Quirk { quirk, offset });
        if let Some(error) = self.error {
            return Some(Stop::Error(error));
        }
        if self.aborted {
            return Some(Stop::Abort);
        }
        if let Some(error) = quirk().or(self.limit) {
            return Some(Stop::Error(error));
        }
        self.paused.then_some(Stop::Pause)
    }
}

/// Tells the handler of a chunk, and of all that it brings, if nothing about it is odd and that is nothing but content as
/// it stands. Otherwise gives what [`chunk_rest`] needs to go on.
#[inline(always)]
pub(crate) fn chunk<'a, 'h, H: Handler + ?Sized, T: Track>(
    handler: &'h mut H,
    tracker: &mut T,
    chunk: Chunk<'a>,
    quirks: QuirkSet,
) -> Option<Rest<'a, 'h, H>> {
    let mut push = Push::new(handler);
    let mut deltas = chunk.deltas();
    let event = Event::Chunk(chunk);
    push.call(|handler| handler.event(&event));
    if let Event::Chunk(chunk) = &event {
        push.call(|handler| handler.chunk(chunk));
    }
    let next = loop {
        let Some(delta) = deltas.next() else { break None };
        let DeltaKind::Content(text) = &delta.kind else { break Some(delta) };
        let text = by_parts(text);
        if !tracker.plain(delta.choice, text) {
            break Some(delta);
        }
        push.call(|handler| handler.update(delta.choice, Update::Content(text)));
    };
    if next.is_none() && quirks.is_empty() && push.is_quiet() {
        return None;
    }
    Some(Rest { push, next, deltas })
}

/// The same text, taken out of an enum part by part: as a whole it would be read in words of other sizes than it was
/// written in, and so wait for them.
#[inline(always)]
pub(super) fn by_parts<'a>(text: &Text<'a>) -> Text<'a> {
    Text::from_parts(text.raw(), text.parts())
}

/// A chunk that is half told.
pub(crate) struct Rest<'a, 'h, H: ?Sized> {
    pub(crate) push: Push<'h, H>,
    next: Option<Delta<'a>>,
    deltas: Deltas<'a>,
}

/// Tells the rest of a chunk.
pub(crate) fn chunk_rest<'h, H: Handler + ?Sized, T: Track>(
    rest: Rest<'_, 'h, H>,
    tracker: &mut T,
    quirks: QuirkSet,
    offset: u64,
) -> Push<'h, H> {
    let Rest { mut push, next, deltas } = rest;
    for delta in next.into_iter().chain(deltas) {
        let outcome = tracker.update(&delta, offset, |choice, update| -> ControlFlow<()> {
            push.call(|handler| handler.update(choice, update));
            ControlFlow::Continue(())
        });
        push.quirks |= outcome.quirks;
        push.limit = push.limit.or(outcome.error);
    }
    push.conclude(quirks, offset);
    push
}

/// Tells the handler of an event that is no chunk.
pub(crate) fn event<H: Handler + ?Sized>(push: &mut Push<'_, H>, event: &Event<'_>, quirks: QuirkSet, offset: u64) {
    push.call(|handler| handler.event(event));
    match event {
        Event::Chunk(_) => {}
        Event::Sse(event) => push.call(|handler| handler.sse(event)),
        Event::Done => push.call(|handler| handler.done()),
        Event::Comment(text) => push.call(|handler| handler.comment(text)),
        Event::KeepAlive(payload) => push.call(|handler| handler.keep_alive(payload)),
        Event::Retry(ms) => push.call(|handler| handler.retry(*ms)),
        Event::LastEventId(id) => push.call(|handler| handler.last_event_id(id)),
        Event::Malformed(malformed) => push.call(|handler| handler.malformed(malformed)),
        Event::TooLong { offset } => push.call(|handler| handler.too_long(*offset)),
        Event::CommentTooLong { offset } => push.call(|handler| handler.comment_too_long(*offset)),
    }
    push.conclude(quirks, offset);
}

#[cfg(test)]
mod tests {
    use super::{Push, Track};
    use crate::chat::{Delta, DeltaKind};
    use crate::json::Text;
    use crate::stream::{Flow, Handler, Stop};
    use crate::track::Tracker;
    use crate::{Error, Quirk, QuirkSet};
    use core::ops::ControlFlow;

    struct Breaks(Flow);

    impl Handler for Breaks {
        fn done(&mut self) -> Flow {
            self.0
        }
    }

    #[test]
    fn a_handler_that_goes_on_is_quiet() {
        let error = Error::Quirk { quirk: Quirk::OddType, offset: 0 };
        for (flow, quiet) in [
            (Flow::Continue(()), true),
            (Flow::Break(Stop::Pause), false),
            (Flow::Break(Stop::Abort), false),
            (Flow::Break(Stop::Error(error)), false),
        ] {
            let mut handler = Breaks(flow);
            let mut push = Push::new(&mut handler);
            assert!(push.is_quiet());
            push.call(|handler| handler.done());
            assert_eq!(push.is_quiet(), quiet, "{flow:?}");
        }
        let mut handler = Breaks(Flow::Continue(()));
        let mut push = Push::new(&mut handler);
        push.quirks = QuirkSet::ALL;
        assert!(!push.is_quiet());
        (push.quirks, push.limit) = (QuirkSet::EMPTY, Some(error));
        assert!(!push.is_quiet());
    }

    /// Text of a choice that is known and of which nothing waits, and that stands for itself, needs nothing of the tracker.
    #[test]
    fn plain_text_goes_by_the_tracker() {
        let mut tracker = Tracker::<2, 2>::new();
        let text = Text::verbatim(b"a");
        assert!(!Track::plain(&mut tracker, 0, text), "nothing is known of it");
        let delta = Delta { choice: 0, kind: DeltaKind::Content(text) };
        let outcome = Track::update(&mut tracker, &delta, 0, |_, _| -> ControlFlow<()> { ControlFlow::Continue(()) });
        assert!(outcome.error.is_none());
        assert!(Track::plain(&mut tracker, 0, text) && !Track::plain(&mut tracker, 1, text));
        assert!(!Track::plain(&mut tracker, 0, Text::verbatim(b"\xC3")), "a quirk");
    }
}
