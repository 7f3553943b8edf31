//! Reads a stream into a message: a feed or a batch, whose deltas the message takes first.

use super::{enter, look, size_for};
use crate::batch::{batch, finish_batch, BatchMemory};
use crate::beside::Keeper;
use crate::block::BlockMachine;
use crate::feed::{feed, finish_feed};
use crate::types::*;
use crate::workspace::{enter_workspace, MachineSource, Own};
use core::ffi::c_void;
use deltawire::delta::{Delta, Kind, Meta};
use deltawire::message::LogSink;
use deltawire::stream::{Context, Emitter, Machine, Put, Sink};

/// The members that come among the deltas of a choice, even if the target does not want members.
const METAS: [u32; 4] =
    [Meta::NativeFinishReason as u32, Meta::ReasoningName as u32, Meta::CallMember as u32, Meta::FunctionMember as u32];

/// A message that a call fills. The call enters it anew for each delta, so that a callback may read it.
struct Filled<'c> {
    m: *mut deltawire_message,
    /// Whether the call stopped because the message is full.
    is_full: &'c mut bool,
}

impl Keeper for Filled<'_> {
    fn wants(&self, kind: Kind) -> bool {
        Kind::MESSAGE & !Kind::Meta.bit() & kind.bit() != 0
    }

    fn take(&mut self, context: &Context<'_>, delta: &Delta) -> bool {
        // The log reads the other members from the chunks, whether the target wants them or not.
        let is_needed = self.wants(delta.kind) || delta.kind == Kind::Meta && METAS.contains(&delta.code);
        if !is_needed {
            return true;
        }
        // SAFETY: a block, as the caller of the function promises, which nothing else borrows now.
        let Ok((state, buffer)) = (unsafe { enter(self.m) }) else { return true };
        let mut sink = LogSink::new(&mut state.log, buffer);
        let is_full = matches!(sink.put(context, delta, &mut 0), Put::Full);
        let need = sink.need();
        state.need = if is_full { size_for(state.words as usize, need) } else { 0 };
        (state.full, *self.is_full) = (is_full, is_full);
        !is_full
    }
}

/// Where a call gets its machine from, with the message that it fills.
struct Filling<'c, W> {
    source: W,
    message: Filled<'c>,
}

impl<W: MachineSource> MachineSource for Filling<'_, W> {
    const SHARES: bool = W::SHARES;

    type Held<'k> = W::Held<'k>;

    fn machine(machine: BlockMachine<'_>) -> Option<W::Held<'_>> {
        W::machine(machine)
    }

    fn run<R>(
        &mut self,
        machine: W::Held<'_>,
        emitter: &mut Emitter,
        window: &[u8],
        run: impl FnOnce(&mut Emitter, &mut Machine, Option<&mut dyn Keeper>) -> R,
    ) -> R {
        let Filling { source, message } = self;
        source.run(machine, emitter, window, |emitter, machine, _| run(emitter, machine, Some(message)))
    }
}

/// Makes a call that fills the message `m`, with the workspace `w`, or without one if that is NULL. The call is given its
/// source, and may answer that the message is full.
macro_rules! fill {
    ($m:ident, $w:ident, |$source:ident| $call:expr) => {{
        let mut is_full = false;
        let message = enter($m).map(|_| Filled { m: $m, is_full: &mut is_full });
        let status = if $w.is_null() {
            let $source = message.map(|message| Filling { source: Own, message });
            $call
        } else {
            let $source = message.and_then(|message| Ok(Filling { source: enter_workspace($w)?, message }));
            $call
        };
        if is_full && status > DELTAWIRE_OK {
            return DELTAWIRE_NEED_STORAGE;
        }
        status
    }};
}

