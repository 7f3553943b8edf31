//! Reads one payload: runs the pass, then decides what depends on several members.

use super::index::{choice, top, Hint, Index, Read};
use super::page::Behind;
use super::pass::walk;
use super::scalar::{is_error, member_of, nested_words, string_of, text_of};
use crate::dialect::{is_empty_object, whole_number};
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
    let has_error = member_error(index, payload).is_some();
    let is_whole = !has_error
        && (hint == Hint::Error
            || is(top::TYPE, "error")
            || object == b"error"
            || match hint {
                Hint::Body => !is_answer && is_error_body(Value::of_payload(payload)),
                _ => {
                    !is_chat && value(top::DETAIL).is_some_and(is_error)
                        || index.choices == 0 && index.facts.rare && is_bare_error(payload, is_chat)
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

/// Whether an event without choices is an error whose members lie at its top level: an `error_message` (DeepInfra, Venice);
/// a `message` beside a `type` of OpenAI's errors (without their frame), or beside a `code` that is an HTTP status or a
/// word for an error (DashScope); an `error_code` that is a number other than 0 (FastChat, Baidu), or a word beside a
/// `message` (Databricks). In an event with another `type`, or with a member of Gemini's or Ollama's, none counts, and in a
/// chunk (`is_chat`) only the first: a proxy may send events of its own between those of the response.
#[inline(never)]
fn is_bare_error(payload: &[u8], is_chat: bool) -> bool {
    let names =
        ["error_message", "message", "error_code", "code", "type", "candidates", "modelVersion", "done", "data"];
    let [own, message, error_code, code, kind, candidates, version, done, data] =
        members_of(Value::of_payload(payload), names);
    let has_words = |words: Option<Value<'_>>| words.and_then(string_of).is_some();
    let has_own = own.is_some_and(|own| is_error(own) && string_of(own).is_some_and(|own| !own.is_one_of(SUCCESS)));
    if candidates.or(version).or(done).is_some() {
        return false;
    }
    match kind.and_then(string_of) {
        _ if is_chat => has_own,
        Some(kind) => has_words(message) && kind.is_one_of(ERROR_TYPES),
        None if has_own || has_words(message) && data.is_none() && code.is_some_and(is_failure) => true,
        None => {
            let code = error_code.filter(|code| is_error(*code)).and_then(text_of);
            code.is_some_and(|code| {
                let is_number = matches!(code.raw().first(), Some(b'-' | b'0'..=b'9'));
                let is_zero = code.raw().iter().all(|byte| matches!(byte, b'-' | b'.' | b'0'));
                !is_zero && !code.is_one_of(SUCCESS) && (is_number || has_words(message))
            })
        }
    }
}

/// The words in the place of an error that report none.
const SUCCESS: &str = "success Success SUCCESS ok OK none";

/// The types of OpenAI's and Anthropic's errors.
const ERROR_TYPES: &str =
    "invalid_request_error authentication_error permission_error not_found_error rate_limit_error \
    server_error api_error overloaded_error timeout_error billing_error insufficient_quota internal_server_error \
    BadRequestError InternalServerError RateLimitError";

/// Whether a `code` is an HTTP status of an error, or a word for an error.
fn is_failure(code: Value<'_>) -> bool {
    /// What such a word contains.
    const PARTS: [&str; 10] =
        ["error", "invalid", "fail", "throttl", "limit", "denied", "exceed", "unauthor", "unavailable", "timeout"];
    if let Some(status) = whole_number(code) {
        return (400..600).contains(&status);
    }
    let has_at = |bytes: &[u8], part: &str| {
        bytes.get(..part.len()).is_some_and(|bytes| bytes.eq_ignore_ascii_case(part.as_bytes()))
    };
    let word = string_of(code).map_or(&b""[..], |word| word.raw());
    (0..word.len()).any(|at| word.get(at..).is_some_and(|rest| PARTS.iter().any(|part| has_at(rest, part))))
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
/// failure (MiniMax). `base_resp` counts only if there are no choices.
fn member_error<'a>(index: &Index, payload: &'a [u8]) -> Option<Value<'a>> {
    let own = index.top(payload, top::ERROR).filter(|value| is_error(*value));
    let of_groq = || member_of(index.top(payload, top::X_GROQ)?, "error").filter(|value| is_error(*value));
    let of_base = || {
        if !index.facts.rare || index.choices > 0 {
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
    member_error(index, payload).map(Ok)
}
