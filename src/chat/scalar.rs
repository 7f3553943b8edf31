//! Readers of single values that the pass did not enter.

use crate::dialect::is_empty_object;
use crate::json::{Text, Value, ValueKind};

/// Returns a value as text: a string that is not empty, or a number or boolean as it is written.
pub(crate) fn text_of(value: Value<'_>) -> Option<Text<'_>> {
    match value.kind() {
        ValueKind::String => value.as_text().filter(|text| !text.is_empty()),
        ValueKind::Number | ValueKind::Bool => Some(Text::verbatim(value.raw())),
        ValueKind::Null | ValueKind::Array | ValueKind::Object => None,
    }
}

/// Returns a string, unless it is empty.
pub(crate) fn string_of(value: Value<'_>) -> Option<Text<'_>> {
    value.as_text().filter(|text| !text.is_empty())
}

/// Returns the member `name` of a small object that the pass did not enter, unless it is null.
#[inline(never)]
pub(crate) fn member_of<'a>(value: Value<'a>, name: &str) -> Option<Value<'a>> {
    value.get(name).ok().flatten().filter(|value| !value.is_null())
}

/// Whether the `type` of an object is this word.
pub(crate) fn is_type(object: Value<'_>, word: &str) -> bool {
    member_of(object, "type").and_then(|kind| kind.as_text()).is_some_and(|kind| kind == word)
}

/// Returns the message of an error that has it in a list: `errors[0].message` or `detail[0].msg`.
pub(crate) fn nested_words<'a>(errors: Option<Value<'a>>, detail: Option<Value<'a>>) -> Option<Value<'a>> {
    [(errors, "message"), (detail, "msg")].into_iter().find_map(|(list, name)| {
        let first = list?.element_at(&mut 0)?;
        member_of(first, name).filter(|words| string_of(*words).is_some())
    })
}

/// Returns the text of a call's arguments: a string that is not empty, or JSON as it is written.
pub(crate) fn input_of(value: Value<'_>) -> Option<Text<'_>> {
    match value.kind() {
        ValueKind::Null => None,
        ValueKind::String => string_of(value),
        ValueKind::Bool | ValueKind::Number | ValueKind::Array | ValueKind::Object => Some(Text::verbatim(value.raw())),
    }
}

/// Returns a finish reason: a string that is neither empty nor "None" nor "null".
#[inline]
pub(crate) fn reason_of(value: Value<'_>) -> Option<Text<'_>> {
    value.as_text().filter(|text| !text.is_empty() && !is_none_string(value))
}

/// Returns the finish reason of the model's own provider, inside `provider_specific_fields`.
pub(crate) fn native_reason_of(fields: Value<'_>) -> Option<Text<'_>> {
    member_of(fields, "native_finish_reason").and_then(text_of)
}

/// Returns the number that ten digits form. A time in seconds has ten digits until the year 2286.
#[inline(always)]
pub(crate) fn ten_digits(raw: &[u8]) -> Option<u64> {
    let [a, b, c, d, e, f, g, h, tens, ones] = *<&[u8; 10]>::try_from(raw).ok()?;
    let digits = u64::from_le_bytes([a, b, c, d, e, f, g, h]) ^ 0x3030_3030_3030_3030;
    let (tens, ones) = (tens ^ b'0', ones ^ b'0');
    // A byte of 10 or more has a bit in its upper half, or gets one when 6 is added.
    let odd = (digits.wrapping_add(0x0606_0606_0606_0606) | digits) & 0xf0f0_f0f0_f0f0_f0f0;
    if odd != 0 || tens > 9 || ones > 9 {
        return None;
    }
    // Two digits side by side, then four, then eight.
    let twos = digits.wrapping_mul(10).wrapping_add(digits >> 8) & 0x00ff_00ff_00ff_00ff;
    let fours = twos.wrapping_mul(100).wrapping_add(twos >> 16) & 0x0000_ffff_0000_ffff;
    let eights = fours.wrapping_mul(10_000).wrapping_add(fours >> 32) & 0xffff_ffff;
    Some(eights.wrapping_mul(100).wrapping_add(u64::from(tens) * 10).wrapping_add(u64::from(ones)))
}

/// Whether a value in the place of an error is an error: null, `""`, `"None"`, false and `{}` are not.
#[inline(never)]
pub(crate) fn is_error(value: Value<'_>) -> bool {
    match value.kind() {
        ValueKind::Null => false,
        ValueKind::String => value.raw() != b"\"\"" && !is_none_string(value),
        ValueKind::Object => !is_empty_object(value),
        ValueKind::Bool => value.as_bool() == Some(true),
        ValueKind::Number | ValueKind::Array => true,
    }
}

/// Whether the value is the string "None" or "null", which some servers write for null.
#[inline(never)]
pub(crate) fn is_none_string(value: Value<'_>) -> bool {
    value.as_text().is_some_and(|text| is_none(&text))
}

/// Whether some servers write this text for null.
pub(crate) fn is_none(text: &Text<'_>) -> bool {
    *text == "None" || *text == "null"
}

/// Returns the ID of a tool call: a text that is neither empty nor "None" nor "null" (Mistral).
pub(crate) fn id_of(value: Value<'_>) -> Option<Text<'_>> {
    text_of(value).filter(|_| !is_none_string(value))
}

#[cfg(test)]
mod tests {
    use super::ten_digits;

    #[test]
    fn ten_digits_are_their_number() {
        for number in (0..10_000_000_000_u64).step_by(9_876_543).chain([9_999_999_999, 1_700_000_000]) {
            let mut raw = [b'0'; 10];
            let mut rest = number;
            for digit in raw.iter_mut().rev() {
                *digit = b'0' + (rest % 10) as u8;
                rest /= 10;
            }
            assert_eq!(ten_digits(&raw), Some(number));
        }
        // With any other byte in any place, the result is `None`.
        for place in 0..10 {
            for byte in (0..=255_u8).filter(|byte| !byte.is_ascii_digit()) {
                let mut raw = *b"9190909091";
                if let Some(at) = raw.get_mut(place) {
                    *at = byte;
                }
                assert_eq!(ten_digits(&raw), None, "{byte} in place {place}");
            }
        }
        assert_eq!((ten_digits(b"170000000"), ten_digits(b"17000000000")), (None, None));
    }
}
