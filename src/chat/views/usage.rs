//! Token counts.

use crate::chat::scalar::{is_empty_object, member_of, whole_number};
use crate::json::{Kind, Value};

/// The counts of a [`Usage`], read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TokenCounts {
    /// Which counts are there: a bit each, in the order of `counts`.
    pub has: u32,
    /// Prompt, completion, total, reasoning, cached, prompt audio, completion audio, accepted and rejected prediction.
    pub counts: [u64; 9],
}

/// How many tokens were used: the last one in a stream counts, never the sum.
#[derive(Clone, Copy)]
pub struct Usage<'a> {
    value: Value<'a>,
}

impl<'a> Usage<'a> {
    /// None unless it is an object with members.
    pub(crate) fn of(value: Value<'a>) -> Option<Self> {
        (value.kind() == Kind::Object && !is_empty_object(value)).then_some(Usage { value })
    }

    fn count(&self, name: &str) -> Option<u64> {
        member_of(self.value, name).and_then(whole_number)
    }

    fn detail(&self, object: &str, name: &str) -> Option<u64> {
        member_of(member_of(self.value, object)?, name).and_then(whole_number)
    }

    /// `prompt_tokens`.
    pub fn prompt_tokens(&self) -> Option<u64> {
        self.count("prompt_tokens")
    }

    /// `completion_tokens`.
    pub fn completion_tokens(&self) -> Option<u64> {
        self.count("completion_tokens")
    }

    /// `total_tokens`.
    pub fn total_tokens(&self) -> Option<u64> {
        self.count("total_tokens")
    }

    /// `completion_tokens_details.reasoning_tokens`.
    pub fn reasoning_tokens(&self) -> Option<u64> {
        self.detail("completion_tokens_details", "reasoning_tokens")
    }

    /// `completion_tokens_details.audio_tokens`.
    pub fn completion_audio_tokens(&self) -> Option<u64> {
        self.detail("completion_tokens_details", "audio_tokens")
    }

    /// `completion_tokens_details.accepted_prediction_tokens`.
    pub fn accepted_prediction_tokens(&self) -> Option<u64> {
        self.detail("completion_tokens_details", "accepted_prediction_tokens")
    }

    /// `completion_tokens_details.rejected_prediction_tokens`.
    pub fn rejected_prediction_tokens(&self) -> Option<u64> {
        self.detail("completion_tokens_details", "rejected_prediction_tokens")
    }

    /// `prompt_tokens_details.cached_tokens`.
    pub fn cached_tokens(&self) -> Option<u64> {
        self.detail("prompt_tokens_details", "cached_tokens")
    }

    /// `prompt_tokens_details.audio_tokens`.
    pub fn prompt_audio_tokens(&self) -> Option<u64> {
        self.detail("prompt_tokens_details", "audio_tokens")
    }

    /// All counts.
    pub fn counts(&self) -> TokenCounts {
        let all = [
            self.prompt_tokens(),
            self.completion_tokens(),
            self.total_tokens(),
            self.reasoning_tokens(),
            self.cached_tokens(),
            self.prompt_audio_tokens(),
            self.completion_audio_tokens(),
            self.accepted_prediction_tokens(),
            self.rejected_prediction_tokens(),
        ];
        let mut counts = TokenCounts::default();
        for (place, (count, slot)) in all.into_iter().zip(&mut counts.counts).enumerate() {
            counts.has |= u32::from(count.is_some()) << (place & 31);
            *slot = count.unwrap_or(0);
        }
        counts
    }

    /// Any member by name, as raw JSON (`cost`, …).
    pub fn get(&self, name: &str) -> Option<Value<'a>> {
        self.value.get(name).ok()?
    }

    /// The whole as raw JSON.
    pub fn value(&self) -> Value<'a> {
        self.value
    }
}

impl core::fmt::Debug for Usage<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Usage")
            .field("prompt_tokens", &self.prompt_tokens())
            .field("completion_tokens", &self.completion_tokens())
            .field("total_tokens", &self.total_tokens())
            .finish()
    }
}
