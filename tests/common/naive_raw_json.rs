//! A naive reader of JSON without `data:`, for whole buffers without fields, comments and spaces.

/// Returns the payloads in order: values, and bytes after a value on its line.
pub fn payloads(bytes: &[u8]) -> Vec<Vec<u8>> {
    let (mut out, mut at, mut in_array) = (Vec::new(), 0, false);
    while at < bytes.len() {
        let line_end = |at: usize| at + bytes[at..].iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len() - at);
        // At the start of a line.
        match bytes[at] {
            b'{' => {}
            b',' | b']' if in_array => {}
            b'[' if matches!(bytes.get(at + 1), None | Some(b'{' | b']' | b'\n')) => {
                in_array = true;
                at += 1;
            }
            _ => {
                at = line_end(at) + 1;
                continue;
            }
        }
        // On a line with values.
        while at < bytes.len() {
            match bytes[at] {
                b'\n' => {
                    at += 1;
                    break;
                }
                b',' if in_array => at += 1,
                b']' if in_array => (in_array, at) = (false, at + 1),
                b'{' => {
                    let Some(end) = value_end(&bytes[at..]) else { return out };
                    let lines = bytes[at..at + end].split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
                    out.push(lines.collect::<Vec<_>>().join(&b'\n'));
                    at += end;
                }
                _ => {
                    out.push(bytes[at..line_end(at)].to_vec());
                    at = line_end(at);
                }
            }
        }
    }
    out
}

/// Returns the offset one past the bracket that closes the first one.
fn value_end(bytes: &[u8]) -> Option<usize> {
    let (mut depth, mut quoted, mut escaped) = (0, false, false);
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'\n' => {}
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'{' | b'[' if !quoted => depth += 1,
            b'}' | b']' if !quoted => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at + 1);
        }
    }
    None
}
