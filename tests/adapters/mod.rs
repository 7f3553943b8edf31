//! The adapters yield what the parser reports, however the source cuts the bytes; they end as it ends, wait as it waits,
//! and leave nothing behind.

mod body;
mod metered;
mod sliced;
mod sources;

use crate::common::corpus::{native, recorded, samples, Stream};
use crate::common::event_log::{Detail, Logs};
use crate::common::log::{same, Log};
use crate::common::random::Random;
use crate::common::thin::thin;
use deltawire::adapters::*;
use deltawire::chat::Chunk;
use deltawire::json::JsonError;
use deltawire::message::{Assembler, Completion};
use deltawire::{
    Config, End, Error, Event, Flow, Growing, Handler, Limits, Parser, Quirk, QuirkSet, Stop, Update, Verdict,
};
use sources::{block_on, poll_future, poll_once, Answer, Blocking, Owned, Source};
use std::io::{self, BufReader, ErrorKind};
use std::ops::Range;
use std::task::Poll;
use tokio_util::codec::FramedRead;

const HELLO: &[u8] = b"data: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hel\"}}]}\n\n\
    data: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"lo\"},\"finish_reason\":\"stop\"}]}\n\n";
const DONE: &[u8] = b"data: [DONE]\n\n";

/// What an adapter yields, as lines.
struct Seen {
    logs: Logs,
    end: Option<End>,
}

impl Seen {
    fn new() -> Self {
        Seen { logs: Logs::new(Detail::Lines), end: None }
    }

    fn lines(&mut self) -> &mut Log {
        &mut self.logs.events
    }

    fn head(&mut self, id: Option<&str>, model: Option<&str>) {
        self.lines().line("head");
        self.lines().quoted("id", id.unwrap_or_default().as_bytes());
        self.lines().quoted("model", model.unwrap_or_default().as_bytes());
    }

    fn quirk(&mut self, quirk: Quirk, offset: u64) {
        self.lines().line("quirk");
        self.lines().word(format_args!("{} at {offset}", quirk.name()));
    }

    fn malformed(&mut self, range: Range<u64>, fault: JsonError) {
        self.lines().line("malformed");
        self.lines().word(format_args!("{range:?} {fault:?}"));
    }

    fn too_long(&mut self, offset: u64) {
        self.lines().line("too-long");
        self.lines().word(offset);
    }

    fn take(&mut self, item: &Item) {
        assert_eq!(self.end, None, "something came after the end");
        match item {
            Item::Head(head) => self.head(head.id.as_deref(), head.model.as_deref()),
            Item::Update { .. } => {
                let (choice, update) = item.as_update().unwrap();
                self.logs.update(choice, &update);
            }
            Item::Quirk { quirk, offset } => self.quirk(*quirk, *offset),
            Item::LeftOut(error) => self.logs.error(error),
            Item::Malformed { wire_range, fault } => self.malformed(wire_range.clone(), *fault),
            Item::TooLong { offset } => self.too_long(*offset),
            Item::End(end) => self.end = Some(**end),
            _ => panic!("{item:?}"),
        }
    }
}

/// The reference: a handler that logs what it is called with.
struct Pushed {
    seen: Seen,
    id: Option<String>,
    model: Option<String>,
    message: Assembler,
}

impl Pushed {
    /// Notes a new ID or model.
    fn chunk(&mut self, chunk: &Chunk<'_>) {
        let sent = |text: Option<deltawire::json::Text<'_>>| text.map(|text| text.to_string());
        let (id, model) = (sent(chunk.id()).or(self.id.clone()), sent(chunk.model()).or(self.model.clone()));
        if (&id, &model) != (&self.id, &self.model) {
            self.seen.head(id.as_deref(), model.as_deref());
            (self.id, self.model) = (id, model);
        }
    }
}

