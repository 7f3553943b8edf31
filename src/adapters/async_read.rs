//! Feature `tokio`: an `AsyncRead`, and a decoder for `Framed`.

use super::item::Item;
use super::message::Collected;
use super::metered::Metered;
use super::read::BUFFER_LEN;
use super::reader::{shared_methods, Items, Setup};
use super::stream::poll_to_end;
use crate::message::{Completion, LogError};
use crate::stream::Meter;
use crate::track::HeapTracker;
use crate::{Config, End, Growing, Parser};
use alloc::boxed::Box;
use alloc::vec;
use core::convert::Infallible;
use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{ready, Context, Poll};
use futures_core::Stream;
use std::io;
use tokio::io::{AsyncRead, ReadBuf};
use tokio_util::bytes::BytesMut;
use tokio_util::codec::Decoder;

/// Adapters for anything that implements tokio's `AsyncRead`. The reader must be `Unpin`: for any other one call them on
/// `Box::pin(reader)` or `pin!(reader)`.
///
/// ```
/// use deltawire::adapters::DeltaAsyncReadExt;
/// # use futures_util::FutureExt;
/// # async {
/// let reader = &b"data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\n\ndata: [DONE]\n\n"[..]; // a socket, a pipe, …
/// let message = reader.message().await?.finished()?;
/// assert_eq!(message.choices[0].content.as_deref(), Some("Hi"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }.now_or_never().unwrap()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait DeltaAsyncReadExt: AsyncRead + Unpin + Sized {
    /// A stream of the deltas, which reads through a buffer of 16 KiB.
    fn deltas(self) -> AsyncReadDeltas<Self> {
        let buffer = vec![0; BUFFER_LEN].into_boxed_slice();
        let items = Items::new(Setup::DEFAULT);
        AsyncReadDeltas { source: self, items, buffer, at: 0, len: 0, failure: None, is_over: false }
    }

    /// A future of the whole message, and how the stream ended. To set the configuration, use
    /// [`AsyncReadDeltas::into_message`].
    fn message(self) -> AsyncReadMessage<Self> {
        self.deltas().into_message()
    }

    /// The same reader, whose bytes are metered as they pass. `report` is called once: [`Metered`] tells when.
    fn metered<F: FnOnce(&Meter, &End)>(self, report: F) -> Metered<Self, F> {
        Metered::new(self, report)
    }
}

impl<R: AsyncRead + Unpin> DeltaAsyncReadExt for R {}

/// The deltas of an `AsyncRead`, a `Stream`. Created by [`DeltaAsyncReadExt::deltas`].
///
/// It is `Unpin`, and `Send` and `Sync` if the reader is. An error of the reader comes after the deltas of the bytes before
/// it; then [`Item::End`] comes, and then nothing more. After the end or an error the reader is not polled again.
pub struct AsyncReadDeltas<R> {
    source: R,
    items: Items,
    /// Of its bytes those from `at` to `len` are not read yet.
    buffer: Box<[u8]>,
    at: usize,
    len: usize,
    failure: Option<io::Error>,
    is_over: bool,
}

impl<R: AsyncRead + Unpin> AsyncReadDeltas<R> {
    shared_methods!();

    /// A future that reads the rest, and returns the whole message. Without [`assembled`](Self::assembled) the message lacks
    /// what was read before, and then it is not complete.
    pub fn into_message(mut self) -> AsyncReadMessage<R> {
        self.items.assemble_only();
        AsyncReadMessage(self)
    }
}

impl<R: AsyncRead + Unpin> Stream for AsyncReadDeltas<R> {
    type Item = io::Result<Item>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        loop {
            let mut rest = this.buffer.get(this.at..this.len).unwrap_or_default();
            let item = this.items.next(&mut rest);
            this.at = this.len.saturating_sub(rest.len());
            if let Some(item) = item {
                return Poll::Ready(Some(Ok(item)));
            }
            if this.is_over || this.items.is_done() {
                return Poll::Ready(this.items.rest(&mut this.failure));
            }
            let mut buffer = ReadBuf::new(&mut this.buffer);
            match ready!(Pin::new(&mut this.source).poll_read(cx, &mut buffer)) {
                Ok(()) => (this.at, this.len) = (0, buffer.filled().len()),
                Err(failure) => (this.failure, this.len) = (Some(failure), this.at),
            }
            this.is_over = this.len == this.at;
        }
    }
}

