//! Push: a handler is called with each event and each delta.

use super::{Event, Malformed};
use crate::chat::{ApiError, Audio, CallUpdate, Chunk, FinishReason, Logprobs, Message, NamePiece, Update, Usage};
use crate::json::{Text, Value};
use crate::{sse, Error, Quirk};
use core::fmt;
use core::ops::ControlFlow;

/// A handler's answer: go on, or stop.
pub type Flow = ControlFlow<Stop>;

/// Why the parser stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stop {
    /// The handler asked for a pause. It takes effect after the current event, whose remaining calls are still made.
    Pause,
    /// The handler broke off: the parser emits nothing more of the current event, which is consumed all the same. The
    /// response is not [complete](super::End::is_complete) then.
    Abort,
    /// The current event caused an error. If that is a quirk of its framing or shape, no method was called for the event,
    /// as [`Parser::next`](super::Parser::next) returns none; otherwise its methods were called first. A handler that
    /// returns this itself breaks off like [`Abort`](Stop::Abort).
    Error(Error),
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stop::Pause => f.write_str("the handler asked for a pause"),
            Stop::Abort => f.write_str("the handler broke off"),
            Stop::Error(error) => fmt::Display::fmt(error, f),
        }
    }
}

/// An [`Error`](Stop::Error) prints as what it contains, so it has no source beside that.
impl core::error::Error for Stop {}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Stop::Error(error)
    }
}

/// How much of the input was consumed, and why no more.
#[must_use = "the parser may have stopped before the end of the input"]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fed {
    /// How many bytes were consumed; give the rest again to go on. All of them, unless it stopped.
    pub consumed: usize,
    /// Why it stopped.
    pub stop: Option<Stop>,
}

