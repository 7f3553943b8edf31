//! What events of Responses say.

use super::*;

#[test]
fn responses_report_each_part_once() {
    let event = |kind: &str, rest: Value| {
        let mut event = rest;
        event["type"] = json!(format!("response.{kind}"));
        event
    };
    let text = |kind: &str, item: u32, part: u32, name: &str, text: &str| {
        event(kind, json!({"output_index": item, "content_index": part, name: text}))
    };
    let message = |texts: &[&str]| {
        let part = |text: &&str| json!({"type": "output_text", "text": text, "annotations": []});
        json!({"type": "message", "role": "assistant", "content": texts.iter().map(part).collect::<Vec<_>>()})
    };
    let call = |id: &str, arguments: &str| json!({"type": "function_call", "call_id": id, "name": "f", "arguments": arguments});
    let reasoning = json!({"type": "reasoning", "summary": [{"type": "summary_text", "text": "S"}],
        "content": [{"type": "reasoning_text", "text": "R"}], "encrypted_content": "enc"});
    let search = json!({"type": "web_search_call", "status": "completed"});
    let custom = json!({"type": "custom_tool_call", "call_id": "c4", "name": "g", "input": "not json"});
    let output = [
        reasoning.clone(),
        message(&["A", "B"]),
        call("c1", "{\"a\":1}"),
        call("c2", "{}"),
        custom.clone(),
        search.clone(),
        message(&["C"]),
        json!({"type": "message", "role": "assistant", "content": [{"type": "refusal", "refusal": "no"}]}),
        call("c3", "{\"z\":0}"),
    ];
    let usage = json!({"input_tokens": 9, "input_tokens_details": {"cached_tokens": 4}, "output_tokens": 5,
        "output_tokens_details": {"reasoning_tokens": 2}, "total_tokens": 14});
    let events = [
        event("created", json!({"response": {"id": "r", "model": "m", "created_at": 1700000000, "usage": null}})),
        event("reasoning_summary_text.done", json!({"output_index": 0, "summary_index": 0, "text": "S"})),
        text("reasoning_text.delta", 0, 0, "delta", "R"),
        text("reasoning_text.done", 0, 0, "text", "R"),
        event("output_item.done", json!({"output_index": 0, "item": reasoning})),
        event("output_item.added", json!({"output_index": 1, "item": message(&[])})),
        text("output_text.delta", 1, 0, "delta", "A"),
        text("output_text.done", 1, 0, "text", "A"),
        event(
            "content_part.done",
            json!({"output_index": 1, "content_index": 0,
            "part": {"type": "output_text", "text": "A"}}),
        ),
        event(
            "content_part.done",
            json!({"output_index": 1, "content_index": 1,
            "part": {"type": "output_text", "text": "B"}}),
        ),
        event("output_item.done", json!({"output_index": 1, "item": message(&["A", "B"])})),
        event("output_item.added", json!({"output_index": 2, "item": call("c1", "")})),
        event("function_call_arguments.delta", json!({"output_index": 2, "delta": "{\"a\""})),
        event("function_call_arguments.delta", json!({"output_index": 2, "delta": ":1}"})),
        event("function_call_arguments.done", json!({"output_index": 2, "arguments": "{\"a\":1}"})),
        event("output_item.done", json!({"output_index": 2, "item": call("c1", "{\"a\":1}")})),
        event("output_item.added", json!({"output_index": 3, "item": call("c2", "")})),
        event("function_call_arguments.done", json!({"output_index": 3, "arguments": "{}"})),
        event(
            "output_item.added",
            json!({"output_index": 4, "item": {"type": "custom_tool_call", "call_id": "c4",
            "name": "g", "input": ""}}),
        ),
        event("custom_tool_call_input.delta", json!({"output_index": 4, "delta": "not json"})),
        event("output_item.done", json!({"output_index": 4, "item": custom})),
        event("output_item.done", json!({"output_index": 5, "item": search})),
        json!({"type": "keepalive", "sequence_number": 9}),
        event("output_text.annotation.added", json!({"output_index": 1, "annotation": {"url": "u"}})),
        event(
            "completed",
            json!({"response": {"id": "r", "model": "m", "status": "completed", "error": null,
            "usage": usage, "incomplete_details": null, "output": output}}),
        ),
        event("completed", json!({"response": {"status": "completed", "output": output}})),
    ];
    for stream in [named(&events), unnamed(&events), by_name(&events)] {
        let Read { message, end, quirks } = read(&stream, "responses");
        assert_eq!((end.verdict, end.protocol, quirks), (Verdict::Done, Some(Protocol::Responses), Vec::new()));
        let function = |id: &str, arguments: &str| json!({"id": id, "type": "function", "function": {"name": "f", "arguments": arguments}});
        let expected = json!({
            "id": "r", "object": "chat.completion", "created": 1700000000, "model": "m",
            "choices": [{
                "index": 0,
                "message": {
                    "role": "assistant", "content": "ABC", "refusal": "no", "reasoning_content": "SR",
                    "tool_calls": [
                        function("c1", "{\"a\":1}"), function("c2", "{}"),
                        {"id": "c4", "type": "custom", "custom": {"name": "g", "input": "not json"}},
                        function("c3", "{\"z\":0}"),
                    ],
                    "annotations": [{"url": "u"}], "signatures": ["enc"], "native_content": [search],
                },
                "finish_reason": "tool_calls", "native_finish_reason": "completed",
            }],
            "usage": {"prompt_tokens": 9, "completion_tokens": 5, "total_tokens": 14,
                "prompt_tokens_details": {"cached_tokens": 4}, "completion_tokens_details": {"reasoning_tokens": 2}},
            "native_usage": usage,
        });
        assert_eq!(message, expected);
    }
    // All of it in the event that ends the response, and as a body.
    let response = json!({"id": "r", "object": "response", "model": "m", "status": "incomplete", "output": output,
        "incomplete_details": {"reason": "max_output_tokens"}, "usage": usage});
    let last = unnamed(&[event("incomplete", json!({"response": response}))]);
    for stream in [last, response.to_string().into_bytes()] {
        let Read { message, end, .. } = read(&stream, "responses, whole");
        assert_eq!((end.verdict, end.choices_finished), (Verdict::Done, 1));
        let choice = &message["choices"][0];
        assert_eq!(
            (&choice["message"]["content"], &choice["message"]["reasoning_content"]),
            (&json!("ABC"), &json!("SR"))
        );
        assert_eq!(choice["message"]["tool_calls"].as_array().unwrap().len(), 4);
        assert_eq!(choice["message"]["signatures"], json!(["enc"]));
        assert_eq!(
            (&choice["finish_reason"], &choice["native_finish_reason"]),
            (&json!("length"), &json!("incomplete"))
        );
        let details = message.get("incomplete_details").or(choice.get("incomplete_details"));
        assert_eq!(details, Some(&json!({"reason": "max_output_tokens"})));
    }
}

