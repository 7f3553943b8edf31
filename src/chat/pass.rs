//! The one pass over a payload, and the walk of a choice or a call that a view asks for.
//!
//! The pass enters the top level, the choices, their deltas and their tool calls, checks the member grammar of each
//! level that it enters, and keeps the spans of the top level, of the first choice and of its first tool call. Further
//! choices and calls are looked over for quirks and finish reasons only. Nothing is unescaped, no number is parsed
//! beyond an index, no UTF-8 is checked.

use super::index::{
    call, choice, delta, finish_reason, index_number, is_error, is_none_string, top, CallIndex, ChoiceIndex, ChoiceSet,
    DeltaIndex, Facts, Index, Span, Spans,
};
use crate::json::{JsonError, Kind, Text, TextFlags, Value, Walk};
use crate::{Quirk, QuirkSet};

/// Reads a payload. Gives the offset one past its JSON value: what follows it is not looked at.
pub(super) fn read(index: &mut Index, payload: &[u8], max_depth: u32) -> Result<usize, JsonError> {
    let mut pass = Pass::new(Walk::new(payload, max_depth));
    if pass.walk.peek() == b'n' {
        pass.skip();
        pass.quirks.insert(Quirk::NullChunk);
    } else {
        pass.chunk(index);
    }
    if let Some(fault) = pass.walk.fault() {
        return Err(fault);
    }
    index.quirks |= pass.quirks;
    Ok(pass.walk.offset())
}

/// Whether an index is written as one: a plain integer, not negative.
fn index_is_odd(value: Value<'_>) -> bool {
    match value.kind() {
        Kind::Number => value.raw().iter().any(|byte| !byte.is_ascii_digit()),
        Kind::Null => false,
        _ => true,
    }
}

/// The first eight bytes of a name, for a `match` on one number. A name of up to eight bytes (none of them NUL) is known
/// by it; what a longer one ends in has to be looked at.
const fn word(name: &[u8]) -> u64 {
    let mut word = 0;
    let mut at = 0;
    while at < 8 && at < name.len() {
        #[allow(clippy::indexing_slicing)] // Checked above; for constants alone.
        let byte = name[at];
        word |= (byte as u64) << (8 * at);
        at += 1;
    }
    word
}

/// [`word`], by two loads that may overlap.
#[inline(always)]
fn word_of(name: &[u8]) -> u64 {
    if let Some(first) = name.first_chunk::<8>() {
        return u64::from_le_bytes(*first);
    }
    if let (Some(first), Some(last)) = (name.first_chunk::<4>(), name.last_chunk::<4>()) {
        let shift = 8 * (name.len() as u32 - 4);
        return u64::from(u32::from_le_bytes(*first)) | u64::from(u32::from_le_bytes(*last)) << shift;
    }
    if let (Some(first), Some(last)) = (name.first_chunk::<2>(), name.last_chunk::<2>()) {
        let shift = 8 * (name.len() as u32 - 2);
        return u64::from(u16::from_le_bytes(*first)) | u64::from(u16::from_le_bytes(*last)) << shift;
    }
    name.first().map_or(0, |&byte| u64::from(byte))
}

/// The known names.
mod names {
    use super::word;

    macro_rules! words {
        ($($name:ident = $text:literal;)*) => {
            $(pub(super) const $name: u64 = word($text);)*
            /// All of them, and those that begin like another.
            pub(super) const ALL: &[&[u8]] = &[
                $($text,)*
                b"function_call",
                b"provider_specific_fields",
                b"reasoning_content",
                b"reasoning_details",
            ];
        };
    }

    words! {
        ARGUMENTS = b"arguments";
        AUDIO = b"audio";
        CHOICES = b"choices";
        CONTENT = b"content";
        CREATED = b"created";
        CUSTOM = b"custom";
        DELTA = b"delta";
        DETAIL = b"detail";
        ERROR = b"error";
        FINISH_CAMEL = b"finishReason";
        FINISH_REASON = b"finish_reason";
        FUNCTION = b"function";
        ID = b"id";
        INDEX = b"index";
        INPUT = b"input";
        LOGPROBS = b"logprobs";
        MESSAGE = b"message";
        MODEL = b"model";
        NAME = b"name";
        NATIVE_FINISH_REASON = b"native_finish_reason";
        OBJECT = b"object";
        PROVIDER = b"provider";
        REASONING = b"reasoning";
        REFUSAL = b"refusal";
        ROLE = b"role";
        SERVICE_TIER = b"service_tier";
        SYSTEM_FINGERPRINT = b"system_fingerprint";
        TEXT = b"text";
        THINKING = b"thinking";
        THOUGHT = b"thought";
        ANNOTATIONS = b"annotations";
        TOOL_CALLS = b"tool_calls";
        TYPE = b"type";
        USAGE = b"usage";
        X_GROQ = b"x_groq";
    }
}

