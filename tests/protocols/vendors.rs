//! What events of Anthropic and of Gemini say.

use super::*;

#[test]
fn anthropic_blocks_have_their_places() {
    let delta = |index: u32, delta: Value| json!({"type": "content_block_delta", "index": index, "delta": delta});
    let start =
        |index: u32, block: Value| json!({"type": "content_block_start", "index": index, "content_block": block});
    let citation = json!({"type": "char_location", "cited_text": "é"});
    let server = json!({"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}, "signature": "own"});
    let result = json!({"type": "web_search_tool_result", "tool_use_id": "s", "content": []});
    let piece = json!({"type": "input_json_delta", "partial_json": "{\"q\":1}"});
    let joined = json!({"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"q": 1},
        "signature": "own"});
    let redacted = json!({"type": "redacted_thinking", "data": "xyz"});
    let events = [
        json!({"type": "message_start", "message": {"id": "m1", "type": "message", "role": "assistant", "model": "c",
            "content": [], "stop_reason": null,
            "usage": {"input_tokens": 3, "cache_read_input_tokens": 20, "cache_creation_input_tokens": 100,
                "output_tokens": 1, "service_tier": "standard"}}}),
        json!({"type": "ping"}),
        start(0, json!({"type": "thinking", "thinking": "", "signature": ""})),
        delta(0, json!({"type": "thinking_delta", "thinking": "hm\u{1f600}"})),
        delta(0, json!({"type": "signature_delta", "signature": "sig=="})),
        start(1, redacted.clone()),
        start(2, server.clone()),
        delta(2, json!({"type": "input_json_delta", "partial_json": ""})),
        delta(2, piece.clone()),
        start(3, result.clone()),
        start(4, json!({"type": "text", "text": "", "citations": []})),
        delta(4, json!({"type": "citations_delta", "citation": citation})),
        delta(4, json!({"type": "text_delta", "text": "Hel"})),
        delta(4, json!({"type": "text_delta", "text": "lo"})),
        start(5, json!({"type": "tool_use", "id": "t1", "name": "now", "input": {}})),
        delta(5, json!({"type": "input_json_delta", "partial_json": ""})),
        json!({"type": "content_block_stop", "index": 5}),
        start(6, json!({"type": "tool_use", "id": "t2", "name": "add", "input": {}})),
        delta(6, json!({"type": "input_json_delta", "partial_json": "{\"a\": "})),
        delta(6, json!({"type": "input_json_delta", "partial_json": "1}"})),
        start(7, json!({"type": "tool_use", "id": "t3", "name": "add", "input": {"b": 2}})),
        json!({"type": "an_event_to_come", "x": 1}),
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use", "stop_sequence": null,
            "stop_details": {"why": 1}}, "usage": {"output_tokens": 40, "cache_read_input_tokens": null}}),
        json!({"type": "message_stop"}),
    ];
    let stream = [named(&events), b"data: [DONE]\n\n".to_vec()].concat();
    let Read { message, end, quirks } = read(&stream, "anthropic");
    assert_eq!((end.verdict, end.protocol), (Verdict::Done, Some(Protocol::Anthropic)));
    assert_eq!((quirks, end.is_complete()), (Vec::new(), true));
    let call = |id: &str, name: &str, arguments: &str| json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}});
    let expected = json!({
        "id": "m1", "object": "chat.completion", "model": "c",
        "choices": [{
            "index": 0,
            "message": {
                "role": "assistant", "content": "Hello", "reasoning_content": "hm\u{1f600}",
                "tool_calls": [call("t1", "now", "{}"), call("t2", "add", "{\"a\": 1}"), call("t3", "add", "{\"b\":2}")],
                "annotations": [citation], "signatures": ["sig=="],
                "reasoning_details": [
                    {"type": "reasoning.text", "index": 0, "format": "anthropic-claude-v1", "text": "hm\u{1f600}",
                        "signature": "sig=="},
                    {"type": "reasoning.encrypted", "index": 1, "format": "anthropic-claude-v1", "data": "xyz"}],
                "native_content": [redacted, joined, result],
            },
            "finish_reason": "tool_calls", "native_finish_reason": "tool_use", "stop_details": {"why": 1},
        }],
        "usage": {"prompt_tokens": 123, "completion_tokens": 40, "total_tokens": 163,
            "prompt_tokens_details": {"cached_tokens": 20}},
        "native_usage": {"input_tokens": 3, "cache_read_input_tokens": 20, "cache_creation_input_tokens": 100,
            "output_tokens": 40, "service_tier": "standard"},
    });
    assert_eq!(message, expected);
    // The same answer, whole.
    let body = json!({"id": "m1", "type": "message", "role": "assistant", "model": "c", "content": [
            {"type": "thinking", "thinking": "hm\u{1f600}", "signature": "sig=="}, redacted, server, result,
            {"type": "text", "text": "Hello", "citations": [citation]},
            {"type": "tool_use", "id": "t1", "name": "now", "input": {}},
            {"type": "tool_use", "id": "t2", "name": "add", "input": {"a": 1}}],
        "stop_reason": "end_turn", "usage": {"input_tokens": 3, "output_tokens": 40}});
    let Read { message, end, .. } = read(body.to_string().as_bytes(), "anthropic body");
    assert_eq!((end.verdict, end.body, end.protocol), (Verdict::Done, true, Some(Protocol::Anthropic)));
    let own = &message["choices"][0];
    assert_eq!(own["message"]["content"], "Hello");
    assert_eq!(own["message"]["native_content"], json!([redacted, server, result]));
    assert_eq!(own["message"]["tool_calls"], json!([call("t1", "now", "{}"), call("t2", "add", "{\"a\":1}")]));
    assert_eq!((&own["finish_reason"], &message["usage"]["total_tokens"]), (&json!("stop"), &json!(43)));
}

