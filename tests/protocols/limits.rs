//! Events over the limit: what counts is kept of those that repeat the response, and what is lost is reported.

use super::*;

pub(super) fn limited(limit: usize) -> Config {
    Config::new().with_limits(Limits::new().with_max_event_len(limit as u32))
}

pub(super) fn read_limited(bytes: &[u8], limit: usize, name: &str) -> Read {
    read_with(bytes, limited(limit), name)
}

/// Returns for each event of a recording the length of its name and its data, and whether it has a `response`.
pub(super) fn lengths(bytes: &[u8]) -> Vec<(usize, bool)> {
    let text = String::from_utf8_lossy(bytes).replace("\r\n", "\n");
    let value = |line: &str, field: &str| Some(line.strip_prefix(field)?.strip_prefix(' ').unwrap_or_default().len());
    let len = |block: &str| {
        block.lines().filter_map(|line| value(line, "data:").or_else(|| value(line, "event:"))).sum::<usize>()
    };
    text.split("\n\n").map(|block| (len(block), block.contains("\"response\":{"))).collect()
}

#[test]
fn recordings_lose_nothing_that_counts_to_a_small_limit() {
    let mut streams = corpus::recorded_of_other_protocols("recordings with a small limit");
    if streams.is_empty() {
        return;
    }
    streams.retain(|stream| stream.name.starts_with("responses-") && stream.name.ends_with(".sse"));
    let (mut over, mut read_all) = (0, 0);
    for Stream { name, bytes } in &streams {
        let whole = pull(bytes, &[bytes.len()], None);
        let lengths = lengths(bytes);
        let others = lengths.iter().filter(|(_, repeats)| !repeats).map(|(len, _)| *len).max().unwrap();
        let limit = others.max(2048);
        over += lengths.iter().filter(|(len, _)| *len > limit).count();
        let read = read_limited(bytes, limit, name);
        assert_eq!((&read.message, read.end), (&whole.message, whole.end), "{name} at {limit}");
        // Whatever the limit: how it ended does not depend on how it was cut, and is known from some limit on.
        for limit in (600..limit).step_by(499) {
            let read = read_limited(bytes, limit, name);
            if limit >= 1400 {
                assert_eq!(read.end.verdict, whole.end.verdict, "{name} at {limit}");
                assert_eq!(read.message["native_usage"], whole.message["native_usage"], "{name} at {limit}");
                let finish = |message: &Value| message["choices"][0]["finish_reason"].clone();
                assert_eq!(finish(&read.message), finish(&whole.message), "{name} at {limit}");
            }
        }
        read_all += 1;
    }
    assert!(over >= 10 && read_all == 22, "{over} events of {read_all} recordings are over the limit");
}

