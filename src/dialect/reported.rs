//! Which parts of the output of a Responses stream were reported.

/// How many output items are tracked at a time. An item counts as reported if a later one has taken its place.
const ITEMS: usize = 8;

/// Which parts of the tracked output items were reported.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reported([Item; ITEMS]);

/// An output item, and which parts of it were reported.
#[derive(Clone, Copy, Debug)]
struct Item {
    /// The index of the item, or [`FREE`] if the place is not in use.
    index: u16,
    /// One bit for each of its contents. Those from 7 on share one. In a tool call, the lowest bit is for the arguments.
    contents: u8,
    /// One bit for each of its summaries, likewise. In a tool call, the lowest bit is for the call itself.
    summaries: u8,
}

const FREE: u16 = u16::MAX;

impl Item {
    const NONE: Item = Item { index: FREE, contents: 0, summaries: 0 };
}

impl Default for Reported {
    fn default() -> Self {
        Reported::NOTHING
    }
}

/// A part of an item.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Of {
    Content(u32),
    Summary(u32),
}

impl Of {
    /// Returns the code of the delta of a text: 1 for a summary, otherwise 0.
    pub(super) fn code(self) -> u32 {
        u32::from(matches!(self, Of::Summary(_)))
    }
}

pub(super) const ARGUMENTS: Of = Of::Content(0);
pub(super) const CALL: Of = Of::Summary(0);

impl Item {
    fn has(&self, of: Of) -> bool {
        match of {
            Of::Content(part) => self.contents & bit(part) != 0,
            Of::Summary(part) => self.summaries & bit(part) != 0,
        }
    }

    pub(super) fn add(&mut self, of: Of) {
        match of {
            Of::Content(part) => self.contents |= bit(part),
            Of::Summary(part) => self.summaries |= bit(part),
        }
    }
}

fn bit(part: u32) -> u8 {
    1u8.wrapping_shl(part.min(7))
}

impl Reported {
    pub(super) const NOTHING: Reported = Reported([Item::NONE; ITEMS]);

    fn place(index: u32) -> (usize, u16) {
        let index = u16::try_from(index).unwrap_or(FREE).min(FREE.saturating_sub(1));
        (usize::from(index) % ITEMS, index)
    }

    /// Whether a part of an item was reported.
    pub(super) fn has(&self, index: u32, of: Of) -> bool {
        let (place, index) = Reported::place(index);
        match self.0.get(place) {
            Some(item) if item.index == index => item.has(of),
            Some(item) => item.index != FREE && item.index > index,
            None => true,
        }
    }

    /// Whether anything was reported.
    pub(super) fn has_any(&self) -> bool {
        self.0.iter().any(|item| item.index != FREE)
    }

    /// Whether all of an item was reported.
    pub(super) fn has_all(&self, index: u32) -> bool {
        let (place, index) = Reported::place(index);
        self.0.get(place).is_none_or(|item| match item.index == index {
            true => (item.contents, item.summaries) == (u8::MAX, u8::MAX),
            false => item.index != FREE && item.index > index,
        })
    }

    /// Returns how many contents, or summaries, of an item were reported.
    pub(super) fn count(&self, index: u32, of: Of) -> u32 {
        let (place, index) = Reported::place(index);
        let item = self.0.get(place).filter(|item| item.index == index);
        item.map_or(0, |item| match of {
            Of::Content(_) => item.contents.count_ones(),
            Of::Summary(_) => item.summaries.count_ones(),
        })
    }

    /// Notes that a part of an item is reported. Returns whether it was reported before.
    pub(super) fn add(&mut self, index: u32, of: Of) -> bool {
        let had = self.has(index, of);
        let (place, index) = Reported::place(index);
        if let Some(item) = self.0.get_mut(place) {
            if item.index == FREE || item.index < index {
                *item = Item { index, ..Item::NONE };
            }
            if item.index == index {
                item.add(of);
            }
        }
        had
    }

    /// Notes that all of an item is reported.
    pub(super) fn add_all(&mut self, index: u32) {
        (0..8).for_each(|part| {
            self.add(index, Of::Content(part));
            self.add(index, Of::Summary(part));
        });
    }
}

#[cfg(test)]
mod tests {
    use super::{Of, Reported, ARGUMENTS, CALL, ITEMS};

    #[test]
    fn parts_are_distinguished() {
        let mut reported = Reported::NOTHING;
        assert!(!reported.add(3, Of::Content(1)) && reported.add(3, Of::Content(1)));
        assert!(
            !reported.has(3, Of::Content(0)) && !reported.has(3, Of::Summary(1)) && !reported.has(4, Of::Content(1))
        );
        reported.add(3, Of::Content(2));
        assert_eq!((reported.count(3, ARGUMENTS), reported.count(3, CALL), reported.count(4, ARGUMENTS)), (2, 0, 0));
        assert!(!reported.has_all(3));
        reported.add_all(3);
        assert!(reported.has_all(3) && reported.has(3, Of::Summary(9)) && !reported.has_all(4));
    }

    /// An item whose place a later one has taken counts as reported, and does not take it back.
    #[test]
    fn a_later_item_takes_the_place() {
        let items = ITEMS as u32;
        let mut reported = Reported::NOTHING;
        reported.add(3, Of::Content(1));
        assert!(!reported.has(3 + items, Of::Content(1)) && !reported.has_all(3 + items));
        reported.add(3 + items, Of::Content(0));
        assert!(reported.has(3, Of::Content(5)) && reported.has_all(3));
        assert!(reported.add(3, Of::Content(5)));
        assert!(reported.has(3 + items, Of::Content(0)) && !reported.has(3 + items, Of::Content(5)));
        assert!(!reported.has(3 + 2 * items, Of::Content(0)) && !reported.has_all(3 + 2 * items));
    }
}
