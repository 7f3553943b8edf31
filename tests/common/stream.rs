//! Generates streams: many chunks of a few shapes, as one server sends them.

use super::input::Source;

/// The constant properties of a stream.
struct Style {
    line_end: &'static str,
    data: &'static str,
    spaced: bool,
    choices: usize,
    /// A bit for each thing that only some servers send.
    has: u32,
    created: u64,
    id: Changes,
    /// Its length. The memo does not remember a shape of more than a few hundred bytes.
    fingerprint: usize,
    /// Whether a member comes twice.
    twice: bool,
    /// Whether numbers of all kinds replace times.
    odd_times: bool,
}

#[derive(Clone, Copy)]
enum Changes {
    Never,
    InPlace,
    InLength,
}

const FINGERPRINT: u32 = 1;
const USAGE_NULL: u32 = 2;
const OBFUSCATION: u32 = 4;
const LOGPROBS_NULL: u32 = 8;
const FINISH_NULL: u32 = 16;
const CHOICES_FIRST: u32 = 32;
const INDEX_LAST: u32 = 64;
const ROLE_ALWAYS: u32 = 128;
const EVENT_NAME: u32 = 256;
const EVENT_ID: u32 = 512;
const TIER: u32 = 1024;
const COUNTS: u32 = 2048;
const CREATED_MOVES: u32 = 4096;
const REFUSAL_NULL: u32 = 8192;
const NO_ID: u32 = 16384;
const EXTRA: u32 = 32768;

/// Generates the stream that the bytes of `from` describe.
pub fn stream(from: &mut Source<'_>) -> Vec<u8> {
    let mut style = Style {
        line_end: from.pick(&["\n", "\n", "\n", "\r\n", "\r"]),
        data: from.pick(&["data: ", "data: ", "data:", "data:  "]),
        spaced: from.once_in(4),
        choices: 1 + from.below(3),
        has: u32::from(from.u16()),
        created: 0,
        id: Changes::Never,
        fingerprint: 0,
        twice: false,
        odd_times: false,
    };
    let number = from.u64();
    style.created = 1_700_000_000 + number % 100_000_000;
    from.sound = from.once_in(2);
    let bits = |at: u32, count: usize| (number >> at) as usize % count;
    style.id = [Changes::Never, Changes::Never, Changes::InPlace, Changes::InLength][bits(60, 4)];
    style.fingerprint = [10, 10, 10, 60, 150, 220, 400, 10][bits(56, 8)];
    style.twice = bits(52, 8) == 7 && !from.sound;
    style.odd_times = bits(48, 8) == 7 && !from.sound;
    let mut out = Vec::new();
    let mut shape = 0;
    let mut number = 0;
    while !from.is_empty() && out.len() < 5 * 1024 && number < 20 {
        number += 1;
        between(&style, from, &mut out);
        // Runs of one shape, with other shapes in between, repeated.
        match from.below(16) {
            0..=9 => {}
            10..=12 => shape ^= 1,
            _ => shape = from.below(24),
        }
        if from.sound && matches!(shape, 16 | 17) {
            // Valid streams have no text or message beside deltas, because their meaning is tested elsewhere.
            shape = 0;
        }
        let mut json = Vec::new();
        chunk(&style, shape, number, from, &mut json);
        if style.spaced {
            json = spaced(&json);
        }
        event(&style, number, &json, from, &mut out);
    }
    if from.below(4) < 3 {
        event(&style, 0, b"[DONE]", from, &mut out);
    }
    out
}

fn between(style: &Style, from: &mut Source<'_>, out: &mut Vec<u8>) {
    let line = match from.below(40) {
        39 => ": ping",
        38 => ":",
        37 => "id: 17",
        36 => "event: x",
        35 => "retry: 100",
        34 => "nothing: 1",
        33 => "",
        32 => "data",
        _ => return,
    };
    *out = [out.as_slice(), line.as_bytes(), style.line_end.as_bytes()].concat();
    if from.once_in(2) {
        out.extend_from_slice(style.line_end.as_bytes());
    }
}

