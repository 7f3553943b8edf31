//! Tests the limits of tables and of messages, one below, at, and one above, with the stream cut at each byte: trackers
//! of any size, assembled messages, and message logs.
#![cfg(feature = "alloc")]

use crate::common::made::{calls, choices, event};
use crate::common::thin::thin;
use deltawire::message::{Assembler, Field, LogError, MessageLog};
use deltawire::stream::{Event, Fed};
use deltawire::track::Tracker;
use deltawire::{Config, End, Error, Flow, Growing, Handler, Limits, Parser, Quirk, Stop, Update, Verdict};

/// The events that a handler received.
#[derive(Debug, Default, PartialEq, Eq)]
struct Counted {
    contents: usize,
    opened: usize,
    limits: Vec<Error>,
    stops: Vec<Error>,
}

impl Handler for Counted {
    fn update(&mut self, _choice: u32, update: Update<'_>) -> Flow {
        match update {
            Update::Content(_) => self.contents += 1,
            Update::Call(call) => self.opened += usize::from(call.opens),
            _ => {}
        }
        Flow::Continue(())
    }
    fn limit(&mut self, error: &Error) -> Flow {
        self.limits.push(*error);
        Flow::Continue(())
    }
}

fn counted<const CHOICES: usize, const CALLS: usize>(stream: &str, cut: usize) -> Counted {
    let mut parser = Parser::with_tracker([0; 16384], Config::default(), Tracker::<CHOICES, CALLS>::new());
    let mut counted = Counted::default();
    let (front, back) = stream.as_bytes().split_at(cut);
    for mut piece in [front, back] {
        loop {
            let fed = parser.feed(piece, &mut counted);
            piece = &piece[fed.consumed..];
            match fed.stop {
                None => break,
                Some(Stop::Error(error)) => counted.stops.push(error),
                Some(stop) => panic!("{stop:?}"),
            }
        }
    }
    assert_eq!(parser.finish_into(&mut counted), Ok(()));
    counted
}

fn table<const CHOICES: usize, const CALLS: usize>() {
    for number in CHOICES.saturating_sub(1)..=CHOICES + 1 {
        let stream = event("") + &choices(0, number) + &choices(0, 1);
        for cut in (0..=stream.len()).step_by(thin()) {
            let counted = counted::<CHOICES, CALLS>(&stream, cut);
            let offset = event("").len() as u64;
            let mut expected = vec![];
            if number > CHOICES {
                expected.push(Error::TooManyChoices { choice: CHOICES as u32, offset });
            }
            if CHOICES == 0 {
                expected.push(Error::TooManyChoices { choice: 0, offset: (stream.len() - choices(0, 1).len()) as u64 });
            }
            assert_eq!(
                (counted.limits, &counted.stops),
                (expected.clone(), &expected),
                "{number} choices in {CHOICES}"
            );
            assert_eq!(counted.contents, number.min(CHOICES) + CHOICES.min(1));
        }
    }
    for number in CALLS.saturating_sub(1)..=CALLS + 1 {
        let stream = calls(0, 0, number) + &event("a");
        for cut in (0..=stream.len()).step_by(thin()) {
            let counted = counted::<CHOICES, CALLS>(&stream, cut);
            if CHOICES > 0 {
                let expected = if number > CALLS { vec![Error::TooManyCalls { choice: 0, offset: 0 }] } else { vec![] };
                assert_eq!(
                    (counted.limits, &counted.stops),
                    (expected.clone(), &expected),
                    "{number} calls in {CALLS}"
                );
                assert_eq!((counted.opened, counted.contents), (number.min(CALLS), 1));
            }
        }
    }
}

#[test]
fn trackers_of_other_sizes() {
    table::<0, 0>();
    table::<1, 0>();
    table::<1, 1>();
    table::<3, 2>();
    table::<128, 128>();
}

// ---------------------------------------------------------------------------------------------------------------------
// Messages

/// Tests a stream cut at each byte, and byte by byte.
fn cuts(stream: &str) -> impl Iterator<Item = Vec<&[u8]>> {
    let stream = stream.as_bytes();
    let at = |cut| <[&[u8]; 2]>::from(stream.split_at(cut)).to_vec();
    (0..stream.len()).step_by(thin()).map(at).chain([stream.chunks(1).collect()])
}

