//! The parser: a machine with its storage and its tracker.

use super::emitter::{Emitter, Outcome};
use super::found::Recognized;
use super::handler::{Answer, Each, Fed, Handler, Stop};
use super::handler_sink::HandlerSink;
use super::pull::Tracked;
use super::sink::{Sink, Track};
use super::workspace::Workspace;
use super::{Config, End, Event, Found, Machine, Pulled, StreamState};
use crate::chat::{TokenCounts, Update};
use crate::track::{Findings, Tracker};
use crate::{Error, Quirk, QuirkSet, Storage};
use core::ops::Range;

/// Reads one stream.
///
/// `S` stores the beginning of an event until the rest arrives; [`Storage`] lists the types for it. Use
/// [`Growing`](crate::Growing) if there is a heap. With an array, an event that does not fit is skipped and reported as
/// [`Event::TooLong`], and the response is not complete ([`End::is_complete`]).
///
/// `SLOTS` is the number of templates, 0 to 4: an event that differs from an earlier one only in its texts is not
/// parsed again. That changes the cost, never the result.
///
/// `T` is the state of the choices: a [`Tracker`] of some size.
///
/// Pull:
///
/// ```
/// # #[cfg(feature = "alloc")]
/// use deltawire::Growing;
/// use deltawire::{Parser, Pulled, Update};
///
/// let stream = br#"data: {"choices":[{"index":0,"delta":{"content":"Hello"}}]}
///
/// data: {"choices":[{"index":0,"delta":{"content":", world"},"finish_reason":"stop"}]}
///
/// data: {"choices":[{"index":0,"delta":{"content":"!"}}]}"#;
/// # #[cfg(feature = "alloc")] {
/// let mut parser = Parser::new(Growing::new());
/// let mut text = String::new();
/// let mut append = |event: Pulled<'_>| {
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
/// A parser without templates (`SLOTS` = 0) may share those of a [`Workspace`] with other parsers.
#[derive(Clone)]
pub struct Parser<S, const SLOTS: usize = 2, T = Tracker> {
    machine: Machine<SLOTS>,
    storage: S,
    tracked: Tracked<T>,
}

