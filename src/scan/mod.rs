//! Byte searches. All `unsafe` code of the library is here.
//!
//! Each search is written once, over [`block64::Block`], a block of bytes whose methods return masks of one bit for
//! each byte. A kernel provides the blocks: SSE2 on x86-64, and AVX2 if the processor has it, NEON on 64-bit Arm,
//! `simd128` on WebAssembly if the target has it, and 64-bit words elsewhere (`portable`). On processors of 32 bits,
//! the long searches look at one byte at a time ([`bytes`]). Tests compare the target's kernels, the portable kernel
//! and the searches by bytes with one another. See `docs/kernels.md`.

#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
mod avx2;
pub(crate) mod block64;
mod bytes;
pub(crate) mod container;
pub(crate) mod escape;
pub(crate) mod find;
pub(crate) mod fixed;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
pub(crate) mod level;
#[cfg(all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"))]
pub(crate) mod neon;
pub(crate) mod parts;
#[cfg(any(
    test,
    not(any(
        all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"),
        all(target_arch = "wasm32", target_feature = "simd128"),
        all(target_arch = "x86_64", target_feature = "sse2")
    ))
))]
pub(crate) mod portable;
pub(crate) mod quoted;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
mod sse2;
pub(crate) mod string;
pub(crate) mod target;
pub(crate) mod unescape;
pub(crate) mod utf8;
pub(crate) mod utf8_masks;
#[cfg(any(
    all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"),
    all(target_arch = "wasm32", target_feature = "simd128"),
    all(target_arch = "x86_64", target_feature = "sse2")
))]
mod vector;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
pub(crate) mod wasm;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
pub(crate) mod x86;

#[cfg(test)]
pub(crate) mod tests;
#[cfg(test)]
mod twin_tests;
#[cfg(test)]
mod unescape_tests;
