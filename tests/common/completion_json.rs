//! The JSON of a message, made from its `Completion`, to compare with what a log writes.

use deltawire::message::{Audio, Choice, Completion, Failure, Logprobs, Member, RawJson, ToolCall};
use serde_json::{json, Map, Value};

type Object = Map<String, Value>;

/// Returns a message in the shape of a `chat.completion`, with the members of gateways and providers if `extended`.
pub fn of(message: &Completion, extended: bool) -> Value {
    let extended = extended || message.is_native;
    let mut all = Object::new();
    some(&mut all, "id", message.id.as_deref().map(text));
    all.insert("object".into(), "chat.completion".into());
    some(&mut all, "created", message.created.map(Value::from));
    some(&mut all, "model", message.model.as_deref().map(text));
    some(&mut all, "provider", message.provider.as_deref().filter(|_| extended).map(text));
    all.insert("choices".into(), message.choices.iter().map(|choice| of_choice(choice, extended)).collect());
    some(&mut all, "usage", message.usage.as_ref().map(raw));
    some(&mut all, "native_usage", message.native_usage.as_ref().map(raw));
    some(&mut all, "service_tier", message.service_tier.as_deref().map(text));
    some(&mut all, "system_fingerprint", message.system_fingerprint.as_deref().map(text));
    some(&mut all, "error", message.error.as_ref().map(of_failure));
    members(&mut all, &message.members, extended);
    all.into()
}

fn of_choice(choice: &Choice, extended: bool) -> Value {
    let mut all = Object::new();
    all.insert("index".into(), choice.index.into());
    all.insert("message".into(), of_message(choice, extended));
    all.insert("finish_reason".into(), choice.finish_reason.clone().into());
    some(&mut all, "native_finish_reason", choice.native_finish_reason.as_deref().filter(|_| extended).map(text));
    some(&mut all, "logprobs", choice.logprobs.as_ref().map(of_logprobs));
    some(&mut all, "error", choice.error.as_ref().map(of_failure));
    members(&mut all, &choice.members, extended);
    all.into()
}

fn of_message(choice: &Choice, extended: bool) -> Value {
    let mut all = Object::new();
    some(&mut all, "role", choice.role.as_deref().map(text));
    all.insert("content".into(), choice.content.clone().into());
    some(&mut all, "refusal", choice.refusal.as_deref().map(text));
    let reasoning = choice.reasoning_name.as_deref().filter(|_| extended).unwrap_or("reasoning_content");
    some(&mut all, reasoning, choice.reasoning.as_deref().map(text));
    let calls = Some(&choice.tool_calls).filter(|calls| !calls.is_empty());
    some(&mut all, "tool_calls", calls.map(|calls| calls.iter().map(of_call).collect()));
    let function = choice.function_call.as_ref();
    let function = function.map(|call| json!({"name": or_empty(&call.name), "arguments": or_empty(&call.arguments)}));
    some(&mut all, "function_call", function);
    some(&mut all, "audio", choice.audio.as_ref().map(|audio| of_audio(audio, extended)));
    some(&mut all, "annotations", choice.annotations.as_ref().map(raw));
    some(&mut all, "signatures", choice.signatures.as_ref().map(raw));
    some(&mut all, "native_content", choice.native_content.as_ref().filter(|_| extended).map(raw));
    some(&mut all, "reasoning_details", choice.reasoning_details.as_ref().filter(|_| extended).map(raw));
    members(&mut all, &choice.message_members, extended);
    all.into()
}

fn of_call(call: &ToolCall) -> Value {
    let (known, input) = if call.custom { ("custom", "input") } else { ("function", "arguments") };
    let mut called = Object::new();
    called.insert("name".into(), or_empty(&call.name).into());
    called.insert(input.into(), or_empty(&call.arguments).into());
    members(&mut called, &call.function_members, true);
    let mut all = Object::new();
    some(&mut all, "id", call.id.as_deref().map(text));
    all.insert("type".into(), call.kind.as_deref().unwrap_or(known).into());
    all.insert(known.into(), called.into());
    members(&mut all, &call.members, true);
    all.into()
}

fn of_audio(audio: &Audio, extended: bool) -> Value {
    let mut all = Object::new();
    some(&mut all, "id", audio.id.as_deref().map(text));
    let data = audio.data.as_ref().map(raw);
    let joined = |pieces: Value| {
        pieces.as_array().unwrap().iter().map(|piece| piece.as_str().unwrap()).collect::<String>().into()
    };
    some(&mut all, "data", if extended { data } else { data.map(joined) });
    some(&mut all, "transcript", audio.transcript.as_deref().map(text));
    some(&mut all, "expires_at", audio.expires_at.map(Value::from));
    all.into()
}

fn of_logprobs(logprobs: &Logprobs) -> Value {
    let Logprobs { content, refusal, tokens, token_logprobs, top_logprobs, text_offset, .. } = logprobs;
    let mut all = Object::new();
    for (name, list) in [
        ("content", content),
        ("refusal", refusal),
        ("tokens", tokens),
        ("token_logprobs", token_logprobs),
        ("top_logprobs", top_logprobs),
        ("text_offset", text_offset),
    ] {
        some(&mut all, name, list.as_ref().map(raw));
    }
    all.into()
}

fn of_failure(failure: &Failure) -> Value {
    match failure {
        Failure::Json(json) => raw(json),
        Failure::Text(text) => text.clone().into(),
    }
}

fn members(all: &mut Object, members: &[Member], are_kept: bool) {
    for member in members.iter().filter(|_| are_kept) {
        all.insert(member.name.clone(), raw(&member.value));
    }
}

fn some(all: &mut Object, name: &str, value: Option<Value>) {
    if let Some(value) = value {
        all.insert(name.into(), value);
    }
}

/// Returns raw JSON as `Serialize` writes it: a number beyond a double is null.
fn raw(json: &RawJson) -> Value {
    serde_json::to_value(json).unwrap()
}

fn text(text: &str) -> Value {
    text.into()
}

fn or_empty(text: &Option<String>) -> &str {
    text.as_deref().unwrap_or_default()
}
