//! The bytes of each protocol, written down from the documents and recordings of its vendor.

use super::naive::check;
use super::run::{arguments, content, named, read, reasoning, write, Op};
use deltawire::chat::{FinishKind, NamePiece};
use deltawire::stream::Protocol;
use deltawire::write::{Head, WriteError, Writer};

const HEAD: Head<'static> = Head::new("r1", "m", 7);

/// Checks the bytes, with room for all of them and with room for one event at a time.
fn assert_written(protocol: Protocol, head: Head<'_>, ops: &[Op], expected: &[&str]) {
    let ops: Vec<_> = ops.iter().map(|op| (0, op.clone())).collect();
    for room in [1 << 16, 1] {
        let written = write(protocol, &head, (4096, room), &ops);
        assert!(written.results.iter().all(Result::is_ok), "{:?}", written.results);
        let events: Vec<_> = written.text().split_inclusive("\n\n").collect();
        assert_eq!(events, expected, "{room}");
        check(protocol, written.text());
    }
}

/// The events of chat completions whose choices are these.
fn chunks(choices: &[&str]) -> Vec<String> {
    let head = r#"{"id":"r1","object":"chat.completion.chunk","created":7,"model":"m","choices":["#;
    choices.iter().map(|choice| format!("data: {head}{choice}]}}\n\n")).collect()
}

fn assert_chat(ops: &[Op], choices: &[&str]) {
    let mut expected = chunks(choices);
    if matches!(ops.last(), Some(Op::Whole)) {
        expected.push("data: [DONE]\n\n".into());
    }
    let expected: Vec<_> = expected.iter().map(String::as_str).collect();
    assert_written(Protocol::Chat, HEAD, ops, &expected);
}

#[test]
fn chat_writes_the_role_the_texts_the_reason_and_the_end() {
    let ops = [content("Hel\"lo\n"), reasoning("\u{e9}\u{1f600}\x7f\x01"), Op::Finish(FinishKind::Stop), Op::Whole];
    assert_chat(
        &ops,
        &[
            r#"{"index":0,"delta":{"role":"assistant"},"finish_reason":null}"#,
            r#"{"index":0,"delta":{"content":"Hel\"lo\n"},"finish_reason":null}"#,
            "{\"index\":0,\"delta\":{\"reasoning_content\":\"\u{e9}\u{1f600}\x7f\\u0001\"},\"finish_reason\":null}",
            r#"{"index":0,"delta":{},"finish_reason":"stop"}"#,
        ],
    );
}

#[test]
fn chat_opens_a_call_with_its_id_and_its_name_once_arguments_come() {
    let [call, name] = named(5, "c1", "f");
    let other = [
        Op::Call { call: 6, id: "".into(), custom: true },
        Op::Name { call: 6, text: "g".into(), piece: NamePiece::Appends },
        Op::End { call: 6 },
    ];
    let [third, third_name] = named(7, "c3", "h");
    let mut ops = vec![call, name, arguments(5, "{\"a\""), arguments(5, ":1}"), Op::End { call: 5 }];
    ops.extend(other);
    ops.extend([third, third_name, Op::Finish(FinishKind::ToolCalls), Op::Whole]);
    assert_chat(
        &ops,
        &[
            r#"{"index":0,"delta":{"role":"assistant"},"finish_reason":null}"#,
            r#"{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"f","arguments":""}}]},"finish_reason":null}"#,
            r#"{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"a\""}}]},"finish_reason":null}"#,
            r#"{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":":1}"}}]},"finish_reason":null}"#,
            r#"{"index":0,"delta":{"tool_calls":[{"index":1,"id":"call_r1_1","type":"custom","custom":{"name":"g","input":""}}]},"finish_reason":null}"#,
            r#"{"index":0,"delta":{"tool_calls":[{"index":2,"id":"c3","type":"function","function":{"name":"h","arguments":""}}]},"finish_reason":null}"#,
            r#"{"index":0,"delta":{"tool_calls":[{"index":2,"function":{"arguments":"{}"}}]},"finish_reason":null}"#,
            r#"{"index":0,"delta":{},"finish_reason":"tool_calls"}"#,
        ],
    );
}

/// A reader takes the words for null, and would leave out such a call.
#[test]
fn an_id_that_reads_as_none_is_made_up() {
    for word in ["null", "None"] {
        let [call, name] = named(0, word, "f");
        assert_chat(
            &[call, name, Op::Finish(FinishKind::ToolCalls), Op::Whole],
            &[
                r#"{"index":0,"delta":{"role":"assistant"},"finish_reason":null}"#,
                r#"{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_r1_0","type":"function","function":{"name":"f","arguments":""}}]},"finish_reason":null}"#,
                r#"{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]},"finish_reason":null}"#,
                r#"{"index":0,"delta":{},"finish_reason":"tool_calls"}"#,
            ],
        );
    }
}

