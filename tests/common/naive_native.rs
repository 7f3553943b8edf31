//! A naive reader of streams of other protocols than chat completions, which takes whole buffers and reads `serde_json`'s values; and
//! the library's deltas, by batch, in the same lines.
//!
//! It gives up where it takes the library's own limits, or its rules for chat completions, to say what is meant.

use super::halves::{self, is_half, HALVES};
use super::input::pieces;
use super::records::{each_record, Room};
use deltawire::delta::{self, FinishKind, Kind, Meta};
use deltawire::stream::Record;
use deltawire::track::Tracker;
use deltawire::{Config, Quirk};
use serde_json::{json, Value};
use std::collections::{BTreeMap, BTreeSet};

// ---------------------------------------------------------------------------------------------------------------------
// The log of the library

/// The lines of the deltas of a stream, from batches of so many records, by a machine that remembers `SLOTS` shapes.
pub fn lines<const SLOTS: usize>(config: Config, input: &[u8], cuts: &[usize], records: usize) -> Vec<String> {
    let (tracker, kinds) = (&mut Tracker::<8, 32>::new(), Kind::DEFAULT | Kind::MESSAGE);
    let room = Room { records, scratch: 256 + 48 * records };
    let (mut lines, mut open) = (Vec::new(), Vec::new());
    each_record::<SLOTS>(config, tracker, pieces(input, cuts), kinds, room, |record, [text, ..], _| {
        open.extend_from_slice(text);
        if record.flags & delta::FLAG_MORE == 0 {
            lines.extend(line(record, &std::mem::take(&mut open)));
        }
    });
    lines
}

fn line(record: &Record, bytes: &[u8]) -> Option<String> {
    let Record { choice, call, code, number, flags, .. } = *record;
    let kind = Kind::from_number(record.kind.into()).expect("a kind");
    let text = || String::from_utf8(bytes.to_vec()).expect("a text is UTF-8");
    let quoted = || self::quoted(&text());
    let raw = || value_of(bytes).map_or_else(text, |value| value.to_string());
    let slotted =
        [Kind::Content, Kind::Reasoning, Kind::Refusal, Kind::Signature, Kind::Annotation, Kind::Media, Kind::Native];
    if slotted.contains(&kind) || kind == Kind::Role {
        assert_eq!(flags & delta::FLAG_NUMBER != 0, kind != Kind::Role, "{kind:?}");
    }
    Some(match kind {
        Kind::Role => format!("role {choice} {}", quoted()),
        Kind::Content | Kind::Reasoning | Kind::Refusal => {
            format!("{kind:?} {choice} {number:x} {code} {}", quoted())
        }
        Kind::ToolCall => {
            let (opens, custom) = (flags & delta::FLAG_OPENS != 0, flags & delta::FLAG_CUSTOM != 0);
            format!("call {choice} #{call} {number} {opens} {custom} {}", quoted())
        }
        Kind::ToolName => format!("name {choice} #{call} {}", quoted()),
        Kind::ToolArguments => format!("arguments {choice} #{call} {}", self::quoted(&canonical(text()))),
        Kind::ToolCallEnd => format!("call-end {choice} #{call} {}", code == 1),
        Kind::Signature => format!("signature {choice} {number:x} {}", quoted()),
        Kind::Annotation | Kind::Media | Kind::Native => format!("{kind:?} {choice} {number:x} {}", raw()),
        Kind::Logprobs | Kind::Audio => format!("{kind:?} {choice} {}", raw()),
        Kind::Finish => {
            format!("finish {choice} {code} {} {}", flags & delta::FLAG_PROMPT != 0, quoted())
        }
        Kind::Usage => format!("usage {}", raw()),
        Kind::Error => "error".to_string(),
        Kind::Quirk if code == Quirk::PartialArguments as u32 => "arguments by path".to_string(),
        Kind::Meta if code == Meta::CallMember as u32 => {
            let member = [b"{", bytes, b"}"].concat();
            format!("member {choice} #{call} {}", value_of(&member).expect("a member"))
        }
        _ => return None,
    })
}

/// A text as a JSON string, the last word of its line.
fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// Arguments that are a JSON object in one spelling.
fn canonical(text: String) -> String {
    match value_of(text.as_bytes()) {
        Some(value @ Value::Object(_)) => value.to_string(),
        _ => text,
    }
}

/// JSON with characters for halves of surrogate pairs. `None`: it is no JSON, or has those characters already.
fn value_of(json: &[u8]) -> Option<Value> {
    serde_json::from_str(&halves::hide(std::str::from_utf8(json).ok()?)?).ok()
}

/// A text of which the halves are joined, the first with `pending`; and the half at its end.
fn joined(pending: Option<u32>, text: &str) -> (String, Option<u32>) {
    let (mut out, mut high) = (String::new(), pending);
    for char in text.chars() {
        let code = u32::from(char);
        match (high.take(), code.checked_sub(HALVES)) {
            (Some(high), Some(low @ 0x400..=0x7ff)) => {
                out.push(char::from_u32(0x10000 + (high << 10) + (low - 0x400)).expect("a pair"));
                continue;
            }
            (Some(_), _) => out.push('\u{fffd}'),
            (None, _) => {}
        }
        match code.checked_sub(HALVES) {
            Some(half @ 0..=0x3ff) => high = Some(half),
            Some(0x400..=0x7ff) => out.push('\u{fffd}'),
            _ => out.push(char),
        }
    }
    (out, high)
}

/// A text by itself.
fn alone(text: &str) -> String {
    let (mut text, half) = joined(None, text);
    text.extend(half.map(|_| '\u{fffd}'));
    text
}

// ---------------------------------------------------------------------------------------------------------------------
// The naive reader

/// Where half a character waits: the kind of the text, its code and its slot.
type Slot = (Kind, u32, u64);

#[derive(Default)]
struct Choice {
    role: bool,
    waiting: [Option<(Slot, u32)>; 3],
}

struct Call {
    choice: u32,
    number: usize,
    index: u64,
    half: Option<u32>,
    is_custom: bool,
    arguments: String,
    is_over: bool,
}

/// What is known of a stream.
#[derive(Default)]
pub struct Naive {
    lines: Vec<String>,
    /// In the order in which they came.
    choices: Vec<(u32, Choice)>,
    calls: Vec<Call>,
    /// The choices that have a call of the client.
    called: BTreeSet<u32>,
    protocol: Option<&'static str>,
    failed: bool,
    ended: bool,
    /// Of Anthropic: the blocks that are calls of the client, and the block that began last.
    clients: BTreeSet<u64>,
    last_block: u64,
    /// Of Gemini: the last call, and whether it goes on.
    continues: bool,
    /// Of Responses: the parts that were reported, of which item, and whether of its summary.
    reported: BTreeSet<(u64, bool, u64)>,
    /// Of Responses: the calls whose arguments came whole with the event that began them.
    began_whole: BTreeSet<u64>,
    /// Of Responses: the items so far.
    items: Vec<Item>,
    /// Of Responses: the items of which a text, or (`true`) a part, ended; and those of which annotations were reported.
    ends: BTreeSet<(u64, bool)>,
    /// While an event that ends a text is read: whether it ends a part.
    ending: Option<bool>,
    annotated: BTreeSet<u64>,
    /// Reasoning that is done, and had no text so far.
    voids: BTreeSet<u64>,
    /// Of Responses: the texts so far, in the order in which they began.
    told: Vec<Told>,
    next_told: usize,
    /// Whether one that was not done lost its place.
    has_dropped: bool,
}

/// What deltas of Responses said of a part: its item, whether it is a summary, and its index.
struct Told {
    part: (u64, bool, u64),
    text: String,
    is_done: bool,
    differs: bool,
}

/// An output item of Responses.
#[derive(Debug)]
struct Item {
    number: u64,
    index: Option<u64>,
    /// `message`, `reasoning`, `call`, another word, or nothing if only an annotation came.
    class: String,
    /// `None`: no event with an ID came. Empty: it began without one.
    id: Option<String>,
    /// The `call_id`, or nothing.
    call: String,
}

/// What it takes the library to know.
struct GiveUp;

type Done = Result<(), GiveUp>;

impl Naive {
    /// The lines of a stream. `None`: it gives up.
    pub fn read(bytes: &[u8]) -> Option<Vec<String>> {
        let mut naive = Naive::default();
        naive.stream(bytes).ok()?;
        while let Some(choice) = naive.choices.iter().map(|(index, _)| *index).find(|choice| naive.waits(*choice)) {
            naive.flush_texts(choice);
        }
        for call in 0..naive.calls.len() {
            naive.flush_call(call);
        }
        Some(naive.lines)
    }

