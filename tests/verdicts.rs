//! The verdict of random streams, against a naive classifier of whole buffers that follows the order of the verdicts in
//! `docs/quirks.md` (F12, F18 to F28, C25) and `Verdict`. It reads values with `serde_json`.

use crate::common::log::escaped;
use crate::common::random::Random;
use deltawire::stream::{Media, Pending, Protocol};
use deltawire::track::Tracker;
use deltawire::{Config, Flow, Limits, Parser, Quirk, Stop, Update, Verdict};
use serde_json::Value;
use std::collections::BTreeSet;

/// The limit of an event.
const MAX: usize = 200;

/// What a stream is made of. Each piece ends what it begins; the cut ends the stream anywhere.
const PIECES: &[&str] = &[
    "\n",
    " \t\n",
    ": ping\n\n",
    ":\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}}]}\n\n",
    "data: {\"choices\":[{\"index\":1,\"delta\":{\"content\":\"b\"}}]}\n\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n",
    "data: {\"choices\":[{\"index\":1,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n",
    "data: {\"choices\":[]}\n\n",
    "event: message\nid: 7\ndata: {\"choices\":[]}\n\n",
    "data: {\"error\":{\"message\":\"no\"}}\n\n",
    "event: error\ndata: {\"message\":\"no\"}\n\n",
    "event: error\ndata: overloaded\n\n",
    "error: {\"message\":\"no\"}\n\n",
    "error: out of memory\n\n",
    "data: {\"event_type\":\"interaction.created\"}\n\n",
    "event: x\ndata: {\"a\":1}\n\n",
    "event: x\ndata: odd\n\n",
    "data: odd\n\n",
    "data:\n\n",
    "id: 7\n\n",
    "retry: 5\n\n",
    "event: x\n\n",
    "data: [DONE]\n\n",
    "[DONE]\n",
    "{\"object\":\"chat.completion\",\"choices\":[{\"index\":0,\"message\":{\"content\":\"a\"}}]}\n",
    "{\"choices\":[{\"index\":0,\"message\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}\n",
    "{\"choices\":[{\"index\":0,\"message\":{}}]}\n",
    "{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}}]}\n",
    "{\"choices\":[]}\n",
    "{\"error\":{\"message\":\"no\"}}\n",
    "{\"message\":\"no\"}\n",
    "{\"message\":\"no\",\"choices\":null,\"data\":null}\n",
    "{\"message\":\"ok\",\"code\":0}\n",
    "{\"object\":\"list\",\"data\":[]}\n",
    "42\n",
    "\"a text\"\n",
    "<html>\n",
    "\x1f\u{8b}",
    "\x01\x02\n",
    "upstream connect error\n",
    "{not json}\n",
];

fn stream(random: &mut Random) -> Vec<u8> {
    let mut bytes = Vec::new();
    for _ in 0..1 + random.below(4) {
        match random.below(PIECES.len() + 2) {
            // Over the limit.
            at if at == PIECES.len() => {
                bytes.extend_from_slice(format!("data: {{\"a\":\"{}\"}}\n\n", "a".repeat(MAX)).as_bytes());
            }
            at if at > PIECES.len() => {
                bytes.extend_from_slice(format!("{{\"a\":\"{}\"}}\n", "a".repeat(MAX)).as_bytes());
            }
            // The second byte of gzip is no text.
            at if PIECES[at].starts_with('\x1f') => bytes.extend_from_slice(b"\x1f\x8b\x08\0\n"),
            at => bytes.extend_from_slice(PIECES[at].as_bytes()),
        }
    }
    if random.below(2) == 0 {
        bytes.truncate(random.below(bytes.len() + 1));
    }
    if random.below(4) == 0 {
        let lines: Vec<_> = bytes.split(|byte| *byte == b'\n').collect();
        bytes = lines.join(&b"\r\n"[..]);
    }
    bytes
}

