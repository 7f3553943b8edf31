//! The records of a batch: their members, the places of their texts, and the kinds that are written.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]
extern crate std;

use super::{Config, Context, Emitter, Machine, Outcome, Payload, Put, Record, Records, Sink};
use super::{FLAG_AUX_SCRATCH, FLAG_EXTRA_SCRATCH, FLAG_TEXT_SCRATCH};
use crate::delta::{Delta, Kind};
use crate::track::Tracker;
use crate::{Limits, Movable};
use std::format;
use std::string::String;
use std::vec;
use std::vec::Vec;

/// The stream offset of the input.
const BASE: u32 = 1000;

/// A record as a line. `@` marks a text in the input, `+` a text in the scratch.
fn line_of(record: &Record, input: &[u8], scratch: &[u8]) -> String {
    let text = |flag: u16, off: u32, len: u32| {
        if len == 0 {
            assert!(flag == FLAG_TEXT_SCRATCH || record.flags & flag == 0);
            return String::new();
        }
        let copied = record.flags & flag != 0;
        let from = if copied { scratch.get(off as usize..) } else { input.get((off - BASE) as usize..) };
        let text = core::str::from_utf8(&from.unwrap()[..len as usize]).unwrap();
        format!(" {}{}", if copied { '+' } else { '@' }, text.replace('\n', "|"))
    };
    let mut line = format!("{} {}..{}", record.kind, record.start, record.end);
    line += &text(FLAG_TEXT_SCRATCH, record.text_off, record.text_len);
    line += &text(FLAG_AUX_SCRATCH, record.aux_off, record.aux_len);
    line += &text(FLAG_EXTRA_SCRATCH, record.extra_off, record.extra_len);
    let flags = record.flags & !(FLAG_TEXT_SCRATCH | FLAG_AUX_SCRATCH | FLAG_EXTRA_SCRATCH);
    let numbers = [
        ("choice", u64::from(record.choice)),
        ("call", u64::from(record.call)),
        ("code", u64::from(record.code)),
        ("number", record.number),
        ("flags", u64::from(flags)),
    ];
    for (name, number) in numbers {
        if number != 0 {
            line += &format!(" {name}={number}");
        }
    }
    line
}

/// The records of a stream, of the default kinds, with an array of `cap` records.
fn records<const CALLS: usize>(input: &str, cap: usize) -> Vec<String> {
    read::<CALLS>(Config::default(), input.as_bytes(), Kind::DEFAULT, cap)
}

/// The records of a stream, of the kinds of `mask`, with an array of `cap` records.
fn lines_of(config: Config, input: &[u8], mask: u64, cap: usize) -> Vec<String> {
    read::<4>(config, input, mask, cap)
}

fn read<const CALLS: usize>(config: Config, input: &[u8], mask: u64, cap: usize) -> Vec<String> {
    let (mut machine, mut tracker, mut batch) = (Machine::<2>::new(config), Tracker::<4, CALLS>::new(), Emitter::new());
    let (mut storage, mut scratch, mut records) = (vec![0; 2048], vec![0; 2048], vec![Record::default(); cap]);
    let mut all = Vec::new();
    let mut at = 0;
    let mut finish = false;
    loop {
        let mut sink = Records::new(&mut records, &mut scratch, mask);
        let mut movable = Movable::new(&mut storage, false);
        let (spent, filled) = if finish {
            (0, batch.finish(&mut machine, &mut movable, &mut tracker, &mut sink))
        } else {
            let base = BASE + at as u32;
            batch.run(&mut machine, &mut movable, &mut tracker, &input[at..], base, &mut sink)
        };
        let (written, used) = (sink.written(), sink.used());
        let lines: Vec<String> = records[..written].iter().map(|record| line_of(record, input, &scratch)).collect();
        assert_eq!(lines.iter().any(|line| line.contains(" +")), used > 0, "{lines:?} {used}");
        all.extend(lines);
        at += spent;
        match filled {
            Outcome::Done if finish => return all,
            Outcome::Done => finish = true,
            Outcome::Full => assert!(written == cap || spent > 0, "{written}"),
            other => panic!("{other:?}"),
        }
    }
}

