//! Streams generated from seeds. The generator knows their contents, so it also knows what every contender must find.

use crate::work::{Sink, Sums};
use std::fmt::Write;

/// The shapes of streams.
pub const SHAPES: [&str; 7] = ["content", "content-plain", "tools", "logprobs", "vllm-like", "alternate", "misses"];

/// Shapes only for `scripts/count.sh`. `reasoning` differs from `content` only in the member's name. `usage` has a
/// usage object in each chunk, `choices-4` and `choices-8` a text of each of 4 or 8 choices. In `misses-in-order` all
/// events have the same order of members. In `even`, which is content, each event before the usage has [`EVEN_LEN`]
/// bytes.
pub const COUNTED: [&str; 6] = ["reasoning", "usage", "choices-4", "choices-8", "misses-in-order", "even"];

/// The length in bytes of an event of the shape `even`. In slices of this length each read is one event, as it is if a
/// server sends each token at once.
pub const EVEN_LEN: usize = 335;

/// Shapes of streams of other protocols: pieces of a text, or of the arguments of 1 to 3 calls.
pub const PROTOCOLS: [&str; 5] =
    ["responses-text", "responses-tools", "anthropic-text", "anthropic-tools", "gemini-text"];

/// Shapes that are read only for their usage, one of each protocol.
pub const METERED: [&str; 4] = ["responses-text", "anthropic-text", "gemini-text", "content"];

/// Bytes that may be read after each response, because simdjson requires them.
pub const PADDING: usize = 64;

/// Returns the same bytes, with [`PADDING`] zeroes after them in the vector's spare capacity.
pub fn padded(bytes: Vec<u8>) -> Vec<u8> {
    let len = bytes.len();
    let mut padded = bytes;
    padded.resize(len + PADDING, 0);
    padded.truncate(len);
    padded
}

/// Responses of one shape, each a separate stream.
pub struct Input {
    pub name: String,
    pub responses: Vec<Vec<u8>>,
    /// What every contender must find in them.
    pub expected: Sums,
}

impl Input {
    /// Generates distinct responses of about `bytes` in total.
    ///
    /// # Panics
    ///
    /// If there is no such shape.
    pub fn new(name: &str, bytes: usize) -> Self {
        let name =
            *SHAPES.iter().chain(&COUNTED).chain(&PROTOCOLS).find(|shape| **shape == name).expect("no such shape");
        let seed = if name == "reasoning" { "content" } else { name };
        let seed = seed.bytes().fold(7, |seed: u64, byte| seed.wrapping_mul(31).wrapping_add(u64::from(byte)));
        let mut writer = Writer { random: Random(seed), out: String::new(), expected: Sink::checking() };
        let mut responses = Vec::new();
        let mut written = 0;
        while written < bytes {
            // At most a tenth more than requested, so that small inputs stay small.
            let most = 1200.min((bytes / 200).max(20));
            let events = most / 4 + writer.random.below(most - most / 4);
            if PROTOCOLS.contains(&name) {
                writer.protocol(name, events);
            } else {
                writer.response(name, events);
            }
            let response = padded(std::mem::take(&mut writer.out).into_bytes());
            written += response.len();
            responses.push(response);
        }
        Input { name: name.into(), responses, expected: writer.expected.sums }
    }

    /// Generates responses with `len` bytes of content a chunk, with an escape every 60 bytes and letters that are not
    /// ASCII.
    pub fn large(len: usize, bytes: usize) -> Self {
        let mut writer = Writer { random: Random(len as u64), out: String::new(), expected: Sink::checking() };
        let mut responses = Vec::new();
        let mut written = 0;
        while written < bytes {
            writer.large(len, (bytes / len / 4).clamp(1, 200));
            let response = padded(std::mem::take(&mut writer.out).into_bytes());
            written += response.len();
            responses.push(response);
        }
        Input { name: format!("content of {len} B"), responses, expected: writer.expected.sums }
    }

    /// Returns the responses as one file, each after its length in eight bytes.
    pub fn to_file(&self) -> Vec<u8> {
        let mut file = Vec::new();
        for response in &self.responses {
            file.extend_from_slice(&(response.len() as u64).to_le_bytes());
            file.extend_from_slice(response);
        }
        file
    }

