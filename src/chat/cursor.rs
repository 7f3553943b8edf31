//! A chunk's deltas, one after the other, from its list.

use super::fields::own_value;
use super::index::{call, CallIndex, Index};
use super::list::put_choice;
use super::page::{DeltaList, How, Item, Items};
use super::parts::{ContentPart, PartsCursor, ReasoningDetails};
use super::pass::{choice_at, further_choice, Pass};
use super::read::{error_of, usage_of};
use super::scalar::{index_number, input_of, member_of, text_of};
use super::views::FinishReason;
use crate::delta::{Delta, Kind, Meta, Part, FLAG_CUSTOM, FLAG_NUMBER, FLAG_PLAIN};
use crate::json::{Kind as Json, Text};

/// Which delta of a chunk comes next: offsets, plain data that can be kept while the chunk is not at hand.
#[derive(Clone, Debug)]
pub(crate) struct Cursor {
    /// The next item of the page.
    at: u8,
    /// The page is not the one in the index, or more of the item at hand comes.
    is_further: bool,
    is_on_own_page: bool,
    tail: Tail,
    inner: Inner,
    /// The page of choices that did not fit on that of the index.
    page: DeltaList,
}

/// What comes behind the choices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tail {
    Usage,
    Error,
    End,
}

/// The deltas that are left of an item which has several.
#[derive(Clone, Copy, Debug)]
enum Inner {
    None,
    /// How far `reasoning_details` were read.
    Details(u32),
    Parts(PartsCursor),
    /// The arguments of a function whose name was given.
    Arguments(Part),
    Calls(Calls),
}

/// How far an array of tool calls was read.
#[derive(Clone, Copy, Debug)]
struct Calls {
    /// One past the call given last.
    offset: u32,
    /// How many were given.
    given: u32,
    /// What is left to give of the last one.
    name: Part,
    arguments: Part,
    flags: u16,
}

impl Cursor {
    /// Before the first delta.
    pub(crate) const START: Cursor = Cursor {
        at: 0,
        is_further: false,
        is_on_own_page: false,
        tail: Tail::Usage,
        inner: Inner::None,
        page: DeltaList::EMPTY,
    };

    /// Back to before the first delta, of whichever chunk.
    #[inline(always)]
    pub(crate) fn restart(&mut self) {
        (self.at, self.is_further, self.is_on_own_page, self.tail) = (0, false, false, Tail::Usage);
        self.inner = Inner::None;
    }

    /// The deltas of these items, and nothing behind them.
    pub(super) fn of_items(items: &Items) -> Self {
        let mut page = DeltaList::EMPTY;
        page.add_choice(items.as_slice(), 1, 0);
        Cursor { is_further: true, is_on_own_page: true, tail: Tail::End, page, ..Cursor::START }
    }

    /// The next delta. The chunk must be the same at each call.
    #[inline(always)]
    pub(crate) fn next(&mut self, payload: &[u8], index: &Index) -> Option<Delta> {
        if !self.is_further {
            if let Some(item) = index.list.get(self.at) {
                if matches!(item.how, How::Text | How::Raw) {
                    self.at = self.at.wrapping_add(1);
                    return Some(Delta { choice: item.choice, text: item.part(), ..Delta::new(item.kind) });
                }
            } else if index.list.rest == 0 && !index.list.has_usage && !index.list.has_error {
                return None;
            }
        }
        self.next_of_any(payload, index)
    }

    /// Back to before the delta that was given last: an item that has no other.
    #[inline]
    pub(crate) fn back(&mut self) {
        self.at = self.at.wrapping_sub(1);
    }

    /// The name that the next delta holds, of the tool call that was just given; empty if it has none.
    #[inline]
    pub(crate) fn name_of_call(&self) -> Part {
        match self.inner {
            Inner::Calls(Calls { name, .. }) => name,
            _ => Part::NONE,
        }
    }

    #[inline(never)]
    fn next_of_any(&mut self, payload: &[u8], index: &Index) -> Option<Delta> {
        loop {
            let page = if self.is_on_own_page { &self.page } else { &index.list };
            if let Some(item) = page.get(self.at).copied() {
                let delta = match item.how {
                    How::Text | How::Raw | How::Fragment | How::Reason | How::NativeReason => {
                        self.at = self.at.wrapping_add(1);
                        return Some(whole(item, payload));
                    }
                    How::Parts => self.part(item, payload),
                    How::Details => self.detail(item, payload),
                    How::Function => self.function(item, payload),
                    How::Calls => self.call(item, payload),
                };
                self.is_further = true;
                if delta.is_some() {
                    return delta;
                }
                self.inner = Inner::None;
                self.at = self.at.wrapping_add(1);
                self.is_further = self.is_on_own_page;
                continue;
            }
            let (rest, skip) = (page.rest, page.skip);
            if self.tail != Tail::End && rest != 0 {
                self.turn_page(payload, rest, skip);
                continue;
            }
            return self.tail(payload, index);
        }
    }

    /// Fills the own page with the choices from `start` on.
    fn turn_page(&mut self, payload: &[u8], start: u32, skip: u8) {
        self.page.clear();
        (self.at, self.is_further, self.is_on_own_page) = (0, true, true);
        let mut next = choice_at(payload, start as usize);
        let mut skip = skip;
        while let Some(choice) = next {
            let mut items = Items::new(false);
            put_choice(payload, &choice.fields, choice.number, &mut items);
            self.page.add_choice(items.as_slice(), choice.start as u32, skip);
            if self.page.rest != 0 {
                return;
            }
            skip = 0;
            next = further_choice(payload, choice.end);
        }
    }

