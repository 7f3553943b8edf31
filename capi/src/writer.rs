//! The writer: the library's writer, with the rest of the caller's block as its memory.

use crate::block::fits;
use crate::convert::{aligned, buffer, bytes, put_out, sized};
use crate::types::*;
use core::ffi::{c_char, c_void};
use core::mem::{align_of, size_of};
use core::ptr::addr_of;
use core::slice;
use deltawire::chat::ApiError;
use deltawire::delta::Kind;
use deltawire::stream::{Protocol, Record};
use deltawire::write::{Head, Out, Translator, WriteError, Writer};
use deltawire::Update;

/// A writer, which may translate, whose memory is lent for a call. Between calls the memory is empty,
/// so that a block has no pointers.
type Written = Translator<&'static mut [u8]>;

/// What a block begins with; the writer's memory follows.
#[repr(C)]
struct WriterBlock {
    magic: u64,
    /// Length of the block in bytes.
    len: usize,
    /// The size of the block that the writer needs, or 0 if its block is large enough.
    need: usize,
    /// The room that the next event needs, or 0 if the last call had enough.
    room: usize,
    writer: Written,
}

const FIXED: usize = size_of::<WriterBlock>();

/// The first word of an initialized block.
const MAGIC: u64 = 0x0131_7274_6972_7757 ^ FIXED as u64;

const _: () = assert!(FIXED <= DELTAWIRE_WRITER_STATE_SIZE, "DELTAWIRE_WRITER_STATE_SIZE is too small");
const _: () = assert!(align_of::<WriterBlock>() <= DELTAWIRE_ALIGN, "DELTAWIRE_ALIGN is too small");

/// Size of a block, in bytes, whose writer has so much memory. No block is larger than memory can
/// be.
fn size_for(memory: usize) -> Option<usize> {
    let size = FIXED.checked_add(memory)?.checked_next_multiple_of(DELTAWIRE_ALIGN)?;
    (size <= isize::MAX as usize).then_some(size)
}

/// Returns the status of a result, and notes what is needed.
pub(crate) fn conclude(result: Result<(), WriteError>, (need, room): (&mut usize, &mut usize)) -> deltawire_status {
    (*need, *room) = (0, 0);
    match result {
        Ok(()) => DELTAWIRE_OK,
        Err(WriteError::NeedRoom { need: bytes }) => {
            *room = bytes;
            DELTAWIRE_NEED_ROOM
        }
        Err(WriteError::NeedMemory { need: bytes }) => {
            *need = size_for(bytes).unwrap_or(usize::MAX);
            DELTAWIRE_NEED_STORAGE
        }
        Err(WriteError::NoPlace) => DELTAWIRE_E_NO_PLACE,
        Err(WriteError::Late) => DELTAWIRE_E_LATE,
        Err(WriteError::Json) => DELTAWIRE_E_JSON,
        Err(WriteError::Unfinished) => DELTAWIRE_E_UNFINISHED,
        Err(WriteError::Ended) => DELTAWIRE_E_ENDED,
        // Too many choices, or too many calls.
        Err(_) => DELTAWIRE_E_RANGE,
    }
}

/// Makes a writer with this config and memory. Fails with a status for a config, and with the
/// memory needed if there is less.
///
/// # Safety `cfg` is NULL or readable for the size that it begins with, and its texts are readable.
unsafe fn make(
    cfg: *const deltawire_writer_config,
    memory: &'static mut [u8],
) -> Result<Result<Written, usize>, deltawire_status> {
    if cfg.is_null() {
        return Err(DELTAWIRE_E_NULL);
    }
    // SAFETY: as the caller promises.
    let (config, [id, model, members]) = unsafe {
        let config = sized(cfg, addr_of!((*cfg).size).read_unaligned() as usize)?;
        let text = |text: deltawire_str| bytes(text.ptr.cast(), text.len);
        (config, [text(config.id)?, text(config.model)?, text(config.members)?])
    };
    let (Some(protocol), Ok(id), Ok(model)) =
        (Protocol::from_number(config.protocol), core::str::from_utf8(id), core::str::from_utf8(model))
    else {
        return Err(DELTAWIRE_E_CONFIG);
    };
    if config.flags & !(DELTAWIRE_WRITE_USAGE | DELTAWIRE_WRITE_EVENT_IDS) != 0 || config.reserved != 0 {
        return Err(DELTAWIRE_E_CONFIG);
    }
    let mut head = Head::new(id, model, config.created).with_first_sequence(config.first_sequence);
    if !members.is_empty() {
        head = head.with_members(members);
    }
    if config.flags & DELTAWIRE_WRITE_USAGE != 0 {
        head = head.with_usage();
    }
    if config.flags & DELTAWIRE_WRITE_EVENT_IDS != 0 {
        head = head.with_event_ids();
    }
    if config.retry != 0 {
        head = head.with_retry(config.retry);
    }
    if config.text_len != 0 {
        head = head.with_text_len(config.text_len);
    }
    match Translator::new(protocol, &head, memory) {
        Ok(writer) => Ok(Ok(writer)),
        Err(WriteError::NeedMemory { need }) => Ok(Err(need)),
        Err(_) => Err(DELTAWIRE_E_CONFIG),
    }
}

