//! JSON without `data:`: compares bodies, NDJSON, arrays, pretty-printed or not, with the values they were generated
//! from.
//!
//! The body of the input generates values and the whitespace around them, so the expected output is known in advance.
//! Line ends inside a value are reported as LF. Generated values contain no blank lines, which end a value after the
//! first field.

use crate::drive;
use crate::event_log::Detail;
use crate::input::{self, Source};
use crate::log::escaped;
use crate::message::chunks;
use deltawire::stream::Event;
use deltawire::{Config, Framing, Growing, Parser, Quirk, QuirkSet, Validate};

pub fn raw_json(data: &[u8]) {
    let (mut control, body) = input::split(data);
    let mut from = Source::new(body);
    let line_end = control.pick(&["\n", "\r\n", "\r"]);
    let shape = control.below(5);
    let config = Config::new().with_validate(if control.below(2) == 1 { Validate::Strict } else { Validate::Lazy });
    let made = Made::of(shape, line_end, &mut from);
    let cuts = input::cuts(&mut control, made.bytes.len());
    let context = || format!("shape {shape}, cuts {cuts:?}, stream b\"{}\"", escaped(&made.bytes));

    let at = control.below((made.bytes.len() + 1).min(65536));
    match input::which(&mut control, made.bytes.len(), 4) {
        0 => made.check(config, &cuts, &context),
        1 => made.by_the_standard(config, &cuts, &context),
        2 => made.cut_off(config, at, &context),
        _ => {
            // Truncated and cut: the same as truncated.
            let pull = |cuts: &[usize]| {
                let mut parser = Parser::with_config(Growing::new(), config);
                drive::pull(&mut parser, &made.bytes[..at], cuts, Detail::Views, |_| ())
            };
            let cuts: Vec<usize> = cuts.iter().copied().filter(|cut| *cut <= at).collect();
            pull(&[]).equal(&pull(&cuts), "pull", context);
        }
    }
}

/// A generated value.
struct Value {
    payload: Vec<u8>,
    /// From its first byte to one past its last.
    range: (usize, usize),
    /// Whether it came as a field `data`.
    field: bool,
}

/// A stream and its values.
struct Made {
    bytes: Vec<u8>,
    values: Vec<Value>,
    done: bool,
}

/// What the parser emitted.
struct Came {
    chunks: Vec<(Vec<u8>, (u64, u64))>,
    quirks: QuirkSet,
    done: bool,
}

impl Made {
    fn of(shape: usize, line_end: &str, from: &mut Source<'_>) -> Made {
        let mut made = Made { bytes: Vec::new(), values: Vec::new(), done: false };
        let most = if shape == 0 { 1 } else { 1 + from.below(12) };
        let array = shape == 2;
        let mut fields = false;
        made.space(line_end, !fields, from);
        if array {
            made.bytes.push(b'[');
        }
        for number in 0..most {
            if number > 0 {
                if array {
                    made.space(line_end, true, from);
                    made.bytes.push(b',');
                } else if !from.once_in(4) {
                    made.bytes.extend_from_slice(line_end.as_bytes());
                }
            }
            made.space(line_end, array || !fields, from);
            if shape >= 3 && from.once_in(3) {
                // Between events: at the start of a line.
                if !made.bytes.is_empty() && !made.bytes.ends_with(line_end.as_bytes()) {
                    made.bytes.extend_from_slice(line_end.as_bytes());
                }
                fields = true;
                let mut payload = Vec::new();
                object(from, &Pretty { line_end: None, blank: false }, 0, &mut payload);
                let start = made.bytes.len() + 6;
                made.bytes = [&made.bytes[..], b"data: ", &payload, line_end.as_bytes(), line_end.as_bytes()].concat();
                // The event includes its blank line; the LF of a CRLF may come later.
                let end = made.bytes.len() - usize::from(line_end == "\r\n");
                made.values.push(Value { payload, range: (start, end), field: true });
                continue;
            }
            let start = made.bytes.len();
            let pretty = Pretty { line_end: from.once_in(2).then_some(line_end), blank: !fields };
            object(from, &pretty, 0, &mut made.bytes);
            let mut payload = String::from_utf8_lossy(&made.bytes[start..]).replace(line_end, "\n");
            while payload.contains("\n\n") {
                payload = payload.replace("\n\n", "\n");
            }
            let payload = payload.into_bytes();
            made.values.push(Value { payload, range: (start, made.bytes.len()), field: false });
        }
        if array {
            made.space(line_end, true, from);
            made.bytes.push(b']');
        }
        made.space(line_end, !fields, from);
        if !array && from.once_in(4) {
            let between = if made.bytes.ends_with(line_end.as_bytes()) { "" } else { line_end };
            made.bytes = [&made.bytes[..], between.as_bytes(), b"[DONE]", line_end.as_bytes()].concat();
            made.done = true;
        }
        made
    }

    fn space(&mut self, line_end: &str, blank: bool, from: &mut Source<'_>) {
        for _ in 0..from.below(8).saturating_sub(4) {
            let space = from.pick(&[" ", "\t", line_end, line_end]);
            // To avoid a blank line, put a space before it.
            let blanks = space == line_end && !blank && self.bytes.ends_with(line_end.as_bytes());
            if !blanks {
                self.bytes.extend_from_slice(space.as_bytes());
            }
        }
    }

    fn read(&self, config: Config, cuts: &[usize], len: usize) -> (Came, u32) {
        let mut came = Vec::new();
        let parser = chunks(config, &self.bytes[..len], cuts, |chunk| {
            let range = chunk.wire_range();
            came.push((chunk.payload().to_vec(), (range.start, range.end)));
        });
        let end = parser.end();
        (Came { chunks: came, quirks: parser.quirks(), done: end.done }, end.malformed)
    }

