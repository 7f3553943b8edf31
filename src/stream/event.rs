//! The events that a parser returns.

use crate::chat::Chunk;
use crate::json::{JsonError, Text};
use crate::sse;
use core::ops::Range;

/// One event. It borrows from the input or from the parser, so it is valid until the parser is used again.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub enum Event<'a> {
    /// A JSON payload: a chunk, a body, an error, or an event of another protocol.
    Chunk(Chunk<'a>),
    /// An event whose payload is not read, because of [`Payload::Opaque`](super::Payload::Opaque).
    Sse(sse::Event<'a>),
    /// `[DONE]`, which ends the response. More events may follow.
    Done,
    /// A comment, without its colon and at most one space after that. It may contain any bytes but CR and LF.
    Comment(&'a [u8]),
    /// A payload that only keeps the connection alive: it is empty, begins with a colon, or has a type or name such as
    /// `ping`.
    KeepAlive(&'a [u8]),
    /// How long to wait before reconnecting, in milliseconds. A number that does not fit 64 bits becomes [`u64::MAX`].
    Retry(u64),
    /// A last event ID that came without an event.
    LastEventId(&'a [u8]),
    /// A payload that is not a JSON object, or bytes after such an object. The stream goes on.
    Malformed(Malformed<'a>),
    /// An event over the limit. The parser discards the rest of it, and the stream goes on.
    TooLong {
        /// Stream offset, in bytes, where the event began.
        offset: u64,
    },
    /// A comment over the limit. The parser discards it, and the event around it goes on.
    CommentTooLong {
        /// Stream offset, in bytes, where the comment began.
        offset: u64,
    },
    /// The end of the stream, if it has deltas: U+FFFD for each text that ended in half a character, and the end of each
    /// call that is open when the response is over. Only [`Parser::finish`](super::Parser::finish) returns this.
    Rest,
}

impl<'a> Event<'a> {
    /// The chunk, if the event is one.
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
            Event::Rest => f.write_str("Rest"),
        }
    }
}

/// A payload that is not a sound JSON object, or bytes after such an object.
#[derive(Clone, Copy)]
pub struct Malformed<'a> {
    pub(crate) payload: &'a [u8],
    pub(crate) fault: JsonError,
    pub(crate) name: &'a [u8],
    /// A reference into the index, as a chunk has, so that it does not make events larger.
    pub(crate) frame: &'a (u64, u64),
}

impl<'a> Malformed<'a> {
    /// The malformed bytes.
    pub fn payload(&self) -> &'a [u8] {
        self.payload
    }

    /// The range of the event, in bytes from the beginning of the stream, like [`Chunk::wire_range`]. It is that of the
    /// whole event, even if the payload begins with sound JSON and [`payload`](Self::payload) is only the bytes after
    /// that.
    ///
    /// ```
    /// use deltawire::{Event, Flow, Handler, Parser, stream::Malformed};
    /// struct Find(Vec<u64>);
    /// impl Handler for Find {
    ///     fn event(&mut self, event: &Event<'_>) -> Flow {
    ///         if let Event::Malformed(malformed) = event {
    ///             self.0.push(malformed.wire_range().start);
    ///         }
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

    /// What is wrong with the bytes, and at which offset in them.
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
