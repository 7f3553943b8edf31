//! Tests of which holes a chunk has, and what a shape stores of its index.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]
extern crate std;

use super::{Changing, HoleKind, Holes, Shape, HOLES};
use crate::chat::index::{choice, delta, top, Hint, Index};
use crate::chat::{read, Ahead, DeltaCursor};
use crate::delta::{Delta, Kind, FLAG_NUMBER};
use crate::json::TextFlags;
use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

fn read(payload: &str) -> Index {
    let mut index = Index::new();
    let read = read::read(&mut index, payload.as_bytes(), Hint::None, 128).unwrap();
    assert_eq!(read.end, payload.len(), "{payload}");
    index
}

const ALL: Changing = Changing { fingerprint: false, ..Changing::ALL };
const NONE: Changing = Changing::NOTHING;

/// Returns the contents and the kind of each hole.
fn holes(payload: &str, changing: Changing, texts: bool) -> Option<Vec<(&str, HoleKind)>> {
    let holes = Holes::of(&read(payload), payload.as_bytes(), changing, texts)?;
    Some(holes.as_slice().iter().map(|hole| (&payload[hole.start..hole.end], hole.fill)).collect())
}

fn delta(members: &str) -> String {
    format!("{{\"choices\":[{{\"index\":0,\"delta\":{{{members}}}}}]}}")
}

#[test]
fn texts_are_holes() {
    for member in ["content", "refusal", "reasoning_content", "reasoning", "thinking", "thought"] {
        let payload = delta(&format!("\"role\":\"assistant\",\"{member}\":\"a\\\"b\""));
        assert_eq!(holes(&payload, NONE, false), Some([("a\\\"b", HoleKind::Text)].to_vec()), "{member}");
        for other in ["null", "7", "[\"a\"]", "{}", "true"] {
            let payload = delta(&format!("\"{member}\":{other}"));
            assert_eq!(holes(&payload, NONE, false), Some(Vec::new()), "{member} {other}");
        }
    }
    let call = delta(
        "\"tool_calls\":[{\"index\":0,\"id\":\"i\",\"type\":\"function\",\"function\":{\"name\":\"n\",\"arguments\":\"{\"}},\
         {\"index\":1,\"function\":{\"arguments\":\"x\"}}]",
    );
    assert_eq!(holes(&call, ALL, false), Some([("{", HoleKind::Text)].to_vec()));
    let text = "{\"choices\":[{\"index\":0,\"text\":\"\"},{\"index\":1,\"text\":\"b\"}]}";
    assert_eq!(holes(text, ALL, false), Some([("", HoleKind::Text)].to_vec()));
    // The last of two members with one name counts.
    assert_eq!(
        holes(&delta("\"content\":\"a\",\"content\":\"b\""), NONE, false),
        Some([("b", HoleKind::Text)].to_vec())
    );
}

#[test]
fn containers_are_holes_where_the_grammar_is_not_checked() {
    let payload = "{\"choices\":[{\"delta\":{\"content\":\"a\"},\"logprobs\":{\"content\":[]}}],\"usage\":{\"n\":1},\
                   \"timings\":{\"t\":2},\"obfuscation\":\"xy\"}";
    let expected = [
        ("a", HoleKind::Text),
        ("{\"content\":[]}", HoleKind::Container(3)),
        ("{\"n\":1}", HoleKind::Container(1)),
        ("{\"t\":2}", HoleKind::Container(1)),
        ("xy", HoleKind::Text),
    ];
    assert_eq!(holes(payload, NONE, false), Some(expected.to_vec()));
    assert_eq!(holes(payload, NONE, true), Some([("a", HoleKind::Checked), ("xy", HoleKind::Checked)].to_vec()));
    for other in ["null", "[]", "7", "\"None\""] {
        let payload = format!("{{\"choices\":[{{\"logprobs\":{other}}}],\"usage\":{other},\"timings\":{other}}}");
        assert_eq!(holes(&payload, NONE, false), Some(Vec::new()), "{payload}");
    }
    for other in ["null", "[]", "7", "{}", "true"] {
        let payload = format!("{{\"choices\":[],\"obfuscation\":{other}}}");
        assert_eq!(holes(&payload, ALL, false), Some(Vec::new()), "{payload}");
    }
}

