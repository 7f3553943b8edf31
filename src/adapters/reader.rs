//! What all adapters do with bytes, without any I/O: a parser, and a handler for what it reads.

use super::item::{Head, Item};
use super::message::Collected;
use crate::chat::{Chunk, Update};
use crate::message::{Assembler, Completion, LogError};
use crate::stream::{Flow, Handler, Malformed, Stop, Verdict};
use crate::{Config, End, Error, Growing, Parser, Quirk};
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use core::fmt;

/// A parser and the handler that it calls.
#[derive(Clone)]
pub(super) struct Reader<H> {
    pub(super) parser: Parser<Growing>,
    pub(super) handler: H,
}

impl<H> fmt::Debug for Reader<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.parser, f)
    }
}

impl<H: Handler> Reader<H> {
    /// On the heap, so that an adapter is small and may be moved.
    pub(super) fn new(config: Config, handler: H) -> Box<Self> {
        Box::new(Reader { parser: Parser::with_config(Growing::new(), config), handler })
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
    fn chunk(&mut self, chunk: &Chunk<'_>) -> Flow {
        if let Some(message) = &mut self.message {
            let _ = message.chunk(chunk);
        }
        if self.is_silent || !self.head.learns(chunk) {
            return Flow::Continue(());
        }
        let head = Box::new(self.head.clone());
        self.push(|| Item::Head(head))
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

    fn malformed(&mut self, malformed: &Malformed<'_>) -> Flow {
        self.push(|| Item::Malformed { wire_range: malformed.wire_range(), fault: malformed.fault() })
    }

    fn too_long(&mut self, offset: u64) -> Flow {
        self.push(|| Item::TooLong { offset })
    }

    fn comment_too_long(&mut self, offset: u64) -> Flow {
        self.push(|| Item::TooLong { offset })
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
    pub(super) fn new(config: Config) -> Self {
        Items { reader: Reader::new(config, Queue::default()), stage: Stage::Reading }
    }

    pub(super) fn parser(&self) -> &Parser<Growing> {
        &self.reader.parser
    }

    /// Long texts are slices of this read, as long as the parser reads it.
    #[cfg(feature = "bytes")]
    pub(super) fn slice(&mut self, read: Option<bytes::Bytes>) {
        self.reader.handler.read = read;
    }

    /// Also assembles the message, from here on.
    pub(super) fn assemble(&mut self) {
        let limits = self.parser().config().limits;
        self.reader.handler.message.get_or_insert_with(|| Assembler::with_limits(limits));
    }

    /// Only assembles the message, from here on: the one item that comes is the end.
    pub(super) fn assemble_only(&mut self) {
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
            _ => Ok(Collected::new(self.reader.handler.message.take().unwrap_or_default(), end)),
        }
    }

    /// Returns the next item. If none is ready, reads an event from the front of `bytes`, and takes it off; `None` means
    /// that the bytes are used up.
    pub(super) fn next(&mut self, bytes: &mut &[u8]) -> Option<Item> {
        loop {
            let Reader { parser, handler } = &mut *self.reader;
            if let Some(item) = handler.items.pop_front() {
                return Some(item);
            }
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
            let Reader { parser, handler } = &mut *self.reader;
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
            self.items = Items::new(config);
            self
        }

        /// Also assembles the message, from here on: for [`message_so_far`](Self::message_so_far), and for
        /// [`into_message`](Self::into_message) after deltas were taken. Call it after [`with_config`](Self::with_config).
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
        pub fn parser(&self) -> &Parser<Growing> {
            self.items.parser()
        }
    };
}
pub(super) use shared_methods;
