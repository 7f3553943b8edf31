//! Responses are translated: whole and in pieces, into any buffer and any memory.

use super::naive::check;
use super::run::read;
use crate::common::corpus::{native, recorded, samples};
use crate::common::random::Random;
use deltawire::stream::Protocol;
use deltawire::write::{Head, Out, Translator, WriteError};
use deltawire::{Growing, Parser};

pub const TARGETS: [Protocol; 3] = [Protocol::Chat, Protocol::Anthropic, Protocol::Responses];

/// What became of a response.
#[derive(Debug, PartialEq, Eq)]
pub struct Translated {
    pub bytes: Vec<u8>,
    pub left_out: (u64, u64),
    pub is_complete: bool,
}

impl Translated {
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.bytes).unwrap()
    }
}

/// A call of a translator.
type Call<'c> = dyn FnMut(&mut Translator<Vec<u8>>, &mut Out<'_>) -> Result<(), WriteError> + 'c;

/// Translates these reads, with so much memory and room at first. Both become what the translator asks for, and no more.
pub fn translate<'r>(
    to: Protocol,
    head: &Head<'_>,
    reads: impl Iterator<Item = &'r [u8]>,
    (memory, room): (usize, usize),
) -> Translated {
    let memory = Translator::new(to, head, vec![0; memory]).map_or_else(
        |error| match error {
            WriteError::NeedMemory { need } => need,
            error => panic!("{error}"),
        },
        |_| memory,
    );
    let mut translator = Translator::new(to, head, vec![0; memory]).unwrap();
    let (mut parser, mut bytes, mut buffer) = (Parser::new(Growing::new()), Vec::new(), vec![0; room]);
    let mut all = |translator: &mut Translator<Vec<u8>>, call: &mut Call<'_>| loop {
        let mut out = Out::new(&mut buffer);
        let result = call(translator, &mut out);
        bytes.extend_from_slice(out.written());
        match result {
            Ok(()) => return,
            Err(WriteError::NeedRoom { need }) => {
                assert!(!out.is_empty() || need > buffer.len());
                let room = need.max(buffer.len());
                buffer.resize(room, 0);
            }
            Err(WriteError::NeedMemory { need }) => {
                let memory = translator.writer_mut().memory_mut();
                assert!(need > memory.len());
                memory.resize(need, 0);
            }
            Err(error) => panic!("{error}"),
        }
    };
    for mut read in reads {
        all(&mut translator, &mut |translator, out| translator.feed(&mut parser, &mut read, out));
    }
    all(&mut translator, &mut |translator, out| translator.finish(&mut parser, out));
    Translated { bytes, left_out: translator.left_out(), is_complete: parser.end().is_complete() }
}

/// Translates a response that is read at once, with the names of the response.
pub fn whole(to: Protocol, stream: &str) -> Translated {
    translate(to, &Head::new("", "", 0), std::iter::once(stream.as_bytes()), (4096, 1 << 16))
}

/// Cuts a stream into reads of up to 40 bytes, of which some are empty.
pub fn reads(stream: &[u8], seed: u64) -> impl Iterator<Item = &[u8]> {
    let (mut random, mut rest) = (Random::new(seed), stream);
    std::iter::from_fn(move || {
        let (read, left) = rest.split_at(random.below(41).min(rest.len()));
        (!rest.is_empty()).then(|| rest = left).map(|()| read)
    })
}