    /// Reads the responses of such a file, without the expected results.
    pub fn from_file(mut file: &[u8]) -> Self {
        let mut responses = Vec::new();
        while let Some((len, rest)) = file.split_first_chunk() {
            let (response, rest) = rest.split_at(u64::from_le_bytes(*len) as usize);
            responses.push(padded(response.to_vec()));
            file = rest;
        }
        Input { name: String::new(), responses, expected: Sums::default() }
    }

    pub fn bytes(&self) -> usize {
        self.responses.iter().map(Vec::len).sum()
    }
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    fn below(&mut self, bound: usize) -> usize {
        ((self.next() >> 32) as usize * bound) >> 32
    }

    fn percent(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    fn alphanumeric(&mut self, len: usize) -> String {
        const ALPHABET: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
        (0..len).map(|_| char::from(ALPHABET[self.below(62)])).collect()
    }
}

/// A text, decoded and as it is written in JSON.
struct Token {
    text: String,
    json: String,
}

const WORDS: [&str; 40] = [
    " the",
    " of",
    " and",
    " to",
    " in",
    " is",
    " a",
    " that",
    " it",
    " for",
    ".",
    ",",
    " with",
    " as",
    " was",
    " on",
    " are",
    " this",
    " by",
    " model",
    " stream",
    " token",
    "ing",
    "ed",
    "s",
    " you",
    " can",
    " function",
    " return",
    " value",
    " first",
    " which",
    " because",
    " between",
    "ly",
    "tion",
    " 2",
    "0",
    " I",
    " example",
];
const ESCAPED: [&str; 8] = ["\n", "\n\n", " \"", "\"", ":\n", "\t", "\\", ".\n\n"];
const FOREIGN: [&str; 12] = ["é", " für", "ü", " naïve", "—", "’", "…", " 東京", "の", "🙂", " да", "ção"];

impl Token {
    fn plain(text: &str) -> Self {
        Token::written(text, false)
    }

    /// Escapes the text, non-ASCII characters as `\u` if `units` is true.
    fn written(text: &str, units: bool) -> Self {
        let mut json = String::new();
        for char in text.chars() {
            match char {
                '"' => json.push_str("\\\""),
                '\\' => json.push_str("\\\\"),
                '\n' => json.push_str("\\n"),
                '\t' => json.push_str("\\t"),
                char if units && !char.is_ascii() => {
                    for unit in char.encode_utf16(&mut [0; 2]) {
                        let _ = write!(json, "\\u{unit:04x}");
                    }
                }
                char => json.push(char),
            }
        }
        Token { text: text.into(), json }
    }

    /// A token of prose: 6 % with escapes, `foreign` % not ASCII, a third of those as `\u`.
    fn prose(random: &mut Random, foreign: usize) -> Self {
        let roll = random.below(100);
        if roll < 6 {
            Token::plain(ESCAPED[random.below(ESCAPED.len())])
        } else if roll < 6 + foreign {
            let units = random.percent(33);
            Token::written(FOREIGN[random.below(FOREIGN.len())], units)
        } else {
            Token::plain(WORDS[random.below(WORDS.len())])
        }
    }
}

/// Writes responses, and notes what must be found in them.
struct Writer {
    random: Random,
    out: String,
    expected: Sink,
}

/// The parts that are the same in all events of a response.
struct Head {
    before: String,
    after: &'static str,
    padding: Padding,
}

/// The obfuscation, which hides the length of the token.
#[derive(Clone, Copy)]
enum Padding {
    No,
    /// 1 to 16 characters.
    Random,
    /// As many characters as [`EVEN_LEN`] needs.
    Even,
}

impl Writer {
    fn response(&mut self, name: &str, events: usize) {
        let created = 1_750_000_000 + self.random.below(10_000_000);
        let id = self.random.alphanumeric(29);
        let print = self.random.next() & 0xff_ffff_ffff;
        let today = Head {
            before: format!(
                "{{\"id\":\"chatcmpl-{id}\",\"object\":\"chat.completion.chunk\",\"created\":{created},\
                 \"model\":\"gpt-4o-mini-2024-07-18\",\"service_tier\":\"default\",\
                 \"system_fingerprint\":\"fp_{print:010x}\",\"choices\":["
            ),
            after: "],\"usage\":null",
            padding: Padding::Random,
        };
        let plain = Head {
            before: format!(
                "{{\"id\":\"chatcmpl-{id}\",\"object\":\"chat.completion.chunk\",\"created\":{created},\
                 \"model\":\"gpt-4.1-mini\",\"system_fingerprint\":\"fp_{print:010x}\",\"choices\":["
            ),
            after: "]",
            padding: Padding::No,
        };
        match name {
            "content" => self.prose(&today, events, 1, "content"),
            "even" => self.even(&Head { padding: Padding::Even, ..today }, events),
            "reasoning" => self.prose(&today, events, 1, "reasoning_content"),
            "misses" => self.misses(events, true),
            "misses-in-order" => self.misses(events, false),
            "alternate" => self.prose(&today, events, 2, "content"),
            "content-plain" => self.prose(&plain, events, 1, "content"),
            "usage" => self.usages(&id, created, events),
            "choices-4" => self.choices(&today, events, 4),
            "choices-8" => self.choices(&today, events, 8),
            "tools" => self.tools(&today, events),
            "logprobs" => self.logprobs(&Head { padding: Padding::No, ..today }, events),
            _ => self.vllm(&id, created, events),
        }
        self.out.push_str("data: [DONE]\n\n");
        self.expected.end();
    }

