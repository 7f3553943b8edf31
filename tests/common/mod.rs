//! Helpers of the tests of whole streams, shared with the fuzz targets.
#![allow(dead_code, missing_docs, unreachable_pub)]
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, clippy::expect_used)]

pub mod batch;
pub mod case;
#[cfg(feature = "alloc")]
pub mod cases;
#[cfg(feature = "serde")]
pub mod completion_json;
pub mod corpus;
pub mod drive;
pub mod edit;
pub mod event_log;
pub mod halves;
pub mod input;
#[cfg(feature = "alloc")]
pub mod json_walk;
pub mod log;
#[cfg(feature = "serde")]
pub mod logged;
pub mod made;
#[cfg(feature = "alloc")]
pub mod naive_chat;
pub mod naive_json;
pub mod naive_native;
pub mod naive_raw_json;
pub mod naive_sse;
pub mod native;
pub mod random;
pub mod read;
pub mod records;
#[cfg(feature = "alloc")]
pub mod shared;
pub mod stream;
pub mod thin;
pub mod views;
pub mod worlds;