/// Reads as `deltawire_feed` does, and adds what is read to the message. `w` may be NULL unless the
/// parser has `DELTAWIRE_CFG_SHARED`; `cbs` may be NULL. The message takes each event before a
/// callback does.
///
/// NEED_STORAGE: the block of the message is too small if `deltawire_message_is_full` returns 1,
/// otherwise that of the parser. Enlarge it (`deltawire_message_need`, `deltawire_need`), and call
/// again with the bytes from `consumed` on. Begin both together: `deltawire_reset` and
/// `deltawire_message_reset`. After AGAIN, go on with this function and this message: the message
/// may have the delta that the target has not. The message leaves out what is beyond a limit
/// (`deltawire_message_limit`). Answers as `deltawire_feed_with` and, for `m`, E_NULL, E_ALIGN,
/// E_STATE.
#[no_mangle]
pub unsafe extern "C" fn deltawire_message_feed(
    m: *mut deltawire_message,
    p: *mut deltawire_parser,
    w: *mut deltawire_workspace,
    data: *const c_void,
    len: usize,
    cbs: *const deltawire_callbacks,
    user: *mut c_void,
    consumed: *mut usize,
) -> deltawire_status {
    // SAFETY: the caller promises valid pointers.
    unsafe { fill!(m, w, |source| feed(source, p, data, len, cbs, user, consumed)) }
}

/// Ends the stream as `deltawire_finish` does, and adds its last events to the message. Answers as
/// `deltawire_message_feed`, NEED_STORAGE only for the message.
#[no_mangle]
pub unsafe extern "C" fn deltawire_message_finish(
    m: *mut deltawire_message,
    p: *mut deltawire_parser,
    w: *mut deltawire_workspace,
    cbs: *const deltawire_callbacks,
    user: *mut c_void,
) -> deltawire_status {
    // SAFETY: the caller promises valid pointers.
    unsafe { fill!(m, w, |source| finish_feed(source, p, cbs, user)) }
}

/// Reads as `deltawire_batch` does, and adds what is read to the message, whichever kinds the array
/// has (`events` of the config). `w` may be NULL unless the parser has `DELTAWIRE_CFG_SHARED`.
/// NEED_STORAGE is as in `deltawire_message_feed`: process the events first. Answers as
/// `deltawire_batch_with` and, for `m`, E_NULL, E_ALIGN, E_STATE.
#[no_mangle]
#[allow(clippy::too_many_arguments)] // Those of `deltawire_batch`, the message and the workspace.
pub unsafe extern "C" fn deltawire_message_batch(
    m: *mut deltawire_message,
    p: *mut deltawire_parser,
    w: *mut deltawire_workspace,
    data: *const c_void,
    len: usize,
    events: *mut deltawire_event,
    cap: usize,
    scratch: *mut c_void,
    scratch_len: usize,
    out: *mut deltawire_batch_result,
) -> deltawire_status {
    // SAFETY: the caller promises valid pointers.
    unsafe { fill!(m, w, |source| batch(source, p, data, len, events, cap, scratch, scratch_len, out)) }
}

/// Ends the stream as `deltawire_batch_finish` does, and adds its last events to the message.
/// Answers as `deltawire_message_batch`, NEED_STORAGE only for the message.
#[no_mangle]
pub unsafe extern "C" fn deltawire_message_batch_finish(
    m: *mut deltawire_message,
    p: *mut deltawire_parser,
    w: *mut deltawire_workspace,
    events: *mut deltawire_event,
    cap: usize,
    scratch: *mut c_void,
    scratch_len: usize,
    out: *mut deltawire_batch_result,
) -> deltawire_status {
    // SAFETY: the caller promises valid pointers.
    unsafe { fill!(m, w, |source| finish_batch(source, p, BatchMemory { events, cap, scratch, scratch_len }, out)) }
}

/// Returns 1 if the last event did not fit into the block of the message; 0 if it did, or if `m` is
/// not an assembler.
#[no_mangle]
pub unsafe extern "C" fn deltawire_message_is_full(m: *const deltawire_message) -> u32 {
    // SAFETY: a block, as the caller promises.
    unsafe { look(m) }.map_or(0, |(state, _)| u32::from(state.full))
}
