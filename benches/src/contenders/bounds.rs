//! Bounds that no reader of the bytes can beat.

use super::contender::{Contender, Kind};
use crate::Sink;
use std::hint::black_box;

/// Finds every newline.
pub struct Newlines;

impl Contender for Newlines {
    fn name(&self) -> &'static str {
        "bound: memchr_iter('\\n')"
    }
    fn kind(&self) -> Kind {
        Kind::Bound
    }
    fn read(&mut self, response: &[u8], slice: usize, sink: &mut Sink) {
        for slice in response.chunks(slice) {
            black_box(memchr::memchr_iter(b'\n', slice).fold(0, |sum: usize, at| sum.wrapping_add(at)));
            sink.sums.bytes += slice.len() as u64;
        }
    }
}

/// Copies every slice to the same place.
#[derive(Default)]
pub struct Copy {
    to: Vec<u8>,
}

impl Contender for Copy {
    fn name(&self) -> &'static str {
        "bound: memcpy"
    }
    fn kind(&self) -> Kind {
        Kind::Bound
    }
    fn read(&mut self, response: &[u8], slice: usize, sink: &mut Sink) {
        for slice in response.chunks(slice) {
            self.to.clear();
            self.to.extend_from_slice(slice);
            black_box(&self.to);
            sink.sums.bytes += slice.len() as u64;
        }
    }
}
