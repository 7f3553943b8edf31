//! A high surrogate at the end of a text is pending until the next text of the same choice, kind and slot.

use crate::delta::{Delta, Kind, Part, FLAG_NUMBER};

/// A pending high surrogate, or 0.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PendingSurrogate(u16);

impl PendingSurrogate {
    pub(crate) const NONE: PendingSurrogate = PendingSurrogate(0);

    /// The kinds of text that a choice has at most one of, so a choice has one pending surrogate for each kind.
    pub(crate) const OF_CHOICE: [Kind; 4] = [Kind::Content, Kind::Reasoning, Kind::Refusal, Kind::FunctionArguments];

    /// Removes and returns the pending surrogate, if there is one.
    pub(crate) fn take(&mut self) -> Option<u16> {
        Some(core::mem::take(&mut self.0)).filter(|surrogate| *surrogate != 0)
    }

    /// Whether a surrogate is pending.
    fn is_pending(self) -> bool {
        self.0 != 0
    }

    /// Prepends the pending surrogate to a text, and makes a high surrogate at the end of the text the pending one.
    /// Returns the change in the number of pending surrogates.
    pub(crate) fn join(&mut self, part: &mut Part, payload: &[u8]) -> i32 {
        let mut more = 0;
        let mut text = part.text(payload);
        if let Some(surrogate) = self.take() {
            text = text.with_lead(surrogate);
            more -= 1;
        }
        if let Some(surrogate) = text.trailing_half() {
            self.0 = surrogate;
            text = text.without_trailing_half();
            more += 1;
        }
        (part.flags, part.lead) = text.parts();
        part.len = text.raw().len() as u32;
        more
    }
}

/// The slots that the pending surrogates of a choice belong to, in protocols whose texts have slots. At most
/// [`COUNT`](Slots::COUNT) surrogates may be pending at a time. A further one counts as unpaired.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slots([u64; Slots::COUNT]);

impl Slots {
    const COUNT: usize = 3;

    pub(crate) const NOTHING: Slots = Slots([0; Slots::COUNT]);

    /// The kinds of text that have slots, each with the code of its delta.
    const KINDS: [(Kind, u32); 4] =
        [(Kind::Content, 0), (Kind::Reasoning, 0), (Kind::Reasoning, 1), (Kind::Refusal, 0)];

    /// The bit of a key at which the number of the kind begins. A text whose slot has this bit, or the next one, has no
    /// key.
    const KIND_AT: u32 = 30;

    /// Returns the slot and the kind of a text as one number.
    fn key(delta: &Delta) -> Option<u64> {
        let kind = Slots::KINDS.iter().position(|kind| *kind == (delta.kind, delta.code))?;
        let has_room = delta.number as u32 >> Slots::KIND_AT == 0;
        has_room.then_some(delta.number | (kind as u64) << Slots::KIND_AT)
    }

    /// Returns the pending surrogate of the slot of a text, or a free place for one. Returns `None` if there is no
    /// room.
    pub(crate) fn surrogate<'h>(
        &mut self,
        delta: &Delta,
        surrogates: &'h mut [PendingSurrogate],
    ) -> Option<&'h mut PendingSurrogate> {
        let key = Slots::key(delta)?;
        let mut both = self.0.iter_mut().zip(surrogates);
        let is_it = |(own, surrogate): &(&mut u64, &mut PendingSurrogate)| surrogate.is_pending() && **own == key;
        let (mut found, mut free) = (None, None);
        for place in &mut both {
            if is_it(&place) {
                found = Some(place);
                break;
            }
            if !place.1.is_pending() && free.is_none() {
                free = Some(place);
            }
        }
        let (own, surrogate) = found.or(free)?;
        *own = key;
        Some(surrogate)
    }

    /// Returns an empty delta for the kind and slot of the pending surrogate in this place.
    pub(crate) fn delta(&self, place: usize) -> Option<Delta> {
        let key = *self.0.get(place)?;
        let (kind, code) = *Slots::KINDS.get((key as u32 >> Slots::KIND_AT) as usize)?;
        let number = key & !(3 << Slots::KIND_AT);
        Some(Delta { flags: FLAG_NUMBER, code, number, ..Delta::new(kind) })
    }
}
