//! The assembler: the library's message log, in the caller's block of memory.

use crate::block::{fits, overlap, BlockRoom, DEFAULT_ROOM};
use crate::convert::{aligned, put_out};
use crate::parser::config_of;
use crate::types::*;
use core::ffi::c_void;
use core::mem::{align_of, size_of};
use core::ptr::addr_of;
use core::{ptr, slice};
use deltawire::message::{LoggedCall, LoggedChoice, MessageLogOf};
use deltawire::Tables;

mod fill;
mod read;

pub use self::{fill::*, read::*};

/// The tables of a message, at the end of its state. `words` has the rows of choices, then the rows
/// of tool calls.
struct MessageTables<W: ?Sized> {
    room: BlockRoom,
    words: W,
}

impl<W: AsRef<[u64]> + AsMut<[u64]> + ?Sized> Tables<LoggedChoice, LoggedCall> for MessageTables<W> {
    #[inline(always)]
    fn choices(&self) -> &[LoggedChoice] {
        // SAFETY: `deltawire_message_init` wrote that many rows there.
        unsafe { slice::from_raw_parts(self.words.as_ref().as_ptr().cast(), usize::from(self.room.choices)) }
    }
    #[inline(always)]
    fn calls(&self) -> &[LoggedCall] {
        let first = self.words.as_ref().as_ptr().cast::<LoggedChoice>();
        // SAFETY: `deltawire_message_init` wrote that many rows after those of the choices.
        unsafe { slice::from_raw_parts(first.add(usize::from(self.room.choices)).cast(), usize::from(self.room.calls)) }
    }
    #[inline(always)]
    fn both_mut(&mut self) -> (&mut [LoggedChoice], &mut [LoggedCall]) {
        let BlockRoom { choices, calls } = self.room;
        let first = self.words.as_mut().as_mut_ptr().cast::<LoggedChoice>();
        // SAFETY: as in `choices` and `calls`; the two do not overlap.
        unsafe {
            let rest = first.add(usize::from(choices)).cast();
            (slice::from_raw_parts_mut(first, choices.into()), slice::from_raw_parts_mut(rest, calls.into()))
        }
    }
}

/// The first word of an initialized block.
const MAGIC: u64 = 0x0131_6773_6d64_6457 ^ FIXED as u64;

#[repr(C)]
struct StateOf<W: AsRef<[u64]> + AsMut<[u64]> + ?Sized> {
    magic: u64,
    /// Length of the block in bytes.
    len: usize,
    /// The size of the block that the assembler needs, or 0 if its block is large enough.
    need: usize,
    /// Length of the tables in words.
    words: u32,
    /// Whether the last delta did not fit.
    full: bool,
    log: MessageLogOf<MessageTables<W>>,
}

/// A state without its tables.
type Fixed = StateOf<[u64; 0]>;
/// A state with its tables.
///
/// cbindgen:ignore
type MessageState = StateOf<[u64]>;
const FIXED: usize = size_of::<Fixed>();

const _: () = assert!(
    FIXED + DEFAULT_ROOM.bytes::<LoggedChoice, LoggedCall>() <= DELTAWIRE_MESSAGE_STATE_SIZE,
    "DELTAWIRE_MESSAGE_STATE_SIZE is too small"
);
const _: () = assert!(align_of::<Fixed>() <= DELTAWIRE_ALIGN, "DELTAWIRE_ALIGN is too small");
const _: () = assert!(FIXED % align_of::<LoggedChoice>() == 0, "choices follow the state");
const _: () = assert!(align_of::<LoggedCall>() <= align_of::<LoggedChoice>(), "calls follow the choices");
const _: () = assert!(size_of::<LoggedChoice>() <= DELTAWIRE_ROW_SIZE, "DELTAWIRE_ROW_SIZE is too small");
const _: () = assert!(size_of::<LoggedCall>() <= DELTAWIRE_ROW_SIZE, "DELTAWIRE_ROW_SIZE is too small");

/// Length of the tables of a message, in words.
fn words_of(room: BlockRoom) -> usize {
    room.bytes::<LoggedChoice, LoggedCall>() / size_of::<u64>()
}

/// Returns the state at the start of a block.
fn state_at(m: *mut u8, words: usize) -> *mut MessageState {
    ptr::slice_from_raw_parts_mut(m.cast::<u64>(), words) as *mut MessageState
}

