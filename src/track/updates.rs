//! The updates of one event, through a tracker.

use super::call::CallRow;
use super::tracker::{ChoiceRow, Next, TrackerOf, Tracking};
use crate::chat::{Ahead, Chunk, DeltaCursor, Index, PageCursor, Update};
use crate::delta::Kind;
use crate::shown::Bytes;
use crate::tables::Tables;
use crate::{Error, QuirkSet};

/// What a tracker found in the deltas of an event besides the updates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Findings {
    /// The quirks of the deltas and their texts.
    pub(crate) quirks: QuirkSet,
    /// Why it left out a delta: the first reason.
    pub(crate) limit: Option<Error>,
}

impl Findings {
    pub(crate) const NOTHING: Findings = Findings { quirks: QuirkSet::EMPTY, limit: None };

    #[inline(always)]
    pub(crate) fn is_nothing(&self) -> bool {
        self.quirks.is_empty() && self.limit.is_none()
    }
}

/// The way through the deltas of an event. It does not have the tracker, and no cursor for deltas off the page, so that
/// it is small.
#[derive(Clone, Copy)]
pub(crate) struct Walk<'a> {
    pub(crate) payload: &'a [u8],
    /// The index of the chunk. `None` if no delta of a chunk is left.
    index: Option<&'a Index>,
    page: PageCursor,
    /// Only what the tracker has left comes: this is the end of the stream.
    is_at_end: bool,
}

/// The cursor of a way whose next delta is not an item of the page.
pub(crate) type OffPage = Option<DeltaCursor>;

/// Iterates over the updates of a chunk, each reported once, with the index of its choice. Created by
/// [`TrackerOf::updates`]. The tracker takes in all of the chunk, even if the iterator is dropped before its end.
pub struct Updates<'t, 'a, T: Tracking> {
    tracker: &'t mut T,
    found: Findings,
    walk: Walk<'a>,
    off_page: OffPage,
}

impl<T: Tracking> core::fmt::Debug for Updates<'_, '_, T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Updates")
            .field("payload", &Bytes(self.walk.payload))
            .field("quirks", &self.found.quirks)
            .field("error", &self.found.limit)
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
    pub fn updates<'t, 'a>(&'t mut self, chunk: &Chunk<'a>) -> Updates<'t, 'a, Self> {
        Updates { tracker: self, found: Findings::NOTHING, walk: Walk::of(*chunk), off_page: None }
    }

    /// Returns the updates at the end of the stream: each pending high surrogate becomes U+FFFD, which is the quirk
    /// [`LoneSurrogate`](crate::Quirk::LoneSurrogate), and each open call ends if the response `is_over` (by `[DONE]`, by
    /// the finish reason of each choice, or as a whole body) and did not fail.
    pub fn finish(&mut self, is_over: bool) -> Updates<'_, 'static, Self> {
        if is_over {
            self.note_over();
        }
        Updates { tracker: self, found: Findings::NOTHING, walk: Walk::END_OF_STREAM, off_page: None }
    }
}

impl<T: Tracking> Updates<'_, '_, T> {
    /// Returns the quirks that the tracker has found so far in the deltas and their texts.
    pub fn quirks(&self) -> QuirkSet {
        self.found.quirks
    }

    /// Returns why the tracker left out a delta, if it did so far: a table is full, or an index is out of range. The
    /// first reason is kept.
    pub fn error(&self) -> Option<Error> {
        self.found.limit
    }
}

impl<'a, T: Tracking> Iterator for Updates<'_, 'a, T> {
    type Item = (u32, Update<'a>);

    #[inline(always)]
    fn next(&mut self) -> Option<(u32, Update<'a>)> {
        self.walk.next(self.tracker, &mut self.found, &mut self.off_page)
    }
}

impl<T: Tracking> Drop for Updates<'_, '_, T> {
    fn drop(&mut self) {
        self.for_each(drop);
    }
}

impl<'a> Walk<'a> {
    /// The way of an event without deltas.
    pub(crate) const NOTHING: Walk<'static> =
        Walk { payload: &[], index: None, page: PageCursor::START, is_at_end: false };

    pub(crate) const END_OF_STREAM: Walk<'static> = Walk { is_at_end: true, ..Walk::NOTHING };

    /// Returns the way through the deltas of a chunk.
    #[inline(always)]
    pub(crate) fn of(chunk: Chunk<'a>) -> Self {
        Walk::of_index(chunk.payload(), chunk.index())
    }