impl Handler for Pushed {
    fn event(&mut self, event: &Event<'_>) -> Flow {
        let _ = self.message.event(event);
        match event {
            Event::Chunk(chunk) => self.chunk(chunk),
            Event::Malformed(malformed) => self.seen.malformed(malformed.wire_range(), malformed.fault()),
            Event::TooLong { offset } | Event::CommentTooLong { offset } => self.seen.too_long(*offset),
            _ => {}
        }
        Flow::Continue(())
    }
    fn update(&mut self, choice: u32, update: Update<'_>) -> Flow {
        let _ = self.message.update(choice, update.clone());
        self.seen.logs.update(choice, &update);
        Flow::Continue(())
    }
    fn limit(&mut self, error: &Error) -> Flow {
        let _ = self.message.limit(error);
        self.seen.logs.error(error);
        Flow::Continue(())
    }
    fn quirk(&mut self, quirk: Quirk, offset: u64) -> Flow {
        self.seen.quirk(quirk, offset);
        Flow::Continue(())
    }
}

/// Pushes all bytes in one slice.
fn pushed(mut bytes: &[u8], config: Config) -> (Seen, Completion) {
    let message = Assembler::with_limits(config.limits);
    let mut handler = Pushed { seen: Seen::new(), id: None, model: None, message };
    let mut parser = Parser::with_config(Growing::new(), config);
    let stopped = |handler: &mut Pushed, stop: Stop| match stop {
        Stop::Error(error @ Error::Quirk { .. }) => handler.seen.logs.error(&error),
        Stop::Error(_) => {}
        stop => panic!("{stop:?}"),
    };
    loop {
        let fed = parser.feed(bytes, &mut handler);
        bytes = &bytes[fed.consumed..];
        match fed.stop {
            Some(stop) => stopped(&mut handler, stop),
            None => break,
        }
    }
    while let Err(stop) = parser.finish_into(&mut handler) {
        stopped(&mut handler, stop);
    }
    handler.seen.end = Some(parser.end());
    (handler.seen, handler.message.into_message().unwrap())
}

/// Takes all items. None may fail, and nothing may come after the end.
fn seen(items: &mut impl Iterator<Item = io::Result<Item>>) -> Seen {
    let mut seen = Seen::new();
    for item in items.by_ref() {
        seen.take(&item.unwrap());
    }
    assert!(items.next().is_none(), "an item after the last one");
    seen
}

fn streams(test: &str) -> Vec<Stream> {
    let mut streams: Vec<Stream> = samples();
    streams.extend(native(test));
    streams.extend(recorded(test));
    for case in crate::common::case::all() {
        streams.push(Stream { name: format!("{} {}", case.row, case.name), bytes: case.input });
    }
    streams
}

