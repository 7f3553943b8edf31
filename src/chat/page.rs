//! How the deltas of a chunk are stored: a page of items. An item is a small form of one delta or, for a container such
//! as an array of tool calls, of all its deltas.

use crate::delta::{Kind, Part, FLAG_WHOLE};
use crate::json::TextFlags;

/// What the bytes of an item are, which decides how the item expands to deltas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum How {
    /// The bytes between the quotes of a string.
    Text,
    /// A raw JSON value.
    Raw,
    /// A `message`, or a text or a raw value inside a message; or a choice without deltas, whose kind is `Meta`.
    Whole,
    /// A tool call that has only an index, which is in `start`.
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
    /// A whole event of another protocol.
    Event,
    /// A text of an event of another protocol. `choice` is not the index of a choice, but the
    /// [slot](crate::dialect::OnlyText::slot) of the text.
    Slot,
    /// A text with a slot, of a summary.
    Summary,
}

/// One delta or, for a container, several: 16 bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PageItem {
    /// The offsets at which its bytes begin and end, each counted from the base of its segment.
    pub(crate) start: u32,
    pub(crate) end: u32,
    /// The index of its choice.
    pub(crate) choice: u32,
    pub(crate) kind: Kind,
    pub(crate) how: How,
    /// The [`TextFlags`] of a string that lies in one segment.
    pub(crate) flags: u8,
    /// The segment of `start`, that of `end` 4 bits higher, [`FALLBACK`](PageItem::FALLBACK) and
    /// [`WHOLE`](PageItem::WHOLE).
    pub(crate) segments: u8,
}

const _: () = assert!(core::mem::size_of::<PageItem>() == 16);

impl How {
    /// Whether the bytes of the item lie between the quotes of a string that may be a hole of a template.
    pub(crate) fn is_text(self) -> bool {
        matches!(self, How::Text | How::Slot | How::Summary)
    }
}

impl PageItem {
    pub(crate) const NONE: PageItem =
        PageItem { start: 0, end: 0, choice: 0, kind: Kind::Role, how: How::Text, flags: 0, segments: 0 };

    /// The bit of `segments` for an item that counts only if the delta before it is of another kind.
    pub(crate) const FALLBACK: u8 = 0x80;

    /// The bit of `segments` for a `message` and its items.
    pub(crate) const WHOLE: u8 = 0x08;

    /// Returns where the bytes of the item lie, for an item of a fresh pass, whose segments all begin at 0.
    pub(crate) fn part(&self) -> Part {
        let flags = TextFlags::from_bits(u16::from(self.flags));
        Part { start: self.start, len: self.end.wrapping_sub(self.start), flags, lead: 0 }
    }

    #[inline(always)]
    pub(crate) fn is_fallback(&self) -> bool {
        self.segments & PageItem::FALLBACK != 0
    }

    /// Returns the flag of the item's deltas.
    #[inline(always)]
    pub(crate) fn flags(&self) -> u16 {
        if self.segments & PageItem::WHOLE != 0 {
            FLAG_WHOLE
        } else {
            0
        }
    }
}

/// The number of items on a page: one content of each of eight choices. A page is part of each idle parser, so it is
/// small. The cursor walks choices that do not fit once more.
pub(crate) const PAGE: usize = 8;

/// A set of what follows the choices of a page, a bit each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Behind(u8);

impl Behind {
    pub(crate) const NOTHING: Behind = Behind(0);
    pub(crate) const USAGE: Behind = Behind(1);
    pub(crate) const ERROR: Behind = Behind(2);
    /// More choices.
    pub(crate) const CHOICES: Behind = Behind(4);

    #[inline]
    pub(crate) fn has(self, other: Behind) -> bool {
        self.0 & other.0 != 0
    }

    #[inline]
    pub(crate) fn add(&mut self, other: Behind, when: bool) {
        if when {
            self.0 |= other.0;
        }
    }
}

/// The deltas of a chunk's choices that fit on a page.
#[derive(Clone, Debug)]
pub(crate) struct DeltaList {
    pub(crate) items: [PageItem; PAGE],
    pub(crate) len: u8,
    /// How many items of the choice at `rest` are on the page already.
    pub(crate) skip: u8,
    /// What follows the choices on the page.
    pub(crate) behind: Behind,
    /// The offset of the first choice that is not on the page, if there is one, and its place in the array.
    pub(crate) rest: (u32, u32),
}

