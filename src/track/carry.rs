//! Half a surrogate pair at the end of a text waits for the next text of its channel.

use crate::json::Text;

/// A channel of text: the halves of one do not join with the other's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Channel {
    Content,
    Reasoning,
    Refusal,
    FunctionArguments,
    /// Arguments of the call in this place of the table.
    Arguments(u16),
}

impl Channel {
    /// Those that a choice has one of.
    pub(crate) const OF_CHOICE: [Channel; 4] =
        [Channel::Content, Channel::Reasoning, Channel::Refusal, Channel::FunctionArguments];
}

/// What waits in a channel: a high surrogate; 0 if nothing does.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Half(u16);

impl Half {
    pub(crate) const NONE: Half = Half(0);

    /// Takes it out: whether it was there.
    pub(crate) fn take(&mut self) -> bool {
        core::mem::take(&mut self.0) != 0
    }

    /// The text with the half that waited for it in front, and without the half that has to wait now; how many more wait
    /// than before. None: there is nothing to read yet.
    pub(crate) fn join<'a>(&mut self, mut text: Text<'a>) -> (Option<Text<'a>>, i32) {
        let mut more = 0;
        let half = core::mem::take(&mut self.0);
        if half != 0 {
            text = text.with_lead(half);
            more -= 1;
        }
        if let Some(half) = text.trailing_half() {
            self.0 = half;
            text = text.without_trailing_half();
            more += 1;
        }
        ((!text.is_empty()).then_some(text), more)
    }
}
