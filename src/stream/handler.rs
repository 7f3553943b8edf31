//! Push: the parser calls a handler with each event and each delta.

use super::{Event, Malformed};
use crate::chat::{ApiError, CallUpdate, Chunk, FinishReason, NamePiece, Update, Usage};
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
    /// The handler asked for a pause. The parser still makes the remaining calls for the current event.
    Pause,
    /// The handler broke off. The parser makes no more calls for the current event, which it consumes. The response is
    /// not [complete](super::End::is_complete).
    Abort,
    /// The current event caused an error. If the error is a quirk of framing or shape, no method was called for the
    /// event; otherwise its methods were called first. A handler that returns this itself breaks off as with
    /// [`Abort`](Stop::Abort).
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

/// [`Stop::Error`] prints the error that it contains, so it does not return that error as its source.
impl core::error::Error for Stop {}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Stop::Error(error)
    }
}

/// How much of the input was consumed, and why the parser stopped, if it did.
#[must_use = "the parser may have stopped before the end of the input"]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fed {
    /// How many bytes were consumed: all of them, unless the parser stopped. To go on, give the other bytes again.
    pub consumed: usize,
    /// Why the parser stopped.
    pub stop: Option<Stop>,
}

impl Fed {
    /// The stop as an error, for handlers that never pause.
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
    /// The compiler warns about a result that is not used:
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
    /// The reason for which the parser stopped. If that may be a [`Pause`](Stop::Pause), read
    /// [`consumed`](Fed::consumed) first.
    pub fn into_result(self) -> Result<(), Stop> {
        match self.stop {
            Some(stop) => Err(stop),
            None => Ok(()),
        }
    }
}

