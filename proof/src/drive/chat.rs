//! `deltawire::chat`.

use super::{sse::each_event, Hash};
use deltawire::chat::{ApiError, CallUpdate, Chunk, ChunkMember, Index, NamePiece, Usage};
use deltawire::json::Value;
use deltawire::track::Tracker;
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
    let place = chunk.field(ChunkMember::Model).and_then(|model| chunk.place_in(chunk.payload(), model));
    hash.count(place.map(|place| place.end as u64));
    hash.number(chunk.choice_count().into());
    hash.number(chunk.wire_range().end);
    hash.bytes(chunk.event_name());
    hash.byte(u8::from(chunk.is_completion()));
    hash.quirks(chunk.quirks());
    Tracker::<8, 32>::new().updates(chunk).for_each(|(choice, update)| one(hash, choice, &update));
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
        Update::CallEnd { call, whole } => {
            hash.number((*call).into());
            hash.byte((*whole).into());
        }
        Update::FunctionName { text, piece } => {
            hash.byte(u8::from(*piece == NamePiece::Replaces));
            hash.text(text);
        }
        Update::Annotations(value) => hash.raw(Some(*value)),
        Update::Audio(audio) => value(hash, *audio),
        Update::Logprobs(logprobs) => value(hash, *logprobs),
        Update::Finish(reason) => {
            hash.text(&reason.text());
            hash.byte(reason.kind() as u8);
        }
        Update::ChoiceError(error) | Update::Error(error) => api_error(hash, error),
        Update::Usage(usage) => used(hash, usage),
        _ => hash.byte(0),
    }
}

/// Raw JSON, walked as a program walks audio or log probabilities.
fn value(hash: &mut Hash, value: Value<'_>) {
    hash.raw(Some(value));
    for (name, member) in value.members().map_while(Result::ok) {
        hash.text(&name);
        hash.maybe(member.as_text());
        member.elements().map_while(Result::ok).for_each(|element| hash.raw(Some(element)));
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
