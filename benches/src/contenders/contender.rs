//! The contenders' common interface, and their names.

use crate::{clock, Input, Sink, Sums};

/// The kind of a contender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// This library.
    Own,
    /// Another way to do the same work.
    Peer,
    /// Less than the work: a bound that no reader of the bytes can beat.
    Bound,
}

/// A program, or a part of this one, that reads streams.
pub trait Contender {
    fn name(&self) -> &'static str;
    fn kind(&self) -> Kind;
    /// Reads one response, cut into slices of `slice` bytes.
    fn read(&mut self, response: &[u8], slice: usize, sink: &mut Sink);
    /// Returns what it must find in an input.
    fn expected(&self, input: &Input) -> Sums {
        input.expected
    }
    /// Reads all responses.
    fn run(&mut self, input: &Input, slice: usize, sink: &mut Sink) {
        for response in &input.responses {
            self.read(response, slice, sink);
            sink.end();
        }
    }
    /// Returns how often the last run allocated, if that is known; `counted` is how often this process did.
    fn allocations(&self, counted: u64) -> Option<u64> {
        Some(counted)
    }
    /// Reads all responses, and returns the seconds that it took.
    fn time(&mut self, input: &Input, slice: usize, sink: &mut Sink) -> f64 {
        let start = clock::seconds();
        self.run(input, slice, sink);
        clock::seconds() - start
    }
}

/// Events, each with the number of its stream.
pub type Events<'e> = dyn Iterator<Item = (usize, &'e [u8])> + 'e;

type ReadEvents = dyn FnMut(&mut Events<'_>, &mut Sink);

/// Many streams that share a workspace, read through one interface.
pub struct Streams {
    pub name: &'static str,
    read: Box<ReadEvents>,
}

/// Makes so many streams.
pub type MakeStreams = fn(usize) -> Streams;

impl Streams {
    pub(super) fn new(name: &'static str, read: impl FnMut(&mut Events<'_>, &mut Sink) + 'static) -> Self {
        Streams { name, read: Box::new(read) }
    }

    /// Lets each stream read its event, one after the other.
    pub fn read(&mut self, events: &mut Events<'_>, sink: &mut Sink) {
        (self.read)(events, sink);
    }
}

pub const PULL: &str = "deltawire pull";
pub const PULL_GENERIC: &str = "deltawire pull, memo off";
pub const PUSH: &str = "deltawire push";
pub const ADAPTER: &str = "deltawire deltas() of a Stream, owned";
pub const METER: &str = "deltawire meter";
pub const BATCH: &str = "deltawire batch";
pub const C_CALLBACKS: &str = "deltawire in C, callbacks";
pub const C_BATCH: &str = "deltawire in C, batch";
pub const CPP: &str = "deltawire in C++, handler";
pub const C_MESSAGE: &str = "deltawire in C, message from callbacks";
pub const C_MESSAGE_BATCH: &str = "deltawire in C, message from batches";
pub const PORTABLE: &str = "deltawire pull, u64 words";
pub const GO: &str = "deltawire in Go";
pub const GO_JSON: &str = "Go, bufio + encoding/json";
pub const SIMDJSON: &str = "C++: memchr + simdjson On-Demand";
pub const TAPE: &str = "lines + simd-json tape";
pub const SERDE_STRUCTS: &str = "eventsource-stream + serde_json, owned structs";
pub const NEWLINES: &str = "bound: memchr_iter('\\n')";
