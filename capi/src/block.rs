//! The block of a parser: what it contains, and how a call enters it.
//!
//! `BlockState | machine | choices | tool calls | meter | event buffer | read area`. The state begins with the guard.
//! Code reads and writes the guard by raw pointers only, so a call from a callback can read it while the rest of the
//! block is borrowed. The machine of a parser that shares workspaces has no templates. Either machine begins with the
//! state of the stream, so most functions need not know which of the two the block has. Only a parser in mode USAGE has
//! a meter.

use crate::convert::aligned;
use crate::types::*;
use core::mem::{align_of, size_of};
use core::ops::{Deref, DerefMut};
use core::ptr::{addr_of, addr_of_mut};
use core::slice;
use deltawire::stream::{Emitter, Machine, Meter, StreamState};
use deltawire::track::{CallRow, ChoiceRow, TrackerOf, TrackerState};
use deltawire::{Config, Lent, Movable};

/// The tracker of a C parser during a call. Its tables are those of the block.
pub(crate) type CTracker<'b> = TrackerOf<Lent<'b, Option<ChoiceRow>, Option<CallRow>>>;

/// How many choices and tool calls a block has room for.
#[derive(Clone, Copy)]
pub(crate) struct BlockRoom {
    pub(crate) choices: u16,
    pub(crate) calls: u16,
}

impl BlockRoom {
    pub(crate) fn of(config: &deltawire_config) -> Result<BlockRoom, deltawire_status> {
        let or = |given: u32, default: u32, max: u32| match given {
            0 => Ok(default as u16),
            given if given <= max => Ok(given as u16),
            _ => Err(DELTAWIRE_E_CONFIG),
        };
        Ok(BlockRoom {
            choices: or(config.max_choices, DELTAWIRE_DEFAULT_CHOICES, DELTAWIRE_MAX_CHOICES)?,
            calls: or(config.max_tool_calls, DELTAWIRE_DEFAULT_TOOL_CALLS, DELTAWIRE_MAX_TOOL_CALLS)?,
        })
    }

    /// Length in bytes of tables with rows of these types, rounded up to the alignment.
    pub(crate) const fn bytes<A, B>(self) -> usize {
        let choices = (self.choices as usize).saturating_mul(size_of::<A>());
        let calls = (self.calls as usize).saturating_mul(size_of::<B>());
        choices.saturating_add(calls).next_multiple_of(DELTAWIRE_ALIGN)
    }

    /// Length of a parser's tables in bytes.
    const fn tables(self) -> usize {
        self.bytes::<Option<ChoiceRow>, Option<CallRow>>()
    }
}

/// The room of a block whose config has the defaults.
pub(crate) const DEFAULT_ROOM: BlockRoom =
    BlockRoom { choices: DELTAWIRE_DEFAULT_CHOICES as u16, calls: DELTAWIRE_DEFAULT_TOOL_CALLS as u16 };

/// The first word of an initialized block whose parser has a machine of its own. During a call the
/// bits of the word are inverted, so one comparison tells whether a call may enter the block.
const MAGIC: u64 = 0x0131_7769_6c65_6457 ^ size_of::<BlockState>() as u64;

/// The first word of the block of a parser that shares workspaces.
const SHARES: u64 = magic(true);

/// The first word of a block whose parser shares workspaces, or does not.
const fn magic(shares: bool) -> u64 {
    MAGIC ^ (shares as u64) << 63
}

/// The part of the state that a call from a callback may read.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Guard {
    magic: u64,
    /// Bytes of the block.
    pub(crate) len: usize,
}

/// How far a stream has come.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    Reading,
    /// `finish` was called, and stopped.
    Ending,
    Ended,
}

