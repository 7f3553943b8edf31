//! The parts that only messages of other protocols than chat completions have: their own usage, and arguments that came
//! by path.

use super::details::Items;
use super::log::MessageLogOf;
use super::record::{kind, RecordKey};
use super::table::Rows;
use crate::chat::scalar::is_type;
use crate::dialect::{Protocol, TokenCounts};
use crate::json::{self, Text, TextFlags, Value};
use crate::shown::put_number;

impl<T: Rows + ?Sized> MessageLogOf<T> {
    /// Whether the message is of another protocol.
    pub(super) fn is_native(&self) -> bool {
        Protocol::HAS_READERS && self.state.table.top.is_native
    }

    /// Puts the usage of another protocol under its own names: the last usage, or all usages merged. Returns `false` if
    /// there is none.
    pub(super) fn put_native_usage(&self, buffer: &[u8], put: &mut dyn FnMut(&[u8])) -> bool {
        if !self.is_native() {
            return false;
        }
        if self.usage_members(buffer).next().is_some() {
            self.put_added_usage(buffer, put);
            return true;
        }
        let whole = self.pieces(buffer, RecordKey::new(kind::USAGE, 0, 0)).next();
        whole.map(|raw| json::rewrite(raw, put)).is_some()
    }

    /// Puts the thinking blocks of an Anthropic message in the form of `reasoning_details` (OpenRouter), so that a client
    /// can send them back: each signed block with its text, each redacted one with its data, in the order in which they
    /// came. Returns `false` if no block was signed or redacted.
    pub(super) fn put_thoughts(&self, buffer: &[u8], place: u16, put: &mut dyn FnMut(&[u8])) -> bool {
        if self.state.table.top.protocol != Some(Protocol::Anthropic) {
            return false;
        }
        let own = |kind: u8| RecordKey::new(kind, place, 0);
        let records = || self.records(buffer).filter(|record| self.state.table.is_live(record));
        let mut parts = records().filter(|record| record.key == own(kind::PARTS));
        let is_signed = records().any(|record| record.key == own(kind::SIGNATURES));
        if !is_signed && !parts.any(|record| Items::of(record.body).any(is_redacted)) {
            return false;
        }
        let (mut count, mut is_open) = (0u64, false);
        let mut begin = |put: &mut dyn FnMut(&[u8]), kind: &str, name: &str| {
            for bytes in [if count == 0 { "[" } else { "," }, "{\"type\":\"reasoning.", kind, "\",\"index\":"] {
                put(bytes.as_bytes());
            }
            put_number(count, put);
            for bytes in [",\"format\":\"anthropic-claude-v1\",\"", name, "\":"] {
                put(bytes.as_bytes());
            }
            count = count.saturating_add(1);
        };
        for record in records() {
            if record.key == own(kind::REASONING) {
                if !core::mem::replace(&mut is_open, true) {
                    begin(put, "text", "text");
                    put(b"\"");
                }
                json::escape(record.body, &mut *put);
            } else if record.key == own(kind::SIGNATURES) {
                for signature in Items::of(record.body) {
                    if !core::mem::take(&mut is_open) {
                        begin(put, "text", "text");
                        put(b"\"");
                    }
                    put(b"\",\"signature\":");
                    json::rewrite(signature.raw(), put);
                    put(b"}");
                }
            } else if record.key == own(kind::PARTS) {
                for part in Items::of(record.body).filter(|part| is_redacted(*part)) {
                    if core::mem::take(&mut is_open) {
                        put(b"\"}");
                    }
                    begin(put, "encrypted", "data");
                    json::rewrite(part.get("data").ok().flatten().map_or(b"null", |data| data.raw()), put);
                    put(b"}");
                }
            } else if is_open && (record.key == own(kind::CONTENT) || record.key.kind() >= kind::CALL_CUSTOM) {
                // A block of another type came, so the thinking block before it is over.
                is_open = false;
                put(b"\"}");
            }
        }
        put(if is_open { b"\"}]" } else { b"]" });
        true
    }

    /// Returns the token counts of a usage of another protocol.
    pub(super) fn native_counts(&self, buffer: &[u8]) -> Option<TokenCounts> {
        let protocol = Protocol::read_here(self.state.table.top.protocol)?;
        let mut counts = TokenCounts::NOTHING;
        if let Some(raw) = self.pieces(buffer, RecordKey::new(kind::USAGE, 0, 0)).next() {
            counts.add_usage(protocol, Value::from_raw(raw));
        }
        for entry in self.usage_members(buffer) {
            let name = Text::from_raw(entry.name, TextFlags::UNKNOWN);
            counts.add_member(protocol, &name, Value::from_raw(entry.value));
        }
        counts.canonical(protocol)
    }