    /// Writes a response of another protocol.
    fn protocol(&mut self, name: &str, events: usize) {
        match name {
            "responses-text" => self.responses(events, false),
            "responses-tools" => self.responses(events, true),
            "anthropic-text" => self.anthropic(events, false),
            "anthropic-tools" => self.anthropic(events, true),
            _ => self.gemini(events),
        }
        self.expected.end();
    }

    /// Writes an event, with this name if there is one.
    fn named(&mut self, name: &str, payload: &str) {
        self.expected.sums.events += 1;
        if !name.is_empty() {
            let _ = writeln!(self.out, "event: {name}");
        }
        let _ = write!(self.out, "data: {payload}\n\n");
    }

    /// Returns the pieces of one call's arguments, as they are written.
    fn fragment(&mut self, call: u32, turn: usize) -> String {
        const PIECES: [&str; 12] =
            ["{\"", "location", "\":\"", "Paris", ",", " France", "\",\"", "unit", "celsius", "\",", " \"", "query"];
        let piece = if turn == 0 { 0 } else { self.random.below(PIECES.len()) };
        let token = Token::plain(PIECES[piece]);
        self.expected.call(0, call);
        self.expected.arguments.push_str(&token.text);
        token.json
    }

    /// Notes that a call with this ID and name begins.
    fn begins(&mut self, call: u32, id: &str, name: &str) {
        self.expected.call(0, call);
        self.expected.call(0, call);
        self.expected.names.push_str(id);
        self.expected.names.push_str(name);
    }

