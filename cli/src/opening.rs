//! Keeps the beginning of the input, to report what came instead of an event stream, or which parts of HTTP are in it.

use crate::output::{complain, cut};

/// How many bytes of the input are kept: more than the heads of HTTP responses have.
const KEPT: usize = 16 * 1024;
/// How many characters of a line are printed.
const PRINTED: usize = 100;

/// The first bytes of the input.
#[derive(Default)]
pub struct Opening(Vec<u8>);

impl Opening {
    /// Adds the next slice of the input, as far as there is room.
    pub fn add(&mut self, slice: &[u8]) {
        let room = KEPT.saturating_sub(self.0.len());
        self.0.extend_from_slice(slice.get(..room).unwrap_or(slice));
    }

    /// Returns the first line of the body that is not blank, cut to the printed length.
    fn first_line(&self) -> Option<String> {
        let body = self.body().trim_ascii_start();
        let line = body.split(|byte| matches!(byte, b'\n' | b'\r')).next().filter(|line| !line.is_empty())?;
        Some(cut(&String::from_utf8_lossy(line), PRINTED).into_owned())
    }

    /// Returns the input without the heads of HTTP responses at its beginning.
    fn body(&self) -> &[u8] {
        let mut bytes = &self.0[..];
        while bytes.starts_with(b"HTTP/") {
            let Some(rest) = after_blank_line(bytes) else { return &[] };
            bytes = rest;
        }
        bytes
    }

    /// Prints the first line of an input that is not an event stream.
    pub fn name_foreign(&self) {
        if let Some(line) = self.first_line() {
            complain(format_args!("the input begins with: {line}"));
        }
    }

    /// Prints which parts of HTTP the input contains: the head of a response, or chunked framing.
    pub fn name_http(&self) {
        if self.0.starts_with(b"HTTP/") {
            let line = self.0.split(|byte| matches!(byte, b'\n' | b'\r')).next().unwrap_or_default();
            let line = String::from_utf8_lossy(line);
            complain(format_args!("the input begins with the head of an HTTP response (from curl -i?): {line}"));
        }
        if begins_with_chunk(self.body()) {
            complain("the input has HTTP's chunk lengths between its bytes (from curl --raw?)");
        }
    }
}

fn after_blank_line(bytes: &[u8]) -> Option<&[u8]> {
    let blank = |end: &[u8]| {
        let at = bytes.windows(end.len()).position(|window| window == end)?;
        bytes.get(at + end.len()..)
    };
    // The earlier of the two blank lines leaves the longer rest.
    [blank(b"\r\n\r\n"), blank(b"\n\n")].into_iter().flatten().max_by_key(|rest| rest.len())
}

/// Whether these bytes begin with the length of an HTTP chunk, with or without an extension, and more bytes follow.
fn begins_with_chunk(bytes: &[u8]) -> bool {
    let digits = bytes.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
    let Some(end) = bytes.windows(2).position(|end| end == b"\r\n") else { return false };
    let is_extension = matches!(bytes.get(digits), Some(b';' | b' ' | b'\r'));
    (1..=8).contains(&digits) && is_extension && digits <= end && bytes.len() > end + 2
}
