//! Reads one payload: runs the pass, then decides what depends on several members.

use super::index::{choice, top, Hint, Index, Read};
use super::page::Behind;
use super::pass::walk;
use super::scalar::{is_empty_object, is_error, member_of, nested_words, string_of, text_of, whole_number};
use crate::json::{members_of, JsonError, Value, ValueKind};

/// Reads the JSON value that `payload` begins with into `index`.
pub(crate) fn read(index: &mut Index, payload: &[u8], hint: Hint, max_depth: u32) -> Result<Read, JsonError> {
    index.clear();
    let read = walk(index, payload, max_depth)?;
    conclude(index, payload, hint);
    Ok(read)
}

/// Whether a raw JSON value is an error only if it is the whole body.
pub(crate) fn is_error_as_body(index: &mut Index, payload: &[u8], max_depth: u32) -> bool {
    let mut is_error = |hint| read(index, payload, hint, max_depth).is_ok() && index.facts.error;
    is_error(Hint::Body) && !is_error(Hint::None)
}

/// Makes `index` the index of an error whose payload is no JSON object.
pub(crate) fn plain_text(index: &mut Index) {
    index.clear();
    (index.facts.error, index.facts.error_is_whole, index.facts.text) = (true, true, true);
    index.list.behind.add(Behind::ERROR, true);
}

#[inline(always)]
fn conclude(index: &mut Index, payload: &[u8], hint: Hint) {
    /// Members that a chunk with choices rarely has.
    const RARE: u32 = 1 << top::ERROR | 1 << top::TYPE | 1 << top::DETAIL | 1 << top::X_GROQ;
    let object_len = index.top.get(top::OBJECT).map_or(0, |span| span.end.wrapping_sub(span.start));
    let is_rare = index.top.mask() & RARE != 0 || object_len as usize == b"\"error\"".len() || index.facts.rare;
    if index.choices == 0 || is_rare || hint != Hint::None {
        return conclude_any(index, payload, hint);
    }
    index.facts.chat = true;
    let usage = index.top.get(top::USAGE).and_then(|span| payload.get(span.start as usize));
    index.list.behind.add(Behind::USAGE, usage == Some(&b'{'));
}

/// Does what [`conclude`] does, for any payload.
#[inline(never)]
fn conclude_any(index: &mut Index, payload: &[u8], hint: Hint) {
    let value = |member| index.top(payload, member);
    let is = |member, word: &str| value(member).and_then(|value| value.as_text()).is_some_and(|text| text == word);
    let object = index.object(payload);
    // A whole body with an answer is no error, even if it also has a message.
    let is_answer = index.choices > 0
        // Other protocols have usage too, but also a type.
        || index.top.has(top::USAGE) && !index.top.has(top::TYPE) && object.is_empty()
        || object.starts_with(b"chat.completion")
        || object.starts_with(b"text_completion");
    let is_chat = is_answer || index.top.has(top::CHOICES);
    let has_error = member_error(index, payload, hint == Hint::Body).is_some();
    let is_whole = !has_error
        && (hint == Hint::Error
            || is(top::TYPE, "error")
            || object == b"error"
            || match hint {
                Hint::Body => !is_answer && is_error_body(Value::of_payload(payload)),
                _ => {
                    !is_chat && (value(top::DETAIL).is_some_and(is_error) || index.facts.rare && is_error_code(payload))
                }
            });
    let is_object = |member| value(member).is_some_and(|value| value.kind() == ValueKind::Object);
    let has_usage = is_object(top::USAGE) || is_object(top::X_GROQ) || index.facts.rare && index.choices > 0;
    index.facts.chat = is_chat;
    index.facts.error |= has_error || is_whole;
    index.facts.error_is_whole |= is_whole;
    index.list.behind.add(Behind::USAGE, has_usage);
    index.list.behind.add(Behind::ERROR, has_error || is_whole);
}

