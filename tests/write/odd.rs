//! Any row of updates, however odd, gives a valid stream or a typed error, the same bytes for any buffer, and what was
//! taken is read again.

use super::row::{check_row, USAGES};
use super::run::Op;
use crate::common::random::Random;
use crate::common::thin::thin;
use deltawire::chat::{FinishKind, NamePiece};
use deltawire::stream::Protocol;
use deltawire::write::Head;

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

const NATIVE: [&str; 6] = [
    "{\"type\":\"redacted_thinking\",\"data\":\"a\\n\"}",
    "{\"type\":\"redacted_thinking\",\"data\":\n7}",
    "{\"type\":\"reasoning.encrypted\",\"data\":\"b\"\n}",
    "{\"type\":\"reasoning.text\",\"signature\":\"c\\u0022\"}",
    "{\"type\":\"reasoning.text\",\"signature\":\"c\"",
    "[]",
];

fn op(random: &mut Random) -> Op {
    let text = random.pick(&TEXTS);
    let call = random.below(3) as u32;
    match random.below(27) {
        0..=3 => Op::Content(text.into()),
        4 | 5 => Op::Reasoning(text.into()),
        6 => Op::Refusal(text.into()),
        7 => Op::Signature(text.into()),
        8 => Op::Annotations(random.pick(&JSON).into()),
        9 => Op::Logprobs(random.pick(&JSON).into()),
        10 | 11 => Op::Call { call, id: random.pick(&["", "id", "a\n\"b"]).into(), custom: random.below(4) == 0 },
        12..=14 => {
            let piece = random.pick(&[NamePiece::Replaces, NamePiece::Appends]);
            Op::Name { call, text: random.pick(&["f", "get\n\"", "h"]).into(), piece }
        }
        15..=19 => Op::Arguments { call, text: text.into() },
        20 | 21 => Op::End { call },
        22 => Op::KeepAlive,
        23 => Op::Usage(random.pick(&USAGES).into()),
        24 => Op::Native(random.pick(&NATIVE).into()),
        25 => Op::Role(random.pick(&["assistant", "a\n\n", ""]).into()),
        _ if random.below(3) == 0 => {
            Op::Error(random.pick(&[r#"{"message":"m\n"}"#, r#""words""#, "null", "{"]).into())
        }
        _ => Op::Finish(random.pick(&[
            FinishKind::Stop,
            FinishKind::Length,
            FinishKind::ToolCalls,
            FinishKind::ContentFilter,
            FinishKind::Error,
        ])),
    }
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
        let row = check_row(protocol, &head, memory, &ops, &[1, 90, 333]);
        errors += row.errors;
        whole += usize::from(row.whole);
    }
    assert!(whole > 50 && errors > 50, "{whole} {errors}");
}
