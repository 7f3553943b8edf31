//! What is known of a log's choices and calls: no texts, but from where on their records count.

use super::log_record::{kind, Key, Record};

/// What a choice has.
pub(super) mod flag {
    /// What is there was said by a `message`, not by deltas.
    pub(in crate::message) const WHOLE: u16 = 1;
    /// An index was used for two calls.
    pub(in crate::message) const REUSED: u16 = 2;
    pub(in crate::message) const FUNCTION: u16 = 4;
    pub(in crate::message) const AUDIO: u16 = 8;
    pub(in crate::message) const AUDIO_ID: u16 = 16;
    /// What a message says as a whole.
    pub(in crate::message) const BODY: u16 = WHOLE | REUSED | FUNCTION | AUDIO | AUDIO_ID;

    pub(in crate::message) const ROLE: u16 = 32;
    pub(in crate::message) const FINISH_REASON: u16 = 64;
    pub(in crate::message) const NATIVE_FINISH_REASON: u16 = 128;
    pub(in crate::message) const ERROR: u16 = 256;
    pub(in crate::message) const LOGPROBS: u16 = 512;
    /// The first of the six lists of log probabilities.
    pub(in crate::message) const LISTS: u16 = 1024;
}

/// A choice. Positions say where its live records begin: those of the kind that stand before were replaced.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    pub(super) index: u32,
    pub(super) flags: u16,
    /// How many calls are listed.
    pub(super) calls: u32,
    pub(super) body: u32,
    pub(super) function: u32,
    pub(super) role: u32,
    pub(super) finish_reason: u32,
    pub(super) native_finish_reason: u32,
    pub(super) annotations: u32,
    /// Of its audio.
    pub(super) expires_at: Option<u64>,
}

impl Slot {
    pub(super) fn has(&self, flag: u16) -> bool {
        self.flags & flag != 0
    }

    /// Sets a flag and says whether it was set.
    pub(super) fn set(&mut self, flag: u16) -> bool {
        let had = self.has(flag);
        self.flags |= flag;
        had
    }
}

/// A call that a delta opened.
#[derive(Clone, Copy, Debug)]
pub(super) struct CallSlot {
    /// The place of its choice.
    pub(super) choice: u16,
    /// Its number among the calls of its choice, in order of appearance.
    pub(super) number: u32,
    pub(super) index: u32,
    /// Where the live records of its name begin.
    pub(super) name: u32,
    pub(super) named: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Table<const CHOICES: usize, const CALLS: usize> {
    /// In order of appearance.
    choices: [Option<Slot>; CHOICES],
    calls: [Option<CallSlot>; CALLS],
    /// Which members of the top level there are: one bit a kind, that of [`kind::ERROR_JSON`] for any error.
    pub(super) known: u16,
    pub(super) created: Option<u64>,
    /// Where the live record of the usage is.
    pub(super) usage: u32,
}

impl<const CHOICES: usize, const CALLS: usize> Table<CHOICES, CALLS> {
    pub(super) const EMPTY: Self =
        Table { choices: [None; CHOICES], calls: [None; CALLS], known: 0, created: None, usage: 0 };

    /// Whether there is a member of the top level.
    pub(super) fn knows(&self, kind: u8) -> bool {
        self.known & 1u16.checked_shl(u32::from(kind)).unwrap_or(0) != 0
    }

    /// Notes it, and says whether it was there.
    pub(super) fn know(&mut self, kind: u8) -> bool {
        let had = self.knows(kind);
        self.known |= 1u16.checked_shl(u32::from(kind)).unwrap_or(0);
        had
    }

    pub(super) fn slot(&self, place: u16) -> Option<&Slot> {
        self.choices.get(usize::from(place))?.as_ref()
    }

    pub(super) fn slot_mut(&mut self, place: u16) -> Option<&mut Slot> {
        self.choices.get_mut(usize::from(place))?.as_mut()
    }

