//! Tests what counts towards the length of a message, and what the message leaves out over a limit.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

extern crate std;
use super::tests::fed;
use super::{Assembler, Completion, Detail, Failure, LogError, MessageLog};
use crate::{Handler, Limits};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Returns how many bytes the log counts as in use.
fn used(assembler: &Assembler) -> usize {
    assembler.kept.log.first().map_or(0, |log| log.state.live)
}

/// Returns how many bytes are in use, counted in the message: all texts and raw JSON.
fn kept(assembler: &Assembler) -> usize {
    let message = assembler.message().unwrap();
    let len = |text: &Option<String>| text.as_ref().map_or(0, String::len);
    let failure = |error: &Option<Failure>| match error {
        None => 0,
        Some(Failure::Json(value)) => value.as_bytes().len(),
        Some(Failure::Text(text)) => text.len(),
    };
    let items = |list: &super::RawJson| list.value().elements().map(|item| item.unwrap().raw().len()).sum::<usize>();
    let list = |list: &Option<super::RawJson>| list.as_ref().map_or(0, items);
    let texts = [&message.id, &message.object, &message.model, &message.system_fingerprint, &message.service_tier];
    let mut sum: usize = texts.into_iter().map(len).sum();
    sum += len(&message.provider) + failure(&message.error);
    sum += message.usage.as_ref().map_or(0, |usage| usage.as_bytes().len());
    for choice in &message.choices {
        // A role that was never sent is `assistant`, without a record.
        let role = choice.role.clone().filter(|role| role != "assistant");
        let texts = [&role, &choice.content, &choice.refusal, &choice.reasoning, &choice.finish_reason];
        sum += texts.into_iter().map(len).sum::<usize>() + len(&choice.native_finish_reason) + failure(&choice.error);
        sum += len(&choice.reasoning_name);
        sum += list(&choice.annotations);
        if let Some(call) = &choice.function_call {
            sum += len(&call.name) + len(&call.arguments);
        }
        for call in &choice.tool_calls {
            sum += len(&call.id) + len(&call.kind) + len(&call.name) + len(&call.arguments);
        }
        if let Some(audio) = &choice.audio {
            sum += len(&audio.id) + list(&audio.data) + len(&audio.transcript);
        }
        if let Some(lists) = &choice.logprobs {
            let lists = [&lists.content, &lists.refusal, &lists.tokens, &lists.token_logprobs, &lists.top_logprobs];
            sum += lists.into_iter().map(list).sum::<usize>();
        }
    }
    sum
}

