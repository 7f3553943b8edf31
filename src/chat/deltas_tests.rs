//! The deltas of a chunk: which come of what, and in which order.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]
extern crate std;

use super::{Chunk, DeltaKind, Index};
use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

/// A delta, in a word and its text.
fn said(kind: &DeltaKind<'_>) -> String {
    match kind {
        DeltaKind::Role(text) => format!("role {text}"),
        DeltaKind::Content(text) => format!("content {text}"),
        DeltaKind::Reasoning(text) => format!("reasoning {text}"),
        DeltaKind::Refusal(text) => format!("refusal {text}"),
        DeltaKind::FunctionCall(call) => format!("function {:?}", call.name().map(|name| name.to_string())),
        DeltaKind::ToolCall(call) => format!("call {} {:?}", call.position(), call.id().map(|id| id.to_string())),
        DeltaKind::Audio(audio) => format!("audio {:?}", audio.id().map(|id| id.to_string())),
        DeltaKind::Logprobs(_) => "logprobs".to_string(),
        DeltaKind::Message(message) => {
            format!("message {:?}", message.deltas().map(|kind| said(&kind)).collect::<Vec<_>>())
        }
        DeltaKind::Finish(reason) => format!("finish {}", reason.text()),
        DeltaKind::ChoiceError(_) => "choice error".to_string(),
        DeltaKind::Usage(_) => "usage".to_string(),
        DeltaKind::Error(_) => "error".to_string(),
    }
}

fn flat(payload: &str) -> Vec<String> {
    let mut index = Index::new();
    let chunk = Chunk::read(payload.as_bytes(), &mut index).unwrap();
    chunk.deltas().map(|delta| format!("{} {}", delta.choice, said(&delta.kind))).collect()
}

