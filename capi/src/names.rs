//! The names of statuses, kinds, verdicts, quirks and other numbers.

use crate::types::*;
use core::ffi::{c_char, CStr};
use core::ptr;
use deltawire::delta::Kind;
use deltawire::json::JsonErrorKind;
use deltawire::stream::{Media, Pending, Protocol};
use deltawire::{Quirk, Verdict};

/// Returns a name for C; "?" for a number without one.
#[inline(always)]
fn named(name: Option<&'static CStr>) -> *const c_char {
    name.unwrap_or(c"?").as_ptr()
}

/// Returns the name of a status, and the status in words.
#[inline(always)] // Each caller then has a table of the texts that it returns, without relocations.
fn words_of(status: deltawire_status) -> [&'static CStr; 2] {
    match status {
        DELTAWIRE_OK => [c"OK", c"done"],
        DELTAWIRE_PAUSED => [c"PAUSED", c"a callback asked for a pause: call again with the unconsumed bytes"],
        DELTAWIRE_MORE => [c"MORE", c"the array or the scratch is full: call again with the unconsumed bytes"],
        DELTAWIRE_NEED_STORAGE => [
            c"NEED_STORAGE",
            c"the block is too small for what it must keep: deltawire_need, deltawire_message_need or \
            deltawire_writer_need has the size",
        ],
        DELTAWIRE_NEED_ROOM => [
            c"NEED_ROOM",
            c"the buffer has no room for the next event: send what was written, and call again with the same event",
        ],
        DELTAWIRE_ABSENT => [c"ABSENT", c"there is no such value, or it has another type"],
        DELTAWIRE_E_NULL => [c"E_NULL", c"a pointer that must not be NULL is NULL"],
        DELTAWIRE_E_CONFIG => [
            c"E_CONFIG",
            c"a struct has an unknown size, which its _INIT macro sets, or a value out of range",
        ],
        DELTAWIRE_E_SMALL => [c"E_SMALL", c"memory is too small: a _size or _need function, or *need, has the length"],
        DELTAWIRE_E_ALIGN => [c"E_ALIGN", c"memory is not aligned to DELTAWIRE_ALIGN"],
        DELTAWIRE_E_STATE => [
            c"E_STATE",
            c"a call is missing before this one: deltawire_init for a new block, deltawire_reset after the end of a stream, \
            the same kind of call (feed or batch) as before for a pending event, deltawire_feed for committed bytes, \
            deltawire_reserve for deltawire_commit; or the config lacks DELTAWIRE_CFG_SHARED, or has it and the call is \
            without _with, or lacks read_len or DELTAWIRE_MODE_USAGE",
        ],
        DELTAWIRE_E_REENTRANT => [
            c"E_REENTRANT",
            c"a callback called a function on the parser or workspace in use: let the callback return first",
        ],
        DELTAWIRE_E_RANGE => [c"E_RANGE", c"an argument is out of range, or a number does not fit its type"],
        DELTAWIRE_E_RESUME => [
            c"E_RESUME",
            c"the parser expects the unconsumed bytes again, or a loop left a batch before its last event",
        ],
        DELTAWIRE_E_NO_PLACE => [c"E_NO_PLACE", c"the protocol has no place for the event"],
        DELTAWIRE_E_LATE => [c"E_LATE", c"the event comes after its choice or its call was written"],
        DELTAWIRE_E_JSON => [c"E_JSON", c"the value is not JSON"],
        DELTAWIRE_E_UNFINISHED => [c"E_UNFINISHED", c"a choice has no finish reason"],
        DELTAWIRE_E_ENDED => [c"E_ENDED", c"the stream ended before"],
        DELTAWIRE_E_ABORTED => {
            [c"E_ABORTED", c"a callback aborted the call: deltawire_reset begins another stream"]
        }
        DELTAWIRE_E_CALLBACK => [
            c"E_CALLBACK",
            c"a callback returned a number that no constant names: deltawire_reset begins another stream",
        ],
        DELTAWIRE_E_STRICT => [
            c"E_STRICT",
            c"the stream has a quirk that the config makes an error, which deltawire_error_quirk names: deltawire_reset \
            begins another stream",
        ],
        _ => [c"?"; 2],
    }
}

/// The name of a status, such as `OK` or `E_NULL`; "?" for an unknown number. Static, ended by NUL.
#[no_mangle]
pub extern "C" fn deltawire_status_name(status: deltawire_status) -> *const c_char {
    words_of(status)[0].as_ptr()
}

/// A status in words; "?" for an unknown number. Static, ended by NUL.
#[no_mangle]
pub extern "C" fn deltawire_status_text(status: deltawire_status) -> *const c_char {
    words_of(status)[1].as_ptr()
}

