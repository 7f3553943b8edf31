//! `Serialize` for values and texts.

use super::{Text, Value, ValueKind};
use serde::ser::{Serialize, Serializer};

/// The deepest nesting that is written, which is the most that [`Limits::max_depth`](crate::Limits::max_depth) allows
/// in a payload. A deeper container is written as null.
const MAX_DEPTH: u32 = crate::Limits::MAX_DEPTH;

/// Writes the value. Integers are written as `u64` or `i64` if they fit; other numbers and `-0` as the nearest `f64`,
/// while its [bytes](Value::raw) have them as sent. A container with a fault ends at the fault.
impl Serialize for Value<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Nested { value: *self, levels: MAX_DEPTH }.serialize(serializer)
    }
}

/// Writes the decoded text.
impl Serialize for Text<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.as_str() {
            Some(text) => serializer.serialize_str(text),
            None => serializer.collect_str(self),
        }
    }
}

/// A value, and how many levels may still be entered.
struct Nested<'a> {
    value: Value<'a>,
    levels: u32,
}

impl Serialize for Nested<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let value = self.value;
        match value.kind() {
            ValueKind::Null => serializer.serialize_unit(),
            ValueKind::Bool => serializer.serialize_bool(value.as_bool() == Some(true)),
            ValueKind::String => match value.as_text() {
                Some(text) => text.serialize(serializer),
                None => serializer.serialize_unit(),
            },
            ValueKind::Number => number(value, serializer),
            ValueKind::Array | ValueKind::Object => {
                let Some(levels) = self.levels.checked_sub(1) else { return serializer.serialize_unit() };
                if value.kind() == ValueKind::Array {
                    let elements = value.elements().map_while(Result::ok);
                    serializer.collect_seq(elements.map(|value| Nested { value, levels }))
                } else {
                    let members = value.members().map_while(Result::ok);
                    serializer.collect_map(members.map(|(name, value)| (name, Nested { value, levels })))
                }
            }
        }
    }
}

fn number<S: Serializer>(value: Value<'_>, serializer: S) -> Result<S::Ok, S::Error> {
    let Some(number) = value.as_number() else { return serializer.serialize_unit() };
    if number.is_integer() && value.raw() != b"-0" {
        if let Some(value) = number.to_u64() {
            return serializer.serialize_u64(value);
        }
        if let Some(value) = number.to_i64() {
            return serializer.serialize_i64(value);
        }
    }
    serializer.serialize_f64(number.to_f64())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use alloc::vec;

    #[test]
    fn json_serializes_as_its_value() {
        for json in [
            "null",
            "[true,false,null,[],{}]",
            "[0,-1,18446744073709551615,-9223372036854775808,1.5,-7.62939453125e-6,0.0,1e3]",
            r#"{"a\u00e9\ud83d\ude00":"\n\/\u0000x","b":{"c":[{"d":" "}]}}"#,
        ] {
            let value = crate::json::parse_lazy(json.as_bytes()).unwrap();
            let expected: serde_json::Value = serde_json::from_str(json).unwrap();
            assert_eq!(serde_json::to_value(value).unwrap(), expected, "{json}");
        }
    }

    #[test]
    fn odd_json_is_still_written() {
        for (json, written) in [
            ("[1e400]", "[null]"),
            ("[18446744073709551616]", "[1.8446744073709552e+19]"),
            ("[-0,-0.0,0]", "[-0.0,-0.0,0]"),
            ("[\"\\ud800\\q\"]", "[\"\u{fffd}\\\\q\"]"),
            ("[1,2,nope]", "[1,2]"),
            (r#"{"a":1,"b":[x]}"#, r#"{"a":1,"b":[]}"#),
        ] {
            let value = crate::json::parse_lazy(json.as_bytes()).unwrap();
            assert_eq!(serde_json::to_string(&value).unwrap(), written, "{json}");
        }
    }

    #[test]
    fn depth_is_bounded() {
        let json = [vec![b'['; 3000], vec![b']'; 3000]].concat();
        let value = crate::json::Cursor::with_max_depth(&json, u32::MAX).value().unwrap();
        let written = serde_json::to_string(&value).unwrap();
        assert_eq!(written, ["[".repeat(1024), "null".into(), "]".repeat(1024)].concat());
    }
}
