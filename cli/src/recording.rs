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

use crate::report::Failure;
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

/// Reads a recording.
pub struct Recording {
    name: String,
    lines: Box<dyn BufRead>,
    line: u64,
    bytes: Vec<u8>,
    /// When the last line came.
    at: Duration,
}

impl Recording {
    pub fn new(name: String, lines: Box<dyn BufRead>) -> Recording {
        Recording { name, lines, line: 0, bytes: Vec::new(), at: Duration::ZERO }
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// When the last read came; after the last one, when the end came.
    pub fn at(&self) -> Duration {
        self.at
    }

    /// The bytes of the last read.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the bytes of the next read, or `None` at the end.
    pub fn next(&mut self) -> Result<Option<&[u8]>, Failure> {
        loop {
            let line = self.read_line()?;
            if line.is_empty() {
                return Ok(None);
            }
            self.line += 1;
            let line: Value = serde_json::from_slice(&line).map_err(|error| self.fault(error))?;
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
                return Ok(None);
            }
            let bytes = match (line["text"].as_str(), line["hex"].as_str()) {
                (Some(text), None) => Some(text.as_bytes().to_vec()),
                (None, Some(digits)) => from_hex(digits),
                _ => None,
            };
            self.bytes = bytes.ok_or_else(|| self.fault("there are no bytes (`text` or `hex`)"))?;
            return Ok(Some(&self.bytes));
        }
    }

    fn read_line(&mut self) -> Result<Vec<u8>, Failure> {
        let mut line = Vec::new();
        let read = (&mut self.lines).take(LINE).read_until(b'\n', &mut line);
        read.map_err(|error| Failure::Read(self.name.clone(), error))?;
        Ok(line)
    }

    fn fault(&self, what: impl std::fmt::Display) -> Failure {
        let what = io::Error::new(io::ErrorKind::InvalidData, format!("line {} of the recording: {what}", self.line));
        Failure::Read(self.name.clone(), what)
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
    let pairs = digits.as_bytes().chunks(2);
    pairs
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok().filter(|pair| pair.len() == 2)?, 16).ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{from_hex, hex, Recorder, Recording, MAGIC};
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
        let mut recording = Recording::new("r".into(), Box::new(std::io::Cursor::new(written)));
        for (us, bytes) in reads {
            assert_eq!(recording.next().unwrap(), Some(bytes));
            assert_eq!(recording.at(), Duration::from_micros(us));
        }
        assert_eq!(recording.next().unwrap(), None);
        assert_eq!(recording.at(), Duration::from_micros(100));
    }

    #[test]
    fn a_fault_names_its_line() {
        for (lines, fault) in [
            ("{\"deltawire_recording\":2}\n", "r: line 1 of the recording: the recording is of a later version"),
            ("{\"deltawire_recording\":1}\n{}\n", "r: line 2 of the recording: there is no time (`us`)"),
            (
                "{\"deltawire_recording\":1}\n{\"us\":1}",
                "r: line 2 of the recording: there are no bytes (`text` or `hex`)",
            ),
            (
                "{\"deltawire_recording\":1}\n{\"us\":1,\"hex\":\"abc\"}",
                "r: line 2 of the recording: there are no bytes (`text` or `hex`)",
            ),
        ] {
            let mut recording = Recording::new("r".into(), Box::new(lines.as_bytes()));
            assert_eq!(recording.next().unwrap_err().to_string(), fault);
        }
    }

    #[test]
    fn hex_has_two_digits_for_a_byte() {
        assert_eq!((hex(&[0, 255, 16]).as_str(), from_hex("00ff10").unwrap()), ("00ff10", vec![0, 255, 16]));
        assert_eq!((from_hex("0"), from_hex("zz"), from_hex("\u{e9}0")), (None, None, None));
    }
}