/// A mebibyte in the event that ends the response, and another in the one that begins it.
#[test]
fn a_huge_event_that_repeats_the_response_is_reduced() {
    let text = "\u{1f600}\\\"]}, ".repeat(1 << 17);
    assert!(text.len() > 1 << 20);
    let usage = json!({"input_tokens": 3, "output_tokens": 4, "total_tokens": 7});
    let item = json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Hello"}]});
    let delta = |text: &str| json!({"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "delta": text});
    let response = |status: &str, output: Value, usage: &Value| {
        json!({"type": format!("response.{status}"), "response": {"id": "r", "model": "m", "status": status,
            "instructions": text, "tools": [[{"description": text}], -1e9, null, true], "output": output,
            "metadata": {"status": "no", "usage": 1}, "error": null, "usage": usage}})
    };
    let done = json!({"type": "response.output_item.done", "output_index": 0, "item": item});
    let huge = json!({"type": "message", "content": [{"type": "output_text", "text": text}]});
    for (output, lost) in [(json!([item]), 0), (json!([huge]), 0), (json!([item, huge]), 1), (json!([item, item]), 0)] {
        let events = [
            response("in_progress", json!([huge]), &Value::Null),
            delta("Hel"),
            delta("lo"),
            done.clone(),
            response("completed", output.clone(), &usage),
        ];
        for stream in [named(&events), type_first(&events), by_name(&events)] {
            let Read { message, end, quirks } = pull_with(&stream, &[stream.len()], limited(4096));
            for size in [1448, 16384, stream.len() - 9, stream.len() - 2] {
                let cut = pull_with(&stream, &[size], limited(4096));
                assert_eq!((&cut.message, cut.end), (&message, end), "reads of {size}");
            }
            assert_eq!(push(&stream, 1448, limited(4096)), message);
            assert_eq!((end.verdict, end.too_long, end.is_complete()), (Verdict::Done, lost, lost == 0));
            assert_eq!((&message["native_usage"], &message["id"], quirks), (&usage, &json!("r"), Vec::new()));
            let choice = &message["choices"][0];
            let twice = output[1] == item;
            assert_eq!(choice["message"]["content"], if twice { "HelloHello" } else { "Hello" });
            assert_eq!(choice["finish_reason"], "stop");
        }
    }
    // Not where all is to be checked, nor in other protocols.
    let stream = type_first(&[delta("x"), response("completed", json!([]), &usage)]);
    let strict = limited(4096).with_validate(deltawire::Validate::Strict);
    let chat = limited(4096).with_protocol(Some(Protocol::Chat));
    for config in [strict, chat] {
        let read = pull_with(&stream, &[1448], config);
        assert_eq!((read.end.too_long, read.end.is_complete()), (1, false));
    }
    // Cut inside, it is pending; what is no JSON, or has a bracket too few, is too long.
    for (from, to, too_long, verdict) in [
        ("", "", 0, Verdict::Done),
        ("\"status\":", "\"status\"", 1, Verdict::Lost),
        ("\"id\"", "\"i\\u0064\"", 1, Verdict::Lost),
        ("}}\r", "}\r", 1, Verdict::Lost),
        ("}}\r", "}}}\r", 1, Verdict::Lost),
        ("}}\r\n\r\n", "", 0, Verdict::Truncated),
    ] {
        let text = String::from_utf8(stream.clone()).unwrap();
        let at = if from.is_empty() { text.len() } else { text.rfind(from).unwrap() };
        let edited = format!("{}{to}{}", &text[..at], &text[at + from.len()..]);
        let whole = pull_with(edited.as_bytes(), &[edited.len()], limited(4096));
        let cut = pull_with(edited.as_bytes(), &[1448], limited(4096));
        assert_eq!((&whole.message, whole.end), (&cut.message, cut.end), "{from:?}");
        assert_eq!((whole.end.too_long, whole.end.verdict), (too_long, verdict), "{from:?}");
    }
}

/// In one data line what is left of the event is reported; if a line without `data:` goes on with it, nothing is.
#[test]
fn an_output_that_does_not_fit_is_reported_as_too_long_and_as_nothing_else() {
    let usage = json!({"input_tokens": 1, "output_tokens": 2, "total_tokens": 3});
    let message = json!({"type": "message", "content": [{"type": "output_text", "text": "hello"}]});
    let image = json!({"type": "image_generation_call", "result": "x".repeat(3000)});
    let completed = json!({"type": "response.completed",
        "response": {"id": "r", "status": "completed", "output": [image, message], "usage": usage}});
    let stream = type_first(&[json!({"type": "response.created", "response": {"id": "r"}}), completed]);
    let read = read_limited(&stream, 1000, "an image");
    assert_eq!((read.end.verdict, read.end.too_long), (Verdict::Done, 1));
    assert_eq!((&read.message["native_content"], &read.message["native_usage"]), (&Value::Null, &usage));
    assert_eq!(read.message["choices"][0]["message"]["content"], "hello");

    // It is at the limit before the output, and the item is not.
    let image = json!({"type": "image_generation_call", "result": "x".repeat(300) + "@" + &"x".repeat(1500)});
    let response =
        json!({"id": "r", "instructions": "i".repeat(1200), "status": "completed", "output": [image], "usage": usage});
    let events = [
        json!({"type": "response.created", "response": {}}),
        json!({"type": "response.completed", "response": response}),
    ];
    let lines = String::from_utf8(type_first(&events)).unwrap().replace('@', "\n").into_bytes();
    let read = read_limited(&lines, 1000, "an image in two lines");
    assert_eq!((read.end.verdict, read.end.too_long), (Verdict::Lost, 1));
}

/// A tool call counts in how the response ended, and a role is reported, of an output that does not fit or is not read, too.
#[test]
fn what_does_not_fit_is_a_call_all_the_same() {
    let text = "x".repeat(3000);
    let usage = json!({"input_tokens": 1, "output_tokens": 2, "total_tokens": 3, "other": "y".repeat(250)});
    let function =
        |arguments: &str| json!({"type": "function_call", "call_id": "c", "name": "f", "arguments": arguments});
    let custom = |input: &str| json!({"type": "custom_tool_call", "call_id": "c", "name": "f", "input": input});
    let message = |text: &str| json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]});
    let search =
        json!({"type": "web_search_call", "action": {"type": "function_call", "role": "assistant"}, "x": text});
    // The output, how many of its items are lost, how the response ended, and what the message has.
    let rows = [
        (json!([function(&text)]), 1, "tool_calls", json!({})),
        (json!([custom(&text)]), 1, "tool_calls", json!({})),
        (json!([search]), 1, "stop", json!({})),
        (json!([message(&text)]), 1, "stop", json!({"role": "assistant"})),
        (json!([message(&text), function(&text)]), 1, "tool_calls", json!({"role": "assistant"})),
        (json!([message("a"), function(&text)]), 1, "tool_calls", json!({"role": "assistant", "content": "a"})),
        (json!([function(&text), message("a")]), 1, "tool_calls", json!({"role": "assistant", "content": "a"})),
        // What was kept makes room for the usage.
        (json!([function(&text[..400])]), 1, "tool_calls", json!({})),
    ];
    for (output, lost, finish, own) in rows {
        // In either order of the members.
        for turned in [false, true] {
            let response = json!({"id": "r", "status": "completed", "output": output, "usage": usage});
            let last = format!("{{\"type\":\"response.completed\",\"response\":{}}}", written(&response, turned));
            let first = type_first(&[json!({"type": "response.created", "response": {}})]);
            let stream = [first, format!("data: {last}\n\n").into_bytes()].concat();
            let read = read_limited(&stream, 700, &last);
            assert_eq!((read.end.verdict, read.end.too_long), (Verdict::Done, lost), "{last}");
            let choice = &read.message["choices"][0];
            let reasons = (&choice["finish_reason"], &choice["native_finish_reason"]);
            assert_eq!(reasons, (&json!(finish), &json!("completed")), "{last}");
            assert_eq!(
                (&read.message["native_usage"], without_nulls(&choice["message"])),
                (&usage, own.clone()),
                "{last}"
            );
        }
    }
    // A response that is under way does not count, whatever it repeats.
    let response = json!({"status": "in_progress", "instructions": text, "output": [function("{}")]});
    let end = json!({"type": "response.completed", "response": {"status": "completed"}});
    let events = [json!({"type": "response.in_progress", "response": response}), end];
    for stream in [named(&events), type_first(&events), by_name(&events)] {
        let read = read_limited(&stream, 700, "under way");
        assert_eq!((read.end.too_long, &read.message["choices"][0]["finish_reason"]), (0, &json!("stop")));
    }
}

