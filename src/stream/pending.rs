//! An event that a batch is telling: how far it has come, and what of it is told next.

use super::found::{Found, Span};
use super::frames::Frames;
use super::item::{Item, Part, What, REPLACEMENT};
use super::kind::Kind;
use super::machine::Machine;
use super::record::{self, Bytes, Full, Record, Sink, Whole};
use super::Place;
use crate::chat::{Delta, DeltaCursor, Index, TokenCounts};
use crate::json::Text;
use crate::stream::Track;
use crate::track::Update;
use crate::{Error, Movable, QuirkSet, Storage};
use core::ops::ControlFlow;

/// Updates that one delta can bring: a call, its name and its arguments; or four halves and a finish reason.
const QUEUE: usize = 6;

/// What was said so far.
#[derive(Clone, Debug)]
pub(super) struct Said {
    pub(super) frames: Frames,
    pub(super) usage: Option<TokenCounts>,
    /// Events of which something was left out.
    pub(super) left_out: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
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
pub(super) struct Pending {
    pub(super) found: Found,
    /// Bytes of the input that are spent when it is told.
    pub(super) consumed: u32,
    pub(super) stage: Stage,
    pub(super) cursor: DeltaCursor,
    queue: [Item; QUEUE],
    first: u8,
    count: u8,
    /// Bytes of the text at hand that were given.
    taken: usize,
    /// What the tracker could not take.
    limit: Option<Error>,
    /// What tracker and texts brought to light.
    pub(super) quirks: QuirkSet,
    /// What is still to be told of all quirks.
    untold: QuirkSet,
}

/// What a call works on, apart from the batch itself.
pub(super) struct Work<'w, 's, T, const SLOTS: usize> {
    pub(super) machine: &'w mut Machine<SLOTS>,
    pub(super) tracker: &'w mut T,
    pub(super) data: &'w [u8],
    /// Offset of `data` in what the caller calls the input.
    pub(super) base: u32,
    pub(super) sink: &'w mut Sink<'s>,
}

impl Pending {
    pub(super) const START: Pending = Pending {
        found: Found::NeedMore,
        consumed: 0,
        stage: Stage::Before,
        cursor: DeltaCursor::END,
        queue: [Item::NONE; QUEUE],
        first: 0,
        count: 0,
        taken: 0,
        limit: None,
        quirks: QuirkSet::EMPTY,
        untold: QuirkSet::EMPTY,
    };

    /// Another event. What is in the queue is overwritten as it is needed.
    pub(super) fn begin(&mut self, found: Found, consumed: u32, index: &Index) {
        self.found = found;
        self.consumed = consumed;
        self.stage = Stage::Before;
        self.cursor = DeltaCursor::of(index);
        (self.first, self.count, self.taken) = (0, 0, 0);
        self.limit = None;
        (self.quirks, self.untold) = (QuirkSet::EMPTY, QuirkSet::EMPTY);
    }

    pub(super) fn push(&mut self, frames: &mut Frames, item: Item) {
        frames.add(item.kind);
        let place = usize::from(self.first).saturating_add(usize::from(self.count));
        if let Some(slot) = self.queue.get_mut(place) {
            *slot = item;
            self.count = self.count.saturating_add(1);
        }
    }

    /// Where it lay in the stream.
    pub(super) fn range<const SLOTS: usize>(&self, machine: &Machine<SLOTS>) -> (u64, u64) {
        if self.found == Found::NeedMore {
            (machine.offset(), machine.offset())
        } else {
            machine.index().frame
        }
    }

