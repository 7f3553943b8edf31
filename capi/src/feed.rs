//! Push: bytes in, callbacks called.

use crate::block::{enter, Core, Open, Phase};
use crate::calls::Calls;
use crate::convert::{bytes, sized, tell};
use crate::types::*;
use core::ffi::c_void;
use deltawire::stream::{Found, Machine, NeedStorage, Place, Step, Stop};
use deltawire::{Error, Movable};

/// Nobody is interested in anything.
pub(crate) const SILENT: deltawire_callbacks = deltawire_callbacks {
    size: 0,
    on_sse: None,
    on_comment: None,
    on_keep_alive: None,
    on_retry: None,
    on_last_event_id: None,
    on_chunk: None,
    on_role: None,
    on_content: None,
    on_reasoning: None,
    on_refusal: None,
    on_tool_call: None,
    on_tool_name: None,
    on_tool_arguments: None,
    on_function_name: None,
    on_function_arguments: None,
    on_audio: None,
    on_logprobs: None,
    on_message: None,
    on_finish: None,
    on_choice_error: None,
    on_usage: None,
    on_error: None,
    on_malformed: None,
    on_too_long: None,
    on_comment_too_long: None,
    on_limit: None,
    on_quirk: None,
    on_done: None,
    on_frame: None,
};

/// The callbacks that C gave.
///
/// # Safety
/// `given` is NULL, or begins with its size and is as long.
unsafe fn callbacks(given: *const deltawire_callbacks) -> Result<deltawire_callbacks, deltawire_status> {
    if given.is_null() {
        return Ok(SILENT);
    }
    // SAFETY: as the caller promises.
    unsafe { sized(given, core::ptr::addr_of!((*given).size).read_unaligned(), SILENT) }
}

/// Reads `len` bytes and calls `cbs` for what is in them. `cbs` and `user` are used for this call only; `cbs` may
/// be NULL: nothing is called. NULL with 0 is no bytes: nothing happens, unless something is pending. `*consumed`, unless `consumed` is NULL, is written on every path.
///
/// Answers OK, PAUSED, NEED_STORAGE, E_NULL, E_ALIGN, E_STATE (also after `deltawire_finish`, and while a batch has an
/// event pending), E_REENTRANT, E_CONFIG (the size or tail of `cbs`), E_RANGE (`len` is beyond any memory), E_RESUME,
/// E_ABORTED, E_CALLBACK, E_STRICT.
#[no_mangle]
#[allow(clippy::missing_safety_doc)] // The header is the manual.
pub unsafe extern "C" fn deltawire_feed(
    p: *mut deltawire_parser,
    data: *const c_void,
    len: usize,
    cbs: *const deltawire_callbacks,
    user: *mut c_void,
    consumed: *mut usize,
) -> deltawire_status {
    // SAFETY: what the pointers are, the caller promises.
    unsafe {
        tell(consumed, 0);
        let open = match enter(p) {
            Ok(open) => open,
            Err(status) => return status,
        };
        let (callbacks, data) = match (callbacks(cbs), bytes(data, len)) {
            (Ok(callbacks), Ok(data)) => (callbacks, data),
            (Err(status), _) | (_, Err(status)) => return status,
        };
        let (spent, status) = read(open, data, callbacks, user);
        tell(consumed, spent);
        status
    }
}

/// Says that the stream ended. May call `cbs` (a last event without its blank line, half a character) and so may stop:
/// call again until the answer is not above 0. Then `deltawire_end_of` has the verdict. Bytes that were never given count as
/// cut off. Once it has answered OK it answers OK again. Answers as `deltawire_feed`.
#[no_mangle]
#[allow(clippy::missing_safety_doc)] // The header is the manual.
pub unsafe extern "C" fn deltawire_finish(
    p: *mut deltawire_parser,
    cbs: *const deltawire_callbacks,
    user: *mut c_void,
) -> deltawire_status {
    // SAFETY: what the pointers are, the caller promises.
    unsafe {
        let open = match enter(p) {
            Ok(open) => open,
            Err(status) => return status,
        };
        match callbacks(cbs) {
            Ok(callbacks) => finish(open, callbacks, user),
            Err(status) => status,
        }
    }
}

/// What a parser may read now: what was given, or what was committed.
pub(crate) enum Input<'d> {
    Given(&'d [u8]),
    /// In the block, this far from its beginning.
    Committed(&'d [u8], usize),
}

/// Which input a call is about.
pub(crate) fn input<'d>(
    core: &Core,
    area: &'d [u8],
    area_at: usize,
    data: &'d [u8],
) -> Result<Input<'d>, deltawire_status> {
    if core.sticky != DELTAWIRE_OK {
        return Err(core.sticky);
    }
    if core.phase != Phase::Reading {
        return Err(DELTAWIRE_E_STATE);
    }
    let unspent = area.get(core.spent..core.committed).unwrap_or_default();
    if unspent.is_empty() {
        return Ok(Input::Given(data));
    }
    if !data.is_empty() {
        return Err(DELTAWIRE_E_STATE);
    }
    Ok(Input::Committed(unspent, area_at.saturating_add(core.spent)))
}

