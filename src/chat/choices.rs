//! The walks of one choice, of its delta, and of its tool calls. The pass over a payload uses them. Views and the
//! cursor use them again for values whose spans the index does not store.

use super::expect::{Expect, MemberRule};
use super::index::{call, choice, delta, CallIndex, ChoiceIndex, DeltaIndex, Spans, ValueSpan};
use super::key::Key;
use super::parts::{has_odd_text, part_type};
use super::scalar::text_of;
use super::work::{next_key, span, Notes, Work, UNKNOWN};
use crate::dialect::{has_unknown_text, index_number};
use crate::json::{Before, Steps, ValueKinds};
use crate::Quirk;

/// Walks from `offset` once more, through a value that the pass over the chunk has already read.
fn again<'a, T>(payload: &'a [u8], offset: usize, walk: impl FnOnce(&mut Work<'a, '_>) -> T) -> T {
    walk(&mut Work { steps: Steps::new(payload, offset, u32::MAX), notes: &mut Notes::default() })
}

/// Walks the delta or the message that begins at `start`. Returns `None` if a message is malformed: the pass only skips
/// it, and the members that a walk would find must not depend on the bytes after the message.
pub(crate) fn delta_at(payload: &[u8], start: usize) -> Option<DeltaIndex> {
    let mut fields = DeltaIndex::EMPTY;
    again(payload, start, |work| {
        work.delta(&mut fields)?;
        work.notes.fault.is_none().then_some(())
    })?;
    Some(fields)
}

/// Walks the next call of the array at `start`: the first call if `offset` is 0, and otherwise the call after the one
/// that ended at `offset`. An object in the place of the array is the only call (TGI). Returns the offset at which the
/// call ends, or `None` if there is no further call.
pub(crate) fn next_call(payload: &[u8], start: usize, offset: usize, into: &mut CallIndex) -> Option<usize> {
    again(payload, if offset == 0 { start } else { offset }, |work| {
        let comes = match payload.get(start) {
            Some(b'{') => offset == 0,
            _ if offset == 0 => work.enter_array(),
            _ => work.more_elements(),
        };
        if !comes {
            return None;
        }
        work.call(into)?;
        Some(work.steps.offset())
    })
}

/// A choice that was walked by itself, and its offsets in the payload.
pub(crate) struct Further {
    pub(crate) fields: ChoiceIndex,
    pub(crate) number: u32,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// Walks the choice after the one that ends at `offset`. `place` is its place in the array.
#[inline(never)]
pub(crate) fn further_choice(payload: &[u8], offset: usize, place: u32) -> Option<Further> {
    let start = again(payload, offset, |work| work.more_elements().then(|| work.steps.offset()))?;
    choice_at(payload, start, place)
}

/// Walks the choice that begins at `start`. `place` is its place in the array.
#[inline(never)]
pub(crate) fn choice_at(payload: &[u8], start: usize, place: u32) -> Option<Further> {
    again(payload, start, |work| {
        let mut fields = ChoiceIndex::EMPTY;
        work.choice(&mut fields)?;
        Some(Further { number: work.index_of(&fields, place), fields, start, end: work.steps.offset() })
    })
}

impl Work<'_, '_> {
    /// Returns the index of a choice. Without an `index`, a choice of a body (one that has no delta) counts by its place
    /// in the array, and any other choice is choice 0.
    #[inline(always)]
    pub(super) fn index_of(&self, choice: &ChoiceIndex, place: u32) -> u32 {
        let sent = choice.spans.get(choice::INDEX).and_then(|span| self.number_at(span));
        let delta = || choice.spans.get(choice::DELTA).and_then(|span| self.first_byte(span));
        sent.unwrap_or_else(|| if delta() == Some(b'{') { 0 } else { place })
    }

    /// Returns the value as an index, which nearly always is one digit.
    #[inline(always)]
    fn number_at(&self, span: ValueSpan) -> Option<u32> {
        match self.first_byte(span) {
            Some(digit @ b'0'..=b'9') if span.end == span.start.wrapping_add(1) => Some(u32::from(digit - b'0')),
            _ => index_number(self.value(span)),
        }
    }

