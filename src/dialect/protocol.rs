//! The protocols, and how an event shows which protocol it belongs to.

use super::value::{array, has_members, is, object};
use crate::json::{members_of, Text, TextFlags, Value, ValueKind, LONGEST_WORD};
use crate::words::words;

words! {
    /// A protocol of response streams. The numbers are those of the C interface.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    #[repr(u8)]
    #[non_exhaustive]
    pub enum Protocol {
        /// A protocol that is not known.
        Other = 1, "one that is not known";
        /// OpenAI Responses.
        Responses = 2, "OpenAI Responses";
        /// Anthropic Messages.
        Anthropic = 3, "Anthropic Messages";
        /// Gemini `generateContent`.
        Gemini = 4, "Gemini";
        /// Gemini Interactions.
        Interactions = 5, "Gemini Interactions";
        /// Ollama's own protocol.
        Ollama = 6, "Ollama";
        /// Cohere's own protocol.
        Cohere = 7, "Cohere";
        /// Chat completions.
        Chat = 8, "chat completions";
    }
}

impl Protocol {
    /// Whether the parser makes deltas of this protocol's events. It passes on the events of other protocols as they
    /// came. The parser always reads chat completions. It reads `Responses`, `Anthropic` and `Gemini` if the crate
    /// feature of that name is enabled, as it is by default.
    pub const fn is_read(self) -> bool {
        matches!(self, Protocol::Chat) || self.has_reader()
    }

    /// Returns `protocol` if it has a reader in `dialect/` that is compiled in.
    pub(crate) fn read_here(protocol: Option<Protocol>) -> Option<Protocol> {
        protocol.filter(|protocol| protocol.has_reader())
    }

    /// Whether any reader is compiled in. If none is, the compiler removes the code that depends on it.
    pub(crate) const HAS_READERS: bool = cfg!(any(feature = "responses", feature = "anthropic", feature = "gemini"));

    const fn has_reader(self) -> bool {
        matches!(self.feature(), Some((_, true)))
    }

    /// The crate feature that adds the reader, and whether it is enabled.
    const fn feature(self) -> Option<(&'static str, bool)> {
        match self {
            Protocol::Responses => Some(("responses", cfg!(feature = "responses"))),
            Protocol::Anthropic => Some(("anthropic", cfg!(feature = "anthropic"))),
            Protocol::Gemini => Some(("gemini", cfg!(feature = "gemini"))),
            Protocol::Chat | Protocol::Other | Protocol::Interactions | Protocol::Ollama | Protocol::Cohere => None,
        }
    }

    /// The crate feature that would add the reader, if it is not enabled.
    pub(crate) fn missing_feature(self) -> Option<&'static str> {
        self.feature().filter(|(_, is_enabled)| !is_enabled).map(|(name, _)| name)
    }

    /// Returns the protocol of an event with this type or name, if it is known.
    pub(crate) fn of_type(name: &[u8]) -> Option<Protocol> {
        if name.starts_with(b"response.") {
            Some(Protocol::Responses)
        } else if matches!(name, b"message_start" | b"message_delta" | b"message_stop")
            || name.starts_with(b"content_block_")
        {
            Some(Protocol::Anthropic)
        } else if name.starts_with(b"interaction.") || name.starts_with(b"step.") {
            Some(Protocol::Interactions)
        } else if matches!(name, b"message-start" | b"message-end" | b"content-start" | b"content-delta") {
            Some(Protocol::Cohere)
        } else {
            None
        }
    }

    /// Returns the protocol of an event with this payload and name. A type in the payload takes precedence over the
    /// name. Returns `None` if neither of them is known and the payload has no members.
    pub(crate) fn of(payload: &[u8], name: &[u8]) -> Option<Protocol> {
        let whole = Value::of_payload(payload);
        let names = [
            "type",
            "event_type",
            "candidates",
            "promptFeedback",
            "done",
            "message",
            "response",
            "model",
            "object",
            "output",
            "content",
            "role",
        ];
        let [kind, event_type, candidates, feedback, done, message, response, model, object_name, output, content, role] =
            members_of(whole, names);
        let by_type = [kind, event_type].into_iter().flatten();
        let by_type = by_type
            .filter_map(|value| value.as_text())
            .find_map(|text| Protocol::of_type(text.word(&mut [0; LONGEST_WORD])));
        let known = by_type.or_else(|| Protocol::of_type(name));
        if known.is_some() || !has_members(whole) {
            return known;
        }
        let is_text = |value: Option<Value<'_>>| value.is_some_and(|value| value.kind() == ValueKind::String);
        let is_nothing = |value: Option<Value<'_>>| value.is_none_or(|value| value.is_null());
        let is_answer = object(message).is_some() || is_text(response);
        Some(if candidates.is_some() || feedback.is_some() {
            Protocol::Gemini
        } else if is(kind, "message") && (array(content).is_some() || is_nothing(content) && is(role, "assistant")) {
            Protocol::Anthropic
        } else if is(object_name, "response") && (array(output).is_some() || is_nothing(output)) {
            Protocol::Responses
        } else if model.is_some() && done.is_some_and(|done| done.kind() == ValueKind::Bool) && is_answer {
            Protocol::Ollama
        } else {
            Protocol::Other
        })
    }
}

