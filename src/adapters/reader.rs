//! What all adapters do with bytes, without any I/O: a parser, and a handler for what it reads.

use super::item::{Head, Item};
use super::message::Collected;
use crate::chat::Update;
use crate::message::{Assembler, Completion, LogError};
use crate::stream::{Event, Flow, Handler, Stop, Verdict};
use crate::track::HeapTracker;
use crate::{Config, End, Error, Growing, Parser, Quirk};
use alloc::alloc::{handle_alloc_error, Layout};
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use core::fmt;

/// How an adapter reads.
#[derive(Clone, Copy, Debug)]
pub(super) struct Setup {
    pub(super) config: Config,
    /// How many choices there is room for, and how many tool calls.
    pub(super) room: (u16, u16),
}

impl Setup {
    /// The room is that of the default [`Tracker`](crate::track::Tracker).
    pub(super) const DEFAULT: Setup = Setup { config: Config::DEFAULT, room: (8, 32) };
}

/// A parser and the handler that it calls.
#[derive(Clone)]
pub(super) struct Reader<H> {
    pub(super) parser: Parser<Growing, 2, HeapTracker>,
    pub(super) handler: H,
    setup: Setup,
}

impl<H> fmt::Debug for Reader<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.parser, f)
    }
}

impl<H: Handler> Reader<H> {
    /// On the heap, so that an adapter is small and may be moved.
    pub(super) fn new(setup: Setup, handler: H) -> Box<Self> {
        let Setup { config, room: (choices, calls) } = setup;
        // Out of memory, as when a box cannot be made.
        let tracker =
            HeapTracker::with_room(choices, calls).unwrap_or_else(|| handle_alloc_error(Layout::new::<HeapTracker>()));
        Box::new(Reader { parser: Parser::with_tracker(Growing::new(), config, tracker), handler, setup })
    }

    /// Begins anew with another setup.
    pub(super) fn set_up(&mut self, change: impl FnOnce(&mut Setup), handler: H) {
        let mut setup = self.setup;
        change(&mut setup);
        *self = *Reader::new(setup, handler);
    }

    /// Reads all of the bytes, on over everything that is over a limit.
    pub(super) fn read_all(&mut self, mut bytes: &[u8]) {
        loop {
            let fed = self.parser.feed(bytes, &mut self.handler);
            bytes = bytes.get(fed.consumed..).unwrap_or_default();
            match fed.stop {
                None | Some(Stop::Error(Error::Finished { .. })) => return,
                Some(_) => {}
            }
        }
    }

    /// Ends the stream. Returns how it ended.
    pub(super) fn finish(&mut self) -> End {
        while self.parser.finish_into(&mut self.handler).is_err() {}
        self.parser.end()
    }
}

/// The items of one event, in order, and what is known of the stream before them.
#[derive(Clone, Default)]
pub(super) struct Queue {
    items: VecDeque<Item>,
    head: Head,
    message: Option<Assembler>,
    /// Nobody wants the items, only the message.
    is_silent: bool,
    /// The adapter ends where the response does, so the parser must not read on behind `[DONE]`.
    until_done: bool,
    /// Bytes were read before the message was asked for.
    lacks_front: bool,
    /// The read that the parser reads, if long texts are to be slices of it.
    #[cfg(feature = "bytes")]
    read: Option<bytes::Bytes>,
}

impl Queue {
    /// Keeps an item, and ends the call of the parser after the event.
    fn push(&mut self, item: impl FnOnce() -> Item) -> Flow {
        if self.is_silent {
            return Flow::Continue(());
        }
        self.items.push_back(item());
        Flow::Break(Stop::Pause)
    }

    /// Keeps the error of a quirk, which only the stop tells. The handler was told a limit.
    fn note(&mut self, stop: Stop) {
        if let Stop::Error(error @ Error::Quirk { .. }) = stop {
            let _ = self.push(|| Item::LeftOut(error));
        }
    }
}

