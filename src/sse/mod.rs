//! Event streams (WHATWG HTML 9.2), whatever the payloads. The module is usable alone, for any protocol that sends
//! event streams.
//!
//! [`Lines`] splits bytes into pieces of lines. [`Decoder`] interprets the lines as the standard prescribes and returns
//! events.

pub(crate) mod buffer;
mod decoder;
#[cfg(test)]
mod linear_tests;
mod lines;

pub use decoder::{Decoder, Event, Item};
pub(crate) use lines::Ended;
pub use lines::{Held, LineKind, Lines, Piece};
