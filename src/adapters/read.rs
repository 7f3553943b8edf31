//! Feature `std`: a blocking reader.

use super::item::Item;
use super::message::Collected;
use super::metered::Metered;
use super::reader::{shared_methods, Items, Setup};
use crate::message::{Completion, LogError};
use crate::stream::Meter;
use crate::track::HeapTracker;
use crate::{Config, End, Growing, Parser};
use core::fmt;
use std::io::{self, BufRead, BufReader, ErrorKind, Read};

/// The size of the buffer of a source that has none, in bytes.
pub(super) const BUFFER_LEN: usize = 16 * 1024;

/// Adapters for anything that implements `Read`: a pipe, a socket, the body of a blocking HTTP client.
pub trait DeltaReadExt: Read + Sized {
    /// An iterator of the deltas, which reads through a buffer of 16 KiB. For a `BufRead`, use
    /// [`ReadDeltas::buffered`], which reads from its own buffer.
    fn deltas(self) -> ReadDeltas<BufReader<Self>> {
        ReadDeltas::buffered(BufReader::with_capacity(BUFFER_LEN, self))
    }

    /// Reads to the end, and returns the whole message, and how the stream ended. To set the configuration, or to read
    /// from a `BufRead`, use [`ReadDeltas::into_message`].
    ///
    /// ```
    /// use deltawire::adapters::DeltaReadExt;
    /// let stream = &b"data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\n\ndata: [DONE]\n\n"[..];
    /// let message = stream.message()?.finished()?;
    /// assert_eq!(message.choices[0].content.as_deref(), Some("Hi"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The error of the reader. An error after `[DONE]` is ignored if nothing is missing.
    fn message(self) -> io::Result<Collected> {
        self.deltas().into_message()
    }

    /// The same reader, whose bytes are metered as they pass. `report` is called once: [`Metered`] tells when.
    fn metered<F: FnOnce(&Meter, &End)>(self, report: F) -> Metered<Self, F> {
        Metered::new(self, report)
    }
}

impl<R: Read> DeltaReadExt for R {}

/// The deltas of a blocking reader, an iterator. Created by [`DeltaReadExt::deltas`].
///
/// A read that was [interrupted](ErrorKind::Interrupted) is repeated. After an error that a timeout causes
/// ([`WouldBlock`](ErrorKind::WouldBlock), [`TimedOut`](ErrorKind::TimedOut)) the iterator may be asked again, and then
/// goes on reading. Any other error comes after the deltas of the bytes before it; then [`Item::End`] comes, and then
/// nothing more.
///
/// ```
/// use deltawire::adapters::{DeltaReadExt, Item};
/// use deltawire::Update;
/// let source = &b"data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\n\ndata: [DONE]\n\n"[..];
/// let mut text = String::new();
/// for item in source.deltas() {
///     match item? {
///         Item::End(end) if !end.is_complete() => return Err(end.to_string().into()),
///         item => if let Some((0, Update::Content(content))) = item.as_update() { content.push_to(&mut text); }
///     }
/// }
/// assert_eq!(text, "Hi");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ReadDeltas<R> {
    source: R,
    items: Items,
    /// How many bytes are known to be in the buffer of the source, so that it need not read.
    held: usize,
    failure: Option<io::Error>,
    is_over: bool,
}

impl<R: BufRead> ReadDeltas<R> {
    /// The deltas of a reader that has a buffer.
    pub fn buffered(source: R) -> Self {
        ReadDeltas { source, items: Items::new(Setup::DEFAULT), held: 0, failure: None, is_over: false }
    }

    shared_methods!();

    /// Reads the rest, and returns the whole message. Without [`assembled`](Self::assembled) the message lacks what was read
    /// before, and then it is not complete.
    ///
    /// # Errors
    ///
    /// As [`DeltaReadExt::message`]; also an error that a timeout causes.
    pub fn into_message(mut self) -> io::Result<Collected> {
        self.items.assemble_only();
        let failure = self.find_map(Result::err);
        self.items.collected(failure)
    }
}

impl<R: BufRead> Iterator for ReadDeltas<R> {
    type Item = io::Result<Item>;

    fn next(&mut self) -> Option<io::Result<Item>> {
        loop {
            // The source must not wait for bytes while an item is ready.
            if self.held == 0 {
                if let Some(item) = self.items.next(&mut &[][..]) {
                    return Some(Ok(item));
                }
            }
            if self.is_over || self.items.is_done() {
                return self.items.rest(&mut self.failure);
            }
            match self.source.fill_buf() {
                Ok([]) => self.is_over = true,
                Ok(bytes) => {
                    let mut rest = bytes;
                    let item = self.items.next(&mut rest);
                    self.held = rest.len();
                    let spent = bytes.len().saturating_sub(rest.len());
                    self.source.consume(spent);
                    if let Some(item) = item {
                        return Some(Ok(item));
                    }
                }
                Err(error) => match error.kind() {
                    ErrorKind::Interrupted => {}
                    ErrorKind::WouldBlock | ErrorKind::TimedOut => return Some(Err(error)),
                    _ => (self.failure, self.is_over) = (Some(error), true),
                },
            }
        }
    }
}

/// Prints the state of the parser.
impl<R: BufRead> fmt::Debug for ReadDeltas<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReadDeltas").field("parser", self.parser()).finish_non_exhaustive()
    }
}

impl<R: Read, F: FnOnce(&Meter, &End)> Read for Metered<R, F> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.source.read(buffer);
        match &read {
            Ok(0) if buffer.is_empty() => {}
            Ok(0) => self.finish(),
            Ok(len) => self.meter_bytes(buffer.get(..*len).unwrap_or_default()),
            Err(error) => match error.kind() {
                ErrorKind::Interrupted | ErrorKind::WouldBlock | ErrorKind::TimedOut => {}
                _ => self.finish(),
            },
        }
        read
    }
}
