//! Many streams in turn, as in a gateway: all share a workspace, and each has room for 512 bytes of an event that a
//! read cuts.

use super::contender::{MakeStreams, Streams, PULL, PUSH};
use super::{native, own};
use crate::Sink;
use deltawire::track::Tracker;
use deltawire::{Config, Event, Parser, Workspace};

type Shared = Parser<[u8; 512], 0>;

// Callgrind finds these two by their names.
#[no_mangle]
#[inline(never)]
fn event_by_pull(parser: &mut Shared, workspace: &mut Workspace, mut event: &[u8], sink: &mut Sink) {
    while let Some(event) = parser.next_with(workspace, &mut event).expect("no quirk is an error") {
        if let Event::Chunk(_) = *event {
            sink.sums.events += 1;
            own::deltas(event.deltas(), sink);
        }
    }
}

#[no_mangle]
#[inline(never)]
fn event_by_push(parser: &mut Shared, workspace: &mut Workspace, event: &[u8], sink: &mut Sink) {
    assert!(parser.feed_with(workspace, event, &mut own::Fill(sink)).stop.is_none(), "nobody stops it");
}

fn pull(count: usize) -> Streams {
    let mut parsers = vec![Shared::with_slots([0; 512], Config::default(), Tracker::new()); count];
    let mut workspace = Workspace::new();
    Streams::new(PULL, move |events, sink| {
        events.for_each(|(nth, event)| event_by_pull(&mut parsers[nth], &mut workspace, event, sink));
    })
}

fn push(count: usize) -> Streams {
    let mut parsers = vec![Shared::with_slots([0; 512], Config::default(), Tracker::new()); count];
    let mut workspace = Workspace::new();
    Streams::new(PUSH, move |events, sink| {
        events.for_each(|(nth, event)| event_by_push(&mut parsers[nth], &mut workspace, event, sink));
    })
}

/// Returns each interface that this build has.
pub fn all() -> Vec<MakeStreams> {
    [pull as MakeStreams, push].into_iter().chain(native::streams()).collect()
}
