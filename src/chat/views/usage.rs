//! Token counts.

use crate::chat::scalar::{is_empty_object, member_of, whole_number};
use crate::dialect::{protocol_of, Counts, Protocol};
use crate::json::{Kind, Text, Value};

/// The counts of a [`Usage`], read: plain data, to keep or to send. The methods have the names of those of [`Usage`].
///
/// ```
/// use deltawire::{chat::Usage, json};
/// let usage = json::parse_lazy(br#"{"prompt_tokens":9,"prompt_tokens_details":{"cached_tokens":4}}"#)?;
/// let counts = Usage::of(usage).unwrap().counts();
/// assert_eq!((counts.prompt_tokens(), counts.cached_tokens()), (Some(9), Some(4)));
/// assert_eq!(counts.completion_tokens(), None); // not sent: not 0
/// # Ok::<(), json::JsonError>(())
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct TokenCounts {
    /// Which counts are there: a bit each, in the order of `counts`. For the C interface.
    #[doc(hidden)]
    pub has: u32,
    /// Prompt, completion, total, reasoning, cached, prompt audio, completion audio, accepted and rejected prediction, cache
    /// write. For the C interface.
    #[doc(hidden)]
    pub counts: [u64; 10],
}

/// The accessors, and what Debug prints.
macro_rules! named {
    ($($(#[$doc:meta])* $name:ident = $place:literal,)+) => {
        impl TokenCounts {
            $(
                $(#[$doc])*
                pub fn $name(&self) -> Option<u64> {
                    self.get($place)
                }
            )+
        }

        impl core::fmt::Debug for TokenCounts {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.debug_struct("TokenCounts")$(.field(stringify!($name), &self.$name()))+.finish()
            }
        }
    };
}

named! {
    /// The same as [`Usage::prompt_tokens`].
    prompt_tokens = 0,
    /// The same as [`Usage::completion_tokens`].
    completion_tokens = 1,
    /// The same as [`Usage::total_tokens`].
    total_tokens = 2,
    /// The same as [`Usage::reasoning_tokens`].
    reasoning_tokens = 3,
    /// The same as [`Usage::cached_tokens`].
    cached_tokens = 4,
    /// The same as [`Usage::prompt_audio_tokens`].
    prompt_audio_tokens = 5,
    /// The same as [`Usage::completion_audio_tokens`].
    completion_audio_tokens = 6,
    /// The same as [`Usage::accepted_prediction_tokens`].
    accepted_prediction_tokens = 7,
    /// The same as [`Usage::rejected_prediction_tokens`].
    rejected_prediction_tokens = 8,
    /// The same as [`Usage::cache_write_tokens`].
    cache_write_tokens = 9,
}

impl TokenCounts {
    /// Returns the counts of prompt, completion, total, reasoning, cached and cache write tokens.
    pub(crate) fn of(counts: [Option<u64>; 6]) -> Self {
        let [prompt, completion, total, reasoning, cached, written] = counts;
        let all = [prompt, completion, total, reasoning, cached, None, None, None, None, written];
        let bits = all.iter().zip(0..).map(|(count, bit)| u32::from(count.is_some()).wrapping_shl(bit));
        TokenCounts { has: bits.fold(0, |has, bit| has | bit), counts: all.map(|count| count.unwrap_or(0)) }
    }

    /// Returns the count at this place.
    fn get(&self, place: u32) -> Option<u64> {
        let has = self.has.wrapping_shr(place) & 1 != 0;
        self.counts.get(place as usize).copied().filter(|_| has)
    }

    /// Reads the counts that an object has under these names. Passes any other member to `other`. Returns `false` if the
    /// object is malformed; then no count was read.
    fn read<'a>(
        &mut self,
        object: Value<'a>,
        names: &[(&str, usize)],
        other: &mut dyn FnMut(Text<'a>, Value<'a>),
    ) -> bool {
        let mut read = *self;
        for member in object.members() {
            let Ok((name, value)) = member else { return false };
            let Some((_, place)) = names.iter().find(|(known, _)| name.is_word(known)) else {
                other(name, value);
                continue;
            };
            let (count, bit) = (whole_number(value), 1 << (place & 31));
            read.has = if count.is_some() { read.has | bit } else { read.has & !bit };
            if let Some(slot) = read.counts.get_mut(*place) {
                *slot = count.unwrap_or(0);
            }
        }
        *self = read;
        true
    }
}

/// How many tokens were used, as one event reports it. Never add the usages of a stream: each is the count so far.
///
/// In chat completions, Responses and Gemini only the last usage of a stream counts. Anthropic sends the prompt in
/// `message_start` and often only the completion in `message_delta`: [`Parser::native_usage`](crate::Parser::native_usage)
/// merges them.
#[derive(Clone, Copy)]
pub struct Usage<'a> {
    value: Value<'a>,
    /// The protocol that names its members, unless that is chat completions.
    protocol: Option<Protocol>,
}

impl<'a> Usage<'a> {
    /// Returns the usage that this value is, such as the `usage` of a body or of a message that was kept. Returns `None`
    /// unless it is an object with members. The names of its members decide the [`protocol`](Self::protocol).
    ///
    /// ```
    /// use deltawire::{chat::Usage, json};
    /// let usage = json::parse_lazy(br#"{"input_tokens":9,"cache_read_input_tokens":4,"output_tokens":3}"#)?;
    /// # #[cfg(feature = "anthropic")]
    /// assert_eq!(Usage::of(usage).unwrap().counts().prompt_tokens(), Some(13)); // Anthropic counts the cache apart
    /// # Ok::<(), json::JsonError>(())
    /// ```
    pub fn of(value: Value<'a>) -> Option<Self> {
        Usage::of_protocol(value, None).map(|usage| Usage { protocol: protocol_of(value), ..usage })
    }