    /// With the standard's framing, only fields count.
    fn by_the_standard(&self, config: Config, cuts: &[usize], context: &impl Fn() -> String) {
        let config = config.with_framing(Framing::Spec);
        let mut parser = Parser::with_config(Growing::new(), config);
        let mut events = 0;
        for mut piece in input::pieces(&self.bytes, cuts) {
            while let Some(event) = parser.next(&mut piece).transpose() {
                // The error is a full table.
                let Ok(event) = event else { continue };
                assert!(matches!(*event, Event::Chunk(_)), "{event:?}: {}", context());
                events += 1;
            }
        }
        while let Some(event) = parser.finish().transpose() {
            assert!(event.is_ok_and(|event| matches!(*event, Event::Rest)), "{}", context());
        }
        let fields = self.values.iter().filter(|value| value.field).count();
        assert_eq!(events, fields, "by the standard: {}", context());
    }

    /// Truncated anywhere: the complete values are the same, and the rest is reported once.
    fn cut_off(&self, config: Config, at: usize, context: &impl Fn() -> String) {
        let chunks = self.read(config, &[], at).0.chunks;
        let whole: Vec<&Value> = self.values.iter().filter(|value| value.range.1 <= at).collect();
        assert!(chunks.len() >= whole.len() && chunks.len() <= whole.len() + 1, "cut off at {at}: {}", context());
        for (value, (payload, _)) in whole.iter().zip(&chunks) {
            assert_eq!(&value.payload, payload, "cut off at {at}: {}", context());
        }
    }

    fn check(&self, config: Config, cuts: &[usize], context: &impl Fn() -> String) {
        let (came, malformed) = self.read(config, cuts, self.bytes.len());
        assert_eq!(malformed, 0, "{}", context());
        assert_eq!(came.chunks.len(), self.values.len(), "{}", context());
        for ((payload, (start, end)), value) in came.chunks.iter().zip(&self.values) {
            assert_eq!(escaped(payload), escaped(&value.payload), "{}", context());
            if !value.field {
                assert_eq!((*start as usize, *end as usize), value.range, "{}", context());
            }
        }
        let raw = self.values.iter().filter(|value| !value.field).count();
        let first = self.values.iter().position(|value| value.field).unwrap_or(self.values.len());
        let flags = [
            (Quirk::JsonBody, first > 0),
            (Quirk::Ndjson, first > 1),
            (Quirk::JsonBetweenEvents, raw > first),
            (Quirk::BareDone, self.done),
        ];
        for (quirk, wanted) in flags {
            assert_eq!(came.quirks.contains(quirk), wanted, "{quirk:?}: {}", context());
        }
        if self.done {
            assert!(came.done, "{}", context());
        }
    }
}

/// How values are formatted.
struct Pretty<'a> {
    /// Line ends allowed between tokens.
    line_end: Option<&'a str>,
    /// Whether blank lines are allowed too.
    blank: bool,
}

impl Pretty<'_> {
    /// Whitespace between two tokens. A line must not begin with a colon, which would make it a comment.
    fn space(&self, from: &mut Source<'_>, before_colon: bool, out: &mut Vec<u8>) {
        match (from.below(16), self.line_end) {
            (12, _) => out.push(b' '),
            (13, _) => out.push(b'\t'),
            (14.., Some(line_end)) if !before_colon && (self.blank || !out.ends_with(line_end.as_bytes())) => {
                out.extend_from_slice(line_end.as_bytes());
                out.extend_from_slice(&b"    "[..from.below(5)]);
            }
            _ => {}
        }
    }
}

fn object(from: &mut Source<'_>, pretty: &Pretty<'_>, depth: usize, out: &mut Vec<u8>) {
    // Names that make the value neither an error nor a chunk with choices.
    const NAMES: &[&str] = &["a", "usage", "model", "x{y", "}", "]", "\\\"", "data: ", "é", "[DONE]", "", "id"];
    out.push(b'{');
    for number in 0..from.below(4) {
        if number > 0 {
            out.push(b',');
        }
        pretty.space(from, false, out);
        out.extend_from_slice(format!("\"{}\"", from.pick(NAMES)).as_bytes());
        pretty.space(from, true, out);
        out.push(b':');
        value(from, pretty, depth + 1, out);
    }
    pretty.space(from, false, out);
    out.push(b'}');
}

fn value(from: &mut Source<'_>, pretty: &Pretty<'_>, depth: usize, out: &mut Vec<u8>) {
    const LEAVES: &[&str] = &[
        "null",
        "true",
        "false",
        "0",
        "-1.5e-7",
        "12345678901234567890",
        "\"\"",
        "\"{\"",
        "\"}\"",
        "\"]\\\"\"",
        "\"\\\\\"",
        "\"\\\\\\\"[\"",
        "\"data: x\"",
        "\"\\u007b\"",
        "\"é世😀\"",
        "\"long long long long long long long long long text\"",
    ];
    pretty.space(from, false, out);
    match from.below(12) {
        10 if depth < 20 => object(from, pretty, depth, out),
        11 if depth < 20 => {
            out.push(b'[');
            for number in 0..from.below(4) {
                if number > 0 {
                    out.push(b',');
                }
                value(from, pretty, depth + 1, out);
            }
            pretty.space(from, false, out);
            out.push(b']');
        }
        _ => out.extend_from_slice(from.pick(LEAVES).as_bytes()),
    }
    pretty.space(from, false, out);
}
