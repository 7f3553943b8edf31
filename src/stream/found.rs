//! What a step of the machine finds: offsets only.

use crate::json::JsonError;
pub use crate::sse::buffer::{Place, Span};
use crate::Quirk;

/// What a step found: offsets only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Found {
    /// The consumed bytes had nothing to report. If they are not all of the window, step again.
    NeedMore,
    /// A JSON payload; its index is in the machine.
    Chunk(Span),
    /// An event whose payload is not looked into.
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
    /// A payload that is not JSON, or what followed one that is.
    Malformed(Span, JsonError),
    /// An event over the limit; its rest is discarded.
    TooLong,
    /// A comment over the limit; it is discarded.
    CommentTooLong,
    /// A quirk that is configured as an error; its event is consumed.
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
#[must_use = "a step may spend a part of the window only"]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// How many bytes of the window are spent.
    pub consumed: usize,
    /// What was found.
    pub found: Found,
}

/// An event for a run to emit, nearly always a chunk: a template recognised it, a step has read it, or it was passed over.
pub(super) struct Recognised<'w> {
    pub(super) payload: &'w [u8],
    /// Where that begins in the window, or in the storage.
    pub(super) at: u32,
    /// What follows the event.
    pub(super) rest: &'w [u8],
    /// Where its event lies in the stream. The index has the same; a copy here saves loading what was just stored.
    pub(super) frame: (u64, u64),
    /// The event before it in the run has the same bytes outside the holes of the template.
    pub(super) repeats: bool,
    /// It is of another protocol than chat completions. The machine has the name of the event, if there is one.
    pub(super) is_native: bool,
    /// Nobody asks for what it says: it was passed over.
    pub(super) is_unread: bool,
}

impl Recognised<'_> {
    /// The step that found it.
    #[inline(always)]
    pub(super) fn step(&self, window: &[u8]) -> Step {
        let payload = Span { place: Place::Input, start: self.at, len: self.payload.len() as u32 };
        let found = if self.is_unread { Found::Sse(payload) } else { Found::Chunk(payload) };
        Step { consumed: window.len().wrapping_sub(self.rest.len()), found }
    }
}
