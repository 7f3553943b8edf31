#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, clippy::expect_used)]
extern crate std;
use super::*;
use std::{vec, vec::Vec};

/// A whole line: field, value, offset, and the offset of its end (after a CR, before the LF of a CRLF).
type Line = (LineKind, Vec<u8>, usize, usize);

/// The expected lines, computed from the whole buffer as the standard describes: decode, split, classify.
fn reference(bytes: &[u8]) -> (Vec<Line>, Option<(LineKind, Vec<u8>)>) {
    let mut at = if bytes.starts_with(&BOM) { 3 } else { 0 };
    let mut lines = Vec::new();
    while let Some(len) = bytes[at..].iter().position(|b| *b == b'\n' || *b == b'\r') {
        let (field, value) = classify(&bytes[at..at + len]);
        lines.push((field, value, at, at + len + 1));
        at += len + if bytes[at + len..].starts_with(b"\r\n") { 2 } else { 1 };
    }
    let rest = &bytes[at..];
    (lines, (!rest.is_empty()).then(|| classify(rest)))
}

fn classify(line: &[u8]) -> (LineKind, Vec<u8>) {
    if line.is_empty() {
        return (LineKind::Blank, vec![]);
    }
    let mut parts = line.splitn(2, |b| *b == b':');
    let (name, value) = (parts.next().unwrap(), parts.next().unwrap_or(b""));
    let value = value.strip_prefix(b" ").unwrap_or(value).to_vec();
    match name {
        b"" => (LineKind::Comment, value),
        b"data" => (LineKind::Data, value),
        b"event" => (LineKind::Event, value),
        b"id" => (LineKind::Id, value),
        b"retry" => (LineKind::Retry, value),
        _ => (LineKind::Unknown, line.to_vec()),
    }
}

/// Joins the pieces of lines, and checks the guarantees of each piece.
#[derive(Default)]
struct Joiner {
    machine: Lines,
    lines: Vec<Line>,
    open: Option<(LineKind, Vec<u8>)>,
    began: usize,
    offset: usize,
}

impl Joiner {
    fn push(&mut self, mut slice: &[u8]) {
        let end = self.offset + slice.len();
        loop {
            self.machine.skip_between(&mut slice);
            if !slice.is_empty() && !self.machine.in_line() {
                self.began = end - slice.len();
            }
            let Some(piece) = self.machine.next(&mut slice) else { break };
            self.offset = end - slice.len();
            self.take(piece);
        }
        assert!(slice.is_empty());
        self.offset = end;
    }

    fn take(&mut self, piece: Piece<'_>) {
        assert!(piece.first || piece.last || !piece.value.is_empty());
        assert_eq!(piece.first, self.open.is_none());
        let (field, mut value) = self.open.take().unwrap_or((piece.field, vec![]));
        assert_eq!(field, piece.field);
        let held = piece.held.as_slice();
        assert!(held.is_empty() || piece.first && field == LineKind::Unknown);
        value.extend_from_slice(held);
        value.extend_from_slice(piece.value);
        if piece.first && !piece.last && field == LineKind::Unknown {
            assert!(!LineKind::begins(&value), "{value:?}");
        }
        if piece.last {
            self.lines.push((field, value, self.began, self.offset));
            assert!(!self.machine.in_line());
        } else {
            self.open = Some((field, value));
            assert!(self.machine.in_line());
        }
    }
}

fn check(bytes: &[u8], cuts: &[&[u8]]) {
    let (lines, rest) = reference(bytes);
    let mut joiner = Joiner::default();
    for cut in cuts {
        joiner.push(cut);
    }
    assert_eq!(joiner.lines, lines, "{bytes:?} as {cuts:?}");
    assert_eq!(joiner.machine.in_line(), rest.is_some(), "{bytes:?} as {cuts:?}");
    let before = joiner.lines.len();
    if let Some(piece) = joiner.machine.finish() {
        joiner.take(piece);
    }
    let last = joiner.lines.get(before).map(|(field, value, ..)| (*field, value.clone()));
    assert_eq!(last, rest, "{bytes:?} as {cuts:?}");
    assert!(joiner.machine.finish().is_none());
}

