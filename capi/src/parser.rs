//! Makes, resets, moves and resizes parsers.

use crate::block::{self, fits, look, overlap, BlockRoom, Core, Phase, ReadBlock};
use crate::convert::{put_out, sized};
use crate::types::*;
use core::ffi::c_void;
use deltawire::delta::Kind;
use deltawire::stream::{Emitter, Payload, Protocol};
use deltawire::track::TrackerState;
use deltawire::{Config, Framing, Limits, Quirk, QuirkSet, Validate};

/// The version of the library: major * 1000000 + minor * 1000 + patch. `DELTAWIRE_VERSION` is that
/// of the header.
#[no_mangle]
pub extern "C" fn deltawire_version() -> u32 {
    const VERSION: [u32; 3] = [0, 1, 0];
    let [major, minor, patch] = VERSION;
    major * 1_000_000 + minor * 1_000 + patch
}

/// The number of the binary interface of the library. A program runs only with a library whose
/// number equals its own `DELTAWIRE_ABI`.
#[no_mangle]
pub extern "C" fn deltawire_abi() -> u32 {
    1
}

/// The size of a block, in bytes, for a parser with this config that can keep `event_bytes` of a cut
/// event; `read_len` of the config is included. `cfg` may be NULL: every member then has its
/// default, and the size is at most `DELTAWIRE_BLOCK_SIZE(event_bytes)`. Returns 0 if no block is
/// that large, or if `deltawire_init` would answer E_CONFIG.
#[no_mangle]
pub unsafe extern "C" fn deltawire_block_size(cfg: *const deltawire_config, event_bytes: usize) -> usize {
    // SAFETY: the caller promises a valid pointer.
    let Ok((core, _)) = (unsafe { config_of(cfg) }).and_then(|config| core_of(&config)) else { return 0 };
    let size = core.size_for(event_bytes);
    if size <= isize::MAX as usize {
        size
    } else {
        0
    }
}

/// Returns the config that C gave. NULL selects all defaults.
///
/// # Safety
/// `cfg` is NULL, or begins with its size and is as long.
pub(crate) unsafe fn config_of(cfg: *const deltawire_config) -> Result<deltawire_config, deltawire_status> {
    if cfg.is_null() {
        return Ok(deltawire_config::default());
    }
    // SAFETY: as the caller promises. Any bytes are a valid config struct.
    unsafe { sized(cfg, core::ptr::addr_of!((*cfg).size).read() as usize) }
}

/// Converts the config of C to that of the machine, and makes the core of the block.
fn core_of(config: &deltawire_config) -> Result<(Core, Config), deltawire_status> {
    const FLAGS: u32 = DELTAWIRE_CFG_GROW
        | DELTAWIRE_CFG_SPEC
        | DELTAWIRE_CFG_STRICT_JSON
        | DELTAWIRE_CFG_SHARED
        | DELTAWIRE_CFG_SNAPSHOTS;
    if config.mode > DELTAWIRE_MODE_USAGE || config.flags & !FLAGS != 0 {
        return Err(DELTAWIRE_E_CONFIG);
    }
    let or = |given: u32, default: u32| if given == 0 { default } else { given };
    let default = Limits::DEFAULT;
    let lengths = [config.max_event_len, config.max_id_len, config.read_len];
    if lengths.iter().any(|len| *len > i32::MAX as u32) {
        return Err(DELTAWIRE_E_CONFIG);
    }
    let limits = default
        .with_max_event_len(or(config.max_event_len, default.max_event_len()))
        .with_max_id_len(or(config.max_id_len, default.max_id_len()));
    let limits = limits.with_max_depth(or(config.max_depth, default.max_depth())).ok_or(DELTAWIRE_E_CONFIG)?;
    let room = BlockRoom::of(config)?;
    let protocol = Protocol::from_number(config.protocol).filter(|protocol| protocol.is_read());
    if config.protocol != DELTAWIRE_PROTOCOL_NONE && protocol.is_none() {
        return Err(DELTAWIRE_E_CONFIG);
    }
    let [low, high] = config.errors;
    let is_error = |quirk: &Quirk| {
        let number = *quirk as u32;
        (if number < 64 { low } else { high }) >> (number & 63) & 1 != 0
    };
    let has = |flag: u32| config.flags & flag != 0;
    let machine = Config::new()
        .with_limits(limits)
        .with_framing(if has(DELTAWIRE_CFG_SPEC) { Framing::Spec } else { Framing::Lenient })
        .with_validate(if has(DELTAWIRE_CFG_STRICT_JSON) { Validate::Strict } else { Validate::Lazy })
        .with_snapshots(has(DELTAWIRE_CFG_SNAPSHOTS))
        .with_payload(match config.mode {
            DELTAWIRE_MODE_SSE => Payload::Opaque,
            _ => Payload::Chunks,
        })
        .with_errors(match config.errors {
            [u64::MAX, u64::MAX] => QuirkSet::ALL,
            _ => Quirk::ALL.iter().copied().filter(is_error).collect(),
        })
        .with_protocol(protocol);
    let core = Core {
        shares: has(DELTAWIRE_CFG_SHARED),
        meters: config.mode == DELTAWIRE_MODE_USAGE,
        tracker: TrackerState::default(),
        room,
        emitter: Emitter::new(),
        left_by: DELTAWIRE_OK,
        phase: Phase::Reading,
        sticky: DELTAWIRE_OK,
        user_code: 0,
        error_quirk: DELTAWIRE_QUIRKS,
        error_offset: 0,
        can_move: has(DELTAWIRE_CFG_GROW),
        events: if config.events == 0 { Kind::DEFAULT } else { config.events },
        is_kept: false,
        read_len: (config.read_len as usize).next_multiple_of(DELTAWIRE_ALIGN),
        committed: 0,
        spent: 0,
        reserved: false,
        need: 0,
    };
    Ok((core, machine))
}

