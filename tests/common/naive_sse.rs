//! A naive reader of event streams, for whole buffers, line by line.

use deltawire::sse::{Decoder, Item};
use deltawire::stream::{Event, Payload};
use deltawire::{Config, Framing, Limits, Parser, Storage};

/// An item or event, owned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seen {
    Event { name: Vec<u8>, data: Vec<u8>, id: Vec<u8> },
    Comment(Vec<u8>),
    Retry(u64),
    TooLong(u64),
    LastEventId(Vec<u8>),
}

impl Seen {
    pub fn of(item: Item<'_>) -> Seen {
        match item {
            Item::Event(event) => Seen::Event {
                name: event.name().to_vec(),
                data: event.data().to_vec(),
                id: event.last_event_id().to_vec(),
            },
            Item::Comment(text) => Seen::Comment(text.to_vec()),
            Item::Retry(time) => Seen::Retry(time),
            Item::TooLong { offset } => Seen::TooLong(offset),
            other => panic!("unknown item {other:?}"),
        }
    }

    pub fn of_event(event: Event<'_>) -> Seen {
        match event {
            Event::Sse(event) => Seen::of(Item::Event(event)),
            Event::Comment(text) => Seen::Comment(text.to_vec()),
            Event::Retry(time) => Seen::Retry(time),
            Event::TooLong { offset } | Event::CommentTooLong { offset } => Seen::TooLong(offset),
            Event::LastEventId(id) => Seen::LastEventId(id.to_vec()),
            other => panic!("unknown event {other:?}"),
        }
    }
}

/// What a reader returned, each with the ID in force: before the end of the stream, and at the end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    pub items: Vec<Seen>,
    pub id: Vec<u8>,
    pub rest: Vec<Seen>,
    pub rest_id: Vec<u8>,
}

impl Answer {
    /// What a decoder returns for these pieces of a stream.
    pub fn of_decoder<'p, S: Storage>(storage: S, limits: Limits, pieces: impl Iterator<Item = &'p [u8]>) -> Answer {
        let mut decoder = Decoder::with_limits(storage, limits);
        let mut answer = Answer::default();
        let mut offset = 0;
        for piece in pieces {
            let mut rest = piece;
            while let Some(item) = decoder.next(&mut rest) {
                answer.items.push(Seen::of(item));
                assert_eq!(decoder.offset(), offset + (piece.len() - rest.len()) as u64);
                assert!(answer.items.len() as u64 <= decoder.offset(), "items without end");
            }
            assert!(rest.is_empty(), "next said None and left bytes");
            offset += piece.len() as u64;
            assert_eq!(decoder.offset(), offset);
        }
        answer.id = decoder.last_event_id().to_vec();
        while let Some(item) = decoder.finish() {
            answer.rest.push(Seen::of(item));
            assert!(answer.rest.len() <= 2, "finish without end");
        }
        answer.rest_id = decoder.last_event_id().to_vec();
        assert!(decoder.finish().is_none());
        answer
    }

    /// What a parser with `Payload::Opaque` returns for them.
    pub fn of_parser<'p, S: Storage>(
        storage: S,
        framing: Framing,
        limits: Limits,
        pieces: impl Iterator<Item = &'p [u8]>,
    ) -> Answer {
        let config = Config::new().with_limits(limits).with_framing(framing).with_payload(Payload::Opaque);
        let mut parser = Parser::<_, 0>::with_slots(storage, config, deltawire::track::Tracker::new());
        let mut answer = Answer::default();
        let mut offset = 0;
        for piece in pieces {
            let mut rest = piece;
            while let Some(event) = parser.next(&mut rest).expect("no quirk is an error") {
                answer.items.push(Seen::of_event(*event));
            }
            assert!(rest.is_empty(), "next said None and left bytes");
            offset += piece.len() as u64;
            assert_eq!(parser.offset(), offset);
        }
        answer.id = parser.last_event_id().to_vec();
        while let Some(event) = parser.finish().expect("no quirk is an error") {
            answer.rest.push(Seen::of_event(*event));
        }
        answer.rest_id = parser.last_event_id().to_vec();
        answer
    }
}

/// The reader whose answer is expected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reader {
    /// `sse::Decoder`, which returns everything pending at the end.
    #[default]
    Decoder,
    /// A parser with `Payload::Opaque`, which returns nothing at the end and reports an ID that comes without an event.
    Parser,
}

