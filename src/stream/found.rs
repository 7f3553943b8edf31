//! The results of a step of the machine, as offsets.

use crate::json::JsonError;
pub use crate::sse::buffer::{Place, Span};
use crate::Quirk;

/// What a step found, as offsets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Found {
    /// The consumed bytes have nothing to report. If they are not the whole window, step again.
    NeedMore,
    /// A JSON payload. The machine has its index.
    Chunk(Span),
    /// An event whose payload is not read.
    Sse(Span),
    /// `[DONE]`.
    Done,
    /// A comment.
    Comment(Span),
    /// A payload that only keeps the connection alive.
    KeepAlive(Span),
    /// A reconnection time, in milliseconds.
    Retry(u64),
    /// A last event ID that came without an event.
    LastEventId,
    /// A payload that is not JSON, or bytes after the JSON of a payload.
    Malformed(Span, JsonError),
    /// An event over the limit. The machine discards the rest of it.
    TooLong,
    /// A comment over the limit. The machine discards it.
    CommentTooLong,
    /// A quirk that is configured as an error. Its event is consumed.
    Error(Quirk),
}

impl Found {
    /// The payload of an event, or the text of a comment.
    pub(super) fn payload(self) -> Option<Span> {
        match self {
            Found::Chunk(span)
            | Found::Sse(span)
            | Found::Comment(span)
            | Found::KeepAlive(span)
            | Found::Malformed(span, _) => Some(span),
            _ => None,
        }
    }
}

/// What a step did.
#[must_use = "a step may consume only a part of the window"]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// How many bytes of the window were consumed.
    pub consumed: usize,
    /// What was found.
    pub found: Found,
}

/// An event of a run: a template recognized it, or a step read it.
pub(super) struct Recognized<'w> {
    pub(super) payload: &'w [u8],
    /// Offset of the payload in the window or, if a step stored it, in the storage.
    pub(super) at: u32,
    /// The bytes of the window after the event.
    pub(super) rest: &'w [u8],
    /// Stream offsets of the event, as in the index. This copy saves a load of bytes that were stored just before.
    pub(super) frame: (u64, u64),
    /// The template that recognized it, or [`NONE`](super::memo::NONE).
    pub(super) template: u8,
    /// The event is of another protocol than chat completions. The machine has its name, if it has one.
    pub(super) is_native: bool,
}

impl Recognized<'_> {
    /// The event as the result of a step on `window`.
    #[inline(always)]
    pub(super) fn step(&self, window: &[u8]) -> Step {
        let payload = Span { place: Place::Input, start: self.at, len: self.payload.len() as u32 };
        Step { consumed: window.len().wrapping_sub(self.rest.len()), found: Found::Chunk(payload) }
    }
}
