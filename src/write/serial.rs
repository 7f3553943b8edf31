//! What Anthropic Messages and Responses have in common: the output is a row of parts (blocks, or items), of which one is
//! open at a time. Chat completions write everything as it comes.

use super::calls::Call;
use super::log::{Mark, Tag};
use super::out::{is_json, Arg, To, Written};
use super::parts::{Body, Event, Part, Row, Step, Task};
use super::state::{State, NO_PART};
use super::{anthropic, responses, WriteError};
use crate::chat::{ApiError, FinishKind, FinishReason, OtherMember, Owner, Update};
use crate::json::{Value, ValueKind};
use crate::stream::Protocol;

impl State {
    /// Writes what the present task still needs.
    #[inline(never)]
    pub(super) fn run(&mut self, to: &mut To<'_, '_>) -> Written {
        loop {
            self.write_body(to)?;
            let Some(task) = self.row.task else { return Ok(()) };
            let of = (0, self.row.open);
            let step = match self.protocol {
                Protocol::Responses => self.responses_step(task, self.row.step),
                _ => self.anthropic_step(task, self.row.step),
            };
            match step {
                Step::Event(event) => self.event(to, of, event, &[])?,
                Step::Repeat(event, tags, tail) => self.repeat(to, event, &[], (tags, tail))?,
                Step::Keep(tag, text) => drop(self.keep(to.memory, tag, of, text, &[])?),
                Step::Skip => {}
                Step::Done => {
                    self.done(task);
                    continue;
                }
            }
            self.row.step = self.row.step.saturating_add(1);
        }
    }

    /// Notes what the task that is done changed.
    fn done(&mut self, task: Task) {
        (self.row.step, self.row.task) = (0, None);
        if let Part::Call(place) = self.row.open {
            let call = self.calls.get(place);
            let is_closed = task == Task::Close;
            self.calls.set(place, Call { is_open: true, is_closed, is_over: call.is_over || is_closed, ..call });
        }
        match task {
            Task::Begin => self.begun = 1,
            Task::Open => {}
            Task::Close => (self.row.open, self.row.index) = (Part::Nothing, self.row.index.saturating_add(1)),
            Task::End => self.ended = true,
        }
    }

