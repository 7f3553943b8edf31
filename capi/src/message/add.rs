//! Adds events to a message: from callbacks, or from a batch.

use super::{enter, look, size_for, MessageState};
use crate::block::slide;
use crate::convert::{bytes, chunk, put_out};
use crate::feed::SILENT;
use crate::types::*;
use crate::value::text_of;
use core::ffi::{c_char, c_void};
use core::mem::size_of;
use core::slice;
use deltawire::chat::CallUpdate;
use deltawire::delta::{Kind, FLAG_EMPTY};
use deltawire::message::{appends_pieces, LogError};
use deltawire::stream::Record;
use deltawire::Update;

/// Whether an assembler adds the pieces of a text of this kind one by one. The log appends each
/// later piece of a name to the first.
fn takes_pieces(kind: u16) -> bool {
    let kind = Kind::from_number(u32::from(kind));
    kind.is_some_and(|kind| appends_pieces(kind) || matches!(kind, Kind::ToolName | Kind::FunctionName))
}

impl MessageState {
    /// Returns the status for the log's answer. `beside` bytes of the buffer are in use but do not belong to the log.
    /// An event that the log leaves out is not an error here, because the log notes that itself.
    fn conclude(&mut self, added: Result<(), LogError>, beside: usize) -> deltawire_status {
        let Err(LogError::NeedStorage { need }) = added else {
            self.note_fit();
            return DELTAWIRE_OK;
        };
        (self.full, self.need) = (true, size_for(self.words as usize, need.saturating_add(beside)));
        DELTAWIRE_NEED_STORAGE
    }

    /// Notes that the last event did fit.
    #[inline(always)]
    fn note_fit(&mut self) {
        (self.full, self.need) = (false, 0);
    }

    /// Adds a text that continues the previous one, as nearly every text does. Returns `false`, with nothing changed,
    /// for any other text.
    #[inline(always)]
    fn put_usual(&mut self, buffer: &mut [u8], record: &Record, text: &[u8]) -> bool {
        self.staged == 0 && self.log.put_usual_record(buffer, record, text)
    }

    /// Adds an event of a batch, or an event of a callback, converted to a record.
    #[inline(never)]
    fn add(&mut self, buffer: &mut [u8], record: &Record, text: &[u8], aux: &[u8]) -> deltawire_status {
        let more = u32::from(record.flags) & DELTAWIRE_EVF_MORE != 0;
        if self.staged == 0 && (!more || takes_pieces(record.kind)) {
            let added = self.log.put_record(buffer, record, text, aux);
            return self.conclude(added, 0);
        }
        self.add_piece(buffer, record, text, more)
    }

    /// Stages a piece of a text that the log takes only whole. With the last piece, adds the text.
    #[inline(never)]
    fn add_piece(&mut self, buffer: &mut [u8], record: &Record, piece: &[u8], more: bool) -> deltawire_status {
        let start = self.log.len();
        let at = start.saturating_add(self.staged);
        let staged = self.staged.saturating_add(piece.len());
        let Some(room) = buffer.get_mut(at..at.saturating_add(piece.len())) else {
            let need = start.saturating_add(staged).max(buffer.len().saturating_mul(2));
            return self.conclude(Err(LogError::NeedStorage { need }), 0);
        };
        if room.len() == piece.len() {
            room.copy_from_slice(piece);
        }
        if more {
            self.staged = staged;
            return self.conclude(Ok(()), 0);
        }
        // The text is whole. It moves to the end of the buffer, to make room for the log's new record before it.
        let end = buffer.len().saturating_sub(staged);
        slide(buffer, start, end, staged);
        let (log, text) = buffer.split_at_mut_checked(end).unwrap_or_default();
        let added = self.log.put_record(log, record, text, &[]);
        let status = self.conclude(added, staged);
        if status == DELTAWIRE_OK {
            self.staged = 0;
        } else {
            slide(buffer, end, start, staged);
        }
        status
    }
}

/// Enters an assembler for a callback, and converts the status of `add` to the callback's answer.
///
/// # Safety
/// `user` is an assembler.
unsafe fn take(user: *mut c_void, add: impl FnOnce(&mut MessageState, &mut [u8]) -> deltawire_status) -> i32 {
    // SAFETY: as the caller promises.
    match unsafe { enter(user.cast()) }.map_or_else(|status| status, |(state, buffer)| add(state, buffer)) {
        DELTAWIRE_OK => DELTAWIRE_GO_ON,
        DELTAWIRE_NEED_STORAGE => DELTAWIRE_AGAIN,
        status => status,
    }
}

