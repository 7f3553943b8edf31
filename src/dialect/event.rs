//! Fast path: reads the usual event of a stream whose protocol is known in one walk.
//!
//! Nearly every event of a stream has one delta, a text, which [`read_known`] finds while it looks for the end of the
//! payload. It leaves an event to the general readers if another protocol could claim the event, or if the event has a
//! member in which the pass over chat chunks would find a quirk or an error.

use super::identity::Class;
use super::protocol::Protocol;
use super::read::read;
use super::reported::ItemPart;
use super::state::{DialectState, OnlyText, ReadEvent};
use super::text_event::delta_of;
use super::value::{number, object, text};
use crate::delta::Kind;
use crate::json::{Steps, Text, TextFlags, Value, ValueKind};

/// Reads an event of the protocol of `state` into `seen`, which must be empty. Returns the end of its JSON value. If
/// one walk is not enough to read the event, changes nothing and returns `None`.
#[inline]
pub(crate) fn read_known<'a>(
    state: &mut DialectState,
    payload: &'a [u8],
    name: &[u8],
    max_depth: u32,
    choice: &mut dyn FnMut(u32, bool),
    seen: &mut ReadEvent<'a>,
) -> Option<usize> {
    let mut steps = Steps::new(payload, 0, max_depth);
    let protocol = Protocol::read_here(state.protocol)?;
    if protocol == Protocol::Gemini {
        // The event has no type, so its name may decide what it is.
        if !name.is_empty() {
            return None;
        }
        let chunk = GeminiChunk::walk(&mut steps)?;
        let slot = 0;
        let kind = if chunk.is_thought { Kind::Reasoning } else { Kind::Content };
        let only_text = OnlyText { kind, slot, is_summary: false, text: text(chunk.text)?, role: text(chunk.role) };
        choice(0, false);
        (seen.id, seen.model, seen.usage) = (chunk.id, chunk.model, object(chunk.usage));
        if let Some(usage) = seen.usage {
            state.usage.add_usage(protocol, usage);
        }
        (seen.plan.protocol, seen.only_text) = (Some(protocol), Some(only_text));
        (seen.others, seen.is_body) = (true, true);
        return Some(steps.offset());
    }
    let event = TypedEvent::walk(&mut steps)?;
    let kind = event.kind?.as_text().filter(|kind| !kind.parts().0.any(TextFlags::ESCAPED))?;
    if Protocol::of_type(kind.raw()) != Some(protocol) {
        return None;
    }
    seen.only_text = match protocol {
        Protocol::Anthropic => event.anthropic(state, kind.raw()),
        _ => event.responses(state, kind.raw()),
    };
    if seen.only_text.is_some() {
        choice(0, false);
        seen.plan.protocol = Some(protocol);
    } else {
        // The general way reports an error.
        read(state, payload, kind, choice, seen).ok()?;
    }
    Some(steps.offset())
}

/// Walks the object that comes next, and calls `each` to read the value of each member. Returns `None` if the object is
/// malformed, if a name has an escape, or if `each` returns `None`.
#[inline(never)]
fn members<'a>(steps: &mut Steps<'a>, each: &mut dyn FnMut(&'a [u8], &mut Steps<'a>) -> Option<()>) -> Option<()> {
    steps.enter(b'{').ok()?;
    let mut more = steps.first(b'}');
    while more {
        let (name, flags) = steps.name().ok()?;
        if flags.any(TextFlags::ESCAPED) {
            return None;
        }
        each(name, steps)?;
        more = steps.more(b'}').ok()?;
    }
    Some(())
}

/// Walks the array that comes next, and calls `each` to read its element. Returns `None` if the array is empty or has
/// several elements, or if `each` returns `None`.
fn only_element<'a>(steps: &mut Steps<'a>, each: &mut dyn FnMut(&mut Steps<'a>) -> Option<()>) -> Option<()> {
    steps.enter(b'[').ok()?;
    if !steps.first(b']') {
        return None;
    }
    each(steps)?;
    (!steps.more(b']').ok()?).then_some(())
}

/// Reads the next value into `place`. A null counts as absent, and the last of several members with one name counts.
#[inline(never)]
fn value<'a>(steps: &mut Steps<'a>, place: &mut Option<Value<'a>>) -> Option<()> {
    let read = steps.value().ok()?;
    let value = Value::from_span(steps.bytes().get(read.start..read.end)?, read.flags);
    *place = Some(value).filter(|value| !value.is_null());
    Some(())
}

