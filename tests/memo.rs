//! The template memo never changes an answer: a parser emits the same, event by event, by pull, push and batch,
//! whatever number of shapes it remembers, and whoever shares them.
#![cfg(feature = "alloc")]

use crate::common::batch::{self, How};
use crate::common::cases::cases;
use crate::common::corpus::{recorded, recorded_of_other_protocols, samples, Stream};
use crate::common::event_log::{Detail, Logs};
use crate::common::input::{self, Source};
use crate::common::log::{escaped, same};
use crate::common::random::Random;
use crate::common::read::Store;
use crate::common::shared::{Sharing, Turns};
use crate::common::thin::thin;
use crate::common::{drive, edit, native, stream};
use deltawire::stream::{Payload, Protocol};
use deltawire::track::Tracker;
use deltawire::{Config, Framing, Limits, Parser, Validate};
use proptest::prelude::*;

/// The logs of one stream by pull, by push and by batch.
struct Readings {
    pulled: Logs,
    pushed: Logs,
    batched: Logs,
}

/// How to read a stream.
struct Ask<'a> {
    config: Config,
    bytes: &'a [u8],
    cuts: &'a [usize],
    pause: usize,
    /// Options of the batch.
    how: How,
    store: Store,
}

impl<'a> Ask<'a> {
    /// The usual way: without pauses, with storages that grow.
    fn new(config: Config, bytes: &'a [u8], cuts: &'a [usize]) -> Self {
        Ask { config, bytes, cuts, pause: 0, how: BATCH, store: Store::Growing }
    }

    fn read<const SLOTS: usize>(&self) -> Readings {
        let Ask { config, bytes, cuts, pause, how, store } = *self;
        // A batch's storage is limited like that of the others.
        let how = match store {
            Store::Fixed(len) => How { store: len, can_move: false, ..how },
            Store::Growing => how,
        };
        Readings {
            pulled: store.with(|storage| {
                let mut parser = Parser::<_, SLOTS>::with_slots(storage, config, Tracker::new());
                drive::pull(&mut parser, bytes, cuts, Detail::States, |_| ())
            }),
            pushed: store.with(|storage| {
                let mut parser = Parser::<_, SLOTS>::with_slots(storage, config, Tracker::<8, 32>::new());
                drive::push(&mut parser, bytes, cuts, pause, Detail::States)
            }),
            batched: batch::batch_with::<SLOTS>(config, bytes, cuts, how),
        }
    }

