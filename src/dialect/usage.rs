//! Translates the token counts of every protocol into those of chat completions.

use super::protocol::Protocol;
use crate::json::{Steps, Text, Value};

/// The token counts of a protocol, each at its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Counts {
    /// One bit for each place whose count is known.
    has: u8,
    counts: [u64; COUNT],
}

const INPUT: usize = 0;
const OUTPUT: usize = 1;
const TOTAL: usize = 2;
const REASONING: usize = 3;
const CACHE_READ: usize = 4;
const CACHE_WRITE: usize = 5;
const TOOL_USE: usize = 6;
const COUNT: usize = 7;
/// The places of the counts that add up to Anthropic's prompt.
const PROMPT: [usize; 3] = [INPUT, CACHE_READ, CACHE_WRITE];

/// Returns the rows of a protocol's token counts: the name of a member of the usage, the name of the member inside it
/// that is the count, or an empty name if the member is the count itself, and the place of the count. The rows are in
/// the order in which the protocol usually sends the members; the second count inside a member has its row at the end.
fn names(protocol: Protocol) -> &'static [(&'static str, &'static str, usize)] {
    match protocol {
        Protocol::Responses => &[
            ("input_tokens", "", INPUT),
            ("input_tokens_details", "cached_tokens", CACHE_READ),
            ("output_tokens", "", OUTPUT),
            ("output_tokens_details", "reasoning_tokens", REASONING),
            ("total_tokens", "", TOTAL),
            ("input_tokens_details", "cache_write_tokens", CACHE_WRITE),
        ],
        Protocol::Anthropic => &[
            ("input_tokens", "", INPUT),
            ("cache_creation_input_tokens", "", CACHE_WRITE),
            ("cache_read_input_tokens", "", CACHE_READ),
            ("output_tokens", "", OUTPUT),
            ("output_tokens_details", "thinking_tokens", REASONING),
        ],
        Protocol::Gemini => &[
            ("promptTokenCount", "", INPUT),
            ("candidatesTokenCount", "", OUTPUT),
            ("totalTokenCount", "", TOTAL),
            ("thoughtsTokenCount", "", REASONING),
            ("cachedContentTokenCount", "", CACHE_READ),
            ("toolUsePromptTokenCount", "", TOOL_USE),
        ],
        _ => &[],
    }
}

/// Returns the place of the count that is the member of the usage with this name.
pub(crate) fn place_of(protocol: Protocol, name: &Text<'_>) -> Option<u8> {
    known(protocol, name).find(|(inner, _)| inner.is_empty()).map(|(_, place)| place as u8)
}

/// Returns the counts in the member of the usage with this name: the name of each inside that member, and its place.
/// The returned name is empty if the member of the usage is the count itself.
#[inline(always)]
fn known<'n>(protocol: Protocol, name: &'n Text<'_>) -> impl Iterator<Item = (&'static str, usize)> + 'n {
    let known = names(protocol).iter().filter(|(own, ..)| name.is_word(own));
    known.map(|(_, inner, place)| (*inner, *place))
}

/// Returns the protocol whose names a usage has, or `None` for those of chat completions. Responses and Anthropic share
/// some names: only Responses has a total, or details of the input.
pub(crate) fn protocol_of(usage: Value<'_>) -> Option<Protocol> {
    let (mut input_or_output, mut responses, mut gemini) = (false, false, false);
    let mut at = 0;
    while let Some((name, _)) = usage.member_at(&mut at) {
        let is = |names: &[&str]| names.iter().any(|own| name == **own);
        if is(&["prompt_tokens", "completion_tokens"]) {
            return None;
        }
        input_or_output |= is(&["input_tokens", "output_tokens", "cache_read_input_tokens"]);
        responses |= is(&["total_tokens", "input_tokens_details"]);
        gemini |= names(Protocol::Gemini).iter().any(|(own, ..)| name == **own);
    }
    match (input_or_output, responses) {
        _ if gemini => Some(Protocol::Gemini),
        (true, true) => Some(Protocol::Responses),
        (true, false) => Some(Protocol::Anthropic),
        (false, _) => None,
    }
}

impl Counts {
    /// No count is known.
    pub(crate) const NOTHING: Counts = Counts { has: 0, counts: [0; COUNT] };

    /// Takes the token counts of an event's usage. In Anthropic each count stays until another replaces it, and prompt
    /// counts that add up to 0 replace none: some servers send zeros at the end. In the other protocols a usage
    /// replaces all counts before it, unless it [has only details](Self::are_details).
    pub(crate) fn add(&mut self, protocol: Protocol, usage: Value<'_>) {
        let mut sent = Counts::NOTHING;
        if sent.read(protocol, usage).is_none() {
            return;
        }
        if protocol != Protocol::Anthropic && !sent.are_details() {
            *self = sent;
            return;
        }
        let is_void = protocol == Protocol::Anthropic && sent.prompt() == Some(0) && self.prompt() > Some(0);
        for place in 0..COUNT {
            match sent.get(place) {
                Some(_) if is_void && PROMPT.contains(&place) => {}
                Some(count) => self.set(place, count),
                None => {}
            }
        }
    }

