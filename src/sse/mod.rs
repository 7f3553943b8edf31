//! Event streams as WHATWG HTML 9.2 has them, and nothing else: useful alone for any protocol that sends them.
//!
//! [`Lines`] turns bytes into pieces of lines. [`Decoder`] reads those as the standard says, and gives events.

pub(crate) mod block;
mod decoder;
#[cfg(test)]
mod linear_tests;
mod lines;
mod lossy;

pub use decoder::{Decoder, Event, Item};
pub(crate) use lines::Ended;
pub use lines::{Field, Held, Lines, Piece};
pub use lossy::{Lossy, LossyChunks};
