//! How an event identifies the output item that it belongs to.

use super::value::text;
use crate::delta::Kind;
use crate::hash::{fnv, fnv_after};
use crate::json::{Text, Value};

/// The class of an item or of an event. An event belongs to an item of its class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Class {
    /// For an item: only templates have recognized its events. For an event: it may belong to an item of any class.
    Unknown,
    Message,
    Reasoning,
    /// A tool call of the client.
    Call,
    Other,
}

impl Class {
    /// Returns the class of the item that a text of this kind usually belongs to.
    pub(super) fn of_text(kind: Kind) -> Self {
        match kind {
            Kind::Content | Kind::Refusal => Class::Message,
            Kind::Reasoning => Class::Reasoning,
            _ => Class::Call,
        }
    }

    pub(super) fn fits(self, other: Class) -> bool {
        self == other || self == Class::Unknown || other == Class::Unknown
    }
}

/// A hash of an item's ID, of 18 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Id(pub(super) u32);

impl Id {
    /// No event with an ID came.
    pub(super) const UNKNOWN: Id = Id(0);
    /// The item began without an ID.
    pub(super) const NONE: Id = Id(1);
    pub(super) const MAX: u32 = 0x3_ffff;

    /// Returns the hash of the first of these IDs that is present and not empty.
    pub(super) fn of<const N: usize>(ids: [Option<Value<'_>>; N]) -> Self {
        let Some(id) = ids.into_iter().find_map(text) else { return Id::NONE };
        Id::of_hash(hash(id))
    }

    pub(super) fn of_hash(hash: u32) -> Self {
        Id(((hash >> 18 ^ hash) & Id::MAX).max(2))
    }

    /// Returns 16 bits of the hash.
    pub(super) fn short(self) -> u16 {
        self.0 as u16
    }

    pub(super) fn is(self, other: Id) -> bool {
        self == other && self.0 > Id::NONE.0
    }

    pub(super) fn may_be(self, other: Id) -> bool {
        self == other || self.0 <= Id::NONE.0 || other.0 <= Id::NONE.0
    }
}

/// Returns a hash of a decoded text: servers may escape the same ID in several ways (RFC 8259, 8.3).
fn hash(text: Text<'_>) -> u32 {
    if text.is_plain() {
        return fnv(text.raw());
    }
    let mut buffer = [0; 4];
    text.fragments().fold(fnv(b""), |hash, fragment| fnv_after(hash, fragment.encode(&mut buffer).as_bytes()))
}

/// A hash of a `call_id`, of 32 bits, because a tool call that is taken for another one is never reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CallId(pub(super) u32);

impl CallId {
    pub(super) const NONE: CallId = CallId(0);

    pub(super) fn of(id: Option<Value<'_>>) -> Self {
        CallId(text(id).map_or(0, |id| hash(id).max(1)))
    }

    pub(super) fn is(self, other: CallId) -> bool {
        self == other && self != CallId::NONE
    }
}

/// A fact about an item: a bit in the last byte of its tag.
#[derive(Clone, Copy)]
#[repr(u8)]
pub(super) enum Mark {
    /// An event ended a text of the item's content, or the arguments of a tool call.
    TextEnded = 0x20,
    /// An event ended a part of the item's content.
    PartEnded = 0x40,
    /// Annotations of the item were reported.
    Annotated = 0x80,
}
/// How an event identifies the item that it belongs to.
#[derive(Clone, Copy)]
pub(super) struct Address {
    pub(super) class: Class,
    /// `output_index`.
    pub(super) index: Option<u32>,
    pub(super) id: Id,
    pub(super) call: CallId,
    /// Whether the event ends a text, or an item that cannot be another one because it has no ID.
    pub(super) ends: bool,
    /// What an event that ends a text notes of the item.
    pub(super) text: Option<Mark>,
}

impl Address {
    pub(super) fn of(class: Class, index: Option<u32>, id: Id) -> Self {
        Address { class, index, id, call: CallId::NONE, ends: false, text: None }
    }
}

/// The class of an item, its ID and its `call_id`.
pub(super) type Identity = (Class, Id, CallId);
