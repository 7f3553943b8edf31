//! Reads an event with the reader of its stream's protocol.

use super::protocol::Protocol;
use super::state::{DialectState, Plan, ReadEvent};
use super::walk::Walk;
use super::{anthropic, gemini, responses};
use crate::delta::{offset_in, Delta, Kind, Meta, Part};
use crate::json::{JsonError, Text};

/// Reads an event of the protocol of `state` into `seen`, which must be empty. `kind` is the type of the event or, if
/// it has none, its name. Calls `choice` for each choice in the event, with its index and whether it finished.
///
/// # Errors
/// The first error in an object or a list of the payload that the reader enters. Nobody checked them so far, only their
/// brackets. Then the state is not changed.
#[inline]
pub(crate) fn read<'a>(
    state: &mut DialectState,
    payload: &'a [u8],
    kind: Text<'_>,
    choice: &mut dyn FnMut(u32, bool),
    seen: &mut ReadEvent<'a>,
) -> Result<(), JsonError> {
    let protocol = Protocol::read_here(state.protocol);
    let read = match protocol {
        Some(Protocol::Anthropic) => anthropic::read(state, payload, kind, choice, seen),
        Some(Protocol::Responses) => responses::read(state, payload, kind, choice, seen),
        Some(Protocol::Gemini) => gemini::read(state, payload, choice, seen),
        _ => Ok(()),
    };
    read.map_err(|(inside, error)| JsonError {
        offset: offset_in(payload, inside).saturating_add(error.offset),
        ..error
    })?;
    seen.plan.protocol = protocol;
    (seen.plan.called, seen.plan.is_later) = (state.called, state.is_later);
    if let (Some(protocol), Some(usage)) = (protocol, seen.usage) {
        state.usage.add_usage(protocol, usage);
    }
    Ok(())
}

/// Returns the next delta of an event.
#[inline(never)]
pub(crate) fn next(walk: &mut Walk, payload: &[u8], plan: &Plan) -> Option<Delta> {
    for (kind, part) in [(Kind::ToolName, &mut walk.name), (Kind::ToolArguments, &mut walk.arguments)] {
        if !part.is_empty() {
            let text = core::mem::replace(part, Part::NONE);
            let (flags, choice, call) = (walk.flags, walk.choice, walk.calls.wrapping_sub(1));
            return Some(Delta { flags, choice, call, text, ..Delta::new(kind) });
        }
    }
    loop {
        if !walk.member.is_empty() {
            let text = core::mem::replace(&mut walk.member, Part::NONE);
            if plan.protocol() == Some(Protocol::Responses) {
                return Some(Delta { choice: walk.choice, text, ..Delta::new(Kind::Logprobs) });
            }
            let (choice, call, code) = (walk.choice, walk.calls.wrapping_sub(1), Meta::CallMember as u32);
            return Some(Delta { choice, call, code, text, ..Delta::new(Kind::Meta) });
        }
        if walk.phase == Walk::OVER {
            return None;
        }
        walk.before = walk.phase;
        let delta = match plan.protocol() {
            Some(Protocol::Anthropic) => anthropic::step(walk, payload, plan),
            Some(Protocol::Responses) => responses::step(walk, payload, plan),
            Some(Protocol::Gemini) => gemini::step(walk, payload, plan),
            _ => walk.end(),
        };
        if delta.is_some() {
            return delta;
        }
    }
}

/// Whether a member of an event needs no delta of its own: other deltas are made of it, or it contains nothing about
/// the response.
pub(crate) fn is_read(protocol: Protocol, is_choice: bool, name: &Text<'_>) -> bool {
    let known = match (protocol, is_choice) {
        (Protocol::Anthropic, false) => "type id model role content usage index delta message",
        (Protocol::Anthropic, true) => "type stop_reason",
        (Protocol::Gemini, false) => "candidates usageMetadata modelVersion responseId createTime error",
        (Protocol::Gemini, true) => "content index finishReason",
        // All other members repeat the request or earlier events.
        (_, _) => return !name.is_one_of(responses::OTHERS),
    };
    name.is_one_of(known)
        || !is_choice && name.is_one_of("stop_reason sequence_number")
        || name.is_one_of(if is_choice { OF_CHOICE } else { OF_MESSAGE })
}

/// The names of the members that an assembled message has anyway. A member of an event with such a name gets no delta,
/// because the message would have two members of that name.
const OF_MESSAGE: &str = "id object created model choices usage native_usage system_fingerprint service_tier error";
/// The names of the members that a choice of an assembled message has anyway.
const OF_CHOICE: &str = "index message finish_reason native_finish_reason logprobs error";

/// Whether the member of an event with this name contains a choice or a list of choices.
pub(crate) fn has_choices(protocol: Protocol, name: &Text<'_>) -> bool {
    match protocol {
        Protocol::Anthropic => name == "delta",
        Protocol::Gemini => name == "candidates",
        _ => name == "response",
    }
}
