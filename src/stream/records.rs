//! The records of a batch, and the sink that writes them.

use super::context::{Context, InputBytes};
use super::sink::{Put, Sink};
use super::Event;
use crate::chat::{CallUpdate, Chunk, ChunkMember, Created, Index, Update};
use crate::delta::{Delta, Kind, Meta, Part, FLAG_CUSTOM, FLAG_EMPTY, FLAG_MORE, FLAG_NUMBER, FLAG_OPENS, FLAG_REUSES};
use crate::json::Text;
use crate::shown::shown;

/// One delta of a batch, in 64 bytes without pointers, with the layout of the C interface. Texts are offsets into the
/// input or, if a flag says so, into the scratch. The length of an absent text is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Record {
    /// A [`Kind`], by its number.
    pub kind: u16,
    /// `FLAG_*`.
    pub flags: u16,
    /// The index of the choice.
    pub choice: u32,
    /// The number of the tool call among those of its choice.
    pub call: u32,
    /// A finish reason, a quirk, a fault, a limit or a count of choices, depending on the kind.
    pub code: u32,
    /// A tool call's index, a time, an offset or a set of kinds, depending on the kind.
    pub number: u64,
    /// Offset of the text.
    pub text_off: u32,
    /// Length of the text.
    pub text_len: u32,
    /// Offset of the second text.
    pub aux_off: u32,
    /// Length of the second text.
    pub aux_len: u32,
    /// Offset of the third text.
    pub extra_off: u32,
    /// Length of the third text.
    pub extra_len: u32,
    /// Stream offset of the event's first byte.
    pub start: u64,
    /// Stream offset after the event's last byte.
    pub end: u64,
}

impl Record {
    /// Returns the update of this record, whose text and second text are these, or `None` if its kind is none of an
    /// update.
    #[inline(always)]
    #[doc(hidden)]
    pub fn update<'a>(&self, text: &'a [u8], aux: &'a [u8]) -> Option<Update<'a>> {
        let Record { flags, choice, call, code, number, .. } = *self;
        let kind = Kind::from_number(u32::from(self.kind))?;
        let some = |bytes| Some(Text::verbatim(bytes)).filter(|text| !text.is_empty());
        if kind != Kind::ToolCall {
            let text_part = Part::of(text, Text::verbatim(text));
            return Update::of(&Delta { flags, choice, call, code, text: text_part, ..Delta::new(kind) }, text);
        }
        let number = (flags & FLAG_NUMBER != 0).then_some(number);
        Some(Update::Call(CallUpdate {
            call,
            index: number.and_then(|index| u32::try_from(index).ok()),
            opens: flags & FLAG_OPENS != 0,
            reuses: flags & FLAG_REUSES != 0,
            id: some(text),
            kind: some(aux),
            custom: flags & FLAG_CUSTOM != 0,
            empty_arguments: flags & FLAG_EMPTY != 0,
        }))
    }
}

/// The text is in the scratch.
pub const FLAG_TEXT_SCRATCH: u16 = 1;
/// The second text is in the scratch.
pub const FLAG_AUX_SCRATCH: u16 = 2;
/// The third text is in the scratch.
pub const FLAG_EXTRA_SCRATCH: u16 = 4;

/// The array or the scratch is full.
struct RecordsFull;

/// A piece of a text is written only if the scratch has at least this much room, so that pieces do not become tiny.
const MIN_PIECE: usize = 16;

/// The sink of a batch: it writes a record for each delta, and decoded texts to a scratch.
///
/// ```
/// use deltawire::stream::{Emitter, Machine, Outcome, Record, Records};
/// use deltawire::{delta::Kind, track::Tracker, Config};
///
/// let input = b"data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\n\n";
/// let (mut machine, mut emitter) = (Machine::new(Config::default()), Emitter::new());
/// // An event that does not fit this memory is skipped, and reported as too long.
/// let (mut memory, mut tracker) = ([0; 512], Tracker::<8, 32>::new());
/// let (mut array, mut scratch) = ([Record::default(); 4], [0; 64]);
/// let mut records = Records::new(&mut array, &mut scratch, Kind::Content.bit());
/// let (spent, outcome) = emitter.run(&mut machine, &mut memory, &mut tracker, input, 0, &mut records);
/// assert_eq!((spent, outcome, records.written()), (input.len(), Outcome::Done, 1));
/// let Record { text_off, text_len, .. } = array[0];
/// assert_eq!(&input[text_off as usize..][..text_len as usize], b"Hi");
/// ```
pub struct Records<'s> {
    records: &'s mut [Record],
    written: usize,
    scratch: &'s mut [u8],
    used: usize,
    need: usize,
    /// The kinds that are written, as [`Kind::bit`]s.
    mask: u64,
    created: Created,
    last_chunk: Option<LastChunk>,
}

