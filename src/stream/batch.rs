//! Batch: what a stream brings, as an array of records; where the array is full, it goes on with the next call.
//!
//! What is left of an event is kept as offsets: which delta comes next, the updates of the delta at hand, how much of a
//! text was given. Nothing is walked again, however small the array is.

use super::found::{Found, Span, Step};
use super::frames::{frame_of, Frames};
use super::item::Item;
use super::kind::Kind;
use super::machine::Machine;
use super::pending::{Pending, Said, Stage, Work};
use super::push::by_parts;
use super::record::{Full, Sink};
use super::{NeedStorage, Place};
use crate::chat::{DeltaCursor, DeltaKind, TokenCounts};
use crate::stream::Track;
use crate::{Movable, Quirk};
use core::ops::ControlFlow;

/// What is left of a stream's current event, and what was met so far. Plain data.
///
/// ```
/// use deltawire::stream::{Batch, Filled, Kind, Machine, Record, Sink};
/// use deltawire::{track::Tracker, Config, Movable};
///
/// let input = b"data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\n\n";
/// let (mut machine, mut tracker, mut batch) = (Machine::new(Config::default()), Tracker::<8, 32>::new(), Batch::new());
/// let (mut memory, mut records, mut scratch) = ([0; 512], [Record::default(); 4], [0; 64]);
/// let mut sink = Sink::new(&mut records, &mut scratch, Kind::Content.bit());
/// let mut store = Movable::new(&mut memory, false);
/// let (spent, filled) = batch.fill(&mut machine, &mut store, &mut tracker, input, 0, &mut sink);
/// assert_eq!((spent, filled, sink.written()), (input.len(), Filled::Done, 1));
/// let Record { text_off, text_len, .. } = records[0];
/// assert_eq!(&input[text_off as usize..][..text_len as usize], b"Hi");
/// ```
#[derive(Clone, Debug)]
pub struct Batch {
    said: Said,
    /// An event is being told.
    is_pending: bool,
    pending: Pending,
    ended: bool,
}

impl Default for Batch {
    fn default() -> Self {
        Batch::new()
    }
}

/// Why a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filled {
    /// All of the input is spent, and nothing is pending.
    Done,
    /// The array or the scratch is full.
    Full,
    /// The storage is too small.
    NeedStorage(NeedStorage),
    /// The bytes that are pending were not given again.
    Resume,
    /// A quirk that is to be an error.
    Error {
        /// Which.
        quirk: Quirk,
        /// Stream offset where its event began.
        offset: u64,
    },
}

impl Batch {
    /// A batch at the start of a stream.
    pub const fn new() -> Self {
        Batch {
            said: Said { frames: Frames::START, usage: None, left_out: 0 },
            is_pending: false,
            pending: Pending::START,
            ended: false,
        }
    }

    /// The token counts that came last.
    pub fn usage(&self) -> Option<&TokenCounts> {
        self.said.usage.as_ref()
    }

    /// The same, for those who tell of events by other means.
    pub fn set_usage(&mut self, usage: TokenCounts) {
        self.said.usage = Some(usage);
    }

    /// How many events had more than the tracker could take in.
    pub fn left_out(&self) -> u32 {
        self.said.left_out
    }

    /// One more of them, for the same.
    pub fn note_left_out(&mut self) {
        self.said.left_out = self.said.left_out.saturating_add(1);
    }

    /// The frames, for the same.
    pub fn frames(&mut self) -> &mut Frames {
        &mut self.said.frames
    }

    /// Whether an event is still being told.
    pub fn is_pending(&self) -> bool {
        self.is_pending
    }

