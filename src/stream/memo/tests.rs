//! Which events templates recognize, and which are learned.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]
extern crate std;

use super::{Ended, Memo, DATA_PREFIX, FIXED, LONGEST_WAIT, LOYALTY, NONE, PATIENCE};
use crate::chat::index::{Hint, Index, SeenChoices};
use crate::chat::{Chunk, Update};
use crate::stream::{Config, Found, Machine};
use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

/// How payloads are checked.
#[derive(Clone, Copy)]
struct Rules {
    max_depth: u32,
    strict: bool,
}

const LAZY: Rules = Rules { max_depth: 128, strict: false };
const STRICT: Rules = Rules { max_depth: 128, strict: true };

/// A memo with its index, as in a machine, and the framing of the events that it gets.
#[derive(Clone)]
struct Reader<const SLOTS: usize> {
    memo: Memo<SLOTS>,
    index: Index,
    rules: Rules,
    head: &'static str,
    tail: &'static str,
}

impl<const SLOTS: usize> Reader<SLOTS> {
    fn new(rules: Rules) -> Self {
        Reader { memo: Memo::NEW, index: Index::new(), rules, head: "data: ", tail: "\n\n" }
    }

    fn event(&self, payload: &str) -> String {
        format!("{}{payload}{}", self.head, self.tail)
    }

    /// Does what the machine does with an event that no template recognized. Returns whether it was read to its end.
    fn read(&mut self, payload: &str) -> bool {
        let bytes = payload.as_bytes();
        self.memo.note_envelope(self.event(payload).as_bytes(), self.head.len(), bytes.len(), b"");
        self.memo.forget_current();
        let sound = !self.rules.strict || crate::json::validate(bytes, self.rules.max_depth).is_ok();
        let read = sound && end_of(&mut self.index, payload, self.rules.max_depth) == Some(bytes.len());
        if read && self.memo.wants() {
            self.memo.learn(&self.index, bytes, b"", self.rules.strict, &SeenChoices::default());
        }
        read
    }

    /// Takes an event. Returns whether a template recognized it; if so, checks that the index equals that of a full
    /// parse.
    fn take(&mut self, payload: &str) -> bool {
        let event = self.event(payload);
        // The bytes after the event must not matter.
        let bytes = [event.as_bytes(), b"data: {}\n\n"].concat();
        let known = self.memo.may_recognize(bytes.len());
        let hit = if known { self.memo.recognize_event(&mut self.index, &bytes, self.rules.max_depth) } else { None };
        let Some(hit) = hit else {
            self.read(payload);
            return false;
        };
        assert_eq!((hit.start, hit.len, hit.end), (self.head.len(), payload.len(), event.len()), "{payload}");
        let ended = if self.tail.ends_with("\r\n\r") {
            Ended::CrBehindCrLf
        } else if self.tail == "\r\r" {
            Ended::CrBehindCr
        } else if self.tail.ends_with('\r') {
            Ended::Cr
        } else {
            Ended::Alone
        };
        assert_eq!(hit.ended, ended);
        let mut fresh = Index::new();
        assert!(!self.rules.strict || crate::json::validate(payload.as_bytes(), self.rules.max_depth).is_ok());
        assert_eq!(end_of(&mut fresh, payload, self.rules.max_depth), Some(payload.len()), "{payload}");
        assert_eq!(reported(&self.index, payload), reported(&fresh, payload));
        true
    }

    /// Whether a template recognizes the event. Checks that it recognizes the payload alone, too. Has no effect.
    fn knows(&self, payload: &str) -> bool {
        let known = self.clone().take(payload);
        let mut other = self.clone();
        let by_payload = other.memo.recognize_payload(
            &mut other.index,
            (payload.as_bytes(), payload.len()),
            b"",
            self.rules.max_depth,
        );
        if by_payload {
            let mut fresh = Index::new();
            assert_eq!(end_of(&mut fresh, payload, self.rules.max_depth), Some(payload.len()), "{payload}");
            assert_eq!(reported(&other.index, payload), reported(&fresh, payload));
        }
        // A stored payload may consist of several lines, so its holes may contain a LF or another control character.
        let control = payload.bytes().any(|byte| byte < b' ');
        assert!(known == by_payload || (by_payload && control), "{payload}: {known} {by_payload}");
        known
    }
}

