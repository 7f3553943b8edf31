//! Chunks, which are read without a parser.

use crate::convert::{
    aligned, answer, bytes, chunk, give, give_usage, give_value, given, plain_of, str_of, value_of, Given,
};
use crate::types::*;
use core::ffi::{c_char, c_void};
use core::mem::{align_of, size_of};
use core::ptr::{addr_of, addr_of_mut};
use deltawire::chat::{Chunk, ChunkMember, Index};

/// What a `deltawire_chunk_storage` contains.
#[repr(C)]
struct ChunkStorage {
    chunk: Chunk<'static>,
    index: Index,
}

const _: () = assert!(size_of::<ChunkStorage>() <= size_of::<deltawire_chunk_storage>(), "deltawire_chunk_storage");
const _: () = assert!(align_of::<ChunkStorage>() <= align_of::<deltawire_chunk_storage>(), "deltawire_chunk_storage");

/// Indexes a JSON payload in one pass, without a parser. `*out` points into `mem` and to `json`:
/// both must stay in place while the chunk is in use. The index has the members of chat completions.
/// Of an event of another protocol it has the members with the same names, as sent, but no token
/// counts (`deltawire_last_usage` has those). Answers OK, ABSENT (not a JSON object), E_NULL,
/// E_ALIGN, E_RANGE (`len`).
#[no_mangle]
pub unsafe extern "C" fn deltawire_chunk_open(
    json: *const c_void,
    len: usize,
    mem: *mut deltawire_chunk_storage,
    out: *mut *const deltawire_chunk,
) -> deltawire_status {
    // SAFETY: the caller promises valid pointers. The storage is written before it is read.
    unsafe {
        if out.is_null() {
            return DELTAWIRE_E_NULL;
        }
        let storage: *mut ChunkStorage = ok!(aligned(mem.cast()));
        let json = ok!(bytes(json, len));
        addr_of_mut!((*storage).index).write(Index::new());
        if Chunk::read(json, &mut *addr_of_mut!((*storage).index)).is_err() {
            return DELTAWIRE_ABSENT;
        }
        let chunk = Chunk::from_parts(json, &*addr_of!((*storage).index), b"");
        addr_of_mut!((*storage).chunk).write(chunk);
        give(out, storage.cast_const().cast())
    }
}

/// Returns a known member (`DELTAWIRE_F_*`). A member that is `null`, `""` or an empty object counts
/// as absent. Answers OK, ABSENT, E_NULL, E_RANGE (`field`).
#[no_mangle]
pub unsafe extern "C" fn deltawire_chunk_field(
    c: *const deltawire_chunk,
    field: u32,
    out: *mut deltawire_value,
) -> deltawire_status {
    // SAFETY: the caller promises valid pointers.
    unsafe {
        let chunk = ok!(chunk(c));
        answer(out, || {
            let field = match field {
                DELTAWIRE_F_ID => ChunkMember::Id,
                DELTAWIRE_F_OBJECT => ChunkMember::Object,
                DELTAWIRE_F_CREATED => ChunkMember::Created,
                DELTAWIRE_F_MODEL => ChunkMember::Model,
                DELTAWIRE_F_SYSTEM_FINGERPRINT => ChunkMember::SystemFingerprint,
                DELTAWIRE_F_SERVICE_TIER => ChunkMember::ServiceTier,
                DELTAWIRE_F_PROVIDER => ChunkMember::Provider,
                DELTAWIRE_F_CHOICES => ChunkMember::Choices,
                DELTAWIRE_F_USAGE => ChunkMember::Usage,
                DELTAWIRE_F_ERROR => {
                    let error = chunk.error().ok_or(DELTAWIRE_ABSENT)?;
                    return Ok(error.value().map_or_else(|| plain_of(chunk.payload()), value_of));
                }
                _ => return Err(DELTAWIRE_E_RANGE),
            };
            chunk.field(field).map(value_of).ok_or(DELTAWIRE_ABSENT)
        })
    }
}

/// Returns any member of the top level, by its decoded name in UTF-8. If several members have the
/// name, the last counts. Answers OK, ABSENT, E_NULL, E_RANGE (`len`).
#[no_mangle]
pub unsafe extern "C" fn deltawire_chunk_member(
    c: *const deltawire_chunk,
    name: *const c_char,
    len: usize,
    out: *mut deltawire_value,
) -> deltawire_status {
    // SAFETY: the caller promises valid pointers.
    unsafe {
        let chunk = ok!(chunk(c));
        let name = ok!(bytes(name.cast(), len));
        give_value(out, core::str::from_utf8(name).ok().and_then(|name| chunk.get(name)))
    }
}

/// Returns where a value of a chunk lies in the event's bytes on the wire, so that a gateway can
/// replace it and send every other byte as it came: `*start` and `*end` are offsets in `event`.
/// `value` must point into the payload, as `deltawire_chunk_field`, `deltawire_chunk_member` and
/// `deltawire_value_member` return it. `event` are the bytes of the event (`start` to `end` of its
/// deltawire_at or of its frame), however reads cut it. They are compared with the payload, so a
/// wrong place is never returned. If the value lies in several data lines, what replaces it makes
/// one line of them. What replaces it is JSON in one line.
///
/// Answers OK, ABSENT (the payload is not what the data lines have, or another field is between the
/// lines of the value: send the event as it is), E_NULL, E_RANGE (`len`).
#[no_mangle]
pub unsafe extern "C" fn deltawire_chunk_place(
    c: *const deltawire_chunk,
    event: *const c_void,
    len: usize,
    value: *const deltawire_value,
    start: *mut usize,
    end: *mut usize,
) -> deltawire_status {
    // SAFETY: the caller promises valid pointers.
    unsafe {
        let chunk = ok!(chunk(c));
        let event = ok!(bytes(event, len));
        if start.is_null() || end.is_null() {
            return DELTAWIRE_E_NULL;
        }
        let place = match ok!(given(value)) {
            Given::Json(value) => chunk.place_in(event, value),
            Given::Plain(_) => None,
        };
        let Some(place) = place else { return DELTAWIRE_ABSENT };
        start.write(place.start);
        give(end, place.end)
    }
}

/// Returns the payload: the data lines of the event, joined by LF. Answers OK, E_NULL.
#[no_mangle]
pub unsafe extern "C" fn deltawire_chunk_payload(
    c: *const deltawire_chunk,
    out: *mut deltawire_str,
) -> deltawire_status {
    // SAFETY: the caller promises valid pointers.
    unsafe {
        let chunk = ok!(chunk(c));
        give(out, str_of(chunk.payload()))
    }
}

/// Returns the token counts of the chunk. Answers OK, ABSENT, E_NULL, E_CONFIG (`size`).
#[no_mangle]
pub unsafe extern "C" fn deltawire_chunk_usage(
    c: *const deltawire_chunk,
    out: *mut deltawire_usage,
) -> deltawire_status {
    // SAFETY: the caller promises valid pointers.
    unsafe {
        let chunk = ok!(chunk(c));
        give_usage(out, chunk.usage().map(|usage| usage.counts()))
    }
}
