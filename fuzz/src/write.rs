//! Writes updates in any order, with forged texts, and checks the stream.

use crate::input::{self, Source};
use deltawire::chat::{FinishKind, NamePiece};
use deltawire::stream::Protocol;
use deltawire::write::Head;
use run::Op;
use std::sync::atomic::{AtomicUsize, Ordering};

#[path = "../../tests/write/naive.rs"]
pub mod naive;
#[path = "../../tests/write/row.rs"]
pub mod row;
#[path = "../../tests/write/run.rs"]
pub mod run;

/// How many streams have a proper end and were compared with their updates.
pub static COMPARED: AtomicUsize = AtomicUsize::new(0);

pub fn write(data: &[u8]) {
    let (mut control, body) = input::split(data);
    let protocol = match input::which(&mut control, body.len(), 3) {
        0 => Protocol::Chat,
        1 => Protocol::Anthropic,
        _ => Protocol::Responses,
    };
    let choices = control.pick(&[1, 1, 1, 3]);
    let mut head = Head::new("i\n\"d", "m\n\n", 7).with_text_len(control.pick(&[4096, 16, 20]));
    if control.once_in(2) {
        head = head.with_usage();
    }
    if control.once_in(4) {
        head = head.with_event_ids().with_retry(5);
    }
    let memory = control.pick(&[1 << 14, 1100, 1400]);
    let rooms = [1, 1 + control.below(600)];
    let mut body = Source::new(body);
    let mut ops = Vec::new();
    while ops.len() < 40 && !(control.is_empty() && body.is_empty()) {
        ops.push((control.below(choices) as u32, op(&mut control, &mut body)));
    }
    ops.extend((0..choices as u32).map(|choice| (choice, Op::Finish(FinishKind::Stop))));
    ops.push((0, Op::Whole));
    let row = row::check_row(protocol, &head, memory, &ops, &rooms);
    COMPARED.fetch_add(usize::from(row.whole), Ordering::Relaxed);
}

/// The next update: its kind from the control part, its text from the body.
fn op(control: &mut Source<'_>, body: &mut Source<'_>) -> Op {
    let kind = control.below(24);
    let call = if matches!(kind, 8..=17) { control.below(3) as u32 } else { 0 };
    let len = match control.u8() % 64 {
        0 => 100,
        len => len.into(),
    };
    // Ill-formed bytes become U+FFFD, so that what is read can be compared.
    let mut text = || String::from_utf8_lossy(body.take(len)).into_owned();
    match kind {
        0..=2 => Op::Content(text()),
        3 => Op::Reasoning(text()),
        4 => Op::Refusal(text()),
        5 => Op::Signature(text()),
        6 => Op::Annotations(text()),
        7 => Op::Logprobs(text()),
        8 | 9 => Op::Call { call, id: text(), custom: control.once_in(4) },
        10..=12 => {
            let piece = control.pick(&[NamePiece::Replaces, NamePiece::Appends]);
            Op::Name { call, text: text(), piece }
        }
        13..=16 => Op::Arguments { call, text: text() },
        17 => Op::End { call },
        18 => Op::KeepAlive,
        19 => Op::Usage(control.pick(&row::USAGES).into()),
        20 => Op::Role(text()),
        21 if control.once_in(3) => Op::Error(text()),
        _ => Op::Finish(control.pick(&[
            FinishKind::Stop,
            FinishKind::Length,
            FinishKind::ToolCalls,
            FinishKind::ContentFilter,
            FinishKind::Error,
        ])),
    }
}
