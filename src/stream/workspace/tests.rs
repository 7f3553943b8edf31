//! Templates that were learned from another stream: which events they recognize, and which facts they add.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]
extern crate std;

use super::Workspace;
use crate::stream::memo::NONE;
use crate::stream::{Config, Event, Flow, Handler, Parser, Validate, Verdict};
use crate::{Limits, Update};
use std::format;
use std::string::{String, ToString};
use std::vec;
use std::vec::Vec;

type Shared = Parser<[u8; 512], 0>;

fn parser(config: Config) -> Shared {
    Parser::with_slots([0; 512], config, crate::track::Tracker::new())
}

/// Reads events. Returns their texts, and for each event whether a template recognized it.
fn read(parser: &mut Shared, workspace: &mut Workspace, events: &[String]) -> (String, Vec<bool>) {
    let (mut text, mut known) = (String::new(), Vec::new());
    for event in events {
        let mut rest = event.as_bytes();
        let event = parser.next_with(workspace, &mut rest).unwrap().unwrap();
        for (_, update) in event.deltas() {
            if let Update::Content(content) = update {
                text += &content.to_string();
            }
        }
        known.push(workspace.machine.memo.current() != NONE);
        assert!(parser.next_with(workspace, &mut rest).unwrap().is_none());
    }
    (text, known)
}

/// The events of a stream of chat completions whose ID, time and fingerprint are made from `of`, and whose lines end
/// with `end`.
fn chat(of: u32, end: &str) -> Vec<String> {
    let event = |delta: &str, reason: &str| {
        format!(
            "data: {{\"id\":\"c{of}\",\"object\":\"chat.completion.chunk\",\"created\":{of},\"model\":\"m\",\
             \"system_fingerprint\":\"fp{of}\",\"choices\":[{{\"index\":2,\"delta\":{{{delta}}},\"finish_reason\":{reason}}}]}}\
             {end}{end}"
        )
    };
    [
        event("\"role\":\"assistant\",\"content\":\"\"", "null"),
        event("\"content\":\"a\"", "null"),
        event("\"content\":\"bc\"", "null"),
        event("", "\"stop\""),
    ]
    .into()
}

#[test]
fn a_template_recognizes_events_of_another_stream() {
    let mut workspace = Workspace::new();
    let (text, known) = read(&mut parser(Config::new()), &mut workspace, &chat(1, "\n"));
    assert_eq!((text.as_str(), &known[..]), ("abc", &[false, false, true, false][..]));
    let mut other = parser(Config::new());
    let (text, known) = read(&mut other, &mut workspace, &chat(234, "\n"));
    // The first event of a stream is always read, because it shows the protocol.
    assert_eq!((text.as_str(), &known[..]), ("abc", &[false, true, true, true][..]));
    let end = other.end();
    assert_eq!((end.verdict, end.choices_seen, end.choices_finished), (Verdict::Finished, 1, 1));
    assert_eq!(end.offset, chat(234, "\n").concat().len() as u64);
}

#[test]
fn streams_with_different_line_ends_share_a_workspace() {
    let mut workspace = Workspace::new();
    for end in ["\n", "\r\n", "\r"] {
        read(&mut parser(Config::new()), &mut workspace, &chat(1, end)[..3]);
    }
    for end in ["\n", "\r\n", "\r"] {
        let (text, known) = read(&mut parser(Config::new()), &mut workspace, &chat(2, end)[..3]);
        // After a CR a LF may follow that belongs to the same line end.
        assert_eq!((text.as_str(), known[1]), ("abc", true), "{end:?}");
    }
}

#[test]
fn parsers_with_different_terms_use_different_templates() {
    let shallow = Limits::new().with_max_depth(64).unwrap();
    for config in [
        Config::new().with_validate(Validate::Strict),
        Config::new().with_limits(shallow),
        Config::new().with_framing(crate::stream::Framing::Spec),
    ] {
        let mut workspace = Workspace::new();
        for turn in 0..2 {
            let (_, known) = read(&mut parser(Config::new()), &mut workspace, &chat(1, "\n"));
            assert_eq!(known, [false, turn > 0, true, turn > 0]);
            let (_, known) = read(&mut parser(config), &mut workspace, &chat(1, "\n"));
            assert_eq!(known, [false, turn > 0, true, turn > 0], "{config:?}");
        }
    }
}