    fn stream(&mut self, bytes: &[u8]) -> Done {
        let text = std::str::from_utf8(bytes).map_err(|_| GiveUp)?;
        // Such a line is a comment, wherever it comes.
        if text.starts_with(['[', '{']) && text.split(['\n', '\r']).any(|line| line.starts_with(':')) {
            return Err(GiveUp);
        }
        if text.starts_with('[') {
            let Some(Value::Array(events)) = value_of(bytes) else { return Err(GiveUp) };
            return events.iter().try_for_each(|event| self.event("", event));
        }
        if text.starts_with('{') {
            return self.event("", &value_of(bytes).ok_or(GiveUp)?);
        }
        let text = text.replace("\r\n", "\n");
        let blocks = text.strip_suffix("\n\n").filter(|text| !text.contains('\r')).ok_or(GiveUp)?;
        for block in blocks.split("\n\n") {
            let (mut name, mut data) = ("", None);
            for line in block.split('\n') {
                if line.starts_with(':') {
                } else if let Some(own) = line.strip_prefix("event: ") {
                    name = own;
                } else if let Some(own) = line.strip_prefix("data: ") {
                    if data.replace(own).is_some() {
                        return Err(GiveUp);
                    }
                } else {
                    return Err(GiveUp);
                }
            }
            match data {
                None | Some("[DONE]") => {}
                Some(data) => self.event(name, &value_of(data.as_bytes()).ok_or(GiveUp)?)?,
            }
        }
        Ok(())
    }

    fn event(&mut self, name: &str, event: &Value) -> Done {
        if !event.is_object() || !is_plain(event) {
            return Err(GiveUp);
        }
        let own = event["type"].as_str().filter(|own| !own.is_empty());
        let kind = own.unwrap_or(name);
        if kind.contains(is_half) {
            return Err(GiveUp);
        }
        // How errors by themselves and chunks of chat completions are recognized is another matter.
        let error = Some(&event["error"]).filter(|error| !error.is_null() && **error != json!({}));
        let has_error = error.is_some_and(Value::is_object);
        let is_error = error.is_some() && !has_error || kind == "error" || name == "error";
        if is_error || event.get("choices").is_some() || event.get("detail").is_some() {
            return Err(GiveUp);
        }
        // An empty string is a type, which says nothing.
        let alive = event["type"].as_str().unwrap_or(name);
        if !has_error && ["ping", "keepalive", "keep-alive", "heartbeat"].contains(&alive) {
            return Ok(());
        }
        let of_type = |kind: &str| match kind {
            _ if kind.starts_with("response.") => Some("responses"),
            "message_start" | "message_delta" | "message_stop" => Some("anthropic"),
            _ if kind.starts_with("content_block_") => Some("anthropic"),
            _ => None,
        };
        let known = own.and_then(of_type).or_else(|| of_type(name));
        let known = known.or_else(|| {
            let is = |name: &str| event.get(name).is_some_and(|value| !value.is_null());
            match () {
                () if is("candidates") || is("promptFeedback") => Some("gemini"),
                () if event["type"] == "message" && event["content"].is_array() => Some("anthropic"),
                () if event["object"] == "response" && event["output"].is_array() => Some("responses"),
                () => None,
            }
        });
        if event.get("event_type").is_some() || event.get("done").is_some() {
            return Err(GiveUp);
        }
        if has_error && known.is_none() {
            return Err(GiveUp);
        }
        // One that the response has of its own is the same.
        self.failed |= has_error;
        match (self.protocol.or(known), known) {
            (None, _) => return Err(GiveUp),
            (Some(protocol), Some(known)) if known != protocol => {
                if has_error {
                    self.push("error".to_string());
                }
                return Ok(());
            }
            (protocol, _) => self.protocol = protocol,
        }
        match self.protocol {
            Some("anthropic") => self.anthropic(kind, event)?,
            Some("responses") => self.responses(kind, event)?,
            _ => self.gemini(event)?,
        }
        if has_error {
            self.push("error".to_string());
        }
        let parts = elements(&event["candidates"]).flat_map(|candidate| elements(&candidate["content"]["parts"]));
        let has_paths = parts.flat_map(|part| elements(&part["functionCall"]["partialArgs"])).next().is_some();
        if has_paths && self.protocol == Some("gemini") {
            self.push("arguments by path".to_string());
        }
        if self.choices.len() > 8 || self.calls.len() > 32 {
            return Err(GiveUp);
        }
        Ok(())
    }

    // -----------------------------------------------------------------------------------------------------------------
    // What each delta does

    fn push(&mut self, line: String) {
        self.lines.push(line);
    }

    fn choice(&mut self, index: u32) -> &mut Choice {
        let place = self.choices.iter().position(|(own, _)| *own == index).unwrap_or_else(|| {
            self.choices.push((index, Choice::default()));
            self.choices.len() - 1
        });
        &mut self.choices[place].1
    }

    fn waits(&self, index: u32) -> bool {
        self.choices.iter().any(|(own, choice)| *own == index && choice.waiting.iter().any(Option::is_some))
    }

    fn role(&mut self, index: u32, role: &Value) {
        if let Some(role) = full(role) {
            if !std::mem::replace(&mut self.choice(index).role, true) {
                self.push(format!("role {index} {}", quoted(&alone(role))));
            }
        }
    }

    fn text(&mut self, index: u32, kind: Kind, code: u32, slot: u64, text: &Value) {
        let Some(text) = full(text) else { return };
        let own = (kind, code, slot);
        let waiting = &mut self.choice(index).waiting;
        let place = waiting.iter().position(|waiting| waiting.is_some_and(|(slot, _)| slot == own));
        let place = place.or_else(|| waiting.iter().position(Option::is_none));
        let before = place.and_then(|place| waiting[place].take()).map(|(_, half)| half);
        let (mut text, half) = joined(before, text);
        match (place, half) {
            (Some(place), Some(half)) => waiting[place] = Some((own, half)),
            (None, Some(_)) => text.push('\u{fffd}'),
            _ => {}
        }
        if !text.is_empty() {
            self.push(format!("{kind:?} {index} {slot:x} {code} {}", quoted(&text)));
        }
    }

    fn flush_texts(&mut self, index: u32) {
        for place in 0..3 {
            if let Some(((kind, code, slot), _)) = self.choice(index).waiting[place].take() {
                self.push(format!("{kind:?} {index} {slot:x} {code} {}", quoted("\u{fffd}")));
            }
        }
    }

    /// The texts in a slot are over.
    fn end_text(&mut self, index: u32, slot: u64) {
        for place in 0..3 {
            let waiting = &mut self.choice(index).waiting[place];
            if let Some(((kind, code, _), _)) = waiting.take_if(|((.., own), _)| *own == slot) {
                self.push(format!("{kind:?} {index} {slot:x} {code} {}", quoted("\u{fffd}")));
            }
        }
    }

    fn flush_call(&mut self, at: usize) {
        let Call { choice, number, ref mut half, .. } = self.calls[at];
        if half.take().is_some() {
            self.calls[at].arguments.push('\u{fffd}');
            self.push(format!("arguments {choice} #{number} {}", quoted("\u{fffd}")));
        }
    }

    /// The call is over, unless it was.
    fn end_call(&mut self, at: usize) {
        if !std::mem::replace(&mut self.calls[at].is_over, true) {
            self.flush_call(at);
            let Call { choice, number, is_custom, ref arguments, .. } = self.calls[at];
            let is_whole = is_custom || is_balanced(arguments);
            self.push(format!("call-end {choice} #{number} {is_whole}"));
        }
    }

    fn end_of_index(&mut self, choice: u32, index: u64) {
        if let Some(at) = self.calls.iter().position(|call| call.choice == choice && call.index == index) {
            self.end_call(at);
        }
    }

    fn raw(&mut self, index: u32, kind: Kind, slot: u64, value: &Value) {
        self.choice(index);
        self.push(format!("{kind:?} {index} {slot:x} {value}"));
    }

    fn signature(&mut self, index: u32, slot: u64, text: &Value) {
        if let Some(text) = full(text) {
            self.choice(index);
            self.push(format!("signature {index} {slot:x} {}", quoted(&alone(text))));
        }
    }

