//! Builds a message from serde_json's values by appending to strings.
//!
//! It implements only the meaning of valid chunks. For an odd value that the library accepts, [`Naive::chunk`] returns
//! `None`; the log, which was written separately from the assembler, covers those.

use crate::halves::{self, is_half};
use deltawire::chat::Chunk;
use deltawire::message::Completion;
use deltawire::Quirk;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

/// How many choices were compared with the assembler's.
pub static COMPARED: AtomicU64 = AtomicU64::new(0);

/// Quirks that do not change the meaning, or of framing, which this reader does not do.
pub fn harmless(quirk: Quirk) -> bool {
    matches!(
        quirk,
        Quirk::UnterminatedEvent
            | Quirk::ContinuedPayload
            | Quirk::KeepAliveData
            | Quirk::LongId
            | Quirk::IllFormedUtf8
            | Quirk::JsonBody
            | Quirk::Ndjson
            | Quirk::JsonBetweenEvents
            | Quirk::EventAfterDone
            | Quirk::BareDone
            | Quirk::NullChunk
            | Quirk::MissingChoiceIndex
            | Quirk::UnknownContentPart
            | Quirk::ArgumentsAfterEnd
            | Quirk::DeltaAfterFinish
            | Quirk::SecondFinish
            | Quirk::OddType
            | Quirk::LoneSurrogate
    )
}

#[derive(Clone, Debug, Default, PartialEq)]
struct Call {
    index: u64,
    id: String,
    kind: String,
    name: String,
    arguments: String,
}

#[derive(Clone, Debug, Default, PartialEq)]
struct Choice {
    role: String,
    content: String,
    reasoning: String,
    refusal: String,
    function: Call,
    calls: Vec<Call>,
    tokens: usize,
    finish: String,
}

/// The message so far.
#[derive(Debug, Default)]
pub struct Naive {
    top: BTreeMap<&'static str, String>,
    usage: Option<Value>,
    created: Option<u64>,
    choices: BTreeMap<u32, Choice>,
    /// Choices for which a delta had contents.
    begun: BTreeMap<u32, bool>,
}

/// Returns a text that is missing, null, or a string without surrogates; `None` for anything else.
fn plain(value: &Value) -> Option<&str> {
    match value {
        Value::Null => Some(""),
        Value::String(text) if !text.contains(is_half) => Some(text),
        _ => None,
    }
}

/// Returns a text; any other value counts as absent.
fn lax(value: &Value) -> &str {
    value.as_str().unwrap_or("")
}

impl Naive {
    /// Adds a chunk. Returns `None` if something is odd.
    pub fn chunk(mut self, chunk: &Chunk<'_>) -> Option<Self> {
        if chunk.is_plain_text() || !chunk.event_name().is_empty() {
            return None;
        }
        let value: Value = serde_json::from_str(&halves::hide(&String::from_utf8_lossy(chunk.payload()))?).ok()?;
        if value.is_null() {
            return Some(self);
        }
        for key in ["id", "object", "model", "system_fingerprint", "service_tier", "provider"] {
            let text = plain(&value[key])?;
            let kept = self.top.entry(key).or_default();
            if kept.is_empty() {
                *kept = text.to_string();
            }
        }
        let created = match &value["created"] {
            Value::Null => None,
            created => Some(created.as_u64()?),
        };
        self.created = self.created.or(created.filter(|created| *created > 0));
        let usage = [&value["usage"], &value["x_groq"]["usage"]];
        let usage = usage.into_iter().find(|usage| usage.as_object().is_some_and(|usage| !usage.is_empty()));
        self.usage = usage.cloned().or(self.usage);
        for choice in value["choices"].as_array().into_iter().flatten() {
            self.choice(choice)?;
        }
        Some(self)
    }