#[test]
fn chat_has_no_role_of_another_protocol() {
    let ops = [Op::Role("model".into()), Op::Content("Hi".into())];
    assert_chat(
        &ops,
        &[
            r#"{"index":0,"delta":{"role":"assistant"},"finish_reason":null}"#,
            r#"{"index":0,"delta":{"content":"Hi"},"finish_reason":null}"#,
        ],
    );
}

#[test]
fn chat_writes_raw_json_in_one_line() {
    let ops = [
        Op::Role("tool".into()),
        Op::Logprobs("{\"content\": [\r\n\"\\n\"]}".into()),
        Op::Logprobs("[{\"token\":\"a\"}]".into()),
        Op::Annotations("{\"type\":\"url_citation\"}".into()),
        Op::Annotations("{\"a\":{}}".into()),
        Op::Annotations("{\"index\":7}".into()),
        Op::Signature("s".into()),
    ];
    assert_chat(
        &ops,
        &[
            r#"{"index":0,"delta":{"role":"tool"},"finish_reason":null}"#,
            r#"{"index":0,"delta":{},"logprobs":{"content": ["\n"]},"finish_reason":null}"#,
            r#"{"index":0,"delta":{},"logprobs":{"content":[{"token":"a"}],"refusal":null},"finish_reason":null}"#,
            r#"{"index":0,"delta":{"annotations":[{"index":0,"type":"url_citation"}]},"finish_reason":null}"#,
            r#"{"index":0,"delta":{"annotations":[{"index":1,"a":{}}]},"finish_reason":null}"#,
            r#"{"index":0,"delta":{"annotations":[{"index":7}]},"finish_reason":null}"#,
            r#"{"index":0,"delta":{"reasoning_details":[{"type":"reasoning.text","index":0,"signature":"s"}]},"finish_reason":null}"#,
        ],
    );
}