/// `starting_after`: a stream that begins behind some of its events.
#[test]
fn a_resumed_response_reports_what_is_left() {
    let text = |name: &str, text: &str| {
        let kind = format!("response.output_text.{}", if name == "text" { "done" } else { "delta" });
        json!({"type": kind, "output_index": 0, "content_index": 0, "item_id": "m", name: text})
    };
    let arguments = |name: &str, text: &str| {
        let kind = format!("response.function_call_arguments.{}", if name == "delta" { "delta" } else { "done" });
        json!({"type": kind, "output_index": 1, "item_id": "f", name: text})
    };
    let message =
        json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Hello"}]});
    let call = json!({"type": "function_call", "call_id": "c", "name": "f", "arguments": "{\"a\":1}"});
    let added = json!({"type": "function_call", "call_id": "c", "name": "f", "arguments": ""});
    let usage = json!({"input_tokens": 3, "output_tokens": 4, "total_tokens": 7});
    let events = [
        text("delta", "Hel"),
        text("delta", "lo"),
        text("text", "Hello"),
        json!({"type": "response.output_item.done", "output_index": 0, "item": message}),
        json!({"type": "response.output_item.added", "output_index": 1, "item": added}),
        arguments("delta", "{\"a\""),
        arguments("delta", ":1}"),
        arguments("arguments", "{\"a\":1}"),
        json!({"type": "response.output_item.done", "output_index": 1, "item": call}),
        json!({"type": "response.completed", "response": {"id": "r", "model": "m", "status": "completed",
            "output": [message, call], "usage": usage}}),
    ];
    let whole = json!({"content": "Hello", "arguments": "{\"a\":1}"});
    for (from, content, called) in [
        (0, "Hello", "{\"a\":1}"),
        // In the middle of a text: what follows. In the middle of arguments, whose call is not known then: all of them at its end.
        (1, "lo", "{\"a\":1}"),
        (6, "Hello", "{\"a\":1}"),
        // No delta of the text is left: all of it comes from where it is whole.
        (2, "Hello", "{\"a\":1}"),
        (3, "Hello", "{\"a\":1}"),
        (7, "Hello", "{\"a\":1}"),
        (9, "Hello", "{\"a\":1}"),
    ] {
        let rest = &events[from..];
        for stream in [named(rest), unnamed(rest), by_name(rest)] {
            let Read { message, end, .. } = read(&stream, "resumed");
            let choice = &message["choices"][0];
            let call = &choice["message"]["tool_calls"][0];
            let read = json!({"content": choice["message"]["content"], "arguments": call["function"]["arguments"]});
            let expected = json!({"content": content, "arguments": called});
            assert!(read == expected && (from > 0 || read == whole), "from event {from}: {message:#}");
            assert_eq!((&call["id"], &call["function"]["name"]), (&json!("c"), &json!("f")), "from event {from}");
            assert_eq!((end.verdict, end.is_complete()), (Verdict::Done, true), "from event {from}");
            assert_eq!((&message["native_usage"], &message["id"]), (&usage, &json!("r")), "from event {from}");
            assert_eq!(choice["finish_reason"], "tool_calls", "from event {from}");
        }
    }
}

