//! A parser's block: what is in it, and how it is entered.
//!
//! `State | event buffer | read area`. The guard is read and written by raw pointers only, so that a call from a callback
//! can look at it while the rest is borrowed.

use crate::types::*;
use core::mem::{align_of, size_of};
use core::ptr::{addr_of, addr_of_mut};
use core::slice;
use deltawire::stream::{Emitter, Machine};
use deltawire::track::Tracker;
use deltawire::Movable;

/// The tracker of a C parser.
pub(crate) type CTracker = Tracker<{ DELTAWIRE_MAX_CHOICES as usize }, { DELTAWIRE_MAX_TOOL_CALLS as usize }>;

/// What a block that was initialised begins with.
const MAGIC: u64 = 0x0131_7769_6c65_6457 ^ size_of::<State>() as u64;

/// What may be looked at from a callback.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Guard {
    magic: u64,
    /// Bytes of the block.
    pub(crate) len: usize,
    /// A call is under way.
    pub(crate) busy: bool,
}

/// How far the stream is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    Reading,
    /// `finish` was called, and stopped.
    Ending,
    Ended,
}

/// Everything else: borrowed while a call is under way.
pub(crate) struct Core {
    pub(crate) machine: Machine,
    pub(crate) tracker: CTracker,
    pub(crate) emitter: Emitter,
    /// Of an event that is pending: the status of the call that left it so.
    pub(crate) left_by: deltawire_status,
    pub(crate) phase: Phase,
    /// A status of -100 and below, until reset; else OK.
    pub(crate) sticky: deltawire_status,
    pub(crate) user_code: i32,
    pub(crate) error_quirk: u32,
    pub(crate) error_offset: u64,
    pub(crate) can_move: bool,
    /// Kinds that a batch brings.
    pub(crate) events: u64,
    /// Bytes of the read area.
    pub(crate) read_len: usize,
    /// Of these, those that were committed; and those of them that are spent.
    pub(crate) committed: usize,
    pub(crate) spent: usize,
    pub(crate) reserved: bool,
    /// Bytes of the block that are wanted.
    pub(crate) need: usize,
}

#[repr(C)]
struct State {
    guard: Guard,
    core: Core,
}

const _: () = assert!(size_of::<State>() <= DELTAWIRE_STATE_SIZE, "DELTAWIRE_STATE_SIZE is too small");
const _: () = assert!(align_of::<State>() <= DELTAWIRE_ALIGN, "DELTAWIRE_ALIGN is too small");

/// Bytes of the state, rounded up to the alignment.
pub(crate) const STATE: usize = size_of::<State>().next_multiple_of(DELTAWIRE_ALIGN);

/// Bytes of a block with so much event buffer.
pub(crate) fn size_for(storage: usize, read_len: usize) -> usize {
    let storage = storage.checked_next_multiple_of(DELTAWIRE_ALIGN).unwrap_or(usize::MAX);
    STATE.saturating_add(storage).saturating_add(read_len)
}

/// A block that is open: its guard says busy until this is dropped.
pub(crate) struct Open<'b> {
    guard: *mut Guard,
    pub(crate) core: &'b mut Core,
    /// The event buffer.
    pub(crate) store: &'b mut [u8],
    /// The read area.
    pub(crate) area: &'b mut [u8],
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        // SAFETY: it points to the guard of the block that was opened, which outlives this by `enter`'s contract.
        unsafe { (*self.guard).busy = false };
    }
}

impl Open<'_> {
    /// Where the read area begins, from the first byte of the block.
    pub(crate) fn area_at(&self) -> usize {
        STATE.saturating_add(self.store.len())
    }

    /// The event buffer as storage.
    pub(crate) fn movable(&mut self) -> (&mut Core, Movable<'_>, &[u8]) {
        let can_move = self.core.can_move;
        (self.core, Movable::new(self.store, can_move), self.area)
    }
}

