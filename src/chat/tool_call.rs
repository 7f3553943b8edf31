//! Tool calls, function or custom.

use super::index::{self, call, delta, CallIndex, DeltaIndex};
use super::pass::Pass;
use super::{DeltaView, Source, Walked};
use crate::json::{Kind, Text, Value};

/// Which of a delta's tool calls comes next.
#[derive(Clone, Debug)]
pub(crate) struct CallCursor {
    count: u32,
    given: u32,
    /// One past the call given last.
    offset: usize,
}

impl CallCursor {
    /// Of a delta that has so many.
    pub(crate) const fn new(count: u32) -> Self {
        CallCursor { count, given: 0, offset: 0 }
    }

    /// Whether there are more.
    pub(crate) fn has_more(&self) -> bool {
        self.given < self.count
    }

    /// The first call, which the pass over the delta kept.
    #[inline]
    pub(crate) fn first<'a>(
        &mut self,
        source: Source<'a>,
        delta: &DeltaIndex,
        indexed: Option<&'a DeltaIndex>,
    ) -> Option<ToolCall<'a>> {
        if self.count == 0 {
            return None;
        }
        self.given = 1;
        if self.count > 1 {
            self.offset = end_of_first(source, delta).unwrap_or(usize::MAX);
        }
        let fields = match indexed {
            Some(delta) => Walked::Indexed(&delta.call),
            None => Walked::Own(delta.call.clone()),
        };
        Some(ToolCall { source, fields, position: 0 })
    }

    /// The next call behind the first.
    pub(crate) fn further<'a>(&mut self, source: Source<'a>) -> Option<ToolCall<'a>> {
        let position = self.given;
        if position >= self.count {
            return None;
        }
        self.given = position.saturating_add(1);
        let mut own = CallIndex::EMPTY;
        let mut pass = Pass::next_element(source.payload, self.offset)?;
        pass.call(&mut own)?;
        self.offset = pass.offset();
        Some(ToolCall { source, fields: Walked::Own(own), position })
    }
}

fn end_of_first(source: Source<'_>, delta: &DeltaIndex) -> Option<usize> {
    let Source { payload, index } = source;
    if let Some(whole) = index::member(index, payload, &delta.call, call::WHOLE) {
        return Some(index::end_of(payload, whole));
    }
    // It is no object: read over it.
    let calls = index::member(index, payload, &delta.spans, delta::TOOL_CALLS)?;
    Some(index::end_of(payload, calls.elements().next()?.ok()?))
}

/// The tool calls of a delta. The first costs nothing more; each further one is walked once.
#[derive(Clone)]
pub struct ToolCalls<'a> {
    delta: DeltaView<'a>,
    cursor: CallCursor,
}

impl<'a> ToolCalls<'a> {
    pub(crate) fn new(delta: DeltaView<'a>) -> Self {
        let cursor = CallCursor::new(delta.fields.calls);
        ToolCalls { delta, cursor }
    }
}

impl<'a> Iterator for ToolCalls<'a> {
    type Item = ToolCall<'a>;

    fn next(&mut self) -> Option<ToolCall<'a>> {
        let ToolCalls { delta, cursor } = self;
        if cursor.given > 0 {
            return cursor.further(delta.source);
        }
        let indexed = match delta.fields {
            Walked::Indexed(delta) => Some(delta),
            Walked::Own(_) => None,
        };
        cursor.first(delta.source, &delta.fields, indexed)
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

impl core::fmt::Debug for ToolCall<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("ToolCall")
            .field("index", &self.index())
            .field("id", &self.id())
            .field("name", &self.name())
            .field("arguments", &self.arguments())
            .finish()
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
