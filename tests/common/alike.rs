//! Streams of chunks that are alike, as one server sends them: runs of one shape, and now and then another.

use crate::input::Source;

/// What stays the same in a stream.
struct Style {
    line_end: &'static str,
    data: &'static str,
    /// What comes behind each colon.
    space: &'static str,
    id: Changes,
    created: Changes,
    usage: Usage,
    choices: usize,
    obfuscation: bool,
    timings: bool,
    choices_first: bool,
    role_always: bool,
    twice: bool,
    /// Makes templates that are nearly too long, and some that are.
    fingerprint: usize,
}

#[derive(Clone, Copy, PartialEq)]
enum Changes {
    Never,
    InPlace,
    InLength,
}

#[derive(Clone, Copy, PartialEq)]
enum Usage {
    Without,
    Null,
    Each,
}

/// What a chunk brings.
const SHAPES: usize = 14;

/// The stream that these bytes ask for. Of no bytes: three chunks of content.
pub fn stream(from: &mut Source<'_>) -> Vec<u8> {
    let changes = [Changes::Never, Changes::Never, Changes::InPlace, Changes::InLength];
    let style = Style {
        line_end: from.pick(&["\n", "\n", "\n", "\r\n", "\r"]),
        data: from.pick(&["data: ", "data: ", "data: ", "data:", "data:  "]),
        space: from.pick(&["", "", "", " "]),
        id: from.pick(&changes),
        created: from.pick(&changes),
        usage: from.pick(&[Usage::Without, Usage::Null, Usage::Each]),
        choices: from.pick(&[1, 1, 2, 3]),
        obfuscation: from.once_in(3),
        timings: from.once_in(4),
        choices_first: from.once_in(4),
        role_always: from.once_in(5),
        twice: from.once_in(8),
        fingerprint: from.pick(&[0, 0, 12, 60, 150, 220, 400]),
    };
    let mut out = Vec::new();
    let (mut shape, mut other) = (0, 5);
    for number in 0..3 + from.below(24) {
        if from.once_in(8) {
            between(&style, from, &mut out);
        }
        match from.below(16) {
            0..=9 => {}
            // Two shapes in turn.
            10..=13 => core::mem::swap(&mut shape, &mut other),
            _ => shape = from.below(SHAPES),
        }
        let json = chunk(&style, shape, number, from);
        event(&style, &json, from, &mut out);
    }
    if from.below(4) < 3 {
        event(&style, "[DONE]", from, &mut out);
    }
    out
}

fn between(style: &Style, from: &mut Source<'_>, out: &mut Vec<u8>) {
    let line = from.pick(&[": ping", ":", "event: x", "id: 7", "retry: 3", "", "event: error", "data", "odd: 1"]);
    out.extend_from_slice(line.as_bytes());
    out.extend_from_slice(style.line_end.as_bytes());
}

fn event(style: &Style, json: &str, from: &mut Source<'_>, out: &mut Vec<u8>) {
    // Another framing now and then.
    let data = if from.once_in(20) { "data:" } else { style.data };
    let line_end = if from.once_in(20) { "\n" } else { style.line_end };
    if from.once_in(40) {
        // In two lines.
        let comma = json.find(',').unwrap_or(0);
        let (front, back) = json.split_at(comma);
        out.extend_from_slice([data, front, line_end, data, back, line_end, line_end].concat().as_bytes());
        return;
    }
    out.extend_from_slice([data, json, line_end, line_end].concat().as_bytes());
}

fn chunk(style: &Style, shape: usize, number: usize, from: &mut Source<'_>) -> String {
    let id = match style.id {
        Changes::Never => "chatcmpl-123".to_string(),
        Changes::InPlace => format!("chatcmpl-{}", 100 + number),
        Changes::InLength => format!("{}{}", "c".repeat(from.below(30)), text(from)),
    };
    let created = match style.created {
        Changes::Never => "1700000000".to_string(),
        Changes::InPlace => (1_700_000_000 + number).to_string(),
        Changes::InLength => {
            from.pick(&[
                "0",
                "7",
                "00",
                "-0",
                "1700000000",
                "9999999999999999999",
                "18446744073709551616",
                "1e3",
                "1.0",
            ])
        }
        .to_string(),
    };
    let choice = choice(style, shape, number, from);
    let choices = match shape {
        9 => "[]".to_string(),
        10 => format!("[{choice},{}]", self::choice(style, 0, number + 1, from)),
        _ => format!("[{choice}]"),
    };
    let mut members = vec![
        ("id", format!("\"{id}\"")),
        ("object", "\"chat.completion.chunk\"".to_string()),
        ("created", created),
        ("model", if from.once_in(60) { "\"other\"" } else { "\"m-5\"" }.to_string()),
        ("choices", choices),
    ];
    if style.choices_first {
        members.rotate_right(1);
    }
    if style.fingerprint > 0 {
        members.insert(4, ("system_fingerprint", format!("\"{}\"", "f".repeat(style.fingerprint))));
    }
    let count = from.below(200);
    let usage = format!("{{\"prompt_tokens\":{count},\"completion_tokens\":{number},\"d\":{{\"a\":[{count}]}}}}");
    match style.usage {
        Usage::Without => {}
        Usage::Null => members.push(("usage", "null".to_string())),
        Usage::Each => members.push(("usage", usage)),
    }
    if style.obfuscation {
        members.push(("obfuscation", format!("\"{}\"", "aZ9".repeat(from.below(9)))));
    }
    if style.timings {
        members.push(("timings", format!("{{\"n\":{number},\"t\":[{}]}}", "[".repeat(2) + &"]".repeat(2))));
    }
    if shape == 11 {
        members.push(("error", from.pick(&["null", "{\"message\":\"m\",\"code\":429}", "\"no\""]).to_string()));
    }
    if style.twice {
        let again = members[from.below(members.len())].clone();
        members.push(again);
    }
    object(style, &members)
}