/// Declares [`Handler`] from its methods, which do nothing by default, and implements it for pointers to a handler,
/// which call the same methods of that handler.
macro_rules! handler {
    ($($(#[$doc:meta])* $method:ident($($name:ident: $type:ty),*);)+) => {
        /// Receives events and deltas. Implement the methods you need. The defaults do nothing, except that of
        /// [`update`](Handler::update), which calls the method for the delta's kind.
        ///
        /// Texts are valid until the method returns. No text is empty, and none ends inside a UTF-8 sequence or a
        /// surrogate pair: a high surrogate stays pending until the next text of its choice and channel.
        ///
        /// The parser calls [`event`](Handler::event) for every event, then the method for its type. For a chunk that
        /// is [`chunk`](Handler::chunk), then [`update`](Handler::update) for each delta, then
        /// [`quirk`](Handler::quirk) for each quirk.
        #[allow(unused_variables)]
        pub trait Handler {
            /// One delta of a chunk. The default calls the method for its kind.
            // Always inlined: if the kind is known at the call, the update stays in registers.
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
                    Update::CallEnd { call, whole } => self.tool_call_end(choice, call, whole),
                    Update::FunctionName { text, piece } => self.function_name(choice, text, piece),
                    Update::FunctionArguments(text) => self.function_arguments(choice, text),
                    Update::Audio(audio) => self.audio(choice, audio),
                    Update::Annotations(value) => self.annotations(choice, value),
                    Update::Signature(text) => self.signature(choice, text),
                    Update::Media(value) => self.media(choice, value),
                    Update::Native(value) => self.native(choice, value),
                    Update::Logprobs(logprobs) => self.logprobs(choice, logprobs),
                    Update::Finish(reason) => self.finish_reason(choice, reason),
                    Update::ChoiceError(error) => self.choice_error(choice, error),
                    Update::Usage(usage) => self.usage(usage),
                    Update::Error(error) => self.error(error),
                    Update::Meta(..) | Update::Member(_) => Flow::Continue(()),
                }
            }
            $(
                $(#[$doc])*
                fn $method(&mut self $(, $name: $type)*) -> Flow {
                    Flow::Continue(())
                }
            )+
        }

        handler! { forward &mut H: $($method($($name: $type),*);)+ }
        #[cfg(feature = "alloc")]
        handler! { forward alloc::boxed::Box<H>: $($method($($name: $type),*);)+ }
    };
    (forward $pointer:ty: $($method:ident($($name:ident: $type:ty),*);)+) => {
        impl<H: Handler + ?Sized> Handler for $pointer {
            #[inline]
            fn update(&mut self, choice: u32, update: Update<'_>) -> Flow {
                (**self).update(choice, update)
            }
            $(
                #[inline]
                fn $method(&mut self $(, $name: $type)*) -> Flow {
                    (**self).$method($($name),*)
                }
            )+
        }
    };
}

handler! {
    /// Any event.
    event(event: &Event<'_>);
    /// An event whose payload is not read.
    sse(event: &sse::Event<'_>);
    /// A comment, without its colon and at most one space after that.
    comment(text: &[u8]);
    /// A payload that only keeps the connection alive.
    keep_alive(payload: &[u8]);
    /// How long to wait before reconnecting, in milliseconds.
    retry(ms: u64);
    /// A last event ID that came without an event.
    last_event_id(id: &[u8]);
    /// A chunk; its deltas follow.
    chunk(chunk: &Chunk<'_>);
    /// The role, once a choice.
    role(choice: u32, text: Text<'_>);
    /// Content.
    content(choice: u32, text: Text<'_>);
    /// Reasoning.
    reasoning(choice: u32, text: Text<'_>);
    /// A refusal.
    refusal(choice: u32, text: Text<'_>);
    /// A tool call opens, or its ID or type came late. Its name and arguments follow with the same number.
    tool_call(choice: u32, call: &CallUpdate<'_>);
    /// A tool call's name, or a piece of it.
    tool_name(choice: u32, call: u32, text: Text<'_>, piece: NamePiece);
    /// A fragment of a tool call's arguments, or of a custom tool's input. If a call has no fragment, take the arguments
    /// of a function as `{}`, and the input of a custom tool as empty. Arguments that Gemini sends by path
    /// (`partialArgs`) do not come as fragments: an [assembler](crate::message) joins them, a [member](Update::Member)
    /// of the call has them as they were sent, and the quirk
    /// [`PartialArguments`](crate::Quirk::PartialArguments) counts the events that have them.
    tool_arguments(choice: u32, call: u32, text: Text<'_>);
    /// A tool call is over, and its arguments are `whole`: see [`Update::CallEnd`].
    tool_call_end(choice: u32, call: u32, whole: bool);
    /// The name of a `function_call`'s function, or a piece of it.
    function_name(choice: u32, text: Text<'_>, piece: NamePiece);
    /// A fragment of a `function_call`'s arguments.
    function_arguments(choice: u32, text: Text<'_>);
    /// A fragment of audio, as raw JSON: see [`Update::Audio`].
    audio(choice: u32, audio: Value<'_>);
    /// Annotations of the content, as raw JSON: an array of them, or one annotation (other protocols).
    annotations(choice: u32, annotations: Value<'_>);
    /// A signature of reasoning, or the encrypted reasoning of Responses (other protocols than chat completions).
    signature(choice: u32, text: Text<'_>);
    /// An image or another medium, as raw JSON (other protocols).
    media(choice: u32, part: Value<'_>);
    /// A part of the response for which there is no other method, as raw JSON (other protocols): a server's tool, its
    /// result, ...
    native(choice: u32, part: Value<'_>);
    /// Log probabilities of more tokens, as raw JSON: see [`Update::Logprobs`].
    logprobs(choice: u32, logprobs: Value<'_>);
    /// A choice finished.
    finish_reason(choice: u32, reason: FinishReason<'_>);
    /// A choice failed.
    choice_error(choice: u32, error: ApiError<'_>);
    /// The token counts that this event reports. Never add them up. In chat completions the last usage counts. Other
    /// protocols may report the counts over several events: [`Parser::usage`](super::Parser::usage) has
    /// them merged.
    usage(usage: Usage<'_>);
    /// The API reported an error.
    error(error: ApiError<'_>);
    /// A payload that is not a JSON object, or bytes after such an object. [`Malformed::wire_range`] is the range of
    /// its event.
    malformed(malformed: &Malformed<'_>);
    /// An event over the limit, which began at this stream offset, was discarded.
    too_long(offset: u64);
    /// A comment over the limit, which began at this stream offset, was discarded. The event around it goes on.
    comment_too_long(offset: u64);
    /// A delta of the event was left out, because a table is full or an index is out of range (not an unsigned 32-bit
    /// integer). The parser stops after the event with [`Stop::Error`].
    limit(error: &Error);
    /// A quirk of the event whose deltas were just emitted. The event began at this stream offset.
    quirk(quirk: Quirk, offset: u64);
    /// `[DONE]` came. Protocols other than chat completions end without it: see [`Parser::end`](super::Parser::end).
    done();
}

/// The answer of a closure that [`Parser::feed_all`](super::Parser::feed_all) calls: nothing, or a [`Flow`].
pub trait Answer {
    /// The answer as a flow.
    fn flow(self) -> Flow;
}

impl Answer for () {
    #[inline(always)]
    fn flow(self) -> Flow {
        Flow::Continue(())
    }
}

impl Answer for Flow {
    #[inline(always)]
    fn flow(self) -> Flow {
        self
    }
}

/// The handler of [`Parser::feed_all`](super::Parser::feed_all): a closure, and the stop that it asked for.
pub(super) struct Each<F> {
    pub(super) each: F,
    pub(super) stop: Option<Stop>,
}

impl<R: Answer, F: FnMut(u32, Update<'_>) -> R> Handler for Each<F> {
    #[inline]
    fn update(&mut self, choice: u32, update: Update<'_>) -> Flow {
        match (self.each)(choice, update).flow() {
            Flow::Continue(()) => Flow::Continue(()),
            Flow::Break(stop) => {
                self.stop = Some(stop);
                Flow::Break(Stop::Abort)
            }
        }
    }
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

/// A handler that calls `update` for each delta, with the index of its choice. The verdict has everything else:
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
}
