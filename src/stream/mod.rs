//! From bytes to events: the incremental machine, the parser that wraps it, the sinks of its deltas, and the verdict.
//!
//! Most programs use [`Parser`]: they pull events with [`Parser::next`], or push bytes with [`Parser::feed`] to a
//! [`Handler`]. Both wrap a [`Machine`], which reports events as offsets.

#[cfg(test)]
mod batch_tests;
mod checkpoint;
mod config;
mod context;
mod cut;
mod dispatch;
mod emitter;
mod end;
mod event;
mod facts;
#[cfg(all(test, feature = "alloc"))]
mod facts_tests;
#[cfg(test)]
mod flood_tests;
mod found;
mod frames;
mod glued;
pub mod handler;
mod handler_sink;
#[cfg(test)]
mod linear_tests;
mod machine;
mod media;
mod memo;
mod meter;
mod oversize;
mod parser;
mod pieces;
mod progress;
mod pull;
mod quick;
#[cfg(test)]
mod quick_tests;
mod raw_json;
#[cfg(all(test, feature = "alloc"))]
mod raw_json_tests;
mod records;
mod run;
mod sink;
mod state;
#[cfg(test)]
mod tests;
mod workspace;

pub use crate::dialect::Protocol;
pub use checkpoint::NeedStorage;
pub use config::{Config, Framing, Payload, Validate};
pub use context::Context;
pub use emitter::{Emitter, Outcome};
pub use end::{End, Pending, Verdict};
pub use event::{Event, Malformed};
pub use found::{Found, Place, Span, Step};
pub use frames::{Frame, Frames};
pub use handler::{Fed, Flow, Handler, Stop};
pub use machine::Machine;
pub use media::Media;
pub use meter::{Amount, Meter, ShortText, Token, TokenKind};
pub use parser::Parser;
pub use pull::{Deltas, Pulled};
pub use records::{Record, Records, FLAG_AUX_SCRATCH, FLAG_EXTRA_SCRATCH, FLAG_TEXT_SCRATCH};
pub use sink::{Put, Sink, Track};
pub use state::StreamState;
#[doc(hidden)]
pub use workspace::Loan;
pub use workspace::Workspace;
