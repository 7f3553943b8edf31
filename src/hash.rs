//! A hash of a short text, to compare it with a later one.

/// Returns the 32-bit FNV-1a hash of the bytes.
pub(crate) fn fnv(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}
