//! The texts: the bytes around the texts of a part are written once, as an event with a hole.

use super::log::{Log, Tag};
use super::out::{Arg, Frame, Out, Span, To, Written, AFTER};
use super::parts::{Envelope, Of, Part, Progress};
use super::state::State;
use super::WriteError;
use crate::json::{Text, TextFlags, Value};
use crate::scan::string;
use crate::storage::shift;
use crate::stream::Protocol;

/// Returns a number for the texts of a choice and a part, or 0 if they make no run. It is compared at once.
#[inline(always)]
fn key((choice, part): Of) -> u64 {
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
        frame.put(Arg::Inner(id));
        let id_len = frame.len();
        frame.put(Arg::Inner(model));
        let names = frame.len();
        if self.protocol == Protocol::Chat {
            let args = [Arg::Text(id), Arg::Number(created), Arg::Text(model)];
            let data = r#"data: {"id":$v,"object":"chat.completion.chunk","created":$v,"model":$v$M,"choices":["#;
            self.fill(&mut frame, (0, Part::Nothing), data, &args);
        }
        // What an envelope takes at most, beside that.
        let envelope = id_len.saturating_add(240);
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
        (self.head.created, self.log) = (created, Log::new(start.saturating_add(len).saturating_add(envelope)));
        Ok(())
    }

    /// Writes a text of a run between the bytes of its envelope, if the text is short, plain and fits, as it nearly always
    /// is. In a run nothing else is written, so all that it appends to the log belongs to its last record.
    #[inline(always)]
    pub(super) fn quick(
        &mut self,
        (memory, out): (&mut [u8], &mut Out<'_>),
        of: Of,
        text: Text<'_>,
    ) -> Option<Written> {
        let envelope = &self.envelope;
        if envelope.run != key(of) || text.parts().1 != 0 {
            return None;
        }
        let (block, len) = (string::short_plain(text.raw())?, text.raw().len());
        if envelope.number > 0 {
            *memory.get_mut(self.log.len()..)?.first_chunk_mut()? = block;
        }
        let before = memory.get(self.chunk.start as usize..)?.get(..envelope.len)?;
        if let Err(error) = out.quick(before, (&block, len), (&envelope.after, envelope.after_len))? {
            return Some(Err(error));
        }
        self.head.sequence = self.head.sequence.wrapping_add(1);
        if envelope.number > 0 {
            self.log.extend(len);
            self.count_up(memory);
        }
        Some(Ok(()))
    }

    /// Writes a text, in as many events as its length needs. The part and the length of the text tell whether it is the
    /// one that an earlier call began.
    pub(super) fn pieces(&mut self, to: &mut To<'_, '_>, of: Of, text: Text<'_>) -> Written {
        let len = text.raw().len();
        let mut taken = self.progress_of(of, len);
        self.envelope.run = 0;
        loop {
            let rest = if taken > 0 { text.behind(taken) } else { text };
            let left = self.piece(to, of, Arg::Inner(rest))?;
            taken = len.saturating_sub(left);
            if left == 0 {
                break;
            }
            self.progress = (of, len, taken);
        }
        self.progress = Progress::default();
        // So the length of a record stays below 4 GiB.
        let is_early = self.head.sequence < 100_000_000 && self.log.len() < 1 << 31;
        if self.envelope.is_current && !self.head.event_ids && is_early {
            self.envelope.run = key(of);
        }
        Ok(())
    }

    /// Returns how far the text or the list came that has this choice, this part and this length.
    pub(super) fn progress_of(&self, of: Of, len: usize) -> usize {
        match self.progress {
            (own, own_len, taken) if (own, own_len) == (of, len) => taken,
            _ => 0,
        }
    }

    /// Writes each element of a list that no earlier call wrote.
    pub(super) fn each(
        &mut self,
        to: &mut To<'_, '_>,
        of: Of,
        list: Value<'_>,
        write: impl Fn(&mut State, &mut To<'_, '_>, Value<'_>) -> Written,
    ) -> Written {
        let len = list.raw().len();
        let mut at = self.progress_of(of, len);
        while let Some(one) = list.element_at(&mut at) {
            write(self, to, one)?;
            self.progress = (of, len, at);
        }
        self.progress = Progress::default();
        Ok(())
    }

    /// Writes an event with the beginning of a text. Returns how many raw bytes are left.
    pub(super) fn piece(&mut self, to: &mut To<'_, '_>, of: Of, text: Arg<'_>) -> Written<usize> {
        self.envelop(to.memory, of);
        // In Anthropic Messages, the input of a custom tool is a text in an object.
        let (is_twice, log) = (self.protocol == Protocol::Anthropic && self.is_custom(of.1), self.log);
        let write = |state: &State, frame: &mut Frame<'_>| match text {
            Arg::Kept(span) => frame.piece(Text::verbatim(span.of(frame.memory)), state.head.text_len, is_twice),
            Arg::Inner(text) => frame.piece(text, state.head.text_len, is_twice),
            _ => 0,
        };
        if self.protocol == Protocol::Responses {
            let mut log = self.log;
            log.append(to.memory, (Tag::Text, 0), |frame| {
                write(self, frame);
            })?;
            self.log = log;
        }
        let mut left = 0;
        let wrote = self.frame(to, &mut |state, frame| {
            let envelope = &state.envelope;
            frame.bytes(Span { len: envelope.len as u32, ..state.chunk }.of(frame.memory));
            left = write(state, frame);
            frame.bytes(envelope.after.get(..envelope.after_len).unwrap_or_default());
        });
        self.or_forget(log, wrote)?;
        self.envelope.is_current = self.head.sequence > 0;
        if self.envelope.number > 0 {
            self.count_up(to.memory);
        }
        Ok(left)
    }

    /// Makes the envelope one for a text of this part, unless it is.
    fn envelop(&mut self, memory: &mut [u8], of: Of) {
        if self.envelope.is_current && self.envelope.of == of {
            return;
        }
        let start = self.chunk.start.saturating_add(self.chunk.len) as usize;
        let (used, free) = memory.split_at_mut(start.min(memory.len()));
        let mut frame = Frame::new(free, used);
        let event = match self.protocol {
            Protocol::Chat => State::chat_text(of.1),
            Protocol::Responses => State::responses_text(of.1),
            _ => State::anthropic_text(of.1),
        };
        self.event_of(&mut frame, of, event, &[]);
        frame.bytes(b"\n\n");
        let (len, after_len) = (frame.hole, frame.len().saturating_sub(frame.hole));
        let number = if self.protocol == Protocol::Responses { start.saturating_add(frame.number_end) } else { 0 };
        let mut after = [0; AFTER];
        let behind = memory.get(start.saturating_add(len)..).unwrap_or_default();
        after.iter_mut().zip(behind).take(after_len).for_each(|(to, from)| *to = *from);
        let len = len.saturating_add(self.chunk.len as usize);
        self.envelope = Envelope { of, is_current: true, run: 0, len, number, after, after_len };
    }

    /// Adds 1 to the number in the envelope.
    #[inline(always)]
    fn count_up(&mut self, memory: &mut [u8]) {
        match memory.get_mut(self.envelope.number.wrapping_sub(1)) {
            Some(digit @ b'0'..=b'8') => *digit = digit.wrapping_add(1),
            _ => self.carry(memory),
        }
    }

    /// Adds 1 to a number that ends with 9. Ends the run with the ninth digit, so that the length of a record stays below
    /// 4 GiB.
    #[inline(never)]
    fn carry(&mut self, memory: &mut [u8]) {
        let Envelope { number, len, .. } = self.envelope;
        let digits = memory.get_mut(..number).unwrap_or_default();
        let mut first = number;
        for digit in digits.iter_mut().rev() {
            match digit {
                b'0'..=b'8' => return *digit = digit.wrapping_add(1),
                b'9' => *digit = b'0',
                _ => break,
            }
            first = first.saturating_sub(1);
        }
        let end = len.saturating_add(self.chunk.start as usize);
        shift(memory, first, first.saturating_add(1), end.saturating_sub(first));
        memory.get_mut(first).into_iter().for_each(|digit| *digit = b'1');
        (self.envelope.len, self.envelope.number) = (len.saturating_add(1), number.saturating_add(1));
        if number.saturating_sub(first) >= 8 {
            self.envelope.run = 0;
        }
    }
}
