//! The general way of the emitter: the stages of an event, each of which can go on after the sink was full.

use super::{Emitter, Env, Full, Outcome, Stage};
use crate::chat::{meta_bit, Chunk, Update, Usage};
use crate::delta::{Delta, Kind, Meta, Part, FLAG_NUMBER, FLAG_PLAIN};
use crate::json::Text;
use crate::stream::context::Context;
use crate::stream::found::Found;
use crate::stream::frames::Frame;
use crate::stream::handler::Stop;
use crate::stream::sink::{Muted, Sink, Track};
use crate::{Error, QuirkSet};

impl Emitter {
    /// Emits the event from `stage` on, by [`report`](Self::report). Then notes its token counts and, in the machine,
    /// what its deltas add to the facts of the stream. Returns whether the caller may go on.
    #[inline(never)]
    pub(super) fn emit_from<const SLOTS: usize>(&mut self, stage: Stage, env: &mut Env<'_, SLOTS>) -> Outcome {
        if let Err(Full) = self.report(stage, env) {
            return Outcome::Full;
        }
        if env.machine.is_native() {
            self.usage = env.machine.native_counts();
        }
        let quirks = self.progress.quirks;
        if quirks.is_empty() && self.limit.is_none() && !self.paused && self.stop.is_none() {
            return Outcome::Done;
        }
        let machine = &mut *env.machine;
        machine.count(quirks);
        machine.facts.note_limit(self.limit);
        if self.stop.is_some() {
            machine.facts.broke_off = true;
            machine.facts.aborted |= !matches!(self.found, Found::Error(_));
        }
        let offset = if self.found == Found::NeedMore { machine.offset() } else { machine.index().frame.0 };
        self.outcome(quirks.and(machine.config().errors), offset, env.sink)
    }

    /// The outcome after an event. `errors` are the event's quirks that are configured as errors.
    #[inline(never)]
    pub(super) fn outcome(&self, errors: QuirkSet, offset: u64, sink: &dyn Sink) -> Outcome {
        let quirk = errors.iter().next().map(|quirk| Error::Quirk { quirk, offset });
        let limit = self.limit.filter(|_| sink.stops_at_limit());
        match (self.stop, quirk.or(limit)) {
            (Some(stop), _) => Outcome::Stopped(stop),
            (None, Some(error)) => Outcome::Stopped(Stop::Error(error)),
            (None, None) if self.paused => Outcome::Stopped(Stop::Pause),
            (None, None) => Outcome::Done,
        }
    }

    /// Emits the stages of the event from `stage` on.
    fn report<const SLOTS: usize>(&mut self, stage: Stage, env: &mut Env<'_, SLOTS>) -> Result<(), Full> {
        let Env { machine, storage, tracker, window, base, sink } = env;
        let (machine, sink) = (&**machine, &mut **sink);
        let found = self.found;
        if stage == Stage::Before {
            let mut frames = self.progress.frames;
            if let Some(frame) = frames.before(machine) {
                self.put_frame(frame, Stage::Before, sink)?;
            }
            self.progress.frames = frames;
        }
        if let Found::Error(quirk) = found {
            self.stop = Some(Stop::Error(Error::Quirk { quirk, offset: machine.index().frame.0 }));
            return Ok(());
        }
        let is_chunk = matches!(found, Found::Chunk(_));
        if found == Found::NeedMore && !self.ended {
            return Ok(());
        }
        let details = machine.details(*storage, window, *base, found);
        let context = match found {
            Found::NeedMore => Context::nothing((machine.offset(), machine.offset())),
            _ => machine.context(&details, *base, found),
        };
        if stage <= Stage::Payload && is_chunk && sink.wants(Kind::Payload) {
            self.put(&context, payload_delta(&context), Stage::Payload, sink)?;
        }
        if stage <= Stage::Head {
            if let Some(delta) = head(&context, found) {
                self.progress.frames.add(delta.kind);
                self.put(&context, delta, Stage::Head, sink)?;
            }
        }
        if stage <= Stage::Meta && is_chunk && sink.wants(Kind::Meta) {
            self.metas(&context, sink)?;
        }
        if stage <= Stage::Deltas {
            if found == Found::NeedMore && machine.is_over() {
                tracker.note_over();
            }
            self.deltas(&context, *tracker, sink)?;
        }
        let structural = if found == Found::NeedMore { QuirkSet::EMPTY } else { machine.quirks() };
        if stage > Stage::Deltas || self.limit.is_some() || !(structural | self.progress.quirks).is_empty() {
            self.limit_and_quirks(stage, &context, structural, sink)?;
        }
        if found != Found::NeedMore && self.stop.is_none() {
            let mut frames = self.progress.frames;
            if let Some(frame) = frames.after(machine) {
                self.put_frame(frame, Stage::After, sink)?;
            }
            self.progress.frames = frames;
        }
        Ok(())
    }

