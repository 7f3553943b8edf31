//! The state of a log's choices and calls. It contains no texts, but the offsets at which their live records begin.

use super::record::{kind, LogRecord, RecordKey};
use crate::dialect::Protocol;
use crate::tables::Tables;
use crate::visits::visit;

/// Flags of a choice.
pub(super) mod flag {
    /// Its calls are listed in order of appearance, because two have the same index, or because the message is of
    /// another protocol than chat completions, where each response of a stream numbers its calls from 0.
    pub(in crate::message) const AS_THEY_CAME: u16 = 1;
    pub(in crate::message) const FUNCTION: u16 = 2;
    pub(in crate::message) const AUDIO: u16 = 4;
    pub(in crate::message) const AUDIO_ID: u16 = 8;
    pub(in crate::message) const AUDIO_EXPIRES: u16 = 16;
    pub(in crate::message) const ERROR: u16 = 32;
    pub(in crate::message) const LOGPROBS: u16 = 64;
    /// The first of the six lists of log probabilities.
    pub(in crate::message) const LISTS: u16 = 128;
    pub(in crate::message) const REASONING_NAME: u16 = 128 << 6;
}

/// The live records of a text that may be replaced. Earlier records of its kind were replaced.
#[derive(Clone, Copy, Debug)]
pub(super) struct Live {
    /// The offset at which they begin.
    pub(super) begin: u32,
    /// Length of their bodies in bytes.
    pub(super) len: u32,
}

impl Live {
    pub(super) const NONE: Live = Live { begin: 0, len: 0 };

    /// Adds the bytes of a piece.
    pub(super) fn grow(&mut self, len: usize) {
        self.len = self.len.saturating_add(u32::try_from(len).unwrap_or(u32::MAX));
    }
}

/// Tables for the choices and calls of a message.
pub trait Rows: Tables<LoggedChoice, LoggedCall> {}

impl<T: Tables<LoggedChoice, LoggedCall> + ?Sized> Rows for T {}

/// A choice of a message: a row of its table.
#[derive(Clone, Copy, Debug)]
pub struct LoggedChoice {
    pub(super) index: u32,
    pub(super) flags: u16,
    /// How many calls are listed.
    pub(super) calls: u32,
    pub(super) function: Live,
    pub(super) role: Live,
    pub(super) finish_reason: Live,
    pub(super) native_finish_reason: Live,
    /// When its audio expires, in seconds since 1970.
    pub(super) expires_at: u64,
    /// The pending high surrogate at the end of its audio's transcript.
    pub(super) transcript_half: Option<u16>,
}

impl LoggedChoice {
    /// A row that is not in use.
    pub const EMPTY: LoggedChoice = LoggedChoice {
        index: 0,
        flags: 0,
        calls: 0,
        function: Live::NONE,
        role: Live::NONE,
        finish_reason: Live::NONE,
        native_finish_reason: Live::NONE,
        expires_at: 0,
        transcript_half: None,
    };

    #[inline]
    pub(super) fn has(&self, flag: u16) -> bool {
        self.flags & flag != 0
    }

    /// Sets a flag. Returns whether it was set before.
    pub(super) fn set(&mut self, flag: u16) -> bool {
        let had = self.has(flag);
        self.flags |= flag;
        had
    }

    /// Returns the rank of the choice's call with this index and number. Calls are listed by ascending rank, which is
    /// the pair of index and number. With [`flag::AS_THEY_CAME`] the index counts as 0, so that the number, the order
    /// of appearance, decides alone.
    pub(super) fn rank(&self, index: u32, number: u32) -> (u32, u32) {
        (if self.has(flag::AS_THEY_CAME) { 0 } else { index }, number)
    }
}

/// A tool call of a message: a row of its table.
#[derive(Clone, Copy, Debug)]
pub struct LoggedCall {
    /// The place of its choice.
    pub(super) choice: u16,
    /// Its number among the calls of its choice, in order of appearance.
    pub(super) number: u32,
    pub(super) index: u32,
    pub(super) name: Live,
    /// Whether its arguments were sent as an empty string.
    pub(super) sent_empty: bool,
    /// Whether it is over.
    pub(super) ended: bool,
}

impl LoggedCall {
    /// A row that is not in use.
    pub const EMPTY: LoggedCall =
        LoggedCall { choice: 0, number: 0, index: 0, name: Live::NONE, sent_empty: false, ended: false };

    fn is(&self, choice: u16, number: u32) -> bool {
        visit!(1);
        self.choice == choice && self.number == number
    }
}

/// The most members with different names that a message keeps.
pub(super) const MAX_MEMBERS: usize = 256;

/// The offset that means no record.
const NOWHERE: u32 = u32::MAX;

