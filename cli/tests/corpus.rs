//! The command on recorded streams, which `DELTAWIRE_CORPUS` names the folder of.

mod command;

use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

const SIZES: [&str; 4] = ["1", "7", "1448", "100000000"];

/// The folder of the corpus. None: the test is skipped.
fn corpus() -> Option<PathBuf> {
    let corpus = std::env::var_os("DELTAWIRE_CORPUS").filter(|path| !path.is_empty());
    if corpus.is_none() {
        let required = std::env::var("REQUIRE_ALL").is_ok_and(|value| value == "1");
        assert!(!required, "REQUIRE_ALL=1: DELTAWIRE_CORPUS is not set");
        eprintln!("SKIP corpus: DELTAWIRE_CORPUS is not set");
    }
    corpus.map(PathBuf::from)
}

/// The protocol of each stream: as the manifest tags it, and as the golden results have it.
fn protocols(streams: &Path) -> BTreeMap<String, String> {
    let manifest = std::fs::read_to_string(streams.join("MANIFEST.tsv")).expect("the manifest");
    let mut rows = manifest.lines().map(|line| line.split('\t').collect::<Vec<_>>());
    let header = rows.next().expect("a header");
    let column = |name: &str| header.iter().position(|column| *column == name).expect("the column");
    let (file, tags) = (column("file"), column("tags"));
    let mut protocols = BTreeMap::new();
    for row in rows {
        let protocol = row[tags].split(',').find_map(|tag| tag.strip_prefix("proto=")).expect("a protocol");
        let golden = golden(streams, row[file]);
        assert_eq!(golden["protocol"], protocol, "{}", row[file]);
        protocols.insert(row[file].to_owned(), protocol.to_owned());
    }
    protocols
}

fn golden(streams: &Path, file: &str) -> Value {
    let bytes = std::fs::read(streams.join(format!("{file}.expected.json"))).expect("the golden result");
    let golden: Value = serde_json::from_slice(&bytes).expect("it is JSON");
    // A last block without its blank line counts here.
    match (golden["eof"] == "pending", golden.get("flushed")) {
        (true, Some(flushed)) => {
            let mut flushed = flushed.clone();
            if flushed.get("protocol").is_none() {
                flushed["protocol"] = golden["protocol"].clone();
            }
            flushed
        }
        _ => golden,
    }
}

fn is_chat(protocol: &str) -> bool {
    matches!(protocol, "chat" | "text_completion")
}

#[test]
fn every_chat_stream_comes_to_its_golden_message() {
    let Some(corpus) = corpus() else { return };
    let streams = corpus.join("streams");
    let chat = protocols(&streams).values().filter(|protocol| is_chat(protocol)).count();
    assert!(chat > 0);
    let compared = Command::new("python3")
        .arg("-B")
        .arg(corpus.join("compare_messages.py"))
        .arg(command::BINARY)
        .arg(&streams)
        .args(SIZES)
        .output()
        .expect("python3 runs");
    let printed = String::from_utf8_lossy(&compared.stdout);
    assert!(compared.status.success(), "{printed}{}", String::from_utf8_lossy(&compared.stderr));
    let all = chat * SIZES.len();
    let expected = format!("{all}/{all} (read sizes {})", SIZES.join(" "));
    assert_eq!(printed.lines().last(), Some(expected.as_str()));
}

/// The verdict that the golden result has. Where an event is no JSON, something was lost.
fn status(golden: &Value) -> i32 {
    let choices: Vec<&Value> = golden["choices"].as_object().expect("choices").values().collect();
    let failed = |choice: &&Value| choice["finish_reason"] == "error" || !choice["error"].is_null();
    let finished = |choice: &Value| choice["finish_reason"].as_str().is_some_and(|reason| !reason.is_empty());
    if !golden["error"].is_null() || choices.iter().any(failed) {
        2
    } else if golden["json_errors"] != 0 {
        3
    } else if golden["done"] == true || !choices.is_empty() && choices.iter().all(|choice| finished(choice)) {
        0
    } else {
        3
    }
}

#[test]
fn the_exit_status_is_the_verdict() {
    let Some(corpus) = corpus() else { return };
    let streams = corpus.join("streams");
    for (file, protocol) in protocols(&streams) {
        let path = streams.join(&file);
        let path = path.to_str().expect("the path is UTF-8");
        let ran = command::run("message", &[path]);
        let golden = golden(&streams, &file);
        if is_chat(&protocol) {
            assert_eq!(ran.status, status(&golden), "{file}: {}", ran.err);
        } else {
            // Streams of other protocols: those that are read are whole here, and so is one of chunks that share a block.
            let is_read = matches!(&protocol[..], "anthropic" | "gemini" | "responses");
            let expected = if is_read || ran.err.contains("quirk F28") { 0 } else { 4 };
            assert_eq!(ran.status, expected, "{file}: {}", ran.err);
        }
        for size in SIZES {
            assert_eq!(command::run("message", &["--read-size", size, path]), ran, "{file} at {size}");
        }
        let events = command::run("events", &[path]);
        assert_eq!((events.status, &events.err), (ran.status, &ran.err), "{file}");
        for size in SIZES {
            assert_eq!(command::run("events", &["--read-size", size, path]), events, "{file} at {size}");
        }
    }
}

#[test]
fn sse_has_as_many_events_as_the_standard() {
    let Some(corpus) = corpus() else { return };
    let streams = corpus.join("streams");
    for file in protocols(&streams).keys() {
        let path = streams.join(file);
        let path = path.to_str().expect("the path is UTF-8");
        let bytes = std::fs::read(streams.join(format!("{file}.expected.json"))).expect("the golden result");
        let golden: Value = serde_json::from_slice(&bytes).expect("it is JSON");
        let events = |ran: &command::Ran| ran.out.lines().filter(|line| line.starts_with("{\"data\":")).count() as u64;
        let ran = command::run("sse", &[path]);
        assert_eq!(Some(events(&ran)), golden["events"].as_u64(), "{file}");
        let pending = golden["eof"] == "pending";
        assert_eq!(ran.status == 3, pending, "{file}: {}", ran.err);
        if pending {
            let flushed = command::run("sse", &["--flush", path]);
            assert_eq!(Some(events(&flushed)), golden["flushed"]["events"].as_u64(), "{file}");
        }
    }
}
