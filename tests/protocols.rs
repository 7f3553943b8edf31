//! Streams of other protocols than chat completions: recordings against their goldens, and generated streams and fixtures against
//! a naive reader on serde_json.

#![cfg(all(feature = "serde", feature = "dialects"))]
#![allow(missing_docs, clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, clippy::expect_used)]

use deltawire::chat::{TokenCounts, Usage};
use deltawire::delta::{FinishKind, Kind, FLAG_MORE};
use deltawire::message::{Assembler, Detail, LogError, MessageLog};
use deltawire::stream::{
    Emitter, Machine, Observer, Outcome, Payload, Protocol, Record, Records, FLAG_AUX_SCRATCH, FLAG_TEXT_SCRATCH,
};
use deltawire::track::Tracker;
use deltawire::{Config, End, Event, Flow, Growing, Limits, Parser, Quirk, Update, Verdict};
use serde_json::{json, Map, Value};
use std::path::PathBuf;

// ---------------------------------------------------------------------------------------------------------------------
// Ways to read

struct Read {
    message: Value,
    end: End,
    /// Of the parser and of the assembler.
    quirks: Vec<Quirk>,
}

fn config(dialect: Option<Protocol>) -> Config {
    Config::new().with_dialect(dialect)
}

fn pull(bytes: &[u8], sizes: &[usize], dialect: Option<Protocol>) -> Read {
    pull_with(bytes, sizes, config(dialect))
}

fn pull_with(bytes: &[u8], sizes: &[usize], config: Config) -> Read {
    let mut parser: Parser<Growing, 2, ()> = Parser::with_tracker(Growing::new(), config, ());
    let mut assembler = Assembler::new();
    for mut piece in pieces(bytes, sizes) {
        while let Some(event) = parser.next(&mut piece).unwrap() {
            assembler.add(&event).unwrap();
        }
    }
    while let Some(event) = parser.finish().unwrap() {
        assembler.add(&event).unwrap();
    }
    assembler.finish().unwrap();
    let all = Quirk::ALL.iter().copied();
    let quirks = all.filter(|quirk| parser.quirk_count(*quirk) > 0 || assembler.quirk_count(*quirk) > 0).collect();
    let message: Value = serde_json::from_slice(&assembler.json(Detail::Standard).unwrap()).unwrap();
    let serialized = serde_json::to_value(assembler.message().unwrap()).unwrap();
    assert_eq!(serialized, message, "Serialize and Assembler::json");
    Read { message, end: parser.end(), quirks }
}

fn pieces<'b>(bytes: &'b [u8], sizes: &[usize]) -> Vec<&'b [u8]> {
    let (mut rest, mut pieces) = (bytes, Vec::new());
    for size in sizes.iter().cycle() {
        if rest.is_empty() {
            break;
        }
        let (piece, behind) = rest.split_at((*size).min(rest.len()));
        pieces.push(piece);
        rest = behind;
    }
    pieces
}

fn push(bytes: &[u8], size: usize) -> Value {
    push_with(bytes, size, Config::default())
}

fn push_with(bytes: &[u8], size: usize, config: Config) -> Value {
    let mut parser: Parser<Growing, 2, Tracker<64, 64>> = Parser::with_tracker(Growing::new(), config, Tracker::new());
    let mut assembler = Assembler::new();
    for piece in bytes.chunks(size) {
        let fed = parser.feed(piece, &mut assembler);
        assert_eq!((fed.consumed, fed.stop), (piece.len(), None));
    }
    while parser.finish_into(&mut assembler).is_err() {}
    serde_json::from_slice(&assembler.json(Detail::Standard).unwrap()).unwrap()
}

/// Records of a batch, `room` at a time, put in a log.
fn batch(bytes: &[u8], size: usize, room: usize) -> Value {
    batch_with(bytes, size, room, Config::default())
}

fn batch_with(bytes: &[u8], size: usize, room: usize, config: Config) -> Value {
    let (mut machine, mut emitter) = (Machine::new(config), Emitter::new());
    let mut tracker = Tracker::<64, 64>::new();
    let (mut log, mut buffer): (MessageLog<64, 64>, _) = (MessageLog::new(), Vec::new());
    let mut memory = vec![0; bytes.len() + 4096];
    let mut joined: Vec<u8> = Vec::new();
    let (mut array, mut scratch) = (vec![Record::default(); room], vec![0; 256 + 48 * room]);
    let mut take = |records: &[Record], input: &[u8], scratch: &[u8]| {
        for record in records {
            let of = |off: u32, len: u32, flag: u16| {
                let from = if record.flags & flag != 0 { scratch } else { input };
                from[off as usize..][..len as usize].to_vec()
            };
            let text = of(record.text_off, record.text_len, FLAG_TEXT_SCRATCH);
            let aux = of(record.aux_off, record.aux_len, FLAG_AUX_SCRATCH);
            let kind = Kind::from_number(record.kind.into()).unwrap();
            let mut text = text;
            if !deltawire::message::appends_pieces(kind) {
                joined.extend(&text);
                if record.flags & FLAG_MORE != 0 {
                    continue;
                }
                text = std::mem::take(&mut joined);
            }
            loop {
                match log.put_record(&mut buffer, record, &text, &aux) {
                    Err(LogError::NeedStorage { need }) => buffer.resize(need, 0),
                    done => break done.unwrap(),
                }
            }
        }
    };
    for piece in bytes.chunks(size) {
        let mut rest = piece;
        loop {
            let mut records = Records::new(&mut array, &mut scratch, Kind::MESSAGE);
            let (spent, outcome) = emitter.run(&mut machine, &mut &mut memory[..], &mut tracker, rest, 0, &mut records);
            let (written, need) = (records.written(), records.need());
            take(&array[..written], rest, &scratch);
            rest = &rest[spent..];
            if need > scratch.len() {
                scratch.resize(need, 0);
            }
            match outcome {
                Outcome::Done if rest.is_empty() => break,
                Outcome::Done | Outcome::Full => {}
                other => panic!("{other:?}"),
            }
        }
    }
    loop {
        let mut records = Records::new(&mut array, &mut scratch, Kind::MESSAGE);
        let outcome = emitter.finish(&mut machine, &mut &mut memory[..], &mut tracker, &mut records);
        let written = records.written();
        take(&array[..written], b"", &scratch);
        if outcome == Outcome::Done {
            break;
        }
    }
    let mut json = vec![0; log.json(&buffer, Detail::Standard, &mut [])];
    log.json(&buffer, Detail::Standard, &mut json);
    serde_json::from_slice(&json).unwrap()
}

/// Reads in every way; each must report the same.
fn read(bytes: &[u8], name: &str) -> Read {
    let whole = pull(bytes, &[bytes.len().max(1)], None);
    for size in [1, 7, 1448] {
        let cut = pull(bytes, &[size], None);
        assert_eq!(cut.message, whole.message, "{name} in reads of {size}");
        assert_eq!((cut.end, &cut.quirks), (whole.end, &whole.quirks), "{name} in reads of {size}");
    }
    for size in [31, 1448, bytes.len().max(1)] {
        assert_eq!(push(bytes, size), whole.message, "{name}, pushed in reads of {size}");
        assert_eq!(batch(bytes, size, 64), whole.message, "{name}, batch in reads of {size}");
        assert_eq!(batch(bytes, size, 1), whole.message, "{name}, batch of one in reads of {size}");
    }
    whole
}

// ---------------------------------------------------------------------------------------------------------------------
// What a golden has, and the naive reader makes

/// `{texts, reasoning, refusals, tool_calls, finish, usage, error}`, texts joined.
fn facts_of_golden(golden: &Value) -> Value {
    let joined =
        |name: &str| golden[name].as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect::<String>();
    let calls = golden["tool_calls"].as_array().unwrap().iter().map(|call| {
        let arguments = call["arguments"].as_str().unwrap_or_default();
        json!([call.get("id").filter(|id| !id.is_null()), call["name"], arguments_of(arguments)])
    });
    json!({
        "content": joined("texts"),
        "reasoning": joined("reasoning"),
        "refusal": joined("refusals"),
        "calls": calls.collect::<Vec<_>>(),
        "finish": golden["finish"],
        "usage": without_nulls(&golden["usage"]),
        "error": !golden["error"].is_null(),
    })
}

fn facts_of_message(message: &Value) -> Value {
    let none = json!({});
    let choice = message["choices"].get(0).unwrap_or(&none);
    let own = &choice["message"];
    let text = |name: &str| own[name].as_str().unwrap_or_default().to_string();
    let calls = own["tool_calls"].as_array().cloned().unwrap_or_default();
    let calls = calls.iter().map(|call| {
        let (called, input) = match call.get("custom") {
            Some(custom) => (custom, "input"),
            None => (&call["function"], "arguments"),
        };
        json!([call.get("id"), called["name"], arguments_of(called[input].as_str().unwrap())])
    });
    json!({
        "content": text("content"),
        "reasoning": text("reasoning_content"),
        "refusal": text("refusal"),
        "calls": calls.collect::<Vec<_>>(),
        "finish": choice["native_finish_reason"],
        "usage": without_nulls(&message["native_usage"]),
        "error": message.get("error").is_some(),
    })
}

/// Arguments as the JSON that they are, if they are; none are `{}`.
fn arguments_of(text: &str) -> Value {
    match text {
        "" => json!({}),
        text => serde_json::from_str(text).unwrap_or_else(|_| json!(text)),
    }
}

fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let there = members.iter().filter(|(_, value)| !value.is_null());
            Value::Object(there.map(|(name, value)| (name.clone(), without_nulls(value))).collect())
        }
        Value::Array(items) => items.iter().map(without_nulls).collect(),
        other => other.clone(),
    }
}

/// The naive reader: events as serde_json reads them, of one response in choice 0.
#[derive(Default)]
struct Naive {
    content: String,
    reasoning: String,
    refusal: String,
    calls: Vec<(u64, Value, Value, String)>,
    finish: Value,
    usage: Map<String, Value>,
    error: bool,
    reported: std::collections::BTreeSet<(u64, u64, bool)>,
    servers: std::collections::BTreeSet<u64>,
}

impl Naive {
    fn read(bytes: &[u8]) -> Value {
        let text = String::from_utf8_lossy(bytes).replace("\r\n", "\n");
        let mut naive = Naive::default();
        for block in text.split("\n\n") {
            let data = block.lines().filter_map(|line| line.strip_prefix("data:")).collect::<Vec<_>>().join("\n");
            let Ok(event) = serde_json::from_str::<Value>(&data) else { continue };
            if event["type"].as_str().is_some_and(|kind| kind.starts_with("response.")) {
                naive.responses(&event);
            } else if event.get("type").is_some() {
                naive.anthropic(&event);
            } else {
                naive.gemini(&event);
            }
        }
        let calls = naive.calls.iter().map(|(_, id, name, arguments)| {
            json!([Some(id).filter(|id| !id.is_null()), name, arguments_of(arguments)])
        });
        json!({
            "content": naive.content, "reasoning": naive.reasoning, "refusal": naive.refusal,
            "calls": calls.collect::<Vec<_>>(), "finish": naive.finish,
            "usage": if naive.usage.is_empty() { Value::Null } else { without_nulls(&json!(naive.usage)) },
            "error": naive.error,
        })
    }

    fn call(&mut self, index: u64) -> Option<&mut String> {
        self.calls.iter_mut().find(|call| call.0 == index).map(|call| &mut call.3)
    }

    fn anthropic(&mut self, event: &Value) {
        let index = event["index"].as_u64().unwrap_or(0);
        let mut merge = |usage: &Value| {
            for (name, value) in usage.as_object().into_iter().flatten().filter(|(_, value)| !value.is_null()) {
                self.usage.insert(name.clone(), value.clone());
            }
        };
        match event["type"].as_str().unwrap() {
            "message_start" => merge(&event["message"]["usage"]),
            "content_block_start" => {
                let block = &event["content_block"];
                self.content += block["text"].as_str().unwrap_or_default();
                self.reasoning += block["thinking"].as_str().unwrap_or_default();
                if block["type"] == "tool_use" {
                    self.calls.push((index, block["id"].clone(), block["name"].clone(), String::new()));
                    self.servers.remove(&index);
                } else {
                    self.servers.insert(index);
                }
            }
            "content_block_delta" => {
                let delta = &event["delta"];
                self.content += delta["text"].as_str().unwrap_or_default();
                self.reasoning += delta["thinking"].as_str().unwrap_or_default();
                if !self.servers.contains(&index) {
                    if let Some(arguments) = self.call(index) {
                        *arguments += delta["partial_json"].as_str().unwrap_or_default();
                    }
                }
            }
            "message_delta" => {
                merge(&event["usage"]);
                self.finish = event["delta"]["stop_reason"].clone();
            }
            "error" => self.error = true,
            _ => {}
        }
    }

    fn gemini(&mut self, event: &Value) {
        if let Some(usage) = event["usageMetadata"].as_object() {
            self.usage = usage.clone();
        }
        self.error |= event.get("error").is_some();
        for candidate in event["candidates"].as_array().into_iter().flatten() {
            for part in candidate["content"]["parts"].as_array().into_iter().flatten() {
                let text = part["text"].as_str().unwrap_or_default();
                *(if part["thought"] == true { &mut self.reasoning } else { &mut self.content }) += text;
                if let Some(call) = part.get("functionCall") {
                    let arguments = call.get("args").map_or(String::new(), Value::to_string);
                    self.calls.push((0, call["id"].clone(), call["name"].clone(), arguments));
                }
            }
            if !candidate["finishReason"].is_null() {
                self.finish = candidate["finishReason"].clone();
            }
        }
    }

