//! Gemini `generateContent`: what each chunk repeats, finish reasons and usage.

use super::findings::Findings;
use super::members::{elements, member, number, same, text};
use super::rules;
use deltawire::chat::Chunk;
use deltawire::json::Value;
use std::collections::BTreeMap;

/// How many candidates are known. A parser has room for no more.
const CANDIDATES: usize = 128;

#[derive(Default)]
pub(super) struct Gemini {
    id: Option<String>,
    model: Option<String>,
    /// Whether the candidate of an index has a finish reason.
    candidates: BTreeMap<u64, bool>,
    is_seen: bool,
    has_usage: bool,
}

impl Gemini {
    pub(super) fn chunk(&mut self, chunk: &Chunk<'_>, findings: &mut Findings) {
        let response = Value::from_raw(chunk.payload());
        if member(&response, "error").is_some() {
            return;
        }
        self.is_seen = true;
        self.has_usage |= member(&response, "usageMetadata").is_some();
        if let Some(id) = text(&response, "responseId") {
            same(&mut self.id, id, "`responseId`", &rules::GEMINI_ID_CHANGED, findings);
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
                *self.candidates.entry(index).or_default() |= text(&candidate, "finishReason").is_some();
            }
        }
    }

    pub(super) fn finish(&mut self, findings: &mut Findings) {
        for (index, _) in self.candidates.iter().filter(|(_, is_finished)| !**is_finished) {
            findings.add(&rules::GEMINI_FINISH, format_args!("candidate {index} has none"));
        }
        if self.is_seen && !self.has_usage {
            findings.add(&rules::GEMINI_USAGE, "no usage came");
        }
    }
}