/// Whether a member with this name may make the event one of another protocol, or is one that the pass over chat chunks
/// reads. `type` is among them because only the general readers know which of several types counts.
fn is_of_chunk(name: &[u8]) -> bool {
    matches!(
        name,
        b"type"
            | b"event_type"
            | b"id"
            | b"object"
            | b"created"
            | b"model"
            | b"service_tier"
            | b"system_fingerprint"
            | b"provider"
            | b"choices"
            | b"usage"
            | b"error"
            | b"detail"
            | b"x_groq"
    )
}

/// Whether an index is absent, or only digits. Any other index has a quirk.
fn is_plain(index: Option<Value<'_>>) -> bool {
    index.is_none_or(|index| index.raw().iter().all(u8::is_ascii_digit))
}

/// Whether a value is absent or of this kind. Any other value has a quirk.
fn is_absent_or(value: Option<Value<'_>>, kind: ValueKind) -> bool {
    value.is_none_or(|value| value.kind() == kind)
}

/// Skips the next value.
fn pass(steps: &mut Steps<'_>) -> Option<()> {
    steps.value().ok().map(|_| ())
}

/// The members of an event that has a type.
#[derive(Default)]
struct TypedEvent<'a> {
    kind: Option<Value<'a>>,
    index: Option<Value<'a>>,
    output: Option<Value<'a>>,
    content: Option<Value<'a>>,
    summary: Option<Value<'a>>,
    logprobs: Option<Value<'a>>,
    /// `delta`, if it is no object. The members of an object are in `inner`.
    delta: Option<Value<'a>>,
    inner: Option<Inner<'a>>,
}

/// The members of an object in `delta`.
#[derive(Default)]
struct Inner<'a> {
    kind: Option<Value<'a>>,
    text: Option<Value<'a>>,
    thinking: Option<Value<'a>>,
    partial: Option<Value<'a>>,
}

impl<'a> TypedEvent<'a> {
    fn walk(steps: &mut Steps<'a>) -> Option<Self> {
        let mut event = TypedEvent::default();
        members(steps, &mut |name, steps| match name {
            b"type" if event.kind.is_none() => value(steps, &mut event.kind),
            b"index" => value(steps, &mut event.index),
            b"output_index" => value(steps, &mut event.output),
            b"content_index" => value(steps, &mut event.content),
            b"summary_index" => value(steps, &mut event.summary),
            b"logprobs" => value(steps, &mut event.logprobs),
            b"delta" if event.delta.is_some() || event.inner.is_some() => None,
            b"delta" if steps.peek() == b'{' => {
                event.inner = Some(Inner::walk(steps)?);
                Some(())
            }
            b"delta" => value(steps, &mut event.delta),
            // It may name another call than the index does, which only the general reader finds.
            b"call_id" => None,
            name if is_of_chunk(name) => None,
            _ => pass(steps),
        })?;
        Some(event)
    }

    /// Returns the text, or the arguments of a tool call of the client.
    fn anthropic(&self, state: &DialectState, kind: &[u8]) -> Option<OnlyText<'a>> {
        let inner = self.inner.as_ref().filter(|_| kind == b"content_block_delta" && is_plain(self.index))?;
        let index = number(self.index);
        let (kind, words) = match inner.kind?.as_text().filter(Text::is_plain)?.raw() {
            b"text_delta" => (Kind::Content, inner.text),
            b"thinking_delta" => (Kind::Reasoning, inner.thinking),
            b"input_json_delta" if state.is_of_client(index) => (Kind::ToolArguments, inner.partial),
            _ => return None,
        };
        let slot = if kind == Kind::ToolArguments { index } else { u16::try_from(index).ok()?.into() };
        Some(OnlyText { kind, slot, is_summary: false, text: text(words)?, role: None })
    }

    /// Returns the text, or the arguments of a function.
    fn responses(&self, state: &mut DialectState, kind: &[u8]) -> Option<OnlyText<'a>> {
        let (kind, own) = delta_of(kind)?;
        if ![self.output, self.content, self.summary].into_iter().all(is_plain)
            || self.logprobs.is_some_and(|list| list.raw() != b"[]")
        {
            return None;
        }
        let of = own.part(self.content, self.summary);
        let index = self.output?.as_u64().and_then(|index| u32::try_from(index).ok())?;
        let class = Class::of_text(kind);
        if !state.is_usual(index, class) {
            return None;
        }
        if kind == Kind::ToolArguments && !state.takes_arguments(index) {
            return None;
        }
        let slot = if kind == Kind::ToolArguments {
            index
        } else {
            u32::from(u16::try_from(index).ok()?) << 16 | u32::from(u16::try_from(of.part()).ok()?)
        };
        let text = text(self.delta)?;
        if !state.texts.follow(index, of, text, state.output.reported()) {
            return None;
        }
        state.add_usual(index, class, of);
        Some(OnlyText { kind, slot, is_summary: matches!(of, ItemPart::Summary(_)), text, role: None })
    }
}

