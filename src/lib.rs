//! deltawire reads the event streams of LLM APIs (chat completions, OpenAI Responses, Anthropic Messages, Gemini):
//! slices of bytes go in, deltas come out, borrowed from those bytes. No allocation, no I/O, no async, `no_std`.
//!
//! Start with [`Parser`], and give it the bytes as they come:
//!
//! ```
//! # #[cfg(feature = "alloc")] mod program {
//! use deltawire::chat::NamePiece;
//! use deltawire::{Growing, Parser, Stop, Update};
//! use std::collections::BTreeMap;
//!
//! fn main() -> Result<(), Stop> {
//!     let reads = [&b"data: {\"choices\":[{\"delta\":{\"content\":\"Hel"[..], b"lo\"}}]}\n\ndata: [DONE]\n\n"];
//!     let mut calls = BTreeMap::<(u32, u32), (String, String)>::new(); // name and arguments, by choice and call
//!     let mut print = |choice, update: Update<'_>| match update {
//!         Update::Content(text) if choice == 0 => print!("{text}"),
//!         Update::CallName { call, text, piece } => {
//!             let (name, _) = calls.entry((choice, call)).or_default();
//!             if piece == NamePiece::Replaces {
//!                 name.clear();
//!             }
//!             text.push_to(name);
//!         }
//!         Update::CallArguments { call, text } => {
//!             text.push_to(&mut calls.entry((choice, call)).or_default().1);
//!         }
//!         Update::Usage(usage) => {
//!             println!("\n{:?} + {:?} tokens", usage.prompt_tokens(), usage.completion_tokens());
//!         }
//!         Update::Error(error) | Update::ChoiceError(error) => eprintln!("\n{error}"), // its message, and its code or type
//!         _ => {}
//!     };
//!     let mut parser = Parser::new(Growing::new());
//!     for bytes in reads {
//!         parser.feed_all(bytes, &mut print)?;
//!     }
//!     parser.finish_all(&mut print)?;
//!     for (name, arguments) in calls.values() {
//!         println!("\n{name}({arguments})");
//!     }
//!     let end = parser.end();
//!     println!("\n{end}, complete: {}", end.is_complete()); // done, complete: true
//!     Ok(())
//! }
//! # pub fn run() { main().unwrap() }
//! # }
//! # #[cfg(feature = "alloc")]
//! # program::run();
//! ```
//!
//! [`Parser::next`] returns events instead, with the same deltas, and [`Parser::feed`] calls a [`Handler`], which also
//! gets events and quirks, and may pause. Each reports everything once: a role that each chunk repeats comes once, each
//! fragment of arguments comes with the number of its tool call, and a character whose surrogates came in two chunks is
//! joined. The assembler in [`message`] (feature `alloc`) builds the whole message;
//! [`MessageLog`](message::MessageLog) does so without a heap.
//!
//! Deltas borrow the bytes. [`Update::into_owned`](Update::into_owned) (feature `alloc`) makes a copy that can be sent
//! to another task. The `adapters` (features `futures`, `std`, `tokio`) make owned deltas of a `Stream` of bytes, such as
//! `response.bytes_stream().deltas()`, of a `Read` and of an `AsyncRead`. `docs/rust.md` has programs: a blocking reader,
//! `tokio` with `reqwest`, a gateway with `axum`, `no_std`.
//!
//! Real streams deviate from their documentation. The parser reports a deviation that it accepts as a [`Quirk`], and
//! one that it does not accept as an event ([`Event::Malformed`], [`Event::TooLong`]); either way the stream continues.
//! [`Parser::end`] reports how the stream ended, and [`End::is_complete`] whether all of it arrived.
//!
//! [`mod@write`] writes streams: updates go in, the bytes of chat completions, Responses or Anthropic Messages come out.
//!
//! [`sse`] (event streams, WHATWG HTML 9.2) and [`json`] (a lazy cursor, RFC 8259) are usable alone.
//!
//! # Features
//!
//! No feature changes a limit.
//!
//! - `alloc` (default): a storage that grows, the assembler, a few conveniences.
//! - `anthropic`, `gemini`, `responses` (default, together `dialects`): each adds the reader of that protocol. The
//!   parser recognizes a protocol without its reader, too: the stream then has the verdict [`Verdict::OtherProtocol`],
//!   and [`End::protocol`] names the protocol.
//! - `serde`: `Serialize` for JSON values, and so for the assembled message.
//! - `futures`, `std`, `tokio`: the `adapters`, which make a stream of owned deltas of a `Stream` of bytes, of anything that
//!   implements `Read`, and of tokio's `AsyncRead`.
//! - `bytes`: long texts of a stream of `Bytes` as slices of it. `http-body`: HTTP bodies that are metered as they pass.
#![no_std]
#![deny(missing_docs)]
#![deny(missing_debug_implementations)]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![deny(unsafe_code)]

