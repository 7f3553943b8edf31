//! Blocks built from vectors of 16 bytes, shared by the kernels of processors that have such vectors.

use super::block64::Block;

/// A vector of 16 bytes. Comparisons set each byte to all ones or all zeros.
pub(crate) trait Vector: Copy {
    /// Loads the bytes.
    fn load(bytes: &[u8; 16]) -> Self;
    /// As [`Block::eq`].
    fn eq(self, byte: u8) -> Self;
    /// As [`Block::eq_folded`].
    fn eq_folded(self, byte: u8) -> Self;
    /// As [`Block::at_least`].
    fn at_least(self, bound: u8) -> Self;
    /// As [`Block::control`].
    fn control(self) -> Self;
    /// As [`Block::high`].
    fn high(self) -> Self;
    /// As [`Block::odd`].
    fn odd(self) -> Self;
    /// Bitwise OR.
    fn or(self, other: Self) -> Self;
    /// Returns one bit for each byte.
    fn mask(self) -> u64;

    /// Returns the masks of four vectors as one.
    #[inline(always)]
    fn masks([a, b, c, d]: [Self; 4]) -> u64 {
        a.mask() | b.mask() << 16 | c.mask() << 32 | d.mask() << 48
    }
    /// As [`Block::stops`].
    #[inline(always)]
    fn stops(self) -> Self {
        self.eq(b'"').or(self.eq(b'\\')).or(self.odd())
    }
}

/// 16 bytes in one vector.
#[derive(Clone, Copy)]
pub(crate) struct Narrow<V>(V);

/// 64 bytes in four vectors.
#[derive(Clone, Copy)]
pub(crate) struct Wide<V>([V; 4]);

impl<V: Vector> Wide<V> {
    #[inline(always)]
    fn masks(self, of: impl Fn(V) -> V) -> u64 {
        V::masks(self.0.map(of))
    }
}

impl<V: Vector> Block<16> for Narrow<V> {
    #[inline(always)]
    fn load(bytes: &[u8; 16]) -> Self {
        Narrow(V::load(bytes))
    }
    #[inline(always)]
    fn eq(self, byte: u8) -> u64 {
        self.0.eq(byte).mask()
    }
    #[inline(always)]
    fn eq_folded(self, byte: u8) -> u64 {
        self.0.eq_folded(byte).mask()
    }
    #[inline(always)]
    fn at_least(self, bound: u8) -> u64 {
        self.0.at_least(bound).mask()
    }
    #[inline(always)]
    fn control(self) -> u64 {
        self.0.control().mask()
    }
    #[inline(always)]
    fn high(self) -> u64 {
        self.0.high().mask()
    }
    #[inline(always)]
    fn odd(self) -> u64 {
        self.0.odd().mask()
    }
    #[inline(always)]
    fn stops(self) -> u64 {
        self.0.stops().mask()
    }
}

impl<V: Vector> Block<64> for Wide<V> {
    #[inline(always)]
    fn load(bytes: &[u8; 64]) -> Self {
        // The slice always has 16 bytes; the compiler removes the zeros.
        let vector = |at| V::load(bytes.get(at..).and_then(|rest| rest.first_chunk()).unwrap_or(&[0; 16]));
        Wide([vector(0), vector(16), vector(32), vector(48)])
    }
    #[inline(always)]
    fn eq(self, byte: u8) -> u64 {
        self.masks(|vector| vector.eq(byte))
    }
    #[inline(always)]
    fn eq_folded(self, byte: u8) -> u64 {
        self.masks(|vector| vector.eq_folded(byte))
    }
    #[inline(always)]
    fn at_least(self, bound: u8) -> u64 {
        self.masks(|vector| vector.at_least(bound))
    }
    #[inline(always)]
    fn control(self) -> u64 {
        self.masks(V::control)
    }
    #[inline(always)]
    fn high(self) -> u64 {
        self.masks(V::high)
    }
    #[inline(always)]
    fn odd(self) -> u64 {
        self.masks(V::odd)
    }
    #[inline(always)]
    fn stops(self) -> u64 {
        self.masks(V::stops)
    }
}