    /// Puts the token counts of another protocol under the names of chat completions. Returns `false` if there are
    /// none.
    pub(super) fn put_usage(&self, buffer: &[u8], put: &mut dyn FnMut(&[u8])) -> bool {
        let Some(TokenCounts { has, counts }) = self.native_counts(buffer) else { return false };
        let [prompt, completion, total, reasoning, cached, ..] = counts;
        let mut open: &[u8] = b"{\"";
        let mut count = |bit: u32, name: &str, end: &str, number: u64| {
            if has >> bit & 1 != 0 {
                put(open);
                open = b",\"";
                put(name.as_bytes());
                put(b"\":");
                put_number(number, put);
                put(end.as_bytes());
            }
        };
        count(0, "prompt_tokens", "", prompt);
        count(1, "completion_tokens", "", completion);
        count(2, "total_tokens", "", total);
        count(4, "prompt_tokens_details\":{\"cached_tokens", "}", cached);
        count(3, "completion_tokens_details\":{\"reasoning_tokens", "}", reasoning);
        put(b"}");
        true
    }

    /// Whether this is the key of arguments that came without a text, which [`put_arguments`](Self::put_arguments)
    /// writes: of another protocol, or sent as an empty string and over.
    pub(super) fn lacks_text(&self, buffer: &[u8], key: RecordKey) -> bool {
        if key.kind() != kind::CALL_ARGUMENTS {
            return false;
        }
        let custom = RecordKey::new(kind::CALL_CUSTOM, key.choice(), key.call());
        let has = |key| self.pieces(buffer, key).next().is_some();
        let call = || self.state.table.call(key.choice(), key.call());
        let is_empty = || call().is_some_and(|call| call.sent_empty && call.ended);
        (self.is_native() || is_empty()) && !has(key) && !has(custom)
    }

    /// Puts arguments that came without a text, as an object. Its members came by path; it is empty if none came.
    pub(super) fn put_arguments(&self, buffer: &[u8], key: RecordKey, put: &mut dyn FnMut(&[u8])) {
        let pieces = self.listed(buffer, RecordKey::new(kind::CALL_PARTIALS, key.choice(), key.call()));
        put_paths(pieces, put);
    }
}

/// Whether a part is a thinking block that only Anthropic can read.
fn is_redacted(part: Value<'_>) -> bool {
    is_type(part, "redacted_thinking")
}

/// Puts an object that is made of these values with their paths.
pub(crate) fn put_paths<'a>(pieces: impl Iterator<Item = Value<'a>>, put: &mut dyn FnMut(&[u8])) {
    let mut paths = Paths { last: None, goes_on: false };
    put(b"{");
    pieces.for_each(|piece| paths.put(piece, put));
    paths.end(put);
    put(b"}");
}

/// Writes an object from values with their paths (`$.a.b[0]`), in the order of the values. If a container of an earlier
/// path was closed, a later path opens it again.
struct Paths<'a> {
    /// The path of the last value, without its `$`.
    last: Option<&'a [u8]>,
    /// Whether the last value is a string that is not closed yet.
    goes_on: bool,
}

/// A key of a path: a name, or the index of an element. It is JSON as sent, so the same key may be written in several ways.
#[derive(Clone, Copy)]
struct Key<'a> {
    raw: &'a [u8],
    is_element: bool,
}

impl<'a> Key<'a> {
    /// Returns the first key of a path, and the rest of the path. Returns `None` for an empty path.
    fn first(path: &'a [u8]) -> Option<(Self, &'a [u8])> {
        let (end, is_element, closing) = match path {
            [b'[', rest @ ..] => match quote(rest) {
                Some((mark, len)) => return Key::quoted(rest.get(len..)?, mark),
                None => (rest.iter().position(|byte| *byte == b']')?, true, 1),
            },
            [b'.', rest @ ..] => {
                (rest.iter().position(|byte| matches!(byte, b'.' | b'[')).unwrap_or(rest.len()), false, 0)
            }
            _ => return None,
        };
        let (raw, rest) = path.get(1..)?.split_at_checked(end)?;
        Some((Key { raw, is_element }, rest.get(closing..)?))
    }

