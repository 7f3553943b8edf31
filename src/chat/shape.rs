//! The shape of a chunk: its index, packed, and the holes in which chunks of the same shape may differ.
//!
//! If each hole contains a sound value of its kind, the pass would find the same index, whatever the values are: the
//! pass does not look into texts, and only balances the brackets of containers that it does not enter. No hole covers a
//! value that decides anything: an index, a name, a role, a type, a finish reason.

use super::index::{choice, delta, member, top, ChunkFacts, Index, Spans, ValueSpan};
use super::list::put_choice;
use super::page::{Behind, ChoiceItems, How, PageItem};
use crate::delta::{Kind, Part};
use crate::dialect::{index_number, place_of, Protocol};
use crate::json::{members_of, Text, Value, ValueKind};
use crate::scan::parts::HOLES;
use crate::QuirkSet;

/// The most members that a shape can have.
const MEMBERS: usize = 19;

/// The most candidates that a shape can have.
const CANDIDATES: usize = 6;

/// What a hole may contain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum HoleKind {
    /// The bytes between the quotes of a string.
    #[default]
    Text,
    /// Like `Text`, if the parser checks all of RFC 8259.
    Checked,
    /// A whole number, not negative.
    Number,
    /// An object or array that the pass does not enter, at this depth of nesting.
    Container(u8),
    /// A whole number that is the token count of this place.
    Count(u8),
    /// Any number of spaces.
    Spaces,
}

/// A range of a payload in which chunks of one shape may differ.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Hole {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) fill: HoleKind,
}

/// Which members of the top level change from chunk to chunk, or from stream to stream.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Changing {
    pub(crate) id: bool,
    pub(crate) created: bool,
    pub(crate) fingerprint: bool,
}

impl Changing {
    /// No member is known to change.
    pub(crate) const NOTHING: Changing = Changing { id: false, created: false, fingerprint: false };
    /// All of them change.
    pub(crate) const ALL: Changing = Changing { id: true, created: true, fingerprint: true };

    /// Returns the ID and the time of a chunk as they are written. Both may change.
    pub(crate) fn texts<'a>(index: &Index, payload: &'a [u8]) -> [&'a [u8]; 2] {
        [id_of(index, payload), index.top(payload, top::CREATED)]
            .map(|value| value.map_or(&b""[..], |value| value.raw()))
    }
}

/// Returns the ID of a chunk or, for an event of Responses, the ID of the item that it belongs to.
fn id_of<'a>(index: &Index, payload: &'a [u8]) -> Option<Value<'a>> {
    match index.plan.protocol() {
        Some(Protocol::Responses) => members_of(Value::from_raw(payload), ["item_id"])[0],
        _ => index.top(payload, top::ID),
    }
}

/// The holes of a chunk, in order.
#[derive(Debug, Default)]
pub(crate) struct Holes {
    holes: [Hole; HOLES],
    count: usize,
    /// Whether all of RFC 8259 is checked: no container is a hole then.
    is_strict: bool,
}

impl Holes {
    pub(crate) fn as_slice(&self) -> &[Hole] {
        self.holes.get(..self.count).unwrap_or_default()
    }