/// Tests a stream in reads of each size.
fn sizes(stream: &str) -> impl Iterator<Item = Vec<&[u8]>> {
    (2..=stream.len()).step_by(thin()).map(|size| stream.as_bytes().chunks(size).collect())
}

/// Returns the message that an assembler builds from a stream in pieces, and the errors for what it could not store.
fn assembled(assembler: Assembler, pieces: &[&[u8]]) -> (Assembler, Vec<LogError>) {
    let mut assembler = assembler;
    let mut errors = Vec::new();
    let mut parser = Parser::with_tracker(Growing::new(), Config::default(), Tracker::<300, 300>::new());
    for mut piece in pieces.iter().copied() {
        while let Some(event) = parser.next(&mut piece).unwrap() {
            errors.extend(assembler.add(event).err());
        }
    }
    (assembler, errors)
}

#[test]
fn message_bytes() {
    // Two texts of 6 bytes in two choices, one with an escape, and two finish reasons of 4 bytes: 20 bytes.
    let stream = [
        r#"{"choices":[{"index":0,"delta":{"content":"abc"}},{"index":1,"delta":{"content":"ab"}}]}"#,
        r#"{"choices":[{"index":0,"delta":{"content":"\u00e9d"}}]}"#,
        r#"{"choices":[{"index":1,"delta":{"content":"cdef"}}]}"#,
        r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#,
        r#"{"choices":[{"index":1,"delta":{},"finish_reason":"stop"}]}"#,
    ];
    let stream: String = stream.iter().map(|payload| format!("data: {payload}\n\n")).collect();
    for (name, max_message_len, wanted, errors) in [
        ("one below the limit", 21, ("abc\u{e9}d", "abcdef", Some("stop"), Some("stop")), vec![]),
        ("at the limit", 20, ("abc\u{e9}d", "abcdef", Some("stop"), Some("stop")), vec![]),
        ("one above it", 19, ("abc\u{e9}d", "abcdef", Some("stop"), None), vec![LogError::TooLong]),
        ("one reason below it", 17, ("abc\u{e9}d", "abcdef", Some("stop"), None), vec![LogError::TooLong]),
        ("one reason at it", 16, ("abc\u{e9}d", "abcdef", Some("stop"), None), vec![LogError::TooLong]),
        ("one reason above it", 15, ("abc\u{e9}d", "abcdef", None, None), vec![LogError::TooLong; 2]),
        ("the texts below it", 13, ("abc\u{e9}d", "abcdef", None, None), vec![LogError::TooLong; 2]),
        ("the texts at it", 12, ("abc\u{e9}d", "abcdef", None, None), vec![LogError::TooLong; 2]),
        // No text is split; short ones still fit.
        ("the texts above it", 11, ("abc\u{e9}d", "ab", None, None), vec![LogError::TooLong; 3]),
    ] {
        let limits = Limits::new().with_max_message_len(max_message_len);
        for pieces in cuts(&stream).chain(sizes(&stream)) {
            let (assembler, got) = assembled(Assembler::with_limits(limits), &pieces);
            let [one, two] = &assembler.message().unwrap().choices[..] else { panic!("two choices") };
            let text = |text: &Option<String>| text.clone().unwrap_or_default();
            assert_eq!((&*text(&one.content), &*text(&two.content)), (wanted.0, wanted.1), "{name}");
            let reasons = (one.finish_reason.as_deref(), two.finish_reason.as_deref());
            assert_eq!((reasons, &got), ((wanted.2, wanted.3), &errors), "{name}");
        }
    }
}

#[test]
fn choices_and_calls_of_messages() {
    for number in [127, 128, 129] {
        let stream = choices(0, number) + &choices(0, 1);
        for pieces in cuts(&stream) {
            let (assembler, errors) = assembled(Assembler::new(), &pieces);
            assert_eq!(errors, if number > 128 { vec![LogError::TooManyChoices] } else { vec![] });
            let message = assembler.message().unwrap();
            assert_eq!(message.choices.len(), number.min(128));
            assert_eq!(message.choices[0].content.as_deref(), Some("c0c0"));
        }
    }
    for number in [255, 256, 257] {
        let stream = calls(0, 0, number) + &event("a");
        for pieces in cuts(&stream) {
            let (assembler, errors) = assembled(Assembler::new(), &pieces);
            assert_eq!(errors, if number > 256 { vec![LogError::TooManyCalls] } else { vec![] });
            let choice = &assembler.message().unwrap().choices[0];
            assert_eq!((choice.tool_calls.len(), choice.content.as_deref()), (number.min(256), Some("a")));
        }
    }
}

