//! The index of a chunk: where its known members lie in its payload.
//!
//! A template divides a payload into segments: a segment begins where a hole of the template ends. A span counts its
//! start and its end from the bases of their segments, so that a stored index serves every event of the same shape,
//! wherever its parts lie: only the bases are new. A fresh pass puts everything in segment 0, whose base is 0.

use super::page::{Behind, DeltaList, How, PageItem};
use crate::delta::{Kind, Part};
use crate::dialect::{OnlyText, Plan, ReadEvent as Event};
use crate::json::{Text, TextFlags, Value};
use crate::scan::parts::HOLES;
use crate::shown::shown;
use crate::QuirkSet;

/// The place of a value in its payload: from `start` to `end`, each counted from the base of its segment.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ValueSpan {
    pub(crate) start: u32,
    pub(crate) end: u32,
    /// The segment of `start`, and that of `end` 4 bits higher.
    pub(crate) segments: u8,
    /// The [`TextFlags`] of a string.
    pub(crate) flags: u8,
}

impl ValueSpan {
    /// Whether no hole of a template lies in the span, so that its bytes are the same in each chunk that the template
    /// recognizes.
    #[inline(always)]
    pub(crate) fn is_fixed(self) -> bool {
        self.segments & 7 == self.segments >> 4 & 7
    }

    /// Returns the bytes of a span of a fresh pass, whose offsets count from the beginning of the payload.
    #[inline]
    pub(super) fn bytes(self, payload: &[u8]) -> &[u8] {
        payload.get(self.start as usize..self.end as usize).unwrap_or(b"null")
    }

    /// Returns the value at a span of a fresh pass.
    #[inline]
    pub(super) fn value(self, payload: &[u8]) -> Value<'_> {
        Value::from_span(self.bytes(payload), TextFlags::from_bits(u16::from(self.flags)))
    }

    /// Returns the first byte of the value at a span of a fresh pass, which determines its kind.
    #[inline(always)]
    pub(super) fn first_byte(self, payload: &[u8]) -> Option<u8> {
        payload.get(self.start as usize).copied()
    }
}

/// The spans of one level, of at most 15 members, by the number of the member. An array for each field takes less
/// memory than an array of spans, which would be padded.
#[derive(Clone, Debug)]
pub(crate) struct Spans<const N: usize> {
    present: u16,
    start: [u32; N],
    end: [u32; N],
    /// The segments and the flags of each span.
    marks: [[u8; 2]; N],
}

impl<const N: usize> Spans<N> {
    pub(crate) const EMPTY: Self = {
        assert!(N < 16, "`present` has a bit for each member, and one that stays 0 for members that no index stores");
        Spans { present: 0, start: [0; N], end: [0; N], marks: [[0; 2]; N] }
    };

    pub(crate) fn clear(&mut self) {
        self.present = 0;
    }

    /// Stores the span of a member. Returns whether the member had a span before, or `None`, with no effect, if there
    /// is no member with this number.
    #[inline(always)]
    pub(crate) fn set(&mut self, member: usize, span: ValueSpan) -> Option<bool> {
        let Spans { present, start, end, marks } = self;
        *start.get_mut(member)? = span.start;
        *end.get_mut(member)? = span.end;
        *marks.get_mut(member)? = [span.segments, span.flags];
        let bit = 1u16 << (member & 15);
        let before = *present & bit != 0;
        *present |= bit;
        Some(before)
    }

    /// Replaces the members by those with a bit in `there`. `spans` has their spans, in the order of their numbers.
    #[inline]
    pub(crate) fn fill(&mut self, there: u16, spans: &mut impl Iterator<Item = ValueSpan>) {
        let Spans { present, start, end, marks } = self;
        *present = there;
        let places = start.iter_mut().zip(end).zip(marks);
        for (number, ((start, end), marks)) in places.enumerate() {
            if there >> number & 1 != 0 {
                let Some(span) = spans.next() else { return };
                (*start, *end, *marks) = (span.start, span.end, [span.segments, span.flags]);
            }
        }
    }

    /// Notes that a member is present, without a span.
    pub(crate) fn mark(&mut self, member: usize) {
        self.present |= 1 << (member & 15);
    }

    pub(crate) fn unset(&mut self, member: usize) {
        self.present &= !(1 << (member & 15));
    }

