//! The output items of a Responses stream, and which parts of them were reported.
//!
//! An item has the number that `output_index` gives it. Servers that imitate the API leave that member out (llama.cpp),
//! use another index for an item in later events (vLLM), or use an index again for an item of another type (LiteLLM).
//! So an event belongs to the item with its index *and* its type. If no item has both, or several items have, the ID
//! decides. In the event that ends the response, items have a position instead of an index, and the ID decides first.

use super::identity::{Address, CallId, Class, Id, Mark};

mod claims;

pub(super) use claims::Claims;

/// How many output items are tracked at a time. An item whose place a later item has taken counts as reported.
const ITEMS: usize = 8;
const _: () = assert!(ITEMS <= 8, "`Claims` has a bit for each tracked item");

/// Which parts of the tracked output items were reported.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reported {
    tracked: [OutputItem; ITEMS],
    /// The items that were reported and whose places later items have taken.
    replaced: ItemCounts,
}

/// How many output items there are of each class, at most 255.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ItemCounts([u8; 5]);

impl ItemCounts {
    pub(super) const NONE: ItemCounts = ItemCounts([0; 5]);

    pub(super) fn add(&mut self, class: Class) {
        if let Some(count) = self.0.get_mut(class as usize) {
            *count = count.saturating_add(1);
        }
    }

    fn of(&self, class: Class) -> u8 {
        self.0.get(class as usize).copied().unwrap_or(0)
    }

    /// Whether there is an item of this class, or one whose class is unknown.
    fn has(&self, class: Class) -> bool {
        [class, Class::Unknown].into_iter().any(|class| self.of(class) > 0)
    }

    /// Whether there is a tool call of the client.
    pub(super) fn has_call(&self) -> bool {
        self.of(Class::Call) > 0
    }

    /// Whether these are no more items of any class than the others. A count of 255 may stand for more items, so it is
    /// more than any other.
    pub(super) fn are_among(&self, others: &ItemCounts) -> bool {
        self.0.iter().zip(others.0).all(|(count, other)| *count <= other && *count < u8::MAX)
    }
}

/// An output item, and which parts of it were reported.
#[derive(Clone, Copy, Debug)]
struct OutputItem {
    /// The number of the item, or [`FREE`] if the place is not in use.
    number: u16,
    /// The class of the item in the lowest three bits, its [`Id`], and its [`Mark`]s.
    tag: [u8; 3],
    /// The lowest byte of `output_index` as sent.
    index: u8,
    /// One bit for each reported content. Contents from 7 on share a bit. In a tool call, the lowest bit is for the
    /// arguments.
    contents: u8,
    /// One bit for each reported summary, likewise. In a message, the second bit is for log probabilities. In a tool call,
    /// the lowest bit is for the call itself, the next for its name, and the third for arguments that came whole with the
    /// event that began the call.
    summaries: u8,
    /// The `call_id` of a tool call.
    call: CallId,
}

const FREE: u16 = u16::MAX;

/// The `contents` of a tool call that is done, and whose arguments may still come.
const DONE_WITHOUT_ARGUMENTS: u8 = !1;

const MARKS: u8 = Mark::TextEnded as u8 | Mark::PartEnded as u8 | Mark::Annotated as u8;

impl OutputItem {
    const NONE: OutputItem =
        OutputItem { number: FREE, tag: [0; 3], index: 0, contents: 0, summaries: 0, call: CallId::NONE };

    fn class(&self) -> Class {
        let [low, ..] = self.tag;
        [Class::Message, Class::Reasoning, Class::Call, Class::Other]
            .into_iter()
            .find(|class| *class as u8 == low & 7)
            .unwrap_or(Class::Unknown)
    }

    fn id(&self) -> Id {
        let [low, middle, high] = self.tag.map(u32::from);
        Id((high << 16 | middle << 8 | low) >> 3 & Id::MAX)
    }

    fn set(&mut self, class: Class, id: Id) {
        let [low, middle, high, _] = (id.0 << 3 | class as u32).to_le_bytes();
        let [_, _, marks] = self.tag;
        self.tag = [low, middle, high | marks & MARKS];
    }

    fn is_marked(&self, mark: Mark) -> bool {
        let [_, _, marks] = self.tag;
        marks & mark as u8 != 0
    }

    fn mark(&mut self, mark: Mark) {
        let [_, _, marks] = &mut self.tag;
        *marks |= mark as u8;
    }
}

/// A part of an item.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ItemPart {
    Content(u32),
    Summary(u32),
}

