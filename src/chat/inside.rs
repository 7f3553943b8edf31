//! The deltas of an item that has several: content parts, reasoning details, a function, tool calls, or an event of
//! another protocol.

use super::call::ToolCall;
use super::others::CallMembers;
use super::page::{How, PageItem};
use super::parts::{detail_text, ContentPart, PartsCursor, ReasoningDetails};
use super::scalar::{input_of, member_of, text_of};
use crate::delta::{Called, Delta, Kind, Part, FLAG_CUSTOM, FLAG_NULL_ID, FLAG_NUMBER, FLAG_SELECTS, ONLY_EMPTY};
use crate::dialect::{self, Container, Plan, Walk};
use crate::json::Text;

/// An item that has several deltas, and how far they were read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Inside {
    choice: u32,
    /// Where the item lies in the payload.
    part: Part,
    /// The flag of the item's deltas.
    flags: u16,
    progress: ItemProgress,
}

/// How far the deltas of an item were read.
#[derive(Clone, Copy, Debug)]
enum ItemProgress {
    /// How far `reasoning_details` were read.
    Details(Container),
    Parts(PartsCursor),
    /// A function: how many of its two texts, the name and the arguments, were read.
    Function {
        read: u8,
    },
    Calls(Calls),
    /// An event of another protocol.
    Event(Walk),
}

/// How far an array of tool calls was read.
#[derive(Clone, Copy, Debug)]
struct Calls {
    /// The offset in the array one past the call that was returned last, and one past the call before it.
    offset: u32,
    before: u32,
    /// How many calls were returned.
    returned: u32,
    /// The deltas of that call that are still pending.
    rest: PendingParts,
    flags: u16,
}

/// The deltas of a tool call that are still pending.
#[derive(Clone, Copy, Debug)]
enum PendingParts {
    /// The name and the arguments of the call, then, unless `others` is 0, the other members of the call, which begins
    /// at that offset.
    Texts {
        name: Part,
        arguments: Part,
        others: u32,
    },
    Members(CallMembers),
}

impl PendingParts {
    const NOTHING: PendingParts = PendingParts::Texts { name: Part::NONE, arguments: Part::NONE, others: 0 };
}

impl Inside {
    /// Returns the state before the first delta of an item, or `None` if the item has only one delta.
    pub(super) fn of(item: PageItem, part: Part) -> Option<Self> {
        let progress = match item.how {
            How::Parts => ItemProgress::Parts(PartsCursor::START),
            How::Details => ItemProgress::Details(Container::at(0)),
            How::Function => ItemProgress::Function { read: 0 },
            How::Calls => ItemProgress::Calls(Calls::START),
            How::Event => ItemProgress::Event(Walk::START),
            How::Text | How::Raw | How::Whole | How::Fragment | How::Reason | How::NativeReason => return None,
            How::Slot | How::Summary => return None,
        };
        Some(Inside { choice: item.choice, part, flags: item.flags(), progress })
    }

    /// Returns the name and the arguments of the current tool call that are still pending.
    #[inline]
    pub(super) fn called(&self) -> Called {
        match self.progress {
            ItemProgress::Calls(Calls { rest: PendingParts::Texts { name, arguments, .. }, .. }) => {
                Called { name, arguments }
            }
            ItemProgress::Event(walk) => walk.called(),
            _ => Called::NOTHING,
        }
    }

    /// Goes back to before the last delta, which of an event of another protocol is a finish reason or the end of a
    /// call, and otherwise a tool call.
    pub(super) fn back(&mut self) {
        match &mut self.progress {
            ItemProgress::Event(walk) => walk.back(),
            ItemProgress::Calls(calls) => calls.back(),
            _ => {}
        }
    }

    /// Returns the next delta of a chunk with this plan.
    #[inline(never)]
    pub(super) fn next(&mut self, payload: &[u8], plan: &Plan) -> Option<Delta> {
        let delta = self.next_unflagged(payload, plan)?;
        Some(Delta { flags: delta.flags | self.flags, ..delta })
    }