fn event(style: &Style, number: u64, data: &[u8], from: &mut Source<'_>, out: &mut Vec<u8>) {
    let mut line = |parts: &[&[u8]]| {
        parts.iter().for_each(|part| out.extend_from_slice(part));
        out.extend_from_slice(style.line_end.as_bytes());
    };
    if style.has & EVENT_NAME != 0 {
        line(&[b"event: chunk"]);
    }
    if style.has & EVENT_ID != 0 {
        line(&[b"id: ", number.to_string().as_bytes()]);
    }
    match from.below(64) {
        // In two lines, split where whitespace is allowed.
        63 => {
            let at = data.iter().position(|byte| *byte == b',').map_or(0, |at| at + 1);
            line(&[style.data.as_bytes(), &data[..at]]);
            line(&[style.data.as_bytes(), &data[at..]]);
        }
        62 => {
            line(&[b": in the middle"]);
            line(&[style.data.as_bytes(), data]);
        }
        // Without its field name.
        61 => line(&[data]),
        60 => {
            line(&[style.data.as_bytes(), data]);
            line(&[b": at the end"]);
        }
        _ => line(&[style.data.as_bytes(), data]),
    }
    if !from.once_in(64) {
        out.extend_from_slice(style.line_end.as_bytes());
    }
}

/// Puts a space after each colon and comma outside strings.
fn spaced(json: &[u8]) -> Vec<u8> {
    let (mut out, mut quoted, mut escaped) = (Vec::new(), false, false);
    for &byte in json {
        out.push(byte);
        if quoted {
            quoted = byte != b'"' || escaped;
            escaped = byte == b'\\' && !escaped;
        } else {
            quoted = byte == b'"';
            if byte == b':' || byte == b',' {
                out.push(b' ');
            }
        }
    }
    out
}

/// Writes the members of an object, with commas between them.
struct Object<'o> {
    out: &'o mut Vec<u8>,
    begun: bool,
}

impl<'o> Object<'o> {
    fn new(out: &'o mut Vec<u8>) -> Self {
        out.push(b'{');
        Object { out, begun: false }
    }

    fn key(&mut self, key: &str) -> &mut Vec<u8> {
        if std::mem::replace(&mut self.begun, true) {
            self.out.push(b',');
        }
        self.out.extend_from_slice(format!("\"{key}\":").as_bytes());
        self.out
    }

    fn raw(&mut self, key: &str, value: impl AsRef<[u8]>) {
        self.key(key).extend_from_slice(value.as_ref());
    }

    fn end(self) {
        self.out.push(b'}');
    }
}

fn chunk(style: &Style, shape: usize, number: u64, from: &mut Source<'_>, out: &mut Vec<u8>) {
    let has = |bit: u32| style.has & bit != 0;
    let mut top = Object::new(out);
    let mut choices = Vec::new();
    if shape != 20 {
        let count = if shape == 21 { style.choices } else { 1 };
        for place in 0..count {
            choices.extend_from_slice(if place > 0 { b"," } else { b"" });
            let index = if count > 1 { place } else { from.below(style.choices * 8) / 8 };
            choice(style, shape, index, number, from, &mut choices);
        }
    }
    let choices = [b"[", choices.as_slice(), b"]"].concat();
    if has(CHOICES_FIRST) {
        top.raw("choices", &choices);
    }
    if !has(NO_ID) {
        let id = match style.id {
            Changes::Never => "B1x9TwqZ".to_string(),
            Changes::InPlace => (100 + number).to_string(),
            Changes::InLength => "c".repeat(from.below(30)),
        };
        top.raw("id", format!("\"chatcmpl-{id}\""));
        top.raw("object", "\"chat.completion.chunk\"");
    }
    let created = style.created + if has(CREATED_MOVES) { number / 3 } else { 0 };
    const TIMES: [&str; 9] =
        ["0", "7", "00", "-0", "1700000000", "9999999999999999999", "18446744073709551616", "1e3", "1.0"];
    top.raw("created", if style.odd_times { from.pick(&TIMES).to_string() } else { created.to_string() });
    top.raw("model", if from.once_in(50) { "\"other\"" } else { "\"model-5-mini\"" });
    if has(TIER) {
        top.raw("service_tier", "\"default\"");
    }
    if has(FINGERPRINT) {
        top.raw("system_fingerprint", format!("\"{}\"", "f".repeat(style.fingerprint)));
    }
    if !has(CHOICES_FIRST) || style.twice && from.once_in(2) {
        top.raw("choices", &choices);
    }
    if has(COUNTS) || shape == 20 || shape == 19 {
        let (prompt, completion) = (from.below(300), number as usize * 3);
        let usage = format!(
            "{{\"prompt_tokens\":{prompt},\"completion_tokens\":{completion},\"total_tokens\":{},\
             \"completion_tokens_details\":{{\"reasoning_tokens\":{}}}}}",
            prompt + completion,
            from.below(9)
        );
        top.raw("usage", usage);
    } else if has(USAGE_NULL) {
        top.raw("usage", "null");
    }
    if shape == 22 {
        top.raw(
            "error",
            from.pick(&["null", "{\"message\":\"m\",\"code\":429}", "\"no\"", "{\"type\":\"t\",\"code\":\"c\"}"]),
        );
    }
    if has(EXTRA) {
        top.raw("x_groq", format!("{{\"id\":\"req_{number}\",\"at\":[{number},1.5e-3,{{}}]}}"));
    }
    if has(OBFUSCATION) {
        let pad = "abcXYZ019".repeat(2);
        top.raw("obfuscation", format!("\"{}\"", &pad[..from.below(16)]));
    }
    top.end();
}

