//! A naive reader of chat completions: it takes the whole buffer, splits lines with `str`, reads values with `serde_json`, and
//! appends to strings. It implements only the meanings.

use super::halves::{self, HALVES};
use deltawire::message::{self, Completion};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Call {
    /// As sent, or as it was made up.
    pub index: u64,
    pub id: String,
    pub kind: String,
    pub name: String,
    pub arguments: String,
    /// State of the naive reader until the stream ends.
    place: Place,
}

/// The position of a call among the others.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Place {
    /// Whether it came without an index.
    is_made_up: bool,
    /// Its latest position in the array.
    position: usize,
    /// An index that no call had, under which a fragment without ID, name and type continued it.
    other_index: Option<u64>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Choice {
    pub role: String,
    pub content: String,
    pub reasoning: String,
    pub refusal: String,
    pub function: Call,
    pub calls: Vec<Call>,
    /// State of the naive reader until the stream ends: the call of the latest fragment.
    open: Option<usize>,
    /// An element of `tool_calls` had nothing but members that the reader does not know. They may belong to a call that opens later.
    odd: bool,
    pub tokens: Vec<Value>,
    pub finish: String,
    pub error: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// The first text of each of [`HEAD`] that is not empty.
    pub head: BTreeMap<&'static str, String>,
    pub created: Option<u64>,
    pub choices: BTreeMap<u32, Choice>,
    pub usage: Option<Value>,
    pub errors: Vec<String>,
    pub done: bool,
}

/// Members of the top level that describe the response.
pub const HEAD: [&str; 6] = ["id", "object", "model", "system_fingerprint", "service_tier", "provider"];

impl Answer {
    /// What of the answer an assembler's message contains: of the errors the first, not the end of the stream, and the calls by index,
    /// unless two have the same.
    pub fn into_message(mut self) -> Self {
        self.errors.truncate(1);
        self.done = false;
        self.choices.values_mut().for_each(|choice| choice.role = without_default(&choice.role));
        self.choices.retain(|_, choice| *choice != Choice::default());
        for choice in self.choices.values_mut() {
            for call in &mut choice.calls {
                call.arguments = without_empty_object(core::mem::take(&mut call.arguments));
            }
            let indexes: BTreeSet<u64> = choice.calls.iter().map(|call| call.index).collect();
            if indexes.len() == choice.calls.len() {
                choice.calls.sort_by_key(|call| call.index);
            }
        }
        self
    }

    /// The answer that is in such a message.
    pub fn of_message(completion: &Completion) -> Self {
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        let error = |error: &message::Failure| match error {
            message::Failure::Json(raw) => message_of(&whole(raw.as_bytes())),
            message::Failure::Text(text) => text.clone(),
        };
        let of_choice = |choice: &message::Choice| {
            let call = |call: &message::ToolCall| Call {
                index: u64::from(call.index),
                id: text(&call.id),
                kind: text(&call.kind),
                name: text(&call.name),
                arguments: without_empty_object(text(&call.arguments)),
                place: Place::default(),
            };
            let function = choice.function_call.as_ref();
            let tokens = choice.logprobs.as_ref().and_then(|logprobs| logprobs.content.as_ref());
            Choice {
                role: without_default(&text(&choice.role)),
                content: text(&choice.content),
                reasoning: text(&choice.reasoning),
                refusal: text(&choice.refusal),
                function: Call {
                    name: function.map(|call| text(&call.name)).unwrap_or_default(),
                    arguments: function.map(|call| text(&call.arguments)).unwrap_or_default(),
                    ..Call::default()
                },
                calls: choice.tool_calls.iter().map(call).collect(),
                open: None,
                odd: false,
                tokens: tokens
                    .into_iter()
                    .flat_map(|list| list.value().elements().map(|token| whole(token.unwrap().raw())))
                    .collect(),
                finish: text(&choice.finish_reason),
                error: choice.error.as_ref().map(error),
            }
        };
        let Completion { id, object, model, system_fingerprint, service_tier, provider, .. } = completion;
        let head = HEAD.into_iter().zip([id, object, model, system_fingerprint, service_tier, provider]);
        let choices = completion.choices.iter().map(|choice| (choice.index, of_choice(choice)));
        Answer {
            head: head.filter_map(|(name, text)| Some((name, text.clone()?))).collect(),
            created: completion.created,
            choices: choices.filter(|(_, choice)| *choice != Choice::default()).collect(),
            usage: completion.usage.as_ref().map(|raw| whole(raw.as_bytes())),
            errors: completion.error.iter().map(error).collect(),
            done: false,
        }
    }
}

