//! Arrays inside a delta: the parts of `content` and the items of `reasoning_details`.

use super::scalar::{member_of, string_of};
use crate::dialect::Container;
use crate::json::{Text, Value, ValueKind};

/// One part of a content array.
pub(super) enum ContentPart<'a> {
    /// Content.
    Text(Text<'a>),
    /// Reasoning.
    Thinking(Text<'a>),
    /// A part of an unknown type.
    Other(Value<'a>),
}

/// Returns whether a part of a content array is reasoning (`true`) or content (`false`), or `None` if its type is
/// unknown.
pub(crate) fn part_type(part: Value<'_>) -> Option<bool> {
    let kind = member_of(part, "type")?.as_text()?;
    if kind == "text" || kind == "output_text" {
        return Some(false);
    }
    (kind == "thinking" || kind == "reasoning").then_some(true)
}

/// The members that may have the text of a thinking part.
const THOUGHTS: [&str; 3] = ["thinking", "text", "summary"];

/// Whether a text of a part of a known type is no string. A thought may also be a list of strings and of objects with a
/// `text`.
pub(super) fn has_odd_text(part: Value<'_>) -> bool {
    let is_odd = |text: Value<'_>| text.kind() != ValueKind::String;
    let is_odd_item = |item: Value<'_>| match item.kind() {
        ValueKind::Object => member_of(item, "text").is_some_and(is_odd),
        _ => is_odd(item),
    };
    let is_odd_thought = |thought: Value<'_>| match thought.kind() {
        ValueKind::Array => {
            let mut items = Container::of(thought.raw(), Some(thought));
            core::iter::from_fn(|| items.next(thought.raw())).any(is_odd_item)
        }
        _ => is_odd(thought),
    };
    match part_type(part) {
        Some(false) => member_of(part, "text").is_some_and(is_odd),
        Some(true) => THOUGHTS.iter().filter_map(|name| member_of(part, name)).any(is_odd_thought),
        None => false,
    }
}

/// The position in a content array: its parts, and the array inside a thinking part.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PartsCursor {
    parts: Container,
    inner: Container,
}

impl PartsCursor {
    pub(crate) const START: PartsCursor = PartsCursor { parts: Container::at(0), inner: Container::NOTHING };

    #[inline(never)]
    pub(crate) fn next<'a>(&mut self, array: Value<'a>) -> Option<ContentPart<'a>> {
        let array = array.raw();
        loop {
            while let Some(part) = self.inner.next(array) {
                let text = if part.kind() == ValueKind::Object { member_of(part, "text") } else { Some(part) };
                if let Some(text) = text.and_then(string_of) {
                    return Some(ContentPart::Thinking(text));
                }
            }
            let part = self.parts.next(array)?;
            if let Some(text) = string_of(part) {
                return Some(ContentPart::Text(text));
            }
            match part_type(part) {
                Some(false) => {
                    if let Some(text) = member_of(part, "text").and_then(string_of) {
                        return Some(ContentPart::Text(text));
                    }
                }
                Some(true) => {
                    let has_text = |value: &Value<'_>| value.kind() == ValueKind::Array || string_of(*value).is_some();
                    let thought = THOUGHTS.iter().find_map(|name| member_of(part, name).filter(has_text));
                    match thought {
                        Some(value) if value.kind() == ValueKind::Array => {
                            self.inner = Container::of(array, Some(value))
                        }
                        Some(value) => {
                            if let Some(text) = string_of(value) {
                                return Some(ContentPart::Thinking(text));
                            }
                        }
                        None => {}
                    }
                }
                None if part.kind() == ValueKind::Object => return Some(ContentPart::Other(part)),
                None => {}
            }
        }
    }
}

/// Returns `text` of an item of `reasoning_details[]`, or `summary`, if it is not empty.
pub(crate) fn detail_text(detail: Value<'_>) -> Option<Text<'_>> {
    let text = |name| member_of(detail, name).and_then(string_of);
    text("text").or_else(|| text("summary"))
}

/// Iterates over the items of `reasoning_details[]`, or over an object in the place of the array. Ends at the first
/// item that is malformed.
pub(super) struct ReasoningDetails<'a> {
    array: Option<Value<'a>>,
    items: Container,
}

impl<'a> ReasoningDetails<'a> {
    /// Returns the items of an array, or none if there is no array.
    pub(crate) fn of(array: Option<Value<'a>>) -> Self {
        ReasoningDetails::from(array, Container::at(0))
    }

    /// Returns the items after those that an earlier iterator returned. `items` is its [`items`](Self::items).
    pub(crate) fn from(array: Option<Value<'a>>, items: Container) -> Self {
        ReasoningDetails { array, items }
    }

    pub(crate) fn items(&self) -> Container {
        self.items
    }
}

impl<'a> Iterator for ReasoningDetails<'a> {
    type Item = Value<'a>;

    fn next(&mut self) -> Option<Value<'a>> {
        let value = self.array?;
        if value.kind() == ValueKind::Object {
            let was_returned = core::mem::replace(&mut self.items, Container::NOTHING) == Container::NOTHING;
            return (!was_returned).then_some(value);
        }
        self.items.next(value.raw())
    }
}