#[test]
fn a_message_of_anthropic_that_begins_with_its_blocks() {
    let start = |content: Value, reason: Value| {
        json!({"type": "message_start", "message": {"id": "m", "type": "message", "role": "assistant", "content": content,
            "stop_reason": reason}})
    };
    let piece = |text: &str| json!({"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": text}});
    let call = json!({"type": "tool_use", "id": "t", "name": "f", "input": {}});
    let server = json!({"type": "server_tool_use", "id": "s", "name": "g", "input": {}});
    let mut events = vec![start(json!([call, {"type": "text", "text": "x"}]), Value::Null)];
    events.extend(["{\"a\":[", "1,", "2,", "3]}"].map(piece));
    // The next message of the same stream has a tool of the server in the place of the client's.
    events.push(start(json!([server, {"type": "text", "text": "y"}]), json!("stop")));
    events.push(piece("4,"));
    let Read { message, end, .. } = read(&unnamed(&events), "blocks of the first event");
    let choice = &message["choices"][0];
    let arguments = &choice["message"]["tool_calls"][0]["function"]["arguments"];
    let native = [json!({"type": "server_tool_use", "id": "s", "name": "g", "input": "4,"})];
    assert_eq!((arguments, &choice["message"]["native_content"]), (&json!("{\"a\":[1,2,3]}"), &json!(native)));
    // The last message has no call of the client. No event ended it.
    assert_eq!((&choice["finish_reason"], end.verdict), (&json!("stop"), Verdict::Finished));
    // In a body, the reason is what ends the response.
    let body =
        json!({"id": "m", "type": "message", "role": "assistant", "content": [], "stop_reason": null}).to_string();
    let end = read(body.as_bytes(), "a body without a reason").end;
    assert_eq!((end.verdict, end.is_complete()), (Verdict::Body, true));
}

