//! Where a tool call is over: [`deltawire::Update::CallEnd`], by push and pull, at every cut.

use crate::common::corpus;
use crate::common::naive_native::is_balanced;
use crate::common::read::{pull, push, How, Store};
use deltawire::{Config, Parser, Update};
use std::collections::BTreeMap;

/// What the log says of calls: `+0` opens call 0, `0` is a fragment of its arguments, `.0` ends it, `!0` ends it with
/// arguments that are not whole, `F` is a finish reason. Only the first choice.
fn said(lines: &[String]) -> String {
    let mut said = Vec::new();
    for line in lines {
        let words: Vec<&str> = line.split(' ').collect();
        let number = || words[2].trim_start_matches('#');
        match words[..] {
            ["call", "0", _, _, "opens", ..] => said.push(format!("+{}", number())),
            ["arguments", "0", ..] => said.push(number().to_string()),
            ["call-end", "0", _, "whole"] => said.push(format!(".{}", number())),
            ["call-end", "0", _, "broken"] => said.push(format!("!{}", number())),
            ["finish", "0", ..] => said.push("F".to_string()),
            _ => {}
        }
    }
    said.join(" ")
}

#[track_caller]
fn check(name: &str, stream: &str, expected: &str) {
    for at in 0..stream.len() {
        let how = How { cuts: &[at], ..How::whole(Store::Fixed(8192), Config::default()) };
        for logs in [pull(stream.as_bytes(), &how), push(stream.as_bytes(), &how)] {
            assert_eq!(said(&logs.lines()), expected, "{name}, cut at {at}");
        }
    }
}

