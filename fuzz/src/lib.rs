//! What the fuzz targets share, and the targets themselves: each is a function of bytes that panics on a finding.

pub mod batch;
pub mod capi;
pub mod drive;
pub mod edit;
pub mod input;
pub mod json;
pub mod log;
pub mod memo;
pub mod message;
pub mod naive;
pub mod naive_json;
pub mod raw_json;
pub mod split;
pub mod sse;
pub mod sse_peer;
pub mod stream;
pub mod text;
pub mod told;
pub mod views;
