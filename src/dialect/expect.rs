//! Texts that nobody documents, where nothing else says anything, and events that have a piece of something.

use super::value::{array, object, text};
use super::walk::Container;
use crate::json::{members_of, Text, Value};

/// Whether a type is one of these words, or no word at all.
pub(super) fn is_word_of(kind: Option<Value<'_>>, words: &str) -> bool {
    kind.and_then(|kind| kind.as_text()).is_none_or(|kind| kind.is_one_of(words))
}

/// The names under which no event has a text of the response: names, states, signatures and padding. Neither is an ID.
const ABOUT: &str = "type id event object status state name role model phase channel part created_at stop_reason \
    signature thought_signature thinking_signature reasoning_signature reasoning_opaque encrypted_content \
    reasoning_encrypted_content encrypted_reasoning obfuscation";

/// Whether an object has a text that nobody documents: under a name that is neither [`ABOUT`] the event nor `known`, also
/// in a list of content parts.
pub(crate) fn has_unknown_text(value: Value<'_>, known: &str) -> bool {
    has_unknown(value, known, true)
}

fn has_unknown(value: Value<'_>, known: &str, may_be_list: bool) -> bool {
    let mut at = 0;
    while let Some((name, value)) = value.member_at(&mut at) {
        let in_list = || may_be_list && name.raw().starts_with(b"content") && has_unknown_part(value);
        let is_about = || name.is_one_of(ABOUT) || name.raw().ends_with(b"_id") || name.is_one_of(known);
        if (text(Some(value)).is_some() || in_list()) && !is_about() {
            return true;
        }
    }
    false
}

/// Whether a part in a list has an unknown text.
fn has_unknown_part(list: Value<'_>) -> bool {
    let mut parts = Container::of(list.raw(), array(Some(list)));
    while let Some(part) = parts.next(list.raw()) {
        if object(Some(part)).is_some_and(|part| has_unknown(part, "", false)) {
            return true;
        }
    }
    false
}

/// Whether all that an object says is a text that nobody documents: its `known` members are empty.
pub(super) fn is_unknown_text(value: Option<Value<'_>>, known: &str) -> bool {
    let Some(value) = object(value) else { return false };
    let mut at = 0;
    while let Some((name, value)) = value.member_at(&mut at) {
        if name.is_one_of(known) && !matches!(value.raw(), b"null" | b"\"\"" | b"{}" | b"[]") {
            return false;
        }
    }
    has_unknown_text(value, known)
}

/// The events that have a piece of what a tool of the server does: the type after `response.`. The item has all of it
/// when it is done.
const PIECES: &str = "shell_call_command.delta shell_call_output_content.delta mcp_call_arguments.delta \
    mcp_call.arguments.delta code_interpreter_call_code.delta code_interpreter_call.code.delta \
    apply_patch_call_operation_diff.delta image_generation_call.partial_image";

/// The events that have a piece of audio, and those that have a piece of its transcript.
const AUDIO: &str = "audio.delta output_audio.delta";
const TRANSCRIPTS: &str = "audio.transcript.delta audio_transcript.delta output_audio_transcript.delta";

/// Whether an event of this type has a piece of audio or of its transcript.
pub(super) fn is_audio(kind: Text<'_>) -> bool {
    kind.raw().starts_with(b"response.") && kind.behind(b"response.".len()).is_one_of(AUDIO) || is_transcript(kind)
}

/// Whether an event of this type has a piece of a transcript.
pub(crate) fn is_transcript(kind: Text<'_>) -> bool {
    kind.raw().starts_with(b"response.") && kind.behind(b"response.".len()).is_one_of(TRANSCRIPTS)
}

/// Whether an event of this type has a piece of what a tool of the server does.
pub(crate) fn is_piece(kind: Text<'_>) -> bool {
    kind.raw().starts_with(b"response.") && kind.behind(b"response.".len()).is_one_of(PIECES)
}

/// Whether an event of this type ends or begins what a piece is of.
fn is_of_pieces(kind: &[u8]) -> bool {
    let own = kind.strip_prefix(b"response.").unwrap_or_default();
    let step = own.iter().rposition(|byte| *byte == b'.').unwrap_or(own.len());
    let (about, _) = own.split_at_checked(step).unwrap_or_default();
    [PIECES, AUDIO, TRANSCRIPTS].into_iter().any(|pieces| has_piece_of(pieces, about))
}

/// Whether one of these events has a piece of what an event is `about`.
fn has_piece_of(pieces: &str, about: &[u8]) -> bool {
    let mut pieces = pieces.as_bytes().split(|byte| *byte == b' ');
    pieces.any(|piece| piece.strip_prefix(about).is_some_and(|rest| rest.first() == Some(&b'.')))
}

/// Whether an event of a type that no reader knows has a text, maybe in an object in the place of its text.
pub(super) fn is_unknown_event(event: Value<'_>, kind: &[u8]) -> bool {
    let inner = members_of(event, ["delta", "part", "item"]);
    !is_of_pieces(kind) && (has_unknown_text(event, "") || inner.into_iter().any(|inner| is_unknown_text(inner, "")))
}
