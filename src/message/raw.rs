//! JSON that is kept as it came.

use crate::json::{Elements, TextFlags, Value};
use alloc::vec::Vec;
use core::fmt;

/// A JSON value, its bytes as they came.
#[derive(Clone, PartialEq, Eq)]
pub struct RawJson {
    bytes: Vec<u8>,
}

impl RawJson {
    /// None: no memory.
    pub(crate) fn of(value: Value<'_>) -> Option<Self> {
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(value.raw().len()).ok()?;
        bytes.extend_from_slice(value.raw());
        Some(RawJson { bytes })
    }

    /// Its bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The value, to be looked into.
    pub fn value(&self) -> Value<'_> {
        Value::from_span(&self.bytes, TextFlags::UNKNOWN)
    }
}

impl fmt::Debug for RawJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.value(), f)
    }
}

/// JSON values in order, their bytes as they came, in one piece of memory.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct RawList {
    /// An array, whole at any time; or nothing.
    array: Vec<u8>,
    len: usize,
}

impl RawList {
    /// What one more item takes beside its own bytes: a comma, or brackets.
    pub(crate) const PER_ITEM: usize = 2;

    /// Puts `item` behind the others. False: no memory.
    pub(crate) fn push(&mut self, item: Value<'_>) -> bool {
        if self.array.try_reserve(item.raw().len().saturating_add(Self::PER_ITEM)).is_err() {
            return false;
        }
        // The closing bracket gives way to a comma.
        match self.array.last_mut() {
            Some(last) => *last = b',',
            None => self.array.push(b'['),
        }
        self.array.extend_from_slice(item.raw());
        self.array.push(b']');
        self.len += 1;
        true
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The items as one JSON array.
    pub fn value(&self) -> Value<'_> {
        let array: &[u8] = if self.array.is_empty() { b"[]" } else { &self.array };
        Value::from_span(array, TextFlags::UNKNOWN)
    }

    /// The items, in order.
    pub fn iter(&self) -> Items<'_> {
        Items { elements: self.value().elements() }
    }

    /// What it was charged for.
    pub(crate) fn cost(&self) -> usize {
        self.array.len().saturating_sub(1).saturating_add(self.len)
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