/// Prints the state of the machine and the length of the storage, but no bytes of the stream.
impl<S: Storage, const SLOTS: usize, T> core::fmt::Debug for Parser<S, SLOTS, T> {
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
    /// A parser whose state of the choices has another size than [`Tracker`]'s default of 8 choices and 32 tool calls.
    ///
    /// ```
    /// use deltawire::{track::Tracker, Config, Parser};
    /// # #[cfg(feature = "alloc")] {
    /// # use deltawire::Growing;
    /// let many_choices = Parser::with_tracker(Growing::new(), Config::new(), Tracker::<128, 128>::new());
    /// # let _ = many_choices;
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
    /// use deltawire::{track::Tracker, Config, Parser};
    /// # #[cfg(feature = "alloc")] {
    /// # use deltawire::Growing;
    /// let parser: Parser<_, 0> = Parser::with_slots(Growing::new(), Config::new(), Tracker::new());
    /// # let _ = parser;
    /// # }
    /// ```
    ///
    /// ```compile_fail
    /// use deltawire::{track::Tracker, Config, Growing, Parser};
    /// let parser: Parser<_, 5> = Parser::with_slots(Growing::new(), Config::new(), Tracker::new());
    /// ```
    pub const fn with_slots(storage: S, config: Config, tracker: T) -> Self {
        Parser { machine: Machine::with_slots(config), storage, tracked: Tracked::new(tracker) }
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

impl<S: Storage, const SLOTS: usize, T: Track> Parser<S, SLOTS, T> {
    /// Takes the next event off the front of `input`. `None` means that the input is consumed: give more, or call
    /// [`finish`](Self::finish).
    ///
    /// The event borrows from the input if it is whole there; otherwise it was copied to the storage, once. Its
    /// [`deltas`](Pulled::deltas) are those that [`feed`](Self::feed) gives to a handler.
    ///
    /// The event borrows the parser until it is dropped. In the body of a `while let` that is its end; with `loop { let
    /// Some(event) = parser.next(&mut input)? else { break }; … }` the parser is free once the event was used up.
    ///
    /// # Errors
    ///
    /// [`Error::Quirk`], if the event has a quirk of framing or shape that [`Config::errors`] names; the event is
    /// consumed. If a delta of the event *before* has such a quirk, or was left out because of a limit, that error comes
    /// first; then nothing of `input` is consumed, and the stream goes on with the next call.
    ///
    /// [`Error::Finished`], if there is input after the stream was ended; [`reset`](Self::reset) begins another one.
    #[inline(always)]
    pub fn next<'a, 'i: 'a>(&'a mut self, input: &mut &'i [u8]) -> Result<Option<Pulled<'a, T>>, Error> {
        if !self.tracked.found.is_nothing() {
            self.settle(self.machine.index().frame.0)?;
        }
        let window: &'i [u8] = input;
        if let Some(Recognized { payload, rest, is_native, .. }) = self.machine.recognize(&mut self.storage, window) {
            *input = rest;
            let name = if is_native { self.machine.name.within(window) } else { &[] };
            return Ok(Some(Pulled::new(Event::Chunk(self.machine.chunk(payload, name)), &mut self.tracked)));
        }
        if self.machine.append(&mut self.storage, input) || input.is_empty() && self.machine.is_at_rest() {
            return Ok(None);
        }
        self.next_read(input)
    }

    /// [`next`](Self::next) for an event that no template recognized.
    #[inline(never)]
    fn next_read<'a, 'i: 'a>(&'a mut self, input: &mut &'i [u8]) -> Result<Option<Pulled<'a, T>>, Error> {
        self.machine.may_read(input)?;
        let (window, found) = advance(&mut self.machine, &mut self.storage, input, true);
        let event = self.machine.event(&self.storage, window, found)?;
        Ok(event.map(|event| Pulled::new(event, &mut self.tracked)))
    }

    /// Ends the stream. Returns what was pending: a last event without its blank line, malformed bytes that are left, or
    /// halves of characters. Call it until it returns `None`; then [`end`](Self::end) has the verdict.
    ///
    /// # Errors
    ///
    /// As [`next`](Self::next).
    pub fn finish(&mut self) -> Result<Option<Pulled<'_, T>>, Error> {
        self.settle(self.machine.index().frame.0)?;
        let found = self.machine.finish(&mut self.storage);
        if self.has_rest(found)? {
            return Ok(Some(Pulled::new(Event::Rest, &mut self.tracked)));
        }
        let event = self.machine.event(&self.storage, &[], found)?;
        Ok(event.map(|event| Pulled::new(event, &mut self.tracked)))
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

impl<S: Storage, T: Track> Parser<S, 0, T> {
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
    ) -> Result<Option<Pulled<'a, T>>, Error> {
        if !self.tracked.found.is_nothing() {
            self.settle(self.machine.index().frame.0)?;
        }
        if self.machine.append(&mut self.storage, input) || input.is_empty() && self.machine.is_at_rest() {
            return Ok(None);
        }
        self.machine.may_read(input)?;
        let loan = workspace.lend(&mut self.machine, input);
        let (window, found) = advance(loan.machine, &mut self.storage, input, false);
        drop(loan);
        let event = self.machine.state.event(workspace.index(), &self.storage, window, found)?;
        Ok(event.map(|event| Pulled::new(event, &mut self.tracked)))
    }

    /// [`finish`](Parser::finish) for a parser that shares `workspace`.
    ///
    /// # Errors
    ///
    /// As [`finish`](Parser::finish).
    pub fn finish_with<'a, const SLOTS: usize>(
        &'a mut self,
        workspace: &'a mut Workspace<SLOTS>,
    ) -> Result<Option<Pulled<'a, T>>, Error> {
        self.settle(self.machine.index().frame.0)?;
        let found = workspace.lend(&mut self.machine, &[]).machine.finish(&mut self.storage);
        if self.has_rest(found)? {
            return Ok(Some(Pulled::new(Event::Rest, &mut self.tracked)));
        }
        let event = self.machine.state.event(workspace.index(), &self.storage, &[], found)?;
        Ok(event.map(|event| Pulled::new(event, &mut self.tracked)))
    }
}

impl<S: Storage, const SLOTS: usize, T> Parser<S, SLOTS, T> {
    /// The verdict: how the stream ended, or how it would end now.
    pub fn end(&self) -> End {
        let Findings { quirks, limit } = self.tracked.found;
        self.machine.end_after(quirks).with_left_out(limit)
    }

    /// The last event ID, which a client sends as `Last-Event-ID` when it reconnects. Empty if none came.
    pub fn last_event_id(&self) -> &[u8] {
        self.machine.last_event_id(self.storage.bytes())
    }