const STREAM: &str = concat!(
    ": hi\n\n",
    "event: note\nid: 5\ndata: {\"id\":\"c1\",\"model\":\"m\",\"created\":1700000000,\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"Hi\"}}]}\n\n",
    "data: {\"id\":\"c\\u0031\",\"model\":\"m\",\"created\":7,\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\\nb\",\"reasoning\":\"th\",\"refusal\":\"no\",\"tool_calls\":[{\"index\":2,\"id\":\"t\",\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}},{\"index\":2,\"id\":\"u\",\"custom\":{\"name\":\"g\",\"input\":\"i\"}}],\"function_call\":{\"name\":\"h\",\"arguments\":\"x\"},\"audio\":{\"id\":\"au\"}},\"logprobs\":{\"content\":[]},\"finish_reason\":\"stop\"},{\"index\":1,\"message\":{\"content\":\"m\"},\"error\":{\"message\":\"bad\"}}],\"usage\":{\"total_tokens\":3}}\n\n",
    "data: {\"choices\":[{\"index\":\"0\",\"delta\":{\"content\":\"late\",\"reasoning\":\"\\n\",\"tool_calls\":[{\"index\":2,\"function\":{\"arguments\":\"more\"}}]}}]}\n\n",
    "data: {\"id\":\"d\",\"model\":\"m\",\"choices\":[{\"index\":2,\"delta\":{\"content\":\"plain\"}}]}\n\n",
    "data: {\"id\":\"d\",\"model\":\"m\",\"choices\":[{\"index\":2,\"delta\":{\"content\":\"\\ud83d\"}}]}\n\n",
    "data: {\"id\":\"d\",\"model\":\"m\",\"choices\":[{\"index\":2,\"delta\":{},\"finish_reason\":\"length\"}]}\n\n",
    "x: silent\n\n",
    "retry: 30\n\nid: 9\n\ndata: {bad\n\ndata:\n\ndata: {\"error\":{\"message\":\"e\"}}\n\n",
    "event: error\ndata: words\n\n",
    "data: {\"choices\":[{\"index\":4294967296,\"delta\":{\"content\":\"x\"}}]}\n\n",
    "data: {\"choices\":[{\"index\":3,\"delta\":{\"content\":\"\\ud83d\"}}]}\n\ndata: [DONE]\n\n: bye\n",
);

/// The records of that stream, except for the payloads: the kind, the range, the texts, and the members that are not 0.
const SAID: &[&str] = &[
    "2 0..5 @hi",
    "48 0..5 number=4",
    "6 6..144 @c1 @m @note code=1 number=1700000000 flags=512",
    "7 6..144 @assistant",
    "8 6..144 @Hi",
    "48 5..144 code=1 number=448",
    "6 144..630 +c1 @m code=2 number=7 flags=512",
    "30 144..630 @reasoning code=10",
    "9 144..630 @th",
    "8 144..630 +a|b",
    "10 144..630 @no",
    "14 144..630 @h flags=128",
    "15 144..630 @x",
    "11 144..630 @t @function number=2 flags=528",
    "12 144..630 @f flags=128",
    "13 144..630 @{}",
    "39 144..630 code=1",
    "11 144..630 @u call=1 number=2 flags=624",
    "12 144..630 @g call=1 flags=128",
    "13 144..630 @i call=1",
    r#"16 144..630 @{"id":"au"}"#,
    r#"17 144..630 @{"content":[]}"#,
    "39 144..630 call=1 code=1",
    "19 144..630 @stop code=2",
    "8 144..630 @m choice=1",
    r#"20 144..630 @{"message":"bad"} choice=1"#,
    r#"21 144..630 @{"total_tokens":3}"#,
    "27 144..630 code=15",
    "48 144..630 code=2 number=549893963584",
    "6 630..768 code=1",
    "9 630..768 +|",
    "8 630..768 @late",
    "13 630..768 @more call=1",
    "27 630..768 code=14",
    "27 630..768 code=17",
    "27 630..768 code=18",
    "48 630..768 code=1 number=134226752",
    "6 768..850 @d @m code=1",
    "8 768..850 @plain choice=2",
    "48 768..850 code=1 number=320",
    "6 850..933 @d @m code=1",
    "48 850..933 code=1 number=64",
    "6 933..1023 @d @m code=1",
    "8 933..1023 +\u{fffd} choice=2",
    "19 933..1023 @length choice=2 code=3",
    "27 933..1023 code=21",
    "48 933..1023 code=1 number=134742336",
    "4 1034..1044 number=30 flags=512",
    "48 1023..1045 number=16",
    "5 1045..1052 +9",
    "48 1045..1052 number=32",
    "23 1052..1064 @{bad code=2 number=1 flags=512",
    "48 1052..1064 number=8388608",
    "3 1064..1071",
    "27 1064..1071 code=1",
    "48 1064..1071 number=134217736",
    "6 1071..1104",
    r#"22 1071..1104 @{"message":"e"}"#,
    "48 1071..1104 number=4194368",
    "6 1104..1130 @error",
    "22 1104..1130 @words flags=256",
    "48 1104..1130 number=4194368",
    "6 1130..1196 code=1",
    "26 1130..1196 choice=4294967295 code=3",
    "48 1130..1196 code=1 number=67108928",
    "6 1196..1258 code=1",
    "48 1196..1258 code=1 number=64",
    "28 1258..1272",
    "48 1258..1272 number=268435456",
    "2 1272..1278 @bye",
    "48 1272..1278 number=4",
    "8 1278..1278 +\u{fffd} choice=3",
    "27 1278..1278 code=21",
];

