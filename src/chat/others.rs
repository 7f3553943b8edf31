//! Other members: those that no other delta is made of, such as the extensions of a provider, as raw JSON.

use super::key::{Key, Owner};
use crate::delta::{Delta, Kind, Meta, Part};
use crate::dialect::{self, index_number, Container, Protocol};
use crate::json::{Cursor, Text, Value, ValueKind};
use crate::shown::{shown, Bytes};

/// A member that no other delta is made of.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct OtherMember<'a> {
    /// The owner of the member.
    pub owner: Owner,
    /// The index of the choice, or 0 if the chunk is the owner.
    pub choice: u32,
    /// For a member of a tool call, the number of the call among the calls of its choice. Otherwise 0.
    pub call: u32,
    /// Whether the member is in a `message`, not in a delta.
    pub in_message: bool,
    /// Its name, which may be empty.
    pub name: Text<'a>,
    /// Its value, never null.
    pub value: Value<'a>,
}

/// The code of the delta that reports a member of each owner, and whether the member is in a `message`. A member of the
/// usage is reported like one of the chunk.
const METAS: [(Meta, Owner, bool); 6] = [
    (Meta::Member, Owner::Chunk, false),
    (Meta::ChoiceMember, Owner::Choice, false),
    (Meta::DeltaMember, Owner::Delta, false),
    (Meta::MessageMember, Owner::Delta, true),
    (Meta::CallMember, Owner::Call, false),
    (Meta::FunctionMember, Owner::Function, false),
];

impl<'a> OtherMember<'a> {
    /// Returns the member of a delta of kind [`Meta`](crate::delta::Kind::Meta), whose text is `"name":value`.
    pub(crate) fn of_delta(meta: Meta, delta: &Delta, payload: &'a [u8]) -> Option<Self> {
        let (_, owner, in_message) = *METAS.iter().find(|(of, ..)| *of == meta)?;
        let (name, value) = Self::split(delta.text.bytes(payload))?;
        Some(OtherMember { owner, choice: delta.choice, call: delta.call, in_message, name, value })
    }

    /// Splits the text of a member in a delta or a record, `"name":value`, into name and value.
    ///
    /// ```
    /// let (name, value) = deltawire::chat::OtherMember::split(br#""timings":{"ms":7}"#).unwrap();
    /// assert!(name == "timings" && value.raw() == br#"{"ms":7}"#);
    /// ```
    pub fn split(member: &'a [u8]) -> Option<(Text<'a>, Value<'a>)> {
        let name = Cursor::with_max_depth(member, u32::MAX).value().ok()?;
        let (colon, value) = member.get(name.raw().len()..)?.trim_ascii_start().split_first()?;
        let rest = value.trim_ascii();
        let value = Cursor::with_max_depth(rest, u32::MAX).value().ok()?;
        let is_member = *colon == b':' && value.raw().len() == rest.len();
        Some((name.as_text()?, value)).filter(|_| is_member)
    }

    /// Returns the code of the member's delta.
    pub(super) fn meta(&self) -> Meta {
        let is_it = |(_, owner, in_message): &&(Meta, Owner, bool)| {
            *owner == self.owner && (*owner != Owner::Delta || *in_message == self.in_message)
        };
        METAS.iter().find(is_it).map_or(Meta::Member, |(meta, ..)| *meta)
    }

    /// Returns the delta of a member that is borrowed from `payload`.
    pub(crate) fn delta(&self, payload: &[u8]) -> Delta {
        let meta = self.meta();
        let (name, value) = (Part::of(payload, self.name), Part::raw(payload, self.value));
        let start = name.start.saturating_sub(1);
        let text = Part { start, len: value.end().saturating_sub(start), ..Part::NONE };
        Delta { code: meta as u32, choice: self.choice, call: self.call, text, ..Delta::new(Kind::Meta) }
    }
}

/// Returns the next member of an object: its name, the known name that this is, and its value.
fn next_member<'a>(object: &mut Container, payload: &'a [u8]) -> Option<(Text<'a>, Key, Value<'a>)> {
    let (name, value) = object.member(payload)?;
    Some((name, Key::of(name.raw(), name.parts().0), value))
}

/// Iterates over the members that no other delta is made of. Created by
/// [`Chunk::other_members`](super::Chunk::other_members).
#[derive(Clone)]
pub struct OtherMembers<'a> {
    payload: &'a [u8],
    /// The protocol, unless it is chat completions.
    protocol: Option<Protocol>,
    chunk: Container,
    choices: Container,
    choice: Container,
    delta: Container,
    /// The index of the choice.
    number: u32,
    in_message: bool,
}