/// A gateway that runs the tools itself sends the response after them in the same stream. Its items are numbered anew.
#[test]
fn several_responses_in_one_stream() {
    let item = |call: &str| json!({"type": "function_call", "call_id": call, "name": "f", "arguments": ""});
    let with = |mut item: Value, arguments: &str| {
        item["arguments"] = json!(arguments);
        item
    };
    let message =
        json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Done."}]});
    let created =
        |id: &str| json!({"type": "response.created", "response": {"id": id, "model": "m", "status": "in_progress"}});
    let completed = |id: &str, output: &[Value]| {
        json!({"type": "response.completed", "response": {"id": id, "status": "completed", "output": output,
            "usage": {"input_tokens": 3, "output_tokens": 4, "total_tokens": 7}}})
    };
    let called = |id: &str, call: &str, index: u32, pieces: [&str; 2]| {
        let arguments = |piece: &str| json!({"type": "response.function_call_arguments.delta", "output_index": index, "delta": piece});
        let whole = with(item(call), &pieces.concat());
        [
            created(id),
            json!({"type": "response.output_item.added", "output_index": index, "item": item(call)}),
            arguments(pieces[0]),
            arguments(pieces[1]),
            json!({"type": "response.output_item.done", "output_index": index, "item": whole}),
            completed(id, &[vec![json!({"type": "reasoning", "summary": []}); index as usize], vec![whole]].concat()),
        ]
    };
    let mut events = Vec::from(called("r1", "c1", 1, ["{\"a\":", "12}"]));
    events.extend(called("r2", "c2", 0, ["{\"a\":", "57}"]));
    events.extend([
        created("r3"),
        json!({"type": "response.output_text.done", "output_index": 0, "content_index": 0, "text": "Done."}),
        json!({"type": "response.output_item.done", "output_index": 0, "item": message}),
    ]);
    for is_cut in [true, false] {
        if !is_cut {
            events.push(completed("r3", std::slice::from_ref(&message)));
        }
        for stream in [named(&events), unnamed(&events), by_name(&events)] {
            let Read { message, end, .. } = read(&stream, "several responses");
            let choice = &message["choices"][0];
            let calls = choice["message"]["tool_calls"].as_array().unwrap();
            let calls: Vec<_> = calls.iter().map(|call| (&call["id"], &call["function"]["arguments"])).collect();
            let expected =
                [("c1", "{\"a\":12}"), ("c2", "{\"a\":57}")].map(|(id, arguments)| (json!(id), json!(arguments)));
            assert_eq!(calls, expected.iter().map(|(id, arguments)| (id, arguments)).collect::<Vec<_>>());
            assert_eq!(choice["message"]["content"], "Done.");
            let verdict = if is_cut { Verdict::Truncated } else { Verdict::Done };
            assert_eq!((end.verdict, end.is_complete()), (verdict, !is_cut));
            assert_eq!(choice["finish_reason"], if is_cut { "tool_calls" } else { "stop" });
        }
    }
}

