//! The C interface of deltawire. cbindgen makes `include/deltawire.h` from this crate; the header is the manual.
//!
//! Each function checks and converts its arguments, then calls the library. Nothing here allocates or panics. The panic
//! handler calls a function that does not exist, so a program that could reach the handler does not link.
#![cfg_attr(not(test), no_std)]
#![allow(non_camel_case_types)]
// The header says what the pointers of each function must be.
#![allow(clippy::missing_safety_doc)]

/// The value of a result. If the result is an error, the function around this returns that status.
macro_rules! ok {
    ($result:expr) => {
        match $result {
            Ok(value) => value,
            Err(status) => return status,
        }
    };
}

mod batch;
mod beside;
mod block;
mod callback_sink;
mod chunk;
mod convert;
mod direct;
mod feed;
mod message;
mod meter;
mod names;
mod parser;
mod state;
mod translate;
pub mod types;
mod value;
mod workspace;
mod writer;

// For programs in Rust, such as the fuzz target; C finds the functions by their names.
pub use self::{
    batch::*, chunk::*, direct::*, feed::*, message::*, meter::deltawire_meter_of, parser::*, state::*, translate::*,
    value::*, workspace::*, writer::*,
};

#[cfg(all(not(test), feature = "panic-handler"))]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    extern "C" {
        fn deltawire_panic_reached() -> !;
    }
    // SAFETY: a program that could reach this line does not link, so the function is never called.
    unsafe { deltawire_panic_reached() }
}
