//! Token counts.

use crate::chat::scalar::{is_empty_object, member_of, whole_number};
use crate::dialect::{protocol_of, Counts, Protocol};
use crate::json::{Text, Value, ValueKind};
use crate::shown::shown;

/// The counts of a [`Usage`] as plain data, to store or to send. The methods have the names of the methods of
/// [`Usage`].
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
    /// Which counts are present: a bit each, in the order of `counts`. For the C interface.
    #[doc(hidden)]
    pub has: u32,
    /// Prompt, completion, total, reasoning, cached, prompt audio, completion audio, accepted and rejected prediction,
    /// cache write. For the C interface.
    #[doc(hidden)]
    pub counts: [u64; 10],
}

/// The objects of a usage that contain counts.
const DETAILS: [&str; 2] = ["prompt_tokens_details", "completion_tokens_details"];

const REASONING: usize = 3;
const CACHED: usize = 4;
const CACHE_WRITE: usize = 9;

/// The members that some servers send in the place of a count: the object that contains the member, as in [`NAMES`],
/// its name, and the place of the count. The first member that is a number counts.
const INSTEAD: [(&str, &str, usize); 7] = [
    // GitHub Copilot and Perplexity.
    ("", "reasoning_tokens", REASONING),
    // DeepSeek; Moonshot; Mistral; gateways to Anthropic.
    ("", "prompt_cache_hit_tokens", CACHED),
    ("", "cached_tokens", CACHED),
    ("", "num_cached_tokens", CACHED),
    ("", "cache_read_input_tokens", CACHED),
    // Qwen; Vercel.
    ("prompt_tokens_details", "cache_creation_input_tokens", CACHE_WRITE),
    ("", "cache_creation_input_tokens", CACHE_WRITE),
];