#[test]
fn reads_and_buffers_do_not_matter() {
    let (mut streams, mut complete) = (samples(), 0);
    streams.extend(recorded("translate"));
    streams.extend(native("translate"));
    for (seed, stream) in streams.iter().enumerate() {
        for to in TARGETS {
            let head = Head::new("", "", 0).with_usage();
            let at_once = translate(to, &head, std::iter::once(&stream.bytes[..]), (1 << 16, 1 << 16));
            let cut = translate(to, &head, reads(&stream.bytes, seed as u64), (0, 1));
            assert_eq!(cut.text(), at_once.text(), "{} {to}", stream.name);
            assert_eq!(cut, at_once, "{} {to}", stream.name);
            if at_once.bytes.is_empty() {
                continue;
            }
            // The stream is valid, and ends properly if and only if the response is whole.
            let ended = check(to, at_once.text()) == Some(true);
            let (messages, _, is_whole) = read(&at_once.bytes);
            if at_once.left_out.1 == 0 {
                let failed =
                    messages.values().any(|message| message.finish.is_some_and(|kind| kind.word() == Some("error")));
                assert_eq!(ended, at_once.is_complete && !failed, "{} {to}", stream.name);
                // Made streams have arguments that only chat completions show to be broken.
                assert!(is_whole == ended || stream.name.starts_with("native-"), "{} {to}", stream.name);
            }
            complete += usize::from(is_whole);
        }
    }
    assert!(complete > streams.len(), "{complete} of {} streams, each three times", streams.len());
}

#[test]
fn a_finish_reason_waits_for_the_end() {
    let stream = "data: {\"id\":\"c\",\"model\":\"m\",\"created\":7,\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"eos\"}]}\n\n\
                  data: {\"id\":\"c\",\"choices\":[{\"delta\":{\"content\":\"b\"}}]}\n\ndata: [DONE]\n\n";
    let envelope = "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"created\":7,\"model\":\"m\",\"choices\":[{\"index\":0,";
    let want = format!(
        "{envelope}\"delta\":{{\"role\":\"assistant\"}},\"finish_reason\":null}}]}}\n\n\
         {envelope}\"delta\":{{\"content\":\"a\"}},\"finish_reason\":null}}]}}\n\n\
         {envelope}\"delta\":{{\"content\":\"b\"}},\"finish_reason\":null}}]}}\n\n\
         {envelope}\"delta\":{{}},\"finish_reason\":\"eos\"}}]}}\n\ndata: [DONE]\n\n"
    );
    assert_eq!(whole(Protocol::Chat, stream).text(), want);
    // Without one, `[DONE]` is a proper end.
    let bare = stream.replace(",\"finish_reason\":\"eos\"", "");
    assert_eq!(whole(Protocol::Chat, &bare).text(), want.replace("eos", "stop"));
    // A cut response is none.
    let cut = bare.replace("data: [DONE]\n\n", "");
    let end = "data: {\"error\":{\"message\":\"the response is not complete\",\"type\":\"server_error\",\"param\":null,\"code\":null}}\n\n";
    let got = whole(Protocol::Chat, &cut);
    assert!(got.text().ends_with(&format!("\"b\"}},\"finish_reason\":null}}]}}\n\n{end}")), "{}", got.text());
    assert!(!got.is_complete);
}

#[test]
fn the_reasons_of_many_choices_are_kept() {
    let choices: Vec<String> = (0..7)
        .map(|choice| {
            format!("{{\"index\":{choice},\"delta\":{{\"content\":\"a\"}},\"finish_reason\":\"word {}\"}}", choice % 5)
        })
        .collect();
    let stream = format!("data: {{\"choices\":[{}]}}\n\ndata: [DONE]\n\n", choices.join(","));
    let got = whole(Protocol::Chat, &stream);
    let reasons: Vec<&str> =
        got.text().split("\"finish_reason\":\"").skip(1).map(|rest| &rest[..rest.find('"').unwrap()]).collect();
    // There is room for four words that are none of chat completions.
    assert_eq!(reasons, ["word 0", "word 1", "word 2", "word 3", "other", "other", "other"]);
    assert_eq!(whole(Protocol::Anthropic, &stream).left_out, (12, 0));
}

