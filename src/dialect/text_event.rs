//! The events of Responses that have a text: their types, what the text is a part of, and where it is.

use super::identity::Mark;
use super::items::content_kind;
use super::known::{members, Known, Member, Type};
use super::reported::{ItemPart, ARGUMENTS};
use super::value::{number, object};
use crate::delta::Kind;
use crate::json::{members_of, Value};

/// The text of an event: its kind, and the part of the item that it belongs to.
pub(super) struct EventText<'a> {
    pub(super) kind: Kind,
    pub(super) of: ItemPart,
    pub(super) is_custom: bool,
    /// The member that contains the text, and its value.
    pub(super) name: &'static str,
    pub(super) words: Option<Value<'a>>,
    pub(super) logprobs: Option<Value<'a>>,
    /// What the event ends, unless it is a delta.
    pub(super) ends: Mark,
}

/// What is known of an event that has a text: the member that contains it, and all members.
type OfText = (&'static str, [Member; 8]);

const fn of_text(name: &'static str, expected: Type) -> OfText {
    let mut members = members![
        "item_id" Text, "output_index" Index, "content_index" Index, "" Any, "logprobs" Any, "part" Object,
        "summary_index" Index, "call_id" Text,
    ];
    let [_, _, _, own, ..] = &mut members;
    *own = Member::new(name, expected);
    (name, members)
}

static DELTA: OfText = of_text("delta", Type::Text);
static TEXT: OfText = of_text("text", Type::Text);
static REFUSAL: OfText = of_text("refusal", Type::Text);
/// The text is in the part.
static PART: OfText = of_text("", Type::Text);
static INPUT_DELTA: OfText = of_text("delta", Type::Input);
static ARGUMENTS_DONE: OfText = of_text("arguments", Type::Input);
static INPUT_DONE: OfText = of_text("input", Type::Input);

/// What a text is a part of, without the index of the part.
#[derive(Clone, Copy)]
pub(super) enum PartKind {
    Content,
    Summary,
    Arguments,
}

impl PartKind {
    /// Returns the part, with its index.
    pub(super) fn part(self, content: Option<Value<'_>>, summary: Option<Value<'_>>) -> ItemPart {
        match self {
            PartKind::Content => ItemPart::Content(number(content)),
            PartKind::Summary => ItemPart::Summary(number(summary)),
            PartKind::Arguments => ARGUMENTS,
        }
    }
}

/// The events that have a text: the type after `response.`, the kind of the text, what it is a part of, and what is known
/// of the event. For `content_part.done`, the type of the part decides the kind and the member.
static TEXTS: [(&str, Kind, PartKind, &OfText); 20] = [
    ("output_text.delta", Kind::Content, PartKind::Content, &DELTA),
    ("output_text.done", Kind::Content, PartKind::Content, &TEXT),
    ("function_call_arguments.delta", Kind::ToolArguments, PartKind::Arguments, &INPUT_DELTA),
    ("function_call_arguments.done", Kind::ToolArguments, PartKind::Arguments, &ARGUMENTS_DONE),
    (CUSTOM_DELTA, Kind::ToolArguments, PartKind::Arguments, &INPUT_DELTA),
    (CUSTOM_DONE, Kind::ToolArguments, PartKind::Arguments, &INPUT_DONE),
    ("reasoning_summary_text.delta", Kind::Reasoning, PartKind::Summary, &DELTA),
    ("reasoning_summary_text.done", Kind::Reasoning, PartKind::Summary, &TEXT),
    ("reasoning_summary_part.done", Kind::Reasoning, PartKind::Summary, &TEXT),
    ("reasoning_text.delta", Kind::Reasoning, PartKind::Content, &DELTA),
    ("reasoning_text.done", Kind::Reasoning, PartKind::Content, &TEXT),
    (REASONING_PART_DONE, Kind::Reasoning, PartKind::Content, &TEXT),
    ("refusal.delta", Kind::Refusal, PartKind::Content, &DELTA),
    ("refusal.done", Kind::Refusal, PartKind::Content, &REFUSAL),
    (PART_DONE, Kind::Content, PartKind::Content, &PART),
    // Open Responses.
    ("reasoning.delta", Kind::Reasoning, PartKind::Content, &DELTA),
    ("reasoning.done", Kind::Reasoning, PartKind::Content, &TEXT),
    ("reasoning_summary.delta", Kind::Reasoning, PartKind::Summary, &DELTA),
    ("reasoning_summary.done", Kind::Reasoning, PartKind::Summary, &TEXT),
    // OpenRouter.
    ("content_part.delta", Kind::Content, PartKind::Content, &DELTA),
];
const CUSTOM_DELTA: &str = "custom_tool_call_input.delta";
const CUSTOM_DONE: &str = "custom_tool_call_input.done";
const PART_DONE: &str = "content_part.done";
const REASONING_PART_DONE: &str = "reasoning_part.done";

/// Returns the row of [`TEXTS`] for events of this type, or the number of rows if there is none.
pub(super) fn row(kind: &[u8]) -> u8 {
    let own = kind.strip_prefix(b"response.").unwrap_or_default();
    TEXTS.iter().position(|(name, ..)| name.as_bytes() == own).unwrap_or(TEXTS.len()) as u8
}

/// Returns the kind of the `delta` in an event of this type, and what it is a part of, if it is a text or a function's
/// arguments.
pub(super) fn delta_of(kind: &[u8]) -> Option<(Kind, PartKind)> {
    let (name, kind, of, (member, _)) = *TEXTS.get(usize::from(row(kind)))?;
    (*member == "delta" && name != CUSTOM_DELTA).then_some((kind, of))
}

/// Whether events of this [`row`] end a text, not the arguments of a call.
pub(super) fn ends_text(row: u8) -> bool {
    TEXTS
        .get(usize::from(row))
        .is_some_and(|(_, kind, _, (member, _))| *member != "delta" && *kind != Kind::ToolArguments)
}

/// Returns what an event of this type begins, if that is a part of an item.
pub(super) fn part_begun(kind: &[u8]) -> Option<PartKind> {
    match kind {
        b"response.content_part.added" | b"response.reasoning_part.added" => Some(PartKind::Content),
        b"response.reasoning_summary_part.added" => Some(PartKind::Summary),
        _ => None,
    }
}

/// Returns what is known of an event of this [`row`], and the member that contains its text.
pub(super) fn known_text<'a>(row: u8, event: Value<'a>) -> Option<(&'static str, Known<'a, 8>)> {
    let (.., (name, members)) = TEXTS.get(usize::from(row))?;
    Some((name, Known::of(event, members)))
}