/// Reads a payload. Returns the end of its JSON value.
fn end_of(index: &mut Index, payload: &str, max_depth: u32) -> Option<usize> {
    crate::chat::read::read(index, payload.as_bytes(), Hint::None, max_depth).ok().map(|read| read.end)
}

/// What a chunk reports.
fn reported(index: &Index, payload: &str) -> Vec<String> {
    let chunk = Chunk::from_parts(payload.as_bytes(), index, b"");
    let mut reported = Vec::new();
    reported.push(format!("{:?} {:?} {:?}", chunk.id(), chunk.created(), chunk.quirks()));
    reported.push(format!("{:?} {}", chunk.usage().map(|usage| usage.value()), chunk.is_completion()));
    let updates = index.updates(payload.as_bytes());
    reported.extend(updates.iter().map(|delta| format!("{delta:?}")));
    for (_, update) in updates {
        if let Update::Content(text) = update {
            reported.push(format!("{text} {:?}", text.quirks()));
        }
    }
    reported
}

/// A chunk.
struct Parts<'a> {
    id: &'a str,
    created: &'a str,
    content: &'a str,
    logprobs: &'a str,
    usage: &'a str,
    rest: &'a str,
}

const USUAL: Parts<'static> =
    Parts { id: "c-1", created: "1700000000", content: "Hi", logprobs: "null", usage: "null", rest: "" };

impl Parts<'_> {
    fn payload(&self) -> String {
        let Parts { id, created, content, logprobs, usage, rest } = self;
        format!(
            "{{\"id\":\"{id}\",\"object\":\"chat.completion.chunk\",\"created\":{created},\"model\":\"m\",\"choices\":[{{\
             \"index\":0,\"delta\":{{\"role\":\"assistant\",\"content\":\"{content}\"}},\"logprobs\":{logprobs},\
             \"finish_reason\":null}}],\"usage\":{usage}{rest}}}"
        )
    }
}

fn content(content: &str) -> String {
    Parts { content, ..USUAL }.payload()
}

/// A reader that has taken these payloads and recognized none of them.
fn after<const SLOTS: usize>(rules: Rules, payloads: &[String]) -> Reader<SLOTS> {
    let mut reader = Reader::new(rules);
    for payload in payloads {
        assert!(!reader.take(payload));
    }
    reader
}

#[test]
fn a_text_is_a_hole() {
    let reader: Reader<2> = after(LAZY, &[content("Hi")]);
    let long = "ab\\\"é\\ud83d 😀".repeat(9_000);
    let texts =
        ["Hi", "", "a", "a token", "0123456789abcdef", "é", "😀", "\\n", "\\\"", "\\\\", "\\ud83d", "\\q", "}]", &long];
    for text in texts {
        assert!(reader.knows(&content(text)), "{text}");
    }
    for text in ["a\nb", "\r", "a\n\nb", "a\ndata: b", "\t", "\u{1}"] {
        assert!(!reader.knows(&content(text)), "{text:?}");
    }
    // Texts without an end, and texts that end too early.
    for text in ["\\", "a\"b", "\"", "\\\\\\"] {
        assert!(!reader.knows(&content(text)), "{text:?}");
    }
    let whole = content("Hi");
    for cut in 0..whole.len() {
        let mut reader = reader.clone();
        let event = format!("data: {}", &whole[..cut]);
        assert!(reader.memo.recognize_event(&mut reader.index, event.as_bytes(), LAZY.max_depth).is_none(), "{event}");
        assert!(
            !reader.memo.recognize_payload(&mut reader.index, (whole.as_bytes(), cut), b"", LAZY.max_depth),
            "{event}"
        );
    }
}

