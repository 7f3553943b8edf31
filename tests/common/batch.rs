//! Reads streams by batch, and converts the records to the logs that pull and push produce.

use super::drive::most_events;
use super::event_log::{Detail, Logs, Seen};
use super::input::pieces;
use super::records::{each_record, Room};
use deltawire::chat::{CallUpdate, Chunk, Index, NamePiece};
use deltawire::delta::{self, Kind, Meta};
use deltawire::json::Text;
use deltawire::stream::{self, Emitter, Event, Machine, Outcome, Record, Records};
use deltawire::track::Tracker;
use deltawire::{Config, Delta, Error, Movable, Quirk, Stop, Update};

/// How to read by batch.
#[derive(Clone, Copy, Debug)]
pub struct How {
    /// Bytes of storage at the start.
    pub store: usize,
    /// Whether the storage can be moved to a larger one.
    pub can_move: bool,
    /// Before the first calls, and [`seldom`] later, moves to the smallest sufficient storage, then makes the call on
    /// other bytes and restores the previous state.
    pub shake: bool,
    pub records: usize,
    pub scratch: usize,
    /// The offset that the caller gives to the first byte.
    pub base: u32,
    /// How much to log.
    pub detail: Detail,
}

struct Reader<const SLOTS: usize> {
    machine: Machine<SLOTS>,
    tracker: Tracker,
    emitter: Emitter,
    how: How,
    store: Vec<u8>,
    /// Whether it was just moved to a larger storage.
    moved: bool,
    calls: usize,
    scratch: Vec<u8>,
    records: Vec<Record>,
    logs: Logs,
    /// A record whose text is incomplete, and the text so far.
    open: Option<(Record, Vec<u8>)>,
    payload: Vec<u8>,
    /// Whether the chunk is an error as a whole, and whether that error is plain text.
    chunk_is: (bool, bool),
    /// The end of the last frame.
    framed: u64,
}

/// Reads all of `input` by batch, and the end of the stream.
pub fn batch(config: Config, input: &[u8], cuts: &[usize], how: How) -> Logs {
    batch_with::<2>(config, input, cuts, how)
}

/// Whether to disturb the `nth` call: each at first, then few, because copies of a state take more time than the call.
pub fn seldom(nth: usize) -> bool {
    nth < 64 || nth % 16 == 0
}

/// Returns where each frame of a stream ends, and how many bytes had come when it was emitted, one more at the end of the stream. The
/// stream comes in slices of `slice` bytes.
pub fn frames(input: &[u8], slice: usize) -> Vec<(usize, usize)> {
    let (mut frames, room) = (Vec::new(), Room { records: 8, scratch: 64 });
    let (tracker, pieces) = (&mut Tracker::<8, 32>::new(), input.chunks(slice));
    each_record::<2>(Config::default(), tracker, pieces, Kind::Frame.bit(), room, |frame, _, came| {
        frames.push((frame.end as usize, came));
    });
    frames
}

/// Like [`batch`], with a machine that remembers `SLOTS` shapes.
pub fn batch_with<const SLOTS: usize>(config: Config, input: &[u8], cuts: &[usize], how: How) -> Logs {
    let mut reader: Reader<SLOTS> = Reader {
        machine: Machine::with_slots(config),
        tracker: Tracker::new(),
        emitter: Emitter::new(),
        how,
        store: vec![0xAA; how.store],
        moved: false,
        calls: 0,
        scratch: vec![0; how.scratch],
        records: vec![Record::default(); how.records.max(1)],
        logs: Logs::new(how.detail),
        open: None,
        payload: Vec::new(),
        chunk_is: (false, false),
        framed: 0,
    };
    // Each call returns a record, consumes a byte, or enlarges something. An event has at most one record for each
    // byte, and a few of its own.
    let most = 16 * most_events(input, cuts);
    for mut piece in pieces(input, cuts) {
        while !reader.call(Some(&mut piece)) {
            assert!(reader.calls <= most, "calls without end");
        }
        assert!(piece.is_empty(), "done, and bytes are left");
    }
    while !reader.call(None) {
        assert!(reader.calls <= most, "finish without end");
    }
    let Reader { machine, store, mut logs, open, framed, .. } = reader;
    assert_eq!(framed, input.len() as u64, "every byte lies in a frame");
    assert!(open.is_none(), "a text was left open");
    logs.close(machine.last_event_id(&store), machine.end(), |quirk| machine.quirk_count(quirk));
    logs
}

