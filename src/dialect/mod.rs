//! The protocols other than chat completions: how one of their events is read.
//!
//! A reader takes an event in two steps. [`read()`](read::read) looks at an event once, when it comes, together with
//! the [`DialectState`] of the stream. It fills a [`ReadEvent`]: the places of the members that every protocol has, and
//! a [`Plan`]. [`next`] then returns the deltas one by one, from the payload and the plan alone, so that they can be
//! read as often as needed. Nearly every event has [only a text](OnlyText), for which one walk ([`read_known`]) is
//! enough: such an event needs no plan, and templates recognize later events of the same shape.

mod anthropic;
mod blocks;
mod event;
mod expect;
mod finish;
mod gemini;
mod identity;
mod items;
mod known;
mod protocol;
mod read;
mod reported;
mod responses;
mod skim;
mod state;
mod text_event;
mod texts;
mod usage;
mod value;
mod walk;

pub(crate) use event::read_known;
pub(crate) use expect::{has_unknown_text, is_piece, is_transcript};
pub use protocol::Protocol;
pub(crate) use read::{has_choices, is_read, next, read};
pub(crate) use reported::ItemCounts;
pub(crate) use responses::ends as ends_response;
pub(crate) use skim::{GiveUp, Skim, SkimOut};
pub(crate) use state::{DialectState, OnlyText, Plan, ReadEvent};
pub(crate) use usage::place_of;
pub use usage::{TokenCounts, Usage};
pub(crate) use value::{index_number, is_empty_object, whole_number};
pub(crate) use walk::{Container, Walk};