    /// How many bytes were consumed.
    pub fn offset(&self) -> u64 {
        self.machine.offset()
    }

    /// The token counts so far, with the meaning that they have in chat completions, and merged if the protocol reports
    /// them over several events. `None` if none came. With pull, those of an event count once its deltas were taken, or
    /// it was dropped. Do not bill by the counts of a stream that is not complete: the completion tokens of an Anthropic
    /// stream that was cut are those that its first event reported.
    ///
    /// ```
    /// # #[cfg(feature = "alloc")] {
    /// use deltawire::{Growing, Parser};
    /// let mut parser = Parser::new(Growing::new());
    /// let mut bytes = &b"data: {\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":3}}\n\n"[..];
    /// while parser.next(&mut bytes)?.is_some() {}
    /// let usage = parser.usage().unwrap_or_default();
    /// assert_eq!((usage.prompt_tokens(), usage.completion_tokens()), (Some(9), Some(3)));
    /// # }
    /// # Ok::<(), deltawire::Error>(())
    /// ```
    pub fn usage(&self) -> Option<TokenCounts> {
        if self.machine.is_native() {
            return self.machine.native_counts();
        }
        self.tracked.usage
    }

    /// How often `quirk` occurred, at most 65,535. With pull, the quirks of the deltas of an event and of their texts
    /// count once the deltas were taken, or the event was dropped.
    pub fn quirk_count(&self, quirk: Quirk) -> u16 {
        let count = self.machine.quirk_count(quirk);
        count.saturating_add(self.tracked.found.quirks.contains(quirk).into())
    }

    /// The quirks that occurred so far.
    pub fn quirks(&self) -> QuirkSet {
        Quirk::ALL.iter().copied().filter(|quirk| self.quirk_count(*quirk) > 0).collect()
    }

    /// The configuration.
    pub fn config(&self) -> &Config {
        self.machine.config()
    }

    /// Whether the event came that ends the response.
    #[cfg(any(feature = "futures", feature = "std"))]
    pub(crate) fn is_done(&self) -> bool {
        self.machine.facts.is_done()
    }

    /// Notes that the caller broke off before the end of the stream.
    #[cfg(any(feature = "futures", feature = "std"))]
    pub(crate) fn note_abort(&mut self) {
        self.machine.facts.aborted = true;
    }

    /// Whether the tracker has deltas left, if this is all that the machine found at the end of the stream.
    #[cold]
    #[inline(never)]
    fn has_rest(&mut self, found: Found) -> Result<bool, Error>
    where
        T: Track,
    {
        if found != Found::NeedMore {
            return Ok(false);
        }
        let Tracked { tracker, found, .. } = &mut self.tracked;
        if self.machine.is_over() {
            tracker.note_over();
        }
        let has_rest = tracker.has_rest();
        if has_rest {
            self.machine.index.frame = (self.machine.offset, self.machine.offset);
        } else {
            tracker.rest(&mut found.quirks);
            self.settle(self.machine.offset())?;
        }
        Ok(has_rest)
    }

    /// Counts what the tracker found in the deltas of the event that was pulled last, which began at `offset`. Returns
    /// the error of that event, as push does: a quirk that is an error, else a limit.
    #[cold]
    #[inline(never)]
    fn settle(&mut self, offset: u64) -> Result<(), Error> {
        let Findings { quirks, limit } = core::mem::replace(&mut self.tracked.found, Findings::NOTHING);
        self.machine.count(quirks);
        self.machine.facts.note_limit(limit);
        let quirk = quirks.and(self.machine.config.errors).iter().next();
        quirk.map(|quirk| Error::Quirk { quirk, offset }).or(limit).map_or(Ok(()), Err)
    }
}