#[test]
fn a_member_that_decides_something_is_not_a_hole() {
    let call =
        "{\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"tool_calls\":[{\"index\":0,\"id\":\"call_1\",\
                \"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}]},\"finish_reason\":null}],\
                \"model\":\"m\",\"object\":\"o\",\"error\":null}";
    let reader: Reader<2> = after(LAZY, &[call.to_string()]);
    assert!(reader.knows(call));
    assert!(reader.knows(&call.replace("{}", "{\\\"a\\\":1}")));
    for (from, to) in [
        ("{\"index\":0,\"delta", "{\"index\":1,\"delta"),
        ("[{\"index\":0,\"id", "[{\"index\":1,\"id"),
        ("assistant", "assistanz"),
        ("call_1", "call_2"),
        ("\"function\",", "\"custom\","),
        ("\"f\"", "\"g\""),
        ("finish_reason\":null", "finish_reason\":\"stop\""),
        ("\"m\"", "\"n\""),
        ("\"o\"", "\"p\""),
        ("\"error\":null", "\"error\":{}"),
        ("arguments", "argumentz"),
        (",\"model\"", " ,\"model\""),
    ] {
        let other = call.replace(from, to);
        assert_ne!(other, call);
        assert!(!reader.knows(&other), "{other}");
    }
}

#[test]
fn a_number_is_a_hole_once_it_changed() {
    let created = |created| Parts { created, ..USUAL }.payload();
    let mut reader: Reader<2> = after(LAZY, &[created("1700000000")]);
    assert!(!reader.knows(&created("1700000001")));
    assert!(!reader.take(&created("1700000001")));
    for number in ["1700000002", "0", "7", "10", "9999999999999999999"] {
        assert!(reader.knows(&created(number)), "{number}");
    }
    for number in [
        "10000000000000000000",
        "18446744073709551616",
        "-0",
        "-1",
        "00",
        "01",
        "1.0",
        "1e3",
        "1E3",
        "",
        "null",
        "\"1\"",
        "{}",
    ] {
        assert!(!reader.knows(&created(number)), "{number}");
    }
    let id = |id| Parts { id, ..USUAL }.payload();
    let mut reader: Reader<2> = after(LAZY, &[id("c-1"), id("c-2")]);
    assert!(reader.knows(&id("c-3")) && reader.knows(&id("")) && reader.knows(&id("\\u0063é")));
    // The ID did not change.
    assert!(!reader.knows(&created("1")));
    assert!(!reader.take(&created("1")));
    assert!(reader.knows(&Parts { id: "x", created: "2", ..USUAL }.payload()));
}

#[test]
fn a_container_is_a_hole_within_the_limit_of_depth() {
    let shape = |logprobs: &str, usage: &str| Parts { logprobs, usage, ..USUAL }.payload();
    let nested = |levels: usize| format!("{{\"a\":{}{}}}", "[".repeat(levels), "]".repeat(levels));
    let (mut hits, mut misses) = (0, 0);
    for max_depth in 0..14 {
        let rules = Rules { max_depth, strict: false };
        let mut reader: Reader<2> = Reader::new(rules);
        if !reader.read(&shape("{}", "{}")) {
            continue;
        }
        for levels in 0..12 {
            for payload in [shape(&nested(levels), "{}"), shape("{}", &nested(levels))] {
                let fits = end_of(&mut Index::new(), &payload, max_depth).is_some();
                assert_eq!(reader.knows(&payload), fits, "{levels} levels, {max_depth} at most: {payload}");
                hits += usize::from(fits);
                misses += usize::from(!fits);
            }
        }
    }
    assert!(hits > 50 && misses > 50, "{hits} {misses}");
    let reader: Reader<2> = after(LAZY, &[shape("{\"content\":[]}", "{\"n\":1}")]);
    let long = format!("{{\"a\":[{}0]}}", "\"}\\\"\",".repeat(20_000));
    for (logprobs, usage) in [("{}", "{}"), ("{\"\":\"}\"}", "{\"n\":17}"), (&long, &long), ("{}", "{ }")] {
        assert!(reader.knows(&shape(logprobs, usage)));
    }
    for other in ["null", "[]", "7", "\"\"", "", "{", "{\n}", "{\"a\":\"", "{}}", "{\n\n}"] {
        assert!(!reader.knows(&shape(other, "{}")), "{other}");
        assert!(!reader.knows(&shape("{}", other)), "{other}");
    }
}