    #[inline(always)]
    fn of_index(payload: &'a [u8], index: &'a Index) -> Self {
        Walk { payload, index: Some(index), ..Walk::NOTHING }
    }

    /// Whether no update is left. `false` does not mean that there is one.
    #[inline(always)]
    pub(crate) fn is_over(&self) -> bool {
        self.index.is_none() && !self.is_at_end
    }

    /// Returns the next update.
    #[inline(always)]
    pub(crate) fn next<T: Tracking>(
        &mut self,
        tracker: &mut T,
        found: &mut Findings,
        off_page: &mut OffPage,
    ) -> Option<(u32, Update<'a>)> {
        let payload = self.payload;
        let Some(index) = self.index else {
            let next = if self.is_at_end { rest(tracker, found) } else { None };
            self.is_at_end = next.is_some();
            return next;
        };
        // Nearly every delta is a text or a fragment of the open tool call, and the tracker passes it unchanged.
        match self.page.next_on_page(index) {
            Ok((Kind::Content, choice, text)) if tracker.take_unchanged(Kind::Content, choice, text, payload) => {
                return Some((choice, Update::Content(text.text(payload))));
            }
            Ok((Kind::Reasoning, choice, text)) if tracker.take_unchanged(Kind::Reasoning, choice, text, payload) => {
                return Some((choice, Update::Reasoning(text.text(payload))));
            }
            Ok((Kind::Logprobs, choice, value)) if tracker.knows(choice) => {
                return Some((choice, Update::Logprobs(value.value(payload))));
            }
            Ok(_) => self.page.back(),
            Err(item) => match self.page.ahead(item, index) {
                Ahead::End => {
                    self.index = None;
                    return None;
                }
                Ahead::Fragment { choice, index, arguments } => {
                    if let Some(call) = tracker.take_fragment(choice, index, arguments, payload) {
                        self.page.pass_fragment();
                        return Some((choice, Update::CallArguments { call, text: arguments.text(payload) }));
                    }
                }
                Ahead::Slot(delta) => {
                    if tracker.take_unchanged(delta.kind, delta.choice, delta.text, payload) {
                        self.page.pass(delta.kind);
                        return Update::of(&delta, payload).map(|update| (delta.choice, update));
                    }
                }
                Ahead::Other => {}
            },
        }
        let next = next_of_any((payload, index), (&mut self.page, off_page), tracker, found);
        let is_over = next.is_none() || off_page.as_ref().is_some_and(DeltaCursor::is_over);
        self.index = (!is_over).then_some(index);
        next
    }
}

/// Returns the next update of a chunk, of any kind.
#[inline(never)]
fn next_of_any<'a, T: Tracking>(
    (payload, index): (&'a [u8], &'a Index),
    (page, off_page): (&mut PageCursor, &mut OffPage),
    tracker: &mut T,
    found: &mut Findings,
) -> Option<(u32, Update<'a>)> {
    // Gemini sends the role in each event, before its text.
    if off_page.is_none() {
        let behind = &mut { *page };
        if matches!(behind.next_on_page(index), Ok((Kind::Role, choice, _)) if tracker.has_role(choice)) {
            let mut walk = Walk { page: *behind, ..Walk::of_index(payload, index) };
            let next = walk.next(tracker, found, off_page);
            *page = walk.page;
            return next;
        }
    }
    // The cursor is not moved, because it is large.
    let cursor = off_page.get_or_insert_with(|| DeltaCursor::of_page(*page));
    let update = loop {
        match tracker.next(cursor, (payload, index), index.frame.0, &mut found.quirks) {
            Next::Delta(delta) => {
                if let Some(update) = Update::of(&delta, payload) {
                    break Some((delta.choice, update));
                }
            }
            Next::Nothing => {}
            Next::LeftOut(error) => found.limit = found.limit.or(Some(error)),
            Next::End => break None,
        }
    };
    *page = cursor.page;
    if update.is_none() || !cursor.is_off_page() {
        *off_page = None;
    }
    update
}

/// Returns the next update at the end of the stream.
#[inline(never)]
fn rest<T: Tracking>(tracker: &mut T, found: &mut Findings) -> Option<(u32, Update<'static>)> {
    let delta = tracker.rest(&mut found.quirks)?;
    Some((delta.choice, Update::of(&delta, b"")?))
}