    fn responses(&mut self, event: &Value) {
        let item = event["output_index"].as_u64().unwrap_or(0);
        let kind = event["type"].as_str().unwrap();
        let is_summary = kind.contains("summary");
        let part = event[if is_summary { "summary_index" } else { "content_index" }].as_u64().unwrap_or(0);
        let whole = ["text", "refusal", "arguments", "input"].iter().find_map(|name| event[*name].as_str());
        let text = event["delta"].as_str().or(whole).unwrap_or_default();
        let is_delta = event["delta"].is_string();
        let to = match kind.rsplit_once('.').unwrap().0 {
            "response.output_text" => 0,
            "response.reasoning_text" | "response.reasoning_summary_text" => 1,
            "response.refusal" => 2,
            "response.function_call_arguments" | "response.custom_tool_call_input" => 3,
            _ => 4,
        };
        // Arguments of a call that is not known wait for the whole of it.
        let is_known = to != 3 || self.call(item).is_some();
        if to < 4 && !text.is_empty() && is_known {
            let is_new = self.reported.insert((item, part, is_summary));
            if is_delta || is_new {
                self.put(to, item, text);
            }
        }
        match kind {
            "response.output_item.added" => self.item(item, &event["item"], false),
            "response.output_item.done" => self.item(item, &event["item"], true),
            "response.completed" | "response.incomplete" | "response.failed" => {
                let response = &event["response"];
                for (place, item) in (0..).zip(response["output"].as_array().into_iter().flatten()) {
                    self.item(place, item, true);
                }
                self.finish = response["status"].clone();
                self.usage = response["usage"].as_object().cloned().unwrap_or_default();
                self.error |= !response["error"].is_null();
            }
            _ => {}
        }
    }

    fn put(&mut self, to: u32, item: u64, text: &str) {
        match to {
            0 => self.content += text,
            1 => self.reasoning += text,
            2 => self.refusal += text,
            _ => {
                if let Some(arguments) = self.call(item) {
                    *arguments += text;
                }
            }
        }
    }

    fn item(&mut self, place: u64, item: &Value, is_whole: bool) {
        match item["type"].as_str().unwrap() {
            kind @ ("function_call" | "custom_tool_call") => {
                if self.call(place).is_none() {
                    self.calls.push((place, item["call_id"].clone(), item["name"].clone(), String::new()));
                }
                let input = item[if kind == "function_call" { "arguments" } else { "input" }].as_str();
                let input = input.unwrap_or_default().to_string();
                if !input.is_empty() && self.reported.insert((place, 0, false)) {
                    self.put(3, place, &input);
                }
            }
            _ if is_whole => {
                for (name, is_summary) in [("summary", true), ("content", false)] {
                    for (at, part) in (0..).zip(item[name].as_array().into_iter().flatten()) {
                        let to = match part["type"].as_str().unwrap() {
                            "output_text" => 0,
                            "refusal" => 2,
                            _ => 1,
                        };
                        let text = part["text"].as_str().or(part["refusal"].as_str()).unwrap_or_default();
                        if !text.is_empty() && self.reported.insert((place, at, is_summary)) {
                            self.put(to, place, text);
                        }
                    }
                }
            }
            _ => {}
        }
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Recordings

#[test]
fn recordings_equal_their_goldens() {
    let Some(corpus) = std::env::var_os("DELTAWIRE_CORPUS") else {
        println!("SKIP recordings of other protocols: DELTAWIRE_CORPUS is not set");
        return;
    };
    let folder = PathBuf::from(corpus).join("protocols");
    let manifest = std::fs::read_to_string(folder.join("MANIFEST.tsv")).unwrap();
    let (mut read_all, mut expected, mut by_their_names) = (0, 0, 0);
    for row in manifest.lines().skip(1) {
        let mut columns = row.split('\t');
        let (name, protocol) = (columns.next().unwrap(), columns.next().unwrap());
        let protocol = match protocol {
            "anthropic" => Protocol::Anthropic,
            "gemini" => Protocol::Gemini,
            "responses" => Protocol::Responses,
            _ => continue,
        };
        expected += 1;
        let bytes = std::fs::read(folder.join(name)).unwrap();
        let stem = name.rsplit_once('.').unwrap().0;
        let golden = std::fs::read(folder.join(format!("{stem}.expected.json"))).unwrap();
        let golden: Value = serde_json::from_slice(&golden).unwrap();
        let Read { message, end, .. } = read(&bytes, name);
        if let Some(untyped) = untyped(&bytes).filter(|_| protocol == Protocol::Responses) {
            let of_name = pull(&untyped, &[untyped.len()], None).message;
            assert_eq!(facts_of_message(&of_name), facts_of_message(&message), "{name}, read by its names");
            assert_eq!((&of_name["id"], &of_name["choices"]), (&message["id"], &message["choices"]), "{name}");
            by_their_names += 1;
        }
        let (facts, golden_facts) = (facts_of_message(&message), facts_of_golden(&golden));
        assert_eq!(facts, golden_facts, "{name}: {message:#}");
        let is_body = row.contains("error-body");
        if !is_body {
            assert_eq!(message.get("id"), golden.get("id").filter(|id| !id.is_null()), "{name}");
            assert_eq!(message.get("model"), golden.get("model").filter(|id| !id.is_null()), "{name}");
        }
        let verdict = match protocol {
            _ if !golden["error"].is_null() => Verdict::ApiError,
            Protocol::Gemini => Verdict::Finished,
            _ => Verdict::Done,
        };
        let dialect = (!is_body).then_some(protocol);
        assert_eq!((end.verdict, end.dialect), (verdict, dialect), "{name}");
        assert_eq!(end.is_complete(), golden["error"].is_null(), "{name}");
        // An object of the golden need not be written as it came.
        let is_simple = !name.ends_with(".json") && !stem.contains("partial-args") && !stem.contains("error");
        if is_simple && !stem.contains("noevent") {
            assert_eq!(Naive::read(&bytes), golden_facts, "{name}: the naive reader");
        }
        read_all += 1;
    }
    assert_eq!((read_all, expected, by_their_names), (64, 64, 18));
}

/// A recording whose events have names, without the types in their JSON. `None`: they have none.
fn untyped(bytes: &[u8]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(bytes).unwrap();
    let mut has_names = false;
    let lines = text.split_inclusive('\n').map(|line| {
        has_names |= line.starts_with("event:");
        let Some(json) = line.strip_prefix("data: {\"type\":\"") else { return line.to_string() };
        format!("data: {{{}", json.split_once("\",").map_or("}\n", |(_, rest)| rest))
    });
    let untyped = lines.collect::<String>().into_bytes();
    (has_names && untyped != bytes).then_some(untyped)
}

// ---------------------------------------------------------------------------------------------------------------------
// Events over the limit that repeat the response

fn limited(limit: usize) -> Config {
    Config::new().with_limits(Limits::new().with_max_event_len(limit as u32))
}

/// Reads with a limit in every way; each must report the same.
fn read_limited(bytes: &[u8], limit: usize, name: &str) -> Read {
    let whole = pull_with(bytes, &[bytes.len().max(1)], limited(limit));
    for size in [1, 7, 1448] {
        let cut = pull_with(bytes, &[size], limited(limit));
        assert_eq!(
            (cut.message, cut.end, cut.quirks),
            (whole.message.clone(), whole.end, whole.quirks.clone()),
            "{name}"
        );
    }
    for size in [31, bytes.len().max(1)] {
        assert_eq!(push_with(bytes, size, limited(limit)), whole.message, "{name}, pushed in reads of {size}");
        assert_eq!(batch_with(bytes, size, 3, limited(limit)), whole.message, "{name}, batch in reads of {size}");
    }
    whole
}

/// Of each event of a recording how long it is, name and data, and whether it has a `response`.
fn lengths(bytes: &[u8]) -> Vec<(usize, bool)> {
    let text = String::from_utf8_lossy(bytes).replace("\r\n", "\n");
    let value = |line: &str, field: &str| Some(line.strip_prefix(field)?.strip_prefix(' ').unwrap_or_default().len());
    let len = |block: &str| {
        block.lines().filter_map(|line| value(line, "data:").or_else(|| value(line, "event:"))).sum::<usize>()
    };
    text.split("\n\n").map(|block| (len(block), block.contains("\"response\":{"))).collect()
}

#[test]
fn recordings_lose_nothing_that_counts_to_a_small_limit() {
    let Some(corpus) = std::env::var_os("DELTAWIRE_CORPUS") else {
        println!("SKIP recordings with a small limit: DELTAWIRE_CORPUS is not set");
        return;
    };
    let (mut over, mut read_all) = (0, 0);
    for entry in std::fs::read_dir(PathBuf::from(corpus).join("protocols")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if !name.starts_with("responses-") || !name.ends_with(".sse") {
            continue;
        }
        let bytes = std::fs::read(&path).unwrap();
        let whole = pull(&bytes, &[bytes.len()], None);
        let lengths = lengths(&bytes);
        let others = lengths.iter().filter(|(_, repeats)| !repeats).map(|(len, _)| *len).max().unwrap();
        let limit = others.max(2048);
        over += lengths.iter().filter(|(len, _)| *len > limit).count();
        let read = read_limited(&bytes, limit, name);
        assert_eq!((&read.message, read.end), (&whole.message, whole.end), "{name} at {limit}");
        // Whatever the limit: how it ended does not depend on how it was cut, and is known from some limit on.
        for limit in (600..limit).step_by(499) {
            let read = read_limited(&bytes, limit, name);
            if limit >= 1400 {
                assert_eq!(read.end.verdict, whole.end.verdict, "{name} at {limit}");
                assert_eq!(read.message["native_usage"], whole.message["native_usage"], "{name} at {limit}");
                let finish = |message: &Value| message["choices"][0]["finish_reason"].clone();
                assert_eq!(finish(&read.message), finish(&whole.message), "{name} at {limit}");
            }
        }
        read_all += 1;
    }
    assert!(over >= 10 && read_all == 22, "{over} events of {read_all} recordings are over the limit");
}

/// A mebibyte in the event that ends the response, and another in the one that begins it.
#[test]
fn a_huge_event_that_repeats_the_response_is_reduced() {
    let text = "\u{1f600}\\\"]}, ".repeat(1 << 17);
    assert!(text.len() > 1 << 20);
    let usage = json!({"input_tokens": 3, "output_tokens": 4, "total_tokens": 7});
    let item = json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Hello"}]});
    let delta = |text: &str| json!({"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "delta": text});
    let response = |status: &str, output: Value, usage: &Value| {
        json!({"type": format!("response.{status}"), "response": {"id": "r", "model": "m", "status": status,
            "instructions": text, "tools": [[{"description": text}], -1e9, null, true], "output": output,
            "metadata": {"status": "no", "usage": 1}, "error": null, "usage": usage}})
    };
    let done = json!({"type": "response.output_item.done", "output_index": 0, "item": item});
    let huge = json!({"type": "message", "content": [{"type": "output_text", "text": text}]});
    for (output, lost) in [(json!([item]), 0), (json!([huge]), 0), (json!([item, huge]), 1), (json!([item, item]), 0)] {
        let events = [
            response("in_progress", json!([huge]), &Value::Null),
            delta("Hel"),
            delta("lo"),
            done.clone(),
            response("completed", output.clone(), &usage),
        ];
        for stream in [named(&events), type_first(&events), by_name(&events)] {
            let Read { message, end, quirks } = pull_with(&stream, &[stream.len()], limited(4096));
            for size in [1448, 16384, stream.len() - 9, stream.len() - 2] {
                let cut = pull_with(&stream, &[size], limited(4096));
                assert_eq!((&cut.message, cut.end), (&message, end), "reads of {size}");
            }
            assert_eq!(push_with(&stream, 1448, limited(4096)), message);
            assert_eq!((end.verdict, end.too_long, end.is_complete()), (Verdict::Done, lost, lost == 0));
            assert_eq!((&message["native_usage"], &message["id"], quirks), (&usage, &json!("r"), Vec::new()));
            let choice = &message["choices"][0];
            let twice = output[1] == item;
            assert_eq!(choice["message"]["content"], if twice { "HelloHello" } else { "Hello" });
            assert_eq!(choice["finish_reason"], "stop");
        }
    }
    // Not where all is to be checked, nor in other protocols.
    let stream = type_first(&[delta("x"), response("completed", json!([]), &usage)]);
    let strict = limited(4096).with_validate(deltawire::Validate::Strict);
    let chat = limited(4096).with_dialect(Some(Protocol::Chat));
    for config in [strict, chat] {
        let read = pull_with(&stream, &[1448], config);
        assert_eq!((read.end.too_long, read.end.is_complete()), (1, false));
    }
    // Cut inside, it is pending; what is no JSON, or has a bracket too few, is too long.
    for (from, to, too_long, verdict) in [
        ("", "", 0, Verdict::Done),
        ("\"status\":", "\"status\"", 1, Verdict::Lost),
        ("\"id\"", "\"i\\u0064\"", 1, Verdict::Lost),
        ("}}\r", "}\r", 1, Verdict::Lost),
        ("}}\r", "}}}\r", 1, Verdict::Lost),
        ("}}\r\n\r\n", "", 0, Verdict::Truncated),
    ] {
        let text = String::from_utf8(stream.clone()).unwrap();
        let at = if from.is_empty() { text.len() } else { text.rfind(from).unwrap() };
        let edited = format!("{}{to}{}", &text[..at], &text[at + from.len()..]);
        let whole = pull_with(edited.as_bytes(), &[edited.len()], limited(4096));
        let cut = pull_with(edited.as_bytes(), &[1448], limited(4096));
        assert_eq!((&whole.message, whole.end), (&cut.message, cut.end), "{from:?}");
        assert_eq!((whole.end.too_long, whole.end.verdict), (too_long, verdict), "{from:?}");
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Usage alone

/// What an observer sees: each usage as it came and the counts so far, the finish reasons, the counts at the end, the verdict.
type Observed = (Vec<(String, TokenCounts)>, Vec<Option<FinishKind>>, Option<TokenCounts>, End);

fn observe(bytes: &[u8], size: usize, config: Config) -> Observed {
    let mut seen = Vec::new();
    let mut parser = Parser::with_config(Growing::new(), config);
    let mut observer = Observer::new(|usage: Usage<'_>, so_far: &TokenCounts| {
        seen.push((String::from_utf8(usage.value().raw().to_vec()).unwrap(), *so_far));
        Flow::Continue(())
    });
    for piece in bytes.chunks(size.max(1)) {
        let fed = parser.feed(piece, &mut observer);
        assert_eq!(fed.stop, None);
    }
    parser.finish_into(&mut observer).unwrap();
    let finish = (0..9).map(|choice| observer.finish_reason(choice)).collect();
    let usage = observer.usage().copied();
    (seen, finish, usage, parser.end())
}

/// The same of a whole reading: by pull, with usage merged by serde_json.
fn observed_by_pull(bytes: &[u8]) -> Observed {
    let mut parser: Parser<Growing, 2, ()> = Parser::with_tracker(Growing::new(), Config::new(), ());
    let (mut seen, mut finish, mut usage) = (Vec::new(), vec![None; 9], None);
    let mut merged = Map::new();
    let mut take = |event: &Event<'_>| {
        for (choice, update) in event.deltas() {
            match update {
                Update::Usage(given) => {
                    let raw = String::from_utf8(given.value().raw().to_vec()).unwrap();
                    let mut counts = given.counts();
                    if given.protocol() == Protocol::Anthropic {
                        let members: Map<String, Value> = serde_json::from_str(&raw).unwrap();
                        merged.extend(members.into_iter().filter(|(_, value)| !value.is_null()));
                        let merged = Value::Object(merged.clone()).to_string();
                        let event = format!("data: {{\"type\":\"message_delta\",\"usage\":{merged}}}\n\n");
                        let mut alone = Parser::new(Growing::new());
                        let mut bytes = event.as_bytes();
                        while alone.next(&mut bytes).unwrap().is_some() {}
                        counts = alone.native_usage().unwrap();
                    }
                    usage = Some(counts);
                    seen.push((raw, counts));
                }
                Update::Finish(reason) if choice < 8 => finish[choice as usize] = Some(reason.kind()),
                _ => {}
            }
        }
    };
    let mut rest = bytes;
    while let Some(event) = parser.next(&mut rest).unwrap() {
        take(&event);
    }
    while let Some(event) = parser.finish().unwrap() {
        take(&event);
    }
    (seen, finish, usage, parser.end())
}

#[test]
fn an_observer_sees_what_a_whole_reading_does() {
    let Some(corpus) = std::env::var_os("DELTAWIRE_CORPUS") else {
        println!("SKIP recordings by an observer: DELTAWIRE_CORPUS is not set");
        return;
    };
    let config = Config::new().with_payload(Payload::Usage);
    let (mut with_usage, mut unread) = ([0; 9], 0u64);
    for folder in ["streams", "protocols"] {
        for entry in std::fs::read_dir(PathBuf::from(&corpus).join(folder)).unwrap() {
            let path = entry.unwrap().path();
            let name = path.display();
            if path.extension().is_none_or(|extension| extension != "sse") {
                continue;
            }
            let bytes = std::fs::read(&path).unwrap();
            let whole = observed_by_pull(&bytes);
            if whole.0.is_empty() {
                continue;
            }
            with_usage[whole.3.dialect.map_or(0, |dialect| dialect as usize)] += 1;
            for size in [1, 7, 1448, bytes.len()] {
                assert_eq!(observe(&bytes, size, config), whole, "{name} in reads of {size}");
            }
            let step = 97 * (1 + bytes.len() / 100_000);
            for end in (0..bytes.len()).step_by(step) {
                let cut = &bytes[..end];
                assert_eq!(observe(cut, 1448, config), observed_by_pull(cut), "{name} cut at {end}");
            }
            let mut parser = Parser::with_config(Growing::new(), config);
            let mut rest = &bytes[..];
            while let Some(event) = parser.next(&mut rest).unwrap() {
                unread += u64::from(matches!(event, Event::Sse(_)));
            }
        }
    }
    println!("with usage: {with_usage:?}; events that were not read: {unread}");
    let of = |protocol: Protocol| with_usage[protocol as usize];
    let four = [Protocol::Chat, Protocol::Responses, Protocol::Anthropic, Protocol::Gemini].map(of);
    assert!(four.into_iter().all(|recordings| recordings >= 10), "{four:?}");
    assert!(unread > 1000, "{unread}");
}

/// In one data line what is left of the event is reported; if a line without `data:` goes on with it, nothing is.
#[test]
fn an_output_that_does_not_fit_is_reported_as_too_long_and_as_nothing_else() {
    let usage = json!({"input_tokens": 1, "output_tokens": 2, "total_tokens": 3});
    let message = json!({"type": "message", "content": [{"type": "output_text", "text": "hello"}]});
    let image = json!({"type": "image_generation_call", "result": "x".repeat(3000)});
    let completed = json!({"type": "response.completed",
        "response": {"id": "r", "status": "completed", "output": [image, message], "usage": usage}});
    let stream = type_first(&[json!({"type": "response.created", "response": {"id": "r"}}), completed]);
    let read = read_limited(&stream, 1000, "an image");
    assert_eq!((read.end.verdict, read.end.too_long), (Verdict::Done, 1));
    assert_eq!((&read.message["native_content"], &read.message["native_usage"]), (&Value::Null, &usage));
    assert_eq!(read.message["choices"][0]["message"]["content"], "hello");

    // It is at the limit before the output, and the item is not.
    let image = json!({"type": "image_generation_call", "result": "x".repeat(300) + "@" + &"x".repeat(1500)});
    let response =
        json!({"id": "r", "instructions": "i".repeat(1200), "status": "completed", "output": [image], "usage": usage});
    let events = [
        json!({"type": "response.created", "response": {}}),
        json!({"type": "response.completed", "response": response}),
    ];
    let lines = String::from_utf8(type_first(&events)).unwrap().replace('@', "\n").into_bytes();
    let read = read_limited(&lines, 1000, "an image in two lines");
    assert_eq!((read.end.verdict, read.end.too_long), (Verdict::Lost, 1));
}

/// A tool call counts in how the response ended, and a role is reported, of an output that does not fit or is not read, too.
#[test]
fn what_does_not_fit_is_a_call_all_the_same() {
    let text = "x".repeat(3000);
    let usage = json!({"input_tokens": 1, "output_tokens": 2, "total_tokens": 3, "other": "y".repeat(250)});
    let function =
        |arguments: &str| json!({"type": "function_call", "call_id": "c", "name": "f", "arguments": arguments});
    let custom = |input: &str| json!({"type": "custom_tool_call", "call_id": "c", "name": "f", "input": input});
    let message = |text: &str| json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]});
    let search =
        json!({"type": "web_search_call", "action": {"type": "function_call", "role": "assistant"}, "x": text});
    // The output, how many of its items are lost, how the response ended, and what the message has.
    let rows = [
        (json!([function(&text)]), 1, "tool_calls", json!({})),
        (json!([custom(&text)]), 1, "tool_calls", json!({})),
        (json!([search]), 1, "stop", json!({})),
        (json!([message(&text)]), 1, "stop", json!({"role": "assistant"})),
        (json!([message(&text), function(&text)]), 1, "tool_calls", json!({"role": "assistant"})),
        (json!([message("a"), function(&text)]), 1, "tool_calls", json!({"role": "assistant", "content": "a"})),
        (json!([function(&text), message("a")]), 1, "tool_calls", json!({"role": "assistant", "content": "a"})),
        // What was kept makes room for the usage.
        (json!([function(&text[..400])]), 1, "tool_calls", json!({})),
    ];
    for (output, lost, finish, own) in rows {
        // In either order of the members.
        for turned in [false, true] {
            let response = json!({"id": "r", "status": "completed", "output": output, "usage": usage});
            let last = format!("{{\"type\":\"response.completed\",\"response\":{}}}", written(&response, turned));
            let first = type_first(&[json!({"type": "response.created", "response": {}})]);
            let stream = [first, format!("data: {last}\n\n").into_bytes()].concat();
            let read = read_limited(&stream, 700, &last);
            assert_eq!((read.end.verdict, read.end.too_long), (Verdict::Done, lost), "{last}");
            let choice = &read.message["choices"][0];
            let reasons = (&choice["finish_reason"], &choice["native_finish_reason"]);
            assert_eq!(reasons, (&json!(finish), &json!("completed")), "{last}");
            assert_eq!(
                (&read.message["native_usage"], without_nulls(&choice["message"])),
                (&usage, own.clone()),
                "{last}"
            );
            // Where nothing is read but usage, and where there is room for all.
            for limit in [700, 1 << 20] {
                let config = limited(limit).with_payload(Payload::Usage);
                let (_, reasons, counts, end) = observe(&stream, 1448, config);
                let kind = if finish == "stop" { FinishKind::Stop } else { FinishKind::ToolCalls };
                assert_eq!((reasons[0], counts.unwrap().total_tokens()), (Some(kind), Some(3)), "{last}");
                assert_eq!((end.verdict, end.too_long), (Verdict::Done, 0), "{last}");
            }
        }
    }
    // A response that is under way does not count, whatever it repeats.
    let response = json!({"status": "in_progress", "instructions": text, "output": [function("{}")]});
    let end = json!({"type": "response.completed", "response": {"status": "completed"}});
    let events = [json!({"type": "response.in_progress", "response": response}), end];
    for stream in [named(&events), type_first(&events), by_name(&events)] {
        let read = read_limited(&stream, 700, "under way");
        assert_eq!((read.end.too_long, &read.message["choices"][0]["finish_reason"]), (0, &json!("stop")));
    }
}

/// JSON in the order of its members, or the other way round.
fn written(value: &Value, turned: bool) -> String {
    match value {
        Value::Object(members) => {
            let mut written: Vec<_> =
                members.iter().map(|(name, value)| format!("{}:{}", json!(name), written(value, turned))).collect();
            if turned {
                written.reverse();
            }
            format!("{{{}}}", written.join(","))
        }
        Value::Array(items) => {
            format!("[{}]", items.iter().map(|item| written(item, turned)).collect::<Vec<_>>().join(","))
        }
        other => other.to_string(),
    }
}

/// The type in the JSON counts before the name, wherever it stands. Of an event over the limit it may come behind outputs that the
/// name said would not count: they are reported as lost.
#[test]
fn a_type_that_contradicts_the_name_loses_nothing_silently() {
    let usage = json!({"input_tokens": 1, "output_tokens": 2, "total_tokens": 3});
    let message =
        json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "hello"}]});
    let text = "x".repeat(3000);
    let response = |instructions: &str| json!({"id": "r", "instructions": instructions, "output": [message], "status": "completed", "usage": usage});
    let event = |name: &str, instructions: &str, kind: &str| {
        format!("event: {name}\ndata: {{\"response\":{},\"type\":\"{kind}\"}}\n\n", response(instructions))
    };
    for (name, kind, verdict, lost, content) in [
        ("response.completed", "response.completed", Verdict::Done, 0, json!("hello")),
        ("response.in_progress", "response.completed", Verdict::Done, 1, Value::Null),
        ("response.created", "response.completed", Verdict::Done, 1, Value::Null),
        ("response.completed", "response.in_progress", Verdict::Truncated, 0, Value::Null),
        ("message", "response.completed", Verdict::Done, 0, json!("hello")),
    ] {
        let small = event(name, "", kind);
        let whole = read(small.as_bytes(), &small);
        let is_end = kind == "response.completed";
        assert_eq!((whole.end.verdict, whole.end.too_long, whole.end.is_complete()), (verdict, 0, is_end), "{small}");
        let expected = if is_end { json!("hello") } else { Value::Null };
        assert_eq!(whole.message["choices"][0]["message"]["content"], expected, "{small}");
        let started = "data: {\"type\":\"response.created\",\"response\":{}}\n\n";
        let large = started.to_string() + &event(name, &text, kind);
        let read = read_limited(large.as_bytes(), 1000, &small);
        assert_eq!((read.end.verdict, read.end.too_long), (verdict, lost), "{small}");
        assert_eq!(read.message["choices"][0]["message"]["content"], content, "{small}");
        assert_eq!(read.end.is_complete(), is_end && lost == 0, "{small}");
        let counts = if is_end { &usage } else { &Value::Null };
        assert_eq!(&read.message["native_usage"], counts, "{small}");
        // Outputs that were reported before are not lost.
        let done = json!({"type": "response.output_item.done", "output_index": 0, "item": message});
        let large = String::from_utf8(type_first(&[done])).unwrap() + &large;
        let read = read_limited(large.as_bytes(), 1000, &small);
        assert_eq!((read.end.verdict, read.end.too_long), (verdict, 0), "{small}");
        assert_eq!(read.message["choices"][0]["message"]["content"], "hello", "{small}");
    }
}

