//! The integration tests, which use only the public interface: one program, because each of several would compile anew what they
//! share. `cargo test --all-features --test tests splits::` runs those of a file.
#![allow(missing_docs, dead_code, unreachable_pub)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

#[cfg(feature = "tokio")]
mod adapters;
mod alloc;
mod batch;
mod calls;
mod json_suite;
mod limits;
mod manners;
mod memo;
mod message_contents;
mod message_log;
mod native;
mod oracle;
mod protocols;
mod pull;
mod quirks;
mod rewrite;
mod size;
mod small_worlds;
mod splits;
mod sse_cases;
mod table_limits;
mod verdicts;
mod write;