    /// Walks the choice that nearly every chunk has: an index, a delta that is one text or one fragment of a call's
    /// arguments, and nulls. Compares everything but the text with the usual bytes. Returns the index of the choice.
    /// For any other choice, passes nothing and returns `None`.
    #[inline(always)]
    pub(super) fn usual_choice(&mut self, into: &mut ChoiceIndex) -> Option<u32> {
        let ChoiceIndex { spans, delta } = into;
        let mut work = Work { steps: self.steps, notes: self.notes };
        let start = work.steps.offset();
        // The function of a tool call lies four levels below the choice.
        if work.steps.levels() < 5 || !work.steps.descend_here(b'{') || !work.steps.take(b"{\"index\":") {
            return None;
        }
        let at = work.steps.offset();
        let index = work.steps.digit()?;
        work.store(spans, choice::INDEX, work.span_from(at));
        if !work.steps.take(b",\"delta\":") {
            return None;
        }
        let at = work.steps.offset();
        if work.steps.take(b"{\"content\":") {
            work.string(&mut delta.spans, delta::CONTENT)?;
        } else if work.steps.take(b"{\"tool_calls\":") {
            work.fragment(delta)?;
        } else if work.steps.take(b"{\"reasoning_content\":") {
            work.string(&mut delta.spans, delta::REASONING_CONTENT)?;
        } else {
            return None;
        }
        if !work.steps.take(b"}") {
            return None;
        }
        work.store(spans, choice::DELTA, work.span_from(at));
        work.usual_null(spans, b",\"logprobs\":null", choice::LOGPROBS);
        work.usual_null(spans, b",\"finish_reason\":null", choice::FINISH_REASON);
        let is_whole = work.steps.close(b'}') || {
            // vLLM sends these, too. The index stores neither, and a null has no effect.
            let _ = work.steps.take(b",\"stop_reason\":null") && work.steps.take(b",\"token_ids\":null");
            work.steps.close(b'}')
        };
        if !is_whole {
            return None;
        }
        spans.set(choice::ITSELF, work.span_from(start));
        self.steps.go_to(work.steps);
        Some(index)
    }

    /// Reads an array of tool calls that is one fragment of arguments. Returns `None` for any other value.
    #[inline(always)]
    fn fragment(&mut self, into: &mut DeltaIndex) -> Option<()> {
        let start = self.steps.offset();
        if !self.steps.take(b"[{\"index\":") {
            return None;
        }
        into.call_index = self.steps.digit()?;
        if !self.steps.take(b",\"function\":{\"arguments\":") {
            return None;
        }
        into.arguments = span(self.steps.string_value()?);
        if !self.steps.take(b"}}]") {
            return None;
        }
        (into.calls, into.is_fragment) = (1, true);
        self.store(&mut into.spans, delta::TOOL_CALLS, self.span_from(start));
        Some(())
    }

    /// Reads the next value if it is a string, and stores its span.
    #[inline(always)]
    fn string(&mut self, spans: &mut Spans<{ delta::COUNT }>, member: usize) -> Option<()> {
        let read = self.steps.string_value()?;
        self.store(spans, member, span(read));
        Some(())
    }

    /// Passes a member that is nearly always null, if it comes next and is null. `member` is a comma, the name of the
    /// member and `null`.
    #[inline(always)]
    fn usual_null(&mut self, spans: &mut Spans<{ choice::COUNT }>, member: &[u8], number: usize) {
        if self.steps.take(member) {
            self.store(spans, number, self.span_from(self.steps.offset().wrapping_sub(b"null".len())));
        }
    }

    /// Enters the next element of a list of objects. Returns the offset at which the element begins, and the byte
    /// before its first name. If the element is no object, skips it, flags it, and returns `None`.
    #[inline(always)]
    fn enter_element(&mut self) -> Option<(usize, Before)> {
        if self.steps.peek() != b'{' {
            self.notes.quirks.insert(Quirk::OddType);
            self.read();
            return None;
        }
        Some((self.steps.offset(), self.enter_object()))
    }

    /// Walks one choice. Out of line, as `call` is: these walks are long, and each has several callers.
    #[inline(never)]
    pub(super) fn choice(&mut self, into: &mut ChoiceIndex) -> Option<()> {
        self.aside(|work| work.members_of_choice(into))
    }