/// Its calls are its own, whatever their IDs are, and so is its error.
#[test]
fn a_second_response_has_calls_and_an_error_of_its_own() {
    for (first, second) in [(json!("c"), json!("c")), (json!("c"), Value::Null), (Value::Null, json!("c"))] {
        let events = [(&first, 1), (&second, 2)].map(|(id, number)| {
            let item = json!({"type": "function_call", "call_id": id, "name": "f", "arguments": ""});
            let error = json!({"code": "c", "message": format!("m{number}")});
            [
                json!({"type": "response.created", "response": {"id": "r"}}),
                json!({"type": "response.output_item.added", "output_index": 0, "item": item}),
                json!({"type": "response.function_call_arguments.done", "output_index": 0, "arguments": number.to_string()}),
                json!({"type": "response.failed", "response": {"status": "failed", "error": error}}),
            ]
        });
        let stream = named(&events.concat());
        let Read { message, quirks, .. } = read(&stream, "two responses");
        let calls = message["choices"][0]["message"]["tool_calls"].as_array().unwrap();
        let read: Vec<_> = calls.iter().map(|call| (call["id"].clone(), &call["function"]["arguments"])).collect();
        assert_eq!(read, [(first.clone(), &json!("1")), (second.clone(), &json!("2"))]);
        assert_eq!(quirks, []);
        let mut errors = 0;
        let mut count = deltawire::handler::from_fn(|_, update| {
            errors += u32::from(matches!(update, Update::Error(_)));
            Flow::Continue(())
        });
        Parser::new(Growing::new()).feed(&stream, &mut count).into_result().unwrap();
        assert_eq!(errors, 2);
    }
}

#[test]
fn an_error_of_responses_is_reported_once() {
    let error = json!({"code": "server_error", "message": "oops"});
    let flat = json!({"type": "error", "code": "server_error", "message": "oops", "param": null});
    let failed = json!({"type": "response.failed", "response": {"id": "r", "status": "failed", "error": error}});
    let created = json!({"type": "response.created", "response": {"id": "r"}});
    for (events, expected) in [
        (vec![created.clone(), failed.clone()], error.clone()),
        (vec![created.clone(), flat.clone(), failed.clone()], flat.clone()),
        (vec![created, flat.clone()], flat),
    ] {
        let stream = named(&events);
        let Read { message, end, .. } = read(&stream, "failed");
        assert_eq!((end.verdict, &message["error"]), (Verdict::ApiError, &expected));
        let mut parser = Parser::new([0; 4096]);
        struct Count(u32);
        impl deltawire::Handler for Count {
            fn update(&mut self, _: u32, update: deltawire::Update<'_>) -> deltawire::Flow {
                self.0 += u32::from(matches!(update, deltawire::Update::Error(_)));
                deltawire::Flow::Continue(())
            }
        }
        let mut count = Count(0);
        assert_eq!(parser.feed(&stream, &mut count).stop, None);
        assert_eq!(count.0, 1, "{events:?}");
    }
}