    fn choice(&mut self, value: &Value) -> Option<()> {
        let index = match &value["index"] {
            Value::Null => 0,
            index => u32::try_from(index.as_u64()?).ok().filter(|index| *index < u32::MAX)?,
        };
        let choice = self.choices.entry(index).or_default();
        let begun = self.begun.entry(index).or_default();
        if value["delta"].is_object() {
            *begun |= choice.delta(&value["delta"])?;
        }
        let text = lax(&value["text"]);
        if !value["delta"]["content"].is_string() && !value["delta"]["content"].is_array() {
            choice.content += text;
            *begun |= !text.is_empty();
        } else if !text.is_empty() {
            // Both: other tests cover which one counts.
            return None;
        }
        // A message beside deltas, or two of them: the assembler's own tests cover those.
        if value["message"].is_object() {
            return None;
        }
        if let Value::Array(tokens) = &value["logprobs"]["content"] {
            choice.tokens += tokens.len();
        }
        if value["finishReason"] != Value::Null {
            return None;
        }
        let reason = plain(&value["finish_reason"])?;
        if !reason.is_empty() {
            choice.finish = reason.to_string();
            // No surrogate is pending any more.
            choice.close();
        }
        Some(())
    }

    /// Compares it with the assembler's message.
    pub fn compare(mut self, message: &Completion, context: &impl Fn() -> String) {
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        let top = [
            ("id", &message.id),
            ("object", &message.object),
            ("model", &message.model),
            ("system_fingerprint", &message.system_fingerprint),
            ("service_tier", &message.service_tier),
            ("provider", &message.provider),
        ];
        for (key, got) in top {
            assert_eq!(text(got), self.top.remove(key).unwrap_or_default(), "{key}: {}", context());
        }
        assert_eq!(message.created, self.created, "{}", context());
        let usage = message.usage.as_ref().map(|raw| String::from_utf8_lossy(raw.as_bytes()).into_owned());
        let usage =
            usage.map(|raw| serde_json::from_str::<Value>(&halves::hide(&raw).expect("as above")).expect("JSON"));
        assert_eq!(usage, self.usage, "usage: {}", context());
        let mut got: BTreeMap<u32, Choice> = BTreeMap::new();
        for choice in &message.choices {
            let call = |call: &deltawire::message::ToolCall| Call {
                index: u64::from(call.index),
                id: text(&call.id),
                kind: text(&call.kind),
                name: text(&call.name),
                arguments: text(&call.arguments),
            };
            let function = choice.function_call.as_ref();
            let tokens = choice.logprobs.as_ref().and_then(|logprobs| logprobs.content.as_ref());
            let kept = Choice {
                role: text(&choice.role),
                content: text(&choice.content),
                reasoning: text(&choice.reasoning),
                refusal: text(&choice.refusal),
                function: Call {
                    name: function.map(|call| text(&call.name)).unwrap_or_default(),
                    arguments: function.map(|call| text(&call.arguments)).unwrap_or_default(),
                    ..Call::default()
                },
                calls: choice.tool_calls.iter().map(call).collect(),
                tokens: tokens.map_or(0, |tokens| tokens.len()),
                finish: text(&choice.finish_reason),
            };
            got.insert(choice.index, kept);
        }
        got.retain(|_, choice| *choice != Choice::default());
        self.choices.values_mut().for_each(Choice::close);
        self.choices.retain(|_, choice| *choice != Choice::default());
        COMPARED.fetch_add(got.len() as u64, Ordering::Relaxed);
        assert!(got == self.choices, "got {got:?}\n wanted {:?}\n {}", self.choices, context());
    }
}

