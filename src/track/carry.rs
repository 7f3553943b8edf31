//! A high surrogate at the end of a text is pending until the next text of the same choice and kind.

use crate::delta::{Kind, Part};

/// A pending high surrogate, or 0.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PendingSurrogate(u16);

impl PendingSurrogate {
    pub(crate) const NONE: PendingSurrogate = PendingSurrogate(0);

    /// The kinds of text of which a choice has at most one, so that a choice has one pending surrogate for each.
    pub(crate) const OF_CHOICE: [Kind; 4] = [Kind::Content, Kind::Reasoning, Kind::Refusal, Kind::FunctionArguments];

    /// Removes and returns the pending surrogate, if there is one.
    pub(crate) fn take(&mut self) -> Option<u16> {
        Some(core::mem::take(&mut self.0)).filter(|half| *half != 0)
    }

    /// Prepends the pending surrogate to a text, and makes a high surrogate at the end of the text the pending one.
    /// Returns the change in the number of pending surrogates.
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