#[test]
fn each_delta_has_its_record() {
    let all = lines_of(Config::default(), STREAM.as_bytes(), u64::MAX, 256);
    let payload = format!("{} ", Kind::Payload as u16);
    let (payloads, others): (Vec<_>, Vec<_>) = all.iter().partition(|line| line.starts_with(&payload));
    assert_eq!(others, SAID);
    assert_eq!(payloads.len(), 10);
    for line in payloads {
        let text = line.split_once('@').unwrap().1;
        assert!(STREAM.contains(text.trim_end_matches(" code=1 flags=256")), "{line}");
    }
    let long = Config { limits: Limits { max_event_len: 40, ..Limits::DEFAULT }, ..Config::default() };
    let stream = format!("data: {{\"a\":\"{}\"}}\n\n:{}\n\n", "x".repeat(60), "y".repeat(60));
    let expected = ["24 0..0", "48 0..76 number=16777216", "25 76..76", "48 76..139 number=33554432"];
    assert_eq!(lines_of(long, stream.as_bytes(), u64::MAX, 256), expected);
    let opaque = Config { payload: Payload::Opaque, ..Config::default() };
    let stream = "id: 7\nevent: e\ndata: one\ndata: two\n\ndata: three\n\n";
    let expected = ["1 0..36 +one|two @e +7", "48 0..36 number=2", "1 36..49 @three +message +7", "48 36..49 number=2"];
    assert_eq!(lines_of(opaque, stream.as_bytes(), u64::MAX, 256), expected);
}

/// Events with content alone. A sink that wants no payloads gets most of them without the stages of the emitter; the
/// records must be the same.
const PLAIN: &str = concat!(
    "data: {\"id\":\"c\",\"model\":\"m\",\"created\":1700000000,\"choices\":[{\"index\":0,\"delta\":{\"content\":\"one\"}}]}\n\n",
    "data: {\"id\":\"c\",\"model\":\"m\",\"created\":1700000000,\"choices\":[{\"index\":0,\"delta\":{\"content\":\"two\"}}]}\n\n",
    "data: {\"id\":\"c\",\"created\":\"17\",\"choices\":[{\"index\":\"0\",\"delta\":{\"content\":\"odd\"}}]}\n\n",
    "data: {\"id\":\"\\u0063\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\\u0033\"}}]}\n\n",
    "data: {\"id\":7,\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\\q\"}}]}\n\n",
    "event: e\n: said\n\ndata: {\"id\":\"\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"four\"}}]}\n\n",
    "event: name\ndata: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"five\"}}]}\n\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"six\"}}],\"usage\":{\"total_tokens\":6}}\n\n",
    "data: {\"choices\":[]}\n\ndata: {\"choices\":[],\"model\":\"\\u006d\"}\n\n",
);

