//! An event that broke off inside its JSON, with a whole event behind it in the same payload: the server or a proxy
//! went on without ending the line, or without a blank line.

use crate::chat::scalar::{is_error, is_type, member_of};
use crate::json::{self, JsonError, Value};
use crate::visits::visit;

/// A whole JSON object at the end of a payload that is not JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Glued {
    /// The length of the bytes before it that are malformed.
    pub(super) front: usize,
    /// Where the object begins.
    pub(super) start: usize,
    /// Whether an `event: error` line stands before it.
    pub(super) is_error: bool,
}

/// What the lines of a payload are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lines {
    /// Raw JSON.
    Raw,
    /// Values of `data` fields.
    Data,
    /// Values of `data` fields in a block whose event is named `error`.
    Error,
}

/// Finds the whole object behind the `fault` of a payload: the nearest `{` before the fault that stands directly behind
/// `data:` or an `event: error` line, else the first one after it, else the nearest bare `{`, which must be an error,
/// unless the block is named so. It counts only if it is whole JSON to the end of the payload.
///
/// A payload that merely stops has no fault before its end, and an escaped quote never makes a fault, so no text of a
/// sound event can forge one. Takes time linear in the length of the payload.
#[cold]
pub(super) fn find(payload: &[u8], fault: JsonError, max_depth: u32, lines: Lines) -> Option<Glued> {
    if !matches!(payload.trim_ascii_start().first(), Some(b'{' | b'[')) {
        return None;
    }
    // The reader passes over a value that it does not need by its brackets, and so may miss a fault inside it.
    let at = match fault.offset {
        at if at < payload.len() => at,
        _ => json::validate(payload, max_depth).err()?.offset,
    };
    if at >= payload.len() {
        return None;
    }
    visit!(payload.len());
    let (before, after) = payload.split_at_checked(at)?;
    let is_whole = |start: usize| payload.get(start..).is_some_and(|rest| json::validate(rest, max_depth).is_ok());
    let behind_field =
        |start: usize| prefix(payload.get(..start)?, lines).map(|(front, is_error)| Glued { front, start, is_error });
    let last = before.iter().enumerate().rev().filter(|(_, byte)| **byte == b'{').find_map(|(at, _)| behind_field(at));
    let first = || {
        let mut braces = after.iter().enumerate().filter(|(_, byte)| **byte == b'{');
        braces.find_map(|(place, _)| behind_field(at.saturating_add(place)))
    };
    let is_sound = |glued: &Glued| is_whole(glued.start);
    // A sound text before the fault may quote such a field, with escaped quotes, so what it quotes is not whole.
    if let Some(glued) = last.filter(is_sound).or_else(|| first().filter(is_sound)) {
        return Some(glued);
    }
    let bare = before.iter().rposition(|byte| *byte == b'{').filter(|start| *start > 0 && is_whole(*start));
    let behind =
        || Some(at.saturating_add(after.iter().position(|byte| *byte == b'{')?)).filter(|start| is_whole(*start));
    let bare = bare.or_else(behind)?;
    let is_named = lines == Lines::Error;
    let is_error = is_named || says_error(Value::from_raw(payload.get(bare..)?));
    is_error.then_some(Glued { front: bare, start: bare, is_error: is_named })
}

/// Returns how many bytes are before the field whose value begins behind `front`, and whether that is an `event: error`
/// line. Returns `None` if no field stands there.
fn prefix(front: &[u8], lines: Lines) -> Option<(usize, bool)> {
    if let Some(rest) = front.strip_suffix(b"data: ").or_else(|| front.strip_suffix(b"data:")) {
        let line = rest.trim_ascii_end();
        let named = line.strip_suffix(b"event: error").filter(|_| line.len() < rest.len());
        return Some(named.map_or((rest.len(), false), |named| (named.len(), true)));
    }
    let line = front.strip_suffix(b"\n")?;
    let named = line.strip_suffix(b"event: error").map(|named| (named.len(), true));
    named.or((lines != Lines::Raw).then_some((front.len(), lines == Lines::Error)))
}

/// Whether an object is an error: it has one, or is of that type.
fn says_error(object: Value<'_>) -> bool {
    member_of(object, "error").is_some_and(is_error) || is_type(object, "error")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    extern crate std;
    use super::{find, Glued, Lines};
    use crate::json;
    use std::string::String;
    use std::vec::Vec;

    /// Returns the malformed front of a payload, and the object behind it.
    fn found(payload: &str) -> Option<(&str, &str, bool)> {
        let fault = json::validate(payload.as_bytes(), 64).unwrap_err();
        let Glued { front, start, is_error } = find(payload.as_bytes(), fault, 64, Lines::Data)?;
        Some((&payload[..front], &payload[start..], is_error))
    }

    #[test]
    fn a_whole_object_behind_a_broken_one_is_found() {
        for (payload, front, object, is_error) in [
            (r#"{"id":"a","obdata: {"id":"b"}"#, r#"{"id":"a","ob"#, r#"{"id":"b"}"#, false),
            (r#"{"id":"a",data:{"id":"b"}"#, r#"{"id":"a","#, r#"{"id":"b"}"#, false),
            ("{\"a\":\"tialevent: error\n{\"type\":\"error\"}", "{\"a\":\"tial", "{\"type\":\"error\"}", true),
            ("{\"a\":\"tialevent: error\ndata: {\"x\":1}", "{\"a\":\"tial", "{\"x\":1}", true),
            (r#"{"a":"Hel{"error":{"message":"m"}}"#, r#"{"a":"Hel"#, r#"{"error":{"message":"m"}}"#, false),
            ("{\"a\":1,\n{\"error\":\"m\"}", "{\"a\":1,\n", "{\"error\":\"m\"}", false),
            ("{\"a\":\"Hel\n{\"b\":1}", "{\"a\":\"Hel\n", "{\"b\":1}", false),
            (r#"{"a":"data: {\"b\":1}","c":nudata: {"d":1}"#, r#"{"a":"data: {\"b\":1}","c":nu"#, r#"{"d":1}"#, false),
            (
                r#"{"a":"data: {\"b\":1}","c":nu{"error":1}"#,
                r#"{"a":"data: {\"b\":1}","c":nu"#,
                r#"{"error":1}"#,
                false,
            ),
        ] {
            assert_eq!(found(payload), Some((front, object, is_error)), "{payload}");
        }
    }

    #[test]
    fn nothing_else_is_found() {
        for payload in [
            // It merely stops, whatever it ends with.
            r#"{"choices":[{"delta":{"content":"a"}}"#,
            r#"{"a":"data: {\"b\":1}"#,
            // A bare object that is no error, and one that is not whole.
            r#"{"a":"Hel{"b":1}"#,
            r#"{"a":"Heldata: {"b":1"#,
            r#"{"error":nothing}"#,
            "oops",
            // Nothing broke off.
            r#"data: {"b":1}"#,
        ] {
            assert_eq!(found(payload), None, "{payload}");
        }
    }

    #[test]
    fn the_search_is_linear() {
        for unit in ["{", "data: {", "{\"a\":\"data: {\"", "event: error\n{", "\n{"] {
            let visits = |times: usize| {
                let payload: String = std::iter::repeat_n(unit, times).collect::<Vec<_>>().concat() + "x";
                let Err(fault) = json::validate(payload.as_bytes(), 64) else { unreachable!() };
                crate::visits::during(|| find(payload.as_bytes(), fault, 64, Lines::Data)).1
            };
            assert!(visits(2000) <= 12 * visits(200), "{unit}");
        }
    }
}
