//! A naive reader beside the parser: it takes the whole buffer, splits lines with `str`, reads values with
//! `serde_json`, and appends to strings.
//!
//! It implements only the meanings, so it checks the parser on samples, on recorded streams, and on random streams:
//! orders of keys, whitespace, escapes, line ends, odd types, interleaved choices and calls, any cuts.
#![cfg(feature = "alloc")]

use crate::cases::cases;
use crate::common::corpus::{recorded, samples, Stream};
use crate::common::event_log::Detail;
use crate::common::halves::{self, HALVES};
use crate::common::log::{escaped, quoted};
use crate::common::read::{pull, push, How, Store};
use deltawire::chat::{CallUpdate, NamePiece};
use deltawire::json::Text;
use deltawire::stream::{End, Protocol};
use deltawire::{Config, Flow, Growing, Handler, Parser, Quirk, QuirkSet, Update};
use proptest::prelude::*;
use serde_json::Value;
use std::collections::BTreeMap;

// ---------------------------------------------------------------------------------------------------------------------
// The result of a stream

#[derive(Clone, Debug, Default, PartialEq)]
struct Call {
    id: String,
    kind: String,
    name: String,
    arguments: String,
    /// State of the naive reader until the stream ends.
    place: Place,
}

/// The position of a call among the others.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Place {
    index: u64,
    /// Whether it came without an index.
    is_made_up: bool,
    /// Its latest position in the array.
    position: usize,
}

#[derive(Clone, Debug, Default, PartialEq)]
struct Choice {
    role: String,
    content: String,
    reasoning: String,
    refusal: String,
    function: Call,
    calls: Vec<Call>,
    /// State of the naive reader until the stream ends: the call of the latest fragment.
    open: Option<usize>,
    tokens: Vec<Value>,
    finish: String,
    error: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq)]
struct Answer {
    choices: BTreeMap<u32, Choice>,
    usage: Option<Value>,
    errors: Vec<String>,
    done: bool,
}

// ---------------------------------------------------------------------------------------------------------------------
// The parser's result

#[derive(Default)]
struct Collector {
    answer: Answer,
}

impl Collector {
    fn choice(&mut self, choice: u32) -> &mut Choice {
        self.answer.choices.entry(choice).or_default()
    }
}

fn text_of(text: Option<Text<'_>>) -> String {
    text.map(|text| text.to_cow().into_owned()).unwrap_or_default()
}

impl Handler for Collector {
    fn done(&mut self) -> Flow {
        self.answer.done = true;
        Flow::Continue(())
    }

    fn update(&mut self, at: u32, update: Update<'_>) -> Flow {
        let name = |name: &mut String, text: Text<'_>, piece: NamePiece| {
            if piece == NamePiece::Replaces {
                name.clear();
            }
            name.push_str(&text.to_cow());
        };
        match update {
            Update::Role(text) => self.choice(at).role += &text.to_cow(),
            Update::Content(text) => self.choice(at).content += &text.to_cow(),
            Update::Reasoning(text) => self.choice(at).reasoning += &text.to_cow(),
            Update::Refusal(text) => self.choice(at).refusal += &text.to_cow(),
            Update::Call(CallUpdate { call, opens, id, kind, .. }) => {
                let calls = &mut self.choice(at).calls;
                if opens {
                    assert_eq!(calls.len(), call as usize);
                    calls.push(Call::default());
                }
                calls[call as usize].id += &text_of(id);
                calls[call as usize].kind += &text_of(kind);
            }
            Update::CallName { call, text, piece } => {
                name(&mut self.choice(at).calls[call as usize].name, text, piece);
            }
            Update::CallArguments { call, text } => {
                self.choice(at).calls[call as usize].arguments += &text.to_cow();
            }
            Update::FunctionName { text, piece } => name(&mut self.choice(at).function.name, text, piece),
            Update::FunctionArguments(text) => self.choice(at).function.arguments += &text.to_cow(),
            Update::Logprobs(logprobs) => {
                let tokens = logprobs.content().map(|token| serde_json::from_slice(token.value().raw()).unwrap());
                let tokens: Vec<Value> = tokens.collect();
                self.choice(at).tokens.extend(tokens);
            }
            Update::Finish(reason) => self.choice(at).finish = reason.text().to_cow().into_owned(),
            Update::ChoiceError(error) => self.choice(at).error = Some(text_of(error.message())),
            Update::Usage(usage) => {
                self.answer.usage = Some(serde_json::from_slice(usage.value().raw()).unwrap());
            }
            Update::Error(error) => self.answer.errors.push(text_of(error.message())),
            _ => {}
        }
        Flow::Continue(())
    }
}

