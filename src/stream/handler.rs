//! Push: the parser calls a handler with each event and each delta.

use super::Event;
use crate::chat::Update;
use crate::{Error, Quirk};
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

/// Receives events and deltas. Implement the methods you need; the defaults do nothing.
///
/// The parser calls [`event`](Handler::event) for every event, then, for each delta of a chunk,
/// [`update`](Handler::update), then [`quirk`](Handler::quirk) for each quirk. If deltas are all you need, a closure will
/// do: [`Parser::feed_all`](super::Parser::feed_all), [`from_fn`].
///
/// Texts are valid until the method returns. No text is empty, and none ends inside a UTF-8 sequence or a surrogate pair:
/// a high surrogate stays pending until the next text of its choice and channel.
#[allow(unused_variables)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no `Handler`",
    note = "a closure is called for each delta by `Parser::feed_all` and `Parser::finish_all`"
)]
pub trait Handler {
    /// An event. Its deltas follow if it is a chunk.
    fn event(&mut self, event: &Event<'_>) -> Flow {
        Flow::Continue(())
    }

    /// A delta of a chunk, of the choice with this index.
    fn update(&mut self, choice: u32, update: Update<'_>) -> Flow {
        Flow::Continue(())
    }

    /// A delta of the event was left out, because a table is full or an index is out of range (not an unsigned 32-bit
    /// integer). The parser stops after the event with [`Stop::Error`].
    fn limit(&mut self, error: &Error) -> Flow {
        Flow::Continue(())
    }

    /// A quirk of the event whose deltas were just emitted. The event began at this stream offset.
    fn quirk(&mut self, quirk: Quirk, offset: u64) -> Flow {
        Flow::Continue(())
    }
}

/// Implements [`Handler`] for a pointer to a handler.
macro_rules! pointer {
    ($pointer:ty) => {
        impl<H: Handler + ?Sized> Handler for $pointer {
            #[inline]
            fn event(&mut self, event: &Event<'_>) -> Flow {
                (**self).event(event)
            }

            #[inline]
            fn update(&mut self, choice: u32, update: Update<'_>) -> Flow {
                (**self).update(choice, update)
            }

            #[inline]
            fn limit(&mut self, error: &Error) -> Flow {
                (**self).limit(error)
            }

            #[inline]
            fn quirk(&mut self, quirk: Quirk, offset: u64) -> Flow {
                (**self).quirk(quirk, offset)
            }
        }
    };
}

pointer!(&mut H);
#[cfg(feature = "alloc")]
pointer!(alloc::boxed::Box<H>);

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