#[cfg(feature = "alloc")]
extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

/// For the fuzz targets: makes the searches use AVX2 if the processor has it, or SSE2.
#[cfg(all(fuzzing, target_arch = "x86_64"))]
#[doc(hidden)]
pub fn force_avx2(avx2: bool) {
    scan::level::force(avx2);
}

pub mod delta;
mod error;
mod hash;
mod limits;
mod quirk;
mod scan;
mod shown;
mod storage;
mod tables;
mod visits;
mod words;

#[cfg(any(feature = "futures", feature = "std"))]
#[cfg_attr(docsrs, doc(cfg(any(feature = "futures", feature = "std", feature = "tokio"))))]
pub mod adapters;
pub mod chat;
mod dialect;
pub mod json;
pub mod message;
pub mod sse;
pub mod stream;
pub mod track;
pub mod write;

#[cfg(feature = "alloc")]
pub use chat::OwnedUpdate;
pub use chat::Update;
pub use delta::Delta;
pub use error::Error;
pub use limits::Limits;
pub use quirk::{Quirk, QuirkSet};
#[cfg(feature = "alloc")]
pub use storage::Growing;
pub use storage::{Movable, Storage};
pub use stream::handler;
pub use stream::{Config, End, Event, Flow, Framing, Handler, Parser, Pulled, Stop, Validate, Verdict, Workspace};
pub use tables::{Arrays, Lent, Tables};

/// Runs the examples of the README as tests.
#[cfg(all(doctest, feature = "futures"))]
#[doc = include_str!("../README.md")]
struct Readme;

/// Runs the examples of the Rust guide as tests.
#[cfg(all(doctest, feature = "futures", feature = "anthropic"))]
#[doc = include_str!("../docs/rust.md")]
struct Recipes;

/// Runs the example of the guide to writing as a test.
#[cfg(all(doctest, feature = "alloc"))]
#[doc = include_str!("../docs/writing.md")]
struct WritingRecipes;

/// Runs the examples of the gateway guide as tests.
#[cfg(all(doctest, feature = "alloc"))]
#[doc = include_str!("../docs/gateway.md")]
struct GatewayRecipes;

/// Examples that must not compile.
///
/// A literal of a limit or a configuration: only builders make them, so that a new field is no breaking change.
///
/// ```compile_fail,E0639
/// let limits = deltawire::Limits { max_event_len: 9, ..deltawire::Limits::DEFAULT };
/// ```
///
/// ```compile_fail,E0639
/// let config = deltawire::Config { framing: deltawire::Framing::Spec, ..Default::default() };
/// ```
///
/// The compiler warns about a configuration that is discarded, and about a stop that is ignored.
///
/// ```compile_fail
/// #![deny(unused_must_use)]
/// deltawire::Config::new().with_framing(deltawire::Framing::Spec);
/// ```
///
/// ```compile_fail
/// #![deny(unused_must_use)]
/// deltawire::Parser::new(deltawire::Growing::new()).finish_into(&mut deltawire::handler::from_fn(|_, _| deltawire::Flow::Continue(())));
/// ```
///
/// An event borrows the parser, so it cannot be used after the next one is read.
///
/// ```compile_fail,E0499
/// let (mut parser, mut bytes) = (deltawire::Parser::new(deltawire::Growing::new()), &b"data: {}\n\n"[..]);
/// let event = parser.next(&mut bytes);
/// let next = parser.next(&mut bytes);
/// let _ = (event, next);
/// ```
#[cfg(all(doctest, feature = "alloc"))]
struct NotCompiled;