#[test]
fn gemini_candidates_parts_and_paths() {
    let chunk = |parts: Value| json!({"candidates": [{"content": {"role": "model", "parts": parts}}]});
    let partial = |path: &str, value: Value, more: bool| {
        let mut piece = json!({"jsonPath": path, "willContinue": more});
        for (name, value) in value.as_object().unwrap() {
            piece[name] = value.clone();
        }
        json!([{"functionCall": {"partialArgs": [piece], "willContinue": true}}])
    };
    let code = json!({"executableCode": {"language": "PYTHON", "code": "1"}});
    let image = json!({"inlineData": {"mimeType": "image/png", "data": "AA=="}});
    let events = [
        json!({"candidates": [
            {"index": 1, "content": {"parts": [{"text": "other"}]}, "finishReason": "MAX_TOKENS"},
            {"content": {"role": "model", "parts": [{"text": "th", "thought": true}, {"text": "x", "thoughtSignature": "s"}]},
                "finishReason": "STOP"},
        ], "usageMetadata": {"promptTokenCount": 5, "candidatesTokenCount": 1, "totalTokenCount": 6},
            "modelVersion": "g", "responseId": "id"}),
        chunk(json!([code, image, {"functionCall": {"name": "f", "args": {"a": [1, "é"]}}, "thoughtSignature": "t"},
            {"functionCall": {"name": "f", "args": {"a": [1, "é"]}}}, {"functionCall": {"id": "i", "name": "n", "partialArgs": {}, "x": [1]}}])),
        chunk(json!([{"functionCall": {"name": "p", "willContinue": true}}])),
        chunk(partial("$.s", json!({"stringValue": "a\"b"}), true)),
        chunk(partial("$.s", json!({"stringValue": "c"}), true)),
        chunk(partial("$.s", json!({"stringValue": ""}), false)),
        chunk(partial("$.o.x[0]", json!({"numberValue": 1.5}), false)),
        chunk(partial("$.o.x[1]", json!({"boolValue": true}), false)),
        chunk(partial("$.o.y", json!({"nullValue": "NULL_VALUE"}), false)),
        chunk(partial("$.z", json!({"stringValue": "end"}), false)),
        chunk(json!([{"functionCall": {}}])),
        json!({"candidates": [{"content": {"parts": [{"text": ""}]}, "finishReason": "STOP", "finishMessage": "m"}],
            "usageMetadata": {"promptTokenCount": 5, "thoughtsTokenCount": 3, "totalTokenCount": 8}}),
    ];
    let array = format!("[{}]", events.iter().map(Value::to_string).collect::<Vec<_>>().join("\n,\r\n"));
    for stream in [unnamed(&events), array.into_bytes()] {
        let Read { message, end, .. } = read(&stream, "gemini");
        assert_eq!((end.verdict, end.protocol), (Verdict::Finished, Some(Protocol::Gemini)));
        assert_eq!((end.choices_seen, end.choices_finished, end.is_complete()), (2, 2, true));
        let function = |name: &str, arguments: &str| json!({"type": "function", "function": {"name": name, "arguments": arguments}});
        let mut with_id = function("n", "{}");
        with_id["id"] = json!("i");
        let mut signed = function("f", r#"{"a":[1,"é"]}"#);
        signed["thoughtSignature"] = json!("t");
        let arguments = r#"{"s":"a\"bc","o":{"x":[1.5,true],"y":null},"z":"end"}"#;
        let expected = json!([
            {
                "index": 0,
                "message": {
                    "role": "assistant", "content": "x", "reasoning_content": "th",
                    "tool_calls": [signed, function("f", r#"{"a":[1,"é"]}"#), with_id,
                        function("p", arguments)],
                    "signatures": ["s", "t"], "native_content": [code, image],
                },
                "finish_reason": "tool_calls", "native_finish_reason": "STOP", "finishMessage": "m",
            },
            {
                "index": 1, "message": {"role": "assistant", "content": "other"},
                "finish_reason": "length", "native_finish_reason": "MAX_TOKENS",
            },
        ]);
        assert_eq!(message["choices"], expected, "{message:#}");
        assert_eq!(
            message["usage"],
            json!({"prompt_tokens": 5, "completion_tokens": 3, "total_tokens": 8,
            "completion_tokens_details": {"reasoning_tokens": 3}})
        );
        assert_eq!((&message["id"], &message["model"]), (&json!("id"), &json!("g")));
    }
    let blocked = unnamed(&[json!({"promptFeedback": {"blockReason": "OTHER"}})]);
    let Read { message, end, .. } = read(&blocked, "blocked");
    assert_eq!((end.verdict, &message["choices"][0]["finish_reason"]), (Verdict::Finished, &json!("content_filter")));
    assert_eq!(message["promptFeedback"], json!({"blockReason": "OTHER"}));
    assert_eq!(message["choices"][0].get("native_finish_reason"), None);
}

/// An update says which call of its event it is about.
#[test]
fn pulled_calls_of_one_event_are_two() {
    let pieces = json!([{"jsonPath": "$.b", "numberValue": 2}]);
    let call = |name: &str| json!({"functionCall": {"name": name, "args": {"a": 1}, "partialArgs": pieces}});
    let stream = unnamed(&[json!({"candidates": [{"content": {"parts": [call("f"), call("g")]}}]})]);
    let mut parser: Parser<Growing> = Parser::with_config(Growing::new(), Config::new());
    let (mut rest, mut calls) = (&stream[..], Vec::new());
    while let Some(event) = parser.next(&mut rest).unwrap() {
        calls.extend(event.deltas().filter_map(|(_, update)| match update {
            Update::Call(update) => Some(update.call),
            Update::CallName { call, .. } | Update::CallArguments { call, .. } => Some(call),
            Update::Member(member) => Some(member.call),
            _ => None,
        }));
    }
    assert_eq!(calls, [0, 0, 0, 0, 1, 1, 1, 1]);
}

/// A call that goes on in a candidate that did not open it is reported by what it has, and opens none.
#[test]
fn a_call_that_goes_on_elsewhere_opens_none() {
    let candidate = |index: u32, call: Value| json!({"index": index, "content": {"parts": [{"functionCall": call}]}});
    let more = json!({"partialArgs": [{"jsonPath": "$.a", "stringValue": "x"}]});
    let candidates = json!([candidate(0, json!({"name": "f", "willContinue": true})), candidate(1, more)]);
    let stream = unnamed(&[json!({"candidates": candidates})]);
    let mut parser: Parser<Growing> = Parser::with_config(Growing::new(), Config::new());
    let (mut tracker, mut rest, mut opened) = (Tracker::<8, 8>::new(), &stream[..], Vec::new());
    while let Some(event) = parser.next(&mut rest).unwrap() {
        let Event::Chunk(chunk) = *event else { continue };
        let calls = tracker.updates(&chunk).filter(|(_, update)| matches!(update, Update::Call(_)));
        opened.extend(calls.map(|(choice, _)| choice));
    }
    assert_eq!(opened, [0]);
}

/// Thinking goes back to Anthropic block by block, so the message keeps which text a signature belongs to.
#[test]
fn thinking_blocks_stay_apart() {
    let delta = |index: u32, delta: Value| json!({"type": "content_block_delta", "index": index, "delta": delta});
    let start =
        |index: u32, block: Value| json!({"type": "content_block_start", "index": index, "content_block": block});
    let thinking = |index: u32, text: &str| delta(index, json!({"type": "thinking_delta", "thinking": text}));
    let signature = |index: u32, text: &str| delta(index, json!({"type": "signature_delta", "signature": text}));
    let events = [
        json!({"type": "message_start", "message": {"id": "m", "role": "assistant", "model": "c", "content": [],
            "usage": {"input_tokens": 3, "output_tokens": 1}}}),
        start(0, json!({"type": "thinking", "thinking": "", "signature": ""})),
        thinking(0, "al"),
        thinking(0, "pha\""),
        signature(0, "S1"),
        start(1, json!({"type": "redacted_thinking", "data": "R"})),
        start(2, json!({"type": "text", "text": "x"})),
        // The text of this one is left out.
        start(3, json!({"type": "thinking", "thinking": "", "signature": ""})),
        signature(3, "S2"),
        start(4, json!({"type": "thinking", "thinking": "beta", "signature": "S3"})),
        start(
            5,
            json!({"type": "tool_use", "id": "t", "name": "f", "input": {}, "caller": {"type": "direct"},
            "toolset_name": "s", "note": null}),
        ),
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 9}}),
        json!({"type": "message_stop"}),
    ];
    let message = read(&named(&events), "thinking").message;
    let own = &message["choices"][0]["message"];
    let text = |index: u32, text: &str, signature: &str| {
        json!({"type": "reasoning.text", "index": index, "format": "anthropic-claude-v1", "text": text,
            "signature": signature})
    };
    let redacted = json!({"type": "reasoning.encrypted", "index": 1, "format": "anthropic-claude-v1", "data": "R"});
    let details = json!([text(0, "alpha\"", "S1"), redacted, text(2, "", "S2"), text(3, "beta", "S3")]);
    assert_eq!((&own["reasoning_details"], &own["reasoning_content"]), (&details, &json!("alpha\"beta")));
    // Members of a call that nobody knows must go back with it.
    let call = &own["tool_calls"][0];
    assert_eq!((&call["caller"], &call["toolset_name"]), (&json!({"type": "direct"}), &json!("s")));
    assert_eq!(call.get("note"), None);
    // Blocks in a row stay apart, and so does one without a signature before a text.
    let blocks = [
        events[0].clone(),
        thinking(0, "a"),
        signature(0, "A"),
        thinking(1, "b"),
        signature(1, "B"),
        thinking(2, "c"),
        delta(3, json!({"type": "text_delta", "text": "x"})),
        thinking(4, "d"),
        signature(4, "D"),
    ];
    let message = read(&named(&blocks), "blocks in a row").message;
    let unsigned = json!({"type": "reasoning.text", "index": 2, "format": "anthropic-claude-v1", "text": "c"});
    let details = json!([text(0, "a", "A"), text(1, "b", "B"), unsigned, text(3, "d", "D")]);
    assert_eq!(message["choices"][0]["message"]["reasoning_details"], details);
    // Without a signature, the text is all there is.
    let unsigned: Vec<_> = events.into_iter().filter(|event| !event.to_string().contains("S1")).take(3).collect();
    let message = read(&named(&unsigned), "unsigned").message;
    assert_eq!(message["choices"][0]["message"].get("reasoning_details"), None);
}

