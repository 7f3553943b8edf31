//! Runs: events emitted one after another without the stages, as long as each is an ordinary one with nothing to report beside its
//! deltas. A template recognised it, or a step has just read it, which only the first of a run can be.
//!
//! Nearly every event comes this way, so it is compiled for each sink; the rest of the emitter is compiled once.

use super::report::whole;
use super::{Emitter, Full, Stage};
use crate::chat::{Chunk, Index};
use crate::delta::{Delta, Kind, FLAG_NATIVE};
use crate::stream::context::{Context, InputBytes, Rest, NOT_IN_INPUT};
use crate::stream::found::{Found, Place, Recognised, Span};
use crate::stream::progress::{Break, Progress, Usual};
use crate::stream::sink::{Sink, Track};
use crate::stream::Machine;
use crate::Storage;

/// The event with which a run ends: its bytes in the input, and the stage at which [`emit_from`](Emitter::emit_from) goes on.
pub(super) type Last = (usize, Result<Stage, Full>);

impl Emitter {
    /// [`emit_run`](Self::emit_run) of a stream of another protocol than chat completions: a function of its own, so that chunks
    /// do not pay for the names of events and the slots of texts.
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

    /// Emits the events at the front of `input` that templates recognise, up to the first that has to go through the stages. `base`
    /// is added to offsets in it. `read`: the payload of the first event, which a step has found, and how many bytes of
    /// `input` it consumed. Returns the bytes behind the events that were emitted, and the event that goes through the
    /// stages, if there is one.
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
        let skips = if NATIVE { machine.skips() } else { None };
        let first_place = read.map(|(payload, _)| payload.place);
        // What is added to the offset of a payload in the input. One of the storage lies nowhere there.
        let mut place_base = match first_place {
            Some(place) if place != Place::Input => NOT_IN_INPUT,
            _ => u64::from(base),
        };
        let mut first = read.map(|(span, consumed)| Recognised {
            payload: span.of(input, storage),
            at: span.start,
            rest: input.get(consumed..).unwrap_or_default(),
            frame: machine.index().frame,
            repeats: false,
            is_native: false,
            is_unread: false,
        });
        let run = if first.is_some() {
            Some(machine.start_run(storage))
        } else {
            machine.begin_run(storage, input, skips.is_some())
        };
        let Some(mut run) = run else { return (input, None) };
        let keeps_frames = !sink.is_of_one_call();
        let is_odd = sink.wants(Kind::Payload) || keeps_frames && self.progress.frames.is_behind(machine);
        // One test for what nearly no run has to look at.
        let is_watched = is_odd || sink.wants(Kind::Meta);
        let reports_frames = sink.wants(Kind::Frame);
        let (mut window, mut state) = (input, Progress::start(self.progress.frames));
        // The last usage and its payload. Its counts are read once, behind the run: nobody can ask for them before.
        let mut usage: Option<(&[u8], Delta)> = None;
        let last = loop {
            debug_assert!(
                first.is_some() || first_place.is_none() || window.len() < input.len(),
                "the end of an event that was read is in the input"
            );
            let recognised = first.take().or_else(|| {
                let unread = skips.and_then(|protocol| machine.pass_unread(&mut run, window, protocol));
                unread.or_else(|| machine.recognise_next::<NATIVE>(&mut run, window))
            });
            let Some(recognised) = recognised else { break None };
            let Recognised { payload, at, rest, frame, repeats, is_native, is_unread } = recognised;
            let place = || first_place.filter(|_| window.len() == input.len()).unwrap_or(Place::Input);
            // Made where they are needed: seldom.
            let span = || Span { place: place(), start: at, len: payload.len() as u32 };
            let unread = || Found::Sse(span());
            let chunk = || Found::Chunk(span());
            let index = machine.index();
            state = Progress::start(state.frames);
            let is_special = || is_watched && (is_odd || self.has_metas(payload, index));
            // The input is no less than what is left of it.
            let passed = input.len().wrapping_sub(window.len());
            let base_of_window = base.saturating_add(passed as u32);
            let stage = if NATIVE && is_unread && is_odd {
                self.hand_over(unread(), state, Break::Nothing, Stage::Before)
            } else if NATIVE && is_unread {
                let (name, base) = (machine.name, base_of_window);
                let name = InputBytes::new(name.within(window), name.offset_in_input(base));
                let event = Rest::of_event((name, payload), machine.last_event_id(storage.bytes()));
                let context = Context::of_event(&event, base.saturating_add(at), frame);
                let delta = Delta { text: whole(&context), ..Delta::new(Kind::Sse) };
                match state.put(&context, delta, sink, &mut self.waiting) {
                    Ok(()) if reports_frames => self.hand_over(unread(), state, Break::Nothing, Stage::After),
                    Ok(()) => Ok(None),
                    Err(broke) => self.hand_over(unread(), state, broke, Stage::Head),
                }
            } else if !index.quirks.is_empty() || is_special() {
                self.hand_over(chunk(), state, Break::Nothing, Stage::Before)
            } else {
                let named;
                let (beside, flags) = if is_native {
                    let name = machine.name;
                    named = Rest::of_chunk(InputBytes::new(name.within(window), name.offset_in_input(base_of_window)));
                    (&named, FLAG_NATIVE)
                } else {
                    (Rest::NOTHING, 0)
                };
                let at = if sink.uses_places() {
                    place_base.wrapping_add(passed as u64).wrapping_add(u64::from(at))
                } else {
                    NOT_IN_INPUT
                };
                let context = Context::of_chunk((payload, at), index, frame, repeats, beside);
                let head = Delta { code: index.choices, flags, ..Delta::new(Kind::Chunk) };
                let taken = state.put(&context, head, sink, &mut self.waiting);
                let context = context.behind_chunk();
                match taken {
                    Ok(()) => match state.usual_deltas::<_, _, NATIVE>(
                        (payload, index),
                        &context,
                        tracker,
                        sink,
                        &mut self.waiting,
                    ) {
                        Usual::End if !reports_frames => Ok(None),
                        Usual::Break(broke) => self.hand_over(chunk(), state, broke, Stage::Deltas),
                        // Copies: without pointers to them, context and progress stay in registers.
                        end => {
                            let (mut rest, usage) = (state, (payload, &mut usage));
                            let stage = self.emit_odd((tracker, sink), chunk(), &{ context }, (&mut rest, end), usage);
                            state.frames = rest.frames;
                            stage
                        }
                    },
                    Err(broke) => self.hand_over(chunk(), state, broke, Stage::Head),
                }
            };
            if let Some(stage) = stage.transpose() {
                break Some((window.len().wrapping_sub(rest.len()), stage));
            }
            (window, place_base) = (rest, u64::from(base));
            if keeps_frames {
                // An event that is emitted here has ended.
                state.frames.pass(frame.1, run.expects_lf());
                if run.expects_lf() {
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
        if keeps_frames {
            if NATIVE {
                self.usage = machine.native_usage();
            } else {
                self.note_usage(&usage);
            }
        }
        let left = window.len();
        if run.is_ahead(machine) {
            machine.join();
            machine.settle_run::<_, NATIVE>(&run, storage);
        }
        (input.get(input.len().wrapping_sub(left)..).unwrap_or_default(), last)
    }

    /// Emits the other deltas of a chunk, from the first that is not usual on.
    #[inline(never)]
    fn emit_odd<'d>(
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
            *last_usage = Some((payload, usage));
        }
        if let Err(broke) = done {
            return self.hand_over(found, *state, broke, Stage::Deltas);
        }
        if !state.quirks.is_empty() {
            return self.hand_over(found, *state, Break::Nothing, Stage::Limit);
        }
        if sink.wants(Kind::Frame) {
            return self.hand_over(found, *state, Break::Nothing, Stage::After);
        }
        Ok(None)
    }

    /// Whether [`metas`](Self::metas) would emit a member.
    #[inline(always)]
    fn has_metas(&self, payload: &[u8], index: &Index) -> bool {
        let chunk = Chunk::from_parts(payload, index, &[]);
        index.facts.others || chunk.may_have_meta(self.metas) && self.next_meta(&{ chunk }).is_some()
    }

    /// Hands an event over to [`emit_from`](Emitter::emit_from): notes how far it was emitted. Returns the stage to go on at:
    /// `stage` if nothing interrupted the event, or else [`Stage::Deltas`].
    #[cold]
    #[inline(never)]
    fn hand_over(&mut self, found: Found, state: Progress, broke: Break, stage: Stage) -> Result<Option<Stage>, Full> {
        let waiting = self.waiting;
        self.take_up(found);
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