    #[inline(always)]
    fn members_of_choice(&mut self, into: &mut ChoiceIndex) -> Option<()> {
        into.clear();
        let Some((start, mut before)) = self.enter_element() else { return Some(()) };
        loop {
            let key = next_key!(self, before,
                b"inde" { b"x\":" => Index }
                b"delt" { b"a\":" => Delta }
                b"logp" { b"robs\":" => Logprobs }
                b"fini" { b"sh_reason\":" => FinishReason }
                b"text" { b"\":" => Text }
                b"stop" { b"_reason\":" => Unknown }
                b"toke" { b"n_ids\":" => Unknown }
                b"nati" { b"ve_finish_reason\":" => NativeFinishReason }
            );
            let rule = match key {
                Key::Index => {
                    if self.integer(&mut into.spans, choice::INDEX) {
                        continue;
                    }
                    MemberRule::new(choice::INDEX, Expect::INDEX)
                }
                Key::Delta => {
                    into.delta.clear();
                    if self.steps.peek() == b'{' {
                        let from = self.steps.offset();
                        self.members_of_delta(&mut into.delta);
                        let span = self.span_from(from);
                        self.store(&mut into.spans, choice::DELTA, span);
                        continue;
                    }
                    MemberRule::new(choice::DELTA, Expect::OBJECT)
                }
                Key::Message => {
                    // The pass does not walk the members of a message.
                    self.aside(|work| work.note_other());
                    MemberRule::new(choice::MESSAGE, Expect::OBJECT)
                }
                Key::Text => MemberRule::new(choice::TEXT, Expect::TEXT),
                Key::FinishReason => MemberRule::new(choice::FINISH_REASON, Expect::REASON),
                Key::FinishCamel => MemberRule::new(choice::FINISH_CAMEL, Expect::TEXT),
                Key::NativeFinishReason => MemberRule::new(choice::NATIVE_FINISH_REASON, Expect::ANY),
                Key::Logprobs => MemberRule::new(choice::LOGPROBS, Expect::OBJECT),
                Key::Error => MemberRule::new(choice::ERROR, Expect::ERROR),
                Key::ProviderFields => {
                    self.aside(|work| work.note_other());
                    MemberRule::new(choice::PROVIDER_FIELDS, Expect::ANY)
                }
                Key::Usage => {
                    self.notes.has_rare |= self.steps.peek() == b'{';
                    UNKNOWN
                }
                _ => UNKNOWN,
            };
            self.member(&mut into.spans, rule)?;
        }
        let index = into.spans.get(choice::INDEX).and_then(|span| self.first_byte(span));
        self.flag(index.is_none() || index == Some(b'n'), Quirk::MissingChoiceIndex);
        if let Some(message) = into.spans.get(choice::MESSAGE) {
            self.aside(|work| work.judge_message(into, message));
        }
        let span = self.span_from(start);
        into.spans.set(choice::ITSELF, span);
        Some(())
    }

    /// Flags the values in the message of a choice without a delta: the pass only skips it. Members that only deltas need,
    /// such as the index of a call, are no quirk if they are missing. A malformed message makes the payload malformed, as a
    /// malformed delta does.
    #[cold]
    #[inline(never)]
    fn judge_message(&mut self, choice: &ChoiceIndex, message: ValueSpan) {
        let first = |span: Option<ValueSpan>| span.and_then(|span| self.first_byte(span));
        if first(choice.spans.get(choice::DELTA)) == Some(b'{') || first(Some(message)) != Some(b'{') {
            return;
        }
        let (mut notes, mut fields) = (Notes::default(), DeltaIndex::EMPTY);
        let steps = Steps::new(self.steps.bytes(), message.start as usize, u32::MAX);
        Work { steps, notes: &mut notes }.delta(&mut fields);
        let of_values = [Quirk::OddType, Quirk::NoneString, Quirk::ArgumentsNotText].into_iter().collect();
        self.notes.quirks |= notes.quirks.and(of_values);
        self.notes.fault = self.notes.fault.or(notes.fault);
    }

    /// Walks a delta or a message by itself, out of line.
    #[inline(never)]
    fn delta(&mut self, into: &mut DeltaIndex) -> Option<()> {
        self.aside(|work| work.members_of_delta(into))
    }