/// Lines without `data:` are not reduced: that the limit was hit is reported.
#[test]
fn raw_json_over_the_limit_is_reported() {
    let text = "x".repeat(3000);
    let usage = json!({"input_tokens": 1, "output_tokens": 2, "total_tokens": 3});
    let created = json!({"type": "response.created", "response": {"id": "r"}});
    let response = json!({"id": "r", "object": "response", "instructions": text, "output": [], "status": "completed", "usage": usage});
    let completed = json!({"type": "response.completed", "response": response});
    let pretty = serde_json::to_string_pretty(&completed).unwrap();
    for (stream, too_long) in [
        // Bare JSON, in lines and as a body; a payload that goes on in lines of its own.
        (format!("{created}\n{completed}\n"), 1),
        (format!("[{created},{completed}]"), 1),
        (format!("{response}"), 1),
        (format!("data: {created}\n\nevent: response.completed\ndata: {pretty}\n\n"), 1),
        // Each line a field.
        (format!("data: {created}\n\nevent: response.completed\ndata: {}\n\n", pretty.replace('\n', "\ndata: ")), 0),
    ] {
        let read = read_limited(stream.as_bytes(), 1000, &stream);
        let verdict = if too_long == 0 { Verdict::Done } else { Verdict::Lost };
        assert_eq!((read.end.verdict, read.end.too_long), (verdict, too_long), "{stream}");
        let counts = if too_long == 0 { &usage } else { &Value::Null };
        assert_eq!(&read.message["native_usage"], counts, "{stream}");
    }
}

