#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, clippy::expect_used)]

extern crate std;
use super::{Assembler, Choice, Completion, Failure, LogError};
use crate::{Growing, Parser, Quirk};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// Feeds the payloads to the assembler. Returns it, and the errors.
pub(super) fn fed(mut assembler: Assembler, payloads: &[&str]) -> (Assembler, Vec<LogError>) {
    let mut errors = Vec::new();
    let mut parser: Parser<Growing, 0> =
        Parser::with_slots(Growing::new(), crate::Config::default(), crate::track::Tracker::new());
    for payload in payloads {
        let event = format!("data: {payload}\n\n");
        let mut input = event.as_bytes();
        while let Some(event) = parser.next(&mut input).unwrap() {
            errors.extend(assembler.add(event).err());
        }
    }
    while let Some(event) = parser.finish().unwrap() {
        errors.extend(assembler.add(event).err());
    }
    (assembler, errors)
}

fn message(payloads: &[&str]) -> Completion {
    let (assembler, errors) = fed(Assembler::new(), payloads);
    assert_eq!(errors, []);
    assembler.into_message().unwrap()
}

/// Returns the choice that these members of choice 0 result in.
fn choice(choices: &[&str]) -> Choice {
    let payloads: Vec<String> =
        choices.iter().map(|members| format!(r#"{{"choices":[{{"index":0,{members}}}]}}"#)).collect();
    let payloads: Vec<&str> = payloads.iter().map(String::as_str).collect();
    message(&payloads).choices.remove(0)
}

#[test]
fn the_first_that_is_not_empty_counts() {
    let message = message(&[
        r#"{"id":"","object":"","created":0,"model":"","system_fingerprint":null,"choices":[]}"#,
        r#"{"id":"a","object":"chat.completion.chunk","created":5,"model":"m","provider":"P","choices":[]}"#,
        r#"{"id":"b","created":6,"model":"n","system_fingerprint":"f","service_tier":"t","provider":"Q","choices":[]}"#,
    ]);
    let texts = [&message.id, &message.object, &message.model, &message.system_fingerprint, &message.service_tier];
    let texts: Vec<_> = texts.iter().map(|text| text.as_deref().unwrap()).collect();
    assert_eq!(texts, ["a", "chat.completion.chunk", "m", "f", "t"]);
    assert_eq!((message.created, message.provider.as_deref()), (Some(5), Some("P")));
    assert_eq!(message.choices, []);
}

#[test]
fn nothing_is_allocated_before_the_first_chunk() {
    let (assembler, _) = fed(Assembler::new(), &["[DONE]"]);
    assert_eq!(assembler.allocated(), 0);
}

#[test]
fn the_state_of_the_choices_is_as_large_as_documented() {
    let (assembler, _) = fed(Assembler::new(), &[r#"{"choices":[{"index":0,"delta":{"content":"x"}}]}"#]);
    let mut pushed = Assembler::new();
    let mut parser = Parser::new([0; 512]);
    let fed = parser.feed(b"data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}]}\n\n", &mut pushed);
    assert_eq!((fed.stop, pushed.error()), (None, None));
    let size = pushed.allocated() - pushed.kept.buffer.capacity();
    assert!((8 * 1024..=18 * 1024).contains(&size), "{size} bytes");
    assert_eq!(pushed.message(), assembler.message());
}

#[test]
fn choices_are_listed_by_index() {
    let message = message(&[
        r#"{"choices":[{"index":7,"delta":{"content":"h"}},{"index":1,"delta":{"content":"x"}}]}"#,
        r#"{"choices":[{"index":0,"delta":{"content":"a"}},{"index":7,"delta":{"content":"i"}}]}"#,
    ]);
    let seen: Vec<_> =
        message.choices.iter().map(|choice| (choice.index, choice.content.as_deref().unwrap())).collect();
    assert_eq!(seen, [(0, "a"), (1, "x"), (7, "hi")]);
    assert_eq!(message.choice(7).unwrap().content.as_deref(), Some("hi"));
    assert!(message.choice(2).is_none());
}

#[test]
fn every_kind_of_delta_is_added() {
    let choice = choice(&[
        r#""delta":{"role":"assistant","content":"","reasoning_content":"th"}"#,
        r#""delta":{"role":"assistant","reasoning":"ink","annotations":[{"a":1},2]}"#,
        r#""delta":{"content":"a\n","refusal":"no"},"text":"b""#,
        r#""text":"c","delta":{"audio":{"id":"x","data":"QU","transcript":"A"}}"#,
        r#""delta":{"audio":{"data":"I=","expires_at":9},"annotations":[null],"function_call":{"name":"f","arguments":"{"}}"#,
        r#""delta":{"function_call":{"name":"f","arguments":"}"}},"finish_reason":"stop","native_finish_reason":"end""#,
        r#""delta":{},"finish_reason":"length","error":{"code":1}"#,
        r#""delta":{},"error":"later""#,
    ]);
    assert_eq!(choice.role.as_deref(), Some("assistant"));
    assert_eq!(choice.reasoning.as_deref(), Some("think"));
    assert_eq!(choice.content.as_deref(), Some("a\nc"));
    assert_eq!(choice.refusal.as_deref(), Some("no"));
    let audio = choice.audio.unwrap();
    assert_eq!((audio.id.as_deref(), audio.data.as_ref().unwrap().as_bytes()), (Some("x"), &br#"["QU","I="]"#[..]));
    assert_eq!((audio.transcript.as_deref(), audio.expires_at), (Some("A"), Some(9)));
    assert_eq!(choice.annotations.as_ref().unwrap().as_bytes(), br#"[{"a":1},2,null]"#);
    let call = choice.function_call.unwrap();
    assert_eq!((call.name.as_deref(), call.arguments.as_deref()), (Some("f"), Some("{}")));
    assert_eq!(choice.finish_reason.as_deref(), Some("length"));
    assert_eq!(choice.native_finish_reason.as_deref(), Some("end"));
    let Some(Failure::Json(error)) = choice.error else { panic!() };
    assert_eq!(error.as_bytes(), br#"{"code":1}"#);
}

#[test]
fn repeated_arguments_are_dropped_on_demand() {
    let arguments = |fragments: &[&str], drop: bool| {
        let payloads: Vec<String> = fragments
            .iter()
            .map(|text| {
                let text = text.replace('"', "\\\"").replace('\n', "\\n");
                format!(r#"{{"choices":[{{"delta":{{"tool_calls":[{{"index":0,"function":{{"arguments":"{text}"}}}}]}}}}]}}"#)
            })
            .collect();
        let payloads: Vec<&str> = payloads.iter().map(String::as_str).collect();
        let assembler = if drop { Assembler::new().drop_repeated_arguments() } else { Assembler::new() };
        let (assembler, errors) = fed(assembler, &payloads);
        assert_eq!(errors, []);
        assembler.into_message().unwrap().choices[0].tool_calls[0].arguments.clone().unwrap()
    };
    let whole = r#"{"a":"}"}"#;
    for (fragments, kept, dropped) in [
        (&[whole, whole][..], r#"{"a":"}"}{"a":"}"}"#, whole),
        (&[r#"{"a""#, r#":"}"}"#, r#"{"a":"#, r#""}"}"#], r#"{"a":"}"}{"a":"}"}"#, whole),
        (&[r#"{"a":"}"}{"a":"}"}"#], r#"{"a":"}"}{"a":"}"}"#, whole),
        (&[whole, whole, whole], r#"{"a":"}"}{"a":"}"}{"a":"}"}"#, whole),
        (&[whole, r#"{"b":"}"}"#], r#"{"a":"}"}{"b":"}"}"#, r#"{"a":"}"}{"b":"}"}"#),
        (&[whole, "x"], r#"{"a":"}"}x"#, r#"{"a":"}"}x"#),
        (&["aa", "aa"], "aaaa", "aaaa"),
        // Some servers begin with an empty object.
        (&["{}", r#"{"a":1}"#], r#"{}{"a":1}"#, r#"{"a":1}"#),
        (&["{ ", "}{}", r#" {"a":1} "#, r#"{"a":1}"#], r#"{ }{} {"a":1} {"a":1}"#, r#" {"a":1}"#),
        (&["{}", "x"], "{}x", "{}x"),
        (&["{}", "{"], "{}{", "{}{"),
        (&["{}", "{}"], "{}{}", "{}"),
        // Repetitions are found wherever the fragments were cut.
        (&[r#"{"a":"}"}{"a":"}"} {"a":"}"}"#, "\n"], "{\"a\":\"}\"}{\"a\":\"}\"} {\"a\":\"}\"}\n", whole),
        (&[r#"{"a":"}"}{"a":"}"}{"b"#, r#"":1}"#], r#"{"a":"}"}{"a":"}"}{"b":1}"#, r#"{"a":"}"}{"b":1}"#),
    ] {
        assert_eq!(arguments(fragments, false), kept);
        assert_eq!(arguments(fragments, true), dropped);
    }
}

#[test]
fn a_whole_message_is_added_like_its_deltas() {
    let first = r#""message":{"role":"a","content":"c","reasoning":"r","refusal":"n","annotations":[1,2],
        "function_call":{"name":"fun","arguments":"args"},"audio":{"id":"i","data":"QQ==","transcript":"t","expires_at":7},
        "tool_calls":[{"index":3,"id":"x","type":"function","function":{"name":"f","arguments":"{}"}},
        {"index":3,"id":"y","type":"custom","custom":{"name":"g","input":"in"}}]}"#;
    let whole = choice(&[first]);
    let texts = [&whole.role, &whole.content, &whole.reasoning, &whole.refusal].map(|text| text.as_deref().unwrap());
    assert_eq!(texts, ["a", "c", "r", "n"]);
    let call = whole.function_call.unwrap();
    assert_eq!((call.name.as_deref(), call.arguments.as_deref()), (Some("fun"), Some("args")));
    let audio = whole.audio.unwrap();
    assert_eq!((audio.id.as_deref(), audio.data.as_ref().unwrap().as_bytes()), (Some("i"), &br#"["QQ=="]"#[..]));
    assert_eq!((audio.transcript.as_deref(), audio.expires_at), (Some("t"), Some(7)));
    assert_eq!(whole.annotations.as_ref().unwrap().as_bytes(), b"[1,2]");
    let calls: Vec<_> = whole.tool_calls.iter().map(|call| (call.name.as_deref().unwrap(), call.custom)).collect();
    assert_eq!(calls, [("f", false), ("g", true)]);

    // A message that is sent twice is added once.
    let again = choice(&[first, first]);
    assert_eq!(
        (again.content.as_deref(), again.annotations, again.tool_calls.len()),
        (Some("c"), whole.annotations, 2)
    );
    assert_eq!(again.audio.unwrap().data.unwrap().as_bytes(), br#"["QQ=="]"#);
}

#[test]
fn errors_are_displayed_in_words() {
    let shown = [
        LogError::TooLong.to_string(),
        LogError::TooManyChoices.to_string(),
        LogError::TooManyCalls.to_string(),
        LogError::BadIndex.to_string(),
        LogError::OutOfMemory.to_string(),
        LogError::NeedStorage { need: 1 }.to_string(),
    ];
    for (at, text) in shown.iter().enumerate() {
        assert!(text.len() > 8 && !shown[..at].contains(text), "{text:?}");
    }
}

#[test]
fn debug_prints_raw_json_as_sent() {
    let message = message(&[r#"{"choices":[{"index":0,"delta":{"annotations":["ann"]}}],"usage":{"tok":1}}"#]);
    assert!(format!("{:?}", message.usage.unwrap()).contains("tok"));
    assert!(format!("{:?}", message.choices[0].annotations).contains("ann"));
}

#[test]
fn usage_is_the_last_and_errors_the_first() {
    let message = message(&[
        r#"{"choices":[],"usage":{"total_tokens":1}}"#,
        r#"{"choices":[],"usage":{"total_tokens":2}}"#,
        r#"{"choices":[],"usage":null}"#,
        r#"{"choices":[],"usage":{}}"#,
        r#"{"error":{"message":"one"}}"#,
        r#"{"error":"two"}"#,
    ]);
    assert_eq!(message.usage.unwrap().as_bytes(), br#"{"total_tokens":2}"#);
    assert_eq!(message.error, Some(Failure::Json(super::RawJson { bytes: br#"{"message":"one"}"#.to_vec() })));
}

/// Some servers send the details of the usage after its counts, in an event of their own.
#[test]
fn a_usage_of_details_adds_to_the_last_one() {
    const FULL: &str = r#"{"prompt_tokens":11,"completion_tokens":2,"total_tokens":13,"cost":1}"#;
    const CACHED: &str = r#"{"prompt_tokens_details":{"cached_tokens":8}}"#;
    for (usages, expected, counts) in [
        (
            &[FULL, CACHED][..],
            r#"{"prompt_tokens":11,"completion_tokens":2,"total_tokens":13,"cost":1,"prompt_tokens_details":{"cached_tokens":8}}"#,
            (Some(11), Some(2), Some(13), Some(8)),
        ),
        (&[CACHED, FULL], FULL, (Some(11), Some(2), Some(13), None)),
        (&[CACHED], CACHED, (None, None, None, Some(8))),
        // The later value of a member counts, and null is none.
        (
            &[FULL, CACHED, r#"{"c\u006fst":2,"prompt_tokens_details":{"cached_tokens":9},"prompt_tokens":null}"#],
            r#"{"prompt_tokens":11,"completion_tokens":2,"total_tokens":13,"prompt_tokens_details":{"cached_tokens":9},"cost":2}"#,
            (Some(11), Some(2), Some(13), Some(9)),
        ),
        // Any other usage replaces the last one as a whole, with what was added to it.
        (&[FULL, CACHED, r#"{"total_tokens":14}"#], r#"{"total_tokens":14}"#, (None, None, Some(14), None)),
        (
            &[CACHED, r#"{"total_tokens":14}"#, r#"{"cost":3}"#],
            r#"{"total_tokens":14,"cost":3}"#,
            (None, None, Some(14), None),
        ),
        (
            &[FULL, CACHED, r#"{"total_tokens":14}"#, CACHED],
            r#"{"total_tokens":14,"prompt_tokens_details":{"cached_tokens":8}}"#,
            (None, None, Some(14), Some(8)),
        ),
    ] {
        // Repetitions make the log drop replaced records.
        for times in [1, 200] {
            let payload = |usage: &&str| format!(r#"{{"choices":[],"usage":{usage}}}"#);
            let payloads: Vec<String> = usages.iter().flat_map(|usage| std::vec![payload(usage); times]).collect();
            let payloads: Vec<&str> = payloads.iter().map(String::as_str).collect();
            let (assembler, errors) = fed(Assembler::new(), &payloads);
            assert_eq!(errors, []);
            let message = assembler.message().unwrap();
            let usage = String::from_utf8(message.usage.unwrap().as_bytes().to_vec()).unwrap();
            let json = assembler.json(crate::message::Detail::Standard).unwrap();
            let json = String::from_utf8(json.as_bytes().to_vec()).unwrap();
            assert!(json.contains(&format!(r#""usage":{usage}"#)), "{json}");
            assert_eq!(usage, expected, "{usages:?} {times}");
            let stream: String = payloads.iter().map(|payload| format!("data: {payload}\n\n")).collect();
            for size in [1, 7, stream.len()] {
                let mut pushed = crate::Parser::new(crate::Growing::new());
                let mut pulled = crate::Parser::new(crate::Growing::new());
                let (mut meter, mut ignored) = (crate::stream::Meter::new(), Assembler::new());
                for slice in stream.as_bytes().chunks(size) {
                    pushed.feed(slice, &mut meter).into_result().unwrap();
                    let mut slice = slice;
                    while let Some(event) = pulled.next(&mut slice).unwrap() {
                        let _ = ignored.add(event);
                    }
                }
                for usage in [pushed.usage(), pulled.usage(), meter.usage] {
                    let all = usage.unwrap_or_default();
                    let all = (all.prompt_tokens(), all.completion_tokens(), all.total_tokens(), all.cached_tokens());
                    assert_eq!(all, counts, "{size} {times} {usages:?}");
                }
            }
        }
    }
}

/// The `images` of a message, after deltas with these.
fn joined_images(lists: &[&str]) -> String {
    let payloads: Vec<String> = lists
        .iter()
        .map(|list| format!(r#"{{"choices":[{{"index":0,"delta":{{"content":"x","images":{list}}}}}]}}"#))
        .collect();
    let payloads: Vec<&str> = payloads.iter().map(String::as_str).collect();
    let choice = message(&payloads).choices.remove(0);
    let [images] = &choice.message_members[..] else { panic!("{choice:?}") };
    String::from_utf8(images.value.as_bytes().to_vec()).unwrap()
}

#[test]
fn lists_of_deltas_become_one() {
    for (lists, expected) in [
        // Elements without an index are appended.
        (
            &[r#"[{"u":"a"}]"#, r#"[ {"u":"b"}, 3]"#, "[]", "null", r#"[{"u":"b"}]"#][..],
            r#"[{"u":"a"}, {"u":"b"}, 3,{"u":"b"}]"#,
        ),
        (&["[]", "[1]", "[2]"], "[1,2]"),
        (&["[1,2]", "[1]"], "[1,2,1]"),
        (&["[1]", "[12]"], "[1,12]"),
        // All elements so far replace the list.
        (&["[1]", "[1]", "[1, 2]", "[1, 2, 3]", "[1, 2, 3]"], "[1, 2, 3]"),
        (&["[1]", "[2]", "[1,2,3]"], "[1,2,3]"),
        // Other blanks between them make no other list.
        (&[r#"[{"u": "a"}]"#, r#"[{"u": "b"}]"#, r#"[{"u": "a"}, {"u": "b"}]"#], r#"[{"u": "a"}, {"u": "b"}]"#),
        (&["[1]", "[2]", "[1, 2, 3]", "[1, 2]"], "[1, 2, 3,1, 2]"),
        // An element with an index is one.
        (
            &[r#"[{"index":0,"a":1}]"#, r#"[{"index":0,"b":2},{"index":1,"c":3},{"index":0,"a":4},{"index":1,"d":5}]"#],
            r#"[{"index":0,"a":4,"b":2},{"index":1,"c":3,"d":5}]"#,
        ),
        (
            &[r#"[{"index":0,"u":"a"}]"#, r#"[{"index":1,"u":"b"}]"#, r#"[{"index":0,"v":"c"}]"#],
            r#"[{"index":0,"u":"a","v":"c"},{"index":1,"u":"b"}]"#,
        ),
        (
            &[r#"[{"index":0,"u":"a","w":1},{"index":2}]"#, r#"[{"index":0,"u":null,"w":2},{"index":1},5]"#, "[6]"],
            r#"[{"index":0,"u":"a","w":2},{"index":2},{"index":1},5,6]"#,
        ),
        (&[r#"[{"index":3}]"#, r#"[{"index":"0"}]"#, r#"[{"index":0,"a":1}]"#], r#"[{"index":3},{"index":0,"a":1}]"#),
        // Anything else replaces the value.
        (&["[1]", "5", "[2]"], "[2]"),
        (&["[1]", r#"{"a":1}"#], r#"{"a":1}"#),
    ] {
        assert_eq!(joined_images(lists), expected, "{lists:?}");
    }
}

#[test]
fn long_lists_of_deltas_become_one() {
    for index in ["", r#""index":N,"#] {
        let element =
            |at: usize| format!(r#"{{{}"u":"{}"}}"#, index.replace('N', &at.to_string()), "y".repeat(at % 90));
        let elements: Vec<String> = (0..500).map(element).collect();
        let lists: Vec<String> = elements.iter().map(|element| format!("[{element}]")).collect();
        let lists: Vec<&str> = lists.iter().map(String::as_str).collect();
        assert_eq!(joined_images(&lists), format!("[{}]", elements.join(",")));
    }
}

/// A chunk with lists that finds the buffer too small changes nothing, so its elements are not appended twice.
#[test]
fn lists_are_appended_once() {
    let list = |at: usize| format!(r#"[{{"u":"{at}"}},{{"index":{at},"u":"{}"}}]"#, "y".repeat(at * 7 % 40));
    let payloads: Vec<String> = (0..40)
        .map(|at| {
            let (one, two) = (list(at), list(at / 2));
            format!(r#"{{"choices":[{{"delta":{{"content":"x","a":{one},"b":{two},"c{at}":1}}}},{{"index":1,"delta":{{"a":{two}}}}}]}}"#)
        })
        .collect();
    let payloads: Vec<&str> = payloads.iter().map(String::as_str).collect();
    let ample = fed(Assembler::new(), &payloads).0.json(crate::message::Detail::Extended).unwrap();
    let (mut parser, mut log): (_, crate::message::MessageLog) =
        (Parser::new(Growing::new()), crate::message::MessageLog::new());
    let (mut tracker, mut buffer, mut moves) = (crate::track::Tracker::<8, 32>::new(), Vec::new(), 0);
    for payload in payloads {
        let event = format!("data: {payload}\n\n");
        let mut input = event.as_bytes();
        while let Some(event) = parser.next(&mut input).unwrap() {
            let crate::Event::Chunk(chunk) = *event else { continue };
            buffer.truncate(log.len());
            while let Err(error) = log.chunk(&mut buffer, &chunk) {
                let LogError::NeedStorage { need } = error else { panic!("{error}") };
                buffer.resize(need, 0);
                moves += 1;
            }
            buffer.resize(buffer.len() + 65_536, 0);
            for (choice, update) in tracker.updates(&chunk) {
                log.put(&mut buffer, choice, &update).unwrap();
            }
        }
    }
    assert!(moves >= 40, "{moves}");
    let mut json = std::vec![0; log.json(&buffer, crate::message::Detail::Extended, &mut [])];
    log.json(&buffer, crate::message::Detail::Extended, &mut json);
    assert_eq!(String::from_utf8(json).unwrap(), String::from_utf8(ample.as_bytes().to_vec()).unwrap());
}

#[test]
fn the_last_citations_count() {
    let delta = |list: &str| format!(r#"{{"choices":[{{"index":0,"delta":{{"citations":{list}}}}}]}}"#);
    let choice = message(&[&delta("[1]"), &delta("[2]")]).choices.remove(0);
    assert_eq!(choice.message_members[0].value.as_bytes(), b"[2]");
}

#[test]
fn an_error_of_plain_text_is_kept_as_text() {
    let mut parser = Parser::new([0; 512]);
    let mut assembler = Assembler::new();
    let mut input = &b"event: error\ndata: out of \xff luck\n\n"[..];
    while let Some(event) = parser.next(&mut input).unwrap() {
        assembler.add(event).unwrap();
    }
    assert_eq!(assembler.message().unwrap().error, Some(Failure::Text("out of \u{fffd} luck".to_string())));
}

#[test]
fn logprobs_are_appended() {
    let logprobs = choice(&[
        r#""delta":{"content":"a"},"logprobs":{"content":[{"token":"a"}],"refusal":null}"#,
        r#""delta":{"content":"b"},"logprobs":null"#,
        r#""delta":{"content":"b"},"logprobs":{"content":[{"token":"b"},{"token":"c"}],"refusal":[]}"#,
    ])
    .logprobs
    .unwrap();
    assert_eq!(logprobs.content.as_ref().unwrap().as_bytes(), br#"[{"token":"a"},{"token":"b"},{"token":"c"}]"#);
    assert_eq!(logprobs.refusal.as_ref().unwrap().as_bytes(), b"[]");
    assert_eq!(logprobs.tokens, None);
    // If a list is sent twice in one object, the last one counts.
    let twice = choice(&[
        r#""delta":{"content":"a"},"logprobs":{"content":[1],"refusal":[1],"content":[2,3],"refusal":null}"#,
        r#""delta":{"content":"b"},"logprobs":{"other":[1],"content":7,"tokens":[{"#,
    ])
    .logprobs
    .unwrap();
    assert_eq!(twice.content.as_ref().unwrap().as_bytes(), b"[2,3]");
    assert_eq!((twice.refusal, twice.tokens), (None, None));

    let legacy = choice(&[
        r#""text":"a","logprobs":{"tokens":["a"],"token_logprobs":[null],"top_logprobs":null,"text_offset":[0]}"#,
        r#""text":"b","logprobs":{"tokens":["b"],"token_logprobs":[-1.5],"top_logprobs":[{"b":-1.5}],"text_offset":[1]}"#,
    ])
    .logprobs
    .unwrap();
    let lists = [legacy.tokens, legacy.token_logprobs, legacy.top_logprobs, legacy.text_offset];
    let lists: Vec<String> =
        lists.iter().map(|list| String::from_utf8(list.as_ref().unwrap().as_bytes().to_vec()).unwrap()).collect();
    assert_eq!(lists, [r#"["a","b"]"#, "[null,-1.5]", r#"[{"b":-1.5}]"#, "[0,1]"]);
}

/// Servers written in Python send `NaN` and `-Infinity` bare.
#[test]
fn log_probabilities_that_are_no_numbers_become_null() {
    for (logprobs, expected, legacy) in [
        (
            r#"{"content":[{"token":"a","logprob":NaN,"bytes":[97]},{"token":"b","logprob":-0.5,"top_logprobs":[{"token":"c","logprob":-Infinity,"bytes":null}]}]}"#,
            r#"[{"token":"a","logprob":null,"bytes":[97]},{"token":"b","logprob":-0.5,"top_logprobs":[{"token":"c","logprob":null,"bytes":null}]}]"#,
            false,
        ),
        (r#"{"token_logprobs":[NaN, -0.5, Infinity,-Infinity]}"#, "[null,-0.5,null,null]", true),
    ] {
        let payload = format!(r#"{{"choices":[{{"index":0,"delta":{{"content":"a"}},"logprobs":{logprobs}}}]}}"#);
        let (assembler, errors) = fed(Assembler::new(), &[&payload]);
        assert_eq!((errors, assembler.quirk_count(Quirk::NotANumber)), (Vec::new(), 1));
        let lists = assembler.into_message().unwrap().choices.remove(0).logprobs.unwrap();
        let list = if legacy { lists.token_logprobs } else { lists.content };
        assert_eq!(String::from_utf8(list.unwrap().as_bytes().to_vec()).unwrap(), expected);
    }
    // Other faults end the list, and so does NaN in other lists.
    let payload = r#"{"choices":[{"index":0,"delta":{"annotations":[1,NaN,2]},"logprobs":{"content":[{"logprob":nan,"a":1},Nan,3]}}]}"#;
    let (assembler, _) = fed(Assembler::new(), &[payload]);
    assert!(assembler.quirks().is_empty());
    let choice = assembler.into_message().unwrap().choices.remove(0);
    assert_eq!(choice.annotations.unwrap().as_bytes(), b"[1]");
    assert_eq!(choice.logprobs.unwrap().content.unwrap().as_bytes(), b"[{}]");
}

#[test]
fn halves_of_characters_join_or_are_replaced() {
    let (assembler, errors) = fed(
        Assembler::new(),
        &[
            r#"{"choices":[{"index":0,"delta":{"content":"\ud83d"}},{"index":1,"delta":{"content":"\ud83d"}}]}"#,
            r#"{"choices":[{"index":0,"delta":{"content":"\ude00"}}]}"#,
        ],
    );
    assert_eq!(errors, []);
    assert_eq!(assembler.message().unwrap().choices[0].content.as_deref(), Some("\u{1f600}"));
    assert_eq!(assembler.message().unwrap().choices[1].content.as_deref(), Some("\u{fffd}"));
}

#[test]
fn quirks_of_what_only_a_message_reads_are_counted() {
    let (assembler, _) = fed(
        Assembler::new(),
        &[
            r#"{"id":"\q","choices":[{"index":0,"delta":{"content":"\q"},"finish_reason":"stop"}]}"#,
            r#"{"id":"\q","choices":[{"index":0,"delta":{"content":"\q\q"},"finish_reason":"stop"}]}"#,
        ],
    );
    // The parser counts those of the content.
    assert_eq!(assembler.quirk_count(Quirk::BadEscape), 1);
    assert_eq!(assembler.quirks().iter().collect::<Vec<_>>(), [Quirk::BadEscape]);
}

/// A handler that passes updates on to an assembler, with or without their chunks.
struct PassesOn {
    chunks: bool,
    message: Assembler,
}

impl crate::Handler for PassesOn {
    fn event(&mut self, event: &crate::Event<'_>) -> crate::Flow {
        match self.chunks {
            true => self.message.event(event),
            false => crate::Flow::Continue(()),
        }
    }

    fn update(&mut self, choice: u32, update: crate::Update<'_>) -> crate::Flow {
        self.message.update(choice, update)
    }
}

#[test]
fn updates_without_their_chunk_are_an_error() {
    // The first chunk has only deltas.
    let stream = b"data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"},\"finish_reason\":\"stop\"}]}\n\ndata: {\"id\":\"a\",\"choices\":[]}\n\n";
    for chunks in [true, false] {
        let (mut parser, mut handler) = (Parser::new(Growing::new()), PassesOn { chunks, message: Assembler::new() });
        parser.feed(stream, &mut handler).into_result().unwrap();
        parser.finish_into(&mut handler).unwrap();
        let expected = (!chunks).then_some(LogError::NoChunk);
        let mut message = handler.message.message().unwrap();
        assert_eq!((handler.message.error(), message.left_out), (expected, expected));
        assert_eq!(message.choices.remove(0).content.as_deref(), Some("Hi"));
        assert_eq!(message.id.as_deref(), chunks.then_some("a"));
        handler.message.reset();
        assert_eq!(handler.message.error(), None);
    }
}

#[test]
fn arguments_that_were_sent_empty_are_an_empty_object_once_the_call_ended() {
    let head = |arguments: &str| {
        format!(
            r#"{{"choices":[{{"index":0,"delta":{{"tool_calls":[{{"index":0,"id":"k","function":{{"name":"f"{arguments}}}}}]}}}}]}}"#
        )
    };
    let custom = r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"k","type":"custom","custom":{"name":"f","input":""}}]}}]}"#;
    let finish = r#"{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}"#;
    let later = r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":""}}]}}]}"#;
    let more = later.replace(r#""""#, r#""{}""#);
    let body = r#"{"choices":[{"index":0,"message":{"tool_calls":[{"id":"k","type":"function","function":{"name":"f","arguments":""}}]},"finish_reason":"tool_calls"}]}"#;
    let (empty, absent) = (head(r#","arguments":"""#), head(""));
    for (payloads, arguments) in [
        (&[&*empty, finish][..], Some("{}")),
        (&[&*absent, later, finish], Some("{}")),
        (&[&*absent, later, later, finish], Some("{}")),
        (&[&*absent, later, &*more, finish], Some("{}")),
        (&[&*absent, &*more, later, finish], Some("{}")),
        (&[body], Some("{}")),
        (&[&*body.replace(r#","finish_reason":"tool_calls""#, ""), "[DONE]"], Some("{}")),
        (&[&*empty, "[DONE]"], Some("{}")),
        // Cut, absent, and not JSON but free text.
        (&[&*empty], None),
        (&[&*absent, later], None),
        (&[&*absent, finish], None),
        (&[custom, finish], None),
    ] {
        let (assembler, errors) = fed(Assembler::new(), payloads);
        assert_eq!(errors, []);
        let message = assembler.message().unwrap();
        assert_eq!(message.choices[0].tool_calls[0].arguments.as_deref(), arguments, "{payloads:?}");
    }
}
