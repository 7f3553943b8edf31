//! serde into structs of the needed members, which borrow where possible: serde_json and sonic-rs on lines by memchr,
//! and serde_json on events by sse-stream.

use super::contender::{Contender, Kind};
use super::lines::Lines;
use crate::Sink;
use futures::{executor, stream, StreamExt};
use serde::Deserialize;
use sse_stream::SseByteStream;
use std::borrow::Cow;
use std::convert::Infallible;

/// Wraps a `Cow`, because serde makes an owned `Cow` in an `Option`.
#[derive(Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

fn filled(name: Option<Name<'_>>) -> Option<Cow<'_, str>> {
    name.map(|name| name.0).filter(|text| !text.is_empty())
}

/// An event of a protocol.
trait Event<'a>: Deserialize<'a> {
    fn take(self, sink: &mut Sink);
}

fn text(choice: u32, text: Option<Name<'_>>, sink: &mut Sink) {
    if let Some(text) = filled(text) {
        sink.choice(choice);
        sink.content.push_str(&text);
    }
}

fn arguments(choice: u32, index: u32, text: Option<Name<'_>>, sink: &mut Sink) {
    if let Some(text) = filled(text) {
        sink.call(choice, index);
        sink.arguments.push_str(&text);
    }
}

fn call(choice: u32, index: u32, names: [Option<Name<'_>>; 2], sink: &mut Sink) {
    for text in names.into_iter().filter_map(filled) {
        sink.call(choice, index);
        sink.names.push_str(&text);
    }
}

fn finish(choice: u32, reason: Option<Name<'_>>, sink: &mut Sink) {
    if let Some(reason) = filled(reason) {
        sink.choice(choice);
        sink.names.push_str(&reason);
    }
}

#[derive(Deserialize)]
struct Chat<'a> {
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

#[derive(Default, Deserialize)]
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

impl<'a> Event<'a> for Chat<'a> {
    fn take(self, sink: &mut Sink) {
        for Choice { index, delta, finish_reason } in self.choices {
            if let Some(text) = filled(delta.reasoning_content) {
                sink.choice(index);
                sink.reasoning.push_str(&text);
            }
            text(index, delta.content, sink);
            for ToolCall { index: number, id, function } in delta.tool_calls.into_iter().flatten() {
                let Function { name, arguments: text } = function.unwrap_or_default();
                call(index, number, [id, name], sink);
                arguments(index, number, text, sink);
            }
            finish(index, finish_reason, sink);
        }
        if let Some(usage) = self.usage {
            sink.usage(usage.prompt_tokens, usage.completion_tokens, usage.total_tokens);
        }
    }
}

#[derive(Deserialize)]
struct Responses<'a> {
    #[serde(borrow, rename = "type")]
    kind: Name<'a>,
    #[serde(default)]
    output_index: u32,
    #[serde(borrow, default)]
    delta: Option<Name<'a>>,
    #[serde(borrow, default)]
    item: Option<OutputItem<'a>>,
    #[serde(borrow, default)]
    response: Option<Response<'a>>,
}

#[derive(Deserialize)]
struct OutputItem<'a> {
    #[serde(borrow, default)]
    call_id: Option<Name<'a>>,
    #[serde(borrow, default)]
    name: Option<Name<'a>>,
}

#[derive(Deserialize)]
struct Response<'a> {
    #[serde(borrow, default)]
    status: Option<Name<'a>>,
    #[serde(default)]
    usage: Option<ResponseUsage>,
}

#[derive(Deserialize)]
struct ResponseUsage {
    input_tokens: u64,
    output_tokens: u64,
    total_tokens: u64,
}

impl<'a> Event<'a> for Responses<'a> {
    fn take(self, sink: &mut Sink) {
        match &*self.kind.0 {
            "response.output_text.delta" => text(0, self.delta, sink),
            "response.function_call_arguments.delta" => arguments(0, self.output_index, self.delta, sink),
            "response.output_item.added" => {
                if let Some(OutputItem { call_id, name }) = self.item {
                    call(0, self.output_index, [call_id, name], sink);
                }
            }
            "response.completed" => {
                let Some(Response { status, usage }) = self.response else { return };
                finish(0, status, sink);
                if let Some(ResponseUsage { input_tokens, output_tokens, total_tokens }) = usage {
                    sink.usage(input_tokens, output_tokens, total_tokens);
                }
            }
            _ => {}
        }
    }
}

#[derive(Deserialize)]
struct Anthropic<'a> {
    #[serde(borrow, rename = "type")]
    kind: Name<'a>,
    #[serde(default)]
    index: u32,
    #[serde(borrow, default)]
    delta: Option<BlockDelta<'a>>,
    #[serde(borrow, default)]
    content_block: Option<Block<'a>>,
    #[serde(default)]
    message: Option<Message>,
    #[serde(default)]
    usage: Option<MessageUsage>,
}