#[test]
fn a_workspace_is_cleared() {
    let mut workspace = Workspace::new();
    let mut other = parser(Config::new());
    read(&mut other, &mut workspace, &chat(1, "\n"));
    assert!(format!("{:?}", workspace.machine.memo) != format!("{:?}", Workspace::<8>::new().machine.memo));
    workspace.clear();
    assert_eq!(format!("{:?}", workspace.machine.memo), format!("{:?}", Workspace::<8>::new().machine.memo));
    let (text, known) = read(&mut other, &mut workspace, &chat(1, "\n"));
    assert_eq!((text.as_str(), &known[..]), ("abc", &[false, false, true, false][..]));
    other.reset();
    assert_eq!((other.offset(), other.wire_range()), (0, 0..0));
    assert_eq!(read(&mut other, &mut workspace, &chat(2, "\n")).1, [false, true, true, true]);
}

#[test]
#[cfg(feature = "responses")]
fn a_part_that_was_recognized_is_not_reported_again() {
    let events = [
        "{\"type\":\"response.created\",\"response\":{\"id\":\"r\"}}",
        "{\"type\":\"response.output_text.delta\",\"item_id\":\"@\",\"output_index\":0,\"content_index\":0,\"delta\":\"ab\"}",
        "{\"type\":\"response.output_text.done\",\"item_id\":\"@\",\"output_index\":0,\"content_index\":0,\"text\":\"ab\"}",
        "{\"type\":\"response.output_item.added\",\"output_index\":1,\"item\":{\"type\":\"function_call\",\"name\":\"f\"}}",
        "{\"type\":\"response.function_call_arguments.delta\",\"item_id\":\"c@\",\"output_index\":1,\"delta\":\"{\"}",
    ];
    let mut workspace = Workspace::new();
    for (nth, expected) in [[false; 5], [false, true, false, false, false]].into_iter().enumerate() {
        let events = events.map(|event| format!("data: {}\n\n", event.replace('@', &nth.to_string())));
        let mut parser = parser(Config::new());
        let (text, known) = read(&mut parser, &mut workspace, &events);
        assert_eq!((text.as_str(), known), ("ab", expected.to_vec()));
        assert_eq!(parser.end().choices_seen, 1);
    }
}

/// The deltas and the end of a stream that comes in these pieces: from a parser with its own templates, and from one
/// that shares `workspace`.
#[cfg(feature = "dialects")]
fn read_twice<const SLOTS: usize>(
    workspace: &mut Workspace<SLOTS>,
    pieces: &[String],
) -> [(Vec<String>, crate::stream::End); 2] {
    fn note(event: crate::Pulled<'_>, deltas: &mut Vec<String>) {
        deltas.extend(event.deltas().map(|(choice, update)| format!("{choice:?} {update:?}")));
    }
    let mut own = Parser::new([0; 2048]);
    let mut shared: Parser<[u8; 2048], 0> = Parser::with_slots([0; 2048], Config::new(), crate::track::Tracker::new());
    let (mut by_own, mut by_shared) = (Vec::new(), Vec::new());
    for piece in pieces {
        let (mut rest, mut again) = (piece.as_bytes(), piece.as_bytes());
        while let Some(event) = own.next(&mut rest).unwrap() {
            note(event, &mut by_own);
        }
        while let Some(event) = shared.next_with(workspace, &mut again).unwrap() {
            note(event, &mut by_shared);
        }
    }
    [(by_own, own.end()), (by_shared, shared.end())]
}