#[test]
fn an_observer_loses_nothing_to_a_small_limit() {
    let text = "x\\\"".repeat(4000);
    let usage = json!({"input_tokens": 3, "output_tokens": 4, "total_tokens": 7});
    let item = json!({"type": "message", "content": [{"type": "output_text", "text": text}]});
    let delta = json!({"type": "response.output_text.done", "output_index": 0, "text": text});
    let created = json!({"type": "response.created", "response": {"id": "r", "instructions": text}});
    let completed =
        json!({"type": "response.completed", "response": {"status": "completed", "output": [item], "usage": usage}});
    let stream = type_first(&[created, delta, completed]);
    let config = limited(300);
    let without = |config: Config| observe(&stream, 1448, config);
    let by_all = without(config);
    assert_eq!((by_all.3.too_long, by_all.3.verdict), (2, Verdict::Done));
    for size in [1, 7, 1448, stream.len()] {
        let (seen, finish, counts, end) = observe(&stream, size, config.with_payload(Payload::Usage));
        assert_eq!((seen.len(), finish[0], finish[1]), (1, Some(FinishKind::Stop), None));
        assert_eq!((counts.unwrap().total_tokens(), end.too_long, end.is_complete()), (Some(7), 0, true), "{size}");
    }
    // All is read where all is checked.
    let strict = config.with_payload(Payload::Usage).with_validate(deltawire::Validate::Strict);
    assert_eq!(without(strict).3.too_long, 3);

    let start =
        json!({"type": "message_start", "message": {"id": "m", "usage": {"input_tokens": 9, "output_tokens": 1}}});
    let block = json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": text}});
    let delta = json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}});
    let end = json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 5}});
    let stop = json!({"type": "message_stop", "x": 0});
    let events = [start, block, delta, end, stop];
    for stream in [type_first(&events), named(&events)] {
        for size in [1, 7, 1448, stream.len()] {
            let (seen, finish, counts, end) = observe(&stream, size, config.with_payload(Payload::Usage));
            assert_eq!((seen.len(), finish[0]), (2, Some(FinishKind::Stop)));
            let is_type_first = stream.starts_with(b"data");
            // A type that is not the first member is not seen in time.
            assert_eq!((counts.unwrap().total_tokens(), end.too_long == 0), (Some(14), is_type_first), "{size}");
        }
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Fixtures

/// Events with their type for their name.
fn named(events: &[Value]) -> Vec<u8> {
    let block = |event: &Value| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap());
    events.iter().map(block).collect::<String>().into_bytes()
}

fn unnamed(events: &[Value]) -> Vec<u8> {
    events.iter().map(|event| format!("data: {event}\r\n\r\n")).collect::<String>().into_bytes()
}

/// Events without a name, whose type is their first member, as servers write them.
fn type_first(events: &[Value]) -> Vec<u8> {
    let block = |event: &Value| {
        let mut members = event.as_object().unwrap().clone();
        let kind = members.remove("type").unwrap();
        format!("data: {{\"type\":{kind},{}\r\n\r\n", &Value::Object(members).to_string()[1..])
    };
    events.iter().map(block).collect::<String>().into_bytes()
}

/// Events with a name, and without a type in their JSON.
fn by_name(events: &[Value]) -> Vec<u8> {
    let block = |event: &Value| {
        let mut members = event.as_object().unwrap().clone();
        let kind = members.remove("type").unwrap();
        format!("event: {}\ndata: {}\n\n", kind.as_str().unwrap(), Value::Object(members))
    };
    events.iter().map(block).collect::<String>().into_bytes()
}

#[test]
fn anthropic_blocks_have_their_places() {
    let delta = |index: u32, delta: Value| json!({"type": "content_block_delta", "index": index, "delta": delta});
    let start =
        |index: u32, block: Value| json!({"type": "content_block_start", "index": index, "content_block": block});
    let citation = json!({"type": "char_location", "cited_text": "é"});
    let server = json!({"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}});
    let result = json!({"type": "web_search_tool_result", "tool_use_id": "s", "content": []});
    let piece = json!({"type": "input_json_delta", "partial_json": "{\"q\":1}"});
    let redacted = json!({"type": "redacted_thinking", "data": "xyz"});
    let events = [
        json!({"type": "message_start", "message": {"id": "m1", "type": "message", "role": "assistant", "model": "c",
            "content": [], "stop_reason": null,
            "usage": {"input_tokens": 3, "cache_read_input_tokens": 20, "cache_creation_input_tokens": 100,
                "output_tokens": 1, "service_tier": "standard"}}}),
        json!({"type": "ping"}),
        start(0, json!({"type": "thinking", "thinking": "", "signature": ""})),
        delta(0, json!({"type": "thinking_delta", "thinking": "hm\u{1f600}"})),
        delta(0, json!({"type": "signature_delta", "signature": "sig=="})),
        start(1, redacted.clone()),
        start(2, server.clone()),
        delta(2, json!({"type": "input_json_delta", "partial_json": ""})),
        delta(2, piece.clone()),
        start(3, result.clone()),
        start(4, json!({"type": "text", "text": "", "citations": []})),
        delta(4, json!({"type": "citations_delta", "citation": citation})),
        delta(4, json!({"type": "text_delta", "text": "Hel"})),
        delta(4, json!({"type": "text_delta", "text": "lo"})),
        start(5, json!({"type": "tool_use", "id": "t1", "name": "now", "input": {}})),
        delta(5, json!({"type": "input_json_delta", "partial_json": ""})),
        json!({"type": "content_block_stop", "index": 5}),
        start(6, json!({"type": "tool_use", "id": "t2", "name": "add", "input": {}})),
        delta(6, json!({"type": "input_json_delta", "partial_json": "{\"a\": "})),
        delta(6, json!({"type": "input_json_delta", "partial_json": "1}"})),
        start(7, json!({"type": "tool_use", "id": "t3", "name": "add", "input": {"b": 2}})),
        json!({"type": "an_event_to_come", "x": 1}),
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use", "stop_sequence": null,
            "stop_details": {"why": 1}}, "usage": {"output_tokens": 40, "cache_read_input_tokens": null}}),
        json!({"type": "message_stop"}),
    ];
    let stream = [named(&events), b"data: [DONE]\n\n".to_vec()].concat();
    let Read { message, end, quirks } = read(&stream, "anthropic");
    assert_eq!((end.verdict, end.dialect, end.protocol), (Verdict::Done, Some(Protocol::Anthropic), None));
    assert_eq!((quirks, end.is_complete()), (Vec::new(), true));
    let call = |id: &str, name: &str, arguments: &str| json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}});
    let expected = json!({
        "id": "m1", "object": "chat.completion", "model": "c",
        "choices": [{
            "index": 0,
            "message": {
                "role": "assistant", "content": "Hello", "reasoning_content": "hm\u{1f600}",
                "tool_calls": [call("t1", "now", "{}"), call("t2", "add", "{\"a\": 1}"), call("t3", "add", "{\"b\":2}")],
                "annotations": [citation], "signatures": ["sig=="],
                "native_content": [redacted, server, piece, result],
            },
            "finish_reason": "tool_calls", "native_finish_reason": "tool_use", "stop_details": {"why": 1},
        }],
        "usage": {"prompt_tokens": 123, "completion_tokens": 40, "total_tokens": 163,
            "prompt_tokens_details": {"cached_tokens": 20}},
        "native_usage": {"input_tokens": 3, "cache_read_input_tokens": 20, "cache_creation_input_tokens": 100,
            "output_tokens": 40, "service_tier": "standard"},
    });
    assert_eq!(message, expected);
    // The same answer, whole.
    let body = json!({"id": "m1", "type": "message", "role": "assistant", "model": "c", "content": [
            {"type": "thinking", "thinking": "hm\u{1f600}", "signature": "sig=="}, redacted, server, result,
            {"type": "text", "text": "Hello", "citations": [citation]},
            {"type": "tool_use", "id": "t1", "name": "now", "input": {}},
            {"type": "tool_use", "id": "t2", "name": "add", "input": {"a": 1}}],
        "stop_reason": "end_turn", "usage": {"input_tokens": 3, "output_tokens": 40}});
    let Read { message, end, .. } = read(body.to_string().as_bytes(), "anthropic body");
    assert_eq!((end.verdict, end.body, end.dialect), (Verdict::Done, true, Some(Protocol::Anthropic)));
    let own = &message["choices"][0];
    assert_eq!(own["message"]["content"], "Hello");
    assert_eq!(own["message"]["native_content"], json!([redacted, server, result]));
    assert_eq!(own["message"]["tool_calls"], json!([call("t1", "now", "{}"), call("t2", "add", "{\"a\":1}")]));
    assert_eq!((&own["finish_reason"], &message["usage"]["total_tokens"]), (&json!("stop"), &json!(43)));
}

#[test]
fn responses_report_each_part_once() {
    let event = |kind: &str, rest: Value| {
        let mut event = rest;
        event["type"] = json!(format!("response.{kind}"));
        event
    };
    let text = |kind: &str, item: u32, part: u32, name: &str, text: &str| {
        event(kind, json!({"output_index": item, "content_index": part, name: text}))
    };
    let message = |texts: &[&str]| {
        let part = |text: &&str| json!({"type": "output_text", "text": text, "annotations": []});
        json!({"type": "message", "role": "assistant", "content": texts.iter().map(part).collect::<Vec<_>>()})
    };
    let call = |id: &str, arguments: &str| json!({"type": "function_call", "call_id": id, "name": "f", "arguments": arguments});
    let reasoning = json!({"type": "reasoning", "summary": [{"type": "summary_text", "text": "S"}],
        "content": [{"type": "reasoning_text", "text": "R"}], "encrypted_content": "enc"});
    let search = json!({"type": "web_search_call", "status": "completed"});
    let custom = json!({"type": "custom_tool_call", "call_id": "c4", "name": "g", "input": "not json"});
    let output = [
        reasoning.clone(),
        message(&["A", "B"]),
        call("c1", "{\"a\":1}"),
        call("c2", "{}"),
        custom.clone(),
        search.clone(),
        message(&["C"]),
        json!({"type": "message", "role": "assistant", "content": [{"type": "refusal", "refusal": "no"}]}),
        call("c3", "{\"z\":0}"),
    ];
    let usage = json!({"input_tokens": 9, "input_tokens_details": {"cached_tokens": 4}, "output_tokens": 5,
        "output_tokens_details": {"reasoning_tokens": 2}, "total_tokens": 14});
    let events = [
        event("created", json!({"response": {"id": "r", "model": "m", "created_at": 1700000000, "usage": null}})),
        event("reasoning_summary_text.done", json!({"output_index": 0, "summary_index": 0, "text": "S"})),
        text("reasoning_text.delta", 0, 0, "delta", "R"),
        text("reasoning_text.done", 0, 0, "text", "R"),
        event("output_item.done", json!({"output_index": 0, "item": reasoning})),
        event("output_item.added", json!({"output_index": 1, "item": message(&[])})),
        text("output_text.delta", 1, 0, "delta", "A"),
        text("output_text.done", 1, 0, "text", "A"),
        event(
            "content_part.done",
            json!({"output_index": 1, "content_index": 0,
            "part": {"type": "output_text", "text": "A"}}),
        ),
        event(
            "content_part.done",
            json!({"output_index": 1, "content_index": 1,
            "part": {"type": "output_text", "text": "B"}}),
        ),
        event("output_item.done", json!({"output_index": 1, "item": message(&["A", "B"])})),
        event("output_item.added", json!({"output_index": 2, "item": call("c1", "")})),
        event("function_call_arguments.delta", json!({"output_index": 2, "delta": "{\"a\""})),
        event("function_call_arguments.delta", json!({"output_index": 2, "delta": ":1}"})),
        event("function_call_arguments.done", json!({"output_index": 2, "arguments": "{\"a\":1}"})),
        event("output_item.done", json!({"output_index": 2, "item": call("c1", "{\"a\":1}")})),
        event("output_item.added", json!({"output_index": 3, "item": call("c2", "")})),
        event("function_call_arguments.done", json!({"output_index": 3, "arguments": "{}"})),
        event(
            "output_item.added",
            json!({"output_index": 4, "item": {"type": "custom_tool_call", "call_id": "c4",
            "name": "g", "input": ""}}),
        ),
        event("custom_tool_call_input.delta", json!({"output_index": 4, "delta": "not json"})),
        event("output_item.done", json!({"output_index": 4, "item": custom})),
        event("output_item.done", json!({"output_index": 5, "item": search})),
        json!({"type": "keepalive", "sequence_number": 9}),
        event("output_text.annotation.added", json!({"output_index": 1, "annotation": {"url": "u"}})),
        event(
            "completed",
            json!({"response": {"id": "r", "model": "m", "status": "completed", "error": null,
            "usage": usage, "incomplete_details": null, "output": output}}),
        ),
        event("completed", json!({"response": {"status": "completed", "output": output}})),
    ];
    for stream in [named(&events), unnamed(&events), by_name(&events)] {
        let Read { message, end, quirks } = read(&stream, "responses");
        assert_eq!((end.verdict, end.dialect, quirks), (Verdict::Done, Some(Protocol::Responses), Vec::new()));
        let function = |id: &str, arguments: &str| json!({"id": id, "type": "function", "function": {"name": "f", "arguments": arguments}});
        let expected = json!({
            "id": "r", "object": "chat.completion", "created": 1700000000, "model": "m",
            "choices": [{
                "index": 0,
                "message": {
                    "role": "assistant", "content": "ABC", "refusal": "no", "reasoning_content": "SR",
                    "tool_calls": [
                        function("c1", "{\"a\":1}"), function("c2", "{}"),
                        {"id": "c4", "type": "custom", "custom": {"name": "g", "input": "not json"}},
                        function("c3", "{\"z\":0}"),
                    ],
                    "annotations": [{"url": "u"}], "signatures": ["enc"], "native_content": [search],
                },
                "finish_reason": "tool_calls", "native_finish_reason": "completed",
            }],
            "usage": {"prompt_tokens": 9, "completion_tokens": 5, "total_tokens": 14,
                "prompt_tokens_details": {"cached_tokens": 4}, "completion_tokens_details": {"reasoning_tokens": 2}},
            "native_usage": usage,
        });
        assert_eq!(message, expected);
    }
    // All of it in the event that ends the response, and as a body.
    let response = json!({"id": "r", "object": "response", "model": "m", "status": "incomplete", "output": output,
        "incomplete_details": {"reason": "max_output_tokens"}, "usage": usage});
    let last = unnamed(&[event("incomplete", json!({"response": response}))]);
    for stream in [last, response.to_string().into_bytes()] {
        let Read { message, end, .. } = read(&stream, "responses, whole");
        assert_eq!((end.verdict, end.choices_finished), (Verdict::Done, 1));
        let choice = &message["choices"][0];
        assert_eq!(
            (&choice["message"]["content"], &choice["message"]["reasoning_content"]),
            (&json!("ABC"), &json!("SR"))
        );
        assert_eq!(choice["message"]["tool_calls"].as_array().unwrap().len(), 4);
        assert_eq!(choice["message"]["signatures"], json!(["enc"]));
        assert_eq!(
            (&choice["finish_reason"], &choice["native_finish_reason"]),
            (&json!("length"), &json!("incomplete"))
        );
        let details = message.get("incomplete_details").or(choice.get("incomplete_details"));
        assert_eq!(details, Some(&json!({"reason": "max_output_tokens"})));
    }
}

