//! Recorded streams, and their contents by a plain reading of their JSON.
//!
//! Only those streams are taken on which all contenders can do the same work: chat chunks that have the members that
//! typed structs, the strictest contender, require, and that have the ID and the name of a tool call once.

use crate::input::padded;
use crate::{Input, Sink};
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// Returns the chat streams of a corpus, and how many were left out.
///
/// # Errors
///
/// If the folder cannot be read.
pub fn real(corpus: &Path) -> std::io::Result<(Input, usize)> {
    let streams = corpus.join("streams");
    let manifest = std::fs::read_to_string(streams.join("MANIFEST.tsv"))?;
    let mut input = Input { name: "real".into(), responses: Vec::new(), expected: Default::default() };
    let mut left_out = 0;
    let mut sink = Sink::checking();
    for line in manifest.lines().skip(1) {
        let mut fields = line.split('\t');
        let (Some(file), Some(tags)) = (fields.next(), fields.nth(1)) else { continue };
        if !tags.split(',').any(|tag| tag == "proto=chat") {
            continue;
        }
        let bytes = std::fs::read(streams.join(file))?;
        let mut alone = Sink::checking();
        if read(&bytes, &mut alone).is_some() {
            read(&bytes, &mut sink);
            sink.end();
            input.responses.push(padded(bytes));
        } else {
            left_out += 1;
        }
    }
    input.expected = sink.sums;
    Ok((input, left_out))
}

/// Returns `None` if a contender cannot read the stream, or reads it differently.
fn read(bytes: &[u8], sink: &mut Sink) -> Option<()> {
    let text = std::str::from_utf8(bytes).ok()?;
    let mut named = HashSet::new();
    let mut finished = HashSet::new();
    let mut counts = HashMap::new();
    let mut blank = true;
    for line in text.split('\n') {
        let line = line.strip_suffix('\r').unwrap_or(line);
        let Some(payload) = line.strip_prefix("data:") else {
            blank |= line.is_empty();
            // Other fields do not matter, unless they name an event.
            if line.starts_with("event") {
                return None;
            }
            continue;
        };
        if !std::mem::take(&mut blank) {
            return None;
        }
        let payload = payload.strip_prefix(' ').unwrap_or(payload);
        if payload == "[DONE]" {
            return Some(());
        }
        let chunk: Value = serde_json::from_str(payload).ok()?;
        if chunk.get("error").is_some_and(|error| !error.is_null()) {
            return None;
        }
        // Groq's usage has its own place, which only this library knows.
        if chunk.get("x_groq").is_some_and(|groq| groq.get("usage").is_some()) {
            return None;
        }
        for name in ["id", "object", "model"] {
            chunk.get(name)?.as_str()?;
        }
        let tiers = ["auto", "default", "flex", "scale", "priority"];
        if chunk
            .get("service_tier")
            .is_some_and(|tier| !tier.is_null() && !tier.as_str().is_some_and(|tier| tiers.contains(&tier)))
        {
            return None;
        }
        u32::try_from(chunk.get("created")?.as_u64()?).ok()?;
        sink.sums.events += 1;
        for choice in chunk.get("choices")?.as_array()? {
            let index = u32::try_from(choice.get("index")?.as_u64()?).ok()?;
            let delta = choice.get("delta")?.as_object()?;
            if choice.get("message").is_some() {
                return None;
            }
            let text = |names: [&str; 2]| -> Option<Option<&str>> {
                let mut found = None;
                for name in names {
                    match delta.get(name) {
                        None | Some(Value::Null) => {}
                        Some(Value::String(text)) if found.is_none() => found = Some(text.as_str()),
                        Some(_) => return None,
                    }
                }
                Some(found.filter(|text| !text.is_empty()))
            };
            if delta.contains_key("reasoning_details") || delta.contains_key("function_call") {
                return None;
            }
            if let Some(text) = text(["reasoning_content", "reasoning"])? {
                sink.choice(index);
                sink.reasoning.push_str(text);
            }
            if let Some(text) = text(["content", ""])? {
                sink.choice(index);
                sink.content.push_str(text);
            }
            if let Some(calls) = delta.get("tool_calls").filter(|calls| !calls.is_null()) {
                for call in calls.as_array()? {
                    let number = u32::try_from(call.get("index")?.as_u64()?).ok()?;
                    // Calls are numbered in the order in which they come.
                    let count = counts.entry(index).or_insert(0);
                    if number > *count {
                        return None;
                    }
                    *count = (*count).max(number + 1);
                    let function = call.get("function")?;
                    for (name, value) in [("id", call.get("id")), ("name", function.get("name"))] {
                        let Some(value) = value.filter(|value| !value.is_null()) else { continue };
                        // If a server repeats the ID or name, contenders that track calls report it once, the others
                        // twice.
                        if value.as_str()?.is_empty() || !named.insert((index, number, name)) {
                            return None;
                        }
                        sink.call(index, number);
                        sink.names.push_str(value.as_str()?);
                    }
                    if let Some(text) = function.get("arguments").filter(|text| !text.is_null()) {
                        if !text.as_str()?.is_empty() {
                            sink.call(index, number);
                            sink.arguments.push_str(text.as_str()?);
                        }
                    }
                }
            }
            if let Some(reason) = choice.get("finish_reason").filter(|reason| !reason.is_null()) {
                let known = ["stop", "length", "tool_calls", "content_filter", "function_call"];
                if !known.contains(&reason.as_str()?) || !finished.insert(index) {
                    return None;
                }
                sink.choice(index);
                sink.names.push_str(reason.as_str()?);
            }
        }
        if let Some(usage) = chunk.get("usage").filter(|usage| !usage.is_null()) {
            let count = |name| usage.get(name)?.as_u64();
            sink.usage(count("prompt_tokens")?, count("completion_tokens")?, count("total_tokens")?);
        }
    }
    // Without its end the response is not whole.
    None
}
