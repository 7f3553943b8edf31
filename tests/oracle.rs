//! The naive reader of chat completions beside the parser, on samples, on recorded streams, and on random streams: orders of keys,
//! whitespace, escapes, line ends, odd types, interleaved choices and calls, any cuts.
#![cfg(feature = "alloc")]

use crate::common::cases::cases;
use crate::common::corpus::{recorded, samples, Stream};
use crate::common::log::quoted;
use crate::common::naive_chat::{usage_after, whole, Answer, Call, Choice, Naive, HEAD};
use deltawire::chat::{CallUpdate, NamePiece};
use deltawire::json::Text;
use deltawire::message::{Assembler, Completion};
use deltawire::stream::{End, Protocol};
use deltawire::{Config, Event, Flow, Growing, Handler, Parser, Quirk, QuirkSet, Update};
use proptest::prelude::*;

// ---------------------------------------------------------------------------------------------------------------------
// The parser's result

#[derive(Default)]
struct Collector {
    answer: Answer,
}

impl Collector {
    fn choice(&mut self, choice: u32) -> &mut Choice {
        self.answer.choices.entry(choice).or_default()
    }
}

fn text_of(text: Option<Text<'_>>) -> String {
    text.map(|text| text.to_cow().into_owned()).unwrap_or_default()
}

impl Handler for Collector {
    fn event(&mut self, event: &Event<'_>) -> Flow {
        self.answer.done |= matches!(event, Event::Done);
        let Event::Chunk(chunk) = event else { return Flow::Continue(()) };
        let texts = [chunk.id(), chunk.object(), chunk.model(), chunk.system_fingerprint(), chunk.service_tier()];
        for (name, text) in HEAD.into_iter().zip(texts.into_iter().chain([chunk.provider()])) {
            if let Some(text) = text.filter(|text| !text.is_empty()) {
                self.answer.head.entry(name).or_insert_with(|| text.to_cow().into_owned());
            }
        }
        self.answer.created = self.answer.created.or(chunk.created().filter(|created| *created > 0));
        Flow::Continue(())
    }

    fn update(&mut self, at: u32, update: Update<'_>) -> Flow {
        let name = |name: &mut String, text: Text<'_>, piece: NamePiece| {
            if piece == NamePiece::Replaces {
                name.clear();
            }
            name.push_str(&text.to_cow());
        };
        match update {
            Update::Role(text) => self.choice(at).role += &text.to_cow(),
            Update::Content(text) => self.choice(at).content += &text.to_cow(),
            Update::Reasoning(text) => self.choice(at).reasoning += &text.to_cow(),
            Update::Refusal(text) => self.choice(at).refusal += &text.to_cow(),
            Update::Call(CallUpdate { call, index, opens, id, kind, .. }) => {
                let calls = &mut self.choice(at).calls;
                if opens {
                    assert_eq!(calls.len(), call as usize);
                    calls.push(Call::default());
                    calls[call as usize].index = index.unwrap().into();
                }
                calls[call as usize].id += &text_of(id);
                calls[call as usize].kind += &text_of(kind);
            }
            Update::CallName { call, text, piece } => {
                name(&mut self.choice(at).calls[call as usize].name, text, piece);
            }
            Update::CallArguments { call, text } => {
                self.choice(at).calls[call as usize].arguments += &text.to_cow();
            }
            Update::FunctionName { text, piece } => name(&mut self.choice(at).function.name, text, piece),
            Update::FunctionArguments(text) => self.choice(at).function.arguments += &text.to_cow(),
            Update::Logprobs(logprobs) => {
                let tokens = whole(logprobs.raw())["content"].as_array().cloned();
                self.choice(at).tokens.extend(tokens.into_iter().flatten());
            }
            Update::Finish(reason) => self.choice(at).finish = reason.text().to_cow().into_owned(),
            Update::ChoiceError(error) => self.choice(at).error = Some(text_of(error.message())),
            Update::Usage(usage) => {
                let next = whole(usage.value().raw());
                self.answer.usage = Some(usage_after(self.answer.usage.take(), next));
            }
            Update::Error(error) => self.answer.errors.push(text_of(error.message())),
            _ => {}
        }
        Flow::Continue(())
    }
}

