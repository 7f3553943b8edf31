//! The members of a message that have no field of their own, such as those that providers add.
//!
//! Each member is a record of its own, whatever its owner is: a chunk, a choice, its deltas, a tool call, or the
//! function of a call. The table has the places of the records, in the order in which their names came first. A new value
//! of a member is appended as a new record, which takes the place of the old one. The old record is then dead, and is
//! removed together with all other replaced records.
//!
//! Each chunk may have members, and the sender chooses their names, so a member is looked up by its [`tag`]: only names of
//! one tag, and so of one length, are compared.

use super::error::LogError;
use super::lists::{self, Added};
use super::log::MessageLogOf;
use super::read::Out;
use super::record::{copy, kind, Fill, LogRecord, LogRecords, RecordKey, HEADER};
use super::table::{Rows, Table, MAX_MEMBERS};
use super::write::LogState;
use crate::chat::{OtherMember, Owner};
use crate::hash;
use crate::json::{self, Text, Value};
use crate::visits::visit;

/// The most members whose names have one tag. Names of a server never share one; forged ones must not make each member
/// be compared with many others.
const MAX_TWINS: usize = 8;

/// How many bytes of a list cost as much to read as a record.
const READ_LEN: usize = 16;

/// Length of the bytes before the name: the tag, the length of the value, a number that is higher than each index in a
/// list, and the owner.
const HEAD: usize = 17;

/// Where the length of the value and the number after it are in the body.
const LEN_AT: usize = 8;

/// The record of a member.
pub(super) struct Entry<'b> {
    pub(super) at: u32,
    /// How many other names came before its name.
    rank: u8,
    /// A number that is higher than each index in a [list](super::lists).
    top: u32,
    /// How many bytes behind the value are free, for a list to grow.
    room: usize,
    /// The number of the [`Owner`].
    pub(super) owner: u8,
    /// The place of the choice in the table, or 0 if the member belongs to no choice.
    pub(super) place: u16,
    /// The number of the call.
    pub(super) call: u32,
    /// Valid UTF-8.
    pub(super) name: &'b [u8],
    /// The value as sent.
    pub(super) value: &'b [u8],
}

impl<'b> Entry<'b> {
    fn at(log: &'b [u8], at: u32) -> Option<Self> {
        Entry::of(&LogRecord::at(log, usize::try_from(at).ok()?)?)
    }

    /// Reads the record of a member.
    pub(super) fn of(record: &LogRecord<'b>) -> Option<Self> {
        let LogRecord { at, key, body } = *record;
        let (head, rest) = body.split_first_chunk::<HEAD>()?;
        visit!(HEAD);
        let (tag, [v0, v1, v2, v3, t0, t1, t2, t3, owner]) = head.split_first_chunk::<8>()? else { return None };
        let word = u32::from_le_bytes;
        let (name, value) = rest.split_at_checked(usize::try_from(u64::from_le_bytes(*tag) >> 32).ok()?)?;
        let (value, room) = value.split_at_checked(usize::try_from(word([*v0, *v1, *v2, *v3])).ok()?)?;
        let (top, room, owner) = (word([*t0, *t1, *t2, *t3]), room.len(), *owner);
        let (rank, place, call) = (key.rank(), key.choice(), key.call());
        Some(Entry { at, rank, top, room, owner, place, call, name, value })
    }

    pub(super) fn is_of(&self, owner: Owner, place: u16, call: u32) -> bool {
        (self.owner, self.place, self.call) == (owner as u8, place, call)
    }

    /// Returns the length of its body in bytes, without the free bytes.
    fn len(&self) -> usize {
        HEAD.saturating_add(self.name.len()).saturating_add(self.value.len())
    }

    /// Writes everything before the value. `len` is the length of the value.
    fn put_head(fill: &mut Fill, buffer: &mut [u8], (tag, len, top): (u64, usize, u32), member: &OtherMember<'_>) {
        fill.put(buffer, &tag.to_le_bytes());
        fill.put(buffer, &(len as u32).to_le_bytes());
        fill.put(buffer, &top.to_le_bytes());
        fill.put(buffer, &[member.owner as u8]);
        fill.put_text(buffer, member.name);
    }
}

