//! The one pass over a payload.
//!
//! The pass enters the top level, the choices, their deltas and their tool calls. It checks the member grammar of each
//! level that it enters, and stores the spans of the top level, of the first choice and of its first tool call. It
//! stores no spans of further choices and calls: it notes their quirks and finish reasons, and puts their deltas in the
//! list. It first compares a choice with the bytes that nearly every choice is made of, and puts such a choice in the
//! list at once. It walks any other choice member by member. It unescapes nothing, parses no number except indexes, and
//! checks no UTF-8.

use super::expect::{Expect, MemberRule};
use super::index::{choice, top, ChoiceIndex, ChunkFacts, Index, Read, SeenChoices};
use super::key::Key;
use super::list::{put_choice, put_lone};
use super::page::{Behind, DeltaList};
use super::scalar::{is_error, reason_of};
use super::work::{next_key, Notes, Work, PADDING, UNKNOWN};
use crate::delta::FinishKind;
use crate::json::{JsonError, Steps, ValueKind};
use crate::Quirk;

/// Walks the JSON value that a payload begins with. Does not look at the bytes after the value.
pub(super) fn walk(index: &mut Index, payload: &[u8], max_depth: u32) -> Result<Read, JsonError> {
    let (mut notes, mut seen) = (Notes::default(), SeenChoices::default());
    let mut work = Work { steps: Steps::new(payload, 0, max_depth), notes: &mut notes };
    if work.steps.peek() == b'n' {
        work.read();
        work.notes.quirks.insert(Quirk::NullChunk);
    } else {
        work.chunk(index, &mut seen);
    }
    let (end, may_break) = (work.steps.offset(), work.steps.may_break());
    if let Some(fault) = notes.fault {
        return Err(fault);
    }
    index.quirks |= notes.quirks;
    (index.facts.others, index.facts.rare) = (notes.has_others, notes.has_rare);
    Ok(Read { end, seen, may_break })
}

impl Work<'_, '_> {
    #[inline(always)]
    fn chunk(&mut self, index: &mut Index, seen: &mut SeenChoices) -> Option<()> {
        let mut before = self.enter_object();
        loop {
            let key = next_key!(self, before,
                b"id\":" { b"" => Id }
                b"obje" { b"ct\":" => Object }
                b"crea" { b"ted\":" => Created }
                b"mode" { b"l\":" => Model }
                b"serv" { b"ice_tier\":" => ServiceTier }
                b"syst" { b"em_fingerprint\":" => SystemFingerprint }
                b"choi" { b"ces\":" => Choices }
                b"usag" { b"e\":" => Usage }
                b"obfu" { b"scation\":" => Obfuscation }
                b"prov" { b"ider\":" => Provider }
            );
            let rule = match key {
                Key::Choices => {
                    if self.choices(index, seen) {
                        continue;
                    }
                    MemberRule::new(top::CHOICES, Expect::CHOICES)
                }
                Key::Id if self.text(&mut index.top, top::ID) => continue,
                Key::Id => MemberRule::new(top::ID, Expect::TEXT),
                Key::Object
                    if self.taken(&mut index.top, top::OBJECT, |steps| steps.take(b"\"chat.completion.chunk\"")) =>
                {
                    continue
                }
                Key::Object if self.text(&mut index.top, top::OBJECT) => continue,
                Key::Object => MemberRule::new(top::OBJECT, Expect::TEXT),
                Key::Created if self.taken(&mut index.top, top::CREATED, Steps::ten_digits) => continue,
                Key::Created => {
                    if self.integer(&mut index.top, top::CREATED) {
                        continue;
                    }
                    MemberRule::new(top::CREATED, Expect::TIME)
                }
                Key::Model if self.text(&mut index.top, top::MODEL) => continue,
                Key::Model => MemberRule::new(top::MODEL, Expect::TEXT),
                Key::SystemFingerprint if self.text(&mut index.top, top::SYSTEM_FINGERPRINT) => continue,
                Key::SystemFingerprint => MemberRule::new(top::SYSTEM_FINGERPRINT, Expect::TEXT),
                Key::ServiceTier if self.text(&mut index.top, top::SERVICE_TIER) => continue,
                Key::ServiceTier => MemberRule::new(top::SERVICE_TIER, Expect::TEXT),
                Key::Provider => MemberRule::new(top::PROVIDER, Expect::ANY),
                Key::Usage if self.taken(&mut index.top, top::USAGE, Steps::null) => continue,
                Key::Usage => MemberRule::new(top::USAGE, Expect::OBJECT),
                Key::Error => MemberRule::new(top::ERROR, Expect::ERROR),
                Key::BaseResp | Key::ErrorCode | Key::ErrorMessage | Key::Message => {
                    self.notes.has_rare = true;
                    UNKNOWN
                }
                Key::Obfuscation if self.steps.plain_string_before_end() => continue,
                Key::Obfuscation => PADDING,
                Key::Type | Key::Detail | Key::XGroq => {
                    self.aside(|work| work.note_other());
                    let member = match key {
                        Key::Type => top::TYPE,
                        Key::Detail => top::DETAIL,
                        _ => top::X_GROQ,
                    };
                    MemberRule::new(member, Expect::ANY)
                }
                _ => UNKNOWN,
            };
            self.member(&mut index.top, rule)?;
        }
        Some(())
    }

