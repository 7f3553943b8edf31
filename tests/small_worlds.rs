//! Small worlds: compares every string over a few bytes or tokens, up to a length and cut at every position, with naive
//! readers.
#![cfg(feature = "alloc")]

use crate::common::json_walk::json;
use crate::common::log::escaped;
use crate::common::naive_sse::{Answer, Naive, Reader};
use crate::common::worlds::{cuttings, each, hash, number, pieces, Cuts, Tried, Ways};
use crate::common::{batch, naive_json, naive_raw_json};
use deltawire::stream::Event;
use deltawire::{Config, Flow, Framing, Growing, Handler, Limits, Parser, Quirk, Storage, Update, Validate};
use std::cell::RefCell;
use std::time::Instant;

fn print(world: &str, tried: Tried, started: Instant) {
    let Tried { strings, runs } = tried;
    println!("small worlds: {world}: {strings} strings, {runs} runs, {:.1} s", started.elapsed().as_secs_f64());
}

// ---------------------------------------------------------------------------------------------------------------------
// Event streams

fn decoded<S: Storage>(storage: S, bytes: &[u8], cuts: Cuts) -> Answer {
    Answer::of_decoder(storage, Limits::DEFAULT, pieces(bytes, cuts))
}

fn parsed<S: Storage>(storage: S, framing: Framing, bytes: &[u8], cuts: Cuts) -> Answer {
    Answer::of_parser(storage, framing, Limits::DEFAULT, pieces(bytes, cuts))
}

/// Enough for three IDs as long as the longest line here.
const ROOM: usize = 128;

/// Too little storage for events, comments and IDs of a few bytes.
const TIGHT: usize = 5;

/// The storages to read a string with, for each way to cut it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stores {
    All,
    /// An ample one and a tight one; the kinds of ample ones and of framing take turns.
    Two,
    /// A single one; all kinds and the tight one take turns.
    One,
}

/// Reads one string with decoder and parser.
fn event_stream(turn: usize, bytes: &[u8], ways: Ways, stores: Stores) -> u64 {
    let read = |reader, max_len| Naive::read(bytes, reader, Limits::DEFAULT, max_len);
    let [decoder, parser] = [Reader::Decoder, Reader::Parser].map(|reader| read(reader, ROOM));
    let tight = [Reader::Decoder, Reader::Parser].map(|reader| read(reader, TIGHT));
    let mut runs = 0;
    let cuts = cuttings(bytes.len(), ways, |cuts| {
        let mut check = |what: &str, got: Answer, want: &Answer| {
            assert_eq!(got, *want, "{what}, cut by {cuts:b}: b\"{}\"", escaped(bytes));
            runs += 1;
        };
        let turn = match stores {
            Stores::All => None,
            Stores::Two => Some((turn as u64 + cuts) % 3),
            Stores::One => Some((turn as u64 + u64::from(cuts.trailing_zeros())) % 4),
        };
        let is = |kind| turn.is_none_or(|turn| turn == kind);
        if is(0) {
            check("decoder, array", decoded([0xAA; ROOM], bytes, cuts), &decoder);
            check("parser, array", parsed([0xAA; ROOM], Framing::Lenient, bytes, cuts), &parser);
        }
        if is(1) {
            check("decoder, slice", decoded(&mut [0x55; ROOM][..], bytes, cuts), &decoder);
            check("parser, slice", parsed(&mut [0x55; ROOM][..], Framing::Spec, bytes, cuts), &parser);
        }
        if is(2) {
            check("decoder, growing", decoded(Growing::new(), bytes, cuts), &decoder);
            check("parser, growing", parsed(Growing::new(), Framing::Lenient, bytes, cuts), &parser);
        }
        if is(3) || stores == Stores::Two {
            check("decoder, tight", decoded([0xAA; TIGHT], bytes, cuts), &tight[0]);
            check("parser, tight", parsed([0xAA; TIGHT], Framing::Lenient, bytes, cuts), &tight[1]);
        }
    });
    let each = match stores {
        Stores::All => 8,
        Stores::Two => 4,
        Stores::One => 2,
    };
    assert_eq!(runs, each * cuts);
    runs
}