/// Makes a parser in the block `mem` of `mem_len` bytes. `cfg` may be NULL: every member then has
/// its default. `*out`, unless `out` is NULL, becomes `(deltawire_parser *)mem`. The function
/// overwrites the block: do not call it on a parser in use.
///
/// Answers OK, E_NULL, E_ALIGN, E_SMALL (less than `deltawire_block_size(cfg, 0)`, or, without
/// `DELTAWIRE_CFG_GROW`, no room for any event), E_RANGE (beyond any memory; with `read_len`, 4 GiB
/// or more), E_CONFIG. On failure nothing is written.
#[no_mangle]
pub unsafe extern "C" fn deltawire_init(
    mem: *mut c_void,
    mem_len: usize,
    cfg: *const deltawire_config,
    out: *mut *mut deltawire_parser,
) -> deltawire_status {
    if mem.is_null() {
        return DELTAWIRE_E_NULL;
    }
    // SAFETY: the caller's struct begins with its size, and is that long.
    let config = ok!(unsafe { config_of(cfg) });
    // The address is checked before the config is used, so that the answer about the address does not depend on the
    // config.
    ok!(fits(mem as usize, mem_len, 0));
    let (core, machine) = ok!(core_of(&config));
    ok!(fits(mem as usize, mem_len, core.least()));
    ok!(reachable(mem_len, core.read_len));
    // SAFETY: `mem` is writable for `mem_len` bytes, as the caller promises; the rest was checked.
    unsafe {
        block::write(mem.cast(), mem_len, core, machine);
        put_out(out, mem.cast());
    }
    DELTAWIRE_OK
}

/// Begins a new stream with the same config. Takes time in proportion to the state and the tables,
/// not to the event buffer. Answers OK, E_NULL, E_ALIGN, E_STATE, E_REENTRANT.
#[no_mangle]
pub unsafe extern "C" fn deltawire_reset(p: *mut deltawire_parser) -> deltawire_status {
    // SAFETY: a block, as the caller promises.
    let mut open = ok!(unsafe { block::enter(p) });
    open.reset();
    let core = &mut *open.core;
    core.emitter = Emitter::new();
    core.is_kept = false;
    core.phase = Phase::Reading;
    core.sticky = DELTAWIRE_OK;
    core.user_code = 0;
    core.error_quirk = DELTAWIRE_QUIRKS;
    core.error_offset = 0;
    (core.committed, core.spent, core.reserved, core.need) = (0, 0, false, 0);
    DELTAWIRE_OK
}