/// Whether memory of this address and length can be a block with a read area of `read_len`.
pub(crate) fn fits(address: usize, len: usize, read_len: usize) -> Result<(), deltawire_status> {
    if address % align_of::<State>() != 0 {
        return Err(DELTAWIRE_E_ALIGN);
    }
    if len > isize::MAX as usize {
        return Err(DELTAWIRE_E_RANGE);
    }
    match len.checked_sub(STATE).and_then(|rest| rest.checked_sub(read_len)) {
        Some(_) => Ok(()),
        None => Err(DELTAWIRE_E_SMALL),
    }
}

/// Makes a block of memory.
///
/// # Safety
/// `mem` is aligned and writable for `len` bytes, which [`fits`] has checked.
pub(crate) unsafe fn write(mem: *mut u8, len: usize, core: Core) {
    // SAFETY: aligned and large enough, as checked.
    unsafe { mem.cast::<State>().write(State { guard: Guard { magic: MAGIC, len, busy: false }, core }) };
}

/// The guard of a block.
///
/// # Safety
/// `p` is NULL, or points to readable memory of at least the size of a block.
pub(crate) unsafe fn guard(p: *const deltawire_parser) -> Result<Guard, deltawire_status> {
    if p.is_null() {
        return Err(DELTAWIRE_E_NULL);
    }
    if p as usize % align_of::<State>() != 0 {
        return Err(DELTAWIRE_E_ALIGN);
    }
    let state = p.cast::<State>();
    // SAFETY: readable, as the caller promises. The fields are read one by one: whatever the bytes are, numbers they are,
    // and `busy` is only read once the magic says that it was written.
    unsafe {
        if addr_of!((*state).guard.magic).read() != MAGIC {
            return Err(DELTAWIRE_E_STATE);
        }
        let guard = addr_of!((*state).guard).read();
        if guard.busy {
            return Err(DELTAWIRE_E_REENTRANT);
        }
        Ok(guard)
    }
}

/// Enters a block for a call that changes it.
///
/// # Safety
/// As [`guard`]; and the block is writable, used by no other thread, and outlives the result.
pub(crate) unsafe fn enter<'b>(p: *mut deltawire_parser) -> Result<Open<'b>, deltawire_status> {
    // SAFETY: as the caller promises.
    let Guard { len, .. } = unsafe { guard(p) }?;
    let state = p.cast::<State>();
    // SAFETY: the block was initialised with this length, and no other call is under way: what lies behind the guard is
    // borrowed by this alone. State, event buffer and read area do not overlap.
    unsafe {
        let core = &mut *addr_of_mut!((*state).core);
        let read_len = core.read_len;
        let rest = slice::from_raw_parts_mut(p.cast::<u8>().add(STATE), len.saturating_sub(STATE));
        let (store, area) = rest.split_at_mut_checked(rest.len().saturating_sub(read_len)).ok_or(DELTAWIRE_E_STATE)?;
        let guard = addr_of_mut!((*state).guard);
        (*guard).busy = true;
        Ok(Open { guard, core, store, area })
    }
}

/// Looks into a block.
///
/// # Safety
/// As [`guard`]; and nothing changes the block while the result is used.
pub(crate) unsafe fn look<'b>(p: *const deltawire_parser) -> Result<(&'b Core, &'b [u8], &'b [u8]), deltawire_status> {
    // SAFETY: as the caller promises.
    let Guard { len, .. } = unsafe { guard(p) }?;
    let state = p.cast::<State>();
    // SAFETY: as in `enter`, shared.
    unsafe {
        let core = &*addr_of!((*state).core);
        let rest = slice::from_raw_parts(p.cast::<u8>().add(STATE), len.saturating_sub(STATE));
        let (store, area) = rest.split_at_checked(rest.len().saturating_sub(core.read_len)).ok_or(DELTAWIRE_E_STATE)?;
        Ok((core, store, area))
    }
}
