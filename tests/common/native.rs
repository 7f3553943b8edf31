//! Generates streams of other protocols than chat completions: plausible events of one protocol, some of them changed.
//!
//! In the values a character stands for half a surrogate pair ([`halves`](super::halves)).

use super::halves::{is_half, HALVES};
use super::input::Source;
use deltawire::stream::Protocol;
use serde_json::{json, Map, Value};

/// Returns a stream in bytes, and the protocol of its events.
pub fn stream(from: &mut Source<'_>) -> (Protocol, Vec<u8>) {
    let protocol = from.pick(&[Protocol::Anthropic, Protocol::Responses, Protocol::Gemini]);
    let how = from.u8();
    let mut events = match protocol {
        Protocol::Anthropic => anthropic(from),
        Protocol::Responses => responses(from, 0),
        _ => gemini(from),
    };
    if how & 1 != 0 {
        change(&mut events, from);
    }
    // A body is one event: the last of Responses, the first of the others.
    if how & 0xe0 == 0xe0 {
        let at = if protocol == Protocol::Responses { events.len().saturating_sub(1) } else { 0 };
        let event = events.get(at).cloned().unwrap_or_default();
        let body = ["message", "response"].iter().find_map(|name| event.get(name)).unwrap_or(&event);
        return (protocol, json_of(body, how).into_bytes());
    }
    if how & 0xe0 == 0x60 {
        let events: Vec<_> = events.iter().map(|event| json_of(event, how)).collect();
        return (protocol, format!("[{}]", events.join(",\r\n")).into_bytes());
    }
    let end = if how & 2 != 0 { "\r\n" } else { "\n" };
    let mut out = String::new();
    for event in &events {
        match from.below(24) {
            23 => out += &format!(": ping{end}{end}"),
            22 => out += &format!("event: ping{end}data: {{\"type\":\"ping\"}}{end}{end}"),
            _ => {}
        }
        if let (true, Some(name)) = (how & 4 != 0, event["type"].as_str()) {
            out += &format!("event: {}{end}", name.replace(['\n', '\r'], ""));
        }
        let mut event = event.clone();
        // Named events need no type.
        if let (0x0c, Some(members)) = (how & 0x0c, event.as_object_mut()) {
            if from.once_in(8) {
                members.remove("type");
            }
        }
        out += &format!("data: {}{end}{end}", json_of(&event, how));
    }
    if how & 16 != 0 {
        out += &format!("data: [DONE]{end}{end}");
    }
    (protocol, out.into_bytes())
}

/// A value as JSON, its halves as escapes.
fn json_of(value: &Value, how: u8) -> String {
    let mut out = String::new();
    for char in value.to_string().chars() {
        match u32::from(char) {
            code if is_half(char) => out += &format!("\\u{:04x}", code - HALVES + 0xd800),
            code @ 0x80..=0xffff if how & 0x12 == 0x12 => out += &format!("\\u{code:04x}"),
            _ => out.push(char),
        }
    }
    out
}

/// A text of a few characters, or a half in front or behind.
fn text(from: &mut Source<'_>) -> String {
    let pieces = ["a", "é", "\u{1f600}", "\"", "\\", "\n", "{", "}", "b", "\u{f003d}", "\u{f0600}", "x"];
    (0..from.below(4)).map(|_| from.pick(&pieces)).collect()
}

fn object(from: &mut Source<'_>) -> Value {
    match from.below(3) {
        0 => json!({}),
        1 => json!({text(from): text(from)}),
        _ => json!({"a": [1, {"b": null}], text(from): from.below(300)}),
    }
}

fn counts(from: &mut Source<'_>, names: &[&str]) -> Value {
    let mut usage = Map::new();
    for name in names {
        if !from.once_in(3) {
            usage.insert((*name).to_string(), json!(from.below(9)));
        }
    }
    Value::Object(usage)
}

fn is_object(from: &mut Source<'_>, times: usize, value: Value) -> Value {
    if from.once_in(times) {
        value
    } else {
        Value::Null
    }
}

