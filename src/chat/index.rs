//! The one pass over a payload: where the members that a chunk is known for lie.
//!
//! The pass enters the top level, the choices, their deltas and their tool calls, checks the member grammar of each
//! level that it enters, and keeps the spans of the top level, of the first choice and of its first tool call. Further
//! choices and calls are looked over for quirks and finish reasons only; a view walks them when it is asked for.
//! Nothing is unescaped, no number is parsed beyond an index, no UTF-8 is checked.
//!
//! A span is (segment, start, length). Segments let a remembered index serve an event of the same shape whose parts
//! have moved: then only their bases are new. A fresh pass puts everything in segment 0, whose base is 0.

use crate::json::{Cursor, JsonError, Kind, Read, Text, TextFlags, Value};
use crate::{Quirk, QuirkSet};

/// Where a value lies in its payload.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Span {
    start: u32,
    len: u32,
    segment: u8,
    /// What is known of a string ([`TextFlags`]).
    flags: u8,
}

/// The spans of one level, by the number of the member.
#[derive(Clone, Debug)]
pub(crate) struct Spans<const N: usize> {
    present: u32,
    spans: [Span; N],
}

impl<const N: usize> Spans<N> {
    pub(crate) const EMPTY: Self = Spans { present: 0, spans: [Span { start: 0, len: 0, segment: 0, flags: 0 }; N] };

    fn clear(&mut self) {
        self.present = 0;
    }

    /// Says whether the member was there before.
    fn set(&mut self, member: usize, span: Span) -> bool {
        if let Some(slot) = self.spans.get_mut(member) {
            *slot = span;
        }
        let bit = 1u32 << (member & 31);
        let before = self.present & bit != 0;
        self.present |= bit;
        before
    }

    /// Whether any of these members is there.
    #[inline]
    pub(crate) fn any(&self, members: &[usize]) -> bool {
        let bits = members.iter().fold(0, |bits, member| bits | 1u32 << (member & 31));
        self.present & bits != 0
    }

    #[inline]
    fn get(&self, member: usize) -> Option<Span> {
        if self.present >> (member & 31) & 1 == 0 {
            return None;
        }
        self.spans.get(member).copied()
    }
}

/// Members of the top level.
pub(crate) mod top {
    pub(crate) const ID: usize = 0;
    pub(crate) const OBJECT: usize = 1;
    pub(crate) const CREATED: usize = 2;
    pub(crate) const MODEL: usize = 3;
    pub(crate) const SYSTEM_FINGERPRINT: usize = 4;
    pub(crate) const SERVICE_TIER: usize = 5;
    pub(crate) const PROVIDER: usize = 6;
    pub(crate) const CHOICES: usize = 7;
    pub(crate) const USAGE: usize = 8;
    pub(crate) const ERROR: usize = 9;
    pub(crate) const TYPE: usize = 10;
    pub(crate) const DETAIL: usize = 11;
    pub(crate) const X_GROQ: usize = 12;
    pub(crate) const COUNT: usize = 13;
}

/// Members of a choice.
pub(crate) mod choice {
    pub(crate) const INDEX: usize = 0;
    pub(crate) const DELTA: usize = 1;
    pub(crate) const MESSAGE: usize = 2;
    pub(crate) const TEXT: usize = 3;
    pub(crate) const FINISH_REASON: usize = 4;
    pub(crate) const NATIVE_FINISH_REASON: usize = 5;
    pub(crate) const LOGPROBS: usize = 6;
    pub(crate) const ERROR: usize = 7;
    pub(crate) const PROVIDER_FIELDS: usize = 8;
    pub(crate) const WHOLE: usize = 9;
    pub(crate) const COUNT: usize = 10;
}

/// Members of a delta or a message.
pub(crate) mod delta {
    pub(crate) const ROLE: usize = 0;
    pub(crate) const CONTENT: usize = 1;
    pub(crate) const REFUSAL: usize = 2;
    pub(crate) const REASONING_CONTENT: usize = 3;
    pub(crate) const REASONING: usize = 4;
    pub(crate) const REASONING_DETAILS: usize = 5;
    pub(crate) const THINKING: usize = 6;
    pub(crate) const THOUGHT: usize = 7;
    pub(crate) const FUNCTION_CALL: usize = 8;
    pub(crate) const TOOL_CALLS: usize = 9;
    pub(crate) const AUDIO: usize = 10;
    pub(crate) const COUNT: usize = 11;
}