impl DeltaList {
    pub(crate) const EMPTY: DeltaList =
        DeltaList { items: [PageItem::NONE; PAGE], len: 0, skip: 0, behind: Behind::NOTHING, rest: (0, 0) };

    #[inline]
    pub(crate) fn clear(&mut self) {
        (self.len, self.skip, self.rest, self.behind) = (0, 0, (0, 0), Behind::NOTHING);
    }

    /// Returns the item at this place.
    #[inline(always)]
    pub(crate) fn get(&self, at: u8) -> Option<&PageItem> {
        if at >= self.len {
            return None;
        }
        // `at` is less than `len`, and `len` is at most `PAGE`, so the mask changes nothing. It saves the bounds check.
        const { assert!(PAGE == 8) }
        self.items.get(usize::from(at & 7))
    }

    /// Whether the page has room for this number of further items.
    #[inline(always)]
    pub(crate) fn has_room(&self, items: usize) -> bool {
        usize::from(self.len).saturating_add(items) <= PAGE
    }

    /// Appends an item. Returns `false` if the page is full.
    #[inline(always)]
    pub(crate) fn push(&mut self, item: PageItem) -> bool {
        let Some(to) = self.items.get_mut(usize::from(self.len)) else { return false };
        *to = item;
        self.len = self.len.wrapping_add(1);
        true
    }

    /// Appends the items of the choice at `start`, which is its offset and its place in the array, and which `read` reads.
    /// If they do not fit, appends none, or as many as fit if the page is empty: a later walk of the choice finds the
    /// others. Appends nothing after such a choice.
    #[inline(always)]
    pub(crate) fn add_choice(&mut self, start: (u32, u32), read: impl FnOnce(&mut ChoiceItems<'_>)) {
        if self.behind.has(Behind::CHOICES) {
            return;
        }
        let before = self.len;
        let mut items = ChoiceItems::new(self.items.get_mut(usize::from(before)..).unwrap_or_default(), false);
        read(&mut items);
        let (len, is_cut) = (items.len as u8, items.is_cut);
        if !is_cut {
            self.len = before.wrapping_add(len);
            return;
        }
        self.rest = start;
        self.behind.add(Behind::CHOICES, true);
        if before == 0 {
            (self.len, self.skip) = (len, len);
        }
    }
}

/// The items of one choice, while they are read.
pub(crate) struct ChoiceItems<'r> {
    room: &'r mut [PageItem],
    len: usize,
    /// Whether some items did not fit.
    pub(crate) is_cut: bool,
    /// Whether to keep also empty texts, and fallbacks after an item of their kind. A template needs both, because they
    /// may have a delta in another event.
    pub(crate) keeps_all: bool,
}

impl<'r> ChoiceItems<'r> {
    /// The most items that a choice has: one of each kind, two for its tool calls, and those of its `message`.
    pub(crate) const OF_CHOICE: usize = 32;

    #[inline]
    pub(crate) fn new(room: &'r mut [PageItem], keeps_all: bool) -> Self {
        ChoiceItems { room, len: 0, is_cut: false, keeps_all }
    }

    #[inline]
    pub(crate) fn as_slice(&self) -> &[PageItem] {
        self.room.get(..self.len).unwrap_or_default()
    }

    /// Whether the choice has no item.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0 && !self.is_cut
    }

    /// Whether the last item is of this kind.
    #[inline]
    fn ends_with(&self, kind: Kind) -> bool {
        self.as_slice().last().is_some_and(|last| last.kind == kind)
    }

    #[inline]
    pub(crate) fn push(&mut self, mut item: PageItem) {
        if !self.keeps_all {
            if item.is_fallback() && self.ends_with(item.kind) {
                return;
            }
            item.segments &= !PageItem::FALLBACK;
        }
        match self.room.get_mut(self.len) {
            Some(to) => {
                *to = item;
                self.len = self.len.wrapping_add(1);
            }
            None => self.is_cut = true,
        }
    }

    /// Marks the items from `from` on as those of a `message`.
    pub(crate) fn mark_whole(&mut self, from: usize) {
        for item in self.room.get_mut(from..self.len).unwrap_or_default() {
            item.segments |= PageItem::WHOLE;
            if matches!(item.how, How::Text | How::Raw) {
                item.how = How::Whole;
            }
        }
    }
}