/// The size of a writer's block, in bytes, that has room for what each event repeats and for
/// `bytes` more of what has to be written later: the texts of Responses, escaped, and the fragments
/// of tool calls that wait. Returns 0 if no block is that large, or if `deltawire_writer_init`
/// would not answer OK for `cfg`.
#[no_mangle]
pub unsafe extern "C" fn deltawire_writer_size(cfg: *const deltawire_writer_config, bytes: usize) -> usize {
    // SAFETY: the caller promises a valid pointer.
    match unsafe { make(cfg, &mut []) } {
        Ok(Err(need)) => need.checked_add(bytes).and_then(size_for).unwrap_or(0),
        _ => 0,
    }
}

/// Makes a writer in the block `mem` of `mem_len` bytes. `*out`, unless `out` is NULL, becomes
/// `(deltawire_writer *)mem`. Nothing is written to the stream yet. Answers OK, E_NULL, E_ALIGN,
/// E_SMALL (less than `deltawire_writer_size(cfg, 0)`), E_RANGE (beyond any memory), E_CONFIG
/// (`size`; a protocol that is not written; unknown flags; an ID or a model that is not UTF-8;
/// `members` that are no JSON object). On failure nothing is written.
#[no_mangle]
pub unsafe extern "C" fn deltawire_writer_init(
    mem: *mut c_void,
    mem_len: usize,
    cfg: *const deltawire_writer_config,
    out: *mut *mut deltawire_writer,
) -> deltawire_status {
    if mem.is_null() {
        return DELTAWIRE_E_NULL;
    }
    ok!(fits(mem as usize, mem_len, FIXED));
    // SAFETY: `mem` is writable for `mem_len` bytes, as the caller promises, and nothing else uses them. The memory is
    // taken from the writer before this returns.
    unsafe {
        // Without memory first, so that a failure writes nothing.
        let Err(least) = ok!(make(cfg, &mut [])) else { return DELTAWIRE_E_CONFIG };
        ok!(fits(mem as usize, mem_len, FIXED.saturating_add(least)));
        let memory = slice::from_raw_parts_mut(mem.cast::<u8>().add(FIXED), mem_len.saturating_sub(FIXED));
        let Ok(mut writer) = ok!(make(cfg, memory)) else { return DELTAWIRE_E_SMALL };
        *writer.writer_mut().memory_mut() = &mut [];
        let block = mem.cast::<WriterBlock>();
        block.write(WriterBlock { magic: MAGIC, len: mem_len, need: 0, room: 0, writer });
        put_out(out, mem.cast());
    }
    DELTAWIRE_OK
}

/// Returns the block of a writer.
///
/// # Safety
/// `w` is NULL, or points to readable memory of at least the size of a block.
unsafe fn check(w: *const deltawire_writer) -> Result<*mut WriterBlock, deltawire_status> {
    let block: *mut WriterBlock = aligned(w.cast())?;
    // SAFETY: readable, as the caller promises. Any bytes are a valid number.
    match unsafe { addr_of!((*block).magic).read() } {
        MAGIC => Ok(block),
        _ => Err(DELTAWIRE_E_STATE),
    }
}

