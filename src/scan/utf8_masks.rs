//! Checks UTF-8 by masks of one bit for each byte, for kernels without a table lookup of 16 bytes.

use super::block64::{Block, Sum, Utf8};

/// Searches for ill-formed UTF-8. Its state spans block borders.
#[derive(Default)]
pub(crate) struct Check {
    /// Mask of the first bytes of the next block that must be continuation bytes.
    continuations: u64,
    /// Bit 0: the last byte was 0xE0, which requires 0xA0 or more next.
    e0: u64,
    /// Bit 0: the last byte was 0xED, which requires less than 0xA0 next.
    ed: u64,
    /// Bit 0: the last byte was 0xF0, which requires 0x90 or more next.
    f0: u64,
    /// Bit 0: the last byte was 0xF4, which requires less than 0x90 next.
    f4: u64,
}

impl Check {
    /// Checks the next `N` bytes. Returns whether they are ill-formed.
    #[inline(always)]
    pub(super) fn look<const N: usize>(&mut self, block: impl Block<N>) -> bool {
        let high = block.high();
        if high == 0 {
            let expected = self.continuations != 0;
            *self = Check::default();
            return expected;
        }
        let carried = |bits: u64, by: u32| bits.wrapping_shr((N as u32).wrapping_sub(by));
        let before = core::mem::take(self);
        let lead2 = block.at_least(0xc0);
        let lead3 = block.at_least(0xe0);
        let continuation = high & !lead2;
        let mut expected = before.continuations | lead2 << 1 | lead3 << 2;
        self.continuations = carried(lead2, 1) | carried(lead3, 2);
        // 0xC0 and 0xC1 would be overlong.
        let mut faults = lead2 & !block.at_least(0xc2);
        if lead3 | before.e0 | before.ed != 0 {
            let lead4 = block.at_least(0xf0);
            let e0 = block.eq(0xe0);
            let ed = block.eq(0xed);
            let from_a0 = block.at_least(0xa0);
            faults |= (e0 << 1 | before.e0) & !from_a0 | (ed << 1 | before.ed) & from_a0;
            expected |= lead4 << 3;
            self.continuations |= carried(lead4, 3);
            self.e0 = carried(e0, 1);
            self.ed = carried(ed, 1);
            if lead4 != 0 {
                let f0 = block.eq(0xf0);
                let f4 = block.eq(0xf4);
                let from_90 = block.at_least(0x90);
                // 0xF5 and above would exceed U+10FFFF.
                faults |= block.at_least(0xf5);
                faults |= (f0 << 1) & !from_90 | (f4 << 1) & from_90;
                self.f0 = carried(f0, 1);
                self.f4 = carried(f4, 1);
            }
        }
        if before.f0 | before.f4 != 0 {
            let from_90 = block.at_least(0x90);
            faults |= before.f0 & !from_90 | before.f4 & from_90;
        }
        let inside = u64::MAX.wrapping_shr(64u32.wrapping_sub(N as u32));
        faults | (expected ^ continuation) & inside != 0
    }

    /// [`look`](Check::look) at 64 bytes. Out of line on x86-64, because it is large, three searches need it, and the
    /// kernel for AVX2 has a check of its own.
    #[cfg_attr(target_arch = "x86_64", inline(never))]
    #[cfg_attr(not(target_arch = "x86_64"), inline(always))]
    fn look_wide(&mut self, block: impl Block<64>) -> bool {
        self.look(block)
    }
}

impl<B: Sum> Utf8<B> for Check {
    /// A complete sequence carries nothing into a block of ASCII.
    #[inline(always)]
    fn see(&mut self, block: B) -> bool {
        if block.is_high() {
            self.look_wide(block)
        } else {
            !<Self as Utf8<B>>::is_complete(self)
        }
    }
    #[inline(always)]
    fn is_complete(&self) -> bool {
        self.continuations == 0
    }
}
