//! The configuration of a parser.

use crate::dialect::Protocol;
use crate::{Limits, QuirkSet};

/// The configuration of a parser. The default accepts quirks and counts them.
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
    /// How lines are read that are not part of an event stream.
    pub framing: Framing,
    /// How much of a payload is checked before it is reported.
    pub validate: Validate,
    /// How payloads are read.
    pub payload: Payload,
    /// The protocol of the events, if it is known. With `None`, or with a protocol that is [not
    /// read](Protocol::is_read), the first event that shows its protocol decides.
    pub protocol: Option<Protocol>,
    /// The quirks that are errors. An event with such a quirk is consumed, and the parser stops with
    /// [`Error::Quirk`](crate::Error::Quirk).
    ///
    /// Quirks of framing and shape stop [`Parser::next`](super::Parser::next) and [`Parser::feed`](super::Parser::feed)
    /// before the deltas of the event. Quirks inside a text, and quirks that depend on earlier chunks, are found with its
    /// deltas: `feed` stops after them, and of a pulled event the next call returns the error.
    pub errors: QuirkSet,
    /// Whether each delta of a text may have all of the text so far, as some servers send it: of content, reasoning and
    /// the arguments of tool calls. Then only what is new is reported: if a delta begins with the text so far, compared
    /// by its length and a hash, that part is cut off, and flagged as
    /// [`Quirk::RepeatedText`](crate::Quirk::RepeatedText). A delta that does not begin so continues the text.
    ///
    /// Set it only for such a server: a model may repeat itself. Reading deltas is then slower.
    pub snapshots: bool,
}

impl Config {
    /// The default configuration.
    pub const DEFAULT: Config = Config {
        limits: Limits::DEFAULT,
        framing: Framing::Lenient,
        validate: Validate::Lazy,
        payload: Payload::Chunks,
        protocol: None,
        errors: QuirkSet::EMPTY,
        snapshots: false,
    };

    /// Returns the default configuration.
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

    /// The same with another [`protocol`](Config::protocol).
    #[must_use]
    pub const fn with_protocol(self, protocol: Option<Protocol>) -> Config {
        Config { protocol, ..self }
    }

    /// The same with other [`errors`](Config::errors).
    #[must_use]
    pub const fn with_errors(self, errors: QuirkSet) -> Config {
        Config { errors, ..self }
    }

    /// The same with another [`snapshots`](Config::snapshots).
    #[must_use]
    pub const fn with_snapshots(self, snapshots: bool) -> Config {
        Config { snapshots, ..self }
    }
}

/// How lines are read that are not part of an event stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Framing {
    /// JSON without `data:` is read as a payload, and a last event without its blank line is reported if it is whole.
    /// Each is flagged as a quirk.
    #[default]
    Lenient,
    /// Exactly as in WHATWG HTML 9.2: unknown fields are ignored, and a last event without its blank line is dropped.
    Spec,
}

/// How the payloads of a stream are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Payload {
    /// As JSON. Each payload that can be read is an [`Event::Chunk`](super::Event::Chunk).
    #[default]
    Chunks,
    /// Not at all: a payload may be anything. Every event is an [`Event::Sse`](super::Event::Sse), and unknown lines
    /// are ignored.
    Opaque,
}

/// How much of a payload is checked before it is reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Validate {
    /// The parser checks those objects of a chunk in full whose members it knows. In all other values, it checks only
    /// that strings end, and that there are as many closing brackets as opening ones, of either kind.
    #[default]
    Lazy,
    /// Payloads must be JSON by RFC 8259 and valid UTF-8. All others are malformed.
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
            config.with_payload(Payload::Opaque).with_protocol(Some(Protocol::Gemini)).with_errors(QuirkSet::ALL);
        let config = config.with_snapshots(true);
        let Config { limits: set, framing, validate, payload, protocol, errors, snapshots } = config;
        assert_eq!((set, framing, validate), (limits, Framing::Spec, Validate::Strict));
        assert_eq!((payload, protocol, errors), (Payload::Opaque, Some(Protocol::Gemini), QuirkSet::ALL));
        assert!(snapshots);
    }
}
