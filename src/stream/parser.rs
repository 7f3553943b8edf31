//! The parser: a machine with its storage and its tracker.

use super::emitter::{Emitter, Outcome};
use super::found::Recognized;
use super::handler::{Answer, Each, Fed, Handler, Stop};
use super::handler_sink::HandlerSink;
use super::sink::Track;
use super::workspace::{Parked, Workspace};
use super::{Config, End, Event, Found, Machine, StreamState};
use crate::chat::Update;
use crate::track::Tracker;
use crate::{Error, Quirk, QuirkSet, Storage};
use core::ops::{DerefMut, Range};

/// Reads one stream.
///
/// `S` stores the beginning of an event until the rest arrives; [`Storage`] lists the types for it. Use
/// [`Growing`](crate::Growing) if there is a heap. With an array, an event that does not fit is skipped and reported as
/// [`Event::TooLong`], and the response is not complete ([`End::is_complete`]).
///
/// `SLOTS` is the number of templates, 0 to 4: an event that differs from an earlier one only in its texts is not
/// parsed again. That changes the cost, never the result.
///
/// `T` is the per-choice state that [`feed`](Parser::feed) needs. A parser that only pulls saves that memory with `()`.
///
/// Pull:
///
/// ```
/// # #[cfg(feature = "alloc")]
/// use deltawire::Growing;
/// use deltawire::{Event, Parser, Update};
///
/// let stream = br#"data: {"choices":[{"index":0,"delta":{"content":"Hello"}}]}
///
/// data: {"choices":[{"index":0,"delta":{"content":", world"},"finish_reason":"stop"}]}
///
/// data: {"choices":[{"index":0,"delta":{"content":"!"}}]}"#;
/// # #[cfg(feature = "alloc")] {
/// let mut parser = Parser::new(Growing::new());
/// let mut text = String::new();
/// let mut append = |event: Event<'_>| {
///     for (_choice, update) in event.deltas() {
///         if let Update::Content(content) = update {
///             text += &content.to_string();
///         }
///     }
/// };
/// for mut slice in stream.chunks(10) {
///     while let Some(event) = parser.next(&mut slice)? {
///         append(event);
///     }
/// }
/// while let Some(event) = parser.finish()? {
///     append(event); // a last event without its blank line
/// }
/// assert_eq!(text, "Hello, world!");
/// assert!(parser.end().is_complete()); // otherwise the stream was cut, or a part was lost
/// # }
/// # Ok::<(), deltawire::Error>(())
/// ```
///
/// To stop, drop the parser. A clone continues the stream from the same place.
///
/// `M` is the machine or, for a [`SharedParser`], the part of the machine that is not in the shared [`Workspace`].
#[derive(Clone)]
pub struct Parser<S, const SLOTS: usize = 2, T = Tracker, M = Machine<SLOTS>> {
    machine: M,
    storage: S,
    tracker: T,
}

/// A parser that shares a [`Workspace`] with others. It has no templates of its own, so it is small.
pub type SharedParser<S, T = Tracker> = Parser<S, 0, T, Parked>;

/// Prints the state of the machine and the length of the storage, but no bytes of the stream.
impl<S: Storage, const SLOTS: usize, T, M: core::fmt::Debug> core::fmt::Debug for Parser<S, SLOTS, T, M> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Parser")
            .field("machine", &self.machine)
            .field("storage_len", &self.storage.bytes().len())
            .finish_non_exhaustive()
    }
}

impl<S: Storage> Parser<S> {
    /// A parser with the default configuration.
    ///
    /// ```
    /// # #[cfg(feature = "alloc")] {
    /// use deltawire::{Growing, Parser};
    /// use std::sync::Mutex;
    /// static PARSER: Mutex<Parser<Growing>> = Mutex::new(Parser::new(Growing::new()));
    /// assert_eq!(PARSER.lock().unwrap().offset(), 0);
    /// # }
    /// ```
    pub const fn new(storage: S) -> Self {
        Parser::with_config(storage, Config::DEFAULT)
    }