    /// Returns the name before this quotation mark, and what is behind the bracket behind the mark.
    fn quoted(rest: &'a [u8], mark: u8) -> Option<(Self, &'a [u8])> {
        let mut at = 0usize;
        loop {
            let left = rest.get(at..).filter(|left| !left.is_empty())?;
            match (left, quote(left)) {
                // The path has a backslash before a mark that belongs to the name.
                ([b'\\', b'\\', escaped @ ..], _) => {
                    let len = quote(escaped).map_or(if escaped.starts_with(BACKSLASH) { 2 } else { 0 }, |(_, len)| len);
                    at = at.saturating_add(BACKSLASH.len()).saturating_add(len);
                }
                (_, Some((own, len))) if own == mark => {
                    let behind = left.get(len..)?;
                    let raw = rest.get(..at)?;
                    return Some((Key { raw, is_element: false }, behind.strip_prefix(b"]").unwrap_or(behind)));
                }
                (_, Some((_, len))) => at = at.saturating_add(len),
                ([b'\\', ..], _) => at = at.saturating_add(2),
                _ => at = at.saturating_add(1),
            }
        }
    }

    fn text(self) -> Text<'a> {
        Text::from_raw(self.raw, TextFlags::UNKNOWN)
    }

    fn is(self, other: Key<'_>) -> bool {
        self.is_element == other.is_element && (self.raw == other.raw || self.text() == other.text())
    }

    /// Puts the name, without the backslashes that the path has before quotation marks.
    fn put(self, put: &mut dyn FnMut(&[u8])) {
        let mut rest = self.raw;
        while let Some(at) = rest.windows(BACKSLASH.len()).position(|pair| pair == BACKSLASH) {
            let (before, behind) = rest.split_at_checked(at).unwrap_or_default();
            json::escape_text(Text::from_raw(before, TextFlags::UNKNOWN), &mut *put);
            let behind = behind.get(BACKSLASH.len()..).unwrap_or_default();
            // Two backslashes are one of the name.
            let len = if behind.starts_with(BACKSLASH) { BACKSLASH.len() } else { 0 };
            put(behind.get(..len).unwrap_or_default());
            rest = behind.get(len..).unwrap_or_default();
        }
        json::escape_text(Text::from_raw(rest, TextFlags::UNKNOWN), put);
    }
}

/// A backslash, as JSON escapes it.
const BACKSLASH: &[u8] = br"\\";

/// Returns the quotation mark at the front of JSON, which may be escaped, and its length.
fn quote(json: &[u8]) -> Option<(u8, usize)> {
    let forms: [(&[u8], u8); 4] = [(b"'", b'\''), (br"\u0027", b'\''), (b"\\\"", b'"'), (br"\u0022", b'"')];
    forms.into_iter().find(|(form, _)| json.starts_with(form)).map(|(form, mark)| (mark, form.len()))
}

/// Returns the keys of a path.
fn keys(path: &[u8]) -> impl Iterator<Item = Key<'_>> {
    let mut rest = path;
    core::iter::from_fn(move || {
        let (key, behind) = Key::first(rest)?;
        rest = behind;
        Some(key)
    })
}

/// Whether two paths have the same keys.
fn is_same(left: &[u8], right: &[u8]) -> bool {
    let (mut left_keys, mut right_keys) = (keys(left), keys(right));
    left == right
        || loop {
            match (left_keys.next(), right_keys.next()) {
                (Some(left), Some(right)) if left.is(right) => {}
                (None, None) => break true,
                _ => break false,
            }
        }
}

/// The most keys of a path. Values deeper in the arguments are left out, because usual JSON readers do not read them.
const MAX_KEYS: usize = 127;

/// Whether the first key of a path is an index.
fn is_index(path: &[u8]) -> bool {
    Key::first(path).is_some_and(|(key, _)| key.is_element)
}

impl<'a> Paths<'a> {
    fn put(&mut self, piece: Value<'a>, put: &mut dyn FnMut(&[u8])) {
        let (mut path, mut value, mut more) = (None, None, false);
        let mut at = 0;
        while let Some((name, member)) = piece.member_at(&mut at) {
            if name == "jsonPath" {
                path = member.as_text().map(|text| text.raw());
            } else if name == "willContinue" {
                more = member.as_bool() == Some(true);
            } else if name == "nullValue" {
                value = Some(Value::from_raw(b"null"));
            } else if name.raw().ends_with(b"Value") {
                value = Some(member);
            }
        }
        let Some(path) = path.and_then(|path| path.strip_prefix(b"$")) else { return };
        if !(1..=MAX_KEYS).contains(&keys(path).take(MAX_KEYS.saturating_add(1)).count()) {
            return;
        }
        let text = value.and_then(|value| value.as_text());
        if self.goes_on && self.last.is_some_and(|last| is_same(last, path)) {
            if let Some(text) = text {
                json::escape_text(text, &mut *put);
            }
        } else {
            self.open(path, put);
            match (text, value) {
                (Some(text), _) => {
                    put(b"\"");
                    json::escape_text(text, &mut *put);
                }
                (None, Some(value)) => json::rewrite(value.raw(), put),
                (None, None) => put(b"\""),
            }
        }
        let is_text = text.is_some() || value.is_none();
        self.goes_on = is_text && more;
        if is_text && !more {
            put(b"\"");
        }
        self.last = Some(path);
    }

