//! Compares event streams with a naive reader of WHATWG HTML 9.2.5 and 9.2.6 that has the whole stream.

use crate::input;
use crate::log::{escaped, same, Log};
use crate::naive_sse::{Answer, Naive, Reader};
use deltawire::sse::{Field, Lines};
use deltawire::{Framing, Growing, Limits};

/// Limits that no input reaches.
const WIDE: Limits = Limits::new().with_max_event_len(1 << 30).with_max_id_len(1 << 30);

pub fn sse(data: &[u8]) {
    let (mut control, bytes) = input::split(data);
    let cuts = input::cuts(&mut control, bytes.len());
    let small =
        Limits::new().with_max_event_len(u32::from(control.u8())).with_max_id_len(control.pick(&[0, 1, 8, 1024]));
    let pieces = || input::pieces(bytes, &cuts);
    let (reader, limits, max_len, got) = match input::which(&mut control, bytes.len(), 6) {
        0 => {
            return same("lines", &lines_of(bytes), &lines(bytes, &cuts), || {
                format!("cuts {cuts:?}, stream b\"{}\"", escaped(bytes))
            })
        }
        1 => (Reader::Parser, WIDE, usize::MAX, Answer::of_parser(Growing::new(), Framing::Spec, WIDE, pieces())),
        2 => (Reader::Decoder, WIDE, 65536, Answer::of_decoder([0; 65536], WIDE, pieces())),
        3 => (Reader::Decoder, small, 64, Answer::of_decoder([0; 64], small, pieces())),
        4 => (Reader::Decoder, small, usize::MAX, Answer::of_decoder(Growing::new(), small, pieces())),
        _ => (Reader::Decoder, WIDE, usize::MAX, Answer::of_decoder(Growing::new(), WIDE, pieces())),
    };
    let wanted = Naive::read(bytes, reader, limits, max_len);
    assert_eq!(got, wanted, "{reader:?}, {limits:?}, room {max_len}, cuts {cuts:?}, stream b\"{}\"", escaped(bytes));
}

/// Returns lines joined from their pieces.
fn lines(bytes: &[u8], cuts: &[usize]) -> Log {
    let mut lines = Lines::new();
    let mut log = Log::default();
    let (mut value, mut open) = (Vec::new(), false);
    let mut pieces = 0;
    for mut piece in input::pieces(bytes, cuts) {
        while let Some(part) = lines.next(&mut piece) {
            assert!(part.held.as_slice().is_empty() || part.first && part.field == Field::Unknown);
            assert_eq!(part.first, !open, "the first piece of a line says so");
            open = !part.last;
            value.extend_from_slice(part.held.as_slice());
            value.extend_from_slice(part.value);
            if part.last {
                put_line(&mut log, part.field, &value);
                value.clear();
            }
            pieces += 1;
            assert!(pieces <= bytes.len() + 1 + cuts.len(), "pieces without end");
        }
        assert!(piece.is_empty());
    }
    if let Some(part) = lines.finish() {
        value.extend_from_slice(part.held.as_slice());
        value.extend_from_slice(part.value);
        put_line(&mut log, part.field, &value);
    }
    assert!(lines.finish().is_none());
    log
}

fn put_line(log: &mut Log, field: Field, value: &[u8]) {
    log.line("line");
    log.number("field", field as u64);
    log.put("value", value);
}

/// Returns the lines of a stream, found naively.
fn lines_of(bytes: &[u8]) -> Log {
    let mut rest = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let mut log = Log::default();
    while !rest.is_empty() {
        let end = rest.iter().position(|byte| matches!(byte, b'\r' | b'\n')).unwrap_or(rest.len());
        let (line, behind) = rest.split_at(end);
        let (field, value) = field(line);
        put_line(&mut log, field, value);
        let end = [&b"\r\n"[..], b"\r", b"\n"].into_iter().find(|end| behind.starts_with(end));
        rest = &behind[end.map_or(0, <[u8]>::len)..];
    }
    log
}

/// Returns the field of a line and its value, which is empty for a line without a colon.
fn field(line: &[u8]) -> (Field, &[u8]) {
    if line.is_empty() {
        return (Field::Blank, b"");
    }
    let colon = line.iter().position(|byte| *byte == b':').unwrap_or(line.len());
    let (name, value) = line.split_at(colon);
    let value = value.strip_prefix(b":").unwrap_or(value);
    let value = value.strip_prefix(b" ").unwrap_or(value);
    match name {
        b"" => (Field::Comment, value),
        b"data" => (Field::Data, value),
        b"event" => (Field::Event, value),
        b"id" => (Field::Id, value),
        b"retry" => (Field::Retry, value),
        _ => (Field::Unknown, line),
    }
}