/// The input of a tool that the server runs comes in pieces, as that of a call does. A message has it whole.
#[test]
fn pieces_of_a_block_are_joined() {
    let delta = |index: u32, delta: Value| json!({"type": "content_block_delta", "index": index, "delta": delta});
    let input = |index: u32, text: &str| delta(index, json!({"type": "input_json_delta", "partial_json": text}));
    let summary = |content: Value| delta(2, json!({"type": "compaction_delta", "content": content}));
    let start =
        |index: u32, block: Value| json!({"type": "content_block_start", "index": index, "content_block": block});
    let server = |input: Value| json!({"type": "server_tool_use", "id": "s", "input": input, "name": "search"});
    let events = [
        json!({"type": "message_start", "message": {"id": "m", "role": "assistant", "model": "c", "content": []}}),
        start(0, server(json!({}))),
        input(0, "{\"q\": \"a"),
        input(0, "\\u00e9\"}"),
        start(1, server(json!({}))),
        input(1, "{\"q\": "),
        start(2, json!({"type": "compaction", "content": null})),
        summary(json!("So ")),
        summary(json!("far")),
        summary(Value::Null),
        start(3, json!({"type": "compaction", "content": null})),
        json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}}),
        json!({"type": "message_stop"}),
    ];
    let message = read(&named(&events), "pieces").message;
    let expected = json!([server(json!({"q": "a\u{e9}"})), server(json!("{\"q\": ")),
        {"type": "compaction", "content": "So far"}, {"type": "compaction", "content": null}]);
    assert_eq!(message["choices"][0]["message"]["native_content"], expected);
}

