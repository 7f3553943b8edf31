//! What all walks of a chunk share: the steps, the notes, and how the spans of values are stored.

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
    /// Whether there is a member that no index stores, and that is neither null nor padding.
    pub(super) has_others: bool,
    /// Whether a choice has usage, or the chunk an `error_code`.
    pub(super) has_rare: bool,
}

/// A walk of a payload. The steps change with each byte, so the compiler must be able to keep them in registers. The
/// notes are seldom written, so the walk only borrows them.
pub(super) struct Work<'a, 'n> {
    pub(super) steps: Steps<'a>,
    pub(super) notes: &'n mut Notes,
}

/// The rule of a member that no index stores. The walk skips its value.
pub(super) const UNKNOWN: MemberRule = MemberRule::new(0xff, Expect::ANY);

/// The rule of padding, which no reader uses. The walk skips its value.
pub(super) const PADDING: MemberRule = MemberRule::new(0xfe, Expect::ANY);

/// The result of a step to the next name of an object.
pub(super) enum NextKey {
    Key(Key),
    /// The object ends, or a fault ends it.
    End,
    /// The name is malformed.
    Fault,
}

/// Passes `$before`, which is the bracket of the object or a comma, and the next name. The bucket of the name's tag
/// selects the candidates. The four bytes of the tag and the bytes after them decide whether the name is one of these;
/// [`Work::key`] looks up any other name. Leaves the loop at the end of the object, and returns from the function if
/// the name is malformed.
macro_rules! next_key {
    ($work:ident, $before:ident, $($tag:literal { $($rest:literal => $key:ident),* })*) => {{
        /// Gives each tag a bucket of its own, so that one jump finds the tag, whatever the order of the members.
        const BY: u32 = $crate::chat::key::spread(&[$($crate::chat::key::tag($tag)),*]);
        let tag = $work.steps.tag($before);
        let key = match $crate::chat::key::bucket(tag, BY) {
            $(bucket if bucket == const { $crate::chat::key::bucket($crate::chat::key::tag($tag), BY) }
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

    /// Runs a function that is not inlined on a copy of the steps. A pointer to the original would force the steps of
    /// the whole walk into memory.
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
        // A fault stops the steps: the next step finds no more bytes, which ends the object.
        self.noted(entered).map_or(Before::Comma, |()| Before::Bracket)
    }

    /// Enters the next value, an array. Returns whether the array has an element. If not, leaves the array.
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

    /// Passes the byte before the next name and the name, known or not, or passes the end of the object.
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

    /// Reads the value of a member, judges it, and stores its span. Returns `None` after a fault.
    #[inline(always)]
    pub(super) fn member<const N: usize>(&mut self, spans: &mut Spans<N>, rule: MemberRule) -> Option<()> {
        let start = self.steps.offset();
        let kind = if self.steps.plain_string() {
            ValueKinds::STRING
        } else if self.steps.null() {
            ValueKinds::NULL
        } else {
            return self.aside(|work| work.odd_member(spans, rule));
        };
        let read = Skipped { start, end: self.steps.offset(), kind, flags: TextFlags::PLAIN };
        if !kind.any(rule.kinds()) {
            self.aside(|work| work.judge_value(rule, work.value_of(read)));
        }
        self.set(spans, rule, read);
        Some(())
    }

    /// Stores the span of the value that `take` passes. Stores nothing if `take` returns `false`. For members that have
    /// such a value in nearly every chunk: because the number of the member is a constant, this is much shorter than
    /// [`member`](Work::member).
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
            self.store(spans, member, self.span_from(start));
        }
        took
    }

    /// Does what [`taken`](Work::taken) does, for a plain string.
    #[inline(always)]
    pub(super) fn text<const N: usize>(&mut self, spans: &mut Spans<N>, member: usize) -> bool {
        self.taken(spans, member, Steps::plain_string_before_end)
    }

    #[inline(never)]
    fn odd_member<const N: usize>(&mut self, spans: &mut Spans<N>, rule: MemberRule) -> Option<()> {
        let read = self.odd_value(rule)?;
        self.set(spans, rule, read);
        Some(())
    }

    /// Reads the value of a member, and judges it.
    #[inline(never)]
    fn odd_value(&mut self, rule: MemberRule) -> Option<Skipped> {
        let read = self.read()?;
        if !read.kind.any(rule.kinds()) {
            self.judge_value(rule, self.value_of(read));
        }
        Some(read)
    }

    /// Notes the quirk of a value that is not of the expected kinds, if it has one.
    #[inline(never)]
    fn judge_value(&mut self, rule: MemberRule, value: Value<'_>) {
        self.notes.quirks |= rule.judge(value);
    }

    /// Stores the span of a member whose value was read by its rule. Flags a second value of the member. Notes a member
    /// that no index stores, unless its value is null.
    #[inline(always)]
    fn set<const N: usize>(&mut self, spans: &mut Spans<N>, rule: MemberRule, read: Skipped) {
        match spans.set(rule.member(), span(read)) {
            Some(twice) => self.flag(twice, Quirk::DuplicateMember),
            None => self.notes.has_others |= rule == UNKNOWN && read.kind != ValueKinds::NULL,
        }
    }

    /// Stores the span of the next value if it is a number of digits alone. Otherwise reads nothing.
    #[inline(always)]
    pub(super) fn integer<const N: usize>(&mut self, spans: &mut Spans<N>, member: usize) -> bool {
        let Some(read) = self.steps.digits_only() else { return false };
        self.store(spans, member, span(read));
        true
    }

    /// Stores the span of a member, and flags a second value of it.
    #[inline(always)]
    pub(super) fn store<const N: usize>(&mut self, spans: &mut Spans<N>, member: usize, span: ValueSpan) {
        let twice = spans.set(member, span);
        self.flag(twice == Some(true), Quirk::DuplicateMember);
    }

    /// Returns the span of the value that began at `start` and ends here.
    #[inline(always)]
    pub(super) fn span_from(&self, start: usize) -> ValueSpan {
        span(Skipped { start, end: self.steps.offset(), kind: ValueKinds::OTHER, flags: TextFlags::PLAIN })
    }

    /// Notes that a member of the index may contain members that no delta is made of, unless its value is null.
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
