//! Many streams at once: what one costs while it waits, and what it costs to come back to it.

use crate::measure::median;
use deltawire::{Config, Event, Parser, SharedParser, Update, Workspace};
use deltawire_benches::{clock, Input};

const PARSERS: usize = 100_000;
/// Turns before anything is measured: every shape of event has been seen.
const WARM: usize = 4;
const TURNS: usize = 5;
/// Has no divisor in common with [`PARSERS`]: the turn goes round in an order that no prefetcher guesses.
const STRIDE: usize = 61_803;

/// For one number of slots.
pub struct Row {
    pub slots: String,
    /// Of a parser that pulls, with 512 bytes for a cut event.
    pub pull: usize,
    /// The same with the tables that push uses.
    pub push: usize,
    /// Nanoseconds an event, of many parsers in turn.
    pub many: f64,
    /// Nanoseconds an event, of one parser after the other, each to its end.
    pub hot: f64,
}

fn take(event: Event<'_>, text: &mut String) {
    let Event::Chunk(chunk) = event else { return };
    for (_, update) in chunk.deltas() {
        if let Update::Content(content) = update {
            content.push_to(text);
        }
    }
}

fn own<const SLOTS: usize>(streams: &[Vec<&[u8]>]) -> Row {
    let new = || Parser::<_, SLOTS, ()>::with_slots([0; 512], Config::default(), ());
    let sizes = (size_of::<Parser<[u8; 512], SLOTS, ()>>(), size_of::<Parser<[u8; 512], SLOTS>>());
    row(SLOTS.to_string(), sizes, streams, new, |parser, mut event, text| {
        while let Some(event) = parser.next(&mut event).expect("no quirk is an error") {
            take(event, text);
        }
    })
}

fn shared<const SLOTS: usize>(streams: &[Vec<&[u8]>]) -> Row {
    let mut workspace = Workspace::<SLOTS>::with_slots();
    let sizes = (size_of::<SharedParser<[u8; 512], ()>>(), size_of::<SharedParser<[u8; 512]>>());
    let new = || Parser::sharing([0; 512], Config::default(), ());
    row(format!("{SLOTS}, shared by all"), sizes, streams, new, |parser, mut event, text| {
        while let Some(event) = parser.next_with(&mut workspace, &mut event).expect("no quirk is an error") {
            take(event, text);
        }
    })
}

fn row<P: Clone>(
    slots: String,
    (pull, push): (usize, usize),
    streams: &[Vec<&[u8]>],
    new: impl Fn() -> P,
    mut read: impl FnMut(&mut P, &[u8], &mut String),
) -> Row {
    let mut text = String::with_capacity(64 << 20);
    let mut parsers = vec![new(); PARSERS];
    let (mut many, mut hot) = (Vec::new(), Vec::new());
    for turn in 0..WARM + TURNS {
        text.clear();
        let start = clock::seconds();
        let mut place = 0;
        for _ in 0..PARSERS {
            place = (place + STRIDE) % PARSERS;
            read(&mut parsers[place], streams[place % streams.len()][turn], &mut text);
        }
        let time = clock::seconds() - start;
        // As much text from parsers that stay where they are.
        let mut events = 0;
        text.clear();
        let start_hot = clock::seconds();
        for stream in streams {
            let mut parser = new();
            for event in stream {
                read(&mut parser, event, &mut text);
            }
            events += stream.len();
        }
        let time_hot = clock::seconds() - start_hot;
        if turn >= WARM {
            many.push(time * 1e9 / PARSERS as f64);
            hot.push(time_hot * 1e9 / events as f64);
        }
    }
    Row { slots, pull, push, many: median(many), hot: median(hot) }
}

/// For 0, 1, 2 and 4 slots, and for a workspace.
pub fn rows() -> Vec<Row> {
    let input = Input::new("content", 4_000_000);
    let streams: Vec<Vec<&[u8]>> = input
        .responses
        .iter()
        .map(|response| {
            let ends = memchr::memmem::find_iter(response, b"\n\n").map(|at| at + 2);
            let mut start = 0;
            ends.map(|end| &response[std::mem::replace(&mut start, end)..end]).collect()
        })
        .collect();
    vec![own::<0>(&streams), own::<1>(&streams), own::<2>(&streams), own::<4>(&streams), shared::<8>(&streams)]
}
