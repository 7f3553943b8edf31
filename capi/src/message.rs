//! The assembler: the library's log of a message, in a block of the caller's.

use crate::convert::{bytes, chunk, copy_out, give, given, status, tell, Given};
use crate::feed::SILENT;
use crate::types::*;
use core::ffi::{c_char, c_void};
use core::mem::{align_of, size_of};
use core::ptr::addr_of;
use core::{ptr, slice};
use deltawire::chat::CallUpdate;
use deltawire::delta::Kind;
use deltawire::message::{appends_pieces, Field, LogError, MessageLog};
use deltawire::stream::Record;
use deltawire::Update;

type CLog = MessageLog<{ DELTAWIRE_MAX_CHOICES as usize }, { DELTAWIRE_MAX_TOOL_CALLS as usize }>;

/// What a block that was initialised begins with.
const MAGIC: u64 = 0x0131_6773_6d64_6457 ^ size_of::<State>() as u64;

#[repr(C)]
struct State {
    magic: u64,
    /// Bytes of the block.
    len: usize,
    log: CLog,
    /// Bytes of a text that comes in pieces and is taken in whole, behind the log.
    staged: usize,
    /// Bytes of the block that are wanted.
    need: usize,
    /// What was to be added last did not fit.
    full: bool,
}

const _: () = assert!(size_of::<State>() <= DELTAWIRE_MESSAGE_STATE_SIZE, "DELTAWIRE_MESSAGE_STATE_SIZE is too small");
const _: () = assert!(align_of::<State>() <= DELTAWIRE_ALIGN, "DELTAWIRE_ALIGN is too small");

/// Bytes of the state, rounded up to the alignment.
const STATE: usize = size_of::<State>().next_multiple_of(DELTAWIRE_ALIGN);

/// The length of a block.
///
/// # Safety
/// `m` is NULL, or points to readable memory of at least the size of a block.
unsafe fn check(m: *const deltawire_message) -> Result<usize, deltawire_status> {
    if m.is_null() {
        return Err(DELTAWIRE_E_NULL);
    }
    if m as usize % align_of::<State>() != 0 {
        return Err(DELTAWIRE_E_ALIGN);
    }
    let state = m.cast::<State>();
    // SAFETY: readable, as the caller promises; any bytes are numbers.
    unsafe {
        if addr_of!((*state).magic).read() != MAGIC {
            return Err(DELTAWIRE_E_STATE);
        }
        Ok(addr_of!((*state).len).read())
    }
}

/// State and buffer of a block that is to be changed.
///
/// # Safety
/// As [`check`]; and the block is writable, used by nobody else, and outlives the result.
unsafe fn enter<'b>(m: *mut deltawire_message) -> Result<(&'b mut State, &'b mut [u8]), deltawire_status> {
    // SAFETY: as the caller promises: the block was initialised with this length, and its two parts do not overlap.
    unsafe {
        let len = check(m)?;
        let state = &mut *m.cast::<State>();
        Ok((state, slice::from_raw_parts_mut(m.cast::<u8>().add(STATE), len.saturating_sub(STATE))))
    }
}

/// The same, to be looked at.
///
/// # Safety
/// As [`check`]; and nothing changes the block while the result is used.
unsafe fn look<'b>(m: *const deltawire_message) -> Result<(&'b State, &'b [u8]), deltawire_status> {
    // SAFETY: as in `enter`, shared.
    unsafe {
        let len = check(m)?;
        Ok((&*m.cast::<State>(), slice::from_raw_parts(m.cast::<u8>().add(STATE), len.saturating_sub(STATE))))
    }
}

/// Whether memory of this address and length can be a block.
fn fits(address: usize, len: usize) -> Result<(), deltawire_status> {
    if address % align_of::<State>() != 0 {
        Err(DELTAWIRE_E_ALIGN)
    } else if len > isize::MAX as usize {
        Err(DELTAWIRE_E_RANGE)
    } else if len < STATE {
        Err(DELTAWIRE_E_SMALL)
    } else {
        Ok(())
    }
}