    fn open(&mut self, choice: u32, index: u64, id: &Value, name: &Value, is_custom: bool) -> Done {
        let (id, name) = (alone(full(id).unwrap_or_default()), full(name));
        if self.calls.iter().any(|call| call.choice == choice && call.index == index) {
            return Err(GiveUp);
        }
        self.choice(choice);
        let number = self.calls.iter().filter(|call| call.choice == choice).count();
        self.calls.push(Call {
            choice,
            number,
            index,
            half: None,
            is_custom,
            arguments: String::new(),
            is_over: false,
        });
        self.push(format!("call {choice} #{number} {index} true {is_custom} {}", quoted(&id)));
        if let Some(name) = name {
            self.push(format!("name {choice} #{number} {}", quoted(&alone(name))));
        }
        Ok(())
    }

    fn arguments(&mut self, choice: u32, index: u64, text: &str) -> Done {
        let call = self.calls.iter_mut().find(|call| call.choice == choice && call.index == index).ok_or(GiveUp)?;
        let (text, half) = joined(call.half.take(), text);
        call.half = half;
        call.arguments += &text;
        let number = call.number;
        if !text.is_empty() {
            self.push(format!("arguments {choice} #{number} {}", quoted(&canonical(text))));
        }
        Ok(())
    }

    /// Arguments that are an object: raw JSON, in which halves stay as they are.
    fn object(&mut self, choice: u32, index: u64, object: &Value) -> Done {
        let call = self.calls.iter_mut().find(|call| call.choice == choice && call.index == index).ok_or(GiveUp)?;
        let (number, before) = (call.number, call.half.take());
        let before = before.map_or("", |_| "\u{fffd}");
        call.arguments += &format!("{before}{object}");
        self.push(format!("arguments {choice} #{number} {}", quoted(&format!("{before}{object}"))));
        Ok(())
    }

    /// Arguments that are an object with members, or a text in its place.
    fn input(&mut self, choice: u32, index: u64, input: &Value) -> Done {
        match full(input) {
            Some("{}" | "null") => Ok(()),
            Some(text) => self.arguments(choice, index, text),
            None if has_members(input) => self.object(choice, index, input),
            None => Ok(()),
        }
    }

    fn finish(&mut self, index: u32, word: &Value, meaning: &dyn Fn(&str, bool) -> FinishKind, is_prompt: bool) {
        let Some(word) = full(word) else { return };
        self.choice(index);
        let called = self.called.contains(&index);
        self.flush_texts(index);
        for at in 0..self.calls.len() {
            if self.calls[at].choice == index {
                self.flush_call(at);
            }
        }
        for at in 0..self.calls.len() {
            if self.calls[at].choice == index {
                self.end_call(at);
            }
        }
        let code = meaning(word, called).number();
        self.push(format!("finish {index} {code} {is_prompt} {}", quoted(&alone(word))));
    }

    fn usage(&mut self, usage: &Value) {
        if usage.as_object().is_some_and(|usage| !usage.is_empty()) {
            self.push(format!("usage {usage}"));
        }
    }

    /// Maybe behind another one. Its items or blocks are numbered anew.
    fn begin_response(&mut self) {
        self.reported.clear();
        self.began_whole.clear();
        self.items.clear();
        self.ends.clear();
        self.annotated.clear();
        self.voids.clear();
        self.told.clear();
        (self.next_told, self.has_dropped) = (0, false);
        self.clients.clear();
        self.called.clear();
        self.calls.iter_mut().for_each(|call| call.index = u64::MAX);
        (self.last_block, self.ended, self.failed) = (0, false, false);
    }

    // -----------------------------------------------------------------------------------------------------------------
    // Anthropic Messages

    fn anthropic(&mut self, kind: &str, event: &Value) -> Done {
        let index = number(&event["index"]);
        if index.abs_diff(self.last_block) > 224 {
            return Err(GiveUp);
        }
        if let Some(unknown) = unknown_of_anthropic(kind, event) {
            self.raw(0, Kind::Native, index, unknown);
            return Ok(());
        }
        match kind {
            "message_start" | "message" => {
                let message = if kind == "message" { event } else { &event["message"] };
                if !message.is_object() {
                    return Ok(());
                }
                if kind == "message_start" {
                    self.begin_response();
                }
                self.role(0, &message["role"]);
                for (at, block) in (0..).zip(elements(&message["content"])) {
                    self.block(at, block)?;
                    if kind == "message" && block["type"] == "tool_use" {
                        self.end_of_index(0, at);
                    }
                }
                self.finish(0, &message["stop_reason"], &word_of, false);
                self.usage(&message["usage"]);
            }
            "content_block_start" if event["content_block"].is_object() => {
                self.block(index, &event["content_block"])?
            }
            "content_block_delta" if event["delta"].is_object() => {
                let delta = &event["delta"];
                match delta["type"].as_str().unwrap_or_default() {
                    "text_delta" => self.text(0, Kind::Content, 0, index, &delta["text"]),
                    "thinking_delta" => self.text(0, Kind::Reasoning, 0, index, &delta["thinking"]),
                    "signature_delta" => self.signature(0, index, &delta["signature"]),
                    "citations_delta" if delta["citation"].is_null() => {}
                    "citations_delta" => self.raw(0, Kind::Annotation, index, &delta["citation"]),
                    "input_json_delta" => match &delta["partial_json"] {
                        piece if full(piece).is_none() && !has_members(piece) => {}
                        piece if self.clients.contains(&index) => match full(piece) {
                            Some(text) => self.arguments(0, index, text)?,
                            None => self.object(0, index, piece)?,
                        },
                        _ => self.raw(0, Kind::Native, index, delta),
                    },
                    _ => self.raw(0, Kind::Native, index, delta),
                }
            }
            "content_block_stop" if self.clients.contains(&index) => self.end_of_index(0, index),
            "content_block_stop" => self.end_text(0, index),
            "message_delta" => {
                self.finish(0, &event["delta"]["stop_reason"], &word_of, false);
                self.usage(&event["usage"]);
            }
            _ => {}
        }
        Ok(())
    }

    fn block(&mut self, index: u64, block: &Value) -> Done {
        self.clients.remove(&index);
        self.last_block = index;
        match block["type"].as_str().unwrap_or_default() {
            "text" => {
                self.text(0, Kind::Content, 0, index, &block["text"]);
                if elements(&block["citations"]).next().is_some() {
                    self.raw(0, Kind::Annotation, index, &block["citations"]);
                }
            }
            "thinking" => {
                self.text(0, Kind::Reasoning, 0, index, &block["thinking"]);
                self.signature(0, index, &block["signature"]);
            }
            "tool_use" => {
                self.clients.insert(index);
                self.open(0, index, &block["id"], &block["name"], false)?;
                self.input(0, index, &block["input"])?;
                let call = self.calls.last().ok_or(GiveUp)?.number;
                let members = block.as_object().into_iter().flatten();
                let is_other = |name: &str| !["type", "id", "name", "input"].contains(&name);
                let others: Vec<_> = members.filter(|(name, value)| is_other(name) && !value.is_null()).collect();
                // Their order is not known here.
                if others.len() > 1 {
                    return Err(GiveUp);
                }
                for (name, value) in others {
                    self.push(format!("member 0 #{call} {}", json!({ name.as_str(): value })));
                }
            }
            _ => self.raw(0, Kind::Native, index, block),
        }
        Ok(())
    }

    // -----------------------------------------------------------------------------------------------------------------
    // Gemini

    fn gemini(&mut self, event: &Value) -> Done {
        if full(&event["type"]).is_some() && event["candidates"].is_null() && event["promptFeedback"].is_null() {
            return Ok(());
        }
        let is_empty = elements(&event["candidates"]).next().is_none();
        let says_nothing = is_empty && full(&event["promptFeedback"]["blockReason"]).is_none();
        if says_nothing && has_unknown_text(event, &["modelVersion", "responseId", "createTime"]) {
            self.raw(0, Kind::Native, 0, event);
        }
        // A call counts for the finish reasons of its event, wherever that stands.
        let mut next = 0;
        for candidate in elements(&event["candidates"]) {
            let index = choice_of(candidate, &mut next)?;
            if elements(&candidate["content"]["parts"]).any(is_call) {
                self.called.insert(index);
            }
        }
        self.finish(0, &event["promptFeedback"]["blockReason"], &|_, _| FinishKind::ContentFilter, true);
        next = 0;
        for candidate in elements(&event["candidates"]) {
            let index = choice_of(candidate, &mut next)?;
            self.role(index, &candidate["content"]["role"]);
            for (place, part) in (0..).zip(elements(&candidate["content"]["parts"])) {
                self.part(index, place, part)?;
            }
            self.finish(index, &candidate["finishReason"], &word_of, false);
        }
        self.usage(&event["usageMetadata"]);
        Ok(())
    }