fn object(style: &Style, members: &[(&str, String)]) -> String {
    let members: Vec<String> =
        members.iter().map(|(name, value)| format!("\"{name}\":{}{value}", style.space)).collect();
    format!("{{{}}}", members.join(&format!(",{}", style.space)))
}

fn choice(style: &Style, shape: usize, number: usize, from: &mut Source<'_>) -> String {
    let quoted = |from: &mut Source<'_>| format!("\"{}\"", text(from));
    let mut delta = Vec::new();
    if style.role_always || shape == 7 {
        delta.push(("role", "\"assistant\"".to_string()));
    }
    match shape {
        1 => delta.push(("reasoning_content", quoted(from))),
        2 => {
            delta.push(("reasoning", quoted(from)));
            delta.push(("content", if from.once_in(4) { quoted(from) } else { "null".to_string() }));
        }
        3 | 4 => {
            let mut calls = Vec::new();
            for place in 0..1 + from.below(8) / 7 {
                let mut call = vec![("index", (from.below(10) / 8 + place).to_string())];
                let mut function = Vec::new();
                if shape == 4 {
                    call.push(("id", format!("\"call_{number}\"")));
                    call.push(("type", "\"function\"".to_string()));
                    function.push(("name", "\"weather\"".to_string()));
                }
                function.push(("arguments", quoted(from)));
                call.push(("function", object(style, &function)));
                calls.push(object(style, &call));
            }
            delta.push(("tool_calls", format!("[{}]", calls.join(","))));
        }
        6 => delta.push(("refusal", quoted(from))),
        8 | 9 => {}
        12 => {
            delta.push(("thinking", quoted(from)));
            delta.push(("thought", quoted(from)));
            delta.push(("content", quoted(from)));
        }
        13 => {}
        _ => delta.push(("content", quoted(from))),
    }
    if style.twice && from.once_in(3) {
        delta.push(("content", quoted(from)));
    }
    let mut members = vec![("index", (number % style.choices).to_string())];
    if shape == 13 {
        members.push(("text", quoted(from)));
    } else {
        members.push(("delta", object(style, &delta)));
    }
    match shape {
        5 => {
            let bytes = from.pick(&["null", "[72,105]", "[]"]);
            let token = format!("{{\"token\":{},\"logprob\":-0.5,\"bytes\":{bytes}", quoted(from));
            members.push(("logprobs", format!("{{\"content\":[{token},\"top_logprobs\":[{token}}}]}}]}}")));
        }
        _ => members.push(("logprobs", "null".to_string())),
    }
    let reason = if shape == 8 { from.pick(&["\"stop\"", "\"length\"", "\"None\"", "\"\""]) } else { "null" };
    members.push(("finish_reason", reason.to_string()));
    object(style, &members)
}

/// What may stand in a JSON string, and some of what may not.
fn text(from: &mut Source<'_>) -> String {
    const WORDS: [&str; 24] = [
        " the",
        "Hello",
        ",",
        "\\n",
        "\\\"",
        "\\\\",
        "{",
        "}]",
        "[",
        "é",
        "世界",
        "😀",
        "\\u00e9",
        "\\ud83d\\ude00",
        "\\ud83d",
        "\\ude00",
        "\\u0000",
        "data: x",
        "[DONE]",
        "a word that is longer than a block",
        "ééééééééééééééééééééééééééééééééééé",
        "\\x",
        "\u{1}",
        "\t",
    ];
    (0..from.below(5)).map(|_| from.pick(&WORDS)).collect()
}