    /// Adds a hole for a value, if such a hole may contain the value. Returns `None` if there are too many holes.
    #[inline(never)]
    fn add(&mut self, payload: &[u8], value: Option<Value<'_>>, fill: HoleKind) -> Option<()> {
        let may_fill = |value: &Value<'_>| match fill {
            HoleKind::Text | HoleKind::Checked => value.as_text().is_some(),
            HoleKind::Number | HoleKind::Count(_) => is_digits(*value),
            HoleKind::Container(_) => !self.is_strict && value.kind() == ValueKind::Object,
            HoleKind::Spaces => false,
        };
        let Some(value) = value.filter(may_fill) else { return Some(()) };
        let (part, inside) = (Part::raw(payload, value), usize::from(fill == HoleKind::Text));
        let (start, end) = (part.start as usize, part.end() as usize);
        self.put(Hole { start: start.saturating_add(inside), end: end.saturating_sub(inside), fill })
    }

    #[inline(never)]
    fn put(&mut self, hole: Hole) -> Option<()> {
        let at = self.as_slice().iter().take_while(|before| before.start < hole.start).count();
        let count = self.count.saturating_add(1);
        let fill = if self.is_strict && hole.fill == HoleKind::Text { HoleKind::Checked } else { hole.fill };
        // The holes after it move by one place.
        let mut moving = Hole { fill, ..hole };
        for place in self.holes.get_mut(at..count)? {
            core::mem::swap(place, &mut moving);
        }
        self.count = count;
        Some(())
    }

    /// Returns the holes of a chunk with this index, or `None` if there are too many.
    pub(crate) fn of(index: &Index, payload: &[u8], changing: Changing, is_strict: bool) -> Option<Self> {
        let mut holes = Holes { is_strict, ..Holes::default() };
        match index.plan.protocol() {
            Some(protocol) => holes.of_event(protocol, index, payload, changing)?,
            None => holes.of_chunk(index, payload, changing)?,
        }
        Some(holes)
    }

    fn of_chunk(&mut self, index: &Index, payload: &[u8], changing: Changing) -> Option<()> {
        let first = &index.first;
        let of_delta = |number| member(index, payload, &first.delta.spans, number);
        let of_choice = |number| member(index, payload, &first.spans, number);
        for number in [
            delta::CONTENT,
            delta::REFUSAL,
            delta::REASONING_CONTENT,
            delta::REASONING,
            delta::THINKING,
            delta::THOUGHT,
            delta::REASONING_TEXT,
        ] {
            self.add(payload, of_delta(number), HoleKind::Text)?;
        }
        for (value, fill) in [
            (of_choice(choice::TEXT), HoleKind::Text),
            (Some(index.value(payload, first.delta.arguments)), HoleKind::Text),
            (of_choice(choice::LOGPROBS), HoleKind::Container(3)),
            (index.top(payload, top::USAGE), HoleKind::Container(1)),
            (index.top(payload, top::ID).filter(|_| changing.id), HoleKind::Text),
            (index.top(payload, top::CREATED).filter(|_| changing.created), HoleKind::Number),
        ] {
            self.add(payload, value, fill)?;
        }
        // Texts that the pass does not reach: it skips the details, and reads only the types of content parts.
        for (number, names) in [
            (delta::REASONING_DETAILS, &[&b"text"[..], b"summary", b"data"][..]),
            (delta::CONTENT, &[b"text", b"thinking"]),
        ] {
            if let Some(list) = of_delta(number) {
                self.add_texts(payload, list, names)?;
            }
        }
        // Members that no reader uses.
        each_member(Value::from_raw(payload), &mut |name, value| match name.raw() {
            // `p` is the padding of Mistral.
            b"obfuscation" | b"p" => self.add(payload, Some(value), HoleKind::Text),
            b"timings" => self.add(payload, Some(value), HoleKind::Container(1)),
            _ => Some(()),
        })?;
        if changing.fingerprint {
            // If there is no room for this hole, chunks with another fingerprint have another template.
            let _ = self.add(payload, index.top(payload, top::SYSTEM_FINGERPRINT), HoleKind::Text);
        }
        Some(())
    }

    /// Adds the texts with these names in the objects of a list, and the texts in lists under these names.
    fn add_texts(&mut self, payload: &[u8], list: Value<'_>, names: &[&[u8]]) -> Option<()> {
        for item in list.elements().map_while(Result::ok) {
            each_member(item, &mut |name, value| {
                if !names.contains(&name.raw()) {
                    return Some(());
                }
                for inner in value.elements().map_while(Result::ok) {
                    self.add(payload, inner.get("text").ok().flatten(), HoleKind::Text)?;
                }
                self.add(payload, Some(value), HoleKind::Text)
            })?;
        }
        Some(())
    }

    /// Adds the results of Azure's content filters, which no reader uses. Outside of a hole they would make an event
    /// too long for a template. Returns `None` if the event has no such results.
    pub(crate) fn add_filter_results(&mut self, payload: &[u8]) -> Option<()> {
        let choices = Value::from_raw(payload).get("choices").ok()??;
        let results = choices.elements().next()?.ok()?.get("content_filter_results").ok()??;
        self.add(payload, Some(results), HoleKind::Container(3))
    }

    /// Finds the holes of an event of another protocol with only a text.
    fn of_event(&mut self, protocol: Protocol, index: &Index, payload: &[u8], changing: Changing) -> Option<()> {
        let items = index.list.items.get(..usize::from(index.list.len)).unwrap_or_default();
        for item in items.iter().filter(|item| item.how.is_text() && item.kind != Kind::Role) {
            self.put(Hole { start: item.start as usize, end: item.end as usize, fill: HoleKind::Text })?;
        }
        if changing.id {
            self.add(payload, id_of(index, payload), HoleKind::Text)?;
        }
        match protocol {
            Protocol::Responses => each_member(Value::from_raw(payload), &mut |name, value| match name.raw() {
                b"obfuscation" => self.add(payload, Some(value), HoleKind::Text),
                b"sequence_number" => self.add(payload, Some(value), HoleKind::Number),
                _ => Some(()),
            }),
            Protocol::Anthropic => {
                // Anthropic pads its events with spaces before the last brace.
                let end = payload.len().checked_sub(1).filter(|_| payload.ends_with(b"}"))?;
                let spaces = payload.get(..end)?.iter().rev().take_while(|byte| **byte == b' ').count();
                self.put(Hole { start: end.saturating_sub(spaces), end, fill: HoleKind::Spaces })
            }
            _ => {
                // The usage of each event counts, so every count must be read from its hole.
                let Some(usage) = index.top(payload, top::USAGE) else { return Some(()) };
                let before = self.count;
                each_member(usage, &mut |name, value| {
                    let place = place_of(protocol, &name).filter(|_| value.kind() == ValueKind::Number);
                    let Some(place) = place else { return Some(()) };
                    Some(()).filter(|()| is_digits(value))?;
                    self.add(payload, Some(value), HoleKind::Count(place))
                })?;
                (self.count > before).then_some(())
            }
        }
    }
}

