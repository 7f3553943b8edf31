//! `deltawire::chat`.

use super::{sse::each_event, Hash};
use deltawire::chat::{
    ApiError, CallUpdate, Chunk, DeltaView, Index, Logprobs, NamePiece, TokenLogprobs, ToolCall, Usage,
};
use deltawire::Update;

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
    chunk.deltas().for_each(|(choice, update)| one(hash, choice, &update));
}

fn names(hash: &mut Hash, view: &DeltaView<'_>) {
    for text in [view.role(), view.content(), view.refusal(), view.reasoning_content(), view.reasoning()] {
        hash.maybe(text);
    }
    hash.maybe(view.thinking());
    hash.number(view.content_parts().count() as u64);
    hash.number(view.reasoning_details().count() as u64);
    view.tool_calls().for_each(|call| tool_call(hash, &call));
    if let Some(call) = view.function_call() {
        hash.maybe(call.name());
        hash.maybe(call.arguments());
    }
}

fn one(hash: &mut Hash, choice: u32, update: &Update<'_>) {
    hash.number(choice.into());
    updated(hash, update);
}

pub(super) fn updated(hash: &mut Hash, update: &Update<'_>) {
    match update {
        Update::Role(text)
        | Update::Content(text)
        | Update::Reasoning(text)
        | Update::Refusal(text)
        | Update::FunctionArguments(text)
        | Update::Meta(_, text) => hash.text(text),
        Update::Call(CallUpdate { call, index, opens, reuses, id, kind, custom, .. }) => {
            hash.number((*call).into());
            hash.count(index.map(u64::from));
            for flag in [opens, reuses, custom] {
                hash.byte(u8::from(*flag));
            }
            hash.maybe(*id);
            hash.maybe(*kind);
        }
        Update::CallName { call, text, piece } => {
            hash.number((*call).into());
            hash.byte(u8::from(*piece == NamePiece::Replaces));
            hash.text(text);
        }
        Update::CallArguments { call, text } => {
            hash.number((*call).into());
            hash.text(text);
        }
        Update::FunctionName { text, piece } => {
            hash.byte(u8::from(*piece == NamePiece::Replaces));
            hash.text(text);
        }
        Update::Annotations(value) => hash.raw(Some(*value)),
        Update::Audio(audio) => {
            hash.maybe(audio.id());
            hash.maybe(audio.data());
            hash.maybe(audio.transcript());
            hash.count(audio.expires_at());
        }
        Update::Logprobs(logprobs) => log(hash, logprobs),
        Update::Finish(reason) => {
            hash.text(&reason.text());
            hash.byte(reason.kind() as u8);
        }
        Update::ChoiceError(error) | Update::Error(error) => api_error(hash, error),
        Update::Usage(usage) => used(hash, usage),
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
