//! Unknown lines: raw JSON, arrays, and `[DONE]` and `error` without `data:`; and the bytes after them.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]
extern crate std;

use super::{Config, Event, Parser};
use crate::{Growing, Limits};
use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

/// Pulls the stream in slices of this length. Returns a line for each event: the payload and the quirks of a chunk,
/// malformed bytes, or the `Debug` text of another event.
fn pulled(stream: &[u8], slice: usize) -> Vec<String> {
    let limits = Limits { max_id_len: 8, ..Limits::DEFAULT };
    let config = Config { limits, ..Config::default() };
    let mut parser: Parser<Growing> = Parser::with_slots(Growing::new(), config, crate::track::Tracker::new());
    let mut lines = Vec::new();
    let line_of = |event: Event<'_>| {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        match event {
            Event::Chunk(chunk) => {
                let quirks: Vec<String> = chunk.quirks().iter().map(|quirk| quirk.code().to_string()).collect();
                let error = if chunk.is_whole_error() { "error " } else { "" };
                [&[format!("{error}{}", text(chunk.payload()))], &quirks[..]].concat().join(" ")
            }
            Event::Malformed(malformed) => format!("bad {}", text(malformed.payload())),
            other => format!("{other:?}"),
        }
    };
    for mut input in stream.chunks(slice) {
        while let Some(event) = parser.next(&mut input).unwrap() {
            lines.push(line_of(*event));
        }
    }
    while let Some(event) = parser.finish().unwrap() {
        lines.push(line_of(*event));
    }
    lines
}

