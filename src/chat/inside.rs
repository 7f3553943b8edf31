//! The deltas of an item that has several: content parts, reasoning details, a function, tool calls.

use super::choices::Pass;
use super::fields::own_value;
use super::index::{call, CallIndex};
use super::page::{How, Item};
use super::parts::{ContentPart, PartsCursor, ReasoningDetails};
use super::scalar::{index_number, input_of, member_of, text_of};
use crate::delta::{Called, Delta, Kind, Part, FLAG_CUSTOM, FLAG_NUMBER};
use crate::json::{Kind as Json, Text};

/// An item that has several deltas.
#[derive(Clone, Copy, Debug)]
pub(super) struct Inside {
    choice: u32,
    /// Where it lies.
    part: Part,
    /// The flag of its deltas.
    flags: u16,
    progress: Progress,
}

/// How far it was read.
#[derive(Clone, Copy, Debug)]
enum Progress {
    /// How far `reasoning_details` were read.
    Details(u32),
    Parts(PartsCursor),
    /// A function, and its arguments once its name was looked for.
    Function {
        arguments: Option<Part>,
    },
    Calls(Calls),
}

/// How far an array of tool calls was read.
#[derive(Clone, Copy, Debug)]
struct Calls {
    /// One past the call given last.
    offset: u32,
    /// How many were given.
    given: u32,
    /// What is still to be emitted of the last one.
    name: Part,
    arguments: Part,
    flags: u16,
}

impl Inside {
    /// `None`: the item has one delta.
    pub(super) fn of(item: Item, part: Part) -> Option<Self> {
        let progress = match item.how {
            How::Parts => Progress::Parts(PartsCursor::default()),
            How::Details => Progress::Details(0),
            How::Function => Progress::Function { arguments: None },
            How::Calls => Progress::Calls(Calls::START),
            How::Text | How::Raw | How::Whole | How::Fragment | How::Reason | How::NativeReason => return None,
        };
        Some(Inside { choice: item.choice, part, flags: item.flags(), progress })
    }

    /// What is left of the current tool call.
    #[inline]
    pub(super) fn called(&self) -> Called {
        match self.progress {
            Progress::Calls(Calls { name, arguments, .. }) => Called { name, arguments },
            _ => Called::NOTHING,
        }
    }

    /// The next delta.
    #[inline(never)]
    pub(super) fn next(&mut self, payload: &[u8]) -> Option<Delta> {
        let delta = self.next_plain(payload)?;
        Some(Delta { flags: delta.flags | self.flags, ..delta })
    }

    fn next_plain(&mut self, payload: &[u8]) -> Option<Delta> {
        let Inside { choice, part, .. } = *self;
        let value = || part.value(payload);
        let text = |kind, text| Delta { choice, text: Part::of(payload, text), ..Delta::new(kind) };
        match &mut self.progress {
            Progress::Parts(cursor) => match cursor.next(value())? {
                ContentPart::Text(part) => Some(text(Kind::Content, part)),
                ContentPart::Thinking(part) => Some(text(Kind::Reasoning, part)),
            },
            Progress::Details(at) => {
                let mut details = ReasoningDetails::from(Some(value()), *at);
                let found = details.find_map(|item| item.text());
                *at = details.at();
                found.map(|found| text(Kind::Reasoning, found))
            }
            Progress::Function { arguments } => match arguments {
                None => {
                    let input = member_of(value(), "arguments").and_then(input_of);
                    let input = *arguments.insert(input.map_or(Part::NONE, |text| Part::of(payload, text)));
                    match member_of(value(), "name").and_then(text_of) {
                        Some(name) => Some(text(Kind::FunctionName, name)),
                        None => {
                            *arguments = Some(Part::NONE);
                            function_arguments(choice, input)
                        }
                    }
                }
                Some(input) => function_arguments(choice, core::mem::replace(input, Part::NONE)),
            },
            Progress::Calls(calls) => calls.next(choice, part, payload),
        }
    }
}

/// Whether an item has a delta.
pub(super) fn has_delta(item: &Item, payload: &[u8]) -> bool {
    Inside::of(*item, item.part()).is_none_or(|mut inside| inside.next(payload).is_some())
}

impl Calls {
    const START: Calls = Calls { offset: 0, given: 0, name: Part::NONE, arguments: Part::NONE, flags: 0 };

    /// What is left of the current call, or the next one.
    #[inline(never)]
    fn next(&mut self, choice: u32, array: Part, payload: &[u8]) -> Option<Delta> {
        let position = self.given.wrapping_sub(1);
        let more = |kind, text| Delta { flags: self.flags, choice, call: position, text, ..Delta::new(kind) };
        if !self.name.is_empty() {
            let delta = more(Kind::ToolName, self.name);
            self.name = Part::NONE;
            return Some(delta);
        }
        if !self.arguments.is_empty() {
            let delta = more(Kind::ToolArguments, self.arguments);
            self.arguments = Part::NONE;
            return Some(delta);
        }
        loop {
            let mut fields = CallIndex::EMPTY;
            self.offset = Pass::call_at(payload, array.start as usize, self.offset as usize, &mut fields)? as u32;
            let value = |member| fields.get(member).map(|span| own_value(payload, span));
            let part = |text: Option<Text<'_>>| text.map_or(Part::NONE, |text| Part::of(payload, text));
            let index = value(call::INDEX).and_then(index_number);
            let is_custom = value(call::CUSTOM).is_some_and(|value| value.kind() == Json::Object);
            self.flags = if is_custom { FLAG_CUSTOM } else { 0 };
            self.name = part(value(call::NAME).and_then(text_of));
            self.arguments = part(value(call::ARGUMENTS).and_then(input_of));
            let position = self.given;
            self.given = position.saturating_add(1);
            let id = part(value(call::ID).and_then(text_of));
            // What has none of these is nothing.
            if id.is_empty() && self.name.is_empty() && self.arguments.is_empty() {
                continue;
            }
            return Some(Delta {
                flags: self.flags | if index.is_some() { FLAG_NUMBER } else { 0 },
                choice,
                call: position,
                number: u64::from(index.unwrap_or(0)),
                text: id,
                aux: part(value(call::TYPE).and_then(text_of)),
                ..Delta::new(Kind::ToolCall)
            });
        }
    }
}

fn function_arguments(choice: u32, text: Part) -> Option<Delta> {
    let delta = Delta { choice, text, ..Delta::new(Kind::FunctionArguments) };
    (!text.is_empty()).then_some(delta)
}