/// The same with other room; the completion has what was left out, too.
#[test]
fn choices_and_calls_of_messages_with_room() {
    let of_choices = (choices(0, 300) + &choices(0, 1), (300, 0), (299, 0), LogError::TooManyChoices);
    let of_calls = (event("a") + &calls(0, 0, 300), (1, 300), (1, 299), LogError::TooManyCalls);
    for (stream, at, above, error) in [of_choices, of_calls] {
        let count = |message: &deltawire::message::Completion| match error {
            LogError::TooManyChoices => message.choices.len(),
            _ => message.choices[0].tool_calls.len(),
        };
        let with_room = |(choices, calls)| Assembler::new().with_room(choices, calls);
        let (cut, errors) = assembled(with_room(above), &[stream.as_bytes()]);
        assert_eq!((cut.message().unwrap().left_out, errors), (Some(error), vec![error]));
        assert_eq!(count(&cut.message().unwrap()), 299);
        let (mut whole, errors) = assembled(with_room(at), &[stream.as_bytes()]);
        let message = whole.message().unwrap();
        assert_eq!((count(&message), message.left_out, errors), (300, None, vec![]));
        // A new stream has the same room; here it is pushed, by a parser with as much.
        whole.reset();
        assert_eq!(whole.message().unwrap(), deltawire::message::Completion::default());
        let mut parser = Parser::with_tracker(Growing::new(), Config::default(), Tracker::<300, 300>::new());
        assert_eq!(parser.feed(stream.as_bytes(), &mut whole).stop, None);
        assert_eq!(whole.message().unwrap(), message);
    }
}