/// Members of a tool call, its function's name and arguments (or its custom tool's name and input) among them.
pub(crate) mod call {
    pub(crate) const INDEX: usize = 0;
    pub(crate) const ID: usize = 1;
    pub(crate) const TYPE: usize = 2;
    pub(crate) const FUNCTION: usize = 3;
    pub(crate) const CUSTOM: usize = 4;
    pub(crate) const NAME: usize = 5;
    pub(crate) const ARGUMENTS: usize = 6;
    pub(crate) const WHOLE: usize = 7;
    pub(crate) const COUNT: usize = 8;
}

/// The spans of a tool call.
pub(crate) type CallIndex = Spans<{ call::COUNT }>;

/// The spans of a delta or a message and of its first tool call.
#[derive(Clone, Debug)]
pub(crate) struct DeltaIndex {
    pub(crate) spans: Spans<{ delta::COUNT }>,
    /// Its first tool call.
    pub(crate) call: CallIndex,
    /// How many tool calls there are.
    pub(crate) calls: u32,
}

impl DeltaIndex {
    pub(crate) const EMPTY: Self = DeltaIndex { spans: Spans::EMPTY, call: Spans::EMPTY, calls: 0 };

    fn clear(&mut self) {
        self.spans.clear();
        self.call.clear();
        self.calls = 0;
    }
}

/// The spans of a choice.
#[derive(Clone, Debug)]
pub(crate) struct ChoiceIndex {
    pub(crate) spans: Spans<{ choice::COUNT }>,
    pub(crate) delta: DeltaIndex,
}

impl ChoiceIndex {
    pub(crate) const EMPTY: Self = ChoiceIndex { spans: Spans::EMPTY, delta: DeltaIndex::EMPTY };

    fn clear(&mut self) {
        self.spans.clear();
        self.delta.clear();
    }
}

/// What an event says about itself besides its payload: an error event need not look like one inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) enum Hint {
    #[default]
    None,
    /// The event is named `error`, or its payload came in a field named `error`.
    Error,
}

/// Segments that an index can have.
pub(crate) const SEGMENTS: usize = 8;

/// Where the members of a chunk lie in its payload: what [`Chunk::read`](super::Chunk::read) fills.
///
/// Plain data without pointers; a parser holds one inside and needs no other.
#[derive(Clone, Debug)]
pub struct Index {
    pub(crate) top: Spans<{ top::COUNT }>,
    pub(crate) first: ChoiceIndex,
    pub(crate) bases: [u32; SEGMENTS],
    /// How many choices there are.
    pub(crate) choices: u32,
    pub(crate) quirks: QuirkSet,
    /// Choices by index: seen, and finished. Bit 127 stands for all from 127 on.
    pub(crate) seen: u128,
    pub(crate) finished: u128,
    pub(crate) facts: Facts,
    /// Where the event lay in the stream.
    pub(crate) frame: (u64, u64),
}

/// What the pass found out about the chunk as a whole.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Facts {
    /// An error came, in any place.
    pub(crate) error: bool,
    /// The whole payload is the error.
    pub(crate) error_is_whole: bool,
    /// The payload is plain text, an error's.
    pub(crate) text: bool,
    /// A chat or completions chunk or body: it has choices, usage or a telling `object`.
    pub(crate) chat: bool,
    /// A choice has a message or text and no delta: a finished body.
    pub(crate) message: bool,
    /// One of the choices has a delta.
    pub(crate) delta: bool,
}

impl Default for Index {
    fn default() -> Self {
        Index::new()
    }
}

impl Index {
    /// An index of nothing.
    pub const fn new() -> Self {
        Index {
            top: Spans::EMPTY,
            first: ChoiceIndex::EMPTY,
            bases: [0; SEGMENTS],
            choices: 0,
            quirks: QuirkSet::EMPTY,
            seen: 0,
            finished: 0,
            facts: Facts {
                error: false,
                error_is_whole: false,
                text: false,
                chat: false,
                message: false,
                delta: false,
            },
            frame: (0, 0),
        }
    }