fn parsed(bytes: &[u8], cuts: &[usize]) -> (Answer, QuirkSet) {
    let (answer, quirks, _) = parsed_to_end(bytes, cuts);
    (answer, quirks)
}

fn parsed_to_end(bytes: &[u8], cuts: &[usize]) -> (Answer, QuirkSet, End) {
    let mut parser = Parser::with_config(Growing::new(), Config::default());
    let mut collector = Collector::default();
    for piece in crate::common::input::pieces(bytes, cuts) {
        assert_eq!(parser.feed(piece, &mut collector).stop, None);
    }
    assert_eq!(parser.finish_into(&mut collector), Ok(()));
    let mut answer = collector.answer;
    // The parser makes an entry for a role alone, the naive reader does not.
    answer.choices.retain(|_, choice| *choice != Choice::default());
    (answer, parser.quirks(), parser.end())
}

/// The message of a stream, by pull.
fn assembled(bytes: &[u8]) -> Completion {
    let (mut parser, mut assembler) = (Parser::new(Growing::new()), Assembler::new());
    let mut rest = bytes;
    while let Some(event) = parser.next(&mut rest).unwrap() {
        assembler.add(event).unwrap();
    }
    while let Some(event) = parser.finish().unwrap() {
        assembler.add(event).unwrap();
    }
    assembler.into_message().unwrap()
}

// ---------------------------------------------------------------------------------------------------------------------
// Existing streams

/// Quirks that do not change the meaning.
fn harmless() -> QuirkSet {
    [
        Quirk::UnterminatedEvent,
        Quirk::IllFormedUtf8,
        Quirk::JsonBody,
        Quirk::EventAfterDone,
        Quirk::NullChunk,
        Quirk::MissingChoiceIndex,
        Quirk::ReusedCallIndex,
        Quirk::ChangedCallId,
        Quirk::ArgumentsAfterEnd,
        Quirk::DeltaAfterFinish,
        Quirk::SecondFinish,
        Quirk::OddType,
        Quirk::KeepAliveData,
        Quirk::LoneSurrogate,
        Quirk::UnknownContentPart,
        Quirk::ReplacedMessage,
    ]
    .into_iter()
    .collect()
}

#[test]
fn streams_there_are() {
    let streams: Vec<Stream> = samples().into_iter().chain(recorded("oracle")).collect();
    let (mut compared, mut choices, mut calls) = (0, 0, 0);
    let mut left = Vec::new();
    for stream in &streams {
        let (answer, quirks, end) = parsed_to_end(&stream.bytes, &[]);
        // The naive reader knows chat completions alone; `protocols/` compares the others.
        if end.protocol.is_some_and(|dialect| dialect != Protocol::Chat) {
            left.push(format!("{} {:?}", stream.name, end.protocol));
            continue;
        }
        if quirks.iter().any(|quirk| !harmless().contains(quirk)) {
            left.push(format!("{} {quirks:?}", stream.name));
            continue;
        }
        let (naive, _) = Naive::read(&stream.bytes).close();
        let (got, wanted) = (format!("{answer:?}"), format!("{naive:?}"));
        let at = got.bytes().zip(wanted.bytes()).take_while(|(got, wanted)| got == wanted).count();
        let near = |text: &str| text.chars().skip(at.saturating_sub(100)).take(300).collect::<String>();
        assert!(answer == naive, "{}\n got    {}\n wanted {}", stream.name, near(&got), near(&wanted));
        compared += 1;
        choices += answer.choices.len();
        calls += answer.choices.values().map(|choice| choice.calls.len()).sum::<usize>();
    }
    println!("oracle: {compared} streams with {choices} choices and {calls} calls; left out: {left:?}");
    assert!(compared >= samples().len() && choices > 0 && calls > 0);
}

// ---------------------------------------------------------------------------------------------------------------------
// Generated streams