    /// Tells what is left of it.
    pub(super) fn tell<T: Track, const SLOTS: usize>(
        &mut self,
        said: &mut Said,
        work: &mut Work<'_, '_, T, SLOTS>,
        store: &Movable<'_>,
    ) -> Result<(), Full> {
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

    fn record<const SLOTS: usize>(&self, kind: Kind, machine: &Machine<SLOTS>) -> Record {
        let (start, end) = self.range(machine);
        Record { kind: kind as u16, start, end, ..Record::default() }
    }

    /// The event itself.
    fn head<T: Track, const SLOTS: usize>(
        &mut self,
        work: &mut Work<'_, '_, T, SLOTS>,
        store: &Movable<'_>,
    ) -> Result<(), Full> {
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
                let id = Whole::bytes(Bytes::new(work.machine.last_event_id(store.bytes()), None));
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
                let id = Whole::bytes(Bytes::new(work.machine.last_event_id(store.bytes()), None));
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
    fn deltas<T: Track, const SLOTS: usize>(
        &mut self,
        said: &mut Said,
        work: &mut Work<'_, '_, T, SLOTS>,
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
            let Some(delta) = self.cursor.next(payload.bytes, work.machine.index()) else { return Ok(()) };
            let frame = work.machine.index().frame;
            self.take(said, &delta, work.tracker, work.sink, payload, frame);
        }
    }

    /// Takes in a delta. What it brings is written if it is a text and there is room, else it is put in the queue.
    #[inline(never)]
    pub(super) fn take<T: Track>(
        &mut self,
        said: &mut Said,
        delta: &Delta<'_>,
        tracker: &mut T,
        sink: &mut Sink<'_>,
        payload: Bytes<'_>,
        frame: (u64, u64),
    ) {
        let outcome = tracker.update(delta, frame.0, |choice, update| -> ControlFlow<()> {
            let (kind, call, text) = match update {
                Update::Content(text) => (Kind::Content, 0, text),
                Update::Reasoning(text) => (Kind::Reasoning, 0, text),
                Update::CallArguments { call, text } => (Kind::ToolArguments, call, text),
                _ => {
                    if let Update::Usage(usage) = &update {
                        said.usage = Some(usage.counts());
                    }
                    self.push(&mut said.frames, Item::of(payload.bytes, choice, &update));
                    return ControlFlow::Continue(());
                }
            };
            said.frames.add(kind);
            if self.count > 0 || !sink.put_now(kind, choice, call, frame, text, payload) {
                self.push(&mut said.frames, Item::of(payload.bytes, choice, &update));
            }
            ControlFlow::Continue(())
        });
        self.quirks |= outcome.quirks;
        self.limit = self.limit.or(outcome.error);
    }

    /// The update at the head of the queue.
    fn item<T, const SLOTS: usize>(
        &mut self,
        work: &mut Work<'_, '_, T, SLOTS>,
        payload: Bytes<'_>,
    ) -> Result<(), Full> {
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
                let bytes = Bytes::new(text.bytes(payload.bytes), input);
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

impl<T, const SLOTS: usize> Work<'_, '_, T, SLOTS> {
    /// The bytes of a span of what was found.
    #[inline]
    pub(super) fn bytes<'a>(&self, store: &'a Movable<'_>, span: Span) -> Bytes<'a>
    where
        Self: 'a,
    {
        let input = (span.place == Place::Input && span.len > 0).then(|| self.base.saturating_add(span.start));
        Bytes::new(span.of(self.data, store), input)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    extern crate std;
    use super::*;
    use crate::chat::Chunk;
    use crate::track::Tracker;

    /// How many records are written at once, and how many things are put in the queue.
    fn taken(tracker: &mut Tracker<2, 2>, queued: bool, delta: &str) -> (usize, u8) {
        let payload = std::format!(r#"{{"choices":[{{"index":0,"delta":{delta}}}]}}"#);
        let (payload, mut index) = (payload.as_bytes(), Index::new());
        let chunk = Chunk::read(payload, &mut index).unwrap();
        let (mut records, mut scratch) = ([Record::default(); 4], [0; 64]);
        let mut sink = Sink::new(&mut records, &mut scratch, u64::MAX);
        let mut said = Said { frames: Frames::START, usage: None, left_out: 0 };
        let mut pending = Pending::START;
        if queued {
            pending.push(&mut said.frames, Item::NONE);
        }
        for delta in chunk.deltas() {
            let bytes = Bytes::new(payload, Some(0));
            pending.take(&mut said, &delta, tracker, &mut sink, bytes, (0, 0));
        }
        (sink.written(), pending.count)
    }

    /// Into the queue goes what is no text, and what comes behind it.
    #[test]
    fn a_text_is_written_at_once() {
        let mut tracker = Tracker::new();
        let arguments = r#"{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]}"#;
        for (delta, at_once, behind) in [
            (r#"{"content":"a"}"#, (1, 0), (0, 2)),
            (r#"{"reasoning":"a"}"#, (1, 0), (0, 2)),
            (r#"{"reasoning":"a","content":"b\n"}"#, (2, 0), (0, 3)),
            (r#"{"refusal":"a"}"#, (0, 1), (0, 2)),
            (r#"{"role":"assistant","content":"a"}"#, (0, 2), (0, 2)),
            (r#"{"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":"{"}}]}"#, (0, 3), (0, 2)),
            (arguments, (1, 0), (0, 2)),
        ] {
            assert_eq!(taken(&mut tracker, false, delta), at_once, "{delta}");
            assert_eq!(taken(&mut tracker, true, delta), behind, "{delta}");
        }
    }
}
