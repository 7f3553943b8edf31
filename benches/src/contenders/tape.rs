//! memchr for the lines, simd-json's tape for their JSON; every buffer is reused.

use super::contender::{Contender, Kind};
use crate::Sink;
use simd_json::tape::{Object, Value};
use simd_json::{prelude::*, Buffers};

/// See the module.
#[derive(Default)]
pub struct Tape {
    lines: super::lines::Lines,
    /// simd-json writes into its input.
    json: Vec<u8>,
    buffers: Buffers,
    tape: Option<simd_json::Tape<'static>>,
}

impl Contender for Tape {
    fn name(&self) -> &'static str {
        super::contender::TAPE
    }
    fn kind(&self) -> Kind {
        Kind::Peer
    }
    fn read(&mut self, response: &[u8], slice: usize, sink: &mut Sink) {
        let Tape { lines, json, buffers, tape: kept } = self;
        lines.read(response, slice, |payload| {
            json.clear();
            json.extend_from_slice(payload);
            let mut tape = kept.take().unwrap_or_else(simd_json::Tape::null).reset();
            simd_json::fill_tape(json, buffers, &mut tape).expect("the chunk is sound");
            chunk(tape.as_value(), sink);
            *kept = Some(tape.reset());
        });
    }
}

/// Goes through each object once, because `get` for each member would go through it each time.
fn chunk(value: Value<'_, '_>, sink: &mut Sink) {
    sink.sums.events += 1;
    let Some(members) = value.as_object() else { return };
    for (name, value) in members.iter() {
        match name {
            "choices" => {
                for value in value.as_array().iter().flat_map(|array| array.iter()) {
                    choice(value, sink);
                }
            }
            "usage" => {
                if let Some(usage) = value.as_object() {
                    let count = |name| usage.get(name).and_then(|value| value.as_u64()).unwrap_or(0);
                    sink.usage(count("prompt_tokens"), count("completion_tokens"), count("total_tokens"));
                }
            }
            _ => {}
        }
    }
}

fn choice(value: Value<'_, '_>, sink: &mut Sink) {
    let Some(members) = value.as_object() else { return };
    let (mut index, mut delta, mut finish) = (0, None, None);
    for (name, value) in members.iter() {
        match name {
            "index" => index = value.as_u32().unwrap_or(0),
            "delta" => delta = value.as_object(),
            "finish_reason" => finish = Some(value),
            _ => {}
        }
    }
    let Some(members) = delta else { return };
    for (name, value) in members.iter() {
        match name {
            "reasoning_content" | "reasoning" | "content" => {
                let Some(text) = value.as_str().filter(|text| !text.is_empty()) else { continue };
                sink.choice(index);
                let into = if name == "content" { &mut sink.content } else { &mut sink.reasoning };
                into.push_str(text);
            }
            "tool_calls" => {
                for value in value.as_array().iter().flat_map(|array| array.iter()) {
                    call(index, value.as_object(), sink);
                }
            }
            _ => {}
        }
    }
    if let Some(reason) = finish.as_ref().and_then(|value| value.as_str()) {
        sink.choice(index);
        sink.names.push_str(reason);
    }
}

fn call(choice: u32, members: Option<Object<'_, '_>>, sink: &mut Sink) {
    let (mut index, mut id, mut function) = (0, None, None);
    for (name, value) in members.iter().flat_map(|members| members.iter()) {
        match name {
            "index" => index = value.as_u32().unwrap_or(0),
            "id" => id = Some(value),
            "function" => function = value.as_object(),
            _ => {}
        }
    }
    if let Some(id) = id.as_ref().and_then(|value| value.as_str()) {
        sink.call(choice, index);
        sink.names.push_str(id);
    }
    for (name, value) in function.iter().flat_map(|members| members.iter()) {
        let Some(text) = value.as_str().filter(|text| !text.is_empty()) else { continue };
        match name {
            "name" => {
                sink.call(choice, index);
                sink.names.push_str(text);
            }
            "arguments" => {
                sink.call(choice, index);
                sink.arguments.push_str(text);
            }
            _ => {}
        }
    }
}