/// JSON in the order of its members, or the other way round.
pub(super) fn written(value: &Value, turned: bool) -> String {
    match value {
        Value::Object(members) => {
            let mut written: Vec<_> =
                members.iter().map(|(name, value)| format!("{}:{}", json!(name), written(value, turned))).collect();
            if turned {
                written.reverse();
            }
            format!("{{{}}}", written.join(","))
        }
        Value::Array(items) => {
            format!("[{}]", items.iter().map(|item| written(item, turned)).collect::<Vec<_>>().join(","))
        }
        other => other.to_string(),
    }
}

/// The type in the JSON counts before the name, wherever it stands. Of an event over the limit it may come behind outputs that the
/// name said would not count: they are reported as lost.
#[test]
fn a_type_that_contradicts_the_name_loses_nothing_silently() {
    let usage = json!({"input_tokens": 1, "output_tokens": 2, "total_tokens": 3});
    let message =
        json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "hello"}]});
    let text = "x".repeat(3000);
    let response = |instructions: &str| json!({"id": "r", "instructions": instructions, "output": [message], "status": "completed", "usage": usage});
    let event = |name: &str, instructions: &str, kind: &str| {
        format!("event: {name}\ndata: {{\"response\":{},\"type\":\"{kind}\"}}\n\n", response(instructions))
    };
    for (name, kind, verdict, lost, content) in [
        ("response.completed", "response.completed", Verdict::Done, 0, json!("hello")),
        ("response.in_progress", "response.completed", Verdict::Done, 1, Value::Null),
        ("response.created", "response.completed", Verdict::Done, 1, Value::Null),
        ("response.completed", "response.in_progress", Verdict::Truncated, 0, Value::Null),
        ("message", "response.completed", Verdict::Done, 0, json!("hello")),
    ] {
        let small = event(name, "", kind);
        let whole = read(small.as_bytes(), &small);
        let is_end = kind == "response.completed";
        assert_eq!((whole.end.verdict, whole.end.too_long, whole.end.is_complete()), (verdict, 0, is_end), "{small}");
        let expected = if is_end { json!("hello") } else { Value::Null };
        assert_eq!(whole.message["choices"][0]["message"]["content"], expected, "{small}");
        let started = "data: {\"type\":\"response.created\",\"response\":{}}\n\n";
        let large = started.to_string() + &event(name, &text, kind);
        let read = read_limited(large.as_bytes(), 1000, &small);
        assert_eq!((read.end.verdict, read.end.too_long), (verdict, lost), "{small}");
        assert_eq!(read.message["choices"][0]["message"]["content"], content, "{small}");
        assert_eq!(read.end.is_complete(), is_end && lost == 0, "{small}");
        let counts = if is_end { &usage } else { &Value::Null };
        assert_eq!(&read.message["native_usage"], counts, "{small}");
        // Outputs that were reported before are not lost.
        let done = json!({"type": "response.output_item.done", "output_index": 0, "item": message});
        let done = String::from_utf8(type_first(&[done])).unwrap();
        let large = large.replacen(started, &format!("{started}{done}"), 1);
        let read = read_limited(large.as_bytes(), 1000, &small);
        assert_eq!((read.end.verdict, read.end.too_long), (verdict, 0), "{small}");
        assert_eq!(read.message["choices"][0]["message"]["content"], "hello", "{small}");
    }
}