/// Calls `each` for the members of an object, until it returns `None`.
#[inline(never)]
fn each_member<'a>(object: Value<'a>, each: &mut dyn FnMut(Text<'a>, Value<'a>) -> Option<()>) -> Option<()> {
    object.members().map_while(Result::ok).try_for_each(|(name, value)| each(name, value))
}

/// Whether a value is a number of only digits.
fn is_digits(value: Value<'_>) -> bool {
    value.raw().iter().all(u8::is_ascii_digit)
}

/// A span of a stored index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct PackedSpan {
    start: u16,
    end: u16,
    segments: u8,
    flags: u8,
}

impl PackedSpan {
    const NONE: PackedSpan = PackedSpan { start: 0, end: 0, segments: 0, flags: 0 };

    /// Packs a span that lies `quote` bytes inside of its value. Returns `None` if an offset does not fit 16 bits.
    fn of(span: ValueSpan, quote: u32, holes: &[Hole]) -> Option<Self> {
        // An offset counts from the end of the last hole before the value's bound, where its segment begins.
        let place = |at: u32, bound: u32| {
            let before = holes.iter().take_while(|hole| hole.end <= bound as usize);
            let (base, count) = before.fold((0, 0), |(_, count): (usize, u8), hole| (hole.end, count.wrapping_add(1)));
            Some((u16::try_from((at as usize).checked_sub(base)?).ok()?, count))
        };
        let (start, from) = place(span.start, span.start.checked_sub(quote)?)?;
        let (end, to) = place(span.end, span.end.checked_add(quote)?)?;
        // A text in a hole has flags of its own in each event.
        let flags = if from == to { span.flags } else { 0 };
        Some(PackedSpan { start, end, segments: from | to << 4, flags })
    }

