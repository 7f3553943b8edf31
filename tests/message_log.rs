//! A message is the same however its updates reach the log (pulled, pushed, from an emitter, from the records of a
//! batch), whatever the buffers, and however it is read.
#![cfg(feature = "serde")]
#![allow(missing_docs, clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, clippy::expect_used)]

mod common;

use common::corpus::{recorded, samples};
use deltawire::chat::{Chunk, Index, Owner};
use deltawire::delta::{Kind, FLAG_MORE};
use deltawire::message::{
    appends_pieces, AssembleError, Assembler, Completion, Detail, Failure, Field, LogError, LogSink, Member, MessageLog,
};
use deltawire::stream::{Emitter, Machine, Outcome, Record, Records, FLAG_AUX_SCRATCH, FLAG_TEXT_SCRATCH};
use deltawire::track::Tracker;
use deltawire::{Config, Event, Growing, Parser, Update};
use serde_json::Value;

/// Returns where two values differ, if they do. Doubles may differ in the last bit.
fn difference(one: &Value, other: &Value) -> Option<String> {
    match (one, other) {
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            let mut items = a.iter().zip(b).enumerate();
            items.find_map(|(at, (a, b))| Some(format!("{at} {}", difference(a, b)?)))
        }
        (Value::Object(a), Value::Object(b)) if a.keys().eq(b.keys()) => {
            a.iter().zip(b.values()).find_map(|((name, a), b)| Some(format!("{name} {}", difference(a, b)?)))
        }
        (Value::Number(a), Value::Number(b)) if a.is_f64() && b.is_f64() => {
            let (a, b) = (a.as_f64().unwrap(), b.as_f64().unwrap());
            ((a - b).abs() > a.abs() * 1e-15).then(|| format!("{a} {b}"))
        }
        _ => {
            let difference = format!("{one} {other}");
            (one != other).then(|| difference.chars().take(300).collect())
        }
    }
}

/// A message log and its buffer.
struct Logged<const CHOICES: usize, const CALLS: usize> {
    log: MessageLog<CHOICES, CALLS>,
    buffer: Vec<u8>,
    grown: u64,
}

impl<const CHOICES: usize, const CALLS: usize> Logged<CHOICES, CALLS> {
    fn new(room: usize) -> Self {
        Logged { log: MessageLog::new(), buffer: vec![0xAA; room], grown: 0 }
    }

