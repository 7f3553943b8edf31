//! Split invariance: the same bytes give the same events however they are cut, on every storage, including limits.
//!
//! Tests every single cut of every recorded stream under 64 KB, and every pair of cuts of short streams. Runs are
//! compared by a hash of everything that they emitted. The part of a stream before the cut is not parsed again for each
//! cut: the test clones the parser as it was after the last event before the cut, then passes it the same bytes that a
//! fresh parser would get.
#![cfg(feature = "alloc")]

use crate::common::corpus::{native, odd, recorded, samples, Stream};
use crate::common::input::storage;
use crate::common::thin::thin;
use deltawire::chat::{ApiError, CallUpdate, NamePiece, OtherMember, TokenCounts};
use deltawire::json::{Fragment, Text};
use deltawire::stream::{Event, Fed};
use deltawire::{Config, Flow, Growing, Handler, Limits, Parser, Pulled, Quirk, Stop, Storage, Update};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Mutex;

// ---------------------------------------------------------------------------------------------------------------------
// A hash of the output

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Hash(u64);

impl Hash {
    const NEW: Hash = Hash(0x9E37_79B9_7F4A_7C15);

    #[inline]
    fn word(&mut self, word: u64) {
        self.0 = (self.0 ^ word).wrapping_mul(0xff51_afd7_ed55_8ccd).rotate_left(29);
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.word(bytes.len() as u64);
        let mut words = bytes.chunks_exact(8);
        for word in &mut words {
            self.word(u64::from_le_bytes(word.try_into().unwrap()));
        }
        let mut last = [0; 8];
        last[..words.remainder().len()].copy_from_slice(words.remainder());
        self.word(u64::from_le_bytes(last));
    }

    fn text(&mut self, tag: u64, text: Text<'_>) {
        self.word(tag);
        for fragment in text.fragments() {
            match fragment {
                Fragment::Str(run) => self.bytes(run.as_bytes()),
                Fragment::Char(char) => self.word(u64::from(u32::from(char))),
            }
        }
    }

    fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::Chunk(chunk) => {
                let range = chunk.wire_range();
                self.word(1);
                self.word(range.start);
                self.word(range.end);
                self.bytes(chunk.event_name());
                self.bytes(chunk.payload());
                for quirk in chunk.quirks().iter() {
                    self.word(quirk as u64);
                }
                self.word(chunk.protocol() as u64 | u64::from(chunk.is_completion()) << 8);
                let texts = [chunk.id(), chunk.object(), chunk.model(), chunk.system_fingerprint()];
                for (tag, text) in (0..).zip(texts.into_iter().chain([chunk.service_tier(), chunk.provider()])) {
                    text.into_iter().for_each(|text| self.text(40 + tag, text));
                }
                self.count(chunk.created());
                chunk.other_members().for_each(|member| self.member(&member));
            }
            Event::Done => self.word(2),
            Event::Comment(text) => {
                self.word(3);
                self.bytes(text);
            }
            Event::KeepAlive(payload) => {
                self.word(4);
                self.bytes(payload);
            }
            Event::Retry(ms) => self.word(5 ^ ms << 8),
            Event::LastEventId(id) => {
                self.word(6);
                self.bytes(id);
            }
            Event::Malformed(malformed) => {
                self.word(7);
                self.bytes(malformed.payload());
                self.word(malformed.fault().kind as u64);
                self.word(malformed.fault().offset as u64);
                self.bytes(malformed.event_name());
            }
            Event::TooLong { offset } => self.word(8 ^ offset << 8),
            Event::CommentTooLong { offset } => self.word(9 ^ offset << 8),
            Event::Rest => {}
            event => panic!("{event:?}"),
        }
    }

    fn range(&mut self, range: std::ops::Range<u64>) {
        self.word(range.start);
        self.word(range.end);
    }

    fn error(&mut self, tag: u64, error: &ApiError<'_>) {
        self.word(tag);
        for (place, text) in (0..).zip([error.message(), error.code(), error.kind(), error.param()]) {
            text.into_iter().for_each(|text| self.text(tag ^ place << 8, text));
        }
        self.bytes(error.value().map_or(b"", |value| value.raw()));
    }

    fn count(&mut self, count: Option<u64>) {
        self.word(count.map_or(u64::MAX, |count| count ^ 1 << 63));
    }

    fn counts(&mut self, counts: &TokenCounts) {
        let counts = [
            counts.prompt_tokens(),
            counts.completion_tokens(),
            counts.total_tokens(),
            counts.reasoning_tokens(),
            counts.cached_tokens(),
            counts.cache_write_tokens(),
        ];
        counts.into_iter().for_each(|count| self.count(count));
    }

    fn member(&mut self, member: &OtherMember<'_>) {
        let OtherMember { owner, choice, call, in_message, name, value, .. } = *member;
        self.word((owner as u64) << 1 | u64::from(in_message));
        self.word(u64::from(choice) << 32 | u64::from(call));
        self.text(34, name);
        self.bytes(value.raw());
    }

    fn update(&mut self, choice: u32, update: &Update<'_>) {
        self.word(u64::from(choice));
        match update {
            Update::Role(text) => self.text(20, *text),
            Update::Content(text) => self.text(21, *text),
            Update::Reasoning(text) => self.text(22, *text),
            Update::Refusal(text) => self.text(23, *text),
            Update::Call(CallUpdate { call, index, opens, reuses, id, kind, custom, .. }) => {
                self.word(24);
                let flags = u64::from(*opens) | u64::from(*reuses) << 1 | u64::from(*custom) << 2;
                self.word(u64::from(*call) << 32 | u64::from(index.unwrap()));
                self.word(flags);
                for text in [id, kind].into_iter().flatten() {
                    self.text(25, *text);
                }
            }
            Update::CallName { call, text, piece } => {
                self.word(u64::from(*call) << 1 | u64::from(*piece == NamePiece::Replaces));
                self.text(26, *text);
            }
            Update::CallArguments { call, text } => {
                self.word(u64::from(*call));
                self.text(27, *text);
            }
            Update::CallEnd { call, whole } => self.word(u64::from(*call) << 9 | u64::from(*whole) << 8 | 33),
            Update::FunctionName { text, piece } => {
                self.text(28 ^ u64::from(*piece == NamePiece::Replaces) << 8, *text)
            }
            Update::FunctionArguments(text) => self.text(30, *text),
            Update::Audio(audio) => self.bytes(audio.raw()),
            Update::Logprobs(logprobs) => self.bytes(logprobs.raw()),
            Update::Finish(reason) => {
                let flags = u64::from(reason.is_of_prompt()) | u64::from(reason.is_native()) << 1;
                self.word(u64::from(reason.kind().number()) << 2 | flags);
                self.text(31, reason.text());
            }
            Update::ChoiceError(error) => self.error(32, error),
            Update::Usage(usage) => {
                self.word(usage.protocol() as u64);
                self.counts(&usage.counts());
                self.bytes(usage.value().raw());
            }
            Update::Error(error) => self.error(33, error),
            Update::Annotations(value) | Update::Media(value) | Update::Native(value) => {
                let tag = match update {
                    Update::Annotations(_) => 35,
                    Update::Media(_) => 36,
                    _ => 37,
                };
                self.word(tag);
                self.bytes(value.raw());
            }
            Update::Signature(text) => self.text(38, *text),
            Update::Meta(meta, text) => self.text(39 ^ (*meta as u64) << 8, *text),
            Update::Member(member) => self.member(member),
            _ => panic!("an update that is not known"),
        }
    }

    /// Adds the verdict, the token counts, the counters and the last event ID.
    fn end<S: Storage, T>(&mut self, parser: &Parser<S, 2, T>) {
        self.bytes(format!("{:?}", parser.end()).as_bytes());
        parser.usage().iter().for_each(|counts| self.counts(counts));
        for quirk in Quirk::ALL {
            self.word(u64::from(parser.quirk_count(*quirk)));
        }
        self.bytes(parser.last_event_id());
    }
}

struct Hasher {
    hash: Hash,
    /// Pauses at each event.
    pause: bool,
}

impl Handler for Hasher {
    fn event(&mut self, event: &Event<'_>) -> Flow {
        self.hash.event(event);
        if self.pause {
            return Flow::Break(Stop::Pause);
        }
        Flow::Continue(())
    }

    fn update(&mut self, choice: u32, update: Update<'_>) -> Flow {
        self.hash.update(choice, &update);
        Flow::Continue(())
    }