/// Bytes of an assembler's block with a log of `log_bytes`: texts take about their own length. 0: too much.
#[no_mangle]
pub extern "C" fn deltawire_message_size(log_bytes: usize) -> usize {
    let rounded = log_bytes.checked_next_multiple_of(DELTAWIRE_ALIGN);
    match rounded.and_then(|bytes| bytes.checked_add(DELTAWIRE_MESSAGE_STATE_SIZE)) {
        Some(size) if size <= isize::MAX as usize => size - DELTAWIRE_MESSAGE_STATE_SIZE + STATE,
        _ => 0,
    }
}

/// Makes an assembler of the block `mem`. As `deltawire_init`. Answers OK, E_NULL, E_ALIGN, E_SMALL,
/// E_RANGE (`mem_len`).
#[no_mangle]
#[allow(clippy::missing_safety_doc)] // The header is the manual.
pub unsafe extern "C" fn deltawire_message_init(
    mem: *mut c_void,
    mem_len: usize,
    out: *mut *mut deltawire_message,
) -> deltawire_status {
    if mem.is_null() {
        return DELTAWIRE_E_NULL;
    }
    if let Err(status) = fits(mem as usize, mem_len) {
        return status;
    }
    let log = CLog::new();
    let state = State { magic: MAGIC, len: mem_len, log, staged: 0, need: 0, full: false };
    // SAFETY: writable for `mem_len` bytes, as the caller promises; the rest was checked.
    unsafe {
        mem.cast::<State>().write(state);
        tell(out, mem.cast());
    }
    DELTAWIRE_OK
}

/// A new message. Answers OK, E_NULL, E_ALIGN, E_STATE.
#[no_mangle]
#[allow(clippy::missing_safety_doc)] // The header is the manual.
pub unsafe extern "C" fn deltawire_message_reset(m: *mut deltawire_message) -> deltawire_status {
    // SAFETY: a block, as the caller promises.
    match unsafe { enter(m) } {
        Ok((state, _)) => {
            state.log.reset();
            (state.staged, state.need, state.full) = (0, 0, false);
            DELTAWIRE_OK
        }
        Err(status) => status,
    }
}

/// Moves the assembler to another block. As `deltawire_move`. Answers OK, E_NULL, E_ALIGN, E_STATE,
/// E_SMALL, E_RANGE (`mem_len`).
#[no_mangle]
#[allow(clippy::missing_safety_doc)] // The header is the manual.
pub unsafe extern "C" fn deltawire_message_move(
    mem: *mut c_void,
    mem_len: usize,
    src: *const deltawire_message,
    out: *mut *mut deltawire_message,
) -> deltawire_status {
    status((|| {
        if mem.is_null() {
            return Err(DELTAWIRE_E_NULL);
        }
        // SAFETY: a block, as the caller promises, that nothing changes now.
        let (from, buffer) = unsafe { look(src) }?;
        fits(mem as usize, mem_len)?;
        let kept = buffer.get(..from.log.len().saturating_add(from.staged)).unwrap_or_default();
        if kept.len() > mem_len.saturating_sub(STATE) {
            return Err(DELTAWIRE_E_SMALL);
        }
        // SAFETY: `mem` is writable for `mem_len` bytes and overlaps nothing, as the caller promises; a state is plain data.
        unsafe {
            let state = State { len: mem_len, need: 0, full: false, ..ptr::read(from) };
            mem.cast::<State>().write(state);
            ptr::copy_nonoverlapping(kept.as_ptr(), mem.cast::<u8>().add(STATE), kept.len());
            tell(out, mem.cast());
        }
        Ok(DELTAWIRE_OK)
    })())
}

