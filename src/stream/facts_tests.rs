//! What a parser reports about a stream besides its events: ranges, counts and verdicts. A reset clears all of it.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]
extern crate std;

use super::{
    Config, Emitter, Event, Flow, Found, Framing, Handler, Machine, Malformed, Outcome, Parser, Payload, Pending,
    Place, Record, Records, Validate, Verdict,
};
use crate::track::Tracker;
use crate::{Growing, Limits, Movable, Quirk};
use core::ops::Range;
use std::format;
use std::string::{String, ToString};
use std::vec;
use std::vec::Vec;

/// The `Debug` texts of the events of a stream.
fn shown(parser: &mut Parser<Growing>, mut input: &[u8]) -> Vec<String> {
    let mut shown = Vec::new();
    while let Some(event) = parser.next(&mut input).unwrap() {
        let is_chunk = matches!(*event, Event::Chunk(_));
        assert_eq!(event.chunk().is_some(), is_chunk);
        shown.push(format!("{event:?}"));
    }
    while let Some(event) = parser.finish().unwrap() {
        shown.push(format!("{event:?}"));
    }
    shown
}

fn parser(config: Config) -> Parser<Growing> {
    Parser::with_slots(Growing::new(), config, Tracker::new())
}

#[test]
fn debug_texts_of_events_have_their_contents() {
    let stream =
        b"data: {\"a\":1}\n\n: said\ndata:\n\nretry: 77\n\nid: last\n\ndata: {odd\n\ndata: [DONE]\n\ndata: {\"cut\":1}\n";
    let shown = shown(&mut parser(Config::default()), stream);
    let expected =
        ["{\\\"a\\\":1}", "Comment(\"said\")", "KeepAlive(\"\")", "Retry(77)", "LastEventId(\"last\")", "{odd", "Done"];
    assert!(shown.len() > expected.len(), "{shown:?}");
    for (shown, expected) in shown.iter().zip(expected) {
        assert!(shown.contains(expected) || shown.contains(&expected.replace('\\', "")), "{shown} {expected}");
    }
    assert!(shown.last().unwrap().contains("cut"), "{shown:?}");
    let opaque = Config { payload: Payload::Opaque, ..Config::default() };
    let mut parser = parser(opaque);
    let Ok(Some(event)) = parser.next(&mut &b"event: name\ndata: text\n\n"[..]) else { panic!() };
    assert!(!format!("{event:?}").is_empty() && event.chunk().is_none());
    assert!(event.deltas().next().is_none());
}

#[test]
fn a_reset_clears_the_state_of_the_stream() {
    let first = b"\xEF\xBB\xBFid: 7\ndata: {\"a\":1}\n\nretry: 5\ndata: {\"a\":1}\ndata: {\"a\":";
    let second = b"data: {\"a\":1}\n\n: x\n";
    let mut fresh = parser(Config::default());
    let expected = shown(&mut fresh, second);
    let mut used = parser(Config::default());
    shown(&mut used, first);
    assert_ne!((used.end(), used.offset()), (fresh.end(), fresh.offset()));
    used.reset();
    let empty = parser(Config::default());
    assert_eq!((used.end(), used.offset(), used.end().verdict), (empty.end(), 0, Verdict::Empty));
    assert_eq!(used.last_event_id(), b"");
    for quirk in Quirk::ALL {
        assert_eq!(used.quirk_count(*quirk), 0);
    }
    assert_eq!(shown(&mut used, second), expected);
    assert_eq!(used.end(), fresh.end());
    // A reset inside a line, inside an event, and inside a raw JSON value.
    for stream in [&b"data: {\"a"[..], b"data: {\"a\":1}\n", b"{\"raw\":[", b"[{\"a\":1},", b": comm", b"data: x\r"] {
        let mut used = parser(Config::default());
        let mut input = stream;
        while used.next(&mut input).unwrap().is_some() {}
        used.reset();
        assert_eq!(shown(&mut used, second), expected, "{stream:?}");
    }
    let mut machine: Machine = Machine::new(Config { errors: Quirk::BareDone.into(), ..Config::default() });
    let mut storage = [0; 64];
    let _ = machine.step(&mut storage, b"data: {\"a\":1}\n\nda");
    let _ = machine.step(&mut storage, b"da");
    machine.reset();
    assert_eq!((machine.offset(), machine.config().errors), (0, Quirk::BareDone.into()));
    assert_eq!(machine.step(&mut storage, b"data: [DONE]\n\n").found, Found::Done);
}