/// Size of a block, in bytes, with tables of `words` words and a log of `log` bytes.
fn size_for(words: usize, log: usize) -> usize {
    let log = log.checked_next_multiple_of(DELTAWIRE_ALIGN).unwrap_or(usize::MAX);
    FIXED.saturating_add(words.saturating_mul(size_of::<u64>())).saturating_add(log)
}

/// Returns the length of a block in bytes, and that of its tables in words.
///
/// # Safety
/// `m` is NULL, or points to readable memory of at least the size of a block.
unsafe fn check(m: *const deltawire_message) -> Result<(usize, usize), deltawire_status> {
    let state: *const Fixed = aligned(m.cast())?;
    // SAFETY: readable, as the caller promises. Any bytes are valid numbers.
    unsafe {
        if addr_of!((*state).magic).read() != MAGIC {
            return Err(DELTAWIRE_E_STATE);
        }
        Ok((addr_of!((*state).len).read(), addr_of!((*state).words).read() as usize))
    }
}

/// Borrows the state and the buffer of a block for a call that changes them.
///
/// # Safety
/// As [`check`]; and the block is writable, used by no other thread or call, and outlives the
/// result.
unsafe fn enter<'b>(m: *mut deltawire_message) -> Result<(&'b mut MessageState, &'b mut [u8]), deltawire_status> {
    // SAFETY: as the caller promises: the block was initialized with this length, and its two parts do not overlap.
    unsafe {
        let (len, words) = check(m)?;
        let (m, head) = (m.cast::<u8>(), size_for(words, 0));
        Ok((&mut *state_at(m, words), slice::from_raw_parts_mut(m.add(head), len.saturating_sub(head))))
    }
}

/// Borrows the state and the buffer of a block for a call that only reads them.
///
/// # Safety
/// As [`check`]; and nothing changes the block while the result is used.
unsafe fn look<'b>(m: *const deltawire_message) -> Result<(&'b MessageState, &'b [u8]), deltawire_status> {
    // SAFETY: as in `enter`, shared.
    unsafe {
        let (len, words) = check(m)?;
        let (m, head) = (m.cast::<u8>(), size_for(words, 0));
        Ok((&*state_at(m.cast_mut(), words), slice::from_raw_parts(m.add(head), len.saturating_sub(head))))
    }
}

/// The size of an assembler's block, in bytes, with a log of `log_bytes`; a text takes about its own
/// length in the log. Only `max_choices` and `max_tool_calls` of the config matter. `cfg` may
/// be NULL: both then have their defaults, and the size is at most
/// `DELTAWIRE_MESSAGE_SIZE(log_bytes)`. Returns 0 if no block is that large, or if
/// `deltawire_message_init` would answer E_CONFIG.
#[no_mangle]
pub unsafe extern "C" fn deltawire_message_size(cfg: *const deltawire_config, log_bytes: usize) -> usize {
    // SAFETY: the caller promises a valid pointer.
    let Ok(room) = (unsafe { config_of(cfg) }).and_then(|config| BlockRoom::of(&config)) else { return 0 };
    let size = size_for(words_of(room), log_bytes);
    if size <= isize::MAX as usize {
        size
    } else {
        0
    }
}

/// Makes an assembler in the block `mem` of `mem_len` bytes, as `deltawire_init` makes a parser.
/// Give both the same config, so that both have room for the same choices and tool calls: only
/// `max_choices` and `max_tool_calls` matter here. An assembler with less room than its parser
/// leaves out the other choices and calls; `deltawire_message_limit` says so. Answers OK, E_NULL,
/// E_ALIGN, E_SMALL, E_RANGE (`mem_len`), E_CONFIG.
#[no_mangle]
pub unsafe extern "C" fn deltawire_message_init(
    mem: *mut c_void,
    mem_len: usize,
    cfg: *const deltawire_config,
    out: *mut *mut deltawire_message,
) -> deltawire_status {
    if mem.is_null() {
        return DELTAWIRE_E_NULL;
    }
    // SAFETY: the caller's struct begins with its size, and is that long.
    let config = ok!(unsafe { config_of(cfg) });
    ok!(fits(mem as usize, mem_len, 0));
    let room = ok!(BlockRoom::of(&config));
    let words = words_of(room);
    ok!(fits(mem as usize, mem_len, size_for(words, 0)));
    let log = MessageLogOf::with_tables(MessageTables { room, words: [] }, usize::MAX);
    let state = Fixed { magic: MAGIC, len: mem_len, need: 0, words: words as u32, full: false, log };
    // SAFETY: writable for `mem_len` bytes, as the caller promises; the rest was checked. The rows follow the state.
    unsafe {
        mem.cast::<Fixed>().write(state);
        let first = mem.cast::<u8>().add(FIXED).cast::<LoggedChoice>();
        (0..usize::from(room.choices)).for_each(|row| first.add(row).write(LoggedChoice::EMPTY));
        let first = first.add(room.choices.into()).cast::<LoggedCall>();
        (0..usize::from(room.calls)).for_each(|row| first.add(row).write(LoggedCall::EMPTY));
        put_out(out, mem.cast());
    }
    DELTAWIRE_OK
}