shown!("OtherMembers": OtherMembers<'_>, this => payload: Bytes(this.payload));

impl<'a> OtherMembers<'a> {
    /// Returns the members of a chunk with this payload, or none if the payload is empty.
    pub(super) fn of(payload: &'a [u8], protocol: Option<Protocol>) -> Self {
        let (chunk, choices, choice, delta) =
            (Container::at(0), Container::NOTHING, Container::NOTHING, Container::NOTHING);
        OtherMembers { payload, protocol, chunk, choices, choice, delta, number: 0, in_message: false }
    }
}

impl<'a> Iterator for OtherMembers<'a> {
    type Item = OtherMember<'a>;

    fn next(&mut self) -> Option<OtherMember<'a>> {
        let payload = self.payload;
        loop {
            let (owner, (name, key, value)) = if let Some(member) = next_member(&mut self.delta, payload) {
                (Owner::Delta, member)
            } else if let Some(member) = next_member(&mut self.choice, payload) {
                (Owner::Choice, member)
            } else if let Some(choice) = self.choices.next(payload) {
                self.choice = Container::of(payload, Some(choice));
                self.number = choice.get("index").ok().flatten().and_then(index_number).unwrap_or(0);
                continue;
            } else {
                (Owner::Chunk, next_member(&mut self.chunk, payload)?)
            };
            if let Some(protocol) = self.protocol {
                let is_choice = owner == Owner::Choice;
                if !is_choice && dialect::has_choices(protocol, &name) {
                    match value.kind() {
                        ValueKind::Array => self.choices = Container::of(payload, Some(value)),
                        ValueKind::Object => self.choice = Container::of(payload, Some(value)),
                        _ => {}
                    }
                } else if !value.is_null() && !dialect::is_read(protocol, is_choice, &name) {
                    let choice = if is_choice { self.number } else { 0 };
                    return Some(OtherMember { owner, choice, call: 0, in_message: false, name, value });
                }
                continue;
            }
            match (owner, key, value.kind()) {
                (Owner::Chunk, Key::Choices, ValueKind::Array) => self.choices = Container::of(payload, Some(value)),
                (Owner::Choice, Key::Delta | Key::Message, ValueKind::Object) => {
                    (self.delta, self.in_message) = (Container::of(payload, Some(value)), key == Key::Message);
                }
                _ if key.is_read_in(owner) || value.is_null() => {}
                _ => {
                    let choice = if owner == Owner::Chunk { 0 } else { self.number };
                    let in_message = owner == Owner::Delta && self.in_message;
                    return Some(OtherMember { owner, choice, call: 0, in_message, name, value });
                }
            }
        }
    }
}

/// Whether a choice has a member that no delta is made of.
pub(super) fn has_others(payload: &[u8], choice: Value<'_>) -> bool {
    let choice = Container::of(payload, Some(choice));
    OtherMembers { chunk: Container::NOTHING, choice, ..OtherMembers::of(payload, None) }.next().is_some()
}

/// The members of a tool call and of its function that no other delta is made of, while they are read.
#[derive(Clone, Copy, Debug)]
pub(super) struct CallMembers {
    call: Container,
    function: Container,
}

impl CallMembers {
    /// Returns the members of the call that begins at `start`.
    pub(super) fn of(start: u32) -> Self {
        CallMembers { call: Container::at(start), function: Container::NOTHING }
    }

    /// Returns the delta of the next member. `choice` is the index of the choice, and `call` the position of the call.
    pub(super) fn next(&mut self, payload: &[u8], choice: u32, call: u32) -> Option<Delta> {
        loop {
            let (owner, (name, key, value)) = match next_member(&mut self.function, payload) {
                Some(member) => (Owner::Function, member),
                None => (Owner::Call, next_member(&mut self.call, payload)?),
            };
            match (owner, key, value.kind()) {
                (Owner::Call, Key::Function | Key::Custom, ValueKind::Object) => {
                    self.function = Container::of(payload, Some(value))
                }
                _ if key.is_read_in(owner) || value.is_null() => {}
                _ => {
                    let member = OtherMember { owner, choice, call, in_message: false, name, value };
                    return Some(member.delta(payload));
                }
            }
        }
    }
}