/// Calls the translator once, with the room behind what `buf` has so far. `use_it` also gets where to note what
/// [`conclude`] finds to be needed.
///
/// # Safety `w` as for [`check`], writable and used by no other thread; `buf` is writable for `cap`
/// bytes, `len` is NULL or writable.
pub(crate) unsafe fn translate(
    w: *mut deltawire_writer,
    (buf, cap, len): (*mut c_char, usize, *mut usize),
    use_it: impl FnOnce(&mut Written, &mut Out<'_>, (&mut usize, &mut usize)) -> deltawire_status,
) -> deltawire_status {
    // SAFETY: as the caller promises. The memory follows the state, and is taken from the writer before this returns.
    unsafe {
        let block = &mut *ok!(check(w));
        if len.is_null() {
            return DELTAWIRE_E_NULL;
        }
        let used = len.read();
        let Some(room) = ok!(buffer(buf.cast(), cap)).get_mut(used..) else { return DELTAWIRE_E_RANGE };
        let memory = slice::from_raw_parts_mut(w.cast::<u8>().add(FIXED), block.len.saturating_sub(FIXED));
        *block.writer.writer_mut().memory_mut() = memory;
        let mut out = Out::new(room);
        let status = use_it(&mut block.writer, &mut out, (&mut block.need, &mut block.room));
        len.write(used.saturating_add(out.len()));
        *block.writer.writer_mut().memory_mut() = &mut [];
        status
    }
}

/// Calls the writer once.
///
/// # Safety As for [`translate`].
unsafe fn call(
    w: *mut deltawire_writer,
    room: (*mut c_char, usize, *mut usize),
    write: impl FnOnce(&mut Writer<&'static mut [u8]>, &mut Out<'_>) -> Result<(), WriteError>,
) -> deltawire_status {
    // SAFETY: as the caller promises.
    unsafe { translate(w, room, |translator, out, needs| conclude(write(translator.writer_mut(), out), needs)) }
}

/// Writes an event of a response: what a parser emitted, or what the program says. Of the event
/// only `kind`, `flags`, `choice`, `call`, `code` and `number` count, with the meaning that the
/// comment of its kind gives them; `text` is its Text, `aux` its Aux. (Flags that tell where texts
/// lie have no meaning here.) To write a text, a zeroed event with its `kind` is enough; a name
/// that comes whole has `DELTAWIRE_EVF_REPLACES`, plain text instead of the JSON of an error
/// `DELTAWIRE_EVF_PLAIN`. Join a text of JSON that came in pieces first. docs/writing.md tells what
/// becomes of each kind.
///
/// `buf` of `cap` bytes collects what is to be sent: `*len` bytes of it are written so far, and the
/// call adds whole events behind them. Set `*len` to 0 before the first call, and whenever you have
/// sent them.
///
/// NEED_ROOM: the next event does not fit. Send what `buf` has, give at least
/// `deltawire_writer_room` bytes, and call again with the same event and texts; what was written of
/// it is not written twice. NEED_STORAGE: the block is too small for what has to be written later.
/// Give the writer a block of `deltawire_writer_need` bytes (`deltawire_writer_resize`), and call
/// again with the same event. After any status below 0 the event is left out; no more of it may be
/// written than the beginning of its choice or its part. The stream goes on with the next event.
///
/// Answers OK, NEED_ROOM, NEED_STORAGE, E_NULL, E_ALIGN, E_STATE, E_RANGE (a length; an unknown
/// kind; a choice from 64 on; more calls than 32), E_NO_PLACE (the protocol has no place for the
/// event), E_LATE (its choice finished, or its call is over), E_JSON, E_ENDED, E_UNFINISHED (only
/// `deltawire_writer_finish`).
#[no_mangle]
pub unsafe extern "C" fn deltawire_writer_put(
    w: *mut deltawire_writer,
    event: *const deltawire_event,
    text: *const c_char,
    text_len: usize,
    aux: *const c_char,
    aux_len: usize,
    buf: *mut c_char,
    cap: usize,
    len: *mut usize,
) -> deltawire_status {
    if event.is_null() {
        return DELTAWIRE_E_NULL;
    }
    // SAFETY: the caller promises valid pointers. An event is a record.
    unsafe {
        let record = event.cast::<Record>().read();
        let (text, aux) = (ok!(bytes(text.cast(), text_len)), ok!(bytes(aux.cast(), aux_len)));
        if Kind::from_number(u32::from(record.kind)).is_none() {
            return DELTAWIRE_E_RANGE;
        }
        call(w, (buf, cap, len), |writer, out| match record.update(text, aux) {
            Some(update) => writer.put(out, record.choice, &update),
            None => Err(WriteError::NoPlace),
        })
    }
}

/// Ends the stream after every choice has a finish reason: closes what is open, and writes the
/// usage and the end. Answers as `deltawire_writer_put`, and E_UNFINISHED if a choice has no finish
/// reason, or none began: call `deltawire_writer_fail`, so that nobody takes the stream for whole.
/// A stream that is dropped without either looks cut.
#[no_mangle]
pub unsafe extern "C" fn deltawire_writer_finish(
    w: *mut deltawire_writer,
    buf: *mut c_char,
    cap: usize,
    len: *mut usize,
) -> deltawire_status {
    // SAFETY: the caller promises valid pointers.
    unsafe { call(w, (buf, cap, len), |writer, out| writer.finish(out)) }
}

/// Ends the stream with an error of this message, with the counts of tokens so far where the
/// protocol has a place for them, and without the end that a whole stream has. An error in JSON is
/// an event, `DELTAWIRE_EV_ERROR`. Answers as `deltawire_writer_put`.
#[no_mangle]
pub unsafe extern "C" fn deltawire_writer_fail(
    w: *mut deltawire_writer,
    message: *const c_char,
    message_len: usize,
    buf: *mut c_char,
    cap: usize,
    len: *mut usize,
) -> deltawire_status {
    // SAFETY: the caller promises valid pointers.
    unsafe {
        let message = ok!(bytes(message.cast(), message_len));
        call(w, (buf, cap, len), |writer, out| writer.put(out, 0, &Update::Error(ApiError::plain(message))))
    }
}

/// Writes what only keeps the connection alive: a `ping` in Anthropic Messages once the message
/// began, else a comment. Answers as `deltawire_writer_put`.
#[no_mangle]
pub unsafe extern "C" fn deltawire_writer_keep_alive(
    w: *mut deltawire_writer,
    buf: *mut c_char,
    cap: usize,
    len: *mut usize,
) -> deltawire_status {
    // SAFETY: the caller promises valid pointers.
    unsafe { call(w, (buf, cap, len), |writer, out| writer.keep_alive(out)) }
}

/// The room that the next event needs, in bytes: after NEED_ROOM `cap - *len` must be at least
/// this. Returns 0 if the last call had enough, or if `w` is not a writer.
#[no_mangle]
pub unsafe extern "C" fn deltawire_writer_room(w: *const deltawire_writer) -> usize {
    // SAFETY: a block that nothing changes during the call, as the caller promises.
    unsafe { check(w).map_or(0, |block| addr_of!((*block).room).read()) }
}

/// The size of the block that the writer needs, in bytes: after NEED_STORAGE the least that the
/// event needs (take twice as much, and the block grows seldom); otherwise the smallest size that
/// holds what the writer keeps. Returns 0 if `w` is not a writer.
#[no_mangle]
pub unsafe extern "C" fn deltawire_writer_need(w: *const deltawire_writer) -> usize {
    // SAFETY: a block that nothing changes during the call, as the caller promises.
    let Ok(block) = (unsafe { check(w).map(|block| &*block) }) else { return 0 };
    block.need.max(size_for(block.writer.writer().memory_len()).unwrap_or(usize::MAX))
}

/// Tells the writer that its block has `mem_len` bytes now. To move a writer, copy the bytes of its
/// block (`realloc`, or `memcpy` to another block) and call this with the new address. Answers OK,
/// E_NULL, E_ALIGN, E_STATE, E_SMALL, E_RANGE (beyond any memory).
#[no_mangle]
pub unsafe extern "C" fn deltawire_writer_resize(w: *mut deltawire_writer, mem_len: usize) -> deltawire_status {
    // SAFETY: a block that has both lengths, as the caller promises.
    unsafe {
        let block = &mut *ok!(check(w));
        ok!(fits(w as usize, mem_len, FIXED.saturating_add(block.writer.writer().memory_len())));
        (block.len, block.need) = (mem_len, 0);
    }
    DELTAWIRE_OK
}

/// What a translation left out. `*without_place`, unless `without_place` is NULL, becomes the number
/// of updates that the protocol has no place for, and `*lost`, unless `lost` is NULL, of those that
/// could not be written for another reason. Answers OK, E_NULL, E_ALIGN, E_STATE.
#[no_mangle]
pub unsafe extern "C" fn deltawire_translate_left_out(
    w: *const deltawire_writer,
    without_place: *mut u64,
    lost: *mut u64,
) -> deltawire_status {
    // SAFETY: a block that nothing changes during the call, as the caller promises.
    unsafe {
        let block = &*ok!(check(w));
        let counts = block.writer.left_out();
        put_out(without_place, counts.0);
        put_out(lost, counts.1);
    }
    DELTAWIRE_OK
}
