//! Other protocols than chat completions: what one event of them contains.
//!
//! A reader takes an event in two steps. [`read`] looks at it once, when it comes, with what is known of the stream
//! ([`State`]), and gives a [`Seen`]: where the members lie that every protocol has, and a [`Plan`]. [`next`] then gives the
//! deltas one by one, as often as it is asked to, from the payload and the plan alone. A piece of a text, which nearly every
//! event is, takes one walk ([`read_known`]): it needs no plan, and the template memo serves it.

mod anthropic;
mod blocks;
mod event;
mod finish;
mod gemini;
mod protocol;
mod read;
mod reported;
mod responses;
mod skim;
mod state;
mod usage;
mod value;
mod walk;

pub(crate) use event::read_known;
pub use protocol::Protocol;
pub(crate) use read::{has_choices, has_no_usage, is_read, names_usage, next, read};
pub(crate) use responses::ends as ends_response;
pub(crate) use skim::{GiveUp, Out, Skim};
pub(crate) use state::{Piece, Plan, Seen, State};
pub(crate) use usage::{place_of, protocol_of, Counts};
pub(crate) use walk::Walk;