/// `starting_after`: a stream that begins behind some of its events.
#[test]
fn a_resumed_response_reports_what_is_left() {
    let text = |name: &str, text: &str| {
        let kind = format!("response.output_text.{}", if name == "text" { "done" } else { "delta" });
        json!({"type": kind, "output_index": 0, "content_index": 0, "item_id": "m", name: text})
    };
    let arguments = |name: &str, text: &str| {
        let kind = format!("response.function_call_arguments.{}", if name == "delta" { "delta" } else { "done" });
        json!({"type": kind, "output_index": 1, "item_id": "f", name: text})
    };
    let message =
        json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Hello"}]});
    let call = json!({"type": "function_call", "call_id": "c", "name": "f", "arguments": "{\"a\":1}"});
    let added = json!({"type": "function_call", "call_id": "c", "name": "f", "arguments": ""});
    let usage = json!({"input_tokens": 3, "output_tokens": 4, "total_tokens": 7});
    let events = [
        text("delta", "Hel"),
        text("delta", "lo"),
        text("text", "Hello"),
        json!({"type": "response.output_item.done", "output_index": 0, "item": message}),
        json!({"type": "response.output_item.added", "output_index": 1, "item": added}),
        arguments("delta", "{\"a\""),
        arguments("delta", ":1}"),
        arguments("arguments", "{\"a\":1}"),
        json!({"type": "response.output_item.done", "output_index": 1, "item": call}),
        json!({"type": "response.completed", "response": {"id": "r", "model": "m", "status": "completed",
            "output": [message, call], "usage": usage}}),
    ];
    let whole = json!({"content": "Hello", "arguments": "{\"a\":1}"});
    for (from, content, called) in [
        (0, "Hello", "{\"a\":1}"),
        // In the middle of a text: what follows. In the middle of arguments, whose call is not known then: all of them at its end.
        (1, "lo", "{\"a\":1}"),
        (6, "Hello", "{\"a\":1}"),
        // No delta of the text is left: all of it comes from where it is whole.
        (2, "Hello", "{\"a\":1}"),
        (3, "Hello", "{\"a\":1}"),
        (7, "Hello", "{\"a\":1}"),
        (9, "Hello", "{\"a\":1}"),
    ] {
        let rest = &events[from..];
        for stream in [named(rest), unnamed(rest), by_name(rest)] {
            let Read { message, end, .. } = read(&stream, "resumed");
            let choice = &message["choices"][0];
            let call = &choice["message"]["tool_calls"][0];
            let read = json!({"content": choice["message"]["content"], "arguments": call["function"]["arguments"]});
            let expected = json!({"content": content, "arguments": called});
            assert!(read == expected && (from > 0 || read == whole), "from event {from}: {message:#}");
            assert_eq!((&call["id"], &call["function"]["name"]), (&json!("c"), &json!("f")), "from event {from}");
            assert_eq!((end.verdict, end.is_complete()), (Verdict::Done, true), "from event {from}");
            assert_eq!((&message["native_usage"], &message["id"]), (&usage, &json!("r")), "from event {from}");
            assert_eq!(choice["finish_reason"], "tool_calls", "from event {from}");
        }
    }
}

#[test]
fn an_error_of_responses_is_reported_once() {
    let error = json!({"code": "server_error", "message": "oops"});
    let flat = json!({"type": "error", "code": "server_error", "message": "oops", "param": null});
    let failed = json!({"type": "response.failed", "response": {"id": "r", "status": "failed", "error": error}});
    let created = json!({"type": "response.created", "response": {"id": "r"}});
    for (events, expected) in [
        (vec![created.clone(), failed.clone()], error.clone()),
        (vec![created.clone(), flat.clone(), failed.clone()], flat.clone()),
        (vec![created, flat.clone()], flat),
    ] {
        let stream = named(&events);
        let Read { message, end, .. } = read(&stream, "failed");
        assert_eq!((end.verdict, &message["error"]), (Verdict::ApiError, &expected));
        let mut parser = Parser::new([0; 4096]);
        struct Count(u32);
        impl deltawire::Handler for Count {
            fn error(&mut self, _: deltawire::chat::ApiError<'_>) -> deltawire::Flow {
                self.0 += 1;
                deltawire::Flow::Continue(())
            }
        }
        let mut count = Count(0);
        assert_eq!(parser.feed(&stream, &mut count).stop, None);
        assert_eq!(count.0, 1, "{events:?}");
    }
}

/// What a response ended with is its status, or else in the type of its last event.
#[test]
fn the_last_event_of_responses_has_the_finish_reason() {
    let text = json!({"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "delta": "x"});
    for (word, finish, verdict) in [
        ("completed", "stop", Verdict::Done),
        ("incomplete", "incomplete", Verdict::Done),
        ("failed", "error", Verdict::ApiError),
    ] {
        for last in
            [json!({"response": {"id": "r", "output": []}}), json!({"response": {}}), json!({"sequence_number": 3})]
        {
            let mut last = last;
            last["type"] = json!(format!("response.{word}"));
            let events = [text.clone(), last];
            for stream in [named(&events), unnamed(&events)] {
                let Read { message, end, .. } = read(&stream, "without a status");
                let choice = &message["choices"][0];
                assert_eq!((end.verdict, &choice["message"]), (verdict, &json!({"content": "x"})), "{word}");
                assert_eq!((&choice["finish_reason"], &choice["native_finish_reason"]), (&json!(finish), &json!(word)));
            }
        }
    }
}

/// Annotations and what is encrypted come with an item that is reported whole, once.
#[test]
fn an_item_that_is_reported_whole_has_its_annotations() {
    let part = |text: &str| json!({"type": "output_text", "text": text, "annotations": [{"url": text}, {"n": 2}]});
    let message = json!({"type": "message", "role": "assistant", "content": [part("A"), part("B")]});
    let reasoning = json!({"type": "reasoning", "summary": [], "encrypted_content": "enc"});
    let delta = json!({"type": "response.output_text.delta", "output_index": 1, "content_index": 0, "delta": "A"});
    let done =
        |index: u32, item: &Value| json!({"type": "response.output_item.done", "output_index": index, "item": item});
    let response = json!({"object": "response", "status": "completed", "output": [reasoning, message]});
    let last = json!({"type": "response.completed", "response": response});
    let (all, behind) = (json!([{"url": "A"}, {"n": 2}, {"url": "B"}, {"n": 2}]), json!([{"url": "B"}, {"n": 2}]));
    for (stream, annotations) in [
        (response.to_string().into_bytes(), &all),
        (unnamed(std::slice::from_ref(&last)), &all),
        (unnamed(&[done(0, &reasoning), done(1, &message), last.clone()]), &all),
        // Whoever sends texts in pieces sends annotations in events.
        (unnamed(&[done(0, &reasoning), delta, last]), &behind),
    ] {
        let Read { message, end, .. } = read(&stream, "annotations");
        let own = &message["choices"][0]["message"];
        assert_eq!((end.verdict, &own["content"]), (Verdict::Done, &json!("AB")));
        assert_eq!((&own["annotations"], &own["signatures"]), (annotations, &json!(["enc"])));
    }
}

/// No vendor's member takes the place of one that the message has of its own.
#[test]
fn members_of_a_vendor_replace_none_of_the_message() {
    const TOP: [&str; 4] = ["object", "native_usage", "system_fingerprint", "service_tier"];
    const OF_CHOICE: [&str; 4] = ["message", "finish_reason", "native_finish_reason", "logprobs"];
    let with_own = |mut value: Value, names: &[&str]| {
        names.iter().for_each(|name| value[*name] = json!({"forged": true}));
        value["kept"] = json!(1);
        value
    };
    let candidate = with_own(json!({"content": {"parts": [{"text": "x"}]}, "finishReason": "STOP"}), &OF_CHOICE);
    let gemini = with_own(with_own(json!({"candidates": [candidate]}), &TOP), &["id", "created", "model", "usage"]);
    let stop = json!({"type": "message_delta", "delta": with_own(json!({"stop_reason": "end_turn"}), &OF_CHOICE)});
    let block = json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "x"}});
    let anthropic = [block, with_own(stop, &TOP)];
    for stream in [unnamed(&[gemini]), unnamed(&anthropic)] {
        let Read { message, .. } = read(&stream, "vendor's members");
        let text = message.to_string();
        assert!(!text.contains("forged"), "{text}");
        let choice = &message["choices"][0];
        assert_eq!((&choice["message"], &choice["finish_reason"]), (&json!({"content": "x"}), &json!("stop")));
        assert_eq!((&choice["kept"], &message["kept"]), (&json!(1), &json!(1)));
    }
}

/// What an error in a stream says stands under `error` alone.
#[test]
fn members_of_an_error_are_not_those_of_the_message() {
    let start = json!({"type": "message_start", "message": {"id": "m", "content": []}});
    let overloaded = json!({"type": "overloaded_error", "message": "o"});
    let anthropic = [start, json!({"type": "error", "error": overloaded, "request_id": "req"})];
    let message = read(&named(&anthropic), "an error of Anthropic").message;
    let names = |message: &Value| message.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!((&message["error"], &message["request_id"]), (&overloaded, &json!("req")));
    assert_eq!(names(&message), ["choices", "error", "id", "object", "request_id"]);
    let flat = json!({"type": "error", "code": "c", "message": "m", "param": null, "sequence_number": 3});
    let responses = [json!({"type": "response.created", "response": {"id": "r"}}), flat.clone()];
    let message = read(&named(&responses), "an error of Responses").message;
    assert_eq!(
        (names(&message), &message["error"]),
        (["choices", "error", "id", "object"].map(str::to_string).to_vec(), &flat)
    );
}

/// A whole JSON value of a protocol that is no answer yet, or none at all.
#[test]
fn not_every_value_of_a_protocol_is_an_answer() {
    for (body, verdict) in [
        (json!({"candidates": []}), Verdict::JsonAnswer),
        (json!({"candidates": null, "promptFeedback": {}}), Verdict::JsonAnswer),
        (json!({"candidates": [{"content": {"parts": [{"text": "x"}]}}]}), Verdict::Body),
        (json!({"promptFeedback": {"blockReason": "OTHER"}}), Verdict::Finished),
        (json!({"object": "response", "status": "queued", "output": []}), Verdict::JsonAnswer),
        (json!({"object": "response", "status": "in_progress", "output": []}), Verdict::JsonAnswer),
        (json!({"object": "response", "status": "completed", "output": []}), Verdict::Done),
    ] {
        let read = pull(body.to_string().as_bytes(), &[1], None);
        assert_eq!(read.end.verdict, verdict, "{body}");
        assert_eq!(read.end.is_complete(), verdict != Verdict::JsonAnswer);
        // Where chunks alone are read.
        let read = pull(body.to_string().as_bytes(), &[1], Some(Protocol::Chat));
        assert_eq!((read.end.verdict, read.end.is_complete()), (Verdict::OtherProtocol, false), "{body}");
    }
}

