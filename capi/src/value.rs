//! Values: JSON that is read only when a function asks for it.

use crate::convert::{
    answer, bytes, check_size, copy_out, give, give_usage, give_value, given, plain_of, put_out, str_of, text_value,
    value_of, Given,
};
use crate::types::*;
use core::ffi::{c_char, c_void};
use deltawire::chat::{ApiError, ErrorPart, OtherMember, Usage};
use deltawire::json::{self, Decimal, Number, Text, Value, ValueKind};

/// Makes a value of JSON bytes. Whitespace around the value is skipped. The function checks the
/// bytes only as far as finding the end of the value requires. Answers OK, ABSENT (not JSON, or
/// bytes follow the value), E_NULL, E_RANGE (`len`).
#[no_mangle]
pub unsafe extern "C" fn deltawire_value_open(
    json: *const c_void,
    len: usize,
    out: *mut deltawire_value,
) -> deltawire_status {
    // SAFETY: the caller promises valid pointers.
    unsafe {
        let json = ok!(bytes(json, len));
        give_value(out, json::parse_lazy(json).ok())
    }
}

/// Splits a member, `"name":value`, which is the text of a `DELTAWIRE_META_*MEMBER`. `key`, unless
/// NULL, receives the name, `out` the value. Whitespace between them is skipped. Answers OK, ABSENT
/// (not a member), E_NULL, E_RANGE (`len`).
#[no_mangle]
pub unsafe extern "C" fn deltawire_value_open_member(
    member: *const c_void,
    len: usize,
    key: *mut deltawire_value,
    out: *mut deltawire_value,
) -> deltawire_status {
    // SAFETY: the caller promises valid pointers.
    unsafe {
        let member = ok!(bytes(member, len));
        answer(out, || {
            let (name, value) = OtherMember::split(member).ok_or(DELTAWIRE_ABSENT)?;
            put_out(key, text_value(member, Some(name)));
            Ok(value_of(value))
        })
    }
}

/// Makes a value of type `DELTAWIRE_T_TEXT` of any bytes; `deltawire_value_text` decodes it to valid
/// UTF-8. Answers OK, E_NULL, E_RANGE (`len`).
#[no_mangle]
pub unsafe extern "C" fn deltawire_value_plain(
    bytes: *const c_void,
    len: usize,
    out: *mut deltawire_value,
) -> deltawire_status {
    // SAFETY: the caller promises valid pointers.
    unsafe {
        let bytes = ok!(crate::convert::bytes(bytes, len));
        give(out, plain_of(bytes))
    }
}

/// Returns the JSON value that C gave; ABSENT if it gave plain text.
///
/// # Safety
/// As [`given`].
unsafe fn json_of<'v>(v: *const deltawire_value) -> Result<Value<'v>, deltawire_status> {
    // SAFETY: as the caller promises.
    match unsafe { given(v) }? {
        Given::Json(value) => Ok(value),
        Given::Plain(_) => Err(DELTAWIRE_ABSENT),
    }
}

/// Returns the text of the value that C gave: of a string, of plain text, or of a number or literal
/// as it is written.
///
/// # Safety
/// As [`given`].
unsafe fn text_of<'v>(v: *const deltawire_value) -> Result<Text<'v>, deltawire_status> {
    // SAFETY: as the caller promises.
    match unsafe { given(v) }? {
        Given::Plain(bytes) => Ok(Text::verbatim(bytes)),
        Given::Json(value) => match value.kind() {
            ValueKind::String => value.as_text().ok_or(DELTAWIRE_ABSENT),
            ValueKind::Number | ValueKind::Bool => Ok(Text::verbatim(value.raw())),
            _ => Err(DELTAWIRE_ABSENT),
        },
    }
}

/// Returns the member of an object with this decoded name in UTF-8. If several members have the
/// name, the last counts. Reads the object once. Answers OK, ABSENT (no such member, or not an
/// object), E_NULL, E_RANGE (`len`).
#[no_mangle]
pub unsafe extern "C" fn deltawire_value_member(
    v: *const deltawire_value,
    name: *const c_char,
    len: usize,
    out: *mut deltawire_value,
) -> deltawire_status {
    // SAFETY: the caller promises valid pointers.
    unsafe {
        if out.is_null() || v.is_null() {
            return DELTAWIRE_E_NULL;
        }
        let name = ok!(bytes(name.cast(), len));
        let value = ok!(json_of(v));
        give_value(out, core::str::from_utf8(name).ok().and_then(|name| value.get(name).ok()?))
    }
}

