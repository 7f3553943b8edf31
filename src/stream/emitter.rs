//! The one loop from bytes to deltas: it reads events and gives their deltas to a [`Sink`]. After the sink was full, it
//! resumes with the delta that the sink had no room for.
//!
//! An event goes one of three ways, which [`Emitter::run`] tries in this order:
//!
//! - A template recognizes it, and perhaps the events after it: they are a *run*, which `usual`
//!   emits.
//! - A step of the machine reads it, and it has nothing to report but its deltas: the next run begins with it.
//! - A step reads it, and it has more to report: it goes through the [`Stage`]s, which `report` emits. An event of a run
//!   goes on there if the sink was full or asked for a pause.

use super::checkpoint::NeedStorage;
use super::found::{Found, Place, Step};
use super::frames::{Frame, Frames};
use super::handler::Stop;
use super::progress::{Break, Progress, Waiting};
use super::sink::{Put, Sink, Track};
use super::Machine;
use crate::chat::TokenCounts;
use crate::shown::shown;
use crate::{Error, QuirkSet, Storage};

mod report;
mod usual;

/// Why [`Emitter::run`] returned.
#[must_use = "the emitter may have stopped before the end of the input"]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All of the input is consumed, and nothing is pending.
    Done,
    /// The sink is full.
    Full,
    /// The sink stopped the emitter, or the event has a quirk or exceeds a limit that is an error.
    Stopped(Stop),
    /// The storage is too small.
    NeedStorage(NeedStorage),
    /// The input does not begin with the bytes that the caller must give again: those of the pending event, or those
    /// that the storage had no room for.
    Resume,
}

/// A stage of an event: a group of its deltas. Stages are emitted in this order. The emitter keeps the stage at which
/// an event goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    /// The frame of an earlier block that ended without an event.
    Before,
    /// The raw payload of a chunk.
    Payload,
    /// The head: the delta of the event itself, such as a `Chunk`.
    Head,
    /// Members of the top level that describe the response.
    Meta,
    /// The deltas of a chunk.
    Deltas,
    /// A delta that was left out because of a limit.
    Limit,
    /// The quirks.
    Quirks,
    /// The frame of the event.
    After,
}

/// The sink has no room, so the event stays pending.
struct Full;

