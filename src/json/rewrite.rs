//! Writes JSON: escapes texts, and repairs values that may be malformed.

use super::fragments::unit;
use super::lexeme::{literal_end, significant};
use super::number;
use super::strict::{self, Levels};
use super::text::{Text, TextFlags};
use super::value::Value;
use crate::scan::{find, string};

/// The deepest nesting that is written; a deeper container becomes null. Equal to the most that
/// [`Limits::max_depth`](crate::Limits::max_depth) allows in a payload.
const MAX_DEPTH: u32 = crate::Limits::MAX_DEPTH;

/// Passes `text` to `put` as the contents of a JSON string, without quotes. UTF-8 bytes stay unescaped.
pub(crate) fn escape(text: &[u8], mut put: impl FnMut(&[u8])) {
    let mut rest = text;
    loop {
        let run = string::strict_run(rest, 0).at;
        let Some((before, after)) = rest.split_at_checked(run) else { return };
        if !before.is_empty() {
            put(before);
        }
        let [byte, after @ ..] = after else { return };
        rest = after;
        match byte {
            b'"' => put(b"\\\""),
            b'\\' => put(b"\\\\"),
            b'\n' => put(b"\\n"),
            b'\r' => put(b"\\r"),
            b'\t' => put(b"\\t"),
            0x08 => put(b"\\b"),
            0x0c => put(b"\\f"),
            _ => put(&[b'\\', b'u', b'0', b'0', hex(byte >> 4), hex(byte & 15)]),
        }
    }
}

/// Returns a number below 16 as a hex digit.
fn hex(digit: u8) -> u8 {
    let base = if digit < 10 { b'0' } else { b'a'.wrapping_sub(10) };
    base.wrapping_add(digit)
}

/// Passes a value that a cursor skipped to `put`, as strict JSON. A value that is strict JSON without `\u` escapes of
/// surrogates stays as it is. (RFC 8259 allows an unpaired surrogate, but many readers reject it.) In any other value
/// whitespace is dropped, each container ends at its first error, and texts are decoded and escaped again. The result
/// is at most six times as long as the value.
pub(crate) fn rewrite(raw: &[u8], put: &mut dyn FnMut(&[u8])) {
    rewrite_with(raw, false, false, put);
}

/// Does what [`rewrite`] does, but keeps half a surrogate pair at the beginning or the end of a text, because the text
/// next to it may have the other half. Rewriting the result gives the same as rewriting `raw`.
pub(crate) fn rewrite_keeping_halves(raw: &[u8], put: &mut dyn FnMut(&[u8])) {
    rewrite_with(raw, true, false, put);
}

/// Does what [`rewrite`] does, but writes null for `NaN`, `Infinity` and `-Infinity`, after which the container goes on.
/// Returns whether there was one.
pub(crate) fn rewrite_not_numbers(raw: &[u8], put: &mut dyn FnMut(&[u8])) -> bool {
    rewrite_with(raw, false, true, put)
}

fn rewrite_with(raw: &[u8], keeps_halves: bool, not_numbers: bool, put: &mut dyn FnMut(&[u8])) -> bool {
    if !may_have_halves(raw) && super::validate(raw, MAX_DEPTH).is_ok() {
        put(raw);
        return false;
    }
    let mut rewrite =
        Rewrite { raw, at: 0, levels: Levels::new(MAX_DEPTH), keeps_halves, not_numbers, had_not_number: false, put };
    rewrite.run();
    rewrite.had_not_number
}

/// Returns the length of the bare `NaN`, `Infinity` or `-Infinity` that these bytes begin with.
pub(crate) fn not_a_number(rest: &[u8]) -> Option<usize> {
    let word = [&b"NaN"[..], b"Infinity", b"-Infinity"].into_iter().find(|word| rest.starts_with(word))?;
    let ends = rest.get(word.len()).is_none_or(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_');
    ends.then_some(word.len())
}

/// Returns the bare `NaN`, `Infinity` or `-Infinity` after offset `at`, as [`Value::element_at`] returns an element.
pub(crate) fn not_a_number_at<'a>(array: Value<'a>, at: &mut usize) -> Option<&'a [u8]> {
    let raw = array.raw();
    let (before, byte) = significant(raw, *at);
    let expected = if *at == 0 { b'[' } else { b',' };
    let (start, _) = significant(raw, before.saturating_add(1));
    let len = not_a_number(raw.get(start..)?).filter(|_| byte == Some(expected))?;
    *at = start.saturating_add(len);
    raw.get(start..*at)
}