/// The state of the top level, and how much of the tables is in use.
#[derive(Clone, Copy, Debug)]
pub(super) struct Top {
    choice_count: u32,
    call_count: u32,
    /// The place of the call that was looked up last.
    last_call: usize,
    /// Which members of the top level are known, one bit for each kind. The bit of [`kind::ERROR_JSON`] is for any
    /// error.
    known: u16,
    member_count: u16,
    pub(super) created: Option<u64>,
    pub(super) usage: Live,
    /// Whether the message is of another protocol than chat completions.
    pub(super) is_native: bool,
    /// The protocol whose names the usage has, unless that is chat completions.
    pub(super) protocol: Option<Protocol>,
    /// Of Anthropic: whether a usage had prompt counts that add up to more than 0.
    pub(super) is_prompted: bool,
}

impl Top {
    const EMPTY: Top = Top {
        choice_count: 0,
        call_count: 0,
        last_call: 0,
        known: 0,
        member_count: 0,
        created: None,
        usage: Live::NONE,
        is_native: false,
        protocol: None,
        is_prompted: false,
    };
}

#[derive(Clone)]
pub(super) struct Table<T: Rows + ?Sized> {
    pub(super) top: Top,
    /// Where the record of each member begins, by rank, or [`NOWHERE`] if the member was removed.
    members: [u32; MAX_MEMBERS],
    /// The rows of choices and calls, in order of appearance.
    rows: T,
}

impl<T: Rows> Table<T> {
    pub(super) const fn new(rows: T) -> Self {
        Table { top: Top::EMPTY, members: [NOWHERE; MAX_MEMBERS], rows }
    }
}

/// Everything in a table that one update can change.
pub(super) struct Saved {
    top: Top,
    choice: Option<(u16, LoggedChoice)>,
    call: Option<(usize, LoggedCall)>,
}

impl<T: Rows + ?Sized> Table<T> {
    /// Returns to the start of a stream, where no row is in use.
    pub(super) fn reset(&mut self) {
        self.top = Top::EMPTY;
    }

    /// Saves everything that an update of this choice, and of this call of it, can change.
    pub(super) fn save(&self, choice: u32, call: u32) -> Saved {
        let row = self.place(choice).and_then(|place| Some((place, *self.choice(place)?)));
        let place = row.and_then(|(place, _)| self.calls().iter().position(|row| row.is(place, call)));
        let call = place.and_then(|place| Some((place, *self.calls().get(place)?)));
        Saved { top: self.top, choice: row, call }
    }

    /// Undoes an update.
    pub(super) fn restore(&mut self, saved: Saved) {
        self.top = saved.top;
        if let Some((place, row)) = saved.choice {
            if let Some(to) = self.rows.choices_mut().get_mut(usize::from(place)) {
                *to = row;
            }
        }
        if let Some((place, call)) = saved.call {
            if let Some(to) = self.rows.calls_mut().get_mut(place) {
                *to = call;
            }
        }
    }

    /// Whether a member of the top level is known.
    #[inline]
    pub(super) fn knows(&self, kind: u8) -> bool {
        self.top.known & 1u16.checked_shl(u32::from(kind)).unwrap_or(0) != 0
    }

    /// Returns the kinds of texts of the top level that are not known yet, one bit each.
    #[inline]
    pub(super) fn missing(&self) -> u16 {
        // The kinds before `USAGE` are the texts of the top level.
        const TEXTS: u16 = (1 << kind::USAGE) - 1;
        TEXTS & !self.top.known
    }

    /// Notes a member of the top level. Returns whether it was known before.
    pub(super) fn know(&mut self, kind: u8) -> bool {
        let had = self.knows(kind);
        self.top.known |= 1u16.checked_shl(u32::from(kind)).unwrap_or(0);
        had
    }

    /// Returns how many transcripts end in half a surrogate pair.
    #[cfg(feature = "alloc")]
    pub(super) fn transcript_halves(&self) -> u32 {
        self.choices().iter().filter(|row| row.transcript_half.is_some()).count() as u32
    }

    /// Returns where the members begin, in the order in which their names came first.
    pub(super) fn members(&self) -> &[u32] {
        self.members.get(..usize::from(self.top.member_count)).unwrap_or_default()
    }

    /// Notes where the record of the member with this rank begins.
    pub(super) fn place_member(&mut self, rank: u8, at: u32) {
        if let Some(place) = self.members.get_mut(usize::from(rank)) {
            *place = at;
        }
        self.top.member_count = self.top.member_count.max(u16::from(rank).saturating_add(1));
    }

    /// Forgets where the members begin.
    pub(super) fn forget_members(&mut self) {
        (self.members, self.top.member_count) = ([NOWHERE; MAX_MEMBERS], 0);
    }

    /// Returns the choices, in order of appearance.
    pub(super) fn choices(&self) -> &[LoggedChoice] {
        self.rows.choices().get(..self.top.choice_count as usize).unwrap_or_default()
    }

    /// Returns the calls, in order of appearance.
    pub(super) fn calls(&self) -> &[LoggedCall] {
        self.rows.calls().get(..self.top.call_count as usize).unwrap_or_default()
    }

    pub(super) fn choice(&self, place: u16) -> Option<&LoggedChoice> {
        self.choices().get(usize::from(place))
    }

    pub(super) fn choice_mut(&mut self, place: u16) -> Option<&mut LoggedChoice> {
        self.rows.choices_mut().get_mut(usize::from(place))
    }

