//! Compares event streams with a naive reader of WHATWG HTML 9.2.5 and 9.2.6 that has the whole stream.

use crate::input;
use crate::log::escaped;
use crate::naive_sse::{Answer, Naive, Reader};
use deltawire::{Framing, Growing, Limits};

/// Limits that no input reaches.
const WIDE: Limits = Limits::new().with_max_event_len(1 << 30).with_max_id_len(1 << 30);

pub fn sse(data: &[u8]) {
    let (mut control, bytes) = input::split(data);
    let cuts = input::cuts(&mut control, bytes.len());
    let small =
        Limits::new().with_max_event_len(u32::from(control.u8())).with_max_id_len(control.pick(&[0, 1, 8, 1024]));
    let pieces = || input::pieces(bytes, &cuts);
    let (reader, limits, max_len, got) = match input::which(&mut control, bytes.len(), 5) {
        0 => (Reader::Parser, WIDE, usize::MAX, Answer::of_parser(Growing::new(), Framing::Spec, WIDE, pieces())),
        1 => (Reader::Decoder, WIDE, 65536, Answer::of_decoder([0; 65536], WIDE, pieces())),
        2 => (Reader::Decoder, small, 64, Answer::of_decoder([0; 64], small, pieces())),
        3 => (Reader::Decoder, small, usize::MAX, Answer::of_decoder(Growing::new(), small, pieces())),
        _ => (Reader::Decoder, WIDE, usize::MAX, Answer::of_decoder(Growing::new(), WIDE, pieces())),
    };
    let wanted = Naive::read(bytes, reader, limits, max_len);
    assert_eq!(got, wanted, "{reader:?}, {limits:?}, room {max_len}, cuts {cuts:?}, stream b\"{}\"", escaped(bytes));
}
