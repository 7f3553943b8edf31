//! Recordings: the bytes of a stream with the times at which they came, as lines of JSON.
//!
//! ```text
//! {"deltawire_recording":1}
//! {"us":412345,"text":"data: {…}\n\n"}
//! {"us":440112,"hex":"e29c"}
//! {"us":512000,"end":true}
//! ```
//!
//! Each line but the first and the last is a read: the microseconds since the recording began, and the bytes, as text if they
//! are UTF-8. A recording that was broken off has no last line.

use crate::output::complain;
use serde_json::{json, Value};
use std::fmt::Write as _;
use std::io::{self, BufRead, Read, Write};
use std::time::Duration;

/// What every recording begins with.
pub const MAGIC: &[u8] = b"{\"deltawire_recording\":";
/// How many bytes a line may have. A read has at most 64 KiB, and text at most 6 bytes for each of them.
const LINE: u64 = 1024 * 1024;

/// Writes a recording. Each line is one write, so what was written is whole if the process is ended.
pub struct Recorder<W> {
    out: W,
}

impl<W: Write> Recorder<W> {
    pub fn begin(mut out: W) -> io::Result<Self> {
        out.write_all(b"{\"deltawire_recording\":1}\n")?;
        Ok(Recorder { out })
    }

    pub fn read(&mut self, at: Duration, bytes: &[u8]) -> io::Result<()> {
        let (name, value) = match std::str::from_utf8(bytes) {
            Ok(text) => ("text", json!(text)),
            Err(_) => ("hex", json!(hex(bytes))),
        };
        self.line(at, name, &value)
    }

    pub fn end(&mut self, at: Duration) -> io::Result<()> {
        self.line(at, "end", &json!(true))
    }

    fn line(&mut self, at: Duration, name: &str, value: &Value) -> io::Result<()> {
        self.out.write_all(format!("{{\"us\":{},\"{name}\":{value}}}\n", micros(at)).as_bytes())
    }
}

/// Reads the bytes of a recording. A call of `read` never takes more than was one read when it was recorded.
pub struct Recording {
    name: String,
    lines: Box<dyn BufRead>,
    /// How many lines were read, and how many bytes they have.
    line: u64,
    consumed: u64,
    is_over: bool,
    bytes: Vec<u8>,
    /// How many of these bytes were taken.
    taken: usize,
    at: Duration,
}

impl Recording {
    pub fn new(name: String, lines: Box<dyn BufRead>) -> Recording {
        let (bytes, at) = (Vec::new(), Duration::ZERO);
        Recording { name, lines, line: 0, consumed: 0, is_over: false, bytes, taken: 0, at }
    }

    /// When the last read came; after the last one, when the end came.
    pub fn at(&self) -> Duration {
        self.at
    }

    /// How many bytes of the recording itself were read.
    pub fn consumed(&self) -> u64 {
        self.consumed
    }

    /// Goes on to the next line with bytes. Returns whether there is one.
    fn advance(&mut self) -> io::Result<bool> {
        while !self.is_over {
            let mut line = Vec::new();
            self.consumed += (&mut self.lines).take(LINE).read_until(b'\n', &mut line)? as u64;
            if line.is_empty() {
                break;
            }
            self.line += 1;
            let is_last = !line.ends_with(b"\n") && (line.len() as u64) < LINE;
            let line: Value = match serde_json::from_slice(&line) {
                Err(error) if error.is_eof() && is_last => {
                    let Recording { name, line, .. } = self;
                    complain(format_args!(
                        "{name}: the recording was cut inside line {line}; what came before is read"
                    ));
                    break;
                }
                line => line.map_err(|error| self.fault(error))?,
            };
            if self.line == 1 {
                match line["deltawire_recording"].as_u64() {
                    Some(1) => continue,
                    _ => return Err(self.fault("the recording is of a later version")),
                }
            }
            let us = line["us"].as_u64().ok_or_else(|| self.fault("there is no time (`us`)"))?;
            // A clock that was set back would be a fault of the recording, not of the stream.
            self.at = self.at.max(Duration::from_micros(us));
            if line["end"] == true {
                break;
            }
            let bytes = match (line["text"].as_str(), line["hex"].as_str()) {
                (Some(text), None) => Some(text.as_bytes().to_vec()),
                (None, Some(digits)) => from_hex(digits),
                _ => None,
            };
            self.bytes = bytes.ok_or_else(|| self.fault("there are no bytes (`text` or `hex`)"))?;
            self.taken = 0;
            return Ok(true);
        }
        self.is_over = true;
        Ok(false)
    }

