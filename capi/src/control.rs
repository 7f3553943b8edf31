//! The control of the link proof: a function that can panic. With it nothing may link (`scripts/ffi_proof.sh`).

/// A byte, by an index that nothing checks. Not in the header.
///
/// cbindgen:ignore
///
/// # Safety
/// `bytes` points to `len` readable bytes.
#[no_mangle]
#[allow(clippy::indexing_slicing)]
pub unsafe extern "C" fn deltawire_control(bytes: *const u8, len: usize, at: usize) -> u8 {
    // SAFETY: so the caller promises.
    let bytes = unsafe { core::slice::from_raw_parts(bytes, len) };
    bytes[at]
}
