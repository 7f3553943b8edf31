//! Push: reads bytes and calls callbacks. Also the code that a feed and a batch share.

use crate::beside::Beside;
use crate::block::{append, enter, Core, Open, Parts, Phase};
use crate::callback_sink::CallbackSink;
use crate::convert::{bytes, put_out, sized};
use crate::types::*;
use crate::workspace::{enter_workspace, MachineSource, Own};
use core::ffi::c_void;
use core::mem::{size_of, MaybeUninit};
use deltawire::stream::{Outcome, Sink, Stop};
use deltawire::Error;

/// Callbacks that are all NULL.
// SAFETY: the struct is a number and optional functions, for which zero bytes are 0 and `None`.
const SILENT: deltawire_callbacks = unsafe { core::mem::zeroed() };

/// Returns the size that a struct of callbacks states.
///
/// # Safety
/// `given` is not NULL, and begins with its size.
unsafe fn size_of_callbacks(given: *const deltawire_callbacks) -> usize {
    // SAFETY: as the caller promises.
    unsafe { core::ptr::addr_of!((*given).size).read_unaligned() as usize }
}

/// Whether the callbacks need no check: there are none, or their struct has the size of this
/// version.
///
/// # Safety
/// As [`callbacks`].
#[inline(always)]
unsafe fn are_usual(given: *const deltawire_callbacks) -> bool {
    // SAFETY: as the caller promises.
    given.is_null() || unsafe { size_of_callbacks(given) } == size_of::<deltawire_callbacks>()
}

/// Returns a copy of the callbacks that C gave.
///
/// # Safety
/// `given` is NULL, or begins with its size and is that long.
unsafe fn callbacks(
    given: *const deltawire_callbacks,
    copy: &mut MaybeUninit<deltawire_callbacks>,
) -> Result<&deltawire_callbacks, deltawire_status> {
    if given.is_null() {
        return Ok(const { &SILENT });
    }
    // SAFETY: as the caller promises.
    unsafe {
        if are_usual(given) {
            copy.as_mut_ptr().copy_from_nonoverlapping(given, 1);
            return Ok(copy.assume_init_ref());
        }
        Ok(copy.write(sized(given, size_of_callbacks(given))?))
    }
}

/// Reads `len` bytes and calls `cbs` for the events in them. The parser uses `cbs` and `user` for
/// this call only. `cbs` may be NULL: then no function is called. Give NULL and 0 to continue with a
/// pending event whose bytes are consumed, or to read committed bytes. `*consumed`, unless
/// `consumed` is NULL, is written on every path.
///
/// Answers OK, PAUSED, NEED_STORAGE, E_NULL, E_ALIGN, E_STATE (also after `deltawire_finish`; while
/// an event of a batch is pending; if bytes are given while committed bytes are unread; for a parser
/// with `DELTAWIRE_CFG_SHARED`), E_REENTRANT, E_CONFIG (the size or tail of `cbs`), E_RANGE (`len`
/// is beyond any memory), E_RESUME, E_ABORTED, E_CALLBACK, E_STRICT.
#[no_mangle]
pub unsafe extern "C" fn deltawire_feed(
    p: *mut deltawire_parser,
    data: *const c_void,
    len: usize,
    cbs: *const deltawire_callbacks,
    user: *mut c_void,
    consumed: *mut usize,
) -> deltawire_status {
    // SAFETY: the caller promises valid pointers.
    unsafe { feed(Ok(Own), p, data, len, cbs, user, consumed) }
}

/// `deltawire_feed` for a parser with `DELTAWIRE_CFG_SHARED`, which reads with the memory of `w`.
/// Each call may take another workspace. A callback may feed another parser with another workspace.
///
/// Answers as `deltawire_feed` and, for `w`, E_NULL, E_ALIGN, E_STATE (`w` was never initialized, or
/// the parser has no `DELTAWIRE_CFG_SHARED`), E_REENTRANT (another call is using `w`).
#[no_mangle]
pub unsafe extern "C" fn deltawire_feed_with(
    p: *mut deltawire_parser,
    w: *mut deltawire_workspace,
    data: *const c_void,
    len: usize,
    cbs: *const deltawire_callbacks,
    user: *mut c_void,
    consumed: *mut usize,
) -> deltawire_status {
    // SAFETY: the caller promises valid pointers.
    unsafe { feed(enter_workspace(w), p, data, len, cbs, user, consumed) }
}