/// Whether an event without choices reports an error by its `error_code`: a number other than 0 (FastChat, Baidu), or a
/// word together with a message (Databricks). An event with a `type`, `candidates` or `done` is of another protocol,
/// and its `error_code` does not count.
#[inline(never)]
fn is_error_code(payload: &[u8]) -> bool {
    let names = ["error_code", "message", "type", "candidates", "done"];
    let [code, message, kind, candidates, done] = members_of(Value::of_payload(payload), names);
    let Some(code) = code.filter(|code| is_error(*code)).and_then(text_of) else { return false };
    let is_number = matches!(code.raw().first(), Some(b'-' | b'0'..=b'9'));
    let is_zero = code.raw().iter().all(|byte| matches!(byte, b'-' | b'.' | b'0'));
    let has_reason = is_number || message.and_then(string_of).is_some();
    !is_zero && has_reason && kind.or(candidates).or(done).is_none()
}

/// Whether a body without `error` is an error: it has a message in words, and neither an answer nor a success.
#[inline(never)]
fn is_error_body(body: Value<'_>) -> bool {
    let names = ["message", "detail", "errors", "choices", "data", "result", "code", "success"];
    let [message, detail, errors, choices, data, result, code, success] = members_of(body, names);
    let has_words = [message, detail].into_iter().flatten().any(|value| string_of(value).is_some());
    let is_code_of_success = code.and_then(text_of).is_some_and(|code| code == "0" || code == "200");
    (has_words || nested_words(errors, detail).is_some())
        && choices.is_none()
        && data.is_none()
        && result.is_none()
        && !is_code_of_success
        && success.and_then(|value| value.as_bool()) != Some(true)
}

/// Returns `usage`, if it is an object and not empty, or else `x_groq.usage`, or the usage of the first choice
/// (Moonshot).
pub(crate) fn usage_of<'a>(index: &Index, payload: &'a [u8]) -> Option<Value<'a>> {
    let has_members = |value: &Value<'a>| value.kind() == ValueKind::Object && !is_empty_object(*value);
    let own = index.top(payload, top::USAGE).filter(has_members);
    let of_groq = || member_of(index.top(payload, top::X_GROQ)?, "usage").filter(has_members);
    let of_choice = || {
        let choice = index.first.spans.get(choice::ITSELF).filter(|_| index.facts.rare)?;
        member_of(index.value(payload, choice), "usage").filter(has_members)
    };
    own.or_else(of_groq).or_else(of_choice)
}

/// Returns the member that contains the error of a payload: `error`, `x_groq.error` or a `base_resp` that reports a
/// failure (MiniMax). `base_resp` counts only if `choices` is null or an empty list, and in a whole body without
/// `choices`.
fn member_error<'a>(index: &Index, payload: &'a [u8], is_body: bool) -> Option<Value<'a>> {
    let own = index.top(payload, top::ERROR).filter(|value| is_error(*value));
    let of_groq = || member_of(index.top(payload, top::X_GROQ)?, "error").filter(|value| is_error(*value));
    let of_base = || {
        let choices = index.top(payload, top::CHOICES);
        if choices.map_or(!is_body, |choices| choices.element_at(&mut 0).is_some()) {
            return None;
        }
        let base = member_of(Value::of_payload(payload), "base_resp")?;
        let code = member_of(base, "status_code").and_then(whole_number)?;
        (code != 0).then_some(base)
    };
    own.or_else(of_groq).or_else(of_base)
}

/// Returns the error that an event is, or that it has at its top level: raw JSON, or plain text (`Err`).
pub(crate) fn error_of<'a>(index: &Index, payload: &'a [u8]) -> Option<Result<Value<'a>, &'a [u8]>> {
    if index.facts.text {
        let text = crate::json::parse_lazy(payload).ok().filter(|value| value.kind() == ValueKind::String);
        return Some(text.ok_or(payload));
    }
    if index.facts.error_is_whole {
        // The pass has limited the depth of the payload.
        return Some(Ok(Value::of_payload(payload)));
    }
    if !index.facts.error {
        return None;
    }
    // The index does not store the hint. With that of a whole body, the search finds the member under either hint.
    member_error(index, payload, true).map(Ok)
}