/// The same with a message log, with a small table and a given buffer.
#[test]
fn choices_and_calls_of_logs() {
    fn logged(pieces: &[&[u8]]) -> (MessageLog<3, 4>, Vec<u8>, Vec<LogError>) {
        let (mut log, mut buffer, mut errors) = (MessageLog::new(), vec![0; 16384], Vec::new());
        let mut parser = Parser::with_tracker(Growing::new(), Config::default(), Tracker::<300, 300>::new());
        for mut piece in pieces.iter().copied() {
            while let Some(event) = parser.next(&mut piece).unwrap() {
                errors.extend(event.chunk().and_then(|chunk| log.chunk(&mut buffer, &chunk).err()));
                for (choice, update) in event.deltas() {
                    errors.extend(log.put(&mut buffer, choice, &update).err());
                }
            }
        }
        assert!(parser.finish().unwrap().is_none());
        (log, buffer, errors)
    }
    let content = |log: &MessageLog<3, 4>, buffer: &[u8]| {
        let mut text = [0; 8];
        let len = log.text(buffer, Field::Content, 0, 0, &mut text).unwrap();
        String::from_utf8(text[..len].to_vec()).unwrap()
    };
    for number in [2, 3, 4] {
        let stream = choices(0, number) + &choices(0, 1);
        for pieces in cuts(&stream).chain(sizes(&stream)) {
            let (log, buffer, errors) = logged(&pieces);
            assert_eq!(errors, if number > 3 { vec![LogError::TooManyChoices] } else { vec![] });
            assert_eq!((log.choices(), &*content(&log, &buffer)), (number.min(3), "c0c0"));
        }
    }
    for number in [3, 4, 5] {
        let stream = calls(0, 0, number) + &event("a");
        for pieces in cuts(&stream).chain(sizes(&stream)) {
            let (log, buffer, errors) = logged(&pieces);
            assert_eq!(errors, if number > 4 { vec![LogError::TooManyCalls] } else { vec![] });
            assert_eq!((log.calls(0) as usize, &*content(&log, &buffer)), (number.min(4), "a"));
        }
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Counts

/// The count of a quirk stops at 65,535; its events are still emitted.
#[test]
fn counts_of_quirks() {
    for number in [65_534usize, 65_535, 65_536, 65_537] {
        for size in [5, 7, usize::MAX] {
            let stream = b"data:\n\n".repeat(number);
            let mut parser = Parser::with_config([0; 64], Config::default());
            let mut events = 0;
            for mut piece in stream.chunks(size) {
                while let Some(event) = parser.next(&mut piece).unwrap() {
                    assert!(matches!(*event, Event::KeepAlive(b"")));
                    events += 1;
                }
            }
            assert_eq!(events, number);
            assert_eq!(usize::from(parser.quirk_count(Quirk::KeepAliveData)), number.min(65_535));
            assert_eq!(parser.end().verdict, Verdict::Truncated);
        }
    }
}

/// A choice without room is left out in every interface alike, also one that has only members that no delta is made of:
/// whoever keeps those needs room for it.
#[test]
fn the_verdict_does_not_depend_on_the_interface() {
    let text = r#"{"index":0,"delta":{"content":"a"}}"#;
    let rows = [
        (r#"{"index":INDEX,"delta":{"content":"b"}}"#, 1),
        (r#"{"index":INDEX,"delta":{"images":[1]}}"#, 1),
        (r#"{"index":INDEX,"delta":{},"logits":7}"#, 1),
        (r#"{"index":INDEX,"message":{"images":[1]}}"#, 1),
        (r#"{"index":INDEX,"delta":{"content":"","images":[1]}}"#, 1),
        (r#"{"index":INDEX,"delta":{"content":null},"logits":null}"#, 0),
        (r#"{"index":INDEX}"#, 0),
    ];
    for (choice, left_out) in rows {
        for (index, left_out) in [("1", left_out), ("0", 0), ("4294967295", left_out)] {
            let choice = choice.replace("INDEX", index);
            for choices in [format!("{text},{choice}"), format!("{choice},{text}"), format!("{text}\n{choice}")] {
                let events: String =
                    choices.split('\n').map(|choices| format!("data: {{\"choices\":[{choices}]}}\n\n")).collect();
                let ends = ends(&(events + "data: [DONE]\n\n"));
                for (name, end, is_kept) in &ends {
                    assert_eq!((end.left_out, end.is_complete()), (left_out, left_out == 0), "{name}: {choices}");
                    assert_eq!(*is_kept, left_out == 0, "{name}: {choices}");
                }
            }
        }
    }
}

/// Reads a stream by each interface, with room for one choice: its name, the end, and whether an assembler with as much
/// room has all of the message.
fn ends(stream: &str) -> [(&'static str, End, bool); 4] {
    let parser = || Parser::with_tracker(Growing::new(), Config::new(), Tracker::<1, 1>::new());
    let pull = |assembler: &mut Option<Assembler>| {
        let (mut parser, mut bytes) = (parser(), stream.as_bytes());
        loop {
            match parser.next(&mut bytes) {
                Ok(Some(event)) => {
                    let _ = assembler.as_mut().map(|assembler| assembler.add(event));
                }
                Ok(None) => break,
                Err(_) => {}
            }
        }
        while !matches!(parser.finish(), Ok(None)) {}
        parser.end()
    };
    fn push(mut parser: Parser<Growing, 2, Tracker<1, 1>>, stream: &str, handler: &mut impl Handler) -> End {
        let mut rest = stream.as_bytes();
        while let fed @ Fed { stop: Some(_), .. } = parser.feed(rest, handler) {
            rest = &rest[fed.consumed..];
        }
        while parser.finish_into(handler).is_err() {}
        parser.end()
    }
    let (mut pulled, mut pushed) = (Some(Assembler::new().with_room(1, 1)), Assembler::new().with_room(1, 1));
    let ends = [
        pull(&mut None),
        pull(&mut pulled),
        push(parser(), stream, &mut Counted::default()),
        push(parser(), stream, &mut pushed),
    ];
    let is_kept = |assembler: &Assembler| assembler.error().is_none();
    let [pull, pull_kept, push, push_kept] = ends;
    let (pulled, pushed) = (pulled.as_ref().is_some_and(is_kept), is_kept(&pushed));
    [
        ("pull", pull, pull.left_out == 0),
        ("pull with an assembler", pull_kept, pulled),
        ("push", push, push.left_out == 0),
        ("push to an assembler", push_kept, pushed),
    ]
}