impl Handler for Queue {
    fn event(&mut self, event: &Event<'_>) -> Flow {
        if let Some(message) = &mut self.message {
            let _ = message.event(event);
        }
        match event {
            Event::Chunk(chunk) if !self.is_silent && self.head.learns(chunk) => {
                let head = Box::new(self.head.clone());
                self.push(|| Item::Head(head))
            }
            Event::Malformed(malformed) => {
                self.push(|| Item::Malformed { wire_range: malformed.wire_range(), fault: malformed.fault() })
            }
            Event::TooLong { offset } | Event::CommentTooLong { offset } => {
                self.push(|| Item::TooLong { offset: *offset })
            }
            Event::Done if self.until_done => Flow::Break(Stop::Pause),
            _ => Flow::Continue(()),
        }
    }

    fn update(&mut self, choice: u32, update: Update<'_>) -> Flow {
        if let Some(message) = &mut self.message {
            let _ = message.update(choice, update.clone());
        }
        #[cfg(feature = "bytes")]
        if let (Some(read), false) = (&self.read, self.is_silent) {
            let update = update.into_sliced(read);
            return self.push(|| Item::Update { choice, update });
        }
        self.push(|| Item::Update { choice, update: update.into_owned() })
    }

    fn limit(&mut self, error: &Error) -> Flow {
        if let Some(message) = &mut self.message {
            let _ = message.limit(error);
        }
        self.push(|| Item::LeftOut(*error))
    }

    fn quirk(&mut self, quirk: Quirk, offset: u64) -> Flow {
        self.push(|| Item::Quirk { quirk, offset })
    }
}

/// How far an adapter that yields items is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Reading,
    /// The source is over. What the parser held back is in the queue.
    Finished,
    /// The end was yielded.
    Over,
}

/// The items of a source, one by one.
#[derive(Clone, Debug)]
pub(super) struct Items {
    reader: Box<Reader<Queue>>,
    stage: Stage,
}

impl Items {
    pub(super) fn new(setup: Setup) -> Self {
        Items { reader: Reader::new(setup, Queue::default()), stage: Stage::Reading }
    }

    /// Begins anew, with another setup.
    pub(super) fn set_up(&mut self, change: impl FnOnce(&mut Setup)) {
        let until_done = self.reader.handler.until_done;
        self.reader.set_up(change, Queue { until_done, ..Queue::default() });
    }

    /// Ends where the response does, and does not wait for the end of the source.
    pub(super) fn end_when_done(&mut self) {
        self.reader.handler.until_done = true;
    }

    /// Whether the response is over, and the source is not to be asked for more.
    pub(super) fn is_done(&self) -> bool {
        self.reader.handler.until_done && self.parser().is_done()
    }

    pub(super) fn parser(&self) -> &Parser<Growing, 2, HeapTracker> {
        &self.reader.parser
    }

    /// Long texts are slices of this read, as long as the parser reads it.
    #[cfg(feature = "bytes")]
    pub(super) fn slice(&mut self, read: Option<bytes::Bytes>) {
        self.reader.handler.read = read;
    }

    /// Also assembles the message, from here on.
    pub(super) fn assemble(&mut self) {
        let Setup { config, room: (choices, calls) } = self.reader.setup;
        let new = || Assembler::with_limits(config.limits).with_room(choices, calls);
        self.reader.handler.message.get_or_insert_with(new);
    }

    /// Only assembles the message, from here on: the one item that comes is the end.
    pub(super) fn assemble_only(&mut self) {
        self.reader.handler.lacks_front = self.reader.handler.message.is_none() && self.parser().offset() > 0;
        self.assemble();
        self.reader.handler.items.clear();
        self.reader.handler.is_silent = true;
    }

    /// Returns the message so far, if it is assembled.
    pub(super) fn message(&self) -> Option<Result<Completion, LogError>> {
        self.reader.handler.message.as_ref().map(Assembler::message)
    }

