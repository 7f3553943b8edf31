//! The work is linear: however the bytes are cut, each is visited at most a fixed number of times. The tests count
//! visits ([`visits`](crate::visits)) rather than time.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]
extern crate std;

use super::{Config, Emitter, Machine, Outcome, Parser, Pulled, Record, Records, Validate};
use crate::chat::Update;
use crate::delta::Kind;
use crate::visits;
use crate::{Error, Flow, Handler, Limits, Stop, Storage};
use std::format;
use std::println;
use std::string::String;
use std::vec;
use std::vec::Vec;

#[allow(unreachable_pub)]
#[path = "../../tests/common/thin.rs"]
mod thin;

/// The bytes of `count` MiB, divided by `DELTAWIRE_THIN`.
fn mib(count: usize) -> usize {
    (count << 20) / thin::thin()
}

/// The most visits of a byte of one long event whose texts are read: by the search for the line end, the copy if the
/// event was cut, the pass, the comparison with templates, and the reader of the texts.
const EVENT: f64 = 6.0;

/// The most visits of such a byte with strict validation.
const STRICT: f64 = 9.0;

/// The most visits of a byte of events and lines of a few bytes, because a kernel loads 16 or 64 bytes to look at one.
const FLOOD: f64 = 24.0;

/// The most visits of a byte of the shortest raw JSON values on one line, because the line end is searched for in
/// [`NEAR`](super::machine) bytes at each value.
const VALUES: f64 = 40.0;

/// The most visits of a byte of one chunk with many tool calls whose records are written one at a time.
const RECORDS: f64 = 10.0;

/// The most visits of a byte of short parts of other protocols' events, because each part is walked a few times, also to
/// judge the types of its members.
#[cfg(feature = "dialects")]
const NATIVE: f64 = 60.0;

/// Reads the texts, piece by piece.
#[derive(Default)]
struct Reader {
    sum: usize,
    buffer: Vec<u8>,
}

impl Reader {
    fn text(&mut self, mut text: crate::json::Text<'_>) {
        self.buffer.resize(4096, 0);
        while !text.is_empty() {
            self.sum += text.take_to(&mut self.buffer);
        }
    }
}

impl Handler for Reader {
    fn update(&mut self, _choice: u32, update: crate::Update<'_>) -> Flow {
        if let crate::Update::Content(text) = update {
            self.text(text);
        }
        Flow::Continue(())
    }
}

/// How a stream is read.
#[derive(Clone, Copy, Debug, PartialEq)]
enum By {
    Pull,
    /// Pull events, without reading their texts.
    PullUnread,
    Push,
}

fn read<const SLOTS: usize, S: Storage>(by: By, bytes: &[u8], size: usize, config: Config, storage: S) -> usize {
    let mut reader = Reader::default();
    let mut parser = Parser::<_, SLOTS, _>::with_slots(storage, config, crate::track::Tracker::<8, 32>::new());
    let take = |reader: &mut Reader, event: Pulled<'_>| {
        reader.sum += 1;
        if by == By::Pull {
            for (_, update) in event.deltas() {
                if let Update::Content(text) = update {
                    reader.text(text);
                }
            }
        }
    };
    for mut piece in bytes.chunks(size) {
        if by == By::Push {
            // A full table also stops the parser.
            loop {
                let fed = parser.feed(piece, &mut reader);
                piece = &piece[fed.consumed..];
                match fed.stop {
                    None => break,
                    Some(stop) => assert!(matches!(stop, Stop::Error(Error::TooManyCalls { .. })), "{stop:?}"),
                }
            }
            continue;
        }
        while let Some(event) = parser.next(&mut piece).transpose() {
            // A full table does not stop the stream.
            let _ = event.map(|event| take(&mut reader, event));
        }
    }
    if by == By::Push {
        while parser.finish_into(&mut reader).is_err() {}
    } else {
        while let Some(event) = parser.finish().transpose() {
            let _ = event.map(|event| take(&mut reader, event));
        }
    }
    assert_eq!(parser.offset(), bytes.len() as u64);
    reader.sum
}