/// Returns the argument of a callback as a record without texts.
fn record_of(at: &deltawire_at) -> Record {
    let deltawire_at { kind, flags, choice, call, code, number, start, end, .. } = *at;
    let (kind, flags) = (kind as u16, (flags & !DELTAWIRE_EVF_TEXT_SCRATCH) as u16);
    Record { kind, flags, choice, call, code, number, start, end, ..Record::default() }
}

/// Takes in the event of a callback, with its text.
///
/// # Safety
/// `user` is an assembler.
#[inline(never)]
unsafe fn add(user: *mut c_void, at: &deltawire_at, text: &[u8]) -> i32 {
    // SAFETY: as the caller promises.
    unsafe { take(user, |state, buffer| state.add(buffer, &record_of(at), text, &[])) }
}

/// The callbacks of an assembler.
///
/// # Safety
/// Of each: `user` is an assembler; all else is what a parser gave.
unsafe extern "C" fn on_chunk(user: *mut c_void, at: *const deltawire_at) -> i32 {
    // SAFETY: as the caller promises.
    unsafe {
        match enter(user.cast()) {
            // Nearly always. The rest is a function of its own, so that this saves no registers.
            Ok((state, _)) if state.log.has_head((*at).flags & DELTAWIRE_EVF_NATIVE != 0) && !(*at).chunk.is_null() => {
                state.note_fit();
                DELTAWIRE_GO_ON
            }
            _ => head(user, at),
        }
    }
}

/// Takes in the members that all chunks have: ID, model and time.
#[inline(never)]
unsafe fn head(user: *mut c_void, at: *const deltawire_at) -> i32 {
    // SAFETY: as the caller promises. A chunk lies in no assembler's block.
    unsafe {
        let chunk = ok!(chunk((*at).chunk));
        take(user, |state, buffer| {
            let added = state.log.head_of(buffer, &chunk);
            state.conclude(added, 0)
        })
    }
}

unsafe extern "C" fn on_limit(user: *mut c_void, at: *const deltawire_at) -> i32 {
    // SAFETY: as the caller promises.
    unsafe { add(user, &*at, &[]) }
}

unsafe extern "C" fn on_text(user: *mut c_void, at: *const deltawire_at, text: *const c_char, len: usize) -> i32 {
    // SAFETY: as the caller promises.
    unsafe {
        let text = ok!(bytes(text.cast(), len));
        if let Ok((state, buffer)) = enter(user.cast()) {
            // Nearly always.
            if state.put_usual(buffer, &record_of(&*at), text) {
                state.note_fit();
                return DELTAWIRE_GO_ON;
            }
        }
        add(user, &*at, text)
    }
}

unsafe extern "C" fn on_value(user: *mut c_void, at: *const deltawire_at, value: *const deltawire_value) -> i32 {
    // SAFETY: as the caller promises.
    unsafe { on_text(user, at, (*value).ptr, (*value).len) }
}

