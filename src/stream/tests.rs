//! The events must not depend on how the bytes are cut, nor on the storage. The streams are made at random from pieces
//! of every kind.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]
extern crate std;

use super::{Config, Event, Framing, Parser, Validate, Verdict};
use crate::scan::tests::Random;
use crate::{Limits, QuirkSet, Storage};
use std::format;
use std::string::String;
use std::vec;
use std::vec::Vec;

const PIECES: &[&[u8]] = &[
    b"data: ",
    b"data:",
    b"data",
    b"event: ping",
    b"event: error",
    b"event:",
    b"event: x",
    b"id: 7",
    b"id:",
    b"id: a\0b",
    b"id: a-rather-long-identifier-0123456789",
    b"retry: 30",
    b"retry:",
    b"retry: 1x",
    b":",
    b": comment",
    b"error: {\"message\":\"m\"}",
    b"error: text",
    b"errors",
    b"data: {}\n",
    b"event: abc\n",
    b"id: 77\n",
    b"{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}}]}",
    b"{\"error\":{\"message\":\"x\"}}",
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b"\"a\":",
    b"\"b}\"",
    b"{}",
    b"null",
    b"[DONE]",
    b"[DONE",
    b"[Done]",
    b"\n",
    b"\n",
    b"\n",
    b"\n\n",
    b"\r",
    b"\r\n",
    b"\r\n\r\n",
    b" ",
    b"  ",
    b"\xEF\xBB\xBF",
    b"\xEF",
    b"\xBB",
    b"dat",
    b"ret",
    b"x",
    b"\0",
    b"\xF0\x9F",
];

pub(crate) fn stream(random: &mut Random) -> Vec<u8> {
    let mut bytes = vec![];
    for _ in 0..1 + random.below(12) {
        bytes.extend_from_slice(PIECES[random.below(PIECES.len())]);
    }
    bytes
}

fn log<S: Storage>(bytes: &[u8], cuts: &[usize], storage: S, config: Config) -> Vec<String> {
    let mut parser = Parser::with_config(storage, config);
    let mut log = vec![];
    let mut from = 0;
    for &to in cuts.iter().chain([&bytes.len()]) {
        let mut input = &bytes[from..to];
        loop {
            let line = match parser.next(&mut input) {
                Ok(Some(event)) => format!("{event:?}"),
                Ok(None) => break,
                Err(error) => format!("{error:?}"),
            };
            log.push(format!("{line} {:?} {:?}", parser.wire_range(), parser.last_event_id()));
        }
        assert!(input.is_empty());
        from = to;
    }
    loop {
        let line = match parser.finish() {
            Ok(Some(event)) => format!("{event:?}"),
            Ok(None) => break,
            Err(error) => format!("{error:?}"),
        };
        log.push(format!("{line} {:?}", parser.wire_range()));
    }
    log.push(format!("{:?} {:?}", parser.end(), parser.quirks()));
    log
}

fn config(random: &mut Random) -> Config {
    let max_event_len = if random.below(2) == 0 { 1 << 20 } else { random.below(40) as u32 };
    Config {
        limits: Limits { max_event_len, max_id_len: 8 << random.below(5), ..Limits::DEFAULT },
        framing: if random.below(5) == 0 { Framing::Spec } else { Framing::Lenient },
        validate: if random.below(5) == 0 { Validate::Strict } else { Validate::Lazy },
        errors: if random.below(8) == 0 { QuirkSet::ALL } else { QuirkSet::EMPTY },
        ..Config::default()
    }
}

