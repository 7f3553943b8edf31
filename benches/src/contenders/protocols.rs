//! Streams of other protocols: serde into structs of what is wanted, of serde_json and of sonic-rs behind memchr.

use super::contender::{Contender, Kind};
use super::lines::Lines;
use crate::Sink;
use serde::Deserialize;
use std::borrow::Cow;

/// `Cow` in an `Option` owns, unless it is wrapped.
#[derive(Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

fn filled(name: Option<Name<'_>>) -> Option<Cow<'_, str>> {
    name.map(|name| name.0).filter(|text| !text.is_empty())
}

/// An event of a protocol.
trait Event<'a>: Deserialize<'a> {
    fn take(self, sink: &mut Sink);
}

fn text(text: Option<Name<'_>>, sink: &mut Sink) {
    if let Some(text) = filled(text) {
        sink.choice(0);
        sink.content.push_str(&text);
    }
}

fn arguments(index: u32, text: Option<Name<'_>>, sink: &mut Sink) {
    if let Some(text) = filled(text) {
        sink.call(0, index);
        sink.arguments.push_str(&text);
    }
}

fn call(index: u32, names: [Option<Name<'_>>; 2], sink: &mut Sink) {
    for text in names.into_iter().filter_map(filled) {
        sink.call(0, index);
        sink.names.push_str(&text);
    }
}

fn finish(reason: Option<Name<'_>>, sink: &mut Sink) {
    if let Some(reason) = filled(reason) {
        sink.choice(0);
        sink.names.push_str(&reason);
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
            "response.output_text.delta" => text(self.delta, sink),
            "response.function_call_arguments.delta" => arguments(self.output_index, self.delta, sink),
            "response.output_item.added" => {
                if let Some(OutputItem { call_id, name }) = self.item {
                    call(self.output_index, [call_id, name], sink);
                }
            }
            "response.completed" => {
                let Some(Response { status, usage }) = self.response else { return };
                finish(status, sink);
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
                    text(words, sink);
                    arguments(self.index, partial_json, sink);
                }
            }
            "content_block_start" => {
                if let Some(Block { id, name }) = self.content_block {
                    call(self.index, [id, name], sink);
                }
            }
            "message_delta" => finish(self.delta.and_then(|delta| delta.stop_reason), sink),
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
                text(part.text, sink);
            }
            finish(candidate.finish_reason, sink);
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

impl Structs {
    /// Those for inputs of this name.
    pub fn of(input: &str) -> [Structs; 2] {
        let [serde, sonic]: [fn(&[u8], &mut Sink); 2] = match input.split('-').next() {
            Some("responses") => [
                |payload, sink| serde::<Responses<'_>>(payload, sink),
                |payload, sink| {
                    sonic::<Responses<'_>>(payload, sink);
                },
            ],
            Some("anthropic") => [
                |payload, sink| serde::<Anthropic<'_>>(payload, sink),
                |payload, sink| {
                    sonic::<Anthropic<'_>>(payload, sink);
                },
            ],
            _ => [
                |payload, sink| serde::<Gemini<'_>>(payload, sink),
                |payload, sink| {
                    sonic::<Gemini<'_>>(payload, sink);
                },
            ],
        };
        [("lines + sonic-rs, Cow", sonic), ("lines + serde_json, Cow", serde)].map(|(name, read)| Structs {
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