    /// Writes a response of OpenAI Responses, with all the events that OpenAI sends for a text today.
    fn responses(&mut self, events: usize, tools: bool) {
        let id = format!("{:048x}", self.random.next());
        let created = 1_750_000_000 + self.random.below(10_000_000);
        let response = |status: &str, output: &str, usage: &str| {
            format!(
                "{{\"id\":\"resp_{id}\",\"object\":\"response\",\"created_at\":{created},\"status\":\"{status}\",\
                 \"background\":false,\"error\":null,\"incomplete_details\":null,\"instructions\":null,\
                 \"model\":\"gpt-4.1-nano-2025-04-14\",\"output\":[{output}],\"parallel_tool_calls\":true,\
                 \"service_tier\":\"default\",\"store\":true,\"temperature\":1.0,\"tools\":[],\"top_p\":1.0,\
                 \"usage\":{usage},\"user\":null,\"metadata\":{{}}}}"
            )
        };
        let mut sequence = 0;
        let mut event = |writer: &mut Self, name: &str, rest: &str| {
            writer.named(name, &format!("{{\"type\":\"{name}\",\"sequence_number\":{sequence},{rest}}}"));
            sequence += 1;
        };
        for name in ["response.created", "response.in_progress"] {
            event(self, name, &format!("\"response\":{}", response("in_progress", "", "null")));
        }
        let mut output = Vec::new();
        let items = if tools { 1 + self.random.below(3) } else { 1 };
        for item in 0..items as u32 {
            let id = format!("{:048x}", self.random.next());
            let mut whole = String::new();
            if tools {
                let call = format!("call_{}", self.random.alphanumeric(24));
                self.begins(item, &call, "get_weather");
                let head = format!(
                    "\"output_index\":{item},\"item\":{{\"id\":\"fc_{id}\",\"type\":\"function_call\",\"call_id\":\"{call}\",\
                     \"name\":\"get_weather\","
                );
                event(
                    self,
                    "response.output_item.added",
                    &format!("{head}\"status\":\"in_progress\",\"arguments\":\"\"}}"),
                );
                for turn in 0..events / items {
                    let json = self.fragment(item, turn);
                    whole.push_str(&json);
                    let len = 1 + self.random.below(16);
                    let pad = self.random.alphanumeric(len);
                    let rest = format!(
                        "\"item_id\":\"fc_{id}\",\"output_index\":{item},\"delta\":\"{json}\",\"obfuscation\":\"{pad}\""
                    );
                    event(self, "response.function_call_arguments.delta", &rest);
                }
                let done = format!("\"item_id\":\"fc_{id}\",\"output_index\":{item},\"arguments\":\"{whole}\"");
                event(self, "response.function_call_arguments.done", &done);
                let rest = format!("{head}\"status\":\"completed\",\"arguments\":\"{whole}\"}}");
                event(self, "response.output_item.done", &rest);
                output.push(format!(
                    "{{\"id\":\"fc_{id}\",\"type\":\"function_call\",\"call_id\":\"{call}\",\"name\":\"get_weather\",\
                     \"status\":\"completed\",\"arguments\":\"{whole}\"}}"
                ));
                continue;
            }
            let message = |status: &str, content: &str| {
                format!(
                    "{{\"id\":\"msg_{id}\",\"type\":\"message\",\"status\":\"{status}\",\"content\":[{content}],\
                     \"role\":\"assistant\"}}"
                )
            };
            let part = |text: &str| {
                format!("{{\"type\":\"output_text\",\"annotations\":[],\"logprobs\":[],\"text\":\"{text}\"}}")
            };
            let place = format!("\"item_id\":\"msg_{id}\",\"output_index\":0,\"content_index\":0");
            let added = format!("\"output_index\":0,\"item\":{}", message("in_progress", ""));
            event(self, "response.output_item.added", &added);
            event(self, "response.content_part.added", &format!("{place},\"part\":{}", part("")));
            for _ in 0..events {
                let token = Token::prose(&mut self.random, 4);
                self.expected.choice(0);
                self.expected.content.push_str(&token.text);
                let json = token.json;
                whole.push_str(&json);
                let len = 1 + self.random.below(16);
                let pad = self.random.alphanumeric(len);
                let rest = format!("{place},\"delta\":\"{json}\",\"logprobs\":[],\"obfuscation\":\"{pad}\"");
                event(self, "response.output_text.delta", &rest);
            }
            event(self, "response.output_text.done", &format!("{place},\"text\":\"{whole}\",\"logprobs\":[]"));
            event(self, "response.content_part.done", &format!("{place},\"part\":{}", part(&whole)));
            let done = format!("\"output_index\":0,\"item\":{}", message("completed", &part(&whole)));
            event(self, "response.output_item.done", &done);
            output.push(message("completed", &part(&whole)));
        }
        let (input, count) = (20 + self.random.below(2000), events);
        let total = input + count;
        self.expected.usage(input as u64, count as u64, total as u64);
        let usage = format!(
            "{{\"input_tokens\":{input},\"input_tokens_details\":{{\"cached_tokens\":0}},\"output_tokens\":{count},\
             \"output_tokens_details\":{{\"reasoning_tokens\":0}},\"total_tokens\":{total}}}"
        );
        self.expected.choice(0);
        self.expected.names.push_str("completed");
        let last = response("completed", &output.join(","), &usage);
        event(self, "response.completed", &format!("\"response\":{last}"));
    }

