//! `deltawire check`: each fault under its code, nothing on clean streams, the same wherever a read ends.

mod command;

use command::{any, file, run, run_with, sample, Ran};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Codes that a fault has besides the one that its file is named after (up to the first dot): it cannot be made without
/// them.
const BESIDES: &[(&str, &[&str])] = &[
    ("anthropic-after-stop.too-long", &["too-long"]),
    ("anthropic-delta-type", &["quirk-C40", "quirk-C43"]),
    ("anthropic-start-twice", &["quirk-C35"]),
    ("api-error.finish", &["chat-finish-unknown"]),
    ("api-error.foreign", &["quirk-F29"]),
    ("call-open", &["chat-finish", "stream-cut"]),
    ("gemini-finish", &["stream-cut"]),
    ("responses-item-not-added", &["quirk-C38"]),
    ("responses-item-open", &["responses-output"]),
    ("responses-item-twice", &["quirk-C37", "responses-output"]),
    ("responses-member.output-index", &["quirk-C37"]),
    ("responses-member.part-type", &["quirk-C40"]),
    ("responses-status", &["stream-cut"]),
    ("stream-cut", &["chat-finish"]),
    ("stream-cut.gemini", &["gemini-finish"]),
];

/// Recordings that do not do what the reference demands, with what it is. All others are clean.
const FOUND: &[(&str, &str)] = &[
    // OpenAI itself, where it sends audio: chunks without choices, no finish reason, and chunks after the usage.
    ("openai-audio-1.sse", "chat-finish chat-finish-missing chat-member chat-role-repeated chat-usage-last"),
    // Other servers. Many send the usage beside choices, the role with each delta, a time for each chunk, or no finish
    // reason instead of null.
    ("alibaba-tool-empty-id-1.sse", "chat-finish-missing"),
    ("avian-multi-id-1.sse", "chat-id-changed chat-role-repeated chat-usage-place quirk-C23"),
    ("cerebras-reasoning-tool-1.sse", "chat-done chat-finish-missing chat-usage-place"),
    ("copilot-noobject-1.sse", "chat-finish-missing chat-object chat-usage-place"),
    ("deepseek-reasoning-1.sse", "chat-usage-place"),
    ("deepseek-reasoning-huge-1.sse", "chat-usage-place"),
    ("deepseek-tools-1.sse", "chat-usage-place"),
    ("gateway-no-final-blank-1.sse", "chat-call-index quirk-F12"),
    ("gpustack-truncated-1.sse", "chat-created-changed chat-done chat-role chat-usage-place"),
    ("groq-compound-or-r1-1.sse", "chat-created-changed chat-id-changed chat-role chat-usage-place"),
    ("groq-error-event-1.sse", "api-error chat-created-changed"),
    ("groq-plain-1.sse", "chat-usage-place"),
    ("groq-tools-1.sse", "chat-usage-place"),
    ("mistral-content-parts-1.sse", "chat-usage-place"),
    ("mistral-multi-tool-delta-1.sse", "chat-usage-place"),
    ("mistral-tool-noindex-1.sse", "chat-call-type chat-usage-place"),
    ("ollama-reasoning-1.sse", "chat-created-changed chat-role-repeated"),
    ("openai-invalid-json-1.sse", "chat-finish chat-role payload-malformed quirk-F12"),
    ("openai-tool-args-null-1.sse", "chat-role-repeated chat-usage-place"), // OpenRouter's, says its source
    ("openaiphp-single-lf-1.sse", "chat-finish chat-finish-missing quirk-F28 quirk-F8"),
    ("openrouter-comments-1.sse", "chat-role-repeated"),
    ("openrouter-error-1.sse", "api-error chat-role-repeated chat-usage-place quirk-C23"),
    ("openrouter-name-repeat-1.sse", "chat-finish chat-role-repeated chat-usage-place"),
    ("openrouter-reasoning-details-1.sse", "chat-role-repeated chat-usage-place quirk-C23"),
    ("openrouter-reasoning-tools-1.sse", "chat-role-repeated chat-usage-place quirk-C23"),
    ("perplexity-crlf-1.sse", "chat-done chat-finish-missing chat-object chat-role-repeated chat-usage-place"),
    ("perplexity-crlf-large-1.sse", "chat-created-changed chat-done chat-object chat-role-repeated chat-usage-place"),
    (
        "proxy-event-after-done-1.sse",
        "chat-created chat-id chat-model chat-object chat-role-repeated chat-usage-place quirk-F25",
    ),
    ("snowflake-nofinish-1.sse", "chat-finish chat-finish-missing chat-id chat-role-repeated"),
    ("together-plain-1.sse", "chat-role-repeated chat-usage-place"),
    ("together-tool-1.sse", "chat-role-repeated chat-usage-place quirk-C23"),
    ("writer-nulls-1.sse", "chat-done chat-role-repeated"),
    ("xai-tools-1.sse", "chat-created-changed chat-finish-missing chat-usage-total"),
    ("anthropic-gateway-done.sse", "anthropic-after-stop"),
    // Of the client's own tests: its last block has no stop, and its last event no blank line.
    ("anthropic-max-tokens-partial-json.sse", "anthropic-block-nested quirk-F12"),
    ("anthropic-overloaded-mid-text.sse", "api-error"),
    // Of the client's own tests: an older Gemini, which sent a finish reason in each chunk and no ID; shortened there.
    ("gemini-error-mid-stream.sse", "api-error gemini-after-finish gemini-id quirk-F23"),
    ("gemini-prompt-blocked.sse", "gemini-id gemini-usage quirk-F12"),
    ("gemini-recitation.sse", "gemini-after-finish gemini-id gemini-usage"),
    ("gemini-safety.sse", "gemini-id"),
    ("gemini-partial-args-noargs.sse", "quirk-C36"),
    ("responses-copilot-id-rotation.sse", "responses-id-changed responses-item-id responses-output"),
    ("responses-error-failed.sse", "api-error"),
    ("responses-openrouter-comments.sse", "responses-after-end responses-name"),
    // Its parts of a reasoning are `reasoning_part`, and that of the next item is number 1.
    ("responses-reasoning-text-bedrock-noevent.sse", "responses-name responses-part-index responses-part-not-added"),
    ("responses-tool-empty-final-output.sse", "responses-output"),
    // Whole answers.
    ("anthropic-error-body.json", "api-error quirk-F20"),
    ("gemini-error-body.json", "api-error quirk-F20"),
    ("responses-error-body.json", "api-error quirk-F20"),
    // Other protocols.
    ("assistants-done-event-1.sse", "not-judged"),
    ("other-ids-1.sse", "not-judged payload-malformed quirk-F8"),
    ("ollama-error-body.json", "api-error quirk-F20"),
];
/// The beginnings of the names of recordings of protocols that are not judged.
const NOT_JUDGED: [&str; 2] = ["cohere-", "interactions-"];