/// Returns the next element of an array, or the next member of an object; `key`, unless NULL,
/// receives the member's name. Set `*cursor` to 0 before the first call. Answers OK, ABSENT (the
/// container or its well-formed part ends; or not a container), E_NULL.
#[no_mangle]
pub unsafe extern "C" fn deltawire_value_next(
    container: *const deltawire_value,
    cursor: *mut usize,
    key: *mut deltawire_value,
    out: *mut deltawire_value,
) -> deltawire_status {
    // SAFETY: the caller promises valid pointers.
    unsafe {
        if cursor.is_null() || out.is_null() {
            return DELTAWIRE_E_NULL;
        }
        let value = ok!(json_of(container));
        let mut at = cursor.read();
        let next = match value.kind() {
            ValueKind::Object => value.member_at(&mut at).map(|(name, member)| {
                put_out(key, text_value(value.raw(), Some(name)));
                member
            }),
            ValueKind::Array => value.element_at(&mut at),
            _ => None,
        };
        cursor.write(at);
        give_value(out, next)
    }
}

/// Decodes a string or a plain text into `buf`; copies a number, `true` or `false` as it is written.
/// `*need`, unless NULL, receives the length. The text is not ended by NUL. To ask for the length,
/// `buf` may be NULL with length 0. Answers OK, ABSENT (another type), E_NULL, E_SMALL (nothing was
/// written to `buf`).
#[no_mangle]
pub unsafe extern "C" fn deltawire_value_text(
    v: *const deltawire_value,
    buf: *mut c_char,
    cap: usize,
    need: *mut usize,
) -> deltawire_status {
    // SAFETY: the caller promises valid pointers.
    unsafe {
        if buf.is_null() && cap > 0 {
            return DELTAWIRE_E_NULL;
        }
        let text = ok!(text_of(v));
        copy_out(text.decoded_len(), buf, cap, need, |buffer| {
            text.copy_to(buffer);
        })
    }
}

/// Returns the text of a value without a copy, if it has no escapes and is valid UTF-8. Answers OK,
/// ABSENT (another type, or `deltawire_value_text` must decode the text), E_NULL.
#[no_mangle]
pub unsafe extern "C" fn deltawire_value_str(v: *const deltawire_value, out: *mut deltawire_str) -> deltawire_status {
    // SAFETY: the caller promises valid pointers.
    unsafe { answer(out, || text_of(v)?.as_str().map(|text| str_of(text.as_bytes())).ok_or(DELTAWIRE_ABSENT)) }
}

/// Whether the value is a string or plain text that decodes to `s`. Answers OK, ABSENT (it is not),
/// E_NULL, E_RANGE (`len`).
#[no_mangle]
pub unsafe extern "C" fn deltawire_value_equals(
    v: *const deltawire_value,
    s: *const c_char,
    len: usize,
) -> deltawire_status {
    // SAFETY: the caller promises valid pointers.
    unsafe {
        if v.is_null() {
            return DELTAWIRE_E_NULL;
        }
        let s = ok!(bytes(s.cast(), len));
        let text = match ok!(given(v)) {
            Given::Plain(bytes) => Some(Text::verbatim(bytes)),
            Given::Json(value) => value.as_text(),
        };
        match (text, core::str::from_utf8(s)) {
            (Some(text), Ok(s)) if text == s => DELTAWIRE_OK,
            _ => DELTAWIRE_ABSENT,
        }
    }
}

/// Returns the number that C gave.
///
/// # Safety
/// As [`given`].
unsafe fn number_of<'v>(v: *const deltawire_value) -> Result<Number<'v>, deltawire_status> {
    // SAFETY: as the caller promises.
    let value = unsafe { json_of(v) }?;
    Number::new(value.raw()).ok_or(DELTAWIRE_ABSENT)
}

