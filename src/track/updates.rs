//! The updates of one chunk, through a tracker.

use super::call::CallRow;
use super::tracker::{ChoiceRow, Next, TrackerOf, Tracking};
use crate::chat::{Chunk, DeltaCursor, Update};
use crate::delta::{Delta, Kind};
use crate::tables::Tables;
use crate::{Error, QuirkSet};

/// Iterates over the updates of a chunk, each reported once, with the index of its choice. Created by
/// [`TrackerOf::updates`]. The tracker takes in all of the chunk, even if the iterator is dropped before its end.
pub struct Updates<'t, 'a, T: Tables<Option<ChoiceRow>, Option<CallRow>>> {
    tracker: &'t mut TrackerOf<T>,
    chunk: Chunk<'a>,
    cursor: DeltaCursor,
    quirks: QuirkSet,
    error: Option<Error>,
}

impl<T: Tables<Option<ChoiceRow>, Option<CallRow>>> core::fmt::Debug for Updates<'_, '_, T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Updates")
            .field("chunk", &self.chunk)
            .field("quirks", &self.quirks)
            .field("error", &self.error)
            .finish()
    }
}

impl<T: Tables<Option<ChoiceRow>, Option<CallRow>>> TrackerOf<T> {
    /// Returns the updates of a chunk, given the chunks before it.
    ///
    /// ```
    /// use deltawire::{chat::{Chunk, Index}, track::Tracker, Update};
    ///
    /// let mut tracker = Tracker::<8, 16>::new();
    /// let mut seen = String::new();
    /// for payload in [
    ///     r#"{"choices":[{"index":0,"delta":{"role":"assistant","content":"\ud83d"}}]}"#,
    ///     r#"{"choices":[{"index":0,"delta":{"role":"assistant","content":"\ude00!"}}]}"#,
    /// ] {
    ///     let mut index = Index::new();
    ///     let chunk = Chunk::read(payload.as_bytes(), &mut index)?;
    ///     for (_choice, update) in tracker.updates(&chunk) {
    ///         match update {
    ///             Update::Role(role) => seen += &format!("{role}: "),
    ///             Update::Content(text) => seen += &text.to_string(),
    ///             _ => {}
    ///         }
    ///     }
    /// }
    /// assert_eq!(seen, "assistant: \u{1F600}!");
    /// # Ok::<(), deltawire::json::JsonError>(())
    /// ```
    pub fn updates<'t, 'a>(&'t mut self, chunk: &Chunk<'a>) -> Updates<'t, 'a, T> {
        Updates { tracker: self, chunk: *chunk, cursor: DeltaCursor::new(), quirks: QuirkSet::EMPTY, error: None }
    }

    /// Returns the updates at the end of the stream: each pending high surrogate becomes U+FFFD, which is the quirk
    /// [`LoneSurrogate`](crate::Quirk::LoneSurrogate). If there is an update, pass the quirk to
    /// [`Parser::count_quirks`](crate::Parser::count_quirks): the parser does not count it otherwise.
    pub fn finish(&mut self) -> impl Iterator<Item = (u32, Update<'static>)> + '_ {
        core::iter::from_fn(|| {
            let mut quirks = QuirkSet::EMPTY;
            let delta = self.flush(None, &mut quirks)?;
            Update::of(&delta, b"").map(|update| (delta.choice, update))
        })
    }
}

impl<T: Tables<Option<ChoiceRow>, Option<CallRow>>> Updates<'_, '_, T> {
    /// Returns the quirks that the tracker has found so far in the deltas and their texts. Pass them to
    /// [`Parser::count_quirks`](crate::Parser::count_quirks): the parser does not count them otherwise.
    pub fn quirks(&self) -> QuirkSet {
        self.quirks
    }

    /// Returns why the tracker left out a delta, if it did so far: a table is full, or an index is out of range. The
    /// first reason is kept.
    pub fn error(&self) -> Option<Error> {
        self.error
    }
}

impl<'a, T: Tables<Option<ChoiceRow>, Option<CallRow>>> Iterator for Updates<'_, 'a, T> {
    type Item = (u32, Update<'a>);

    fn next(&mut self) -> Option<(u32, Update<'a>)> {
        let (payload, offset) = (self.chunk.payload(), self.chunk.wire_range().start);
        loop {
            let index = self.chunk.index();
            if let Ok((kind, choice, text)) = self.cursor.next_on_page(index) {
                let is_taken = match kind {
                    Kind::Content | Kind::Reasoning => self.tracker.take_unchanged(kind, choice, text, payload),
                    Kind::Logprobs => self.tracker.knows(choice),
                    _ => false,
                };
                if !is_taken {
                    self.cursor.back();
                } else if let Some(update) = Update::of(&Delta { choice, text, ..Delta::new(kind) }, payload) {
                    return Some((choice, update));
                } else {
                    continue;
                }
            }
            let next = self.tracker.next(&mut self.cursor, (payload, index), offset, &mut self.quirks);
            let delta = match next {
                Next::Delta(delta) => delta,
                Next::Nothing => continue,
                Next::LeftOut(error) => {
                    self.error = self.error.or(Some(error));
                    continue;
                }
                Next::End => return None,
            };
            if let Some(update) = Update::of(&delta, payload) {
                return Some((delta.choice, update));
            }
        }
    }
}

impl<T: Tables<Option<ChoiceRow>, Option<CallRow>>> Drop for Updates<'_, '_, T> {
    fn drop(&mut self) {
        self.for_each(drop);
    }
}
