//! Anthropic Messages.

use super::expect::{has_unknown_text, is_unknown_text, is_word_of};
use super::finish::Reason;
use super::known::{each_element, members, Fault, Known, Member, Object};
use super::protocol::is_of_others;
use super::state::{DialectState, Plan, ReadEvent, What};
use super::value::{arguments, array, has_elements, has_members, input, is, number, object, text};
use super::walk::{value_at, whole_at, CallParts, Container, Walk};
use crate::delta::{Delta, Kind, Part};
use crate::json::{members_of, Text, Value, LONGEST_WORD};
use crate::Quirk;

const START: [Member; 1] = members!["message" Object];
const MESSAGE: [Member; 6] = members![
    "model" Text, "id" Text, "role" Text, "content" List, "stop_reason" Text, "usage" Object,
];
const BLOCK_START: [Member; 2] = members!["index" Index, "content_block" Object];
const BLOCK: [Member; 8] = members![
    "type" Text, "text" Text, "thinking" Text, "signature" Text, "id" Text, "name" Text, "input" Input,
    "citations" List,
];
static BLOCK_DELTA: [Member; 3] = members!["type" Once, "index" Index, "delta" Inside(&IN_DELTA)];
static DELTA: [Member; 6] = members![
    "type" Text, "text" Text, "thinking" Text, "partial_json" Input, "signature" Text, "citation" Object,
];
/// The usual event, which has a delta, and all in it.
pub(super) static EVENT: Object = Object { members: &BLOCK_DELTA, first: 0, refuses: is_of_others };
static IN_DELTA: Object = Object { members: &DELTA, first: BLOCK_DELTA.len(), refuses: |_| false };
const MESSAGE_DELTA: [Member; 2] = members!["delta" Object, "usage" Object];
const STOP: [Member; 1] = members!["stop_reason" Text];

/// Reads an event: see [`super::read::read`]. The type alone decides what an event is. An event of an unknown type has
/// no deltas.
pub(super) fn read<'a>(
    state: &mut DialectState,
    payload: &'a [u8],
    kind: Text<'_>,
    choice: &mut dyn FnMut(u32, bool),
    seen: &mut ReadEvent<'a>,
) -> Result<(), Fault<'a>> {
    let event = Value::of_payload(payload);
    let start = |value: Value<'_>| Part::raw(payload, value).start;
    seen.plan.inside = start(event);
    if kind == "message_start" || kind == "message" {
        seen.is_body = kind == "message";
        let message = if seen.is_body {
            event
        } else {
            let [message] = Known::of(event, &START).judged(&mut seen.quirks)?;
            let Some(message) = object(message) else { return Ok(()) };
            message
        };
        let [model, id, _, content, reason, usage] = Known::of(message, &MESSAGE).judged(&mut seen.quirks)?;
        each_element(content, &mut |block| judge_block(block, seen).map(|_| ()))?;
        (seen.id, seen.model, seen.usage) = (id, model, object(usage));
        seen.plan.inside = start(message);
        if seen.is_body && repeats(state, id, content) {
            // The deltas said what it has, but maybe for its finish reason.
            seen.quirks.insert(Quirk::RepeatedText);
            let finishes = text(reason).is_some() && !state.finished;
            seen.plan.what = if finishes { What::Stop } else { What::Nothing };
            seen.is_body = false;
            choice(0, finishes);
            state.finished |= finishes;
            return Ok(());
        }
        if !seen.is_body {
            state.begin_response(id, seen);
        }
        seen.plan.what = if seen.is_body { What::Body } else { What::Start };
        seen.others = seen.is_body;
        if let Some(content) = array(content) {
            let (mut blocks, mut index) = (Container::of(content.raw(), Some(content)), 0u32);
            while let Some(block) = blocks.next(content.raw()) {
                seen.forgets |= begin(state, members_of(block, ["type"])[0], index);
                index = index.saturating_add(1);
            }
        }
        choice(0, text(reason).is_some());
        state.finished |= text(reason).is_some();
        state.ended |= seen.is_body && text(reason).is_some();
    } else if kind == "content_block_start" {
        let [index, block] = Known::of(event, &BLOCK_START).judged(&mut seen.quirks)?;
        let kind = object(block).map_or(Ok(None), |block| judge_block(block, seen))?;
        if let Some(block) = object(block) {
            seen.forgets = begin(state, kind, number(index));
            (seen.plan.what, seen.plan.number, seen.plan.inside) = (What::Block, number(index), start(block));
        }
        choice(0, false);
        // A block of any other type is reported whole.
        let own = block.filter(|_| is_of_text(kind));
        let is_unknown = is_unknown_text(own, "text thinking signature citations");
        seen.note_unknown(is_unknown || block.is_none() && has_unknown_text(event, ""));
    } else if kind == "content_block_delta" {
        let [_, index, delta] = Known::of(event, &BLOCK_DELTA).judged(&mut seen.quirks)?;
        let own = Known::inside(delta, &DELTA);
        let [kind, _, _, partial, ..] = own.values;
        // A delta of any other type is reported whole.
        if is_word_of(kind, "text_delta thinking_delta input_json_delta signature_delta citations_delta") {
            own.judged(&mut seen.quirks)?;
        }
        seen.plan.number = number(index);
        let is_client = state.is_of_client(seen.plan.number);
        seen.flag(is_client && partial.is_some_and(has_members), Quirk::ArgumentsNotText);
        if let Some(delta) = object(delta) {
            seen.plan.what = if is_client { What::MoreOfCall } else { What::MoreOfBlock };
            seen.plan.inside = start(delta);
        }
        choice(0, false);
        let known = DELTAS.iter().find(|(word, _)| is(kind, word)).map_or("", |(_, member)| member);
        seen.note_unknown(is_unknown_text(delta, known) || delta.is_none() && has_unknown_text(event, ""));
        // No tool has such an input: its block is text, or never began.
        let is_lost = is(kind, "input_json_delta")
            && !is_client
            && !state.may_have_input(number(index))
            && arguments(partial).is_some();
        seen.flag(is_lost, Quirk::UnknownText);
        // The call that it belongs to has no arguments, or others.
        seen.flag(is_lost, Quirk::BrokenArguments);
    } else if kind == "content_block_stop" {
        seen.plan.number = number(members_of(event, ["index"])[0]);
        let is_client = state.is_of_client(seen.plan.number);
        seen.plan.what = if is_client { What::EndOfCall } else { What::EndOfText };
        choice(0, false);
    } else if kind == "message_delta" {
        let [delta, usage] = Known::of(event, &MESSAGE_DELTA).judged(&mut seen.quirks)?;
        let [reason] = Known::inside(delta, &STOP).judged(&mut seen.quirks)?;
        seen.usage = object(usage);
        (seen.plan.what, seen.others) = (What::Stop, true);
        seen.plan.inside = delta.map_or(seen.plan.inside, start);
        choice(0, text(reason).is_some());
        state.finished |= text(reason).is_some();
        // Its members are reported on request.
        let known = "stop_reason stop_sequence stop_details container context_management";
        seen.flag(is_unknown_text(delta, known), Quirk::UnknownText);
    } else if kind == "message_stop" {
        state.ended = true;
        seen.others = true;
    } else if is_own(kind) {
        choice(0, false);
        let inside = members_of(event, ["delta", "content_block"]).into_iter().any(|inner| is_unknown_text(inner, ""));
        seen.note_unknown(inside || has_unknown_text(event, ""));
    }
    Ok(())
}