/// A JSON text with random whitespace and order.
#[derive(Clone, Debug)]
enum Json {
    Raw(String),
    Text(Vec<Char>),
    Array(Vec<Json>),
    Object(Vec<(&'static str, Json)>),
}

/// A character, and how it is written.
#[derive(Clone, Copy, Debug)]
enum Char {
    Plain(char),
    Escaped(char),
    /// An unpaired surrogate, unless its neighbor completes it.
    Unit(u16),
}

impl Json {
    fn write(&self, space: &mut impl FnMut() -> &'static str, out: &mut String) {
        match self {
            Json::Raw(raw) => out.push_str(raw),
            Json::Text(chars) => {
                out.push('"');
                for char in chars {
                    match *char {
                        Char::Plain('"') => out.push_str("\\\""),
                        Char::Plain('\\') => out.push_str("\\\\"),
                        Char::Plain('\n') => out.push_str("\\n"),
                        Char::Plain(char) if char < ' ' => *out += &format!("\\u{:04x}", u32::from(char)),
                        Char::Plain(char) => out.push(char),
                        Char::Escaped(char) => {
                            for unit in char.encode_utf16(&mut [0; 2]) {
                                *out += &format!("\\u{unit:04X}");
                            }
                        }
                        Char::Unit(unit) => *out += &format!("\\u{unit:04x}"),
                    }
                }
                out.push('"');
            }
            Json::Array(items) => {
                out.push('[');
                for (at, item) in items.iter().enumerate() {
                    out.push_str(if at > 0 { "," } else { "" });
                    out.push_str(space());
                    item.write(space, out);
                }
                out.push_str(space());
                out.push(']');
            }
            Json::Object(members) => {
                out.push('{');
                for (at, (key, value)) in members.iter().enumerate() {
                    out.push_str(if at > 0 { "," } else { "" });
                    out.push_str(space());
                    *out += &format!("\"{key}\"");
                    out.push_str(space());
                    out.push(':');
                    out.push_str(space());
                    value.write(space, out);
                }
                out.push_str(space());
                out.push('}');
            }
        }
    }
}

fn char() -> impl Strategy<Value = Char> {
    let plain = prop_oneof![
        8 => prop::char::range(' ', '~'),
        1 => prop_oneof![Just('é'), Just('世'), Just('😀'), Just('\u{2028}'), Just('\u{85}'), Just('\n'), Just('\0')],
    ];
    let escaped = prop_oneof![Just('a'), Just('"'), Just('é'), Just('世'), Just('👍'), Just('\n'), Just('\0')];
    prop_oneof![12 => plain.prop_map(Char::Plain), 1 => escaped.prop_map(Char::Escaped)]
}

fn text() -> impl Strategy<Value = Json> {
    prop::collection::vec(char(), 0..12).prop_map(Json::Text)
}

/// A text that may begin or end with an unpaired surrogate.
fn halved() -> impl Strategy<Value = Json> {
    let half = || prop_oneof![6 => Just(None), 1 => (0xD83C..0xD840u16).prop_map(Some), 1 => (0xDE00..0xDE20u16).prop_map(Some)];
    (half(), prop::collection::vec(char(), 0..6), half()).prop_map(|(first, mut chars, last)| {
        chars.splice(0..0, first.map(Char::Unit));
        chars.extend(last.map(Char::Unit));
        Json::Text(chars)
    })
}

fn raw(raw: &'static str) -> impl Strategy<Value = Json> {
    Just(Json::Raw(raw.to_string()))
}

/// An occasional value instead of a text, which emits nothing.
fn odd() -> impl Strategy<Value = Json> {
    prop_oneof![4 => raw("null"), 1 => raw("true"), 1 => raw("17"), 1 => raw("{\"a\":[1]}")]
}

fn member(
    key: &'static str,
    value: impl Strategy<Value = Json>,
) -> impl Strategy<Value = Option<(&'static str, Json)>> {
    prop_oneof![3 => Just(None), 2 => value.prop_map(move |value| Some((key, value)))]
}

/// An object of some of its members, in any order.
fn object(members: Vec<Option<(&'static str, Json)>>) -> impl Strategy<Value = Json> {
    Just(members.into_iter().flatten().collect::<Vec<_>>()).prop_shuffle().prop_map(Json::Object)
}

fn tool_call() -> impl Strategy<Value = Json> {
    let quoted = |text: &str| Json::Raw(format!("\"{text}\""));
    let index = prop_oneof![3 => (0..3u32).prop_map(Some), 1 => Just(None)];
    let id = prop_oneof![3 => Just(None), 2 => (0..3u32).prop_map(Some)];
    let name = prop_oneof![2 => Just(None), 1 => Just(Some("f")), 1 => Just(Some("get_weather"))];
    const PIECES: &[&str] = &[
        "{",
        "}",
        "{}",
        r#"{\"x\":1}"#,
        r#"{\"x\":\"}"#,
        r#"\"}"#,
        " ",
        "",
        "[",
        "]",
        "[1]",
        r#"\"x\""#,
        "12",
        "true",
    ];
    let arguments = prop_oneof![1 => text(), 3 => prop::sample::select(PIECES).prop_map(quoted)];
    let call = (index, id, name, member("arguments", arguments)).prop_flat_map(move |(index, id, name, arguments)| {
        let name = name.map(|name| ("name", quoted(name)));
        object(vec![name, arguments]).prop_flat_map(move |function| {
            object(vec![
                index.map(|index| ("index", Json::Raw(index.to_string()))),
                id.map(|id| ("id", quoted(&format!("call_{id}")))),
                id.map(|_| ("type", quoted("function"))),
                Some(("function", function)),
            ])
        })
    });
    prop_oneof![12 => call.boxed(), 1 => raw("null").boxed(), 1 => raw("{}").boxed()]
}

fn delta() -> impl Strategy<Value = Json> {
    let parts = prop::collection::vec(text(), 0..3).prop_map(|texts| {
        let part = |text| Json::Object(vec![("type", Json::Raw("\"text\"".to_string())), ("text", text)]);
        Json::Array(texts.into_iter().map(part).collect())
    });
    let detail = |text| Json::Object(vec![("text", text)]);
    let details =
        prop::collection::vec(text(), 0..3).prop_map(move |texts| Json::Array(texts.into_iter().map(detail).collect()));
    let one_detail = text().prop_map(detail);
    let function = (text(), prop_oneof![Just("null"), Just("\"\""), Just("\"fun\"")]).prop_map(|(arguments, name)| {
        Json::Object(vec![("arguments", arguments), ("name", Json::Raw(name.to_string()))])
    });
    let members = (
        member("role", prop_oneof![raw("\"assistant\""), raw("\"\""), raw("null")]),
        member("content", prop_oneof![6 => halved(), 1 => odd(), 1 => parts]),
        member("refusal", prop_oneof![2 => text(), 1 => odd()]),
        member("reasoning_content", prop_oneof![2 => text(), 1 => odd()]),
        member("reasoning", prop_oneof![2 => text(), 1 => odd()]),
        member("reasoning_details", prop_oneof![2 => details, 1 => one_detail, 1 => raw("null")]),
        member("function_call", prop_oneof![1 => function, 1 => raw("null")]),
        member("tool_calls", prop::collection::vec(tool_call(), 0..3).prop_map(Json::Array)),
        member("annotations", raw("[{\"type\":\"url_citation\",\"content\":\"no\"}]")),
    );
    members.prop_flat_map(|(a, b, c, d, e, f, g, h, i)| object(vec![a, b, c, d, e, f, g, h, i]))
}

fn choice() -> impl Strategy<Value = Json> {
    let token = text().prop_map(|text| {
        Json::Object(vec![
            ("token", text),
            ("logprob", Json::Raw("-1.5e-3".into())),
            ("bytes", Json::Raw("null".into())),
        ])
    });
    let logprobs =
        prop::collection::vec(token, 0..3).prop_map(|tokens| Json::Object(vec![("content", Json::Array(tokens))]));
    let members = (
        (0..3u32).prop_map(|index| ("index", Json::Raw(index.to_string()))),
        member("delta", prop_oneof![9 => delta().boxed(), 1 => raw("null").boxed()]),
        prop_oneof![9 => Just(None), 1 => delta().prop_map(|message| Some(("message", message)))],
        prop_oneof![4 => raw("null"), 1 => raw("\"\"")].prop_map(|value| ("finish_reason", value)),
        member("logprobs", prop_oneof![logprobs.boxed(), raw("null").boxed()]),
        member("native_finish_reason", raw("\"STOP\"")),
    );
    members.prop_flat_map(|(index, delta, message, finish, logprobs, native)| {
        object(vec![Some(index), delta, message, Some(finish), logprobs, native])
    })
}

fn chunk() -> impl Strategy<Value = Json> {
    let usage = (0..100u32).prop_map(|n| match n % 4 {
        // Only details, which add to the last usage.
        0 => Json::Raw(format!("{{\"cost\":{n},\"prompt_tokens_details\":{{\"cached_tokens\":{n}}}}}")),
        _ => Json::Raw(format!("{{\"total_tokens\":{n},\"cost\":1e-7}}")),
    });
    let members = (
        member("id", prop_oneof![text().boxed(), raw("42").boxed(), raw("null").boxed()]),
        member("created", prop_oneof![raw("1739"), raw("\"1739\""), raw("1.5e9")]),
        prop::collection::vec(choice(), 0..4).prop_map(|choices| Some(("choices", Json::Array(choices)))),
        member("usage", prop_oneof![2 => usage.boxed(), 1 => raw("null").boxed(), 1 => raw("{}").boxed()]),
        member("error", prop_oneof![2 => raw("null"), 2 => raw("\"\""), 1 => raw("{\"message\":\"m\",\"code\":429}")]),
        member("obfuscation", text()),
        member("x", raw("{\"choices\":[{\"delta\":{\"content\":\"no\"}}]}")),
    );
    members.prop_flat_map(|(a, b, c, d, e, f, g)| object(vec![a, b, c, d, e, f, g]))
}

/// A message so far: the first characters of each text, occasionally with one replaced.
fn so_far() -> impl Strategy<Value = Json> {
    let chars = || {
        let text = "ab\u{e9}\u{4e16}{\"k\":1}\\n";
        let other = prop_oneof![9 => Just(usize::MAX), 1 => 0..text.chars().count()];
        (0..text.chars().count(), other, prop::bool::ANY).prop_map(move |(len, other, escaped)| {
            let write = if escaped { Char::Escaped } else { Char::Plain };
            let chars = text.chars().take(len).enumerate();
            Json::Text(chars.map(|(at, char)| write(if at == other { '?' } else { char })).collect())
        })
    };
    let call = (chars(), member("name", raw("\"f\"")), member("type", raw("\"function\"")), prop::bool::weighted(0.95));
    let call = call.prop_map(|(arguments, name, kind, id)| {
        let function = Json::Object(name.into_iter().chain([("arguments", arguments)]).collect());
        let id = Json::Raw(if id { "\"p\"" } else { "\"q\"" }.to_string());
        Json::Object(kind.into_iter().chain([("id", id), ("function", function)]).collect())
    });
    let function = chars().prop_map(|arguments| Json::Object(vec![("arguments", arguments)]));
    let members = (
        member("role", raw("\"assistant\"")),
        prop_oneof![3 => chars().prop_map(|text| Some(("content", text))), 1 => Just(None)],
        member("reasoning", chars()),
        member("function_call", function),
        member("tool_calls", prop::collection::vec(call, 1..3).prop_map(Json::Array)),
    );
    members.prop_flat_map(|(a, b, c, d, e)| object(vec![a, b, c, d, e]))
}

/// Chunks with messages so far of two choices, and an occasional delta.
fn messages() -> impl Strategy<Value = Bytes> {
    let message = so_far().prop_map(|message| ("message", message));
    let delta = raw("{\"content\":\"d\"}").prop_map(|delta| ("delta", delta));
    let one = (0..2u32, prop_oneof![19 => message.boxed(), 1 => delta.boxed()]);
    prop::collection::vec(one, 0..8).prop_map(|chunks| {
        let mut out = Vec::new();
        for (index, member) in chunks {
            let choice = Json::Object(vec![("index", Json::Raw(index.to_string())), member]);
            let mut json = String::new();
            Json::Object(vec![("choices", Json::Array(vec![choice]))]).write(&mut || "", &mut json);
            out.extend_from_slice(format!("data: {json}\n\n").as_bytes());
        }
        Bytes(out)
    })
}

/// The last chunk of each choice.
fn finishes() -> impl Strategy<Value = Json> {
    prop::collection::vec((0..3u32, prop_oneof![Just("stop"), Just("length"), Just("eos")]), 0..4).prop_map(|choices| {
        let choice = |(index, reason): (u32, &str)| {
            Json::Raw(format!("{{\"index\":{index},\"delta\":{{}},\"finish_reason\":\"{reason}\"}}"))
        };
        Json::Object(vec![("choices", Json::Array(choices.into_iter().map(choice).collect()))])
    })
}

/// Bytes that are readable when a test fails.
#[derive(Clone)]
struct Bytes(Vec<u8>);

impl std::fmt::Debug for Bytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&quoted(&self.0))
    }
}