    #[inline(always)]
    fn span(self) -> ValueSpan {
        let PackedSpan { start, end, segments, flags } = self;
        ValueSpan { start: u32::from(start), end: u32::from(end), segments, flags }
    }
}

/// A possible delta of a chunk of this shape: a [`PageItem`], packed. The contents of the holes decide whether it is a
/// delta: an empty text is none, and neither is a fallback after a delta of its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Candidate {
    /// Where the item lies. The segments include its [`FALLBACK`](PageItem::FALLBACK).
    place: PackedSpan,
    kind: Kind,
    how: How,
}

impl Candidate {
    const NONE: Candidate = Candidate { place: PackedSpan::NONE, kind: Kind::Role, how: How::Raw };

    fn of(item: &PageItem, holes: &[Hole]) -> Option<Self> {
        let PageItem { start, end, kind, how, flags, .. } = *item;
        // The index of a fragment is no offset in the payload.
        let holes = if how == How::Fragment { &[] } else { holes };
        // The quotes of a string lie outside its hole.
        let quote = u32::from(how.is_text());
        let mut place = PackedSpan::of(ValueSpan { start, end, segments: 0, flags }, quote, holes)?;
        place.segments |= item.segments & PageItem::FALLBACK;
        Some(Candidate { place, kind, how })
    }
}

const _: () = assert!(core::mem::size_of::<Candidate>() == 8);

/// The index of a chunk, packed, and its deltas.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    quirks: QuirkSet,
    /// The index of the first choice, or the slot of the only text of an event.
    number: u32,
    /// The protocol, unless the event is of chat completions.
    protocol: Option<Protocol>,
    /// The sets of members that are present: of the top level, of the first choice, and of its delta.
    there: [u16; 3],
    choices: u8,
    facts: ChunkFacts,
    /// What follows the choices.
    behind: Behind,
    candidates: [Candidate; CANDIDATES],
    count: u8,
    spans: [PackedSpan; MEMBERS],
}

impl Shape {
    pub(crate) const EMPTY: Shape = Shape {
        quirks: QuirkSet::EMPTY,
        number: 0,
        protocol: None,
        there: [0; 3],
        choices: 0,
        facts: ChunkFacts::NONE,
        behind: Behind::NOTHING,
        candidates: [Candidate::NONE; CANDIDATES],
        count: 0,
        spans: [PackedSpan::NONE; MEMBERS],
    };

    /// Stores the index of a chunk with these holes. Returns `None` if the index is too large, if the chunk has several
    /// choices, because a template could recognize the choices after the first only if they do not change, or if it has
    /// a message, which is rarely repeated.
    pub(crate) fn keep(&mut self, index: &Index, payload: &[u8], holes: &[Hole]) -> Option<()> {
        let first = &index.first;
        if index.choices > 1 || first.spans.has(choice::MESSAGE) {
            return None;
        }
        let mut room = self.spans.iter_mut();
        self.there = [
            keep_level(&mut room, &index.top, payload, holes)?,
            keep_level(&mut room, &first.spans, payload, holes)?,
            keep_level(&mut room, &first.delta.spans, payload, holes)?,
        ];
        self.choices = index.choices as u8;
        (self.quirks, self.facts) = (index.quirks, index.facts);
        self.behind = index.list.behind;
        self.protocol = index.plan.protocol();
        if self.protocol.is_none() {
            return self.keep_deltas(index, payload, holes);
        }
        // `restore` gives all items one number. It is 0 unless the only item is a text with a slot.
        let items = index.list.items.get(..usize::from(index.list.len))?;
        self.number = items.last()?.choice;
        Some(()).filter(|()| items.len() == 1 || self.number == 0)?;
        self.keep_items(items, holes)
    }

