//! The output items of Responses as they are sent: what identifies one, and how its texts compare with their deltas.

use super::expect::{is_unknown_text, is_word_of};
use super::identity::{CallId, Class, Id, Identity};
use super::known::{each_element, members, Fault, Known, Member};
use super::reported::{ItemPart, Reported, ARGUMENTS, CALL};
use super::state::{DialectState, Plan, ReadEvent};
use super::texts::Whole;
use super::value::{arguments, array, is, object, text};
use super::walk::Container;
use crate::delta::Kind;
use crate::json::{members_of, Text, Value};
use crate::{Quirk, QuirkSet};

static ITEM: [Member; 11] = members![
    "id" Text, "type" Text, "item_id" Text, "call_id" Text, "name" Text, "arguments" Input, "input" Input,
    "encrypted_content" Text, "summary" List, "content" List, "role" Text,
];
/// The members that a call has, and those that a message or reasoning has, one bit for each.
const OF_CALL: u32 = 0b0000_1111111;
const OF_TEXT: u32 = 0b1111_0000111;
const PART: [Member; 4] = members!["type" Text, "annotations" List, "text" Text, "refusal" Text];

/// An output item as it is sent.
#[derive(Clone, Copy)]
pub(super) struct Item<'a> {
    pub(super) value: Value<'a>,
    pub(super) class: Class,
    /// Whether a call is one of a custom tool.
    pub(super) is_custom: bool,
    /// `id`, `item_id` (vLLM, for a finished call, which has another `call_id`) and `call_id`.
    ids: [Option<Value<'a>>; 3],
    pub(super) name: Option<Value<'a>>,
    /// The arguments of a function call, or the input of a custom tool call.
    pub(super) input: Option<Value<'a>>,
    pub(super) secret: Option<Value<'a>>,
    pub(super) summary: Option<Value<'a>>,
    pub(super) content: Option<Value<'a>>,
    pub(super) role: Option<Value<'a>>,
}

impl<'a> Item<'a> {
    /// Reads an item. A value that is no object has no members.
    pub(super) fn of(value: Value<'a>) -> Self {
        Item::known(value, Known::inside(Some(value), &ITEM).values)
    }

    /// Reads an item and finds its quirks. An item of a type that is not read is reported whole.
    pub(super) fn judged(value: Value<'a>, quirks: &mut QuirkSet) -> Result<Self, Fault<'a>> {
        let known = Known::of(value, &ITEM);
        let [_, kind, ..] = known.values;
        let places = if client(kind).is_some() {
            OF_CALL
        } else if is_word_of(kind, "message reasoning") {
            OF_TEXT
        } else {
            0
        };
        let item = Item::known(value, known.judged_at(places, quirks)?);
        if places == OF_TEXT {
            each_element(item.content, &mut |part| judge_part(part, quirks))?;
            each_element(item.summary, &mut |part| judge_part(part, quirks))?;
        }
        Ok(item)
    }

    fn known(
        value: Value<'a>,
        [id, kind, own, call_id, name, arguments, input, secret, summary, content, role]: [Option<Value<'a>>; 11],
    ) -> Self {
        let class = class(kind);
        Item {
            value,
            class,
            is_custom: client(kind) == Some(true),
            ids: [id, own, call_id],
            name,
            input: arguments.or(input),
            secret,
            summary,
            content,
            role,
        }
    }

    /// Returns the class of the item, and its IDs.
    pub(super) fn identity(&self) -> Identity {
        let [.., call] = self.ids;
        (self.class, Id::of(self.ids), CallId::of(call.filter(|_| self.class == Class::Call)))
    }

    /// Returns the ID of a call. Some gateways send it only as the ID of the item.
    pub(super) fn call_id(&self) -> Option<Value<'a>> {
        let [id, _, call] = self.ids;
        call.filter(|call| text(Some(*call)).is_some()).or(id)
    }

    /// Whether this is a call whose arguments are JSON, not a text.
    pub(super) fn is_odd_call(&self) -> bool {
        self.class == Class::Call && text(self.input).is_none() && arguments(self.input).is_some()
    }

    /// Returns the arguments that an item has when it begins, all of them or their beginning. An empty object, even as a
    /// text, only holds their place.
    pub(super) fn begun_input(&self) -> Option<Text<'a>> {
        text(self.input).filter(|input| *input != "{}")
    }
}

