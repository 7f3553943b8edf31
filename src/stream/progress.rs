//! The deltas of one chunk: from the items on the page of its index (`chat/page.rs`), through the tracker, to the sink.

use super::context::Context;
use super::frames::Frames;
use super::sink::{Put, Sink, Track};
use crate::chat::{Ahead, DeltaCursor, Index};
use crate::delta::{Delta, Kind};
use crate::track::Next;
use crate::{Error, QuirkSet};

/// How far the deltas of a chunk were emitted.
#[derive(Clone, Copy)]
pub(super) struct Progress {
    pub(super) cursor: DeltaCursor,
    /// The quirks of the deltas and of their texts.
    pub(super) quirks: QuirkSet,
    pub(super) frames: Frames,
}

/// The delta that the sink had no room for, and how much of it the sink took. It is apart from [`Progress`], so that
/// the common case does not keep it in registers.
#[derive(Clone, Copy)]
pub(super) struct Waiting {
    /// The delta. If it is one of the chunk's deltas, it has gone through the tracker.
    pub(super) delta: Option<Delta>,
    /// How many raw bytes of its text the sink took.
    pub(super) taken: u32,
    /// How many of the chunk's [other members](crate::chat::Chunk::other_members) the sink took.
    pub(super) members: u32,
}

impl Waiting {
    pub(super) const NOTHING: Waiting = Waiting { delta: None, taken: 0, members: 0 };
}

/// Why [`Progress::usual_deltas`] ended.
pub(super) enum Usual {
    /// The chunk has no more deltas.
    End,
    /// The next delta is not a usual one.
    Other,
    Break(Break),
}

/// Why the deltas of a chunk were interrupted.
pub(super) enum Break {
    /// The sink's answer to a delta, other than [`Put::Go`].
    Put(Put),
    /// The tracker left a delta out.
    LeftOut(Error),
    /// Nothing interrupted them: the event goes on at the stage that the caller names.
    Nothing,
}

impl Progress {
    /// The progress before the first delta.
    #[inline(always)]
    pub(super) const fn start(frames: Frames) -> Self {
        Progress { cursor: DeltaCursor::new(), quirks: QuirkSet::EMPTY, frames }
    }

    /// Gives the sink the next deltas of a chunk while they are usual: texts of content and reasoning, log
    /// probabilities and fragments of arguments that the tracker passes unchanged. `NATIVE` means that the event may be
    /// of another protocol than chat completions.
    // Always inlined, so that the progress stays in registers.
    #[inline(always)]
    pub(super) fn usual_deltas<T: Track + ?Sized, S: Sink + ?Sized, const NATIVE: bool>(
        &mut self,
        (payload, index): (&[u8], &Index),
        context: &Context<'_>,
        tracker: &mut T,
        sink: &mut S,
        waiting: &mut Waiting,
    ) -> Usual {
        loop {
            // Each call of `put` is compiled for its kinds alone, so several calls are faster than one for all kinds.
            let put = match self.cursor.page.next_on_page(index) {
                // The common case.
                Ok((kind @ (Kind::Content | Kind::Reasoning), choice, text))
                    if tracker.take_unchanged(kind, choice, text, payload) =>
                {
                    self.put(context, Delta { choice, text, ..Delta::new(kind) }, sink, waiting)
                }
                Ok((Kind::Logprobs, choice, text)) if tracker.knows(choice) => {
                    self.put(context, Delta { choice, text, ..Delta::new(Kind::Logprobs) }, sink, waiting)
                }
                // Some servers repeat the role in each chunk.
                Ok((Kind::Role, choice, _)) if NATIVE && tracker.has_role(choice) => continue,
                Ok(_) => {
                    self.cursor.back();
                    return Usual::Other;
                }
                Err(item) => match self.cursor.page.ahead(item, index) {
                    Ahead::End => return Usual::End,
                    Ahead::Other => return Usual::Other,
                    Ahead::Slot(_) if !NATIVE => return Usual::Other,
                    Ahead::Slot(delta) => {
                        if !tracker.take_unchanged(delta.kind, delta.choice, delta.text, payload) {
                            return Usual::Other;
                        }
                        self.cursor.page.pass(delta.kind);
                        self.put(context, delta, sink, waiting)
                    }
                    Ahead::Fragment { choice, index, arguments: text } => {
                        let Some(call) = tracker.take_fragment(choice, index, text, payload) else {
                            return Usual::Other;
                        };
                        self.cursor.page.pass_fragment();
                        self.put(
                            context,
                            Delta { choice, call, text, ..Delta::new(Kind::ToolArguments) },
                            sink,
                            waiting,
                        )
                    }
                },
            };
            if let Err(broke) = put {
                return Usual::Break(broke);
            }
        }
    }

    /// Gives the sink the next deltas of a chunk. `usual` is why [`usual_deltas`](Self::usual_deltas) ended, if the
    /// caller called it before. Sets `usage` to the last usage among the deltas.
    #[inline(never)]
    pub(super) fn deltas(
        &mut self,
        mut usual: Option<Usual>,
        context: &Context<'_>,
        usage: &mut Option<Delta>,
        tracker: &mut dyn Track,
        sink: &mut dyn Sink,
        waiting: &mut Waiting,
    ) -> Result<(), Break> {
        let Some(chunk) = context.chunk() else { return Ok(()) };
        let of = (chunk.payload(), chunk.index());
        loop {
            match usual.take() {
                None => usual = Some(self.usual_deltas::<_, _, true>(of, context, tracker, sink, waiting)),
                // A usage does not go through the tracker.
                Some(Usual::Other) if self.cursor.is_at_usage(of.1) => {
                    let Some(delta) = self.cursor.last_usage(of.0, of.1) else { return Ok(()) };
                    *usage = Some(delta);
                    return self.put(context, delta, sink, waiting);
                }
                Some(Usual::Other) => {
                    if !self.next_delta(of, context, usage, tracker, sink, waiting)? {
                        return Ok(());
                    }
                }
                Some(Usual::End) => return Ok(()),
                Some(Usual::Break(broke)) => return Err(broke),
            }
        }
    }

    /// Gives the sink the next delta, of whatever kind, and the deltas after it that are not on the page. Returns
    /// `false` if the chunk has no more deltas.
    fn next_delta(
        &mut self,
        (payload, index): (&[u8], &Index),
        context: &Context<'_>,
        usage: &mut Option<Delta>,
        tracker: &mut dyn Track,
        sink: &mut dyn Sink,
        waiting: &mut Waiting,
    ) -> Result<bool, Break> {
        loop {
            let next = tracker.next(&mut self.cursor, (payload, index), context.start, &mut self.quirks);
            match next {
                Next::Delta(delta) => {
                    if delta.kind == Kind::Usage {
                        *usage = Some(delta);
                    }
                    self.put(context, delta, sink, waiting)?;
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

    /// Gives the sink a delta: the event itself, or a delta of a chunk that went through the tracker. Keeps the delta in
    /// `waiting` if the sink is full.
    #[inline(always)]
    pub(super) fn put<S: Sink + ?Sized>(
        &mut self,
        context: &Context<'_>,
        delta: Delta,
        sink: &mut S,
        waiting: &mut Waiting,
    ) -> Result<(), Break> {
        self.frames.add(delta.kind);
        let mut taken = 0;
        let put = sink.put(context, &delta, &mut taken);
        match put {
            Put::Go => return Ok(()),
            Put::Full => *waiting = Waiting { delta: Some(delta), taken: taken as u32, members: 0 },
            Put::Pause | Put::Stop(_) => {}
        }
        Err(Break::Put(put))
    }
}
