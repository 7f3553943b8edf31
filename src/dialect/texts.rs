//! The texts and arguments of a Responses stream so far, each as a length and a hash, to compare them with what the
//! events that end them repeat.

use super::reported::{ItemPart, Reported};
use crate::json::Text;

/// How many texts are tracked at a time. A new one takes the place of one that is done or, if none is, of the one that
/// began first, which is then compared no more.
const TEXTS: usize = 4;

/// The length of a decoded text and a hash of it, which do not depend on the pieces that it came in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sum {
    /// The hash of all whole words of 8 bytes.
    hash: u64,
    /// The bytes after them.
    tail: u64,
    len: u32,
}

impl Sum {
    const EMPTY: Sum = Sum { hash: 0xcbf2_9ce4_8422_2325, tail: 0, len: 0 };
    const WORD: usize = 8;

    /// Adds up to 8 bytes, the lowest of `word`. Its other bytes are 0.
    #[inline(always)]
    fn add_word(&mut self, word: u64, len: u32) {
        let filled = self.len % 8;
        self.tail |= word.wrapping_shl(filled.wrapping_mul(8));
        self.len = self.len.saturating_add(len);
        if filled.wrapping_add(len) >= 8 {
            self.hash = (self.hash ^ self.tail).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
            // Two shifts, because one by 64 bits shifts nothing.
            self.tail = (word >> 8).wrapping_shr(56u32.wrapping_sub(filled.wrapping_mul(8)));
        }
    }

    #[inline(always)]
    fn add_bytes(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while let Some((word, after)) = rest.split_first_chunk::<{ Sum::WORD }>() {
            self.add_word(u64::from_le_bytes(*word), 8);
            rest = after;
        }
        let word = rest.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
        self.add_word(word, rest.len() as u32);
    }

    /// Adds a text to which `half`, a pending high surrogate or 0, belongs. A high surrogate at its end becomes pending.
    #[inline(always)]
    fn add(&mut self, text: Text<'_>, half: &mut u16) {
        if *half == 0 && text.is_plain() {
            self.add_bytes(text.raw());
        } else {
            self.add_decoded(text, half);
        }
    }

    #[inline(never)]
    fn add_decoded(&mut self, text: Text<'_>, half: &mut u16) {
        let text = if *half == 0 { text } else { text.with_lead(*half) };
        *half = text.trailing_half().unwrap_or(0);
        text.without_trailing_half().take_first(u32::MAX, |bytes| self.add_bytes(bytes));
    }
}

/// A text, and what its deltas added up to.
#[derive(Clone, Copy, Debug)]
struct Told {
    hash: u64,
    tail: u64,
    len: u32,
    /// The pending high surrogate at its end without its upper bits, and [`HALF`], [`DONE`] and [`DIFFERS`].
    marks: u16,
    key: Key,
}

/// A high surrogate is pending.
const HALF: u16 = 1 << 10;
/// An event ended the text.
const DONE: u16 = 1 << 11;
/// An event that ended it differs, so it is compared no more.
const DIFFERS: u16 = 1 << 12;
const _: () = assert!(core::mem::size_of::<Told>() == 24);

/// A part of an output item: the lowest byte of the item's number, and the part's index with [`SUMMARY`]. Of texts that
/// are tracked at the same time, no two have items that are 256 apart.
type Key = [u8; 2];

/// The bit of a part that is a summary.
const SUMMARY: u8 = 1 << 7;
/// The index of parts that are not tracked: this one and all behind it.
const UNTRACKED: u8 = SUMMARY - 1;
/// The key of a place that is not in use.
const FREE: Key = [0, UNTRACKED];

impl Told {
    const NONE: Told = Told { marks: DONE, ..Told::new(FREE) };

    const fn new(key: Key) -> Told {
        let Sum { hash, tail, len } = Sum::EMPTY;
        Told { hash, tail, len, marks: 0, key }
    }

    fn is(&self, mark: u16) -> bool {
        self.marks & mark != 0
    }

    fn is_of(&self, item: u32) -> bool {
        self.key != FREE && self.key.first() == key(item, ItemPart::Content(0)).first()
    }

    /// Returns the part of a text of this item.
    fn part(&self) -> u8 {
        let [_, part] = self.key;
        part
    }

    fn sum(&self) -> Sum {
        Sum { hash: self.hash, tail: self.tail, len: self.len }
    }

    fn set(&mut self, sum: Sum, half: u16) {
        (self.hash, self.tail, self.len) = (sum.hash, sum.tail, sum.len);
        self.marks = self.marks & (DONE | DIFFERS) | if half == 0 { 0 } else { half & (HALF - 1) | HALF };
    }

    #[inline(always)]
    fn add(&mut self, text: Text<'_>) {
        let (mut sum, mut half) = (self.sum(), if self.is(HALF) { self.marks & (HALF - 1) | 0xd800 } else { 0 });
        sum.add(text, &mut half);
        self.set(sum, half);
    }
}

