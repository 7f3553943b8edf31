//! The command on recorded streams, in the folder that `DELTAWIRE_CORPUS` names.

mod command;

use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

const SIZES: [&str; 4] = ["1", "7", "1448", "100000000"];

/// Returns the golden results by the names of their streams.
fn goldens(streams: &Path) -> BTreeMap<String, Value> {
    let mut goldens = BTreeMap::new();
    for entry in std::fs::read_dir(streams).expect("the streams") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().and_then(|name| name.to_str()).expect("a name");
        let Some(name) = name.strip_suffix(".expected.json") else { continue };
        let bytes = std::fs::read(&path).expect("the golden result");
        goldens.insert(name.to_owned(), serde_json::from_slice(&bytes).expect("it is JSON"));
    }
    goldens
}

/// Returns the result that includes a last block without its blank line, which a response reads.
fn flushed(golden: &Value) -> &Value {
    golden.get("flushed").filter(|_| golden["eof"] == "pending").unwrap_or(golden)
}

fn is_chat(protocol: &Value) -> bool {
    protocol == "chat" || protocol == "text_completion"
}

#[test]
fn every_chat_stream_has_its_golden_message() {
    let Some(corpus) = command::corpus() else { return };
    let streams = corpus.join("streams");
    let chat = goldens(&streams).values().filter(|golden| is_chat(&golden["protocol"])).count();
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

#[test]
fn every_odd_stream_is_read_as_it_is_due() {
    let Some(corpus) = command::corpus() else { return };
    let check = corpus.join("field/check.py");
    let checked = Command::new("python3").arg("-B").arg(check).arg(command::BINARY).output().expect("python3 runs");
    let printed = String::from_utf8_lossy(&checked.stdout);
    assert!(checked.status.success(), "{printed}{}", String::from_utf8_lossy(&checked.stderr));
    let count = printed.lines().last().and_then(|line| line.split_once('/')).expect("a count of cases").0;
    assert!(count.parse::<u32>().expect("a number") > 0, "{printed}");
}

/// Returns the exit status that the golden result stands for. If an event is not JSON, something was lost.
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
fn the_exit_status_follows_the_golden_result() {
    let Some(corpus) = command::corpus() else { return };
    let streams = corpus.join("streams");
    for (file, golden) in goldens(&streams) {
        let path = streams.join(&file);
        let path = path.to_str().expect("the path is UTF-8");
        let ran = command::run("message", &[path]);
        let golden = flushed(&golden);
        let protocol = &golden["protocol"];
        if is_chat(protocol) {
            assert_eq!(ran.status, status(golden), "{file}: {}", ran.err);
        } else {
            // Streams of other protocols that the library reads are complete here, and so is the stream of chunks that
            // share a block.
            let is_read = ["anthropic", "gemini", "responses"].iter().any(|read| protocol == read);
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
fn sse_prints_as_many_events_as_the_standard_requires() {
    let Some(corpus) = command::corpus() else { return };
    let streams = corpus.join("streams");
    for (file, golden) in goldens(&streams) {
        let path = streams.join(&file);
        let path = path.to_str().expect("the path is UTF-8");
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