/// The rest of the state, which a call borrows.
pub(crate) struct Core {
    /// Whether the parser uses the machine of the workspace that each call is given, instead of one of its own.
    pub(crate) shares: bool,
    /// Whether the block has a meter (`DELTAWIRE_MODE_USAGE`).
    pub(crate) meters: bool,
    pub(crate) tracker: TrackerState,
    pub(crate) room: BlockRoom,
    pub(crate) emitter: Emitter,
    /// The status of the call that left an event pending, if one is: PAUSED of a feed, or MORE of a batch. Only a call of
    /// the same kind can go on with the event.
    pub(crate) left_by: deltawire_status,
    pub(crate) phase: Phase,
    /// The status of -100 or below with which the stream failed; OK if it did not fail.
    pub(crate) sticky: deltawire_status,
    /// If the stream failed: the number that a callback returned, the quirk, and the stream offset of the event.
    pub(crate) user_code: i32,
    pub(crate) error_quirk: u32,
    pub(crate) error_offset: u64,
    /// Whether a call answers NEED_STORAGE if an event does not fit the event buffer (`DELTAWIRE_CFG_GROW`). Otherwise
    /// the event is too long.
    pub(crate) can_move: bool,
    /// The kinds that a batch emits.
    pub(crate) events: u64,
    /// Whether a message has the delta that comes next already (`Beside`).
    pub(crate) is_kept: bool,
    /// Length of the read area in bytes.
    pub(crate) read_len: usize,
    /// How many bytes of the read area were committed.
    pub(crate) committed: usize,
    /// How many of the committed bytes were consumed.
    pub(crate) spent: usize,
    /// Whether the read area is reserved: no bytes were committed since, and no call was given bytes.
    pub(crate) reserved: bool,
    /// The size of the block that the parser needs, or 0 if its block is large enough.
    pub(crate) need: usize,
}

#[repr(C)]
struct BlockState {
    guard: Guard,
    core: Core,
}

const _: () = assert!(align_of::<Machine>() <= align_of::<BlockState>(), "the machine follows the state");
const _: () = assert!(align_of::<Option<ChoiceRow>>() <= align_of::<Machine>(), "choices follow the machine");
const _: () = assert!(
    STATE.saturating_add(machine_len(false)).saturating_add(DEFAULT_ROOM.tables()) <= DELTAWIRE_STATE_SIZE,
    "DELTAWIRE_STATE_SIZE is too small"
);
const _: () = assert!(size_of::<Option<ChoiceRow>>() <= DELTAWIRE_ROW_SIZE, "DELTAWIRE_ROW_SIZE is too small");
const _: () = assert!(size_of::<Option<CallRow>>() <= DELTAWIRE_ROW_SIZE, "DELTAWIRE_ROW_SIZE is too small");
const _: () = assert!(align_of::<Machine<0>>() == align_of::<Machine>(), "either machine may be there");
const _: () = assert!(align_of::<Option<CallRow>>() <= align_of::<Option<ChoiceRow>>(), "calls follow the choices");
const _: () = assert!(align_of::<BlockState>() <= DELTAWIRE_ALIGN, "DELTAWIRE_ALIGN is too small");
const _: () = assert!(align_of::<Meter>() <= DELTAWIRE_ALIGN, "the meter follows the tables");
const _: () = assert!(METER <= DELTAWIRE_METER_SIZE, "DELTAWIRE_METER_SIZE is too small");

/// Length of the state in bytes, rounded up to the alignment.
pub(crate) const STATE: usize = size_of::<BlockState>().next_multiple_of(DELTAWIRE_ALIGN);

/// Length of a meter in bytes, rounded up to the alignment.
const METER: usize = size_of::<Meter>().next_multiple_of(DELTAWIRE_ALIGN);

/// Length in bytes of the machine, rounded up to the alignment.
const fn machine_len(shares: bool) -> usize {
    let len = if shares { size_of::<Machine<0>>() } else { size_of::<Machine>() };
    len.next_multiple_of(DELTAWIRE_ALIGN)
}

impl Core {
    /// Offset of the tables in a block.
    fn tables_at(&self) -> usize {
        STATE.saturating_add(machine_len(self.shares))
    }