#[test]
fn gemini_candidates_parts_and_paths() {
    let chunk = |parts: Value| json!({"candidates": [{"content": {"role": "model", "parts": parts}}]});
    let partial = |path: &str, value: Value, more: bool| {
        let mut piece = json!({"jsonPath": path, "willContinue": more});
        for (name, value) in value.as_object().unwrap() {
            piece[name] = value.clone();
        }
        json!([{"functionCall": {"partialArgs": [piece], "willContinue": true}}])
    };
    let code = json!({"executableCode": {"language": "PYTHON", "code": "1"}});
    let image = json!({"inlineData": {"mimeType": "image/png", "data": "AA=="}});
    let events = [
        json!({"candidates": [
            {"index": 1, "content": {"parts": [{"text": "other"}]}, "finishReason": "MAX_TOKENS"},
            {"content": {"role": "model", "parts": [{"text": "th", "thought": true}, {"text": "x", "thoughtSignature": "s"}]},
                "finishReason": "STOP"},
        ], "usageMetadata": {"promptTokenCount": 5, "candidatesTokenCount": 1, "totalTokenCount": 6},
            "modelVersion": "g", "responseId": "id"}),
        chunk(json!([code, image, {"functionCall": {"name": "f", "args": {"a": [1, "é"]}}, "thoughtSignature": "t"},
            {"functionCall": {"name": "f", "args": {"a": [1, "é"]}}}, {"functionCall": {"id": "i", "name": "n"}}])),
        chunk(json!([{"functionCall": {"name": "p", "willContinue": true}}])),
        chunk(partial("$.s", json!({"stringValue": "a\"b"}), true)),
        chunk(partial("$.s", json!({"stringValue": "c"}), true)),
        chunk(partial("$.s", json!({"stringValue": ""}), false)),
        chunk(partial("$.o.x[0]", json!({"numberValue": 1.5}), false)),
        chunk(partial("$.o.x[1]", json!({"boolValue": true}), false)),
        chunk(partial("$.o.y", json!({"nullValue": "NULL_VALUE"}), false)),
        chunk(partial("$.z", json!({"stringValue": "end"}), false)),
        chunk(json!([{"functionCall": {}}])),
        json!({"candidates": [{"content": {"parts": [{"text": ""}]}, "finishReason": "STOP", "finishMessage": "m"}],
            "usageMetadata": {"promptTokenCount": 5, "thoughtsTokenCount": 3, "totalTokenCount": 8}}),
    ];
    let array = format!("[{}]", events.iter().map(Value::to_string).collect::<Vec<_>>().join("\n,\r\n"));
    for stream in [unnamed(&events), array.into_bytes()] {
        let Read { message, end, .. } = read(&stream, "gemini");
        assert_eq!((end.verdict, end.dialect), (Verdict::Finished, Some(Protocol::Gemini)));
        assert_eq!((end.choices_seen, end.choices_finished, end.is_complete()), (2, 2, true));
        let function = |name: &str, arguments: &str| json!({"type": "function", "function": {"name": name, "arguments": arguments}});
        let mut with_id = function("n", "{}");
        with_id["id"] = json!("i");
        let arguments = r#"{"s":"a\"bc","o":{"x":[1.5,true],"y":null},"z":"end"}"#;
        let expected = json!([
            {
                "index": 0,
                "message": {
                    "role": "assistant", "content": "x", "reasoning_content": "th",
                    "tool_calls": [function("f", r#"{"a":[1,"é"]}"#), function("f", r#"{"a":[1,"é"]}"#), with_id,
                        function("p", arguments)],
                    "signatures": ["s", "t"], "native_content": [code, image],
                },
                "finish_reason": "tool_calls", "native_finish_reason": "STOP", "finishMessage": "m",
            },
            {
                "index": 1, "message": {"content": "other"},
                "finish_reason": "length", "native_finish_reason": "MAX_TOKENS",
            },
        ]);
        assert_eq!(message["choices"], expected, "{message:#}");
        assert_eq!(
            message["usage"],
            json!({"prompt_tokens": 5, "completion_tokens": 3, "total_tokens": 8,
            "completion_tokens_details": {"reasoning_tokens": 3}})
        );
        assert_eq!((&message["id"], &message["model"]), (&json!("id"), &json!("g")));
    }
    let blocked = unnamed(&[json!({"promptFeedback": {"blockReason": "OTHER"}})]);
    let Read { message, end, .. } = read(&blocked, "blocked");
    assert_eq!((end.verdict, &message["choices"][0]["finish_reason"]), (Verdict::Finished, &json!("content_filter")));
    assert_eq!(message["promptFeedback"], json!({"blockReason": "OTHER"}));
    assert_eq!(message["choices"][0].get("native_finish_reason"), None);
}

/// A proxy reports a failure of its own behind that of the vendor.
#[test]
fn a_response_that_ends_twice_is_reported_once() {
    let search = json!({"type": "web_search_call"});
    let message = json!({"type": "message", "content": [{"type": "output_text", "text": "x"}]});
    let call = json!({"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"});
    let output = json!([message, search, call]);
    let end =
        |status: &str| json!({"type": format!("response.{status}"), "response": {"status": status, "output": output}});
    for (first, second) in
        [("failed", "failed"), ("failed", "completed"), ("cancelled", "failed"), ("completed", "completed")]
    {
        let stream = unnamed(&[end(first), end(second)]);
        let message = &read(&stream, first).message["choices"][0]["message"];
        assert_eq!(message["content"], "x", "{first}, {second}");
        assert_eq!(message["native_content"], json!([search]), "{first}, {second}");
        let calls = message["tool_calls"].as_array().unwrap();
        assert_eq!((calls.len(), &calls[0]["function"]["arguments"]), (1, &json!("{}")), "{first}, {second}");
    }
}

/// Events that the vendor does not have, or that have their type in their name alone.
#[test]
fn an_event_is_of_the_type_in_its_name() {
    // A status alone makes no response of it, nor a usage a chunk of chat completions.
    let created = json!({"type": "response.created", "response": {"id": "r"}});
    let notice = json!({"type": "proxy.notice", "status": "ok"});
    let Read { message, end, .. } = read(&unnamed(&[created, notice]), "a status");
    assert_eq!((end.verdict, &message["choices"][0]["finish_reason"]), (Verdict::Truncated, &Value::Null));
    let stop =
        "event: message_delta\ndata: {\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":7}}\n\n";
    let start = "event: message_start\ndata: {\"message\":{\"id\":\"m\",\"usage\":{\"input_tokens\":3}}}\n\n";
    for stream in [stop.to_string(), [start, stop].concat()] {
        let Read { message, end, quirks } = read(stream.as_bytes(), "by its name");
        assert_eq!((end.verdict, end.dialect), (Verdict::Finished, Some(Protocol::Anthropic)));
        assert_eq!((quirks, &message["native_usage"]["output_tokens"]), (Vec::new(), &json!(7)), "{message}");
        assert_eq!(message["choices"][0]["native_finish_reason"], "end_turn");
    }
    // One with choices is a chunk of chat completions, whatever its name.
    let chunk = "event: message_delta\ndata: {\"choices\":[{\"delta\":{\"content\":\"x\"}}]}\n\n";
    let Read { message, end, .. } = read(chunk.as_bytes(), "a chunk");
    assert_eq!((end.dialect, &message["choices"][0]["message"]["content"]), (Some(Protocol::Chat), &json!("x")));
}

