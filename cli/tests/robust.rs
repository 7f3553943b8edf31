//! The commands on files that are missing, binary, empty or huge, on closed pipes, and at Ctrl-C; completions, manual, colors.

mod command;

use command::{any, fresh, on_terminal, on_terminal_with, run, spawn, BINARY};
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
}

/// A file of this length without content, which takes no room.
fn sparse(name: &str, len: u64) -> String {
    let path = folder().join(name);
    File::create(&path).and_then(|file| file.set_len(len)).expect("the file");
    path.to_str().expect("UTF-8").to_owned()
}

fn fault(code: &str) -> String {
    format!("{}/tests/faults/{code}.sse", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn missing_files_are_named() {
    for arguments in [["check", "/nonexistent"], ["stats", "/nonexistent"], ["replay", "/nonexistent"], ["check", "/"]]
    {
        let ran = any(&arguments, "");
        assert_eq!((ran.status, ran.out.as_str()), (1, ""), "{arguments:?}");
        assert!(ran.err.starts_with(&format!("deltawire: {}: ", arguments[1])), "{}", ran.err);
        assert_eq!(ran.err.lines().count(), 1, "{}", ran.err);
    }
}

#[test]
fn binary_and_empty_input_is_named() {
    let path = folder().join("binary");
    for (bytes, what) in [
        (&b"\x1f\x8b\x08\x00\x00\x00\x00\x00"[..], "not an event stream: gzip"),
        (b"\x00\xff\x1b[2J\xfe", "not an event stream: binary"),
        (b"", "empty: nothing came"),
    ] {
        std::fs::write(&path, bytes).expect("the file");
        for command in ["check", "stats"] {
            let ran = run(command, &[path.to_str().expect("UTF-8")]);
            assert_eq!(ran.status, 4, "{command} {what}");
            assert!(ran.out.contains(what), "{command} {what}: {}", ran.out);
            // One form of escapes, in the verdict and behind it.
            let escaped = ran.out.contains("\\u001b[2J") && ran.err.contains("\\u001b[2J");
            assert!(escaped == bytes.contains(&0x1b) && !ran.out.contains("\\u{"), "{command} {what}: {}", ran.out);
            assert!(!(ran.out + &ran.err).contains('\u{1b}'), "{command} {what}");
        }
    }
    assert_eq!(run("replay", &[path.to_str().expect("UTF-8")]).out, "");
}

#[cfg(target_os = "linux")]
#[test]
fn two_gib_are_read_in_little_memory() {
    let huge = sparse("huge", 2 << 30);
    for command in ["check", "stats"] {
        let limited = format!("ulimit -v 200000; exec \"$0\" {command} \"$1\"");
        let ran = Command::new("sh").args(["-c", &limited, BINARY, &huge]).output().expect("sh runs");
        let out = String::from_utf8(ran.stdout).expect("UTF-8");
        assert_eq!(ran.status.code(), Some(4), "{command}: {}", String::from_utf8_lossy(&ran.stderr));
        assert!(out.contains("2147483648") && out.contains("not an event stream"), "{command}: {out}");
    }
}

#[test]
fn a_file_that_takes_its_time_shows_how_far_it_is() {
    // A fast machine reads a file of the first size in less than the second after which the progress is shown.
    let mut sizes = [48u64, 192, 768, 3072].into_iter();
    let (slow, screen) = loop {
        let mib = sizes.next().expect("no size took a second");
        let slow = sparse("slow", mib << 20);
        let Some(screen) = on_terminal(&["check", "--read-size", "16", &slow]) else { return };
        if screen.contains(&format!(" % of {mib} MiB")) {
            break (slow, screen);
        }
    };
    // The line is gone before the findings come.
    let rest = screen.rsplit("\r\u{1b}[K").next().expect("a rest");
    assert!(rest.starts_with(&slow), "{screen:?}");
    let quick = on_terminal(&["stats", &fault("clean-chat")]).expect("a terminal");
    assert!(!quick.contains('%'), "{quick:?}");
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    for (arguments, status) in [
        (&["check", "--each", "100000", "-"][..], 5),
        (&["stats"], 0),
        (&["record", "-o", &fresh("gone.jsonl")], 0),
        (&["check", "--rules"], 0),
        (&["completions", "bash"], 0),
    ] {
        let mut child = spawn(arguments, Stdio::piped());
        drop(child.stdout.take());
        let mut stdin = child.stdin.take().expect("a pipe");
        let stream = std::fs::read(fault("chat-id-changed")).expect("the stream");
        let writer = std::thread::spawn(move || (0..200).try_for_each(|_| stdin.write_all(&stream)));
        let output = child.wait_with_output().expect("it ends");
        let _ = writer.join().expect("the writer ends");
        let err = String::from_utf8(output.stderr).expect("UTF-8");
        assert!(!err.contains("panicked") && !err.contains("pipe"), "{arguments:?}: {err}");
        // What was found by then decides.
        assert!([0, status].contains(&output.status.code().expect("no signal")), "{arguments:?}: {:?}", output.status);
    }
}

#[cfg(unix)]
#[test]
fn an_interruption_is_named_and_keeps_what_came() {
    let recorded = &*fresh("interrupted.jsonl");
    let clean = std::fs::read(fault("chat-id-changed")).expect("the stream");
    for (arguments, wanted) in [
        (&["check"][..], "chat-id-changed"),
        (&["record", "-o", recorded], "data: [DONE]"),
        (&["replay", "--stall", "60000", &fault("clean-chat")], ""),
    ] {
        let mut child = spawn(arguments, Stdio::piped());
        let mut stdin = child.stdin.take().expect("a pipe");
        if arguments[0] != "replay" {
            stdin.write_all(&clean).expect("it reads");
        }
        let mut out = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut seen = String::new();
        while !seen.contains(wanted) {
            assert_ne!(out.read_line(&mut seen).expect("UTF-8"), 0, "{arguments:?}: {seen}");
        }
        // Whoever waits for the command to write cannot see that it waits for a signal, or has kept a read.
        std::thread::sleep(std::time::Duration::from_millis(200));
        command::interrupt(&child);
        let mut err = String::new();
        child.stderr.take().expect("a pipe").read_to_string(&mut err).expect("UTF-8");
        assert_eq!(child.wait().expect("it ends").code(), Some(130), "{arguments:?}");
        assert!(err.starts_with("deltawire: interrupted"), "{arguments:?}: {err}");
        drop(stdin);
    }
    let played = Command::new(BINARY).args(["replay", "--speed", "0", recorded]).output().expect("it runs");
    assert!(played.stdout == clean);
}

const COMMANDS: [&str; 11] =
    ["text", "message", "events", "convert", "check", "stats", "record", "replay", "sse", "completions", "man"];

/// A line of a manual page without its fonts.
fn plain(line: &str) -> String {
    line.replace("\\fB", "").replace("\\fR", "").replace("\\-", "-")
}

#[test]
fn shells_and_man_know_every_command() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = run("completions", &[shell]).out;
        for command in COMMANDS {
            assert!(script.contains(command), "{shell}: {command}");
        }
    }
    assert_eq!(run("completions", &["tcsh"]).status, 1);
    let pages = folder().join("man");
    std::fs::create_dir_all(&pages).expect("a folder");
    assert_eq!(run("man", &[pages.to_str().expect("UTF-8")]).status, 0);
    let page = |name: String| std::fs::read_to_string(pages.join(name + ".1")).expect("the page");
    let help = any(&["--help"], "").out;
    for command in COMMANDS {
        let page = page(format!("deltawire-{command}"));
        let (_, synopsis) = page.split_once(".SH SYNOPSIS\n").expect("a synopsis");
        let usage = any(&[command, "--help"], "").out;
        let (_, usage) = usage.split_once("Usage: ").expect("a usage");
        assert_eq!(synopsis.lines().next().map(plain), usage.lines().next().map(str::to_owned));
        assert!(help.contains(&format!("\n  {command} ")), "{command}: {help}");
        assert_eq!(page.contains("color"), command == "check", "{command}: {page}");
        let has_status = page.contains(".SH EXIT STATUS\n");
        assert!(has_status == usage.contains("Exit status") && !page.contains("EXTRA"), "{command}: {page}");
    }
    assert!(page("deltawire".into()).contains("deltawire\\-man(1)"));
    assert_eq!(run("man", &["/nonexistent"]).status, 1);
}

#[test]
fn findings_have_colors_where_they_are_wanted() {
    let stream = fault("chat-id-changed");
    let colored = |text: &str| text.contains("\u{1b}[1;31merror\u{1b}[0m \u{1b}[1mchat-id-changed\u{1b}[0m: ");
    assert!(!run("check", &[&stream]).out.contains('\u{1b}'));
    assert!(colored(&run("check", &["--color", "always", &stream]).out));
    let Some(screen) = on_terminal(&["check", &stream]) else { return };
    assert!(colored(&screen), "{screen:?}");
    let plain = |screen: Option<String>| !screen.expect("a terminal").contains('\u{1b}');
    assert!(plain(on_terminal(&["check", "--color", "never", &stream])));
    assert!(plain(on_terminal_with(&[("NO_COLOR", "1")], &["check", &stream])));
    assert!(plain(on_terminal_with(&[("TERM", "dumb")], &["check", &stream])));
}
