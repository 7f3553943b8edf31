//! Tests of values and the cursor: what they accept, where values lie, and where an error is.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, clippy::expect_used)]

extern crate std;
use super::*;
use std::format;

#[test]
fn faults_of_the_cursor() {
    use JsonErrorKind::*;
    let value = |bytes: &'static [u8]| parse_lazy(bytes).map(|value| value.raw());
    let table: &[(&[u8], JsonErrorKind, usize)] = &[
        (b"", UnexpectedEnd, 0),
        (b"  ", UnexpectedEnd, 2),
        (b"x", UnexpectedByte, 0),
        (b"NaN", UnexpectedByte, 0),
        (b"}", UnexpectedByte, 0),
        (b"'a'", UnexpectedByte, 0),
        (b"\xef\xbb\xbf{}", UnexpectedByte, 0),
        (b"tru", UnexpectedEnd, 3),
        (b"trux", BadLiteral, 3),
        (b"nULL", BadLiteral, 1),
        (b"fals", UnexpectedEnd, 4),
        (b"falsx", BadLiteral, 4),
        (b"truex", TrailingBytes, 4),
        (b"\"a", UnexpectedEnd, 2),
        (b"\"a\\\"", UnexpectedEnd, 4),
        (b"{\"a\": \"}\"", UnexpectedEnd, 9),
        (b"[1] x", TrailingBytes, 4),
        (b"{}{}", TrailingBytes, 2),
        (b"-", UnexpectedEnd, 1),
        (b"-a", BadNumber, 1),
        (b"1.x", BadNumber, 2),
        (b"01", TrailingBytes, 1),
    ];
    for &(bytes, kind, offset) in table {
        assert_eq!(value(bytes), Err(JsonError { kind, offset }), "{:?}", Text::verbatim(bytes));
    }
    assert_eq!(value(b" [ 1 , ] "), Ok(&b"[ 1 , ]"[..]), "only balance is checked");

    // Inside a container the grammar is checked.
    let members = |bytes: &'static [u8]| {
        let value = Value::from_span(bytes, TextFlags::PLAIN);
        let mut members = value.members().chain(core::iter::empty());
        let fault = members.find_map(Result::err);
        assert!(members.next().is_none(), "the iterator ends after an error");
        assert_eq!(value.get("no such").err(), fault);
        fault
    };
    let elements = |bytes: &'static [u8]| {
        let mut elements = Value::from_span(bytes, TextFlags::PLAIN).elements();
        let fault = elements.find_map(Result::err);
        assert!(elements.next().is_none());
        fault
    };
    let fault = |kind, offset| Some(JsonError { kind, offset });
    assert_eq!(members(b"{}"), None);
    assert_eq!(members(b"{ \"a\" : 1 , \"b\" : [ ] }"), None);
    assert_eq!(members(b"{,}"), fault(UnexpectedByte, 1));
    assert_eq!(members(b"{\"a\":1,}"), fault(UnexpectedByte, 7));
    assert_eq!(members(b"{\"a\":1 \"b\":2}"), fault(UnexpectedByte, 7));
    assert_eq!(members(b"{\"a\":1]"), fault(UnexpectedByte, 6));
    assert_eq!(members(b"{\"a\" 1}"), fault(UnexpectedByte, 5));
    assert_eq!(members(b"{\"a\":}"), fault(UnexpectedByte, 5));
    assert_eq!(members(b"{\"a\":,}"), fault(UnexpectedByte, 5));
    assert_eq!(members(b"{a:1}"), fault(UnexpectedByte, 1));
    assert_eq!(members(b"{\"a\":1"), fault(UnexpectedEnd, 6));
    assert_eq!(elements(b"[]"), None);
    assert_eq!(elements(b"[ 1 , {} ]"), None);
    assert_eq!(elements(b"[,]"), fault(UnexpectedByte, 1));
    assert_eq!(elements(b"[1,]"), fault(UnexpectedByte, 3));
    assert_eq!(elements(b"[1 2]"), fault(UnexpectedByte, 3));
    assert_eq!(elements(b"[1}"), fault(UnexpectedByte, 2));
    assert_eq!(elements(b"[[}]"), None, "brackets and braces are not distinguished in skipped containers");
    assert_eq!(elements(b"[1,"), fault(UnexpectedEnd, 3));

    // The cursor checks that a value can begin here before it reads one.
    for (bytes, at) in [(&b"[,1]"[..], 1), (b"[ x]", 2)] {
        let mut cursor = Cursor::new(bytes);
        cursor.begin_array().unwrap();
        assert_eq!(cursor.next_element(), Err(UnexpectedByte.at(at)));
    }
    let mut cursor = Cursor::new(b"[1");
    cursor.begin_array().unwrap();
    assert_eq!(cursor.next_element(), Ok(true));
    assert_eq!(cursor.value().unwrap().raw(), b"1");
    assert_eq!(cursor.end(), Err(JsonErrorKind::UnexpectedEnd.at(2)));
}

