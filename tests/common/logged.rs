//! Builds a message in each way that its updates can reach a log: pulled, pushed, from an emitter.

use super::completion_json;
use deltawire::chat::{Chunk, Index, Owner};
use deltawire::message::{Assembler, Completion, Detail, Failure, Field, LogError, LogSink, Member, MessageLog};
use deltawire::stream::{Emitter, Machine, Outcome, Protocol};
use deltawire::track::Tracker;
use deltawire::{Config, Event, Growing, Handler, Parser};
use serde_json::Value;
use std::fmt::Display;

/// Returns where two values differ, if they do. Doubles may differ in the last bit; a number beyond a double is null in one
/// and as sent in the other.
pub fn difference(one: &Value, other: &Value) -> Option<String> {
    let double = |number: &serde_json::Number| number.to_string().parse::<f64>().unwrap();
    match (one, other) {
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            let mut items = a.iter().zip(b).enumerate();
            items.find_map(|(at, (a, b))| Some(format!("{at} {}", difference(a, b)?)))
        }
        (Value::Object(a), Value::Object(b)) if a.len() == b.len() && a.keys().all(|key| b.contains_key(key)) => {
            a.iter().find_map(|(name, a)| Some(format!("{name} {}", difference(a, &b[name])?)))
        }
        (Value::Number(a), Value::Number(b)) if a != b => {
            let (x, y) = (double(a), double(b));
            let is_near = x == y || (x - y).abs() <= x.abs() * 1e-15;
            (!is_near).then(|| format!("{a} {b}"))
        }
        (Value::Number(a), Value::Null) if double(a).is_infinite() => None,
        _ => {
            let difference = format!("{one} {other}");
            (one != other).then(|| difference.chars().take(300).collect())
        }
    }
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Adds a chunk, with its deltas, to a log whose buffer is large enough. Returns the first error.
pub fn add<const CHOICES: usize, const CALLS: usize, const TRACKED: usize, const TRACKED_CALLS: usize>(
    log: &mut MessageLog<CHOICES, CALLS>,
    buffer: &mut [u8],
    tracker: &mut Tracker<TRACKED, TRACKED_CALLS>,
    chunk: &Chunk<'_>,
) -> Option<LogError> {
    let mut first = log.chunk(buffer, chunk).err();
    let mut updates = tracker.updates(chunk);
    for (choice, update) in updates.by_ref() {
        first = first.or(log.put(buffer, choice, &update).err());
    }
    first.or(updates.error().and_then(|error| log.limit(&error).err()))
}

/// An assembler that is given chunks, with the tracker before it.
#[derive(Default)]
pub struct Assembled {
    pub assembler: Assembler,
    tracker: Wide,
}

impl Assembled {
    pub fn add(&mut self, chunk: &Chunk<'_>) {
        let Assembled { assembler, tracker } = self;
        assert!(assembler.event(&Event::Chunk(*chunk)).is_continue());
        let mut updates = tracker.updates(chunk);
        for (choice, update) in updates.by_ref() {
            assert!(assembler.update(choice, update).is_continue());
        }
        updates.error().iter().for_each(|error| assert!(assembler.limit(error).is_continue()));
    }

    /// Ends the stream.
    pub fn finish(mut self, is_over: bool) -> Assembler {
        for (choice, update) in self.tracker.finish(is_over) {
            assert!(self.assembler.update(choice, update).is_continue());
        }
        self.assembler
    }
}

/// A message log and its buffer.
pub struct Logged<const CHOICES: usize, const CALLS: usize> {
    pub log: MessageLog<CHOICES, CALLS>,
    pub buffer: Vec<u8>,
    pub grown: u64,
}

impl<const CHOICES: usize, const CALLS: usize> Logged<CHOICES, CALLS> {
    pub fn new(room: usize) -> Self {
        Logged { log: MessageLog::new(), buffer: vec![0xAA; room], grown: 0 }
    }