/// A whole stream: chunks, other items between them, whitespace and line ends.
fn stream() -> impl Strategy<Value = Bytes> {
    let between = prop_oneof![
        6 => Just(""),
        1 => Just(": ping|"),
        1 => Just("retry: 5||"),
        1 => Just("id: 7||"),
        1 => Just("event: e|"),
        1 => Just("strange: 1|"),
    ];
    let events = prop::collection::vec((between, chunk(), prop::bool::ANY, prop::bool::weighted(0.2)), 0..7);
    let line_end = prop_oneof![Just("\n"), Just("\r\n"), Just("\r")];
    let spaces =
        prop::collection::vec(prop_oneof![6 => Just(""), 2 => Just(" "), 1 => Just("\t"), 1 => Just("|")], 1..40);
    let end = prop_oneof![Just("data: [DONE]||"), Just("data:[DONE] ||"), Just("")];
    let mark = prop::bool::weighted(0.1);
    (events, finishes(), line_end, spaces, end, mark).prop_map(|(events, finishes, line_end, spaces, end, mark)| {
        let mut at = 0;
        let mut space = || {
            at += 1;
            spaces[at % spaces.len()]
        };
        let mut out = Vec::new();
        if mark {
            out.extend_from_slice("\u{FEFF}".as_bytes());
        }
        let events = events.into_iter().chain([("", finishes, true, false)]);
        for (between, chunk, spaced, is_alone) in events {
            out.extend_from_slice(between.replace('|', line_end).as_bytes());
            let mut json = String::new();
            // The bar stands for a line end between tokens; inside texts it is a bar.
            write_lines(&chunk, &mut space, &mut json);
            let data = if spaced { "data: " } else { "data:" };
            // A line that begins with a space loses it, which is whitespace here.
            for line in json.split('\u{1}') {
                out.extend_from_slice(data.as_bytes());
                out.extend_from_slice(line.as_bytes());
                out.extend_from_slice(line_end.as_bytes());
            }
            // Or put the next event into the same block.
            if !is_alone {
                out.extend_from_slice(line_end.as_bytes());
            }
        }
        out.extend_from_slice(end.replace('|', line_end).as_bytes());
        Bytes(out)
    })
}

