//! Finish reasons and usage: a test for each row of the tables of docs/protocols.md.

use super::*;

/// The finish reason of a stream in the words of chat completions and as sent, and whether the prompt was refused.
pub(super) fn finish(events: &[Value]) -> (Option<String>, Option<String>, bool) {
    let stream = unnamed(events);
    let message = read(&stream, "finish").message;
    let choice = &message["choices"][0];
    let word = |name: &str| choice[name].as_str().map(str::to_string);
    (word("finish_reason"), word("native_finish_reason"), message.get("promptFeedback").is_some())
}

pub(super) fn anthropic_end(reason: &str) -> Vec<Value> {
    vec![json!({"type": "message_delta", "delta": {"stop_reason": reason}}), json!({"type": "message_stop"})]
}

pub(super) fn responses_end(status: &str, response: Value) -> Vec<Value> {
    let mut response = response;
    response["status"] = json!(status);
    vec![json!({"type": format!("response.{status}"), "response": response})]
}

pub(super) fn gemini_end(reason: &str, parts: Value) -> Vec<Value> {
    vec![json!({"candidates": [{"content": {"parts": parts}, "finishReason": reason}]})]
}

/// Each stream has this reason, and is `native` in the words of its protocol.
#[track_caller]
pub(super) fn finishes(canonical: Option<&str>, rows: Vec<(Vec<Value>, &str)>) {
    for (events, native) in rows {
        // A reason that chat completions have no word for stands as it was sent.
        let canonical = canonical.unwrap_or(native).to_string();
        assert_eq!(finish(&events), (Some(canonical), Some(native.to_string()), false), "{events:?}");
    }
}

#[test]
fn finish_is_tool_calls() {
    let function = json!({"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"});
    let custom = json!({"type": "custom_tool_call", "call_id": "c", "name": "f", "input": ""});
    let added = |item: &Value| json!({"type": "response.output_item.added", "output_index": 0, "item": item});
    let done = |item: &Value| json!({"type": "response.output_item.done", "output_index": 0, "item": item});
    let after = |event: Value, end: Vec<Value>| [vec![event], end].concat();
    let completed = |output: Value| responses_end("completed", json!({"output": output}));
    let call = json!([{"functionCall": {"name": "f", "args": {}}}]);
    let early = json!({"candidates": [{"content": {"parts": call}}]});
    finishes(
        Some("tool_calls"),
        vec![
            (anthropic_end("tool_use"), "tool_use"),
            (after(added(&function), completed(json!([]))), "completed"),
            (after(added(&custom), completed(json!([]))), "completed"),
            (after(done(&function), completed(json!([]))), "completed"),
            (completed(json!([function])), "completed"),
            (completed(json!([custom])), "completed"),
            (gemini_end("STOP", call.clone()), "STOP"),
            (after(early, gemini_end("STOP", json!([]))), "STOP"),
        ],
    );
}

#[test]
fn finish_is_length() {
    let incomplete = responses_end("incomplete", json!({"incomplete_details": {"reason": "max_output_tokens"}}));
    finishes(
        Some("length"),
        vec![
            (anthropic_end("max_tokens"), "max_tokens"),
            (anthropic_end("model_context_window_exceeded"), "model_context_window_exceeded"),
            (gemini_end("MAX_TOKENS", json!([])), "MAX_TOKENS"),
            (gemini_end("CONTINUATION", json!([])), "CONTINUATION"),
            (incomplete, "incomplete"),
            (responses_end("incomplete", json!({"incomplete_details": {"reason": "max_messages"}})), "incomplete"),
        ],
    );
}

#[test]
fn finish_is_content_filter() {
    let incomplete = responses_end("incomplete", json!({"incomplete_details": {"reason": "content_filter"}}));
    let words = [
        "SAFETY",
        "RECITATION",
        "BLOCKLIST",
        "PROHIBITED_CONTENT",
        "SPII",
        "IMAGE_SAFETY",
        "ESCALATION",
        "PUP_LIMITED_DISABLED",
    ];
    let rows = words.map(|word| (gemini_end(word, json!([])), word));
    let others = [(anthropic_end("refusal"), "refusal"), (incomplete, "incomplete")];
    finishes(Some("content_filter"), rows.into_iter().chain(others).collect());
}