/// What is known of a stream when it ends.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Known {
    verdict: Verdict,
    media: Option<Media>,
    pending: Pending,
    complete: bool,
    /// The first bytes, up to the first field.
    first: Vec<u8>,
}

#[derive(Default)]
struct Naive {
    // The open block.
    name: String,
    data: Option<String>,
    is_open: bool,
    is_error: bool,
    // What came.
    has_field: bool,
    done: bool,
    chunk: bool,
    foreign: bool,
    field_error: bool,
    raw_error: bool,
    seen: BTreeSet<u64>,
    finished: BTreeSet<u64>,
    lost: u32,
    /// Raw JSON objects, and how many were too long.
    raw: Vec<Value>,
    raw_too_long: usize,
    /// Lines that are no field, no comment and no JSON object.
    others: Vec<String>,
    /// The last of them was cut.
    cut_other: bool,
    /// The stream ended in a line that is more than blanks, a comment or the beginning of a field's name.
    has_more: bool,
    pending: Pending,
    /// How many lines came, and how many before the first field.
    lines: usize,
    before_fields: Option<usize>,
}

impl Naive {
    fn read(bytes: &[u8]) -> Known {
        // Bytes that are no UTF-8 are those of gzip alone.
        let text: String = bytes.iter().map(|byte| char::from(*byte)).collect();
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        let mut naive = Naive::default();
        let mut lines: Vec<&str> = text.split('\n').collect();
        let last = lines.pop().unwrap_or_default();
        lines.iter().for_each(|line| naive.line(line));
        if !last.is_empty() {
            naive.last_line(last);
        }
        naive.last_block();
        let before_fields = naive.before_fields;
        let mut known = naive.conclude(text.trim_start_matches([' ', '\t', '\n']));
        let before = bytes.split_inclusive(|byte| *byte == b'\n').take(before_fields.unwrap_or(usize::MAX));
        known.first = before.flatten().copied().skip_while(|byte| b" \t\r\n".contains(byte)).take(128).collect();
        known
    }

