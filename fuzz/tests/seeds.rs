//! Each target on its seeds, and on some inputs made of them, without a fuzzer.

use std::path::Path;
use std::sync::atomic::Ordering;

/// Runs a target on each of its seeds, and on each with a few bytes changed.
fn seeds(name: &str, target: fn(&[u8])) -> usize {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds").join(name);
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("a seed").path()).collect();
    paths.sort();
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = |bound: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % bound as u64) as usize
    };
    let mut runs = 0;
    for path in paths {
        let seed = std::fs::read(&path).expect("a seed");
        target(&seed);
        for _ in 0..20 {
            let mut input = seed.clone();
            for _ in 0..1 + random(6) {
                // Of the control part now and then; its length stays.
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
    sse_peer: deltawire_fuzz::sse_peer::sse_peer,
    json_strict: deltawire_fuzz::json::strict,
    json_lazy: deltawire_fuzz::json::lazy,
    text: deltawire_fuzz::text::text,
    raw_json: deltawire_fuzz::raw_json::raw_json,
    capi: deltawire_fuzz::capi::capi,
}

#[test]
fn message() {
    seeds("message", deltawire_fuzz::message::message);
    let compared = deltawire_fuzz::naive::COMPARED.load(Ordering::Relaxed);
    println!("{compared} choices compared with the naive reading");
    assert!(compared > 200, "the naive reading refuses nearly everything");
}
