//! Reads the members of a tool call, function or custom.

use super::choices::next_call;
use super::index::{call, CallIndex};
use super::scalar::{id_of, input_of, text_of};
use crate::dialect::index_number;
use crate::json::{Text, Value, ValueKind};

/// A tool call, or a fragment of one.
pub(super) struct ToolCall<'a> {
    /// The array that contains the call.
    array: &'a [u8],
    fields: CallIndex,
}

impl<'a> ToolCall<'a> {
    /// Walks the call after the one that ended at `offset` of the array, or the first call if `offset` is 0. Returns it
    /// with the offset at which it ends.
    pub(super) fn after(array: &'a [u8], offset: usize) -> Option<(Self, usize)> {
        let mut fields = CallIndex::EMPTY;
        let end = next_call(array, 0, offset, &mut fields)?;
        Some((ToolCall { array, fields }, end))
    }

    fn member(&self, member: usize) -> Option<Value<'a>> {
        self.fields.get(member).map(|span| span.value(self.array))
    }

    fn text(&self, member: usize) -> Option<Text<'a>> {
        self.member(member).and_then(text_of)
    }

    /// Returns `index`, or `None` if it is missing or null. A negative index is 0, and a number in a string counts.
    pub(super) fn index(&self) -> Option<u32> {
        self.member(call::INDEX).and_then(index_number)
    }

    /// Returns `id`, if it is not empty, and not the text `None` or `null`.
    pub(super) fn id(&self) -> Option<Text<'a>> {
        self.member(call::ID).and_then(id_of)
    }

    /// Returns `type` (`function`, `custom`), if it is not empty.
    pub(super) fn kind(&self) -> Option<Text<'a>> {
        self.text(call::TYPE)
    }

    /// Whether this is a call of a custom tool: it has a `custom` object, or the `type` `custom` and neither a name nor
    /// arguments.
    pub(super) fn is_custom(&self) -> bool {
        let has_object = self.member(call::CUSTOM).is_some_and(|value| value.kind() == ValueKind::Object);
        let has_function = || self.fields.has(call::NAME) || self.fields.has(call::ARGUMENTS);
        has_object || self.kind().is_some_and(|kind| kind == "custom") && !has_function()
    }

    /// Returns `function.name` or `custom.name`, if it is not empty. Servers may repeat the name, or send it in pieces.
    pub(super) fn name(&self) -> Option<Text<'a>> {
        self.text(call::NAME)
    }

    /// Whether the ID was sent as null, `""`, or the text `None` or `null`.
    pub(super) fn has_null_id(&self) -> bool {
        self.fields.has(call::ID) && self.id().is_none()
    }

    /// Returns `function.arguments` or `custom.input`, if it is not empty: a fragment of text. JSON in the place of the
    /// text is returned as it is written.
    pub(super) fn arguments(&self) -> Option<Text<'a>> {
        self.member(call::ARGUMENTS).and_then(input_of)
    }

    /// Returns the arguments if they were sent as an empty string.
    pub(super) fn empty_arguments(&self) -> Option<Text<'a>> {
        self.member(call::ARGUMENTS).and_then(|value| value.as_text()).filter(|text| text.is_empty())
    }

    /// Returns the call as raw JSON, if it or its function has other members than those that the methods above return.
    pub(super) fn with_others(&self) -> Option<Value<'a>> {
        self.member(call::ITSELF).filter(|_| self.fields.has(call::OTHERS))
    }
}
