//! `deltawire convert`: a converted stream has the message of its source, and ends as its source ends.

mod command;

use command::{run, run_with, sample, samples};
use serde_json::{json, Value};

const TARGETS: [&str; 3] = ["chat", "anthropic", "responses"];

/// What every protocol has of a message: content, calls and finish reason of the first choice.
fn shared(message: &Value) -> Value {
    let choice = message["choices"].as_array().unwrap().iter().find(|choice| choice["index"] == 0).unwrap();
    let own = &choice["message"];
    let calls = own["tool_calls"].as_array().cloned().unwrap_or_default();
    let calls: Vec<_> = calls.iter().map(|call| (call["id"].clone(), call["function"].clone())).collect();
    json!([own["content"].as_str().unwrap_or(""), calls, choice["finish_reason"]])
}

#[test]
fn a_converted_sample_has_the_same_message() {
    let mut seen = 0;
    for (name, _) in samples() {
        let source = run("message", &[&sample(&name)]);
        for target in TARGETS {
            let converted = run("convert", &["--to", target, &sample(&name)]);
            assert_eq!(converted.status, source.status, "{name} {target}: {}", converted.err);
            for size in ["1", "1448"] {
                let cut = run("convert", &["--to", target, "--read-size", size, &sample(&name)]);
                assert_eq!(cut, converted, "{name} {target} {size}");
            }
            let message = run_with("message", &[], &converted.out);
            if source.status != 0 {
                assert_eq!(message.status, 2, "{name} {target}: not whole, so it ends with an error");
                continue;
            }
            assert_eq!(message.status, 0, "{name} {target}: {}", message.err);
            let parse = |out: &str| serde_json::from_str::<Value>(out).unwrap();
            let (source, message) = (parse(&source.out), parse(&message.out));
            if name == "refusal.sse" && target == "anthropic" {
                // Anthropic has no other place for a refusal.
                assert_eq!(message["choices"][0]["message"]["content"], source["choices"][0]["message"]["refusal"]);
                continue;
            }
            assert_eq!(shared(&message), shared(&source), "{name} {target}");
            seen += 1;
        }
    }
    assert!(seen >= 40, "only {seen}");
}

/// A finish reason is written at the end, because some servers send more after it; one that never comes is made up.
#[test]
fn the_last_finish_reason_counts() {
    let chunk = |delta: &str, finish: &str| {
        format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{delta},\"finish_reason\":{finish}}}]}}\n\n")
    };
    let call = r#"{"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":"{}"}}]}"#;
    let done = "data: [DONE]\n\n";
    for (input, finish) in [
        (
            [&chunk(r#"{"content":"a"}"#, "\"stop\""), &chunk(r#"{"content":"b"}"#, "\"length\""), done].concat(),
            "length",
        ),
        ([&chunk(call, "null"), done].concat(), "tool_calls"),
        ([&chunk(r#"{"content":"a"}"#, "null"), done].concat(), "stop"),
    ] {
        for target in TARGETS {
            let converted = run_with("convert", &["--to", target], &input);
            assert_eq!(converted.status, 0, "{}", converted.err);
            let message: Value = serde_json::from_str(&run_with("message", &[], &converted.out).out).unwrap();
            assert_eq!(message["choices"][0]["finish_reason"], finish, "{target}");
        }
    }
}

/// Arguments by path are whole when the call is over; an answer that was refused has nothing but its finish reason.
#[test]
fn gemini_is_converted_with_what_only_it_has() {
    let call = r#"data: {"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","willContinue":true}}]}}]}

data: {"candidates":[{"content":{"parts":[{"functionCall":{"partialArgs":[{"jsonPath":"$.a","numberValue":1}],"willContinue":true}}]}}]}

data: {"candidates":[{"content":{"parts":[{"functionCall":{}}]},"finishReason":"STOP"}]}

"#;
    let refused = "data: {\"promptFeedback\":{\"blockReason\":\"SAFETY\"}}\n\n";
    for target in TARGETS {
        let read = |input: &str| {
            let converted = run_with("convert", &["--to", target], input);
            assert_eq!(converted.status, 0, "{target}: {}", converted.err);
            serde_json::from_str::<Value>(&run_with("message", &[], &converted.out).out).unwrap()
        };
        let arguments = &read(call)["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"];
        assert_eq!(arguments, r#"{"a":1}"#, "{target}");
        assert_eq!(read(refused)["choices"][0]["finish_reason"], "content_filter", "{target}");
    }
}

#[test]
fn what_has_no_place_is_counted() {
    let input = r#"data: {"choices":[{"index":1,"delta":{"content":"a"}},{"index":0,"delta":{"content":"b"}}]}

data: [DONE]

"#;
    let converted = run_with("convert", &["--to", "anthropic"], input);
    let expected = "deltawire: 1 update left out, for which Anthropic Messages has no place\n";
    assert!(converted.err.ends_with(expected), "{}", converted.err);
    assert_eq!(run_with("convert", &["--to", "chat"], "").out, "");
    // What is lost is said once, with how often.
    let call = |at: u32| format!(r#"{{"index":{at},"id":"c{at}","function":{{"name":"f","arguments":"{{}}"}}}}"#);
    let calls = (0..40).map(call).collect::<Vec<_>>().join(",");
    let choice = |index: u32, delta: &str| format!(r#"{{"index":{index},"delta":{{{delta}}},"finish_reason":"stop"}}"#);
    let choices = (0..70).map(|at| choice(at, r#""content":"a""#)).collect::<Vec<_>>().join(",");
    let calls = choice(0, &format!(r#""tool_calls":[{calls}]"#));
    for (choices, said) in
        [(calls, "more tool calls than 32 (24 times)"), (choices, "the index of the choice is 64 or more (12 times)")]
    {
        let converted =
            run_with("convert", &["--to", "chat"], &format!("data: {{\"choices\":[{choices}]}}\n\ndata: [DONE]\n\n"));
        let lines: Vec<_> = converted.err.lines().filter(|line| !line.contains(": verdict: ")).collect();
        assert_eq!((lines, converted.status), (vec![&*format!("deltawire: left out: {said}")], 3));
    }
    assert_eq!(run_with("convert", &["--to", "gemini"], "").status, 1);
}
