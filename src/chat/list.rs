//! Makes the items of a choice from its spans: decides the kind of delta of each member, their order, and which members
//! count only if another is absent.

use super::choices::delta_at;
use super::index::{choice, delta, ChoiceIndex, DeltaIndex, Spans, ValueSpan};
use super::inside::has_delta;
use super::others::has_others;
use super::page::{ChoiceItems, DeltaList, How, PageItem};
use super::parts::{detail_text, ReasoningDetails};
use super::scalar::{is_error, member_of, native_reason_of, reason_of, string_of, text_of};
use crate::delta::{Kind, Part};
use crate::json::{Text, TextFlags, Value, ValueKind};

/// The members of a delta up to and including its content.
const UPTO_CONTENT: u32 = (2 << delta::CONTENT) - 1;

/// The members of a delta that are texts: the kind of each, and whether it counts only if no delta of its kind precedes
/// it. They are a table, so that one copy of the code reads all of them.
const TEXTS: [Option<(Kind, bool)>; delta::COUNT] = {
    let mut texts = [None; delta::COUNT];
    texts[delta::ROLE] = Some((Kind::Role, false));
    texts[delta::REASONING_CONTENT] = Some((Kind::Reasoning, false));
    texts[delta::REASONING] = Some((Kind::Reasoning, true));
    texts[delta::THINKING] = Some((Kind::Reasoning, true));
    texts[delta::THOUGHT] = Some((Kind::Reasoning, true));
    texts[delta::REASONING_TEXT] = Some((Kind::Reasoning, true));
    texts[delta::CONTENT] = Some((Kind::Content, false));
    texts[delta::REFUSAL] = Some((Kind::Refusal, false));
    texts
};

/// Puts the items of a choice with these spans, in the order in which they are emitted.
#[inline]
pub(super) fn put_choice(payload: &[u8], fields: &ChoiceIndex, number: u32, items: &mut ChoiceItems<'_>) {
    let mut reader = ItemReader { payload, choice: number, items };
    let spans = &fields.spans;
    let has_delta = reader.first_byte(spans, choice::DELTA) == Some(b'{');
    if has_delta {
        reader.delta(&fields.delta, if spans.has(choice::TEXT) { UPTO_CONTENT } else { u32::MAX });
    }
    if spans.has(choice::TEXT) {
        reader.text(spans, choice::TEXT, Kind::Content, true);
        if has_delta {
            reader.delta(&fields.delta, !UPTO_CONTENT);
        }
    }
    const REST: u32 = !((2 << choice::TEXT) - 1);
    let mut rest = spans.mask() & REST;
    while rest != 0 {
        let member = rest.trailing_zeros() as usize;
        rest &= rest.wrapping_sub(1);
        if reader.first_byte(spans, member) != Some(b'n') {
            reader.beside_delta(spans, member);
        }
    }
    if reader.items.is_empty() {
        reader.put_bare(spans.get(choice::ITSELF));
    }
}

/// Puts the items of a choice that has only this delta, if the delta is one text or a fragment of a call's arguments.
/// Returns `false`, with no effect, for any other delta or if there is no room.
#[inline(always)]
pub(super) fn put_lone(payload: &[u8], delta: &DeltaIndex, number: u32, list: &mut DeltaList) -> bool {
    let begins = |span: ValueSpan, byte| span.first_byte(payload) == Some(byte);
    let mask = delta.spans.mask();
    if !mask.is_power_of_two() {
        return false;
    }
    let member = mask.trailing_zeros() as usize;
    let Some(span) = delta.spans.get(member) else { return false };
    let text = |kind, span: ValueSpan| {
        let (start, end) = (span.start.wrapping_add(1), span.end.wrapping_sub(1));
        let item = PageItem { start, end, choice: number, kind, how: How::Text, flags: span.flags, segments: 0 };
        (start < end && begins(span, b'"')).then_some(item)
    };
    if let Some(Some((kind, _))) = TEXTS.get(member) {
        return text(*kind, span).is_some_and(|item| list.push(item));
    }
    if member != delta::TOOL_CALLS || delta.calls != 1 || !delta.is_fragment || !begins(span, b'[') {
        return false;
    }
    match text(Kind::ToolArguments, delta.arguments) {
        Some(arguments) if list.has_room(2) => {
            list.push(fragment(delta.call_index, number));
            list.push(arguments)
        }
        _ => false,
    }
}

