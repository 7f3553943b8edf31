//! Tests every limit one below, at, and one above it, with the stream cut at each byte, on every kind of storage, by
//! pull, push and batch: what is accepted, what is reported about the rest, and that the stream continues.
#![cfg(feature = "alloc")]

use crate::common::batch;
use crate::common::event_log::{Detail, Logs};
use crate::common::log::{escaped, quoted, same};
use crate::common::made::{call_event, calls, choices, event, payload, FRAME};
use crate::common::read::{pull, push, How, Store};
use crate::common::thin::thin;
use deltawire::{Config, Growing, Limits, Parser, Quirk, Validate};

fn config(max_event_len: u32, max_id_len: u32, max_depth: u32) -> Config {
    let limits = Limits::new().with_max_event_len(max_event_len).with_max_id_len(max_id_len);
    Config::new().with_limits(limits.with_max_depth(max_depth).unwrap())
}

/// Storages large enough not to limit anything, one of each kind.
const AMPLE: [Store; 2] = [Store::Fixed(32768), Store::Growing];

/// Returns the log lines of those kinds.
fn lines(input: &[u8], store: Store, config: Config, kinds: &[&str]) -> Vec<String> {
    let all = pull(input, &How::whole(store, config)).lines();
    all.into_iter().filter(|line| kinds.contains(&line.split(' ').next().unwrap())).collect()
}

/// The kinds of log lines that show what was accepted and what was not.
const OUTCOMES: [&str; 10] =
    ["content", "too-long", "comment-too-long", "comment", "malformed", "id", "stop", "call", "last-id", "finish"];

/// Checks that the whole stream produces `wanted`, and the same in every interface, at every cut, and byte by byte.
fn check(what: &str, input: &[u8], config: Config, stores: &[Store], wanted: &[String]) {
    for &store in stores {
        assert_eq!(lines(input, store, config, &OUTCOMES), wanted, "{what}: {store:?}");
        let each: Vec<usize> = (1..input.len()).collect();
        let singles = (0..input.len()).step_by(thin()).map(|cut| vec![cut]);
        let mut first: Option<Logs> = None;
        for cuts in singles.chain([each, Vec::new()]) {
            let how = How { cuts: &cuts, detail: Detail::States, ..How::whole(store, config) };
            let (pulled, pushed) = (pull(input, &how), push(input, &how));
            let (store, can_move) = match store {
                Store::Fixed(len) => (len, false),
                Store::Growing => (24, true),
            };
            let how = batch::How {
                store,
                can_move,
                shake: can_move,
                records: 3,
                scratch: 64,
                base: 0,
                detail: Detail::Views,
            };
            let batched = batch::batch(config, input, &cuts, how);
            let context = || format!("{what}: {how:?}, cut at {cuts:?}: {}", escaped(input));
            let first = first.get_or_insert_with(|| pulled.clone());
            for (way, other) in [("pull", &pulled), ("push", &pushed), ("batch", &batched)] {
                first.across(other, way, context);
            }
            same("ranges", &first.ranges, &pulled.ranges, context);
        }
    }
}

fn content(text: &str) -> String {
    format!("content 0 \"{text}\"")
}

fn x(len: usize) -> String {
    "x".repeat(len)
}

// ---------------------------------------------------------------------------------------------------------------------
// Events

