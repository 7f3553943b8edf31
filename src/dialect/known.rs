//! What is known of an object: the names of its members, and the types of their values. One walk finds the values, and
//! the quirks of those that have another type.

use super::value::{array, object};
use crate::json::{not_a_number, Before, Head, JsonError, Steps, Text, TextFlags, Value, ValueKind, ValueKinds};
use crate::{Quirk, QuirkSet};

/// The type of a member's value. A null counts as absent.
#[derive(Clone, Copy)]
pub(super) enum Type {
    Any,
    Text,
    Object,
    List,
    Bool,
    /// Digits. Any other value is an odd index.
    Index,
    /// The input of a call: an object, or a text in its place.
    Input,
    /// Any value. A second one fails the walk of a whole event, because only the general readers know which counts.
    Once,
    /// An object, which the walk of a whole event enters. A second one fails that walk.
    Inside(&'static Object),
    /// A list, in which the walk of a whole event enters the only element, such an object.
    Lone(&'static Object),
}

impl Type {
    /// Returns kinds of values that are right whatever the value is.
    const fn kinds(self) -> ValueKinds {
        match self {
            Type::Any | Type::Once => ValueKinds::ANY,
            Type::Text => ValueKinds::STRING.or(ValueKinds::NULL),
            Type::Input => ValueKinds::STRING.or(ValueKinds::OBJECT).or(ValueKinds::NULL),
            Type::Object | Type::Inside(_) => ValueKinds::OBJECT.or(ValueKinds::NULL),
            Type::List | Type::Lone(_) | Type::Bool | Type::Index => ValueKinds::NULL,
        }
    }

    /// Whether a value of another kind has this type.
    #[inline(never)]
    fn has(self, value: Value<'_>) -> bool {
        match self {
            Type::List | Type::Lone(_) => value.kind() == ValueKind::Array,
            Type::Bool => value.kind() == ValueKind::Bool,
            Type::Index => value.raw().iter().all(u8::is_ascii_digit),
            _ => false,
        }
    }
}

/// A member that is known.
pub(super) struct Member {
    name: &'static str,
    expected: Type,
    /// Kinds of values that are right whatever the value is.
    kinds: ValueKinds,
    is_once: bool,
    head: Head,
}

impl Member {
    pub(super) const fn new(name: &'static str, expected: Type) -> Self {
        let is_once = matches!(expected, Type::Once | Type::Inside(_) | Type::Lone(_));
        Member { name, expected, kinds: expected.kinds(), is_once, head: Head::of(name) }
    }
}

/// Writes a table of members: for each, its name and its type.
macro_rules! members {
    [$($name:literal $expected:ident $(($inner:expr))?),* $(,)?] => {
        [$($crate::dialect::known::Member::new($name, $crate::dialect::known::Type::$expected $(($inner))?)),*]
    };
}
pub(super) use members;

/// What is known of an object.
pub(super) struct Object {
    pub(super) members: &'static [Member],
    /// In the walk of a whole event: the place of the first of them among the values.
    pub(super) first: usize,
    /// Whether another member, which has this name, fails the walk of a whole event.
    pub(super) refuses: fn(Text<'_>) -> bool,
}

/// An object or a list that a reader enters and that is no JSON, and the error in it.
pub(super) type Fault<'a> = (&'a [u8], JsonError);

/// What a walk finds in an object: the last values of its known members, and the first fault. What comes before a fault
/// was found.
pub(super) struct Known<'a, const N: usize> {
    pub(super) values: [Option<Value<'a>>; N],
    odd: Odd,
    fault: Option<Fault<'a>>,
}

/// The places of values of another type, one bit each: those with an odd index in the upper half, all others, and
/// [`NOT_OBJECT`], in the lower half.
type Odd = u64;

/// Set if this is no object.
const NOT_OBJECT: u32 = 1 << 31;

impl<'a, const N: usize> Known<'a, N> {
    /// Returns what is known before the walk.
    #[inline(always)]
    pub(super) fn nothing() -> Self {
        Known { values: [None; N], odd: 0, fault: None }
    }

    /// Walks a value that must be an object.
    pub(super) fn of(value: Value<'a>, members: &'static [Member; N]) -> Self {
        let mut known = Known::nothing();
        known.fault = walk_value(value, members, &mut known.values, &mut known.odd);
        known
    }

    /// Walks a value if it is an object. Any other value has no members.
    pub(super) fn inside(value: Option<Value<'a>>, members: &'static [Member; N]) -> Self {
        object(value).map_or_else(Known::nothing, |value| Known::of(value, members))
    }

    /// Adds what a walk of a whole event finds, which comes next. Returns `None` if the walk fails.
    #[inline(always)]
    pub(super) fn add_event(&mut self, steps: &mut Steps<'a>, event: &Object) -> Option<()> {
        walk(steps, event, true, &mut self.values, &mut self.odd).ok()
    }

    /// Whether each value has the type that is expected.
    pub(super) fn is_usual(&self) -> bool {
        self.odd == 0
    }

    /// Adds the quirks to those of the event, and returns the values.
    ///
    /// # Errors
    /// The fault.
    pub(super) fn judged(self, quirks: &mut QuirkSet) -> Result<[Option<Value<'a>>; N], Fault<'a>> {
        self.judged_at(u32::MAX, quirks)
    }

    /// Does what [`judged`](Self::judged) does for some of the members, one bit for each. If there are none, a fault is
    /// no error, either.
    pub(super) fn judged_at(self, places: u32, quirks: &mut QuirkSet) -> Result<[Option<Value<'a>>; N], Fault<'a>> {
        if places == 0 {
            return Ok(self.values);
        }
        for (odd, quirk) in [(self.odd as u32, Quirk::OddType), ((self.odd >> 32) as u32, Quirk::OddIndex)] {
            if odd & (places | NOT_OBJECT) != 0 {
                quirks.insert(quirk);
            }
        }
        self.fault.map_or(Ok(self.values), Err)
    }
}

#[inline(never)]
fn walk_value<'a>(
    value: Value<'a>,
    members: &'static [Member],
    found: &mut [Option<Value<'a>>],
    odd: &mut Odd,
) -> Option<Fault<'a>> {
    if value.kind() != ValueKind::Object {
        *odd |= u64::from(NOT_OBJECT);
        return None;
    }
    let object = Object { members, first: 0, refuses: |_| false };
    let error = walk(&mut Steps::new(value.raw(), 0, u32::MAX), &object, false, found, odd).err()?;
    // Python writes numbers that JSON does not have. What comes before one is read.
    let is_fault = value.raw().get(error.offset..).and_then(not_a_number).is_none();
    is_fault.then_some((value.raw(), error))
}

/// Passes each element of a list to `each`.
///
/// # Errors
/// The error of `each`, or the first one in the list.
pub(super) fn each_element<'a>(
    list: Option<Value<'a>>,
    each: &mut dyn FnMut(Value<'a>) -> Result<(), Fault<'a>>,
) -> Result<(), Fault<'a>> {
    let Some(list) = array(list) else { return Ok(()) };
    for element in list.elements() {
        each(element.map_err(|error| (list.raw(), error))?)?;
    }
    Ok(())
}

/// How many objects a walk may enter inside the first.
const DEEPEST: usize = 3;

/// Walks the object that comes next, which is a whole event or not. Puts the last value of each known member in its
/// place, and adds that place to `odd` if the value has another type. A value that the walk enters goes on to
/// the end of the bytes.
///
/// # Errors
/// The first error in the object, or any error where the walk fails. What comes before it was found.
#[inline(never)]
fn walk<'a>(
    steps: &mut Steps<'a>,
    object: &Object,
    is_event: bool,
    found: &mut [Option<Value<'a>>],
    odd: &mut Odd,
) -> Result<(), JsonError> {
    let (mut own, mut object, mut next, mut before) = (*steps, object, 0usize, Before::Bracket);
    // The objects around this one, and the member of each that comes after this one; and the places of members that may
    // not come twice.
    let (mut around, mut depth, mut once) = ([None; DEEPEST], 0usize, 0u32);
    own.descend(b'{')?;
    loop {
        if !own.more_after(before)? {
            let outer = depth.checked_sub(1).and_then(|place| Some((place, around.get(place).copied()??)));
            let Some((place, (outer, member, is_lone))) = outer else { break };
            if is_lone && own.more(b']')? {
                return Err(own.unexpected());
            }
            (depth, object, next) = (place, outer, member);
            continue;
        }
        before = Before::Comma;
        // Servers send the members in the same order, and leave some out.
        let mut member = None;
        for place in [next, next.wrapping_add(1)] {
            let Some(likely) = object.members.get(place) else { break };
            if own.took_head(&likely.head, likely.name) {
                (next, member) = (place, Some(likely));
                break;
            }
        }
        if member.is_none() {
            let (name, flags) = own.name()?;
            let name = Text::from_raw(name, flags);
            match object.members.iter().position(|member| name.is_word(member.name)) {
                Some(place) => (next, member) = (place, object.members.get(place)),
                None if (object.refuses)(name) => return Err(own.unexpected()),
                None => {}
            }
        }
        // Google writes a space after each colon.
        own.take(b" ");
        let first = own.peek();
        let Some(member) = member else {
            own.value()?;
            continue;
        };
        let at = object.first.wrapping_add(next);
        next = next.wrapping_add(1);
        let Some(to) = found.get_mut(at) else { return Err(own.unexpected()) };
        let rest = own.rest();
        if is_event && member.is_once {
            let bit = 1u32.wrapping_shl(at as u32);
            if once & bit != 0 {
                return Err(own.unexpected());
            }
            once |= bit;
            let inner = match member.expected {
                Type::Inside(inner) if first == b'{' => Some((inner, false)),
                Type::Lone(inner) if first == b'[' => Some((inner, true)),
                _ => None,
            };
            if let Some((inner, is_lone)) = inner {
                *to = Some(Value::from_raw(rest));
                let Some(place) = around.get_mut(depth) else { return Err(own.unexpected()) };
                *place = Some((object, next, is_lone));
                (depth, object, next, before) = (depth.wrapping_add(1), inner, 0, Before::Bracket);
                if is_lone {
                    own.enter(b'[')?;
                }
                own.descend(b'{')?;
                continue;
            }
        }
        // An empty list is common, and other lists take longer to pass.
        let is_empty = first == b'[' && own.take(b"[]");
        let (kind, flags) = if is_empty {
            (ValueKinds::OTHER, TextFlags::PLAIN)
        } else {
            let read = own.value()?;
            (read.kind, read.flags)
        };
        if kind == ValueKinds::NULL {
            *to = None;
            continue;
        }
        let len = rest.len().wrapping_sub(own.rest().len());
        let Some(raw) = rest.get(..len) else { return Err(own.unexpected()) };
        let value = Value::from_span(raw, flags);
        *to = Some(value);
        if !member.kinds.any(kind) && !member.expected.has(value) {
            let half = if matches!(member.expected, Type::Index) { 32 } else { 0 };
            *odd |= 1u64.wrapping_shl(half | at as u32);
        }
    }
    steps.go_to(own);
    Ok(())
}