fn faults() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/faults")
}

/// The streams in a folder, by name: all that are no expected results.
fn streams(folder: &Path) -> Vec<(String, String)> {
    let entries = std::fs::read_dir(folder).expect("the folder").map(|entry| entry.expect("an entry").path());
    let path = |path: PathBuf| path.to_str().expect("the path is UTF-8").to_owned();
    let name = |path: &Path| path.file_name().and_then(|name| name.to_str()).expect("a name").to_owned();
    let streams = entries.map(|entry| (name(&entry), path(entry)));
    let mut streams: Vec<_> = streams
        .filter(|(name, _)| name.ends_with(".sse") || name.ends_with(".json") && !name.ends_with(".expected.json"))
        .collect();
    streams.sort();
    streams
}

fn lines(ran: &Ran) -> Vec<Value> {
    ran.out.lines().map(|line| serde_json::from_str(line).expect("each line is JSON")).collect()
}

/// The codes of the summary, sorted, separated by blanks.
fn codes(ran: &Ran) -> String {
    let lines = lines(ran);
    let codes = lines.last().and_then(|summary| summary["codes"].as_object()).expect("a summary");
    codes.keys().map(String::as_str).collect::<Vec<_>>().join(" ")
}

#[test]
fn each_fault_has_its_code_and_its_place() {
    let mut faults_seen = BTreeSet::new();
    for (name, path) in streams(&faults()) {
        let arguments = ["--json", "--max-event-len", "2000", path.as_str()];
        let ran = run("check", &arguments);
        for size in ["1", "7"] {
            assert_eq!(run("check", &[&["--read-size", size], &arguments[..]].concat()), ran, "{name} at {size}");
        }
        let fault = name.strip_suffix(".sse").expect("a stream");
        let code = fault.split('.').next().expect("a code");
        if code.starts_with("clean-") {
            assert_eq!((codes(&ran).as_str(), ran.status), ("", 0), "{name}");
            continue;
        }
        let besides = BESIDES.iter().find(|(of, _)| *of == fault).map_or(&[][..], |(_, besides)| besides);
        let expected: BTreeSet<&str> = besides.iter().copied().chain([code]).collect();
        assert_eq!(codes(&ran), expected.into_iter().collect::<Vec<_>>().join(" "), "{name}");
        assert_ne!(ran.status, 0, "{name}");
        let bytes = std::fs::read(&path).expect("the stream");
        let found = lines(&ran);
        let protocol = found.last().expect("a summary")["protocol"].as_str().unwrap_or("OpenAI").to_owned();
        let vendor =
            if protocol.contains("completions") { "OpenAI" } else { protocol.split(' ').next().expect("a word") };
        for finding in found.iter().filter(|line| line["summary"].is_null()) {
            // A finding is at an event, or at the end of the stream.
            let offset = finding["offset"].as_u64().expect("an offset") as usize;
            let is_event = offset == 0 || bytes[..offset].ends_with(b"\n\n");
            assert!(is_event || offset == bytes.len(), "{name}: {finding}");
            assert_eq!(finding["event"].as_u64(), Some(event_at(&bytes, offset)), "{name}: {finding}");
            for text in ["found", "demand"] {
                assert!(!finding[text].as_str().expect("a text").is_empty(), "{name}: {finding}");
            }
            let reference = finding["reference"].as_str().expect("a text");
            let is_general = ["WHATWG", "RFC", "docs/"].iter().any(|begin| reference.starts_with(begin));
            assert!(is_general || reference.starts_with(vendor), "{name}: {finding}");
        }
        faults_seen.insert(code.to_owned());
    }
    // Each rule has a faulty stream.
    let table = run("check", &["--rules"]).out;
    for code in table.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()) {
        assert!(faults_seen.iter().any(|fault| fault == code || fault.starts_with(&format!("{code}-"))), "{code}");
    }
}