#[test]
fn verdicts_have_a_text() {
    let verdict = |stream: &[u8]| {
        let mut parser = parser(Config::default());
        shown(&mut parser, stream);
        parser.end().verdict.to_string()
    };
    for (stream, expected) in [
        (&b""[..], "nothing came"),
        (b"<html>\n", "not an event stream"),
        (b"data: [DONE]\n\n", "nothing came"),
        (b"data: {\"choices\":[]}\n\ndata: [DONE]\n\n", "done"),
        (b"{\"object\":\"list\",\"data\":[]}\n", "no completion"),
        (b"data: {\"a\":1}\n", "another protocol"),
        (b"event: name\ndata: text\n\n", "another protocol"),
        (b"data: text\n\n", "lost"),
        (b"data: null\n\n", "truncated"),
    ] {
        assert!(verdict(stream).contains(expected), "{} {expected}", verdict(stream));
    }
}

/// The range is that of the event, pulled and pushed, cut once at each place and cut after every byte.
#[test]
fn malformed_bytes_have_the_range_of_their_event() {
    struct Places(Vec<(String, Range<u64>)>);
    impl Places {
        fn note(&mut self, malformed: &Malformed<'_>) {
            self.0.push((String::from_utf8_lossy(malformed.payload()).into(), malformed.wire_range()));
        }
    }
    impl Handler for Places {
        fn event(&mut self, event: &Event<'_>) -> Flow {
            if let Event::Malformed(malformed) = event {
                self.note(malformed);
            }
            Flow::Continue(())
        }
    }
    let blocks = [
        (": said\n\n", None),
        ("data: {odd\n\n", Some("{odd")),
        ("data: {\"a\":1}\n\n", None),
        ("event: x\ndata: [1\ndata: 2\n\n", Some("[1\n2")),
        // Bytes after a sound value.
        ("data: {\"a\":1} more\n\n", Some("more")),
        ("data: text\n\n", Some("text")),
        ("data: [DONE]\n\n", None),
        ("data: {late\n\n", Some("{late")),
    ];
    let (mut stream, mut expected) = (String::new(), Vec::new());
    for (block, payload) in blocks {
        let start = stream.len() as u64;
        stream += block;
        expected.extend(payload.map(|payload| (String::from(payload), start..stream.len() as u64)));
    }
    let stream = stream.as_bytes();
    let cut = |at: usize| vec![&stream[..at], &stream[at..]];
    for slices in (0..stream.len()).map(cut).chain([stream.chunks(1).collect()]) {
        let (mut pulled, mut pushed) = (Places(Vec::new()), Places(Vec::new()));
        let (mut pull, mut push) = (parser(Config::default()), Parser::new(Growing::new()));
        for slice in slices {
            let mut input = slice;
            loop {
                let Some(event) = pull.next(&mut input).unwrap() else { break };
                if let Event::Malformed(malformed) = *event {
                    assert!(format!("{malformed:?}").contains(&format!("{:?}", malformed.wire_range())));
                    pulled.note(&malformed);
                    drop(event);
                    assert_eq!(pulled.0.last().unwrap().1, pull.wire_range());
                }
            }
            assert_eq!(push.feed(slice, &mut pushed).stop, None);
        }
        assert_eq!(pulled.0, expected);
        assert_eq!(pushed.0, expected);
        assert_eq!(push.end().malformed as usize, expected.len());
    }
}

#[test]
fn a_machine_knows_the_range_of_its_event() {
    let mut machine: Machine = Machine::new(Config::default());
    let mut storage = [0; 64];
    let window = b": said\n\ndata: {\"a\":1}\n\nretry: 5\n";
    let mut rest = &window[..];
    let mut found_all = Vec::new();
    loop {
        let step = machine.step(&mut storage, rest);
        rest = &rest[step.consumed..];
        if step.found == Found::NeedMore {
            break;
        }
        let (start, end) = machine.index_frame();
        let places = [Place::Input, Place::Storage].map(|place| machine.is_borrowed(step.found, place));
        found_all.push((&window[start as usize..end as usize], places));
    }
    let expected: [(&[u8], [bool; 2]); 3] =
        [(b": said\n", [true, false]), (b"data: {\"a\":1}\n\n", [true, false]), (b"retry: 5\n", [false, false])];
    assert_eq!(found_all, expected);
    // The payload of an event that was cut is in the storage, and so is its name.
    let cases: [(&[&[u8]], [bool; 2]); 5] = [
        (&[b"data: {\"a\"", b":1}\n\n"], [false, true]),
        (&[b"event: x\n", b"data: {}\n\n"], [true, true]),
        (&[b"event: x\ndata: {}\n\n"], [true, false]),
        (&[b": sa", b"id\n"], [false, true]),
        (&[b"data:\n", b"\n"], [false, false]),
    ];
    for (slices, expected) in cases {
        let mut machine: Machine = Machine::new(Config::default());
        let mut found = Found::NeedMore;
        for slice in slices {
            found = machine.step(&mut storage, slice).found;
        }
        assert_ne!(found, Found::NeedMore, "{slices:?}");
        let places = [Place::Input, Place::Storage].map(|place| machine.is_borrowed(found, place));
        assert_eq!(places, expected, "{slices:?} {found:?}");
    }
}

