//! The parser: a machine and its storage.

use super::emitter::{Emitter, Outcome};
use super::found::Recognised;
use super::handler::{Fed, Handler, Stop};
use super::handler_sink::HandlerSink;
use super::sink::Track;
use super::workspace::{Parked, Workspace};
use super::{Config, End, Event, Found, Machine, StreamState};
use crate::track::Tracker;
use crate::{Error, Quirk, QuirkSet, Storage};
use core::ops::{DerefMut, Range};

/// Reads one stream.
///
/// `S` stores the beginning of an event until the rest arrives ([`Storage`] lists what can be one). Take
/// [`Growing`](crate::Growing) unless there is no heap: an event longer than an array is skipped, reported ([`Event::TooLong`]), and missing from the answer
/// ([`End::is_complete`]). `SLOTS` is how many shapes of events are remembered
/// (0 to 4): an event that differs from an earlier one only in its texts is not parsed again. That changes the cost, never
/// the result. `T` is the per-choice state that [`feed`](Parser::feed) needs; a parser that only pulls saves its memory
/// with `()`.
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
/// assert!(parser.end().is_complete()); // else it was cut, or something was lost
/// # }
/// # Ok::<(), deltawire::Error>(())
/// ```
///
/// To stop, drop the parser. A clone goes on from where the original stood.
///
/// `M` is the machine, or what a parser that shares a [`Workspace`] keeps of it ([`SharedParser`]).
#[derive(Clone)]
pub struct Parser<S, const SLOTS: usize = 2, T = Tracker, M = Machine<SLOTS>> {
    machine: M,
    storage: S,
    tracker: T,
}

/// A parser that shares a [`Workspace`] with others: it has no templates of its own, so it is small.
pub type SharedParser<S, T = Tracker> = Parser<S, 0, T, Parked>;

/// Prints how far it is, and the sizes of what it keeps.
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

    /// A parser that behaves as `config` says.
    pub const fn with_config(storage: S, config: Config) -> Self {
        Parser::with_tracker(storage, config, Tracker::new())
    }
}

impl<S: Storage, T> Parser<S, 2, T> {
    /// A parser with per-choice state of another size than [`Tracker`]'s default of 8 choices and 32 tool calls, or with
    /// none: `()`.
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
    /// A parser that remembers `SLOTS` shapes of events, 4 at most; more do not compile.
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

    /// Takes the next event off the front of `input`. `None`: the input is consumed, give more, or [`finish`](Self::finish).
    ///
    /// The event borrows from the input if it lies whole in it; otherwise it was copied to the storage, once. Its deltas are
    /// read by themselves: [`Update`](crate::Update) says how they differ from pushed ones.
    ///
    /// # Errors
    ///
    /// [`Error::Quirk`], if the event has a quirk of framing or shape that [`Config::errors`] names; the event is consumed.
    #[inline(always)]
    pub fn next<'a, 'i: 'a>(&'a mut self, input: &mut &'i [u8]) -> Result<Option<Event<'a>>, Error> {
        let window: &'i [u8] = input;
        if let Some(Recognised { payload, rest, is_native, .. }) = self.machine.recognise(&mut self.storage, window) {
            *input = rest;
            let name = if is_native { self.machine.name.within(window) } else { &[] };
            return Ok(Some(Event::Chunk(self.machine.chunk(payload, name))));
        }
        if self.machine.append(&mut self.storage, input) {
            return Ok(None);
        }
        self.next_read(input)
    }

    /// [`next`](Self::next), line by line.
    #[inline(never)]
    fn next_read<'a, 'i: 'a>(&'a mut self, input: &mut &'i [u8]) -> Result<Option<Event<'a>>, Error> {
        let (window, found) = advance(&mut self.machine, &mut self.storage, input, true);
        self.machine.event(&self.storage, window, found)
    }

    /// Ends the stream. Returns what is pending then: a last event without its blank line, malformed bytes that are left.
    /// Repeat until `None`; then [`end`](Self::end) has the verdict.
    ///
    /// # Errors
    ///
    /// As [`next`](Self::next).
    pub fn finish(&mut self) -> Result<Option<Event<'_>>, Error> {
        let found = self.machine.finish(&mut self.storage);
        self.machine.event(&self.storage, &[], found)
    }

    /// Where in the stream the last event lies, in bytes from its beginning.
    pub fn wire_range(&self) -> Range<u64> {
        let (start, end) = self.machine.index().frame;
        start..end
    }

    /// The machine.
    pub fn machine(&self) -> &Machine<SLOTS> {
        &self.machine
    }
}

/// Steps until something is found or the input is consumed. `unknown`: the memo did not recognise the event at the front.
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
    /// A parser that shares a workspace, which [`next_with`](Self::next_with) and [`feed_with`](Self::feed_with) are given.
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

    /// [`next`](Parser::next) of a parser that shares `workspace`. The event borrows from both.
    ///
    /// # Errors
    ///
    /// As [`next`](Parser::next).
    pub fn next_with<'a, 'i: 'a, const SLOTS: usize>(
        &'a mut self,
        workspace: &'a mut Workspace<SLOTS>,
        input: &mut &'i [u8],
    ) -> Result<Option<Event<'a>>, Error> {
        // As after nearly every event.
        if input.is_empty() && self.machine.rested {
            return Ok(None);
        }
        if self.machine.append(&mut self.storage, input) {
            return Ok(None);
        }
        let loan = workspace.lend(&mut self.machine, input);
        let (window, found) = advance(loan.machine, &mut self.storage, input, false);
        drop(loan);
        self.machine.event(workspace.index(), &self.storage, window, found)
    }

    /// [`finish`](Parser::finish) of a parser that shares `workspace`.
    ///
    /// # Errors
    ///
    /// As [`next`](Parser::next).
    pub fn finish_with<'a, const SLOTS: usize>(
        &'a mut self,
        workspace: &'a mut Workspace<SLOTS>,
    ) -> Result<Option<Event<'a>>, Error> {
        let found = workspace.lend(&mut self.machine, &[]).machine.finish(&mut self.storage);
        self.machine.event(workspace.index(), &self.storage, &[], found)
    }

    /// Where in the stream the last event lies, in bytes from its beginning.
    pub fn wire_range(&self) -> Range<u64> {
        let (start, end) = self.machine.frame;
        start..end
    }
}

