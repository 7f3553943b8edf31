//! Expands the items of a chunk to deltas, one after the other.

use super::choices::{choice_at, further_choice};
use super::index::Index;
use super::inside::Inside;
use super::list::{put_choice, put_message};
use super::page::{Behind, ChoiceItems, How, PageItem};
use super::read::{error_of, usage_of};
use super::views::FinishReason;
use crate::delta::{Called, Delta, Kind, Meta, Part, FLAG_NATIVE, FLAG_NUMBER, FLAG_PLAIN, FLAG_SELECTS, ONLY_EMPTY};
use crate::dialect::Plan;
use crate::json::{Text, Value};

/// The position of the next delta of a chunk. Plain data without pointers, so that it can be stored while the payload
/// is elsewhere.
#[derive(Clone, Copy, Debug)]
pub struct DeltaCursor {
    pub(crate) page: PageCursor,
    tail: AfterChoices,
    /// The offset of the current choice, if its items are not on the page; otherwise 0.
    choice: u32,
    /// The place of that choice in the array.
    place: u32,
    /// The current item, if it has several deltas.
    inside: Option<Inside>,
}

/// The part of a [`DeltaCursor`] that the usual deltas need. It is small, so that it stays in registers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PageCursor {
    /// The number of the next item on the page, or in the choice that the cursor is in.
    at: u8,
    /// Whether the next delta is not an item of the page.
    is_off_page: bool,
    /// The kind of the last item.
    last: Option<Kind>,
}

/// What the next delta of a chunk is, if it is neither a text nor a raw value on the page.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Ahead {
    /// Two deltas: a tool call that has only an index, and a fragment of its arguments.
    Fragment { choice: u32, index: u32, arguments: Part },
    /// A text of an event of another protocol, with its slot.
    Slot(Delta),
    /// Any other delta: [`DeltaCursor::next_of_any`] returns it.
    Other,
    /// The chunk has no more deltas.
    End,
}

/// The next delta after the choices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AfterChoices {
    /// The choices are not over.
    Choices,
    Usage,
    Error,
    End,
}

impl PageCursor {
    /// The cursor before the first delta.
    pub(crate) const START: PageCursor = PageCursor { at: 0, is_off_page: false, last: None };

    /// Returns the next delta if it is a text or a raw value on the page: its kind, its choice, and its range in the
    /// payload. Otherwise returns the next item of the page, if there is one. Each call must pass the index of the same
    /// chunk.
    #[inline(always)]
    pub(crate) fn next_on_page<'i>(&mut self, index: &'i Index) -> Result<(Kind, u32, Part), Option<&'i PageItem>> {
        while !self.is_off_page {
            let Some(item) = index.list.get(self.at) else { break };
            if !matches!(item.how, How::Text | How::Raw) {
                return Err(Some(item));
            }
            self.at = self.at.wrapping_add(1);
            let part = index.part(item);
            if part.len > 0 && !(item.is_fallback() && self.last == Some(item.kind)) {
                self.last = Some(item.kind);
                return Ok((item.kind, item.choice, part));
            }
        }
        Err(None)
    }

    /// Returns what the next delta is, given the item that [`next_on_page`](PageCursor::next_on_page) returned.
    #[inline(always)]
    pub(crate) fn ahead(&self, item: Option<&PageItem>, index: &Index) -> Ahead {
        match item {
            None if !self.is_off_page && index.list.behind == Behind::NOTHING => Ahead::End,
            Some(item) if item.how == How::Fragment => {
                let next = index.list.get(self.at.wrapping_add(1));
                let arguments = next.filter(|next| next.kind == Kind::ToolArguments).map(|next| index.part(next));
                match arguments.filter(|text| text.len > 0) {
                    Some(text) => Ahead::Fragment { choice: item.choice, index: item.start, arguments: text },
                    None => Ahead::Other,
                }
            }
            Some(item) if matches!(item.how, How::Slot | How::Summary) => match index.part(item) {
                text if text.len > 0 => Ahead::Slot(in_slot(item, text)),
                _ => Ahead::Other,
            },
            _ => Ahead::Other,
        }
    }

    /// Passes over an [`Ahead::Slot`] of this kind, or the tool call that an [`Ahead::Fragment`] begins with.
    #[inline(always)]
    pub(crate) fn pass(&mut self, kind: Kind) {
        (self.at, self.last) = (self.at.wrapping_add(1), Some(kind));
    }

    /// Passes over both deltas of an [`Ahead::Fragment`].
    #[inline(always)]
    pub(crate) fn pass_fragment(&mut self) {
        (self.at, self.last) = (self.at.wrapping_add(2), Some(Kind::ToolArguments));
    }

    /// Goes back to before the last delta, which was an item of the page.
    #[inline(always)]
    pub(crate) fn back(&mut self) {
        self.at = self.at.wrapping_sub(1);
        // The delta may be a fallback, which would be left out after a delta of its own kind.
        self.last = None;
    }
}