    fn quirk(&mut self, quirk: Quirk, offset: u64) -> Flow {
        self.hash.word(quirk as u64 ^ offset << 8);
        Flow::Continue(())
    }
}

fn feed<S: Storage>(parser: &mut Parser<S>, mut input: &[u8], hasher: &mut Hasher) {
    loop {
        let Fed { consumed, stop, .. } = parser.feed(input, hasher);
        input = &input[consumed..];
        if let Some(Stop::Error(error)) = stop {
            hasher.hash.bytes(format!("{error:?}").as_bytes());
        }
        if stop.is_none() {
            assert!(input.is_empty());
            return;
        }
    }
}

fn finish<S: Storage>(parser: &mut Parser<S>, hasher: &mut Hasher) -> Hash {
    while let Err(stop) = parser.finish_into(hasher) {
        if let Stop::Error(error) = stop {
            hasher.hash.bytes(format!("{error:?}").as_bytes());
        }
    }
    hasher.hash.end(parser);
    hasher.hash
}

// ---------------------------------------------------------------------------------------------------------------------
// Cuts

/// Compares a stream with itself cut at every `step`th position, and from each on cut once more at every position up to `near` bytes
/// further, on storages of one kind. Returns the number of runs.
///
/// Each run continues from a clone of the parser behind the last event before the first cut.
fn continued<S: Storage + Clone>(
    storage: impl Fn() -> S,
    stream: &Stream,
    config: Config,
    step: usize,
    near: usize,
) -> Result<u64, String> {
    let bytes = &stream.bytes[..];
    let fresh = || Parser::with_config(storage(), config);
    let whole = {
        let (mut parser, mut hasher) = (fresh(), Hasher { hash: Hash::NEW, pause: false });
        feed(&mut parser, bytes, &mut hasher);
        finish(&mut parser, &mut hasher)
    };
    // With a pause at each event, so that the events are complete one by one.
    let (mut base, mut emitted, mut from) = (fresh(), Hash::NEW, 0);
    let mut runs = 1;
    for first in (0..=bytes.len()).step_by(step * thin()) {
        // Move the base past everything that is complete before the cut.
        let (parser, hash) = loop {
            let (mut parser, mut next) = (base.clone(), Hasher { hash: emitted, pause: true });
            let Fed { consumed, stop, .. } = parser.feed(&bytes[from..first], &mut next);
            if let Some(Stop::Error(error)) = stop {
                next.hash.bytes(format!("{error:?}").as_bytes());
            }
            if stop.is_none() {
                break (parser, next.hash);
            }
            (base, emitted) = (parser, next.hash);
            from += consumed;
        };
        for second in (first..=bytes.len().min(first + near)).step_by(thin()) {
            let (mut parser, mut next) = (parser.clone(), Hasher { hash, pause: false });
            feed(&mut parser, &bytes[first..second], &mut next);
            feed(&mut parser, &bytes[second..], &mut next);
            runs += 1;
            if finish(&mut parser, &mut next) != whole {
                let (kind, len) = (std::any::type_name::<S>(), storage().max_len());
                return Err(format!("{} on {kind} of {len} with {config:?}: cut at {first}, {second}", stream.name));
            }
        }
    }
    Ok(runs)
}

fn singles<S: Storage + Clone>(
    storage: impl Fn() -> S,
    stream: &Stream,
    config: Config,
    step: usize,
) -> Result<u64, String> {
    continued(storage, stream, config, step, 0)
}

/// Compares a stream with itself cut in each of these ways, always read from the start, on a borrowed storage. Returns the number of
/// runs.
fn from_start(
    len: usize,
    stream: &Stream,
    config: Config,
    ways: impl Iterator<Item = Vec<usize>>,
) -> Result<u64, String> {
    let mut memory = vec![0; len];
    let mut read = |cuts: &[usize]| {
        memory.fill(0x55);
        let mut parser: Parser<&mut [u8]> = Parser::with_config(&mut memory, config);
        let mut hasher = Hasher { hash: Hash::NEW, pause: false };
        for piece in crate::common::input::pieces(&stream.bytes, cuts) {
            feed(&mut parser, piece, &mut hasher);
        }
        finish(&mut parser, &mut hasher)
    };
    let whole = read(&[]);
    let mut runs = 1;
    for cuts in ways {
        runs += 1;
        if read(&cuts) != whole {
            let cuts = &cuts[..cuts.len().min(3)];
            return Err(format!("{} on &mut [u8] of {len} with {config:?}: cut at {cuts:?}…", stream.name));
        }
    }
    Ok(runs)
}