/// The length of U+FFFD, which stands for an unpaired surrogate.
const HALF_LEN: u32 = 3;

/// Whether a text begins with U+FFFD or an unpaired surrogate.
fn begins_with_half(mut text: Text<'_>) -> bool {
    let mut is_half = true;
    let len = text.take_first(HALF_LEN, |bytes| is_half &= bytes == "\u{fffd}".as_bytes());
    is_half && len == HALF_LEN
}

/// What the whole text is, compared with its deltas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Whole {
    /// The same, or unknown.
    Same,
    /// It begins with the deltas, which are this many bytes.
    Longer(u32),
    /// It ends with the deltas.
    Behind,
    Other,
}

/// The texts that are tracked.
#[derive(Clone, Debug)]
pub(super) struct Texts {
    told: [Told; TEXTS],
    /// The place of the text that a delta continued last.
    last: u8,
    /// The place of the next new text.
    next: u8,
    /// Whether a new text took the place of one that was not done.
    has_dropped: bool,
    /// See [`Config::snapshots`](crate::Config::snapshots). Then deltas do not add up to their texts.
    pub(super) snapshots: bool,
}

fn key(item: u32, of: ItemPart) -> Key {
    let part = of.part().min(UNTRACKED.into()) as u8;
    [item as u8, if matches!(of, ItemPart::Summary(_)) && part != UNTRACKED { part | SUMMARY } else { part }]
}

impl Texts {
    pub(super) const fn new(snapshots: bool) -> Self {
        Texts { told: [Told::NONE; TEXTS], last: 0, next: 0, has_dropped: false, snapshots }
    }

    /// Returns the text of a part. The one that a delta continued last is compared first.
    #[inline(always)]
    fn find(&mut self, item: u32, of: ItemPart) -> Option<&mut Told> {
        let key = key(item, of);
        let [_, part] = key;
        if part == UNTRACKED {
            return None;
        }
        if self.told.get(usize::from(self.last)).is_none_or(|told| told.key != key) {
            self.last = self.place(key)?;
        }
        self.told.get_mut(usize::from(self.last))
    }

    #[inline(never)]
    fn place(&self, key: Key) -> Option<u8> {
        self.told.iter().position(|told| told.key == key).map(|place| place as u8)
    }

    /// Adds a delta to the text of a part. `reported` has the parts that earlier events reported.
    #[inline(always)]
    pub(super) fn add(&mut self, item: u32, of: ItemPart, text: Text<'_>, reported: &Reported) {
        if self.find(item, of).is_none() && !self.begin(item, of, reported) {
            return;
        }
        if let Some(told) = self.told.get_mut(usize::from(self.last)) {
            told.add(text);
        }
    }

    /// Adds a delta to the text of a part, unless an event ended the text or its item. Returns whether it did.
    #[inline(always)]
    pub(super) fn follow(&mut self, item: u32, of: ItemPart, text: Text<'_>, reported: &Reported) -> bool {
        match self.find(item, of) {
            Some(told) if told.is(DONE) => return false,
            Some(told) => told.add(text),
            // The item came whole.
            None if reported.is_done(item) => return false,
            None => self.add(item, of, text, reported),
        }
        true
    }

    /// Tracks a new text of a part. Returns `false` if that part is not tracked. The rest of a text that lost its place
    /// to another one is compared no more.
    #[cold]
    #[inline(never)]
    fn begin(&mut self, item: u32, of: ItemPart, reported: &Reported) -> bool {
        let key = key(item, of);
        let [_, part] = key;
        let order = (0..TEXTS as u8).map(|at| self.next.wrapping_add(at) % TEXTS as u8);
        let is_done = |place: &u8| self.told.get(usize::from(*place)).is_some_and(|told| told.is(DONE));
        let done = order.clone().find(is_done);
        let place = done.unwrap_or(self.next);
        if part == UNTRACKED {
            return false;
        }
        let marks = if self.has_dropped && reported.has(item, of) { DIFFERS } else { 0 };
        self.has_dropped |= done.is_none();
        (self.last, self.next) = (place, place.wrapping_add(1) % TEXTS as u8);
        self.told.get_mut(usize::from(place)).map(|told| *told = Told { marks, ..Told::new(key) }).is_some()
    }

    /// Whether an event ended the text of a part.
    #[inline(always)]
    pub(super) fn is_done(&mut self, item: u32, of: ItemPart) -> bool {
        self.find(item, of).is_some_and(|told| told.is(DONE))
    }

    /// Notes that the text of a part that is done begins again.
    pub(super) fn reopen(&mut self, item: u32, of: ItemPart) {
        if let Some(told) = self.find(item, of).filter(|told| told.is(DONE)) {
            *told = Told::new(told.key);
        }
    }

    /// Notes that the texts of an item that are done begin again.
    pub(super) fn reopen_item(&mut self, item: u32) {
        for told in self.told.iter_mut().filter(|told| told.is_of(item) && told.is(DONE)) {
            *told = Told::new(told.key);
        }
    }