    fn part(&mut self, choice: u32, place: u64, part: &Value) -> Done {
        let call = &part["functionCall"];
        let kind = if part["thought"] == true { Kind::Reasoning } else { Kind::Content };
        self.text(choice, kind, 0, place, &part["text"]);
        if is_call(part) {
            let goes_on = std::mem::replace(&mut self.continues, call["willContinue"] == true);
            let last = self.calls.len();
            if !goes_on || full(&call["name"]).is_some() {
                self.open(choice, last as u64, &call["id"], &call["name"], false)?;
                if call["args"].is_object() {
                    self.object(choice, last as u64, &call["args"])?;
                }
                if call["args"].is_string() {
                    self.input(choice, last as u64, &call["args"])?;
                }
            }
            let last = self.calls.last().filter(|last| last.choice == choice).ok_or(GiveUp)?;
            if call["partialArgs"].is_array() {
                let (number, member) = (last.number, &call["partialArgs"]);
                self.push(format!("member {choice} #{number} {{\"partialArgs\":{member}}}"));
            } else if full(&part["thoughtSignature"]).is_some() {
                let (number, member) = (last.number, &part["thoughtSignature"]);
                self.push(format!("member {choice} #{number} {{\"thoughtSignature\":{member}}}"));
            }
            if !self.continues {
                self.end_call(self.calls.len() - 1);
            }
        } else {
            let is_medium = !part["inlineData"].is_null() || !part["fileData"].is_null();
            let is_more = |name: &String| name != "thoughtSignature" && name != "thought";
            let is_text = !part["text"].is_null() && !is_medium;
            if !is_text && part.as_object().is_some_and(|part| part.keys().any(is_more)) {
                self.raw(choice, if is_medium { Kind::Media } else { Kind::Native }, place, part);
            }
        }
        self.signature(choice, place, &part["thoughtSignature"]);
        Ok(())
    }

    // -----------------------------------------------------------------------------------------------------------------
    // OpenAI Responses

    /// The number of the item that an event belongs to, by row C37 of the table of quirks.
    fn item_of(&mut self, event: &Value, class: &str, id: &str, begins: bool) -> Result<u64, GiveUp> {
        let is_item = event["item"].is_object() || class.is_empty();
        let index = index(&event["output_index"]);
        let fits = |item: &Item| item.class == class || item.class.is_empty() || class.is_empty();
        let is_there = |item: &Item| index.is_some() && item.index == index && fits(item);
        let by_id = |item: &Item| !id.is_empty() && item.id.as_deref() == Some(id);
        let own = if is_item && class == "call" { &event["item"]["call_id"] } else { &event["call_id"] };
        let own = full(own).filter(|_| class == "call" || !is_item).unwrap_or_default().to_string();
        let by_call = |item: &Item| !own.is_empty() && item.call == own;
        // The `call_id` may come as the ID of an item.
        let by_other = |item: &Item| !id.is_empty() && item.call == id;
        let is_text = class == "message" || class == "reasoning";
        let has_empty = ["id", "item_id", "call_id"].iter().any(|name| event["item"][*name] == "");
        let ends = !begins && event["item"].is_object() && (is_text || has_empty);
        let has = |item: &Item, is_summary: bool| {
            self.reported.range((item.number, is_summary, 0)..=(item.number, is_summary, u64::MAX)).next().is_some()
        };
        let last = |wanted: &dyn Fn(&Item) -> bool| {
            self.items.iter().filter(|item| wanted(item)).map(|item| item.number).max()
        };
        let found = if begins {
            let is_same = |item: &Item| match &item.id {
                None => index.is_some(),
                Some(own) if own.is_empty() => {
                    let is_empty = !has(item, false) && (!has(item, true) || item.class == "call");
                    let is_empty = is_empty && !self.voids.contains(&item.number);
                    index.is_some() && id.is_empty() && is_empty
                }
                Some(own) => own == id,
            };
            let is_over = |item: &Item| item.class == "call" && self.is_over(item);
            last(&|item| (index.is_none() || item.index == index) && fits(item) && is_same(item) && !is_over(item))
        } else {
            let may_be =
                |item: &Item| id.is_empty() || item.id.as_deref().is_none_or(|own| own.is_empty() || own == id);
            let there = last(&is_there);
            let is_another = |item: &Item| Some(item.number) == there && !own.is_empty() && item.call != own;
            let elsewhere = self.items.iter().any(is_another).then(|| last(&by_call)).flatten();
            // An event that ends a text, not an item.
            let ended = self.ending;
            let has_ended = |item: &Item| ended.is_some_and(|is_part| self.ends.contains(&(item.number, is_part)));
            let first_open = || {
                let open = self.items.iter().filter(|item| item.class == class && !self.is_over(item));
                open.filter(|item| !has_ended(item)).map(|item| item.number).min()
            };
            let is_nameless = (ends || ended.is_some()) && index.is_some() && id.is_empty() && own.is_empty();
            last(&|item| is_there(item) && by_id(item))
                .or(elsewhere)
                .or(there)
                .or_else(
                    || if is_nameless { first_open() } else { last(&by_id).or(last(&by_call)).or(last(&by_other)) },
                )
                .or(last(&|item| index.is_none() && fits(item) && may_be(item)))
        };
        let next = last(&|_| true).map_or(0, |number| number + 1);
        let is_free = |index: &u64| self.items.iter().all(|item| item.number != *index);
        let number = found.unwrap_or_else(|| index.filter(is_free).unwrap_or(next));
        if self.items.iter().all(|item| item.number != number) {
            self.items.push(Item { number, index, class: String::new(), id: None, call: String::new() });
        }
        let is_usual = index == Some(number);
        let item = self.items.iter_mut().find(|item| item.number == number).expect("it was pushed");
        if item.class.is_empty() {
            (item.class, item.index) = (class.to_string(), Some(index.unwrap_or(number)));
        }
        if item.id.is_none() && (is_item || !is_usual) {
            item.id = Some(id.to_string());
        }
        if item.call.is_empty() && (is_item || !is_usual) {
            item.call = own;
        }
        // The library tracks eight items at a time.
        (number < 8).then_some(number).ok_or(GiveUp)
    }

    /// The number of the item at a position of a whole response. `taken`: the items that those before it were.
    fn item_at(&self, position: u64, item: &Value, output: &Value, taken: &mut BTreeSet<u64>) -> u64 {
        let fits = |own: &Item, item: &Value| own.class == class(&item["type"]) || own.class.is_empty();
        let has_id = |own: &Item, item: &Value| own.id.as_deref().is_some_and(|id| !id.is_empty() && id == id_of(item));
        let has_call = |own: &Item, item: &Value| {
            class(&item["type"]) == "call" && full(&item["call_id"]).is_some_and(|call| call == own.call)
        };
        let by_id = |item: &Value| {
            let with_id = self.items.iter().filter(|own| has_id(own, item) && fits(own, item)).map(|own| own.number);
            with_id.max().or(self.items.iter().filter(|own| has_call(own, item)).map(|own| own.number).max())
        };
        let there = self.items.iter().find(|own| own.number == position);
        let claimed: BTreeSet<u64> = elements(output).filter_map(by_id).collect();
        let is_free = |own: &Item| !claimed.contains(&own.number) && !taken.contains(&own.number) && fits(own, item);
        let is_message = class(&item["type"]) == "message";
        let has_text = elements(&item["content"]).any(|part| full(&part["text"]).or(full(&part["refusal"])).is_some());
        let is_empty = is_message && !has_text;
        let next = self.items.iter().map(|own| own.number + 1).max().unwrap_or(0);
        // Without known IDs the order tells, if the events had all items from the first on, which may have the number 1, if
        // numbers cannot be positions.
        let has_ids = self.items.iter().any(|own| claimed.contains(&own.number) && own.class == class(&item["type"]));
        let is_shifted = self.items.iter().all(|own| own.number > 0) && next > elements(output).count() as u64;
        let are_all = self.items.len() as u64 + u64::from(is_shifted) == next && !has_ids;
        let was_reported = |item: &Item| {
            let is_message = item.class == "message";
            let mut parts = self.reported.iter();
            parts.any(|(own, is_summary, _)| *own == item.number && !(is_message && *is_summary))
                || self.voids.contains(&item.number)
        };
        let is_text = |item: &Value| {
            let parts = &item["content"];
            let has_text = elements(parts).any(|part| full(&part["text"]).or(full(&part["refusal"])).is_some());
            class(&item["type"]) == "message" && has_text
        };
        let own_class = class(&item["type"]);
        let is_unknown = |item: &&Value| by_id(item).is_none() && class(&item["type"]) == own_class;
        let unknown = elements(output).filter(is_unknown).filter(|item| !is_message || is_text(item)).count();
        let has_told = |own: &Item| match own_class.as_str() {
            "call" => self.reported.contains(&(own.number, false, 0)) || self.is_over(own),
            _ => was_reported(own),
        };
        let is_told = |own: &&Item| !claimed.contains(&own.number) && own.class == own_class && has_told(own);
        let told = self.items.iter().filter(is_told).count();
        let only_told = is_message && unknown <= told;
        // As many are left there as here.
        let are_equal = told == unknown && ["message", "reasoning", "call"].contains(&own_class.as_str());
        let free = || self.items.iter().filter(|own| (are_all || are_equal) && is_free(own));
        let first = free().filter(|own| !only_told || was_reported(own)).min_by_key(|own| own.number);
        let first = first.or(free().min_by_key(|own| own.number));
        let beside = position + next.max(1) + elements(output).count() as u64 - 1;
        let by_order = match first {
            Some(own) if !is_empty || !was_reported(own) => own.number,
            None if there.is_none_or(is_free) => position,
            _ => beside,
        };
        let is_there = there.is_some_and(|own| has_id(own, item) && fits(own, item));
        let number = if is_there { position } else { by_id(item).unwrap_or(by_order) };
        if self.items.iter().any(|own| own.number == number) {
            taken.insert(number);
        }
        number
    }

