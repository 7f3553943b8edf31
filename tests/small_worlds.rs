//! Small worlds: every string over a few bytes or tokens, up to a length, against naive readings; and cut at every place.
#![cfg(feature = "alloc")]
#![allow(missing_docs, clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, clippy::expect_used)]

mod common;

use common::naive_sse::{Answer, Naive, Reader};
use common::worlds::{cuttings, each, number, pieces, Cuts, Tried};
use common::{naive_json, naive_raw_json};
use deltawire::json::{self, Fragment, Kind, Text, Value};
use deltawire::sse::Decoder;
use deltawire::stream::{Event, Payload};
use deltawire::{Config, Flow, Framing, Growing, Handler, Limits, Parser, Quirk, Storage, Validate};
use std::cell::RefCell;
use std::time::Instant;

fn show(bytes: &[u8]) -> String {
    bytes.escape_ascii().to_string()
}

fn say(world: &str, tried: Tried, started: Instant) {
    let Tried { strings, runs } = tried;
    println!("small worlds: {world}: {strings} strings, {runs} runs, {:.1} s", started.elapsed().as_secs_f64());
}

// ---------------------------------------------------------------------------------------------------------------------
// Event streams

/// Whether a decoder says that.
fn decodes<S: Storage>(storage: S, bytes: &[u8], cuts: Cuts, want: &Answer) -> bool {
    let mut decoder = Decoder::with_limits(storage, Limits::DEFAULT);
    let mut items = want.items.iter();
    for mut piece in pieces(bytes, cuts) {
        while let Some(item) = decoder.next(&mut piece) {
            if !items.next().is_some_and(|wanted| wanted.is_item(&item)) {
                return false;
            }
        }
        if !piece.is_empty() {
            return false;
        }
    }
    if items.next().is_some() || decoder.last_event_id() != want.id || decoder.offset() != bytes.len() as u64 {
        return false;
    }
    let mut rest = want.rest.iter();
    while let Some(item) = decoder.finish() {
        if !rest.next().is_some_and(|wanted| wanted.is_item(&item)) {
            return false;
        }
    }
    rest.next().is_none() && decoder.last_event_id() == want.rest_id
}

/// Whether a parser that does not look into payloads says that.
fn parses<S: Storage>(storage: S, framing: Framing, bytes: &[u8], cuts: Cuts, want: &Answer) -> bool {
    let config = Config { framing, payload: Payload::Opaque, ..Config::default() };
    let mut parser = Parser::<_, 0, _>::with_slots(storage, config, ());
    let mut events = want.items.iter();
    for mut piece in pieces(bytes, cuts) {
        while let Some(event) = parser.next(&mut piece).unwrap() {
            if !events.next().is_some_and(|wanted| wanted.is_event(&event)) {
                return false;
            }
        }
        if !piece.is_empty() {
            return false;
        }
    }
    if events.next().is_some() || parser.last_event_id() != want.id || parser.offset() != bytes.len() as u64 {
        return false;
    }
    let mut rest = want.rest.iter();
    while let Some(event) = parser.finish().unwrap() {
        if !rest.next().is_some_and(|wanted| wanted.is_event(&event)) {
            return false;
        }
    }
    rest.next().is_none() && parser.last_event_id() == want.rest_id
}

/// Enough for three IDs as long as the longest line here.
const ROOM: usize = 128;

/// So little storage that events, comments and IDs of a few bytes do not fit.
const TIGHT: usize = 5;

/// One string, by decoder and parser, in each storage. The kinds of storage and of framing take turns where `every` does
/// not ask for all.
fn event_stream(turn: usize, bytes: &[u8], every: bool) -> u64 {
    let read = |reader, max_len| Naive::read(bytes, reader, Limits::DEFAULT, max_len);
    let [decoder, lenient, spec] = [Reader::Decoder, Reader::Lenient, Reader::Spec].map(|reader| read(reader, ROOM));
    let tight = [Reader::Decoder, Reader::Lenient].map(|reader| read(reader, TIGHT));
    let mut runs = 0;
    let cuts = cuttings(bytes.len(), every, |cuts| {
        let mut check = |what: &str, sound: bool, want: &Answer| {
            assert!(sound, "{what}, cut by {cuts:b}: b\"{}\" is not {want:?}", show(bytes));
            runs += 1;
        };
        let turn = turn as u64 + cuts;
        if every || turn % 3 == 0 {
            check("decoder, array", decodes([0xAA; ROOM], bytes, cuts, &decoder), &decoder);
            check("parser, array", parses([0xAA; ROOM], Framing::Lenient, bytes, cuts, &lenient), &lenient);
        }
        if every || turn % 3 == 1 {
            check("decoder, slice", decodes(&mut [0x55; ROOM][..], bytes, cuts, &decoder), &decoder);
            check("parser, slice", parses(&mut [0x55; ROOM][..], Framing::Spec, bytes, cuts, &spec), &spec);
        }
        if every || turn % 3 == 2 {
            check("decoder, growing", decodes(Growing::new(), bytes, cuts, &decoder), &decoder);
            check("parser, growing", parses(Growing::new(), Framing::Lenient, bytes, cuts, &lenient), &lenient);
        }
        check("decoder, tight", decodes([0xAA; TIGHT], bytes, cuts, &tight[0]), &tight[0]);
        check("parser, tight", parses([0xAA; TIGHT], Framing::Lenient, bytes, cuts, &tight[1]), &tight[1]);
    });
    assert!(runs >= 4 * cuts);
    runs
}