#[test]
fn event_length() {
    assert_eq!(payload("").len(), FRAME);
    const LIMIT: usize = 48;
    for len in [LIMIT - 1, LIMIT, LIMIT + 1] {
        let of = |rest: usize| payload(&x(len - rest - FRAME));
        // Each of `len` bytes: one line; a line and a name; two lines, joined by LF; CRLF line ends; with lines that do
        // not count.
        let events = [
            ("one line", format!("data: {}\n\n", of(0))),
            ("no space", format!("data:{}\n\n", of(0))),
            ("two lines", format!("data: {}\ndata\n\n", of(1))),
            ("cut by a line", of(1).replacen(',', ",\ndata:", 1).replacen('{', "data:{\ndata:", 1) + "\n\n"),
            ("CRLF", format!("data: {}\r\n\r\n", of(0))),
            ("CR", format!("data: {}\r\r", of(0))),
            ("a name", format!("event: abc\ndata: {}\n\n", of(3))),
            ("a name behind", format!("data: {}\nevent: abc\n\n", of(3))),
            ("another name", format!("event: ab\n{}\n\n", of(4).replacen('{', "data: {\nevent: abc\ndata: ", 1))),
            ("an unknown field", format!("data: {}\nunknown: {}\n\n", of(0), x(LIMIT))),
            ("continued", format!("{}\n\n", of(1).replacen('{', "data: {\n", 1))),
        ];
        for (name, event_at_limit) in events {
            let stream = format!("{}{event_at_limit}{}", event("a"), event("b"));
            let start = event("a").len();
            let sound = len <= LIMIT;
            let outcome = match name {
                "continued" | "two lines" | "cut by a line" => content(&x(len - 1 - FRAME)),
                "another name" => content(&x(len - 4 - FRAME)),
                "a name" | "a name behind" => content(&x(len - 3 - FRAME)),
                _ => content(&x(len - FRAME)),
            };
            let outcome = if sound { outcome } else { format!("too-long {start}") };
            let wanted = [content("a"), outcome, content("b")];
            let what = format!("{name}, {len} bytes");
            check(&what, stream.as_bytes(), config(LIMIT as u32, 100, 128), &AMPLE, &wanted);
            // The capacity of a storage is a limit in the same way.
            check(&what, stream.as_bytes(), config(1 << 20, 100, 128), &[Store::Fixed(LIMIT)], &wanted);
        }
    }
}

/// Before the protocol is known, an event over the limit might be one of Responses, which is reduced where it is stored.
/// An event at the limit is not, even if the storage is too small for its second line and must be moved first.
#[test]
fn length_of_a_first_event_of_several_lines() {
    const LIMIT: usize = 60;
    for len in [LIMIT - 1, LIMIT, LIMIT + 1] {
        // A blank in front, which a reduction would drop, and a LF inside.
        let text = x(len - 2 - FRAME);
        let stream = format!("data:  {}\n\n{}", payload(&text).replacen('[', "[\ndata: ", 1), event("b"));
        let outcome = if len <= LIMIT { content(&text) } else { "too-long 0".into() };
        let wanted = [outcome, content("b")];
        let what = format!("{len} bytes in two lines");
        check(&what, stream.as_bytes(), config(LIMIT as u32, 100, 128), &AMPLE, &wanted);
    }
}

/// If there is no memory for an ID between the lines of an event that must be reduced, the bytes stored so far stay as
/// they are, because the event is read again in a larger storage.
#[cfg(feature = "responses")]
#[test]
fn an_id_inside_an_event_that_repeats_the_response() {
    let item = r#"{"type":"message","content":[{"type":"output_text","text":"Hi"}]}"#;
    let delta = r#"{"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"Hi"}"#;
    let stream = format!(
        "data: {delta}\n\n\
         data:  {{\"type\":\"response.completed\",\"response\":{{\"status\":\"completed\",\"more\":\"{}\",\nid: 3\n\
         data: \"output\":[{item}]}}}}\n\n",
        x(20)
    );
    let wanted = [content("Hi"), "finish 0 \"completed\"".into(), "last-id \"3\"".into()];
    check("an ID", stream.as_bytes(), config(150, 100, 128), &AMPLE, &wanted);
}

/// The first name says that the event is one of Responses, so that it is reduced. The second name does not, and takes the
/// place of the first in the storage.
#[cfg(feature = "responses")]
#[test]
fn another_name_inside_an_event_that_repeats_the_response() {
    let stream = format!(
        "event: response.created\ndata: {{\"response\":{{\"id\":\"r\",\"more\":\"{}\",\"model\":\"{}\",\nevent: chunk\n\
         data: \"status\":\"in_progress\"}}}}\n\n{}",
        x(100),
        x(80),
        event("b")
    );
    let wanted = [content("b")];
    check("another name", stream.as_bytes(), config(180, 100, 128), &AMPLE, &wanted);
}