#[test]
fn each_adapter_yields_what_the_parser_reports() {
    let strict = Config::new().with_errors(QuirkSet::ALL);
    let narrow = Limits::new().with_max_event_len(300).with_max_id_len(2);
    let configs = [Config::new(), strict, Config::new().with_limits(narrow)];
    let (mut random, mut runs, mut items) = (Random::new(81), 0, 0);
    for Stream { name, bytes } in streams("adapters") {
        for config in configs {
            // Each run is cut anew.
            let times = if thin() == 1 { 3 } else { 1 };
            let (expected, message) = pushed(&bytes, config);
            let of_message = |collected: io::Result<Collected>, what: &str| {
                let Collected { message: got, end, .. } = collected.unwrap();
                assert_eq!((Some(end), &got), (expected.end, &message), "{name}: message by {what}");
            };
            let is_as = |got: Seen, what: &str| {
                same(&format!("{name}: {what}"), &got.logs.events, &expected.logs.events, || format!("{config:?}"));
                assert_eq!(got.end, expected.end, "{name}: {what}");
            };
            for _ in 0..times {
                let mut cut = || Source::cut(&bytes, &mut random);

                let mut deltas = Blocking(DeltaStreamExt::deltas(cut()).with_config(config).assembled());
                is_as(seen(&mut deltas), "Stream");
                assert_eq!(deltas.0.message_so_far().unwrap().unwrap(), message, "{name}");
                of_message(block_on(DeltaStreamExt::deltas(cut()).with_config(config).into_message()), "Stream");

                let mut deltas = DeltaReadExt::deltas(cut()).with_config(config).assembled();
                is_as(seen(&mut deltas), "Read");
                assert_eq!(deltas.message_so_far().unwrap().unwrap(), message, "{name}");
                of_message(DeltaReadExt::deltas(cut()).with_config(config).into_message(), "Read");
                let buffered = ReadDeltas::buffered(BufReader::with_capacity(7, cut()));
                is_as(seen(&mut buffered.with_config(config)), "BufRead");

                let mut deltas = Blocking(DeltaAsyncReadExt::deltas(cut()).with_config(config).assembled());
                is_as(seen(&mut deltas), "AsyncRead");
                assert_eq!(deltas.0.message_so_far().unwrap().unwrap(), message, "{name}");
                of_message(block_on(DeltaAsyncReadExt::deltas(cut()).with_config(config).into_message()), "AsyncRead");

                // `FramedRead` may read on after the end.
                let source = Source { is_patient: true, ..cut() };
                let mut framed = Blocking(FramedRead::new(source, DeltaDecoder::new(config)));
                is_as(seen(&mut framed), "Decoder");
                assert_eq!(Some(framed.0.decoder().parser().end()), expected.end, "{name}");
                runs += 8;
            }
            items += expected.logs.events.len();
        }
    }
    println!("adapters: {runs} runs, with {items} different items");
    assert!(items > 1000);
}

/// `deltas()` and `message()` by their short names, as a program uses them.
#[test]
fn the_short_way_reads_a_whole_stream() {
    let whole = || Source::new([Answer::Bytes(HELLO.into()), Answer::NotYet, Answer::Bytes(DONE.into())]);
    let message = block_on(collect_message(whole())).unwrap();
    assert_eq!(message.choices[0].content.as_deref(), Some("Hello"));
    assert_eq!(block_on(DeltaStreamExt::message(whole())).unwrap().finished().unwrap(), message);
    assert_eq!(block_on(DeltaAsyncReadExt::message(whole())).unwrap().finished().unwrap(), message);
    assert_eq!(DeltaReadExt::message(whole()).unwrap().finished().unwrap(), message);
    let head = DeltaReadExt::deltas(whole()).next().unwrap().unwrap();
    let Item::Head(head) = head else { panic!("{head:?}") };
    assert_eq!((head.id.as_deref(), head.created), (Some("c"), None));
    assert!(Item::Head(head).as_update().is_none());

    let cut = Source::new([Answer::Bytes(HELLO[..80].into())]);
    let error = block_on(collect_message(cut)).unwrap_err();
    assert_eq!(error.to_string(), "truncated: the stream was cut: it ended inside an event");
    let debug = "Incomplete(Incomplete(truncated: the stream was cut: it ended inside an event))";
    assert_eq!(format!("{error:?}"), debug);
    let CollectError::Incomplete(Incomplete(collected)) = error else { panic!("{error:?}") };
    assert_eq!(collected.message.choices[0].content.as_deref(), Some("Hel"));
    assert_eq!(collected.end.verdict, Verdict::Truncated);
}

