//! Halves of surrogate pairs in Rust's strings, which cannot hold them: until a text is whole, a character of plane 15 stands
//! for each.

/// The character for U+D800. Those for the other halves follow.
pub const HALVES: u32 = 0xF0000;

/// Whether the character stands for a half.
pub fn is_half(char: char) -> bool {
    (HALVES..HALVES + 0x800).contains(&u32::from(char))
}

/// Returns JSON with such characters for its escaped halves, or `None` if it has such characters itself.
pub fn hide(json: &str) -> Option<String> {
    if json.contains(is_half) {
        return None;
    }
    let (mut out, mut rest) = (String::new(), json);
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        out += before;
        let unit = escape.strip_prefix("\\u").and_then(|digits| digits.get(..4));
        let unit = unit.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        let half = unit.and_then(|unit| unit.checked_sub(0xD800)).filter(|half| *half < 0x800);
        let len = match half {
            Some(half) => {
                out.extend(char::from_u32(HALVES + half));
                6
            }
            None => {
                let len = 1 + escape.chars().nth(1).map_or(0, char::len_utf8);
                out += &escape[..len];
                len
            }
        };
        rest = &escape[len..];
    }
    Some(out + rest)
}

/// Returns a text with its halves joined. One that is alone becomes U+FFFD.
pub fn join(text: &str) -> String {
    let units: Vec<u16> = text
        .chars()
        .flat_map(|char| match is_half(char) {
            true => vec![(u32::from(char) - HALVES + 0xD800) as u16],
            false => char.encode_utf16(&mut [0; 2]).to_vec(),
        })
        .collect();
    String::from_utf16_lossy(&units)
}
