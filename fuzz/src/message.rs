//! Compares a message by pull, by push and from the log, and with a naive reading of serde_json's values.

use crate::input;
use crate::log::escaped;
use crate::logged::{Assembled, Logged};
use crate::memo::decode;
use crate::naive_chat::{Answer, Naive};
use deltawire::chat::Chunk;
use deltawire::message::{Assembler, Completion};
use deltawire::stream::Protocol;
use deltawire::track::Tracker;
use deltawire::{Config, Growing, Limits, Parser, Pulled, Quirk, QuirkSet};
use std::sync::atomic::{AtomicUsize, Ordering};

/// How many messages the naive reader could read.
pub static COMPARED: AtomicUsize = AtomicUsize::new(0);

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
    let mut assembled = Assembled::default();
    let mut naive = Some(Naive::default());
    let parser = chunks(config, bytes, &[], |chunk| {
        let is_chat = chunk.protocol() == Protocol::Chat && !chunk.is_plain_text();
        assembled.add(chunk);
        let is_whole = assembled.assembler.error().is_none() && is_chat;
        let text = String::from_utf8_lossy;
        if !is_whole
            || naive.as_mut().and_then(|naive| naive.event(&text(chunk.event_name()), &text(chunk.payload()))).is_none()
        {
            naive = None;
        }
    });
    let assembler = assembled.finish(false);
    let naive = naive.filter(|naive| !naive.has_messages());
    if let Some(naive) = naive.filter(|_| (parser.quirks() | assembler.quirks()).iter().all(is_harmless)) {
        let (expected, got) = (naive.close().0.into_message(), Answer::of_message(&message_of(&assembler)));
        assert!(got == expected, "got {got:?}\n expected {expected:?}\n {}", context());
        COMPARED.fetch_add(1, Ordering::Relaxed);
    }
}

/// Whether a quirk does not change the meaning, or is of framing, which the naive reader does not do here.
fn is_harmless(quirk: Quirk) -> bool {
    matches!(
        quirk,
        Quirk::UnterminatedEvent
            | Quirk::ContinuedPayload
            | Quirk::KeepAliveData
            | Quirk::LongId
            | Quirk::IllFormedUtf8
            | Quirk::JsonBody
            | Quirk::Ndjson
            | Quirk::JsonBetweenEvents
            | Quirk::EventAfterDone
            | Quirk::BareDone
            | Quirk::NullChunk
            | Quirk::MissingChoiceIndex
            | Quirk::UnknownContentPart
            | Quirk::ArgumentsAfterEnd
            | Quirk::DeltaAfterFinish
            | Quirk::SecondFinish
            | Quirk::OddType
            | Quirk::LoneSurrogate
    )
}

/// Compares a log with the assembler's message, after some chunks or at the end; a log with small tables as far as it
/// has room.
fn against_log<const CHOICES: usize, const CALLS: usize>(
    config: Config,
    bytes: &[u8],
    room: usize,
    each: bool,
    context: &impl Fn() -> String,
) {
    let mut assembled = Assembled::default();
    let mut log: Logged<CHOICES, CALLS> = Logged::new(room);
    let mut tracker = Tracker::<CHOICES, CALLS>::new();
    let mut fits = true;
    let what = std::fmt::from_fn(|f| f.write_str(&context()));
    let mut nth = 0;
    chunks(config, bytes, &[], |chunk| {
        assembled.add(chunk);
        log.add(&mut tracker, chunk);
        let (got, expected) = (log.log.left_out(), assembled.assembler.error());
        fits &= got == expected;
        assert!(fits || CHOICES < 128, "{got:?} and {expected:?}: {}", context());
        // A comparison takes as long as all chunks before it.
        nth += 1;
        if each && fits && nth % 8 < 2 {
            log.compare(&message_of(&assembled.assembler), &what);
        }
    });
    let assembler = assembled.finish(false);
    fits &= log.finish(&mut tracker, false).is_none();
    assert!(fits || CHOICES < 128, "{}", context());
    if fits {
        log.compare(&message_of(&assembler), &what);
    }
}

/// With cuts and a limit: the same message, within the limit.
fn limited(config: Config, bytes: &[u8], cuts: &[usize], limit: usize, context: &impl Fn() -> String) {
    let limits = Limits::new().with_max_message_len(limit);
    let (mut whole, mut cut) = (Assembler::with_limits(limits), Assembler::with_limits(limits));
    let mut errors = (Vec::new(), Vec::new());
    events(config, bytes, &[], |event| errors.0.extend(whole.add(event).err()));
    events(config, bytes, cuts, |event| errors.1.extend(cut.add(event).err()));
    assert!(errors.0 == errors.1 && whole.message() == cut.message(), "{}", context());
    let message = message_of(&whole);
    assert_eq!(message, message_of(&cut), "{}", context());
    assert!(texts(&message) <= limits.max_message_len(), "more than the limit: {}", context());
}

fn message_of(assembler: &Assembler) -> Completion {
    assembler.message().expect("there is memory")
}

/// Passes each chunk of a stream to `each`. Returns the parser, which has read it to its end.
pub(crate) fn chunks(
    config: Config,
    bytes: &[u8],
    cuts: &[usize],
    mut each: impl FnMut(&Chunk<'_>),
) -> Parser<Growing, 0> {
    events(config, bytes, cuts, |event| event.chunk().iter().for_each(&mut each))
}

/// Passes each event of a stream to `each`. Returns the parser, which has read it to its end.
fn events(config: Config, bytes: &[u8], cuts: &[usize], mut each: impl FnMut(Pulled<'_>)) -> Parser<Growing, 0> {
    let mut parser = Parser::with_slots(Growing::new(), config, Tracker::new());
    for mut piece in input::pieces(bytes, cuts) {
        while let Some(event) = parser.next(&mut piece).transpose() {
            // The error is a full table.
            event.into_iter().for_each(&mut each);
        }
    }
    while let Some(event) = parser.finish().transpose() {
        event.into_iter().for_each(&mut each);
    }
    parser
}

/// Returns the length of a message's texts in bytes.
fn texts(message: &Completion) -> usize {
    // A message says `assistant` and `{}` where nothing was sent.
    let implied = |text: &String| text == "assistant" || text == "{}";
    let len = |text: &Option<String>| text.as_ref().filter(|text| !implied(text)).map_or(0, String::len);
    let mut sum = len(&message.id) + len(&message.model) + len(&message.object);
    for choice in &message.choices {
        sum += len(&choice.role) + len(&choice.content) + len(&choice.refusal) + len(&choice.reasoning);
        for call in &choice.tool_calls {
            sum += len(&call.id) + len(&call.kind) + len(&call.name) + len(&call.arguments);
        }
    }
    sum
}
