//! The usual event: a chunk that a template recognised, and of which nothing is out of the ordinary.
//!
//! Most events end here, so this is compiled anew for each sink; all else of the emitter is compiled once.

use super::{Emitter, Full, Stage};
use crate::chat::{Chunk, Index};
use crate::delta::{Delta, Kind};
use crate::stream::context::Context;
use crate::stream::found::{Found, Place, Span};
use crate::stream::progress::{Break, Progress, Run};
use crate::stream::sink::{Sink, Track};
use crate::stream::Machine;

impl Emitter {
    /// Emits a chunk that was recognised. Gives the stage at which [`emit_from`](Emitter::emit_from) goes on; none if the
    /// event is over.
    #[inline(always)]
    pub(super) fn emit_usual<T: Track, S: Sink, const SLOTS: usize>(
        &mut self,
        machine: &Machine<SLOTS>,
        tracker: &mut T,
        sink: &mut S,
        payload: &[u8],
        (start, base): (u32, u32),
        frame: (u64, u64),
    ) -> Result<Option<Stage>, Full> {
        let span = (start, payload.len() as u32);
        let index = machine.index();
        let mut state = Progress::start(self.frames);
        let is_odd = !index.quirks.is_empty() || !sink.is_of_one_call() && state.frames.is_behind(machine);
        if is_odd || sink.wants(Kind::Payload) || sink.wants(Kind::Meta) && self.has_metas(payload, index) {
            return self.odd(span, state, Break::Nothing, Stage::Before);
        }
        let context = Context::of_chunk(payload, base.saturating_add(start), index, frame);
        let head = Delta { code: index.choices, ..Delta::new(Kind::Chunk) };
        if let Err(broke) = state.put(&context, head, sink) {
            return self.odd(span, state, broke, Stage::Head);
        }
        match state.usual_deltas((payload, index), &context, tracker, sink) {
            // Copies, so that nothing points to context and progress: they need not be in memory.
            Run::End if sink.wants(Kind::Frame) => {
                self.emit_odd(machine, (tracker, sink), span, &{ context }, state, Run::End)
            }
            Run::End => {
                if !sink.is_of_one_call() {
                    // It is over, as whatever is recognised.
                    state.frames.pass(machine, frame.1);
                    self.frames = state.frames;
                }
                Ok(None)
            }
            Run::Break(broke) => self.odd(span, state, broke, Stage::Deltas),
            Run::Odd(plain) => self.emit_odd(machine, (tracker, sink), span, &{ context }, state, Run::Odd(plain)),
        }
    }

    /// Emits the rest of a chunk behind a run of usual deltas.
    #[inline(never)]
    fn emit_odd<const SLOTS: usize>(
        &mut self,
        machine: &Machine<SLOTS>,
        (tracker, sink): (&mut dyn Track, &mut dyn Sink),
        span: (u32, u32),
        context: &Context<'_>,
        mut state: Progress,
        run: Run,
    ) -> Result<Option<Stage>, Full> {
        if let Err(broke) = state.deltas(Some(run), context, &mut self.usage, tracker, sink) {
            return self.odd(span, state, broke, Stage::Deltas);
        }
        if !state.quirks.is_empty() {
            return self.odd(span, state, Break::Nothing, Stage::Limit);
        }
        if sink.wants(Kind::Frame) {
            return self.odd(span, state, Break::Nothing, Stage::After);
        }
        if !sink.is_of_one_call() {
            state.frames.pass(machine, context.end);
            self.frames = state.frames;
        }
        Ok(None)
    }

    /// Whether [`metas`](Self::metas) would emit anything.
    #[inline(always)]
    fn has_metas(&self, payload: &[u8], index: &Index) -> bool {
        let chunk = Chunk::from_parts(payload, index, &[]);
        index.facts.others || chunk.may_have_meta(self.metas) && self.next_meta(&chunk).is_some()
    }

    /// Keeps how far a chunk was emitted that turned out not to be as usual. Gives the stage that comes next: `stage`, if
    /// nothing interrupted it.
    #[cold]
    #[inline(never)]
    fn odd(
        &mut self,
        (start, len): (u32, u32),
        state: Progress,
        broke: Break,
        stage: Stage,
    ) -> Result<Option<Stage>, Full> {
        self.begin(Found::Chunk(Span { place: Place::Input, start, len }));
        (self.cursor, self.quirks, self.frames) = (state.cursor, state.quirks, state.frames);
        if let Break::Nothing = broke {
            return Ok(Some(stage));
        }
        if let Err(Full) = self.interrupted(broke, stage) {
            self.taken = state.taken as u32;
            return Err(Full);
        }
        Ok(Some(Stage::Deltas))
    }
}
