//! The short ways are taken where they are meant to be; numbers and offsets.

#![allow(clippy::unwrap_used, clippy::panic)]
extern crate std;

use super::{plain_member, ten_digits, Bytes, Full, Record, Sink, Whole, FLAG_NUMBER, FLAG_TEXT_SCRATCH, LEAST};
use crate::chat::index::{top, Hint, Index};
use crate::json::{parse, Text};
use crate::stream::{Config, Found, Kind, Machine};
use std::format;

#[test]
fn more_scratch_is_needed_where_an_empty_one_would_not_do() {
    let (mut records, mut scratch) = ([Record::default(); 4], [0; 64]);
    for (len, need) in [(63, 0), (64, 0), (65, 65), (200, 200)] {
        let mut sink = Sink::new(&mut records, &mut scratch, u64::MAX);
        let bytes = [b'x'; 200];
        let put = |sink: &mut Sink<'_>, len: usize| {
            let text = Whole::Bytes(bytes.get(..len).unwrap_or_default());
            sink.put_whole(Record::default(), text, Whole::NONE, Whole::NONE)
        };
        assert_eq!(put(&mut sink, 2).map_err(|Full| ()), Ok(()));
        assert_eq!((put(&mut sink, len).is_err(), sink.need()), (true, need), "{len}");
        assert_eq!((sink.written(), sink.used()), (1, 2));
    }
}

#[test]
fn a_text_of_other_bytes_lies_nowhere() {
    let all = b"0123456789";
    let (here, beyond) = all.split_at(4);
    let text = |at: usize| Text::verbatim(all.get(at..at + 1).unwrap_or_default());
    let bytes = Bytes::new(here, Some(10));
    assert_eq!([0, 3, 6].map(|at| bytes.offset_of(text(at))), [Some(10), Some(13), None]);
    assert_eq!(Bytes::new(beyond, Some(10)).offset_of(text(3)), None);
    assert_eq!(Bytes::new(here, None).offset_of(text(0)), None);
    assert_eq!(Bytes::new(here, Some(u32::MAX - 2)).offset_of(text(3)), None);
}

#[test]
fn ten_digits_are_their_number() {
    for number in (0..10_000_000_000_u64).step_by(9_876_543).chain([9_999_999_999, 1_700_000_000]) {
        let mut raw = [b'0'; 10];
        let mut rest = number;
        for digit in raw.iter_mut().rev() {
            *digit = b'0' + (rest % 10) as u8;
            rest /= 10;
        }
        assert_eq!(ten_digits(&raw), Some(number));
    }
    // Any other byte in any place is none.
    for place in 0..10 {
        for byte in (0..=255_u8).filter(|byte| !byte.is_ascii_digit()) {
            let mut raw = *b"9190909091";
            if let Some(at) = raw.get_mut(place) {
                *at = byte;
            }
            assert_eq!(ten_digits(&raw), None, "{byte} in place {place}");
        }
    }
    assert_eq!((ten_digits(b"170000000"), ten_digits(b"17000000000")), (None, None));
}

