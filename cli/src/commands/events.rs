//! `deltawire events`: every event and every delta, one JSON object a line.

use super::push::{print, Checked, Printer};
use crate::options;
use crate::report::Failure;
use deltawire::chat::{ApiError, Audio, CallUpdate, Chunk};
use deltawire::json::{Text, Value};
use deltawire::sse::Lossy;
use deltawire::{Event, Flow, Handler, Quirk, Update};
use serde_json::{json, Map, Value as Json};

/// Prints a line for each event and each delta.
struct Printing {
    out: Checked,
}

pub fn run(options: &options::Events) -> Result<u8, Failure> {
    let mut printing = Printing { out: Checked::new() };
    print(&options.reading, &options.meaning, &mut printing)
}

impl Printing {
    fn line(&mut self, line: Json) -> Flow {
        self.out.write(|out| writeln!(out, "{line}"))
    }
}

fn text(bytes: &[u8]) -> String {
    Lossy::new(bytes).to_string()
}

fn decoded(text: Text<'_>) -> Json {
    Json::String(text.to_cow().into_owned())
}

fn raw(value: Value<'_>) -> Json {
    // Only a map with keys that are no texts could fail.
    serde_json::to_value(value).unwrap_or_default()
}

fn failure(error: &ApiError<'_>) -> Json {
    match error.value() {
        Some(value) => raw(value),
        None => error.message().map_or(Json::Null, decoded),
    }
}

/// An object of what is there.
fn object<const N: usize>(members: [(&str, Option<Json>); N]) -> Json {
    let there = members.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    Json::Object(there.collect::<Map<_, _>>())
}

fn chunk(chunk: &Chunk<'_>) -> Json {
    let range = chunk.wire_range();
    let is_chunk = chunk.is_completion() || chunk.error().is_some();
    object([
        ("event", Some(json!(if is_chunk { "chunk" } else { "other" }))),
        ("at", Some(json!([range.start, range.end]))),
        ("name", Some(chunk.event_name()).filter(|name| !name.is_empty()).map(|name| json!(text(name)))),
        ("id", chunk.id().map(decoded)),
        ("object", chunk.object().map(decoded)),
        ("model", chunk.model().map(decoded)),
    ])
}

fn audio(audio: &Audio<'_>) -> Json {
    object([
        ("id", audio.id().map(decoded)),
        ("data", audio.data().map(decoded)),
        ("transcript", audio.transcript().map(decoded)),
        ("expires_at", audio.expires_at().map(Json::from)),
    ])
}

/// A name, or a piece to be put behind what came before.
fn name_member(replaces: bool) -> &'static str {
    if replaces {
        "name"
    } else {
        "name_piece"
    }
}

/// What an update says, as a member of its line.
fn update_member(update: &Update<'_>) -> Option<(&'static str, Json)> {
    Some(match *update {
        Update::Role(text) => ("role", decoded(text)),
        Update::Content(text) => ("content", decoded(text)),
        Update::Reasoning(text) => ("reasoning", decoded(text)),
        Update::Refusal(text) => ("refusal", decoded(text)),
        Update::Call(CallUpdate { call, index, opens, id, kind, custom, .. }) => {
            let value = object([
                ("call", Some(json!(call))),
                ("index", index.filter(|_| opens).map(|index| json!(index))),
                ("id", id.map(decoded)),
                ("type", kind.map(decoded)),
                ("custom", custom.then_some(Json::Bool(true))),
            ]);
            ("tool_call", value)
        }
        Update::CallName { call, text, replaces } => {
            ("tool_call", json!({"call": call, name_member(replaces): decoded(text)}))
        }
        Update::CallArguments { call, text } => ("tool_call", json!({"call": call, "arguments": decoded(text)})),
        Update::FunctionName { text, replaces } => ("function_call", json!({name_member(replaces): decoded(text)})),
        Update::FunctionArguments(text) => ("function_call", json!({"arguments": decoded(text)})),
        Update::Audio(fragment) => ("audio", audio(&fragment)),
        Update::Logprobs(logprobs) => ("logprobs", raw(logprobs.value())),
        Update::Finish(reason) => ("finish_reason", decoded(reason.text())),
        Update::ChoiceError(error) => ("error", failure(&error)),
        Update::Usage(usage) => ("usage", raw(usage.value())),
        Update::Error(error) => ("error", failure(&error)),
        _ => return None,
    })
}

impl Handler for Printing {
    fn event(&mut self, event: &Event<'_>) -> Flow {
        let line = match event {
            Event::Chunk(event) => chunk(event),
            Event::Done => json!({"done": true}),
            Event::Comment(comment) => json!({"comment": text(comment)}),
            Event::KeepAlive(payload) => json!({"keep_alive": text(payload)}),
            Event::Retry(ms) => json!({"retry": ms}),
            Event::LastEventId(id) => json!({"last_event_id": text(id)}),
            Event::Malformed(malformed) => {
                let (fault, range) = (malformed.fault(), malformed.wire_range());
                self.out.note(fault);
                json!({
                    "malformed": text(malformed.payload()),
                    "at": [range.start, range.end],
                    "fault": fault.kind.text(),
                    "offset": fault.offset,
                })
            }
            Event::TooLong { offset } => json!({"too_long": "event", "at": offset}),
            Event::CommentTooLong { offset } => json!({"too_long": "comment", "at": offset}),
            _ => return Flow::Continue(()),
        };
        self.line(line)
    }

    fn update(&mut self, choice: u32, update: Update<'_>) -> Flow {
        let Some((name, value)) = update_member(&update) else { return Flow::Continue(()) };
        self.line(match update {
            // Of the response as a whole.
            Update::Usage(_) | Update::Error(_) => json!({name: value}),
            _ => json!({"choice": choice, name: value}),
        })
    }

    fn quirk(&mut self, quirk: Quirk, offset: u64) -> Flow {
        self.line(json!({"quirk": quirk.code(), "text": quirk.text(), "at": offset}))
    }
}

impl Printer for Printing {
    fn output(&mut self) -> &mut Checked {
        &mut self.out
    }
}