/// Defines the accessors of both types, and what `Debug` prints of [`TokenCounts`], from one table: a method, its place
/// in [`TokenCounts::counts`], the name of the member, and which of the [`DETAILS`] contains it.
macro_rules! counts {
    ($($(#[$doc:meta])* $method:ident = $place:literal: $name:literal $(in $object:literal)?;)+) => {
        /// The object and the name of each count. The object is empty if the count is a member of the usage itself.
        const NAMES: [(&str, &str); 10] = [$((concat!($($object)?), $name),)+];

        impl TokenCounts {
            $(
                #[doc = concat!("The same as [`Usage::", stringify!($method), "`].")]
                pub fn $method(&self) -> Option<u64> {
                    self.get($place)
                }
            )+
        }

        impl Usage<'_> {
            $(
                #[doc = concat!("Returns `", $($object, ".",)? $name, "`.")]
                $(#[$doc])*
                #[inline(never)]
                pub fn $method(&self) -> Option<u64> {
                    self.count($place)
                }
            )+
        }

        impl core::fmt::Debug for TokenCounts {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.debug_struct("TokenCounts")$(.field(stringify!($method), &self.$method()))+.finish()
            }
        }
    };
}

counts! {
    prompt_tokens = 0: "prompt_tokens";
    completion_tokens = 1: "completion_tokens";
    total_tokens = 2: "total_tokens";
    /// Without it, returns `reasoning_tokens` of the usage itself (GitHub Copilot).
    reasoning_tokens = 3: "reasoning_tokens" in "completion_tokens_details";
    /// Without it, returns a member of the usage itself: `prompt_cache_hit_tokens` (DeepSeek), `cached_tokens`
    /// (Moonshot), `num_cached_tokens` (Mistral) or `cache_read_input_tokens`.
    cached_tokens = 4: "cached_tokens" in "prompt_tokens_details";
    prompt_audio_tokens = 5: "audio_tokens" in "prompt_tokens_details";
    completion_audio_tokens = 6: "audio_tokens" in "completion_tokens_details";
    accepted_prediction_tokens = 7: "accepted_prediction_tokens" in "completion_tokens_details";
    rejected_prediction_tokens = 8: "rejected_prediction_tokens" in "completion_tokens_details";
    /// Without it, returns `cache_creation_input_tokens`, of the same object (Qwen) or of the usage itself (Vercel).
    /// These tokens of the prompt were written to a cache, which some vendors bill at a higher price.
    cache_write_tokens = 9: "cache_write_tokens" in "prompt_tokens_details";
}

impl TokenCounts {
    /// Returns the counts of prompt, completion, total, reasoning, cached and cache write tokens.
    pub(crate) fn of(counts: [Option<u64>; 6]) -> Self {
        let [prompt, completion, total, reasoning, cached, written] = counts;
        let all = [prompt, completion, total, reasoning, cached, None, None, None, None, written];
        let bits = all.iter().zip(0..).map(|(count, bit)| u32::from(count.is_some()).wrapping_shl(bit));
        TokenCounts { has: bits.fold(0, |has, bit| has | bit), counts: all.map(|count| count.unwrap_or(0)) }
    }

    /// Returns the sums of the counts that either has.
    pub(crate) fn plus(&self, other: &Self) -> Self {
        let mut sum = TokenCounts { has: self.has | other.has, counts: self.counts };
        for (sum, count) in sum.counts.iter_mut().zip(other.counts) {
            *sum = sum.saturating_add(count);
        }
        sum
    }

    /// Returns these counts and, for those that are absent, the counts `before`.
    pub(crate) fn or(&self, before: &Self) -> Self {
        let mut all = TokenCounts { has: self.has | before.has, counts: before.counts };
        for ((place, to), count) in (0..).zip(&mut all.counts).zip(self.counts) {
            if self.get(place).is_some() {
                *to = count;
            }
        }
        all
    }

    /// Returns the count at this place.
    fn get(&self, place: u32) -> Option<u64> {
        let has = self.has.wrapping_shr(place) & 1 != 0;
        self.counts.get(place as usize).copied().filter(|_| has)
    }

    /// Sets the count at this place, or removes it.
    fn set(&mut self, place: usize, count: Option<u64>) {
        let bit = 1 << (place & 31);
        self.has = if count.is_some() { self.has | bit } else { self.has & !bit };
        if let Some(to) = self.counts.get_mut(place) {
            *to = count.unwrap_or(0);
        }
    }

    /// Reads the counts in `value`, which is the usage, or the `object` of the usage with this name. Passes any other
    /// member to `other`. Returns `false` if the value is malformed; then no count was read.
    fn read<'a>(&mut self, value: Value<'a>, object: &str, other: &mut dyn FnMut(Text<'a>, Value<'a>)) -> bool {
        let mut read = *self;
        for member in value.members() {
            let Ok((name, value)) = member else { return false };
            let is_it = |(of, known): &(&str, &str)| name.is_word(known) && *of == object;
            let Some(place) = NAMES.iter().position(is_it) else {
                other(name, value);
                continue;
            };
            read.set(place, whole_number(value));
        }
        *self = read;
        true
    }
}

/// Whether some servers send this member of the usage, or of this `object` in the usage, in the place of a count.
#[inline(never)]
fn is_instead(object: &str, name: &Text<'_>) -> bool {
    INSTEAD.iter().any(|(of, known, _)| *of == object && name.is_word(known))
}

/// How many tokens were used, as one event reports it. Never add the usages of a stream: each is the count so far.
///
/// In chat completions, Responses and Gemini, only the last usage of a stream counts; but one of chat completions that
/// has none of `prompt_tokens`, `completion_tokens` and `total_tokens` adds its members to the last one.
/// Anthropic sends the prompt in `message_start` and often only the completion in `message_delta`.
/// [`Parser::usage`](crate::Parser::usage) merges them.
#[derive(Clone, Copy)]
pub struct Usage<'a> {
    value: Value<'a>,
    /// The protocol whose names the members have, unless it is chat completions.
    protocol: Option<Protocol>,
}