/// A text that nobody documents is reported whole, if nothing else of its delta or event says anything.
#[test]
fn a_text_that_nobody_documents_is_native() {
    let delta = |delta: Value| json!({"type": "content_block_delta", "index": 1, "delta": delta});
    let (summary, odd) =
        (json!({"type": "summary_delta", "summary": "a"}), json!({"type": "text_delta", "value": "b"}));
    let (bare, note) =
        (json!({"type": "content_block_delta", "index": 1, "text": "c"}), json!({"type": "message_note", "note": "d"}));
    let anthropic = [delta(summary.clone()), delta(odd.clone()), bare.clone(), note.clone()];
    let say = json!({"say": "f"});
    let gemini = [json!({"candidates": [{"content": {"parts": [{"text": "a"}]}}]}), say.clone()];
    let text = json!({"type": "response.output_text.delta", "output_index": 1, "text": "g"});
    for (events, expected) in [
        (&anthropic[..], vec![(1, &summary), (1, &odd), (1, &bare), (0, &note)]),
        (&gemini[..], vec![(0, &say)]),
        (std::slice::from_ref(&text), vec![(1u64 << 32, &text)]),
    ] {
        let lines = crate::common::naive_native::lines::<2>(Config::default(), &unnamed(events), &[], 64);
        let native: Vec<_> = lines.iter().filter(|line| line.starts_with("Native")).cloned().collect();
        let expected: Vec<_> = expected.iter().map(|(slot, value)| format!("Native 0 {slot:x} {value}")).collect();
        assert_eq!(native, expected);
    }
}