    /// Writes a response of Anthropic Messages, with the spaces with which it pads its events.
    fn anthropic(&mut self, events: usize, tools: bool) {
        let event = |writer: &mut Self, name: &str, rest: &str| {
            let pad = " ".repeat(writer.random.below(16));
            writer.named(name, &format!("{{\"type\":\"{name}\"{rest}{pad}}}"));
        };
        let (input, read, written) = (self.random.below(2000), self.random.below(500), self.random.below(500));
        let id = self.random.alphanumeric(24);
        let prompt = input + read + written;
        self.expected.usage(prompt as u64, 4, prompt as u64 + 4);
        let start = format!(
            ",\"message\":{{\"model\":\"claude-sonnet-4-6\",\"id\":\"msg_{id}\",\"type\":\"message\",\
             \"role\":\"assistant\",\"content\":[],\"stop_reason\":null,\"stop_sequence\":null,\
             \"usage\":{{\"input_tokens\":{input},\"cache_creation_input_tokens\":{written},\
             \"cache_read_input_tokens\":{read},\"output_tokens\":4,\"service_tier\":\"standard\"}}}}"
        );
        event(self, "message_start", &start);
        let blocks = if tools { 1 + self.random.below(3) } else { 1 };
        for block in 0..blocks as u32 {
            let content = if tools {
                let id = format!("toolu_{}", self.random.alphanumeric(24));
                self.begins(block, &id, "get_weather");
                format!("{{\"type\":\"tool_use\",\"id\":\"{id}\",\"name\":\"get_weather\",\"input\":{{}}}}")
            } else {
                "{\"type\":\"text\",\"text\":\"\"}".into()
            };
            event(self, "content_block_start", &format!(",\"index\":{block},\"content_block\":{content}"));
            for turn in 0..events / blocks {
                let delta = if tools {
                    let json = self.fragment(block, turn);
                    format!("{{\"type\":\"input_json_delta\",\"partial_json\":\"{json}\"}}")
                } else {
                    let token = Token::prose(&mut self.random, 4);
                    self.expected.choice(0);
                    self.expected.content.push_str(&token.text);
                    format!("{{\"type\":\"text_delta\",\"text\":\"{}\"}}", token.json)
                };
                event(self, "content_block_delta", &format!(",\"index\":{block},\"delta\":{delta}"));
            }
            event(self, "content_block_stop", &format!(",\"index\":{block}"));
        }
        let reason = if tools { "tool_use" } else { "end_turn" };
        self.expected.choice(0);
        self.expected.names.push_str(reason);
        self.expected.usage(0, events as u64, 0);
        let last = format!(
            ",\"delta\":{{\"stop_reason\":\"{reason}\",\"stop_sequence\":null}},\"usage\":{{\"output_tokens\":{events}}}"
        );
        event(self, "message_delta", &last);
        event(self, "message_stop", "");
    }

    /// Writes a response of Gemini, with the usage so far in each event.
    fn gemini(&mut self, events: usize) {
        let prompt = 5 + self.random.below(2000);
        let id = self.random.alphanumeric(23);
        for turn in 1..=events {
            let token = Token::prose(&mut self.random, 4);
            self.expected.choice(0);
            self.expected.content.push_str(&token.text);
            let (count, total) = (turn * 3, prompt + turn * 3);
            self.expected.usage(prompt as u64, count as u64, total as u64);
            let reason = if turn == events { ",\"finishReason\": \"STOP\"" } else { "" };
            if turn == events {
                self.expected.choice(0);
                self.expected.names.push_str("STOP");
            }
            let payload = format!(
                "{{\"candidates\": [{{\"content\": {{\"parts\": [{{\"text\": \"{}\"}}],\"role\": \"model\"}}{reason},\
                 \"index\": 0}}],\"usageMetadata\": {{\"promptTokenCount\": {prompt},\"candidatesTokenCount\": {count},\
                 \"totalTokenCount\": {total},\"promptTokensDetails\": [{{\"modality\": \"TEXT\",\"tokenCount\": {prompt}}}]}},\
                 \"modelVersion\": \"gemini-2.5-flash\",\"responseId\": \"{id}\"}}",
                token.json
            );
            self.named("", &payload);
        }
    }

    /// Writes an event with these choices.
    fn event(&mut self, head: &Head, choices: &str) {
        self.expected.sums.events += 1;
        let start = self.out.len();
        let _ = write!(self.out, "data: {}{choices}{}", head.before, head.after);
        let unpadded = self.out.len() - start + ",\"obfuscation\":\"\"}\n\n".len();
        let len = match head.padding {
            Padding::No => 0,
            Padding::Random => 1 + self.random.below(16),
            Padding::Even => EVEN_LEN.checked_sub(unpadded).expect("an event is not that long"),
        };
        if len > 0 {
            let pad = self.random.alphanumeric(len);
            let _ = write!(self.out, ",\"obfuscation\":\"{pad}\"");
        }
        self.out.push_str("}\n\n");
    }