#[test]
fn the_records_do_not_depend_on_the_length_of_the_array() {
    let kind = |line: &str| line.split(' ').next().unwrap().parse::<u16>().unwrap();
    let native = [Kind::Signature, Kind::Media, Kind::Native];
    let apart = [Kind::Frame, Kind::Payload, Kind::Meta, Kind::Annotation];
    for &kind in Kind::ALL {
        assert_eq!(Kind::DEFAULT & kind.bit() != 0, !apart.contains(&kind) && !native.contains(&kind));
    }
    let mut masks: Vec<u64> = (0..64).map(|kind| 1 << kind).collect();
    masks.extend([0, Kind::DEFAULT, u64::MAX, !Kind::Payload.bit(), Kind::Chunk.bit() | Kind::Content.bit()]);
    for stream in [STREAM, PLAIN] {
        let all = lines_of(Config::default(), stream.as_bytes(), u64::MAX, 256);
        for mask in &masks {
            let expected: Vec<_> = all.iter().filter(|line| mask >> kind(line) & 1 == 1).collect();
            for cap in [1, 2, 3, 5, 256] {
                let lines = lines_of(Config::default(), stream.as_bytes(), *mask, cap);
                assert_eq!(lines.iter().collect::<Vec<_>>(), expected, "{mask:x} {cap}");
            }
        }
    }
}