    /// Adds a chunk, update by update.
    fn add<const TRACKED: usize, const TRACKED_CALLS: usize>(
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

    fn finish<const TRACKED: usize, const TRACKED_CALLS: usize>(
        &mut self,
        tracker: &mut Tracker<TRACKED, TRACKED_CALLS>,
    ) {
        for (choice, update) in tracker.finish() {
            assert_eq!(self.with(|log, buffer| log.put(buffer, choice, &update)), None);
        }
    }

    /// Writes an update completely or not at all.
    fn with(
        &mut self,
        write: impl FnMut(&mut MessageLog<CHOICES, CALLS>, &mut [u8]) -> Result<(), LogError>,
    ) -> Option<LogError> {
        self.write(true, write)
    }

    /// Writes, moving to a larger buffer as often as necessary; the old one is overwritten. If `is_whole`, a write that
    /// does not fit must change nothing.
    fn write(
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

    fn json(&self, detail: Detail) -> String {
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

    fn text(&self, field: Field, choice: u32, call: u32) -> Option<String> {
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

    fn same_members(&self, owner: Owner, choice: u32, call: u32, members: &[Member], what: &str) {
        for member in members {
            let got = self.log.member(&self.buffer, owner, choice, call, &member.name).map(|value| value.raw());
            assert_eq!(got, Some(member.value.as_bytes()), "{what}: {owner:?} {}", member.name);
        }
        assert_eq!(self.log.members(&self.buffer, owner, choice, call).count(), members.len(), "{what}");
    }

    /// Compares every accessor with the message. Returns the number of texts.
    fn compare(&self, message: &Completion, what: &str) -> u64 {
        for (extended, expected) in
            [(false, serde_json::to_value(message).unwrap()), (true, serde_json::to_value(message.extended()).unwrap())]
        {
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
        let lossy = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
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
                let list = (!list.is_empty()).then(|| lossy(list.value().raw()));
                same(field, index, 0, list.as_deref());
            }
            same(Field::FinishReason, index, 0, choice.finish_reason.as_deref());
            let details = lossy(choice.reasoning_details.value().raw());
            same(Field::ReasoningDetails, index, 0, Some(&*details).filter(|details| *details != "[]"));
            self.same_members(Owner::Choice, index, 0, &choice.members, what);
            self.same_members(Owner::Delta, index, 0, &choice.message_members, what);
            same(Field::NativeFinishReason, index, 0, choice.native_finish_reason.as_deref());
            same(Field::ChoiceError, index, 0, error(&choice.error).map(|(_, text)| text).as_deref());
            let function = choice.function_call.as_ref();
            same(Field::FunctionName, index, 0, function.and_then(|call| call.name.as_deref()));
            same(Field::FunctionArguments, index, 0, function.and_then(|call| call.arguments.as_deref()));
            let audio = choice.audio.as_ref();
            same(Field::AudioId, index, 0, audio.and_then(|audio| audio.id.as_deref()));
            let data = audio.map(|audio| lossy(audio.data.value().raw())).filter(|data| data != "[]");
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

fn as_log_error(error: AssembleError) -> LogError {
    match error {
        AssembleError::TooLong => LogError::TooLong,
        AssembleError::TooManyChoices => LogError::TooManyChoices,
        AssembleError::TooManyCalls => LogError::TooManyCalls,
        AssembleError::BadIndex => LogError::BadIndex,
        other => panic!("{other}"),
    }
}

#[derive(Default)]
struct Counts {
    streams: u64,
    chunks: u64,
    texts: u64,
    grown: u64,
    small: u64,
}

/// Builds the message of a stream by push.
fn pushed(bytes: &[u8], config: Config) -> Assembler {
    let mut assembler = Assembler::new();
    let mut parser: Parser<Growing, 2, Wide> = Parser::with_slots(Growing::new(), config, Tracker::new());
    let mut rest = bytes;
    loop {
        let fed = parser.feed(rest, &mut assembler);
        rest = &rest[fed.consumed..];
        if fed.stop.is_none() {
            break;
        }
    }
    while parser.finish_into(&mut assembler).is_err() {}
    assembler
}

type Wide = Tracker<128, 256>;

/// Builds the message of a stream with an emitter, in the smallest sufficient buffer.
fn emitted(bytes: &[u8], config: Config) -> Logged<128, 256> {
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

/// Builds the message of a stream from the records of batches, with the smallest possible scratch.
fn batched(bytes: &[u8], config: Config) -> Logged<128, 256> {
    let mut logged: Logged<128, 256> = Logged::new(0);
    let (mut machine, mut emitter) = (Machine::<2>::with_slots(config), Emitter::new());
    let (mut store, mut tracker) = (Growing::new(), Wide::new());
    let (mut array, mut scratch) = ([Record::default(); 3], vec![0; 64]);
    let mut staged = Vec::new();
    let mut rest = Some(bytes);
    loop {
        let mut records = Records::new(&mut array, &mut scratch, Kind::MESSAGE | Kind::Limit.bit());
        let given = rest.unwrap_or_default();
        let outcome = match rest {
            Some(input) => {
                let (spent, outcome) = emitter.run(&mut machine, &mut store, &mut tracker, input, 0, &mut records);
                rest = Some(&input[spent..]);
                outcome
            }
            None => emitter.finish(&mut machine, &mut store, &mut tracker, &mut records),
        };
        let (written, need) = (records.written(), records.need());
        for record in &array[..written] {
            let bytes = |off: u32, len: u32, flag: u16| {
                let source = if record.flags & flag != 0 { &scratch[..] } else { given };
                &source[off as usize..][..len as usize]
            };
            let text = bytes(record.text_off, record.text_len, FLAG_TEXT_SCRATCH);
            let aux = bytes(record.aux_off, record.aux_len, FLAG_AUX_SCRATCH);
            if appends_pieces(Kind::from_number(record.kind.into()).unwrap()) {
                logged.with(|log, buffer| log.put_record(buffer, record, text, aux));
                continue;
            }
            staged.extend_from_slice(text);
            if record.flags & FLAG_MORE == 0 {
                let is_whole = record.kind != Kind::Chunk as u16;
                logged.write(is_whole, |log, buffer| log.put_record(buffer, record, &staged, aux));
                staged.clear();
            }
        }
        match outcome {
            Outcome::Done if rest.is_some() => rest = None,
            Outcome::Done => return logged,
            Outcome::Full => scratch.resize(need.max(scratch.len()), 0),
            Outcome::Stopped(_) => {}
            outcome => panic!("{outcome:?}"),
        }
    }
}

impl Counts {
    /// Builds the message in each way, in a large buffer, in the smallest sufficient one, and with the default number
    /// of choices and calls.
    fn stream(&mut self, what: &str, bytes: &[u8], config: Config) {
        let mut assembler = Assembler::new();
        let mut ample: Logged<128, 256> = Logged::new(bytes.len() * 8 + (64 << 10));
        let mut tiny: Logged<128, 256> = Logged::new(0);
        let mut small: Logged<8, 32> = Logged::new(0);
        let (mut wide, mut wide_too, mut narrow) = (Wide::new(), Wide::new(), Tracker::<8, 32>::new());
        let mut fits = true;
        // Compare short streams after each chunk.
        let each = bytes.len() < 3000;
        let mut add = |chunk: &Chunk<'_>, counts: &mut Counts| {
            let expected = assembler.add(&Event::Chunk(*chunk)).err().map(as_log_error);
            assert_eq!(ample.with(|log, buffer| log.add_chunk(buffer, &mut wide, chunk)), expected, "{what}");
            assert_eq!(tiny.add(&mut wide_too, chunk), expected, "{what}");
            fits &= small.add(&mut narrow, chunk) == expected;
            counts.chunks += 1;
            if each {
                counts.texts += tiny.compare(&assembler.message().unwrap(), what);
            }
        };
        let mut parser: Parser<Growing, 0, ()> = Parser::with_slots(Growing::new(), config, ());
        let mut input = bytes;
        loop {
            match parser.next(&mut input) {
                Ok(None) => break,
                Ok(Some(Event::Chunk(chunk))) => add(&chunk, self),
                _ => {}
            }
        }
        loop {
            match parser.finish() {
                Ok(None) => break,
                Ok(Some(Event::Chunk(chunk))) => add(&chunk, self),
                _ => {}
            }
        }
        assembler.finish().unwrap();
        ample.finish(&mut wide);
        tiny.finish(&mut wide_too);
        let message = assembler.message().unwrap();
        for log in [&ample, &tiny, &emitted(bytes, config), &batched(bytes, config)] {
            self.texts += log.compare(&message, what);
            assert_eq!(assembler.json(Detail::Extended).unwrap(), log.json(Detail::Extended).into_bytes(), "{what}");
            assert_eq!(log.log.left_out(), assembler.error().map(as_log_error), "{what}");
        }
        let pushed = pushed(bytes, config);
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
            small.finish(&mut narrow);
            self.texts += small.compare(&message, what);
            self.small += 1;
        }
        self.grown += tiny.grown;
        self.streams += 1;
    }

    fn print(&self, what: &str) {
        let Counts { streams, chunks, texts, grown, small } = self;
        println!(
            "message_log, {what}: {streams} streams ({small} also with 8 choices), {chunks} chunks, {texts} texts, \
             {grown} moves"
        );
        assert!(*small > 0 && *texts > *streams);
    }
}

#[test]
fn samples_and_recorded_streams() {
    let mut counts = Counts::default();
    samples().iter().for_each(|stream| counts.stream(&stream.name, &stream.bytes, Config::default()));
    counts.print("samples");
    let streams = recorded("message_log");
    if !streams.is_empty() {
        let mut counts = Counts::default();
        streams.iter().for_each(|stream| counts.stream(&stream.name, &stream.bytes, Config::default()));
        counts.print("corpus");
    }
}

#[test]
fn every_quirk() {
    let mut counts = Counts::default();
    for case in common::case::all() {
        counts.stream(&case.title(), &case.input, case.config);
    }
    counts.print("quirks");
}

/// Passes each payload to `see` as a chunk.
fn each_chunk(payloads: &[String], mut see: impl FnMut(&Chunk<'_>)) {
    let mut index = Index::new();
    for payload in payloads {
        see(&Chunk::read(payload.as_bytes(), &mut index).unwrap());
    }
}

fn delta(choice: u32, members: &str) -> String {
    format!(r#"{{"choices":[{{"index":{choice},"delta":{{{members}}}}}]}}"#)
}

/// Generates a payload of random members, with the deviations of real streams and worse ones.
fn random_payload(random: &mut impl FnMut(usize) -> usize) -> String {
    let texts = ["", "a", "bc", "\\ud83d", "\\ude00x", "\\n\\u0000\\\"", "\\q", "\u{e4}\u{1f600}", "{}", "\u{1}"];
    let indexes = ["0", "0", "0", "1", "1", "7", "-1", "\"2\"", "99999999999", "null"];
    let raws = [
        "[]",
        "[1]",
        "[{\"a\":\"\\ud800\"},2]",
        "[x]",
        "[1,[2,x],{\"b\":[y],\"c\":3}]",
        "{}",
        "null",
        "\"x\"",
        "[\"\\q\"]",
    ];
    let text = |random: &mut dyn FnMut(usize) -> usize| texts[random(texts.len())].to_string();
    let tool = |random: &mut dyn FnMut(usize) -> usize| {
        let mut call = Vec::new();
        if random(3) > 0 {
            call.push(format!(r#""index":{}"#, indexes[random(indexes.len())]));
        }
        if random(3) == 0 {
            call.push(format!(r#""id":"{}""#, ["", "x", "y"][random(3)]));
        }
        if random(4) == 0 {
            call.push(format!(r#""type":"{}""#, ["function", "custom"][random(2)]));
        }
        let (outer, input) = [("function", "arguments"), ("custom", "input")][usize::from(random(6) == 0)];
        let name = ["", "get", "get_weather", "get", "set"][random(5)];
        let arguments = ["\"\"", "\"{\\\"a\\\":\"", "\"1}\"", "\"\\ud83d\"", "\"\\ude00\"", "{\"x\":1}"][random(6)];
        match random(4) {
            0 => call.push(format!(r#""{outer}":{{"name":"{name}"}}"#)),
            1 => call.push(format!(r#""{outer}":{{"name":"{name}","{input}":{arguments}}}"#)),
            2 => call.push(format!(r#""{outer}":{{"{input}":{arguments}}}"#)),
            _ => {}
        }
        format!("{{{}}}", call.join(","))
    };
    let detail = |random: &mut dyn FnMut(usize) -> usize| {
        let index = ["0", "0", "1", "null"][random(4)];
        let rest = ["", ",\"data\":\"ENC\"", ",\"signature\":\"s\"", ",\"format\":null"][random(4)];
        let kind = ["text", "summary"][random(2)];
        format!(r#"{{"type":"reasoning.{kind}","{kind}":"{}","index":{index}{rest}}}"#, text(random))
    };
    let body = |random: &mut dyn FnMut(usize) -> usize| {
        let mut members = Vec::new();
        for _ in 0..random(4) {
            members.push(match random(13) {
                11 => format!(r#""reasoning_details":[{},{}]"#, detail(random), detail(random)),
                12 => format!(r#""sign\u0061ture":{},"reasoning_details":null"#, raws[random(raws.len())]),
                0 => format!(r#""role":"{}""#, ["assistant", "tool", ""][random(3)]),
                1 | 2 => format!(r#""content":"{}""#, text(random)),
                3 => format!(r#""reasoning":"{}""#, text(random)),
                4 => format!(r#""refusal":"{}""#, text(random)),
                5 | 6 => {
                    let calls: Vec<String> = (0..random(4)).map(|_| tool(random)).collect();
                    format!(r#""tool_calls":[{}]"#, calls.join(","))
                }
                7 => match random(3) {
                    0 => r#""function_call":{}"#.to_string(),
                    1 => format!(r#""function_call":{{"name":"{}"}}"#, ["f", "fg", "h"][random(3)]),
                    _ => format!(r#""function_call":{{"arguments":"{}"}}"#, text(random)),
                },
                8 => match random(3) {
                    0 => r#""audio":{}"#.to_string(),
                    1 => format!(r#""audio":{{"id":"{}","data":"{}"}}"#, text(random), text(random)),
                    _ => format!(r#""audio":{{"transcript":"{}","expires_at":{}}}"#, text(random), random(100)),
                },
                9 => format!(r#""annotations":{}"#, raws[random(raws.len())]),
                _ => format!(r#""content":["{}",{{"type":"thinking","thinking":"t"}}]"#, text(random)),
            });
        }
        members.join(",")
    };
    let choice = |random: &mut dyn FnMut(usize) -> usize| {
        let mut members = vec![format!(r#""index":{}"#, indexes[random(indexes.len())])];
        match random(8) {
            0 => members.push(format!(r#""message":{{{}}}"#, body(random))),
            1 => members.push(format!(r#""delta":{{{}}},"message":{{{}}}"#, body(random), body(random))),
            2 => {}
            _ => members.push(format!(r#""delta":{{{}}}"#, body(random))),
        }
        match random(11) {
            4 => members.push(format!(r#""content_filter_results":{}"#, raws[random(raws.len())])),
            0 => members.push(format!(r#""finish_reason":"{}""#, ["stop", "length", ""][random(3)])),
            1 => members.push(format!(r#""native_finish_reason":"{}""#, ["END", "MAX", ""][random(3)])),
            2 => {
                let names = ["content", "refusal", "tokens", "token_logprobs", "top_logprobs", "text_offset", "other"];
                let mut list = || format!(r#""{}":{}"#, names[random(7)], raws[random(raws.len())]);
                members.push(format!(r#""logprobs":{{{},{}}}"#, list(), list()));
            }
            3 => members
                .push(format!(r#""error":{}"#, ["\"bad\"", "{\"message\":\"m\",\"code\":5}", "[x]", "{}"][random(4)])),
            _ => {}
        }
        format!("{{{}}}", members.join(","))
    };
    let mut members = Vec::new();
    for _ in 0..random(3) {
        members.push(match random(12) {
            9 => format!(r#""citations":{}"#, raws[random(raws.len())]),
            10 => format!(r#""timings":{{"n":-0,"m":{}}},"obfuscation":"x""#, random(1000)),
            11 => r#""x_groq":{"id":"q","usage":{"seed":15924764223251450000}},"n\"":1"#.to_string(),
            0 => format!(r#""id":"{}""#, text(random)),
            1 => format!(r#""model":"{}""#, text(random)),
            2 => format!(r#""provider":"{}""#, text(random)),
            3 => format!(r#""created":{}"#, ["0", "17", "\"18\"", "x"][random(3)]),
            4 => format!(r#""service_tier":{}"#, ["\"t\"", "1", "true"][random(3)]),
            5 => format!(r#""system_fingerprint":"{}","object":"{}""#, text(random), text(random)),
            6 => format!(r#""error":{}"#, ["\"bad\"", "{\"message\":\"m\"}", "[1,x]", "null"][random(4)]),
            _ => format!(r#""usage":{{"a":{},"b":{}}}"#, random(1000), raws[random(raws.len())]),
        });
    }
    let choices: Vec<String> = (0..[0, 1, 1, 1, 2, 3][random(6)]).map(|_| choice(random)).collect();
    members.push(format!(r#""choices":[{}]"#, choices.join(",")));
    format!("{{{}}}", members.join(","))
}

#[test]
fn generated_streams() {
    let mut counts = Counts::default();
    let mut state = 11u64;
    let mut random = |bound: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % bound as u64) as usize
    };
    for run in (0..2000).step_by(common::thin::thin()) {
        let payloads: Vec<String> = (0..2 + random(30)).map(|_| random_payload(&mut random)).collect();
        let stream: String = payloads.iter().map(|payload| format!("data: {payload}\n\n")).collect();
        counts.stream(&format!("run {run}"), stream.as_bytes(), Config::default());
    }
    counts.print("generated");
}

#[test]
fn a_buffer_that_is_too_small_changes_nothing() {
    let payloads = [
        r#"{"id":"c","model":"m\u00e9","choices":[{"index":0,"delta":{"role":"r","content":"abc"}}]}"#.to_string(),
        delta(0, r#""content":"d\ud83d""#),
        delta(0, r#""content":"\ude00""#),
        delta(0, r#""tool_calls":[{"index":0,"id":"x","function":{"name":"f","arguments":"{"}},{"index":1,"id":"y"}]"#),
        delta(0, r#""tool_calls":[{"index":0,"function":{"name":"fun","arguments":"}"}}]"#),
        delta(1, r#""content":"\ud83d","annotations":[1,2]"#),
        r#"{"choices":[{"index":2,"message":{"content":"whole","role":"r"},"logprobs":{"content":[1]}}]}"#.to_string(),
        r#"{"choices":[{"index":2,"delta":{"content":"delta"},"finish_reason":"stop"}]}"#.to_string(),
        r#"{"choices":[{"index":2,"finish_reason":"longer"}],"usage":{"total_tokens":1}}"#.to_string(),
        r#"{"choices":[],"usage":{"total_tokens":22},"error":"e"}"#.to_string(),
        r#"{"choices":[],"citations":["a"]}"#.to_string(),
        delta(0, r#""reasoning_details":[{"type":"t","index":0,"text":"a"}]"#),
        delta(0, r#""reasoning_details":[{"type":"t","index":0,"text":"b"},{"data":"c"}]"#),
    ];
    let (mut tracker, mut log): (Tracker, MessageLog) = Default::default();
    let mut buffer = vec![0; 4096];
    let mut tried = 0;
    #[allow(clippy::type_complexity)] // A closure of this test alone.
    let mut step = |write: &mut dyn FnMut(&mut MessageLog, &mut [u8]) -> Result<(), LogError>| {
        let (len, state, bytes) = (log.len(), format!("{log:?}"), buffer.clone());
        let mut ample = log.clone();
        let mut room = buffer.clone();
        assert_eq!(write(&mut ample, &mut room), Ok(()));
        for size in len..ample.len() {
            let mut small = bytes[..size].to_vec();
            let Err(LogError::NeedStorage { need }) = write(&mut log, &mut small) else { panic!("{size} bytes did") };
            assert!(need >= ample.len() && need >= size + size / 2, "{need}");
            assert!(need <= ample.len().max(size + size / 2), "{need} of {size}");
            assert_eq!((format!("{log:?}"), &small[..len]), (state.clone(), &bytes[..len]));
            tried += 1;
        }
        // Exactly that many bytes suffice.
        let mut exact = bytes[..ample.len()].to_vec();
        assert_eq!(write(&mut log, &mut exact), Ok(()));
        assert_eq!(exact, room[..ample.len()]);
        buffer[..exact.len()].copy_from_slice(&exact);
    };
    each_chunk(&payloads, |chunk| {
        // Each write separately, since each must be complete or have no effect.
        step(&mut |log, buffer| log.head(buffer, chunk.id(), None, None));
        step(&mut |log, buffer| log.head(buffer, chunk.id(), chunk.model(), None));
        for (choice, update) in tracker.updates(chunk) {
            step(&mut |log, buffer| log.put(buffer, choice, &update));
        }
    });
    for (choice, update) in tracker.finish() {
        step(&mut |log, buffer| log.put(buffer, choice, &update));
    }
    assert!(tried > 200, "{tried}");
    let mut text = [0; 8];
    assert_eq!(log.text(&buffer, Field::Content, 0, 0, &mut text), Some(8));
    assert_eq!(text, *"abcd\u{1f600}".as_bytes());
}

#[test]
fn a_chunk_is_written_completely_or_not_at_all() {
    let payload =
        r#"{"id":"c","choices":[{"index":0,"delta":{"role":"r","content":"abc\ud83d"},"finish_reason":"s"}]}"#;
    each_chunk(&[payload.to_string()], |chunk| {
        let (mut tracker, mut log): (Tracker, MessageLog) = Default::default();
        let fresh = format!("{tracker:?} {log:?}");
        let mut buffer = Vec::new();
        let mut moves = 0;
        while let Err(error) = log.add_chunk(&mut buffer, &mut tracker, chunk) {
            let LogError::NeedStorage { need } = error else { panic!("{error}") };
            assert!(need > buffer.len());
            assert_eq!(format!("{tracker:?} {log:?}"), fresh);
            // One byte less does not suffice.
            buffer = vec![0; need - 1];
            let again = log.add_chunk(&mut buffer, &mut tracker, chunk);
            assert!(matches!(again, Err(LogError::NeedStorage { .. })), "{again:?}");
            assert_eq!(format!("{tracker:?} {log:?}"), fresh);
            buffer.push(0);
            moves += 1;
        }
        assert_eq!(moves, 1);
        let mut text = [0; 6];
        assert_eq!(log.text(&buffer, Field::Content, 0, 0, &mut text), Some(6));
        assert_eq!(text, *"abc\u{fffd}".as_bytes());
    });
}

#[test]
fn a_log_with_a_limit_has_no_gap() {
    let mut log: MessageLog = MessageLog::with_limit(10);
    let mut tracker: Tracker = Tracker::new();
    let mut buffer = vec![0; 4096];
    let mut add = |payload: String| {
        let mut done = None;
        each_chunk(&[payload], |chunk| done = log.add_chunk(&mut buffer, &mut tracker, chunk).err());
        (done, log.left_out(), log.text(&buffer, Field::Content, 0, 0, &mut []))
    };
    let too_long = Some(LogError::TooLong);
    assert_eq!(add(delta(0, r#""content":"12345""#)), (None, None, Some(5)));
    assert_eq!(add(delta(0, r#""content":"123456""#)), (too_long, too_long, Some(5)));
    assert_eq!(add(delta(0, r#""content":"6""#)), (too_long, too_long, Some(5)));
    // Members that replace others or stand alone are still accepted.
    assert_eq!(add(delta(0, r#""role":"roles""#)), (None, too_long, Some(5)));
    assert_eq!(add(delta(1, r#""role":"r""#)), (too_long, too_long, Some(5)));
}

#[test]
fn replaced_values_make_room() {
    let mut log: MessageLog = MessageLog::new();
    let mut buffer = vec![0; 1 << 20];
    let usage: Vec<String> = (0..5000)
        .map(|n| {
            let choice = r#"{"index":0,"delta":{"content":"word "}}"#;
            let pad = "x".repeat(n % 50);
            format!(r#"{{"choices":[{choice}],"usage":{{"total_tokens":{n},"pad":"{pad}"}}}}"#)
        })
        .collect();
    let mut tracker: Tracker = Tracker::new();
    let mut longest = 0;
    each_chunk(&usage, |chunk| {
        log.add_chunk(&mut buffer, &mut tracker, chunk).unwrap();
        longest = longest.max(log.len());
    });
    let mut text = vec![0; 25_000];
    assert_eq!(log.text(&buffer, Field::Content, 0, 0, &mut text), Some(25_000));
    assert_eq!(text, b"word ".repeat(5000));
    // The log drops replaced usage, so it is little longer than the text.
    assert!(longest < 3 * 25_000 + 4096, "{longest}");

    assert!(!log.is_empty());
    log.reset();
    tracker.reset();
    assert!(log.is_empty());
    let messages: Vec<String> = (0..1000)
        .map(|n| format!(r#"{{"choices":[{{"index":0,"message":{{"content":"{}"}}}}]}}"#, "ab".repeat(n)))
        .collect();
    let mut longest = 0;
    each_chunk(&messages, |chunk| {
        log.add_chunk(&mut buffer, &mut tracker, chunk).unwrap();
        longest = longest.max(log.len());
    });
    assert_eq!(log.text(&buffer, Field::Content, 0, 0, &mut text), Some(1998));
    assert_eq!(text[..1998], *"ab".repeat(999).as_bytes());
    assert!(longest < 3 * 2000 + 2048, "{longest}");
}

#[test]
fn whole_messages_go_on_with_one_another() {
    let messages = [
        r#""role":"a","content":"c","reasoning":"r","refusal":"n","annotations":[1,2],
            "function_call":{"name":"fun","arguments":"args"},
            "audio":{"id":"i","data":"QQ==","transcript":"t","expires_at":7},
            "tool_calls":[{"index":3,"id":"x","function":{"name":"f","arguments":"{}"}},{"index":3,"id":"y"}]"#,
        r#""role":"b","content":"d","annotations":[3],"tool_calls":[{"id":"z","custom":{"name":"g","input":"in"}}]"#,
        r#""annotations":[],"audio":{"transcript":"u"}"#,
        r#""role":"a","content":"cd","reasoning":"r","refusal":"no","annotations":[1,2],
            "function_call":{"name":"fun","arguments":"args..."},
            "tool_calls":[{"index":3,"id":"x","function":{"name":"f","arguments":"{}"}},{"index":3,"id":"y"},{"id":"z"}]"#,
        r#""refusal":"no","reasoning":"q","function_call":{"name":"other"}"#,
        "",
    ];
    let mut counts = Counts::default();
    for first in messages {
        for second in messages {
            for last in [r#""message":{"content":"m"}"#, r#""delta":{"content":"e"}"#, r#""delta":{"role":"s"}"#] {
                let choices =
                    [format!(r#""message":{{{first}}}"#), format!(r#""message":{{{second}}}"#), last.to_string()];
                let events = choices.map(|choice| {
                    let payload = format!(r#"{{"choices":[{{"index":2,{choice}}}]}}"#).replace('\n', "");
                    format!("data: {payload}\n\n")
                });
                counts.stream(&events.concat(), events.concat().as_bytes(), Config::default());
            }
        }
    }
    counts.print("messages");
}

#[test]
fn names_that_grow_replace_what_was_there() {
    let pieces = [
        r#""function_call":{"name":"ge"}"#,
        r#""function_call":{"name":"get"}"#,
        r#""function_call":{"name":"_it"},"role":"a""#,
        r#""function_call":{"name":"get_it_all","arguments":"x"},"role":"b""#,
        r#""tool_calls":[{"index":0,"function":{"name":"ge"}},{"index":1,"function":{"name":"ge"}}]"#,
        r#""tool_calls":[{"index":1,"function":{"name":"get"}},{"index":0,"function":{"name":"x"}}]"#,
    ];
    let stream: String = pieces.iter().map(|piece| format!("data: {}\n\n", delta(1, piece))).collect();
    Counts::default().stream("names", stream.as_bytes(), Config::default());
}

#[test]
fn choices_and_calls_are_bounded() {
    let (mut log, mut tracker): (MessageLog<2, 2>, Tracker) = Default::default();
    let mut buffer = vec![0; 4096];
    let chunks = [
        r#"{"choices":[{"index":5,"delta":{"content":"a"}},{"index":3,"delta":{"content":"b"}},{"index":4,"delta":{"content":"c"}}],"usage":{"n":1}}"#.to_string(),
        delta(5, r#""tool_calls":[{"index":9,"id":"a"},{"index":8,"id":"b"},{"index":7,"id":"c","function":{"name":"n","arguments":"x"}}]"#),
        r#"{"choices":[{"index":3,"native_finish_reason":"x"},{"index":6,"native_finish_reason":"y"}]}"#.to_string(),
    ];
    let mut expected = [LogError::TooManyChoices, LogError::TooManyCalls, LogError::TooManyChoices].into_iter();
    each_chunk(&chunks, |chunk| assert_eq!(log.add_chunk(&mut buffer, &mut tracker, chunk).err(), expected.next()));
    assert_eq!(
        (log.choices(), log.choice_index(0), log.choice_index(1), log.choice_index(2)),
        (2, Some(3), Some(5), None)
    );
    assert_eq!((log.calls(5), log.calls(3), log.calls(4)), (2, 0, 0));
    let mut text = [0; 1];
    assert_eq!(log.text(&buffer, Field::CallId, 5, 0, &mut text).map(|_| text), Some(*b"b"));
    assert_eq!(log.text(&buffer, Field::CallId, 5, 1, &mut text).map(|_| text), Some(*b"a"));
    assert_eq!(log.text(&buffer, Field::NativeFinishReason, 3, 0, &mut text).map(|_| text), Some(*b"x"));
    assert_eq!(log.text(&buffer, Field::Content, 4, 0, &mut text), None);

    // A message with too many calls: the excess calls are skipped, and the rest is kept.
    let (mut log, mut tracker): (MessageLog<2, 2>, Tracker) = Default::default();
    let message = |content: &str, calls: &str| {
        format!(r#"{{"choices":[{{"message":{{"content":"{content}","tool_calls":[{calls}]}}}}]}}"#)
    };
    let (two, three) = (r#"{"id":"a"},{"id":"b"}"#, r#"{"id":"a"},{"id":"b"},{"id":"c","function":{"name":"n"}}"#);
    let mut expected = [None, Some(LogError::TooManyCalls)].into_iter();
    each_chunk(&[message("x", two), message("xy", three)], |chunk| {
        assert_eq!(log.add_chunk(&mut buffer, &mut tracker, chunk).err(), expected.next().unwrap());
    });
    assert_eq!(log.calls(0), 2);
    assert_eq!(log.text(&buffer, Field::CallId, 0, 1, &mut text).map(|_| text), Some(*b"b"));
    let mut text = [0; 2];
    assert_eq!(log.text(&buffer, Field::Content, 0, 0, &mut text).map(|_| text), Some(*b"xy"));
}

#[test]
fn texts_of_errors() {
    let mut buffer = vec![0; 4096];
    let mut text = [0; 64];
    let mut text_of = |log: &MessageLog, buffer: &[u8], field| {
        let len = log.text(buffer, field, 0, 0, &mut text);
        len.map(|len| String::from_utf8(text[..len].to_vec()).unwrap())
    };
    let mut log: MessageLog = MessageLog::new();
    let payload =
        r#"{"error":{"message":"sl\u00f6w","code":429,"type":"t"},"choices":[{"error":{"message":"m","code":"c"}}]}"#;
    each_chunk(&[payload.to_string()], |chunk| {
        log.add_chunk(&mut buffer, &mut Tracker::<8, 32>::new(), chunk).unwrap()
    });
    for (field, expected) in [
        (Field::Error, Some(r#"{"message":"sl\u00f6w","code":429,"type":"t"}"#)),
        (Field::ErrorMessage, Some("sl\u{f6}w")),
        (Field::ErrorCode, Some("429")),
        (Field::ErrorType, Some("t")),
        (Field::ChoiceError, Some(r#"{"message":"m","code":"c"}"#)),
        (Field::ChoiceErrorMessage, Some("m")),
        (Field::ChoiceErrorCode, Some("c")),
        (Field::ChoiceErrorType, None),
    ] {
        assert_eq!(text_of(&log, &buffer, field).as_deref(), expected, "{field:?}");
    }

    let mut log: MessageLog = MessageLog::new();
    let mut parser = Parser::new([0; 512]);
    let mut input = &b"event: error\ndata: out of \xff luck\n\n"[..];
    while let Some(event) = parser.next(&mut input).unwrap() {
        let Event::Chunk(chunk) = event else { continue };
        log.add_chunk(&mut buffer, &mut Tracker::<8, 32>::new(), &chunk).unwrap();
    }
    assert_eq!(text_of(&log, &buffer, Field::Error).as_deref(), Some("out of \u{fffd} luck"));
    assert_eq!(text_of(&log, &buffer, Field::ErrorMessage).as_deref(), Some("out of \u{fffd} luck"));
    assert_eq!(text_of(&log, &buffer, Field::ErrorCode), None);
    assert_eq!(log.error_is_json(&buffer), Some(false));
}

/// Returns the message of these payloads, as extended JSON.
fn extended(payloads: &[String]) -> String {
    let (mut tracker, mut logged) = (Tracker::<128, 256>::new(), Logged::<128, 256>::new(0));
    each_chunk(payloads, |chunk| assert_eq!(logged.add(&mut tracker, chunk), None));
    logged.json(Detail::Extended)
}

#[test]
fn a_whole_message_keeps_its_members() {
    let json = extended(&[
        r#"{"choices":[{"index":0,"message":{"content":"x","mm":3,"reasoning_details":[{"type":"reasoning.encrypted","data":"AA"}]},"finish_reason":"stop"}]}"#.to_string(),
    ]);
    let end = r#""message":{"content":"x","reasoning_details":[{"type":"reasoning.encrypted","data":"AA"}],"mm":3},"finish_reason":"stop"}]}"#;
    assert!(json.ends_with(end), "{json}");
}

#[test]
fn provider_members_are_kept_unchanged() {
    let json = extended(&[
        r#"{"id":"c","citations":["a"],"timings":{"n":1},"x_groq":{"id":"q"},"obfuscation":"pad","choices":[{"index":0,"delta":{"content":"a","sig":"1"},"content_filter_results":{},"stop_reason":null}]}"#.to_string(),
        r#"{"citations":["a", "b"],"timings":{"n": -0,"m":18446744073709551616},"choices":[{"index":0,"delta":{"sig":null,"content":"b"},"stop_reason":7}]}"#.to_string(),
        r#"{"citations":null,"choices":[{"index":1,"delta":{"content":"c","sig":"2"},"content_filter_results":{"x":1}}],"\u0063itations":["c"]}"#.to_string(),
    ]);
    assert_eq!(
        json,
        concat!(
            r#"{"id":"c","object":"chat.completion","choices":["#,
            r#"{"index":0,"message":{"content":"ab","sig":"1"},"finish_reason":null,"content_filter_results":{},"stop_reason":7},"#,
            r#"{"index":1,"message":{"content":"c","sig":"2"},"finish_reason":null,"content_filter_results":{"x":1}}],"#,
            r#""citations":["c"],"timings":{"n": -0,"m":18446744073709551616},"x_groq":{"id":"q"}}"#,
        )
    );
}

#[test]
fn reasoning_keeps_the_name_it_came_by() {
    let name = |payloads: &[String]| {
        let (mut tracker, mut logged) = (Tracker::<128, 256>::new(), Logged::<128, 256>::new(0));
        let mut assembler = Assembler::new();
        each_chunk(payloads, |chunk| {
            assert_eq!(logged.add(&mut tracker, chunk), None);
            assembler.add(&Event::Chunk(*chunk)).unwrap();
        });
        logged.compare(&assembler.message().unwrap(), "a name");
        let plain: Value = serde_json::from_str(&logged.json(Detail::Standard)).unwrap();
        assert_eq!(plain["choices"][0]["message"]["reasoning_content"], "ab");
        let json: Value = serde_json::from_str(&logged.json(Detail::Extended)).unwrap();
        let message = json["choices"][0]["message"].as_object().unwrap();
        assert_eq!(message.values().filter(|value| *value == "ab").count(), 1);
        let (written, _) = message.iter().find(|(_, value)| *value == "ab").unwrap();
        assert_eq!(written, logged.text(Field::ReasoningName, 0, 0).as_deref().unwrap_or("reasoning_content"));
        logged.text(Field::ReasoningName, 0, 0)
    };
    let deltas = |members: &[&str]| members.iter().map(|members| delta(0, members)).collect::<Vec<_>>();
    for known in ["reasoning_content", "reasoning", "thinking", "thought"] {
        let (a, b) = (format!(r#""{known}":"a""#), format!(r#""{known}" : "b""#));
        assert_eq!(name(&deltas(&[&a, &b])).as_deref(), Some(known));
        // Empty or null reasoning does not count.
        let other = if known == "reasoning" { "reasoning_content" } else { "reasoning" };
        assert_eq!(
            name(&deltas(&[&format!(r#""{other}":"""#), &format!(r#"{a},"{other}":null"#), &b])).as_deref(),
            Some(known)
        );
        let message = format!(r#"{{"choices":[{{"message":{{"content":"c","{known}":"ab"}}}}]}}"#);
        assert_eq!(name(&[message]).as_deref(), Some(known));
    }
    assert_eq!(name(&deltas(&[r#""reasonin\u0067":"a""#, r#""reasoning_content":"b""#])).as_deref(), Some("reasoning"));
    // Of two in one chunk the first in the order of precedence; of two chunks the earlier.
    assert_eq!(
        name(&deltas(&[r#""reasoning":"a","reasoning_content":"a""#, r#""reasoning":"b""#])).as_deref(),
        Some("reasoning_content")
    );
    // Neither of these names a member of the delta.
    assert_eq!(name(&deltas(&[r#""reasoning_details":[{"text":"ab"}]"#])), None);
    assert_eq!(name(&deltas(&[r#""content":[{"type":"thinking","thinking":"ab"}]"#])), None);
    // After more choices than fit a page.
    let choices = (0..12).rev().map(|index| {
        let reasoning = if index == 0 { r#""thinking":"ab""# } else { r#""content":"c""# };
        format!(r#"{{"index":{index},"delta":{{{reasoning}}}}}"#)
    });
    let chunk = format!(r#"{{"choices":[{}]}}"#, choices.collect::<Vec<_>>().join(","));
    assert_eq!(name(&[chunk]).as_deref(), Some("thinking"));
}

#[test]
fn each_choice_has_its_own_name_of_reasoning() {
    let stream = concat!(
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"reasoning\":\"a\"}},{\"index\":2,\"delta\":{\"content\":\"c\"}}]}\n\n",
        "data: {\"choices\":[{\"index\":2,\"delta\":{\"reasoning_content\":\"b\"}}]}\n\n",
        "data: {\"choices\":[{\"index\":1,\"delta\":{\"thinking\":\"d\"}},{\"index\":0,\"delta\":{\"thought\":\"e\"}}]}\n\n",
    );
    let mut counts = Counts::default();
    counts.stream("names of reasoning", stream.as_bytes(), Config::default());
    let names = pushed(stream.as_bytes(), Config::default()).message().unwrap();
    let names: Vec<_> = names.choices.iter().map(|choice| choice.reasoning_name.as_deref().unwrap()).collect();
    assert_eq!(names, ["reasoning", "thinking", "reasoning_content"]);
    let json = batched(stream.as_bytes(), Config::default()).json(Detail::Extended);
    for (place, name, text) in [(0, "reasoning", "ae"), (1, "thinking", "d"), (2, "reasoning_content", "b")] {
        assert_eq!(serde_json::from_str::<Value>(&json).unwrap()["choices"][place]["message"][name], text, "{json}");
    }
}

/// The message of these tool calls of choice 1, each the array of a chunk, read in every way.
fn message_of_calls(arrays: &[&str]) -> Completion {
    let chunk = |calls: &&str| format!("data: {}\n\n", delta(1, &format!(r#""tool_calls":{calls}"#)));
    let stream: String = arrays.iter().map(chunk).collect();
    Counts::default().stream("members of calls", stream.as_bytes(), Config::default());
    pushed(stream.as_bytes(), Config::default()).message().unwrap()
}

#[test]
fn a_tool_call_keeps_its_members() {
    let signature = r#"{"google": {"thought_signature":"c2ln"}}"#;
    let first = format!(
        r#"[{{"index":0,"id":"a","type":"function","extra_content":{signature},
        "function":{{"name":"f","arguments":"{{","strict":null,"fields":[1]}}}},
        {{"index":1,"id":"b","x":1,"custom":{{"name":"g","input":"i","y":"z"}},"obfuscation":"pad"}}]"#
    )
    .replace('\n', "");
    let message = message_of_calls(&[
        &first,
        r#"[{"index":0,"function":{"arguments":"}","fields":[2]},"later":-0}]"#,
        r#"[{"index":1,"x":null,"custom":{"input":"n"}},{"index":1,"x":18446744073709551616,"custom":{"input":"!"}}]"#,
    ]);
    let json = serde_json::to_value(&message).unwrap();
    let calls = &json["choices"][0]["message"]["tool_calls"];
    assert_eq!(calls[0]["extra_content"], serde_json::from_str::<Value>(signature).unwrap());
    assert_eq!(calls[0]["function"], serde_json::json!({"name": "f", "arguments": "{}", "fields": [2]}));
    assert_eq!(calls[1]["custom"], serde_json::json!({"name": "g", "input": "in!", "y": "z"}));
    let raw = |members: &[Member]| -> Vec<(String, String)> {
        let text = |member: &Member| String::from_utf8(member.value.as_bytes().to_vec()).unwrap();
        members.iter().map(|member| (member.name.clone(), text(member))).collect()
    };
    let pair = |name: &str, value: &str| (name.to_string(), value.to_string());
    let calls = &message.choices[0].tool_calls;
    assert_eq!(raw(&calls[0].members), [pair("extra_content", signature), pair("later", "-0")]);
    assert_eq!(raw(&calls[1].members), [pair("x", "18446744073709551616")]);
}

#[test]
fn a_member_alone_belongs_to_the_call_that_it_selects() {
    let members = |arrays: &[&str]| -> Vec<usize> {
        message_of_calls(arrays).choices[0].tool_calls.iter().map(|call| call.members.len()).collect()
    };
    // It opens no call, but waits for it, whatever opens before: each call has its own.
    assert_eq!(members(&[r#"[{"index":0,"x":1}]"#]), [0usize; 0]);
    assert_eq!(members(&[r#"[{"index":0,"x":1}]"#, r#"[{"index":0,"id":"a"}]"#]), [1]);
    assert_eq!(members(&[r#"[{"x":1}]"#, r#"[{"index":0,"function":{"name":"f"}}]"#]), [1]);
    let early = r#"[{"index":1,"x":1,"y":1},{"index":0,"function":{"z":1}}]"#;
    let call = |index: u32| format!(r#"[{{"index":{index},"id":"{index}","function":{{"name":"f","strict":true}}}}]"#);
    let (zero, one) = (call(0), call(1));
    assert_eq!(members(&[early, &zero, &one]), [0, 2]);
    assert_eq!(members(&[early, &one, &zero]), [0, 2]);
    let functions = message_of_calls(&[early, &one, &zero]);
    let names = |call: &deltawire::message::ToolCall| {
        call.function_members.iter().map(|member| member.name.clone()).collect::<Vec<_>>()
    };
    let names: Vec<_> = functions.choices[0].tool_calls.iter().map(names).collect();
    assert_eq!(names, [vec!["z", "strict"], vec!["strict"]]);
    let two = r#"[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}},{"index":1,"id":"b"}]"#;
    assert_eq!(members(&[two, r#"[{"index":0,"function":{"arguments":""},"x":1}]"#]), [1, 0]);
    assert_eq!(members(&[two, r#"[{"index":1,"x":1},{"index":0,"y":1,"z":2}]"#]), [2, 1]);
    assert_eq!(members(&[two, r#"[{"index":2,"x":1}]"#]), [0, 0]);
    assert_eq!(members(&[two, r#"[{"index":2,"x":1}]"#, r#"[{"index":2,"id":"c"}]"#]), [0, 0, 1]);
    // What was sent once more is in the place of what was.
    assert_eq!(members(&[two, r#"[{"index":1,"x":1}]"#, r#"[{"index":1,"x":2,"x":3}]"#]), [0, 1]);
}

#[test]
fn a_call_of_a_whole_message_keeps_its_members() {
    let chunk = |content: &str, value: u32| {
        format!(
            "data: {{\"choices\":[{{\"index\":0,\"message\":{{\"content\":\"{content}\",\"tool_calls\":[{{\"id\":\"a\",\
             \"extra_content\":{value},\"function\":{{\"name\":\"f\",\"arguments\":\"{{}}\"}}}}]}}}}]}}\n\n"
        )
    };
    let stream = chunk("c", 1) + &chunk("cd", 2);
    Counts::default().stream("members of messages", stream.as_bytes(), Config::default());
    let message = pushed(stream.as_bytes(), Config::default()).message().unwrap();
    assert_eq!(message.choices[0].tool_calls[0].members[0].value.as_bytes(), b"2");
}

#[test]
fn audio_stays_in_pieces() {
    let payloads = [
        delta(0, r#""audio":{"id":"i","data":"QQ==","transcript":"a "}"#),
        delta(0, r#""audio":{"data":"","transcript":"b"}"#),
        delta(0, r#""content":"c""#),
        delta(0, r#""audio":{"data":"Q\/\u0042="}"#),
        delta(0, r#""audio":{"data":"\"","expires_at":7}"#),
    ];
    let (mut tracker, mut logged) = (Tracker::<128, 256>::new(), Logged::<128, 256>::new(0));
    let mut assembler = Assembler::new();
    each_chunk(&payloads, |chunk| {
        assert_eq!(logged.add(&mut tracker, chunk), None);
        assembler.add(&Event::Chunk(*chunk)).unwrap();
    });
    let message = assembler.message().unwrap();
    logged.compare(&message, "audio");
    let audio = |json: &str| serde_json::from_str::<Value>(json).unwrap()["choices"][0]["message"]["audio"].clone();
    let pieces = serde_json::json!({"id": "i", "data": ["QQ==", "Q/B=", "\""], "transcript": "a b", "expires_at": 7});
    assert_eq!(audio(&logged.json(Detail::Extended)), pieces);
    assert_eq!(logged.text(Field::AudioData, 0, 0).as_deref(), Some(r#"["QQ==","Q/B=","\""]"#));
    let data = &message.choices[0].audio.as_ref().unwrap().data;
    assert!(data.iter().map(|piece| piece.as_text().unwrap().to_cow().into_owned()).eq(["QQ==", "Q/B=", "\""]));
    // Without extensions: in the shape of the API.
    assert_eq!(audio(&logged.json(Detail::Standard))["data"], "QQ==Q/B=\"");
}

#[test]
fn a_character_in_two_entries_of_reasoning_details_is_joined() {
    let details = |entries: &[&str]| -> Vec<String> {
        let chunks = entries.iter().map(|entries| delta(0, &format!(r#""reasoning_details":[{entries}]"#)));
        let stream: String = chunks.map(|chunk| format!("data: {chunk}\n\n")).collect();
        Counts::default().stream("halves", stream.as_bytes(), Config::default());
        let message = pushed(stream.as_bytes(), Config::default()).message().unwrap();
        let texts = message.choices[0].reasoning_details.iter().map(|entry| entry.get("text").unwrap().unwrap());
        texts.map(|text| text.as_text().unwrap().to_cow().into_owned()).collect()
    };
    let entry = |text: &str| format!(r#"{{"type":"reasoning.text","index":0,"text":"{text}"}}"#);
    let all = |texts: &[&str]| texts.iter().map(|text| entry(text)).collect::<Vec<_>>();
    let apart = |texts: &[&str]| details(&all(texts).iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(apart(&["a\\ud83d", "\\ude00b"]), ["a\u{1f600}b"]);
    assert_eq!(apart(&["a\\ud83d", "", "\\uDE00b"]), ["a\u{1f600}b"]);
    assert_eq!(details(&[&all(&["a\\ud83d", "\\ude00\\ud83d", "\\ude00"]).join(",")]), ["a\u{1f600}\u{1f600}"]);
    // Where the other half does not come.
    assert_eq!(apart(&["a\\ud83d", "b"]), ["a\u{fffd}b"]);
    assert_eq!(apart(&["a\\ud83d"]), ["a\u{fffd}"]);
    assert_eq!(apart(&["\\ude00a", "\\ude00\\ud83d"]), ["\u{fffd}a\u{fffd}\u{fffd}"]);
    assert_eq!(apart(&["a\\\\ud83d", "\\ude0"]), ["a\\ud83d\\ude0"]);
    // Entries that stay apart.
    assert_eq!(
        details(&[&entry("a\\ud83d"), r#"{"type":"reasoning.text","index":1,"text":"\ude00b"}"#]),
        ["a\u{fffd}", "\u{fffd}b"]
    );
}

#[test]
fn reasoning_details_are_joined_where_they_belong_together() {
    let details = |entries: &[&str]| {
        let payloads: Vec<String> =
            entries.iter().map(|entries| delta(0, &format!(r#""reasoning_details":[{entries}]"#))).collect();
        let message: Value = serde_json::from_str(&extended(&payloads)).unwrap();
        message["choices"][0]["message"]["reasoning_details"].clone()
    };
    let entries = |text: &str| serde_json::from_str::<Value>(&format!("[{text}]")).unwrap();
    // Of other members, the last that is not null.
    let joined = details(&[
        r#"{"type":"reasoning.text","text":"a\n","index":0,"format":"f","signature":null}"#,
        r#"{"type":"reasoning.text","text":"b","index":0},{"index":0,"type":"reasoning.text","text":"\u00e9","signature":"s"}"#,
        r#"{"type":"reasoning.text","text":null,"index":0,"format":null}"#,
    ]);
    let whole = r#"{"type":"reasoning.text","text":"a\nb\u00e9","index":0,"format":"f","signature":"s"}"#;
    assert_eq!(joined, entries(whole));
    // Another type or index makes entries of their own, joined among themselves.
    let a = r#"{"type":"t","text":"a","index":0}"#;
    for other in [r#"{"type":"s","summary":"SUMMARY","index":0}"#, r#"{"type":"t","text":"SUMMARY","index":1}"#] {
        let b = other.replace("SUMMARY", "b");
        let joined = other.replace("SUMMARY", "bb");
        assert_eq!(details(&[a, &b, &b, a]), entries(&format!("{a},{joined},{a}")));
    }
    // Entries with `data`, or without an index, stay as sent.
    for other in [
        r#"{"type":"t","text":"b"}"#,
        r#"{"type":"t","text":"b","index":null}"#,
        r#"{"type":"t","data":"b","index":0}"#,
        r#"{"data":"b","index":0}"#,
    ] {
        assert_eq!(details(&[a, other, other, a]), entries(&format!("{a},{other},{other},{a}")));
    }
}

#[test]
fn members_are_bounded() {
    let mut logged = Logged::<128, 256>::new(0);
    let mut tracker = Tracker::<128, 256>::new();
    let payloads: Vec<String> = (0..258).map(|n| format!(r#"{{"choices":[],"m{n}":{n}}}"#)).collect();
    let mut errors = Vec::new();
    each_chunk(&payloads, |chunk| errors.extend(logged.add(&mut tracker, chunk)));
    assert_eq!(errors, [LogError::TooLong; 2]);
    assert_eq!(logged.log.left_out(), Some(LogError::TooLong));
    assert_eq!(logged.log.member(&logged.buffer, Owner::Chunk, 0, 0, "m255").unwrap().raw(), b"255");
    // A member that changes in each chunk frees its earlier value.
    let mut changing = Logged::<128, 256>::new(0);
    let payloads: Vec<String> = (0..10_000).map(|n| format!(r#"{{"choices":[],"timings":{{"n":{n}}}}}"#)).collect();
    each_chunk(&payloads, |chunk| assert_eq!(changing.add(&mut tracker, chunk), None));
    assert!(changing.log.len() < 4096, "{}", changing.log.len());
    assert_eq!(changing.log.member(&changing.buffer, Owner::Chunk, 0, 0, "timings").unwrap().raw(), br#"{"n":9999}"#);
}

/// More choices than the table has room for, each with reasoning or content, and some with half a character at the end: which
/// are left out must not depend on what a reader asks for.
#[test]
fn what_is_asked_for_changes_no_choice() {
    let choice = |index: u32| {
        let member = if index % 2 == 0 { "content" } else { "reasoning" };
        format!(r#"{{"index":{index},"delta":{{"{member}":"{index}\ud83d"}}}}"#)
    };
    // An even one first, so that naming a reasoning early would change the order.
    let choices: Vec<_> = (0..12).map(|place| choice(place * 5 % 12)).collect();
    let stream = format!("data: {{\"choices\":[{}]}}\n\n", choices.join(","));
    let seen = |choice: u32, text: &dyn std::fmt::Display| format!("{choice} {text}");
    let mut expected: Vec<_> = (0..8).map(|place: u32| place * 5 % 12).map(|index| seen(index, &index)).collect();
    expected.push("4 limit".to_string());
    expected.extend((0..8).map(|place: u32| seen(place * 5 % 12, &'\u{fffd}')));
    let all = Kind::ALL.iter().fold(0, |kinds, kind| kinds | kind.bit());
    for kinds in [Kind::DEFAULT, Kind::DEFAULT | Kind::Meta.bit(), Kind::MESSAGE, all] {
        let (mut machine, mut emitter) = (Machine::<2>::with_slots(Config::default()), Emitter::new());
        let (mut store, mut tracker) = (Growing::new(), Tracker::<8, 32>::new());
        let (mut array, mut scratch) = ([Record::default(); 100], [0; 1000]);
        let mut got = Vec::new();
        let mut names = 0;
        for rest in [Some(stream.as_bytes()), None] {
            let mut records = Records::new(&mut array, &mut scratch, kinds);
            let outcome = match rest {
                Some(input) => emitter.run(&mut machine, &mut store, &mut tracker, input, 0, &mut records).1,
                None => emitter.finish(&mut machine, &mut store, &mut tracker, &mut records),
            };
            assert_eq!(outcome, Outcome::Done);
            let written = records.written();
            for record in &array[..written] {
                let source =
                    if record.flags & FLAG_TEXT_SCRATCH != 0 { &scratch[..] } else { rest.unwrap_or_default() };
                let text = &source[record.text_off as usize..][..record.text_len as usize];
                match Kind::from_number(record.kind.into()).unwrap() {
                    Kind::Content | Kind::Reasoning => got.push(seen(record.choice, &String::from_utf8_lossy(text))),
                    Kind::Limit => got.push(seen(record.choice, &"limit")),
                    Kind::Meta if text == b"reasoning" => names += 1,
                    _ => {}
                }
            }
        }
        // The flushed halves are in the order of the table: that in which the choices came.
        assert_eq!(got, expected, "{kinds:x}");
        assert_eq!(names, if kinds & Kind::Meta.bit() == 0 { 0 } else { 4 });
    }
    let mut tracker = Tracker::<8, 32>::new();
    let (mut log, mut small) = (Logged::<8, 32>::new(4096), Logged::<4, 32>::new(4096));
    let mut got = Vec::new();
    let payload = stream.trim().strip_prefix("data: ").unwrap().to_string();
    each_chunk(&[payload], |chunk| {
        assert_eq!(log.add(&mut tracker.clone(), chunk), Some(LogError::TooManyChoices));
        assert_eq!(small.add(&mut tracker.clone(), chunk), Some(LogError::TooManyChoices));
        let mut updates = tracker.updates(chunk);
        for (choice, update) in updates.by_ref() {
            match update {
                Update::Content(text) | Update::Reasoning(text) => got.push(seen(choice, &text)),
                _ => {}
            }
        }
        got.push(seen(updates.error().unwrap().choice().unwrap(), &"limit"));
    });
    for (choice, update) in tracker.finish() {
        match update {
            Update::Content(text) | Update::Reasoning(text) => got.push(seen(choice, &text)),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(got, expected);
    let kept =
        |log: &Logged<8, 32>| (0..log.log.choices()).map(|nth| log.log.choice_index(nth).unwrap()).collect::<Vec<_>>();
    assert_eq!(kept(&log), [0, 1, 3, 5, 6, 8, 10, 11]);
    for index in kept(&log) {
        let name = (index % 2 == 1).then_some("reasoning");
        assert_eq!(log.text(Field::ReasoningName, index, 0).as_deref(), name);
    }
    // A log that has less room than the tracker keeps the first choices of those.
    assert_eq!((0..4).map(|nth| small.log.choice_index(nth).unwrap()).collect::<Vec<_>>(), [0, 3, 5, 10]);
}

#[test]
fn a_choice_with_nothing_but_other_members_is_listed() {
    let stream = concat!(
        "data: {\"choices\":[{\"index\":0,\"filter\":{\"a\":1}},{\"index\":1,\"delta\":{\"x\":[]}}]}\n\n",
        "data: {\"choices\":[{\"index\":2,\"delta\":{\"content\":\"c\"}}]}\n\n",
    );
    Counts::default().stream("other members alone", stream.as_bytes(), Config::default());
    let message = pushed(stream.as_bytes(), Config::default()).message().unwrap();
    let members =
        |choice: &deltawire::message::Choice| (choice.index, choice.members.len(), choice.message_members.len());
    assert_eq!(message.choices.iter().map(members).collect::<Vec<_>>(), [(0, 1, 0), (1, 0, 1), (2, 0, 0)]);
    let json: Value =
        serde_json::from_str(&batched(stream.as_bytes(), Config::default()).json(Detail::Extended)).unwrap();
    assert_eq!(
        (&json["choices"][0]["filter"]["a"], &json["choices"][1]["message"]["x"]),
        (&1.into(), &Value::Array(vec![]))
    );
}

#[test]
fn a_character_in_two_transcripts_of_audio_is_joined() {
    let transcript = |pieces: &[&str]| {
        let chunk = |piece: &&str| format!("data: {}\n\n", delta(0, &format!(r#""audio":{{"transcript":"{piece}"}}"#)));
        let stream: String = pieces.iter().map(chunk).collect();
        Counts::default().stream("transcripts", stream.as_bytes(), Config::default());
        let mut assembler = pushed(stream.as_bytes(), Config::default());
        let transcript = |assembler: &Assembler| {
            let message = assembler.message().unwrap();
            message.choices[0].audio.as_ref().unwrap().transcript.clone().unwrap()
        };
        let so_far = transcript(&assembler);
        // The end of a stream may be reported twice.
        for _ in 0..2 {
            assert_eq!(assembler.finish(), Ok(()));
            assert_eq!(transcript(&assembler), so_far);
        }
        (so_far, assembler.quirk_count(deltawire::Quirk::LoneSurrogate))
    };
    let smile = "\u{1f600}".to_string();
    assert_eq!(transcript(&[r"a\ud83d", r"\ude00b"]), (format!("a{smile}b"), 0));
    assert_eq!(transcript(&[r"\ud83d", r"\ude00", r"\ud83d\ude00"]), (format!("{smile}{smile}"), 0));
    assert_eq!(transcript(&[r"a\ud83d", "b"]), ("a\u{fffd}b".to_string(), 1));
    assert_eq!(transcript(&[r"\ud83d"]), ("\u{fffd}".to_string(), 1));
    assert_eq!(transcript(&["a", r"b\ud83d"]), ("ab\u{fffd}".to_string(), 1));
    assert_eq!(transcript(&[r"a\ud83d", r"b\ud83d"]), ("a\u{fffd}b\u{fffd}".to_string(), 2));
}

#[test]
fn reasoning_details_that_are_no_array_are_one_entry() {
    let details = |values: &[&str]| {
        let chunk = |value: &&str| format!("data: {}\n\n", delta(0, &format!(r#""reasoning_details":{value}"#)));
        let stream: String = values.iter().map(chunk).collect();
        Counts::default().stream("details", stream.as_bytes(), Config::default());
        let json = batched(stream.as_bytes(), Config::default()).json(Detail::Extended);
        assert_eq!(json.matches("reasoning_details").count(), 1, "{json}");
        serde_json::from_str::<Value>(&json).unwrap()["choices"][0]["message"]["reasoning_details"].to_string()
    };
    let list = r#"[{"index":0,"text":"a"},{"index":0,"text":"b"}]"#;
    assert_eq!(details(&[list, r#"{"index":0,"text":"c"}"#]), r#"[{"index":0,"text":"abc"}]"#);
    assert_eq!(details(&[r#"{ "signature" : "s" }"#, list]), r#"[{"signature":"s"},{"index":0,"text":"ab"}]"#);
    assert_eq!(details(&[r#""x""#, "1", r#"{"index":0,"text":"c"}"#]), r#"["x",1,{"index":0,"text":"c"}]"#);
}

#[test]
fn annotations_of_messages_so_far_are_appended() {
    let annotations = |arrays: &[&str]| {
        let chunk = |array: &&str| {
            format!("data: {{\"choices\":[{{\"message\":{{\"content\":\"c\",\"annotations\":{array}}}}}]}}\n\n")
        };
        let stream: String = arrays.iter().map(chunk).collect();
        Counts::default().stream("annotations", stream.as_bytes(), Config::default());
        let message = pushed(stream.as_bytes(), Config::default()).message().unwrap();
        String::from_utf8(message.choices[0].annotations.value().raw().to_vec()).unwrap()
    };
    assert_eq!(annotations(&[r#"[{"a":1}]"#, r#"[{"a":1},{"b":2}]"#, r#"[{"a":1},{"b":2}]"#]), r#"[{"a":1},{"b":2}]"#);
    assert_eq!(annotations(&["[]", r#"[{"a":1},{"b":2}]"#, "[1,2,3, 4 , 5]"]), r#"[{"a":1},{"b":2},3,4,5]"#);
    assert_eq!(annotations(&["[1,2]", "[1]", "[1,2,3]"]), "[1,2,3]");
}

#[test]
fn audio_and_log_probabilities_of_messages_so_far_are_kept_once() {
    let kept = |choices: &[String]| {
        let chunk = |choice: &String| format!("data: {{\"choices\":[{{{choice}}}]}}\n\n");
        let stream: String = choices.iter().map(chunk).collect();
        Counts::default().stream("so far", stream.as_bytes(), Config::default());
        let assembler = pushed(stream.as_bytes(), Config::default());
        let json: Value = serde_json::from_slice(&assembler.json(Detail::Extended).unwrap()).unwrap();
        json["choices"][0].clone()
    };
    let audio = |audios: &[&str]| {
        let choice = |audio: &&str| format!(r#""message":{{"content":"c","audio":{audio}}}"#);
        kept(&audios.iter().map(choice).collect::<Vec<_>>())["message"]["audio"].to_string()
    };
    let logprobs = |lists: &[&str]| {
        let choice = |lists: &&str| format!(r#""message":{{"content":"c"}},"logprobs":{{{lists}}}"#);
        kept(&lists.iter().map(choice).collect::<Vec<_>>())["logprobs"].to_string()
    };
    let grows = [
        r#"{"id":"u","data":"AAAA","transcript":"h\u00e9\ud83d"}"#,
        r#"{"id":"u","data":"AAAA\u0042BBB","transcript":"hé\ud83d\ude00o","expires_at":7}"#,
        r#"{"id":"u","data":"AAAABBBB","transcript":"hé😀o!"}"#,
    ];
    let both = r#"{"data":["AAAA","BBBB"],"expires_at":7,"id":"u","transcript":"hé😀o!"}"#;
    assert_eq!(audio(&grows).parse::<Value>().unwrap(), both.parse::<Value>().unwrap());
    assert_eq!(audio(&[grows[2]; 3]), audio(&grows[2..]));
    // Longer than what is compared in one go.
    let long = format!(r#"{{"transcript":"{}é"}}"#, "x".repeat(200));
    let longer = long.replace("\"}", " and\"}");
    assert_eq!(audio(&[&long, &longer]), longer);
    // Fragments in messages, although those are whole.
    let fragments = [r#"{"data":"AAAA","transcript":"a\ud83d"}"#, r#"{"data":"BB==","transcript":"\ude00b"}"#];
    assert_eq!(audio(&fragments), r#"{"data":["AAAA","BB=="],"transcript":"a😀b"}"#);

    let [one, two] = [r#""content":[{"t":1}]"#, r#""content":[{"t":1},{"t":2}]"#];
    assert_eq!(logprobs(&[one, two, two]), format!("{{{two}}}"));
    let half = [r#""content":[{"t":"\ud83d"}]"#, r#""content":[{"t":"\ud83d"}, 3 ]"#];
    assert_eq!(logprobs(&half), "{\"content\":[{\"t\":\"\u{fffd}\"},3]}");
    assert_eq!(logprobs(&[r#""refusal":[1],"tokens":["a"]"#; 2]), r#"{"refusal":[1],"tokens":["a"]}"#);
    // Those of each chunk alone.
    assert_eq!(logprobs(&[r#""content":[1,2]"#, r#""content":[3]"#, r#""content":[1]"#]), r#"{"content":[1,2,3,1]}"#);
    // A delta counts, and the message beside it does not.
    let beside = |delta: &str, list: &str| {
        format!(r#""delta":{{{delta}}},"message":{{"content":"ab"}},"logprobs":{{"content":{list}}}"#)
    };
    let choices = [beside(r#""content":"a""#, "[1]"), beside(r#""content":"b""#, "[1,2]"), beside("", "[1,1]")];
    assert_eq!(kept(&choices)["logprobs"].to_string(), r#"{"content":[1,1,2,1,1]}"#);
}
