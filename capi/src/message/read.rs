//! Reads a message: its texts, its JSON, its members.

use super::look;
use crate::convert::{answer, bytes, copy_out};
use crate::types::*;
use core::ffi::c_char;
use deltawire::chat::Owner;
use deltawire::message::{Detail, Field, LogError};

/// How many choices the message has; 0 if `m` is not an assembler.
#[no_mangle]
pub unsafe extern "C" fn deltawire_message_choices(m: *const deltawire_message) -> u32 {
    // SAFETY: a block, as the caller promises.
    unsafe { look(m) }.map_or(0, |(state, _)| state.log.choices() as u32)
}

/// Returns the index of the `n`th choice; choices are in ascending order of their indexes. Answers
/// OK, ABSENT, E_NULL, E_ALIGN, E_STATE.
#[no_mangle]
pub unsafe extern "C" fn deltawire_message_choice_index(
    m: *const deltawire_message,
    n: u32,
    out: *mut u32,
) -> deltawire_status {
    // SAFETY: the caller promises valid pointers.
    unsafe {
        let (state, _) = ok!(look(m));
        answer(out, || state.log.choice_index(n as usize).ok_or(DELTAWIRE_ABSENT))
    }
}

/// How many tool calls the choice with this index has.
#[no_mangle]
pub unsafe extern "C" fn deltawire_message_calls(m: *const deltawire_message, choice: u32) -> u32 {
    // SAFETY: a block, as the caller promises.
    unsafe { look(m) }.map_or(0, |(state, _)| state.log.calls(choice))
}

/// Why the assembler first left something out of the message, as `DELTAWIRE_LIMIT_*`; 0 if it left
/// out nothing.
#[no_mangle]
pub unsafe extern "C" fn deltawire_message_limit(m: *const deltawire_message) -> u32 {
    // SAFETY: a block, as the caller promises.
    let left_out = unsafe { look(m) }.ok().and_then(|(state, _)| state.log.left_out());
    match left_out {
        None => 0,
        Some(LogError::TooManyChoices) => DELTAWIRE_LIMIT_CHOICES,
        Some(LogError::TooManyCalls) => DELTAWIRE_LIMIT_TOOL_CALLS,
        Some(LogError::BadIndex) => DELTAWIRE_LIMIT_INDEX,
        Some(_) => DELTAWIRE_LIMIT_LENGTH,
    }
}

/// Copies a text of the message (`DELTAWIRE_M_*`) into `buf`. `choice` is the index of a choice, and
/// `call` the position of a call among that choice's calls in the finished message. It may differ
/// from `call` of an event, because the message lists the calls of chat completions by index. Give 0
/// where the field needs no choice or no call. `*need`, unless NULL, receives the length. The text
/// is not ended by NUL; fields that are JSON are copied as they were sent. Each call reads the log
/// once. Answers OK, ABSENT, E_NULL, E_ALIGN, E_STATE, E_RANGE (`field`), E_SMALL (nothing was
/// written to `buf`).
#[no_mangle]
pub unsafe extern "C" fn deltawire_message_text(
    m: *const deltawire_message,
    field: u32,
    choice: u32,
    call: u32,
    buf: *mut c_char,
    cap: usize,
    need: *mut usize,
) -> deltawire_status {
    // SAFETY: the caller promises valid pointers.
    unsafe {
        let (state, buffer) = ok!(look(m));
        let Some(field) = Field::from_number(field) else { return DELTAWIRE_E_RANGE };
        let Some(len) = state.log.text(buffer, field, choice, call, &mut []) else { return DELTAWIRE_ABSENT };
        copy_out(len, buf, cap, need, |out| {
            state.log.text(buffer, field, choice, call, out);
        })
    }
}

/// Copies the whole message as JSON, as `deltawire_message_text` copies a text: a `chat.completion`,
/// as the API sends it without streaming. After a cut stream, or one with nothing of a message, the
/// JSON contains only what came: check `complete` of `deltawire_end` and `deltawire_message_limit`
/// first. An error of the API is a member `error` of the message or of a choice. `flags`:
/// `DELTAWIRE_JSON_*`. Answers OK, E_NULL, E_ALIGN, E_STATE, E_RANGE (`flags`), E_SMALL.
#[no_mangle]
pub unsafe extern "C" fn deltawire_message_json(
    m: *const deltawire_message,
    flags: u32,
    buf: *mut c_char,
    cap: usize,
    need: *mut usize,
) -> deltawire_status {
    // SAFETY: the caller promises valid pointers.
    unsafe {
        let (state, buffer) = ok!(look(m));
        if flags & !DELTAWIRE_JSON_EXTENDED != 0 {
            return DELTAWIRE_E_RANGE;
        }
        let detail = if flags & DELTAWIRE_JSON_EXTENDED != 0 { Detail::Extended } else { Detail::Standard };
        let len = state.log.json(buffer, detail, &mut []);
        copy_out(len, buf, cap, need, |out| {
            state.log.json(buffer, detail, out);
        })
    }
}

/// Copies a member that has no `DELTAWIRE_M_*`, such as a provider's `citations` or `timings`, into
/// `buf`, as `deltawire_message_text` copies a text. The value is raw JSON, the last one that was
/// not null; lists of a delta (`images`), except `citations`, become one. `owner`:
/// `DELTAWIRE_OWNER_*`; `choice` is the index of the choice, 0 for a member of the chunks; `call`
/// is the position of the call, as in `deltawire_message_text`; `name` is UTF-8 of `name_len`
/// bytes. Answers OK, ABSENT, E_NULL, E_ALIGN, E_STATE, E_RANGE (`owner`, `name_len`), E_SMALL.
#[no_mangle]
pub unsafe extern "C" fn deltawire_message_member(
    m: *const deltawire_message,
    owner: u32,
    choice: u32,
    call: u32,
    name: *const c_char,
    name_len: usize,
    buf: *mut c_char,
    cap: usize,
    need: *mut usize,
) -> deltawire_status {
    // SAFETY: the caller promises valid pointers.
    unsafe {
        let (state, buffer) = ok!(look(m));
        let Some(owner) = Owner::from_number(owner) else { return DELTAWIRE_E_RANGE };
        let name = core::str::from_utf8(ok!(bytes(name.cast(), name_len))).ok();
        let member = name.and_then(|name| state.log.member(buffer, owner, choice, call, name));
        // A call for an absent member checks the buffer as well.
        if buf.is_null() && cap > 0 {
            return DELTAWIRE_E_NULL;
        }
        let Some(value) = member else { return DELTAWIRE_ABSENT };
        let raw = value.raw();
        copy_out(raw.len(), buf, cap, need, |out| {
            out.iter_mut().zip(raw).for_each(|(to, from)| *to = *from);
        })
    }
}