#[test]
fn texts_that_decode_to_themselves_are_not_copied() {
    let chunk = |id: &str, content: &str| {
        format!(r#"data: {{"id":"{id}","choices":[{{"index":0,"delta":{{"content":"{content}"}}}}]}}"#) + "\n\n"
    };
    for (text, expected) in [
        ("Hi", "@Hi"),
        ("\u{e9}\u{1f600}", "@\u{e9}\u{1f600}"),
        ("/", "@/"),
        ("\\/", "+/"),
        ("\\u00e9", "+\u{e9}"),
        ("a\\nb", "+a|b"),
    ] {
        for mask in [Kind::DEFAULT, u64::MAX] {
            for cap in [1, 64] {
                let lines = lines_of(Config::default(), chunk(text, text).as_bytes(), mask, cap);
                let texts: Vec<_> =
                    lines.iter().filter(|line| line.starts_with("6 ") || line.starts_with("8 ")).collect();
                assert_eq!(texts.len(), 2);
                for line in texts {
                    assert_eq!(line.split(' ').nth(2), Some(expected), "{line}");
                }
            }
        }
    }
}

#[test]
fn each_byte_is_in_one_frame() {
    let frames = |stream: &str, cap: usize| lines_of(Config::default(), stream.as_bytes(), Kind::Frame.bit(), cap);
    for cap in [1, 2, 9] {
        assert_eq!(frames(": a\n\n: b\n\n", cap), ["48 0..4 number=4", "48 4..9 number=4", "48 9..10"]);
        // A block without data ends without an event. The comment in it does not end its frame.
        assert_eq!(frames("event: e\n: a\n\nx", cap), ["48 0..14 number=4", "48 14..15"]);
        assert_eq!(frames("event: e\n: a\n\n", cap), ["48 0..14 number=4"]);
        assert_eq!(frames("event: e\n: a\n\n: b\n", cap), ["48 0..14 number=4", "48 14..18 number=4"]);
        assert_eq!(frames("x", cap), ["48 0..1"]);
        // After CR LF a CR waits for its LF; after CR or LF it does not.
        assert_eq!(frames("event: e\r\n: a\r\n\r\n: b\r\n", cap), ["48 0..17 number=4", "48 17..22 number=4"]);
        assert_eq!(frames("event: e\r\n\r\r\n", cap), ["48 0..11", "48 11..13"]);
        assert_eq!(frames("event: e\r\r\n\r", cap), ["48 0..10", "48 10..12"]);
        assert_eq!(frames("event: e\n\r\n", cap), ["48 0..10", "48 10..11"]);
        // The frame of a comment in the first line includes its LF. That of an event includes the lines before its
        // value.
        assert_eq!(
            frames(": a\r\n: b\r\n\r\n: c\r\n", cap),
            ["48 0..5 number=4", "48 5..10 number=4", "48 10..17 number=4"]
        );
        assert_eq!(frames(": a\r: b\r\r: c", cap), ["48 0..4 number=4", "48 4..8 number=4", "48 8..12"]);
        let values = "data: {}\r\nid: 7\r\nevent: x\r\ndata: {}\r\n\r\n";
        let (chunk, quirk) = (Kind::Chunk.bit(), Kind::Quirk.bit());
        let expected = [format!("48 0..17 number={}", chunk | quirk), format!("48 17..39 number={chunk}")];
        assert_eq!(frames(values, cap), expected);
        assert_eq!(frames("", cap), [""; 0]);
    }
}

/// The frames of a stream that comes in slices of `size` bytes: how many bytes had come, the end of the frame, and its
/// choices.
fn frames_by(input: &[u8], size: usize) -> Vec<(usize, u64, u32)> {
    let (mut machine, mut tracker, mut batch) =
        (Machine::<2>::new(Config::default()), Tracker::<4, 4>::new(), Emitter::new());
    let (mut storage, mut scratch, mut records) = ([0; 2048], [0; 2048], [Record::default(); 64]);
    let (mut frames, mut given) = (Vec::new(), 0);
    let mut note = |given: usize, records: &[Record]| {
        frames.extend(records.iter().map(|record| (given, record.end, record.code)));
    };
    for slice in input.chunks(size) {
        given += slice.len();
        let mut sink = Records::new(&mut records, &mut scratch, Kind::Frame.bit());
        let ran = batch.run(&mut machine, &mut storage, &mut tracker, slice, 0, &mut sink);
        assert_eq!(ran, (slice.len(), Outcome::Done));
        let written = sink.written();
        note(given, &records[..written]);
    }
    let mut sink = Records::new(&mut records, &mut scratch, Kind::Frame.bit());
    assert_eq!(batch.finish(&mut machine, &mut storage, &mut tracker, &mut sink), Outcome::Done);
    let written = sink.written();
    note(given, &records[..written]);
    frames
}

/// The frame of an event whose lines end in CR LF includes the last LF. A frame whose lines end in CR does not wait for
/// a LF.
#[test]
fn a_frame_has_all_of_its_last_line_end() {
    const CHUNK: &str = r#"data: {"choices":[{"index":0,"delta":{"content":"a"}}]}"#;
    for (end, expected) in [("\n", 0), ("\r", 0), ("\r\n", 0), ("\r\n", 1)] {
        // `expected` means that the last CR is followed by the end of the stream, or by another line, instead of a LF.
        let event = [CHUNK, end, end].concat();
        let mut input = event.repeat(5);
        input.truncate(input.len() - expected);
        let mut ends: Vec<_> = (1..=5).map(|nth| (nth * event.len()).min(input.len())).collect();
        if expected == 1 {
            input += "data: [DONE]\n\n";
            ends.push(input.len());
        }
        let whole: Vec<_> =
            ends.iter().map(|end| (*end as u64, u32::from(*end <= event.len() * 5 - expected))).collect();
        for size in 1..=input.len() {
            let frames = frames_by(input.as_bytes(), size);
            assert_eq!(
                frames.iter().map(|(_, end, code)| (*end, *code)).collect::<Vec<_>>(),
                whole,
                "{end:?} by {size}"
            );
        }
        // Byte by byte, each frame is reported with its last byte or, if a LF was expected, with the next byte.
        let given: Vec<_> = frames_by(input.as_bytes(), 1).iter().map(|(given, ..)| *given).collect();
        let mut at = ends.clone();
        at[4] += expected;
        assert_eq!(given, at, "{end:?}");
    }
}

/// A finish reason flushes more pending deltas than the array has room for, and none is lost.
#[test]
fn a_finish_reason_flushes_all_pending_deltas() {
    for calls in 0..=8 {
        let mut stream = String::new();
        let fragments: Vec<String> = (0..calls)
            .map(|call| format!(r#"{{"index":{call},"id":"c{call}","function":{{"name":"f","arguments":"\ud83d"}}}}"#))
            .collect();
        let halves =
            r#""content":"\ud83d","reasoning":"\ud83d","refusal":"\ud83d","function_call":{"arguments":"\ud83d"}"#;
        let list = fragments.join(",");
        stream += &format!(r#"data: {{"choices":[{{"index":0,"delta":{{{halves},"tool_calls":[{list}]}}}}]}}"#);
        stream += "\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
        let whole = records::<16>(&stream, 256);
        assert_eq!(whole.iter().filter(|line| line.contains('\u{fffd}')).count(), 4 + calls, "{whole:?}");
        assert_eq!(whole.iter().filter(|line| line.starts_with("19 ")).count(), 1, "{whole:?}");
        for cap in [1, 2, 3, 7] {
            assert_eq!(records::<16>(&stream, cap), whole, "{calls} calls, {cap} records");
        }
    }
}

/// A sink that is full at the delta with this number. It notes the kind of each delta that it gets.
struct FullAt(usize, Vec<Kind>);

impl Sink for FullAt {
    fn wants(&self, _: Kind) -> bool {
        true
    }
    fn put(&mut self, _: &Context<'_>, delta: &Delta, _: &mut usize) -> Put {
        self.1.push(delta.kind);
        if self.1.len() == self.0 {
            return Put::Full;
        }
        Put::Go
    }
}

/// A sink that was full gets no delta before the next call, and then the same delta once more.
#[test]
fn a_full_sink_is_given_the_same_delta_once_more() {
    let stream = PLAIN.as_bytes();
    let read = |full_at: usize| {
        let (mut machine, mut tracker, mut emitter) =
            (Machine::<2>::new(Config::default()), Tracker::<4, 4>::new(), Emitter::new());
        let (mut storage, mut sink, mut at, mut came_back) = ([0; 2048], FullAt(full_at, Vec::new()), 0, 0);
        loop {
            let (spent, outcome) = emitter.run(&mut machine, &mut storage, &mut tracker, &stream[at..], 0, &mut sink);
            at += spent;
            match outcome {
                Outcome::Done => return (sink.1, came_back),
                Outcome::Full => came_back += 1,
                other => panic!("{other:?}"),
            }
            assert_eq!(sink.1.len(), full_at);
        }
    };
    let (all, came_back) = read(0);
    assert_eq!(came_back, 0);
    for full_at in 1..=all.len() {
        let (mut given, came_back) = read(full_at);
        assert_eq!((came_back, given.remove(full_at - 1)), (1, all[full_at - 1]));
        assert_eq!(given, all, "{full_at}");
    }
}

/// The records of these events, which come one at a time or all in one call, and the state of the parser after them.
fn given(events: &[String], one_by_one: bool) -> (Vec<String>, String) {
    let (mut machine, mut tracker) = (Machine::<2>::new(Config::default()), Tracker::<4, 4>::new());
    let (mut emitter, mut storage) = (Emitter::new(), vec![0; 2048]);
    let (mut records, mut scratch) = (vec![Record::default(); 256], vec![0; 2048]);
    let input = events.concat();
    let ends = events.iter().scan(0, |end, event| {
        *end += event.len();
        Some(*end)
    });
    let (mut lines, mut at) = (Vec::new(), 0);
    for end in ends.filter(|end| one_by_one || *end == input.len()) {
        let mut sink = Records::new(&mut records, &mut scratch, Kind::DEFAULT);
        let mut movable = Movable::new(&mut storage, false);
        let bytes = &input.as_bytes()[at..end];
        let done = emitter.run(&mut machine, &mut movable, &mut tracker, bytes, BASE + at as u32, &mut sink);
        assert_eq!(done, (bytes.len(), Outcome::Done));
        let written = sink.written();
        lines.extend(records[..written].iter().map(|record| line_of(record, input.as_bytes(), &scratch)));
        at = end;
    }
    let counts: Vec<u16> = crate::Quirk::ALL.iter().map(|quirk| machine.quirk_count(*quirk)).collect();
    (lines, format!("{} {:?} {counts:?} {:?}", machine.offset(), machine.index_frame(), emitter.usage()))
}

/// A run settles the machine once for all its events, and copies records from the event before. The result is the same
/// as if each event came in a call of its own.
#[test]
fn a_run_has_the_effect_of_its_events_one_by_one() {
    let delta = |text: &str| format!("{{\"index\":0,\"delta\":{{\"content\":\"{text}\"}}}}");
    let first = |id: &str, created: u32, text: &str| {
        format!("{{\"id\":\"{id}\",\"created\":{created},\"model\":\"m\",\"choices\":[{}]}}", delta(text))
    };
    let last = |id: &str, text: &str| {
        format!("{{\"choices\":[{}],\"model\":\"m\",\"id\":\"{id}\",\"created\":1700000000}}", delta(text))
    };
    let texts = ["a", "", "bcd", "\\n", "e", "\u{e9}", "fgh"];
    let of = |event: &dyn Fn(usize, &str) -> String| -> Vec<String> {
        texts.iter().enumerate().map(|(place, text)| event(place, text)).collect()
    };
    let streams = [
        of(&|_, text| first("c1", 1_700_000_000, text)),
        of(&|place, text| first("c1", 1_700_000_000 + place as u32, text)),
        of(&|place, text| first(&"x".repeat(place), 7, text)),
        of(&|_, text| first("c\\u0031", 1_700_000_000, text)),
        of(&|_, text| last("c1", text)),
        of(&|place, text| last(&"y".repeat(place + 1), text)),
        of(&|_, text| format!("{{\"model\":\"m\",\"choices\":[{}]}}", delta(text))),
        of(&|_, text| format!("{{\"choices\":[{{\"index\":\"0\",\"delta\":{{\"content\":\"{text}\"}}}}]}}")),
        of(&|place, text| format!("{{\"choices\":[{}],\"usage\":{{\"total_tokens\":{place}}}}}", delta(text))),
        of(&|place, text| if place % 3 == 2 { last("c2", text) } else { first("c2", 1_700_000_000, text) }),
    ];
    for ends in ["\n\n", "\r\n\r\n", "\r\r"] {
        let events = |payload: &String| format!("data: {payload}{ends}");
        for stream in &streams {
            let events: Vec<String> = stream.iter().map(events).collect();
            assert_eq!(given(&events, false), given(&events, true), "{events:?}");
        }
        let all: Vec<String> = streams.iter().flatten().map(events).collect();
        assert_eq!(given(&all, false), given(&all, true), "{ends:?}");
    }
}

/// A frame that waits for a LF keeps its kinds, even during a call whose sink wants no frames.
#[test]
fn a_frame_that_waits_keeps_its_kinds() {
    let (mut machine, mut tracker) = (Machine::<2>::new(Config::default()), Tracker::<4, 4>::new());
    let (mut emitter, mut storage) = (Emitter::new(), vec![0; 2048]);
    let (mut records, mut scratch) = ([Record::default(); 32], [0; 64]);
    let event = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"x\"}}]}\r\n\r\n";
    let input = event.repeat(4);
    let (all, lf) = input.as_bytes().split_at(input.len() - 1);
    let mut written = 0;
    for (bytes, mask) in [(all, Kind::DEFAULT), (lf, Kind::Frame.bit())] {
        let mut sink = Records::new(&mut records, &mut scratch, mask);
        let mut movable = Movable::new(&mut storage, false);
        let done = emitter.run(&mut machine, &mut movable, &mut tracker, bytes, BASE, &mut sink);
        assert_eq!(done, (bytes.len(), Outcome::Done));
        written = sink.written();
    }
    let kinds = Kind::Chunk.bit() | Kind::Content.bit();
    let (start, end) = (3 * event.len(), input.len());
    assert_eq!(written, 1);
    assert_eq!(line_of(&records[0], lf, &scratch), format!("48 {start}..{end} code=1 number={kinds}"));
}

#[test]
fn an_array_that_is_full_ends_the_call_between_two_events() {
    let event =
        |text: &str| format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{text}\"}}}}]}}\n\n");
    let events: Vec<String> = ["a", "b", "c", "d", "e"].map(event).into();
    let input = events.concat();
    // Each event has two records, for the chunk and its text. A template recognizes all events but the first.
    for in_one_call in 1..=events.len() {
        let (mut machine, mut tracker, mut emitter) =
            (Machine::<2>::new(Config::default()), Tracker::<4, 4>::new(), Emitter::new());
        let (mut storage, mut scratch, mut records) = ([0; 2048], [0; 64], vec![Record::default(); 2 * in_one_call]);
        let mut rest = input.as_bytes();
        for part in events.chunks(in_one_call) {
            let mask = Kind::Chunk.bit() | Kind::Content.bit();
            let mut sink = Records::new(&mut records, &mut scratch, mask);
            let (spent, outcome) = emitter.run(&mut machine, &mut storage, &mut tracker, rest, 0, &mut sink);
            let is_last = rest.len() == part.concat().len();
            assert_eq!((spent, outcome == Outcome::Done), (part.concat().len(), is_last), "{in_one_call}");
            assert_eq!((sink.written(), emitter.is_pending()), (2 * part.len(), false), "{in_one_call}");
            rest = &rest[spent..];
        }
        assert!(rest.is_empty());
    }
}
