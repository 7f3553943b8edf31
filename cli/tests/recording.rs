//! `deltawire record` and `replay`: bytes and times come back as they were, and the faults that are wanted.

mod command;

use command::{file, fresh, run, run_with, sample, spawn, Ran};
use serde_json::{json, Value};
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Reads of a stream, of which one ends inside a character, with their times in microseconds.
const READS: [(u64, &[u8]); 5] = [
    (10_000, b": hi\n\ndata: {\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Gr\xc3"),
    (30_000, b"\xbc\"}}]}\n\n"),
    (40_000, b"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"n\"}}]}\n\n"),
    (140_000, b"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\".\"},\"finish_reason\":\"stop\"}]}\n\n"),
    (150_000, b"data: [DONE]\n\n"),
];

fn bytes() -> Vec<u8> {
    READS.iter().flat_map(|(_, bytes)| bytes.iter().copied()).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A recording of these reads, which ends at 200 ms.
fn recording(name: &str) -> String {
    let read = |(us, bytes): &(u64, &[u8])| match std::str::from_utf8(bytes) {
        Ok(text) => json!({"us": us, "text": text}),
        Err(_) => json!({"us": us, "hex": hex(bytes)}),
    };
    let lines = [json!({"deltawire_recording": 1})].into_iter().chain(READS.iter().map(read));
    let lines = lines.chain([json!({"us": 200_000, "end": true})]);
    file(name, &lines.map(|line| format!("{line}\n")).collect::<String>())
}

#[test]
fn what_is_recorded_passes_through_and_is_played_again() {
    let recorded = fresh("passed.jsonl");
    let mut child = spawn(&["record", "-o", &recorded], Stdio::piped());
    let mut stdin = child.stdin.take().expect("a pipe");
    let mut out = child.stdout.take().expect("a pipe");
    let mut passed = vec![0; 65536];
    for (_, bytes) in READS {
        stdin.write_all(bytes).expect("it reads");
        // It comes out before more goes in.
        let len = out.read(&mut passed).expect("it writes");
        assert_eq!(&passed[..len], bytes);
        std::thread::sleep(Duration::from_millis(20));
    }
    drop(stdin);
    assert!(child.wait().expect("it ends").success());
    let lines: Vec<Value> = std::fs::read_to_string(&recorded)
        .expect("the recording")
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    assert_eq!(lines.len(), READS.len() + 2);
    let times: Vec<u64> = lines[1..].iter().map(|line| line["us"].as_u64().expect("a time")).collect();
    assert!(times.windows(2).all(|pair| pair[1] - pair[0] >= 15_000), "{times:?}");
    assert_eq!((&lines[1]["hex"], &lines[6]["end"]), (&json!(hex(READS[0].1)), &json!(true)));
    let played = Command::new(command::BINARY).args(["replay", "--speed", "0", &recorded]).output().expect("it runs");
    assert!(played.status.success() && played.stdout == bytes());
}

#[test]
fn statistics_of_a_recording_have_its_times() {
    let ran = run("stats", &["--json", &recording("times.jsonl")]);
    assert_eq!((ran.status, ran.err.as_str()), (0, ""));
    let stats: Value = serde_json::from_str(&ran.out).expect("JSON");
    assert_eq!((&stats["bytes"], &stats["reads"]), (&json!(bytes().len()), &json!(5)));
    let times = &stats["times"];
    let expected = [("first_byte", 0.01), ("first_token", 0.03), ("last_token", 0.14), ("end", 0.2)];
    for (name, seconds) in expected {
        assert_eq!(times[name], json!(seconds), "{name}");
    }
    let gaps = &times["gaps_ms"];
    assert_eq!(gaps["count"], json!(2));
    assert_eq!(gaps["longest"], json!(100.0));
    for (part, gap) in [("p50", 10.0), ("p99", 100.0)] {
        assert!((gaps[part].as_f64().expect("a gap") - gap).abs() < 0.001 * gap, "{part}: {gaps}");
    }
}

/// Every command reads the bytes of a recording, also from a pipe, in whatever pieces its first line comes.
#[test]
fn every_command_reads_the_bytes_of_a_recording() {
    let (plain, recorded) = (file("plain.sse", &String::from_utf8(bytes()).expect("UTF-8")), recording("any.jsonl"));
    let lines = std::fs::read_to_string(&recorded).expect("the recording");
    for command in ["text", "message", "events", "convert", "check", "sse"] {
        let named = |name: &str, ran: Ran| Ran { out: ran.out.replace(name, "NAME"), ..ran };
        for options in [&["--read-size", "1000000"][..], &["--read-size", "7"], &[]] {
            let options = if command == "convert" { &[options, &["--to", "chat"]].concat() } else { options };
            let expected = named(&plain, run(command, &[options, &[&plain]].concat()));
            assert!(
                expected.out.contains(if command == "check" { "4 events, 229 bytes" } else { "\u{fc}" }),
                "{expected:?}"
            );
            assert_eq!(named(&recorded, run(command, &[options, &[&recorded]].concat())), expected, "{command}");
            let piped = named("standard input", run_with(command, options, &lines));
            assert_eq!(piped, expected, "{command}");
        }
    }
    let stats = |ran: Ran| ran.out.replace(&recorded, "standard input");
    assert_eq!(run_with("stats", &[], &lines).out, stats(run("stats", &[&recorded])));
    assert_eq!(run_with("replay", &["--speed", "0", "-"], &lines).out.into_bytes(), bytes());
    let mut child = spawn(&["stats"], Stdio::piped());
    let mut stdin = child.stdin.take().expect("a pipe");
    for piece in [&lines[..1], &lines[1..20], &lines[20..]] {
        stdin.write_all(piece.as_bytes()).expect("it reads");
        std::thread::sleep(Duration::from_millis(20));
    }
    drop(stdin);
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(String::from_utf8(output.stdout).expect("UTF-8"), stats(run("stats", &[&recorded])));
    // A stream that only begins like one is no recording.
    assert_eq!(run_with("replay", &["-"], "{\"deltawire_rec").out, "{\"deltawire_rec");
    // What passes `record` stays as it is.
    let again = fresh("again.jsonl");
    assert_eq!(run_with("record", &["-o", &again], &lines).out, lines);
}

/// What is whole of a recording is read.
#[test]
fn a_recording_that_was_cut_is_read_up_to_there() {
    let lines = std::fs::read_to_string(recording("whole.jsonl")).expect("the recording");
    let lines: Vec<&str> = lines.split_inclusive('\n').collect();
    for cut in [1, 9, lines[3].len() - 1] {
        let name = file("cut.jsonl", &(lines[..3].concat() + &lines[3][..cut]));
        // A last line without its line end is whole.
        let (reads, said) = if cut == lines[3].len() - 1 {
            (3, String::new())
        } else {
            (2, format!("deltawire: {name}: the recording was cut inside line 4; what came before is read\n"))
        };
        let played = Command::new(command::BINARY).args(["replay", "--speed", "0", &name]).output().expect("it runs");
        assert_eq!(played.stdout, READS[..reads].iter().flat_map(|(_, bytes)| bytes.to_vec()).collect::<Vec<_>>());
        assert_eq!(
            (String::from_utf8_lossy(&played.stderr).into_owned(), played.status.code()),
            (said.clone(), Some(0))
        );
        let ran = run("message", &[&name]);
        assert!(ran.status == 3 && ran.out.contains("\"Gr\u{fc}") && ran.err.starts_with(&said), "{ran:?}");
    }
    // What is wrong before the last line is a fault.
    let ran = run("message", &[&file("wrong.jsonl", &(lines[..2].concat() + "{\n" + lines[2]))]);
    assert!(ran.status == 1 && ran.err.contains(": line 3 of the recording: "), "{ran:?}");
}

#[test]
fn a_recording_that_is_played_takes_its_time() {
    let recorded = recording("paced.jsonl");
    for (speed, least, most) in [("1", 200, 2_000), ("4", 50, 1_000)] {
        let began = Instant::now();
        assert_eq!(run("replay", &["--speed", speed, "--cut", "8", &recorded]).out, ": hi\n\nda");
        let cut = began.elapsed();
        let played =
            Command::new(command::BINARY).args(["replay", "--speed", speed, &recorded]).output().expect("it runs");
        let whole = began.elapsed() - cut;
        assert!(played.stdout == bytes());
        assert!((least..most).contains(&whole.as_millis()), "{whole:?} at speed {speed}");
    }
    let began = Instant::now();
    assert_eq!(
        run("replay", &["--speed", "0", "--stall", "150", "--stall-at", "3", "--cut", "8", &recorded]).out,
        ": hi\n\nda"
    );
    assert!(began.elapsed().as_millis() >= 150);
    // A pace that no clock can count does not end.
    let mut endless = spawn(&["replay", "--speed", "1e-300", &recorded], Stdio::null());
    std::thread::sleep(Duration::from_millis(200));
    assert!(endless.try_wait().expect("it runs").is_none());
    endless.kill().expect("it ends");
    // A plain file is played at once.
    let sse = sample("weather.sse");
    assert_eq!(run("replay", &[&sse]).out.into_bytes(), std::fs::read(&sse).expect("the sample"));
}

/// A server that ends with the test.
struct Server {
    child: Child,
    address: String,
    /// Its standard error, behind the line with the address.
    err: BufReader<std::process::ChildStderr>,
}

impl Server {
    fn start(arguments: &[&str]) -> Server {
        Server::at("127.0.0.1:0", arguments)
    }

    fn at(address: &str, arguments: &[&str]) -> Server {
        Server::of(spawn(&[&["replay", "--serve", address], arguments].concat(), Stdio::null()))
    }

    fn of(mut child: Child) -> Server {
        let mut err = BufReader::new(child.stderr.take().expect("a pipe"));
        let mut line = String::new();
        err.read_line(&mut line).expect("UTF-8");
        let address = line.trim().strip_suffix('/').and_then(|line| line.rsplit_once("http://")).expect("the address");
        let address = address.1.to_owned();
        Server { child, address, err }
    }

    /// Sends a request. Returns the head and the chunks of the answer, or how the connection broke.
    fn ask(&self, request: &str) -> (String, Result<Vec<Vec<u8>>, ErrorKind>) {
        let mut client = TcpStream::connect(&self.address).expect("it listens");
        client.set_read_timeout(Some(Duration::from_secs(20))).expect("a timeout");
        client.write_all(request.as_bytes()).expect("it reads");
        client.shutdown(Shutdown::Write).expect("it is open");
        let mut reader = BufReader::new(client);
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            assert_ne!(reader.read_line(&mut head).expect("UTF-8"), 0, "{head}");
        }
        if !head.contains("Transfer-Encoding: chunked\r\n") {
            let mut body = Vec::new();
            return (head, reader.read_to_end(&mut body).map(|_| vec![body]).map_err(|error| error.kind()));
        }
        let mut chunks = Vec::new();
        (head, read_chunks(&mut reader, &mut chunks).map(|()| chunks).map_err(|error| error.kind()))
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.err.read_line(&mut line).expect("UTF-8");
        line
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn read_chunks(reader: &mut impl BufRead, chunks: &mut Vec<Vec<u8>>) -> std::io::Result<()> {
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        let len = usize::from_str_radix(line.trim(), 16).expect("a length");
        let mut chunk = vec![0; len + 2];
        reader.read_exact(&mut chunk)?;
        assert!(chunk.ends_with(b"\r\n"));
        chunk.truncate(len);
        if len == 0 {
            return Ok(());
        }
        chunks.push(chunk);
    }
}

const GET: &str = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";

#[test]
fn a_server_sends_the_chunks_that_were_recorded() {
    let mut server = Server::start(&["--speed", "4", &recording("served.jsonl")]);
    let posts = [
        "POST /v1 HTTP/1.1\r\nContent-Length: 4\r\n\r\n{ }\n",
        "POST /v1 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    ];
    for request in [GET].into_iter().chain(posts) {
        let (head, chunks) = server.ask(request);
        assert!(head.starts_with("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"), "{head}");
        assert_eq!(chunks.expect("it is whole"), READS.map(|(_, bytes)| bytes.to_vec()));
    }
    assert_eq!(server.line(), format!("deltawire: GET /: {} bytes\n", bytes().len()));
    // By a name, too.
    let named = Server::at("localhost:0", &["--speed", "0", &sample("weather.sse")]);
    assert!(named.ask(GET).1.is_ok());
    let (head, body) = server.ask("GET /old HTTP/1.0\r\n\r\n");
    assert!(!head.contains("chunked"), "{head}");
    assert_eq!(body.expect("it is whole").concat(), bytes());
    // Several clients at a time.
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| assert_eq!(server.ask(GET).1.expect("it is whole").concat(), bytes()));
        }
    });
}

