//! Selects the kernel of the target.

#[cfg(all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"))]
pub(crate) use super::neon::Neon as Target;
#[cfg(not(any(
    all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"),
    all(target_arch = "wasm32", target_feature = "simd128"),
    all(target_arch = "x86_64", target_feature = "sse2")
)))]
pub(crate) use super::portable::Portable as Target;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
pub(crate) use super::wasm::Wasm as Target;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
pub(crate) use super::x86::X86 as Target;
