//! Searches for one or two byte values.
//!
//! memchr's modules for one instruction set are used, never its dispatching functions: those leave a writable function
//! pointer behind, which a library without state should not have.

/// Where the first CR or LF is.
#[inline]
pub(crate) fn line_end(bytes: &[u8]) -> Option<usize> {
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    if let Some(finder) = memchr::arch::x86_64::sse2::memchr::Two::new(b'\n', b'\r') {
        return finder.find(bytes);
    }
    #[cfg(all(target_arch = "aarch64", target_feature = "neon"))]
    if let Some(finder) = memchr::arch::aarch64::neon::memchr::Two::new(b'\n', b'\r') {
        return finder.find(bytes);
    }
    #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
    if let Some(finder) = memchr::arch::wasm32::simd128::memchr::Two::new(b'\n', b'\r') {
        return finder.find(bytes);
    }
    #[allow(unreachable_code)]
    memchr::arch::all::memchr::Two::new(b'\n', b'\r').find(bytes)
}

#[cfg(test)]
mod tests {
    #[test]
    fn finds_the_first_line_end_at_every_length_and_place() {
        for len in 0..130 {
            let mut bytes = [b'x'; 130];
            assert_eq!(super::line_end(bytes.get(..len).unwrap_or(&[])), None);
            for at in 0..len {
                for end in *b"\r\n" {
                    if let Some(byte) = bytes.get_mut(at) {
                        *byte = end;
                    }
                    assert_eq!(super::line_end(bytes.get(..len).unwrap_or(&[])), Some(at));
                }
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = b'x';
                }
            }
        }
    }
}
