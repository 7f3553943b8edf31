//! The observer, which reads usage alone, against a whole reading.

use super::*;

/// What an observer sees: each usage as it came and the counts so far, the finish reasons, the counts at the end, the verdict.
pub(super) type Observed = (Vec<(String, TokenCounts)>, Vec<Option<FinishKind>>, Option<TokenCounts>, End);

pub(super) fn observe(bytes: &[u8], size: usize, config: Config) -> Observed {
    let mut seen = Vec::new();
    let mut parser = Parser::with_config(Growing::new(), config);
    let mut observer = Observer::new(|usage: Usage<'_>, so_far: &TokenCounts| {
        seen.push((String::from_utf8(usage.value().raw().to_vec()).unwrap(), *so_far));
        Flow::Continue(())
    });
    for piece in bytes.chunks(size.max(1)) {
        let fed = parser.feed(piece, &mut observer);
        assert_eq!(fed.stop, None);
    }
    parser.finish_into(&mut observer).unwrap();
    let finish = (0..9).map(|choice| observer.finish_reason(choice)).collect();
    let usage = observer.counts().copied();
    (seen, finish, usage, parser.end())
}

/// Returns what an observer should see, from a whole reading by pull, with usage merged by serde_json.
pub(super) fn observed_by_pull(bytes: &[u8]) -> Observed {
    let mut parser: Parser<Growing, 2, ()> = Parser::with_tracker(Growing::new(), Config::new(), ());
    let (mut seen, mut finish, mut usage) = (Vec::new(), vec![None; 9], None);
    let mut merged = Map::new();
    let mut take = |event: &Event<'_>| {
        for (choice, update) in event.deltas() {
            match update {
                Update::Usage(given) => {
                    let raw = String::from_utf8(given.value().raw().to_vec()).unwrap();
                    let mut counts = given.counts();
                    if given.protocol() == Protocol::Anthropic {
                        let members: Map<String, Value> = serde_json::from_str(&raw).unwrap();
                        merged.extend(members.into_iter().filter(|(_, value)| !value.is_null()));
                        let merged = Value::Object(merged.clone()).to_string();
                        let event = format!("data: {{\"type\":\"message_delta\",\"usage\":{merged}}}\n\n");
                        let mut alone = Parser::new(Growing::new());
                        let mut bytes = event.as_bytes();
                        while alone.next(&mut bytes).unwrap().is_some() {}
                        counts = alone.native_counts().unwrap();
                    }
                    usage = Some(counts);
                    seen.push((raw, counts));
                }
                Update::Finish(reason) if choice < 8 => finish[choice as usize] = Some(reason.kind()),
                _ => {}
            }
        }
    };
    let mut rest = bytes;
    while let Some(event) = parser.next(&mut rest).unwrap() {
        take(&event);
    }
    while let Some(event) = parser.finish().unwrap() {
        take(&event);
    }
    (seen, finish, usage, parser.end())
}

#[test]
fn an_observer_sees_what_a_whole_reading_does() {
    let mut streams = corpus::recorded("observer");
    if streams.is_empty() {
        return;
    }
    streams.extend(corpus::recorded_of_other_protocols("observer"));
    let config = Config::new().with_payload(Payload::Usage);
    let (mut with_usage, mut unread) = ([0; 9], 0u64);
    for Stream { name, bytes } in streams {
        let whole = observed_by_pull(&bytes);
        if whole.0.is_empty() {
            continue;
        }
        with_usage[whole.3.protocol.map_or(0, |dialect| dialect as usize)] += 1;
        for size in [1, 7, 1448, bytes.len()] {
            assert_eq!(observe(&bytes, size, config), whole, "{name} in reads of {size}");
        }
        let step = 97 * (1 + bytes.len() / 100_000);
        for end in (0..bytes.len()).step_by(step) {
            let cut = &bytes[..end];
            assert_eq!(observe(cut, 1448, config), observed_by_pull(cut), "{name} cut at {end}");
        }
        let mut parser = Parser::with_config(Growing::new(), config);
        let mut rest = &bytes[..];
        while let Some(event) = parser.next(&mut rest).unwrap() {
            unread += u64::from(matches!(event, Event::Sse(_)));
        }
    }
    println!("with usage: {with_usage:?}; events that were not read: {unread}");
    let of = |protocol: Protocol| with_usage[protocol as usize];
    let four = [Protocol::Chat, Protocol::Responses, Protocol::Anthropic, Protocol::Gemini].map(of);
    assert!(four.into_iter().all(|recordings| recordings >= 10), "{four:?}");
    assert!(unread > 1000, "{unread}");
}

