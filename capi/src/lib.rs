//! The C interface of deltawire. `include/deltawire.h` is made from this crate by cbindgen and is its manual.
//!
//! Each function checks and converts its arguments, then calls the library. Nothing here allocates or panics. The panic handler
//! calls a function that does not exist, so a program that could reach it does not link.
#![cfg_attr(not(test), no_std)]
#![allow(non_camel_case_types)]
// The safety of a function of C is what the header says of its pointers.
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

// For programs in Rust, such as the fuzz target; C finds the functions by their names.
pub use self::{batch::*, chunk::*, direct::*, feed::*, message::*, parser::*, state::*, value::*, workspace::*};

#[cfg(all(not(test), feature = "panic-handler"))]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    extern "C" {
        fn deltawire_panic_reached() -> !;
    }
    // SAFETY: the function is never called, because nothing links that reaches this line.
    unsafe { deltawire_panic_reached() }
}
