//! A message is the same however its updates reach the log (pulled, pushed, from an emitter, from the records of a
//! batch), whatever the buffers, and however it is read.
#![cfg(feature = "serde")]

use crate::common::corpus::{recorded, samples};
use crate::common::logged::{add, delta, each_chunk, pushed, Counts};
use crate::common::random::Random;
use deltawire::message::{Field, LogError, MessageLog};
use deltawire::track::Tracker;
use deltawire::Config;

#[test]
fn samples_and_recorded_streams() {
    let mut counts = Counts::default();
    samples().iter().for_each(|stream| counts.stream(&stream.name, &stream.bytes, Config::default()));
    counts.print("samples");
    let streams = recorded("message_log");
    if !streams.is_empty() {
        let mut counts = Counts::default();
        streams.iter().for_each(|stream| counts.stream(&stream.name, &stream.bytes, Config::default()));
        counts.print("corpus");
    }
}

#[test]
fn every_quirk() {
    let mut counts = Counts::default();
    for case in crate::common::case::all() {
        counts.stream(&case.title(), &case.input, case.config);
    }
    counts.print("quirks");
}

/// A call appears with the first that is said of it, even if that is a provider's member and the call opens behind another one.
#[test]
fn calls_under_one_index_are_listed_as_they_appeared() {
    let calls = [
        r#"{"function":{"arguments":"a"}},{"id":"c","function":{"name":"ping"}}"#,
        r#"{"index":2,"function":{"odd":1}}"#,
        r#"{"index":0,"id":"d","function":{"name":"get"}}"#,
        r#"{"index":2,"function":{"arguments":"b"}}"#,
    ];
    let event = |calls| format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"tool_calls\":[{calls}]}}}}]}}\n\n");
    let stream = calls.map(event).concat();
    let mut counts = Counts::default();
    counts.stream("calls", stream.as_bytes(), Config::default());
    counts.print("calls under one index");
    let assembler = pushed(stream.as_bytes(), usize::MAX, Config::default());
    let calls = &assembler.message().unwrap().choices[0].tool_calls;
    assert_eq!(calls.iter().map(|call| call.id.as_deref()).collect::<Vec<_>>(), [None, Some("c"), None, Some("d")]);
}