    /// Writes the beginning of an event that repeats parts of the output, and then the rest.
    pub(super) fn repeat(
        &mut self,
        to: &mut To<'_, '_>,
        event: Event,
        args: &[Arg<'_>],
        (tags, tail): ((Tag, Tag), &'static str),
    ) -> Written {
        let of = (0, self.row.open);
        self.frame(to, &mut |state, frame| state.event_of(frame, of, event, args))?;
        let (item, all) = (self.row.item, self.log.len() as u32);
        let (from, end) = match self.row.open {
            Part::Nothing => (1, all),
            // The response has the items that were closed.
            _ if tags.0 == Tag::Comma => (1, item),
            _ => (item, all),
        };
        self.row.body = Some(Body { from: Mark { at: from, taken: 0 }, end, tags, tail });
        Ok(())
    }

    /// Writes what is left of an event that repeats the output, as much as there is room for.
    fn write_body(&mut self, to: &mut To<'_, '_>) -> Written {
        while let Some(Body { mut from, end, tags, tail }) = self.row.body {
            let next = self.log.next(to.memory, &mut from, |record| record.at < end && record.is_in(tags));
            let Some(rest) = next else {
                to.out.frame(to.memory, |frame| {
                    self.fill(frame, (0, self.row.open), tail, &[]);
                    frame.bytes(b"\n\n");
                })?;
                self.row.body = None;
                break;
            };
            let wrote = to.out.fill(rest.of(to.memory));
            if wrote == 0 {
                return Err(WriteError::NeedRoom { need: 1 });
            }
            from.take(wrote as u32);
            self.row.body = Some(Body { from, end, tags, tail });
        }
        Ok(())
    }

    pub(super) fn start_task(&mut self, to: &mut To<'_, '_>, task: Task, step: u8) -> Written {
        (self.row.task, self.row.step) = (Some(task), step);
        self.run(to)
    }

    /// Writes the beginning of the stream, unless it was written.
    pub(super) fn begin(&mut self, to: &mut To<'_, '_>) -> Written {
        if self.begun != 0 {
            return Ok(());
        }
        self.start_task(to, Task::Begin, 0)
    }

    /// Opens a part, unless it is open and may go on.
    pub(super) fn want(&mut self, to: &mut To<'_, '_>, part: Part) -> Written {
        if self.row.open == part && !self.row.is_signed {
            return Ok(());
        }
        self.begin(to)?;
        self.close(to)?;
        let item = self.log.len() as u32;
        self.row = Row { open: part, is_signed: false, item, notes: 0, ..self.row };
        self.row.refused |= part == Part::Refusal;
        self.start_task(to, Task::Open, 0)
    }

    /// Closes the part that is open. A call ends with it.
    pub(super) fn close(&mut self, to: &mut To<'_, '_>) -> Written {
        match self.row.open {
            Part::Nothing => return Ok(()),
            Part::Call(place) => self.write_waiting(to, place)?,
            _ => {}
        }
        self.start_task(to, Task::Close, 0)
    }

    /// Writes an update that is no text.
    pub(super) fn serial_part(&mut self, to: &mut To<'_, '_>, update: &Update<'_>) -> Written {
        match update {
            Update::Member(member) if member.owner == Owner::Call => self.call_signature(to, member),
            Update::Member(OtherMember { owner: Owner::Choice, name, value, .. })
                if *name == "stop_sequence" && self.protocol == Protocol::Anthropic =>
            {
                if let Some(text) = value.as_text().filter(|text| !text.is_empty() && self.stop.at == 0) {
                    let at = self.keep(to.memory, Tag::Stop, NO_PART, "$v", &[Arg::Decoded(text)])?;
                    self.stop.begin(at);
                }
                Ok(())
            }
            Update::Annotations(list) if list.kind() == ValueKind::Array => self.annotations(to, *list),
            Update::Annotations(one) if one.kind() == ValueKind::Object => self.annotation(to, *one),
            Update::Annotations(_) => Err(WriteError::Json),
            Update::ChoiceError(error) => self.error(to, error),
            _ => Err(WriteError::NoPlace),
        }
    }

    /// Writes each element of a list as an event.
    fn annotations(&mut self, to: &mut To<'_, '_>, list: Value<'_>) -> Written {
        let of = (0, Part::Annotations);
        let is_object = |one: Value<'_>| one.kind() == ValueKind::Object;
        let is_new = self.progress_of(of, list.raw().len()) == 0;
        if is_new && !(is_json(list) && list.elements().flatten().all(is_object)) {
            return Err(WriteError::Json);
        }
        self.each(to, of, list, State::annotation)
    }

    fn annotation(&mut self, to: &mut To<'_, '_>, one: Value<'_>) -> Written {
        self.sign_call(to)?;
        self.want(to, Part::Content)?;
        let of = (0, Part::Content);
        if self.protocol == Protocol::Anthropic {
            return self.event(to, of, anthropic::NOTE, &[Arg::Json(one)]);
        }
        let (log, notes) = (self.log, self.row.notes);
        self.keep(to.memory, Tag::Note, of, if notes > 0 { ",$v" } else { "$v" }, &[Arg::Json(one)])?;
        let wrote = self.event(to, of, responses::NOTE, &[Arg::Number(notes), Arg::Json(one)]);
        self.or_forget(log, wrote)?;
        self.row.notes = notes.saturating_add(1);
        Ok(())
    }

    /// Notes why the response finished; the end of the stream tells.
    pub(super) fn serial_finish(&mut self, to: &mut To<'_, '_>, reason: &FinishReason<'_>) -> Written {
        self.begin(to)?;
        self.row.reason = Some(reason.kind());
        self.row.stop = self.anthropic_reason(reason);
        Ok(())
    }

    pub(super) fn serial_end(&mut self, to: &mut To<'_, '_>) -> Written {
        if self.row.reason == Some(FinishKind::Error) {
            return self.error(to, &ApiError::plain(b"the response failed"));
        }
        self.close(to)?;
        self.start_task(to, Task::End, 0)
    }
}
