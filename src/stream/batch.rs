//! Batch: what a stream brings, as an array of records; where the array is full, it goes on with the next call.
//!
//! What is left of an event is kept as offsets: which delta comes next, the updates of the delta at hand, how much of a
//! text was given. Nothing is walked again, however small the array is.

use super::found::{Found, Span};
use super::frames::Frames;
use super::item::{Item, Part, What, REPLACEMENT};
use super::kind::Kind;
use super::machine::Machine;
use super::record::{self, Bytes, Full, Record, Sink, Whole};
use super::{NeedStorage, Place};
use crate::chat::{DeltaCursor, TokenCounts};
use crate::json::Text;
use crate::stream::Track;
use crate::track::Update;
use crate::{Error, Movable, Quirk, QuirkSet, Storage};
use core::ops::ControlFlow;

/// Updates that one delta can bring: a call, its name and its arguments; or four halves and a finish reason.
const QUEUE: usize = 6;

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

/// What was said so far.
#[derive(Clone, Debug)]
struct Said {
    frames: Frames,
    usage: Option<TokenCounts>,
    /// Events of which something was left out.
    left_out: u32,
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Before,
    Payload,
    Head,
    Deltas,
    Limit,
    Quirks,
    After,
}

/// An event that is being told.
#[derive(Clone, Debug)]
struct Pending {
    found: Found,
    /// Bytes of the input that are spent when it is told.
    consumed: u32,
    stage: Stage,
    cursor: DeltaCursor,
    queue: [Item; QUEUE],
    first: u8,
    count: u8,
    /// Bytes of the text at hand that were given.
    taken: usize,
    /// What the tracker could not take.
    limit: Option<Error>,
    /// What tracker and texts brought to light.
    quirks: QuirkSet,
    /// What is still to be told of all quirks.
    untold: QuirkSet,
}

