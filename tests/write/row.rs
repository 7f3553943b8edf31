//! A row of updates is written, and the stream is checked: it is valid, the same for any buffer, and reading it gives what
//! was taken.

use super::naive::check;
use super::run::{read, write, Message, Op};
use deltawire::chat::{FinishKind, NamePiece};
use deltawire::stream::Protocol;
use deltawire::write::{Head, WriteError};

/// Usages, which are JSON.
pub const USAGES: [&str; 2] = [
    r#"{"prompt_tokens":5,"completion_tokens":3,"total_tokens":8}"#,
    r#"{"input_tokens":5,"cache_read_input_tokens":4,"output_tokens":3}"#,
];

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

/// What became of a row.
pub struct Row {
    /// How many updates were not taken.
    pub errors: usize,
    /// Whether the stream has a proper end and was compared with the updates.
    pub whole: bool,
}

/// Writes a row of updates, which ends with [`Op::Whole`], also to buffers of these sizes, and checks the stream. The ID of the
/// head begins with `i` and a line end.
pub fn check_row(protocol: Protocol, head: &Head<'_>, memory: usize, ops: &[(u32, Op)], rooms: &[usize]) -> Row {
    let written = write(protocol, head, (memory, 1 << 16), ops);
    let ended = check(protocol, written.text());
    for room in rooms {
        let other = write(protocol, head, (memory, *room), ops);
        assert_eq!(other.text(), written.text(), "{protocol} {room} {ops:?}");
        assert_eq!(other.results, written.results, "{protocol} {room} {ops:?}");
    }
    let errors = written.results.iter().filter(|result| result.is_err()).count();
    let (messages, _, is_whole) = read(&written.bytes);
    let is_proper = written.results.last() == Some(&Ok(()));
    let mut expected = expected(protocol, ops, &written.results);
    if protocol != Protocol::Chat && expected.as_ref().is_some_and(|own| own.finish == Some(FinishKind::Error)) {
        expected = None;
    }
    let is_expected = is_proper && expected.is_some();
    assert_eq!(ended, is_proper.then_some(is_expected).or((!is_expected && ended.is_some()).then_some(false)));
    let mut whole = false;
    if let (true, Some(mut expected)) = (is_proper, expected) {
        let mut got = messages.get(&0).cloned().unwrap_or_default();
        for call in got.calls.iter_mut().chain(&mut expected.calls) {
            // IDs and arguments that the writer makes up, or that look so.
            let is_missing = matches!(&*call.0, "null" | "None");
            if is_missing || call.0.starts_with("call_i\n") || call.0.starts_with("toolu_i\n") {
                call.0.clear();
            }
            if call.2 == "{}" {
                call.2.clear();
            }
        }
        // Calls are written in the order in which they open.
        got.calls.sort();
        expected.calls.sort();
        got.finish = expected.finish;
        assert_eq!(got, expected, "{protocol} {ops:?}\n{}", written.text());
        whole = is_whole;
    }
    Row { errors, whole }
}
