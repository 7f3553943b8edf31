//! serde into structs that borrow what they can: of [`serde_json`] behind sse-stream, of sonic-rs behind memchr.

use super::contender::{Contender, Kind};
use crate::Sink;
use futures::{executor, stream, StreamExt};
use serde::Deserialize;
use sse_stream::SseByteStream;
use std::borrow::Cow;
use std::convert::Infallible;

// Just the members of the work: others are skipped.
#[derive(Deserialize)]
struct Chunk<'a> {
    #[serde(borrow, default)]
    choices: Vec<Choice<'a>>,
    #[serde(default)]
    usage: Option<Usage>,
}

#[derive(Deserialize)]
struct Choice<'a> {
    #[serde(default)]
    index: u32,
    #[serde(borrow, default)]
    delta: Delta<'a>,
    #[serde(borrow, default)]
    finish_reason: Option<Name<'a>>,
}

/// `Cow` in an `Option` owns, unless it is wrapped.
#[derive(Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

#[derive(Default, Deserialize)]
struct Delta<'a> {
    #[serde(borrow, default)]
    content: Option<Name<'a>>,
    #[serde(borrow, default, alias = "reasoning")]
    reasoning_content: Option<Name<'a>>,
    #[serde(borrow, default)]
    tool_calls: Option<Vec<ToolCall<'a>>>,
}

#[derive(Deserialize)]
struct ToolCall<'a> {
    #[serde(default)]
    index: u32,
    #[serde(borrow, default)]
    id: Option<Name<'a>>,
    #[serde(borrow, default)]
    function: Option<Function<'a>>,
}

#[derive(Deserialize)]
struct Function<'a> {
    #[serde(borrow, default)]
    name: Option<Name<'a>>,
    #[serde(borrow, default)]
    arguments: Option<Name<'a>>,
}

#[derive(Deserialize)]
struct Usage {
    #[serde(default)]
    prompt_tokens: u64,
    #[serde(default)]
    completion_tokens: u64,
    #[serde(default)]
    total_tokens: u64,
}

fn filled(name: Option<Name<'_>>) -> Option<Cow<'_, str>> {
    name.map(|name| name.0).filter(|text| !text.is_empty())
}

fn take(chunk: Chunk<'_>, sink: &mut Sink) {
    sink.sums.events += 1;
    for choice in chunk.choices {
        if let Some(text) = filled(choice.delta.reasoning_content) {
            sink.choice(choice.index);
            sink.reasoning.push_str(&text);
        }
        if let Some(text) = filled(choice.delta.content) {
            sink.choice(choice.index);
            sink.content.push_str(&text);
        }
        for call in choice.delta.tool_calls.into_iter().flatten() {
            let (name, arguments) = call.function.map_or((None, None), |function| (function.name, function.arguments));
            for text in [filled(call.id), filled(name)].into_iter().flatten() {
                sink.call(choice.index, call.index);
                sink.names.push_str(&text);
            }
            if let Some(text) = filled(arguments) {
                sink.call(choice.index, call.index);
                sink.arguments.push_str(&text);
            }
        }
        if let Some(reason) = filled(choice.finish_reason) {
            sink.choice(choice.index);
            sink.names.push_str(&reason);
        }
    }
    if let Some(usage) = chunk.usage {
        sink.usage(usage.prompt_tokens, usage.completion_tokens, usage.total_tokens);
    }
}

/// sse-stream for the events, serde_json for their data.
pub struct SseStream;

impl Contender for SseStream {
    fn name(&self) -> &'static str {
        "sse-stream + serde_json, Cow"
    }
    fn kind(&self) -> Kind {
        Kind::Peer
    }
    fn read(&mut self, response: &[u8], slice: usize, sink: &mut Sink) {
        let mut events = SseByteStream::new(stream::iter(response.chunks(slice).map(Ok::<_, Infallible>)));
        executor::block_on(async {
            while let Some(event) = events.next().await {
                let Some(data) = event.expect("the stream is sound").data else { continue };
                if data == "[DONE]" {
                    return;
                }
                take(serde_json::from_str(&data).expect("the chunk is sound"), sink);
            }
        });
    }
}

/// memchr for the lines, sonic-rs for their JSON.
#[derive(Default)]
pub struct Sonic {
    lines: super::lines::Lines,
}

impl Contender for Sonic {
    fn name(&self) -> &'static str {
        "lines + sonic-rs, Cow"
    }
    fn kind(&self) -> Kind {
        Kind::Peer
    }
    fn read(&mut self, response: &[u8], slice: usize, sink: &mut Sink) {
        self.lines.read(response, slice, |payload| {
            take(sonic_rs::from_slice(payload).expect("the chunk is sound"), sink);
        });
    }
}