    /// Walks the choices, and puts their deltas in the list. Returns `false` if the next value is no array.
    #[inline(always)]
    fn choices(&mut self, index: &mut Index, seen: &mut SeenChoices) -> bool {
        if index.top.has(top::CHOICES) {
            // The last of several `choices` counts.
            index.first.clear();
            index.list.clear();
            index.choices = 0;
            (*seen, index.facts) = (SeenChoices::default(), ChunkFacts::default());
        }
        if self.steps.peek() != b'[' {
            return false;
        }
        let start = self.steps.offset();
        let mut more = self.enter_array();
        while more {
            if index.choices == 0 {
                let Index { first, list, facts, .. } = &mut *index;
                self.one_choice(first, 0, seen, facts, list);
            } else {
                self.aside(|work| work.next_choice(index, seen));
            }
            index.choices = index.choices.saturating_add(1);
            more = self.more_elements();
        }
        let span = self.span_from(start);
        self.store(&mut index.top, top::CHOICES, span);
        true
    }

    /// Walks a choice after the first.
    #[inline(never)]
    fn next_choice(&mut self, index: &mut Index, seen: &mut SeenChoices) {
        let Index { list, facts, choices, .. } = &mut *index;
        let mut other = ChoiceIndex::EMPTY;
        self.one_choice(&mut other, *choices, seen, facts, list);
    }

    /// Walks the choice at this place of the array into an empty index.
    #[inline(always)]
    fn one_choice(
        &mut self,
        into: &mut ChoiceIndex,
        place: u32,
        seen: &mut SeenChoices,
        facts: &mut ChunkFacts,
        list: &mut DeltaList,
    ) {
        let start = self.steps.offset();
        if let Some(number) = self.usual_choice(into) {
            if !list.behind.has(Behind::CHOICES) && put_lone(self.steps.bytes(), &into.delta, number, list) {
                seen.all.insert(number);
                facts.delta = true;
                return;
            }
        } else {
            self.aside(|work| work.choice(into));
        }
        self.conclude(into, (start as u32, place), seen, facts, list);
    }