    /// Returns the set of members that are present, one bit each.
    #[inline]
    pub(crate) fn mask(&self) -> u32 {
        self.present.into()
    }

    /// Whether a member is present.
    #[inline]
    pub(crate) fn has(&self, member: usize) -> bool {
        self.present >> (member & 15) & 1 != 0
    }

    #[inline]
    pub(crate) fn get(&self, member: usize) -> Option<ValueSpan> {
        if !self.has(member) {
            return None;
        }
        let [segments, flags] = *self.marks.get(member)?;
        Some(ValueSpan { start: *self.start.get(member)?, end: *self.end.get(member)?, segments, flags })
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

/// Members of a choice, in the order in which their deltas are emitted.
pub(crate) mod choice {
    pub(crate) const INDEX: usize = 0;
    pub(crate) const DELTA: usize = 1;
    /// Not a member: the span of the choice, if the choice is an object.
    pub(crate) const ITSELF: usize = 2;
    pub(crate) const TEXT: usize = 3;
    pub(crate) const MESSAGE: usize = 4;
    pub(crate) const LOGPROBS: usize = 5;
    pub(crate) const NATIVE_FINISH_REASON: usize = 6;
    pub(crate) const PROVIDER_FIELDS: usize = 7;
    pub(crate) const FINISH_REASON: usize = 8;
    /// `finishReason`, which some servers send instead.
    pub(crate) const FINISH_CAMEL: usize = 9;
    pub(crate) const ERROR: usize = 10;
    pub(crate) const COUNT: usize = 11;
}

/// Members of a delta or a message, in the order in which their deltas are emitted.
// CONTRIBUTING.md, *How to add a kind*, lists the other places that a new member needs.
pub(crate) mod delta {
    pub(crate) const ROLE: usize = 0;
    pub(crate) const REASONING_CONTENT: usize = 1;
    pub(crate) const REASONING: usize = 2;
    pub(crate) const REASONING_DETAILS: usize = 3;
    pub(crate) const THINKING: usize = 4;
    pub(crate) const THOUGHT: usize = 5;
    pub(crate) const REASONING_TEXT: usize = 6;
    pub(crate) const CONTENT: usize = 7;
    pub(crate) const REFUSAL: usize = 8;
    pub(crate) const FUNCTION_CALL: usize = 9;
    pub(crate) const TOOL_CALLS: usize = 10;
    pub(crate) const AUDIO: usize = 11;
    pub(crate) const ANNOTATIONS: usize = 12;
    pub(crate) const COUNT: usize = 13;
}

/// Members of a tool call, including the name and the arguments of its function (or the name and the input of its
/// custom tool).
pub(crate) mod call {
    pub(crate) const INDEX: usize = 0;
    pub(crate) const ID: usize = 1;
    pub(crate) const TYPE: usize = 2;
    pub(crate) const FUNCTION: usize = 3;
    pub(crate) const CUSTOM: usize = 4;
    pub(crate) const NAME: usize = 5;
    pub(crate) const ARGUMENTS: usize = 6;
    /// Not a member: the span of the call, if the call is an object.
    pub(crate) const ITSELF: usize = 7;
    /// A mark without a span: the call or its function has other members.
    pub(crate) const OTHERS: usize = 8;
    pub(crate) const COUNT: usize = 9;
}

/// The spans of a tool call.
pub(crate) type CallIndex = Spans<{ call::COUNT }>;

/// The spans of a delta or a message, and what the list of deltas needs from its tool calls.
#[derive(Clone, Debug)]
pub(crate) struct DeltaIndex {
    pub(crate) spans: Spans<{ delta::COUNT }>,
    /// The number of tool calls. Counts up to 65,535.
    pub(crate) calls: u16,
    /// Whether the first tool call has only an index and, optionally, arguments that are a string.
    pub(crate) is_fragment: bool,
    /// The index of the first tool call, or 0 if it has none.
    pub(crate) call_index: u32,
    /// The span of the arguments of the first tool call, if they are a string; otherwise an empty span.
    pub(crate) arguments: ValueSpan,
}

impl DeltaIndex {
    pub(crate) const EMPTY: Self = DeltaIndex {
        spans: Spans::EMPTY,
        calls: 0,
        is_fragment: false,
        call_index: 0,
        arguments: ValueSpan { start: 0, end: 0, segments: 0, flags: 0 },
    };

    pub(crate) fn clear(&mut self) {
        self.spans.clear();
        self.no_calls();
    }

    /// Forgets its tool calls.
    pub(crate) fn no_calls(&mut self) {
        (self.calls, self.is_fragment, self.arguments) = (0, false, ValueSpan::default());
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

    pub(crate) fn clear(&mut self) {
        self.spans.clear();
        self.delta.clear();
    }
}

/// What the framing of an event implies about its payload. It matters because the payload of an error event need not
/// look like an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) enum Hint {
    #[default]
    None,
    /// The event is named `error`, or its payload came in a field named `error`.
    Error,
    /// The payload is a whole body, not the value of a field. It is an error if it has a message in words and nothing
    /// else.
    Body,
}

/// The most segments that an index can have: the parts of a template between holes.
pub(crate) const SEGMENTS: usize = HOLES + 1;

/// The places of a chunk's members in its payload. [`Chunk::read`](super::Chunk::read) fills it.
///
/// Plain data without pointers. A parser contains one and needs no other.
#[derive(Clone)]
pub struct Index {
    pub(crate) top: Spans<{ top::COUNT }>,
    pub(crate) first: ChoiceIndex,
    /// The offsets at which its segments begin.
    pub(crate) bases: [u32; SEGMENTS],
    /// The [`TextFlags`] of the text in the hole between a segment and the next.
    pub(crate) between: [u8; SEGMENTS],
    /// The number of choices.
    pub(crate) choices: u32,
    pub(crate) quirks: QuirkSet,
    pub(crate) facts: ChunkFacts,
    /// The deltas of the choices.
    pub(crate) list: DeltaList,
    /// For an event of another protocol, how its deltas are read.
    pub(crate) plan: Plan,
    /// The stream offsets at which the event begins and ends.
    pub(crate) frame: (u64, u64),
    /// See [`Config::snapshots`](crate::Config::snapshots).
    pub(crate) snapshots: bool,
}

shown!("Index": Index, this => choices: this.choices, quirks: this.quirks);

/// A set of choices, by their indexes. All indexes from 127 on count as one. Two words, because a `u128` would need an
/// alignment of 16.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ChoiceSet([u64; 2]);

impl ChoiceSet {
    pub(crate) const EMPTY: ChoiceSet = ChoiceSet([0; 2]);

    #[inline]
    pub(crate) fn insert(&mut self, index: u32) {
        let index = index.min(127);
        let ChoiceSet([low, high]) = self;
        *(if index < 64 { low } else { high }) |= 1 << (index & 63);
    }

    #[inline]
    pub(crate) fn is_empty(self) -> bool {
        self == ChoiceSet::EMPTY
    }

    /// Returns the lowest index.
    pub(crate) fn first(self) -> Option<u8> {
        let ChoiceSet([low, high]) = self;
        let first = if low > 0 { low.trailing_zeros() } else { high.trailing_zeros().saturating_add(64) };
        u8::try_from(first).ok().filter(|_| !self.is_empty())
    }

    pub(crate) fn len(self) -> u32 {
        let ChoiceSet([low, high]) = self;
        low.count_ones().saturating_add(high.count_ones())
    }

    #[inline]
    pub(crate) fn add(&mut self, other: ChoiceSet) {
        let (ChoiceSet([low, high]), ChoiceSet([more_low, more_high])) = (self, other);
        *low |= more_low;
        *high |= more_high;
    }
}

/// The choices of a chunk by their indexes: all of them, and those with a finish reason.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SeenChoices {
    pub(crate) all: ChoiceSet,
    pub(crate) finished: ChoiceSet,
}

/// The findings of a pass over a payload that are not in the index.
pub(crate) struct Read {
    /// The offset one past the JSON value. The pass does not look at the bytes after it.
    pub(crate) end: usize,
    pub(crate) seen: SeenChoices,
    /// Whether the value may contain a CR or a LF. If not, it can be read before the end of its line is known.
    pub(crate) may_break: bool,
}

impl SeenChoices {
    /// Adds a choice.
    pub(crate) fn add(&mut self, index: u32, finished: bool) {
        self.all.insert(index);
        if finished {
            self.finished.insert(index);
        }
    }
}

/// The findings of the pass about the chunk as a whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ChunkFacts {
    /// The payload contains an error, in any place.
    pub(crate) error: bool,
    /// The whole payload is the error.
    pub(crate) error_is_whole: bool,
    /// The payload is the plain text of an error.
    pub(crate) text: bool,
    /// A chat or completions chunk or body: it has choices, usage, or an `object` that says so.
    pub(crate) chat: bool,
    /// A choice has a message or a text but no delta: a finished body.
    pub(crate) message: bool,
    /// One of the choices has a delta.
    pub(crate) delta: bool,
    /// There may be members that no delta is made of ([`Chunk::other_members`](super::Chunk::other_members)).
    pub(crate) others: bool,
    /// A choice has usage (Moonshot), or the chunk an `error_code`.
    pub(crate) rare: bool,
}

