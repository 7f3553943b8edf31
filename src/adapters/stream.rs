//! Feature `futures`: a `Stream` of bytes.

use super::item::Item;
use super::message::{Collected, Incomplete};
use super::metered::Metered;
use super::reader::{shared_methods, Items, Setup};
use crate::message::{Completion, LogError};
use crate::stream::Meter;
use crate::track::HeapTracker;
use crate::{Config, End, Growing, Parser};
use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{ready, Context, Poll};
use futures_core::Stream;

/// Adapters for a `Stream` of bytes, such as `bytes_stream()` of reqwest or `into_data_stream()` of axum. The stream must
/// be `Unpin`, as those are: for any other one call them on `Box::pin(stream)` or `pin!(stream)`.
pub trait DeltaStreamExt:
    Stream<Item = Result<<Self as DeltaStreamExt>::Bytes, <Self as DeltaStreamExt>::Error>>
{
    /// The bytes of one read.
    type Bytes: AsRef<[u8]>;
    /// The error of the stream.
    type Error;

    /// A stream of the deltas.
    fn deltas(self) -> StreamDeltas<Self>
    where
        Self: Sized + Unpin,
    {
        StreamDeltas {
            source: self,
            items: Items::new(Setup::DEFAULT),
            held: None,
            at: 0,
            failure: None,
            is_over: false,
            #[cfg(feature = "bytes")]
            slice: None,
        }
    }

    /// A future of the whole message, and how the stream ended. To set the configuration, use
    /// [`StreamDeltas::into_message`].
    fn message(self) -> StreamMessage<Self>
    where
        Self: Sized + Unpin,
    {
        self.deltas().into_message()
    }

    /// The same stream, whose bytes are metered as they pass. `report` is called once: [`Metered`] tells when.
    fn metered<F: FnOnce(&Meter, &End)>(self, report: F) -> Metered<Self, F>
    where
        Self: Sized + Unpin,
    {
        Metered::new(self, report)
    }
}

impl<S, B: AsRef<[u8]>, E> DeltaStreamExt for S
where
    S: Stream<Item = Result<B, E>>,
{
    type Bytes = B;
    type Error = E;
}

/// The deltas of a `Stream` of bytes. Created by [`DeltaStreamExt::deltas`].
///
/// It is `Unpin`, and `Send` and `Sync` if the stream and its bytes are. An error of the stream comes after the deltas of
/// the bytes before it; then [`Item::End`] comes, and then nothing more. After the end or an error the stream is not
/// polled again.
pub struct StreamDeltas<S: DeltaStreamExt> {
    source: S,
    items: Items,
    /// The bytes of the last read, of which those before `at` were read.
    held: Option<S::Bytes>,
    at: usize,
    failure: Option<S::Error>,
    is_over: bool,
    /// What long texts are slices of, instead of copies.
    #[cfg(feature = "bytes")]
    slice: Option<fn(&S::Bytes) -> bytes::Bytes>,
}

#[cfg(feature = "bytes")]
#[cfg_attr(docsrs, doc(cfg(feature = "bytes")))]
impl<S: DeltaStreamExt<Bytes = bytes::Bytes>> StreamDeltas<S> {
    /// Takes texts of more than 32 bytes as slices of the bytes that the stream gave, without a copy or an allocation. A
    /// slice keeps all bytes of its read in memory, so call it if the items are soon used up. A text that a read cut is
    /// copied, and so are values such as images.
    #[must_use]
    pub fn sliced(mut self) -> Self {
        self.slice = Some(Clone::clone);
        self
    }
}

impl<S: DeltaStreamExt> StreamDeltas<S> {
    shared_methods!();

    /// A future that reads the rest, and returns the whole message. Without [`assembled`](Self::assembled) the message lacks
    /// what was read before, and then it is not complete.
    pub fn into_message(mut self) -> StreamMessage<S> {
        self.items.assemble_only();
        StreamMessage(self)
    }
}