unsafe extern "C" fn on_tool_call(
    user: *mut c_void,
    at: *const deltawire_at,
    id: *const deltawire_value,
    r#type: *const deltawire_value,
) -> i32 {
    // SAFETY: as the caller promises.
    unsafe {
        let text = |value| text_of(value).ok();
        let deltawire_at { flags, choice, call, number, .. } = *at;
        let mut update = CallUpdate::default();
        update.call = call;
        update.index = u32::try_from(number).ok();
        update.opens = flags & DELTAWIRE_EVF_OPENS != 0;
        update.reuses = flags & DELTAWIRE_EVF_REUSES != 0;
        update.id = text(id);
        update.kind = text(r#type);
        update.custom = flags & DELTAWIRE_EVF_CUSTOM != 0;
        update.empty_arguments = flags & u32::from(FLAG_EMPTY) != 0;
        let update = Update::Call(update);
        take(user, |state, buffer| {
            let added = state.log.put(buffer, choice, &update);
            state.conclude(added, 0)
        })
    }
}

static CALLBACKS: deltawire_callbacks = deltawire_callbacks {
    size: size_of::<deltawire_callbacks>() as u32,
    on_chunk: Some(on_chunk),
    on_role: Some(on_text),
    on_content: Some(on_text),
    on_reasoning: Some(on_text),
    on_refusal: Some(on_text),
    on_tool_call: Some(on_tool_call),
    on_tool_name: Some(on_text),
    on_tool_arguments: Some(on_text),
    on_function_name: Some(on_text),
    on_function_arguments: Some(on_text),
    on_audio: Some(on_value),
    on_logprobs: Some(on_value),
    on_finish: Some(on_text),
    on_choice_error: Some(on_value),
    on_usage: Some(on_value),
    on_error: Some(on_value),
    on_limit: Some(on_limit),
    on_meta: Some(on_text),
    on_annotations: Some(on_value),
    on_signature: Some(on_text),
    on_media: Some(on_value),
    on_native: Some(on_value),
    ..SILENT
};

/// Callbacks that assemble a message: `deltawire_feed(p, data, len, deltawire_message_callbacks(),
/// m, &consumed)`. When the block is full, they return `DELTAWIRE_AGAIN`. The feed then answers
/// PAUSED, and `deltawire_message_is_full` returns 1: move the message to a block of
/// `deltawire_message_need` bytes and resume the feed. The table is static. Your own callbacks may
/// call its functions with the assembler as `user`, and return their results.
#[no_mangle]
pub extern "C" fn deltawire_message_callbacks() -> *const deltawire_callbacks {
    &CALLBACKS
}

/// Returns 1 if the last event did not fit into the block; 0 if it did, or if `m` is not an
/// assembler.
#[no_mangle]
pub unsafe extern "C" fn deltawire_message_is_full(m: *const deltawire_message) -> u32 {
    // SAFETY: a block, as the caller promises.
    unsafe { look(m) }.map_or(0, |(state, _)| u32::from(state.full))
}

/// Adds the `n` events of a batch; `data` and `scratch` are those of the batch. The parser's config
/// must have all of `DELTAWIRE_MESSAGE_EVENTS` in `events`: the message lacks the kinds that it does
/// not have. The function skips kinds that a message does not need. `*taken`, unless NULL, is
/// written on every path: how many events were added. After NEED_STORAGE, move the message, and call
/// again with the events that were not added. The function leaves out events beyond a limit
/// (`deltawire_message_limit`). Answers OK, NEED_STORAGE, E_NULL, E_ALIGN, E_STATE, E_RANGE (`n`).
#[no_mangle]
pub unsafe extern "C" fn deltawire_message_add(
    m: *mut deltawire_message,
    events: *const deltawire_event,
    n: usize,
    data: *const c_void,
    scratch: *const c_void,
    taken: *mut usize,
) -> deltawire_status {
    // SAFETY: the caller promises valid pointers: the texts of the events lie in `data` and `scratch`. An event is
    // a record.
    unsafe {
        put_out(taken, 0);
        let (state, buffer) = ok!(enter(m));
        if n > 0 && events.is_null() {
            return DELTAWIRE_E_NULL;
        }
        if n > isize::MAX as usize / size_of::<Record>() {
            return DELTAWIRE_E_RANGE;
        }
        let bytes_of = |off: u32, len: u32, is_scratch: bool| {
            let base = if is_scratch { scratch } else { data };
            match len {
                0 => Ok(&[][..]),
                _ if base.is_null() => Err(DELTAWIRE_E_NULL),
                _ => bytes(base.cast::<u8>().add(off as usize).cast(), len as usize),
            }
        };
        let events = if n > 0 { slice::from_raw_parts(events.cast::<Record>(), n) } else { &[] };
        let (mut status, mut added, mut rest) = (DELTAWIRE_OK, n, events.iter());
        while let Some(record) = rest.next() {
            let kind = u32::from(record.kind);
            let has = |flag| u32::from(record.flags) & flag != 0;
            if kind == DELTAWIRE_EV_CHUNK && state.log.has_head(has(DELTAWIRE_EVF_NATIVE)) {
                // A chunk after the first has nothing new for the log, so its texts are not read. No chunk comes
                // between pieces of a text.
                continue;
            }
            status = match bytes_of(record.text_off, record.text_len, has(DELTAWIRE_EVF_TEXT_SCRATCH)) {
                Ok(text) if state.put_usual(buffer, record, text) => continue,
                Ok(text) if kind < DELTAWIRE_EV_COUNT && DELTAWIRE_MESSAGE_EVENTS >> kind & 1 != 0 => {
                    match bytes_of(record.aux_off, record.aux_len, has(DELTAWIRE_EVF_AUX_SCRATCH)) {
                        Ok(aux) => state.add(buffer, record, text, aux),
                        Err(status) => status,
                    }
                }
                Ok(_) => continue,
                Err(status) => status,
            };
            if status != DELTAWIRE_OK {
                // The current event was not added.
                added = added.saturating_sub(rest.len()).saturating_sub(1);
                break;
            }
        }
        if added > 0 && status != DELTAWIRE_NEED_STORAGE {
            state.note_fit();
        }
        put_out(taken, added);
        status
    }
}
