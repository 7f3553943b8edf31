//! What the readers of all protocols share: the walk through the deltas of one event, one by one.

use super::finish::Reason;
use super::state::Plan;
use super::value;
use crate::delta::{
    Called, Delta, Kind, Part, FLAG_ANEW, FLAG_CUSTOM, FLAG_NATIVE, FLAG_NUMBER, FLAG_PROMPT, FLAG_SELECTS,
};
use crate::json::{Cursor, Text, Value};

/// How far the deltas of an event were read. It contains offsets into the payload, no pointers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Walk {
    /// The next step of the reader, which alone knows its meaning.
    pub(super) phase: u8,
    /// The next step within the current element.
    pub(super) sub: u8,
    /// The phase before the last step of the reader.
    pub(super) before: u8,
    /// The flags of the current tool call.
    pub(super) flags: u16,
    /// The index of the choice.
    pub(super) choice: u32,
    /// Responses: the number of the current output item of a whole response, whether the item is reasoning, and whether
    /// one of its parts so far has annotations.
    pub(super) number: u16,
    pub(super) is_reasoning: bool,
    pub(super) is_annotated: bool,
    /// Responses: whether the current item has parts that were not reported.
    pub(super) has_more: bool,
    /// Responses: one bit for each tracked item that an earlier item of the whole response was.
    pub(super) taken: u8,
    /// How many elements came, or the index of the current element.
    pub(super) count: u32,
    /// How many tool calls came.
    pub(super) calls: u32,
    /// The array of choices, blocks or items, its current element, an array in that element, and the current part of
    /// that array.
    pub(super) outer: Container,
    pub(super) element: u32,
    pub(super) inner: Container,
    pub(super) part: u32,
    /// The name and the arguments of the current tool call that are still pending.
    pub(super) name: Part,
    pub(super) arguments: Part,
    /// A member of the current tool call, with its name, that is still pending. Responses: the log probabilities of the
    /// current text.
    pub(super) member: Part,
}

/// An object or array in a payload, and how far it was walked, as offsets. The walk ends at the first error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Container {
    start: u32,
    at: u32,
}

impl Container {
    /// A container with nothing to walk.
    pub(crate) const NOTHING: Container = Container { start: 0, at: u32::MAX };

    /// Returns the container that begins at this offset.
    pub(crate) const fn at(start: u32) -> Self {
        Container { start, at: 0 }
    }

    #[inline(never)]
    pub(crate) fn of(payload: &[u8], value: Option<Value<'_>>) -> Self {
        value.map_or(Container::NOTHING, |value| Container::at(Part::raw(payload, value).start))
    }

    /// Returns the next element of an array.
    #[inline(never)]
    pub(crate) fn next<'a>(&mut self, payload: &'a [u8]) -> Option<Value<'a>> {
        self.step(payload, |array, at| array.element_at(at))
    }

    /// Returns the next member of an object.
    #[inline(never)]
    pub(crate) fn member<'a>(&mut self, payload: &'a [u8]) -> Option<(Text<'a>, Value<'a>)> {
        self.step(payload, |object, at| object.member_at(at))
    }

    fn step<'a, T>(&mut self, payload: &'a [u8], next: impl FnOnce(Value<'a>, &mut usize) -> Option<T>) -> Option<T> {
        let mut at = if self.at == u32::MAX { usize::MAX } else { self.at as usize };
        let found = next(value_at(payload, self.start), &mut at);
        self.at = u32::try_from(at).unwrap_or(u32::MAX);
        found
    }
}

/// Returns the object or array that begins at `start`. Its members or elements can be read, but the value goes on to
/// the end of the payload.
pub(super) fn value_at(payload: &[u8], start: u32) -> Value<'_> {
    Value::from_raw(payload.get(start as usize..).unwrap_or_default())
}

/// Returns the value that begins at `start`, or `None` if it is malformed.
#[inline(never)]
pub(super) fn whole_at(payload: &[u8], start: u32) -> Option<Value<'_>> {
    Cursor::with_max_depth(payload.get(start as usize..)?, u32::MAX).value().ok()
}

impl Walk {
    /// A walk before the first delta.
    pub(crate) const START: Walk = Walk {
        phase: 0,
        sub: 0,
        before: 0,
        flags: 0,
        number: 0,
        is_reasoning: false,
        is_annotated: false,
        has_more: false,
        taken: 0,
        choice: 0,
        count: 0,
        calls: 0,
        outer: Container::NOTHING,
        element: 0,
        inner: Container::NOTHING,
        part: 0,
        name: Part::NONE,
        arguments: Part::NONE,
        member: Part::NONE,
    };