impl<S: Storage, const SLOTS: usize, T, M: DerefMut<Target = StreamState>> Parser<S, SLOTS, T, M> {
    /// The verdict: how the stream ended, or would if it ended now.
    pub fn end(&self) -> End {
        self.machine.end()
    }

    /// The ID of the last event, as `Last-Event-ID` is to name it on reconnecting. Empty if there is none.
    pub fn last_event_id(&self) -> &[u8] {
        self.machine.last_event_id(self.storage.bytes())
    }

    /// How many bytes were consumed.
    pub fn offset(&self) -> u64 {
        self.machine.offset()
    }

    /// The token counts so far, of a stream of another protocol than chat completions: as those have them, and merged where the
    /// protocol reports them bit by bit. Of chat completions none: there the last [`Usage`](crate::chat::Usage) has them. Of
    /// a stream that is not complete they are no bill: the completion of an Anthropic stream that was cut is that of its beginning.
    pub fn native_usage(&self) -> Option<crate::chat::TokenCounts> {
        self.machine.native_usage()
    }

    /// Counts the quirks of an event that the parser did not see. For programs that pull with a
    /// [`Tracker`] of their own, which collects them
    /// ([`Updates::quirks`](crate::track::Updates::quirks)); [`feed`](Self::feed) does it itself.
    ///
    /// ```
    /// use deltawire::{track::Tracker, Event, Parser, Quirk};
    ///
    /// let mut input = &b"data: {\"choices\":[{\"message\":{\"content\":\"ab\"}}]}\n\n\
    ///     data: {\"choices\":[{\"message\":{\"content\":\"x\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"[..];
    /// // An event longer than 512 bytes would be skipped: Event::TooLong.
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

    /// How often `quirk` was met, at most 65,535. Quirks inside texts, and those that depend on earlier chunks, are detected
    /// only if the texts are read and tracked. [`feed`](Self::feed) does that, and counts them here; a program that pulls adds
    /// them by [`count_quirks`](Self::count_quirks).
    pub fn quirk_count(&self, quirk: Quirk) -> u16 {
        self.machine.quirk_count(quirk)
    }

    /// The quirks met so far.
    pub fn quirks(&self) -> QuirkSet {
        Quirk::ALL.iter().copied().filter(|quirk| self.quirk_count(*quirk) > 0).collect()
    }

    /// The configuration.
    pub fn config(&self) -> &Config {
        self.machine.config()
    }
}

impl<S: Storage, const SLOTS: usize, T: Track> Parser<S, SLOTS, T> {
    /// Reads all of `input` and calls `handler` for each event and delta, until a method returns a stop.
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
        let appended = input.len().wrapping_sub(rest.len());
        fed(Emitter::new().run(machine, storage, tracker, rest, 0, &mut HandlerSink(handler)), appended)
    }

    /// [`finish`](Self::finish) for a handler; it emits pending high surrogates, too.
    ///
    /// # Errors
    ///
    /// Why it stopped before the end. After a pause call it again.
    pub fn finish_into<H: Handler + ?Sized>(&mut self, handler: &mut H) -> Result<(), Stop> {
        let Parser { machine, storage, tracker } = self;
        fed((0, Emitter::new().finish(machine, storage, tracker, &mut HandlerSink(handler))), 0).into_result()
    }
}

impl<S: Storage, T: Track> SharedParser<S, T> {
    /// [`feed`](Parser::feed) of a parser that shares `workspace`. The handler may use other workspaces.
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
        let appended = input.len().wrapping_sub(rest.len());
        let loan = workspace.lend(machine, rest);
        fed(Emitter::new().run(loan.machine, storage, tracker, rest, 0, &mut HandlerSink(handler)), appended)
    }

    /// [`finish_into`](Parser::finish_into) of a parser that shares `workspace`.
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

/// What a call did that was to feed a handler: how many bytes it consumed behind so many that were consumed before, and why it
/// stopped.
#[inline(always)]
fn fed((consumed, outcome): (usize, Outcome), before: usize) -> Fed {
    let stop = match outcome {
        Outcome::Stopped(stop) => Some(stop),
        // A handler is never full, and the storage of a parser does not move.
        Outcome::Done | Outcome::Full | Outcome::Resume | Outcome::NeedStorage(_) => None,
    };
    Fed { consumed: consumed.saturating_add(before), stop }
}

impl<S: Storage, const SLOTS: usize, T: Default> Parser<S, SLOTS, T> {
    /// A new stream with the same configuration and storage.
    pub fn reset(&mut self) {
        self.machine.reset();
        self.storage.shrink(0);
        self.tracker = T::default();
    }
}

impl<S: Storage, T: Default> SharedParser<S, T> {
    /// A new stream with the same configuration and storage. The workspace keeps its templates.
    pub fn reset(&mut self) {
        self.machine = Parked::new(*self.machine.config());
        self.storage.shrink(0);
        self.tracker = T::default();
    }
}
