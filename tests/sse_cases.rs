//! Tests the event-stream decoder with the conformance cases, and against a naive decoder of whole buffers.
//!
//! `DELTAWIRE_CORPUS` names the folder that holds `sse/cases.json`.

use crate::common::corpus;
use crate::common::log::escaped;
use crate::common::naive_sse::{Answer, Naive, Reader, Seen};
use crate::common::random::Random;
use crate::common::thin::thin;
use deltawire::sse::{Decoder, Item};
use deltawire::{Limits, Storage};

// ---------------------------------------------------------------------------------------------------------------------
// Running a decoder

fn answer<S: Storage>(storage: S, limits: Limits, cuts: &[&[u8]]) -> Answer {
    Answer::of_decoder(storage, limits, cuts.iter().copied())
}

/// Storages of `N` bytes, and one that grows.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Array,
    Slice,
    #[cfg(feature = "alloc")]
    Growing,
}

const KINDS: &[Kind] = &[
    Kind::Array,
    Kind::Slice,
    #[cfg(feature = "alloc")]
    Kind::Growing,
];

impl Kind {
    fn answer<const N: usize>(self, limits: Limits, cuts: &[&[u8]]) -> Answer {
        match self {
            Kind::Array => answer([0xAA; N], limits, cuts),
            Kind::Slice => answer(&mut [0xAA; N][..], limits, cuts),
            #[cfg(feature = "alloc")]
            Kind::Growing => answer(deltawire::Growing::new(), limits, cuts),
        }
    }

    fn max_len<const N: usize>(self) -> usize {
        match self {
            Kind::Array | Kind::Slice => N,
            #[cfg(feature = "alloc")]
            Kind::Growing => usize::MAX,
        }
    }
}

/// Every way of cutting that a test requests.
fn cuttings<'a>(bytes: &'a [u8], pairs: bool, mut each: impl FnMut(&[&'a [u8]])) {
    each(&[bytes]);
    each(&bytes.chunks(1).collect::<Vec<_>>());
    for i in 0..=bytes.len() {
        let (a, b) = bytes.split_at(i);
        each(&[a, b]);
        if pairs {
            for j in 0..=b.len() {
                each(&[a, &b[..j], &b[j..]]);
            }
        }
    }
}

/// Compares a decoder with the naive one, however the bytes are cut. Returns the number of runs.
fn check<const N: usize>(bytes: &[u8], limits: Limits, kinds: &[Kind], pairs: bool) -> usize {
    let mut runs = 0;
    for kind in kinds {
        let want = Naive::read(bytes, Reader::Decoder, limits, kind.max_len::<N>());
        cuttings(bytes, pairs, |cuts| {
            let got = kind.answer::<N>(limits, cuts);
            assert_eq!(
                got,
                want,
                "{kind:?}: b\"{}\" cut as {:?}",
                escaped(bytes),
                cuts.iter().map(|c| c.len()).collect::<Vec<_>>()
            );
            runs += 1;
        });
    }
    runs
}

fn limits(max_event_len: u32, max_id_len: u32) -> Limits {
    Limits::new().with_max_event_len(max_event_len).with_max_id_len(max_id_len)
}

// ---------------------------------------------------------------------------------------------------------------------
// The conformance cases

/// The expected result of a case: type, data and ID of each event, and the last reconnection time.
type Expected = (Vec<[String; 3]>, Option<u64>);

fn texts(items: &[Seen]) -> Expected {
    let lossy = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let mut events = Vec::new();
    let mut retry = None;
    for item in items {
        match item {
            Seen::Event { name, data, id } => {
                let kind = if name.is_empty() { "message".into() } else { lossy(name) };
                events.push([kind, lossy(data), lossy(id)]);
            }
            Seen::Retry(time) => retry = Some(*time),
            Seen::Comment(_) => {}
            Seen::TooLong(offset) => panic!("too long at {offset}"),
            Seen::LastEventId(_) => panic!("a decoder does not say that"),
        }
    }
    (events, retry)
}

fn unhex(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap()).collect()
}