    fn usage(&mut self, head: &Head) {
        let (prompt, completion) = (20 + self.random.below(2000), self.random.below(2000));
        let total = prompt + completion;
        self.expected.usage(prompt as u64, completion as u64, total as u64);
        let after = format!(
            "],\"usage\":{{\"prompt_tokens\":{prompt},\"completion_tokens\":{completion},\"total_tokens\":{total},\
             \"prompt_tokens_details\":{{\"cached_tokens\":0,\"audio_tokens\":0}},\
             \"completion_tokens_details\":{{\"reasoning_tokens\":0,\"audio_tokens\":0,\
             \"accepted_prediction_tokens\":0,\"rejected_prediction_tokens\":0}}}}}}\n\n"
        );
        self.expected.sums.events += 1;
        let _ = write!(self.out, "data: {}{after}", head.before);
    }

    fn finish(&mut self, head: &Head, choice: u32, reason: &str) {
        self.expected.choice(choice);
        self.expected.names.push_str(reason);
        let choices = format!("{{\"index\":{choice},\"delta\":{{}},\"logprobs\":null,\"finish_reason\":\"{reason}\"}}");
        self.event(head, &choices);
    }

    /// Writes one text in each event, in the member `content` or `reasoning_content`, of each choice in turn.
    fn prose(&mut self, head: &Head, events: usize, choices: u32, member: &str) {
        for choice in 0..choices {
            let first = format!(
                "{{\"index\":{choice},\"delta\":{{\"role\":\"assistant\",\"content\":\"\",\"refusal\":null}},\
                 \"logprobs\":null,\"finish_reason\":null}}"
            );
            self.event(head, &first);
        }
        for turn in 0..events {
            let choice = turn as u32 % choices;
            let token = Token::prose(&mut self.random, 4);
            self.expected.choice(choice);
            let texts = if member == "content" { &mut self.expected.content } else { &mut self.expected.reasoning };
            texts.push_str(&token.text);
            let json = token.json;
            let choices = format!(
                "{{\"index\":{choice},\"delta\":{{\"{member}\":\"{json}\"}},\"logprobs\":null,\"finish_reason\":null}}"
            );
            self.event(head, &choices);
        }
        for choice in 0..choices {
            self.finish(head, choice, "stop");
        }
        self.usage(head);
    }

    /// Writes a short text in each event.
    fn even(&mut self, head: &Head, events: usize) {
        let tokens =
            std::iter::repeat_with(|| Token::prose(&mut self.random, 4)).filter(|token| token.json.len() <= 15);
        let tokens: Vec<Token> = tokens.take(events).collect();
        for Token { text, json } in tokens {
            self.expected.choice(0);
            self.expected.content.push_str(&text);
            let delta = format!("\"delta\":{{\"content\":\"{json}\"}}");
            self.event(head, &format!("{{\"index\":0,{delta},\"logprobs\":null,\"finish_reason\":null}}"));
        }
        self.finish(head, 0, "stop");
        self.usage(head);
    }

    /// Writes a text of each choice in each event.
    fn choices(&mut self, head: &Head, events: usize, choices: u32) {
        let all = |choice: &mut dyn FnMut(u32) -> String| (0..choices).map(choice).collect::<Vec<_>>().join(",");
        let first = all(&mut |choice| {
            format!(
                "{{\"index\":{choice},\"delta\":{{\"role\":\"assistant\",\"content\":\"\",\"refusal\":null}},\
                 \"logprobs\":null,\"finish_reason\":null}}"
            )
        });
        self.event(head, &first);
        for _ in 0..events.div_ceil(choices as usize) {
            let texts = all(&mut |choice| {
                let token = Token::prose(&mut self.random, 4);
                self.expected.choice(choice);
                self.expected.content.push_str(&token.text);
                let json = token.json;
                format!(
                    "{{\"index\":{choice},\"delta\":{{\"content\":\"{json}\"}},\"logprobs\":null,\
                     \"finish_reason\":null}}"
                )
            });
            self.event(head, &texts);
        }
        let last = all(&mut |choice| {
            self.expected.choice(choice);
            self.expected.names.push_str("stop");
            format!("{{\"index\":{choice},\"delta\":{{}},\"logprobs\":null,\"finish_reason\":\"stop\"}}")
        });
        self.event(head, &last);
        self.usage(head);
    }

