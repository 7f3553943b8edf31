//! Pulled deltas are those of the stream: they go through the parser's tracker, whether they are taken or not.

use deltawire::stream::Track;
use deltawire::track::Tracker;
use deltawire::{Config, Error, Event, Flow, Handler, Parser, Pulled, Quirk, QuirkSet, Stop, Update, Workspace};
use std::collections::BTreeMap;

/// A name and arguments by choice and number of the call.
type Calls = BTreeMap<(u32, u32), (String, String)>;

/// Two calls at a time in one choice and one in another: in one chunk, and over several.
const PARALLEL: &str = r#"data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"add","arguments":""}},{"index":1,"id":"b","function":{"name":"sub","arguments":"{"}}]}}]}

data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"function":{"arguments":"\"y\""}},{"index":0,"function":{"arguments":"{\"x\""}}]}}]}

data: {"choices":[{"index":1,"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"mul","arguments":"{}"}}]}}]}

data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":":"}}]}}]}

data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"function":{"arguments":":2"}}]}}]}

data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"1"}}]}}]}

data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"}"}},{"index":1,"function":{"arguments":"}"}}]},"finish_reason":"tool_calls"}]}

data: [DONE]

"#;

fn join<T: Track>(calls: &mut Calls, event: Pulled<'_, T>) {
    for (choice, update) in event.deltas() {
        match update {
            Update::CallName { call, text, .. } => calls.entry((choice, call)).or_default().0 += &text.to_string(),
            Update::CallArguments { call, text } => calls.entry((choice, call)).or_default().1 += &text.to_string(),
            _ => {}
        }
    }
}

