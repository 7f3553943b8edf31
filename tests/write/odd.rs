//! Any row of updates, however odd, gives a valid stream or a typed error, the same bytes for any buffer, and what was
//! taken is read again.

use super::naive::check;
use super::run::{read, write, Message, Op};
use crate::common::random::Random;
use crate::common::thin::thin;
use deltawire::chat::{FinishKind, NamePiece};
use deltawire::stream::Protocol;
use deltawire::write::{Head, WriteError};

const TEXTS: [&str; 12] = [
    "a",
    "Hello, world",
    "\"",
    "\\",
    "\n\ndata: [DONE]\n\n",
    "\r\nevent: error\r\ndata: {}\r\n\r\n",
    "\u{0}\u{1f}\u{7f}\u{85}\u{2028}\u{feff}",
    "\u{e9}\u{1f600}",
    "\"}}]}\n\ndata: {\"choices\":[]}\n\n",
    "\\u0022\\ud83d",
    "",
    "a text that is a little longer than most, so that it takes several events \u{1f600}\u{1f600}\u{1f600}",
];

const JSON: [&str; 7] =
    ["{\"type\":\"t\"}", "[{\"a\":\n[1]},{\"b\":\"\\n\"}]", "[]", "{", "1\n\n", "{\"a\":\"\n\"}", "[3]"];