/// Returns the bytes after the string whose bytes after the opening quote are `rest`, if [`rewrite`] would leave it
/// unchanged.
#[inline(always)]
pub(crate) fn skip_string(rest: &[u8]) -> Option<&[u8]> {
    string::plain_before_end(rest).or_else(|| skip_any_string(rest))
}

#[inline(never)]
fn skip_any_string(rest: &[u8]) -> Option<&[u8]> {
    let (text, after) = rest.split_at_checked(strict::string_end(rest, 0).ok()?)?;
    (!may_have_halves(text)).then_some(after)
}

/// Whether there may be an escape of half a surrogate pair. Also returns `true` for whole pairs: they need no
/// rewriting, but rewriting them keeps the meaning, and is simpler than telling pairs from halves.
#[inline(never)]
fn may_have_halves(raw: &[u8]) -> bool {
    let mut rest = raw;
    while let Some(at) = find::byte(b'\\', rest) {
        rest = rest.get(at.saturating_add(1)..).unwrap_or_default();
        if let [b'u', b'd' | b'D', ..] = rest {
            return true;
        }
    }
    false
}

/// Passes a text to `put` as the contents of a JSON string, as [`escape`] does.
pub(crate) fn escape_text(text: Text<'_>, mut put: impl FnMut(&[u8])) {
    for fragment in text.fragments() {
        escape(fragment.encode(&mut [0; 4]).as_bytes(), &mut put);
    }
}

struct Rewrite<'a, 'p> {
    raw: &'a [u8],
    /// Offset of the next byte.
    at: usize,
    levels: Levels,
    keeps_halves: bool,
    /// Whether `NaN` and the like are written as null, and whether there was one.
    not_numbers: bool,
    had_not_number: bool,
    put: &'p mut dyn FnMut(&[u8]),
}