fn check_all(bytes: &[u8], pairs: bool) {
    check(bytes, &[bytes]);
    check(bytes, &bytes.chunks(1).collect::<Vec<_>>());
    for i in 0..=bytes.len() {
        let (a, b) = bytes.split_at(i);
        check(bytes, &[a, b]);
        for j in 0..=if pairs { b.len() } else { 0 } {
            check(bytes, &[a, &b[..j], &b[j..]]);
        }
    }
}

#[test]
fn lines_of_every_kind_at_every_pair_of_cuts() {
    let cases: &[&[u8]] = &[
        b"",
        b"data: a\n\n",
        b"data:a\rdata:  b\r\n\r\n",
        b"\n\r\r\n\n\r",
        b"data\nevent\nid\nretry\n",
        b"data",
        b"dat",
        b"datax: 1\ndata x\nDATA: 1\n data: 1\n",
        b":\n: \n:  x\n::\n:data: 1\n",
        b"event:e\nid: 1\nretry: 10\nunknown: 1\nx\n",
        b"\xEF\xBB\xBFdata: 1\n\n",
        b"\xEF\xBB\xBF\xEF\xBB\xBFdata: 1\n\n",
        b"\xEF\xBBdata: 1\n",
        b"\xEF\xBB",
        b"\xEF\xBB\n\xEF\xBB\xBF\n",
        b"\xEF\xBB\xBF",
        b"\xEF\xBB\xBF\r\nid",
        b"retrying: 1\nabcdefgh\nabcdefghi:\nabcdefg:\n",
        b"data: \ndata:\ndata:  \n",
        b"data:\0\x85\xE2\x80\xA8\x0B\x0C\n",
    ];
    for bytes in cases {
        check_all(bytes, true);
    }
}

#[test]
fn every_short_sequence_of_tokens() {
    // Tokens instead of bytes, so that field names occur.
    let tokens: [&[u8]; 8] = [b"data", b"id", b":", b" ", b"\r", b"\n", b"\xEF\xBB", b"\xBF"];
    let mut worlds = 0;
    for len in 0..=5u32 {
        for mut number in 0..8usize.pow(len) {
            let mut bytes = Vec::new();
            for _ in 0..len {
                bytes.extend_from_slice(tokens[number % 8]);
                number /= 8;
            }
            check_all(&bytes, false);
            worlds += 1;
        }
    }
    assert_eq!(worlds, (8usize.pow(6) - 1) / 7);
}

#[test]
fn a_whole_line_is_one_piece() {
    let mut lines = Lines::new();
    let mut input: &[u8] = b"data: abc\r\nunknown line\n";
    let piece = lines.next(&mut input).unwrap();
    assert!(piece.first && piece.last);
    assert_eq!((piece.field, piece.value, input), (LineKind::Data, &b"abc"[..], &b"\nunknown line\n"[..]));
    let piece = lines.next(&mut input).unwrap();
    assert_eq!((piece.field, piece.value), (LineKind::Unknown, &b"unknown line"[..]));
    assert!(piece.held.as_slice().is_empty() && input.is_empty());
}

#[test]
fn lines_report_their_position() {
    // The bytes read, whether the machine is then in a `data` value after a first piece, and whether it is after a CR.
    let cases: [(&[u8], bool, bool); 14] = [
        (b"", false, false),
        (b"data", false, false),
        (b"data:", false, false),
        (b"data: x", true, false),
        (b"data:x", true, false),
        (b"data: x\n", false, false),
        (b"data: x\r", false, true),
        (b"data: x\r\n", false, false),
        (b"data: x\rdata: y", true, false),
        (b"\r", false, true),
        (b": x", false, false),
        (b"id: x", false, false),
        (b"event: x", false, false),
        (b"unknown", false, false),
    ];
    for (bytes, in_data, after_cr) in cases {
        for size in [1, bytes.len().max(1)] {
            let mut lines = Lines::new();
            for mut slice in bytes.chunks(size) {
                while lines.next(&mut slice).is_some() {}
            }
            assert_eq!((lines.is_in_data(), lines.is_after_cr()), (in_data, after_cr), "{bytes:?} by {size}");
        }
    }
}