#[derive(Deserialize)]
struct BlockDelta<'a> {
    #[serde(borrow, default)]
    text: Option<Name<'a>>,
    #[serde(borrow, default)]
    partial_json: Option<Name<'a>>,
    #[serde(borrow, default)]
    stop_reason: Option<Name<'a>>,
}

#[derive(Deserialize)]
struct Block<'a> {
    #[serde(borrow, default)]
    id: Option<Name<'a>>,
    #[serde(borrow, default)]
    name: Option<Name<'a>>,
}

#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    usage: Option<MessageUsage>,
}

#[derive(Deserialize)]
struct MessageUsage {
    input_tokens: Option<u64>,
    #[serde(default)]
    cache_creation_input_tokens: u64,
    #[serde(default)]
    cache_read_input_tokens: u64,
    #[serde(default)]
    output_tokens: u64,
}

impl<'a> Event<'a> for Anthropic<'a> {
    fn take(self, sink: &mut Sink) {
        match &*self.kind.0 {
            "content_block_delta" => {
                if let Some(BlockDelta { text: words, partial_json, .. }) = self.delta {
                    text(0, words, sink);
                    arguments(0, self.index, partial_json, sink);
                }
            }
            "content_block_start" => {
                if let Some(Block { id, name }) = self.content_block {
                    call(0, self.index, [id, name], sink);
                }
            }
            "message_delta" => finish(0, self.delta.and_then(|delta| delta.stop_reason), sink),
            _ => {}
        }
        if let Some(usage) = self.usage.or_else(|| self.message?.usage) {
            let cached = usage.cache_creation_input_tokens + usage.cache_read_input_tokens;
            let (prompt, completion) = (usage.input_tokens.unwrap_or(0) + cached, usage.output_tokens);
            sink.usage(prompt, completion, usage.input_tokens.map_or(0, |_| prompt + completion));
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Gemini<'a> {
    #[serde(borrow, default)]
    candidates: Vec<Candidate<'a>>,
    usage_metadata: Option<Tokens>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Candidate<'a> {
    #[serde(borrow, default)]
    content: Option<Content<'a>>,
    #[serde(borrow, default)]
    finish_reason: Option<Name<'a>>,
}

#[derive(Deserialize)]
struct Content<'a> {
    #[serde(borrow, default)]
    parts: Vec<Part<'a>>,
}

#[derive(Deserialize)]
struct Part<'a> {
    #[serde(borrow, default)]
    text: Option<Name<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Tokens {
    #[serde(default)]
    prompt_token_count: u64,
    #[serde(default)]
    candidates_token_count: u64,
    #[serde(default)]
    total_token_count: u64,
}

impl<'a> Event<'a> for Gemini<'a> {
    fn take(self, sink: &mut Sink) {
        for candidate in self.candidates {
            for part in candidate.content.into_iter().flat_map(|content| content.parts) {
                text(0, part.text, sink);
            }
            finish(0, candidate.finish_reason, sink);
        }
        if let Some(tokens) = self.usage_metadata {
            sink.usage(tokens.prompt_token_count, tokens.candidates_token_count, tokens.total_token_count);
        }
    }
}

/// Reads events of a protocol.
pub struct Structs {
    name: &'static str,
    lines: Lines,
    read: fn(&[u8], &mut Sink),
}

fn serde<'a, E: Event<'a>>(payload: &'a [u8], sink: &mut Sink) {
    serde_json::from_slice::<E>(payload).expect("the event is sound").take(sink);
}

fn sonic<'a, E: Event<'a>>(payload: &'a [u8], sink: &mut Sink) {
    sonic_rs::from_slice::<E>(payload).expect("the event is sound").take(sink);
}

/// Reads with serde_json and with sonic-rs.
macro_rules! reads {
    ($event:ident) => {
        [|payload, sink| serde::<$event<'_>>(payload, sink), |payload, sink| sonic::<$event<'_>>(payload, sink)]
    };
}

impl Structs {
    /// Makes the readers for inputs of this name, by serde_json and by sonic-rs.
    pub fn of(input: &str) -> [Structs; 2] {
        let [serde, sonic]: [fn(&[u8], &mut Sink); 2] = match input.split('-').next() {
            Some("responses") => reads!(Responses),
            Some("anthropic") => reads!(Anthropic),
            Some("gemini") => reads!(Gemini),
            _ => reads!(Chat),
        };
        [("lines + serde_json, Cow", serde), ("lines + sonic-rs, Cow", sonic)].map(|(name, read)| Structs {
            name,
            lines: Lines::default(),
            read,
        })
    }
}

impl Contender for Structs {
    fn name(&self) -> &'static str {
        self.name
    }
    fn kind(&self) -> Kind {
        Kind::Peer
    }
    fn read(&mut self, response: &[u8], slice: usize, sink: &mut Sink) {
        self.lines.read(response, slice, |payload| {
            sink.sums.events += 1;
            (self.read)(payload, sink);
        });
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
                sink.sums.events += 1;
                serde::<Chat<'_>>(data.as_bytes(), sink);
            }
        });
    }
}