    pub(crate) fn clear(&mut self) {
        self.top.clear();
        self.first.clear();
        self.bases = [0; SEGMENTS];
        self.choices = 0;
        self.quirks = QuirkSet::EMPTY;
        self.seen = 0;
        self.finished = 0;
        self.facts = Facts::default();
    }

    /// Reads a payload. Gives the offset one past its JSON value: what follows it is not looked at.
    pub(crate) fn read(&mut self, payload: &[u8], hint: Hint, max_depth: u32) -> Result<usize, JsonError> {
        self.clear();
        let mut pass = Pass { cursor: Cursor::with_max_depth(payload, max_depth), quirks: QuirkSet::EMPTY };
        if pass.cursor.peek()? == Kind::Null {
            pass.cursor.value()?;
            self.quirks.insert(Quirk::NullChunk);
            return Ok(pass.cursor.offset());
        }
        pass.chunk(self)?;
        let end = pass.cursor.offset();
        self.quirks |= pass.quirks;
        self.conclude(payload, hint);
        Ok(end)
    }

    /// An error's payload that is no JSON object.
    pub(crate) fn plain_text(&mut self) {
        self.clear();
        self.facts = Facts { error: true, error_is_whole: true, text: true, ..Facts::default() };
    }

    #[inline]
    pub(crate) fn value<'a>(&self, payload: &'a [u8], span: Span) -> Value<'a> {
        let base = self.bases.get(usize::from(span.segment)).copied().unwrap_or(0);
        let start = base.wrapping_add(span.start) as usize;
        let raw = payload.get(start..start.saturating_add(span.len as usize)).unwrap_or(b"null");
        Value::from_span(raw, TextFlags::from_bits(u16::from(span.flags)))
    }

    #[inline]
    pub(crate) fn top<'a>(&self, payload: &'a [u8], member: usize) -> Option<Value<'a>> {
        self.top.get(member).map(|span| self.value(payload, span))
    }

    /// What needs more than one member to be known.
    fn conclude(&mut self, payload: &[u8], hint: Hint) {
        let is = |index: &Index, member: usize, word: &str| {
            index.top(payload, member).and_then(|value| value.as_text()).is_some_and(|text| text == word)
        };
        let object = self.top(payload, top::OBJECT).and_then(|value| value.as_text());
        let object = object.map_or(&b""[..], |text| text.raw());
        self.facts.chat = self.choices > 0
            || self.top.get(top::CHOICES).is_some()
            || self.top.get(top::USAGE).is_some()
            || object.starts_with(b"chat.completion")
            || object.starts_with(b"text_completion");
        let member = self.top(payload, top::ERROR);
        if member.is_some_and(is_error) {
            self.facts.error = true;
        } else {
            let detail = self.top(payload, top::DETAIL).is_some_and(is_error) && !self.facts.chat;
            if hint == Hint::Error || is(self, top::TYPE, "error") || object == b"error" || detail {
                self.facts.error = true;
                self.facts.error_is_whole = true;
            }
        }
    }
}

/// Whether a value in the place of an error is one: null, `""`, `"None"`, false and `{}` are not.
pub(crate) fn is_error(value: Value<'_>) -> bool {
    match value.kind() {
        Kind::Null => false,
        Kind::String => !matches!(value.raw(), b"\"\"" | b"\"None\""),
        Kind::Object => value.members().next().is_some(),
        Kind::Bool => value.as_bool() == Some(true),
        Kind::Number | Kind::Array => true,
    }
}

/// Whether the value is the string "None", which stands for null in some documentation.
pub(crate) fn is_none_string(value: Value<'_>) -> bool {
    value.raw() == b"\"None\""
}

/// A finish reason that says something.
pub(crate) fn finish_text<'a>(value: Value<'a>) -> Option<Text<'a>> {
    value.as_text().filter(|text| !text.is_empty() && !is_none_string(value))
}

