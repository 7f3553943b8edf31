//! Gemini `generateContent`: streamed as events, streamed as an array, or as a whole body.

use super::expect::{has_unknown_text, is_unknown_text};
use super::finish::Reason;
use super::known::{each_element, members, Fault, Known, Member, Object};
use super::protocol::is_of_others;
use super::state::{DialectState, Output, Plan, ReadEvent, What};
use super::value::{array, bit, has_elements, has_members, input, number, object, text};
use super::walk::{value_at, whole_at, CallParts, Container, Walk};
use crate::delta::{Delta, FinishKind, Kind, Part};
use crate::json::{members_of, Text, Value, ValueKind};
use crate::Quirk;

static EVENT: [Member; 6] = members![
    "candidates" Lone(&IN_CANDIDATE), "usageMetadata" Object, "modelVersion" Text, "responseId" Text,
    "promptFeedback" Object, "type" Once,
];
const FEEDBACK: [Member; 1] = members!["blockReason" Text];
static CANDIDATE: [Member; 3] = members!["content" Inside(&IN_CONTENT), "finishReason" Text, "index" Index];
static CONTENT: [Member; 2] = members!["parts" Lone(&IN_PART), "role" Text];
static PART: [Member; 6] = members![
    "text" Text, "thought" Bool, "thoughtSignature" Text, "functionCall" Object, "inlineData" Object,
    "fileData" Object,
];
/// The usual chunk, which has one candidate with one part, and all in them.
pub(super) static CHUNK: Object = Object { members: &EVENT, first: 0, refuses: is_of_others };
static IN_CANDIDATE: Object = Object { members: &CANDIDATE, first: EVENT.len(), refuses: |_| false };
static IN_CONTENT: Object =
    Object { members: &CONTENT, first: IN_CANDIDATE.first + CANDIDATE.len(), refuses: |_| false };
static IN_PART: Object = Object { members: &PART, first: IN_CONTENT.first + CONTENT.len(), refuses: |_| true };
const CALL: [Member; 5] = members!["id" Text, "name" Text, "args" Input, "partialArgs" List, "willContinue" Bool];

/// Reads an event: see [`super::read::read`].
pub(super) fn read<'a>(
    state: &mut DialectState,
    payload: &'a [u8],
    choice: &mut dyn FnMut(u32, bool),
    seen: &mut ReadEvent<'a>,
) -> Result<(), Fault<'a>> {
    let event = Value::of_payload(payload);
    let [candidates, usage, model, id, feedback, kind] = Known::of(event, &EVENT).judged(&mut seen.quirks)?;
    let [blocked] = Known::inside(feedback, &FEEDBACK).judged(&mut seen.quirks)?;
    let is_blocked = text(blocked).is_some();
    if text(kind).is_some() && candidates.is_none() && feedback.is_none() {
        // Gemini's events have no type, so this is an event of another protocol, such as a proxy's own.
        return Ok(());
    }
    (seen.id, seen.model, seen.usage, seen.others) = (id, model, object(usage), true);
    let mut calls = state.output.calls();
    (seen.plan.what, seen.plan.number) = (What::Candidates { continues: calls.continues }, calls.opened);
    if is_blocked {
        seen.is_body = true;
        choice(0, true);
    }
    if !has_elements(candidates) && !is_blocked && has_unknown_text(event, "modelVersion responseId createTime") {
        seen.note_unknown(true);
        // All of the event is reported.
        seen.others = false;
    }
    let (mut next, mut called) = (0, None);
    each_element(candidates, &mut |candidate| {
        let [content, reason, index] = Known::of(candidate, &CANDIDATE).judged(&mut seen.quirks)?;
        let [parts, _] = Known::inside(content, &CONTENT).judged(&mut seen.quirks)?;
        let index = choice_of(index, &mut next);
        each_element(parts, &mut |part| {
            let [words, _, _, call, ..] = Known::of(part, &PART).judged(&mut seen.quirks)?;
            let [_, name, args, partial, more] = Known::inside(call, &CALL).judged(&mut seen.quirks)?;
            seen.flag(is_unknown_text(Some(part), PART_NAMES), Quirk::UnknownText);
            if call_beside(words, call).is_some() {
                let is_new = opens(name, calls.continues);
                seen.flag(is_new && text(name).is_none(), Quirk::NamelessCall);
                // More of a call comes by path, so these arguments are lost.
                seen.flag(!is_new && args.is_some_and(has_members), Quirk::BrokenArguments);
                // More of the call before was to come.
                seen.flag(is_new && calls.continues, Quirk::BrokenArguments);
                calls.opened = calls.opened.saturating_add(u32::from(is_new));
                calls.continues = continues(more);
                called = Some(called.unwrap_or(0) | bit(index));
                seen.flag(has_elements(partial), Quirk::PartialArguments);
            }
            Ok(())
        })?;
        seen.is_body = true;
        // Its members are reported on request.
        seen.flag(is_unknown_text(Some(candidate), CANDIDATE_NAMES), Quirk::UnknownText);
        // Such a reason says that the choice failed, as `error` does in chat completions.
        let kind = text(reason).map(|reason| Reason::Finish.kind(reason, false));
        seen.fails |= kind == Some(FinishKind::Error);
        // Nobody sees where arguments by path break off, except that more of them was to come.
        seen.flag(calls.continues && kind.is_some_and(|kind| !kind.may_cut()), Quirk::BrokenArguments);
        choice(index, kind.is_some());
        Ok(())
    })?;
    // The state is not changed before the last error was found.
    if let Some(called) = called {
        state.output = Output::Calls(calls);
        state.called |= called;
    }
    Ok(())
}