impl<'a> Inner<'a> {
    fn walk(steps: &mut Steps<'a>) -> Option<Self> {
        let mut inner = Inner::default();
        members(steps, &mut |name, steps| match name {
            b"type" => value(steps, &mut inner.kind),
            b"text" => value(steps, &mut inner.text),
            b"thinking" => value(steps, &mut inner.thinking),
            b"partial_json" => value(steps, &mut inner.partial),
            _ => pass(steps),
        })?;
        Some(inner)
    }
}

/// A Gemini chunk with one candidate: of index 0, unfinished, and with one part, which is a text.
#[derive(Default)]
struct GeminiChunk<'a> {
    id: Option<Value<'a>>,
    model: Option<Value<'a>>,
    usage: Option<Value<'a>>,
    role: Option<Value<'a>>,
    text: Option<Value<'a>>,
    is_thought: bool,
}

impl<'a> GeminiChunk<'a> {
    fn walk(steps: &mut Steps<'a>) -> Option<Self> {
        let (mut chunk, mut has_candidates) = (GeminiChunk::default(), false);
        members(steps, &mut |name, steps| match name {
            b"candidates" if !has_candidates => {
                has_candidates = true;
                only_element(steps, &mut |steps| chunk.candidate(steps))
            }
            b"usageMetadata" => value(steps, &mut chunk.usage),
            b"modelVersion" => value(steps, &mut chunk.model),
            b"responseId" => value(steps, &mut chunk.id),
            b"candidates" | b"promptFeedback" => None,
            name if is_of_chunk(name) => None,
            _ => pass(steps),
        })?;
        let are_texts =
            [chunk.id, chunk.model, chunk.role].into_iter().all(|text| is_absent_or(text, ValueKind::String));
        (has_candidates && are_texts && is_absent_or(chunk.usage, ValueKind::Object)).then_some(chunk)
    }

    fn candidate(&mut self, steps: &mut Steps<'a>) -> Option<()> {
        let (mut index, mut reason, mut has_content) = (None, None, false);
        members(steps, &mut |name, steps| match name {
            b"index" => value(steps, &mut index),
            b"finishReason" => value(steps, &mut reason),
            b"content" if has_content => None,
            b"content" => {
                has_content = true;
                self.content(steps)
            }
            _ => pass(steps),
        })?;
        let is_first = is_plain(index) && number(index) == 0;
        (has_content && is_first && is_absent_or(reason, ValueKind::String) && text(reason).is_none()).then_some(())
    }

    fn content(&mut self, steps: &mut Steps<'a>) -> Option<()> {
        let mut has_parts = false;
        members(steps, &mut |name, steps| match name {
            b"role" => value(steps, &mut self.role),
            b"parts" if !has_parts => {
                has_parts = true;
                only_element(steps, &mut |steps| self.part(steps))
            }
            b"parts" => None,
            _ => pass(steps),
        })?;
        has_parts.then_some(())
    }

    fn part(&mut self, steps: &mut Steps<'a>) -> Option<()> {
        let mut thought = None;
        members(steps, &mut |name, steps| match name {
            b"text" => value(steps, &mut self.text),
            b"thought" => value(steps, &mut thought),
            _ => None,
        })?;
        self.is_thought = thought.and_then(|thought| thought.as_bool()) == Some(true);
        is_absent_or(thought, ValueKind::Bool).then_some(())
    }
}

