//! The places of texts, the scratch that they need, and numbers.

#![allow(clippy::unwrap_used, clippy::panic)]
extern crate std;

use super::{Context, Put, Record, Records, RecordsFull, Sink, Unsplit, FLAG_MORE, FLAG_TEXT_SCRATCH, MIN_PIECE};
use crate::chat::Index;
use crate::delta::{Delta, Kind, Part};
use crate::json::{parse_lazy, Text};
use crate::stream::context::Details;

#[test]
fn a_larger_scratch_is_needed_only_if_an_empty_one_has_no_room() {
    let (mut records, mut scratch) = ([Record::default(); 4], [0; 64]);
    for (len, need) in [(63, 0), (64, 0), (65, 65), (200, 200)] {
        let mut sink = Records::new(&mut records, &mut scratch, u64::MAX);
        let bytes = [b'x'; 200];
        let put = |sink: &mut Records<'_>, len: usize| {
            let text = Unsplit::Bytes(bytes.get(..len).unwrap_or_default());
            sink.put_unsplit(Record::default(), text, Unsplit::NONE, Unsplit::NONE)
        };
        assert_eq!(put(&mut sink, 2).map_err(|RecordsFull| ()), Ok(()));
        assert_eq!((put(&mut sink, len).is_err(), sink.need()), (true, need), "{len}");
        assert_eq!((sink.written(), sink.used()), (1, 2));
    }
}

/// The text of a JSON string.
fn text(string: &'static str) -> Text<'static> {
    parse_lazy(string.as_bytes()).unwrap().as_text().unwrap()
}

#[test]
fn a_text_that_fits_is_one_record() {
    for (count, room, string, expected) in [
        (1, 64, r#""plain""#, Some((0, 11, 5, 0))),
        (1, 64, r#""a\nb""#, Some((FLAG_TEXT_SCRATCH, 0, 3, 3))),
        (1, MIN_PIECE, r#""a\nb""#, Some((FLAG_TEXT_SCRATCH, 0, 3, 3))),
        // A text in the input needs no scratch.
        (1, 0, r#""plain""#, Some((0, 11, 5, 0))),
        (1, MIN_PIECE - 1, r#""a\nb""#, None),
        (1, 64, r#""0123456789012345678901234567890123456789012345678901234567890123\n""#, None),
        (0, 64, r#""plain""#, None),
        (0, 64, r#""a\nb""#, None),
    ] {
        let (mut records, mut scratch) = ([Record::default(); 1], [0; 64]);
        let mut sink = Records::new(records.get_mut(..count).unwrap(), scratch.get_mut(..room).unwrap(), u64::MAX);
        let index = Index::new();
        let context = Context::of_chunk((string.as_bytes(), 10), &index, (5, 6), false, Details::NOTHING);
        let part = Part::of(string.as_bytes(), text(string));
        let put = sink.put_now(&context, &Delta { choice: 3, call: 4, text: part, ..Delta::new(Kind::Content) });
        let (written, used) = (sink.written(), sink.used());
        assert_eq!((put, written), (expected.is_some(), usize::from(expected.is_some())), "{string} {count} {room}");
        let Some((flags, text_off, text_len, need)) = expected else { continue };
        let [record] = records;
        assert_eq!((record.kind, record.choice, record.call), (Kind::Content as u16, 3, 4));
        assert_eq!((record.start, record.end), (5, 6));
        assert_eq!((record.flags, record.text_off, record.text_len, used), (flags, text_off, text_len, need));
    }
}

/// Long texts and signatures come in pieces. For other texts that are longer than the scratch, `need` is their length.
#[test]
fn a_text_longer_than_the_scratch() {
    let string = std::format!("\"{}\\n\"", "0123456789".repeat(20));
    let payload = string.as_bytes();
    let index = Index::new();
    let context = Context::of_chunk((payload, 10), &index, (5, 6), false, Details::NOTHING);
    let part = Part::of(payload, parse_lazy(payload).unwrap().as_text().unwrap());
    let pieces = [Kind::Content, Kind::Reasoning, Kind::Refusal, Kind::ToolArguments, Kind::FunctionArguments];
    for kind in pieces.into_iter().chain([Kind::Signature]) {
        let delta = Delta { text: part, ..Delta::new(kind) };
        let (mut joined, mut taken, mut lasts) = (std::vec::Vec::new(), 0, 0);
        loop {
            let (mut records, mut scratch) = ([Record::default(); 2], [0; 64]);
            let mut sink = Records::new(&mut records, &mut scratch, u64::MAX);
            let put = sink.put(&context, &delta, &mut taken);
            assert_eq!((sink.need(), sink.written() > 0), (0, true), "{kind:?}");
            let written = sink.written();
            for record in records.iter().take(written) {
                let at = record.text_off as usize;
                joined.extend_from_slice(scratch.get(at..at + record.text_len as usize).unwrap());
                lasts += usize::from(record.flags & FLAG_MORE == 0);
            }
            if matches!(put, Put::Go) {
                break;
            }
        }
        assert_eq!((joined.len(), joined.last(), lasts), (201, Some(&b'\n'), 1), "{kind:?}");
    }
    for kind in [Kind::Role, Kind::ToolName, Kind::FunctionName, Kind::Finish, Kind::Meta] {
        let (mut records, mut scratch) = ([Record::default(); 2], [0; 64]);
        let mut sink = Records::new(&mut records, &mut scratch, u64::MAX);
        let put = sink.put(&context, &Delta { text: part, ..Delta::new(kind) }, &mut 0);
        assert_eq!((matches!(put, Put::Full), sink.need(), sink.written()), (true, 201, 0), "{kind:?}");
    }
}

#[test]
fn a_text_is_decoded_if_the_scratch_has_room() {
    let (mut records, mut scratch) = ([Record::default(); 1], [0; 64]);
    let mut sink = Records::new(&mut records, &mut scratch, u64::MAX);
    let decode = |sink: &mut Records<'_>, json| sink.decode(Part::of(str::as_bytes(json), text(json)), json.as_bytes());
    assert_eq!(decode(&mut sink, r#""a\u00e9""#), Some((0, 3)));
    sink.used = 64 - MIN_PIECE;
    assert_eq!(decode(&mut sink, r#""\t0123456789abcdef""#), None);
    // Without a free record, no byte of the scratch is used.
    assert_eq!(sink.used(), 48);
    assert_eq!(decode(&mut sink, r#""\t""#), Some((48, 1)));
    assert_eq!(decode(&mut sink, r#""\t""#), None);
    assert_eq!((sink.written(), sink.used()), (0, 49));
    assert_eq!(scratch.get(..3), Some("a\u{e9}".as_bytes()));
    assert_eq!(scratch.get(48), Some(&b'\t'));
}
