//! Lines of text for comparison, readable when they differ.

use deltawire::json::{Fragment, Text};
use std::fmt::{self, Write as _};

/// Lines; each begins with its line end.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Log {
    bytes: Vec<u8>,
}

impl fmt::Write for Log {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.bytes.extend_from_slice(text.as_bytes());
        Ok(())
    }
}

impl Log {
    /// Begins a line.
    pub fn line(&mut self, word: &str) {
        self.bytes.push(b'\n');
        self.bytes.extend_from_slice(word.as_bytes());
    }

    /// Adds a word to the line.
    pub fn word(&mut self, word: impl fmt::Display) {
        write!(self, " {word}").unwrap();
    }

    /// Adds bytes between quotes, escaped, with a name unless that is empty, and `=` before them.
    pub fn quoted(&mut self, name: &str, bytes: &[u8]) {
        self.bytes.push(b' ');
        if !name.is_empty() {
            write!(self, "{name}=").unwrap();
        }
        self.bytes.push(b'"');
        escape(bytes, true, &mut self.bytes);
        self.bytes.push(b'"');
    }

    /// Adds bytes, escaped, to the word.
    pub fn escape(&mut self, bytes: &[u8]) {
        escape(bytes, false, &mut self.bytes);
    }

    /// Adds a text, decoded, between quotes.
    pub fn text(&mut self, name: &str, text: Text<'_>) {
        self.quoted(name, &decoded(text));
    }

    /// Adds the name of a member, decoded, between quotes. It may be empty.
    pub fn member(&mut self, name: Text<'_>) {
        self.quoted("", &characters(name));
    }

    pub fn maybe(&mut self, name: &str, text: Option<Text<'_>>) {
        if let Some(text) = text {
            self.text(name, text);
        }
    }

    /// Adds bytes that are not escaped, and their number.
    pub fn put(&mut self, name: &str, value: &[u8]) {
        self.number(name, value.len() as u64);
        self.bytes.push(b'=');
        self.bytes.extend_from_slice(value);
    }

    pub fn number(&mut self, name: &str, value: u64) {
        let mut digits = [0; 20];
        let (mut at, mut rest) = (digits.len(), value);
        while rest > 0 || at == digits.len() {
            at -= 1;
            digits[at] = b'0' + (rest % 10) as u8;
            rest /= 10;
        }
        self.bytes.push(b' ');
        self.bytes.extend_from_slice(name.as_bytes());
        self.bytes.push(b'#');
        self.bytes.extend_from_slice(&digits[at..]);
    }

    pub fn append(&mut self, other: &Log) {
        self.bytes.extend_from_slice(&other.bytes);
    }

    /// Returns the lines that are not details. All bytes of the log must be escaped.
    pub fn lines(&self) -> impl Iterator<Item = &str> {
        let lines = std::str::from_utf8(&self.bytes).expect("escaped").split('\n').skip(1);
        lines.filter(|line| !line.starts_with(' '))
    }

    /// Returns the number of lines.
    pub fn len(&self) -> usize {
        self.bytes.iter().filter(|byte| **byte == b'\n').count()
    }

    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    pub fn clear(&mut self) {
        self.bytes.clear();
    }
}

/// Panics if two logs differ, and shows where.
#[track_caller]
pub fn same(what: &str, left: &Log, right: &Log, context: impl FnOnce() -> String) {
    if left == right {
        return;
    }
    let at = left.bytes.iter().zip(&right.bytes).take_while(|(left, right)| left == right).count();
    let near = |log: &Log| {
        let from = log.bytes[..at].iter().rposition(|byte| *byte == b'\n').unwrap_or(0).max(at.saturating_sub(400));
        escaped(&log.bytes[from..log.bytes.len().min(at + 200)])
    };
    panic!("{what}\n left  {}\n right {}\n at byte {at} of the logs\n {}", near(left), near(right), context());
}

/// Returns bytes as printable ASCII, with other bytes and the backslash escaped.
pub fn escaped(bytes: &[u8]) -> String {
    let mut out = Vec::new();
    escape(bytes, false, &mut out);
    String::from_utf8(out).unwrap()
}

/// Like [`escaped`], in quotes.
pub fn quoted(bytes: &[u8]) -> String {
    let mut log = Log::default();
    log.quoted("", bytes);
    String::from_utf8(log.bytes).unwrap().split_off(1)
}

fn escape(bytes: &[u8], quotes: bool, out: &mut Vec<u8>) {
    for &byte in bytes {
        match byte {
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'"' if quotes => out.extend_from_slice(b"\\\""),
            b' '..=b'~' => out.push(byte),
            _ => {
                let digit = |nibble: u8| b"0123456789ABCDEF"[usize::from(nibble)];
                out.extend_from_slice(&[b'\\', b'x', digit(byte >> 4), digit(byte & 15)]);
            }
        }
    }
}

/// Returns the decoded text, which is not empty.
fn decoded(text: Text<'_>) -> Vec<u8> {
    let bytes = characters(text);
    assert!(!bytes.is_empty(), "an empty text was handed out");
    bytes
}

fn characters(text: Text<'_>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for fragment in text.fragments() {
        match fragment {
            Fragment::Str(run) => bytes.extend_from_slice(run.as_bytes()),
            Fragment::Char(char) => bytes.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    assert!(text.as_str().is_none_or(|text| text.as_bytes() == bytes), "{text:?} is escaped, and flagged as plain");
    bytes
}
