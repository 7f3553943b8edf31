//! The members of a message that have no field of their own, such as those that providers add.
//!
//! Each member is a record of its own, whatever its owner is: a chunk, a choice, its deltas, a tool call, or the
//! function of a call. The records are linked in the order in which their names came first. A new value of a member is
//! appended as a new record, which replaces the old one among the links. The old record is then dead, and is removed
//! together with all other replaced records.

use super::error::LogError;
use super::log::MessageLogOf;
use super::record::{copy, kind, Fill, LogRecord, LogRecords, RecordKey, HEADER};
use super::table::{Rows, NOWHERE};
use super::write::LogState;
use crate::chat::{OtherMember, Owner};
use crate::json::{Text, Value};
use crate::visits::visit;

/// The most members with different names that a message keeps.
const MAX_MEMBERS: usize = 256;

/// Length of the bytes before the name: the offset of the next member's record, the owner, the choice, the call, and
/// the length of the name.
const HEAD: usize = 17;

/// The record of a member.
pub(super) struct Entry<'b> {
    at: u32,
    /// How many other names came before its name.
    rank: u32,
    /// Where the record of the next member begins, or [`NOWHERE`].
    next: u32,
    /// The number of the [`Owner`].
    pub(super) owner: u8,
    /// The index of the choice.
    pub(super) choice: u32,
    /// The number of the call.
    pub(super) call: u32,
    pub(super) name: &'b str,
    /// The value as sent.
    pub(super) value: &'b [u8],
}

/// Where the member of a name is, or would be, among the members.
struct Place<'b> {
    /// Where the record of the member before it begins, or of the last member if there is none of this name.
    before: Option<u32>,
    old: Option<Entry<'b>>,
    /// How many other names came before its name.
    rank: u32,
}

impl<'b> Entry<'b> {
    fn at(log: &'b [u8], at: u32) -> Option<Self> {
        let LogRecord { key, body, .. } = LogRecord::at(log, usize::try_from(at).ok()?)?;
        let (head, rest) = body.split_first_chunk::<HEAD>()?;
        let [n0, n1, n2, n3, owner, i0, i1, i2, i3, c0, c1, c2, c3, l0, l1, l2, l3] = *head;
        let word = u32::from_le_bytes;
        let (name, value) = rest.split_at_checked(word([l0, l1, l2, l3]) as usize)?;
        visit!(HEAD.saturating_add(name.len()));
        let (next, choice, call) = (word([n0, n1, n2, n3]), word([i0, i1, i2, i3]), word([c0, c1, c2, c3]));
        let name = core::str::from_utf8(name).ok()?;
        Some(Entry { at, rank: key.call(), next, owner, choice, call, name, value })
    }

    pub(super) fn is_of(&self, owner: Owner, choice: u32, call: u32) -> bool {
        (self.owner, self.choice, self.call) == (owner as u8, choice, call)
    }

    /// Returns the length of its body in bytes.
    fn len(&self) -> usize {
        HEAD.saturating_add(self.name.len()).saturating_add(self.value.len())
    }

    fn put(fill: &mut Fill, buffer: &mut [u8], next: u32, member: &OtherMember<'_>) {
        let OtherMember { owner, choice, call, name, value, .. } = *member;
        let len = u32::try_from(name.decoded_len()).unwrap_or(u32::MAX);
        fill.put(buffer, &next.to_le_bytes());
        fill.put(buffer, &[owner as u8]);
        [choice, call, len].into_iter().for_each(|word| fill.put(buffer, &word.to_le_bytes()));
        fill.put_text(buffer, name);
        fill.put(buffer, value.raw());
    }
}

/// Links the member at `to` after the member at `at`.
fn link(buffer: &mut [u8], at: u32, to: u32) {
    let at = (at as usize).saturating_add(HEADER);
    copy(buffer.get_mut(at..at.saturating_add(4)).unwrap_or_default(), &to.to_le_bytes());
}

impl<T: Rows + ?Sized> LogState<T> {
    /// Links the members again after their records were moved.
    pub(super) fn link_members(&mut self, buffer: &mut [u8]) {
        let mut places = [NOWHERE; MAX_MEMBERS];
        let records = LogRecords::of(buffer.get(..self.fill.len).unwrap_or_default());
        for record in records.filter(|record| record.key.kind() == kind::MEMBER) {
            if let Some(place) = places.get_mut(record.key.call() as usize) {
                *place = record.at;
            }
        }
        self.table.top.members = NOWHERE;
        for at in places.into_iter().rev().filter(|at| *at != NOWHERE) {
            link(buffer, at, self.table.top.members);
            self.table.top.members = at;
        }
    }
}

