//! Compares a message by pull, by push and from the log, and with a naive reading of serde_json's values.

use crate::input;
use crate::log::escaped;
use crate::memo::decode;
use deltawire::chat::Chunk;
use deltawire::message::{AssembleError, Assembler, Completion, Detail, Failure, Field, LogError, MessageLog};
use deltawire::track::Tracker;
use deltawire::{Config, Event, Growing, Limits, Parser, QuirkSet};
use serde_json::Value;

pub fn message(data: &[u8]) {
    let (config, bytes, mut control) = decode(data);
    // An event with an error would be dropped whole, which shows nothing here.
    let config = config.with_errors(QuirkSet::EMPTY);
    let cuts = input::cuts(&mut control, bytes.len());
    let each = control.below(2) == 1;
    let limit = control.below(600);
    let context = || format!("{config:?}, cuts {cuts:?}, limit {limit}, stream b\"{}\"", escaped(&bytes));
    match input::which(&mut control, bytes.len(), 4) {
        0 => against_values(config, &bytes, &context),
        1 => against_log::<128, 256>(config, &bytes, 0, each, &context),
        2 => against_log::<2, 3>(config, &bytes, bytes.len(), each, &context),
        _ => limited(config, &bytes, &cuts, limit, &context),
    }
}

/// Compares the assembler's message with a naive reading of serde_json's values.
fn against_values(config: Config, bytes: &[u8], context: &impl Fn() -> String) {
    let mut assembler = Assembler::new();
    let mut naive = Some(crate::naive::Naive::default());
    let quirks = chunks(config, bytes, &[], |chunk| {
        let is_whole = assembler.add(&Event::Chunk(*chunk)).is_ok();
        naive = naive.take().filter(|_| is_whole).and_then(|naive| naive.chunk(chunk));
    });
    assembler.finish().expect("nothing can be too long");
    let left = (quirks | assembler.quirks()).iter().any(|quirk| !crate::naive::harmless(quirk));
    if let Some(naive) = naive.filter(|_| !left) {
        naive.compare(&message_of(&assembler), context);
    }
}

/// Compares a log with the assembler's message, after each chunk or at the end; a log with small tables as far as it
/// has room.
fn against_log<const CHOICES: usize, const CALLS: usize>(
    config: Config,
    bytes: &[u8],
    room: usize,
    each: bool,
    context: &impl Fn() -> String,
) {
    let mut assembler = Assembler::new();
    let mut log: Logged<CHOICES, CALLS> = Logged::new(room);
    let mut tracker = Tracker::<CHOICES, CALLS>::new();
    let mut fits = true;
    chunks(config, bytes, &[], |chunk| {
        let expected = assembler.add(&Event::Chunk(*chunk)).err().map(as_log_error);
        let got = log.with(|log, buffer| log.add_chunk(buffer, &mut tracker, chunk));
        fits &= got == expected;
        assert!(fits || CHOICES < 128, "{got:?} and {expected:?}: {}", context());
        if each && fits {
            log.compare(&message_of(&assembler), context);
        }
    });
    assembler.finish().expect("nothing can be too long");
    fits &= log.finish(&mut tracker);
    assert!(fits || CHOICES < 128, "{}", context());
    if fits {
        log.compare(&message_of(&assembler), context);
    }
}

/// With cuts and a limit: the same message, within the limit.
fn limited(config: Config, bytes: &[u8], cuts: &[usize], limit: usize, context: &impl Fn() -> String) {
    let limits = Limits::new().with_max_message_len(limit);
    let (mut whole, mut cut) = (Assembler::with_limits(limits), Assembler::with_limits(limits));
    let mut errors = (Vec::new(), Vec::new());
    chunks(config, bytes, &[], |chunk| errors.0.push(whole.add(&Event::Chunk(*chunk))));
    chunks(config, bytes, cuts, |chunk| errors.1.push(cut.add(&Event::Chunk(*chunk))));
    assert!(errors.0 == errors.1 && whole.message() == cut.message(), "{}", context());
    assert_eq!(whole.finish(), cut.finish());
    let message = message_of(&whole);
    assert_eq!(message, message_of(&cut), "{}", context());
    assert!(texts(&message) <= limits.max_message_len(), "more than the limit: {}", context());
}

fn message_of(assembler: &Assembler) -> Completion {
    assembler.message().expect("there is memory")
}

