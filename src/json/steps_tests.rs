//! Tests of the steps of reading JSON.
#![allow(clippy::unwrap_used)]
extern crate std;

use super::kind::ValueKinds;
use super::steps::*;

fn steps(bytes: &str) -> Steps<'_> {
    Steps::new(bytes.as_bytes(), 0, 8)
}

#[test]
fn integers_of_digits_only_take_the_fast_path() {
    for (bytes, len) in [
        ("0,", Some(1)),
        ("7}", Some(1)),
        ("7]", Some(1)),
        ("10,", Some(2)),
        ("18446744073709551616}", Some(20)),
        // These take the general path.
        ("0]", None),
        ("01,", None),
        ("7 ,", None),
        ("7", None),
        ("-7,", None),
        ("7.5,", None),
        ("7e1,", None),
        ("x,", None),
        (",", None),
        ("", None),
    ] {
        let mut steps = steps(bytes);
        let read = steps.digits_only();
        assert_eq!(read.map(|read| (read.start, read.end, read.kind)), len.map(|len| (0, len, ValueKinds::NUMBER)));
        assert_eq!(steps.offset(), len.unwrap_or(0), "{bytes}");
    }
}

#[test]
fn counts_with_a_name_take_the_fast_path() {
    for (bytes, count) in [
        (r#""n":0,"#, Some(0)),
        (r#""n": 7}"#, Some(7)),
        (r#""n":9223372036854775807,"#, Some(9_223_372_036_854_775_807)),
        (r#""n":9999999999999999999}"#, Some(9_999_999_999_999_999_999)),
        (r#""n":18446744073709551615,"#, None),
        (r#""n":,"#, None),
        (r#""n":07,"#, None),
        (r#""n":00,"#, None),
        (r#""n":-1,"#, None),
        (r#""n":1.0,"#, None),
        (r#""n":1e3,"#, None),
        (r#""n":12"#, None),
        (r#""n":12 ,"#, None),
        (r#""n":12]"#, None),
        (r#""n":  1,"#, None),
        (r#""n" :1,"#, None),
        (r#""n":"1","#, None),
        (r#""m":1,"#, None),
        (r#""nn":1,"#, None),
        (r#"n":1,"#, None),
        ("", None),
    ] {
        let mut steps = steps(bytes);
        let named = steps.take_name("n");
        assert_eq!(named, bytes.starts_with(r#""n":"#), "{bytes}");
        assert_eq!(if named { steps.count() } else { None }, count, "{bytes}");
        // The position is before the last byte, or unchanged.
        let before = if named { r#""n":"#.len() } else { 0 };
        assert_eq!(steps.offset(), count.map_or(before, |_| bytes.len() - 1), "{bytes}");
    }
}

#[test]
fn tags_identify_names() {
    for (bytes, end, taken) in [
        ("{\"content\":1", "ent\":", Some(11)),
        (",\"content\" :1", "ent\":", None),
        ("{\"contend\":1", "ent\":", None),
        (",\"id\":12345", "", Some(6)),
    ] {
        let before = if bytes.starts_with('{') { Before::Bracket } else { Before::Comma };
        let mut steps = steps(bytes);
        assert_eq!(steps.tag(before).to_le_bytes(), *bytes.as_bytes().get(2..6).unwrap());
        assert_eq!(steps.took(end.as_bytes()).then(|| steps.offset()), taken, "{bytes}");
    }
    // The tag is 0 for anything but a name, after another byte, and near the end.
    let others = [" \"id\":1234", "12345678", "{\"id\":1234", ",\"id\":1", ", \"id\":12", ",id\":1234"];
    assert_eq!(others.map(|bytes| steps(bytes).tag(Before::Comma)), [0; 6]);
}

/// Names of up to 13 bytes, and of 15 and more, are compared here; near the end, none is.
#[test]
fn heads_identify_members() {
    let long = "encrypted_content_of_it";
    for len in [0, 1, 2, 12, 13, 15, 16, 23] {
        let name = long.get(..len).unwrap();
        let head = Head::of(name);
        for (before, after, is_it) in
            [("\"", "\":", true), ("\"", "\" :", false), ("\"", "x\":", false), ("", "\":", false)]
        {
            let bytes = [before, name, after, "0123456789abcdef"].concat();
            let mut steps = steps(&bytes);
            assert_eq!(steps.took_head(&head, name), is_it, "{bytes}");
            assert_eq!(steps.offset(), if is_it { len + 3 } else { 0 }, "{bytes}");
        }
        let bytes = ["\"", name, "\":"].concat();
        assert_eq!(steps(&bytes).took_head(&head, name), bytes.len() >= 16, "{bytes}");
        for (place, other) in name.bytes().enumerate() {
            let mut bytes = ["\"", name, "\":0123456789abcdef"].concat().into_bytes();
            *bytes.get_mut(place + 1).unwrap() = other ^ 1;
            assert!(!Steps::new(&bytes, 0, 8).took_head(&head, name), "{place} {name}");
        }
    }
}

#[test]
fn kinds_combine() {
    let both = ValueKinds::STRING.or(ValueKinds::NULL);
    assert_eq!((both.or(ValueKinds::STRING), ValueKinds::NONE.or(ValueKinds::NONE)), (both, ValueKinds::NONE));
    assert!(both.any(ValueKinds::NULL) && both.any(ValueKinds::ANY) && !both.any(ValueKinds::NUMBER));
    let kinds = b"-09{n\"[tf".map(ValueKinds::of);
    let expected = [
        ValueKinds::NUMBER,
        ValueKinds::NUMBER,
        ValueKinds::NUMBER,
        ValueKinds::OBJECT,
        ValueKinds::NULL,
        ValueKinds::STRING,
    ];
    assert!(kinds.starts_with(&expected) && kinds.ends_with(&[ValueKinds::OTHER; 3]), "{kinds:?}");
}