#[test]
fn texts_in_details_and_parts_are_holes() {
    let details = delta(
        "\"content\":\"a\",\"reasoning_details\":[{\"type\":\"t\",\"text\":\"b\",\"index\":0},7,{\"data\":\"c\",\"summary\":{}}]",
    );
    let text = |text| (text, HoleKind::Text);
    assert_eq!(holes(&details, NONE, false), Some(["a", "b", "c"].map(text).to_vec()));
    let parts = delta(
        "\"content\":[{\"type\":\"thinking\",\"thinking\":[{\"text\":\"a\"},\"b\"]},\"c\",{\"type\":\"text\",\"text\":\"d\"}]",
    );
    assert_eq!(holes(&parts, NONE, false), Some(["a", "d"].map(text).to_vec()));
    let padded = delta("\"content\":\"a\"").replace("}]}", "}],\"p\":\"xy\"}");
    assert_eq!(holes(&padded, NONE, false), Some(["a", "xy"].map(text).to_vec()));
}

#[test]
fn members_that_change_are_holes() {
    let payload = |created: &str| format!("{{\"id\":\"c-1\",\"created\":{created},\"choices\":[]}}");
    let number = |digits| ("c-1", HoleKind::Text, digits, HoleKind::Number);
    for digits in ["0", "7", "1700000000", "18446744073709551615"] {
        let payload = payload(digits);
        assert_eq!(holes(&payload, NONE, false), Some(Vec::new()));
        let (id, text, digits, fill) = number(digits);
        assert_eq!(holes(&payload, ALL, false), Some([(id, text), (digits, fill)].to_vec()));
        let created = Changing { created: true, ..Changing::NOTHING };
        assert_eq!(holes(&payload, created, true), Some([(digits, fill)].to_vec()));
    }
    for other in ["-0", "-1", "1.0", "1e3", "null", "\"1\"", "{}"] {
        assert_eq!(holes(&payload(other), ALL, false), Some([("c-1", HoleKind::Text)].to_vec()), "{other}");
    }
    let nameless = "{\"id\":7,\"choices\":[]}";
    assert_eq!(holes(nameless, ALL, false), Some(Vec::new()));
}

/// Returns a chunk with `count` texts that are holes, in an order that is not that of the members.
fn many(count: usize) -> String {
    let members = ["thought", "content", "thinking", "refusal", "reasoning", "reasoning_content"];
    let delta: Vec<String> = members.iter().take(count).map(|member| format!("\"{member}\":\"{member}\"")).collect();
    let pads = "\"obfuscation\":\"p\",".repeat(count.saturating_sub(members.len()));
    format!("{{{pads}\"choices\":[{{\"index\":0,\"delta\":{{{}}}}}]}}", delta.join(","))
}

#[test]
fn holes_are_in_order_and_limited() {
    assert_eq!(HOLES, 7);
    for count in 0..12 {
        let payload = many(count);
        let found = holes(&payload, NONE, false);
        if count > HOLES {
            assert_eq!(found, None, "{count}");
            continue;
        }
        let found = found.unwrap();
        assert_eq!(found.len(), count);
        let places: Vec<usize> = found.iter().map(|(text, _)| text.as_ptr() as usize).collect();
        assert!(places.windows(2).all(|pair| pair[0] < pair[1]), "{payload}");
    }
}

