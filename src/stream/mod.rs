//! Bytes to events: the machine, the storage it is given, the parser round them, and the verdict.
//!
//! [`Parser`] is what to use: pull with [`Parser::next`], or push with [`Parser::feed`] and a [`Handler`]. Both wrap
//! [`Machine::step`], which deals in offsets alone.

mod batch;
#[cfg(test)]
mod batch_tests;
mod checkpoint;
mod config;
mod dispatch;
mod end;
mod event;
#[cfg(all(test, feature = "alloc"))]
mod facts_tests;
#[cfg(test)]
mod flood_tests;
mod found;
mod frames;
mod item;
mod kind;
#[cfg(test)]
mod linear_tests;
mod machine;
mod memo;
mod parser;
mod pending;
mod push;
mod quick;
#[cfg(test)]
mod quick_tests;
mod raw_json;
#[cfg(all(test, feature = "alloc"))]
mod raw_json_tests;
mod record;
mod tell;
#[cfg(test)]
mod tests;

pub use batch::{Batch, Filled};
pub use checkpoint::NeedStorage;
pub use config::{Config, Framing, Payload, Validate};
pub use end::{End, Pending, Verdict};
pub use event::{Event, Malformed};
pub use found::{Found, Place, Span, Step};
pub use frames::{Frame, Frames};
pub use kind::Kind;
pub use machine::Machine;
pub use parser::Parser;
pub use push::{Fed, Flow, Handler, Stop, Track};
pub use record::{
    Record, Sink, FLAG_AUX_SCRATCH, FLAG_CUSTOM, FLAG_EXTRA_SCRATCH, FLAG_MORE, FLAG_NUMBER, FLAG_OPENS, FLAG_PLAIN,
    FLAG_REPLACES, FLAG_REUSES, FLAG_TEXT_SCRATCH,
};
