//! The names of a response, which each event repeats. A translator learns them from the response.

use super::log::{Log, Span};
use super::out::{Frame, Written};
use super::state::State;
use super::WriteError;
use crate::json::{Text, TextFlags};
use crate::storage::shift;
use crate::stream::Protocol;

impl State {
    /// Writes the ID, the model and the time behind the further members, and what each chunk of chat completions begins
    /// with. A name that is `None` stays. Nothing else may be in the memory yet.
    pub(super) fn name(&mut self, memory: &mut [u8], [id, model]: [Option<Text<'_>>; 2], created: u64) -> Written {
        let (size, at) = (memory.len().min(u32::MAX as usize), self.log.len());
        let (used, free) = memory.split_at_mut(at.min(size));
        let members = self.members.of(used);
        let kept = |span: Span| Text::from_raw(span.of(used), TextFlags::UNKNOWN);
        let (id, model) = (id.unwrap_or(kept(self.id)), model.unwrap_or(kept(self.model)));
        let mut frame = Frame::new(free);
        frame.text(id, u32::MAX);
        let id_len = frame.len();
        frame.text(model, u32::MAX);
        let names = frame.len();
        if self.protocol == Protocol::Chat {
            frame.bytes(b"data: {\"id\":");
            frame.string(id);
            frame.bytes(b",\"object\":\"chat.completion.chunk\",\"created\":");
            frame.number(created);
            frame.bytes(b",\"model\":");
            frame.string(model);
            frame.bytes(members);
            frame.bytes(b",\"choices\":[");
            frame.bytes(FIRST_CONTENT);
        }
        let (len, missing) = (frame.len(), (self.members.len as usize).saturating_sub(members.len()));
        if at.saturating_add(len) > size || missing > 0 {
            let twice = if self.protocol == Protocol::Chat { missing } else { 0 };
            return Err(WriteError::NeedMemory { need: at.saturating_add(len).saturating_add(twice) });
        }
        // The names take the place of those before.
        let start = self.members.start.saturating_add(self.members.len) as usize;
        shift(memory, at, start, len);
        let span = |from: usize, to: usize| Span {
            start: start.saturating_add(from) as u32,
            len: to.saturating_sub(from) as u32,
        };
        (self.id, self.model) = (span(0, id_len), span(id_len, names));
        self.first_content = span(names, len);
        self.envelope = span(names, len.saturating_sub(FIRST_CONTENT.len()).max(names));
        (self.created, self.log) = (created, Log::new(start.saturating_add(len)));
        Ok(())
    }
}

/// What follows the beginning of a chunk that has content of the first choice, as nearly every chunk has.
const FIRST_CONTENT: &[u8] = b"{\"index\":0,\"delta\":{\"content\":\"";