    /// Adds a chunk, update by update.
    pub fn add<const TRACKED: usize, const TRACKED_CALLS: usize>(
        &mut self,
        tracker: &mut Tracker<TRACKED, TRACKED_CALLS>,
        chunk: &Chunk<'_>,
    ) -> Option<LogError> {
        let mut first = self.write(false, |log, buffer| log.chunk(buffer, chunk));
        let mut updates = tracker.updates(chunk);
        for (choice, update) in updates.by_ref() {
            first = first.or(self.with(|log, buffer| log.put(buffer, choice, &update)));
        }
        first.or(updates.error().and_then(|error| self.log.limit(&error).err()))
    }

    /// Adds what is pending in the tracker. An error: a small log has no room for a choice of which nothing else came.
    pub fn finish<const TRACKED: usize, const TRACKED_CALLS: usize>(
        &mut self,
        tracker: &mut Tracker<TRACKED, TRACKED_CALLS>,
        is_over: bool,
    ) -> Option<LogError> {
        let mut first = None;
        for (choice, update) in tracker.finish(is_over) {
            first = first.or(self.with(|log, buffer| log.put(buffer, choice, &update)));
        }
        first
    }

    /// Writes an update completely or not at all.
    pub fn with(
        &mut self,
        write: impl FnMut(&mut MessageLog<CHOICES, CALLS>, &mut [u8]) -> Result<(), LogError>,
    ) -> Option<LogError> {
        self.write(true, write)
    }

    /// Writes, moving to a larger buffer as often as necessary; the old one is overwritten. If `is_whole`, a write that
    /// does not fit must change nothing.
    pub fn write(
        &mut self,
        is_whole: bool,
        mut write: impl FnMut(&mut MessageLog<CHOICES, CALLS>, &mut [u8]) -> Result<(), LogError>,
    ) -> Option<LogError> {
        loop {
            let len = self.log.len();
            let before = self.buffer[..len].to_vec();
            let state = self.log.clone();
            match write(&mut self.log, &mut self.buffer) {
                Err(LogError::NeedStorage { need }) => {
                    assert!(need > self.buffer.len());
                    if is_whole {
                        assert_eq!(self.log.len(), len);
                        assert_eq!(self.buffer[..len], before);
                        assert_eq!(format!("{:?}", self.log), format!("{state:?}"));
                    }
                    let len = self.log.len();
                    let mut moved = vec![0xAA; need];
                    moved[..len].copy_from_slice(&self.buffer[..len]);
                    self.buffer.fill(0x55);
                    self.buffer = moved;
                    self.grown += 1;
                }
                done => return done.err(),
            }
        }
    }

    pub fn json(&self, detail: Detail) -> String {
        let len = self.log.json(&self.buffer, detail, &mut []);
        let mut json = vec![0x55; len + 1];
        assert_eq!(self.log.json(&self.buffer, detail, &mut json), len);
        assert_eq!(json.pop(), Some(0x55), "it wrote more than the length it returned");
        // Output that does not fit is truncated; what was written is the same.
        let mut half = vec![0; len / 2];
        assert_eq!(self.log.json(&self.buffer, detail, &mut half), len);
        assert_eq!(half, json[..len / 2]);
        String::from_utf8(json).unwrap()
    }

    pub fn text(&self, field: Field, choice: u32, call: u32) -> Option<String> {
        let mut none = [];
        let len = self.log.text(&self.buffer, field, choice, call, &mut none)?;
        let mut text = vec![0x55; len + 1];
        assert_eq!(self.log.text(&self.buffer, field, choice, call, &mut text), Some(len));
        assert_eq!(text.pop(), Some(0x55), "it wrote more than the length it returned");
        if len > 0 {
            let mut short = vec![0x55; len - 1];
            assert_eq!(self.log.text(&self.buffer, field, choice, call, &mut short), Some(len));
            assert!(short.iter().all(|&byte| byte == 0x55), "it wrote a part");
        }
        Some(String::from_utf8_lossy(&text).into_owned())
    }

    pub fn same_members(&self, owner: Owner, choice: u32, call: u32, members: &[Member], what: impl Display) {
        for member in members {
            let got = self.log.member(&self.buffer, owner, choice, call, &member.name).map(|value| value.raw());
            assert_eq!(got, Some(member.value.as_bytes()), "{what}: {owner:?} {}", member.name);
        }
        assert_eq!(self.log.members(&self.buffer, owner, choice, call).count(), members.len(), "{what}");
    }

