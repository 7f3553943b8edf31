//! Token counts: their names in each protocol, and what they are in the words of chat completions.

use super::protocol::Protocol;
use super::value::{is_empty_object, whole_number};
use crate::json::{JsonError, Steps, Text, Value, ValueKind};
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
    pub counts: [u64; COUNT],
}

const COUNT: usize = 10;
const PROMPT: usize = 0;
const COMPLETION: usize = 1;
const TOTAL: usize = 2;
const REASONING: usize = 3;
const CACHED: usize = 4;
const CACHE_WRITE: usize = 9;
/// The tokens that Gemini's tools put into the prompt. [`TokenCounts::canonical`] adds them to the prompt; until then
/// they have the place of the prompt's audio tokens, which Gemini does not count.
const TOOL_USE: usize = 5;
/// The places of the counts that add up to Anthropic's prompt.
const OF_PROMPT: [usize; 3] = [PROMPT, CACHED, CACHE_WRITE];

/// Where a count is: in the usage itself or in one of the [`details`], its name there, and its place in
/// [`TokenCounts::counts`].
type Row = (Of, &'static str, usize);

/// What contains a count.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Of {
    Usage,
    Prompt,
    Completion,
}

/// Returns the names of the objects in a usage that contain details of the prompt and of the completion.
fn details(protocol: Protocol) -> [&'static str; 2] {
    match protocol {
        Protocol::Responses | Protocol::Anthropic => ["input_tokens_details", "output_tokens_details"],
        _ => ["prompt_tokens_details", "completion_tokens_details"],
    }
}

/// Returns the counts of a protocol. Of several rows with one place, the first one that has a number decides.
/// The rows of one object are in the order in which the protocol usually sends its members.
fn rows(protocol: Protocol) -> &'static [Row] {
    match protocol {
        Protocol::Responses => &[
            (Of::Usage, "input_tokens", PROMPT),
            (Of::Usage, "output_tokens", COMPLETION),
            (Of::Usage, "total_tokens", TOTAL),
            (Of::Prompt, "cached_tokens", CACHED),
            (Of::Prompt, "cache_write_tokens", CACHE_WRITE),
            (Of::Completion, "reasoning_tokens", REASONING),
        ],
        Protocol::Anthropic => &[
            (Of::Usage, "input_tokens", PROMPT),
            (Of::Usage, "cache_creation_input_tokens", CACHE_WRITE),
            (Of::Usage, "cache_read_input_tokens", CACHED),
            (Of::Usage, "output_tokens", COMPLETION),
            (Of::Completion, "thinking_tokens", REASONING),
        ],
        Protocol::Gemini => &[
            (Of::Usage, "promptTokenCount", PROMPT),
            (Of::Usage, "candidatesTokenCount", COMPLETION),
            (Of::Usage, "totalTokenCount", TOTAL),
            (Of::Usage, "thoughtsTokenCount", REASONING),
            (Of::Usage, "cachedContentTokenCount", CACHED),
            (Of::Usage, "toolUsePromptTokenCount", TOOL_USE),
        ],
        _ => &OF_CHAT,
    }
}