    /// Writes content with the usage so far in each chunk, as vLLM does on request for continuous usage.
    fn usages(&mut self, id: &str, created: usize, events: usize) {
        let prompt = 20 + self.random.below(2000);
        let chunk = |writer: &mut Self, choices: &str, completion: usize| {
            let total = prompt + completion;
            writer.expected.usage(prompt as u64, completion as u64, total as u64);
            writer.expected.sums.events += 1;
            let _ = write!(
                writer.out,
                "data: {{\"id\":\"chatcmpl-{id}\",\"object\":\"chat.completion.chunk\",\"created\":{created},\
                 \"model\":\"Qwen/Qwen3-8B\",\"choices\":[{choices}],\"usage\":{{\"prompt_tokens\":{prompt},\
                 \"total_tokens\":{total},\"completion_tokens\":{completion}}}}}\n\n"
            );
        };
        let choice = |delta: &str, reason: &str| {
            format!("{{\"index\":0,\"delta\":{{{delta}}},\"logprobs\":null,\"finish_reason\":{reason}}}")
        };
        chunk(self, &choice("\"role\":\"assistant\",\"content\":\"\"", "null"), 0);
        for completion in 1..=events {
            let token = Token::prose(&mut self.random, 4);
            self.expected.choice(0);
            self.expected.content.push_str(&token.text);
            chunk(self, &choice(&format!("\"content\":\"{}\"", token.json), "null"), completion);
        }
        self.expected.choice(0);
        self.expected.names.push_str("stop");
        chunk(self, &choice("", "\"stop\""), events);
        chunk(self, "", events);
    }

    fn large(&mut self, len: usize, events: usize) {
        let id = self.random.alphanumeric(29);
        let head = Head {
            before: format!(
                "{{\"id\":\"chatcmpl-{id}\",\"object\":\"chat.completion.chunk\",\"created\":1750000000,\
                 \"model\":\"gpt-4o-mini-2024-07-18\",\"system_fingerprint\":null,\"choices\":["
            ),
            after: "]",
            padding: Padding::No,
        };
        for _ in 0..events {
            let mut json = String::with_capacity(len + 64);
            while json.len() < len {
                let stop = json.len() + 60;
                while json.len() < stop {
                    let foreign = self.random.percent(8);
                    let token = match foreign {
                        true => FOREIGN[self.random.below(FOREIGN.len())],
                        false => WORDS[self.random.below(WORDS.len())],
                    };
                    json.push_str(token);
                    self.expected.content.push_str(token);
                }
                let token = Token::plain(ESCAPED[self.random.below(ESCAPED.len())]);
                json.push_str(&token.json);
                self.expected.content.push_str(&token.text);
            }
            self.expected.choice(0);
            let choices = format!(
                "{{\"index\":0,\"delta\":{{\"content\":\"{json}\"}},\"logprobs\":null,\"finish_reason\":null}}"
            );
            self.event(&head, &choices);
        }
        self.finish(&head, 0, "stop");
        self.out.push_str("data: [DONE]\n\n");
        self.expected.end();
    }

    fn tools(&mut self, head: &Head, events: usize) {
        const NAMES: [&str; 4] = ["get_weather", "search_documents", "run_query", "send_message"];
        const PIECES: [&str; 12] =
            ["{\"", "location", "\":\"", "Paris", ",", " France", "\",\"", "unit", "celsius", "\",", " \"", "query"];
        let calls = 1 + self.random.below(3);
        for call in 0..calls as u32 {
            let id = format!("call_{}", self.random.alphanumeric(24));
            let name = NAMES[self.random.below(NAMES.len())];
            self.expected.call(0, call);
            self.expected.call(0, call);
            self.expected.names.push_str(&id);
            self.expected.names.push_str(name);
            let before = if call == 0 { "\"role\":\"assistant\",\"content\":null," } else { "" };
            let after = if call == 0 { ",\"refusal\":null" } else { "" };
            let choices = format!(
                "{{\"index\":0,\"delta\":{{{before}\"tool_calls\":[{{\"index\":{call},\"id\":\"{id}\",\
                 \"type\":\"function\",\"function\":{{\"name\":\"{name}\",\"arguments\":\"\"}}}}]{after}}},\
                 \"logprobs\":null,\"finish_reason\":null}}"
            );
            self.event(head, &choices);
            for turn in 0..events / calls {
                // They begin with a brace, like an object, but the object does not end.
                let first = if turn == 0 { 0 } else { self.random.below(PIECES.len()) };
                let mut text = String::from(PIECES[first]);
                if self.random.percent(50) {
                    text.push_str(PIECES[self.random.below(PIECES.len())]);
                }
                let token = Token::plain(&text);
                self.expected.call(0, call);
                self.expected.arguments.push_str(&token.text);
                let json = token.json;
                let choices = format!(
                    "{{\"index\":0,\"delta\":{{\"tool_calls\":[{{\"index\":{call},\
                     \"function\":{{\"arguments\":\"{json}\"}}}}]}},\"logprobs\":null,\"finish_reason\":null}}"
                );
                self.event(head, &choices);
            }
        }
        self.finish(head, 0, "tool_calls");
        self.usage(head);
    }

