//! `deltawire convert`: writes the response as a stream of another protocol, as it arrives.

use super::push::{print, Checked, Printer};
use crate::options;
use crate::output::complain;
use crate::report::{Failure, TRUNCATED};
use deltawire::chat::{ApiError, Chunk, FinishKind, FinishReason, Owner};
use deltawire::json::Text;
use deltawire::message::Assembler;
use deltawire::stream::{Malformed, Protocol};
use deltawire::write::{Head, Out, WriteError, Writer};
use deltawire::{Flow, Handler, OwnedUpdate, Update};
use std::collections::{BTreeMap, BTreeSet};

/// How many bytes the output is written in, and how many the writer keeps at first. Both grow.
const ROOM: usize = 16 * 1024;

struct Converting {
    to: Protocol,
    out: Checked,
    room: Vec<u8>,
    /// The ID, the model and the time of the response.
    head: (String, String, u64),
    writer: Option<Writer<Vec<u8>>>,
    /// The choices, each with its last finish reason. It is written at the end, because some servers send more after one.
    choices: BTreeMap<u32, Option<OwnedUpdate>>,
    /// How many updates the protocol has no place for, and how many were lost otherwise.
    without_place: u64,
    lost: u64,
    /// Of Gemini: the calls, to put together arguments that come by path, and those calls that have such arguments.
    calls: Option<Assembler>,
    by_path: BTreeSet<(u32, u32)>,
}

pub fn run(options: &options::Convert) -> Result<u8, Failure> {
    let mut converting = Converting {
        to: options.to.protocol(),
        out: Checked::new(),
        room: vec![0; ROOM],
        head: ("response".into(), "unknown".into(), 0),
        writer: None,
        choices: BTreeMap::new(),
        without_place: 0,
        lost: 0,
        calls: None,
        by_path: BTreeSet::new(),
    };
    let status = print(&options.reading, &options.meaning, &mut converting)?;
    converting.end(status == 0)?;
    if converting.without_place > 0 {
        let (many, to) = (converting.without_place, converting.to);
        let updates = if many == 1 { "update" } else { "updates" };
        complain(format_args!("{many} {updates} left out, for which {to} has no place"));
    }
    Ok(if status == 0 && converting.lost > 0 { TRUNCATED } else { status })
}

