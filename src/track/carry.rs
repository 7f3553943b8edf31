//! Half a surrogate pair at the end of a text waits here for the next text of its channel.

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

#[derive(Clone, Copy, Debug)]
struct Half {
    choice: u32,
    channel: Channel,
    /// A high surrogate; 0 if the slot is free.
    half: u16,
}

/// How many halves can wait at once. When more come, the half becomes U+FFFD at once.
const SLOTS: usize = 4;

/// The halves that wait.
#[derive(Clone, Debug)]
pub(crate) struct Carry {
    slots: [Half; SLOTS],
    /// How many of them are taken.
    waiting: u32,
}

impl Carry {
    pub(crate) const EMPTY: Carry =
        Carry { slots: [Half { choice: 0, channel: Channel::Content, half: 0 }; SLOTS], waiting: 0 };

    /// Whether no half waits.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.waiting == 0
    }

    /// The text with the half that waited for it in front, and without the half that has to wait now. None: there is
    /// nothing to read yet.
    #[inline]
    pub(crate) fn join<'a>(&mut self, choice: u32, channel: Channel, text: Text<'a>) -> Option<Text<'a>> {
        let mut text = text;
        if let Some(half) = self.take(choice, channel) {
            text = text.with_lead(half);
        }
        if let Some(half) = text.trailing_half() {
            if let Some(slot) = self.slots.iter_mut().find(|slot| slot.half == 0) {
                *slot = Half { choice, channel, half };
                self.waiting = self.waiting.saturating_add(1);
                text = text.without_trailing_half();
            }
        }
        (!text.is_empty()).then_some(text)
    }

    /// Takes out the half that waits for this channel.
    #[inline]
    pub(crate) fn take(&mut self, choice: u32, channel: Channel) -> Option<u16> {
        if self.is_empty() {
            return None;
        }
        let mut slots = self.slots.iter_mut();
        let slot = slots.find(|slot| slot.half != 0 && slot.choice == choice && slot.channel == channel)?;
        self.waiting = self.waiting.saturating_sub(1);
        Some(core::mem::take(&mut slot.half))
    }

    /// Takes out a half that waits for a choice, or for any.
    pub(crate) fn take_any(&mut self, choice: Option<u32>) -> Option<(u32, Channel)> {
        if self.is_empty() {
            return None;
        }
        let mut slots = self.slots.iter_mut();
        let slot = slots.find(|slot| slot.half != 0 && choice.is_none_or(|choice| slot.choice == choice))?;
        slot.half = 0;
        self.waiting = self.waiting.saturating_sub(1);
        Some((slot.choice, slot.channel))
    }
}