/// The record of the chunk before. The record of a chunk that [repeats](Context::repeats) that chunk differs only in
/// offsets.
struct LastChunk {
    /// Here the offsets of the texts count from their origins.
    record: Record,
    id: Origin,
    model: Origin,
}

/// What the offset of a text in a [`LastChunk`] is counted from: the beginning of its segment, or 0 if the text is absent.
struct Origin {
    segment: u8,
    /// All bits, or none if the text is absent. A mask takes fewer instructions than a condition.
    mask: u32,
}

impl Origin {
    fn new(segment: u8, len: u32) -> Self {
        Origin { segment, mask: if len > 0 { u32::MAX } else { 0 } }
    }

    /// Returns the origin in the input of an event whose payload lies at `at`.
    #[inline(always)]
    fn of(&self, index: &Index, at: u32) -> u32 {
        at.wrapping_add(index.base(self.segment)) & self.mask
    }
}

shown!("Records": Records<'_>, this => written: this.written, room: this.records.len(), scratch_used: this.used, scratch_len: this.scratch.len());

impl Sink for Records<'_> {
    #[inline(always)]
    fn is_full(&self) -> bool {
        !self.has_free_record()
    }

    #[inline(always)]
    fn uses_places(&self) -> bool {
        true
    }

    #[inline(always)]
    fn wants(&self, kind: Kind) -> bool {
        self.mask & kind.bit() != 0
    }

    #[inline(always)]
    fn put(&mut self, context: &Context<'_>, delta: &Delta, taken: &mut usize) -> Put {
        if !self.wants(delta.kind) {
            return Put::Go;
        }
        let payload = context.bytes();
        let done = match delta.kind {
            Kind::Content
            | Kind::Reasoning
            | Kind::Refusal
            | Kind::ToolArguments
            | Kind::FunctionArguments
            | Kind::Signature => {
                let written = *taken == 0 && self.put_now(context, delta);
                if written {
                    return Put::Go;
                }
                self.put_text(record_of(context, delta), delta.text, payload, taken)
            }
            Kind::Chunk => match context.chunk() {
                Some(chunk) if self.put_chunk(context, chunk) => Ok(()),
                _ => self.put_head(&{ *context }, &{ *delta }, taken),
            },
            _ => self.put_other(&{ *context }, &{ *delta }, taken),
        };
        match done {
            Ok(()) => Put::Go,
            Err(RecordsFull) => Put::Full,
        }
    }
}

/// The record of a delta, without its texts.
#[inline(always)]
fn record_of(context: &Context<'_>, delta: &Delta) -> Record {
    let Delta { kind, flags, choice, call, code, number, .. } = *delta;
    let (start, end) = (context.start, context.end);
    Record { kind: kind as u16, flags, choice, call, code, number, start, end, ..Record::default() }
}

/// The record of a chunk, without its texts.
#[inline(always)]
fn record_of_chunk(context: &Context<'_>, chunk: &Chunk<'_>, created: Option<u64>) -> Record {
    let flags = chunk.flags() | if created.is_some() { FLAG_NUMBER } else { 0 };
    let (code, number) = (chunk.choice_count(), created.unwrap_or(0));
    let (start, end) = (context.start, context.end);
    Record { kind: Kind::Chunk as u16, flags, code, number, start, end, ..Record::default() }
}