impl<S: Storage, const SLOTS: usize, T: Track> Parser<S, SLOTS, T> {
    /// Reads all of `input` and calls `handler` for each event and delta, until a method returns a stop. Of input after the
    /// stream was ended it consumes nothing, and stops with [`Error::Finished`]; [`reset`](Self::reset) begins another
    /// one.
    ///
    /// ```
    /// use deltawire::{Flow, Handler, Parser, Update};
    /// struct Print(String);
    /// impl Handler for Print {
    ///     fn update(&mut self, _choice: u32, update: Update<'_>) -> Flow {
    ///         if let Update::Content(text) = update {
    ///             self.0 += &text.to_string();
    ///         }
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
        let mut rest = input;
        if self.tracked.found.is_nothing() && self.machine.append(&mut self.storage, &mut rest) {
            return Fed { consumed: input.len(), stop: None };
        }
        let appended = input.len().wrapping_sub(rest.len());
        fed(self.emit(&mut Emitter::new(), rest, &mut HandlerSink(handler)), appended)
    }

    /// Does what [`feed`](Self::feed) does behind its fast path, for a sink. With an emitter that it keeps, a sink may be full.
    #[inline(always)]
    pub(crate) fn emit<K: Sink>(&mut self, emitter: &mut Emitter, input: &[u8], sink: &mut K) -> (usize, Outcome) {
        if !self.tracked.found.is_nothing() {
            if let Err(error) = self.settle(self.machine.index().frame.0) {
                return (0, Outcome::Stopped(Stop::Error(error)));
            }
        }
        let Parser { machine, storage, tracked: Tracked { tracker, usage, .. } } = self;
        if machine.is_finished() && !input.is_empty() {
            return (0, Outcome::Stopped(machine.nothing_fed()));
        }
        let run = emitter.run(machine, storage, tracker, input, 0, sink);
        emitter.note_usage_in(usage);
        run
    }

    /// Does what [`finish_into`](Self::finish_into) does, for a sink. With an emitter that it keeps, a sink may be full.
    #[inline(always)]
    pub(crate) fn emit_end<K: Sink>(&mut self, emitter: &mut Emitter, sink: &mut K) -> Outcome {
        if let Err(error) = self.settle(self.machine.index().frame.0) {
            return Outcome::Stopped(Stop::Error(error));
        }
        let Parser { machine, storage, tracked: Tracked { tracker, usage, .. } } = self;
        let outcome = emitter.finish(machine, storage, tracker, sink);
        emitter.note_usage_in(usage);
        outcome
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

    /// [`finish`](Self::finish) for a handler. It also emits U+FFFD for each pending high surrogate,
    /// and the end of each call that is open when the response is over.
    ///
    /// # Errors
    ///
    /// The reason for which it stopped before the end. After a pause, call it again.
    pub fn finish_into<H: Handler + ?Sized>(&mut self, handler: &mut H) -> Result<(), Stop> {
        let outcome = self.emit_end(&mut Emitter::new(), &mut HandlerSink(handler));
        fed((0, outcome), 0).into_result()
    }
}

impl<S: Storage, T: Track> Parser<S, 0, T> {
    /// [`feed`](Parser::feed) for a parser that shares `workspace`. The handler may use other workspaces.
    pub fn feed_with<H: Handler + ?Sized, const SLOTS: usize>(
        &mut self,
        workspace: &mut Workspace<SLOTS>,
        input: &[u8],
        handler: &mut H,
    ) -> Fed {
        if !self.tracked.found.is_nothing() {
            if let Err(error) = self.settle(self.machine.index().frame.0) {
                return Fed { consumed: 0, stop: Some(Stop::Error(error)) };
            }
        }
        let Parser { machine, storage, tracked: Tracked { tracker, usage, .. } } = self;
        let mut rest = input;
        if machine.append(storage, &mut rest) {
            return Fed { consumed: input.len(), stop: None };
        }
        if machine.is_finished() && !rest.is_empty() {
            return Fed { consumed: 0, stop: Some(machine.nothing_fed()) };
        }
        let appended = input.len().wrapping_sub(rest.len());
        let loan = workspace.lend(machine, rest);
        let mut emitter = Emitter::new();
        let run = emitter.run(loan.machine, storage, tracker, rest, 0, &mut HandlerSink(handler));
        emitter.note_usage_in(usage);
        fed(run, appended)
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
        self.settle(self.machine.index().frame.0)?;
        let Parser { machine, storage, tracked: Tracked { tracker, usage, .. } } = self;
        let (loan, mut emitter) = (workspace.lend(machine, &[]), Emitter::new());
        let outcome = emitter.finish(loan.machine, storage, tracker, &mut HandlerSink(handler));
        emitter.note_usage_in(usage);
        fed((0, outcome), 0).into_result()
    }
}

impl StreamState {
    /// Why a call stops that has input after the stream was ended.
    #[cold]
    #[inline(never)]
    fn nothing_fed(&self) -> Stop {
        Stop::Error(Error::Finished { offset: self.offset() })
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
        self.tracked = Tracked::new(T::default());
    }
}