/// The number of the event at this offset: how many have begun with a `data` line. What is no field is no event.
fn event_at(bytes: &[u8], offset: usize) -> u64 {
    let text = std::str::from_utf8(bytes).expect("UTF-8");
    let begun = text.split_inclusive("\n\n").scan(0, |at, block| {
        let begins = *at;
        *at += block.len();
        Some((begins, block))
    });
    // The bytes of a last block that is cut are no event.
    let is_event = |block: &str| block.contains("data: ") && block.ends_with("\n\n");
    begun.filter(|(begins, block)| *begins <= offset && is_event(block)).count() as u64
}

#[test]
fn the_documentation_has_the_table_of_rules() {
    let table = run("check", &["--rules"]).out;
    assert!(include_str!("../../docs/check.md").contains(&table), "docs/check.md lacks:\n{table}");
}

#[test]
fn clean_samples_have_no_finding() {
    for name in ["weather.sse", "parallel-tools.sse", "choices.sse", "completions.sse", "refusal.sse"] {
        let ran = run("check", &[&sample(name)]);
        assert!(ran.status == 0 && ran.out.contains(": nothing found; "), "{name}: {}", ran.out);
    }
}

#[test]
fn a_whole_answer_is_only_no_stream() {
    let answers = [
        r#"{"id":"c","object":"text_completion","choices":[{"index":0,"text":"a","finish_reason":"stop"}],"usage":{"total_tokens":2}}"#,
        r#"{"id":"m","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"a"}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}"#,
        r#"{"id":"r","object":"response","created_at":1,"model":"m","status":"completed","output":[{"id":"i","type":"message","role":"assistant","content":[{"type":"output_text","text":"a"}]}]}"#,
        r#"{"candidates":[{"content":{"role":"model","parts":[{"text":"a"}]},"finishReason":"STOP"}],"usageMetadata":{"totalTokenCount":2}}"#,
    ];
    let files = answers.iter().enumerate().map(|(at, answer)| file(&format!("answer{at}.json"), answer));
    for path in files.chain([sample("body.json")]) {
        let ran = run("check", &["--json", &path]);
        assert_eq!((codes(&ran).as_str(), ran.status), ("quirk-F20", 5), "{path}");
    }
}

#[test]
fn recordings_are_clean_except_for_what_is_listed() {
    let Some(corpus) = command::corpus() else { return };
    let mut seen = 0;
    for (name, path) in ["streams", "protocols"].iter().flat_map(|folder| streams(&corpus.join(folder))) {
        let ran = run("check", &["--json", &path]);
        let expected = match FOUND.iter().find(|(of, _)| *of == name) {
            Some((_, codes)) => codes,
            None if NOT_JUDGED.iter().any(|begin| name.starts_with(begin)) => "not-judged",
            None => "",
        };
        assert_eq!(codes(&ran), expected, "{name}");
        assert_eq!(ran.status == 0, expected.is_empty(), "{name}");
        seen += 1;
    }
    assert!(seen > 100, "{seen} recordings");
}

