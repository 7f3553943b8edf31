//! This library's batches: an array of records a call, as in the C interface, but without C.

use super::contender::{Contender, Kind};
use crate::Sink;
use deltawire::delta::{Kind as What, FLAG_MORE};
use deltawire::json::Value;
use deltawire::stream::{self, Emitter, Machine, Outcome, Record, FLAG_TEXT_SCRATCH};
use deltawire::track::Tracker;
use deltawire::{Config, Movable};

/// The kinds that the work needs.
const WANTED: u64 = What::Chunk.bit()
    | What::Content.bit()
    | What::Reasoning.bit()
    | What::ToolCall.bit()
    | What::ToolName.bit()
    | What::ToolArguments.bit()
    | What::Finish.bit()
    | What::Usage.bit()
    | What::Done.bit();

/// See the module.
pub struct Records {
    machine: Machine,
    emitter: Emitter,
    tracker: Tracker,
    memory: Vec<u8>,
    records: [Record; 64],
    scratch: [u8; 4096],
}

impl Records {
    /// Makes one with room for an event that a slice cuts.
    pub fn new(room: usize) -> Self {
        Records {
            machine: Machine::new(Config::default()),
            emitter: Emitter::new(),
            tracker: Tracker::new(),
            memory: vec![0; room],
            records: [Record::default(); 64],
            scratch: [0; 4096],
        }
    }
}

impl Contender for Records {
    fn name(&self) -> &'static str {
        super::contender::BATCH
    }
    fn kind(&self) -> Kind {
        Kind::Own
    }
    fn read(&mut self, response: &[u8], slice: usize, sink: &mut Sink) {
        self.machine.reset();
        self.emitter = Emitter::new();
        self.tracker = Tracker::new();
        for mut data in response.chunks(slice) {
            loop {
                let mut out = stream::Records::new(&mut self.records, &mut self.scratch, WANTED);
                let mut store = Movable::new(&mut self.memory, false);
                let tracker = &mut self.tracker;
                let (spent, outcome) = self.emitter.run(&mut self.machine, &mut store, tracker, data, 0, &mut out);
                let written = out.written();
                for record in &self.records[..written] {
                    if take(record, data, &self.scratch, sink) {
                        return;
                    }
                }
                data = &data[spent..];
                match outcome {
                    Outcome::Done => break,
                    Outcome::Full => {}
                    other => panic!("{other:?}"),
                }
            }
        }
    }
}

/// Returns `true` at `[DONE]`.
fn take(record: &Record, data: &[u8], scratch: &[u8], sink: &mut Sink) -> bool {
    let from = if record.flags & FLAG_TEXT_SCRATCH == 0 { data } else { scratch };
    let text = &from[record.text_off as usize..][..record.text_len as usize];
    let push = |to: &mut String| {
        // SAFETY: all texts of the kinds below are valid UTF-8.
        to.push_str(unsafe { std::str::from_utf8_unchecked(text) });
    };
    // A text in pieces counts as one.
    let is_last = record.flags & FLAG_MORE == 0;
    const CHUNK: u16 = What::Chunk as u16;
    const CONTENT: u16 = What::Content as u16;
    const REASONING: u16 = What::Reasoning as u16;
    const TOOL_CALL: u16 = What::ToolCall as u16;
    const TOOL_NAME: u16 = What::ToolName as u16;
    const TOOL_ARGUMENTS: u16 = What::ToolArguments as u16;
    const FINISH: u16 = What::Finish as u16;
    const USAGE: u16 = What::Usage as u16;
    const DONE: u16 = What::Done as u16;
    match record.kind {
        CHUNK => sink.sums.events += 1,
        CONTENT | REASONING => {
            if is_last {
                sink.choice(record.choice);
            }
            push(if record.kind == CONTENT { &mut sink.content } else { &mut sink.reasoning });
        }
        TOOL_CALL if !text.is_empty() => {
            sink.call(record.choice, record.number as u32);
            push(&mut sink.names);
        }
        TOOL_NAME => {
            sink.call(record.choice, record.call);
            push(&mut sink.names);
        }
        TOOL_ARGUMENTS => {
            if is_last {
                sink.call(record.choice, record.call);
            }
            push(&mut sink.arguments);
        }
        FINISH => {
            sink.choice(record.choice);
            push(&mut sink.names);
        }
        USAGE => {
            let all = Value::from_raw(text);
            let count = |name| all.get(name).ok().flatten()?.as_number()?.to_u64();
            let [prompt, completion, total] =
                ["prompt_tokens", "completion_tokens", "total_tokens"].map(|name| count(name).unwrap_or(0));
            sink.usage(prompt, completion, total);
        }
        DONE => return true,
        _ => {}
    }
    false
}
