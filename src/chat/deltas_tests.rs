//! Tests of the deltas of a chunk: the delta that each member makes, and their order.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]
extern crate std;

use super::{Chunk, DeltaCursor, Index, Update};
use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

/// Returns an update as a word and its text.
fn shown(update: &Update<'_>) -> String {
    match update {
        Update::Role(text) => format!("role {text}"),
        Update::Content(text) => format!("content {text}"),
        Update::Reasoning(text) => format!("reasoning {text}"),
        Update::Refusal(text) => format!("refusal {text}"),
        Update::FunctionName { text, .. } => format!("function {text}"),
        Update::FunctionArguments(text) => format!("function({text})"),
        Update::Call(call) => format!("call {} {:?}", call.call, call.id.map(|id| id.to_string())),
        Update::CallName { call, text, .. } => format!("name {call} {text}"),
        Update::CallArguments { call, text } => format!("arguments {call} {text}"),
        Update::CallEnd { call, whole } => format!("call end {call} {whole}"),
        Update::Audio(audio) => format!("audio {audio:?}"),
        Update::Annotations(value) => format!("annotations {value:?}"),
        Update::Signature(text) => format!("signature {text}"),
        Update::Media(value) | Update::Native(value) => format!("part {value:?}"),
        Update::Logprobs(_) => "logprobs".to_string(),
        Update::Meta(meta, text) => format!("{meta:?} {text}"),
        Update::Member(member) => format!("{:?} {} {} {:?}", member.owner, member.call, member.name, member.value),
        Update::Finish(reason) => format!("finish {}", reason.text()),
        Update::ChoiceError(_) => "choice error".to_string(),
        Update::Usage(_) => "usage".to_string(),
        Update::Error(_) => "error".to_string(),
    }
}

impl Index {
    /// Returns the deltas of the event that this index was filled from, as the tracker gets them: the number of a call is
    /// its place in the event.
    pub(crate) fn updates<'a>(&self, payload: &'a [u8]) -> Vec<(u32, Update<'a>)> {
        let mut cursor = DeltaCursor::new();
        let deltas = core::iter::from_fn(|| cursor.next_of_any(payload, self));
        // A whole message has no update of its own.
        deltas.filter_map(|delta| Some((delta.choice, Update::of(&delta, payload)?))).collect()
    }
}

fn flat(payload: &str) -> Vec<String> {
    let mut index = Index::new();
    Chunk::read(payload.as_bytes(), &mut index).unwrap();
    let updates = index.updates(payload.as_bytes());
    updates.iter().map(|(choice, update)| format!("{choice} {}", shown(update))).collect()
}