/// A `response` alone makes no event of Responses: other protocols have one. Before the protocol is known an event over the limit
/// is reduced if its type or its name says so, in front of the limit.
#[test]
fn the_first_event_is_reduced_if_it_says_that_it_is_of_responses() {
    let usage = json!({"input_tokens": 1, "output_tokens": 2, "total_tokens": 3});
    let response =
        json!({"id": "r", "status": "completed", "instructions": "x".repeat(3000), "output": [], "usage": usage});
    for (name, before, behind, is_read) in [
        ("", "\"type\":\"response.completed\",", "", true),
        ("event: response.completed\n", "", "", true),
        ("event: message\n", "", "", false),
        ("", "", "", false),
        ("", "\"type\":\"message\",", "", false),
        ("", "\"type\":\"xesponse.completed\",", "", false),
        ("", "\"sequence_number\":\"response.completed\",", "", false),
        ("", "", ",\"type\":\"response.completed\"", false),
    ] {
        let stream = format!("{name}data: {{{before}\"response\":{response}{behind}}}\n\n");
        let read = read_limited(stream.as_bytes(), 1000, &stream);
        assert_eq!(read.end.too_long, u32::from(!is_read), "{stream}");
        assert_eq!(&read.message["native_usage"], if is_read { &usage } else { &Value::Null }, "{stream}");
    }
}