#[cfg(all(test, feature = "dialects"))]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    extern crate std;
    use super::*;
    use crate::chat::{DeltaCursor, Index};
    use std::{format, string::String, vec::Vec};

    /// Returns what an event contains, with the state after it, and whether that is only a text. If `slowly`, the
    /// general reader reads the event. Otherwise one walk does, and the result is `None` if that is not enough.
    fn read_by(state: &mut DialectState, payload: &str, slowly: bool) -> Option<(Vec<String>, bool)> {
        let bytes = payload.as_bytes();
        let mut lines = Vec::new();
        let mut choice = |index, finished| lines.push(format!("choice {index} {finished}"));
        let mut seen = ReadEvent::default();
        let end = if slowly {
            let event = Value::of_payload(bytes);
            let [kind] = crate::json::members_of(event, ["type"]);
            let kind = kind.and_then(|kind| kind.as_text()).unwrap_or(Text::verbatim(b""));
            read(state, bytes, kind, &mut choice, &mut seen).unwrap();
            bytes.trim_ascii_end().len()
        } else {
            read_known(state, bytes, b"", 128, &mut choice, &mut seen)?
        };
        let mut index = Index::new();
        index.take(bytes, &seen);
        let mut cursor = DeltaCursor::new();
        while let Some(delta) = cursor.next_of_any(bytes, &index) {
            lines.push(format!("{delta:?}"));
        }
        let members = [seen.id, seen.model, seen.created, seen.usage, seen.error];
        let protocol = seen.plan.protocol();
        lines.push(format!("{end} {protocol:?} {members:?} {} {} {}", seen.is_body, seen.fails, seen.others));
        lines.push(format!("{:?}", seen.quirks));
        lines.push(format!("{state:?}"));
        Some((lines, seen.only_text.is_some()))
    }

    #[test]
    fn one_walk_reads_what_the_general_reader_reads() {
        let block = |kind: &str| {
            format!(
                r#"{{"type":"content_block_start","index":1,"content_block":{{"type":"{kind}","id":"i","name":"n"}}}}"#
            )
        };
        let events: [(Protocol, &[&str]); 3] = [
            (
                Protocol::Anthropic,
                &[
                    r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}"#,
                    r#" { "index" : 7, "delta" : { "text" : "\n", "type" : "text_delta" , "x":[{}]} , "type" : "content_block_delta"  } "#,
                    r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":""}}"#,
                    r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a","text":null}}"#,
                    r#"{"type":"content_block_delta","index":70000,"delta":{"type":"thinking_delta","thinking":"a"}}"#,
                    r#"{"type":"content_block_delta","index":2,"delta":{"type":"thinking_delta","thinking":"a"}}"#,
                    r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{"}}"#,
                    &block("tool_use"),
                    r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\""}}"#,
                    r#"{"type":"content_block_delta","index":65,"delta":{"type":"input_json_delta","partial_json":"x"}}"#,
                    &block("server_tool_use"),
                    r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{"}}"#,
                    r#"{"type":"content_block_delta","index":1,"delta":{"type":"signature_delta","signature":"s"}}"#,
                    r#"{"type":"content_block_delta","index":1,"delta":"text"}"#,
                    r#"{"type":"content_block_stop","index":1}"#,
                    r#"{"type":"message_stop"}"#,
                ],
            ),
            (
                Protocol::Responses,
                &[
                    r#"{"type":"response.output_text.delta","output_index":0,"content_index":3,"delta":"a"}"#,
                    r#"{"type":"response.output_text.delta","output_index":0,"content_index":70000,"delta":"a"}"#,
                    r#"{"type":"response.output_text.delta","output_index":1,"content_index":0,"delta":""}"#,
                    r#"{"type":"response.output_text.delta","output_index":1,"content_index":0,"part":{"delta":"p"}}"#,
                    r#"{"type":"response.reasoning_summary_text.delta","output_index":2,"summary_index":4,"delta":"a"}"#,
                    r#"{"type":"response.reasoning_text.delta","output_index":2,"content_index":5,"delta":"a"}"#,
                    r#"{"type":"response.refusal.delta","output_index":3,"content_index":6,"delta":"a"}"#,
                    r#"{"type":"response.function_call_arguments.delta","output_index":4,"delta":"{"}"#,
                    r#"{"type":"response.function_call_arguments.delta","output_index":70000,"delta":"{"}"#,
                    r#"{"type":"response.output_item.added","output_index":5,"item":{"type":"function_call","call_id":"c"}}"#,
                    r#"{"type":"response.function_call_arguments.delta","output_index":5,"delta":"{"}"#,
                    r#"{"type":"response.custom_tool_call_input.delta","output_index":4,"delta":"{"}"#,
                    r#"{"type":"response.output_text.done","output_index":0,"content_index":3,"text":"a"}"#,
                    r#"{"type":"response.output_text.done","output_index":0,"content_index":1,"text":"a"}"#,
                    r#"{"type":"response.x","delta":{"type":"text_delta","text":"a"}}"#,
                    // From here on, the indexes are odd.
                    r#"{"type":"response.output_text.delta","output_index":2,"content_index":0,"delta":"a"}"#,
                    r#"{"type":"response.output_text.delta","output_index":"0","content_index":0,"delta":"a"}"#,
                    r#"{"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"a"}"#,
                ],
            ),
            (
                Protocol::Gemini,
                &[
                    r#"{"candidates":[{"content":{"parts":[{"text":"a"}],"role":"model"}}],"usageMetadata":{"promptTokenCount":3}}"#,
                    r#"{"responseId":"r","candidates":[{"index":0,"x":1,"content":{"role":"","parts":[{"thought":true,"text":"a"}]}}],"modelVersion":"m","x":1}"#,
                    r#"{"candidates":[{"content":{"parts":[{"text":"a"}],"role":"model"},"finishReason":null}],"usageMetadata":null}"#,
                    r#"{"candidates":[{"content":{"parts":[{"text":"a"}],"role":"model"},"finishReason":""}],"usageMetadata":{}}"#,
                ],
            ),
        ];
        let (mut by_one_walk, mut only_texts) = (0, 0);
        for (protocol, events) in events {
            let (mut state, mut slow) =
                (DialectState::new(Some(protocol), false), DialectState::new(Some(protocol), false));
            for event in events {
                let (expected, _) = read_by(&mut slow, event, true).unwrap();
                if let Some((found, has_only_text)) = read_by(&mut state, event, false) {
                    by_one_walk += 1;
                    only_texts += i32::from(has_only_text);
                    assert_eq!(found, expected, "{event}");
                } else {
                    state = slow.clone();
                }
            }
        }
        // Templates serve only such events, so both numbers matter.
        assert_eq!((by_one_walk, only_texts), (38, 11));
        // One walk is not enough for these.
        for (protocol, event) in [
            (Protocol::Anthropic, r#"{"type":"content_block_delta","type":"content_block_delta"}"#),
            (Protocol::Anthropic, r#"{"type":"content_block_delta","usage":{}}"#),
            (Protocol::Anthropic, r#"{"type":"content_block_delta","\u0069d":1}"#),
            (Protocol::Anthropic, r#"{"type":"response.created"}"#),
            (Protocol::Anthropic, r#"{"type":"content_block_delta","index":0"#),
            (Protocol::Responses, r#"{"type":"response.\u006futput_text.delta","delta":"a"}"#),
            (Protocol::Responses, r#"{"type":"response.output_text.delta","delta":"a","delta":"b"}"#),
            (Protocol::Gemini, r#"{"candidates":[]}"#),
            (Protocol::Gemini, r#"{"candidates":[{"content":{"parts":[{"text":"a"},{"text":"b"}]}}]}"#),
            (Protocol::Gemini, r#"{"candidates":[{"content":{"parts":[{"text":"a","thoughtSignature":"s"}]}}]}"#),
            (Protocol::Gemini, r#"{"candidates":[{"index":1,"content":{"parts":[{"text":"a"}]}}]}"#),
            (Protocol::Gemini, r#"{"candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":"STOP"}]}"#),
            (Protocol::Gemini, r#"{"candidates":[{"content":{"parts":[{"text":"a"}]}}],"promptFeedback":{}}"#),
            (Protocol::Gemini, r#"{"candidates":[{"content":{"parts":[{"text":"a"}]}}],"error":{}}"#),
            // In these, a member has an odd value.
            (Protocol::Gemini, r#"{"candidates":[{"content":{"parts":[{"text":"a"}]}}],"usageMetadata":[]}"#),
            (Protocol::Gemini, r#"{"candidates":[{"content":{"parts":[{"text":"a"}]}}],"modelVersion":5}"#),
            (Protocol::Gemini, r#"{"candidates":[{"content":{"parts":[{"text":"a"}]},"index":"0"}]}"#),
            (Protocol::Gemini, r#"{"candidates":[{"content":{"parts":[{"text":"a","thought":0}]}}]}"#),
            // In these, a member comes twice.
            (
                Protocol::Gemini,
                r#"{"candidates":[{"content":{"parts":[{"text":"a"}]}}],"candidates":[{"content":{"parts":[{}]}}]}"#,
            ),
            (
                Protocol::Gemini,
                r#"{"candidates":[{"content":{"parts":[{"text":"a"}]},"content":{"parts":[{"text":"b"}]}}]}"#,
            ),
            (Protocol::Gemini, r#"{"candidates":[{"content":{"parts":[{"text":"a"}],"parts":[{"text":"b"}]}}]}"#),
        ] {
            assert!(read_by(&mut DialectState::new(Some(protocol), false), event, false).is_none(), "{event}");
        }
    }
}