/// Returns the item of a tool call that has only this index. The item stores the index in the place of an offset. Its
/// length is 1, because an item of length 0 counts as an empty text.
#[inline(always)]
fn fragment(index: u32, choice: u32) -> PageItem {
    PageItem {
        start: index,
        end: index.wrapping_add(1),
        choice,
        kind: Kind::ToolCall,
        how: How::Fragment,
        ..PageItem::NONE
    }
}

/// Puts an item for a `message`, from which the tracker learns that one begins, and the items of its members.
#[inline(never)]
pub(super) fn put_message(payload: &[u8], message: Value<'_>, number: u32, items: &mut ChoiceItems<'_>) {
    let from = items.as_slice().len();
    let mut reader = ItemReader { payload, choice: number, items };
    reader.put_value(Kind::Message, How::Raw, message);
    if let Some(mut fields) = delta_at(payload, Part::raw(payload, message).start as usize) {
        // Each call of a message is whole, so none is a fragment.
        fields.is_fragment = false;
        reader.delta(&fields, u32::MAX);
    }
    items.mark_whole(from);
}

struct ItemReader<'r, 'i> {
    payload: &'r [u8],
    choice: u32,
    items: &'r mut ChoiceItems<'i>,
}

impl<'r> ItemReader<'r, '_> {
    #[inline]
    fn first_byte<const N: usize>(&self, spans: &Spans<N>, member: usize) -> Option<u8> {
        spans.get(member).and_then(|span| span.first_byte(self.payload))
    }

    fn value<const N: usize>(&self, spans: &Spans<N>, member: usize) -> Option<Value<'r>> {
        spans.get(member).map(|span| span.value(self.payload))
    }

    fn put(&mut self, kind: Kind, how: How, part: Part, is_fallback: bool) {
        let segments = if is_fallback { PageItem::FALLBACK } else { 0 };
        let flags = part.flags.bits() as u8;
        self.items.push(PageItem {
            start: part.start,
            end: part.end(),
            choice: self.choice,
            kind,
            how,
            flags,
            segments,
        });
    }

    fn put_value(&mut self, kind: Kind, how: How, value: Value<'_>) {
        self.put(kind, how, Part::raw(self.payload, value), false);
    }

    fn put_text(&mut self, kind: Kind, how: How, text: Text<'_>, is_fallback: bool) {
        self.put(kind, how, Part::of(self.payload, text), is_fallback);
    }

    /// Puts a member that is a string and not empty. For a template also an empty string, because the member may have a
    /// text in another chunk.
    #[inline]
    fn text<const N: usize>(&mut self, spans: &Spans<N>, member: usize, kind: Kind, is_fallback: bool) {
        if let Some(span) = spans.get(member) {
            self.string(span, kind, is_fallback);
        }
    }

    #[inline]
    fn string(&mut self, span: ValueSpan, kind: Kind, is_fallback: bool) {
        let [b'"', .., b'"'] = span.bytes(self.payload) else { return };
        let Some(len) = span.end.wrapping_sub(span.start).checked_sub(2) else { return };
        if len > 0 || self.items.keeps_all {
            let flags = TextFlags::from_bits(u16::from(span.flags));
            self.put(kind, How::Text, Part { start: span.start.wrapping_add(1), len, flags, lead: 0 }, is_fallback);
        }
    }

    /// Puts the members of a delta or a message that are in the set `which`.
    #[inline]
    fn delta(&mut self, fields: &DeltaIndex, which: u32) {
        let spans = &fields.spans;
        let mut left = spans.mask() & which;
        while left != 0 {
            let member = left.trailing_zeros() as usize;
            left &= left.wrapping_sub(1);
            match TEXTS.get(member) {
                Some(Some((kind, is_fallback))) => match spans.get(member) {
                    Some(span) if span.first_byte(self.payload) == Some(b'"') => {
                        self.string(span, *kind, *is_fallback);
                    }
                    Some(_) if member == delta::CONTENT => self.odd_content(spans),
                    Some(span) if *kind == Kind::Reasoning => self.odd_reasoning(span, *is_fallback),
                    _ => {}
                },
                _ => self.container_of_delta(fields, member),
            }
        }
    }

    /// Puts a content that is no string: a list of parts, or a number, which is emitted as it is written (Cloudflare).
    #[inline(never)]
    fn odd_content(&mut self, spans: &Spans<{ delta::COUNT }>) {
        let Some(value) = self.value(spans, delta::CONTENT) else { return };
        match value.kind() {
            ValueKind::Array => self.put_value(Kind::Content, How::Parts, value),
            ValueKind::Number => self.put_text(Kind::Content, How::Text, Text::verbatim(value.raw()), false),
            _ => {}
        }
    }

    /// Puts the `text` of reasoning that is an object.
    #[inline(never)]
    fn odd_reasoning(&mut self, span: ValueSpan, is_fallback: bool) {
        let value = span.value(self.payload);
        let text = Some(value).filter(|value| value.kind() == ValueKind::Object).and_then(|of| member_of(of, "text"));
        if let Some(text) = text.and_then(string_of) {
            self.put_text(Kind::Reasoning, How::Text, text, is_fallback);
        }
    }

    #[inline(never)]
    fn container_of_delta(&mut self, fields: &DeltaIndex, member: usize) {
        let Some(value) = self.value(&fields.spans, member) else { return };
        match (member, value.kind()) {
            (delta::REASONING_DETAILS, ValueKind::Array | ValueKind::Object)
                if self.items.keeps_all
                    || ReasoningDetails::of(Some(value)).any(|item| detail_text(item).is_some()) =>
            {
                self.put(Kind::Reasoning, How::Details, Part::raw(self.payload, value), true);
            }
            (delta::FUNCTION_CALL, ValueKind::Object) => self.put_value(Kind::FunctionName, How::Function, value),
            (delta::TOOL_CALLS, ValueKind::Array | ValueKind::Object) if fields.calls > 0 => {
                if fields.calls > 1 || !fields.is_fragment {
                    return self.put_value(Kind::ToolCall, How::Calls, value);
                }
                // A fragment without arguments has no effect; of empty ones a message knows that they came.
                let len = fields.arguments.bytes(self.payload).len();
                if len == 2 && !self.items.keeps_all {
                    return self.put_value(Kind::ToolCall, How::Calls, value);
                }
                if len < 2 {
                    return;
                }
                self.items.push(fragment(fields.call_index, self.choice));
                self.string(fields.arguments, Kind::ToolArguments, false);
            }
            (delta::AUDIO, ValueKind::Object) => self.put_value(Kind::Audio, How::Raw, value),
            (delta::ANNOTATIONS, ValueKind::Array) => self.put_value(Kind::Annotation, How::Raw, value),
            _ => {}
        }
    }

    /// Puts an item for a choice that has only members that no delta is made of. Only the tracker sees it, so that such a
    /// choice needs room as any other. A template has no such item: the tracker saw its choice when it was learned.
    #[inline(never)]
    fn put_bare(&mut self, choice: Option<ValueSpan>) {
        let Some(choice) = choice.map(|span| span.value(self.payload)) else { return };
        if !self.items.keeps_all && has_others(self.payload, choice) {
            self.put_value(Kind::Meta, How::Whole, choice);
        }
    }

    /// Whether the items so far contain a text or a call.
    fn has_deltas(&self) -> bool {
        self.items.as_slice().iter().any(|item| item.kind.is_part_of_delta() && has_delta(item, self.payload))
    }

    /// Puts the items of a member of the choice that is not its delta. The member must not be null.
    #[inline(never)]
    fn beside_delta(&mut self, spans: &Spans<{ choice::COUNT }>, member: usize) {
        let Some(value) = self.value(spans, member) else { return };
        let is_object = value.kind() == ValueKind::Object;
        match member {
            // If the delta contains a text or a call, the message does not count.
            choice::MESSAGE if is_object && !self.has_deltas() => {
                put_message(self.payload, value, self.choice, self.items);
            }
            choice::LOGPROBS if is_object => self.put_value(Kind::Logprobs, How::Raw, value),
            choice::NATIVE_FINISH_REASON => {
                if let Some(text) = text_of(value) {
                    self.put_text(Kind::Meta, How::NativeReason, text, false);
                }
            }
            choice::PROVIDER_FIELDS => {
                if let Some(text) = native_reason_of(value) {
                    self.put_text(Kind::Meta, How::NativeReason, text, true);
                }
            }
            choice::FINISH_REASON | choice::FINISH_CAMEL => {
                if let Some(text) = reason_of(value) {
                    self.put_text(Kind::Finish, How::Reason, text, true);
                }
            }
            choice::ERROR if is_error(value) => self.put_value(Kind::ChoiceError, How::Raw, value),
            _ => {}
        }
    }
}