/// What a response ended with is its status, or else in the type of its last event.
#[test]
fn the_last_event_of_responses_has_the_finish_reason() {
    let text = json!({"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "delta": "x"});
    for (word, finish, verdict) in [
        ("completed", "stop", Verdict::Done),
        ("done", "done", Verdict::Done),
        ("incomplete", "incomplete", Verdict::Done),
        ("failed", "error", Verdict::ApiError),
    ] {
        for last in
            [json!({"response": {"id": "r", "output": []}}), json!({"response": {}}), json!({"sequence_number": 3})]
        {
            let mut last = last;
            last["type"] = json!(format!("response.{word}"));
            let events = [text.clone(), last];
            for stream in [named(&events), unnamed(&events)] {
                let Read { message, end, .. } = read(&stream, "without a status");
                let choice = &message["choices"][0];
                assert_eq!(
                    (end.verdict, &choice["message"]),
                    (verdict, &json!({"role": "assistant", "content": "x"})),
                    "{word}"
                );
                assert_eq!((&choice["finish_reason"], &choice["native_finish_reason"]), (&json!(finish), &json!(word)));
            }
        }
    }
}

/// Annotations and what is encrypted come with an item that is reported whole, once.
#[test]
fn an_item_that_is_reported_whole_has_its_annotations() {
    let part = |text: &str| json!({"type": "output_text", "text": text, "annotations": [{"url": text}, {"n": 2}]});
    let message = json!({"type": "message", "role": "assistant", "content": [part("A"), part("B")]});
    let reasoning = json!({"type": "reasoning", "summary": [], "encrypted_content": "enc"});
    let delta = json!({"type": "response.output_text.delta", "output_index": 1, "content_index": 0, "delta": "A"});
    let delta_b = json!({"type": "response.output_text.delta", "output_index": 1, "content_index": 1, "delta": "B"});
    let done =
        |index: u32, item: &Value| json!({"type": "response.output_item.done", "output_index": index, "item": item});
    let response = json!({"object": "response", "status": "completed", "output": [reasoning, message]});
    let last = json!({"type": "response.completed", "response": response});
    let all = json!([{"url": "A"}, {"n": 2}, {"url": "B"}, {"n": 2}]);
    let added =
        json!({"type": "response.output_text.annotation.added", "output_index": 1, "annotation": {"url": "own"}});
    let (own, behind) = (json!([{"url": "own"}]), json!([{"url": "own"}, {"url": "B"}, {"n": 2}]));
    for (stream, annotations) in [
        (response.to_string().into_bytes(), &all),
        (unnamed(std::slice::from_ref(&last)), &all),
        (unnamed(&[done(0, &reasoning), done(1, &message), last.clone()]), &all),
        (unnamed(&[done(0, &reasoning), delta.clone(), last.clone()]), &all),
        // An annotation that has an event of its own is not reported again; those of a part that no event had are reported.
        (unnamed(&[done(0, &reasoning), delta.clone(), added.clone(), last.clone()]), &behind),
        (unnamed(&[delta, delta_b, added, done(1, &message), last]), &own),
    ] {
        let Read { message, end, .. } = read(&stream, "annotations");
        let own = &message["choices"][0]["message"];
        assert_eq!((end.verdict, &own["content"]), (Verdict::Done, &json!("AB")));
        assert_eq!((&own["annotations"], &own["signatures"]), (annotations, &json!(["enc"])));
    }
}

/// No vendor's member takes the place of one that the message has of its own.
#[test]
fn members_of_a_vendor_replace_none_of_the_message() {
    const TOP: [&str; 4] = ["object", "native_usage", "system_fingerprint", "service_tier"];
    const OF_CHOICE: [&str; 4] = ["message", "finish_reason", "native_finish_reason", "logprobs"];
    let with_own = |mut value: Value, names: &[&str]| {
        names.iter().for_each(|name| value[*name] = json!({"forged": true}));
        value["kept"] = json!(1);
        value
    };
    let candidate = with_own(json!({"content": {"parts": [{"text": "x"}]}, "finishReason": "STOP"}), &OF_CHOICE);
    let gemini = with_own(with_own(json!({"candidates": [candidate]}), &TOP), &["id", "created", "model", "usage"]);
    let stop = json!({"type": "message_delta", "delta": with_own(json!({"stop_reason": "end_turn"}), &OF_CHOICE)});
    let block = json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "x"}});
    let anthropic = [block, with_own(with_own(stop, &TOP), &["stop_reason", "sequence_number"])];
    for stream in [unnamed(&[gemini]), unnamed(&anthropic)] {
        let Read { message, .. } = read(&stream, "vendor's members");
        let text = message.to_string();
        assert!(!text.contains("forged"), "{text}");
        let choice = &message["choices"][0];
        assert_eq!(
            (&choice["message"], &choice["finish_reason"]),
            (&json!({"role": "assistant", "content": "x"}), &json!("stop"))
        );
        assert_eq!((&choice["kept"], &message["kept"]), (&json!(1), &json!(1)));
    }
}

