//! The Rust side of `scripts/bench_ffi.sh`: the stream as a file, and this library's rows.
//!
//! `write SHAPE BYTES FILE` writes the responses of a seeded input one after the other and prints how many events they
//! have. `rows FILE SLICE PASSES` does what the programs in other languages here do, and prints the same rows.

use deltawire::json::Text;
use deltawire::{Event, Flow, Handler, Parser, Update};
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
    let mut parser: Parser<[u8; 8192], 2, ()> = Parser::with_tracker([0; 8192], deltawire::Config::default(), ());
    let mut content = Content::default();
    for response in responses {
        parser.reset();
        for mut slice in response.chunks(slice) {
            while let Some(event) = parser.next(&mut slice).expect("no quirk is an error") {
                if let Event::Chunk(chunk) = event {
                    for (choice, update) in chunk.deltas() {
                        if let Update::Content(text) = update {
                            content.text(choice, text);
                        }
                    }
                }
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
    let best = times.min().unwrap_or_default();
    println!("{name}\t{best}\t{} {} {:016x}", sums.texts, sums.bytes, sums.hash);
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [_, "write", shape, bytes, file] => {
            let input = Input::new(shape, bytes.parse().expect("a number of bytes"));
            std::fs::write(file, input.responses.concat()).expect("the file can be written");
            println!("{}", input.due.events);
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
            row("Rust, pull", passes, |sums| pull(&responses, slice, sums));
            row("Rust, push", passes, |sums| push(&responses, slice, sums));
        }
        _ => panic!("write SHAPE BYTES FILE | rows FILE SLICE PASSES"),
    }
}