    /// Compares every accessor with the message. Returns the number of texts.
    pub fn compare(&self, message: &Completion, what: impl Display + Copy) -> u64 {
        for extended in [false, true] {
            let expected = completion_json::of(message, extended);
            let json = self.json(if extended { Detail::Extended } else { Detail::Standard });
            deltawire::json::validate(json.as_bytes(), 1024).unwrap();
            // A number beyond a double is null in serde_json's value, and as sent in ours.
            let got = serde_json::from_str(&json)
                .or_else(|_| serde_json::to_value(deltawire::json::parse_lazy(json.as_bytes()).unwrap()));
            assert_eq!(difference(&got.unwrap(), &expected), None, "{what}");
        }
        let mut texts = 0;
        let mut same = |field: Field, choice: u32, call: u32, expected: Option<&str>| {
            assert_eq!(self.text(field, choice, call).as_deref(), expected, "{what}: {field:?} {choice} {call}");
            texts += 1;
        };
        same(Field::Id, 0, 0, message.id.as_deref());
        same(Field::Object, 0, 0, message.object.as_deref());
        same(Field::Model, 0, 0, message.model.as_deref());
        same(Field::SystemFingerprint, 0, 0, message.system_fingerprint.as_deref());
        same(Field::ServiceTier, 0, 0, message.service_tier.as_deref());
        same(Field::Provider, 0, 0, message.provider.as_deref());
        same(Field::Usage, 0, 0, message.usage.as_ref().map(|raw| lossy(raw.as_bytes())).as_deref());
        let native = message.native_usage.as_ref().map(|raw| lossy(raw.as_bytes()));
        same(Field::NativeUsage, 0, 0, native.as_deref());
        let error = |error: &Option<Failure>| {
            error.as_ref().map(|error| match error {
                Failure::Json(raw) => (true, lossy(raw.as_bytes())),
                Failure::Text(text) => (false, text.clone()),
            })
        };
        let whole = error(&message.error);
        same(Field::Error, 0, 0, whole.as_ref().map(|(_, text)| text.as_str()));
        assert_eq!(self.log.error_is_json(&self.buffer), whole.as_ref().map(|(json, _)| *json), "{what}");
        if let Some(Failure::Json(raw)) = &message.error {
            if let Ok(Some(text)) = raw.value().get("message").map(|text| text.and_then(|text| text.as_text())) {
                same(
                    Field::ErrorMessage,
                    0,
                    0,
                    Some(&text.to_cow()).filter(|text| !text.is_empty()).map(|text| &**text),
                );
            }
        }
        self.same_members(Owner::Chunk, 0, 0, &message.members, what);
        assert_eq!(self.log.created(), message.created);
        assert_eq!(self.log.choices(), message.choices.len());
        assert_eq!(self.log.choice_index(message.choices.len()), None);
        for (nth, choice) in message.choices.iter().enumerate() {
            let index = choice.index;
            assert_eq!(self.log.choice_index(nth), Some(index), "{what}");
            same(Field::Role, index, 0, choice.role.as_deref());
            same(Field::Content, index, 0, choice.content.as_deref());
            same(Field::Refusal, index, 0, choice.refusal.as_deref());
            same(Field::Reasoning, index, 0, choice.reasoning.as_deref());
            same(Field::ReasoningName, index, 0, choice.reasoning_name.as_deref());
            for (field, list) in
                [(Field::Signatures, &choice.signatures), (Field::NativeContent, &choice.native_content)]
            {
                same(field, index, 0, list.as_ref().map(|list| lossy(list.as_bytes())).as_deref());
            }
            same(Field::FinishReason, index, 0, choice.finish_reason.as_deref());
            let details = choice.reasoning_details.as_ref().map(|list| lossy(list.as_bytes()));
            same(Field::ReasoningDetails, index, 0, details.as_deref());
            self.same_members(Owner::Choice, index, 0, &choice.members, what);
            self.same_members(Owner::Delta, index, 0, &choice.message_members, what);
            same(Field::NativeFinishReason, index, 0, choice.native_finish_reason.as_deref());
            same(Field::ChoiceError, index, 0, error(&choice.error).map(|(_, text)| text).as_deref());
            let function = choice.function_call.as_ref();
            same(Field::FunctionName, index, 0, function.and_then(|call| call.name.as_deref()));
            same(Field::FunctionArguments, index, 0, function.and_then(|call| call.arguments.as_deref()));
            let audio = choice.audio.as_ref();
            same(Field::AudioId, index, 0, audio.and_then(|audio| audio.id.as_deref()));
            let data = audio.and_then(|audio| audio.data.as_ref()).map(|data| lossy(data.as_bytes()));
            same(Field::AudioData, index, 0, data.as_deref());
            same(Field::AudioTranscript, index, 0, audio.and_then(|audio| audio.transcript.as_deref()));
            assert_eq!(self.log.audio_expires_at(index), audio.and_then(|audio| audio.expires_at), "{what}");
            assert_eq!(self.log.calls(index) as usize, choice.tool_calls.len(), "{what}");
            for (nth, call) in (0..).zip(&choice.tool_calls) {
                same(Field::CallId, index, nth, call.id.as_deref());
                same(Field::CallType, index, nth, call.kind.as_deref());
                same(Field::CallName, index, nth, call.name.as_deref());
                same(Field::CallArguments, index, nth, call.arguments.as_deref());
                assert_eq!(self.log.is_custom(&self.buffer, index, nth), call.custom, "{what}");
                self.same_members(Owner::Call, index, nth, &call.members, what);
                self.same_members(Owner::Function, index, nth, &call.function_members, what);
            }
            same(Field::CallId, index, choice.tool_calls.len() as u32, None);
        }
        same(Field::Content, u32::MAX - 1, 0, None);
        texts
    }
}