    /// The phase of a walk that has no more deltas.
    pub(super) const OVER: u8 = u8::MAX;

    /// Ends the walk. Returns `None`, as a step without a delta does.
    pub(super) fn end(&mut self) -> Option<Delta> {
        self.phase = Walk::OVER;
        None
    }

    /// Goes back to before the last delta, which must be a finish reason or the end of a call or a text: only for those
    /// does the repeated step return the same delta.
    pub(crate) fn back(&mut self) {
        self.phase = self.before;
    }

    /// Returns the name and the arguments of the current tool call that are still pending.
    pub(crate) fn called(&self) -> Called {
        Called { name: self.name, arguments: self.arguments }
    }

    /// Returns the delta of a text that is a string and not empty.
    #[inline(never)]
    pub(super) fn text(&self, payload: &[u8], kind: Kind, text: Option<Value<'_>>, slot: u64) -> Option<Delta> {
        let text = Part::of(payload, value::text(text)?);
        Some(Delta { flags: FLAG_NUMBER, choice: self.choice, number: slot, text, ..Delta::new(kind) })
    }

    /// Returns the delta of a value as raw JSON.
    #[inline(never)]
    pub(super) fn raw(&self, payload: &[u8], kind: Kind, value: Option<Value<'_>>, slot: u64) -> Option<Delta> {
        let text = Part::raw(payload, value?);
        Some(Delta { flags: FLAG_NUMBER, choice: self.choice, number: slot, text, ..Delta::new(kind) })
    }

    /// Returns the delta of the role.
    pub(super) fn role(&self, payload: &[u8], role: Option<Value<'_>>) -> Option<Delta> {
        self.text(payload, Kind::Role, role, 0).map(|delta| Delta { flags: 0, ..delta })
    }

    /// Returns the delta of the finish reason.
    pub(super) fn finish(
        &self,
        payload: &[u8],
        word: Option<Text<'_>>,
        reason: Reason<'_>,
        plan: &Plan,
    ) -> Option<Delta> {
        let word = word?;
        let code = reason.kind(word, plan.called & value::bit(self.choice) != 0).number();
        let text = Part::of(payload, word);
        let flags = if matches!(reason, Reason::Block) { FLAG_NATIVE | FLAG_PROMPT } else { FLAG_NATIVE };
        Some(Delta { flags, choice: self.choice, code, text, ..Delta::new(Kind::Finish) })
    }

    /// Returns the delta of a tool call with this index. The name and the arguments follow. An ID or a name opens the
    /// call. After an earlier response in the same stream, the call is a new one, even under an index that the earlier
    /// response used.
    #[inline(never)]
    pub(super) fn call(&mut self, payload: &[u8], index: u32, called: CallParts<'_>, plan: &Plan) -> Delta {
        let CallParts { id, name, arguments, is_custom, is_open } = called;
        let part = |text: Option<Text<'_>>| text.map_or(Part::NONE, |text| Part::of(payload, text));
        self.flags = if is_custom { FLAG_CUSTOM } else { 0 };
        (self.name, self.arguments) = (part(value::text(name)), part(arguments));
        let (call, text) = (self.calls, part(value::text(id)));
        self.calls = call.saturating_add(1);
        let is_new = plan.is_later && !is_open && !(text.is_empty() && self.name.is_empty());
        let flags = self.flags | FLAG_NUMBER | if is_new { FLAG_ANEW } else { 0 };
        Delta { flags, choice: self.choice, call, number: u64::from(index), text, ..Delta::new(Kind::ToolCall) }
    }

    /// Returns the delta that ends the tool call with this index, if it is open.
    pub(super) fn call_end(&self, index: u32) -> Delta {
        let number = u64::from(index);
        Delta { flags: FLAG_NUMBER, choice: self.choice, number, ..Delta::new(Kind::ToolCallEnd) }
    }

    /// Returns the delta that ends the texts in this slot. It is a [`Meta`](Kind::Meta) without a code, which no one but a
    /// tracker sees.
    pub(super) fn text_end(&self, slot: u64) -> Delta {
        Delta { flags: FLAG_NUMBER, choice: self.choice, number: slot, ..Delta::new(Kind::Meta) }
    }