/// The rules for a whole buffer, as the standard and the documentation of `Decoder` and `Event` state them.
#[derive(Default)]
pub struct Naive {
    reader: Reader,
    max_event: usize,
    max_id: usize,
    max_len: usize,
    seen: Vec<Seen>,
    start: Option<usize>,
    data: Option<Vec<u8>>,
    name: Vec<u8>,
    id: Vec<u8>,
    pending: Option<Vec<u8>>,
    slot: usize,
    discard: bool,
    mute: bool,
}

impl Naive {
    pub fn read(bytes: &[u8], reader: Reader, limits: Limits, max_len: usize) -> Answer {
        let mut naive = Naive {
            reader,
            max_event: limits.max_event_len() as usize,
            max_id: limits.max_id_len() as usize,
            max_len,
            ..Naive::default()
        };
        let mut at = if bytes.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
        while let Some(len) = bytes[at..].iter().position(|b| matches!(b, b'\r' | b'\n')) {
            naive.mute = false;
            naive.line(at, &bytes[at..at + len], true);
            at += len + if bytes[at + len..].starts_with(b"\r\n") { 2 } else { 1 };
        }
        naive.mute = false;
        let last = &bytes[at..];
        if !last.is_empty() {
            naive.line(at, last, false);
        }
        let (items, id) = (std::mem::take(&mut naive.seen), naive.id.clone());
        if reader == Reader::Decoder {
            if !last.is_empty() {
                naive.line(at, last, true);
            }
            naive.line(bytes.len(), b"", true);
        }
        Answer { items, id, rest: naive.seen, rest_id: naive.id }
    }

    /// Reads a line. If not `ended`, it is the part so far, which can only turn out too long.
    fn line(&mut self, at: usize, line: &[u8], ended: bool) {
        if line.is_empty() {
            let identified = self.pending.is_some();
            if let Some(id) = self.pending.take() {
                self.id = id;
            }
            let name = std::mem::take(&mut self.name);
            if let Some(data) = self.data.take() {
                self.seen.push(Seen::Event { name, data, id: self.id.clone() });
            } else if identified && self.reader != Reader::Decoder {
                self.seen.push(Seen::LastEventId(self.id.clone()));
            }
            self.start = None;
            self.discard = false;
            return;
        }
        let colon = line.iter().position(|b| *b == b':');
        let name = &line[..colon.unwrap_or(line.len())];
        let value = colon.map_or(&[][..], |colon| &line[colon + 1..]);
        let value = value.strip_prefix(b" ").unwrap_or(value);
        let limit = self.max_event.min(self.max_len.saturating_sub(2 * self.slot));
        let data_len = self.data.as_ref().map_or(0, Vec::len);
        if name.is_empty() {
            if !self.mute && data_len + self.name.len() + value.len() > limit {
                self.mute = true;
                self.seen.push(Seen::TooLong(at as u64));
            } else if ended && !self.mute {
                self.seen.push(Seen::Comment(value.to_vec()));
            }
            return;
        }
        if !ended && (colon.is_none() || value.is_empty()) {
            return;
        }
        if self.reader != Reader::Decoder && !matches!(name, b"data" | b"event" | b"id" | b"retry") {
            return;
        }
        let start = *self.start.get_or_insert(at);
        if name == b"retry" && ended && !value.is_empty() && value.iter().all(u8::is_ascii_digit) {
            self.seen.push(Seen::Retry(std::str::from_utf8(value).unwrap().parse().unwrap_or(u64::MAX)));
        }
        if self.discard {
            return;
        }
        let len = match name {
            b"data" => data_len + usize::from(self.data.is_some()) + value.len() + self.name.len(),
            b"event" => data_len + value.len(),
            _ => 0,
        };
        if len > limit {
            self.seen.push(Seen::TooLong(start as u64));
            self.discard = true;
            (self.data, self.pending) = (None, None);
            self.name.clear();
        } else if ended && name == b"data" {
            self.data = Some(self.data.take().map_or(value.to_vec(), |data| [&data, &b"\n"[..], value].concat()));
        } else if ended && name == b"event" {
            self.name = value.to_vec();
        } else if ended && name == b"id" {
            self.identify(value, data_len + self.name.len());
        }
    }

    fn identify(&mut self, value: &[u8], event_len: usize) {
        if value.contains(&0) || value.len() > self.max_id {
            return;
        }
        let slot = if value.len() > self.slot { (2 * self.slot).min(self.max_id).max(value.len()) } else { self.slot };
        if 2 * slot + event_len + value.len() <= self.max_len {
            self.slot = slot;
            self.pending = Some(value.to_vec());
        }
    }
}