#[test]
fn a_batch_keeps_token_counts_and_counts_events_left_out() {
    let (mut machine, mut tracker, mut batch) =
        (Machine::<2>::new(Config::default()), Tracker::<1, 1>::new(), Emitter::new());
    let (mut storage, mut scratch, mut records) = (vec![0; 512], vec![0; 512], [Record::default(); 64]);
    assert_eq!((batch.usage(), batch.is_pending()), (None, false));
    let stream = b"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}}],\"usage\":{\"total_tokens\":7}}\n\n\
        data: {\"choices\":[{\"index\":1,\"delta\":{\"content\":\"b\"}},{\"index\":2,\"delta\":{\"content\":\"c\"}}]}\n\n\
        data: {\"choices\":[{\"index\":3,\"delta\":{\"content\":\"d\"}}]}\n\n";
    let mut fill = |batch: &mut Emitter, records: &mut [Record], data: &[u8]| {
        let mut storage = Movable::new(&mut storage, false);
        if data.is_empty() {
            let mut sink = Records::new(records, &mut scratch, u64::MAX);
            return (0, batch.finish(&mut machine, &mut storage, &mut tracker, &mut sink));
        }
        batch.run(&mut machine, &mut storage, &mut tracker, data, 0, &mut Records::new(records, &mut scratch, u64::MAX))
    };
    // With one record at a time the event stays pending, and its bytes must be given again.
    let (spent, filled) = fill(&mut batch, &mut records[..1], stream);
    assert_eq!((spent, filled, batch.is_pending()), (0, Outcome::Full, true));
    assert_eq!(fill(&mut batch, &mut records, &stream[..20]), (0, Outcome::Resume));
    assert_eq!(fill(&mut batch, &mut records, b""), (0, Outcome::Resume));
    assert!(batch.expects_again());
    let event = stream.windows(2).position(|end| end == b"\n\n").unwrap() + 2;
    for at in 0..event {
        let mut other = stream.to_vec();
        other[at] ^= 1;
        assert_eq!(fill(&mut batch, &mut records, &other), (0, Outcome::Resume), "another byte at {at}");
    }
    assert_eq!(fill(&mut batch, &mut records, stream), (stream.len(), Outcome::Done));
    assert!(!batch.is_pending() && !batch.expects_again());
    assert_eq!(batch.usage().map(|usage| (usage.has, usage.counts[2])), Some((4, 7)));
    assert_eq!(machine.end().left_out, 2);
}

#[test]
fn only_the_storage_in_use_is_moved_between_steps() {
    let mut storage = vec![0x55; 64];
    let cases: [(&[u8], usize); 6] = [
        (b"", 0),
        (b"data: {}\n\n", 0),
        (b"data: {\"a\"", 4),
        (b"data: {}\n\nda", 0),
        (b": com", 3),
        (b"event: x\n", 1),
    ];
    for (bytes, expected) in cases {
        let mut machine: Machine = Machine::new(Config::default());
        let mut rest = bytes;
        loop {
            let step = machine.step(&mut Movable::new(&mut storage, false), rest);
            rest = &rest[step.consumed..];
            if step.found == Found::NeedMore && rest.is_empty() {
                break;
            }
            assert_eq!(machine.retained(&storage, true), 64);
        }
        let retained = machine.retained(&storage, false);
        assert_eq!(retained, expected, "{:?}", core::str::from_utf8(bytes));
        let mut small = vec![0; retained];
        let mut none = vec![0; retained.saturating_sub(1)];
        assert_eq!(machine.clone().relocate(&storage, &mut none, false), retained == 0);
        assert!(!machine.clone().relocate(&storage, &mut small, true));
        assert!(machine.relocate(&storage, &mut small, false));
    }
}