#[test]
fn a_template_may_have_no_hole() {
    let plain = "{\"choices\":[],\"model\":\"m\"}".to_string();
    let reader: Reader<2> = after(LAZY, core::slice::from_ref(&plain));
    assert!(reader.knows(&plain));
    assert!(!reader.knows(&plain.replace("\"m\"", "\"n\"")) && !reader.knows(&plain.replace('m', "\"")));
    // A template that is replaced keeps no hole of the one before.
    let two = Parts { logprobs: "{}", ..USUAL }.payload();
    let three = Parts { logprobs: "{}", usage: "{}", ..USUAL }.payload();
    let holes = [plain, content("one"), two, three];
    for (count, before) in holes.iter().enumerate() {
        for (fewer, now) in holes.iter().enumerate().take(count) {
            let mut reader: Reader<1> = Reader::new(LAZY);
            assert!(reader.read(before) && reader.knows(before), "{count}");
            assert!(reader.read(now) && reader.knows(now), "{count} {fewer}");
            assert_eq!(reader.memo.templates[0].parts.holes(), fewer);
        }
    }
}

#[test]
fn a_template_has_at_most_seven_holes() {
    let parts = |text: &str, more: &str| {
        let usage = format!("{{\"n\":[\"{text}\"]}}");
        let rest = format!(",\"timings\":{usage},\"obfuscation\":\"{text}\"{more}");
        let created = (1_700_000_000 + text.len()).to_string();
        Parts { id: text, created: &created, content: text, logprobs: &usage, usage: &usage, rest: &rest }.payload()
    };
    let mut reader: Reader<1> = after(LAZY, &[parts("", ""), parts("a", "")]);
    assert_eq!(reader.memo.templates[0].parts.holes(), 7);
    for text in ["", "ab", "é\\n", &"x".repeat(300)] {
        assert!(reader.knows(&parts(text, "")), "{text}");
    }
    assert!(reader.take(&parts("b", "")));
    // An event with one hole more is not learned, and the template stays.
    let more = |text: &str| parts(text, &format!(",\"obfuscation\":\"{text}\""));
    assert!(!reader.take(&more("a")) && !reader.take(&more("b")) && !reader.take(&more("b")));
    assert!(reader.knows(&parts("abc", "")));
}

#[test]
fn a_payload_that_is_too_long_is_not_learned() {
    let rest = |len: usize| format!(",\"pad\":\"{}\"", "p".repeat(len));
    let (mut learned, mut left, mut longest) = (0, 0, 0);
    for len in 0..500 {
        let payload = Parts { rest: &rest(len), ..USUAL }.payload();
        let reader: Reader<1> = after(LAZY, core::slice::from_ref(&payload));
        let known = reader.knows(&payload);
        assert_eq!(known, reader.memo.templates[0].len > 0, "{len}");
        assert!(known || left > 0 || len > 0);
        if known {
            longest = reader.memo.templates[0].parts.bytes().len();
        }
        // A longer payload than one that is too long is too long as well.
        assert!(!known || left == 0, "{len}");
        *if known { &mut learned } else { &mut left } += 1;
    }
    assert!(learned > 100 && left > 100, "{learned} {left}");
    // A payload with results of a content filter may be longer, because they become a hole. With strict validation they
    // do not.
    let results = |results: &str| {
        let payload =
            content("a").replacen("{\"index\"", &format!("{{\"content_filter_results\":{results},\"index\""), 1);
        assert!(payload.len() > results.len() + 20);
        payload
    };
    let long = format!("{{\"violence\":\"{}\"}}", "x".repeat(FIXED));
    for (rules, knows) in [(LAZY, true), (STRICT, false)] {
        let reader: Reader<1> = after(rules, &[results(&long)]);
        assert_eq!((reader.knows(&results(&long)), reader.knows(&results("{}"))), (knows, knows));
        assert!(!reader.knows(&results("[]")));
    }
    // The longest template uses all its bytes.
    assert_eq!(longest, FIXED);
    // A template that was learned from a short event recognizes long ones.
    let long = "a".repeat(70_000);
    assert!(!after::<1>(LAZY, &[content(&long)]).knows(&content(&long)));
    assert!(after::<1>(LAZY, &[content("a")]).knows(&content(&long)));
    let around = content("").len();
    for len in [0xffff, 0x1_0000] {
        let whole = content(&"a".repeat(len - around));
        assert_eq!((whole.len(), after::<1>(LAZY, &[whole]).knows(&content("b"))), (len, len == 0xffff));
    }
}

