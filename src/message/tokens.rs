//! The lists of log probabilities, and a fast path for the shape that nearly every event has. It compares them with the
//! bytes of that shape, which takes a third of the work of a walk.

use crate::json::{self, Value, ValueKind};

/// The names of the lists: two of chat completions, four of legacy completions.
pub(super) const LISTS: [&str; 6] = ["content", "refusal", "tokens", "token_logprobs", "top_logprobs", "text_offset"];

/// The lists of a choice's log probabilities.
#[derive(Clone, Copy, Default)]
pub(super) struct Lists<'a> {
    /// The known lists, by their place in [`LISTS`].
    pub(super) known: [Option<Value<'a>>; LISTS.len()],
    /// Whether there is any list, known or not.
    pub(super) any: bool,
}

/// Finds all lists in one walk. An array alone is the list of the content (Responses). If there are two lists with one name, the last one counts.
pub(super) fn lists(logprobs: Value<'_>) -> Lists<'_> {
    let mut lists = Lists::default();
    if logprobs.kind() == ValueKind::Array {
        let [content, ..] = &mut lists.known;
        (*content, lists.any) = (Some(logprobs), true);
    }
    for (name, value) in logprobs.members().map_while(Result::ok) {
        let list = Some(value).filter(|value| value.kind() == ValueKind::Array);
        lists.any |= list.is_some();
        let known = LISTS.iter().position(|known| name == **known);
        if let Some(known) = known.and_then(|place| lists.known.get_mut(place)) {
            *known = list;
        }
    }
    lists
}

/// Returns the items of `content`, and how many commas are between them, if the log probabilities of a choice are
/// `{"content":[…],"refusal":null}`, with or without `refusal`, and [`rewrite`](json::rewrite) would leave each item
/// unchanged. An item is a token, its log probability, its bytes and the most likely tokens at its place, without
/// whitespace. Returns `None` for any other log probabilities, which the caller must walk.
pub(super) fn usual_items(logprobs: &[u8]) -> Option<(&[u8], u32)> {
    let items = logprobs.strip_prefix(b"{\"content\":[")?;
    let (mut rest, mut commas, mut in_top) = (items.strip_prefix(b"{")?, 0u32, false);
    loop {
        rest = token(rest)?;
        if !in_top {
            if let Some(top) = rest.strip_prefix(b",\"top_logprobs\":[{") {
                (rest, in_top) = (top, true);
                continue;
            }
            rest = rest.strip_prefix(b",\"top_logprobs\":[]").unwrap_or(rest);
        }
        // The token ends here, and perhaps also the list of likely tokens and the token that this list belongs to.
        rest = match rest {
            [b'}', b']', b'}', after @ ..] if in_top => after,
            [b'}', b',', b'{', after @ ..] if in_top => {
                rest = after;
                continue;
            }
            [b'}', after @ ..] if !in_top => after,
            _ => return None,
        };
        in_top = false;
        match rest {
            [b',', b'{', after @ ..] => (rest, commas) = (after, commas.wrapping_add(1)),
            b"]}" | b"],\"refusal\":null}" => {
                return Some((items.get(..items.len().wrapping_sub(rest.len()))?, commas))
            }
            _ => return None,
        }
    }
}

/// Skips text, log probability and bytes of a token. `rest` begins after its opening brace. Returns the bytes after
/// them.
#[inline(always)]
fn token(rest: &[u8]) -> Option<&[u8]> {
    let rest = json::skip_string(rest.strip_prefix(b"\"token\":\"")?)?;
    let rest = json::skip_number(rest.strip_prefix(b",\"logprob\":")?)?;
    match rest.strip_prefix(b",\"bytes\":")? {
        [b'[', bytes @ ..] => numbers(bytes),
        rest => rest.strip_prefix(b"null"),
    }
}

/// Skips a list of numbers of up to three digits. `rest` begins after its opening bracket. Returns the bytes after the
/// list.
#[inline(always)]
fn numbers(mut rest: &[u8]) -> Option<&[u8]> {
    loop {
        rest = match rest {
            [b'1'..=b'9', b'0'..=b'9', b'0'..=b'9', after @ ..]
            | [b'1'..=b'9', b'0'..=b'9', after @ ..]
            | [b'0'..=b'9', after @ ..] => after,
            _ => return None,
        };
        match rest {
            [b',', after @ ..] => rest = after,
            [b']', after @ ..] => return Some(after),
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    extern crate std;
    use super::{lists, usual_items};
    use crate::json;
    use crate::scan::tests::Random;
    use std::vec::Vec;

    const ONE: &str = r#"{"token":" a","logprob":-0.25,"bytes":[32,97],"top_logprobs":[]}"#;
    const TWO: &str = concat!(
        r#"{"token":"\n\u00e9","logprob":-1.5e-07,"bytes":null,"top_logprobs":["#,
        r#"{"token":"a token of more than 16 bytes","logprob":-12.125,"bytes":[0,10,255]},"#,
        r#"{"token":"","logprob":0.0,"bytes":[7]}]}"#
    );
    const THREE: &str = r#"{"token":"ä","logprob":-9999.0,"bytes":[195,164]}"#;

    /// Returns the items of `content` if a walk finds no other list and leaves the items unchanged.
    fn walked(raw: &[u8]) -> Option<Vec<&[u8]>> {
        let value = json::Cursor::new(raw).value().ok().filter(|value| value.raw() == raw)?;
        let [Some(content), None, None, None, None, None] = lists(value).known else { return None };
        let items: Vec<_> = content.elements().map_while(Result::ok).map(|item| item.raw()).collect();
        let is_unchanged = |item: &&[u8]| {
            let mut written = Vec::new();
            json::rewrite(item, &mut |bytes| written.extend_from_slice(bytes));
            written == *item
        };
        items.iter().all(is_unchanged).then_some(items)
    }

    /// Compares the fast path with a walk. Returns whether the fast path took the log probabilities.
    fn check(raw: &[u8]) -> bool {
        let usual = usual_items(raw);
        if let Some((items, commas)) = usual {
            let walked = walked(raw).unwrap();
            let expected = (walked.join(&b','), walked.len() as u32 - 1);
            assert_eq!((Vec::from(items), commas), expected, "{}", std::string::String::from_utf8_lossy(raw));
        }
        usual.is_some()
    }

    #[test]
    fn the_fast_path_returns_the_items_of_a_walk() {
        let mut random = Random(11);
        let (mut usual, mut other) = (0, 0);
        for items in [ONE.into(), TWO.into(), THREE.into(), [ONE, TWO].join(","), [THREE, ONE, TWO].join(",")] {
            for end in ["]}", r#"],"refusal":null}"#] {
                let whole: std::string::String = std::format!(r#"{{"content":[{items}{end}"#);
                assert!(check(whole.as_bytes()), "{whole}");
                for _ in 0..20_000 {
                    let mut raw = Vec::from(whole.as_bytes());
                    let (at, byte) = (random.below(raw.len()), b"0139.-e[]{},:\" \\ud\x01\xff"[random.below(20)]);
                    match random.below(3) {
                        0 => drop(raw.remove(at)),
                        1 => raw[at] = byte,
                        _ => raw.insert(at, byte),
                    }
                    *(if check(&raw) { &mut usual } else { &mut other }) += 1;
                }
            }
        }
        assert!(usual > 10_000 && other > 10_000, "{usual} {other}");
    }
}
