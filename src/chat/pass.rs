//! The one pass over a payload, and the walk of a choice or a call that a view asks for.
//!
//! The pass enters the top level, the choices, their deltas and their tool calls, checks the member grammar of each
//! level that it enters, and keeps the spans of the top level, of the first choice and of its first tool call. Further
//! choices and calls are looked over for quirks and finish reasons only. Nothing is unescaped, no number is parsed
//! beyond an index, no UTF-8 is checked.

use super::expect::Expect;
use super::index::{call, choice, delta, top, CallIndex, ChoiceIndex, DeltaIndex, Facts, Index, Seen, Span};
use super::key::Key;
use super::list::put_choice;
use super::page::DeltaList;
use super::parts::part_type;
use super::scalar::{index_number, is_error, reason_of, text_of};
use super::work::{next_key, Notes, Work, PADDING, UNKNOWN};
use crate::json::{JsonError, Kind, Kinds, Steps};
use crate::Quirk;

/// Walks a payload. Gives the offset one past its JSON value, and which choices it has: what follows the value is not
/// looked at.
pub(super) fn walk(index: &mut Index, payload: &[u8], max_depth: u32) -> Result<(usize, Seen), JsonError> {
    let (mut notes, mut seen) = (Notes::default(), Seen::default());
    let mut work = Work { steps: Steps::new(payload, 0, max_depth), notes: &mut notes };
    if work.steps.peek() == b'n' {
        work.read();
        work.notes.quirks.insert(Quirk::NullChunk);
    } else {
        work.chunk(index, &mut seen);
    }
    let end = work.steps.offset();
    if let Some(fault) = notes.fault {
        return Err(fault);
    }
    index.quirks |= notes.quirks;
    index.facts.others = notes.has_others;
    Ok((end, seen))
}

/// A walk for one view, of a value that the pass over the chunk has been over.
pub(crate) struct Pass<'a> {
    steps: Steps<'a>,
    notes: Notes,
}

impl<'a> Pass<'a> {
    /// A walk of the value at `offset`.
    pub(crate) fn again(payload: &'a [u8], offset: usize) -> Self {
        Pass { steps: Steps::new(payload, offset, u32::MAX), notes: Notes::default() }
    }

    /// Walks a delta or a message.
    pub(crate) fn delta(&mut self, into: &mut DeltaIndex) -> Option<()> {
        self.work(|work| work.delta(into))
    }

    /// Walks the next call of the array at `start`: the one behind `offset`, where an earlier one ended, or the first if
    /// that is 0. Gives where it ends; `None` if there is none.
    pub(crate) fn call_at(payload: &'a [u8], start: usize, offset: usize, into: &mut CallIndex) -> Option<usize> {
        let mut pass = Pass::again(payload, if offset == 0 { start } else { offset });
        let comes = pass.work(|work| if offset == 0 { work.enter_array() } else { work.more_elements() });
        if !comes {
            return None;
        }
        pass.work(|work| work.call(into))?;
        Some(pass.steps.offset())
    }

    fn work<T>(&mut self, what: impl FnOnce(&mut Work<'a, '_>) -> T) -> T {
        let mut work = Work { steps: self.steps, notes: &mut self.notes };
        let result = what(&mut work);
        self.steps = work.steps;
        result
    }
}

