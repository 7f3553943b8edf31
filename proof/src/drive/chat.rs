//! `deltawire::chat`.

use super::{sse::each_event, Hash};
use deltawire::chat::{ApiError, Chunk, Delta, DeltaKind, DeltaView, Index, Logprobs, TokenLogprobs, ToolCall, Usage};

/// Every payload of the stream as a chunk, read in all ways that there are.
pub fn chat(bytes: &[u8], cut: usize) -> u64 {
    let mut hash = Hash::new();
    let mut index = Index::new();
    let mut see = |payload: &[u8]| match Chunk::read(payload, &mut index) {
        Ok(chunk) => whole(&mut hash, &chunk),
        Err(error) => hash.number(error.offset as u64),
    };
    each_event(bytes, cut, |event| see(event.data()));
    see(bytes);
    hash.0
}

pub(super) fn whole(hash: &mut Hash, chunk: &Chunk<'_>) {
    for text in [chunk.id(), chunk.object(), chunk.model(), chunk.system_fingerprint(), chunk.service_tier()] {
        hash.maybe(text);
    }
    hash.maybe(chunk.provider());
    hash.count(chunk.created());
    hash.raw(chunk.get("obfuscation"));
    hash.number(chunk.choice_count().into());
    hash.number(chunk.wire_range().end);
    hash.bytes(chunk.event_name());
    hash.byte(u8::from(chunk.is_completion()));
    hash.quirks(chunk.quirks());
    for choice in chunk.choices() {
        hash.number(choice.index().into());
        hash.maybe(choice.native_finish_reason());
        hash.raw(choice.value());
        hash.raw(choice.get("content_filter_results"));
        if let Some(view) = choice.delta() {
            names(hash, &view);
        }
    }
    chunk.deltas().for_each(|delta| one(hash, &delta));
}

fn names(hash: &mut Hash, view: &DeltaView<'_>) {
    for text in [view.role(), view.content(), view.refusal(), view.reasoning_content(), view.reasoning()] {
        hash.maybe(text);
    }
    hash.maybe(view.thinking());
    hash.number(view.content_parts().count() as u64);
    hash.number(view.reasoning_details().count() as u64);
}

fn one(hash: &mut Hash, delta: &Delta<'_>) {
    hash.number(delta.choice.into());
    if let DeltaKind::Message(message) = &delta.kind {
        hash.raw(Some(message.value()));
        message.deltas().for_each(|kind| brought(hash, &kind));
    }
    brought(hash, &delta.kind);
}

pub(super) fn brought(hash: &mut Hash, kind: &DeltaKind<'_>) {
    match kind {
        DeltaKind::Role(text) | DeltaKind::Content(text) | DeltaKind::Reasoning(text) | DeltaKind::Refusal(text) => {
            hash.text(text);
        }
        DeltaKind::FunctionCall(call) => {
            hash.maybe(call.name());
            hash.maybe(call.arguments());
        }
        DeltaKind::ToolCall(call) => tool_call(hash, call),
        DeltaKind::Audio(audio) => {
            hash.maybe(audio.id());
            hash.maybe(audio.data());
            hash.maybe(audio.transcript());
            hash.count(audio.expires_at());
        }
        DeltaKind::Logprobs(logprobs) => log(hash, logprobs),
        DeltaKind::Finish(reason) => {
            hash.text(&reason.text());
            hash.byte(reason.kind() as u8);
        }
        DeltaKind::ChoiceError(error) | DeltaKind::Error(error) => api_error(hash, error),
        DeltaKind::Usage(usage) => used(hash, usage),
        _ => hash.byte(0),
    }
}

fn tool_call(hash: &mut Hash, call: &ToolCall<'_>) {
    hash.number(call.position().into());
    hash.count(call.index().map(u64::from));
    hash.byte(u8::from(call.is_custom()));
    for text in [call.id(), call.kind(), call.name(), call.arguments()] {
        hash.maybe(text);
    }
    hash.raw(call.value());
    hash.raw(call.get("extra_content"));
}

fn log(hash: &mut Hash, logprobs: &Logprobs<'_>) {
    tokens(hash, logprobs.content());
    tokens(hash, logprobs.refusal());
    hash.raw(logprobs.legacy_tokens());
    hash.raw(logprobs.legacy_token_logprobs());
    hash.raw(logprobs.legacy_top_logprobs());
    hash.raw(logprobs.legacy_text_offset());
}

fn tokens(hash: &mut Hash, tokens: TokenLogprobs<'_>) {
    for token in tokens {
        hash.maybe(token.token());
        hash.bytes(token.logprob().map_or(b"", |number| number.raw()));
        token.bytes().into_iter().flatten().for_each(|byte| hash.byte(byte));
        token.top_logprobs().for_each(|top| hash.maybe(top.token()));
    }
}

fn used(hash: &mut Hash, usage: &Usage<'_>) {
    for count in [
        usage.prompt_tokens(),
        usage.completion_tokens(),
        usage.total_tokens(),
        usage.reasoning_tokens(),
        usage.completion_audio_tokens(),
        usage.accepted_prediction_tokens(),
        usage.rejected_prediction_tokens(),
        usage.cached_tokens(),
        usage.prompt_audio_tokens(),
    ] {
        hash.count(count);
    }
    hash.raw(usage.get("cost"));
}

fn api_error(hash: &mut Hash, error: &ApiError<'_>) {
    for text in [error.message(), error.kind(), error.param(), error.code()] {
        hash.maybe(text);
    }
    hash.raw(error.metadata());
    hash.raw(error.value());
}
