//! `deltawire stats`: counts, times of a pipe, the plot.

mod command;

use command::{fresh, on_terminal, run, run_with, sample, samples, spawn};
use serde_json::{json, Value};
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

fn stats(name: &str) -> Value {
    let ran = run("stats", &["--json", &sample(name)]);
    serde_json::from_str(&ran.out).expect("one JSON object")
}

#[test]
fn counts_are_those_of_the_stream() {
    let stats = stats("weather.sse");
    let bytes = std::fs::metadata(sample("weather.sse")).expect("the sample").len();
    assert_eq!(stats["bytes"], json!(bytes));
    assert_eq!(stats["events"], json!(21));
    assert_eq!((&stats["calls"], &stats["finish_reason"]), (&json!(1), &json!("tool_calls")));
    let arguments = r#"{"city":"Lisbon","unit":"celsius","days":["today","tomorrow"]}"#.len();
    assert_eq!(stats["text_bytes"], json!(arguments));
    assert_eq!(stats["bytes_per_text_byte"], json!(bytes as f64 / arguments as f64));
    assert_eq!((&stats["usage"]["total_tokens"], &stats["times"]), (&json!(106), &Value::Null));
}

#[test]
fn the_status_is_that_of_the_other_commands_and_reads_change_nothing() {
    for (name, _) in samples() {
        let path = sample(&name);
        let whole = run("stats", &["--json", &path]);
        assert_eq!(whole.status, run("message", &[&path]).status, "{name}");
        let counts = |out: &str| {
            let mut stats: Value = serde_json::from_str(out).expect("JSON");
            stats.as_object_mut().expect("an object").remove("reads");
            stats
        };
        let cut = run("stats", &["--read-size", "1", "--json", &path]);
        assert_eq!(counts(&cut.out), counts(&whole.out), "{name}");
    }
}

/// Runs on a pipe that gets each piece after a while. Returns standard output, standard error and the status.
fn paced(arguments: &[&str], pieces: &[&[u8]], wait: Duration) -> (String, String, i32) {
    let mut child = spawn(arguments, Stdio::piped());
    let mut stdin = child.stdin.take().expect("a pipe");
    for piece in pieces {
        stdin.write_all(piece).expect("it reads");
        std::thread::sleep(wait);
    }
    drop(stdin);
    let output = child.wait_with_output().expect("it ends");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (text(output.stdout), text(output.stderr), output.status.code().expect("no signal"))
}

fn content(text: &str) -> String {
    format!("data: {{\"model\":\"a<b\",\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{text}\"}}}}]}}\n\n")
}

#[test]
fn a_pipe_has_times() {
    let plot = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("times.svg");
    let plot_path = plot.to_str().expect("UTF-8");
    let (first, second) = (content("Hi"), content(" there"));
    let end = "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}],\"usage\":{\"completion_tokens\":2}}\n\ndata: [DONE]\n\n";
    let pieces = [b": hello\n\n", first.as_bytes(), second.as_bytes(), end.as_bytes()];
    let wait = Duration::from_millis(60);
    let (out, err, status) = paced(&["stats", "--json", "--plot", plot_path], &pieces, wait);
    assert_eq!((err.as_str(), status), ("", 0));
    let stats: Value = serde_json::from_str(&out).expect("JSON");
    let times = &stats["times"];
    let time = |name: &str| times[name].as_f64().expect("a time");
    assert!(time("first_token") - time("first_byte") >= 0.05, "{times}");
    assert!(time("end") - time("last_token") >= 0.1, "{times}");
    assert_eq!(times["gaps_ms"]["count"], json!(1));
    assert!(times["gaps_ms"]["longest"].as_f64() >= Some(50.0), "{times}");
    let speed = 2.0 / (time("last_token") - time("first_token"));
    assert!((time("tokens_per_second") - speed).abs() < 0.01 * speed, "{times}");
    let svg = std::fs::read_to_string(&plot).expect("the plot");
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"), "{svg}");
    assert!(svg.contains(">a&lt;b</text>") && svg.matches("<title>content</title>").count() == 2, "{svg}");
}

