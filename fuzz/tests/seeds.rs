//! Runs each target on its seeds, and on mutated seeds, without a fuzzer.

use deltawire_fuzz::random::Random;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

/// Returns the sorted paths of the files in a folder of this crate.
fn files(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("a file").path()).collect();
    paths.sort();
    paths
}

/// Returns the seeds of a target: its own, and each sample, behind the length of an empty control part.
fn seeds_of(name: &str) -> Vec<Vec<u8>> {
    let read = |path: PathBuf| std::fs::read(path).expect("a seed");
    let is_stream = |path: &PathBuf| [".sse", "body.json"].iter().any(|end| path.display().to_string().ends_with(end));
    let samples = files("../samples").into_iter().filter(is_stream).map(|path| [b"\0", &read(path)[..]].concat());
    files(&format!("seeds/{name}")).into_iter().map(read).chain(samples).collect()
}

/// Runs a target on each of its seeds, and on each with a few bytes changed.
fn seeds(name: &str, target: fn(&[u8])) -> usize {
    let mut numbers = Random::new(1);
    let mut random = |bound| numbers.below(bound);
    let mut runs = 0;
    for seed in seeds_of(name) {
        target(&seed);
        for _ in 0..20 {
            let mut input = seed.clone();
            for _ in 0..1 + random(6) {
                // Occasionally change the control part, but not its length.
                let control = usize::from(input[0]).min(input.len() - 1);
                let at = if control > 0 && random(2) == 0 { random(control) } else { random(input.len() - 1) };
                let at = at + 1;
                input[at] = random(256) as u8;
            }
            target(&input);
            runs += 1;
        }
        runs += 1;
    }
    println!("{name}: {runs} inputs");
    runs
}

macro_rules! targets {
    ($($name:ident: $target:path,)*) => {
        $(#[test]
        fn $name() {
            assert!(seeds(stringify!($name), $target) > 60);
        })*
    };
}

targets! {
    memo: deltawire_fuzz::memo::memo,
    split: deltawire_fuzz::split::split,
    sse: deltawire_fuzz::sse::sse,
    json_strict: deltawire_fuzz::json::strict,
    raw_json: deltawire_fuzz::raw_json::raw_json,
    capi: deltawire_fuzz::capi::capi,
}

// Where the reference may reject an input, it must not reject nearly all of them.
macro_rules! compared {
    ($($name:ident: $target:path, $compared:path, $least:literal;)*) => {
        $(#[test]
        fn $name() {
            assert!(seeds(stringify!($name), $target) > 60);
            let compared = $compared.load(Ordering::Relaxed);
            println!("{}: {compared} compared with another reading", stringify!($name));
            assert!(compared > $least, "{compared}");
        })*
    };
}

compared! {
    sse_peer: deltawire_fuzz::sse_peer::sse_peer, deltawire_fuzz::sse_peer::COMPARED, 100;
    json_lazy: deltawire_fuzz::json::lazy, deltawire_fuzz::json::COMPARED, 5;
    text: deltawire_fuzz::text::text, deltawire_fuzz::text::COMPARED, 40;
    dialect: deltawire_fuzz::dialect::dialect, deltawire_fuzz::dialect::COMPARED, 100;
    message: deltawire_fuzz::message::message, deltawire_fuzz::message::COMPARED, 50;
    write: deltawire_fuzz::write::write, deltawire_fuzz::write::COMPARED, 50;
}
