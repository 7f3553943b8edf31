//! Whose protocol events are of that are no chunks.

use crate::chat::index::top;
use crate::chat::scalar::{is_empty_object, members_of};
use crate::chat::Index;
use crate::json::{Kind, Value};
use core::fmt;

/// A protocol that is not read, by its first event that says so. The numbers are those of the C interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
#[non_exhaustive]
pub enum Protocol {
    /// One that is not known.
    Other = 1,
    /// OpenAI Responses.
    Responses = 2,
    /// Anthropic Messages.
    Anthropic = 3,
    /// Gemini `generateContent`.
    Gemini = 4,
    /// Gemini Interactions.
    Interactions = 5,
    /// Ollama's own.
    Ollama = 6,
    /// Cohere's own.
    Cohere = 7,
}

impl Protocol {
    /// All of them, in the order of their numbers.
    pub const ALL: &'static [Protocol] = &[
        Protocol::Other,
        Protocol::Responses,
        Protocol::Anthropic,
        Protocol::Gemini,
        Protocol::Interactions,
        Protocol::Ollama,
        Protocol::Cohere,
    ];

    /// Its name, in words.
    pub const fn text(self) -> &'static str {
        match self {
            Protocol::Other => "one that is not known",
            Protocol::Responses => "OpenAI Responses",
            Protocol::Anthropic => "Anthropic Messages",
            Protocol::Gemini => "Gemini",
            Protocol::Interactions => "Gemini Interactions",
            Protocol::Ollama => "Ollama",
            Protocol::Cohere => "Cohere",
        }
    }

    /// That of an event with this type or name, if it is known.
    pub(super) fn of_type(name: &[u8]) -> Option<Protocol> {
        if name.starts_with(b"response.") {
            Some(Protocol::Responses)
        } else if name.starts_with(b"message_") || name.starts_with(b"content_block_") {
            Some(Protocol::Anthropic)
        } else if name.starts_with(b"interaction.") || name.starts_with(b"step.") {
            Some(Protocol::Interactions)
        } else if matches!(name, b"message-start" | b"message-end" | b"content-start" | b"content-delta") {
            Some(Protocol::Cohere)
        } else {
            None
        }
    }

    /// That of an event with this payload, whose index that is, and this name; none if it has no members. A type in the payload
    /// comes before the name.
    pub(super) fn of(index: &Index, payload: &[u8], name: &[u8]) -> Option<Protocol> {
        let whole = Value::from_raw(payload.trim_ascii());
        let names = ["event_type", "candidates", "promptFeedback", "done", "message", "response"];
        let [event_type, candidates, feedback, done, message, response] = members_of(whole, names);
        let by_type = [index.top(payload, top::TYPE), event_type].into_iter().flatten();
        let by_type = by_type.filter_map(|value| value.as_text()).find_map(|text| Protocol::of_type(text.raw()));
        let known = by_type.or_else(|| Protocol::of_type(name));
        if known.is_some() || is_empty_object(whole) {
            return known;
        }
        let is = |value: Option<Value<'_>>, kind| value.is_some_and(|value| value.kind() == kind);
        let is_answer = is(message, Kind::Object) || is(response, Kind::String);
        Some(if candidates.is_some() || feedback.is_some() {
            Protocol::Gemini
        } else if index.top.has(top::MODEL) && is(done, Kind::Bool) && is_answer {
            Protocol::Ollama
        } else {
            Protocol::Other
        })
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}
