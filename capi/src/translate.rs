//! The translator: a parser reads, and a writer writes what it emits.

use crate::block::{append, enter, look};
use crate::convert::{bytes, put_out};
use crate::feed::{finish, read, Target};
use crate::types::*;
use crate::workspace::{MachineSource, Own};
use crate::writer::{conclude, translate};
use core::ffi::{c_char, c_void};
use deltawire::write::{TranslateSink, WriteError};

impl Target for TranslateSink<'_, '_, &'static mut [u8]> {
    // The writer may need memory instead.
    const FULL: deltawire_status = DELTAWIRE_NEED_ROOM;
}

/// Reads `len` bytes with `p`, and writes what becomes of the response with `w`: bytes of one
/// protocol go in, bytes of another come out. The writer keeps a finish reason for the end,
/// because some servers send more after one. If its config has no ID, no model or no time, they
/// are those of the response. Callbacks and `events` of the parser's config have no meaning here.
/// docs/writing.md tells what becomes of what.
///
/// `buf` of `cap` bytes collects what is to be sent, as in `deltawire_writer_put`. Set `*written`
/// to 0 before the first call, and whenever you have sent them. `*consumed`, unless `consumed` is
/// NULL, is written on every path.
///
/// NEED_ROOM: send what `buf` has, and give at least `deltawire_writer_room` bytes. NEED_STORAGE:
/// if `deltawire_writer_need` is more than the writer's block has, give the writer a larger one,
/// else the parser (`deltawire_need`). After both, call again with the bytes from `consumed` on.
/// What cannot be written is counted (`deltawire_translate_left_out`), and the call goes on.
///
/// Answers OK, NEED_ROOM, NEED_STORAGE, E_NULL, E_ALIGN, E_STATE (also after the end; while an
/// event of a feed or a batch is pending; for a parser with `DELTAWIRE_CFG_SHARED`), E_REENTRANT,
/// E_RANGE (a length), E_RESUME, E_STRICT, E_ABORTED and E_CALLBACK (after a feed that answered
/// so).
#[no_mangle]
pub unsafe extern "C" fn deltawire_translate(
    w: *mut deltawire_writer,
    p: *mut deltawire_parser,
    data: *const c_void,
    len: usize,
    consumed: *mut usize,
    buf: *mut c_char,
    cap: usize,
    written: *mut usize,
) -> deltawire_status {
    // SAFETY: the caller promises valid pointers.
    unsafe {
        put_out(consumed, 0);
        translate(w, (buf, cap, written), |translator, out, needs| {
            let base = append(p, Own::SHARES, data.cast(), len);
            put_out(consumed, base);
            let open = ok!(enter(p));
            let rest = ok!(bytes(data, len)).get(base..).unwrap_or_default();
            let mut sink = translator.sink(out);
            let (spent, status) = read(&mut Own, open, rest, base, &mut sink);
            put_out(consumed, spent);
            answer(status, &sink, needs)
        })
    }
}

/// Ends the stream that `p` reads, as `deltawire_finish` does, and the one that `w` writes: with
/// the finish reasons if the response is complete (`deltawire_end_of`), else with an error. A
/// response of which nothing came leaves nothing. Call again while the answer is above 0. Answers
/// as `deltawire_translate`.
#[no_mangle]
pub unsafe extern "C" fn deltawire_translate_finish(
    w: *mut deltawire_writer,
    p: *mut deltawire_parser,
    buf: *mut c_char,
    cap: usize,
    written: *mut usize,
) -> deltawire_status {
    // SAFETY: the caller promises valid pointers.
    unsafe {
        translate(w, (buf, cap, written), |translator, out, needs| {
            let open = ok!(enter(p));
            let mut sink = translator.sink(out);
            let status = finish(&mut Own, open, &mut sink);
            let status = answer(status, &sink, (&mut *needs.0, &mut *needs.1));
            if status != DELTAWIRE_OK {
                return status;
            }
            let is_complete = match look(p) {
                Ok(block) => block.stream.end().is_complete(),
                Err(status) => return status,
            };
            let need = translator.end(out, is_complete).err().filter(WriteError::is_need);
            conclude(need.map_or(Ok(()), Err), needs)
        })
    }
}

/// Returns the status of a call that read, and notes what the writer needs. Misuse changes
/// nothing.
fn answer(
    status: deltawire_status,
    sink: &TranslateSink<'_, '_, &'static mut [u8]>,
    needs: (&mut usize, &mut usize),
) -> deltawire_status {
    if (DELTAWIRE_E_RESUME..DELTAWIRE_OK).contains(&status) {
        return status;
    }
    let need = conclude(sink.need().map_or(Ok(()), Err), needs);
    if status == DELTAWIRE_NEED_ROOM {
        need
    } else {
        status
    }
}