impl DeltaCursor {
    /// Returns a cursor before the first delta.
    #[inline(always)]
    pub(crate) const fn new() -> Self {
        DeltaCursor::of_page(PageCursor::START)
    }

    /// Returns a cursor whose next delta is an item of the page.
    #[inline(always)]
    pub(crate) const fn of_page(page: PageCursor) -> Self {
        DeltaCursor { page, tail: AfterChoices::Choices, choice: 0, place: 0, inside: None }
    }

    /// If only the usage is left after the items of the page, moves to the usage. Returns whether that is so.
    #[inline(always)]
    pub(crate) fn is_at_usage(&mut self, index: &Index) -> bool {
        let is_left =
            !self.page.is_off_page && index.list.get(self.page.at).is_none() && index.list.behind == Behind::USAGE;
        if is_left {
            (self.tail, self.page.is_off_page) = (AfterChoices::Usage, true);
        }
        is_left
    }

    /// Whether the next delta is not an item of the page.
    #[inline]
    pub(crate) fn is_off_page(&self) -> bool {
        self.page.is_off_page
    }

    /// Goes back to before the last delta, which must be the only one of its item, a tool call, or one of those that
    /// an event of another protocol [can repeat](Inside::back).
    #[inline]
    pub(crate) fn back(&mut self) {
        match &mut self.inside {
            Some(inside) => inside.back(),
            None => self.page.back(),
        }
    }

    /// Returns the name and the arguments that the next deltas of a tool call report, if the last delta was the call
    /// itself. Empty for a [`How::Fragment`].
    #[inline]
    pub(crate) fn called(&self) -> Called {
        self.inside.as_ref().map_or(Called::NOTHING, Inside::called)
    }

    /// Whether the chunk has no more deltas.
    #[inline]
    pub(crate) fn is_over(&self) -> bool {
        self.tail == AfterChoices::End
    }

    /// Whether the last delta is one of several deltas of its item.
    pub(crate) fn is_inside(&self) -> bool {
        self.inside.is_some()
    }

    /// Returns the next delta of any kind.
    #[inline(never)]
    pub(crate) fn next_of_any(&mut self, payload: &[u8], index: &Index) -> Option<Delta> {
        loop {
            if let Some(inside) = &mut self.inside {
                if let Some(delta) = inside.next(payload, &index.plan) {
                    return Some(delta);
                }
                self.inside = None;
                self.page.is_off_page = self.choice != 0;
            }
            if self.tail != AfterChoices::Choices {
                return self.tail(payload, index);
            }
            let item =
                if self.choice != 0 { self.item_off_page(payload) } else { index.list.get(self.page.at).copied() };
            match item {
                Some(item) => {
                    self.page.at = self.page.at.wrapping_add(1);
                    let part = index.part(&item);
                    if part.len == 0 || item.is_fallback() && self.page.last == Some(item.kind) {
                        continue;
                    }
                    if item.how == How::Fragment && self.choice == 0 && is_void(index, self.page.at.wrapping_sub(1)) {
                        return Some(self.void(index, &item));
                    }
                    let before = self.page.last.replace(item.kind);
                    match Inside::of(item, part) {
                        None => return Some(only_delta(item, part, payload)),
                        inside => (self.inside, self.page.is_off_page) = (inside, true),
                    }
                    if item.how == How::Details {
                        // The `reasoning_details` of a template may have no text in this event. Then the next member
                        // with reasoning counts.
                        let first = self.inside.as_mut().and_then(|inside| inside.next(payload, &index.plan));
                        if first.is_some() {
                            return first;
                        }
                        (self.inside, self.page.is_off_page, self.page.last) = (None, self.choice != 0, before);
                    }
                }
                // After the page come the choices that it had no room for.
                None if self.choice == 0 && index.list.behind.has(Behind::CHOICES) => {
                    (self.choice, self.place) = index.list.rest;
                    (self.page.at, self.page.is_off_page) = (index.list.skip, true);
                }
                None => (self.tail, self.page.is_off_page) = (AfterChoices::Usage, true),
            }
        }
    }

    /// Returns the delta of a fragment whose arguments are empty. They are in its `aux`.
    #[cold]
    fn void(&self, index: &Index, fragment: &PageItem) -> Delta {
        let aux = index.list.get(self.page.at).map_or(Part::NONE, |arguments| index.part(arguments));
        let (flags, number) = (FLAG_NUMBER | FLAG_SELECTS, u64::from(fragment.start));
        Delta { flags, choice: fragment.choice, code: ONLY_EMPTY, number, aux, ..Delta::new(Kind::ToolCall) }
    }

    /// Returns the next item of the choices that are not on the page. Walks the current choice again for each item,
    /// because most choices have only one.
    #[inline(never)]
    fn item_off_page(&mut self, payload: &[u8]) -> Option<PageItem> {
        let mut choice = choice_at(payload, self.choice as usize, self.place)?;
        loop {
            let mut room = [PageItem::NONE; ChoiceItems::OF_CHOICE];
            let mut items = ChoiceItems::new(&mut room, false);
            put_choice(payload, &choice.fields, choice.number, &mut items);
            self.choice = choice.start as u32;
            self.page.last = self.page.last.filter(|_| self.page.at > 0);
            let item = items.as_slice().get(usize::from(self.page.at)).copied();
            if item.is_some() {
                return item;
            }
            self.page.at = 0;
            self.place = self.place.saturating_add(1);
            choice = further_choice(payload, choice.end, self.place)?;
        }
    }

