//! Fast path: reads the usual event of a stream whose protocol is known in one walk.
//!
//! Nearly every event of a stream has one delta, a text, which [`read_known`] finds while it looks for the end of the
//! payload. It leaves an event to the general readers if another protocol could claim the event, or if the event has a
//! member in which the pass over chat chunks would find a quirk or an error.

use super::identity::Class;
use super::known::{members, Known, Object};
use super::protocol::{is_of_others, Protocol};
use super::read::read;
use super::reported::ItemPart;
use super::state::{DialectState, OnlyText, ReadEvent};
use super::text_event::delta_of;
use super::value::{number, text};
use super::{anthropic, gemini};
use crate::delta::Kind;
use crate::json::{Steps, Text, TextFlags};

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
    let (mut steps, mut event) = (Steps::new(payload, 0, max_depth), Usual::nothing());
    let protocol = Protocol::read_here(state.protocol)?;
    if protocol == Protocol::Gemini {
        // The event has no type, so its name may decide what it is.
        if !name.is_empty() {
            return None;
        }
        event.add_event(&mut steps, &gemini::CHUNK)?;
        if !event.is_usual() {
            return None;
        }
        seen.only_text = Some(gemini_text(&event, seen)?);
        choice(0, false);
        if let Some(usage) = seen.usage {
            state.usage.add_usage(protocol, usage);
        }
        seen.plan.protocol = Some(protocol);
        (seen.others, seen.is_body) = (true, true);
        return Some(steps.offset());
    }
    let own = if protocol == Protocol::Anthropic { &anthropic::EVENT } else { &RESPONSES };
    event.add_event(&mut steps, own)?;
    let [kind, ..] = event.values;
    let kind = kind?.as_text().filter(|kind| !kind.parts().0.any(TextFlags::ESCAPED))?;
    if Protocol::of_type(kind.raw()) != Some(protocol) {
        return None;
    }
    // A value of another type has a quirk, which the general reader finds.
    let usual = Some(&event).filter(|event| event.is_usual());
    seen.only_text = match protocol {
        Protocol::Anthropic => usual.and_then(|event| anthropic_text(event, state, kind.raw())),
        _ => usual.and_then(|event| responses_text(event, state, kind.raw())),
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

/// What one walk finds in an event. Gemini's tables have the most members together.
type Usual<'a> = Known<'a, 17>;

static RESPONSES: Object = Object {
    members: &members![
        "type" Once, "sequence_number" Any, "item_id" Text, "output_index" Index, "content_index" Index, "delta" Once,
        "logprobs" Any, "obfuscation" Any, "summary_index" Index, "part" Any,
    ],
    first: 0,
    refuses: is_of_others,
};

/// Returns the text, or the arguments of a tool call of the client.
fn anthropic_text<'a>(event: &Usual<'a>, state: &DialectState, kind: &[u8]) -> Option<OnlyText<'a>> {
    let [_, index, _, kind_of_delta, words, thinking, partial, ..] = event.values;
    let kind_of_delta = kind_of_delta.filter(|_| kind == b"content_block_delta")?;
    let index = number(index);
    let (kind, words) = match kind_of_delta.as_text().filter(Text::is_plain)?.raw() {
        b"text_delta" => (Kind::Content, words),
        b"thinking_delta" => (Kind::Reasoning, thinking),
        b"input_json_delta" if state.is_of_client(index) => (Kind::ToolArguments, partial),
        _ => return None,
    };
    let slot = if kind == Kind::ToolArguments { index } else { u16::try_from(index).ok()?.into() };
    Some(OnlyText { kind, slot, is_summary: false, text: text(words)?, role: None })
}

/// Returns the text, or the arguments of a function.
fn responses_text<'a>(event: &Usual<'a>, state: &mut DialectState, kind: &[u8]) -> Option<OnlyText<'a>> {
    let [_, _, _, output, content, words, logprobs, _, summary, part, ..] = event.values;
    if part.is_some() || logprobs.is_some_and(|list| list.raw() != b"[]") {
        return None;
    }
    let (kind, own) = delta_of(kind)?;
    let of = own.part(content, summary);
    let index = output?.as_u64().and_then(|index| u32::try_from(index).ok())?;
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
    let text = text(words)?;
    if !state.texts.follow(index, of, text, state.output.reported()) {
        return None;
    }
    state.add_usual(index, class, of);
    Some(OnlyText { kind, slot, is_summary: matches!(of, ItemPart::Summary(_)), text, role: None })
}

/// Returns the text of a candidate of index 0 that is unfinished.
fn gemini_text<'a>(chunk: &Usual<'a>, seen: &mut ReadEvent<'a>) -> Option<OnlyText<'a>> {
    let [_, usage, model, id, feedback, kind, _, reason, index, _, role, words, thought, others @ ..] = chunk.values;
    let is_other = [feedback, kind].into_iter().chain(others).any(|other| other.is_some());
    if is_other || number(index) != 0 || text(reason).is_some() {
        return None;
    }
    let is_thought = thought.and_then(|thought| thought.as_bool()) == Some(true);
    let kind = if is_thought { Kind::Reasoning } else { Kind::Content };
    let only_text = OnlyText { kind, slot: 0, is_summary: false, text: text(words)?, role: text(role) };
    (seen.id, seen.model, seen.usage) = (id, model, usage);
    Some(only_text)
}

#[cfg(all(test, feature = "dialects"))]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    extern crate std;
    use super::*;
    use crate::chat::{DeltaCursor, Index};
    use crate::json::Value;
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
                    // A member of another type beside the text.
                    r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a","thinking":5}}"#,
                    r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a","citation":[]}}"#,
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
                    r#"{"type":"response.output_text.delta","item_id":5,"output_index":0,"content_index":3,"delta":"a"}"#,
                    r#"{"type":"response.output_text.delta","output_index":1,"content_index":3,"delta":"a","part":5}"#,
                    r#"{"type":"response.output_text.delta","output_index":1,"delta":"a","response":{"id":"r"}}"#,
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
        assert_eq!((by_one_walk, only_texts), (43, 12));
        // One walk is not enough for these.
        for (protocol, event) in [
            (Protocol::Anthropic, r#"{"type":"content_block_delta","type":"content_block_delta"}"#),
            (Protocol::Anthropic, r#"{"type":null,"\u0074ype":"content_block_delta"}"#),
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
