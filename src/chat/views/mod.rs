//! What a chunk is besides its deltas: its head and its errors. An accessor reads its member when it is called.

mod chunk;
mod error;
mod finish;

pub(crate) use chunk::{meta_bit, name_before};
pub use chunk::{Chunk, ChunkMember, Created};
pub use error::{ApiError, ErrorPart};
pub use finish::FinishReason;
