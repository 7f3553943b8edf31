//! What the tests of whole streams share.
#![allow(dead_code, missing_docs, unreachable_pub)]
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, clippy::expect_used)]

pub mod case;
pub mod corpus;
#[cfg(feature = "alloc")]
pub mod json_walk;
pub mod log;
pub mod made;
#[path = "../../fuzz/src/naive_json.rs"]
pub mod naive_json;
pub mod naive_raw_json;
pub mod naive_sse;
pub mod thin;
pub mod worlds;