impl ItemPart {
    /// Returns the index of the content or the summary.
    pub(super) fn part(self) -> u32 {
        let (ItemPart::Content(part) | ItemPart::Summary(part)) = self;
        part
    }

    /// Returns the code of the delta of a text: 1 for a summary, otherwise 0.
    pub(super) fn code(self) -> u32 {
        u32::from(matches!(self, ItemPart::Summary(_)))
    }
}

pub(super) const ARGUMENTS: ItemPart = ItemPart::Content(0);
pub(super) const CALL: ItemPart = ItemPart::Summary(0);
pub(super) const NAME: ItemPart = ItemPart::Summary(1);
/// In a message: its log probabilities.
pub(super) const LOGPROBS: ItemPart = ItemPart::Summary(1);
pub(super) const BEGAN_WHOLE: ItemPart = ItemPart::Summary(2);

/// Whether a text that ends was reported before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Earlier {
    New,
    Reported,
    /// The text was reported under another index.
    Elsewhere,
}

impl OutputItem {
    fn has(&self, of: ItemPart) -> bool {
        match of {
            ItemPart::Content(part) => self.contents & bit(part) != 0,
            ItemPart::Summary(part) => self.summaries & bit(part) != 0,
        }
    }

    fn add(&mut self, of: ItemPart) {
        match of {
            ItemPart::Content(part) => self.contents |= bit(part),
            ItemPart::Summary(part) => self.summaries |= bit(part),
        }
    }

    /// Whether this item has taken the place of the item with this number, which then counts as reported: this is a
    /// later item, and a part of it was reported, or an event ended it.
    fn has_replaced(&self, number: u16) -> bool {
        let is_new = (self.contents, self.summaries) == (0, 0) && !self.is_marked(Mark::PartEnded);
        self.number != FREE && self.number > number && !is_new
    }

    /// Whether no text and no arguments of the item were reported, and no event ended it.
    fn is_empty(&self) -> bool {
        self.contents == 0 && !self.is_marked(Mark::PartEnded) && (self.summaries == 0 || self.class() == Class::Call)
    }

    /// Whether no text of the item was reported, although the item may be done.
    fn is_void(&self) -> bool {
        self.is_empty() || self.class() == Class::Message && self.contents == 0
    }

    /// Whether arguments came before the event that begins this tool call.
    fn is_early(&self) -> bool {
        self.class() == Class::Call && self.is_marked(Mark::Annotated)
    }

    /// Whether all of the item was reported.
    fn is_done(&self) -> bool {
        self.summaries == u8::MAX && matches!(self.contents, u8::MAX | DONE_WITHOUT_ARGUMENTS)
    }

    /// Whether the item with this number takes the place of this item.
    fn yields_to(&self, number: u16) -> bool {
        self.number != number && !self.has_replaced(number)
    }

    /// Returns the bit of the item's place in a set of tracked items.
    fn place_bit(&self) -> u8 {
        1 << (self.number % ITEMS as u16)
    }

    fn is_at(&self, index: Option<u32>) -> bool {
        index.is_some_and(|index| self.index == index as u8)
    }
}

fn bit(part: u32) -> u8 {
    1u8.wrapping_shl(part.min(7))
}

impl Reported {
    pub(super) const NOTHING: Reported = Reported { tracked: [OutputItem::NONE; ITEMS], replaced: ItemCounts::NONE };

    fn place(number: u32) -> (usize, u16) {
        let number = u16::try_from(number).unwrap_or(FREE).min(FREE.saturating_sub(1));
        (usize::from(number) % ITEMS, number)
    }

    /// Returns the tracked items.
    fn items(&self) -> impl Iterator<Item = &OutputItem> {
        self.tracked.iter().filter(|item| item.number != FREE)
    }

    /// Returns the item with this number, if it is tracked.
    fn item(&self, number: u32) -> Option<&OutputItem> {
        let (place, number) = Reported::place(number);
        self.tracked.get(place).filter(|item| item.number == number)
    }

    /// Returns the tracked item with the highest number for which a condition holds.
    #[inline(never)]
    fn last(&self, is_wanted: &dyn Fn(&OutputItem) -> bool) -> Option<&OutputItem> {
        self.items().filter(|item| is_wanted(item)).max_by_key(|item| item.number)
    }

