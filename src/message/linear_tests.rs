//! The work on a message is linear in the length of its stream, whatever its tables contain: members, names, IDs, calls,
//! choices and lists. The tests fill each table, with the longest entries that the limits allow, and then send the
//! shortest things that are looked up in it. They count visits ([`visits`](crate::visits)) rather than time.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

extern crate std;
use super::{Assembler, Detail, LogError};
use crate::hash::{fnv, fnv_after};
use crate::track::Tracker;
use crate::{visits, Config, Growing, Limits, Parser};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use std::collections::HashMap;

/// The most visits of a byte by a parser, a tracker and a log. A row of a table counts as a byte, and each table has at
/// most a few hundred rows.
const TABLES: f64 = 300.0;

/// The most visits of a byte of a stream with as many choices and calls as there is room for, when the message is read,
/// because the log is read once for each text.
const READING: f64 = 2600.0;

/// How many members, choices and calls fill the tables.
const MEMBERS: usize = 250;
const CHOICES: usize = 128;
const CALLS: usize = 256;

/// The lengths of streams for which a search must be so long that its limit counts.
const LONG: [usize; 2] = [1 << 18, 1 << 20];

/// Writes `payloads` as events until they have `len` bytes.
fn events(len: usize, mut payload: impl FnMut(usize) -> String) -> String {
    let mut stream = String::new();
    for at in 0.. {
        if stream.len() >= len {
            break;
        }
        stream += &format!("data: {}\n\n", payload(at));
    }
    stream
}

/// Writes events of many `items`, with commas between them, until they have `len` bytes.
fn lists(len: usize, item: &str, payload: impl Fn(&str) -> String) -> String {
    let items = alloc::vec![item; 4096.min(len) / item.len() + 1].join(",");
    events(len, |_| payload(&items))
}

/// Visits of a byte while a stream is read: to assemble the message, and to read it as JSON and as a completion.
fn work(stream: &str, pushes: bool) -> (f64, f64) {
    let config = Config::new().with_limits(Limits::new().with_max_event_len(16 << 20));
    let (assembler, writing) = visits::during(|| {
        let mut assembler = Assembler::new();
        if pushes {
            let tracker = Tracker::<CHOICES, CALLS>::new();
            let mut parser = Parser::<_, 2, _>::with_slots(Growing::new(), config, tracker);
            // A full table also stops the parser.
            let mut input = stream.as_bytes();
            loop {
                let fed = parser.feed(input, &mut assembler);
                input = &input[fed.consumed..];
                if fed.stop.is_none() {
                    break;
                }
            }
            while parser.finish_into(&mut assembler).is_err() {}
        } else {
            let mut parser = Parser::with_tracker(Growing::new(), config, Tracker::<128, 256>::new());
            let mut input = stream.as_bytes();
            // A full table does not stop the stream.
            while let Some(event) = parser.next(&mut input).transpose() {
                let _ = event.map(|event| assembler.add(event));
            }
            while let Some(event) = parser.finish().transpose() {
                let _ = event.map(|event| assembler.add(event));
            }
        }
        assembler
    });
    let (lens, reading) = visits::during(|| {
        let json = assembler.json(Detail::Extended).unwrap().as_bytes().len();
        (json, assembler.message().unwrap().choices.len())
    });
    assert!(lens.0 > 0);
    let each = |visits: u64| visits as f64 / stream.len() as f64;
    (each(writing), each(reading))
}

/// Asserts that no way of reading visits a byte more often than the bounds, and that a longer stream does not cost more
/// a byte.
fn check(name: &str, bounds: (f64, f64), stream: impl Fn(usize) -> String) {
    check_at(name, [1 << 16, 1 << 18], bounds, stream);
}

/// Does what [`check`] does, with streams of these lengths.
fn check_at(name: &str, lens: [usize; 2], (most, most_reading): (f64, f64), stream: impl Fn(usize) -> String) {
    for pushes in [false, true] {
        let [short, long] = lens.map(|len| work(&stream(len), pushes));
        let way = if pushes { "push" } else { "pull" };
        std::println!(
            "{name}, {way}: {:.1} and {:.1} visits a byte, {:.1} and {:.1} to read the message",
            short.0,
            long.0,
            short.1,
            long.1
        );
        for (short, long, most) in [(short.0, long.0, most), (short.1, long.1, most_reading)] {
            assert!(
                short <= most && long <= most,
                "{name}, {way}: {short:.1} and {long:.1} visits a byte, over {most}"
            );
            assert!(long <= 1.5 * short + 8.0, "{name}, {way}: {short:.1} visits a byte become {long:.1}");
        }
    }
}