#[derive(Default)]
pub struct Counts {
    pub streams: u64,
    pub chunks: u64,
    pub texts: u64,
    pub grown: u64,
    pub small: u64,
}

/// Builds the message of a stream, in slices of `size`, by push.
pub fn pushed(bytes: &[u8], size: usize, config: Config) -> Assembler {
    let mut assembler = Assembler::new();
    let mut parser: Parser<Growing, 2, Wide> = Parser::with_slots(Growing::new(), config, Tracker::new());
    for mut slice in bytes.chunks(size) {
        loop {
            let fed = parser.feed(slice, &mut assembler);
            slice = &slice[fed.consumed..];
            if fed.stop.is_none() {
                break;
            }
        }
    }
    while parser.finish_into(&mut assembler).is_err() {}
    assembler
}

pub type Wide = Tracker<128, 256>;

/// Builds the message of a stream with an emitter, in the smallest sufficient buffer.
pub fn emitted(bytes: &[u8], config: Config) -> Logged<128, 256> {
    let mut logged: Logged<128, 256> = Logged::new(0);
    let (mut machine, mut emitter) = (Machine::<2>::with_slots(config), Emitter::new());
    let (mut store, mut tracker) = (Growing::new(), Wide::new());
    let mut rest = Some(bytes);
    loop {
        let Logged { log, buffer, grown } = &mut logged;
        let mut sink = LogSink::new(log, buffer);
        let outcome = match rest {
            Some(input) => {
                let (spent, outcome) = emitter.run(&mut machine, &mut store, &mut tracker, input, 0, &mut sink);
                rest = Some(&input[spent..]);
                outcome
            }
            None => emitter.finish(&mut machine, &mut store, &mut tracker, &mut sink),
        };
        let need = sink.need();
        match outcome {
            Outcome::Done if rest.is_some() => rest = None,
            Outcome::Done => return logged,
            Outcome::Full => {
                assert!(need > buffer.len());
                buffer.resize(need, 0);
                *grown += 1;
            }
            Outcome::Stopped(_) => {}
            outcome => panic!("{outcome:?}"),
        }
    }
}

