//! eventsource-stream, and serde_json into owned structs, as async-openai does, with its types.

use super::contender::{Contender, Kind};
use crate::Sink;
use eventsource_stream::Eventsource;
use futures::{executor, stream, StreamExt};
use serde::Deserialize;
use std::convert::Infallible;

// Some members are only here because a client of the whole API has them and pays for them.
#[allow(dead_code)]
#[derive(Deserialize)]
struct Chunk {
    id: String,
    choices: Vec<Choice>,
    created: u32,
    model: String,
    service_tier: Option<ServiceTier>,
    system_fingerprint: Option<String>,
    object: String,
    usage: Option<Usage>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum ServiceTier {
    Auto,
    Default,
    Flex,
    Scale,
    Priority,
}

#[allow(dead_code)]
#[derive(Deserialize)]
struct Choice {
    index: u32,
    delta: Delta,
    finish_reason: Option<FinishReason>,
    logprobs: Option<Logprobs>,
}

#[allow(dead_code)]
#[derive(Deserialize)]
struct Delta {
    content: Option<String>,
    #[serde(alias = "reasoning")]
    reasoning_content: Option<String>,
    tool_calls: Option<Vec<ToolCall>>,
    role: Option<Role>,
    refusal: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Role {
    System,
    User,
    Assistant,
    Tool,
    Function,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum FinishReason {
    Stop,
    Length,
    ToolCalls,
    ContentFilter,
    FunctionCall,
}

#[allow(dead_code)]
#[derive(Deserialize)]
struct ToolCall {
    index: u32,
    id: Option<String>,
    r#type: Option<ToolType>,
    function: Option<Function>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum ToolType {
    Function,
}

#[derive(Deserialize)]
struct Function {
    name: Option<String>,
    arguments: Option<String>,
}

#[allow(dead_code)]
#[derive(Deserialize)]
struct Logprobs {
    content: Option<Vec<TokenLogprob>>,
    refusal: Option<Vec<TokenLogprob>>,
}

#[allow(dead_code)]
#[derive(Deserialize)]
struct TokenLogprob {
    token: String,
    logprob: f32,
    bytes: Option<Vec<u8>>,
    top_logprobs: Vec<TopLogprob>,
}

#[allow(dead_code)]
#[derive(Deserialize)]
struct TopLogprob {
    token: String,
    logprob: f32,
    bytes: Option<Vec<u8>>,
}

#[derive(Deserialize)]
struct Usage {
    prompt_tokens: u32,
    completion_tokens: u32,
    total_tokens: u32,
}

/// See the module.
pub struct SerdeStructs;

impl Contender for SerdeStructs {
    fn name(&self) -> &'static str {
        super::contender::SERDE_STRUCTS
    }
    fn kind(&self) -> Kind {
        Kind::Peer
    }
    fn read(&mut self, response: &[u8], slice: usize, sink: &mut Sink) {
        let mut events = stream::iter(response.chunks(slice).map(Ok::<_, Infallible>)).eventsource();
        executor::block_on(async {
            while let Some(event) = events.next().await {
                let event = event.expect("the stream is sound");
                if event.data == "[DONE]" {
                    return;
                }
                take(serde_json::from_str(&event.data).expect("the chunk is sound"), sink);
            }
        });
    }
}

fn take(chunk: Chunk, sink: &mut Sink) {
    sink.sums.events += 1;
    for choice in chunk.choices {
        if let Some(text) = choice.delta.reasoning_content.filter(|text| !text.is_empty()) {
            sink.choice(choice.index);
            sink.reasoning.push_str(&text);
        }
        if let Some(text) = choice.delta.content.filter(|text| !text.is_empty()) {
            sink.choice(choice.index);
            sink.content.push_str(&text);
        }
        for call in choice.delta.tool_calls.into_iter().flatten() {
            if let Some(id) = call.id {
                sink.call(choice.index, call.index);
                sink.names.push_str(&id);
            }
            if let Some(function) = call.function {
                if let Some(name) = function.name {
                    sink.call(choice.index, call.index);
                    sink.names.push_str(&name);
                }
                if let Some(text) = function.arguments.filter(|text| !text.is_empty()) {
                    sink.call(choice.index, call.index);
                    sink.arguments.push_str(&text);
                }
            }
        }
        if let Some(reason) = choice.finish_reason {
            sink.choice(choice.index);
            sink.names.push_str(match reason {
                FinishReason::Stop => "stop",
                FinishReason::Length => "length",
                FinishReason::ToolCalls => "tool_calls",
                FinishReason::ContentFilter => "content_filter",
                FinishReason::FunctionCall => "function_call",
            });
        }
    }
    if let Some(usage) = chunk.usage {
        sink.usage(usage.prompt_tokens.into(), usage.completion_tokens.into(), usage.total_tokens.into());
    }
}