    #[inline(always)]
    fn members_of_delta(&mut self, into: &mut DeltaIndex) -> Option<()> {
        into.clear();
        let start = self.steps.offset();
        let (mut before, mut may_be_text) = (self.enter_object(), false);
        loop {
            let key = next_key!(self, before,
                b"role" { b"\":" => Role }
                b"cont" { b"ent\":" => Content }
                b"reas" { b"oning_content\":" => ReasoningContent, b"oning\":" => Reasoning, b"oning_text\":" => ReasoningText }
                b"refu" { b"sal\":" => Refusal }
                b"tool" { b"_calls\":" => ToolCalls }
            );
            let rule = match key {
                Key::Role => MemberRule::new(delta::ROLE, Expect::TEXT),
                Key::Content => {
                    if self.steps.peek() == b'[' {
                        let span = self.aside(|work| work.content_parts());
                        self.store(&mut into.spans, delta::CONTENT, span);
                        continue;
                    }
                    MemberRule::new(delta::CONTENT, Expect::TEXT)
                }
                Key::Refusal => MemberRule::new(delta::REFUSAL, Expect::TEXT),
                Key::ReasoningContent => MemberRule::new(delta::REASONING_CONTENT, Expect::TEXT),
                Key::Reasoning => MemberRule::new(delta::REASONING, Expect::TEXT),
                Key::ReasoningDetails => {
                    self.aside(|work| work.note_other());
                    MemberRule::new(delta::REASONING_DETAILS, Expect::ANY)
                }
                Key::Thinking => MemberRule::new(delta::THINKING, Expect::ANY),
                Key::Thought => MemberRule::new(delta::THOUGHT, Expect::ANY),
                Key::ReasoningText => MemberRule::new(delta::REASONING_TEXT, Expect::ANY),
                Key::FunctionCall => MemberRule::new(delta::FUNCTION_CALL, Expect::FUNCTION),
                Key::ToolCalls => {
                    into.no_calls();
                    if matches!(self.steps.peek(), b'[' | b'{') {
                        self.aside(|work| work.tool_calls(into));
                        continue;
                    }
                    MemberRule::new(delta::TOOL_CALLS, Expect::LIST)
                }
                Key::Audio => MemberRule::new(delta::AUDIO, Expect::ANY),
                Key::Annotations => MemberRule::new(delta::ANNOTATIONS, Expect::ANY),
                Key::Obfuscation => UNKNOWN,
                _ => {
                    may_be_text |= matches!(self.steps.peek(), b'"' | b'[');
                    UNKNOWN
                }
            };
            self.member(&mut into.spans, rule)?;
        }
        if may_be_text {
            let span = self.span_from(start);
            self.aside(|work| work.judge_unknown_text(into, span));
        }
        Some(())
    }

    /// Flags a delta whose only text is in an unknown member: its known members, but for the role, are null or empty
    /// strings.
    #[inline(never)]
    fn judge_unknown_text(&mut self, delta: &DeltaIndex, span: ValueSpan) {
        let says_nothing = |span: ValueSpan| matches!(span.bytes(self.steps.bytes()), [b'n', ..] | [b'"', b'"']);
        let others = (0..delta::COUNT).filter(|member| *member != delta::ROLE);
        let nothing = others.filter_map(|member| delta.spans.get(member)).all(says_nothing);
        self.flag(nothing && has_unknown_text(self.value(span), ""), Quirk::UnknownText);
    }

    /// Walks an array of content parts, and flags those of an unknown type.
    #[inline(never)]
    fn content_parts(&mut self) -> ValueSpan {
        let start = self.steps.offset();
        let mut more = self.enter_array();
        while more {
            let Some(read) = self.read() else { break };
            let known = match read.kind {
                ValueKinds::STRING => true,
                ValueKinds::OBJECT => {
                    let part = self.value_of(read);
                    self.flag(has_odd_text(part), Quirk::OddType);
                    part_type(part).is_some()
                }
                _ => false,
            };
            self.flag(!known, Quirk::UnknownContentPart);
            more = self.more_elements();
        }
        self.span_from(start)
    }

    /// Walks an array of tool calls, or a call in the place of the array, which is flagged.
    #[inline(never)]
    fn tool_calls(&mut self, into: &mut DeltaIndex) {
        let start = self.steps.offset();
        let is_lone = self.steps.peek() == b'{';
        self.flag(is_lone, Quirk::OddType);
        let mut more = is_lone || self.enter_array();
        while more {
            let mut call = CallIndex::EMPTY;
            self.call(&mut call);
            if into.calls == 0 {
                self.first_call(&call, into);
            }
            into.calls = into.calls.saturating_add(1);
            more = !is_lone && self.more_elements();
        }
        let span = self.span_from(start);
        self.store(&mut into.spans, delta::TOOL_CALLS, span);
    }

