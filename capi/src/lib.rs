//! The C interface of deltawire. `include/deltawire.h` is made from this crate by cbindgen and is its manual.
//!
//! The functions check, convert and call; what they call is the library. Nothing here allocates, and nothing can panic:
//! the panic handler calls a function that exists nowhere, so that a program that links shows it.
#![cfg_attr(not(test), no_std)]
#![allow(non_camel_case_types)]
// The safety of a function of C is what the header says of its pointers.
#![allow(clippy::missing_safety_doc)]

/// What is in a result, or the function answers with the status in its place.
macro_rules! ok {
    ($result:expr) => {
        match $result {
            Ok(value) => value,
            Err(status) => return status,
        }
    };
}

mod batch;
mod block;
mod callback_sink;
mod chunk;
mod convert;
mod direct;
mod feed;
mod message;
mod names;
mod parser;
mod state;
pub mod types;
mod value;
mod workspace;

#[cfg(all(not(test), feature = "panic-handler"))]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    extern "C" {
        fn deltawire_panic_reached() -> !;
    }
    // SAFETY: it is never called: nothing links that reaches this line.
    unsafe { deltawire_panic_reached() }
}
