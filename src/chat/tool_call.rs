//! Tool calls, function or custom.

use super::index::{self, call, delta, CallIndex, Pass, Spans};
use super::{DeltaView, Source, Walked};
use crate::json::{Cursor, Kind, Text, Value};

/// The tool calls of a delta. The first costs nothing more; each further one is walked once.
#[derive(Clone)]
pub struct ToolCalls<'a> {
    delta: DeltaView<'a>,
    given: u32,
    /// One past the call given last.
    offset: usize,
}

impl<'a> ToolCalls<'a> {
    pub(crate) fn new(delta: DeltaView<'a>) -> Self {
        ToolCalls { delta, given: 0, offset: 0 }
    }
}

impl<'a> Iterator for ToolCalls<'a> {
    type Item = ToolCall<'a>;

    fn next(&mut self) -> Option<ToolCall<'a>> {
        if self.given >= self.delta.fields.calls {
            return None;
        }
        let source = self.delta.source;
        let fields = if self.given == 0 {
            match &self.delta.fields {
                Walked::Indexed(delta) => Walked::Indexed(&delta.call),
                Walked::Own(delta) => Walked::Own(delta.call.clone()),
            }
        } else {
            let mut cursor = Cursor::inside(source.payload, self.offset);
            if !cursor.next_element().ok()? {
                return None;
            }
            let mut own: CallIndex = Spans::EMPTY;
            let mut pass = Pass::of(cursor);
            pass.call(&mut own).ok()?;
            self.offset = pass.offset();
            Walked::Own(own)
        };
        let position = self.given;
        self.given += 1;
        let given = ToolCall { source, fields, position };
        if position == 0 && self.delta.fields.calls > 1 {
            self.offset = match given.value() {
                Some(whole) => index::end_of(source.payload, whole),
                None => {
                    let calls = self.delta.member(delta::TOOL_CALLS)?;
                    index::end_of(source.payload, calls.elements().next()?.ok()?)
                }
            };
        }
        Some(given)
    }
}

/// A tool call, or a fragment of one.
///
/// Which call a fragment belongs to is not told by its index alone: [`track`](crate::track) has the rules.
#[derive(Clone)]
pub struct ToolCall<'a> {
    source: Source<'a>,
    fields: Walked<'a, CallIndex>,
    position: u32,
}

impl<'a> ToolCall<'a> {
    fn member(&self, member: usize) -> Option<Value<'a>> {
        index::member(self.source.index, self.source.payload, &self.fields, member)
    }

    fn text(&self, member: usize) -> Option<Text<'a>> {
        self.member(member).and_then(super::text_of)
    }

    /// Where it stands in the array of its delta, from 0.
    pub fn position(&self) -> u32 {
        self.position
    }

    /// `index`: None if it is missing or null; a negative one is 0, a number in a string counts.
    pub fn index(&self) -> Option<u32> {
        self.member(call::INDEX).and_then(index::index_number)
    }

    /// `id`, if it is not empty.
    pub fn id(&self) -> Option<Text<'a>> {
        self.text(call::ID)
    }

    /// `type` (`function`, `custom`), if it is not empty.
    pub fn kind(&self) -> Option<Text<'a>> {
        self.text(call::TYPE)
    }

    /// Whether it is a call of a custom tool: it has a `custom` object.
    pub fn is_custom(&self) -> bool {
        self.member(call::CUSTOM).is_some_and(|value| value.kind() == Kind::Object)
    }

    /// `function.name` or `custom.name`, if it is not empty. It may be repeated, or come in pieces.
    pub fn name(&self) -> Option<Text<'a>> {
        self.text(call::NAME)
    }

    /// `function.arguments` or `custom.input`, if it is not empty: a fragment of text. JSON in the place of the text
    /// is given as it is written.
    pub fn arguments(&self) -> Option<Text<'a>> {
        self.member(call::ARGUMENTS).and_then(input_text)
    }

    /// The call as raw JSON. None if it is no object.
    pub fn value(&self) -> Option<Value<'a>> {
        self.member(call::WHOLE)
    }

    /// Any member by name, as raw JSON (`extra_content`, …). Walks the call.
    pub fn get(&self, name: &str) -> Option<Value<'a>> {
        self.value()?.get(name).ok()?
    }
}

/// The text of a call's arguments: a string, or JSON as it is written.
pub(crate) fn input_text(value: Value<'_>) -> Option<Text<'_>> {
    match value.kind() {
        Kind::Null => None,
        Kind::String => value.as_text().filter(|text| !text.is_empty()),
        Kind::Bool | Kind::Number | Kind::Array | Kind::Object => Some(Text::verbatim(value.raw())),
    }
}
