//! Raw JSON.

use super::error::AssembleError;
use crate::json::{Elements, Value};
use alloc::vec::Vec;
use core::fmt;

/// A JSON value, as the bytes that were sent.
#[derive(Clone, PartialEq, Eq)]
pub struct RawJson {
    bytes: Vec<u8>,
}

impl RawJson {
    pub(super) fn of(raw: &[u8]) -> Result<Self, AssembleError> {
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(raw.len()).map_err(|_| AssembleError::OutOfMemory)?;
        bytes.extend_from_slice(raw);
        Ok(RawJson { bytes })
    }

    /// Returns its bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the value, to read it.
    pub fn value(&self) -> Value<'_> {
        Value::from_raw(&self.bytes)
    }
}

impl fmt::Debug for RawJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.value(), f)
    }
}

/// JSON values in order, in one piece of memory. Each is strict JSON: as sent if it was strict, otherwise without
/// whitespace, and each container up to its first fault.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct RawList {
    /// An array that is always closed, or nothing.
    array: Vec<u8>,
}

impl RawList {
    /// Appends items with commas between them.
    pub(super) fn append(&mut self, items: &[u8]) -> Result<(), AssembleError> {
        // One byte is for the comma or bracket before the items, one for the bracket after them.
        self.array.try_reserve(items.len().saturating_add(2)).map_err(|_| AssembleError::OutOfMemory)?;
        // The comma replaces the closing bracket.
        match self.array.last_mut() {
            Some(last) => *last = b',',
            None => self.array.push(b'['),
        }
        self.array.extend_from_slice(items);
        self.array.push(b']');
        Ok(())
    }

    /// Returns how many items there are. Reads all of them.
    pub fn len(&self) -> usize {
        self.iter().count()
    }

    /// Whether there is no item.
    pub fn is_empty(&self) -> bool {
        self.array.is_empty()
    }

    /// Returns the items as one JSON array.
    pub fn value(&self) -> Value<'_> {
        Value::from_raw(if self.array.is_empty() { b"[]" } else { &self.array })
    }

    /// Returns the items, in order.
    pub fn iter(&self) -> Items<'_> {
        Items { elements: self.value().elements() }
    }
}

impl fmt::Debug for RawList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.value(), f)
    }
}

impl<'a> IntoIterator for &'a RawList {
    type Item = Value<'a>;
    type IntoIter = Items<'a>;

    fn into_iter(self) -> Items<'a> {
        self.iter()
    }
}

/// The items of a [`RawList`].
#[derive(Clone, Debug)]
pub struct Items<'a> {
    elements: Elements<'a>,
}

impl<'a> Iterator for Items<'a> {
    type Item = Value<'a>;

    fn next(&mut self) -> Option<Value<'a>> {
        self.elements.next()?.ok()
    }
}
