//! The two traits that the emitter works with: a [`Sink`] takes deltas, and a [`Track`] keeps the state of the choices.

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
    /// The sink has no room. Give it the same delta again later; it goes on from `taken`.
    Full,
    /// Pause after this event.
    Pause,
    /// Stop, and give the sink no more deltas of this event.
    Stop(Stop),
}

/// Receives deltas: a handler, the records of a batch, the callbacks of C, or a message log.
pub trait Sink {
    /// Whether the emitter is used for one call only. Then it keeps no frames, and the sink must not want
    /// [`Kind::Frame`].
    fn is_of_one_call(&self) -> bool {
        false
    }

    /// Whether a full table stops the parser after the event.
    fn stops_at_limit(&self) -> bool {
        false
    }

    /// Whether the sink has no room for another delta. If so, the emitter stops between two events, so that no event
    /// stays pending.
    #[inline(always)]
    fn is_full(&self) -> bool {
        false
    }

    /// Whether the sink uses the offsets of texts in the input.
    #[inline(always)]
    fn uses_places(&self) -> bool {
        false
    }

    /// Whether the sink uses deltas of this kind. The emitter may leave out the others.
    fn wants(&self, kind: Kind) -> bool;

    /// Takes a delta. `taken` is how many raw bytes of its text the sink has taken before. A sink that takes a text in
    /// pieces adds the bytes of each piece.
    fn put(&mut self, context: &Context<'_>, delta: &Delta, taken: &mut usize) -> Put;
}

/// Takes the place of a sink that stopped, for the rest of the event. It drops the deltas, which still go through the
/// tracker.
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