#[test]
fn offsets_of_the_cursor() {
    let bytes = b" { \"a\" : [1, \"x\"] , \"b\":-1.5e3}";
    let mut cursor = Cursor::new(bytes);
    assert_eq!((cursor.peek(), cursor.offset()), (Ok(ValueKind::Object), 1));
    cursor.begin_object().unwrap();
    assert_eq!(cursor.next_member().unwrap().unwrap(), "a");
    assert_eq!((cursor.peek(), cursor.offset()), (Ok(ValueKind::Array), 9));
    let value = cursor.value().unwrap();
    assert_eq!(cursor.offset() - value.raw().len(), 9);
    assert_eq!(cursor.next_member().unwrap().unwrap(), "b");
    let value = cursor.value().unwrap();
    assert_eq!((value.raw(), value.kind()), (&b"-1.5e3"[..], ValueKind::Number));
    assert_eq!(cursor.offset(), bytes.len() - 1);
    assert!(cursor.next_member().unwrap().is_none());
    assert_eq!((cursor.offset(), cursor.end()), (bytes.len(), Ok(())));
    assert!(format!("{cursor:?}").contains("offset: 31"));
    // `peek` reports the same error as a step.
    assert_eq!(Cursor::new(b"  ").peek(), Err(JsonErrorKind::UnexpectedEnd.at(2)));
    assert_eq!(Cursor::new(b"  x").peek(), Err(JsonErrorKind::UnexpectedByte.at(2)));
}

#[test]
fn a_cursor_repeats_its_first_error() {
    for (bytes, fault) in [
        (&b"[1 2, 3]"[..], JsonErrorKind::UnexpectedByte.at(3)),
        (b"[1, x, 3]", JsonErrorKind::UnexpectedByte.at(4)),
        (b"[[[1]], 3]", JsonErrorKind::TooDeep.at(2)),
        (b"[1, tru, 3]", JsonErrorKind::BadLiteral.at(7)),
    ] {
        let mut cursor = Cursor::with_max_depth(bytes, 2);
        cursor.begin_array().unwrap();
        while cursor.next_element() == Ok(true) && cursor.value().is_ok() {}
        for _ in 0..2 {
            // Every later call returns the error, although some of the rest is valid.
            assert_eq!((cursor.peek(), cursor.end(), cursor.begin_array()), (Err(fault), Err(fault), Err(fault)));
            assert_eq!((cursor.value().err(), cursor.next_member().err()), (Some(fault), Some(fault)));
            assert_eq!(cursor.next_element(), Err(fault));
        }
    }
}

