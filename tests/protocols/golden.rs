//! What a golden result has, and the naive reader makes.

use super::*;

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

/// Arguments as the JSON that they are, if they are; none are `{}`.
pub(super) fn arguments_of(text: &str) -> Value {
    match text {
        "" => json!({}),
        text => serde_json::from_str(text).unwrap_or_else(|_| json!(text)),
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

/// The naive reader: events as serde_json reads them, of responses in choice 0.
#[derive(Default)]
pub(super) struct Naive {
    pub(super) content: String,
    pub(super) reasoning: String,
    pub(super) refusal: String,
    pub(super) calls: Vec<(u64, Value, Value, String)>,
    pub(super) finish: Value,
    pub(super) usage: Map<String, Value>,
    pub(super) error: bool,
    pub(super) reported: std::collections::BTreeSet<(u64, u64, bool)>,
    pub(super) servers: std::collections::BTreeSet<u64>,
}

impl Naive {
    pub(super) fn read(bytes: &[u8]) -> Value {
        let text = String::from_utf8_lossy(bytes).replace("\r\n", "\n");
        let mut naive = Naive::default();
        for block in text.split("\n\n") {
            let data = block.lines().filter_map(|line| line.strip_prefix("data:")).collect::<Vec<_>>().join("\n");
            let Ok(event) = serde_json::from_str::<Value>(&data) else { continue };
            if event["type"].as_str().is_some_and(|kind| kind.starts_with("response.")) {
                naive.responses(&event);
            } else if event.get("type").is_some() {
                naive.anthropic(&event);
            } else {
                naive.gemini(&event);
            }
        }
        let calls = naive.calls.iter().map(|(_, id, name, arguments)| {
            json!([Some(id).filter(|id| !id.is_null()), name, arguments_of(arguments)])
        });
        json!({
            "content": naive.content, "reasoning": naive.reasoning, "refusal": naive.refusal,
            "calls": calls.collect::<Vec<_>>(), "finish": naive.finish,
            "usage": if naive.usage.is_empty() { Value::Null } else { without_nulls(&json!(naive.usage)) },
            "error": naive.error,
        })
    }

    pub(super) fn call(&mut self, index: u64) -> Option<&mut String> {
        self.calls.iter_mut().find(|call| call.0 == index).map(|call| &mut call.3)
    }

    pub(super) fn anthropic(&mut self, event: &Value) {
        let index = event["index"].as_u64().unwrap_or(0);
        let mut merge = |usage: &Value| {
            for (name, value) in usage.as_object().into_iter().flatten().filter(|(_, value)| !value.is_null()) {
                self.usage.insert(name.clone(), value.clone());
            }
        };
        match event["type"].as_str().unwrap() {
            "message_start" => merge(&event["message"]["usage"]),
            "content_block_start" => {
                let block = &event["content_block"];
                self.content += block["text"].as_str().unwrap_or_default();
                self.reasoning += block["thinking"].as_str().unwrap_or_default();
                if block["type"] == "tool_use" {
                    self.calls.push((index, block["id"].clone(), block["name"].clone(), String::new()));
                    self.servers.remove(&index);
                } else {
                    self.servers.insert(index);
                }
            }
            "content_block_delta" => {
                let delta = &event["delta"];
                self.content += delta["text"].as_str().unwrap_or_default();
                self.reasoning += delta["thinking"].as_str().unwrap_or_default();
                if !self.servers.contains(&index) {
                    if let Some(arguments) = self.call(index) {
                        *arguments += delta["partial_json"].as_str().unwrap_or_default();
                    }
                }
            }
            "message_delta" => {
                merge(&event["usage"]);
                self.finish = event["delta"]["stop_reason"].clone();
            }
            "error" => self.error = true,
            _ => {}
        }
    }

    pub(super) fn gemini(&mut self, event: &Value) {
        if let Some(usage) = event["usageMetadata"].as_object() {
            self.usage = usage.clone();
        }
        self.error |= event.get("error").is_some();
        for candidate in event["candidates"].as_array().into_iter().flatten() {
            for part in candidate["content"]["parts"].as_array().into_iter().flatten() {
                let text = part["text"].as_str().unwrap_or_default();
                *(if part["thought"] == true { &mut self.reasoning } else { &mut self.content }) += text;
                if let Some(call) = part.get("functionCall") {
                    let arguments = call.get("args").map_or(String::new(), Value::to_string);
                    self.calls.push((0, call["id"].clone(), call["name"].clone(), arguments));
                }
            }
            if !candidate["finishReason"].is_null() {
                self.finish = candidate["finishReason"].clone();
            }
        }
    }

    pub(super) fn responses(&mut self, event: &Value) {
        let item = event["output_index"].as_u64().unwrap_or(0);
        let kind = event["type"].as_str().unwrap();
        let is_summary = kind.contains("summary");
        let part = event[if is_summary { "summary_index" } else { "content_index" }].as_u64().unwrap_or(0);
        let whole = ["text", "refusal", "arguments", "input"].iter().find_map(|name| event[*name].as_str());
        let text = event["delta"].as_str().or(whole).unwrap_or_default();
        let is_delta = event["delta"].is_string();
        let to = match kind.rsplit_once('.').unwrap().0 {
            "response.output_text" => 0,
            "response.reasoning_text" | "response.reasoning_summary_text" => 1,
            "response.refusal" => 2,
            "response.function_call_arguments" | "response.custom_tool_call_input" => 3,
            _ => 4,
        };
        // Arguments of a call that is not known wait for the whole of it.
        let is_known = to != 3 || self.call(item).is_some();
        if to < 4 && !text.is_empty() && is_known {
            let is_new = self.reported.insert((item, part, is_summary));
            if is_delta || is_new {
                self.put(to, item, text);
            }
        }
        match kind {
            "response.created" => {
                // Another response, whose items are numbered anew.
                self.reported.clear();
                self.calls.iter_mut().for_each(|call| call.0 = u64::MAX);
            }
            "response.output_item.added" => self.item(item, &event["item"], false),
            "response.output_item.done" => self.item(item, &event["item"], true),
            "response.completed" | "response.incomplete" | "response.failed" => {
                let response = &event["response"];
                for (place, item) in (0..).zip(response["output"].as_array().into_iter().flatten()) {
                    self.item(place, item, true);
                }
                self.finish = response["status"].clone();
                self.usage = response["usage"].as_object().cloned().unwrap_or_default();
                self.error |= !response["error"].is_null();
            }
            _ => {}
        }
    }

    pub(super) fn put(&mut self, to: u32, item: u64, text: &str) {
        match to {
            0 => self.content += text,
            1 => self.reasoning += text,
            2 => self.refusal += text,
            _ => {
                if let Some(arguments) = self.call(item) {
                    *arguments += text;
                }
            }
        }
    }

    pub(super) fn item(&mut self, place: u64, item: &Value, is_whole: bool) {
        match item["type"].as_str().unwrap() {
            kind @ ("function_call" | "custom_tool_call") => {
                if self.call(place).is_none() {
                    self.calls.push((place, item["call_id"].clone(), item["name"].clone(), String::new()));
                }
                let input = item[if kind == "function_call" { "arguments" } else { "input" }].as_str();
                let input = input.unwrap_or_default().to_string();
                if !input.is_empty() && self.reported.insert((place, 0, false)) {
                    self.put(3, place, &input);
                }
            }
            _ if is_whole => {
                for (name, is_summary) in [("summary", true), ("content", false)] {
                    for (at, part) in (0..).zip(item[name].as_array().into_iter().flatten()) {
                        let to = match part["type"].as_str().unwrap() {
                            "output_text" => 0,
                            "refusal" => 2,
                            _ => 1,
                        };
                        let text = part["text"].as_str().or(part["refusal"].as_str()).unwrap_or_default();
                        if !text.is_empty() && self.reported.insert((place, at, is_summary)) {
                            self.put(to, place, text);
                        }
                    }
                }
            }
            _ => {}
        }
    }
}