fn read(
    mut open: Open<'_>,
    data: &[u8],
    callbacks: deltawire_callbacks,
    user: *mut c_void,
) -> (usize, deltawire_status) {
    let area_at = open.area_at();
    let (core, mut store, area) = open.movable();
    let (input, committed) = match input(core, area, area_at, data) {
        Ok(Input::Given(data)) => (data, false),
        Ok(Input::Committed(data, _)) => (data, true),
        Err(status) => return (0, status),
    };
    let (spent, status) = turn(core, &mut store, input, callbacks, user);
    over(core, status, !data.is_empty());
    if !committed {
        return (spent, status);
    }
    core.spent = core.spent.saturating_add(spent);
    (0, status)
}

/// After a call that was no misuse: what an earlier one asked for is void, and so is a reservation once other bytes came.
pub(crate) fn over(core: &mut Core, status: deltawire_status, given: bool) {
    if (DELTAWIRE_E_RESUME..DELTAWIRE_OK).contains(&status) {
        return;
    }
    if status != DELTAWIRE_NEED_STORAGE {
        core.need = 0;
    }
    core.reserved &= !given;
}

/// Reads until the input is spent or something stops.
fn turn(
    core: &mut Core,
    store: &mut Movable<'_>,
    data: &[u8],
    callbacks: deltawire_callbacks,
    user: *mut c_void,
) -> (usize, deltawire_status) {
    if core.batch.is_pending() {
        // A batch left an event half told: only a batch can go on.
        return (0, DELTAWIRE_E_STATE);
    }
    let mut calls = Calls::new(&callbacks, user, *core.batch.frames());
    let turned = match silence(core, &mut calls) {
        Some(status) => (0, status),
        None => events(core, store, data, &mut calls),
    };
    *core.batch.frames() = calls.frames;
    turned
}

/// Reads event by event until the input is spent or something stops.
fn events(core: &mut Core, store: &mut Movable<'_>, data: &[u8], calls: &mut Calls<'_>) -> (usize, deltawire_status) {
    let mut spent = 0;
    loop {
        let given = data.get(spent..).unwrap_or_default();
        let (found, consumed) = if core.again.is_some() {
            match again(core, given) {
                Some(again) => again,
                None => return (spent, DELTAWIRE_E_RESUME),
            }
        } else {
            match core.machine.try_step(store, given) {
                // Looked at where it is returned: an enum that is moved is written and read in words of different sizes.
                Ok(Step { consumed, found: Found::Chunk(span) }) => {
                    match one(core, store, given, Found::Chunk(span), calls) {
                        One::Go => spent = spent.saturating_add(consumed),
                        over => return halt(core, over, Found::Chunk(span), spent, consumed),
                    }
                    continue;
                }
                Ok(step) => (step.found, step.consumed),
                Err(need) => return (spent, need_storage(core, need)),
            }
        };
        match other(core, store, given, found, calls) {
            One::Go => spent = spent.saturating_add(consumed),
            over => return halt(core, over, found, spent, consumed),
        }
        if found == Found::NeedMore && spent >= data.len() {
            return (spent, DELTAWIRE_OK);
        }
    }
}

/// The event that a callback wants to be given again, if its bytes are given again.
#[inline(never)]
fn again(core: &mut Core, given: &[u8]) -> Option<(Found, usize)> {
    let (found, consumed) = core.again.take()?;
    if consumed > given.len() {
        core.again = Some((found, consumed));
        return None;
    }
    Some((found, consumed))
}

/// Something stopped: how many bytes are spent, and the status.
#[inline(never)]
fn halt(core: &mut Core, over: One, found: Found, spent: usize, consumed: usize) -> (usize, deltawire_status) {
    match over {
        One::Again => {
            // What lies in the storage, or in nothing, is spent already.
            let kept = if core.machine.is_borrowed(found, Place::Input) { consumed } else { 0 };
            core.again = Some((found, kept));
            (spent.saturating_add(consumed.saturating_sub(kept)), DELTAWIRE_PAUSED)
        }
        One::Go => (spent.saturating_add(consumed), DELTAWIRE_OK),
        One::Stop(status) => (spent.saturating_add(consumed), status),
    }
}

/// A frame that a batch found no room for. Gives a status if the call is over.
fn silence(core: &mut Core, calls: &mut Calls<'_>) -> Option<deltawire_status> {
    let frame = calls.frames.before(&core.machine)?;
    calls.frame(Some(frame));
    match conclude(core, calls, None, frame.start) {
        One::Stop(status) => Some(status),
        One::Go | One::Again => None,
    }
}

/// What telling one thing came to.
enum One {
    Go,
    Again,
    Stop(deltawire_status),
}

/// Where what was found last lay. A call, so that the two words come in registers: read as one pair they would wait for
/// the two stores that a step has just made.
#[inline(never)]
fn frame_of(machine: &Machine) -> (u64, u64) {
    machine.index_frame()
}

/// [`one`] of what is seldom a chunk.
#[inline(never)]
fn other(core: &mut Core, store: &mut Movable<'_>, given: &[u8], found: Found, calls: &mut Calls<'_>) -> One {
    one(core, store, given, found, calls)
}

