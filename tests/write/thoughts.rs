//! Signatures and redacted reasoning survive: what a client has to send back is the same in every protocol, in the same
//! order among texts and calls.

use super::naive::check;
use super::translate::{reads, translate, whole, TARGETS};
use crate::common::corpus::{native, recorded, samples};
use deltawire::stream::Protocol;
use deltawire::write::Head;
use serde_json::Value;

/// A part of a response, as a client keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Block {
    Thinking(String, Option<String>),
    Redacted(String),
    Text(String),
    /// Name, arguments, and the signature that Gemini demands back.
    Call(String, Value, Option<String>),
}

use Block::{Call, Redacted, Text, Thinking};

/// The blocks so far. Texts that follow one another are one, because no protocol tells where one ends.
#[derive(Default)]
struct Blocks(Vec<Block>);

impl Blocks {
    fn text(&mut self, more: &str) {
        match self.0.last_mut() {
            Some(Text(text)) => text.push_str(more),
            _ if more.is_empty() => {}
            _ => self.0.push(Text(more.into())),
        }
    }

    fn thinking(&mut self, more: &str) {
        match self.0.last_mut() {
            Some(Thinking(text, None)) => text.push_str(more),
            _ if more.is_empty() => {}
            _ => self.0.push(Thinking(more.into(), None)),
        }
    }

    fn signature(&mut self, more: &str) {
        match self.0.last_mut() {
            Some(Thinking(_, signature @ None)) => *signature = Some(more.into()),
            _ => self.0.push(Thinking(String::new(), Some(more.into()))),
        }
    }

    /// A reasoning that is whole.
    fn reasoning(&mut self, text: &str, secret: &str) {
        match secret.strip_prefix("redacted_thinking:") {
            Some(data) => self.0.push(Redacted(data.into())),
            None => {
                self.thinking(text);
                if !secret.is_empty() {
                    self.signature(secret);
                }
            }
        }
    }

    fn call(&mut self, name: &str, arguments: &str) {
        let arguments = if arguments.is_empty() { "{}" } else { arguments };
        let arguments = serde_json::from_str(arguments).unwrap_or_else(|_| Value::String(arguments.into()));
        self.0.push(Call(name.into(), arguments, None));
    }
}