#[test]
fn a_payload_of_several_lines_is_not_learned() {
    let lines = content("Hi").replace(",\"model\"", ",\n\"model\"");
    let reader: Reader<1> = after(LAZY, core::slice::from_ref(&lines));
    assert!(!reader.knows(&lines));
}

#[test]
fn strict_validation_checks_the_values_in_holes() {
    let reader: Reader<2> = after(STRICT, &[content("Hi")]);
    let lazy: Reader<2> = after(LAZY, &[content("Hi")]);
    for text in ["", "a", "é", "\\n", "\\u00e9", "\\ud83d", "😀\\\"", &"é".repeat(100)] {
        assert!(reader.knows(&content(text)), "{text}");
    }
    for text in ["\\q", "\\u12", "\\u12g4", "a\\", "\t", "\u{1}"] {
        assert!(!reader.knows(&content(text)), "{text}");
    }
    assert!(lazy.knows(&content("\\q")));
    for bytes in [&b"\xff"[..], b"\xc3", b"\xed\xa0\x80", b"aaaaaaaaaaaaaaaaaaaaaaaaaaaa\xf4\x90\x80\x80"] {
        let whole = content("@@").into_bytes();
        let at = whole.windows(2).position(|pair| pair == b"@@").unwrap();
        let event = [b"data: ", &whole[..at], bytes, &whole[at + 2..], b"\n\n"].concat();
        let (mut reader, mut lazy) = (reader.clone(), lazy.clone());
        assert!(reader.memo.recognize_event(&mut reader.index, &event, STRICT.max_depth).is_none(), "{bytes:?}");
        assert!(lazy.memo.recognize_event(&mut lazy.index, &event, LAZY.max_depth).is_some(), "{bytes:?}");
    }
    // With strict validation, containers are not holes.
    let usage = |usage| Parts { usage, ..USUAL }.payload();
    let reader: Reader<2> = after(STRICT, &[usage("{\"n\":1}")]);
    assert!(reader.knows(&usage("{\"n\":1}")) && !reader.knows(&usage("{\"n\":2}")));
    assert!(after::<2>(LAZY, &[usage("{\"n\":1}")]).knows(&usage("{\"n\":2}")));
}

#[test]
fn the_framing_is_part_of_a_template() {
    let framings = [("data: ", "\n\n"), ("data:", "\n\n"), ("data: ", "\r\n\r"), ("data:", "\r\r"), ("data: ", "\n\r")];
    for (number, (head, tail)) in framings.into_iter().enumerate() {
        let mut reader: Reader<2> = Reader { head, tail, ..Reader::new(LAZY) };
        assert!(
            !reader.take(&content("a")) && reader.take(&content("b")) && reader.take(&content("cc")),
            "{head}{tail:?}"
        );
        for (other, (head, tail)) in framings.into_iter().enumerate() {
            if other == number {
                continue;
            }
            // The first event with the other framing is not recognized, but learned.
            let mut changed = Reader { head, tail, ..reader.clone() };
            assert!(!changed.take(&content("a")), "{head}{tail:?}");
            assert!(changed.take(&content("b")), "{head}{tail:?}");
            // The template with the first framing stays.
            assert!(Reader { head: reader.head, tail: reader.tail, ..changed }.take(&content("a")));
        }
    }
    // An event with other lines changes nothing.
    let mut reader: Reader<2> = after(LAZY, &[content("a")]);
    for (event, start) in [
        (format!(": ping\ndata: {}\n\n", content("b")), 13),
        (format!("data:  {}\n\n", content("b")), 7),
        (format!("data: {}\n\r\n\n", content("b")), 6),
        (format!("data: {}\n", content("b")), 6),
    ] {
        reader.memo.note_envelope(event.as_bytes(), start, content("b").len(), b"");
        assert!(reader.knows(&content("b")), "{event:?}");
    }
}

