//! Parsing with a given storage does not allocate: counts allocations over every test stream.
#![allow(unsafe_code)]

use crate::common::corpus::{native, recorded, samples, Stream};
use deltawire::chat::CallUpdate;
use deltawire::json::{self, Fragment, Text};
use deltawire::message::{Detail, Field, MessageLog};
use deltawire::sse::Decoder;
use deltawire::stream::Event;
use deltawire::track::Tracker;
use deltawire::{Config, Flow, Framing, Handler, Limits, Parser, Pulled, QuirkSet, Stop, Storage, Update, Validate};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
    static LIVE: Cell<i64> = const { Cell::new(0) };
}

fn count() {
    // At the end of a thread the counter may already be gone.
    let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
}

fn keep(bytes: i64) {
    let _ = LIVE.try_with(|live| live.set(live.get() + bytes));
}

// SAFETY: every call is forwarded unchanged to the system allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        keep(layout.size() as i64);
        // SAFETY: the caller upholds the same contract.
        unsafe { System.alloc(layout) }
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count();
        keep(layout.size() as i64);
        // SAFETY: the caller upholds the same contract.
        unsafe { System.alloc_zeroed(layout) }
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        keep(size as i64 - layout.size() as i64);
        // SAFETY: the caller upholds the same contract.
        unsafe { System.realloc(pointer, layout, size) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        keep(-(layout.size() as i64));
        // SAFETY: the caller upholds the same contract.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static GLOBAL: Counting = Counting;

/// Returns how many allocations `f` makes on this thread.
pub fn allocations(f: impl FnOnce()) -> u64 {
    let before = ALLOCATIONS.with(Cell::get);
    f();
    ALLOCATIONS.with(Cell::get) - before
}

/// Returns how many more bytes are on the heap after `f` than before, of those that this thread took and gave back.
pub fn live(f: impl FnOnce()) -> i64 {
    let before = LIVE.with(Cell::get);
    f();
    LIVE.with(Cell::get) - before
}

/// Calls every accessor. The sum prevents the compiler from removing the calls.
#[derive(Default)]
struct Reader {
    sum: usize,
}

impl Reader {
    fn text(&mut self, text: Text<'_>) {
        for fragment in text.fragments() {
            self.sum += match fragment {
                Fragment::Str(run) => run.len(),
                Fragment::Char(char) => char.len_utf8(),
            };
        }
        let mut buffer = [0; 64];
        self.sum += text.copy_to(&mut buffer).written + text.quirks().iter().count();
    }

    fn see(&mut self, event: &Event<'_>) {
        match event {
            Event::Chunk(chunk) => {
                self.sum += chunk.payload().len() + chunk.quirks().iter().count();
                for text in [chunk.id(), chunk.model(), chunk.object(), chunk.service_tier()].into_iter().flatten() {
                    self.text(text);
                }
                self.sum += usize::from(json::validate(chunk.payload(), 128).is_ok());
                self.sum += usize::from(chunk.get("obfuscation").is_some());
            }
            Event::Malformed(malformed) => self.sum += malformed.payload().len() + malformed.fault().offset,
            Event::Comment(bytes) | Event::KeepAlive(bytes) | Event::LastEventId(bytes) => self.sum += bytes.len(),
            _ => self.sum += 1,
        }
    }

    fn take(&mut self, update: Update<'_>) {
        match update {
            Update::Role(text)
            | Update::Content(text)
            | Update::Reasoning(text)
            | Update::Refusal(text)
            | Update::CallName { text, .. }
            | Update::CallArguments { text, .. }
            | Update::FunctionName { text, .. }
            | Update::FunctionArguments(text)
            | Update::Signature(text) => self.text(text),
            Update::Annotations(value) | Update::Media(value) | Update::Native(value) => self.sum += value.raw().len(),
            Update::Call(CallUpdate { id, kind, .. }) => {
                for text in [id, kind].into_iter().flatten() {
                    self.text(text);
                }
            }
            Update::CallEnd { call, whole } => self.sum += call as usize + usize::from(whole),
            Update::Finish(reason) => self.text(reason.text()),
            Update::ChoiceError(error) | Update::Error(error) => {
                for text in [error.message(), error.code(), error.kind(), error.param()].into_iter().flatten() {
                    self.text(text);
                }
            }
            Update::Usage(usage) => {
                self.sum += usage.total_tokens().unwrap_or(0) as usize + usage.cached_tokens().unwrap_or(0) as usize;
            }
            Update::Audio(audio) => self.sum += audio.members().count(),
            Update::Logprobs(logprobs) => {
                let tokens = logprobs.get("content").ok().flatten();
                for token in tokens.iter().flat_map(|tokens| tokens.elements()).map_while(Result::ok) {
                    let number = token.get("logprob").ok().flatten().and_then(|logprob| logprob.as_number());
                    self.sum += token.members().count() + number.map_or(0, |number| number.to_f64() as usize);
                }
            }
            _ => {}
        }
    }
}

impl Handler for Reader {
    fn event(&mut self, event: &Event<'_>) -> Flow {
        self.see(event);
        Flow::Continue(())
    }
    fn update(&mut self, _choice: u32, update: Update<'_>) -> Flow {
        self.take(update);
        Flow::Continue(())
    }
}

fn by_push<const SLOTS: usize, S: Storage>(storage: S, bytes: &[u8], size: usize, config: Config) -> usize {
    let mut reader = Reader::default();
    let mut parser = Parser::<S, SLOTS>::with_slots(storage, config, Tracker::<8, 32>::new());
    for mut piece in bytes.chunks(size) {
        loop {
            let fed = parser.feed(piece, &mut reader);
            piece = &piece[fed.consumed..];
            match fed.stop {
                None => break,
                Some(Stop::Error(error)) => reader.sum += error.offset() as usize,
                Some(_) => {}
            }
        }
    }
    while parser.finish_into(&mut reader).is_err() {}
    reader.sum + parser.end().offset as usize + parser.quirks().iter().count()
}

fn by_pull<const SLOTS: usize, S: Storage>(storage: S, bytes: &[u8], size: usize, config: Config) -> usize {
    let mut reader = Reader::default();
    let (mut log, mut buffer): (MessageLog, _) = (MessageLog::new(), [0; 16384]);
    let mut parser = Parser::<S, SLOTS>::with_slots(storage, config, Tracker::new());
    let mut see = |reader: &mut Reader, event: Pulled<'_>| {
        reader.see(&event);
        if let Event::Chunk(chunk) = *event {
            reader.sum += usize::from(log.chunk(&mut buffer, &chunk).is_ok());
        }
        for (choice, update) in event.deltas() {
            reader.sum += usize::from(log.put(&mut buffer, choice, &update).is_ok());
            reader.take(update);
        }
    };
    for mut piece in bytes.chunks(size) {
        loop {
            match parser.next(&mut piece) {
                Ok(Some(event)) => see(&mut reader, event),
                Ok(None) => break,
                Err(error) => reader.sum += error.offset() as usize,
            }
        }
    }
    loop {
        match parser.finish() {
            Ok(Some(event)) => see(&mut reader, event),
            Ok(None) => break,
            Err(error) => reader.sum += error.offset() as usize,
        }
    }
    reader.sum += log.text(&buffer, Field::Content, 0, 0, &mut [0; 64]).unwrap_or(0);
    reader.sum += log.json(&buffer, Detail::Extended, &mut [0; 64]);
    reader.sum + parser.last_event_id().len()
}

