//! Names of numbers: static, ended by NUL.

use crate::types::*;
use core::ffi::c_char;
use core::ptr;
use deltawire::Quirk;

/// The names of a table: a match from numbers to C strings.
macro_rules! names {
    ($number:expr, $none:expr, $($known:pat => $name:literal,)*) => {
        match $number {
            $($known => concat!($name, "\0").as_ptr().cast::<c_char>(),)*
            _ => $none,
        }
    };
}

/// What is not known.
fn unknown() -> *const c_char {
    c"?".as_ptr()
}

/// The name of a status: `OK`, `E_NULL`, …
#[no_mangle]
pub extern "C" fn deltawire_status_name(status: deltawire_status) -> *const c_char {
    names! { status, unknown(),
        DELTAWIRE_OK => "OK",
        DELTAWIRE_PAUSED => "PAUSED",
        DELTAWIRE_MORE => "MORE",
        DELTAWIRE_NEED_STORAGE => "NEED_STORAGE",
        DELTAWIRE_ABSENT => "ABSENT",
        DELTAWIRE_E_NULL => "E_NULL",
        DELTAWIRE_E_CONFIG => "E_CONFIG",
        DELTAWIRE_E_SMALL => "E_SMALL",
        DELTAWIRE_E_ALIGN => "E_ALIGN",
        DELTAWIRE_E_STATE => "E_STATE",
        DELTAWIRE_E_REENTRANT => "E_REENTRANT",
        DELTAWIRE_E_RANGE => "E_RANGE",
        DELTAWIRE_E_RESUME => "E_RESUME",
        DELTAWIRE_E_ABORTED => "E_ABORTED",
        DELTAWIRE_E_CALLBACK => "E_CALLBACK",
        DELTAWIRE_E_STRICT => "E_STRICT",
    }
}

/// A status in words; "?" if the number is not known. Static, ended by NUL.
#[no_mangle]
pub extern "C" fn deltawire_status_text(status: deltawire_status) -> *const c_char {
    names! { status, unknown(),
        DELTAWIRE_OK => "done",
        DELTAWIRE_PAUSED => "a callback asked for a pause",
        DELTAWIRE_MORE => "array or scratch are full",
        DELTAWIRE_NEED_STORAGE => "the block is too small for an event that was cut",
        DELTAWIRE_ABSENT => "there is no such thing",
        DELTAWIRE_E_NULL => "a pointer is NULL",
        DELTAWIRE_E_CONFIG => "a struct has a size or a value that is not known",
        DELTAWIRE_E_SMALL => "memory is too small",
        DELTAWIRE_E_ALIGN => "memory is not aligned",
        DELTAWIRE_E_STATE => "never initialised, or the wrong order of calls",
        DELTAWIRE_E_REENTRANT => "called from a callback",
        DELTAWIRE_E_RANGE => "outside of the range",
        DELTAWIRE_E_RESUME => "the bytes that were not consumed were not given again",
        DELTAWIRE_E_ABORTED => "a callback broke off",
        DELTAWIRE_E_CALLBACK => "a callback returned a number that is not known",
        DELTAWIRE_E_STRICT => "a quirk that is to be an error",
    }
}

