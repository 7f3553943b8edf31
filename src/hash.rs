//! A hash of a short text, to compare it with a later one.

/// The hash of no bytes.
pub(crate) const EMPTY: u32 = 0x811c_9dc5;

/// Returns the 32-bit FNV-1a hash of the bytes.
pub(crate) fn fnv(bytes: &[u8]) -> u32 {
    fnv_after(EMPTY, bytes)
}

/// Returns the hash of the bytes after those with this hash.
pub(crate) fn fnv_after(hash: u32, bytes: &[u8]) -> u32 {
    bytes.iter().fold(hash, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}