/// The members of a part that are documented. A part with any others is reported whole.
const PART_NAMES: &str =
    "text thought thoughtSignature functionCall functionResponse inlineData fileData executableCode \
    codeExecutionResult toolCall toolResponse videoMetadata partMetadata mediaResolution";
/// The members of a candidate that are documented.
const CANDIDATE_NAMES: &str = "content finishReason finishMessage safetyRatings citationMetadata groundingMetadata \
    groundingAttributions urlContextMetadata logprobsResult";

/// Returns the call of a part with these members. If the part has a text, an empty object is no call.
fn call_beside<'a>(words: Option<Value<'a>>, call: Option<Value<'a>>) -> Option<Value<'a>> {
    object(call).filter(|call| words.is_none() || has_members(*call))
}

/// Returns the index of a candidate: its place, if it and all before it have none. `next` counts those.
fn choice_of(index: Option<Value<'_>>, next: &mut u16) -> u32 {
    let index = index.filter(|index| !index.is_null()).map_or(u32::from(*next), |index| number(Some(index)));
    *next = if index == u32::from(*next) { next.saturating_add(1) } else { 0 };
    index
}

/// Whether a call with this name is a new one, not the continuation of the last call.
fn opens(name: Option<Value<'_>>, continued: bool) -> bool {
    !continued || text(name).is_some()
}

/// Whether more of a call with this `willContinue` follows.
fn continues(more: Option<Value<'_>>) -> bool {
    more.and_then(|more| more.as_bool()) == Some(true)
}