impl Fed {
    /// For handlers that never pause: all of the input was consumed, or the parser stopped.
    ///
    /// ```
    /// # #[cfg(feature = "alloc")] {
    /// use deltawire::{handler, Flow, Growing, Parser, Stop};
    /// fn read(stream: &[u8]) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    ///     let mut parser = Parser::new(Growing::new());
    ///     let mut abort = handler::from_fn(|_choice, _update| Flow::Break(Stop::Abort));
    ///     parser.feed(stream, &mut abort).into_result()?;
    ///     parser.finish_into(&mut abort)?;
    ///     Ok(())
    /// }
    /// assert!(read(b"data: [DONE]\n\n").is_ok());
    /// let error = read(b"data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\n\n").unwrap_err();
    /// assert_eq!(error.to_string(), "the handler broke off");
    /// # }
    /// ```
    ///
    /// A result that is thrown away is a warning:
    ///
    /// ```compile_fail
    /// #![deny(unused_must_use)]
    /// use deltawire::{handler, Flow, Parser};
    /// let mut ignore = handler::from_fn(|_, _| Flow::Continue(()));
    /// Parser::new(deltawire::Growing::new()).feed(b"", &mut ignore);
    /// ```
    ///
    /// # Errors
    ///
    /// Why it stopped. Look at [`consumed`](Fed::consumed) before if that may be a [`Pause`](Stop::Pause).
    pub fn into_result(self) -> Result<(), Stop> {
        match self.stop {
            Some(stop) => Err(stop),
            None => Ok(()),
        }
    }
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
    // Always inlined: where the kind is known, the update is never in memory.
    #[inline(always)]
    fn update(&mut self, choice: u32, update: Update<'_>) -> Flow {
        match update {
            Update::Role(text) => self.role(choice, text),
            Update::Content(text) => self.content(choice, text),
            Update::Reasoning(text) => self.reasoning(choice, text),
            Update::Refusal(text) => self.refusal(choice, text),
            Update::Call(call) => self.tool_call(choice, &call),
            Update::CallName { call, text, piece } => self.tool_name(choice, call, text, piece),
            Update::CallArguments { call, text } => self.tool_arguments(choice, call, text),
            Update::FunctionName { text, piece } => self.function_name(choice, text, piece),
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
    /// A tool call's name, or a piece of it.
    fn tool_name(&mut self, choice: u32, call: u32, text: Text<'_>, piece: NamePiece) -> Flow {
        Flow::Continue(())
    }
    /// A fragment of a tool call's arguments. A call without arguments has no fragment: take them as `{}`. Arguments that Gemini
    /// sends by path (`partialArgs`) are no fragments either: an [assembler](crate::message) joins them, a
    /// [member](Update::Member) of the call has them as sent, and the quirk
    /// [`PartialArguments`](crate::Quirk::PartialArguments) counts the events that have them.
    fn tool_arguments(&mut self, choice: u32, call: u32, text: Text<'_>) -> Flow {
        Flow::Continue(())
    }
    /// The name of a `function_call`'s function, or a piece of it.
    fn function_name(&mut self, choice: u32, text: Text<'_>, piece: NamePiece) -> Flow {
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
    /// Annotations of the content, as raw JSON: an array, or one that is new in a message so far.
    fn annotations(&mut self, choice: u32, annotations: Value<'_>) -> Flow {
        Flow::Continue(())
    }
    /// A signature of reasoning, or the encrypted reasoning of Responses (other protocols than chat completions).
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
    /// How many tokens were used, as this event reports it. Never add them up. In chat completions the last one counts;
    /// [`Parser::native_usage`](super::Parser::native_usage) has those of other protocols, which may report them bit by bit.
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
    /// `[DONE]` came. Other protocols than chat completions end without it: see [`Parser::end`](super::Parser::end).
    fn done(&mut self) -> Flow {
        Flow::Continue(())
    }
}

/// A pointer to a handler, as what it points to: each method of it, overridden or not.
macro_rules! forward {
    ($pointer:ty: $($method:ident($($name:ident: $type:ty),*);)+) => {
        impl<H: Handler + ?Sized> Handler for $pointer {
            $(
                #[inline]
                fn $method(&mut self $(, $name: $type)*) -> Flow {
                    (**self).$method($($name),*)
                }
            )+
        }
    };
    ($($pointer:ty $(, $feature:literal)?;)+) => {
        $(
            $(#[cfg(feature = $feature)])?
            forward! { $pointer:
                event(event: &Event<'_>);
                sse(event: &sse::Event<'_>);
                comment(text: &[u8]);
                keep_alive(payload: &[u8]);
                retry(ms: u64);
                last_event_id(id: &[u8]);
                chunk(chunk: &Chunk<'_>);
                update(choice: u32, update: Update<'_>);
                role(choice: u32, text: Text<'_>);
                content(choice: u32, text: Text<'_>);
                reasoning(choice: u32, text: Text<'_>);
                refusal(choice: u32, text: Text<'_>);
                tool_call(choice: u32, call: &CallUpdate<'_>);
                tool_name(choice: u32, call: u32, text: Text<'_>, piece: NamePiece);
                tool_arguments(choice: u32, call: u32, text: Text<'_>);
                function_name(choice: u32, text: Text<'_>, piece: NamePiece);
                function_arguments(choice: u32, text: Text<'_>);
                audio(choice: u32, audio: Audio<'_>);
                annotations(choice: u32, annotations: Value<'_>);
                signature(choice: u32, text: Text<'_>);
                media(choice: u32, part: Value<'_>);
                native(choice: u32, part: Value<'_>);
                logprobs(choice: u32, logprobs: Logprobs<'_>);
                message(choice: u32, message: Message<'_>);
                finish_reason(choice: u32, reason: FinishReason<'_>);
                choice_error(choice: u32, error: ApiError<'_>);
                usage(usage: Usage<'_>);
                error(error: ApiError<'_>);
                malformed(malformed: &Malformed<'_>);
                too_long(offset: u64);
                comment_too_long(offset: u64);
                limit(error: &Error);
                quirk(quirk: Quirk, offset: u64);
                done();
            }
        )+
    };
}

forward! {
    &mut H;
    alloc::boxed::Box<H>, "alloc";
}

/// The handler that [`from_fn`] makes.
#[derive(Clone, Copy)]
pub struct FromFn<F>(F);

impl<F> fmt::Debug for FromFn<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FromFn")
    }
}

impl<F: FnMut(u32, Update<'_>) -> Flow> Handler for FromFn<F> {
    #[inline]
    fn update(&mut self, choice: u32, update: Update<'_>) -> Flow {
        (self.0)(choice, update)
    }
}

/// A handler that calls `update` for each delta, with the index of its choice. All else is in the verdict:
/// [`Parser::end`](super::Parser::end).
///
/// ```
/// # #[cfg(feature = "alloc")] {
/// use deltawire::{handler, Flow, Growing, Parser, Update};
/// let mut text = String::new();
/// let mut append = handler::from_fn(|_choice, update| {
///     if let Update::Content(content) = update {
///         content.push_to(&mut text);
///     }
///     Flow::Continue(())
/// });
/// let stream = b"data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\n\n";
/// Parser::new(Growing::new()).feed(stream, &mut append).into_result()?;
/// assert_eq!(text, "Hi");
/// # }
/// # Ok::<(), deltawire::Stop>(())
/// ```
pub const fn from_fn<F: FnMut(u32, Update<'_>) -> Flow>(update: F) -> FromFn<F> {
    FromFn(update)
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::{Error, Fed, Stop};
    use crate::Quirk;
    use core::error::Error as _;
    use std::string::ToString;
    use std::vec::Vec;

    #[test]
    fn stops_have_a_text() {
        let error = Error::Quirk { quirk: Quirk::LongId, offset: 7 };
        for (stop, text) in [
            (Stop::Pause, "the handler asked for a pause"),
            (Stop::Abort, "the handler broke off"),
            (Stop::from(error), "F11 an event ID over the limit was ignored, in the event at byte 7"),
        ] {
            assert_eq!(stop.to_string(), text);
            assert!(stop.source().is_none());
            assert_eq!(Fed { consumed: 3, stop: Some(stop) }.into_result(), Err(stop));
        }
        assert_eq!(Fed { consumed: 3, stop: None }.into_result(), Ok(()));
    }

    /// One that is missing would compile: the default of the trait would take its place.
    #[test]
    fn every_method_is_forwarded() {
        let source = include_str!("handler.rs");
        let (_, after) = source.split_once("pub trait Handler {").unwrap_or_default();
        let (methods, after) = after.split_once("\n}\n").unwrap_or_default();
        let (_, after) = after.split_once("forward! { $pointer:\n").unwrap_or_default();
        let (forwarded, _) = after.split_once("            }\n").unwrap_or_default();
        let name = |line: &'static str| line.trim_start().split_once('(').map(|(name, _)| name);
        let methods: Vec<_> = methods.lines().filter_map(|line| name(line.strip_prefix("    fn ")?)).collect();
        let forwarded: Vec<_> = forwarded.lines().filter_map(name).collect();
        assert!(methods.len() > 20, "{methods:?}");
        assert_eq!(methods, forwarded);
    }
}
