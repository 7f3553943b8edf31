//! The message of a stream becomes the type of another crate, and that becomes the message again.

use async_openai::types::chat::CreateChatCompletionResponse;
use deltawire::adapters::{collect_message, Collected, DeltaReadExt, DeltaStreamExt};
use deltawire::message::Detail;
use futures_util::{stream, FutureExt};
use std::convert::Infallible;

fn sample(name: &str) -> Vec<u8> {
    std::fs::read(format!("{}/../../samples/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

fn collected(bytes: &[u8]) -> Collected {
    let reads = stream::iter(bytes.chunks(50).map(Ok::<_, Infallible>));
    reads.message().now_or_never().unwrap().unwrap()
}

#[test]
fn a_message_is_the_response_of_async_openai_and_back() {
    for name in ["content.sse", "weather.sse", "usage.sse", "parallel-tools.sse"] {
        let collected = collected(&sample(name));
        let json = serde_json::to_string(&collected.json(Detail::Standard).unwrap()).unwrap();
        let theirs: CreateChatCompletionResponse = serde_json::from_str(&json).unwrap();
        let message = collected.finished().unwrap();
        assert_eq!(theirs.id, message.id.clone().unwrap());
        let [choice] = &theirs.choices[..] else { panic!("{theirs:?}") };
        assert_eq!(choice.message.content, message.choices[0].content, "{name}");
        assert_eq!(
            choice.message.tool_calls.as_ref().map_or(0, Vec::len),
            message.choices[0].tool_calls.len(),
            "{name}"
        );
        // Back: a body that is not streamed is read like a stream.
        let body = serde_json::to_vec(&theirs).unwrap();
        let again = body.as_slice().message().unwrap().finished().unwrap();
        assert_eq!(again.choices[0].content, message.choices[0].content, "{name}");
        assert_eq!(again.choices[0].finish_reason, message.choices[0].finish_reason, "{name}");
        for (again, call) in again.choices[0].tool_calls.iter().zip(&message.choices[0].tool_calls) {
            assert_eq!((&again.id, &again.name, &again.arguments), (&call.id, &call.name, &call.arguments), "{name}");
        }
        assert_eq!(again.choices[0].tool_calls.len(), message.choices[0].tool_calls.len());
        let total = |message: &deltawire::message::Completion| {
            let usage = message.usage.as_ref().map(|usage| serde_json::to_value(usage).unwrap());
            usage.map(|usage| usage["total_tokens"].clone())
        };
        assert_eq!(total(&again), total(&message), "{name}");
    }
}

#[test]
fn a_cut_response_is_no_message() {
    let sample = sample("weather.sse");
    let cut = stream::iter([Ok::<_, Infallible>(&sample[..300])]);
    let error = collect_message(cut).now_or_never().unwrap().unwrap_err();
    assert!(error.to_string().starts_with("truncated"), "{error}");
}