    /// Closes the open containers that are not in the path, and opens those of the path that are not open.
    fn open(&mut self, path: &'a [u8], put: &mut dyn FnMut(&[u8])) {
        self.close_text(put);
        let (mut old, mut new) = (self.last.unwrap_or_default(), path);
        // Skip the containers that both paths have.
        while let (Some((left, old_rest)), Some((right, new_rest))) = (Key::first(old), Key::first(new)) {
            if !left.is(right) || Key::first(old_rest).is_none() || Key::first(new_rest).is_none() {
                break;
            }
            (old, new) = (old_rest, new_rest);
        }
        close(old, put);
        if self.last.is_some() {
            put(b",");
        }
        while let Some((key, rest)) = Key::first(new) {
            if !key.is_element {
                put(b"\"");
                key.put(put);
                put(b"\":");
            }
            if Key::first(rest).is_some() {
                put(if is_index(rest) { b"[" } else { b"{" });
            }
            new = rest;
        }
    }

    fn close_text(&mut self, put: &mut dyn FnMut(&[u8])) {
        if core::mem::take(&mut self.goes_on) {
            put(b"\"");
        }
    }

    fn end(mut self, put: &mut dyn FnMut(&[u8])) {
        self.close_text(put);
        close(self.last.unwrap_or_default(), put);
    }
}

/// Closes the containers inside the first key of a path of at most [`MAX_KEYS`] keys, the innermost first.
fn close(path: &[u8], put: &mut dyn FnMut(&[u8])) {
    let (mut count, mut elements) = (0u32, 0u128);
    for key in keys(path) {
        (count, elements) = (count.saturating_add(1), elements << 1 | u128::from(key.is_element));
    }
    for _ in 1..count {
        put(if elements & 1 != 0 { b"]" } else { b"}" });
        elements >>= 1;
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    extern crate std;
    use super::put_paths;
    use crate::json::parse_lazy;
    use std::string::String;
    use std::vec::Vec;

    /// The keys of a path are JSON in a JSON string, so each has several spellings.
    #[test]
    fn paths_make_an_object() {
        for (paths, expected) in [
            (&[r"$.a", r"$['a b']", r"$[\u0027c d\u0027]", r#"$[\"e f\"]"#][..], r#"{"a":0,"a b":1,"c d":2,"e f":3}"#),
            (&[r"$.a.b[0]", r"$.a.b[1].c", r"$['d'].e"], r#"{"a":{"b":[0,{"c":1}]},"d":{"e":2}}"#),
            (&[r"$.\u0061.b", r"$['a'].c", r"$[\u0027\u0061\u0027].d"], r#"{"a":{"b":0,"c":1,"d":2}}"#),
            // The path has a backslash before a mark that belongs to the name, and before a backslash.
            (&[r"$['it\\'s'][0]", r"$['it\\'s'][1]"], r#"{"it's":[0,1]}"#),
            (&[r#"$[\"q\\\"q\"]"#, r"$['a\\\\b']"], r#"{"q\"q":0,"a\\b":1}"#),
            (&[r"$['it\\\u0027s']", r#"$['\"']"#, r"$['\n']"], r#"{"it's":0,"\"":1,"\n":2}"#),
            // These are no paths.
            (&[r"a", r"$", r"$['a", r"$[", r"$.ok"], r#"{"ok":4}"#),
        ] {
            let pieces: Vec<String> = paths
                .iter()
                .enumerate()
                .map(|(value, path)| std::format!(r#"{{"jsonPath":"{path}","numberValue":{value}}}"#))
                .collect();
            let mut written = Vec::new();
            let values = pieces.iter().map(|piece| parse_lazy(piece.as_bytes()).unwrap());
            put_paths(values, &mut |bytes| written.extend_from_slice(bytes));
            assert_eq!(String::from_utf8(written).unwrap(), expected);
        }
    }
}
