//! Blocks built from vectors of 16 bytes, shared by the kernels of processors that have such vectors.

use super::block64::{Block, Sum};

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
    /// Returns each byte XOR `byte`.
    fn xor(self, byte: u8) -> Self;
    /// Returns the lesser of each two bytes.
    fn min(self, other: Self) -> Self;
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

impl<V: Vector> Wide<V> {
    #[inline(always)]
    fn both(self, other: Self, of: impl Fn(V, V) -> V) -> Self {
        let (Wide([a, b, c, d]), Wide([e, f, g, h])) = (self, other);
        Wide([of(a, e), of(b, f), of(c, g), of(d, h)])
    }

    /// Combines the four vectors into one.
    #[inline(always)]
    fn fold(self, of: impl Fn(V, V) -> V) -> V {
        let Wide([a, b, c, d]) = self;
        of(of(a, b), of(c, d))
    }
}

impl<V: Vector> Sum for Wide<V> {
    #[inline(always)]
    fn equal(self, byte: u8) -> Self {
        Wide(self.0.map(|vector| vector.eq(byte)))
    }
    #[inline(always)]
    fn or(self, other: Self) -> Self {
        self.both(other, V::or)
    }
    #[inline(always)]
    fn lesser(self, other: Self) -> Self {
        self.both(other, V::min)
    }
    #[inline(always)]
    fn is_high(self) -> bool {
        self.fold(V::or).high().mask() != 0
    }
    #[inline(always)]
    fn note(self, byte: u8, noted: Self) -> Self {
        self.both(noted, |vector, noted| noted.min(vector.xor(byte)))
    }
    #[inline(always)]
    fn is_noted(noted: Self) -> bool {
        noted.fold(V::min).eq(0).mask() != 0
    }
    #[inline(always)]
    fn is_control(self) -> bool {
        self.fold(V::min).control().mask() != 0
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
