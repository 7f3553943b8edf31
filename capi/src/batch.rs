//! Batch: bytes in, an array of events out.

use crate::block::{append, enter};
use crate::convert::{aligned, buffer, bytes, give};
use crate::feed::{finish, read, Target};
use crate::types::*;
use crate::workspace::{enter_workspace, MachineSource, Own};
use core::ffi::c_void;
use core::mem::{align_of, offset_of, size_of};
use deltawire::stream::{Record, Records};

const _: () = {
    assert!(size_of::<Record>() == size_of::<deltawire_event>());
    assert!(align_of::<Record>() == align_of::<deltawire_event>());
    assert!(offset_of!(Record, code) == offset_of!(deltawire_event, code));
    assert!(offset_of!(Record, number) == offset_of!(deltawire_event, number));
    assert!(offset_of!(Record, text_off) == offset_of!(deltawire_event, text_off));
    assert!(offset_of!(Record, extra_len) == offset_of!(deltawire_event, extra_len));
    assert!(offset_of!(Record, end) == offset_of!(deltawire_event, end));
};

impl Target for Records<'_> {
    const FULL: deltawire_status = DELTAWIRE_MORE;
}

/// The memory that C gave for events and their texts.
#[derive(Clone, Copy)]
pub(crate) struct BatchMemory {
    pub(crate) events: *mut deltawire_event,
    pub(crate) cap: usize,
    pub(crate) scratch: *mut c_void,
    pub(crate) scratch_len: usize,
}

impl BatchMemory {
    /// Checks that this memory can take a batch.
    #[inline(always)]
    fn check(self) -> Result<(), deltawire_status> {
        if self.events.is_null() || self.scratch.is_null() {
            return Err(DELTAWIRE_E_NULL);
        }
        if self.cap == 0 || self.scratch_len < DELTAWIRE_SCRATCH_MIN {
            return Err(DELTAWIRE_E_SMALL);
        }
        aligned::<Record>(self.events.cast())?;
        if self.cap > isize::MAX as usize / size_of::<Record>() || self.scratch_len > isize::MAX as usize {
            return Err(DELTAWIRE_E_RANGE);
        }
        Ok(())
    }

    /// Returns the sink that writes a batch to this memory.
    ///
    /// # Safety
    /// `events` is writable for `cap` events, `scratch` for `scratch_len` bytes.
    unsafe fn records<'s>(self, kinds: u64) -> Result<Records<'s>, deltawire_status> {
        self.check()?;
        // Offsets and lengths of a batch have 32 bits.
        let cap = self.cap.min(i32::MAX as usize / size_of::<Record>());
        // SAFETY: as the caller promises; an event has the layout of a record, as asserted above.
        unsafe {
            let records = core::slice::from_raw_parts_mut(self.events.cast::<Record>(), cap);
            let scratch = buffer(self.scratch, self.scratch_len.min(i32::MAX as usize))?;
            Ok(Records::new(records, scratch, kinds))
        }
    }
}

/// Reads `len` bytes and writes the events in them to `events`, at most `cap`. A text that needs no
/// decoding stays in `data`; other texts are decoded to `scratch`.
///
/// MORE: the array or the scratch is full, or `len` is above 2^31 - 1, the most that one call reads.
/// Process the events and call again with the bytes from `out->consumed` on; more bytes may follow
/// them. If the scratch is short, content, reasoning, refusals, arguments, signatures, JSON and
/// bytes come in pieces. All other texts (IDs, names, types, roles, finish reasons) are never split:
/// `out->scratch_need` is the scratch that they need.
///
/// Answers OK, MORE, NEED_STORAGE, E_NULL, E_ALIGN, E_STATE (also after `deltawire_finish`, and
/// while an event of a feed is pending), E_REENTRANT, E_SMALL (`cap` 0, or `scratch_len` below
/// `DELTAWIRE_SCRATCH_MIN`), E_RANGE (a length is beyond any memory), E_RESUME, E_STRICT (the events
/// before the error are written), E_ABORTED and E_CALLBACK (after a feed that answered so).
#[no_mangle]
pub unsafe extern "C" fn deltawire_batch(
    p: *mut deltawire_parser,
    data: *const c_void,
    len: usize,
    events: *mut deltawire_event,
    cap: usize,
    scratch: *mut c_void,
    scratch_len: usize,
    out: *mut deltawire_batch_result,
) -> deltawire_status {
    // SAFETY: the caller promises valid pointers.
    unsafe { batch(Ok(Own), p, data, len, events, cap, scratch, scratch_len, out) }
}