#[test]
fn the_length_counts_texts_and_raw_json() {
    let members = [
        r#""content":"content""#,
        r#""reasoning":"reasoning""#,
        r#""refusal":"refusal""#,
        r#""function_call":{"name":"fun","arguments":"args"}"#,
        r#""function_call":{"arguments":"args"}"#,
        r#""audio":{"id":"i","data":"QQ==","transcript":"trans"}"#,
        r#""tool_calls":[{"id":"call","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"b"}]"#,
        r#""role":"r""#,
        r#""annotations":[1,{"a":2}]"#,
    ];
    for (at, one) in members.iter().enumerate() {
        for other in members.iter().skip(at) {
            let first = format!(r#"{{"choices":[{{"index":0,"message":{{{one},{other}}}}}]}}"#);
            let second = format!(r#"{{"choices":[{{"index":0,"message":{{{other}}}}}]}}"#);
            let delta = r#"{"choices":[{"index":0,"delta":{"content":"x"}}]}"#;
            for payloads in [&[&first[..]][..], &[&first, &second], &[&second, &first], &[&first, delta]] {
                let (assembler, errors) = fed(Assembler::new(), payloads);
                assert_eq!(errors, []);
                assert_eq!(used(&assembler), kept(&assembler), "{payloads:?}");
            }
        }
    }
}

#[test]
fn a_message_over_the_limit_has_no_gap() {
    let limits = Limits { max_message_len: 10, ..Limits::DEFAULT };
    let (assembler, errors) = fed(
        Assembler::with_limits(limits),
        &[
            r#"{"choices":[{"index":0,"message":{"content":"12345678"}}]}"#,
            r#"{"choices":[{"index":0,"message":{"content":"123456789012"}}]}"#,
            r#"{"choices":[{"index":0,"message":{"content":"1234567890123"}}]}"#,
            r#"{"choices":[],"usage":{"a":12345}}"#,
        ],
    );
    assert_eq!(errors, [LogError::TooLong; 3]);
    assert_eq!(assembler.message().unwrap().choices[0].content.as_deref(), Some("12345678"));
    assert_eq!(assembler.message().unwrap().usage, None);
    assert_eq!(used(&assembler), 8);
}

#[test]
fn the_length_is_exact_at_every_limit() {
    let payloads = [
        r#"{"id":"i1","model":"m","choices":[{"index":0,"message":{"role":"r","content":"abc","annotations":[1,2]}}]}"#,
        r#"{"choices":[{"index":0,"message":{"content":"abcdef","tool_calls":[{"id":"x","function":{"name":"f"}}]}}]}"#,
        r#"{"choices":[{"index":0,"message":{"content":"ab","audio":{"data":"d","transcript":"t"},"annotations":[3]}}]}"#,
        r#"{"choices":[{"index":0,"delta":{"content":"12","annotations":[{"a":1}]},"logprobs":{"content":[{},{}]}}]}"#,
        r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"y","function":{"name":"g","arguments":"{}"}}]}}]}"#,
        r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"name":"gh","arguments":"{}"}}]}}]}"#,
        r#"{"choices":[{"index":1,"delta":{"reasoning":"\ud83d"},"finish_reason":"stop","native_finish_reason":"n"}]}"#,
        r#"{"choices":[{"index":1,"delta":{"function_call":{"name":"f","arguments":"1"}},"finish_reason":"length"}]}"#,
        r#"{"choices":[],"usage":{"total_tokens":1}}"#,
        r#"{"choices":[],"usage":{"total_tokens":1234},"error":{"message":"x"}}"#,
    ];
    for max_message_len in 0..200 {
        let limits = Limits { max_message_len, ..Limits::DEFAULT };
        let (assembler, errors) = fed(Assembler::with_limits(limits), &payloads);
        assert_eq!(kept(&assembler), used(&assembler), "limit {max_message_len}");
        let message = assembler.message().unwrap();
        for choice in &message.choices {
            assert!(
                choice.content.as_deref().is_none_or(|text| "abcdef12".starts_with(text)),
                "{choice:?} {max_message_len}"
            );
        }
        if max_message_len >= 120 {
            assert_eq!(errors, []);
        }
    }
}

/// Whether a member fits under the limit does not depend on when the buffer grows.
#[test]
fn members_near_the_limit_do_not_depend_on_the_buffer() {
    let payloads = [
        r#"{"choices":[],"a":"0123456789012345678901234567890123456789"}"#,
        // The chunk has a member twice, the second time as the log has it.
        r#"{"choices":[],"b":"01234567890123456789","a":0,"a":"0123456789012345678901234567890123456789"}"#,
        r#"{"choices":[],"b":"01234567890123456789","a":0,"c":"x"}"#,
        r#"{"choices":[{"delta":{"reasoning_details":[{"text":"0123"}]}}],"b":"0123456789012345678901234","c":1}"#,
    ];
    let message = |limit: usize, room: usize| {
        let (mut log, mut buffer): (MessageLog, _) = (MessageLog::with_limit(limit), alloc::vec![0; room]);
        let mut index = crate::chat::Index::new();
        let mut errors = Vec::new();
        for payload in payloads {
            let chunk = crate::chat::Chunk::read(payload.as_bytes(), &mut index).unwrap();
            let error = loop {
                match log.chunk(&mut buffer, &chunk) {
                    Err(LogError::NeedStorage { need }) => buffer.resize(need, 0),
                    done => break done.err(),
                }
            };
            errors.push(error);
        }
        let mut json = alloc::vec![0; 4096];
        let len = log.json(&buffer, Detail::Extended, &mut json);
        (String::from(core::str::from_utf8(&json[..len]).unwrap()), errors)
    };
    for limit in 40..200 {
        let expected = message(limit, 1 << 14);
        for room in 0..600 {
            assert_eq!(message(limit, room), expected, "limit {limit}, at first {room} bytes");
        }
    }
}

