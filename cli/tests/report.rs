//! What the command reports about unexpected input, and its exit status when it is stopped.

mod command;

use command::{run_with, spawn};
use serde_json::Value;
use std::io::{Read, Write};
use std::process::{Command, Stdio};

const CHUNK: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}}]}\n\n";
const DONE: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
const ALL: [&str; 3] = ["message", "text", "events"];

/// Returns the lines on standard error, except those of the verdict and the quirks.
fn reports(err: &str) -> Vec<&str> {
    let lines = err.lines().map(|line| line.strip_prefix("deltawire: ").expect("every line is the command's"));
    lines.filter(|line| !line.starts_with("verdict: ") && !line.starts_with("quirk ")).collect()
}

#[test]
fn input_that_is_not_a_response_is_named_and_not_printed() {
    let long = format!("<p>{}", "é".repeat(200));
    let cut = format!("the input begins with: <p>{}\u{2026}", "é".repeat(97));
    for (input, line) in [
        ("", None),
        ("\n\n", None),
        (
            "<html>\u{1b}[31m502 Bad\u{9b}2J</html>\n",
            Some("the input begins with: <html>\\u001b[31m502 Bad\\u009b2J</html>"),
        ),
        ("\n  upstream connect error\rmore", Some("the input begins with: upstream connect error")),
        (&long, Some(&cut[..])),
        (
            "event: message-start\ndata: {\"type\":\"message-start\",\"id\":\"m\"}\n\n",
            Some("the input begins with: event: message-start"),
        ),
        // Another protocol, cut.
        (
            "event: ping\ndata: {}\n\nevent: e\ndata: {\"type\":\"x\",\"id\":\"i",
            Some("the input begins with: event: ping"),
        ),
        (": only\n\n", Some("the input begins with: : only")),
    ] {
        for command in ALL {
            let ran = run_with(command, &[], input);
            assert!([3, 4].contains(&ran.status), "{command} {input:?}: {}", ran.status);
            let named: Vec<_> =
                reports(&ran.err).into_iter().filter(|line| line.starts_with("the input begins")).collect();
            assert_eq!(named, Vec::from_iter(line), "{command} {input:?}");
            assert!(ran.err.starts_with("deltawire: verdict: "), "{command} {input:?}: {}", ran.err);
            if command == "events" {
                assert!(!ran.out.contains("\"chunk\""), "{input:?}: {}", ran.out);
            } else {
                assert_eq!(ran.out, "", "{command} {input:?}");
            }
        }
    }
    // A page stays a page if it contains an error of the API.
    let page = run_with("message", &[], "<html>\n<script>\n{\"error\":{\"message\":\"boo\"}}\n</script></html>\n");
    assert_eq!((page.status, page.out.as_str()), (4, ""));
    let page = run_with("sse", &[], "<html>\n");
    assert_eq!((page.status, page.out.as_str()), (4, ""));
    assert_eq!(reports(&page.err)[1], "the input begins with: <html>");
    // A response is printed.
    for input in [CHUNK, DONE, "data: {\"error\":{\"message\":\"no\"}}\n\n"] {
        let ran = run_with("message", &[], input);
        assert!(ran.out.starts_with('{') && !ran.err.contains("the input"), "{input}: {}", ran.err);
    }
}

#[test]
fn heads_and_chunk_lengths_of_http_are_named() {
    let stream = [CHUNK, DONE].concat();
    let head = "HTTP/1.1 200 OK\r\nDate: today\r\nContent-Type: text/event-stream\r\n\r\n";
    let head_line = "the input begins with the head of an HTTP response (from curl -i?): HTTP/1.1 200 OK";
    let framing = "the input has HTTP's chunk lengths between its bytes (from curl --raw?)";
    let chunks = |stream: &str| {
        let chunk = |event: &str| format!("{:x}\r\n{event}\r\n", event.len());
        stream.split_inclusive("\n\n").map(chunk).collect::<String>() + "0\r\n\r\n"
    };
    let both = [head, &chunks(&stream)].concat();
    for (input, expected) in [
        (stream.clone(), &[][..]),
        ([head, &stream].concat(), &[head_line]),
        (["HTTP/1.1 100 Continue\r\n\r\n", &both].concat(), &[&head_line.replace("200 OK", "100 Continue"), framing]),
        (chunks(&stream), &[framing]),
    ] {
        for command in ["message", "text", "events", "sse"] {
            for size in ["1", "100000"] {
                let ran = run_with(command, &["--read-size", size], &input);
                assert_eq!((reports(&ran.err), ran.status), (expected.to_vec(), 0), "{command} {input:?} at {size}");
            }
        }
    }
    let refused = "HTTP/2 401\r\ncontent-type: application/json\r\n\r\n{\"error\":{\"message\":\"no\"}}";
    let ran = run_with("message", &[], refused);
    assert_eq!((ran.status, reports(&ran.err)), (2, vec![&*head_line.replace("HTTP/1.1 200 OK", "HTTP/2 401")]));
    let page = [&head.replace("200 OK", "502 Bad Gateway"), "<html>\n"].concat();
    let ran = run_with("message", &[], &page);
    assert_eq!(reports(&ran.err), ["the input begins with: <html>", &head_line.replace("200 OK", "502 Bad Gateway")]);
}