    /// Notes the facts about the choice that began at `start`, at `place` of the array, and puts its deltas in the list.
    /// Out of line, because it is long and has two callers: the first choice and the choices after it.
    #[inline(never)]
    fn conclude(
        &self,
        choice: &ChoiceIndex,
        (start, place): (u32, u32),
        seen: &mut SeenChoices,
        facts: &mut ChunkFacts,
        list: &mut DeltaList,
    ) {
        let number = self.index_of(choice, place);
        if choice.spans.has(choice::ITSELF) {
            let value = |member| choice.spans.get(member).map(|span| self.value(span));
            let is_object = |member| value(member).is_some_and(|value| value.kind() == ValueKind::Object);
            let reason = |member| value(member).and_then(reason_of);
            seen.all.insert(number);
            if let Some(text) = reason(choice::FINISH_REASON).or_else(|| reason(choice::FINISH_CAMEL)) {
                seen.finished.insert(number);
                facts.error |= FinishKind::of(text) == FinishKind::Error;
            }
            facts.error |= value(choice::ERROR).is_some_and(is_error);
            let has_delta = is_object(choice::DELTA);
            facts.delta |= has_delta;
            facts.message |= !has_delta && (is_object(choice::MESSAGE) || value(choice::TEXT).is_some());
        }
        list.add_choice((start, place), |items| put_choice(self.steps.bytes(), choice, number, items));
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    extern crate std;
    use super::*;
    use crate::chat::index::{delta, ValueSpan};
    use crate::chat::page::{How, PageItem};
    use std::{format, string::String, vec::Vec};

    /// Returns the values that an index has of its payload, without the whitespace inside them.
    fn values(payload: &str) -> (Vec<String>, String) {
        let mut index = Index::new();
        let Read { end, seen, .. } = walk(&mut index, payload.as_bytes(), 128).unwrap();
        assert_eq!(end, payload.trim_end().len());
        let mut values = Vec::new();
        let mut add = |level: &str, member: usize, span: Option<ValueSpan>| {
            let Some(span) = span else { return };
            let raw: String = payload[span.start as usize..span.end as usize].split(' ').collect();
            values.push(format!("{level} {member} {raw} {}", span.flags));
        };
        (0..top::COUNT).for_each(|member| add("top", member, index.top.get(member)));
        (0..choice::COUNT).for_each(|member| add("choice", member, index.first.spans.get(member)));
        (0..delta::COUNT).for_each(|member| add("delta", member, index.first.delta.spans.get(member)));
        add("arguments", 0, Some(index.first.delta.arguments));
        for item in &index.list.items[..usize::from(index.list.len)] {
            let PageItem { start, end, choice, kind, how, flags, .. } = *item;
            match how {
                How::Fragment => values.push(format!("{choice} {kind:?} {start}")),
                _ => {
                    let raw: String = payload[start as usize..end as usize].split(' ').collect();
                    values.push(format!("{choice} {kind:?} {raw} {flags}"));
                }
            }
        }
        let rest = format!("{:?} {seen:?} {:?}", index.quirks, index.facts);
        (values, rest)
    }

    #[test]
    fn fast_paths_find_what_the_general_path_finds() {
        let mut seen = 0;
        for (content, index, reason) in
            [("\"Hi\"", "0", "null"), ("\"\\\"é\"", "17", "\"stop\""), ("null", "-1", "\"None\""), ("7", "\"1\"", "{}")]
        {
            let full = format!(
                "{{\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"created\":1750000000,\"model\":\"m\",\
                 \"service_tier\":\"default\",\"system_fingerprint\":\"fp_0123456789\",\"provider\":{{}},\
                 \"choices\":[{{\"index\":{index},\"delta\":{{\"role\":\"assistant\",\"content\":{content},\
                 \"reasoning\":null,\"reasoning_content\":\"r\",\"refusal\":null,\"tool_calls\":[{{\"index\":{index},\
                 \"id\":\"call\",\"type\":\"function\",\"function\":{{\"name\":\"n\",\"arguments\":{content}}}}}]}},\
                 \"logprobs\":{{\"content\":[[]]}},\"finish_reason\":{reason},\"native_finish_reason\":\"x\"}},\
                 {{\"index\":{index},\"delta\":{{}}}}],\"usage\":null,\"obfuscation\":\"abc\"}}"
            );
            let usual = [
                format!(
                    "{{\"index\":{index},\"delta\":{{\"content\":{content}}},\"logprobs\":null,\"finish_reason\":{reason}}}"
                ),
                format!(
                    "{{\"index\":1,\"delta\":{{\"tool_calls\":[{{\"index\":{index},\"function\":{{\"arguments\":\
                     {content}}}}}]}},\"finish_reason\":null}}"
                ),
                format!("{{\"index\":2,\"delta\":{{\"reasoning_content\":{content}}},\"stop_reason\":null}}"),
                format!(
                    "{{\"index\":4,\"delta\":{{\"content\":{content}}},\"logprobs\":null,\"finish_reason\":null,\
                     \"stop_reason\":null,\"token_ids\":null}}"
                ),
                String::from("{\"index\":3,\"delta\":{\"content\":\"\",\"role\":\"assistant\"},\"finish_reason\":null}"),
            ];
            let chunk = |first: usize| {
                let mut choices = usual.to_vec();
                choices.rotate_left(first);
                let choices = choices.join(",");
                format!("{{\"object\":\"chat.completion.chunk\",\"created\":1750000000,\"choices\":[{choices}]}}")
            };
            for payload in (0..usual.len()).map(chunk).chain([full]) {
                let expected = values(&payload);
                seen += expected.0.len();
                // With spaces around one of its punctuation marks, a payload does not take the fast paths.
                let (mut inside, mut escaped, mut places) = (false, false, 0);
                for (at, byte) in payload.bytes().enumerate() {
                    let between = !inside && matches!(byte, b',' | b':' | b'{' | b'}' | b'[' | b']');
                    (inside, escaped) = (inside ^ (byte == b'"' && !escaped), byte == b'\\' && !escaped);
                    if between {
                        places += 1;
                        let spaced = format!("{} {} {}", &payload[..at], char::from(byte), &payload[at + 1..]);
                        let (found, expected) = (values(&spaced), &expected);
                        assert_eq!(&found, expected, "{spaced}");
                    }
                }
                assert!(places > 40, "{places}");
                // Neither does a payload with a name whose first letter is escaped, which is not flagged.
                for (at, _) in payload.match_indices("\":") {
                    let start = payload[..at].rfind('"').unwrap() + 1;
                    let code = payload.as_bytes()[start];
                    let spelt = format!("{}\\u{code:04x}{}", &payload[..start], &payload[start + 1..]);
                    let (found, rest) = values(&spelt);
                    assert_eq!((found.len(), &rest), (expected.0.len(), &expected.1), "{spelt}");
                }
            }
        }
        assert!(seen > 80, "{seen}");
    }
}