/// Deltas, then the error of the source, then the end.
#[test]
fn an_error_of_the_source_keeps_its_type_and_comes_after_the_deltas() {
    // The last event lacks its blank line, so the parser holds it back.
    let cut = &HELLO[..HELLO.len() - 1];
    let failing = || Source::new([Answer::Bytes(cut.into()), Answer::Failure(ErrorKind::ConnectionReset)]);
    let by_stream = |items: &mut dyn Iterator<Item = io::Result<Item>>| {
        let mut lines = Vec::new();
        for item in items {
            lines.push(match item {
                Ok(Item::End(end)) => format!("{:?}", end.verdict),
                Ok(item) => item.as_update().map_or("other".into(), |(_, update)| format!("{update:?}")),
                Err(error) => format!("{:?}", error.kind()),
            });
        }
        let last = &lines[lines.len() - 4..];
        assert!(last[0].contains("Finish"), "{lines:?}");
        assert_eq!(last[1..], ["other", "ConnectionReset", "Finished"], "{lines:?}");
    };
    by_stream(&mut Blocking(DeltaStreamExt::deltas(failing())));
    by_stream(&mut DeltaReadExt::deltas(failing()));
    by_stream(&mut Blocking(DeltaAsyncReadExt::deltas(failing())));
    // Without `[DONE]` nobody knows whether that was all.
    let kind = |result: io::Result<Collected>| result.map(|_| ()).unwrap_err().kind();
    assert_eq!(kind(block_on(DeltaStreamExt::message(failing()))), ErrorKind::ConnectionReset);
    assert_eq!(kind(block_on(DeltaAsyncReadExt::message(failing()))), ErrorKind::ConnectionReset);
    assert_eq!(kind(DeltaReadExt::message(failing())), ErrorKind::ConnectionReset);
    let error = block_on(collect_message(failing())).unwrap_err();
    assert!(matches!(&error, CollectError::Source(error) if error.kind() == ErrorKind::ConnectionReset), "{error}");
    // After `[DONE]` it does not matter.
    let done = [HELLO, DONE].concat();
    let late = Source::new([Answer::Bytes(done), Answer::Failure(ErrorKind::ConnectionReset)]);
    assert!(block_on(collect_message(late.clone())).is_ok());
    assert!(DeltaReadExt::message(late).unwrap().is_complete());
    // The error of a type of one's own.
    let own = Foreign(vec![Err("mine"), Ok("data: [DONE]\n\n")]);
    assert!(matches!(block_on(collect_message(own)), Err(CollectError::Source("mine"))));
}

/// A source of other types, in reverse order.
struct Foreign(Vec<Result<&'static str, &'static str>>);

impl futures_core::Stream for Foreign {
    type Item = Result<&'static str, &'static str>;

    fn poll_next(
        mut self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> Poll<Option<Result<&'static str, &'static str>>> {
        self.0.reverse();
        let next = self.0.pop();
        self.0.reverse();
        Poll::Ready(next)
    }
}

#[test]
fn a_blocking_reader_may_go_on_after_a_timeout() {
    let (first, second) = HELLO.split_at(90);
    let answers = [Answer::Bytes(first.into()), Answer::Failure(ErrorKind::WouldBlock), Answer::Bytes(second.into())];
    let mut deltas = DeltaReadExt::deltas(Source::new(answers));
    let (mut text, mut timeouts) = (String::new(), 0);
    for item in deltas.by_ref() {
        match item {
            Ok(item) => {
                if let Some((_, Update::Content(content))) = item.as_update() {
                    content.push_to(&mut text);
                }
            }
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::WouldBlock);
                timeouts += 1;
            }
        }
    }
    assert_eq!((text.as_str(), timeouts, deltas.parser().end().verdict), ("Hello", 1, Verdict::Finished));
}