    /// Whether no count of the prompt, the completion or the total is known.
    fn are_details(&self) -> bool {
        [INPUT, OUTPUT, TOTAL].into_iter().all(|place| self.get(place).is_none())
    }

    /// Whether a usage has no count of the prompt, the completion or the total.
    pub(crate) fn has_only_details(protocol: Protocol, usage: Value<'_>) -> bool {
        let mut sent = Counts::NOTHING;
        sent.read(protocol, usage).is_some() && sent.are_details()
    }

    /// Returns the prompt tokens of Anthropic, or `None` if no count of them is known.
    pub(crate) fn prompt(&self) -> Option<u64> {
        self.sum(PROMPT)
    }

    /// Whether the count with this name is one of Anthropic's prompt counts.
    pub(crate) fn is_of_prompt(name: &Text<'_>) -> bool {
        known(Protocol::Anthropic, name).any(|(_, place)| PROMPT.contains(&place))
    }

    /// Reads the token counts of a usage, up to its first fault. Returns `None` if it is no object.
    fn read(&mut self, protocol: Protocol, usage: Value<'_>) -> Option<()> {
        let mut steps = Steps::new(usage.raw(), 0, u32::MAX);
        steps.enter(b'{').ok()?;
        let mut expected = names(protocol);
        let mut more = steps.first(b'}');
        while more {
            if let [(name, "", place), rest @ ..] = expected {
                // The members nearly always come in this order, and comparing a name takes half as long as reading it.
                if let Some(count) = steps.count_named(name) {
                    self.set(*place, count);
                    expected = rest;
                    more = steps.more(b'}') == Ok(true);
                    continue;
                }
            }
            let Ok((name, flags)) = steps.name() else { break };
            let Ok(read) = steps.any_value() else { break };
            let value = Value::from_span(usage.raw().get(read.start..read.end).unwrap_or_default(), read.flags);
            self.add_member(protocol, &Text::from_raw(name, flags), value);
            more = steps.more(b'}') == Ok(true);
        }
        Some(())
    }

    /// Takes the token counts of one member of the usage.
    #[inline(always)]
    pub(crate) fn add_member(&mut self, protocol: Protocol, name: &Text<'_>, value: Value<'_>) {
        for (inner, place) in known(protocol, name) {
            let value = if inner.is_empty() { Some(value) } else { value.get(inner).ok().flatten() };
            if let Some(count) = value.and_then(|value| value.as_u64()) {
                self.set(place, count);
            }
        }
    }

    /// Sets the count at this place.
    pub(crate) fn set(&mut self, place: usize, count: u64) {
        if let Some(to) = self.counts.get_mut(place) {
            *to = count;
            self.has |= 1u8.wrapping_shl(place as u32);
        }
    }

    fn get(&self, place: usize) -> Option<u64> {
        let has = self.has.wrapping_shr(place as u32) & 1 != 0;
        self.counts.get(place).copied().filter(|_| has)
    }

    /// Returns the sum of the known counts among these, or `None` if none is known.
    fn sum<const N: usize>(&self, places: [usize; N]) -> Option<u64> {
        let there = places.into_iter().filter_map(|place| self.get(place));
        there.fold(None, |sum, count| Some(sum.unwrap_or(0u64).saturating_add(count)))
    }

    /// Returns the prompt, completion, total, reasoning, cached and cache write tokens, or `None` if no count is known.
    pub(crate) fn canonical(&self, protocol: Protocol) -> Option<[Option<u64>; 6]> {
        if self.has == 0 {
            return None;
        }
        let (prompt, completion) = match protocol {
            Protocol::Anthropic => (self.prompt(), self.get(OUTPUT)),
            Protocol::Gemini => (self.sum([INPUT, TOOL_USE]), self.sum([OUTPUT, REASONING])),
            _ => (self.get(INPUT), self.get(OUTPUT)),
        };
        let sum = || Some(prompt?.saturating_add(completion?));
        let total = self.get(TOTAL).or_else(sum);
        Some([prompt, completion, total, self.get(REASONING), self.get(CACHE_READ), self.get(CACHE_WRITE)])
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::{protocol_of, Counts, Protocol};
    use crate::json::parse_lazy;

    fn canonical(protocol: Protocol, usages: &[&str]) -> Option<[Option<u64>; 6]> {
        let mut counts = Counts::NOTHING;
        usages.iter().for_each(|usage| counts.add(protocol, parse_lazy(usage.as_bytes()).unwrap()));
        counts.canonical(protocol)
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
