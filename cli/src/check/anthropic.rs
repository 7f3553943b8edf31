//! Anthropic Messages: `message_start`, the blocks one after the other, `message_delta`, `message_stop`.

use super::findings::Findings;
use super::members::{demand, elements, growing, member, name, number, row, same, text};
use super::rules;
use deltawire::chat::Chunk;
use deltawire::json::Value;

const REASONS: &[&str] = &[
    "end_turn",
    "max_tokens",
    "stop_sequence",
    "tool_use",
    "pause_turn",
    "refusal",
    "model_context_window_exceeded",
    "compaction",
];

type Names = &'static [&'static str];

/// The members of types of block, besides those of every tool call. A type that is not here is newer than this table.
const BLOCKS: &[(&str, Names)] = &[
    ("text", &["text"]),
    ("thinking", &["thinking", "signature"]),
    ("redacted_thinking", &["data"]),
    ("tool_use", &["input"]),
    ("server_tool_use", &["id", "name", "input"]),
    ("mcp_tool_use", &["id", "name", "input"]),
];

/// What a type of delta has, and the types of block that it belongs to. A type that is not here is newer than this
/// table.
const DELTAS: &[(&str, [Names; 2])] = &[
    ("text_delta", [&["text"], &["text"]]),
    ("citations_delta", [&["citation"], &["text"]]),
    ("thinking_delta", [&["thinking"], &["thinking"]]),
    ("signature_delta", [&["signature"], &["thinking"]]),
    ("input_json_delta", [&["partial_json"], &["tool_use", "server_tool_use", "mcp_tool_use"]]),
    ("compaction_delta", [&[], &["compaction"]]),
];

#[derive(Default)]
pub(super) struct Anthropic {
    is_started: bool,
    is_stopped: bool,
    /// Whether an event of the protocol came.
    is_seen: bool,
    /// The index and the type of the block that is open.
    open: Option<(u64, String)>,
    /// Whether that block has a signature.
    is_signed: bool,
    /// The index that the next block has.
    next: u64,
    has_delta: bool,
    /// Whether a block is a call that the client runs.
    has_tool: bool,
    reason: Option<String>,
    /// The last `output_tokens` of `message_delta`. The other counts may fall when a compaction ends.
    output_tokens: [u64; 1],
}

impl Anthropic {
    pub(super) fn event(&mut self, chunk: &Chunk<'_>, findings: &mut Findings) {
        let event = Value::from_raw(chunk.payload());
        let Some(kind) = text(&event, "type") else { return };
        name(chunk, &kind, [&rules::ANTHROPIC_NAME, &rules::ANTHROPIC_NAME_DIFFERS], findings);
        if matches!(&*kind, "ping" | "error") {
            return;
        }
        self.is_seen = true;
        if self.is_stopped {
            return findings.add(&rules::ANTHROPIC_AFTER_STOP, format_args!("{kind:?} came"));
        }
        if !self.is_started && kind != "message_start" {
            findings.add(&rules::ANTHROPIC_START, format_args!("{kind:?} came before it"));
            self.is_started = true;
        }
        match &*kind {
            "message_start" => self.start(&event, findings),
            "content_block_start" => self.block(&event, findings),
            "content_block_delta" => self.delta(&event, findings),
            "content_block_stop" if !self.is_open(&event, &kind, findings) => {}
            "content_block_stop" => {
                if let Some((index, _)) = self.open.take().filter(|(_, kind)| kind == "thinking" && !self.is_signed) {
                    findings.add(&rules::ANTHROPIC_SIGNATURE, format_args!("block {index} ended without one"));
                }
            }
            "message_delta" => self.message_delta(&event, findings),
            "message_stop" => {
                self.is_stopped = true;
                self.close("message_stop", findings);
                if self.reason.is_none() {
                    findings.add(&rules::ANTHROPIC_STOP_REASON, "no stop reason came");
                }
            }
            _ => {}
        }
    }

    fn start(&mut self, event: &Value<'_>, findings: &mut Findings) {
        if std::mem::replace(&mut self.is_started, true) {
            return findings.add(&rules::ANTHROPIC_START_TWICE, "another one came");
        }
        let Some(message) = member(event, "message") else {
            return findings.add(&rules::ANTHROPIC_HEAD, "there is no message");
        };
        demand(&message, "the message", &["id", "model", "content"], &rules::ANTHROPIC_HEAD, findings);
        for (part, expected) in [("type", "message"), ("role", "assistant")] {
            let found = text(&message, part);
            if found.as_deref() != Some(expected) {
                findings.add(&rules::ANTHROPIC_HEAD, format_args!("the {part} is {found:?}"));
            }
        }
        if elements(member(&message, "content")).next().is_some() {
            findings.add(&rules::ANTHROPIC_HEAD, "the message has content");
        }
        if let Some(reason) = text(&message, "stop_reason") {
            findings.add(&rules::ANTHROPIC_HEAD, format_args!("the message has the stop reason {reason:?}"));
        }
        match member(&message, "usage") {
            None => findings.add(&rules::ANTHROPIC_USAGE, "`message_start` has none"),
            Some(usage) => {
                let counts = ["input_tokens", "output_tokens"];
                demand(&usage, "the usage of `message_start`", &counts, &rules::ANTHROPIC_USAGE, findings);
            }
        }
    }