fn write_lines(json: &Json, space: &mut impl FnMut() -> &'static str, out: &mut String) {
    let mut space = || match space() {
        "|" => "\u{1}",
        other => other,
    };
    json.write(&mut space, out);
}

proptest! {
    #![proptest_config(cases(3000, 1, 1))]

    #[test]
    fn streams_made_up(Bytes(bytes) in stream(), cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12)) {
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        cuts.sort_unstable();
        let naive = Naive::read(&bytes);
        let has_messages = naive.has_messages();
        let (naive, _) = naive.close();
        let (whole, quirks) = parsed(&bytes, &[]);
        prop_assert_eq!(&whole, &naive);
        let (cut, cut_quirks) = parsed(&bytes, &cuts);
        prop_assert_eq!(&cut, &naive, "cut at {:?}", cuts);
        prop_assert_eq!(quirks, cut_quirks);
        if !has_messages {
            prop_assert_eq!(Answer::of_message(&assembled(&bytes)), naive.into_message(), "the message");
        }
    }

    #[test]
    fn messages_so_far(Bytes(bytes) in messages(), cut in any::<prop::sample::Index>()) {
        let (naive, is_replaced) = Naive::read(&bytes).close();
        for cuts in [vec![], vec![cut.index(bytes.len() + 1)]] {
            let (answer, quirks) = parsed(&bytes, &cuts);
            prop_assert_eq!(&answer, &naive);
            prop_assert_eq!(quirks.contains(Quirk::ReplacedMessage), is_replaced);
        }
    }
}
