//! A value of an event is replaced on the wire, and every other byte passes as it came.
#![cfg(feature = "alloc")]

use crate::common::corpus;
use crate::common::thin::thin;
use deltawire::chat::{replaced, Chunk, ChunkMember};
use deltawire::json::Value;
use deltawire::{Growing, Parser};
use std::ops::Range;

/// Returns the model of a chunk of any protocol, or its choices if it has none.
fn wanted<'a>(chunk: &Chunk<'a>) -> Option<Value<'a>> {
    let inner = |name| chunk.get(name)?.get("model").ok()?;
    chunk.field(ChunkMember::Model).or_else(|| inner("message")).or_else(|| inner("response"))
}

/// Passes a stream on in reads of this length, with the value that `find` returns of each chunk replaced. Returns what
/// was sent, and how many values were replaced and how many could not be.
fn pass(
    stream: &[u8],
    read: usize,
    with: &[u8],
    find: &dyn for<'a> Fn(&Chunk<'a>) -> Option<Value<'a>>,
) -> (Vec<u8>, usize, usize) {
    let (mut parser, mut held, mut from) = (Parser::new(Growing::new()), Vec::new(), 0u64);
    let (mut sent, mut done, mut left) = (Vec::new(), 0, 0);
    for slice in stream.chunks(read) {
        held.extend_from_slice(slice);
        let mut slice = slice;
        while let Some(event) = parser.next(&mut slice).unwrap() {
            let Some(chunk) = event.chunk() else { continue };
            let Range { start, end } = chunk.wire_range();
            let (start, end) = ((start - from) as usize, (end - from) as usize);
            let Some(value) = find(&chunk) else { continue };
            // What came before the event passes.
            sent.extend(held.drain(..start));
            let end = end - start;
            from += start as u64;
            match chunk.place_in(&held[..end], value) {
                Some(place) => {
                    let places = [(place, with)];
                    sent.extend(replaced(&held[..end], &places).flatten());
                    done += 1;
                }
                None => {
                    sent.extend_from_slice(&held[..end]);
                    left += 1;
                }
            }
            held.drain(..end);
            from += end as u64;
        }
    }
    sent.extend_from_slice(&held);
    (sent, done, left)
}

/// Checks what becomes of a stream, whatever the reads.
#[track_caller]
fn case(stream: &str, expected: &str, find: &dyn for<'a> Fn(&Chunk<'a>) -> Option<Value<'a>>) {
    for read in 1..=stream.len() {
        let (sent, ..) = pass(stream.as_bytes(), read, b"\"m\"", find);
        assert_eq!(std::str::from_utf8(&sent).unwrap(), expected, "reads of {read}");
    }
}

#[test]
fn all_other_bytes_stay() {
    for (line, lead) in [("\n", ""), ("\r\n", "\u{feff}"), ("\r", ": hello\n\nid: 7\n")] {
        let stream = |model| {
            format!("{lead}event: x{line}data:{{ \"model\" : {model} ,\"choices\":[]}}{line}id: 1{line}{line}: bye\n\n")
        };
        case(&stream("\"a\\u0062\""), &stream("\"m\""), &wanted);
    }
    let body = |model| format!(" {{\"model\":{model},\n\"choices\":[]}}");
    let stream = body("\"a\"") + "\n" + &body("\"b\"") + "\n";
    case(&stream, &(body("\"m\"") + "\n" + &body("\"m\"") + "\n"), &wanted);
}

#[test]
fn a_value_in_several_lines_becomes_one_line() {
    let stream = "data: {\"choices\":[],\"usage\":{\r\ndata: \"total_tokens\":\ndata:5}\r\ndata: }\r\n\r\n";
    case(stream, "data: {\"choices\":[],\"usage\":\"m\"\r\ndata: }\r\n\r\n", &|chunk| chunk.field(ChunkMember::Usage));
    // A field between the lines would be lost, and a line that is no field is not in the payload as it is on the wire.
    for other in ["id: 1\n", ": comment\n"] {
        let stream = format!("data: {{\"choices\":[],\"usage\":{{\n{other}data: \"total_tokens\":5}}}}\n\n");
        case(&stream, &stream, &|chunk| chunk.field(ChunkMember::Usage));
        case(
            &stream.replace("{\"choices", "{\"model\":\"a\",\"choices"),
            &stream.replace("{\"choices", "{\"model\":\"m\",\"choices"),
            &wanted,
        );
    }
}

#[test]
fn no_place_is_wrong() {
    let event = b"data: {\"model\":\"a\",\"choices\":[]}\n\n";
    let mut parser = Parser::new(Growing::new());
    let chunk = parser.next(&mut &event[..]).unwrap().unwrap().chunk().unwrap();
    let model = chunk.field(ChunkMember::Model).unwrap();
    assert_eq!(chunk.place_in(event, model), Some(15..18));
    // Lines before the event may be there, too.
    assert_eq!(chunk.place_in(&[&b"\n: hello\n"[..], event].concat(), model), Some(24..27));
    // Another event, a part of the event, and a value of another payload.
    assert_eq!(chunk.place_in(b"data: {\"model\":\"b\",\"choices\":[]}\n\n", model), None);
    assert_eq!(chunk.place_in(b"data: [DONE]\n\n", model), None);
    assert_eq!(chunk.place_in(&event[7..], model), None);
    assert_eq!(chunk.place_in(b"", model), None);
    assert_eq!(chunk.place_in(event, Value::from_raw(b"\"a\"")), None);
    assert_eq!(chunk.place_in(event, Value::from_raw(&[])), None);
}

/// What a parser reads of a stream: the payloads as JSON, and how many models they have.
fn read(stream: &[u8]) -> Vec<serde_json::Value> {
    let (mut parser, mut payloads, mut input) = (Parser::new(Growing::new()), Vec::new(), stream);
    while let Some(event) = parser.next(&mut input).unwrap() {
        if let Some(chunk) = event.chunk() {
            payloads.extend(serde_json::from_slice(chunk.payload()));
        }
    }
    payloads
}

#[test]
fn the_model_of_recorded_streams_is_replaced() {
    let mut streams = corpus::samples();
    streams.extend(corpus::recorded("rewrite"));
    streams.extend(corpus::recorded_of_other_protocols("rewrite"));
    let (mut all, mut kept) = (0, 0);
    for stream in streams {
        let mut expected = read(&stream.bytes);
        for payload in &mut expected {
            for at in ["/model", "/message/model", "/response/model", "/modelVersion"] {
                if let Some(model) =
                    payload.pointer_mut(at).filter(|model| model.as_str().is_some_and(|model| !model.is_empty()))
                {
                    *model = "m".into();
                    break;
                }
            }
        }
        for length in [stream.bytes.len().max(1), 1448, 1 + 16 / thin()] {
            let (sent, done, left) = pass(&stream.bytes, length, b"\"m\"", &wanted);
            (all, kept) = (all + done, kept + left);
            if left == 0 {
                assert_eq!(read(&sent), expected, "{}", stream.name);
            }
        }
    }
    assert!(all > 300 && kept * 100 < all, "{all} {kept}");
}