    /// Offset of the meter in a block that has one.
    fn meter_at(&self) -> usize {
        self.tables_at().saturating_add(self.room.tables())
    }

    /// Length of a block before its event buffer, in bytes.
    pub(crate) fn head(&self) -> usize {
        self.meter_at().saturating_add(if self.meters { METER } else { 0 })
    }

    /// Size of the smallest block, in bytes. Without `DELTAWIRE_CFG_GROW` that includes some event buffer: a parser
    /// without any could never take an event.
    pub(crate) fn least(&self) -> usize {
        self.size_for(usize::from(!self.can_move))
    }

    /// Size of a block with an event buffer of `storage` bytes, rounded up to the alignment.
    pub(crate) fn size_for(&self, storage: usize) -> usize {
        let storage = storage.checked_next_multiple_of(DELTAWIRE_ALIGN).unwrap_or(usize::MAX);
        self.head().saturating_add(storage).saturating_add(self.read_len)
    }
}

/// A block that a call has entered. The guard refuses other calls until this is dropped.
pub(crate) struct Open<'b> {
    guard: *mut Guard,
    pub(crate) core: &'b mut Core,
    pub(crate) machine: BlockMachine<'b>,
    pub(crate) choices: &'b mut [Option<ChoiceRow>],
    pub(crate) calls: &'b mut [Option<CallRow>],
    pub(crate) meter: Option<&'b mut Meter>,
    /// The event buffer.
    pub(crate) storage: &'b mut [u8],
    /// The read area.
    pub(crate) area: &'b mut [u8],
}

/// What a call reads with.
pub(crate) struct Parts<'b> {
    pub(crate) core: &'b mut Core,
    pub(crate) machine: BlockMachine<'b>,
    pub(crate) storage: Movable<'b>,
    pub(crate) tracker: CTracker<'b>,
    pub(crate) meter: Option<&'b mut Meter>,
    pub(crate) area: &'b [u8],
}

/// The machine of a block: a parser's own, or a bare one, without templates, of a parser that shares workspaces.
pub(crate) enum BlockMachine<'b> {
    Own(&'b mut Machine),
    Bare(&'b mut Machine<0>),
}

impl Deref for BlockMachine<'_> {
    type Target = StreamState;

    #[inline]
    fn deref(&self) -> &StreamState {
        match self {
            BlockMachine::Own(machine) => machine,
            BlockMachine::Bare(machine) => machine,
        }
    }
}

impl DerefMut for BlockMachine<'_> {
    #[inline]
    fn deref_mut(&mut self) -> &mut StreamState {
        match self {
            BlockMachine::Own(machine) => machine,
            BlockMachine::Bare(machine) => machine,
        }
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        // SAFETY: `guard` points to the guard of the block, which outlives this by the contract of `enter`.
        unsafe { (*self.guard).magic = magic(self.core.shares) };
    }
}

impl Open<'_> {
    /// Offset of the read area in the block.
    pub(crate) fn area_at(&self) -> usize {
        self.core.head().saturating_add(self.storage.len())
    }

    /// Returns the parts that a call reads with. The event buffer becomes the storage. The caller must write the
    /// tracker's state back.
    pub(crate) fn parts(&mut self) -> Parts<'_> {
        let can_move = self.core.can_move;
        let tables = Lent { choices: &mut *self.choices, calls: &mut *self.calls };
        let tracker = CTracker::from_parts(tables, self.core.tracker);
        let machine = match &mut self.machine {
            BlockMachine::Own(machine) => BlockMachine::Own(machine),
            BlockMachine::Bare(machine) => BlockMachine::Bare(machine),
        };
        Parts {
            core: self.core,
            machine,
            storage: Movable::new(self.storage, can_move),
            tracker,
            meter: self.meter.as_deref_mut(),
            area: self.area,
        }
    }

    /// Resets machine and tracker for a new stream with the same config.
    pub(crate) fn reset(&mut self) {
        match &mut self.machine {
            BlockMachine::Own(machine) => machine.reset(),
            BlockMachine::Bare(machine) => machine.reset(),
        }
        self.choices.fill(None);
        self.calls.fill(None);
        if let Some(meter) = &mut self.meter {
            **meter = Meter::new();
        }
        self.core.tracker = TrackerState::default();
    }
}