impl<'s> Records<'s> {
    /// A sink that writes deltas of the kinds in `mask` ([`Kind::bit`]) to `records`. Texts that must be decoded go to
    /// `scratch`, which should have at least 64 bytes.
    pub fn new(records: &'s mut [Record], scratch: &'s mut [u8], mask: u64) -> Self {
        Records { records, written: 0, scratch, used: 0, need: 0, mask, created: Created::default(), last_chunk: None }
    }

    /// How many records were written.
    pub fn written(&self) -> usize {
        self.written
    }

    /// How many bytes of the scratch were written.
    pub fn used(&self) -> usize {
        self.used
    }

    /// If not 0, the next record needs a scratch of this many bytes, because its texts are never split.
    pub fn need(&self) -> usize {
        self.need
    }

    /// Whether the array has room for another record.
    fn has_free_record(&self) -> bool {
        self.written < self.records.len()
    }

    /// Returns how many bytes the scratch has left.
    fn room(&self) -> usize {
        self.scratch.len().saturating_sub(self.used)
    }

    /// Writes a record whose texts have been written.
    fn put_record(&mut self, record: Record) -> Result<(), RecordsFull> {
        match self.records.get_mut(self.written) {
            Some(to) => {
                *to = record;
                self.written = self.written.saturating_add(1);
                Ok(())
            }
            None => Err(RecordsFull),
        }
    }

    /// Writes a delta as one record, whose text is in the input or, decoded, in the scratch. Returns `false`, without
    /// effect, if it does not fit.
    #[inline(always)]
    fn put_now(&mut self, context: &Context<'_>, delta: &Delta) -> bool {
        let payload = context.bytes();
        let stands = if delta.text.stands(payload.bytes) { payload.at(delta.text.start) } else { None };
        let (text_off, text_len, flag) = match stands {
            Some(at) => (at, delta.text.len, 0),
            None => match self.decode(delta.text, payload.bytes) {
                Some((at, len)) => (at, len, FLAG_TEXT_SCRATCH),
                None => return false,
            },
        };
        let Some(to) = self.records.get_mut(self.written) else { return false };
        let Delta { kind, choice, call, code, number, flags, .. } = *delta;
        let (start, end, flags) = (context.start, context.end, flags | flag);
        let kind = kind as u16;
        *to = Record { kind, flags, choice, call, code, number, text_off, text_len, start, end, ..Record::default() };
        // `written` was less than the length of the array, so this does not overflow.
        self.written = self.written.wrapping_add(1);
        true
    }

    /// Decodes a text to the scratch, if all of it fits and a record is free. Returns its offset and length there.
    #[inline(never)]
    fn decode(&mut self, part: Part, payload: &[u8]) -> Option<(u32, u32)> {
        let (at, has_free_record) = (self.used, self.has_free_record());
        let room = self.scratch.get_mut(at..).filter(|room| has_free_record && room.len() >= MIN_PIECE)?;
        let copied = part.text(payload).copy_to(room);
        if !copied.complete {
            return None;
        }
        self.used = at.saturating_add(copied.written);
        Some((at as u32, copied.written as u32))
    }

    /// Writes the record of a chunk without a name, if its ID and model are in the input and decode to themselves.
    /// Returns `false`, without effect, for any other chunk, or if no record is free.
    #[inline(always)]
    fn put_chunk(&mut self, context: &Context<'_>, chunk: &Chunk<'_>) -> bool {
        let last = self.last_chunk.as_ref().filter(|_| context.repeats());
        let (Some(LastChunk { record, id, model }), Some(at)) = (last, context.bytes().input()) else {
            // A copy is passed, because a pointer to the context would keep it out of registers.
            return self.put_first_chunk(&{ *context });
        };
        let Some(to) = self.records.get_mut(self.written) else { return false };
        let index = chunk.index();
        let text_off = record.text_off.wrapping_add(id.of(index, at));
        let aux_off = record.aux_off.wrapping_add(model.of(index, at));
        // The copy of the whole record uses vectors; then the members that differ are set.
        *to = *record;
        (to.text_off, to.aux_off) = (text_off, aux_off);
        (to.start, to.end) = (context.start, context.end);
        self.written = self.written.wrapping_add(1);
        true
    }

