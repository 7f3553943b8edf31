//! The order of events that each protocol wants, checked naively over the whole stream.

use deltawire::stream::Protocol;
use serde_json::Value;

/// An event: its name, and its data if that is JSON.
struct Event {
    name: Option<String>,
    data: String,
}

/// Takes a stream apart, and fails if a line is not one that a writer writes.
fn events(stream: &str) -> Vec<Event> {
    assert!(stream.is_empty() || stream.ends_with("\n\n"), "{stream}");
    assert!(!stream.contains('\r'), "{stream}");
    let mut events = Vec::new();
    for block in stream.split_terminator("\n\n") {
        let (mut event, mut lines) = (Event { name: None, data: String::new() }, 0);
        for line in block.split('\n') {
            match line.split_once(": ").unwrap_or_else(|| panic!("{line:?}")) {
                ("event", name) => event.name = Some(name.into()),
                ("data", data) => (event.data, lines) = (data.into(), lines + 1),
                ("id", id) => assert!(id.parse::<u64>().is_ok()),
                ("retry", time) => assert!(time.parse::<u64>().is_ok()),
                ("", "keep-alive") => {}
                _ => panic!("{line:?}"),
            }
        }
        assert!(lines <= 1, "{block}");
        if lines == 1 {
            events.push(event);
        }
    }
    events
}

fn json(event: &Event) -> Value {
    serde_json::from_str(&event.data).unwrap_or_else(|error| panic!("{error}: {}", event.data))
}

/// Fails if the stream is not a valid one so far. Returns whether it ended, properly or with an error.
pub fn check(protocol: Protocol, stream: &str) -> Option<bool> {
    let events = events(stream);
    match protocol {
        Protocol::Chat => chat(&events),
        Protocol::Anthropic => anthropic(&events),
        _ => responses(&events),
    }
}

fn chat(events: &[Event]) -> Option<bool> {
    #[derive(Default)]
    struct Choice {
        calls: u64,
        finished: bool,
    }
    let mut choices = std::collections::BTreeMap::<u64, Choice>::new();
    let (mut head, mut ended, mut has_usage) = (None, None, None);
    for event in events {
        assert_eq!((ended, &event.name), (None, &None));
        if event.data == "[DONE]" {
            assert!(!choices.is_empty() && choices.values().all(|choice| choice.finished));
            ended = Some(true);
            continue;
        }
        let chunk = json(event);
        if let Some(error) = chunk.get("error") {
            assert!(error["message"].is_string());
            ended = Some(false);
            continue;
        }
        let own = ["id", "object", "created", "model"].map(|name| chunk[name].clone());
        assert!(own.iter().all(|value| !value.is_null()));
        assert_eq!(*head.get_or_insert(own.clone()), own);
        let list = chunk["choices"].as_array().unwrap();
        assert_eq!(*has_usage.get_or_insert(chunk.get("usage").is_some()), chunk.get("usage").is_some());
        if list.is_empty() {
            assert!(chunk["usage"]["prompt_tokens"].is_u64() && chunk["usage"]["total_tokens"].is_u64());
        }
        for choice in list {
            let (number, delta) = (choice["index"].as_u64().unwrap(), choice["delta"].as_object().unwrap());
            assert_eq!(choices.contains_key(&number), !delta.contains_key("role"), "{choice}");
            let state = choices.entry(number).or_default();
            assert!(!state.finished);
            for call in delta.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
                let index = call["index"].as_u64().unwrap();
                assert!(index <= state.calls, "{call}");
                if index == state.calls {
                    let own = if call["type"] == "custom" { &call["custom"] } else { &call["function"] };
                    assert!(call["id"].is_string() && own["name"].is_string(), "{call}");
                    state.calls += 1;
                } else {
                    assert!(call.get("id").is_none() && call.get("type").is_none(), "{call}");
                }
            }
            state.finished = !choice["finish_reason"].is_null();
        }
    }
    ended
}

fn anthropic(events: &[Event]) -> Option<bool> {
    let (mut open, mut next, mut ended) = (None::<String>, 0, None);
    let (mut has_begun, mut has_stopped) = (false, false);
    for event in events {
        assert_eq!(ended, None);
        let data = json(event);
        let kind = data["type"].as_str().unwrap();
        assert_eq!(event.name.as_deref(), Some(kind));
        match kind {
            "ping" => continue,
            "error" => {
                assert!(data["error"]["type"].as_str().unwrap().ends_with("_error"));
                assert!(data["error"]["message"].is_string());
                ended = Some(false);
                continue;
            }
            "message_start" => {
                let message = &data["message"];
                assert!(!has_begun && message["id"].is_string() && message["content"] == Value::Array(vec![]));
                assert!(message["usage"]["input_tokens"].is_u64() && message["usage"]["output_tokens"].is_u64());
                has_begun = true;
                continue;
            }
            _ => assert!(has_begun, "{kind}"),
        }
        match kind {
            "content_block_start" => {
                assert!(open.is_none() && !has_stopped);
                assert_eq!(data["index"], next);
                let block = &data["content_block"];
                let kind = block["type"].as_str().unwrap();
                assert!(kind != "tool_use" || block["input"].is_object() && block["id"].is_string());
                open = Some(kind.into());
            }
            "content_block_delta" => {
                assert_eq!(data["index"], next);
                let of = match data["delta"]["type"].as_str().unwrap() {
                    "text_delta" | "citations_delta" => "text",
                    "thinking_delta" | "signature_delta" => "thinking",
                    "input_json_delta" => "tool_use",
                    other => panic!("{other}"),
                };
                assert_eq!(open.as_deref(), Some(of));
            }
            "content_block_stop" => {
                assert_eq!(data["index"], next);
                assert!(open.take().is_some());
                next += 1;
            }
            "message_delta" => {
                assert!(open.is_none() && !has_stopped && data["usage"]["output_tokens"].is_u64());
                assert!(data["delta"]["stop_reason"].is_string());
                has_stopped = true;
            }
            "message_stop" => {
                assert!(has_stopped);
                ended = Some(true);
            }
            other => panic!("{other}"),
        }
    }
    ended
}