#[test]
fn a_limit_is_named_with_its_option() {
    let long = format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{}\"}}}}]}}\n\n", "a".repeat(300));
    let deep = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"},\"x\":[[[[[[]]]]]]}]}\n\n";
    let id = "id: 0123456789\n\n";
    let choices = (0..129).map(|at| CHUNK.replace("\"index\":0", &format!("\"index\":{at}"))).collect::<String>();
    let calls = (0..257).map(|at| format!("{{\"index\":{at},\"id\":\"c{at}\",\"function\":{{\"name\":\"f\"}}}}"));
    let calls = calls.collect::<Vec<_>>().join(",");
    let calls = format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"tool_calls\":[{calls}]}}}}]}}\n\n");
    for (input, option, raised, named) in [
        (&*long, "--max-event-len=200", "--max-event-len=2000", "--max-event-len raises the limit"),
        (deep, "--max-depth=6", "--max-depth=20", "--max-depth raises the limit"),
        (id, "--max-id-len=4", "--max-id-len=10", "--max-id-len raises the limit"),
        (&choices, "--strict", "", "no option raises that limit"),
        (&calls, "--strict", "", "no option raises that limit"),
    ] {
        let input = [CHUNK, input, DONE].concat();
        for command in ALL {
            let ran = run_with(command, &[option], &input);
            assert!(ran.err.contains(named), "{command} {option}: {}", ran.err);
            if !raised.is_empty() {
                let ran = run_with(command, &[raised], &input);
                assert!(ran.status == 0 && !ran.err.contains("limit"), "{command} {raised}: {}", ran.err);
            }
        }
    }
    for command in ALL {
        let lines = |input: &str| run_with(command, &[], input).err.matches("than there is room for").count();
        assert!(lines(&[&choices, &*choices, DONE].concat()) <= 1, "{command}");
    }
    let ran = run_with("text", &[], &[&*choices, &choices, &calls].concat());
    let first = |index: usize| choices.match_indices("data").nth(index).expect("a chunk").0;
    let (choice, call) = (first(128), 2 * choices.len());
    let room =
        |what: &str, of: String| format!("more {what} than there is room for ({of}; no option raises that limit)");
    assert_eq!(
        reports(&ran.err)[..2],
        [
            room("choices", format!("2 times, first at choice 128, in the event at byte {choice}")),
            room("tool calls", format!("1 time, first at choice 0, in the event at byte {call}")),
        ]
    );
    let ran = run_with("sse", &["--max-event-len=200"], &long);
    assert_eq!(
        (ran.status, reports(&ran.err)),
        (3, vec!["1 event or comment was too long and left out (--max-event-len raises the limit)"])
    );
    let stream = [&long, DONE].concat();
    let ran = run_with("message", &["--max-message-len=100"], &stream);
    assert!(
        ran.status == 3
            && ran.err.contains("(--max-message-len raises the limit; at most 256 members of providers are kept)"),
        "{}",
        ran.err
    );
    assert_eq!(run_with("message", &["--max-message-len=1000"], &stream).err, "deltawire: verdict: done\n");
}