    /// Reads `data` and writes what is in it to the sink. Offsets of texts count from `base` before it. Gives how many
    /// bytes of `data` are spent, and why it ended; unless that is [`Filled::Done`], the others are to be given again.
    pub fn fill<T: Track, const SLOTS: usize>(
        &mut self,
        machine: &mut Machine<SLOTS>,
        store: &mut Movable<'_>,
        tracker: &mut T,
        data: &[u8],
        base: u32,
        sink: &mut Sink<'_>,
    ) -> (usize, Filled) {
        let mut spent = 0;
        loop {
            let given = data.get(spent..).unwrap_or_default();
            if self.is_pending {
                let consumed = self.pending.consumed as usize;
                if consumed > given.len() {
                    return (spent, Filled::Resume);
                }
                let base = base.saturating_add(spent as u32);
                let work = Work { machine: &mut *machine, tracker: &mut *tracker, data: given, base, sink: &mut *sink };
                match self.tell(work, store) {
                    Ok(()) => spent = spent.saturating_add(consumed),
                    Err(filled) => {
                        // The event that brought an error is spent.
                        let spent = if filled == Filled::Full { spent } else { spent.saturating_add(consumed) };
                        return (spent, filled);
                    }
                }
                continue;
            }
            // One that found no room before.
            if self.silent(machine, sink).is_err() {
                return (spent, Filled::Full);
            }
            let step = match machine.try_step(store, given) {
                // Looked at where it is returned: an enum that is moved is written and read in words of different sizes.
                Ok(Step { consumed, found: Found::Chunk(span) }) => {
                    let base = base.saturating_add(spent as u32);
                    let work =
                        Work { machine: &mut *machine, tracker: &mut *tracker, data: given, base, sink: &mut *sink };
                    let kept = if self.chunk(work, store, span, consumed) { 0 } else { self.pending.consumed };
                    spent = spent.saturating_add(consumed.saturating_sub(kept as usize));
                    continue;
                }
                Ok(step) => step,
                Err(need) => return (spent, Filled::NeedStorage(need)),
            };
            if step.found == Found::NeedMore {
                spent = spent.saturating_add(step.consumed);
                if let Err(Full) = self.silent(machine, sink) {
                    return (spent, Filled::Full);
                }
                if spent >= data.len() {
                    return (spent, Filled::Done);
                }
                continue;
            }
            self.begin(step.found, step.consumed, machine);
            spent = spent.saturating_add(step.consumed.saturating_sub(self.pending.consumed as usize));
        }
    }

    /// Writes all of a chunk at once, if it is as nearly all are: nothing about it is odd, it brings content alone, and there
    /// is room. `false`: it is pending, as far as it was not written.
    #[inline(always)]
    fn chunk<T: Track, const SLOTS: usize>(
        &mut self,
        work: Work<'_, '_, T, SLOTS>,
        store: &Movable<'_>,
        span: Span,
        consumed: usize,
    ) -> bool {
        let payload = work.bytes(store, span);
        let Work { machine, tracker, sink, .. } = work;
        let index = machine.index();
        let (start, end) = frame_of(machine);
        let mut frames = self.said.frames;
        let odd = !machine.quirks().is_empty() || frames.before(machine).is_some();
        let whole = odd || sink.wants(Kind::Payload as u16) || machine.name_span().len > 0;
        if whole || !sink.chunk(machine, payload, (start, end)) {
            self.begin(Found::Chunk(span), consumed, machine);
            return false;
        }
        frames.add(Kind::Chunk);
        let mut cursor = DeltaCursor::of(index);
        while let Some(delta) = cursor.next(payload.bytes, index) {
            if let DeltaKind::Content(text) = &delta.kind {
                let text = by_parts(text);
                if tracker.plain(delta.choice, text) {
                    frames.add(Kind::Content);
                    if sink.put_now(Kind::Content, delta.choice, 0, (start, end), text, payload) {
                        continue;
                    }
                }
            }
            // What `plain` took in may be taken in again.
            self.said.frames = frames;
            self.begin(Found::Chunk(span), consumed, machine);
            (self.pending.cursor, self.pending.stage) = (cursor, Stage::Deltas);
            self.pending.take(&mut self.said, &delta, tracker, sink, payload, (start, end));
            return false;
        }
        self.said.frames = frames;
        if let Some(frame) = frames.after(machine, Found::Chunk(span)) {
            if sink.frame(frame).is_err() {
                self.begin(Found::Chunk(span), consumed, machine);
                self.pending.stage = Stage::After;
                return false;
            }
            self.said.frames = frames;
        }
        true
    }