    /// A parser with this configuration.
    pub const fn with_config(storage: S, config: Config) -> Self {
        Parser::with_tracker(storage, config, Tracker::new())
    }
}

impl<S: Storage, T> Parser<S, 2, T> {
    /// A parser whose per-choice state has another size than [`Tracker`]'s default of 8 choices and 32 tool calls, or
    /// that has none, which is `()`.
    ///
    /// ```
    /// use deltawire::{track::Tracker, Config, Parser};
    /// # #[cfg(feature = "alloc")] {
    /// # use deltawire::Growing;
    /// let pull_only = Parser::with_tracker(Growing::new(), Config::new(), ());
    /// let many_choices = Parser::with_tracker(Growing::new(), Config::new(), Tracker::<128, 128>::new());
    /// # let _ = (pull_only, many_choices);
    /// # }
    /// ```
    pub const fn with_tracker(storage: S, config: Config, tracker: T) -> Self {
        Parser::with_slots(storage, config, tracker)
    }
}

impl<S: Storage, const SLOTS: usize, T> Parser<S, SLOTS, T> {
    /// A parser with `SLOTS` templates. More than 4 do not compile.
    ///
    /// ```
    /// use deltawire::{Config, Parser};
    /// # #[cfg(feature = "alloc")] {
    /// # use deltawire::Growing;
    /// let parser = Parser::<_, 0, _>::with_slots(Growing::new(), Config::new(), ());
    /// # let _ = parser;
    /// # }
    /// ```
    ///
    /// ```compile_fail
    /// use deltawire::{Config, Growing, Parser};
    /// Parser::<_, 5, _>::with_slots(Growing::new(), Config::new(), ());
    /// ```
    pub const fn with_slots(storage: S, config: Config, tracker: T) -> Self {
        Parser { machine: Machine::with_slots(config), storage, tracker }
    }

    /// Takes the next event off the front of `input`. `None` means that the input is consumed: give more, or call
    /// [`finish`](Self::finish).
    ///
    /// The event borrows from the input if it is whole there; otherwise it was copied to the storage, once. Its deltas
    /// are read without a tracker: [`Update`] explains how they differ from deltas that are pushed.
    ///
    /// # Errors
    ///
    /// [`Error::Quirk`], if the event has a quirk of framing or shape that [`Config::errors`] names; the event is
    /// consumed. [`Error::Finished`], if there is input after the stream was ended; [`reset`](Self::reset) begins
    /// another one.
    #[inline(always)]
    pub fn next<'a, 'i: 'a>(&'a mut self, input: &mut &'i [u8]) -> Result<Option<Event<'a>>, Error> {
        let window: &'i [u8] = input;
        if let Some(Recognized { payload, rest, is_native, .. }) = self.machine.recognize(&mut self.storage, window) {
            *input = rest;
            let name = if is_native { self.machine.name.within(window) } else { &[] };
            return Ok(Some(Event::Chunk(self.machine.chunk(payload, name))));
        }
        if self.machine.append(&mut self.storage, input) || input.is_empty() && self.machine.is_at_rest() {
            return Ok(None);
        }
        self.next_read(input)
    }

    /// [`next`](Self::next) for an event that no template recognized.
    #[inline(never)]
    fn next_read<'a, 'i: 'a>(&'a mut self, input: &mut &'i [u8]) -> Result<Option<Event<'a>>, Error> {
        self.machine.may_read(input)?;
        let (window, found) = advance(&mut self.machine, &mut self.storage, input, true);
        self.machine.event(&self.storage, window, found)
    }

