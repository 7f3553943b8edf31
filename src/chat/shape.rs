//! The shape of a chunk: its index, packed, and the holes in which chunks of the same shape may differ.
//!
//! What lies in a hole is such that the pass would find the same index, whatever it is, once it is a sound value of the
//! same kind: it looks into no text, and balances what it does not enter. No hole covers what decides anything: an index,
//! a name, a role, a type, a finish reason.

use super::flat;
use super::index::{call, choice, delta, top, ChoiceSet, Facts, Index, Span, Spans, SEGMENTS};
use crate::json::{Kind, Value};
use crate::QuirkSet;

/// Holes that a shape can have: one segment lies before each, and one behind the last.
pub(crate) const HOLES: usize = SEGMENTS - 1;

/// Members that a shape can have.
const MEMBERS: usize = 26;

/// What a hole takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Fill {
    /// What is between the quotes of a string.
    #[default]
    Text,
    /// A whole number, not negative.
    Number,
    /// An object or array that the pass does not enter, at this depth.
    Container(u8),
}

/// Where chunks of one shape may differ.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Hole {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) fill: Fill,
}

/// Members of the top level that were seen to change from chunk to chunk.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Changing {
    pub(crate) id: bool,
    pub(crate) created: bool,
}

impl Changing {
    /// The members that may, as they are written.
    pub(crate) fn texts<'a>(index: &Index, payload: &'a [u8]) -> [&'a [u8]; 2] {
        [top::ID, top::CREATED].map(|member| index.top(payload, member).map_or(&b""[..], |value| value.raw()))
    }
}

/// The holes of a chunk, in order.
#[derive(Debug, Default)]
pub(crate) struct Holes {
    holes: [Hole; HOLES],
    count: usize,
}

impl Holes {
    pub(crate) fn as_slice(&self) -> &[Hole] {
        self.holes.get(..self.count).unwrap_or_default()
    }

    /// `None`: there are too many.
    fn add(&mut self, payload: &[u8], value: Value<'_>, fill: Fill) -> Option<()> {
        let (start, end) = (super::index::start_of(payload, value), super::index::end_of(payload, value));
        let inside = usize::from(fill == Fill::Text);
        let hole = Hole { start: start.saturating_add(inside), end: end.saturating_sub(inside), fill };
        let at = self.as_slice().iter().take_while(|before| before.start < hole.start).count();
        let count = self.count.saturating_add(1);
        // Those behind it move on by one.
        let mut moving = hole;
        for place in self.holes.get_mut(at..count)? {
            core::mem::swap(place, &mut moving);
        }
        self.count = count;
        Some(())
    }

    /// The holes of a chunk that was read. With `texts`, no container is one. `None`: there are too many.
    pub(crate) fn of(index: &Index, payload: &[u8], changing: Changing, texts: bool) -> Option<Self> {
        let mut holes = Holes::default();
        let first = &index.first;
        let text = |value: &Value<'_>| value.as_text().is_some();
        let object = |value: &Value<'_>| !texts && value.kind() == Kind::Object;
        let spans = &first.delta.spans;
        for member in [
            delta::CONTENT,
            delta::REFUSAL,
            delta::REASONING_CONTENT,
            delta::REASONING,
            delta::THINKING,
            delta::THOUGHT,
        ] {
            if let Some(value) = super::index::member(index, payload, spans, member).filter(text) {
                holes.add(payload, value, Fill::Text)?;
            }
        }
        if let Some(value) = super::index::member(index, payload, &first.spans, choice::TEXT).filter(text) {
            holes.add(payload, value, Fill::Text)?;
        }
        if let Some(value) = super::index::member(index, payload, &first.delta.call, call::ARGUMENTS).filter(text) {
            holes.add(payload, value, Fill::Text)?;
        }
        if let Some(value) = super::index::member(index, payload, &first.spans, choice::LOGPROBS).filter(object) {
            holes.add(payload, value, Fill::Container(3))?;
        }
        if let Some(value) = index.top(payload, top::USAGE).filter(object) {
            holes.add(payload, value, Fill::Container(1))?;
        }
        if let Some(value) = index.top(payload, top::ID).filter(|value| changing.id && text(value)) {
            holes.add(payload, value, Fill::Text)?;
        }
        if let Some(value) = index.top(payload, top::CREATED).filter(|_| changing.created) {
            if value.raw().iter().all(u8::is_ascii_digit) {
                holes.add(payload, value, Fill::Number)?;
            }
        }
        // What nobody reads.
        for (name, value) in Value::from_raw(payload).members().map_while(Result::ok) {
            match name.raw() {
                b"obfuscation" if text(&value) => holes.add(payload, value, Fill::Text)?,
                b"timings" if object(&value) => holes.add(payload, value, Fill::Container(1))?,
                _ => {}
            }
        }
        Some(holes)
    }
}

