//! Adapters: a source of bytes becomes a source of owned deltas, or the whole message.
//!
//! | Feature | Source | Trait |
//! | --- | --- | --- |
//! | `futures` | a `Stream` of `Result<B, E>` with `B: AsRef<[u8]>`, as reqwest, hyper and axum give it | `DeltaStreamExt` |
//! | `std` | anything that implements `Read` or `BufRead` | `DeltaReadExt` |
//! | `tokio` | anything that implements tokio's `AsyncRead` | `DeltaAsyncReadExt` |
//! | `tokio` | a `Framed` or `FramedRead` of tokio-util | `DeltaDecoder` |
//! | `http-body` | an HTTP body with bytes as data, as hyper, tower and axum pass it on: only `metered` | `DeltaBodyExt` |
//!
//! Each trait of a source that is read has the same three methods:
//!
//! - `deltas()` yields [`Item`]s: each delta with the index of its choice, and at last the [`End`](crate::End). Errors of
//!   the source come as they are, after the deltas of the bytes before them.
//! - `message()` reads to the end, and returns the whole message with its end ([`Collected`]).
//! - `metered(report)` passes the bytes on unaltered, and calls `report` once when they end, fail, or nobody wants more
//!   of them ([`Metered`]).
//!
#![cfg_attr(feature = "futures", doc = "```")]
#![cfg_attr(not(feature = "futures"), doc = "```ignore")]
//! use deltawire::adapters::{DeltaStreamExt, Item};
//! use deltawire::Update;
//! use futures_util::{Stream, TryStreamExt};
//! use std::error::Error;
//!
//! async fn print<B: AsRef<[u8]>, E: Error + 'static>(
//!     bytes: impl Stream<Item = Result<B, E>> + Unpin,
//! ) -> Result<(), Box<dyn Error>> {
//!     let mut deltas = bytes.deltas(); // with reqwest: response.bytes_stream().deltas()
//!     while let Some(item) = deltas.try_next().await? {
//!         match item {
//!             Item::End(end) if !end.is_complete() => return Err(end.to_string().into()),
//!             item => match item.as_update() {
//!                 Some((0, Update::Content(text))) => print!("{text}"),
//!                 Some((_, Update::Error(error) | Update::ChoiceError(error))) => eprintln!("\n{error}"),
//!                 _ => {}
//!             },
//!         }
//!     }
//!     Ok(())
//! }
//! # use futures_util::{stream, FutureExt};
//! # let read = b"data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\n\ndata: [DONE]\n\n".to_vec();
//! # print(stream::iter([Ok::<_, std::io::Error>(read)])).now_or_never().unwrap().unwrap();
//! ```
//!
//! An adapter reads one event at a time: it holds at most the bytes of one read and the deltas of one event, and asks the
//! source for more only when all of these were taken, so back-pressure is that of the source. It keeps its state in itself,
//! so dropping a `next()` that waits loses nothing. Dropping the adapter drops the source, which cancels the request. Each
//! adapter allocates its parser once, about 8 KB; an event costs no further allocation, except for a text of more than 32
//! bytes, and for a head, which comes once unless the server changes its ID or model. With feature `bytes`, `sliced()` on
//! the deltas of a stream of `Bytes` makes slices of such texts instead.
//!
//! Adapters read with the default [`Config`](crate::Config), unless `with_config` gives them another one. They have room for 8
//! choices and 32 tool calls, unless `with_room` gives them more, and read to the end of the source, unless `until_done` ends
//! them with the response.

#[cfg(feature = "tokio")]
mod async_read;
#[cfg(feature = "http-body")]
mod body;
mod item;
mod message;
mod metered;
#[cfg(feature = "std")]
mod read;
mod reader;
#[cfg(feature = "futures")]
mod stream;

#[cfg(feature = "tokio")]
#[cfg_attr(docsrs, doc(cfg(feature = "tokio")))]
pub use async_read::{AsyncReadDeltas, AsyncReadMessage, DeltaAsyncReadExt, DeltaDecoder};
#[cfg(feature = "http-body")]
#[cfg_attr(docsrs, doc(cfg(feature = "http-body")))]
pub use body::DeltaBodyExt;
pub use item::{Head, Item};
pub use message::{Collected, Incomplete};
pub use metered::Metered;
#[cfg(feature = "std")]
#[cfg_attr(docsrs, doc(cfg(feature = "std")))]
pub use read::{DeltaReadExt, ReadDeltas};
#[cfg(feature = "futures")]
#[cfg_attr(docsrs, doc(cfg(feature = "futures")))]
pub use stream::{collect_message, CollectError, DeltaStreamExt, StreamDeltas, StreamMessage};
