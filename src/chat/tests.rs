//! Tests of what is read of a chunk: each accessor returns its member, and nothing if the value is of another kind; the
//! deltas of a choice, whether the index or a walk has it; and the quirks.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]
extern crate std;

use super::*;
use crate::json::{Text, Value};
use crate::Quirk;
use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

/// Lines of what a chunk returns, each under the name of the accessor or of the delta.
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

    fn update(&mut self, update: &Update<'_>) {
        match update {
            Update::Role(text) => self.text("role", Some(*text)),
            Update::Content(text) => self.text("content", Some(*text)),
            Update::Reasoning(text) => self.text("reasoning", Some(*text)),
            Update::Refusal(text) => self.text("refusal", Some(*text)),
            Update::FunctionName { text, .. } => self.text("function name", Some(*text)),
            Update::FunctionArguments(text) => self.text("function arguments", Some(*text)),
            Update::Call(call) => {
                self.0.push(format!("call at {} index {:?} custom {}", call.call, call.index, call.custom));
                self.text("  id", call.id);
                self.text("  type", call.kind);
            }
            Update::CallName { text, .. } => self.text("  name", Some(*text)),
            Update::CallArguments { text, .. } => self.text("  arguments", Some(*text)),
            Update::Member(member) => self.raw(&format!("  member {}", member.name), Some(member.value)),
            Update::Annotations(value) => self.raw("annotations", Some(*value)),
            Update::Audio(value) => self.raw("audio", Some(*value)),
            Update::Native(value) => self.raw("native", Some(*value)),
            Update::Logprobs(value) => self.raw("logprobs", Some(*value)),
            Update::Meta(meta, text) => self.text(&format!("{meta:?}"), Some(*text)),
            Update::Finish(reason) => self.0.push(format!("finish = {reason} {:?}", reason.kind())),
            Update::ChoiceError(error) => self.error("choice error", Some(*error)),
            _ => panic!("{update:?} does not come from a choice"),
        }
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

/// Returns the lines of the deltas of one choice with these members, and its quirks. Reads it twice: as the first choice,
/// which the index stores, and as the second, which is walked.
fn lines_of_choice(members: &str) -> Vec<String> {
    let lines_of = |choices: &str, count: u32| {
        let (payload, mut index, mut lines) = (format!(r#"{{"choices":[{choices}]}}"#), Index::new(), Lines::default());
        let chunk = Chunk::read(payload.as_bytes(), &mut index).unwrap();
        assert_eq!(chunk.choice_count(), count);
        for (choice, update) in chunk.index().updates(payload.as_bytes()) {
            assert_eq!(choice, 4);
            lines.update(&update);
        }
        lines.0.extend(chunk.quirks().iter().map(|quirk: Quirk| format!("{quirk:?}")));
        lines.0
    };
    let choice = format!(r#"{{"index":4,{members}}}"#);
    let alone = lines_of(&choice, 1);
    assert_eq!(lines_of(&format!(r#"{{"index":0}},{choice}"#), 2), alone);
    alone
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
                "reasoning = a",
                "content = c",
                "refusal = f",
                "function name = n",
                "function arguments = {",
                r#"audio: {"id":"i","data":"QQ==","transcript":"t","expires_at":9}"#,
                "annotations: [2]",
            ],
        ),
        (
            r#""delta":{"role":"","content":"","refusal":null,"reasoning_content":[],"reasoning":7,"thought":"u","images":{},"annotations":"","function_call":"x","audio":[]}"#,
            &["reasoning = u", "OddType"],
        ),
        (
            r#""delta":{"function_call":{"arguments":{"a":1}},"audio":{}}"#,
            &[r#"function arguments = {"a":1}"#, "audio: {}", "ArgumentsNotText"],
        ),
        (
            r#""delta":{"content":["a",{"type":"text","text":"b"},{"type":"output_text","text":"c"},{"type":"thinking","thinking":"d"},{"type":"reasoning","text":"e"},{"type":"thinking","thinking":[{"text":"f"},"g","",{"text":""},7,{"type":"text","text":"h"}]},{"type":"thinking","thinking":""},{"type":"text","text":""},{"type":"image","text":"x"},"",{"type":"thinking"},"z"]}"#,
            &[
                "content = a",
                "content = b",
                "content = c",
                "reasoning = d",
                "reasoning = e",
                "reasoning = f",
                "reasoning = g",
                "reasoning = h",
                r#"native: {"type":"image","text":"x"}"#,
                "content = z",
                "UnknownContentPart",
                "OddType",
            ],
        ),
        (
            r#""delta":{"reasoning_details":[{"type":"reasoning.text","text":"a"},{"type":"reasoning.summary","summary":"b"},{"type":"reasoning.encrypted","data":"c"},{"text":"","summary":"d"}]}"#,
            &["reasoning = a", "reasoning = b", "reasoning = d"],
        ),
        (
            r#""delta":{"tool_calls":[{"index":3,"id":"a","type":"function","function":{"name":"f","arguments":"{"},"extra":1},{"index":"5","id":"","type":"custom","custom":{"name":"g","input":"in"}},{"index":-1,"function":{"name":"","arguments":{"a":[1]}}},7,{"custom":[],"function":{"arguments":null}}]}"#,
            &[
                "call at 0 index Some(3) custom false",
                "  id = a",
                "  type = function",
                "  name = f",
                "  arguments = {",
                "  member extra: 1",
                "call at 1 index Some(5) custom true",
                "  type = custom",
                "  name = g",
                "  arguments = in",
                "call at 2 index Some(0) custom false",
                r#"  arguments = {"a":[1]}"#,
                "OddIndex",
                "ArgumentsNotText",
                "OddType",
            ],
        ),
        (r#""delta":{"tool_calls":[7,{"id":"b"}]}"#, &["call at 1 index None custom false", "  id = b", "OddType"]),
        (
            r#""delta":null,"message":{"role":"assistant","content":"whole","tool_calls":[{"id":"a"},{"id":"b"}]},"finish_reason":"stop","native_finish_reason":"n","extra":{}"#,
            &[
                "role = assistant",
                "content = whole",
                "call at 0 index None custom false",
                "  id = a",
                "call at 1 index None custom false",
                "  id = b",
                "NativeFinishReason = n",
                "finish = stop Stop",
            ],
        ),
        (r#""text":"t","extra":{}"#, &["content = t"]),
        (
            r#""delta":[],"message":7,"text":"","finish_reason":"","native_finish_reason":"","provider_specific_fields":{"native_finish_reason":"in"},"logprobs":[],"content_filter_results":[],"error":{}"#,
            &["NativeFinishReason = in", "OddType"],
        ),
        (
            r#""finishReason":"length","content_filter_results":{"a":1},"error":{"message":"m"}"#,
            &["finish = length Length", "choice error", r#"  value: {"message":"m"}"#, "  message = m"],
        ),
        (r#""finish_reason":"None","finishReason":"x""#, &["finish = x Other", "NoneString"]),
        (r#""logprobs":{"content":[{"token":"a"}]}"#, &[r#"logprobs: {"content":[{"token":"a"}]}"#]),
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
    let expected = [
        "call at 2 index None custom true",
        "  name = h",
        "  arguments = 3",
        "call at 3 index None custom false",
        "  name = j",
        "OddType",
        "DuplicateMember",
    ];
    assert_eq!(lines_of_choice(calls), expected);
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
    let kinds = [
        "stop",
        "length",
        "tool_calls",
        "content_filter",
        "function_call",
        "error",
        "halt",
        "network_error",
        "sensitive",
    ]
    .map(|reason| {
        let lines = lines_of_choice(&format!(r#""finish_reason":"{reason}""#));
        lines[0].strip_prefix(&format!("finish = {reason} ")).unwrap().to_string()
    });
    assert_eq!(
        kinds,
        ["Stop", "Length", "ToolCalls", "ContentFilter", "FunctionCall", "Error", "Other", "Error", "ContentFilter"]
    );
}

#[test]
fn indexes_of_choices() {
    let index = |index: &str| {
        let (payload, mut read) = (format!(r#"{{"choices":[{{"text":"t","index":{index}}}]}}"#), Index::new());
        Chunk::read(payload.as_bytes(), &mut read).unwrap();
        let choice = read.updates(payload.as_bytes()).first().map(|(choice, _)| *choice);
        choice.unwrap()
    };
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
        assert_eq!(index(given), expected, "{given}");
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
        let updates = chunk.index().updates(payload.as_bytes());
        let kinds: Vec<_> = updates.iter().map(|delta| format!("{delta:?}")).collect();
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
fn debug_output_has_the_contents() {
    let payload = r#"{"error":{"message":"e"},"choices":[{"index":0,"finish_reason":"why","logprobs":{"content":[1]},
        "delta":{"function_call":{"name":"fun"},"audio":{"id":"aud"},"tool_calls":[{"id":"cal"}]}}],
        "usage":{"prompt_tokens":77}}"#;
    let mut index = Index::new();
    let chunk = Chunk::read(payload.as_bytes(), &mut index).unwrap();
    assert!(format!("{chunk:?}").contains("choices"));
    assert!(format!("{:?}", chunk.error().unwrap()).contains("message"));
    assert!(format!("{:?}", chunk.usage().unwrap()).contains("77"));
    let deltas = format!("{:?}", chunk.index().updates(payload.as_bytes()));
    for part in ["fun", "cal", "aud", "content", "why"] {
        assert!(deltas.contains(part), "{deltas}");
    }
}
