//! Gemini `generateContent`: what each chunk repeats, finish reasons and usage.

use super::findings::Findings;
use super::members::{elements, growing, member, number, same, text};
use super::rules;
use deltawire::chat::Chunk;
use deltawire::json::Value;
use std::collections::BTreeMap;

/// How many candidates are known. A parser has room for no more.
const CANDIDATES: usize = 128;

/// Counts of all tokens so far.
const TOTALS: [&str; 2] = ["candidatesTokenCount", "totalTokenCount"];

/// The counts that add up to the total, with that of the prompt.
const ADDED: [&str; 3] = ["toolUsePromptTokenCount", "thoughtsTokenCount", "candidatesTokenCount"];

const REASONS: &[&str] = &[
    "FINISH_REASON_UNSPECIFIED",
    "STOP",
    "MAX_TOKENS",
    "SAFETY",
    "RECITATION",
    "LANGUAGE",
    "OTHER",
    "BLOCKLIST",
    "PROHIBITED_CONTENT",
    "SPII",
    "MALFORMED_FUNCTION_CALL",
    "MALFORMED_RESPONSE",
    "UNEXPECTED_TOOL_CALL",
    "TOO_MANY_TOOL_CALLS",
    "MISSING_THOUGHT_SIGNATURE",
    "IMAGE_SAFETY",
    "IMAGE_PROHIBITED_CONTENT",
    "IMAGE_RECITATION",
    "IMAGE_OTHER",
    "NO_IMAGE",
];

#[derive(Default)]
pub(super) struct Gemini {
    id: Option<String>,
    model: Option<String>,
    /// The finish reasons of the candidates, by index.
    candidates: BTreeMap<u64, Option<String>>,
    is_seen: bool,
    has_usage: bool,
    /// The last of each of [`TOTALS`].
    totals: [u64; TOTALS.len()],
}

impl Gemini {
    pub(super) fn chunk(&mut self, chunk: &Chunk<'_>, findings: &mut Findings) {
        let response = Value::from_raw(chunk.payload());
        if member(&response, "error").is_some() {
            return;
        }
        self.is_seen = true;
        if let Some(usage) = member(&response, "usageMetadata") {
            self.has_usage = true;
            growing(&usage, &TOTALS, &mut self.totals, &rules::GEMINI_USAGE_FALLS, findings);
            total(&usage, findings);
        }
        match text(&response, "responseId") {
            None => findings.add(&rules::GEMINI_ID, "the chunk has none"),
            Some(id) => same(&mut self.id, id, "`responseId`", &rules::GEMINI_ID_CHANGED, findings),
        }
        if let Some(model) = text(&response, "modelVersion") {
            same(&mut self.model, model, "`modelVersion`", &rules::GEMINI_MODEL_CHANGED, findings);
        }
        for candidate in elements(member(&response, "candidates")) {
            let index = number(&candidate, "index").unwrap_or_default();
            let role = member(&candidate, "content").and_then(|content| text(&content, "role"));
            if let Some(role) = role.filter(|role| role != "model") {
                findings.add(&rules::GEMINI_ROLE, format_args!("the role of candidate {index} is {role:?}"));
            }
            if self.candidates.len() < CANDIDATES || self.candidates.contains_key(&index) {
                let known = self.candidates.entry(index).or_default();
                judge(index, &candidate, known, findings);
            }
        }
    }

    pub(super) fn finish(&mut self, findings: &mut Findings) {
        for (index, _) in self.candidates.iter().filter(|(_, reason)| reason.is_none()) {
            findings.add(&rules::GEMINI_FINISH, format_args!("candidate {index} has none"));
        }
        if self.is_seen && !self.has_usage {
            findings.add(&rules::GEMINI_USAGE, "no usage came");
        }
    }
}

/// Judges whether a candidate goes on after its finish reason, which is `known` from an earlier chunk, and the reason.
fn judge(index: u64, candidate: &Value<'_>, known: &mut Option<String>, findings: &mut Findings) {
    let parts = member(candidate, "content").and_then(|content| member(&content, "parts"));
    // A part of an empty text is none, even with a signature.
    let has_content = elements(parts).any(|part| member(&part, "text").is_none() || text(&part, "text").is_some());
    if let Some(known) = known.as_ref().filter(|_| has_content) {
        let found = format_args!("candidate {index} has content, and had the reason {known:?}");
        findings.add(&rules::GEMINI_AFTER_FINISH, found);
    }
    let Some(reason) = text(candidate, "finishReason") else { return };
    if !REASONS.contains(&&*reason) {
        findings.add(&rules::GEMINI_FINISH_UNKNOWN, format_args!("candidate {index} finishes with {reason:?}"));
    }
    same(known, reason, &format!("the reason of candidate {index}"), &rules::GEMINI_AFTER_FINISH, findings);
}

/// Judges the total, if it and that of the prompt are there.
fn total(usage: &Value<'_>, findings: &mut Findings) {
    let (Some(prompt), Some(total)) = (number(usage, "promptTokenCount"), number(usage, "totalTokenCount")) else {
        return;
    };
    let sum = ADDED.iter().filter_map(|name| number(usage, name)).fold(prompt, u64::saturating_add);
    if sum != total {
        findings.add(&rules::GEMINI_USAGE_TOTAL, format_args!("{sum} tokens are {total} in total"));
    }
}
