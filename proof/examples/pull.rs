//! The least that a microcontroller needs: it pulls from a buffer and folds the content into a checksum. `scripts/size.sh`
//! measures what that takes of its flash. With nothing under it, it is no program for this machine: feature `size`.
#![no_std]
#![no_main]

use core::hint::black_box;
use deltawire::{Config, Parser, Update};

/// How many payloads are remembered: none, where flash is dearer than time.
const SLOTS: usize = if cfg!(feature = "least") { 0 } else { 2 };

/// In the place of what a driver received.
static STREAM: [u8; 62] = *b"data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\n\ndata: [DONE]\n\n";

/// The bytes of the content, rotated and added up.
fn checksum(mut received: &[u8]) -> u32 {
    let mut parser = Parser::<_, SLOTS>::with_slots([0; 1024], Config::default(), deltawire::track::Tracker::new());
    let mut sum = 0_u32;
    while let Ok(Some(event)) = parser.next(&mut received) {
        for (_, update) in event.deltas() {
            let Update::Content(text) = update else { continue };
            for fragment in text.fragments() {
                for byte in fragment.encode(&mut [0; 4]).bytes() {
                    sum = sum.rotate_left(5).wrapping_add(byte.into());
                }
            }
        }
    }
    sum
}

/// Where the linker lets it begin.
#[no_mangle]
pub extern "C" fn _start() -> ! {
    black_box(checksum(black_box(&STREAM)));
    loop {
        core::hint::spin_loop();
    }
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {
        core::hint::spin_loop();
    }
}