    /// Ends the stream. Returns what was pending: a last event without its blank line, or malformed bytes that are
    /// left. Call it until it returns `None`; then [`end`](Self::end) has the verdict.
    ///
    /// # Errors
    ///
    /// [`Error::Quirk`], as [`next`](Self::next).
    pub fn finish(&mut self) -> Result<Option<Event<'_>>, Error> {
        let found = self.machine.finish(&mut self.storage);
        self.machine.event(&self.storage, &[], found)
    }

    /// The range of the last event, in bytes from the beginning of the stream.
    pub fn wire_range(&self) -> Range<u64> {
        let (start, end) = self.machine.index().frame;
        start..end
    }

    /// The machine.
    pub fn machine(&self) -> &Machine<SLOTS> {
        &self.machine
    }
}

/// Steps until something is found or the input is consumed. `unknown` means that no template recognized the event at
/// the front.
#[inline]
fn advance<'i, S: Storage, const SLOTS: usize>(
    machine: &mut Machine<SLOTS>,
    storage: &mut S,
    input: &mut &'i [u8],
    mut unknown: bool,
) -> (&'i [u8], Found) {
    loop {
        let window: &'i [u8] = input;
        let step = if core::mem::take(&mut unknown) {
            machine.read_on(storage, window)
        } else {
            machine.step(storage, window)
        };
        *input = window.get(step.consumed..).unwrap_or(&[]);
        if step.found != Found::NeedMore || input.is_empty() {
            return (window, step.found);
        }
    }
}

impl<S: Storage, T> SharedParser<S, T> {
    /// A parser that shares a workspace. [`next_with`](Self::next_with) and [`feed_with`](Self::feed_with) get that
    /// workspace as an argument.
    ///
    /// ```
    /// # #[cfg(feature = "alloc")] {
    /// use deltawire::{track::Tracker, Config, Growing, Parser, SharedParser};
    /// let pull_only: SharedParser<Growing, ()> = Parser::sharing(Growing::new(), Config::new(), ());
    /// let push: SharedParser<Growing> = Parser::sharing(Growing::new(), Config::new(), Tracker::new());
    /// # let _ = (pull_only, push);
    /// # }
    /// ```
    pub const fn sharing(storage: S, config: Config, tracker: T) -> Self {
        Parser { machine: Parked::new(config), storage, tracker }
    }

    /// [`next`](Parser::next) for a parser that shares `workspace`. The event borrows from the parser and from the
    /// workspace.
    ///
    /// # Errors
    ///
    /// As [`next`](Parser::next).
    pub fn next_with<'a, 'i: 'a, const SLOTS: usize>(
        &'a mut self,
        workspace: &'a mut Workspace<SLOTS>,
        input: &mut &'i [u8],
    ) -> Result<Option<Event<'a>>, Error> {
        if self.machine.append(&mut self.storage, input) || input.is_empty() && self.machine.is_at_rest() {
            return Ok(None);
        }
        self.machine.may_read(input)?;
        let loan = workspace.lend(&mut self.machine, input);
        let (window, found) = advance(loan.machine, &mut self.storage, input, false);
        drop(loan);
        self.machine.event(workspace.index(), &self.storage, window, found)
    }

    /// [`finish`](Parser::finish) for a parser that shares `workspace`.
    ///
    /// # Errors
    ///
    /// As [`finish`](Parser::finish).
    pub fn finish_with<'a, const SLOTS: usize>(
        &'a mut self,
        workspace: &'a mut Workspace<SLOTS>,
    ) -> Result<Option<Event<'a>>, Error> {
        let found = workspace.lend(&mut self.machine, &[]).machine.finish(&mut self.storage);
        self.machine.event(workspace.index(), &self.storage, &[], found)
    }

    /// The range of the last event, in bytes from the beginning of the stream.
    pub fn wire_range(&self) -> Range<u64> {
        let (start, end) = self.machine.frame;
        start..end
    }
}

impl<S: Storage, const SLOTS: usize, T, M: DerefMut<Target = StreamState>> Parser<S, SLOTS, T, M> {
    /// The verdict: how the stream ended, or how it would end now.
    pub fn end(&self) -> End {
        self.machine.end()
    }

