//! The one pass over a payload: where the members that a chunk is known for lie.
//!
//! The pass enters the top level, the choices, their deltas and their tool calls, checks the member grammar of each
//! level that it enters, and keeps the spans of the top level, of the first choice and of its first tool call. Further
//! choices and calls are looked over for quirks and finish reasons only; a view walks them when it is asked for.
//! Nothing is unescaped, no number is parsed beyond an index, no UTF-8 is checked.
//!
//! A span is (segment, start, length). Segments let a remembered index serve an event of the same shape whose parts
//! have moved: then only their bases are new. A fresh pass puts everything in segment 0, whose base is 0.

use crate::json::{JsonError, Kind, Text, TextFlags, Value, Walk};
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

    /// The members that are there, one bit each.
    #[inline]
    pub(crate) fn mask(&self) -> u32 {
        self.present
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
    /// `finishReason`, as some spell it.
    pub(crate) const FINISH_CAMEL: usize = 10;
    pub(crate) const COUNT: usize = 11;
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
        let mut pass = Pass::new(Walk::new(payload, max_depth));
        if pass.walk.peek() == b'n' {
            pass.skip();
            pass.quirks.insert(Quirk::NullChunk);
        } else {
            pass.chunk(self);
        }
        if let Some(fault) = pass.walk.fault() {
            return Err(fault);
        }
        let end = pass.walk.offset();
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

/// A choice's finish reason, if it says something; `finishReason` is understood too.
#[inline]
pub(crate) fn finish_reason<'a>(member: impl Fn(usize) -> Option<Value<'a>>) -> Option<Text<'a>> {
    let says = |value: Value<'a>| value.as_text().filter(|text| !text.is_empty() && !is_none_string(value));
    member(choice::FINISH_REASON).and_then(says).or_else(|| member(choice::FINISH_CAMEL).and_then(says))
}

/// An index as a number: negative is 0, a number in a string counts. None if there is none.
pub(crate) fn index_number(value: Value<'_>) -> Option<u32> {
    let parse = |number: crate::json::Number<'_>| {
        number.to_i64().map(|n| u32::try_from(n.max(0)).unwrap_or(u32::MAX)).or(Some(u32::MAX))
    };
    if let [digit @ b'0'..=b'9'] = value.raw() {
        return Some(u32::from(digit - b'0'));
    }
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
        DETAILS = b"details";
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
                DETAIL | DETAILS => (top::DETAIL, Expect::Any),
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
    fn conclude(&self, choice: &ChoiceIndex, seen: &mut u128, finished: &mut u128, facts: &mut Facts) {
        if choice.spans.get(choice::WHOLE).is_none() {
            return;
        }
        let value = |member| choice.spans.get(member).map(|span| self.value(span));
        let number = value(choice::INDEX).and_then(index_number).unwrap_or(0);
        let bit = 1u128 << number.min(127);
        *seen |= bit;
        if let Some(text) = finish_reason(value) {
            *finished |= bit;
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