/// The events from a machine with `SLOTS` templates and a storage of 128 bytes.
fn found<const SLOTS: usize>(config: Config, stream: &[u8], slice: usize) -> Vec<String> {
    let mut machine: Machine<SLOTS> = Machine::with_slots(config);
    let mut storage = [0; 128];
    let mut found_all = Vec::new();
    for mut rest in stream.chunks(slice) {
        loop {
            let step = machine.step(&mut storage, rest);
            let payload = match step.found {
                Found::Chunk(span) => String::from_utf8_lossy(span.of(rest, &storage)).into_owned(),
                Found::NeedMore => String::new(),
                other => format!("{other:?}"),
            };
            rest = &rest[step.consumed..];
            if step.found == Found::NeedMore && rest.is_empty() {
                break;
            }
            if step.found != Found::NeedMore {
                found_all.push(format!("{payload} {:?}", machine.index_frame()));
            }
        }
    }
    found_all
}

#[test]
fn limits_and_configured_errors_hold_for_recognized_events() {
    let event = |content: &str| format!("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{content}\"}}}}]}}\n\n");
    let errors = Config { errors: Quirk::MissingChoiceIndex.into(), ..Config::default() };
    let mut over = 0;
    for len in 60..140 {
        let stream = [event("a"), event("b"), event(&"x".repeat(len)), event("c"), event("d")].concat();
        for slice in [usize::MAX, 150, 31] {
            let expected = found::<0>(Config::default(), stream.as_bytes(), slice);
            assert_eq!(found::<2>(Config::default(), stream.as_bytes(), slice), expected, "{len} {slice}");
            assert_eq!(expected.len(), 5, "{expected:?}");
            over += usize::from(expected[2].starts_with("TooLong"));
            // All longer events are over the limit as well.
            assert_eq!(expected[2].starts_with("TooLong"), over > 0);
            let expected = found::<0>(errors, stream.as_bytes(), slice);
            assert_eq!(found::<2>(errors, stream.as_bytes(), slice), expected, "{len} {slice}");
            assert!(expected[0].starts_with("Error") && expected[4].starts_with("Error"), "{expected:?}");
        }
    }
    assert!((60..180).contains(&over), "{over}");
}

#[test]
fn choices_are_counted_by_their_indexes() {
    let mut parser = parser(Config::default());
    let indexes = [0, 63, 64, 126, 127, 128, 4000];
    let choices = |members: &str| indexes.map(|index| format!("{{\"index\":{index}{members}}}")).join(",");
    let seen = format!("data: {{\"choices\":[{}]}}\n\n", choices(""));
    let finished = format!("data: {{\"choices\":[{}]}}\n\n", choices(",\"finish_reason\":\"stop\""));
    for (stream, expected) in [(seen, (5, 0, Verdict::Truncated)), (finished, (5, 5, Verdict::Finished))] {
        let mut input = stream.as_bytes();
        while parser.next(&mut input).unwrap().is_some() {}
        let end = parser.end();
        assert_eq!((end.choices_seen, end.choices_finished, end.verdict), expected);
    }
}

#[test]
fn an_error_with_a_malformed_payload_is_an_error() {
    let strict = Config { validate: Validate::Strict, ..Config::default() };
    for (stream, expected) in [(&b"event: error\ndata: words\n\n"[..], true), (b"event: else\ndata: words\n\n", false)]
    {
        let mut parser = parser(strict);
        assert!(matches!(*parser.next(&mut &stream[..]).unwrap().unwrap(), Event::Malformed(_)));
        assert_eq!((parser.end().api_error, parser.end().malformed), (expected, 1));
    }
}