/// The source is asked only when everything before was taken, and the parser reads one event at a time.
#[test]
fn nothing_is_read_ahead() {
    let hundred = HELLO.repeat(50);
    let reads = || Source::new([Answer::Bytes(hundred.clone()), Answer::Bytes(DONE.into())]);
    let mut deltas = Blocking(DeltaStreamExt::deltas(reads()));
    let first = HELLO.windows(2).position(|pair| pair == b"\n\n").unwrap() as u64 + 2;
    let mut before = 0;
    loop {
        let item = deltas.next().unwrap().unwrap();
        let offset = deltas.0.parser().offset();
        assert!(offset - before <= HELLO.len() as u64, "{offset} after {before}");
        if before == 0 {
            assert_eq!(offset, first);
        }
        before = offset;
        if item.as_end().is_some() {
            break;
        }
    }
    assert_eq!(before, (hundred.len() + DONE.len()) as u64);

    // Each way of reading: once for the two deltas of the first read, which the second read follows.
    let two = || Source::new([Answer::Bytes(HELLO.into()), Answer::Bytes(DONE.into())]);
    let mut asked = Vec::new();
    let by_read = std::cell::Cell::new(0);
    let counted = Counted(two(), &by_read);
    for item in DeltaReadExt::deltas(counted) {
        item.unwrap();
        asked.push(by_read.get());
    }
    // Head, two contents, finish reason and call ends come of the first read.
    assert!(asked.iter().filter(|asked| **asked == 1).count() >= 4, "{asked:?}");
    assert_eq!(asked.last(), Some(&3));
}

struct Counted<'a>(Source, &'a std::cell::Cell<usize>);

impl io::Read for Counted<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.1.set(self.1.get() + 1);
        self.0.read(buffer)
    }
}

/// A `next()` that waits may be dropped at any time, as `select!` does.
#[test]
fn dropping_a_call_that_waits_loses_nothing() {
    for at in 0..HELLO.len() {
        let (first, second) = HELLO.split_at(at);
        let answers = [Answer::Bytes(first.into()), Answer::NotYet, Answer::NotYet, Answer::Bytes(second.into())];
        let mut deltas = DeltaStreamExt::deltas(Source::new(answers));
        let (mut text, mut waits) = (String::new(), 0);
        loop {
            match poll_once(&mut deltas) {
                Poll::Pending => waits += 1,
                Poll::Ready(None) => break,
                Poll::Ready(Some(item)) => {
                    if let Some((_, Update::Content(content))) = item.unwrap().as_update() {
                        content.push_to(&mut text);
                    }
                }
            }
        }
        assert_eq!((text.as_str(), waits), ("Hello", 2), "cut at {at}");
    }
}

#[test]
fn adapters_are_small_and_may_be_sent_and_moved() {
    fn sent<T: Send + Sync + Unpin>() {}
    fn moved<T: Unpin>() {}
    type Report = fn(&deltawire::stream::Meter, &End);
    sent::<Item>();
    sent::<Collected>();
    sent::<StreamDeltas<Source>>();
    sent::<StreamMessage<Source>>();
    sent::<ReadDeltas<BufReader<Source>>>();
    sent::<AsyncReadDeltas<Source>>();
    sent::<AsyncReadMessage<Source>>();
    sent::<DeltaDecoder>();
    sent::<Metered<Source, Report>>();
    // If only the source can not be sent, the adapter can still be moved.
    moved::<StreamDeltas<Owned>>();
    moved::<Metered<Owned, Report>>();
    println!(
        "an item: {} bytes, the deltas of a stream: {}, of an AsyncRead: {}",
        size_of::<Item>(),
        size_of::<StreamDeltas<Source>>() - size_of::<Source>(),
        size_of::<AsyncReadDeltas<Source>>() - size_of::<Source>(),
    );
    assert!(size_of::<Item>() <= 104);
    assert!(size_of::<StreamDeltas<Source>>() <= size_of::<Source>() + 80);
}

