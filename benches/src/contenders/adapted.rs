//! This library's adapter of a `Stream`: owned deltas, which a program may send to another task. It allocates a parser for
//! each response.

use super::contender::{Contender, Kind};
use crate::{Input, Sink, Sums};
use deltawire::adapters::DeltaStreamExt;
use futures::{executor, stream, StreamExt};
use std::convert::Infallible;

/// See the module.
pub struct Adapted;

impl Contender for Adapted {
    fn name(&self) -> &'static str {
        super::contender::ADAPTER
    }
    fn kind(&self) -> Kind {
        Kind::Own
    }
    /// Its items do not tell which events they came from.
    fn expected(&self, input: &Input) -> Sums {
        Sums { events: 0, ..input.expected }
    }
    fn read(&mut self, response: &[u8], slice: usize, sink: &mut Sink) {
        let mut deltas = stream::iter(response.chunks(slice).map(Ok::<_, Infallible>)).deltas();
        executor::block_on(async {
            while let Some(Ok(item)) = deltas.next().await {
                super::own::deltas(item.as_update(), sink);
            }
        });
    }
}