/// With a storage that is large enough, with one that is too small, and with one that grows.
#[test]
fn events_do_not_depend_on_how_the_bytes_are_cut() {
    let mut random = Random(7);
    for _ in 0..12_000 {
        let (bytes, config) = (stream(&mut random), config(&mut random));
        let is_ample = random.below(2) == 0;
        let mut storage = vec![0; if is_ample { 4096 } else { random.below(80) }];
        let whole = log(&bytes, &[], &mut storage[..], config);
        let each: Vec<usize> = (1..bytes.len()).collect();
        for cuts in (0..=bytes.len()).map(|at| vec![at]).chain([each.clone()]) {
            let cut = log(&bytes, &cuts, &mut storage[..], config);
            let shown = String::from_utf8_lossy(&bytes);
            assert_eq!(cut, whole, "cut at {cuts:?}, storage of {}: {shown:?} {config:?}", storage.len());
        }
        #[cfg(feature = "alloc")]
        if is_ample {
            let grown = log(&bytes, &each, crate::Growing::new(), config);
            assert_eq!(grown, whole, "{:?}", String::from_utf8_lossy(&bytes));
        }
    }
}

/// A block commits its last `id` line when it ends, however many values it has, so a client that reconnects within the
/// block loses none of them. An `event` line after a whole value ends the block before it.
#[test]
fn an_id_counts_when_its_block_ends() {
    let bytes =
        b"id: 1\ndata: {}\nid: 2\ndata: {}\nid: 34\nevent: x\nid: 56\n[DONE]\ndata: {}\nid: 7\ndata: {}\nid: 8\n\n";
    let ids: &[&[u8]] = &[b"", b"", b"56", b"56", b"8"];
    for at in 0..=bytes.len() {
        let (mut parser, mut seen) = (Parser::new([0; 64]), vec![]);
        for mut input in [&bytes[..at], &bytes[at..]] {
            while parser.next(&mut input).unwrap().is_some() {
                seen.push(parser.last_event_id().to_vec());
            }
        }
        assert_eq!(seen, ids, "cut at {at}");
    }
}

/// A handler that stops at the text with number `at`.
struct Breaks {
    at: usize,
    with: crate::Stop,
    texts: Vec<String>,
}

impl crate::Handler for Breaks {
    fn update(&mut self, _choice: u32, update: crate::Update<'_>) -> crate::Flow {
        let crate::Update::Content(text) = update else { return core::ops::ControlFlow::Continue(()) };
        self.texts.push(format!("{text}"));
        if self.texts.len() == self.at {
            core::ops::ControlFlow::Break(self.with)
        } else {
            core::ops::ControlFlow::Continue(())
        }
    }
}

/// Pushes a stream in slices of this size to a handler that stops at the text with number `at`. Returns the stops, each
/// with the offset after it, and the texts.
fn broken_off(stream: &str, size: usize, at: usize, with: crate::Stop) -> (Vec<(crate::Stop, usize)>, Vec<String>) {
    let mut handler = Breaks { at, with, texts: Vec::new() };
    let mut parser = Parser::new([0; 512]);
    let mut stops = Vec::new();
    for mut piece in stream.as_bytes().chunks(size) {
        loop {
            let fed = parser.feed(piece, &mut handler);
            piece = &piece[fed.consumed..];
            let Some(stop) = fed.stop else { break };
            stops.push((stop, parser.offset() as usize));
        }
        assert!(piece.is_empty());
    }
    assert_eq!(parser.finish_into(&mut handler), Ok(()));
    (stops, handler.texts)
}

/// After a handler broke off, it gets no more deltas of that event, but those of the next. That holds for an event that
/// a template recognized, too.
#[test]
fn a_handler_that_breaks_off_gets_no_more_of_the_event() {
    let choice = |index: u32| format!("{{\"index\":{index},\"delta\":{{\"content\":\"{index}\"}}}}");
    let first = format!("data: {{\"choices\":[{},{},{}]}}\n\n", choice(0), choice(1), choice(2));
    let stream = format!("{first}data: {{\"choices\":[{}]}}\n\n", choice(5));
    let event = |text: u32| format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{text}\"}}}}]}}\n\n");
    let plain: String = (0..5).map(event).collect();
    let own = crate::Error::TooManyCalls { choice: 0, offset: 9 };
    for (with, expected) in [
        (crate::Stop::Abort, &["0", "1", "5"][..]),
        (crate::Stop::Error(own), &["0", "1", "5"]),
        // A pause takes effect after the event.
        (crate::Stop::Pause, &["0", "1", "2", "5"]),
    ] {
        for size in [1, 7, stream.len()] {
            let (stops, texts) = broken_off(&stream, size, 2, with);
            assert_eq!(stops, [(with, first.len())], "in slices of {size}");
            assert_eq!(texts, expected, "in slices of {size}");
            let (stops, texts) = broken_off(&plain, size, 3, with);
            assert_eq!(stops, [(with, 3 * event(0).len())], "in slices of {size}");
            assert_eq!(texts, ["0", "1", "2", "3", "4"], "in slices of {size}");
        }
    }
}

