//! Floods: streams that repeat one thing, as often as the test likes. Each byte is visited at most a fixed number of
//! times, the memory in use does not grow, and the event after the flood is read as if there were no flood.
//!
//! `DELTAWIRE_FLOOD=1024` makes each flood 1024 MiB long (`make floods`). Then each test runs in a process of its own,
//! and asserts the peak of that process's memory, too.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]
extern crate std;

use super::{Config, Emitter, Event, Machine, Outcome, Parser, Record, Records};
use crate::delta::{self, Kind};
use crate::track::Tracker;
use crate::visits;
use crate::{Error, Flow, Handler, Limits, Movable, Quirk, Stop, Storage, Update, Verdict};
use std::format;
use std::println;
use std::string::String;
use std::vec;

/// The size of a flood in MiB, and whether the environment sets it.
fn size() -> (u64, bool) {
    let number = |name| std::env::var(name).ok().map(|given| given.parse::<u64>().unwrap());
    // `DELTAWIRE_THIN` makes floods smaller on emulated processors, but still longer than an event may be.
    let thin = number("DELTAWIRE_THIN").unwrap_or(1);
    let asked = number("DELTAWIRE_FLOOD");
    (asked.unwrap_or((16 / thin).max(2)), asked.is_some())
}

/// The number of tool calls in a flood: ten million for 1024 MiB.
fn calls() -> u64 {
    size().0 * 10_000_000 / 1024
}

/// The peak of the process's memory, in KiB.
fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?.trim().strip_suffix(" kB")?.parse().ok()
}

/// Counts of what came.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Tally {
    chunks: u64,
    done: u64,
    comments: u64,
    keep_alives: u64,
    malformed: u64,
    too_long: u64,
    /// Stream offset of the last event that was too long.
    too_long_at: u64,
    /// Bytes of content.
    content: u64,
    /// Tool calls that were opened.
    calls: u64,
    /// Events with tool calls that were left out.
    left_out: u64,
    /// Events with the quirk `LoneSurrogate`.
    lone: u64,
}

/// A handler that counts.
#[derive(Default)]
struct Counter(Tally);

impl Handler for Counter {
    fn event(&mut self, event: &Event<'_>) -> Flow {
        let Counter(tally) = self;
        match event {
            Event::Chunk(_) => tally.chunks += 1,
            Event::Done => tally.done += 1,
            Event::Comment(_) => tally.comments += 1,
            Event::KeepAlive(_) => tally.keep_alives += 1,
            Event::Malformed(_) => tally.malformed += 1,
            Event::TooLong { offset } => (tally.too_long, tally.too_long_at) = (tally.too_long + 1, *offset),
            event => panic!("{event:?}"),
        }
        Flow::Continue(())
    }
    fn update(&mut self, _choice: u32, update: Update<'_>) -> Flow {
        match update {
            Update::Content(mut text) => {
                let mut buffer = [0; 4096];
                while !text.is_empty() {
                    self.0.content += text.take_to(&mut buffer) as u64;
                }
            }
            Update::Call(call) => self.0.calls += u64::from(call.opens),
            _ => {}
        }
        Flow::Continue(())
    }
    fn limit(&mut self, error: &Error) -> Flow {
        assert!(matches!(error, Error::TooManyCalls { .. }), "{error:?}");
        self.0.left_out += 1;
        Flow::Continue(())
    }
    fn quirk(&mut self, quirk: Quirk, _offset: u64) -> Flow {
        self.0.lone += u64::from(quirk == Quirk::LoneSurrogate);
        Flow::Continue(())
    }
}

/// The units that a flood repeats.
enum Of<'a> {
    /// The same unit, up to the size of a flood.
    Same(&'a str),
    /// This many units, each made from its number.
    Each(u64, fn(u64) -> String),
}

/// A flood, with the bytes before and after it.
struct Flood<'a> {
    name: &'a str,
    head: &'a str,
    of: Of<'a>,
    tail: &'a str,
    max_event_len: u32,
    /// The most visits of a byte.
    bound: f64,
}

/// The bytes after every flood: an event.
const LAST: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"ok\"},\"finish_reason\":\"stop\"}]}\n\n";

