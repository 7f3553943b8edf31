//! Per-choice state without a heap: which tool call is open, what was reported, a pending high surrogate.
//!
//! A chunk alone is ambiguous: a fragment of arguments may name its call by an index, by an ID, by its position, or not
//! at all; a role or a name may be repeated in each chunk; a character may be cut between two chunks. A [`Tracker`]
//! remembers the earlier chunks, and changes the deltas of a chunk to those of a stream, which report each thing once.

mod call;
mod repeats;
mod surrogate;
mod tracker;
mod updates;
mod whole;

#[cfg(test)]
mod tests;

pub use call::CallRow;
pub use tracker::{ChoiceRow, Tracker, TrackerOf, TrackerState};
pub(crate) use tracker::{Next, Tracking};
pub use updates::Updates;
pub(crate) use updates::{Findings, OffPage, Walk};