fn choice(style: &Style, shape: usize, index: usize, number: u64, from: &mut Source<'_>, out: &mut Vec<u8>) {
    let has = |bit: u32| style.has & bit != 0;
    let mut choice = Object::new(out);
    if !has(INDEX_LAST) {
        choice.raw("index", index.to_string());
    }
    match shape {
        16 => text(from, choice.key("text")),
        17 => {
            let mut message = Object::new(choice.key("message"));
            message.raw("role", "\"assistant\"");
            text(from, message.key("content"));
            message.end();
        }
        _ => {
            let delta = Object::new(choice.key("delta"));
            self::delta(style, shape, number, from, delta);
        }
    }
    if has(INDEX_LAST) {
        choice.raw("index", index.to_string());
    }
    if matches!(shape, 4 | 5) {
        logprobs(from, choice.key("logprobs"));
    } else if has(LOGPROBS_NULL) {
        choice.raw("logprobs", "null");
    }
    if matches!(shape, 10 | 11) {
        choice.raw(
            "finish_reason",
            match from.below(6) {
                0 if !from.sound => "\"None\"",
                1 => "\"tool_calls\"",
                2 => "\"st\\u006fp\"",
                3 => "\"\"",
                _ => "\"stop\"",
            },
        );
    } else if has(FINISH_NULL) {
        choice.raw("finish_reason", "null");
    }
    choice.end();
}

fn delta(style: &Style, shape: usize, number: u64, from: &mut Source<'_>, mut delta: Object<'_>) {
    let has = |bit: u32| style.has & bit != 0;
    if has(ROLE_ALWAYS) || shape == 9 {
        delta.raw("role", "\"assistant\"");
    }
    match shape {
        1 => text(from, delta.key("reasoning_content")),
        2 | 3 => {
            // Arguments of a call, or occasionally its beginning.
            let opens = from.once_in(6);
            delta.raw("content", "null");
            let calls = delta.key("tool_calls");
            calls.push(b'[');
            for place in 0..1 + from.below(8) / 7 {
                calls.extend_from_slice(if place > 0 { b"," } else { b"" });
                let mut call = Object::new(calls);
                call.raw("index", (from.below(10) / 8 + place).to_string());
                if opens {
                    call.raw("id", format!("\"call_{number}_{place}\""));
                    call.raw("type", "\"function\"");
                }
                let mut function = Object::new(call.key("function"));
                if opens {
                    function.raw("name", "\"get_weather\"");
                }
                text(from, function.key("arguments"));
                function.end();
                call.end();
            }
            calls.push(b']');
        }
        6 => {
            text(from, delta.key("reasoning"));
            delta.raw("reasoning_details", "[{\"type\":\"reasoning.text\",\"text\":\"t\",\"index\":0}]");
        }
        7 => text(from, delta.key("refusal")),
        8 => {
            let mut call = Object::new(delta.key("function_call"));
            if from.once_in(4) {
                call.raw("name", "\"f\"");
            }
            text(from, call.key("arguments"));
            call.end();
        }
        10 | 20 => {}
        12 => {
            let parts = delta.key("content");
            parts.extend_from_slice(b"[{\"type\":\"text\",\"text\":");
            text(from, parts);
            parts.extend_from_slice(b"},{\"type\":\"thinking\",\"thinking\":[{\"type\":\"text\",\"text\":\"hm\"}]}]");
        }
        13 => {
            let mut audio = Object::new(delta.key("audio"));
            audio.raw("id", "\"audio_1\"");
            audio.raw("data", "\"AAAA\"");
            text(from, audio.key("transcript"));
            audio.end();
        }
        14 => {
            text(from, delta.key("thinking"));
            text(from, delta.key("content"));
        }
        15 => delta.raw("annotations", "[{\"type\":\"url_citation\"}]"),
        _ => {
            text(from, delta.key("content"));
            if style.twice && from.once_in(3) {
                text(from, delta.key("content"));
            }
            if has(REFUSAL_NULL) {
                delta.raw("refusal", "null");
            }
        }
    }
    delta.end();
}