/// Events of Responses that repeat the whole response lose nothing that counts: what is left of one of them is the limit.
#[cfg(feature = "responses")]
#[test]
fn length_of_an_event_that_repeats_the_response() {
    let usage = format!(r#"{{"input_tokens":3,"more":"{}"}}"#, x(200));
    let delta = |text: &str| {
        format!(r#"data: {{"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"{text}"}}"#)
    };
    let item = |text: &str| format!(r#"{{"type":"message","content":[{{"type":"output_text","text":"{text}"}}]}}"#);
    let done =
        |text: &str| format!(r#"data: {{"type":"response.output_item.done","output_index":0,"item":{}}}"#, item(text));
    let last = |extra: &str, output: &str| {
        format!(
            r#"{{"type":"response.completed", "response" : {{"id":"r","instructions":"\"]}}\\","tools":[{{"a":{extra}}}],
"output":[{output}] ,"status":"completed" , "usage":{usage}}}, "x":[]}}"#
        )
        .replace('\n', "")
    };
    // What is left of it.
    let left =
        format!(r#"{{"type":"response.completed","response":{{"id":"r","status":"completed","usage":{usage}}}}}"#)
            .len();
    let finish = "finish 0 \"completed\"".to_string();
    let skipped = format!("[{},-1.5e3,null]", "[{}],".repeat(60).trim_end_matches(','));
    let begin = format!("{}\n\n{}\n\n", delta("He"), done("He"));
    let long = item(&x(90));
    let both = format!("{},{long}", item("a"));
    // The status and the usage before the output: they count no less.
    let turned = |event: String, output: &str| {
        let rest = format!(r#""status":"completed" , "usage":{usage}"#);
        let event = event.replace(&format!(" ,{rest}"), "");
        event.replace(&format!(r#""output":[{output}]"#), &format!(r#"{rest},"output":[{output}]"#))
    };
    let last_turned = turned(last(&skipped, &both), &both);
    assert!(last_turned.contains(r#"},"output""#));
    let too_long = format!("too-long {}", begin.len());
    // As many items as were reported, and one more.
    let needs = [
        (last(&skipped, &item("He")), vec![finish.clone()]),
        (last(&skipped, &long), vec![finish.clone()]),
        (last(&skipped, &both), vec![too_long.clone(), finish.clone()]),
        (last_turned, vec![too_long.clone(), finish.clone()]),
    ];
    for (event, end) in needs {
        assert!(event.len() > left + 200);
        for (ends, name) in [("\n", ""), ("\r\n", "event: response.completed")] {
            let fits = left + name.strip_prefix("event: ").map_or(0, str::len);
            let name = if name.is_empty() { String::new() } else { format!("{name}{ends}") };
            let stream = format!("{begin}{name}data: {event}{ends}{ends}");
            let what = format!("{fits} bytes are left{name}");
            let wanted = [vec![content("He")], end.clone()].concat();
            check(&what, stream.as_bytes(), config(fits as u32, 100, 128), &AMPLE, &wanted);
            let less = [content("He"), too_long.clone()];
            check(&what, stream.as_bytes(), config(fits as u32 - 1, 100, 128), &AMPLE, &less);
        }
    }
}

/// Events that the memo recognizes except for their length.
#[test]
fn length_of_remembered_events() {
    const LIMIT: usize = FRAME + 20;
    for len in [19, 20, 21] {
        let stream = event("a").repeat(3) + &event(&x(len)) + &event("b");
        let outcome = if len <= 20 { content(&x(len)) } else { format!("too-long {}", 3 * event("a").len()) };
        let wanted = [content("a"), content("a"), content("a"), outcome, content("b")];
        check("known", stream.as_bytes(), config(LIMIT as u32, 100, 128), &AMPLE, &wanted);
        check("known", stream.as_bytes(), config(1 << 20, 100, 128), &[Store::Fixed(LIMIT)], &wanted);
    }
}

/// JSON without `data:`: the limit applies to each value.
#[test]
fn length_of_raw_json() {
    const LIMIT: usize = FRAME + 10;
    for len in [9, 10, 11] {
        let (short, long) = (payload("a"), payload(&x(len)));
        for (name, stream, start) in [
            ("lines", format!("{short}\n{long}\n{short}\n"), short.len() + 1),
            ("one line", format!("{short}{long}{short}"), short.len()),
            ("an array", format!("[{short},\n{long},{short}]"), short.len() + 3),
            ("between events", format!("{}{long}\n{}", event("a"), event("a")), event("a").len()),
        ] {
            let outcome = if len <= 10 { content(&x(len)) } else { format!("too-long {start}") };
            let wanted = [content("a"), outcome, content("a")];
            check(name, stream.as_bytes(), config(LIMIT as u32, 100, 128), &AMPLE, &wanted);
            check(name, stream.as_bytes(), config(1 << 20, 100, 128), &[Store::Fixed(LIMIT)], &wanted);
        }
    }
}

#[test]
fn comment_length() {
    const LIMIT: usize = FRAME + 10;
    let limits = config(LIMIT as u32, 100, 128);
    for len in [LIMIT - 1, LIMIT, LIMIT + 1] {
        // Alone, and inside an event, which leaves 9 bytes.
        let outcome = |start: usize, at: usize, len: usize, most: usize| match len <= most {
            true => format!("comment {start}..{} \"{}\"", at, x(len)),
            false => format!("comment-too-long {start}"),
        };
        let stream = format!(":{}\n{}", x(len), event("a"));
        let wanted = [outcome(0, len + 2, len, LIMIT), content("a")];
        check("a comment", stream.as_bytes(), limits, &AMPLE, &wanted);
        check("a comment", stream.as_bytes(), config(1 << 20, 100, 128), &[Store::Fixed(LIMIT)], &wanted);
        let len = len + 9 - LIMIT;
        let line = format!("data: {}\n", payload("a"));
        let stream = format!("{line}: {}\n\n{}", x(len), event("b"));
        let wanted = [outcome(line.len(), line.len() + len + 3, len, 9), content("a"), content("b")];
        check("in an event", stream.as_bytes(), limits, &AMPLE, &wanted);
        check("in an event", stream.as_bytes(), config(1 << 20, 100, 128), &[Store::Fixed(LIMIT)], &wanted);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// IDs

#[test]
fn id_length() {
    for len in [7, 8, 9] {
        let id = "i".repeat(len);
        let stream = format!("id: old\n\nid: {id}\n{}id:{id}\n\n{}", event("a"), event("b"));
        let second = 9 + 5 + len + event("a").len();
        let mut wanted = vec!["id 0..9 \"old\"".to_string(), content("a"), content("b")];
        let last = if len <= 8 { &id } else { "old" };
        if len <= 8 {
            wanted.insert(2, format!("id {second}..{} \"{id}\"", second + len + 5));
        }
        wanted.push(format!("last-id \"{last}\""));
        check("an ID", stream.as_bytes(), config(1 << 20, 8, 128), &AMPLE, &wanted);
        let mut parser = Parser::with_config([0; 256], config(1 << 20, 8, 128));
        let mut input = stream.as_bytes();
        while parser.next(&mut input).unwrap().is_some() {}
        assert_eq!(parser.quirk_count(Quirk::LongId), if len <= 8 { 0 } else { 2 });
    }
    // The storage must hold it three times: the last ID, the next, and the one being read.
    for len in [15, 16, 17] {
        let id = "i".repeat(len);
        let stream = format!("id: {id}\n\n: c\n\n");
        let end = len + 6;
        let mut wanted = vec![format!("comment {end}..{} \"c\"", end + 4)];
        if len <= 16 {
            wanted.insert(0, format!("id 0..{end} \"{id}\""));
            wanted.push(format!("last-id \"{id}\""));
        }
        check("an ID in 48 bytes", stream.as_bytes(), config(1 << 20, 100, 128), &[Store::Fixed(48)], &wanted);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Depth

#[test]
fn depth() {
    // The depth of each payload, and the offset of the bracket that is too deep.
    let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    for (max, lenient) in [(5, true), (5, false), (9, true)] {
        for depth in [max - 1, max, max + 1] {
            let skipped = format!("{{\"x\":{},\"choices\":[{{\"delta\":{{\"content\":\"a\"}}}}]}}", nested(depth - 1));
            let usage = format!(
                "{{\"choices\":[{{\"delta\":{{\"content\":\"a\"}}}}],\"usage\":{{\"a\":{}}}}}",
                nested(depth - 2)
            );
            let objects = format!(
                "{{\"choices\":[{{\"delta\":{{\"content\":\"a\"}},\"b\":{}0{}}}]}}",
                "{\"c\":".repeat(depth - 3),
                "}".repeat(depth - 3)
            );
            let faults = [
                ("skipped", &skipped, 5 + max - 1),
                ("usage", &usage, usage.find("\"a\":[").unwrap() + 4 + max - 2),
                ("objects", &objects, objects.find("\"b\":").unwrap() + 4 + 5 * (max - 3)),
            ];
            for (name, payload, fault) in faults {
                // More repetitions than the memo needs, so that it recognizes the payload if that is valid.
                let stream = format!("data: {payload}\n\n").repeat(3) + &event("b");
                let len = payload.len() + 8;
                let mut wanted: Vec<String> = (0..3)
                    .map(|n| match depth <= max {
                        true => content("a"),
                        false => {
                            let payload = quoted(payload.as_bytes());
                            format!("malformed {}..{} {payload} TooDeep at {fault}", n * len, (n + 1) * len)
                        }
                    })
                    .collect();
                wanted.push(content("b"));
                let validate = if lenient { Validate::Lazy } else { Validate::Strict };
                let config = config(1 << 20, 100, max as u32).with_validate(validate);
                check(&format!("{name}, {depth} of {max}"), stream.as_bytes(), config, &AMPLE, &wanted);
            }
        }
    }
}

/// A remembered shape whose hole nests deeper than allowed.
#[test]
fn depth_in_remembered_events() {
    const MAX: usize = 7;
    for depth in [MAX - 1, MAX, MAX + 1] {
        let of = |depth: usize| {
            let nested = "[".repeat(depth - 2) + &"]".repeat(depth - 2);
            format!("{{\"choices\":[{{\"delta\":{{\"content\":\"a\"}}}}],\"usage\":{{\"a\":{nested}}}}}")
        };
        let front = format!("data: {}\n\n", of(3)).repeat(4);
        let stream = format!("{front}data: {}\n\ndata: {}\n\n", of(depth), of(3));
        let end = front.len() + of(depth).len() + 8;
        let fault = of(depth).find("\"a\":[").unwrap() + 4 + MAX - 2;
        let payload = quoted(of(depth).as_bytes());
        let malformed = format!("malformed {}..{end} {payload} TooDeep at {fault}", front.len());
        let mut wanted = vec![content("a"); 6];
        if depth > MAX {
            wanted[4] = malformed;
        }
        check("known", stream.as_bytes(), config(1 << 20, 100, MAX as u32), &AMPLE, &wanted);
    }
}

/// The default, and the maximum for any larger request.
#[test]
fn default_and_maximum_depth() {
    for max in [1025, u32::MAX] {
        assert_eq!(Limits::new().with_max_depth(max), None, "it is refused");
    }
    for (max, effective) in [(128, 128), (1024, 1024)] {
        for validate in [Validate::Lazy, Validate::Strict] {
            for depth in [effective - 1, effective, effective + 1] {
                let nested = "[".repeat(depth - 1) + &"]".repeat(depth - 1);
                let payload = format!("{{\"x\":{nested},\"choices\":[{{\"delta\":{{\"content\":\"a\"}}}}]}}");
                let stream = format!("data: {payload}\n\n{}", event("b"));
                let config = config(1 << 20, 100, max).with_validate(validate);
                let outcome = match depth <= effective {
                    true => content("a"),
                    false => {
                        let payload = quoted(payload.as_bytes());
                        format!(
                            "malformed 0..{} {payload} TooDeep at {}",
                            stream.len() - event("b").len(),
                            4 + effective
                        )
                    }
                };
                let wanted = [outcome, content("b")];
                let each = (1..stream.len()).collect();
                let singles = (0..stream.len()).step_by(thin()).map(|cut| vec![cut]);
                for cuts in singles.chain([vec![3 + effective], each]) {
                    let how = How { cuts: &cuts, ..How::whole(Store::Growing, config) };
                    let all = pull(stream.as_bytes(), &how).lines();
                    let outcomes: Vec<_> = all
                        .into_iter()
                        .filter(|line| line.starts_with("content") || line.starts_with("malformed"))
                        .collect();
                    assert_eq!(outcomes, wanted, "{depth} of {max}, {validate:?}, cut at {cuts:?}");
                }
            }
        }
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Choices and tool calls

/// Eight by default: a ninth is reported as a limit and skipped, and the others continue.
#[test]
fn number_of_choices() {
    for number in [7, 8, 9] {
        let each: String = (0..number).map(|index| choices(index, index + 1)).collect();
        for (name, stream) in [("at once", choices(0, number)), ("one by one", each)] {
            let stream = stream + &choices(0, 1);
            let last = stream.len()
                - choices(0, 1).len()
                - if name == "at once" { choices(0, number).len() } else { choices(8, 9).len() };
            let mut wanted: Vec<String> =
                (0..number.min(8)).map(|index| format!("content {index} \"c{index}\"")).collect();
            if number > 8 {
                wanted.push(format!("stop TooManyChoices of 8 at {last}"));
            }
            wanted.push("content 0 \"c0\"".to_string());
            check(name, stream.as_bytes(), Config::default(), &AMPLE, &wanted);
        }
    }
}

/// 32 by default, in all choices together. Calls that are open continue.
#[test]
fn number_of_calls() {
    let opened = |choice, place, index| format!("call {choice} #{place} index={index} opens id=\"c{index}\"");
    for number in [31, 32, 33] {
        let each: String = (0..number).map(|index| calls(0, index, index + 1)).collect();
        let in_two = calls(0, 0, 16) + &calls(1, 16, number);
        for (name, stream) in [("at once", calls(0, 0, number)), ("one by one", each), ("in two choices", in_two)] {
            let start = match name {
                "at once" => 0,
                "one by one" => stream.len() - calls(0, 32, 33).len(),
                _ => calls(0, 0, 16).len(),
            };
            let place = |index: usize| match name {
                "in two choices" => (index / 16, index % 16),
                _ => (0, index),
            };
            let mut wanted: Vec<String> = (0..number.min(32))
                .map(|index| {
                    let (choice, at) = if index == 32 { (1, 16) } else { place(index) };
                    opened(choice, at, index)
                })
                .collect();
            if number > 32 {
                wanted.push(format!("stop TooManyCalls of {} at {start}", usize::from(name == "in two choices")));
            }
            wanted.push("content 0 \"a\"".to_string());
            let stream = stream + &event("a");
            check(name, stream.as_bytes(), Config::default(), &AMPLE, &wanted);
        }
    }
}

/// Indexes are below 2^32 - 1. The verdict distinguishes choices up to 126 apart, and counts all others together.
#[test]
fn indexes() {
    for (index, sound) in [(u64::from(u32::MAX) - 1, true), (u64::from(u32::MAX), false), (1 << 32, false)] {
        let choice = format!("data: {{\"choices\":[{{\"index\":{index},\"delta\":{{\"content\":\"a\"}}}}]}}\n\n");
        let stream = format!("{choice}{}{}", call_event(index), event("b"));
        let mut wanted = match sound {
            true => vec![format!("content {index} \"a\""), format!("call 0 #0 index={index} opens id=\"c{index}\"")],
            false => vec!["stop BadIndex at 0".to_string(), format!("stop BadIndex of 0 at {}", choice.len())],
        };
        wanted.push(content("b"));
        check("an index", stream.as_bytes(), Config::default(), &AMPLE, &wanted);
    }
    for (last, seen) in [(125, 126), (126, 127), (127, 128), (128, 128), (1000, 128)] {
        let stream = choices(0, last + 1);
        let mut parser = Parser::with_config(Growing::new(), Config::default());
        for mut byte in stream.as_bytes().chunks(1) {
            assert!(parser.next(&mut byte).unwrap().is_none() || byte.is_empty());
        }
        assert_eq!(parser.end().choices_seen, seen);
    }
}
