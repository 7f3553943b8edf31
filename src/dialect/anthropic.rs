//! Anthropic Messages.

use super::expect::{has_unknown_text, is_unknown_text};
use super::finish::Reason;
use super::state::{DialectState, Plan, ReadEvent, What};
use super::value::{arguments, array, has_elements, has_members, input, is, number, object, text};
use super::walk::{value_at, whole_at, CallParts, Container, Walk};
use crate::delta::{Delta, Kind, Part};
use crate::json::{members_of, Text, Value, LONGEST_WORD};
use crate::Quirk;

/// Reads an event: see [`super::read::read`]. The type alone decides what an event is. An event of an unknown type has
/// no deltas.
pub(super) fn read<'a>(
    state: &mut DialectState,
    event: Value<'a>,
    kind: Text<'_>,
    choice: &mut dyn FnMut(u32, bool),
    seen: &mut ReadEvent<'a>,
) {
    if kind == "message_start" || kind == "message" {
        seen.is_body = kind == "message";
        let [message] = members_of(event, ["message"]);
        let message = if seen.is_body { Some(event) } else { object(message) };
        let Some(message) = message else { return };
        let [id, model, usage, content, reason] =
            members_of(message, ["id", "model", "usage", "content", "stop_reason"]);
        (seen.id, seen.model, seen.usage) = (id, model, object(usage));
        if seen.is_body && repeats(state, id, content) {
            // The deltas said what it has, but maybe for its finish reason.
            seen.quirks.insert(Quirk::RepeatedText);
            let finishes = text(reason).is_some() && !state.finished;
            seen.plan.what = if finishes { What::Stop } else { What::Nothing };
            seen.is_body = false;
            choice(0, finishes);
            state.finished |= finishes;
            return;
        }
        if !seen.is_body {
            state.begin_response(id, seen);
        }
        seen.plan.what = if seen.is_body { What::Body } else { What::Start };
        seen.others = seen.is_body;
        if let Some(content) = array(content) {
            let (mut blocks, mut index) = (Container::of(content.raw(), Some(content)), 0u32);
            while let Some(block) = blocks.next(content.raw()) {
                seen.forgets |= begin(state, block, index);
                index = index.saturating_add(1);
            }
        }
        choice(0, text(reason).is_some());
        state.finished |= text(reason).is_some();
        state.ended |= seen.is_body && text(reason).is_some();
    } else if kind == "content_block_start" {
        let [index, block] = members_of(event, ["index", "content_block"]);
        if let Some(block) = object(block) {
            seen.forgets = begin(state, block, number(index));
        }
        seen.plan.what = What::Block;
        choice(0, false);
        let [kind] = block.map_or([None], |block| members_of(block, ["type"]));
        // A block of any other type is reported whole.
        let own = block.filter(|_| is_of_text(kind));
        let is_unknown = is_unknown_text(own, "text thinking signature citations");
        seen.note_unknown(is_unknown || block.is_none() && has_unknown_text(event, ""));
    } else if kind == "content_block_delta" {
        let [index, delta] = members_of(event, ["index", "delta"]);
        let is_client = state.is_of_client(number(index));
        let [kind, partial] = delta.map_or([None; 2], |delta| members_of(delta, ["type", "partial_json"]));
        seen.flag(is_client && partial.is_some_and(has_members), Quirk::ArgumentsNotText);
        seen.plan.what = if is_client { What::MoreOfCall } else { What::MoreOfBlock };
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
        let is_client = state.is_of_client(number(members_of(event, ["index"])[0]));
        seen.plan.what = if is_client { What::EndOfCall } else { What::EndOfText };
        choice(0, false);
    } else if kind == "message_delta" {
        let [delta, usage] = members_of(event, ["delta", "usage"]);
        let reason = delta.and_then(|delta| members_of(delta, ["stop_reason"])[0]);
        seen.usage = object(usage);
        (seen.plan.what, seen.others) = (What::Stop, true);
        choice(0, text(reason).is_some());
        state.finished |= text(reason).is_some();
        // Its members are reported on request.
        let known = "stop_reason stop_sequence stop_details container context_management";
        seen.flag(is_unknown_text(delta, known), Quirk::UnknownText);
    } else if kind == "message_stop" {
        state.ended = true;
        seen.others = true;
    } else if kind != "content_block_stop" && is_own(kind) {
        choice(0, false);
        let inside = members_of(event, ["delta", "content_block"]).into_iter().any(|inner| is_unknown_text(inner, ""));
        seen.note_unknown(inside || has_unknown_text(event, ""));
    }
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

/// Notes that a block begins. Returns whether a block that was known as a tool call of the client no longer is.
fn begin(state: &mut DialectState, block: Value<'_>, index: u32) -> bool {
    let [kind] = members_of(block, ["type"]);
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
    let event = || value_at(payload, leading(payload));
    match (plan.what, walk.phase) {
        (What::Start | What::Body, 0) => {
            let Some(message) = message(event(), plan) else { return walk.end() };
            let [role, content] = members_of(message, ["role", "content"]);
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
            Some(walk.call_end(number(members_of(event(), ["index"])[0])))
        }
        (What::EndOfText, 0) => {
            walk.phase = Walk::OVER;
            Some(walk.text_end(u64::from(number(members_of(event(), ["index"])[0]))))
        }
        (What::Start | What::Body | What::Stop, 0 | 3) => {
            walk.phase = Walk::OVER;
            finish(walk, payload, plan)
        }
        (What::Block, 0) => {
            let [index, content] = members_of(event(), ["index", "content_block"]);
            let Some(content) = object(content) else { return walk.end() };
            (walk.phase, walk.element, walk.count) = (1, Part::raw(payload, content).start, number(index));
            None
        }
        (What::Block, _) => block(walk, payload, walk.count, plan),
        (What::Piece, _) => {
            walk.phase = Walk::OVER;
            let [index, block, delta] = members_of(event(), ["index", "content_block", "delta"]);
            let inside = [delta, block].into_iter().flatten().find(|inner| is_unknown_text(Some(*inner), ""));
            let whole = inside.or_else(|| whole_at(payload, leading(payload)));
            walk.raw(payload, Kind::Native, whole, u64::from(number(index)))
        }
        (What::MoreOfCall | What::MoreOfBlock, _) => {
            walk.phase = Walk::OVER;
            block_delta(walk, payload, event(), plan)
        }
        _ => walk.end(),
    }
}

/// Returns the finish reason of the message.
fn finish(walk: &Walk, payload: &[u8], plan: &Plan) -> Option<Delta> {
    let event = value_at(payload, leading(payload));
    let of = match plan.what {
        What::Stop => members_of(event, ["delta"])[0].unwrap_or(event),
        _ => message(event, plan)?,
    };
    walk.finish(payload, text(members_of(of, ["stop_reason"])[0]), Reason::Finish, plan)
}

/// Returns the length of the whitespace that the payload begins with.
fn leading(payload: &[u8]) -> u32 {
    payload.len().saturating_sub(payload.trim_ascii_start().len()) as u32
}

fn message<'a>(event: Value<'a>, plan: &Plan) -> Option<Value<'a>> {
    if plan.what == What::Body {
        return Some(event);
    }
    object(members_of(event, ["message"])[0])
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
fn block_delta(walk: &mut Walk, payload: &[u8], event: Value<'_>, plan: &Plan) -> Option<Delta> {
    let [index, delta] = members_of(event, ["index", "delta"]);
    let delta = object(delta)?;
    let [kind, words, thinking, partial, signature, citation] =
        members_of(delta, ["type", "text", "thinking", "partial_json", "signature", "citation"]);
    let slot = u64::from(number(index));
    let is = |word| is(kind, word);
    if is("text_delta") {
        walk.text(payload, Kind::Content, words, slot)
    } else if is("thinking_delta") {
        walk.text(payload, Kind::Reasoning, thinking, slot)
    } else if is("input_json_delta") && plan.what == What::MoreOfCall {
        let arguments = arguments(partial)?;
        Some(walk.call(payload, number(index), CallParts { arguments: Some(arguments), ..CallParts::default() }, plan))
    } else if is("signature_delta") {
        walk.text(payload, Kind::Signature, signature, slot)
    } else if is("citations_delta") {
        walk.raw(payload, Kind::Annotation, citation, slot)
    } else if is("input_json_delta") && arguments(partial).is_none() {
        None
    } else {
        walk.raw(payload, Kind::Native, Some(delta), slot)
    }
}