/// Arguments as a message has them, where `{}` may stand for an empty text.
fn without_empty_object(arguments: String) -> String {
    if arguments == "{}" {
        String::new()
    } else {
        arguments
    }
}

/// The usage of a stream after `next`: one that counts neither prompt, completion nor total adds its members to the last one.
pub fn usage_after(last: Option<Value>, next: Value) -> Value {
    let counts = |name: &str| next[name].as_u64().is_some();
    match (last, &next) {
        (Some(Value::Object(mut all)), Value::Object(added))
            if !["prompt_tokens", "completion_tokens", "total_tokens"].into_iter().any(counts) =>
        {
            all.extend(
                added.iter().filter(|(_, value)| !value.is_null()).map(|(name, value)| (name.clone(), value.clone())),
            );
            Value::Object(all)
        }
        _ => next,
    }
}

/// A role as a message has it, where `assistant` may not have been sent.
fn without_default(role: &str) -> String {
    role.replace("assistant", "")
}

/// Reads JSON that is complete in itself: joins the halves in its texts.
pub fn whole(json: &[u8]) -> Value {
    let json = halves::hide(&String::from_utf8_lossy(json)).expect("no character of plane 15");
    let mut value = serde_json::from_str(&json).expect("JSON");
    join_all(&mut value);
    value
}

fn join_all(value: &mut Value) {
    match value {
        Value::String(text) => *text = halves::join(text),
        Value::Array(items) => items.iter_mut().for_each(join_all),
        Value::Object(members) => {
            *members = core::mem::take(members)
                .into_iter()
                .map(|(name, mut value)| {
                    join_all(&mut value);
                    (halves::join(&name), value)
                })
                .collect();
        }
        _ => {}
    }
}

#[derive(Default)]
pub struct Naive {
    answer: Answer,
    deltas: BTreeMap<u32, bool>,
    /// What messages so far reported, without a pending surrogate.
    messages: BTreeMap<u32, Choice>,
    /// Whether a message did not begin with the one before.
    is_replaced: bool,
}

