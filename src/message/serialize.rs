//! `Serialize` for a completion, in the shape of a `chat.completion` that was not streamed, and for raw JSON.

use super::completion::{Audio, Choice, Completion, Failure, FunctionCall, Logprobs, Member, ToolCall};
use super::{RawJson, RawList};
use crate::json::{Text, Value, ValueKind};
use core::fmt;
use serde::ser::{Serialize, SerializeMap, Serializer};

/// The deepest nesting that is written, which is the most that [`Limits::max_depth`](crate::Limits::max_depth) allows
/// in a payload. A deeper container is written as null.
const MAX_DEPTH: u32 = crate::Limits::MAX_DEPTH;

/// Writes the object of the API's reference. Absent members are left out, and `message.content` is null if there is
/// none. `reasoning` is written as `reasoning_content`. `object` is always `chat.completion`, because the output has
/// that shape. A tool call keeps its other members, which must be sent back with the call. Members that only gateways
/// and providers add are left out; [`Completion::extended`] has them.
///
/// Numbers in usage, errors, log probabilities and other raw JSON may change, because serde cannot pass a number to
/// every serializer as text. Numbers that fit neither `u64` nor `i64`, and `-0`, are written as the nearest `f64`.
/// [`Assembler::json`](super::Assembler::json) writes them as sent.
impl Serialize for Completion {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Shaped { of: self, extended: self.is_native }.serialize(serializer)
    }
}

impl Completion {
    /// Returns the completion with the members that only gateways and providers add: `provider`, the
    /// `native_finish_reason` of a choice, `reasoning_details`, and members that have no field in a completion. The
    /// reasoning is under its name in the stream ([`Choice::reasoning_name`]), and `data` of audio is an array of its
    /// pieces. Numbers are written as by [`Serialize`](Self#impl-Serialize-for-Completion).
    pub fn extended(&self) -> impl Serialize + '_ {
        Shaped { of: self, extended: true }
    }
}

/// A value to write, with or without the members that only gateways and providers add.
struct Shaped<'m, T: ?Sized> {
    of: &'m T,
    extended: bool,
}

impl Serialize for Shaped<'_, Completion> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Shaped { of: completion, extended } = *self;
        let mut map = serializer.serialize_map(None)?;
        some(&mut map, "id", &completion.id)?;
        map.serialize_entry("object", "chat.completion")?;
        some(&mut map, "created", &completion.created)?;
        some(&mut map, "model", &completion.model)?;
        if extended {
            some(&mut map, "provider", &completion.provider)?;
        }
        map.serialize_entry("choices", &Shaped { of: &completion.choices[..], extended })?;
        some(&mut map, "usage", &completion.usage)?;
        some(&mut map, "native_usage", &completion.native_usage)?;
        some(&mut map, "service_tier", &completion.service_tier)?;
        some(&mut map, "system_fingerprint", &completion.system_fingerprint)?;
        some(&mut map, "error", &completion.error)?;
        if extended {
            members(&mut map, &completion.members)?;
        }
        map.end()
    }
}

impl Serialize for Shaped<'_, [Choice]> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.of.iter().map(|of| Shaped { of, extended: self.extended }))
    }
}

impl Serialize for Shaped<'_, Choice> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Shaped { of: choice, extended } = *self;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("index", &choice.index)?;
        map.serialize_entry("message", &Shaped { of: &SerializedMessage(choice), extended })?;
        map.serialize_entry("finish_reason", &choice.finish_reason)?;
        if extended {
            some(&mut map, "native_finish_reason", &choice.native_finish_reason)?;
        }
        some(&mut map, "logprobs", &choice.logprobs)?;
        some(&mut map, "error", &choice.error)?;
        if extended {
            members(&mut map, &choice.members)?;
        }
        map.end()
    }
}

/// Writes a member unless it is absent.
fn some<M: SerializeMap, T: Serialize>(map: &mut M, name: &str, value: &Option<T>) -> Result<(), M::Error> {
    match value {
        Some(value) => map.serialize_entry(name, value),
        None => Ok(()),
    }
}

/// Writes the members of providers.
fn members<M: SerializeMap>(map: &mut M, members: &[Member]) -> Result<(), M::Error> {
    members.iter().try_for_each(|member| map.serialize_entry(&member.name, &member.value))
}

/// The `message` of a choice.
struct SerializedMessage<'m>(&'m Choice);

