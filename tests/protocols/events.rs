//! What holds for the events of every protocol: names, ends, halves of characters.

use super::*;

/// A stream of several messages is complete if the last of them is.
#[test]
fn a_message_behind_another_one_has_an_end_of_its_own() {
    let message = |id: &str, call: Option<&str>| {
        let block = match call {
            Some(call) => json!({"type": "tool_use", "id": call, "name": "f", "input": {}}),
            None => json!({"type": "text", "text": "Done."}),
        };
        let reason = if call.is_some() { "tool_use" } else { "end_turn" };
        [
            json!({"type": "message_start", "message": {"id": id, "role": "assistant", "content": []}}),
            json!({"type": "content_block_start", "index": 0, "content_block": block}),
            json!({"type": "content_block_stop", "index": 0}),
            json!({"type": "message_delta", "delta": {"stop_reason": reason}}),
            json!({"type": "message_stop"}),
        ]
    };
    let events = [message("m1", Some("t1")), message("m2", Some("t2")), message("m3", None)].concat();
    for (len, verdict) in [(5, Verdict::Done), (7, Verdict::Truncated), (13, Verdict::Truncated), (15, Verdict::Done)] {
        let Read { message, end, .. } = read(&named(&events[..len]), "several messages");
        assert_eq!((end.verdict, end.is_complete()), (verdict, verdict == Verdict::Done), "{len} events");
        let calls = message["choices"][0]["message"]["tool_calls"].as_array().unwrap();
        let ids: Vec<_> = calls.iter().map(|call| call["id"].as_str().unwrap()).collect();
        assert_eq!(ids, &["t1", "t2"][..if len > 5 { 2 } else { 1 }], "{len} events");
    }
}

/// A proxy reports a failure of its own behind that of the vendor.
#[test]
fn a_response_that_ends_twice_is_reported_once() {
    let search = json!({"type": "web_search_call"});
    let message = json!({"type": "message", "content": [{"type": "output_text", "text": "x"}]});
    let call = json!({"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"});
    let output = json!([message, search, call]);
    let end =
        |status: &str| json!({"type": format!("response.{status}"), "response": {"status": status, "output": output}});
    for (first, second) in
        [("failed", "failed"), ("failed", "completed"), ("cancelled", "failed"), ("completed", "completed")]
    {
        let stream = unnamed(&[end(first), end(second)]);
        let message = &read(&stream, first).message["choices"][0]["message"];
        assert_eq!(message["content"], "x", "{first}, {second}");
        assert_eq!(message["native_content"], json!([search]), "{first}, {second}");
        let calls = message["tool_calls"].as_array().unwrap();
        assert_eq!((calls.len(), &calls[0]["function"]["arguments"]), (1, &json!("{}")), "{first}, {second}");
    }
}

/// Events that the vendor does not have, or that have their type in their name alone.
#[test]
fn an_event_is_of_the_type_in_its_name() {
    // A status alone makes no response of it, nor a usage a chunk of chat completions.
    let created = json!({"type": "response.created", "response": {"id": "r"}});
    let notice = json!({"type": "proxy.notice", "status": "ok"});
    let Read { message, end, .. } = read(&unnamed(&[created, notice]), "a status");
    assert_eq!((end.verdict, &message["choices"][0]["finish_reason"]), (Verdict::Truncated, &Value::Null));
    let stop =
        "event: message_delta\ndata: {\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":7}}\n\n";
    let start = "event: message_start\ndata: {\"message\":{\"id\":\"m\",\"usage\":{\"input_tokens\":3}}}\n\n";
    for stream in [stop.to_string(), [start, stop].concat()] {
        let Read { message, end, quirks } = read(stream.as_bytes(), "by its name");
        assert_eq!((end.verdict, end.protocol), (Verdict::Finished, Some(Protocol::Anthropic)));
        assert_eq!((quirks, &message["native_usage"]["output_tokens"]), (Vec::new(), &json!(7)), "{message}");
        assert_eq!(message["choices"][0]["native_finish_reason"], "end_turn");
    }
    // One with choices is a chunk of chat completions, whatever its name.
    let chunk = "event: message_delta\ndata: {\"choices\":[{\"delta\":{\"content\":\"x\"}}]}\n\n";
    let Read { message, end, .. } = read(chunk.as_bytes(), "a chunk");
    assert_eq!((end.protocol, &message["choices"][0]["message"]["content"]), (Some(Protocol::Chat), &json!("x")));
}