impl Naive {
    /// Reads a whole stream, or a body.
    pub fn read(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes).into_owned();
        let text = text.strip_prefix('\u{FEFF}').unwrap_or(&text);
        let mut naive = Naive::default();
        if text.trim_start().starts_with('{') {
            let _ = naive.event("", text);
            return naive;
        }
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        let (mut name, mut data): (&str, Option<String>) = ("", None);
        // From an `event` line behind a value that is whole.
        let mut next_name: Option<&str> = None;
        for line in text.split('\n') {
            if line.is_empty() {
                if let Some(data) = data.take() {
                    let _ = naive.event(next_name.unwrap_or(name), &data);
                }
                (name, next_name) = ("", None);
                continue;
            }
            // For servers that end an event with a single line end.
            let is_whole = |data: &String| {
                halves::hide(data)
                    .and_then(|data| serde_json::from_str(&data).ok())
                    .is_some_and(|v: Value| v.is_object())
            };
            let is_behind = data.as_ref().is_some_and(is_whole);
            let (field, value) = line.split_once(':').unwrap_or((line, ""));
            let value = value.strip_prefix(' ').unwrap_or(value);
            match field {
                "data" => {
                    if (value.starts_with('{') || value == "[DONE]") && is_behind {
                        let _ = naive.event(name, &data.take().unwrap());
                        name = next_name.take().unwrap_or("");
                        if value == "[DONE]" {
                            let _ = naive.event("", value);
                            name = "";
                            continue;
                        }
                    }
                    let data = data.get_or_insert_with(String::new);
                    if !data.is_empty() {
                        data.push('\n');
                    }
                    data.push_str(value);
                }
                "event" if is_behind => next_name = Some(value),
                "event" => name = value,
                _ => {}
            }
        }
        if let Some(data) = data {
            let _ = naive.event(next_name.unwrap_or(name), &data);
        }
        naive
    }

    /// Reads an event with this name. Returns `None` if it is not JSON, or says what the reader does not understand.
    pub fn event(&mut self, name: &str, data: &str) -> Option<()> {
        if data.trim() == "[DONE]" {
            self.answer.done = true;
            return Some(());
        }
        // Bytes after the first value are malformed.
        let mut value: Value = serde_json::Deserializer::from_str(&halves::hide(data)?).into_iter().next()?.ok()?;
        numbers_as_texts(&mut value, data);
        let Some(object) = value.as_object() else { return Some(()) };
        // At the start of a stream, or with a name, a type or an object, an event is a chunk only if it has what only chunks have.
        let kind = filled(&value["object"]).unwrap_or_default();
        let is_of_chat = ["chat.completion", "text_completion"].into_iter().any(|own| kind.starts_with(own));
        let is_chunk = object.contains_key("choices") || is_of_chat;
        let has_kind = !matches!(name, "" | "message") || filled(&value["type"]).is_some() || !kind.is_empty();
        let is_error = name == "error" || value["type"] == "error" || !value["error"].is_null();
        if !is_chunk && !is_error && (has_kind || self.answer.choices.is_empty()) {
            return None;
        }
        for key in HEAD {
            let word = Some(&value[key]).filter(|value| value.is_number() || value.is_boolean()).map(Value::to_string);
            if let Some(text) = filled(&value[key]).map(halves::join).or(word) {
                self.answer.head.entry(key).or_insert(text);
            }
        }
        self.answer.created = self.answer.created.or(number(&value["created"]).filter(|created| *created > 0));
        for choice in value["choices"].as_array().into_iter().flatten() {
            self.choice(choice);
        }
        let usage = [&value["usage"], &value["x_groq"]["usage"], &value["choices"][0]["usage"]];
        let usage = usage.into_iter().find(|usage| usage.as_object().is_some_and(|usage| !usage.is_empty()));
        if let Some(usage) = usage {
            let mut usage = usage.clone();
            join_all(&mut usage);
            self.answer.usage = Some(usage_after(self.answer.usage.take(), usage));
        }
        let base = &value["base_resp"];
        let has_choice = object.get("choices").is_some_and(|choices| choices.get(0).is_some());
        let is_failure = !has_choice && !base["status_code"].is_null();
        let error = match &value["error"] {
            error if !error.is_null() && error != "" => error,
            _ if !value["x_groq"]["error"].is_null() => &value["x_groq"]["error"],
            _ if is_failure && base["status_code"] != 0 => base,
            error => error,
        };
        let whole = name == "error" || value["type"] == "error" || value["object"] == "error";
        let says_error = is_bare_error(object) || object.contains_key("detail") && !object.contains_key("choices");
        if !error.is_null() && error != "" {
            self.answer.errors.push(message_of(error));
        } else if whole || says_error {
            self.answer.errors.push(message_of(&value));
        }
        self.answer.choices.values().all(|choice| !choice.odd).then_some(())
    }

    fn choice(&mut self, value: &Value) {
        let index = value["index"].as_u64().unwrap_or(0) as u32;
        let choice = self.answer.choices.entry(index).or_default();
        let seen = self.deltas.entry(index).or_default();
        if value["delta"].is_object() {
            Naive::delta(choice, &value["delta"]);
            let mut alone = Choice::default();
            Naive::delta(&mut alone, &value["delta"]);
            alone.role = String::new();
            *seen |= alone != Choice::default();
        }
        let content = &value["delta"]["content"];
        let has_content = filled(content).is_some() || content.is_array();
        if let (Some(text), false) = (value["text"].as_str(), has_content) {
            choice.content += text;
            *seen |= !text.is_empty();
        }
        if value["message"].is_object() && !*seen {
            let mut message = Naive::message(&value["message"]);
            let before = self.messages.entry(index).or_default();
            let reported = choice.clone();
            if !Naive::go_on(choice, before, &mut message) {
                *choice = reported;
                self.is_replaced = true;
            } else {
                *before = message;
                before.texts().for_each(|text| *text = halves::join(without_half(text)));
            }
        }
        choice.tokens.extend(value["logprobs"]["content"].as_array().into_iter().flatten().cloned());
        choice.tokens.iter_mut().for_each(join_all);
        if let Some(reason) = filled(&value["finish_reason"]) {
            // A half that is pending at the end of a text stays alone, even if the text continues.
            choice.texts().for_each(|text| *text = halves::join(text));
            choice.finish = halves::join(reason);
        }
        if !value["error"].is_null() {
            choice.error = Some(message_of(&value["error"]));
        }
    }

    /// Reads a message alone: each entry is a call.
    fn message(value: &Value) -> Choice {
        let mut texts = value.clone();
        texts["tool_calls"] = Value::Null;
        let mut message = Choice::default();
        Naive::delta(&mut message, &texts);
        for (position, entry) in calls_of(value).enumerate() {
            let mut one = Choice::default();
            Naive::delta(&mut one, &serde_json::json!({ "tool_calls": [entry] }));
            one.calls.iter_mut().for_each(|call| call.place.position = position);
            message.calls.append(&mut one.calls);
        }
        message
    }

    /// Adds to a choice what is new in a message since the one before. Returns `false` if the message does not continue
    /// it.
    fn go_on(choice: &mut Choice, before: &Choice, message: &mut Choice) -> bool {
        let mut before = before.clone();
        if choice.role.is_empty() {
            choice.role = message.role.clone();
        }
        // A call is known by its position. Known ones first, in their order.
        let known = |call: &Call| before.calls.iter().position(|known| known.place.position == call.place.position);
        message.calls.sort_by_key(|call| known(call).unwrap_or(usize::MAX));
        if before.calls.iter().zip(&message.calls).filter(|(_, new)| known(new).is_some()).count() < before.calls.len()
        {
            return false;
        }
        for (known, new) in before.calls.iter().zip(&message.calls) {
            let other_id = !known.id.is_empty() && !new.id.is_empty() && known.id != new.id;
            if other_id || !new.name.is_empty() && !new.name.starts_with(&known.name) {
                return false;
            }
        }
        if !before.function.name.is_empty() && before.function.name != message.function.name {
            return false;
        }
        choice.function.name = message.function.name.clone();
        for call in message.calls.iter().skip(before.calls.len()) {
            let position = call.place.position;
            let index = if call.place.is_made_up { choice.free_index(position) } else { call.index };
            let place = Place { is_made_up: false, position, other_index: None };
            choice.calls.push(Call { index, arguments: String::new(), place, ..call.clone() });
            before.calls.push(Call::default());
        }
        choice.open = message.calls.len().checked_sub(1).or(choice.open);
        for (to, new) in choice.calls.iter_mut().zip(&message.calls) {
            if to.id.is_empty() {
                to.id = new.id.clone();
            }
            for (to, new) in [(&mut to.name, &new.name), (&mut to.kind, &new.kind)] {
                if to.is_empty() || new.starts_with(&to[..]) {
                    *to = new.clone();
                }
            }
        }
        let texts = choice.texts().zip(before.texts()).zip(message.texts());
        for ((to, before), new) in texts {
            let all = halves::join(without_half(new));
            let Some(rest) = all.strip_prefix(&before[..]) else { return false };
            *to = without_half(to).to_string() + rest + &new[without_half(new).len()..];
        }
        true
    }

    fn delta(choice: &mut Choice, delta: &Value) {
        if choice.role.is_empty() {
            choice.role += &halves::join(filled(&delta["role"]).unwrap_or(""));
        }
        choice.content += delta["content"].as_str().unwrap_or("");
        for part in delta["content"].as_array().into_iter().flatten() {
            match part["type"].as_str() {
                Some("text" | "output_text") => choice.content += part["text"].as_str().unwrap_or(""),
                Some("thinking" | "reasoning") => {
                    let thought = ["thinking", "text", "summary"].map(|name| &part[name]);
                    let has_text = |value: &&Value| value.is_array() || filled(value).is_some();
                    let Some(thought) = thought.into_iter().find(has_text) else { continue };
                    choice.reasoning += thought.as_str().unwrap_or("");
                    for part in thought.as_array().into_iter().flatten() {
                        choice.reasoning += part.as_str().or(part["text"].as_str()).unwrap_or("");
                    }
                }
                None => choice.content += part.as_str().unwrap_or(""),
                _ => {}
            }
        }
        choice.refusal += delta["refusal"].as_str().unwrap_or("");
        let details = &delta["reasoning_details"];
        let one = Some(details).filter(|details| details.is_object());
        let details: String = details
            .as_array()
            .into_iter()
            .flatten()
            .chain(one)
            .filter_map(|item| filled(&item["text"]).or(filled(&item["summary"])))
            .collect();
        let reasoning = ["reasoning_content", "reasoning"].into_iter().find_map(|key| filled(&delta[key]));
        let rest = || ["thinking", "thought", "reasoning_text"].into_iter().find_map(|key| filled(&delta[key]));
        let details = (!details.is_empty()).then_some(&details[..]);
        choice.reasoning += reasoning.or(details).or_else(rest).unwrap_or("");
        Naive::fragment(&mut choice.function, &delta["function_call"], "arguments");
        for (position, value) in calls_of(delta).enumerate() {
            Naive::call(choice, position, value);
        }
    }

    /// Adds an element of `tool_calls`, by rows C13 to C19 of the table.
    fn call(choice: &mut Choice, position: usize, value: &Value) {
        // Only texts go on in the next chunk.
        let value = &mut value.clone();
        for path in ["/id", "/type", "/function/name", "/custom/name"] {
            value.pointer_mut(path).into_iter().for_each(join_all);
        }
        let value = &*value;
        let (id, index) = (filled(&value["id"]), value["index"].as_u64());
        let is_custom = value["custom"].is_object();
        let (function, key) = if is_custom { (&value["custom"], "input") } else { (&value["function"], "arguments") };
        let (name, arguments) = (filled(&function["name"]), filled(&function[key]).unwrap_or(""));
        if id.is_none() && name.is_none() && arguments.is_empty() {
            let known = |value: &Value, names: &[&str]| {
                value.as_object().is_none_or(|members| members.keys().all(|name| names.contains(&name.as_str())))
            };
            choice.odd |=
                !known(value, &["index", "id", "type", "function", "custom"]) || !known(function, &["name", key]);
            return;
        }
        let calls = &choice.calls;
        let open = choice.open;
        let own = |at: usize| id.is_none_or(|id| calls[at].id == id);
        let in_place = |at: usize| calls[at].place.is_made_up && calls[at].place.position == position;
        let latest = |wanted: &dyn Fn(usize) -> bool| (0..calls.len()).rev().find(|at| wanted(*at));
        let spoken_of = if let Some(index) = index {
            let under = |at: usize| calls[at].index == index;
            let is_bare = id.is_none() && name.is_none() && filled(&value["type"]).is_none();
            let is_open = |at: &usize| {
                let arguments = trimmed(&calls[*at].arguments);
                arguments.is_empty() || arguments.starts_with(['{', '[', '"']) && value_of(arguments).is_none()
            };
            // Calls are in the order in which they opened.
            let guessed = || calls.len().checked_sub(1).filter(is_open);
            open.filter(|at| under(*at) && own(*at))
                .or_else(|| latest(&|at| under(at) && own(at)))
                .or_else(|| latest(&under))
                .or_else(|| {
                    latest(&|at| at + 1 == calls.len() && calls[at].place.other_index == Some(index))
                        .filter(|_| is_bare)
                })
                .or_else(|| guessed().filter(|_| is_bare))
        } else if let Some(at) = id.and_then(|_| latest(&own)) {
            Some(at)
        } else {
            let is_next = position > 0 && (id.is_some() || name.is_some());
            open.filter(|at| in_place(*at)).or_else(|| latest(&in_place)).or(open.filter(|_| !is_next))
        };
        let opens = spoken_of.is_none_or(|at| {
            let call = &calls[at];
            let whole = value_of(&call.arguments);
            // Numbers and words: where they end is not known.
            let is_word = trimmed(&call.arguments).starts_with(|first| !"{[\"".contains(first));
            match (id, name, whole) {
                (Some(id), ..) if id == call.id => false,
                // An ID that comes late, and the name with it.
                (Some(_), Some(name), None) if call.id.is_empty() && !is_word => {
                    !call.name.is_empty() && name != call.name
                }
                (Some(_), name, whole) => name.is_some() || whole.is_some(),
                (None, Some(name), None) if !call.name.is_empty() && is_word => name != call.name,
                (None, Some(name), Some(whole)) if !call.name.is_empty() => {
                    let new = trimmed(arguments);
                    // A first `{}` before the arguments.
                    let is_first = whole == "{}" && new.starts_with('{');
                    name != call.name || call.id.is_empty() && !new.is_empty() && new != whole && !is_first
                }
                _ => false,
            }
        });
        let free = choice.free_index(position);
        let at = spoken_of.filter(|_| !opens).unwrap_or(calls.len());
        if at == calls.len() {
            let place = Place { is_made_up: index.is_none(), position, other_index: None };
            choice.calls.push(Call { index: index.unwrap_or(free), place, ..Call::default() });
        }
        choice.open = Some(at);
        let call = &mut choice.calls[at];
        if index.is_some_and(|index| index != call.index) {
            call.place.other_index = index;
        }
        call.place.position = position;
        if call.id.is_empty() {
            call.id += id.unwrap_or("");
        }
        if call.kind.is_empty() {
            call.kind += filled(&value["type"]).unwrap_or("");
        }
        Naive::fragment(call, function, key);
    }

    fn fragment(call: &mut Call, function: &Value, arguments: &str) {
        let name = filled(&function["name"]).unwrap_or("");
        if name.starts_with(&call.name[..]) {
            call.name = name.to_string();
        } else {
            call.name += name;
        }
        call.arguments += function[arguments].as_str().unwrap_or("");
    }

    /// Whether messages so far came. An assembler removes the log probabilities that each of them repeats; the reader does not.
    pub fn has_messages(&self) -> bool {
        !self.messages.is_empty()
    }

    /// Ends the stream. Also returns whether a message was replaced.
    pub fn close(mut self) -> (Answer, bool) {
        self.answer.choices.values_mut().for_each(Naive::close_choice);
        self.answer.choices.retain(|_, choice| *choice != Choice::default());
        (self.answer, self.is_replaced)
    }

    fn close_choice(choice: &mut Choice) {
        choice.open = None;
        for call in &mut choice.calls {
            call.place = Place::default();
            call.arguments = halves::join(&call.arguments);
        }
        let texts = [&mut choice.content, &mut choice.reasoning, &mut choice.refusal, &mut choice.function.arguments];
        for text in texts {
            *text = halves::join(text);
        }
    }
}

