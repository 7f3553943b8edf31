//! How a parser is to behave.

use crate::dialect::Protocol;
use crate::{Limits, QuirkSet};

/// How a parser behaves. The default is lenient and counts the quirks that it meets.
///
/// ```
/// use deltawire::stream::{Config, Framing, Parser};
/// let config = Config::new().with_framing(Framing::Spec);
/// # #[cfg(feature = "alloc")] {
/// # use deltawire::Growing;
/// let parser = Parser::with_config(Growing::new(), config);
/// assert_eq!(parser.config().framing, Framing::Spec);
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Config {
    /// The limits.
    pub limits: Limits,
    /// How to read lines that are no field of an event stream.
    pub framing: Framing,
    /// How much of a payload is checked before it is handed out.
    pub validate: Validate,
    /// What payloads are.
    pub payload: Payload,
    /// Whose events they are, if that is known. `None`, or a protocol that is [not read](Protocol::is_read): the first event
    /// that says so decides.
    pub dialect: Option<Protocol>,
    /// Quirks that are errors: their event is consumed, and the parser stops with [`Error::Quirk`](crate::Error::Quirk).
    ///
    /// Those of framing and shape stop [`Parser::next`](super::Parser::next) and [`Parser::feed`](super::Parser::feed)
    /// alike. Quirks inside a text, and those that depend on earlier chunks, show only when texts are read and deltas
    /// tracked: `feed` does both; a caller that pulls asks [`Text::quirks`](crate::json::Text::quirks) and
    /// [`Updates::quirks`](crate::track::Updates::quirks).
    pub errors: QuirkSet,
}

impl Config {
    /// The default.
    pub const DEFAULT: Config = Config {
        limits: Limits::DEFAULT,
        framing: Framing::Lenient,
        validate: Validate::Lazy,
        payload: Payload::Chunks,
        dialect: None,
        errors: QuirkSet::EMPTY,
    };

    /// The default.
    pub const fn new() -> Config {
        Config::DEFAULT
    }

    /// The same with other [`limits`](Config::limits).
    #[must_use]
    pub const fn with_limits(self, limits: Limits) -> Config {
        Config { limits, ..self }
    }

    /// The same with another [`framing`](Config::framing).
    #[must_use]
    pub const fn with_framing(self, framing: Framing) -> Config {
        Config { framing, ..self }
    }

    /// The same with another [`validate`](Config::validate).
    #[must_use]
    pub const fn with_validate(self, validate: Validate) -> Config {
        Config { validate, ..self }
    }

    /// The same with another [`payload`](Config::payload).
    #[must_use]
    pub const fn with_payload(self, payload: Payload) -> Config {
        Config { payload, ..self }
    }

    /// The same with another [`dialect`](Config::dialect).
    #[must_use]
    pub const fn with_dialect(self, dialect: Option<Protocol>) -> Config {
        Config { dialect, ..self }
    }

    /// The same with other [`errors`](Config::errors).
    #[must_use]
    pub const fn with_errors(self, errors: QuirkSet) -> Config {
        Config { errors, ..self }
    }
}

/// How lines are read that event streams do not know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Framing {
    /// JSON without `data:` is understood, a last event without its blank line is delivered if it is whole; both are
    /// flagged.
    #[default]
    Lenient,
    /// Exactly as WHATWG HTML 9.2 has it: unknown fields are ignored, a last event without its blank line is dropped.
    Spec,
}

/// What the payloads of a stream are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Payload {
    /// JSON: each payload that can be read is an [`Event::Chunk`](super::Event::Chunk).
    #[default]
    Chunks,
    /// Anything: the parser does not read payloads, and every event is an [`Event::Sse`](super::Event::Sse). It ignores
    /// lines that are no field.
    Opaque,
    /// As [`Chunks`](Payload::Chunks), for programs that need only token counts, finish reasons, errors and the verdict
    /// ([`Observer`](super::Observer)). If the first member of an event of Responses or Anthropic Messages is its type, and events of
    /// that type have none of these, the parser skips the rest of the event. It is an [`Event::Sse`](super::Event::Sse), whatever
    /// follows the type, and over the limit it is no loss. Other events are read in full, so some deltas are emitted and some are
    /// not. With [`Validate::Strict`] all events are read.
    Usage,
}

/// How much of a payload is checked before it is handed out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Validate {
    /// The levels that a chunk is known for in full. Elsewhere that strings end and that there are as many closing
    /// brackets as opening ones, of either kind.
    #[default]
    Lazy,
    /// All of RFC 8259, and UTF-8: anything else is malformed.
    Strict,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_builder_changes_its_own_member() {
        assert_eq!((Config::new(), Config::DEFAULT), (Config::default(), Config::default()));
        let limits = Limits::new().with_max_id_len(7);
        let config = Config::new().with_limits(limits).with_framing(Framing::Spec).with_validate(Validate::Strict);
        let config =
            config.with_payload(Payload::Opaque).with_dialect(Some(Protocol::Gemini)).with_errors(QuirkSet::ALL);
        let Config { limits: set, framing, validate, payload, dialect, errors } = config;
        assert_eq!((set, framing, validate), (limits, Framing::Spec, Validate::Strict));
        assert_eq!((payload, dialect, errors), (Payload::Opaque, Some(Protocol::Gemini), QuirkSet::ALL));
    }
}
