//! What a writer knows of its stream, and what the protocols share: choices, token counts, the way of an update.

use super::calls::Calls;
use super::head::Head;
use super::log::{Log, Mark, Tag};
use super::out::{Arg, Frame, Out, Span, To, Written};
use super::parts::{Envelope, Event, Of, Part, Progress, Row};
use super::WriteError;
use crate::chat::{ApiError, FinishReason, Owner, TokenCounts, Update, Usage};
use crate::delta::Meta;
use crate::json::Text;
use crate::stream::Protocol;

#[derive(Clone, Copy, Debug)]
pub(super) struct State {
    pub(super) protocol: Protocol,
    /// How the stream is written, the number of the next event, and the time. The texts of the head lie in the memory.
    pub(super) head: Head<'static>,
    pub(super) id: Span,
    pub(super) model: Span,
    pub(super) members: Span,
    /// The beginning of each chunk of chat completions.
    pub(super) chunk: Span,
    pub(super) envelope: Envelope,
    pub(super) progress: Progress,
    pub(super) log: Log,
    pub(super) calls: Calls,
    /// Whether calls are being settled.
    pub(super) settles: bool,
    /// Whether the stream ended.
    pub(super) ended: bool,
    native: TokenCounts,
    /// The token counts so far.
    pub(super) usage: Option<TokenCounts>,
    /// Whether chat completions have them.
    pub(super) wrote_usage: bool,
    /// Bit sets of choices: those that began, those that finished, and those whose `function_call` has a name.
    pub(super) begun: u64,
    pub(super) finished: u64,
    pub(super) functions: u64,
    /// How many annotations and signatures chat completions have so far, and a hash of the last signature that a call has.
    pub(super) annotations: u32,
    pub(super) details: u32,
    pub(super) call_signature: u32,
    /// Signatures of calls that the protocol has no place for, and whether they are being written.
    pub(super) later: Mark,
    pub(super) signs: bool,
    /// The stop sequence, for Anthropic Messages.
    pub(super) stop: Mark,
    pub(super) row: Row,
}

/// What an event is about that is about the whole stream.
pub(super) const NO_PART: Of = (0, Part::Nothing);

impl State {
    pub(super) fn new(protocol: Protocol, head: &Head<'_>, memory: &mut [u8]) -> Written<Self> {
        let members = head.keep(protocol, memory)?;
        let mut state = State {
            protocol,
            head: head.without_texts(),
            id: Span::default(),
            model: Span::default(),
            members,
            chunk: Span::default(),
            envelope: Envelope::NONE,
            progress: Progress::default(),
            log: Log::new(members.start.saturating_add(members.len) as usize),
            calls: Calls::default(),
            settles: false,
            ended: false,
            native: TokenCounts::NOTHING,
            usage: None,
            wrote_usage: false,
            begun: 0,
            finished: 0,
            functions: 0,
            annotations: 0,
            details: 0,
            call_signature: 0,
            later: Mark::default(),
            signs: false,
            stop: Mark::default(),
            row: Row::default(),
        };
        let names = [head.id, head.model].map(|name| Some(Text::verbatim(name.as_bytes())));
        state.name(memory, names, head.created)?;
        Ok(state)
    }

    /// Does what [`Writer::put`](super::Writer::put) does.
    #[inline(always)]
    pub(super) fn put(&mut self, memory: &mut [u8], out: &mut Out<'_>, choice: u32, update: &Update<'_>) -> Written {
        if let Update::Content(text) = update {
            if let Some(result) = self.quick((memory, out), (choice, Part::Content), *text) {
                return result;
            }
        }
        self.put_any(&mut To { memory, out }, choice, update)
    }

