//! The Rust interface as its users meet it: what can be a storage or a handler, what prints, what can be sent.

use deltawire::json::Text;
use deltawire::stream::{Emitter, Machine};
use deltawire::track::Tracker;
use deltawire::{handler, sse, Config, Event, Flow, Handler, Limits, Parser, Stop, Storage, Update};
use std::fmt::Debug;
use std::path::{Path, PathBuf};

const STREAM: &[u8] = b"data: {\"choices\":[{\"delta\":{\"content\":\"Hel\"}}]}\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"lo\"},\"finish_reason\":\"stop\"}]}\n\n: bye\n\ndata: [DONE]\n\n";

/// The content, read in slices of 7 bytes.
fn content(storage: impl Storage, handler: &mut (impl Handler + ?Sized)) -> bool {
    let mut parser = Parser::new(storage);
    for slice in STREAM.chunks(7) {
        parser.feed(slice, handler).into_result().unwrap();
    }
    parser.finish_into(handler).unwrap();
    parser.end().is_complete()
}

#[derive(Default)]
struct Seen(String);

impl Handler for Seen {
    fn update(&mut self, _choice: u32, update: Update<'_>) -> Flow {
        if let Update::Content(text) = update {
            self.0 += &text.to_string();
        }
        Flow::Continue(())
    }
    fn event(&mut self, event: &Event<'_>) -> Flow {
        if let Event::Comment(text) = event {
            self.0 += core::str::from_utf8(text).unwrap();
        }
        Flow::Continue(())
    }
}

#[test]
fn whatever_holds_bytes_is_a_storage() {
    fn check(storage: impl Storage) {
        let mut seen = Seen::default();
        assert!(content(storage, &mut seen));
        assert_eq!(seen.0, "Hellobye");
    }
    check([0; 100]);
    check(&mut [0; 100]);
    check(&mut [0; 100][..]);
    #[cfg(feature = "alloc")]
    {
        check(Vec::new());
        check(&mut Vec::with_capacity(10));
        check(vec![0; 100].into_boxed_slice());
        check(Box::new([0; 100]));
        check(deltawire::Growing::new());
        check(&mut deltawire::Growing::new());
        check(Box::new(deltawire::Growing::new()) as Box<dyn Storage + Send>);
    }
    // One that is too small reports it.
    assert!(!content([0; 20], &mut Seen::default()));
}

#[test]
fn pointers_and_closures_are_handlers() {
    let mut seen = Seen::default();
    assert!(content([0; 100], &mut (&mut seen)));
    {
        let dynamic: &mut dyn Handler = &mut seen;
        assert!(content([0; 100], dynamic));
    }
    assert_eq!(seen.0, "HellobyeHellobye");
    #[cfg(feature = "alloc")]
    {
        let mut boxed: Box<dyn Handler + '_> = Box::new(&mut seen);
        assert!(content([0; 100], &mut boxed));
        drop(boxed);
        assert_eq!(seen.0.len(), 24);
    }
    let mut finished = 0;
    let mut count = handler::from_fn(|choice, update| {
        finished += u32::from(choice == 0 && matches!(update, Update::Finish(_)));
        Flow::Continue(())
    });
    assert!(content([0; 100], &mut count));
    assert_eq!(finished, 1);
    let mut pause = handler::from_fn(|_, _| Flow::Break(Stop::Pause));
    let fed = Parser::new([0; 100]).feed(STREAM, &mut pause);
    assert!(fed.consumed < STREAM.len());
    assert_eq!(fed.into_result(), Err(Stop::Pause));
}

/// Made when the program is compiled.
static PARSER: Parser<[u8; 64]> = Parser::with_config(
    [0; 64],
    Config::new().with_limits(Limits::new().with_max_event_len(9)).with_framing(deltawire::Framing::Spec),
);

#[test]
fn what_is_made_is_made_at_compile_time() {
    assert_eq!(PARSER.config().limits.max_event_len(), 9);
    const MACHINE: Machine = Machine::new(Config::DEFAULT);
    assert_eq!(MACHINE.offset(), 0);
    #[cfg(feature = "alloc")]
    {
        static GROWS: std::sync::Mutex<Parser<deltawire::Growing>> =
            std::sync::Mutex::new(Parser::new(deltawire::Growing::new()));
        assert!(GROWS.lock().unwrap().next(&mut &STREAM[..]).unwrap().is_some());
    }
}

