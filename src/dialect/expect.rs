//! What is known of the members of an event. A value of another type is a quirk, and so is a text that nobody documents
//! where nothing else says anything.

use super::items::{client, content_kind};
use super::protocol::Protocol;
use super::text_event::text_of_event;
use super::value::{array, object, text};
use super::walk::Container;
use crate::delta::offset_in;
use crate::json::{members_of, not_a_number, JsonError, Text, Value, ValueKind, LONGEST_WORD};
use crate::{Quirk, QuirkSet};

/// The type of a member's value. A null counts as absent.
#[derive(Clone, Copy)]
enum Type {
    Text,
    Object,
    List,
    Bool,
    /// Digits. Any other value is an odd index.
    Index,
    /// The input of a call: an object, or a text in its place.
    Input,
}

/// Members of an object: their names, and the type of their values.
type Members = [(&'static str, Type)];

/// The quirks of a value, or the object or list in it that is no JSON, with the error in that.
type Judged<'a> = Result<QuirkSet, (&'a [u8], JsonError)>;

/// Returns the quirks of the members of an event of this protocol. `kind` is the type of the event or, if it has none,
/// its name. The items of a response that ends are judged only if no event before it had any (`is_first`).
///
/// # Errors
/// The first error in an object or a list that the reader enters. Nobody checked them so far, only their brackets.
pub(super) fn judge(protocol: Protocol, payload: &[u8], kind: Text<'_>, is_first: bool) -> Result<QuirkSet, JsonError> {
    let event = Value::of_payload(payload);
    let judged = match protocol {
        Protocol::Anthropic => anthropic(event, kind),
        Protocol::Gemini => gemini(event),
        _ => responses(event, kind.word(&mut [0; LONGEST_WORD]), is_first),
    };
    judged.map_err(|(inside, error)| JsonError {
        offset: offset_in(payload, inside).saturating_add(error.offset),
        ..error
    })
}

/// Returns the quirks of these members of a value, which must be an object. `found` gets the values of the first of them,
/// as [`members_of`] returns them, so that what is inside is judged without another walk.
#[inline(never)]
fn members<'a>(value: Value<'a>, known: &Members, found: &mut [Option<Value<'a>>]) -> Judged<'a> {
    let mut quirks = QuirkSet::EMPTY;
    if value.kind() != ValueKind::Object {
        quirks.insert(Quirk::OddType);
    }
    let walked = value.each_member(|name, member| {
        let Some(place) = known.iter().position(|(own, _)| name.is_word(own)) else { return };
        let value = value.inside(member);
        let kind = value.kind();
        if let Some(to) = found.get_mut(place) {
            *to = Some(value).filter(|value| !value.is_null());
        }
        let (is_right, quirk) = match known.get(place).map(|(_, expected)| *expected) {
            Some(Type::Text) => (kind == ValueKind::String, Quirk::OddType),
            Some(Type::Object) => (kind == ValueKind::Object, Quirk::OddType),
            Some(Type::List) => (kind == ValueKind::Array, Quirk::OddType),
            Some(Type::Bool) => (kind == ValueKind::Bool, Quirk::OddType),
            Some(Type::Index) => (value.raw().iter().all(u8::is_ascii_digit), Quirk::OddIndex),
            Some(Type::Input) => (matches!(kind, ValueKind::String | ValueKind::Object), Quirk::OddType),
            None => return,
        };
        if !is_right && kind != ValueKind::Null {
            quirks.insert(quirk);
        }
    });
    match walked {
        // Python writes numbers that JSON does not have. What comes before one is read.
        Err(error) if value.raw().get(error.offset..).and_then(not_a_number).is_none() => Err((value.raw(), error)),
        _ => Ok(quirks),
    }
}

/// Does what [`members`] does for a value that is an object. Any other value has no members.
fn inside<'a>(value: Option<Value<'a>>, known: &Members, found: &mut [Option<Value<'a>>]) -> Judged<'a> {
    of(value, |value| members(value, known, found))
}

/// Returns the quirks of a value that is an object. Any other value has no members.
fn of<'a>(value: Option<Value<'a>>, judge: impl FnOnce(Value<'a>) -> Judged<'a>) -> Judged<'a> {
    object(value).map_or(Ok(QuirkSet::EMPTY), judge)
}

/// Returns the quirks of the elements of a list.
fn elements<'a>(list: Option<Value<'a>>, each: &dyn Fn(Value<'a>) -> Judged<'a>) -> Judged<'a> {
    let mut quirks = QuirkSet::EMPTY;
    let Some(list) = array(list) else { return Ok(quirks) };
    for element in list.elements() {
        quirks |= each(element.map_err(|error| (list.raw(), error))?)?;
    }
    Ok(quirks)
}

/// Whether the `type` of an object is one of these words, or no word at all.
fn is_typed(value: Value<'_>, words: &str) -> bool {
    is_word_of(members_of(value, ["type"])[0], words)
}

/// Whether a type is one of these words, or no word at all.
fn is_word_of(kind: Option<Value<'_>>, words: &str) -> bool {
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

fn anthropic<'a>(event: Value<'a>, kind: Text<'_>) -> Judged<'a> {
    let mut inner = [None];
    if kind == "message_start" {
        let quirks = members(event, &[("message", Type::Object)], &mut inner)?;
        Ok(quirks | of(inner[0], anthropic_message)?)
    } else if kind == "message" {
        anthropic_message(event)
    } else if kind == "content_block_start" {
        let quirks = members(event, &[("content_block", Type::Object), ("index", Type::Index)], &mut inner)?;
        Ok(quirks | of(inner[0], anthropic_block)?)
    } else if kind == "content_block_delta" {
        const TYPES: &str = "text_delta thinking_delta input_json_delta signature_delta citations_delta";
        let quirks = members(event, &[("delta", Type::Object), ("index", Type::Index)], &mut inner)?;
        // A delta of any other type is reported whole.
        let delta = object(inner[0]).filter(|delta| is_typed(*delta, TYPES));
        let of_delta = [
            ("type", Type::Text),
            ("text", Type::Text),
            ("thinking", Type::Text),
            ("signature", Type::Text),
            ("partial_json", Type::Input),
            ("citation", Type::Object),
        ];
        Ok(quirks | inside(delta, &of_delta, &mut [])?)
    } else if kind == "message_delta" {
        let quirks = members(event, &[("delta", Type::Object), ("usage", Type::Object)], &mut inner)?;
        Ok(quirks | inside(inner[0], &[("stop_reason", Type::Text)], &mut [])?)
    } else {
        Ok(QuirkSet::EMPTY)
    }
}

fn anthropic_message(message: Value<'_>) -> Judged<'_> {
    let known = [
        ("content", Type::List),
        ("id", Type::Text),
        ("model", Type::Text),
        ("role", Type::Text),
        ("stop_reason", Type::Text),
        ("usage", Type::Object),
    ];
    let mut content = [None];
    Ok(members(message, &known, &mut content)? | elements(content[0], &anthropic_block)?)
}

fn anthropic_block(block: Value<'_>) -> Judged<'_> {
    if !is_typed(block, "text thinking tool_use") {
        // The block is reported whole.
        return Ok(QuirkSet::EMPTY);
    }
    let known = [
        ("type", Type::Text),
        ("text", Type::Text),
        ("thinking", Type::Text),
        ("signature", Type::Text),
        ("id", Type::Text),
        ("name", Type::Text),
        ("citations", Type::List),
        ("input", Type::Input),
    ];
    members(block, &known, &mut [])
}

fn gemini(event: Value<'_>) -> Judged<'_> {
    let known = [
        ("candidates", Type::List),
        ("promptFeedback", Type::Object),
        ("usageMetadata", Type::Object),
        ("modelVersion", Type::Text),
        ("responseId", Type::Text),
    ];
    let mut inner = [None; 2];
    let quirks = members(event, &known, &mut inner)?;
    let [candidates, feedback] = inner;
    let of_feedback = inside(feedback, &[("blockReason", Type::Text)], &mut [])?;
    Ok(quirks | of_feedback | elements(candidates, &gemini_candidate)?)
}

fn gemini_candidate(candidate: Value<'_>) -> Judged<'_> {
    let known = [("content", Type::Object), ("index", Type::Index), ("finishReason", Type::Text)];
    let (mut content, mut parts) = ([None], [None]);
    let quirks = members(candidate, &known, &mut content)?;
    let of_content = inside(content[0], &[("parts", Type::List), ("role", Type::Text)], &mut parts)?;
    Ok(quirks | of_content | elements(parts[0], &gemini_part)?)
}

fn gemini_part(part: Value<'_>) -> Judged<'_> {
    let known = [
        ("functionCall", Type::Object),
        ("text", Type::Text),
        ("thoughtSignature", Type::Text),
        ("thought", Type::Bool),
        ("inlineData", Type::Object),
        ("fileData", Type::Object),
    ];
    let of_call = [
        ("id", Type::Text),
        ("name", Type::Text),
        ("args", Type::Input),
        ("partialArgs", Type::List),
        ("willContinue", Type::Bool),
    ];
    let mut call = [None];
    Ok(members(part, &known, &mut call)? | inside(call[0], &of_call, &mut [])?)
}

fn responses<'a>(event: Value<'a>, kind: &[u8], is_first: bool) -> Judged<'a> {
    const INDEX: (&str, Type) = ("output_index", Type::Index);
    let Some(own) = kind.strip_prefix(b"response.") else {
        let [status, output] = members_of(event, ["status", "output"]);
        let is_body = status.is_some() && array(output).is_some();
        return if is_body { response(event, is_first) } else { Ok(QuirkSet::EMPTY) };
    };
    let mut inner = [None];
    if let Some((name, is_input)) = text_of_event(kind) {
        let known = [
            ("part", Type::Object),
            INDEX,
            ("content_index", Type::Index),
            ("summary_index", Type::Index),
            (name, if is_input { Type::Input } else { Type::Text }),
            ("item_id", Type::Text),
            ("call_id", Type::Text),
        ];
        let quirks = members(event, &known, &mut inner)?;
        return Ok(quirks | of(inner[0], responses_part)?);
    }
    match own {
        b"output_item.added" | b"output_item.done" => {
            let quirks = members(event, &[("item", Type::Object), INDEX], &mut inner)?;
            Ok(quirks | of(inner[0], responses_item)?)
        }
        b"created" | b"queued" | b"in_progress" | b"completed" | b"incomplete" | b"failed" | b"cancelled" | b"done" => {
            let quirks = members(event, &[("response", Type::Object)], &mut inner)?;
            let own = inner[0].or_else(|| members_of(event, ["status"])[0].map(|_| event));
            Ok(quirks | of(own, |own| response(own, is_first))?)
        }
        _ if is_audio(Text::verbatim(kind)) => members(event, &[("delta", Type::Text)], &mut []),
        _ => Ok(QuirkSet::EMPTY),
    }
}

fn response(response: Value<'_>, is_first: bool) -> Judged<'_> {
    let known = [
        ("output", Type::List),
        ("id", Type::Text),
        ("model", Type::Text),
        ("status", Type::Text),
        ("service_tier", Type::Text),
        ("usage", Type::Object),
        ("error", Type::Object),
        ("incomplete_details", Type::Object),
    ];
    let mut output = [None];
    let quirks = members(response, &known, &mut output)?;
    Ok(quirks | elements(output[0].filter(|_| is_first), &responses_item)?)
}

fn responses_item(item: Value<'_>) -> Judged<'_> {
    let [kind] = members_of(item, ["type"]);
    if !is_word_of(kind, "message reasoning function_call custom_tool_call") {
        // The item is reported whole.
        return Ok(QuirkSet::EMPTY);
    }
    if client(kind).is_some() {
        let known = [
            ("type", Type::Text),
            ("id", Type::Text),
            ("item_id", Type::Text),
            ("call_id", Type::Text),
            ("name", Type::Text),
            ("arguments", Type::Input),
            ("input", Type::Input),
        ];
        return members(item, &known, &mut []);
    }
    let known = [
        ("content", Type::List),
        ("summary", Type::List),
        ("type", Type::Text),
        ("id", Type::Text),
        ("item_id", Type::Text),
        ("role", Type::Text),
        ("encrypted_content", Type::Text),
    ];
    let mut inner = [None; 2];
    let quirks = members(item, &known, &mut inner)?;
    let [content, summary] = inner;
    Ok(quirks | elements(content, &responses_part)? | elements(summary, &responses_part)?)
}

fn responses_part(part: Value<'_>) -> Judged<'_> {
    let [kind, words, refusal] = members_of(part, ["type", "text", "refusal"]);
    let is_known = content_kind(kind).is_some();
    let known = if is_known { "text refusal annotations" } else { "transcript data" };
    let has_text = is_known && (text(words).is_some() || text(refusal).is_some());
    let is_unknown = !has_text && is_unknown_text(Some(part), known);
    let unknown = if is_unknown { Quirk::UnknownText.into() } else { QuirkSet::EMPTY };
    let known = [("type", Type::Text), ("text", Type::Text), ("refusal", Type::Text), ("annotations", Type::List)];
    Ok(members(part, &known, &mut [])? | unknown)
}
