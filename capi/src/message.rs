//! The assembler: the library's log of a message, in a block of the caller's.

use crate::convert::{bytes, chunk, copy_out, give, status, tell};
use crate::feed::SILENT;
use crate::types::*;
use core::ffi::{c_char, c_void};
use core::mem::{align_of, size_of};
use core::ptr::addr_of;
use core::{ptr, slice};
use deltawire::chat::{Chunk, Index};
use deltawire::message::{Field, LogError, MessageLog};

type CLog = MessageLog<{ DELTAWIRE_MAX_CHOICES as usize }, { DELTAWIRE_MAX_TOOL_CALLS as usize }>;

/// What a block that was initialised begins with.
const MAGIC: u64 = 0x0131_6773_6d64_6457 ^ size_of::<State>() as u64;

#[repr(C)]
struct State {
    magic: u64,
    /// Bytes of the block.
    len: usize,
    log: CLog,
    /// Bytes of a payload that comes in pieces, behind the log.
    staged: usize,
    /// Bytes of the block that are wanted.
    need: usize,
    /// What was to be added last did not fit.
    full: bool,
    limit: u32,
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
    let state = State { magic: MAGIC, len: mem_len, log, staged: 0, need: 0, full: false, limit: 0 };
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
            (state.staged, state.need, state.full, state.limit) = (0, 0, false, 0);
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

/// What a payload is, as the parser that gave it says.
#[derive(Clone, Copy)]
enum What {
    Chunk,
    Error,
    Plain,
}

impl State {
    /// What the log answered, when `beside` bytes of the buffer were not the log's.
    fn conclude(&mut self, added: Result<(), LogError>, beside: usize) -> deltawire_status {
        self.full = false;
        match added {
            Ok(()) => {}
            Err(LogError::NeedStorage { need }) => {
                self.full = true;
                self.need = size_for(need.saturating_add(beside));
                return DELTAWIRE_NEED_STORAGE;
            }
            Err(LogError::TooManyChoices) => self.leave_out(DELTAWIRE_LIMIT_CHOICES),
            Err(LogError::TooManyCalls) => self.leave_out(DELTAWIRE_LIMIT_TOOL_CALLS),
            Err(LogError::BadIndex) => self.leave_out(DELTAWIRE_LIMIT_INDEX),
            Err(_) => self.leave_out(DELTAWIRE_LIMIT_LENGTH),
        }
        self.need = 0;
        DELTAWIRE_OK
    }

    fn leave_out(&mut self, limit: u32) {
        if self.limit == 0 {
            self.limit = limit;
        }
    }

    /// Takes in a payload, or a piece of one.
    fn add(&mut self, buffer: &mut [u8], payload: &[u8], more: bool, what: What) -> deltawire_status {
        if !more && self.staged == 0 {
            return self.add_payload(buffer, payload, 0, what);
        }
        let start = self.log.len();
        let at = start.saturating_add(self.staged);
        let staged = self.staged.saturating_add(payload.len());
        let Some(room) = buffer.get_mut(at..at.saturating_add(payload.len())) else {
            let need = start.saturating_add(staged);
            return self.conclude(Err(LogError::NeedStorage { need: need.max(buffer.len().saturating_mul(2)) }), 0);
        };
        if room.len() == payload.len() {
            room.copy_from_slice(payload);
        }
        if more {
            self.staged = staged;
            (self.full, self.need) = (false, 0);
            return DELTAWIRE_OK;
        }
        // Whole: it goes to the end of the buffer, so that the log can be written before it.
        let end = buffer.len().saturating_sub(staged);
        slide(buffer, start, end, staged);
        let (log, payload) = buffer.split_at_mut_checked(end).unwrap_or_default();
        let status = self.add_payload(log, payload, staged, what);
        if status == DELTAWIRE_OK {
            self.staged = 0;
        } else {
            slide(buffer, end, start, staged);
        }
        status
    }