impl ChunkFacts {
    /// Whether the event [is not of the response](Index::keep_error). No chunk has both marks without being one of chat
    /// completions.
    pub(crate) fn is_foreign(&self) -> bool {
        !self.chat && self.message && self.delta
    }

    pub(crate) const NONE: ChunkFacts = ChunkFacts {
        error: false,
        error_is_whole: false,
        text: false,
        chat: false,
        message: false,
        delta: false,
        others: false,
        rare: false,
    };
}

impl Default for Index {
    fn default() -> Self {
        Index::new()
    }
}

impl Index {
    /// Returns an empty index.
    pub const fn new() -> Self {
        Index {
            top: Spans::EMPTY,
            first: ChoiceIndex::EMPTY,
            bases: [0; SEGMENTS],
            between: [0; SEGMENTS],
            choices: 0,
            quirks: QuirkSet::EMPTY,
            facts: ChunkFacts::NONE,
            list: DeltaList::EMPTY,
            plan: Plan::NONE,
            frame: (0, 0),
            snapshots: false,
        }
    }

    pub(crate) fn clear(&mut self) {
        self.top.clear();
        self.first.clear();
        self.bases = [0; SEGMENTS];
        self.choices = 0;
        self.quirks = QuirkSet::EMPTY;
        self.facts = ChunkFacts::default();
        self.list.clear();
        self.plan.protocol = None;
    }

