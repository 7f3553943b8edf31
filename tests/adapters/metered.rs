//! A metered source passes every byte on, and reports once.

use super::sources::{block_on, Answer, Blocking, Source};
use super::{streams, DONE, HELLO};
use crate::common::random::Random;
use deltawire::adapters::{DeltaAsyncReadExt, DeltaReadExt, DeltaStreamExt};
use deltawire::stream::Meter;
use deltawire::{Config, End, Growing, Limits, Parser, Verdict};
use std::cell::RefCell;
use std::io::{ErrorKind, Read};
use std::pin::Pin;
use tokio::io::{AsyncRead, ReadBuf};

/// What was reported: each time the meter, as it prints itself, and the end.
#[derive(Default)]
struct Reports(RefCell<Vec<(String, End)>>);

impl Reports {
    fn take(&self) -> impl FnOnce(&Meter, &End) + '_ {
        |meter, end| self.0.borrow_mut().push((format!("{meter:?}"), *end))
    }

    fn only(&self) -> (String, End) {
        let mut reports = self.0.borrow_mut();
        assert_eq!(reports.len(), 1, "reports");
        reports.pop().unwrap()
    }
}

/// What a parser with a meter says.
fn metered(bytes: &[u8], config: Config) -> (String, End) {
    let (mut parser, mut meter, mut rest) = (Parser::with_config(Growing::new(), config), Meter::new(), bytes);
    loop {
        let fed = parser.feed(rest, &mut meter);
        rest = &rest[fed.consumed..];
        if fed.stop.is_none() {
            break;
        }
    }
    while parser.finish_into(&mut meter).is_err() {}
    (format!("{meter:?}"), parser.end())
}

/// Reads to the end by small and large reads.
async fn read_all(mut source: impl AsyncRead + Unpin) -> Vec<u8> {
    let (mut all, mut buffer, mut turn) = (Vec::new(), [0; 600], 0);
    loop {
        turn += 1;
        // An empty buffer is not the end.
        let room = [600, 1, 0, 37][turn % 4];
        let mut part = ReadBuf::new(&mut buffer[..room]);
        std::future::poll_fn(|cx| Pin::new(&mut source).poll_read(cx, &mut part)).await.unwrap();
        all.extend_from_slice(part.filled());
        if part.filled().is_empty() && room > 0 {
            return all;
        }
    }
}

#[test]
fn every_byte_passes_and_the_end_is_reported_once() {
    let narrow = Config::new().with_limits(Limits::new().with_max_event_len(300));
    let (mut random, reports) = (Random::new(82), Reports::default());
    for stream in streams("metered") {
        for config in [Config::new(), narrow] {
            let expected = metered(&stream.bytes, config);
            let mut cut = || Source::cut(&stream.bytes, &mut random);

            let mut passed = Vec::new();
            for read in Blocking(DeltaStreamExt::metered(cut(), reports.take()).with_config(config)) {
                passed.extend(read.unwrap());
            }
            assert_eq!(reports.only(), expected, "{}", stream.name);
            assert!(passed == stream.bytes, "{}", stream.name);

            let mut passed = Vec::new();
            let mut reader = DeltaReadExt::metered(cut(), reports.take()).with_config(config);
            assert_eq!(reader.read(&mut []).unwrap_or(0), 0);
            reader.read_to_end(&mut passed).unwrap();
            drop(reader);
            assert_eq!(reports.only(), expected, "{}", stream.name);
            assert!(passed == stream.bytes, "{}", stream.name);

            let reader = DeltaAsyncReadExt::metered(cut(), reports.take()).with_config(config);
            let passed = block_on(read_all(reader));
            assert_eq!(reports.only(), expected, "{}", stream.name);
            assert!(passed == stream.bytes, "{}", stream.name);
        }
    }
}

/// Dropped early, it reports an abort, unless the response had come to its end; after a failure, what came until then.
#[test]
fn a_client_that_leaves_and_a_source_that_fails_are_reported() {
    let reports = Reports::default();
    let whole = [HELLO, DONE].concat();
    for (bytes, chars, verdict, is_complete) in [
        (&b""[..], 0, Verdict::Aborted, false),
        (&HELLO[..HELLO.len() / 2], 3, Verdict::Aborted, false),
        (HELLO, 5, Verdict::Finished, true),
        (&whole, 5, Verdict::Done, true),
    ] {
        let source = Source::new([Answer::Bytes(bytes.into()), Answer::Bytes(b": more\n\n".into())]);
        let mut stream = Blocking(DeltaStreamExt::metered(source.clone(), reports.take()));
        stream.next().unwrap().unwrap();
        assert_eq!(stream.0.meter().content.chars, chars);
        assert!(reports.0.borrow().is_empty(), "reported before the end");
        drop(stream);
        let (_, end) = reports.only();
        assert_eq!((end.verdict, end.is_complete()), (verdict, is_complete));
        assert_eq!(end.offset, bytes.len() as u64);
        let mut reader = DeltaReadExt::metered(source, reports.take());
        reader.read_exact(&mut vec![0; bytes.len()]).unwrap();
        drop(reader);
        assert_eq!(reports.only().1, end);
    }
    let failing = Source::new([Answer::Bytes(HELLO[..90].into()), Answer::Failure(ErrorKind::ConnectionReset)]);
    let mut stream = Blocking(DeltaStreamExt::metered(failing.clone(), reports.take()));
    stream.next().unwrap().unwrap();
    assert_eq!(stream.next().unwrap().unwrap_err().kind(), ErrorKind::ConnectionReset);
    assert_eq!(reports.only(), metered(&HELLO[..90], Config::new()));
    drop(stream);
    assert!(reports.0.borrow().is_empty(), "reported twice");
    // A timeout is no end.
    let slow = [Answer::Failure(ErrorKind::WouldBlock), Answer::Bytes(whole.clone())];
    let mut reader = DeltaReadExt::metered(Source::new(slow), reports.take());
    let mut passed = Vec::new();
    assert_eq!(reader.read_to_end(&mut passed).unwrap_err().kind(), ErrorKind::WouldBlock);
    reader.read_to_end(&mut passed).unwrap();
    assert!(passed == whole);
    assert_eq!(reports.only(), metered(&whole, Config::new()));
}