#[test]
fn conformance_cases() {
    let Some(corpus) = corpus::folder("sse_cases") else { return };
    let file = std::fs::read(corpus.join("sse/cases.json")).unwrap();
    let file: serde_json::Value = serde_json::from_slice(&file).unwrap();
    let cases = file["cases"].as_array().unwrap();
    let (mut ran, mut runs, mut pending) = (0, 0, 0);
    for case in cases {
        let name = case["name"].as_str().unwrap();
        let bytes = match case["input_hex"].as_str() {
            Some(hex) => unhex(hex),
            None => case["input"].as_str().unwrap().as_bytes().to_vec(),
        };
        let text = |event: &serde_json::Value, key: &str| event[key].as_str().unwrap().to_owned();
        let events = case["events"].as_array().unwrap().iter();
        let want: Expected = (
            events.map(|event| ["type", "data", "last_event_id"].map(|key| text(event, key))).collect(),
            case["retry"].as_u64(),
        );
        // To test what the standard discards at the end: the same bytes with the block ended.
        let flushed = Naive::read(&[&bytes[..], b"\n\n"].concat(), Reader::Decoder, Limits::default(), usize::MAX);
        let ended = texts(&flushed.items);
        pending += usize::from(ended != want);
        for kind in KINDS {
            cuttings(&bytes, bytes.len() < 60, |cuts| {
                let got = kind.answer::<4096>(Limits::default(), cuts);
                assert_eq!(texts(&got.items), want, "{name}: {kind:?}");
                assert_eq!(texts(&[got.items, got.rest].concat()), ended, "{name}: {kind:?}, flushed");
                assert_eq!(got.rest_id, flushed.id, "{name}: {kind:?}, flushed");
                runs += 1;
            });
        }
        ran += 1;
    }
    assert_eq!(ran, cases.len());
    assert!(ran >= 75, "cases are missing: {ran}");
    eprintln!("sse_cases: {ran} cases, {pending} of them with a block pending at the end, {runs} runs");
}

// ---------------------------------------------------------------------------------------------------------------------
// Against the naive decoder

#[test]
fn naive_decoder_knows_the_standards_own_examples() {
    let read = |bytes: &[u8]| texts(&Naive::read(bytes, Reader::Decoder, Limits::default(), usize::MAX).items).0;
    let event = |data: &str, id: &str| ["message".to_owned(), data.to_owned(), id.to_owned()];
    assert_eq!(read(b"data: YHOO\ndata: +2\ndata: 10\n\n"), [event("YHOO\n+2\n10", "")]);
    let stream = b": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n";
    assert_eq!(read(stream), [event("first event", "1"), event("second event", ""), event(" third event", "")]);
    assert_eq!(read(b"data\n\ndata\ndata\n\ndata:"), [event("", ""), event("\n", "")]);
}

/// Like `check`, with only two ways to cut.
fn check_chunks<const N: usize>(bytes: &[u8], limits: Limits, kinds: &[Kind], size: usize) -> usize {
    for kind in kinds {
        let want = Naive::read(bytes, Reader::Decoder, limits, kind.max_len::<N>());
        for cuts in [vec![bytes], bytes.chunks(size).collect()] {
            assert_eq!(kind.answer::<N>(limits, &cuts), want, "{kind:?}: b\"{}\" in slices of {size}", escaped(bytes));
        }
    }
    2 * kinds.len()
}

fn stream(random: &mut Random) -> Vec<u8> {
    const TOKENS: [&[u8]; 34] = [
        b"data: ",
        b"data:",
        b"data",
        b"data: x\n",
        b"event: ",
        b"event",
        b"event:e\n",
        b"id: ",
        b"id",
        b"id:1\n",
        b"id: 12345\n",
        b"retry: ",
        b"retry:10\n",
        b"99999999999999999999999\n",
        b":",
        b": c\n",
        b" ",
        b"\n",
        b"\n\n",
        b"\r",
        b"\r\n",
        b"\r\n\r\n",
        b"\xEF\xBB\xBF",
        b"\xEF\xBB",
        b"\xFF",
        b"\0",
        b"7",
        b"a",
        b"abcdefgh",
        b"abcdefghijklmnopqrstuvwxyz",
        b"foo: bar\n",
        b"{",
        b"\n\n",
        b"d",
    ];
    let mut bytes = Vec::new();
    for _ in 0..random.below(18) {
        bytes.extend_from_slice(random.pick(&TOKENS));
    }
    bytes
}

