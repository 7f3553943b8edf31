//! The assembler: the library's log of a message, in a block of the caller's.

use crate::block::{fits, overlap, slide, Room, DEFAULT_ROOM};
use crate::convert::{bytes, chunk, copy_out, give, given, status, tell, Given};
use crate::feed::SILENT;
use crate::parser::config_of;
use crate::types::*;
use core::ffi::{c_char, c_void};
use core::mem::{align_of, size_of};
use core::ptr::addr_of;
use core::{ptr, slice};
use deltawire::chat::{CallUpdate, Owner};
use deltawire::delta::Kind;
use deltawire::message::{appends_pieces, CallSlot, Detail, Field, LogError, MessageLogOf, Slot};
use deltawire::stream::{Protocol, Record};
use deltawire::{Tables, Update};

/// The tables of a message, at the end of its state: rows of choices, then rows of tool calls, in `words`.
struct Behind<W: ?Sized> {
    room: Room,
    words: W,
}

impl<W: AsRef<[u64]> + AsMut<[u64]> + ?Sized> Tables<Slot, CallSlot> for Behind<W> {
    #[inline(always)]
    fn choices(&self) -> &[Slot] {
        // SAFETY: `write` has put so many rows there.
        unsafe { slice::from_raw_parts(self.words.as_ref().as_ptr().cast(), usize::from(self.room.choices)) }
    }
    #[inline(always)]
    fn calls(&self) -> &[CallSlot] {
        let first = self.words.as_ref().as_ptr().cast::<Slot>();
        // SAFETY: `write` has put so many rows behind those of the choices.
        unsafe { slice::from_raw_parts(first.add(usize::from(self.room.choices)).cast(), usize::from(self.room.calls)) }
    }
    #[inline(always)]
    fn both_mut(&mut self) -> (&mut [Slot], &mut [CallSlot]) {
        let Room { choices, calls } = self.room;
        let first = self.words.as_mut().as_mut_ptr().cast::<Slot>();
        // SAFETY: as in `choices` and `calls`; the two do not overlap.
        unsafe {
            let rest = first.add(usize::from(choices)).cast();
            (slice::from_raw_parts_mut(first, choices.into()), slice::from_raw_parts_mut(rest, calls.into()))
        }
    }
}

/// What a block that was initialised begins with.
const MAGIC: u64 = 0x0131_6773_6d64_6457 ^ FIXED as u64;

#[repr(C)]
struct StateOf<W: AsRef<[u64]> + AsMut<[u64]> + ?Sized> {
    magic: u64,
    /// Bytes of the block.
    len: usize,
    /// Bytes of a text that comes in pieces and is taken in whole, behind the log.
    staged: usize,
    /// The size of the block that the assembler needs.
    need: usize,
    /// Words of the tables.
    words: u32,
    /// The last event did not fit.
    full: bool,
    log: MessageLogOf<Behind<W>>,
}

/// A state without its tables.
type Fixed = StateOf<[u64; 0]>;
/// A state in its block.
///
/// cbindgen:ignore
type State = StateOf<[u64]>;
const FIXED: usize = size_of::<Fixed>();

const _: () = assert!(
    FIXED + DEFAULT_ROOM.bytes::<Slot, CallSlot>() <= DELTAWIRE_MESSAGE_STATE_SIZE,
    "DELTAWIRE_MESSAGE_STATE_SIZE is too small"
);
const _: () = assert!(align_of::<Fixed>() <= DELTAWIRE_ALIGN, "DELTAWIRE_ALIGN is too small");
const _: () = assert!(FIXED % align_of::<Slot>() == 0, "choices follow the state");
const _: () = assert!(align_of::<CallSlot>() <= align_of::<Slot>(), "calls follow the choices");
const _: () = assert!(size_of::<Slot>() <= DELTAWIRE_ROW_SIZE, "DELTAWIRE_ROW_SIZE is too small");
const _: () = assert!(size_of::<CallSlot>() <= DELTAWIRE_ROW_SIZE, "DELTAWIRE_ROW_SIZE is too small");

/// Words of the tables of a message.
fn words_of(room: Room) -> usize {
    room.bytes::<Slot, CallSlot>() / size_of::<u64>()
}

/// The state at the beginning of a block.
fn state_at(m: *mut u8, words: usize) -> *mut State {
    ptr::slice_from_raw_parts_mut(m.cast::<u64>(), words) as *mut State
}