/// Begins a new message. Answers OK, E_NULL, E_ALIGN, E_STATE.
#[no_mangle]
pub unsafe extern "C" fn deltawire_message_reset(m: *mut deltawire_message) -> deltawire_status {
    // SAFETY: a block, as the caller promises.
    let (state, _) = ok!(unsafe { enter(m) });
    state.log.reset();
    (state.need, state.full) = (0, false);
    DELTAWIRE_OK
}

/// Moves the assembler to another block, as `deltawire_move` does a parser. Answers OK, E_NULL,
/// E_ALIGN, E_STATE, E_SMALL, E_RANGE (`mem_len`; the blocks overlap).
#[no_mangle]
pub unsafe extern "C" fn deltawire_message_move(
    mem: *mut c_void,
    mem_len: usize,
    src: *const deltawire_message,
    out: *mut *mut deltawire_message,
) -> deltawire_status {
    if mem.is_null() {
        return DELTAWIRE_E_NULL;
    }
    // SAFETY: a block that nothing changes during the call, as the caller promises.
    let (from, buffer) = ok!(unsafe { look(src) });
    let words = from.words as usize;
    let head = size_for(words, 0);
    ok!(fits(mem as usize, mem_len, head));
    if overlap(mem as usize, mem_len, src as usize, from.len) {
        return DELTAWIRE_E_RANGE;
    }
    let kept = buffer.get(..from.log.len()).unwrap_or_default();
    if kept.len() > mem_len.saturating_sub(head) {
        return DELTAWIRE_E_SMALL;
    }
    // SAFETY: `mem` is writable for `mem_len` bytes, as the caller promises, and does not overlap `src`; a state is
    // plain data.
    unsafe {
        ptr::copy_nonoverlapping(src.cast::<u8>(), mem.cast(), head);
        let state = &mut *state_at(mem.cast(), words);
        (state.len, state.need, state.full) = (mem_len, 0, false);
        ptr::copy_nonoverlapping(kept.as_ptr(), mem.cast::<u8>().add(head), kept.len());
        put_out(out, mem.cast());
    }
    DELTAWIRE_OK
}

/// Tells the assembler that its block has `mem_len` bytes now, as `deltawire_resize` does. Answers
/// OK, E_NULL, E_ALIGN, E_STATE, E_SMALL, E_RANGE (beyond any memory).
#[no_mangle]
pub unsafe extern "C" fn deltawire_message_resize(m: *mut deltawire_message, mem_len: usize) -> deltawire_status {
    // SAFETY: a block that has both lengths, as the caller promises.
    let (state, _) = ok!(unsafe { enter(m) });
    ok!(fits(m as usize, mem_len, size_for(state.words as usize, state.log.len())));
    (state.len, state.need, state.full) = (mem_len, 0, false);
    DELTAWIRE_OK
}

/// The size of the block that the assembler needs, in bytes. After NEED_STORAGE that is the size to
/// move to; otherwise it is the smallest size that holds the message. Returns 0 if `m` is not an
/// assembler.
#[no_mangle]
pub unsafe extern "C" fn deltawire_message_need(m: *const deltawire_message) -> usize {
    // SAFETY: a block that nothing changes during the call, as the caller promises.
    let Ok((state, _)) = (unsafe { look(m) }) else { return 0 };
    state.need.max(size_for(state.words as usize, state.log.len()))
}
