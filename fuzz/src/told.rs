//! What a stream brings, as logs that every way of reading makes alike.

use crate::log::Log;
use crate::views;
use deltawire::chat::CallUpdate;
use deltawire::json::Text;
use deltawire::stream::Event;
use deltawire::{End, Error, Parser, Quirk, QuirkSet, Storage, Update};
use std::ops::Range;

/// The logs of one reading.
#[derive(Clone, Default)]
pub struct Told {
    /// Events, all that can be asked of them, their updates, and the errors: the same by pull, push and batch.
    pub events: Log,
    /// Where each event lay: by pull and batch.
    pub ranges: Log,
    /// The quirks of each event: by push and batch.
    pub quirks: Log,
    /// How the stream ended, and how often each quirk was met.
    pub end: Log,
    /// By batch alone.
    pub frames: Log,
    /// What the parser says of itself after each call: the same for the same calls.
    pub states: Log,
}

/// What of an event is still known when it is gone.
#[derive(Clone, Copy)]
pub struct Seen {
    word: &'static str,
    /// Without the name: that of a JSON value without `data:` may stand before it.
    bytes: usize,
}

impl Seen {
    /// Where it lay, as the parser says after it.
    pub fn placed(self, ranges: &mut Log, range: Range<u64>) {
        assert!(range.start <= range.end, "a range runs backwards");
        assert!(self.bytes as u64 <= range.end - range.start, "{} of {} bytes in {range:?}", self.word, self.bytes);
        ranges.line(self.word);
        ranges.number("start", range.start);
        ranges.number("end", range.end);
    }
}

pub fn event(log: &mut Log, event: &Event<'_>) -> Seen {
    let (word, bytes) = match event {
        Event::Chunk(chunk) => ("chunk", chunk.payload().len()),
        Event::Sse(event) => ("sse", event.data().len()),
        Event::Done => ("done", 0),
        Event::Comment(text) => ("comment", text.len()),
        Event::KeepAlive(payload) => ("keep-alive", payload.len()),
        Event::Retry(_) => ("retry", 0),
        Event::LastEventId(id) => ("id", id.len()),
        Event::Malformed(malformed) => ("malformed", malformed.payload().len()),
        Event::TooLong { .. } => ("too-long", 0),
        Event::CommentTooLong { .. } => ("comment-too-long", 0),
        _ => panic!("an event that is not known"),
    };
    log.line(word);
    match event {
        Event::Chunk(chunk) => {
            log.number("start", chunk.wire_range().start);
            log.number("end", chunk.wire_range().end);
            log.put("name", chunk.event_name());
            views::chunk(log, chunk);
        }
        Event::Sse(event) => {
            log.put("data", event.data());
            log.put("type", event.event_type());
            log.put("id", event.last_event_id());
        }
        Event::Malformed(malformed) => {
            let fault = malformed.fault();
            log.put("payload", malformed.payload());
            log.number("kind", u64::from(fault.kind.number()));
            log.number("at", fault.offset as u64);
            log.put("name", malformed.event_name());
            assert!(fault.offset <= malformed.payload().len(), "a fault beyond its payload");
        }
        Event::Comment(bytes) | Event::KeepAlive(bytes) | Event::LastEventId(bytes) => log.put("bytes", bytes),
        Event::Retry(ms) => log.number("ms", *ms),
        Event::TooLong { offset } | Event::CommentTooLong { offset } => log.number("at", *offset),
        _ => {}
    }
    Seen { word, bytes }
}

