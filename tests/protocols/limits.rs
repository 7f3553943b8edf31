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
    for (output, lost) in [(json!([item]), 0), (json!([huge]), 0), (json!([item, huge]), 1), (json!([item, item]), 1)] {
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
            assert_eq!(choice["message"]["content"], "Hello");
            assert_eq!(choice["finish_reason"], "stop");
        }
    }
    // Not where all is to be checked, nor in other protocols.
    let stream = type_first(&[delta("x"), response("completed", json!([huge]), &usage)]);
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
fn an_output_that_was_not_reported_is_reported_as_too_long_and_as_nothing_else() {
    let usage = json!({"input_tokens": 1, "output_tokens": 2, "total_tokens": 3});
    let message = json!({"type": "message", "content": [{"type": "output_text", "text": "hello"}]});
    let image = json!({"type": "image_generation_call", "result": "x".repeat(3000)});
    let completed = json!({"type": "response.completed",
        "response": {"id": "r", "status": "completed", "output": [image, message], "usage": usage}});
    let stream = type_first(&[json!({"type": "response.created", "response": {"id": "r"}}), completed]);
    let read = read_limited(&stream, 1000, "an image");
    assert_eq!((read.end.verdict, read.end.too_long), (Verdict::Done, 1));
    assert_eq!((&read.message["native_content"], &read.message["native_usage"]), (&Value::Null, &usage));
    assert_eq!(read.message["choices"][0]["message"]["content"], Value::Null);

    // The limit is reached before the output.
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

/// A tool call counts in how the response ended, even if nothing else of it is reported.
#[test]
fn what_is_lost_is_a_call_all_the_same() {
    let text = "x".repeat(3000);
    let usage = json!({"input_tokens": 1, "output_tokens": 2, "total_tokens": 3, "other": "y".repeat(250)});
    let function =
        |arguments: &str| json!({"type": "function_call", "call_id": "c", "name": "f", "arguments": arguments});
    let custom = |input: &str| json!({"type": "custom_tool_call", "call_id": "c", "name": "f", "input": input});
    let message = |text: &str| json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]});
    let search =
        json!({"type": "web_search_call", "action": {"type": "function_call", "role": "assistant"}, "x": text});
    // The output, and how the response ended.
    let rows = [
        (json!([function(&text)]), "tool_calls"),
        (json!([custom(&text)]), "tool_calls"),
        (json!([search]), "stop"),
        (json!([message(&text)]), "stop"),
        (json!([message("a"), function(&text)]), "tool_calls"),
        (json!([function(&text[..400]), message("a")]), "tool_calls"),
    ];
    for (output, finish) in rows {
        // In either order of the members.
        for turned in [false, true] {
            let response = json!({"id": "r", "status": "completed", "output": output, "usage": usage});
            let last = format!("{{\"type\":\"response.completed\",\"response\":{}}}", written(&response, turned));
            let first = type_first(&[json!({"type": "response.created", "response": {}})]);
            let stream = [first, format!("data: {last}\n\n").into_bytes()].concat();
            let read = read_limited(&stream, 700, &last);
            assert_eq!((read.end.verdict, read.end.too_long), (Verdict::Done, 1), "{last}");
            let choice = &read.message["choices"][0];
            let reasons = (&choice["finish_reason"], &choice["native_finish_reason"]);
            assert_eq!(reasons, (&json!(finish), &json!("completed")), "{last}");
            assert_eq!(
                (&read.message["native_usage"], without_nulls(&choice["message"])),
                (&usage, json!({"role": "assistant"})),
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

/// The type in the JSON counts before the name, wherever it stands.
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
    for (name, kind, verdict, lost) in [
        ("response.completed", "response.completed", Verdict::Done, 1),
        ("response.in_progress", "response.completed", Verdict::Done, 1),
        ("response.created", "response.completed", Verdict::Done, 1),
        ("response.completed", "response.in_progress", Verdict::Truncated, 0),
        ("message", "response.completed", Verdict::Done, 1),
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
        assert_eq!(read.message["choices"][0]["message"]["content"], Value::Null, "{small}");
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
    let delta = json!({"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "delta": "hello"});
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
        let stream = format!("data: {delta}\n\ndata: {}\n\n", whole.replacen(from, to, 1));
        let read = read_limited(stream.as_bytes(), 1000, &stream);
        assert_eq!(read.end.too_long, u32::from(!is_read), "{from:?} {to:?}");
        assert_eq!(read.message["choices"][0]["message"]["content"], "hello", "{from:?} {to:?}");
        assert_eq!(&read.message["native_usage"], if is_read { &usage } else { &Value::Null }, "{from:?} {to:?}");
    }
}

/// The last of several types counts, and only a value of `type` is one.
#[test]
fn the_type_of_an_event_over_the_limit_is_that_of_a_small_one() {
    let usage = json!({"input_tokens": 1, "output_tokens": 2, "total_tokens": 3});
    let item =
        json!({"type": "message", "role": "function_call", "content": [{"type": "output_text", "text": "hello"}]});
    let done = json!({"type": "response.output_item.done", "output_index": 0, "item": item});
    for types in [
        "\"type\":\"response.in_progress\",\"type\":\"response.completed\"",
        "\"type\":\"response.completed\",\"type\":\"response.in_progress\"",
        "\"type\":\"response.call\",\"type\":\"response.completed\"",
        "\"sequence_number\":\"response.completed\",\"type\":\"response.in_progress\"",
    ] {
        let stream = |instructions: &str| {
            let response = json!({"id": "r", "status": "completed", "instructions": instructions, "output": [item], "usage": usage});
            format!("data: {done}\n\ndata: {{{types},\"response\":{response}}}\n\n")
        };
        let small = read(stream("").as_bytes(), types);
        let large = read_limited(stream(&"x".repeat(3000)).as_bytes(), 1000, types);
        assert_eq!((large.message, large.end.verdict), (small.message, small.end.verdict), "{types}");
        assert_eq!(large.end.too_long, 0, "{types}");
    }
    // What does not end the response has no output that could be lost.
    let item = json!({"type": "message", "content": [{"type": "output_text", "text": "x".repeat(3000)}]});
    let response = json!({"id": "r", "output": [item], "status": "completed", "usage": usage});
    for (last, lost) in [("in_progress", 0), ("completed", 1), ("done", 1)] {
        let types = format!("\"type\":\"response.completed\",\"type\":\"response.{last}\"");
        let stream = format!("data: {{{types},\"response\":{response}}}\n\n");
        assert_eq!(read_limited(stream.as_bytes(), 1000, last).end.too_long, lost, "{last}");
    }
}

/// Earlier events reported an output if at least as many items of each type came, in any order. Else the event is too
/// long, and what it has besides counts all the same, whatever the limit and however the bytes are cut.
#[test]
fn an_output_was_reported_if_as_many_items_of_each_type_were() {
    let usage = json!({"input_tokens": 1, "output_tokens": 2, "total_tokens": 3});
    let message = |text: &str| json!({"type": "message", "content": [{"type": "output_text", "text": text}]});
    let [reasoning, search] = ["reasoning", "web_search_call"].map(|kind| json!({"type": kind}));
    let call = json!({"type": "function_call", "call_id": "c", "name": "f", "arguments": "{\"a\":1}"});
    let custom = json!({"type": "custom_tool_call", "call_id": "c", "name": "f", "input": "a"});
    let event = |kind: &str, at: usize, item: &Value| json!({"type": format!("response.output_item.{kind}"), "output_index": at, "item": item});
    let done = |items: &[Value]| items.iter().enumerate().map(|(at, item)| event("done", at, item)).collect::<Vec<_>>();
    let delta = json!({"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "delta": "a"});
    let arguments = json!({"type": "response.function_call_arguments.delta", "output_index": 0, "delta": "{\"a\":1}"});
    let begun = json!({"type": "function_call", "call_id": "c", "name": "f", "arguments": ""});
    let created = json!({"type": "response.created", "response": {"id": "r"}});
    let all = [reasoning.clone(), message("a"), call.clone(), search.clone()];
    let [last, first, rest @ ..] = [search.clone(), reasoning.clone(), message("b"), call.clone()];
    let turned = [vec![last, first], rest.to_vec()].concat();
    let many = [vec![search.clone(); 9], vec![message("a")], vec![reasoning.clone(); 8]].concat();
    let several = |count| vec![message("a"); count];
    let rows = [
        (done(&all), json!(all), 0),
        (done(&all), json!(turned), 0),
        (done(&all), json!(all[..3]), 0),
        (done(&all[..3]), json!(all), 1),
        (done(&all[..1]), json!([message("a")]), 1),
        (done(&several(1)), json!(several(2)), 1),
        // What did not come again was reported all the same.
        (done(&all), json!([]), 0),
        // More items than are tracked.
        (done(&many), json!(many), 0),
        (done(&many), json!(many[1..]), 0),
        (done(&many[1..]), json!(many), 1),
        (done(&several(254)), json!(several(254)), 0),
        (done(&several(300)), json!(several(254)), 0),
        (done(&several(300)), json!(several(299)), 1),
        // A piece of a text counts, the beginning of an item does not.
        (vec![delta.clone()], json!([message("a")]), 0),
        (vec![event("added", 0, &message(""))], json!([message("a")]), 1),
        (vec![event("added", 0, &begun)], json!([call]), 1),
        (vec![event("added", 0, &begun), arguments], json!([call]), 0),
        (vec![event("added", 0, &search)], json!([search]), 1),
        // Both are tool calls of the client.
        (done(&[custom]), json!([call]), 0),
        // What is no object is no item.
        (done(&several(1)), json!([message("a"), null, 1, [message("a")]]), 0),
        (Vec::new(), json!({"type": "message"}), 0),
        // The items of an earlier response do not count.
        ([done(&several(1)), vec![created.clone()]].concat(), json!(several(1)), 1),
    ];
    for (events, output, lost) in rows {
        let response = json!({"id": "r", "status": "completed", "instructions": "i".repeat(700), "output": output, "usage": usage});
        // Another event may end the response again, and has nothing to report then.
        let ends = ["completed", "done"].map(|kind| json!({"type": format!("response.{kind}"), "response": response}));
        let stream = type_first(&[vec![created.clone()], events, ends.to_vec()].concat());
        let whole = read(&stream, "no limit");
        let longest = ends[0].to_string().len();
        for limit in (400..700).step_by(37).chain([longest - 9]) {
            let reduced = read_limited(&stream, limit, &output.to_string());
            assert_eq!((reduced.end.verdict, reduced.end.too_long), (Verdict::Done, lost), "{limit}: {output}");
            assert_eq!(reduced.message["native_usage"], usage, "{limit}: {output}");
            let finish = |message: &Value| message["choices"][0]["finish_reason"].clone();
            assert_eq!(finish(&reduced.message), finish(&whole.message), "{limit}: {output}");
            if lost == 0 && output[0].get("input").is_none() {
                assert_eq!(reduced.message["choices"], whole.message["choices"], "{limit}: {output}");
            }
        }
    }
}

/// The response ends and what is lost is reported, whichever member or name says so, and wherever the limit is reached: in the
/// event, or in blanks or a line behind its JSON.
#[test]
fn an_event_over_the_limit_ends_the_response_as_a_small_one_does() {
    let usage = json!({"input_tokens": 1, "output_tokens": 2, "total_tokens": 3});
    let message = |text: &str| json!({"type": "message", "content": [{"type": "output_text", "text": text}]});
    let delta = json!({"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "delta": "a"});
    for (kind, output, lost) in [
        ("completed", 1, 0),
        ("completed", 2, 1),
        ("done", 1, 0),
        ("done", 2, 1),
        ("incomplete", 0, 0),
        ("failed", 2, 1),
    ] {
        for status in [None, Some("completed")] {
            for name in ["", "event: message\n", "event: response.done\n", "event: response.in_progress\n"] {
                for behind in ["", "SPACES", "\ndata:SPACES"] {
                    let response = |instructions: &str| {
                        let mut response = json!({"id": "r", "instructions": instructions,
                            "output": vec![message("a"); output], "usage": usage});
                        if let Some(status) = status {
                            response["status"] = json!(status);
                        }
                        let kind = format!("response.{kind}");
                        let event = json!({"type": kind, "response": response}).to_string();
                        (event, behind)
                    };
                    let stream = |instructions: &str, spaces: usize| {
                        let (event, behind) = response(instructions);
                        let behind = behind.replace("SPACES", &" ".repeat(spaces));
                        format!("data: {delta}\n\n{name}data: {event}{behind}\n\n")
                    };
                    let what = format!("{kind} {output} {status:?} {name:?} {behind:?}");
                    let small = read(stream("", 0).as_bytes(), &what);
                    let (text, spaces) = if behind.is_empty() { (900, 0) } else { (100, 900) };
                    let large = read_limited(stream(&"x".repeat(text), spaces).as_bytes(), 800, &what);
                    assert_eq!((large.end.verdict, large.end.too_long), (small.end.verdict, lost), "{what}");
                    assert_eq!(large.message["native_usage"], small.message["native_usage"], "{what}");
                    assert_eq!(
                        large.message["choices"][0]["finish_reason"], small.message["choices"][0]["finish_reason"],
                        "{what}"
                    );
                }
            }
        }
    }
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
