//! What a parser takes up while it waits for bytes: printed, and held to what the README states.

use deltawire::stream::Machine;
use deltawire::track::Tracker;
use deltawire::{chat, sse, Parser};
use std::mem::size_of;

/// Bytes of storage that hold an ordinary event (nine of ten are at most 367 bytes long).
const ORDINARY: usize = 512;

#[test]
fn an_idle_parser_is_small() {
    let pull = size_of::<Parser<[u8; ORDINARY], 0, ()>>();
    let push = size_of::<Parser<[u8; ORDINARY]>>();
    let rows = [
        ("Parser<[u8; 512], 0, ()>", pull),
        ("Parser<[u8; 512]>", push),
        ("Machine", size_of::<Machine>()),
        ("chat::Index", size_of::<chat::Index>()),
        ("Tracker<8, 32>", size_of::<Tracker<8, 32>>()),
        ("sse::Lines", size_of::<sse::Lines>()),
        ("sse::Decoder<[u8; 512]>", size_of::<sse::Decoder<[u8; ORDINARY]>>()),
    ];
    for (name, size) in rows {
        println!("{name}: {size} bytes");
    }
    assert!(pull <= 2048, "a parser that only pulls takes {pull} bytes");
    if cfg!(target_pointer_width = "64") {
        let readme = include_str!("../README.md");
        for size in [pull, push] {
            let stated = format!("| {},{:03} |", size / 1000, size % 1000);
            assert!(readme.contains(&stated), "the README does not say {stated}");
        }
    }
}