impl<S: DeltaStreamExt + Unpin> Stream for StreamDeltas<S> {
    type Item = Result<Item, S::Error>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        loop {
            if let Some(held) = &this.held {
                let held = held.as_ref();
                let mut rest = held.get(this.at..).unwrap_or_default();
                let item = this.items.next(&mut rest);
                this.at = held.len().saturating_sub(rest.len());
                if let Some(item) = item {
                    return Poll::Ready(Some(Ok(item)));
                }
                this.held = None;
                #[cfg(feature = "bytes")]
                this.items.slice(None);
            }
            if this.is_over || this.items.is_done() {
                return Poll::Ready(this.items.rest(&mut this.failure));
            }
            match ready!(Pin::new(&mut this.source).poll_next(cx)) {
                Some(Ok(bytes)) => {
                    #[cfg(feature = "bytes")]
                    this.items.slice(this.slice.map(|slice| slice(&bytes)));
                    (this.held, this.at) = (Some(bytes), 0);
                }
                Some(Err(failure)) => (this.failure, this.is_over) = (Some(failure), true),
                None => this.is_over = true,
            }
        }
    }
}

/// Prints the state of the parser.
impl<S: DeltaStreamExt> fmt::Debug for StreamDeltas<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StreamDeltas").field("parser", self.parser()).finish_non_exhaustive()
    }
}

// Only the source is pinned, and that only if it may be moved.
impl<S: DeltaStreamExt + Unpin> Unpin for StreamDeltas<S> {}

/// The message of a `Stream` of bytes. Created by [`DeltaStreamExt::message`].
///
/// # Errors
///
/// The error of the stream. An error after `[DONE]` is ignored if nothing is missing.
///
/// Do not poll it again after it was ready.
#[must_use = "a future does nothing unless it is polled"]
pub struct StreamMessage<S: DeltaStreamExt>(StreamDeltas<S>);

impl<S: DeltaStreamExt + Unpin> Future for StreamMessage<S> {
    type Output = Result<Collected, S::Error>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let StreamMessage(deltas) = self.get_mut();
        let failure = ready!(poll_to_end(&mut *deltas, cx));
        Poll::Ready(deltas.items.collected(failure))
    }
}

/// Reads deltas to their end, and drops them. Returns the failure of the source, if it failed.
pub(super) fn poll_to_end<E>(
    mut deltas: impl Stream<Item = Result<Item, E>> + Unpin,
    cx: &mut Context<'_>,
) -> Poll<Option<E>> {
    loop {
        match ready!(Pin::new(&mut deltas).poll_next(cx)) {
            Some(Ok(_)) => {}
            Some(Err(failure)) => return Poll::Ready(Some(failure)),
            None => return Poll::Ready(None),
        }
    }
}

/// Prints the state of the parser.
impl<S: DeltaStreamExt> fmt::Debug for StreamMessage<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("StreamMessage").field(&self.0).finish()
    }
}

/// Why there is no finished message.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum CollectError<E> {
    /// The source failed before the response was complete.
    Source(E),
    /// The response is not complete.
    Incomplete(Incomplete),
}

impl<E: fmt::Display> fmt::Display for CollectError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CollectError::Source(error) => fmt::Display::fmt(error, f),
            CollectError::Incomplete(incomplete) => fmt::Display::fmt(incomplete, f),
        }
    }
}

/// Prints what it contains, so it does not return that as its source.
impl<E: fmt::Debug + fmt::Display> core::error::Error for CollectError<E> {}

/// Reads a stream to its end, and returns the message if it is complete.
///
/// # Errors
///
/// The error of the stream, or what came of a response that is not complete.
///
/// ```
/// use deltawire::adapters::collect_message;
/// # use futures_util::{stream, FutureExt};
/// # async {
/// let reads = [&b"data: {\"choices\":[{\"delta\":{\"content\":\"H"[..], b"i\"}}]}\n\ndata: [DONE]\n\n"];
/// let message = collect_message(stream::iter(reads.map(Ok::<_, std::io::Error>))).await?;
/// assert_eq!(message.choices[0].content.as_deref(), Some("Hi"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }.now_or_never().unwrap()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub async fn collect_message<S: DeltaStreamExt + Unpin>(stream: S) -> Result<Completion, CollectError<S::Error>> {
    stream.message().await.map_err(CollectError::Source)?.finished().map_err(CollectError::Incomplete)
}

impl<S: DeltaStreamExt + Unpin, F: FnOnce(&Meter, &End)> Stream for Metered<S, F> {
    type Item = S::Item;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        let read = ready!(Pin::new(&mut this.source).poll_next(cx));
        match &read {
            Some(Ok(bytes)) => this.meter_bytes(bytes.as_ref()),
            Some(Err(_)) | None => this.finish(),
        }
        Poll::Ready(read)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.source.size_hint()
    }
}