impl Converting {
    /// Calls the writer until all that it writes is in the output.
    fn write(&mut self, write: impl Fn(&mut Writer<Vec<u8>>, &mut Out<'_>) -> Result<(), WriteError>) -> Flow {
        if self.writer.is_none() {
            let head = Head::new(&self.head.0, &self.head.1, self.head.2).with_usage();
            let memory = vec![0; ROOM + 4 * (self.head.0.len() + self.head.1.len())];
            self.writer = Writer::new(self.to, &head, memory).ok();
        }
        let Some(writer) = &mut self.writer else { return Flow::Continue(()) };
        loop {
            let (mut out, mut flow) = (Out::new(&mut self.room), Flow::Continue(()));
            let result = out.send(|out| write(writer, out), |bytes| flow = self.out.write(|out| out.write_all(bytes)));
            flow?;
            match result {
                Err(WriteError::NeedRoom { need }) => self.room.resize(need, 0),
                Err(WriteError::NeedMemory { need }) => writer.memory_mut().resize(need.saturating_mul(2), 0),
                Err(WriteError::NoPlace) => self.without_place += 1,
                // What follows an error that ended the stream.
                Ok(()) | Err(WriteError::Ended) => return Flow::Continue(()),
                Err(error) => {
                    complain(format_args!("left out: {error}"));
                    self.lost += 1;
                }
            }
            if !matches!(result, Err(WriteError::NeedRoom { .. } | WriteError::NeedMemory { .. })) {
                return Flow::Continue(());
            }
        }
    }

    /// Writes the arguments of a call that came by path, which are whole now.
    fn write_paths(&mut self, choice: u32, call: u32) -> Flow {
        let Some(Ok(message)) = self.calls.as_ref().map(Assembler::message) else { return Flow::Continue(()) };
        let calls = message.choices.iter().find(|own| own.index == choice).map(|own| own.tool_calls.as_slice());
        let own = calls.and_then(|calls| calls.get(call as usize)?.arguments.as_ref());
        let Some(arguments) = own else { return Flow::Continue(()) };
        let text = Text::verbatim(arguments.as_bytes());
        self.write(|writer, out| writer.put(out, choice, &Update::CallArguments { call, text }))
    }

    /// Ends the output as the input ended.
    fn end(&mut self, is_complete: bool) -> Result<(), Failure> {
        if self.writer.is_none() && self.choices.is_empty() {
            return Ok(());
        }
        let choices = std::mem::take(&mut self.choices);
        for (choice, finish) in choices.into_iter().filter(|_| is_complete) {
            // `[DONE]` ends a response whose choices have no finish reason, too.
            let stop = Update::Finish(FinishReason::new(FinishKind::Stop));
            let finish = finish.as_ref().map_or(stop, OwnedUpdate::as_update);
            let _ = self.write(|writer, out| writer.put(out, choice, &finish));
        }
        let _ = if is_complete {
            self.write(Writer::finish)
        } else {
            self.write(|writer, out| writer.fail(out, &ApiError::plain(b"the response is not complete")))
        };
        let _ = self.out.flush();
        self.out.check()
    }
}

impl Handler for Converting {
    fn chunk(&mut self, chunk: &Chunk<'_>) -> Flow {
        if chunk.protocol() == Protocol::Gemini {
            let _ = self.calls.get_or_insert_with(Assembler::new).chunk(chunk);
        }
        if self.writer.is_none() {
            if let Some(id) = chunk.id().filter(|id| !id.is_empty()) {
                self.head.0 = id.to_cow().into_owned();
            }
            if let Some(model) = chunk.model().filter(|model| !model.is_empty()) {
                self.head.1 = model.to_cow().into_owned();
            }
            self.head.2 = chunk.created().unwrap_or(self.head.2);
        }
        Flow::Continue(())
    }

    fn update(&mut self, choice: u32, update: Update<'_>) -> Flow {
        match (&update, &mut self.calls) {
            (Update::Call(_) | Update::CallName { .. }, Some(calls)) => drop(calls.update(choice, update.clone())),
            (Update::Member(member), Some(calls)) if member.name == "partialArgs" && member.owner == Owner::Call => {
                self.by_path.insert((choice, member.call));
                return calls.update(choice, update);
            }
            (Update::CallEnd { call, .. }, _) if self.by_path.remove(&(choice, *call)) => {
                self.write_paths(choice, *call)?;
            }
            _ => {}
        }
        match update {
            Update::Finish(_) if choice == 0 || self.to == Protocol::Chat => {
                self.choices.insert(choice, Some(update.into_owned()));
                return Flow::Continue(());
            }
            Update::Call(_) if choice == 0 || self.to == Protocol::Chat => {
                let calls = || Update::Finish(FinishReason::new(FinishKind::ToolCalls)).into_owned();
                self.choices.entry(choice).or_default().get_or_insert_with(calls);
            }
            Update::ChoiceError(_) => drop(self.choices.remove(&choice)),
            Update::Usage(_) | Update::Error(_) | Update::CallEnd { .. } => {}
            _ if choice == 0 || self.to == Protocol::Chat => drop(self.choices.entry(choice).or_default()),
            _ => {}
        }
        self.write(|writer, out| writer.put(out, choice, &update))
    }

    fn malformed(&mut self, malformed: &Malformed<'_>) -> Flow {
        self.out.note(malformed.fault());
        Flow::Continue(())
    }
}

impl Printer for Converting {
    fn output(&mut self) -> &mut Checked {
        &mut self.out
    }
}
