//! A small HTTP/1.1 server for tests: it answers each request with the stream that is played, chunk by chunk.

use crate::input::Input;
use crate::options::Replay;
use crate::output::complain;
use crate::playback::{play, Ending, Played};
use crate::report::Failure;
use crate::unsent::wait_until_taken;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// How many bytes the head of a request may have.
const HEAD: u64 = 64 * 1024;
/// How long a client may take for each piece of its request.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long no client is answered after one could not be.
const PAUSE: Duration = Duration::from_millis(500);

/// The parts of a request that matter.
struct Request {
    /// The method and the target, as they came.
    line: String,
    /// Whether the client reads chunks.
    is_chunked: bool,
}

/// Serves until the process is ended. Prints the address on standard error.
pub fn serve(options: &Replay, address: &str) -> Result<u8, Failure> {
    let failed = |error: io::Error| {
        let error = match error.kind() {
            io::ErrorKind::InvalidInput => io::Error::other("it must be HOST:PORT, as in 127.0.0.1:8080"),
            _ => error,
        };
        Failure::Read(format!("--serve {address}"), error)
    };
    let listener = TcpListener::bind(address).map_err(failed)?;
    let kind = content_type(options)?;
    complain(format_args!("serving {} at http://{}/", options.file.display(), listener.local_addr().map_err(failed)?));
    let options = Arc::new(options.clone());
    for client in listener.incoming() {
        let options = options.clone();
        let answered = client.and_then(|client| {
            std::thread::Builder::new().spawn(move || match answer(&options, &client, kind) {
                Ok(line) => complain(line),
                Err(failure) if failure.is_broken_pipe() => complain("the client left"),
                Err(failure) => complain(failure),
            })
        });
        if let Err(error) = answered {
            // Too many clients, for example.
            complain(format_args!("a client could not be answered: {error}"));
            std::thread::sleep(PAUSE);
        }
    }
    Ok(0)
}

/// The type that a server would send with these bytes.
fn content_type(options: &Replay) -> Result<&'static str, Failure> {
    let mut input = Input::open(Some(&options.file), None)?;
    if !input.is_file() || options.file == Path::new("-") {
        let why = io::Error::other("--serve reads it for each client, so it must be a plain file");
        return Err(Failure::Read(input.name().to_owned(), why));
    }
    let first = input.next()?.unwrap_or_default();
    let is_json = matches!(first.trim_ascii_start().first(), Some(b'{' | b'['));
    Ok(if is_json { "application/json" } else { "text/event-stream" })
}

/// Reads a request and plays the stream. Returns what happened, in a line.
fn answer(options: &Replay, client: &TcpStream, kind: &str) -> Result<String, Failure> {
    let _ = client.set_nodelay(true);
    let _ = client.set_read_timeout(Some(PATIENCE));
    let mut out = client;
    let request = read_request(client).map_err(|error| {
        if error.kind() == io::ErrorKind::InvalidData {
            let _ = out.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        }
        let is_late = matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut);
        Failure::Read("a request".into(), if is_late { io::Error::other("it timed out") } else { error })
    })?;
    let framing = if request.is_chunked { "Transfer-Encoding: chunked\r\n" } else { "" };
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nCache-Control: no-cache\r\n{framing}Connection: close\r\n\r\n"
    );
    out.write_all(head.as_bytes()).map_err(Failure::Write)?;
    if request.line.starts_with("HEAD ") {
        return Ok(format!("{}: 0 bytes", request.line));
    }
    let Played { ending, bytes } = play(options, |bytes| {
        if !request.is_chunked {
            return out.write_all(bytes);
        }
        // One write for each chunk, so that it arrives as one.
        let mut chunk = format!("{:x}\r\n", bytes.len()).into_bytes();
        chunk.extend_from_slice(bytes);
        chunk.extend_from_slice(b"\r\n");
        out.write_all(&chunk)
    })?;
    let how = match ending {
        Ending::Whole if request.is_chunked => {
            out.write_all(b"0\r\n\r\n").map_err(Failure::Write)?;
            String::new()
        }
        Ending::Whole => String::new(),
        Ending::Cut => ", cut".into(),
        Ending::Reset => {
            let lost = wait_until_taken(client);
            // A connection that closes at once, whatever was not sent, is reset.
            let _ = socket2::SockRef::from(client).set_linger(Some(Duration::ZERO));
            match lost {
                0 => ", reset".into(),
                lost => format!(", reset; the client did not take the last {lost} of them"),
            }
        }
    };
    Ok(format!("{}: {bytes} bytes{how}", request.line))
}

/// Reads a request with its body, because a connection with bytes that nobody read is reset when it closes.
fn read_request(mut client: &TcpStream) -> io::Result<Request> {
    let mut reader = BufReader::new(client);
    let mut head = (&mut reader).take(HEAD);
    let wrong = |what| io::Error::new(io::ErrorKind::InvalidData, what);
    let mut line = || {
        let mut line = Vec::new();
        head.read_until(b'\n', &mut line)?;
        if line.pop() != Some(b'\n') {
            return Err(wrong("the head of the request is cut, or too long"));
        }
        Ok(String::from_utf8_lossy(line.trim_ascii_end()).into_owned())
    };
    let first = line()?;
    let version = first.rsplit_once(' ').filter(|(_, version)| version.starts_with("HTTP/1."));
    let (request, version) = version.ok_or_else(|| wrong("it is not of HTTP/1"))?;
    let request = Request { line: request.to_owned(), is_chunked: version == "HTTP/1.1" };
    let (mut len, mut is_chunked, mut expects) = (0, false, false);
    loop {
        let line = line()?;
        if line.is_empty() {
            break;
        }
        let (name, value) = line.split_once(':').unwrap_or((&line, ""));
        let (name, value) = (name.to_ascii_lowercase(), value.trim());
        match &*name {
            "content-length" => len = value.parse().unwrap_or(0),
            "transfer-encoding" => is_chunked = value.eq_ignore_ascii_case("chunked"),
            "expect" => expects = true,
            _ => {}
        }
    }
    if expects {
        client.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
    }
    if is_chunked {
        skip_chunks(&mut reader)?;
    } else {
        io::copy(&mut reader.take(len), &mut io::sink())?;
    }
    Ok(request)
}

/// Reads a body of chunks, without trailers.
fn skip_chunks(reader: &mut impl BufRead) -> io::Result<()> {
    loop {
        let mut line = String::new();
        reader.take(HEAD).read_line(&mut line)?;
        let digits = line.trim().split(';').next().unwrap_or_default();
        let len = u64::from_str_radix(digits, 16).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
        // The chunk, and the line end behind it.
        io::copy(&mut reader.take(len.saturating_add(2)), &mut io::sink())?;
        if len == 0 {
            return Ok(());
        }
    }
}