    fn block(&mut self, event: &Value<'_>, findings: &mut Findings) {
        self.close("content_block_start", findings);
        if self.has_delta {
            findings.add(&rules::ANTHROPIC_BLOCK_LATE, "a block came after it");
        }
        let expected = self.next;
        let index = number(event, "index").unwrap_or(expected);
        if index != expected || member(event, "index").is_none() {
            let found = member(event, "index").map_or("none".into(), |_| index.to_string());
            findings.add(&rules::ANTHROPIC_BLOCK_INDEX, format_args!("the index of block {expected} is {found}"));
        }
        self.next = index.saturating_add(1);
        demand(event, "`content_block_start`", &["content_block"], &rules::ANTHROPIC_MEMBER, findings);
        let mut kind = String::new();
        self.is_signed = false;
        if let Some(block) = member(event, "content_block") {
            let what = format!("the start of block {index}");
            demand(&block, &what, &["type"], &rules::ANTHROPIC_MEMBER, findings);
            kind = text(&block, "type").unwrap_or_default();
            self.is_signed = text(&block, "signature").is_some();
            demand(&block, &what, row(BLOCKS, &kind).copied().unwrap_or_default(), &rules::ANTHROPIC_MEMBER, findings);
        }
        self.has_tool |= kind == "tool_use";
        self.open = Some((index, kind));
    }

    fn delta(&mut self, event: &Value<'_>, findings: &mut Findings) {
        if !self.is_open(event, "content_block_delta", findings) {
            return;
        }
        demand(event, "`content_block_delta`", &["delta"], &rules::ANTHROPIC_MEMBER, findings);
        let (Some(delta), Some((index, block))) = (member(event, "delta"), &self.open) else { return };
        let what = format!("a delta of block {index}");
        demand(&delta, &what, &["type"], &rules::ANTHROPIC_MEMBER, findings);
        let kind = text(&delta, "type").unwrap_or_default();
        self.is_signed |= text(&delta, "signature").is_some();
        let Some([members, blocks]) = row(DELTAS, &kind) else { return };
        demand(&delta, &what, members, &rules::ANTHROPIC_MEMBER, findings);
        let is_known = DELTAS.iter().any(|(_, [_, blocks])| blocks.contains(&&**block));
        if is_known && !blocks.contains(&&**block) {
            let found = format_args!("{kind:?} came for block {index}, of type {block:?}");
            findings.add(&rules::ANTHROPIC_DELTA_TYPE, found);
        }
    }

    fn message_delta(&mut self, event: &Value<'_>, findings: &mut Findings) {
        self.close("message_delta", findings);
        self.has_delta = true;
        demand(event, "`message_delta`", &["delta"], &rules::ANTHROPIC_MEMBER, findings);
        if let Some(reason) = member(event, "delta").and_then(|delta| text(&delta, "stop_reason")) {
            self.stop(reason, findings);
        }
        let Some(usage) = member(event, "usage") else {
            return findings.add(&rules::ANTHROPIC_USAGE, "`message_delta` has none");
        };
        let counts = ["output_tokens"];
        demand(&usage, "the usage of `message_delta`", &counts, &rules::ANTHROPIC_USAGE, findings);
        growing(&usage, &counts, &mut self.output_tokens, &rules::ANTHROPIC_USAGE_FALLS, findings);
    }

    fn stop(&mut self, reason: String, findings: &mut Findings) {
        if !REASONS.contains(&&*reason) {
            findings.add(&rules::ANTHROPIC_STOP_UNKNOWN, format_args!("the stop reason is {reason:?}"));
        }
        let misfit = if self.has_tool { "end_turn" } else { "tool_use" };
        if self.reason.is_none() && reason == misfit {
            let tool = if self.has_tool { "a" } else { "no" };
            findings.add(&rules::ANTHROPIC_STOP_TOOL, format_args!("{reason:?} came, and {tool} `tool_use` block"));
        }
        same(&mut self.reason, reason, "the stop reason", &rules::ANTHROPIC_STOP_CHANGED, findings);
    }

    /// Whether the block of this event is open.
    fn is_open(&self, event: &Value<'_>, kind: &str, findings: &mut Findings) -> bool {
        let index = number(event, "index");
        let is_open = self.open.as_ref().is_some_and(|(open, _)| index == Some(*open));
        if !is_open {
            let index = index.map_or("none".into(), |index| index.to_string());
            let found = format_args!("{kind:?} has the index {index}, under which no block is open");
            findings.add(&rules::ANTHROPIC_BLOCK_NOT_OPEN, found);
        }
        is_open
    }

    /// Closes the block that is open, if one is, because of an event that may not come inside it.
    fn close(&mut self, kind: &str, findings: &mut Findings) {
        if let Some((index, _)) = self.open.take() {
            findings.add(&rules::ANTHROPIC_BLOCK_NESTED, format_args!("{kind:?} came while block {index} was open"));
        }
    }

    /// `[DONE]` is the end of chat completions.
    pub(super) fn done(&mut self, findings: &mut Findings) {
        if self.is_stopped {
            findings.add(&rules::ANTHROPIC_AFTER_STOP, "[DONE] came");
        }
    }

    pub(super) fn finish(&mut self, findings: &mut Findings) {
        if self.is_seen && !self.is_stopped {
            findings.add(&rules::ANTHROPIC_STOP, "it did not come");
        }
    }
}
