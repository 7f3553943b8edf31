//! Tool calls, function or custom.

use crate::chat::choices::next_call;
use crate::chat::index::{call, CallIndex};
use crate::chat::scalar::{id_of, index_number, input_of, text_of};
use crate::json::{Text, Value, ValueKind};
use crate::shown::{shown, Bytes};

/// Iterates over the tool calls of a delta, each walked once.
#[derive(Clone)]
pub struct ToolCalls<'a> {
    /// The array.
    raw: &'a [u8],
    returned: u32,
    /// The offset one past the call that was returned last.
    offset: usize,
}

shown!("ToolCalls": ToolCalls<'_>, this => array: Bytes(this.raw));

impl<'a> ToolCalls<'a> {
    /// Returns the calls of an array, or no calls if there is no array.
    pub(super) fn of(array: Option<Value<'a>>) -> Self {
        ToolCalls { raw: array.map_or(&[], |array| array.raw()), returned: 0, offset: 0 }
    }

    /// Returns the calls after the first `returned`, which end at the offset that [`offset`](Self::offset) returned.
    pub(in crate::chat) fn from(array: &'a [u8], returned: u32, offset: usize) -> Self {
        ToolCalls { raw: array, returned, offset }
    }

    pub(in crate::chat) fn offset(&self) -> usize {
        self.offset
    }
}

impl<'a> Iterator for ToolCalls<'a> {
    type Item = ToolCall<'a>;

    fn next(&mut self) -> Option<ToolCall<'a>> {
        let mut fields = CallIndex::EMPTY;
        self.offset = next_call(self.raw, 0, self.offset, &mut fields)?;
        let position = self.returned;
        self.returned = position.saturating_add(1);
        Some(ToolCall { payload: self.raw, fields, position })
    }
}

/// A tool call, or a fragment of one.
///
/// The index alone does not determine which call a fragment belongs to: [`track`](crate::track) has the rules.
#[derive(Clone)]
pub struct ToolCall<'a> {
    /// The array that contains the call.
    payload: &'a [u8],
    fields: CallIndex,
    position: u32,
}

impl<'a> ToolCall<'a> {
    fn member(&self, member: usize) -> Option<Value<'a>> {
        self.fields.get(member).map(|span| span.value(self.payload))
    }

    fn text(&self, member: usize) -> Option<Text<'a>> {
        self.member(member).and_then(text_of)
    }

    /// Returns the position of the call in the array of its delta, from 0.
    pub fn position(&self) -> u32 {
        self.position
    }

    /// Returns `index`, or `None` if it is missing or null. A negative index is 0, and a number in a string counts.
    pub fn index(&self) -> Option<u32> {
        self.member(call::INDEX).and_then(index_number)
    }

    /// Returns `id`, if it is not empty, and not the text `None` or `null`.
    pub fn id(&self) -> Option<Text<'a>> {
        self.member(call::ID).and_then(id_of)
    }

    /// Returns `type` (`function`, `custom`), if it is not empty.
    pub fn kind(&self) -> Option<Text<'a>> {
        self.text(call::TYPE)
    }

    /// Whether this is a call of a custom tool: it has a `custom` object, or the `type` `custom` and neither a name nor
    /// arguments.
    pub fn is_custom(&self) -> bool {
        let has_object = self.member(call::CUSTOM).is_some_and(|value| value.kind() == ValueKind::Object);
        let has_function = || self.fields.has(call::NAME) || self.fields.has(call::ARGUMENTS);
        has_object || self.kind().is_some_and(|kind| kind == "custom") && !has_function()
    }

    /// Returns `function.name` or `custom.name`, if it is not empty. Servers may repeat the name, or send it in pieces.
    pub fn name(&self) -> Option<Text<'a>> {
        self.text(call::NAME)
    }

    /// Returns `function.arguments` or `custom.input`, if it is not empty: a fragment of text. JSON in the place of the
    /// text is returned as it is written.
    pub fn arguments(&self) -> Option<Text<'a>> {
        self.member(call::ARGUMENTS).and_then(input_of)
    }

    /// Returns the call, if it or its function has other members than those that the methods above return.
    pub(in crate::chat) fn with_others(&self) -> Option<Value<'a>> {
        self.value().filter(|_| self.fields.has(call::OTHERS))
    }

    /// Returns the call as raw JSON, or `None` if it is no object.
    pub fn value(&self) -> Option<Value<'a>> {
        self.member(call::ITSELF)
    }

    /// Returns any member by name, as raw JSON (`extra_content`, …). Walks the call.
    pub fn get(&self, name: &str) -> Option<Value<'a>> {
        self.value()?.get(name).ok()?
    }
}

shown!("ToolCall": ToolCall<'_>, this => index: this.index(), id: this.id(), name: this.name(), arguments: this.arguments());