    /// Returns the number of the item that an event belongs to, or `None` if the item is new.
    pub(super) fn find(&self, address: &Address) -> Option<u32> {
        let Address { class, index, id, call, ends, text } = *address;
        let is_there = |item: &OutputItem| item.is_at(index) && item.class().fits(class);
        let by_id = || {
            let own = self.last(&|item| item.id().is(id)).or_else(|| self.last(&|item| item.call.is(call)));
            // Some servers send the `call_id` as the ID of an item in its deltas.
            own.or_else(|| self.last(&|item| item.call != CallId::NONE && Id::of_hash(item.call.0).is(id)))
        };
        let found = match self.last(&is_there) {
            // The ID decides only among several items, because some servers give each event another ID.
            Some(there) => {
                let by_id = self.last(&|item| is_there(item) && item.id().is(id));
                // A call that is known under another index would be reported twice.
                let is_another = by_id.is_none() && there.call != call;
                let elsewhere = || self.last(&|item| item.call.is(call)).filter(|_| is_another);
                by_id.or_else(elsewhere).or(Some(there))
            }
            // Without an index, the event belongs to no item that is known to have another ID.
            None if index.is_none() => {
                by_id().or_else(|| self.last(&|item| item.class().fits(class) && item.id().may_be(id)))
            }
            // An event without IDs that ends an item or its text ends the first of its type that has not ended.
            None if ends && id == Id::NONE && call == CallId::NONE => {
                // An item that was done without a text is over, too.
                let is_void = |item: &OutputItem| item.contents == 0 && item.is_marked(Mark::PartEnded);
                let has_ended = |item: &OutputItem| text.map_or_else(|| is_void(item), |mark| item.is_marked(mark));
                let is_open = |item: &&OutputItem| item.class() == class && !item.is_done() && !has_ended(item);
                self.items().filter(is_open).min_by_key(|item| item.number)
            }
            None => by_id(),
        };
        found.map(|item| u32::from(item.number))
    }

    /// Whether the item that an event without an index ends is one whose place a later item has taken: no tracked item
    /// can be it, and one of its class is gone.
    pub(super) fn is_gone(&self, address: &Address) -> bool {
        address.index.is_none() && self.replaced.has(address.class) && self.find(address).is_none()
    }

    /// Returns the number of the item that an event begins, or `None` if the item is new. It is not new if another
    /// event of the item came earlier, or if the event that begins it comes again before the item is over.
    pub(super) fn find_begun(&self, address: &Address) -> Option<u32> {
        let Address { class, index, id, .. } = *address;
        // If the item began without an ID, and nothing of it was reported, the event begins it again.
        let is_same = |item: &OutputItem| {
            let is_again = item.id() == id && id == Id::NONE && item.is_empty();
            item.id().is(id) || index.is_some() && (item.id() == Id::UNKNOWN || is_again)
        };
        // A call that is over begins anew: the model calls the tool again.
        let is_over = |item: &OutputItem| item.class() == Class::Call && item.is_done();
        let is_there = |item: &OutputItem| {
            (index.is_none() || item.is_at(index)) && item.class().fits(class) && is_same(item) && !is_over(item)
        };
        self.last(&is_there).map(|item| u32::from(item.number))
    }

    /// Whether `number` is the number that `index` usually gives an item. Very large indexes share one number.
    pub(super) fn is_number(&self, index: u32, number: u32) -> bool {
        Reported::place(index) == Reported::place(number)
    }

    /// Returns the number for a new item: its index or, without one or if another item has that number or that index, the
    /// next number.
    pub(super) fn new_number(&self, index: Option<u32>) -> u32 {
        let is_free = |index: &u32| self.item(*index).is_none() && !self.items().any(|item| item.is_at(Some(*index)));
        let next = || self.last(&|_| true).map_or(0, |item| u32::from(item.number).saturating_add(1));
        index.filter(is_free).unwrap_or_else(next)
    }

    /// Stores what an event shows about the item with this number and was not known. If an earlier item has the place,
    /// that item keeps it, because parts of it may still be unreported. An item whose index is not its number takes the
    /// place all the same, because its events would not find it otherwise.
    pub(super) fn describe(&mut self, number: u32, address: &Address) {
        let (place, _) = Reported::place(number);
        let is_usual = address.index.is_some_and(|index| self.is_number(index, number));
        let is_free = self.tracked.get(place).is_some_and(|item| item.number == FREE);
        if self.item(number).is_none() && is_usual && !is_free {
            return;
        }
        let Some(item) = self.track(number) else { return };
        let (mut class, mut id) = (item.class(), item.id());
        if class == Class::Unknown {
            (class, item.index) = (address.class, address.index.unwrap_or(number) as u8);
        }
        if id == Id::UNKNOWN {
            id = address.id;
        }
        item.set(class, id);
        if item.call == CallId::NONE {
            item.call = address.call;
        }
    }