/// An event without its blank line at the end of the stream is what it would be with it, by its type or its name.
#[test]
fn the_last_event_is_the_same_without_its_blank_line() {
    let block = json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "x"}});
    let stop = json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 5}});
    let text = json!({"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "delta": "x"});
    let ended = |word: &str| json!({"type": format!("response.{word}"), "response": {}});
    let over = json!({"type": "message_stop"});
    let error = json!({"type": "error", "message": "m"});
    for (events, verdict) in [
        (vec![block.clone()], Verdict::Truncated),
        (vec![block.clone(), stop.clone()], Verdict::Finished),
        (vec![block.clone(), stop.clone(), over.clone()], Verdict::Done),
        (vec![block.clone(), stop.clone(), over.clone(), json!({"type": "ping"})], Verdict::Done),
        (vec![block.clone(), json!({"type": "ping"})], Verdict::Truncated),
        (vec![block, error.clone()], Verdict::ApiError),
        (vec![text.clone()], Verdict::Truncated),
        (vec![text.clone(), ended("completed")], Verdict::Done),
        (vec![text.clone(), ended("incomplete")], Verdict::Done),
        (vec![text.clone(), ended("failed")], Verdict::ApiError),
        (vec![text, error], Verdict::ApiError),
    ] {
        for stream in [named(&events), unnamed(&events), by_name(&events)] {
            let whole = read(&stream, "with its blank line");
            let is_complete = matches!(verdict, Verdict::Done | Verdict::Finished);
            assert_eq!((whole.end.verdict, whole.end.is_complete()), (verdict, is_complete), "{events:?}");
            let text = String::from_utf8(stream.clone()).unwrap();
            for cut in [text.trim_end().to_string(), text.trim_end().to_string() + "\n"] {
                let read = read(cut.as_bytes(), "without");
                assert_eq!(read.message, whole.message, "{cut}");
                let facts =
                    |end: &End| (end.verdict, end.protocol, end.pending, end.choices_finished, end.is_complete());
                assert_eq!(facts(&read.end), facts(&whole.end), "{cut}");
                assert_eq!(read.quirks, [&whole.quirks[..], &[Quirk::UnterminatedEvent]].concat(), "{cut}");
            }
            // What was cut inside is nothing.
            let read = read(text.trim_end().trim_end_matches('}').as_bytes(), "cut");
            let all_but_one = whole.end.verdict == Verdict::Done && events.len() == 4;
            assert_eq!((read.end.is_complete(), read.end.verdict == Verdict::Done), (false, all_but_one), "{text}");
        }
    }
}

/// Blocks of any index are distinguished, whatever their distance.
#[test]
fn blocks_that_are_64_apart_are_two() {
    let piece = |index: u32, text: &str| json!({"type": "content_block_delta", "index": index, "delta": {"type": "input_json_delta", "partial_json": text}});
    let start = |index: u32, kind: &str| json!({"type": "content_block_start", "index": index, "content_block": {"type": kind, "id": format!("t{index}"), "name": "f", "input": {}}});
    for far in [32, 64, 128, 192, 224, 1 << 20, u32::MAX - 2] {
        let events = [
            json!({"type": "message_start", "message": {"id": "m", "content": []}}),
            start(0, "tool_use"),
            piece(0, "{\"a\":"),
            start(far, "server_tool_use"),
            piece(far, "{\"s\":1}"),
            piece(0, "1}"),
            start(far + 1, "tool_use"),
            piece(far + 1, "{\"b\":2}"),
            piece(far, "server"),
        ];
        let Read { message, quirks, .. } = read(&unnamed(&events), "blocks");
        let own = &message["choices"][0]["message"];
        let arguments = |call: usize| own["tool_calls"][call]["function"]["arguments"].clone();
        let native = &own["native_content"];
        assert_eq!((native.as_array().unwrap().len(), quirks), (1, Vec::new()), "{far}");
        assert_eq!(arguments(1), json!("{\"b\":2}"));
        // Of a block that began so long before it is not known what it is: its piece goes where the others go.
        let (first, input) =
            if far <= 224 { ("{\"a\":1}", "{\"s\":1}server") } else { ("{\"a\":", "{\"s\":1}1}server") };
        assert_eq!((arguments(0), &native[0]["input"]), (json!(first), &json!(input)), "{far}");
    }
}

/// Each event of another protocol counts, also one that came before, whole or cut.
#[test]
fn the_same_foreign_event_counts_each_time() {
    let chunk = json!({"choices": [{"delta": {"content": "x"}}]});
    let foreign = json!({"type": "content_block_stop", "index": 0});
    let stream = unnamed(&[vec![chunk], vec![foreign; 6]].concat());
    for size in [stream.len(), 40, 7, 1] {
        let mut parser: Parser<Growing> = Parser::with_config(Growing::new(), Config::default());
        for mut piece in stream.chunks(size) {
            while parser.next(&mut piece).unwrap().is_some() {}
        }
        assert_eq!(parser.quirk_count(Quirk::ForeignEvent), 6, "in reads of {size}");
    }
}

/// Returns the texts of a stream by batch: kind, code, slot and decoded text of each. The slot of arguments is the number of their call.
pub(super) fn texts(bytes: &[u8], size: usize) -> Vec<(Kind, u32, u64, String)> {
    let (tracker, room) = (&mut Tracker::<8, 32>::new(), Room { records: 64, scratch: 4096 });
    let (mut texts, config) = (Vec::new(), Config::default());
    each_record::<2>(config, tracker, bytes.chunks(size), Kind::DEFAULT, room, |record, [text, ..], _| {
        let kind = Kind::from_number(record.kind.into()).unwrap();
        let slot = if kind == Kind::ToolArguments { record.call.into() } else { record.number };
        if [Kind::Content, Kind::Reasoning, Kind::Refusal, Kind::ToolArguments].contains(&kind) {
            texts.push((kind, record.code, slot, String::from_utf8(text.to_vec()).unwrap()));
        }
    });
    texts
}

#[test]
fn halves_of_characters_are_joined_by_slot() {
    use Kind::{Content, Reasoning, Refusal, ToolArguments};
    let (high, low) = ("\\ud83d", "\\ude00");
    let event = |data: String| format!("data: {data}\n\n");
    let block = |index: u32, kind: &str, name: &str, text: String| {
        event(format!(
            r#"{{"type":"content_block_delta","index":{index},"delta":{{"type":"{kind}","{name}":"{text}"}}}}"#
        ))
    };
    let text = |index: u32, text: String| block(index, "text_delta", "text", text);
    let thinking = |index: u32, text: &str| block(index, "thinking_delta", "thinking", text.to_string());
    let piece = |index: u32, text: &str| block(index, "input_json_delta", "partial_json", text.to_string());
    let opens = |index: u32| {
        event(format!(
            r#"{{"type":"content_block_start","index":{index},"content_block":{{"type":"tool_use","id":"{index}","name":"f"}}}}"#
        ))
    };
    let stop = event(r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"}}"#.to_string());
    let part = |kind: &str, index: &str, item: u32, part: u32, text: &str| {
        event(format!(r#"{{"type":"response.{kind}.delta","output_index":{item},"{index}":{part},"delta":"{text}"}}"#))
    };
    let output = |item: u32, at: u32, text: &str| part("output_text", "content_index", item, at, text);
    let parts = |parts: &str| event(format!(r#"{{"candidates":[{{"content":{{"parts":[{parts}]}}}}]}}"#));
    let (one, both) = ("\u{fffd}", "\u{1f600}");
    let slot = |item: u64, part: u64| item << 32 | part;
    // The stream, its texts, and whether a half is left alone.
    type Texts<'a> = Vec<(Kind, u32, u64, &'a str)>;
    let rows: Vec<(&str, Vec<String>, Texts<'_>, bool)> = vec![
        (
            "Anthropic: one block",
            vec![text(0, format!("a{high}")), text(0, format!("{low}b"))],
            vec![(Content, 0, 0, "a"), (Content, 0, 0, "\u{1f600}b")],
            false,
        ),
        (
            "Anthropic: blocks by turns",
            vec![
                text(0, high.into()),
                text(1, format!("x{high}")),
                thinking(2, high),
                text(0, low.into()),
                thinking(2, low),
                text(1, low.into()),
            ],
            vec![(Content, 0, 1, "x"), (Content, 0, 0, both), (Reasoning, 0, 2, both), (Content, 0, 1, both)],
            false,
        ),
        (
            "Anthropic: another block",
            vec![text(0, high.into()), text(1, low.into()), stop.clone()],
            vec![(Content, 0, 1, one), (Content, 0, 0, one)],
            true,
        ),
        (
            "Anthropic: thinking and text of one index",
            vec![thinking(0, high), text(0, low.into()), thinking(0, low)],
            vec![(Content, 0, 0, one), (Reasoning, 0, 0, both)],
            true,
        ),
        (
            "Anthropic: calls by turns",
            vec![opens(0), opens(1), piece(0, high), piece(1, high), piece(0, low), piece(1, low)],
            vec![(ToolArguments, 0, 0, both), (ToolArguments, 0, 1, both)],
            false,
        ),
        (
            "Anthropic: three halves wait, a fourth is alone",
            (0..4).chain(0..4).enumerate().map(|(at, index)| text(index, [high, low][at / 4].into())).collect(),
            vec![
                (Content, 0, 3, one),
                (Content, 0, 0, both),
                (Content, 0, 1, both),
                (Content, 0, 2, both),
                (Content, 0, 3, one),
            ],
            true,
        ),
        ("Anthropic: at the end", vec![text(7, high.into())], vec![(Content, 0, 7, one)], true),
        (
            "Responses: parts and items by turns",
            vec![
                output(0, 0, high),
                output(0, 1, high),
                output(1, 0, high),
                output(1, 0, low),
                output(0, 1, low),
                output(0, 0, low),
            ],
            vec![(Content, 0, slot(1, 0), both), (Content, 0, 1, both), (Content, 0, 0, both)],
            false,
        ),
        (
            "Responses: another part",
            vec![output(3, 0, high), output(3, 1, low)],
            vec![(Content, 0, slot(3, 1), one), (Content, 0, slot(3, 0), one)],
            true,
        ),
        (
            "Responses: text, reasoning, its summary and a refusal in one place",
            vec![
                part("reasoning_text", "content_index", 2, 0, high),
                part("reasoning_summary_text", "summary_index", 2, 0, high),
                part("refusal", "content_index", 2, 0, high),
                part("reasoning_summary_text", "summary_index", 2, 0, low),
                output(2, 0, low),
                part("reasoning_text", "content_index", 2, 0, low),
                part("refusal", "content_index", 2, 0, low),
            ],
            vec![
                (Reasoning, 1, slot(2, 0), both),
                // Another item has the index, so these are of the next one.
                (Content, 0, slot(3, 0), one),
                (Reasoning, 0, slot(2, 0), both),
                (Refusal, 0, slot(3, 0), both),
            ],
            true,
        ),
        (
            "Gemini: one part, over two events",
            vec![parts(&format!(r#"{{"text":"{high}"}},{{"text":"x"}}"#)), parts(&format!(r#"{{"text":"{low}"}}"#))],
            vec![(Content, 0, 1, "x"), (Content, 0, 0, both)],
            false,
        ),
        (
            "Gemini: a thought and a text",
            vec![parts(&format!(r#"{{"text":"{high}","thought":true}}"#)), parts(&format!(r#"{{"text":"{low}"}}"#))],
            vec![(Content, 0, 0, one), (Reasoning, 0, 0, one)],
            true,
        ),
    ];
    for (name, events, expected, is_alone) in rows {
        let stream = events.concat();
        let expected: Vec<_> =
            expected.into_iter().map(|(kind, code, slot, text)| (kind, code, slot, text.to_string())).collect();
        for size in [1, 7, stream.len()] {
            assert_eq!(texts(stream.as_bytes(), size), expected, "{name}, in reads of {size}");
        }
        let quirks = read(stream.as_bytes(), name).quirks;
        assert_eq!(quirks.contains(&Quirk::LoneSurrogate), is_alone, "{name}: {quirks:?}");
    }
}

/// A path of n keys would otherwise make JSON of n levels, which no reader takes, at the cost of n² steps.
#[test]
fn arguments_by_path_are_bounded_in_depth() {
    let arguments = |keys: usize| {
        let piece = |path: &str| json!({"jsonPath": path, "numberValue": 1});
        let pieces = [piece("$.a"), piece(&format!("${}", ".b[0]".repeat(keys / 2))), piece("$.c")];
        let part = json!({"functionCall": {"name": "f", "partialArgs": pieces}});
        let stream = unnamed(&[json!({"candidates": [{"content": {"parts": [part]}}]})]);
        let message = read(&stream, "paths").message;
        let call = &message["choices"][0]["message"]["tool_calls"][0];
        call["function"]["arguments"].as_str().unwrap().to_string()
    };
    assert_eq!(arguments(4), r#"{"a":1,"b":[{"b":[1]}],"c":1}"#);
    assert_eq!(serde_json::from_str::<Value>(&arguments(126)).unwrap().as_object().unwrap().len(), 3);
    assert_eq!(arguments(128), r#"{"a":1,"c":1}"#);
    assert_eq!(arguments(300_000), r#"{"a":1,"c":1}"#);
}

#[test]
fn each_protocol_has_its_end() {
    use Verdict::{ApiError, Done, Finished, Lost, OtherProtocol, Truncated};
    let start = r#"data: {"type":"message_start","message":{}}"#;
    let stop = r#"data: {"type":"message_delta","delta":{"stop_reason":"end_turn"}}"#;
    let rows: &[(&[&str], Verdict)] = &[
        (&[start], Truncated),
        (&[start, "data: [DONE]"], Truncated),
        (&[start, stop], Finished),
        (&[start, stop, r#"data: {"type":"message_stop"}"#], Done),
        (&[start, stop, r#"data: {"type":"error","error":{"message":"m"}}"#], ApiError),
        (&[r#"data: {"type":"response.queued","response":{}}"#], Truncated),
        (&[r#"data: {"type":"response.completed","response":{"status":"completed"}}"#, "data: [DONE]"], Done),
        (&[r#"data: {"type":"response.incomplete","response":{"status":"incomplete"}}"#], Done),
        (&[r#"data: {"type":"response.failed","response":{"status":"failed"}}"#], ApiError),
        (&[r#"data: {"candidates":[{"content":{"parts":[{"text":"x"}]}}]}"#], Truncated),
        (&[r#"data: {"candidates":[{"finishReason":"STOP"}]}"#], Finished),
        (&[r#"data: {"candidates":[{"finishReason":"STOP"}]}"#, r#"{"error":{"message":"m"}}"#], ApiError),
        (&[r#"data: {"type":"message-start"}"#], OtherProtocol),
        (&[r#"data: {"event_type":"interaction.created"}"#], OtherProtocol),
        (&[r#"{"model":"m","done":false,"message":{}}"#], OtherProtocol),
        (&[r#"data: {"usageMetadata":{}}"#, r#"data: {"candidates":[{"finishReason":"STOP"}]}"#], Finished),
        (&[r#"data: {"type":"response.cancelled","response":{"status":"cancelled"}}"#], ApiError),
        // The name shows the protocol, even if nothing of the event can be read.
        (&["event: response.output_text.delta\ndata: {\"delta\":\"a"], Lost),
        (&["event: message-start\ndata: {\"delta\":\"a"], OtherProtocol),
        // Usage alone makes no chat completion of the events before it (Cloudflare).
        (
            &[r#"data: {"response":"Hi"}"#, r#"data: {"response":"","usage":{"prompt_tokens":1}}"#, "data: [DONE]"],
            OtherProtocol,
        ),
    ];
    for (lines, verdict) in rows {
        let stream = lines.iter().map(|line| format!("{line}\n\n")).collect::<String>();
        let read = pull(stream.as_bytes(), &[stream.len()], None);
        let cut = pull(stream.as_bytes(), &[3], None);
        assert_eq!((read.end.verdict, read.end), (*verdict, cut.end), "{stream}");
    }
}

#[test]
fn the_protocol_can_be_given() {
    let stream =
        unnamed(&[json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "x"}})]);
    let content = |protocol| {
        let read = pull(&stream, &[stream.len()], protocol);
        (read.message["choices"][0]["message"]["content"].clone(), read.end.protocol, read.quirks)
    };
    let x = || (json!("x"), Some(Protocol::Anthropic), Vec::new());
    assert_eq!(content(None), x());
    assert_eq!(content(Some(Protocol::Anthropic)), x());
    // One that is not read is looked for, as if none was given.
    assert_eq!(content(Some(Protocol::Cohere)), x());
    for other in [Protocol::Chat, Protocol::Gemini, Protocol::Responses] {
        let expected = (Value::Null, Some(Protocol::Anthropic), vec![Quirk::ForeignEvent]);
        assert_eq!(content(Some(other)), expected, "{other:?}");
    }
}

/// An event of a type that nobody knows gives the response no ID, no model, no time and no member.
#[test]
fn an_event_that_nobody_knows_names_no_response() {
    let proxy = json!({"type": "proxy_event", "id": "v", "model": "w", "created": 5, "note": "x"});
    let anthropic = json!({"type": "message_start", "message": {"role": "assistant", "content": []}});
    let chat = json!({"choices": [{"index": 0, "delta": {"content": "a"}}]});
    for own in [anthropic, chat] {
        for events in [[&proxy, &own, &own], [&own, &proxy, &own]] {
            let stream = unnamed(&events.map(Clone::clone));
            let message = read(&stream, "a proxy's event").message;
            let names: Vec<_> =
                ["id", "model", "created", "note"].iter().filter(|name| !message[**name].is_null()).collect();
            assert!(names.is_empty(), "{names:?} {message}");
        }
    }
}

/// Some gateways leave the empty input out of the block of a server's tool.
#[test]
fn the_input_of_a_servers_tool_is_joined() {
    for block in
        [json!({"type": "server_tool_use", "id": "s", "input": {}}), json!({"type": "mcp_tool_use", "id": "s"})]
    {
        let piece = |json: &str| {
            let delta = json!({"type": "input_json_delta", "partial_json": json});
            json!({"type": "content_block_delta", "index": 0, "delta": delta})
        };
        let start = json!({"type": "content_block_start", "index": 0, "content_block": block});
        let events = [vec![start, piece("{\"q\":"), piece("\"x\"}")], meaning::anthropic_end("end_turn")].concat();
        let message = read(&unnamed(&events), "input").message;
        let content = &message["choices"][0]["message"]["native_content"];
        assert_eq!(content[0]["input"], json!({"q": "x"}), "{message}");
        assert_eq!(content.as_array().map(Vec::len), Some(1), "{message}");
    }
}
