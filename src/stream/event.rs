//! Events, as the parser returns them.

use crate::chat::{Chunk, Deltas};
use crate::json::{JsonError, Text};
use crate::sse;
use core::ops::Range;

/// One event. It borrows the input or the storage; it is valid until the parser is next used.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub enum Event<'a> {
    /// A JSON payload: a chunk, a body, an error, or an event of another protocol.
    Chunk(Chunk<'a>),
    /// An event whose payload is not looked into, as [`Payload::Opaque`](super::Payload::Opaque) has it.
    Sse(sse::Event<'a>),
    /// `[DONE]`: the response is complete. Something may still come.
    Done,
    /// A comment, without its colon and at most one space. Any bytes but CR and LF.
    Comment(&'a [u8]),
    /// A payload that only keeps the connection alive: empty, beginning with a colon, or named so.
    KeepAlive(&'a [u8]),
    /// How long to wait before reconnecting, in milliseconds; a number beyond 64 bits is the highest there is.
    Retry(u64),
    /// A last event ID that came without an event.
    LastEventId(&'a [u8]),
    /// A payload that is no JSON object, or what followed one. The stream goes on.
    Malformed(Malformed<'a>),
    /// An event over the limit; its rest is discarded, the stream goes on.
    TooLong {
        /// Stream offset, in bytes, where the event began.
        offset: u64,
    },
    /// A comment over the limit; it is discarded, the event round it goes on.
    CommentTooLong {
        /// Stream offset, in bytes, where the comment began.
        offset: u64,
    },
}

impl<'a> Event<'a> {
    /// Its deltas, each with the index of its choice. None unless it is a chunk.
    #[inline]
    pub fn deltas(&self) -> Deltas<'a> {
        match self {
            Event::Chunk(chunk) => chunk.deltas(),
            _ => Deltas::none(),
        }
    }

    /// The chunk, if it is one.
    pub fn chunk(&self) -> Option<Chunk<'a>> {
        match self {
            Event::Chunk(chunk) => Some(*chunk),
            _ => None,
        }
    }
}

impl core::fmt::Debug for Event<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Event::Chunk(chunk) => core::fmt::Debug::fmt(chunk, f),
            Event::Sse(event) => core::fmt::Debug::fmt(event, f),
            Event::Done => f.write_str("Done"),
            Event::Comment(text) => f.debug_tuple("Comment").field(&Text::verbatim(text)).finish(),
            Event::KeepAlive(payload) => f.debug_tuple("KeepAlive").field(&Text::verbatim(payload)).finish(),
            Event::Retry(ms) => f.debug_tuple("Retry").field(ms).finish(),
            Event::LastEventId(id) => f.debug_tuple("LastEventId").field(&Text::verbatim(id)).finish(),
            Event::Malformed(malformed) => core::fmt::Debug::fmt(malformed, f),
            Event::TooLong { offset } => f.debug_struct("TooLong").field("offset", offset).finish(),
            Event::CommentTooLong { offset } => f.debug_struct("CommentTooLong").field("offset", offset).finish(),
        }
    }
}

/// A payload that is no sound JSON object, or what followed one.
#[derive(Clone, Copy)]
pub struct Malformed<'a> {
    pub(crate) payload: &'a [u8],
    pub(crate) fault: JsonError,
    pub(crate) name: &'a [u8],
    /// In the index, as a chunk has it: an event is no larger for it.
    pub(crate) frame: &'a (u64, u64),
}

impl<'a> Malformed<'a> {
    /// Its bytes.
    pub fn payload(&self) -> &'a [u8] {
        self.payload
    }

    /// Where the event lay in the stream, in bytes from its beginning, as [`Chunk::wire_range`] has it: the whole event,
    /// also where its payload began with something sound and [`payload`](Self::payload) is what followed.
    ///
    /// ```
    /// use deltawire::{Flow, Handler, Parser, stream::Malformed};
    /// struct Find(Vec<u64>);
    /// impl Handler for Find {
    ///     fn malformed(&mut self, malformed: &Malformed<'_>) -> Flow {
    ///         self.0.push(malformed.wire_range().start);
    ///         Flow::Continue(())
    ///     }
    /// }
    /// # #[cfg(feature = "alloc")] {
    /// # use deltawire::Growing;
    /// let mut find = Find(Vec::new());
    /// Parser::new(Growing::new()).feed(b"data: [DONE]\n\ndata: oops\n\n", &mut find).into_result()?;
    /// assert_eq!(find.0, [14]);
    /// # }
    /// # Ok::<(), deltawire::Stop>(())
    /// ```
    pub fn wire_range(&self) -> Range<u64> {
        self.frame.0..self.frame.1
    }

    /// What is wrong with them, and at which of them.
    pub fn fault(&self) -> JsonError {
        self.fault
    }

    /// The name of the event, empty if it has none.
    pub fn event_name(&self) -> &'a [u8] {
        self.name
    }
}

impl core::fmt::Debug for Malformed<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let payload = Text::verbatim(self.payload);
        f.debug_struct("Malformed")
            .field("payload", &payload)
            .field("fault", &self.fault)
            .field("wire_range", &self.wire_range())
            .finish()
    }
}
