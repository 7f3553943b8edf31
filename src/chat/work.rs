//! The parts that all walks through a chunk share: steps, notes, and storing values in their places.

use super::expect::{Expect, MemberRule};
use super::index::{Spans, ValueSpan};
use super::key::Key;
use crate::json::{Before, JsonError, Skipped, Steps, TextFlags, Value, ValueKinds};
use crate::{Quirk, QuirkSet};

/// The findings of a walk.
#[derive(Default)]
pub(super) struct Notes {
    pub(super) quirks: QuirkSet,
    /// The first error in the bytes, which ends the walk.
    pub(super) fault: Option<JsonError>,
    /// Whether a member has no place, and is neither null nor padding.
    pub(super) has_others: bool,
    /// Whether a choice has usage, or the chunk an `error_code`.
    pub(super) has_rare: bool,
}

/// The walk itself. Its steps change all the time and stay in registers. The notes are seldom written and stay in memory.
pub(super) struct Work<'a, 'n> {
    pub(super) steps: Steps<'a>,
    pub(super) notes: &'n mut Notes,
}

/// The place of a member that the index does not keep. Its value is skipped.
pub(super) const UNKNOWN: MemberRule = MemberRule::new(0xff, Expect::ANY);

/// The place of padding, which no reader wants. Its value is skipped.
pub(super) const PADDING: MemberRule = MemberRule::new(0xfe, Expect::ANY);

/// What comes where a name is expected.
pub(super) enum NextKey {
    Key(Key),
    /// The object ends, or a fault ends it.
    End,
    /// The name is malformed.
    Fault,
}

/// Passes `$before`, the object's bracket or a comma, and the next name. The slot of its tag selects the candidates, and the
/// four bytes of the tag and the bytes after them decide whether the name is one of them; any other name is looked up by
/// [`Work::key`]. Leaves the loop at the end of the object, and the function if the name is malformed.
macro_rules! next_key {
    ($work:ident, $before:ident, $($tag:literal { $($rest:literal => $key:ident),* })*) => {{
        /// Each tag has a slot of its own: one jump finds it, whatever the order in which the members come.
        const BY: u32 = $crate::chat::key::spread(&[$($crate::chat::key::tag($tag)),*]);
        let tag = $work.steps.tag($before);
        let key = match $crate::chat::key::slot(tag, BY) {
            $(slot if slot == const { $crate::chat::key::slot($crate::chat::key::tag($tag), BY) }
                && tag == const { $crate::chat::key::tag($tag) } => {
                $(if $work.steps.took($rest) { $crate::chat::work::NextKey::Key($crate::chat::key::Key::$key) } else)* { $work.key($before) }
            })*
            _ => $work.key($before),
        };
        $before = $crate::json::Before::Comma;
        match key {
            $crate::chat::work::NextKey::Key(key) => key,
            $crate::chat::work::NextKey::End => break,
            $crate::chat::work::NextKey::Fault => return None,
        }
    }};
}

pub(super) fn span(read: Skipped) -> ValueSpan {
    ValueSpan { start: read.start as u32, end: read.end as u32, segments: 0, flags: read.flags.bits() as u8 }
}