fn logprobs(from: &mut Source<'_>, out: &mut Vec<u8>) {
    let mut logprobs = Object::new(out);
    let tokens = logprobs.key("content");
    tokens.push(b'[');
    for place in 0..1 + from.below(5) / 4 {
        tokens.extend_from_slice(if place > 0 { b"," } else { b"" });
        token(from, tokens, true);
    }
    tokens.push(b']');
    logprobs.raw("refusal", "null");
    logprobs.end();
}

fn token(from: &mut Source<'_>, out: &mut Vec<u8>, outer: bool) {
    let mut token = Object::new(out);
    text(from, token.key("token"));
    let logprob = ["-0.25", "-1.5e-07", "0.0", "-9999.0", "-12", "0"];
    token.raw("logprob", from.pick(&logprob));
    token.raw("bytes", from.pick(&["[72,105]", "[]", "null", "[255]", "[240,159,152,128]"]));
    if outer {
        let top = token.key("top_logprobs");
        top.push(b'[');
        for place in 0..from.below(4) {
            top.extend_from_slice(if place > 0 { b"," } else { b"" });
            self::token(from, top, false);
        }
        top.push(b']');
    }
    token.end();
}

/// Writes a JSON string with any valid contents.
fn text(from: &mut Source<'_>, out: &mut Vec<u8>) {
    const WORDS: &[&str] = &[
        " the",
        "Hello",
        ",",
        " world",
        "\\n",
        "\\\"",
        "\\\\",
        "{\\\"",
        "\\\":",
        "}",
        "]",
        "[",
        "{",
        " ",
        "é",
        "世界",
        "😀",
        "\\u00e9",
        "\\ud83d\\ude00",
        "\\ud83d",
        "\\ude00",
        "\\/",
        "\\t",
        "\\u0000",
        "\\u2028",
        "data: x",
        "\u{7f}",
        "[DONE]",
        "null",
    ];
    const ODD: &[&[u8]] = &[
        b"\\x",
        b"\x01",
        b"\t",
        b"\xff",
        b"\xe2\x82",
        b"\xed\xa0\x80",
        b"\xc0\x80",
        b"\xf4\x90\x80\x80",
        b"\\u12g4",
        b"\\ud8",
    ];
    match from.below(32) {
        _ if from.sound => {}
        31 => {
            return out.extend_from_slice(from.pick(&[
                &b"null"[..],
                b"17",
                b"true",
                b"{}",
                b"[]",
                b"{\"a\":[1,{}]}",
                b"-1.5e3",
            ]))
        }
        30 => return out.extend_from_slice(b"\"\""),
        _ => {}
    }
    out.push(b'"');
    match from.below(24) {
        23 if !from.sound => out.extend_from_slice(from.pick(ODD)),
        22 => {
            let filler = from.pick(&["a", "é", "\\n", "x\\\"", "😀"]);
            (0..from.below(90)).for_each(|_| out.extend_from_slice(filler.as_bytes()));
        }
        21 => {
            let len = from.below(16);
            out.extend(from.take(len).iter().map(|byte| 0x20 + byte % 0x5f).filter(|byte| !b"\"\\".contains(byte)));
        }
        words => (0..words % 5).for_each(|_| out.extend_from_slice(from.pick(WORDS).as_bytes())),
    }
    out.push(b'"');
}