/// Checks that memory of this address and length can be a block of at least `least` bytes.
pub(crate) fn fits(address: usize, len: usize, least: usize) -> Result<(), deltawire_status> {
    if address % align_of::<BlockState>() != 0 {
        return Err(DELTAWIRE_E_ALIGN);
    }
    if len > isize::MAX as usize {
        return Err(DELTAWIRE_E_RANGE);
    }
    if len < least {
        return Err(DELTAWIRE_E_SMALL);
    }
    Ok(())
}

/// Whether `len` bytes at `mem` overlap `from_len` bytes at `from`.
pub(crate) fn overlap(mem: usize, len: usize, from: usize, from_len: usize) -> bool {
    mem < from.saturating_add(from_len) && from < mem.saturating_add(len)
}

/// Moves `len` bytes within the buffer; the ranges may overlap. Does nothing if either range is out
/// of bounds.
pub(crate) fn slide(buffer: &mut [u8], from: usize, to: usize, len: usize) {
    let inside = |at: usize| at.checked_add(len).is_some_and(|end| end <= buffer.len());
    if inside(from) && inside(to) {
        let start = buffer.as_mut_ptr();
        // SAFETY: both ranges lie in the buffer.
        unsafe { core::ptr::copy(start.add(from), start.add(to), len) };
    }
}

/// Writes a new block: the state, the machine, and empty tables. Inlined, so that the state is not
/// on the stack twice.
///
/// # Safety
/// `mem` is aligned and writable for `len` bytes, which [`fits`] has checked.
#[inline(always)]
pub(crate) unsafe fn write(mem: *mut u8, len: usize, core: Core, config: Config) {
    let (shares, tables_at, BlockRoom { choices, calls }) = (core.shares, core.tables_at(), core.room);
    let meter_at = core.meters.then(|| core.meter_at());
    // SAFETY: aligned and large enough, as checked: machine, tables and meter lie between the state and the event
    // buffer.
    unsafe {
        mem.cast::<BlockState>().write(BlockState { guard: Guard { magic: magic(core.shares), len }, core });
        write_machine(mem.add(STATE), shares, config);
        let first = mem.add(tables_at).cast::<Option<ChoiceRow>>();
        (0..usize::from(choices)).for_each(|row| first.add(row).write(None));
        let first = first.add(usize::from(choices)).cast::<Option<CallRow>>();
        (0..usize::from(calls)).for_each(|row| first.add(row).write(None));
        if let Some(at) = meter_at {
            mem.add(at).cast::<Meter>().write(Meter::new());
        }
    }
}

/// Writes a machine at the start of a stream.
///
/// # Safety
/// `mem` is aligned and writable for [`machine_len`] bytes.
#[inline(never)]
unsafe fn write_machine(mem: *mut u8, shares: bool, config: Config) {
    // SAFETY: as the caller promises.
    unsafe {
        if shares {
            mem.cast::<Machine<0>>().write(Machine::with_slots(config));
        } else {
            mem.cast::<Machine>().write(Machine::new(config));
        }
    }
}

/// Reads the guard of a block that no call has entered.
///
/// # Safety
/// `p` is NULL, or points to readable memory of at least the size of a block.
pub(crate) unsafe fn guard(p: *const deltawire_parser) -> Result<Guard, deltawire_status> {
    let state: *const BlockState = aligned(p.cast())?;
    // SAFETY: readable, as the caller promises. Any bytes are valid numbers.
    unsafe {
        match addr_of!((*state).guard.magic).read() {
            MAGIC | SHARES => Ok(addr_of!((*state).guard).read()),
            busy if !busy == MAGIC || !busy == SHARES => Err(DELTAWIRE_E_REENTRANT),
            _ => Err(DELTAWIRE_E_STATE),
        }
    }
}