/// The log asks for no memory for a member that can never fit.
#[test]
fn a_member_over_the_limit_needs_no_buffer() {
    let payload = format!(r#"{{"choices":[],"a":"{}"}}"#, "x".repeat(5000));
    let mut index = crate::chat::Index::new();
    let chunk = crate::chat::Chunk::read(payload.as_bytes(), &mut index).unwrap();
    let (mut log, mut buffer): (MessageLog, _) = (MessageLog::with_limit(100), [0; 64]);
    assert_eq!(log.chunk(&mut buffer, &chunk), Err(LogError::TooLong));
}

#[test]
fn a_reset_empties_the_message() {
    let limits = Limits { max_message_len: 5, ..Limits::DEFAULT };
    let (mut assembler, _) = fed(
        Assembler::with_limits(limits),
        &[
            r#"{"choices":[{"index":0,"delta":{"role":"r","content":"1234"}}]}"#,
            r#"{"choices":[{"index":0,"delta":{"content":"5\q"}}]}"#,
        ],
    );
    assembler.reset();
    assert_eq!(assembler.message().unwrap(), Completion::default());
    assert!(assembler.quirks().is_empty());
    let (assembler, errors) = fed(assembler, &[r#"{"choices":[{"index":0,"delta":{"role":"r","content":"1234"}}]}"#]);
    assert_eq!(errors, []);
    assert_eq!(assembler.message().unwrap().choices[0].role.as_deref(), Some("r"));
}

/// Adds `chunks` to a message that has 60 members of `len` bytes. Returns the length of the chunks, how many bytes the
/// message reads for them, and the length of its log.
fn work_of_members(len: usize, chunks: &[String]) -> (usize, u64, usize) {
    let text = "x".repeat(len);
    let members: Vec<String> = (0..60).map(|n| format!(r#""m{n}":"{text}""#)).collect();
    let first = format!(r#"{{"choices":[{{"index":0,"delta":{{"content":"{text}"}}}}],{}}}"#, members.join(","));
    let (mut assembler, errors) = fed(Assembler::new(), &[&first]);
    assert_eq!(errors, []);
    let mut index = crate::chat::Index::new();
    let mut visits = 0;
    for payload in chunks {
        let chunk = crate::chat::Chunk::read(payload.as_bytes(), &mut index).unwrap();
        let event = crate::Event::Chunk(chunk);
        visits += crate::visits::during(|| assert!(assembler.event(&event).is_continue())).1;
    }
    (chunks.iter().map(String::len).sum(), visits, assembler.kept.log[0].len())
}

#[test]
fn replacing_members_takes_linear_time() {
    let changed = |n: usize, m: usize| format!(r#""m{m}":"{n}{}""#, "y".repeat(n % 40));
    let chunk = |members: &[String]| format!(r#"{{"choices":[],{}}}"#, members.join(","));
    let one: Vec<String> = (0..3000).map(|n| chunk(&[changed(n, n % 60)])).collect();
    let all: Vec<String> = (0..300).map(|n| chunk(&(0..60).map(|m| changed(n, m)).collect::<Vec<_>>())).collect();
    for (name, chunks) in [("one", one), ("all", all)] {
        for len in [10, 1000, 10_000] {
            let (bytes, visits, kept) = work_of_members(len, &chunks);
            let each = visits as f64 / bytes as f64;
            std::println!("{name} of 60 members of {len} bytes change: {each:.1} visits a byte, {kept} bytes are kept");
            // Each removal of records reads the log once more, at most as often as the log doubles.
            assert!(visits <= 80 * bytes as u64 + 4 * 61 * len as u64, "{name}, {len}: {each:.1}");
            assert!(kept <= 2 * (61 * len + 60 * 100) + 4096, "{name}, {len}: {kept} bytes");
        }
    }
}