#[test]
fn parsers_and_storages_print_sizes() {
    fn check(value: &impl Debug, expected: &[&str]) {
        let shown = format!("{value:?}");
        assert!(shown.len() < 500, "{} bytes: {shown}", shown.len());
        assert!(expected.iter().all(|part| shown.contains(part)), "{shown}");
    }
    let mut parser = Parser::new([b'x'; 4096]);
    parser.feed(&STREAM[..90], &mut Seen::default()).into_result().unwrap();
    check(&parser, &["Parser {", "storage_len: 4096", "offset: 90"]);
    check(parser.machine(), &["Machine {", "verdict: Truncated", "slots: 2"]);
    check(&Tracker::<8, 32>::new(), &["choices: 0", "max_choices: 8", "max_calls: 32"]);
    check(&Emitter::new(), &["Emitter {"]);
    check(&sse::Decoder::new([0; 4096]), &["Decoder {", "storage_len: 4096"]);
    check(&deltawire::message::MessageLog::<8, 32>::new(), &["MessageLog {", "len: 0"]);
    check(&handler::from_fn(|_, _| Flow::Continue(())), &["FromFn"]);
    #[cfg(feature = "alloc")]
    {
        check(&deltawire::Growing::new(), &["Growing { len: 512 }"]);
        check(&deltawire::message::Assembler::new(), &["Assembler {", "len: 0"]);
    }
}

/// Every view of a chunk with a long text and long raw JSON.
#[test]
fn views_print_what_they_are_of_cut_at_64_bytes() {
    let (long, list) = ("long\\n\\\"".repeat(100), "[9,\n8],".repeat(100));
    let long_and_list = |template: &str| template.replace("LONG", &long).replace("LIST", list.trim_end_matches(','));
    let payload = long_and_list(
        r#"{"id":"LONG","choices":[{"index":0,"delta":{"role":"LONG","content":"LONG","reasoning":"LONG","refusal":"LONG",
        "tool_calls":[{"index":0,"id":"LONG","function":{"name":"LONG","arguments":"LONG"},"extra_content":[LIST]}],
        "function_call":{"name":"LONG","arguments":"LONG"},"audio":{"id":"LONG","transcript":"LONG"},
        "annotations":[LIST],"reasoning_details":[{"type":"LONG","text":"LONG"}],"other":[LIST]},
        "logprobs":{"content":[{"token":"LONG","logprob":-1,"bytes":[1,2,3],"top_logprobs":[]}]},"finish_reason":"LONG"}],
        "usage":{"prompt_tokens":1,"x":[LIST]},"error":{"message":"LONG","code":"LONG"}}"#,
    );
    let mut shown: Vec<String> = Vec::new();
    let mut show = |value: &dyn Debug| shown.push(format!("{value:?}"));
    let mut index = deltawire::chat::Index::new();
    let chunk = deltawire::chat::Chunk::read(payload.as_bytes(), &mut index).unwrap();
    show(&chunk);
    show(&chunk.index());
    show(&chunk.other_members());
    chunk.other_members().for_each(|member| show(&member));
    let mut tracker = Tracker::<8, 32>::new();
    show(&tracker.updates(&chunk));
    tracker.updates(&chunk).for_each(|(_, update)| show(&update));
    show(&chunk.usage());
    show(&chunk.usage().unwrap().counts());
    show(&chunk.error());
    let text = chunk.id().unwrap();
    show(&text);
    show(&text.fragments());
    let value = chunk.get("id").unwrap();
    show(&value);
    show(&value.elements());
    show(&chunk.usage().unwrap().value().members());
    let bytes = payload.as_bytes();
    show(&sse::Lines::new().next(&mut &bytes[..]));
    let stream = format!(": {long}\n\nid: {long}\nevent: {long}\ndata: {}\n\n", payload.replace('\n', " "));
    let mut input = stream.as_bytes();
    let mut decoder = sse::Decoder::new(vec_of(1 << 16));
    while let Some(item) = decoder.next(&mut input) {
        show(&item);
    }
    let mut input = stream.as_bytes();
    let mut parser = Parser::new(vec_of(1 << 16));
    while let Some(event) = parser.next(&mut input).unwrap() {
        assert!(!matches!(*event, Event::Malformed(_)));
        show(&event);
        show(&event.deltas());
    }
    for of in &shown {
        assert!(of.len() < 800, "{} bytes: {of}", of.len());
        assert!(!of.contains('\n'), "{of}");
        let runs = of.matches("long").count();
        assert!(runs <= 60, "{of}");
    }
    assert!(shown.iter().filter(|of| of.contains("… (")).count() > 20, "{shown:#?}");
    assert_eq!(format!("{:?}", Text::verbatim(b"a\"\n'\xFF")), "\"a\\\"\\n'\u{FFFD}\"");
}