/// Returns a hash of a member's name, of its owner, and of that owner's place and number, in the lower half, and the
/// length of the name in the upper half. A sender can give many members one hash. The length then distinguishes those
/// with long names from those with short ones, so that only names that cost their bytes are compared with many others.
fn tag(owner: Owner, place: u16, call: u32, name: Text<'_>) -> u64 {
    let [p0, p1] = place.to_le_bytes();
    let [c0, c1, c2, c3] = call.to_le_bytes();
    let (mut hash, mut len) = (hash::fnv(&[owner as u8, p0, p1, c0, c1, c2, c3]), 0u32);
    for fragment in name.fragments() {
        let mut buffer = [0; 4];
        let bytes = fragment.encode(&mut buffer).as_bytes();
        visit!(bytes.len());
        (hash, len) = (hash::fnv_after(hash, bytes), len.saturating_add(bytes.len() as u32));
    }
    u64::from(len) << 32 | u64::from(hash)
}

/// Writes the free bytes behind a list.
fn free_bytes(out: &mut Out<'_>, room: usize) {
    let mut left = room;
    while left > 0 {
        let some = [b' '; 64];
        let some = some.get(..left.min(64)).unwrap_or_default();
        out.put(some);
        left = left.saturating_sub(some.len());
    }
}

impl<T: Rows + ?Sized> Table<T> {
    /// Whether the record of a member is live.
    pub(super) fn is_live_member(&self, record: &LogRecord<'_>) -> bool {
        !Entry::of(record).is_some_and(|entry| self.is_replaced(&entry))
    }

    /// Whether a whole usage replaced this member of earlier ones.
    pub(super) fn is_replaced(&self, entry: &Entry<'_>) -> bool {
        entry.owner == Owner::Usage as u8 && entry.at < self.top.usage.begin
    }

    /// Returns the place of a member's choice in its key. A choice that is not listed has the place that it will get.
    fn place_of_owner(&self, owner: Owner, choice: u32) -> u16 {
        match owner {
            Owner::Chunk | Owner::Usage => 0,
            _ => self.place(choice).unwrap_or_else(|| u16::try_from(self.choices().len()).unwrap_or(u16::MAX)),
        }
    }
}

impl<T: Rows + ?Sized> LogState<T> {
    /// Finds the members again after their records were moved.
    pub(super) fn place_members(&mut self, buffer: &[u8]) {
        self.table.forget_members();
        let records = LogRecords::of(buffer.get(..self.fill.len).unwrap_or_default());
        for record in records.filter(|record| record.key.kind() == kind::MEMBER) {
            self.table.place_member(record.key.rank(), record.at);
        }
    }
}

