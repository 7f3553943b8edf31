//! The two traits that the emitter works with: a [`Sink`] takes deltas, and [`Track`] is the state of the choices.

use super::context::Context;
use super::handler::Stop;
use crate::delta::{Delta, Kind};
use crate::tables::Tables;
use crate::track::{CallRow, ChoiceRow, TrackerOf, Tracking};

/// A sink's answer to a delta.
#[derive(Clone, Copy, Debug)]
pub enum Put {
    /// Go on.
    Go,
    /// The sink has no room: give it the same delta again, from `taken` on.
    Full,
    /// Pause after this event.
    Pause,
    /// Stop, and give the sink nothing more of this event.
    Stop(Stop),
}

/// Where deltas go: a handler, the records of a batch, the callbacks of C, a message log.
pub trait Sink {
    /// Whether the emitter is used for one call only: then it keeps neither frames nor the last token counts, and such a sink must
    /// not want [`Kind::Frame`].
    fn is_of_one_call(&self) -> bool {
        false
    }

    /// Whether a full table stops the parser after the event.
    fn stops_at_limit(&self) -> bool {
        false
    }

    /// Whether the sink has no room for another delta. The emitter then stops between two events, so that none stays pending.
    #[inline(always)]
    fn is_full(&self) -> bool {
        false
    }

    /// Whether the sink uses where texts lie in the input.
    #[inline(always)]
    fn uses_places(&self) -> bool {
        false
    }

    /// Whether the sink uses deltas of this kind. The emitter may leave out the others.
    fn wants(&self, kind: Kind) -> bool;

    /// Takes a delta. `taken` raw bytes of its text were taken before; a sink that takes a text in pieces adds to that.
    fn put(&mut self, context: &Context<'_>, delta: &Delta, taken: &mut usize) -> Put;
}

/// The sink of the rest of an event in which the real sink stopped. It drops the deltas, which the tracker still takes in.
pub(super) struct Muted;

impl Sink for Muted {
    fn wants(&self, _: Kind) -> bool {
        false
    }
    fn put(&mut self, _: &Context<'_>, _: &Delta, _: &mut usize) -> Put {
        Put::Go
    }
}

/// Per-choice state: a [`Tracker`](crate::track::Tracker) of any size.
pub trait Track: Tracking {}

impl<T: Tables<Option<ChoiceRow>, Option<CallRow>>> Track for TrackerOf<T> {}