/// The deltas that a handler did not get are missing from the response.
#[test]
fn a_response_in_which_a_handler_broke_off_is_not_complete() {
    struct AtDone(crate::Stop);
    impl crate::Handler for AtDone {
        fn event(&mut self, event: &Event<'_>) -> crate::Flow {
            match event {
                Event::Done => core::ops::ControlFlow::Break(self.0),
                _ => core::ops::ControlFlow::Continue(()),
            }
        }
    }
    let stream =
        b"data: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    let own = crate::Error::TooManyCalls { choice: 0, offset: 9 };
    for (with, complete) in [(crate::Stop::Abort, false), (crate::Stop::Error(own), false), (crate::Stop::Pause, true)]
    {
        let mut text = Breaks { at: 1, with, texts: Vec::new() };
        let handlers: [&mut dyn crate::Handler; 2] = [&mut text, &mut AtDone(with)];
        for handler in handlers {
            let mut parser = Parser::new([0; 512]);
            let mut rest = &stream[..];
            while let fed @ crate::stream::Fed { stop: Some(_), .. } = parser.feed(rest, handler) {
                rest = &rest[fed.consumed..];
            }
            assert_eq!(parser.finish_into(handler), Ok(()));
            assert_eq!((parser.end().verdict, parser.end().is_complete()), (Verdict::Done, complete), "{with:?}");
            parser.reset();
            assert_eq!(parser.feed(stream, &mut Odd::default()).stop, None);
            assert!(parser.end().is_complete());
        }
    }
    // The same holds for an event with a quirk that is configured as an error: no delta of it is pushed or pulled.
    let odd = b"data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\ndata: {\"choices\":[]}\n\ndata: [DONE]\n\n";
    let config = crate::Config::new().with_errors(crate::Quirk::ALL.iter().copied().collect());
    let mut parser = Parser::with_config([0; 512], config);
    let (mut rest, mut errors) = (&odd[..], 0);
    loop {
        match parser.next(&mut rest) {
            Ok(None) => break,
            Ok(Some(_)) => {}
            Err(_) => errors += 1,
        }
    }
    assert_eq!((errors > 0, parser.end().is_complete()), (true, false));
}

/// Notes texts, keep-alives and quirks in the order in which a handler gets them.
#[derive(Default)]
struct Odd(Vec<String>);

impl crate::Handler for Odd {
    fn update(&mut self, _choice: u32, update: crate::Update<'_>) -> crate::Flow {
        if let crate::Update::Content(text) = update {
            self.0.push(format!("{text}"));
        }
        core::ops::ControlFlow::Continue(())
    }
    fn event(&mut self, event: &Event<'_>) -> crate::Flow {
        if let Event::KeepAlive(_) = event {
            self.0.push("keep-alive".into());
        }
        core::ops::ControlFlow::Continue(())
    }
    fn quirk(&mut self, quirk: crate::Quirk, offset: u64) -> crate::Flow {
        self.0.push(format!("{quirk:?} {offset}"));
        core::ops::ControlFlow::Continue(())
    }
}

