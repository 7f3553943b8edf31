//! The events of Responses that have a text: their types, what the text is a part of, and where it is.

use super::identity::Mark;
use super::items::content_kind;
use super::reported::{ItemPart, ARGUMENTS};
use super::value::{number, object};
use crate::delta::Kind;
use crate::json::{members_of, Value};

/// The text of an event: its kind, and the part of the item that it belongs to.
pub(super) struct EventText {
    pub(super) kind: Kind,
    pub(super) of: ItemPart,
    pub(super) is_custom: bool,
    /// The member that contains the text.
    pub(super) name: &'static str,
    /// What the event ends, unless it is a delta.
    pub(super) ends: Mark,
}

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

/// The events that have a text: the type after `response.`, the kind of the text, what it is a part of, and the member
/// that contains it. For `content_part.done`, the type of the part decides the kind and the member.
static TEXTS: [(&str, Kind, PartKind, &str); 20] = [
    ("output_text.delta", Kind::Content, PartKind::Content, "delta"),
    ("output_text.done", Kind::Content, PartKind::Content, "text"),
    ("function_call_arguments.delta", Kind::ToolArguments, PartKind::Arguments, "delta"),
    ("function_call_arguments.done", Kind::ToolArguments, PartKind::Arguments, "arguments"),
    (CUSTOM_DELTA, Kind::ToolArguments, PartKind::Arguments, "delta"),
    (CUSTOM_DONE, Kind::ToolArguments, PartKind::Arguments, "input"),
    ("reasoning_summary_text.delta", Kind::Reasoning, PartKind::Summary, "delta"),
    ("reasoning_summary_text.done", Kind::Reasoning, PartKind::Summary, "text"),
    ("reasoning_summary_part.done", Kind::Reasoning, PartKind::Summary, "text"),
    ("reasoning_text.delta", Kind::Reasoning, PartKind::Content, "delta"),
    ("reasoning_text.done", Kind::Reasoning, PartKind::Content, "text"),
    (REASONING_PART_DONE, Kind::Reasoning, PartKind::Content, "text"),
    ("refusal.delta", Kind::Refusal, PartKind::Content, "delta"),
    ("refusal.done", Kind::Refusal, PartKind::Content, "refusal"),
    (PART_DONE, Kind::Content, PartKind::Content, ""),
    // Open Responses.
    ("reasoning.delta", Kind::Reasoning, PartKind::Content, "delta"),
    ("reasoning.done", Kind::Reasoning, PartKind::Content, "text"),
    ("reasoning_summary.delta", Kind::Reasoning, PartKind::Summary, "delta"),
    ("reasoning_summary.done", Kind::Reasoning, PartKind::Summary, "text"),
    // OpenRouter.
    ("content_part.delta", Kind::Content, PartKind::Content, "delta"),
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
    let (name, kind, of, member) = *TEXTS.get(usize::from(row(kind)))?;
    (member == "delta" && name != CUSTOM_DELTA).then_some((kind, of))
}

/// Returns the member that contains the text of an event of this type, and whether that is the input of a call.
pub(super) fn text_of_event(kind: &[u8]) -> Option<(&'static str, bool)> {
    let (_, kind, _, member) = *TEXTS.get(usize::from(row(kind)))?;
    Some((member, kind == Kind::ToolArguments))
}

/// Whether events of this [`row`] end a text, not the arguments of a call.
pub(super) fn ends_text(row: u8) -> bool {
    TEXTS.get(usize::from(row)).is_some_and(|(_, kind, _, member)| *member != "delta" && *kind != Kind::ToolArguments)
}

/// Returns what an event of this type begins, if that is a part of an item.
pub(super) fn part_begun(kind: &[u8]) -> Option<PartKind> {
    match kind {
        b"response.content_part.added" | b"response.reasoning_part.added" => Some(PartKind::Content),
        b"response.reasoning_summary_part.added" => Some(PartKind::Summary),
        _ => None,
    }
}

/// Describes the text in an event of this [`row`], or in its `part`. Returns `None` if the event has no text.
pub(super) fn event_text(row: u8, event: Value<'_>) -> Option<EventText> {
    let (event_name, mut kind, own, mut name) = TEXTS.get(usize::from(row)).copied()?;
    let [content, summary, part] = members_of(event, ["content_index", "summary_index", "part"]);
    let of = own.part(content, summary);
    if event_name == PART_DONE {
        (kind, name) = content_kind(members_of(part?, ["type"])[0])?;
    }
    let is_custom = event_name == CUSTOM_DELTA || event_name == CUSTOM_DONE;
    let ends = if [PART_DONE, REASONING_PART_DONE].contains(&event_name) { Mark::PartEnded } else { Mark::TextEnded };
    Some(EventText { kind, of, is_custom, name, ends })
}

/// Returns the slot of a part, which distinguishes it from all other parts: its output item and its index there.
pub(super) fn slot(item: u32, part: u32) -> u64 {
    u64::from(item) << 32 | u64::from(part)
}

/// Returns the member `name` of the event or of its `part`.
pub(super) fn words<'a>(event: Value<'a>, name: &str) -> Option<Value<'a>> {
    let [own, part] = members_of(event, [name, "part"]);
    own.or_else(|| members_of(object(part)?, [name])[0])
}
