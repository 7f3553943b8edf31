//! Every function that the core offers, called on bytes that the compiler knows nothing about.
//!
//! A drive takes a stream and the size of the slices that it comes in, and answers with a hash of all that was read,
//! the same for every size. What a drive does itself must not be able to panic.

use deltawire::sse::{Lines, Piece};

/// FNV-1a, 64 bit.
struct Hash(u64);

impl Hash {
    fn new() -> Self {
        Hash(0xcbf2_9ce4_8422_2325)
    }

    fn byte(&mut self, byte: u8) {
        self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }

    fn bytes(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.byte(byte));
    }
}

/// `sse::Lines`: what each line is, and its bytes.
pub fn lines(bytes: &[u8], cut: usize) -> u64 {
    fn see(hash: &mut Hash, piece: &Piece<'_>) {
        if piece.first {
            hash.byte(piece.field as u8);
        }
        hash.bytes(piece.held.as_slice());
        hash.bytes(piece.value);
        if piece.last {
            hash.byte(b'\n');
        }
    }
    let mut hash = Hash::new();
    let mut lines = Lines::new();
    for mut slice in bytes.chunks(cut.max(1)) {
        while let Some(piece) = lines.next(&mut slice) {
            see(&mut hash, &piece);
        }
    }
    hash.byte(u8::from(lines.in_line()));
    if let Some(piece) = lines.finish() {
        see(&mut hash, &piece);
    }
    hash.0
}

/// The control: an index that nothing bounds. It must not link.
#[cfg(feature = "control")]
pub fn control(bytes: &[u8], cut: usize) -> u64 {
    u64::from(bytes[cut])
}