/// Checks that 32-bit offsets reach all of a block with a read area, because in direct reading they
/// count from its first byte.
fn reachable(mem_len: usize, read_len: usize) -> Result<(), deltawire_status> {
    if read_len > 0 && u32::try_from(mem_len).is_err() {
        return Err(DELTAWIRE_E_RANGE);
    }
    Ok(())
}

/// Moves the parser `src` to the block `mem`. The block may be larger or smaller, if what `src`
/// retains fits (`deltawire_need`). `*out`, unless `out` is NULL, becomes `(deltawire_parser *)mem`.
/// `src` is unchanged, and may be freed.
///
/// A reservation for direct reading ends. Answers OK, E_NULL, E_ALIGN, E_STATE, E_REENTRANT,
/// E_SMALL, E_RANGE (the blocks overlap; beyond any memory; with `read_len`, 4 GiB or more). On
/// failure nothing is written.
#[no_mangle]
pub unsafe extern "C" fn deltawire_move(
    mem: *mut c_void,
    mem_len: usize,
    src: *const deltawire_parser,
    out: *mut *mut deltawire_parser,
) -> deltawire_status {
    if mem.is_null() {
        return DELTAWIRE_E_NULL;
    }
    // SAFETY: a block that nothing changes during the call, as the caller promises.
    let ReadBlock { core: from, stream, storage, area, .. } = ok!(unsafe { look(src) });
    ok!(fits(mem as usize, mem_len, from.least()));
    ok!(reachable(mem_len, from.read_len));
    let from_len = from.size_for(0).saturating_add(storage.len());
    if overlap(mem as usize, mem_len, src as usize, from_len) {
        return DELTAWIRE_E_RANGE;
    }
    let unspent = area.get(from.spent..from.committed).unwrap_or_default();
    let room = mem_len.saturating_sub(from.size_for(0));
    let is_pending = from.emitter.is_pending();
    if stream.retained(storage, is_pending) > room {
        return DELTAWIRE_E_SMALL;
    }
    // SAFETY: `mem` is writable for `mem_len` bytes, as the caller promises, and does not overlap `src`.
    unsafe {
        block::copy(src.cast(), mem.cast(), from.head(), mem_len);
        let mut to = ok!(block::enter(mem.cast()));
        to.machine.relocate(storage, to.storage, is_pending);
        if let Some(area) = to.area.get_mut(..unspent.len()) {
            area.copy_from_slice(unspent);
        }
        (to.core.spent, to.core.committed, to.core.need) = (0, unspent.len(), 0);
        to.core.reserved = false;
        put_out(out, mem.cast());
    }
    DELTAWIRE_OK
}

/// Tells the parser that its block has `mem_len` bytes now. Call this after `realloc` enlarged the
/// block, which may also have moved it, or before `realloc` shrinks it. It acts
/// as `deltawire_move` does, within the same block.
///
/// Answers OK, E_NULL, E_ALIGN, E_STATE, E_REENTRANT, E_SMALL, E_RANGE (beyond any memory; with
/// `read_len`, 4 GiB or more). On failure nothing is changed.
#[no_mangle]
pub unsafe extern "C" fn deltawire_resize(p: *mut deltawire_parser, mem_len: usize) -> deltawire_status {
    // SAFETY: a block that has both lengths, as the caller promises.
    unsafe {
        let ReadBlock { core, .. } = ok!(look(p));
        ok!(reachable(mem_len, core.read_len));
        ok!(block::resize(p, mem_len));
    }
    DELTAWIRE_OK
}

/// The size of the block that the parser needs, in bytes. After NEED_STORAGE that is the size to
/// move to; otherwise it is the smallest size that holds what the parser retains. Returns 0 if `p`
/// is not a parser.
#[no_mangle]
pub unsafe extern "C" fn deltawire_need(p: *const deltawire_parser) -> usize {
    // SAFETY: a block that nothing changes during the call, as the caller promises.
    let Ok(ReadBlock { core, stream, storage, .. }) = (unsafe { look(p) }) else { return 0 };
    let retained = stream.retained(storage, core.emitter.is_pending());
    core.need.max(core.size_for(retained)).max(core.least())
}