#[test]
fn parallel_calls_stay_apart() {
    fn own<const SLOTS: usize>(size: usize) -> Calls {
        let mut calls = Calls::new();
        let mut parser: Parser<_, SLOTS> = Parser::with_slots([0; 512], Config::new(), Tracker::new());
        for mut piece in PARALLEL.as_bytes().chunks(size) {
            while let Some(event) = parser.next(&mut piece).unwrap() {
                join(&mut calls, event);
            }
        }
        while let Some(event) = parser.finish().unwrap() {
            join(&mut calls, event);
        }
        assert!(parser.end().is_complete());
        calls
    }
    fn shared(size: usize, memo: &mut Workspace) -> Calls {
        let mut calls = Calls::new();
        let mut parser: Parser<_, 0> = Parser::with_slots([0; 512], Config::new(), Tracker::new());
        for mut piece in PARALLEL.as_bytes().chunks(size) {
            while let Some(event) = parser.next_with(memo, &mut piece).unwrap() {
                join(&mut calls, event);
            }
        }
        while let Some(event) = parser.finish_with(memo).unwrap() {
            join(&mut calls, event);
        }
        assert!(parser.end().is_complete());
        calls
    }
    let call = |name: &str, arguments: &str| (name.to_string(), arguments.to_string());
    let expected = Calls::from([
        ((0, 0), call("add", r#"{"x":1}"#)),
        ((0, 1), call("sub", r#"{"y":2}"#)),
        ((1, 0), call("mul", "{}")),
    ]);
    let mut memo = Workspace::new();
    for size in [1, 7, 100, PARALLEL.len()] {
        for calls in [own::<0>(size), own::<2>(size), own::<4>(size), shared(size, &mut memo), shared(size, &mut memo)]
        {
            assert_eq!(calls, expected, "reads of {size}");
        }
    }
}

/// A chunk with more deltas than a page, which opens calls, begins an emoji and ends a choice.
fn wide(calls: usize) -> String {
    let call =
        |nth: usize| format!(r#"{{"index":{nth},"id":"i{nth}","function":{{"name":"f{nth}","arguments":"{nth}"}}}}"#);
    let calls: Vec<_> = (0..calls).map(call).collect();
    format!(
        "data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"\\ud83d\",\"tool_calls\":[{}]}}}}]}}\n\n",
        calls.join(",")
    )
}

/// Whatever the caller takes of the first event, the second has the same deltas.
#[test]
fn deltas_that_are_not_taken_go_through_the_tracker() {
    let fragment = |nth: usize| format!(r#"{{"index":{nth},"function":{{"arguments":"!"}}}}"#);
    for calls in [1, 4, 5, 6, 11, 20] {
        let last = calls - 1;
        let second = format!(
            "data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"\\ude00\",\"tool_calls\":[{},{}]}}}}]}}\n\n",
            fragment(last),
            fragment(0)
        );
        let stream = wide(calls) + &second;
        for taken in 0..3 * calls + 2 {
            let mut parser = Parser::new([0; 4096]);
            let mut bytes = stream.as_bytes();
            let first = parser.next(&mut bytes).unwrap().unwrap();
            if taken == 0 {
                drop(first);
            } else {
                let mut deltas = first.deltas();
                assert_eq!(deltas.by_ref().take(taken).count(), taken.min(3 * calls));
            }
            let mut found = Vec::new();
            for (_, update) in parser.next(&mut bytes).unwrap().unwrap().deltas() {
                found.push(match update {
                    Update::Content(text) => text.to_string(),
                    Update::CallArguments { call, text } => format!("{call}{text}"),
                    update => panic!("{update:?}"),
                });
            }
            assert_eq!(found, ["\u{1F600}".to_string(), format!("{last}!"), "0!".to_string()], "{calls} {taken}");
            assert_eq!(parser.quirks(), QuirkSet::EMPTY);
        }
    }
}

/// What a tracker leaves out is the error of the next call, and counts as lost.
#[test]
fn a_full_table_is_the_error_of_the_next_call() {
    let two = r#"{"choices":[{"index":0,"delta":{"content":"a"}},{"index":1,"delta":{"content":"b"}}]}"#;
    let one = r#"{"choices":[{"index":0,"delta":{"content":"c"},"finish_reason":"stop"}]}"#;
    let stream = format!("data: {two}\n\ndata: {one}\n\n");
    for is_taken in [false, true] {
        let mut parser = Parser::with_tracker([0; 4096], Config::new(), Tracker::<1, 1>::new());
        let mut bytes = stream.as_bytes();
        let first = parser.next(&mut bytes).unwrap().unwrap();
        if is_taken {
            assert_eq!(first.deltas().count(), 1);
        } else {
            drop(first);
        }
        assert_eq!((parser.end().left_out, parser.end().is_complete()), (1, false));
        let (left, error) = (bytes.len(), Error::TooManyChoices { choice: 1, offset: 0 });
        assert_eq!(parser.next(&mut bytes).map(|_| ()), Err(error));
        assert_eq!(bytes.len(), left, "the error consumes nothing");
        assert_eq!(parser.next(&mut bytes).unwrap().unwrap().deltas().count(), 2);
        assert!(parser.next(&mut bytes).unwrap().is_none() && parser.finish().unwrap().is_none());
        assert_eq!((parser.end().left_out, parser.end().is_complete()), (1, false));
    }
    // If the stream ends with that event, the error comes before its end.
    let mut parser = Parser::with_tracker([0; 4096], Config::new(), Tracker::<1, 1>::new());
    let event = format!("data: {two}");
    assert!(parser.next(&mut event.as_bytes()).unwrap().is_none());
    assert_eq!(parser.finish().unwrap().unwrap().deltas().count(), 1);
    assert!(matches!(parser.finish(), Err(Error::TooManyChoices { .. })));
    assert!(parser.finish().unwrap().is_none());
}

/// An event has one error, by pull as by push: a quirk that is an error comes before a limit. Whichever call follows the
/// event returns it.
#[test]
fn an_event_has_the_error_that_push_has() {
    struct Quiet;
    impl Handler for Quiet {}
    let both = r#"{"choices":[{"index":0,"delta":{"content":"\q"}},{"index":1,"delta":{"content":"b"}}]}"#;
    let stream = format!("data: {both}\n\ndata: {both}");
    for errors in [QuirkSet::EMPTY, QuirkSet::ALL] {
        let new = || Parser::with_tracker([0; 512], Config::new().with_errors(errors), Tracker::<1, 1>::new());
        let (mut push, mut pushed, mut rest) = (new(), Vec::new(), stream.as_bytes());
        loop {
            let fed = push.feed(rest, &mut Quiet);
            rest = &rest[fed.consumed..];
            let Some(stop) = fed.stop else { break };
            pushed.push(stop);
        }
        while let Err(stop) = push.finish_into(&mut Quiet) {
            pushed.push(stop);
        }
        let (mut pull, mut pulled, mut rest) = (new(), Vec::new(), stream.as_bytes());
        while let Some(event) = pull.next(&mut rest).transpose() {
            pulled.extend(event.err().map(Stop::Error));
        }
        while let Some(event) = pull.finish().transpose() {
            pulled.extend(event.err().map(Stop::Error));
        }
        assert_eq!((pushed.len(), &pulled), (2, &pushed));
        assert_eq!((pull.end(), pull.quirks()), (push.end(), push.quirks()));
        let first = pushed[0];
        let mut parser = new();
        assert!(parser.next(&mut stream.as_bytes()).unwrap().is_some());
        let mut other = parser.clone();
        let fed = parser.feed(b": more\n", &mut Quiet);
        assert_eq!((fed.consumed, fed.stop, parser.feed(b": more\n", &mut Quiet).stop), (0, Some(first), None));
        assert_eq!((other.finish_into(&mut Quiet), other.finish_into(&mut Quiet)), (Err(first), Ok(())));
    }
}

/// The quirks of texts, and of what a text is in its stream, are counted by the parser, and may be errors.
#[test]
fn quirks_of_deltas_are_counted() {
    let half = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\\ud83d\"}}]}\n\n";
    let text = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\\q\"}}]}\n\n";
    for (errors, is_error) in [(QuirkSet::EMPTY, false), (QuirkSet::ALL, true)] {
        let mut parser = Parser::with_config([0; 4096], Config::new().with_errors(errors));
        let stream = [text, text, half].concat();
        let (mut bytes, mut met, mut texts) = (stream.as_bytes(), Vec::new(), String::new());
        let mut take = |event: Pulled<'_>| {
            for (_, update) in event.deltas() {
                let Update::Content(text) = update else { panic!("{update:?}") };
                texts += &text.to_string();
            }
        };
        loop {
            match parser.next(&mut bytes) {
                Ok(Some(event)) => take(event),
                Ok(None) => break,
                Err(error) => met.push(error),
            }
        }
        loop {
            match parser.finish() {
                Ok(Some(event)) => {
                    assert!(matches!(*event, Event::Rest));
                    take(event);
                }
                Ok(None) => break,
                Err(error) => met.push(error),
            }
        }
        assert_eq!(texts, "\\q\\qa\u{FFFD}");
        let count = |quirk| parser.quirk_count(quirk);
        assert_eq!((count(Quirk::BadEscape), count(Quirk::LoneSurrogate)), (2, 1));
        let offsets: Vec<_> = met.iter().map(Error::offset).collect();
        let [second, end] = [text.len() as u64, stream.len() as u64];
        assert_eq!(offsets, if is_error { vec![0, second, end] } else { vec![] }, "{met:?}");
    }
}

/// Bytes after the end belong to another stream, whichever call ended this one. A reset begins it.
#[test]
fn nothing_follows_the_end_without_a_reset() {
    struct Quiet;
    impl Handler for Quiet {}
    let cut = &b"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}}]}\n\n"[..];
    let whole = &b"data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"[..];
    let finished = Error::Finished { offset: cut.len() as u64 };
    let (mut parser, mut memo) = (Parser::new([0; 256]), Workspace::<2>::with_slots());
    let mut shared: Parser<_, 0> = Parser::with_slots([0; 256], Config::new(), Tracker::new());
    for by_pull in [true, false] {
        assert!(
            parser.feed(cut, &mut Quiet).stop.is_none() && shared.feed_with(&mut memo, cut, &mut Quiet).stop.is_none()
        );
        if by_pull {
            assert!(parser.finish().unwrap().is_none() && shared.finish_with(&mut memo).unwrap().is_none());
        } else {
            assert!(parser.finish_into(&mut Quiet).is_ok() && shared.finish_into_with(&mut memo, &mut Quiet).is_ok());
        }
        let (end, mut bytes) = (parser.end(), whole);
        assert!(!end.is_complete());
        for _ in 0..2 {
            assert_eq!(parser.next(&mut bytes).map(|_| ()), Err(finished));
            assert_eq!(shared.next_with(&mut memo, &mut bytes).map(|_| ()), Err(finished));
            assert_eq!(bytes.len(), whole.len());
            for fed in [parser.feed(whole, &mut Quiet), shared.feed_with(&mut memo, whole, &mut Quiet)] {
                assert_eq!((fed.consumed, fed.stop), (0, Some(Stop::Error(finished))));
            }
            // The end may be asked for again.
            assert!(parser.finish().unwrap().is_none() && parser.finish_into(&mut Quiet).is_ok());
            assert_eq!((parser.end(), shared.end()), (end, end));
        }
        parser.reset();
        shared.reset();
        assert!(
            parser.feed(whole, &mut Quiet).stop.is_none()
                && shared.feed_with(&mut memo, whole, &mut Quiet).stop.is_none()
        );
        assert!(parser.end().is_complete() && shared.end().is_complete());
        parser.reset();
        shared.reset();
    }
}

/// A closure gets what a handler gets. What is over a limit does not stop it; its own stop does.
#[test]
fn a_closure_reads_all() {
    let two = r#"{"choices":[{"index":0,"delta":{"content":"a"}},{"index":1,"delta":{"content":"b"}}]}"#;
    let one = r#"{"choices":[{"index":0,"delta":{"content":"c"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3}}"#;
    let stream = format!("data: {two}\n\ndata: {two}\n\ndata: {one}");
    let new = || Parser::with_tracker([0; 512], Config::new(), Tracker::<1, 1>::new());
    for size in [1, 40, stream.len()] {
        let (mut parser, mut text) = (new(), String::new());
        let mut append = |choice, update: Update<'_>| {
            if let Update::Content(content) = update {
                text += &format!("{choice}{content}");
            }
        };
        for bytes in stream.as_bytes().chunks(size) {
            parser.feed_all(bytes, &mut append).unwrap();
        }
        parser.finish_all(&mut append).unwrap();
        assert_eq!(text, "0a0a0c");
        assert_eq!((parser.end().left_out, parser.end().choices_finished), (2, 1));
        assert_eq!(parser.usage().and_then(|usage| usage.prompt_tokens()), Some(3));
        let finished = Stop::Error(Error::Finished { offset: stream.len() as u64 });
        assert_eq!(parser.feed_all(b"data: [DONE]\n\n", |_, _| ()), Err(finished));
    }
    // By pull the usage is there once the event is dropped.
    let (mut parser, mut bytes) = (new(), stream.as_bytes());
    while let Some(event) = parser.next(&mut bytes).transpose() {
        drop(event);
    }
    assert!(parser.usage().is_none());
    while let Some(event) = parser.finish().transpose() {
        drop(event);
    }
    assert_eq!(parser.usage().and_then(|usage| usage.prompt_tokens()), Some(3));
    // A stop leaves the rest of the bytes, so the response is not complete.
    for stop in [Stop::Abort, Stop::Pause] {
        let (mut parser, mut count) = (new(), 0);
        let mut once = |_, _: Update<'_>| {
            count += 1;
            Flow::Break(stop)
        };
        assert_eq!(parser.feed_all(stream.as_bytes(), &mut once), Err(stop));
        assert!(parser.finish_all(|_, _| ()).is_ok());
        assert_eq!((count, parser.end().is_complete()), (1, false));
    }
    // A quirk that is an error does not keep the rest from being read.
    let odd = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\\q\"}}]}\n\n";
    let mut parser = Parser::with_config([0; 512], Config::new().with_errors(QuirkSet::ALL));
    let mut count = 0;
    let read = parser.feed_all(odd.repeat(3).as_bytes(), |_, _| count += 1);
    assert!(matches!(read, Err(Stop::Error(Error::Quirk { quirk: Quirk::BadEscape, offset: 0 }))), "{read:?}");
    assert_eq!((count, parser.quirk_count(Quirk::BadEscape)), (3, 3));
}

/// The verdict after the last event does not wait for the next call.
#[test]
fn what_the_last_deltas_showed_is_in_the_end_at_once() {
    let stream = concat!(
        r#"data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x"}}]},"finish_reason":"stop"}]}"#,
        "\n\ndata: [DONE]\n\n"
    );
    let mut parser = Parser::new([0; 512]);
    let mut input = stream.as_bytes();
    let first = parser.next(&mut input).unwrap();
    assert!(matches!(first.as_deref(), Some(Event::Chunk(_))));
    drop(first);
    assert_eq!((parser.quirk_count(Quirk::BrokenArguments), parser.end().broken_calls), (1, 1));
    while parser.next(&mut input).unwrap().is_some() {}
    assert!(parser.finish().unwrap().is_none());
    assert_eq!((parser.end().broken_calls, parser.end().is_complete()), (1, false));
}
