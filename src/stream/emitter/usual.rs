//! The fast way of the emitter: it emits *runs* without the stages. The first event of a run may also be one that a step
//! has just read. An event that has more to report than its deltas ends the run and goes through the stages.
//!
//! Nearly all events are emitted here, so this code is compiled for each sink. The rest of the emitter is compiled
//! once.

use super::report::usage_of;
use super::{Emitter, Full, Stage};
use crate::chat::{Chunk, Index};
use crate::delta::{Delta, Kind, FLAG_NATIVE};
use crate::stream::context::{Context, Details, InputBytes, NOT_IN_INPUT};
use crate::stream::found::{Found, Place, Recognized, Span};
use crate::stream::memo::NONE;
use crate::stream::progress::{Break, Progress, Usual};
use crate::stream::sink::{Sink, Track};
use crate::stream::Machine;
use crate::Storage;

/// The event that ends a run: how many bytes of the input it has, and the stage at which
/// [`emit_from`](Emitter::emit_from) goes on with it.
pub(super) type Last = (usize, Result<Stage, Full>);

impl Emitter {
    /// [`emit_run`](Self::emit_run) for a stream of another protocol than chat completions. It is compiled separately,
    /// so that chunks do not pay for event names and for the slots of texts.
    #[inline(never)]
    pub(super) fn emit_native_run<'d, St: Storage, T: Track, S: Sink, const SLOTS: usize>(
        &mut self,
        machine: &mut Machine<SLOTS>,
        storage: &mut St,
        tracker: &mut T,
        input: (&'d [u8], u32),
        sink: &mut S,
    ) -> (&'d [u8], Option<Last>) {
        self.emit_run::<_, _, _, SLOTS, true>(machine, storage, tracker, input, sink, None)
    }

    /// Emits a run of events from the front of `input`. `base` is added to offsets in the input. `read` is the first
    /// event, if a step has read it: its payload, and how many bytes of `input` the step consumed. Returns the bytes
    /// after the events that were emitted, and the event that goes on through the stages, if one does.
    #[inline(always)]
    pub(super) fn emit_run<'d, St: Storage, T: Track, S: Sink, const SLOTS: usize, const NATIVE: bool>(
        &mut self,
        machine: &mut Machine<SLOTS>,
        storage: &mut St,
        tracker: &mut T,
        (input, base): (&'d [u8], u32),
        sink: &mut S,
        read: Option<(Span, usize)>,
    ) -> (&'d [u8], Option<Last>) {
        let first_place = read.map(|(payload, _)| payload.place);
        // The base of payload offsets. A payload in the storage has no offset in the input.
        let mut place_base = match first_place {
            Some(place) if place != Place::Input => NOT_IN_INPUT,
            _ => u64::from(base),
        };
        let mut first = read.map(|(span, consumed)| Recognized {
            payload: span.of(input, storage),
            at: span.start,
            rest: input.get(consumed..).unwrap_or_default(),
            frame: machine.index().frame,
            template: NONE,
            is_native: false,
        });
        let (room, mut before) = (machine.longest_payload(storage), NONE);
        let keeps_frames = !sink.is_of_one_call();
        let needs_stages = sink.wants(Kind::Payload) || keeps_frames && self.progress.frames.has_earlier_frame(machine);
        // One flag for the conditions that hardly any run has, so that each event tests only this one.
        let may_need_stages = needs_stages || sink.wants(Kind::Meta);
        let reports_frames = sink.wants(Kind::Frame);
        let (mut window, mut state) = (input, Progress::start(self.progress.frames));
        // The last usage and its payload. Its counts are read once, after the run, because no caller can ask for them
        // earlier.
        let mut usage: Option<(&[u8], Delta)> = None;
        let last = loop {
            debug_assert!(
                first.is_some() || first_place.is_none() || window.len() < input.len(),
                "the end of an event that was read is in the input"
            );
            let recognized = match &first {
                Some(_) => core::mem::take(&mut first),
                None => machine.recognize_next::<NATIVE>(window, room, before),
            };
            let Some(Recognized { payload, at, rest, frame, template, is_native }) = recognized else { break None };
            let repeats = template != NONE && template == before;
            before = template;
            let is_native = NATIVE && is_native;
            let place = || first_place.filter(|_| window.len() == input.len()).unwrap_or(Place::Input);
            // Closures, because they are rarely needed.
            let span = || Span { place: place(), start: at, len: payload.len() as u32 };
            let chunk = || Found::Chunk(span());
            let index = machine.index();
            state = Progress::start(state.frames);
            let is_special = || may_need_stages && (needs_stages || self.has_metas(payload, index));
            // The window is a part of the input, so this does not overflow.
            let passed = input.len().wrapping_sub(window.len());
            let base_of_window = base.saturating_add(passed as u32);
            let stage = if !index.quirks.is_empty() || is_special() {
                self.continue_in_stages(chunk(), state, Break::Nothing, Stage::Before)
            } else {
                let named;
                let (details, flags) = if is_native {
                    let name = machine.name;
                    named =
                        Details::of_chunk(InputBytes::new(name.within(window), name.offset_in_input(base_of_window)));
                    (&named, FLAG_NATIVE)
                } else {
                    (Details::NOTHING, 0)
                };
                let at = if sink.uses_places() {
                    place_base.wrapping_add(passed as u64).wrapping_add(u64::from(at))
                } else {
                    NOT_IN_INPUT
                };
                let context = Context::of_chunk((payload, at), index, frame, repeats, details);
                let head = Delta { code: index.choices, flags, ..Delta::new(Kind::Chunk) };
                let taken = state.put(&context, head, sink, &mut self.waiting);
                let context = context.after_chunk();
                match taken {
                    Ok(()) => match state.usual_deltas::<_, _, NATIVE>(
                        (payload, index),
                        &context,
                        tracker,
                        sink,
                        &mut self.waiting,
                    ) {
                        Usual::End if !reports_frames => Ok(None),
                        Usual::Break(broke) => self.continue_in_stages(chunk(), state, broke, Stage::Deltas),
                        // Copies are passed, because a pointer to context and progress would keep both out of
                        // registers.
                        end => {
                            let (mut rest, usage) = (state, (payload, &mut usage));
                            let stage =
                                self.emit_other_deltas((tracker, sink), chunk(), &{ context }, (&mut rest, end), usage);
                            state.frames = rest.frames;
                            stage
                        }
                    },
                    Err(broke) => self.continue_in_stages(chunk(), state, broke, Stage::Head),
                }
            };
            if let Some(stage) = stage.transpose() {
                break Some((window.len().wrapping_sub(rest.len()), stage));
            }
            (window, place_base) = (rest, u64::from(base));
            if keeps_frames {
                // A run has whole events only, so the frame ends with the event.
                let expects_lf = machine.lines.expects_lf();
                state.frames.pass(frame.1, expects_lf);
                if expects_lf {
                    break None;
                }
            }
            if sink.is_full() {
                break None;
            }
        };
        if last.is_none() {
            self.progress.frames = state.frames;
        }
        if usage.is_some() && !NATIVE {
            self.note_usage(&usage);
        }
        if keeps_frames && NATIVE {
            self.usage = machine.native_counts();
        }
        let left = window.len();
        // Otherwise the event, which a step read, may lie in the storage.
        if before != NONE {
            machine.note_template_facts();
            storage.shrink(machine.buffer.lasting());
        }
        (input.get(input.len().wrapping_sub(left)..).unwrap_or_default(), last)
    }