    /// Reads the stream with a workspace of `SLOTS` slots. Others read the same stream with it, on the same terms and on
    /// others, and `other`.
    fn share<const SLOTS: usize>(&self, other: &[u8], seed: u64) -> [(&'static str, Logs); 2] {
        let Ask { config, bytes, cuts, pause, store, .. } = *self;
        let with = |payload| Config::default().with_payload(payload);
        let others = [
            (config, bytes),
            (config, other),
            (config.with_validate(Validate::Strict), bytes),
            (Config::default(), bytes),
            (Config::default().with_protocol(Some(Protocol::Anthropic)), bytes),
            (Config::default().with_framing(Framing::Spec), bytes),
            (with(Payload::Opaque), bytes),
        ];
        let pulled = store.with(|storage| {
            let turns = &mut Turns::<SLOTS>::new(&others, seed);
            let mut parser = Sharing { parser: Parser::with_slots(storage, config, Tracker::<8, 32>::new()), turns };
            drive::pull(&mut parser, bytes, cuts, Detail::States, |_| ())
        });
        let pushed = store.with(|storage| {
            let turns = &mut Turns::<SLOTS>::new(&others, seed + 1);
            let mut parser = Sharing { parser: Parser::with_slots(storage, config, Tracker::<8, 32>::new()), turns };
            drive::push(&mut parser, bytes, cuts, pause, Detail::States)
        });
        [("pull, shared", pulled), ("push, shared", pushed)]
    }

    /// Compares a workspace of 2 or of 8 slots with none.
    fn compare_shared(&self, name: &str, other: &[u8], seed: u64, expected: &Readings) {
        let (slots, logs) = match (self.bytes.len() + self.cuts.len()) % 2 {
            0 => (2, self.share::<2>(other, seed)),
            _ => (8, self.share::<8>(other, seed)),
        };
        for ((way, found), expected) in logs.iter().zip([&expected.pulled, &expected.pushed]) {
            expected.equal(found, way, || format!("seed {seed}: {}", self.context(name, slots)));
        }
    }

    /// Compares 1, 2 and 4 slots with none, and workspaces. Returns the logs without slots.
    fn all(&self, name: &str) -> Readings {
        let expected = self.read::<0>();
        self.compare(name, 1, &expected, &self.read::<1>());
        self.compare(name, 2, &expected, &self.read::<2>());
        self.compare(name, 4, &expected, &self.read::<4>());
        self.compare_shared(name, FOREIGN, 1, &expected);
        // The three interfaces must agree too.
        for (way, other) in [("push", &expected.pushed), ("batch", &expected.batched)] {
            expected.pulled.across(other, way, || self.context(name, 0));
        }
        expected
    }

    fn compare(&self, name: &str, slots: usize, expected: &Readings, found: &Readings) {
        let ways = [
            ("pull", &expected.pulled, &found.pulled),
            ("push", &expected.pushed, &found.pushed),
            ("batch", &expected.batched, &found.batched),
        ];
        for (way, expected, found) in ways {
            expected.equal(found, way, || self.context(name, slots));
        }
    }

    fn context(&self, name: &str, slots: usize) -> String {
        let Ask { config, bytes, cuts, pause, how, store } = self;
        let bytes = if bytes.len() < 16_384 { escaped(bytes) } else { format!("{} bytes", bytes.len()) };
        let cuts = if cuts.len() < 200 { format!("{cuts:?}") } else { format!("{} of them", cuts.len()) };
        format!(
            "{name}: {slots} slots, {config:?}, cuts {cuts}, pause {pause}, {how:?}, {store:?}, stream b\"{bytes}\""
        )
    }
}

/// A stream of another protocol and one with an error, as others may read.
const FOREIGN: &[u8] = b"event: error\ndata: {\"error\":{\"message\":\"m\"}}\n\n\
data: {\"choices\":[{\"index\":1,\"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}\n\n\
data:{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}}]}\r\n\r\n";

const BATCH: How =
    How { store: 512, can_move: true, shake: false, records: 7, scratch: 256, base: 0, detail: Detail::Views };

#[test]
fn every_stream_emits_the_same() {
    let mut streams: Vec<Stream> = samples();
    let own = streams.len();
    streams.extend(recorded("memo"));
    let strict = Config::new().with_validate(Validate::Strict).with_framing(Framing::Spec);
    let (mut events, mut runs) = (0, 0);
    for stream in streams.iter().step_by(thin()) {
        let bytes = &stream.bytes[..];
        let mut whole: Option<Readings> = None;
        for size in [bytes.len().max(1), 1, 7, 64, 1448, 16384] {
            let cuts: Vec<usize> = (1..bytes.len()).filter(|at| at % size == 0).collect();
            let ask = Ask::new(Config::default(), bytes, &cuts);
            let readings = ask.all(&stream.name);
            if let Some(whole) = &whole {
                let context = || ask.context(&stream.name, 0);
                whole.pulled.across(&readings.pulled, "pull", context);
                same("ranges", &whole.pulled.ranges, &readings.pulled.ranges, context);
                same("frames", &whole.batched.frames, &readings.batched.frames, context);
            } else {
                events += readings.pulled.ranges.len();
                whole = Some(readings);
            }
            if matches!(size, 64 | 16384) {
                Ask { config: strict, pause: 3, store: Store::Fixed(4096), ..ask }.all(&stream.name);
            }
            runs += 1;
        }
    }
    println!(
        "{} streams, {own} of them samples, {events} events, {runs} readings each by 0, 1, 2 and 4 slots",
        streams.len()
    );
    assert!(events > 100 / thin());
}

/// Streams with events that are alike, a line each: the name of the event, if it has one, and its payload, in which `@` is another
/// text each time and `#` another number.
const ALIKE: [(&str, &str); 9] = [
    (
        "chat, reasoning details",
        r#"
{"choices":[{"index":0,"delta":{"content":"","role":"assistant","reasoning":"@","reasoning_details":[{"type":"reasoning.text","text":"@","format":"f","index":0}]}}]}
{"choices":[{"index":0,"delta":{"reasoning_details":[{"type":"reasoning.summary","summary":"@"},{"type":"reasoning.encrypted","data":"@"}]}}]}
{"choices":[{"index":1,"delta":{"reasoning_details":{"type":"reasoning.text","text":"@"},"content":"@"}}]}"#,
    ),
    (
        "chat, parts",
        r#"
{"choices":[{"index":0,"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"@"}],"closed":true},{"type":"text","text":"@"}]}}],"p":"@"}
{"choices":[{"index":1,"delta":{"content":["@",{"type":"other","text":"@"}]}}],"p":"@"}
{"choices":[{"index":0,"delta":{"content":[{"type":"text","text":"@"}],"reasoning":"@"}}]}"#,
    ),
    (
        // Too long for a template, but for the results of the filters.
        "chat, filters",
        r#"
{"choices":[{"content_filter_results":{"hate":{"filtered":false,"severity":"safe"},"protected_material_code":{"detected":false,"filtered":false},"protected_material_text":{"detected":false,"filtered":false},"self_harm":{"filtered":false,"severity":"safe"},"sexual":{"filtered":false,"severity":"@"},"violence":{"n":#}},"delta":{"content":"@"},"finish_reason":null,"index":0}],"created":1,"id":"i","model":"m","object":"chat.completion.chunk"}"#,
    ),
    (
        "anthropic",
        r#"
message_start {"type":"message_start","message":{"id":"m","role":"assistant","model":"c","content":[]}}
content_block_start {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}
content_block_delta {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"@"}  }
content_block_delta {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"@"}}
content_block_stop {"type":"content_block_stop","index":0 }
ping {"type": "ping"}
content_block_start {"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t@","name":"f"}}
content_block_delta {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"@"}}
content_block_delta {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"@"} }
content_block_delta {"type":"content_block_delta","index":2,"delta":{"type":"thinking_delta","thinking":"@"}}
message_delta {"type":"message_delta","delta":{"stop_reason":null},"usage":{"output_tokens":#}}"#,
    ),
    (
        // The block is the server's the second time.
        "anthropic, blocks that change",
        r#"
content_block_start {"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t@","name":"f"}}
content_block_delta {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"@"}}
content_block_delta {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"@"}}
content_block_start {"type":"content_block_start","index":1,"content_block":{"type":"server_tool_use","id":"s@","name":"f"}}
content_block_delta {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"@"}}"#,
    ),
    (
        "responses",
        r#"
response.created {"type":"response.created","sequence_number":#,"response":{"id":"r","model":"g"}}
response.output_text.delta {"type":"response.output_text.delta","sequence_number":#,"item_id":"i","output_index":0,"content_index":0,"delta":"@","logprobs":[],"obfuscation":"@"}
response.output_text.delta {"type":"response.output_text.delta","sequence_number":#,"item_id":"i","output_index":0,"content_index":0,"delta":"@","logprobs":[],"obfuscation":"@"}
response.output_text.done {"type":"response.output_text.done","sequence_number":#,"item_id":"i","output_index":0,"content_index":0,"text":"whole"}
response.reasoning_summary_text.delta {"type":"response.reasoning_summary_text.delta","item_id":"@","output_index":1,"summary_index":2,"delta":"@"}
response.output_item.added {"type":"response.output_item.added","output_index":3,"item":{"type":"function_call","call_id":"c","name":"f","arguments":""}}
response.function_call_arguments.delta {"delta":"@","item_id":"i@","output_index":3,"sequence_number":#,"type":"response.function_call_arguments.delta"}
response.function_call_arguments.delta {"delta":"@","item_id":"i@","output_index":3,"sequence_number":#,"type":"response.function_call_arguments.delta"}
response.function_call_arguments.done {"arguments":"all","output_index":3,"type":"response.function_call_arguments.done"}"#,
    ),
    (
        "responses without names",
        r#"
{"type":"response.refusal.delta","output_index":0,"content_index":1,"delta":"@"}
{"type":"response.reasoning_text.delta","output_index":70000,"content_index":1,"delta":"@"}
{"type":"response.reasoning_text.delta","output_index":7,"content_index":1,"delta":"@"}
other {"type":"response.refusal.delta","output_index":0,"content_index":1,"delta":"@"}
{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"@"}}"#,
    ),
    (
        "gemini",
        r#"
{"candidates": [{"content": {"parts": [{"text": "@"}],"role": "model"}}],"usageMetadata": {"promptTokenCount": #,"totalTokenCount": #},"modelVersion": "g","responseId": "r"}
{"candidates": [{"content": {"parts": [{"text": "@"}],"role": "model"}}],"usageMetadata": {"promptTokenCount": #,"totalTokenCount": #},"modelVersion": "g","responseId": "r"}
{"candidates": [{"content": {"parts": [{"text": "@","thought": true}],"role": "model"},"index": 0}],"modelVersion": "g","responseId": "r@"}
{"candidates": [{"content": {"parts": [{"text": "@"}]}}],"usageMetadata": {"candidatesTokenCount": #,"totalTokenCount": #, "thoughtsTokenCount": 3}}"#,
    ),
    (
        "no protocol yet",
        r#"
{"type":"ping"}
{"model":"m","text":"@"}
{"type":"message_stop"}"#,
    ),
];

/// What stands for `@`.
const TEXTS: [&str; 9] =
    ["a", " b c", "", "\\\"d\\n", "é", "\\ud83d", "\\ude00x", "a longer text than the others are", "{"];

/// What stands for `#`.
const NUMBERS: [&str; 7] = ["1", "23", "0", "1234567890123456789", "12345678901234567890", "5.0", "null"];

#[test]
fn events_that_are_alike_emit_the_same() {
    let strict = Config::new().with_validate(Validate::Strict);
    let limited = Config::new().with_limits(Limits::new().with_max_event_len(160));
    let ends = [("\n", "data: "), ("\r\n", "data:"), ("\r", "data: ")];
    let sizes = [usize::MAX, 1, 13, 150, 1448];
    // Thinned, other ends and sizes for each name.
    let step = thin().min(7);
    for (nth, (name, events)) in ALIKE.iter().enumerate() {
        let ways = ends.iter().flat_map(|end| sizes.map(|size| (end, size)));
        for ((end, head), size) in ways.skip(nth % step).step_by(step) {
            let mut stream = String::new();
            for turn in 0..18 {
                for (nth, line) in events.lines().skip(1).enumerate() {
                    let (event, payload) = line.split_at(line.find('{').expect("a payload"));
                    let at = turn / 2 * 7 + nth;
                    // Numbers as they come, and later odd ones.
                    let number = if turn < 10 { at.to_string() } else { NUMBERS[at % NUMBERS.len()].into() };
                    let payload = payload.replace('@', TEXTS[at % TEXTS.len()]).replace('#', &number);
                    if !event.is_empty() {
                        stream += &format!("event:{}{}{end}", &head[5..], event.trim_end());
                    }
                    stream += &format!("{head}{payload}{end}{end}");
                }
            }
            let bytes = stream.as_bytes();
            let cuts: Vec<usize> = (1..bytes.len()).filter(|at| at % size == 0).collect();
            for config in [Config::default(), strict, limited] {
                Ask::new(config, bytes, &cuts).all(name);
            }
            Ask { pause: 2, store: Store::Fixed(200), ..Ask::new(strict, bytes, &cuts) }.all(name);
        }
    }
}

/// Returns a recording with each event repeated a few times and some bytes changed.
fn mutated(bytes: &[u8], seed: u64) -> Vec<u8> {
    const BYTES: &[u8] = b"\"\\{}[]:, 0179anx\n";
    let mut random = Random::new(seed);
    let mut out = Vec::new();
    let text = bytes.windows(2).position(|pair| pair == b"\r\n").map_or(&b"\n\n"[..], |_| b"\r\n\r\n");
    let mut from = 0;
    while let Some(len) = memchr::memmem::find(&bytes[from..], text) {
        let event = &bytes[from..from + len + text.len()];
        for _ in 0..1 + random.below(4) {
            let start = out.len();
            out.extend_from_slice(event);
            if event.len() < 2000 && random.below(6) == 0 {
                let at = start + random.below(event.len());
                out[at] = random.pick(BYTES);
            }
        }
        from += len + text.len();
    }
    out.extend_from_slice(&bytes[from..]);
    out
}

#[test]
fn recorded_streams_of_other_protocols_emit_the_same() {
    let streams = recorded_of_other_protocols("memo");
    let strict = Config::new().with_validate(Validate::Strict);
    let mut events = 0;
    for (nth, stream) in streams.iter().enumerate().step_by(thin()) {
        for seed in 0..4 {
            let bytes = if seed == 0 { stream.bytes.clone() } else { mutated(&stream.bytes, seed * 1000 + nth as u64) };
            let name = format!("{} {seed}", stream.name);
            let mut whole: Option<Readings> = None;
            for size in [bytes.len().max(1), 1 + nth % 7, 64, 1448] {
                let cuts: Vec<usize> = (1..bytes.len()).filter(|at| at % size == 0).collect();
                let config = if seed == 3 { strict } else { Config::default() };
                let ask = Ask { pause: nth % 3, ..Ask::new(config, &bytes, &cuts) };
                let readings = ask.all(&name);
                if let Some(whole) = &whole {
                    let context = || ask.context(&name, 0);
                    whole.pulled.across(&readings.pulled, "pull", context);
                    same("ranges", &whole.pulled.ranges, &readings.pulled.ranges, context);
                } else {
                    events += readings.pulled.ranges.len();
                    whole = Some(readings);
                }
            }
        }
    }
    println!("{} streams, {events} events", streams.len());
    assert!(streams.is_empty() || events > 1000 / thin());
}

/// Cases found by fuzzing: the name, a stream, what replaces the `@`, and a further replacement.
const CASES: [(&str, &str, &str); 4] = [
    ("a line ends inside a text", "\r\r", "TIDE"),
    ("a line ends inside a text, and the next begins like the first", "x\ndata: y", "TIDE"),
    ("a line ends inside the name of a member", "\n", "NAME"),
    ("a line ends inside an identifier that changes", "\n", "ID"),
];

#[test]
fn what_was_found_by_fuzzing() {
    for (name, put, place) in CASES {
        let event = |nth: usize| {
            let stands = |here: &str| if nth == 3 && here == place { put } else { "" };
            format!(
                "data: {{\"id\":\"a{}{}\",\"created\":{nth},\"choices\":[{{\"index\":0,\"de{}lta\":{{\"content\":\"t{}\"}}}}]}}\n\n",
                if place == "ID" { nth } else { 0 },
                stands("ID"),
                stands("NAME"),
                stands("TIDE"),
            )
        };
        let stream: String = (0..8).map(event).chain((0..8).map(event)).collect();
        for cut in (0..stream.len()).step_by(thin()) {
            Ask::new(Config::default(), stream.as_bytes(), &[cut]).all(name);
        }
    }
}

#[test]
fn a_payload_that_begins_with_a_space_after_one_without() {
    let chunk =
        |nth: usize| format!("{{\"id\":\"a\",\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"t{nth}\"}}}}]}}");
    for end in ["\n", "\r\n", "\r"] {
        let mut stream = format!(": x{end}{end}data:{{\"a\":1}}{end}{end}");
        for (nth, head) in ["data:  ", "data: ", "data:", "data:  ", "data: ", "data: ", "data:"].iter().enumerate() {
            stream += &format!("{head}{}{end}{end}", chunk(nth));
        }
        for cut in (0..stream.len()).step_by(thin()) {
            Ask::new(Config::default(), stream.as_bytes(), &[cut]).all("spaces");
        }
    }
}

/// Builds the case from the control bytes and the body.
fn one(control: &[u8], body: &[u8]) {
    let rest = body.to_vec();
    let (mut from, mut body) = (Source::new(control), Source::new(body));
    let mut bytes = stream::stream(&mut body);
    edit::edit(&mut bytes, &mut from);
    let config = input::config(&mut from);
    let cuts = input::cuts(&mut from, bytes.len());
    let how =
        How { shake: from.once_in(2), records: from.pick(&[7, 1, 2, 64]), scratch: from.pick(&[256, 0, 64]), ..BATCH };
    let ask = Ask { pause: from.below(4), how, ..Ask::new(config, &bytes, &cuts) };
    // With a storage that limits an event, cut or not, too.
    const GROWING: Store = Store::Growing;
    let stores = [GROWING, GROWING, GROWING, Store::Fixed(96), Store::Fixed(256), Store::Fixed(8192)];
    Ask { store: from.pick(&stores), ..ask }.all("made");
    // Another stream, which may have been generated from the same bytes, so that their shapes are alike.
    let mut other = stream::stream(&mut if from.once_in(2) { Source::new(&rest) } else { body });
    edit::edit(&mut other, &mut from);
    let expected = ask.read::<0>();
    ask.compare_shared("made", &other, from.u64(), &expected);
}

/// Streams of all protocols on one workspace: each emits what a parser of its own does. `changes` are other bytes of the body, so
/// that the shapes of the other stream are alike.
fn one_of_any_protocol(control: &[u8], body: &[u8], changes: &[(usize, u8)]) {
    let mut from = Source::new(control);
    let mut changed = body.to_vec();
    for (at, byte) in changes {
        let at = at % changed.len();
        changed[at] = *byte;
    }
    let [mut bytes, other] = [body, &changed].map(|body| native::stream(&mut Source::new(body)).1);
    if from.once_in(4) {
        edit::edit(&mut bytes, &mut from);
    }
    let config = input::config(&mut from);
    let cuts = input::cuts(&mut from, bytes.len());
    let (pause, seed) = (from.below(4), from.u64());
    let store = if from.once_in(4) { Store::Fixed(256) } else { Store::Growing };
    let ask = Ask { pause, store, ..Ask::new(config, &bytes, &cuts) };
    ask.compare_shared("made", &other, seed, &ask.read::<0>());
}

proptest! {
    #![proptest_config(cases(2000, thin(), 1))]

    #[test]
    fn generated_streams_emit_the_same(
        control in prop::collection::vec(any::<u8>(), 0..100),
        body in prop::collection::vec(any::<u8>(), 12..600),
    ) {
        one(&control, &body);
    }

    #[test]
    fn streams_of_other_protocols_share_a_workspace(
        control in prop::collection::vec(any::<u8>(), 0..100),
        body in prop::collection::vec(any::<u8>(), 12..600),
        changes in prop::collection::vec((any::<usize>(), any::<u8>()), 0..12),
    ) {
        one_of_any_protocol(&control, &body, &changes);
    }
}