#[test]
fn the_deltas_of_a_choice_come_in_order() {
    let cases: &[(&str, &[&str])] = &[
        ("{}", &[]),
        (r#"{"content":null,"role":null,"audio":null,"tool_calls":null}"#, &[]),
        (r#"{"content":"","role":"","refusal":"","reasoning":"","tool_calls":[],"audio":[],"annotations":[1]}"#, &[]),
        (
            r#"{"audio":{"id":"i"},"tool_calls":[{"id":"a"},{"id":"b"},7,{"id":"c"}],"function_call":{"name":"f"},
                "refusal":"no","content":"c","reasoning":"r","role":"assistant"}"#,
            &[
                "role assistant",
                "reasoning r",
                "content c",
                "refusal no",
                "function Some(\"f\")",
                "call 0 Some(\"a\")",
                "call 1 Some(\"b\")",
                "call 2 None",
                "call 3 Some(\"c\")",
                "audio Some(\"i\")",
            ],
        ),
        (r#"{"tool_calls":[7,{"id":"b"}]}"#, &["call 0 None", "call 1 Some(\"b\")"]),
        (r#"{"tool_calls":[{"id":"a"}]}"#, &["call 0 Some(\"a\")"]),
        (
            r#"{"content":["a",{"type":"thinking","thinking":["b","c"]},{"type":"image"},"","d"],"refusal":"e"}"#,
            &["content a", "reasoning b", "reasoning c", "content d", "refusal e"],
        ),
        // One name for reasoning counts.
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
    for (delta, due) in cases {
        let choice = format!(r#"{{"index":4,"delta":{delta}}}"#);
        let numbered: Vec<_> = due.iter().map(|said| format!("4 {said}")).collect();
        assert_eq!(flat(&format!(r#"{{"choices":[{choice}]}}"#)), numbered, "{delta}");
        // As a choice that is not the first, and as a message.
        let between =
            format!(r#"{{"choices":[{{"index":1,"delta":{{"content":"x"}}}},{choice},{{"index":2,"text":"y"}}]}}"#);
        let all = [&["1 content x".to_string()], &numbered[..], &["2 content y".to_string()]].concat();
        assert_eq!(flat(&between), all, "{delta}");
        let behind_no_object = format!(r#"{{"choices":[7,{choice}]}}"#);
        assert_eq!(flat(&behind_no_object), numbered, "{delta}");
        let message = flat(&format!(r#"{{"choices":[{{"index":4,"message":{delta}}}]}}"#));
        assert_eq!(message, [format!("4 message {due:?}")], "{delta}");
    }
}

#[test]
fn the_deltas_of_a_chunk_come_in_order() {
    let cases: &[(&str, &[&str])] = &[
        (
            r#"{"error":{"a":1},"usage":{"a":1},"choices":[{"index":3,"error":{"a":1},"finish_reason":"stop",
                "logprobs":{},"message":{},"text":"t","delta":{"refusal":"r"}}]}"#,
            &[
                "3 content t",
                "3 refusal r",
                "3 message []",
                "3 logprobs",
                "3 finish stop",
                "3 choice error",
                "0 usage",
                "0 error",
            ],
        ),
        (r#"{"choices":[{"index":3,"text":"t","delta":{"content":"c"}}]}"#, &["3 content c"]),
        (r#"{"choices":[{"index":3,"text":"","message":7,"logprobs":[],"error":{},"finish_reason":""}]}"#, &[]),
        (r#"{"choices":[{"index":3,"finishReason":"stop"}]}"#, &["3 finish stop"]),
        (r#"{"choices":[{"index":3,"finish_reason":null,"finishReason":"stop"}]}"#, &["3 finish stop"]),
        (r#"{"choices":[],"usage":{}}"#, &[]),
        (r#"{"usage":{"a":1}}"#, &["0 usage"]),
        (r#"{"usage":null,"x_groq":{"usage":{"a":1}}}"#, &["0 usage"]),
        (r#"{"usage":[],"x_groq":{"id":"a"}}"#, &[]),
        (r#"{"usage":"u","error":"e"}"#, &["0 error"]),
        (r#"{"error":false}"#, &[]),
    ];
    for (payload, due) in cases {
        assert_eq!(flat(payload), *due, "{payload}");
    }
}

/// What is looked for in a chunk is what it has, and nothing else: no look is in vain.
#[test]
fn only_what_is_there_is_due() {
    const ERROR: u32 = 1 << 14;
    const USAGE: u32 = 1 << 13;
    const NEXT_CHOICE: u32 = 1 << 12;
    let due = |payload: &str| {
        let mut index = Index::new();
        Chunk::read(payload.as_bytes(), &mut index).unwrap();
        index.due
    };
    for (place, name) in [
        (1, "role"),
        (2, "reasoning"),
        (2, "thought"),
        (3, "content"),
        (4, "refusal"),
        (5, "function_call"),
        (6, "tool_calls"),
    ] {
        for (value, there) in [("\"x\"", true), ("null", false)] {
            let chunk = format!(
                r#"{{"choices":[{{"index":0,"delta":{{"{name}":{value},"annotations":[1]}},"logprobs":null}}]}}"#
            );
            assert_eq!(due(&chunk), u32::from(there) << place, "{chunk}");
        }
    }
    for (choice, bits) in [
        (r#"{"delta":{}}"#, 0),
        (r#"{"delta":null,"finish_reason":null,"error":null}"#, 0),
        (r#"{"text":"a"}"#, 1 << 3),
        (r#"{"message":{}}"#, 1 << 8),
        (r#"{"logprobs":{}}"#, 1 << 9),
        (r#"{"finish_reason":"stop"}"#, 1 << 10),
        (r#"{"finishReason":"STOP"}"#, 1 << 10),
        (r#"{"error":{"message":"m"}}"#, 1 << 11),
        (
            r#"{"delta":{"content":"a","role":"b","audio":{}},"finish_reason":"stop"}"#,
            1 << 3 | 1 << 1 | 1 << 7 | 1 << 10,
        ),
    ] {
        assert_eq!(due(&format!(r#"{{"choices":[{choice}]}}"#)), bits, "{choice}");
        assert_eq!(due(&format!(r#"{{"choices":[{choice},7]}}"#)), bits | NEXT_CHOICE, "{choice}");
    }
    for (payload, bits) in [
        (r#"{"choices":[]}"#, 0),
        (r#"{"choices":[],"usage":null,"x_groq":null,"error":null}"#, 0),
        (r#"{"choices":[],"usage":{}}"#, USAGE),
        (r#"{"choices":[],"usage":7,"x_groq":{}}"#, USAGE),
        (r#"{"choices":[],"usage":7,"x_groq":7}"#, 0),
        (r#"{"error":{"message":"m"}}"#, ERROR),
    ] {
        assert_eq!(due(payload), bits, "{payload}");
    }
}