#[test]
fn a_server_makes_faults() {
    let recorded = recording("faults.jsonl");
    let cut = Server::start(&["--speed", "0", "--cut", "20", &recorded]);
    assert_eq!(cut.ask(GET).1, Err(ErrorKind::UnexpectedEof));
    let mut reset = Server::start(&["--speed", "0", "--reset-at", "20", &recorded]);
    assert_eq!(reset.ask(GET).1, Err(ErrorKind::ConnectionReset));
    assert_eq!(reset.line(), "deltawire: GET /: 20 bytes, reset\n");
    // Before the reset, a client gets all that comes before it, however slowly it reads.
    let long = file("long.sse", &"x".repeat(12 << 20));
    let mut reset = Server::start(&["--reset-at", "10000000", &long]);
    let mut client = TcpStream::connect(&reset.address).expect("it listens");
    client.write_all(b"GET / HTTP/1.0\r\n\r\n").expect("it reads");
    let (mut room, mut got) = (vec![0; 1 << 20], Vec::new());
    let broke = loop {
        match client.read(&mut room) {
            Ok(len) => got.extend_from_slice(&room[..len]),
            Err(error) => break error.kind(),
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let body = got.windows(4).position(|end| end == b"\r\n\r\n").expect("a head") + 4;
    if cfg!(target_os = "linux") {
        assert_eq!((broke, got.len() - body), (ErrorKind::ConnectionReset, 10_000_000));
        assert_eq!(reset.line(), "deltawire: GET /: 10000000 bytes, reset\n");
    }
    let stall = Server::start(&["--speed", "0", "--stall", "150", "--stall-at", "20", &recorded]);
    let began = Instant::now();
    let chunks = stall.ask(GET).1.expect("it is whole");
    assert!(began.elapsed().as_millis() >= 150);
    assert_eq!((chunks[0].len(), chunks.concat()), (20, bytes()));
    let json = Server::start(&["--speed", "0", &sample("body.json")]);
    assert!(json.ask(GET).0.contains("Content-Type: application/json\r\n"));
}

#[test]
fn a_server_answers_what_is_no_request_for_the_stream() {
    let mut server = Server::start(&["--speed", "0", &recording("requests.jsonl")]);
    for request in [
        "\u{1b}[2J",
        "GET /\r\n\r\n",
        "PRI * HTTP/2.0\r\n\r\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n",
    ] {
        let (head, body) = server.ask(request);
        assert!(head.starts_with("HTTP/1.1 400 Bad Request\r\n"), "{request:?}: {head}");
        assert_eq!(body.expect("it is whole").concat(), b"");
        let line = server.line();
        assert!(line.starts_with("deltawire: a request: "), "{line}");
    }
    let (head, body) = server.ask("HEAD / HTTP/1.0\r\n\r\n");
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n") && body == Ok(vec![Vec::new()]), "{head}");
    assert_eq!(server.line(), "deltawire: HEAD /: 0 bytes\n");
    // Each client reads the stream from its beginning, so it must be a file.
    for (file, name) in [("-", "standard input"), ("/dev/null", "/dev/null")] {
        let ran = run("replay", &["--serve", "127.0.0.1:0", file]);
        assert_eq!(
            (ran.status, ran.err),
            (1, format!("deltawire: {name}: --serve reads it for each client, so it must be a plain file\n"))
        );
    }
}

/// Standard input can be read only once, also if it is a file.
#[test]
fn a_server_reads_no_standard_input() {
    let stdin = std::fs::File::open(recording("stdin.jsonl")).expect("the recording");
    let served = spawn(&["replay", "--serve", "127.0.0.1:0", "-"], stdin.into());
    assert_eq!(served.wait_with_output().expect("it ends").status.code(), Some(1));
}

/// A server without descriptors waits for better times, and goes on.
#[cfg(target_os = "linux")]
#[test]
fn a_server_waits_while_it_has_no_room() {
    let few = "ulimit -n 16; exec \"$0\" replay --serve 127.0.0.1:0 --speed 0 \"$1\"";
    let mut command = Command::new("sh");
    command.args(["-c", few, command::BINARY, &recording("few.jsonl")]).stdin(Stdio::null()).stderr(Stdio::piped());
    let mut server = Server::of(command.spawn().expect("sh runs"));
    let clients: Vec<_> = (0..24).map(|_| TcpStream::connect(&server.address).expect("it listens")).collect();
    let line = server.line();
    assert!(line.starts_with("deltawire: a client could not be answered: "), "{line}");
    std::thread::sleep(Duration::from_millis(1_000));
    // The times of the process, in ticks of 10 ms.
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", server.child.id())).expect("it runs");
    let ticks = stat.rsplit(") ").next().expect("cells").split(' ').skip(11).take(2);
    let ticks: u32 = ticks.map(|ticks| ticks.parse::<u32>().expect("a number")).sum();
    assert!(ticks < 50, "{ticks}");
    drop(clients);
    assert_eq!(server.ask(GET).1.expect("it is whole").concat(), bytes());
}

#[test]
fn wrong_recordings_and_addresses_are_named() {
    let later = file("later.jsonl", "{\"deltawire_recording\":2}\n");
    let ran = run("replay", &[&later]);
    assert_eq!(ran.status, 1);
    assert_eq!(ran.err, format!("deltawire: {later}: line 1 of the recording: the recording is of a later version\n"));
    assert_eq!(run("stats", &[&later]).status, 1);
    for address in ["localhost", "8080", "127.0.0.1", "localhost:99999"] {
        let ran = run("replay", &["--serve", address, &later]);
        let said = format!("deltawire: --serve {address}: it must be HOST:PORT, as in 127.0.0.1:8080\n");
        assert_eq!((ran.status, ran.err), (1, said));
    }
    let ran = run("replay", &["--serve", "nowhere.invalid:80", &later]);
    assert!(ran.status == 1 && ran.err.starts_with("deltawire: --serve nowhere.invalid:80: "), "{}", ran.err);
    assert_eq!(run("replay", &["--speed", "-1", &later]).status, 1);
    assert_eq!(run("replay", &["--reset-at", "1", &later]).status, 1);
    let ran = run("record", &["-o", "/nonexistent/a"]);
    assert!(ran.status == 1 && ran.err.starts_with("deltawire: /nonexistent/a: "), "{}", ran.err);
}

#[test]
fn a_recording_is_not_written_over() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("default");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir(&folder).expect("a folder");
    let record = |arguments: &[&str]| {
        let mut command = Command::new(command::BINARY);
        let ran =
            command.arg("record").args(arguments).current_dir(&folder).stdin(Stdio::null()).output().expect("it runs");
        (ran.status.code(), String::from_utf8(ran.stderr).expect("UTF-8"))
    };
    for (arguments, name) in [(&[][..], "recording.jsonl"), (&["-o", "own"], "own")] {
        assert_eq!(record(arguments), (Some(0), String::new()));
        let said = format!("deltawire: {name}: it is there already, and is not written over (-o names another file)\n");
        assert_eq!(record(arguments), (Some(1), said));
    }
    // Nothing is lost in what is no plain file.
    assert_eq!(record(&["-o", "/dev/null"]), (Some(0), String::new()));
    let said = "deltawire: -o -: standard output has the stream, so the recording needs a file\n";
    assert_eq!(record(&["-o", "-"]), (Some(1), said.into()));
    assert!(!folder.join("-").exists());
}
