//! `reasoning_details`: reading them joins the entries that are fragments of one.

use super::log::MessageLogOf;
use super::record::{kind, LogRecords, RecordKey};
use super::table::Rows;
use super::write::LogWriter;
use crate::chat::OtherMember;
use crate::json::{self, Text, Value, ValueKind};

impl<T: Rows + ?Sized> MessageLogOf<T> {
    /// Returns the items of a list whose records are never replaced.
    pub(super) fn listed<'b>(&self, buffer: &'b [u8], key: RecordKey) -> Listed<'b> {
        Listed::of(self.records(buffer), key)
    }

    /// Puts the entries of `reasoning_details`, joined, with commas between them.
    pub(super) fn put_details(&self, buffer: &[u8], place: u16, mut put: impl FnMut(&[u8])) {
        let mut details = self.listed(buffer, RecordKey::new(kind::DETAILS, place, 0));
        let mut group = Group::at(details.clone());
        loop {
            let before = details.clone();
            let Some(entry) = details.next() else { break };
            if !group.takes(entry) {
                group.write(&mut put);
                put(b",");
                group = Group::at(before);
                group.takes(entry);
            }
        }
        group.write(&mut put);
    }
}

impl<T: Rows + ?Sized> LogWriter<'_, T> {
    /// Whether these `reasoning_details` are new. Those of a whole `message` are not new if the choice already has
    /// some.
    pub(super) fn is_new_of_details(&mut self, member: &OtherMember<'_>) -> bool {
        let Some(place) = self.state.table.place(member.choice).filter(|_| member.in_message) else { return true };
        // An empty array, which many servers repeat, adds nothing.
        if is_empty(member.value) || !self.state.may_read(member.value.raw()) {
            return false;
        }
        self.state.fill.settle(self.buffer);
        let records = LogRecords::of(self.buffer.get(..self.state.fill.len).unwrap_or_default());
        let mut listed = Listed::of(records, RecordKey::new(kind::DETAILS, place, 0));
        let (has_any, count) = (listed.next().is_some(), listed.records.count);
        self.state.reads = self.state.reads.saturating_add(count);
        !has_any
    }
}

/// Whether a value is an array without elements.
#[cold]
fn is_empty(value: Value<'_>) -> bool {
    value.kind() == ValueKind::Array && value.element_at(&mut 0).is_none()
}

impl<'b> Listed<'b> {
    /// Returns the items of the list with this key in a log.
    pub(super) fn of(records: LogRecords<'b>, key: RecordKey) -> Self {
        Listed { records, key, items: Items::of(b"") }
    }
}

/// The items of a list.
#[derive(Clone)]
pub(super) struct Listed<'b> {
    pub(super) records: LogRecords<'b>,
    key: RecordKey,
    /// The items of the current record.
    items: Items<'b>,
}

impl<'b> Iterator for Listed<'b> {
    type Item = Value<'b>;

    fn next(&mut self) -> Option<Value<'b>> {
        loop {
            if let Some(item) = self.items.next() {
                return Some(item);
            }
            let key = self.key;
            self.items = Items::of(self.records.find(|record| record.key == key)?.body);
        }
    }
}

/// The items of one record: strict JSON with commas between them.
#[derive(Clone)]
pub(super) struct Items<'b> {
    items: &'b [u8],
    /// Offset of the next item.
    at: usize,
}

impl<'b> Items<'b> {
    pub(super) fn of(items: &'b [u8]) -> Self {
        Items { items, at: 0 }
    }
}

impl<'b> Iterator for Items<'b> {
    type Item = Value<'b>;

    fn next(&mut self) -> Option<Value<'b>> {
        let rest = self.items.get(self.at..)?;
        let comma = usize::from(rest.first() == Some(&b','));
        let value = json::Cursor::with_max_depth(rest.get(comma..)?, u32::MAX).value().ok()?;
        self.at = self.at.saturating_add(comma).saturating_add(value.raw().len());
        Some(value)
    }
}

/// How many different members the entries of one group may have. An entry with more begins another group.
const NAMES: usize = 16;

/// Entries that are written as one: consecutive entries of equal type and index without `data`, or a single entry.
struct Group<'b> {
    /// The entries of the group, and all entries after them.
    entries: Listed<'b>,
    /// How many entries the group has.
    len: usize,
    /// The members of the entries, each with its last value that is not null, or null if all are.
    members: [Option<(Text<'b>, Value<'b>)>; NAMES],
}

impl<'b> Group<'b> {
    fn at(entries: Listed<'b>) -> Self {
        Group { entries, len: 0, members: [None; NAMES] }
    }

    /// Adds the next entry. Returns `false` if it belongs to the next group.
    fn takes(&mut self, entry: Value<'b>) -> bool {
        let own = |name: &str| {
            let known = self.members.iter().flatten().find(|(own, _)| own == name);
            known.map(|(_, value)| value.raw()).filter(|raw| *raw != b"null")
        };
        let other = |name: &str| {
            let value = entry.get(name).ok().flatten();
            value.map(|value| value.raw()).filter(|raw| *raw != b"null")
        };
        let has_data = own("data").is_some() || other("data").is_some();
        let goes_on =
            !has_data && own("index").is_some() && own("index") == other("index") && own("type") == other("type");
        if self.len > 0 && !goes_on {
            return false;
        }
        let mut members = self.members;
        for (name, value) in entry.members().map_while(Result::ok) {
            let member =
                members.iter_mut().find(|member| member.as_ref().is_none_or(|(own, _)| own.raw() == name.raw()));
            match member {
                Some(Some((_, last))) if !value.is_null() => *last = value,
                Some(Some(_)) => {}
                Some(none) => *none = Some((name, value)),
                None if self.len > 0 => return false,
                None => {}
            }
        }
        (self.members, self.len) = (members, self.len.saturating_add(1));
        true
    }

    /// Writes the group as one object, or a single entry unchanged.
    fn write(&self, put: &mut dyn FnMut(&[u8])) {
        let all = || self.entries.clone().take(self.len);
        if self.len == 1 {
            return all().for_each(|entry| json::rewrite(entry.raw(), put));
        }
        for (place, (name, value)) in self.members.iter().flatten().enumerate() {
            put(if place == 0 { b"{\"" } else { b",\"" });
            put(name.raw());
            put(b"\":");
            let is_joined = (*name == "text" || *name == "summary") && value.kind() == ValueKind::String;
            if !is_joined {
                json::rewrite(value.raw(), put);
                continue;
            }
            put(b"\"");
            let members = all().flat_map(|entry| entry.members().map_while(Result::ok));
            let texts = members.filter(|(own, _)| own.raw() == name.raw()).filter_map(|(_, text)| text.as_text());
            let mut half = None;
            for text in texts.filter(|text| !text.is_empty()) {
                let text = half.take().map_or(text, |half| text.with_lead(half));
                half = text.trailing_half();
                json::escape_text(text.without_trailing_half(), &mut *put);
            }
            if half.is_some() {
                put("\u{fffd}".as_bytes());
            }
            put(b"\"");
        }
        if self.len > 0 {
            put(b"}");
        }
    }
}