    /// Makes this the index of an event of another protocol.
    pub(crate) fn take(&mut self, payload: &[u8], event: &Event<'_>) {
        self.list.clear();
        let members = [
            (top::ID, event.id),
            (top::MODEL, event.model),
            (top::CREATED, event.created),
            (top::SERVICE_TIER, event.service_tier),
            (top::USAGE, event.usage),
            (top::ERROR, event.error),
        ];
        self.top.clear();
        for (member, value) in members {
            let Some(value) = value else { continue };
            let part = Part::raw(payload, value);
            let flags = TextFlags::UNKNOWN.bits() as u8;
            self.top.set(member, ValueSpan { start: part.start, end: part.end(), segments: 0, flags });
        }
        self.list.behind.add(Behind::USAGE, event.usage.is_some());
        self.list.behind.add(Behind::ERROR, event.error.is_some());
        match &event.only_text {
            // Nothing else of the plan is read.
            Some(only_text) => {
                self.take_only_text(payload, only_text);
                self.plan.protocol = event.plan.protocol;
            }
            None => {
                self.plan = event.plan;
                let end = u32::try_from(payload.len()).unwrap_or(u32::MAX);
                self.list.push(PageItem { end, kind: Kind::Chunk, how: How::Event, ..PageItem::NONE });
            }
        }
        (self.facts.chat, self.facts.others, self.facts.error) = (true, event.others, event.error.is_some());
    }

    /// Makes this the index of an event of another protocol than the stream's, from which only an error is reported: its
    /// ID, its model and its time are not those of the response.
    pub(crate) fn keep_error(&mut self) {
        (self.facts.chat, self.facts.others) = (false, false);
        (self.facts.message, self.facts.delta) = (true, true);
        self.list.clear();
        self.list.behind.add(Behind::ERROR, self.facts.error);
    }