/// A world of event streams: strings of up to `len` tokens, those up to `short` cut in all ways, the others at every
/// position.
fn event_streams(world: &str, alphabet: &[&[u8]], len: u32, short: u32) {
    let started = Instant::now();
    let tried = each(alphabet, len, |turn, bytes, len| match len <= short && bytes.len() < 12 {
        true => event_stream(turn, bytes, Ways::All, Stores::All),
        false => event_stream(turn, bytes, Ways::Each, Stores::Two),
    });
    assert_eq!(tried.strings, number(alphabet.len(), len));
    print(world, tried, started);
}

/// Follows the letters of a name: a value, in case a name and a colon come last, and an event that shows its effect.
const VALUE: &[u8] = b"7\ndata:x\n\n";

/// The letters of a field's name and other bytes, one by one, before a value. Up to 5 bytes are cut at every position
/// of the stream, more at every position up to the one after the value.
fn letters(name: &str, alphabet: &[&[u8]], len: u32) {
    let started = Instant::now();
    let tried = each(alphabet, len, |turn, bytes, len| {
        let stream = [bytes, VALUE].concat();
        match len {
            6.. => event_stream(turn, &stream, Ways::Within(0, bytes.len() + 1), Stores::One),
            _ => event_stream(turn, &stream, Ways::Each, Stores::All),
        }
    });
    assert_eq!(tried.strings, number(alphabet.len(), len));
    print(&format!("`{name}` letter by letter, before a value"), tried, started);
}

#[test]
fn bytes_of_event_streams() {
    event_streams(
        "every byte that means something",
        &[b"d", b":", b" ", b"\r", b"\n", b"\xEF", b"\xBB", b"\xBF", b"\0"],
        6,
        4,
    );
}

#[test]
fn letters_of_data() {
    event_streams("`data` letter by letter", &[b"d", b"a", b"t", b":", b"\n"], 8, 5);
}

#[test]
fn letters_of_id() {
    event_streams("`id` letter by letter", &[b"i", b"d", b":", b"\r", b"\n", b"\0"], 7, 5);
}

#[test]
fn letters_before_a_value() {
    letters("data", &[b"d", b"a", b"t", b":", b"\n"], 7);
    letters("data", &[b"d", b"a", b"t", b":", b"\r", b"\n"], 6);
    letters("event", &[b"e", b"v", b"n", b"t", b":", b"\n"], 7);
    letters("id", &[b"i", b"d", b":", b" ", b"\n"], 7);
    letters("id", &[b"i", b"d", b":", b" ", b"\r", b"\n"], 6);
    letters("retry", &[b"r", b"e", b"t", b"y", b":", b"\n"], 7);
}

#[test]
fn fields_of_event_streams() {
    event_streams("fields", &[b"data", b"id", b"event", b":", b" ", b"a", b"\r", b"\n", b"\xEF\xBB\xBF"], 6, 4);
    event_streams("lines", &[b"data:x", b"event:e", b"id:7", b"\n", b"\r", b":c", b"retry:5", b"\0"], 6, 4);
}

// ---------------------------------------------------------------------------------------------------------------------
// JSON