    /// [`put_chunk`](Self::put_chunk) for a chunk that does not repeat the chunk before.
    #[inline(never)]
    fn put_first_chunk(&mut self, context: &Context<'_>) -> bool {
        self.last_chunk = None;
        let Some(chunk) = context.chunk() else { return false };
        let payload = context.bytes();
        let place = |field| chunk.text_part(field).and_then(|part| in_input(part, payload));
        let (Some((text_off, text_len)), Some((aux_off, aux_len)), true) =
            (place(ChunkMember::Id), place(ChunkMember::Model), context.name().bytes.is_empty())
        else {
            return false;
        };
        let created = context.created(&mut self.created);
        let record = Record { text_off, text_len, aux_off, aux_len, ..record_of_chunk(context, chunk, created) };
        if let (Some([id, model]), Some(at)) = (chunk.fixed_segments(), payload.input()) {
            let (id, model) = (Origin::new(id, text_len), Origin::new(model, aux_len));
            let text_off = text_off.wrapping_sub(id.of(chunk.index(), at));
            let aux_off = aux_off.wrapping_sub(model.of(chunk.index(), at));
            self.last_chunk = Some(LastChunk { record: Record { text_off, aux_off, ..record }, id, model });
        }
        self.put_record(record).is_ok()
    }

    /// Writes a delta of the kinds that [`put`](Sink::put) does not write itself.
    #[inline(never)]
    fn put_other(&mut self, context: &Context<'_>, delta: &Delta, taken: &mut usize) -> Result<(), RecordsFull> {
        let payload = context.bytes();
        let record = record_of(context, delta);
        let (none, unsplit) = (Unsplit::NONE, |part: Part| Unsplit::part(part, payload));
        match delta.kind {
            Kind::Meta if Meta::from_number(delta.code).is_some_and(Meta::is_member) => {
                self.put_raw(record, delta.text, payload, taken)
            }
            Kind::Role | Kind::ToolCall | Kind::ToolName | Kind::FunctionName | Kind::Finish | Kind::Meta => {
                self.put_unsplit(record, unsplit(delta.text), unsplit(delta.aux), none)
            }
            Kind::ToolCallEnd | Kind::Frame | Kind::Limit | Kind::Quirk => self.put_record(record),
            Kind::Audio
            | Kind::Annotation
            | Kind::Media
            | Kind::Native
            | Kind::Logprobs
            | Kind::ChoiceError
            | Kind::Usage
            | Kind::Error
            | Kind::Payload => self.put_raw(record, delta.text, payload, taken),
            // Every kind has its name here, so that the compiler asks for an arm of a new one. Texts are written by
            // `put_text`, and nothing emits the reserved kinds.
            Kind::Sse
            | Kind::Comment
            | Kind::KeepAlive
            | Kind::Retry
            | Kind::LastEventId
            | Kind::Chunk
            | Kind::Malformed
            | Kind::TooLong
            | Kind::CommentTooLong
            | Kind::Done
            | Kind::None
            | Kind::Content
            | Kind::Reasoning
            | Kind::Refusal
            | Kind::ToolArguments
            | Kind::FunctionArguments
            | Kind::Signature
            | Kind::Message
            | Kind::PartBegin
            | Kind::PartEnd
            | Kind::Status
            | Kind::ToolResult => self.put_head(context, delta, taken),
        }
    }

    /// Writes the record of raw JSON, in pieces if it does not fit.
    #[inline(always)]
    fn put_raw(
        &mut self,
        record: Record,
        text: Part,
        payload: InputBytes<'_>,
        taken: &mut usize,
    ) -> Result<(), RecordsFull> {
        let bytes = InputBytes::new(text.bytes(payload.bytes), payload.at(text.start));
        self.put_bytes(record, bytes, taken, &Unsplit::NONE, &Unsplit::NONE)
    }