fn parsed(bytes: &[u8], cuts: &[usize]) -> (Answer, QuirkSet) {
    let (answer, quirks, _) = parsed_to_end(bytes, cuts);
    (answer, quirks)
}

fn parsed_to_end(bytes: &[u8], cuts: &[usize]) -> (Answer, QuirkSet, End) {
    let mut parser = Parser::with_config(Growing::new(), Config::default());
    let mut collector = Collector::default();
    for piece in crate::common::input::pieces(bytes, cuts) {
        assert_eq!(parser.feed(piece, &mut collector).stop, None);
    }
    assert_eq!(parser.finish_into(&mut collector), Ok(()));
    let mut answer = collector.answer;
    // The parser makes an entry for a role alone, the naive reader does not.
    answer.choices.retain(|_, choice| *choice != Choice::default());
    (answer, parser.quirks(), parser.end())
}

// ---------------------------------------------------------------------------------------------------------------------
// The naive reader's result

/// Whether the value is complete in itself.
fn join_all(value: &mut Value) {
    match value {
        Value::String(text) => *text = halves::join(text),
        Value::Array(items) => items.iter_mut().for_each(join_all),
        Value::Object(members) => members.values_mut().for_each(join_all),
        _ => {}
    }
}

struct Naive {
    answer: Answer,
    deltas: BTreeMap<u32, bool>,
    /// What messages so far reported, without a pending surrogate.
    messages: BTreeMap<u32, Choice>,
    /// Whether a message did not begin with the one before.
    is_replaced: bool,
}

impl Naive {
    fn read(bytes: &[u8]) -> Answer {
        Naive::read_all(bytes).0
    }