fn op(random: &mut Random) -> Op {
    let text = random.pick(&TEXTS);
    let call = random.below(3) as u32;
    match random.below(26) {
        0..=3 => Op::Content(text.into()),
        4 | 5 => Op::Reasoning(text.into()),
        6 => Op::Refusal(text.into()),
        7 => Op::Signature(text.into()),
        8 => Op::Annotations(random.pick(&JSON).into()),
        9 => Op::Logprobs(random.pick(&JSON).into()),
        10 | 11 => Op::Call { call, id: random.pick(&["", "id", "a\n\"b"]), custom: random.below(4) == 0 },
        12..=14 => {
            let piece = random.pick(&[NamePiece::Replaces, NamePiece::Appends]);
            Op::Name { call, text: random.pick(&["f", "get\n\"", "h"]), piece }
        }
        15..=19 => Op::Arguments { call, text: text.into() },
        20 | 21 => Op::End { call },
        22 => Op::KeepAlive,
        23 => Op::Usage(random.pick(&[
            r#"{"prompt_tokens":5,"completion_tokens":3,"total_tokens":8}"#,
            r#"{"input_tokens":5,"cache_read_input_tokens":4,"output_tokens":3}"#,
        ])),
        24 => Op::Role(random.pick(&["assistant", "a\n\n", ""])),
        _ if random.below(3) == 0 => Op::Error(random.pick(&[r#"{"message":"m\n"}"#, r#""words""#, "null", "{"])),
        _ => Op::Finish(random.pick(&[
            FinishKind::Stop,
            FinishKind::Length,
            FinishKind::ToolCalls,
            FinishKind::ContentFilter,
            FinishKind::Error,
        ])),
    }
}

/// What the updates that were taken mean, told naively.
fn expected(protocol: Protocol, ops: &[(u32, Op)], results: &[Result<(), WriteError>]) -> Option<Message> {
    #[derive(Default)]
    struct Call {
        call: u32,
        id: String,
        name: String,
        arguments: String,
        is_custom: bool,
    }
    let (mut message, mut calls) = (Message::default(), Vec::<Call>::new());
    for ((choice, op), result) in ops.iter().zip(results) {
        if *choice != 0 || result.is_err() {
            continue;
        }
        let mut of = |number: u32| {
            calls.iter().position(|call| call.call == number).unwrap_or_else(|| {
                calls.push(Call { call: number, ..Call::default() });
                calls.len() - 1
            })
        };
        match op {
            Op::Content(text) => message.content += text,
            Op::Refusal(text) if protocol == Protocol::Anthropic => message.content += text,
            Op::Refusal(text) => message.refusal += text,
            Op::Reasoning(text) => message.reasoning += text,
            Op::Call { call, id, custom } => {
                let place = of(*call);
                calls[place].is_custom |= custom;
                if calls[place].id.is_empty() {
                    calls[place].id = id.to_string();
                }
            }
            Op::Name { call, text, piece } => {
                let place = of(*call);
                if *piece == NamePiece::Replaces {
                    calls[place].name.clear();
                }
                calls[place].name += text;
            }
            Op::Arguments { call, text } if !text.is_empty() => {
                let place = of(*call);
                calls[place].arguments += text;
            }
            Op::Finish(kind) => message.finish = Some(*kind),
            Op::Error(_) => return None,
            _ => {}
        }
    }
    for call in &mut calls {
        if call.is_custom && protocol == Protocol::Anthropic {
            call.arguments = format!("{{\"input\":{}}}", serde_json::to_string(&call.arguments).unwrap());
        }
    }
    let mut own: Vec<_> = calls.into_iter().map(|call| (call.id, call.name, call.arguments)).collect();
    own.sort();
    message.calls = own;
    Some(message)
}

#[test]
fn any_updates_give_a_valid_stream_or_a_typed_error() {
    let (mut whole, mut errors) = (0, 0);
    for seed in 0..20_000 / thin() as u64 {
        let mut random = Random::new(seed + 1);
        let protocol = random.pick(&[Protocol::Chat, Protocol::Anthropic, Protocol::Responses]);
        let choices = random.pick(&[1, 1, 1, 3]);
        let mut head = Head::new("i\n\"d", "m\n\n", 7).with_text_len(random.pick(&[16, 20, 4096]));
        if random.below(2) == 0 {
            head = head.with_usage();
        }
        if random.below(4) == 0 {
            head = head.with_event_ids().with_retry(5);
        }
        let mut ops: Vec<_> = (0..random.below(24)).map(|_| (random.below(choices) as u32, op(&mut random))).collect();
        ops.extend((0..choices as u32).map(|choice| (choice, Op::Finish(FinishKind::Stop))));
        ops.push((0, Op::Whole));
        let memory = random.pick(&[1100, 1400, 1 << 14]);
        let written = write(protocol, &head, (memory, 1 << 16), &ops);
        let ended = check(protocol, written.text());
        for room in [1, 90, 333] {
            let other = write(protocol, &head, (memory, room), &ops);
            assert_eq!(other.text(), written.text(), "{protocol} {seed} {room} {ops:?}");
            assert_eq!(other.results, written.results, "{protocol} {seed} {room} {ops:?}");
        }
        errors += written.results.iter().filter(|result| result.is_err()).count();
        let (messages, _, is_whole) = read(&written.bytes);
        let is_proper = written.results.last() == Some(&Ok(()));
        let mut expected = expected(protocol, &ops, &written.results);
        if protocol != Protocol::Chat && expected.as_ref().is_some_and(|own| own.finish == Some(FinishKind::Error)) {
            expected = None;
        }
        let is_expected = is_proper && expected.is_some();
        assert_eq!(ended, is_proper.then_some(is_expected).or((!is_expected && ended.is_some()).then_some(false)));
        if let (true, Some(expected)) = (is_proper, expected) {
            let mut got = messages.get(&0).cloned().unwrap_or_default();
            for call in &mut got.calls {
                // IDs and arguments that the writer makes up.
                if call.0.starts_with("call_i\n") || call.0.starts_with("toolu_i\n") {
                    call.0.clear();
                }
                if call.2 == "{}" {
                    call.2.clear();
                }
            }
            // Calls are written in the order in which they open.
            got.calls.sort();
            got.finish = expected.finish;
            assert_eq!(got, expected, "{protocol} {seed} {ops:?}\n{}", written.text());
            whole += usize::from(is_whole);
        }
    }
    assert!(whole > 50 && errors > 50, "{whole} {errors}");
}