#[test]
fn text_reports_what_else_the_answer_is() {
    let choice = |index: u32, delta: &str, finish: &str| {
        format!("data: {{\"choices\":[{{\"index\":{index},\"delta\":{delta},\"finish_reason\":{finish}}}]}}\n\n")
    };
    let (text, call) =
        ("{\"content\":\"a\"}", "{\"tool_calls\":[{\"index\":0,\"id\":\"c\",\"function\":{\"name\":\"f\"}}]}");
    let calls = "choice 0 calls tools (deltawire message prints the calls)";
    let body = "{\"object\":\"chat.completion\",\"choices\":[{\"index\":0,\"message\":{\"refusal\":\"no\"},\"finish_reason\":\"length\"}]}";
    let (refusal, cut) =
        ("choice 0 is a refusal (deltawire message prints it)", "choice 0 was cut: its finish reason is length");
    let refuse = "{\"refusal\":\"no\"}";
    let reasons = "{\"reasoning_content\":\"hm\"}";
    let audio = "{\"audio\":{\"id\":\"a\",\"data\":\"AAAA\",\"transcript\":\"hm\"}}";
    let others = [
        "choice 1 has text, too (--choice 1 prints it)",
        "choice 2 calls tools (deltawire message prints the calls)",
        "choice 3 is a refusal (deltawire message prints it)",
        "choice 3 was cut: its finish reason is length",
    ];
    for (input, options, out, expected) in [
        (choice(0, text, "\"stop\""), &[][..], "a", &[][..]),
        (choice(0, call, "\"tool_calls\""), &[], "", &[calls]),
        (choice(0, "{\"function_call\":{\"name\":\"f\"}}", "\"function_call\""), &[], "", &[calls]),
        (choice(0, "{\"refusal\":\"no\"}", "\"stop\""), &[], "", &[refusal]),
        (choice(0, text, "\"length\""), &[], "a", &[cut]),
        (choice(0, text, "\"content_filter\""), &[], "a", &["choice 0 was cut: its finish reason is content_filter"]),
        (choice(3, text, "\"stop\""), &[], "", &["choice 0 has no text; choice 3 has (--choice 3 prints it)"]),
        // The other choices too: each kind of thing once.
        (choice(3, refuse, "\"length\""), &[], "", &others[2..]),
        ([choice(1, text, "\"stop\""), choice(0, text, "\"stop\"")].concat(), &[], "a", &others[..1]),
        (choice(1, text, "null").repeat(3) + &choice(0, text, "\"stop\""), &["--choice", "0"], "a", &others[..1]),
        ([choice(3, refuse, "\"length\""), choice(0, text, "\"stop\"")].concat(), &[], "a", &others[2..]),
        ([choice(2, call, "null"), choice(0, call, "\"stop\"")].concat(), &[], "", &[calls, others[1]]),
        (
            [choice(4, text, "null"), choice(3, refuse, "\"length\""), choice(2, call, "null")].concat()
                + &choice(1, text, "\"stop\""),
            &["--choice", "4"],
            "a",
            &others,
        ),
        (
            [choice(3, text, "null"), choice(1, text, "null")].concat(),
            &[],
            "",
            &["choice 0 has no text; choice 1 has (--choice 1 prints it); 1 more choice likewise"],
        ),
        (body.into(), &[], "", &[refusal, cut]),
        (choice(0, reasons, "\"stop\""), &[], "", &["choice 0 has reasoning but no text (--reasoning prints it)"]),
        (choice(0, reasons, "\"stop\""), &["--reasoning"], "hm", &[]),
        (choice(0, reasons, "null") + &choice(0, text, "\"stop\""), &[], "a", &[]),
        (
            choice(1, reasons, "null") + &choice(0, text, "\"stop\""),
            &["--reasoning"],
            "a",
            &["choice 1 has reasoning but no text (--choice 1 --reasoning prints it)"],
        ),
        (choice(0, audio, "\"stop\""), &[], "", &["choice 0 has audio (deltawire message prints it)"]),
    ] {
        for size in ["1", "100000"] {
            let ran = run_with("text", &[options, &["--read-size", size]].concat(), &input);
            assert_eq!((&*ran.out, reports(&ran.err)), (out, expected.to_vec()), "{input} at {size}");
        }
    }
}

