//! The meter against a whole reading of the same stream, and what it must count, case by case.

use super::*;
use deltawire::chat::NamePiece;
use deltawire::Handler;

/// Meters a stream in reads of `size` bytes.
fn meter(bytes: &[u8], size: usize, config: Config) -> (Meter, End) {
    let (mut parser, mut meter) = (Parser::with_config(Growing::new(), config), Meter::new());
    for piece in bytes.chunks(size.max(1)) {
        assert_eq!(parser.feed(piece, &mut meter).stop, None);
    }
    parser.finish_into(&mut meter).unwrap();
    (meter, parser.end())
}

/// Everything that a whole reading has, each event with its texts, kept as it came.
#[derive(Default)]
struct Whole {
    events: Vec<EventRead>,
    names: Vec<((u32, u32), String)>,
    calls: u32,
    finish: [Option<FinishKind>; 9],
    finish_reason: String,
    error: String,
    model: String,
    id: String,
    /// The usages as they came, as JSON.
    usages: Vec<(Protocol, Map<String, Value>)>,
    tool_usage: Option<String>,
}

#[derive(Default)]
struct EventRead {
    start: u64,
    texts: Vec<(TokenKind, &'static str, String)>,
}

impl Whole {
    fn add(&mut self, kind: TokenKind, of: &'static str, text: String) {
        // Half a character that is pending before [DONE] or the end belongs to the event before.
        let event = self.events.iter_mut().rev().find(|event| event.start != u64::MAX);
        event.unwrap().texts.push((kind, of, text));
    }

    fn name(&mut self, key: (u32, u32), text: &str, piece: NamePiece) {
        self.add(TokenKind::Call, "", String::new());
        let at = self.names.iter().position(|(own, _)| *own == key).unwrap_or_else(|| {
            self.names.push((key, String::new()));
            self.names.len() - 1
        });
        match piece {
            NamePiece::Replaces => self.names[at].1 = text.into(),
            NamePiece::Appends => self.names[at].1 += text,
        }
    }

    fn function(&mut self, choice: u32) {
        if !self.names.iter().any(|(key, _)| *key == (choice, u32::MAX)) {
            self.calls += 1;
            self.names.push(((choice, u32::MAX), String::new()));
        }
    }
}

impl Handler for Whole {
    fn event(&mut self, event: &Event<'_>) -> Flow {
        let start = match event {
            Event::Comment(_) | Event::Retry(_) | Event::LastEventId(_) | Event::CommentTooLong { .. } => {
                return Flow::Continue(())
            }
            Event::Chunk(chunk) => {
                let payload: Option<Value> = serde_json::from_slice(chunk.payload()).ok();
                let member = |names: [&str; 3]| {
                    let text =
                        names.iter().find_map(|path| payload.as_ref()?.pointer(path)?.as_str()).unwrap_or_default();
                    text.to_string()
                };
                // Events without choices that have an object of their own are not of the response.
                let object = member(["/object", "", ""]);
                let is_own = chunk.protocol() != Protocol::Chat
                    || payload.as_ref().is_some_and(|payload| payload.get("choices").is_some())
                    || ["chat.completion", "text_completion"].iter().any(|own| object.starts_with(own))
                    || object.is_empty();
                if self.model.is_empty() && is_own {
                    self.model = match chunk.model() {
                        Some(_) => {
                            member(["/model", "/message/model", "/response/model"]) + &member(["/modelVersion", "", ""])
                        }
                        None => String::new(),
                    };
                }
                if self.id.is_empty() && is_own {
                    self.id = chunk.id().map_or(String::new(), |id| id.to_string());
                }
                let used = payload.as_ref().and_then(|payload| payload.pointer("/response/tool_usage"));
                if let Some(used) = used.filter(|used| !used.is_null() && chunk.usage().is_some()) {
                    self.tool_usage = Some(used.to_string());
                }
                chunk.wire_range().start
            }
            Event::Malformed(malformed) => malformed.wire_range().start,
            Event::TooLong { offset } => *offset,
            _ => u64::MAX,
        };
        if start == u64::MAX || self.events.last().is_none_or(|last| last.start != start) {
            self.events.push(EventRead { start, texts: Vec::new() });
        }
        Flow::Continue(())
    }

