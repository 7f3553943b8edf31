//! Searches that look at one byte at a time. Processors of 32 bits without a vector unit use them: masks of 64 bits
//! would save them no instructions, and take several times the code. Tests compare the searches by blocks with these
//! searches.

use crate::visits::visit;

/// The end of a string and what the string contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StringEnd {
    /// Offset of the closing quote.
    pub(crate) at: usize,
    /// Whether the string contains a backslash.
    pub(crate) escaped: bool,
    /// Whether all bytes of the string are below 0x80.
    pub(crate) ascii: bool,
    /// Whether the string contains a raw control character (below 0x20).
    pub(crate) control: bool,
}

/// The end of a run of the bytes of a string: at the first backslash or, for a strict run, also at a quote or a control
/// character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RunEnd {
    /// Offset of the byte that ends the run, or the length of the bytes if none does.
    pub(crate) at: usize,
    /// Whether all bytes of the run are below 0x80.
    pub(crate) ascii: bool,
    /// Whether the run contains a control character.
    pub(crate) control: bool,
}

/// Why a search found no end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unbalanced {
    /// The bracket at this offset exceeds the depth limit.
    TooDeep(usize),
    /// The bytes end inside the container.
    UnexpectedEnd,
}

/// Where a container ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ContainerEnd {
    /// Offset one past the bracket that closes it.
    pub(crate) at: usize,
    /// Whether it contains a CR or LF.
    pub(crate) breaks: bool,
}

/// See [`string::end`](super::string::end).
#[inline(never)]
pub(super) fn string_end(bytes: &[u8], from: usize) -> Option<StringEnd> {
    let mut end = StringEnd { at: from, escaped: false, ascii: true, control: false };
    let mut is_escaped = false;
    for &byte in bytes.get(from..)? {
        visit!(1);
        match byte {
            b'"' if !is_escaped => return Some(end),
            b'\\' if !is_escaped => (end.escaped, is_escaped) = (true, true),
            _ => {
                is_escaped = false;
                end.ascii &= byte < 0x80;
                end.control |= byte < 0x20;
            }
        }
        end.at = end.at.wrapping_add(1);
    }
    None
}

/// See [`string::run`](super::string::run) and, if `strict`, [`string::strict_run`](super::string::strict_run).
#[inline(never)]
pub(super) fn run(bytes: &[u8], from: usize, strict: bool) -> RunEnd {
    let mut end = RunEnd { at: from, ascii: true, control: false };
    for &byte in bytes.get(from..).unwrap_or_default() {
        visit!(1);
        if byte == b'\\' || strict && (byte == b'"' || byte < 0x20) {
            break;
        }
        end.ascii &= byte < 0x80;
        end.control |= byte < 0x20;
        end.at = end.at.wrapping_add(1);
    }
    end
}

/// See [`container::end`](super::container::end). If `in_line`, gives up at a line end.
#[inline(never)]
pub(super) fn container_end(
    bytes: &[u8],
    from: usize,
    max_depth: u32,
    in_line: bool,
) -> Result<ContainerEnd, Unbalanced> {
    let (mut depth, mut breaks) = (0u32, false);
    let (mut is_inside, mut is_escaped) = (false, false);
    for (at, &byte) in bytes.iter().enumerate().skip(from) {
        visit!(1);
        breaks |= matches!(byte, b'\r' | b'\n');
        if in_line && breaks {
            break;
        }
        if core::mem::take(&mut is_escaped) {
            // A backslash outside of strings is not JSON. As in the search by blocks, it hides a quote after it, but
            // not a bracket.
            if is_inside || matches!(byte, b'"' | b'\\') {
                continue;
            }
        }
        match byte {
            b'\\' => is_escaped = true,
            b'"' => is_inside = !is_inside,
            b'[' | b'{' if !is_inside => {
                if depth >= max_depth {
                    return Err(Unbalanced::TooDeep(at));
                }
                depth = depth.saturating_add(1);
            }
            b']' | b'}' if !is_inside => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return Ok(ContainerEnd { at: at.wrapping_add(1), breaks });
                }
            }
            _ => {}
        }
    }
    Err(Unbalanced::UnexpectedEnd)
}

/// See [`string::plain`](super::string::plain).
#[inline(never)]
pub(super) fn plain(inner: &[u8]) -> Option<(usize, &[u8])> {
    let mut rest = inner;
    // The search by blocks looks no further.
    for len in 0..64 {
        visit!(1);
        match rest {
            [b'"', rest @ ..] => return Some((len, rest)),
            [b'\\' | ..=0x1f | 0x80.., ..] | [] => return None,
            [_, after @ ..] => rest = after,
        }
    }
    None
}