    /// More of a text, which begins anew if it was done.
    fn tell(&mut self, part: (u64, bool, u64), text: &str, is_more: bool) -> Done {
        // What follows of a text that lost its place is not all of it.
        let differs = is_more && self.has_dropped;
        let new = Told { part, text: String::new(), is_done: false, differs };
        let place = self.told.iter().position(|told| told.part == part).unwrap_or_else(|| {
            // The library remembers four.
            let mut order = (0..4).map(|at| (self.next_told + at) % 4);
            let is_done = |place: &usize| self.told.get(*place).is_none_or(|told| told.is_done);
            let done = order.find(is_done);
            self.has_dropped |= done.is_none();
            let place = done.unwrap_or(self.next_told);
            self.next_told = (place + 1) % 4;
            match self.told.get_mut(place) {
                Some(told) => *told = new,
                None => self.told.push(new),
            }
            place
        });
        if self.told[place].is_done {
            self.reopen(part);
        }
        self.told[place].text += text;
        Ok(())
    }

    fn reopen(&mut self, part: (u64, bool, u64)) {
        for told in self.told.iter_mut().filter(|told| told.part == part && told.is_done) {
            (told.is_done, told.differs) = (false, false);
            told.text.clear();
        }
    }

    fn is_done(&self, part: (u64, bool, u64)) -> bool {
        self.told.iter().any(|told| told.part == part && told.is_done)
    }

    /// A text is over. What of it is new, if it goes on where the deltas ended.
    fn over(&mut self, part: (u64, bool, u64), text: &str) -> Result<Option<String>, GiveUp> {
        let Some(told) = self.told.iter_mut().find(|told| told.part == part) else { return Ok(None) };
        told.is_done = true;
        if text.is_empty() || told.differs {
            return Ok(None);
        }
        if text.contains(is_half) || told.text.contains(is_half) {
            return Err(GiveUp);
        }
        let rest = text.strip_prefix(&told.text).map(str::to_string);
        match rest {
            None => told.differs = true,
            Some(_) => told.text = text.to_string(),
        }
        Ok(rest.filter(|rest| !rest.is_empty()))
    }

    /// The part that is at a place among so many of a whole item, by row C38 of the table of quirks.
    fn told_at(&self, (item, is_summary, place): (u64, bool, u64), count: u64) -> Option<u64> {
        let of_item = self.told.iter().filter(|told| (told.part.0, told.part.1) == (item, is_summary));
        let parts: BTreeSet<u64> = of_item.map(|told| told.part.2).collect();
        if parts.iter().all(|part| *part < count) {
            return parts.get(&place).copied();
        }
        (parts.len() as u64 == count).then(|| parts.into_iter().nth(place as usize)).flatten()
    }

    fn responses(&mut self, kind: &str, event: &Value) -> Done {
        let index = number(&event["output_index"]);
        let is_body = !kind.starts_with("response.") && !event["status"].is_null() && event["output"].is_array();
        if !is_body && !kind.starts_with("response.") {
            return Ok(());
        }
        let own = kind.strip_prefix("response.").unwrap_or_default();
        let ended = ["completed", "incomplete", "failed", "cancelled", "done"].into_iter().find(|word| *word == own);
        let response = match &event["response"] {
            _ if is_body => event,
            response if response.is_object() => response,
            _ if ended.is_some() => event,
            _ => &Value::Null,
        };
        let is_under_way = ["response.queued", "response.in_progress"].contains(&kind);
        if kind == "response.created" || is_under_way && self.ended {
            self.begin_response();
        }
        if response.is_object() {
            let is_answer =
                !is_body || !["queued", "in_progress"].contains(&event["status"].as_str().unwrap_or_default());
            if is_answer && (is_body || ended.is_some()) {
                let by_type = event["type"].as_str().and_then(|kind| kind.strip_prefix("response."));
                self.response(response, ended, by_type)?;
            }
            return Ok(());
        }
        let Some(kind) = kind.strip_prefix("response.") else { return Ok(()) };
        let has_words = has_unknown_text(event, &[])
            || ["delta", "part", "item"].iter().any(|name| has_unknown_text(&event[*name], &[]));
        let Some((about, step)) = kind.rsplit_once('.') else {
            if has_words {
                self.raw(0, Kind::Native, index << 32, event);
            }
            return Ok(());
        };
        let (part, summary) = (number(&event["content_index"]), number(&event["summary_index"]));
        if index >= 8 || part >= 7 || summary >= 7 {
            return Err(GiveUp);
        }
        let is_delta = step == "delta";
        let (kind, is_summary, name) = match (about, step) {
            ("output_text", "delta") | ("refusal", "delta") | ("reasoning_text" | "reasoning", "delta") => {
                (content(about), false, "delta")
            }
            ("output_text", "done") | ("refusal", "done") | ("reasoning_text" | "reasoning", "done") => {
                (content(about), false, if about == "refusal" { "refusal" } else { "text" })
            }
            ("content_part", "delta") => (Some(Kind::Content), false, "delta"),
            ("reasoning_part", "done") => (Some(Kind::Reasoning), false, "text"),
            ("content_part", "done") => {
                let kind = content(event["part"]["type"].as_str().unwrap_or_default());
                (kind, false, if kind == Some(Kind::Refusal) { "refusal" } else { "text" })
            }
            ("reasoning_summary_text" | "reasoning_summary", "delta") => (Some(Kind::Reasoning), true, "delta"),
            ("reasoning_summary_text" | "reasoning_summary_part" | "reasoning_summary", "done") => {
                (Some(Kind::Reasoning), true, "text")
            }
            ("function_call_arguments" | "custom_tool_call_input", "delta") => {
                (Some(Kind::ToolArguments), false, "delta")
            }
            ("function_call_arguments", "done") => (Some(Kind::ToolArguments), false, "arguments"),
            ("custom_tool_call_input", "done") => (Some(Kind::ToolArguments), false, "input"),
            ("content_part" | "reasoning_part" | "reasoning_summary_part", "added") => {
                let is_summary = about == "reasoning_summary_part";
                let class = if is_summary { "reasoning" } else { "" };
                let (items, id) = (self.items.len(), event["item_id"].as_str().unwrap_or(""));
                let before = self.items.iter().map(|item| (item.class.clone(), item.id.clone())).collect::<Vec<_>>();
                let index = self.item_of(event, class, id, false)?;
                // Such an event says nothing of its item.
                self.items.truncate(items);
                for (item, (class, id)) in self.items.iter_mut().zip(before) {
                    (item.class, item.id) = (class, id);
                }
                self.reopen((index, is_summary, if is_summary { summary } else { part }));
                return Ok(());
            }
            ("output_text.annotation", "added") => {
                let index = self.item_of(event, "", event["item_id"].as_str().unwrap_or(""), false)?;
                self.annotated.insert(index);
                if !event["annotation"].is_null() {
                    self.raw(0, Kind::Annotation, index << 32 | part, &event["annotation"]);
                }
                return Ok(());
            }
            ("output_item", "added" | "done") if event["item"].is_object() => {
                let item = &event["item"];
                let index = self.item_of(event, &class(&item["type"]), id_of(item), step == "added")?;
                return self.item(index, item, step == "done");
            }
            (
                "audio" | "output_audio" | "audio.transcript" | "audio_transcript" | "output_audio_transcript",
                "delta",
            ) => {
                if full(&event["delta"]).is_some() {
                    self.choice(0);
                    self.push(format!("Audio 0 {event}"));
                }
                return Ok(());
            }
            _ => {
                let pieces = [
                    "shell_call_command.delta",
                    "shell_call_output_content.delta",
                    "mcp_call_arguments.delta",
                    "code_interpreter_call_code.delta",
                    "apply_patch_call_operation_diff.delta",
                    "image_generation_call.partial_image",
                ];
                let is_silent = ["added", "done"].contains(&step)
                    && ["output_item", "content_part", "reasoning_part", "reasoning_summary_part"].contains(&about);
                let is_audio =
                    ["audio", "output_audio", "audio.transcript", "audio_transcript", "output_audio_transcript"];
                let is_of_pieces = is_audio.contains(&about)
                    || pieces.iter().any(|piece| piece.rsplit_once('.').is_some_and(|(of, _)| of == about));
                if !is_silent && (pieces.contains(&own) || has_words && !is_of_pieces) {
                    self.raw(0, Kind::Native, index << 32, event);
                }
                return Ok(());
            }
        };
        let own = Some(&event[name]).filter(|own| !own.is_null()).unwrap_or(&event["part"][name]);
        let is_unknown = (own.is_null() || *own == "") && has_unknown_text(event, &[name]);
        let sent = index;
        let Some(mut kind) = kind else {
            if is_unknown {
                self.raw(0, Kind::Native, sent << 32, event);
            }
            return Ok(());
        };
        let is_call = kind == Kind::ToolArguments;
        let class = match kind {
            Kind::Content | Kind::Refusal => "message",
            Kind::Reasoning => "reasoning",
            _ => "call",
        };
        let known: BTreeSet<u64> =
            self.items.iter().filter(|item| item.class == "reasoning").map(|item| item.number).collect();
        self.ending = (!is_delta).then_some(about == "content_part" || about == "reasoning_part");
        let index = self.item_of(event, class, event["item_id"].as_str().unwrap_or(""), false);
        self.ending = None;
        let index = index?;
        if kind == Kind::Content && known.contains(&index) {
            kind = Kind::Reasoning;
        }
        let part_of = (
            index,
            is_summary,
            if is_call {
                0
            } else if is_summary {
                summary
            } else {
                part
            },
        );
        self.text_event(event, (about, name), (kind, own), (part_of, is_unknown.then_some(sent)))?;
        if !is_delta && is_call {
            self.ends.insert((index, false));
        }
        let logprobs = Some(&event["logprobs"]).filter(|list| !list.is_null()).unwrap_or(&event["part"]["logprobs"]);
        if kind == Kind::Content && elements(logprobs).next().is_some() {
            // The second summary of a message stands for them.
            if self.reported.insert((index, true, 1)) || is_delta {
                self.choice(0);
                self.push(format!("Logprobs 0 {logprobs}"));
            }
        }
        if !is_delta && !is_call && !is_unknown {
            self.end_text(0, index << 32 | part_of.2);
        }
        Ok(())
    }