/// What an error in a stream says stands under `error` alone.
#[test]
fn members_of_an_error_are_not_those_of_the_message() {
    let start = json!({"type": "message_start", "message": {"id": "m", "content": []}});
    let overloaded = json!({"type": "overloaded_error", "message": "o"});
    let anthropic = [start, json!({"type": "error", "error": overloaded, "request_id": "req"})];
    let message = read(&named(&anthropic), "an error of Anthropic").message;
    let names = |message: &Value| message.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!((&message["error"], &message["request_id"]), (&overloaded, &json!("req")));
    assert_eq!(names(&message), ["choices", "error", "id", "object", "request_id"]);
    let flat = json!({"type": "error", "code": "c", "message": "m", "param": null, "sequence_number": 3});
    let responses = [json!({"type": "response.created", "response": {"id": "r"}}), flat.clone()];
    let message = read(&named(&responses), "an error of Responses").message;
    assert_eq!(
        (names(&message), &message["error"]),
        (["choices", "error", "id", "object"].map(str::to_string).to_vec(), &flat)
    );
}

/// A whole JSON value of a protocol that is no answer yet, or none at all.
#[test]
fn not_every_value_of_a_protocol_is_an_answer() {
    for (body, verdict) in [
        (json!({"candidates": []}), Verdict::JsonAnswer),
        (json!({"candidates": null, "promptFeedback": {}}), Verdict::JsonAnswer),
        (json!({"candidates": [{"content": {"parts": [{"text": "x"}]}}]}), Verdict::Body),
        (json!({"promptFeedback": {"blockReason": "OTHER"}}), Verdict::Finished),
        (json!({"object": "response", "status": "queued", "output": []}), Verdict::JsonAnswer),
        (json!({"object": "response", "status": "in_progress", "output": []}), Verdict::JsonAnswer),
        (json!({"object": "response", "status": "completed", "output": []}), Verdict::Done),
    ] {
        let read = pull(body.to_string().as_bytes(), &[1], None);
        assert_eq!(read.end.verdict, verdict, "{body}");
        assert_eq!(read.end.is_complete(), verdict != Verdict::JsonAnswer);
        // Where chunks alone are read.
        let read = pull(body.to_string().as_bytes(), &[1], Some(Protocol::Chat));
        assert_eq!((read.end.verdict, read.end.is_complete()), (Verdict::OtherProtocol, false), "{body}");
    }
}