fn anthropic(from: &mut Source<'_>) -> Vec<Value> {
    const USAGE: &[&str] = &["input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"];
    let reasons = ["end_turn", "max_tokens", "tool_use", "refusal", "pause_turn", "stop_sequence", "a new one", ""];
    let block = |from: &mut Source<'_>, at: usize| match from.below(8) {
        0 | 1 => json!({"type": "text", "text": text(from)}),
        2 => json!({"type": "thinking", "thinking": text(from), "signature": text(from)}),
        3 | 4 => json!({"type": "tool_use", "id": format!("t{at}"), "name": "f", "input": object(from)}),
        5 => json!({"type": "server_tool_use", "id": "s", "name": "g", "input": {}}),
        6 => json!({"type": "text", "text": text(from), "citations": [object(from)]}),
        _ => json!({"type": "redacted_thinking", "data": text(from)}),
    };
    let whole: Vec<_> =
        (0..from.below(3)).map(|at| if from.once_in(2) { block(from, at) } else { json!({}) }).collect();
    let body = from.once_in(4);
    let mut events = vec![json!({"type": "message_start", "message": {"type": "message", "id": text(from),
        "role": "assistant", "model": "m", "content": if body { json!(whole) } else { json!([]) },
        "stop_reason": is_object(from, 4, json!("end_turn")), "usage": counts(from, USAGE)}})];
    let first = if body { whole.len() } else { 0 };
    // Blocks come one after the other, or by turns, or far from each other.
    let mut open = Vec::new();
    let step = from.pick(&[1, 1, 1, 32, 64]);
    for at in (first..).step_by(step).take(from.below(6)) {
        events.push(json!({"type": "content_block_start", "index": at, "content_block": block(from, at)}));
        open.push(at);
        for _ in 0..from.below(5) {
            let index = if from.once_in(3) { from.pick(&open) } else { at };
            let delta = match from.below(8) {
                0..=2 => json!({"type": "text_delta", "text": text(from)}),
                3 => json!({"type": "thinking_delta", "thinking": text(from)}),
                4 | 5 => json!({"type": "input_json_delta", "partial_json": text(from)}),
                6 => json!({"type": "signature_delta", "signature": text(from)}),
                _ => json!({"type": "citations_delta", "citation": object(from)}),
            };
            events.push(json!({"type": "content_block_delta", "index": index, "delta": delta}));
        }
        events.push(json!({"type": "content_block_stop", "index": at}));
    }
    let reason = json!({"stop_reason": from.pick(&reasons), "stop_sequence": null});
    events.push(json!({"type": "message_delta", "delta": reason, "usage": counts(from, USAGE)}));
    events.push(json!({"type": "message_stop"}));
    events
}

fn gemini(from: &mut Source<'_>) -> Vec<Value> {
    const USAGE: &[&str] = &["promptTokenCount", "candidatesTokenCount", "totalTokenCount", "thoughtsTokenCount"];
    let reasons = ["STOP", "MAX_TOKENS", "SAFETY", "MALFORMED_FUNCTION_CALL", "OTHER", "IMAGE_SAFETY", ""];
    let part = |from: &mut Source<'_>| match from.below(10) {
        0..=2 => json!({"text": text(from)}),
        3 => json!({"text": text(from), "thought": true, "thoughtSignature": text(from)}),
        4 => json!({"thoughtSignature": "s", "thought": from.once_in(2)}),
        5 => json!({"functionCall": {"id": is_object(from, 2, json!("i")), "name": "f", "args": object(from)}}),
        6 => json!({"inlineData": {"mimeType": "x", "data": text(from)}}),
        7 => json!({"executableCode": object(from)}),
        8 => json!({"functionCall": {"name": "p", "willContinue": true}}),
        _ => json!({"functionCall": {"willContinue": from.once_in(2),
            "partialArgs": [{"jsonPath": "$.a", "stringValue": text(from), "willContinue": true}]}}),
    };
    let mut events = Vec::new();
    for _ in 0..1 + from.below(6) {
        let candidates: Vec<_> = (0..if from.once_in(4) { from.below(3) } else { 1 })
            .map(|_| {
                let parts: Vec<_> = (0..from.below(4)).map(|_| part(from)).collect();
                let mut candidate = json!({"content": {"role": "model", "parts": parts}});
                if from.once_in(3) {
                    candidate["index"] = json!(from.below(3));
                }
                if from.once_in(4) {
                    candidate["finishReason"] = json!(from.pick(&reasons));
                }
                candidate
            })
            .collect();
        let mut event = json!({"candidates": candidates, "modelVersion": "m", "responseId": text(from)});
        if from.once_in(2) {
            event["usageMetadata"] = counts(from, USAGE);
        }
        if from.once_in(12) {
            event["promptFeedback"] = json!({"blockReason": from.pick(&["SAFETY", "OTHER", ""])});
        }
        events.push(event);
    }
    events
}