/// Describes the text in an event of this [`row`], which has these [known](known_text) members, or in its `part`.
/// Returns `None` if the event has no text.
pub(super) fn event_text<'a>(
    row: u8,
    event: Value<'a>,
    [_, _, content, words, logprobs, part, summary, ..]: &[Option<Value<'a>>; 8],
) -> Option<EventText<'a>> {
    let (event_name, mut kind, own, (mut name, _)) = *TEXTS.get(usize::from(row))?;
    let (of, mut words) = (own.part(*content, *summary), *words);
    if event_name == PART_DONE {
        (kind, name) = content_kind(members_of((*part)?, ["type"])[0])?;
        [words] = members_of(event, [name]);
    }
    let words = words.or_else(|| in_part(*part, name));
    let logprobs = logprobs.or_else(|| in_part(*part, "logprobs"));
    let is_custom = event_name == CUSTOM_DELTA || event_name == CUSTOM_DONE;
    let ends = if [PART_DONE, REASONING_PART_DONE].contains(&event_name) { Mark::PartEnded } else { Mark::TextEnded };
    Some(EventText { kind, of, is_custom, name, words, logprobs, ends })
}

/// Returns the slot of a part, which distinguishes it from all other parts: its output item and its index there.
pub(super) fn slot(item: u32, part: u32) -> u64 {
    u64::from(item) << 32 | u64::from(part)
}

/// Returns the member `name` of the event or of its `part`.
pub(super) fn words<'a>(event: Value<'a>, name: &str) -> Option<Value<'a>> {
    let [own, part] = members_of(event, [name, "part"]);
    own.or_else(|| in_part(part, name))
}

/// Returns the member `name` of the `part` of an event.
fn in_part<'a>(part: Option<Value<'a>>, name: &str) -> Option<Value<'a>> {
    members_of(object(part)?, [name])[0]
}