/// Passes each chunk of a stream, and the quirks of the parser, to `each`.
fn chunks(config: Config, bytes: &[u8], cuts: &[usize], mut each: impl FnMut(&Chunk<'_>)) -> QuirkSet {
    let mut parser: Parser<Growing, 0, ()> = Parser::with_slots(Growing::new(), config, ());
    for mut piece in input::pieces(bytes, cuts) {
        while let Some(event) = parser.next(&mut piece).expect("no quirk is an error") {
            if let Event::Chunk(chunk) = event {
                each(&chunk);
            }
        }
    }
    while let Some(event) = parser.finish().expect("no quirk is an error") {
        if let Event::Chunk(chunk) = event {
            each(&chunk);
        }
    }
    parser.quirks()
}

/// Returns the length of a message's texts in bytes.
fn texts(message: &Completion) -> usize {
    let len = |text: &Option<String>| text.as_ref().map_or(0, String::len);
    let mut sum = len(&message.id) + len(&message.model) + len(&message.object);
    for choice in &message.choices {
        sum += len(&choice.role) + len(&choice.content) + len(&choice.refusal) + len(&choice.reasoning);
        for call in &choice.tool_calls {
            sum += len(&call.id) + len(&call.kind) + len(&call.name) + len(&call.arguments);
        }
    }
    sum
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

/// A message log and the smallest sufficient buffer.
struct Logged<const CHOICES: usize, const CALLS: usize> {
    log: MessageLog<CHOICES, CALLS>,
    buffer: Vec<u8>,
}

impl<const CHOICES: usize, const CALLS: usize> Logged<CHOICES, CALLS> {
    fn new(room: usize) -> Self {
        Logged { log: MessageLog::new(), buffer: vec![0xAA; room] }
    }

    /// Writes, moving to a larger buffer as often as necessary; the old one is overwritten.
    fn with(
        &mut self,
        mut write: impl FnMut(&mut MessageLog<CHOICES, CALLS>, &mut [u8]) -> Result<(), LogError>,
    ) -> Option<LogError> {
        loop {
            let len = self.log.len();
            let before = self.buffer[..len].to_vec();
            match write(&mut self.log, &mut self.buffer) {
                Err(LogError::NeedStorage { need }) => {
                    assert!(need > self.buffer.len());
                    assert_eq!(self.log.len(), len);
                    assert_eq!(self.buffer[..len], before);
                    let mut moved = vec![0xAA; need];
                    moved[..len].copy_from_slice(&before);
                    self.buffer.fill(0x55);
                    self.buffer = moved;
                }
                done => return done.err(),
            }
        }
    }

    /// Flushes what is pending in the tracker. `false`: a small log has no room for a choice of which nothing else came.
    fn finish(&mut self, tracker: &mut Tracker<CHOICES, CALLS>) -> bool {
        let mut fits = true;
        for (choice, update) in tracker.finish() {
            fits &= self.with(|log, buffer| log.put(buffer, choice, &update)).is_none();
        }
        fits
    }

    fn json(&self, detail: Detail) -> String {
        let len = self.log.json(&self.buffer, detail, &mut []);
        let mut json = vec![0x55; len + 1];
        assert_eq!(self.log.json(&self.buffer, detail, &mut json), len);
        assert_eq!(json.pop(), Some(0x55), "it wrote more than it said");
        String::from_utf8(json).expect("JSON is UTF-8")
    }

    fn text(&self, field: Field, choice: u32, call: u32) -> Option<String> {
        let len = self.log.text(&self.buffer, field, choice, call, &mut [])?;
        let mut text = vec![0x55; len + 1];
        assert_eq!(self.log.text(&self.buffer, field, choice, call, &mut text), Some(len));
        assert_eq!(text.pop(), Some(0x55), "it wrote more than it said");
        Some(String::from_utf8_lossy(&text).into_owned())
    }

    /// Compares every accessor with the assembler's message.
    fn compare(&self, message: &Completion, context: &impl Fn() -> String) {
        for extended in [false, true] {
            let due = if extended { serde_json::to_value(message.extended()) } else { serde_json::to_value(message) };
            let json = self.json(if extended { Detail::Extended } else { Detail::Standard });
            deltawire::json::validate(json.as_bytes(), 1024).expect("sound JSON");
            let got: Value = serde_json::from_str(&json).expect("sound JSON");
            if let Some(difference) = difference(&got, &due.expect("it can be written")) {
                panic!("{difference}\n {}", context());
            }
        }
        let same = |field: Field, choice: u32, call: u32, due: Option<&str>| {
            let got = self.text(field, choice, call);
            assert!(got.as_deref() == due, "{field:?} {choice} {call}: {got:?} and {due:?}\n {}", context());
        };
        let lossy = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let error = |error: &Option<Failure>| {
            error.as_ref().map(|error| match error {
                Failure::Json(raw) => lossy(raw.as_bytes()),
                Failure::Text(text) => text.clone(),
            })
        };
        for (field, due) in [
            (Field::Id, &message.id),
            (Field::Object, &message.object),
            (Field::Model, &message.model),
            (Field::SystemFingerprint, &message.system_fingerprint),
            (Field::ServiceTier, &message.service_tier),
            (Field::Provider, &message.provider),
        ] {
            same(field, 0, 0, due.as_deref());
        }
        same(Field::Usage, 0, 0, message.usage.as_ref().map(|raw| lossy(raw.as_bytes())).as_deref());
        same(Field::Error, 0, 0, error(&message.error).as_deref());
        assert_eq!(self.log.created(), message.created);
        assert_eq!(self.log.choices(), message.choices.len(), "{}", context());
        for (nth, choice) in message.choices.iter().enumerate() {
            let index = choice.index;
            assert_eq!(self.log.choice_index(nth), Some(index));
            let function = choice.function_call.as_ref();
            let audio = choice.audio.as_ref();
            let data = audio.map(|audio| lossy(audio.data.value().raw())).filter(|data| data != "[]");
            for (field, due) in [
                (Field::Role, choice.role.as_deref()),
                (Field::Content, choice.content.as_deref()),
                (Field::Refusal, choice.refusal.as_deref()),
                (Field::Reasoning, choice.reasoning.as_deref()),
                (Field::ReasoningName, choice.reasoning_name.as_deref()),
                (Field::FinishReason, choice.finish_reason.as_deref()),
                (Field::NativeFinishReason, choice.native_finish_reason.as_deref()),
                (Field::ChoiceError, error(&choice.error).as_deref()),
                (Field::FunctionName, function.and_then(|call| call.name.as_deref())),
                (Field::FunctionArguments, function.and_then(|call| call.arguments.as_deref())),
                (Field::AudioId, audio.and_then(|audio| audio.id.as_deref())),
                (Field::AudioData, data.as_deref()),
                (Field::AudioTranscript, audio.and_then(|audio| audio.transcript.as_deref())),
            ] {
                same(field, index, 0, due);
            }
            assert_eq!(self.log.audio_expires_at(index), audio.and_then(|audio| audio.expires_at));
            assert_eq!(self.log.calls(index) as usize, choice.tool_calls.len());
            for (nth, call) in (0..).zip(&choice.tool_calls) {
                same(Field::CallId, index, nth, call.id.as_deref());
                same(Field::CallType, index, nth, call.kind.as_deref());
                same(Field::CallName, index, nth, call.name.as_deref());
                same(Field::CallArguments, index, nth, call.arguments.as_deref());
                assert_eq!(self.log.is_custom(&self.buffer, index, nth), call.custom);
            }
        }
    }
}

/// Returns where two values differ, if they do. Doubles may differ in the last bit; a number beyond a double is null in
/// one and as sent in the other.
fn difference(one: &Value, other: &Value) -> Option<String> {
    match (one, other) {
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            a.iter().zip(b).enumerate().find_map(|(at, (a, b))| Some(format!("{at} {}", difference(a, b)?)))
        }
        (Value::Object(a), Value::Object(b)) if a.len() == b.len() && a.keys().all(|key| b.contains_key(key)) => {
            a.iter().find_map(|(name, a)| Some(format!("{name} {}", difference(a, &b[name])?)))
        }
        (Value::Number(a), Value::Number(b)) => {
            if a == b {
                return None;
            }
            let (x, y): (f64, f64) = (a.as_str().parse().ok()?, b.as_str().parse().ok()?);
            let near = x == y || (x - y).abs() <= x.abs() * 1e-15;
            (!near).then(|| format!("{a} {b}"))
        }
        (Value::Number(a), Value::Null) if a.as_str().parse::<f64>().is_ok_and(f64::is_infinite) => None,
        _ => {
            let told = format!("{one} {other}");
            (one != other).then(|| told.chars().take(300).collect())
        }
    }
}