    /// Returns the message of a stream that has ended, or the failure of its source. After `[DONE]` a failure does not
    /// matter if nothing is missing.
    pub(super) fn collected<E>(&mut self, failure: Option<E>) -> Result<Collected, E> {
        let end = self.parser().end();
        match failure {
            Some(failure) if end.verdict != Verdict::Done || !end.is_complete() => Err(failure),
            _ => {
                let message = self.reader.handler.message.take().unwrap_or_default();
                Ok(Collected::new(message, end, self.reader.handler.lacks_front))
            }
        }
    }

    /// Returns the next item. If none is ready, reads an event from the front of `bytes`, and takes it off; `None` means
    /// that the bytes are used up.
    pub(super) fn next(&mut self, bytes: &mut &[u8]) -> Option<Item> {
        loop {
            if let Some(item) = self.reader.handler.items.pop_front() {
                return Some(item);
            }
            if self.is_done() {
                *bytes = &[];
                return None;
            }
            let Reader { parser, handler, .. } = &mut *self.reader;
            let fed = parser.feed(bytes, handler);
            *bytes = bytes.get(fed.consumed..).unwrap_or_default();
            match fed.stop {
                // The stream was ended: what comes after it is not read.
                Some(Stop::Error(Error::Finished { .. })) => *bytes = &[],
                Some(stop) => handler.note(stop),
                None if handler.items.is_empty() => return None,
                None => {}
            }
        }
    }

    /// Returns the next item after the source is over: those that the parser held back, then the failure of the source,
    /// then the end, then `None`.
    pub(super) fn rest<E>(&mut self, failure: &mut Option<E>) -> Option<Result<Item, E>> {
        if self.stage == Stage::Reading {
            self.stage = Stage::Finished;
            let Reader { parser, handler, .. } = &mut *self.reader;
            while let Err(stop) = parser.finish_into(handler) {
                handler.note(stop);
            }
        }
        if let Some(item) = self.reader.handler.items.pop_front() {
            return Some(Ok(item));
        }
        if let Some(failure) = failure.take() {
            return Some(Err(failure));
        }
        if self.stage == Stage::Over {
            return None;
        }
        self.stage = Stage::Over;
        Some(Ok(Item::End(Box::new(self.reader.parser.end()))))
    }
}

/// The methods that the deltas of every source have.
macro_rules! shared_methods {
    () => {
        /// Sets the configuration. Call it before the first item is taken.
        #[must_use]
        pub fn with_config(mut self, config: Config) -> Self {
            self.items.set_up(|setup| setup.config = config);
            self
        }

        /// Sets how many choices, and how many tool calls of all choices together, there is room for: 8 and 32 by
        /// default. What there is no room for is left out ([`Item::LeftOut`]). Call it before the first item is taken.
        #[must_use]
        pub fn with_room(mut self, choices: u16, calls: u16) -> Self {
            self.items.set_up(|setup| setup.room = (choices, calls));
            self
        }

        /// Ends where the response ends: at `[DONE]`, or at the event with which another protocol ends its response. By
        /// default the source is read to its end, and a server may keep the connection open. Call it before the first
        /// item is taken.
        #[must_use]
        pub fn until_done(mut self) -> Self {
            self.items.end_when_done();
            self
        }

        /// Also assembles the message, from here on: for [`message_so_far`](Self::message_so_far), and for
        /// [`into_message`](Self::into_message) after deltas were taken. Call it last.
        #[must_use]
        pub fn assembled(mut self) -> Self {
            self.items.assemble();
            self
        }

        /// The message so far. `None` without [`assembled`](Self::assembled).
        ///
        /// # Errors
        ///
        /// [`LogError::OutOfMemory`].
        pub fn message_so_far(&self) -> Option<Result<Completion, LogError>> {
            self.items.message()
        }

        /// The parser, for the verdict so far, the usage, the quirks and the last event ID.
        pub fn parser(&self) -> &Parser<Growing, 2, HeapTracker> {
            self.items.parser()
        }
    };
}
pub(super) use shared_methods;