/// Returns the events of the `nth` response of a stream, sometimes followed by those of another response.
fn responses(from: &mut Source<'_>, nth: u32) -> Vec<Value> {
    const USAGE: &[&str] = &["input_tokens", "output_tokens", "total_tokens"];
    let mut events = vec![json!({"type": "response.created", "response": {"id": text(from), "model": "m"}})];
    // How the server counts items: without an index, all under one, what is done one higher, or as the vendor does; and whether its
    // items have IDs, or each event another.
    let (counts_by, ids_by) = (from.below(12), from.below(4));
    let mut output = Vec::new();
    for item in 0..from.below(5) {
        let kind = from.below(6);
        let is_custom = kind == 4;
        let mut whole = match kind {
            0 | 1 => json!({"type": "message", "role": "assistant", "content": []}),
            2 => json!({"type": "reasoning", "summary": [], "content": [], "encrypted_content": text(from)}),
            3 => json!({"type": "function_call", "call_id": format!("c{nth}.{item}"), "name": "f"}),
            4 => json!({"type": "custom_tool_call", "call_id": format!("c{nth}.{item}"), "name": "g"}),
            _ => json!({"type": "web_search_call", "action": object(from)}),
        };
        if ids_by < 2 {
            whole["id"] = json!(format!("i{item}"));
        }
        let mut nth_event = 0;
        let mut with = |event: &str, names: &[(&str, Value)]| {
            nth_event += 1;
            let index = match counts_by {
                0 => Value::Null,
                1 => json!(0),
                2 if event.ends_with(".done") => json!(item + 1),
                _ => json!(item),
            };
            let mut event = json!({"type": format!("response.{event}"), "output_index": index});
            if ids_by < 2 {
                event["item_id"] = json!(format!("i{item}{}", if ids_by == 1 { "." } else { "" }.repeat(nth_event)));
            }
            names.iter().for_each(|(name, value)| event[*name] = value.clone());
            event
        };
        let (event, name) =
            if is_custom { ("custom_tool_call_input", "input") } else { ("function_call_arguments", "arguments") };
        let is_call = matches!(kind, 3 | 4);
        let pieces: Vec<_> = (0..if is_call { from.below(3) } else { 0 }).map(|_| text(from)).collect();
        let mut begun = whole.clone();
        if is_call && from.once_in(6) {
            begun[name] = json!(if is_custom { pieces.concat() } else { format!("{{\"a\":{}}}", from.below(9)) });
        }
        events.push(with("output_item.added", &[("item", begun)]));
        if is_call {
            for piece in &pieces {
                events.push(with(&format!("{event}.delta"), &[("delta", json!(piece))]));
            }
            whole[name] = json!(pieces.concat());
            if from.once_in(2) {
                events.push(with(&format!("{event}.done"), &[(name, whole[name].clone())]));
            }
        }
        let parts = if kind < 3 { from.below(4) } else { 0 };
        for _ in 0..parts {
            let (event, name, list, place) = match (kind, from.below(3)) {
                (2, 0) => ("reasoning_text", "text", "content", "content_index"),
                (2, _) => ("reasoning_summary_text", "text", "summary", "summary_index"),
                (_, 0) => ("refusal", "refusal", "content", "content_index"),
                _ => ("output_text", "text", "content", "content_index"),
            };
            let at = whole[list].as_array().map_or(0, Vec::len);
            let pieces: Vec<_> = (0..from.below(4)).map(|_| text(from)).collect();
            for piece in &pieces {
                let logprobs = is_object(from, 6, json!([{"token": piece}]));
                let names = [(place, json!(at)), ("delta", json!(piece)), ("logprobs", logprobs)];
                events.push(with(&format!("{event}.delta"), &names));
            }
            let text = pieces.concat();
            if from.once_in(2) {
                let logprobs = is_object(from, 3, json!([{"token": text}]));
                let names = [(place, json!(at)), (name, json!(text)), ("logprobs", logprobs)];
                events.push(with(&format!("{event}.done"), &names));
            }
            let kind = if event == "reasoning_summary_text" { "summary_text" } else { event };
            let part = json!({"type": kind, name: text});
            if from.once_in(3) {
                let event = if list == "summary" { "reasoning_summary_part.done" } else { "content_part.done" };
                events.push(with(event, &[(place, json!(at)), ("part", part.clone())]));
            }
            whole[list].as_array_mut().expect("a list").push(part);
        }
        if from.once_in(8) {
            events.push(with("output_text.annotation.added", &[("annotation", object(from))]));
        }
        if from.once_in(2) {
            events.push(with("output_item.done", &[("item", whole.clone())]));
        }
        output.push(whole);
    }
    let status = from.pick(&["completed", "incomplete", "failed", "cancelled"]);
    let error = if status == "failed" { json!({"code": "c", "message": text(from)}) } else { Value::Null };
    let details = json!({"reason": from.pick(&["max_output_tokens", "content_filter", "x"])});
    events.push(json!({"type": format!("response.{status}"), "response": {"object": "response", "status": status,
        "output": output, "error": error, "incomplete_details": details, "usage": counts(from, USAGE)}}));
    if from.once_in(6) {
        events.extend(responses(from, nth + 1));
    }
    events
}

