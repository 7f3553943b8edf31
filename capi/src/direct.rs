//! Direct reading: bytes are written into the block itself.

use crate::block::{enter, Phase};
use crate::types::*;

/// Direct reading: the caller reads into the block itself, and so needs no buffer of its own.
/// Returns where to put the next bytes, as an offset from the first byte of the block, and how many
/// fit: `read_len` of the config, rounded up to a multiple of 8. Answers OK, E_NULL, E_ALIGN,
/// E_REENTRANT, E_STATE (no `read_len`; committed bytes are not consumed; an event is pending; the
/// parser expects bytes again; or after `deltawire_finish`), E_ABORTED, E_CALLBACK, E_STRICT (after
/// a call that answered so).
#[no_mangle]
pub unsafe extern "C" fn deltawire_reserve(
    p: *mut deltawire_parser,
    off: *mut usize,
    len: *mut usize,
) -> deltawire_status {
    if off.is_null() || len.is_null() {
        return DELTAWIRE_E_NULL;
    }
    // SAFETY: a block, as the caller promises.
    let open = ok!(unsafe { enter(p) });
    let at = open.area_at();
    let core = &mut *open.core;
    let pending = core.spent < core.committed || core.emitter.is_pending() || core.emitter.expects_again();
    if core.sticky != DELTAWIRE_OK {
        return core.sticky;
    }
    if open.area.is_empty() || pending || core.phase != Phase::Reading {
        return DELTAWIRE_E_STATE;
    }
    (core.committed, core.spent, core.reserved) = (0, 0, true);
    // SAFETY: writable, as the caller promises.
    unsafe {
        off.write(at);
        len.write(open.area.len());
    }
    DELTAWIRE_OK
}

/// Direct reading: tells the parser that `n` bytes were written to the place that
/// `deltawire_reserve` returned. Then call `deltawire_feed` or `deltawire_batch` with NULL and 0
/// until the answer is OK. Answers OK, E_NULL, E_ALIGN, E_REENTRANT, E_STATE (nothing is reserved,
/// or a call was given other bytes since), E_RANGE (`n` is more than was reserved), E_ABORTED,
/// E_CALLBACK, E_STRICT (after a call that answered so).
#[no_mangle]
pub unsafe extern "C" fn deltawire_commit(p: *mut deltawire_parser, n: usize) -> deltawire_status {
    // SAFETY: a block, as the caller promises.
    let open = ok!(unsafe { enter(p) });
    let core = &mut *open.core;
    if core.sticky != DELTAWIRE_OK {
        return core.sticky;
    }
    if !core.reserved || core.phase != Phase::Reading || core.emitter.is_pending() {
        return DELTAWIRE_E_STATE;
    }
    if n > open.area.len() {
        return DELTAWIRE_E_RANGE;
    }
    (core.committed, core.spent, core.reserved) = (n, 0, false);
    DELTAWIRE_OK
}
