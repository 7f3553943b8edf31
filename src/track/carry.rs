//! A high surrogate at the end of a text is pending until the next text of its choice and kind.

use crate::delta::{Kind, Part};

/// A pending high surrogate; 0 if there is none.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Half(u16);

impl Half {
    pub(crate) const NONE: Half = Half(0);

    /// The kinds of text of which a choice has one.
    pub(crate) const OF_CHOICE: [Kind; 4] = [Kind::Content, Kind::Reasoning, Kind::Refusal, Kind::FunctionArguments];

    /// Takes it out. `None`: nothing is pending.
    pub(crate) fn take(&mut self) -> Option<u16> {
        Some(core::mem::take(&mut self.0)).filter(|half| *half != 0)
    }

    /// Puts the pending surrogate in front of a text, and takes off one at its end, which is pending now. Returns by how much
    /// the count of pending surrogates changed.
    pub(crate) fn join(&mut self, part: &mut Part, payload: &[u8]) -> i32 {
        let mut more = 0;
        let mut text = part.text(payload);
        if let Some(half) = self.take() {
            text = text.with_lead(half);
            more -= 1;
        }
        if let Some(half) = text.trailing_half() {
            self.0 = half;
            text = text.without_trailing_half();
            more += 1;
        }
        (part.flags, part.lead) = text.parts();
        part.len = text.raw().len() as u32;
        more
    }
}