/// What the parser has no room for is an item, and the stream goes on.
#[test]
fn a_ninth_choice_is_left_out() {
    let nine: Vec<_> =
        (0..9).map(|choice| format!("{{\"index\":{choice},\"delta\":{{\"content\":\"{choice}\"}}}}")).collect();
    let stream = format!("data: {{\"choices\":[{}]}}\n\ndata: [DONE]\n\n", nine.join(","));
    let items: Vec<Item> = DeltaReadExt::deltas(stream.as_bytes()).map(Result::unwrap).collect();
    let choices = items
        .iter()
        .filter(|item| matches!(item, Item::Update { update, .. } if matches!(update.as_update(), Update::Content(_))));
    assert_eq!(choices.count(), 8);
    let left_out = |item: &Item| matches!(item, Item::LeftOut(Error::TooManyChoices { choice: 8, offset: 0 }));
    assert_eq!(items.iter().filter(|item| left_out(item)).count(), 1);
    let end = items.last().unwrap().as_end().unwrap();
    assert!(end.verdict == Verdict::Done && !end.is_complete());
    let collected = DeltaReadExt::message(stream.as_bytes()).unwrap();
    assert!(collected.message.left_out.is_some());
    assert!(collected.finished().unwrap_err().to_string().starts_with("done, incomplete: 1 left out"));
    // With more room it is there, whatever is set up after it.
    let roomy = || DeltaReadExt::deltas(stream.as_bytes()).with_room(9, 1).with_config(Config::new());
    let collected = roomy().into_message().unwrap();
    assert_eq!(collected.message.choices.len(), 9);
    assert!(collected.is_complete() && roomy().assembled().all(|item| !matches!(item.unwrap(), Item::LeftOut(_))));
    let complete = std::cell::Cell::new(None);
    let metered = DeltaReadExt::metered(stream.as_bytes(), |_, end| complete.set(Some(end.is_complete())));
    io::copy(&mut metered.with_room(9, 1), &mut io::sink()).unwrap();
    assert_eq!(complete.get(), Some(true));
}

/// A server may keep the connection open after the response. Here the source fails if it is asked once more.
#[test]
fn with_until_done_the_source_is_not_asked_after_the_response() {
    let ended: &[u8] = b"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";
    let anthropic = [
        b"event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"role\":\"assistant\"}}\n\n",
        ended,
    ];
    let responses = br#"data: {"type":"response.completed","response":{"id":"r","status":"completed","output":[]}}"#;
    for whole in [[HELLO, DONE].concat(), anthropic.concat(), [&responses[..], b"\n\n"].concat()] {
        for at in [1, whole.len() / 2, whole.len() - 1, whole.len()] {
            let (first, second) = whole.split_at(at);
            // More of it in the last read is not read, either.
            let second = [second, b": more\n\n"].concat();
            let source = || {
                let reads = [first.into(), second.clone()].map(Answer::Bytes);
                Source::new(reads.into_iter().chain([Answer::Failure(ErrorKind::ConnectionReset)]))
            };
            let is_whole = |items: &mut dyn Iterator<Item = io::Result<Item>>| {
                let last = items.map(Result::unwrap).last().unwrap();
                assert_eq!(last.as_end().unwrap().verdict, Verdict::Done, "cut at {at}");
            };
            is_whole(&mut Blocking(DeltaStreamExt::deltas(source()).until_done()));
            is_whole(&mut Blocking(DeltaAsyncReadExt::deltas(source()).until_done()));
            is_whole(&mut DeltaReadExt::deltas(source()).until_done());
            assert!(block_on(DeltaStreamExt::deltas(source()).until_done().into_message()).is_ok());
        }
    }
}

/// The error of the API is in the text of a response that failed, in one line, and nothing in it moves a terminal.
#[test]
fn a_response_that_failed_says_why() {
    let failed = br#"data: {"error":{"message":"You exceeded\nyour quota\u001b[2J","code":"insufficient_quota"}}"#;
    let error = DeltaReadExt::message(&failed[..]).unwrap().finished().unwrap_err().to_string();
    let expected = r"the API reported an error: You exceeded your quota\u{1b}[2J (insufficient_quota)";
    assert!(error.starts_with(expected), "{error}");
    let choice = br#"data: {"choices":[{"index":0,"error":{"message":"overloaded"},"finish_reason":"error"}]}"#;
    let error = DeltaReadExt::message(&choice[..]).unwrap().finished().unwrap_err().to_string();
    assert!(error.contains(": overloaded"), "{error}");
}