    fn logprobs(&mut self, head: &Head, events: usize) {
        for _ in 0..events {
            let token = Token::prose(&mut self.random, 4);
            self.expected.choice(0);
            self.expected.content.push_str(&token.text);
            let first = self.token_logprob(&token);
            let top: Vec<String> = (0..5)
                .map(|nth| {
                    let other = Token::prose(&mut self.random, 2);
                    self.token_logprob(if nth == 0 { &token } else { &other }) + "}"
                })
                .collect();
            let (json, top) = (token.json, top.join(","));
            let choices = format!(
                "{{\"index\":0,\"delta\":{{\"content\":\"{json}\"}},\"logprobs\":{{\"content\":\
                 [{first},\"top_logprobs\":[{top}]}}],\"refusal\":null}},\"finish_reason\":null}}"
            );
            self.event(head, &choices);
        }
        self.finish(head, 0, "stop");
        self.usage(head);
    }

    /// Writes content in which no event is like an earlier one: each has its own ID and time, with members in any order
    /// or always in the same order.
    fn misses(&mut self, events: usize, in_any_order: bool) {
        for _ in 0..events {
            let token = Token::prose(&mut self.random, 4);
            self.expected.choice(0);
            self.expected.content.push_str(&token.text);
            let (id_len, created) = (20 + self.random.below(17), 1_750_000_000 + self.random.below(10_000_000));
            let id = self.random.alphanumeric(id_len);
            let mut members = [
                format!("\"id\":\"chatcmpl-{id}\""),
                "\"object\":\"chat.completion.chunk\"".into(),
                format!("\"created\":{created}"),
                "\"model\":\"gpt-4o-mini-2024-07-18\"".into(),
                "\"system_fingerprint\":null".into(),
                format!(
                    "\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{}\"}},\"finish_reason\":null}}]",
                    token.json
                ),
            ];
            for last in (1..members.len()).rev().filter(|_| in_any_order) {
                members.swap(last, self.random.below(last + 1));
            }
            self.expected.sums.events += 1;
            let _ = write!(self.out, "data: {{{}}}\n\n", members.join(","));
        }
    }

    /// Returns the object without its closing brace.
    fn token_logprob(&mut self, token: &Token) -> String {
        let value = self.random.below(100_000_000) as f64 / -10_000_000.0;
        let bytes: Vec<String> = token.text.bytes().map(|byte| byte.to_string()).collect();
        format!("{{\"token\":\"{}\",\"logprob\":{value},\"bytes\":[{}]", token.json, bytes.join(","))
    }

    fn vllm(&mut self, id: &str, created: usize, events: usize) {
        let first_order = self.random.percent(50);
        let model = "Qwen/Qwen3-235B-A22B-Thinking-2507";
        let ids = format!("\"id\":\"chatcmpl-{id}\",\"object\":\"chat.completion.chunk\",\"created\":{created}");
        let thinking = events / 2;
        for turn in 0..=events {
            let token = Token::prose(&mut self.random, 12);
            let (mut delta, mut reason) = (String::new(), "null".to_string());
            if turn == events {
                self.expected.choice(0);
                self.expected.names.push_str("stop");
                reason = "\"stop\"".into();
            } else {
                let (name, into) = if turn < thinking {
                    ("reasoning_content", &mut self.expected.reasoning)
                } else {
                    ("content", &mut self.expected.content)
                };
                into.push_str(&token.text);
                self.expected.choice(0);
                let _ = write!(delta, "\"{name}\":\"{}\"", token.json);
            }
            self.expected.sums.events += 1;
            let choice = if first_order {
                format!(
                    "{{\"index\":0,\"delta\":{{{delta}}},\"logprobs\":null,\"finish_reason\":{reason},\
                     \"stop_reason\":null,\"token_ids\":null}}"
                )
            } else {
                format!(
                    "{{\"delta\":{{{delta}}},\"finish_reason\":{reason},\"index\":0,\"logprobs\":null,\
                     \"stop_reason\":null,\"token_ids\":null}}"
                )
            };
            let _ = write!(self.out, "data: {{\"choices\":[{choice}],{ids},\"model\":\"{model}\"}}\n\n");
        }
    }
}
