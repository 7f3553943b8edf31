//! Updates to write, as plain data, and what reads and writes them.

use deltawire::chat::{ApiError, CallUpdate, FinishKind, FinishReason, NamePiece, TokenCounts, Usage};
use deltawire::json::{Text, Value};
use deltawire::stream::Protocol;
use deltawire::write::{Head, Out, WriteError, Writer};
use deltawire::{Growing, Parser, Update};
use std::collections::BTreeMap;

/// One call of the writer.
#[derive(Clone, Debug)]
pub enum Op {
    Role(String),
    Content(String),
    Reasoning(String),
    Refusal(String),
    Signature(String),
    Annotations(String),
    Native(String),
    Logprobs(String),
    Call { call: u32, id: String, custom: bool },
    Name { call: u32, text: String, piece: NamePiece },
    Arguments { call: u32, text: String },
    End { call: u32 },
    Finish(FinishKind),
    Usage(String),
    Error(String),
    KeepAlive,
    Whole,
}

pub fn content(text: &str) -> Op {
    Op::Content(text.into())
}

pub fn reasoning(text: &str) -> Op {
    Op::Reasoning(text.into())
}

pub fn named(call: u32, id: &str, name: &str) -> [Op; 2] {
    [Op::Call { call, id: id.into(), custom: false }, Op::Name { call, text: name.into(), piece: NamePiece::Replaces }]
}

pub fn arguments(call: u32, text: &str) -> Op {
    Op::Arguments { call, text: text.into() }
}

fn text(text: &str) -> Text<'_> {
    Text::verbatim(text.as_bytes())
}

fn raw(json: &str) -> Value<'_> {
    Value::from_raw(json.as_bytes())
}

impl Op {
    /// Calls the writer once.
    fn put(&self, writer: &mut Writer<Vec<u8>>, out: &mut Out<'_>, choice: u32) -> Result<(), WriteError> {
        let update = match self {
            Op::KeepAlive => return writer.keep_alive(out),
            Op::Whole => return writer.finish(out),
            Op::Error(json) => return writer.fail(out, &ApiError::of(raw(json))),
            Op::Role(role) => Update::Role(text(role)),
            Op::Content(content) => Update::Content(text(content)),
            Op::Reasoning(reasoning) => Update::Reasoning(text(reasoning)),
            Op::Refusal(refusal) => Update::Refusal(text(refusal)),
            Op::Signature(signature) => Update::Signature(text(signature)),
            Op::Annotations(json) => Update::Annotations(raw(json)),
            Op::Native(json) => Update::Native(raw(json)),
            Op::Logprobs(json) => Update::Logprobs(raw(json)),
            Op::Call { call, id, custom } => {
                let mut update = CallUpdate::default();
                (update.call, update.opens, update.custom) = (*call, true, *custom);
                update.id = Some(text(id)).filter(|id| !id.is_empty());
                Update::Call(update)
            }
            Op::Name { call, text: name, piece } => Update::CallName { call: *call, text: text(name), piece: *piece },
            Op::Arguments { call, text: fragment } => Update::CallArguments { call: *call, text: text(fragment) },
            Op::End { call } => Update::CallEnd { call: *call, whole: true },
            Op::Finish(kind) => Update::Finish(FinishReason::new(*kind)),
            Op::Usage(json) => Update::Usage(Usage::of(raw(json)).unwrap()),
        };
        writer.put(out, choice, &update)
    }
}

/// What a writer wrote, and how each call ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    pub bytes: Vec<u8>,
    pub results: Vec<Result<(), WriteError>>,
}

impl Written {
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.bytes).unwrap()
    }
}

/// Writes to a buffer of this size, which becomes larger only for an event that needs more.
pub fn write(protocol: Protocol, head: &Head<'_>, (memory, room): (usize, usize), ops: &[(u32, Op)]) -> Written {
    let mut writer = Writer::new(protocol, head, vec![0; memory]).unwrap();
    let (mut bytes, mut results, mut buffer) = (Vec::new(), Vec::new(), vec![0; room]);
    for (choice, op) in ops {
        let result = loop {
            let mut out = Out::new(&mut buffer);
            let result = op.put(&mut writer, &mut out, *choice);
            bytes.extend_from_slice(out.written());
            match result {
                Err(WriteError::NeedRoom { need }) => {
                    assert!(need > 0 && (!out.is_empty() || need > room), "{op:?}");
                    if out.is_empty() {
                        buffer = vec![0; need];
                    }
                }
                result => break result,
            }
        };
        buffer.resize(room, 0);
        results.push(result);
    }
    Written { bytes, results }
}

/// The message of a choice.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Message {
    pub content: String,
    pub reasoning: String,
    pub refusal: String,
    /// ID, name and arguments, in the order of the calls.
    pub calls: Vec<(String, String, String)>,
    pub finish: Option<FinishKind>,
}

/// What a parser reads: the message of each choice, the token counts, and whether the stream was whole.
pub fn read(bytes: &[u8]) -> (BTreeMap<u32, Message>, Option<TokenCounts>, bool) {
    let (mut parser, mut messages) = (Parser::new(Growing::new()), BTreeMap::<u32, Message>::new());
    let mut each = |choice: u32, update: Update<'_>| {
        if matches!(update, Update::Usage(_) | Update::Error(_)) {
            return;
        }
        let message = messages.entry(choice).or_default();
        match update {
            Update::Content(text) => drop(text.push_to(&mut message.content)),
            Update::Reasoning(text) => drop(text.push_to(&mut message.reasoning)),
            Update::Refusal(text) => drop(text.push_to(&mut message.refusal)),
            Update::Call(call) => {
                message.calls.resize(message.calls.len().max(call.call as usize + 1), Default::default());
                if let Some(id) = call.id {
                    id.push_to(&mut message.calls[call.call as usize].0);
                }
            }
            Update::CallName { call, text, .. } => drop(text.push_to(&mut message.calls[call as usize].1)),
            Update::CallArguments { call, text } => drop(text.push_to(&mut message.calls[call as usize].2)),
            Update::Finish(reason) => message.finish = Some(reason.kind()),
            _ => {}
        }
    };
    parser.feed_all(bytes, &mut each).unwrap();
    parser.finish_all(&mut each).unwrap();
    (messages, parser.usage(), parser.end().is_complete())
}