    /// An event with a text of a part, which is `own`. `unknown`: the index of one that has a text that nobody documents.
    fn text_event(
        &mut self,
        event: &Value,
        (about, name): (&str, &str),
        (kind, own): (Kind, &Value),
        (own_part, unknown): ((u64, bool, u64), Option<u64>),
    ) -> Done {
        let (is_call, is_delta) = (kind == Kind::ToolArguments, name == "delta");
        let (index, is_summary, place) = own_part;
        let is_object = is_call && own.as_object().is_some_and(|members| !members.is_empty());
        let text = full(own).unwrap_or_default();
        if text.is_empty() && !is_object || is_call && is_delta && self.began_whole.contains(&index) {
            if !is_delta {
                self.over(own_part, "")?;
            }
            if let Some(sent) = unknown {
                self.raw(0, Kind::Native, sent << 32, event);
            }
            return Ok(());
        }
        if is_delta && is_call && self.is_done(own_part) {
            return Ok(());
        }
        let is_text_that_ends = !is_delta && !is_call && !is_summary;
        if is_text_that_ends && self.ends.insert((index, about.ends_with("_part"))) {
            // The first that ends is the one whose deltas came, even if under another index.
            let had_deltas = self.reported.iter().any(|(own, is_summary, _)| (*own, *is_summary) == (index, false));
            if had_deltas && kind != Kind::Refusal && !self.reported.contains(&own_part) {
                let of_item = self.told.iter_mut().filter(|told| (told.part.0, told.part.1) == (index, false));
                of_item.for_each(|told| told.differs = true);
                return Ok(());
            }
        }
        let mut text = text.to_string();
        if is_object && self.told.iter().any(|told| told.part == own_part) {
            return Err(GiveUp);
        }
        let is_more = !self.reported.insert(own_part);
        if is_more && !is_delta {
            match self.over(own_part, &text)? {
                Some(rest) => text = rest,
                None => return Ok(()),
            }
        } else {
            let all = if is_object { own.to_string() } else { text.clone() };
            self.tell(own_part, &all, is_more)?;
            if !is_delta {
                self.over(own_part, "")?;
            }
        }
        let text = text.as_str();
        if is_object {
            return self.object(0, index, own);
        }
        if is_call {
            return self.arguments(0, index, text);
        }
        self.text(0, kind, is_summary.into(), index << 32 | place, &Value::from(text));
        Ok(())
    }

    /// The response is over.
    fn response(&mut self, response: &Value, ended: Option<&str>, by_type: Option<&str>) -> Done {
        if elements(&response["output"]).count() > 8 {
            return Err(GiveUp);
        }
        if !self.ended {
            let mut taken = BTreeSet::new();
            let numbers: Vec<_> = (0..)
                .zip(elements(&response["output"]))
                .map(|(at, item)| self.item_at(at, item, &response["output"], &mut taken))
                .collect();
            if numbers.iter().any(|number| *number >= 8) {
                return Err(GiveUp);
            }
            for (number, item) in numbers.into_iter().zip(elements(&response["output"])) {
                self.item(number, item, true)?;
                // Nothing of it comes again.
                for place in 0..8 {
                    self.reported.extend([(number, false, place), (number, true, place)]);
                }
                if self.items.iter().all(|own| own.number != number) {
                    self.items.push(Item {
                        number,
                        index: Some(number),
                        class: String::new(),
                        id: None,
                        call: String::new(),
                    });
                }
                let own = self.items.iter_mut().find(|own| own.number == number).expect("it was pushed");
                if own.class.is_empty() {
                    own.class = class(&item["type"]);
                }
                own.id.get_or_insert_with(|| id_of(item).to_string());
                if own.call.is_empty() && own.class == "call" {
                    own.call = full(&item["call_id"]).unwrap_or_default().to_string();
                }
            }
            let reason = response["incomplete_details"]["reason"].as_str().unwrap_or_default().to_string();
            let word = full(&response["status"]).map(str::to_string).or(by_type.map(str::to_string));
            let word = word.map_or(Value::Null, Value::from);
            self.finish(0, &word, &|word, called| responses_word(word, &reason, called), false);
        }
        let status = full(&response["status"]).or(ended).unwrap_or_default();
        self.ended |= ["completed", "incomplete", "requires_action", "done"].contains(&status);
        self.usage(&response["usage"]);
        if response["error"].is_object() && !self.failed {
            self.push("error".to_string());
        }
        self.failed |= response["error"].is_object() || status == "failed" || status == "cancelled";
        Ok(())
    }

    /// Whether an event ended the item. The arguments of a call may still come then.
    fn is_over(&self, item: &Item) -> bool {
        let first = (item.class == "call").into();
        (first..8).all(|place| self.reported.contains(&(item.number, false, place)))
    }