/// An index as a number: negative is 0, a number in a string counts. None if there is none.
pub(crate) fn index_number(value: Value<'_>) -> Option<u32> {
    // Nearly all have one digit.
    if let [digit @ b'0'..=b'9'] = value.raw() {
        return Some(u32::from(digit.wrapping_sub(b'0')));
    }
    let parse = |number: crate::json::Number<'_>| {
        number.to_i64().map(|n| u32::try_from(n.max(0)).unwrap_or(u32::MAX)).or(Some(u32::MAX))
    };
    match value.kind() {
        Kind::Number => value.as_number().and_then(parse),
        Kind::String => {
            let inner = value.as_text()?.raw();
            if inner.is_empty() || inner.len() > 10 || !inner.iter().all(u8::is_ascii_digit) {
                return None;
            }
            let number = inner.iter().fold(0u64, |n, digit| n * 10 + u64::from(digit - b'0'));
            Some(u32::try_from(number).unwrap_or(u32::MAX))
        }
        _ => None,
    }
}

/// Whether an index is written as one: a plain integer, not negative.
fn index_is_odd(value: Value<'_>) -> bool {
    match value.kind() {
        Kind::Number => value.raw().iter().any(|byte| !byte.is_ascii_digit()),
        Kind::Null => false,
        _ => true,
    }
}

/// A member's name as its bytes, unescaped into `buffer` if it must be. Longer than any known name: empty.
#[inline]
pub(crate) fn name<'a>(key: Text<'a>, buffer: &'a mut [u8; 32]) -> &'a [u8] {
    if !key.may_be_escaped() {
        return key.raw();
    }
    unescaped_name(key, buffer)
}

#[cold]
fn unescaped_name<'a>(key: Text<'a>, buffer: &'a mut [u8; 32]) -> &'a [u8] {
    let copied = key.copy_to(buffer);
    if !copied.complete {
        return b"";
    }
    buffer.get(..copied.written).unwrap_or(b"")
}

/// The walk itself: the cursor and what it met.
pub(crate) struct Pass<'a> {
    cursor: Cursor<'a>,
    quirks: QuirkSet,
}

/// What is expected of a member's value, to flag what is not.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Expect {
    Text,
    Number,
    Object,
    Any,
}

impl<'a> Pass<'a> {
    /// A walk for one view, of a value that the pass over the chunk has been over.
    pub(crate) fn of(cursor: Cursor<'a>) -> Self {
        Pass { cursor, quirks: QuirkSet::EMPTY }
    }

    pub(crate) fn offset(&self) -> usize {
        self.cursor.offset()
    }

    /// The span of `len` bytes that end where the cursor is.
    fn span(&self, len: usize, flags: u8) -> Span {
        let start = self.cursor.offset().saturating_sub(len);
        Span { start: start as u32, len: len as u32, segment: 0, flags }
    }