/// A storage of this length in any set of features.
fn vec_of(len: usize) -> &'static mut [u8] {
    vec![0; len].leak()
}

#[cfg(feature = "alloc")]
#[test]
fn texts_become_strings_and_equal_them() {
    let value = deltawire::json::parse_lazy(br#""a\u00e9""#).unwrap();
    let text = value.as_text().unwrap();
    assert_eq!(String::from(text), "aé");
    assert_eq!(text, "aé");
    assert_eq!("aé", text);
    assert!(text == *"aé");
    assert!(*"aé" == text);
    assert_ne!(text, "a");
}

#[test]
fn errors_are_errors_and_can_be_sent() {
    fn check<E: std::error::Error + Send + Sync + 'static>(error: E) {
        let text = error.to_string();
        // As thiserror's users write them: no capital, no full stop, one line.
        assert!(!text.ends_with('.') && !text.contains('\n'), "{text}");
        assert!(text.split(' ').next().is_some_and(|word| word.len() > 1 && word != text), "{text}");
        assert!(error.source().is_none());
    }
    check(Stop::Abort);
    check(Stop::Pause);
    check(Stop::Error(deltawire::Error::BadIndex { choice: 1, offset: 2 }));
    check(deltawire::Error::TooManyCalls { choice: 1, offset: 2 });
    check(deltawire::json::validate(b"[", 128).unwrap_err());
    check(deltawire::message::LogError::TooLong);
    check(deltawire::message::LogError::OutOfMemory);
    fn can_be_sent<T: Send + Sync + 'static>() {}
    can_be_sent::<Parser<[u8; 64]>>();
    can_be_sent::<deltawire::Pulled<'static>>();
    can_be_sent::<deltawire::stream::Deltas<'static>>();
    can_be_sent::<deltawire::End>();
    can_be_sent::<deltawire::chat::TokenCounts>();
    #[cfg(feature = "alloc")]
    {
        can_be_sent::<Parser<deltawire::Growing>>();
        can_be_sent::<deltawire::OwnedUpdate>();
        can_be_sent::<deltawire::message::Assembler>();
    }
}

#[test]
fn out_of_range_is_refused() {
    assert!(Limits::new().with_max_depth(1024).is_some());
    assert_eq!(Limits::new().with_max_depth(1025), None);
    let refused = deltawire::json::validate(b"1", 1025).unwrap_err();
    assert_eq!((refused.kind, refused.offset), (deltawire::json::JsonErrorKind::TooDeep, 0));
    assert!(deltawire::json::validate(b"1", 1024).is_ok());
}

fn files(folder: &Path, ends: &[&str], found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.ends_with("target") {
            files(&path, ends, found);
        } else if ends.iter().any(|end| path.extension().is_some_and(|is| is == *end)) {
            found.push(path);
        }
    }
}

/// Who copies an example must not lose events in silence: its storage grows, or it handles long events.
#[test]
fn examples_grow_or_handle_long_events() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths = vec![root.join("README.md")];
    for (folder, ends) in [("docs", &["md"][..]), ("src", &["rs"]), ("examples", &["rs"])] {
        if root.join(folder).is_dir() {
            files(&root.join(folder), ends, &mut paths);
        }
    }
    let mut seen = 0;
    for path in paths {
        let text = std::fs::read_to_string(&path).unwrap();
        let is_example = path.starts_with(root.join("examples"));
        let mut block = String::new();
        let mut inside = is_example;
        for line in text.lines().chain(["```"]) {
            let documented = line.trim_start().trim_start_matches("///").trim_start_matches("//!").trim_start();
            if documented.starts_with("```") && !is_example || line == "```" {
                if inside {
                    let fixed = ["([0; ", "([0u8; ", "memory, ", "store) ="].iter().any(|way| block.contains(way));
                    let reads = ["Parser", "Decoder", "Emitter"].iter().any(|reader| block.contains(reader));
                    seen += usize::from(reads);
                    let handles = block.contains("TooLong") || block.contains("too long") || block.contains("longer");
                    assert!(!(fixed && reads) || handles, "{}:\n{block}", path.display());
                }
                (inside, block) = (!inside, String::new());
            } else if inside {
                block += documented;
                block.push('\n');
            }
        }
    }
    assert!(seen > 15, "{seen} examples with a parser");
}