    /// Returns the usage, if [`is_at_usage`](DeltaCursor::is_at_usage) returned `true`. No delta follows the usage.
    #[inline(never)]
    pub(crate) fn last_usage(&mut self, payload: &[u8], index: &Index) -> Option<Delta> {
        self.tail(payload, index)
    }

    /// Returns the next delta after the choices: the usage, then the error.
    #[inline(always)]
    fn tail(&mut self, payload: &[u8], index: &Index) -> Option<Delta> {
        if self.tail == AfterChoices::Usage {
            self.tail = if index.list.behind.has(Behind::ERROR) { AfterChoices::Error } else { AfterChoices::End };
            if index.list.behind.has(Behind::USAGE) {
                if let Some(usage) = usage_of(index, payload) {
                    let (flags, code) =
                        index.plan.protocol().map_or((0, 0), |protocol| (FLAG_NATIVE, u32::from(protocol as u8)));
                    return Some(Delta { flags, code, text: Part::raw(payload, usage), ..Delta::new(Kind::Usage) });
                }
            }
        }
        if self.tail == AfterChoices::Error {
            self.tail = AfterChoices::End;
            return match error_of(index, payload)? {
                Ok(value) => Some(Delta { text: Part::raw(payload, value), ..Delta::new(Kind::Error) }),
                Err(text) => Some(Delta {
                    flags: FLAG_PLAIN,
                    text: Part::of(payload, Text::verbatim(text)),
                    ..Delta::new(Kind::Error)
                }),
            };
        }
        None
    }
}

/// Iterates over the deltas of a `message` that is read alone, without a chunk and its page.
pub(crate) struct ItemDeltas<'a> {
    payload: &'a [u8],
    items: [PageItem; ChoiceItems::OF_CHOICE],
    len: usize,
    at: usize,
    inside: Option<Inside>,
}

impl<'a> ItemDeltas<'a> {
    /// Returns the deltas of `message`, which is raw JSON.
    pub(crate) fn of(message: &'a [u8]) -> Self {
        let mut room = [PageItem::NONE; ChoiceItems::OF_CHOICE];
        let mut items = ChoiceItems::new(&mut room, false);
        put_message(message, Value::from_raw(message), 0, &mut items);
        let len = items.as_slice().len();
        // The first item is the message itself.
        ItemDeltas { payload: message, items: room, len, at: 1, inside: None }
    }
}

impl Iterator for ItemDeltas<'_> {
    type Item = Delta;

    fn next(&mut self) -> Option<Delta> {
        loop {
            if let Some(delta) = self.inside.as_mut().and_then(|inside| inside.next(self.payload, &Plan::NONE)) {
                return Some(delta);
            }
            let item = *self.items.get(..self.len)?.get(self.at)?;
            self.at = self.at.saturating_add(1);
            self.inside = Inside::of(item, item.part());
            if self.inside.is_none() {
                return Some(only_delta(item, item.part(), self.payload));
            }
        }
    }
}

/// Whether the fragment at this place of the page has empty arguments, because a template recognized the event.
#[inline(always)]
fn is_void(index: &Index, at: u8) -> bool {
    let next = index.list.get(at.wrapping_add(1));
    next.is_some_and(|next| next.kind == Kind::ToolArguments && index.part(next).len == 0)
}

/// Returns the delta of an item that has only one.
#[inline(always)]
fn only_delta(item: PageItem, text: Part, payload: &[u8]) -> Delta {
    let delta = Delta { choice: item.choice, ..Delta::new(item.kind) };
    match item.how {
        How::Fragment => Delta { flags: FLAG_NUMBER, number: u64::from(text.start), ..delta },
        How::Reason => Delta { code: reason_code(text, payload), text, ..delta },
        How::NativeReason => Delta { code: Meta::NativeFinishReason as u32, text, ..delta },
        How::Whole => Delta { flags: item.flags(), text, ..delta },
        How::Slot | How::Summary => in_slot(&item, text),
        _ => Delta { text, ..delta },
    }
}

/// Returns the delta of an item that is a text with a slot.
#[inline(always)]
fn in_slot(item: &PageItem, text: Part) -> Delta {
    let number = u64::from(item.choice >> 16) << 32 | u64::from(item.choice & 0xffff);
    let code = u32::from(item.how == How::Summary);
    Delta { flags: FLAG_NUMBER, code, number, text, ..Delta::new(item.kind) }
}

#[inline(never)]
fn reason_code(text: Part, payload: &[u8]) -> u32 {
    FinishReason::of(text.text(payload)).kind().number()
}
