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

/// Returns the end of a value: one past the bracket that closes its first one. Line ends are no part of the value.
fn value_end(bytes: &[u8]) -> Option<usize> {
    let (mut depth, mut quoted, mut escaped) = (0, false, false);
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'\n' | b'\r' => {}
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

/// Returns where each frame of a whole buffer without fields and comments ends, and how many bytes must have come before that is known
/// (one more than there are: the end of the stream).
pub fn frames(bytes: &[u8]) -> Vec<(usize, usize)> {
    let (mut out, mut at, mut in_array) = (Vec::new(), 0, false);
    let is_end = |byte: &u8| matches!(byte, b'\r' | b'\n');
    let is_space = |byte: &&u8| matches!(byte, b' ' | b'\t');
    let spaces = |at: usize| at + bytes[at..].iter().take_while(is_space).count();
    let line = |at: usize| at + bytes[at..].iter().take_while(|byte| !is_end(byte)).count();
    // Behind the end of a line that is a frame's last: with the LF of a CR LF, unless a CR alone ended the line before.
    let behind = |end: usize| match bytes[end..] {
        [b'\n', ..] => (end + 1, end + 1),
        _ if bytes[..end].iter().rfind(|byte| is_end(byte)) == Some(&b'\r') => (end + 1, end + 1),
        [_, b'\n', ..] => (end + 2, end + 2),
        _ => (end + 1, end + 2),
    };
    while at < bytes.len() {
        // At the beginning of a line, or at the LF of a CR LF.
        let first = spaces(at);
        let content = &bytes[first..line(first)];
        let has_json = match content {
            [b'{', ..] => true,
            [b',' | b']', ..] => in_array,
            [b'[', ..] => match bytes.get(spaces(first + 1)) {
                None | Some(b'{' | b']' | b'\r' | b'\n') => {
                    in_array = true;
                    bytes.get(spaces(first + 1)).is_some_and(|byte| !is_end(byte))
                }
                _ => {
                    let end = line(first);
                    let is_done = content.strip_prefix(b"[DONE]").is_some_and(|rest| rest.iter().all(|b| is_space(&b)));
                    if is_done && end < bytes.len() {
                        out.push(behind(end));
                    }
                    false
                }
            },
            _ => false,
        };
        if !has_json {
            at = line(first) + 1;
            continue;
        }
        at = if content[0] == b'[' { spaces(first + 1) } else { first };
        let mut waits = false;
        while at < bytes.len() {
            match bytes[at] {
                b'\r' | b'\n' => {
                    out.push(behind(at));
                    at += 1;
                    break;
                }
                b' ' | b'\t' => at += 1,
                b',' if in_array => at += 1,
                b']' if in_array => (in_array, at) = (false, at + 1),
                _ if waits => {
                    out.push((at, at + 1));
                    waits = false;
                }
                b'{' => {
                    let Some(end) = value_end(&bytes[at..]) else {
                        at = bytes.len();
                        break;
                    };
                    (at, waits) = (at + end, true);
                }
                _ => at = line(at),
            }
        }
    }
    if out.last().is_none_or(|(end, _)| *end < bytes.len()) && !bytes.is_empty() {
        out.push((bytes.len(), bytes.len() + 1));
    }
    out
}