/// A stream of chat completions from its deltas of `tool_calls`. `F` is a finish reason.
fn chat(arrays: &[&str]) -> String {
    let choice = |array: &&str| match array.strip_prefix("F ") {
        Some(reason) => format!(r#"{{"index":0,"delta":{{}},"finish_reason":"{reason}"}}"#),
        None => format!(r#"{{"index":0,"delta":{{"tool_calls":[{array}]}}}}"#),
    };
    arrays.iter().map(|array| format!("data: {{\"choices\":[{}]}}\n\n", choice(array))).collect()
}

fn head(index: u32, arguments: &str) -> String {
    let arguments = serde_json::Value::from(arguments);
    format!(
        r#"{{"index":{index},"id":"c{index}","type":"function","function":{{"name":"f{index}","arguments":{arguments}}}}}"#
    )
}

fn more(index: u32, arguments: &str) -> String {
    format!(r#"{{"index":{index},"function":{{"arguments":{}}}}}"#, serde_json::Value::from(arguments))
}

#[test]
fn a_chat_call_ends_when_another_opens_or_its_choice_finishes() {
    let cases: &[(&str, &[&str], &str)] = &[
        ("one", &[&head(0, "{"), &more(0, "}"), "F tool_calls"], "+0 0 0 .0 F"),
        ("one after the other", &[&head(0, "{}"), &head(1, "[1]"), "F stop"], "+0 0 .0 +1 1 .1 F"),
        (
            "heads first, then interleaved",
            &[
                &format!("{},{}", head(0, ""), head(1, "")),
                &more(1, "{"),
                &more(0, "{\"a\":"),
                &more(1, "}"),
                &more(0, "1}"),
                &head(2, "{}"),
                "F tool_calls",
            ],
            "+0 +1 1 0 1 0 .0 .1 +2 2 .2 F",
        ),
        (
            "a call whose arguments are open or a string does not end because another opens",
            &[&head(0, "{"), &head(1, "\"x\""), &head(2, "7"), &head(3, ""), "F tool_calls"],
            "+0 0 +1 1 +2 2 +3 !0 .1 .2 .3 F",
        ),
        (
            "a fragment behind the end",
            &[&head(0, "{}"), &head(1, "{}"), &more(0, "{}"), "F stop"],
            "+0 0 .0 +1 1 0 .1 F",
        ),
        ("cut arguments", &[&head(0, "{\"a\":\"x"), "F length"], "+0 0 !0 F"),
        ("a bracket that never opened", &[&head(0, "{}}"), "F stop"], "+0 0 !0 F"),
        ("no JSON", &[&head(0, "x"), "F stop"], "+0 0 !0 F"),
        ("blank", &[&head(0, " "), &head(1, ""), "F stop"], "+0 0 +1 .0 .1 F"),
        ("the stream is cut", &[&head(0, "{}"), &head(1, "{}")], "+0 0 .0 +1 1"),
        ("finished twice", &[&head(0, "{}"), "F tool_calls", &head(1, "{}"), "F stop"], "+0 0 .0 F +1 1 .1 F"),
        ("half a character at the end", &[&head(0, "x").replace("\"x\"", "\"{\\\"\\ud83d\""), "F stop"], "+0 0 0 !0 F"),
        (
            "a custom tool",
            &[r#"{"index":0,"id":"a","type":"custom","custom":{"name":"f","input":"{["}}"#, "F stop"],
            "+0 0 .0 F",
        ),
        ("nothing but members that nobody knows", &[r#"{"index":0,"extra":1}"#, &head(1, "{}"), "F stop"], "+1 1 .1 F"),
    ];
    for (name, arrays, expected) in cases {
        check(name, &chat(arrays), expected);
    }
}

#[test]
fn the_calls_of_a_body_end_with_their_entries() {
    let entry = |id: &str, arguments: &str| {
        format!(r#"{{"id":"{id}","type":"function","function":{{"name":"f","arguments":"{arguments}"}}}}"#)
    };
    let body = |calls: &[String]| {
        format!(
            r#"{{"object":"chat.completion","choices":[{{"index":0,"message":{{"tool_calls":[{}]}},"finish_reason":"tool_calls"}}]}}"#,
            calls.join(",")
        )
    };
    let calls = [entry("a", "{}"), entry("b", ""), entry("c", "{"), entry("d", "[]")];
    check("a body", &body(&calls), "+0 0 .0 +1 .1 +2 2 !2 +3 3 .3 F");
    let chunk = |calls: &[String], reason: &str| {
        format!(
            "data: {{\"choices\":[{{\"index\":0,\"message\":{{\"tool_calls\":[{}]}},\"finish_reason\":{reason}}}]}}\n\n",
            calls.join(",")
        )
    };
    let so_far = chunk(&[entry("a", "{")], "null")
        + &chunk(&[entry("a", "{}")], "null")
        + &chunk(&[entry("a", "{}"), entry("b", "{}")], "null")
        + &chunk(&[entry("a", "{}"), entry("b", "{}")], "\"tool_calls\"");
    check("messages so far", &so_far, "+0 0 0 .0 +1 1 .1 F");
}

#[cfg(feature = "dialects")]
#[test]
fn calls_of_other_protocols_end_where_the_protocol_says_so() {
    let events = |events: &[&str]| events.iter().map(|event| format!("data: {event}\n\n")).collect::<String>();
    let begin = |index: u32, kind: &str| {
        format!(
            r#"{{"type":"content_block_start","index":{index},"content_block":{{"type":"{kind}","id":"t{index}","name":"f","input":{{}}}}}}"#
        )
    };
    let delta = |index: u32, piece: &str| {
        format!(
            r#"{{"type":"content_block_delta","index":{index},"delta":{{"type":"input_json_delta","partial_json":"{piece}"}}}}"#
        )
    };
    let stop = |index: u32| format!(r#"{{"type":"content_block_stop","index":{index}}}"#);
    let start = r#"{"type":"message_start","message":{"id":"m","role":"assistant","content":[]}}"#;
    let end = r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"}}"#;
    let over = r#"{"type":"message_stop"}"#;
    check(
        "Anthropic",
        &events(&[
            start,
            &begin(0, "tool_use"),
            &delta(0, "{"),
            &begin(1, "tool_use"),
            &delta(1, "{}"),
            &stop(1),
            &delta(0, "}"),
            &stop(0),
            &stop(0),
            &begin(2, "server_tool_use"),
            &delta(2, "{}"),
            &stop(2),
            &begin(3, "tool_use"),
            &stop(3),
            &begin(4, "tool_use"),
            &delta(4, "[{"),
            &stop(4),
            end,
            over,
        ]),
        "+0 0 +1 1 .1 0 .0 +2 .2 +3 3 !3 F",
    );
    check("a block without its stop", &events(&[start, &begin(0, "tool_use"), end, over]), "+0 .0 F");
    check("Anthropic, cut", &events(&[start, &begin(0, "tool_use"), &delta(0, "{}")]), "+0 0");
    check(
        "a body of Anthropic",
        r#"{"type":"message","role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{"a":1}},{"type":"tool_use","id":"b","name":"g","input":{}},{"type":"text","text":"x"}],"stop_reason":"tool_use"}"#,
        "+0 0 .0 +1 .1 F",
    );
    let item = |kind: &str, index: u32, arguments: &str, step: &str| {
        format!(
            r#"{{"type":"response.output_item.{step}","output_index":{index},"item":{{"type":"{kind}","id":"i{index}","call_id":"c{index}","name":"f","arguments":"{arguments}"}}}}"#
        )
    };
    let piece = |index: u32, piece: &str, step: &str, name: &str| {
        format!(
            r#"{{"type":"response.function_call_arguments.{step}","item_id":"i{index}","output_index":{index},"{name}":"{piece}"}}"#
        )
    };
    let completed = |items: &str| {
        format!(r#"{{"type":"response.completed","response":{{"status":"completed","output":[{items}]}}}}"#)
    };
    let whole = |index: u32, arguments: &str| {
        format!(
            r#"{{"type":"function_call","id":"i{index}","call_id":"c{index}","name":"f","arguments":"{arguments}"}}"#
        )
    };
    check(
        "Responses",
        &events(&[
            &item("function_call", 0, "", "added"),
            &piece(0, "{", "delta", "delta"),
            &item("function_call", 1, "", "added"),
            &piece(1, "{}", "delta", "delta"),
            &piece(0, "}", "delta", "delta"),
            &piece(0, "{}", "done", "arguments"),
            &item("function_call", 1, "{}", "done"),
            &item("function_call", 0, "{}", "done"),
            &item("mcp_call", 2, "{}", "done"),
            &completed(&format!("{},{},{}", whole(0, "{}"), whole(1, "{}"), whole(3, "["))),
        ]),
        "+0 0 +1 1 0 .1 .0 +2 2 !2 F",
    );
    check(
        "items that never ended",
        &events(&[&item("function_call", 0, "", "added"), &piece(0, "{}", "delta", "delta"), &completed("")]),
        "+0 0 .0 F",
    );
    let part = |call: &str| format!(r#"{{"candidates":[{{"content":{{"parts":[{{"functionCall":{call}}}]}}}}]}}"#);
    check(
        "Gemini",
        &events(&[
            &part(r#"{"name":"f","args":{"a":1}}"#),
            &part(r#"{"name":"g","willContinue":true}"#),
            &part(r#"{"partialArgs":[{"jsonPath":"$.a","numberValue":1}],"willContinue":true}"#),
            &part("{}"),
            &part(r#"{"name":"h","willContinue":true}"#),
            r#"{"candidates":[{"content":{"parts":[]},"finishReason":"STOP"}]}"#,
        ]),
        "+0 0 .0 +1 .1 +2 .2 F",
    );
}

/// In each recording, each call of a choice that finishes ends once, before the choice does, and is whole if its
/// arguments are balanced.
#[test]
fn each_recorded_call_ends_once() {
    let mut ends = 0;
    let streams = corpus::samples().into_iter().chain(corpus::recorded("calls"));
    for stream in streams.chain(corpus::recorded_of_other_protocols("calls")) {
        let mut memory = vec![0; stream.bytes.len() + 4096];
        let mut parser = Parser::new(&mut memory[..]);
        let mut calls: BTreeMap<(u32, u32), (String, bool, Option<bool>)> = BTreeMap::new();
        let name = &stream.name;
        // A full table does not stop the stream.
        let _ = parser.feed_all(&stream.bytes, |choice, update| match update {
            Update::Call(call) if call.opens => {
                calls.insert((choice, call.call), (String::new(), call.custom, None));
            }
            Update::CallArguments { call, text } => {
                let (arguments, _, _) = calls.get_mut(&(choice, call)).expect("an open call");
                *arguments += &text.to_string();
            }
            Update::CallEnd { call, whole } => {
                let (arguments, is_custom, end) = calls.get_mut(&(choice, call)).expect("an open call");
                assert_eq!(end.replace(whole), None, "{name}: a second end");
                assert_eq!(whole, *is_custom || is_balanced(arguments), "{name}: {arguments}");
                ends += 1;
            }
            Update::Finish(_) => {
                assert!(calls.iter().all(|((own, _), (.., end))| *own != choice || end.is_some()), "{name}");
            }
            _ => {}
        });
    }
    assert!(ends > 0, "no call ended");
    println!("calls: {ends} ended");
}