    fn item(&mut self, index: u64, item: &Value, is_whole: bool) -> Done {
        let kind = item["type"].as_str().unwrap_or_default();
        let arguments = (index, false, 0);
        if kind == "function_call" || kind == "custom_tool_call" {
            self.called.insert(0);
            let input = ["arguments", "input"].iter().map(|name| &item[*name]).find(|input| !input.is_null());
            let is_place = |input: &Value| !is_whole && input == "{}";
            let mut rest = None;
            if let Some(input) = input.filter(|_| is_whole && self.reported.contains(&arguments)) {
                if has_members(input) && self.told.iter().any(|told| told.part == arguments) {
                    return Err(GiveUp);
                }
                rest = self.over(arguments, full(input).unwrap_or_default())?;
            }
            let input = input.filter(|input| !self.reported.contains(&arguments) && !is_place(input));
            let has_name = full(&item["name"]).is_some() && !self.reported.contains(&(index, true, 1));
            if !self.reported.contains(&(index, true, 0)) {
                let id = if full(&item["call_id"]).is_some() { &item["call_id"] } else { &item["id"] };
                self.open(0, index, id, &item["name"], kind == "custom_tool_call")?;
            } else if has_name {
                let call = self.calls.iter().find(|call| call.choice == 0 && call.index == index).ok_or(GiveUp)?;
                let name = full(&item["name"]).expect("as above");
                self.push(format!("name 0 #{} {}", call.number, quoted(&alone(name))));
            }
            if has_name {
                self.reported.insert((index, true, 1));
            }
            if let Some(rest) = rest {
                self.arguments(0, index, &rest)?;
            }
            if let Some(input) = input.filter(|input| full(input).is_some() || is_whole && has_members(input)) {
                self.tell(arguments, full(input).map_or_else(|| input.to_string(), str::to_string).as_str(), false)?;
            }
            match input {
                Some(Value::String(text)) if !text.is_empty() => self.arguments(0, index, text)?,
                Some(object @ Value::Object(members)) if is_whole && !members.is_empty() => {
                    self.object(0, index, object)?;
                }
                _ => {}
            }
            if let Some(text) = input.and_then(full) {
                self.reported.insert(arguments);
                if kind == "function_call" && !is_whole && is_whole_object(text)? {
                    self.began_whole.insert(index);
                }
            }
            if is_whole {
                self.end_of_index(0, index);
                self.began_whole.remove(&index);
            }
            self.reported.insert((index, true, 0));
        } else if kind == "message" || kind == "reasoning" {
            self.role(0, &item["role"]);
            let has_all =
                (0..8).all(|place| [true, false].iter().all(|is| self.reported.contains(&(index, *is, place))));
            let is_annotated = has_all || self.annotated.contains(&index);
            let mut rests = BTreeMap::new();
            for (name, is_summary) in [("summary", true), ("content", false)].into_iter().filter(|_| is_whole) {
                let count = elements(&item[name]).count() as u64;
                for (place, part) in (0..).zip(elements(&item[name])) {
                    let Some(kind) = content(part["type"].as_str().unwrap_or_default()) else { continue };
                    let text = full(if kind == Kind::Refusal { &part["refusal"] } else { &part["text"] });
                    let own = self.told_at((index, is_summary, place), count);
                    if let (Some(text), Some(own)) = (text, own) {
                        if let Some(rest) = self.over((index, is_summary, own), text)? {
                            rests.insert((is_summary, place), (own, Value::from(rest)));
                        }
                    }
                }
            }
            if !is_whole {
                let parts: Vec<_> = self.told.iter().map(|told| told.part).filter(|part| part.0 == index).collect();
                parts.into_iter().for_each(|part| self.reopen(part));
            }
            for (name, is_summary) in [("summary", true), ("content", false)].into_iter().filter(|_| is_whole) {
                let known = self.reported.iter().filter(|(own, is, _)| (*own, *is) == (index, is_summary)).count();
                // Their positions need not be the indexes that they were reported by.
                // What came as a summary may be content here.
                let was_summary = item["type"] == "reasoning"
                    && elements(&item["summary"]).next().is_none()
                    && self.reported.iter().any(|(own, is, _)| (*own, *is) == (index, true));
                let is_repeated = was_summary && !is_summary;
                let has_more = elements(&item[name]).count() > known && !is_repeated;
                let has_rest = rests.keys().any(|(own, _)| *own == is_summary) && !is_repeated;
                if !has_more && !has_rest && (is_summary || is_annotated) {
                    continue;
                }
                let had = self.reported.clone();
                let mut annotations = Vec::new();
                for (place, part) in (0..).zip(elements(&item[name])) {
                    if place >= 7 {
                        return Err(GiveUp);
                    }
                    if !is_summary
                        && elements(&part["annotations"]).count() > 0
                        && !(is_annotated && (full(&part["text"]).is_none() || had.contains(&(index, false, place))))
                    {
                        annotations.push((index << 32 | place, &part["annotations"]));
                    }
                    let Some(kind) = content(part["type"].as_str().unwrap_or_default()) else { continue };
                    let text = if kind == Kind::Refusal { &part["refusal"] } else { &part["text"] };
                    let in_thoughts = item["type"] == "reasoning" && kind == Kind::Content;
                    let kind = if in_thoughts { Kind::Reasoning } else { kind };
                    let logprobs = &part["logprobs"];
                    let is_new = kind == Kind::Content && !had.contains(&(index, true, 1));
                    let has_logprobs = is_new && elements(logprobs).next().is_some();
                    if let Some((own, rest)) = rests.get(&(is_summary, place)).filter(|_| has_rest) {
                        self.text(0, kind, is_summary.into(), index << 32 | own, rest);
                    } else if has_more && !had.contains(&(index, is_summary, place)) {
                        self.text(0, kind, is_summary.into(), index << 32 | place, text);
                    }
                    if has_logprobs && (has_more || has_rest) {
                        self.push(format!("Logprobs 0 {logprobs}"));
                    }
                }
                for (slot, annotations) in annotations {
                    self.raw(0, Kind::Annotation, slot, annotations);
                }
            }
            if is_whole && !has_all {
                self.signature(0, index << 32, &item["encrypted_content"]);
            }
        } else if is_whole && item.is_object() && !self.reported.contains(&arguments) {
            self.raw(0, Kind::Native, index << 32, item);
        }
        let has_text =
            |list| elements(&item[list]).any(|part| full(&part["text"]).or(full(&part["refusal"])).is_some());
        let has_none = |summary| !self.reported.iter().any(|(own, is, _)| (*own, *is) == (index, summary));
        let is_void = match kind {
            "message" => has_none(false) && !has_text("content"),
            "reasoning" => {
                let is_new = has_none(false) && has_none(true) && full(&item["encrypted_content"]).is_none();
                is_new && !has_text("content") && !has_text("summary")
            }
            "function_call" | "custom_tool_call" => !self.reported.contains(&arguments),
            _ => false,
        };
        if is_whole {
            self.told.iter_mut().filter(|told| told.part.0 == index).for_each(|told| told.is_done = true);
        }
        if is_whole && is_void && kind == "reasoning" {
            self.voids.insert(index);
        } else if is_whole && is_void {
            self.reported.extend((0..8).map(|place| (index, true, place)));
        }
        if is_whole && is_void && class(&item["type"]) == "call" {
            self.reported.extend((1..8).map(|place| (index, false, place)));
        }
        if is_whole && !is_void {
            for place in 0..8 {
                self.reported.extend([(index, false, place), (index, true, place)]);
            }
        }
        Ok(())
    }
}

/// Whether an object has a text that nobody documents, maybe in a list of content parts.
fn has_unknown_text(value: &Value, known: &[&str]) -> bool {
    const ABOUT: &str = "type id event object status state name role model phase channel part created_at stop_reason \
        signature thought_signature reasoning_opaque encrypted_content obfuscation";
    let says = |name: &str, known: &[&str]| {
        !ABOUT.split(' ').any(|about| about == name) && !name.ends_with("_id") && !known.contains(&name)
    };
    let has = |part: &Value| {
        let mut members = part.as_object().into_iter().flatten();
        members.any(|(name, value)| full(value).is_some() && says(name, &[]))
    };
    let mut members = value.as_object().into_iter().flatten();
    members.any(|(name, value)| {
        let in_list = || name.starts_with("content") && elements(value).any(has);
        says(name, known) && (full(value).is_some() || in_list())
    })
}