/// Returns a number as an unsigned integer, in whatever notation (`10.0`, `1e3`). Answers OK, ABSENT
/// (not a number), E_NULL, E_RANGE (not an integer of this type).
#[no_mangle]
pub unsafe extern "C" fn deltawire_value_u64(v: *const deltawire_value, out: *mut u64) -> deltawire_status {
    // SAFETY: the caller promises valid pointers.
    unsafe { answer(out, || number_of(v)?.to_u64().ok_or(DELTAWIRE_E_RANGE)) }
}

/// Returns a number as a signed integer, in whatever notation (`10.0`, `1e3`). Answers OK, ABSENT
/// (not a number), E_NULL, E_RANGE (not an integer of this type).
#[no_mangle]
pub unsafe extern "C" fn deltawire_value_i64(v: *const deltawire_value, out: *mut i64) -> deltawire_status {
    // SAFETY: the caller promises valid pointers.
    unsafe { answer(out, || number_of(v)?.to_i64().ok_or(DELTAWIRE_E_RANGE)) }
}

/// Returns a number as digits and a power of ten. `deltawire.hpp` converts these to a double.
/// Answers OK, ABSENT (not a number), E_NULL.
#[no_mangle]
pub unsafe extern "C" fn deltawire_value_decimal(
    v: *const deltawire_value,
    out: *mut deltawire_decimal,
) -> deltawire_status {
    // SAFETY: the caller promises valid pointers.
    unsafe {
        answer(out, || {
            let Decimal { digits, exp10, negative, exact } = number_of(v)?.to_decimal();
            Ok(deltawire_decimal { digits, exp10, negative: negative.into(), exact: exact.into(), reserved: [0; 2] })
        })
    }
}

/// Returns the token counts of a `usage` object, which may come from `on_usage`, from
/// `DELTAWIRE_F_USAGE`, from the text of a `DELTAWIRE_EV_USAGE` in a batch, or from a stored body or
/// message. The function knows the member names of chat completions, Responses, Anthropic and
/// Gemini. Answers OK, ABSENT (not an object, or an empty one), E_NULL, E_CONFIG (`size`).
#[no_mangle]
pub unsafe extern "C" fn deltawire_value_usage(
    v: *const deltawire_value,
    out: *mut deltawire_usage,
) -> deltawire_status {
    // SAFETY: the caller promises valid pointers.
    unsafe {
        if v.is_null() {
            return DELTAWIRE_E_NULL;
        }
        ok!(check_size(out));
        let usage = Usage::of(ok!(json_of(v)));
        give_usage(out, usage.map(|usage| usage.counts()))
    }
}

/// Returns a part of an error (`DELTAWIRE_ERROR_*`), whichever member the provider puts it in.
/// `error` is the value that `on_error` or `on_choice_error` received, or that `DELTAWIRE_F_ERROR`
/// returned. To make a value of a batch's text, call `deltawire_value_open`, or
/// `deltawire_value_plain` if the event has the flag `DELTAWIRE_EVF_PLAIN`. Answers OK, ABSENT,
/// E_NULL, E_RANGE (`field`).
#[no_mangle]
pub unsafe extern "C" fn deltawire_error_field(
    error: *const deltawire_value,
    field: u32,
    out: *mut deltawire_value,
) -> deltawire_status {
    // SAFETY: the caller promises valid pointers.
    unsafe {
        answer(out, || {
            let error = given(error)?;
            let part = match field {
                DELTAWIRE_ERROR_MESSAGE => Some(ErrorPart::Message),
                DELTAWIRE_ERROR_CODE => Some(ErrorPart::Code),
                DELTAWIRE_ERROR_TYPE => Some(ErrorPart::Kind),
                DELTAWIRE_ERROR_PARAM => Some(ErrorPart::Param),
                DELTAWIRE_ERROR_METADATA => None,
                _ => return Err(DELTAWIRE_E_RANGE),
            };
            let value = match (error, part) {
                (Given::Plain(text), Some(ErrorPart::Message)) if !text.is_empty() => return Ok(plain_of(text)),
                (Given::Plain(_), _) => None,
                (Given::Json(error), Some(part)) => ApiError::of(error).part(part),
                (Given::Json(error), None) => ApiError::of(error).metadata(),
            };
            value.map(value_of).ok_or(DELTAWIRE_ABSENT)
        })
    }
}