/// Whether a member with this name may make the event one of another protocol, or is one that the pass over chat chunks
/// reads.
pub(super) fn is_of_others(name: Text<'_>) -> bool {
    name.parts().0.any(TextFlags::ESCAPED)
        || matches!(
            name.raw(),
            b"event_type"
                | b"id"
                | b"object"
                | b"created"
                | b"model"
                | b"service_tier"
                | b"system_fingerprint"
                | b"provider"
                | b"choices"
                | b"usage"
                | b"error"
                | b"detail"
                | b"x_groq"
                // It may name another call than the index does, which only the general reader finds.
                | b"call_id"
        )
}

#[cfg(test)]
mod tests {
    use super::Protocol;

    /// The members of a payload without a type decide the protocol. Most protocols need two, because others share one
    /// of them.
    #[test]
    fn members_decide_the_protocol() {
        for (payload, protocol) in [
            (r#"{"candidates":[]}"#, Some(Protocol::Gemini)),
            (r#"{"promptFeedback":{}}"#, Some(Protocol::Gemini)),
            (r#"{"type":"message","content":[]}"#, Some(Protocol::Anthropic)),
            (r#"{"type":"message","content":"x"}"#, Some(Protocol::Other)),
            (r#"{"type":"other","content":[]}"#, Some(Protocol::Other)),
            (r#"{"object":"response","output":[]}"#, Some(Protocol::Responses)),
            (r#"{"object":"response","output":{}}"#, Some(Protocol::Other)),
            (r#"{"object":"response","output":null}"#, Some(Protocol::Responses)),
            (r#"{"type":"message","role":"assistant","content":null}"#, Some(Protocol::Anthropic)),
            (r#"{"type":"message","role":"user"}"#, Some(Protocol::Other)),
            (r#"{"object":"other","output":[]}"#, Some(Protocol::Other)),
            (r#"{"model":"m","done":false,"response":"x"}"#, Some(Protocol::Ollama)),
            (r#"{"model":"m","done":true,"message":{}}"#, Some(Protocol::Ollama)),
            (r#"{"model":"m","done":false,"response":{}}"#, Some(Protocol::Other)),
            (r#"{"model":"m","done":"no","response":"x"}"#, Some(Protocol::Other)),
            (r#"{"model":"m","response":"x"}"#, Some(Protocol::Other)),
            (r#"{"done":true,"message":{}}"#, Some(Protocol::Other)),
            (r#"{"model":"m","done":true,"message":"x"}"#, Some(Protocol::Other)),
            ("{}", None),
            ("[1]", None),
        ] {
            assert_eq!(Protocol::of(payload.as_bytes(), b""), protocol, "{payload}");
            assert_eq!(Protocol::of(payload.as_bytes(), b"response.created"), Some(Protocol::Responses), "{payload}");
        }
    }
}