/// What comes after `into_message` is in the message; what came before only if it was assembled.
#[test]
fn the_message_begins_where_it_is_asked_for() {
    let whole = || Blocking(DeltaStreamExt::deltas(Source::new([Answer::Bytes([HELLO, DONE].concat())])));
    let content = |deltas: StreamDeltas<Source>| {
        let collected = block_on(deltas.into_message()).unwrap();
        collected.message.choices[0].content.clone()
    };
    let mut half = whole();
    assert!(half.0.message_so_far().is_none());
    while !matches!(half.next().unwrap().unwrap().as_update(), Some((_, Update::Content(_)))) {}
    assert_eq!(content(half.0).as_deref(), Some("lo"));
    let mut half = whole();
    half.next().unwrap().unwrap();
    let error = block_on(half.0.into_message()).unwrap().finished().unwrap_err();
    assert_eq!(error.to_string(), "done; it lacks what was read before (assembled)");
    let mut half = Blocking(whole().0.assembled());
    while !matches!(half.next().unwrap().unwrap().as_update(), Some((_, Update::Content(_)))) {}
    assert_eq!(half.0.message_so_far().unwrap().unwrap().choices[0].content.as_deref(), Some("Hel"));
    assert_eq!(content(half.0).as_deref(), Some("Hello"));
}

/// Takes items, if there are so many.
fn take(count: usize, items: &mut dyn Iterator<Item = io::Result<Item>>) {
    items.take(count).for_each(|item| assert!(item.is_ok()));
}

/// An adapter allocates its parser, and a text of more than 32 bytes; nothing else once its queue has room.
#[test]
fn an_event_allocates_nothing_but_long_texts() {
    use crate::alloc::{allocations, live};
    let event = |text: &str| {
        format!("data: {{\"id\":\"c\",\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{text}\"}}}}]}}\n\n")
    };
    let (short, long) = (event(&"x".repeat(32)), event(&"x".repeat(33)));
    for (what, stream, each) in [("short", short.repeat(1000), 0), ("long", long.repeat(1000), 1)] {
        // Reads that cut events, which the parser's storage has room for.
        let reads: Vec<Answer> = stream.as_bytes().chunks(1448).map(|read| Answer::Bytes(read.into())).collect();
        let mut made = Vec::new();
        let mut deltas = Blocking(DeltaStreamExt::deltas(Source::new(reads)));
        let begun = allocations(|| take(4, &mut deltas));
        made.push(allocations(|| take(990, &mut deltas)));
        let mut deltas = Blocking(DeltaAsyncReadExt::deltas(stream.as_bytes()));
        take(4, &mut deltas);
        made.push(allocations(|| take(990, &mut deltas)));
        let mut deltas = DeltaReadExt::deltas(stream.as_bytes());
        take(4, &mut deltas);
        made.push(allocations(|| take(990, &mut deltas)));
        println!("adapters: {made:?} allocations in 990 events with {what} texts, {begun} in the first four");
        assert_eq!(made, [990 * each; 3], "{what}");
    }

    // Dropped anywhere, an adapter leaves nothing behind, and drops its source.
    let stream = [HELLO, long.as_bytes(), &HELLO[..100]].concat();
    let bytes = live(|| {
        for after in 0..20 {
            for read in [7, 1448] {
                let owner = std::rc::Rc::new(());
                let answers = stream.chunks(read).map(|read| Answer::Bytes(read.into()));
                let source = Owned(Source::new(answers), owner.clone());
                let mut deltas = Blocking(DeltaStreamExt::deltas(source).assembled());
                take(after, &mut deltas);
                drop(deltas);
                assert_eq!(std::rc::Rc::strong_count(&owner), 1);
                let answers = stream.chunks(read).map(|read| Answer::Bytes(read.into()));
                let mut message = DeltaStreamExt::message(Source::new(answers.chain([Answer::NotYet])));
                assert!(poll_future(&mut message).is_pending());
            }
        }
    });
    assert_eq!(bytes, 0, "bytes on the heap that nobody owns");
}