/// Bytes of the block that it wants: after NEED_STORAGE the next size that makes sense, else the least that holds what
/// is kept. 0: not an assembler.
#[no_mangle]
#[allow(clippy::missing_safety_doc)] // The header is the manual.
pub unsafe extern "C" fn deltawire_message_need(m: *const deltawire_message) -> usize {
    // SAFETY: a block, as the caller promises, that nothing changes now.
    let Ok((state, _)) = (unsafe { look(m) }) else { return 0 };
    state.need.max(size_for(state.log.len().saturating_add(state.staged)))
}

fn size_for(buffer: usize) -> usize {
    STATE.saturating_add(buffer.checked_next_multiple_of(DELTAWIRE_ALIGN).unwrap_or(usize::MAX - STATE))
}

/// Whether an assembler takes pieces of a text of this kind one by one; of a name the others are put behind the first.
fn takes_pieces(kind: u16) -> bool {
    let kind = Kind::from_number(u32::from(kind));
    kind.is_some_and(|kind| appends_pieces(kind) || matches!(kind, Kind::ToolName | Kind::FunctionName))
}

impl State {
    /// What the log answered, when `beside` bytes of the buffer were not the log's. What it left out it has noted.
    fn conclude(&mut self, added: Result<(), LogError>, beside: usize) -> deltawire_status {
        let need = match added {
            Err(LogError::NeedStorage { need }) => Some(need),
            _ => None,
        };
        self.full = need.is_some();
        self.need = need.map_or(0, |need| size_for(need.saturating_add(beside)));
        if self.full {
            DELTAWIRE_NEED_STORAGE
        } else {
            DELTAWIRE_OK
        }
    }

    /// Takes in an event of a batch, or what a callback was given.
    fn add(&mut self, buffer: &mut [u8], record: &Record, text: &[u8], aux: &[u8]) -> deltawire_status {
        let more = u32::from(record.flags) & DELTAWIRE_EVF_MORE != 0;
        if self.staged == 0 && (!more || takes_pieces(record.kind)) {
            let added = self.log.put_record(buffer, record, text, aux);
            return self.conclude(added, 0);
        }
        self.add_piece(buffer, record, text, more)
    }