    /// Whether an event of this class, whose index is this number, belongs to the item with this number.
    pub(super) fn may_be(&self, number: u32, class: Class) -> bool {
        // If no such item is tracked, the event may have the ID of another tracked item.
        self.item(number).map_or(!self.has_any(), |item| item.class().fits(class))
    }

    /// Whether the item with this number takes the place of an earlier one.
    pub(super) fn replaces(&self, number: u32) -> bool {
        let (place, number) = Reported::place(number);
        self.tracked.get(place).is_some_and(|item| item.number != FREE && item.yields_to(number))
    }

    /// Whether the item with this number is known to be of this class.
    pub(super) fn is_a(&self, number: u32, class: Class) -> bool {
        self.item(number).is_some_and(|item| item.class() == class)
    }

    /// Whether a part of an item was reported.
    pub(super) fn has(&self, number: u32, of: ItemPart) -> bool {
        self.holds(number, |item| item.has(of))
    }

    /// Whether a condition holds for the item with this number. It also holds for an item that a later one has
    /// replaced, which counts as reported. It does not hold for any other item that is not tracked.
    fn holds(&self, number: u32, condition: impl Fn(&OutputItem) -> bool) -> bool {
        let (place, number) = Reported::place(number);
        let item_holds =
            |item: &OutputItem| if item.number == number { condition(item) } else { item.has_replaced(number) };
        self.tracked.get(place).is_none_or(item_holds)
    }

    /// Returns how many items were reported. A tool call counts once its arguments came, any other item once a text
    /// came, or all of it.
    pub(super) fn counts(&self) -> ItemCounts {
        let mut counts = self.replaced;
        self.items().filter(|item| !item.is_empty()).for_each(|item| counts.add(item.class()));
        counts
    }

    /// Whether any item is tracked.
    pub(super) fn has_any(&self) -> bool {
        self.items().next().is_some()
    }

    /// Whether the arguments of a tool call came whole with the event that began the call, so that deltas only repeat
    /// them.
    pub(super) fn began_whole(&self, number: u32) -> bool {
        self.item(number).is_some_and(|item| item.has(BEGAN_WHOLE) && !item.is_done())
    }

    /// Whether arguments came before the event that begins the tool call. Then all of them come with the whole item.
    pub(super) fn came_early(&self, number: u32) -> bool {
        self.item(number).is_some_and(OutputItem::is_early)
    }

    /// Whether an event ended the item with this number and reported all of it.
    pub(super) fn is_done(&self, number: u32) -> bool {
        self.item(number).is_some_and(OutputItem::is_done)
    }

    /// Whether all of an item was reported.
    pub(super) fn has_all(&self, number: u32) -> bool {
        self.holds(number, OutputItem::is_done)
    }

    /// Returns how many contents, or summaries, of an item were reported.
    pub(super) fn count(&self, number: u32, of: ItemPart) -> u32 {
        self.item(number).map_or(0, |item| match of {
            ItemPart::Content(_) => item.contents.count_ones(),
            ItemPart::Summary(_) => item.summaries.count_ones(),
        })
    }

    /// Tracks the item with this number and returns it, or returns `None` if a later item has its place.
    #[inline(never)]
    fn track(&mut self, number: u32) -> Option<&mut OutputItem> {
        let (place, number) = Reported::place(number);
        let item = self.tracked.get_mut(place)?;
        if item.yields_to(number) {
            if !item.is_empty() {
                self.replaced.add(item.class());
            }
            *item = OutputItem { number, index: number as u8, ..OutputItem::NONE };
        }
        (item.number == number).then_some(item)
    }

    /// Notes that a part of an item is reported. Returns whether it was reported before.
    pub(super) fn add(&mut self, number: u32, of: ItemPart) -> bool {
        let Some(item) = self.track(number) else { return true };
        let had = item.has(of);
        item.add(of);
        had
    }

    /// Notes that a content of an item, or its text, ended (`end`). Returns whether the text was reported before. The
    /// first text that ends is the one whose deltas came, whatever index its end has (vLLM), except for a refusal,
    /// which keeps its index.
    pub(super) fn add_end(&mut self, number: u32, content: u32, end: Mark, is_refusal: bool) -> Earlier {
        let Some(item) = self.track(number) else { return Earlier::Reported };
        let of = ItemPart::Content(content);
        let had = item.has(of);
        let is_elsewhere = !is_refusal && !had && item.contents != 0 && !item.is_marked(end);
        item.mark(end);
        if is_elsewhere {
            return Earlier::Elsewhere;
        }
        item.add(of);
        if had {
            Earlier::Reported
        } else {
            Earlier::New
        }
    }