    /// Emits the limit that a delta of the event exceeded, and the event's quirks.
    #[inline(never)]
    fn limit_and_quirks(
        &mut self,
        stage: Stage,
        context: &Context<'_>,
        structural: QuirkSet,
        sink: &mut dyn Sink,
    ) -> Result<(), Full> {
        if stage <= Stage::Limit {
            if let Some(error) = self.limit {
                let choice = error.choice().unwrap_or(u32::MAX);
                let limit = Delta { choice, code: error.number(), ..Delta::new(Kind::Limit) };
                self.progress.frames.add(Kind::Limit);
                self.put(context, limit, Stage::Limit, sink)?;
            }
            self.unreported = structural | self.progress.quirks;
        }
        if stage <= Stage::Quirks {
            while let Some(quirk) = self.unreported.iter().next() {
                self.progress.frames.add(Kind::Quirk);
                self.put(context, Delta { code: quirk as u32, ..Delta::new(Kind::Quirk) }, Stage::Quirks, sink)?;
                self.unreported.remove(quirk);
            }
        }
        Ok(())
    }

    /// Gives the sink a delta, unless the sink stopped.
    #[inline(never)]
    fn put(&mut self, context: &Context<'_>, delta: Delta, stage: Stage, sink: &mut dyn Sink) -> Result<(), Full> {
        if self.stop.is_none() {
            let mut taken = self.waiting.taken as usize;
            let put = sink.put(context, &delta, &mut taken);
            (self.waiting.delta, self.waiting.taken) = (Some(delta), taken as u32);
            self.answered(put, stage)?;
            (self.waiting.delta, self.waiting.taken) = (None, 0);
        }
        Ok(())
    }

    /// Gives the sink a frame, if it wants frames. The frame stays open until the sink has taken it.
    #[inline(never)]
    pub(super) fn put_frame(&mut self, frame: Frame, stage: Stage, sink: &mut dyn Sink) -> Result<(), Full> {
        if self.stop.is_some() || !sink.wants(Kind::Frame) {
            return Ok(());
        }
        let Frame { start, end, choices, kinds } = frame;
        let delta = Delta { code: choices, number: kinds, ..Delta::new(Kind::Frame) };
        self.put(&Context::nothing((start, end)), delta, stage, sink)
    }

    /// Emits the members of the top level that describe the response, each once in a stream, as soon as it is not
    /// empty. Then emits all members from which no other delta is made.
    #[inline(never)]
    fn metas(&mut self, context: &Context<'_>, sink: &mut dyn Sink) -> Result<(), Full> {
        let Some(chunk) = context.chunk() else { return Ok(()) };
        while let Some((meta, text)) = self.next_meta(chunk) {
            let text = Part::of(context.payload(), text);
            let delta = Delta { code: meta as u32, text, ..Delta::new(Kind::Meta) };
            self.put(context, delta, Stage::Meta, sink)?;
            self.metas |= meta_bit(meta);
        }
        for member in chunk.other_members().skip(self.waiting.members as usize) {
            self.put(context, member.delta(context.payload()), Stage::Meta, sink)?;
            self.waiting.members = self.waiting.members.saturating_add(1);
        }
        Ok(())
    }