/// Where the JSON is broken nothing is guessed; a name with an escape is of no interest in an output item.
#[test]
fn an_event_over_the_limit_is_reduced_only_if_it_is_json() {
    let usage = json!({"input_tokens": 1, "output_tokens": 2, "total_tokens": 3});
    let whole = format!(
        "{{\"type\":\"response.completed\",\"response\":{{\"id\":\"r\",\"status\":\"completed\",\"metadata\":null,\
         \"instructions\":\"{}\",\"output\":[{{\"\\u0061\":1,\"type\":\"message\",\"content\":[{{\"type\":\"output_text\",\
         \"text\":\"hello\"}}]}}],\"usage\":{usage}}}}}",
        "x".repeat(3000)
    );
    for (from, to, is_read) in [
        ("", "", true),
        ("{\"type\"", "[\"type\"", false),
        ("{\"type\"", "{'type\"", false),
        ("\"type\":", "\"type\"=", false),
        ("\"response\":", "\"response\"=", false),
        (",\"response\"", ";\"response\"", false),
        ("\"metadata\":null", "\"metadata\":", false),
        ("\"metadata\":null", "\"metadata\":]", false),
        ("\"usage\":", "\"usage\";", false),
    ] {
        let stream = format!("data: {}\n\n", whole.replacen(from, to, 1));
        let read = read_limited(stream.as_bytes(), 1000, &stream);
        assert_eq!(read.end.too_long, u32::from(!is_read), "{from:?} {to:?}");
        let content = if is_read { json!("hello") } else { Value::Null };
        assert_eq!(read.message["choices"][0]["message"]["content"], content, "{from:?} {to:?}");
        assert_eq!(&read.message["native_usage"], if is_read { &usage } else { &Value::Null }, "{from:?} {to:?}");
    }
}

/// The last of several types counts, and only a value of `type` is one.
#[test]
fn the_type_of_an_event_over_the_limit_is_that_of_a_small_one() {
    let usage = json!({"input_tokens": 1, "output_tokens": 2, "total_tokens": 3});
    let item =
        json!({"type": "message", "role": "function_call", "content": [{"type": "output_text", "text": "hello"}]});
    for types in [
        "\"type\":\"response.in_progress\",\"type\":\"response.completed\"",
        "\"type\":\"response.completed\",\"type\":\"response.in_progress\"",
        "\"type\":\"response.call\",\"type\":\"response.completed\"",
        "\"sequence_number\":\"response.completed\",\"type\":\"response.in_progress\"",
    ] {
        let stream = |instructions: &str| {
            let response = json!({"id": "r", "status": "completed", "instructions": instructions, "output": [item], "usage": usage});
            format!("data: {{{types},\"response\":{response}}}\n\n")
        };
        let small = read(stream("").as_bytes(), types);
        let large = read_limited(stream(&"x".repeat(3000)).as_bytes(), 1000, types);
        assert_eq!((large.message, large.end.verdict), (small.message, small.end.verdict), "{types}");
        assert_eq!(large.end.too_long, 0, "{types}");
    }
    // What does not end the response has no output that could be lost.
    let item = json!({"type": "message", "content": [{"type": "output_text", "text": "x".repeat(3000)}]});
    let response = json!({"id": "r", "output": [item], "status": "completed", "usage": usage});
    for (last, lost) in [("in_progress", 0), ("completed", 1)] {
        let types = format!("\"type\":\"response.completed\",\"type\":\"response.{last}\"");
        let stream = format!("data: {{{types},\"response\":{response}}}\n\n");
        assert_eq!(read_limited(stream.as_bytes(), 1000, last).end.too_long, lost, "{last}");
    }
}