#[test]
fn an_observer_loses_nothing_to_a_small_limit() {
    let text = "x\\\"".repeat(4000);
    let usage = json!({"input_tokens": 3, "output_tokens": 4, "total_tokens": 7});
    let item = json!({"type": "message", "content": [{"type": "output_text", "text": text}]});
    let delta = json!({"type": "response.output_text.done", "output_index": 0, "text": text});
    let created = json!({"type": "response.created", "response": {"id": "r", "instructions": text}});
    let completed =
        json!({"type": "response.completed", "response": {"status": "completed", "output": [item], "usage": usage}});
    let stream = type_first(&[created, delta, completed]);
    let config = limited(300);
    let without = |config: Config| observe(&stream, 1448, config);
    let by_all = without(config);
    assert_eq!((by_all.3.too_long, by_all.3.verdict), (2, Verdict::Done));
    for size in [1, 7, 1448, stream.len()] {
        let (seen, finish, counts, end) = observe(&stream, size, config.with_payload(Payload::Usage));
        assert_eq!((seen.len(), finish[0], finish[1]), (1, Some(FinishKind::Stop), None));
        assert_eq!((counts.unwrap().total_tokens(), end.too_long, end.is_complete()), (Some(7), 0, true), "{size}");
    }
    // All is read where all is checked.
    let strict = config.with_payload(Payload::Usage).with_validate(deltawire::Validate::Strict);
    assert_eq!(without(strict).3.too_long, 3);

    let start =
        json!({"type": "message_start", "message": {"id": "m", "usage": {"input_tokens": 9, "output_tokens": 1}}});
    let block = json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": text}});
    let delta = json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}});
    let end = json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 5}});
    let stop = json!({"type": "message_stop", "x": 0});
    let events = [start, block, delta, end, stop];
    for stream in [type_first(&events), named(&events)] {
        for size in [1, 7, 1448, stream.len()] {
            let (seen, finish, counts, end) = observe(&stream, size, config.with_payload(Payload::Usage));
            assert_eq!((seen.len(), finish[0]), (2, Some(FinishKind::Stop)));
            let is_type_first = stream.starts_with(b"data");
            // A type that is not the first member is not seen in time.
            assert_eq!((counts.unwrap().total_tokens(), end.too_long == 0), (Some(14), is_type_first), "{size}");
        }
    }
}

/// A message that begins before the one before has ended replaces that one, even if its blocks were left unread.
#[test]
fn an_observer_sees_that_a_message_is_replaced() {
    let lines = [
        r#"{"type":"message_start","message":{"id":"m1","usage":{"input_tokens":1}}}"#,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}"#,
        r#"{"type":"message_start","message":{"id":"m2","usage":{"input_tokens":1}}}"#,
        r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":1}}"#,
        r#"{"type":"message_stop"}"#,
    ];
    for (from, replaced) in [(0, 1), (3, 0)] {
        let stream = lines[from..].iter().map(|line| format!("data: {line}\n\n")).collect::<String>();
        for payload in [Payload::Chunks, Payload::Usage] {
            for size in [1, 100, stream.len()] {
                let (.., end) = observe(stream.as_bytes(), size, Config::new().with_payload(payload));
                let got = (end.verdict, end.replaced, end.is_complete());
                assert_eq!(got, (Verdict::Done, replaced, replaced == 0), "{payload:?}, slices of {size}");
            }
        }
    }
}