    /// Says that the stream ended, and writes what that brings to light.
    pub fn finish<T: Track, const SLOTS: usize>(
        &mut self,
        machine: &mut Machine<SLOTS>,
        store: &mut Movable<'_>,
        tracker: &mut T,
        sink: &mut Sink<'_>,
    ) -> Filled {
        loop {
            if self.is_pending {
                if self.pending.consumed > 0 {
                    return Filled::Resume;
                }
                let work =
                    Work { machine: &mut *machine, tracker: &mut *tracker, data: &[], base: 0, sink: &mut *sink };
                if let Err(filled) = self.tell(work, store) {
                    return filled;
                }
                continue;
            }
            if self.silent(machine, sink).is_err() {
                return Filled::Full;
            }
            let found = match machine.try_finish(store) {
                Ok(found) => found,
                Err(need) => return Filled::NeedStorage(need),
            };
            if found != Found::NeedMore {
                self.begin(found, 0, machine);
            } else if self.silent(machine, sink).is_err() {
                return Filled::Full;
            } else if !core::mem::replace(&mut self.ended, true) {
                self.begin(Found::NeedMore, 0, machine);
                let Batch { said, pending: rest, .. } = self;
                rest.stage = Stage::Deltas;
                let outcome = tracker.finish(|choice, update| -> ControlFlow<()> {
                    rest.push(&mut said.frames, Item::of(&[], choice, &update));
                    ControlFlow::Continue(())
                });
                rest.quirks = outcome.quirks;
            } else {
                let mut frames = self.said.frames;
                if let Some(frame) = frames.rest(machine) {
                    if sink.frame(frame).is_err() {
                        return Filled::Full;
                    }
                    self.said.frames = frames;
                }
                return Filled::Done;
            }
        }
    }

    /// The frame of a block that ended in silence.
    #[inline(always)]
    fn silent<const SLOTS: usize>(&mut self, machine: &Machine<SLOTS>, sink: &mut Sink<'_>) -> Result<(), Full> {
        let mut frames = self.said.frames;
        if let Some(frame) = frames.before(machine) {
            sink.frame(frame)?;
            self.said.frames = frames;
        }
        Ok(())
    }

    /// Something was found, and is to be told. What lies in the storage, or in nothing, is spent already.
    fn begin<const SLOTS: usize>(&mut self, found: Found, consumed: usize, machine: &Machine<SLOTS>) {
        let kept = if machine.is_borrowed(found, Place::Input) { consumed as u32 } else { 0 };
        self.is_pending = true;
        self.pending.begin(found, kept, machine.index());
    }

    /// Tells the pending event.
    fn tell<T: Track, const SLOTS: usize>(
        &mut self,
        mut work: Work<'_, '_, T, SLOTS>,
        store: &Movable<'_>,
    ) -> Result<(), Filled> {
        let Batch { said, pending, .. } = self;
        if let Found::Error(quirk) = pending.found {
            self.is_pending = false;
            let (offset, _) = work.machine.index().frame;
            return Err(Filled::Error { quirk, offset });
        }
        if pending.tell(said, &mut work, store).is_err() {
            return Err(Filled::Full);
        }
        self.is_pending = false;
        work.machine.count(pending.quirks);
        let errors = pending.quirks.and(work.machine.config().errors);
        match errors.iter().next() {
            Some(quirk) => Err(Filled::Error { quirk, offset: pending.range(work.machine).0 }),
            _ => Ok(()),
        }
    }
}