#[test]
fn each_choice_has_its_finish_reason() {
    let finish = |index: u32, reason: &str| {
        format!("data: {{\"choices\":[{{\"index\":{index},\"delta\":{{}},\"finish_reason\":\"{reason}\"}}]}}\n\n")
    };
    let stream = [finish(1, "length"), finish(0, "stop"), finish(2, "own")].concat();
    let ran = run_with("stats", &[], &stream);
    assert!(ran.out.contains("finish  stop, length (choice 1), own (choice 2)\n"), "{}", ran.out);
    let stats: Value = serde_json::from_str(&run_with("stats", &["--json"], &stream).out).expect("JSON");
    assert_eq!(stats["finish_reasons"], json!({"0": "stop", "1": "length", "2": "own"}));
    assert_eq!(stats["finish_reason"], json!("stop"));
}

#[test]
fn a_plain_file_has_no_plot() {
    let ran = run("stats", &["--plot", "/nonexistent/a.svg", &sample("usage.sse")]);
    assert!(ran.status == 0 && ran.err.starts_with("deltawire: no plot: "), "{}", ran.err);
    let two = run("stats", &["--plot", "a.svg", &sample("usage.sse"), &sample("usage.sse")]);
    assert_eq!((two.status, two.err.as_str()), (1, "deltawire: --plot draws one stream\n"));
}

#[test]
fn a_terminal_gets_statistics_without_what_it_would_obey() {
    let evil = command::file("stats.sse", &content("x").replace("a<b", "m\\u001b[2J"));
    let Some(screen) = on_terminal(&["stats", &evil]) else { return };
    assert!(screen.contains("model m\\u001b[2J\n"), "{screen:?}");
    assert!(!screen.contains('\u{1b}'), "{screen:?}");
}

/// A longer line would leave a row behind each time it changes.
#[cfg(unix)]
#[test]
fn the_line_of_a_live_stream_fits_into_80_columns() {
    let fifo = fresh("live");
    assert!(Command::new("mkfifo").arg(&fifo).status().expect("mkfifo runs").success());
    let events = content(&"a".repeat(100_000)).repeat(100);
    let writer = std::thread::spawn({
        let fifo = fifo.clone();
        move || {
            let mut pipe = std::fs::OpenOptions::new().write(true).open(fifo).expect("the pipe");
            for _ in 0..4 {
                pipe.write_all(events.as_bytes()).expect("it reads");
                std::thread::sleep(Duration::from_millis(120));
            }
        }
    });
    // Without a terminal nobody would read the pipe.
    let screen = on_terminal(&["stats", &fifo]).unwrap_or_else(|| run("stats", &[&fifo]).out);
    writer.join().expect("it wrote");
    let lines: Vec<_> = screen.split("\r\u{1b}[K").skip(1).filter(|line| line.contains("bytes of text, ")).collect();
    assert!(lines.len() > 2 || !screen.contains('\u{1b}'), "{screen:?}");
    for line in lines {
        assert!(line.lines().next().expect("a line").chars().count() < 80, "{line:?}");
    }
}

#[test]
fn what_is_no_stream_is_named() {
    let ran = run_with("stats", &[], "<html>502</html>");
    assert_eq!(ran.status, 4);
    assert!(ran.out.contains("verdict not an event stream: HTML or XML: <html>502</html>\n"), "{}", ran.out);
    assert_eq!(ran.err, "deltawire: the input begins with: <html>502</html>\n");
}

#[cfg(unix)]
#[test]
fn an_interruption_prints_the_statistics_so_far() {
    let mut child = spawn(&["stats"], Stdio::piped());
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(content("Hi").as_bytes()).expect("it reads");
    std::thread::sleep(Duration::from_millis(300));
    command::interrupt(&child);
    let (mut out, mut err) = (String::new(), String::new());
    child.stdout.take().expect("a pipe").read_to_string(&mut out).expect("UTF-8");
    child.stderr.take().expect("a pipe").read_to_string(&mut err).expect("UTF-8");
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
    assert!(out.contains("text    content 2 bytes (2 characters)\n"), "{out}");
    assert!(err.starts_with("deltawire: interrupted: "), "{err}");
    drop(stdin);
}
