//! Per-choice state without a heap: which tool call is open, what is known of a choice, half a surrogate pair.
//!
//! A chunk says little: a fragment of arguments may name its call by an index, by an ID, by its place, or not at all;
//! a role or a name may be repeated in each chunk; a character may be cut between two. A [`Tracker`] knows what came
//! before and turns the deltas of a stream into [`Update`]s that say each thing once.

mod call;
mod carry;
mod tracker;

#[cfg(test)]
mod tests;

pub use tracker::{CallUpdate, Outcome, Tracker, Update};