/// Asserts that no way of reading visits a byte more than `bound` times.
fn visits(name: &str, bytes: &[u8], sizes: &[usize], config: Config, bound: f64) {
    let mut memory = vec![0; bytes.len() + 4096];
    for &size in sizes {
        let mut row = String::new();
        for by in [By::PullUnread, By::Pull, By::Push] {
            let given = &mut memory[..];
            let (without, off) = visits::during(|| read::<0, _>(by, bytes, size, config, &mut *given));
            let (with, on) = visits::during(|| read::<4, _>(by, bytes, size, config, &mut *given));
            assert_eq!(without, with, "{name}");
            let each = |visits: u64| visits as f64 / bytes.len() as f64;
            row += &format!("  {by:?} {:.2} {:.2}", each(off), each(on));
            assert!(each(off) >= 0.9, "{name}: {by:?} in reads of {size}: nothing was counted");
            let most = each(off).max(each(on));
            assert!(most <= bound, "{name}: {by:?} in reads of {size}: {most:.2} visits a byte, over {bound}");
            #[cfg(feature = "alloc")]
            if by == By::Pull {
                let growing = crate::Growing::new;
                let (_, visits) = visits::during(|| read::<4, _>(by, bytes, size, config, growing()));
                row += &format!("  growing {:.2}", each(visits));
                assert!(each(visits) <= bound, "{name}: growing in reads of {size}: {:.2} visits a byte", each(visits));
            }
        }
        println!("{name}, {} bytes in reads of {size}: visits a byte, memo off and on:{row}", bytes.len());
    }
}

fn limits() -> Config {
    Config { limits: Limits { max_event_len: 16 << 20, ..Limits::DEFAULT }, ..Config::default() }
}

/// Two events, a long event of the same shape, and one more event.
fn stream(content: &str, logprobs: &str) -> Vec<u8> {
    let event = |content: &str, logprobs: &str| {
        format!(
            "data: {{\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[{{\
             \"index\":0,\"delta\":{{\"content\":\"{content}\"}},\"logprobs\":{{\"content\":[{logprobs}]}},\
             \"finish_reason\":null}}]}}\n\n"
        )
    };
    let short = event(" the", "{}");
    [short.clone(), short.clone(), event(content, logprobs), short].concat().into_bytes()
}

#[test]
fn a_long_event_costs_no_more_than_its_bytes() {
    let token = "{\"token\":\" the\",\"logprob\":-0.25,\"bytes\":[32,116],\"top_logprobs\":[[{}],[{}]]},";
    let sizes = [1, 1460, usize::MAX];
    for (name, bytes) in [
        ("a text", stream(&"a".repeat(mib(8)), "")),
        ("log probabilities", stream("a", &(token.repeat(mib(8) / token.len()) + "{}"))),
    ] {
        assert!(bytes.len() > mib(8) - 100);
        visits(name, &bytes, &sizes, limits(), EVENT);
        let strict = Config { validate: Validate::Strict, ..limits() };
        visits(&format!("{name}, strict"), &bytes, &sizes[1..], strict, STRICT);
    }
    for (name, content) in [("escapes", "\\n"), ("quotes", "\\\"a"), ("letters", "é"), ("halves", "\\ud83d")] {
        let bytes = stream(&content.repeat(mib(1) / content.len()), "");
        visits(name, &bytes, &[1, 1460, usize::MAX], limits(), FLOOD);
    }
}

/// The same bound holds for an event over the limit that is reduced.
#[cfg(feature = "responses")]
#[test]
fn an_event_that_repeats_the_response_is_reduced_in_linear_time() {
    let limits = Config::new().with_limits(Limits::new().with_max_event_len(4096));
    let event = |members: &str| {
        format!(
            "data: {{\"type\":\"response.completed\",\"response\":{{\"id\":\"r\",{members},\"status\":\"completed\"}}}}\n\n"
        )
    };
    let count = mib(1);
    for (name, bytes) in [
        ("a text", event(&format!("\"instructions\":\"{}\"", "a\\\"".repeat(count / 3)))),
        ("tools", event(&format!("\"tools\":[{}0]", "{\"a\":[1]},".repeat(count / 10)))),
        ("members", event(&format!("{}\"x\":0", "\"a\":1,".repeat(count / 6)))),
        ("items", event(&format!("\"output\":[{}0]", "{\"a\":[1]},".repeat(count / 10)))),
    ] {
        visits(name, bytes.as_bytes(), &[1, 1460, usize::MAX], limits, FLOOD);
    }
}