impl<const SLOTS: usize> Reader<SLOTS> {
    /// Makes a call on other bytes, then restores a copy of the state: that must undo everything.
    fn astray(&mut self, given: &[u8], finish: bool) {
        let saved = (self.machine.clone(), self.tracker.clone(), self.emitter.clone(), self.store.clone());
        let (mut records, mut scratch) = ([Record::default(); 3], [0; 64]);
        let mut sink = Records::new(&mut records, &mut scratch, u64::MAX);
        let mut store = Movable::new(&mut self.store, self.how.can_move);
        let (front, _) = given.split_at(given.len() / 2);
        if finish {
            let _ = self.emitter.run(&mut self.machine, &mut store, &mut self.tracker, b"data: {\"a\":", 7, &mut sink);
        } else if self.emitter.run(&mut self.machine, &mut store, &mut self.tracker, front, 7, &mut sink).1
            == Outcome::Done
        {
            let _ = self.emitter.finish(&mut self.machine, &mut store, &mut self.tracker, &mut sink);
        }
        (self.machine, self.tracker, self.emitter, self.store) = saved;
    }

    /// Makes one call and removes the consumed bytes from `data`. Returns whether all is done.
    fn call(&mut self, data: Option<&mut &[u8]>) -> bool {
        let given = data.as_deref().copied().unwrap_or_default();
        let finish = data.is_none();
        let shake = self.how.shake && seldom(self.calls);
        self.calls += 1;
        if self.how.can_move && shake && !std::mem::take(&mut self.moved) {
            let pending = self.emitter.is_pending();
            let more = [0, 3, 256][self.calls % 3];
            let mut store = vec![0x55; self.machine.retained(&self.store, pending) + more];
            assert!(self.machine.relocate(&self.store, &mut store, pending), "retained is enough");
            self.store.fill(0xA5);
            self.store = store;
        }
        if shake {
            self.astray(given, finish);
        }
        let mut records = std::mem::take(&mut self.records);
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.fill(0xA5);
        let mut sink = Records::new(&mut records, &mut scratch, u64::MAX);
        let mut store = Movable::new(&mut self.store, self.how.can_move);
        let (spent, outcome) = if finish {
            (0, self.emitter.finish(&mut self.machine, &mut store, &mut self.tracker, &mut sink))
        } else {
            self.emitter.run(&mut self.machine, &mut store, &mut self.tracker, given, self.how.base, &mut sink)
        };
        let (written, used, need) = (sink.written(), sink.used(), sink.need());
        assert!(spent <= given.len(), "more was spent than given");
        assert!(written <= records.len() && used <= scratch.len(), "more was written than there is room for");
        let mut emitted = (0, 0);
        for record in &records[..written] {
            self.take(*record, given, &scratch[..used]);
            let len = record.text_len as usize;
            match record.flags & stream::FLAG_TEXT_SCRATCH {
                0 if is_text(record) => emitted.0 += len,
                0 => {}
                _ => emitted.1 += len,
            }
        }
        assert!(emitted.0 <= given.len() && emitted.1 <= used, "{emitted:?} bytes of {} and {used}", given.len());
        if let Some(data) = data {
            *data = &data[spent..];
        }
        let enlarged = need > scratch.len();
        if enlarged {
            scratch = vec![0; need];
        }
        (self.records, self.scratch) = (records, scratch);
        match outcome {
            Outcome::Done => return true,
            Outcome::Full => assert!(written > 0 || spent > 0 || enlarged, "neither progress nor a reason"),
            Outcome::NeedStorage(need) => {
                assert!(self.how.can_move && need.len > self.store.len(), "storage that is no larger is wanted");
                let mut larger = vec![0x55; need.len];
                assert!(self.machine.relocate(&self.store, &mut larger, self.emitter.is_pending()), "larger is enough");
                self.store.fill(0xA5);
                self.store = larger;
                self.moved = true;
            }
            Outcome::Stopped(Stop::Error(Error::Quirk { quirk, offset })) => {
                self.logs.error(&Error::Quirk { quirk, offset });
            }
            outcome => panic!("{outcome:?}"),
        }
        false
    }