    /// Notes what the list of deltas needs from the first call.
    #[inline]
    fn first_call(&self, call: &CallIndex, into: &mut DeltaIndex) {
        /// The members that a fragment of arguments may have, apart from an ID and a type that are null.
        const BARE: u32 = 1 << call::INDEX | 1 << call::FUNCTION | 1 << call::ARGUMENTS | 1 << call::ITSELF;
        let value = |member| call.get(member).map(|span| self.value(span));
        let index = call.get(call::INDEX).and_then(|span| self.number_at(span));
        let has_text = |member| value(member).and_then(text_of).is_some();
        let is_bare = call.mask() & !BARE == 0
            || ![call::ID, call::TYPE, call::NAME].into_iter().any(has_text)
                && !call.has(call::CUSTOM)
                && !call.has(call::OTHERS);
        let arguments = call.get(call::ARGUMENTS);
        let string = arguments.filter(|span| self.first_byte(*span) == Some(b'"'));
        let no_other = arguments.is_none_or(|span| matches!(self.first_byte(span), Some(b'"' | b'n')));
        into.is_fragment = is_bare && no_other && index.is_some();
        into.call_index = index.unwrap_or(0);
        into.arguments = string.unwrap_or_default();
    }

    /// Walks one tool call.
    #[inline(never)]
    fn call(&mut self, into: &mut CallIndex) -> Option<()> {
        self.aside(|work| work.members_of_call(into))
    }

    #[inline(always)]
    fn members_of_call(&mut self, into: &mut CallIndex) -> Option<()> {
        into.clear();
        let Some((start, mut before)) = self.enter_element() else { return Some(()) };
        let mut has_unknown_text = false;
        loop {
            let key = next_key!(self, before,
                b"inde" { b"x\":" => Index }
                b"id\":" { b"" => Id }
                b"type" { b"\":" => Type }
                b"func" { b"tion\":" => Function }
            );
            let rule = match key {
                Key::Index => {
                    if self.integer(into, call::INDEX) {
                        continue;
                    }
                    MemberRule::new(call::INDEX, Expect::INDEX)
                }
                Key::Id => MemberRule::new(call::ID, Expect::REASON),
                Key::Type => MemberRule::new(call::TYPE, Expect::TEXT),
                Key::Function | Key::Custom => {
                    let function = key == Key::Function;
                    let member = if function { call::FUNCTION } else { call::CUSTOM };
                    if into.get(member).is_some() {
                        // The object has this member twice. The first one does not count.
                        into.unset(call::NAME);
                        into.unset(call::ARGUMENTS);
                    }
                    if self.steps.peek() == b'{' {
                        self.tool(into, member, if function { Key::Arguments } else { Key::Input });
                        continue;
                    }
                    MemberRule::new(member, Expect::OBJECT)
                }
                Key::Name | Key::Arguments | Key::Input => {
                    has_unknown_text |= self.steps.peek() == b'"';
                    self.other_of_call(into)
                }
                _ => self.other_of_call(into),
            };
            self.member(into, rule)?;
        }
        // A name and arguments beside an object that has none: nobody would run that call.
        let has_own = into.has(call::NAME) || into.has(call::ARGUMENTS);
        self.flag(has_unknown_text && !has_own, Quirk::UnknownText);
        let span = self.span_from(start);
        into.set(call::ITSELF, span);
        Some(())
    }

    /// Returns [`UNKNOWN`] for a member of a tool call that the index does not store. Notes the member unless it is
    /// null.
    #[inline]
    fn other_of_call(&mut self, into: &mut CallIndex) -> MemberRule {
        if self.steps.peek() != b'n' {
            into.mark(call::OTHERS);
        }
        UNKNOWN
    }

    /// Walks the `function` or `custom` object of a tool call: its name, and its arguments or input.
    #[inline(always)]
    fn tool(&mut self, into: &mut CallIndex, member: usize, input: Key) -> Option<()> {
        let start = self.steps.offset();
        let mut before = self.enter_object();
        loop {
            let key = next_key!(self, before,
                b"argu" { b"ments\":" => Arguments }
                b"name" { b"\":" => Name }
            );
            let rule = if key == Key::Name {
                MemberRule::new(call::NAME, Expect::TEXT)
            } else if key == input {
                MemberRule::new(call::ARGUMENTS, Expect::ARGUMENTS)
            } else {
                self.other_of_call(into)
            };
            self.member(into, rule)?;
        }
        let span = self.span_from(start);
        self.store(into, member, span);
        Some(())
    }
}