/// Token counts behind an output that leaves no room for them are reported, and the output is lost.
#[test]
fn an_output_gives_way_to_token_counts() {
    let usage = json!({"input_tokens": 1, "output_tokens": 2, "total_tokens": 3, "of_a_vendor": "u".repeat(500)});
    let item = |text: &str| json!({"type": "message", "content": [{"type": "output_text", "text": text}]});
    let reported = item("hello");
    let done = json!({"type": "response.output_item.done", "output_index": 1, "item": reported});
    for (output, lost, content) in [
        (json!([item(&"x".repeat(600)), reported]), 1, "hello".to_string()),
        (json!([item("x"), reported]), 0, "hellox".to_string()),
    ] {
        let response = json!({"id": "r", "output": output, "status": "completed", "usage": usage});
        let completed = json!({"type": "response.completed", "response": response});
        let stream = type_first(&[json!({"type": "response.created", "response": {}}), done.clone(), completed]);
        let read = read_limited(&stream, 1000, &content);
        assert_eq!((read.end.verdict, read.end.too_long), (Verdict::Done, lost));
        assert_eq!(&read.message["native_usage"], &usage);
        assert_eq!(read.message["choices"][0]["message"]["content"], content);
    }
}

/// Where there is no room for the place of an item, all items are lost: one behind it would come in the wrong place.
#[test]
fn an_item_without_its_place_is_lost() {
    let item = |text: &str| json!({"type": "message", "content": [{"type": "output_text", "text": text}]});
    let done = json!({"type": "response.output_item.done", "output_index": 1, "item": item("hello")});
    let mut all = Vec::new();
    for len in 700..900 {
        let output = [item(&"x".repeat(len)), item("hello"), item("y")];
        let response = json!({"id": "r", "instructions": "i".repeat(1000), "output": output, "status": "completed"});
        let completed = json!({"type": "response.completed", "response": response});
        let stream = type_first(&[json!({"type": "response.created", "response": {}}), done.clone(), completed]);
        let read = pull_with(&stream, &[stream.len()], limited(1000));
        let content = read.message["choices"][0]["message"]["content"].as_str().unwrap();
        assert_eq!(read.end.verdict, Verdict::Done);
        all.push((read.end.too_long, content.replace(&"x".repeat(len), "x")));
    }
    all.dedup();
    // With growing length there is no room for: nothing, the members behind the output, the last item, the place of the second
    // item, the first item.
    let expected = [(0, "helloxy"), (1, "hello"), (1, "hellox"), (1, "hello"), (1, "helloy")];
    let expected = expected.map(|(lost, content)| (lost, content.to_string()));
    assert_eq!(all, expected);
}

/// Lines without `data:` are not reduced: that the limit was hit is reported.
#[test]
fn raw_json_over_the_limit_is_reported() {
    let text = "x".repeat(3000);
    let usage = json!({"input_tokens": 1, "output_tokens": 2, "total_tokens": 3});
    let created = json!({"type": "response.created", "response": {"id": "r"}});
    let response = json!({"id": "r", "object": "response", "instructions": text, "output": [], "status": "completed", "usage": usage});
    let completed = json!({"type": "response.completed", "response": response});
    let pretty = serde_json::to_string_pretty(&completed).unwrap();
    for (stream, too_long) in [
        // Bare JSON, in lines and as a body; a payload that goes on in lines of its own.
        (format!("{created}\n{completed}\n"), 1),
        (format!("[{created},{completed}]"), 1),
        (format!("{response}"), 1),
        (format!("data: {created}\n\nevent: response.completed\ndata: {pretty}\n\n"), 1),
        // Each line a field.
        (format!("data: {created}\n\nevent: response.completed\ndata: {}\n\n", pretty.replace('\n', "\ndata: ")), 0),
    ] {
        let read = read_limited(stream.as_bytes(), 1000, &stream);
        let verdict = if too_long == 0 { Verdict::Done } else { Verdict::Lost };
        assert_eq!((read.end.verdict, read.end.too_long), (verdict, too_long), "{stream}");
        let counts = if too_long == 0 { &usage } else { &Value::Null };
        assert_eq!(&read.message["native_usage"], counts, "{stream}");
    }
}