/// An event without its blank line at the end of the stream is what it would be with it, by its type or its name.
#[test]
fn the_last_event_is_the_same_without_its_blank_line() {
    let block = json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "x"}});
    let stop = json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 5}});
    let text = json!({"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "delta": "x"});
    let ended = |word: &str| json!({"type": format!("response.{word}"), "response": {}});
    let over = json!({"type": "message_stop"});
    let error = json!({"type": "error", "message": "m"});
    for (events, verdict) in [
        (vec![block.clone()], Verdict::Truncated),
        (vec![block.clone(), stop.clone()], Verdict::Finished),
        (vec![block.clone(), stop.clone(), over.clone()], Verdict::Done),
        (vec![block.clone(), stop.clone(), over.clone(), json!({"type": "ping"})], Verdict::Done),
        (vec![block.clone(), json!({"type": "ping"})], Verdict::Truncated),
        (vec![block, error.clone()], Verdict::ApiError),
        (vec![text.clone()], Verdict::Truncated),
        (vec![text.clone(), ended("completed")], Verdict::Done),
        (vec![text.clone(), ended("incomplete")], Verdict::Done),
        (vec![text.clone(), ended("failed")], Verdict::ApiError),
        (vec![text, error], Verdict::ApiError),
    ] {
        for stream in [named(&events), unnamed(&events), by_name(&events)] {
            let whole = read(&stream, "with its blank line");
            let is_complete = matches!(verdict, Verdict::Done | Verdict::Finished);
            assert_eq!((whole.end.verdict, whole.end.is_complete()), (verdict, is_complete), "{events:?}");
            let text = String::from_utf8(stream.clone()).unwrap();
            for cut in [text.trim_end().to_string(), text.trim_end().to_string() + "\n"] {
                let read = read(cut.as_bytes(), "without");
                assert_eq!(read.message, whole.message, "{cut}");
                let facts =
                    |end: &End| (end.verdict, end.dialect, end.pending, end.choices_finished, end.is_complete());
                assert_eq!(facts(&read.end), facts(&whole.end), "{cut}");
                assert_eq!(read.quirks, [&whole.quirks[..], &[Quirk::UnterminatedEvent]].concat(), "{cut}");
            }
            // What was cut inside is nothing.
            let read = read(text.trim_end().trim_end_matches('}').as_bytes(), "cut");
            let all_but_one = whole.end.verdict == Verdict::Done && events.len() == 4;
            assert_eq!((read.end.is_complete(), read.end.verdict == Verdict::Done), (false, all_but_one), "{text}");
        }
    }
}

/// Blocks of any index are distinguished, whatever their distance.
#[test]
fn blocks_that_are_64_apart_are_two() {
    let piece = |index: u32, text: &str| json!({"type": "content_block_delta", "index": index, "delta": {"type": "input_json_delta", "partial_json": text}});
    let start = |index: u32, kind: &str| json!({"type": "content_block_start", "index": index, "content_block": {"type": kind, "id": format!("t{index}"), "name": "f", "input": {}}});
    for far in [32, 64, 128, 192, 224, 1 << 20, u32::MAX - 2] {
        let events = [
            json!({"type": "message_start", "message": {"id": "m", "content": []}}),
            start(0, "tool_use"),
            piece(0, "{\"a\":"),
            start(far, "server_tool_use"),
            piece(far, "{\"s\":1}"),
            piece(0, "1}"),
            start(far + 1, "tool_use"),
            piece(far + 1, "{\"b\":2}"),
            piece(far, "server"),
        ];
        let Read { message, quirks, .. } = read(&unnamed(&events), "blocks");
        let own = &message["choices"][0]["message"];
        let arguments = |call: usize| own["tool_calls"][call]["function"]["arguments"].clone();
        let server = json!({"type": "input_json_delta", "partial_json": "{\"s\":1}"});
        let natives = own["native_content"].as_array().unwrap();
        assert_eq!((natives[1].clone(), quirks), (server, Vec::new()), "{far}");
        assert_eq!(
            (arguments(1), natives.last().unwrap()["partial_json"].clone()),
            (json!("{\"b\":2}"), json!("server"))
        );
        if far <= 224 {
            assert_eq!((arguments(0), natives.len()), (json!("{\"a\":1}"), 3), "{far}");
        } else {
            // Of a block that began so long before it is not known what it is: the piece is reported as it came.
            assert_eq!((arguments(0), natives[2]["partial_json"].clone()), (json!("{\"a\":"), json!("1}")), "{far}");
        }
    }
}

/// Each event of another protocol counts, also one that came before, whole or cut.
#[test]
fn the_same_foreign_event_counts_each_time() {
    let chunk = json!({"choices": [{"delta": {"content": "x"}}]});
    let foreign = json!({"type": "content_block_stop", "index": 0});
    let stream = unnamed(&[vec![chunk], vec![foreign; 6]].concat());
    for size in [stream.len(), 40, 7, 1] {
        let mut parser: Parser<Growing, 2, ()> = Parser::with_tracker(Growing::new(), Config::default(), ());
        for mut piece in stream.chunks(size) {
            while parser.next(&mut piece).unwrap().is_some() {}
        }
        assert_eq!(parser.quirk_count(Quirk::ForeignEvent), 6, "in reads of {size}");
    }
}

/// Each text of a stream (its kind, code, slot and decoded text), of a batch; a call's arguments by the number of the call.
fn texts(bytes: &[u8], size: usize) -> Vec<(Kind, u32, u64, String)> {
    let (mut machine, mut emitter) = (Machine::<2>::new(Config::default()), Emitter::new());
    let (mut tracker, mut memory) = (Tracker::<8, 32>::new(), vec![0; bytes.len() + 64]);
    let (mut array, mut scratch, mut texts) = ([Record::default(); 64], [0; 4096], Vec::new());
    for piece in bytes.chunks(size).map(Some).chain([None]) {
        let mut records = Records::new(&mut array, &mut scratch, Kind::DEFAULT);
        let (mut store, input) = (&mut memory[..], piece.unwrap_or_default());
        let outcome = match piece {
            Some(piece) => emitter.run(&mut machine, &mut store, &mut tracker, piece, 0, &mut records).1,
            None => emitter.finish(&mut machine, &mut store, &mut tracker, &mut records),
        };
        assert_eq!(outcome, Outcome::Done);
        let written = records.written();
        for record in &array[..written] {
            let from = if record.flags & FLAG_TEXT_SCRATCH != 0 { &scratch[..] } else { input };
            let kind = Kind::from_number(record.kind.into()).unwrap();
            let slot = if kind == Kind::ToolArguments { record.call.into() } else { record.number };
            if [Kind::Content, Kind::Reasoning, Kind::Refusal, Kind::ToolArguments].contains(&kind) {
                let text = &from[record.text_off as usize..][..record.text_len as usize];
                texts.push((kind, record.code, slot, String::from_utf8(text.to_vec()).unwrap()));
            }
        }
    }
    texts
}

#[test]
fn halves_of_characters_are_joined_by_slot() {
    use Kind::{Content, Reasoning, Refusal, ToolArguments};
    let (high, low) = ("\\ud83d", "\\ude00");
    let event = |data: String| format!("data: {data}\n\n");
    let block = |index: u32, kind: &str, name: &str, text: String| {
        event(format!(
            r#"{{"type":"content_block_delta","index":{index},"delta":{{"type":"{kind}","{name}":"{text}"}}}}"#
        ))
    };
    let text = |index: u32, text: String| block(index, "text_delta", "text", text);
    let thinking = |index: u32, text: &str| block(index, "thinking_delta", "thinking", text.to_string());
    let piece = |index: u32, text: &str| block(index, "input_json_delta", "partial_json", text.to_string());
    let opens = |index: u32| {
        event(format!(
            r#"{{"type":"content_block_start","index":{index},"content_block":{{"type":"tool_use","id":"{index}","name":"f"}}}}"#
        ))
    };
    let stop = event(r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"}}"#.to_string());
    let part = |kind: &str, index: &str, item: u32, part: u32, text: &str| {
        event(format!(r#"{{"type":"response.{kind}.delta","output_index":{item},"{index}":{part},"delta":"{text}"}}"#))
    };
    let output = |item: u32, at: u32, text: &str| part("output_text", "content_index", item, at, text);
    let parts = |parts: &str| event(format!(r#"{{"candidates":[{{"content":{{"parts":[{parts}]}}}}]}}"#));
    let (one, both) = ("\u{fffd}", "\u{1f600}");
    let slot = |item: u64, part: u64| item << 32 | part;
    // The stream, its texts, and whether a half is left alone.
    type Texts<'a> = Vec<(Kind, u32, u64, &'a str)>;
    let rows: Vec<(&str, Vec<String>, Texts<'_>, bool)> = vec![
        (
            "Anthropic: one block",
            vec![text(0, format!("a{high}")), text(0, format!("{low}b"))],
            vec![(Content, 0, 0, "a"), (Content, 0, 0, "\u{1f600}b")],
            false,
        ),
        (
            "Anthropic: blocks by turns",
            vec![
                text(0, high.into()),
                text(1, format!("x{high}")),
                thinking(2, high),
                text(0, low.into()),
                thinking(2, low),
                text(1, low.into()),
            ],
            vec![(Content, 0, 1, "x"), (Content, 0, 0, both), (Reasoning, 0, 2, both), (Content, 0, 1, both)],
            false,
        ),
        (
            "Anthropic: another block",
            vec![text(0, high.into()), text(1, low.into()), stop.clone()],
            vec![(Content, 0, 1, one), (Content, 0, 0, one)],
            true,
        ),
        (
            "Anthropic: thinking and text of one index",
            vec![thinking(0, high), text(0, low.into()), thinking(0, low)],
            vec![(Content, 0, 0, one), (Reasoning, 0, 0, both)],
            true,
        ),
        (
            "Anthropic: calls by turns",
            vec![opens(0), opens(1), piece(0, high), piece(1, high), piece(0, low), piece(1, low)],
            vec![(ToolArguments, 0, 0, both), (ToolArguments, 0, 1, both)],
            false,
        ),
        (
            "Anthropic: three halves wait, a fourth is alone",
            (0..4).chain(0..4).enumerate().map(|(at, index)| text(index, [high, low][at / 4].into())).collect(),
            vec![
                (Content, 0, 3, one),
                (Content, 0, 0, both),
                (Content, 0, 1, both),
                (Content, 0, 2, both),
                (Content, 0, 3, one),
            ],
            true,
        ),
        ("Anthropic: at the end", vec![text(7, high.into())], vec![(Content, 0, 7, one)], true),
        (
            "Responses: parts and items by turns",
            vec![
                output(0, 0, high),
                output(0, 1, high),
                output(1, 0, high),
                output(1, 0, low),
                output(0, 1, low),
                output(0, 0, low),
            ],
            vec![(Content, 0, slot(1, 0), both), (Content, 0, 1, both), (Content, 0, 0, both)],
            false,
        ),
        (
            "Responses: another part",
            vec![output(3, 0, high), output(3, 1, low)],
            vec![(Content, 0, slot(3, 1), one), (Content, 0, slot(3, 0), one)],
            true,
        ),
        (
            "Responses: text, reasoning, its summary and a refusal in one place",
            vec![
                part("reasoning_text", "content_index", 2, 0, high),
                part("reasoning_summary_text", "summary_index", 2, 0, high),
                part("refusal", "content_index", 2, 0, high),
                part("reasoning_summary_text", "summary_index", 2, 0, low),
                output(2, 0, low),
                part("reasoning_text", "content_index", 2, 0, low),
                part("refusal", "content_index", 2, 0, low),
            ],
            vec![
                (Reasoning, 1, slot(2, 0), both),
                (Content, 0, slot(2, 0), one),
                (Reasoning, 0, slot(2, 0), both),
                (Refusal, 0, slot(2, 0), both),
            ],
            true,
        ),
        (
            "Gemini: one part, over two events",
            vec![parts(&format!(r#"{{"text":"{high}"}},{{"text":"x"}}"#)), parts(&format!(r#"{{"text":"{low}"}}"#))],
            vec![(Content, 0, 1, "x"), (Content, 0, 0, both)],
            false,
        ),
        (
            "Gemini: a thought and a text",
            vec![parts(&format!(r#"{{"text":"{high}","thought":true}}"#)), parts(&format!(r#"{{"text":"{low}"}}"#))],
            vec![(Content, 0, 0, one), (Reasoning, 0, 0, one)],
            true,
        ),
    ];
    for (name, events, expected, is_alone) in rows {
        let stream = events.concat();
        let expected: Vec<_> =
            expected.into_iter().map(|(kind, code, slot, text)| (kind, code, slot, text.to_string())).collect();
        for size in [1, 7, stream.len()] {
            assert_eq!(texts(stream.as_bytes(), size), expected, "{name}, in reads of {size}");
        }
        let quirks = read(stream.as_bytes(), name).quirks;
        assert_eq!(quirks.contains(&Quirk::LoneSurrogate), is_alone, "{name}: {quirks:?}");
    }
}

/// A path of n keys would otherwise make JSON of n levels, which no reader takes, at the cost of n² steps.
#[test]
fn arguments_by_path_are_bounded_in_depth() {
    let arguments = |keys: usize| {
        let piece = |path: &str| json!({"jsonPath": path, "numberValue": 1});
        let pieces = [piece("$.a"), piece(&format!("${}", ".b[0]".repeat(keys / 2))), piece("$.c")];
        let part = json!({"functionCall": {"name": "f", "partialArgs": pieces}});
        let stream = unnamed(&[json!({"candidates": [{"content": {"parts": [part]}}]})]);
        let message = read(&stream, "paths").message;
        let call = &message["choices"][0]["message"]["tool_calls"][0];
        call["function"]["arguments"].as_str().unwrap().to_string()
    };
    assert_eq!(arguments(4), r#"{"a":1,"b":[{"b":[1]}],"c":1}"#);
    assert_eq!(serde_json::from_str::<Value>(&arguments(126)).unwrap().as_object().unwrap().len(), 3);
    assert_eq!(arguments(128), r#"{"a":1,"c":1}"#);
    assert_eq!(arguments(300_000), r#"{"a":1,"c":1}"#);
}

#[test]
fn each_protocol_has_its_end() {
    use Verdict::{ApiError, Done, Finished, OtherProtocol, Truncated};
    let start = r#"data: {"type":"message_start","message":{}}"#;
    let stop = r#"data: {"type":"message_delta","delta":{"stop_reason":"end_turn"}}"#;
    let rows: &[(&[&str], Verdict)] = &[
        (&[start], Truncated),
        (&[start, "data: [DONE]"], Truncated),
        (&[start, stop], Finished),
        (&[start, stop, r#"data: {"type":"message_stop"}"#], Done),
        (&[start, stop, r#"data: {"type":"error","error":{"message":"m"}}"#], ApiError),
        (&[r#"data: {"type":"response.queued","response":{}}"#], Truncated),
        (&[r#"data: {"type":"response.completed","response":{"status":"completed"}}"#, "data: [DONE]"], Done),
        (&[r#"data: {"type":"response.incomplete","response":{"status":"incomplete"}}"#], Done),
        (&[r#"data: {"type":"response.failed","response":{"status":"failed"}}"#], ApiError),
        (&[r#"data: {"candidates":[{"content":{"parts":[{"text":"x"}]}}]}"#], Truncated),
        (&[r#"data: {"candidates":[{"finishReason":"STOP"}]}"#], Finished),
        (&[r#"data: {"candidates":[{"finishReason":"STOP"}]}"#, r#"{"error":{"message":"m"}}"#], ApiError),
        (&[r#"data: {"type":"message-start"}"#], OtherProtocol),
        (&[r#"data: {"event_type":"interaction.created"}"#], OtherProtocol),
        (&[r#"{"model":"m","done":false,"message":{}}"#], OtherProtocol),
        (&[r#"data: {"usageMetadata":{}}"#, r#"data: {"candidates":[{"finishReason":"STOP"}]}"#], Finished),
    ];
    for (lines, verdict) in rows {
        let stream = lines.iter().map(|line| format!("{line}\n\n")).collect::<String>();
        let read = pull(stream.as_bytes(), &[stream.len()], None);
        let cut = pull(stream.as_bytes(), &[3], None);
        assert_eq!((read.end.verdict, read.end), (*verdict, cut.end), "{stream}");
    }
}

#[test]
fn the_protocol_can_be_given() {
    let stream =
        unnamed(&[json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "x"}})]);
    let content = |dialect| {
        let read = pull(&stream, &[stream.len()], dialect);
        (read.message["choices"][0]["message"]["content"].clone(), read.end.dialect, read.quirks)
    };
    let x = || (json!("x"), Some(Protocol::Anthropic), Vec::new());
    assert_eq!(content(None), x());
    assert_eq!(content(Some(Protocol::Anthropic)), x());
    // One that is not read is looked for, as if none was given.
    assert_eq!(content(Some(Protocol::Cohere)), x());
    for other in [Protocol::Chat, Protocol::Gemini, Protocol::Responses] {
        assert_eq!(content(Some(other)), (Value::Null, None, vec![Quirk::ForeignEvent]), "{other:?}");
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Finish reasons and usage: a test for each row of the tables of docs/protocols.md

/// The finish reason of a stream in the words of chat completions and as sent, and whether the prompt was refused.
fn finish(events: &[Value]) -> (Option<String>, Option<String>, bool) {
    let stream = unnamed(events);
    let message = read(&stream, "finish").message;
    let choice = &message["choices"][0];
    let word = |name: &str| choice[name].as_str().map(str::to_string);
    (word("finish_reason"), word("native_finish_reason"), message.get("promptFeedback").is_some())
}

fn anthropic_end(reason: &str) -> Vec<Value> {
    vec![json!({"type": "message_delta", "delta": {"stop_reason": reason}}), json!({"type": "message_stop"})]
}

fn responses_end(status: &str, response: Value) -> Vec<Value> {
    let mut response = response;
    response["status"] = json!(status);
    vec![json!({"type": format!("response.{status}"), "response": response})]
}

fn gemini_end(reason: &str, parts: Value) -> Vec<Value> {
    vec![json!({"candidates": [{"content": {"parts": parts}, "finishReason": reason}]})]
}

/// Each stream has this reason, and is `native` in the words of its protocol.
#[track_caller]
fn finishes(canonical: Option<&str>, rows: Vec<(Vec<Value>, &str)>) {
    for (events, native) in rows {
        // A reason that chat completions have no word for stands as it was sent.
        let canonical = canonical.unwrap_or(native).to_string();
        assert_eq!(finish(&events), (Some(canonical), Some(native.to_string()), false), "{events:?}");
    }
}

#[test]
fn finish_is_tool_calls() {
    let function = json!({"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"});
    let custom = json!({"type": "custom_tool_call", "call_id": "c", "name": "f", "input": ""});
    let added = |item: &Value| json!({"type": "response.output_item.added", "output_index": 0, "item": item});
    let done = |item: &Value| json!({"type": "response.output_item.done", "output_index": 0, "item": item});
    let after = |event: Value, end: Vec<Value>| [vec![event], end].concat();
    let completed = |output: Value| responses_end("completed", json!({"output": output}));
    let call = json!([{"functionCall": {"name": "f", "args": {}}}]);
    let early = json!({"candidates": [{"content": {"parts": call}}]});
    finishes(
        Some("tool_calls"),
        vec![
            (anthropic_end("tool_use"), "tool_use"),
            (after(added(&function), completed(json!([]))), "completed"),
            (after(added(&custom), completed(json!([]))), "completed"),
            (after(done(&function), completed(json!([]))), "completed"),
            (completed(json!([function])), "completed"),
            (completed(json!([custom])), "completed"),
            (gemini_end("STOP", call.clone()), "STOP"),
            (after(early, gemini_end("STOP", json!([]))), "STOP"),
        ],
    );
}

#[test]
fn finish_is_length() {
    let incomplete = responses_end("incomplete", json!({"incomplete_details": {"reason": "max_output_tokens"}}));
    finishes(
        Some("length"),
        vec![
            (anthropic_end("max_tokens"), "max_tokens"),
            (anthropic_end("model_context_window_exceeded"), "model_context_window_exceeded"),
            (gemini_end("MAX_TOKENS", json!([])), "MAX_TOKENS"),
            (incomplete, "incomplete"),
        ],
    );
}

#[test]
fn finish_is_content_filter() {
    let incomplete = responses_end("incomplete", json!({"incomplete_details": {"reason": "content_filter"}}));
    let words = ["SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY"];
    let rows = words.map(|word| (gemini_end(word, json!([])), word));
    let others = [(anthropic_end("refusal"), "refusal"), (incomplete, "incomplete")];
    finishes(Some("content_filter"), rows.into_iter().chain(others).collect());
}

#[test]
fn a_refused_prompt_is_content_filter() {
    for word in ["SAFETY", "OTHER", "BLOCKLIST", "PROHIBITED_CONTENT", "IMAGE_SAFETY", "STOP", "a new one"] {
        let events = [json!({"promptFeedback": {"blockReason": word}})];
        // The text is no reason of a candidate, so the message has it in `promptFeedback` alone.
        assert_eq!(finish(&events), (Some("content_filter".to_string()), None, true), "{word}");
        let stream = unnamed(&events);
        let mut parser: Parser<Growing, 2, ()> = Parser::with_tracker(Growing::new(), Config::default(), ());
        let mut rest = &stream[..];
        let event = parser.next(&mut rest).unwrap().unwrap();
        let reasons: Vec<_> = event
            .deltas()
            .filter_map(|(_, update)| match update {
                Update::Finish(reason) => Some((reason.text().to_string(), reason.kind())),
                _ => None,
            })
            .collect();
        assert_eq!(reasons, [(word.to_string(), FinishKind::ContentFilter)]);
    }
    // Feedback without a reason ends nothing.
    let rated = json!({"promptFeedback": {"safetyRatings": []}, "candidates": []});
    assert_eq!(finish(&[rated]), (None, None, true));
}

#[test]
fn finish_is_error() {
    finishes(
        Some("error"),
        vec![
            (responses_end("failed", json!({"error": {"message": "m"}})), "failed"),
            (responses_end("cancelled", json!({})), "cancelled"),
            (gemini_end("MALFORMED_FUNCTION_CALL", json!([])), "MALFORMED_FUNCTION_CALL"),
        ],
    );
}

#[test]
fn finish_is_stop() {
    let item = json!({"type": "web_search_call"});
    let server = json!({"type": "content_block_start", "index": 0, "content_block": {"type": "server_tool_use"}});
    let client = json!({"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "id": "t"}});
    let other_candidate = json!({"candidates": [
        {"index": 1, "content": {"parts": [{"functionCall": {"name": "f"}}]}},
        {"index": 0, "content": {"parts": [{"executableCode": {}}]}, "finishReason": "STOP"}]});
    finishes(
        Some("stop"),
        vec![
            (anthropic_end("end_turn"), "end_turn"),
            (anthropic_end("stop_sequence"), "stop_sequence"),
            (anthropic_end("pause_turn"), "pause_turn"),
            // Tool calls, the server's or the client's, do not change what `end_turn` means.
            ([vec![server], anthropic_end("end_turn")].concat(), "end_turn"),
            ([vec![client], anthropic_end("end_turn")].concat(), "end_turn"),
            (responses_end("completed", json!({"output": [item]})), "completed"),
            (gemini_end("STOP", json!([{"text": "x"}])), "STOP"),
            (vec![other_candidate], "STOP"),
        ],
    );
}

#[test]
fn finish_is_as_sent() {
    let mut rows: Vec<_> =
        ["LANGUAGE", "OTHER", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS", "NO_IMAGE", "stop_Stop"]
            .into_iter()
            .map(|word| (gemini_end(word, json!([])), word))
            .collect();
    rows.push((anthropic_end("a_new_reason"), "a_new_reason"));
    rows.push((responses_end("incomplete", json!({})), "incomplete"));
    rows.push((responses_end("incomplete", json!({"incomplete_details": {"reason": "another"}})), "incomplete"));
    finishes(None, rows);
}

/// The last usage of a stream: of the message, which every way to read has alike, and of the parser.
fn usage(events: &[Value]) -> Value {
    let stream = unnamed(events);
    let message = read(&stream, "usage").message;
    let mut parser: Parser<Growing, 2, ()> = Parser::with_tracker(Growing::new(), Config::default(), ());
    let mut rest = &stream[..];
    while parser.next(&mut rest).unwrap().is_some() {}
    let usage = message.get("usage").cloned().unwrap_or(Value::Null);
    let counts = parser.native_usage();
    assert_eq!(counts.is_some(), !usage.is_null(), "{events:?}");
    let counts = counts.unwrap_or_default();
    let of = |path: &str| usage.pointer(path).and_then(Value::as_u64);
    assert_eq!(counts.prompt_tokens(), of("/prompt_tokens"), "{events:?}");
    assert_eq!(counts.completion_tokens(), of("/completion_tokens"), "{events:?}");
    assert_eq!(counts.total_tokens(), of("/total_tokens"), "{events:?}");
    assert_eq!(counts.cached_tokens(), of("/prompt_tokens_details/cached_tokens"), "{events:?}");
    assert_eq!(counts.reasoning_tokens(), of("/completion_tokens_details/reasoning_tokens"), "{events:?}");
    usage
}

fn responses_usage(usage: Value) -> Value {
    json!({"type": "response.completed", "response": {"status": "completed", "usage": usage}})
}

fn anthropic_usage(usages: &[Value]) -> Vec<Value> {
    let event = |(at, usage): (usize, &Value)| match at {
        0 => json!({"type": "message_start", "message": {"usage": usage}}),
        _ => json!({"type": "message_delta", "delta": {}, "usage": usage}),
    };
    usages.iter().enumerate().map(event).collect()
}

fn gemini_usage(usage: Value) -> Value {
    json!({"candidates": [], "usageMetadata": usage})
}

#[test]
fn usage_of_responses() {
    let all = json!({"input_tokens": 11, "input_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 100},
        "output_tokens": 7, "output_tokens_details": {"reasoning_tokens": 5}, "total_tokens": 99});
    let expected = json!({"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 99,
        "prompt_tokens_details": {"cached_tokens": 4}, "completion_tokens_details": {"reasoning_tokens": 5}});
    assert_eq!(usage(&[responses_usage(all.clone())]), expected);
    // Of a response that is not over the usage does not count.
    let created = json!({"type": "response.in_progress", "response": {"usage": all}});
    assert_eq!(usage(&[created]), Value::Null);
    let both = json!({"input_tokens": 2, "output_tokens": 3});
    assert_eq!(usage(&[responses_usage(both)]), json!({"prompt_tokens": 2, "completion_tokens": 3, "total_tokens": 5}));
}

#[test]
fn usage_of_anthropic_adds_the_cache_and_goes_by_member() {
    let first = json!({"input_tokens": 12, "cache_read_input_tokens": 1028, "cache_creation_input_tokens": 250,
        "cache_creation": {"ephemeral_5m_input_tokens": 250}, "output_tokens": 1,
        "server_tool_use": {"web_search_requests": 3}});
    let last = json!({"output_tokens": 40, "output_tokens_details": {"thinking_tokens": 9}, "input_tokens": null,
        "iterations": [{"input_tokens": 5, "output_tokens": 5}]});
    assert_eq!(
        usage(&anthropic_usage(&[first, last])),
        json!({"prompt_tokens": 1290, "completion_tokens": 40, "total_tokens": 1330,
        "prompt_tokens_details": {"cached_tokens": 1028}, "completion_tokens_details": {"reasoning_tokens": 9}})
    );
    // One that comes late replaces the one before.
    let late = [json!({"input_tokens": 1, "output_tokens": 1}), json!({"input_tokens": 30, "output_tokens": 2})];
    assert_eq!(
        usage(&anthropic_usage(&late)),
        json!({"prompt_tokens": 30, "completion_tokens": 2, "total_tokens": 32})
    );
    let written = [json!({"cache_creation_input_tokens": 8})];
    assert_eq!(usage(&anthropic_usage(&written)), json!({"prompt_tokens": 8}));
    let read = [json!({"cache_read_input_tokens": 6, "output_tokens": 0})];
    assert_eq!(
        usage(&anthropic_usage(&read)),
        json!({"prompt_tokens": 6, "completion_tokens": 0, "total_tokens": 6,
        "prompt_tokens_details": {"cached_tokens": 6}})
    );
}

#[test]
fn usage_of_gemini_adds_tools_and_thoughts_and_the_last_counts() {
    let all = json!({"promptTokenCount": 32, "candidatesTokenCount": 477, "totalTokenCount": 1600,
        "thoughtsTokenCount": 240, "cachedContentTokenCount": 2, "toolUsePromptTokenCount": 764,
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 32}]});
    assert_eq!(
        usage(&[gemini_usage(all.clone())]),
        json!({"prompt_tokens": 796, "completion_tokens": 717, "total_tokens": 1600,
        "prompt_tokens_details": {"cached_tokens": 2}, "completion_tokens_details": {"reasoning_tokens": 240}})
    );
    // Without a total it is the sum. Nothing is kept of the usage before.
    let last = json!({"promptTokenCount": 5, "thoughtsTokenCount": 3});
    assert_eq!(
        usage(&[gemini_usage(all), gemini_usage(last)]),
        json!({"prompt_tokens": 5, "completion_tokens": 3, "total_tokens": 8,
        "completion_tokens_details": {"reasoning_tokens": 3}})
    );
    assert_eq!(usage(&[gemini_usage(json!({"candidatesTokenCount": 4}))]), json!({"completion_tokens": 4}));
}

#[test]
fn a_count_that_was_not_sent_is_absent() {
    // Each alone, 0 or not; and what is no count.
    type Row<'a> = (fn(Value) -> Vec<Value>, &'a [(&'a str, &'a str)]);
    let rows: [Row<'_>; 3] = [
        (
            |usage| vec![responses_usage(usage)],
            &[
                ("input_tokens", "/prompt_tokens"),
                ("output_tokens", "/completion_tokens"),
                ("total_tokens", "/total_tokens"),
                ("input_tokens_details.cached_tokens", "/prompt_tokens_details/cached_tokens"),
                ("output_tokens_details.reasoning_tokens", "/completion_tokens_details/reasoning_tokens"),
            ],
        ),
        (
            |usage| anthropic_usage(&[usage]),
            &[
                ("input_tokens", "/prompt_tokens"),
                ("output_tokens", "/completion_tokens"),
                ("cache_creation_input_tokens", "/prompt_tokens"),
                ("output_tokens_details.thinking_tokens", "/completion_tokens_details/reasoning_tokens"),
            ],
        ),
        (
            |usage| vec![gemini_usage(usage)],
            &[
                ("promptTokenCount", "/prompt_tokens"),
                ("toolUsePromptTokenCount", "/prompt_tokens"),
                ("candidatesTokenCount", "/completion_tokens"),
                ("totalTokenCount", "/total_tokens"),
                ("cachedContentTokenCount", "/prompt_tokens_details/cached_tokens"),
            ],
        ),
    ];
    for (events, names) in rows {
        for (name, path) in names {
            let of = |count: Value| match name.split_once('.') {
                Some((outer, inner)) => json!({outer: {inner: count}}),
                None => json!({*name: count}),
            };
            for count in [0, 7, u64::MAX] {
                let usage = usage(&events(of(json!(count))));
                assert_eq!(usage.pointer(path), Some(&json!(count)), "{name}: {usage}");
                assert_eq!(usage.as_object().unwrap().len(), 1, "{name}: {usage}");
            }
            for none in [json!(null), json!("7"), json!(-1), json!([7]), json!({"a": 7})] {
                assert_eq!(usage(&events(of(none.clone()))), Value::Null, "{name}: {none}");
            }
        }
        assert_eq!(usage(&events(json!({}))), Value::Null);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Generated streams

/// A generator of small numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 33) as u32) % bound
    }

    fn text(&mut self) -> String {
        (0..self.below(5))
            .map(|_| ["a", "é", "\u{1f600}", "\"", "\\", "\n", "{", "data: "][self.below(8) as usize])
            .collect()
    }
}

fn anthropic_stream(random: &mut Random) -> Vec<Value> {
    let mut events = vec![json!({"type": "message_start", "message": {"id": random.text(), "usage":
        {"input_tokens": random.below(9), "output_tokens": 1}}})];
    for index in 0..random.below(5) {
        let (block, deltas): (Value, Vec<Value>) = match random.below(4) {
            0 => {
                let pieces = (0..random.below(4)).map(|_| json!({"type": "text_delta", "text": random.text()}));
                (json!({"type": "text", "text": ""}), pieces.collect())
            }
            1 => {
                let pieces = (0..random.below(4)).map(|_| json!({"type": "thinking_delta", "thinking": random.text()}));
                (json!({"type": "thinking", "thinking": ""}), pieces.collect())
            }
            kind => {
                let arguments = json!({random.text(): random.text()}).to_string();
                let mut pieces: Vec<_> =
                    arguments.chars().map(|c| json!({"type": "input_json_delta", "partial_json": c})).collect();
                if random.below(4) == 0 {
                    pieces = vec![json!({"type": "input_json_delta", "partial_json": ""})];
                }
                let name = if kind == 2 { "tool_use" } else { "server_tool_use" };
                (json!({"type": name, "id": format!("i{index}"), "name": "n", "input": {}}), pieces)
            }
        };
        events.push(json!({"type": "content_block_start", "index": index, "content_block": block}));
        events.extend(
            deltas.into_iter().map(|delta| json!({"type": "content_block_delta", "index": index, "delta": delta})),
        );
        events.push(json!({"type": "content_block_stop", "index": index}));
        if random.below(3) == 0 {
            events.push(json!({"type": "ping"}));
        }
    }
    let reason = ["end_turn", "max_tokens", "refusal", "new"][random.below(4) as usize];
    events.push(json!({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": random.below(99)}}));
    events.push(json!({"type": "message_stop"}));
    events
}

fn gemini_stream(random: &mut Random) -> Vec<Value> {
    let mut events: Vec<Value> = (0..1 + random.below(5))
        .map(|_| {
            let parts = (0..random.below(4)).map(|_| match random.below(4) {
                0 => json!({"text": random.text(), "thought": true}),
                1 => json!({"functionCall": {"name": format!("n{}", random.below(3)), "args": {random.text(): random.text()}}}),
                2 => json!({"inlineData": {"data": "A"}}),
                _ => json!({"text": random.text(), "thoughtSignature": "s"}),
            });
            json!({"candidates": [{"content": {"parts": parts.collect::<Vec<_>>()}}],
                "usageMetadata": {"promptTokenCount": random.below(9), "totalTokenCount": random.below(9)}})
        })
        .collect();
    let reason = ["STOP", "SAFETY", "NEW"][random.below(3) as usize];
    events.push(json!({"candidates": [{"finishReason": reason}]}));
    events
}

fn responses_stream(random: &mut Random) -> Vec<Value> {
    let mut events = vec![json!({"type": "response.created", "response": {"id": "r"}})];
    let mut output = Vec::new();
    for index in 0..random.below(5) {
        let text = random.text();
        // Which of the events that say the same come.
        let mut comes = |event: Value, chance: u32| {
            if random.below(4) < chance {
                events.push(event);
            }
        };
        let whole = match index % 3 {
            0 => {
                for piece in text.chars() {
                    comes(
                        json!({"type": "response.output_text.delta", "output_index": index, "content_index": 0, "delta": piece}),
                        4,
                    );
                }
                comes(
                    json!({"type": "response.output_text.done", "output_index": index, "content_index": 0, "text": text}),
                    2,
                );
                json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]})
            }
            1 => {
                comes(
                    json!({"type": "response.reasoning_summary_text.delta", "output_index": index, "summary_index": 0,
                    "delta": text}),
                    2,
                );
                comes(
                    json!({"type": "response.reasoning_summary_text.done", "output_index": index, "summary_index": 0,
                    "text": text}),
                    2,
                );
                json!({"type": "reasoning", "summary": [{"type": "summary_text", "text": text}]})
            }
            _ => {
                let arguments = json!({text: 1}).to_string();
                let item =
                    json!({"type": "function_call", "call_id": format!("c{index}"), "name": "f", "arguments": ""});
                events.push(json!({"type": "response.output_item.added", "output_index": index, "item": item}));
                let mut comes = |event: Value, chance: u32| {
                    if random.below(4) < chance {
                        events.push(event);
                    }
                };
                comes(
                    json!({"type": "response.function_call_arguments.delta", "output_index": index, "delta": arguments}),
                    2,
                );
                comes(
                    json!({"type": "response.function_call_arguments.done", "output_index": index, "arguments": arguments}),
                    2,
                );
                json!({"type": "function_call", "call_id": format!("c{index}"), "name": "f", "arguments": arguments})
            }
        };
        if random.below(2) == 0 {
            events.push(json!({"type": "response.output_item.done", "output_index": index, "item": whole}));
        }
        output.push(whole);
    }
    let status = ["completed", "incomplete"][random.below(2) as usize];
    events.push(json!({"type": format!("response.{status}"), "response": {"status": status, "output": output,
        "usage": {"input_tokens": 1, "output_tokens": random.below(9)}}}));
    events
}

#[test]
fn generated_streams_equal_a_naive_reader() {
    let mut calls = 0;
    for seed in 0..120 {
        let mut random = Random(seed);
        let events = match seed % 3 {
            0 => anthropic_stream(&mut random),
            1 => gemini_stream(&mut random),
            _ => responses_stream(&mut random),
        };
        let stream = if seed % 3 != 1 && random.below(2) == 0 { named(&events) } else { unnamed(&events) };
        let whole = pull(&stream, &[stream.len()], None);
        let name = String::from_utf8_lossy(&stream);
        assert_eq!(facts_of_message(&whole.message), Naive::read(&stream), "{seed}: {name}");
        let cuts: Vec<usize> = (0..7).map(|_| 1 + random.below(40) as usize).collect();
        let cut = pull(&stream, &cuts, None);
        assert_eq!((&cut.message, cut.end), (&whole.message, whole.end), "{seed}, cut by {cuts:?}: {name}");
        assert_eq!(push(&stream, 1 + random.below(99) as usize), whole.message, "{seed}: {name}");
        let room = 1 + random.below(9) as usize;
        assert_eq!(batch(&stream, 1 + random.below(99) as usize, room), whole.message, "{seed}: {name}");
        calls += whole.message["choices"][0]["message"]["tool_calls"].as_array().map_or(0, Vec::len);
    }
    assert!(calls > 40, "{calls}");
}