#[test]
fn a_refused_prompt_is_content_filter() {
    for word in ["SAFETY", "OTHER", "BLOCKLIST", "PROHIBITED_CONTENT", "IMAGE_SAFETY", "JAILBREAK", "STOP", "a new one"]
    {
        let events = [json!({"promptFeedback": {"blockReason": word}})];
        // The text is no reason of a candidate, so the message has it in `promptFeedback` alone.
        assert_eq!(finish(&events), (Some("content_filter".to_string()), None, true), "{word}");
        let stream = unnamed(&events);
        let mut parser: Parser<Growing> = Parser::with_config(Growing::new(), Config::default());
        let mut rest = &stream[..];
        let event = parser.next(&mut rest).unwrap().unwrap();
        let reasons: Vec<_> = event
            .deltas()
            .filter_map(|(_, update)| match update {
                Update::Finish(reason) => Some((reason.text().to_string(), reason.kind())),
                _ => None,
            })
            .collect();
        assert_eq!(reasons, [(word.to_string(), FinishKind::ContentFilter)]);
    }
    // Feedback without a reason ends nothing.
    let rated = json!({"promptFeedback": {"safetyRatings": []}, "candidates": []});
    assert_eq!(finish(&[rated]), (None, None, true));
}

#[test]
fn finish_is_error() {
    let words = [
        "MALFORMED_FUNCTION_CALL",
        "MALFORMED_RESPONSE",
        "MISSING_THOUGHT_SIGNATURE",
        "UNEXPECTED_TOOL_CALL",
        "TOO_MANY_TOOL_CALLS",
    ];
    let gemini = words.map(|word| (gemini_end(word, json!([])), word));
    let responses = [
        (responses_end("failed", json!({"error": {"message": "m"}})), "failed"),
        (responses_end("cancelled", json!({})), "cancelled"),
    ];
    let rows: Vec<_> = responses.into_iter().chain(gemini).collect();
    for (events, word) in &rows {
        let end = read(&unnamed(events), word).end;
        assert_eq!((end.verdict, end.is_complete()), (Verdict::ApiError, false), "{word}");
    }
    finishes(Some("error"), rows);
}