/// Generates a payload of random members, with the deviations of real streams and worse ones.
fn random_payload(random: &mut impl FnMut(usize) -> usize) -> String {
    let texts = ["", "a", "bc", "\\ud83d", "\\ude00x", "\\n\\u0000\\\"", "\\q", "\u{e4}\u{1f600}", "{}", "\u{1}"];
    let indexes = ["0", "0", "0", "1", "1", "7", "-1", "\"2\"", "99999999999", "null"];
    let raws = [
        "[]",
        "[1]",
        "[{\"a\":\"\\ud800\"},2]",
        "[x]",
        "[1,[2,x],{\"b\":[y],\"c\":3}]",
        "{}",
        "null",
        "\"x\"",
        "[\"\\q\"]",
    ];
    let text = |random: &mut dyn FnMut(usize) -> usize| texts[random(texts.len())].to_string();
    let tool = |random: &mut dyn FnMut(usize) -> usize| {
        let mut call = Vec::new();
        if random(3) > 0 {
            call.push(format!(r#""index":{}"#, indexes[random(indexes.len())]));
        }
        if random(3) == 0 {
            call.push(format!(r#""id":"{}""#, ["", "x", "y"][random(3)]));
        }
        if random(4) == 0 {
            call.push(format!(r#""type":"{}""#, ["function", "custom"][random(2)]));
        }
        let (outer, input) = [("function", "arguments"), ("custom", "input")][usize::from(random(6) == 0)];
        let name = ["", "get", "get_weather", "get", "set"][random(5)];
        let arguments = ["\"\"", "\"{\\\"a\\\":\"", "\"1}\"", "\"\\ud83d\"", "\"\\ude00\"", "{\"x\":1}"][random(6)];
        match random(4) {
            0 => call.push(format!(r#""{outer}":{{"name":"{name}"}}"#)),
            1 => call.push(format!(r#""{outer}":{{"name":"{name}","{input}":{arguments}}}"#)),
            2 => call.push(format!(r#""{outer}":{{"{input}":{arguments}}}"#)),
            _ => {}
        }
        format!("{{{}}}", call.join(","))
    };
    let detail = |random: &mut dyn FnMut(usize) -> usize| {
        let index = ["0", "0", "1", "null"][random(4)];
        let rest = ["", ",\"data\":\"ENC\"", ",\"signature\":\"s\"", ",\"format\":null"][random(4)];
        let kind = ["text", "summary"][random(2)];
        format!(r#"{{"type":"reasoning.{kind}","{kind}":"{}","index":{index}{rest}}}"#, text(random))
    };
    let body = |random: &mut dyn FnMut(usize) -> usize| {
        let mut members = Vec::new();
        for _ in 0..random(4) {
            members.push(match random(13) {
                11 => format!(r#""reasoning_details":[{},{}]"#, detail(random), detail(random)),
                12 => format!(r#""sign\u0061ture":{},"reasoning_details":null"#, raws[random(raws.len())]),
                0 => format!(r#""role":"{}""#, ["assistant", "tool", ""][random(3)]),
                1 | 2 => format!(r#""content":"{}""#, text(random)),
                3 => format!(r#""reasoning":"{}""#, text(random)),
                4 => format!(r#""refusal":"{}""#, text(random)),
                5 | 6 => {
                    let calls: Vec<String> = (0..random(4)).map(|_| tool(random)).collect();
                    format!(r#""tool_calls":[{}]"#, calls.join(","))
                }
                7 => match random(3) {
                    0 => r#""function_call":{}"#.to_string(),
                    1 => format!(r#""function_call":{{"name":"{}"}}"#, ["f", "fg", "h"][random(3)]),
                    _ => format!(r#""function_call":{{"arguments":"{}"}}"#, text(random)),
                },
                8 => match random(3) {
                    0 => r#""audio":{}"#.to_string(),
                    1 => format!(r#""audio":{{"id":"{}","data":"{}"}}"#, text(random), text(random)),
                    _ => format!(r#""audio":{{"transcript":"{}","expires_at":{}}}"#, text(random), random(100)),
                },
                9 => format!(r#""annotations":{}"#, raws[random(raws.len())]),
                _ => format!(r#""content":["{}",{{"type":"thinking","thinking":"t"}}]"#, text(random)),
            });
        }
        members.join(",")
    };
    let choice = |random: &mut dyn FnMut(usize) -> usize| {
        let mut members = vec![format!(r#""index":{}"#, indexes[random(indexes.len())])];
        match random(8) {
            0 => members.push(format!(r#""message":{{{}}}"#, body(random))),
            1 => members.push(format!(r#""delta":{{{}}},"message":{{{}}}"#, body(random), body(random))),
            2 => {}
            _ => members.push(format!(r#""delta":{{{}}}"#, body(random))),
        }
        match random(11) {
            4 => members.push(format!(r#""content_filter_results":{}"#, raws[random(raws.len())])),
            0 => members.push(format!(r#""finish_reason":"{}""#, ["stop", "length", ""][random(3)])),
            1 => members.push(format!(r#""native_finish_reason":"{}""#, ["END", "MAX", ""][random(3)])),
            2 => {
                let names = ["content", "refusal", "tokens", "token_logprobs", "top_logprobs", "text_offset", "other"];
                let mut list = || format!(r#""{}":{}"#, names[random(7)], raws[random(raws.len())]);
                members.push(format!(r#""logprobs":{{{},{}}}"#, list(), list()));
            }
            3 => members
                .push(format!(r#""error":{}"#, ["\"bad\"", "{\"message\":\"m\",\"code\":5}", "[x]", "{}"][random(4)])),
            _ => {}
        }
        format!("{{{}}}", members.join(","))
    };
    let mut members = Vec::new();
    for _ in 0..random(3) {
        members.push(match random(12) {
            9 => format!(r#""citations":{}"#, raws[random(raws.len())]),
            10 => format!(r#""timings":{{"n":-0,"m":{}}},"obfuscation":"x""#, random(1000)),
            11 => r#""x_groq":{"id":"q","usage":{"seed":15924764223251450000}},"n\"":1"#.to_string(),
            0 => format!(r#""id":"{}""#, text(random)),
            1 => format!(r#""model":"{}""#, text(random)),
            2 => format!(r#""provider":"{}""#, text(random)),
            3 => format!(r#""created":{}"#, ["0", "17", "\"18\"", "x"][random(3)]),
            4 => format!(r#""service_tier":{}"#, ["\"t\"", "1", "true"][random(3)]),
            5 => format!(r#""system_fingerprint":"{}","object":"{}""#, text(random), text(random)),
            6 => format!(r#""error":{}"#, ["\"bad\"", "{\"message\":\"m\"}", "[1,x]", "null"][random(4)]),
            _ => format!(r#""usage":{{"a":{},"b":{}}}"#, random(1000), raws[random(raws.len())]),
        });
    }
    let choices: Vec<String> = (0..[0, 1, 1, 1, 2, 3][random(6)]).map(|_| choice(random)).collect();
    members.push(format!(r#""choices":[{}]"#, choices.join(",")));
    format!("{{{}}}", members.join(","))
}

#[test]
fn generated_streams() {
    let mut counts = Counts::default();
    let mut numbers = Random::new(11);
    let mut random = |bound| numbers.below(bound);
    for run in (0..2000).step_by(crate::common::thin::thin()) {
        let payloads: Vec<String> = (0..2 + random(30)).map(|_| random_payload(&mut random)).collect();
        let stream: String = payloads.iter().map(|payload| format!("data: {payload}\n\n")).collect();
        counts.stream(&format!("run {run}"), stream.as_bytes(), Config::default());
    }
    counts.print("generated");
}

#[test]
fn a_buffer_that_is_too_small_changes_nothing() {
    let payloads = [
        r#"{"id":"c","choices":[{"index":0,"delta":{"role":"r","content":"abc"}}]}"#.to_string(),
        r#"{"model":"m\u00e9","choices":[]}"#.to_string(),
        delta(0, r#""content":"d\ud83d""#),
        delta(0, r#""content":"\ude00""#),
        delta(0, r#""tool_calls":[{"index":0,"id":"x","function":{"name":"f","arguments":"{"}},{"index":1,"id":"y"}]"#),
        delta(0, r#""tool_calls":[{"index":0,"function":{"name":"fun","arguments":"}"}}]"#),
        delta(1, r#""content":"\ud83d","annotations":[1,2]"#),
        r#"{"choices":[{"index":2,"message":{"content":"whole","role":"r"},"logprobs":{"content":[1]}}]}"#.to_string(),
        r#"{"choices":[{"index":2,"delta":{"content":"delta"},"finish_reason":"stop"}]}"#.to_string(),
        r#"{"choices":[{"index":2,"finish_reason":"longer"}],"usage":{"total_tokens":1}}"#.to_string(),
        r#"{"choices":[],"usage":{"total_tokens":22},"error":"e"}"#.to_string(),
        r#"{"choices":[],"citations":["a"]}"#.to_string(),
        delta(0, r#""reasoning_details":[{"type":"t","index":0,"text":"a"}]"#),
        delta(0, r#""reasoning_details":[{"type":"t","index":0,"text":"b"},{"data":"c"}]"#),
    ];
    let (mut tracker, mut log): (Tracker, MessageLog) = Default::default();
    let mut buffer = vec![0; 4096];
    let mut tried = 0;
    #[allow(clippy::type_complexity)] // A closure of this test alone.
    let mut step = |write: &mut dyn FnMut(&mut MessageLog, &mut [u8]) -> Result<(), LogError>| {
        let (len, state, bytes) = (log.len(), format!("{log:?}"), buffer.clone());
        let mut ample = log.clone();
        let mut room = buffer.clone();
        assert_eq!(write(&mut ample, &mut room), Ok(()));
        for size in len..ample.len() {
            let mut small = bytes[..size].to_vec();
            let Err(LogError::NeedStorage { need }) = write(&mut log, &mut small) else { panic!("{size} bytes did") };
            assert!(need >= ample.len() && need >= size + size / 2, "{need}");
            assert!(need <= ample.len().max(size + size / 2), "{need} of {size}");
            assert_eq!((format!("{log:?}"), &small[..len]), (state.clone(), &bytes[..len]));
            tried += 1;
        }
        // Exactly that many bytes suffice.
        let mut exact = bytes[..ample.len()].to_vec();
        assert_eq!(write(&mut log, &mut exact), Ok(()));
        assert_eq!(exact, room[..ample.len()]);
        buffer[..exact.len()].copy_from_slice(&exact);
    };
    each_chunk(&payloads, |chunk| {
        // Each write separately, since each must be complete or have no effect.
        if chunk.other_members().next().is_none() {
            step(&mut |log, buffer| log.chunk(buffer, chunk));
        }
        for (choice, update) in tracker.updates(chunk) {
            step(&mut |log, buffer| log.put(buffer, choice, &update));
        }
    });
    for (choice, update) in tracker.finish(false) {
        step(&mut |log, buffer| log.put(buffer, choice, &update));
    }
    assert!(tried > 200, "{tried}");
    let mut text = [0; 8];
    assert_eq!(log.text(&buffer, Field::Content, 0, 0, &mut text), Some(8));
    assert_eq!(text, *"abcd\u{1f600}".as_bytes());
}

#[test]
fn a_log_with_a_limit_has_no_gap() {
    let mut log: MessageLog = MessageLog::with_limit(10);
    let mut tracker: Tracker = Tracker::new();
    let mut buffer = vec![0; 4096];
    let mut after = |payload: String| {
        let mut done = None;
        each_chunk(&[payload], |chunk| done = add(&mut log, &mut buffer, &mut tracker, chunk));
        (done, log.left_out(), log.text(&buffer, Field::Content, 0, 0, &mut []))
    };
    let too_long = Some(LogError::TooLong);
    assert_eq!(after(delta(0, r#""content":"12345""#)), (None, None, Some(5)));
    assert_eq!(after(delta(0, r#""content":"123456""#)), (too_long, too_long, Some(5)));
    assert_eq!(after(delta(0, r#""content":"6""#)), (too_long, too_long, Some(5)));
    // Members that replace others or stand alone are still accepted.
    assert_eq!(after(delta(0, r#""role":"roles""#)), (None, too_long, Some(5)));
    assert_eq!(after(delta(1, r#""role":"r""#)), (too_long, too_long, Some(5)));
}

#[test]
fn replaced_values_make_room() {
    let mut log: MessageLog = MessageLog::new();
    let mut buffer = vec![0; 1 << 20];
    let usage: Vec<String> = (0..5000)
        .map(|n| {
            let choice = r#"{"index":0,"delta":{"content":"word "}}"#;
            let pad = "x".repeat(n % 50);
            format!(r#"{{"choices":[{choice}],"usage":{{"total_tokens":{n},"pad":"{pad}"}}}}"#)
        })
        .collect();
    let mut tracker: Tracker = Tracker::new();
    let mut longest = 0;
    each_chunk(&usage, |chunk| {
        assert_eq!(add(&mut log, &mut buffer, &mut tracker, chunk), None);
        longest = longest.max(log.len());
    });
    let mut text = vec![0; 25_000];
    assert_eq!(log.text(&buffer, Field::Content, 0, 0, &mut text), Some(25_000));
    assert_eq!(text, b"word ".repeat(5000));
    // The log drops replaced usage, so it is little longer than the text.
    assert!(longest < 3 * 25_000 + 4096, "{longest}");

    assert!(!log.is_empty());
    log.reset();
    tracker.reset();
    assert!(log.is_empty());
    let messages: Vec<String> = (0..1000)
        .map(|n| format!(r#"{{"choices":[{{"index":0,"message":{{"content":"{}"}}}}]}}"#, "ab".repeat(n)))
        .collect();
    let mut longest = 0;
    each_chunk(&messages, |chunk| {
        assert_eq!(add(&mut log, &mut buffer, &mut tracker, chunk), None);
        longest = longest.max(log.len());
    });
    assert_eq!(log.text(&buffer, Field::Content, 0, 0, &mut text), Some(1998));
    assert_eq!(text[..1998], *"ab".repeat(999).as_bytes());
    assert!(longest < 3 * 2000 + 2048, "{longest}");
}

#[test]
fn whole_messages_go_on_with_one_another() {
    let messages = [
        r#""role":"a","content":"c","reasoning":"r","refusal":"n","annotations":[1,2],
            "function_call":{"name":"fun","arguments":"args"},
            "audio":{"id":"i","data":"QQ==","transcript":"t","expires_at":7},
            "tool_calls":[{"index":3,"id":"x","function":{"name":"f","arguments":"{}"}},{"index":3,"id":"y"}]"#,
        r#""role":"b","content":"d","annotations":[3],"tool_calls":[{"id":"z","custom":{"name":"g","input":"in"}}]"#,
        r#""annotations":[],"audio":{"transcript":"u"}"#,
        r#""role":"a","content":"cd","reasoning":"r","refusal":"no","annotations":[1,2],
            "function_call":{"name":"fun","arguments":"args..."},
            "tool_calls":[{"index":3,"id":"x","function":{"name":"f","arguments":"{}"}},{"index":3,"id":"y"},{"id":"z"}]"#,
        r#""refusal":"no","reasoning":"q","function_call":{"name":"other"}"#,
        "",
    ];
    let mut counts = Counts::default();
    for first in messages {
        for second in messages {
            for last in [r#""message":{"content":"m"}"#, r#""delta":{"content":"e"}"#, r#""delta":{"role":"s"}"#] {
                let choices =
                    [format!(r#""message":{{{first}}}"#), format!(r#""message":{{{second}}}"#), last.to_string()];
                let events = choices.map(|choice| {
                    let payload = format!(r#"{{"choices":[{{"index":2,{choice}}}]}}"#).replace('\n', "");
                    format!("data: {payload}\n\n")
                });
                counts.stream(&events.concat(), events.concat().as_bytes(), Config::default());
            }
        }
    }
    counts.print("messages");
}

#[test]
fn names_that_grow_replace_what_was_there() {
    let pieces = [
        r#""function_call":{"name":"ge"}"#,
        r#""function_call":{"name":"get"}"#,
        r#""function_call":{"name":"_it"},"role":"a""#,
        r#""function_call":{"name":"get_it_all","arguments":"x"},"role":"b""#,
        r#""tool_calls":[{"index":0,"function":{"name":"ge"}},{"index":1,"function":{"name":"ge"}}]"#,
        r#""tool_calls":[{"index":1,"function":{"name":"get"}},{"index":0,"function":{"name":"x"}}]"#,
    ];
    let stream: String = pieces.iter().map(|piece| format!("data: {}\n\n", delta(1, piece))).collect();
    Counts::default().stream("names", stream.as_bytes(), Config::default());
    let choice = pushed(stream.as_bytes(), usize::MAX, Config::default()).message().unwrap().choices.remove(0);
    assert_eq!(choice.function_call.unwrap().name.as_deref(), Some("get_it_all"));
    let names: Vec<_> = choice.tool_calls.iter().map(|call| call.name.as_deref()).collect();
    assert_eq!(names, [Some("gex"), Some("get")]);
}

#[test]
fn choices_and_calls_are_bounded() {
    let (mut log, mut tracker): (MessageLog<2, 2>, Tracker) = Default::default();
    let mut buffer = vec![0; 4096];
    let chunks = [
        r#"{"choices":[{"index":5,"delta":{"content":"a"}},{"index":3,"delta":{"content":"b"}},{"index":4,"delta":{"content":"c"}}],"usage":{"n":1}}"#.to_string(),
        delta(5, r#""tool_calls":[{"index":9,"id":"a"},{"index":8,"id":"b"},{"index":7,"id":"c","function":{"name":"n","arguments":"x"}}]"#),
        r#"{"choices":[{"index":3,"native_finish_reason":"x"},{"index":6,"native_finish_reason":"y"}]}"#.to_string(),
    ];
    let mut expected = [LogError::TooManyChoices, LogError::TooManyCalls, LogError::TooManyChoices].into_iter();
    each_chunk(&chunks, |chunk| assert_eq!(add(&mut log, &mut buffer, &mut tracker, chunk), expected.next()));
    assert_eq!(
        (log.choices(), log.choice_index(0), log.choice_index(1), log.choice_index(2)),
        (2, Some(3), Some(5), None)
    );
    assert_eq!((log.calls(5), log.calls(3), log.calls(4)), (2, 0, 0));
    let mut text = [0; 1];
    assert_eq!(log.text(&buffer, Field::CallId, 5, 0, &mut text).map(|_| text), Some(*b"b"));
    assert_eq!(log.text(&buffer, Field::CallId, 5, 1, &mut text).map(|_| text), Some(*b"a"));
    assert_eq!(log.text(&buffer, Field::NativeFinishReason, 3, 0, &mut text).map(|_| text), Some(*b"x"));
    assert_eq!(log.text(&buffer, Field::Content, 4, 0, &mut text), None);

    // A message with too many calls: the excess calls are skipped, and the rest is kept.
    let (mut log, mut tracker): (MessageLog<2, 2>, Tracker) = Default::default();
    let message = |content: &str, calls: &str| {
        format!(r#"{{"choices":[{{"message":{{"content":"{content}","tool_calls":[{calls}]}}}}]}}"#)
    };
    let (two, three) = (r#"{"id":"a"},{"id":"b"}"#, r#"{"id":"a"},{"id":"b"},{"id":"c","function":{"name":"n"}}"#);
    let mut expected = [None, Some(LogError::TooManyCalls)].into_iter();
    each_chunk(&[message("x", two), message("xy", three)], |chunk| {
        assert_eq!(add(&mut log, &mut buffer, &mut tracker, chunk), expected.next().unwrap());
    });
    assert_eq!(log.calls(0), 2);
    assert_eq!(log.text(&buffer, Field::CallId, 0, 1, &mut text).map(|_| text), Some(*b"b"));
    let mut text = [0; 2];
    assert_eq!(log.text(&buffer, Field::Content, 0, 0, &mut text).map(|_| text), Some(*b"xy"));
}