    /// Returns the usage with the names of this protocol, or with those of chat completions if `None`.
    pub(crate) fn of_protocol(value: Value<'a>, protocol: Option<Protocol>) -> Option<Self> {
        (value.kind() == Kind::Object && !is_empty_object(value)).then_some(Usage { value, protocol })
    }

    /// Returns the protocol that names its members. [`counts`](Self::counts) and the counts by name read the names of each.
    pub fn protocol(&self) -> Protocol {
        Protocol::read_here(self.protocol).unwrap_or(Protocol::Chat)
    }

    /// Returns the counts of this usage alone, if it is of another protocol.
    fn native(&self) -> Option<TokenCounts> {
        let protocol = Protocol::read_here(self.protocol)?;
        let mut counts = Counts::NOTHING;
        counts.add(protocol, self.value);
        Some(TokenCounts::of(counts.canonical(protocol).unwrap_or_default()))
    }

    fn count(&self, name: &str) -> Option<u64> {
        member_of(self.value, name).and_then(whole_number)
    }

    fn detail(&self, object: &str, name: &str) -> Option<u64> {
        member_of(member_of(self.value, object)?, name).and_then(whole_number)
    }

    /// Returns `prompt_tokens`.
    pub fn prompt_tokens(&self) -> Option<u64> {
        self.native().map_or_else(|| self.count("prompt_tokens"), |counts| counts.get(0))
    }

    /// Returns `completion_tokens`.
    pub fn completion_tokens(&self) -> Option<u64> {
        self.native().map_or_else(|| self.count("completion_tokens"), |counts| counts.get(1))
    }

    /// Returns `total_tokens`.
    pub fn total_tokens(&self) -> Option<u64> {
        self.native().map_or_else(|| self.count("total_tokens"), |counts| counts.get(2))
    }

    /// Returns `completion_tokens_details.reasoning_tokens`.
    pub fn reasoning_tokens(&self) -> Option<u64> {
        self.native()
            .map_or_else(|| self.detail("completion_tokens_details", "reasoning_tokens"), |counts| counts.get(3))
    }

    /// Returns `completion_tokens_details.audio_tokens`.
    pub fn completion_audio_tokens(&self) -> Option<u64> {
        self.detail("completion_tokens_details", "audio_tokens")
    }

    /// Returns `completion_tokens_details.accepted_prediction_tokens`.
    pub fn accepted_prediction_tokens(&self) -> Option<u64> {
        self.detail("completion_tokens_details", "accepted_prediction_tokens")
    }

    /// Returns `completion_tokens_details.rejected_prediction_tokens`.
    pub fn rejected_prediction_tokens(&self) -> Option<u64> {
        self.detail("completion_tokens_details", "rejected_prediction_tokens")
    }

    /// Returns `prompt_tokens_details.cached_tokens`.
    pub fn cached_tokens(&self) -> Option<u64> {
        self.native().map_or_else(|| self.detail("prompt_tokens_details", "cached_tokens"), |counts| counts.get(4))
    }

    /// Returns `prompt_tokens_details.cache_write_tokens`: those of the prompt that were written to a cache, which some
    /// vendors bill at a higher price.
    pub fn cache_write_tokens(&self) -> Option<u64> {
        self.native().map_or_else(|| self.detail("prompt_tokens_details", "cache_write_tokens"), |counts| counts.get(9))
    }

    /// Returns `prompt_tokens_details.audio_tokens`.
    pub fn prompt_audio_tokens(&self) -> Option<u64> {
        self.detail("prompt_tokens_details", "audio_tokens")
    }

    /// Returns all counts, to keep. Reads each object once.
    pub fn counts(&self) -> TokenCounts {
        if let Some(counts) = self.native() {
            return counts;
        }
        let (mut prompt, mut completion) = (None, None);
        let mut counts = TokenCounts::default();
        let top = [("prompt_tokens", 0), ("completion_tokens", 1), ("total_tokens", 2)];
        let is_sound = counts.read(self.value, &top, &mut |name, value| {
            if name == "prompt_tokens_details" {
                prompt = Some(value);
            } else if name == "completion_tokens_details" {
                completion = Some(value);
            }
        });
        let of_prompt = [("cached_tokens", 4), ("audio_tokens", 5), ("cache_write_tokens", 9)];
        let of_completion = [
            ("reasoning_tokens", 3),
            ("audio_tokens", 6),
            ("accepted_prediction_tokens", 7),
            ("rejected_prediction_tokens", 8),
        ];
        for (details, names) in [(prompt, &of_prompt[..]), (completion, &of_completion[..])] {
            if let Some(details) = details.filter(|_| is_sound) {
                counts.read(details, names, &mut |_, _| {});
            }
        }
        counts
    }

    /// Returns any member by name, as raw JSON (`cost`, …).
    pub fn get(&self, name: &str) -> Option<Value<'a>> {
        self.value.get(name).ok()?
    }

    /// Returns the whole as raw JSON.
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
