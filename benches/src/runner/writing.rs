//! `--writing`: deltas of content that are written, beside serde_json, which writes the same bytes of structs into a reused
//! buffer.

use super::measure::median;
use deltawire::json::Text;
use deltawire::stream::Protocol;
use deltawire::write::{Head, Out, WriteError, Writer};
use deltawire::Update;
use deltawire_benches::clock;
use serde::Serialize;
use std::hint::black_box;

const ID: &str = "chatcmpl-9lUSGqfZr2ZfUqcdw1GQ8xLE";
const MODEL: &str = "gpt-4o-mini-2024-07-18";
const TEXTS: [&str; 4] = [" the", " tide", " turns at", "."];
/// Events a round.
const EVENTS: usize = 20_000;

#[derive(Serialize)]
struct ChatChunk<'a> {
    id: &'a str,
    object: &'a str,
    created: u64,
    model: &'a str,
    choices: [ChatChoice<'a>; 1],
}

#[derive(Serialize)]
struct ChatChoice<'a> {
    index: u32,
    delta: ChatDelta<'a>,
    finish_reason: Option<&'a str>,
}

#[derive(Serialize)]
struct ChatDelta<'a> {
    content: &'a str,
}

#[derive(Serialize)]
struct Block<'a> {
    r#type: &'a str,
    index: u32,
    delta: BlockDelta<'a>,
}

#[derive(Serialize)]
struct BlockDelta<'a> {
    r#type: &'a str,
    text: &'a str,
}

#[derive(Serialize)]
struct TextDelta<'a> {
    r#type: &'a str,
    sequence_number: u64,
    item_id: &'a str,
    output_index: u32,
    content_index: u32,
    delta: &'a str,
    logprobs: [(); 0],
}

/// Appends an event to the buffer, with the structs that a server has.
fn by_serde(to: &mut Vec<u8>, protocol: Protocol, text: &str, sequence: u64) {
    match protocol {
        Protocol::Chat => {
            to.extend_from_slice(b"data: ");
            let choice = ChatChoice { index: 0, delta: ChatDelta { content: text }, finish_reason: None };
            let object = "chat.completion.chunk";
            let chunk = ChatChunk { id: ID, object, created: 1_720_000_000, model: MODEL, choices: [choice] };
            serde_json::to_writer(&mut *to, &chunk)
        }
        Protocol::Anthropic => {
            to.extend_from_slice(b"event: content_block_delta\ndata: ");
            let delta = BlockDelta { r#type: "text_delta", text };
            serde_json::to_writer(&mut *to, &Block { r#type: "content_block_delta", index: 0, delta })
        }
        _ => {
            to.extend_from_slice(b"event: response.output_text.delta\ndata: ");
            let delta = TextDelta {
                r#type: "response.output_text.delta",
                sequence_number: sequence,
                item_id: "msg_chatcmpl-9lUSGqfZr2ZfUqcdw1GQ8xLE_0",
                output_index: 0,
                content_index: 0,
                delta: text,
                logprobs: [],
            };
            serde_json::to_writer(&mut *to, &delta)
        }
    }
    .expect("a vector takes all");
    to.extend_from_slice(b"\n\n");
}

/// Measures a protocol: nanoseconds an event by the writer, and by serde_json.
fn measured(protocol: Protocol, rounds: usize) -> [f64; 2] {
    let updates = TEXTS.map(|text| Update::Content(Text::verbatim(text.as_bytes())));
    let (mut buffer, mut own) = (vec![0; 16384], Vec::with_capacity(16384));
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..rounds {
        let head = Head::new(ID, MODEL, 1_720_000_000);
        let mut writer = Writer::new(protocol, &head, vec![0; 1 << 20]).expect("there is memory");
        let mut out = Out::new(&mut buffer);
        writer.put(&mut out, 0, &updates[0]).expect("there is room");
        let mut sequence = out.written().windows(6).filter(|bytes| bytes == b"data: ").count() as u64;
        out.clear();
        // Both write the same.
        writer.put(&mut out, 0, &updates[1]).expect("there is room");
        own.clear();
        by_serde(&mut own, protocol, TEXTS[1], sequence);
        assert_eq!(out.written(), own, "{protocol}");
        let began = clock::seconds();
        for update in updates.iter().cycle().take(EVENTS) {
            while let Err(error) = writer.put(&mut out, 0, update) {
                assert!(matches!(error, WriteError::NeedRoom { .. }) && !out.is_empty());
                black_box(out.written());
                out.clear();
            }
        }
        times[0].push((clock::seconds() - began) * 1e9 / EVENTS as f64);
        let began = clock::seconds();
        for text in TEXTS.iter().cycle().take(EVENTS) {
            if own.len() > 16000 {
                black_box(&own);
                own.clear();
            }
            sequence += 1;
            by_serde(&mut own, protocol, text, sequence);
        }
        times[1].push((clock::seconds() - began) * 1e9 / EVENTS as f64);
    }
    times.map(median)
}

/// Returns the table.
pub fn table(rounds: usize) -> String {
    let mut out = String::from("| ns an event | `Writer::put` | serde_json | times as fast |\n|---|--:|--:|--:|\n");
    for protocol in [Protocol::Chat, Protocol::Anthropic, Protocol::Responses] {
        let [own, serde] = measured(protocol, rounds);
        out.push_str(&format!("| {protocol} | {own:.0} | {serde:.0} | {:.1} |\n", serde / own));
    }
    out
}
