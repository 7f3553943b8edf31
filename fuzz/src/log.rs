//! A log of what was told, made to be compared: bytes, readable when they differ.

use std::fmt::{self, Write as _};

/// Lines of named values.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Log {
    bytes: Vec<u8>,
}

impl Log {
    /// Begins a line.
    pub fn line(&mut self, word: &str) {
        self.bytes.push(b'\n');
        self.bytes.extend_from_slice(word.as_bytes());
    }

    /// Adds a value to the line.
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

    pub fn show(&mut self, name: &str, value: impl fmt::Debug) {
        let mut text = String::new();
        let _ = write!(text, " {name}:{value:?}");
        self.bytes.extend_from_slice(text.as_bytes());
    }

    pub fn append(&mut self, other: &Log) {
        self.bytes.extend_from_slice(&other.bytes);
    }

    /// How many lines there are.
    pub fn lines(&self) -> usize {
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

/// Bytes as printable ASCII.
pub fn escaped(bytes: &[u8]) -> String {
    bytes.escape_ascii().to_string()
}