    /// The next member of the top level that describes the response and was not emitted yet.
    #[inline]
    pub(super) fn next_meta<'a>(&self, chunk: &Chunk<'a>) -> Option<(Meta, Text<'a>)> {
        if chunk.may_have_meta(self.metas) {
            self.find_meta(chunk)
        } else {
            None
        }
    }

    #[inline(never)]
    fn find_meta<'a>(&self, chunk: &Chunk<'a>) -> Option<(Meta, Text<'a>)> {
        if chunk.index().facts.is_foreign() {
            return None;
        }
        let mut left = Meta::ONCE.into_iter().filter(|meta| self.metas & meta_bit(*meta) == 0);
        left.find_map(|meta| Some((meta, chunk.meta(meta)?)))
    }

    /// Emits the deltas of a chunk. At the end of the stream, emits what the tracker has left.
    fn deltas(&mut self, context: &Context<'_>, tracker: &mut dyn Track, sink: &mut dyn Sink) -> Result<(), Full> {
        // The delta that the sink had no room for. The tracker has it already, so it is not made again; other stages
        // make theirs again.
        if let Some(delta) = self.waiting.delta.take().filter(|_| self.stage == Stage::Deltas) {
            self.put(context, delta, Stage::Deltas, sink)?;
        }
        if context.chunk().is_none() {
            while self.found == Found::NeedMore {
                let Some(delta) = tracker.rest(&mut self.progress.quirks) else { break };
                self.progress.frames.add(delta.kind);
                self.put(context, delta, Stage::Deltas, sink)?;
            }
            return Ok(());
        }
        let mut usage = None;
        let result = loop {
            let sink: &mut dyn Sink = if self.stop.is_none() { &mut *sink } else { &mut Muted };
            let done = self.progress.deltas(None, context, &mut usage, tracker, sink, &mut self.waiting);
            let Err(broke) = done else { break Ok(()) };
            if let Err(Full) = self.interrupted(broke, Stage::Deltas) {
                break Err(Full);
            }
        };
        self.note_usage(&usage.map(|usage| (context.payload(), usage)));
        result
    }

    /// Notes the token counts of the last usage, given with its payload.
    #[inline(never)]
    pub(super) fn note_usage(&mut self, usage: &Option<(&[u8], Delta)>) {
        if let Some(usage) = usage_of(usage) {
            let counts = usage.counts();
            self.adds_usage = counts.are_details() && (self.usage.is_none() || self.adds_usage);
            self.usage = Some(counts.after(self.usage.as_ref()));
        }
    }
}

/// The usage of a delta, given with its payload.
pub(super) fn usage_of<'d>(usage: &Option<(&'d [u8], Delta)>) -> Option<Usage<'d>> {
    match usage.as_ref().and_then(|(payload, delta)| Update::of(delta, payload)) {
        Some(Update::Usage(usage)) => Some(usage),
        _ => None,
    }
}

/// The delta of a chunk's raw payload.
#[inline(never)]
fn payload_delta(context: &Context<'_>) -> Delta {
    let (is_error, is_plain) =
        context.chunk().map_or((false, false), |chunk| (chunk.is_whole_error(), chunk.is_plain_text()));
    Delta {
        code: u32::from(is_error),
        flags: if is_plain { FLAG_PLAIN } else { 0 },
        text: whole(context),
        ..Delta::new(Kind::Payload)
    }
}

/// The range of a context's whole payload.
pub(super) fn whole(context: &Context<'_>) -> Part {
    Part { len: context.payload().len() as u32, ..Part::NONE }
}

/// The delta of the event itself.
fn head(context: &Context<'_>, found: Found) -> Option<Delta> {
    let bytes = |kind| Delta { text: whole(context), ..Delta::new(kind) };
    let number = |delta: Delta, number| Delta { number, flags: FLAG_NUMBER, ..delta };
    Some(match found {
        Found::NeedMore | Found::Error(_) => return None,
        Found::Chunk(_) => {
            let (code, flags) = context.chunk().map_or((0, 0), |chunk| (chunk.choice_count(), chunk.flags()));
            Delta { code, flags, ..Delta::new(Kind::Chunk) }
        }
        Found::Sse(_) => bytes(Kind::Sse),
        Found::Done => Delta::new(Kind::Done),
        Found::Comment(_) => bytes(Kind::Comment),
        Found::KeepAlive(_) => bytes(Kind::KeepAlive),
        Found::Retry(ms) => number(Delta::new(Kind::Retry), ms),
        Found::LastEventId => Delta::new(Kind::LastEventId),
        Found::Malformed(_, fault) => {
            Delta { code: fault.kind.number(), ..number(bytes(Kind::Malformed), fault.offset as u64) }
        }
        Found::TooLong => Delta::new(Kind::TooLong),
        Found::CommentTooLong => Delta::new(Kind::CommentTooLong),
    })
}