/// The parser's events as bytes, for comparison.
fn events<const SLOTS: usize>(bytes: &[u8], cuts: Cuts, validate: Validate, out: &mut Vec<u8>) {
    out.clear();
    let config = Config::new().with_validate(validate);
    let mut parser = Parser::<_, SLOTS>::with_slots([0xAA; 96], config, deltawire::track::Tracker::new());
    let mut piece: &[u8] = &[];
    let mut pieces = pieces(bytes, cuts);
    let mut ended = false;
    loop {
        let event = if ended { parser.finish() } else { parser.next(&mut piece) };
        let Some(event) = event.unwrap() else {
            match pieces.next() {
                Some(next) => piece = next,
                None if !ended => ended = true,
                None => break,
            }
            continue;
        };
        let (kind, text, more) = match &*event {
            Event::Chunk(chunk) => (b'{', chunk.payload(), chunk.quirks().iter().map(|quirk| 1 << quirk as u8).sum()),
            Event::Done => (b'd', &b""[..], 0),
            Event::Comment(text) => (b':', *text, 0),
            Event::KeepAlive(text) => (b'k', *text, 0),
            Event::Malformed(malformed) => {
                let fault = malformed.fault();
                (b'm', malformed.payload(), u64::from(fault.kind as u8) << 32 | fault.offset as u64)
            }
            Event::TooLong { offset } => (b't', &b""[..], *offset),
            Event::CommentTooLong { offset } => (b'c', &b""[..], *offset),
            event => panic!("{event:?}"),
        };
        out.push(kind);
        out.extend_from_slice(text);
        out.extend_from_slice(&more.to_le_bytes());
        drop(event);
        let range = parser.wire_range();
        out.extend_from_slice(&[range.start as u8, range.end as u8]);
    }
    let end = parser.end();
    assert_eq!(end.offset, bytes.len() as u64);
    out.extend_from_slice(&[
        end.verdict as u8,
        end.pending as u8,
        end.done.into(),
        end.malformed as u8,
        end.too_long as u8,
    ]);
    for quirk in Quirk::ALL {
        out.push(parser.quirk_count(*quirk) as u8);
    }
}

std::thread_local! {
    /// A stream, the events of the uncut stream, and the events of the cut stream.
    static BUFFERS: RefCell<[Vec<u8>; 3]> = const { RefCell::new([Vec::new(), Vec::new(), Vec::new()]) };
}

/// The parser must emit the same for `head`, the bytes and `tail` however they are cut. `judge` checks the events of
/// the uncut stream.
fn framed(parts: [&[u8]; 3], ways: Ways, validate: Validate, judge: impl Fn(&[u8])) -> u64 {
    BUFFERS.with_borrow_mut(|[stream, whole, cut]| {
        stream.clear();
        parts.iter().for_each(|part| stream.extend_from_slice(part));
        events::<0>(stream, 0, validate, whole);
        judge(whole);
        let mut runs = 1;
        cuttings(stream.len(), ways, |cuts| {
            // With a single cut, the memo runs in every other string; otherwise in all of them.
            let (without, with) = match ways {
                Ways::One(_) => (hash(parts[1]) & 1 == 0, hash(parts[1]) & 1 == 1),
                Ways::All => (cuts > 0, true),
                _ => (cuts > 0, cuts.count_ones() != 1),
            };
            let mut check = |what: &str, cut: &[u8]| {
                assert!(cut == *whole, "{what} cut by {cuts:b} of b\"{}\": {cut:?}, uncut {whole:?}", escaped(stream));
                runs += 1;
            };
            if without {
                events::<0>(stream, cuts, validate, cut);
                check("without memo", cut);
            }
            if with {
                events::<2>(stream, cuts, validate, cut);
                check("with memo", cut);
            }
        });
        runs
    })
}

/// Cuts at one position, selected by the bytes in the middle: within them, or right before or after them.
fn one([head, bytes, tail]: [&[u8]; 3]) -> Ways {
    let from = head.len().saturating_sub(1);
    let to = (head.len() + bytes.len() + tail.len() - 1).min(head.len() + bytes.len());
    Ways::One(from + (hash(bytes) >> 1) as usize % (to - from))
}