    /// Whether arguments came for a tool call that no event has begun.
    pub(super) fn lacks_call(&self) -> bool {
        self.items().any(|item| item.class() == Class::Call && !item.has(CALL))
    }

    /// Whether arguments came before the event that begins their tool call, and no event had all of them.
    pub(super) fn lacks_arguments(&self) -> bool {
        self.items().any(|item| item.is_early() && item.has(CALL) && !item.has(ARGUMENTS))
    }

    /// Notes that an event ended the arguments of a tool call.
    pub(super) fn end_arguments(&mut self, number: u32) {
        let (place, number) = Reported::place(number);
        if let Some(item) = self.tracked.get_mut(place).filter(|item| item.number == number) {
            item.mark(Mark::TextEnded);
        }
    }

    /// Notes that an annotation of an item is reported or, of a tool call, that arguments came before the event that begins
    /// it, and were not reported.
    pub(super) fn add_annotation(&mut self, number: u32) {
        if let Some(item) = self.track(number) {
            item.mark(Mark::Annotated);
        }
    }

    /// Whether annotations of an item were reported.
    pub(super) fn has_annotations(&self, number: u32) -> bool {
        self.has_all(number) || self.item(number).is_some_and(|item| item.is_marked(Mark::Annotated))
    }

    /// Notes that an item of this class is done of which no text and no arguments were reported. They may still come.
    pub(super) fn add_void(&mut self, number: u32, class: Class) {
        let Some(item) = self.track(number) else { return };
        match class {
            Class::Message => item.summaries = u8::MAX,
            Class::Call => (item.contents, item.summaries) = (DONE_WITHOUT_ARGUMENTS, u8::MAX),
            _ => item.mark(Mark::PartEnded),
        }
    }