#[test]
fn chat_has_a_usage_in_each_chunk_if_the_request_asks_for_it() {
    let head = HEAD.with_usage().with_event_ids().with_first_sequence(9).with_retry(20);
    let head = head.with_members(b" {\"id\":\"not ours\", \"service_tier\":\n\"auto\"}\n");
    let usage = r#"{"prompt_tokens":5,"completion_tokens":12,"prompt_tokens_details":{"cached_tokens":3}}"#;
    let ops = [Op::Usage(usage.into()), Op::Finish(FinishKind::Length), Op::Whole];
    let start = r#"data: {"id":"r1","object":"chat.completion.chunk","created":7,"model":"m","service_tier":"auto","choices":["#;
    assert_written(
        Protocol::Chat,
        head,
        &ops,
        &[
            &format!(
                "retry: 20\nid: 9\n{start}{}\n\n",
                r#"{"index":0,"delta":{"role":"assistant"},"finish_reason":null}],"usage":null}"#
            ),
            &format!("id: 10\n{start}{}\n\n", r#"{"index":0,"delta":{},"finish_reason":"length"}],"usage":null}"#),
            &format!(
                "id: 11\n{start}{}\n\n",
                r#"],"usage":{"prompt_tokens":5,"completion_tokens":12,"total_tokens":17,"prompt_tokens_details":{"cached_tokens":3}}}"#
            ),
            "id: 12\ndata: [DONE]\n\n",
        ],
    );
}

#[test]
fn an_error_ends_each_protocol_without_its_proper_end() {
    let error = Op::Error(r#"{"message":"slow\ndown","code":429}"#.into());
    for (protocol, expected) in [
        (
            Protocol::Chat,
            "data: {\"error\":{\"message\":\"slow\\ndown\",\"type\":\"server_error\",\"param\":null,\"code\":\"429\"}}\n\n",
        ),
        (
            Protocol::Anthropic,
            "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"rate_limit_error\",\"message\":\"slow\\ndown\"}}\n\n",
        ),
    ] {
        assert_written(protocol, HEAD, std::slice::from_ref(&error), &[expected]);
    }
    let ops = [(0, content("a")), (0, error), (0, content("b")), (0, Op::Whole), (0, Op::KeepAlive)];
    for protocol in [Protocol::Chat, Protocol::Anthropic, Protocol::Responses] {
        let written = write(protocol, &HEAD, (2000, 1 << 14), &ops);
        assert_eq!(written.results[2..], [Err(WriteError::Ended); 3]);
        assert_eq!(check(protocol, written.text()), Some(false));
        let (messages, _, is_whole) = read(&written.bytes);
        assert_eq!((messages[&0].content.as_str(), is_whole), ("a", false), "{protocol}");
    }
}

#[test]
fn anthropic_closes_a_block_before_the_next() {
    let [call, name] = named(0, "t1", "f");
    let ops = [
        Op::Usage(r#"{"prompt_tokens":9,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":4}}"#.into()),
        Op::KeepAlive,
        reasoning("why"),
        Op::Signature("s".into()),
        Op::KeepAlive,
        content("Hi"),
        Op::Annotations("[{\"type\":\"char_location\"}]".into()),
        call,
        name,
        arguments(0, "{}"),
        Op::Finish(FinishKind::Stop),
        Op::Usage(r#"{"prompt_tokens":9,"completion_tokens":30,"prompt_tokens_details":{"cached_tokens":4}}"#.into()),
        Op::Whole,
    ];
    let event = |data: &str| {
        let name = data.split('"').nth(3).unwrap();
        format!("event: {name}\ndata: {data}\n\n")
    };
    let mut expected: Vec<_> = [
        r#"{"type":"message_start","message":{"id":"r1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":5,"cache_read_input_tokens":4,"output_tokens":1}}}"#,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"why"}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"s"}}"#,
        r#"{"type":"ping"}"#,
        r#"{"type":"content_block_stop","index":0}"#,
        r#"{"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}"#,
        r#"{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"Hi"}}"#,
        r#"{"type":"content_block_delta","index":1,"delta":{"type":"citations_delta","citation":{"type":"char_location"}}}"#,
        r#"{"type":"content_block_stop","index":1}"#,
        r#"{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"t1","name":"f","input":{}}}"#,
        r#"{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{}"}}"#,
        r#"{"type":"content_block_stop","index":2}"#,
        r#"{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"input_tokens":5,"cache_read_input_tokens":4,"output_tokens":30}}"#,
        r#"{"type":"message_stop"}"#,
    ]
    .map(event)
    .into();
    expected.insert(0, ": keep-alive\n\n".into());
    let expected: Vec<_> = expected.iter().map(String::as_str).collect();
    assert_written(Protocol::Anthropic, HEAD, &ops, &expected);
}

/// One call is open at a time: the fragments of another, and those before a name, wait.
#[test]
fn calls_wait_for_their_name_and_for_the_call_before() {
    let [first, first_name] = named(0, "a", "f");
    let [second, second_name] = named(1, "b", "g");
    let ops: Vec<_> = [
        first,
        arguments(0, "{\"x\":"),
        first_name,
        second,
        second_name,
        arguments(1, "{\"y\":"),
        arguments(0, "1}"),
        arguments(1, "2}"),
        Op::End { call: 1 },
        Op::End { call: 0 },
        content("!"),
        Op::Finish(FinishKind::ToolCalls),
        Op::Whole,
    ]
    .map(|op| (0, op))
    .into();
    for protocol in [Protocol::Chat, Protocol::Anthropic, Protocol::Responses] {
        let written = write(protocol, &HEAD, (4096, 1), &ops);
        assert!(written.results.iter().all(Result::is_ok), "{:?}", written.results);
        assert_eq!(check(protocol, written.text()), Some(true));
        let (messages, _, is_whole) = read(&written.bytes);
        let call = |id: &str, name: &str, arguments: &str| (id.into(), name.into(), arguments.into());
        assert_eq!(messages[&0].calls, [call("a", "f", "{\"x\":1}"), call("b", "g", "{\"y\":2}")], "{protocol}");
        assert_eq!((messages[&0].content.as_str(), messages[&0].finish), ("!", Some(FinishKind::ToolCalls)));
        assert!(is_whole);
    }
}

#[test]
fn responses_repeat_each_text_when_it_ends() {
    let [call, name] = named(0, "c1", "f");
    let ops = [
        content("a\"b"),
        content("c"),
        Op::Annotations("{\"type\":\"url_citation\"}".into()),
        call,
        name,
        arguments(0, "{}"),
        Op::Usage(r#"{"prompt_tokens":9,"completion_tokens":30}"#.into()),
        Op::Finish(FinishKind::ToolCalls),
        Op::Whole,
    ];
    let part = r#"{"type":"output_text","text":"a\"bc","annotations":[{"type":"url_citation"}],"logprobs":[]}"#;
    let message =
        format!(r#"{{"id":"msg_r1_0","type":"message","role":"assistant","content":[{part}],"status":"completed"}}"#);
    let call =
        r#"{"id":"fc_r1_1","type":"function_call","call_id":"c1","name":"f","arguments":"{}","status":"completed"}"#;
    let members = r#""background":false,"completed_at":null,"frequency_penalty":0,"instructions":null,"max_output_tokens":null,"max_tool_calls":null,"metadata":{},"parallel_tool_calls":true,"presence_penalty":0,"previous_response_id":null,"prompt_cache_key":null,"reasoning":{"effort":null,"summary":null},"safety_identifier":null,"service_tier":"default","store":false,"text":{"format":{"type":"text"}},"tool_choice":"auto","tools":[],"top_logprobs":0,"top_p":1,"truncation":"disabled","user":null,"prompt_cache_retention":null"#;
    let response = |status: &str, rest: &str| {
        let own = r#""error":null,"incomplete_details":null,"model":"m""#;
        format!(
            r#""response":{{"id":"r1","object":"response","created_at":7,"status":"{status}",{own},"temperature":0.5,{members},{rest}}}"#
        )
    };
    let usage = r#"{"input_tokens":9,"input_tokens_details":{"cached_tokens":0},"output_tokens":30,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":39}"#;
    let of_message = r#""item_id":"msg_r1_0","output_index":0,"content_index":0"#;
    let of_call = r#""item_id":"fc_r1_1","output_index":1"#;
    let expected: Vec<_> = [
        ("created", response("in_progress", r#""output":[],"usage":null"#)),
        ("in_progress", response("in_progress", r#""output":[],"usage":null"#)),
        ("output_item.added", r#""output_index":0,"item":{"id":"msg_r1_0","type":"message","role":"assistant","status":"in_progress","content":[]}"#.into()),
        ("content_part.added", format!(r#"{of_message},"part":{{"type":"output_text","text":"","annotations":[],"logprobs":[]}}"#)),
        ("output_text.delta", format!(r#"{of_message},"delta":"a\"b","logprobs":[]"#)),
        ("output_text.delta", format!(r#"{of_message},"delta":"c","logprobs":[]"#)),
        ("output_text.annotation.added", format!(r#"{of_message},"annotation_index":0,"annotation":{{"type":"url_citation"}}"#)),
        ("output_text.done", format!(r#"{of_message},"text":"a\"bc","logprobs":[]"#)),
        ("content_part.done", format!(r#"{of_message},"part":{part}"#)),
        ("output_item.done", format!(r#""output_index":0,"item":{message}"#)),
        ("output_item.added", r#""output_index":1,"item":{"id":"fc_r1_1","type":"function_call","call_id":"c1","name":"f","status":"in_progress","arguments":""}"#.into()),
        ("function_call_arguments.delta", format!(r#"{of_call},"delta":"{{}}""#)),
        ("function_call_arguments.done", format!(r#"{of_call},"arguments":"{{}}""#)),
        ("output_item.done", format!(r#""output_index":1,"item":{call}"#)),
        ("completed", response("completed", &format!(r#""output":[{message},{call}],"usage":{usage}"#))),
    ]
    .into_iter()
    .enumerate()
    .map(|(number, (name, rest))| {
        format!("event: response.{name}\ndata: {{\"type\":\"response.{name}\",\"sequence_number\":{number},{rest}}}\n\n")
    })
    .collect();
    let expected: Vec<_> = expected.iter().map(String::as_str).collect();
    assert_written(Protocol::Responses, HEAD.with_members(b"{\"temperature\":0.5}"), &ops, &expected);
}

#[test]
fn what_does_not_fit_is_a_typed_error_and_the_stream_goes_on() {
    let head = HEAD.with_members(b"{}");
    let need = match Writer::new(Protocol::Responses, &head, [0; 8]) {
        Err(WriteError::NeedMemory { need }) => need,
        other => panic!("{other:?}"),
    };
    assert!(Writer::new(Protocol::Responses, &head, vec![0; need]).is_ok());
    assert_eq!(Writer::new(Protocol::Gemini, &head, [0; 8]).unwrap_err(), WriteError::NoPlace);
    for members in ["[]", "{", "{\"a\":01}", ""] {
        let head = HEAD.with_members(members.as_bytes());
        assert_eq!(Writer::new(Protocol::Chat, &head, [0; 512]).unwrap_err(), WriteError::Json);
    }
    let long = "x".repeat(500);
    let ops = [content("a"), content(&long), content("b"), Op::Finish(FinishKind::Stop), Op::Whole].map(|op| (0, op));
    let written = write(Protocol::Responses, &head, (need + 400, 1 << 14), &ops);
    assert!(matches!(written.results[1], Err(WriteError::NeedMemory { need: more }) if more > need + 400));
    assert_eq!(written.results.iter().filter(|result| result.is_ok()).count(), 4);
    assert_eq!(check(Protocol::Responses, written.text()), Some(true));
    assert_eq!(read(&written.bytes).0[&0].content, "ab");
}

#[test]
fn a_choice_without_a_reason_is_no_proper_end() {
    for protocol in [Protocol::Chat, Protocol::Anthropic, Protocol::Responses] {
        let ops =
            [(0, Op::Whole), (0, content("a")), (0, Op::Whole), (0, Op::Finish(FinishKind::Stop)), (0, content("b"))];
        let written = write(protocol, &HEAD, (2000, 1 << 14), &ops);
        let expected =
            [Err(WriteError::Unfinished), Ok(()), Err(WriteError::Unfinished), Ok(()), Err(WriteError::Late)];
        assert_eq!(written.results, expected, "{protocol}");
        assert_eq!(check(protocol, written.text()), None);
    }
}

/// The configured length cuts a text, at characters, never the buffer.
#[test]
fn a_long_text_becomes_several_events() {
    let text = "\u{e9}\u{1f600}a\n".repeat(20);
    for protocol in [Protocol::Chat, Protocol::Anthropic, Protocol::Responses] {
        let head = HEAD.with_text_len(1); // at least 16
        let ops = [content(&text), Op::Finish(FinishKind::Stop), Op::Whole].map(|op| (0, op));
        let expected = write(protocol, &head, (4096, 1 << 16), &ops);
        let deltas = expected.text().matches("delta\":{\"content").count()
            + expected.text().matches("\"text_delta").count()
            + expected.text().matches("event: response.output_text.delta").count();
        assert_eq!(deltas, 10, "{protocol}");
        assert_eq!(read(&expected.bytes).0[&0].content, text);
        for room in [1, 64, 200, 700] {
            assert_eq!(write(protocol, &head, (4096, room), &ops), expected, "{protocol} {room}");
        }
    }
}

/// Most texts of a stream follow one of the same part, and only their number is new.
#[test]
fn a_run_of_texts_is_numbered_and_kept() {
    let texts = ["a", " tide", "fifteen letters", "sixteen letters.", "\u{e9}", "\n", " turns"];
    let text = texts.concat().repeat(160);
    for part in [content as fn(&str) -> Op, reasoning] {
        let mut ops: Vec<_> = texts.iter().map(|text| (0, part(text))).cycle().take(7 * 160).collect();
        ops.extend([Op::Finish(FinishKind::Stop), Op::Whole].map(|op| (0, op)));
        for protocol in [Protocol::Chat, Protocol::Anthropic, Protocol::Responses] {
            for first in [0, 8, 97, u64::MAX - 40] {
                let head = HEAD.with_first_sequence(first);
                let expected = write(protocol, &head, (1 << 18, 1 << 16), &ops);
                if protocol == Protocol::Responses {
                    for (at, event) in expected.text().split_terminator("\n\n").enumerate() {
                        let number = format!("\"sequence_number\":{},", first.wrapping_add(at as u64));
                        assert!(event.contains(&number), "{number} {event}");
                    }
                }
                let message = &read(&expected.bytes).0[&0];
                assert_eq!(format!("{}{}", message.content, message.reasoning), text, "{protocol} {first}");
                for room in [1, 300, 1000] {
                    assert_eq!(write(protocol, &head, (1 << 18, room), &ops), expected, "{protocol} {first} {room}");
                }
            }
        }
    }
}

#[test]
fn a_writer_is_small() {
    let size = std::mem::size_of::<Writer<[u8; 0]>>();
    assert!(size <= 1544, "{size}");
}

/// A list with an element that is no annotation is left out as a whole.
#[test]
fn a_list_of_annotations_is_checked_before_the_first_is_written() {
    for protocol in [Protocol::Anthropic, Protocol::Responses] {
        for (list, expected) in
            [("[{\"a\":1},{}]", Ok(())), ("[{},3]", Err(WriteError::Json)), ("7", Err(WriteError::Json))]
        {
            let written = write(protocol, &HEAD, (2000, 1), &[(0, content("a")), (0, Op::Annotations(list.into()))]);
            assert_eq!(written.results[1], expected, "{protocol} {list}");
            let events =
                written.text().matches("citations_delta").count() + written.text().matches("annotation\":").count();
            assert_eq!(events, if expected.is_ok() { 2 } else { 0 }, "{protocol} {list}");
        }
    }
}