/// Returns the object, array or string that a text begins with, found by brackets and quotes only.
fn value_of(text: &str) -> Option<&str> {
    let text = text.trim_start_matches([' ', '\t', '\n', '\r']);
    let (mut depth, mut in_string, mut escaped) = (0, false, false);
    for (at, char) in text.char_indices() {
        match char {
            _ if at == 0 && !"{[\"".contains(char) => return None,
            _ if escaped => escaped = false,
            '\\' if in_string => escaped = true,
            '"' => in_string = !in_string,
            '{' | '[' if !in_string => depth += 1,
            '}' | ']' if !in_string => depth -= 1,
            _ => {}
        }
        if depth == 0 && !in_string {
            return Some(&text[..=at]);
        }
    }
    None
}

fn trimmed(text: &str) -> &str {
    text.trim_matches(|char: char| char.is_ascii_whitespace())
}

impl Choice {
    /// Returns the index of a call that comes without one.
    fn free_index(&self, position: usize) -> u64 {
        let indexes = || self.calls.iter().map(|call| call.index);
        match indexes().any(|index| index == position as u64) {
            true => indexes().max().map_or(0, |index| index + 1),
            false => position as u64,
        }
    }

    /// Returns its growing texts.
    fn texts(&mut self) -> impl Iterator<Item = &mut String> {
        let Choice { content, reasoning, refusal, function, calls, .. } = self;
        [content, reasoning, refusal, &mut function.arguments]
            .into_iter()
            .chain(calls.iter_mut().map(|call| &mut call.arguments))
    }
}

