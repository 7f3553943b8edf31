//! The deltas of one chunk: from its items, through the tracker, to the sink.

use super::context::Context;
use super::frames::Frames;
use super::sink::{Put, Sink, Track};
use crate::chat::{Ahead, Cursor, Index};
use crate::delta::{Delta, Kind};
use crate::track::Next;
use crate::{Error, QuirkSet};

/// How far the deltas of a chunk were emitted.
#[derive(Clone, Copy)]
pub(super) struct Progress {
    pub(super) cursor: Cursor,
    /// Raw bytes of the current text that were emitted.
    pub(super) taken: u32,
    /// Quirks of the deltas and their texts.
    pub(super) quirks: QuirkSet,
    pub(super) frames: Frames,
}

/// How usual deltas end.
pub(super) enum Usual {
    /// There are no more deltas.
    End,
    /// The next delta is not usual. It is this one, or, if `None`, the one that the cursor comes to next.
    Odd(Option<Delta>),
    Break(Break),
}

/// What interrupts a chunk's deltas.
pub(super) enum Break {
    /// The sink's answer to a delta, unless it is [`Put::Go`].
    Put(Put, Delta),
    /// The tracker left a delta out.
    LeftOut(Error),
    /// Nothing interrupted the event: it goes on at the stage that the caller names.
    Nothing,
}

impl Progress {
    /// Before the first delta.
    #[inline(always)]
    pub(super) const fn start(frames: Frames) -> Self {
        Progress { cursor: Cursor::new(), taken: 0, quirks: QuirkSet::EMPTY, frames }
    }

    /// Gives the sink the next deltas of a chunk, up to the first that is not usual. Always inlined, so that the progress stays in
    /// registers. `NATIVE`: the event may be of another protocol than chat completions.
    #[inline(always)]
    pub(super) fn usual_deltas<T: Track + ?Sized, S: Sink + ?Sized, const NATIVE: bool>(
        &mut self,
        (payload, index): (&[u8], &Index),
        context: &Context<'_>,
        tracker: &mut T,
        sink: &mut S,
    ) -> Usual {
        loop {
            // Three calls of the sink instead of one, because each is compiled for its kinds alone.
            let put = match self.cursor.next_plain(index) {
                // Nearly always.
                Ok((kind @ (Kind::Content | Kind::Reasoning), choice, text)) => {
                    let delta = Delta { choice, text, ..Delta::new(kind) };
                    if !tracker.take_plain(kind, choice, text, payload) {
                        return Usual::Odd(Some(delta));
                    }
                    self.put(context, delta, sink)
                }
                Ok((Kind::Logprobs, choice, text)) => {
                    let delta = Delta { choice, text, ..Delta::new(Kind::Logprobs) };
                    if !tracker.knows(choice) {
                        return Usual::Odd(Some(delta));
                    }
                    self.put(context, delta, sink)
                }
                // Some servers repeat the role in each chunk.
                Ok((Kind::Role, choice, _)) if NATIVE && tracker.has_role(choice) => continue,
                Ok((kind, choice, text)) => return Usual::Odd(Some(Delta { choice, text, ..Delta::new(kind) })),
                Err(item) => match self.cursor.ahead(item, index) {
                    Ahead::End => return Usual::End,
                    Ahead::Other => return Usual::Odd(None),
                    Ahead::Slot(_) if !NATIVE => return Usual::Odd(None),
                    Ahead::Slot(delta) => {
                        // Reasoning is checked as content is: the name of its member matters only in chat completions.
                        if !tracker.take_plain(Kind::Content, delta.choice, delta.text, payload) {
                            return Usual::Odd(None);
                        }
                        self.cursor.pass(delta.kind);
                        self.put(context, delta, sink)
                    }
                    Ahead::Fragment { choice, index, arguments: text } => {
                        let Some(call) = tracker.take_fragment(choice, index, text, payload) else {
                            return Usual::Odd(None);
                        };
                        self.cursor.pass_fragment();
                        self.put(context, Delta { choice, call, text, ..Delta::new(Kind::ToolArguments) }, sink)
                    }
                },
            };
            if let Err(broke) = put {
                return Usual::Break(broke);
            }
        }
    }

    /// Gives the sink the next deltas of a chunk. `usual` is how usual ones before ended, if there were any. Sets `usage` to the
    /// last usage among the deltas.
    #[inline(never)]
    pub(super) fn deltas(
        &mut self,
        mut usual: Option<Usual>,
        context: &Context<'_>,
        usage: &mut Option<Delta>,
        tracker: &mut dyn Track,
        sink: &mut dyn Sink,
    ) -> Result<(), Break> {
        let Some(chunk) = context.chunk() else { return Ok(()) };
        let of = (chunk.payload(), chunk.index());
        loop {
            match usual.take() {
                None => usual = Some(self.usual_deltas::<_, _, true>(of, context, tracker, sink)),
                // The tracker takes in no usage.
                Some(Usual::Odd(None)) if self.cursor.is_at_usage(of.1) => {
                    let Some(delta) = self.cursor.last_usage(of.0, of.1) else { return Ok(()) };
                    if !sink.is_of_one_call() {
                        *usage = Some(delta);
                    }
                    return self.put(context, delta, sink);
                }
                Some(Usual::Odd(plain)) => {
                    if !self.any(plain, of, context, usage, tracker, sink)? {
                        return Ok(());
                    }
                }
                Some(Usual::End) => return Ok(()),
                Some(Usual::Break(broke)) => return Err(broke),
            }
        }
    }

    /// Gives the sink the next delta of any kind, and those behind it that are not on the page. `plain`: the delta that the cursor
    /// has just passed. `false`: there are no more.
    fn any(
        &mut self,
        mut plain: Option<Delta>,
        (payload, index): (&[u8], &Index),
        context: &Context<'_>,
        usage: &mut Option<Delta>,
        tracker: &mut dyn Track,
        sink: &mut dyn Sink,
    ) -> Result<bool, Break> {
        loop {
            let next = tracker.next(plain.take(), &mut self.cursor, (payload, index), context.start, &mut self.quirks);
            match next {
                Next::Delta(delta) => {
                    if delta.kind == Kind::Usage && !sink.is_of_one_call() {
                        *usage = Some(delta);
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
        let mut taken = self.taken as usize;
        let put = sink.put(context, &delta, &mut taken);
        if matches!(put, Put::Go) {
            self.taken = 0;
            return Ok(());
        }
        self.taken = taken as u32;
        Err(Break::Put(put, delta))
    }
}