/// As a payload: compares it with serde_json, and cut with uncut; with the strict check cut only if it might be a
/// chunk. Repeats it three times if the memo may then recognize it and it fits 64 bytes. Without `ways` each stream is
/// cut at only one position.
fn payload(bytes: &[u8], ways: Option<Ways>) -> u64 {
    let object = |known: &Option<serde_json::Value>| known.as_ref().is_none_or(|value| value.is_object());
    let might = bytes.starts_with(b"{");
    let sound = might && naive_json::is_json(bytes).is_ok_and(|known| object(&known));
    let null = bytes == b"null";
    let parts = [&b"data: "[..], bytes, b"\n\n"];
    let ways_of_strict = if might { ways } else { Some(Ways::Within(0, 0)) };
    let mut runs = framed(parts, ways.unwrap_or_else(|| one(parts)), Validate::Lazy, |whole| {
        let kind = whole[0];
        assert!(!sound || kind == b'{' && whole[1..].starts_with(bytes), "no chunk: b\"{}\"", escaped(bytes));
        assert!(kind != b'{' || might || bytes.starts_with(b"null"), "a chunk: b\"{}\"", escaped(bytes));
    });
    if might || ways.is_some() {
        runs += framed(parts, ways_of_strict.unwrap_or_else(|| one(parts)), Validate::Strict, |whole| {
            assert_eq!(whole[0] == b'{', sound || null, "strict: b\"{}\"", escaped(bytes));
        });
    }
    let event = parts.concat();
    if sound && 3 * event.len() <= 64 {
        let parts = [&event[..]; 3];
        runs += framed(parts, ways.map_or_else(|| one(parts), |_| Ways::Each), Validate::Lazy, |_| {});
    }
    runs
}

/// As a payload that begins neither like an object nor like null, cut at one position: all of it is reported as
/// malformed from its first byte on, or as a keep-alive.
fn no_chunk(bytes: &[u8]) -> u64 {
    let parts = [&b"data: "[..], bytes, b"\n\n"];
    let Ways::One(place) = one(parts) else { panic!("one place") };
    BUFFERS.with_borrow_mut(|[stream, _, cut]| {
        stream.clear();
        parts.iter().for_each(|part| stream.extend_from_slice(part));
        events::<0>(stream, 1 << place, Validate::Lazy, cut);
        let kind = if bytes[0] == b':' { b'k' } else { b'm' };
        let expected = [&[kind], bytes, &[0; 4]].concat();
        let end = expected.len() + 4;
        assert!(
            cut.starts_with(&expected) && cut[end..end + 2] == [0, stream.len() as u8],
            "cut by {:b} of b\"{}\": {cut:?}",
            1 << place,
            escaped(stream)
        );
    });
    1
}

/// As it is, and line by line if there is such a tail: cuts must not matter. Without `ways`, at one position.
fn raw(bytes: &[u8], tail: &[u8], ways: Option<Ways>) -> u64 {
    let parts = [b"", bytes, tail];
    framed(parts, ways.unwrap_or_else(|| one(parts)), Validate::Lazy, |_| {})
}

/// As the value of a member, in a payload and in raw JSON.
fn member(bytes: &[u8], ways: Option<Ways>) -> u64 {
    let object = [b"{\"a\":", bytes, b"}"].concat();
    payload(&object, ways) + raw(&object, b"\n", ways)
}

fn json_world(world: &str, alphabet: &[&[u8]], len: u32, f: impl Fn(&[u8], u32) -> u64 + Sync) {
    let started = Instant::now();
    let tried = each(alphabet, len, |_, bytes, len| f(bytes, len));
    assert_eq!(tried.strings, number(alphabet.len(), len));
    print(world, tried, started);
}

/// The strict check and the walks read every string whole. Up to 5 bytes it is also a payload and raw JSON, cut at
/// every position (in all ways: payloads up to 2 bytes, raw JSON up to 4). With 6 bytes it is a payload too, and raw
/// JSON if it begins with a bracket (any other first byte makes a line that is skipped), cut at one position, selected
/// by the bytes. Payloads that begin with `{` or `n` are compared with the uncut ones, the others with the expected
/// report.
#[test]
fn bytes_of_json() {
    let alphabet: [&[u8]; 16] =
        [b"[", b"]", b"{", b"}", b"\"", b"\\", b"0", b"1", b"-", b",", b":", b"u", b"e", b"n", b"\xC3", b"\x80"];
    json_world("JSON, byte by byte", &alphabet, 6, |bytes, len| {
        let up_to = |most| Some(if len <= most { Ways::All } else { Ways::Each });
        json(bytes)
            + match len {
                6 => match bytes[0] {
                    b'{' => payload(bytes, None) + raw(bytes, b"", None),
                    b'[' => no_chunk(bytes) + raw(bytes, b"", None),
                    b'n' => payload(bytes, None),
                    _ => no_chunk(bytes),
                },
                _ => payload(bytes, up_to(2)) + raw(bytes, b"", up_to(4)),
            }
    });
}