impl Choice {
    /// Returns whether it had contents.
    fn delta(&mut self, delta: &Value) -> Option<bool> {
        let mut brings = false;
        let role = plain(&delta["role"])?;
        if self.role.is_empty() {
            self.role += role;
        }
        let mut add = |to: &mut String, text: &str| {
            *to += text;
            brings |= !text.is_empty();
        };
        add(&mut self.content, lax(&delta["content"]));
        let details = &delta["reasoning_details"];
        let one = Some(details).filter(|details| details.is_object());
        let details: String = details
            .as_array()
            .into_iter()
            .flatten()
            .chain(one)
            .map(|item| [lax(&item["text"]), lax(&item["summary"])].into_iter().find(|text| !text.is_empty()))
            .map(Option::unwrap_or_default)
            .collect();
        let names = ["reasoning_content", "reasoning"].map(|name| lax(&delta[name]));
        let rest = ["thinking", "thought"].map(|name| lax(&delta[name]));
        let reasoning = names.into_iter().chain([&details[..]]).chain(rest).find(|text| !text.is_empty());
        add(&mut self.reasoning, reasoning.unwrap_or(""));
        for part in delta["content"].as_array().into_iter().flatten() {
            match part["type"].as_str() {
                Some("text" | "output_text") => add(&mut self.content, lax(&part["text"])),
                None if part.is_string() => add(&mut self.content, lax(part)),
                // Thoughts in parts: other tests cover their order beside other reasoning.
                Some("thinking" | "reasoning") if reasoning.is_none() && part["thinking"].is_string() => {
                    add(&mut self.reasoning, lax(&part["thinking"]));
                }
                Some("thinking" | "reasoning") if reasoning.is_none() && part["thinking"].is_array() => {
                    for part in part["thinking"].as_array().into_iter().flatten() {
                        add(&mut self.reasoning, if part.is_string() { lax(part) } else { lax(&part["text"]) });
                    }
                }
                Some("thinking" | "reasoning") => return None,
                _ => {}
            }
        }
        add(&mut self.refusal, lax(&delta["refusal"]));
        if delta["function_call"].is_object() {
            self.function.fragment(&delta["function_call"], "arguments")?;
        }
        for value in delta["tool_calls"].as_array().into_iter().flatten() {
            brings |= self.call(value)?;
        }
        Some(brings)
    }

    /// Identifies calls by their index. A call without one, with another ID, or with a name after a complete object is
    /// odd.
    fn call(&mut self, value: &Value) -> Option<bool> {
        let index = value["index"].as_u64().filter(|index| *index < u64::from(u32::MAX))?;
        let (id, kind) = (plain(&value["id"])?, plain(&value["type"])?);
        let input = if value["custom"].is_null() { &value["function"]["arguments"] } else { &value["custom"]["input"] };
        let called = if value["custom"].is_null() { &value["function"] } else { &value["custom"] };
        let name = plain(&called["name"])?;
        if id.is_empty() && name.is_empty() && plain(input).is_some_and(str::is_empty) {
            return Some(false);
        }
        let place = self.calls.partition_point(|call| call.index < index);
        if self.calls.get(place).is_none_or(|call| call.index != index) {
            self.calls.insert(place, Call { index, ..Call::default() });
        }
        let call = self.calls.get_mut(place)?;
        match (&call.id[..], id) {
            (_, "") => {}
            ("", id) if call.name.is_empty() && call.arguments.is_empty() => call.id = id.to_string(),
            (known, id) if known == id => {}
            _ => return None,
        }
        if !name.is_empty() && call.arguments.contains('}') {
            return None;
        }
        if call.kind.is_empty() {
            call.kind = kind.to_string();
        }
        match (&value["function"], &value["custom"]) {
            (Value::Null, Value::Null) => {}
            (function @ Value::Object(_), Value::Null) => call.fragment(function, "arguments")?,
            (Value::Null, custom @ Value::Object(_)) => call.fragment(custom, "input")?,
            _ => return None,
        }
        Some(true)
    }

    fn close(&mut self) {
        let calls = self.calls.iter_mut().map(|call| &mut call.arguments);
        let texts = [&mut self.content, &mut self.reasoning, &mut self.refusal, &mut self.function.arguments];
        for text in calls.chain(texts) {
            *text = halves::join(text);
        }
    }
}

impl Call {
    fn fragment(&mut self, value: &Value, input: &str) -> Option<()> {
        let name = plain(&value["name"])?;
        if name.starts_with(&self.name[..]) {
            self.name = name.to_string();
        } else {
            self.name += name;
        }
        match &value[input] {
            Value::Null => {}
            Value::String(text) => self.arguments += text,
            _ => return None,
        }
        Some(())
    }
}