#[test]
fn finish_is_stop() {
    let item = json!({"type": "web_search_call"});
    let server = json!({"type": "content_block_start", "index": 0, "content_block": {"type": "server_tool_use"}});
    let client = json!({"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "id": "t"}});
    let other_candidate = json!({"candidates": [
        {"index": 1, "content": {"parts": [{"functionCall": {"name": "f"}}]}},
        {"index": 0, "content": {"parts": [{"executableCode": {}}]}, "finishReason": "STOP"}]});
    finishes(
        Some("stop"),
        vec![
            (anthropic_end("end_turn"), "end_turn"),
            (anthropic_end("stop_sequence"), "stop_sequence"),
            (anthropic_end("pause_turn"), "pause_turn"),
            (anthropic_end("compaction"), "compaction"),
            (responses_end("incomplete", json!({"incomplete_details": {"reason": "steered"}})), "incomplete"),
            // Tool calls, the server's or the client's, do not change what `end_turn` means.
            ([vec![server], anthropic_end("end_turn")].concat(), "end_turn"),
            ([vec![client], anthropic_end("end_turn")].concat(), "end_turn"),
            (responses_end("completed", json!({"output": [item]})), "completed"),
            (gemini_end("STOP", json!([{"text": "x"}])), "STOP"),
            (vec![other_candidate], "STOP"),
        ],
    );
}

#[test]
fn finish_is_as_sent() {
    let mut rows: Vec<_> = ["LANGUAGE", "OTHER", "NO_IMAGE", "stop_Stop"]
        .into_iter()
        .map(|word| (gemini_end(word, json!([])), word))
        .collect();
    rows.push((anthropic_end("a_new_reason"), "a_new_reason"));
    rows.push((responses_end("incomplete", json!({})), "incomplete"));
    rows.push((responses_end("incomplete", json!({"incomplete_details": {"reason": "another"}})), "incomplete"));
    finishes(None, rows);
}

/// The token counts of a stream, as the parser has them at the end.
fn native_counts(stream: &[u8]) -> Option<TokenCounts> {
    let mut parser: Parser<Growing> = Parser::with_config(Growing::new(), Config::default());
    let mut rest = stream;
    while parser.next(&mut rest).unwrap().is_some() {}
    parser.usage()
}

/// The last usage of a stream: of the message, which every way to read has alike, and of the parser.
pub(super) fn usage(events: &[Value]) -> Value {
    let stream = unnamed(events);
    let message = read(&stream, "usage").message;
    let usage = message.get("usage").cloned().unwrap_or(Value::Null);
    let counts = native_counts(&stream);
    assert_eq!(counts.is_some(), !usage.is_null(), "{events:?}");
    let counts = counts.unwrap_or_default();
    let of = |path: &str| usage.pointer(path).and_then(Value::as_u64);
    assert_eq!(counts.prompt_tokens(), of("/prompt_tokens"), "{events:?}");
    assert_eq!(counts.completion_tokens(), of("/completion_tokens"), "{events:?}");
    assert_eq!(counts.total_tokens(), of("/total_tokens"), "{events:?}");
    assert_eq!(counts.cached_tokens(), of("/prompt_tokens_details/cached_tokens"), "{events:?}");
    assert_eq!(counts.reasoning_tokens(), of("/completion_tokens_details/reasoning_tokens"), "{events:?}");
    usage
}

pub(super) fn responses_usage(usage: Value) -> Value {
    json!({"type": "response.completed", "response": {"status": "completed", "usage": usage}})
}

pub(super) fn anthropic_usage(usages: &[Value]) -> Vec<Value> {
    let event = |(at, usage): (usize, &Value)| match at {
        0 => json!({"type": "message_start", "message": {"usage": usage}}),
        _ => json!({"type": "message_delta", "delta": {}, "usage": usage}),
    };
    usages.iter().enumerate().map(event).collect()
}

pub(super) fn gemini_usage(usage: Value) -> Value {
    json!({"candidates": [], "usageMetadata": usage})
}

#[test]
fn usage_of_responses() {
    let all = json!({"input_tokens": 11, "input_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 100},
        "output_tokens": 7, "output_tokens_details": {"reasoning_tokens": 5}, "total_tokens": 99});
    let expected = json!({"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 99,
        "prompt_tokens_details": {"cached_tokens": 4}, "completion_tokens_details": {"reasoning_tokens": 5}});
    assert_eq!(usage(&[responses_usage(all.clone())]), expected);
    // Of a response that is not over the usage does not count.
    let created = json!({"type": "response.in_progress", "response": {"usage": all}});
    assert_eq!(usage(&[created]), Value::Null);
    let both = json!({"input_tokens": 2, "output_tokens": 3});
    assert_eq!(usage(&[responses_usage(both)]), json!({"prompt_tokens": 2, "completion_tokens": 3, "total_tokens": 5}));
}

#[test]
fn usage_of_anthropic_adds_the_cache_and_goes_by_member() {
    let first = json!({"input_tokens": 12, "cache_read_input_tokens": 1028, "cache_creation_input_tokens": 250,
        "cache_creation": {"ephemeral_5m_input_tokens": 250}, "output_tokens": 1,
        "server_tool_use": {"web_search_requests": 3}});
    let last = json!({"output_tokens": 40, "output_tokens_details": {"thinking_tokens": 9}, "input_tokens": null,
        "iterations": [{"input_tokens": 5, "output_tokens": 5}]});
    assert_eq!(
        usage(&anthropic_usage(&[first, last])),
        json!({"prompt_tokens": 1290, "completion_tokens": 40, "total_tokens": 1330,
        "prompt_tokens_details": {"cached_tokens": 1028}, "completion_tokens_details": {"reasoning_tokens": 9}})
    );
    // One that comes late replaces the one before.
    let late = [json!({"input_tokens": 1, "output_tokens": 1}), json!({"input_tokens": 30, "output_tokens": 2})];
    assert_eq!(
        usage(&anthropic_usage(&late)),
        json!({"prompt_tokens": 30, "completion_tokens": 2, "total_tokens": 32})
    );
    // Zeros for all of the prompt replace nothing; a count that moved from one name to another replaces both.
    let first = || json!({"input_tokens": 12, "cache_read_input_tokens": 7, "output_tokens": 1});
    let zeros = json!({"input_tokens": 0, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0,
        "output_tokens": 9});
    let moved = json!({"input_tokens": 19, "cache_read_input_tokens": 0, "output_tokens": 9});
    for (last, cached) in [(zeros, 7), (moved, 0)] {
        assert_eq!(
            usage(&anthropic_usage(&[first(), last])),
            json!({"prompt_tokens": 19, "completion_tokens": 9, "total_tokens": 28,
            "prompt_tokens_details": {"cached_tokens": cached}})
        );
    }
    let written = [json!({"cache_creation_input_tokens": 8})];
    assert_eq!(usage(&anthropic_usage(&written)), json!({"prompt_tokens": 8}));
    let read = [json!({"cache_read_input_tokens": 6, "output_tokens": 0})];
    assert_eq!(
        usage(&anthropic_usage(&read)),
        json!({"prompt_tokens": 6, "completion_tokens": 0, "total_tokens": 6,
        "prompt_tokens_details": {"cached_tokens": 6}})
    );
}

#[test]
fn usage_of_gemini_adds_tools_and_thoughts_and_the_last_counts() {
    let all = json!({"promptTokenCount": 32, "candidatesTokenCount": 477, "totalTokenCount": 1600,
        "thoughtsTokenCount": 240, "cachedContentTokenCount": 2, "toolUsePromptTokenCount": 764,
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 32}]});
    assert_eq!(
        usage(&[gemini_usage(all.clone())]),
        json!({"prompt_tokens": 796, "completion_tokens": 717, "total_tokens": 1600,
        "prompt_tokens_details": {"cached_tokens": 2}, "completion_tokens_details": {"reasoning_tokens": 240}})
    );
    // Without a total it is the sum. Nothing is kept of the usage before.
    let last = json!({"promptTokenCount": 5, "thoughtsTokenCount": 3});
    assert_eq!(
        usage(&[gemini_usage(all), gemini_usage(last)]),
        json!({"prompt_tokens": 5, "completion_tokens": 3, "total_tokens": 8,
        "completion_tokens_details": {"reasoning_tokens": 3}})
    );
    assert_eq!(usage(&[gemini_usage(json!({"candidatesTokenCount": 4}))]), json!({"completion_tokens": 4}));
    // One that has only details adds them to the one before.
    let first = || gemini_usage(json!({"promptTokenCount": 5, "candidatesTokenCount": 6, "totalTokenCount": 11}));
    let details = gemini_usage(json!({"trafficType": "ON_DEMAND", "cachedContentTokenCount": 2}));
    let events = [first(), details, gemini_usage(json!({}))];
    assert_eq!(
        usage(&events),
        json!({"prompt_tokens": 5, "completion_tokens": 6, "total_tokens": 11, "prompt_tokens_details": {"cached_tokens": 2}})
    );
    assert_eq!(
        read(&unnamed(&events), "usage").message["native_usage"],
        json!({"promptTokenCount": 5, "candidatesTokenCount": 6, "totalTokenCount": 11, "trafficType": "ON_DEMAND",
            "cachedContentTokenCount": 2})
    );
}