/// A span of a remembered index.
#[derive(Clone, Copy, Debug, Default)]
struct Kept {
    start: u16,
    end: u16,
    segments: u8,
    flags: u8,
}

/// The index of a chunk, packed.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    quirks: QuirkSet,
    number: u32,
    due: u16,
    /// The members that are there: of the top level, of the first choice, of its delta, of its first tool call.
    there: [u16; 4],
    choices: u8,
    calls: u8,
    facts: Facts,
    spans: [Kept; MEMBERS],
}

impl Shape {
    pub(crate) const EMPTY: Shape = Shape {
        quirks: QuirkSet::EMPTY,
        number: 0,
        due: 0,
        there: [0; 4],
        choices: 0,
        calls: 0,
        facts: Facts::NONE,
        spans: [Kept { start: 0, end: 0, segments: 0, flags: 0 }; MEMBERS],
    };

    /// Keeps the index of a chunk with these holes. `None`: it is too large for that.
    pub(crate) fn keep(&mut self, index: &Index, holes: &[Hole]) -> Option<()> {
        let first = &index.first;
        let (choices, calls) = (u8::try_from(index.choices).ok()?, u8::try_from(first.delta.calls).ok()?);
        let mut room = self.spans.iter_mut();
        keep_level(&mut room, &index.top, holes)?;
        keep_level(&mut room, &first.spans, holes)?;
        keep_level(&mut room, &first.delta.spans, holes)?;
        keep_level(&mut room, &first.delta.call, holes)?;
        let there = [index.top.mask(), first.spans.mask(), first.delta.spans.mask(), first.delta.call.mask()];
        self.there = there.map(|mask| mask as u16);
        (self.choices, self.calls) = (choices, calls);
        (self.quirks, self.facts) = (index.quirks, index.facts);
        (self.due, self.number) = (index.due as u16, index.number);
        Some(())
    }

    /// Makes `index` that of the chunk that was kept, but for the bases of its segments and what is known of the texts in
    /// the holes. The choices that are seen and finished are those that were told when it was read.
    pub(crate) fn recall(&self, index: &mut Index) {
        let [top, choice, delta, call] = self.there;
        let first = &mut index.first;
        let mut kept = self.spans.iter();
        recall_level(&mut kept, &mut index.top, top);
        recall_level(&mut kept, &mut first.spans, choice);
        recall_level(&mut kept, &mut first.delta.spans, delta);
        recall_level(&mut kept, &mut first.delta.call, call);
        (index.choices, first.delta.calls) = (u32::from(self.choices), u32::from(self.calls));
        (index.quirks, index.facts) = (self.quirks, self.facts);
        (index.due, index.number) = (u32::from(self.due), self.number);
        (index.seen, index.finished) = (ChoiceSet::EMPTY, ChoiceSet::EMPTY);
    }
}

fn keep_level<const N: usize>(
    room: &mut core::slice::IterMut<'_, Kept>,
    spans: &Spans<N>,
    holes: &[Hole],
) -> Option<()> {
    // The segment that begins behind the last hole before it.
    let segment = |at: u32| holes.iter().filter(|hole| hole.end <= at as usize).count() as u8;
    let mut rest = spans.mask();
    while rest != 0 {
        let span = spans.get(rest.trailing_zeros() as usize)?;
        rest &= rest.wrapping_sub(1);
        *room.next()? = Kept {
            start: u16::try_from(span.start).ok()?,
            end: u16::try_from(span.end).ok()?,
            segments: segment(span.start) | segment(span.end) << 4,
            flags: span.flags,
        };
    }
    Some(())
}

fn recall_level<const N: usize>(kept: &mut core::slice::Iter<'_, Kept>, spans: &mut Spans<N>, there: u16) {
    spans.clear();
    let mut rest = there;
    while rest != 0 {
        let member = rest.trailing_zeros() as usize;
        rest &= rest.wrapping_sub(1);
        let Some(&Kept { start, end, segments, flags }) = kept.next() else { return };
        spans.set(member, Span { start: u32::from(start), end: u32::from(end), segments, flags });
    }
}

const _: () = assert!(flat::ERROR <= u16::MAX as u32);
const _: () = assert!(top::COUNT <= 16 && choice::COUNT <= 16 && delta::COUNT <= 16 && call::COUNT <= 16);

#[cfg(test)]
mod tests;