impl Flood<'_> {
    /// Gives the flood in slices of about `read` bytes. Returns the number of units.
    fn pour(&self, read: usize, mut f: impl FnMut(&[u8])) -> u64 {
        f(self.head.as_bytes());
        let units = match self.of {
            Of::Same(unit) => {
                let block = unit.repeat((read / unit.len()).max(1));
                let blocks = (size().0 << 20).div_ceil(block.len() as u64);
                (0..blocks).for_each(|_| f(block.as_bytes()));
                blocks * (block.len() / unit.len()) as u64
            }
            Of::Each(units, unit) => {
                let mut block = String::new();
                for number in 0..units {
                    block += &unit(number);
                    if block.len() >= read || number + 1 == units {
                        f(block.as_bytes());
                        block.clear();
                    }
                }
                units
            }
        };
        f(self.tail.as_bytes());
        f(LAST.as_bytes());
        units
    }

    /// Reads the flood in three ways, and compares the counts with `expected`, which gets the number of units.
    fn check(&self, expected: impl Fn(u64) -> Tally) {
        let (mib, alone) = size();
        let limits = Limits { max_event_len: self.max_event_len, ..Limits::DEFAULT };
        let config = Config { limits, ..Config::default() };
        let mut row = String::new();
        let ways: [(&str, usize); 3] = [("pull", 65_536), ("push", 1460), ("batch", 65_536)];
        for (way, read) in ways {
            let started = std::time::Instant::now();
            let ((units, offset, tally, end), visits) = visits::during(|| match way {
                "pull" => pulled(self, read, config),
                "push" => pushed(self, read, config),
                _ => batched(self, read, config),
            });
            let mut expected = expected(units);
            expected.chunks += 1;
            expected.content += 2;
            assert_eq!(tally, expected, "{}: {way}", self.name);
            assert_eq!(end.verdict, Verdict::Finished, "{}: {way}", self.name);
            assert_eq!((end.too_long, end.offset), (expected.too_long as u32, offset), "{}: {way}", self.name);
            let each = visits as f64 / offset as f64;
            assert!((0.9..=self.bound).contains(&each), "{}: {way}: {each:.2} visits a byte", self.name);
            row += &format!("  {way} {each:.2} ({:.1} s)", started.elapsed().as_secs_f64());
        }
        let Some(peak) = peak() else {
            println!("flood of {}, {mib} MiB, peak NOT known: visits a byte:{row}", self.name);
            println!("NOTE flood of {}: the peak of memory cannot be read here, and was NOT checked", self.name);
            return;
        };
        println!("flood of {}, {mib} MiB, peak {peak} KiB: visits a byte:{row}", self.name);
        // The process and the buffers of the test, and the storage, which while it grows exists twice: once with half
        // the length.
        let room = 16 * 1024 + 3 * (u64::from(self.max_event_len) >> 10);
        assert!(!alone || peak < room, "{}: {peak} KiB, {room} is the most", self.name);
    }
}

type Poured = (u64, u64, Tally, super::End);

/// Pulls. With a heap the storage grows: the limit bounds it, and it is freed again.
fn pulled(flood: &Flood<'_>, read: usize, config: Config) -> Poured {
    #[cfg(feature = "alloc")]
    let mut storage = crate::Growing::new();
    #[cfg(not(feature = "alloc"))]
    let mut memory = vec![0; config.limits.max_event_len as usize + 4096];
    #[cfg(not(feature = "alloc"))]
    let mut storage = &mut memory[..];
    let (mut machine, mut tracker) = (Machine::<2>::with_slots(config), crate::track::Tracker::<8, 32>::new());
    let (mut counter, mut offset, mut longest) = (Counter::default(), 0, 0);
    let units = flood.pour(read, |mut piece| {
        offset += piece.len() as u64;
        while !piece.is_empty() {
            let step = machine.step(&mut storage, piece);
            if let Some(event) = machine.event(&storage, piece, step.found).unwrap() {
                let _ = counter.event(&event);
                if let Some(chunk) = event.chunk() {
                    let mut updates = tracker.updates(&chunk);
                    for (choice, update) in &mut updates {
                        let _ = counter.update(choice, update);
                    }
                    let _ = updates.error().map(|error| counter.limit(&error));
                    let _ = updates.quirks().iter().map(|quirk| counter.quirk(quirk, 0)).all(|flow| flow.is_continue());
                }
            }
            piece = &piece[step.consumed..];
        }
        longest = longest.max(storage.bytes().len());
    });
    assert_eq!(machine.finish(&mut storage), super::Found::NeedMore);
    let most = config.limits.max_event_len as usize;
    assert!(longest <= 4096 + 2 * most, "{}: the storage came to {longest} bytes", flood.name);
    #[cfg(feature = "alloc")]
    assert!(storage.bytes().len() <= 16 * 1024, "{}: {} bytes are kept", flood.name, storage.bytes().len());
    (units, offset, counter.0, machine.end())
}

