//! The command on the project's samples: its output, its reports, its exit status.

mod command;

use command::{run, run_with, sample, samples, Ran};
use serde_json::{json, Value};
use std::io::{Read, Write};
use std::process::Stdio;
use std::time::Duration;

/// The read sizes, at all of which the output must be the same.
const SIZES: [&str; 4] = ["1", "7", "1448", "100000000"];

/// Removes null members, which mean the same as absent ones.
fn normal(value: Value) -> Value {
    match value {
        Value::Object(members) => {
            Value::Object(members.into_iter().filter(|(_, v)| !v.is_null()).map(|(k, v)| (k, normal(v))).collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(normal).collect()),
        other => other,
    }
}

/// Returns the lines of JSON that a command prints for a sample, the same at every read size.
fn lines(command: &str, options: &[&str], name: &str) -> Vec<Value> {
    let file = sample(name);
    let whole = run(command, &[options, &[&file]].concat());
    for size in SIZES {
        let cut = run(command, &[options, &["--read-size", size, &file]].concat());
        assert_eq!(cut, whole, "{command} {name} at {size}");
    }
    whole.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn every_sample_has_its_message() {
    let mut seen = 0;
    for (name, expected) in samples() {
        for size in SIZES {
            let ran = run("message", &["--read-size", size, &sample(&name)]);
            let message: Value = serde_json::from_str(&ran.out).unwrap();
            assert_eq!(normal(message), normal(expected.clone()), "{name} at {size}");
        }
        seen += 1;
    }
    assert!(seen >= 17, "only {seen} samples");
}

#[test]
fn the_exit_status_is_the_verdict() {
    for (name, _) in samples() {
        let status = match name.as_str() {
            "error-midstream.sse" | "error-body.json" => 2,
            "truncated.sse" => 3,
            _ => 0,
        };
        for command in ["message", "text", "events"] {
            assert_eq!(run(command, &[&sample(&name)]).status, status, "{command} {name}");
        }
    }
    for (input, status) in [
        ("", 4),
        ("\n\n", 4),
        ("<html><body>502 Bad Gateway</body></html>\n", 4),
        ("event: message-start\ndata: {\"type\":\"message-start\"}\n\n", 4),
        ("event: message_start\ndata: {\"type\":\"message_start\",\"message\":{}}\n\n", 3),
        ("data: {\"type\":\"content_block_start\"}\n\ndata: {\"type\":\"message_stop\"}\n\n", 0),
        ("data: {\"type\":\"response.failed\",\"response\":{\"error\":{\"message\":\"no\"}}}\n\n", 2),
        ("data: {\"candidates\":[{\"finishReason\":\"STOP\"}]}\n\n", 0),
        ("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}}]}\n\n", 3),
        ("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}\n\n", 0),
        ("data: {\"error\":{\"message\":\"no\"}}\n\ndata: [DONE]\n\n", 2),
        ("{\"object\":\"chat.completion\",\"choices\":[{\"message\":{\"content\":\"a\"}}]}", 0),
    ] {
        for command in ["message", "text", "events"] {
            assert_eq!(run_with(command, &[], input).status, status, "{command} {input:?}");
        }
    }
}

#[test]
fn verdict_and_quirks_are_reported_in_words() {
    let ran = run("message", &[&sample("openrouter.sse")]);
    assert_eq!(
        ran.err,
        "deltawire: verdict: done\n\
         deltawire: quirk C23: a choice had more than one finish reason (1 time)\n"
    );
    for command in ["message", "events", "text"] {
        assert_eq!(run(command, &[&sample("openrouter.sse")]).err, ran.err, "{command}");
    }
    assert_eq!(
        run("message", &[&sample("truncated.sse")]).err,
        "deltawire: verdict: truncated: the stream was cut\ndeltawire: the stream ended inside an event\n"
    );
    let ran = run_with("events", &[], "data: {oops\n\ndata: {\"error\":1} x\n\n");
    assert_eq!(ran.err, "deltawire: verdict: the API reported an error\ndeltawire: 2 payloads could not be read\n");
}

/// A loss is reported, and the status is 3 unless a worse failure has its own status.
#[test]
fn only_what_is_complete_is_0() {
    const DONE: &str = "data: [DONE]\n\n";
    let chunk = |content: &str, finish: &str| {
        format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{content}\"}},\"finish_reason\":{finish}}}]}}\n\n")
    };
    let (long, finished) = (chunk(&"a".repeat(200), "null"), chunk("b", "\"stop\""));
    let unread = "data: {\"choices\":[}\n\n";
    let comment = format!(": {}\n\n", "c".repeat(200));
    let body = "{\"object\":\"chat.completion\",\"choices\":[{\"message\":{\"content\":\"a\"}}]}\n";
    let done = "verdict: done";
    let unfinished = "1 of 1 choices without a finish reason";
    let one_long = "1 event or comment was too long and left out (--max-event-len raises the limit)";
    let one_unread = "1 payload could not be read";
    let inside = "the stream ended inside an event";
    for (input, status, reported) in [
        ([&finished, DONE, ": bye\n"].concat(), 0, &[done][..]),
        ([&finished, DONE, "\n\n: by"].concat(), 0, &[done, "the stream ended inside a line"]),
        ([&finished, unread, DONE].concat(), 3, &["verdict: done, incomplete: 1 malformed", one_unread]),
        (
            [unread, &finished, unread].concat(),
            3,
            &["verdict: finished, without [DONE], incomplete: 2 malformed", "2 payloads could not be read"],
        ),
        ([&long, &finished, DONE].concat(), 3, &["verdict: done, incomplete: 1 too long", one_long]),
        ([&finished, &comment, DONE].concat(), 3, &["verdict: done, incomplete: 1 too long", one_long]),
        (
            [&long, &long, unread, &finished].concat(),
            3,
            &[
                "verdict: finished, without [DONE], incomplete: 1 malformed, 2 too long",
                one_unread,
                "2 events or comments were too long and left out (--max-event-len raises the limit)",
            ],
        ),
        ([&finished, "data: {\"usage\":{"].concat(), 3, &["verdict: finished, without [DONE], incomplete", inside]),
        ([&finished, DONE, "data: {\"usage\":"].concat(), 0, &[done, inside]),
        (
            [&chunk("a", "null"), "data: {\"choices\":["].concat(),
            3,
            &["verdict: truncated: the stream was cut", inside],
        ),
        (body.into(), 0, &["verdict: a whole JSON body instead of a stream", unfinished]),
        ([&chunk("a", "null"), DONE].concat(), 0, &[done, unfinished]),
        (
            [body, "{\"cut\":"].concat(),
            3,
            &["verdict: a whole JSON body instead of a stream, incomplete", "the stream ended inside a JSON value"],
        ),
        (
            [unread, "data: {\"error\":{\"message\":\"no\"}}\n\n"].concat(),
            2,
            &["verdict: the API reported an error", one_unread],
        ),
        (
            [unread, "event: other\ndata: {\"a\":1}\n\n"].concat(),
            4,
            &[
                "verdict: an event stream of another protocol: one that is not known",
                "the input begins with: data: {\"choices\":[}",
                one_unread,
            ],
        ),
    ] {
        for command in ["message", "text", "events"] {
            for size in SIZES {
                let ran = run_with(command, &["--max-event-len", "150", "--read-size", size], &input);
                let lines = ran.err.lines().filter_map(|line| line.strip_prefix("deltawire: "));
                let lines: Vec<&str> =
                    lines.filter(|line| !line.starts_with("quirk ") && *line != "error: no").collect();
                assert_eq!((ran.status, &lines[..]), (status, reported), "{command} {input:?} at {size}");
            }
        }
    }
}

/// As the standard requires: no event, no quirk, nothing lost.
#[test]
fn lines_that_are_not_fields_are_ignored() {
    let chunk = "{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}";
    for line in [format!("Data: {chunk}"), format!(" data: {chunk}"), format!("data{chunk}"), "<html>502</html>".into()]
    {
        let input = format!("{line}\n\ndata: {chunk}\n\n{line}\n\ndata: [DONE]\n\n{line}\n\n");
        for size in SIZES {
            let ran = run_with("text", &["--read-size", size], &input);
            let ran = (ran.out.as_str(), ran.err.as_str(), ran.status);
            assert_eq!(ran, ("a", "deltawire: verdict: done\n", 0), "{input:?} at {size}");
        }
    }
}

/// There is no room for a 129th choice.
#[test]
fn a_choice_without_room_is_lost() {
    let choices = |count: u32| {
        let chunk =
            |index| format!("data: {{\"choices\":[{{\"index\":{index},\"delta\":{{\"content\":\"a\"}}}}]}}\n\n");
        (0..count).map(chunk).chain(["data: [DONE]\n\n".into()]).collect::<String>()
    };
    for command in ["message", "text", "events"] {
        let ran = run_with(command, &[], &choices(128));
        let others = "deltawire: choice 1 has text, too (--choice 1 prints it); 126 more choices likewise\n";
        let verdict = "deltawire: verdict: done\ndeltawire: 128 of 128 choices without a finish reason\n";
        let expected = format!("{verdict}{}", if command == "text" { others } else { "" });
        assert_eq!((ran.status, ran.err), (0, expected), "{command}");
        let ran = run_with(command, &[], &choices(129));
        assert!(ran.status == 3 && ran.err.contains(" choices"), "{command}: {} {}", ran.status, ran.err);
        let failed = [&choices(129), "data: {\"error\":{\"code\":5}}\n\n"].concat();
        assert_eq!(run_with(command, &[], &failed).status, 2, "{command}");
    }
}

#[test]
fn every_command_counts_the_same_quirks() {
    let stream = "data: {\"choices\":[{\"delta\":{\"content\":\"\\ud800\"}}]}\n\n\
                  data: {\"choices\":[{\"delta\":{\"content\":\"\\q\"},\"finish_reason\":\"stop\"}]}\n\n[DONE]\n\n";
    let expected = "deltawire: verdict: done\n\
                    deltawire: quirk F26: [DONE] came without `data:` (1 time)\n\
                    deltawire: quirk C4: a choice had no index (2 times)\n\
                    deltawire: quirk C31: half a surrogate pair was replaced by U+FFFD (1 time)\n\
                    deltawire: quirk C33: an escape that JSON does not define was kept unchanged (1 time)\n";
    for command in ["message", "text", "events"] {
        for size in SIZES {
            assert_eq!(run_with(command, &["--read-size", size], stream).err, expected, "{command} at {size}");
        }
    }
}

#[test]
fn text_is_the_content() {
    for (name, expected) in samples() {
        let content = expected["choices"][0]["message"]["content"].as_str().unwrap_or_default();
        for size in SIZES {
            assert_eq!(run("text", &["--read-size", size, &sample(&name)]).out, content, "{name} at {size}");
        }
    }
    let (_, expected) = samples().into_iter().find(|(name, _)| name == "choices.sse").unwrap();
    let second = expected["choices"][1]["message"]["content"].as_str().unwrap();
    assert_eq!(run("text", &["--choice", "1", &sample("choices.sse")]).out, second);
    assert_eq!(run("text", &["--choice", "2", &sample("choices.sse")]).out, "");
    assert_eq!(run("text", &["--reasoning", &sample("openrouter.sse")]).out, "Two plus two is four.\n\n2 + 2 = 4");
}

#[test]
fn text_of_cumulative_messages_is_what_is_new_in_each() {
    let whole = |content: &str| {
        format!("data: {{\"choices\":[{{\"index\":0,\"message\":{{\"content\":\"{content}\"}}}}]}}\n\n")
    };
    let delta = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"x\"}}]}\n\n";
    assert_eq!(run_with("text", &[], &[whole("He"), whole("Hey")].concat()).out, "Hey");
    assert_eq!(run_with("text", &[], &[&whole("He"), delta, &whole("Hey")].concat()).out, "Hex");
    let replaced = run_with("text", &[], &[whole("He"), whole("Ho"), "data: [DONE]\n\n".into()].concat());
    assert_eq!((replaced.out.as_str(), replaced.status), ("He", 3));
}

#[test]
fn events_are_a_line_each() {
    let stream = ": hi\n\nretry: 5\n\nid: 7\n\ndata:\n\n\
        event: e\ndata: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"H\\u00e9\",\
        \"tool_calls\":[{\"index\":2,\"id\":\"t\",\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"{\"}}]}}]}\n\n\
        data: {\"choices\":[{\"index\":1,\"delta\":{\"reasoning\":\"r\",\"refusal\":\"n\",\"tool_calls\":[{\"index\":0,\
        \"custom\":{\"name\":\"g\",\"input\":\"i\"}}]},\"finish_reason\":\"stop\"}],\"usage\":{\"n\":1}}\n\n\
        data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":2,\"function\":{\"name\":\"oo\"}}]}}]}\n\n\
        data: {\"error\":{\"code\":5}}\n\n\
        data: {\"a\":]}\n\ndata: [DONE]\n\ndata: {\"choices\":[]}\n\n";
    // Where the block with this number begins: after a comment, a retry, an ID, an empty payload, …
    let at = |block: usize| stream.split_inclusive("\n\n").take(block).map(str::len).sum::<usize>();
    let expected = [
        json!({"comment": "hi"}),
        json!({"retry": 5}),
        json!({"last_event_id": "7"}),
        json!({"keep_alive": ""}),
        json!({"quirk": "F8", "text": "a keep-alive was sent as data", "at": at(3)}),
        json!({"event": "chunk", "at": [at(4), at(5)], "name": "e", "id": "c"}),
        json!({"choice": 0, "role": "assistant"}),
        json!({"choice": 0, "content": "Hé"}),
        json!({"choice": 0, "tool_call": {"call": 0, "index": 2, "id": "t", "type": "function"}}),
        json!({"choice": 0, "tool_call": {"call": 0, "name": "f"}}),
        json!({"choice": 0, "tool_call": {"call": 0, "arguments": "{"}}),
        json!({"event": "chunk", "at": [at(5), at(6)]}),
        json!({"choice": 1, "reasoning": "r"}),
        json!({"choice": 1, "refusal": "n"}),
        json!({"choice": 1, "tool_call": {"call": 0, "index": 0, "custom": true}}),
        json!({"choice": 1, "tool_call": {"call": 0, "name": "g"}}),
        json!({"choice": 1, "tool_call": {"call": 0, "arguments": "i"}}),
        json!({"choice": 1, "tool_call_end": {"call": 0, "whole": true}}),
        json!({"choice": 1, "finish_reason": "stop"}),
        json!({"usage": {"n": 1}}),
        json!({"event": "chunk", "at": [at(6), at(7)]}),
        json!({"choice": 0, "tool_call": {"call": 0, "name_piece": "oo"}}),
        json!({"event": "chunk", "at": [at(7), at(8)]}),
        json!({"error": {"code": 5}}),
        json!({"malformed": "{\"a\":]}", "at": [at(8), at(9)], "fault": "unexpected byte", "offset": 5}),
        json!({"done": true}),
        json!({"event": "chunk", "at": [at(10), at(11)]}),
        json!({"quirk": "F25", "text": "something came after [DONE]", "at": at(10)}),
    ];
    for size in SIZES {
        let ran = run_with("events", &["--read-size", size], stream);
        let lines: Vec<Value> = ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        for (line, expected) in lines.iter().zip(&expected) {
            assert_eq!(line, expected, "at {size}");
        }
        assert_eq!(lines.len(), expected.len());
        assert_eq!(ran.status, 2);
    }
}

#[test]
fn events_have_numbers_as_they_came() {
    let numbers = r#"{"a":-0,"b":[18446744073709551616,1e400],"c":{"d":1.50,"e":-1E-0,"f":null}}"#;
    let spread = numbers.replace(',', ",\ndata: ");
    let call = format!(r#"{{"index":0,"id":"t","extra":{numbers},"function":{{"strict":-0}}}}"#);
    let stream = format!(
        "data: {{\"choices\":[{{\"index\":0,\"logprobs\":{numbers},\"delta\":{{\"tool_calls\":[{call}]}}}}]}}\n\n\
         data: {{\"choices\":[],\"usage\":{spread}}}\n\ndata: {{\"error\":{{\"code\":1e400}}}}\n\n"
    );
    let ran = run_with("events", &[], &stream);
    let lines: Vec<&str> = ran.out.lines().collect();
    for expected in [
        format!(r#"{{"choice":0,"logprobs":{numbers}}}"#),
        format!(r#"{{"choice":0,"tool_call":{{"call":0,"member":{{"extra":{numbers}}}}}}}"#),
        r#"{"choice":0,"tool_call":{"call":0,"function_member":{"strict":-0}}}"#.to_string(),
        format!(r#"{{"usage":{numbers}}}"#),
        r#"{"error":{"code":1e400}}"#.to_string(),
    ] {
        assert!(lines.contains(&&*expected), "{expected}: {}", ran.out);
    }
}

#[test]
fn events_of_a_sample_add_up_to_its_message() {
    for (name, expected) in samples() {
        let lines = lines("events", &[], &name);
        let content: String =
            lines.iter().filter(|line| line["choice"] == 0).filter_map(|line| line["content"].as_str()).collect();
        let message = &expected["choices"][0]["message"];
        assert_eq!(content, message["content"].as_str().unwrap_or_default(), "{name}");
        let calls = message["tool_calls"].as_array().map_or(0, Vec::len);
        for number in 0..calls {
            let arguments: String = lines
                .iter()
                .filter(|line| line["tool_call"]["call"] == number)
                .filter_map(|line| line["tool_call"]["arguments"].as_str())
                .collect();
            assert_eq!(arguments, message["tool_calls"][number]["function"]["arguments"].as_str().unwrap(), "{name}");
        }
        let usage = lines.iter().filter_map(|line| line.get("usage")).next_back();
        assert_eq!(usage.cloned().unwrap_or_default(), expected["usage"], "{name}");
    }
}

#[test]
fn sse_follows_the_standard() {
    let stream =
        "\u{feff}: c\nretry: 10\nevent: add\nid: 1\ndata: a\r\ndata\rdata:  b\n\nx: y\ndata: \u{20ac}\n\ndata: rest\n";
    let expected = [
        json!({"comment": "c"}),
        json!({"retry": 10}),
        json!({"event": "add", "data": "a\n\n b", "id": "1"}),
        json!({"event": "message", "data": "\u{20ac}", "id": "1"}),
    ];
    let rest = json!({"event": "message", "data": "rest", "id": "1"});
    for size in SIZES {
        let parse = |ran: &Ran| ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<Value>>();
        let ran = run_with("sse", &["--read-size", size], stream);
        assert_eq!(parse(&ran), expected, "at {size}");
        assert_eq!(ran.status, 3);
        assert!(ran.err.contains("dropped"), "{}", ran.err);
        let ran = run_with("sse", &["--read-size", size, "--flush"], stream);
        assert_eq!(parse(&ran), [&expected[..], std::slice::from_ref(&rest)].concat(), "at {size}");
        assert_eq!((ran.status, ran.err.as_str()), (0, ""));
    }
    assert_eq!(run_with("sse", &[], "").status, 4);
    let events = lines("sse", &[], "crlf.sse");
    assert_eq!(events[0], json!({"retry": 3000}));
    assert_eq!(events.last().unwrap()["data"], "[DONE]");
}

#[test]
fn options_change_what_their_help_describes() {
    let odd = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\\q\"},\"finish_reason\":\"stop\"}]}\n\n";
    assert_eq!(run_with("text", &[], odd).out, "\\q");
    let strict = run_with("text", &["--strict"], odd);
    assert_eq!((strict.out.as_str(), strict.status), ("", 3));

    let unterminated = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}\n";
    assert_eq!(run_with("text", &[], unterminated).out, "a");
    assert_eq!(run_with("text", &["--spec"], unterminated).out, "");

    let ran = run_with("message", &["--max-event-len", "40"], odd);
    assert!(ran.err.contains("1 event or comment was too long"), "{}", ran.err);
    let ran = run_with("sse", &["--max-event-len", "40"], odd);
    assert_eq!((ran.out.as_str(), ran.status), ("{\"too_long\":0}\n", 3));
    assert_eq!(ran.err, "deltawire: 1 event or comment was too long and left out (--max-event-len raises the limit)\n");
    assert_eq!(run_with("sse", &["--max-event-len", "200"], odd).status, 0);

    let call = |arguments: &str| {
        format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"tool_calls\":[{{\"index\":0,\"function\":{{\"arguments\":\"{arguments}\"}}}}]}}}}]}}\n\n")
    };
    let twice = [call("{}"), call("{}")].concat();
    let arguments = |options: &[&str]| {
        let message: Value = serde_json::from_str(&run_with("message", options, &twice).out).unwrap();
        message["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"].clone()
    };
    assert_eq!(arguments(&[]), "{}{}");
    assert_eq!(arguments(&["--drop-repeated-arguments"]), "{}");

    let message: Value = serde_json::from_str(&run("message", &["--extended", &sample("openrouter.sse")]).out).unwrap();
    assert_eq!(
        (&message["provider"], &message["choices"][0]["native_finish_reason"]),
        (&json!("Nimbus"), &json!("end_turn"))
    );
    // The reasoning has the name under which it came.
    let answer = &message["choices"][0]["message"];
    assert_eq!((&answer["reasoning"], answer.get("reasoning_content")), (&json!("Two plus two is four."), None));
}

#[test]
fn a_message_has_numbers_as_they_came() {
    let stream = concat!(
        r#"data: {"choices":[{"index":0,"delta":{"content":"{[\",: ","#,
        r#""tool_calls":[{"index":0,"function":{"name":"f","arguments":"{}"}}]}}],"usage":{"a":-0, "b": [1e400,1E+2],"#,
        r#""c":18446744073709551616,"d":0.10,"e":[],"f":{ }},"timings":-0}"#,
        "\n\n",
        r#"data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]}}]}"#,
        "\n\ndata: [DONE]\n\n",
    );
    let pretty = r#"{
  "object": "chat.completion",
  "choices": [
    {
      "index": 0,
      "message": {
        "role": "assistant",
        "content": "{[\",: ",
        "tool_calls": [
          {
            "type": "function",
            "function": {
              "name": "f",
              "arguments": "{}"
            }
          }
        ]
      },
      "finish_reason": null
    }
  ],
  "usage": {
    "a": -0,
    "b": [
      1e400,
      1E+2
    ],
    "c": 18446744073709551616,
    "d": 0.10,
    "e": [],
    "f": {}
  },
  "timings": -0
}
"#;
    assert_eq!(run_with("message", &["--extended", "--drop-repeated-arguments"], stream).out, pretty);
    let twice = pretty.replace(r#""{}""#, r#""{}{}""#);
    assert_eq!(run_with("message", &["--extended"], stream).out, twice);
    assert_eq!(run_with("message", &[], stream).out, twice.replace(",\n  \"timings\": -0", ""));
    assert_eq!(
        run_with("message", &[], "data: {\"choices\":[{}]}\n\ndata: [DONE]\n\n").out,
        "{\n  \"object\": \"chat.completion\",\n  \"choices\": []\n}\n"
    );
}

#[test]
fn wrong_use_is_1() {
    for arguments in [
        &["message", "--read-size", "0"][..],
        &["message", "--read-size", "x"],
        &["message", "no/such/file"],
        &["message", env!("CARGO_MANIFEST_DIR")],
        &["message", "--nonsense"],
        &["nonsense"],
        &[],
    ] {
        let ran = command::any(arguments, "");
        assert_eq!(ran.status, 1, "{arguments:?}: {}", ran.err);
        assert_eq!(ran.out, "", "{arguments:?}");
        assert!(!ran.err.is_empty() && !ran.err.contains("panicked"), "{arguments:?}: {}", ran.err);
    }
    assert_eq!(command::any(&["--help"], "").status, 0);
    assert_eq!(command::any(&["--version"], "").status, 0);
}

#[test]
fn standard_input_is_read_if_no_file_is_named() {
    let bytes = std::fs::read_to_string(sample("weather.sse")).unwrap();
    let of_file = run("message", &[&sample("weather.sse")]);
    assert_eq!(run_with("message", &[], &bytes), of_file);
    assert_eq!(run_with("message", &["-"], &bytes), of_file);
}

#[test]
fn a_delta_is_seen_before_the_next_comes() {
    for (command, expected) in [("text", "a"), ("events", "{\"at\":"), ("sse", "{\"data\":")] {
        let mut child = command::spawn(&[command], Stdio::piped());
        let mut stdin = child.stdin.take().unwrap();
        let mut out = child.stdout.take().unwrap();
        stdin.write_all(b"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}}]}\n\n").unwrap();
        stdin.flush().unwrap();
        let (sender, receiver) = std::sync::mpsc::channel();
        let len = expected.len();
        let reader = std::thread::spawn(move || {
            let mut seen = vec![0; len];
            out.read_exact(&mut seen).unwrap();
            sender.send(seen).unwrap();
            std::io::copy(&mut out, &mut std::io::sink()).unwrap();
        });
        // Standard input is still open.
        let seen = receiver.recv_timeout(Duration::from_secs(20)).expect("nothing came");
        assert_eq!(String::from_utf8_lossy(&seen), expected);
        drop(stdin);
        reader.join().unwrap();
        child.wait().unwrap();
    }
}