#[test]
fn a_handler_gets_quirks_after_the_deltas_of_their_event() {
    let chunk = |members: &str| format!("data: {{\"choices\":[{{{members}}}]}}\n\n");
    let plain = chunk("\"index\":0,\"delta\":{\"content\":\"a\"}");
    let odd = chunk("\"delta\":{\"content\":\"b\"}");
    let half = chunk("\"index\":0,\"delta\":{\"content\":\"\\ud83d\"}");
    let stream = [&plain, &odd, "data:\n\n", &plain, &half].map(String::from).concat();
    let keep = plain.len() + odd.len();
    let expected = [
        "a".into(),
        "b".into(),
        format!("MissingChoiceIndex {}", plain.len()),
        "keep-alive".into(),
        format!("KeepAliveData {keep}"),
        "a".into(),
        // The first half of a surrogate pair stays pending until the stream ends without the second.
        "\u{fffd}".into(),
        format!("LoneSurrogate {}", stream.len()),
    ];
    for size in [1, 7, stream.len()] {
        let mut handler = Odd::default();
        let mut parser = Parser::new([0; 512]);
        for piece in stream.as_bytes().chunks(size) {
            assert_eq!(parser.feed(piece, &mut handler).stop, None);
        }
        assert_eq!(parser.finish_into(&mut handler), Ok(()));
        assert_eq!(handler.0, expected, "in slices of {size}");
        let met = [crate::Quirk::MissingChoiceIndex, crate::Quirk::KeepAliveData, crate::Quirk::LoneSurrogate];
        assert_eq!(parser.quirks(), met.into_iter().collect());
        assert!(met.iter().all(|quirk| parser.quirk_count(*quirk) == 1));
    }
}

#[test]
fn a_finish_reason_after_half_a_surrogate_pair_is_emitted() {
    struct Finishes(usize);
    impl crate::Handler for Finishes {
        fn update(&mut self, _: u32, update: crate::Update<'_>) -> crate::Flow {
            self.0 += usize::from(matches!(update, crate::Update::Finish(_)));
            core::ops::ControlFlow::Continue(())
        }
    }
    let chunk = |members: &str| format!("data: {{\"choices\":[{{\"index\":0,{members}}}]}}\n\n");
    let half = chunk("\"delta\":{\"content\":\"\\ud83d\"}");
    let finish = chunk("\"delta\":{},\"finish_reason\":\"stop\"");
    let stream = [&finish, &finish, &half, &finish].map(String::as_str).concat();
    let mut finishes = Finishes(0);
    assert_eq!(Parser::new([0; 512]).feed(stream.as_bytes(), &mut finishes).stop, None);
    assert_eq!(finishes.0, 3);
}

/// A whole message has deltas unless its choice had deltas before, and of the second message what is new in it.
#[test]
fn a_pulled_message_has_deltas_unless_its_choice_came_before() {
    let body = r#"{"choices":[{"message":{"content":"a"}},{"index":1,"message":{"content":"b"}}]}"#;
    let event = |choice: &str| format!("data: {{\"choices\":[{{{choice}}}]}}\n\n");
    let (delta, message) = (r#""delta":{"content":"a"}"#, r#""message":{"content":"ab"}"#);
    let other = r#""index":1,"message":{"content":"c"}"#;
    for (stream, expected) in [
        (body.into(), "ab"),
        ([event(delta), event(message)].concat(), "a"),
        ([event(delta), event(other)].concat(), "ac"),
        ([event(message), event(message)].concat(), "ab"),
    ] {
        for cut in 0..stream.len() {
            let (first, last) = stream.as_bytes().split_at(cut);
            let mut parser = Parser::new([0; 512]);
            let mut content = String::new();
            let mut add = |event: super::Pulled<'_>| {
                for (_, update) in event.deltas() {
                    if let crate::Update::Content(text) = update {
                        content += &format!("{text}");
                    }
                }
            };
            for mut slice in [first, last] {
                while let Some(event) = parser.next(&mut slice).unwrap() {
                    add(event);
                }
            }
            while let Some(event) = parser.finish().unwrap() {
                add(event);
            }
            assert_eq!(content, expected, "{stream} {cut}");
        }
    }
}