impl<T: Rows + ?Sized> MessageLogOf<T> {
    /// Adds a member, which replaces the previous one of its name. Ignores members of a call that was left out. Members
    /// of a call that is not open yet are listed once it opens.
    pub(super) fn other(&mut self, buffer: &mut [u8], member: &OtherMember<'_>) -> Result<(), LogError> {
        let OtherMember { owner, choice, call, name, value, .. } = *member;
        if owner.is_call() && !self.state.table.may_have_call(choice, call) {
            return Ok(());
        }
        if owner != Owner::Chunk && choice == u32::MAX {
            return Err(self.leave_out(LogError::BadIndex));
        }
        let Place { before, old, rank } = self.place_of(buffer, member);
        if old.as_ref().is_some_and(|old| old.value == value.raw()) {
            return Ok(());
        }
        if rank as usize >= MAX_MEMBERS {
            return Err(self.leave_out(LogError::TooLong));
        }
        let len = HEAD.saturating_add(name.decoded_len()).saturating_add(value.raw().len());
        let replaced = old.as_ref().map_or(0, Entry::len);
        let live = self.state.live.saturating_sub(replaced).saturating_add(len);
        self.fits(buffer, self.len().saturating_add(HEADER).saturating_add(len), live)?;
        // List the choice even if it has nothing else.
        if owner != Owner::Chunk && self.state.table.place_or_new(choice).is_none() {
            return Err(self.leave_out(LogError::TooManyChoices));
        }
        let old = old.map(|old| (old.at, old.next));
        let LogState { fill, table, .. } = &mut self.state;
        let at = fill.seal(buffer);
        fill.begin(buffer, RecordKey::new(kind::MEMBER, 0, rank));
        Entry::put(fill, buffer, old.map_or(NOWHERE, |(_, next)| next), member);
        match before {
            Some(before) => link(buffer, before, at),
            None => table.top.members = at,
        }
        if let Some((old, _)) = old {
            copy(buffer.get_mut(old as usize..).unwrap_or_default(), &[kind::DEAD]);
        }
        self.state.live = live;
        self.state.stale |= old.is_some();
        self.state.settle(buffer)
    }

    /// Whether the log has the member with this value.
    pub(super) fn has_member(&self, buffer: &[u8], member: &OtherMember<'_>) -> bool {
        self.place_of(buffer, member).old.is_some_and(|old| old.value == member.value.raw())
    }

    /// Returns where the member of this name is among the others.
    fn place_of<'b>(&self, buffer: &'b [u8], member: &OtherMember<'_>) -> Place<'b> {
        let (mut before, mut rank) = (None, 0);
        for entry in self.entries(buffer) {
            rank = entry.rank;
            if entry.is_of(member.owner, member.choice, member.call) && member.name == *entry.name {
                return Place { before, old: Some(entry), rank };
            }
            (before, rank) = (Some(entry.at), rank.saturating_add(1));
        }
        Place { before, old: None, rank }
    }

    /// Returns how many bytes a member adds to a log.
    pub(super) fn len_of(&self, name: Text<'_>, value: Value<'_>) -> usize {
        HEADER.saturating_add(HEAD).saturating_add(name.decoded_len()).saturating_add(value.raw().len())
    }

    /// Returns the members of all owners, in the order in which their names came first.
    pub(super) fn entries<'b>(&self, buffer: &'b [u8]) -> impl Iterator<Item = Entry<'b>> + use<'b, T> {
        let log = buffer.get(..self.len()).unwrap_or_default();
        let first = Entry::at(log, self.state.table.top.members);
        core::iter::successors(first, |entry| Entry::at(log, entry.next)).take(MAX_MEMBERS)
    }

    /// Returns the names and values, as sent, of an owner's members that have no field, such as those of providers. If
    /// a member is sent several times, the last value that is not null counts. `choice` is the index of the choice, or
    /// 0 for the members of the chunk. `call` is the position of a call in the choice's list, and is ignored for other
    /// owners.
    pub fn members<'b>(
        &self,
        buffer: &'b [u8],
        owner: Owner,
        choice: u32,
        call: u32,
    ) -> impl Iterator<Item = (&'b str, Value<'b>)> + use<'b, T> {
        let number = if owner.is_call() { self.call_number(choice, call) } else { Some(0) };
        let own = self.entries(buffer).filter(move |entry| number.is_some_and(|call| entry.is_of(owner, choice, call)));
        own.map(|entry| (entry.name, Value::from_raw(entry.value)))
    }

    /// Returns the member with this name, as [`members`](Self::members) has it.
    pub fn member<'b>(&self, buffer: &'b [u8], owner: Owner, choice: u32, call: u32, name: &str) -> Option<Value<'b>> {
        self.members(buffer, owner, choice, call).find(|(own, _)| *own == name).map(|(_, value)| value)
    }
}