#[test]
fn a_body_has_a_choice_with_a_message_or_text() {
    for (choices, expected) in [
        // The expected number of choices, and whether it is a body: a choice has a message or text, and no choice has a
        // delta.
        (r#"{"index":0,"text":"x"}"#, (1, true)),
        (r#"{"index":0,"message":{"content":"x"}}"#, (1, true)),
        (r#"{"index":0,"delta":null,"message":{}}"#, (1, true)),
        (r#"{"index":0,"message":"x"}"#, (1, false)),
        (r#"{"index":0,"delta":{"content":"x"}}"#, (1, false)),
        (r#"{"index":0,"finish_reason":"stop"}"#, (1, false)),
        (r#"{"index":0},{"index":1,"text":"x"}"#, (2, true)),
        (r#"{"index":0,"delta":null},{"index":1,"text":"x"}"#, (2, true)),
        (r#"{"index":0,"delta":{}},{"index":1,"text":"x"}"#, (2, false)),
        (r#"{"index":0,"delta":{},"text":"x"}"#, (1, false)),
        (r#"{"index":0,"delta":{},"finish_reason":"stop"},{"index":1,"text":"x"}"#, (2, false)),
        // An element that is not an object is not a choice.
        ("7", (0, false)),
        (r#"null,{"index":1,"text":"x"}"#, (1, true)),
    ] {
        let mut parser = parser(Config::default());
        shown(&mut parser, format!("{{\"choices\":[{choices}]}}\n").as_bytes());
        let end = parser.end();
        assert_eq!((end.choices_seen, end.body), expected, "{choices}");
    }
}

#[test]
fn an_opaque_stream_is_of_another_protocol() {
    for payload in [Payload::Opaque, Payload::Chunks] {
        let mut parser = parser(Config { payload, ..Config::default() });
        shown(&mut parser, b"data: text\n\n");
        let expected = if payload == Payload::Opaque { Verdict::OtherProtocol } else { Verdict::Lost };
        assert_eq!(parser.end().verdict, expected);
    }
}

/// An event or a line without its end is pending, and no event is emitted for it.
#[test]
fn an_opaque_stream_ends_between_events() {
    let whole = b"event: e\ndata: x\n\n: ping\n";
    for (rest, verdict, pending) in [
        (&b""[..], Verdict::OtherProtocol, Pending::Nothing),
        (b"data: y\n", Verdict::Truncated, Pending::Event),
        (b"data: y", Verdict::Truncated, Pending::Event),
        (b"data: ", Verdict::Truncated, Pending::Line),
        (b"dat", Verdict::Truncated, Pending::Line),
        (b": pin", Verdict::Truncated, Pending::Line),
        (b"other", Verdict::Truncated, Pending::Line),
        (b"\x00other\n", Verdict::OtherProtocol, Pending::Nothing),
    ] {
        let stream = [whole, rest].concat();
        for framing in [Framing::Lenient, Framing::Spec] {
            for cut in 0..=stream.len() {
                let mut parser = parser(Config { payload: Payload::Opaque, framing, ..Config::default() });
                let mut events = 0;
                for mut piece in [&stream[..cut], &stream[cut..]] {
                    while parser.next(&mut piece).unwrap().is_some() {
                        events += 1;
                    }
                }
                assert!(parser.finish().unwrap().is_none());
                let end = parser.end();
                let complete = pending == Pending::Nothing;
                assert_eq!(
                    (events, end.verdict, end.pending, end.is_complete()),
                    (2, verdict, pending, complete),
                    "{rest:?}"
                );
            }
        }
    }
    for (stream, verdict) in [(&b": ping\n\n"[..], Verdict::Truncated), (b"<p>\ndata: x\n\n", Verdict::NotAStream)] {
        let mut parser = parser(Config { payload: Payload::Opaque, ..Config::default() });
        shown(&mut parser, stream);
        assert_eq!((parser.end().verdict, parser.end().is_complete()), (verdict, false));
    }
}

#[test]
fn the_quirks_of_an_event_that_is_too_long_count() {
    let limits = Limits { max_id_len: 4, max_event_len: 8, ..Limits::DEFAULT };
    for (data, too_long) in [("{}", 0), ("{\"too\":\"long\"}", 1)] {
        let mut parser = parser(Config { limits, ..Config::default() });
        shown(&mut parser, format!("id: 12345\ndata: {data}\n\n").as_bytes());
        assert_eq!((parser.quirk_count(Quirk::LongId), parser.end().too_long), (1, too_long), "{data}");
    }
}

#[test]
fn a_last_event_needs_no_blank_line_if_it_is_whole_or_an_error() {
    let cases: [(&[u8], Option<&str>); 8] = [
        (b"data:\n", None),
        (b"data: : ping\n", None),
        (b"data: [DONE]\n", Some("Done")),
        (b"data: {}\n", Some("Chunk")),
        (b"error: words\n", Some("Chunk")),
        (b"event: error\ndata: words\n", Some("Chunk")),
        (b"event: other\ndata: words\n", None),
        (b"data: {\n", None),
    ];
    for (stream, expected) in cases {
        let mut parser = parser(Config::default());
        let shown = shown(&mut parser, stream);
        assert_eq!(shown.len(), usize::from(expected.is_some()), "{shown:?}");
        assert!(expected.is_none_or(|expected| shown[0].starts_with(expected)), "{shown:?}");
        let pending = if expected.is_some() { Pending::Nothing } else { Pending::Event };
        assert_eq!(parser.end().pending, pending, "{shown:?}");
    }
}