#[test]
fn text_prints_an_error_as_the_library_does() {
    for (error, line) in [
        ("{\"message\":\"no\",\"code\":429}", "error: no (429)"),
        ("{\"message\":\"no\",\"type\":\"t\",\"code\":\"c\"}", "error: no (c)"),
        ("{\"message\":\"no\",\"type\":\"t\",\"code\":null}", "error: no (t)"),
        ("{\"code\":429}", "error: an error without a message (429)"),
        ("\"no\"", "error: no"),
    ] {
        let ran = run_with("text", &[], &format!("data: {{\"error\":{error}}}\n\n"));
        assert_eq!((ran.status, reports(&ran.err)), (2, vec![line]), "{error}");
    }
}

/// Comments, IDs and times are not events. `sse` has the same status as the other commands then.
#[test]
fn sse_without_an_event_is_a_stream_that_was_cut() {
    for input in [": only\n\n", ": only\n", "retry: 5\n\n", "id: 7\n\n", ": a\n\nevent: x\n\n"] {
        let ran = run_with("sse", &[], input);
        assert_eq!((ran.status, reports(&ran.err)), (3, vec!["no event came"]), "{input:?}");
        assert_eq!(run_with("message", &[], input).status, 3, "{input:?}");
    }
    for input in ["", "\n\n", "<html>\n: c\n", "plain\n"] {
        let ran = run_with("sse", &[], input);
        assert_eq!(ran.status, 4, "{input:?}: {}", ran.err);
        assert_eq!(run_with("message", &[], input).status, 4, "{input:?}");
    }
}

/// Calls without IDs are reported without an ID.
#[test]
fn a_second_call_under_one_index_need_not_have_an_id() {
    let call = |id: &str| {
        let function = "\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}";
        format!("data: {{\"choices\":[{{\"delta\":{{\"tool_calls\":[{{\"index\":0,{id}{function}}}]}}}}]}}\n\n")
    };
    let no_id = [call("\"id\":\"\","), call("\"id\":\"\",").replace("{}", "[]"), DONE.into()].concat();
    let ids = [call("\"id\":\"a\","), call("\"id\":\"b\","), DONE.into()].concat();
    for input in [no_id, ids] {
        let ran = run_with("message", &[], &input);
        let expected = "quirk C15: another tool call came under an index already in use (1 time)";
        assert!(ran.err.contains(expected), "{input}: {}", ran.err);
    }
}

#[test]
fn sse_names_what_was_cut() {
    let (line, event) = ("the stream ended inside a line", "the stream ended inside an event");
    let dropped = "the last block has no blank line after it, and was dropped (--flush prints it)";
    let long = "quirk F11: an event ID over the limit was ignored (1 time; --max-id-len raises the limit)";
    let (id, flush) = (&["--max-id-len", "3"][..], &["--flush"][..]);
    for (tail, options, expected, status) in [
        ("", &[][..], &[][..], 0),
        ("dat", &[], &[line], 3),
        ("dat", flush, &[line], 3),
        (": pin", &[], &[line], 3),
        (": pin", flush, &[], 0),
        ("foo", &[], &[line], 3),
        ("retry: 5", &[], &[event], 3),
        ("retry: 5", flush, &[], 0),
        ("data: x", &[], &[dropped], 3),
        ("data: x\n", &[], &[dropped], 3),
        ("data: x\n", flush, &[], 0),
        ("data: x\nda", &[], &[dropped], 3),
        ("event: x\n", &[], &[event], 3),
        ("event: x\n", flush, &[event], 3),
        ("id: 1\n", &[], &[event], 3),
        ("id: 1", &[], &[event], 3),
        ("id: 12345", id, &[event], 3),
        ("id: 12345\n", id, &[event], 3),
        ("id: 12345\n\n", id, &[long], 3),
        ("id: 12345\ndata: x\n\n", id, &[long], 3),
        ("id: 123\n\n", id, &[], 0),
    ] {
        for size in ["1", "100000"] {
            let ran = run_with("sse", &[options, &["--read-size", size]].concat(), &["data: a\n\n", tail].concat());
            let lines: Vec<&str> =
                ran.err.lines().map(|line| line.strip_prefix("deltawire: ").expect("ours")).collect();
            assert_eq!((lines, ran.status), (expected.to_vec(), status), "{tail:?} at {size}");
            if status == 3 && options.is_empty() {
                let finished = DONE.split_inclusive("\n\n").next().expect("an event");
                assert_eq!(run_with("message", &[], &[finished, tail].concat()).status, 3, "{tail:?}");
            }
        }
    }
    // Without an event before the cut, the input is a stream that was cut, or not an event stream.
    for (tail, first, status) in
        [("dat", line, 3), (": pin", line, 3), ("foo", "this is not an event stream", 4), ("<p", "this is not", 4)]
    {
        let ran = run_with("sse", &[], tail);
        assert!(ran.status == status && reports(&ran.err)[0].starts_with(first), "{tail}: {ran:?}");
        assert_eq!(run_with("message", &[], tail).status, status, "{tail}");
    }
}