/// A hash of the bytes that the caller must give again. Each call that resumes an event computes it, so of long input
/// it covers about a kilobyte, in words spread over the input.
fn seal(bytes: &[u8]) -> u32 {
    const WORD: usize = 8;
    const WORDS: usize = 128;
    let mut hash = bytes.len() as u64;
    let mut add = |word: u64| hash = (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    let (mut words, skipped) = (bytes.chunks_exact(WORD), bytes.len() / (WORD * WORDS));
    words.remainder().iter().for_each(|byte| add(u64::from(*byte)));
    for end in [bytes.first_chunk::<WORD>(), bytes.last_chunk::<WORD>()].into_iter().flatten() {
        add(u64::from_le_bytes(*end));
    }
    while let Some(word) = words.nth(skipped) {
        add(u64::from_le_bytes(word.try_into().unwrap_or_default()));
    }
    (hash ^ (hash >> 32)) as u32
}

/// Emits the events of one stream. It is plain data: what it keeps of a pending event is offsets, so it may be in a
/// block of memory that moves between two calls.
#[derive(Clone)]
pub struct Emitter {
    usage: Option<TokenCounts>,
    /// Whether all of `usage` is details, which add to the counts before this emitter.
    adds_usage: bool,
    /// The machine reported everything that the end of the stream leaves.
    ended: bool,
    is_pending: bool,
    /// The event that is being emitted, or is pending.
    found: Found,
    /// How many bytes the caller must give again: those of the pending event, or those that the storage had no room
    /// for.
    expected: u32,
    /// The [`seal`] of these bytes.
    seal: u32,
    /// The stage at which the pending event goes on.
    stage: Stage,
    progress: Progress,
    waiting: Waiting,
    /// A `meta_bit` for each member of the top level that was emitted.
    metas: u8,
    /// Why a delta of the event was left out.
    limit: Option<Error>,
    /// The quirks of the event that were not emitted yet.
    unreported: QuirkSet,
    paused: bool,
    stop: Option<Stop>,
}

shown!("Emitter": Emitter, this => is_pending: this.is_pending, usage: this.usage);

impl Default for Emitter {
    fn default() -> Self {
        Emitter::new()
    }
}

impl Emitter {
    /// An emitter at the start of a stream.
    pub const fn new() -> Self {
        Emitter {
            usage: None,
            adds_usage: false,
            ended: false,
            is_pending: false,
            found: Found::NeedMore,
            expected: 0,
            seal: 0,
            stage: Stage::Before,
            progress: Progress::start(Frames::START),
            waiting: Waiting::NOTHING,
            metas: 0,
            limit: None,
            unreported: QuirkSet::EMPTY,
            paused: false,
            stop: None,
        }
    }

    /// The last token counts.
    pub fn usage(&self) -> Option<&TokenCounts> {
        self.usage.as_ref()
    }

    /// Adds the token counts that were emitted to those of earlier emitters of the stream.
    #[inline(always)]
    pub(super) fn note_usage_in(&self, usage: &mut Option<TokenCounts>) {
        if let Some(counts) = &self.usage {
            *usage = Some(match usage {
                Some(before) if self.adds_usage => counts.or(before),
                _ => *counts,
            });
        }
    }

    /// Whether an event was emitted in part.
    pub fn is_pending(&self) -> bool {
        self.is_pending
    }

    /// Whether the next call needs the index of the last event, because the event is pending or its frame is not over.
    #[doc(hidden)]
    pub fn needs_index(&self) -> bool {
        self.is_pending || self.progress.frames.has_begun()
    }

    /// Whether the next input must begin with bytes that the caller gives again. For other input the next call returns
    /// [`Outcome::Resume`].
    pub fn expects_again(&self) -> bool {
        self.expected > 0
    }

    /// Reads `input` and gives the sink its deltas. `base` is added to offsets in the input, for callers that give
    /// their buffer in parts. Returns how many bytes of `input` were consumed, and why it returned. Unless that is
    /// [`Outcome::Done`], give the other bytes again in the next call.
    #[inline]
    pub fn run<St: Storage, T: Track, S: Sink, const SLOTS: usize>(
        &mut self,
        machine: &mut Machine<SLOTS>,
        storage: &mut St,
        tracker: &mut T,
        input: &[u8],
        base: u32,
        sink: &mut S,
    ) -> (usize, Outcome) {
        // `read` is an event that a step of the machine has read, and that the next run of events begins with: its
        // payload, and how many bytes the step consumed.
        let (mut spent, mut read) = (0, None);
        if self.expected > 0 && !self.is_given_again(input) {
            return (0, Outcome::Resume);
        }
        loop {
            let window = input.get(spent..).unwrap_or_default();
            let at = base.saturating_add(spent as u32);
            if self.is_pending {
                let expected = self.expected as usize;
                match self.resume(&mut Env { machine, storage, tracker, window, base: at, sink }) {
                    Outcome::Done => spent = spent.saturating_add(expected),
                    Outcome::Full => return (spent, Outcome::Full),
                    // The event is consumed.
                    outcome => return (spent.saturating_add(expected), outcome),
                }
                continue;
            }
            if !sink.is_of_one_call() && self.progress.frames.waits() && !window.is_empty() {
                match self.waiting_frame(machine, window, sink) {
                    Outcome::Done => {}
                    outcome => return (spent, outcome),
                }
            }
            if sink.is_full() && !window.is_empty() {
                return (spent, Outcome::Full);
            }
            // Most events are emitted here.
            let (window, last) = if machine.is_native() {
                debug_assert!(read.is_none(), "no step finds an ordinary chunk in a stream of another protocol");
                self.emit_native_run(machine, storage, tracker, (window, at), sink)
            } else {
                self.emit_run::<_, _, _, SLOTS, false>(machine, storage, tracker, (window, at), sink, read.take())
            };
            spent = input.len().saturating_sub(window.len());
            let at = base.saturating_add(spent as u32);
            let (consumed, stage) = match last {
                Some(last) => last,
                // A step must not find an event that the sink has no room for, so the checks above come first.
                None if !window.is_empty()
                    && (sink.is_full() || !sink.is_of_one_call() && self.progress.frames.waits()) =>
                {
                    continue
                }
                None if window.is_empty()
                    && machine.is_at_rest()
                    && !self.progress.frames.has_earlier_frame(machine) =>
                {
                    return (input.len(), Outcome::Done);
                }
                None => match machine.try_read_on(storage, window) {
                    Ok(Step { consumed, found }) => {
                        if found == Found::NeedMore
                            && consumed == window.len()
                            && !self.progress.frames.has_earlier_frame(machine)
                        {
                            // The common end of a slice, with nothing to emit.
                            return (input.len(), Outcome::Done);
                        }
                        if let Some(payload) = machine.usual_payload(found) {
                            read = Some((payload, consumed));
                            continue;
                        }
                        self.start_event(found);
                        (consumed, Ok(Stage::Before))
                    }
                    Err(need) => {
                        self.expect_again(window, window.len());
                        return (spent, Outcome::NeedStorage(need));
                    }
                },
            };
            let outcome = match stage {
                Ok(stage) => self.emit_from(stage, &mut Env { machine, storage, tracker, window, base: at, sink }),
                Err(Full) => Outcome::Full,
            };
            if outcome == Outcome::Full {
                return (spent.saturating_add(self.keep(machine, window, consumed)), outcome);
            }
            spent = spent.saturating_add(consumed);
            if outcome != Outcome::Done || self.found == Found::NeedMore && spent >= input.len() {
                return (spent, outcome);
            }
        }
    }

    /// Ends the stream, and gives the sink the pending deltas. Call it again unless the outcome is [`Outcome::Done`].
    #[inline(never)]
    pub fn finish<St: Storage, const SLOTS: usize>(
        &mut self,
        machine: &mut Machine<SLOTS>,
        storage: &mut St,
        tracker: &mut dyn Track,
        sink: &mut dyn Sink,
    ) -> Outcome {
        loop {
            if self.is_pending {
                if self.expected > 0 {
                    return Outcome::Resume;
                }
                match self.resume(&mut Env { machine, storage, tracker, window: &[], base: 0, sink }) {
                    Outcome::Done => continue,
                    outcome => return outcome,
                }
            }
            match self.waiting_frame(machine, &[], sink) {
                Outcome::Done => {}
                outcome => return outcome,
            }
            if self.ended {
                let mut frames = self.progress.frames;
                let rest = frames.rest(machine);
                return self.frame_alone(rest, frames, sink);
            }
            let found = machine.finish(storage);
            debug_assert!(storage.take_wanted().is_none(), "the end of a stream adds no bytes to the storage");
            self.start_event(found);
            self.ended = found == Found::NeedMore;
            match self.emit_from(Stage::Before, &mut Env { machine, storage, tracker, window: &[], base: 0, sink }) {
                Outcome::Done => {}
                outcome => {
                    (self.is_pending, self.expected) = (outcome == Outcome::Full, 0);
                    return outcome;
                }
            }
        }
    }

    /// Emits the frame that waited for the first byte of the window, if one did.
    #[cold]
    #[inline(never)]
    fn waiting_frame<const SLOTS: usize>(
        &mut self,
        machine: &Machine<SLOTS>,
        window: &[u8],
        sink: &mut dyn Sink,
    ) -> Outcome {
        let mut frames = self.progress.frames;
        let frame = frames.waiting(machine, window);
        self.frame_alone(frame, frames, sink)
    }

    /// Emits a frame after its event. `closed` is the state after that.
    fn frame_alone(&mut self, frame: Option<Frame>, closed: Frames, sink: &mut dyn Sink) -> Outcome {
        let Some(frame) = frame else { return Outcome::Done };
        (self.paused, self.stop, self.limit) = (false, None, None);
        if let Err(Full) = self.put_frame(frame, Stage::After, sink) {
            return Outcome::Full;
        }
        self.progress.frames = closed;
        self.outcome(QuirkSet::EMPTY, 0, sink)
    }

    /// Starts to emit an event.
    fn start_event(&mut self, found: Found) {
        self.found = found;
        self.progress = Progress::start(self.progress.frames);
        (self.waiting, self.limit) = (Waiting::NOTHING, None);
        (self.paused, self.stop) = (false, None);
    }

    /// Keeps the event pending because the sink was full. Returns how many bytes are consumed: `consumed` if the event
    /// is in the storage, or none if it is in the input, because then the caller must give it again.
    #[cold]
    fn keep<const SLOTS: usize>(&mut self, machine: &Machine<SLOTS>, window: &[u8], consumed: usize) -> usize {
        self.is_pending = true;
        if machine.is_borrowed(self.found, Place::Input) {
            self.expect_again(window, consumed);
        }
        consumed.saturating_sub(self.expected as usize)
    }

    /// Notes that the caller must give the first `len` bytes of the window again.
    #[cold]
    #[inline(never)]
    fn expect_again(&mut self, window: &[u8], len: usize) {
        self.expected = u32::try_from(len).unwrap_or(u32::MAX);
        self.seal = seal(window.get(..self.expected as usize).unwrap_or_default());
    }

    /// Whether `input` begins with the bytes that the caller must give again.
    #[cold]
    #[inline(never)]
    fn is_given_again(&mut self, input: &[u8]) -> bool {
        let is_same = input.get(..self.expected as usize).is_some_and(|bytes| seal(bytes) == self.seal);
        if is_same && !self.is_pending {
            self.expected = 0;
        }
        is_same
    }

    /// Emits the rest of the pending event.
    #[inline(never)]
    fn resume<const SLOTS: usize>(&mut self, env: &mut Env<'_, SLOTS>) -> Outcome {
        (self.paused, self.stop) = (false, None);
        let outcome = self.emit_from(self.stage, env);
        if outcome != Outcome::Full {
            (self.is_pending, self.expected) = (false, 0);
        }
        outcome
    }

    /// Notes why the deltas of a chunk were interrupted.
    fn interrupted(&mut self, broke: Break, stage: Stage) -> Result<(), Full> {
        match broke {
            Break::Nothing => Ok(()),
            Break::LeftOut(error) => {
                self.limit = self.limit.or(Some(error));
                Ok(())
            }
            Break::Put(put) => self.answered(put, stage),
        }
    }

    /// Notes the sink's answer to a delta of this stage.
    fn answered(&mut self, put: Put, stage: Stage) -> Result<(), Full> {
        match put {
            Put::Go => {}
            Put::Pause => self.paused = true,
            Put::Stop(stop) => self.stop = Some(stop),
            Put::Full => {
                self.stage = stage;
                return Err(Full);
            }
        }
        Ok(())
    }
}

/// The arguments with which an event is emitted: where its bytes are, and the tracker and sink of its deltas.
struct Env<'e, const SLOTS: usize> {
    machine: &'e mut Machine<SLOTS>,
    storage: &'e dyn Storage,
    tracker: &'e mut dyn Track,
    window: &'e [u8],
    base: u32,
    sink: &'e mut dyn Sink,
}