/// The name of a kind of event: `CONTENT`; "?" if the number is not known. Static, ended by NUL.
#[no_mangle]
pub extern "C" fn deltawire_event_name(kind: u32) -> *const c_char {
    names! { kind, unknown(),
        DELTAWIRE_EV_FRAME => "FRAME",
        DELTAWIRE_EV_SSE => "SSE",
        DELTAWIRE_EV_COMMENT => "COMMENT",
        DELTAWIRE_EV_KEEP_ALIVE => "KEEP_ALIVE",
        DELTAWIRE_EV_RETRY => "RETRY",
        DELTAWIRE_EV_LAST_EVENT_ID => "LAST_EVENT_ID",
        DELTAWIRE_EV_CHUNK => "CHUNK",
        DELTAWIRE_EV_ROLE => "ROLE",
        DELTAWIRE_EV_CONTENT => "CONTENT",
        DELTAWIRE_EV_REASONING => "REASONING",
        DELTAWIRE_EV_REFUSAL => "REFUSAL",
        DELTAWIRE_EV_TOOL_CALL => "TOOL_CALL",
        DELTAWIRE_EV_TOOL_NAME => "TOOL_NAME",
        DELTAWIRE_EV_TOOL_ARGUMENTS => "TOOL_ARGUMENTS",
        DELTAWIRE_EV_FUNCTION_NAME => "FUNCTION_NAME",
        DELTAWIRE_EV_FUNCTION_ARGUMENTS => "FUNCTION_ARGUMENTS",
        DELTAWIRE_EV_AUDIO => "AUDIO",
        DELTAWIRE_EV_LOGPROBS => "LOGPROBS",
        DELTAWIRE_EV_MESSAGE => "MESSAGE",
        DELTAWIRE_EV_FINISH => "FINISH",
        DELTAWIRE_EV_CHOICE_ERROR => "CHOICE_ERROR",
        DELTAWIRE_EV_USAGE => "USAGE",
        DELTAWIRE_EV_ERROR => "ERROR",
        DELTAWIRE_EV_MALFORMED => "MALFORMED",
        DELTAWIRE_EV_TOO_LONG => "TOO_LONG",
        DELTAWIRE_EV_COMMENT_TOO_LONG => "COMMENT_TOO_LONG",
        DELTAWIRE_EV_LIMIT => "LIMIT",
        DELTAWIRE_EV_QUIRK => "QUIRK",
        DELTAWIRE_EV_DONE => "DONE",
        DELTAWIRE_EV_PAYLOAD => "PAYLOAD",
    }
}

/// The name of a verdict: `Done`; "?" if the number is not known. Static, ended by NUL.
#[no_mangle]
pub extern "C" fn deltawire_verdict_name(verdict: u32) -> *const c_char {
    names! { verdict, unknown(),
        DELTAWIRE_END_EMPTY => "Empty",
        DELTAWIRE_END_NOT_A_STREAM => "NotAStream",
        DELTAWIRE_END_API_ERROR => "ApiError",
        DELTAWIRE_END_DONE => "Done",
        DELTAWIRE_END_FINISHED => "Finished",
        DELTAWIRE_END_BODY => "Body",
        DELTAWIRE_END_OTHER_PROTOCOL => "OtherProtocol",
        DELTAWIRE_END_TRUNCATED => "Truncated",
    }
}

/// The name of a fault: `UnexpectedEnd`; "?" if the number is not known. Static, ended by NUL.
#[no_mangle]
pub extern "C" fn deltawire_fault_name(fault: u32) -> *const c_char {
    names! { fault, unknown(),
        DELTAWIRE_FAULT_UNEXPECTED_END => "UnexpectedEnd",
        DELTAWIRE_FAULT_UNEXPECTED_BYTE => "UnexpectedByte",
        DELTAWIRE_FAULT_TRAILING_BYTES => "TrailingBytes",
        DELTAWIRE_FAULT_TOO_DEEP => "TooDeep",
        DELTAWIRE_FAULT_BAD_NUMBER => "BadNumber",
        DELTAWIRE_FAULT_BAD_LITERAL => "BadLiteral",
        DELTAWIRE_FAULT_BAD_ESCAPE => "BadEscape",
        DELTAWIRE_FAULT_RAW_CONTROL => "RawControl",
        DELTAWIRE_FAULT_ILL_FORMED_UTF8 => "IllFormedUtf8",
    }
}

/// The quirk of this number.
pub(crate) fn quirk_of(number: u32) -> Option<Quirk> {
    Quirk::ALL.iter().copied().find(|quirk| *quirk as u32 == number)
}

/// The row of the table of quirks: `F6`. NULL past the last known. Static, ended by NUL.
#[no_mangle]
pub extern "C" fn deltawire_quirk_code(quirk: u32) -> *const c_char {
    quirk_of(quirk).map_or(ptr::null(), |quirk| quirk.c_strs()[0].as_ptr())
}

/// The name of a quirk: `ContinuedPayload`. NULL past the last known. Static, ended by NUL.
#[no_mangle]
pub extern "C" fn deltawire_quirk_name(quirk: u32) -> *const c_char {
    quirk_of(quirk).map_or(ptr::null(), |quirk| quirk.c_strs()[1].as_ptr())
}

/// A quirk in words. NULL past the last known. Static, ended by NUL.
#[no_mangle]
pub extern "C" fn deltawire_quirk_text(quirk: u32) -> *const c_char {
    quirk_of(quirk).map_or(ptr::null(), |quirk| quirk.c_strs()[2].as_ptr())
}