/// Bytes of a block with so many words of tables and so much log.
fn size_for(words: usize, log: usize) -> usize {
    let log = log.checked_next_multiple_of(DELTAWIRE_ALIGN).unwrap_or(usize::MAX);
    FIXED.saturating_add(words.saturating_mul(size_of::<u64>())).saturating_add(log)
}

/// The length of a block, and the words of its tables.
///
/// # Safety
/// `m` is NULL, or points to readable memory of at least the size of a block.
unsafe fn check(m: *const deltawire_message) -> Result<(usize, usize), deltawire_status> {
    if m.is_null() {
        return Err(DELTAWIRE_E_NULL);
    }
    if m as usize % align_of::<Fixed>() != 0 {
        return Err(DELTAWIRE_E_ALIGN);
    }
    let state = m.cast::<Fixed>();
    // SAFETY: readable, as the caller promises; any bytes are numbers.
    unsafe {
        if addr_of!((*state).magic).read() != MAGIC {
            return Err(DELTAWIRE_E_STATE);
        }
        Ok((addr_of!((*state).len).read(), addr_of!((*state).words).read() as usize))
    }
}

/// State and buffer of a block that is to be changed.
///
/// # Safety
/// As [`check`]; and the block is writable, used by nobody else, and outlives the result.
unsafe fn enter<'b>(m: *mut deltawire_message) -> Result<(&'b mut State, &'b mut [u8]), deltawire_status> {
    // SAFETY: as the caller promises: the block was initialised with this length, and its two parts do not overlap.
    unsafe {
        let (len, words) = check(m)?;
        let (m, head) = (m.cast::<u8>(), size_for(words, 0));
        Ok((&mut *state_at(m, words), slice::from_raw_parts_mut(m.add(head), len.saturating_sub(head))))
    }
}

/// The same, to be looked at.
///
/// # Safety
/// As [`check`]; and nothing changes the block while the result is used.
unsafe fn look<'b>(m: *const deltawire_message) -> Result<(&'b State, &'b [u8]), deltawire_status> {
    // SAFETY: as in `enter`, shared.
    unsafe {
        let (len, words) = check(m)?;
        let (m, head) = (m.cast::<u8>(), size_for(words, 0));
        Ok((&*state_at(m.cast_mut(), words), slice::from_raw_parts(m.add(head), len.saturating_sub(head))))
    }
}

/// The size of an assembler's block, in bytes, with a log of `log_bytes`; a text takes about its own
/// length in the log. Only `max_choices` and `max_tool_calls` of the config matter. `cfg` may be
/// NULL: all defaults. The size is then at most `DELTAWIRE_MESSAGE_SIZE(log_bytes)`. 0: no block is
/// that large, or `deltawire_message_init` would answer E_CONFIG.
#[no_mangle]
#[allow(clippy::missing_safety_doc)] // The header is the manual.
pub unsafe extern "C" fn deltawire_message_size(cfg: *const deltawire_config, log_bytes: usize) -> usize {
    // SAFETY: what the pointer is, the caller promises.
    let Ok(room) = (unsafe { config_of(cfg) }).and_then(|config| Room::of(&config)) else { return 0 };
    let size = size_for(words_of(room), log_bytes);
    if size <= isize::MAX as usize {
        size
    } else {
        0
    }
}