/// Enters a block for a call that changes it.
///
/// # Safety
/// As [`guard`]; and the block is writable, used by no other thread, and outlives the result.
pub(crate) unsafe fn enter<'b>(p: *mut deltawire_parser) -> Result<Open<'b>, deltawire_status> {
    // SAFETY: as the caller promises.
    let Guard { len, .. } = unsafe { guard(p) }?;
    let state = p.cast::<BlockState>();
    // SAFETY: the block was initialized with this length, and no other call is under way: nothing else borrows the
    // bytes after the guard. State, machine, tables, meter, event buffer and read area do not overlap.
    unsafe {
        let core = &mut *addr_of_mut!((*state).core);
        let (read_len, head, BlockRoom { choices, calls }) = (core.read_len, core.head(), core.room);
        let machine = p.cast::<u8>().add(STATE);
        let machine = if core.shares {
            BlockMachine::Bare(&mut *machine.cast())
        } else {
            BlockMachine::Own(&mut *machine.cast())
        };
        let first = p.cast::<u8>().add(core.tables_at()).cast::<Option<ChoiceRow>>();
        let choices = slice::from_raw_parts_mut(first, usize::from(choices));
        let first = first.add(choices.len()).cast::<Option<CallRow>>();
        let calls = slice::from_raw_parts_mut(first, usize::from(calls));
        let meter = core.meters.then(|| &mut *p.cast::<u8>().add(core.meter_at()).cast::<Meter>());
        let rest = slice::from_raw_parts_mut(p.cast::<u8>().add(head), len.saturating_sub(head));
        let (storage, area) =
            rest.split_at_mut_checked(rest.len().saturating_sub(read_len)).ok_or(DELTAWIRE_E_STATE)?;
        let guard = addr_of_mut!((*state).guard);
        (*guard).magic = !magic(core.shares);
        Ok(Open { guard, core, machine, choices, calls, meter, storage, area })
    }
}

/// Appends the bytes up to a line end to a payload that an earlier slice cut. That is all that most
/// calls with few bytes need, and they decide nothing, so it needs no callbacks, and no call enters
/// the block. Returns how many bytes were appended: 0 if they need more work, or the call is misuse.
///
/// # Safety
/// As [`enter`]; and `data` is NULL, or readable for `len` bytes.
#[inline(always)]
pub(crate) unsafe fn append(p: *mut deltawire_parser, shares: bool, data: *const u8, len: usize) -> usize {
    let Ok(state) = aligned::<BlockState>(p.cast()) else { return 0 };
    // SAFETY: as in `enter` and `look`; with the magic it is a block that no call has entered.
    unsafe {
        let Guard { magic: word, len: block } = addr_of!((*state).guard).read();
        if word != magic(shares) || data.is_null() || len > isize::MAX as usize {
            return 0;
        }
        // While bytes may be appended, no event is pending, and the stream has neither failed nor ended.
        let core = &*addr_of!((*state).core);
        if core.reserved || core.spent < core.committed {
            return 0;
        }
        let head = core.head();
        let room = block.saturating_sub(head).saturating_sub(core.read_len);
        let stream = &mut *p.cast::<u8>().add(STATE).cast::<StreamState>();
        let mut rest = slice::from_raw_parts(data, len);
        stream.append(slice::from_raw_parts_mut(p.cast::<u8>().add(head), room), &mut rest);
        len.saturating_sub(rest.len())
    }
}