/// The update as its fields: what a batch tells of it. Annotations are left out, and what no batch is asked for.
pub fn update(log: &mut Log, choice: u32, update: &Update<'_>) {
    let (word, call) = match update {
        Update::Role(_) => ("role", 0),
        Update::Content(_) => ("content", 0),
        Update::Reasoning(_) => ("reasoning", 0),
        Update::Refusal(_) => ("refusal", 0),
        Update::Call(CallUpdate { call, .. }) => ("call", *call),
        Update::CallName { call, .. } => ("name", *call),
        Update::CallArguments { call, .. } => ("arguments", *call),
        Update::FunctionName { .. } => ("function-name", 0),
        Update::FunctionArguments(_) => ("function-arguments", 0),
        Update::Audio(_) => ("audio", 0),
        Update::Logprobs(_) => ("logprobs", 0),
        Update::Message(_) => ("message", 0),
        Update::Finish(_) => ("finish", 0),
        Update::ChoiceError(_) => ("choice-error", 0),
        Update::Usage(_) => ("usage", 0),
        Update::Error(_) => ("error", 0),
        Update::Annotations(_) | Update::Meta(..) => return,
        _ => panic!("an update that is not known"),
    };
    log.line(word);
    log.number("choice", u64::from(choice));
    log.number("call", u64::from(call));
    match update {
        Update::Role(text)
        | Update::Content(text)
        | Update::Reasoning(text)
        | Update::Refusal(text)
        | Update::CallArguments { text, .. }
        | Update::FunctionArguments(text) => log.put("text", &decoded(*text)),
        Update::CallName { text, replaces, .. } | Update::FunctionName { text, replaces } => {
            log.put("text", &decoded(*text));
            log.number("replaces", u64::from(*replaces));
        }
        Update::Call(CallUpdate { index, opens, reuses, custom, id, kind, .. }) => {
            log.number("index", u64::from(index.expect("a tracker knows the index of each call")));
            log.show("is", (*opens, *reuses, *custom));
            log.put("id", &id.map(decoded).unwrap_or_default());
            log.put("kind", &kind.map(decoded).unwrap_or_default());
        }
        Update::Finish(reason) => {
            log.put("text", &decoded(reason.text()));
            log.number("kind", u64::from(reason.kind().number()));
        }
        Update::Audio(audio) => log.put("raw", audio.value().raw()),
        Update::Logprobs(logprobs) => log.put("raw", logprobs.value().raw()),
        Update::Message(message) => log.put("raw", message.value().raw()),
        Update::Usage(usage) => log.put("raw", usage.value().raw()),
        Update::ChoiceError(error) | Update::Error(error) => match (error.value(), error.message()) {
            (Some(value), _) => log.put("raw", value.raw()),
            (None, Some(message)) => log.put("plain", message.raw()),
            (None, None) => log.put("plain", b""),
        },
        _ => {}
    }
}

fn decoded(text: Text<'_>) -> Vec<u8> {
    let mut decoded = String::new();
    text.push_to(&mut decoded);
    assert!(!decoded.is_empty(), "an empty text was handed out");
    std::str::from_utf8(decoded.as_bytes()).expect("text is UTF-8");
    decoded.into_bytes()
}

pub fn error(log: &mut Log, error: &Error) {
    log.line(if let Error::Quirk { .. } = error { "stop" } else { "limit" });
    log.show("error", error);
}

pub fn quirks(log: &mut Log, quirks: QuirkSet) {
    for quirk in quirks.iter() {
        log.line(quirk.name());
    }
}

/// How often each quirk was met, those that were met.
pub fn counts(log: &mut Log, count: impl Fn(Quirk) -> u16) {
    log.line("quirks");
    for quirk in Quirk::ALL {
        match count(*quirk) {
            0 => {}
            times => log.number(quirk.code(), u64::from(times) << 8 | *quirk as u64),
        }
    }
}

/// What the parser says of itself.
pub fn state<S: Storage, const SLOTS: usize, T>(log: &mut Log, parser: &Parser<S, SLOTS, T>) {
    log.line("state");
    log.number("offset", parser.offset());
    log.number("start", parser.wire_range().start);
    log.number("end", parser.wire_range().end);
    log.number("frame", parser.machine().index_frame().1);
    log.put("id", parser.last_event_id());
    self::end(log, parser.end());
    assert_eq!(parser.end().offset, parser.offset());
    counts(log, |quirk| parser.quirk_count(quirk));
}

fn end(log: &mut Log, end: End) {
    let End {
        verdict,
        done,
        choices_seen,
        choices_finished,
        api_error,
        body,
        pending,
        malformed,
        too_long,
        offset,
        ..
    } = end;
    log.number("verdict", verdict as u64);
    log.number("pending", pending as u64);
    log.number("is", u64::from(done) | u64::from(api_error) << 1 | u64::from(body) << 2);
    log.number("seen", u64::from(choices_seen));
    log.number("finished", u64::from(choices_finished));
    log.number("malformed", u64::from(malformed));
    log.number("too_long", u64::from(too_long));
    log.number("offset", offset);
}

/// What is left to say when the stream is over.
pub fn close(log: &mut Log, id: &[u8], end: End, count: impl Fn(Quirk) -> u16) {
    log.line("end");
    log.put("id", id);
    self::end(log, end);
    counts(log, count);
}
