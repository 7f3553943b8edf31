//! Push: a handler is called with each event and each delta.

use super::{Event, Malformed};
use crate::chat::{ApiError, Audio, CallUpdate, Chunk, FinishReason, Logprobs, Message, Update, Usage};
use crate::json::{Text, Value};
use crate::{sse, Error, Quirk};
use core::ops::ControlFlow;

/// A handler's answer: go on, or stop.
pub type Flow = ControlFlow<Stop>;

/// Why the parser stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stop {
    /// The handler asked for a pause. It takes effect after the current event, whose remaining calls are still made.
    Pause,
    /// The handler broke off: the parser emits nothing more of the current event, which is consumed all the same.
    Abort,
    /// The current event caused an error. If that is a quirk of its framing or shape, no method was called for the event,
    /// as [`Parser::next`](super::Parser::next) returns none; otherwise its methods were called first. A handler that
    /// returns this itself breaks off like [`Abort`](Stop::Abort).
    Error(Error),
}

/// How much of the input was consumed, and why no more.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fed {
    /// How many bytes were consumed; give the rest again to go on. All of them, unless it stopped.
    pub consumed: usize,
    /// Why it stopped.
    pub stop: Option<Stop>,
}

/// Receives events. Implement the methods you need; the defaults do nothing, but for [`update`](Handler::update), which
/// calls the others.
///
/// Texts are valid until the method returns. No text is empty, and none ends inside a UTF-8 sequence or a surrogate
/// pair: a high surrogate stays pending until the next text of its choice and channel.
///
/// The order: [`event`](Handler::event) for every event, then the method for its type; for a chunk
/// [`chunk`](Handler::chunk), then an [`update`](Handler::update) for each delta, then its quirks.
#[allow(unused_variables)]
pub trait Handler {
    /// Any event.
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
    /// A chunk; its deltas follow.
    fn chunk(&mut self, chunk: &Chunk<'_>) -> Flow {
        Flow::Continue(())
    }
    /// One delta of a chunk. The default calls the method for its kind.
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
            Update::Annotations(value) => self.annotations(choice, value),
            Update::Signature(text) => self.signature(choice, text),
            Update::Media(value) => self.media(choice, value),
            Update::Native(value) => self.native(choice, value),
            Update::Logprobs(logprobs) => self.logprobs(choice, logprobs),
            Update::Message(message) => self.message(choice, message),
            Update::Finish(reason) => self.finish_reason(choice, reason),
            Update::ChoiceError(error) => self.choice_error(choice, error),
            Update::Usage(usage) => self.usage(usage),
            Update::Error(error) => self.error(error),
            Update::Meta(..) | Update::Member(_) => Flow::Continue(()),
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
    /// Annotations of the content: an array, as raw JSON.
    fn annotations(&mut self, choice: u32, annotations: Value<'_>) -> Flow {
        Flow::Continue(())
    }
    /// A signature of reasoning, or reasoning that is encrypted (other protocols than chat completions).
    fn signature(&mut self, choice: u32, text: Text<'_>) -> Flow {
        Flow::Continue(())
    }
    /// An image or another medium, as raw JSON (other protocols).
    fn media(&mut self, choice: u32, part: Value<'_>) -> Flow {
        Flow::Continue(())
    }
    /// A part of the response that no other method is for, as raw JSON (other protocols): a server's tool, its result, ...
    fn native(&mut self, choice: u32, part: Value<'_>) -> Flow {
        Flow::Continue(())
    }
    /// Log probabilities of more tokens.
    fn logprobs(&mut self, choice: u32, logprobs: Logprobs<'_>) -> Flow {
        Flow::Continue(())
    }
    /// The whole message so far, of a body or of a dialect without deltas, before what is new in it: that comes to the other
    /// methods. [`Message::view`] has its members.
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
    /// A payload that is no JSON object, or what followed one; [`Malformed::wire_range`] is where it lies.
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
    /// A delta of the event was left out: a table is full, or an index is out of range (not an unsigned 32-bit integer).
    /// The parser stops after the event with [`Stop::Error`].
    fn limit(&mut self, error: &Error) -> Flow {
        Flow::Continue(())
    }
    /// A quirk of the event that was just emitted, which began at this stream offset.
    fn quirk(&mut self, quirk: Quirk, offset: u64) -> Flow {
        Flow::Continue(())
    }
    /// `[DONE]` came.
    fn done(&mut self) -> Flow {
        Flow::Continue(())
    }
}
