//! `deltawire::message`: the log, on a buffer that most samples fill, by pull and by an emitter.

use super::Hash;
use deltawire::message::{Detail, Field, LogError, LogSink, MessageLog};
use deltawire::stream::{Emitter, Machine, Outcome};
use deltawire::track::Tracker;
use deltawire::{Parser, Pulled};

const STORAGE: usize = 1024;
const BUFFER: usize = 1280;

/// The fields, and how far below the top level they are.
const FIELDS: [(Field, u8); 31] = [
    (Field::Id, 0),
    (Field::Object, 0),
    (Field::Model, 0),
    (Field::SystemFingerprint, 0),
    (Field::ServiceTier, 0),
    (Field::Provider, 0),
    (Field::Usage, 0),
    (Field::Error, 0),
    (Field::ErrorMessage, 0),
    (Field::ErrorCode, 0),
    (Field::ErrorType, 0),
    (Field::Role, 1),
    (Field::Content, 1),
    (Field::Refusal, 1),
    (Field::Reasoning, 1),
    (Field::ReasoningName, 1),
    (Field::FinishReason, 1),
    (Field::NativeFinishReason, 1),
    (Field::ChoiceError, 1),
    (Field::ChoiceErrorMessage, 1),
    (Field::ChoiceErrorCode, 1),
    (Field::ChoiceErrorType, 1),
    (Field::FunctionName, 1),
    (Field::FunctionArguments, 1),
    (Field::AudioId, 1),
    (Field::AudioData, 1),
    (Field::AudioTranscript, 1),
    (Field::CallId, 2),
    (Field::CallType, 2),
    (Field::CallName, 2),
    (Field::CallArguments, 2),
];

/// A stream into logs, in each way.
pub fn message(bytes: &[u8], cut: usize) -> u64 {
    let mut hash = Hash::new();
    pulled(&mut hash, bytes, cut);
    emitted(&mut hash, bytes, cut);
    hash.0
}

/// Every event into a log. When it is full its message is read, and a new one begins.
fn pulled(hash: &mut Hash, bytes: &[u8], cut: usize) {
    let mut storage = [0; STORAGE];
    let mut buffer = [0; BUFFER];
    let mut log: MessageLog = MessageLog::new();
    let mut parser: Parser<_, 0> = Parser::with_slots(&mut storage[..], Default::default(), Tracker::new());
    for mut slice in bytes.chunks(cut.max(1)) {
        // A limit is an error of the call after its event, and the stream goes on.
        while let Some(event) = parser.next(&mut slice).transpose() {
            event.into_iter().for_each(|event| add(hash, &mut log, &mut buffer, event));
        }
    }
    while let Some(event) = parser.finish().transpose() {
        event.into_iter().for_each(|event| add(hash, &mut log, &mut buffer, event));
    }
    read(hash, &log, &buffer);
}

fn add(hash: &mut Hash, log: &mut MessageLog, buffer: &mut [u8], event: Pulled<'_>) {
    if let Some(chunk) = event.chunk() {
        again(hash, log, buffer, |log, buffer| log.chunk(buffer, &chunk));
    }
    for (choice, update) in event.deltas() {
        again(hash, log, buffer, |log, buffer| log.put(buffer, choice, &update));
    }
}

fn again(
    hash: &mut Hash,
    log: &mut MessageLog,
    buffer: &mut [u8],
    mut write: impl FnMut(&mut MessageLog, &mut [u8]) -> Result<(), LogError>,
) {
    let mut done = write(log, buffer);
    if let Err(LogError::NeedStorage { .. }) = done {
        read(hash, log, buffer);
        log.reset();
        done = write(log, buffer);
    }
    outcome(hash, done);
}

/// An emitter into a log. When it is full its message is read, and a new one begins.
fn emitted(hash: &mut Hash, bytes: &[u8], cut: usize) {
    let mut storage = [0; STORAGE];
    let mut buffer = [0; BUFFER];
    let mut log: MessageLog = MessageLog::with_limit(BUFFER / 2);
    let (mut machine, mut emitter) = (Machine::<1>::with_slots(Default::default()), Emitter::new());
    let (mut storage, mut tracker): (_, Tracker) = (&mut storage[..], Tracker::new());
    for mut slice in bytes.chunks(cut.max(1)) {
        loop {
            let mut sink = LogSink::new(&mut log, &mut buffer);
            let (spent, outcome) = emitter.run(&mut machine, &mut storage, &mut tracker, slice, 0, &mut sink);
            let need = sink.need();
            slice = slice.get(spent..).unwrap_or_default();
            if outcome != Outcome::Full {
                break;
            }
            hash.number(need as u64);
            read(hash, &log, &buffer);
            if log.is_empty() {
                return;
            }
            log.reset();
        }
    }
    let outcome = emitter.finish(&mut machine, &mut storage, &mut tracker, &mut LogSink::new(&mut log, &mut buffer));
    hash.byte(u8::from(outcome == Outcome::Done));
    hash.byte(u8::from(log.left_out().is_some()));
    read(hash, &log, &buffer);
}

fn outcome(hash: &mut Hash, done: Result<(), LogError>) {
    hash.number(match done {
        Ok(()) => 0,
        Err(LogError::NeedStorage { need }) => need as u64,
        Err(LogError::TooManyChoices) => 1,
        Err(_) => 2,
    });
}

fn read(hash: &mut Hash, log: &MessageLog, buffer: &[u8]) {
    let mut out = [0; 512];
    for detail in [Detail::Standard, Detail::Extended] {
        let len = log.json(buffer, detail, &mut out);
        hash.number(len as u64);
        hash.bytes(out.get(..len.min(out.len())).unwrap_or_default());
    }
    hash.number(log.len() as u64);
    hash.count(log.created());
    hash.byte(log.error_is_json(buffer).map_or(2, u8::from));
    for nth in 0..log.choices().max(1) {
        let choice = log.choice_index(nth).unwrap_or(0);
        hash.count(log.audio_expires_at(choice));
        for call in 0..log.calls(choice).max(1) {
            hash.byte(log.is_custom(buffer, choice, call).into());
            for (field, level) in FIELDS {
                if level == 2 || call == 0 && (level == 1 || nth == 0) {
                    let len = log.text(buffer, field, choice, call, &mut out);
                    hash.count(len.map(|len| len as u64));
                    hash.bytes(out.get(..len.unwrap_or(0)).unwrap_or_default());
                }
            }
        }
    }
}