    /// Writes the record of the event itself.
    #[inline(never)]
    fn put_head(&mut self, context: &Context<'_>, delta: &Delta, taken: &mut usize) -> Result<(), RecordsFull> {
        let record = record_of(context, delta);
        let (none, name) = (Unsplit::NONE, Unsplit::bytes(context.name()));
        let id = Unsplit::bytes(InputBytes::new(context.id(), None));
        match context.event() {
            Some(Event::Chunk(chunk)) => {
                let [text, model] = [chunk.id(), chunk.model()].map(|text| {
                    let part = text.map_or(Part::NONE, |text| Part::of(context.payload(), text));
                    Unsplit::part(part, context.bytes())
                });
                self.put_unsplit(record_of_chunk(context, &chunk, chunk.created()), text, model, name)
            }
            Some(Event::Sse(_)) => {
                let name = if context.name().bytes.is_empty() { Unsplit::Bytes(b"message") } else { name };
                self.put_bytes(record, context.bytes(), taken, &name, &id)
            }
            Some(Event::Malformed(_)) => self.put_bytes(record, context.bytes(), taken, &none, &name),
            Some(Event::Comment(_) | Event::KeepAlive(_)) => {
                self.put_bytes(record, context.bytes(), taken, &none, &none)
            }
            Some(Event::LastEventId(_)) => self.put_unsplit(record, id, none, none),
            _ => self.put_record(record),
        }
    }

    /// Checks that the scratch has room for `len` bytes. Sets [`need`](Self::need) if it never can have.
    fn reserve(&mut self, len: usize) -> Result<(), RecordsFull> {
        if len <= self.room() {
            return Ok(());
        }
        if len > self.scratch.len() {
            self.need = len;
        }
        Err(RecordsFull)
    }

    /// Copies as many bytes as fit to the scratch. Returns their offset and length there.
    fn copy(&mut self, bytes: &[u8]) -> (u32, u32) {
        let at = self.used;
        let len = bytes.len().min(self.room());
        match (self.scratch.get_mut(at..at.saturating_add(len)), bytes.get(..len)) {
            (Some(to), Some(from)) if to.len() == from.len() => {
                to.copy_from_slice(from);
                self.used = at.saturating_add(len);
                (at as u32, len as u32)
            }
            _ => (0, 0),
        }
    }

    /// Writes a record with up to three texts that are not split.
    fn put_unsplit(
        &mut self,
        mut record: Record,
        text: Unsplit<'_>,
        aux: Unsplit<'_>,
        extra: Unsplit<'_>,
    ) -> Result<(), RecordsFull> {
        if !self.has_free_record() {
            return Err(RecordsFull);
        }
        self.reserve(text.scratch().saturating_add(aux.scratch()).saturating_add(extra.scratch()))?;
        self.set_text(&mut record, 0, &text);
        self.set_text(&mut record, 1, &aux);
        self.set_text(&mut record, 2, &extra);
        self.put_record(record)
    }

    /// Writes one of a record's texts, and sets its offset, length and flag in the record.
    #[inline(never)]
    fn set_text(&mut self, record: &mut Record, which: u32, text: &Unsplit<'_>) {
        let (off, len, flag) = match *text {
            Unsplit::Input(off, len) => (off, len, 0),
            Unsplit::Bytes(bytes) => {
                let (off, len) = self.copy(bytes);
                (off, len, FLAG_TEXT_SCRATCH << which)
            }
            Unsplit::Text(mut text, _) => {
                let at = self.used;
                let len = text.take_to(self.scratch.get_mut(at..).unwrap_or_default());
                self.used = at.saturating_add(len);
                (at as u32, len as u32, FLAG_TEXT_SCRATCH << which)
            }
        };
        record.flags |= flag;
        let (to_off, to_len) = match which {
            0 => (&mut record.text_off, &mut record.text_len),
            1 => (&mut record.aux_off, &mut record.aux_len),
            _ => (&mut record.extra_off, &mut record.extra_len),
        };
        (*to_off, *to_len) = (off, len);
    }

