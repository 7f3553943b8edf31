//! The types and constants that cross the boundary. Their layout is fixed: `ffi-tests/layout/table.txt` records it. The
//! header has the items of one section in the order of these modules.

mod callbacks;
mod config;
mod end;
mod event;
mod message;
mod meter;
mod status;
mod value;
mod writer;

pub use callbacks::*;
pub use config::*;
pub use end::*;
pub use event::*;
pub use message::*;
pub use meter::*;
pub use status::*;
pub use value::*;
pub use writer::*;
