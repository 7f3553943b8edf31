//! The Rust side of `scripts/bench_ffi.sh`: the stream as a file, and this library's rows.
//!
//! `write SHAPE BYTES FILE` writes the responses of a seeded input one after the other and prints how many events they
//! have. `rows FILE SLICE PASSES` does what the programs in other languages here do, and prints the same rows: it reads each
//! response in slices or, with SLICE 0, one event each of many streams in turn, which share a workspace.

use deltawire::json::Text;
use deltawire::track::Tracker;
use deltawire::{Config, Event, Flow, Handler, Parser, SharedParser, Update, Workspace};
use deltawire_benches::Input;
use std::time::Instant;

/// Ends each response.
const DONE: &[u8] = b"data: [DONE]\n\n";

/// What everybody must come to: the content of choice 0, response by response.
#[derive(Default)]
struct Sums {
    texts: u64,
    bytes: u64,
    hash: u64,
}

#[derive(Default)]
struct Content {
    content: String,
    texts: u64,
}

impl Content {
    fn text(&mut self, choice: u32, text: Text<'_>) {
        if choice == 0 {
            self.texts += 1;
            text.push_to(&mut self.content);
        }
    }

    fn event(&mut self, event: Event<'_>) {
        if let Event::Chunk(chunk) = event {
            for (choice, update) in chunk.deltas() {
                if let Update::Content(text) = update {
                    self.text(choice, text);
                }
            }
        }
    }

    fn end(&mut self, sums: &mut Option<Sums>) {
        if let Some(sums) = sums {
            sums.texts += self.texts;
            sums.bytes += self.content.len() as u64;
            let all = self.content.bytes();
            sums.hash = all.fold(sums.hash, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
        }
        self.content.clear();
        self.texts = 0;
    }
}

impl Handler for Content {
    fn content(&mut self, choice: u32, text: Text<'_>) -> Flow {
        self.text(choice, text);
        Flow::Continue(())
    }
}

fn pull(responses: &[&[u8]], slice: usize, mut sums: Option<Sums>) -> Option<Sums> {
    let mut parser: Parser<[u8; 8192], 2, ()> = Parser::with_tracker([0; 8192], Config::default(), ());
    let mut content = Content::default();
    for response in responses {
        parser.reset();
        for mut slice in response.chunks(slice) {
            while let Some(event) = parser.next(&mut slice).expect("no quirk is an error") {
                content.event(event);
            }
        }
        content.end(&mut sums);
    }
    sums
}

fn push(responses: &[&[u8]], slice: usize, mut sums: Option<Sums>) -> Option<Sums> {
    let mut parser: Parser<[u8; 8192]> = Parser::new([0; 8192]);
    let mut content = Content::default();
    for response in responses {
        parser.reset();
        for slice in response.chunks(slice) {
            assert!(parser.feed(slice, &mut content).stop.is_none(), "nobody stops it");
        }
        content.end(&mut sums);
    }
    sums
}

/// Times passes, after one that warms up and is checked; prints the row.
fn row(name: &str, passes: usize, mut pass: impl FnMut(Option<Sums>) -> Option<Sums>) {
    let sums = pass(Some(Sums { hash: 0xcbf2_9ce4_8422_2325, ..Sums::default() })).unwrap_or_default();
    // The best: what a neighbour on the machine took is in none but by chance.
    let times = (0..passes).map(|_| {
        let start = Instant::now();
        pass(None);
        start.elapsed().as_nanos()
    });
    print(name, times.min().unwrap_or_default(), &sums);
}

fn print(name: &str, best: u128, sums: &Sums) {
    println!("{name}\t{best}\t{} {} {:016x}", sums.texts, sums.bytes, sums.hash);
}

/// How many streams read in turn.
const STREAMS: usize = 100_000;
/// Has no divisor in common with [`STREAMS`], so that no prefetcher guesses the order.
const STEP: usize = 61_803;
/// Turns before anything is timed, in which every shape of event is seen.
const WARM: usize = 4;

/// Times turns: in each, every stream reads its next event, which `read` is given. Prints the row.
fn turns(name: &str, passes: usize, responses: &[&[u8]], mut read: impl FnMut(usize, &[u8], &mut Content)) {
    let mut rests = responses.to_vec();
    let (mut content, mut best, mut stream) = (Content::default(), u128::MAX, 0);
    let mut sums = Some(Sums { hash: 0xcbf2_9ce4_8422_2325, ..Sums::default() });
    for turn in 0..WARM + passes {
        let events = rests.iter_mut().map(|rest| {
            let end = rest.windows(2).position(|two| two == b"\n\n").expect("there are more events than turns") + 2;
            let (event, more) = rest.split_at(end);
            *rest = more;
            event
        });
        let events: Vec<&[u8]> = events.collect();
        let start = Instant::now();
        for _ in 0..STREAMS {
            stream = (stream + STEP) % STREAMS;
            read(stream, events[stream % events.len()], &mut content);
        }
        let time = start.elapsed().as_nanos();
        content.end(&mut sums);
        if turn >= WARM {
            best = best.min(time);
        }
    }
    print(name, best, &sums.unwrap_or_default());
}

type Pulling = SharedParser<[u8; 512], ()>;
type Pushing = SharedParser<[u8; 512]>;

// Callgrind finds these two by their names.
#[no_mangle]
#[inline(never)]
fn event_by_pull(parser: &mut Pulling, workspace: &mut Workspace, mut event: &[u8], content: &mut Content) {
    while let Some(event) = parser.next_with(workspace, &mut event).expect("no quirk is an error") {
        content.event(event);
    }
}

#[no_mangle]
#[inline(never)]
fn event_by_push(parser: &mut Pushing, workspace: &mut Workspace, event: &[u8], content: &mut Content) {
    assert!(parser.feed_with(workspace, event, content).stop.is_none(), "nobody stops it");
}

fn in_turn(passes: usize, responses: &[&[u8]]) {
    let mut workspace = Workspace::new();
    let mut parsers = vec![Pulling::sharing([0; 512], Config::default(), ()); STREAMS];
    turns("Rust, pull", passes, responses, |stream, event, content| {
        event_by_pull(&mut parsers[stream], &mut workspace, event, content);
    });
    let mut parsers = vec![Pushing::sharing([0; 512], Config::default(), Tracker::new()); STREAMS];
    turns("Rust, push", passes, responses, |stream, event, content| {
        event_by_push(&mut parsers[stream], &mut workspace, event, content);
    });
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [_, "write", shape, bytes, file] => {
            let input = Input::new(shape, bytes.parse().expect("a number of bytes"));
            std::fs::write(file, input.responses.concat()).expect("the file can be written");
            println!("{}", input.expected.events);
        }
        [_, "rows", file, slice, passes] => {
            let bytes = std::fs::read(file).expect("the file can be read");
            let (slice, passes) = (slice.parse().expect("a size"), passes.parse().expect("a number"));
            let mut responses = Vec::new();
            let mut rest = &bytes[..];
            while let Some(at) = rest.windows(DONE.len()).position(|window| window == DONE) {
                let (response, more) = rest.split_at(at + DONE.len());
                responses.push(response);
                rest = more;
            }
            assert!(rest.is_empty(), "it ends with its last [DONE]");
            if slice == 0 {
                return in_turn(passes, &responses);
            }
            row("Rust, pull", passes, |sums| pull(&responses, slice, sums));
            row("Rust, push", passes, |sums| push(&responses, slice, sums));
        }
        _ => panic!("write SHAPE BYTES FILE | rows FILE SLICE PASSES"),
    }
}