    /// Notes that the text of a part ends, and compares it with its deltas. From then on it counts as told.
    pub(super) fn end(&mut self, item: u32, of: ItemPart, text: Option<Text<'_>>) -> Whole {
        let Some(told) = self.find(item, of) else { return Whole::Same };
        told.marks |= DONE;
        let Some(text) = text.filter(|_| !told.is(DIFFERS)) else { return Whole::Same };
        let known = told.sum();
        let (mut rest, mut sum) = (text, Sum::EMPTY);
        rest.take_first(known.len, |bytes| sum.add_bytes(bytes));
        if sum == known {
            // A half at the end of the deltas is as long as the character that stands for it here.
            let half = if told.is(HALF) && begins_with_half(rest) { HALF_LEN } else { 0 };
            rest.take_first(u32::MAX, |bytes| sum.add_bytes(bytes));
            told.set(sum, 0);
            let known = known.len.saturating_add(half);
            return if sum.len == known { Whole::Same } else { Whole::Longer(known) };
        }
        told.marks |= DIFFERS;
        let (mut rest, mut sum, len) = (text, Sum::EMPTY, text.decoded_len() as u32);
        rest.take_first(len.saturating_sub(known.len), |_| {});
        rest.take_first(u32::MAX, |bytes| sum.add_bytes(bytes));
        if len > known.len && sum == known {
            Whole::Behind
        } else {
            Whole::Other
        }
    }

    /// Whether a text of an item is tracked.
    pub(super) fn has_item(&self, item: u32) -> bool {
        self.told.iter().any(|told| told.is_of(item))
    }

    /// Notes that all texts of an item ended.
    pub(super) fn end_item(&mut self, item: u32) {
        self.told.iter_mut().filter(|told| told.is_of(item)).for_each(|told| told.marks |= DONE);
    }

    /// Compares the contents of an item no more, because its parts are not those that the deltas had.
    pub(super) fn pass_contents(&mut self, item: u32) {
        let is_content = |told: &&mut Told| told.is_of(item) && told.part() & SUMMARY == 0;
        self.told.iter_mut().filter(is_content).for_each(|told| told.marks |= DIFFERS);
    }

    /// Returns the part whose text is at this place among the `count` contents or summaries of an item that is whole. A
    /// place is an index, unless deltas had higher ones: then the order decides, if as many parts came.
    pub(super) fn part_at(&self, item: u32, place: ItemPart, count: u32) -> Option<ItemPart> {
        let [_, place] = key(item, place);
        let (is_summary, wanted) = (place & SUMMARY, u32::from(place & !SUMMARY));
        let of_list = |told: &&Told| told.is_of(item) && told.part() & SUMMARY == is_summary;
        let parts = || self.told.iter().filter(of_list).map(|told| u32::from(told.part() & !SUMMARY));
        let part = if parts().all(|part| part < count) {
            parts().find(|part| *part == wanted)
        } else if parts().count() == count as usize {
            parts().find(|part| parts().filter(|other| other < part).count() == wanted as usize)
        } else {
            None
        };
        part.map(|part| if is_summary == 0 { ItemPart::Content(part) } else { ItemPart::Summary(part) })
    }
}

/// What an event that ends texts adds to their deltas: for each text that is longer, its item, its place there, its
/// part, and the length of the deltas.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cuts([Cut; TEXTS]);

#[derive(Clone, Copy, Debug)]
struct Cut {
    item: u8,
    place: u8,
    part: u8,
    len: u32,
}

impl Cuts {
    pub(super) const NONE: Cuts = Cuts([Cut { item: 0, place: UNTRACKED, part: 0, len: 0 }; TEXTS]);

    /// Adds a cut. Returns `false` if there is no room.
    pub(super) fn add(&mut self, item: u32, place: ItemPart, part: ItemPart, len: u32) -> bool {
        let ([item, place], [_, part]) = (key(item, place), key(item, part));
        let free = self.0.iter_mut().find(|cut| cut.place == UNTRACKED);
        free.map(|free| *free = Cut { item, place, part, len }).is_some() && place != UNTRACKED
    }

    /// Returns the part at this place of an item and the length of its deltas, if the event continues them.
    pub(super) fn get(&self, item: u32, place: ItemPart) -> Option<(u32, u32)> {
        let [item, place] = key(item, place);
        let cut = self.0.iter().find(|cut| (cut.item, cut.place) == (item, place) && place != UNTRACKED)?;
        Some((u32::from(cut.part & !SUMMARY), cut.len))
    }

    /// Whether the event continues a content or a summary of this item.
    pub(super) fn has(&self, item: u32, of: ItemPart) -> bool {
        let [item, of] = key(item, of);
        let is_of_list = |cut: &Cut| cut.place != UNTRACKED && cut.item == item && (cut.place ^ of) & SUMMARY == 0;
        self.0.iter().any(is_of_list)
    }
}