    /// What stands beside the choices.
    fn tail(&mut self, payload: &[u8], index: &Index) -> Option<Delta> {
        self.is_further = true;
        if self.tail == Tail::Usage {
            self.tail = Tail::Error;
            if index.list.has_usage {
                if let Some(usage) = usage_of(index, payload) {
                    return Some(Delta { text: Part::raw(payload, usage), ..Delta::new(Kind::Usage) });
                }
            }
        }
        if self.tail == Tail::Error {
            self.tail = Tail::End;
            if index.list.has_error {
                return match error_of(index, payload)? {
                    Ok(value) => Some(Delta { text: Part::raw(payload, value), ..Delta::new(Kind::Error) }),
                    Err(text) => Some(Delta {
                        flags: FLAG_PLAIN,
                        text: Part::of(payload, Text::verbatim(text)),
                        ..Delta::new(Kind::Error)
                    }),
                };
            }
        }
        None
    }

    fn part(&mut self, item: Item, payload: &[u8]) -> Option<Delta> {
        let mut cursor = match self.inner {
            Inner::Parts(cursor) => cursor,
            _ => PartsCursor::default(),
        };
        let part = cursor.next(item.part().value(payload));
        self.inner = Inner::Parts(cursor);
        Some(match part? {
            ContentPart::Text(text) => text_delta(item, Kind::Content, payload, text),
            ContentPart::Thinking(text) => text_delta(item, Kind::Reasoning, payload, text),
        })
    }

    fn detail(&mut self, item: Item, payload: &[u8]) -> Option<Delta> {
        let at = if let Inner::Details(at) = self.inner { at } else { 0 };
        let at = if at == u32::MAX { usize::MAX } else { at as usize };
        let mut details = ReasoningDetails::from(Some(item.part().value(payload)), at);
        let text = details.find_map(|item| item.text());
        self.inner = Inner::Details(u32::try_from(details.at()).unwrap_or(u32::MAX));
        Some(text_delta(item, Kind::Reasoning, payload, text?))
    }

    fn function(&mut self, item: Item, payload: &[u8]) -> Option<Delta> {
        let arguments = match self.inner {
            Inner::Arguments(arguments) => arguments,
            _ => {
                let value = item.part().value(payload);
                let arguments = member_of(value, "arguments").and_then(input_of);
                let arguments = arguments.map_or(Part::NONE, |text| Part::of(payload, text));
                self.inner = Inner::Arguments(arguments);
                if let Some(name) = member_of(value, "name").and_then(text_of) {
                    return Some(text_delta(item, Kind::FunctionName, payload, name));
                }
                arguments
            }
        };
        self.inner = Inner::Arguments(Part::NONE);
        let delta = Delta { choice: item.choice, text: arguments, ..Delta::new(Kind::FunctionArguments) };
        (!arguments.is_empty()).then_some(delta)
    }

    fn call(&mut self, item: Item, payload: &[u8]) -> Option<Delta> {
        let mut calls = match self.inner {
            Inner::Calls(calls) => calls,
            _ => Calls { offset: 0, given: 0, name: Part::NONE, arguments: Part::NONE, flags: 0 },
        };
        let delta = calls.next(item, payload);
        self.inner = Inner::Calls(calls);
        delta
    }
}

impl Calls {
    /// What is left of the call at hand, or the next one.
    fn next(&mut self, item: Item, payload: &[u8]) -> Option<Delta> {
        let position = self.given.wrapping_sub(1);
        let more =
            |kind, text| Delta { flags: self.flags, choice: item.choice, call: position, text, ..Delta::new(kind) };
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
        let mut fields = CallIndex::EMPTY;
        self.offset = Pass::call_at(payload, item.start as usize, self.offset as usize, &mut fields)? as u32;
        let value = |member| fields.get(member).map(|span| own_value(payload, span));
        let part = |text: Option<Text<'_>>| text.map_or(Part::NONE, |text| Part::of(payload, text));
        let index = value(call::INDEX).and_then(index_number);
        let is_custom = value(call::CUSTOM).is_some_and(|value| value.kind() == Json::Object);
        self.flags = if is_custom { FLAG_CUSTOM } else { 0 };
        self.name = part(value(call::NAME).and_then(text_of));
        self.arguments = part(value(call::ARGUMENTS).and_then(input_of));
        let position = self.given;
        self.given = position.saturating_add(1);
        Some(Delta {
            flags: self.flags | if index.is_some() { FLAG_NUMBER } else { 0 },
            choice: item.choice,
            call: position,
            number: u64::from(index.unwrap_or(0)),
            text: part(value(call::ID).and_then(text_of)),
            aux: part(value(call::TYPE).and_then(text_of)),
            ..Delta::new(Kind::ToolCall)
        })
    }
}

fn text_delta(item: Item, kind: Kind, payload: &[u8], text: Text<'_>) -> Delta {
    Delta { choice: item.choice, text: Part::of(payload, text), ..Delta::new(kind) }
}

/// The delta of an item that has one.
fn whole(item: Item, payload: &[u8]) -> Delta {
    let delta = Delta { choice: item.choice, ..Delta::new(item.kind) };
    let text = item.part();
    match item.how {
        How::Fragment => {
            let flags = if item.len > 0 { FLAG_NUMBER } else { 0 };
            Delta { flags, number: u64::from(item.start), ..delta }
        }
        How::Reason => Delta { code: FinishReason::of(text.text(payload)).kind().number(), text, ..delta },
        How::NativeReason => Delta { code: Meta::NativeFinishReason as u32, text, ..delta },
        _ => Delta { text, ..delta },
    }
}