/// Returns all spans of an index, as its accessors return them.
fn values(index: &Index, payload: &str) -> Vec<String> {
    let mut values = Vec::new();
    let mut add = |level: &str, member: usize, value: Option<crate::json::Value<'_>>| {
        if let Some(value) = value.filter(|value| !value.is_null()) {
            let start = value.raw().as_ptr() as usize - payload.as_ptr() as usize;
            let flags = value.as_text().map(|text| text.parts().0.bits());
            values.push(format!("{level} {member} {start} {} {flags:?}", std::str::from_utf8(value.raw()).unwrap()));
        }
    };
    let bytes = payload.as_bytes();
    let value = |span: Option<super::ValueSpan>| span.map(|span| index.value(bytes, span));
    let first = &index.first;
    (0..top::COUNT).for_each(|member| add("top", member, value(index.top.get(member))));
    (0..choice::COUNT).for_each(|member| add("choice", member, value(first.spans.get(member))));
    (0..delta::COUNT).for_each(|member| add("delta", member, value(first.delta.spans.get(member))));
    let Index { choices, quirks, facts, list, .. } = index;
    let mut cursor = DeltaCursor::new();
    let items = core::iter::from_fn(|| cursor.next_of_any(bytes, index));
    let items: Vec<_> = items.map(|delta| format!("{delta:?}")).collect();
    assert_eq!(quick_items(index, bytes), items, "{payload}");
    values.push(format!("{choices} {quirks:?} {facts:?} {items:?} {:?} {:?}", list.behind, list.rest));
    values
}

/// Returns the deltas, by the cursor's fast paths where one applies.
fn quick_items(index: &Index, payload: &[u8]) -> Vec<String> {
    let mut cursor = DeltaCursor::new();
    let items = core::iter::from_fn(|| match cursor.page.next_on_page(index) {
        Ok((kind, choice, text)) => Some(Delta { choice, text, ..Delta::new(kind) }),
        Err(item) => match cursor.page.ahead(item, index) {
            Ahead::End => None,
            Ahead::Other => cursor.next_of_any(payload, index),
            Ahead::Slot(delta) => {
                cursor.page.pass(delta.kind);
                Some(delta)
            }
            Ahead::Fragment { choice, index: number, arguments } => {
                let mut behind = cursor;
                behind.page.pass_fragment();
                cursor.page.pass(Kind::ToolCall);
                let mut both = cursor;
                assert_eq!(both.page.next_on_page(index).ok(), Some((Kind::ToolArguments, choice, arguments)));
                assert_eq!(format!("{both:?}"), format!("{behind:?}"));
                Some(Delta { choice, flags: FLAG_NUMBER, number: u64::from(number), ..Delta::new(Kind::ToolCall) })
            }
        },
    });
    items.map(|delta| format!("{delta:?}")).collect()
}

#[test]
fn a_shape_restores_its_index() {
    let calls = "\"tool_calls\":[{\"index\":0,\"id\":\"i\",\"function\":{\"name\":\"n\",\"arguments\":\"é\\n\"}},{\"index\":1}]";
    for payload in [
        delta("\"content\":\"a\\u00e9\""),
        delta(calls),
        delta("\"content\":\"\",\"content\":7"),
        "{\"id\":\"c\",\"choices\":[{\"index\":2,\"finish_reason\":null}],\"usage\":{},\"error\":null}".to_string(),
        "{}".to_string(),
        many(HOLES),
    ] {
        let index = read(&payload);
        let holes = Holes::of(&index, payload.as_bytes(), ALL, false).unwrap();
        let mut shape = Shape::EMPTY;
        shape.keep(&index, payload.as_bytes(), holes.as_slice()).unwrap();
        // The index had other contents before.
        let mut other = read(
            "{\"model\":\"m\",\"choices\":[{\"index\":5,\"delta\":{\"role\":\"r\"},\"text\":\"t\"}],\"x_groq\":{}}",
        );
        shape.restore(&mut other);
        // The payload is the same, so a segment begins where its hole ended, and the texts are as they were.
        for (hole, base) in holes.as_slice().iter().zip(&mut other.bases[1..]) {
            *base = hole.end as u32;
        }
        for (hole, between) in holes.as_slice().iter().zip(&mut other.between) {
            let text = crate::scan::string::end(payload.as_bytes(), hole.start).filter(|_| hole.fill == HoleKind::Text);
            *between = text.map_or(0, |end| TextFlags::of(&end).bits() as u8);
        }
        assert_eq!(values(&other, &payload), values(&index, &payload), "{payload}");
    }
}