/// The walk itself, and what it met. What is wrong with the bytes is kept by the walk: it ends everything.
pub(crate) struct Pass<'a> {
    walk: Walk<'a>,
    quirks: QuirkSet,
    /// A name that had to be unescaped.
    buffer: [u8; 24],
}

/// What is expected of a member's value, to flag what is not.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Expect {
    Text,
    Number,
    Object,
    Any,
}

/// A value that was read over: where it is, and its first byte, which tells its kind.
#[derive(Clone, Copy)]
struct Read {
    start: usize,
    end: usize,
    first: u8,
    flags: TextFlags,
}

impl Read {
    fn span(self) -> Span {
        Span {
            start: self.start as u32,
            len: self.end.saturating_sub(self.start) as u32,
            segment: 0,
            flags: self.flags.bits() as u8,
        }
    }

    fn is_null(self) -> bool {
        self.first == b'n'
    }
}

impl<'a> Pass<'a> {
    fn new(walk: Walk<'a>) -> Self {
        Pass { walk, quirks: QuirkSet::EMPTY, buffer: [0; 24] }
    }

    /// A walk for one view, of a value that the pass over the chunk has been over.
    pub(crate) fn again(payload: &'a [u8], offset: usize) -> Self {
        Pass::new(Walk::again(payload, offset, false))
    }

    /// The same for the next element of an array, from right behind the one before it. None: there is none.
    pub(crate) fn next_element(payload: &'a [u8], offset: usize) -> Option<Self> {
        let mut walk = Walk::again(payload, offset, true);
        walk.element().then(|| Pass::new(walk))
    }

    pub(crate) fn offset(&self) -> usize {
        self.walk.offset()
    }

