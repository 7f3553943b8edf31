//! Bytes to events: the machine, the storage it is given, the parser round them, and the verdict.
//!
//! [`Parser`] is what to use: pull with [`Parser::next`], or push with [`Parser::feed`] and a [`Handler`]. Both wrap
//! [`Machine::step`], which deals in offsets alone.

mod config;
mod dispatch;
mod end;
mod event;
mod found;
mod machine;
mod parser;
mod push;
mod raw_json;
#[cfg(test)]
mod tests;

pub use config::{Config, Framing, Validate};
pub use end::{End, Pending, Verdict};
pub use event::{Event, Malformed};
pub use found::{Found, Place, Span, Step};
pub use machine::Machine;
pub use parser::Parser;
pub use push::{Fed, Flow, Handler, Stop, Track};
