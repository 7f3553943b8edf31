//! The record of all members of providers that a message keeps: one entry behind the other.

use super::record::Fill;
use crate::chat::{OtherMember, Owner};
use crate::json::Text;

/// Members with names of their own that a message keeps.
pub(super) const MAX_MEMBERS: usize = 64;

/// Bytes before the name of an entry: the owner, the choice, the lengths of name and value.
pub(super) const HEAD: usize = 13;

/// A member in the record of all members.
#[derive(Clone, Copy)]
pub(super) struct Entry<'b> {
    pub(super) owner: u8,
    pub(super) choice: u32,
    /// Decoded.
    pub(super) name: &'b [u8],
    /// As it came.
    pub(super) value: &'b [u8],
    /// Where it begins and ends in the record's body.
    pub(super) at: usize,
    pub(super) end: usize,
}

impl Entry<'_> {
    pub(super) fn is(&self, owner: Owner, choice: u32, name: Text<'_>) -> bool {
        let is_its = self.owner == owner as u8 && self.choice == choice;
        is_its && core::str::from_utf8(self.name).is_ok_and(|own| name == *own)
    }

    /// Appends an entry to the last record.
    pub(super) fn put(fill: &mut Fill, buffer: &mut [u8], member: &OtherMember<'_>) {
        let OtherMember { owner, choice, name, value, .. } = *member;
        let len = |len: usize| u32::try_from(len).unwrap_or(u32::MAX).to_le_bytes();
        fill.put(buffer, &[owner as u8]);
        fill.put(buffer, &choice.to_le_bytes());
        fill.put(buffer, &len(name.decoded_len()));
        fill.put(buffer, &len(value.raw().len()));
        fill.put_text(buffer, name);
        fill.put(buffer, value.raw());
    }
}

/// The entries of a record of members.
pub(super) struct Entries<'b> {
    body: &'b [u8],
    at: usize,
}

impl<'b> Entries<'b> {
    pub(super) fn of(body: &'b [u8]) -> Self {
        Entries { body, at: 0 }
    }

    /// Bytes of all of them.
    pub(super) fn len(&self) -> usize {
        self.body.len()
    }
}

impl<'b> Iterator for Entries<'b> {
    type Item = Entry<'b>;

    fn next(&mut self) -> Option<Entry<'b>> {
        let (at, head) = (self.at, self.body.get(self.at..)?.first_chunk::<HEAD>()?);
        let [owner, a, b, c, d, e, f, g, h, i, j, k, l] = *head;
        let name = at.checked_add(HEAD)?;
        let value = name.checked_add(u32::from_le_bytes([e, f, g, h]) as usize)?;
        let end = value.checked_add(u32::from_le_bytes([i, j, k, l]) as usize)?;
        self.at = end;
        let choice = u32::from_le_bytes([a, b, c, d]);
        Some(Entry { owner, choice, name: self.body.get(name..value)?, value: self.body.get(value..end)?, at, end })
    }
}
