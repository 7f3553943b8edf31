//! The deltas of a chunk as they are stored: small items, a page of them.

use crate::delta::{Kind, Part};
use crate::json::TextFlags;

/// What the bytes of an item are, and so how deltas are made of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum How {
    /// What is between the quotes of a string.
    Text,
    /// A raw JSON value.
    Raw,
    /// A tool call that has no more than an index, which is `start`; none if `len` is 0.
    Fragment,
    /// A finish reason.
    Reason,
    /// `native_finish_reason`.
    NativeReason,
    /// An array of content parts: a delta for each text.
    Parts,
    /// `reasoning_details`: a delta for each text.
    Details,
    /// An object with a name and arguments (`function_call`).
    Function,
    /// An array of tool calls.
    Calls,
}

/// One or, of a container, several deltas: 16 bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Item {
    /// Where its bytes begin in the payload, and how many there are.
    pub(crate) start: u32,
    pub(crate) len: u32,
    /// The index of its choice.
    pub(crate) choice: u32,
    pub(crate) kind: Kind,
    pub(crate) how: How,
    /// What is known of a string.
    pub(crate) flags: u8,
    /// It counts only if the item before it is not of the same kind.
    pub(crate) is_fallback: bool,
}

const _: () = assert!(core::mem::size_of::<Item>() == 16);

impl Item {
    pub(crate) const NONE: Item =
        Item { start: 0, len: 0, choice: 0, kind: Kind::Role, how: How::Text, flags: 0, is_fallback: false };

    /// Its bytes, as a part of a delta.
    #[inline(always)]
    pub(crate) fn part(&self) -> Part {
        Part { start: self.start, len: self.len, flags: TextFlags::from_bits(u16::from(self.flags)), lead: 0 }
    }
}

/// Items of a page. A choice's deltas are at most [`Items::OF_CHOICE`] items; of more than fit the rest is read once more.
pub(crate) const PAGE: usize = 12;

/// The deltas of a chunk's choices, as far as they fit on a page.
#[derive(Clone, Debug)]
pub(crate) struct DeltaList {
    pub(crate) items: [Item; PAGE],
    pub(crate) len: u8,
    /// How many items of the choice at `rest` are on an earlier page.
    pub(crate) skip: u8,
    /// Behind the choices comes usage.
    pub(crate) has_usage: bool,
    /// And behind that an error.
    pub(crate) has_error: bool,
    /// Where the first choice begins that is not on the page; 0 if all are.
    pub(crate) rest: u32,
}

impl DeltaList {
    pub(crate) const EMPTY: DeltaList =
        DeltaList { items: [Item::NONE; PAGE], len: 0, skip: 0, has_usage: false, has_error: false, rest: 0 };

    #[inline]
    pub(crate) fn clear(&mut self) {
        (self.len, self.skip, self.rest) = (0, 0, 0);
        (self.has_usage, self.has_error) = (false, false);
    }

    /// The item at this place.
    #[inline(always)]
    pub(crate) fn get(&self, at: u8) -> Option<&Item> {
        if at >= self.len {
            return None;
        }
        self.items.get(usize::from(at))
    }

    /// Puts an item behind the others. `false`: the page is full.
    #[inline(always)]
    pub(crate) fn push(&mut self, item: Item) -> bool {
        let Some(slot) = self.items.get_mut(usize::from(self.len)) else { return false };
        *slot = item;
        self.len = self.len.wrapping_add(1);
        true
    }

    /// Puts the items of the choice that begins at `start` behind the others, but for the first `skip`. If they do not
    /// fit, they are left for another page; on an empty page as many are put as fit. Nothing is put behind a choice
    /// that was left.
    pub(crate) fn add_choice(&mut self, items: &[Item], start: u32, skip: u8) {
        if self.rest != 0 {
            return;
        }
        let before = self.len;
        let items = items.get(usize::from(skip)..).unwrap_or_default();
        for item in items {
            if !self.push(*item) {
                self.rest = start;
                self.skip = if before == 0 { skip.saturating_add(self.len) } else { skip };
                self.len = if before == 0 { self.len } else { before };
                return;
            }
        }
    }
}

/// The items of one choice, while they are read.
pub(crate) struct Items {
    items: [Item; Items::OF_CHOICE],
    len: usize,
    /// Texts that are empty are kept, and so is what is void because of an item before it.
    pub(crate) keeps_all: bool,
}

impl Items {
    /// The most items that a choice has: each kind once, and of its tool calls two.
    pub(crate) const OF_CHOICE: usize = 20;

    #[inline]
    pub(crate) fn new(keeps_all: bool) -> Self {
        Items { items: [Item::NONE; Items::OF_CHOICE], len: 0, keeps_all }
    }

    #[inline]
    pub(crate) fn as_slice(&self) -> &[Item] {
        self.items.get(..self.len).unwrap_or_default()
    }

    /// Whether the item that was put last is of this kind.
    #[inline]
    pub(crate) fn ends_with(&self, kind: Kind) -> bool {
        self.as_slice().last().is_some_and(|last| last.kind == kind)
    }

    #[inline]
    pub(crate) fn push(&mut self, item: Item) {
        if item.is_fallback && !self.keeps_all && self.ends_with(item.kind) {
            return;
        }
        if let Some(slot) = self.items.get_mut(self.len) {
            *slot = item;
            self.len = self.len.wrapping_add(1);
        }
    }
}
