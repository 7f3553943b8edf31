//! The commands, each in a file.

pub mod about;
pub mod check;
pub mod convert;
pub mod events;
mod files;
pub mod message;
mod push;
pub mod record;
pub mod replay;
pub mod sse;
pub mod stats;
pub mod text;