    /// Emits the rest of a chunk's deltas, after the usual ones.
    #[inline(never)]
    fn emit_other_deltas<'d>(
        &mut self,
        (tracker, sink): (&mut dyn Track, &mut dyn Sink),
        found: Found,
        context: &Context<'_>,
        (state, usual): (&mut Progress, Usual),
        (payload, last_usage): (&'d [u8], &mut Option<(&'d [u8], Delta)>),
    ) -> Result<Option<Stage>, Full> {
        let mut usage = None;
        let done = state.deltas(Some(usual), context, &mut usage, tracker, sink, &mut self.waiting);
        if let Some(usage) = usage {
            let usage = Some((payload, usage));
            // Details add to the usage before them, so its counts are needed, too.
            if last_usage.is_some() && usage_of(&usage).is_some_and(|usage| usage.is_of_details()) {
                self.note_usage(last_usage);
            }
            *last_usage = usage;
        }
        if let Err(broke) = done {
            return self.continue_in_stages(found, *state, broke, Stage::Deltas);
        }
        if !state.quirks.is_empty() {
            return self.continue_in_stages(found, *state, Break::Nothing, Stage::Limit);
        }
        if sink.wants(Kind::Frame) {
            return self.continue_in_stages(found, *state, Break::Nothing, Stage::After);
        }
        Ok(None)
    }

    /// Whether [`metas`](Self::metas) would emit a member of the top level.
    #[inline(always)]
    fn has_metas(&self, payload: &[u8], index: &Index) -> bool {
        let chunk = Chunk::from_parts(payload, index, &[]);
        index.facts.others || chunk.may_have_meta(self.metas) && self.next_meta(&{ chunk }).is_some()
    }

    /// Notes how far an event was emitted, so that [`emit_from`](Emitter::emit_from) can go on with it. Returns the
    /// stage to go on at: `stage` if nothing interrupted the event, else [`Stage::Deltas`]. Fails if the sink was full:
    /// a later call then goes on at `stage`.
    #[cold]
    #[inline(never)]
    fn continue_in_stages(
        &mut self,
        found: Found,
        state: Progress,
        broke: Break,
        stage: Stage,
    ) -> Result<Option<Stage>, Full> {
        let waiting = self.waiting;
        self.start_event(found);
        self.progress = state;
        if let Break::Nothing = broke {
            return Ok(Some(stage));
        }
        if let Err(Full) = self.interrupted(broke, stage) {
            self.waiting = waiting;
            return Err(Full);
        }
        Ok(Some(Stage::Deltas))
    }
}