/// Makes an assembler in the block `mem` of `mem_len` bytes. Give it the config of its parser, so
/// that both have the same room: only `max_choices` and `max_tool_calls` matter. With `cfg` NULL
/// beside a parser that has more room, the message is without the choices and calls beyond the
/// defaults; `deltawire_message_limit` says so. As `deltawire_init`. Answers OK, E_NULL, E_ALIGN,
/// E_SMALL, E_RANGE (`mem_len`), E_CONFIG.
#[no_mangle]
#[allow(clippy::missing_safety_doc)] // The header is the manual.
pub unsafe extern "C" fn deltawire_message_init(
    mem: *mut c_void,
    mem_len: usize,
    cfg: *const deltawire_config,
    out: *mut *mut deltawire_message,
) -> deltawire_status {
    status((|| {
        if mem.is_null() {
            return Err(DELTAWIRE_E_NULL);
        }
        // SAFETY: what the caller gave begins with its size, and is as long.
        let config = unsafe { config_of(cfg) }?;
        fits(mem as usize, mem_len, 0)?;
        let room = Room::of(&config)?;
        let words = words_of(room);
        fits(mem as usize, mem_len, size_for(words, 0))?;
        let log = MessageLogOf::with_tables(Behind { room, words: [] });
        let state = Fixed { magic: MAGIC, len: mem_len, staged: 0, need: 0, words: words as u32, full: false, log };
        // SAFETY: writable for `mem_len` bytes, as the caller promises; the rest was checked. The rows lie behind the state.
        unsafe {
            mem.cast::<Fixed>().write(state);
            let first = mem.cast::<u8>().add(FIXED).cast::<Slot>();
            (0..usize::from(room.choices)).for_each(|row| first.add(row).write(Slot::EMPTY));
            let first = first.add(room.choices.into()).cast::<CallSlot>();
            (0..usize::from(room.calls)).for_each(|row| first.add(row).write(CallSlot::EMPTY));
            tell(out, mem.cast());
        }
        Ok(DELTAWIRE_OK)
    })())
}

/// Begins a new message. Answers OK, E_NULL, E_ALIGN, E_STATE.
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
/// E_SMALL, E_RANGE (`mem_len`; the blocks overlap).
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
        let words = from.words as usize;
        let head = size_for(words, 0);
        fits(mem as usize, mem_len, head)?;
        if overlap(mem as usize, mem_len, src as usize, from.len) {
            return Err(DELTAWIRE_E_RANGE);
        }
        let kept = buffer.get(..from.kept()).unwrap_or_default();
        if kept.len() > mem_len.saturating_sub(head) {
            return Err(DELTAWIRE_E_SMALL);
        }
        // SAFETY: `mem` is writable for `mem_len` bytes, as the caller promises, and does not overlap `src`; a state is plain
        // data.
        unsafe {
            ptr::copy_nonoverlapping(src.cast::<u8>(), mem.cast(), head);
            let state = &mut *state_at(mem.cast(), words);
            (state.len, state.need, state.full) = (mem_len, 0, false);
            ptr::copy_nonoverlapping(kept.as_ptr(), mem.cast::<u8>().add(head), kept.len());
            tell(out, mem.cast());
        }
        Ok(DELTAWIRE_OK)
    })())
}

/// The block of `m` has `mem_len` bytes now. As `deltawire_resize`. Answers OK, E_NULL, E_ALIGN,
/// E_STATE, E_SMALL, E_RANGE (beyond any memory).
#[no_mangle]
#[allow(clippy::missing_safety_doc)] // The header is the manual.
pub unsafe extern "C" fn deltawire_message_resize(m: *mut deltawire_message, mem_len: usize) -> deltawire_status {
    status((|| {
        // SAFETY: a block, as the caller promises, of both lengths.
        let (state, _) = unsafe { enter(m) }?;
        fits(m as usize, mem_len, size_for(state.words as usize, state.kept()))?;
        (state.len, state.need, state.full) = (mem_len, 0, false);
        Ok(DELTAWIRE_OK)
    })())
}

/// The size of the block that the assembler needs, in bytes: after NEED_STORAGE the size to move to,
/// else the smallest that holds the message. 0: not an assembler.
#[no_mangle]
#[allow(clippy::missing_safety_doc)] // The header is the manual.
pub unsafe extern "C" fn deltawire_message_need(m: *const deltawire_message) -> usize {
    // SAFETY: a block, as the caller promises, that nothing changes now.
    let Ok((state, _)) = (unsafe { look(m) }) else { return 0 };
    state.need.max(size_for(state.words as usize, state.kept()))
}

/// Whether an assembler takes pieces of a text of this kind one by one; of a name the others are put behind the first.
fn takes_pieces(kind: u16) -> bool {
    let kind = Kind::from_number(u32::from(kind));
    kind.is_some_and(|kind| appends_pieces(kind) || matches!(kind, Kind::ToolName | Kind::FunctionName))
}

impl State {
    /// Bytes of the buffer that are in use.
    fn kept(&self) -> usize {
        self.log.len().saturating_add(self.staged)
    }

