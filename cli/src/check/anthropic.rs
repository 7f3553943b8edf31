//! Anthropic Messages: `message_start`, the blocks one after the other, `message_delta`, `message_stop`.

use super::findings::Findings;
use super::members::{elements, member, name, number, text};
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

/// The types of block that a type of delta belongs to. A type that is not here is newer than this table.
const DELTAS: &[(&str, &[&str])] = &[
    ("text_delta", &["text"]),
    ("citations_delta", &["text"]),
    ("thinking_delta", &["thinking"]),
    ("signature_delta", &["thinking"]),
    ("input_json_delta", &["tool_use", "server_tool_use", "mcp_tool_use"]),
    ("compaction_delta", &["compaction"]),
];

#[derive(Default)]
pub(super) struct Anthropic {
    is_started: bool,
    is_stopped: bool,
    /// Whether an event of the protocol came.
    is_seen: bool,
    /// The index and the type of the block that is open.
    open: Option<(u64, String)>,
    /// The index that the next block has.
    next: u64,
    has_delta: bool,
    has_reason: bool,
    output_tokens: u64,
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
            "content_block_stop" => self.open = None,
            "message_delta" => self.message_delta(&event, findings),
            "message_stop" => {
                self.is_stopped = true;
                self.close("message_stop", findings);
                if !self.has_reason {
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
        for part in ["id", "model"] {
            if text(&message, part).is_none() {
                findings.add(&rules::ANTHROPIC_HEAD, format_args!("the message has no `{part}`"));
            }
        }
        match text(&message, "role").as_deref() {
            Some("assistant") => {}
            role => findings.add(&rules::ANTHROPIC_HEAD, format_args!("the role is {role:?}")),
        }
        if elements(member(&message, "content")).next().is_some() {
            findings.add(&rules::ANTHROPIC_HEAD, "the message has content");
        }
        if member(&message, "usage").is_none() {
            findings.add(&rules::ANTHROPIC_USAGE, "`message_start` has none");
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
        let kind = member(event, "content_block").and_then(|block| text(&block, "type")).unwrap_or_default();
        self.open = Some((index, kind));
    }

    fn delta(&mut self, event: &Value<'_>, findings: &mut Findings) {
        if !self.is_open(event, "content_block_delta", findings) {
            return;
        }
        let kind = member(event, "delta").and_then(|delta| text(&delta, "type")).unwrap_or_default();
        let Some((index, block)) = &self.open else { return };
        let fits = |(_, blocks): &(&str, &[&str])| blocks.contains(&&**block);
        let is_known = DELTAS.iter().any(|(_, blocks)| blocks.contains(&&**block));
        match DELTAS.iter().find(|(delta, _)| *delta == kind) {
            Some(row) if is_known && !fits(row) => {
                let found = format_args!("{kind:?} came for block {index}, of type {block:?}");
                findings.add(&rules::ANTHROPIC_DELTA_TYPE, found);
            }
            _ => {}
        }
    }

    fn message_delta(&mut self, event: &Value<'_>, findings: &mut Findings) {
        self.close("message_delta", findings);
        self.has_delta = true;
        let reason = member(event, "delta").and_then(|delta| text(&delta, "stop_reason"));
        self.has_reason |= reason.is_some();
        if let Some(reason) = reason.filter(|reason| !REASONS.contains(&&**reason)) {
            findings.add(&rules::ANTHROPIC_STOP_UNKNOWN, format_args!("the stop reason is {reason:?}"));
        }
        let Some(usage) = member(event, "usage") else {
            return findings.add(&rules::ANTHROPIC_USAGE, "`message_delta` has none");
        };
        let tokens = number(&usage, "output_tokens").unwrap_or(self.output_tokens);
        if tokens < self.output_tokens {
            let before = self.output_tokens;
            findings.add(&rules::ANTHROPIC_USAGE_FALLS, format_args!("`output_tokens` is {tokens}, and was {before}"));
        }
        self.output_tokens = tokens;
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
