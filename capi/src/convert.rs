//! Converts between the types of C and those of the library.

use crate::types::*;
use core::ffi::{c_char, c_void};
use core::mem::{align_of, size_of, MaybeUninit};
use core::{ptr, slice};
use deltawire::chat::{Chunk, TokenCounts};
use deltawire::json::{Text, Value, ValueKind};

/// Returns the address of memory that C gave. The pointer may be NULL if the memory has no bytes.
fn first(data: *const c_void, len: usize) -> Result<*mut u8, deltawire_status> {
    match (data.is_null(), len) {
        (_, 0) => Ok(ptr::NonNull::dangling().as_ptr()),
        (true, _) => Err(DELTAWIRE_E_NULL),
        _ if len > isize::MAX as usize => Err(DELTAWIRE_E_RANGE),
        _ => Ok(data.cast_mut().cast()),
    }
}

/// Returns the bytes that C gave.
///
/// # Safety
/// `data` is readable for `len` bytes, or `len` is 0.
pub(crate) unsafe fn bytes<'b>(data: *const c_void, len: usize) -> Result<&'b [u8], deltawire_status> {
    // SAFETY: as the caller promises.
    Ok(unsafe { slice::from_raw_parts(first(data, len)?, len) })
}

/// Returns the memory that C gave for output.
///
/// # Safety
/// `data` is writable for `len` bytes, or `len` is 0.
pub(crate) unsafe fn buffer<'b>(data: *mut c_void, len: usize) -> Result<&'b mut [u8], deltawire_status> {
    // SAFETY: as the caller promises.
    Ok(unsafe { slice::from_raw_parts_mut(first(data, len)?, len) })
}

/// Checks the address of a block that C gave. An initialized block begins with a `T`.
#[inline(always)]
pub(crate) fn aligned<T>(given: *const c_void) -> Result<*mut T, deltawire_status> {
    if given.is_null() {
        return Err(DELTAWIRE_E_NULL);
    }
    if given as usize % align_of::<T>() != 0 {
        return Err(DELTAWIRE_E_ALIGN);
    }
    Ok(given.cast_mut().cast())
}

/// Writes the result of a call, and returns its status.
///
/// # Safety
/// `out` is NULL or writable.
pub(crate) unsafe fn give<T>(out: *mut T, answer: T) -> deltawire_status {
    if out.is_null() {
        return DELTAWIRE_E_NULL;
    }
    // SAFETY: as the caller promises.
    unsafe { out.write(answer) };
    DELTAWIRE_OK
}

/// Writes the result of a getter, or returns the status that says why it has none. Calls `find` only
/// if `out` is not NULL.
///
/// # Safety
/// As [`give`].
#[inline(always)]
pub(crate) unsafe fn answer<T>(out: *mut T, find: impl FnOnce() -> Result<T, deltawire_status>) -> deltawire_status {
    if out.is_null() {
        return DELTAWIRE_E_NULL;
    }
    // SAFETY: as the caller promises.
    unsafe { give(out, ok!(find())) }
}

/// Writes a result if the caller wants it, that is, if `out` is not NULL.
///
/// # Safety
/// As [`give`].
pub(crate) unsafe fn put_out<T>(out: *mut T, answer: T) {
    if !out.is_null() {
        // SAFETY: as the caller promises.
        unsafe { out.write(answer) };
    }
}

/// The largest size that a struct may state, so that a garbage size does not make the library read
/// far past the struct.
const MAX_STRUCT: usize = 4096;

/// Whether some version of the struct can have this size. Every version ends after a whole member.
fn is_size_of<T>(size: usize) -> bool {
    (size_of::<u64>()..=MAX_STRUCT).contains(&size) && size % align_of::<T>() == 0
}