/// The open item of a response.
struct Item {
    added: Value,
    text: String,
    has_part: bool,
    annotations: Vec<Value>,
    part: Option<Value>,
    is_text_done: bool,
}

fn responses(events: &[Event]) -> Option<bool> {
    let (mut open, mut items, mut ended, mut sequence) = (None::<Item>, Vec::<Value>::new(), None, None::<u64>);
    for (place, event) in events.iter().enumerate() {
        assert_eq!(ended, None);
        let data = json(event);
        let kind = data["type"].as_str().unwrap();
        assert_eq!(event.name.as_deref(), Some(kind));
        let number = data["sequence_number"].as_u64().unwrap();
        assert!(sequence.is_none_or(|before| before + 1 == number));
        sequence = Some(number);
        match place {
            0 => assert_eq!(kind, "response.created"),
            1 => assert_eq!(kind, "response.in_progress"),
            _ => assert!(kind != "response.created" && kind != "response.in_progress"),
        }
        if let Some(response) = data.get("response") {
            let status = kind.strip_prefix("response.").unwrap();
            assert_eq!(response["status"], if status == "created" { "in_progress" } else { status });
            let demanded = ["id", "object", "created_at", "model", "tools", "tool_choice", "parallel_tool_calls"];
            assert!(demanded.iter().all(|name| !response[name].is_null()), "{response}");
            if place > 1 {
                assert_eq!(response["output"], Value::Array(items.clone()));
                assert_eq!(response["error"].is_object(), status == "failed");
                assert_eq!(response["incomplete_details"].is_object(), status == "incomplete");
                assert!(open.is_none() || status == "failed");
                ended = Some(status != "failed");
            }
            continue;
        }
        assert_eq!(data["output_index"], items.len());
        if kind == "response.output_item.added" {
            assert!(open.is_none());
            let (text, annotations, added) = (String::new(), Vec::new(), data["item"].clone());
            open = Some(Item { added, text, has_part: false, annotations, part: None, is_text_done: false });
            continue;
        }
        let item = open.as_mut().unwrap();
        let item_kind = item.added["type"].as_str().unwrap().to_string();
        let is_call = item_kind.ends_with("_call");
        if kind == "response.output_item.done" {
            let done = &data["item"];
            assert!(item.is_text_done && (is_call || item.part.is_some()));
            assert!(["id", "type", "call_id", "name"].iter().all(|name| done[name] == item.added[name]));
            match item_kind.as_str() {
                "message" => assert_eq!(done["content"], Value::Array(vec![item.part.clone().unwrap()])),
                "reasoning" => assert_eq!(done["summary"], Value::Array(vec![item.part.clone().unwrap()])),
                "function_call" => assert_eq!(done["arguments"], item.text),
                _ => assert_eq!(done["input"], item.text),
            }
            items.push(done.clone());
            open = None;
            continue;
        }
        assert_eq!(data["item_id"], item.added["id"]);
        match (kind.strip_prefix("response.").unwrap(), item_kind.as_str()) {
            ("content_part.added", "message") | ("reasoning_summary_part.added", "reasoning") => {
                assert!(!std::mem::replace(&mut item.has_part, true));
            }
            ("content_part.done", "message") | ("reasoning_summary_part.done", "reasoning") => {
                let part = data["part"].clone();
                assert!(item.is_text_done);
                let text = if part["type"] == "refusal" { &part["refusal"] } else { &part["text"] };
                assert_eq!(*text, item.text);
                if part["type"] == "output_text" {
                    assert_eq!(part["annotations"], Value::Array(item.annotations.clone()));
                }
                item.part = Some(part);
            }
            ("output_text.annotation.added", "message") => {
                assert_eq!(data["annotation_index"], item.annotations.len());
                item.annotations.push(data["annotation"].clone());
            }
            (kind, of) => {
                let (name, is_done) = match (kind, of) {
                    ("output_text.delta" | "refusal.delta", "message")
                    | ("reasoning_summary_text.delta", "reasoning")
                    | ("function_call_arguments.delta", "function_call")
                    | ("custom_tool_call_input.delta", "custom_tool_call") => ("delta", false),
                    ("output_text.done", "message") | ("reasoning_summary_text.done", "reasoning") => ("text", true),
                    ("refusal.done", "message") => ("refusal", true),
                    ("function_call_arguments.done", "function_call") => ("arguments", true),
                    ("custom_tool_call_input.done", "custom_tool_call") => ("input", true),
                    other => panic!("{other:?}"),
                };
                assert!(!item.is_text_done && (is_call || item.has_part));
                let text = data[name].as_str().unwrap();
                if !is_done {
                    item.text += text;
                } else if is_call && item.text.is_empty() && of == "function_call" {
                    item.text = text.into();
                } else {
                    assert_eq!(text, item.text);
                }
                item.is_text_done = is_done;
            }
        }
    }
    ended
}