/// An owner of members: its name, and a payload with these members of it.
type Owned = (&'static str, fn(&str) -> String);

const OWNERS: [Owned; 5] = [
    ("a chunk", |members| format!(r#"{{"choices":[],{members}}}"#)),
    ("a choice", |members| format!(r#"{{"choices":[{{"index":7,{members}}}]}}"#)),
    ("a delta", |members| format!(r#"{{"choices":[{{"index":7,"delta":{{{members}}}}}]}}"#)),
    ("a call", |members| {
        format!(r#"{{"choices":[{{"index":0,"delta":{{"tool_calls":[{{"index":0,"id":"a",{members}}}]}}}}]}}"#)
    }),
    ("a function", |members| {
        format!(
            r#"{{"choices":[{{"index":0,"delta":{{"tool_calls":[{{"index":0,"id":"a","function":{{{members}}}}}]}}}}]}}"#
        )
    }),
];

#[cfg(feature = "anthropic")]
const USAGE: [Owned; 1] = [("a usage", |members| {
    format!(r#"{{"type":"message_delta","delta":{{}},"usage":{{"output_tokens":1,{members}}}}}"#)
})];
#[cfg(not(feature = "anthropic"))]
const USAGE: [Owned; 0] = [];

/// Members whose names have `len` bytes together, as payloads.
fn names(len: usize, owner: fn(&str) -> String) -> String {
    let long = "x".repeat(len / MEMBERS);
    let members: Vec<String> = (0..MEMBERS).map(|at| format!(r#""{at:03}{long}":1"#)).collect();
    members.chunks(50).map(|members| format!("data: {}\n\n", owner(&members.join(",")))).collect()
}

#[test]
fn members_cost_no_more_than_their_bytes() {
    for (owner, payload) in OWNERS.into_iter().chain(USAGE) {
        for (what, member) in [
            ("the same value", r#""q":1"#),
            ("another value", r#""q":1,"q":2"#),
            ("an empty name", r#""":1,"":2"#),
            ("an escaped name", r#""\u0071":1"#),
            ("a name of the first", r#""001":1"#),
        ] {
            let flood = |len: usize| lists(len, member, payload);
            check(&format!("{what} after long names in {owner}"), (TABLES, TABLES), |len| {
                names(len / 2, payload) + &flood(len / 2)
            });
            check(&format!("{what} after short names in {owner}"), (TABLES, TABLES), |len| {
                names(0, payload) + &flood(len)
            });
        }
        // There is room for six more members, and none for the others.
        check(&format!("many names in {owner}"), (TABLES, TABLES), |len| {
            names(len / 2, payload) + &events(len / 2, |at| payload(&format!(r#""{at}":1"#)))
        });
    }
}

/// Returns names of seven letters that have one hash after `before`, which hashes the owner.
fn forged(before: &[u8]) -> Vec<String> {
    const PRIME: u32 = 0x0100_0193;
    // The inverse of the prime, by Newton's method.
    let inverse = (0..5).fold(1u32, |x, _| x.wrapping_mul(2u32.wrapping_sub(PRIME.wrapping_mul(x))));
    let letters: Vec<u8> = (b'!'..=b'~').filter(|byte| !b"\"\\".contains(byte)).collect();
    let pairs = letters.iter().flat_map(|a| letters.iter().map(move |b| [*a, *b]));
    let triples: Vec<[u8; 3]> = pairs.flat_map(|[a, b]| letters.iter().map(move |c| [a, b, *c])).collect();
    // The hashes after the first four letters, and those from which the last three lead to one hash.
    let start = fnv(before);
    let fronts = [b'a', b'b'].into_iter().flat_map(|first| triples.iter().map(move |[a, b, c]| [first, *a, *b, *c]));
    let fronts: HashMap<u32, [u8; 4]> = fronts.map(|front| (fnv_after(start, &front), front)).collect();
    let from = |back: &[u8; 3]| {
        back.iter().rev().fold(0x1234_5678u32, |hash, byte| hash.wrapping_mul(inverse) ^ u32::from(*byte))
    };
    let ends = triples.iter().filter_map(|back| Some((fronts.get(&from(back))?, back)));
    ends.map(|(front, back)| String::from_utf8([&front[..], back].concat()).unwrap()).collect()
}

/// Of names with one hash and one length, a message keeps eight and reports the others, so that none is compared with
/// many. Names of another length are kept.
#[test]
fn members_with_forged_hashes_cost_a_bounded_time() {
    // The hash of the members of a chunk begins with its number, and with those of no choice and no call.
    let names = forged(&[0; 7]);
    std::println!("{} names have one hash", names.len());
    assert!(names.len() >= MEMBERS);
    let hash = |name: &String| fnv_after(fnv(&[0; 7]), name.as_bytes());
    assert!(names.iter().all(|name| hash(name) == hash(&names[0])));
    let (_, payload) = OWNERS[0];
    let all: Vec<String> = names.iter().take(MEMBERS).map(|name| format!(r#""{name}":1"#)).collect();
    let last = all.last().unwrap().clone();
    check("names with one hash", (TABLES, TABLES), |len| {
        format!("data: {}\n\n", payload(&all.join(","))) + &lists(len, &last, payload)
    });
    let stream = format!("data: {}\n\ndata: {}\n\n", payload(&all.join(",")), payload(r#""q":1"#));
    let (mut parser, mut assembler) = (Parser::new(Growing::new()), Assembler::new());
    let (mut input, mut done) = (stream.as_bytes(), Vec::new());
    while let Some(event) = parser.next(&mut input).unwrap() {
        done.push(assembler.add(event));
    }
    assert_eq!(done, [Err(LogError::TooLong), Ok(())]);
    let kept = assembler.message().unwrap().members;
    assert_eq!(kept.iter().filter(|member| names.contains(&member.name)).count(), 8);
    assert!(kept.iter().any(|member| member.name == "q"));
    // Another length keeps the others apart.
    check("a short name after names with one hash", (TABLES, TABLES), |len| {
        format!("data: {}\n\n", payload(&all.join(","))) + &lists(len, r#""q":1"#, payload)
    });
}

/// Lists of deltas become one, whatever they are: short elements one by one, all elements so far, or elements of an index
/// that the list has.
#[test]
fn lists_of_deltas_cost_no_more_than_their_bytes() {
    let delta = |list: &str| chat(&format!(r#"{{"index":0,"delta":{{"content":"x","images":{list}}}}}"#));
    let long = |len: usize| format!("data: {}\n\n", delta(&format!(r#"[{{"index":0,"u":"{}"}}]"#, "x".repeat(len))));
    check("short elements", (TABLES, TABLES), |len| events(len, |_| delta("[1]")));
    check("short elements with their index", (TABLES, TABLES), |len| {
        events(len, |at| delta(&format!(r#"[{{"index":{at}}}]"#)))
    });
    check("a short element after a long one", (TABLES, TABLES), |len| {
        long(len / 2) + &events(len / 2, |_| delta("[1]"))
    });
    check("many lists of a delta", (TABLES, TABLES), |len| {
        lists(len, r#""images":[1],"images":[2]"#, |members| chat(&format!(r#"{{"index":0,"delta":{{{members}}}}}"#)))
    });
    for (what, list) in
        [("one element", r#"[{"index":0,"u":1}]"#), ("two elements", r#"[{"index":0,"u":1},{"index":1,"u":1}]"#)]
    {
        check_at(&format!("{what} that the list has"), LONG, (2.0 * TABLES, TABLES), |len| {
            long(len / 2) + &events(len / 2, |_| delta(list))
        });
    }
}

fn chat(choices: &str) -> String {
    format!(r#"{{"choices":[{choices}]}}"#)
}

fn calls(calls: &str) -> String {
    chat(&format!(r#"{{"index":0,"delta":{{"tool_calls":[{calls}]}}}}"#))
}

/// As many calls as there is room for. Their IDs and names have `len` bytes together.
fn open_calls(len: usize) -> String {
    let long = "x".repeat(len / CALLS / 2);
    let call = |at| calls(&format!(r#"{{"index":{at},"id":"{at}{long}","function":{{"name":"{at}{long}"}}}}"#));
    (0..CALLS).map(|at| format!("data: {}\n\n", call(at))).collect()
}

#[test]
fn calls_cost_no_more_than_their_bytes() {
    for (what, call) in [
        ("fragments by index", r#"{"index":0,"id":"y"},{"index":200,"id":"z"}"#),
        ("fragments by ID", r#"{"id":"y"},{"id":"z"}"#),
        ("fragments by position", r#"{},{"function":{"arguments":"1"}}"#),
        ("calls without room", r#"{"id":"y","function":{"name":"f","arguments":"{}"}}"#),
        (
            "arguments of two calls",
            r#"{"index":1,"function":{"arguments":"a"}},{"index":9,"function":{"arguments":"b"}}"#,
        ),
        ("names", r#"{"index":0,"function":{"name":"f"}}"#),
        ("members", r#"{"index":0,"q":1},{"index":200,"q":2}"#),
    ] {
        for long in [false, true] {
            let of = |len: usize| if long { open_calls(len / 2) } else { open_calls(0) };
            check(&format!("{what}, long IDs and names: {long}"), (TABLES, READING), |len| {
                of(len) + &lists(len / 2, call, calls)
            });
        }
    }
    // A message that is sent again has all calls.
    let all: Vec<String> = (0..CALLS).map(|at| format!(r#"{{"id":"{at}","function":{{"name":"f"}}}}"#)).collect();
    check("calls of messages", (TABLES, READING), |len| {
        events(len, |_| chat(&format!(r#"{{"message":{{"tool_calls":[{}]}}}}"#, all.join(","))))
    });
}

/// As many choices as there is room for, each with two calls, so that there are as many calls as there is room for.
fn open_choices() -> String {
    let choice = |at| {
        let calls = r#"{"index":0,"id":"a","function":{"name":"f"}},{"index":1,"id":"b","function":{"name":"g"}}"#;
        chat(&format!(r#"{{"index":{at},"delta":{{"role":"r","content":"x","tool_calls":[{calls}]}}}}"#))
    };
    (0..CHOICES).map(|at| format!("data: {}\n\n", choice(4000 - at))).collect()
}

#[test]
fn choices_cost_no_more_than_their_bytes() {
    for (what, choices) in [
        ("content of two choices", r#"{"index":4000,"delta":{"content":"a"}},{"index":3880,"delta":{"content":"b"}}"#),
        ("content and reasoning", r#"{"index":3880,"delta":{"content":"a"}},{"index":3880,"delta":{"reasoning":"b"}}"#),
        ("choices without room", r#"{"index":1,"delta":{"content":"a"}}"#),
        ("pending halves", r#"{"index":4000,"delta":{"content":"\ud83d"}},{"index":3880,"finish_reason":"stop"}"#),
        ("finish reasons", r#"{"index":4000,"finish_reason":"stop"},{"index":3880,"finish_reason":"a"}"#),
        ("members", r#"{"index":4000,"q":1},{"index":3880,"q":2},{"index":1,"q":2}"#),
    ] {
        check(what, (TABLES, READING), |len| open_choices() + &lists(len, choices, chat));
    }
}

/// Messages repeat a short value in a log of many records.
#[test]
fn repeated_values_cost_no_more_than_their_bytes() {
    let records =
        |len: usize| lists(len, r#"{"index":1,"delta":{"content":"a"}},{"index":1,"delta":{"reasoning":"b"}}"#, chat);
    for (what, first, again) in [
        (
            "audio",
            r#"{"message":{"audio":{"data":"QQ==","transcript":"a"}}}"#,
            r#"{"message":{"audio":{"data":"QQ=="}}}"#,
        ),
        ("transcripts", r#"{"message":{"audio":{"transcript":"a"}}}"#, r#"{"message":{"audio":{"transcript":"a"}}}"#),
        ("details", r#"{"message":{"content":"a"}}"#, r#"{"message":{"reasoning_details":[]}}"#),
        ("other details", r#"{"message":{"content":"a"}}"#, r#"{"message":{"reasoning_details":[1]}}"#),
        (
            "log probabilities",
            r#"{"message":{},"logprobs":{"content":[1]}}"#,
            r#"{"message":{},"logprobs":{"content":[1]}}"#,
        ),
        ("empty log probabilities", r#"{"message":{}}"#, r#"{"message":{},"logprobs":{"content":[],"refusal":[]}}"#),
        (
            "other log probabilities",
            r#"{"message":{},"logprobs":{"content":[1]}}"#,
            r#"{"message":{},"logprobs":{"tokens":[2]}}"#,
        ),
        ("annotations", r#"{"message":{"annotations":[1]}}"#, r#"{"message":{"annotations":[1]}}"#),
    ] {
        // The value comes first, or after the records.
        for first in [format!("data: {}\n\n", chat(first)), String::new()] {
            check_at(&format!("{what}, first: {}", !first.is_empty()), LONG, (TABLES, READING), |len| {
                first.clone() + &records(len / 2) + &lists(len / 2, again, chat)
            });
        }
    }
}

#[test]
fn entries_of_details_cost_no_more_than_their_bytes() {
    let entries = |entries: &str| chat(&format!(r#"{{"delta":{{"reasoning_details":[{entries}]}}}}"#));
    let long = |len: usize| {
        let names: Vec<String> = (0..13).map(|at| format!(r#""{at}{}":1"#, "x".repeat(len / 13))).collect();
        format!("data: {}\n\n", entries(&format!(r#"{{"type":"t","index":0,{}}}"#, names.join(","))))
    };
    for (what, entry) in [
        ("texts", r#"{"type":"t","index":0,"text":"a"}"#),
        ("one member", r#"{"type":"t","index":0,"q":1}"#),
        ("escaped names", r#"{"type":"t","index":0,"te\u0078t":"a"}"#),
        ("groups", r#"{"index":0},{"index":1}"#),
    ] {
        check(&format!("details: {what}"), (TABLES, READING), |len| long(len / 2) + &lists(len / 2, entry, entries));
    }
}

#[cfg(feature = "dialects")]
#[test]
fn other_protocols_cost_no_more_than_their_bytes() {
    let long = |len: usize| "x".repeat(len);
    let part = |args: &str| {
        format!(
            r#"{{"candidates":[{{"content":{{"parts":[{{"functionCall":{{"partialArgs":[{args}],"willContinue":true}}}}]}}}}]}}"#
        )
    };
    check("arguments by path", (TABLES, READING), |len| {
        let name = long(len / 2);
        format!("data: {}\n\n", part(&format!(r#"{{"jsonPath":"$.{name}","numberValue":1}}"#)))
            + &events(len / 2, |at| part(&format!(r#"{{"jsonPath":"$.a{at}","numberValue":1}}"#)))
    });
    let gemini = |parts: &str| format!(r#"{{"candidates":[{{"content":{{"parts":[{parts}]}}}}]}}"#);
    check("function calls of Gemini", (TABLES, READING), |len| {
        lists(len, r#"{"functionCall":{"name":"f","args":{}}}"#, gemini)
    });
    check("members of Gemini", (TABLES, READING), |len| {
        let gemini = |members: &str| format!(r#"{{"candidates":[{{"index":0,{members}}}]}}"#);
        names(len / 2, gemini) + &lists(len / 2, r#""q":1,"q":2"#, gemini)
    });
    // Each ID fills half of the stream.
    let item = |kind: &str, at: usize, id: &str| {
        format!(
            r#"{{"type":"response.output_item.{kind}","output_index":{at},"item":{{"type":"message","id":"{id}","content":[]}}}}"#
        )
    };
    check("items of Responses", (TABLES, READING), |len| {
        let id = long(len / 16);
        let items: String = (0..8).map(|at| format!("data: {}\n\n", item("added", at, &format!("{at}{id}")))).collect();
        items
            + &events(len / 2, |at| {
                format!(r#"{{"type":"response.output_text.delta","item_id":"{}","delta":"a"}}"#, at % 9)
            })
    });
    let annotation = r#"{"type":"url_citation","url":"u"}"#;
    check("annotations of Responses", (TABLES, READING), |len| {
        events(len, |at| {
            format!(
                r#"{{"type":"response.output_text.annotation.added","output_index":0,"annotation_index":{at},"annotation":{annotation}}}"#
            )
        })
    });
    let block = |at: usize| {
        format!(
            r#"{{"type":"content_block_start","index":{at},"content_block":{{"type":"tool_use","id":"{at}","name":"f"}}}}"#
        )
    };
    let far = [0usize, 4_000_000_000, 255, 511];
    check("blocks of Anthropic that jump", (TABLES, READING), |len| events(len, |at| block(far[at % 4])));
    check("calls of Anthropic", (TABLES, READING), |len| {
        let (name, start) =
            (long(len / 2), r#"{"type":"message_start","message":{"id":"m","content":[]}}"#.to_string());
        format!("data: {start}\n\n")
            + &format!("data: {}\n\n", block(0).replace("\"f\"", &format!("\"{name}\"")))
            + &events(len / 2, |at| match at % 2 {
                0 => block(at / 2 + 1),
                _ => format!(
                    r#"{{"type":"content_block_delta","index":{},"delta":{{"type":"input_json_delta","partial_json":"1"}}}}"#,
                    at / 2 + 1
                ),
            })
    });
}