    fn line(&mut self, line: &str) {
        self.lines += 1;
        if line.is_empty() {
            return self.blank();
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        match field {
            "" => {}
            "data" | "event" | "id" | "retry" => self.field(field, value.strip_prefix(' ').unwrap_or(value)),
            "error" if !value.is_empty() => {
                self.is_error = true;
                self.field("data", value.strip_prefix(' ').unwrap_or(value));
            }
            _ => self.unknown(line),
        }
    }

    fn field(&mut self, field: &str, value: &str) {
        self.note_field();
        match field {
            "data" => self.data = Some(value.to_string()),
            "event" => self.name = value.to_string(),
            _ => {}
        }
    }

    fn note_field(&mut self) {
        (self.is_open, self.has_field) = (true, true);
        self.before_fields.get_or_insert(self.lines - 1);
    }

    fn unknown(&mut self, line: &str) {
        let content = line.trim();
        if content.starts_with('{') && line.len() > MAX {
            self.lost += 1;
            self.raw_too_long += 1;
        } else if content == "{not json}" {
            self.lost += 1;
            self.others.push(line.to_string());
        } else if content.starts_with('{') {
            self.raw.push(serde_json::from_str(content).unwrap());
        } else if content == "[DONE]" {
            self.done = true;
        } else if !content.is_empty() {
            self.others.push(line.to_string());
        }
    }

    fn blank(&mut self) {
        let (name, data) = (std::mem::take(&mut self.name), self.data.take());
        let is_error = std::mem::take(&mut self.is_error) || name == "error";
        self.is_open = false;
        let Some(data) = data else { return };
        if data.len() + name.len() > MAX {
            self.lost += 1;
        } else if data == "[DONE]" {
            self.done = true;
        } else if is_error {
            self.field_error = true;
        } else if let Ok(value) = serde_json::from_str(&data) {
            self.value(&value, true);
        } else if !data.is_empty() {
            self.lost += 1;
            self.foreign |= !name.is_empty();
        }
    }

    /// A JSON value, from a field or without one.
    fn value(&mut self, value: &Value, is_field: bool) {
        let has = |name| value.get(name).is_some();
        let is_chunk = has("choices");
        self.chunk |= is_chunk;
        if has("error") {
            *(if is_field { &mut self.field_error } else { &mut self.raw_error }) = true;
        } else if !is_chunk {
            self.foreign = true;
        }
        for choice in value["choices"].as_array().into_iter().flatten() {
            let index = choice["index"].as_u64().unwrap();
            self.seen.insert(index);
            if choice["finish_reason"].is_string() {
                self.finished.insert(index);
            }
        }
    }

    /// The line in which the stream ended: nothing is invented for it.
    fn last_line(&mut self, line: &str) {
        self.lines += 1;
        let known = ["data", "event", "id", "retry"];
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        let is_name = known.iter().any(|known| known.starts_with(line));
        let is_empty = known.contains(&field) && value.is_empty();
        self.has_more = !is_name && !is_empty && !line.starts_with(':') && !line.trim().is_empty();
        let undecided = ["data", "event", "id", "retry", "error:", "[DONE"];
        if line.starts_with(':') || undecided.iter().any(|word| word.starts_with(line)) {
            self.pending = Pending::Line;
        } else if known.contains(&field) {
            if field == "data" && !value.is_empty() {
                return self.field(field, value);
            }
            self.pending = Pending::Line;
            if !value.is_empty() {
                self.note_field();
            }
        } else if field == "error" {
            self.is_error = true;
            self.note_field();
            self.data = Some(value.to_string()).filter(|value| !value.is_empty());
        } else if line.trim() == "{not json}" {
            self.unknown(line);
        } else if line.trim_start().starts_with('{') {
            if line.len() > MAX {
                self.lost += 1;
                self.raw_too_long += 1;
            }
            match serde_json::from_str(line) {
                Ok(value) if line.len() <= MAX => self.raw.push(value),
                Ok(_) => {}
                Err(_) => self.pending = Pending::Json,
            }
        } else if line.trim() == "[DONE]" {
            self.done = true;
        } else if !line.trim().is_empty() {
            self.others.push(line.to_string());
            self.cut_other = true;
        }
    }

    /// The block in which the stream ended counts if it is whole.
    fn last_block(&mut self) {
        if !self.is_open {
            return;
        }
        let before = self.pending;
        self.pending = Pending::Event;
        let Some(data) = &self.data else { return };
        let is_json = serde_json::from_str::<Value>(data).is_ok();
        let is_error = self.is_error || self.name == "error";
        let is_text = !data.is_empty() && !data.starts_with(['{', '[', '"']);
        if data.len() + self.name.len() > MAX {
            self.lost += 1;
        } else if data == "[DONE]" || is_json || is_error && is_text {
            self.pending = before;
            self.blank();
        }
    }

    fn conclude(mut self, text: &str) -> Known {
        let is_alone =
            self.raw.len() + self.raw_too_long == 1 && !self.has_field && !self.done && self.others.is_empty();
        // A message in words is an error only as the whole body.
        let is_error_body =
            |value: &Value| value["message"].is_string() && value["code"] != 0 && value["choices"].is_null();
        let is_whole = is_alone && self.pending != Pending::Json && !(self.pending == Pending::Line && self.has_more);
        if is_whole && self.raw.iter().any(is_error_body) {
            self.raw_error = true;
            self.chunk = false;
        } else {
            let raw = self.raw.clone();
            raw.iter().for_each(|value| self.value(value, false));
        }
        if self.cut_other {
            self.pending = Pending::Line;
        }
        let has_text = !self.others.is_empty();
        // Nobody knows whether it is JSON that was too long.
        let has_json = !self.raw.is_empty();
        // To a stream of events, whoever sends them, a binary line is one to ignore.
        let is_binary =
            self.others.iter().any(|line| line.contains(['\x01', '\x1f'])) && !(self.foreign && self.has_field);
        let media = match text.chars().next() {
            Some('\x1f') if text.starts_with("\x1f\u{8b}") => Some(Media::Gzip),
            Some('<') => Some(Media::Html),
            _ if is_binary => Some(Media::Binary),
            _ => Some(Media::Text).filter(|_| has_text && !self.has_field && !has_json),
        };
        let media = media.filter(|_| !self.chunk && !self.field_error);
        let is_error = self.field_error || self.raw_error;
        let came = self.chunk || self.foreign || is_error || has_json;
        let is_over = self.pending == Pending::Nothing;
        let whole = self.raw.first().filter(|_| is_alone);
        let is_body = whole.is_some_and(|value| {
            value["object"] == "chat.completion"
                || value["choices"].get(0).is_some_and(|choice| choice["message"].is_object())
        });
        let is_other = whole.is_some() && self.seen.is_empty() && self.pending != Pending::Json;
        let verdict = if text.is_empty() || self.done && !came && media.is_none() && is_over && self.lost == 0 {
            Verdict::Empty
        } else if media.is_some() {
            Verdict::NotAStream
        } else if is_error {
            Verdict::ApiError
        } else if self.done && self.chunk {
            Verdict::Done
        } else if !self.seen.is_empty() && self.seen == self.finished {
            Verdict::Finished
        } else if is_body {
            Verdict::Body
        } else if is_other && self.lost == 0 {
            Verdict::JsonAnswer
        } else if self.foreign && !self.chunk {
            Verdict::OtherProtocol
        } else if is_over && self.lost > 0 {
            Verdict::Lost
        } else {
            Verdict::Truncated
        };
        let is_answer = matches!(verdict, Verdict::Done | Verdict::Finished | Verdict::Body);
        let is_foreign = verdict == Verdict::NotAStream;
        Known {
            verdict,
            media: media.filter(|_| is_foreign),
            pending: if is_foreign { Pending::Nothing } else { self.pending },
            complete: is_answer && self.lost == 0 && (self.done || is_over),
            first: Vec::new(),
        }
    }
}

fn parsed(bytes: &[u8], step: usize) -> Known {
    let limits = Limits::DEFAULT.with_max_event_len(MAX as u32);
    let mut parser = Parser::with_config([0; 1024], Config::new().with_limits(limits));
    for mut piece in bytes.chunks(step.max(1)) {
        while parser.next(&mut piece).unwrap().is_some() {}
    }
    while parser.finish().unwrap().is_some() {}
    let mut end = parser.end();
    assert_eq!(end.verdict == Verdict::NotAStream, end.to_string().starts_with("not an event stream: "));
    // The naive reader does not compare the messages of a choice.
    end.replaced = 0;
    Known {
        verdict: end.verdict,
        media: end.media,
        pending: end.pending,
        complete: end.is_complete(),
        first: end.first_bytes().to_vec(),
    }
}

/// A body with a finish reason has ended like a stream: the words of the end say that it was a body.
#[test]
fn the_end_in_words_names_a_body() {
    let words = |stream: &str| {
        let mut parser = Parser::new([0; 1024]);
        let mut bytes = stream.as_bytes();
        while parser.next(&mut bytes).unwrap().is_some() {}
        while parser.finish().unwrap().is_some() {}
        (parser.end().verdict, parser.end().to_string())
    };
    let body = r#"{"choices":[{"index":0,"message":{"content":"x"},"finish_reason":"stop"}]}"#;
    let words_of_a_body = "a whole JSON body instead of a stream".to_string();
    assert_eq!(words(body), (Verdict::Finished, words_of_a_body.clone()));
    assert_eq!(words(&body.replace("\"stop\"", "null")), (Verdict::Body, words_of_a_body.clone()));
    if cfg!(feature = "anthropic") {
        let body = r#"{"type":"message","content":[{"type":"text","text":"x"}],"stop_reason":"end_turn"}"#;
        assert_eq!(words(body), (Verdict::Done, words_of_a_body));
    }
    let chunk = r#"data: {"choices":[{"delta":{"content":"x"},"finish_reason":"stop"}]}"#;
    assert_eq!(words(&format!("{chunk}\n\n")), (Verdict::Finished, "finished, without [DONE]".to_string()));
}

#[test]
fn verdicts_of_random_streams() {
    let mut random = Random::new(1);
    let mut met = BTreeSet::new();
    let mut wrong = 0;
    for _ in 0..(1_000_000 / crate::common::thin::thin()).max(5_000) {
        let bytes = stream(&mut random);
        let expected = Naive::read(&bytes);
        met.insert(expected.verdict as u8);
        for step in [bytes.len(), 1, 1 + random.below(40)] {
            let got = parsed(&bytes, step);
            if got != expected {
                wrong += 1;
                println!("{}\n  got      {got:?}\n  expected {expected:?}", escaped(&bytes));
                break;
            }
        }
        if wrong > 20 {
            break;
        }
    }
    assert_eq!(wrong, 0);
    assert_eq!(met.len(), 10, "{met:?}");
}

/// Whatever readers are compiled in: a protocol is read, or reported by its name.
#[test]
fn a_protocol_is_read_or_reported_by_its_name() {
    let streams = [
        (
            Protocol::Anthropic,
            "data: {\"type\":\"message_start\",\"message\":{\"id\":\"m\"}}\n\n\
             data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"a\"}}\n\n\
             data: {\"type\":\"message_stop\"}\n\n",
        ),
        (
            Protocol::Gemini,
            "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"a\"}]},\"finishReason\":\"STOP\"}]}\n\n",
        ),
        (
            Protocol::Responses,
            "data: {\"type\":\"response.output_text.delta\",\"output_index\":0,\"content_index\":0,\"delta\":\"a\"}\n\n\
             data: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\"}}\n\n",
        ),
        (Protocol::Interactions, "data: {\"event_type\":\"interaction.created\"}\n\n"),
    ];
    for (protocol, stream) in streams {
        for given in [None, Some(protocol)] {
            let config = Config::new().with_protocol(given);
            let mut parser = Parser::with_config([0; 512], config);
            let (mut input, mut contents) = (stream.as_bytes(), 0);
            while let Some(event) = parser.next(&mut input).unwrap() {
                assert!(event.chunk().is_some(), "{stream}: {event:?}");
                contents += event.deltas().filter(|(_, update)| matches!(update, Update::Content(_))).count();
            }
            assert!(parser.finish().unwrap().is_none());
            let end = parser.end();
            if protocol.is_read() {
                assert_eq!((end.protocol, contents), (Some(protocol), 1), "{stream}");
                assert!(matches!(end.verdict, Verdict::Done | Verdict::Finished), "{stream}: {end:?}");
            } else {
                assert_eq!((end.verdict, end.protocol), (Verdict::OtherProtocol, Some(protocol)), "{stream}");
                assert_eq!(contents, 0, "{stream}");
                let text = end.to_string();
                let is_off = text.ends_with(" is off");
                assert!(text.contains(protocol.text()) && is_off == (protocol != Protocol::Interactions), "{text}");
            }
        }
    }
    for (protocol, has) in [
        (Protocol::Anthropic, cfg!(feature = "anthropic")),
        (Protocol::Gemini, cfg!(feature = "gemini")),
        (Protocol::Responses, cfg!(feature = "responses")),
    ] {
        assert_eq!(protocol.is_read(), has);
    }
}

/// The end in words, of wrong inputs in pieces of any length. The C and C++ programs have more (`ffi-tests/ends.inc`).
#[test]
fn the_end_in_words_says_what_came_and_what_to_do() {
    let long = format!("<p>{}é{}", "x".repeat(124), "y".repeat(99));
    let cut = format!("not an event stream: HTML or XML: <p>{}…", "x".repeat(124));
    let chunk = r#"data: {"choices":[{"index":0,"delta":{"content":"a"}}]}"#;
    let rows = [
        ("\n", "empty: nothing came"),
        ("\n<html>\n 502</html>", "not an event stream: HTML or XML: <html> 502</html>"),
        (&long, &cut),
        ("\u{1b}[2Jno\u{202e}", "not an event stream: text: \\u{1b}[2Jno\\u{202e}"),
        (
            "{\"object\":\"list\",\n\"data\":[]}",
            "a JSON value that is no completion: {\"object\":\"list\", \"data\":[]}",
        ),
        ("{\"error\":{\"message\":\"no\"}}", "the API reported an error"),
        (&format!("{chunk}\n\ndata: {{"), "truncated: the stream was cut: it ended inside an event"),
        (&format!("{chunk}\n\n: pi"), "truncated: the stream was cut: it ended inside a line"),
        (
            &format!("data: {}\n\n{chunk}\n\ndata: [DONE]\n\n", "x".repeat(MAX + 1)),
            "done, incomplete: 1 too long (raise max_event_len, or give more storage)",
        ),
        (
            &format!("{}\n\n{chunk}\n\ndata: [DONE]\n\n", chunk.replace("\"index\":0", "\"index\":9")),
            "done, incomplete: 1 left out (raise max_choices)",
        ),
    ];
    for (input, words) in rows {
        for step in [input.len(), 1, 7] {
            let limits = Limits::DEFAULT.with_max_event_len(MAX as u32);
            let config = Config::new().with_limits(limits);
            let mut parser = Parser::with_tracker([0; 1024], config, Tracker::<1, 1>::new());
            for piece in input.as_bytes().chunks(step) {
                parser.feed_all(piece, |_, _| ()).unwrap();
            }
            parser.finish_all(|_, _| ()).unwrap();
            assert_eq!(parser.end().to_string(), words);
        }
    }
}

/// The stream was not cut if the caller broke off, unless it came to its end without the caller.
#[test]
fn a_caller_that_breaks_off_is_not_a_cut() {
    let stream = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}}]}\n\ndata: [DONE]\n\n";
    for (end_at, stop, verdict, words) in [
        (stream.len() - 14, Some(Stop::Abort), Verdict::Aborted, "aborted: the caller broke off"),
        (
            stream.len() - 9,
            Some(Stop::Abort),
            Verdict::Aborted,
            "aborted: the caller broke off: it ended inside a line",
        ),
        (stream.len() - 14, Some(Stop::Pause), Verdict::Truncated, "truncated: the stream was cut"),
        (stream.len() - 14, None, Verdict::Truncated, "truncated: the stream was cut"),
        (stream.len(), Some(Stop::Abort), Verdict::Done, "done, incomplete"),
    ] {
        let mut parser = Parser::new([0; 512]);
        let answer = || stop.map_or(Flow::Continue(()), Flow::Break);
        let mut rest = &stream.as_bytes()[..end_at];
        let mut handler = deltawire::handler::from_fn(|_, _: Update<'_>| answer());
        loop {
            let fed = parser.feed(rest, &mut handler);
            rest = &rest[fed.consumed..];
            assert!(fed.stop.is_none() || fed.stop == stop);
            if fed.stop.is_none() {
                break;
            }
        }
        while parser.finish_into(&mut handler).is_err() {}
        let end = parser.end();
        assert_eq!((end.verdict, end.to_string().as_str(), end.is_complete()), (verdict, words, false), "{stop:?}");
    }
    // A quirk that is an error is not the caller's abort.
    let odd = "data: {\"choices\":[{\"index\":\"0\",\"delta\":{\"content\":\"a\"}}]}\n\n";
    let mut parser = Parser::with_config([0; 512], Config::new().with_errors(Quirk::ALL.iter().copied().collect()));
    assert!(parser.feed_all(odd.as_bytes(), |_, _| ()).is_err());
    assert_eq!((parser.end().verdict, parser.end().is_complete()), (Verdict::Truncated, false));
}
