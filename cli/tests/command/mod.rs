//! Runs the command.
#![allow(dead_code)] // Not every test uses everything.

use serde_json::Value;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

/// The result of a run.
#[derive(Debug, PartialEq, Eq)]
pub struct Ran {
    pub out: String,
    pub err: String,
    pub status: i32,
}

pub const BINARY: &str = env!("CARGO_BIN_EXE_deltawire");

pub fn spawn(arguments: &[&str], stdin: Stdio) -> Child {
    Command::new(BINARY)
        .args(arguments)
        .stdin(stdin)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts")
}

/// Runs with these arguments and this standard input.
pub fn any(arguments: &[&str], input: &str) -> Ran {
    let mut child = spawn(arguments, Stdio::piped());
    let mut stdin = child.stdin.take().expect("a pipe");
    let bytes = input.to_owned();
    let writer = std::thread::spawn(move || drop(stdin.write_all(bytes.as_bytes())));
    let output = child.wait_with_output().expect("it ends");
    writer.join().expect("the writer ends");
    Ran {
        out: String::from_utf8(output.stdout).expect("the output is UTF-8"),
        err: String::from_utf8(output.stderr).expect("so are the errors"),
        status: output.status.code().expect("no signal ends it"),
    }
}

pub fn run(command: &str, arguments: &[&str]) -> Ran {
    any(&[&[command], arguments].concat(), "")
}

pub fn run_with(command: &str, arguments: &[&str], input: &str) -> Ran {
    any(&[&[command], arguments].concat(), input)
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../samples")
}

/// The path of a sample.
pub fn sample(name: &str) -> String {
    folder().join(name).to_str().expect("the path is UTF-8").to_owned()
}

/// Returns the name of every sample, with its expected message.
pub fn samples() -> Vec<(String, Value)> {
    let mut samples = Vec::new();
    for entry in std::fs::read_dir(folder()).expect("the samples are there") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().and_then(|name| name.to_str()).expect("a name").to_owned();
        let Some((stem, "sse" | "json")) = name.split_once('.') else { continue };
        let expected = std::fs::read(path.with_file_name(format!("{stem}.expected.json"))).expect("the message");
        samples.push((name, serde_json::from_slice(&expected).expect("the message is JSON")));
    }
    samples.sort_by(|a, b| a.0.cmp(&b.0));
    samples
}

/// Runs on a terminal, which gets standard output and standard error. Returns `None` without Python, which makes the
/// terminal.
pub fn on_terminal(arguments: &[&str]) -> Option<String> {
    on_terminal_with(&[], arguments)
}

/// Runs on a terminal with these environment variables.
pub fn on_terminal_with(environment: &[(&str, &str)], arguments: &[&str]) -> Option<String> {
    const SPAWN: &str = "import pty, sys; pty.spawn(sys.argv[1:])";
    let mut python = Command::new("python3");
    python.env_remove("NO_COLOR").env("TERM", "xterm").envs(environment.iter().copied());
    match python.args(["-B", "-c", SPAWN, BINARY]).args(arguments).stdin(Stdio::null()).output() {
        Ok(ran) => Some(String::from_utf8(ran.stdout).expect("UTF-8").replace("\r\n", "\n")),
        Err(error) => {
            assert!(std::env::var_os("REQUIRE_ALL").is_none_or(|all| all != "1"), "REQUIRE_ALL=1: python3: {error}");
            eprintln!("SKIP terminal: python3 is missing");
            None
        }
    }
}

/// Writes a file with this input, for tests that cannot use a pipe.
pub fn file(name: &str, input: &str) -> String {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, input).expect("the file is written");
    path.to_str().expect("the path is UTF-8").to_owned()
}

/// The path of a file that is not there yet.
pub fn fresh(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_file(&path);
    path.to_str().expect("the path is UTF-8").to_owned()
}

/// Returns the folder of the corpus. Without one the test is skipped.
pub fn corpus() -> Option<PathBuf> {
    let corpus = std::env::var_os("DELTAWIRE_CORPUS").filter(|path| !path.is_empty());
    if corpus.is_none() {
        let required = std::env::var("REQUIRE_ALL").is_ok_and(|value| value == "1");
        assert!(!required, "REQUIRE_ALL=1: DELTAWIRE_CORPUS is not set");
        eprintln!("SKIP corpus: DELTAWIRE_CORPUS is not set");
    }
    corpus.map(PathBuf::from)
}

/// Sends the signal of Ctrl-C.
#[cfg(unix)]
pub fn interrupt(child: &Child) {
    let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill runs");
    assert!(kill.success());
}