#[test]
fn as_many_shapes_as_slots() {
    let shapes =
        ["null", "{}", "[]", "7"].map(|usage| move |content: &str| Parts { content, usage, ..USUAL }.payload());
    fn known<const SLOTS: usize>(shapes: &[impl Fn(&str) -> String]) -> usize {
        let mut reader: Reader<SLOTS> = Reader::new(LAZY);
        let mut hits = 0;
        for turn in 0..50 {
            for shape in shapes {
                hits += usize::from(reader.take(&shape(&"a".repeat(turn))));
            }
        }
        hits
    }
    // With enough templates, all but the first event of each shape are recognized. With fewer, the templates must not
    // replace each other in turn.
    assert_eq!(known::<1>(&shapes[..1]), 49);
    assert_eq!(known::<2>(&shapes[..2]), 98);
    assert_eq!(known::<4>(&shapes), 196);
    assert_eq!(known::<0>(&shapes[..1]), 0);
    assert!(known::<1>(&shapes[..2]) < 100 && known::<2>(&shapes) < 200);
}

#[test]
fn useless_templates_are_learned_less_often() {
    let unlike = |number: usize| Parts { rest: &format!(",\"pad\":{number}"), ..USUAL }.payload();
    let mut reader: Reader<2> = Reader::new(LAZY);
    let (mut learned, mut looked) = (0, 0);
    for number in 0..2_000 {
        let payload = unlike(number);
        looked += usize::from(reader.memo.idle == 0);
        let before = reader.memo.before;
        let templates = reader.memo.templates.clone().map(|template| template.parts.bytes().to_vec());
        assert!(!reader.take(&payload));
        let now = reader.memo.templates.clone().map(|template| template.parts.bytes().to_vec());
        learned += usize::from(templates != now || before != reader.memo.before);
    }
    assert_eq!(reader.memo.penalty, LONGEST_WAIT);
    assert!((8..40).contains(&learned), "{learned}");
    // After a while every sixteenth event is compared.
    let expected = usize::from(PATIENCE) + 2_000 / 16;
    assert!((expected - 20..expected + 20).contains(&looked), "{looked}");
    // When events are alike again, one is learned, and one of the next sixteen is recognized.
    let mut hits = 0;
    for _ in 0..usize::from(LONGEST_WAIT) + 40 {
        hits += usize::from(reader.take(&content("again")));
    }
    assert!(hits >= 20, "{hits}");
    assert_eq!(reader.memo.penalty, 0);
    assert!(reader.take(&content("and again")));
}

#[test]
fn an_event_between_two_of_a_template_changes_nothing() {
    // The event between them fills the index anew.
    let mut reader: Reader<1> = after(LAZY, &[content("a")]);
    assert!(reader.take(&content("b")));
    // It is too short to be compared.
    assert!(!reader.memo.may_recognize("data: {}\n\ndata: {}\n\n".len()));
    assert!(!reader.take("{}"));
    assert!(reader.take(&content("c")));
}

#[test]
fn an_event_that_is_shorter_than_each_template_is_not_compared() {
    assert!(!Memo::<0>::NEW.may_recognize(usize::MAX));
    let mut reader: Reader<4> = Reader::new(LAZY);
    assert!(!reader.memo.may_recognize(usize::from(u16::MAX) - 1));
    // The text of a hole may be empty.
    let usual = content("").len();
    reader.read(&content("a"));
    assert!(reader.memo.may_recognize(usual) && !reader.memo.may_recognize(usual - 1));
    let short = "{\"choices\":[]}";
    reader.read(short);
    assert!(reader.memo.may_recognize(short.len()) && !reader.memo.may_recognize(short.len() - 1));
}

#[test]
fn each_template_has_its_own_framing() {
    let other = |content: &str| Parts { content, usage: "{}", ..USUAL }.payload();
    let reader: Reader<2> = after(LAZY, &[content("a"), other("a")]);
    assert!(reader.knows(&content("b")) && reader.knows(&other("b")));
    let mut crlf = Reader { tail: "\r\n\r", ..reader.clone() };
    assert!(!crlf.take(&content("c")) && !crlf.take(&other("c")));
    // After some events that were not recognized, the templates are replaced by ones with the other framing.
    assert!((0..LOYALTY).any(|_| crlf.take(&content("d"))) && crlf.take(&content("e")));
    assert!(reader.knows(&content("c")) && reader.knows(&other("c")));
}