impl<'a> Usage<'a> {
    /// Returns the usage with this raw JSON, such as the `usage` of a body or of a stored message. Returns `None`
    /// unless the value is an object with members. The names of its members decide the [`protocol`](Self::protocol).
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
        (value.kind() == ValueKind::Object && !is_empty_object(value)).then_some(Usage { value, protocol })
    }

    /// Returns the protocol whose names the members have. [`counts`](Self::counts) and the methods for single counts
    /// know the names of each protocol.
    pub fn protocol(&self) -> Protocol {
        Protocol::read_here(self.protocol).unwrap_or(Protocol::Chat)
    }

    /// Returns the counts of this usage alone, if its names are those of another protocol.
    fn native(&self) -> Option<TokenCounts> {
        let protocol = Protocol::read_here(self.protocol)?;
        let mut counts = Counts::NOTHING;
        counts.add(protocol, self.value);
        Some(TokenCounts::of(counts.canonical(protocol).unwrap_or_default()))
    }

    /// Returns the count at this place of [`NAMES`].
    #[inline(always)]
    fn count(&self, place: usize) -> Option<u64> {
        if let Some(counts) = self.native() {
            return counts.get(place as u32);
        }
        let (object, name) = *NAMES.get(place)?;
        let value = if object.is_empty() { Some(self.value) } else { self.get(object) };
        let own = value.and_then(|value| value.get(name).ok()?).and_then(whole_number);
        own.or_else(|| self.instead(place))
    }

    /// Returns the count that a server sent instead of the count at this place, in one of the members of [`INSTEAD`].
    #[inline(never)]
    fn instead(&self, place: usize) -> Option<u64> {
        INSTEAD.iter().filter(|(.., own)| *own == place).find_map(|(object, name, _)| {
            let value = if object.is_empty() { self.value } else { member_of(self.value, object)? };
            member_of(value, name).and_then(whole_number)
        })
    }

    /// Returns all counts. Reads each object once.
    pub fn counts(&self) -> TokenCounts {
        if let Some(counts) = self.native() {
            return counts;
        }
        let (mut counts, mut details, mut has_instead) = (TokenCounts::default(), [None; DETAILS.len()], false);
        let is_sound = counts.read(self.value, "", &mut |name, value| {
            let place = DETAILS.iter().position(|known| name == **known).and_then(|at| details.get_mut(at));
            match place {
                Some(place) => *place = Some(value),
                None => has_instead |= is_instead("", &name),
            }
        });
        if !is_sound {
            return counts;
        }
        for (object, value) in DETAILS.iter().zip(details) {
            if let Some(value) = value {
                counts.read(value, object, &mut |name, _| has_instead |= is_instead(object, &name));
            }
        }
        if has_instead {
            for place in [REASONING, CACHED, CACHE_WRITE] {
                if counts.get(place as u32).is_none() {
                    counts.set(place, self.instead(place));
                }
            }
        }
        counts
    }

    /// Whether this usage has details but no count of the prompt, the completion or the total. Some servers send the
    /// details after these counts, in an event of their own, so they add to the last usage. Every usage of Anthropic adds
    /// to the last one, by a rule of its own.
    pub(crate) fn is_of_details(&self) -> bool {
        let protocol = self.protocol();
        if protocol != Protocol::Chat {
            return protocol != Protocol::Anthropic && Counts::has_only_details(protocol, self.value);
        }
        let mut at = 0;
        while let Some((name, value)) = self.value.member_at(&mut at) {
            let is_count = |(object, known): &(&str, &str)| object.is_empty() && name == **known;
            if NAMES.iter().any(is_count) && whole_number(value).is_some() {
                return false;
            }
        }
        true
    }

    /// Returns all counts of a stream whose counts so far are `before`: a usage of details adds to them, any other
    /// replaces them.
    pub(crate) fn counts_after(&self, before: Option<&TokenCounts>) -> TokenCounts {
        let counts = self.counts();
        let are_details = match self.protocol() {
            Protocol::Chat => (0..3).all(|place| counts.get(place).is_none()),
            _ => self.is_of_details(),
        };
        match before {
            Some(before) if are_details => counts.or(before),
            _ => counts,
        }
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

shown!("Usage": Usage<'_>, this => prompt_tokens: this.prompt_tokens(), completion_tokens: this.completion_tokens(),
    total_tokens: this.total_tokens());