/// A block that a call only reads.
pub(crate) struct ReadBlock<'b> {
    pub(crate) core: &'b Core,
    pub(crate) stream: &'b StreamState,
    pub(crate) meter: Option<&'b Meter>,
    pub(crate) storage: &'b [u8],
    pub(crate) area: &'b [u8],
}

/// Borrows a block for a call that only reads it.
///
/// # Safety
/// As [`guard`]; and nothing changes the block while the result is used.
pub(crate) unsafe fn look<'b>(p: *const deltawire_parser) -> Result<ReadBlock<'b>, deltawire_status> {
    // SAFETY: as the caller promises.
    let Guard { len, .. } = unsafe { guard(p) }?;
    let state = p.cast::<BlockState>();
    // SAFETY: as in `enter`, with shared borrows. No one reads the tables here. A machine begins with the state of the
    // stream.
    unsafe {
        let core = &*addr_of!((*state).core);
        let stream = &*p.cast::<u8>().add(STATE).cast::<StreamState>();
        let meter = core.meters.then(|| &*p.cast::<u8>().add(core.meter_at()).cast::<Meter>());
        let head = core.head();
        let rest = slice::from_raw_parts(p.cast::<u8>().add(head), len.saturating_sub(head));
        let (storage, area) =
            rest.split_at_checked(rest.len().saturating_sub(core.read_len)).ok_or(DELTAWIRE_E_STATE)?;
        Ok(ReadBlock { core, stream, meter, storage, area })
    }
}

/// Changes the length of a block, at the same place. On failure nothing is changed.
///
/// # Safety
/// As [`enter`]; and the memory has both lengths.
pub(crate) unsafe fn resize(p: *mut deltawire_parser, len: usize) -> Result<(), deltawire_status> {
    // SAFETY: as the caller promises.
    let Guard { len: from_len, .. } = unsafe { guard(p) }?;
    let state = p.cast::<BlockState>();
    // SAFETY: as in `enter` and `look`; `rest` is what follows the tables, in the longer of the two blocks.
    let (core, stream, rest) = unsafe {
        let core = &mut *addr_of_mut!((*state).core);
        let stream = &mut *p.cast::<u8>().add(STATE).cast::<StreamState>();
        fits(p as usize, len, core.least())?;
        let head = core.head();
        let rest = slice::from_raw_parts_mut(p.cast::<u8>().add(head), len.max(from_len).saturating_sub(head));
        (core, stream, rest)
    };
    let store_in = |len: usize| len.saturating_sub(core.size_for(0));
    let (from, to) = (store_in(from_len), store_in(len));
    let (spent, unspent) = (core.spent, core.committed.saturating_sub(core.spent));
    let is_pending = core.emitter.is_pending();
    if stream.retained(rest.get(..from).unwrap_or_default(), is_pending) > to {
        return Err(DELTAWIRE_E_SMALL);
    }
    // The unconsumed bytes move first if the event buffer grows, and last if it shrinks, so that neither overwrites the
    // other.
    if to > from {
        slide(rest, from.saturating_add(spent), to, unspent);
    }
    stream.resize(rest, from, to, is_pending);
    if to <= from {
        slide(rest, from.saturating_add(spent), to, unspent);
    }
    (core.spent, core.committed, core.need, core.reserved) = (0, unspent, 0, false);
    // SAFETY: as above; none of the borrows includes the guard.
    unsafe { (*addr_of_mut!((*state).guard)).len = len };
    Ok(())
}

/// Copies the head of a block, which is everything before the event buffer, to another block of
/// `len` bytes.
///
/// # Safety
/// `from` was initialized with a head of this length; `to` is aligned, writable for as many bytes,
/// and does not overlap `from`.
pub(crate) unsafe fn copy(from: *const u8, to: *mut u8, head: usize, len: usize) {
    // SAFETY: as the caller promises. The head of a block is plain data.
    unsafe {
        core::ptr::copy_nonoverlapping(from, to, head);
        (*addr_of_mut!((*to.cast::<BlockState>()).guard)).len = len;
    }
}
