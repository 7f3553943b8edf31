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

#[cfg(feature = "alloc")]
use crate::tables::Heap;
pub use call::CallRow;
pub use tracker::{ChoiceRow, Tracker, TrackerOf, TrackerState};
pub(crate) use tracker::{Next, Tracking};
pub use updates::Updates;
pub(crate) use updates::{Findings, OffPage, Walk};

/// A tracker on the heap, whose size is known when it is made. It is the one that an adapter has.
#[cfg(feature = "alloc")]
#[cfg_attr(docsrs, doc(cfg(feature = "alloc")))]
pub type HeapTracker = TrackerOf<Heap<Option<ChoiceRow>, Option<CallRow>>>;

#[cfg(feature = "alloc")]
impl HeapTracker {
    /// A tracker for the start of a stream, with room for this many choices, and for this many tool calls of all choices
    /// together. Returns `None` if an allocation fails.
    ///
    /// ```
    /// use deltawire::{track::HeapTracker, Config, Growing, Parser};
    /// let tracker = HeapTracker::with_room(64, 256).ok_or("out of memory")?;
    /// let parser = Parser::with_tracker(Growing::new(), Config::new(), tracker);
    /// # let _ = parser;
    /// # Ok::<(), &str>(())
    /// ```
    pub fn with_room(choices: u16, calls: u16) -> Option<Self> {
        let tables = Heap::new((None, choices), (None, calls))?;
        Some(TrackerOf::from_parts(tables, TrackerState::default()))
    }
}
