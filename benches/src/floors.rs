//! What the benches of the floors have in common.

use crate::Input;

/// The payloads of an input, `[DONE]` left out.
pub fn payloads(input: &Input) -> Vec<&[u8]> {
    let lines = input.responses.iter().flat_map(|response| response.split(|byte| *byte == b'\n'));
    lines.filter_map(|line| line.strip_prefix(b"data: ")).filter(|payload| *payload != b"[DONE]").collect()
}