    /// The last event ID, which a client sends as `Last-Event-ID` when it reconnects. Empty if none came.
    pub fn last_event_id(&self) -> &[u8] {
        self.machine.last_event_id(self.storage.bytes())
    }

    /// How many bytes were consumed.
    pub fn offset(&self) -> u64 {
        self.machine.offset()
    }

    /// The token counts so far of a stream of another protocol than chat completions, with the meaning that they have
    /// in chat completions, and merged if the protocol reports them over several events. `None` for chat completions,
    /// where the last [`Usage`](crate::chat::Usage) has the counts. Do not bill by the counts of a stream that is not
    /// complete: the completion tokens of an Anthropic stream that was cut are those that its first event reported.
    pub fn native_counts(&self) -> Option<crate::chat::TokenCounts> {
        self.machine.native_counts()
    }

    /// Counts quirks of an event that the parser does not see. Programs that pull with a [`Tracker`] of their own call
    /// it with the quirks that the tracker collects ([`Updates::quirks`](crate::track::Updates::quirks)).
    /// [`feed`](Self::feed) counts them itself.
    ///
    /// ```
    /// use deltawire::{track::Tracker, Event, Parser, Quirk};
    ///
    /// let mut input = &b"data: {\"choices\":[{\"message\":{\"content\":\"ab\"}}]}\n\n\
    ///     data: {\"choices\":[{\"message\":{\"content\":\"x\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"[..];
    /// // An event that does not fit 512 bytes would be skipped, and reported as Event::TooLong.
    /// let (mut parser, mut tracker): (_, Tracker) = (Parser::new([0; 512]), Tracker::new());
    /// while let Some(event) = parser.next(&mut input)? {
    ///     let Event::Chunk(chunk) = event else { continue };
    ///     let mut updates = tracker.updates(&chunk);
    ///     updates.by_ref().for_each(|_update| ());
    ///     let quirks = updates.quirks();
    ///     drop(updates);
    ///     parser.count_quirks(quirks);
    /// }
    /// assert_eq!(parser.quirk_count(Quirk::ReplacedMessage), 1);
    /// assert!(!parser.end().is_complete());
    /// # Ok::<(), deltawire::Error>(())
    /// ```
    pub fn count_quirks(&mut self, quirks: QuirkSet) {
        self.machine.count(quirks);
    }

    /// How often `quirk` occurred, at most 65,535. Quirks inside texts, and quirks that depend on earlier chunks, are
    /// detected only if the texts are read and tracked. [`feed`](Self::feed) does that, and counts them here. A program
    /// that pulls adds them with [`count_quirks`](Self::count_quirks).
    pub fn quirk_count(&self, quirk: Quirk) -> u16 {
        self.machine.quirk_count(quirk)
    }

    /// The quirks that occurred so far.
    pub fn quirks(&self) -> QuirkSet {
        Quirk::ALL.iter().copied().filter(|quirk| self.quirk_count(*quirk) > 0).collect()
    }

    /// The configuration.
    pub fn config(&self) -> &Config {
        self.machine.config()
    }
}