/// Input after the end of a stream is an error until `reset`, by each way to read, and changes nothing.
#[test]
fn input_after_the_end_is_an_error_that_names_reset() {
    let cut = b"data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\ndata: {\"cho";
    let rest = b"data: {\"choices\":[{\"delta\":{\"content\":\"b\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    let finished = deltawire::Error::Finished { offset: cut.len() as u64 };
    assert!(finished.to_string().contains("Parser::reset"));
    let mut texts = Vec::new();
    let mut parser = Parser::new([0; 512]);
    parser.feed_all(cut, |_, update| texts.push(format!("{update:?}"))).unwrap();
    parser.finish_all(|_, update| texts.push(format!("{update:?}"))).unwrap();
    let end = parser.end();
    assert!(!end.is_complete());
    for _ in 0..2 {
        let mut input = &rest[..];
        assert_eq!(parser.next(&mut input).err(), Some(finished));
        assert_eq!(input.len(), rest.len());
        assert_eq!(parser.feed_all(rest, |_, _| -> Flow { unreachable!() }), Err(Stop::Error(finished)));
        assert_eq!(parser.end(), end);
        // Nothing is no input.
        assert!(parser.next(&mut &b""[..]).unwrap().is_none());
        assert_eq!(parser.feed_all(b"", |_, _| -> Flow { unreachable!() }), Ok(()));
    }
    parser.reset();
    parser.feed_all(rest, |_, update| texts.push(format!("{update:?}"))).unwrap();
    assert!(parser.end().is_complete());
    assert_eq!(texts, ["Content(\"a\")", "Content(\"b\")", "Finish(\"stop\")"]);
    let (mut workspace, mut shared) = (
        deltawire::Workspace::new(),
        deltawire::Parser::<_, 0, _>::with_slots([0; 512], Config::new(), Tracker::<8, 8>::new()),
    );
    while shared.next_with(&mut workspace, &mut &cut[..]).unwrap().is_none() {}
    while shared.finish_with(&mut workspace).unwrap().is_some() {}
    assert!(matches!(shared.next_with(&mut workspace, &mut &rest[..]), Err(deltawire::Error::Finished { .. })));
    let mut none = deltawire::handler::from_fn(|_, _| -> Flow { unreachable!() });
    assert!(shared.feed_with(&mut workspace, rest, &mut none).stop.is_some());
}

/// A closure reads all of the input unless it breaks off, whatever is over a limit.
#[test]
fn a_closure_gets_each_delta_of_the_input() {
    let event = |choice: u32, text: &str| {
        format!("data: {{\"choices\":[{{\"index\":{choice},\"delta\":{{\"content\":\"{text}\"}}}}]}}\n\n")
    };
    // A tracker of one choice leaves out the second.
    let stream = [event(0, "a"), event(1, "x"), event(0, "b")].concat();
    for size in [1, 7, stream.len()] {
        let mut parser = Parser::with_tracker([0; 512], Config::new(), Tracker::<1, 1>::new());
        let mut text = String::new();
        for piece in stream.as_bytes().chunks(size) {
            let mut add = |_, update: Update<'_>| text += &format!("{update:?} ");
            assert_eq!(parser.feed_all(piece, &mut add), Ok(()));
        }
        assert_eq!(text, "Content(\"a\") Content(\"b\") ");
        assert_eq!(parser.end().left_out, 1);
    }
    let mut count = 0;
    let mut parser = Parser::new([0; 512]);
    let stop = parser.feed_all(stream.as_bytes(), |_, _| {
        count += 1;
        Flow::Break(Stop::Pause)
    });
    assert_eq!((stop, count, parser.end().is_complete()), (Err(Stop::Pause), 1, false));
}