impl<'a> Work<'a, '_> {
    /// Notes the fault of a step, if there is one, and ends the walk.
    #[inline(always)]
    pub(super) fn noted<T>(&mut self, step: Result<T, JsonError>) -> Option<T> {
        match step {
            Ok(step) => Some(step),
            Err(fault) => {
                self.notes.fault = self.notes.fault.or(Some(fault));
                self.steps.stop();
                None
            }
        }
    }

    /// Runs a function that is not inlined on a copy of the steps. Nothing may point to the original, so that it stays in
    /// registers.
    #[inline(always)]
    pub(super) fn aside<T>(&mut self, what: impl FnOnce(&mut Work<'a, '_>) -> T) -> T {
        let mut work = Work { steps: self.steps, notes: self.notes };
        let result = what(&mut work);
        self.steps.go_to(work.steps);
        result
    }

    pub(super) fn value_of(&self, read: Skipped) -> Value<'a> {
        self.value(span(read))
    }

    /// Returns the first byte of a value, which determines its kind.
    #[inline(always)]
    pub(super) fn first_byte(&self, span: ValueSpan) -> Option<u8> {
        span.first_byte(self.steps.bytes())
    }

    pub(super) fn value(&self, span: ValueSpan) -> Value<'a> {
        span.value(self.steps.bytes())
    }

    /// Enters the next value, an object. Returns the byte before its first name, which [`next_key!`] passes.
    #[inline(always)]
    pub(super) fn enter_object(&mut self) -> Before {
        if self.steps.descend_here(b'{') {
            return Before::Bracket;
        }
        self.aside(|work| work.enter_any_object())
    }

    #[inline(never)]
    fn enter_any_object(&mut self) -> Before {
        let entered = self.steps.descend(b'{');
        // After a fault there are no more bytes, and that ends the object.
        self.noted(entered).map_or(Before::Comma, |()| Before::Bracket)
    }

    /// Enters the next value, an array. Returns whether it has an element, and leaves it if not.
    #[inline(always)]
    pub(super) fn enter_array(&mut self) -> bool {
        self.steps.enter_objects() || self.aside(|work| work.enter_any_array())
    }

    #[inline(never)]
    fn enter_any_array(&mut self) -> bool {
        let entered = self.steps.enter(b'[');
        self.noted(entered).is_some() && self.steps.first(b']') && self.value_comes()
    }

    /// Whether another element follows the one that was just read.
    #[inline(always)]
    pub(super) fn more_elements(&mut self) -> bool {
        if self.steps.close(b']') {
            return false;
        }
        self.aside(|work| work.any_more_elements())
    }

    #[inline(never)]
    fn any_more_elements(&mut self) -> bool {
        let more = self.steps.more(b']');
        self.noted(more) == Some(true) && self.value_comes()
    }

    #[inline(always)]
    fn value_comes(&mut self) -> bool {
        let comes = self.steps.expect_value();
        self.noted(comes).is_some()
    }

    /// Passes the next name, known or not, and the byte before it, or the end of the object.
    #[inline(always)]
    pub(super) fn key(&mut self, before: Before) -> NextKey {
        if self.steps.close(b'}') {
            return NextKey::End;
        }
        self.aside(|work| work.any_key(before))
    }

    #[inline(never)]
    fn any_key(&mut self, before: Before) -> NextKey {
        let more = self.steps.more_after(before);
        if self.noted(more) != Some(true) {
            return NextKey::End;
        }
        let name = self.steps.name();
        self.noted(name).map_or(NextKey::Fault, |(raw, flags)| NextKey::Key(Key::of(raw, flags)))
    }

    /// Skips the next value.
    #[inline(always)]
    pub(super) fn read(&mut self) -> Option<Skipped> {
        let read = self.steps.any_value();
        self.noted(read)
    }

    /// Reads a member's value into its place. Returns `None` after a fault.
    #[inline(always)]
    pub(super) fn member<const N: usize>(&mut self, spans: &mut Spans<N>, place: MemberRule) -> Option<()> {
        let start = self.steps.offset();
        let kind = if self.steps.plain_string() {
            ValueKinds::STRING
        } else if self.steps.null() {
            ValueKinds::NULL
        } else {
            return self.aside(|work| work.odd_member(spans, place));
        };
        let read = Skipped { start, end: self.steps.offset(), kind, flags: TextFlags::PLAIN };
        if !kind.any(place.plain()) {
            self.aside(|work| work.judge_value(place, work.value_of(read)));
        }
        self.set(spans, place, read);
        Some(())
    }

    /// Reads a member's value into its place, if `take` passes it. Otherwise reads nothing. For members that are one in nearly
    /// every chunk: the number of the member is a constant, so this is much shorter than [`member`](Work::member).
    #[inline(always)]
    pub(super) fn taken<const N: usize>(
        &mut self,
        spans: &mut Spans<N>,
        member: usize,
        take: impl FnOnce(&mut Steps<'a>) -> bool,
    ) -> bool {
        let start = self.steps.offset();
        let took = take(&mut self.steps);
        if took {
            self.place(spans, member, self.span_from(start));
        }
        took
    }

    /// [`taken`](Work::taken) of a plain string.
    #[inline(always)]
    pub(super) fn text<const N: usize>(&mut self, spans: &mut Spans<N>, member: usize) -> bool {
        self.taken(spans, member, Steps::plain_string_before_end)
    }

    #[inline(never)]
    fn odd_member<const N: usize>(&mut self, spans: &mut Spans<N>, place: MemberRule) -> Option<()> {
        let read = self.odd_value(place)?;
        self.set(spans, place, read);
        Some(())
    }

    /// Reads the value of a member that belongs in this place.
    #[inline(never)]
    fn odd_value(&mut self, place: MemberRule) -> Option<Skipped> {
        let read = self.read()?;
        if !read.kind.any(place.plain()) {
            self.judge_value(place, self.value_of(read));
        }
        Some(read)
    }

    /// Notes what is odd about a value that needs a second look.
    #[inline(never)]
    fn judge_value(&mut self, place: MemberRule, value: Value<'_>) {
        self.notes.quirks |= place.judge(value);
    }

    #[inline(always)]
    fn set<const N: usize>(&mut self, spans: &mut Spans<N>, place: MemberRule, read: Skipped) {
        match spans.set(place.member(), span(read)) {
            Some(twice) => self.flag(twice, Quirk::DuplicateMember),
            None => self.notes.has_others |= place == UNKNOWN && read.kind != ValueKinds::NULL,
        }
    }

    /// Reads a member's value into its place, if it is a number of plain digits. Otherwise reads nothing.
    #[inline(always)]
    pub(super) fn integer<const N: usize>(&mut self, spans: &mut Spans<N>, member: usize) -> bool {
        let Some(read) = self.steps.plain_integer() else { return false };
        self.place(spans, member, span(read));
        true
    }

    #[inline(always)]
    pub(super) fn place<const N: usize>(&mut self, spans: &mut Spans<N>, member: usize, span: ValueSpan) {
        let twice = spans.set(member, span);
        self.flag(twice == Some(true), Quirk::DuplicateMember);
    }

    /// Returns the span of the value that began at `start` and ends here.
    #[inline(always)]
    pub(super) fn span_from(&self, start: usize) -> ValueSpan {
        span(Skipped { start, end: self.steps.offset(), kind: ValueKinds::OTHER, flags: TextFlags::PLAIN })
    }

    /// Notes that a member, though it has a place, may contain members that no delta is made of, unless it is null.
    #[inline(never)]
    pub(super) fn note_other(&mut self) {
        self.notes.has_others |= self.steps.peek() != b'n';
    }

    #[inline(always)]
    pub(super) fn flag(&mut self, when: bool, quirk: Quirk) {
        if when {
            self.notes.quirks.insert(quirk);
        }
    }
}

pub(super) use next_key;