/// A template visits each byte once, so this shows that the templates are used.
#[test]
fn a_recognized_event_is_visited_once() {
    let bytes = stream(&"a".repeat(1 << 20), "");
    let mut memory = vec![0; bytes.len()];
    let given = &mut memory[..];
    let mut each = |slots: usize| {
        let (_, visits) = visits::during(|| match slots {
            0 => read::<0, _>(By::PullUnread, &bytes, usize::MAX, limits(), &mut *given),
            _ => read::<1, _>(By::PullUnread, &bytes, usize::MAX, limits(), &mut *given),
        });
        visits as f64 / bytes.len() as f64
    };
    let (off, on) = (each(0), each(1));
    println!("visits a byte of a text: {off:.2} without the memo, {on:.2} with it");
    assert!(off >= 2.0 && on <= 1.1, "{off} {on}");
}

/// Many events have an object without its end in a hole.
#[test]
fn the_value_of_a_hole_is_searched_only_up_to_its_line_end() {
    let good = "data: {\"choices\":[],\"usage\":{\"a\":1}}\n\n";
    let open = format!("data: {{\"choices\":[],\"usage\":{{\n\ndata: {}\n\n", "x".repeat(1000));
    let bytes = (good.repeat(3) + &open.repeat(14)).repeat(64).into_bytes();
    visits("objects that never close", &bytes, &[1460, usize::MAX], Config::default(), EVENT);
}

/// Events that are too large for a template cost little more, because the memo tries to learn them less and less often.
#[test]
fn events_that_cannot_be_learned_are_rarely_tried() {
    let fingerprint = "f".repeat(2000);
    let event = format!(
        "data: {{\"choices\":[{{\"delta\":{{\"content\":\"a\"}}}}],\"system_fingerprint\":\"{fingerprint}\"}}\n\n"
    );
    let bytes = event.repeat((1 << 20) / event.len()).into_bytes();
    let mut memory = vec![0; bytes.len()];
    let given = &mut memory[..];
    let (_, off) = visits::during(|| read::<0, _>(By::PullUnread, &bytes, usize::MAX, limits(), &mut *given));
    let (_, on) = visits::during(|| read::<2, _>(By::PullUnread, &bytes, usize::MAX, limits(), &mut *given));
    println!("too large to be remembered: {off} visits without the memo, {on} with it");
    assert!(on <= off + off / 10, "{off} {on}");
}

#[test]
fn a_flood_costs_no_more_than_its_bytes() {
    for flood in [
        "\n",
        "\r\n",
        ":\n",
        ": ping\n",
        "data\n",
        "data: \n",
        "id: 1\n",
        "id: 1\n\n",
        "event: e\n",
        "x\n",
        "x",
        "[",
        "[ ",
        "{",
        "{}\n",
        "{\"a\":",
        "data: {}\n\n",
        "data: [[[[\n\n",
        "data: {\"choices\":[]}\n\n",
        "data: {\"choices\":[\n",
        "data: 1\r",
        "data: \"\n\n",
    ] {
        let bytes = flood.repeat(mib(1) / flood.len()).into_bytes();
        visits(&format!("{flood:?}"), &bytes, &[1, 1460, usize::MAX], limits(), FLOOD);
    }
    for len in [50, 100, 600, 5000, 1 << 20] {
        let value = format!("{{\"a\":\"{}\"}}", "x".repeat(len));
        let bytes = value.repeat(mib(1) / value.len() + 1).into_bytes();
        visits(&format!("values of {len} bytes on one line"), &bytes, &[1460, usize::MAX], limits(), EVENT + 6.0);
    }
    let values = b"{}".repeat(mib(1) / 2);
    visits("values on one line", &values, &[1, 1460, usize::MAX], limits(), VALUES);
    assert_eq!(read::<2, _>(By::PullUnread, &values, usize::MAX, limits(), [0; 64]), mib(1) / 2);
    for (head, flood) in
        [("data: ", "["), ("data: ", " "), ("data: {", " "), ("[", " "), ("data: {\"", "\\"), (":", "x")]
    {
        let bytes = [head, &flood.repeat(mib(8))].concat().into_bytes();
        visits(&format!("{head:?} {flood:?}"), &bytes, &[1460, usize::MAX], limits(), FLOOD);
    }
}