/// The name of a kind of event, such as `CONTENT`; "?" for an unknown number. Static, ended by NUL.
#[no_mangle]
pub extern "C" fn deltawire_event_name(kind: u32) -> *const c_char {
    named(Kind::c_name(kind))
}

const _: () = assert!(DELTAWIRE_MESSAGE_EVENTS == Kind::MESSAGE);

/// The name of a verdict, such as `Done`; "?" for an unknown number. Static, ended by NUL.
#[no_mangle]
pub extern "C" fn deltawire_verdict_name(verdict: u32) -> *const c_char {
    named(Verdict::c_name(verdict))
}

/// The name of a `DELTAWIRE_MEDIA_*`, such as `Gzip` or `None`; "?" for an unknown number. Static,
/// ended by NUL.
#[no_mangle]
pub extern "C" fn deltawire_media_name(media: u32) -> *const c_char {
    named(if media == DELTAWIRE_MEDIA_NONE { Some(c"None") } else { Media::c_name(media) })
}

/// The name of a protocol, such as `Anthropic` or `None`; "?" for an unknown number. Static, ended
/// by NUL.
#[no_mangle]
pub extern "C" fn deltawire_protocol_name(protocol: u32) -> *const c_char {
    named(if protocol == DELTAWIRE_PROTOCOL_NONE { Some(c"None") } else { Protocol::c_name(protocol) })
}

/// The name of a `DELTAWIRE_PENDING_*`, such as `Event`; "?" for an unknown number. Static, ended by
/// NUL.
#[no_mangle]
pub extern "C" fn deltawire_pending_name(pending: u32) -> *const c_char {
    named(Pending::c_name(pending))
}

/// The name of a fault, such as `UnexpectedEnd`; "?" for an unknown number. Static, ended by NUL.
#[no_mangle]
pub extern "C" fn deltawire_fault_name(fault: u32) -> *const c_char {
    named(JsonErrorKind::c_name(fault))
}

/// The name of a `DELTAWIRE_FINISH_*` as providers write it, such as `tool_calls`; `other` for
/// OTHER, and "?" for an unknown number. Static, ended by NUL.
#[no_mangle]
pub extern "C" fn deltawire_finish_name(finish: u32) -> *const c_char {
    named(match finish {
        DELTAWIRE_FINISH_OTHER => Some(c"other"),
        DELTAWIRE_FINISH_STOP => Some(c"stop"),
        DELTAWIRE_FINISH_LENGTH => Some(c"length"),
        DELTAWIRE_FINISH_TOOL_CALLS => Some(c"tool_calls"),
        DELTAWIRE_FINISH_CONTENT_FILTER => Some(c"content_filter"),
        DELTAWIRE_FINISH_FUNCTION_CALL => Some(c"function_call"),
        DELTAWIRE_FINISH_ERROR => Some(c"error"),
        _ => None,
    })
}

/// The name of a `DELTAWIRE_LIMIT_*`, which is that of the error in Rust: `TooManyCalls` for
/// `DELTAWIRE_LIMIT_TOOL_CALLS`. "?" for an unknown number. Static, ended by NUL.
#[no_mangle]
pub extern "C" fn deltawire_limit_name(limit: u32) -> *const c_char {
    named(match limit {
        DELTAWIRE_LIMIT_CHOICES => Some(c"TooManyChoices"),
        DELTAWIRE_LIMIT_TOOL_CALLS => Some(c"TooManyCalls"),
        DELTAWIRE_LIMIT_INDEX => Some(c"BadIndex"),
        DELTAWIRE_LIMIT_LENGTH => Some(c"TooLong"),
        _ => None,
    })
}

/// Returns the quirk with this number.
pub(crate) fn quirk_of(number: u32) -> Option<Quirk> {
    Quirk::ALL.iter().copied().find(|quirk| *quirk as u32 == number)
}

/// The code of a quirk in docs/quirks.md, such as `F6`; NULL for unknown numbers. Static, ended by
/// NUL.
#[no_mangle]
pub extern "C" fn deltawire_quirk_code(quirk: u32) -> *const c_char {
    quirk_of(quirk).map_or(ptr::null(), |quirk| quirk.c_strs()[0].as_ptr())
}

/// The name of a quirk, such as `ContinuedPayload`; NULL for unknown numbers. Static, ended by NUL.
#[no_mangle]
pub extern "C" fn deltawire_quirk_name(quirk: u32) -> *const c_char {
    quirk_of(quirk).map_or(ptr::null(), |quirk| quirk.c_strs()[1].as_ptr())
}

/// A quirk in words; NULL for unknown numbers. Static, ended by NUL.
#[no_mangle]
pub extern "C" fn deltawire_quirk_text(quirk: u32) -> *const c_char {
    quirk_of(quirk).map_or(ptr::null(), |quirk| quirk.c_strs()[2].as_ptr())
}