/// The strict check and the walks read every string whole. It is also a payload and raw JSON: up to 6 tokens at every
/// cut, 7 at one, selected by the bytes.
#[test]
fn structures() {
    let alphabet: [&[u8]; 8] = [b"[", b"]", b"{", b"}", b",", b":", b"\"a\"", b"1"];
    json_world("JSON by its tokens", &alphabet, 7, |bytes, len| {
        let ways = (len < 7).then_some(Ways::Each);
        json(bytes) + payload(bytes, ways) + raw(bytes, b"\n", ways)
    });
}

/// The strict check and the walks read every string whole. It is also a payload, and the value of a member of a payload
/// and of raw JSON, at every cut.
#[test]
fn literals() {
    let alphabet: [&[u8]; 8] = [b"null", b"true", b"false", b"n", b"ull", b",", b"[", b"]"];
    json_world("literals", &alphabet, 5, |bytes, _| {
        json(bytes) + payload(bytes, Some(Ways::Each)) + member(bytes, Some(Ways::Each))
    });
}

/// The strict check and the walks read every string whole. Up to 6 bytes it is also the value of a member of a payload,
/// lazily and strictly, and of raw JSON: up to 5 at every cut, 6 at every cut right before, in and after it (in raw
/// JSON at one). With 7 it is the value of a member of a payload with the strict check, at one cut, selected by the
/// bytes.
#[test]
fn numbers() {
    let alphabet: [&[u8]; 8] = [b"0", b"1", b"9", b"-", b"+", b".", b"e", b"E"];
    json_world("numbers", &alphabet, 7, |bytes, len| {
        let object = || [b"{\"a\":", bytes, b"}"].concat();
        json(bytes)
            + match len {
                7 => {
                    let parts = [b"data: {\"a\":", bytes, b"}\n\n"];
                    framed(parts, one(parts), Validate::Strict, |whole| {
                        assert_eq!(
                            whole[0] == b'{',
                            naive_json::is_json(bytes).is_ok(),
                            "strict: b\"{}\"",
                            escaped(bytes)
                        );
                    })
                }
                6 => payload(&object(), Some(Ways::Within(10, 17))) + raw(&object(), b"\n", None),
                _ => member(bytes, Some(Ways::Each)),
            }
    });
}

/// The strict check and the walks read every string whole. It is also the value of a member of a payload, at every cut,
/// and of raw JSON, up to 4 bytes or parts at every cut, more at one, selected by the bytes.
#[test]
fn strings() {
    let quoted = |bytes: &[u8], len| {
        let parts = [b"data: {\"a\":\"", bytes, b"\"}\n\n"];
        json(&[b"\"", bytes, b"\""].concat())
            + framed(parts, Ways::Each, Validate::Lazy, |_| {})
            + raw(&[b"{\"a\":\"", bytes, b"\"}"].concat(), b"\n", (len < 5).then_some(Ways::Each))
    };
    json_world("strings, byte by byte", &[b"\\", b"u", b"0", b"d", b"8", b"n", b"\xC3", b"\x80"], 6, quoted);
    let alphabet: [&[u8]; 9] =
        [b"\\ud83d", b"\\ude00", b"\\u00e9", b"\\", b"\\n", b"\xF0\x9F", b"\x98\x80", b"\xED\xA0\x80", b"a"];
    json_world("strings by their parts", &alphabet, 5, quoted);
}

/// Payloads that are JSON or resemble it.
fn payloads(bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut parser = Parser::<_, 0>::with_slots([0xAA; 96], Config::default(), deltawire::track::Tracker::new());
    let mut out = Vec::new();
    let mut take = |event: Event<'_>| match event {
        Event::Chunk(chunk) => out.push(chunk.payload().to_vec()),
        Event::Malformed(malformed) => out.push(malformed.payload().to_vec()),
        event => panic!("{event:?}: b\"{}\"", escaped(bytes)),
    };
    let mut input = bytes;
    while let Some(event) = parser.next(&mut input).unwrap() {
        take(*event);
    }
    while let Some(event) = parser.finish().unwrap() {
        take(*event);
    }
    out
}