    fn take(&mut self, mut record: Record, given: &[u8], scratch: &[u8]) {
        let bytes = |flag: u16, off: u32, len: u32| {
            if len == 0 {
                return &[][..];
            }
            let (from, off) = if record.flags & flag != 0 { (scratch, off) } else { (given, off - self.how.base) };
            &from[off as usize..][..len as usize]
        };
        let piece = bytes(stream::FLAG_TEXT_SCRATCH, record.text_off, record.text_len);
        let aux = bytes(stream::FLAG_AUX_SCRATCH, record.aux_off, record.aux_len);
        let extra = bytes(stream::FLAG_EXTRA_SCRATCH, record.extra_off, record.extra_len);
        let more = record.flags & delta::FLAG_MORE != 0;
        let places = stream::FLAG_TEXT_SCRATCH | stream::FLAG_AUX_SCRATCH | stream::FLAG_EXTRA_SCRATCH;
        record.flags &= !(delta::FLAG_MORE | places);
        (record.text_off, record.text_len, record.aux_off, record.extra_off) = (0, 0, 0, 0);
        if is_text(&record) {
            std::str::from_utf8(piece).expect("a piece of text is UTF-8");
        }
        let mut text = match self.open.take() {
            Some((before, text)) => {
                assert_eq!(before, record, "a piece of something else");
                text
            }
            None if !more => return self.record(&record, piece, aux, extra),
            None => Vec::new(),
        };
        text.extend_from_slice(piece);
        if more {
            assert!(!piece.is_empty(), "an empty piece");
            self.open = Some((record, text));
            return;
        }
        self.record(&record, &text, aux, extra);
    }

    fn record(&mut self, record: &Record, text: &[u8], aux: &[u8], extra: &[u8]) {
        let Record { choice, start, end, number, code, flags, .. } = *record;
        let kind = Kind::from_number(record.kind.into()).expect("a kind");
        let logs = &mut self.logs;
        let seen = match kind {
            Kind::Frame => {
                assert_eq!(start, self.framed, "frames lie one behind the other");
                assert!(end > start, "an empty frame");
                self.framed = end;
                logs.frames.line("frame");
                logs.frames.number("end", end);
                logs.frames.number("choices", u64::from(code));
                logs.frames.number("kinds", number);
                return;
            }
            Kind::Quirk => return logs.quirks(Quirk::ALL[code as usize].into()),
            Kind::Payload => {
                self.payload = text.to_vec();
                self.chunk_is = (code != 0, flags & delta::FLAG_PLAIN != 0);
                return;
            }
            Kind::Limit => {
                let offset = start;
                return logs.error(&match code {
                    1 => Error::TooManyChoices { choice, offset },
                    2 => Error::TooManyCalls { choice, offset },
                    3 => Error::BadIndex { choice, offset },
                    _ => panic!("a limit without a number: {record:?}"),
                });
            }
            Kind::Chunk => {
                self.chunk(record, text, aux, extra);
                "chunk"
            }
            Kind::Sse => {
                logs.sse(aux, text, extra);
                "sse"
            }
            Kind::Malformed => {
                logs.malformed(text, code, number, extra);
                "malformed"
            }
            Kind::Done => logs.event(&Event::Done).word,
            Kind::Comment => logs.event(&Event::Comment(text)).word,
            Kind::KeepAlive => logs.event(&Event::KeepAlive(text)).word,
            Kind::LastEventId => logs.event(&Event::LastEventId(text)).word,
            Kind::Retry => logs.event(&Event::Retry(number)).word,
            Kind::TooLong => logs.event(&Event::TooLong { offset: start }).word,
            Kind::CommentTooLong => logs.event(&Event::CommentTooLong { offset: start }).word,
            Kind::Finish => return logs.finish(choice, Text::verbatim(text), code),
            _ => {
                let update = update(kind, record, text, aux).expect("an update");
                return logs.update(choice, &update);
            }
        };
        self.logs.place(Seen { word: seen, bytes: 0 }, start..end);
    }