    /// The status for the log's answer, if `beside` bytes of the buffer are not the log's. The log notes what it leaves out.
    fn conclude(&mut self, added: Result<(), LogError>, beside: usize) -> deltawire_status {
        let Err(LogError::NeedStorage { need }) = added else {
            (self.full, self.need) = (false, 0);
            return DELTAWIRE_OK;
        };
        (self.full, self.need) = (true, size_for(self.words as usize, need.saturating_add(beside)));
        DELTAWIRE_NEED_STORAGE
    }

    /// Whether a chunk adds nothing.
    #[inline]
    fn knows_head(&self) -> bool {
        self.staged == 0 && self.log.has_head()
    }

    /// Takes in an event of a batch, or what a callback was given.
    #[inline(always)]
    fn add(&mut self, buffer: &mut [u8], record: &Record, text: &[u8], aux: &[u8]) -> deltawire_status {
        let more = u32::from(record.flags) & DELTAWIRE_EVF_MORE != 0;
        if self.staged == 0 && (!more || takes_pieces(record.kind)) {
            let added = self.log.put_record(buffer, record, text, aux);
            return self.conclude(added, 0);
        }
        self.add_piece(buffer, record, text, more)
    }

    /// Adds a piece of a text that the log takes whole.
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

/// Takes in what a callback was given, with its text.
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
    // SAFETY: as the caller promises. A chunk lies in no assembler's block.
    unsafe {
        match chunk((*at).chunk) {
            Ok(chunk) => take(user, |state, buffer| {
                state.log.set_native(chunk.protocol() != Protocol::Chat);
                let added = state.log.head(buffer, chunk.id(), chunk.model(), chunk.created());
                state.conclude(added, 0)
            }),
            Err(status) => status,
        }
    }
}

unsafe extern "C" fn on_limit(user: *mut c_void, at: *const deltawire_at) -> i32 {
    // SAFETY: as the caller promises.
    unsafe { add(user, &*at, &[]) }
}

unsafe extern "C" fn on_text(user: *mut c_void, at: *const deltawire_at, text: *const c_char, len: usize) -> i32 {
    // SAFETY: as the caller promises.
    unsafe {
        match bytes(text.cast(), len) {
            Ok(text) => add(user, &*at, text),
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
        let mut update = CallUpdate::default();
        update.call = call;
        update.index = u32::try_from(number).ok();
        update.opens = flags & DELTAWIRE_EVF_OPENS != 0;
        update.reuses = flags & DELTAWIRE_EVF_REUSES != 0;
        update.id = text(id);
        update.kind = text(r#type);
        update.custom = flags & DELTAWIRE_EVF_CUSTOM != 0;
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
/// m, &consumed)`. When the block is full they return `DELTAWIRE_AGAIN`. The feed then answers
/// PAUSED, and `deltawire_message_is_full` returns 1: move the message to a block of
/// `deltawire_message_need` bytes and go on. The table is static. Your own callbacks may call its
/// functions with the assembler as `user`, and return their results.
#[no_mangle]
pub extern "C" fn deltawire_message_callbacks() -> *const deltawire_callbacks {
    &CALLBACKS
}

/// 1: the last event did not fit into the block. 0: it did, or this is not an assembler.
#[no_mangle]
#[allow(clippy::missing_safety_doc)] // The header is the manual.
pub unsafe extern "C" fn deltawire_message_is_full(m: *const deltawire_message) -> u32 {
    // SAFETY: a block, as the caller promises.
    unsafe { look(m) }.map_or(0, |(state, _)| u32::from(state.full))
}

/// Adds the `n` events of a batch. The config's `events` must contain `DELTAWIRE_MESSAGE_EVENTS`;
/// the function skips other kinds. `data` and `scratch` are those of the batch. `*taken`, unless
/// NULL, is written on every path: how many events were added. After NEED_STORAGE move the message,
/// and give the other events again. Events beyond a limit are left out (`deltawire_message_limit`).
/// Answers OK, NEED_STORAGE, E_NULL, E_ALIGN, E_STATE, E_RANGE (`n`).
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
        let mut status = DELTAWIRE_OK;
        let mut added = 0;
        while added < n {
            let record = &*events.cast::<Record>().add(added);
            let (kind, flags) = (u32::from(record.kind), u32::from(record.flags));
            let is_in_data = flags & (DELTAWIRE_EVF_TEXT_SCRATCH | DELTAWIRE_EVF_AUX_SCRATCH) == 0 && !data.is_null();
            if kind == DELTAWIRE_EV_CHUNK && is_in_data && state.knows_head() {
                // Nearly every second record.
                (state.full, state.need) = (false, 0);
            } else if kind < DELTAWIRE_EV_COUNT && DELTAWIRE_MESSAGE_EVENTS >> kind & 1 != 0 {
                let text = bytes_of(record.text_off, record.text_len, flags & DELTAWIRE_EVF_TEXT_SCRATCH != 0);
                let aux = bytes_of(record.aux_off, record.aux_len, flags & DELTAWIRE_EVF_AUX_SCRATCH != 0);
                status = match (text, aux) {
                    (Ok(text), Ok(aux)) => state.add(buffer, record, text, aux),
                    (Err(status), _) | (_, Err(status)) => status,
                };
                if status != DELTAWIRE_OK {
                    break;
                }
            }
            added = added.saturating_add(1);
        }
        tell(taken, added);
        status
    }
}

/// How many choices the message has; 0 if this is not an assembler.
#[no_mangle]
#[allow(clippy::missing_safety_doc)] // The header is the manual.
pub unsafe extern "C" fn deltawire_message_choices(m: *const deltawire_message) -> u32 {
    // SAFETY: a block, as the caller promises.
    unsafe { look(m) }.map_or(0, |(state, _)| state.log.choices() as u32)
}

/// The index of the `n`th choice; choices are in ascending order of their indexes. Answers OK,
/// ABSENT, E_NULL, E_ALIGN, E_STATE.
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

/// Why something was left out of the message first, as `DELTAWIRE_LIMIT_*`; 0 if nothing was.
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
        DELTAWIRE_M_REASONING_DETAILS => Field::ReasoningDetails,
        DELTAWIRE_M_REASONING_NAME => Field::ReasoningName,
        DELTAWIRE_M_NATIVE_USAGE => Field::NativeUsage,
        DELTAWIRE_M_SIGNATURES => Field::Signatures,
        DELTAWIRE_M_NATIVE_CONTENT => Field::NativeContent,
        _ => return None,
    })
}

