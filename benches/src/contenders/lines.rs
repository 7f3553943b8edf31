//! Lines by memchr, for contenders that only read JSON. It does not join data lines and ignores other fields.

/// The beginning of a line that a slice cut.
#[derive(Default)]
pub(super) struct Lines {
    line: Vec<u8>,
}

impl Lines {
    /// Calls `each` with the payload of every data line, until `[DONE]`.
    pub(super) fn read(&mut self, response: &[u8], slice: usize, mut each: impl FnMut(&[u8])) {
        self.line.clear();
        for mut slice in response.chunks(slice) {
            while let Some(end) = memchr::memchr(b'\n', slice) {
                let (line, rest) = slice.split_at(end);
                slice = &rest[1..];
                let more = if self.line.is_empty() {
                    take(line, &mut each)
                } else {
                    self.line.extend_from_slice(line);
                    let more = take(&self.line, &mut each);
                    self.line.clear();
                    more
                };
                if !more {
                    return;
                }
            }
            self.line.extend_from_slice(slice);
        }
    }
}

/// Returns `false` after the last line.
fn take(line: &[u8], each: &mut impl FnMut(&[u8])) -> bool {
    let Some(payload) = line.strip_prefix(b"data:") else { return true };
    let payload = payload.strip_prefix(b" ").unwrap_or(payload);
    let payload = payload.strip_suffix(b"\r").unwrap_or(payload);
    if payload == b"[DONE]" {
        return false;
    }
    each(payload);
    true
}
