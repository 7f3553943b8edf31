//! The output items of Responses as they are sent: what identifies one, and how its texts compare with their deltas.

use super::identity::{CallId, Class, Id, Identity};
use super::reported::{ItemPart, Reported, ARGUMENTS, CALL};
use super::state::{DialectState, Plan, ReadEvent};
use super::texts::Whole;
use super::value::{arguments, array, is, object, text};
use super::walk::Container;
use crate::delta::Kind;
use crate::json::{members_of, Text, Value};
use crate::Quirk;

/// Returns the kind of a part of a message or of reasoning with this type, and the member that contains its text.
pub(super) fn content_kind(kind: Option<Value<'_>>) -> Option<(Kind, &'static str)> {
    Some(if is(kind, "output_text") || is(kind, "text") {
        (Kind::Content, "text")
    } else if is(kind, "refusal") {
        (Kind::Refusal, "refusal")
    } else if is(kind, "reasoning_text") || is(kind, "summary_text") {
        (Kind::Reasoning, "text")
    } else {
        return None;
    })
}

/// Returns the kind of a text in an item: the content of reasoning is reasoning, whatever the type of its parts
/// (LocalAI, LiteLLM).
pub(super) fn kind_in(is_reasoning: bool, kind: Kind) -> Kind {
    if is_reasoning && kind == Kind::Content {
        Kind::Reasoning
    } else {
        kind
    }
}

/// Returns whether a tool call of the client calls a custom tool, or `None` if an item of this type is no tool call of
/// the client.
pub(super) fn client(kind: Option<Value<'_>>) -> Option<bool> {
    if is(kind, "function_call") {
        Some(false)
    } else {
        is(kind, "custom_tool_call").then_some(true)
    }
}

/// Returns the class of an item of this type.
pub(super) fn class(kind: Option<Value<'_>>) -> Class {
    if is(kind, "message") {
        Class::Message
    } else if is(kind, "reasoning") {
        Class::Reasoning
    } else if client(kind).is_some() {
        Class::Call
    } else {
        Class::Other
    }
}