    fn update(&mut self, choice: u32, update: Update<'_>) -> Flow {
        match update {
            Update::Content(text) => self.add(TokenKind::Content, "content", text.to_string()),
            Update::Reasoning(text) => self.add(TokenKind::Reasoning, "reasoning", text.to_string()),
            Update::Refusal(text) => self.add(TokenKind::Refusal, "refusal", text.to_string()),
            Update::CallArguments { text, .. } => self.add(TokenKind::Call, "arguments", text.to_string()),
            Update::FunctionArguments(text) => {
                self.function(choice);
                self.add(TokenKind::Call, "arguments", text.to_string());
            }
            Update::Call(call) if call.opens => {
                self.calls += 1;
                self.add(TokenKind::Call, "", String::new());
            }
            Update::CallName { call, text, piece } => self.name((choice, call), &text.to_string(), piece),
            Update::FunctionName { text, piece } => {
                self.function(choice);
                self.name((choice, u32::MAX), &text.to_string(), piece);
            }
            Update::Finish(reason) => {
                if let Some(finish) = self.finish.get_mut(choice as usize).filter(|_| choice < 8) {
                    *finish = Some(reason.kind());
                }
                if choice == 0 {
                    let word = reason.kind().word().filter(|_| reason.is_native());
                    self.finish_reason = word.map_or_else(|| reason.to_string(), String::from);
                }
            }
            Update::Usage(usage) => {
                let members = serde_json::from_slice(usage.value().raw()).unwrap();
                self.usages.push((usage.protocol(), members));
            }
            Update::Error(error) | Update::ChoiceError(error) if self.error.is_empty() => {
                self.error = error.kind().or(error.code()).map_or("error".into(), |text| text.to_string());
            }
            _ => {}
        }
        Flow::Continue(())
    }
}

/// Reads all of a stream at once, without templates.
fn whole(bytes: &[u8]) -> (Whole, End) {
    let mut parser = Parser::<_, 0>::with_slots(Growing::new(), Config::new(), Tracker::<8, 32>::new());
    let mut whole = Whole::default();
    assert_eq!(parser.feed(bytes, &mut whole).stop, None);
    parser.finish_into(&mut whole).unwrap();
    (whole, parser.end())
}

fn short<const N: usize>(text: &str) -> String {
    let end = (0..=text.len().min(N)).rev().find(|end| text.is_char_boundary(*end)).unwrap();
    text[..end].to_string()
}

/// Prompt, completion, cached and cache write tokens of Anthropic's usages, added up.
fn sum(usages: &[Value]) -> Option<[u64; 4]> {
    let count = |usage: &Value, name: &str| usage[name].as_u64().unwrap_or(0);
    let counts = usages.iter().map(|usage| {
        let [read, written] = ["cache_read_input_tokens", "cache_creation_input_tokens"].map(|name| count(usage, name));
        [count(usage, "input_tokens") + read + written, count(usage, "output_tokens"), read, written]
    });
    counts.reduce(|sum, counts| std::array::from_fn(|at| sum[at] + counts[at]))
}

fn four(counts: Option<TokenCounts>) -> Option<[u64; 4]> {
    let counts = counts?;
    let four =
        [counts.prompt_tokens(), counts.completion_tokens(), counts.cached_tokens(), counts.cache_write_tokens()];
    Some(four.map(Option::unwrap_or_default))
}

/// Asserts that the meter has what the whole reading has.
fn compare(meter: &Meter, whole: &Whole, context: &str) {
    let amount = |of: &str| {
        let texts = whole.events.iter().flat_map(|event| &event.texts).filter(|text| text.1 == of);
        let (bytes, chars) = texts.fold((0, 0), |sum, text| (sum.0 + text.2.len(), sum.1 + text.2.chars().count()));
        (bytes as u64, chars as u64)
    };
    for (own, of) in [
        (meter.content, "content"),
        (meter.reasoning, "reasoning"),
        (meter.refusal, "refusal"),
        (meter.arguments, "arguments"),
    ] {
        let Amount { bytes, chars, .. } = own;
        assert_eq!((bytes, chars), amount(of), "{of}, {context}");
    }
    let tokens: Vec<_> = whole.events.iter().zip(1u64..).filter(|(event, _)| !event.texts.is_empty()).collect();
    assert_eq!((meter.events, meter.token_events), (whole.events.len() as u64, tokens.len() as u64), "{context}");
    let first = tokens.first().map(|(event, number)| (event.texts[0].0, *number, event.start));
    let last = tokens.last().map(|(event, number)| (event.texts.last().unwrap().0, *number, event.start));
    let of = |token: deltawire::stream::Token| (token.kind, token.event, token.offset);
    assert_eq!((meter.first.map(of), meter.last.map(of)), (first, last), "{context}");
    let names: Vec<_> =
        whole.names.iter().filter(|(_, name)| !name.is_empty()).take(8).map(|(_, name)| short::<64>(name)).collect();
    let own: Vec<_> = meter.call_names().map(ShortText::as_str).collect();
    assert_eq!((meter.calls, own), (whole.calls, names.iter().map(String::as_str).collect()), "{context}");
    let texts = [meter.model.as_str(), meter.id.as_str(), meter.error.as_str(), meter.finish_reason.as_str()];
    let expected = [
        short::<128>(&whole.model),
        short::<128>(&whole.id),
        short::<128>(&whole.error),
        short::<64>(&whole.finish_reason),
    ];
    assert_eq!(texts, expected.each_ref().map(String::as_str), "{context}");
    assert_eq!((0..9).map(|choice| meter.finish(choice)).collect::<Vec<_>>(), whole.finish, "{context}");
    let counts = whole.usages.last().map(|(protocol, _)| {
        let mut merged = Map::new();
        for (_, members) in &whole.usages {
            if *protocol != Protocol::Anthropic {
                merged.clear();
            }
            merged.extend(members.clone().into_iter().filter(|(_, value)| !value.is_null()));
        }
        let merged = Value::Object(merged).to_string();
        Usage::of(deltawire::json::parse_lazy(merged.as_bytes()).unwrap())
            .map(|usage| usage.counts())
            .unwrap_or_default()
    });
    assert_eq!(meter.usage, counts.filter(|counts| counts.has != 0), "{context}");
    let iterations = whole
        .usages
        .iter()
        .rev()
        .find_map(|(_, usage)| usage.get("iterations")?.as_array().cloned())
        .unwrap_or_default();
    let others: Vec<_> = iterations.iter().filter(|iteration| iteration["type"] != "message").cloned().collect();
    assert_eq!((four(meter.iterations), four(meter.other_iterations)), (sum(&iterations), sum(&others)), "{context}");
    let used = (!meter.tool_usage.is_empty())
        .then(|| serde_json::from_str::<Value>(meter.tool_usage.as_str()).unwrap().to_string());
    assert_eq!(used, whole.tool_usage.clone().filter(|used| used.len() <= 512), "{context}");
}

#[test]
fn a_meter_has_what_a_whole_reading_has_on_every_recording_and_at_every_cut() {
    let mut streams = corpus::recorded("meter");
    if streams.is_empty() {
        return;
    }
    streams.extend(corpus::recorded_of_other_protocols("meter"));
    let (mut with_usage, mut kinds) = ([0; 9], [0; 5]);
    for Stream { name, bytes } in streams {
        let (expected, end) = whole(&bytes);
        with_usage[end.protocol.map_or(0, |protocol| protocol as usize)] += usize::from(!expected.usages.is_empty());
        for size in [1, 7, 1448, bytes.len()] {
            let (meter, own) = meter(&bytes, size, Config::new());
            compare(&meter, &expected, &format!("{name} in reads of {size}"));
            assert_eq!(own, end, "{name} in reads of {size}");
            kinds[meter.first.map_or(0, |token| token.kind as usize)] += 1;
        }
        let step = 97 * (1 + bytes.len() / 100_000);
        for cut in (0..bytes.len()).step_by(step) {
            let (expected, end) = whole(&bytes[..cut]);
            let (meter, own) = meter(&bytes[..cut], 1448, Config::new());
            compare(&meter, &expected, &format!("{name} cut at {cut}"));
            assert_eq!(own, end, "{name} cut at {cut}");
        }
    }
    println!("with usage: {with_usage:?}; the first token: {kinds:?}");
    let four =
        [Protocol::Chat, Protocol::Responses, Protocol::Anthropic, Protocol::Gemini].map(|of| with_usage[of as usize]);
    assert!(four.into_iter().all(|recordings| recordings >= 10), "{four:?}");
    assert!([1, 2, 4].into_iter().all(|kind| kinds[kind] >= 10), "{kinds:?}");
}

/// Meters a stream of these payloads at every cut, compares each with a whole reading, and returns the meter of all.
fn metered(payloads: &[&str]) -> Meter {
    let stream: String = payloads.iter().map(|payload| format!("data: {payload}\n\n")).collect();
    for cut in 0..=stream.len() {
        let bytes = &stream.as_bytes()[..cut];
        let (expected, _) = whole(bytes);
        for size in [1, 1448] {
            compare(&meter(bytes, size, Config::new()).0, &expected, &format!("{stream} cut at {cut}"));
        }
    }
    meter(stream.as_bytes(), 7, Config::new()).0
}

#[test]
fn half_a_character_before_the_end_belongs_to_its_event() {
    let text = r#"{"choices":[{"delta":{"content":"\ud83d"}}]}"#;
    for payloads in [&[text, "[DONE]"][..], &[text]] {
        let meter = metered(payloads);
        let last = meter.last.unwrap();
        assert_eq!((meter.token_events, last.event, last.offset, meter.content.chars), (1, 1, 0, 1));
    }
}

#[test]
fn a_role_a_ping_an_empty_text_and_usage_are_no_tokens() {
    let meter = metered(&[
        r#"{"choices":[{"delta":{"role":"assistant","content":"","refusal":null,"tool_calls":[]}}]}"#,
        ": ping",
        r#"{"choices":[{"delta":{"audio":{"id":"a","data":"AA=="}}}]}"#,
        r#"{"choices":[],"usage":{"prompt_tokens":3}}"#,
        r#"{"choices":[{"delta":{"reasoning_content":"Hm"}}]}"#,
        r#"{"choices":[{"delta":{"content":"a\u00e9\ud83d"}}]}"#,
        r#"{"choices":[{"delta":{"content":"\ude00b"},"finish_reason":"stop"}]}"#,
        "[DONE]",
    ]);
    let (first, last) = (meter.first.unwrap(), meter.last.unwrap());
    assert_eq!((first.kind, first.event, last.kind, last.event), (TokenKind::Reasoning, 5, TokenKind::Content, 7));
    assert_eq!((meter.events, meter.token_events), (8, 3));
    assert_eq!((meter.content.chars, meter.content.bytes, meter.reasoning.chars), (4, 8, 2));
    assert_eq!(meter.finish_reason.as_str(), "stop");
}

#[test]
fn calls_are_counted_once_and_their_names_are_bounded() {
    let call = |index: u32, name: &str| {
        json!({"choices":[{"delta":{"tool_calls":[{"index":index,"id":format!("c{index}"),"function":{"name":name,"arguments":"{}"}}]}}]}).to_string()
    };
    let long = "é".repeat(40);
    let mut payloads: Vec<_> = (0..9).map(|index| call(index, if index == 3 { &long } else { "f" })).collect();
    payloads.push(r#"{"choices":[{"index":1,"delta":{"function_call":{"name":"g","arguments":"{\"a\""}}}]}"#.into());
    payloads.push(r#"{"choices":[{"index":1,"delta":{"function_call":{"arguments":":1}"}}}]}"#.into());
    let meter = metered(&payloads.iter().map(String::as_str).collect::<Vec<_>>());
    let names: Vec<_> = meter.call_names().map(|name| (name.as_str().len(), name.is_cut())).collect();
    assert_eq!((meter.calls, names.len(), names[0], names[3]), (10, 8, (1, false), (64, true)));
    assert_eq!((meter.arguments.bytes, meter.token_events), (9 * 2 + 7, 11));
    assert_eq!(meter.first.unwrap().kind, TokenKind::Call);

    // A name in pieces, and one that comes whole after a piece of it.
    let piece = |name: &str| {
        format!(r#"{{"choices":[{{"delta":{{"tool_calls":[{{"index":0,"function":{{"name":"{name}"}}}}]}}}}]}}"#)
    };
    for pieces in [["get_", "time"], ["get_", "get_time"]] {
        let meter = metered(&pieces.each_ref().map(|name| piece(name)).each_ref().map(String::as_str));
        assert_eq!(meter.call_names().map(ShortText::as_str).collect::<Vec<_>>(), ["get_time"]);
    }
}

#[test]
fn a_refusal_an_error_and_other_finish_reasons() {
    let meter = metered(&[
        r#"{"id":"","model":"","choices":[{"delta":{"refusal":"No"}}]}"#,
        r#"{"id":"c","model":"m\u00fc","choices":[{"delta":{},"finish_reason":"eos \u001b"}]}"#,
        r#"{"id":"d","model":"n","error":{"message":"slow down","type":"rate\nlimit","code":429}}"#,
        r#"{"error":{"message":"again","code":"other"}}"#,
    ]);
    assert_eq!((meter.first.unwrap().kind, meter.refusal.chars), (TokenKind::Refusal, 2));
    assert_eq!((meter.id.as_str(), meter.model.as_str(), meter.finish_reason.as_str()), ("c", "mü", "eos \u{1b}"));
    assert_eq!((meter.error.as_str(), meter.finish(0)), ("rate\nlimit", Some(FinishKind::Other)));
    for (error, word) in
        [(r#"{"message":"m","code":529}"#, "529"), (r#"{"message":"m"}"#, "error"), (r#""m""#, "error")]
    {
        assert_eq!(metered(&[&format!("{{\"error\":{error}}}")]).error.as_str(), word);
    }
    let (meter, _) = meter_of(b"event: error\ndata: Overloaded\n\n");
    assert_eq!((meter.error.as_str(), meter.events), ("error", 1));
}

fn meter_of(bytes: &[u8]) -> (Meter, End) {
    meter(bytes, bytes.len(), Config::new())
}

#[test]
fn iterations_are_summed_and_the_last_list_counts() {
    let delta = |iterations: &str| {
        format!(
            r#"{{"type":"message_delta","delta":{{"stop_reason":"end_turn"}},"usage":{{"input_tokens":5,"output_tokens":2,"iterations":{iterations}}}}}"#
        )
    };
    let start =
        r#"{"type":"message_start","message":{"id":"m","model":"c","usage":{"input_tokens":5,"output_tokens":1}}}"#;
    let message = r#"{"type":"message","input_tokens":5,"output_tokens":2,"cache_read_input_tokens":10}"#;
    let compaction = r#"{"type":"compaction","input_tokens":100,"output_tokens":20,"cache_creation_input_tokens":7}"#;
    let of = |meter: &Meter| (four(meter.usage), four(meter.iterations), four(meter.other_iterations));
    let both = metered(&[start, &delta(&format!("[{compaction},{message}]")), r#"{"type":"message_stop"}"#]);
    let usage = Some([5, 2, 0, 0]);
    assert_eq!(of(&both), (usage, Some([122, 22, 10, 7]), Some([107, 20, 0, 7])));
    let replaced = metered(&[start, &delta(&format!("[{compaction},{message}]")), &delta(&format!("[{message}]"))]);
    assert_eq!(of(&replaced), (usage, Some([15, 2, 10, 0]), None));
    for none in ["[]", "null", "7"] {
        assert_eq!(of(&metered(&[start, &delta(none)])), (usage, None, None), "{none}");
    }
    // What is no list replaces none.
    let kept = metered(&[start, &delta(&format!("[{message}]")), &delta("null")]);
    assert_eq!(of(&kept), (usage, Some([15, 2, 10, 0]), None));
}

#[test]
fn tool_usage_of_responses_is_kept_raw_and_bounded() {
    let completed = |used: &str| {
        let used = format!(
            r#"{{"type":"response.completed","response":{{"id":"r","status":"completed","tool_usage":{used},"usage":{{"input_tokens":1,"output_tokens":2,"total_tokens":3}}}}}}"#
        );
        metered(&[r#"{"type":"response.created","response":{"id":"r","model":"g","tool_usage":{"early":1}}}"#, &used])
    };
    let meter = completed(r#"{"web_search":{"num_requests":2}}"#);
    assert_eq!((meter.tool_usage.as_str(), meter.model.as_str()), (r#"{"web_search":{"num_requests":2}}"#, "g"));
    assert_eq!(meter.usage.unwrap().total_tokens(), Some(3));
    let long = completed(&json!({"a": "b".repeat(600)}).to_string());
    assert_eq!((long.tool_usage.as_str(), long.tool_usage.is_cut()), ("", true));
    assert!(completed("null").tool_usage.is_empty());
}

/// An event that cannot be read is one event, also if JSON came before the fault.
#[test]
fn events_that_cannot_be_read_count_once() {
    let meter = metered(&[
        r#"{"choices":[{"delta":{"content":"a"}}]}"#,
        r#"{"choices":[{"delta":{"content":"b"}}]} tail"#,
        "oops",
        r#"{"choices":[{"delta":{"content":"c"}}]}"#,
    ]);
    assert_eq!((meter.events, meter.token_events, meter.content.bytes), (4, 3, 3));
    let text = "x".repeat(400);
    let long = format!("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{text}\"}}}}]}}\n\ndata: [DONE]\n\n");
    for size in [1, 1448] {
        let (meter, end) = super::meter::meter(long.as_bytes(), size, limited(300));
        assert_eq!((meter.events, meter.token_events, end.too_long), (2, 0, 1));
    }
}

#[test]
fn a_body_is_one_event() {
    let body = json!({"id": "b", "model": "m", "object": "chat.completion", "usage": {"prompt_tokens": 1, "completion_tokens": 2},
        "choices": [{"index": 0, "finish_reason": "tool_calls", "message": {"role": "assistant", "content": "Grüße",
            "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}]}}]});
    let bytes = body.to_string().into_bytes();
    for size in [1, 7, bytes.len()] {
        let (meter, end) = meter(&bytes, size, Config::new());
        compare(&meter, &whole(&bytes).0, "a body");
        assert_eq!((meter.events, meter.token_events, meter.calls, meter.content.chars), (1, 1, 1, 5));
        assert!(end.is_complete() && meter.usage.is_some());
    }
}

/// A message that begins before the one before has ended replaces that one.
#[test]
fn a_meter_sees_that_a_message_is_replaced() {
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
        for size in [1, 100, stream.len()] {
            let (_, end) = meter(stream.as_bytes(), size, Config::new());
            let got = (end.verdict, end.replaced, end.is_complete());
            assert_eq!(got, (Verdict::Done, replaced, replaced == 0), "slices of {size}");
        }
    }
}