/// A choice that is not the first, and where it lies.
pub(crate) struct Further {
    pub(crate) fields: ChoiceIndex,
    pub(crate) number: u32,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// Walks the choice behind the one that ends at `offset`.
#[inline(never)]
pub(crate) fn further_choice(payload: &[u8], offset: usize) -> Option<Further> {
    let mut pass = Pass::again(payload, offset);
    if !pass.work(|work| work.more_elements()) {
        return None;
    }
    choice_at(payload, pass.steps.offset())
}

/// Walks the choice that begins at `start`.
#[inline(never)]
pub(crate) fn choice_at(payload: &[u8], start: usize) -> Option<Further> {
    let mut pass = Pass::again(payload, start);
    let mut fields = ChoiceIndex::EMPTY;
    let number = pass.work(|work| {
        work.further_choice(&mut fields)?;
        Some(work.index_of(&fields))
    })?;
    Some(Further { fields, number, start, end: pass.steps.offset() })
}

impl Work<'_, '_> {
    #[inline(always)]
    fn chunk(&mut self, index: &mut Index, seen: &mut Seen) -> Option<()> {
        let mut more = self.enter_object();
        while more {
            let key = next_key!(self,
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
            let place = match key {
                Key::Choices => {
                    if self.choices(index, seen) {
                        more = self.more_members();
                        continue;
                    }
                    (top::CHOICES, Expect::CHOICES)
                }
                Key::Id => (top::ID, Expect::TEXT),
                Key::Object => (top::OBJECT, Expect::TEXT),
                Key::Created => {
                    if self.integer(&mut index.top, top::CREATED) {
                        more = self.more_members();
                        continue;
                    }
                    (top::CREATED, Expect::TIME)
                }
                Key::Model => (top::MODEL, Expect::TEXT),
                Key::SystemFingerprint => (top::SYSTEM_FINGERPRINT, Expect::TEXT),
                Key::ServiceTier => (top::SERVICE_TIER, Expect::TEXT),
                Key::Provider => (top::PROVIDER, Expect::ANY),
                Key::Usage => (top::USAGE, Expect::OBJECT),
                Key::Error => (top::ERROR, Expect::ERROR),
                Key::Obfuscation => PADDING,
                Key::Type | Key::Detail | Key::XGroq => {
                    self.aside(|work| work.note_other());
                    let member = match key {
                        Key::Type => top::TYPE,
                        Key::Detail => top::DETAIL,
                        _ => top::X_GROQ,
                    };
                    (member, Expect::ANY)
                }
                _ => UNKNOWN,
            };
            let read = self.read()?;
            self.put(&mut index.top, place, read);
            more = self.more_members();
        }
        Some(())
    }

    /// Walks the choices, and puts their deltas in the list. `false`: the next value is no array.
    #[inline(always)]
    fn choices(&mut self, index: &mut Index, seen: &mut Seen) -> bool {
        index.first.clear();
        index.list.clear();
        index.choices = 0;
        (*seen, index.facts) = (Seen::default(), Facts::default());
        if self.steps.peek() != b'[' {
            return false;
        }
        let start = self.steps.offset();
        let mut more = self.enter_array();
        while more {
            if index.choices == 0 {
                let start = self.steps.offset();
                self.choice(&mut index.first);
                let Index { first, list, facts, .. } = &mut *index;
                self.conclude(first, seen, facts, list, start as u32);
            } else {
                self.aside(|work| work.next_choice(index, seen));
            }
            index.choices = index.choices.saturating_add(1);
            more = self.more_elements();
        }
        let span = self.span_from(start);
        self.place(&mut index.top, top::CHOICES, span);
        true
    }

    /// Walks a choice behind the first.
    #[inline(never)]
    fn next_choice(&mut self, index: &mut Index, seen: &mut Seen) {
        let mut other = ChoiceIndex::EMPTY;
        let start = self.steps.offset();
        self.aside(|work| work.choice(&mut other));
        let Index { list, facts, .. } = &mut *index;
        self.conclude(&other, seen, facts, list, start as u32);
    }

    /// Notes what the verdict has to know of a choice that began at `start`, and puts its deltas in the list.
    #[inline(always)]
    fn conclude(&self, choice: &ChoiceIndex, seen: &mut Seen, facts: &mut Facts, list: &mut DeltaList, start: u32) {
        /// Members that few choices have.
        const RARE: u32 = 1 << choice::MESSAGE | 1 << choice::TEXT | 1 << choice::ERROR | 1 << choice::FINISH_CAMEL;
        let first = |member| choice.spans.get(member).and_then(|span| self.first_byte(span));
        let number = self.index_of(choice);
        if choice.spans.mask() & (RARE | 1 << choice::WHOLE) != 1 << choice::WHOLE
            || first(choice::FINISH_REASON) == Some(b'"')
        {
            if choice.spans.has(choice::WHOLE) {
                self.conclude_all(choice, number, seen, facts);
            }
        } else {
            seen.all.insert(number);
            facts.delta |= first(choice::DELTA) == Some(b'{');
        }
        list.add_choice(start, |items| put_choice(self.steps.bytes(), choice, number, items));
    }

    #[inline(always)]
    fn index_of(&self, choice: &ChoiceIndex) -> u32 {
        let Some(span) = choice.spans.get(choice::INDEX) else { return 0 };
        match self.first_byte(span) {
            Some(digit @ b'0'..=b'9') if span.end == span.start.wrapping_add(1) => u32::from(digit - b'0'),
            _ => index_number(self.value(span)).unwrap_or(0),
        }
    }

    /// [`conclude`](Work::conclude) for any choice.
    #[inline(never)]
    fn conclude_all(&self, choice: &ChoiceIndex, number: u32, seen: &mut Seen, facts: &mut Facts) {
        let value = |member| choice.spans.get(member).map(|span| self.value(span));
        seen.all.insert(number);
        let reason = |member| value(member).and_then(reason_of);
        if let Some(text) = reason(choice::FINISH_REASON).or_else(|| reason(choice::FINISH_CAMEL)) {
            seen.finished.insert(number);
            facts.error |= text == "error";
        }
        facts.error |= value(choice::ERROR).is_some_and(is_error);
        let has_delta = value(choice::DELTA).is_some_and(|value| value.kind() == Kind::Object);
        let has_message = value(choice::MESSAGE).is_some_and(|value| value.kind() == Kind::Object);
        facts.delta |= has_delta;
        facts.message |= !has_delta && (has_message || value(choice::TEXT).is_some());
    }

    /// [`choice`](Work::choice), out of line.
    #[inline(never)]
    fn further_choice(&mut self, into: &mut ChoiceIndex) -> Option<()> {
        self.aside(|work| work.choice(into))
    }

    /// Walks one choice.
    #[inline(always)]
    fn choice(&mut self, into: &mut ChoiceIndex) -> Option<()> {
        into.clear();
        if self.steps.peek() != b'{' {
            self.notes.quirks.insert(Quirk::OddType);
            self.read();
            return Some(());
        }
        let start = self.steps.offset();
        let mut more = self.enter_object();
        while more {
            let key = next_key!(self,
                b"inde" { b"x\":" => Index }
                b"delt" { b"a\":" => Delta }
                b"logp" { b"robs\":" => Logprobs }
                b"fini" { b"sh_reason\":" => FinishReason }
                b"text" { b"\":" => Text }
                b"stop" { b"_reason\":" => Unknown }
                b"toke" { b"n_ids\":" => Unknown }
                b"nati" { b"ve_finish_reason\":" => NativeFinishReason }
            );
            let place = match key {
                Key::Index => {
                    if self.integer(&mut into.spans, choice::INDEX) {
                        more = self.more_members();
                        continue;
                    }
                    (choice::INDEX, Expect::INDEX)
                }
                Key::Delta => {
                    into.delta.clear();
                    if self.steps.peek() == b'{' {
                        let from = self.steps.offset();
                        self.delta(&mut into.delta);
                        let span = self.span_from(from);
                        self.place(&mut into.spans, choice::DELTA, span);
                        more = self.more_members();
                        continue;
                    }
                    (choice::DELTA, Expect::OBJECT)
                }
                Key::Message => (choice::MESSAGE, Expect::OBJECT),
                Key::Text => (choice::TEXT, Expect::TEXT),
                Key::FinishReason => (choice::FINISH_REASON, Expect::REASON),
                Key::FinishCamel => (choice::FINISH_CAMEL, Expect::TEXT),
                Key::NativeFinishReason => (choice::NATIVE_FINISH_REASON, Expect::ANY),
                Key::Logprobs => (choice::LOGPROBS, Expect::OBJECT),
                Key::Error => (choice::ERROR, Expect::ERROR),
                Key::ProviderFields => {
                    self.aside(|work| work.note_other());
                    (choice::PROVIDER_FIELDS, Expect::ANY)
                }
                _ => UNKNOWN,
            };
            let Some(read) = self.read() else {
                if place == UNKNOWN {
                    break;
                }
                return None;
            };
            self.put(&mut into.spans, place, read);
            more = self.more_members();
        }
        let index = into.spans.get(choice::INDEX).and_then(|span| self.first_byte(span));
        self.flag(index.is_none() || index == Some(b'n'), Quirk::MissingChoiceIndex);
        let span = self.span_from(start);
        into.spans.set(choice::WHOLE, span);
        Some(())
    }

    /// Walks a delta or a message.
    #[inline(always)]
    fn delta(&mut self, into: &mut DeltaIndex) -> Option<()> {
        into.clear();
        let mut more = self.enter_object();
        while more {
            let key = next_key!(self,
                b"role" { b"\":" => Role }
                b"cont" { b"ent\":" => Content }
                b"reas" { b"oning_content\":" => ReasoningContent, b"oning\":" => Reasoning }
                b"refu" { b"sal\":" => Refusal }
                b"tool" { b"_calls\":" => ToolCalls }
            );
            let place = match key {
                Key::Role => (delta::ROLE, Expect::TEXT),
                Key::Content => {
                    if self.steps.peek() == b'[' {
                        let span = self.aside(|work| work.content_parts());
                        self.place(&mut into.spans, delta::CONTENT, span);
                        more = self.more_members();
                        continue;
                    }
                    (delta::CONTENT, Expect::TEXT)
                }
                Key::Refusal => (delta::REFUSAL, Expect::TEXT),
                Key::ReasoningContent => (delta::REASONING_CONTENT, Expect::TEXT),
                Key::Reasoning => (delta::REASONING, Expect::TEXT),
                Key::ReasoningDetails => {
                    self.aside(|work| work.note_other());
                    (delta::REASONING_DETAILS, Expect::ANY)
                }
                Key::Thinking => (delta::THINKING, Expect::ANY),
                Key::Thought => (delta::THOUGHT, Expect::ANY),
                Key::FunctionCall => (delta::FUNCTION_CALL, Expect::FUNCTION),
                Key::ToolCalls => {
                    into.no_calls();
                    if self.steps.peek() == b'[' {
                        self.aside(|work| work.tool_calls(into));
                        more = self.more_members();
                        continue;
                    }
                    (delta::TOOL_CALLS, Expect::LIST)
                }
                Key::Audio => (delta::AUDIO, Expect::ANY),
                Key::Annotations => (delta::ANNOTATIONS, Expect::ANY),
                _ => UNKNOWN,
            };
            let Some(read) = self.read() else {
                if place == UNKNOWN {
                    break;
                }
                return None;
            };
            self.put(&mut into.spans, place, read);
            more = self.more_members();
        }
        Some(())
    }

    /// Walks an array of content parts, and flags those of an unknown type.
    #[inline(never)]
    fn content_parts(&mut self) -> Span {
        let start = self.steps.offset();
        let mut more = self.enter_array();
        while more {
            let Some(read) = self.read() else { break };
            let known = match read.kind {
                Kinds::STRING => true,
                Kinds::OBJECT => part_type(self.value_of(read)).is_some(),
                _ => false,
            };
            self.flag(!known, Quirk::UnknownContentPart);
            more = self.more_elements();
        }
        self.span_from(start)
    }

    #[inline(never)]
    fn tool_calls(&mut self, into: &mut DeltaIndex) {
        self.aside(|work| {
            let start = work.steps.offset();
            let mut more = work.enter_array();
            while more {
                let mut call = CallIndex::EMPTY;
                work.call(&mut call);
                if into.calls == 0 {
                    work.first_call(&call, into);
                }
                into.calls = into.calls.saturating_add(1);
                more = work.more_elements();
            }
            let span = work.span_from(start);
            work.place(&mut into.spans, delta::TOOL_CALLS, span);
        });
    }

    /// Notes what a list of deltas needs to know of the first call.
    #[inline]
    fn first_call(&self, call: &CallIndex, into: &mut DeltaIndex) {
        /// What a fragment of arguments may have, beside an ID and a type that are null.
        const PLAIN: u32 = 1 << call::INDEX | 1 << call::FUNCTION | 1 << call::ARGUMENTS | 1 << call::WHOLE;
        let value = |member| call.get(member).map(|span| self.value(span));
        let index = value(call::INDEX).and_then(index_number);
        let says = |member| value(member).and_then(text_of).is_some();
        let is_bare = call.mask() & !PLAIN == 0
            || !says(call::ID) && !says(call::TYPE) && !says(call::NAME) && !call.has(call::CUSTOM);
        let arguments = call.get(call::ARGUMENTS);
        let string = arguments.filter(|span| self.first_byte(*span) == Some(b'"'));
        let no_other = arguments.is_none_or(|span| matches!(self.first_byte(span), Some(b'"' | b'n')));
        into.is_fragment = is_bare && no_other && index.is_some();
        into.call_index = index.unwrap_or(0);
        into.arguments = string.unwrap_or_default();
    }

    /// Walks one tool call.
    #[inline(always)]
    fn call(&mut self, into: &mut CallIndex) -> Option<()> {
        into.clear();
        if self.steps.peek() != b'{' {
            self.notes.quirks.insert(Quirk::OddType);
            self.read();
            return Some(());
        }
        let start = self.steps.offset();
        let mut more = self.enter_object();
        while more {
            let key = next_key!(self,
                b"inde" { b"x\":" => Index }
                b"id\":" { b"" => Id }
                b"type" { b"\":" => Type }
                b"func" { b"tion\":" => Function }
            );
            let place = match key {
                Key::Index => {
                    if self.integer(into, call::INDEX) {
                        more = self.more_members();
                        continue;
                    }
                    (call::INDEX, Expect::INDEX)
                }
                Key::Id => (call::ID, Expect::TEXT),
                Key::Type => (call::TYPE, Expect::TEXT),
                Key::Function | Key::Custom => {
                    let function = key == Key::Function;
                    let member = if function { call::FUNCTION } else { call::CUSTOM };
                    if into.get(member).is_some() {
                        // The member is there twice: the first does not count.
                        into.unset(call::NAME);
                        into.unset(call::ARGUMENTS);
                    }
                    if self.steps.peek() == b'{' {
                        self.tool(into, member, if function { Key::Arguments } else { Key::Input });
                        more = self.more_members();
                        continue;
                    }
                    (member, Expect::OBJECT)
                }
                _ => UNKNOWN,
            };
            let Some(read) = self.read() else {
                if place == UNKNOWN || matches!(key, Key::Function | Key::Custom) {
                    break;
                }
                return None;
            };
            self.put(into, place, read);
            more = self.more_members();
        }
        let span = self.span_from(start);
        into.set(call::WHOLE, span);
        Some(())
    }

    /// The `function` or `custom` object of a tool call: its name and what goes in.
    #[inline(always)]
    fn tool(&mut self, into: &mut CallIndex, member: usize, input: Key) -> Option<()> {
        let start = self.steps.offset();
        let mut more = self.enter_object();
        while more {
            let key = next_key!(self,
                b"argu" { b"ments\":" => Arguments }
                b"name" { b"\":" => Name }
            );
            let place = if key == Key::Name {
                (call::NAME, Expect::TEXT)
            } else if key == input {
                (call::ARGUMENTS, Expect::ARGUMENTS)
            } else {
                UNKNOWN
            };
            let Some(read) = self.read() else {
                if place == UNKNOWN {
                    break;
                }
                return None;
            };
            self.put(into, place, read);
            more = self.more_members();
        }
        let span = self.span_from(start);
        self.place(into, member, span);
        Some(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    extern crate std;
    use super::*;
    use std::{format, string::String, vec::Vec};

    /// The values that an index has in its payload, whitespace inside them apart.
    fn values(payload: &str) -> (Vec<String>, String) {
        let mut index = Index::new();
        let (end, seen) = walk(&mut index, payload.as_bytes(), 128).unwrap();
        assert_eq!(end, payload.trim_end().len());
        let mut values = Vec::new();
        let mut add = |level: &str, member: usize, span: Option<Span>| {
            let Some(span) = span else { return };
            let raw: String = payload[span.start as usize..span.end as usize].split(' ').collect();
            values.push(format!("{level} {member} {raw} {}", span.flags));
        };
        (0..top::COUNT).for_each(|member| add("top", member, index.top.get(member)));
        (0..choice::COUNT).for_each(|member| add("choice", member, index.first.spans.get(member)));
        (0..delta::COUNT).for_each(|member| add("delta", member, index.first.delta.spans.get(member)));
        add("arguments", 0, Some(index.first.delta.arguments));
        let rest = format!("{:?} {seen:?} {:?}", index.quirks, index.facts);
        (values, rest)
    }

    #[test]
    fn the_short_ways_say_what_the_long_ones_do() {
        let mut seen = 0;
        for (content, index, reason) in
            [("\"Hi\"", "0", "null"), ("\"\\\"é\"", "17", "\"stop\""), ("null", "-1", "\"None\""), ("7", "\"1\"", "{}")]
        {
            let payload = format!(
                "{{\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"created\":1750000000,\"model\":\"m\",\
                 \"service_tier\":\"default\",\"system_fingerprint\":\"fp_0123456789\",\"provider\":{{}},\
                 \"choices\":[{{\"index\":{index},\"delta\":{{\"role\":\"assistant\",\"content\":{content},\
                 \"reasoning\":null,\"reasoning_content\":\"r\",\"refusal\":null,\"tool_calls\":[{{\"index\":{index},\
                 \"id\":\"call\",\"type\":\"function\",\"function\":{{\"name\":\"n\",\"arguments\":{content}}}}}]}},\
                 \"logprobs\":{{\"content\":[[]]}},\"finish_reason\":{reason},\"native_finish_reason\":\"x\"}},\
                 {{\"index\":{index},\"delta\":{{}}}}],\"usage\":null,\"obfuscation\":\"abc\"}}"
            );
            let due = values(&payload);
            seen += due.0.len();
            // A space at each place where one may be, one place after the other.
            let (mut inside, mut escaped, mut places) = (false, false, 0);
            for (at, byte) in payload.bytes().enumerate() {
                let between = !inside && matches!(byte, b',' | b':' | b'{' | b'}' | b'[' | b']');
                (inside, escaped) = (inside ^ (byte == b'"' && !escaped), byte == b'\\' && !escaped);
                if between {
                    places += 1;
                    let spaced = format!("{} {} {}", &payload[..at], char::from(byte), &payload[at + 1..]);
                    let (found, due) = (values(&spaced), &due);
                    assert_eq!(&found, due, "{spaced}");
                }
            }
            assert!(places > 70, "{places}");
            // Each name with its first letter escaped; it is flagged nowhere.
            for (at, _) in payload.match_indices("\":") {
                let start = payload[..at].rfind('"').unwrap() + 1;
                let code = payload.as_bytes()[start];
                let spelt = format!("{}\\u{code:04x}{}", &payload[..start], &payload[start + 1..]);
                let (found, rest) = values(&spelt);
                assert_eq!((found.len(), &rest), (due.0.len(), &due.1), "{spelt}");
            }
        }
        assert!(seen > 80, "{seen}");
    }
}
