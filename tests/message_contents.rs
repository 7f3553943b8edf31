//! What a message keeps: members of providers, calls, audio, `reasoning_details`, errors; the same in each way that it is made.
#![cfg(feature = "serde")]

use crate::common::completion_json;
use crate::common::logged::{add, delta, each_chunk, emitted, pushed, Assembled, Counts, Logged};
use crate::common::records::{each_record, Room};
use deltawire::chat::Owner;
use deltawire::delta::Kind;
use deltawire::message::{Assembler, Completion, Detail, Field, LogError, Member, MessageLog};
use deltawire::track::Tracker;
use deltawire::{Config, Event, Parser, Update};
use serde_json::Value;

#[test]
fn texts_of_errors() {
    let mut buffer = vec![0; 4096];
    let mut text = [0; 64];
    let mut text_of = |log: &MessageLog, buffer: &[u8], field| {
        let len = log.text(buffer, field, 0, 0, &mut text);
        len.map(|len| String::from_utf8(text[..len].to_vec()).unwrap())
    };
    let mut log: MessageLog = MessageLog::new();
    let payload =
        r#"{"error":{"message":"sl\u00f6w","code":429,"type":"t"},"choices":[{"error":{"message":"m","code":"c"}}]}"#;
    each_chunk(&[payload.to_string()], |chunk| {
        assert_eq!(add(&mut log, &mut buffer, &mut Tracker::<8, 32>::new(), chunk), None)
    });
    for (field, expected) in [
        (Field::Error, Some(r#"{"message":"sl\u00f6w","code":429,"type":"t"}"#)),
        (Field::ErrorMessage, Some("sl\u{f6}w")),
        (Field::ErrorCode, Some("429")),
        (Field::ErrorType, Some("t")),
        (Field::ChoiceError, Some(r#"{"message":"m","code":"c"}"#)),
        (Field::ChoiceErrorMessage, Some("m")),
        (Field::ChoiceErrorCode, Some("c")),
        (Field::ChoiceErrorType, None),
    ] {
        assert_eq!(text_of(&log, &buffer, field).as_deref(), expected, "{field:?}");
    }

    let mut log: MessageLog = MessageLog::new();
    let mut parser = Parser::new([0; 512]);
    let mut input = &b"event: error\ndata: out of \xff luck\n\n"[..];
    while let Some(event) = parser.next(&mut input).unwrap() {
        let Event::Chunk(chunk) = *event else { continue };
        assert_eq!(add(&mut log, &mut buffer, &mut Tracker::<8, 32>::new(), &chunk), None);
    }
    assert_eq!(text_of(&log, &buffer, Field::Error).as_deref(), Some("out of \u{fffd} luck"));
    assert_eq!(text_of(&log, &buffer, Field::ErrorMessage).as_deref(), Some("out of \u{fffd} luck"));
    assert_eq!(text_of(&log, &buffer, Field::ErrorCode), None);
    assert_eq!(log.error_is_json(&buffer), Some(false));
}

/// Returns the message of these payloads, as extended JSON.
fn extended(payloads: &[String]) -> String {
    let (mut tracker, mut logged) = (Tracker::<128, 256>::new(), Logged::<128, 256>::new(0));
    each_chunk(payloads, |chunk| assert_eq!(logged.add(&mut tracker, chunk), None));
    logged.json(Detail::Extended)
}

#[test]
fn a_whole_message_keeps_its_members() {
    let json = extended(&[
        r#"{"choices":[{"index":0,"message":{"content":"x","mm":3,"reasoning_details":[{"type":"reasoning.encrypted","data":"AA"}]},"finish_reason":"stop"}]}"#.to_string(),
    ]);
    let end = r#""message":{"role":"assistant","content":"x","reasoning_details":[{"type":"reasoning.encrypted","data":"AA"}],"mm":3},"finish_reason":"stop"}]}"#;
    assert!(json.ends_with(end), "{json}");
}

#[test]
fn provider_members_are_kept_unchanged() {
    let json = extended(&[
        r#"{"id":"c","citations":["a"],"timings":{"n":1},"x_groq":{"id":"q"},"obfuscation":"pad","choices":[{"index":0,"delta":{"content":"a","sig":"1"},"content_filter_results":{},"stop_reason":null}]}"#.to_string(),
        r#"{"citations":["a", "b"],"timings":{"n": -0,"m":18446744073709551616},"choices":[{"index":0,"delta":{"sig":null,"content":"b"},"stop_reason":7}]}"#.to_string(),
        r#"{"citations":null,"choices":[{"index":1,"delta":{"content":"c","sig":"2"},"content_filter_results":{"x":1}}],"\u0063itations":["c"]}"#.to_string(),
    ]);
    assert_eq!(
        json,
        concat!(
            r#"{"id":"c","object":"chat.completion","choices":["#,
            r#"{"index":0,"message":{"role":"assistant","content":"ab","sig":"1"},"finish_reason":null,"content_filter_results":{},"stop_reason":7},"#,
            r#"{"index":1,"message":{"role":"assistant","content":"c","sig":"2"},"finish_reason":null,"content_filter_results":{"x":1}}],"#,
            r#""citations":["c"],"timings":{"n": -0,"m":18446744073709551616},"x_groq":{"id":"q"}}"#,
        )
    );
}

#[test]
fn reasoning_keeps_the_name_it_came_by() {
    let name = |payloads: &[String]| {
        let (mut tracker, mut logged) = (Tracker::<128, 256>::new(), Logged::<128, 256>::new(0));
        let mut assembled = Assembled::default();
        each_chunk(payloads, |chunk| {
            assert_eq!(logged.add(&mut tracker, chunk), None);
            assembled.add(chunk);
        });
        logged.compare(&assembled.finish(false).message().unwrap(), "a name");
        let plain: Value = serde_json::from_str(&logged.json(Detail::Standard)).unwrap();
        assert_eq!(plain["choices"][0]["message"]["reasoning_content"], "ab");
        let json: Value = serde_json::from_str(&logged.json(Detail::Extended)).unwrap();
        let message = json["choices"][0]["message"].as_object().unwrap();
        assert_eq!(message.values().filter(|value| *value == "ab").count(), 1);
        let (written, _) = message.iter().find(|(_, value)| *value == "ab").unwrap();
        assert_eq!(written, logged.text(Field::ReasoningName, 0, 0).as_deref().unwrap_or("reasoning_content"));
        logged.text(Field::ReasoningName, 0, 0)
    };
    let deltas = |members: &[&str]| members.iter().map(|members| delta(0, members)).collect::<Vec<_>>();
    for known in ["reasoning_content", "reasoning", "thinking", "thought"] {
        let (a, b) = (format!(r#""{known}":"a""#), format!(r#""{known}" : "b""#));
        assert_eq!(name(&deltas(&[&a, &b])).as_deref(), Some(known));
        // Empty or null reasoning does not count.
        let other = if known == "reasoning" { "reasoning_content" } else { "reasoning" };
        assert_eq!(
            name(&deltas(&[&format!(r#""{other}":"""#), &format!(r#"{a},"{other}":null"#), &b])).as_deref(),
            Some(known)
        );
        let message = format!(r#"{{"choices":[{{"message":{{"content":"c","{known}":"ab"}}}}]}}"#);
        assert_eq!(name(&[message]).as_deref(), Some(known));
    }
    assert_eq!(name(&deltas(&[r#""reasonin\u0067":"a""#, r#""reasoning_content":"b""#])).as_deref(), Some("reasoning"));
    // Of two in one chunk the first in the order of precedence; of two chunks the earlier.
    assert_eq!(
        name(&deltas(&[r#""reasoning":"a","reasoning_content":"a""#, r#""reasoning":"b""#])).as_deref(),
        Some("reasoning_content")
    );
    // Neither of these names a member of the delta.
    assert_eq!(name(&deltas(&[r#""reasoning_details":[{"text":"ab"}]"#])), None);
    assert_eq!(name(&deltas(&[r#""content":[{"type":"thinking","thinking":"ab"}]"#])), None);
    // After more choices than fit a page.
    let choices = (0..12).rev().map(|index| {
        let reasoning = if index == 0 { r#""thinking":"ab""# } else { r#""content":"c""# };
        format!(r#"{{"index":{index},"delta":{{{reasoning}}}}}"#)
    });
    let chunk = format!(r#"{{"choices":[{}]}}"#, choices.collect::<Vec<_>>().join(","));
    assert_eq!(name(&[chunk]).as_deref(), Some("thinking"));
}

#[test]
fn each_choice_has_its_own_name_of_reasoning() {
    let stream = concat!(
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"reasoning\":\"a\"}},{\"index\":2,\"delta\":{\"content\":\"c\"}}]}\n\n",
        "data: {\"choices\":[{\"index\":2,\"delta\":{\"reasoning_content\":\"b\"}}]}\n\n",
        "data: {\"choices\":[{\"index\":1,\"delta\":{\"thinking\":\"d\"}},{\"index\":0,\"delta\":{\"thought\":\"e\"}}]}\n\n",
    );
    let mut counts = Counts::default();
    counts.stream("names of reasoning", stream.as_bytes(), Config::default());
    let names = pushed(stream.as_bytes(), usize::MAX, Config::default()).message().unwrap();
    let names: Vec<_> = names.choices.iter().map(|choice| choice.reasoning_name.as_deref().unwrap()).collect();
    assert_eq!(names, ["reasoning", "thinking", "reasoning_content"]);
    let json = emitted(stream.as_bytes(), Config::default()).json(Detail::Extended);
    for (place, name, text) in [(0, "reasoning", "ae"), (1, "thinking", "d"), (2, "reasoning_content", "b")] {
        assert_eq!(serde_json::from_str::<Value>(&json).unwrap()["choices"][place]["message"][name], text, "{json}");
    }
}

/// The message of these tool calls of choice 1, each the array of a chunk, read in every way.
fn message_of_calls(arrays: &[&str]) -> Completion {
    let chunk = |calls: &&str| format!("data: {}\n\n", delta(1, &format!(r#""tool_calls":{calls}"#)));
    let stream: String = arrays.iter().map(chunk).collect();
    Counts::default().stream("members of calls", stream.as_bytes(), Config::default());
    pushed(stream.as_bytes(), usize::MAX, Config::default()).message().unwrap()
}

#[test]
fn a_tool_call_keeps_its_members() {
    let signature = r#"{"google": {"thought_signature":"c2ln"}}"#;
    let first = format!(
        r#"[{{"index":0,"id":"a","type":"function","extra_content":{signature},
        "function":{{"name":"f","arguments":"{{","strict":null,"fields":[1]}}}},
        {{"index":1,"id":"b","x":1,"custom":{{"name":"g","input":"i","y":"z"}},"obfuscation":"pad"}}]"#
    )
    .replace('\n', "");
    let message = message_of_calls(&[
        &first,
        r#"[{"index":0,"function":{"arguments":"}","fields":[2]},"later":-0}]"#,
        r#"[{"index":1,"x":null,"custom":{"input":"n"}},{"index":1,"x":18446744073709551616,"custom":{"input":"!"}}]"#,
    ]);
    let json = completion_json::of(&message, false);
    let calls = &json["choices"][0]["message"]["tool_calls"];
    assert_eq!(calls[0]["extra_content"], serde_json::from_str::<Value>(signature).unwrap());
    assert_eq!(calls[0]["function"], serde_json::json!({"name": "f", "arguments": "{}", "fields": [2]}));
    assert_eq!(calls[1]["custom"], serde_json::json!({"name": "g", "input": "in!", "y": "z"}));
    let raw = |members: &[Member]| -> Vec<(String, String)> {
        let text = |member: &Member| String::from_utf8(member.value.as_bytes().to_vec()).unwrap();
        members.iter().map(|member| (member.name.clone(), text(member))).collect()
    };
    let pair = |name: &str, value: &str| (name.to_string(), value.to_string());
    let calls = &message.choices[0].tool_calls;
    assert_eq!(raw(&calls[0].members), [pair("extra_content", signature), pair("later", "-0")]);
    assert_eq!(raw(&calls[1].members), [pair("x", "18446744073709551616")]);
}

#[test]
fn a_member_alone_belongs_to_the_call_that_it_selects() {
    let members = |arrays: &[&str]| -> Vec<usize> {
        message_of_calls(arrays).choices[0].tool_calls.iter().map(|call| call.members.len()).collect()
    };
    // It opens no call, but waits for it, whatever opens before: each call has its own.
    assert_eq!(members(&[r#"[{"index":0,"x":1}]"#]), [0usize; 0]);
    assert_eq!(members(&[r#"[{"index":0,"x":1}]"#, r#"[{"index":0,"id":"a"}]"#]), [1]);
    assert_eq!(members(&[r#"[{"x":1}]"#, r#"[{"index":0,"function":{"name":"f"}}]"#]), [1]);
    let early = r#"[{"index":1,"x":1,"y":1},{"index":0,"function":{"z":1}}]"#;
    let call = |index: u32| format!(r#"[{{"index":{index},"id":"{index}","function":{{"name":"f","strict":true}}}}]"#);
    let (zero, one) = (call(0), call(1));
    assert_eq!(members(&[early, &zero, &one]), [0, 2]);
    assert_eq!(members(&[early, &one, &zero]), [0, 2]);
    let functions = message_of_calls(&[early, &one, &zero]);
    let names = |call: &deltawire::message::ToolCall| {
        call.function_members.iter().map(|member| member.name.clone()).collect::<Vec<_>>()
    };
    let names: Vec<_> = functions.choices[0].tool_calls.iter().map(names).collect();
    assert_eq!(names, [vec!["z", "strict"], vec!["strict"]]);
    let two = r#"[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}},{"index":1,"id":"b"}]"#;
    assert_eq!(members(&[two, r#"[{"index":0,"function":{"arguments":""},"x":1}]"#]), [1, 0]);
    assert_eq!(members(&[two, r#"[{"index":1,"x":1},{"index":0,"y":1,"z":2}]"#]), [2, 1]);
    assert_eq!(members(&[two, r#"[{"index":2,"x":1}]"#]), [0, 0]);
    assert_eq!(members(&[two, r#"[{"index":2,"x":1}]"#, r#"[{"index":2,"id":"c"}]"#]), [0, 0, 1]);
    // What was sent once more is in the place of what was.
    assert_eq!(members(&[two, r#"[{"index":1,"x":1}]"#, r#"[{"index":1,"x":2,"x":3}]"#]), [0, 1]);
}

#[test]
fn a_call_of_a_whole_message_keeps_its_members() {
    let chunk = |content: &str, value: u32| {
        format!(
            "data: {{\"choices\":[{{\"index\":0,\"message\":{{\"content\":\"{content}\",\"tool_calls\":[{{\"id\":\"a\",\
             \"extra_content\":{value},\"function\":{{\"name\":\"f\",\"arguments\":\"{{}}\"}}}}]}}}}]}}\n\n"
        )
    };
    let stream = chunk("c", 1) + &chunk("cd", 2);
    Counts::default().stream("members of messages", stream.as_bytes(), Config::default());
    let message = pushed(stream.as_bytes(), usize::MAX, Config::default()).message().unwrap();
    assert_eq!(message.choices[0].tool_calls[0].members[0].value.as_bytes(), b"2");
}

#[test]
fn audio_stays_in_pieces() {
    let payloads = [
        delta(0, r#""audio":{"id":"i","data":"QQ==","transcript":"a "}"#),
        delta(0, r#""audio":{"data":"","transcript":"b"}"#),
        delta(0, r#""content":"c""#),
        delta(0, r#""audio":{"data":"Q\/\u0042="}"#),
        delta(0, r#""audio":{"data":"\"","expires_at":7}"#),
    ];
    let (mut tracker, mut logged) = (Tracker::<128, 256>::new(), Logged::<128, 256>::new(0));
    let mut assembled = Assembled::default();
    each_chunk(&payloads, |chunk| {
        assert_eq!(logged.add(&mut tracker, chunk), None);
        assembled.add(chunk);
    });
    let message = assembled.finish(false).message().unwrap();
    logged.compare(&message, "audio");
    let audio = |json: &str| serde_json::from_str::<Value>(json).unwrap()["choices"][0]["message"]["audio"].clone();
    let pieces = serde_json::json!({"id": "i", "data": ["QQ==", "Q/B=", "\""], "transcript": "a b", "expires_at": 7});
    assert_eq!(audio(&logged.json(Detail::Extended)), pieces);
    assert_eq!(logged.text(Field::AudioData, 0, 0).as_deref(), Some(r#"["QQ==","Q/B=","\""]"#));
    let data = message.choices[0].audio.as_ref().unwrap().data.as_ref().unwrap();
    assert_eq!(data.as_bytes(), br#"["QQ==","Q/B=","\""]"#);
    // Without extensions: in the shape of the API.
    assert_eq!(audio(&logged.json(Detail::Standard))["data"], "QQ==Q/B=\"");
}

#[test]
fn a_character_in_two_entries_of_reasoning_details_is_joined() {
    let details = |entries: &[&str]| -> Vec<String> {
        let chunks = entries.iter().map(|entries| delta(0, &format!(r#""reasoning_details":[{entries}]"#)));
        let stream: String = chunks.map(|chunk| format!("data: {chunk}\n\n")).collect();
        Counts::default().stream("halves", stream.as_bytes(), Config::default());
        let message = pushed(stream.as_bytes(), usize::MAX, Config::default()).message().unwrap();
        let details = message.choices[0].reasoning_details.as_ref().unwrap().value();
        let texts = details.elements().map(|entry| entry.unwrap().get("text").unwrap().unwrap());
        texts.map(|text| text.as_text().unwrap().to_cow().into_owned()).collect()
    };
    let entry = |text: &str| format!(r#"{{"type":"reasoning.text","index":0,"text":"{text}"}}"#);
    let all = |texts: &[&str]| texts.iter().map(|text| entry(text)).collect::<Vec<_>>();
    let apart = |texts: &[&str]| details(&all(texts).iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(apart(&["a\\ud83d", "\\ude00b"]), ["a\u{1f600}b"]);
    assert_eq!(apart(&["a\\ud83d", "", "\\uDE00b"]), ["a\u{1f600}b"]);
    assert_eq!(details(&[&all(&["a\\ud83d", "\\ude00\\ud83d", "\\ude00"]).join(",")]), ["a\u{1f600}\u{1f600}"]);
    // Where the other half does not come.
    assert_eq!(apart(&["a\\ud83d", "b"]), ["a\u{fffd}b"]);
    assert_eq!(apart(&["a\\ud83d"]), ["a\u{fffd}"]);
    assert_eq!(apart(&["\\ude00a", "\\ude00\\ud83d"]), ["\u{fffd}a\u{fffd}\u{fffd}"]);
    assert_eq!(apart(&["a\\\\ud83d", "\\ude0"]), ["a\\ud83d\\ude0"]);
    // Entries that stay apart.
    assert_eq!(
        details(&[&entry("a\\ud83d"), r#"{"type":"reasoning.text","index":1,"text":"\ude00b"}"#]),
        ["a\u{fffd}", "\u{fffd}b"]
    );
}

#[test]
fn reasoning_details_are_joined_where_they_belong_together() {
    let details = |entries: &[&str]| {
        let payloads: Vec<String> =
            entries.iter().map(|entries| delta(0, &format!(r#""reasoning_details":[{entries}]"#))).collect();
        let message: Value = serde_json::from_str(&extended(&payloads)).unwrap();
        message["choices"][0]["message"]["reasoning_details"].clone()
    };
    let entries = |text: &str| serde_json::from_str::<Value>(&format!("[{text}]")).unwrap();
    // Of other members, the last that is not null.
    let joined = details(&[
        r#"{"type":"reasoning.text","text":"a\n","index":0,"format":"f","signature":null}"#,
        r#"{"type":"reasoning.text","text":"b","index":0},{"index":0,"type":"reasoning.text","text":"\u00e9","signature":"s"}"#,
        r#"{"type":"reasoning.text","text":null,"index":0,"format":null}"#,
    ]);
    let whole = r#"{"type":"reasoning.text","text":"a\nb\u00e9","index":0,"format":"f","signature":"s"}"#;
    assert_eq!(joined, entries(whole));
    // Another type or index makes entries of their own, joined among themselves.
    let a = r#"{"type":"t","text":"a","index":0}"#;
    for other in [r#"{"type":"s","summary":"SUMMARY","index":0}"#, r#"{"type":"t","text":"SUMMARY","index":1}"#] {
        let b = other.replace("SUMMARY", "b");
        let joined = other.replace("SUMMARY", "bb");
        assert_eq!(details(&[a, &b, &b, a]), entries(&format!("{a},{joined},{a}")));
    }
    // Entries with `data`, or without an index, stay as sent.
    for other in [
        r#"{"type":"t","text":"b"}"#,
        r#"{"type":"t","text":"b","index":null}"#,
        r#"{"type":"t","data":"b","index":0}"#,
        r#"{"data":"b","index":0}"#,
    ] {
        assert_eq!(details(&[a, other, other, a]), entries(&format!("{a},{other},{other},{a}")));
    }
}

#[test]
fn members_are_bounded() {
    let mut logged = Logged::<128, 256>::new(0);
    let mut tracker = Tracker::<128, 256>::new();
    let payloads: Vec<String> = (0..258).map(|n| format!(r#"{{"choices":[],"m{n}":{n}}}"#)).collect();
    let mut errors = Vec::new();
    each_chunk(&payloads, |chunk| errors.extend(logged.add(&mut tracker, chunk)));
    assert_eq!(errors, [LogError::TooLong; 2]);
    assert_eq!(logged.log.left_out(), Some(LogError::TooLong));
    assert_eq!(logged.log.member(&logged.buffer, Owner::Chunk, 0, 0, "m255").unwrap().raw(), b"255");
    // A member that changes in each chunk frees its earlier value.
    let mut changing = Logged::<128, 256>::new(0);
    let payloads: Vec<String> = (0..10_000).map(|n| format!(r#"{{"choices":[],"timings":{{"n":{n}}}}}"#)).collect();
    each_chunk(&payloads, |chunk| assert_eq!(changing.add(&mut tracker, chunk), None));
    assert!(changing.log.len() < 4096, "{}", changing.log.len());
    assert_eq!(changing.log.member(&changing.buffer, Owner::Chunk, 0, 0, "timings").unwrap().raw(), br#"{"n":9999}"#);
}

/// More choices than the table has room for, each with reasoning or content, and some with half a character at the end: which
/// are left out must not depend on what a reader asks for.
#[test]
fn what_is_asked_for_changes_no_choice() {
    let choice = |index: u32| {
        let member = if index % 2 == 0 { "content" } else { "reasoning" };
        format!(r#"{{"index":{index},"delta":{{"{member}":"{index}\ud83d"}}}}"#)
    };
    // An even one first, so that naming a reasoning early would change the order.
    let choices: Vec<_> = (0..12).map(|place| choice(place * 5 % 12)).collect();
    let stream = format!("data: {{\"choices\":[{}]}}\n\n", choices.join(","));
    let seen = |choice: u32, text: &dyn std::fmt::Display| format!("{choice} {text}");
    let mut expected: Vec<_> = (0..8).map(|place: u32| place * 5 % 12).map(|index| seen(index, &index)).collect();
    expected.push("4 limit".to_string());
    expected.extend((0..8).map(|place: u32| seen(place * 5 % 12, &'\u{fffd}')));
    let all = Kind::ALL.iter().fold(0, |kinds, kind| kinds | kind.bit());
    for kinds in [Kind::DEFAULT, Kind::DEFAULT | Kind::Meta.bit(), Kind::MESSAGE, all] {
        let (tracker, room) = (&mut Tracker::<8, 32>::new(), Room { records: 100, scratch: 1000 });
        let (mut got, mut names, config) = (Vec::new(), 0, Config::default());
        each_record::<2>(config, tracker, [stream.as_bytes()].into_iter(), kinds, room, |record, [text, ..], _| {
            match Kind::from_number(record.kind.into()).unwrap() {
                Kind::Content | Kind::Reasoning => got.push(seen(record.choice, &String::from_utf8_lossy(text))),
                Kind::Limit => got.push(seen(record.choice, &"limit")),
                Kind::Meta if text == b"reasoning" => names += 1,
                _ => {}
            }
        });
        // The flushed halves are in the order of the table: that in which the choices came.
        assert_eq!(got, expected, "{kinds:x}");
        assert_eq!(names, if kinds & Kind::Meta.bit() == 0 { 0 } else { 4 });
    }
    let mut tracker = Tracker::<8, 32>::new();
    let (mut log, mut small) = (Logged::<8, 32>::new(4096), Logged::<4, 32>::new(4096));
    let mut got = Vec::new();
    let payload = stream.trim().strip_prefix("data: ").unwrap().to_string();
    each_chunk(&[payload], |chunk| {
        assert_eq!(log.add(&mut tracker.clone(), chunk), Some(LogError::TooManyChoices));
        assert_eq!(small.add(&mut tracker.clone(), chunk), Some(LogError::TooManyChoices));
        let mut updates = tracker.updates(chunk);
        for (choice, update) in updates.by_ref() {
            match update {
                Update::Content(text) | Update::Reasoning(text) => got.push(seen(choice, &text)),
                _ => {}
            }
        }
        got.push(seen(updates.error().unwrap().choice().unwrap(), &"limit"));
    });
    for (choice, update) in tracker.finish(false) {
        match update {
            Update::Content(text) | Update::Reasoning(text) => got.push(seen(choice, &text)),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(got, expected);
    let kept =
        |log: &Logged<8, 32>| (0..log.log.choices()).map(|nth| log.log.choice_index(nth).unwrap()).collect::<Vec<_>>();
    assert_eq!(kept(&log), [0, 1, 3, 5, 6, 8, 10, 11]);
    for index in kept(&log) {
        let name = (index % 2 == 1).then_some("reasoning");
        assert_eq!(log.text(Field::ReasoningName, index, 0).as_deref(), name);
    }
    // A log that has less room than the tracker keeps the first choices of those.
    assert_eq!((0..4).map(|nth| small.log.choice_index(nth).unwrap()).collect::<Vec<_>>(), [0, 3, 5, 10]);
}

#[test]
fn a_choice_with_nothing_but_other_members_is_listed() {
    let stream = concat!(
        "data: {\"choices\":[{\"index\":0,\"filter\":{\"a\":1}},{\"index\":1,\"delta\":{\"x\":[]}}]}\n\n",
        "data: {\"choices\":[{\"index\":2,\"delta\":{\"content\":\"c\"}}]}\n\n",
    );
    Counts::default().stream("other members alone", stream.as_bytes(), Config::default());
    let message = pushed(stream.as_bytes(), usize::MAX, Config::default()).message().unwrap();
    let members =
        |choice: &deltawire::message::Choice| (choice.index, choice.members.len(), choice.message_members.len());
    assert_eq!(message.choices.iter().map(members).collect::<Vec<_>>(), [(0, 1, 0), (1, 0, 1), (2, 0, 0)]);
    let json: Value =
        serde_json::from_str(&emitted(stream.as_bytes(), Config::default()).json(Detail::Extended)).unwrap();
    assert_eq!(
        (&json["choices"][0]["filter"]["a"], &json["choices"][1]["message"]["x"]),
        (&1.into(), &Value::Array(vec![]))
    );
}

#[test]
fn a_character_in_two_transcripts_of_audio_is_joined() {
    let transcript = |pieces: &[&str]| {
        let chunk = |piece: &&str| format!("data: {}\n\n", delta(0, &format!(r#""audio":{{"transcript":"{piece}"}}"#)));
        let stream: String = pieces.iter().map(chunk).collect();
        Counts::default().stream("transcripts", stream.as_bytes(), Config::default());
        let assembler = pushed(stream.as_bytes(), usize::MAX, Config::default());
        let transcript = |assembler: &Assembler| {
            let message = assembler.message().unwrap();
            message.choices[0].audio.as_ref().unwrap().transcript.clone().unwrap()
        };
        (transcript(&assembler), assembler.quirk_count(deltawire::Quirk::LoneSurrogate))
    };
    let smile = "\u{1f600}".to_string();
    assert_eq!(transcript(&[r"a\ud83d", r"\ude00b"]), (format!("a{smile}b"), 0));
    assert_eq!(transcript(&[r"\ud83d", r"\ude00", r"\ud83d\ude00"]), (format!("{smile}{smile}"), 0));
    assert_eq!(transcript(&[r"a\ud83d", "b"]), ("a\u{fffd}b".to_string(), 1));
    assert_eq!(transcript(&[r"\ud83d"]), ("\u{fffd}".to_string(), 1));
    assert_eq!(transcript(&["a", r"b\ud83d"]), ("ab\u{fffd}".to_string(), 1));
    assert_eq!(transcript(&[r"a\ud83d", r"b\ud83d"]), ("a\u{fffd}b\u{fffd}".to_string(), 2));
}

#[test]
fn reasoning_details_that_are_no_array_are_one_entry() {
    let details = |values: &[&str]| {
        let chunk = |value: &&str| format!("data: {}\n\n", delta(0, &format!(r#""reasoning_details":{value}"#)));
        let stream: String = values.iter().map(chunk).collect();
        Counts::default().stream("details", stream.as_bytes(), Config::default());
        let json = emitted(stream.as_bytes(), Config::default()).json(Detail::Extended);
        assert_eq!(json.matches("reasoning_details").count(), 1, "{json}");
        serde_json::from_str::<Value>(&json).unwrap()["choices"][0]["message"]["reasoning_details"].to_string()
    };
    let list = r#"[{"index":0,"text":"a"},{"index":0,"text":"b"}]"#;
    assert_eq!(details(&[list, r#"{"index":0,"text":"c"}"#]), r#"[{"index":0,"text":"abc"}]"#);
    assert_eq!(details(&[r#"{ "signature" : "s" }"#, list]), r#"[{"signature":"s"},{"index":0,"text":"ab"}]"#);
    assert_eq!(details(&[r#""x""#, "1", r#"{"index":0,"text":"c"}"#]), r#"["x",1,{"index":0,"text":"c"}]"#);
}

#[test]
fn annotations_and_audio_of_messages_so_far_are_those_of_the_first() {
    let message = |members: &str| format!("data: {{\"choices\":[{{\"message\":{{\"content\":\"c\"{members}}}}}]}}\n\n");
    let first = r#","annotations":[{"a":1}],"audio":{"id":"u","data":"AAAA"}"#;
    let later = r#","annotations":[{"a":1},{"b":2}],"audio":{"id":"u","data":"AAAABBBB"}"#;
    let stream = [message(""), message(first), message(later)].concat();
    Counts::default().stream("so far", stream.as_bytes(), Config::default());
    let json = pushed(stream.as_bytes(), usize::MAX, Config::default()).json(Detail::Extended).unwrap();
    let json: Value = serde_json::from_slice(json.as_bytes()).unwrap();
    let message = &json["choices"][0]["message"];
    assert_eq!(message["annotations"].to_string(), r#"[{"a":1}]"#);
    assert_eq!(message["audio"].to_string(), r#"{"data":["AAAA"],"id":"u"}"#);
}
