//! What the events repeat: the names of a response, and the bytes around the texts of a part, which are written once.

use super::log::Log;
use super::out::{put, Frame, Inner, Out, Span, To, Written, AFTER};
use super::parts::{Envelope, Part, Progress};
use super::state::State;
use super::WriteError;
use crate::json::{Text, TextFlags};
use crate::scan::string;
use crate::storage::shift;
use crate::stream::Protocol;

/// Returns a number for the texts of a choice and a part, or 0 if they make no run.
#[inline(always)]
fn key(choice: u32, part: Part) -> u64 {
    let part = match part {
        Part::Content => 1,
        Part::Reasoning => 2,
        _ => return 0,
    };
    u64::from(choice) << 2 | part
}

impl State {
    /// Writes the ID, the model and the time behind the further members, and what each chunk of chat completions begins
    /// with. A name that is `None` stays. Nothing else may be in the memory yet.
    pub(super) fn name(&mut self, memory: &mut [u8], [id, model]: [Option<Text<'_>>; 2], created: u64) -> Written {
        let (size, at) = (memory.len().min(u32::MAX as usize), self.log.len());
        let (used, free) = memory.split_at_mut(at.min(size));
        let kept = |span: Span| Text::from_raw(span.of(used), TextFlags::UNKNOWN);
        let (id, model) = (id.unwrap_or(kept(self.id)), model.unwrap_or(kept(self.model)));
        let mut frame = Frame::new(free, used);
        put!(&mut frame, Inner(id));
        let id_len = frame.len();
        put!(&mut frame, Inner(model));
        let names = frame.len();
        if self.protocol == Protocol::Chat {
            put!(&mut frame, "data: {\"id\":", id, ",\"object\":\"chat.completion.chunk\",\"created\":", created);
            put!(&mut frame, ",\"model\":", model, self.members, ",\"choices\":[");
        }
        // What an envelope takes at most, beside that.
        let envelope = match self.protocol {
            Protocol::Chat => 128,
            Protocol::Responses => id_len.saturating_add(240),
            _ => 144,
        };
        let (len, missing) = (frame.len(), (self.members.len as usize).saturating_sub(self.members.of(used).len()));
        let need = at.saturating_add(len).saturating_add(envelope);
        if need > size || missing > 0 {
            let twice = if self.protocol == Protocol::Chat { missing } else { 0 };
            return Err(WriteError::NeedMemory { need: need.saturating_add(twice) });
        }
        // The names take the place of those before.
        let start = self.members.start.saturating_add(self.members.len) as usize;
        shift(memory, at, start, len);
        let span = |from: usize, to: usize| Span {
            start: start.saturating_add(from) as u32,
            len: to.saturating_sub(from) as u32,
        };
        (self.id, self.model, self.chunk) = (span(0, id_len), span(id_len, names), span(names, len));
        (self.created, self.log) = (created, Log::new(start.saturating_add(len).saturating_add(envelope)));
        Ok(())
    }

    /// Writes a text of a run between the bytes of its envelope, if the text is short, plain and fits, as it nearly always
    /// is. In a run nothing else is written, so all that it appends to the log belongs to its last record.
    #[inline(always)]
    pub(super) fn quick(
        &mut self,
        (memory, out): (&mut [u8], &mut Out<'_>),
        (choice, part): (u32, Part),
        text: Text<'_>,
    ) -> Option<Written> {
        let envelope = &self.envelope;
        if envelope.run != key(choice, part) || text.parts().1 != 0 {
            return None;
        }
        let (block, len) = (string::short_plain(text.raw())?, text.raw().len());
        if envelope.number > 0 {
            *memory.get_mut(..self.log.len().checked_add(16)?)?.last_chunk_mut()? = block;
        }
        let before = memory.get(envelope.start..)?.get(..envelope.len)?;
        if let Err(error) = out.quick(before, (&block, len), (&envelope.after, envelope.after_len))? {
            return Some(Err(error));
        }
        self.sequence = self.sequence.wrapping_add(1);
        if envelope.number > 0 {
            self.log.extend(len);
            if !memory.get_mut(..envelope.number).is_some_and(count_up) {
                self.end_run(memory);
                self.envelope.is_current = false;
            }
        }
        Some(Ok(()))
    }

    /// Writes a text of a run, whatever it is.
    pub(super) fn go_on(&mut self, to: &mut To<'_, '_>, of: (u32, Part), text: Text<'_>) -> Option<Written> {
        if self.envelope.run != key(of.0, of.1) || text.is_empty() {
            return None;
        }
        if let Some(result) = self.quick((to.memory, to.out), of, text) {
            return Some(result);
        }
        self.end_run(to.memory);
        Some(self.pieces(to, of, text))
    }

    /// Ends a run of texts, before anything else is written.
    pub(super) fn end_run(&mut self, memory: &mut [u8]) {
        if self.envelope.run > 0 && self.envelope.number > 0 {
            let added = self.log.seal(memory, self.serial.items.output);
            self.serial.items.len = self.serial.items.len.saturating_add(added as u64);
        }
        self.envelope.run = 0;
    }

    /// Writes a text, in as many events as its length needs. The part and the length of the text tell whether it is the
    /// one that an earlier call began.
    pub(super) fn pieces(&mut self, to: &mut To<'_, '_>, (choice, part): (u32, Part), text: Text<'_>) -> Written {
        let len = text.raw().len();
        let mut taken = self.progress_of((choice, part, len));
        loop {
            let rest = if taken > 0 { text.behind(taken) } else { text };
            let left = self.piece(to, (choice, part), Some(rest))?;
            taken = len.saturating_sub(left);
            if left == 0 {
                break;
            }
            self.progress = (choice, part, len, taken);
        }
        self.progress = Progress::default();
        // A run ends where the number gets a digit, so that the length of a record stays below 4 GiB.
        let is_early = self.sequence < 100_000_000 && self.log.len() < 1 << 31;
        if self.envelope.is_current && !self.event_ids && is_early {
            self.envelope.run = key(choice, part);
        }
        Ok(())
    }

    /// Returns how far the text or the list came that has this choice, this part and this length.
    pub(super) fn progress_of(&self, of: (u32, Part, usize)) -> usize {
        let (choice, part, len, taken) = self.progress;
        if (choice, part, len) == of {
            taken
        } else {
            0
        }
    }

    /// Writes an event with the beginning of a text, by default of the first that waits of the call. Returns how many raw
    /// bytes are left.
    pub(super) fn piece(
        &mut self,
        to: &mut To<'_, '_>,
        (choice, part): (u32, Part),
        text: Option<Text<'_>>,
    ) -> Written<usize> {
        self.envelop(to.memory, choice, part);
        let (before, mut left) = (to.out.len(), 0);
        let write = |state: &State, frame: &mut Frame<'_>| {
            let text = match (text, part) {
                (Some(text), _) => text,
                (None, Part::Call(place)) => state.first_waiting(frame.memory, place),
                _ => return 0,
            };
            // In Anthropic Messages, the input of a custom tool is a text in an object.
            frame.piece(text, state.text_len, state.protocol == Protocol::Anthropic && state.is_custom(part))
        };
        self.frame(to, &mut |state, frame| {
            let before = Span { start: state.envelope.start as u32, len: state.envelope.len as u32 };
            put!(frame, before);
            left = write(state, frame);
            frame.bytes(state.envelope.after.get(..state.envelope.after_len).unwrap_or_default());
        })?;
        if self.protocol == Protocol::Responses {
            let kept = self.log_output(to.memory, &mut |state, frame| {
                write(state, frame);
            });
            self.or_take_back(to, before, kept)?;
        }
        let number = self.envelope.number;
        self.envelope.is_current =
            number == 0 || self.sequence > 0 && to.memory.get_mut(..number).is_some_and(count_up);
        Ok(left)
    }

    /// Makes the envelope one for a text of this part, unless it is.
    fn envelop(&mut self, memory: &mut [u8], choice: u32, part: Part) {
        if self.envelope.is_current && (self.envelope.choice, self.envelope.part) == (choice, part) {
            return;
        }
        let start = self.chunk.start.saturating_add(self.chunk.len) as usize;
        let (used, free) = memory.split_at_mut(start.min(memory.len()));
        let mut after = [0; AFTER];
        let (mut head, mut tail) = (Frame::new(free, used), Frame::new(&mut after, used));
        let mut number = 0;
        match self.protocol {
            Protocol::Chat => self.chat_envelope(&mut head, &mut tail, (choice, part)),
            Protocol::Responses => number = start.saturating_add(self.responses_envelope(&mut head, &mut tail)),
            _ => self.anthropic_envelope(&mut head, &mut tail),
        }
        let (len, after_len) = ((self.chunk.len as usize).saturating_add(head.len()), tail.len());
        let start = self.chunk.start as usize;
        self.envelope = Envelope { choice, part, is_current: true, run: 0, start, len, number, after, after_len };
    }
}

/// Adds 1 to the number at the end of these bytes. Returns `false` if it would have one more digit.
#[inline(always)]
fn count_up(bytes: &mut [u8]) -> bool {
    for digit in bytes.iter_mut().rev() {
        match digit {
            b'0'..=b'8' => {
                *digit = digit.wrapping_add(1);
                return true;
            }
            b'9' => *digit = b'0',
            _ => break,
        }
    }
    false
}
