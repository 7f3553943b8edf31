//! Tests of the views of a chunk: each accessor returns its member, and nothing if the value is of another kind.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]
extern crate std;

use super::*;
use crate::json::{Text, Value};
use crate::Quirk;
use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

/// Lines of what the views return, each under the name of the accessor.
#[derive(Default)]
struct Lines(Vec<String>);

impl Lines {
    fn text(&mut self, name: &str, text: Option<Text<'_>>) {
        self.0.extend(text.map(|text| format!("{name} = {text}")));
    }

    fn raw(&mut self, name: &str, value: Option<Value<'_>>) {
        self.0.extend(value.map(|value| format!("{name}: {}", core::str::from_utf8(value.raw()).unwrap())));
    }

    fn number(&mut self, name: &str, number: Option<u64>) {
        self.0.extend(number.map(|number| format!("{name} = {number}")));
    }

    fn error(&mut self, name: &str, error: Option<ApiError<'_>>) {
        let Some(error) = error else { return };
        self.0.push(name.to_string());
        self.raw("  value", error.value());
        self.text("  message", error.message());
        self.text("  type", error.kind());
        self.text("  param", error.param());
        self.text("  code", error.code());
        self.raw("  metadata", error.metadata());
    }

    fn tokens(&mut self, name: &str, tokens: TokenLogprobs<'_>) {
        for token in tokens {
            self.raw(name, Some(token.value()));
            self.text("  token", token.token());
            self.text("  logprob", token.logprob().map(|number| Text::verbatim(number.raw())));
            self.0.extend(token.bytes().map(|bytes| format!("  bytes {:?}", bytes.collect::<Vec<_>>())));
            self.0.extend(token.top_logprobs().map(|top| format!("  top {:?}", top.token().unwrap().to_string())));
        }
    }

    fn delta(&mut self, delta: &DeltaView<'_>) {
        self.text("role", delta.role());
        self.text("content", delta.content());
        for part in delta.content_parts() {
            match part {
                ContentPart::Text(text) => self.text("part", Some(text)),
                ContentPart::Thinking(text) => self.text("thought", Some(text)),
            }
        }
        self.text("refusal", delta.refusal());
        self.text("reasoning_content", delta.reasoning_content());
        self.text("reasoning", delta.reasoning());
        self.text("thinking", delta.thinking());
        for detail in delta.reasoning_details() {
            self.raw("detail", Some(detail.value()));
            self.text("  type", detail.kind());
            self.text("  text", detail.text());
            self.text("  data", detail.data());
        }
        if let Some(call) = delta.function_call() {
            self.raw("function_call", Some(call.value()));
            self.text("  name", call.name());
            self.text("  arguments", call.arguments());
        }
        for call in delta.tool_calls() {
            self.0.push(format!("call at {} index {:?} custom {}", call.position(), call.index(), call.is_custom()));
            self.text("  id", call.id());
            self.text("  type", call.kind());
            self.text("  name", call.name());
            self.text("  arguments", call.arguments());
            self.raw("  value", call.value());
            self.raw("  extra", call.get("extra"));
        }
        self.raw("annotations", delta.annotations());
        self.raw("images", delta.images());
        self.raw("extra", delta.get("extra"));
        if let Some(audio) = delta.audio() {
            self.raw("audio", Some(audio.value()));
            self.text("  id", audio.id());
            self.text("  data", audio.data());
            self.text("  transcript", audio.transcript());
            self.number("  expires_at", audio.expires_at());
        }
    }

