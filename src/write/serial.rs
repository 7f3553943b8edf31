//! What Anthropic Messages and Responses have in common: the output is a row of parts (blocks, or items), of which one is
//! open at a time. Chat completions write everything as it comes.

use super::calls::{CLOSED, ENDED, OPEN};
use super::out::{Frame, To, Written};
use super::parts::{Open, Part, Source, Task};
use super::state::State;
use super::WriteError;
use crate::chat::{ApiError, FinishKind, FinishReason, Update};
use crate::json::{Value, ValueKind};
use crate::stream::Protocol;

impl State {
    /// Writes what the present task still needs.
    #[inline(never)]
    pub(super) fn run(&mut self, to: &mut To<'_, '_>) -> Written {
        loop {
            self.write_body(to)?;
            let task = self.serial.task;
            let is_last = match (task, self.protocol) {
                (Task::Nothing, _) => return Ok(()),
                (_, Protocol::Responses) => self.responses_step(to, task)?,
                _ => self.anthropic_step(to, task)?,
            };
            if !is_last {
                self.step = self.step.saturating_add(1);
                continue;
            }
            (self.step, self.serial.task) = (0, Task::Nothing);
            match task {
                Task::Begin => self.begun = 1,
                Task::Open(open) => {
                    (self.serial.open, self.serial.is_signed) = (open, false);
                    self.serial.refused |= open == Open::Refusal;
                    self.note_call(open, OPEN);
                }
                Task::Close => {
                    self.note_call(self.serial.open, CLOSED | ENDED);
                    (self.serial.open, self.serial.index) = (Open::Nothing, self.serial.index.saturating_add(1));
                }
                Task::End => self.ended = true,
                Task::Nothing => {}
            }
        }
    }

    /// Ends the stream behind the event that is being written.
    pub(super) fn end_behind(&mut self, to: &mut To<'_, '_>) -> Written {
        self.step = 1;
        self.start_task(to, Task::End)
    }

    fn note_call(&mut self, open: Open, flags: u8) {
        if let Open::Call(place) = open {
            if let Some(call) = self.calls.rows_mut().get_mut(place) {
                call.set(flags);
            }
        }
    }

    fn start_task(&mut self, to: &mut To<'_, '_>, task: Task) -> Written {
        self.serial.task = task;
        self.run(to)
    }

    /// Writes the beginning of the stream, unless it was written.
    pub(super) fn serial_start(&mut self, to: &mut To<'_, '_>) -> Written {
        if self.begun != 0 {
            return Ok(());
        }
        self.start_task(to, Task::Begin)
    }

    /// Opens the part that a text belongs to, unless it is open.
    #[inline(always)]
    pub(super) fn serial_begin_text(&mut self, to: &mut To<'_, '_>, part: Part) -> Written {
        let open = match part {
            Part::Reasoning => Open::Thinking,
            Part::Refusal => Open::Refusal,
            _ => Open::Text,
        };
        self.want(to, open)
    }

    /// Opens a part, unless it is open and may go on.
    #[inline(always)]
    fn want(&mut self, to: &mut To<'_, '_>, open: Open) -> Written {
        if self.serial.open == open && !self.serial.is_signed {
            return Ok(());
        }
        self.open_part(to, open)
    }

    #[inline(never)]
    fn open_part(&mut self, to: &mut To<'_, '_>, open: Open) -> Written {
        self.serial_start(to)?;
        self.serial_close(to)?;
        self.start_task(to, Task::Open(open))
    }

    /// Closes the part that is open. A call ends with it.
    pub(super) fn serial_close(&mut self, to: &mut To<'_, '_>) -> Written {
        match self.serial.open {
            Open::Nothing => return Ok(()),
            Open::Call(place) => self.write_waiting(to, place)?,
            _ => {}
        }
        self.start_task(to, Task::Close)
    }

    /// Opens a call. Returns `false` if another call is open: then this one waits.
    pub(super) fn serial_open_call(&mut self, to: &mut To<'_, '_>, place: usize) -> Written<bool> {
        if matches!(self.serial.open, Open::Call(other) if other != place) {
            return Ok(false);
        }
        self.want(to, Open::Call(place))?;
        Ok(true)
    }

    /// Writes an event with the beginning of a text. Returns how many raw bytes are left.
    #[inline(always)]
    pub(super) fn serial_piece(
        &mut self,
        to: &mut To<'_, '_>,
        part: Part,
        source: Source<'_>,
        taken: usize,
    ) -> Written<usize> {
        match self.protocol {
            Protocol::Responses => self.responses_piece(to, part, source, taken),
            _ => self.anthropic_piece(to, part, source, taken),
        }
    }

    /// Writes an update that is no text.
    pub(super) fn serial_part(&mut self, to: &mut To<'_, '_>, update: &Update<'_>) -> Written {
        match update {
            Update::Signature(text) => {
                self.want(to, Open::Thinking)?;
                match self.protocol {
                    Protocol::Responses => self.responses_signature(to.memory, *text)?,
                    _ => self.anthropic_signature(to.out, *text)?,
                }
                self.serial.is_signed = true;
                Ok(())
            }
            Update::Annotations(list) if list.kind() == ValueKind::Array => {
                // Each element is an event. Those that an earlier call wrote are behind the progress.
                let mut at = self.progress_in(list.raw().len());
                if at == 0 {
                    check_annotations(*list)?;
                }
                while let Some(one) = list.element_at(&mut at) {
                    self.annotation(to, one)?;
                    self.note_progress(list.raw().len(), at);
                }
                self.note_progress(0, 0);
                Ok(())
            }
            Update::Annotations(one) if one.kind() == ValueKind::Object => self.annotation(to, *one),
            Update::Annotations(_) => Err(WriteError::Json),
            Update::ChoiceError(error) => self.serial_error(to, error),
            _ => Err(WriteError::NoPlace),
        }
    }

    fn annotation(&mut self, to: &mut To<'_, '_>, one: Value<'_>) -> Written {
        self.want(to, Open::Text)?;
        match self.protocol {
            Protocol::Responses => self.responses_annotation(to, one),
            _ => self.anthropic_annotation(to.out, one),
        }
    }

    /// Notes why the response finished; the end of the stream tells.
    pub(super) fn serial_finish(&mut self, to: &mut To<'_, '_>, reason: &FinishReason<'_>) -> Written {
        self.serial_start(to)?;
        self.serial.reason = reason.kind();
        self.serial.stop = self.anthropic_reason(reason);
        Ok(())
    }

    pub(super) fn serial_end(&mut self, to: &mut To<'_, '_>) -> Written {
        if self.serial.reason == FinishKind::Error {
            return self.serial_error(to, &ApiError::plain(b"the response failed"));
        }
        self.serial_close(to)?;
        self.start_task(to, Task::End)
    }

    pub(super) fn serial_error(&mut self, to: &mut To<'_, '_>, error: &ApiError<'_>) -> Written {
        if self.protocol == Protocol::Responses {
            self.serial_start(to)?;
            return self.responses_error(to, error);
        }
        self.anthropic_error(to.out, error)
    }
}

/// Fails unless this is a list of objects, before the first of them is written.
fn check_annotations(list: Value<'_>) -> Written {
    Frame::new(&mut []).json(list)?;
    let mut at = 0;
    while let Some(one) = list.element_at(&mut at) {
        if one.kind() != ValueKind::Object {
            return Err(WriteError::Json);
        }
    }
    Ok(())
}