impl Serialize for Shaped<'_, SerializedMessage<'_>> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Shaped { of: SerializedMessage(choice), extended } = *self;
        let reasoning = choice.reasoning_name.as_deref().filter(|_| extended).unwrap_or("reasoning_content");
        let mut map = serializer.serialize_map(None)?;
        some(&mut map, "role", &choice.role)?;
        map.serialize_entry("content", &choice.content)?;
        some(&mut map, "refusal", &choice.refusal)?;
        some(&mut map, reasoning, &choice.reasoning)?;
        if !choice.tool_calls.is_empty() {
            map.serialize_entry("tool_calls", &choice.tool_calls)?;
        }
        some(&mut map, "function_call", &choice.function_call)?;
        some(&mut map, "audio", &choice.audio.as_ref().map(|of| Shaped { of, extended }))?;
        if !choice.annotations.is_empty() {
            map.serialize_entry("annotations", &choice.annotations)?;
        }
        for (name, list) in [("signatures", &choice.signatures), ("native_content", &choice.native_content)] {
            if !list.is_empty() {
                map.serialize_entry(name, list)?;
            }
        }
        if extended {
            if !choice.reasoning_details.is_empty() {
                map.serialize_entry("reasoning_details", &choice.reasoning_details)?;
            }
            members(&mut map, &choice.message_members)?;
        }
        map.end()
    }
}

impl Serialize for ToolCall {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        some(&mut map, "id", &self.id)?;
        let known = if self.custom { "custom" } else { "function" };
        map.serialize_entry("type", self.kind.as_deref().unwrap_or(known))?;
        let input = if self.custom { "input" } else { "arguments" };
        let (text, others) = (&self.arguments, &self.function_members);
        map.serialize_entry(known, &SerializedCall { name: &self.name, input, text, others })?;
        members(&mut map, &self.members)?;
        map.end()
    }
}

impl Serialize for FunctionCall {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        SerializedCall { name: &self.name, input: "arguments", text: &self.arguments, others: &[] }
            .serialize(serializer)
    }
}

/// The name of a called function or tool, and its input. Both are always written, as an empty text if absent.
struct SerializedCall<'m> {
    name: &'m Option<alloc::string::String>,
    input: &'static str,
    text: &'m Option<alloc::string::String>,
    others: &'m [Member],
}

impl Serialize for SerializedCall<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("name", self.name.as_deref().unwrap_or_default())?;
        map.serialize_entry(self.input, self.text.as_deref().unwrap_or_default())?;
        members(&mut map, self.others)?;
        map.end()
    }
}

/// Writes `data` as one string of all pieces. That is valid base64 only if no piece before the last has padding.
impl Serialize for Audio {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Shaped { of: self, extended: false }.serialize(serializer)
    }
}

impl Serialize for Shaped<'_, Audio> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Shaped { of: audio, extended } = *self;
        let mut map = serializer.serialize_map(None)?;
        some(&mut map, "id", &audio.id)?;
        if extended && !audio.data.is_empty() {
            map.serialize_entry("data", &audio.data)?;
        } else if !audio.data.is_empty() {
            map.serialize_entry("data", &Joined(&audio.data))?;
        }
        some(&mut map, "transcript", &audio.transcript)?;
        some(&mut map, "expires_at", &audio.expires_at)?;
        map.end()
    }
}

/// The texts of a list, which are written as one string.
struct Joined<'m>(&'m RawList);

impl Serialize for Joined<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl fmt::Display for Joined<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().filter_map(|piece| piece.as_text()).try_for_each(|piece| fmt::Display::fmt(&piece, f))
    }
}

impl Serialize for Logprobs {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        some(&mut map, "content", &self.content)?;
        some(&mut map, "refusal", &self.refusal)?;
        some(&mut map, "tokens", &self.tokens)?;
        some(&mut map, "token_logprobs", &self.token_logprobs)?;
        some(&mut map, "top_logprobs", &self.top_logprobs)?;
        some(&mut map, "text_offset", &self.text_offset)?;
        map.end()
    }
}

impl Serialize for Failure {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Failure::Json(value) => value.serialize(serializer),
            Failure::Text(text) => serializer.serialize_str(text),
        }
    }
}

impl Serialize for RawJson {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value().serialize(serializer)
    }
}

impl Serialize for RawList {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value().serialize(serializer)
    }
}

/// Writes the value. Integers are written as `u64` or `i64` if they fit; other numbers and `-0` as the nearest `f64`,
/// while [`Assembler::json`](super::Assembler::json) and [`MessageLog::json`](super::MessageLog::json) write them as
/// sent. A container with a fault ends at the fault.
impl Serialize for Value<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Nested { value: *self, levels: MAX_DEPTH }.serialize(serializer)
    }
}

/// Writes the decoded text.
impl Serialize for Text<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.as_str() {
            Some(text) => serializer.serialize_str(text),
            None => serializer.collect_str(self),
        }
    }
}

/// A value, and how many levels may still be entered.
struct Nested<'a> {
    value: Value<'a>,
    levels: u32,
}

impl Serialize for Nested<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let value = self.value;
        match value.kind() {
            ValueKind::Null => serializer.serialize_unit(),
            ValueKind::Bool => serializer.serialize_bool(value.as_bool() == Some(true)),
            ValueKind::String => match value.as_text() {
                Some(text) => text.serialize(serializer),
                None => serializer.serialize_unit(),
            },
            ValueKind::Number => number(value, serializer),
            ValueKind::Array | ValueKind::Object => {
                let Some(levels) = self.levels.checked_sub(1) else { return serializer.serialize_unit() };
                if value.kind() == ValueKind::Array {
                    let elements = value.elements().map_while(Result::ok);
                    serializer.collect_seq(elements.map(|value| Nested { value, levels }))
                } else {
                    let members = value.members().map_while(Result::ok);
                    serializer.collect_map(members.map(|(name, value)| (name, Nested { value, levels })))
                }
            }
        }
    }
}