fn borrowed(len: usize, stream: &Stream, config: Config, step: usize) -> Result<u64, String> {
    let cuts = (0..=stream.bytes.len()).step_by(step * thin());
    from_start(len, stream, config, cuts.map(|cut| vec![cut]))
}

fn pairs(len: usize, stream: &Stream, config: Config) -> Result<u64, String> {
    let end = stream.bytes.len();
    let behind = |first| (first..=end).step_by(thin()).map(move |second| vec![first, second]);
    from_start(len, stream, config, (0..=end).step_by(thin()).flat_map(behind))
}

/// Reads of one size throughout.
fn sizes(len: usize, stream: &Stream, config: Config) -> Result<u64, String> {
    let sizes = [1, 2, 3, 7, 16, 63, 64, 65, 1448, 4096, 65536].into_iter();
    from_start(len, stream, config, sizes.map(|size| (size..stream.bytes.len()).step_by(size).collect()))
}

/// By pull, in reads of one size: texts and events equal those of one read.
fn pulled(stream: &Stream, size: usize) -> Hash {
    let mut parser = Parser::new(Growing::new());
    let mut hash = Hash::NEW;
    fn take(hash: &mut Hash, event: Pulled<'_>) {
        hash.event(&event);
        for (choice, update) in event.deltas() {
            hash.update(choice, &update);
        }
    }
    for mut piece in stream.bytes.chunks(size.max(1)) {
        loop {
            let Some(event) = parser.next(&mut piece).unwrap() else { break };
            take(&mut hash, event);
            hash.range(parser.wire_range());
        }
    }
    loop {
        let Some(event) = parser.finish().unwrap() else { break };
        take(&mut hash, event);
        hash.range(parser.wire_range());
    }
    hash.end(&parser);
    hash
}