/// Pushes, with a storage of fixed size.
fn pushed(flood: &Flood<'_>, read: usize, config: Config) -> Poured {
    let mut memory = vec![0; config.limits.max_event_len as usize + 4096];
    let mut parser = Parser::with_config(&mut memory[..], config);
    let (mut counter, mut offset) = (Counter::default(), 0);
    let units = flood.pour(read, |mut piece| {
        offset += piece.len() as u64;
        loop {
            let fed = parser.feed(piece, &mut counter);
            piece = &piece[fed.consumed..];
            match fed.stop {
                None => break,
                Some(stop) => assert!(matches!(stop, Stop::Error(Error::TooManyCalls { .. })), "{stop:?}"),
            }
        }
        assert!(piece.is_empty());
    });
    assert_eq!(parser.finish_into(&mut counter), Ok(()));
    (units, offset, counter.0, parser.end())
}

/// Reads in batches, with few records and a small scratch.
fn batched(flood: &Flood<'_>, read: usize, config: Config) -> Poured {
    let mut memory = vec![0; config.limits.max_event_len as usize + 4096];
    let (mut machine, mut tracker, mut batch) =
        (Machine::<2>::with_slots(config), Tracker::<8, 32>::new(), Emitter::new());
    let mut storage = Movable::new(&mut memory, false);
    let (mut records, mut scratch) = ([Record::default(); 64], [0; 1024]);
    let (mut tally, mut offset) = (Tally::default(), 0);
    let mut take = |records: &[Record]| {
        for record in records {
            let is = |kind: Kind| u64::from(record.kind == kind as u16);
            tally.chunks += is(Kind::Chunk);
            tally.done += is(Kind::Done);
            tally.comments += is(Kind::Comment);
            tally.keep_alives += is(Kind::KeepAlive);
            tally.malformed += is(Kind::Malformed);
            tally.too_long += is(Kind::TooLong);
            if record.kind == Kind::TooLong as u16 {
                tally.too_long_at = record.start;
            }
            tally.content += is(Kind::Content) * u64::from(record.text_len);
            tally.calls += is(Kind::ToolCall) * u64::from(record.flags & delta::FLAG_OPENS != 0);
            tally.left_out += is(Kind::Limit);
            tally.lone += is(Kind::Quirk) * u64::from(record.code == Quirk::LoneSurrogate as u32);
        }
    };
    let units = flood.pour(read, |mut piece| {
        offset += piece.len() as u64;
        loop {
            let mut sink = Records::new(&mut records, &mut scratch, Kind::DEFAULT);
            let (spent, filled) = batch.run(&mut machine, &mut storage, &mut tracker, piece, 0, &mut sink);
            let written = sink.written();
            take(&records[..written]);
            piece = &piece[spent..];
            match filled {
                Outcome::Done => break,
                Outcome::Full => {}
                filled => panic!("{filled:?}"),
            }
        }
        assert!(piece.is_empty());
    });
    let mut sink = Records::new(&mut records, &mut scratch, Kind::DEFAULT);
    assert_eq!(batch.finish(&mut machine, &mut storage, &mut tracker, &mut sink), Outcome::Done);
    (units, offset, tally, machine.end())
}

/// The limit of an event in tests that set no other.
const MOST: u32 = Limits::DEFAULT.max_event_len;

/// The most visits of a byte in a flood of lines of a few bytes, because a kernel loads 16 bytes to look at one.
const LINES: f64 = 24.0;

/// The most visits of a byte within one event, or within the rest of one.
const WITHIN: f64 = 8.0;

/// The most visits of a byte of tool calls that are new. Each is searched for in all rows of the tracker's table, as is a
/// call before it that is over, and its arguments are hashed; and a storage that grows copies the bytes, in a short flood
/// up to twice.
const SEARCHED: f64 = 16.0;

/// The most visits of a byte of texts that are read, escape by escape.
const ESCAPES: f64 = 24.0;

/// A flood inside one event, which is too long: it is reported once, and no byte of it is kept.
fn endless(name: &str, head: &str, unit: &str) {
    let start = head.find("data").unwrap_or(0) as u64;
    let flood = Flood { name, head, of: Of::Same(unit), tail: "\n\n", max_event_len: MOST, bound: WITHIN };
    flood.check(|_| Tally { too_long: 1, too_long_at: start, ..Tally::default() });
}