#[test]
fn shapes_are_alike_if_chunks_differ_only_in_holes_and_the_number() {
    let shape = |index: u32, rest: &str| {
        let payload = format!("{{\"choices\":[{{\"index\":{index},\"delta\":{{{rest}}},\"logprobs\":{{}}}}]}}");
        let index = read(&payload);
        let holes = Holes::of(&index, payload.as_bytes(), NONE, false).unwrap();
        let mut shape = Shape::EMPTY;
        shape.keep(&index, payload.as_bytes(), holes.as_slice()).unwrap();
        (shape, index)
    };
    let (one, _) = shape(1, "\"content\":\"a\"");
    let (other, _) = shape(0, "\"content\":\"longer \\n\"");
    assert!(one.is_like(&other) && other.is_like(&one));
    // For such a shape, restoring the number is enough.
    let (mut whole, mut part) = (Index::new(), Index::new());
    one.restore(&mut whole);
    other.restore(&mut part);
    one.restore_number(&mut part);
    let payload = "{\"choices\":[{\"index\":1,\"delta\":{\"content\":\"a\"},\"logprobs\":{}}]}";
    let [whole, part] = [whole, part].map(|mut index| {
        let holes = Holes::of(&read(payload), payload.as_bytes(), NONE, false).unwrap();
        for (hole, base) in holes.as_slice().iter().zip(&mut index.bases[1..]) {
            *base = hole.end as u32;
        }
        values(&index, payload)
    });
    assert_eq!(whole, part);
    // These have another member, a fixed part of another length, or other calls.
    for rest in [
        "\"refusal\":\"a\"",
        " \"content\":\"a\"",
        "\"content\":\"a\",\"role\":\"r\"",
        "\"tool_calls\":[{\"index\":0}]",
    ] {
        assert!(!one.is_like(&shape(1, rest).0), "{rest}");
    }
}

#[test]
fn a_shape_that_is_too_large_is_not_stored() {
    let keep = |payload: &str| {
        let index = read(payload);
        let holes = Holes::of(&index, payload.as_bytes(), NONE, false).unwrap();
        Shape::EMPTY.clone().keep(&index, payload.as_bytes(), holes.as_slice())
    };
    assert!(keep(&delta(&format!("\"content\":\"{}\"", "a".repeat(65_000)))).is_some());
    // The contents of a hole take no room; a fixed part does.
    assert!(keep(&delta(&format!("\"content\":\"{}\"", "a".repeat(66_000)))).is_some());
    assert!(keep(&delta(&format!("\"role\":\"{}\"", "a".repeat(66_000)))).is_none());
    // A member that is null takes no room.
    let members =
        |names: &[&str], value: &str| names.iter().map(|name| format!("\"{name}\":{value},")).collect::<String>();
    let top =
        ["object", "created", "model", "system_fingerprint", "service_tier", "provider", "usage", "type", "detail"];
    let choice = ["native_finish_reason", "logprobs", "finishReason"];
    let delta = ["role", "refusal", "thinking", "thought", "audio"];
    let chunk = |value: &str, rest: &str| {
        let [top, choice, delta] = [&top[..], &choice, &delta].map(|names| members(names, value));
        format!("{{{top}{rest}\"choices\":[{{{choice}\"index\":0,\"delta\":{{{delta}\"content\":\"\"}}}}]}}")
    };
    assert!(keep(&chunk("null", "\"id\":1,\"x_groq\":1,")).is_some());
    // The 5 others are `choices`, `index`, `delta`, `content` and the choice as a whole.
    assert!(top.len() + choice.len() + delta.len() + 5 > super::MEMBERS);
    assert!(keep(&chunk("7", "")).is_none());
    // Choices after the first need too much room, too.
    assert!(keep("{\"choices\":[{\"index\":0},{\"index\":1}]}").is_none());
}
