//! `deltawire events`: every event and every delta, one JSON object a line.

use super::push::{print, Checked, Printer};
use crate::options;
use crate::report::Failure;
use deltawire::chat::{ApiError, CallUpdate, Chunk, NamePiece, Owner};
use deltawire::json::{Value, ValueKind};
use deltawire::{Event, Flow, Handler, Quirk, Update};
use serde::{Serialize, Serializer};
use serde_json::value::{to_raw_value, RawValue};
use std::collections::BTreeMap;

/// JSON as text, because a number in a stream may not fit any type.
type Json = Box<RawValue>;

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

/// Bytes as a JSON string; ill-formed UTF-8 becomes U+FFFD.
fn text(bytes: &[u8]) -> Json {
    json(String::from_utf8_lossy(bytes))
}

fn json(value: impl Serialize) -> Json {
    // This fails only for a map with keys that are not strings, and no map here has such keys.
    to_raw_value(&value).unwrap_or_default()
}

fn raw(value: Value<'_>) -> Json {
    json(Exact(value))
}

/// Writes a value on one line, with its numbers as they came.
struct Exact<'a>(Value<'a>);

impl Serialize for Exact<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Exact(value) = *self;
        match value.kind() {
            ValueKind::Number => {
                let number = value.as_number();
                let exact = number.and_then(|number| serde_json::from_str::<&RawValue>(number.as_str()).ok());
                exact.serialize(serializer)
            }
            ValueKind::Array => serializer.collect_seq(value.elements().map_while(Result::ok).map(Exact)),
            ValueKind::Object => {
                let members = value.members().map_while(Result::ok);
                serializer.collect_map(members.map(|(name, value)| (name, Exact(value))))
            }
            _ => value.serialize(serializer),
        }
    }
}

fn failure(error: &ApiError<'_>) -> Json {
    match error.value() {
        Some(value) => raw(value),
        None => error.message().map_or_else(Json::default, json),
    }
}

/// Makes an object of the members that have a value.
fn object<const N: usize>(members: [(&str, Option<Json>); N]) -> Json {
    let there = members.into_iter().filter_map(|(name, value)| Some((name, value?)));
    json(there.collect::<BTreeMap<_, _>>())
}

fn chunk(chunk: &Chunk<'_>) -> Json {
    let range = chunk.wire_range();
    let is_chunk = chunk.is_completion() || chunk.error().is_some();
    object([
        ("event", Some(json(if is_chunk { "chunk" } else { "other" }))),
        ("at", Some(json([range.start, range.end]))),
        ("name", Some(chunk.event_name()).filter(|name| !name.is_empty()).map(text)),
        ("id", chunk.id().map(json)),
        ("object", chunk.object().map(json)),
        ("model", chunk.model().map(json)),
    ])
}

/// Returns the member of a line that has a name, or a piece that is appended to the name so far.
fn name_member(piece: NamePiece) -> &'static str {
    match piece {
        NamePiece::Replaces => "name",
        NamePiece::Appends => "name_piece",
    }
}

/// Returns the name and the value of the member that shows an update.
fn update_member(update: &Update<'_>) -> Option<(&'static str, Json)> {
    Some(match *update {
        Update::Role(text) => ("role", json(text)),
        Update::Content(text) => ("content", json(text)),
        Update::Reasoning(text) => ("reasoning", json(text)),
        Update::Refusal(text) => ("refusal", json(text)),
        Update::Call(CallUpdate { call, index, opens, id, kind, custom, .. }) => {
            let value = object([
                ("call", Some(json(call))),
                ("index", index.filter(|_| opens).map(json)),
                ("id", id.map(json)),
                ("type", kind.map(json)),
                ("custom", custom.then(|| json(true))),
            ]);
            ("tool_call", value)
        }
        Update::CallName { call, text, piece } => {
            ("tool_call", object([("call", Some(json(call))), (name_member(piece), Some(json(text)))]))
        }
        Update::CallArguments { call, text } => {
            ("tool_call", object([("call", Some(json(call))), ("arguments", Some(json(text)))]))
        }
        Update::CallEnd { call, whole } => {
            ("tool_call_end", object([("call", Some(json(call))), ("whole", Some(json(whole)))]))
        }
        Update::Member(member) => {
            let owner = if member.owner == Owner::Function { "function_member" } else { "member" };
            let member_of_call = object([(&*member.name.to_cow(), Some(raw(member.value)))]);
            ("tool_call", object([("call", Some(json(member.call))), (owner, Some(member_of_call))]))
        }
        Update::FunctionName { text, piece } => ("function_call", object([(name_member(piece), Some(json(text)))])),
        Update::FunctionArguments(text) => ("function_call", object([("arguments", Some(json(text)))])),
        Update::Audio(fragment) => ("audio", raw(fragment)),
        Update::Logprobs(logprobs) => ("logprobs", raw(logprobs)),
        Update::Signature(text) => ("signature", json(text)),
        Update::Media(value) => ("media", raw(value)),
        Update::Native(value) => ("native", raw(value)),
        Update::Finish(reason) => ("finish_reason", json(reason.text())),
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
            Event::Done => object([("done", Some(json(true)))]),
            Event::Comment(comment) => object([("comment", Some(text(comment)))]),
            Event::KeepAlive(payload) => object([("keep_alive", Some(text(payload)))]),
            Event::Retry(ms) => object([("retry", Some(json(ms)))]),
            Event::LastEventId(id) => object([("last_event_id", Some(text(id)))]),
            Event::Malformed(malformed) => {
                let (fault, range) = (malformed.fault(), malformed.wire_range());
                self.out.note(fault);
                object([
                    ("malformed", Some(text(malformed.payload()))),
                    ("at", Some(json([range.start, range.end]))),
                    ("fault", Some(json(fault.kind.text()))),
                    ("offset", Some(json(fault.offset))),
                ])
            }
            Event::TooLong { offset } => object([("too_long", Some(json("event"))), ("at", Some(json(offset)))]),
            Event::CommentTooLong { offset } => {
                object([("too_long", Some(json("comment"))), ("at", Some(json(offset)))])
            }
            _ => return Flow::Continue(()),
        };
        self.line(line)
    }

    fn update(&mut self, choice: u32, update: Update<'_>) -> Flow {
        let Some((name, value)) = update_member(&update) else { return Flow::Continue(()) };
        self.line(match update {
            // These belong to the response, not to a choice.
            Update::Usage(_) | Update::Error(_) => object([(name, Some(value))]),
            _ => object([("choice", Some(json(choice))), (name, Some(value))]),
        })
    }

    fn quirk(&mut self, quirk: Quirk, offset: u64) -> Flow {
        let (code, text) = (json(quirk.code()), json(quirk.text()));
        self.line(object([("quirk", Some(code)), ("text", Some(text)), ("at", Some(json(offset)))]))
    }
}

impl Printer for Printing {
    fn output(&mut self) -> &mut Checked {
        &mut self.out
    }
}
