//! deltawire reads LLM token streams off the wire: bytes in, in slices of any size; deltas of `chat.completion.chunk`
//! events out, borrowed from the bytes that came in. No allocation, no I/O, no async, `no_std`.
//!
//! [`Parser`] is what to use. Pull with [`Parser::next`]:
//!
//! ```
//! use deltawire::{Parser, Update};
//!
//! let mut parser = Parser::new([0; 4096]);
//! let mut text = String::new();
//! # let reads = [&b"data: {\"choices\":[{\"delta\":{\"content\":\"Hel"[..], b"lo\"}}]}\n\ndata: [DONE]\n\n"];
//! for mut input in reads {
//!     while let Some(event) = parser.next(&mut input)? {
//!         for (_choice, update) in event.deltas() {
//!             if let Update::Content(content) = update {
//!                 text += &content.to_string();
//!             }
//!         }
//!     }
//! }
//! while let Some(_event) = parser.finish()? {}
//! assert_eq!(text, "Hello");
//! assert!(parser.end().is_complete());
//! # Ok::<(), deltawire::Error>(())
//! ```
//!
//! or push with [`Parser::feed`] and a [`Handler`], which receives each thing once: a role that is repeated in each chunk,
//! the call that a fragment belongs to, a character whose halves came in two chunks. The assembler in [`message`]
//! (feature `alloc`) puts a whole message together; [`MessageLog`](message::MessageLog) does it without a heap.
//!
//! Real streams deviate from their documents. A deviation that the parser understands is reported as a [`Quirk`]; one that
//! it does not understand is an event ([`Event::Malformed`], [`Event::TooLong`]), and the stream goes on. [`Parser::end`]
//! says how the stream ended, and [`End::is_complete`] whether all of it came.
//!
//! [`sse`] (event streams as WHATWG HTML 9.2 has them) and [`json`] (a lazy cursor) are useful alone.
//!
//! # Features
//!
//! None changes a limit or a meaning.
//!
//! - `alloc` (default): a storage that grows, the assembler, a few conveniences.
//! - `serde`: `Serialize` for the assembled message.
#![no_std]
#![deny(missing_docs)]
#![deny(unsafe_code)]

#[cfg(feature = "alloc")]
extern crate alloc;

pub mod delta;
mod error;
mod limits;
mod quirk;
mod scan;
mod storage;
mod tables;
mod visits;

pub mod chat;
pub mod json;
pub mod message;
pub mod sse;
pub mod stream;
pub mod track;

pub use chat::Update;
pub use delta::Delta;
pub use error::Error;
pub use limits::Limits;
pub use quirk::{Quirk, QuirkSet};
#[cfg(feature = "alloc")]
pub use storage::Growing;
pub use storage::{Movable, Storage};
pub use stream::{Config, End, Event, Flow, Framing, Handler, Parser, Stop, Validate, Verdict};
pub use tables::{Arrays, Lent, Tables};

/// The examples of the README are to run.
#[cfg(all(doctest, feature = "alloc"))]
#[doc = include_str!("../README.md")]
struct Readme;