/// The input of a custom tool is no JSON, so nothing in it is behind the end of a value.
#[test]
fn input_of_a_custom_tool_is_a_text_wherever_it_comes() {
    let custom = |input: &str| json!({"type": "custom_tool_call", "call_id": "c", "name": "f", "input": input});
    let added = json!({"type": "response.output_item.added", "output_index": 0, "item": custom("")});
    for last in [
        json!({"type": "response.custom_tool_call_input.delta", "output_index": 0, "delta": "{} x"}),
        json!({"type": "response.custom_tool_call_input.done", "output_index": 0, "input": "{} x"}),
        json!({"type": "response.output_item.done", "output_index": 0, "item": custom("{} x")}),
        json!({"type": "response.completed", "response": {"status": "completed", "output": [custom("{} x")]}}),
    ] {
        let read = read(&named(&[added.clone(), last.clone()]), &last.to_string());
        let call = &read.message["choices"][0]["message"]["tool_calls"][0];
        assert_eq!((&call["type"], &call["custom"]["input"]), (&json!("custom"), &json!("{} x")), "{last}");
        assert!(!read.quirks.contains(&Quirk::ArgumentsAfterEnd), "{last}");
    }
}

/// Pieces of what a tool of the server does come as they are, and a message has the item alone.
#[test]
fn pieces_of_tools_of_the_server_are_native() {
    let piece = json!({"type": "response.mcp_call_arguments.delta", "output_index": 1, "item_id": "m", "delta": "{"});
    let unknown = json!({"type": "response.new.delta", "output_index": 2, "delta": "x"});
    let item = json!({"type": "mcp_call", "id": "m", "arguments": "{}"});
    let events = [
        piece.clone(),
        json!({"type": "response.output_item.done", "output_index": 1, "item": item}),
        unknown.clone(),
        json!({"type": "response.completed", "response": {"status": "completed", "output": [item],
            "tool_usage": {"web_search": {"num_requests": 1}}, "moderation": {"flagged": false}, "completed_at": 7,
            "instructions": "be brief"}}),
    ];
    let stream = named(&events);
    let lines = crate::common::naive_native::lines::<2>(Config::default(), &stream, &[], 64);
    let native: Vec<_> = lines.iter().filter(|line| line.starts_with("Native")).collect();
    let expected =
        [(1u64, &piece), (1, &item), (2, &unknown)].map(|(at, value)| format!("Native 0 {:x} {value}", at << 32));
    assert_eq!(native, expected.iter().collect::<Vec<_>>());
    let read = read(&stream, "pieces");
    let choice = &read.message["choices"][0];
    assert_eq!(choice["message"]["native_content"], json!([item, unknown]));
    assert_eq!(
        (&choice["tool_usage"], &choice["completed_at"]),
        (&json!({"web_search": {"num_requests": 1}}), &json!(7))
    );
    assert_eq!((&choice["moderation"], choice.get("instructions")), (&json!({"flagged": false}), None));
    assert_eq!(read.quirks, [Quirk::UnknownText]);
}

/// Only a text of the message that differs from its deltas makes the response incomplete.
#[test]
fn a_text_that_differs_is_not_complete() {
    let delta =
        |kind: &str, text: &str| json!({"type": format!("response.{kind}.delta"), "output_index": 0, "delta": text});
    let done =
        |kind: &str, text: &str| json!({"type": format!("response.{kind}.done"), "output_index": 0, "text": text});
    let end = json!({"type": "response.completed", "response": {"status": "completed"}});
    for (kind, before, after, is_flagged, is_complete) in [
        ("output_text", "Hi", "Ho", true, false),
        ("output_text", "Hi", "Hi!", false, true),
        ("output_text", "Hi", "Oh Hi", true, true),
        ("output_text", "Hi", "", false, true),
        ("reasoning_text", "Hi", "Ho", true, true),
    ] {
        let read = read(&named(&[delta(kind, before), done(kind, after), end.clone()]), after);
        assert_eq!(read.end.is_complete(), is_complete, "{kind} {after}");
        assert_eq!(read.quirks.contains(&Quirk::ChangedText), is_flagged, "{kind} {after}");
    }
}