/// Returns the reason why the prompt was refused.
fn blocked(feedback: Option<Value<'_>>) -> Option<Text<'_>> {
    text(members_of(object(feedback)?, ["blockReason"])[0])
}

/// Takes one step of [`super::read::next`], which need not have a delta.
pub(super) fn step(walk: &mut Walk, payload: &[u8], plan: &Plan) -> Option<Delta> {
    match walk.phase {
        0 if plan.what == What::Piece => {
            walk.phase = Walk::OVER;
            let start = payload.len().saturating_sub(payload.trim_ascii_start().len()) as u32;
            walk.raw(payload, Kind::Native, whole_at(payload, start), 0)
        }
        0 => {
            let event = Value::of_payload(payload);
            let [candidates, feedback] = members_of(event, ["candidates", "promptFeedback"]);
            // In Gemini's walk, `sub` is whether the last call continues.
            (walk.phase, walk.outer) = (1, Container::of(payload, array(candidates)));
            walk.sub = u8::from(plan.what == What::Candidates { continues: true });
            walk.finish(payload, blocked(feedback), Reason::Block, plan)
        }
        1 => {
            let Some(candidate) = walk.outer.next(payload) else { return walk.end() };
            let [index, content] = members_of(candidate, ["index", "content"]);
            let [role, parts] = content.map_or([None; 2], |content| members_of(content, ["role", "parts"]));
            (walk.phase, walk.choice, walk.count) = (2, choice_of(index, &mut walk.number), 0);
            (walk.element, walk.inner) = (Part::raw(payload, candidate).start, Container::of(payload, array(parts)));
            walk.role(payload, role)
        }
        2 => {
            let Some(part) = walk.inner.next(payload) else {
                walk.phase = 6;
                return None;
            };
            (walk.phase, walk.part) = (3, Part::raw(payload, part).start);
            walk.count = walk.count.saturating_add(1);
            None
        }
        3 | 4 => {
            let is_rest = walk.phase == 4;
            walk.phase = 5;
            part(walk, payload, plan, is_rest)
        }
        // The last call is over.
        7 => {
            walk.phase = 5;
            Some(walk.call_end(plan.number.saturating_add(walk.calls).saturating_sub(1)))
        }
        5 => {
            walk.phase = 2;
            let [signature] = members_of(value_at(payload, walk.part), ["thoughtSignature"]);
            walk.text(payload, Kind::Signature, signature, slot(walk))
        }
        _ => {
            walk.phase = 1;
            let [reason] = members_of(value_at(payload, walk.element), ["finishReason"]);
            walk.finish(payload, text(reason), Reason::Finish, plan)
        }
    }
}

/// Returns the position of the current part among the parts of its candidate in this event.
fn slot(walk: &Walk) -> u64 {
    u64::from(walk.count.saturating_sub(1))
}

/// Returns the delta of the current part, except for its signature. Some proxies send a text, which may be empty,
/// together with a call or a medium in one part: the text comes first, and a second step (`is_rest`) returns the other
/// delta.
#[inline(never)]
fn part(walk: &mut Walk, payload: &[u8], plan: &Plan, is_rest: bool) -> Option<Delta> {
    let part = value_at(payload, walk.part);
    let names = ["text", "thought", "functionCall", "inlineData", "fileData"];
    let [words, thought, call, inline, file] = members_of(part, names);
    let is_medium = inline.is_some() || file.is_some();
    let call = call_beside(words, call);
    if words.is_some() && !is_rest {
        if call.is_some() || is_medium {
            walk.phase = 4;
        }
        let is_thought = thought.and_then(|value| value.as_bool()) == Some(true);
        let kind = if is_thought { Kind::Reasoning } else { Kind::Content };
        return walk.text(payload, kind, words, slot(walk));
    }
    let Some(call) = call else {
        let kind = if is_medium { Kind::Media } else { Kind::Native };
        // If a part has only a signature, its only delta is that of the signature.
        let mut at = 0;
        let mut has_more = false;
        while let Some((name, _)) = part.member_at(&mut at) {
            has_more |= name != "thoughtSignature" && name != "thought";
        }
        return walk.raw(payload, kind, whole_at(payload, walk.part).filter(|_| has_more), slot(walk));
    };
    let [id, name, args, more] = members_of(call, ["id", "name", "args", "willContinue"]);
    walk.member(payload, call, "partialArgs", |value| value.kind() == ValueKind::Array);
    if walk.member.is_empty() {
        // A client must send the signature of a call back with that call, so the signature is a member of the call,
        // too.
        walk.member(payload, part, "thoughtSignature", |value| text(Some(value)).is_some());
    }
    let continued = core::mem::replace(&mut walk.sub, u8::from(continues(more))) != 0;
    if walk.sub == 0 {
        walk.phase = 7;
    }
    let index = plan.number.saturating_add(walk.calls);
    if opens(name, continued) {
        let arguments = input(args).or_else(|| object(args).map(|args| Text::verbatim(args.raw())));
        return Some(walk.call(payload, index, CallParts { id, name, arguments, ..CallParts::default() }, plan));
    }
    // The part continues the call that was opened last.
    walk.select(payload, index.saturating_sub(1), plan)
}