#[test]
fn the_deltas_of_a_choice_come_in_order() {
    let cases: &[(&str, &[&str])] = &[
        ("{}", &[]),
        (r#"{"content":null,"role":null,"audio":null,"tool_calls":null}"#, &[]),
        (r#"{"content":"","role":"","refusal":"","reasoning":"","tool_calls":[],"audio":[],"annotations":1}"#, &[]),
        (
            r#"{"audio":{"id":"i"},"tool_calls":[{"id":"a"},{"id":"b"},7,{"id":"c"}],"function_call":{"name":"f"},
                "refusal":"no","content":"c","reasoning":"r","role":"assistant"}"#,
            &[
                "role assistant",
                "reasoning r",
                "content c",
                "refusal no",
                "function f",
                "call 0 Some(\"a\")",
                "call 1 Some(\"b\")",
                "call 3 Some(\"c\")",
                "audio {\"id\":\"i\"}",
            ],
        ),
        (r#"{"tool_calls":[7,{"id":"b"}]}"#, &["call 1 Some(\"b\")"]),
        (r#"{"tool_calls":[null]}"#, &[]),
        (r#"{"tool_calls":[{"index":1}],"content":"c"}"#, &["content c"]),
        (r#"{"tool_calls":[{"index":1,"function":{"arguments":""}}]}"#, &[]),
        (
            r#"{"tool_calls":[{},{"index":1,"type":"function","function":{"name":"","arguments":null}},{"id":"b"}]}"#,
            &["call 2 Some(\"b\")"],
        ),
        (r#"{"tool_calls":[{"id":"a"}]}"#, &["call 0 Some(\"a\")"]),
        (
            r#"{"content":["a",{"type":"thinking","thinking":["b","c"]},{"type":"image"},"","d"],"refusal":"e"}"#,
            &["content a", "reasoning b", "reasoning c", "part {\"type\":\"image\"}", "content d", "refusal e"],
        ),
        (
            r#"{"tool_calls":[{"index":2,"function":{"name":"f","arguments":"{"}},{"custom":{"input":{"a":1}}}]}"#,
            &["call 0 None", "name 0 f", "arguments 0 {", "call 1 None", "arguments 1 {\"a\":1}"],
        ),
        (
            r#"{"tool_calls":[{"index":7,"id":null,"function":{"arguments":"{"}}],"annotations":[1]}"#,
            &["call 0 None", "arguments 0 {", "annotations [1]"],
        ),
        (r#"{"function_call":{"arguments":"{}","name":""}}"#, &["function({})"]),
        // Only one member with reasoning counts. Its name decides which, not the order in the payload.
        (r#"{"thought":"e","thinking":"d","reasoning":"b","reasoning_content":"a"}"#, &["reasoning a"]),
        (r#"{"thought":"e","thinking":"d","reasoning":"b","reasoning_content":""}"#, &["reasoning b"]),
        (r#"{"thought":"e","thinking":"d","reasoning_details":[]}"#, &["reasoning d"]),
        (r#"{"thought":"e","thinking":""}"#, &["reasoning e"]),
        (
            r#"{"reasoning_details":[{"data":"x"},{"text":"a"},{"summary":"b"},{"data":"y"},{"text":"c"}],"content":"d"}"#,
            &["reasoning a", "reasoning b", "reasoning c", "content d"],
        ),
        (
            r#"{"reasoning":"a","reasoning_details":[{"text":"b"}],"tool_calls":[{"id":"x"},{"id":"y"}]}"#,
            &["reasoning a", "call 0 Some(\"x\")", "call 1 Some(\"y\")"],
        ),
    ];
    for (delta, expected) in cases {
        let choice = format!(r#"{{"index":4,"delta":{delta}}}"#);
        let numbered: Vec<_> = expected.iter().map(|update| format!("4 {update}")).collect();
        assert_eq!(flat(&format!(r#"{{"choices":[{choice}]}}"#)), numbered, "{delta}");
        // The result is the same for a choice that is not the first, and for a message.
        let between =
            format!(r#"{{"choices":[{{"index":1,"delta":{{"content":"x"}}}},{choice},{{"index":2,"text":"y"}}]}}"#);
        let all = [&["1 content x".to_string()], &numbered[..], &["2 content y".to_string()]].concat();
        assert_eq!(flat(&between), all, "{delta}");
        let behind_no_object = format!(r#"{{"choices":[7,{choice}]}}"#);
        assert_eq!(flat(&behind_no_object), numbered, "{delta}");
        for beside in ["", r#","delta":{"role":"","content":[],"tool_calls":[],"function_call":{}}"#] {
            let message = flat(&format!(r#"{{"choices":[{{"index":4,"message":{delta}{beside}}}]}}"#));
            assert_eq!(message, numbered, "{delta}");
        }
        // If the delta contains a text or a call, the message does not count.
        let message = r#""index":4,"message":{"content":"m","tool_calls":[{"id":"n"}]}"#;
        let counts = expected.iter().any(|update| !update.starts_with("role") && !update.starts_with("annotations"));
        if counts {
            assert_eq!(flat(&format!(r#"{{"choices":[{{{message},"delta":{delta}}}]}}"#)), numbered, "{delta}");
        }
    }
}

#[test]
fn the_deltas_of_a_chunk_come_in_order() {
    let cases: &[(&str, &[&str])] = &[
        (
            r#"{"error":{"a":1},"usage":{"a":1},"choices":[{"index":3,"error":{"a":1},"finish_reason":"stop",
                "logprobs":{},"message":{},"text":"t","delta":{"refusal":"r"}}]}"#,
            &["3 content t", "3 refusal r", "3 logprobs", "3 finish stop", "3 choice error", "0 usage", "0 error"],
        ),
        (
            r#"{"usage":{"a":1},"choices":[{"finish_reason":"stop","logprobs":{},"message":{"content":"c","role":"r"}}]}"#,
            &["0 role r", "0 content c", "0 logprobs", "0 finish stop", "0 usage"],
        ),
        (r#"{"choices":[{"index":3,"text":"t","delta":{"content":"c"}}]}"#, &["3 content c"]),
        (r#"{"choices":[{"index":3,"text":"","message":7,"logprobs":[],"error":{},"finish_reason":""}]}"#, &[]),
        (r#"{"choices":[{"index":3,"finishReason":"stop"}]}"#, &["3 finish stop"]),
        (
            r#"{"choices":[{"finish_reason":"a","native_finish_reason":"b"},{"provider_specific_fields":{"native_finish_reason":"c"}}]}"#,
            &["0 NativeFinishReason b", "0 finish a", "1 NativeFinishReason c"],
        ),
        (r#"{"choices":[{"index":3,"finish_reason":null,"finishReason":"stop"}]}"#, &["3 finish stop"]),
        (r#"{"choices":[],"usage":{}}"#, &[]),
        (r#"{"usage":{"a":1}}"#, &["0 usage"]),
        (r#"{"usage":null,"x_groq":{"usage":{"a":1}}}"#, &["0 usage"]),
        (r#"{"usage":[],"x_groq":{"id":"a"}}"#, &[]),
        (r#"{"usage":"u","error":"e"}"#, &["0 error"]),
        (r#"{"error":false}"#, &[]),
    ];
    for (payload, expected) in cases {
        assert_eq!(flat(payload), *expected, "{payload}");
    }
}

/// If a chunk has more choices than fit on a page, each choice is reported, in order, whatever it contains.
#[test]
fn choices_that_do_not_fit_on_a_page_are_reported() {
    let wide = r#"{"audio":{"id":"i"},"function_call":{"name":"f"},"tool_calls":[{"id":"a"},{"id":"b"}],"refusal":"no",
        "content":["c",{"type":"thinking","thinking":["t"]}],"reasoning":"r","role":"assistant","annotations":[1]}"#;
    let expected_of_wide = [
        "role assistant",
        "reasoning r",
        "content c",
        "reasoning t",
        "refusal no",
        "function f",
        "call 0 Some(\"a\")",
        "call 1 Some(\"b\")",
        "audio {\"id\":\"i\"}",
        "annotations [1]",
        "logprobs",
        "NativeFinishReason n",
        "finish stop",
        "choice error",
    ];
    for count in 0..40 {
        let (mut choices, mut expected) = (Vec::new(), Vec::new());
        for number in 0..count {
            let (choice, updates) = match number % 5 {
                0 => (r#""delta":{"content":"x"}"#.to_string(), [&"content x"][..].to_vec()),
                1 => (
                    r#""delta":{"role":"a","content":"","reasoning":"y"},"finish_reason":"z""#.to_string(),
                    [&"role a", &"reasoning y", &"finish z"][..].to_vec(),
                ),
                2 => (r#""delta":{},"finish_reason":null"#.to_string(), Vec::new()),
                of => {
                    let members = if of == 3 {
                        format!(r#""delta":{wide},"message":{{}}"#)
                    } else {
                        format!(r#""message":{wide}"#)
                    };
                    let rest = r#""logprobs":{},"native_finish_reason":"n","finish_reason":"stop","error":1"#;
                    (format!("{members},{rest}"), expected_of_wide.iter().collect())
                }
            };
            choices.push(format!(r#"{{"index":{number},{choice}}}"#));
            expected.extend(updates.into_iter().map(|update| format!("{number} {update}")));
        }
        expected.push("0 usage".to_string());
        let payload = format!(r#"{{"choices":[{}],"usage":{{"a":1}}}}"#, choices.join(" , "));
        assert_eq!(flat(&payload), expected, "{count}");
    }
}