#[test]
fn members_and_elements_by_offset() {
    for bytes in [
        &br#"[1, "a\u0062", [2], {"c": 3} , null]"#[..],
        br#" { "a" : 1 , "\u0062":[{"x":"y"}],"c":"d" } "#,
        b"[]",
        b"{}",
        b"7",
        b"\"[1]\"",
        // Malformed contents appear only where the container is entered, up to the error.
        b"[1, 2 3]",
        b"[1, 2,]",
        b"[,1]",
        br#"{"a":1,"b" 2}"#,
        br#"{"a":1,"b"}"#,
    ] {
        let value = parse_lazy(bytes).unwrap();
        for value in [value, Value::from_raw(value.raw())] {
            let mut at = 0;
            for element in value.elements().map_while(Result::ok) {
                assert_eq!(value.element_at(&mut at).unwrap().raw(), element.raw());
                assert!(value.raw()[..at].ends_with(element.raw()), "the position is the offset one past the element");
            }
            assert!(value.element_at(&mut at).is_none() && value.element_at(&mut at).is_none());
            let mut at = 0;
            for (name, element) in value.members().map_while(Result::ok) {
                let (member_name, value) = value.member_at(&mut at).unwrap();
                assert_eq!((member_name, value.raw()), (name, element.raw()));
            }
            assert!(value.member_at(&mut at).is_none() && value.member_at(&mut at).is_none());
        }
    }
    // An offset into an array finds no member.
    assert!(parse_lazy(b"[1,2]").unwrap().member_at(&mut 2).is_none());
    assert!(parse_lazy(br#"{"a":1,"b":2}"#).unwrap().element_at(&mut 6).is_none());
}

#[test]
fn values() {
    let value = parse_lazy(br#"{"a":1,"\u0061":2,"b":null,"":true,"c":false}"#).unwrap();
    assert_eq!(value.get("a").unwrap().unwrap().raw(), b"2", "the last one, unescaped");
    assert!(value.get("b").unwrap().unwrap().is_null());
    assert_eq!(value.get("").unwrap().unwrap().as_bool(), Some(true));
    assert_eq!(value.get("c").unwrap().unwrap().as_bool(), Some(false));
    assert!(value.get("d").unwrap().is_none());
    assert_eq!(value.elements().count(), 0);
    let text = parse_lazy(br#""x""#).unwrap();
    assert_eq!((text.raw(), text.members().count(), text.get("x").unwrap().is_none()), (&br#""x""#[..], 0, true));
    assert!(text.as_number().is_none() && text.as_bool().is_none() && !text.is_null());
    let again = Value::from_span(text.raw(), TextFlags::from_bits(text.flags().bits()));
    assert_eq!(again.as_text(), text.as_text());
    // Bytes that are not a value, as a caller might pass by mistake.
    for raw in [&b""[..], b"\"", b"-", b"x"] {
        let value = Value::from_span(raw, TextFlags::UNKNOWN);
        assert!(value.as_text().is_none() && value.as_bool().is_none() && value.members().count() == 0);
    }
    assert_eq!(format!("{:?}", parse_lazy(b"[\"\\n\"]").unwrap()), "[\"\\n\"]");
}

#[test]
fn flags_of_strings() {
    let flags = |bytes: &'static [u8]| parse_lazy(bytes).unwrap().flags();
    assert_eq!(flags(b"\"abc\""), TextFlags::PLAIN);
    assert_eq!(flags(b"\"a\\n\""), TextFlags::ESCAPED);
    assert_eq!(flags(b"\"\xc3\xa9\""), TextFlags::NON_ASCII);
    assert_eq!(flags(b"\"\t\""), TextFlags::CONTROL);
    assert_eq!(flags(b"\"\t\\\\\xff\""), TextFlags::UNKNOWN);
    // Bytes after the string do not matter.
    assert_eq!(parse_lazy(b"\"a\" \n\t").unwrap().flags(), TextFlags::PLAIN);
    assert_eq!(
        parse_lazy(b"[\"a\",\"\\n\xff\"]").unwrap().elements().next().unwrap().unwrap().flags(),
        TextFlags::PLAIN
    );
}

#[test]
fn strict_faults() {
    use JsonErrorKind::*;
    let table: &[(&[u8], JsonErrorKind, usize)] = &[
        (b"", UnexpectedEnd, 0),
        (b"[1,]", UnexpectedByte, 3),
        (b"{\"a\":1,}", UnexpectedByte, 7),
        (b"[1}", UnexpectedByte, 2),
        (b"{\"a\"]", UnexpectedByte, 4),
        (b"[1] 2", TrailingBytes, 4),
        (b"[[[1]]]", TooDeep, 2),
        (b"[\"\\u12g4\"]", BadEscape, 2),
        (b"[\"\\u12\"]", BadEscape, 2),
        (b"[\"\\u1g", BadEscape, 2),
        (b"[\"\\u12", UnexpectedEnd, 6),
        (b"[\"\\", UnexpectedEnd, 3),
        (b"[\"a\nb\"]", RawControl, 3),
        (b"[\"a\xffb\n\"]", IllFormedUtf8, 3),
        (b"[\"a\xf0\x9f\x98\"]", IllFormedUtf8, 3),
        (b"[\xff]", UnexpectedByte, 1),
        (b"[1e]", BadNumber, 3),
        (b"[nul]", BadLiteral, 4),
        (b"\xef\xbb\xbf1", UnexpectedByte, 0),
    ];
    for &(bytes, kind, offset) in table {
        assert_eq!(validate(bytes, 2), Err(JsonError { kind, offset }), "{:?}", Text::verbatim(bytes));
    }
    assert_eq!(validate(b"0", 0), Ok(()));
    assert_eq!(validate(b"[]", 0), Err(TooDeep.at(0)));
    assert_eq!(format!("{}", TooDeep.at(7)), "nested too deep at byte 7");
}