/// If a chunk with many tool calls is written one record at a time, no call is walked again for the next.
#[test]
fn small_arrays_walk_nothing_twice() {
    for calls in [100, 1000, 16_000] {
        let call = |call| format!("{{\"index\":0,\"function\":{{\"arguments\":\"\\u0041{call}\"}}}}");
        // All fragments are of one call, so that no table is full.
        let calls: Vec<String> = (0..calls).map(call).collect();
        let stream =
            format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"tool_calls\":[{}]}}}}]}}\n\n", calls.join(","));
        for cut in [0, stream.len() / 2] {
            let mut memory = vec![0; stream.len()];
            let (arguments, visits) = visits::during(|| by_single_records(stream.as_bytes(), cut, &mut memory));
            let each = visits as f64 / stream.len() as f64;
            println!("{} calls, a record at a time: {each:.2} visits a byte", calls.len());
            assert_eq!(arguments, calls.len());
            assert!((0.9..=RECORDS).contains(&each), "{} calls: {each:.2} visits a byte", calls.len());
        }
    }
}

/// Reads with an array of one record. Returns how many fragments of arguments came.
fn by_single_records(bytes: &[u8], cut: usize, memory: &mut [u8]) -> usize {
    let (mut machine, mut batch) = (Machine::<2>::with_slots(limits()), Emitter::new());
    let mut tracker = crate::track::Tracker::<8, 32>::new();
    let mut storage = crate::Movable::new(memory, false);
    let (mut record, mut scratch) = ([Record::default()], [0; 64]);
    let mut arguments = 0;
    let (front, back) = bytes.split_at(cut);
    for mut piece in [front, back] {
        loop {
            let mut sink = Records::new(&mut record, &mut scratch, Kind::DEFAULT);
            let (spent, filled) = batch.run(&mut machine, &mut storage, &mut tracker, piece, 0, &mut sink);
            let written = sink.written();
            arguments += record[..written].iter().filter(|record| record.kind == Kind::ToolArguments as u16).count();
            piece = &piece[spent..];
            match filled {
                Outcome::Done => break,
                Outcome::Full => {}
                filled => panic!("{filled:?}"),
            }
        }
        assert!(piece.is_empty());
    }
    arguments
}

