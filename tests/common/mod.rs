//! What the tests of whole streams share.
#![allow(dead_code, missing_docs, unreachable_pub)]
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, clippy::expect_used)]

pub mod case;
pub mod corpus;
pub mod log;
pub mod thin;