    /// Puts the deltas of an event with only a text on the page.
    fn take_only_text(&mut self, payload: &[u8], only_text: &OnlyText<'_>) {
        let item = |kind, how, choice, text: Text<'_>| {
            let part = Part::of(payload, text);
            let flags = part.flags.bits() as u8;
            PageItem { start: part.start, end: part.end(), choice, kind, how, flags, segments: 0 }
        };
        let OnlyText { kind, slot, is_summary, text, role } = *only_text;
        if let Some(role) = role {
            self.list.push(item(Kind::Role, How::Text, 0, role));
        }
        if kind == Kind::ToolArguments {
            let (start, end) = (slot, slot.wrapping_add(1));
            self.list.push(PageItem { start, end, kind: Kind::ToolCall, how: How::Fragment, ..PageItem::NONE });
            self.list.push(item(kind, How::Text, 0, text));
        } else {
            self.list.push(item(kind, if is_summary { How::Summary } else { How::Slot }, slot, text));
        }
    }

    /// Whether this is an event of another protocol with [only a text](OnlyText). Its deltas are on the page.
    pub(crate) fn has_only_text(&self) -> bool {
        self.plan.protocol().is_some() && self.list.get(0).is_some_and(|item| item.how != How::Event)
    }

    /// For an event of Responses with [only a text](OnlyText), returns the text, or `None` if it is empty.
    #[inline]
    pub(crate) fn only_text<'a>(&self, payload: &'a [u8]) -> Option<OnlyText<'a>> {
        let first = self.list.get(0)?;
        let (item, slot) = match first.how {
            How::Fragment => (self.list.get(1)?, first.start),
            _ => (first, first.choice),
        };
        let (kind, is_summary) = (item.kind, first.how == How::Summary);
        let part = self.part(item);
        (part.len > 0).then(|| OnlyText { kind, slot, is_summary, text: part.text(payload), role: None })
    }

    /// Whether this is an event of another protocol with only arguments of a tool call. The events before it decide
    /// whether it is emitted as such.
    pub(crate) fn has_native_arguments(&self) -> bool {
        self.plan.protocol().is_some() && self.list.get(0).is_some_and(|item| item.kind == Kind::ToolCall)
    }

    /// Returns where a span begins and ends in the payload, and the flags of the string there.
    #[inline(always)]
    pub(crate) fn place(&self, span: ValueSpan) -> (u32, u32, TextFlags) {
        let (from, to) = (span.segments & 7, span.segments >> 4 & 7);
        let flags = if from == to { Some(&span.flags) } else { self.between.get(usize::from(from)) };
        let flags = TextFlags::from_bits(u16::from(flags.copied().unwrap_or(0)));
        (self.base(from).wrapping_add(span.start), self.base(to).wrapping_add(span.end), flags)
    }

    /// Returns the offset at which a segment begins.
    #[inline(always)]
    pub(crate) fn base(&self, segment: u8) -> u32 {
        const { assert!(SEGMENTS == 8) }
        self.bases.get(usize::from(segment & 7)).copied().unwrap_or(0)
    }

    /// Returns where an item of its list lies in the payload.
    #[inline(always)]
    pub(crate) fn part(&self, item: &PageItem) -> Part {
        let PageItem { start, end, segments, flags, .. } = *item;
        let (start, end, flags) = self.place(ValueSpan { start, end, segments, flags });
        Part { start, len: end.wrapping_sub(start), flags, lead: 0 }
    }

    #[inline]
    pub(crate) fn value<'a>(&self, payload: &'a [u8], span: ValueSpan) -> Value<'a> {
        let (start, end, flags) = self.place(span);
        Value::from_span(payload.get(start as usize..end as usize).unwrap_or(b"null"), flags)
    }

    #[inline]
    pub(crate) fn top<'a>(&self, payload: &'a [u8], member: usize) -> Option<Value<'a>> {
        self.top.get(member).map(|span| self.value(payload, span))
    }

    /// Whether the payload has `choices`, which make it a chunk whatever else it contains.
    pub(crate) fn has_choices(&self) -> bool {
        self.facts.chat && self.top.has(top::CHOICES)
    }

    /// Returns the bytes of `object`, still escaped, or no bytes if it is absent or no string.
    pub(crate) fn object<'a>(&self, payload: &'a [u8]) -> &'a [u8] {
        let object = self.top(payload, top::OBJECT).and_then(|value| value.as_text());
        object.map_or(b"", |text| text.raw())
    }
}

/// Returns the value of a member that the spans of an index have.
#[inline]
pub(crate) fn member<'a, const N: usize>(
    index: &Index,
    payload: &'a [u8],
    spans: &Spans<N>,
    member: usize,
) -> Option<Value<'a>> {
    spans.get(member).map(|span| index.value(payload, span))
}