/// Streams of other protocols, each with `count` of the things that it may repeat.
#[cfg(feature = "dialects")]
fn native_shapes(count: usize) -> Vec<(&'static str, String)> {
    let list = |item: &dyn Fn(usize) -> String| (0..count).map(item).collect::<Vec<_>>().join(",");
    let events =
        |item: &dyn Fn(usize) -> String| -> String { (0..count).map(|at| format!("data: {}\n\n", item(at))).collect() };
    let gemini = |parts: String| format!("{{\"candidates\":[{{\"content\":{{\"parts\":[{parts}]}}}}]}}");
    let call = |at: usize| {
        format!("{{\"type\":\"function_call\",\"call_id\":\"c{at}\",\"name\":\"f\",\"arguments\":\"{{}}\"}}")
    };
    let message = |parts: &str| format!("{{\"type\":\"message\",\"content\":[{parts}]}}");
    let part = |at: usize| format!("{{\"type\":\"output_text\",\"text\":\"{at}\"}}");
    let summary = |at: usize| format!("{{\"type\":\"summary_text\",\"text\":\"{at}\"}}");
    let completed = |output: String| {
        format!("data: {{\"type\":\"response.completed\",\"response\":{{\"status\":\"completed\",\"output\":[{output}]}}}}\n\n")
    };
    let text = |at: usize| format!("{{\"text\":\"a{at}\"}}");
    let block = |at: usize| match at % 3 {
        0 => format!("{{\"type\":\"text\",\"text\":\"{at}\"}}"),
        1 => format!("{{\"type\":\"server_tool_use\",\"id\":\"{at}\"}}"),
        _ => format!("{{\"type\":\"tool_use\",\"id\":\"{at}\",\"name\":\"f\",\"input\":{{\"a\":{at}}}}}"),
    };
    std::vec![
        ("an array of large candidates", {
            let large = gemini(format!("{{\"text\":\"{}\"}}", "a".repeat(60 * count)));
            format!("[{large}\n,\r\n{large},{large}]")
        }),
        ("an array of candidates", format!("[{}]", list(&|at| gemini(text(at))))),
        ("parts", format!("data: {}\n\n", gemini(list(&text)))),
        ("signed parts", format!("data: {}\n\n", gemini(list(&|at| format!("{{\"thoughtSignature\":\"{at}\"}}"))))),
        (
            "candidates",
            format!(
                "data: {{\"candidates\":[{}]}}\n\n",
                list(&|at| format!("{{\"index\":{},\"content\":{{\"parts\":[{}]}}}}", at % 8, text(at)))
            )
        ),
        (
            "function calls",
            format!(
                "data: {}\n\n",
                gemini(list(&|at| format!("{{\"functionCall\":{{\"name\":\"f{at}\",\"args\":{{}}}}}}")))
            )
        ),
        (
            "pieces of arguments",
            events(&|at| {
                gemini(format!("{{\"functionCall\":{{\"partialArgs\":[{{\"jsonPath\":\"$.a{at}\",\"numberValue\":1}}],\"willContinue\":true}}}}"))
            })
        ),
        ("items of one event", completed(list(&|at| message(&part(at))))),
        ("calls of one event", completed(list(&call))),
        ("parts of one item", completed(message(&list(&part)))),
        ("summaries of one item", completed(format!("{{\"type\":\"reasoning\",\"summary\":[{}]}}", list(&summary)))),
        (
            "parts of an item that is done",
            format!(
                "data: {{\"type\":\"response.output_item.done\",\"output_index\":0,\"item\":{}}}\n\n",
                message(&list(&part))
            )
        ),
        (
            "items",
            events(&|at| format!(
                "{{\"type\":\"response.output_item.done\",\"output_index\":{at},\"item\":{}}}",
                message(&part(at))
            ))
        ),
        (
            "blocks of a body",
            format!("{{\"type\":\"message\",\"content\":[{}],\"stop_reason\":\"end_turn\"}}", list(&block))
        ),
        (
            "blocks of a start",
            format!("data: {{\"type\":\"message_start\",\"message\":{{\"content\":[{}]}}}}\n\n", list(&block))
        ),
        (
            "blocks",
            events(&|at| format!(
                "{{\"type\":\"content_block_start\",\"index\":{at},\"content_block\":{}}}",
                block(at)
            ))
        ),
    ]
}

/// How often a byte is visited does not depend on how many parts an event of another protocol has, or how many events a
/// stream.
#[cfg(feature = "dialects")]
#[test]
fn other_protocols_walk_nothing_twice() {
    for count in [100, 20_000 / thin::thin().min(20)] {
        for (name, stream) in native_shapes(count) {
            let bytes = stream.as_bytes();
            visits(&format!("{count} {name}"), bytes, &[1460, usize::MAX], limits(), NATIVE);
            let strict = Config { validate: Validate::Strict, ..limits() };
            visits(&format!("{count} {name}, strict"), bytes, &[usize::MAX], strict, NATIVE + STRICT);
            let mut memory = vec![0; bytes.len() + 4096];
            let (_, single) = visits::during(|| by_single_records(bytes, bytes.len() / 2, &mut memory));
            let each = single as f64 / bytes.len() as f64;
            println!("{count} {name}, a record at a time: {each:.2} visits a byte");
            assert!((0.9..=NATIVE).contains(&each), "{count} {name}, a record at a time: {each:.2} visits a byte");
        }
    }
}