#[test]
fn what_was_written_to_a_cache_is_counted_apart_too() {
    let responses =
        json!({"input_tokens_details": {"cache_write_tokens": 100, "cached_tokens": 4}, "output_tokens": 7});
    let first = json!({"input_tokens": 12, "cache_creation_input_tokens": 250, "output_tokens": 1});
    let chat = json!({"prompt_tokens": 9, "prompt_tokens_details": {"cache_write_tokens": 8}});
    for (events, expected) in [
        (vec![responses_usage(responses.clone())], 100),
        // The later usages of Anthropic do not repeat it.
        (anthropic_usage(&[first.clone(), json!({"output_tokens": 40})]), 250),
    ] {
        let counts = native_counts(&unnamed(&events)).unwrap();
        assert_eq!(counts.cache_write_tokens(), Some(expected), "{events:?}");
    }
    let gemini = json!({"promptTokenCount": 5});
    for (usage, expected) in [(responses, Some(100)), (first, Some(250)), (chat, Some(8)), (gemini, None)] {
        let json = usage.to_string();
        let usage = Usage::of(deltawire::json::parse_lazy(json.as_bytes()).unwrap()).unwrap();
        assert_eq!((usage.cache_write_tokens(), usage.counts().cache_write_tokens()), (expected, expected), "{json}");
    }
}

