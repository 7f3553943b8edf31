//! The deltas of one chunk: from its items, through the tracker, to the sink.

use super::context::Context;
use super::frames::Frames;
use super::sink::{Put, Sink, Track};
use crate::chat::{Ahead, Cursor, Index, TokenCounts, Update};
use crate::delta::{Delta, Kind};
use crate::track::Next;
use crate::{Error, QuirkSet};

/// How far the deltas of a chunk were emitted.
#[derive(Clone, Copy)]
pub(super) struct Progress {
    pub(super) cursor: Cursor,
    /// Raw bytes of the current text that were emitted.
    pub(super) taken: usize,
    pub(super) quirks: QuirkSet,
    pub(super) frames: Frames,
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
    /// Before the first delta.
    #[inline(always)]
    pub(super) fn start(frames: Frames) -> Self {
        Progress { cursor: Cursor::new(), taken: 0, quirks: QuirkSet::EMPTY, frames }
    }

    /// Gives the sink the next deltas of a chunk.
    #[inline(always)]
    pub(super) fn deltas<T: Track + ?Sized, S: Sink + ?Sized>(
        &mut self,
        (payload, index): (&[u8], &Index),
        context: &Context<'_>,
        usage: &mut Option<TokenCounts>,
        tracker: &mut T,
        sink: &mut S,
    ) -> Result<(), Break> {
        'deltas: loop {
            let odd = 'odd: {
                let (kind, choice, call, text) = match self.cursor.next_plain(index) {
                    // Nearly always.
                    Ok((kind, choice, text)) => {
                        if !tracker.take_plain(kind, choice, text, payload) {
                            break 'odd Some((kind, choice, text));
                        }
                        (kind, choice, 0, text)
                    }
                    Err(item) => match self.cursor.ahead(item, index) {
                        Ahead::End => return Ok(()),
                        Ahead::Other => break 'odd None,
                        Ahead::Fragment { choice, index, arguments } => {
                            let Some(call) = tracker.take_fragment(choice, index, arguments, payload) else {
                                break 'odd None;
                            };
                            self.cursor.pass_fragment();
                            (Kind::ToolArguments, choice, call, arguments)
                        }
                    },
                };
                self.put(context, Delta { choice, call, text, ..Delta::new(kind) }, sink)?;
                continue 'deltas;
            };
            // A copy, so that nothing points to the progress: it need not be in memory.
            let mut copy = *self;
            let plain = odd.map(|(kind, choice, text)| Delta { choice, text, ..Delta::new(kind) });
            let goes_on = copy.any(plain, context, usage, tracker, sink);
            *self = copy;
            if !goes_on? {
                return Ok(());
            }
        }
    }

    /// Gives the sink the next delta, whatever it is, and those behind it that are not on the page; `plain` is the first if the
    /// cursor is behind it. `false`: there are no more.
    #[inline(never)]
    fn any<T: Track + ?Sized, S: Sink + ?Sized>(
        &mut self,
        plain: Option<Delta>,
        context: &Context<'_>,
        usage: &mut Option<TokenCounts>,
        tracker: &mut T,
        sink: &mut S,
    ) -> Result<bool, Break> {
        let Some(chunk) = context.chunk() else { return Ok(false) };
        let (payload, index) = (chunk.payload(), chunk.index());
        let mut plain = plain;
        loop {
            let next = tracker.next(plain.take(), &mut self.cursor, (payload, index), context.start, &mut self.quirks);
            match next {
                Next::Delta(delta) => {
                    if delta.kind == Kind::Usage && !sink.is_of_one_call() {
                        if let Some(Update::Usage(update)) = Update::of(&delta, payload) {
                            *usage = Some(update.counts());
                        }
                    }
                    self.put(context, delta, sink)?;
                }
                Next::Nothing => {}
                Next::LeftOut(error) => return Err(Break::LeftOut(error)),
                Next::End => return Ok(false),
            }
            if !self.cursor.is_off_page() {
                return Ok(true);
            }
        }
    }

    /// Gives the sink a delta that the tracker took in.
    #[inline(always)]
    pub(super) fn put<S: Sink + ?Sized>(
        &mut self,
        context: &Context<'_>,
        delta: Delta,
        sink: &mut S,
    ) -> Result<(), Break> {
        self.frames.add(delta.kind);
        let mut taken = self.taken;
        let put = sink.put(context, &delta, &mut taken);
        let Some(put) = put.unless_go() else {
            self.taken = 0;
            return Ok(());
        };
        self.taken = taken;
        Err(Break::Put(put, delta))
    }
}
