//! The decoder's work is linear: it reads each byte a bounded number of times, however the stream is cut. Reads are
//! counted ([`visits`](crate::visits)), not timed.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)]
extern crate std;

use super::Decoder;
use crate::visits;
use crate::{Limits, Storage};
use std::format;
use std::println;
use std::string::String;
use std::vec;

/// The highest number of reads for each byte. The search for short lines loads blocks of 16 bytes, which counts.
const BOUND: f64 = 12.0;

/// Returns how many items a decoder reports for `bytes` in slices of `size`, and how many bytes it reads.
fn work<S: Storage>(storage: S, bytes: &[u8], size: usize) -> (usize, u64) {
    let limits = Limits { max_event_len: 64 << 20, max_id_len: 1 << 20, ..Limits::DEFAULT };
    let mut decoder = Decoder::with_limits(storage, limits);
    visits::during(|| {
        let mut items = 0;
        for mut slice in bytes.chunks(size) {
            while decoder.next(&mut slice).is_some() {
                items += 1;
            }
        }
        while decoder.finish().is_some() {
            items += 1;
        }
        items
    })
}

/// A decoder that reads earlier bytes again for every slice or line exceeds the bound by far on these inputs.
#[test]
fn work_is_linear() {
    let total = 1 << 20;
    let repeat = |head: String, unit: &str| head + &unit.repeat(total / unit.len());
    let ramp: String = (0..1400).map(|len| format!("id: {}\n", "i".repeat(len))).collect();
    let long = "x".repeat(1 << 17);
    let streams = [
        ("one line", repeat("data: ".into(), "x")),
        ("one comment", repeat(":".into(), "x")),
        ("one ID", repeat("id:".into(), "x")),
        ("one name", repeat("event:".into(), "x")),
        ("one unknown line", repeat(String::new(), "x")),
        ("digits", repeat("retry:".into(), "7")),
        ("empty data lines", repeat(String::new(), "data\n")),
        ("data after a long name", repeat(format!("event: {long}\n"), "data\n")),
        ("names after long data", repeat(format!("data: {long}\n"), "event:e\ndata\n")),
        ("IDs after long data", repeat(format!("data: {long}\n"), "id:1\nid:12\n")),
        ("ever longer IDs after long data", format!("data: {long}\n{ramp}")),
        ("all in turn", repeat(format!("data: {long}\nevent: {long}\n"), "id:12\nevent:ab\ndata:c\n:d\nretry:1\n")),
        ("long names in turn", repeat(String::new(), &format!("event: {long}\ndata:x\nid:1\n"))),
        ("comments in an event", repeat(format!("data: {long}\n"), ":\n")),
        ("events", repeat(String::new(), "data:x\n\n")),
        ("blank lines", repeat(String::new(), "\r\n")),
    ];
    for (name, stream) in &streams {
        for size in [1, 7, 4096, usize::MAX] {
            let mut room = vec![0; 8 << 20];
            let (items, visits) = work(&mut room[..], stream.as_bytes(), size);
            let each = visits as f64 / stream.len() as f64;
            println!("{name} in slices of {}: {each:.2} visits a byte, {items} items", size.min(stream.len()));
            assert!((0.9..=BOUND).contains(&each), "{name} in slices of {size}: {each:.2} visits a byte");
            #[cfg(feature = "alloc")]
            {
                let (same, visits) = work(crate::Growing::new(), stream.as_bytes(), size);
                let each = visits as f64 / stream.len() as f64;
                assert!(each <= BOUND, "{name} in slices of {size}, growing: {each:.2} visits a byte");
                assert_eq!(items, same);
            }
        }
    }
}