fn number<S: Serializer>(value: Value<'_>, serializer: S) -> Result<S::Ok, S::Error> {
    let Some(number) = value.as_number() else { return serializer.serialize_unit() };
    if number.is_integer() && value.raw() != b"-0" {
        if let Some(value) = number.to_u64() {
            return serializer.serialize_u64(value);
        }
        if let Some(value) = number.to_i64() {
            return serializer.serialize_i64(value);
        }
    }
    serializer.serialize_f64(number.to_f64())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]
    use crate::message::Assembler;
    use crate::Parser;
    use alloc::vec;
    use serde_json::json;

    fn assembled(stream: &str) -> Assembler {
        let mut parser = Parser::new([0; 4096]);
        let mut assembler = Assembler::new();
        let mut input = stream.as_bytes();
        while let Some(event) = parser.next(&mut input).unwrap() {
            assembler.add(&event).unwrap();
        }
        assembler
    }

    #[test]
    fn has_the_shape_of_a_completion() {
        let assembler = assembled(concat!(
            r#"data: {"id":"c","object":"chat.completion.chunk","created":1,"provider":"P","choices":[{"index":0,"#,
            r#""delta":{"role":"assistant","tool_calls":[{"index":0,"id":"a","function":{"name":"f"}},"#,
            r#"{"index":1,"id":"b","type":"custom","custom":{"name":"g","input":"x"}}]}}],"usage":{"n":-1}}"#,
            "\n\n",
            r#"data: {"choices":[{"index":0,"delta":{"reasoning":"r"},"finish_reason":"stop","#,
            r#""native_finish_reason":"END"}],"service_tier":"t"}"#,
            "\n\n",
        ));
        let mut expected = json!({
            "id": "c",
            "object": "chat.completion",
            "created": 1,
            "choices": [{
                "index": 0,
                "message": {
                    "role": "assistant",
                    "content": null,
                    "reasoning_content": "r",
                    "tool_calls": [
                        {"id": "a", "type": "function", "function": {"name": "f", "arguments": ""}},
                        {"id": "b", "type": "custom", "custom": {"name": "g", "input": "x"}},
                    ],
                },
                "finish_reason": "stop",
            }],
            "usage": {"n": -1},
            "service_tier": "t",
        });
        assert_eq!(serde_json::to_value(assembler.message().unwrap()).unwrap(), expected);
        expected["provider"] = json!("P");
        let message = expected["choices"][0]["message"].as_object_mut().unwrap();
        let reasoning = message.remove("reasoning_content").unwrap();
        message.insert("reasoning".into(), reasoning);
        expected["choices"][0]["native_finish_reason"] = json!("END");
        assert_eq!(serde_json::to_value(assembler.message().unwrap().extended()).unwrap(), expected);
    }

    #[test]
    fn json_serializes_as_its_value() {
        for json in [
            "null",
            "[true,false,null,[],{}]",
            "[0,-1,18446744073709551615,-9223372036854775808,1.5,-7.62939453125e-6,0.0,1e3]",
            r#"{"a\u00e9\ud83d\ude00":"\n\/\u0000x","b":{"c":[{"d":" "}]}}"#,
        ] {
            let value = crate::json::parse_lazy(json.as_bytes()).unwrap();
            let expected: serde_json::Value = serde_json::from_str(json).unwrap();
            assert_eq!(serde_json::to_value(value).unwrap(), expected, "{json}");
        }
    }

    #[test]
    fn odd_json_is_still_written() {
        for (json, written) in [
            ("[1e400]", "[null]"),
            ("[18446744073709551616]", "[1.8446744073709552e+19]"),
            ("[-0,-0.0,0]", "[-0.0,-0.0,0]"),
            ("[\"\\ud800\\q\"]", "[\"\u{fffd}\\\\q\"]"),
            ("[1,2,nope]", "[1,2]"),
            (r#"{"a":1,"b":[x]}"#, r#"{"a":1,"b":[]}"#),
        ] {
            let value = crate::json::parse_lazy(json.as_bytes()).unwrap();
            assert_eq!(serde_json::to_string(&value).unwrap(), written, "{json}");
        }
    }

    #[test]
    fn depth_is_bounded() {
        let json = [vec![b'['; 3000], vec![b']'; 3000]].concat();
        let value = crate::json::Cursor::with_max_depth(&json, u32::MAX).value().unwrap();
        let written = serde_json::to_string(&value).unwrap();
        assert_eq!(written, ["[".repeat(1024), "null".into(), "]".repeat(1024)].concat());
    }
}