impl<S: Storage, const SLOTS: usize, T: Track> Parser<S, SLOTS, T> {
    /// Reads all of `input` and calls `handler` for each event and delta, until a method returns a stop. Of input after the
    /// stream was ended it consumes nothing, and stops with [`Error::Finished`]; [`reset`](Self::reset) begins another
    /// one.
    ///
    /// ```
    /// use deltawire::{json::Text, Flow, Handler, Parser};
    /// struct Print(String);
    /// impl Handler for Print {
    ///     fn content(&mut self, _choice: u32, text: Text<'_>) -> Flow {
    ///         self.0 += &text.to_string();
    ///         Flow::Continue(())
    ///     }
    /// }
    /// # #[cfg(feature = "alloc")] {
    /// # use deltawire::Growing;
    /// let mut parser = Parser::new(Growing::new());
    /// let mut print = Print(String::new());
    /// parser.feed(b"data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\n\n", &mut print).into_result()?;
    /// assert_eq!(print.0, "Hi");
    /// # }
    /// # Ok::<(), deltawire::Stop>(())
    /// ```
    pub fn feed<H: Handler + ?Sized>(&mut self, input: &[u8], handler: &mut H) -> Fed {
        let Parser { machine, storage, tracker } = self;
        let mut rest = input;
        if machine.append(storage, &mut rest) {
            return Fed { consumed: input.len(), stop: None };
        }
        if machine.is_finished() && !rest.is_empty() {
            return machine.nothing_fed();
        }
        let appended = input.len().wrapping_sub(rest.len());
        fed(Emitter::new().run(machine, storage, tracker, rest, 0, &mut HandlerSink(handler)), appended)
    }

