//! The same bytes, cut in any way, on any storage: the same events. Over streams made at random from telling pieces.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]
extern crate std;

use super::{Config, Framing, Parser, Validate};
use crate::{Limits, QuirkSet, Storage};
use std::format;
use std::string::String;
use std::vec;
use std::vec::Vec;

/// xorshift64*: enough to pick pieces.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }
    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        ((self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize) % n
    }
}

const PIECES: &[&[u8]] = &[
    b"data: ",
    b"data:",
    b"data",
    b"event: ping",
    b"event: error",
    b"event:",
    b"event: x",
    b"id: 7",
    b"id:",
    b"id: a\0b",
    b"id: a-rather-long-identifier-0123456789",
    b"retry: 30",
    b"retry:",
    b"retry: 1x",
    b":",
    b": comment",
    b"error: {\"message\":\"m\"}",
    b"error: text",
    b"errors",
    b"{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}}]}",
    b"{\"error\":{\"message\":\"x\"}}",
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b"\"a\":",
    b"\"b}\"",
    b"{}",
    b"null",
    b"[DONE]",
    b"[DONE",
    b"[Done]",
    b"\n",
    b"\n",
    b"\n",
    b"\n\n",
    b"\r",
    b"\r\n",
    b"\r\n\r\n",
    b" ",
    b"  ",
    b"\xEF\xBB\xBF",
    b"\xEF",
    b"\xBB",
    b"dat",
    b"ret",
    b"x",
    b"\0",
    b"\xF0\x9F",
];

pub(crate) fn stream(random: &mut Random) -> Vec<u8> {
    let mut bytes = vec![];
    for _ in 0..1 + random.below(12) {
        bytes.extend_from_slice(PIECES[random.below(PIECES.len())]);
    }
    bytes
}

fn log<S: Storage>(bytes: &[u8], cuts: &[usize], storage: S, config: Config) -> Vec<String> {
    let mut parser = Parser::with_config(storage, config);
    let mut log = vec![];
    let mut from = 0;
    for &to in cuts.iter().chain([&bytes.len()]) {
        let mut input = &bytes[from..to];
        loop {
            let line = match parser.next(&mut input) {
                Ok(Some(event)) => format!("{event:?}"),
                Ok(None) => break,
                Err(error) => format!("{error:?}"),
            };
            log.push(format!("{line} {:?} {:?}", parser.wire_range(), parser.last_event_id()));
        }
        assert!(input.is_empty());
        from = to;
    }
    loop {
        let line = match parser.finish() {
            Ok(Some(event)) => format!("{event:?}"),
            Ok(None) => break,
            Err(error) => format!("{error:?}"),
        };
        log.push(format!("{line} {:?}", parser.wire_range()));
    }
    log.push(format!("{:?} {:?}", parser.end(), parser.quirks()));
    log
}

fn config(random: &mut Random) -> Config {
    let max_event_len = if random.below(2) == 0 { 1 << 20 } else { random.below(40) as u32 };
    Config {
        limits: Limits { max_event_len, max_id_len: 8 << random.below(5), ..Limits::DEFAULT },
        framing: if random.below(5) == 0 { Framing::Spec } else { Framing::Lenient },
        validate: if random.below(5) == 0 { Validate::Strict } else { Validate::Lazy },
        errors: if random.below(8) == 0 { QuirkSet::ALL } else { QuirkSet::EMPTY },
        ..Config::default()
    }
}

#[test]
fn events_do_not_depend_on_how_the_bytes_are_cut() {
    let mut random = Random::new(7);
    for _ in 0..12_000 {
        let bytes = stream(&mut random);
        let config = config(&mut random);
        let whole = log(&bytes, &[], [0u8; 512], config);
        for at in 0..=bytes.len() {
            let cut = log(&bytes, &[at], [0u8; 512], config);
            assert_eq!(cut, whole, "cut at {at}: {:?} {config:?}", String::from_utf8_lossy(&bytes));
        }
        let each: Vec<usize> = (1..bytes.len()).collect();
        assert_eq!(
            log(&bytes, &each, [0u8; 512], config),
            whole,
            "byte by byte: {:?}",
            String::from_utf8_lossy(&bytes)
        );
    }
}

#[test]
fn a_small_storage_is_a_limit_like_any_other() {
    let mut random = Random::new(11);
    for _ in 0..12_000 {
        let bytes = stream(&mut random);
        let config = config(&mut random);
        let size = random.below(80);
        let (mut a, mut b) = (vec![0u8; size], vec![0u8; size]);
        let whole = log(&bytes, &[], &mut a[..], config);
        let each: Vec<usize> = (1..bytes.len()).collect();
        let cut = log(&bytes, &each, &mut b[..], config);
        assert_eq!(cut, whole, "storage of {size}: {:?} {config:?}", String::from_utf8_lossy(&bytes));
        let at = random.below(bytes.len() + 1);
        let cut = log(&bytes, &[at], &mut b[..], config);
        assert_eq!(cut, whole, "storage of {size}, cut at {at}: {:?} {config:?}", String::from_utf8_lossy(&bytes));
    }
}

#[cfg(feature = "alloc")]
#[test]
fn a_growing_storage_gives_the_same() {
    let mut random = Random::new(13);
    for _ in 0..3_000 {
        let bytes = stream(&mut random);
        let config = config(&mut random);
        let whole = log(&bytes, &[], [0u8; 4096], config);
        let each: Vec<usize> = (1..bytes.len()).collect();
        assert_eq!(log(&bytes, &each, crate::Growing::new(), config), whole, "{:?}", String::from_utf8_lossy(&bytes));
    }
}

#[test]
fn many_raw_values_on_one_line_cost_no_more_than_their_bytes() {
    // Looking for the line's end anew at each value took half a minute.
    let bytes = b"{}".repeat(1 << 20);
    let started = std::time::Instant::now();
    let mut parser = Parser::new([0u8; 64]);
    let (mut input, mut values) = (&bytes[..], 0);
    while let Ok(Some(_)) = parser.next(&mut input) {
        values += 1;
    }
    assert_eq!(values, 1 << 20);
    assert!(started.elapsed().as_secs() < 8, "{:?}", started.elapsed());
}
