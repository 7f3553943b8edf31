//! The first deltas of an event: those for the event itself and for its payload.

use super::context::Context;
use super::found::Found;
use crate::delta::{Delta, Kind, Part, FLAG_NUMBER};

/// The delta of a chunk's raw payload.
#[inline(never)]
pub(super) fn payload_delta(context: &Context<'_>) -> Delta {
    let (is_error, is_plain) =
        context.chunk().map_or((false, false), |chunk| (chunk.is_whole_error(), chunk.is_plain_text()));
    Delta {
        code: u32::from(is_error),
        flags: if is_plain { crate::delta::FLAG_PLAIN } else { 0 },
        text: whole(context),
        ..Delta::new(Kind::Payload)
    }
}

/// The range of a context's whole payload.
pub(super) fn whole(context: &Context<'_>) -> Part {
    Part { len: context.payload().len() as u32, ..Part::NONE }
}

/// The delta of the event itself.
pub(super) fn head(context: &Context<'_>, found: Found) -> Option<Delta> {
    let bytes = |kind| Delta { text: whole(context), ..Delta::new(kind) };
    let number = |delta: Delta, number| Delta { number, flags: FLAG_NUMBER, ..delta };
    Some(match found {
        Found::NeedMore | Found::Error(_) => return None,
        Found::Chunk(_) => {
            let (code, flags) = context.chunk().map_or((0, 0), |chunk| (chunk.choice_count(), chunk.flags()));
            Delta { code, flags, ..Delta::new(Kind::Chunk) }
        }
        Found::Sse(_) => bytes(Kind::Sse),
        Found::Done => Delta::new(Kind::Done),
        Found::Comment(_) => bytes(Kind::Comment),
        Found::KeepAlive(_) => bytes(Kind::KeepAlive),
        Found::Retry(ms) => number(Delta::new(Kind::Retry), ms),
        Found::LastEventId => Delta::new(Kind::LastEventId),
        Found::Malformed(_, fault) => {
            Delta { code: fault.kind.number(), ..number(bytes(Kind::Malformed), fault.offset as u64) }
        }
        Found::TooLong => Delta::new(Kind::TooLong),
        Found::CommentTooLong => Delta::new(Kind::CommentTooLong),
    })
}