#[test]
fn unknown_lines() {
    let cases: &[(&str, &[&str])] = &[
        ("{\"a\":1}\n{\"b\":2}\n", &[r#"{"a":1} F20"#, r#"{"b":2} F21"#]),
        (" \t{\"a\":1}\n", &[r#"{"a":1} F20"#]),
        ("{\"a\":1} \t\n", &[r#"{"a":1} F20"#]),
        ("{\"a\":1} x\n{\"b\":2}\n", &[r#"{"a":1} F20"#, "bad x", r#"{"b":2} F21"#]),
        ("{\"a\":1},\n{\"b\":2}\n", &[r#"{"a":1} F20"#, "bad ,", r#"{"b":2} F21"#]),
        ("{\"a\":1}]\n{\"b\":2}\n", &[r#"{"a":1} F20"#, "bad ]", r#"{"b":2} F21"#]),
        ("{\"a\":1}{\"b\":2} {\"c\":3}\n", &[r#"{"a":1} F20"#, r#"{"b":2} F21"#, r#"{"c":3} F21"#]),
        ("[{\"a\":1},{\"b\":2}]\n", &[r#"{"a":1} F20"#, r#"{"b":2} F21"#]),
        ("[ \t{\"a\":1} , {\"b\":2}\t]\n{\"c\":3}\n", &[r#"{"a":1} F20"#, r#"{"b":2} F21"#, r#"{"c":3} F21"#]),
        (
            "[\n{\"a\":1},\n{\"b\":2}\n,{\"c\":3}\n]\n{\"d\":4}\n",
            &[r#"{"a":1} F20"#, r#"{"b":2} F21"#, r#"{"c":3} F21"#, r#"{"d":4} F21"#],
        ),
        ("[ \n{\"a\":1}\n]\n", &[r#"{"a":1} F20"#]),
        ("[{\"a\":1} x\n,{\"b\":2}\n", &[r#"{"a":1} F20"#, "bad x", r#"{"b":2} F21"#]),
        ("[{\"a\":1}]x\n", &[r#"{"a":1} F20"#, "bad x"]),
        ("[{\"a\":1}],{\"b\":2}\n", &[r#"{"a":1} F20"#, r#"bad ,{"b":2}"#]),
        ("[x{\"a\":1}\n{\"b\":2}\n", &[r#"{"b":2} F20"#]),
        ("[DONE]\n", &["Done"]),
        ("[DONE] \t\n", &["Done"]),
        ("[DONE]", &["Done"]),
        ("[DONE]x\n", &[]),
        ("[DONE\n", &[]),
        ("[ DONE]\n", &[]),
        ("[abcde\n", &[]),
        ("[Done]\n", &[]),
        (" [DONE]\n", &["Done"]),
        ("error: {\"a\":1}\n\n", &[r#"error {"a":1} F18"#]),
        ("error:text\n\n", &["error text F18"]),
        ("error:  text\n\n", &["error  text F18"]),
        ("errors: text\n\n", &[]),
        ("error text\n\n", &[]),
        ("erro: text\n\n", &[]),
        ("terror: text\n\n", &[]),
        ("abcde: text\n\n", &[]),
        ("abcdef: text\n\n", &[]),
        (" error: text\n\n", &[]),
        ("x {\"a\":1}\n", &[]),
        ("id: 123456789\n{\"a\":1}\n", &[r#"{"a":1} F11 F23"#]),
        ("data: {\"a\":\ndata\n 1}\n\n", &["{\"a\":\n\n 1} F6"]),
        ("data: {\"a\":\n 1}\n\n", &["{\"a\":\n 1} F6"]),
        ("data: {\"a\":1}\n{\"b\":2}\n\n", &[r#"{"a":1} F28"#, r#"{"b":2} F23"#]),
        ("data: {\"a\":1} junk\n\n", &[r#"{"a":1} "#, "bad junk"]),
        ("data: {\"a\":1}}\ndata: x\n\n", &[r#"{"a":1}"#, "bad }\nx"]),
        // A blank line ends an open raw value between events. In a response without fields it is ignored.
        ("data: {\"a\":1}\n\n{\"b\":\n\ndata: {\"c\":3}\n\n", &[r#"{"a":1}"#, "bad {\"b\":", r#"{"c":3}"#]),
        ("data: {\"a\":1}\n\n{\"b\":\n\n2}\n", &[r#"{"a":1}"#, "bad {\"b\":"]),
        ("{\"a\":\n\n1}\n", &["{\"a\":\n1} F20"]),
        // A template must not recognize a payload as a chunk if a field named `error`, or the event's name, makes it an
        // error.
        (
            "data: {\"message\":\"m\"}\n\ndata: {\"message\":\"m\"}\n\ndata: {\"message\":\"m\"}\n\nerror: {\"message\":\"m\"}\n\n",
            &[r#"{"message":"m"}"#, r#"{"message":"m"}"#, r#"{"message":"m"}"#, r#"error {"message":"m"} F18"#],
        ),
        (
            "data: {\"message\":\"m\"}\n\ndata: {\"message\":\"m\"}\n\ndata: {\"message\":\"m\"}\n\nevent: error\ndata: {\"message\":\"m\"}\n\n",
            &[r#"{"message":"m"}"#, r#"{"message":"m"}"#, r#"{"message":"m"}"#, r#"error {"message":"m"}"#],
        ),
        // Event names that mark a keep-alive, unless the payload is a chunk.
        ("event: ping\ndata: {\"choices\":[]}\n\n", &[r#"{"choices":[]}"#]),
        ("event: ping\ndata: {\"error\":\"e\"}\n\n", &[r#"{"error":"e"}"#]),
        ("event: other\ndata: {\"a\":1}\n\n", &[r#"{"a":1}"#]),
        // The end of the stream inside an event.
        ("data: {\"a\":1}", &[r#"{"a":1} F12"#]),
        ("data: [DONE]", &["Done"]),
        ("data: {\"a\"", &[]),
        ("data: {\"a\":1} x", &[]),
        ("data: x", &[]),
        ("id: 7\n", &[]),
    ];
    for (stream, expected) in cases {
        for slice in [usize::MAX, 1, 2, 3, 5, 9, 41] {
            assert_eq!(pulled(stream.as_bytes(), slice), *expected, "{stream:?} in slices of {slice}");
        }
    }
}
