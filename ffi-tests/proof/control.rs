//! The control of both link proofs (`scripts/proof.sh`, `scripts/ffi_proof.sh`): a function that can panic, and the panic
//! handler of the libraries. A program with it must not link.
#![no_std]

/// Returns a byte, by an index that nothing checks.
///
/// # Safety
/// `bytes` points to `len` readable bytes.
#[no_mangle]
pub unsafe extern "C" fn deltawire_control(bytes: *const u8, len: usize, at: usize) -> u8 {
    // SAFETY: the caller promises that these bytes are readable.
    let bytes = unsafe { core::slice::from_raw_parts(bytes, len) };
    bytes[at]
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    extern "C" {
        fn deltawire_panic_reached() -> !;
    }
    // SAFETY: the function is never called, because no program that reaches this line links.
    unsafe { deltawire_panic_reached() }
}
