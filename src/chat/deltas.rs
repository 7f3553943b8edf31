//! Pull: a chunk's deltas as an iterator.

use super::cursor::{Ahead, DeltaCursor};
use super::index::Index;
use super::update::{CallUpdate, Update};
use super::views::Chunk;
use crate::delta::{Delta, Kind, FLAG_WHOLE};
use crate::shown::{shown, Bytes};

/// Iterates over the deltas of a chunk, each with the index of its choice (0 for usage and errors of the chunk as a
/// whole): choice by choice, texts before the finish reason, usage and errors last. Created by [`Chunk::deltas`].
#[derive(Clone)]
pub struct Deltas<'a> {
    payload: &'a [u8],
    /// `None` if the event is no chunk.
    index: Option<&'a Index>,
    cursor: DeltaCursor,
}

shown!("Deltas": Deltas<'_>, this => payload: Bytes(this.payload));

impl Deltas<'_> {
    pub(crate) fn none() -> Self {
        Deltas { payload: &[], index: None, cursor: DeltaCursor::new() }
    }
}

impl<'a> Iterator for Deltas<'a> {
    type Item = (u32, Update<'a>);

    #[inline(always)]
    fn next(&mut self) -> Option<(u32, Update<'a>)> {
        let Deltas { payload, index, cursor } = self;
        let index = (*index)?;
        loop {
            let delta = match cursor.next_on_page(index) {
                // Nearly every delta is content.
                Ok((Kind::Content, choice, part)) => return Some((choice, Update::Content(part.text(payload)))),
                Ok((kind, choice, text)) => Delta { choice, text, ..Delta::new(kind) },
                Err(item) => match cursor.ahead(item, index) {
                    Ahead::Fragment { choice, index, .. } => {
                        cursor.pass(Kind::ToolCall);
                        return Some((choice, Update::Call(CallUpdate::fragment(index))));
                    }
                    Ahead::End => return None,
                    Ahead::Slot(delta) => {
                        cursor.pass(delta.kind);
                        delta
                    }
                    Ahead::Other => {
                        // A pointer to the cursor would force it into memory, so the call gets a copy.
                        let mut copy = *cursor;
                        let delta = copy.next_of_any(payload, index);
                        *cursor = copy;
                        delta?
                    }
                },
            };
            if delta.has(FLAG_WHOLE) && index.list.follows {
                // Only a tracker knows how much of the message was reported.
                continue;
            }
            if let Some(update) = Update::of(&delta, payload) {
                return Some((delta.choice, update));
            }
        }
    }
}

impl<'a> Chunk<'a> {
    /// Returns the deltas of the chunk, without regard to earlier chunks.
    ///
    /// Some servers cut an escaped surrogate pair in two (`\ud83d` at the end of one chunk, `\ude00` at the start of
    /// the next), repeat the role in each chunk, or name a tool call only once. To have such texts joined and each
    /// thing reported once, give the chunk to a [`Tracker`](crate::track::Tracker), or use
    /// [`Parser::feed`](crate::Parser::feed).
    ///
    /// A whole response that was not streamed has a `message` in the place of `delta`, whose contents are reported as
    /// deltas. If an earlier chunk had the choice, they are left out, because only a tracker knows which are new.
    #[inline(always)]
    pub fn deltas(&self) -> Deltas<'a> {
        Deltas { payload: self.payload(), index: Some(self.index()), cursor: DeltaCursor::new() }
    }
}