#[test]
fn random_streams_within_random_limits() {
    let mut random = Random::new(1);
    let mut runs = 0;
    for round in (0..4000).step_by(thin()) {
        let bytes = stream(&mut random);
        let pairs = round % 8 == 0 && bytes.len() < 60;
        runs += check::<4096>(&bytes, Limits::default(), KINDS, pairs);
        let small = limits(random.below(40) as u32, random.below(12) as u32);
        runs += check::<4096>(&bytes, small, KINDS, pairs);
        // Storages so small that IDs and events compete for space.
        let loose = limits(1000, 1 + random.below(30) as u32);
        runs += match round % 6 {
            0 => check::<0>(&bytes, loose, KINDS, pairs),
            1 => check::<3>(&bytes, loose, KINDS, pairs),
            2 => check::<8>(&bytes, loose, KINDS, pairs),
            3 => check::<20>(&bytes, loose, KINDS, pairs),
            4 => check::<33>(&bytes, loose, KINDS, pairs),
            _ => check::<50>(&bytes, loose, KINDS, pairs),
        };
    }
    eprintln!("random streams: {runs} runs");
}

#[test]
fn long_streams_in_slices_of_every_size() {
    let mut random = Random::new(42);
    for _ in (0..60).step_by(thin()) {
        let mut bytes = Vec::new();
        while bytes.len() < 4000 {
            bytes.extend(stream(&mut random));
            if random.below(4) == 0 {
                bytes.extend(std::iter::repeat_n(b'x', random.below(900)));
            }
        }
        for size in (1..80).chain([100, 511, 512, 513, 1000, 4096]) {
            let narrow = limits(700, 300);
            check_chunks::<512>(&bytes, narrow, KINDS, size);
            check_chunks::<4096>(&bytes, Limits::default(), KINDS, size);
        }
    }
}