/// Removes a high surrogate at the end.
fn without_half(text: &str) -> &str {
    let is_first = |char: char| (HALVES..HALVES + 0x400).contains(&u32::from(char));
    text.strip_suffix(is_first).unwrap_or(text)
}

/// A whole number, which may be in a string.
/// Makes contents that are numbers texts, as they are written in `data`: `serde_json` writes an exponent with its sign.
fn numbers_as_texts(value: &mut Value, data: &str) {
    let choices = value.get_mut("choices").and_then(Value::as_array_mut);
    for choice in choices.into_iter().flatten() {
        for name in ["delta", "message"] {
            let content = choice.get_mut(name).and_then(|of| of.get_mut("content"));
            if let Some(content) = content.filter(|content| content.is_number()) {
                let text = content.to_string();
                let spellings =
                    [text.clone(), text.replace("e+", "e"), text.replace("e+", "E"), text.replace('e', "E")];
                *content = spellings.into_iter().find(|text| data.contains(text)).unwrap_or(text).into();
            }
        }
    }
}

fn number(value: &Value) -> Option<u64> {
    match value {
        Value::String(text) => serde_json::from_str(text).ok().filter(Value::is_number).as_ref().and_then(number),
        value => {
            let is_whole = |number: &f64| number.fract() == 0.0 && (0.0..2_f64.powi(64)).contains(number);
            value.as_u64().or(value.as_f64().filter(is_whole).map(|number| number as u64))
        }
    }
}

