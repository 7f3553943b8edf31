//! The facts that tests compare: those of a golden result, of a message, and of the lines of the naive reader.

use super::*;
use crate::common::halves;
use std::collections::BTreeMap;

/// `{texts, reasoning, refusals, tool_calls, finish, usage, error}`, texts joined.
pub(super) fn facts_of_golden(golden: &Value) -> Value {
    let joined =
        |name: &str| golden[name].as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect::<String>();
    let calls = golden["tool_calls"].as_array().unwrap().iter().map(|call| {
        let arguments = call["arguments"].as_str().unwrap_or_default();
        json!([call.get("id").filter(|id| !id.is_null()), call["name"], arguments_of(arguments)])
    });
    json!({
        "content": joined("texts"),
        "reasoning": joined("reasoning"),
        "refusal": joined("refusals"),
        "calls": calls.collect::<Vec<_>>(),
        "finish": golden["finish"],
        "usage": without_nulls(&golden["usage"]),
        "error": !golden["error"].is_null(),
    })
}

pub(super) fn facts_of_message(message: &Value) -> Value {
    let none = json!({});
    let choice = message["choices"].get(0).unwrap_or(&none);
    let own = &choice["message"];
    let text = |name: &str| own[name].as_str().unwrap_or_default().to_string();
    let calls = own["tool_calls"].as_array().cloned().unwrap_or_default();
    let calls = calls.iter().map(|call| {
        let (called, input) = match call.get("custom") {
            Some(custom) => (custom, "input"),
            None => (&call["function"], "arguments"),
        };
        json!([call.get("id"), called["name"], arguments_of(called[input].as_str().unwrap())])
    });
    json!({
        "content": text("content"),
        "reasoning": text("reasoning_content"),
        "refusal": text("refusal"),
        "calls": calls.collect::<Vec<_>>(),
        "finish": choice["native_finish_reason"],
        "usage": without_nulls(&message["native_usage"]),
        "error": message.get("error").is_some(),
    })
}

/// Returns arguments as JSON. If they are no JSON, returns a string without whitespace, because the naive reader writes a
/// fragment that is an object in one spelling. Empty arguments are `{}`. Halves of surrogate pairs are hidden.
pub(super) fn arguments_of(text: &str) -> Value {
    let text = halves::hide(text).unwrap_or_else(|| text.to_string());
    match &text[..] {
        "" => json!({}),
        text => serde_json::from_str(text).unwrap_or_else(|_| json!(text.replace([' ', '\n', '\r', '\t'], ""))),
    }
}

pub(super) fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let there = members.iter().filter(|(_, value)| !value.is_null());
            Value::Object(there.map(|(name, value)| (name.clone(), without_nulls(value))).collect())
        }
        Value::Array(items) => items.iter().map(without_nulls).collect(),
        other => other.clone(),
    }
}

/// Returns the facts in the lines of the naive reader of deltas. If `merges`, the last value of each member of a usage counts, otherwise
/// the last usage that has more than details.
pub(super) fn facts_of_lines(lines: &[String], merges: bool) -> Value {
    let mut texts: BTreeMap<&str, String> = BTreeMap::new();
    let (mut calls, mut finish, mut usage, mut error) = (Vec::<[String; 3]>::new(), Value::Null, Map::new(), false);
    for line in lines {
        let (kind, rest) = line.split_once(' ').unwrap_or((line, ""));
        let text = || serde_json::from_str::<String>(&rest[rest.find('"').unwrap()..]).unwrap();
        let call = || rest.split_once('#').unwrap().1.split_once(' ').unwrap().0.parse::<usize>().unwrap();
        match kind {
            "Content" | "Reasoning" | "Refusal" => *texts.entry(kind).or_default() += &text(),
            "call" => calls.push([text(), String::new(), String::new()]),
            "name" => calls[call()][1] += &text(),
            "arguments" if rest != "by path" => calls[call()][2] += &text(),
            // Why a prompt was refused is no finish reason of its answer.
            "finish" if rest.split(' ').nth(2) == Some("false") => finish = text().into(),
            "usage" => {
                let new: Map<String, Value> = serde_json::from_str(rest).unwrap();
                // A usage without these counts adds to the last one.
                let counts = [
                    "input_tokens",
                    "output_tokens",
                    "total_tokens",
                    "promptTokenCount",
                    "candidatesTokenCount",
                    "totalTokenCount",
                ];
                if !merges && counts.iter().any(|name| new.get(*name).is_some_and(Value::is_u64)) {
                    usage.clear();
                }
                // Of Anthropic, prompt counts that add up to 0 replace none.
                let prompt = ["input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"];
                let sum = |usage: &Map<String, Value>| -> u64 {
                    prompt.iter().filter_map(|name| usage.get(*name)?.as_u64()).sum()
                };
                let is_sent = new.iter().any(|(name, value)| value.is_u64() && prompt.contains(&name.as_str()));
                let is_void = merges && is_sent && sum(&new) == 0 && sum(&usage) > 0;
                let is_kept = |(name, value): &(String, Value)| {
                    !(value.is_null() || is_void && value.is_u64() && prompt.contains(&name.as_str()))
                };
                usage.extend(new.into_iter().filter(is_kept));
            }
            "error" => error = true,
            _ => {}
        }
    }
    let mut text = |kind| texts.remove(kind).unwrap_or_default();
    let calls = calls
        .iter()
        .map(|[id, name, arguments]| json!([Some(id).filter(|id| !id.is_empty()), name, arguments_of(arguments)]));
    json!({
        "content": text("Content"), "reasoning": text("Reasoning"), "refusal": text("Refusal"),
        "calls": calls.collect::<Vec<_>>(), "finish": finish,
        "usage": if usage.is_empty() { Value::Null } else { without_nulls(&json!(usage)) },
        "error": error,
    })
}
