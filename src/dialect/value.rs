//! Conversions of the values of an event's members.

use crate::json::{parse_lazy, Text, Value, ValueKind};

/// Returns a string that is not empty.
#[inline(never)]
pub(super) fn text(value: Option<Value<'_>>) -> Option<Text<'_>> {
    value?.as_text().filter(|text| !text.is_empty())
}

/// Returns the arguments of a call: a text that is not empty, or an object with members, as it is written.
pub(super) fn arguments(value: Option<Value<'_>>) -> Option<Text<'_>> {
    text(value).or_else(|| value.filter(|value| has_members(*value)).map(|value| Text::verbatim(value.raw())))
}

/// Returns the input of a call: an object with members, as it is written, or a text in its place, as some gateways send
/// it.
#[inline(never)]
pub(super) fn input(value: Option<Value<'_>>) -> Option<Text<'_>> {
    arguments(value).filter(|input| !input.is_one_of("{} null"))
}

/// Whether a value is a string with this word.
#[inline(never)]
pub(super) fn is(value: Option<Value<'_>>, word: &str) -> bool {
    value.and_then(|value| value.as_text()).is_some_and(|text| text == word)
}

pub(super) fn object(value: Option<Value<'_>>) -> Option<Value<'_>> {
    value.filter(|value| value.kind() == ValueKind::Object)
}

pub(super) fn array(value: Option<Value<'_>>) -> Option<Value<'_>> {
    value.filter(|value| value.kind() == ValueKind::Array)
}

/// Returns a number, maybe in a string: `u32::MAX` if it is too large, and 0 if the value is no whole number.
#[inline(never)]
pub(super) fn number(value: Option<Value<'_>>) -> u32 {
    if let Some(value) = value.filter(|value| value.kind() == ValueKind::String) {
        return index_number(value).unwrap_or(0);
    }
    let number = value.and_then(|value| value.as_u64());
    number.map_or(0, |number| u32::try_from(number).unwrap_or(u32::MAX))
}

/// Returns an index as a number: a negative index is 0, and a number in a string counts. Returns `None` if the value is
/// no number.
pub(crate) fn index_number(value: Value<'_>) -> Option<u32> {
    let parse = |number: crate::json::Number<'_>| {
        number.to_i64().map(|n| u32::try_from(n.max(0)).unwrap_or(u32::MAX)).or(Some(u32::MAX))
    };
    if let [digit @ b'0'..=b'9'] = value.raw() {
        return Some(u32::from(digit - b'0'));
    }
    match value.kind() {
        ValueKind::Number => value.as_number().and_then(parse),
        ValueKind::String => {
            // One byte more than a number of 32 bits has.
            let mut room = [0; 11];
            let copied = value.as_text()?.copy_to(&mut room);
            let inner = room.get(..copied.written).filter(|_| copied.complete)?;
            if inner.is_empty() || inner.len() > 10 || !inner.iter().all(u8::is_ascii_digit) {
                return None;
            }
            let number = inner.iter().fold(0u64, |n, digit| n * 10 + u64::from(digit - b'0'));
            Some(u32::try_from(number).unwrap_or(u32::MAX))
        }
        _ => None,
    }
}

/// Returns a whole number that is not negative. A number in a string counts.
pub(crate) fn whole_number(value: Value<'_>) -> Option<u64> {
    match value.kind() {
        ValueKind::Number => value.as_u64(),
        ValueKind::String => parse_lazy(value.as_text()?.raw()).ok()?.as_u64(),
        _ => None,
    }
}

/// Whether an object has no member.
#[inline]
pub(crate) fn is_empty_object(value: Value<'_>) -> bool {
    let inside = value.raw().get(1..).unwrap_or_default();
    inside.iter().find(|byte| !matches!(byte, b' ' | b'\t' | b'\n' | b'\r')) == Some(&b'}')
}

/// Whether a value is an object with at least one member.
pub(super) fn has_members(value: Value<'_>) -> bool {
    value.kind() == ValueKind::Object && value.member_at(&mut 0).is_some()
}

/// Whether a value is a list with at least one element.
pub(super) fn has_elements(value: Option<Value<'_>>) -> bool {
    array(value).is_some_and(|list| list.element_at(&mut 0).is_some())
}

/// Returns the bit of a number in a set of 64 bits. All numbers from 63 on share one.
pub(super) fn bit(number: u32) -> u64 {
    1u64.wrapping_shl(number.min(63))
}