/// Returns a struct that C filled, whose first member is its size. Members that the caller's version
/// lacks become 0. Bytes that only the caller's version has must be 0.
///
/// # Safety
/// `given` is readable for `size` bytes, and `T` is plain data that any bytes are valid for.
#[inline(never)] // A feed calls it only for callbacks of another version.
pub(crate) unsafe fn sized<T: Copy>(given: *const T, size: usize) -> Result<T, deltawire_status> {
    if !is_size_of::<T>(size) {
        return Err(DELTAWIRE_E_CONFIG);
    }
    let known = size.min(size_of::<T>());
    // SAFETY: as the caller promises: both are at least `known` bytes long, the bytes from `known` to `size` also
    // belong to the caller's struct, and zeros are valid.
    unsafe {
        let tail = slice::from_raw_parts(given.cast::<u8>().add(known), size.saturating_sub(known));
        if tail.iter().any(|byte| *byte != 0) {
            return Err(DELTAWIRE_E_CONFIG);
        }
        let mut value = MaybeUninit::<T>::zeroed();
        ptr::copy_nonoverlapping(given.cast::<u8>(), value.as_mut_ptr().cast(), known);
        Ok(value.assume_init())
    }
}

/// Returns the size that a struct of C states in its first member, if a version can have that size.
///
/// # Safety
/// `out` is NULL, or readable for the size that it begins with.
pub(crate) unsafe fn check_size<T>(out: *mut T) -> Result<u32, deltawire_status> {
    if out.is_null() {
        return Err(DELTAWIRE_E_NULL);
    }
    // SAFETY: such structs begin with their size in 32 bits. The read needs no alignment.
    let size = unsafe { out.cast::<u32>().read_unaligned() };
    is_size_of::<T>(size as usize).then_some(size).ok_or(DELTAWIRE_E_CONFIG)
}

/// Fills a struct of C, whose first member is its size, up to that size. Bytes after the members of
/// this version become 0.
///
/// # Safety
/// `out` is NULL, or writable for the size that it begins with.
pub(crate) unsafe fn fill<T: Copy>(out: *mut T, value: impl FnOnce(u32) -> T) -> deltawire_status {
    // SAFETY: as the caller promises.
    let size = ok!(unsafe { check_size(out) });
    let value = value(size);
    let len = size as usize;
    let known = len.min(size_of::<T>());
    // SAFETY: as the caller promises.
    unsafe {
        ptr::copy_nonoverlapping((&raw const value).cast::<u8>(), out.cast::<u8>(), known);
        ptr::write_bytes(out.cast::<u8>().add(known), 0, len.saturating_sub(known));
    }
    DELTAWIRE_OK
}

pub(crate) const NO_STR: deltawire_str = deltawire_str { ptr: ptr::null(), len: 0 };

/// Returns bytes for C.
pub(crate) fn str_of(bytes: &[u8]) -> deltawire_str {
    if bytes.is_empty() {
        return NO_STR;
    }
    deltawire_str { ptr: bytes.as_ptr().cast(), len: bytes.len() }
}