/// Log probabilities come with the text that they are of, once: those of a whole text only if its deltas had none.
#[test]
fn log_probabilities_are_those_of_the_deltas_or_of_the_whole_text() {
    let token = |text: &str| json!([{"token": text, "logprob": -0.5, "bytes": [97], "top_logprobs": []}]);
    let event = |kind: &str, name: &str, text: &str, logprobs: Value| {
        json!({"type": format!("response.output_text.{kind}"), "output_index": 0, "content_index": 0, name: text,
            "logprobs": logprobs})
    };
    let delta = |text: &str, logprobs: Value| event("delta", "delta", text, logprobs);
    let done = |text: &str, logprobs: Value| event("done", "text", text, logprobs);
    let end = |logprobs: Value| {
        let part = json!({"type": "output_text", "text": "ab", "logprobs": logprobs});
        let item = json!({"type": "message", "content": [part]});
        json!({"type": "response.completed", "response": {"status": "completed", "output": [item]}})
    };
    let (a, b, both) = (token("a"), token("b"), json!([token("a")[0], token("b")[0]]));
    for (events, expected) in [
        (vec![delta("a", a.clone()), delta("b", b.clone()), done("ab", both.clone()), end(both.clone())], vec![&a, &b]),
        (vec![delta("a", a.clone()), delta("", b.clone()), delta("b", json!([])), end(json!([]))], vec![&a, &b]),
        (
            vec![delta("a", json!([])), delta("b", Value::Null), done("ab", both.clone()), end(both.clone())],
            vec![&both],
        ),
        (vec![done("ab", both.clone()), end(both.clone())], vec![&both]),
        (vec![delta("a", json!([])), done("ab", both.clone()), end(both.clone())], vec![&both]),
        (vec![end(both.clone())], vec![&both]),
    ] {
        let stream = named(&events);
        let lines = crate::common::naive_native::lines::<2>(Config::default(), &stream, &[], 64);
        let logprobs: Vec<_> = lines.iter().filter_map(|line| line.strip_prefix("Logprobs 0 ")).collect();
        assert_eq!(logprobs, expected.iter().map(|list| list.to_string()).collect::<Vec<_>>(), "{events:?}");
        let choice = &read(&stream, "logprobs").message["choices"][0];
        assert_eq!(choice["message"]["content"], "ab", "{events:?}");
        assert_eq!(choice["logprobs"]["content"], both, "{events:?}");
    }
    let silent = [delta("ab", json!([])), end(json!([]))];
    assert_eq!(read(&named(&silent), "no logprobs").message["choices"][0].get("logprobs"), None);
}

/// Audio and its transcript are those of chat completions in the message.
#[test]
fn audio_and_its_transcript_are_in_the_message() {
    let delta =
        |kind: &str, text: &str| json!({"type": format!("response.{kind}.delta"), "delta": text, "response_id": "r"});
    for (audio, transcript) in
        [("audio", "audio.transcript"), ("audio", "audio_transcript"), ("output_audio", "output_audio_transcript")]
    {
        let events = [
            delta(audio, "AAAA"),
            delta(transcript, "Hi \u{1f600}"),
            delta(audio, "BBBB"),
            json!({"type": format!("response.{audio}.done")}),
            delta(transcript, "!"),
            json!({"type": format!("response.{transcript}.done"), "transcript": "Hi \u{1f600}!"}),
            json!({"type": "response.completed", "response": {"status": "completed", "output": []}}),
        ];
        let stream = named(&events);
        let lines = crate::common::naive_native::lines::<2>(Config::default(), &stream, &[], 64);
        assert!(!lines.iter().any(|line| line.starts_with("Native")), "{lines:?}");
        assert_eq!(lines.iter().filter(|line| line.starts_with("Audio")).count(), 4);
        let Read { message, quirks, end, .. } = read(&stream, audio);
        let own = &message["choices"][0]["message"]["audio"];
        assert_eq!(
            (&own["transcript"], &own["data"]),
            (&json!("Hi \u{1f600}!"), &json!(["AAAA", "BBBB"])),
            "{message}"
        );
        assert!(quirks.is_empty() && end.is_complete(), "{quirks:?}");
    }
}