/// Whether an event reports its part of the output depends on the text in a hole: an empty text does not report it.
#[test]
#[cfg(feature = "dialects")]
fn an_empty_text_reports_no_part() {
    let data = |payload: &str| format!("data: {payload}\n\n");
    let created = data("{\"type\":\"response.created\",\"response\":{\"id\":\"r\"}}");
    let delta = |item: &str, text: &str| {
        data(&format!(
            "{{\"type\":\"response.output_text.delta\",\"item_id\":\"{item}\",\"output_index\":0,\"content_index\":0,\
             \"delta\":\"{text}\"}}"
        ))
    };
    let done = data(
        "{\"type\":\"response.output_text.done\",\"item_id\":\"yy\",\"output_index\":0,\"content_index\":0,\
         \"text\":\"the answer\"}",
    );
    let completed = data(
        "{\"type\":\"response.completed\",\"response\":{\"id\":\"r\",\"status\":\"completed\",\"output\":[{\"type\":\
         \"message\",\"content\":[{\"type\":\"output_text\",\"text\":\"the answer\"}]}]}}",
    );
    let teacher = [created.clone() + &delta("x", "Hi")];
    let streams: [&[String]; 6] = [
        // The whole stream in one piece; the recognized events in a piece of their own; and the event with the empty
        // text cut.
        &[created.clone() + &delta("yy", "") + &done + &completed],
        &[created.clone(), delta("yy", "") + &done + &completed],
        &[created.clone(), delta("yy", "") + &completed],
        &[created.clone(), delta("yy", "")[..60].into(), delta("yy", "")[60..].into(), done.clone(), completed.clone()],
        // The second event of the run has a text.
        &[created.clone(), delta("yy", "") + &delta("yy", "a") + &done + &completed],
        &[created.clone(), delta("yy", ""), delta("yy", "a"), delta("yy", ""), done.clone() + &completed],
    ];
    for stream in streams {
        let mut workspace: Workspace = Workspace::new();
        let [own, shared] = read_twice(&mut workspace, &teacher);
        assert_eq!(own, shared);
        let [own, shared] = read_twice(&mut workspace, stream);
        assert_eq!(own, shared, "{stream:?}");
        let count = own.0.iter().filter(|delta| delta.contains("the answer")).count();
        let has_text = stream.iter().any(|piece| piece.contains("\"a\""));
        assert_eq!(count, usize::from(!has_text), "{:?}", own.0);
    }
}

/// After a run that several templates recognized, the facts of each of these templates are added, and of no other.
#[test]
fn a_run_notes_each_event_that_was_recognized() {
    struct Quiet;
    impl Handler for Quiet {}
    let event = |content: &str, choice: u32, reason: &str| {
        format!(
            "data: {{\"choices\":[{{\"index\":{choice},\"delta\":{{\"content\":\"{content}\"}},\"finish_reason\":{reason}}}]}}\n\n"
        )
    };
    let (first, stop) = (event("a", 0, "null"), "\"stop\"");
    let (other, last) = (event("a", 1, "null"), event("a", 1, stop));
    // An event that is longer than the storage is too long, whatever it contains.
    let long = event(&"a".repeat(600), 1, stop);
    let streams = [
        [&first, &other, &last].map(String::as_str).concat(),
        [&first, &last, &first, &other].map(String::as_str).concat(),
        [&first, &other, &long, &other].map(String::as_str).concat(),
        [&first, &long].map(String::as_str).concat(),
        [&first, &other, &other].map(String::as_str).concat(),
        first.repeat(3),
    ];
    let new = || parser(Config::new());
    let mut workspace: Workspace = Workspace::new();
    for taught in &streams {
        for stream in &streams {
            for cut in [0, first.len(), stream.len()] {
                // Afterwards the current template is that of the other stream.
                read(&mut new(), &mut workspace, &[first.clone(), other.clone(), last.clone(), first.clone()]);
                let mut own: Parser<[u8; 512]> = Parser::new([0; 512]);
                let mut teacher: Parser<[u8; 512], 0> =
                    Parser::with_slots([0; 512], Config::new(), crate::track::Tracker::new());
                let mut shared = teacher.clone();
                assert!(teacher.feed_with(&mut workspace, taught.as_bytes(), &mut Quiet).stop.is_none());
                for piece in [&stream[..cut], &stream[cut..]] {
                    assert!(own.feed(piece.as_bytes(), &mut Quiet).stop.is_none());
                    assert!(shared.feed_with(&mut workspace, piece.as_bytes(), &mut Quiet).stop.is_none());
                    assert_eq!(shared.end(), own.end(), "{stream} after {taught}");
                }
            }
        }
    }
}