#[test]
fn a_count_that_was_not_sent_is_absent() {
    // Each alone, 0 or not; and what is no count.
    type Row<'a> = (fn(Value) -> Vec<Value>, &'a [(&'a str, &'a str)]);
    let rows: [Row<'_>; 3] = [
        (
            |usage| vec![responses_usage(usage)],
            &[
                ("input_tokens", "/prompt_tokens"),
                ("output_tokens", "/completion_tokens"),
                ("total_tokens", "/total_tokens"),
                ("input_tokens_details.cached_tokens", "/prompt_tokens_details/cached_tokens"),
                ("output_tokens_details.reasoning_tokens", "/completion_tokens_details/reasoning_tokens"),
            ],
        ),
        (
            |usage| anthropic_usage(&[usage]),
            &[
                ("input_tokens", "/prompt_tokens"),
                ("output_tokens", "/completion_tokens"),
                ("cache_creation_input_tokens", "/prompt_tokens"),
                ("output_tokens_details.thinking_tokens", "/completion_tokens_details/reasoning_tokens"),
            ],
        ),
        (
            |usage| vec![gemini_usage(usage)],
            &[
                ("promptTokenCount", "/prompt_tokens"),
                ("toolUsePromptTokenCount", "/prompt_tokens"),
                ("candidatesTokenCount", "/completion_tokens"),
                ("totalTokenCount", "/total_tokens"),
                ("cachedContentTokenCount", "/prompt_tokens_details/cached_tokens"),
            ],
        ),
    ];
    for (events, names) in rows {
        for (name, path) in names {
            let of = |count: Value| match name.split_once('.') {
                Some((outer, inner)) => json!({outer: {inner: count}}),
                None => json!({*name: count}),
            };
            for count in [0, 7, u64::MAX] {
                let usage = usage(&events(of(json!(count))));
                assert_eq!(usage.pointer(path), Some(&json!(count)), "{name}: {usage}");
                assert_eq!(usage.as_object().unwrap().len(), 1, "{name}: {usage}");
            }
            for none in [json!(null), json!("7"), json!(-1), json!([7]), json!({"a": 7})] {
                assert_eq!(usage(&events(of(none.clone()))), Value::Null, "{name}: {none}");
            }
        }
        assert_eq!(usage(&events(json!({}))), Value::Null);
    }
}

/// A text in the place of a count is none, and replaces none.
#[test]
fn a_count_in_a_string_replaces_none() {
    let first = json!({"input_tokens": 12, "cache_read_input_tokens": 7, "output_tokens": 1});
    let last = json!({"input_tokens": "0", "cache_read_input_tokens": "0", "output_tokens": 9});
    let message = read(&unnamed(&anthropic_usage(&[first.clone(), last])), "strings").message;
    assert_eq!((&message["usage"]["prompt_tokens"], &message["usage"]["completion_tokens"]), (&json!(19), &json!(9)));
    assert_eq!(message["native_usage"]["input_tokens"], 12);
    let mixed = json!({"input_tokens": "0", "cache_read_input_tokens": 0, "output_tokens": "x"});
    let message = read(&unnamed(&anthropic_usage(&[first, mixed])), "strings and numbers").message;
    assert_eq!((&message["usage"]["prompt_tokens"], &message["usage"]["completion_tokens"]), (&json!(19), &json!(1)));
}