    /// Returns the protocol of the event, unless that is chat completions.
    pub(crate) fn protocol(&self) -> Option<Protocol> {
        self.protocol
    }

    /// Stores the candidates: all items that may be a delta.
    fn keep_deltas(&mut self, index: &Index, payload: &[u8], holes: &[Hole]) -> Option<()> {
        let number = member(index, payload, &index.first.spans, choice::INDEX).and_then(index_number);
        let mut room = [PageItem::NONE; ChoiceItems::OF_CHOICE];
        let mut items = ChoiceItems::new(&mut room, true);
        self.number = number.unwrap_or(0);
        put_choice(payload, &index.first, self.number, &mut items);
        self.keep_items(items.as_slice(), holes)
    }

    fn keep_items(&mut self, items: &[PageItem], holes: &[Hole]) -> Option<()> {
        self.count = items.len() as u8;
        for (to, item) in self.candidates.iter_mut().zip(items) {
            *to = Candidate::of(item, holes)?;
        }
        (items.len() <= CANDIDATES).then_some(())
    }

    /// Whether chunks of both shapes have the same index except for the [number](Shape::restore_number).
    pub(crate) fn is_like(&self, other: &Shape) -> bool {
        let parts =
            |shape: &Shape| (shape.quirks, shape.protocol, shape.there, shape.choices, shape.facts, shape.behind);
        let spans: u32 = self.there.iter().map(|there| there.count_ones()).sum();
        let (spans, count) = (spans as usize, usize::from(self.count));
        parts(self) == parts(other)
            && self.count == other.count
            && self.spans.get(..spans) == other.spans.get(..spans)
            && self.candidates.get(..count) == other.candidates.get(..count)
    }

    /// Does what [`restore`](Shape::restore) does, for an `index` that a shape [like](Shape::is_like) this one
    /// restored.
    pub(crate) fn restore_number(&self, index: &mut Index) {
        // All items have the same number, so the loop ends at once if the first item has this number.
        let items = index.list.items.iter_mut().take(usize::from(index.list.len));
        items.take_while(|item| item.choice != self.number).for_each(|item| item.choice = self.number);
    }

    /// Makes `index` the index of the chunk that was stored. The caller sets the bases of its segments, and the flags
    /// of the texts in the holes.
    pub(crate) fn restore(&self, index: &mut Index) {
        let [top, choice, delta] = self.there;
        let first = &mut index.first;
        let mut kept = self.spans.iter().map(|span| span.span());
        index.top.fill(top, &mut kept);
        first.spans.fill(choice, &mut kept);
        first.delta.spans.fill(delta, &mut kept);
        index.choices = u32::from(self.choices);
        (index.quirks, index.facts) = (self.quirks, self.facts);
        index.plan.protocol = self.protocol;
        index.list.clear();
        index.list.behind = self.behind;
        for candidate in self.candidates.iter().take(usize::from(self.count)) {
            let Candidate { place, kind, how } = *candidate;
            let ValueSpan { start, end, segments, flags } = place.span();
            index.list.push(PageItem { start, end, choice: self.number, kind, how, flags, segments });
        }
    }
}

/// Stores the spans of one level that are not null. Returns the set of these members.
fn keep_level<const N: usize>(
    room: &mut core::slice::IterMut<'_, PackedSpan>,
    spans: &Spans<N>,
    payload: &[u8],
    holes: &[Hole],
) -> Option<u16> {
    let (mut rest, mut there) = (spans.mask(), 0);
    while rest != 0 {
        let member = rest.trailing_zeros();
        rest &= rest.wrapping_sub(1);
        let span = spans.get(member as usize)?;
        // Every view treats null as absent.
        if payload.get(span.start as usize) != Some(&b'n') {
            there |= 1 << (member & 15);
            *room.next()? = PackedSpan::of(span, 0, holes)?;
        }
    }
    Some(there)
}

const _: () = assert!(top::COUNT <= 16 && choice::COUNT <= 16 && delta::COUNT <= 16);

#[cfg(test)]
mod tests;