/// A world of event streams: strings of up to `len` tokens, cut in all ways up to `short` of them.
fn event_streams(world: &str, alphabet: &[&[u8]], len: u32, short: u32) {
    let started = Instant::now();
    let tried = each(alphabet, len, |turn, bytes, len| event_stream(turn, bytes, len <= short && bytes.len() < 12));
    assert_eq!(tried.strings, number(alphabet.len(), len));
    say(world, tried, started);
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
fn fields_of_event_streams() {
    event_streams("fields", &[b"data", b"id", b"event", b":", b" ", b"a", b"\r", b"\n", b"\xEF\xBB\xBF"], 6, 4);
    event_streams("lines", &[b"data:x", b"event:e", b"id:7", b"\n", b"\r", b":c", b"retry:5", b"\0"], 6, 4);
}

// ---------------------------------------------------------------------------------------------------------------------
// JSON

/// The strict check, the values of what it accepts, and that what it refuses can be walked all the same.
fn json(bytes: &[u8]) -> u64 {
    let strict = json::validate(bytes, Limits::MAX_DEPTH);
    match (strict, naive_json::is_json(bytes)) {
        (Ok(()), Ok(other)) => {
            let value = json::parse(bytes).unwrap_or_else(|fault| panic!("{fault}: b\"{}\"", show(bytes)));
            walk(value);
            if let Some(other) = other {
                assert!(is_same(value, &other), "b\"{}\" is not {other}", show(bytes));
            }
            3
        }
        (Err(fault), Err(())) => {
            assert!(fault.offset <= bytes.len(), "{fault}: b\"{}\"", show(bytes));
            json::parse(bytes).map_or(1, |value| {
                walk(value);
                2
            })
        }
        (strict, other) => panic!("{strict:?}, but {other:?}: b\"{}\"", show(bytes)),
    }
}

fn is_same(value: Value<'_>, other: &serde_json::Value) -> bool {
    match other {
        serde_json::Value::Null => value.is_null(),
        serde_json::Value::Bool(other) => value.as_bool() == Some(*other),
        serde_json::Value::Number(other) => value.as_number().is_some_and(|number| {
            // serde_json is off by a little in its default configuration.
            let (double, other) = (number.to_f64(), other.as_f64().unwrap());
            (double - other).abs() <= double.abs() * 1e-15
        }),
        serde_json::Value::String(other) => value.as_text().is_some_and(|text| text == other.as_str()),
        serde_json::Value::Array(other) => {
            let mut others = other.iter();
            value.elements().all(|element| others.next().is_some_and(|other| is_same(element.unwrap(), other)))
                && others.next().is_none()
        }
        serde_json::Value::Object(other) => {
            value.members().all(|member| other.contains_key(&*member.unwrap().0.to_cow()))
                && other.iter().all(|(name, other)| is_same(value.get(name).unwrap().unwrap(), other))
        }
    }
}

/// Reads whatever there is, sound or not: texts and whole numbers are what the naive readings say.
fn walk(value: Value<'_>) {
    match value.kind() {
        Kind::Object => {
            for member in value.members() {
                let Ok((name, value)) = member else { break };
                text(name);
                walk(value);
            }
        }
        Kind::Array => {
            for element in value.elements() {
                let Ok(element) = element else { break };
                walk(element);
            }
        }
        Kind::String => text(value.as_text().unwrap()),
        Kind::Number => {
            let number = value.as_number().unwrap();
            let whole = naive_json::integer(number.as_str());
            assert_eq!(number.to_u64(), whole.and_then(|whole| u64::try_from(whole).ok()), "{number}");
            assert_eq!(number.to_i64(), whole.and_then(|whole| i64::try_from(whole).ok()), "{number}");
            let double: f64 = number.as_str().parse().unwrap();
            assert_eq!(number.to_f64().to_bits(), double.to_bits(), "{number}");
        }
        Kind::Bool | Kind::Null => {}
    }
}

/// A text in every way in which it can be read.
fn text(text: Text<'_>) {
    let wanted = naive_json::unescaped(text.raw());
    let shown = || show(text.raw());
    let mut pushed = String::new();
    let quirks = text.push_to(&mut pushed);
    assert_eq!(pushed, wanted, "push_to: {}", shown());
    assert_eq!((text.quirks(), text.decoded_len()), (quirks, wanted.len()), "{}", shown());
    assert!(text == *wanted && text.as_str().is_none_or(|text| text == wanted), "{}", shown());
    let mut joined = String::new();
    for fragment in text.fragments() {
        match fragment {
            Fragment::Str(run) => joined += run,
            Fragment::Char(char) => joined.push(char),
        }
    }
    assert_eq!(joined, wanted, "fragments: {}", shown());
    let mut buffer = [0; 4];
    let (mut rest, mut taken) = (text, Vec::new());
    while !rest.is_empty() {
        let len = rest.take_to(&mut buffer);
        assert!(len > 0, "take_to stands still: {}", shown());
        taken.extend_from_slice(&buffer[..len]);
    }
    assert_eq!(taken, wanted.as_bytes(), "take_to: {}", shown());
    let (mut reader, mut read) = (text.unescape(), Vec::new());
    while !reader.is_done() {
        let len = reader.read(&mut buffer);
        assert!(len > 0, "unescape stands still: {}", shown());
        read.extend_from_slice(&buffer[..len]);
    }
    assert_eq!((read.as_slice(), reader.quirks()), (wanted.as_bytes(), quirks), "unescape: {}", shown());
}

/// What a parser says, as bytes to compare.
fn told<const SLOTS: usize>(bytes: &[u8], cuts: Cuts, validate: Validate, out: &mut Vec<u8>) {
    out.clear();
    let config = Config { validate, ..Config::default() };
    let mut parser = Parser::<_, SLOTS, _>::with_slots([0xAA; 96], config, ());
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
        let (kind, text, more) = match &event {
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
    /// A stream, what was said of it uncut, and what was said of it now.
    static ROOM_TO_TELL: RefCell<[Vec<u8>; 3]> = const { RefCell::new([Vec::new(), Vec::new(), Vec::new()]) };
}

/// A parser says the same of `head`, the bytes and `tail` however they are cut. What it says first is judged.
fn framed(head: &[u8], bytes: &[u8], tail: &[u8], every: bool, judge: impl Fn(&[u8], &[u8])) -> u64 {
    ROOM_TO_TELL.with_borrow_mut(|[stream, whole, cut]| {
        stream.clear();
        [head, bytes, tail].iter().for_each(|part| stream.extend_from_slice(part));
        told::<0>(stream, 0, Validate::Lazy, whole);
        judge(bytes, whole);
        let check = |what: &str, cuts, cut: &[u8]| {
            assert!(cut == *whole, "{what} cut by {cuts:b} of b\"{}\": {cut:?}, uncut {whole:?}", show(stream));
        };
        1 + cuttings(stream.len(), every, |cuts| {
            if cuts > 0 {
                told::<0>(stream, cuts, Validate::Lazy, cut);
                check("without memo", cuts, cut);
            }
            if every || cuts.count_ones() > 1 || cuts == 0 {
                told::<2>(stream, cuts, Validate::Lazy, cut);
                check("with memo", cuts, cut);
            }
        })
    })
}

/// As a payload: what it is, by serde_json, and the same however it is cut. Three times in a row, if the memo may know it
/// then.
fn payload(bytes: &[u8], every: bool) -> u64 {
    let object = |known: &Option<serde_json::Value>| known.as_ref().is_none_or(|value| value.is_object());
    let sound = naive_json::is_json(bytes).is_ok_and(|known| object(&known) && bytes.starts_with(b"{"));
    let null = bytes == b"null";
    let mut runs = framed(b"data: ", bytes, b"\n\n", every, |bytes, whole| {
        let kind = whole[0];
        assert!(!sound || kind == b'{' && whole[1..].starts_with(bytes), "no chunk: b\"{}\"", show(bytes));
        assert!(kind != b'{' || bytes.starts_with(b"{") || null, "a chunk: b\"{}\"", show(bytes));
    });
    let mut strict = Vec::new();
    told::<0>(&[b"data: ", bytes, b"\n\n"].concat(), 0, Validate::Strict, &mut strict);
    assert_eq!(strict[0] == b'{', sound || null, "strict: b\"{}\"", show(bytes));
    runs += 1;
    if sound {
        let event = [b"data: ", bytes, b"\n\n"].concat();
        runs += framed(&event, &event, &event, false, |_, _| {});
    }
    runs
}

fn json_world(world: &str, alphabet: &[&[u8]], len: u32, f: impl Fn(&[u8], u32) -> u64 + Sync) {
    let started = Instant::now();
    let tried = each(alphabet, len, |_, bytes, len| f(bytes, len));
    assert_eq!(tried.strings, number(alphabet.len(), len));
    say(world, tried, started);
}

#[test]
fn bytes_of_json() {
    let alphabet: [&[u8]; 16] =
        [b"[", b"]", b"{", b"}", b"\"", b"\\", b"0", b"1", b"-", b",", b":", b"u", b"e", b"n", b"\xC3", b"\x80"];
    json_world("JSON, byte by byte", &alphabet, 6, |bytes, len| {
        json(bytes)
            + match len {
                6 => 0,
                len => payload(bytes, len < 3) + framed(b"", bytes, b"", len < 5, |_, _| {}),
            }
    });
}

#[test]
fn structures() {
    let alphabet: [&[u8]; 8] = [b"[", b"]", b"{", b"}", b",", b":", b"\"a\"", b"1"];
    json_world("JSON by its tokens", &alphabet, 7, |bytes, len| {
        json(bytes)
            + match len {
                6.. => 0,
                _ => payload(bytes, false) + framed(b"", bytes, b"\n", false, |_, _| {}),
            }
    });
}

#[test]
fn literals() {
    let alphabet: [&[u8]; 8] = [b"null", b"true", b"false", b"n", b"ull", b",", b"[", b"]"];
    json_world("literals", &alphabet, 5, |bytes, _| json(bytes));
}

#[test]
fn numbers() {
    let alphabet: [&[u8]; 8] = [b"0", b"1", b"9", b"-", b"+", b".", b"e", b"E"];
    json_world("numbers", &alphabet, 7, |bytes, _| json(bytes));
}

#[test]
fn strings() {
    let quoted = |bytes: &[u8], len| {
        json(&[b"\"", bytes, b"\""].concat())
            + if len < 5 { framed(b"data: {\"a\":\"", bytes, b"\"}\n\n", false, |_, _| {}) } else { 0 }
    };
    json_world("strings, byte by byte", &[b"\\", b"u", b"0", b"d", b"8", b"n", b"\xC3", b"\x80"], 6, quoted);
    let alphabet: [&[u8]; 9] =
        [b"\\ud83d", b"\\ude00", b"\\u00e9", b"\\", b"\\n", b"\xF0\x9F", b"\x98\x80", b"\xED\xA0\x80", b"a"];
    json_world("strings by their parts", &alphabet, 5, quoted);
}

/// Payloads of what is JSON or was taken for it.
fn payloads(bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut parser = Parser::<_, 0, _>::with_slots([0xAA; 96], Config::default(), ());
    let mut out = Vec::new();
    let mut take = |event: Event<'_>| match event {
        Event::Chunk(chunk) => out.push(chunk.payload().to_vec()),
        Event::Malformed(malformed) => out.push(malformed.payload().to_vec()),
        event => panic!("{event:?}: b\"{}\"", show(bytes)),
    };
    let mut input = bytes;
    while let Some(event) = parser.next(&mut input).unwrap() {
        take(event);
    }
    while let Some(event) = parser.finish().unwrap() {
        take(event);
    }
    out
}

#[test]
fn raw_json() {
    json_world("raw JSON", &[b"{", b"}", b"[", b"]", b",", b"\"", b"\\", b"\n"], 6, |bytes, _| {
        assert_eq!(payloads(bytes), naive_raw_json::payloads(bytes), "b\"{}\"", show(bytes));
        1 + framed(b"", bytes, b"", false, |_, _| {})
    });
    // Among fields there is no naive reading: the cuts must not matter.
    let alphabet: [&[u8]; 9] = [b"data:", b"{", b"}", b"[DONE]", b"\n", b"\r", b"error:", b",", b" "];
    json_world("raw JSON among fields", &alphabet, 5, |bytes, _| framed(b"", bytes, b"", false, |_, _| {}));
}

/// Content in two deltas: halves of a pair join across them, and nothing else does.
#[test]
fn content_in_two_deltas() {
    struct Content(String);
    impl Handler for Content {
        fn content(&mut self, _choice: u32, text: Text<'_>) -> Flow {
            assert!(!text.is_empty());
            text.push_to(&mut self.0);
            Flow::Continue(())
        }
    }
    let alphabet: [&[u8]; 6] = [b"\\ud83d", b"\\ude00", b"\\u00e9", b"\xC3", b"\xA9", b"a"];
    json_world("content in two deltas", &alphabet, 5, |bytes, _| {
        let mut runs = 0;
        for place in 0..=bytes.len() {
            let (front, back) = bytes.split_at(place);
            // Between tokens alone.
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
                assert_eq!(parser.finish_into(&mut content), None);
                assert_eq!(content.0, wanted, "b\"{}\" in reads of {size}", show(&stream));
                runs += 1;
            }
        }
        runs
    });
}