/// The text of a JSON string.
fn text(string: &'static str) -> Text<'static> {
    parse(string.as_bytes()).unwrap().as_text().unwrap()
}

#[test]
fn a_text_that_fits_is_written_at_once() {
    for (slots, room, string, due) in [
        (1, 64, r#""plain""#, Some((0, 11, 5, 0))),
        (1, 64, r#""a\nb""#, Some((FLAG_TEXT_SCRATCH, 0, 3, 3))),
        (1, LEAST, r#""a\nb""#, Some((FLAG_TEXT_SCRATCH, 0, 3, 3))),
        // What lies in the input needs no room.
        (1, 0, r#""plain""#, Some((0, 11, 5, 0))),
        (1, LEAST - 1, r#""a\nb""#, None),
        (1, 64, r#""0123456789012345678901234567890123456789012345678901234567890123\n""#, None),
        (0, 64, r#""plain""#, None),
        (0, 64, r#""a\nb""#, None),
    ] {
        let (mut records, mut scratch) = ([Record::default(); 1], [0; 64]);
        let mut sink = Sink::new(records.get_mut(..slots).unwrap(), scratch.get_mut(..room).unwrap(), u64::MAX);
        let put = sink.put_now(Kind::Content, 3, 4, (5, 6), text(string), Bytes::new(string.as_bytes(), Some(10)));
        let (written, used) = (sink.written(), sink.used());
        assert_eq!((put, written), (due.is_some(), usize::from(due.is_some())), "{string} {slots} {room}");
        let Some((flags, text_off, text_len, need)) = due else { continue };
        let [record] = records;
        assert_eq!((record.kind, record.choice, record.call), (Kind::Content as u16, 3, 4));
        assert_eq!((record.start, record.end), (5, 6));
        assert_eq!((record.flags, record.text_off, record.text_len, used), (flags, text_off, text_len, need));
    }
}

#[test]
fn a_text_is_decoded_where_there_is_room() {
    let (mut records, mut scratch) = ([Record::default(); 1], [0; 64]);
    let mut sink = Sink::new(&mut records, &mut scratch, u64::MAX);
    assert_eq!(sink.decode(text(r#""a\u00e9""#)), Some((0, 3)));
    // Nothing is used as long as no record says so.
    assert_eq!((sink.used(), sink.decode(text(r#""\t""#))), (0, Some((0, 1))));
    sink.used = 64 - LEAST;
    assert_eq!(sink.decode(text(r#""\t""#)), Some((48, 1)));
    assert_eq!(sink.decode(text(r#""\t0123456789abcdef""#)), None);
    sink.used += 1;
    assert_eq!(sink.decode(text(r#""\t""#)), None);
}

/// A machine that has just found a chunk.
fn found(payload: &str) -> Machine<0> {
    let mut machine = Machine::<0>::with_slots(Config::default());
    let step = machine.step(&mut [0; 64], format!("data: {payload}\n\n").as_bytes());
    assert!(matches!(step.found, Found::Chunk(_)), "{step:?}");
    machine
}

#[test]
fn a_chunk_is_told_the_short_way() {
    for (payload, due) in [
        (r#"{"id":"c","model":"m","created":1700000000,"choices":[]}"#, Some((7, 1, 19, 1, Some(1_700_000_000)))),
        (r#"{"id":"c","model":"m","created":77,"choices":[]}"#, Some((7, 1, 19, 1, Some(77)))),
        (r#"{"id":"","model":"","created":"x","choices":[]}"#, Some((0, 0, 0, 0, None))),
        (r#"{"choices":[]}"#, Some((0, 0, 0, 0, None))),
        (r#"{"id":null,"choices":[]}"#, None),
        (r#"{"id":"\n","model":"m","choices":[]}"#, None),
        (r#"{"id":"c","model":"\n","choices":[]}"#, None),
    ] {
        let machine = found(payload);
        let (mut records, mut scratch) = ([Record::default(); 1], [0; 64]);
        let mut sink = Sink::new(&mut records, &mut scratch, u64::MAX);
        let told = sink.chunk(&machine, Bytes::new(payload.as_bytes(), Some(0)), (1, 2));
        assert_eq!((told, sink.written()), (due.is_some(), usize::from(due.is_some())), "{payload}");
        let Some((text_off, text_len, aux_off, aux_len, created)) = due else { continue };
        let [record] = records;
        assert_eq!((record.text_off, record.text_len), (text_off, text_len), "{payload}");
        assert_eq!((record.aux_off, record.aux_len), (aux_off, aux_len), "{payload}");
        assert_eq!((record.flags & FLAG_NUMBER != 0).then_some(record.number), created, "{payload}");
        // Where there is no room, or nobody asks, nothing is written.
        let mut sink = Sink::new(&mut [], &mut scratch, u64::MAX);
        assert!(!sink.chunk(&machine, Bytes::new(payload.as_bytes(), Some(0)), (1, 2)));
        let mut sink = Sink::new(&mut records, &mut scratch, !Kind::Chunk.bit());
        assert!(sink.chunk(&machine, Bytes::new(payload.as_bytes(), Some(0)), (1, 2)) && sink.written() == 0);
    }
}

#[test]
fn a_member_is_plain_if_it_stands_for_itself() {
    for (id, due) in [
        (r#""abc""#, Some((107, 3))),
        (r#""\u00e9""#, None),
        ("\"\u{e9}\"", Some((107, 2))),
        (r#""""#, Some((0, 0))),
        ("7", None),
    ] {
        let (payload, mut index) = (format!("{{\"id\":{id}}}"), Index::new());
        let bytes = payload.as_bytes();
        index.read(bytes, Hint::None, 8).unwrap();
        assert_eq!(plain_member(&index, Bytes::new(bytes, Some(100)), top::ID), due, "{id}");
        assert_eq!(plain_member(&index, Bytes::new(bytes, Some(100)), top::MODEL), Some((0, 0)));
    }
}
