//! Batches: what records tell, put together to the logs that pull and push make.

use crate::drive::most_events;
use crate::input::pieces;
use crate::log::Log;
use crate::told::{self, Told};
use crate::views;
use deltawire::chat::{Chunk, Index};
use deltawire::delta::{self, Kind};
use deltawire::stream::{self, Emitter, Machine, Outcome, Record, Records};
use deltawire::track::Tracker;
use deltawire::{Config, Error, Movable, Quirk, Stop};

/// How to read by batches.
#[derive(Clone, Copy, Debug)]
pub struct How {
    /// Bytes of storage to begin with.
    pub store: usize,
    /// The storage can be moved to a larger one.
    pub can_move: bool,
    /// Before each call it is moved to the smallest that will do, and the call is made once on other bytes and taken back.
    pub shake: bool,
    pub records: usize,
    pub scratch: usize,
    /// What the caller says lies before the bytes given.
    pub base: u32,
}

struct Reader<const SLOTS: usize> {
    machine: Machine<SLOTS>,
    tracker: Tracker,
    emitter: Emitter,
    how: How,
    store: Vec<u8>,
    /// It was just moved to a larger storage.
    moved: bool,
    scratch: Vec<u8>,
    records: Vec<Record>,
    told: Told,
    /// A record whose text came in pieces so far, and the text.
    open: Option<(Record, Vec<u8>)>,
    payload: Vec<u8>,
    /// Whether that is an error as a whole, and whether it is plain text.
    chunk_is: (bool, bool),
    /// Where the last frame ended.
    framed: u64,
}

/// Reads all of `input` by batches, and the end.
pub fn batch(config: Config, input: &[u8], cuts: &[usize], how: How) -> Told {
    batch_with::<2>(config, input, cuts, how)
}

/// The same with a machine that remembers so many shapes.
pub fn batch_with<const SLOTS: usize>(config: Config, input: &[u8], cuts: &[usize], how: How) -> Told {
    let mut reader: Reader<SLOTS> = Reader {
        machine: Machine::with_slots(config),
        tracker: Tracker::new(),
        emitter: Emitter::new(),
        how,
        store: vec![0xAA; how.store],
        moved: false,
        scratch: vec![0; how.scratch],
        records: vec![Record::default(); how.records.max(1)],
        told: Told::default(),
        open: None,
        payload: Vec::new(),
        chunk_is: (false, false),
        framed: 0,
    };
    // Each call brings a record, consumes a byte, or enlarges something; an event has a record for each of its bytes
    // at most, and some for itself.
    let most = 16 * most_events(input, cuts);
    let mut calls = 0;
    for mut piece in pieces(input, cuts) {
        while !reader.call(Some(&mut piece)) {
            calls += 1;
            assert!(calls <= most, "calls without end");
        }
        assert!(piece.is_empty(), "done, and bytes are left");
    }
    while !reader.call(None) {
        calls += 1;
        assert!(calls <= most, "finish without end");
    }
    let Reader { machine, store, mut told, open, framed, .. } = reader;
    assert_eq!(framed, input.len() as u64, "every byte lies in a frame");
    assert!(open.is_none(), "a text was left open");
    told::close(&mut told.end, machine.last_event_id(&store), machine.end(), |quirk| machine.quirk_count(quirk));
    told
}

impl<const SLOTS: usize> Reader<SLOTS> {
    /// Goes on otherwise, and back to a copy of what was: that is all there is.
    fn astray(&mut self, given: &[u8], finish: bool) {
        let saved = (self.machine.clone(), self.tracker.clone(), self.emitter.clone(), self.store.clone());
        let (mut records, mut scratch) = ([Record::default(); 3], [0; 64]);
        let mut sink = Records::new(&mut records, &mut scratch, u64::MAX);
        let mut store = Movable::new(&mut self.store, self.how.can_move);
        let (front, _) = given.split_at(given.len() / 2);
        if finish {
            self.emitter.run(&mut self.machine, &mut store, &mut self.tracker, b"data: {\"a\":", 7, &mut sink);
        } else if self.emitter.run(&mut self.machine, &mut store, &mut self.tracker, front, 7, &mut sink).1
            == Outcome::Done
        {
            self.emitter.finish(&mut self.machine, &mut store, &mut self.tracker, &mut sink);
        }
        (self.machine, self.tracker, self.emitter, self.store) = saved;
    }