    fn bytes(&self, read: Read) -> &'a [u8] {
        self.walk.bytes().get(read.start..read.end).unwrap_or(b"null")
    }

    fn value_of(&self, read: Read) -> Value<'a> {
        Value::from_span(self.bytes(read), read.flags)
    }

    fn value(&self, span: Span) -> Value<'a> {
        let start = span.start as usize;
        let raw = self.walk.bytes().get(start..start.saturating_add(span.len as usize)).unwrap_or(b"null");
        Value::from_span(raw, TextFlags::from_bits(u16::from(span.flags)))
    }

    /// The next member's name: its word, and itself for what the word does not tell. None: the object closed, or the
    /// walk is over.
    #[inline(always)]
    fn member(&mut self) -> Option<(u64, &'a [u8])> {
        let raw = self.walk.member()?;
        if self.walk.flags().any(TextFlags::ESCAPED.with(TextFlags::CONTROL)) {
            return Some(self.unescaped(raw));
        }
        Some((word_of(raw), raw))
    }

    /// The same for a name with an escape or a control character in it: the known name that it is, if it is one.
    #[inline(never)]
    fn unescaped(&mut self, raw: &'a [u8]) -> (u64, &'a [u8]) {
        let copied = Text::from_raw(raw, TextFlags::UNKNOWN).copy_to(&mut self.buffer);
        let name = self.buffer.get(..copied.written).filter(|_| copied.complete).unwrap_or_default();
        match names::ALL.iter().find(|known| **known == name) {
            Some(known) => (word(known), known),
            None => (0, &[]),
        }
    }

    /// Reads over the value that comes.
    #[inline(always)]
    fn read(&mut self) -> Option<Read> {
        let first = self.walk.peek();
        let (start, end) = self.walk.value()?;
        Some(Read { start, end, first, flags: self.walk.flags() })
    }

    /// Reads over the value of a member that is not known.
    #[inline(always)]
    fn skip(&mut self) {
        self.walk.value();
    }

    /// Reads a member's value into its place.
    #[inline(always)]
    fn keep<const N: usize>(&mut self, spans: &mut Spans<N>, member: usize, expect: Expect) -> Option<Read> {
        let read = self.read()?;
        let fits = match expect {
            Expect::Any => true,
            Expect::Text => read.first == b'"',
            Expect::Number => matches!(read.first, b'-' | b'0'..=b'9'),
            Expect::Object => read.first == b'{',
        };
        if !fits && !read.is_null() {
            let none = expect == Expect::Object && self.none_string(read);
            self.flag(!none, Quirk::OddType);
        }
        self.place(spans, member, read.span());
        Some(read)
    }

    #[inline(always)]
    fn place<const N: usize>(&mut self, spans: &mut Spans<N>, member: usize, span: Span) {
        let twice = spans.set(member, span);
        self.flag(twice, Quirk::DuplicateMember);
    }

    /// The container that began at `start` and ends here.
    fn span_from(&self, start: usize) -> Span {
        Read { start, end: self.walk.offset(), first: 0, flags: TextFlags::PLAIN }.span()
    }

    #[inline(always)]
    fn flag(&mut self, when: bool, quirk: Quirk) {
        if when {
            self.quirks.insert(quirk);
        }
    }

    /// Whether the value is "None"; flags it.
    fn none_string(&mut self, read: Read) -> bool {
        let none = read.first == b'"' && is_none_string(self.value_of(read));
        self.flag(none, Quirk::NoneString);
        none
    }

    fn chunk(&mut self, index: &mut Index) -> Option<()> {
        use names::*;
        self.walk.begin(b'{');
        while let Some((word, name)) = self.member() {
            let (member, expect) = match word {
                CHOICES => {
                    self.choices(index);
                    continue;
                }
                ID => (top::ID, Expect::Text),
                OBJECT => (top::OBJECT, Expect::Text),
                CREATED => {
                    let read = self.keep(&mut index.top, top::CREATED, Expect::Number)?;
                    let odd = self.bytes(read).iter().any(|byte| matches!(byte, b'.' | b'e' | b'E'));
                    self.flag(odd, Quirk::OddType);
                    continue;
                }
                MODEL => (top::MODEL, Expect::Text),
                SYSTEM_FINGERPRINT if name == b"system_fingerprint" => (top::SYSTEM_FINGERPRINT, Expect::Text),
                SERVICE_TIER if name == b"service_tier" => (top::SERVICE_TIER, Expect::Text),
                PROVIDER if name.len() == 8 => (top::PROVIDER, Expect::Any),
                USAGE => (top::USAGE, Expect::Object),
                ERROR => {
                    let read = self.keep(&mut index.top, top::ERROR, Expect::Any)?;
                    self.none_string(read);
                    continue;
                }
                TYPE => (top::TYPE, Expect::Any),
                DETAIL => (top::DETAIL, Expect::Any),
                X_GROQ => (top::X_GROQ, Expect::Any),
                _ => {
                    self.skip();
                    continue;
                }
            };
            self.keep(&mut index.top, member, expect)?;
        }
        Some(())
    }

    fn choices(&mut self, index: &mut Index) -> Option<()> {
        index.first.clear();
        index.choices = 0;
        (index.seen, index.finished, index.facts) = (ChoiceSet::EMPTY, ChoiceSet::EMPTY, Facts::default());
        if self.walk.peek() != b'[' {
            let read = self.keep(&mut index.top, top::CHOICES, Expect::Any)?;
            self.flag(read.is_null(), Quirk::NullChunk);
            let none = self.none_string(read);
            self.flag(!read.is_null() && !none, Quirk::OddType);
            return Some(());
        }
        let start = self.walk.offset();
        self.walk.begin(b'[');
        while self.walk.element() {
            if index.choices == 0 {
                self.choice(&mut index.first);
                self.conclude(&index.first, &mut index.seen, &mut index.finished, &mut index.facts);
            } else {
                let mut other = ChoiceIndex::EMPTY;
                self.choice(&mut other);
                self.conclude(&other, &mut index.seen, &mut index.finished, &mut index.facts);
            }
            index.choices = index.choices.saturating_add(1);
        }
        let span = self.span_from(start);
        self.place(&mut index.top, top::CHOICES, span);
        Some(())
    }

    /// What the verdict has to know of a choice.
    fn conclude(&self, choice: &ChoiceIndex, seen: &mut ChoiceSet, finished: &mut ChoiceSet, facts: &mut Facts) {
        if choice.spans.get(choice::WHOLE).is_none() {
            return;
        }
        let value = |member| choice.spans.get(member).map(|span| self.value(span));
        let number = value(choice::INDEX).and_then(index_number).unwrap_or(0);
        seen.insert(number);
        if let Some(text) = finish_reason(value) {
            finished.insert(number);
            facts.error |= text == "error";
        }
        facts.error |= value(choice::ERROR).is_some_and(is_error);
        let has_delta = value(choice::DELTA).is_some_and(|value| value.kind() == Kind::Object);
        let has_message = value(choice::MESSAGE).is_some_and(|value| value.kind() == Kind::Object);
        facts.delta |= has_delta;
        facts.message |= !has_delta && (has_message || value(choice::TEXT).is_some());
    }

    /// Walks one choice.
    pub(crate) fn choice(&mut self, into: &mut ChoiceIndex) -> Option<()> {
        use names::*;
        into.clear();
        if self.walk.peek() != b'{' {
            self.quirks.insert(Quirk::OddType);
            self.skip();
            return Some(());
        }
        let start = self.walk.offset();
        let mut indexed = false;
        self.walk.begin(b'{');
        while let Some((word, name)) = self.member() {
            let (member, expect) = match word {
                INDEX => {
                    let read = self.keep(&mut into.spans, choice::INDEX, Expect::Any)?;
                    indexed = !read.is_null();
                    self.flag(index_is_odd(self.value_of(read)), Quirk::OddIndex);
                    continue;
                }
                DELTA => {
                    into.delta.clear();
                    if self.walk.peek() == b'{' {
                        let from = self.walk.offset();
                        self.delta(&mut into.delta);
                        let span = self.span_from(from);
                        self.place(&mut into.spans, choice::DELTA, span);
                        continue;
                    }
                    (choice::DELTA, Expect::Object)
                }
                MESSAGE => (choice::MESSAGE, Expect::Object),
                TEXT => (choice::TEXT, Expect::Text),
                FINISH_REASON if name == b"finish_reason" => {
                    let read = self.keep(&mut into.spans, choice::FINISH_REASON, Expect::Text)?;
                    self.none_string(read);
                    continue;
                }
                FINISH_CAMEL if name == b"finishReason" => (choice::FINISH_CAMEL, Expect::Text),
                NATIVE_FINISH_REASON if name == b"native_finish_reason" => (choice::NATIVE_FINISH_REASON, Expect::Any),
                LOGPROBS if name.len() == 8 => (choice::LOGPROBS, Expect::Object),
                ERROR => {
                    let read = self.keep(&mut into.spans, choice::ERROR, Expect::Any)?;
                    self.none_string(read);
                    continue;
                }
                PROVIDER if name == b"provider_specific_fields" => (choice::PROVIDER_FIELDS, Expect::Any),
                _ => {
                    self.skip();
                    continue;
                }
            };
            self.keep(&mut into.spans, member, expect)?;
        }
        self.flag(!indexed, Quirk::MissingChoiceIndex);
        let span = self.span_from(start);
        into.spans.set(choice::WHOLE, span);
        Some(())
    }

    /// Walks a delta or a message.
    pub(crate) fn delta(&mut self, into: &mut DeltaIndex) -> Option<()> {
        use names::*;
        into.clear();
        self.walk.begin(b'{');
        while let Some((word, name)) = self.member() {
            let (member, expect) = match word {
                ROLE => (delta::ROLE, Expect::Text),
                CONTENT => {
                    if self.walk.peek() == b'[' {
                        let span = self.content_parts();
                        self.place(&mut into.spans, delta::CONTENT, span);
                        continue;
                    }
                    (delta::CONTENT, Expect::Text)
                }
                REFUSAL => (delta::REFUSAL, Expect::Text),
                REASONING => match name {
                    b"reasoning_content" => (delta::REASONING_CONTENT, Expect::Text),
                    b"reasoning" => (delta::REASONING, Expect::Text),
                    b"reasoning_details" => (delta::REASONING_DETAILS, Expect::Any),
                    _ => {
                        self.skip();
                        continue;
                    }
                },
                THINKING if name.len() == 8 => (delta::THINKING, Expect::Any),
                THOUGHT => (delta::THOUGHT, Expect::Any),
                FUNCTION if name == b"function_call" => {
                    let read = self.keep(&mut into.spans, delta::FUNCTION_CALL, Expect::Object)?;
                    let arguments = self.value_of(read).get("arguments").ok().flatten();
                    let odd = arguments.is_some_and(|value| !matches!(value.kind(), Kind::String | Kind::Null));
                    self.flag(odd, Quirk::ArgumentsNotText);
                    continue;
                }
                TOOL_CALLS if name == b"tool_calls" => {
                    into.calls = 0;
                    if self.walk.peek() == b'[' {
                        self.tool_calls(into);
                        continue;
                    }
                    let read = self.keep(&mut into.spans, delta::TOOL_CALLS, Expect::Any)?;
                    let none = self.none_string(read);
                    self.flag(!read.is_null() && !none, Quirk::OddType);
                    continue;
                }
                AUDIO => (delta::AUDIO, Expect::Any),
                ANNOTATIONS if name == b"annotations" => (delta::ANNOTATIONS, Expect::Any),
                _ => {
                    self.skip();
                    continue;
                }
            };
            self.keep(&mut into.spans, member, expect)?;
        }
        Some(())
    }

    /// Walks an array of content parts for such as nobody knows.
    fn content_parts(&mut self) -> Span {
        let start = self.walk.offset();
        self.walk.begin(b'[');
        while self.walk.element() {
            let Some(read) = self.read() else { break };
            let known = match read.first {
                b'"' => true,
                b'{' => super::delta::part_type(self.value_of(read)).is_some(),
                _ => false,
            };
            self.flag(!known, Quirk::UnknownContentPart);
        }
        self.span_from(start)
    }

    fn tool_calls(&mut self, into: &mut DeltaIndex) {
        let start = self.walk.offset();
        self.walk.begin(b'[');
        while self.walk.element() {
            if into.calls == 0 {
                self.call(&mut into.call);
            } else {
                let mut other = CallIndex::EMPTY;
                self.call(&mut other);
            }
            into.calls = into.calls.saturating_add(1);
        }
        let span = self.span_from(start);
        self.place(&mut into.spans, delta::TOOL_CALLS, span);
    }

    /// Walks one tool call.
    pub(crate) fn call(&mut self, into: &mut CallIndex) -> Option<()> {
        use names::*;
        into.clear();
        if self.walk.peek() != b'{' {
            self.quirks.insert(Quirk::OddType);
            self.skip();
            return Some(());
        }
        let start = self.walk.offset();
        self.walk.begin(b'{');
        while let Some((word, name)) = self.member() {
            let (member, expect) = match word {
                INDEX => {
                    let read = self.keep(into, call::INDEX, Expect::Any)?;
                    self.flag(index_is_odd(self.value_of(read)), Quirk::OddIndex);
                    continue;
                }
                ID => (call::ID, Expect::Text),
                TYPE => (call::TYPE, Expect::Text),
                FUNCTION if name.len() == 8 => {
                    self.tool(into, call::FUNCTION, b"arguments");
                    continue;
                }
                CUSTOM => {
                    self.tool(into, call::CUSTOM, b"input");
                    continue;
                }
                _ => {
                    self.skip();
                    continue;
                }
            };
            self.keep(into, member, expect)?;
        }
        let span = self.span_from(start);
        into.set(call::WHOLE, span);
        Some(())
    }

    /// The `function` or `custom` object of a tool call: its name and what goes in.
    fn tool(&mut self, into: &mut CallIndex, member: usize, input: &[u8]) -> Option<()> {
        use names::*;
        if into.get(member).is_some() {
            // It is there twice: what the first said does not count.
            into.unset(call::NAME);
            into.unset(call::ARGUMENTS);
        }
        if self.walk.peek() != b'{' {
            self.keep(into, member, Expect::Object)?;
            return Some(());
        }
        let start = self.walk.offset();
        self.walk.begin(b'{');
        while let Some((word, name)) = self.member() {
            match word {
                NAME => {
                    self.keep(into, call::NAME, Expect::Text)?;
                }
                ARGUMENTS | INPUT if name == input => {
                    let read = self.keep(into, call::ARGUMENTS, Expect::Any)?;
                    self.flag(!matches!(read.first, b'"' | b'n'), Quirk::ArgumentsNotText);
                }
                _ => self.skip(),
            }
        }
        let span = self.span_from(start);
        self.place(into, member, span);
        Some(())
    }
}