#[test]
fn arguments_by_path_are_joined() {
    let call = |part: &str| {
        format!("data: {{\"candidates\":[{{\"content\":{{\"parts\":[{{\"functionCall\":{{{part}}}}}]}}}}]}}\n\n")
    };
    let stream = [
        call("\"name\":\"f\",\"willContinue\":true"),
        call("\"partialArgs\":[{\"jsonPath\":\"$.a.b\",\"stringValue\":\"x\",\"willContinue\":true}],\"willContinue\":true"),
        call("\"partialArgs\":[{\"jsonPath\":\"$.a.b\",\"stringValue\":\"\\\"y\"},{\"jsonPath\":\"$.n[0]\",\"numberValue\":1}],\"willContinue\":true"),
        call(""),
        "data: {\"candidates\":[{\"finishReason\":\"STOP\"}]}\n\n".to_string(),
    ]
    .concat();
    for to in TARGETS {
        let (messages, _, is_whole) = read(&whole(to, &stream).bytes);
        let message = &messages[&0];
        assert_eq!(message.calls[0].1, "f");
        assert_eq!(message.calls[0].2, "{\"a\":{\"b\":\"x\\\"y\"},\"n\":[1]}", "{to}");
        assert_eq!(message.finish.and_then(|kind| kind.word()), Some("tool_calls"), "{to}");
        assert!(is_whole);
    }
}

#[test]
fn names_are_those_of_the_head_or_of_the_response() {
    let stream = "data: {\"id\":\"\",\"model\":\"\",\"created\":0,\"choices\":[]}\n\n\
                  data: {\"id\":\"c\\n1\",\"created\":5,\"choices\":[]}\n\n\
                  data: {\"id\":\"second\",\"created\":6,\"choices\":[{\"delta\":{\"role\":\"assistant\"}}]}\n\n\
                  data: {\"id\":\"late\",\"model\":\"late\",\"created\":9,\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\ndata: [DONE]\n\n";
    for (head, id, model, created) in [
        (Head::new("", "", 0), "c\\n1", "unknown", 5),
        (Head::new("own", "", 0).with_members(b"{\"a\":1}"), "own", "unknown", 5),
        (Head::new("", "my model", 3), "c\\n1", "my model", 3),
    ] {
        let got = translate(Protocol::Chat, &head, reads(stream.as_bytes(), 1), (0, 0));
        let want = format!(
            "data: {{\"id\":\"{id}\",\"object\":\"chat.completion.chunk\",\"created\":{created},\"model\":\"{model}\""
        );
        let events: Vec<&str> = got.text().split_terminator("\n\n").collect();
        assert_eq!(events.len(), 4, "{events:?}");
        assert!(events[..3].iter().all(|event| event.starts_with(&want)), "{events:?} {want}");
    }
}

#[test]
fn memory_that_cannot_grow_is_a_typed_error() {
    let content = "m".repeat(1000);
    let stream = format!("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{content}\"}}}}]}}\n\n");
    let (mut parser, mut buffer, mut input) = (Parser::new([0; 4096]), [0; 16384], stream.as_bytes());
    let mut translator = Translator::new(Protocol::Responses, &Head::new("r", "m", 1), [0; 1200]).unwrap();
    let mut out = Out::new(&mut buffer);
    for _ in 0..3 {
        let result = translator.feed(&mut parser, &mut input, &mut out);
        assert!(matches!(result, Err(WriteError::NeedMemory { need }) if need > 1200), "{result:?}");
    }
    // Other bytes are refused.
    let mut other = &b"data: {}\n\n"[..];
    assert_eq!(translator.feed(&mut parser, &mut other, &mut out), Err(WriteError::Ended));
}

#[test]
fn an_error_ends_the_stream_and_no_input_follows_the_end() {
    let stream = "data: {\"error\":{\"message\":\"too busy\"}}\n\n";
    let (mut parser, mut buffer) = (Parser::new([0; 1024]), [0; 4096]);
    let mut translator = Translator::new(Protocol::Anthropic, &Head::new("", "", 0), [0; 512]).unwrap();
    let mut out = Out::new(&mut buffer);
    assert_eq!(translator.feed(&mut parser, &mut stream.as_bytes(), &mut out), Ok(()));
    assert_eq!(translator.finish(&mut parser, &mut out), Ok(()));
    let written = std::str::from_utf8(out.written()).unwrap();
    assert!(written.starts_with("event: error\ndata: ") && written.contains("too busy"), "{written}");
    assert_eq!(written.matches("data: ").count(), 1);
    assert_eq!(translator.feed(&mut parser, &mut stream.as_bytes(), &mut out), Err(WriteError::Ended));
}