    /// One call; `data` is taken off as it is spent. Says whether all is done.
    fn call(&mut self, data: Option<&mut &[u8]>) -> bool {
        let given = data.as_deref().copied().unwrap_or_default();
        let finish = data.is_none();
        if self.how.can_move && self.how.shake && !std::mem::take(&mut self.moved) {
            let pending = self.emitter.is_pending();
            let mut least = vec![0x55; self.machine.retained(&self.store, pending)];
            assert!(self.machine.relocate(&self.store, &mut least, pending), "retained is enough");
            self.store.fill(0xA5);
            self.store = least;
        }
        if self.how.shake {
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
        let mut told = (0, 0);
        for record in &records[..written] {
            self.take(*record, given, &scratch[..used]);
            let len = record.text_len as usize;
            match record.flags & stream::FLAG_TEXT_SCRATCH {
                0 if is_text(record) => told.0 += len,
                0 => {}
                _ => told.1 += len,
            }
        }
        assert!(told.0 <= given.len() && told.1 <= used, "{told:?} bytes of {} and {used}", given.len());
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
                told::error(&mut self.told.events, &Error::Quirk { quirk, offset })
            }
            outcome => panic!("{outcome:?}"),
        }
        false
    }

    fn take(&mut self, mut record: Record, given: &[u8], scratch: &[u8]) {
        let bytes = |flag: u16, off: u32, len: u32| {
            if len == 0 {
                return Vec::new();
            }
            let (from, off) = if record.flags & flag != 0 { (scratch, off) } else { (given, off - self.how.base) };
            from[off as usize..][..len as usize].to_vec()
        };
        let piece = bytes(stream::FLAG_TEXT_SCRATCH, record.text_off, record.text_len);
        let aux = bytes(stream::FLAG_AUX_SCRATCH, record.aux_off, record.aux_len);
        let extra = bytes(stream::FLAG_EXTRA_SCRATCH, record.extra_off, record.extra_len);
        let more = record.flags & delta::FLAG_MORE != 0;
        let places = stream::FLAG_TEXT_SCRATCH | stream::FLAG_AUX_SCRATCH | stream::FLAG_EXTRA_SCRATCH;
        record.flags &= !(delta::FLAG_MORE | places);
        (record.text_off, record.text_len, record.aux_off, record.extra_off) = (0, 0, 0, 0);
        let mut text = match self.open.take() {
            Some((before, text)) => {
                assert_eq!(before, record, "a piece of something else");
                text
            }
            None => Vec::new(),
        };
        text.extend_from_slice(&piece);
        if is_text(&record) {
            std::str::from_utf8(&piece).expect("a piece of text is UTF-8");
        }
        if more {
            assert!(!piece.is_empty(), "an empty piece");
            self.open = Some((record, text));
            return;
        }
        self.record(&record, &text, &aux, &extra);
    }

    fn record(&mut self, record: &Record, text: &[u8], aux: &[u8], extra: &[u8]) {
        let Record { start, end, number, code, .. } = *record;
        let has = |flag: u16| record.flags & flag != 0;
        let is = |kind: Kind| kind as u16 == record.kind;
        let Told { events, ranges, quirks, frames, .. } = &mut self.told;
        if is(Kind::Frame) {
            assert_eq!(start, self.framed, "frames lie one behind the other");
            assert!(end > start, "an empty frame");
            self.framed = end;
            frames.line("frame");
            frames.number("end", end);
            frames.number("choices", u64::from(code));
            frames.number("kinds", number);
            return;
        }
        if is(Kind::Quirk) {
            return told::quirks(quirks, Quirk::ALL[code as usize].into());
        }
        if is(Kind::Meta) || is(Kind::Annotation) {
            return;
        }
        if is(Kind::Payload) {
            self.payload = text.to_vec();
            self.chunk_is = (code != 0, has(delta::FLAG_PLAIN));
            return;
        }
        let head = |events: &mut Log, ranges: &mut Log, word: &'static str| {
            events.line(word);
            ranges.line(word);
            ranges.number("start", start);
            ranges.number("end", end);
        };
        if is(Kind::Chunk) {
            head(events, ranges, "chunk");
            events.number("start", start);
            events.number("end", end);
            events.put("name", extra);
            let payload = std::mem::take(&mut self.payload);
            self.views(record, &payload, text, aux);
        } else if is(Kind::Sse) {
            head(events, ranges, "sse");
            events.put("data", text);
            events.put("type", aux);
            events.put("id", extra);
        } else if is(Kind::Done) {
            head(events, ranges, "done");
        } else if is(Kind::Comment) {
            head(events, ranges, "comment");
            events.put("bytes", text);
        } else if is(Kind::KeepAlive) {
            head(events, ranges, "keep-alive");
            events.put("bytes", text);
        } else if is(Kind::LastEventId) {
            head(events, ranges, "id");
            events.put("bytes", text);
        } else if is(Kind::Retry) {
            head(events, ranges, "retry");
            events.number("ms", number);
        } else if is(Kind::Malformed) {
            head(events, ranges, "malformed");
            events.put("payload", text);
            events.number("kind", u64::from(code));
            events.number("at", number);
            events.put("name", extra);
        } else if is(Kind::TooLong) {
            head(events, ranges, "too-long");
            events.number("at", start);
        } else if is(Kind::CommentTooLong) {
            head(events, ranges, "comment-too-long");
            events.number("at", start);
        } else if is(Kind::Limit) {
            let offset = start;
            let error = match code {
                1 => Error::TooManyChoices { offset },
                2 => Error::TooManyCalls { offset },
                3 => Error::BadIndex { offset },
                _ => panic!("a limit without a number: {record:?}"),
            };
            told::error(events, &error);
        } else {
            self.update(record, text, aux, has);
        }
    }

    /// What the payload tells when it is read anew, as the C interface does.
    fn views(&mut self, record: &Record, payload: &[u8], id: &[u8], model: &[u8]) {
        let mut index = Index::new();
        let (is_error, plain) = self.chunk_is;
        let chunk = if plain {
            Chunk::of_plain_text(payload, &mut index)
        } else {
            Chunk::of_event(payload, &mut index, is_error).expect("a payload that was given as a chunk")
        };
        let is = |text: Option<deltawire::json::Text<'_>>| text.map_or(String::new(), |text| text.to_string());
        assert_eq!(is(chunk.id()).as_bytes(), id, "the record's ID");
        assert_eq!(is(chunk.model()).as_bytes(), model, "the record's model");
        let created = (record.flags & delta::FLAG_NUMBER != 0).then_some(record.number);
        assert_eq!(chunk.created(), created, "the record's time");
        assert_eq!(chunk.choice_count(), record.code, "the record's number of choices");
        views::chunk(&mut self.told.events, &chunk);
    }

    fn update(&mut self, record: &Record, text: &[u8], aux: &[u8], has: impl Fn(u16) -> bool) {
        let events = &mut self.told.events;
        let words = [
            (Kind::Role, "role"),
            (Kind::Content, "content"),
            (Kind::Reasoning, "reasoning"),
            (Kind::Refusal, "refusal"),
            (Kind::ToolCall, "call"),
            (Kind::ToolName, "name"),
            (Kind::ToolArguments, "arguments"),
            (Kind::FunctionName, "function-name"),
            (Kind::FunctionArguments, "function-arguments"),
            (Kind::Audio, "audio"),
            (Kind::Logprobs, "logprobs"),
            (Kind::Message, "message"),
            (Kind::Finish, "finish"),
            (Kind::ChoiceError, "choice-error"),
            (Kind::Usage, "usage"),
            (Kind::Error, "error"),
        ];
        let (kind, word) =
            words.into_iter().find(|(kind, _)| *kind as u16 == record.kind).expect("a kind that is known");
        events.line(word);
        events.number("choice", u64::from(record.choice));
        events.number("call", u64::from(record.call));
        match kind {
            Kind::ToolCall => {
                events.number("index", record.number);
                events.show("is", (has(delta::FLAG_OPENS), has(delta::FLAG_REUSES), has(delta::FLAG_CUSTOM)));
                events.put("id", text);
                events.put("kind", aux);
            }
            Kind::ToolName | Kind::FunctionName => {
                events.put("text", text);
                events.number("replaces", u64::from(has(delta::FLAG_REPLACES)));
            }
            Kind::Finish => {
                events.put("text", text);
                events.number("kind", u64::from(record.code));
            }
            Kind::ChoiceError | Kind::Error if has(delta::FLAG_PLAIN) => events.put("plain", text),
            Kind::Audio | Kind::Logprobs | Kind::Message | Kind::Usage | Kind::ChoiceError | Kind::Error => {
                events.put("raw", text);
            }
            _ => events.put("text", text),
        }
    }
}

/// Whether what a record brings is text: no bytes of the wire, no JSON.
fn is_text(record: &Record) -> bool {
    let raw = [
        Kind::Payload,
        Kind::Sse,
        Kind::Malformed,
        Kind::Comment,
        Kind::KeepAlive,
        Kind::LastEventId,
        Kind::Audio,
        Kind::Logprobs,
        Kind::Message,
        Kind::ChoiceError,
        Kind::Usage,
        Kind::Error,
    ];
    !raw.iter().any(|kind| *kind as u16 == record.kind)
}