    /// Does what [`put`](Self::put) does, for any update.
    #[inline(never)]
    fn put_any(&mut self, to: &mut To<'_, '_>, choice: u32, update: &Update<'_>) -> Written {
        let text = match update {
            Update::Content(text) => Some((Part::Content, *text)),
            Update::Reasoning(text) => Some((Part::Reasoning, *text)),
            Update::Refusal(text) => Some((Part::Refusal, *text)),
            _ => None,
        };
        if let Some((part, text)) = text.filter(|(_, text)| self.envelope.run > 0 && !text.is_empty()) {
            let of = (choice, part);
            match self.quick((to.memory, to.out), of, text) {
                Some(result) => return result,
                None if of == self.envelope.of => return self.pieces(to, of, text),
                None => {}
            }
        }
        if self.resume(to)? {
            // The error was written to its end.
            let is_error = matches!(update, Update::Error(_) | Update::ChoiceError(_));
            return if is_error { Ok(()) } else { Err(WriteError::Ended) };
        }
        self.write_later(to, choice, update)?;
        match update {
            Update::Usage(usage) => return self.count(usage),
            Update::Error(error) => return self.error(to, error),
            // The choice has ended its calls.
            Update::CallEnd { .. } if self.finished & bit(choice) != 0 => return Ok(()),
            _ if choice > 0 && self.protocol != Protocol::Chat => return Err(WriteError::NoPlace),
            _ if bit(choice) == 0 => return Err(WriteError::TooManyChoices),
            _ if self.finished & bit(choice) != 0 => return Err(WriteError::Late),
            _ => {}
        }
        if let Some((part, text)) = text {
            match self.protocol {
                _ if text.is_empty() => return Ok(()),
                Protocol::Chat => self.chat_begin(to, choice, "")?,
                _ => self.want(to, part)?,
            }
            return self.pieces(to, (choice, part), text);
        }
        match update {
            Update::Role(role) if self.protocol == Protocol::Chat => {
                self.chat_begin(to, choice, role.as_str().unwrap_or_default())
            }
            // The first event has the counts of the prompt, which often come right after the role.
            Update::Role(_) if self.protocol == Protocol::Anthropic => Ok(()),
            Update::Role(_) => self.begin(to),
            Update::Call(call) => self.call(to.memory, choice, call),
            Update::CallName { call, text, piece } => self.name_call(to.memory, (choice, *call), (*text, *piece)),
            Update::CallArguments { call, text } => self.arguments(to, (choice, *call), *text),
            Update::CallEnd { call, .. } => self.end_calls(to, choice, Some(*call)),
            Update::Finish(reason) => self.finish_choice(to, choice, reason),
            Update::Member(member) if member.owner == Owner::Call && member.name == "partialArgs" => {
                self.paths(to.memory, (choice, member.call), member.value)
            }
            // The name is that of the protocol.
            Update::Meta(Meta::ReasoningName, _) => Ok(()),
            _ => match self.secret(to, choice, update) {
                Some(result) => result,
                None if self.protocol == Protocol::Chat => self.chat_part(to, choice, update),
                None => self.serial_part(to, update),
            },
        }
    }

    /// Takes in token counts, which are written at the end.
    fn count(&mut self, usage: &Usage<'_>) -> Written {
        self.native.add(usage.protocol(), &usage.sent());
        self.usage = self.native.canonical(usage.protocol()).or(self.usage);
        Ok(())
    }