    fn choice(&mut self, choice: &Choice<'_>) {
        self.0.push(format!("choice {}", choice.index()));
        if let Some(delta) = choice.delta() {
            assert_eq!(delta.value().raw(), choice.get("delta").unwrap().raw());
            self.delta(&delta);
        }
        if let Some(message) = choice.message() {
            assert_eq!(message.value().raw(), choice.get("message").unwrap().raw());
            self.delta(&message);
        }
        self.text("text", choice.text());
        self.0.extend(choice.finish_reason().map(|reason| format!("finish = {reason} {:?}", reason.kind())));
        self.text("native_finish", choice.native_finish_reason());
        if let Some(logprobs) = choice.logprobs() {
            assert_eq!(logprobs.value().raw(), choice.get("logprobs").unwrap().raw());
            self.tokens("token", logprobs.content());
            self.tokens("refused token", logprobs.refusal());
            self.raw("legacy tokens", logprobs.legacy_tokens());
            self.raw("legacy token_logprobs", logprobs.legacy_token_logprobs());
            self.raw("legacy top_logprobs", logprobs.legacy_top_logprobs());
            self.raw("legacy text_offset", logprobs.legacy_text_offset());
        }
        self.raw("content_filter_results", choice.content_filter_results());
        self.error("choice error", choice.error());
        self.raw("extra", choice.get("extra"));
    }

    fn chunk(&mut self, chunk: &Chunk<'_>) {
        self.text("id", chunk.id());
        self.text("object", chunk.object());
        self.number("created", chunk.created());
        self.text("model", chunk.model());
        self.text("system_fingerprint", chunk.system_fingerprint());
        self.text("service_tier", chunk.service_tier());
        self.text("provider", chunk.provider());
        if let Some(usage) = chunk.usage() {
            self.raw("usage", Some(usage.value()));
            let TokenCounts { has, counts } = usage.counts();
            self.0.push(format!("counts {has:010b} {counts:?}"));
            self.raw("cost", usage.get("cost"));
        }
        self.error("error", chunk.error());
        self.raw("extra", chunk.get("extra"));
        let choices: Vec<_> = chunk.choices().collect();
        assert_eq!(chunk.choice_count() as usize, choices.len());
        choices.iter().for_each(|choice| self.choice(choice));
        let fields = ChunkMember::ALL;
        let there: String = fields.iter().map(|field| if chunk.field(*field).is_some() { 'x' } else { '-' }).collect();
        self.0.push(format!("fields {there} completion {}", chunk.is_completion()));
        self.0.extend(chunk.quirks().iter().map(|quirk: Quirk| format!("{quirk:?}")));
    }
}

fn lines_of(payload: &str) -> Vec<String> {
    let mut index = Index::new();
    let mut lines = Lines::default();
    lines.chunk(&Chunk::read(payload.as_bytes(), &mut index).unwrap());
    lines.0
}

