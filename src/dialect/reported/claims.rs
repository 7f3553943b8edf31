//! The items of a whole response: which of them earlier events reported.

use super::{ItemCounts, OutputItem, Reported, ITEMS};
use crate::dialect::identity::{Class, Identity};

/// Which tracked items the items of a whole response claim by their IDs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Claims {
    /// One bit for each tracked item that is claimed: an item of the response has its ID. A tracked item that is
    /// claimed is no other item of the response, whatever its position.
    places: u8,
    /// The number of items in the response.
    count: u16,
    /// How many of them claim no tracked item. Messages without a text do not count.
    unknown: ItemCounts,
}

impl Claims {
    pub(crate) const NONE: Claims = Claims { places: 0, count: 0, unknown: ItemCounts::NONE };
}

impl Reported {
    /// Returns the tracked item with this ID, which is that of an item in a whole response.
    fn known(&self, (class, id, call): Identity) -> Option<&OutputItem> {
        let by_id = self.last(&|item| item.id().is(id) && item.class().fits(class));
        by_id.or_else(|| self.last(&|item| item.call.is(call)))
    }

    /// Notes an item of a whole response in the claims. `has_text` returns whether a message has a text.
    pub(crate) fn claim(&self, identity: Identity, has_text: &dyn Fn() -> bool, claims: &mut Claims) {
        let known = self.known(identity);
        claims.places |= known.map_or(0, OutputItem::place_bit);
        claims.count = claims.count.saturating_add(1);
        if known.is_none() && (identity.0 != Class::Message || has_text()) {
            claims.unknown.add(identity.0);
        }
    }

    /// Returns the number of the item with this class and ID at this position of a whole response. `is_empty` returns
    /// whether the item is a message without text, which some servers add and which reports nothing. `taken` has a bit
    /// for each tracked item that an earlier item of the response is; the bit of this item is added.
    #[inline(never)]
    pub(crate) fn find_whole(
        &self,
        position: u32,
        identity: Identity,
        is_empty: &dyn Fn() -> bool,
        claims: &Claims,
        taken: &mut u8,
    ) -> u32 {
        let (there, (class, id, _)) = (self.item(position), identity);
        let number = if there.is_some_and(|item| item.id().is(id) && item.class().fits(class)) {
            position
        } else if let Some(item) = self.known(identity) {
            u32::from(item.number)
        } else {
            let is_claimed = |item: &OutputItem| claims.places & item.place_bit() != 0;
            let is_free = |item: &OutputItem| !is_claimed(item) && *taken & item.place_bit() == 0;
            let fits = |item: &OutputItem| is_free(item) && item.class().fits(class);
            // Many servers use other IDs here than in the events, or leave items out. So the order decides: the first
            // message here is the first message of the events, and so on. The order does not decide if some items of
            // the events never came or are no longer tracked, or if an item of this class has the ID that it had in the
            // events: then a message with another ID is new. It decides all the same if as many items of the class are
            // left in the response as in the events. LocalAI counts the items from 1, so the highest number is one too
            // high there.
            let (next, count) = (self.new_number(None), u32::from(claims.count));
            let lowest = self.items().map(|item| u32::from(item.number)).min().unwrap_or(0);
            let is_shifted = lowest == 1 && next > count;
            let are_all = next.saturating_sub(is_shifted.into()) as usize == self.items().count();
            let has_ids = self.items().any(|item| is_claimed(item) && item.class() == class);
            let is_told = |item: &OutputItem| !is_claimed(item) && item.class() == class && !item.is_void();
            let (told, unknown) = (self.items().filter(|item| is_told(item)).count(), claims.unknown.of(class));
            let are_equal = class != Class::Other && told == usize::from(unknown);
            let candidates = || self.items().filter(|item| (are_all && !has_ids || are_equal) && fits(item));
            // A message of which nothing was reported takes no other's place: it is left out if the response has no more
            // messages than were reported.
            let only_told = class == Class::Message && usize::from(unknown) <= told;
            let first = candidates().filter(|item| !only_told || !item.is_void()).min_by_key(|item| item.number);
            let first = first.or_else(|| candidates().min_by_key(|item| item.number));
            // Items that are no longer tracked were all reported, and so were as many here that nobody knows.
            let gone = self.items().find_map(|item| item.number.checked_sub(ITEMS as u16));
            match first {
                Some(item) if item.is_void() || !is_empty() => u32::from(item.number),
                None if (1..=self.replaced.of(class)).contains(&unknown) && gone.is_some() => gone.unwrap_or(0).into(),
                None if there.is_none_or(fits) => position,
                // The item is new, and gets a number that no other item has.
                _ => position.saturating_add(next.saturating_add(count).saturating_sub(1)),
            }
        };
        self.take(number, taken);
        number
    }

    /// Notes in `taken` that an item of a whole response is the item with this number.
    pub(crate) fn take(&self, number: u32, taken: &mut u8) {
        *taken |= self.item(number).map_or(0, OutputItem::place_bit);
    }
}