/// Finds the quirks of a content part or a summary, and a text in it that nobody documents.
pub(super) fn judge_part<'a>(part: Value<'a>, quirks: &mut QuirkSet) -> Result<(), Fault<'a>> {
    let known = Known::of(part, &PART);
    let [kind, _, words, refusal] = known.values;
    let is_known = content_kind(kind).is_some();
    let has_text = is_known && (text(words).is_some() || text(refusal).is_some());
    let others = if is_known { "text refusal annotations" } else { "transcript data" };
    if !has_text && is_unknown_text(Some(part), others) {
        quirks.insert(Quirk::UnknownText);
    }
    known.judged(quirks).map(|_| ())
}

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
pub(super) fn end_item(state: &mut DialectState, seen: &mut ReadEvent<'_>, number: u32, item: &Item<'_>) {
    let class = item.class;
    if class == Class::Call {
        match piece(class, item.input) {
            Some(words) if !state.output.reported().has(number, ARGUMENTS) => {
                state.texts.add(number, ARGUMENTS, words, &Reported::NOTHING)
            }
            words => end_text(state, seen, number, (Kind::ToolArguments, ARGUMENTS, ARGUMENTS), words),
        }
    } else if state.texts.has_item(number) && matches!(class, Class::Message | Class::Reasoning) {
        end_parts(state, seen, number, (class, array(item.summary)), ItemPart::Summary);
        end_parts(state, seen, number, (class, array(item.content)), ItemPart::Content);
    }
    state.texts.end_item(number);
}

/// Notes that all of an item was reported, except for the text or the arguments of one that had none so far: they may
/// still come with the response.
pub(super) fn end_whole(state: &mut DialectState, number: u32, item: &Item<'_>) {
    let reported = state.output.reported();
    let has_none = |of| reported.count(number, of) == 0;
    let is_void = match item.class {
        Class::Message => has_none(ARGUMENTS) && !has_text(item.content),
        Class::Reasoning => {
            has_none(ARGUMENTS)
                && has_none(CALL)
                && text(item.secret).is_none()
                && !has_text(item.content)
                && !has_text(item.summary)
        }
        Class::Call => !reported.has(number, ARGUMENTS) && piece(item.class, item.input).is_none(),
        _ => false,
    };
    if is_void {
        state.output.items().add_void(number, item.class);
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
        let [kind, words, refusal] = members_of(part, ["type", "text", "refusal"]);
        let words = |kind| text(if kind == Kind::Refusal { refusal } else { words });
        let known = content_kind(kind).and_then(|(kind, _)| Some((kind, words(kind)?)));
        let of = state.texts.part_at(number, part_of(place), count);
        if let (Some((kind, words)), Some(of)) = (known, of) {
            let kind = kind_in(class == Class::Reasoning, kind);
            end_text(state, seen, number, (kind, of, part_of(place)), Some(words));
        }
        place = place.saturating_add(1);
    }
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
pub(super) fn find_whole(position: u32, item: &Item<'_>, plan: &Plan, taken: &mut u8) -> u32 {
    if object(Some(item.value)).is_none() {
        // A value that is no object reports nothing.
        plan.reported.take(position, taken);
        return position;
    }
    let is_empty = || item.class == Class::Message && !has_text(item.content);
    plan.reported.find_whole(position, item.identity(), &is_empty, &plan.claims, taken)
}

/// Whether a part in this list of an item has a text.
pub(super) fn has_text(list: Option<Value<'_>>) -> bool {
    let Some(list) = array(list) else { return false };
    let mut parts = Container::of(list.raw(), Some(list));
    while let Some(part) = parts.next(list.raw()) {
        if members_of(part, ["text", "refusal"]).into_iter().any(|words| text(words).is_some()) {
            return true;
        }
    }
    false
}