/// Returns what an event of this class has of a text, or of arguments.
pub(super) fn piece(class: Class, words: Option<Value<'_>>) -> Option<Text<'_>> {
    if class == Class::Call {
        arguments(words)
    } else {
        text(words)
    }
}

/// Compares a text that is whole with its deltas. `place` is its place among the parts of its item, `of` the part that
/// the deltas had.
pub(super) fn end_text(
    state: &mut DialectState,
    seen: &mut ReadEvent<'_>,
    item: u32,
    (kind, of, place): (Kind, ItemPart, ItemPart),
    words: Option<Text<'_>>,
) {
    let is_other = match state.texts.end(item, of, words) {
        Whole::Same => return,
        Whole::Longer(len) if seen.plan.cuts.add(item, place, of, len) => return,
        _ if state.texts.snapshots => return,
        Whole::Longer(_) | Whole::Other => true,
        Whole::Behind => false,
    };
    seen.quirks.insert(Quirk::ChangedText);
    // Reasoning is often summed up anew, and arguments that are not whole are noticed when the choice finishes.
    seen.changes |= is_other && matches!(kind, Kind::Content | Kind::Refusal);
}

/// Compares the texts of an item that is whole with their deltas.
pub(super) fn end_item(
    state: &mut DialectState,
    seen: &mut ReadEvent<'_>,
    number: u32,
    (class, item): (Class, Value<'_>),
) {
    if class == Class::Call {
        match piece(class, input(item)) {
            Some(words) if !state.output.reported().has(number, ARGUMENTS) => {
                state.texts.add(number, ARGUMENTS, words, &Reported::NOTHING)
            }
            words => end_text(state, seen, number, (Kind::ToolArguments, ARGUMENTS, ARGUMENTS), words),
        }
    } else if state.texts.has_item(number) && matches!(class, Class::Message | Class::Reasoning) {
        let [summary, content] = members_of(item, ["summary", "content"]);
        end_parts(state, seen, number, (class, array(summary)), ItemPart::Summary);
        end_parts(state, seen, number, (class, array(content)), ItemPart::Content);
    }
    state.texts.end_item(number);
}

/// Notes that all of an item was reported, except for the text or the arguments of one that had none so far: they may
/// still come with the response.
pub(super) fn end_whole(state: &mut DialectState, number: u32, (class, item): (Class, Value<'_>)) {
    let reported = state.output.reported();
    let has_none = |of| reported.count(number, of) == 0;
    let is_void = match class {
        Class::Message => has_none(ARGUMENTS) && !has_text(item, "content"),
        Class::Reasoning => {
            let has_secret = text(members_of(item, ["encrypted_content"])[0]).is_some();
            has_none(ARGUMENTS)
                && has_none(CALL)
                && !has_secret
                && !has_text(item, "content")
                && !has_text(item, "summary")
        }
        Class::Call => !reported.has(number, ARGUMENTS) && piece(class, input(item)).is_none(),
        _ => false,
    };
    if is_void {
        state.output.items().add_void(number, class);
    } else {
        state.output.items().add_all(number);
    }
}

/// Compares the contents or the summaries of an item that is whole with their deltas.
pub(super) fn end_parts(
    state: &mut DialectState,
    seen: &mut ReadEvent<'_>,
    number: u32,
    (class, list): (Class, Option<Value<'_>>),
    part_of: fn(u32) -> ItemPart,
) {
    let Some(list) = list else { return };
    let mut parts = Container::of(list.raw(), Some(list));
    let (mut copy, mut count) = (parts, 0u32);
    while copy.next(list.raw()).is_some() {
        count = count.saturating_add(1);
    }
    let mut place = 0u32;
    while let Some(part) = parts.next(list.raw()) {
        let [kind] = members_of(part, ["type"]);
        let known = content_kind(kind).and_then(|(kind, name)| Some((kind, text(members_of(part, [name])[0])?)));
        let of = state.texts.part_at(number, part_of(place), count);
        if let (Some((kind, words)), Some(of)) = (known, of) {
            let kind = kind_in(class == Class::Reasoning, kind);
            end_text(state, seen, number, (kind, of, part_of(place)), Some(words));
        }
        place = place.saturating_add(1);
    }
}

/// Returns the class of an item, and its ID: `id`, `item_id` (vLLM, for a finished call, which has another `call_id`)
/// or `call_id`.
pub(super) fn identity(item: Value<'_>) -> Identity {
    let [kind, id, own, call] = members_of(item, ["type", "id", "item_id", "call_id"]);
    let class = class(kind);
    (class, Id::of([id, own, call]), CallId::of(call.filter(|_| class == Class::Call)))
}

/// Whether a server left an ID of an item empty, or sent null instead and no other ID.
pub(super) fn has_empty_id(item: Value<'_>) -> bool {
    let (mut at, mut has_null, mut has_id) = (0, false, false);
    while let Some((name, value)) = item.member_at(&mut at) {
        if !name.is_one_of("id item_id call_id") {
            continue;
        }
        match value.as_text() {
            Some(id) if id.is_empty() => return true,
            Some(_) => has_id = true,
            None => has_null |= value.is_null(),
        }
    }
    has_null && !has_id
}

/// Returns the number of the item at this position of a whole response. `taken`: see [`Reported::find_whole`].
///
/// [`Reported::find_whole`]: super::reported::Reported::find_whole
pub(super) fn find_whole((position, item): (u32, Value<'_>), identity: Identity, plan: &Plan, taken: &mut u8) -> u32 {
    if object(Some(item)).is_none() {
        // A value that is no object reports nothing.
        plan.reported.take(position, taken);
        return position;
    }
    let is_empty = || identity.0 == Class::Message && !has_text(item, "content");
    plan.reported.find_whole(position, identity, &is_empty, &plan.claims, taken)
}

/// Whether a part in this list of an item has a text.
pub(super) fn has_text(item: Value<'_>, list: &str) -> bool {
    let mut parts = Container::of(item.raw(), array(members_of(item, [list])[0]));
    while let Some(part) = parts.next(item.raw()) {
        if members_of(part, ["text", "refusal"]).into_iter().any(|words| text(words).is_some()) {
            return true;
        }
    }
    false
}

/// Whether this is a call whose arguments are JSON, not a text.
pub(super) fn is_odd_call(class: Class, item: Value<'_>) -> bool {
    if class != Class::Call {
        return false;
    }
    let input = input(item);
    text(input).is_none() && arguments(input).is_some()
}

/// Returns the arguments of a function call, or the input of a custom tool call.
pub(super) fn input<'a>(item: Value<'a>) -> Option<Value<'a>> {
    let [arguments, input] = members_of(item, ["arguments", "input"]);
    arguments.or(input)
}

/// Returns the arguments that an item has when it begins, all of them or their beginning. An empty object, even as a
/// text, only holds their place.
pub(super) fn begun_input<'a>(item: Value<'a>) -> Option<Text<'a>> {
    text(input(item)).filter(|input| *input != "{}")
}
