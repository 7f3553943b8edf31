//! deltawire reads LLM token streams off the wire.
#![no_std]
#![deny(missing_docs)]
#![deny(unsafe_code)]

#[cfg(feature = "alloc")]
extern crate alloc;

mod error;
mod limits;
mod quirk;
mod scan;
mod storage;

pub mod chat;
pub mod json;
#[cfg(feature = "alloc")]
pub mod message;
pub mod sse;
pub mod stream;
pub mod track;

pub use error::Error;
pub use limits::Limits;
pub use quirk::{Quirk, QuirkSet};
#[cfg(feature = "alloc")]
pub use storage::Growing;
pub use storage::Storage;
pub use stream::{Config, End, Event, Flow, Framing, Handler, Parser, Stop, Validate, Verdict};
