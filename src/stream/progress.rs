//! The deltas of one chunk: from its items, through the tracker, to the sink.

use super::context::Context;
use super::frames::Frames;
use super::sink::{Put, Sink, Track};
use crate::chat::{Cursor, TokenCounts, Update};
use crate::delta::{Delta, Kind};
use crate::track::Taken;
use crate::{Error, QuirkSet};

/// How far the deltas of a chunk were emitted.
#[derive(Clone, Copy)]
pub(super) struct Progress {
    pub(super) cursor: Cursor,
    /// Raw bytes of the current text that were emitted.
    pub(super) taken: usize,
    pub(super) quirks: QuirkSet,
}

/// What interrupts a chunk's deltas.
pub(super) enum Break {
    /// The sink's answer to a delta, unless it is [`Put::Go`].
    Put(Put, Delta),
    /// The tracker left a delta out.
    LeftOut(Error),
    /// Nothing: the stage after the deltas is next.
    Nothing,
}

impl Progress {
    pub(super) const START: Progress = Progress { cursor: Cursor::new(), taken: 0, quirks: QuirkSet::EMPTY };

    /// Gives the sink the next deltas of a chunk.
    #[inline(always)]
    pub(super) fn deltas<T: Track + ?Sized, S: Sink + ?Sized>(
        &mut self,
        context: &Context<'_>,
        frames: &mut Frames,
        usage: &mut Option<TokenCounts>,
        tracker: &mut T,
        sink: &mut S,
    ) -> Result<(), Break> {
        let Some(chunk) = context.chunk() else { return Ok(()) };
        let (payload, index) = (chunk.payload(), chunk.index());
        loop {
            let mut delta = match self.cursor.next_on_page(index) {
                // Nearly always.
                Some((kind, choice, text)) if tracker.take_plain(kind, choice, text) => {
                    frames.add(kind);
                    let delta = Delta { choice, text, ..Delta::new(kind) };
                    if let Some(put) = sink.put(context, &delta, &mut self.taken).unless_go() {
                        return Err(Break::Put(put, delta));
                    }
                    self.taken = 0;
                    continue;
                }
                Some((kind, choice, text)) => Delta { choice, text, ..Delta::new(kind) },
                None => match self.cursor.next_other(payload, index) {
                    Some(delta) => delta,
                    None => return Ok(()),
                },
            };
            let called = self.cursor.called();
            match tracker.take(&mut delta, called, payload, context.start, &mut self.quirks) {
                Taken::Keep => {}
                Taken::Drop => continue,
                Taken::Before(waited) => {
                    self.cursor.back();
                    delta = waited;
                }
                Taken::LeftOut(error) => return Err(Break::LeftOut(error)),
            }
            frames.add(delta.kind);
            if delta.kind == Kind::Usage && !sink.is_of_one_call() {
                if let Some(Update::Usage(update)) = Update::of(&delta, payload) {
                    *usage = Some(update.counts());
                }
            }
            if let Some(put) = sink.put(context, &delta, &mut self.taken).unless_go() {
                return Err(Break::Put(put, delta));
            }
            self.taken = 0;
        }
    }
}