impl<'a> Rewrite<'a, '_> {
    fn run(&mut self) {
        let first = self.significant();
        if !self.value(first, None, false) {
            return (self.put)(b"null");
        }
        // No member or element of the open container was written yet.
        let mut fresh = true;
        while self.levels.depth > 0 {
            let object = !self.levels.list;
            let mut byte = self.significant();
            let close = if object { b'}' } else { b']' };
            if byte == Some(close) {
                self.at = self.at.saturating_add(1);
                self.close(close);
                fresh = false;
                continue;
            }
            let mut good = fresh != (byte == Some(b','));
            if good && !fresh {
                self.at = self.at.saturating_add(1);
                byte = self.significant();
            }
            let mut name = None;
            if good && object {
                name = self.name(byte);
                good = name.is_some();
                byte = self.significant();
            }
            let depth = self.levels.depth;
            if good && self.value(byte, name, !fresh) {
                fresh = self.levels.depth > depth;
            } else {
                self.at = self.past_close(self.at);
                self.close(close);
                fresh = false;
            }
        }
    }

    /// Moves to the next byte that is not whitespace.
    fn significant(&mut self) -> Option<u8> {
        let (at, byte) = significant(self.raw, self.at);
        self.at = at;
        byte
    }

    fn close(&mut self, bracket: u8) {
        self.levels.pop();
        (self.put)(&[bracket]);
    }

    /// Skips a member name and its colon.
    fn name(&mut self, byte: Option<u8>) -> Option<Text<'a>> {
        if byte != Some(b'"') {
            return None;
        }
        let start = self.at.saturating_add(1);
        let end = self.quote(start)?;
        self.at = end.saturating_add(1);
        if self.significant() != Some(b':') {
            return None;
        }
        self.at = self.at.saturating_add(1);
        Some(Text::from_raw(self.raw.get(start..end)?, TextFlags::UNKNOWN))
    }

    /// Writes the value that begins with `byte`, after its comma and name, or enters it if it is a container. Returns
    /// `false`, and writes nothing, if no value begins there.
    fn value(&mut self, byte: Option<u8>, name: Option<Text<'a>>, comma: bool) -> bool {
        let Some(byte) = byte else { return false };
        let start = self.at;
        let inside = start.saturating_add(1);
        let end = match byte {
            b'{' | b'[' => Some(inside),
            b'"' => self.quote(inside).map(|end| end.saturating_add(1)),
            b'-' | b'0'..=b'9' => number::end(self.raw, start).ok(),
            b't' | b'f' | b'n' => literal_end(self.raw, start, byte).ok(),
            _ => None,
        };
        let odd = |not_numbers: bool| not_a_number(self.raw.get(start..)?).filter(|_| not_numbers);
        let (end, is_odd) = match (end, odd(self.not_numbers && end.is_none())) {
            (Some(end), _) => (end, false),
            (None, Some(len)) => (start.saturating_add(len), true),
            (None, None) => return false,
        };
        self.had_not_number |= is_odd;
        self.at = end;
        if comma {
            (self.put)(b",");
        }
        if let Some(name) = name {
            self.text(name);
            (self.put)(b":");
        }
        let raw = self.raw.get(start..end).unwrap_or_default();
        match (byte, raw) {
            _ if is_odd => (self.put)(b"null"),
            (b'{' | b'[', _) if self.levels.push(byte == b'[') => (self.put)(raw),
            (b'{' | b'[', _) => {
                self.at = self.past_close(inside);
                (self.put)(b"null");
            }
            (b'"', [_, text @ .., _]) => self.text(Text::from_raw(text, TextFlags::UNKNOWN)),
            _ => (self.put)(raw),
        }
        true
    }

    fn text(&mut self, text: Text<'a>) {
        let mut text = text;
        let mut end = &b""[..];
        (self.put)(b"\"");
        if self.keeps_halves {
            if let [b'\\', b'u', a, b, c, d, rest @ ..] = text.raw() {
                if unit(&[*a, *b, *c, *d]).is_some_and(|unit| (0xdc00..0xe000).contains(&unit)) {
                    (self.put)(&[b'\\', b'u', *a, *b, *c, *d]);
                    text = Text::from_raw(rest, TextFlags::UNKNOWN);
                }
            }
            if text.trailing_half().is_some() {
                let whole = text.without_trailing_half();
                end = text.raw().get(whole.raw().len()..).unwrap_or_default();
                text = whole;
            }
        }
        escape_text(text, &mut self.put);
        (self.put)(end);
        (self.put)(b"\"");
    }

    /// Returns the offset of the closing quote of the string whose first byte is at `from`.
    fn quote(&self, from: usize) -> Option<usize> {
        string::end(self.raw, from).map(|end| end.at)
    }

    /// Returns the offset one past the bracket that closes the container around `from`. Counts brackets only, as a
    /// cursor does to skip a container.
    fn past_close(&self, from: usize) -> usize {
        let (mut depth, mut escaped, mut inside) = (1u32, false, false);
        let rest = self.raw.get(from..).unwrap_or_default();
        let len = rest.iter().position(|&byte| {
            match byte {
                b'"' if !escaped => inside = !inside,
                b'{' | b'[' if !inside => depth = depth.saturating_add(1),
                b'}' | b']' if !inside => depth = depth.saturating_sub(1),
                _ => {}
            }
            escaped = byte == b'\\' && !escaped;
            depth == 0
        });
        len.map_or(self.raw.len(), |len| from.saturating_add(len).saturating_add(1))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    extern crate std;
    use std::string::String;
    use std::vec::Vec;

    fn rewritten(json: &[u8]) -> String {
        let mut written = Vec::new();
        super::rewrite(json, &mut |bytes| written.extend_from_slice(bytes));
        assert!(written.len() <= 6 * json.len(), "{json:?}");
        String::from_utf8(written).unwrap()
    }

    #[test]
    fn valid_json_is_unchanged() {
        for json in ["null", " [1, {\"a\" : \"\\u00e9\"}] ", "-0", "1E5", "\"x\""] {
            assert_eq!(rewritten(json.as_bytes()), json);
        }
    }

    #[test]
    fn malformed_json_ends_at_its_errors() {
        for (json, expected) in [
            (&b"[1,2,nope]"[..], "[1,2]"),
            (b"[1,2,]", "[1,2]"),
            (b"[,1]", "[]"),
            (b"[1 2]", "[1]"),
            (b"[1x,2]", "[1]"),
            (b"{\"a\":1,\"b\":[x],\"c\" : 2}", "{\"a\":1,\"b\":[],\"c\":2}"),
            (b"{\"a\":x,\"b\":1}", "{}"),
            (b"{\"a\" 1}", "{}"),
            (b"{1:2}", "{}"),
            (b"[{\"a\":[1}},[2]]", "[{\"a\":[1]},[2]]"),
            (b"[[x\\\"],3]", "[[],3]"),
            (b"[[x\"]\\\"]\",1],3]", "[[],3]"),
            (b"[{\"a\":x,\"[{\":1},3]", "[{},3]"),
            (b"[\"\\q\\ud800\xff\x01\"]", "[\"\\\\q\u{fffd}\u{fffd}\\u0001\"]"),
            (b"[\"a\xffb\\u0000\\\"\",1]", "[\"a\u{fffd}b\\u0000\\\"\",1]"),
            (b"[\"\\ude00 \\ud83d\\ude00 \\u0041\"]", "[\"\u{fffd} \u{1f600} A\"]"),
            (b"[\"\x7f\xc3\xa4\\/\",+]", "[\"\x7f\u{e4}/\"]"),
            (b"[", "[]"),
            (b"{\"a\":[\"", "{\"a\":[]}"),
        ] {
            assert_eq!(rewritten(json), expected, "{}", String::from_utf8_lossy(json));
        }
    }

    #[test]
    fn bare_numbers_that_json_lacks_become_null() {
        for (json, expected) in [
            (&b"{\"a\":NaN,\"b\":[-Infinity, Infinity],\"c\":1}"[..], Some("{\"a\":null,\"b\":[null,null],\"c\":1}")),
            (b"NaN", Some("null")),
            (b"[\"NaN\"]", None),
            (b"{\"a\":NaNs,\"b\":1}", None),
            (b"{\"a\":-Inf,\"b\":1}", None),
            (b"[+Infinity]", None),
        ] {
            let mut written = Vec::new();
            let had = super::rewrite_not_numbers(json, &mut |bytes| written.extend_from_slice(bytes));
            let expected = expected.map_or_else(|| rewritten(json), String::from);
            assert_eq!((String::from_utf8(written).unwrap(), had), (expected.clone(), expected.contains("null")));
        }
    }

    #[test]
    fn control_characters_are_escaped() {
        for byte in 0..=0x7f_u8 {
            let mut written = Vec::from(b"\"");
            super::escape(&[b'<', byte, b'>'], |bytes| written.extend_from_slice(bytes));
            written.push(b'"');
            crate::json::validate(&written, 1).unwrap();
            let value = crate::json::parse_lazy(&written).unwrap();
            assert_eq!(value.as_text().unwrap(), &*std::format!("<{}>", char::from(byte)));
        }
        let mut written = Vec::new();
        super::escape(b"\n\r\t\x08\x0c\"\\", |bytes| written.extend_from_slice(bytes));
        assert_eq!(written, b"\\n\\r\\t\\b\\f\\\"\\\\", "the short forms");
    }

    #[test]
    fn containers_that_are_too_deep_become_null() {
        let json = ["[".repeat(3000), "]".repeat(3000)].concat();
        let expected = ["[".repeat(1024), "null".into(), "]".repeat(1024)].concat();
        assert_eq!(rewritten(json.as_bytes()), expected);
    }

    /// Writes random balanced bytes and compares them with the output of `Serialize`.
    #[cfg(feature = "serde")]
    #[test]
    fn agrees_with_serialize() {
        let mut random = crate::scan::tests::Random(5);
        let tokens = r#"[|[|]|]|{|}|,|,|:|"a"|"\q"|"\"]"|"\uDE00"|1|-2.5|true|null|nul|x| |\|{"b":1}|[1,2]|"c":|"c":1"#;
        let tokens: Vec<_> = tokens.split('|').collect();
        let mut whole = 0;
        for _ in 0..200_000 {
            let mut json = String::from(["[", "{"][random.below(2)]);
            (0..random.below(14)).for_each(|_| json += tokens[random.below(tokens.len())]);
            json += "]]]]]]";
            let Ok(value) = crate::json::Cursor::with_max_depth(json.as_bytes(), u32::MAX).value() else { continue };
            let written = rewritten(value.raw());
            let read: serde_json::Value = serde_json::from_str(&written).unwrap();
            assert_eq!(read, serde_json::to_value(value).unwrap(), "{json}");
            whole += 1;
        }
        assert!(whole > 50_000, "{whole}");
    }
}