/// What a call works on, apart from the batch itself.
struct Work<'w, 's, T> {
    machine: &'w mut Machine,
    tracker: &'w mut T,
    data: &'w [u8],
    /// Offset of `data` in what the caller calls the input.
    base: u32,
    sink: &'w mut Sink<'s>,
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
    pub fn fill<T: Track>(
        &mut self,
        machine: &mut Machine,
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
            let kept = if machine.is_borrowed(step.found, Place::Input) { step.consumed } else { 0 };
            spent = spent.saturating_add(step.consumed.saturating_sub(kept));
            self.begin(step.found, kept as u32);
        }
    }

    /// Says that the stream ended, and writes what that brings to light.
    pub fn finish<T: Track>(
        &mut self,
        machine: &mut Machine,
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
                self.begin(found, 0);
            } else if self.silent(machine, sink).is_err() {
                return Filled::Full;
            } else if !core::mem::replace(&mut self.ended, true) {
                self.begin(Found::NeedMore, 0);
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
    fn silent(&mut self, machine: &Machine, sink: &mut Sink<'_>) -> Result<(), Full> {
        let mut frames = self.said.frames;
        if let Some(frame) = frames.before(machine) {
            sink.frame(frame)?;
            self.said.frames = frames;
        }
        Ok(())
    }

    /// Something was found, and is to be told.
    fn begin(&mut self, found: Found, consumed: u32) {
        self.is_pending = true;
        self.pending.begin(found, consumed);
    }

    /// Tells the pending event.
    fn tell<T: Track>(&mut self, mut work: Work<'_, '_, T>, store: &Movable<'_>) -> Result<(), Filled> {
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

impl Pending {
    const START: Pending = Pending {
        found: Found::NeedMore,
        consumed: 0,
        stage: Stage::Before,
        cursor: DeltaCursor::START,
        queue: [Item::NONE; QUEUE],
        first: 0,
        count: 0,
        taken: 0,
        limit: None,
        quirks: QuirkSet::EMPTY,
        untold: QuirkSet::EMPTY,
    };

    /// Another event. What is in the queue is overwritten as it is needed.
    fn begin(&mut self, found: Found, consumed: u32) {
        self.found = found;
        self.consumed = consumed;
        self.stage = Stage::Before;
        self.cursor.restart();
        (self.first, self.count, self.taken) = (0, 0, 0);
        self.limit = None;
        (self.quirks, self.untold) = (QuirkSet::EMPTY, QuirkSet::EMPTY);
    }

    fn push(&mut self, frames: &mut Frames, item: Item) {
        frames.add(item.kind);
        let place = usize::from(self.first).saturating_add(usize::from(self.count));
        if let Some(slot) = self.queue.get_mut(place) {
            *slot = item;
            self.count = self.count.saturating_add(1);
        }
    }

    /// Where it lay in the stream.
    fn range(&self, machine: &Machine) -> (u64, u64) {
        if self.found == Found::NeedMore {
            (machine.offset(), machine.offset())
        } else {
            machine.index().frame
        }
    }

    /// Tells what is left of it.
    fn tell<T: Track>(&mut self, said: &mut Said, work: &mut Work<'_, '_, T>, store: &Movable<'_>) -> Result<(), Full> {
        if self.stage == Stage::Before {
            let mut frames = said.frames;
            if let Some(frame) = frames.before(work.machine) {
                work.sink.frame(frame)?;
            }
            said.frames = frames;
            if let Some(kind) = self.kind() {
                said.frames.add(kind);
            }
            self.stage = Stage::Payload;
        }
        if self.stage == Stage::Payload {
            if let Found::Chunk(span) = self.found {
                let payload = work.bytes(store, span);
                let chunk = work.machine.chunk(payload.bytes, b"");
                let (is_error, plain) = (chunk.is_whole_error(), chunk.is_plain_text());
                let record = Record {
                    code: u32::from(is_error),
                    flags: if plain { record::FLAG_PLAIN } else { 0 },
                    ..self.record(Kind::Payload, work.machine)
                };
                work.sink.put_bytes(record, payload, &mut self.taken, &Whole::NONE, &Whole::NONE)?;
                self.taken = 0;
            }
            self.stage = Stage::Head;
        }
        if self.stage == Stage::Head {
            self.head(work, store)?;
            self.stage = Stage::Deltas;
        }
        if self.stage == Stage::Deltas {
            self.deltas(said, work, store)?;
            self.stage = Stage::Limit;
        }
        if self.stage == Stage::Limit {
            if let Some(error) = self.limit {
                let record = self.record(Kind::Limit, work.machine);
                work.sink.put(Record { code: error.number(), ..record })?;
                said.frames.add(Kind::Limit);
                said.left_out = said.left_out.saturating_add(1);
            }
            let structural = if self.found == Found::NeedMore { QuirkSet::EMPTY } else { work.machine.quirks() };
            self.untold = structural | self.quirks;
            self.stage = Stage::Quirks;
        }
        if self.stage == Stage::Quirks {
            while let Some(quirk) = self.untold.iter().next() {
                let record = self.record(Kind::Quirk, work.machine);
                work.sink.put(Record { code: quirk as u32, ..record })?;
                said.frames.add(Kind::Quirk);
                self.untold.remove(quirk);
            }
            self.stage = Stage::After;
        }
        let mut frames = said.frames;
        if let Some(frame) = frames.after(work.machine, self.found).filter(|_| self.found != Found::NeedMore) {
            work.sink.frame(frame)?;
            said.frames = frames;
        }
        Ok(())
    }

    fn kind(&self) -> Option<Kind> {
        Some(match self.found {
            Found::NeedMore | Found::Error(_) => return None,
            Found::Chunk(_) => Kind::Chunk,
            Found::Sse(_) => Kind::Sse,
            Found::Done => Kind::Done,
            Found::Comment(_) => Kind::Comment,
            Found::KeepAlive(_) => Kind::KeepAlive,
            Found::Retry(_) => Kind::Retry,
            Found::LastEventId => Kind::LastEventId,
            Found::Malformed(..) => Kind::Malformed,
            Found::TooLong => Kind::TooLong,
            Found::CommentTooLong => Kind::CommentTooLong,
        })
    }

    fn record(&self, kind: Kind, machine: &Machine) -> Record {
        let (start, end) = self.range(machine);
        Record { kind: kind as u16, start, end, ..Record::default() }
    }

    /// The event itself.
    fn head<T: Track>(&mut self, work: &mut Work<'_, '_, T>, store: &Movable<'_>) -> Result<(), Full> {
        let Some(kind) = self.kind() else { return Ok(()) };
        let mut record = self.record(kind, work.machine);
        let name = work.bytes(store, work.machine.name_span());
        let (none, taken) = (Whole::NONE, &mut self.taken);
        match self.found {
            Found::Chunk(span) => {
                if !work.sink.wants(record.kind) {
                    return Ok(());
                }
                let payload = work.bytes(store, span);
                let chunk = work.machine.chunk(payload.bytes, name.bytes);
                let input =
                    |raw: &[u8]| payload.at((raw.as_ptr() as usize).wrapping_sub(payload.bytes.as_ptr() as usize));
                let (id, model) = (Whole::text(chunk.id(), input), Whole::text(chunk.model(), input));
                record.code = chunk.choice_count();
                if let Some(created) = chunk.created() {
                    record.number = created;
                    record.flags |= record::FLAG_NUMBER;
                }
                work.sink.put_whole(record, id, model, Whole::bytes(name))
            }
            Found::Sse(span) => {
                let data = work.bytes(store, span);
                let name = if name.bytes.is_empty() { Whole::Bytes(b"message") } else { Whole::bytes(name) };
                let id = Whole::bytes(Bytes { bytes: work.machine.last_event_id(store.bytes()), input: None });
                work.sink.put_bytes(record, data, taken, &name, &id)
            }
            Found::Malformed(span, fault) => {
                record.code = fault.kind.number();
                record.number = fault.offset as u64;
                record.flags |= record::FLAG_NUMBER;
                let payload = work.bytes(store, span);
                work.sink.put_bytes(record, payload, taken, &none, &Whole::bytes(name))
            }
            Found::Comment(span) | Found::KeepAlive(span) => {
                let bytes = work.bytes(store, span);
                work.sink.put_bytes(record, bytes, taken, &none, &none)
            }
            Found::LastEventId => {
                let id = Whole::bytes(Bytes { bytes: work.machine.last_event_id(store.bytes()), input: None });
                work.sink.put_whole(record, id, none, none)
            }
            Found::Retry(ms) => {
                record.number = ms;
                record.flags |= record::FLAG_NUMBER;
                work.sink.put(record)
            }
            Found::Done | Found::TooLong | Found::CommentTooLong => work.sink.put(record),
            Found::NeedMore | Found::Error(_) => Ok(()),
        }?;
        self.taken = 0;
        Ok(())
    }

    /// What a chunk brings, delta by delta.
    fn deltas<T: Track>(
        &mut self,
        said: &mut Said,
        work: &mut Work<'_, '_, T>,
        store: &Movable<'_>,
    ) -> Result<(), Full> {
        let span = if let Found::Chunk(span) = self.found { Some(span) } else { None };
        let payload = span.map_or(Bytes::NONE, |span| work.bytes(store, span));
        loop {
            while self.count > 0 {
                self.item(work, payload)?;
                self.first = self.first.saturating_add(1);
                self.count = self.count.saturating_sub(1);
            }
            self.first = 0;
            if span.is_none() {
                return Ok(());
            }
            let (offset, _) = work.machine.index().frame;
            let Some(delta) = self.cursor.next(work.machine.chunk(payload.bytes, b"")) else { return Ok(()) };
            let outcome = work.tracker.update(&delta, offset, |choice, update| -> ControlFlow<()> {
                if let Update::Usage(usage) = &update {
                    said.usage = Some(usage.counts());
                }
                self.push(&mut said.frames, Item::of(payload.bytes, choice, &update));
                ControlFlow::Continue(())
            });
            self.quirks |= outcome.quirks;
            self.limit = self.limit.or(outcome.error);
        }
    }

    /// The update at the head of the queue.
    fn item<T>(&mut self, work: &mut Work<'_, '_, T>, payload: Bytes<'_>) -> Result<(), Full> {
        let record = self.record(Kind::Role, work.machine);
        let Some(item) = self.queue.get_mut(usize::from(self.first)) else { return Ok(()) };
        let Item { kind, flags, choice, call, code, number, text, aux } = *item;
        let record = Record { kind: kind as u16, flags, choice, call, code, number, ..record };
        let whole = |part: &Part| {
            let text = (part.what != What::Nothing).then(|| part.of(payload.bytes));
            Whole::text(text, |_| payload.at(part.start as usize))
        };
        let input = payload.at(text.start as usize);
        match text.what {
            _ if matches!(kind, Kind::ToolCall | Kind::ToolName | Kind::FunctionName | Kind::Role | Kind::Finish) => {
                if work.sink.wants(record.kind) {
                    work.sink.put_whole(record, whole(&text), whole(&aux), Whole::NONE)?;
                }
            }
            What::Raw => {
                let bytes = Bytes { bytes: text.bytes(payload.bytes), input };
                work.sink.put_bytes(record, bytes, &mut self.taken, &Whole::NONE, &Whole::NONE)?;
                self.taken = 0;
            }
            What::Replacement => {
                let mut rest = Text::verbatim(REPLACEMENT);
                work.sink.put_text(record, &mut rest, None)?;
            }
            What::Nothing | What::Text | What::Rest => {
                let mut rest = text.of(payload.bytes);
                let told = work.sink.put_text(record, &mut rest, input.filter(|_| text.what == What::Text));
                if told.is_err() && rest.raw().len() < text.len as usize {
                    item.text = Part::text(payload.bytes, rest, What::Rest);
                }
                told?;
            }
        }
        Ok(())
    }
}

impl<T> Work<'_, '_, T> {
    /// The bytes of a span of what was found.
    fn bytes<'a>(&self, store: &'a Movable<'_>, span: Span) -> Bytes<'a>
    where
        Self: 'a,
    {
        let input = (span.place == Place::Input && span.len > 0).then(|| self.base.saturating_add(span.start));
        Bytes { bytes: span.of(self.data, store), input }
    }
}