    /// Takes in a whole payload. `beside`: bytes that it takes from the end of the buffer.
    fn add_payload(&mut self, buffer: &mut [u8], payload: &[u8], beside: usize, what: What) -> deltawire_status {
        let mut index = Index::new();
        let chunk = match what {
            What::Plain => Ok(Chunk::of_plain_text(payload, &mut index)),
            What::Error => Chunk::of_event(payload, &mut index, true),
            What::Chunk => Chunk::of_event(payload, &mut index, false),
        };
        match chunk {
            Ok(chunk) => {
                let added = self.log.add(buffer, &chunk);
                self.conclude(added, beside)
            }
            // No parser gave it.
            Err(_) => DELTAWIRE_E_RANGE,
        }
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

/// Takes in a chunk: all of it but what is over a limit (`deltawire_message_limit`), or, with NEED_STORAGE, nothing. Call it from `on_chunk`, or with what
/// `deltawire_chunk_open` gave. Answers OK, NEED_STORAGE, E_NULL, E_ALIGN, E_STATE.
#[no_mangle]
#[allow(clippy::missing_safety_doc)] // The header is the manual.
pub unsafe extern "C" fn deltawire_message_add_chunk(
    m: *mut deltawire_message,
    c: *const deltawire_chunk,
) -> deltawire_status {
    // SAFETY: what the pointers are, the caller promises. A chunk lies in no assembler's block.
    unsafe {
        match (enter(m), chunk(c)) {
            (Ok((state, buffer)), Ok(chunk)) => {
                if state.staged > 0 {
                    return DELTAWIRE_E_STATE;
                }
                let added = state.log.add(buffer, &chunk);
                state.conclude(added, 0)
            }
            (Err(status), _) | (_, Err(status)) => status,
        }
    }
}

/// `on_chunk` of an assembler.
///
/// # Safety
/// `user` is an assembler, `at` what the parser gave.
unsafe extern "C" fn on_chunk(user: *mut c_void, at: *const deltawire_at) -> i32 {
    // SAFETY: as the caller promises.
    match unsafe { deltawire_message_add_chunk(user.cast(), (*at).chunk) } {
        DELTAWIRE_OK => DELTAWIRE_GO_ON,
        DELTAWIRE_NEED_STORAGE => DELTAWIRE_AGAIN,
        status => status,
    }
}

static CALLBACKS: deltawire_callbacks =
    deltawire_callbacks { size: size_of::<deltawire_callbacks>(), on_chunk: Some(on_chunk), ..SILENT };

/// Callbacks that put a message together: `deltawire_feed(p, data, len, deltawire_message_callbacks(), m, &consumed)`.
/// When the block is full they answer `DELTAWIRE_AGAIN`: the feed is PAUSED, `deltawire_message_is_full` says 1; move the
/// message to a block of `deltawire_message_need` bytes and feed on.
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

/// Takes in the `n` events of a batch: of kind `DELTAWIRE_EV_PAYLOAD`, which the event mask must ask for; others say
/// nothing to it. `data` and `scratch` are those of the batch. `*taken`, unless NULL, is written on every path: how
/// many events were taken in; after NEED_STORAGE move, and give the others again. Answers OK, NEED_STORAGE, E_NULL,
/// E_ALIGN, E_STATE, E_RANGE (`n`; a payload that no parser gave).
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
    // SAFETY: what the pointers are, the caller promises: the texts of the events lie in `data` and `scratch`.
    unsafe {
        tell(taken, 0);
        let (state, buffer) = match enter(m) {
            Ok(open) => open,
            Err(status) => return status,
        };
        if n > 0 && events.is_null() {
            return DELTAWIRE_E_NULL;
        }
        if n > isize::MAX as usize / size_of::<deltawire_event>() {
            return DELTAWIRE_E_RANGE;
        }
        for number in 0..n {
            let event = events.add(number).read();
            if u32::from(event.kind) == DELTAWIRE_EV_PAYLOAD {
                let flags = u32::from(event.flags);
                let base = if flags & DELTAWIRE_EVF_TEXT_SCRATCH != 0 { scratch } else { data };
                if base.is_null() {
                    return DELTAWIRE_E_NULL;
                }
                let text = base.cast::<u8>().add(event.text_off as usize);
                let payload = match bytes(text.cast(), event.text_len as usize) {
                    Ok(payload) => payload,
                    Err(status) => return status,
                };
                let what = if flags & DELTAWIRE_EVF_PLAIN != 0 {
                    What::Plain
                } else if event.code == 1 {
                    What::Error
                } else {
                    What::Chunk
                };
                let status = state.add(buffer, payload, flags & DELTAWIRE_EVF_MORE != 0, what);
                if status != DELTAWIRE_OK {
                    return status;
                }
            }
            tell(taken, number.saturating_add(1));
        }
        DELTAWIRE_OK
    }
}

/// Says that the stream ended: half a character that still waits becomes U+FFFD. Answers OK, NEED_STORAGE, E_NULL,
/// E_ALIGN, E_STATE (also in the middle of a payload).
#[no_mangle]
#[allow(clippy::missing_safety_doc)] // The header is the manual.
pub unsafe extern "C" fn deltawire_message_finish(m: *mut deltawire_message) -> deltawire_status {
    // SAFETY: a block, as the caller promises.
    match unsafe { enter(m) } {
        Ok((state, _)) if state.staged > 0 => DELTAWIRE_E_STATE,
        Ok((state, buffer)) => {
            let finished = state.log.finish(buffer);
            state.conclude(finished, 0)
        }
        Err(status) => status,
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
    unsafe { look(m) }.map_or(0, |(state, _)| state.limit)
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