/// Copies a text of the message (`DELTAWIRE_M_*`) into `buf`. `choice` is the index of a choice,
/// `call` the position of a call among that choice's calls in the finished message; give 0 where the
/// field needs neither. `*need`, unless NULL, receives the length. The text is not ended by NUL;
/// fields that are JSON are copied as they were sent. Each call reads the log once. Answers OK,
/// ABSENT, E_NULL, E_ALIGN, E_STATE, E_RANGE (`field`), E_SMALL (nothing was written to `buf`).
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
        let (state, buffer) = ok!(look(m));
        let Some(field) = field_of(field) else { return DELTAWIRE_E_RANGE };
        let Some(len) = state.log.text(buffer, field, choice, call, &mut []) else { return DELTAWIRE_ABSENT };
        copy_out(len, buf, cap, need, |out| {
            state.log.text(buffer, field, choice, call, out);
        })
    }
}

/// Copies the whole message as JSON: a `chat.completion`, as the API sends it without streaming.
/// `flags`: `DELTAWIRE_JSON_*`. As `deltawire_message_text`. Answers OK, E_NULL, E_ALIGN, E_STATE,
/// E_RANGE (`flags`), E_SMALL.
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

/// A member that no field has, those of providers (`citations`, `timings`), into `buf`: raw JSON,
/// the last value that was not null. `owner`: `DELTAWIRE_OWNER_*`; `choice` is the index of the
/// choice, 0 for a member of the chunks; `call` is the position of the call, as in
/// `deltawire_message_text`; `name` is UTF-8 of `name_len` bytes. As `deltawire_message_text`.
/// Answers OK, ABSENT, E_NULL, E_ALIGN, E_STATE, E_RANGE (`owner`, `name_len`), E_SMALL.
#[no_mangle]
#[allow(clippy::missing_safety_doc)] // The header is the manual.
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
    // SAFETY: what the pointers are, the caller promises.
    unsafe {
        let (state, buffer) = ok!(look(m));
        let Some(owner) = Owner::from_number(owner) else { return DELTAWIRE_E_RANGE };
        let name = match bytes(name.cast(), name_len) {
            Ok(name) => core::str::from_utf8(name).ok(),
            Err(status) => return status,
        };
        let member = name.and_then(|name| state.log.member(buffer, owner, choice, call, name));
        // As for a member that is there.
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
