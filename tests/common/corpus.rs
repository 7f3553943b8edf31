//! The streams for tests: `samples/`, and the recorded ones in the folder `DELTAWIRE_CORPUS`.

use std::path::{Path, PathBuf};

/// A stream and its name.
pub struct Stream {
    pub name: String,
    pub bytes: Vec<u8>,
}

/// Returns the project's own samples.
pub fn samples() -> Vec<Stream> {
    read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("samples"))
}

/// Returns the folder of recorded streams and conformance cases. If there is none, prints that the test is skipped, or fails if
/// `REQUIRE_ALL` is 1.
pub fn folder(test: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("DELTAWIRE_CORPUS").map(PathBuf::from);
    if folder.is_none() {
        assert!(std::env::var_os("REQUIRE_ALL").is_none_or(|all| all != "1"), "DELTAWIRE_CORPUS is not set");
        eprintln!("SKIP {test} (corpus): DELTAWIRE_CORPUS is not set");
    }
    folder
}

/// Returns the recorded streams, or none if [`folder`] has none.
pub fn recorded(test: &str) -> Vec<Stream> {
    folder(test).map_or(Vec::new(), |folder| read(&folder.join("streams")))
}

/// Returns the recorded streams of other protocols than chat completions, as [`recorded`] does those.
pub fn recorded_of_other_protocols(test: &str) -> Vec<Stream> {
    folder(test).map_or(Vec::new(), |folder| read(&folder.join("protocols")))
}

/// Returns streams in shapes that users of other parsers reported, as [`recorded`] does the recorded ones.
pub fn odd(test: &str) -> Vec<Stream> {
    folder(test).map_or(Vec::new(), |folder| read(&folder.join("field")))
}

/// Returns streams of other protocols: generated ones, and the recorded ones.
pub fn native(test: &str) -> Vec<Stream> {
    let generated = (0..24u32).map(|seed| {
        let body: Vec<u8> = (0..300u32).map(|at| (seed * 7919 + at * at * 31 + at / 3 * (seed + 5)) as u8).collect();
        let body = [&[seed as u8 % 3, [0, 4, 2, 0x60, 0xe0, 12][seed as usize / 4]], &body[..]].concat();
        Stream { name: format!("native-{seed}"), bytes: super::native::stream(&mut super::input::Source::new(&body)).1 }
    });
    let mut streams: Vec<Stream> = generated.collect();
    streams.extend(recorded_of_other_protocols(test));
    streams
}

fn read(folder: &Path) -> Vec<Stream> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let name = |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().to_string();
    let is_stream = |name: &str| {
        (name.ends_with(".sse") || name.ends_with(".json")) && !name.contains("expected") && name != "cases.json"
    };
    paths.retain(|path| is_stream(&name(path)));
    paths.iter().map(|path| Stream { name: name(path), bytes: std::fs::read(path).unwrap() }).collect()
}