#[test]
fn a_space_that_an_event_would_lose_is_not_learned() {
    let spaced = format!(" {}", content("a"));
    for (head, learned) in [("data: ", true), ("data:", false)] {
        let mut reader: Reader<1> = Reader { head, ..Reader::new(LAZY) };
        reader.memo.note_envelope(reader.event("{}").as_bytes(), head.len(), 2, b"");
        // As after an event that was cut: its framing is not noted.
        let mut index = Index::new();
        assert_eq!(end_of(&mut index, &spaced, 128), Some(spaced.len()));
        reader.memo.learn(&index, spaced.as_bytes(), b"", LAZY.strict, &SeenChoices::default());
        assert_eq!(reader.memo.templates[0].len > 0, learned, "{head}");
        let event = [DATA_PREFIX, content("b").as_bytes(), b"\n\n"].concat();
        assert!(reader.memo.recognize_event(&mut reader.index, &event, LAZY.max_depth).is_none(), "{head}");
    }
}

#[test]
fn after_many_unrecognized_events_few_are_compared() {
    let unlike = |number: u8| Parts { rest: &format!(",\"pad\":{number}"), ..USUAL }.payload();
    for (count, expected) in [(PATIENCE - 1, true), (PATIENCE, true), (PATIENCE + 1, false)] {
        let mut reader: Reader<2> = after(LAZY, &[content("a")]);
        assert!(reader.take(&content("b")));
        assert!((0..count).all(|number| !reader.take(&unlike(number))));
        assert_eq!(reader.take(&content("c")), expected, "{count}");
    }
}

#[test]
fn a_template_is_replaced_after_several_unrecognized_events() {
    let shape = |usage: &str| Parts { usage, ..USUAL }.payload();
    let [first, second, third] = ["null", "[]", "7"].map(shape);
    for (last, other) in [(&first, &second), (&second, &first)] {
        let mut reader: Reader<2> = after(LAZY, &[first.clone(), second.clone()]);
        assert!(reader.take(other) && reader.take(last));
        for turn in 1..=LOYALTY {
            assert!(!reader.take(&third), "{turn}");
            assert_eq!(reader.knows(&third), turn == LOYALTY, "{turn}");
        }
        // The template that recognized an event last is kept.
        assert!(reader.knows(last) && !reader.knows(other));
    }
    // A template that is free, or that recognized nothing, is replaced first, however many events were not recognized.
    let mut reader: Reader<2> = after(LAZY, core::slice::from_ref(&first));
    assert!(reader.take(&first));
    for number in 0..=LOYALTY {
        assert!(!reader.take(&shape(&format!("{number}{number}.5"))));
    }
    assert!(reader.knows(&first));
}

/// Whether a machine that has read the event `before` recognizes the last event in these windows.
fn machine_knows(before: &str, windows: &[&str]) -> bool {
    let mut machine: Machine<2> = Machine::new(Config::default());
    let mut storage = [0; 1024];
    let mut chunks = 0;
    for window in [&[before], windows].concat() {
        let mut rest = window.as_bytes();
        loop {
            let step = machine.step(&mut storage, rest);
            rest = &rest[step.consumed..];
            chunks += usize::from(matches!(step.found, Found::Chunk(_)));
            if step.found == Found::NeedMore && rest.is_empty() {
                break;
            }
        }
    }
    assert_eq!(chunks, 2, "{windows:?}");
    machine.memo.current != NONE
}

#[test]
fn a_machine_recognizes_whole_and_cut_events() {
    for (head, tail) in [("data: ", "\n\n"), ("data:", "\n\n"), ("data: ", "\r\n\r\n"), ("data:", "\r\r")] {
        let event = |text: &str| format!("{head}{}{tail}", content(text));
        let (before, whole) = (event("a"), event("b"));
        assert!(machine_knows(&before, &[&whole]), "{head}{tail:?}");
        // An event that was cut is recognized when it ends.
        for at in [1, head.len(), head.len() + 1, 100, whole.len() - tail.len()] {
            let (first, second) = whole.split_at(at);
            assert!(machine_knows(&before, &[first, second]), "{head}{tail:?} {at}");
        }
        // After a comment, which is reported by itself.
        assert!(machine_knows(&before, &[&format!(": said{}{whole}", &tail[tail.len() / 2..])]), "{head}{tail:?}");
        // An event with a name is not recognized.
        assert!(!machine_knows(&before, &[&format!("event: x{}{whole}", &tail[tail.len() / 2..])]), "{head}{tail:?}");
    }
}
