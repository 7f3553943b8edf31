//! The members that no delta is made of: those of providers, as raw JSON.

use super::key::Key;
use super::scalar::index_number;
use super::views::Chunk;
use crate::delta::{Delta, Kind as DeltaKind, Meta, Part};
use crate::json::{Cursor, Kind, Text, Value};

/// Whose member it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Owner {
    /// The chunk's.
    Chunk = 0,
    /// A choice's.
    Choice = 1,
    /// That of a choice's delta, or of its `message`.
    Delta = 2,
}

impl Owner {
    /// The owner with this number.
    pub fn from_number(number: u32) -> Option<Owner> {
        [Owner::Chunk, Owner::Choice, Owner::Delta].into_iter().find(|owner| *owner as u32 == number)
    }
}

/// A member that no delta is made of.
#[derive(Clone, Copy, Debug)]
pub struct OtherMember<'a> {
    /// Whose it is.
    pub owner: Owner,
    /// The index of the choice; 0 if it is the chunk's.
    pub choice: u32,
    /// It is in a `message`, not in a delta.
    pub in_message: bool,
    /// Its name.
    pub name: Text<'a>,
    /// Its value, never null.
    pub value: Value<'a>,
}

impl<'a> OtherMember<'a> {
    /// Of what a delta of kind [`Meta`](crate::delta::Kind::Meta) has: `"name":value`.
    pub(crate) fn of_meta(meta: Meta, choice: u32, raw: &'a [u8]) -> Option<Self> {
        let (owner, in_message) = match meta {
            Meta::Member => (Owner::Chunk, false),
            Meta::ChoiceMember => (Owner::Choice, false),
            Meta::DeltaMember => (Owner::Delta, false),
            Meta::MessageMember => (Owner::Delta, true),
            _ => return None,
        };
        let name = Cursor::with_max_depth(raw, u32::MAX).value().ok()?;
        let (colon, value) = raw.get(name.raw().len()..)?.trim_ascii_start().split_first()?;
        let value = Cursor::with_max_depth(value.trim_ascii(), u32::MAX).value().ok().filter(|_| *colon == b':')?;
        Some(OtherMember { owner, choice, in_message, name: name.as_text()?, value })
    }

    /// The delta of a member that is borrowed from `payload`.
    pub(crate) fn delta(&self, payload: &[u8]) -> Delta {
        let meta = match self.owner {
            Owner::Chunk => Meta::Member,
            Owner::Choice => Meta::ChoiceMember,
            Owner::Delta if self.in_message => Meta::MessageMember,
            Owner::Delta => Meta::DeltaMember,
        };
        let (name, value) = (Part::of(payload, self.name), Part::raw(payload, self.value));
        let start = name.start.saturating_sub(1);
        let len = value.start.saturating_add(value.len).saturating_sub(start);
        let text = Part { start, len, ..Part::NONE };
        Delta { code: meta as u32, choice: self.choice, text, ..Delta::new(DeltaKind::Meta) }
    }
}

impl<'a> Chunk<'a> {
    /// The members of the chunk, of its choices and of their deltas that no [`Update`](crate::Update) is made of and that are
    /// not null: `citations`, `timings`, `x_groq`, … and `reasoning_details`, of which there is more than text.
    /// Padding (`obfuscation`) is left out. Walks the payload, if there is one.
    pub fn other_members(&self) -> OtherMembers<'a> {
        let facts = self.index().facts;
        let is_object = facts.others && !facts.text;
        let chunk = Value::from_raw(if is_object { self.payload().trim_ascii() } else { b"null" });
        OtherMembers { chunk: (chunk, 0), choices: None, choice: None, delta: None, number: 0, in_message: false }
    }
}

/// Made by [`Chunk::other_members`]: containers that are being walked, each with how far.
#[derive(Clone, Debug)]
pub struct OtherMembers<'a> {
    chunk: (Value<'a>, usize),
    choices: Option<(Value<'a>, usize)>,
    choice: Option<(Value<'a>, usize)>,
    delta: Option<(Value<'a>, usize)>,
    /// The index of the choice.
    number: u32,
    in_message: bool,
}

fn next<'a>(walked: &mut Option<(Value<'a>, usize)>) -> Option<(Text<'a>, Key, Value<'a>)> {
    let (object, at) = walked.as_mut()?;
    match object.member_at(at) {
        Some((name, value)) => Some((name, Key::of(name.raw(), name.parts().0), value)),
        None => {
            *walked = None;
            None
        }
    }
}

impl<'a> Iterator for OtherMembers<'a> {
    type Item = OtherMember<'a>;

    fn next(&mut self) -> Option<OtherMember<'a>> {
        loop {
            let (owner, (name, key, value)) = if let Some(member) = next(&mut self.delta) {
                (Owner::Delta, member)
            } else if let Some(member) = next(&mut self.choice) {
                (Owner::Choice, member)
            } else if let Some((choices, at)) = &mut self.choices {
                self.choice = choices.element_at(at).map(|choice| (choice, 0));
                match &self.choice {
                    Some((choice, _)) => {
                        let index = choice.get("index").ok().flatten();
                        self.number = index.and_then(index_number).unwrap_or(0);
                    }
                    None => self.choices = None,
                }
                continue;
            } else {
                let (chunk, at) = &mut self.chunk;
                let (name, value) = chunk.member_at(at)?;
                (Owner::Chunk, (name, Key::of(name.raw(), name.parts().0), value))
            };
            match (owner, key, value.kind()) {
                (Owner::Chunk, Key::Choices, Kind::Array) => self.choices = Some((value, 0)),
                (Owner::Choice, Key::Delta | Key::Message, Kind::Object) => {
                    (self.delta, self.in_message) = (Some((value, 0)), key == Key::Message);
                }
                (_, _, Kind::Null) => {}
                _ if key == Key::Obfuscation || is_read(owner, key) => {}
                _ => {
                    let choice = if owner == Owner::Chunk { 0 } else { self.number };
                    let in_message = owner == Owner::Delta && self.in_message;
                    return Some(OtherMember { owner, choice, in_message, name, value });
                }
            }
        }
    }
}

/// Whether an update, or a member of the message, is made of all that this member may say.
fn is_read(owner: Owner, key: Key) -> bool {
    match owner {
        Owner::Chunk => matches!(
            key,
            Key::Id
                | Key::Object
                | Key::Created
                | Key::Model
                | Key::SystemFingerprint
                | Key::ServiceTier
                | Key::Provider
                | Key::Choices
                | Key::Usage
                | Key::Error
        ),
        Owner::Choice => matches!(
            key,
            Key::Index
                | Key::Delta
                | Key::Message
                | Key::Text
                | Key::FinishReason
                | Key::FinishCamel
                | Key::NativeFinishReason
                | Key::Logprobs
                | Key::Error
        ),
        Owner::Delta => matches!(
            key,
            Key::Role
                | Key::Content
                | Key::Refusal
                | Key::ReasoningContent
                | Key::Reasoning
                | Key::Thinking
                | Key::Thought
                | Key::FunctionCall
                | Key::ToolCalls
                | Key::Audio
                | Key::Annotations
        ),
    }
}
