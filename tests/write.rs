//! Streams that are written: their bytes, that they are valid whatever is passed, and that reading them gives what was
//! passed. `write/naive.rs` checks the order that each protocol wants, `write/run.rs` passes the updates, `write/translate.rs`
//! translates whole responses, `write/thoughts.rs` what a client has to send back of them.
#![cfg(all(feature = "alloc", feature = "dialects"))]

mod bytes;
mod naive;
mod odd;
mod row;
mod run;
mod thoughts;
mod translate;
