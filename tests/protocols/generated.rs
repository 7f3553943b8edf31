//! Generated streams against the naive reader.

use super::*;

/// A generator of small numbers.
pub(super) struct Random(u64);

impl Random {
    pub(super) fn below(&mut self, bound: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 33) as u32) % bound
    }

    pub(super) fn text(&mut self) -> String {
        (0..self.below(5))
            .map(|_| ["a", "é", "\u{1f600}", "\"", "\\", "\n", "{", "data: "][self.below(8) as usize])
            .collect()
    }
}

pub(super) fn anthropic_stream(random: &mut Random) -> Vec<Value> {
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

pub(super) fn gemini_stream(random: &mut Random) -> Vec<Value> {
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

pub(super) fn responses_stream(random: &mut Random) -> Vec<Value> {
    let mut events = vec![json!({"type": "response.created", "response": {"id": "r"}})];
    let mut output = Vec::new();
    for index in 0..random.below(5) {
        let (text, id) = (random.text(), format!("c{index}.{}", random.below(1 << 20)));
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
                let item = json!({"type": "function_call", "call_id": id, "name": "f", "arguments": ""});
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
                json!({"type": "function_call", "call_id": id, "name": "f", "arguments": arguments})
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
    if random.below(4) == 0 {
        events.extend(responses_stream(random));
    }
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