/// Does what [`deltawire_feed`] does, with the machine from this source.
///
/// # Safety
/// As for C.
pub(crate) unsafe fn feed<W: MachineSource>(
    source: Result<W, deltawire_status>,
    p: *mut deltawire_parser,
    data: *const c_void,
    len: usize,
    cbs: *const deltawire_callbacks,
    user: *mut c_void,
    consumed: *mut usize,
) -> deltawire_status {
    // SAFETY: the caller promises valid pointers.
    unsafe {
        put_out(consumed, 0);
        let mut source = ok!(source);
        let base = if are_usual(cbs) { append(p, W::SHARES, data.cast(), len) } else { 0 };
        put_out(consumed, base);
        if base > 0 && base == len {
            return DELTAWIRE_OK;
        }
        let open = ok!(enter(p));
        let mut copy = MaybeUninit::uninit();
        let callbacks = ok!(callbacks(cbs, &mut copy));
        let rest = ok!(bytes(data, len)).get(base..).unwrap_or_default();
        let (spent, status) = read(&mut source, open, rest, base, &mut CallbackSink::new(callbacks, user));
        put_out(consumed, spent);
        status
    }
}

/// Ends the stream; afterwards `deltawire_end_of` has the verdict. The call may emit a last event
/// without its blank line, an unpaired surrogate, or the end of a call that is open when the
/// response is over, so a callback may stop it: call again while the answer is PAUSED. The call
/// never answers NEED_STORAGE, because the end of a stream adds no bytes to what the block holds.
/// If a feed answered PAUSED and did not consume all bytes, feed the other bytes first: otherwise
/// this call may answer E_RESUME. The stream ends where the consumed bytes end: after a feed that
/// left bytes (PAUSED, NEED_STORAGE), feed them, or do not ask whether the response is complete.
/// After OK, further calls answer OK and do nothing. Answers as `deltawire_feed` in all other
/// cases.
#[no_mangle]
pub unsafe extern "C" fn deltawire_finish(
    p: *mut deltawire_parser,
    cbs: *const deltawire_callbacks,
    user: *mut c_void,
) -> deltawire_status {
    // SAFETY: the caller promises valid pointers.
    unsafe { finish_feed(Ok(Own), p, cbs, user) }
}

/// `deltawire_finish` for a parser with `DELTAWIRE_CFG_SHARED`, with the memory of `w`. Answers as
/// `deltawire_finish` and, for `w`, as `deltawire_feed_with`.
#[no_mangle]
pub unsafe extern "C" fn deltawire_finish_with(
    p: *mut deltawire_parser,
    w: *mut deltawire_workspace,
    cbs: *const deltawire_callbacks,
    user: *mut c_void,
) -> deltawire_status {
    // SAFETY: the caller promises valid pointers.
    unsafe { finish_feed(enter_workspace(w), p, cbs, user) }
}

/// Ends a stream, and calls callbacks for its last events.
///
/// # Safety
/// As for C.
pub(crate) unsafe fn finish_feed<W: MachineSource>(
    source: Result<W, deltawire_status>,
    p: *mut deltawire_parser,
    cbs: *const deltawire_callbacks,
    user: *mut c_void,
) -> deltawire_status {
    // SAFETY: the caller promises valid pointers.
    unsafe {
        let mut source = ok!(source);
        let open = ok!(enter(p));
        match callbacks(cbs, &mut MaybeUninit::uninit()) {
            Ok(callbacks) => finish(&mut source, open, &mut CallbackSink::new(callbacks, user)),
            Err(status) => status,
        }
    }
}

/// A sink of a call: callbacks, or the array of a batch.
pub(crate) trait Target: Sink {
    /// The status of a call that leaves an event pending: the array of a batch is full, or a callback answered AGAIN.
    const FULL: deltawire_status;

    /// The number with which a callback aborted the call, and the stream offset of that event.
    fn aborted(&self) -> Option<(i32, u64)> {
        None
    }
}

impl Target for CallbackSink<'_> {
    const FULL: deltawire_status = DELTAWIRE_PAUSED;

    fn aborted(&self) -> Option<(i32, u64)> {
        self.aborted
    }
}

/// Whether a call of the other kind (feed or batch) left an event pending. Only a call of that kind
/// can continue it.
fn is_of_other<T: Target>(core: &Core) -> bool {
    core.emitter.is_pending() && core.left_by != T::FULL
}

