//! Byte searches. The only `unsafe` of the library is here.
//!
//! Every search is written once over [`block64::Block`], a block of bytes that answers with one bit a byte. A kernel
//! gives the blocks: SSE2 on x86-64, and 64-bit words elsewhere ([`portable`]). Tests run each search with both and
//! with a naive twin.

pub(crate) mod block64;
pub(crate) mod container;
pub(crate) mod find;
#[cfg(any(test, not(all(target_arch = "x86_64", target_feature = "sse2"))))]
pub(crate) mod portable;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
pub(crate) mod sse2;
pub(crate) mod string;
pub(crate) mod utf8;
pub(crate) mod window;

#[cfg(test)]
mod tests;