impl<T: Rows + ?Sized> MessageLogOf<T> {
    /// Adds a member, which replaces the previous one of its name or joins its list. Ignores members of a call that was
    /// left out. Members of a call that is not open yet are listed once it opens.
    pub(super) fn other(&mut self, buffer: &mut [u8], member: &OtherMember<'_>) -> Result<(), LogError> {
        let OtherMember { owner, choice, call, name, value, .. } = *member;
        if owner.is_call() && !self.state.table.may_have_call(choice, call) {
            return Ok(());
        }
        if owner != Owner::Chunk && choice == u32::MAX {
            return Err(self.leave_out(LogError::BadIndex));
        }
        let reads_before = self.state.reads;
        let place = self.state.table.place_of_owner(owner, choice);
        let tag = tag(owner, place, call, name);
        let old = self.find(buffer, place, tag, member);
        let live_old = old.as_ref().filter(|old| !self.state.table.is_replaced(old));
        if live_old.is_some_and(|old| old.value == value.raw()) {
            return Ok(());
        }
        let added = match live_old {
            Some(old) if lists::is_list(member) => Added::to(old.value, old.top, value),
            _ => Added::All,
        };
        let kept_top = live_old.filter(|_| !matches!(added, Added::All)).map_or(0, |old| old.top);
        let top = if lists::is_list(member) { lists::top_of(value, kept_top) } else { 0 };
        let kept = live_old.map_or(&b""[..], |old| old.value);
        // The length of the value, and how much room a list has behind it.
        let (value_len, room) = match added {
            Added::Nothing => return Ok(()),
            Added::All => (value.raw().len(), 0),
            Added::End(comma, end) => {
                let len = kept.len().saturating_sub(1).saturating_add(comma.len()).saturating_add(end.len());
                if let Some(old) = live_old.filter(|old| len.saturating_sub(kept.len()) <= old.room) {
                    let (at, name) = (old.at, old.name.len());
                    return self.grow_list(buffer, at, (name, kept.len(), len, top), [comma, end]);
                }
                (len, len / 2)
            }
            Added::Merged => {
                let reads = kept.len().saturating_mul(lists::merging(value)) / READ_LEN;
                if !self.state.may_read(value.raw()) {
                    return self.state.take_fault().map_err(|error| self.leave_out(error));
                }
                self.state.reads = self.state.reads.saturating_add(u32::try_from(reads).unwrap_or(u32::MAX));
                let mut len = 0usize;
                lists::put_merged(kept, kept_top, value, &mut |bytes| len = len.saturating_add(bytes.len()));
                (len, len / 2)
            }
        };
        let count = self.state.table.members().len();
        let is_full = || count >= MAX_MEMBERS || self.tagged(buffer, tag).count() >= MAX_TWINS;
        if old.is_none() && is_full() {
            return Err(self.leave_out(LogError::TooLong));
        }
        let len = HEAD.saturating_add(name.decoded_len()).saturating_add(value_len);
        let replaced = live_old.map_or(0, Entry::len);
        let live = self.state.live.saturating_sub(replaced).saturating_add(len);
        let need = self.len().saturating_add(HEADER).saturating_add(len).saturating_add(room);
        if let Err(error) = self.fits(buffer, need, live) {
            if error != LogError::TooLong {
                // The same member comes again, and is read again.
                self.state.reads = reads_before;
            }
            return Err(error);
        }
        // List the choice even if it has nothing else.
        if owner != Owner::Chunk && self.state.table.place_or_new(choice).is_none() {
            return Err(self.leave_out(LogError::TooManyChoices));
        }
        let (rank, dead) = old.map_or((count as u8, None), |old| (old.rank, Some(old.at)));
        let LogState { fill, table, .. } = &mut self.state;
        let at = fill.seal(buffer);
        fill.begin(buffer, RecordKey::new(kind::MEMBER, place, call).with_rank(rank));
        Entry::put_head(fill, buffer, (tag, value_len, top), member);
        let (log, free) = buffer.split_at_mut_checked(fill.len).unwrap_or_default();
        let kept = dead.and_then(|at| Entry::at(log, at)).map_or(&b""[..], |old| old.value);
        let mut out = Out { bytes: free, len: 0 };
        match added {
            Added::End(comma, end) => {
                let open = kept.strip_suffix(b"]").unwrap_or_default();
                [open, comma, end].into_iter().for_each(|bytes| out.put(bytes));
            }
            Added::Merged => lists::put_merged(kept, kept_top, value, &mut |bytes| out.put(bytes)),
            Added::All | Added::Nothing => out.put(value.raw()),
        }
        visit!(out.len.saturating_add(room));
        free_bytes(&mut out, room);
        fill.grow(out.len);
        table.place_member(rank, at);
        if let Some(dead) = dead {
            copy(buffer.get_mut(dead as usize..).unwrap_or_default(), &[kind::DEAD]);
        }
        self.state.live = live;
        self.state.stale |= dead.is_some();
        self.state.settle(buffer)
    }

    /// Appends to a list that has room. `at` is where its record begins; the lengths are those of the name, the list
    /// and the new list.
    fn grow_list(
        &mut self,
        buffer: &mut [u8],
        at: u32,
        (name, old, len, top): (usize, usize, usize, u32),
        added: [&[u8]; 2],
    ) -> Result<(), LogError> {
        let live = self.state.live.saturating_add(len.saturating_sub(old));
        self.fits(buffer, self.len(), live)?;
        self.state.live = live;
        let body = (at as usize).saturating_add(HEADER);
        let end = body.saturating_add(HEAD).saturating_add(name).saturating_add(old).saturating_sub(1);
        let mut out = Out { bytes: buffer.get_mut(end..).unwrap_or_default(), len: 0 };
        added.into_iter().for_each(|bytes| out.put(bytes));
        visit!(out.len);
        let numbers = buffer.get_mut(body.saturating_add(LEN_AT)..).unwrap_or_default();
        let mut out = Out { bytes: numbers, len: 0 };
        [len as u32, top].into_iter().for_each(|number| out.put(&number.to_le_bytes()));
        Ok(())
    }

    fn find<'b>(&self, buffer: &'b [u8], place: u16, tag: u64, member: &OtherMember<'_>) -> Option<Entry<'b>> {
        self.tagged(buffer, tag).find(|entry| {
            entry.is_of(member.owner, place, member.call) && {
                visit!(entry.name.len());
                member.name.is_decoded(entry.name)
            }
        })
    }

