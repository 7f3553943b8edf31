//! The contenders, which do the work.

#[cfg(feature = "peers")]
mod adapted;
mod bounds;
pub mod child;
mod contender;
#[cfg(feature = "peers")]
mod lines;
pub mod native;
mod own;
mod records;
mod registry;
#[cfg(feature = "peers")]
mod serde_cow;
#[cfg(feature = "peers")]
mod serde_structs;
pub mod streams;
#[cfg(feature = "peers")]
mod tape;

pub use contender::*;
#[cfg(feature = "peers")]
pub use registry::all_adapting;
pub use registry::{all, all_large, all_observing, all_of_protocol, messages, named};
