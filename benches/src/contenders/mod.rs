//! Those who do the work.

mod bounds;
pub mod child;
#[cfg(feature = "peers")]
mod lines;
pub mod native;
mod own;
mod records;
#[cfg(feature = "peers")]
mod serde_cow;
#[cfg(feature = "peers")]
mod serde_structs;
#[cfg(feature = "peers")]
mod tape;

use crate::{clock, Input, Sink};

/// What a contender is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// This library.
    Own,
    /// Another way to do the same work.
    Peer,
    /// Less than the work: what no reader of the bytes can beat.
    Bound,
}

/// One who reads streams.
pub trait Contender {
    fn name(&self) -> &'static str;
    fn kind(&self) -> Kind;
    /// Reads one response, cut into slices of `slice` bytes.
    fn read(&mut self, response: &[u8], slice: usize, sink: &mut Sink);
    /// Reads all responses.
    fn run(&mut self, input: &Input, slice: usize, sink: &mut Sink) {
        for response in &input.responses {
            self.read(response, slice, sink);
            sink.end();
        }
    }
    /// How often the last run allocated, if that is known; `counted` is how often this process did.
    fn allocations(&self, counted: u64) -> Option<u64> {
        Some(counted)
    }
    /// Reads all responses; gives the seconds that it took.
    fn time(&mut self, input: &Input, slice: usize, sink: &mut Sink) -> f64 {
        let start = clock::seconds();
        self.run(input, slice, sink);
        clock::seconds() - start
    }
}

pub const PULL: &str = "deltawire pull";
pub const PULL_GENERIC: &str = "deltawire pull, memo off";
pub const VIEWS: &str = "deltawire pull, views";
pub const PUSH: &str = "deltawire push";
pub const BATCH: &str = "deltawire batch";
pub const C_CALLBACKS: &str = "deltawire in C, callbacks";
pub const C_BATCH: &str = "deltawire in C, batch";
pub const C_MESSAGE: &str = "deltawire in C, message from batches";
pub const PORTABLE: &str = "deltawire pull, u64 words";
pub const GO: &str = "deltawire in Go";
pub const GO_JSON: &str = "Go, bufio + encoding/json";
pub const SIMDJSON: &str = "C++: memchr + simdjson On-Demand";
pub const TAPE: &str = "lines + simd-json tape";
pub const SERDE_STRUCTS: &str = "eventsource-stream + serde_json, owned structs";
pub const NEWLINES: &str = "bound: memchr_iter('\\n')";

/// Room for an event of ordinary length that a slice cuts.
const ROOM: usize = 32 * 1024;
/// The same for events of up to 1 MB.
const LARGE_ROOM: usize = 2 << 20;

/// All of them that run in this process, this library first.
pub fn all() -> Vec<Box<dyn Contender>> {
    let mut all: Vec<Box<dyn Contender>> = vec![
        Box::new(own::Pull::<_, 2>::new(PULL, [0; ROOM])),
        Box::new(own::Pull::<_, 0>::new(PULL_GENERIC, [0; ROOM])),
        Box::new(own::Views::new([0; ROOM])),
        Box::new(own::Push::new([0; ROOM])),
        Box::new(records::Records::new(ROOM)),
    ];
    all.extend(native::all(ROOM));
    #[cfg(feature = "peers")]
    all.extend::<[Box<dyn Contender>; 4]>([
        Box::<tape::Tape>::default(),
        Box::<serde_cow::Sonic>::default(),
        Box::new(serde_cow::SseStream),
        Box::new(serde_structs::SerdeStructs),
    ]);
    all.extend::<[Box<dyn Contender>; 2]>([Box::new(bounds::Newlines), Box::<bounds::Copy>::default()]);
    all
}

/// One of them, by its name.
///
/// # Panics
///
/// If it is not here.
pub fn named(mut all: Vec<Box<dyn Contender>>, name: &str) -> Box<dyn Contender> {
    let at = all.iter().position(|contender| contender.name() == name);
    all.swap_remove(at.unwrap_or_else(|| panic!("{name} is not here")))
}

/// Who puts a message together, in C, if that was built. It finds the texts of the stream and not in which parts they
/// came, so that it is compared with nobody.
pub fn message() -> Option<Box<dyn Contender>> {
    native::message(ROOM)
}

/// Those who are compared on long events, with room for them.
pub fn all_large() -> Vec<Box<dyn Contender>> {
    let room = || vec![0; LARGE_ROOM].leak();
    let mut all: Vec<Box<dyn Contender>> = vec![
        Box::new(own::Pull::<_, 2>::new(PULL, room())),
        Box::new(own::Pull::<_, 0>::new(PULL_GENERIC, room())),
        Box::new(own::Push::new(room())),
        Box::new(records::Records::new(LARGE_ROOM)),
    ];
    all.extend(native::all(LARGE_ROOM));
    #[cfg(feature = "peers")]
    all.push(Box::<tape::Tape>::default());
    all.push(Box::new(bounds::Newlines));
    all
}