/// Reads the bytes that the caller gave, or the committed bytes. `data` begins `base` bytes into the
/// caller's bytes: those were appended to a cut payload already. Returns how many of the caller's
/// bytes are consumed, and the status.
pub(crate) fn read<W: MachineSource, T: Target>(
    source: &mut W,
    mut open: Open<'_>,
    data: &[u8],
    base: usize,
    target: &mut T,
) -> (usize, deltawire_status) {
    let area_at = open.area_at();
    let Parts { core, machine, mut storage, mut tracker, meter, area } = open.parts();
    let Some(machine) = W::machine(machine) else { return (0, DELTAWIRE_E_STATE) };
    if core.sticky != DELTAWIRE_OK {
        return (0, core.sticky);
    }
    let unspent = area.get(core.spent..core.committed).unwrap_or_default();
    let is_committed = !unspent.is_empty();
    if core.phase != Phase::Reading || is_committed && !data.is_empty() || is_of_other::<T>(core) {
        return (0, DELTAWIRE_E_STATE);
    }
    // Offsets of texts count from the caller's first byte or, in committed bytes, from that of the block.
    let (input, at) = if is_committed { (unspent, area_at.saturating_add(core.spent)) } else { (data, base) };
    let at = u32::try_from(at).unwrap_or(u32::MAX);
    let is_kept = &mut core.is_kept;
    let (spent, outcome) = source.run(machine, &mut core.emitter, input, |emitter, machine, keeper| {
        if meter.is_none() && keeper.is_none() {
            let done = emitter.run(machine, &mut storage, &mut tracker, input, at, target);
            *is_kept &= done.1 == Outcome::Resume; // which changes nothing
            return done;
        }
        emitter.run(machine, &mut storage, &mut tracker, input, at, &mut Beside { meter, keeper, is_kept, target })
    });
    core.tracker = tracker.state();
    let status = conclude(core, outcome, target);
    note_end(core, status, !data.is_empty());
    if is_committed {
        core.spent = core.spent.saturating_add(spent);
    }
    (if is_committed { 0 } else { spent.saturating_add(base) }, status)
}

/// Ends the stream, unless the target stops the call first.
pub(crate) fn finish<W: MachineSource, T: Target>(
    source: &mut W,
    mut open: Open<'_>,
    target: &mut T,
) -> deltawire_status {
    let Parts { core, machine, mut storage, mut tracker, meter, .. } = open.parts();
    let Some(machine) = W::machine(machine) else { return DELTAWIRE_E_STATE };
    if core.sticky != DELTAWIRE_OK {
        return core.sticky;
    }
    if core.phase == Phase::Ended {
        return DELTAWIRE_OK;
    }
    if core.spent < core.committed || is_of_other::<T>(core) {
        return DELTAWIRE_E_STATE;
    }
    let is_kept = &mut core.is_kept;
    let outcome = source.run(machine, &mut core.emitter, &[], |emitter, machine, keeper| {
        emitter.finish(machine, &mut storage, &mut tracker, &mut Beside { meter, keeper, is_kept, target })
    });
    core.tracker = tracker.state();
    match outcome {
        Outcome::Resume => {}
        Outcome::Done => core.phase = Phase::Ended,
        _ => core.phase = Phase::Ending,
    }
    let status = conclude(core, outcome, target);
    note_end(core, status, false);
    status
}

/// Converts the outcome of a call to its status. Notes the reason if the stream failed.
fn conclude<T: Target>(core: &mut Core, outcome: Outcome, target: &T) -> deltawire_status {
    let quirk = DELTAWIRE_QUIRKS;
    let (status, code, quirk, offset) = match (outcome, target.aborted()) {
        (Outcome::Done, _) => return DELTAWIRE_OK,
        (Outcome::Resume, _) => return DELTAWIRE_E_RESUME,
        (Outcome::Full, _) => {
            core.left_by = T::FULL;
            return T::FULL;
        }
        (Outcome::NeedStorage(need), _) => {
            core.need = core.size_for(need.len);
            return DELTAWIRE_NEED_STORAGE;
        }
        (Outcome::Stopped(_), Some((code, offset))) if code < 0 => (DELTAWIRE_E_ABORTED, code, quirk, offset),
        (Outcome::Stopped(_), Some((code, offset))) => (DELTAWIRE_E_CALLBACK, code, quirk, offset),
        (Outcome::Stopped(Stop::Error(Error::Quirk { quirk, offset })), None) => {
            (DELTAWIRE_E_STRICT, 0, quirk as u32, offset)
        }
        // A callback asked for a pause.
        (Outcome::Stopped(_), None) => return DELTAWIRE_PAUSED,
    };
    (core.sticky, core.user_code, core.error_quirk, core.error_offset) = (status, code, quirk, offset);
    status
}

/// Notes the end of a call. The block need not grow any more, unless the status asks for it. A
/// reservation ends if the call was `given` bytes. Misuse changes nothing.
fn note_end(core: &mut Core, status: deltawire_status, given: bool) {
    if (DELTAWIRE_E_RESUME..DELTAWIRE_OK).contains(&status) {
        return;
    }
    if status != DELTAWIRE_NEED_STORAGE {
        core.need = 0;
    }
    core.reserved &= !given;
}