fn by_decoder<S: Storage>(storage: S, bytes: &[u8], size: usize) -> usize {
    let mut decoder = Decoder::new(storage);
    let mut sum = 0;
    for mut piece in bytes.chunks(size) {
        while let Some(item) = decoder.next(&mut piece) {
            if let deltawire::sse::Item::Event(event) = item {
                sum += event.data().len() + usize::from(json::validate(event.data(), 128).is_ok());
            }
        }
    }
    while decoder.finish().is_some() {
        sum += 1;
    }
    sum
}

#[test]
fn nothing_is_allocated() {
    let mut streams: Vec<Stream> = samples();
    streams.extend(native("alloc of other protocols"));
    streams.extend(recorded("alloc"));
    let recorded = streams.len();
    for case in crate::common::case::all() {
        streams.push(Stream { name: format!("{} {}", case.row, case.name), bytes: case.input });
    }
    let strict = Config::new().with_errors(QuirkSet::ALL).with_validate(Validate::Strict);
    let limits = Limits::new().with_max_event_len(100).with_max_id_len(2).with_max_message_len(10);
    let limits = limits.with_max_depth(3).unwrap();
    let narrow = Config::new().with_limits(limits).with_framing(Framing::Spec);
    let mut memory = vec![0; 64 * 1024];
    let (mut runs, mut sum) = (0u64, 0usize);
    for stream in streams.iter().step_by(crate::common::thin::thin()) {
        let bytes = &stream.bytes[..];
        for size in [1, 7, 1448, bytes.len().max(1)] {
            for config in [Config::default(), strict, narrow] {
                let ways: [(&str, u64); 9] = [
                    ("push, [u8; N]", allocations(|| sum += by_push::<2, _>([0; 32768], bytes, size, config))),
                    ("push, &mut [u8]", allocations(|| sum += by_push::<2, _>(&mut memory[..], bytes, size, config))),
                    ("push, 4 slots", allocations(|| sum += by_push::<4, _>(&mut memory[..], bytes, size, config))),
                    ("pull, [u8; N]", allocations(|| sum += by_pull::<2, _>([0; 32768], bytes, size, config))),
                    ("pull, &mut [u8]", allocations(|| sum += by_pull::<2, _>(&mut memory[..64], bytes, size, config))),
                    ("pull, no slots", allocations(|| sum += by_pull::<0, _>(&mut memory[..], bytes, size, config))),
                    ("pull, 4 slots", allocations(|| sum += by_pull::<4, _>([0; 32768], bytes, size, config))),
                    ("decoder, [u8; N]", allocations(|| sum += by_decoder([0; 32768], bytes, size))),
                    ("decoder, &mut [u8]", allocations(|| sum += by_decoder(&mut memory[..], bytes, size))),
                ];
                for (way, made) in ways {
                    runs += 1;
                    assert_eq!(made, 0, "{way}, reads of {size}: {}", stream.name);
                }
            }
        }
    }
    assert!(sum > 0);
    println!(
        "alloc: no allocation in {runs} runs; there are {recorded} streams and {} cases",
        streams.len() - recorded
    );
}

