//! Those who do the work.

mod bounds;
mod own;
mod serde_structs;
mod tape;

use crate::{Input, Sink};

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
}

/// All of them, this library first.
pub fn all() -> Vec<Box<dyn Contender>> {
    vec![
        Box::<own::Pull>::default(),
        Box::<own::Views>::default(),
        Box::<own::Push>::default(),
        Box::<tape::Tape>::default(),
        Box::new(serde_structs::SerdeStructs),
        Box::new(bounds::Newlines),
        Box::<bounds::Copy>::default(),
    ]
}