    /// Notes that all of an item is reported.
    pub(super) fn add_all(&mut self, number: u32) {
        if let Some(item) = self.track(number) {
            (item.contents, item.summaries) = (u8::MAX, u8::MAX);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Address, CallId, Class, Earlier, Id, ItemPart, Mark, Reported, ARGUMENTS, CALL, ITEMS};
    use crate::json::Value;

    #[test]
    fn parts_are_distinguished() {
        let mut reported = Reported::NOTHING;
        assert!(!reported.add(3, ItemPart::Content(1)) && reported.add(3, ItemPart::Content(1)));
        assert!(
            !reported.has(3, ItemPart::Content(0))
                && !reported.has(3, ItemPart::Summary(1))
                && !reported.has(4, ItemPart::Content(1))
        );
        reported.add(3, ItemPart::Content(2));
        assert_eq!((reported.count(3, ARGUMENTS), reported.count(3, CALL), reported.count(4, ARGUMENTS)), (2, 0, 0));
        assert!(!reported.has_all(3));
        reported.add_all(3);
        assert!(reported.has_all(3) && reported.has(3, ItemPart::Summary(9)) && !reported.has_all(4));
    }

    /// An item that a later one has replaced counts as reported, and does not take its place back.
    #[test]
    fn a_later_item_replaces_an_earlier_one() {
        let items = ITEMS as u32;
        let mut reported = Reported::NOTHING;
        reported.add(3, ItemPart::Content(1));
        assert!(!reported.has(3 + items, ItemPart::Content(1)) && !reported.has_all(3 + items));
        reported.add(3 + items, ItemPart::Content(0));
        assert!(reported.has(3, ItemPart::Content(5)) && reported.has_all(3));
        assert!(reported.add(3, ItemPart::Content(5)));
        assert!(reported.has(3 + items, ItemPart::Content(0)) && !reported.has(3 + items, ItemPart::Content(5)));
        assert!(!reported.has(3 + 2 * items, ItemPart::Content(0)) && !reported.has_all(3 + 2 * items));
    }

    fn address(class: Class, index: Option<u32>, id: &'static str) -> Address {
        Address::of(class, index, Id::of([(!id.is_empty()).then(|| Value::from_raw(id.as_bytes()))]))
    }

    /// Of several items with one index, the class decides first, then the ID, then the order.
    #[test]
    fn an_index_may_have_several_items() {
        let mut reported = Reported::NOTHING;
        let items = [(Class::Reasoning, "\"rs\""), (Class::Message, "\"m\""), (Class::Message, "\"n\"")];
        for ((class, id), number) in items.into_iter().zip(0..) {
            let address = address(class, Some(0), id);
            assert_eq!((reported.find_begun(&address), reported.new_number(Some(0))), (None, number));
            reported.describe(number, &address);
        }
        for (class, index, id, expected) in [
            (Class::Reasoning, Some(0), "\"other\"", 0),
            (Class::Message, Some(0), "\"m\"", 1),
            (Class::Message, Some(0), "\"other\"", 2),
            (Class::Message, Some(7), "\"m\"", 1),
            (Class::Message, None, "\"m\"", 1),
            (Class::Message, None, "", 2),
            // The text is one of a message, but its ID is that of reasoning.
            (Class::Message, Some(7), "\"rs\"", 0),
        ] {
            assert_eq!(reported.find(&address(class, index, id)), Some(expected), "{class:?} {index:?} {id}");
        }
        assert_eq!(reported.find(&address(Class::Message, None, "\"other\"")), None);
        assert_eq!(reported.find(&address(Class::Call, Some(0), "")), None);
        assert_eq!(reported.find(&address(Class::Call, None, "\"x\"")), None);
        let id = |id| address(Class::Unknown, None, id).id;
        let mut claims = super::Claims::NONE;
        for (class, own) in [(Class::Reasoning, "\"rs\""), (Class::Message, "\"m\""), (Class::Call, "\"c\"")] {
            reported.claim((class, id(own), CallId::NONE), &|| true, &mut claims);
        }
        for (position, class, own, expected) in [
            (0, Class::Message, "\"m\"", 1),
            (1, Class::Reasoning, "\"rs\"", 0),
            (2, Class::Message, "\"other\"", 2),
            (3, Class::Call, "\"c\"", 3),
            (2, Class::Call, "\"c\"", 2 + 5),
            // Another item of the response claims item 0.
            (0, Class::Reasoning, "\"other\"", 5),
        ] {
            let number = reported.find_whole(position, (class, id(own), CallId::NONE), &|| false, &claims, &mut 0);
            assert_eq!(number, expected, "{position} {class:?} {own}");
        }
    }

    /// Without known IDs, the order decides, also if an item is missing or an empty message was added.
    #[test]
    fn items_of_a_whole_response_are_matched_in_order() {
        let mut reported = Reported::NOTHING;
        for (number, class) in
            [Class::Reasoning, Class::Message, Class::Call, Class::Message, Class::Call].into_iter().enumerate()
        {
            reported.describe(number as u32, &address(class, Some(number as u32), "\"events\""));
            reported.add(number as u32, ItemPart::Content(0));
        }
        let id = address(Class::Unknown, None, "\"response\"").id;
        let mut taken = 0;
        let classes =
            [Class::Call, Class::Message, Class::Message, Class::Message, Class::Call, Class::Call, Class::Reasoning];
        for (position, (class, expected)) in (0..).zip(classes.into_iter().zip([2, 1, 6, 3, 4, 5, 0])) {
            let is_empty = || position == 2;
            let identity = (class, id, CallId::NONE);
            let number = reported.find_whole(position, identity, &is_empty, &super::Claims::NONE, &mut taken);
            assert_eq!(number, expected, "{position} {class:?}");
        }
    }

    /// A part ends under the index of its deltas, or under a later one.
    #[test]
    fn a_part_may_end_under_another_index() {
        for (number, first) in [(0, Earlier::Reported), (1, Earlier::Elsewhere)] {
            let mut reported = Reported::NOTHING;
            reported.add(number, ItemPart::Content(0));
            assert_eq!(reported.add_end(number, number, Mark::TextEnded, false), first);
            assert_eq!(reported.add_end(number, number, Mark::PartEnded, false), first);
            // No deltas came for this part, so its end reports it.
            assert_eq!(reported.add_end(number, 2, Mark::TextEnded, false), Earlier::New);
            assert_eq!(reported.add_end(number, 2, Mark::PartEnded, false), Earlier::Reported);
        }
        // A refusal keeps its index, and its end counts as the first one.
        let mut reported = Reported::NOTHING;
        reported.add(0, ItemPart::Content(0));
        assert_eq!(reported.add_end(0, 1, Mark::TextEnded, true), Earlier::New);
        assert_eq!(reported.add_end(0, 2, Mark::TextEnded, false), Earlier::New);
    }
}