    /// Returns the place of the choice with this index.
    #[inline]
    pub(super) fn place(&self, index: u32) -> Option<u16> {
        // This is nearly always the first choice.
        if self.top.choice_count > 0 && self.rows.choices().first().is_some_and(|row| row.index == index) {
            return Some(0);
        }
        self.further_place(index)
    }

    #[inline(never)]
    fn further_place(&self, index: u32) -> Option<u16> {
        visit!(self.choices().len());
        u16::try_from(self.choices().iter().position(|row| row.index == index)?).ok()
    }

    /// Returns the place of the choice with this index. Adds the choice if it is new. Returns `None` if there is no
    /// room.
    #[inline]
    pub(super) fn place_or_new(&mut self, index: u32) -> Option<u16> {
        self.place(index).or_else(|| self.new_place(index))
    }

    #[inline(never)]
    fn new_place(&mut self, index: u32) -> Option<u16> {
        let place = self.top.choice_count as usize;
        *self.rows.choices_mut().get_mut(place)? = LoggedChoice { index, ..LoggedChoice::EMPTY };
        self.top.choice_count = self.top.choice_count.saturating_add(1);
        u16::try_from(place).ok()
    }

    /// Adds a call. Returns `None` if there is no room.
    pub(super) fn open_call(&mut self, choice: u16, number: u32, index: u32) -> Option<()> {
        let place = self.top.call_count as usize;
        *self.rows.calls_mut().get_mut(place)? = LoggedCall { choice, number, index, ..LoggedCall::EMPTY };
        self.top.call_count = self.top.call_count.saturating_add(1);
        self.top.last_call = place;
        Some(())
    }

    /// Whether the choice with this index has a call of this number, or room for it.
    pub(super) fn may_have_call(&self, index: u32, number: u32) -> bool {
        let is_it = |place| self.calls().iter().any(|call| call.is(place, number));
        (self.top.call_count as usize) < self.rows.calls().len() || self.place(index).is_some_and(is_it)
    }

    pub(super) fn call(&self, choice: u16, number: u32) -> Option<&LoggedCall> {
        self.calls().iter().find(|call| call.is(choice, number))
    }

    #[inline]
    pub(super) fn call_mut(&mut self, choice: u16, number: u32) -> Option<&mut LoggedCall> {
        // Nearly always, this is the call that was looked up last.
        if !self.calls().get(self.top.last_call).is_some_and(|call| call.is(choice, number)) {
            self.top.last_call = self.calls().iter().position(|call| call.is(choice, number))?;
        }
        self.rows.calls_mut().get_mut(self.top.last_call)
    }

    /// Returns the lowest index of a choice that is higher than `after`.
    pub(super) fn next_choice(&self, after: Option<u32>) -> Option<u32> {
        visit!(self.choices().len());
        let indexes = self.choices().iter().map(|row| row.index);
        indexes.filter(|&index| after.is_none_or(|after| index > after)).min()
    }

    /// Returns the lowest rank of a call that is higher than `after`.
    pub(super) fn next_call(&self, choice: u16, after: Option<(u32, u32)>) -> Option<(u32, u32)> {
        visit!(self.calls().len());
        let row = self.choice(choice)?;
        let calls = self.calls().iter().filter(|call| call.choice == choice);
        let ranks = calls.map(|call| row.rank(call.index, call.number));
        ranks.filter(|&rank| after.is_none_or(|after| rank > after)).min()
    }

    /// Returns where the live records of a key begin.
    pub(super) fn begin(&self, key: RecordKey) -> u32 {
        if key.kind() < kind::ROLE {
            return if key.kind() == kind::USAGE { self.top.usage.begin } else { 0 };
        }
        let Some(row) = self.choice(key.choice()) else { return 0 };
        match key.kind() {
            kind::ROLE => row.role.begin,
            kind::FINISH_REASON => row.finish_reason.begin,
            kind::NATIVE_FINISH_REASON => row.native_finish_reason.begin,
            kind::FUNCTION_NAME => row.function.begin,
            kind::CALL_NAME => self.call(key.choice(), key.call()).map_or(0, |call| call.name.begin),
            _ => 0,
        }
    }

    /// Whether a record is live, that is, was not replaced.
    pub(super) fn is_live(&self, record: &LogRecord<'_>) -> bool {
        match record.key.kind() {
            kind::DEAD => false,
            kind::MEMBER => self.is_live_member(record),
            _ => record.at >= self.begin(record.key),
        }
    }

    /// Notes that all records in the log are live, after the replaced ones were removed.
    pub(super) fn all_live(&mut self) {
        self.top.usage.begin = 0;
        for row in self.rows.choices_mut() {
            let LoggedChoice { function, role, finish_reason, native_finish_reason, .. } = row;
            for live in [function, role, finish_reason, native_finish_reason] {
                live.begin = 0;
            }
        }
        self.rows.calls_mut().iter_mut().for_each(|call| call.name.begin = 0);
    }
}