/// Prints the state of the parser.
impl<R: AsyncRead + Unpin> fmt::Debug for AsyncReadDeltas<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AsyncReadDeltas").field("parser", self.parser()).finish_non_exhaustive()
    }
}

/// The message of an `AsyncRead`. Created by [`DeltaAsyncReadExt::message`].
///
/// # Errors
///
/// The error of the reader. An error after `[DONE]` is ignored if nothing is missing.
///
/// Do not poll it again after it was ready.
#[must_use = "a future does nothing unless it is polled"]
pub struct AsyncReadMessage<R>(AsyncReadDeltas<R>);

impl<R: AsyncRead + Unpin> Future for AsyncReadMessage<R> {
    type Output = io::Result<Collected>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let AsyncReadMessage(deltas) = self.get_mut();
        let failure = ready!(poll_to_end(&mut *deltas, cx));
        Poll::Ready(deltas.items.collected(failure))
    }
}

/// Prints the state of the parser.
impl<R: AsyncRead + Unpin> fmt::Debug for AsyncReadMessage<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AsyncReadMessage").field(&self.0).finish()
    }
}

impl<R: AsyncRead + Unpin, F: FnOnce(&Meter, &End)> AsyncRead for Metered<R, F> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let (before, has_room) = (buffer.filled().len(), buffer.remaining() > 0);
        let read = ready!(Pin::new(&mut this.source).poll_read(cx, buffer));
        match (&read, buffer.filled().get(before..).unwrap_or_default()) {
            (Ok(()), []) if !has_room => {}
            (Ok(()), []) | (Err(_), _) => this.finish(),
            (Ok(()), bytes) => this.meter_bytes(bytes),
        }
        Poll::Ready(read)
    }
}

/// A decoder of deltas, for `Framed` and `FramedRead` of tokio-util. [`Item::End`] comes when the reader ends. If the
/// reader fails, `FramedRead` returns the error and does not tell the decoder, so no end comes: [`parser`](Self::parser) has
/// the verdict so far.
///
/// ```
/// use deltawire::adapters::DeltaDecoder;
/// use futures_util::StreamExt;
/// use tokio_util::codec::FramedRead;
/// # use futures_util::FutureExt;
/// # async {
/// let reader = &b"data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\n\ndata: [DONE]\n\n"[..];
/// let items: Vec<_> = FramedRead::new(reader, DeltaDecoder::default()).collect().await;
/// assert!(items.last().unwrap().as_ref().unwrap().as_end().unwrap().is_complete());
/// # }.now_or_never().unwrap();
/// ```
#[derive(Debug)]
pub struct DeltaDecoder(Items);

impl DeltaDecoder {
    /// A decoder with this configuration.
    pub fn new(config: Config) -> Self {
        DeltaDecoder(Items::new(Setup { config, ..Setup::DEFAULT }))
    }

    /// The parser, for the verdict so far, the usage, the quirks and the last event ID.
    pub fn parser(&self) -> &Parser<Growing, 2, HeapTracker> {
        self.0.parser()
    }
}

impl Default for DeltaDecoder {
    fn default() -> Self {
        DeltaDecoder::new(Config::new())
    }
}

impl Decoder for DeltaDecoder {
    type Item = Item;
    type Error = io::Error;

    fn decode(&mut self, bytes: &mut BytesMut) -> io::Result<Option<Item>> {
        let mut rest = &bytes[..];
        let item = self.0.next(&mut rest);
        let spent = bytes.len().saturating_sub(rest.len());
        let _ = bytes.split_to(spent);
        Ok(item)
    }

    fn decode_eof(&mut self, bytes: &mut BytesMut) -> io::Result<Option<Item>> {
        if let Some(item) = self.decode(bytes)? {
            return Ok(Some(item));
        }
        match self.0.rest::<Infallible>(&mut None) {
            Some(Ok(item)) => Ok(Some(item)),
            Some(Err(never)) => match never {},
            None => Ok(None),
        }
    }
}
