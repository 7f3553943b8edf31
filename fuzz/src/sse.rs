//! Compares event streams with a reader of WHATWG HTML 9.2.5 and 9.2.6 that has the whole stream.

use crate::input;
use crate::log::{escaped, same, Log};
use deltawire::sse::{Decoder, Field, Item, Lines};
use deltawire::stream::{Config, Event, Framing, Parser, Payload};
use deltawire::{Growing, Limits, Storage};

/// Limits that no input reaches.
const WIDE: Limits = Limits::new().with_max_event_len(1 << 30).with_max_id_len(1 << 30);

pub fn sse(data: &[u8]) {
    let (mut control, bytes) = input::split(data);
    let cuts = input::cuts(&mut control, bytes.len());
    let context = || format!("cuts {cuts:?}, stream b\"{}\"", escaped(bytes));
    let limits =
        Limits::new().with_max_event_len(u32::from(control.u8())).with_max_id_len(control.pick(&[0, 1, 8, 1024]));
    match input::which(&mut control, bytes.len(), 6) {
        0 => same(
            "the standard's events",
            &reference(bytes).0,
            &decode(Growing::new(), WIDE, bytes, &cuts, false),
            context,
        ),
        1 => {
            same("with what finish offers", &reference(bytes).1, &decode([0; 65536], WIDE, bytes, &cuts, true), context)
        }
        2 => same("lines", &lines_wanted(bytes), &lines(bytes, &cuts), context),
        3 => same("the parser's events", &events_of(bytes), &opaque(bytes, &cuts), context),
        // There is no reference for small limits; the cuts must not matter.
        4 => {
            let [whole, cut] = [&[][..], &cuts].map(|cuts| decode([0; 64], limits, bytes, cuts, true));
            same("64 bytes of storage", &whole, &cut, || format!("{limits:?}, {}", context()));
        }
        _ => {
            let [whole, cut] = [&[][..], &cuts].map(|cuts| decode(Growing::new(), limits, bytes, cuts, true));
            same("limits", &whole, &cut, || format!("{limits:?}, {}", context()));
        }
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Actual output

fn decode<S: Storage>(storage: S, limits: Limits, bytes: &[u8], cuts: &[usize], finish: bool) -> Log {
    let mut decoder = Decoder::with_limits(storage, limits);
    let mut log = Log::default();
    let mut items = 0;
    for mut piece in input::pieces(bytes, cuts) {
        while let Some(item) = decoder.next(&mut piece) {
            note(&mut log, &item);
            items += 1;
            assert!(items <= bytes.len() + 1, "items without end");
        }
        assert!(piece.is_empty(), "next said None and left bytes");
    }
    assert_eq!(decoder.offset(), bytes.len() as u64);
    if finish {
        while let Some(item) = decoder.finish() {
            note(&mut log, &item);
            items += 1;
            assert!(items <= bytes.len() + 2, "finish without end");
        }
    }
    log.line("last ID");
    log.put("id", decoder.last_event_id());
    log
}

fn note(log: &mut Log, item: &Item<'_>) {
    match item {
        Item::Event(event) => {
            put_event(log, event.event_type(), event.data(), event.last_event_id());
            for (text, bytes) in [
                (event.data_text(), event.data()),
                (event.event_type_text(), event.event_type()),
                (event.last_event_id_text(), event.last_event_id()),
            ] {
                assert_eq!(text.to_string(), String::from_utf8_lossy(bytes), "a text of the event");
            }
        }
        Item::Comment(text) => {
            log.line("comment");
            log.put("text", text);
        }
        Item::Retry(ms) => {
            log.line("retry");
            log.number("ms", *ms);
        }
        Item::TooLong { offset } => {
            log.line("too long");
            log.number("at", *offset);
        }
        item => panic!("{item:?}"),
    }
}

fn put_event(log: &mut Log, kind: &[u8], data: &[u8], id: &[u8]) {
    log.line("event");
    log.put("type", kind);
    log.put("data", data);
    log.put("id", id);
}

/// Returns the events of a parser with `Payload::Opaque`.
fn opaque(bytes: &[u8], cuts: &[usize]) -> Log {
    let config = Config::new().with_limits(WIDE).with_framing(Framing::Spec).with_payload(Payload::Opaque);
    let mut parser = Parser::with_tracker(Growing::new(), config, ());
    let mut log = Log::default();
    for mut piece in input::pieces(bytes, cuts) {
        while let Some(event) = parser.next(&mut piece).expect("no quirk is an error") {
            if let Event::Sse(event) = event {
                put_event(&mut log, event.event_type(), event.data(), event.last_event_id());
            }
        }
    }
    while let Some(event) = parser.finish().expect("no quirk is an error") {
        assert!(!matches!(event, Event::Sse(_)), "the standard drops a block without its blank line");
    }
    log
}

/// Returns lines joined from their pieces.
fn lines(bytes: &[u8], cuts: &[usize]) -> Log {
    let mut lines = Lines::new();
    let mut log = Log::default();
    let (mut value, mut open) = (Vec::new(), false);
    let mut pieces = 0;
    for mut piece in input::pieces(bytes, cuts) {
        while let Some(part) = lines.next(&mut piece) {
            assert!(part.held.as_slice().is_empty() || part.first && part.field == Field::Unknown);
            assert_eq!(part.first, !open, "the first piece of a line says so");
            open = !part.last;
            value.extend_from_slice(part.held.as_slice());
            value.extend_from_slice(part.value);
            if part.last {
                put_line(&mut log, part.field, &value);
                value.clear();
            }
            pieces += 1;
            assert!(pieces <= bytes.len() + 1 + cuts.len(), "pieces without end");
        }
        assert!(piece.is_empty());
    }
    if let Some(part) = lines.finish() {
        value.extend_from_slice(part.held.as_slice());
        value.extend_from_slice(part.value);
        put_line(&mut log, part.field, &value);
    }
    assert!(lines.finish().is_none());
    log
}

fn put_line(log: &mut Log, field: Field, value: &[u8]) {
    log.line("line");
    log.number("field", field as u64);
    log.put("value", value);
}

// ---------------------------------------------------------------------------------------------------------------------
// Expected output

/// Returns the lines of a stream without its byte order mark, and whether the last one had its end.
fn split_lines(bytes: &[u8]) -> (Vec<&[u8]>, bool) {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let (mut lines, mut start, mut at) = (Vec::new(), 0, 0);
    while at < bytes.len() {
        let end = at;
        match bytes[at] {
            b'\r' if bytes.get(at + 1) == Some(&b'\n') => at += 2,
            b'\r' | b'\n' => at += 1,
            _ => {
                at += 1;
                continue;
            }
        }
        lines.push(&bytes[start..end]);
        start = at;
    }
    if start < bytes.len() {
        lines.push(&bytes[start..]);
    }
    (lines, start == bytes.len())
}

/// Returns the field of a line and its value, which is empty for a line without a colon.
fn field(line: &[u8]) -> (Field, &[u8]) {
    if line.is_empty() {
        return (Field::Blank, b"");
    }
    let (name, value) = match line.iter().position(|byte| *byte == b':') {
        Some(colon) => (&line[..colon], &line[colon + 1..]),
        None => (line, &b""[..]),
    };
    let value = value.strip_prefix(b" ").unwrap_or(value);
    match name {
        b"" => (Field::Comment, value),
        b"data" => (Field::Data, value),
        b"event" => (Field::Event, value),
        b"id" => (Field::Id, value),
        b"retry" => (Field::Retry, value),
        _ => (Field::Unknown, line),
    }
}

fn lines_wanted(bytes: &[u8]) -> Log {
    let mut log = Log::default();
    for line in split_lines(bytes).0 {
        let (field, value) = field(line);
        put_line(&mut log, field, value);
    }
    log
}

#[derive(Default)]
struct Reference {
    log: Log,
    data: Vec<u8>,
    kind: Vec<u8>,
    id: Vec<u8>,
    last_id: Vec<u8>,
}

impl Reference {
    /// Reads one line as 9.2.6 prescribes. Comments and reconnection times are reported at once.
    fn line(&mut self, line: &[u8]) {
        match field(line) {
            (Field::Blank, _) => self.dispatch(),
            (Field::Comment, text) => {
                self.log.line("comment");
                self.log.put("text", text);
            }
            (Field::Event, value) => self.kind = value.to_vec(),
            (Field::Data, value) => {
                self.data.extend_from_slice(value);
                self.data.push(b'\n');
            }
            (Field::Id, value) if !value.contains(&0) => self.id = value.to_vec(),
            // Browsers read "only digits" as at least one digit.
            (Field::Retry, value) if !value.is_empty() && value.iter().all(u8::is_ascii_digit) => {
                let ms =
                    value.iter().fold(0u64, |ms, digit| ms.saturating_mul(10).saturating_add(u64::from(digit - b'0')));
                self.log.line("retry");
                self.log.number("ms", ms);
            }
            _ => {}
        }
    }

    fn dispatch(&mut self) {
        self.last_id = self.id.clone();
        let (data, kind) = (std::mem::take(&mut self.data), std::mem::take(&mut self.kind));
        if let Some((_, data)) = data.split_last() {
            let kind = if kind.is_empty() { b"message" } else { kind.as_slice() };
            put_event(&mut self.log, kind, data, &self.last_id);
        }
    }

    fn close(&self) -> Log {
        let mut log = self.log.clone();
        log.line("last ID");
        log.put("id", &self.last_id);
        log
    }
}

/// Returns the standard's result, and the result if the end of the stream ended line and block.
fn reference(bytes: &[u8]) -> (Log, Log) {
    let (mut lines, ended) = split_lines(bytes);
    let cut = if ended { None } else { lines.pop() };
    let mut reference = Reference::default();
    lines.into_iter().for_each(|line| reference.line(line));
    let standard = reference.close();
    cut.into_iter().for_each(|line| reference.line(line));
    reference.dispatch();
    (standard, reference.close())
}

fn events_of(bytes: &[u8]) -> Log {
    let (mut lines, ended) = split_lines(bytes);
    if !ended {
        lines.pop();
    }
    let mut reference = Reference::default();
    let mut events = Log::default();
    for line in lines {
        reference.line(line);
        if line.is_empty() {
            events.append(&reference.log);
        }
        reference.log.clear();
    }
    events
}