    /// Writes a frame, with the lines before its data.
    pub(super) fn frame(&mut self, to: &mut To<'_, '_>, write: &mut dyn FnMut(&State, &mut Frame<'_>)) -> Written {
        to.out.frame(to.memory, |frame| {
            if let Some(retry) = self.head.retry {
                self.fill(frame, NO_PART, "retry: $v\n", &[Arg::Number(retry.into())]);
            }
            if self.head.event_ids {
                self.fill(frame, NO_PART, "id: $s\n", &[]);
            }
            write(self, frame);
        })?;
        (self.head.retry, self.envelope.is_current) = (None, false);
        self.head.sequence = self.head.sequence.wrapping_add(1);
        Ok(())
    }

    /// Writes an event.
    pub(super) fn event(&mut self, to: &mut To<'_, '_>, of: Of, event: Event, args: &[Arg<'_>]) -> Written {
        self.frame(to, &mut |state, frame| {
            state.event_of(frame, of, event, args);
            frame.bytes(b"\n\n");
        })
    }

    /// Appends a record with this text to the log. Returns where it begins.
    pub(super) fn keep(&mut self, memory: &mut [u8], tag: Tag, of: Of, text: &str, args: &[Arg<'_>]) -> Written<u32> {
        let (mut log, at) = (self.log, self.log.len() as u32);
        let place = if let Part::Call(place) = of.1 { place } else { 0 };
        log.append(memory, (tag, place), |frame| self.fill(frame, of, text, args))?;
        self.log = log;
        Ok(at)
    }

    /// Takes back what was appended to the log after this, if what belongs to it was not written.
    pub(super) fn or_forget(&mut self, log: Log, written: Written) -> Written {
        if written.is_err() {
            self.log = log;
        }
        written
    }

    /// Whether the part is a call of a custom tool.
    pub(super) fn is_custom(&self, part: Part) -> bool {
        matches!(part, Part::Call(place) if self.calls.get(place).is_custom)
    }

    /// Ends the calls of a choice, and the choice.
    fn finish_choice(&mut self, to: &mut To<'_, '_>, choice: u32, reason: &FinishReason<'_>) -> Written {
        self.end_calls(to, choice, None)?;
        if choice == 0 {
            self.write_signatures(to)?;
        }
        match self.protocol {
            Protocol::Chat => self.chat_finish(to, choice, reason)?,
            _ => self.serial_finish(to, reason)?,
        }
        self.finished |= bit(choice);
        Ok(())
    }

    /// Does what [`Writer::finish`](super::Writer::finish) does.
    pub(super) fn finish(&mut self, to: &mut To<'_, '_>) -> Written {
        // The choice of a run of texts has no finish reason. The call changes nothing, so the run goes on.
        if self.envelope.run > 0 {
            return Err(WriteError::Unfinished);
        }
        if self.resume(to)? {
            return Ok(());
        }
        if self.begun == 0 || self.begun & !self.finished != 0 {
            return Err(WriteError::Unfinished);
        }
        match self.protocol {
            Protocol::Chat => self.chat_last(to, "data: [DONE]", &[]),
            _ => self.serial_end(to),
        }
    }

    /// Ends the stream with an error.
    pub(super) fn error(&mut self, to: &mut To<'_, '_>, error: &ApiError<'_>) -> Written {
        let message = Arg::Text(error.message().unwrap_or(Text::verbatim(b"the response broke off")));
        match self.protocol {
            Protocol::Chat => self.chat_error(to, error, message),
            Protocol::Responses => self.responses_error(to, error, message),
            _ => self.anthropic_error(to, error, message),
        }
    }

    /// Does what [`Writer::keep_alive`](super::Writer::keep_alive) does.
    pub(super) fn keep_alive(&mut self, to: &mut To<'_, '_>) -> Written {
        if self.resume(to)? {
            return Err(WriteError::Ended);
        }
        let line = match self.protocol {
            Protocol::Anthropic if self.begun != 0 => "event: ping\ndata: {\"type\":\"ping\"}\n\n",
            _ => ": keep-alive\n\n",
        };
        to.out.frame(to.memory, |frame| frame.put(Arg::Word(line)))
    }

    /// Goes on with what an earlier call began. Returns whether that ends the stream. Fails if the stream ended before.
    fn resume(&mut self, to: &mut To<'_, '_>) -> Written<bool> {
        self.envelope.run = 0;
        if self.ended {
            return Err(WriteError::Ended);
        }
        self.run(to)?;
        if self.settles {
            self.settle(to)?;
        }
        let is_over = self.calls.rows().iter().all(|call| call.is_closed);
        if self.later.at > 0 && (self.signs || is_over) && !self.ended {
            self.write_signatures(to)?;
        }
        Ok(self.ended)
    }
}

/// Returns the bit of a choice, or 0 if it has none.
pub(super) fn bit(choice: u32) -> u64 {
    1u64.checked_shl(choice).unwrap_or(0)
}