    /// Writes bytes that are reported as they are. Bytes that are not in the input are copied to the scratch, if
    /// necessary in pieces, each in a record of its own with copies of `aux` and `extra`. `taken` is how many bytes
    /// were written before.
    fn put_bytes(
        &mut self,
        record: Record,
        source: InputBytes<'_>,
        taken: &mut usize,
        aux: &Unsplit<'_>,
        extra: &Unsplit<'_>,
    ) -> Result<(), RecordsFull> {
        if let Some(off) = source.input() {
            return self.put_unsplit(record, Unsplit::Input(off, source.bytes.len() as u32), *aux, *extra);
        }
        let others = aux.scratch().saturating_add(extra.scratch());
        loop {
            if !self.has_free_record() {
                return Err(RecordsFull);
            }
            let mut record = record;
            let rest = source.bytes.get(*taken..).unwrap_or_default();
            // A piece is at least as long as the two texts that are copied with it, so that the work stays linear.
            self.reserve(others.saturating_add(rest.len().min(others.max(MIN_PIECE))))?;
            self.set_text(&mut record, 1, aux);
            self.set_text(&mut record, 2, extra);
            let (off, len) = self.copy(rest);
            record.flags |= FLAG_TEXT_SCRATCH;
            (record.text_off, record.text_len) = (off, len);
            *taken = taken.saturating_add(len as usize);
            let more = *taken < source.bytes.len();
            if more {
                record.flags |= FLAG_MORE;
            }
            self.put_record(record)?;
            if !more {
                return Ok(());
            }
        }
    }

    /// Decodes a text that did not fit as a whole to the scratch, in pieces, each in a record of its own. `taken` is
    /// how many raw bytes of it were written before.
    #[inline(never)]
    fn put_text(
        &mut self,
        record: Record,
        part: Part,
        payload: InputBytes<'_>,
        taken: &mut usize,
    ) -> Result<(), RecordsFull> {
        let mut text = part.behind(*taken).text(payload.bytes);
        loop {
            if !self.has_free_record() {
                return Err(RecordsFull);
            }
            self.reserve(MIN_PIECE)?;
            let at = self.used;
            let len = text.take_to(self.scratch.get_mut(at..).unwrap_or_default());
            self.used = at.saturating_add(len);
            *taken = (part.len as usize).saturating_sub(text.raw().len());
            let more = if text.is_empty() { 0 } else { FLAG_MORE };
            let flags = record.flags | FLAG_TEXT_SCRATCH | more;
            self.put_record(Record { flags, text_off: at as u32, text_len: len as u32, ..record })?;
            if more == 0 {
                return Ok(());
            }
        }
    }
}

/// Offset and length of a text in the input. `None` if the text is not in the input or does not decode to itself.
#[inline(always)]
fn in_input(part: Part, payload: InputBytes<'_>) -> Option<(u32, u32)> {
    if part.is_empty() {
        return Some((0, 0));
    }
    part.stands(payload.bytes).then_some((payload.at(part.start)?, part.len))
}

/// A text that is never split between records.
#[derive(Clone, Copy)]
enum Unsplit<'a> {
    /// It is in the input, at this offset, with this length.
    Input(u32, u32),
    /// It must be copied.
    Bytes(&'a [u8]),
    /// It must be decoded, which gives this many bytes.
    Text(Text<'a>, usize),
}

impl<'a> Unsplit<'a> {
    const NONE: Unsplit<'static> = Unsplit::Input(0, 0);

    /// A text that is reported as it is.
    fn bytes(bytes: InputBytes<'a>) -> Self {
        match bytes.input() {
            _ if bytes.bytes.is_empty() => Unsplit::NONE,
            Some(off) => Unsplit::Input(off, bytes.bytes.len() as u32),
            None => Unsplit::Bytes(bytes.bytes),
        }
    }

    /// A JSON string, which is reported decoded.
    fn part(part: Part, payload: InputBytes<'a>) -> Self {
        if let Some((off, len)) = in_input(part, payload) {
            return Unsplit::Input(off, len);
        }
        let text = part.text(payload.bytes);
        Unsplit::Text(text, text.decoded_len())
    }

    /// Returns how many bytes of the scratch the text needs.
    fn scratch(&self) -> usize {
        match self {
            Unsplit::Input(..) => 0,
            Unsplit::Bytes(bytes) => bytes.len(),
            Unsplit::Text(_, len) => *len,
        }
    }
}

#[cfg(test)]
mod tests;