/// Names, comments and IDs of lengths that make a growing storage grow at each of them.
#[test]
fn stored_bytes_survive_growth() {
    let of = |byte: &str, len: usize| byte.repeat(len);
    for len in [1, 100, 255, 300, 500, 511, 512, 513, 1500] {
        let streams = [
            format!("event: {}\ndata: {}\ndata: {}\n\n", of("e", len), of("a", 700), of("b", 900)),
            format!("data: {}\nevent: {}\n: {}\ndata\n\n", of("a", 90), of("e", 100), of("c", len)),
            format!("event: {}\nid: {}\ndata: {}\nid: 1\n\n", of("e", 200), of("i", len), of("a", len)),
            format!("data: {}\nid: 1\n\nevent: {}\ndata\nid: {}\n\n", of("a", 300), of("e", 150), of("i", len)),
            format!("id: {}\ndata: a\n\nevent: {}\ndata: {}\n\n", of("i", 60), of("e", len), of("b", 2000)),
        ];
        for stream in streams {
            for size in [1, 7, 64, 110, 111, 200, 250, 400, 512, 600, 900, 1000, 5000] {
                check_chunks::<8192>(stream.as_bytes(), Limits::default(), KINDS, size);
            }
        }
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Limits

#[test]
fn events_at_the_limit() {
    const LIMIT: usize = 40;
    let pad = |len: usize| "x".repeat(len);
    for len in [LIMIT - 1, LIMIT, LIMIT + 1] {
        // Each of these events has `len` bytes.
        let events = [
            format!("data: {}\n\n", pad(len)),
            format!("data: {}\ndata: {}\n\n", pad(10), pad(len - 11)),
            format!("event: abcde\ndata: {}\n\n", pad(len - 5)),
            format!("data: {}\r\nevent: abcde\r\n\r\n", pad(len - 5)),
            format!("event: {}\ndata\n\n", pad(len)),
            format!("event: {}\nevent: e\ndata:{}\nretry: 5\n\n", pad(30), pad(len - 1)),
            format!("data: {}\ndata\n\n", pad(len - 1)),
            format!(": {}\ndata: {}\nfoo: {}\n\n", pad(LIMIT), pad(len), pad(100)),
        ];
        for event in events {
            let stream = format!("data: a\n\n{event}data: b\n\n");
            let at_event = 9 + if event.starts_with(':') { LIMIT as u64 + 3 } else { 0 };
            for kind in KINDS {
                // Limited by the configuration, and on a fixed storage also by its size.
                let by_limit = kind.answer::<4096>(limits(LIMIT as u32, 100), &[stream.as_bytes()]);
                let events = by_limit.items.iter().filter(|item| matches!(item, Seen::Event { .. })).count();
                assert_eq!(events, if len <= LIMIT { 3 } else { 2 }, "{stream}");
                let too_long: Vec<_> = by_limit.items.iter().filter(|item| matches!(item, Seen::TooLong(_))).collect();
                let want = Seen::TooLong(at_event);
                assert_eq!(too_long, if len <= LIMIT { vec![] } else { vec![&want] }, "{stream}");
                if kind.max_len::<LIMIT>() == LIMIT {
                    let by_storage = kind.answer::<LIMIT>(Limits::default(), &[stream.as_bytes()]);
                    assert_eq!(by_storage, by_limit, "{stream}");
                }
            }
            check::<4096>(stream.as_bytes(), limits(LIMIT as u32, 100), KINDS, false);
            check::<LIMIT>(stream.as_bytes(), limits(1000, 100), KINDS, false);
        }
    }
}

#[test]
fn comments_at_the_limit_leave_the_event_alone() {
    for len in [29, 30, 31] {
        let stream = format!("data: {}\n: {}\ndata\n\n", "x".repeat(10), "c".repeat(len));
        check::<4096>(stream.as_bytes(), limits(40, 100), KINDS, true);
        check::<40>(stream.as_bytes(), limits(1000, 100), KINDS, true);
        let got = answer([0; 4096], limits(40, 100), &[stream.as_bytes()]);
        let comment = if len <= 30 { Seen::Comment(vec![b'c'; len]) } else { Seen::TooLong(17) };
        assert_eq!(got.items[0], comment);
        assert!(matches!(&got.items[1], Seen::Event { data, .. } if data == b"xxxxxxxxxx\n"));
    }
}

#[test]
fn ids_at_the_limit() {
    for len in [19, 20, 21] {
        let stream = format!("id: old\n\nid: {}\ndata: a\n\ndata: b\n\n", "i".repeat(len));
        check::<4096>(stream.as_bytes(), limits(100, 20), KINDS, true);
        let got = answer([0; 4096], limits(100, 20), &[stream.as_bytes()]);
        assert_eq!(got.id, if len <= 20 { vec![b'i'; len] } else { b"old".to_vec() });
        // Three times the ID, and the event's byte so far.
        let stream = format!("data: a\nid: {}\n\n", "i".repeat(len));
        check::<61>(stream.as_bytes(), limits(100, 100), KINDS, true);
        let got = answer([0; 61], limits(100, 100), &[stream.as_bytes()]);
        assert_eq!(got.id.len(), if len <= 20 { len } else { 0 });
    }
}

#[test]
fn room_for_ids_grows_to_the_double() {
    // Two slots of three bytes, then of six, leave 18 of 30 bytes.
    for len in [17, 18, 19] {
        let stream = format!("id: 123\nid: 1234\ndata: {}\n\n", "x".repeat(len));
        check::<30>(stream.as_bytes(), limits(100, 100), KINDS, true);
        let got = answer([0; 30], limits(100, 100), &[stream.as_bytes()]);
        assert_eq!(got.id, if len <= 18 { &b"1234"[..] } else { b"" });
    }
}

#[test]
fn a_discarded_block_keeps_its_id_to_itself() {
    let got = answer([0; 64], limits(4, 100), &[b"id: 1\n\nid: 2\ndata: 12345\nid: 3\n: c\nretry: 1\n\ndata: b\n\n"]);
    let last = Seen::Event { name: vec![], data: b"b".to_vec(), id: b"1".to_vec() };
    assert_eq!(got.items, [Seen::TooLong(7), Seen::Comment(b"c".to_vec()), Seen::Retry(1), last]);
}

// ---------------------------------------------------------------------------------------------------------------------
// The rest

#[test]
fn a_whole_event_is_borrowed() {
    let input = b"event: e\ndata: hello\n\n".to_vec();
    let mut slice = &input[..];
    // An empty storage would suffice, but its length limits the event.
    let mut decoder = Decoder::new([0; 6]);
    let Some(Item::Event(event)) = decoder.next(&mut slice) else { panic!() };
    assert_eq!((event.event_type(), event.data()), (&b"e"[..], &b"hello"[..]));
    assert!(input.as_ptr_range().contains(&event.data().as_ptr()));
    assert!(input.as_ptr_range().contains(&event.name().as_ptr()));
}

#[test]
fn a_cr_ends_the_event_at_once() {
    let mut decoder = Decoder::new([0; 64]);
    assert!(matches!(decoder.next(&mut &b"data: a\r\r"[..]), Some(Item::Event(_))));
    assert!(decoder.next(&mut &b"\n"[..]).is_none());
    assert!(decoder.finish().is_none());
}

#[test]
fn finish_returns_everything_pending() {
    let mut decoder = Decoder::new([0; 64]);
    assert!(decoder.next(&mut &b"id: 4\ndata: a\n:half a com"[..]).is_none());
    assert_eq!(decoder.last_event_id(), b"");
    assert!(matches!(decoder.finish(), Some(Item::Comment(b"half a com"))));
    let Some(Item::Event(event)) = decoder.finish() else { panic!() };
    assert_eq!((event.data(), event.last_event_id()), (&b"a"[..], &b"4"[..]));
    assert!(decoder.finish().is_none());
    assert_eq!(decoder.last_event_id(), b"4");
}

#[test]
fn reset_forgets_the_stream() {
    let stream = b"\xEF\xBB\xBFdata: a\nid: 1\n\ndata: a";
    for kind in KINDS {
        fn twice<S: Storage>(mut decoder: Decoder<S>, stream: &[u8], cut: usize) {
            for _ in 0..2 {
                assert_eq!((decoder.offset(), decoder.last_event_id()), (0, &b""[..]));
                let mut events = 0;
                for mut slice in [&stream[..cut], &stream[cut..]] {
                    while let Some(item) = decoder.next(&mut slice) {
                        assert!(matches!(item, Item::Event(event) if event.data() == b"a"));
                        events += 1;
                    }
                }
                assert_eq!((events, decoder.last_event_id()), (1, &b"1"[..]));
                decoder.reset();
            }
        }
        for cut in 0..stream.len() {
            match kind {
                Kind::Array => twice(Decoder::new([0; 64]), stream, cut),
                Kind::Slice => twice(Decoder::new(&mut [0; 64][..]), stream, cut),
                #[cfg(feature = "alloc")]
                Kind::Growing => twice(Decoder::new(deltawire::Growing::new()), stream, cut),
            }
        }
    }
}

#[test]
fn reset_keeps_the_limits() {
    let mut decoder = Decoder::with_limits([0; 64], limits(4, 2));
    for _ in 0..2 {
        let mut seen = Vec::new();
        let mut slice = &b"id: 12\ndata: 1234\n\nid: 123\ndata: 12345\n\ndata\n\n"[..];
        while let Some(item) = decoder.next(&mut slice) {
            seen.push(Seen::of(item));
        }
        let event = |data: &[u8]| Seen::Event { name: vec![], data: data.to_vec(), id: b"12".to_vec() };
        assert_eq!(seen, [event(b"1234"), Seen::TooLong(19), event(b"")]);
        decoder.reset();
    }
}