/// The tool calls of a delta or a message: an array of them, or one.
fn calls_of(value: &Value) -> impl Iterator<Item = &Value> {
    let calls = &value["tool_calls"];
    calls.as_array().into_iter().flatten().chain(Some(calls).filter(|calls| calls.is_object()))
}

fn filled(value: &Value) -> Option<&str> {
    value.as_str().filter(|text| !text.is_empty())
}

/// Whether an event without choices is an error whose members lie at its top level. A chunk is one only by an
/// `error_message`.
fn is_bare_error(event: &Map<String, Value>) -> bool {
    let says = |name: &str| event.get(name).is_some_and(|value| !value.is_null());
    let words = |name: &str| event.get(name).and_then(filled).is_some();
    let code_of = |name: &str| match event.get(name) {
        Some(Value::String(code)) if code != "None" && code != "null" && !code.is_empty() => Some(code.clone()),
        Some(code @ (Value::Number(_) | Value::Bool(true))) => Some(code.to_string()),
        _ => None,
    };
    let is_success = |word: &str| ["success", "Success", "SUCCESS", "ok", "OK", "none"].contains(&word);
    let own = event.get("error_message").and_then(filled);
    let has_own = own.is_some_and(|own| own != "None" && own != "null" && !is_success(own));
    let object = event.get("object").and_then(filled).unwrap_or("");
    let is_of_chat = ["chat.completion", "text_completion"].into_iter().any(|own| object.starts_with(own));
    let is_chunk = is_of_chat || event.contains_key("choices") || says("usage") && !says("type") && object.is_empty();
    let kind = event.get("type").and_then(filled);
    let no_choice = event.get("choices").is_none_or(|list| list.get(0).is_none());
    if !no_choice || ["candidates", "modelVersion", "done"].into_iter().any(says) {
        false
    } else if is_chunk {
        has_own
    } else if let Some(kind) = kind {
        let types = "invalid_request_error authentication_error permission_error not_found_error rate_limit_error server_error \
            api_error overloaded_error timeout_error billing_error insufficient_quota internal_server_error BadRequestError \
            InternalServerError RateLimitError";
        words("message") && types.split_whitespace().any(|one| one == kind)
    } else {
        let parts =
            ["error", "invalid", "fail", "throttl", "limit", "denied", "exceed", "unauthor", "unavailable", "timeout"];
        let is_failure = |code: &Value| match code {
            Value::String(word) => match serde_json::from_str::<Value>(word).ok().and_then(|code| code.as_u64()) {
                Some(status) => (400..600).contains(&status),
                None => parts.iter().any(|part| word.to_ascii_lowercase().contains(part)),
            },
            code => code.as_u64().is_some_and(|status| (400..600).contains(&status)),
        };
        let of_code = words("message") && !says("data") && event.get("code").is_some_and(is_failure);
        let code =
            code_of("error_code").filter(|code| !code.chars().all(|digit| "-.0".contains(digit)) && !is_success(code));
        let is_number = |code: &String| code.starts_with(|first: char| first == '-' || first.is_ascii_digit());
        has_own || of_code || code.is_some_and(|code| words("message") || is_number(&code))
    }
}

/// The message of an error.
fn message_of(error: &Value) -> String {
    if let Some(text) = error.as_str() {
        return halves::join(text);
    }
    let names = ["message", "detail", "details", "error", "status_msg", "error_msg", "error_message", "text"];
    let text = names.into_iter().find_map(|key| filled(&error[key]));
    halves::join(text.unwrap_or(""))
}
