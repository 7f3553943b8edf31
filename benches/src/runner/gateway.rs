//! Many streams at once: the memory of a stream that waits, and the time to come back to it, also through other
//! languages.

use crate::measure::median;
use deltawire::track::Tracker;
use deltawire::{Config, Parser, Pulled, Update, Workspace};
use deltawire_benches::contenders::child::Program;
use deltawire_benches::contenders::{streams, GO};
use deltawire_benches::{clock, Input, Sink};

const PARSERS: usize = 100_000;
/// Turns before anything is measured, so that every shape of event has come.
const WARM: usize = 4;
pub const TURNS: usize = 5;
/// Has no divisor in common with [`PARSERS`], so that a turn visits all parsers in an order that no prefetcher guesses.
const STRIDE: usize = 61_803;

/// The measurement for one number of slots.
pub struct Row {
    pub slots: String,
    /// The size of a parser, with 512 bytes for a cut event.
    pub size: usize,
    /// Nanoseconds an event, of many parsers in turn.
    pub many: f64,
    /// Nanoseconds an event, of one parser after the other, each to its end.
    pub hot: f64,
}

fn take(event: Pulled<'_>, text: &mut String) {
    for (_, update) in event.deltas() {
        if let Update::Content(content) = update {
            content.push_to(text);
        }
    }
}

/// Nanoseconds an event of many streams in turn, all of which share a workspace, through one interface.
pub struct Way {
    pub name: &'static str,
    pub each: f64,
}

/// The events of a turn, each with the number of the stream that reads it.
fn order<'e>(streams: &'e [Vec<&'e [u8]>], turn: usize) -> impl Iterator<Item = (usize, &'e [u8])> {
    (1..=PARSERS).map(move |nth| {
        let place = nth * STRIDE % PARSERS;
        (place, streams[place % streams.len()][turn])
    })
}

fn own<const SLOTS: usize>(streams: &[Vec<&[u8]>], turns: usize) -> Row {
    let new = || Parser::<_, SLOTS>::with_slots([0; 512], Config::default(), Tracker::new());
    row(SLOTS.to_string(), size_of::<Parser<[u8; 512], SLOTS>>(), (streams, turns), new, |parser, mut event, text| {
        while let Some(event) = parser.next(&mut event).expect("no quirk is an error") {
            take(event, text);
        }
    })
}

fn shared<const SLOTS: usize>(streams: &[Vec<&[u8]>], turns: usize) -> Row {
    let mut workspace = Workspace::<SLOTS>::with_slots();
    let new = || Parser::<_, 0>::with_slots([0; 512], Config::default(), Tracker::new());
    row(
        format!("{SLOTS}, shared by all"),
        size_of::<Parser<[u8; 512], 0>>(),
        (streams, turns),
        new,
        |parser, mut event, text| {
            while let Some(event) = parser.next_with(&mut workspace, &mut event).expect("no quirk is an error") {
                take(event, text);
            }
        },
    )
}

fn row<P: Clone>(
    slots: String,
    size: usize,
    (streams, turns): (&[Vec<&[u8]>], usize),
    new: impl Fn() -> P,
    mut read: impl FnMut(&mut P, &[u8], &mut String),
) -> Row {
    let mut text = String::with_capacity(64 << 20);
    let mut parsers = vec![new(); PARSERS];
    let (mut many, mut hot) = (Vec::new(), Vec::new());
    for turn in 0..WARM + turns {
        text.clear();
        let start = clock::seconds();
        for (place, event) in order(streams, turn) {
            read(&mut parsers[place], event, &mut text);
        }
        let time = clock::seconds() - start;
        // The same amount of text, from one parser after the other.
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
    Row { slots, size, many: median(many), hot: median(hot) }
}

pub fn input() -> Input {
    Input::new("content", 4_000_000)
}

/// The events of each response.
fn events(input: &Input) -> Vec<Vec<&[u8]>> {
    fn of(response: &[u8]) -> Vec<&[u8]> {
        let ends = memchr::memmem::find_iter(response, b"\n\n").map(|at| at + 2);
        let mut start = 0;
        ends.map(|end| &response[std::mem::replace(&mut start, end)..end]).collect()
    }
    input.responses.iter().map(|response| of(response)).collect()
}

/// Measures 0, 1, 2 and 4 slots, and a workspace.
pub fn rows(input: &Input, turns: usize) -> Vec<Row> {
    let streams = events(input);
    vec![
        own::<0>(&streams, turns),
        own::<1>(&streams, turns),
        own::<2>(&streams, turns),
        own::<4>(&streams, turns),
        shared::<8>(&streams, turns),
    ]
}

/// Measures each interface that this build has and whose name contains `part`, in so many turns. Returns the medians.
///
/// # Panics
///
/// If they do not find the same contents.
pub fn ways(input: &Input, turns: usize, part: &str, go: Option<&mut Program>) -> Vec<Way> {
    let streams = events(input);
    let (mut ways, mut found) = (Vec::new(), None);
    for make in streams::all() {
        let mut all = make(PARSERS);
        if !all.name.contains(part) {
            continue;
        }
        let (mut sink, mut each) = (Sink::checking(), Vec::new());
        for turn in 0..WARM + turns {
            let start = clock::seconds();
            all.read(&mut order(&streams, turn), &mut sink);
            each.push((clock::seconds() - start) * 1e9 / PARSERS as f64);
            sink.end();
        }
        assert_eq!(*found.get_or_insert(sink.sums), sink.sums, "{}", all.name);
        ways.push(Way { name: all.name, each: median(each.split_off(WARM)) });
    }
    ways.extend(go.filter(|_| GO.contains(part)).map(|go| Way { name: GO, each: go.in_turn(input, PARSERS) }));
    ways
}
