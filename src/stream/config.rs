//! How a parser is to behave.

use crate::dialect::Protocol;
use crate::{Limits, QuirkSet};

/// How a parser behaves. The default is lenient and counts the quirks that it meets.
///
/// ```
/// use deltawire::stream::{Config, Framing, Parser};
/// let config = Config { framing: Framing::Spec, ..Config::default() };
/// let parser = Parser::with_config([0u8; 4096], config);
/// assert_eq!(parser.config().framing, Framing::Spec);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Config {
    /// The limits.
    pub limits: Limits,
    /// How to read lines that are no field of an event stream.
    pub framing: Framing,
    /// How much of a payload is checked before it is handed out.
    pub validate: Validate,
    /// What payloads are.
    pub payload: Payload,
    /// Whose events they are, if that is known: one that [is read](Protocol::is_read). `None`: the first event that says so
    /// decides.
    pub dialect: Option<Protocol>,
    /// Quirks that are errors: their event is consumed, and the parser stops with [`Error::Quirk`](crate::Error::Quirk).
    ///
    /// Those of framing and shape stop [`Parser::next`](super::Parser::next) and [`Parser::feed`](super::Parser::feed)
    /// alike. Quirks inside a text, and those that depend on earlier chunks, show only when texts are read and deltas
    /// tracked: `feed` does both; a caller that pulls asks [`Text::quirks`](crate::json::Text::quirks) and
    /// [`Updates::quirks`](crate::track::Updates::quirks).
    pub errors: QuirkSet,
}

/// How lines are read that event streams do not know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
pub enum Payload {
    /// JSON, read as [`Event::Chunk`](super::Event::Chunk) and what else there is.
    #[default]
    Chunks,
    /// Anything: they are not looked into, and every event is an [`Event::Sse`](super::Event::Sse). Lines that event
    /// streams do not know are ignored.
    Opaque,
}

/// How much of a payload is checked before it is handed out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Validate {
    /// The levels that a chunk is known for, and that strings and brackets balance everywhere.
    #[default]
    Lazy,
    /// All of RFC 8259, and UTF-8: anything else is malformed.
    Strict,
}