/// When the reader of the output goes away, the status is that of the first error so far.
#[test]
fn a_broken_pipe_keeps_the_status() {
    let error = "data: {\"error\":{\"message\":\"no\"}}\n\n";
    let malformed = "data: {\"choices\":[}\n\n";
    let long = format!(": {}\n\n", "a".repeat(300));
    let more = CHUNK.repeat(20_000);
    for (command, first, status) in [
        ("events", CHUNK, 0),
        ("events", error, 2),
        ("events", malformed, 3),
        ("events", &long, 3),
        ("text", CHUNK, 0),
        ("text", &[error, CHUNK].concat(), 2),
        ("sse", CHUNK, 0),
        ("sse", &long, 3),
        // `message` reads to the end before it prints.
        ("message", error, 2),
        ("message", CHUNK, 3),
    ] {
        // The reader goes away before the first byte, or after it.
        for reads in [false, true] {
            let mut child = spawn(&[command, "--max-event-len", "200"], Stdio::piped());
            let (out, mut stdin) = (child.stdout.take(), child.stdin.take().expect("a pipe"));
            let bytes = [first, &more].concat();
            let reader = std::thread::spawn(move || reads.then(|| out.map(|mut out| out.read_exact(&mut [0]))));
            // The command may stop reading at any time.
            let _ = stdin.write_all(bytes.as_bytes());
            drop(stdin);
            let ran = child.wait_with_output().expect("it ends");
            let _ = reader.join();
            assert_eq!(ran.status.code(), Some(status), "{command} {first}");
            // Only `message` has read to the end.
            let err = String::from_utf8_lossy(&ran.stderr);
            assert_eq!(err.contains("verdict"), command == "message", "{command} {first}: {err}");
        }
    }
}

#[test]
fn message_prints_what_came_until_an_interrupt() {
    // More than a pipe holds, so the command read the first bytes when all is written.
    let keep_alive = ": x\n\n".repeat(100_000);
    for (first, content) in [(CHUNK, Some("a")), ("<html>", None)] {
        let mut child = spawn(&["message"], Stdio::piped());
        let mut stdin = child.stdin.take().expect("a pipe");
        stdin.write_all([first, "\n", &keep_alive].concat().as_bytes()).expect("it reads");
        let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill");
        assert!(killed.success());
        let (mut out, mut err) = (String::new(), String::new());
        child.stdout.take().expect("a pipe").read_to_string(&mut out).expect("UTF-8");
        child.stderr.take().expect("a pipe").read_to_string(&mut err).expect("UTF-8");
        assert_eq!(child.wait().expect("it ends").code(), Some(130), "{err}");
        drop(stdin);
        let message = serde_json::from_str::<Value>(&out).ok();
        let printed = message.as_ref().and_then(|message| message["choices"][0]["message"]["content"].as_str());
        assert_eq!(printed, content, "{out}");
        assert!(content.is_some() || out.is_empty(), "{out}");
        assert!(err.starts_with("deltawire: interrupted: this is the response so far\n"), "{err}");
    }
}

#[test]
fn a_message_that_another_replaces_is_not_complete() {
    let message =
        |text: &str| format!("data: {{\"choices\":[{{\"index\":0,\"message\":{{\"content\":\"{text}\"}}}}]}}\n\n");
    for (texts, status) in [(["he", "hello"], 0), (["hello", "world"], 3)] {
        let input = texts.map(message).concat() + DONE;
        for command in ALL {
            let ran = run_with(command, &[], &input);
            assert_eq!(ran.status, status, "{command} {texts:?}: {}", ran.err);
            assert_eq!(ran.err.contains("verdict: done, incomplete: 1 replaced"), status > 0, "{command}: {}", ran.err);
        }
    }
}
