//! Tests of the call that a fragment belongs to, and of what the tracker reports about that call.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]
extern crate std;

use super::call::{Arguments, Hash};
use super::Tracker;
use crate::chat::{Chunk, Index, NamePiece, Update};
use crate::delta::Part;
use crate::json::{Text, TextFlags};
use std::collections::BTreeSet;
use std::format;
use std::string::String;
use std::vec::Vec;

/// Returns what the tracker reports of deltas with these members: a line for each chunk.
fn reported<const CALLS: usize>(tracker: &mut Tracker<4, CALLS>, choice: u32, deltas: &[&str]) -> Vec<String> {
    let mut reported = Vec::new();
    for delta in deltas {
        let payload = format!(r#"{{"choices":[{{"index":{choice},"delta":{{{delta}}}}}]}}"#);
        let mut index = Index::new();
        let chunk = Chunk::read(payload.as_bytes(), &mut index).unwrap();
        let mut line = Vec::new();
        let mut updates = tracker.updates(&chunk);
        for (of, update) in updates.by_ref() {
            assert_eq!(of, choice);
            line.push(shown(&update));
        }
        line.extend(updates.quirks().iter().map(|quirk| format!("{quirk:?}")));
        line.extend(updates.error().map(|error| format!("{error:?}")));
        reported.push(line.join(" "));
    }
    reported
}

fn shown(update: &Update<'_>) -> String {
    let sign = |piece: NamePiece| if piece == NamePiece::Replaces { "=" } else { "+" };
    match update {
        Update::Call(call) => {
            let mut shown = format!("{}:", call.call);
            if call.opens {
                shown += &format!("{}{}", if call.reuses { "again" } else { "new" }, call.index.unwrap());
            }
            shown += &call.id.map_or(String::new(), |id| format!("#{id}"));
            shown += &call.kind.map_or(String::new(), |kind| format!("({kind})"));
            shown
        }
        Update::CallName { call, text, piece } => format!("{call}{}{text}", sign(*piece)),
        Update::CallArguments { call, text } => format!("{call}<{text}>"),
        Update::CallEnd { call, whole } => format!("{call}{}", if *whole { "." } else { "!" }),
        Update::FunctionName { text, piece } => format!("f{}{text}", sign(*piece)),
        Update::FunctionArguments(text) => format!("f<{text}>"),
        other => format!("{other:?}"),
    }
}

/// Returns what the tracker reports of tool calls: a line for each chunk. Each string is the array of a chunk. `|`
/// separates its elements, which have any of these members: `i3` an index, `#a` an ID, `tx` a type, `=f` a name, `<{}>`
/// arguments, `cx` the input of a custom tool.
fn calls(arrays: &[&str]) -> Vec<String> {
    calls_of(&mut Tracker::<4, 16>::new(), 0, arrays)
}

fn calls_of<const CALLS: usize>(tracker: &mut Tracker<4, CALLS>, choice: u32, arrays: &[&str]) -> Vec<String> {
    let deltas: Vec<String> = arrays
        .iter()
        .map(|array| {
            let items: Vec<String> = array
                .split('|')
                .map(|item| {
                    let (mut members, mut function) = (Vec::new(), Vec::new());
                    for word in item.split_whitespace() {
                        let (sign, rest) = word.split_at(1);
                        match sign {
                            "i" => members.push(format!(r#""index":{rest}"#)),
                            "#" => members.push(format!(r#""id":"{rest}""#)),
                            "t" => members.push(format!(r#""type":"{rest}""#)),
                            "=" => function.push(format!(r#""name":"{rest}""#)),
                            "<" => function.push(format!(r#""arguments":"{}""#, rest.trim_end_matches('>'))),
                            "c" => members.push(format!(r#""custom":{{"input":"{rest}"}}"#)),
                            _ => panic!("{word}"),
                        }
                    }
                    if !function.is_empty() {
                        members.push(format!(r#""function":{{{}}}"#, function.join(",")));
                    }
                    format!("{{{}}}", members.join(","))
                })
                .collect();
            format!(r#""tool_calls":[{}]"#, items.join(","))
        })
        .collect();
    reported(tracker, choice, &deltas.iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn fragments_find_their_calls() {
    let cases: &[(&[&str], &[&str])] = &[
        // An index selects the open call with that index, unless the fragment has another ID; otherwise the last call
        // with that index and that ID, or else the last call with that index. A new ID with a name is another call.
        (
            &[
                "i0 #a =f <{>",
                "i0 <}>",
                "i0 #a",
                "i1 #b",
                "i0 <x>",
                "i0 #c =g",
                "i0 #a",
                "i0 <y>",
                "i1 <z>",
                "i0 <w>",
                "i0 #b",
                "i1 #b <v>",
            ],
            &[
                "0:new0#a 0=f 0<{>",
                "0<}>",
                "",
                "0. 1:new1#b",
                "0<x> ArgumentsAfterEnd",
                "2:again0#c 2=g ReusedCallIndex",
                "",
                "0<y> ArgumentsAfterEnd",
                "1<z>",
                "2<w>",
                "ChangedCallId",
                "1<v>",
            ],
        ),
        (
            &["i0 <a>", "i0 #a tfunction", "i0 #a tother", "i0 #a tother =n", "i0 =n"],
            &["0:new0 0<a> NamelessCall", "0:#a(function)", "", "0=n", ""],
        ),
        // An element without an ID, a name and arguments has no effect: the open call stays, and none opens.
        (&["i2 #a", "i1", "i1 tfunction", "i1 #c", "i2", "<x>"], &["0:new2#a", "", "", "1:new1#c", "", "1<x>"]),
        (&["", " | ", "i0", "t", "<>", "=f"], &["", "", "", "", "", "0:new0 0=f"]),
        // Without an index, the ID selects the call. The index of such a call is its position in the array, or the next
        // free index.
        (
            &["#a =f <1>", "#b =f <2>", "#a <3>", "#c =f <4>", "<5>", "#b =f <6>"],
            &["0:new0#a 0=f 0<1>", "1:new1#b 1=f 1<2>", "0<3>", "2:new2#c 2=f 2<4>", "2<5>", "1<6>"],
        ),
        (
            &["i5 #a", "#a <1>", "#b =f", "#c =f", "#d =f | #e", "i5 <x>"],
            &["0:new5#a", "0<1>", "1:new0#b 1=f", "2:new6#c 2=f", "3:new7#d 3=f 4:new1#e", "0<x>"],
        ),
        (&["i7 #a <{}>", "#b <{}>", "#c"], &["0:new7#a 0<{}>", "0. 1:new0#b 1<{}>", "1. 2:new8#c"]),
        // Another ID without a name continues a call whose arguments are open or empty, and the first ID stays.
        (
            &["i0 #a", "i0 #b <{>", "i0 #c <}>", "i0 #d <{}>", "i0 #a"],
            &["0:new0#a", "0<{> ChangedCallId", "0<}> ChangedCallId", "0. 1:again0#d 1<{}> ReusedCallIndex", ""],
        ),
        (
            &["#a", "#b <{>", "#b <}> | #c", "| <x>"],
            &["0:new0#a", "0<{> ChangedCallId", "0<}> 0. 1:new1#c ChangedCallId", "1<x>"],
        ),
        // Without both, the position selects a call that opened without an index, the open call first; otherwise the
        // open call is selected. After complete arguments, a name that differs is that of another call.
        (
            &["=f <{>", "<}>", "=f <[>", "=g <1>", "=h <]>", "=g <y>"],
            &["0:new0 0=f 0<{>", "0<}>", "0. 1:new1 1=f 1<[>", "1+g 1<1>", "1+h 1<]>", "1. 2:new2 2=g 2<y>"],
        ),
        (
            &["=f <{}>", "=g <{>", "i0 <x>", "<y>", "i1 <z>", "<w>"],
            &[
                "0:new0 0=f 0<{}>",
                "0. 1:new1 1=g 1<{>",
                "0<x> ArgumentsAfterEnd",
                "0<y> ArgumentsAfterEnd",
                "1<z>",
                "1<w>",
            ],
        ),
        (
            &["=f <{> | =g <{>", "<1> | <2>", "| <3>", "<4>", " | | =h", "<5>"],
            &["0:new0 0=f 0<{> 1:new1 1=g 1<{>", "0<1> 1<2>", "1<3>", "0<4>", "2:new2 2=h", "0<5>"],
        ),
        (
            &["i0 #a | i1 #b", "<x>", "| <y>", "| =g", "| <z>"],
            &["0:new0#a 1:new1#b", "1<x>", "1<y>", "2:new2 2=g", "2<z>"],
        ),
        (
            &["i0 #a =f <{>", "=g", "<}>", "=f", "=fg", "=h"],
            &["0:new0#a 0=f 0<{>", "0+g", "0<}>", "0. 1:new1 1=f", "1=fg", "1+h"],
        ),
        (&["<{}>", "=f", "=f", "=g"], &["0:new0 0<{}> NamelessCall", "0=f", "", "0. 1:new1 1=g"]),
        // The same name again, after complete arguments: with other arguments it is another call, unless the call has
        // an ID.
        (
            &[
                "i0 =f <{\\n>",
                "i0 <1}>",
                "i0 =f",
                "i0 =f <\\n{\\n1}\\n>",
                "i0 =f <{1}>",
                "i0 =f <{1}{1}>",
                "i0 =f <{2}>",
            ],
            &[
                "0:new0 0=f 0<{\n>",
                "0<1}>",
                "",
                "0<\n{\n1}\n> ArgumentsAfterEnd",
                "0. 1:again0 1=f 1<{1}> ReusedCallIndex",
                "1. 2:again0 2=f 2<{1}{1}> ReusedCallIndex ArgumentsAfterEnd",
                "2. 3:again0 3=f 3<{2}> ReusedCallIndex",
            ],
        ),
        (&["i0 #a =f <{1}>", "i0 =f <{2}>"], &["0:new0#a 0=f 0<{1}>", "0<{2}> ArgumentsAfterEnd"]),
        // An array or a string ends where it is complete, however it is cut.
        (
            &["i0 =a <[1>", "i0 <]>", "i0 =b <[2]>"],
            &["0:new0 0=a 0<[1>", "0<]>", "0. 1:again0 1=b 1<[2]> ReusedCallIndex"],
        ),
        (
            &["=a <\\\"x\\\">", "=a <\\\"x\\\">", "=a <\\\"y\\\">"],
            &["0:new0 0=a 0<\"x\">", "0<\"x\"> ArgumentsAfterEnd", "0. 1:new1 1=a 1<\"y\">"],
        ),
        (
            &["i0 =a <\\\"[>", "i0 =b <]\\\">", "i0 #x"],
            &["0:new0 0=a 0<\"[>", "0+b 0<]\">", "1:again0#x ReusedCallIndex"],
        ),
        (&["i0 <[]>", "i0 <]>"], &["0:new0 0<[]> NamelessCall", "0<]> ArgumentsAfterEnd"]),
        // A number or a word ends at another name, or at an ID with a name. The same name is a repetition.
        (
            &["i0 =a <1>", "i0 =a <2>", "i0 =b <true>", "i0 #x =c"],
            &["0:new0 0=a 0<1>", "0<2>", "1:again0 1=b 1<true> ReusedCallIndex", "2:again0#x 2=c ReusedCallIndex"],
        ),
        // After complete arguments, an ID with a name is another call. Before that, the ID is a late one.
        (&["i0 <{}>", "i0 #a =f"], &["0:new0 0<{}> NamelessCall", "0. 1:again0#a 1=f ReusedCallIndex"]),
        (&["i0 <{>", "i0 #a =f <}>"], &["0:new0 0<{> NamelessCall", "0:#a 0=f 0<}>"]),
        // The input of a custom tool need not be an object.
        (&["i0 #a cin", "i0 c{}x", "i0 cy"], &["0:new0#a 0<in>", "0<{}x>", "0<y>"]),
        (&["i0 <{}>", "i0 <>", "i0 <x>"], &["0:new0 0<{}> NamelessCall", "", "0<x> ArgumentsAfterEnd"]),
    ];
    for (arrays, expected) in cases {
        assert_eq!(calls(arrays), *expected, "{arrays:?}");
    }
}

#[test]
fn a_full_table_leaves_out_what_is_new() {
    let mut tracker = Tracker::<4, 2>::new();
    let reported = calls_of(&mut tracker, 0, &["i0 #a", "i1 #b", "i2 #c <x>", "i0 <1>", "i4294967295 <y>", "<2>"]);
    assert_eq!(reported[..2], ["0:new0#a", "1:new1#b"]);
    assert_eq!(reported[2], "TooManyCalls { choice: 0, offset: 0 }");
    assert_eq!(reported[3..], ["0<1>", "BadIndex { choice: 0, offset: 0 }", "0<2>"]);
    for choice in 0..4 {
        calls_of(&mut tracker, choice, &["i0 <x>"]);
    }
    assert_eq!(calls_of(&mut tracker, 4, &["i0 <x>"]), ["TooManyChoices { choice: 4, offset: 0 }"]);
}

#[test]
fn pieces_of_a_function_call_are_joined() {
    let function = |pieces: &[&str]| {
        let deltas: Vec<String> = pieces.iter().map(|piece| format!(r#""function_call":{{{piece}}}"#)).collect();
        reported(&mut Tracker::<4, 4>::new(), 0, &deltas.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let pieces = [
        r#""name":"ge""#,
        r#""name":"get""#,
        r#""name":"get","arguments":"{""#,
        r#""name":"_it""#,
        r#""name":"ge","arguments":"}""#,
        r#""arguments":" ""#,
        r#""arguments":"x""#,
    ];
    assert_eq!(function(&pieces), ["f=ge", "f=get", "f<{>", "f+_it", "f+ge f<}>", "f< >", "f<x> ArgumentsAfterEnd"]);
}

#[test]
fn short_texts_have_hashes_of_their_own() {
    let mut hashes = BTreeSet::new();
    let mut texts = 0;
    for first in b'!'..=b'~' {
        for second in b' '..=b'~' {
            let text = [first, second];
            // If the second character is a space, the text has one character.
            let text = core::str::from_utf8(&text).unwrap().trim_end();
            let plain = text.replace(['"', '\\'], "\u{e9}");
            hashes.insert(format!("{:?}", Hash::of(Text::from_raw(plain.as_bytes(), TextFlags::PLAIN))));
            texts += usize::from(plain == text);
        }
    }
    assert!(hashes.len() >= texts, "{} {texts}", hashes.len());
}

/// Each text of each choice, and each call, may have a pending surrogate at the same time. No surrogate is joined with
/// the half of another text, and none is lost.
#[test]
fn every_text_may_have_a_pending_surrogate_at_once() {
    const OPEN: &str = r#""content":"\ud83d","reasoning":"\ud83d","refusal":"\ud83d","function_call":{"arguments":"\ud83d"},
        "tool_calls":[{"index":0,"id":"a","function":{"arguments":"\ud83d"}},{"index":1,"id":"b","function":{"arguments":"\ud83d"}}]"#;
    let close = OPEN.replace("ud83d", "ude00");
    let smiles = |reported: &[String]| reported.iter().map(|line| line.matches('\u{1F600}').count()).sum::<usize>();
    let lost = |reported: &[String]| reported.iter().map(|line| line.matches('\u{FFFD}').count()).sum::<usize>();
    let mut tracker = Tracker::<4, 8>::new();
    for choice in 0..4 {
        let opened = reported(&mut tracker, choice, &[OPEN]);
        assert_eq!((smiles(&opened), lost(&opened)), (0, 0), "{opened:?}");
    }
    for choice in [2, 0] {
        let closed = reported(&mut tracker, choice, &[&close]);
        assert_eq!((smiles(&closed), lost(&closed)), (6, 0), "{closed:?}");
    }
    // The finish reason of a choice flushes its own surrogates.
    let payload = br#"{"choices":[{"index":3,"finish_reason":"stop"}]}"#;
    let mut index = Index::new();
    let chunk = Chunk::read(payload, &mut index).unwrap();
    let mut settled: Vec<String> = Vec::new();
    let mut updates = tracker.updates(&chunk);
    settled.extend(updates.by_ref().map(|(choice, update)| format!("{choice} {}", shown(&update))));
    // Arguments that are nothing but a half are no JSON.
    let quirks = [crate::Quirk::LoneSurrogate, crate::Quirk::BrokenArguments];
    assert_eq!(updates.quirks().iter().collect::<Vec<_>>(), quirks);
    drop(updates);
    assert_eq!(lost(&settled), 6, "{settled:?}");
    assert!(settled.iter().all(|line| line.starts_with("3 ")) && settled.last().unwrap().contains("Finish"));
    // The end of the stream flushes the others.
    let left: Vec<String> =
        tracker.finish(false).map(|(choice, update)| format!("{choice} {}", shown(&update))).collect();
    assert_eq!((lost(&left), left.iter().all(|line| line.starts_with("1 "))), (6, true), "{left:?}");
    assert!(tracker.finish(false).next().is_none());
}

fn has_bare_quote(mut raw: &[u8]) -> bool {
    loop {
        match raw {
            [b'\\', _, rest @ ..] | [b'\\', rest @ ..] => raw = rest,
            [b'"', ..] => return true,
            [_, rest @ ..] => raw = rest,
            [] => return false,
        }
    }
}

/// Returns a payload with a text, and `behind` quotes after the text.
fn in_payload(raw: &[u8], flags: TextFlags, behind: usize) -> (Vec<u8>, Part) {
    let payload = [b"x", raw, &[b'"'].repeat(behind)].concat();
    let part = Part::of(&payload, Text::from_raw(&payload[1..][..raw.len()], flags));
    (payload, part)
}

#[test]
fn fast_path_reads_arguments_like_the_general_path() {
    let flags = TextFlags::ESCAPED.with(TextFlags::NON_ASCII);
    for (raw, is_short) in [
        (r#"{\"a\":[1,{\"b\":\"}\\\"\"}]}"#, true),
        (r#"{\"a\":{\"b\":[\"]\"]},\"c\":[]}"#, true),
        (r#"{\"a\":1}}"#, false),
        (r#"{\"a\":\"\\\\\"}"#, true),
        (r#"{\"é\":\"\u00e9\u007b\"}"#, true),
        (r#" {\n\t}"#, true),
        (r#"[1,[\"]\"],{}]"#, true),
        (r#"\"a [\u005b\""#, true),
        (r#"12"#, true),
        (r#"1 {}"#, false),
        (r#"true]"#, false),
        (r#"null{"#, false),
        (r#"x{"#, true),
        (r#"[1]{}"#, false),
        (r#"\"\" "#, false),
        (r#"{}{}"#, false),
        (r#"{} "#, false),
        (r#"{\"a\":\"\ud83d\ude42\"}"#, false),
        (r#"{\"a\":\x}"#, false),
        (r#"{\"a\":\"a text that is longer than what a token is as a rule\"}"#, false),
    ] {
        let (payload, part) = in_payload(raw.as_bytes(), flags, 0);
        assert_eq!({ Arguments::EMPTY }.add_short(part, &payload), is_short, "{raw}");
        for cut in 0..=raw.len() {
            let pieces = [&raw.as_bytes()[..cut], &raw.as_bytes()[cut..]];
            // No text contains an unescaped quote. A cut inside an escape would leave one.
            if pieces.iter().any(|piece| has_bare_quote(piece)) {
                continue;
            }
            // The text lies close to the end of the payload, or far from it.
            let (mut quick, mut slow) = (Arguments::EMPTY, Arguments::EMPTY);
            for (piece, behind) in pieces.iter().zip([40, 40 * (cut % 2)]) {
                let is_plain = piece.is_ascii() && !piece.contains(&b'\\');
                let escaped = if piece.is_ascii() { TextFlags::ESCAPED } else { flags };
                let (payload, part) = in_payload(piece, if is_plain { TextFlags::PLAIN } else { escaped }, behind);
                let text = part.text(&payload);
                let before = format!("{quick:?}");
                let is_quick = quick.add_short(part, &payload);
                assert!(
                    is_quick || format!("{quick:?}") == before,
                    "a fragment that is not taken has an effect: {raw} at {cut}"
                );
                assert!(!is_quick || text.quirks().is_empty() && text.trailing_half().is_none(), "{raw} at {cut}");
                let goes_on = slow.add(text, None);
                assert!(!is_quick || !goes_on, "{raw} at {cut}");
                if !is_quick {
                    quick = slow;
                }
                assert_eq!(format!("{quick:?}"), format!("{slow:?}"), "{raw} at {cut}");
            }
        }
    }
}