    /// Takes in a piece of what is taken in whole.
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
        // Whole: it goes to the end of the buffer, so that the log can be written before it.
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

/// Moves `len` bytes; the ranges may overlap.
fn slide(buffer: &mut [u8], from: usize, to: usize, len: usize) {
    let inside = |at: usize| at.checked_add(len).is_some_and(|end| end <= buffer.len());
    if inside(from) && inside(to) {
        let start = buffer.as_mut_ptr();
        // SAFETY: both ranges lie in the buffer, as was just looked at.
        unsafe { ptr::copy(start.add(from), start.add(to), len) };
    }
}

/// Takes in what a callback was given.
///
/// # Safety
/// `user` is an assembler.
unsafe fn take(user: *mut c_void, add: impl FnOnce(&mut State, &mut [u8]) -> deltawire_status) -> i32 {
    // SAFETY: as the caller promises.
    match unsafe { enter(user.cast()) }.map_or_else(|status| status, |(state, buffer)| add(state, buffer)) {
        DELTAWIRE_OK => DELTAWIRE_GO_ON,
        DELTAWIRE_NEED_STORAGE => DELTAWIRE_AGAIN,
        status => status,
    }
}

/// The record of what a callback was given.
fn record_of(at: &deltawire_at) -> Record {
    let deltawire_at { kind, flags, choice, call, code, number, start, end, .. } = *at;
    let (kind, flags) = (kind as u16, (flags & !DELTAWIRE_EVF_TEXT_SCRATCH) as u16);
    Record { kind, flags, choice, call, code, number, start, end, ..Record::default() }
}

/// The callbacks of an assembler.
///
/// # Safety
/// Of each: `user` is an assembler; all else is what a parser gave.
unsafe extern "C" fn on_chunk(user: *mut c_void, at: *const deltawire_at) -> i32 {
    // SAFETY: as the caller promises. A chunk lies in no assembler's block.
    unsafe {
        match chunk((*at).chunk) {
            Ok(chunk) => take(user, |state, buffer| {
                let added = state.log.head(buffer, chunk.id(), chunk.model(), chunk.created());
                state.conclude(added, 0)
            }),
            Err(status) => status,
        }
    }
}

unsafe extern "C" fn on_limit(user: *mut c_void, at: *const deltawire_at) -> i32 {
    // SAFETY: as the caller promises.
    unsafe { take(user, |state, buffer| state.add(buffer, &record_of(&*at), &[], &[])) }
}

unsafe extern "C" fn on_text(user: *mut c_void, at: *const deltawire_at, text: *const c_char, len: usize) -> i32 {
    // SAFETY: as the caller promises.
    unsafe {
        match bytes(text.cast(), len) {
            Ok(text) => take(user, |state, buffer| state.add(buffer, &record_of(&*at), text, &[])),
            Err(status) => status,
        }
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
        let text = |value| match given(value) {
            Ok(Given::Json(value)) => value.as_text(),
            _ => None,
        };
        let deltawire_at { flags, choice, call, number, .. } = *at;
        let update = Update::Call(CallUpdate {
            call,
            index: u32::try_from(number).ok(),
            opens: flags & DELTAWIRE_EVF_OPENS != 0,
            reuses: flags & DELTAWIRE_EVF_REUSES != 0,
            id: text(id),
            kind: text(r#type),
            custom: flags & DELTAWIRE_EVF_CUSTOM != 0,
        });
        take(user, |state, buffer| {
            let added = state.log.put(buffer, choice, &update);
            state.conclude(added, 0)
        })
    }
}

static CALLBACKS: deltawire_callbacks = deltawire_callbacks {
    size: size_of::<deltawire_callbacks>(),
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
    ..SILENT
};

/// Callbacks that put a message together: `deltawire_feed(p, data, len, deltawire_message_callbacks(), m, &consumed)`.
/// When the block is full they answer `DELTAWIRE_AGAIN`: the feed is PAUSED, `deltawire_message_is_full` says 1; move the
/// message to a block of `deltawire_message_need` bytes and feed on. The table is static: callbacks of your own may call
/// those of it, with the assembler for `user`, and return what they do.
#[no_mangle]
pub extern "C" fn deltawire_message_callbacks() -> *const deltawire_callbacks {
    &CALLBACKS
}

/// 1: what was to be added last did not fit. 0: it did, or this is no assembler.
#[no_mangle]
#[allow(clippy::missing_safety_doc)] // The header is the manual.
pub unsafe extern "C" fn deltawire_message_is_full(m: *const deltawire_message) -> u32 {
    // SAFETY: a block, as the caller promises.
    unsafe { look(m) }.map_or(0, |(state, _)| u32::from(state.full))
}

/// Takes in the `n` events of a batch whose kinds are in `DELTAWIRE_MESSAGE_EVENTS`, which the event mask must ask for;
/// others say nothing to it. `data` and `scratch` are those of the batch. `*taken`, unless NULL, is written on every path:
/// how many events were taken in; after NEED_STORAGE move, and give the others again. What is over a limit is left out
/// (`deltawire_message_limit`). Answers OK, NEED_STORAGE, E_NULL, E_ALIGN, E_STATE, E_RANGE (`n`).
#[no_mangle]
#[allow(clippy::missing_safety_doc)] // The header is the manual.
pub unsafe extern "C" fn deltawire_message_add(
    m: *mut deltawire_message,
    events: *const deltawire_event,
    n: usize,
    data: *const c_void,
    scratch: *const c_void,
    taken: *mut usize,
) -> deltawire_status {
    // SAFETY: what the pointers are, the caller promises: the texts of the events lie in `data` and `scratch`. An event is
    // a record.
    unsafe {
        tell(taken, 0);
        let (state, buffer) = match enter(m) {
            Ok(open) => open,
            Err(status) => return status,
        };
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
        for number in 0..n {
            let record = events.cast::<Record>().add(number).read();
            let (kind, flags) = (u32::from(record.kind), u32::from(record.flags));
            if kind < DELTAWIRE_EV_COUNT && DELTAWIRE_MESSAGE_EVENTS >> kind & 1 != 0 {
                let text = bytes_of(record.text_off, record.text_len, flags & DELTAWIRE_EVF_TEXT_SCRATCH != 0);
                let aux = bytes_of(record.aux_off, record.aux_len, flags & DELTAWIRE_EVF_AUX_SCRATCH != 0);
                let status = match (text, aux) {
                    (Ok(text), Ok(aux)) => state.add(buffer, &record, text, aux),
                    (Err(status), _) | (_, Err(status)) => status,
                };
                if status != DELTAWIRE_OK {
                    return status;
                }
            }
            tell(taken, number.saturating_add(1));
        }
        DELTAWIRE_OK
    }
}

/// How many choices it has; 0 if this is no assembler.
#[no_mangle]
#[allow(clippy::missing_safety_doc)] // The header is the manual.
pub unsafe extern "C" fn deltawire_message_choices(m: *const deltawire_message) -> u32 {
    // SAFETY: a block, as the caller promises.
    unsafe { look(m) }.map_or(0, |(state, _)| state.log.choices() as u32)
}

/// The index of its `n`th choice; they are in order. Answers OK, ABSENT, E_NULL, E_ALIGN, E_STATE.
#[no_mangle]
#[allow(clippy::missing_safety_doc)] // The header is the manual.
pub unsafe extern "C" fn deltawire_message_choice_index(
    m: *const deltawire_message,
    n: u32,
    out: *mut u32,
) -> deltawire_status {
    // SAFETY: what the pointers are, the caller promises.
    unsafe {
        match look(m) {
            Ok(_) if out.is_null() => DELTAWIRE_E_NULL,
            Ok((state, _)) => state.log.choice_index(n as usize).map_or(DELTAWIRE_ABSENT, |index| give(out, index)),
            Err(status) => status,
        }
    }
}

/// How many tool calls the choice with this index has.
#[no_mangle]
#[allow(clippy::missing_safety_doc)] // The header is the manual.
pub unsafe extern "C" fn deltawire_message_calls(m: *const deltawire_message, choice: u32) -> u32 {
    // SAFETY: a block, as the caller promises.
    unsafe { look(m) }.map_or(0, |(state, _)| state.log.calls(choice))
}

/// What was left out, if anything was: `DELTAWIRE_LIMIT_*` of the first; else 0.
#[no_mangle]
#[allow(clippy::missing_safety_doc)] // The header is the manual.
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

fn field_of(field: u32) -> Option<Field> {
    Some(match field {
        DELTAWIRE_M_ID => Field::Id,
        DELTAWIRE_M_OBJECT => Field::Object,
        DELTAWIRE_M_MODEL => Field::Model,
        DELTAWIRE_M_SYSTEM_FINGERPRINT => Field::SystemFingerprint,
        DELTAWIRE_M_SERVICE_TIER => Field::ServiceTier,
        DELTAWIRE_M_PROVIDER => Field::Provider,
        DELTAWIRE_M_USAGE => Field::Usage,
        DELTAWIRE_M_ERROR => Field::Error,
        DELTAWIRE_M_ERROR_MESSAGE => Field::ErrorMessage,
        DELTAWIRE_M_ERROR_CODE => Field::ErrorCode,
        DELTAWIRE_M_ERROR_TYPE => Field::ErrorType,
        DELTAWIRE_M_ROLE => Field::Role,
        DELTAWIRE_M_CONTENT => Field::Content,
        DELTAWIRE_M_REFUSAL => Field::Refusal,
        DELTAWIRE_M_REASONING => Field::Reasoning,
        DELTAWIRE_M_FINISH => Field::FinishReason,
        DELTAWIRE_M_NATIVE_FINISH => Field::NativeFinishReason,
        DELTAWIRE_M_CHOICE_ERROR => Field::ChoiceError,
        DELTAWIRE_M_CHOICE_ERROR_MESSAGE => Field::ChoiceErrorMessage,
        DELTAWIRE_M_CHOICE_ERROR_CODE => Field::ChoiceErrorCode,
        DELTAWIRE_M_CHOICE_ERROR_TYPE => Field::ChoiceErrorType,
        DELTAWIRE_M_FUNCTION_NAME => Field::FunctionName,
        DELTAWIRE_M_FUNCTION_ARGUMENTS => Field::FunctionArguments,
        DELTAWIRE_M_AUDIO_ID => Field::AudioId,
        DELTAWIRE_M_AUDIO_DATA => Field::AudioData,
        DELTAWIRE_M_AUDIO_TRANSCRIPT => Field::AudioTranscript,
        DELTAWIRE_M_CALL_ID => Field::CallId,
        DELTAWIRE_M_CALL_TYPE => Field::CallType,
        DELTAWIRE_M_CALL_NAME => Field::CallName,
        DELTAWIRE_M_CALL_ARGUMENTS => Field::CallArguments,
        _ => return None,
    })
}

/// A text of the message (`DELTAWIRE_M_*`) into `buf`: of the choice with index `choice`, of its `call`th call in the
/// order of the finished message; 0 where they do not matter. `*need`, unless NULL, is its length. Not ended by NUL; the
/// fields that are JSON are as they came. Each call reads the log once. Answers OK, ABSENT, E_NULL, E_ALIGN, E_STATE, E_RANGE (`field`), E_SMALL (nothing was written).
#[no_mangle]
#[allow(clippy::missing_safety_doc)] // The header is the manual.
pub unsafe extern "C" fn deltawire_message_text(
    m: *const deltawire_message,
    field: u32,
    choice: u32,
    call: u32,
    buf: *mut c_char,
    cap: usize,
    need: *mut usize,
) -> deltawire_status {
    // SAFETY: what the pointers are, the caller promises.
    unsafe {
        let (state, buffer) = match look(m) {
            Ok(open) => open,
            Err(status) => return status,
        };
        let Some(field) = field_of(field) else { return DELTAWIRE_E_RANGE };
        let Some(len) = state.log.text(buffer, field, choice, call, &mut []) else { return DELTAWIRE_ABSENT };
        copy_out(len, buf, cap, need, |out| {
            state.log.text(buffer, field, choice, call, out);
        })
    }
}

/// The whole message as JSON, a `chat.completion` as the API sends it when it does not stream. `flags`:
/// `DELTAWIRE_JSON_*`. As `deltawire_message_text`. Answers OK, E_NULL, E_ALIGN, E_STATE, E_RANGE (`flags`), E_SMALL.
#[no_mangle]
#[allow(clippy::missing_safety_doc)] // The header is the manual.
pub unsafe extern "C" fn deltawire_message_json(
    m: *const deltawire_message,
    flags: u32,
    buf: *mut c_char,
    cap: usize,
    need: *mut usize,
) -> deltawire_status {
    // SAFETY: what the pointers are, the caller promises.
    unsafe {
        let (state, buffer) = match look(m) {
            Ok(open) => open,
            Err(status) => return status,
        };
        if flags & !DELTAWIRE_JSON_EXTENDED != 0 {
            return DELTAWIRE_E_RANGE;
        }
        let extended = flags & DELTAWIRE_JSON_EXTENDED != 0;
        let len = state.log.json(buffer, extended, &mut []);
        copy_out(len, buf, cap, need, |out| {
            state.log.json(buffer, extended, out);
        })
    }
}