fn lines(name: &str, unit: &str, expected: impl Fn(u64) -> Tally) {
    Flood { name, head: "", of: Of::Same(unit), tail: "", max_event_len: MOST, bound: LINES }.check(expected);
}

#[test]
fn newlines() {
    lines("newlines", "\n", |_| Tally::default());
}

#[test]
fn comments() {
    lines("comments", ":\n", |units| Tally { comments: units, ..Tally::default() });
}

#[test]
fn empty_events() {
    lines("empty events", "data\n\n", |units| Tally { keep_alives: units, ..Tally::default() });
}

#[test]
fn one_endless_line() {
    endless("one endless line", "data: ", "x");
}

#[test]
fn one_endless_line_of_no_field() {
    let flood = Flood {
        name: "one endless line of no field",
        head: "",
        of: Of::Same("x"),
        tail: "\n\n",
        max_event_len: MOST,
        bound: WITHIN,
    };
    flood.check(|_| Tally::default());
}

#[test]
fn brackets() {
    endless("brackets in one event", "data: {\"a\":", "[");
}

#[test]
fn brackets_in_events() {
    let event = format!("data: {{\"a\":{}\n\n", "[".repeat(10_000));
    lines("events of brackets", &event, |units| Tally { malformed: units, ..Tally::default() });
}

#[test]
fn raw_brackets() {
    endless("brackets in raw JSON", "{\"a\":", "[");
}

#[test]
fn backslashes() {
    endless("backslashes in one string", "data: {\"choices\":[{\"delta\":{\"content\":\"", "\\");
}

/// A flood of events whose content is `part`, which decodes to `decoded` bytes.
fn texts(name: &str, part: &str, decoded: u64, lone: impl Fn(u64) -> u64) {
    const PARTS: usize = 4000;
    let event = format!("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{}\"}}}}]}}\n\n", part.repeat(PARTS));
    let flood = Flood { name, head: "", of: Of::Same(&event), tail: "", max_event_len: MOST, bound: ESCAPES };
    flood.check(|units| Tally {
        chunks: units,
        content: units * decoded * PARTS as u64,
        lone: lone(units),
        ..Tally::default()
    });
}

#[test]
fn backslashes_that_are_read() {
    texts("backslashes that are read", "\\\\", 1, |_| 0);
}

#[test]
fn halves_of_pairs() {
    endless("halves of pairs in one string", "data: {\"choices\":[{\"delta\":{\"content\":\"", "\\ud800");
}

/// The last half in each event stays pending until the next event.
#[test]
fn halves_of_pairs_that_are_read() {
    texts("halves of pairs that are read", "\\ud800", 3, |units| units + 1);
}

/// Calls for which the tracker has no room are left out. That is reported once for each event.
#[test]
fn tool_calls_in_many_chunks() {
    let flood = Flood {
        name: "tool calls in many chunks",
        head: "",
        of: Of::Each(calls(), |number| {
            let call = format!("{{\"index\":{number},\"id\":\"call_{number}\"}}");
            format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"tool_calls\":[{call}]}}}}]}}\n\n")
        }),
        tail: "",
        max_event_len: MOST,
        bound: WITHIN,
    };
    flood.check(|units| Tally { chunks: units, calls: 32, left_out: units - 32, ..Tally::default() });
}

const CALLS: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\"}";

fn further_call(number: u64) -> String {
    format!(",{{\"index\":{},\"id\":\"a\"}}", number + 1)
}

#[test]
fn tool_calls_in_one_chunk() {
    let flood = Flood {
        name: "tool calls in one chunk",
        head: CALLS,
        of: Of::Each(calls() - 1, further_call),
        tail: "]}}]}\n\n",
        max_event_len: (calls() * 30) as u32,
        bound: SEARCHED,
    };
    flood.check(|_| Tally { chunks: 1, calls: 32, left_out: 1, ..Tally::default() });
}

#[test]
fn tool_calls_in_one_chunk_that_is_too_long() {
    let flood = Flood {
        name: "tool calls in one chunk that is too long",
        head: CALLS,
        of: Of::Each(calls() - 1, further_call),
        tail: "]}}]}\n\n",
        max_event_len: 1 << 16,
        bound: WITHIN,
    };
    flood.check(|_| Tally { too_long: 1, ..Tally::default() });
}