    /// Reads the payload again, as the C interface does.
    fn chunk(&mut self, record: &Record, id: &[u8], model: &[u8], name: &[u8]) {
        let payload = std::mem::take(&mut self.payload);
        if record.flags & delta::FLAG_NATIVE != 0 {
            // An event of another protocol cannot be read again without the events before it.
            let some = |text| Some(Text::verbatim(text)).filter(|text| !text.is_empty());
            let created = (record.flags & delta::FLAG_NUMBER != 0).then_some(record.number);
            return self.logs.head(record.start..record.end, name, some(id), some(model), created);
        }
        let mut index = Index::new();
        let (is_error, plain) = self.chunk_is;
        let chunk = if plain {
            Chunk::of_plain_text(&payload, &mut index)
        } else {
            Chunk::of_event(&payload, &mut index, is_error).expect("a payload that was given as a chunk")
        };
        let is = |text: Option<Text<'_>>| text.map_or(String::new(), |text| text.to_string());
        assert_eq!(is(chunk.id()).as_bytes(), id, "the record's ID");
        assert_eq!(is(chunk.model()).as_bytes(), model, "the record's model");
        let created = (record.flags & delta::FLAG_NUMBER != 0).then_some(record.number);
        assert_eq!(chunk.created(), created, "the record's time");
        assert_eq!(chunk.choice_count(), record.code, "the record's number of choices");
        self.logs.chunk(record.start..record.end, name, &chunk);
    }
}

/// Returns the update that a record holds.
fn update<'a>(kind: Kind, record: &Record, text: &'a [u8], aux: &'a [u8]) -> Option<Update<'a>> {
    let Record { flags, choice, call, number, .. } = *record;
    let some = |bytes| Some(Text::verbatim(bytes)).filter(|text| !text.is_empty());
    let piece = if flags & delta::FLAG_REPLACES != 0 { NamePiece::Replaces } else { NamePiece::Appends };
    let decoded = Text::verbatim(text);
    Some(match kind {
        Kind::Role => Update::Role(decoded),
        Kind::Content => Update::Content(decoded),
        Kind::Reasoning => Update::Reasoning(decoded),
        Kind::Refusal => Update::Refusal(decoded),
        Kind::Signature => Update::Signature(decoded),
        Kind::ToolCall => {
            let mut update = CallUpdate::default();
            update.call = call;
            update.index = (flags & delta::FLAG_NUMBER != 0).then_some(number as u32);
            update.opens = flags & delta::FLAG_OPENS != 0;
            update.reuses = flags & delta::FLAG_REUSES != 0;
            update.id = some(text);
            update.kind = some(aux);
            update.custom = flags & delta::FLAG_CUSTOM != 0;
            Update::Call(update)
        }
        Kind::ToolName => Update::CallName { call, text: decoded, piece },
        Kind::ToolArguments => Update::CallArguments { call, text: decoded },
        Kind::FunctionName => Update::FunctionName { text: decoded, piece },
        Kind::FunctionArguments => Update::FunctionArguments(decoded),
        Kind::Meta if !is_member(record) => Update::Meta(Meta::from_number(record.code)?, decoded),
        // Raw JSON, and values found in it.
        _ => {
            let mut delta = Delta { flags, choice, call, code: record.code, ..Delta::new(kind) };
            delta.text.len = text.len() as u32;
            return Update::of(&delta, text);
        }
    })
}

/// Whether a record contains text, not bytes of the wire or JSON.
fn is_text(record: &Record) -> bool {
    let raw = [
        Kind::Payload,
        Kind::Sse,
        Kind::Malformed,
        Kind::Comment,
        Kind::KeepAlive,
        Kind::LastEventId,
        Kind::Annotation,
        Kind::Audio,
        Kind::Logprobs,
        Kind::Media,
        Kind::Native,
        Kind::ChoiceError,
        Kind::Usage,
        Kind::Error,
    ];
    !is_member(record) && !raw.iter().any(|kind| *kind as u16 == record.kind)
}

/// Whether it is a member that no other kind is made of: raw JSON.
fn is_member(record: &Record) -> bool {
    record.kind == Kind::Meta as u16 && Meta::from_number(record.code).is_some_and(Meta::is_member)
}