    /// Also returns whether a message was replaced.
    fn read_all(bytes: &[u8]) -> (Answer, bool) {
        let text = String::from_utf8_lossy(bytes).into_owned();
        let text = text.strip_prefix('\u{FEFF}').unwrap_or(&text);
        let (answer, deltas, messages) = (Answer::default(), BTreeMap::new(), BTreeMap::new());
        let mut naive = Naive { answer, deltas, messages, is_replaced: false };
        if text.trim_start().starts_with('{') {
            naive.event("", text);
            return naive.close();
        }
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        let (mut name, mut data): (&str, Option<String>) = ("", None);
        // From an `event` line behind a value that is whole.
        let mut next_name: Option<&str> = None;
        for line in text.split('\n') {
            if line.is_empty() {
                if let Some(data) = data.take() {
                    naive.event(next_name.unwrap_or(name), &data);
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
                        naive.event(name, &data.take().unwrap());
                        name = next_name.take().unwrap_or("");
                        if value == "[DONE]" {
                            naive.event("", value);
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
            naive.event(next_name.unwrap_or(name), &data);
        }
        naive.close()
    }

    fn event(&mut self, name: &str, data: &str) {
        if data.trim() == "[DONE]" {
            self.answer.done = true;
            return;
        }
        // Bytes after the first value are malformed.
        let Some(hidden) = halves::hide(data) else { return };
        let Some(Ok(value)) = serde_json::Deserializer::from_str(&hidden).into_iter::<Value>().next() else { return };
        let Some(object) = value.as_object() else { return };
        for choice in value["choices"].as_array().into_iter().flatten() {
            self.choice(choice);
        }
        let usage = [&value["usage"], &value["x_groq"]["usage"]];
        let usage = usage.into_iter().find(|usage| usage.as_object().is_some_and(|usage| !usage.is_empty()));
        if let Some(usage) = usage {
            self.answer.usage = Some(usage.clone());
        }
        let error = &value["error"];
        let whole = name == "error" || value["type"] == "error" || value["object"] == "error";
        if !error.is_null() && error != "" {
            self.answer.errors.push(message(error));
        } else if whole || (object.contains_key("detail") && !object.contains_key("choices")) {
            self.answer.errors.push(message(&value));
        }
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
        if let (Some(text), false) = (value["text"].as_str(), value["delta"]["content"].is_string()) {
            choice.content += text;
            *seen |= !text.is_empty();
        }
        if value["message"].is_object() && !*seen {
            let message = Naive::message(&value["message"]);
            let before = self.messages.entry(index).or_default();
            let reported = choice.clone();
            if !Naive::go_on(choice, before, &message) {
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
            choice.finish = reason.to_string();
        }
        if !value["error"].is_null() {
            choice.error = Some(message(&value["error"]));
        }
    }

    /// Reads a message alone: each entry is a call.
    fn message(value: &Value) -> Choice {
        let mut texts = value.clone();
        texts["tool_calls"] = Value::Null;
        let mut message = Choice::default();
        Naive::delta(&mut message, &texts);
        for entry in value["tool_calls"].as_array().into_iter().flatten() {
            let mut one = Choice::default();
            Naive::delta(&mut one, &serde_json::json!({ "tool_calls": [entry] }));
            message.calls.append(&mut one.calls);
        }
        message
    }

    /// Adds to a choice what is new in a message since the one before. Returns `false` if the message does not continue
    /// it.
    fn go_on(choice: &mut Choice, before: &Choice, message: &Choice) -> bool {
        let (mut before, mut message) = (before.clone(), message.clone());
        if choice.role.is_empty() {
            choice.role = message.role.clone();
        }
        if message.calls.len() < before.calls.len() {
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
        for (position, call) in message.calls.iter().enumerate().skip(before.calls.len()) {
            let index = if call.place.is_made_up { choice.free_index(position) } else { call.place.index };
            let place = Place { index, is_made_up: false, position };
            choice.calls.push(Call { arguments: String::new(), place, ..call.clone() });
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
            choice.role += filled(&delta["role"]).unwrap_or("");
        }
        choice.content += delta["content"].as_str().unwrap_or("");
        for part in delta["content"].as_array().into_iter().flatten() {
            match part["type"].as_str() {
                Some("text") => choice.content += part["text"].as_str().unwrap_or(""),
                Some("thinking") => {
                    choice.reasoning += part["thinking"].as_str().unwrap_or("");
                    for part in part["thinking"].as_array().into_iter().flatten() {
                        choice.reasoning += part["text"].as_str().unwrap_or("");
                    }
                }
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
        let rest = || ["thinking", "thought"].into_iter().find_map(|key| filled(&delta[key]));
        let details = (!details.is_empty()).then_some(&details[..]);
        choice.reasoning += reasoning.or(details).or_else(rest).unwrap_or("");
        Naive::fragment(&mut choice.function, &delta["function_call"]);
        for (position, value) in delta["tool_calls"].as_array().into_iter().flatten().enumerate() {
            Naive::call(choice, position, value);
        }
    }

    /// Adds an element of `tool_calls`, by rows C13 to C19 of the table.
    fn call(choice: &mut Choice, position: usize, value: &Value) {
        let (id, index, function) = (filled(&value["id"]), value["index"].as_u64(), &value["function"]);
        let (name, arguments) = (filled(&function["name"]), filled(&function["arguments"]).unwrap_or(""));
        if id.is_none() && name.is_none() && arguments.is_empty() {
            return;
        }
        let calls = &choice.calls;
        let open = choice.open;
        let own = |at: usize| id.is_none_or(|id| calls[at].id == id);
        let in_place = |at: usize| calls[at].place.is_made_up && calls[at].place.position == position;
        let latest = |wanted: &dyn Fn(usize) -> bool| (0..calls.len()).rev().find(|at| wanted(*at));
        let spoken_of = if let Some(index) = index {
            let under = |at: usize| calls[at].place.index == index;
            open.filter(|at| under(*at) && own(*at))
                .or_else(|| latest(&|at| under(at) && own(at)))
                .or_else(|| latest(&under))
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
            let place = Place { index: index.unwrap_or(free), is_made_up: index.is_none(), position };
            choice.calls.push(Call { place, ..Call::default() });
        }
        choice.open = Some(at);
        let call = &mut choice.calls[at];
        call.place.position = position;
        if call.id.is_empty() {
            call.id += id.unwrap_or("");
        }
        if call.kind.is_empty() {
            call.kind += filled(&value["type"]).unwrap_or("");
        }
        Naive::fragment(call, function);
    }

    fn fragment(call: &mut Call, function: &Value) {
        let name = filled(&function["name"]).unwrap_or("");
        if name.starts_with(&call.name[..]) {
            call.name = name.to_string();
        } else {
            call.name += name;
        }
        call.arguments += function["arguments"].as_str().unwrap_or("");
    }

    fn close(mut self) -> (Answer, bool) {
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
        let indexes = || self.calls.iter().map(|call| call.place.index);
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

fn filled(value: &Value) -> Option<&str> {
    value.as_str().filter(|text| !text.is_empty())
}

fn message(error: &Value) -> String {
    if let Some(text) = error.as_str() {
        return text.to_string();
    }
    let text = ["message", "detail", "details"].into_iter().find_map(|key| filled(&error[key]));
    text.unwrap_or("").to_string()
}

// ---------------------------------------------------------------------------------------------------------------------
// Existing streams

/// Quirks that do not change the meaning.
fn harmless() -> QuirkSet {
    [
        Quirk::UnterminatedEvent,
        Quirk::IllFormedUtf8,
        Quirk::JsonBody,
        Quirk::EventAfterDone,
        Quirk::NullChunk,
        Quirk::MissingChoiceIndex,
        Quirk::ReusedCallIndex,
        Quirk::ChangedCallId,
        Quirk::ArgumentsAfterEnd,
        Quirk::DeltaAfterFinish,
        Quirk::SecondFinish,
        Quirk::OddType,
        Quirk::KeepAliveData,
        Quirk::LoneSurrogate,
        Quirk::UnknownContentPart,
        Quirk::ReplacedMessage,
    ]
    .into_iter()
    .collect()
}

#[test]
fn streams_there_are() {
    let streams: Vec<Stream> = samples().into_iter().chain(recorded("oracle")).collect();
    let (mut compared, mut choices, mut calls) = (0, 0, 0);
    let mut left = Vec::new();
    for stream in &streams {
        let (answer, quirks, end) = parsed_to_end(&stream.bytes, &[]);
        // The naive reader knows chat completions alone; `protocols/` compares the others.
        if end.dialect.is_some_and(|dialect| dialect != Protocol::Chat) {
            left.push(format!("{} {:?}", stream.name, end.dialect));
            continue;
        }
        if quirks.iter().any(|quirk| !harmless().contains(quirk)) {
            left.push(format!("{} {quirks:?}", stream.name));
            continue;
        }
        let naive = Naive::read(&stream.bytes);
        let (got, wanted) = (format!("{answer:?}"), format!("{naive:?}"));
        let at = got.bytes().zip(wanted.bytes()).take_while(|(got, wanted)| got == wanted).count();
        let near = |text: &str| text.chars().skip(at.saturating_sub(100)).take(300).collect::<String>();
        assert!(answer == naive, "{}\n got    {}\n wanted {}", stream.name, near(&got), near(&wanted));
        compared += 1;
        choices += answer.choices.len();
        calls += answer.choices.values().map(|choice| choice.calls.len()).sum::<usize>();
    }
    println!("oracle: {compared} streams with {choices} choices and {calls} calls; left out: {left:?}");
    assert!(compared >= samples().len() && choices > 0 && calls > 0);
}

// ---------------------------------------------------------------------------------------------------------------------
// Generated streams

/// A JSON text with random whitespace and order.
#[derive(Clone, Debug)]
enum Json {
    Raw(String),
    Text(Vec<Char>),
    Array(Vec<Json>),
    Object(Vec<(&'static str, Json)>),
}

/// A character, and how it is written.
#[derive(Clone, Copy, Debug)]
enum Char {
    Plain(char),
    Escaped(char),
    /// An unpaired surrogate, unless its neighbour completes it.
    Unit(u16),
}

impl Json {
    fn write(&self, space: &mut impl FnMut() -> &'static str, out: &mut String) {
        match self {
            Json::Raw(raw) => out.push_str(raw),
            Json::Text(chars) => {
                out.push('"');
                for char in chars {
                    match *char {
                        Char::Plain('"') => out.push_str("\\\""),
                        Char::Plain('\\') => out.push_str("\\\\"),
                        Char::Plain('\n') => out.push_str("\\n"),
                        Char::Plain(char) if char < ' ' => *out += &format!("\\u{:04x}", u32::from(char)),
                        Char::Plain(char) => out.push(char),
                        Char::Escaped(char) => {
                            for unit in char.encode_utf16(&mut [0; 2]) {
                                *out += &format!("\\u{unit:04X}");
                            }
                        }
                        Char::Unit(unit) => *out += &format!("\\u{unit:04x}"),
                    }
                }
                out.push('"');
            }
            Json::Array(items) => {
                out.push('[');
                for (at, item) in items.iter().enumerate() {
                    out.push_str(if at > 0 { "," } else { "" });
                    out.push_str(space());
                    item.write(space, out);
                }
                out.push_str(space());
                out.push(']');
            }
            Json::Object(members) => {
                out.push('{');
                for (at, (key, value)) in members.iter().enumerate() {
                    out.push_str(if at > 0 { "," } else { "" });
                    out.push_str(space());
                    *out += &format!("\"{key}\"");
                    out.push_str(space());
                    out.push(':');
                    out.push_str(space());
                    value.write(space, out);
                }
                out.push_str(space());
                out.push('}');
            }
        }
    }
}

fn char() -> impl Strategy<Value = Char> {
    let plain = prop_oneof![
        8 => prop::char::range(' ', '~'),
        1 => prop_oneof![Just('é'), Just('世'), Just('😀'), Just('\u{2028}'), Just('\u{85}'), Just('\n'), Just('\0')],
    ];
    let escaped = prop_oneof![Just('a'), Just('"'), Just('é'), Just('世'), Just('👍'), Just('\n'), Just('\0')];
    prop_oneof![12 => plain.prop_map(Char::Plain), 1 => escaped.prop_map(Char::Escaped)]
}

fn text() -> impl Strategy<Value = Json> {
    prop::collection::vec(char(), 0..12).prop_map(Json::Text)
}

/// A text that may begin or end with an unpaired surrogate.
fn halved() -> impl Strategy<Value = Json> {
    let half = || prop_oneof![6 => Just(None), 1 => (0xD83C..0xD840u16).prop_map(Some), 1 => (0xDE00..0xDE20u16).prop_map(Some)];
    (half(), prop::collection::vec(char(), 0..6), half()).prop_map(|(first, mut chars, last)| {
        chars.splice(0..0, first.map(Char::Unit));
        chars.extend(last.map(Char::Unit));
        Json::Text(chars)
    })
}

fn raw(raw: &'static str) -> impl Strategy<Value = Json> {
    Just(Json::Raw(raw.to_string()))
}

/// An occasional value instead of a text, which emits nothing.
fn odd() -> impl Strategy<Value = Json> {
    prop_oneof![4 => raw("null"), 1 => raw("true"), 1 => raw("17"), 1 => raw("{\"a\":[1]}")]
}

fn member(
    key: &'static str,
    value: impl Strategy<Value = Json>,
) -> impl Strategy<Value = Option<(&'static str, Json)>> {
    prop_oneof![3 => Just(None), 2 => value.prop_map(move |value| Some((key, value)))]
}

/// An object of some of its members, in any order.
fn object(members: Vec<Option<(&'static str, Json)>>) -> impl Strategy<Value = Json> {
    Just(members.into_iter().flatten().collect::<Vec<_>>()).prop_shuffle().prop_map(Json::Object)
}

fn tool_call() -> impl Strategy<Value = Json> {
    let quoted = |text: &str| Json::Raw(format!("\"{text}\""));
    let index = prop_oneof![3 => (0..3u32).prop_map(Some), 1 => Just(None)];
    let id = prop_oneof![3 => Just(None), 2 => (0..3u32).prop_map(Some)];
    let name = prop_oneof![2 => Just(None), 1 => Just(Some("f")), 1 => Just(Some("get_weather"))];
    const PIECES: &[&str] = &[
        "{",
        "}",
        "{}",
        r#"{\"x\":1}"#,
        r#"{\"x\":\"}"#,
        r#"\"}"#,
        " ",
        "",
        "[",
        "]",
        "[1]",
        r#"\"x\""#,
        "12",
        "true",
    ];
    let arguments = prop_oneof![1 => text(), 3 => prop::sample::select(PIECES).prop_map(quoted)];
    let call = (index, id, name, member("arguments", arguments)).prop_flat_map(move |(index, id, name, arguments)| {
        let name = name.map(|name| ("name", quoted(name)));
        object(vec![name, arguments]).prop_flat_map(move |function| {
            object(vec![
                index.map(|index| ("index", Json::Raw(index.to_string()))),
                id.map(|id| ("id", quoted(&format!("call_{id}")))),
                id.map(|_| ("type", quoted("function"))),
                Some(("function", function)),
            ])
        })
    });
    prop_oneof![12 => call.boxed(), 1 => raw("null").boxed(), 1 => raw("{}").boxed()]
}

fn delta() -> impl Strategy<Value = Json> {
    let parts = prop::collection::vec(text(), 0..3).prop_map(|texts| {
        let part = |text| Json::Object(vec![("type", Json::Raw("\"text\"".to_string())), ("text", text)]);
        Json::Array(texts.into_iter().map(part).collect())
    });
    let detail = |text| Json::Object(vec![("text", text)]);
    let details =
        prop::collection::vec(text(), 0..3).prop_map(move |texts| Json::Array(texts.into_iter().map(detail).collect()));
    let one_detail = text().prop_map(detail);
    let function = (text(), prop_oneof![Just("null"), Just("\"\""), Just("\"fun\"")]).prop_map(|(arguments, name)| {
        Json::Object(vec![("arguments", arguments), ("name", Json::Raw(name.to_string()))])
    });
    let members = (
        member("role", prop_oneof![raw("\"assistant\""), raw("\"\""), raw("null")]),
        member("content", prop_oneof![6 => halved(), 1 => odd(), 1 => parts]),
        member("refusal", prop_oneof![2 => text(), 1 => odd()]),
        member("reasoning_content", prop_oneof![2 => text(), 1 => odd()]),
        member("reasoning", prop_oneof![2 => text(), 1 => odd()]),
        member("reasoning_details", prop_oneof![2 => details, 1 => one_detail, 1 => raw("null")]),
        member("function_call", prop_oneof![1 => function, 1 => raw("null")]),
        member("tool_calls", prop::collection::vec(tool_call(), 0..3).prop_map(Json::Array)),
        member("annotations", raw("[{\"type\":\"url_citation\",\"content\":\"no\"}]")),
    );
    members.prop_flat_map(|(a, b, c, d, e, f, g, h, i)| object(vec![a, b, c, d, e, f, g, h, i]))
}

fn choice() -> impl Strategy<Value = Json> {
    let token = text().prop_map(|text| {
        Json::Object(vec![
            ("token", text),
            ("logprob", Json::Raw("-1.5e-3".into())),
            ("bytes", Json::Raw("null".into())),
        ])
    });
    let logprobs =
        prop::collection::vec(token, 0..3).prop_map(|tokens| Json::Object(vec![("content", Json::Array(tokens))]));
    let members = (
        (0..3u32).prop_map(|index| ("index", Json::Raw(index.to_string()))),
        member("delta", prop_oneof![9 => delta().boxed(), 1 => raw("null").boxed()]),
        prop_oneof![9 => Just(None), 1 => delta().prop_map(|message| Some(("message", message)))],
        prop_oneof![4 => raw("null"), 1 => raw("\"\"")].prop_map(|value| ("finish_reason", value)),
        member("logprobs", prop_oneof![logprobs.boxed(), raw("null").boxed()]),
        member("native_finish_reason", raw("\"STOP\"")),
    );
    members.prop_flat_map(|(index, delta, message, finish, logprobs, native)| {
        object(vec![Some(index), delta, message, Some(finish), logprobs, native])
    })
}

fn chunk() -> impl Strategy<Value = Json> {
    let usage = (0..100u32).prop_map(|n| Json::Raw(format!("{{\"total_tokens\":{n},\"cost\":1e-7}}")));
    let members = (
        member("id", prop_oneof![text().boxed(), raw("42").boxed(), raw("null").boxed()]),
        member("created", prop_oneof![raw("1739"), raw("\"1739\""), raw("1.5e9")]),
        prop::collection::vec(choice(), 0..4).prop_map(|choices| Some(("choices", Json::Array(choices)))),
        member("usage", prop_oneof![2 => usage.boxed(), 1 => raw("null").boxed(), 1 => raw("{}").boxed()]),
        member("error", prop_oneof![2 => raw("null"), 2 => raw("\"\""), 1 => raw("{\"message\":\"m\",\"code\":429}")]),
        member("obfuscation", text()),
        member("x", raw("{\"choices\":[{\"delta\":{\"content\":\"no\"}}]}")),
    );
    members.prop_flat_map(|(a, b, c, d, e, f, g)| object(vec![a, b, c, d, e, f, g]))
}

/// A message so far: the first characters of each text, occasionally with one replaced.
fn so_far() -> impl Strategy<Value = Json> {
    let chars = || {
        let text = "ab\u{e9}\u{4e16}{\"k\":1}\\n";
        let other = prop_oneof![9 => Just(usize::MAX), 1 => 0..text.chars().count()];
        (0..text.chars().count(), other, prop::bool::ANY).prop_map(move |(len, other, escaped)| {
            let write = if escaped { Char::Escaped } else { Char::Plain };
            let chars = text.chars().take(len).enumerate();
            Json::Text(chars.map(|(at, char)| write(if at == other { '?' } else { char })).collect())
        })
    };
    let call = (chars(), member("name", raw("\"f\"")), member("type", raw("\"function\"")), prop::bool::weighted(0.95));
    let call = call.prop_map(|(arguments, name, kind, id)| {
        let function = Json::Object(name.into_iter().chain([("arguments", arguments)]).collect());
        let id = Json::Raw(if id { "\"p\"" } else { "\"q\"" }.to_string());
        Json::Object(kind.into_iter().chain([("id", id), ("function", function)]).collect())
    });
    let function = chars().prop_map(|arguments| Json::Object(vec![("arguments", arguments)]));
    let members = (
        member("role", raw("\"assistant\"")),
        prop_oneof![3 => chars().prop_map(|text| Some(("content", text))), 1 => Just(None)],
        member("reasoning", chars()),
        member("function_call", function),
        member("tool_calls", prop::collection::vec(call, 1..3).prop_map(Json::Array)),
    );
    members.prop_flat_map(|(a, b, c, d, e)| object(vec![a, b, c, d, e]))
}

/// Chunks with messages so far of two choices, and an occasional delta.
fn messages() -> impl Strategy<Value = Bytes> {
    let message = so_far().prop_map(|message| ("message", message));
    let delta = raw("{\"content\":\"d\"}").prop_map(|delta| ("delta", delta));
    let one = (0..2u32, prop_oneof![19 => message.boxed(), 1 => delta.boxed()]);
    prop::collection::vec(one, 0..8).prop_map(|chunks| {
        let mut out = Vec::new();
        for (index, member) in chunks {
            let choice = Json::Object(vec![("index", Json::Raw(index.to_string())), member]);
            let mut json = String::new();
            Json::Object(vec![("choices", Json::Array(vec![choice]))]).write(&mut || "", &mut json);
            out.extend_from_slice(format!("data: {json}\n\n").as_bytes());
        }
        Bytes(out)
    })
}

/// The last chunk of each choice.
fn finishes() -> impl Strategy<Value = Json> {
    prop::collection::vec((0..3u32, prop_oneof![Just("stop"), Just("length"), Just("eos")]), 0..4).prop_map(|choices| {
        let choice = |(index, reason): (u32, &str)| {
            Json::Raw(format!("{{\"index\":{index},\"delta\":{{}},\"finish_reason\":\"{reason}\"}}"))
        };
        Json::Object(vec![("choices", Json::Array(choices.into_iter().map(choice).collect()))])
    })
}

/// Bytes that are readable when a test fails.
#[derive(Clone)]
struct Bytes(Vec<u8>);

impl std::fmt::Debug for Bytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&quoted(&self.0))
    }
}

/// A whole stream: chunks, other items between them, whitespace and line ends.
fn stream() -> impl Strategy<Value = Bytes> {
    let between = prop_oneof![
        6 => Just(""),
        1 => Just(": ping|"),
        1 => Just("retry: 5||"),
        1 => Just("id: 7||"),
        1 => Just("event: e|"),
        1 => Just("strange: 1|"),
    ];
    let events = prop::collection::vec((between, chunk(), prop::bool::ANY, prop::bool::weighted(0.2)), 0..7);
    let line_end = prop_oneof![Just("\n"), Just("\r\n"), Just("\r")];
    let spaces =
        prop::collection::vec(prop_oneof![6 => Just(""), 2 => Just(" "), 1 => Just("\t"), 1 => Just("|")], 1..40);
    let end = prop_oneof![Just("data: [DONE]||"), Just("data:[DONE] ||"), Just("")];
    let mark = prop::bool::weighted(0.1);
    (events, finishes(), line_end, spaces, end, mark).prop_map(|(events, finishes, line_end, spaces, end, mark)| {
        let mut at = 0;
        let mut space = || {
            at += 1;
            spaces[at % spaces.len()]
        };
        let mut out = Vec::new();
        if mark {
            out.extend_from_slice("\u{FEFF}".as_bytes());
        }
        let events = events.into_iter().chain([("", finishes, true, false)]);
        for (between, chunk, spaced, is_alone) in events {
            out.extend_from_slice(between.replace('|', line_end).as_bytes());
            let mut json = String::new();
            // The bar stands for a line end between tokens; inside texts it is a bar.
            write_lines(&chunk, &mut space, &mut json);
            let data = if spaced { "data: " } else { "data:" };
            // A line that begins with a space loses it, which is whitespace here.
            for line in json.split('\u{1}') {
                out.extend_from_slice(data.as_bytes());
                out.extend_from_slice(line.as_bytes());
                out.extend_from_slice(line_end.as_bytes());
            }
            // Or put the next event into the same block.
            if !is_alone {
                out.extend_from_slice(line_end.as_bytes());
            }
        }
        out.extend_from_slice(end.replace('|', line_end).as_bytes());
        Bytes(out)
    })
}

fn write_lines(json: &Json, space: &mut impl FnMut() -> &'static str, out: &mut String) {
    let mut space = || match space() {
        "|" => "\u{1}",
        other => other,
    };
    json.write(&mut space, out);
}

proptest! {
    #![proptest_config(cases(3000, 1, 1))]

    #[test]
    fn streams_made_up(Bytes(bytes) in stream(), cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12)) {
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        cuts.sort_unstable();
        let naive = Naive::read(&bytes);
        let (whole, quirks) = parsed(&bytes, &[]);
        prop_assert_eq!(&whole, &naive);
        let (cut, cut_quirks) = parsed(&bytes, &cuts);
        prop_assert_eq!(&cut, &naive, "cut at {:?}", cuts);
        prop_assert_eq!(quirks, cut_quirks);
    }

    #[test]
    fn messages_so_far(Bytes(bytes) in messages(), cut in any::<prop::sample::Index>()) {
        let (naive, is_replaced) = Naive::read_all(&bytes);
        for cuts in [vec![], vec![cut.index(bytes.len() + 1)]] {
            let (answer, quirks) = parsed(&bytes, &cuts);
            prop_assert_eq!(&answer, &naive);
            prop_assert_eq!(quirks.contains(Quirk::ReplacedMessage), is_replaced);
        }
    }

    /// The same streams with a byte changed, removed or inserted: cuts must not matter, and nothing may panic.
    #[test]
    fn streams_with_a_fault(
        Bytes(bytes) in stream(),
        at in any::<prop::sample::Index>(),
        byte in prop_oneof![any::<u8>(), prop::sample::select(&b"\n\r\"\\{}[]:, \xEF\xF0\xED"[..])],
        how in 0..3,
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 1..6),
    ) {
        let mut bytes = bytes;
        let place = at.index(bytes.len());
        match how {
            0 => bytes[place] = byte,
            1 => bytes.insert(place, byte),
            _ => drop(bytes.remove(place)),
        }
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        cuts.sort_unstable();
        let how = |cuts| How { cuts, detail: Detail::Views, ..How::whole(Store::Growing, Config::default()) };
        let whole = pull(&bytes, &how(&[]));
        let context = || format!("cut at {cuts:?}: {}", escaped(&bytes));
        whole.equal(&pull(&bytes, &how(&cuts)), "pull", context);
        whole.across(&push(&bytes, &how(&cuts)), "push", context);
    }
}
