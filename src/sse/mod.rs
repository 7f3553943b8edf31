//! Event streams as WHATWG HTML 9.2 has them, and nothing else.
//!
//! [`Lines`] turns bytes into (pieces of) lines.

mod lines;

pub use lines::{Field, Held, Lines, Piece};
