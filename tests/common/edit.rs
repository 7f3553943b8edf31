//! Edits of a stream, such as errors of transmission or bugs of servers cause.

use super::input::Source;
use memchr::memmem;
use std::ops::Range;

/// Bytes to insert: the parts of JSON and event streams.
const BITS: &[&[u8]] = &[
    b"\"",
    b"\\",
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b" ",
    b"\n",
    b"\r",
    b"\t",
    b"0",
    b"-",
    b".",
    b"e",
    b"\\u",
    b"\\ud83d",
    b"\\ude00",
    b"\\\"",
    b"\\\\",
    b"null",
    b"true",
    b"\"\"",
    b"\xff",
    b"\xe2\x82",
    b"\xf0\x9f\x98\x80",
    b"\x00",
    b"\n\n",
    b"data: ",
    b"data:",
    b"\ndata: ",
    b": ping\n",
    b"id: 7\n",
    b"event: error\n",
    b"retry: 9\n",
    b"[DONE]",
    b"{}",
    b"[]",
    b"\"index\":1,",
    b"\"content\":\"x\",",
    b"\"id\":\"z\",",
    b"\"finish_reason\":\"stop\",",
    b"\"choices\":[],",
    b"\"usage\":{\"total_tokens\":1},",
    b"\"error\":{\"message\":\"m\"},",
    b"\"role\":\"user\",",
    b"error: x\n",
    b"\"tool_calls\":[{\"index\":0}],",
    b"\xef\xbb\xbf",
    b"\xc3",
    b"\xa9",
    b"12345678901234567890",
    b"data: [DONE]\n\n",
    b"                                ",
    b"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
];

/// Keys that replace each other.
const KEYS: &[&[u8]] = &[
    b"content",
    b"index",
    b"delta",
    b"role",
    b"choices",
    b"id",
    b"model",
    b"created",
    b"usage",
    b"logprobs",
    b"refusal",
    b"finish_reason",
    b"tool_calls",
    b"function",
    b"arguments",
    b"name",
    b"error",
    b"text",
    b"message",
    b"obfuscation",
    b"reasoning",
    b"object",
    b"type",
    b"contenu",
    b"con\\u0074ent",
    b"",
];

/// Makes the edits that `from` lists.
pub fn edit(stream: &mut Vec<u8>, from: &mut Source<'_>) {
    for _ in 0..from.below(8) {
        one(stream, from);
        stream.truncate(8 * 1024);
    }
}

fn one(stream: &mut Vec<u8>, from: &mut Source<'_>) {
    let at = from.below((stream.len() + 1).min(65536));
    let end = stream.len().min(at + 1 + from.below(40));
    match from.below(13) {
        0 => {
            let bit = from.below(8);
            if let Some(byte) = stream.get_mut(at) {
                *byte ^= 1 << bit;
            }
        }
        1 => {
            let value = from.u8();
            if let Some(byte) = stream.get_mut(at) {
                *byte = value;
            }
        }
        2 | 3 => drop(stream.splice(at..at, from.pick(BITS).iter().copied())),
        4 => drop(stream.splice(at..at, [from.u8()])),
        5 => drop(stream.drain(at..end)),
        6 => drop(stream.splice(at..at, stream[at..end].to_vec())),
        7 if end > at => stream.swap(at, end - 1),
        8 => {
            // Repeat an event.
            let event = event_at(stream, at);
            drop(stream.splice(event.start..event.start, stream[event.clone()].to_vec()));
        }
        9 => drop(stream.drain(event_at(stream, at))),
        10 => {
            // Swap an event with the one after it.
            let first = event_at(stream, at);
            let second = event_at(stream, first.end);
            let len = second.len();
            stream[first.start..second.end].rotate_right(len);
        }
        11 => {
            // Replace a key with another.
            let (old, new) = (from.pick(KEYS), from.pick(KEYS));
            let found = memmem::find(&stream[at..], old);
            if let Some(found) = found {
                drop(stream.splice(at + found..at + found + old.len(), new.iter().copied()));
            }
        }
        12 => stream.truncate(at),
        _ => {}
    }
}

/// Returns the range of the event at `at`, with its blank line.
fn event_at(stream: &[u8], at: usize) -> Range<usize> {
    let at = at.min(stream.len());
    let ends = |from: usize| {
        let rest = &stream[from..];
        let end = |blank: &[u8]| memmem::find(rest, blank).map(|at| at + blank.len());
        [end(b"\n\n"), end(b"\r\n\r\n"), end(b"\r\r")].into_iter().flatten().min().map(|end| from + end)
    };
    let (mut start, mut end) = (0, ends(0).unwrap_or(stream.len()));
    while end <= at && end < stream.len() {
        start = end;
        end = ends(start).unwrap_or(stream.len());
    }
    start..end
}