    /// Returns the members with this tag.
    fn tagged<'s, 'b>(&'s self, buffer: &'b [u8], tag: u64) -> impl Iterator<Item = Entry<'b>> + use<'s, 'b, T> {
        let has_tag = move |at: &&u32| {
            visit!(1);
            let body = buffer.get((**at as usize).saturating_add(HEADER)..);
            body.is_some_and(|body| body.starts_with(&tag.to_le_bytes()))
        };
        self.state.table.members().iter().filter(has_tag).filter_map(|at| Entry::at(buffer, *at))
    }

    /// Returns how many bytes a member adds to a log.
    pub(super) fn len_of(&self, name: Text<'_>, value: Value<'_>) -> usize {
        HEADER.saturating_add(HEAD).saturating_add(name.decoded_len()).saturating_add(value.raw().len())
    }

    /// Returns the members of all owners, in the order in which their names came first.
    pub(super) fn entries<'s, 'b>(&'s self, buffer: &'b [u8]) -> impl Iterator<Item = Entry<'b>> + use<'s, 'b, T> {
        let table = &self.state.table;
        let all = table.members().iter().filter_map(|at| Entry::at(buffer, *at));
        all.filter(|entry| !table.is_replaced(entry))
    }

    /// Returns the members of a usage that came in several events.
    pub(super) fn usage_members<'s, 'b>(
        &'s self,
        buffer: &'b [u8],
    ) -> impl Iterator<Item = Entry<'b>> + use<'s, 'b, T> {
        self.entries(buffer).filter(|entry| entry.is_of(Owner::Usage, 0, 0))
    }

    /// Whether members were added to the last usage of chat completions.
    pub(super) fn has_added_usage(&self, buffer: &[u8]) -> bool {
        !self.is_native() && self.usage_members(buffer).next().is_some()
    }

    /// Puts the last whole usage, if there is one, with the members that were added to it, as strict JSON. There must be
    /// such members.
    pub(super) fn put_added_usage(&self, buffer: &[u8], put: &mut dyn FnMut(&[u8])) {
        let last = self.pieces(buffer, RecordKey::new(kind::USAGE, 0, 0)).next().map(Value::from_raw);
        let (mut open, mut at): (&[u8], _) = (b"{\"", 0);
        while let Some((name, value)) = last.and_then(|last| last.member_at(&mut at)) {
            if !self.usage_members(buffer).any(|added| name.is_decoded(added.name)) {
                put(open);
                json::escape_text(name, &mut *put);
                put(b"\":");
                json::rewrite(value.raw(), put);
                open = b",\"";
            }
        }
        for added in self.usage_members(buffer) {
            put(open);
            json::escape(added.name, &mut *put);
            put(b"\":");
            json::rewrite(added.value, put);
            open = b",\"";
        }
        put(b"}");
    }

    /// Returns the names and values, as sent, of an owner's members that have no field, such as those of providers. If
    /// a member is sent several times, the last value that is not null counts. Lists of a delta, except `citations`,
    /// become one list: their elements are appended, unless a list begins with all elements so far, and an element with
    /// the `index` of an earlier one adds its members to that one. `choice` is the index of the choice, or
    /// 0 for the members of the chunk. `call` is the position of a call in the choice's list, and is ignored for other
    /// owners.
    pub fn members<'s, 'b>(
        &'s self,
        buffer: &'b [u8],
        owner: Owner,
        choice: u32,
        call: u32,
    ) -> impl Iterator<Item = (&'b str, Value<'b>)> + use<'s, 'b, T> {
        // The members of a chunk belong to no choice.
        let is_of_none = matches!(owner, Owner::Chunk | Owner::Usage) && choice != 0;
        let number = if owner.is_call() { self.call_number(choice, call) } else { Some(0).filter(|_| !is_of_none) };
        let place = self.state.table.place_of_owner(owner, choice);
        let own = self.entries(buffer).filter(move |entry| number.is_some_and(|call| entry.is_of(owner, place, call)));
        own.filter_map(|entry| Some((core::str::from_utf8(entry.name).ok()?, Value::from_raw(entry.value))))
    }

    /// Returns the member with this name, as [`members`](Self::members) has it.
    pub fn member<'b>(&self, buffer: &'b [u8], owner: Owner, choice: u32, call: u32, name: &str) -> Option<Value<'b>> {
        self.members(buffer, owner, choice, call).find(|(own, _)| *own == name).map(|(_, value)| value)
    }
}