    fn next_unflagged(&mut self, payload: &[u8], plan: &Plan) -> Option<Delta> {
        let Inside { choice, part, .. } = *self;
        let value = || part.value(payload);
        let text = |kind, text| Delta { choice, text: Part::of(payload, text), ..Delta::new(kind) };
        match &mut self.progress {
            ItemProgress::Parts(cursor) => match cursor.next(value())? {
                ContentPart::Text(part) => Some(text(Kind::Content, part)),
                ContentPart::Thinking(part) => Some(text(Kind::Reasoning, part)),
                ContentPart::Other(part) => {
                    Some(Delta { choice, text: Part::raw(payload, part), ..Delta::new(Kind::Native) })
                }
            },
            ItemProgress::Details(items) => {
                let mut details = ReasoningDetails::from(Some(value()), *items);
                let found = details.find_map(detail_text);
                *items = details.items();
                found.map(|found| text(Kind::Reasoning, found))
            }
            ItemProgress::Function { read } => {
                while let Some(kind) = [Kind::FunctionName, Kind::FunctionArguments].get(usize::from(*read)).copied() {
                    *read = read.saturating_add(1);
                    let found = match kind {
                        Kind::FunctionName => member_of(value(), "name").and_then(text_of),
                        _ => member_of(value(), "arguments").and_then(input_of),
                    };
                    if let Some(found) = found {
                        return Some(text(kind, found));
                    }
                }
                None
            }
            ItemProgress::Calls(calls) => calls.next(choice, part, payload),
            ItemProgress::Event(walk) => dialect::next(walk, payload, plan),
        }
    }
}

/// Whether an item has a delta.
pub(super) fn has_delta(item: &PageItem, payload: &[u8]) -> bool {
    let says = |delta: Delta| delta.code != ONLY_EMPTY;
    Inside::of(*item, item.part()).is_none_or(|mut inside| inside.next(payload, &Plan::NONE).is_some_and(says))
}

impl Calls {
    const START: Calls = Calls { offset: 0, before: 0, returned: 0, rest: PendingParts::NOTHING, flags: 0 };

    /// Goes back to before the last delta, which began a call.
    fn back(&mut self) {
        *self = Calls { offset: self.before, returned: self.returned.wrapping_sub(1), ..Calls::START };
    }

    /// Returns the next delta of the current call, or the first delta of the next call.
    #[inline(never)]
    fn next(&mut self, choice: u32, array: Part, payload: &[u8]) -> Option<Delta> {
        let position = self.returned.wrapping_sub(1);
        let more = |kind, text| Delta { flags: self.flags, choice, call: position, text, ..Delta::new(kind) };
        if let PendingParts::Texts { name, arguments, others } = &mut self.rest {
            for (kind, text) in [(Kind::ToolName, name), (Kind::ToolArguments, arguments)] {
                if !text.is_empty() {
                    return Some(more(kind, core::mem::replace(text, Part::NONE)));
                }
            }
            if *others > 0 {
                self.rest = PendingParts::Members(CallMembers::of(*others));
            }
        }
        if let PendingParts::Members(members) = &mut self.rest {
            if let Some(delta) = members.next(payload, choice, position) {
                return Some(delta);
            }
        }
        loop {
            let (call, end) = ToolCall::after(array.bytes(payload), self.offset as usize)?;
            (self.before, self.offset) = (self.offset, end as u32);
            let part = |text: Option<Text<'_>>| text.map_or(Part::NONE, |text| Part::of(payload, text));
            let index = call.index();
            let flag = |set: bool, flag: u16| if set { flag } else { 0 };
            self.flags = flag(call.is_custom(), FLAG_CUSTOM) | flag(call.has_null_id(), FLAG_NULL_ID);
            let (id, name) = (part(call.id()), part(call.name()));
            let arguments = part(call.arguments().or_else(|| call.empty_arguments()));
            let others = call.with_others().map_or(0, |call| Part::raw(payload, call).start);
            self.rest = PendingParts::Texts { name, arguments, others };
            let position = self.returned;
            self.returned = position.saturating_add(1);
            let is_empty = id.is_empty() && name.is_empty() && arguments.is_empty();
            let code = if is_empty && others == 0 { ONLY_EMPTY } else { 0 };
            if code == ONLY_EMPTY && arguments.start == 0 {
                continue;
            }
            return Some(Delta {
                flags: self.flags | flag(index.is_some(), FLAG_NUMBER) | flag(is_empty, FLAG_SELECTS),
                choice,
                call: position,
                code,
                number: u64::from(index.unwrap_or(0)),
                text: id,
                aux: part(call.kind()),
                ..Delta::new(Kind::ToolCall)
            });
        }
    }
}