/// Finds the quirks of a block. Returns its type. A block of a type that is not read is reported whole.
fn judge_block<'a>(block: Value<'a>, seen: &mut ReadEvent<'_>) -> Result<Option<Value<'a>>, Fault<'a>> {
    let known = Known::of(block, &BLOCK);
    let [kind, ..] = known.values;
    if is_word_of(kind, "text thinking tool_use") {
        known.judged(&mut seen.quirks)?;
    }
    Ok(kind)
}

/// Whether a whole message says only what the blocks of the message that began said.
fn repeats(state: &DialectState, id: Option<Value<'_>>, content: Option<Value<'_>>) -> bool {
    let Some(content) = array(content) else { return false };
    let (mut blocks, mut count, mut calls) = (Container::of(content.raw(), Some(content)), 0u32, 0u32);
    while let Some(block) = blocks.next(content.raw()) {
        count = count.saturating_add(1);
        calls = calls.saturating_add(is(members_of(block, ["type"])[0], "tool_use").into());
    }
    state.is_repeated(id, count, calls)
}

/// The deltas of blocks: the type of each, and its member with the text.
static DELTAS: [(&str, &str); 6] = [
    ("text_delta", "text"),
    ("thinking_delta", "thinking"),
    ("input_json_delta", "partial_json"),
    ("signature_delta", "signature"),
    ("citations_delta", "citation"),
    ("compaction_delta", "content"),
];

/// Whether an event of this type is one of Anthropic, even if nobody knows the type.
fn is_own(kind: Text<'_>) -> bool {
    let mut buffer = [0; LONGEST_WORD];
    let kind = kind.word(&mut buffer);
    kind.starts_with(b"content_block_") || kind.starts_with(b"message_")
}

/// Notes that a block of this type begins. Returns whether a block that was known as a tool call of the client no longer is.
fn begin(state: &mut DialectState, kind: Option<Value<'_>>, index: u32) -> bool {
    let is_client = is(kind, "tool_use");
    state.called |= u64::from(is_client);
    state.output.blocks().begin(index, is_client, !is_client && !is_of_text(kind))
}

/// Whether a block of this type has a text, which is no input of a tool.
fn is_of_text(kind: Option<Value<'_>>) -> bool {
    is(kind, "text") || is(kind, "thinking")
}