#[test]
fn the_stop_sequence_goes_along() {
    let stream = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m1\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"m\",\"content\":[],\"usage\":{\"input_tokens\":1,\"output_tokens\":1}}}\n\n\
        event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"a\"}}\n\n\
        event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n\
        event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"stop_sequence\",\"stop_sequence\":\"\\n\u{e9}#\"},\"usage\":{\"output_tokens\":2}}\n\n\
        event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";
    let end = "\"delta\":{\"stop_reason\":\"stop_sequence\",\"stop_sequence\":\"\\n\u{e9}#\"}";
    let direct = whole(Protocol::Anthropic, stream);
    assert!(direct.text().contains(end), "{}", direct.text());
    // In chat completions it is a member of the choice.
    let chat = whole(Protocol::Chat, stream);
    assert!(
        chat.text().contains("\"delta\":{},\"stop_sequence\":\"\\n\u{e9}#\",\"finish_reason\":null"),
        "{}",
        chat.text()
    );
    assert!(whole(Protocol::Anthropic, chat.text()).text().contains(end));
    assert_eq!([direct.left_out, chat.left_out, whole(Protocol::Responses, stream).left_out], [(0, 0), (0, 0), (1, 0)]);
}

#[test]
fn members_are_written_or_counted() {
    let delta = "\"images\":[{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:,\"}}]";
    let of_choice = "\"native_finish_reason\":\"eos\",\"content_filter_results\":{\"hate\":1}";
    let stream = format!(
        "data: {{\"id\":\"c\",\"timings\":{{}},\"choices\":[{{\"delta\":{{\"reasoning_content\":\"a\",{delta}}},{of_choice},\"finish_reason\":\"stop\"}}]}}\n\ndata: [DONE]\n\n"
    );
    let chat = whole(Protocol::Chat, &stream);
    // The name of the reasoning is that of the protocol, so nothing of it is lost.
    assert_eq!(chat.left_out, (1, 0), "timings");
    for part in [format!("\"delta\":{{{delta}}},"), "\"delta\":{},\"native_finish_reason\":\"eos\",".into()] {
        assert_eq!(chat.text().matches(&part).count(), 1, "{part} {}", chat.text());
    }
    assert_eq!(
        chat.text().matches("\"delta\":{},\"content_filter_results\":{\"hate\":1},\"finish_reason\":null").count(),
        1
    );
    for to in [Protocol::Anthropic, Protocol::Responses] {
        assert_eq!(whole(to, &stream).left_out, (4, 0), "{to}");
    }
    // An event of nobody is none of the response.
    let foreign = format!("event: vertex_event\ndata: {{\"type\":\"vertex_event\",\"a\":1}}\n\n{stream}");
    assert_eq!(whole(Protocol::Anthropic, &foreign).left_out, (4, 0));
}

/// A server may rotate the ID of the response, and the second call may come first.
#[test]
fn calls_come_in_the_order_in_which_they_appeared() {
    let call = |id: &str, index: u32, rest: &str| {
        format!("data: {{\"id\":\"{id}\",\"choices\":[{{\"delta\":{{\"tool_calls\":[{{\"index\":{index},\"function\":{{{rest}}}}}]}}}}]}}\n\n")
    };
    let stream = call("r1", 1, "\"name\":\"g\",\"arguments\":\"{}\"")
        + &call("r2", 0, "\"name\":\"f\",\"arguments\":\"{\"")
        + &call("r3", 0, "\"arguments\":\"}\"")
        + "data: [DONE]\n\n";
    for (to, word) in [(Protocol::Chat, "call"), (Protocol::Anthropic, "toolu"), (Protocol::Responses, "call")] {
        let got = whole(to, &stream);
        assert!(!got.text().contains("r2") && !got.text().contains("r3"), "{}", got.text());
        let calls = &read(&got.bytes).0[&0].calls;
        let made = |place: u32, name: &str| (format!("{word}_r1_{place}"), name.to_string(), "{}".to_string());
        assert_eq!(*calls, [made(0, "g"), made(1, "f")], "{to}");
    }
}