/// Runs the work on two threads, largest pieces first.
fn spread<T: Sync>(work: &[T], f: impl Fn(&T) -> Result<u64, String> + Sync) -> u64 {
    let (next, runs) = (AtomicU64::new(0), AtomicU64::new(0));
    let wrong = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(piece) = work.get(next.fetch_add(1, Ordering::Relaxed) as usize) {
                    match f(piece) {
                        Ok(more) => {
                            runs.fetch_add(more, Ordering::Relaxed);
                        }
                        Err(fault) => wrong.lock().unwrap().push(fault),
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{} streams depend on the cut:\n{}", wrong.len(), wrong.join("\n"));
    runs.into_inner()
}

const SMALL: usize = 64 * 1024;

fn by_size(mut streams: Vec<Stream>) -> Vec<Stream> {
    streams.sort_by_key(|stream| std::cmp::Reverse(stream.bytes.len()));
    streams
}

fn streams() -> Vec<Stream> {
    by_size(
        samples()
            .into_iter()
            .chain(native("splits of other protocols"))
            .chain(recorded("splits"))
            .chain(odd("splits"))
            .collect(),
    )
}

#[test]
fn every_single_cut() {
    let streams = streams();
    let bytes: usize = streams.iter().map(|stream| stream.bytes.len()).filter(|len| *len < SMALL).sum();
    let config = Config::default();
    let runs = spread(&streams, |stream| {
        // Of longer streams only some cuts.
        let step = if stream.bytes.len() < SMALL { 1 } else { (stream.bytes.len() / 211) | 1 };
        let fixed = singles(|| storage(32768), stream, config, step)?;
        let grows = singles(Growing::new, stream, config, step)?;
        let borrowed = borrowed(40_000, stream, config, step)?;
        Ok(fixed + grows + borrowed)
    });
    println!("splits: {} streams, {bytes} bytes of those under 64 KB cut everywhere, {runs} runs", streams.len());
}

#[test]
fn every_cut_of_events_over_a_limit() {
    let mut streams = streams();
    streams.retain(|stream| stream.bytes.len() < 16 * 1024);
    let runs = spread(&streams, |stream| {
        let mut runs = 0;
        for max_event_len in [40, 150, 300] {
            let limits = Limits::new().with_max_event_len(max_event_len).with_max_id_len(8).with_max_depth(4).unwrap();
            runs += singles(Growing::new, stream, Config::new().with_limits(limits), 1)?;
        }
        runs += singles(|| storage(0), stream, Config::default(), 7)?;
        runs += singles(|| storage(32), stream, Config::default(), 1)?;
        runs += singles(|| storage(256), stream, Config::default(), 1)?;
        runs += borrowed(200, stream, Config::default(), 3)?;
        Ok(runs)
    });
    println!("splits: {} streams over limits, {runs} runs", streams.len());
}

#[test]
fn reads_of_every_size_by_push_and_by_pull() {
    let streams = streams();
    let runs = spread(&streams, |stream| {
        let mut runs = sizes(40_000, stream, Config::default())? + sizes(100, stream, Config::default())?;
        let whole = pulled(stream, usize::MAX);
        for size in [1, 7, 64, 1448] {
            runs += 1;
            if pulled(stream, size) != whole {
                return Err(format!("{} by pull: reads of {size}", stream.name));
            }
        }
        Ok(runs)
    });
    println!("splits: reads of 11 sizes of {} streams, {runs} runs", streams.len());
}

/// Maximum distance of a pair of cuts: cuts further apart do not fall into one event of a sample or adjacent ones.
const NEAR: usize = 160;

/// Tests each pair of cuts of cases and short samples, and near pairs of longer samples.
#[test]
fn every_pair_of_cuts() {
    let (mut short, long): (Vec<_>, Vec<_>) = samples().into_iter().partition(|stream| stream.bytes.len() < 1000);
    let (samples, long) = (short.len() + long.len(), by_size(long));
    for case in crate::common::case::all() {
        if case.input.len() < 200 {
            short.push(Stream { name: format!("{} {}", case.row, case.name), bytes: case.input });
        }
    }
    let short = by_size(short);
    let cases = short.len() + long.len() - samples;
    let near = spread(&long, |stream| continued(|| [0xAA; 4096], stream, Config::default(), 1, NEAR));
    let runs = spread(&short, |stream| {
        let mut runs = pairs(4096, stream, Config::default())?;
        if stream.bytes.len() < 200 {
            runs += pairs(48, stream, Config::default())?;
            runs += pairs(20, stream, Config::default())?;
            let limits = Limits::new().with_max_event_len(30).with_max_id_len(2);
            runs += pairs(4096, stream, Config::new().with_limits(limits))?;
        }
        Ok(runs)
    });
    println!("splits: pairs of cuts of {samples} samples and {cases} cases, {} runs", near + runs);
}

/// Ten mebibytes in one line, in pieces of 4 KiB: emitted or too long, after reading them once.
#[test]
fn a_line_of_ten_mebibytes() {
    let mut bytes = b"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"".to_vec();
    bytes.resize(bytes.len() + (10 << 20), b'A');
    bytes.extend_from_slice(b"\"}}]}\n\ndata: [DONE]\n\n");
    struct Len(usize, bool);
    impl Handler for Len {
        fn update(&mut self, _choice: u32, update: Update<'_>) -> Flow {
            if let Update::Content(text) = update {
                self.0 += text.decoded_len();
            }
            Flow::Continue(())
        }
        fn event(&mut self, event: &Event<'_>) -> Flow {
            if let Event::TooLong { offset } = event {
                assert_eq!(*offset, 0);
                self.1 = true;
            }
            Flow::Continue(())
        }
    }
    for (max_event_len, wanted) in [(16 << 20, (10 << 20, false)), (1 << 20, (0, true))] {
        let limits = Limits::new().with_max_event_len(max_event_len);
        let mut parser = Parser::with_config(Growing::new(), Config::new().with_limits(limits));
        let mut len = Len(0, false);
        for piece in bytes.chunks(4096) {
            assert_eq!(parser.feed(piece, &mut len).stop, None);
        }
        assert_eq!(parser.finish_into(&mut len), Ok(()));
        assert_eq!((len.0, len.1), wanted);
        assert!(parser.end().done);
    }
}