/// Takes one step of [`super::read::next`], which need not have a delta.
pub(super) fn step(walk: &mut Walk, payload: &[u8], plan: &Plan) -> Option<Delta> {
    let inside = value_at(payload, plan.inside);
    match (plan.what, walk.phase) {
        (What::Start | What::Body, 0) => {
            let [role, content] = members_of(inside, ["role", "content"]);
            (walk.phase, walk.outer) = (1, Container::of(payload, array(content)));
            walk.role(payload, role)
        }
        (What::Start | What::Body, 1) => {
            let Some(next) = walk.outer.next(payload) else {
                walk.phase = 3;
                return None;
            };
            (walk.phase, walk.sub, walk.element) = (2, 0, Part::raw(payload, next).start);
            walk.count = walk.count.saturating_add(1);
            None
        }
        (What::Start | What::Body, 2) => block(walk, payload, walk.count.saturating_sub(1), plan),
        (What::Body, 4) => {
            walk.phase = 1;
            Some(walk.call_end(walk.count.saturating_sub(1)))
        }
        (What::EndOfCall, 0) => {
            walk.phase = Walk::OVER;
            Some(walk.call_end(plan.number))
        }
        (What::EndOfText, 0) => {
            walk.phase = Walk::OVER;
            Some(walk.text_end(u64::from(plan.number)))
        }
        (What::Start | What::Body | What::Stop, 0 | 3) => {
            walk.phase = Walk::OVER;
            walk.finish(payload, text(members_of(inside, ["stop_reason"])[0]), Reason::Finish, plan)
        }
        (What::Block, 0) => {
            (walk.phase, walk.element) = (1, plan.inside);
            None
        }
        (What::Block, _) => block(walk, payload, plan.number, plan),
        (What::Piece, _) => {
            walk.phase = Walk::OVER;
            let [index, block, delta] = members_of(Value::of_payload(payload), ["index", "content_block", "delta"]);
            let inner = [delta, block].into_iter().flatten().find(|inner| is_unknown_text(Some(*inner), ""));
            let whole = inner.or_else(|| whole_at(payload, leading(payload)));
            walk.raw(payload, Kind::Native, whole, u64::from(number(index)))
        }
        (What::MoreOfCall | What::MoreOfBlock, _) => {
            walk.phase = Walk::OVER;
            block_delta(walk, payload, inside, plan)
        }
        _ => walk.end(),
    }
}

/// Returns the length of the whitespace that the payload begins with.
fn leading(payload: &[u8]) -> u32 {
    payload.len().saturating_sub(payload.trim_ascii_start().len()) as u32
}

/// Takes one step in the current block, and leaves a block that has no more deltas.
fn block(walk: &mut Walk, payload: &[u8], slot: u32, plan: &Plan) -> Option<Delta> {
    let sub = walk.sub;
    walk.sub = sub.saturating_add(1);
    let block = value_at(payload, walk.element);
    let [kind] = members_of(block, ["type"]);
    let is = |word| is(kind, word);
    let member = |name| members_of(block, [name])[0];
    let (choice_slot, is_text, is_thinking) = (u64::from(slot), is("text"), is("thinking"));
    match sub {
        0 if is_text => walk.text(payload, Kind::Content, member("text"), choice_slot),
        1 if is_text => {
            let citations = member("citations").filter(|list| has_elements(Some(*list)));
            walk.raw(payload, Kind::Annotation, citations, choice_slot)
        }
        0 if is_thinking => walk.text(payload, Kind::Reasoning, member("thinking"), choice_slot),
        1 if is_thinking => walk.text(payload, Kind::Signature, member("signature"), choice_slot),
        0 if is("tool_use") => {
            let [id, name, args] = members_of(block, ["id", "name", "input"]);
            let call = CallParts { id, name, arguments: input(args), ..CallParts::default() };
            walk.inner = Container::at(walk.element);
            Some(walk.call(payload, slot, call, plan))
        }
        1 if is("tool_use") && walk.other_member(payload, "type id name input") => {
            walk.sub = 1;
            None
        }
        0 => walk.raw(payload, Kind::Native, whole_at(payload, walk.element), choice_slot),
        _ => {
            walk.phase = match plan.what {
                What::Block => Walk::OVER,
                What::Body if is("tool_use") => 4,
                _ => 1,
            };
            None
        }
    }
}

/// Returns the delta of a `content_block_delta`.
fn block_delta(walk: &mut Walk, payload: &[u8], delta: Value<'_>, plan: &Plan) -> Option<Delta> {
    let [kind, words, thinking, partial, signature, citation] =
        members_of(delta, ["type", "text", "thinking", "partial_json", "signature", "citation"]);
    let slot = u64::from(plan.number);
    let is = |word| is(kind, word);
    if is("text_delta") {
        walk.text(payload, Kind::Content, words, slot)
    } else if is("thinking_delta") {
        walk.text(payload, Kind::Reasoning, thinking, slot)
    } else if is("input_json_delta") && plan.what == What::MoreOfCall {
        let arguments = arguments(partial)?;
        Some(walk.call(payload, plan.number, CallParts { arguments: Some(arguments), ..CallParts::default() }, plan))
    } else if is("signature_delta") {
        walk.text(payload, Kind::Signature, signature, slot)
    } else if is("citations_delta") {
        walk.raw(payload, Kind::Annotation, citation, slot)
    } else if is("input_json_delta") && arguments(partial).is_none() {
        None
    } else {
        walk.raw(payload, Kind::Native, whole_at(payload, plan.inside), slot)
    }
}