/// What of an event of Anthropic is a text that nobody documents, if nothing else of it says anything.
fn unknown_of_anthropic<'v>(kind: &str, event: &'v Value) -> Option<&'v Value> {
    let says_nothing = |value: &Value| value.is_null() || [json!(""), json!({}), json!([])].contains(value);
    let is_unknown = |value: &Value, known: &[&str]| {
        value.is_object() && known.iter().all(|name| says_nothing(&value[*name])) && has_unknown_text(value, known)
    };
    let inside = ["delta", "content_block"].map(|name| &event[name]);
    let narrowest = inside.into_iter().find(|inner| is_unknown(inner, &[])).unwrap_or(event);
    let by_event = has_unknown_text(event, &[]);
    match kind {
        "content_block_start" => {
            let block = &event["content_block"];
            let is_own = block["type"] == "text" || block["type"] == "thinking";
            let known = ["text", "thinking", "signature", "citations"];
            let has = if block.is_null() { by_event } else { is_own && is_unknown(block, &known) };
            has.then_some(narrowest)
        }
        "content_block_delta" => {
            let delta = &event["delta"];
            let known = match delta["type"].as_str().unwrap_or_default() {
                "text_delta" => "text",
                "thinking_delta" => "thinking",
                "input_json_delta" => "partial_json",
                "signature_delta" => "signature",
                "citations_delta" => "citation",
                "compaction_delta" => "content",
                _ => "",
            };
            let has = if delta.is_null() { by_event } else { is_unknown(delta, &[known]) };
            has.then_some(narrowest)
        }
        "content_block_stop" | "message_start" | "message_delta" | "message_stop" => None,
        _ if kind.starts_with("content_block_") || kind.starts_with("message_") => {
            (by_event || inside.iter().any(|inner| is_unknown(inner, &[]))).then_some(narrowest)
        }
        _ => None,
    }
}

/// The class of an output item of this type.
fn class(kind: &Value) -> String {
    match kind.as_str() {
        Some("message") => "message",
        Some("reasoning") => "reasoning",
        Some("function_call" | "custom_tool_call") => "call",
        _ => "other",
    }
    .to_string()
}

fn id_of(item: &Value) -> &str {
    full(&item["id"]).or(full(&item["item_id"])).or(full(&item["call_id"])).unwrap_or("")
}

/// The kind of a part of this type.
fn content(kind: &str) -> Option<Kind> {
    match kind {
        "output_text" | "text" => Some(Kind::Content),
        "refusal" => Some(Kind::Refusal),
        "reasoning_text" | "summary_text" | "reasoning" => Some(Kind::Reasoning),
        _ => None,
    }
}

fn responses_word(word: &str, reason: &str, called: bool) -> FinishKind {
    word_of(if word == "incomplete" { reason } else { word }, called)
}

/// `called`: a tool of the client was called, so that an ordinary end means that.
fn word_of(word: &str, called: bool) -> FinishKind {
    let table: BTreeMap<&str, FinishKind> = [
        (
            FinishKind::Stop,
            &[
                "stop",
                "end_turn",
                "stop_sequence",
                "pause_turn",
                "compaction",
                "steered",
                "completed",
                "STOP",
                "COMPLETE",
                "STOP_SEQUENCE",
            ][..],
        ),
        (FinishKind::ToolCalls, &["tool_calls", "tool_use", "TOOL_CALL", "requires_action"]),
        (
            FinishKind::Length,
            &[
                "length",
                "max_tokens",
                "model_context_window_exceeded",
                "MAX_TOKENS",
                "LENGTH",
                "max_output_tokens",
                "CONTINUATION",
                "max_messages",
            ],
        ),
        (
            FinishKind::Error,
            &[
                "error",
                "failed",
                "cancelled",
                "MALFORMED_FUNCTION_CALL",
                "MALFORMED_RESPONSE",
                "MISSING_THOUGHT_SIGNATURE",
                "UNEXPECTED_TOOL_CALL",
                "TOO_MANY_TOOL_CALLS",
                "ERROR",
                "TIMEOUT",
            ],
        ),
        (
            FinishKind::ContentFilter,
            &[
                "content_filter",
                "refusal",
                "guardrail_intervened",
                "content_filtered",
                "SAFETY",
                "RECITATION",
                "BLOCKLIST",
                "PROHIBITED_CONTENT",
                "SPII",
                "MODEL_ARMOR",
                "IMAGE_SAFETY",
                "IMAGE_PROHIBITED_CONTENT",
                "IMAGE_RECITATION",
                "ESCALATION",
                "PUP_LIMITED_DISABLED",
            ],
        ),
    ]
    .into_iter()
    .flat_map(|(kind, words)| words.iter().map(move |word| (*word, kind)))
    .collect();
    if called && ["stop", "STOP", "completed"].contains(&word) {
        return FinishKind::ToolCalls;
    }
    table.get(word).copied().unwrap_or(FinishKind::Other)
}

/// Whether a text is an object with members.
fn is_whole_object(text: &str) -> Result<bool, GiveUp> {
    let text = text.trim_start();
    match serde_json::Deserializer::from_str(text).into_iter::<Value>().next() {
        Some(Ok(value)) => Ok(value.as_object().is_some_and(|members| !members.is_empty())),
        // It may be balanced all the same.
        Some(Err(fault)) if !fault.is_eof() && text.starts_with('{') => Err(GiveUp),
        _ => Ok(false),
    }
}

/// Whether no string or bracket is open, none closed that never opened, and the text begins a value, or is blank.
pub fn is_balanced(text: &str) -> bool {
    let text = text.trim_matches([' ', '\t', '\r', '\n']);
    let Some(first) = text.chars().next() else { return true };
    let (mut depth, mut in_string, mut escaped) = (0, false, false);
    for char in text.chars() {
        match char {
            _ if escaped => escaped = false,
            '\\' if in_string => escaped = true,
            '"' => in_string = !in_string,
            '{' | '[' if !in_string => depth += 1,
            '}' | ']' if !in_string && depth == 0 => return false,
            '}' | ']' if !in_string => depth -= 1,
            _ => {}
        }
    }
    "-0123456789tfn{[\"".contains(first) && depth == 0 && !in_string
}

/// Whether a part of Gemini is a call. Beside a text an empty object is none.
fn is_call(part: &Value) -> bool {
    part["functionCall"].is_object() && (part["text"].is_null() || has_members(&part["functionCall"]))
}

/// Whether a value is an object with members.
fn has_members(value: &Value) -> bool {
    value.as_object().is_some_and(|members| !members.is_empty())
}

/// A string that is not empty.
fn full(value: &Value) -> Option<&str> {
    value.as_str().filter(|text| !text.is_empty())
}

fn elements(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn number(value: &Value) -> u64 {
    index(value).unwrap_or(0)
}

/// A number, maybe in a string.
fn index(value: &Value) -> Option<u64> {
    let digits =
        value.as_str().filter(|text| (1..=9).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit()));
    value.as_u64().or_else(|| digits?.parse().ok())
}

/// The index of a candidate: without one its place, if those before it have none.
fn choice_of(candidate: &Value, next: &mut u64) -> Result<u32, GiveUp> {
    let own = &candidate["index"];
    let index = if own.is_null() { *next } else { number(own) };
    *next = if index == *next { index.saturating_add(1) } else { 0 };
    u32::try_from(index).ok().filter(|index| *index < 63).ok_or(GiveUp)
}

/// Whether numbers are small integers, which every reader takes for the same.
fn is_plain(value: &Value) -> bool {
    match value {
        Value::Number(number) => number.as_u64().is_some_and(|number| number < 1 << 30),
        Value::Array(values) => values.iter().all(is_plain),
        Value::Object(members) => members.values().all(is_plain),
        _ => true,
    }
}

/// Compares the library's lines with the naive reader's, if that can read the stream. With and without remembered shapes.
pub fn compare(config: Config, bytes: &[u8], cuts: &[usize], room: usize, context: &dyn Fn() -> String) -> bool {
    let Some(expected) = Naive::read(bytes) else { return false };
    for (slots, got) in [(0, lines::<0>(config, bytes, &[], 64)), (2, lines::<2>(config, bytes, cuts, room))] {
        if got != expected {
            let at = got.iter().zip(&expected).take_while(|(got, expected)| got == expected).count();
            let from = at.saturating_sub(3);
            let near = |lines: &[String]| lines[from..lines.len().min(at + 3)].join("\n  ");
            let (got, expected) = (near(&got), near(&expected));
            panic!("{slots} slots, line {at}\n got\n  {got}\n expected\n  {expected}\n {}", context());
        }
    }
    true
}