pub(crate) const NO_VALUE: deltawire_value =
    deltawire_value { ptr: ptr::null(), len: 0, r#type: DELTAWIRE_T_NONE, reserved: 0 };

/// Returns a value for C.
pub(crate) fn value_of(value: Value<'_>) -> deltawire_value {
    let r#type = match value.kind() {
        ValueKind::Null => DELTAWIRE_T_NULL,
        ValueKind::Bool if value.as_bool() == Some(true) => DELTAWIRE_T_TRUE,
        ValueKind::Bool => DELTAWIRE_T_FALSE,
        ValueKind::Number => DELTAWIRE_T_NUMBER,
        ValueKind::String => DELTAWIRE_T_STRING,
        ValueKind::Array => DELTAWIRE_T_ARRAY,
        ValueKind::Object => DELTAWIRE_T_OBJECT,
    };
    deltawire_value { ptr: value.raw().as_ptr().cast(), len: value.raw().len(), r#type, reserved: 0 }
}

/// Writes a value, or answers ABSENT.
///
/// # Safety
/// As [`give`].
pub(crate) unsafe fn give_value(out: *mut deltawire_value, value: Option<Value<'_>>) -> deltawire_status {
    // SAFETY: as the caller promises.
    unsafe { answer(out, || value.map(value_of).ok_or(DELTAWIRE_ABSENT)) }
}

/// Returns plain text for C, as a value.
pub(crate) fn plain_of(bytes: &[u8]) -> deltawire_value {
    deltawire_value { ptr: bytes.as_ptr().cast(), len: bytes.len(), r#type: DELTAWIRE_T_TEXT, reserved: 0 }
}

/// Returns a text of a payload as a value: a JSON string with its quotes, or a value of another
/// type.
pub(crate) fn text_value(payload: &[u8], text: Option<Text<'_>>) -> deltawire_value {
    let Some(text) = text else { return NO_VALUE };
    let raw = text.raw();
    let start = (raw.as_ptr() as usize).wrapping_sub(payload.as_ptr() as usize);
    let quoted = payload.get(start.wrapping_sub(1)..start.saturating_add(raw.len()).saturating_add(1));
    match quoted {
        Some(value @ [b'"', .., b'"']) => value_of(Value::from_raw(value)),
        _ => value_of(Value::from_raw(raw)),
    }
}

/// A value that C gave: JSON or plain text.
pub(crate) enum Given<'v> {
    Json(Value<'v>),
    Plain(&'v [u8]),
}

/// Returns the value that C gave.
///
/// # Safety
/// `v` is NULL, or a value that a function of this library gave, whose bytes are unchanged.
pub(crate) unsafe fn given<'v>(v: *const deltawire_value) -> Result<Given<'v>, deltawire_status> {
    if v.is_null() {
        return Err(DELTAWIRE_E_NULL);
    }
    // SAFETY: as the caller promises.
    let (value, raw) = unsafe {
        let value = v.read();
        (value, bytes(value.ptr.cast(), value.len)?)
    };
    match value.r#type {
        DELTAWIRE_T_TEXT => Ok(Given::Plain(raw)),
        DELTAWIRE_T_NULL..=DELTAWIRE_T_OBJECT if !raw.is_empty() => Ok(Given::Json(Value::from_raw(raw))),
        _ => Err(DELTAWIRE_ABSENT),
    }
}

/// Lets `write` write a text of `len` bytes to C's buffer, if the text fits.
///
/// # Safety
/// `buf` is writable for `cap` bytes, or `cap` is 0; `need` is NULL or writable.
pub(crate) unsafe fn copy_out(
    len: usize,
    buf: *mut c_char,
    cap: usize,
    need: *mut usize,
    write: impl FnOnce(&mut [u8]),
) -> deltawire_status {
    // SAFETY: as the caller promises.
    let buffer = ok!(unsafe { buffer(buf.cast(), cap) });
    // SAFETY: as the caller promises.
    unsafe { put_out(need, len) };
    match buffer.get_mut(..len) {
        Some(buffer) => {
            write(buffer);
            DELTAWIRE_OK
        }
        None => DELTAWIRE_E_SMALL,
    }
}

/// Returns the chunk that C gave.
///
/// # Safety
/// `c` is NULL, or a chunk of this library that is still valid.
pub(crate) unsafe fn chunk<'c>(c: *const deltawire_chunk) -> Result<Chunk<'c>, deltawire_status> {
    if c.is_null() {
        return Err(DELTAWIRE_E_NULL);
    }
    // SAFETY: as the caller promises.
    Ok(unsafe { *c.cast::<Chunk<'c>>() })
}

/// Writes token counts, or answers ABSENT.
///
/// # Safety
/// As [`fill`].
pub(crate) unsafe fn give_usage(out: *mut deltawire_usage, counts: Option<TokenCounts>) -> deltawire_status {
    // SAFETY: as the caller promises.
    unsafe {
        ok!(check_size(out));
        let Some(counts) = counts else { return DELTAWIRE_ABSENT };
        fill(out, |size| usage_of(size, Some(counts)))
    }
}

/// Returns counts for C, in a struct of this size.
pub(crate) fn usage_of(size: u32, counts: Option<TokenCounts>) -> deltawire_usage {
    let TokenCounts { has, counts, .. } = counts.unwrap_or_default();
    let [prompt, completion, total, reasoning, cached, prompt_audio, completion_audio, accepted, rejected, written] =
        counts;
    deltawire_usage {
        size,
        has,
        prompt,
        completion,
        total,
        reasoning,
        cached,
        prompt_audio,
        completion_audio,
        accepted_prediction: accepted,
        rejected_prediction: rejected,
        cache_write: written,
    }
}