    /// Stores the member of an object with the name `wanted`, if `is_it` accepts its value. Its delta, a member of the
    /// current call, follows the delta of the arguments.
    pub(super) fn member(&mut self, payload: &[u8], object: Value<'_>, wanted: &str, is_it: fn(Value<'_>) -> bool) {
        let mut at = 0;
        while let Some((name, value)) = object.member_at(&mut at) {
            if name == *wanted && is_it(value) {
                self.member = Walk::whole_member(payload, name, value);
            }
        }
    }

    /// Stores the next member of the object in `inner` that is not one of the `known` ones and not null. Returns whether
    /// there is one. Its delta, a member of the current call, follows.
    pub(super) fn other_member(&mut self, payload: &[u8], known: &str) -> bool {
        let mut object = self.inner;
        while let Some((name, value)) = object.member(payload) {
            if !name.is_one_of(known) && !value.is_null() {
                self.member = Walk::whole_member(payload, name, value);
                break;
            }
        }
        self.inner = object;
        !self.member.is_empty()
    }

    /// Returns the place of a member, with its name.
    fn whole_member(payload: &[u8], name: Text<'_>, value: Value<'_>) -> Part {
        let start = Part::of(payload, name).start.saturating_sub(1);
        let value = Part::raw(payload, value);
        Part { start, len: value.end().saturating_sub(start), ..Part::NONE }
    }

    /// Returns a delta that selects the tool call with this index, for an event that has only a member of the call.
    /// Returns `None` if no member is stored.
    pub(super) fn select(&mut self, payload: &[u8], index: u32, plan: &Plan) -> Option<Delta> {
        if self.member.is_empty() {
            return None;
        }
        let delta = self.call(payload, index, CallParts::default(), plan);
        // The delta opens no call, so it does not count as one.
        self.calls = self.calls.saturating_sub(1);
        Some(Delta { flags: delta.flags | FLAG_SELECTS, ..delta })
    }
}

/// What an event contains of a tool call.
#[derive(Clone, Copy, Default)]
pub(super) struct CallParts<'a> {
    pub(super) id: Option<Value<'a>>,
    pub(super) name: Option<Value<'a>>,
    pub(super) arguments: Option<Text<'a>>,
    pub(super) is_custom: bool,
    /// Whether an earlier event opened the call, so that a name does not open it.
    pub(super) is_open: bool,
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    use super::*;

    const CALL: &[u8] = br#"{"id":"a","paths":7,"others":[1],"parts":[2]}"#;

    fn call() -> Value<'static> {
        whole_at(CALL, 0).unwrap()
    }

    /// Deltas have the current choice, and the index that was passed.
    #[test]
    fn deltas_have_choice_and_number() {
        let mut walk = Walk { choice: 2, calls: 3, ..Walk::START };
        let raw = walk.raw(CALL, Kind::ToolCall, call().get("parts").unwrap(), 5).unwrap();
        assert_eq!((raw.flags, raw.choice, raw.number), (FLAG_NUMBER, 2, 5));
        let role = walk.role(CALL, call().get("id").unwrap()).unwrap();
        assert_eq!((role.flags, role.choice), (0, 2));
        let opened = walk.call(CALL, 4, CallParts::default(), &Plan::NONE);
        assert_eq!((opened.flags, opened.choice, opened.call, opened.number), (FLAG_NUMBER, 2, 3, 4));
    }

    /// Only a value of the wanted kind with the wanted name is stored. Its delta selects a call and opens none.
    #[test]
    fn a_stored_member_selects_its_call() {
        let is_array = |value: Value<'_>| value.kind() == crate::json::ValueKind::Array;
        let mut walk = Walk::START;
        walk.member(CALL, call(), "paths", is_array);
        assert!(walk.member.is_empty());
        assert!(walk.select(CALL, 1, &Plan::NONE).is_none());
        walk.member(CALL, call(), "others", is_array);
        let (start, len) = (walk.member.start as usize, walk.member.len as usize);
        assert_eq!(&CALL[start..start + len], br#""others":[1]"#);
        let delta = walk.select(CALL, 1, &Plan::NONE).unwrap();
        assert_eq!((delta.flags, walk.calls), (FLAG_NUMBER | FLAG_SELECTS, 0));
    }
}
