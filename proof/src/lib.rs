//! The core of deltawire behind C functions, to be linked with nothing.
//!
//! The panic handler calls a function that exists nowhere. So a program that links has no reachable panic; linked with
//! no library but five memory functions, it has no allocator and no operating system either. `scripts/proof.sh` links
//! it, runs it, and compares what it computes with the test below, which is an ordinary program.
#![cfg_attr(not(test), no_std)]

mod drive;

#[cfg(not(test))]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    extern "C" {
        fn deltawire_panic_reached() -> !;
    }
    // SAFETY: it is never called: nothing links that reaches this line.
    unsafe { deltawire_panic_reached() }
}

/// Each drive as a C function. `exports.txt` lists the names once more, in alphabetical order as here, for C and for the
/// check of the symbols.
macro_rules! exports {
    ($($(#[$attribute:meta])* $name:ident => $drive:path,)*) => {
        $(
            /// # Safety
            /// `bytes` points to `len` readable bytes, or is null.
            $(#[$attribute])*
            #[no_mangle]
            pub unsafe extern "C" fn $name(bytes: *const u8, len: usize, cut: usize) -> u64 {
                // SAFETY: the caller promises that these bytes are readable.
                let bytes = if bytes.is_null() { &[] } else { unsafe { core::slice::from_raw_parts(bytes, len) } };
                $drive(bytes, cut)
            }
        )*
        #[cfg(test)]
        const EXPORTS: &[(&str, fn(&[u8], usize) -> u64)] = &[$($(#[$attribute])* (stringify!($name), $drive),)*];
    };
}

exports! {
    proof_chat => drive::chat,
    proof_decoder => drive::decoder,
    proof_json => drive::json,
    proof_lines => drive::lines,
    proof_message => drive::message,
    proof_pull => drive::pull,
    proof_push => drive::push,
    proof_translate => drive::translate,
    proof_write => drive::write,
}

#[cfg(test)]
mod tests {
    use super::EXPORTS;
    use std::{env, fs, path::Path};

    /// The same as `main.c`: slices of these sizes, added up.
    const CUTS: [usize; 4] = [1, 7, 64, 1 << 20];

    #[test]
    fn a_cut_changes_nothing_and_the_sums_are_printed() {
        let files = |folder: &Path| {
            let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
            paths.sort();
            assert!(paths.len() > 30);
            paths
        };
        let mut paths = files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../samples"));
        // What scripts/lib.sh makes.
        if let Some(streams) = env::var_os("DELTAWIRE_STREAMS") {
            paths.extend(files(Path::new(&streams)));
        }
        for path in paths {
            let bytes = fs::read(&path).unwrap();
            println!("sum {}", path.file_name().unwrap().to_str().unwrap());
            for (name, drive) in EXPORTS {
                let whole = drive(&bytes, usize::MAX);
                let sum = CUTS.iter().fold(0u64, |sum, &cut| {
                    assert_eq!(drive(&bytes, cut), whole, "{name} in slices of {cut}");
                    (sum ^ whole).wrapping_mul(0x0100_0000_01b3)
                });
                println!("sum {name} {sum:016x}");
            }
        }
    }
}