#[test]
fn a_workspace_can_be_used_after_a_handler_panicked() {
    struct Panics;
    impl Handler for Panics {
        fn event(&mut self, _: &Event<'_>) -> Flow {
            panic!("as it must");
        }
    }
    struct Quiet;
    impl Handler for Quiet {}
    let mut workspace: Workspace = Workspace::new();
    let config = Config::new();
    let new = || -> Parser<[u8; 512], 0> { Parser::with_slots([0; 512], config, crate::track::Tracker::new()) };
    let (mut one, mut other) = (new(), new());
    let bytes = chat(1, "\n").concat();
    let panics = std::panic::AssertUnwindSafe(|| one.feed_with(&mut workspace, bytes.as_bytes(), &mut Panics));
    assert!(std::panic::catch_unwind(panics).is_err());
    assert_eq!(other.feed_with(&mut workspace, bytes.as_bytes(), &mut Quiet).consumed, bytes.len());
    assert_eq!((other.end().verdict, other.offset()), (Verdict::Finished, bytes.len() as u64));
    assert!(one.offset() > 0, "the parser got its state back");
}

/// A template recognizes an event, then one that is longer than this stream allows. The facts of the first event count.
#[test]
fn an_event_that_is_too_long_keeps_the_facts_of_the_event_before() {
    struct Quiet;
    impl Handler for Quiet {}
    let chunk = |text: &str, reason: &str| {
        format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{text}\"}},\"finish_reason\":{reason}}}]}}\n\n")
    };
    let config = Config::new().with_limits(Limits::new().with_max_event_len(200));
    let tracker = crate::track::Tracker::<8, 32>::new;
    let mut workspace: Workspace = Workspace::new();
    let mut teacher = Parser::<_, 0>::with_slots([0; 512], Config::new(), tracker());
    let lesson = [vec![chunk("a", "null"); 3], vec![chunk("a", "\"stop\""); 5]].concat();
    for event in lesson {
        assert!(teacher.feed_with(&mut workspace, event.as_bytes(), &mut Quiet).stop.is_none());
    }
    let mut own = Parser::<[u8; 512], 2, _>::with_slots([0; 512], config, tracker());
    let mut shared = Parser::<_, 0>::with_slots([0; 512], config, tracker());
    for piece in [chunk("a", "null"), chunk("ok", "\"stop\"") + &chunk(&"z".repeat(400), "\"stop\"")] {
        assert!(own.feed(piece.as_bytes(), &mut Quiet).stop.is_none());
        assert!(shared.feed_with(&mut workspace, piece.as_bytes(), &mut Quiet).stop.is_none());
        assert_eq!(shared.end(), own.end());
    }
    assert_eq!(own.end().choices_finished, 1);
}

/// An event whose text belongs to another item than its index says is read, whatever templates other streams have left
/// (C37).
#[cfg(feature = "responses")]
#[test]
fn a_text_under_the_index_of_another_item_is_read() {
    let event = |json: &str| format!("data: {json}\n\n");
    let piece = |text: &str| {
        let head = r#"{"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"#;
        event(&format!("{head}\"{text}\"}}"))
    };
    let mut workspace = Workspace::new();
    let teacher: Vec<String> = ["a", "b", "c", "d", "e"].into_iter().map(piece).collect();
    let (text, known) = read(&mut parser(Config::new()), &mut workspace, &teacher);
    assert!(text == "abcde" && known[4], "{text} {known:?}");
    let thoughts = r#"{"type":"response.output_item.added","output_index":0,"item":{"id":"rs","type":"reasoning"}}"#;
    let done = r#"{"type":"response.output_text.done","output_index":0,"content_index":0,"text":"Hi"}"#;
    let stream = [event(thoughts), piece("Hi"), event(done)];
    let (text, _) = read(&mut parser(Config::new()), &mut workspace, &stream);
    assert_eq!(text, "Hi");
}
