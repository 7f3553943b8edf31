//! Which instructions the processor has beyond those that the target guarantees.
//!
//! The result is the only state that the library shares between parsers: one byte, which every thread sets to the same
//! value, and which never changes afterwards. Detecting it needs no standard library.
#![allow(unsafe_code)]

use core::arch::x86_64::{__cpuid_count, _xgetbv};
use core::sync::atomic::{AtomicU8, Ordering};

const UNKNOWN: u8 = 0;
const SSE2: u8 = 1;
const AVX2: u8 = 2;

/// The result. It lies in `.bss`, because it starts as 0 and holds no pointer.
static LEVEL: AtomicU8 = AtomicU8::new(UNKNOWN);

/// Whether the processor and the operating system support the features that [`avx2`](super::avx2) is compiled for.
/// Always `false` with `--cfg deltawire_sse2`.
#[inline(always)]
pub(super) fn has_avx2() -> bool {
    #[cfg(test)]
    if let Some(forced) = forced::get() {
        return forced;
    }
    // Miri does not support `cpuid`.
    if cfg!(any(deltawire_sse2, miri)) {
        return false;
    }
    let level = LEVEL.load(Ordering::Relaxed);
    level == AVX2 || level == UNKNOWN && detect()
}

/// Asks the processor, and stores the result.
#[cold]
#[inline(never)]
pub(super) fn detect() -> bool {
    let found = ask();
    LEVEL.store(if found { AVX2 } else { SSE2 }, Ordering::Relaxed);
    found
}

#[allow(unused_unsafe)] // Newer versions of Rust call `cpuid` safe.
fn ask() -> bool {
    /// POPCNT, OSXSAVE and AVX.
    const FIRST: u32 = 1 << 23 | 1 << 27 | 1 << 28;
    /// BMI1, AVX2 and BMI2.
    const SEVENTH: u32 = 1 << 3 | 1 << 5 | 1 << 8;
    /// LZCNT.
    const EXTENDED: u32 = 1 << 5;
    const LAST_EXTENDED: u32 = 0x8000_0000;
    /// The operating system saves the registers of SSE and of AVX.
    const KEPT: u64 = 6;

    // SAFETY: every 64-bit processor has `cpuid`, and each leaf is used only if the highest leaf shows that it exists.
    unsafe {
        if __cpuid_count(0, 0).eax < 7
            || __cpuid_count(1, 0).ecx & FIRST != FIRST
            || __cpuid_count(7, 0).ebx & SEVENTH != SEVENTH
            || __cpuid_count(LAST_EXTENDED, 0).eax <= LAST_EXTENDED
            || __cpuid_count(LAST_EXTENDED + 1, 0).ecx & EXTENDED != EXTENDED
        {
            return false;
        }
    }
    // SAFETY: OSXSAVE is set, so the processor has `xgetbv` and the operating system allows it.
    unsafe { _xgetbv(0) & KEPT == KEPT }
}

/// Uses AVX2 from here on, if `avx2` and the processor has it, and SSE2 otherwise. Only fuzzers, which have one thread,
/// force a level.
#[cfg(fuzzing)]
pub(crate) fn force(avx2: bool) {
    static BEST: AtomicU8 = AtomicU8::new(UNKNOWN);
    // Asking an emulated processor takes as long as reading a stream.
    if BEST.load(Ordering::Relaxed) == UNKNOWN {
        detect();
        BEST.store(LEVEL.load(Ordering::Relaxed), Ordering::Relaxed);
    }
    LEVEL.store(if avx2 { BEST.load(Ordering::Relaxed) } else { SSE2 }, Ordering::Relaxed);
}

/// Lets a test force a level for its own thread.
#[cfg(test)]
pub(crate) mod forced {
    extern crate std;
    use core::cell::Cell;

    std::thread_local! {
        static LEVEL: Cell<Option<bool>> = const { Cell::new(None) };
    }

    pub(super) fn get() -> Option<bool> {
        LEVEL.with(Cell::get)
    }

    /// Runs `test` with SSE2, and with AVX2 if the processor has it.
    pub(crate) fn each(mut test: impl FnMut()) {
        for avx2 in [false, true] {
            if avx2 && !super::detect() {
                std::println!("SKIP level avx2: the processor does not have it");
                continue;
            }
            LEVEL.with(|level| level.set(Some(avx2)));
            test();
        }
        LEVEL.with(|level| level.set(None));
    }
}