    fn fault(&self, what: impl std::fmt::Display) -> io::Error {
        io::Error::new(io::ErrorKind::InvalidData, format!("line {} of the recording: {what}", self.line))
    }
}

impl Read for Recording {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        loop {
            let len = self.bytes.get(self.taken..).unwrap_or_default().read(room)?;
            self.taken += len;
            if len > 0 || room.is_empty() || !self.advance()? {
                return Ok(len);
            }
        }
    }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut digits, byte| {
        // Writing to a string never fails.
        let _ = write!(digits, "{byte:02x}");
        digits
    })
}

fn from_hex(digits: &str) -> Option<Vec<u8>> {
    let digit = |digit: u8| char::from(digit).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let byte = |pair: &[u8]| match *pair {
        [high, low] => Some(digit(high)? << 4 | digit(low)?),
        _ => None,
    };
    digits.as_bytes().chunks(2).map(byte).collect()
}

#[cfg(test)]
mod tests {
    use super::{from_hex, hex, Recorder, Recording, MAGIC};
    use std::io::Read;
    use std::time::Duration;

    #[test]
    fn a_recording_is_read_as_it_was_written() {
        let reads: [(u64, &[u8]); 4] = [(1, b"data: \"x\"\r\n"), (7, b"\xe2\x9c"), (7, b"\x93\n\n"), (90, b"\x00\x1b")];
        let mut written = Vec::new();
        let mut recorder = Recorder::begin(&mut written).unwrap();
        for (us, bytes) in reads {
            recorder.read(Duration::from_micros(us), bytes).unwrap();
        }
        recorder.end(Duration::from_micros(100)).unwrap();
        assert!(written.starts_with(MAGIC));
        let len = written.len() as u64;
        written.extend_from_slice(b"{}\n");
        let mut recording = Recording::new("r".into(), Box::new(std::io::Cursor::new(written)));
        let mut room = [0; 64];
        for (us, bytes) in reads {
            let read = recording.read(&mut room).unwrap();
            assert_eq!((&room[..read], recording.at()), (bytes, Duration::from_micros(us)));
        }
        // What follows the end is not read.
        for _ in 0..2 {
            assert_eq!(recording.read(&mut room).unwrap(), 0);
            assert_eq!((recording.at(), recording.consumed()), (Duration::from_micros(100), len));
        }
    }

    #[test]
    fn a_fault_names_its_line() {
        for (lines, fault) in [
            ("{\"deltawire_recording\":2}\n", "line 1 of the recording: the recording is of a later version"),
            ("{\"deltawire_recording\":1}\n{}\n", "line 2 of the recording: there is no time (`us`)"),
            (
                "{\"deltawire_recording\":1}\n{\"us\":1}",
                "line 2 of the recording: there are no bytes (`text` or `hex`)",
            ),
            (
                "{\"deltawire_recording\":1}\n{\"us\":1,\"hex\":\"abc\"}",
                "line 2 of the recording: there are no bytes (`text` or `hex`)",
            ),
        ] {
            let mut recording = Recording::new("r".into(), Box::new(lines.as_bytes()));
            assert_eq!(recording.read(&mut [0]).unwrap_err().to_string(), fault);
        }
    }

    #[test]
    fn hex_has_two_digits_for_a_byte() {
        assert_eq!((hex(&[0, 255, 16]).as_str(), from_hex("00ff10").unwrap()), ("00ff10", vec![0, 255, 16]));
        assert_eq!((from_hex("0"), from_hex("zz"), from_hex("\u{e9}0")), (None, None, None));
        assert_eq!(from_hex("+1+2"), None);
    }
}