/// Defines the accessors of both types, what `Debug` prints of [`TokenCounts`], and the rows of chat completions, from
/// one table: a method, its place in [`TokenCounts::counts`], the name of the member and of the object that contains it.
macro_rules! counts {
    ($($(#[$doc:meta])* $method:ident = $place:literal: $name:literal in $of:ident $($object:literal)?;)+) => {
        const OF_CHAT: [Row; 17] = [
            $((Of::$of, $name, $place),)+
            // What some servers send instead. GitHub Copilot and Perplexity:
            (Of::Usage, "reasoning_tokens", REASONING),
            // DeepSeek; Moonshot; Mistral; gateways to Anthropic:
            (Of::Usage, "prompt_cache_hit_tokens", CACHED),
            (Of::Usage, "cached_tokens", CACHED),
            (Of::Usage, "num_cached_tokens", CACHED),
            (Of::Usage, "cache_read_input_tokens", CACHED),
            // Qwen; Vercel:
            (Of::Prompt, "cache_creation_input_tokens", CACHE_WRITE),
            (Of::Usage, "cache_creation_input_tokens", CACHE_WRITE),
        ];

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
                pub fn $method(&self) -> Option<u64> {
                    self.counts().get($place)
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
    prompt_tokens = 0: "prompt_tokens" in Usage;
    completion_tokens = 1: "completion_tokens" in Usage;
    total_tokens = 2: "total_tokens" in Usage;
    /// Without it, returns `reasoning_tokens` of the usage itself (GitHub Copilot).
    reasoning_tokens = 3: "reasoning_tokens" in Completion "completion_tokens_details";
    /// Without it, returns a member of the usage itself: `prompt_cache_hit_tokens` (DeepSeek), `cached_tokens`
    /// (Moonshot), `num_cached_tokens` (Mistral) or `cache_read_input_tokens`.
    cached_tokens = 4: "cached_tokens" in Prompt "prompt_tokens_details";
    prompt_audio_tokens = 5: "audio_tokens" in Prompt "prompt_tokens_details";
    completion_audio_tokens = 6: "audio_tokens" in Completion "completion_tokens_details";
    accepted_prediction_tokens = 7: "accepted_prediction_tokens" in Completion "completion_tokens_details";
    rejected_prediction_tokens = 8: "rejected_prediction_tokens" in Completion "completion_tokens_details";
    /// Without it, returns `cache_creation_input_tokens`, of the same object (Qwen) or of the usage itself (Vercel).
    /// These tokens of the prompt were written to a cache, which some vendors bill at a higher price.
    cache_write_tokens = 9: "cache_write_tokens" in Prompt "prompt_tokens_details";
}

impl TokenCounts {
    /// No count is known.
    pub(crate) const NOTHING: TokenCounts = TokenCounts { has: 0, counts: [0; COUNT] };

    /// Reads the counts of a usage of this protocol, and [adds](Self::add) them.
    pub(crate) fn add_usage(&mut self, protocol: Protocol, usage: Value<'_>) {
        self.add(protocol, &TokenCounts::read(protocol, usage));
    }

    /// Takes the counts that an event of this protocol sent, by the names that they have there. In Anthropic each count
    /// stays until another replaces it, and prompt counts that add up to 0 replace none: some servers send zeros at the
    /// end. In the other protocols a usage replaces all counts before it, unless it [has only details](Self::after).
    pub(crate) fn add(&mut self, protocol: Protocol, sent: &TokenCounts) {
        if protocol != Protocol::Anthropic {
            *self = sent.after(Some(self));
            return;
        }
        let mut sent = *sent;
        if sent.prompt() == Some(0) && self.prompt() > Some(0) {
            OF_PROMPT.into_iter().for_each(|place| sent.set(place, None));
        }
        *self = sent.or(self);
    }

    /// Returns the counts of a stream whose last usage has these and whose counts were those `before`: details add to
    /// them, any others replace them.
    pub(crate) fn after(&self, before: Option<&Self>) -> Self {
        before.filter(|_| self.are_details()).map_or(*self, |before| self.or(before))
    }

    /// Returns these counts and, for those that are absent, the counts `before`.
    pub(crate) fn or(&self, before: &Self) -> Self {
        let mut all = *before;
        for place in 0..COUNT {
            if let Some(count) = self.get(place) {
                all.set(place, Some(count));
            }
        }
        all
    }

    /// Whether no count of the prompt, the completion or the total is known.
    pub(crate) fn are_details(&self) -> bool {
        [PROMPT, COMPLETION, TOTAL].into_iter().all(|place| self.get(place).is_none())
    }

    /// Returns the prompt tokens of Anthropic, or `None` if no count of them is known.
    pub(crate) fn prompt(&self) -> Option<u64> {
        self.sum(OF_PROMPT)
    }

    /// Whether the count with this name is one of Anthropic's prompt counts.
    pub(crate) fn is_of_prompt(name: &Text<'_>) -> bool {
        place_of(Protocol::Anthropic, name).is_some_and(|place| OF_PROMPT.contains(&usize::from(place)))
    }

    /// Reads the counts of a usage. In chat completions a usage with a fault has none; in other protocols those before the
    /// fault count.
    fn read(protocol: Protocol, usage: Value<'_>) -> Self {
        let mut reader = Reader::new(protocol);
        if reader.members(Of::Usage, usage).is_err() && protocol == Protocol::Chat {
            return TokenCounts::NOTHING;
        }
        reader.details();
        reader.counts
    }

    /// Takes the counts of one member of a usage.
    pub(crate) fn add_member(&mut self, protocol: Protocol, name: &Text<'_>, value: Value<'_>) {
        let mut reader = Reader { counts: *self, ..Reader::new(protocol) };
        match reader.row(Of::Usage, name) {
            Some(row) => reader.note(row, number(protocol, value)),
            None => reader.other(name, value),
        }
        reader.details();
        *self = reader.counts;
    }

    /// Returns these counts, in the words of chat completions, or `None` if no count is known.
    pub(crate) fn canonical(&self, protocol: Protocol) -> Option<Self> {
        let (prompt, completion) = match protocol {
            _ if self.has == 0 => return None,
            Protocol::Anthropic => (self.prompt(), self.get(COMPLETION)),
            Protocol::Gemini => (self.sum([PROMPT, TOOL_USE]), self.sum([COMPLETION, REASONING])),
            Protocol::Responses => (self.get(PROMPT), self.get(COMPLETION)),
            _ => return Some(*self),
        };
        let sum = || Some(prompt?.saturating_add(completion?));
        let total = self.get(TOTAL).or_else(sum);
        let mut counts = *self;
        counts.set(TOOL_USE, None);
        for (place, count) in [(PROMPT, prompt), (COMPLETION, completion), (TOTAL, total)] {
            counts.set(place, count);
        }
        Some(counts)
    }

    /// Returns the sums of the counts that either has.
    pub(crate) fn plus(&self, other: &Self) -> Self {
        let mut sum = TokenCounts { has: self.has | other.has, counts: self.counts };
        for (sum, count) in sum.counts.iter_mut().zip(other.counts) {
            *sum = sum.saturating_add(count);
        }
        sum
    }

    /// Returns the count at this place.
    fn get(&self, place: usize) -> Option<u64> {
        let has = self.has.wrapping_shr(place as u32) & 1 != 0;
        self.counts.get(place).copied().filter(|_| has)
    }

    /// Sets the count at this place, or removes it.
    pub(crate) fn set(&mut self, place: usize, count: Option<u64>) {
        let bit = 1u32.wrapping_shl(place as u32);
        self.has = if count.is_some() { self.has | bit } else { self.has & !bit };
        if let Some(to) = self.counts.get_mut(place) {
            *to = count.unwrap_or(0);
        }
    }

    /// Returns the sum of the known counts among these, or `None` if none is known.
    fn sum<const N: usize>(&self, places: [usize; N]) -> Option<u64> {
        let there = places.into_iter().filter_map(|place| self.get(place));
        there.fold(None, |sum, count| Some(sum.unwrap_or(0u64).saturating_add(count)))
    }
}

/// Reads the counts of a usage.
struct Reader<'a> {
    protocol: Protocol,
    rows: &'static [Row],
    counts: TokenCounts,
    /// The number of the row that decided each count.
    by: [u8; COUNT],
    /// The details of the prompt and of the completion.
    details: [Option<Value<'a>>; 2],
}

impl<'a> Reader<'a> {
    fn new(protocol: Protocol) -> Self {
        let (counts, by) = (TokenCounts::NOTHING, [u8::MAX; COUNT]);
        Reader { protocol, rows: rows(protocol), counts, by, details: [None; 2] }
    }

    /// Reads the counts in the details. Those with a fault have none.
    fn details(&mut self) {
        for (of, value) in [Of::Prompt, Of::Completion].into_iter().zip(self.details) {
            let before = (self.counts, self.by);
            if value.is_some_and(|value| self.members(of, value).is_err()) {
                (self.counts, self.by) = before;
            }
        }
    }

    /// Keeps a member of the usage, if it has details.
    fn other(&mut self, name: &Text<'_>, value: Value<'a>) {
        for (known, details) in details(self.protocol).into_iter().zip(&mut self.details) {
            if name.is_word(known) {
                *details = Some(value);
            }
        }
    }

    /// Reads the counts among the members of the usage, or of an object in it.
    ///
    /// # Errors
    /// The first fault, also that this is no object. What comes before it was read.
    #[inline(never)]
    fn members(&mut self, of: Of, object: Value<'a>) -> Result<(), JsonError> {
        let mut steps = Steps::new(object.raw(), 0, u32::MAX);
        steps.enter(b'{')?;
        let mut expected = self.rows.iter().position(|(own, ..)| *own == of).unwrap_or(0);
        let mut more = steps.first(b'}');
        while more {
            // The members nearly always come in this order, and comparing a name takes half as long as reading it.
            let is_next = |(own, name, _): &Row| *own == of && steps.take_name(name);
            let row = if self.rows.get(expected).is_some_and(is_next) {
                expected
            } else {
                let (name, flags) = steps.name()?;
                let name = Text::from_raw(name, flags);
                let Some(row) = self.row(of, &name) else {
                    let value = steps.any_value()?;
                    if of == Of::Usage {
                        self.other(&name, object.inside(value));
                    }
                    more = steps.more(b'}')?;
                    continue;
                };
                row
            };
            let mut count = steps.count();
            if count.is_none() {
                let value = steps.any_value()?;
                count = number(self.protocol, object.inside(value));
            }
            self.note(row, count);
            expected = row.wrapping_add(1);
            more = steps.more(b'}')?;
        }
        Ok(())
    }

    /// Returns the row of a member with this name.
    fn row(&self, of: Of, name: &Text<'_>) -> Option<usize> {
        self.rows.iter().position(|(own, known, _)| *own == of && name.is_word(known))
    }

    /// Takes the count of a row, or that it has none.
    #[inline(always)]
    fn note(&mut self, row: usize, count: Option<u64>) {
        let Some((.., place)) = self.rows.get(row) else { return };
        let Some(by) = self.by.get_mut(*place) else { return };
        // An earlier row decides over a later one. Of two members with one name the last one counts, in other protocols
        // than chat completions the last number.
        let is_removed = usize::from(*by) == row && self.protocol == Protocol::Chat;
        if usize::from(*by) >= row && (count.is_some() || is_removed) {
            *by = row as u8;
            self.counts.set(*place, count);
        }
    }
}

/// Returns a count. Only servers of chat completions are known to send one as a string.
#[inline(never)]
fn number(protocol: Protocol, value: Value<'_>) -> Option<u64> {
    whole_number(value).filter(|_| protocol == Protocol::Chat || value.kind() == ValueKind::Number)
}

/// Returns the place of the count that is the member of the usage with this name.
pub(crate) fn place_of(protocol: Protocol, name: &Text<'_>) -> Option<u8> {
    let known = rows(protocol).iter().find(|(of, known, _)| *of == Of::Usage && name.is_word(known));
    known.map(|(.., place)| *place as u8)
}

/// Returns the protocol whose names a usage has, or `None` for those of chat completions. Responses and Anthropic share
/// some names: only Responses has a total, or details of the input.
fn protocol_of(usage: Value<'_>) -> Option<Protocol> {
    let (mut input_or_output, mut responses, mut gemini) = (false, false, false);
    let mut at = 0;
    while let Some((name, _)) = usage.member_at(&mut at) {
        if name.is_one_of("prompt_tokens completion_tokens") {
            return None;
        }
        input_or_output |= name.is_one_of("input_tokens output_tokens cache_read_input_tokens");
        responses |= name.is_one_of("total_tokens input_tokens_details");
        gemini |= place_of(Protocol::Gemini, &name).is_some();
    }
    match (input_or_output, responses) {
        _ if gemini => Some(Protocol::Gemini),
        (true, true) => Some(Protocol::Responses),
        (true, false) => Some(Protocol::Anthropic),
        (false, _) => None,
    }
}

/// How many tokens were used, as one event reports it. Never add the usages of a stream: each is the count so far.
///
/// In chat completions, Responses and Gemini, only the last usage of a stream counts; but one that has none of
/// `prompt_tokens`, `completion_tokens` and `total_tokens` (by any name) adds its members to the last one.
/// Anthropic sends the prompt in `message_start` and often only the completion in `message_delta`.
/// [`Parser::usage`](crate::Parser::usage) merges them.
#[derive(Clone, Copy)]
pub struct Usage<'a> {
    value: Value<'a>,
    /// The protocol whose names the members have.
    protocol: Protocol,
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
        Usage::of_protocol(value, protocol_of(value))
    }

    /// Returns the usage with the names of this protocol, or with those of chat completions if `None`.
    pub(crate) fn of_protocol(value: Value<'a>, protocol: Option<Protocol>) -> Option<Self> {
        let protocol = Protocol::read_here(protocol).unwrap_or(Protocol::Chat);
        (value.kind() == ValueKind::Object && !is_empty_object(value)).then_some(Usage { value, protocol })
    }

    /// Returns the protocol whose names the members have. [`counts`](Self::counts) and the methods for single counts
    /// know the names of each protocol.
    pub fn protocol(&self) -> Protocol {
        self.protocol
    }

    /// Returns all counts. Reads the usage once, as each method for a single count does.
    pub fn counts(&self) -> TokenCounts {
        self.sent().canonical(self.protocol).unwrap_or_default()
    }

    /// Returns the counts that were sent, by the names that they have in the protocol.
    pub(crate) fn sent(&self) -> TokenCounts {
        TokenCounts::read(self.protocol, self.value)
    }

    /// Whether this usage has details but no count of the prompt, the completion or the total. Some servers send the
    /// details after these counts, in an event of their own, so they add to the last usage. Every usage of Anthropic adds
    /// to the last one, by a rule of its own.
    pub(crate) fn is_of_details(&self) -> bool {
        if self.protocol == Protocol::Anthropic {
            return false;
        }
        // Nearly every usage begins with such a count, so this need not read all of it.
        let mut at = 0;
        while let Some((name, value)) = self.value.member_at(&mut at) {
            let is_own = place_of(self.protocol, &name).is_some_and(|place| usize::from(place) <= TOTAL);
            if is_own && number(self.protocol, value).is_some() {
                return false;
            }
        }
        true
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::{protocol_of, Protocol, TokenCounts, CACHED, CACHE_WRITE, COMPLETION, PROMPT, REASONING, TOTAL};
    use crate::json::parse_lazy;

    fn canonical(protocol: Protocol, usages: &[&str]) -> Option<[Option<u64>; 6]> {
        let mut counts = TokenCounts::NOTHING;
        usages.iter().for_each(|usage| counts.add_usage(protocol, parse_lazy(usage.as_bytes()).unwrap()));
        let counts = counts.canonical(protocol)?;
        Some([PROMPT, COMPLETION, TOTAL, REASONING, CACHED, CACHE_WRITE].map(|place| counts.get(place)))
    }

    #[test]
    fn the_names_of_a_usage_decide_its_protocol() {
        for (usage, protocol) in [
            (r#"{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}"#, None),
            (r#"{"total_tokens":3,"cost":1}"#, None),
            // Some servers send chat completions with the names of both protocols.
            (r#"{"input_tokens":1,"prompt_tokens":1}"#, None),
            (r#"{"input_tokens":9,"output_tokens":3,"total_tokens":12}"#, Some(Protocol::Responses)),
            (r#"{"input_tokens_details":{},"input_tokens":9}"#, Some(Protocol::Responses)),
            (r#"{"input_tokens":9,"cache_read_input_tokens":4,"output_tokens":3}"#, Some(Protocol::Anthropic)),
            (r#"{"output_tokens":82}"#, Some(Protocol::Anthropic)),
            (r#"{"promptTokenCount":9}"#, Some(Protocol::Gemini)),
            (r#"{"\u0070romptTokenCount":9}"#, Some(Protocol::Gemini)),
            ("{}", None),
        ] {
            assert_eq!(protocol_of(parse_lazy(usage.as_bytes()).unwrap()), protocol, "{usage}");
        }
    }

    #[test]
    fn counts_of_responses_stay_as_they_are() {
        let usage = r#"{"input_tokens":10,"input_tokens_details":{"cached_tokens":4,"cache_write_tokens":3},"output_tokens":7,
            "output_tokens_details":{"reasoning_tokens":5},"total_tokens":17}"#;
        let expected = Some([Some(10), Some(7), Some(17), Some(5), Some(4), Some(3)]);
        assert_eq!(canonical(Protocol::Responses, &[r#"{"total_tokens":99,"input_tokens":1}"#, usage]), expected);
        let none = Some([None, Some(7), None, None, None, None]);
        assert_eq!(canonical(Protocol::Responses, &[r#"{"output_tokens":7}"#]), none);
        assert_eq!(canonical(Protocol::Responses, &["{}"]), None);
    }

    #[test]
    fn anthropic_counts_the_cache_apart_and_each_count_stays_until_replaced() {
        let first =
            r#"{"input_tokens":12,"cache_read_input_tokens":1028,"cache_creation_input_tokens":250,"output_tokens":1}"#;
        let last = r#"{"output_tokens":30,"input_tokens":null,"output_tokens_details":{"thinking_tokens":9},
            "iterations":[{"input_tokens":5}]}"#;
        assert_eq!(
            canonical(Protocol::Anthropic, &[first, last]),
            Some([Some(1290), Some(30), Some(1320), Some(9), Some(1028), Some(250)])
        );
    }

    /// Zeros for all of the prompt say nothing. Otherwise each count that is sent replaces, even with a smaller one.
    #[test]
    fn prompt_counts_that_add_up_to_nothing_replace_none() {
        let first = r#"{"input_tokens":12,"cache_read_input_tokens":7,"output_tokens":1}"#;
        let zeros = r#"{"input_tokens":0,"cache_read_input_tokens":0,"output_tokens":9}"#;
        let moved = r#"{"input_tokens":19,"cache_read_input_tokens":0,"output_tokens":9}"#;
        let anthropic = |usages: &[&str]| canonical(Protocol::Anthropic, usages);
        assert_eq!(anthropic(&[first, zeros]), Some([Some(19), Some(9), Some(28), None, Some(7), None]));
        assert_eq!(anthropic(&[first, moved]), Some([Some(19), Some(9), Some(28), None, Some(0), None]));
        assert_eq!(anthropic(&[zeros]), Some([Some(0), Some(9), Some(9), None, Some(0), None]));
        assert_eq!(anthropic(&[zeros, first]), Some([Some(19), Some(1), Some(20), None, Some(7), None]));
    }

    #[test]
    fn gemini_counts_thoughts_apart_and_only_the_last_usage_counts() {
        let first = r#"{"promptTokenCount":5,"candidatesTokenCount":3,"totalTokenCount":8}"#;
        let last = r#"{"promptTokenCount":32,"toolUsePromptTokenCount":764,"thoughtsTokenCount":240,
            "cachedContentTokenCount":2,"totalTokenCount":1513,"candidatesTokenCount":477}"#;
        assert_eq!(
            canonical(Protocol::Gemini, &[first, last]),
            Some([Some(796), Some(717), Some(1513), Some(240), Some(2), None])
        );
        assert_eq!(
            canonical(Protocol::Gemini, &[last, r#"{"promptTokenCount":5,"thoughtsTokenCount":2}"#]),
            Some([Some(5), Some(2), Some(7), Some(2), None, None])
        );
    }
}