    /// Reads all of `input` and calls `each` for each delta, with the index of its choice. The closure returns nothing,
    /// or a [`Flow`](super::Flow). What is over a limit does not stop it: [`end`](Self::end) has that.
    ///
    /// ```
    /// # #[cfg(feature = "alloc")] {
    /// use deltawire::{Growing, Parser, Update};
    /// let mut text = String::new();
    /// let mut append = |_choice, update: Update<'_>| {
    ///     if let Update::Content(content) = update {
    ///         content.push_to(&mut text);
    ///     }
    /// };
    /// let mut parser = Parser::new(Growing::new());
    /// for read in [&b"data: {\"choices\":[{\"delta\":{\"content\":\"H"[..], b"i\"},\"finish_reason\":\"stop\"}]}\n\n"] {
    ///     parser.feed_all(read, &mut append)?;
    /// }
    /// parser.finish_all(&mut append)?;
    /// assert_eq!(text, "Hi");
    /// assert!(parser.end().is_complete());
    /// # }
    /// # Ok::<(), deltawire::Stop>(())
    /// ```
    ///
    /// # Errors
    ///
    /// - The stop with which the closure broke off. The rest of the input is not read, and the response is not complete:
    ///   [`feed`](Self::feed) can pause.
    /// - The first quirk of the input that [`Config::errors`] names, after all of the input was read.
    /// - [`Error::Finished`], if the stream was ended.
    pub fn feed_all<R: Answer>(&mut self, input: &[u8], each: impl FnMut(u32, Update<'_>) -> R) -> Result<(), Stop> {
        let (mut each, mut rest, mut quirk) = (Each { each, stop: None }, input, Ok(()));
        loop {
            let Fed { consumed, stop } = self.feed(rest, &mut each);
            rest = rest.get(consumed..).unwrap_or_default();
            match stop {
                None => return quirk,
                Some(stop) => quirk = quirk.and(after(stop, each.stop)?),
            }
        }
    }

    /// [`finish`](Self::finish) for a closure, which gets the deltas that were pending.
    ///
    /// # Errors
    ///
    /// The stop of the closure, or the first quirk, as [`feed_all`](Self::feed_all).
    pub fn finish_all<R: Answer>(&mut self, each: impl FnMut(u32, Update<'_>) -> R) -> Result<(), Stop> {
        let (mut each, mut quirk) = (Each { each, stop: None }, Ok(()));
        while let Err(stop) = self.finish_into(&mut each) {
            quirk = quirk.and(after(stop, each.stop)?);
        }
        quirk
    }

    /// [`finish`](Self::finish) for a handler. It also emits U+FFFD for each pending high surrogate.
    ///
    /// # Errors
    ///
    /// The reason for which it stopped before the end. After a pause, call it again.
    pub fn finish_into<H: Handler + ?Sized>(&mut self, handler: &mut H) -> Result<(), Stop> {
        let Parser { machine, storage, tracker } = self;
        fed((0, Emitter::new().finish(machine, storage, tracker, &mut HandlerSink(handler))), 0).into_result()
    }
}

impl<S: Storage, T: Track> SharedParser<S, T> {
    /// [`feed`](Parser::feed) for a parser that shares `workspace`. The handler may use other workspaces.
    pub fn feed_with<H: Handler + ?Sized, const SLOTS: usize>(
        &mut self,
        workspace: &mut Workspace<SLOTS>,
        input: &[u8],
        handler: &mut H,
    ) -> Fed {
        let Parser { machine, storage, tracker } = self;
        let mut rest = input;
        if machine.append(storage, &mut rest) {
            return Fed { consumed: input.len(), stop: None };
        }
        if machine.is_finished() && !rest.is_empty() {
            return machine.nothing_fed();
        }
        let appended = input.len().wrapping_sub(rest.len());
        let loan = workspace.lend(machine, rest);
        fed(Emitter::new().run(loan.machine, storage, tracker, rest, 0, &mut HandlerSink(handler)), appended)
    }

    /// [`finish_into`](Parser::finish_into) for a parser that shares `workspace`.
    ///
    /// # Errors
    ///
    /// As [`finish_into`](Parser::finish_into).
    pub fn finish_into_with<H: Handler + ?Sized, const SLOTS: usize>(
        &mut self,
        workspace: &mut Workspace<SLOTS>,
        handler: &mut H,
    ) -> Result<(), Stop> {
        let Parser { machine, storage, tracker } = self;
        let loan = workspace.lend(machine, &[]);
        fed((0, Emitter::new().finish(loan.machine, storage, tracker, &mut HandlerSink(handler))), 0).into_result()
    }
}

impl StreamState {
    /// The result of a call that feeds a handler after the stream was ended.
    #[cold]
    #[inline(never)]
    fn nothing_fed(&self) -> Fed {
        Fed { consumed: 0, stop: Some(Stop::Error(Error::Finished { offset: self.offset() })) }
    }

    /// Whether the stream may go on with this input.
    fn may_read(&self, input: &[u8]) -> Result<(), Error> {
        if self.is_finished() && !input.is_empty() {
            return Err(Error::Finished { offset: self.offset() });
        }
        Ok(())
    }
}

/// Whether a call that feeds a closure goes on after `stop`, which `asked` is if the closure stopped. The inner result is
/// an error that is returned at the end.
#[cold]
fn after(stop: Stop, asked: Option<Stop>) -> Result<Result<(), Stop>, Stop> {
    match (asked, stop) {
        (Some(asked), _) => Err(asked),
        (None, Stop::Error(Error::Quirk { .. })) => Ok(Err(stop)),
        (None, Stop::Error(Error::Finished { .. })) => Err(stop),
        (None, _) => Ok(Ok(())),
    }
}

/// The result of a call that feeds a handler. The emitter consumed `consumed` bytes after the first `before` bytes of
/// the input.
#[inline(always)]
fn fed((consumed, outcome): (usize, Outcome), before: usize) -> Fed {
    let stop = match outcome {
        Outcome::Stopped(stop) => Some(stop),
        // These do not stop a parser: a handler is never full, and the storage of a parser does not move.
        Outcome::Done | Outcome::Full | Outcome::Resume | Outcome::NeedStorage(_) => None,
    };
    Fed { consumed: consumed.saturating_add(before), stop }
}

impl<S: Storage, const SLOTS: usize, T: Default> Parser<S, SLOTS, T> {
    /// Begins a new stream with the same configuration and storage.
    pub fn reset(&mut self) {
        self.machine.reset();
        self.storage.shrink(0);
        self.tracker = T::default();
    }
}

impl<S: Storage, T: Default> SharedParser<S, T> {
    /// Begins a new stream with the same configuration and storage. The workspace keeps its templates.
    pub fn reset(&mut self) {
        self.machine = Parked::new(*self.machine.config());
        self.storage.shrink(0);
        self.tracker = T::default();
    }
}