    /// The place of the choice with this index.
    pub(super) fn place(&self, index: u32) -> Option<u16> {
        let place = self.choices.iter().position(|slot| slot.as_ref().is_some_and(|slot| slot.index == index))?;
        u16::try_from(place).ok()
    }

    /// The place of the choice with this index; a new one is given a place. None: there is no room.
    pub(super) fn place_or_new(&mut self, index: u32) -> Option<u16> {
        if let Some(place) = self.place(index) {
            return Some(place);
        }
        let place = self.choices.iter().position(Option::is_none)?;
        *self.choices.get_mut(place)? = Some(Slot {
            index,
            flags: 0,
            calls: 0,
            body: 0,
            function: 0,
            role: 0,
            finish_reason: 0,
            native_finish_reason: 0,
            annotations: 0,
            expires_at: None,
        });
        u16::try_from(place).ok()
    }

    /// Notes a call. None: there is no room.
    pub(super) fn open_call(&mut self, choice: u16, number: u32, index: u32) -> Option<()> {
        let slot = self.calls.iter_mut().find(|slot| slot.is_none())?;
        *slot = Some(CallSlot { choice, number, index, name: 0, named: false });
        Some(())
    }

    pub(super) fn call_mut(&mut self, choice: u16, number: u32) -> Option<&mut CallSlot> {
        self.calls.iter_mut().flatten().find(|call| call.choice == choice && call.number == number)
    }

    /// How many choices there are.
    pub(super) fn choices(&self) -> usize {
        self.choices.iter().flatten().count()
    }

    /// The choice with the next higher index than `after`.
    pub(super) fn next_choice(&self, after: Option<u32>) -> Option<u32> {
        let indexes = self.choices.iter().flatten().map(|slot| slot.index);
        indexes.filter(|&index| after.is_none_or(|after| index > after)).min()
    }

    /// The call that is listed next after one with this index and number: by ascending index, in order of appearance if
    /// an index was used for two.
    pub(super) fn next_call(&self, choice: u16, after: Option<(u32, u32)>) -> Option<(u32, u32)> {
        let slot = self.slot(choice)?;
        if slot.has(flag::WHOLE | flag::REUSED) {
            let number = after.map_or(0, |(_, number)| number.saturating_add(1));
            return (number < slot.calls).then_some((0, number));
        }
        let calls = self.calls.iter().flatten().filter(|call| call.choice == choice);
        let calls = calls.map(|call| (call.index, call.number));
        calls.filter(|&call| after.is_none_or(|after| call > after)).min()
    }

    /// Where the live records of a key begin.
    pub(super) fn begin(&self, key: Key) -> u32 {
        if key.kind() < kind::ROLE {
            return if key.kind() == kind::USAGE { self.usage } else { 0 };
        }
        let Some(slot) = self.slot(key.choice()) else { return 0 };
        match key.kind() {
            kind::ROLE => slot.role,
            kind::FINISH_REASON => slot.finish_reason,
            kind::NATIVE_FINISH_REASON => slot.native_finish_reason,
            kind::ANNOTATIONS => slot.annotations,
            kind::FUNCTION_NAME => slot.body.max(slot.function),
            kind::CALL_NAME => {
                let mut calls = self.calls.iter().flatten();
                let call = calls.find(|call| call.choice == key.choice() && call.number == key.call());
                slot.body.max(call.map_or(0, |call| call.name))
            }
            kind::CONTENT.. => slot.body,
            _ => 0,
        }
    }

    /// Whether a record was not replaced.
    pub(super) fn is_live(&self, record: &Record<'_>) -> bool {
        record.at >= self.begin(record.key)
    }

    /// Notes that all records are live.
    pub(super) fn all_live(&mut self) {
        self.usage = 0;
        for slot in self.choices.iter_mut().flatten() {
            *slot = Slot {
                body: 0,
                function: 0,
                role: 0,
                finish_reason: 0,
                native_finish_reason: 0,
                annotations: 0,
                ..*slot
            };
        }
        self.calls.iter_mut().flatten().for_each(|call| call.name = 0);
    }
}