/// Returns the lines of one choice with these members. Reads it twice: as the first choice, which the index stores, and
/// as the second, which the view walks.
fn lines_of_choice(members: &str) -> Vec<String> {
    let choice = format!(r#"{{"index":4,{members}}}"#);
    let alone = lines_of(&format!(r#"{{"choices":[{choice}]}}"#));
    let second = lines_of(&format!(r#"{{"choices":[{{"index":0}},{choice}]}}"#));
    assert_eq!(second[0], "choice 0");
    assert_eq!(alone, second[1..]);
    assert_eq!(alone[0], "choice 4");
    alone[1..].iter().filter(|line| !line.starts_with("fields ")).cloned().collect()
}

#[test]
fn members_of_a_chunk() {
    let cases: &[(&str, &[&str])] = &[
        (
            r#"{"id":"c","object":"chat.completion.chunk","created":17,"model":"m","system_fingerprint":"f","service_tier":"t","provider":"p","choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3,"completion_tokens_details":{"reasoning_tokens":4,"audio_tokens":7,"accepted_prediction_tokens":8,"rejected_prediction_tokens":9},"prompt_tokens_details":{"cached_tokens":5,"audio_tokens":"6","cache_write_tokens":10},"cost":0.5},"extra":[1]}"#,
            &[
                "id = c",
                "object = chat.completion.chunk",
                "created = 17",
                "model = m",
                "system_fingerprint = f",
                "service_tier = t",
                "provider = p",
                r#"usage: {"prompt_tokens":1,"completion_tokens":2,"total_tokens":3,"completion_tokens_details":{"reasoning_tokens":4,"audio_tokens":7,"accepted_prediction_tokens":8,"rejected_prediction_tokens":9},"prompt_tokens_details":{"cached_tokens":5,"audio_tokens":"6","cache_write_tokens":10},"cost":0.5}"#,
                "counts 1111111111 [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]",
                "cost: 0.5",
                "extra: [1]",
                "fields xxxxxxxxx completion true",
            ],
        ),
        (
            r#"{"id":"","object":null,"created":"x","model":[],"system_fingerprint":{},"service_tier":"","provider":null,"choices":{},"usage":{}}"#,
            &["fields --------- completion true", "OddType"],
        ),
        (
            r#"{"id":7,"created":"18","model":true,"usage":{"prompt_tokens":1.5,"total_tokens":null},"type":"x"}"#,
            &[
                "id = 7",
                "created = 18",
                "model = true",
                r#"usage: {"prompt_tokens":1.5,"total_tokens":null}"#,
                "counts 0000000000 [0, 0, 0, 0, 0, 0, 0, 0, 0, 0]",
                "fields x-xx----x completion false",
                "OddType",
            ],
        ),
        (
            r#"{"x_groq":{"usage":{"total_tokens":3}},"usage":null}"#,
            &[
                r#"usage: {"total_tokens":3}"#,
                "counts 0000000100 [0, 0, 3, 0, 0, 0, 0, 0, 0, 0]",
                "fields --------x completion true",
            ],
        ),
        (r#"{"usage":[1]}"#, &["fields --------- completion true", "OddType"]),
        (
            r#"{"object":"chat.completion.chunk"}"#,
            &["object = chat.completion.chunk", "fields -x------- completion true"],
        ),
        (r#"{"object":"text_completion"}"#, &["object = text_completion", "fields -x------- completion true"]),
        (
            r#"{"error":{"message":"m","type":"t","param":"p","code":429,"metadata":{"a":1}}}"#,
            &[
                "error",
                r#"  value: {"message":"m","type":"t","param":"p","code":429,"metadata":{"a":1}}"#,
                "  message = m",
                "  type = t",
                "  param = p",
                "  code = 429",
                r#"  metadata: {"a":1}"#,
                "fields --------- completion false",
            ],
        ),
        (
            r#"{"error":"words"}"#,
            &["error", r#"  value: "words""#, "  message = words", "fields --------- completion false"],
        ),
        (
            r#"{"type":"error","detail":"d"}"#,
            &[
                "error",
                r#"  value: {"type":"error","detail":"d"}"#,
                "  message = d",
                "fields --------- completion false",
            ],
        ),
        (
            r#"{"detail":"d"}"#,
            &["error", r#"  value: {"detail":"d"}"#, "  message = d", "fields --------- completion false"],
        ),
        (r#"{"detail":"d","choices":[]}"#, &["fields -------x- completion true"]),
        (
            r#"{"object":"error","message":"m"}"#,
            &[
                "object = error",
                "error",
                r#"  value: {"object":"error","message":"m"}"#,
                "  message = m",
                "fields -x------- completion false",
            ],
        ),
        (r#"{"error":""}"#, &["fields --------- completion false"]),
        (r#"{"error":"None"}"#, &["fields --------- completion false", "NoneString"]),
        (r#"{"error":{}}"#, &["fields --------- completion false"]),
        (r#"{"error":false}"#, &["fields --------- completion false"]),
        (r#"{"error":true}"#, &["error", "  value: true", "  message = true", "fields --------- completion false"]),
        (r#"{"error":[]}"#, &["error", "  value: []", "fields --------- completion false"]),
        (r#"{"error":0}"#, &["error", "  value: 0", "  message = 0", "fields --------- completion false"]),
        (r#"{"error":null}"#, &["fields --------- completion false"]),
        (r#"null"#, &["fields --------- completion false", "NullChunk"]),
    ];
    for (payload, expected) in cases {
        assert_eq!(lines_of(payload), *expected, "{payload}");
    }
}

#[test]
fn members_of_a_choice_in_any_order() {
    let cases: &[(&str, &[&str])] = &[
        (
            r#""delta":{"role":"r","content":"c","refusal":"f","reasoning_content":"a","reasoning":"b","thinking":"t","thought":"u","images":[1],"annotations":[2],"extra":3,"function_call":{"name":"n","arguments":"{"},"audio":{"id":"i","data":"QQ==","transcript":"t","expires_at":9}}"#,
            &[
                "role = r",
                "content = c",
                "refusal = f",
                "reasoning_content = a",
                "reasoning = b",
                "thinking = t",
                r#"function_call: {"name":"n","arguments":"{"}"#,
                "  name = n",
                "  arguments = {",
                "annotations: [2]",
                "images: [1]",
                "extra: 3",
                r#"audio: {"id":"i","data":"QQ==","transcript":"t","expires_at":9}"#,
                "  id = i",
                "  data = QQ==",
                "  transcript = t",
                "  expires_at = 9",
            ],
        ),
        (
            r#""delta":{"role":"","content":"","refusal":null,"reasoning_content":[],"reasoning":7,"thought":"u","images":{},"annotations":"","function_call":"x","audio":[]}"#,
            &["thinking = u", "OddType"],
        ),
        (
            r#""delta":{"function_call":{"arguments":{"a":1}},"audio":{}}"#,
            &[r#"function_call: {"arguments":{"a":1}}"#, r#"  arguments = {"a":1}"#, "audio: {}", "ArgumentsNotText"],
        ),
        (
            r#""delta":{"content":["a",{"type":"text","text":"b"},{"type":"output_text","text":"c"},{"type":"thinking","thinking":"d"},{"type":"reasoning","text":"e"},{"type":"thinking","thinking":[{"text":"f"},"g","",{"text":""},7,{"type":"text","text":"h"}]},{"type":"thinking","thinking":""},{"type":"text","text":""},{"type":"image","text":"x"},"",{"type":"thinking"},"z"]}"#,
            &[
                "part = a",
                "part = b",
                "part = c",
                "thought = d",
                "thought = e",
                "thought = f",
                "thought = g",
                "thought = h",
                "part = z",
                "UnknownContentPart",
            ],
        ),
        (
            r#""delta":{"reasoning_details":[{"type":"reasoning.text","text":"a"},{"type":"reasoning.summary","summary":"b"},{"type":"reasoning.encrypted","data":"c"},{"text":"","summary":"d"}]}"#,
            &[
                r#"detail: {"type":"reasoning.text","text":"a"}"#,
                "  type = reasoning.text",
                "  text = a",
                r#"detail: {"type":"reasoning.summary","summary":"b"}"#,
                "  type = reasoning.summary",
                "  text = b",
                r#"detail: {"type":"reasoning.encrypted","data":"c"}"#,
                "  type = reasoning.encrypted",
                "  data = c",
                r#"detail: {"text":"","summary":"d"}"#,
                "  text = d",
            ],
        ),
        (
            r#""delta":{"tool_calls":[{"index":3,"id":"a","type":"function","function":{"name":"f","arguments":"{"},"extra":1},{"index":"5","id":"","type":"custom","custom":{"name":"g","input":"in"}},{"index":-1,"function":{"name":"","arguments":{"a":[1]}}},7,{"custom":[],"function":{"arguments":null}}]}"#,
            &[
                "call at 0 index Some(3) custom false",
                "  id = a",
                "  type = function",
                "  name = f",
                "  arguments = {",
                r#"  value: {"index":3,"id":"a","type":"function","function":{"name":"f","arguments":"{"},"extra":1}"#,
                "  extra: 1",
                "call at 1 index Some(5) custom true",
                "  type = custom",
                "  name = g",
                "  arguments = in",
                r#"  value: {"index":"5","id":"","type":"custom","custom":{"name":"g","input":"in"}}"#,
                "call at 2 index Some(0) custom false",
                r#"  arguments = {"a":[1]}"#,
                r#"  value: {"index":-1,"function":{"name":"","arguments":{"a":[1]}}}"#,
                "call at 3 index None custom false",
                "call at 4 index None custom false",
                r#"  value: {"custom":[],"function":{"arguments":null}}"#,
                "OddIndex",
                "ArgumentsNotText",
                "OddType",
            ],
        ),
        (
            r#""delta":{"tool_calls":[7,{"id":"b"}]}"#,
            &[
                "call at 0 index None custom false",
                "call at 1 index None custom false",
                "  id = b",
                r#"  value: {"id":"b"}"#,
                "OddType",
            ],
        ),
        (
            r#""delta":null,"message":{"role":"assistant","content":"whole","tool_calls":[{"id":"a"},{"id":"b"}]},"text":"t","finish_reason":"stop","native_finish_reason":"n","extra":{}"#,
            &[
                "role = assistant",
                "content = whole",
                "call at 0 index None custom false",
                "  id = a",
                r#"  value: {"id":"a"}"#,
                "call at 1 index None custom false",
                "  id = b",
                r#"  value: {"id":"b"}"#,
                "text = t",
                "finish = stop Stop",
                "native_finish = n",
                "extra: {}",
            ],
        ),
        (
            r#""delta":[],"message":7,"text":"","finish_reason":"","native_finish_reason":"","provider_specific_fields":{"native_finish_reason":"in"},"logprobs":[],"content_filter_results":[],"error":{}"#,
            &["native_finish = in", "OddType"],
        ),
        (
            r#""finishReason":"length","content_filter_results":{"a":1},"error":{"message":"m"}"#,
            &[
                "finish = length Length",
                r#"content_filter_results: {"a":1}"#,
                "choice error",
                r#"  value: {"message":"m"}"#,
                "  message = m",
            ],
        ),
        (r#""finish_reason":"None","finishReason":"x""#, &["finish = x Other", "NoneString"]),
        (
            r#""logprobs":{"content":[{"token":"a","logprob":-0.5,"bytes":[97,255],"top_logprobs":[{"token":"a"},{"token":"b"}]},{"token":"","logprob":null,"bytes":null,"top_logprobs":{}},{"bytes":[1,256,2]}],"refusal":[{"token":"no"}],"tokens":["a"],"token_logprobs":[-1],"top_logprobs":[{"a":-1}],"text_offset":[0]}"#,
            &[
                r#"token: {"token":"a","logprob":-0.5,"bytes":[97,255],"top_logprobs":[{"token":"a"},{"token":"b"}]}"#,
                "  token = a",
                "  logprob = -0.5",
                "  bytes [97, 255]",
                r#"  top "a""#,
                r#"  top "b""#,
                r#"token: {"token":"","logprob":null,"bytes":null,"top_logprobs":{}}"#,
                "  token = ",
                r#"token: {"bytes":[1,256,2]}"#,
                "  bytes [1]",
                r#"refused token: {"token":"no"}"#,
                "  token = no",
                r#"legacy tokens: ["a"]"#,
                "legacy token_logprobs: [-1]",
                r#"legacy top_logprobs: [{"a":-1}]"#,
                "legacy text_offset: [0]",
            ],
        ),
        (
            r#""logprobs":{"content":null,"refusal":{},"tokens":{},"token_logprobs":"","top_logprobs":1,"text_offset":{}}"#,
            &[],
        ),
    ];
    for (members, expected) in cases {
        assert_eq!(lines_of_choice(members), *expected, "{members}");
    }
}

#[test]
fn the_last_of_two_functions_counts() {
    let calls = r#""delta":{"tool_calls":[{"function":{"name":"f","arguments":"1"},"function":{}},
        {"custom":{"name":"g","input":"2"},"custom":7},{"function":{"name":"h"},"custom":{"input":"3"}},
        {"function":{"name":"i","arguments":"4"},"function":{"name":"j"}}]}"#;
    let lines: Vec<_> = lines_of_choice(calls).into_iter().filter(|line| !line.starts_with("  value")).collect();
    let expected = [
        "call at 0 index None custom false",
        "call at 1 index None custom false",
        "call at 2 index None custom true",
        "  name = h",
        "  arguments = 3",
        "call at 3 index None custom false",
        "  name = j",
        "OddType",
        "DuplicateMember",
    ];
    assert_eq!(lines, expected);
}

#[test]
fn counts_may_have_other_names() {
    // The expected counts are those of reasoning, cached and cache write tokens.
    for (usage, expected) in [
        (r#"{"prompt_tokens":9,"prompt_cache_hit_tokens":4}"#, [None, Some(4), None]),
        (r#"{"cached_tokens":5,"prompt_tokens":9,"prompt_tokens_details":null}"#, [None, Some(5), None]),
        (r#"{"cached_tokens":5,"prompt_tokens_details":{"cached_tokens":6}}"#, [None, Some(6), None]),
        (r#"{"prompt_tokens_details":{"cached_tokens":6},"prompt_cache_hit_tokens":4}"#, [None, Some(6), None]),
        (r#"{"prompt_tokens_details":{"prompt_cache_hit_tokens":6}}"#, [None; 3]),
        (r#"{"prompt_tokens":10,"total_tokens":152,"num_cached_tokens":64}"#, [None, Some(64), None]),
        (
            r#"{"completion_tokens_details":{"accepted_prediction_tokens":0},"reasoning_tokens":7,"total_tokens":77}"#,
            [Some(7), None, None],
        ),
        (
            r#"{"reasoning_tokens":7,"completion_tokens":9,"completion_tokens_details":{"reasoning_tokens":8}}"#,
            [Some(8), None, None],
        ),
        (
            r#"{"prompt_tokens":5,"reasoning_tokens":null,"cached_tokens":"x","num_cached_tokens":2}"#,
            [None, Some(2), None],
        ),
        (
            r#"{"prompt_tokens":502,"cache_creation_input_tokens":3,"cache_read_input_tokens":2}"#,
            [None, Some(2), Some(3)],
        ),
        (
            r#"{"cache_creation_input_tokens":1,"prompt_tokens_details":{"cache_creation_input_tokens":5,"cached_tokens":0}}"#,
            [None, Some(0), Some(5)],
        ),
        (
            r#"{"prompt_tokens_details":{"cache_creation_input_tokens":5,"cache_write_tokens":4}}"#,
            [None, None, Some(4)],
        ),
    ] {
        let usage = Usage::of(crate::json::parse_lazy(usage.as_bytes()).unwrap()).unwrap();
        let by_name = [usage.reasoning_tokens(), usage.cached_tokens(), usage.cache_write_tokens()];
        let counts = usage.counts();
        let read = [counts.reasoning_tokens(), counts.cached_tokens(), counts.cache_write_tokens()];
        assert_eq!((by_name, read), (expected, expected), "{usage:?}");
    }
}

#[test]
fn only_unknown_parts_are_flagged() {
    let parts = [
        r#""a""#,
        r#"{"type":"text","text":"a"}"#,
        r#"{"type":"output_text","text":"a"}"#,
        r#"{"type":"thinking","thinking":"a"}"#,
        r#"{"type":"reasoning","text":"a"}"#,
        r#"{"type":"image","text":"a"}"#,
        r#"{"text":"a"}"#,
        "7",
        "[]",
    ];
    let flagged: Vec<bool> = parts
        .iter()
        .map(|part| {
            !lines_of_choice(&format!(r#""delta":{{"content":[{part}]}}"#)).iter().all(|line| line.contains('='))
        })
        .collect();
    assert_eq!(flagged, [false, false, false, false, false, true, true, true, true]);
}

#[test]
fn finish_reasons_by_kind() {
    let kinds = ["stop", "length", "tool_calls", "content_filter", "function_call", "error", "halt"].map(|reason| {
        let lines = lines_of_choice(&format!(r#""finish_reason":"{reason}""#));
        lines[0].strip_prefix(&format!("finish = {reason} ")).unwrap().to_string()
    });
    assert_eq!(kinds, ["Stop", "Length", "ToolCalls", "ContentFilter", "FunctionCall", "Error", "Other"]);
}

#[test]
fn indexes_of_choices() {
    let index = |index: &str| lines_of(&format!(r#"{{"choices":[{{"index":{index}}}]}}"#))[0].clone();
    for (given, expected) in [
        ("0", 0),
        ("9", 9),
        ("10", 10),
        ("\"1\"", 1),
        ("\"12\"", 12),
        ("\"4294967295\"", u32::MAX),
        ("\"4294967296\"", u32::MAX),
        ("\"9999999999\"", u32::MAX),
        ("\"10000000000\"", 0),
        ("\"\"", 0),
        ("\"1x\"", 0),
        ("-1", 0),
        ("4294967296", u32::MAX),
        ("99999999999999999999", u32::MAX),
        ("null", 0),
        ("[3]", 0),
    ] {
        assert_eq!(index(given), format!("choice {expected}"), "{given}");
    }
}

#[test]
fn only_whitespace_may_follow_a_chunk() {
    let read = |payload: &str| Chunk::read(payload.as_bytes(), &mut Index::new()).map(|_| ());
    assert_eq!(read("{} \t\r\n"), Ok(()));
    for (payload, offset) in [("{}x", 2), ("{} \n{}", 4), ("null,", 4)] {
        let error = read(payload).unwrap_err();
        assert_eq!((error.kind, error.offset), (crate::json::JsonErrorKind::TrailingBytes, offset), "{payload}");
    }
}

#[test]
fn an_error_event_is_an_error_whatever_it_looks_like() {
    for (payload, message) in [("boom", "boom"), ("\"bo\\u006fm\"", "boom"), ("7", "7"), ("[\"x\"]", "[\"x\"]")] {
        let mut index = Index::new();
        let chunk = Chunk::of_plain_text(payload.as_bytes(), &mut index);
        assert!(chunk.is_plain_text() && chunk.is_whole_error());
        assert_eq!(chunk.error().unwrap().message().unwrap(), message);
        let kinds: Vec<_> = chunk.deltas().map(|delta| format!("{delta:?}")).collect();
        assert_eq!(kinds.len(), 1);
        assert!(kinds[0].contains("Error"), "{kinds:?}");
    }
    assert!(Chunk::of_plain_text(b"", &mut Index::new()).error().unwrap().message().is_none());
    let (mut as_error, mut as_chunk) = (Index::new(), Index::new());
    let payload = br#"{"message":"m","choices":[]}"#;
    let error = Chunk::of_event(payload, &mut as_error, true).unwrap();
    assert!(error.is_whole_error() && !error.is_plain_text());
    assert_eq!(error.error().unwrap().value().unwrap().raw(), payload);
    let chunk = Chunk::of_event(payload, &mut as_chunk, false).unwrap();
    assert!(!chunk.is_whole_error() && !chunk.is_plain_text() && chunk.error().is_none());
}

#[test]
fn debug_output_of_views_has_their_contents() {
    let payload = r#"{"error":{"message":"e"},"choices":[{"index":0,"finish_reason":"why","message":{"a":1},
        "logprobs":{"content":[{"token":"tok"}]},"delta":{"function_call":{"name":"fun"},"audio":{"id":"aud"},
        "reasoning_details":[{"text":"det"}],"tool_calls":[{"id":"cal"}]}}],"usage":{"prompt_tokens":77}}"#;
    let mut index = Index::new();
    let chunk = Chunk::read(payload.as_bytes(), &mut index).unwrap();
    let choice = chunk.choices().next().unwrap();
    let delta = choice.delta().unwrap();
    for (shown, part) in [
        (format!("{chunk:?}"), "choices"),
        (format!("{:?}", chunk.error().unwrap()), "message"),
        (format!("{:?}", chunk.usage().unwrap()), "77"),
        (format!("{:?}", choice.finish_reason().unwrap()), "why"),
        (format!("{:?}", choice.message().unwrap()), "a"),
        (format!("{:?}", choice.logprobs().unwrap()), "tok"),
        (format!("{:?}", delta.function_call().unwrap()), "fun"),
        (format!("{:?}", delta.audio().unwrap()), "aud"),
        (format!("{:?}", delta.reasoning_details().next().unwrap()), "det"),
        (format!("{:?}", delta.tool_calls().next().unwrap()), "cal"),
    ] {
        assert!(shown.contains(part), "{shown}");
    }
}