impl Counts {
    /// Builds the message in each way, in a large buffer, in the smallest sufficient one, and with the default number
    /// of choices and calls.
    pub fn stream(&mut self, what: &str, bytes: &[u8], config: Config) {
        let mut assembled = Assembled::default();
        let mut ample: Logged<128, 256> = Logged::new(bytes.len() * 8 + (64 << 10));
        let mut tiny: Logged<128, 256> = Logged::new(0);
        let mut small: Logged<8, 32> = Logged::new(0);
        let (mut wide, mut wide_too, mut narrow) = (Wide::new(), Wide::new(), Tracker::<8, 32>::new());
        let mut fits = true;
        // Compare short streams after each chunk.
        let each = bytes.len() < 3000;
        let mut see = |chunk: &Chunk<'_>, counts: &mut Counts| {
            assembled.add(chunk);
            let expected = add(&mut ample.log, &mut ample.buffer, &mut wide, chunk);
            assert_eq!(ample.log.left_out(), assembled.assembler.error(), "{what}");
            assert_eq!(tiny.add(&mut wide_too, chunk), expected, "{what}");
            fits &= small.add(&mut narrow, chunk) == expected;
            counts.chunks += 1;
            if each {
                counts.texts += tiny.compare(&assembled.assembler.message().unwrap(), what);
            }
        };
        let mut parser: Parser<Growing, 0> = Parser::with_slots(Growing::new(), config, Tracker::new());
        let mut input = bytes;
        loop {
            match parser.next(&mut input) {
                Ok(None) => break,
                Ok(Some(event)) => event.chunk().iter().for_each(|chunk| see(chunk, self)),
                Err(_) => {}
            }
        }
        loop {
            match parser.finish() {
                Ok(None) => break,
                Ok(Some(event)) => event.chunk().iter().for_each(|chunk| see(chunk, self)),
                Err(_) => {}
            }
        }
        let end = parser.end();
        let is_chat = end.protocol.is_none_or(|protocol| protocol == Protocol::Chat);
        let has_finished = end.choices_seen > 0 && end.choices_finished == end.choices_seen;
        let is_over = (end.done || end.body || has_finished) && is_chat && !end.api_error;
        let assembler = assembled.finish(is_over);
        assert_eq!((ample.finish(&mut wide, is_over), tiny.finish(&mut wide_too, is_over)), (None, None), "{what}");
        let message = assembler.message().unwrap();
        for log in [&ample, &tiny, &emitted(bytes, config)] {
            self.texts += log.compare(&message, what);
            let json = assembler.json(Detail::Extended).unwrap();
            assert_eq!(lossy(json.as_bytes()), log.json(Detail::Extended), "{what}");
            assert_eq!(log.log.left_out(), assembler.error(), "{what}");
        }
        let pushed = pushed(bytes, usize::MAX, config);
        assert_eq!((pushed.message(), pushed.error()), (Ok(message.clone()), assembler.error()), "{what}");
        assert_eq!(ample.grown, 0);
        // A member that a chunk has twice is written once more after a move.
        let of_call = |call: &deltawire::message::ToolCall| call.members.len() + call.function_members.len();
        let of_choice = |choice: &deltawire::message::Choice| {
            choice.members.len() + choice.message_members.len() + choice.tool_calls.iter().map(of_call).sum::<usize>()
        };
        if message.members.len() + message.choices.iter().map(of_choice).sum::<usize>() == 0 {
            assert_eq!(ample.buffer[..ample.log.len()], tiny.buffer[..tiny.log.len()], "{what}");
        }
        if fits {
            assert_eq!(small.finish(&mut narrow, is_over), None, "{what}");
            self.texts += small.compare(&message, what);
            self.small += 1;
        }
        self.grown += tiny.grown;
        self.streams += 1;
    }

    pub fn print(&self, what: &str) {
        let Counts { streams, chunks, texts, grown, small } = self;
        println!(
            "messages, {what}: {streams} streams ({small} also with 8 choices), {chunks} chunks, {texts} texts, \
             {grown} moves"
        );
        assert!(*small > 0 && *texts > *streams);
    }
}

/// Passes each payload to `see` as a chunk.
pub fn each_chunk(payloads: &[String], mut see: impl FnMut(&Chunk<'_>)) {
    let mut index = Index::new();
    for payload in payloads {
        see(&Chunk::read(payload.as_bytes(), &mut index).unwrap());
    }
}

pub fn delta(choice: u32, members: &str) -> String {
    format!(r#"{{"choices":[{{"index":{choice},"delta":{{{members}}}}}]}}"#)
}