/// Tells of what was found.
#[inline(always)]
fn one(core: &mut Core, store: &mut Movable<'_>, given: &[u8], found: Found, calls: &mut Calls<'_>) -> One {
    let frame_at = frame_of(&core.machine);
    let silent = calls.frames.before(&core.machine);
    let mut stop = None;
    let mut go = calls.frame(silent);
    if found != Found::NeedMore {
        calls.go_to(frame_at);
        if go && calls.wants_head() {
            let code = match core.machine.event(store, given, found) {
                Ok(Some(event)) => calls.head(&event),
                _ => DELTAWIRE_GO_ON,
            };
            if code == DELTAWIRE_AGAIN {
                return One::Again;
            }
            go = calls.take(code);
        }
        if go {
            stop = core.machine.tell(store, &mut core.tracker, given, found, calls);
            // Nothing was said of an event that is an error: no frame either, as in a batch.
            if calls.code.is_none() && !matches!(found, Found::Error(_)) {
                let over = calls.frames.after(&core.machine, found);
                calls.frame(over);
            }
        }
    }
    conclude(core, calls, stop, frame_at.0)
}

/// Keeps what was learned, and gives the status that callbacks and parser come to. Who calls keeps the frames.
#[inline(always)]
fn conclude(core: &mut Core, calls: &mut Calls<'_>, stop: Option<Stop>, offset: u64) -> One {
    if stop.is_none() && calls.is_quiet() {
        return One::Go;
    }
    conclude_all(core, calls, stop, offset)
}

#[inline(never)]
fn conclude_all(core: &mut Core, calls: &mut Calls<'_>, stop: Option<Stop>, offset: u64) -> One {
    if core::mem::take(&mut calls.left_out) {
        core.batch.note_left_out();
    }
    if let Some(usage) = calls.usage.take() {
        core.batch.set_usage(usage);
    }
    if let Some(code) = calls.code {
        let status = if code < 0 { DELTAWIRE_E_ABORTED } else { DELTAWIRE_E_CALLBACK };
        (core.sticky, core.user_code, core.error_offset) = (status, code, offset);
        return One::Stop(status);
    }
    if let Some(Stop::Error(Error::Quirk { quirk, offset })) = stop {
        return One::Stop(strict(core, quirk as u32, offset));
    }
    if calls.paused {
        One::Stop(DELTAWIRE_PAUSED)
    } else {
        One::Go
    }
}

/// A quirk that is an error.
pub(crate) fn strict(core: &mut Core, quirk: u32, offset: u64) -> deltawire_status {
    (core.sticky, core.error_quirk, core.error_offset) = (DELTAWIRE_E_STRICT, quirk, offset);
    DELTAWIRE_E_STRICT
}

/// The block is too small.
pub(crate) fn need_storage(core: &mut Core, need: NeedStorage) -> deltawire_status {
    core.need = crate::block::size_for(need.len, core.read_len);
    DELTAWIRE_NEED_STORAGE
}

/// The end of the stream, as far as a call gets.
fn finish(mut open: Open<'_>, callbacks: deltawire_callbacks, user: *mut c_void) -> deltawire_status {
    let (core, mut store, _) = open.movable();
    if core.sticky != DELTAWIRE_OK {
        return core.sticky;
    }
    if core.phase == Phase::Ended {
        return DELTAWIRE_OK;
    }
    if core.spent < core.committed || core.batch.is_pending() {
        return DELTAWIRE_E_STATE;
    }
    let mut calls = Calls::new(&callbacks, user, *core.batch.frames());
    let status = match silence(core, &mut calls) {
        Some(status) => status,
        None => last_events(core, &mut store, &mut calls),
    };
    *core.batch.frames() = calls.frames;
    status
}

/// What the end of the stream brings to light.
fn last_events(core: &mut Core, store: &mut Movable<'_>, calls: &mut Calls<'_>) -> deltawire_status {
    loop {
        let found = match core.again.take() {
            // Bytes of the input that were not given again.
            Some((found, consumed)) if consumed > 0 => {
                core.again = Some((found, consumed));
                return DELTAWIRE_E_RESUME;
            }
            Some((found, _)) => found,
            None => {
                core.phase = Phase::Ending;
                match core.machine.try_finish(store) {
                    Ok(found) => found,
                    Err(need) => return need_storage(core, need),
                }
            }
        };
        match other(core, store, &[], found, calls) {
            One::Again => {
                core.again = Some((found, 0));
                return DELTAWIRE_PAUSED;
            }
            One::Stop(status) => return status,
            One::Go if found == Found::NeedMore => break,
            One::Go => {}
        }
    }
    core.phase = Phase::Ended;
    let offset = core.machine.offset();
    calls.go_to((offset, offset));
    let stop = core.machine.tell_rest(&mut core.tracker, calls);
    if calls.code.is_none() {
        let rest = calls.frames.rest(&core.machine);
        calls.frame(rest);
    }
    match conclude(core, calls, stop, offset) {
        One::Stop(status) => status,
        One::Go | One::Again => DELTAWIRE_OK,
    }
}