/// `deltawire_batch` for a parser with `DELTAWIRE_CFG_SHARED`, which reads with the memory of `w`.
/// Each call may take another workspace. Answers as `deltawire_batch` and, for `w`, as
/// `deltawire_feed_with`.
#[no_mangle]
#[allow(clippy::too_many_arguments)] // Those of `deltawire_batch`, and the workspace.
pub unsafe extern "C" fn deltawire_batch_with(
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
    unsafe { batch(enter_workspace(w), p, data, len, events, cap, scratch, scratch_len, out) }
}

/// Does what [`deltawire_batch`] does, with the machine from this source.
///
/// # Safety
/// As for C.
#[allow(clippy::too_many_arguments)] // Those of the C function, and the source.
pub(crate) unsafe fn batch<W: MachineSource>(
    source: Result<W, deltawire_status>,
    p: *mut deltawire_parser,
    data: *const c_void,
    len: usize,
    events: *mut deltawire_event,
    cap: usize,
    scratch: *mut c_void,
    scratch_len: usize,
    out: *mut deltawire_batch_result,
) -> deltawire_status {
    // SAFETY: the caller promises valid pointers.
    unsafe {
        if give(out, deltawire_batch_result::default()) != DELTAWIRE_OK {
            return DELTAWIRE_E_NULL;
        }
        let mut source = ok!(source);
        let output = BatchMemory { events, cap, scratch, scratch_len };
        let base = if output.check().is_ok() { append(p, W::SHARES, data.cast(), len) } else { 0 };
        out.write(deltawire_batch_result { consumed: base, ..deltawire_batch_result::default() });
        if base > 0 && base == len {
            return DELTAWIRE_OK;
        }
        let open = ok!(enter(p));
        let (data, mut records) = (ok!(bytes(data, len)), ok!(output.records(open.core.events)));
        let window = data.get(..i32::MAX as usize).unwrap_or(data);
        let rest = window.get(base..).unwrap_or_default();
        let (spent, status) = read(&mut source, open, rest, base, &mut records);
        out.write(result(&records, spent));
        // OK means that all bytes were read.
        match status {
            DELTAWIRE_OK if window.len() < data.len() => DELTAWIRE_MORE,
            status => status,
        }
    }
}

/// Ends the stream, as `deltawire_finish` does, and writes the last events to `events`. Call again
/// while the answer is MORE. All texts lie in the scratch. The call never answers NEED_STORAGE.
/// Answers as `deltawire_batch` in all other cases.
#[no_mangle]
pub unsafe extern "C" fn deltawire_batch_finish(
    p: *mut deltawire_parser,
    events: *mut deltawire_event,
    cap: usize,
    scratch: *mut c_void,
    scratch_len: usize,
    out: *mut deltawire_batch_result,
) -> deltawire_status {
    // SAFETY: the caller promises valid pointers.
    unsafe { finish_batch(Ok(Own), p, BatchMemory { events, cap, scratch, scratch_len }, out) }
}

/// `deltawire_batch_finish` for a parser with `DELTAWIRE_CFG_SHARED`, with the memory of `w`.
/// Answers as `deltawire_batch_finish` and, for `w`, as `deltawire_feed_with`.
#[no_mangle]
pub unsafe extern "C" fn deltawire_batch_finish_with(
    p: *mut deltawire_parser,
    w: *mut deltawire_workspace,
    events: *mut deltawire_event,
    cap: usize,
    scratch: *mut c_void,
    scratch_len: usize,
    out: *mut deltawire_batch_result,
) -> deltawire_status {
    // SAFETY: the caller promises valid pointers.
    unsafe { finish_batch(enter_workspace(w), p, BatchMemory { events, cap, scratch, scratch_len }, out) }
}

/// Ends a stream, and writes its last events to a batch.
///
/// # Safety
/// As for C.
pub(crate) unsafe fn finish_batch<W: MachineSource>(
    source: Result<W, deltawire_status>,
    p: *mut deltawire_parser,
    output: BatchMemory,
    out: *mut deltawire_batch_result,
) -> deltawire_status {
    // SAFETY: the caller promises valid pointers.
    unsafe {
        if give(out, deltawire_batch_result::default()) != DELTAWIRE_OK {
            return DELTAWIRE_E_NULL;
        }
        let mut source = ok!(source);
        let open = ok!(enter(p));
        let mut records = ok!(output.records(open.core.events));
        let status = finish(&mut source, open, &mut records);
        out.write(result(&records, 0));
        status
    }
}

fn result(records: &Records<'_>, consumed: usize) -> deltawire_batch_result {
    deltawire_batch_result {
        consumed,
        events: records.written(),
        scratch_used: records.used(),
        scratch_need: records.need(),
    }
}