/// All strings are raw JSON, at every cut; whole, they are compared with the naive reader.
#[test]
fn raw_json() {
    json_world("raw JSON", &[b"{", b"}", b"[", b"]", b",", b"\"", b"\\", b"\n"], 6, |bytes, _| {
        assert_eq!(payloads(bytes), naive_raw_json::payloads(bytes), "b\"{}\"", escaped(bytes));
        1 + raw(bytes, b"", Some(Ways::Each))
    });
    // There is no naive reader for raw JSON among fields: cuts must not matter.
    let alphabet: [&[u8]; 9] = [b"data:", b"{", b"}", b"[DONE]", b"\n", b"\r", b"error:", b",", b" "];
    json_world("raw JSON among fields", &alphabet, 5, |bytes, _| raw(bytes, b"", Some(Ways::Each)));
}

/// Frames of raw JSON end where the naive reading says, and no byte later than that is known.
#[test]
fn frames_of_raw_json() {
    let alphabet: [&[u8]; 9] = [b"{}", b"{", b"}", b"[", b"[DONE]", b",", b"\n", b"\r", b" "];
    json_world("frames of raw JSON", &alphabet, 6, |bytes, _| {
        let naive = naive_raw_json::frames(bytes);
        assert_eq!(batch::frames(bytes, 1), naive, "b\"{}\"", escaped(bytes));
        let ends = |frames: Vec<(usize, usize)>| frames.into_iter().map(|(end, _)| end).collect::<Vec<_>>();
        assert_eq!(ends(batch::frames(bytes, usize::MAX)), ends(naive), "b\"{}\"", escaped(bytes));
        2
    });
}

/// Content in two deltas: surrogates join across them, and nothing else does.
#[test]
fn content_in_two_deltas() {
    struct Content(String);
    impl Handler for Content {
        fn update(&mut self, _choice: u32, update: Update<'_>) -> Flow {
            if let Update::Content(text) = update {
                assert!(!text.is_empty());
                text.push_to(&mut self.0);
            }
            Flow::Continue(())
        }
    }
    let alphabet: [&[u8]; 6] = [b"\\ud83d", b"\\ude00", b"\\u00e9", b"\xC3", b"\xA9", b"a"];
    json_world("content in two deltas", &alphabet, 5, |bytes, _| {
        let mut runs = 0;
        for place in 0..=bytes.len() {
            let (front, back) = bytes.split_at(place);
            // Only between tokens.
            if back.first().is_some_and(|byte| byte.is_ascii_alphanumeric() && front.ends_with(b"\\"))
                || front
                    .rsplit(|byte| *byte == b'\\')
                    .next()
                    .is_some_and(|last| front.contains(&b'\\') && last.len() < 5)
            {
                continue;
            }
            let wanted = match (front.strip_suffix(b"\\ud83d"), back.strip_prefix(b"\\ude00")) {
                (Some(front), Some(back)) => naive_json::unescaped(front) + "\u{1F600}" + &naive_json::unescaped(back),
                _ => naive_json::unescaped(front) + &naive_json::unescaped(back),
            };
            let mut stream = Vec::new();
            for part in [front, back] {
                stream.extend_from_slice(b"data: {\"choices\":[{\"delta\":{\"content\":\"");
                stream.extend_from_slice(part);
                stream.extend_from_slice(b"\"}}]}\n\n");
            }
            for size in [1, 7, stream.len()] {
                let (mut parser, mut content) = (Parser::new([0; 256]), Content(String::new()));
                for piece in stream.chunks(size) {
                    assert_eq!(parser.feed(piece, &mut content).stop, None);
                }
                assert_eq!(parser.finish_into(&mut content), Ok(()));
                assert_eq!(content.0, wanted, "b\"{}\" in reads of {size}", escaped(&stream));
                runs += 1;
            }
        }
        runs
    });
}