fn word(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// The events of a stream, or what a body has instead.
fn events(stream: &str) -> Vec<Value> {
    match serde_json::from_str(stream) {
        Ok(Value::Array(events)) => events,
        Ok(body) => vec![body],
        Err(_) => {
            let data = stream.lines().filter_map(|line| line.strip_prefix("data:"));
            data.filter_map(|data| serde_json::from_str(data).ok()).collect()
        }
    }
}

/// Reads the blocks of a stream of Anthropic Messages naively.
fn anthropic(stream: &str) -> Vec<Block> {
    let (mut blocks, mut call) = (Blocks::default(), None::<(String, String)>);
    for event in events(stream) {
        let (block, delta) = (&event["content_block"], &event["delta"]);
        match (word(&event["type"]), word(&block["type"]), word(&delta["type"])) {
            ("content_block_start", "redacted_thinking", _) => blocks.0.push(Redacted(word(&block["data"]).into())),
            ("content_block_start", "thinking", _) => {
                blocks.reasoning(word(&block["thinking"]), word(&block["signature"]))
            }
            ("content_block_start", "text", _) => blocks.text(word(&block["text"])),
            ("content_block_start", "tool_use", _) => {
                let whole = block["input"].as_object().filter(|input| !input.is_empty());
                let input = whole.map_or(String::new(), |input| serde_json::to_string(input).unwrap());
                call = Some((word(&block["name"]).into(), input));
            }
            ("content_block_delta", _, "text_delta") => blocks.text(word(&delta["text"])),
            ("content_block_delta", _, "thinking_delta") => blocks.thinking(word(&delta["thinking"])),
            ("content_block_delta", _, "signature_delta") => blocks.signature(word(&delta["signature"])),
            ("content_block_delta", _, "input_json_delta") => {
                if let Some((_, input)) = &mut call {
                    input.push_str(word(&delta["partial_json"]));
                }
            }
            ("content_block_stop" | "message_delta", ..) => {
                if let Some((name, input)) = call.take() {
                    blocks.call(&name, &input);
                }
            }
            _ => {}
        }
    }
    blocks.0
}

/// Reads the items of a stream of Responses that are done.
fn responses(stream: &str) -> Vec<Block> {
    let mut blocks = Blocks::default();
    for event in events(stream).iter().filter(|event| event["type"] == "response.output_item.done") {
        let item = &event["item"];
        match word(&item["type"]) {
            "reasoning" => {
                let parts = list(&item["summary"]).iter().chain(list(&item["content"]));
                let text: String = parts.map(|part| word(&part["text"])).collect();
                blocks.reasoning(&text, word(&item["encrypted_content"]));
            }
            "message" => list(&item["content"]).iter().for_each(|part| blocks.text(word(&part["text"]))),
            "function_call" => blocks.call(word(&item["name"]), word(&item["arguments"])),
            _ => {}
        }
    }
    blocks.0
}

/// Reads the first choice of a stream of chat completions.
fn chat(stream: &str) -> Vec<Block> {
    let (mut blocks, mut calls) = (Blocks::default(), Vec::<(usize, String)>::new());
    for event in events(stream) {
        for choice in list(&event["choices"]).iter().filter(|choice| choice["index"] == 0) {
            let delta = &choice["delta"];
            blocks.text(word(&delta["content"]));
            blocks.thinking(word(&delta["reasoning_content"]));
            for detail in list(&delta["reasoning_details"]) {
                match word(&detail["type"]) {
                    "reasoning.encrypted" => blocks.0.push(Redacted(word(&detail["data"]).into())),
                    _ => blocks.signature(word(&detail["signature"])),
                }
            }
            for call in list(&delta["tool_calls"]) {
                let index = call["index"].as_u64().unwrap() as usize;
                if index == calls.len() {
                    calls.push((blocks.0.len(), String::new()));
                    blocks.call(word(&call["function"]["name"]), "");
                }
                let (place, text) = &mut calls[index];
                text.push_str(word(&call["function"]["arguments"]));
                let Call(_, arguments, signature) = &mut blocks.0[*place] else { unreachable!() };
                *arguments = serde_json::from_str(text).unwrap_or(Value::String(text.clone()));
                let own = &call["extra_content"]["google"]["thought_signature"];
                *signature = own.as_str().map(str::to_string).or(signature.take());
            }
        }
    }
    blocks.0
}

/// Reads the parts of the first candidate of Gemini.
fn gemini(stream: &str) -> Vec<Block> {
    let mut blocks = Blocks::default();
    for event in events(stream) {
        for part in event["candidates"].get(0).map_or(&[][..], |candidate| list(&candidate["content"]["parts"])) {
            match part["thought"] == true {
                true => blocks.thinking(word(&part["text"])),
                false => blocks.text(word(&part["text"])),
            }
            let signature = part["thoughtSignature"].as_str();
            if let Some(call) = part["functionCall"].as_object() {
                let arguments = call.get("args").map_or(String::new(), Value::to_string);
                blocks.call(word(&call["name"]), &arguments);
                let Some(Call(_, _, own)) = blocks.0.last_mut() else { unreachable!() };
                *own = signature.map(str::to_string);
            } else if let Some(signature) = signature {
                blocks.signature(signature);
            }
        }
    }
    blocks.0
}

fn blocks(protocol: Protocol, stream: &str) -> Vec<Block> {
    match protocol {
        Protocol::Chat => chat(stream),
        Protocol::Anthropic => anthropic(stream),
        Protocol::Responses => responses(stream),
        _ => gemini(stream),
    }
}

fn is_secret(block: &Block) -> bool {
    matches!(block, Redacted(_) | Thinking(_, Some(_)) | Call(_, _, Some(_)))
}

/// Translates a stream to each protocol, and each result to each protocol, and checks that all of them have these blocks.
fn assert_blocks(name: &str, stream: &str, expected: &[Block]) {
    for to in TARGETS {
        let first = whole(to, stream);
        let cut = translate(to, &Head::new("", "", 0), reads(stream.as_bytes(), 7), (0, 1));
        assert_eq!(cut.text(), first.text(), "{name} to {to}, in pieces");
        assert_eq!(blocks(to, first.text()), expected, "{name} to {to}\n{}", first.text());
        for back in TARGETS {
            let second = whole(back, first.text());
            check(back, second.text());
            assert_eq!(blocks(back, second.text()), expected, "{name} to {to}, to {back}\n{}", second.text());
        }
    }
}

fn signed(text: &str, signature: &str) -> Block {
    Thinking(text.into(), Some(signature.into()))
}

#[test]
fn recordings_of_anthropic_keep_signatures_and_redacted_blocks_in_order() {
    let (mut streams, mut secrets) = (samples(), 0);
    streams.extend(native("thoughts").into_iter().filter(|stream| !stream.name.starts_with("native-")));
    let is_own = |stream: &str| stream.contains("event: message_start") && stream.contains("event: message_stop");
    for stream in streams {
        let text = String::from_utf8_lossy(&stream.bytes);
        if is_own(&text) {
            let expected = anthropic(&text);
            secrets += expected.iter().filter(|block| is_secret(block)).count();
            assert_blocks(&stream.name, &text, &expected);
        }
    }
    assert!(secrets >= 5 || std::env::var_os("DELTAWIRE_CORPUS").is_none(), "{secrets}");
}

#[test]
fn every_stream_has_the_same_blocks_whichever_way_it_goes() {
    let (mut streams, mut secrets) = (samples(), 0);
    streams.extend(recorded("thoughts"));
    streams.extend(native("thoughts").into_iter().filter(|stream| !stream.name.starts_with("native-")));
    for stream in streams {
        let text = String::from_utf8_lossy(&stream.bytes);
        let straight = whole(Protocol::Anthropic, &text);
        let expected = anthropic(straight.text());
        secrets += expected.iter().filter(|block| is_secret(block)).count();
        for by in [Protocol::Chat, Protocol::Responses] {
            let there = whole(by, &text);
            let back = whole(Protocol::Anthropic, there.text());
            if straight.left_out.1 + there.left_out.1 == 0 && straight.is_complete {
                assert_eq!(anthropic(back.text()), expected, "{} by {by}\n{}", stream.name, there.text());
            }
        }
    }
    assert!(secrets >= 15 || std::env::var_os("DELTAWIRE_CORPUS").is_none(), "{secrets}");
}

#[test]
fn recordings_of_gemini_keep_the_signatures_of_calls_with_the_calls() {
    let mut secrets = 0;
    for stream in native("thoughts") {
        let text = String::from_utf8_lossy(&stream.bytes);
        // Arguments by path have a test of their own.
        if text.contains("thoughtSignature") && !text.contains("partialArgs") && !stream.name.starts_with("native-") {
            let expected = gemini(&text);
            secrets += expected.iter().filter(|block| is_secret(block)).count();
            let got = whole(Protocol::Chat, &text);
            assert_eq!(chat(got.text()), expected, "{}\n{}", stream.name, got.text());
        }
    }
    assert!(secrets >= 4 || std::env::var_os("DELTAWIRE_CORPUS").is_none(), "{secrets}");
}

/// A stream of chat completions with these deltas.
fn chunks(deltas: &[&str]) -> String {
    let chunk =
        |delta: &&str| format!("data: {{\"id\":\"c\",\"choices\":[{{\"index\":0,\"delta\":{{{delta}}}}}]}}\n\n");
    deltas.iter().map(chunk).collect::<String>() + "data: [DONE]\n\n"
}

#[test]
fn reasoning_details_are_written_in_the_order_in_which_they_came() {
    let expected = [
        signed("alpha", "S1"),
        Redacted("UkVE".into()),
        signed("beta", "S2"),
        signed("", "S3"),
        Text("Hi".into()),
        Call("f".into(), Value::Object(Default::default()), None),
    ];
    let call = r#""tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]"#;
    let deltas = [
        r#""reasoning":"alp","reasoning_details":[{"type":"reasoning.text","text":"alp","index":0}]"#,
        r#""reasoning":"ha","reasoning_details":[{"type":"reasoning.text","text":"ha","index":0}]"#,
        r#""content":"","reasoning_details":[{"type":"reasoning.text","signature":"S1","index":0}]"#,
        r#""reasoning_details":[{"type":"reasoning.encrypted","data":"UkVE","format":"anthropic-claude-v1","index":1}]"#,
        r#""reasoning":"beta","reasoning_details":[{"type":"reasoning.text","text":"beta","index":2}]"#,
        r#""reasoning_details":[{"type":"reasoning.text","signature":"S2","index":2},{"type":"reasoning.text","signature":"S3","index":3}]"#,
        r#""content":"Hi""#,
        call,
    ];
    assert_blocks("deltas", &chunks(&deltas), &expected);
    // All in one delta, with the text of all entries beside them, or only in the entries.
    let details = r#""reasoning_details":[{"type":"reasoning.text","text":"alpha","signature":"S1"},{"type":"reasoning.encrypted","data":"UkVE"},{"type":"reasoning.text","text":"beta","signature":"S2"},{"type":"reasoning.text","text":"","signature":"S3"}]"#;
    assert_blocks(
        "at once",
        &chunks(&[&format!(r#"{details},"reasoning":"alpha beta","content":"Hi""#), call]),
        &expected,
    );
    assert_blocks("alone", &chunks(&[&format!(r#""content":"Hi",{details}"#), call]), &expected);
    let body = format!(
        r#"{{"id":"c","object":"chat.completion","choices":[{{"index":0,"message":{{"role":"assistant","content":"Hi",{details},{call}}},"finish_reason":"tool_calls"}}]}}"#
    );
    assert_blocks("body", &body, &expected);
    // A whole message repeats the deltas: only what they did not have is new.
    let repeated = r#""message":{"reasoning":"alpha","reasoning_details":[{"type":"reasoning.text","text":"alpha","signature":"S1"}]}"#;
    let first = &chunks(&deltas[..2]).replace("data: [DONE]\n\n", "");
    let then = format!("data: {{\"choices\":[{{\"index\":0,{repeated}}}]}}\n\n");
    assert_blocks("repeated", &(first.clone() + &then + &then + "data: [DONE]\n\n"), &expected[..1]);
    // An entry of another type keeps its text.
    let odd = r#""reasoning_details":[{"text":"al"},{"type":"reasoning.text","text":"pha","signature":"S1"}]"#;
    assert_blocks("odd", &chunks(&[odd]), &expected[..1]);
    // The signature of the text beside it.
    let beside = [
        r#""reasoning":"al""#,
        r#""reasoning_details":[{"type":"reasoning.text","signature":"S1"}],"reasoning":"pha""#,
    ];
    assert_blocks("beside", &chunks(&beside), &expected[..1]);
    // The secrets of other vendors are signatures.
    let other = r#""reasoning_details":[{"type":"reasoning.encrypted","data":"gAAA","format":"openai-responses-v1","id":"rs_1"}]"#;
    for to in [Protocol::Anthropic, Protocol::Responses] {
        assert_eq!(blocks(to, whole(to, &chunks(&[other])).text()), [signed("", "gAAA")]);
    }
    let kept = whole(Protocol::Chat, &chunks(&[other]));
    assert!(kept.text().contains(&format!("\"delta\":{{{other}}}")), "{}", kept.text());
}

#[test]
fn the_signature_of_a_call_follows_the_call() {
    let call = |index: u32, arguments: &str, rest: &str| {
        format!(
            r#""tool_calls":[{{"index":{index},"id":"c{index}","type":"function","function":{{"name":"f","arguments":"{arguments}"}}{rest}}}]"#
        )
    };
    let signature = r#","extra_content":{"google":{"thought_signature":"S1"}}"#;
    let more = r#""tool_calls":[{"index":0,"function":{"arguments":":1}"}}]"#;
    let deltas =
        [call(0, r#"{\"a\""#, signature), more.to_string(), call(1, "{}", ""), r#""content":"Hi""#.to_string()];
    let stream = chunks(&deltas.each_ref().map(String::as_str));
    let made = |arguments: &str, own: Option<&str>| {
        Call("f".into(), serde_json::from_str(arguments).unwrap(), own.map(str::to_string))
    };
    assert_eq!(chat(whole(Protocol::Chat, &stream).text())[..2], [made("{\"a\":1}", Some("S1")), made("{}", None)]);
    for to in [Protocol::Anthropic, Protocol::Responses] {
        let got = whole(to, &stream);
        assert_eq!(translate(to, &Head::new("", "", 0), reads(stream.as_bytes(), 7), (0, 1)), got, "{to}, in pieces");
        assert_eq!(got.left_out, (0, 0), "{to}");
        check(to, got.text());
        let expected = [made("{\"a\":1}", None), signed("", "S1"), made("{}", None), Text("Hi".into())];
        assert_eq!(blocks(to, got.text()), expected, "{to}");
    }
}

/// A text ends the call that is open, and the signature of that call precedes it, though another call waits. That depends on
/// neither memory nor buffer.
#[test]
fn a_signature_precedes_the_text_that_ends_its_call() {
    let calls = r#""tool_calls":[{"index":0,"id":"c","type":"function","function":{"name":"f","arguments":"{"},"extra_content":{"google":{"thought_signature":"S1"}}},{"index":1,"id":"d","type":"function"}]"#;
    let stream = chunks(&[calls, r#""content":"Hi""#, r#""content":" there""#]);
    let cut = Call("f".into(), "{".into(), None);
    for to in [Protocol::Anthropic, Protocol::Responses] {
        for room in (0..1000).step_by(50) {
            let got = translate(to, &Head::new("", "", 0), reads(stream.as_bytes(), 7), (0, room));
            check(to, got.text());
            let expected = [cut.clone(), signed("", "S1"), Text("Hi there".into())];
            assert_eq!(blocks(to, got.text())[..3], expected, "{to} {room}");
        }
    }
}

/// So does the signature precede the annotation that ends its call.
#[test]
fn a_signature_precedes_the_annotation_that_ends_its_call() {
    let call = r#""tool_calls":[{"index":0,"id":"c","type":"function","function":{"name":"f","arguments":"{}"},"extra_content":{"google":{"thought_signature":"S1"}}}]"#;
    let note = r#""annotations":[{"type":"url_citation","url_citation":{"url":"https://a.example","title":"t"}}]"#;
    let stream = chunks(&[call, note, r#""content":"Hi""#]);
    for to in [Protocol::Anthropic, Protocol::Responses] {
        let all = whole(to, &stream);
        check(to, all.text());
        let expected = [Call("f".into(), serde_json::json!({}), None), signed("", "S1")];
        assert_eq!(blocks(to, all.text())[..2], expected, "{to}");
        for room in (0..1500).step_by(50) {
            let got = translate(to, &Head::new("", "", 0), reads(stream.as_bytes(), 7), (0, room));
            assert_eq!(got.text(), all.text(), "{to} {room}");
        }
    }
}

/// What has no place, and what says nothing of a part, ends no call.
#[test]
fn nothing_but_another_part_ends_a_call_that_has_a_signature() {
    let head = r#""tool_calls":[{"index":0,"id":"c","type":"function","function":{"name":"f","arguments":"{\"a\""},"extra_content":{"google":{"thought_signature":"S1"}}}]"#;
    let more = r#""tool_calls":[{"index":0,"function":{"arguments":":1}"},"extra_content":{"google":{"thought_signature":"S1"}}}]"#;
    let other = "data: {\"id\":\"c\",\"choices\":[{\"index\":1,\"delta\":{\"content\":\"no\"}}]}\n\n";
    let stream = format!(
        "{}{other}{}",
        chunks(&[head]).trim_end_matches("data: [DONE]\n\n"),
        chunks(&[more, r#""images":[1],"content":null"#, r#""content":"Hi""#])
    );
    let call = Call("f".into(), serde_json::from_str("{\"a\":1}").unwrap(), None);
    for to in [Protocol::Anthropic, Protocol::Responses] {
        let got = whole(to, &stream);
        check(to, got.text());
        assert_eq!(blocks(to, got.text()), [call.clone(), signed("", "S1"), Text("Hi".into())], "{to}");
    }
}

/// A member that is no JSON is left out, and counted; the stream goes on.
#[test]
fn a_member_that_is_no_json_is_left_out() {
    let got = whole(Protocol::Chat, &chunks(&[r#""content":"a","foo":[NaN]"#, r#""content":"b""#]));
    assert_eq!(chat(got.text()), [Text("ab".into())]);
    assert_eq!(got.left_out, (1, 0));
    assert!(got.text().ends_with("data: [DONE]\n\n") && !got.text().contains("error"), "{}", got.text());
}
