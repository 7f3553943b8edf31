//! What Anthropic Messages and Responses have in common: the output is a row of parts (blocks, or items), of which one is
//! open at a time. Chat completions write everything as it comes.

use super::calls::{CLOSED, ENDED, OPEN};
use super::log::{Chain, Tag};
use super::out::{is_json, put, To, Written};
use super::parts::{Part, Progress, Task};
use super::state::{State, Write};
use super::WriteError;
use crate::chat::{ApiError, FinishKind, FinishReason, OtherMember, Owner, Update};
use crate::json::{Value, ValueKind};
use crate::stream::Protocol;

impl State {
    /// Writes an event. `write` writes what follows its type, and its number in Responses, up to its end.
    pub(super) fn event(&mut self, to: &mut To<'_, '_>, [a, b, c]: [&str; 3], write: Write<'_>) -> Written {
        self.frame(to, &mut |state, frame| {
            put!(frame, "event: ", a, b, c, "\ndata: {\"type\":\"", a, b, c, "\"");
            if state.protocol == Protocol::Responses {
                put!(frame, ",\"sequence_number\":", state.sequence);
            }
            write(state, frame);
        })
    }

    /// Writes what the present task still needs.
    #[inline(never)]
    pub(super) fn run(&mut self, to: &mut To<'_, '_>) -> Written {
        loop {
            self.write_body(to)?;
            let Some(task) = self.serial.task else { return Ok(()) };
            let is_last = match self.protocol {
                Protocol::Responses => self.responses_step(to, task)?,
                _ => self.anthropic_step(to, task)?,
            };
            if !is_last {
                self.step = self.step.saturating_add(1);
                continue;
            }
            (self.step, self.serial.task) = (0, None);
            match task {
                Task::Begin => self.begun = 1,
                Task::Open => self.flag_open(OPEN),
                Task::Close => {
                    self.flag_open(CLOSED | ENDED);
                    (self.serial.open, self.serial.index) = (Part::Nothing, self.serial.index.saturating_add(1));
                }
                Task::End => self.ended = true,
            }
        }
    }

    /// Sets flags of the call that is open.
    fn flag_open(&mut self, flags: u8) {
        if let Part::Call(place) = self.serial.open {
            self.calls.flag(place, flags);
        }
    }

    pub(super) fn start_task(&mut self, to: &mut To<'_, '_>, task: Task) -> Written {
        self.serial.task = Some(task);
        self.run(to)
    }

    /// Writes the beginning of the stream, unless it was written.
    pub(super) fn serial_start(&mut self, to: &mut To<'_, '_>) -> Written {
        if self.begun != 0 {
            return Ok(());
        }
        self.start_task(to, Task::Begin)
    }

    /// Opens a part, unless it is open and may go on.
    pub(super) fn want(&mut self, to: &mut To<'_, '_>, part: Part) -> Written {
        if self.serial.open == part && !self.serial.is_signed {
            return Ok(());
        }
        self.serial_start(to)?;
        self.serial_close(to)?;
        (self.serial.open, self.serial.is_signed) = (part, false);
        self.serial.refused |= part == Part::Refusal;
        self.start_task(to, Task::Open)
    }

    /// Closes the part that is open. A call ends with it.
    pub(super) fn serial_close(&mut self, to: &mut To<'_, '_>) -> Written {
        match self.serial.open {
            Part::Nothing => return Ok(()),
            Part::Call(place) => self.write_waiting(to, place)?,
            _ => {}
        }
        self.start_task(to, Task::Close)
    }

    /// Writes an update that is no text.
    pub(super) fn serial_part(&mut self, to: &mut To<'_, '_>, update: &Update<'_>) -> Written {
        let is_object = |value: &Value<'_>| value.kind() == ValueKind::Object;
        match update {
            Update::Member(member) if member.owner == Owner::Call => self.call_signature(to, member),
            Update::Member(OtherMember { owner: Owner::Choice, name, value, .. })
                if *name == "stop_sequence" && self.protocol == Protocol::Anthropic =>
            {
                let text = value.as_text().filter(|text| !text.is_empty() && self.stop.is_empty());
                let Some(text) = text else { return Ok(()) };
                let (mut log, mut stop) = (self.log, Chain::default());
                log.append(to.memory, &mut stop, Tag::Joined, |frame| frame.decoded(text))?;
                (self.log, self.stop) = (log, stop);
                Ok(())
            }
            Update::Annotations(list) if list.kind() == ValueKind::Array => {
                // Each element is an event. Those that an earlier call wrote are behind the progress.
                let of = (0, Part::Annotations, list.raw().len());
                let mut at = self.progress_of(of);
                let mut ahead = at;
                let mut elements = core::iter::from_fn(|| list.element_at(&mut ahead));
                if at == 0 && (!is_json(*list) || !elements.all(|one| is_object(&one))) {
                    return Err(WriteError::Json);
                }
                while let Some(one) = list.element_at(&mut at) {
                    self.annotation(to, one)?;
                    self.progress = (of.0, of.1, of.2, at);
                }
                self.progress = Progress::default();
                Ok(())
            }
            Update::Annotations(one) if is_object(one) => self.annotation(to, *one),
            Update::Annotations(_) => Err(WriteError::Json),
            Update::ChoiceError(error) => self.serial_error(to, error),
            _ => Err(WriteError::NoPlace),
        }
    }

    fn annotation(&mut self, to: &mut To<'_, '_>, one: Value<'_>) -> Written {
        self.want(to, Part::Content)?;
        match self.protocol {
            Protocol::Responses => self.responses_annotation(to, one),
            _ => self.block_delta(to, "citations_delta\",\"citation\":", &mut |_, frame| put!(frame, one)),
        }
    }

    /// Notes why the response finished; the end of the stream tells.
    pub(super) fn serial_finish(&mut self, to: &mut To<'_, '_>, reason: &FinishReason<'_>) -> Written {
        self.serial_start(to)?;
        self.serial.reason = Some(reason.kind());
        self.serial.stop = self.anthropic_reason(reason);
        Ok(())
    }

    pub(super) fn serial_end(&mut self, to: &mut To<'_, '_>) -> Written {
        if self.serial.reason == Some(FinishKind::Error) {
            return self.serial_error(to, &ApiError::plain(b"the response failed"));
        }
        self.serial_close(to)?;
        self.start_task(to, Task::End)
    }

    pub(super) fn serial_error(&mut self, to: &mut To<'_, '_>, error: &ApiError<'_>) -> Written {
        if self.protocol != Protocol::Responses {
            return self.anthropic_error(to, error);
        }
        self.serial_start(to)?;
        self.last_event(to, "failed", Some(error))?;
        // The stream ends behind the event that is being written.
        self.step = 1;
        self.start_task(to, Task::End)
    }
}