    /// Reads a member's value into its place.
    fn keep<const N: usize>(
        &mut self,
        spans: &mut Spans<N>,
        member: usize,
        expect: Expect,
    ) -> Result<Value<'a>, JsonError> {
        let Read { start, first, flags } = self.cursor.read()?;
        let len = self.cursor.offset().saturating_sub(start);
        let span = Span { start: start as u32, len: len as u32, segment: 0, flags: flags.bits() as u8 };
        let value = self.value(span);
        let odd = first != b'n'
            && match expect {
                Expect::Any => false,
                Expect::Text => first != b'"',
                Expect::Number => !matches!(first, b'-' | b'0'..=b'9'),
                Expect::Object => first != b'{' && !self.none_string(value),
            };
        self.flag(odd, Quirk::OddType);
        self.place(spans, member, span);
        Ok(value)
    }

    fn place<const N: usize>(&mut self, spans: &mut Spans<N>, member: usize, span: Span) {
        let twice = spans.set(member, span);
        self.flag(twice, Quirk::DuplicateMember);
    }

    fn flag(&mut self, when: bool, quirk: Quirk) {
        if when {
            self.quirks.insert(quirk);
        }
    }

    /// Whether the value is "None"; flags it.
    fn none_string(&mut self, value: Value<'a>) -> bool {
        let none = is_none_string(value);
        self.flag(none, Quirk::NoneString);
        none
    }

    fn chunk(&mut self, index: &mut Index) -> Result<(), JsonError> {
        self.cursor.begin_object()?;
        let mut buffer = [0; 32];
        while let Some(key) = self.cursor.member()? {
            let (member, expect) = match name(key, &mut buffer) {
                b"choices" => {
                    self.choices(index)?;
                    continue;
                }
                b"id" => (top::ID, Expect::Text),
                b"object" => (top::OBJECT, Expect::Text),
                b"created" => (top::CREATED, Expect::Number),
                b"model" => (top::MODEL, Expect::Text),
                b"system_fingerprint" => (top::SYSTEM_FINGERPRINT, Expect::Text),
                b"service_tier" => (top::SERVICE_TIER, Expect::Text),
                b"provider" => (top::PROVIDER, Expect::Any),
                b"usage" => (top::USAGE, Expect::Object),
                b"error" => (top::ERROR, Expect::Any),
                b"type" => (top::TYPE, Expect::Any),
                b"detail" | b"details" => (top::DETAIL, Expect::Any),
                b"x_groq" => (top::X_GROQ, Expect::Any),
                _ => {
                    self.cursor.value()?;
                    continue;
                }
            };
            let value = self.keep(&mut index.top, member, expect)?;
            match member {
                top::CREATED => self.flag(value.raw().iter().any(|b| matches!(b, b'.' | b'e' | b'E')), Quirk::OddType),
                top::ERROR => drop(self.none_string(value)),
                _ => {}
            }
        }
        Ok(())
    }

    fn choices(&mut self, index: &mut Index) -> Result<(), JsonError> {
        let kind = self.cursor.peek()?;
        if kind != Kind::Array {
            let value = self.keep(&mut index.top, top::CHOICES, Expect::Any)?;
            self.flag(kind == Kind::Null, Quirk::NullChunk);
            let none = self.none_string(value);
            self.flag(kind != Kind::Null && !none, Quirk::OddType);
            index.first.clear();
            index.choices = 0;
            return Ok(());
        }
        let start = self.cursor.offset();
        self.cursor.begin_array()?;
        let mut others: Option<ChoiceIndex> = None;
        let mut count = 0u32;
        while self.cursor.next_element()? {
            let into = if count == 0 { &mut index.first } else { others.get_or_insert(ChoiceIndex::EMPTY) };
            self.choice(into)?;
            count = count.saturating_add(1);
            let into = if count == 1 { &index.first } else { others.as_ref().unwrap_or(&index.first) };
            if into.spans.get(choice::WHOLE).is_some() {
                self.conclude_choice(into, &mut index.seen, &mut index.finished, &mut index.facts);
            }
        }
        if count == 0 {
            index.first.clear();
        }
        index.choices = count;
        let span = self.span(self.cursor.offset().saturating_sub(start), 0);
        self.place(&mut index.top, top::CHOICES, span);
        Ok(())
    }

    fn conclude_choice(&self, into: &ChoiceIndex, seen: &mut u128, finished: &mut u128, facts: &mut Facts) {
        let value = |member| into.spans.get(member).map(|span| self.value(span));
        let number = value(choice::INDEX).and_then(index_number).unwrap_or(0);
        let bit = 1u128 << number.min(127);
        *seen |= bit;
        let finish = value(choice::FINISH_REASON).and_then(finish_text);
        if let Some(text) = finish {
            *finished |= bit;
            facts.error |= text == "error";
        }
        facts.error |= value(choice::ERROR).is_some_and(is_error);
        let has_delta = value(choice::DELTA).is_some_and(|value| value.kind() == Kind::Object);
        let has_message = value(choice::MESSAGE).is_some_and(|value| value.kind() == Kind::Object);
        facts.delta |= has_delta;
        facts.message |= !has_delta && (has_message || value(choice::TEXT).is_some());
    }

    fn value(&self, span: Span) -> Value<'a> {
        let start = span.start as usize;
        let raw = self.cursor.bytes().get(start..start.saturating_add(span.len as usize)).unwrap_or(b"null");
        Value::from_span(raw, TextFlags::from_bits(u16::from(span.flags)))
    }

    /// Walks one choice.
    pub(crate) fn choice(&mut self, into: &mut ChoiceIndex) -> Result<(), JsonError> {
        into.clear();
        if self.cursor.peek()? != Kind::Object {
            self.cursor.value()?;
            self.quirks.insert(Quirk::OddType);
            return Ok(());
        }
        let start = self.cursor.offset();
        self.cursor.begin_object()?;
        let mut buffer = [0; 32];
        while let Some(key) = self.cursor.member()? {
            let (member, expect) = match name(key, &mut buffer) {
                b"index" => (choice::INDEX, Expect::Any),
                b"delta" => {
                    if self.cursor.peek()? == Kind::Object {
                        let from = self.cursor.offset();
                        self.delta(&mut into.delta)?;
                        let span = self.span(self.cursor.offset().saturating_sub(from), 0);
                        self.place(&mut into.spans, choice::DELTA, span);
                        continue;
                    }
                    into.delta.clear();
                    (choice::DELTA, Expect::Object)
                }
                b"message" => (choice::MESSAGE, Expect::Object),
                b"text" => (choice::TEXT, Expect::Text),
                b"finish_reason" => (choice::FINISH_REASON, Expect::Text),
                b"native_finish_reason" => (choice::NATIVE_FINISH_REASON, Expect::Any),
                b"logprobs" => (choice::LOGPROBS, Expect::Object),
                b"error" => (choice::ERROR, Expect::Any),
                b"provider_specific_fields" => (choice::PROVIDER_FIELDS, Expect::Any),
                _ => {
                    self.cursor.value()?;
                    continue;
                }
            };
            let value = self.keep(&mut into.spans, member, expect)?;
            match member {
                choice::INDEX => self.flag(index_is_odd(value), Quirk::OddIndex),
                choice::FINISH_REASON | choice::ERROR => drop(self.none_string(value)),
                _ => {}
            }
        }
        let missing = into.spans.get(choice::INDEX).is_none_or(|span| self.value(span).is_null());
        self.flag(missing, Quirk::MissingChoiceIndex);
        let span = self.span(self.cursor.offset().saturating_sub(start), 0);
        into.spans.set(choice::WHOLE, span);
        Ok(())
    }

    /// Walks a delta or a message.
    pub(crate) fn delta(&mut self, into: &mut DeltaIndex) -> Result<(), JsonError> {
        into.clear();
        self.cursor.begin_object()?;
        let mut buffer = [0; 32];
        while let Some(key) = self.cursor.member()? {
            let (member, expect) = match name(key, &mut buffer) {
                b"role" => (delta::ROLE, Expect::Text),
                b"content" => {
                    if self.cursor.peek()? == Kind::Array {
                        let span = self.content_parts()?;
                        self.place(&mut into.spans, delta::CONTENT, span);
                        continue;
                    }
                    (delta::CONTENT, Expect::Text)
                }
                b"refusal" => (delta::REFUSAL, Expect::Text),
                b"reasoning_content" => (delta::REASONING_CONTENT, Expect::Text),
                b"reasoning" => (delta::REASONING, Expect::Text),
                b"reasoning_details" => (delta::REASONING_DETAILS, Expect::Any),
                b"thinking" => (delta::THINKING, Expect::Any),
                b"thought" => (delta::THOUGHT, Expect::Any),
                b"function_call" => (delta::FUNCTION_CALL, Expect::Object),
                b"tool_calls" => {
                    if self.cursor.peek()? == Kind::Array {
                        self.tool_calls(into)?;
                        continue;
                    }
                    (delta::TOOL_CALLS, Expect::Any)
                }
                b"audio" => (delta::AUDIO, Expect::Any),
                _ => {
                    self.cursor.value()?;
                    continue;
                }
            };
            let value = self.keep(&mut into.spans, member, expect)?;
            match member {
                delta::TOOL_CALLS => {
                    into.calls = 0;
                    let none = self.none_string(value);
                    self.flag(!value.is_null() && !none, Quirk::OddType);
                }
                delta::FUNCTION_CALL => {
                    let arguments = value.get("arguments").ok().flatten();
                    let odd = arguments.is_some_and(|value| !matches!(value.kind(), Kind::String | Kind::Null));
                    self.flag(odd, Quirk::ArgumentsNotText);
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Walks an array of content parts for such as nobody knows.
    fn content_parts(&mut self) -> Result<Span, JsonError> {
        let start = self.cursor.offset();
        self.cursor.begin_array()?;
        while self.cursor.next_element()? {
            let part = self.cursor.value()?;
            let known = match part.kind() {
                Kind::String => true,
                Kind::Object => super::delta::part_type(part).is_some(),
                _ => false,
            };
            self.flag(!known, Quirk::UnknownContentPart);
        }
        Ok(self.span(self.cursor.offset().saturating_sub(start), 0))
    }

    fn tool_calls(&mut self, into: &mut DeltaIndex) -> Result<(), JsonError> {
        let start = self.cursor.offset();
        self.cursor.begin_array()?;
        into.calls = 0;
        let mut others: Option<CallIndex> = None;
        while self.cursor.next_element()? {
            let index = if into.calls == 0 { &mut into.call } else { others.get_or_insert(Spans::EMPTY) };
            self.call(index)?;
            into.calls = into.calls.saturating_add(1);
        }
        let span = self.span(self.cursor.offset().saturating_sub(start), 0);
        self.place(&mut into.spans, delta::TOOL_CALLS, span);
        Ok(())
    }

    /// Walks one tool call.
    pub(crate) fn call(&mut self, into: &mut CallIndex) -> Result<(), JsonError> {
        into.clear();
        if self.cursor.peek()? != Kind::Object {
            self.cursor.value()?;
            self.quirks.insert(Quirk::OddType);
            return Ok(());
        }
        let start = self.cursor.offset();
        self.cursor.begin_object()?;
        let mut buffer = [0; 32];
        while let Some(key) = self.cursor.member()? {
            let (member, expect) = match name(key, &mut buffer) {
                b"index" => (call::INDEX, Expect::Any),
                b"id" => (call::ID, Expect::Text),
                b"type" => (call::TYPE, Expect::Text),
                b"function" => {
                    self.tool(into, call::FUNCTION, b"arguments")?;
                    continue;
                }
                b"custom" => {
                    self.tool(into, call::CUSTOM, b"input")?;
                    continue;
                }
                _ => {
                    self.cursor.value()?;
                    continue;
                }
            };
            let value = self.keep(into, member, expect)?;
            self.flag(member == call::INDEX && index_is_odd(value), Quirk::OddIndex);
        }
        let span = self.span(self.cursor.offset().saturating_sub(start), 0);
        into.set(call::WHOLE, span);
        Ok(())
    }

    /// The `function` or `custom` object of a tool call: its name and what goes in.
    fn tool(&mut self, into: &mut CallIndex, member: usize, input: &[u8]) -> Result<(), JsonError> {
        if self.cursor.peek()? != Kind::Object {
            self.keep(into, member, Expect::Object)?;
            return Ok(());
        }
        let start = self.cursor.offset();
        self.cursor.begin_object()?;
        let mut buffer = [0; 32];
        while let Some(key) = self.cursor.member()? {
            let key = name(key, &mut buffer);
            if key == b"name" {
                self.keep(into, call::NAME, Expect::Text)?;
            } else if key == input {
                let value = self.keep(into, call::ARGUMENTS, Expect::Any)?;
                let odd = !matches!(value.kind(), Kind::String | Kind::Null);
                self.flag(odd, Quirk::ArgumentsNotText);
            } else {
                self.cursor.value()?;
            }
        }
        let span = self.span(self.cursor.offset().saturating_sub(start), 0);
        self.place(into, member, span);
        Ok(())
    }
}

/// A value that an index of `N` members knows.
#[inline]
pub(crate) fn member<'a, const N: usize>(
    index: &Index,
    payload: &'a [u8],
    spans: &Spans<N>,
    member: usize,
) -> Option<Value<'a>> {
    spans.get(member).map(|span| index.value(payload, span))
}

/// Where in `payload` a value of it begins.
pub(crate) fn start_of(payload: &[u8], value: Value<'_>) -> usize {
    (value.raw().as_ptr() as usize).wrapping_sub(payload.as_ptr() as usize)
}

/// Where in `payload` a value of it ends.
pub(crate) fn end_of(payload: &[u8], value: Value<'_>) -> usize {
    start_of(payload, value).wrapping_add(value.raw().len())
}