/// A control for the counter: a growing storage allocates exactly when a cut event exceeds its room.
#[cfg(feature = "alloc")]
#[test]
fn the_count_counts() {
    use deltawire::Growing;
    let long = format!("data: {{\"choices\":[],\"pad\":\"{}\"}}\n\n", "x".repeat(2000));
    let short = "data: {\"choices\":[]}\n\n".repeat(100);
    let mut sum = 0;
    assert!(allocations(|| sum += by_push::<2, _>(Growing::new(), long.as_bytes(), 1000, Config::default())) > 0);
    assert_eq!(allocations(|| sum += by_push::<2, _>(Growing::new(), long.as_bytes(), 1 << 20, Config::default())), 0);
    assert_eq!(allocations(|| sum += by_push::<2, _>(Growing::new(), short.as_bytes(), 7, Config::default())), 0);
    assert!(sum > 0);
}

/// A growing storage releases a large buffer when the next event is read, also if the memo recognizes that event.
#[cfg(feature = "alloc")]
#[test]
fn a_large_buffer_is_given_back() {
    fn live<const SLOTS: usize>() -> (i64, i64) {
        let event =
            |text: &str| format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{text}\"}}}}]}}\n\n");
        let (short, long) = (event("a"), event(&"b".repeat(600_000)));
        let mut parser = Parser::<_, SLOTS>::with_slots(deltawire::Growing::new(), Config::default(), Tracker::new());
        let mut events = 0;
        // Feed up to the event that ends a piece: the next call finds it in the storage.
        let mut feed = |bytes: &str, size: usize| {
            for mut piece in bytes.as_bytes().chunks(size) {
                while !piece.is_empty() {
                    events += usize::from(parser.next(&mut piece).unwrap().is_some());
                }
            }
        };
        feed(&short.repeat(3), usize::MAX);
        let before = LIVE.with(Cell::get);
        feed(&long, 1000);
        let held = LIVE.with(Cell::get) - before;
        feed(&short, usize::MAX);
        let left = LIVE.with(Cell::get) - before;
        assert_eq!(events, 5);
        (held, left)
    }
    for (slots, (held, left)) in [(0, live::<0>()), (1, live::<1>()), (2, live::<2>()), (4, live::<4>())] {
        println!("{slots} slots: {held} bytes for an event of 600,000, {left} behind the next one");
        assert!(held > 600_000, "{slots} slots: {held} bytes held");
        assert_eq!(left, 0, "{slots} slots");
    }
}

/// A growing storage releases a large buffer also when a call finds no more bytes: a stream may be idle for long.
#[cfg(feature = "alloc")]
#[test]
fn a_large_buffer_is_given_back_by_a_call_without_bytes() {
    use deltawire::{Growing, Parser, Workspace};
    let chunk =
        |text: &str| format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{text}\"}}}}]}}\n\n");
    let start = |id: &str| format!("data: {{\"type\":\"message_start\",\"message\":{{\"id\":\"{id}\"}}}}\n\n");
    let (pad, config) = ("b".repeat(600_000), Config::new());
    for (short, long) in [(chunk("a").repeat(3), chunk(&pad)), (start("m"), start(&pad))] {
        // What is left after the long event, which is cut, and a call without bytes: by pull, by push, with a workspace.
        let left = |next: &mut dyn FnMut(&[u8])| {
            next(short.as_bytes());
            let before = LIVE.with(Cell::get);
            long.as_bytes().chunks(1000).for_each(&mut *next);
            next(b"");
            LIVE.with(Cell::get) - before
        };
        let mut parser = Parser::with_config(Growing::new(), config);
        assert_eq!(left(&mut |mut bytes| while parser.next(&mut bytes).unwrap().is_some() {}), 0, "pull");
        let (mut parser, mut reader) = (Parser::with_config(Growing::new(), config), Reader::default());
        assert_eq!(left(&mut |bytes| assert_eq!(parser.feed(bytes, &mut reader).stop, None)), 0, "push");
        let mut parser: Parser<Growing, 0> = Parser::with_slots(Growing::new(), config, Tracker::new());
        let mut workspace: Workspace = Workspace::new();
        let mut next = |mut bytes: &[u8]| while parser.next_with(&mut workspace, &mut bytes).unwrap().is_some() {};
        assert_eq!(left(&mut next), 0, "workspace");
    }
}