#[test]
fn whatever_the_verdict_reproaches_is_a_finding() {
    // The finish reason alone tells of the error.
    let malformed = std::fs::read_to_string(faults().join("api-error.gemini.sse")).expect("the stream");
    for reason in ["MALFORMED_RESPONSE", "MISSING_THOUGHT_SIGNATURE", "TOO_MANY_TOOL_CALLS", "UNEXPECTED_TOOL_CALL"] {
        let stream = malformed.replace("MALFORMED_FUNCTION_CALL", reason);
        assert_ne!(stream, malformed);
        let ran = run_with("check", &["--json"], &stream);
        assert_eq!((codes(&ran).as_str(), ran.status), ("api-error", 2), "{reason}");
    }
    // The error, not the reason that comes with it, is what is shown.
    let failed = r#"data: {"type":"response.created","response":{"id":"r","created_at":1,"model":"m","status":"in_progress","output":[]},"sequence_number":0}

data: {"type":"response.failed","response":{"id":"r","created_at":1,"model":"m","status":"failed","output":[],"error":{"code":"server_error","message":"It broke."}},"sequence_number":1}

"#;
    let ran = run_with("check", &[], failed);
    assert!(ran.out.matches("api-error").count() == 1 && ran.out.contains("api-error: It broke."), "{}", ran.out);
}

#[test]
fn what_the_parser_leaves_out_of_an_event_over_the_limit_is_not_missed() {
    let clean = std::fs::read_to_string(faults().join("clean-responses.sse")).expect("the stream");
    let long = format!(r#""status":"completed","instructions":"{}","model""#, "a".repeat(3000));
    let long = clean.replacen(r#""status":"completed","model""#, &long, 1);
    assert_ne!(clean, long);
    let ran = run_with("check", &["--json", "--max-event-len", "1000"], &long);
    assert_eq!((codes(&ran).as_str(), ran.status), ("", 0));
}

#[test]
fn the_exit_status_names_the_first_file_with_a_finding() {
    let clean = faults().join("clean-chat.sse");
    let clean = clean.to_str().expect("UTF-8");
    let fault = |code: &str| faults().join(format!("{code}.sse")).to_str().expect("UTF-8").to_owned();
    for (code, status) in [
        ("api-error", 2),
        ("stream-cut", 3),
        ("payload-malformed", 3),
        ("no-stream", 4),
        ("not-judged", 4),
        ("chat-id-changed", 5),
        ("chat-usage-place", 5),
        ("call-not-json", 5),
    ] {
        assert_eq!(run("check", &[clean, &fault(code), &fault("chat-id")]).status, status, "{code}");
    }
    let missing = run("check", &["/nonexistent/a.sse", &fault("chat-id")]);
    assert_eq!(missing.status, 1);
    assert!(missing.err.starts_with("deltawire: /nonexistent/a.sse: "), "{}", missing.err);
    assert!(missing.out.contains("chat-id"), "the other file is judged: {}", missing.out);
    assert_eq!(run("check", &[]).out, "standard input: 1 error, 0 warnings; no protocol, 0 events, 0 bytes; verdict: empty: nothing came\n".to_owned().replacen("standard", "standard input: byte 0, event 0: error no-stream: empty: nothing came\n  demanded: the response is an event stream of a response (WHATWG HTML, 9.2 Server-sent events)\nstandard", 1));
    assert_eq!(any(&["check", "--each", "x"], "").status, 1);
}

#[test]
fn all_findings_are_counted_and_some_are_printed() {
    let chunk = |id| {
        format!("data: {{\"id\":\"{id}\",\"object\":\"chat.completion.chunk\",\"created\":7,\"model\":\"m\",\"choices\":[]}}\n\n")
    };
    let stream: String = (0..30).map(chunk).collect();
    let ran = run_with("check", &["--each", "2"], &(stream.clone() + "data: [DONE]\n\n"));
    assert_eq!(ran.out.matches("error chat-id-changed: ").count(), 2, "{}", ran.out);
    assert!(
        ran.out.contains("29 errors, 0 warnings") && ran.out.contains("\n  27 more of chat-id-changed\n"),
        "{}",
        ran.out
    );
}

#[test]
fn texts_of_the_stream_stay_on_their_line() {
    let evil = "x\\n\\u001b[2J\\u202ey";
    let chunk = |id| {
        format!("data: {{\"id\":\"{id}\",\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"a\"}},\"finish_reason\":\"stop\"}}]}}\n\n")
    };
    let path = file("evil.sse", &(chunk("1") + &chunk(evil) + "data: [DONE]\n\n"));
    let ran = run("check", &[&path]);
    // The text is quoted, as Rust quotes it, and then has nothing left that a terminal obeys.
    assert!(ran.out.contains("the ID is \"x\\n\\u{1b}[2J\\u{202e}y\", and was \"1\"\n"), "{}", ran.out);
    assert!(!ran.out.contains(['\u{1b}', '\u{202e}']), "{}", ran.out);
}
