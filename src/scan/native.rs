//! Selects the kernel of the target.

use super::block64::Kernel;
use super::fixed::Row;
use crate::visits::visit;

#[cfg(all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"))]
pub(crate) use super::neon::Neon as Native;
#[cfg(not(any(
    all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"),
    all(target_arch = "wasm32", target_feature = "simd128"),
    all(target_arch = "x86_64", target_feature = "sse2")
)))]
pub(crate) use super::portable::Portable as Native;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
pub(crate) use super::wasm::Wasm as Native;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
pub(crate) use super::x86::X86 as Native;

/// Whether `bytes` begins with the `len` bytes in `rows`. `rows` has exactly as many rows as `len` needs.
#[inline(always)]
pub(crate) fn begins_with<K: Kernel>(bytes: &[u8], rows: &[Row], len: usize) -> bool {
    visit!(len.min(bytes.len()));
    K::begins(rows, bytes, len)
}