/// Changes events as other servers than the vendor's, proxies and later versions of a protocol may.
fn change(events: &mut Vec<Value>, from: &mut Source<'_>) {
    for _ in 0..1 + from.below(4) {
        let at = from.below(events.len().max(1));
        match from.below(6) {
            3 => {
                let error = json!({"code": from.below(600), "message": text(from)});
                if let Some(event) = events.get_mut(at) {
                    event["error"] = error;
                }
            }
            0 if at < events.len() => drop(events.remove(at)),
            1 if at < events.len() => events.insert(at, events[at].clone()),
            2 if at + 1 < events.len() => events.swap(at, at + 1),
            _ => {
                if let Some(event) = events.get_mut(at) {
                    member(event, from);
                }
            }
        }
    }
}

/// Changes a member of a value, or of one inside.
fn member(value: &mut Value, from: &mut Source<'_>) {
    let values = [json!(null), json!(true), json!(7), json!(""), json!("x"), json!([]), json!({}), json!([null])];
    let new = values[from.below(values.len())].clone();
    match value {
        Value::Object(members) if !members.is_empty() => {
            let name = members.keys().nth(from.below(members.len())).cloned().unwrap_or_default();
            let inner = &mut members[&name];
            match from.below(6) {
                0 => drop(members.remove(&name)),
                1 if name != "error" => *inner = new,
                2 => {
                    members.insert("added".to_string(), new);
                }
                _ => member(inner, from),
            }
        }
        Value::Array(elements) if !elements.is_empty() => {
            let at = from.below(elements.len());
            match from.below(6) {
                0 => drop(elements.remove(at)),
                1 => elements[at] = new,
                2 => elements.push(new),
                _ => member(&mut elements[at], from),
            }
        }
        _ => {}
    }
}
