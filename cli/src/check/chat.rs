//! Chat completions and legacy completions: what each chunk repeats, the order of a choice, usage and end.

use super::findings::Findings;
use super::members::{demand, elements, member, number, same, text};
use super::rules;
use deltawire::chat::{Chunk, FinishReason, Usage};
use deltawire::delta::FinishKind;
use deltawire::json::Value;
use deltawire::stream::Protocol;
use deltawire::{End, Quirk, Verdict};
use std::collections::BTreeMap;

/// How many choices are known. A parser has room for no more.
const CHOICES: usize = 128;

/// The counts of a usage.
const COUNTS: [&str; 3] = ["prompt_tokens", "completion_tokens", "total_tokens"];

#[derive(Default)]
struct Choice {
    has_role: bool,
    repeats_role: bool,
    has_call: bool,
    is_finished: bool,
}

#[derive(Default)]
pub(super) struct Chat {
    id: Option<String>,
    created: Option<u64>,
    model: Option<String>,
    object: Option<String>,
    choices: BTreeMap<u32, Choice>,
    /// The number of the event with the usage that came without choices.
    usage: Option<u64>,
    /// Whether the current chunk has choices.
    has_choices: bool,
    /// Whether it is a whole answer.
    is_body: bool,
}

impl Chat {
    pub(super) fn chunk(&mut self, chunk: &Chunk<'_>, findings: &mut Findings) {
        self.has_choices = chunk.choice_count() > 0;
        // Azure sends what its filter found in a chunk of its own, without a head.
        let is_filter = !self.has_choices && chunk.get("prompt_filter_results").is_some();
        // A whole answer, not the first of chunks without `data:`.
        let has_delta = |choice: Value<'_>| member(&choice, "delta").is_some();
        self.is_body = chunk.quirks().contains(Quirk::JsonBody) && !elements(chunk.get("choices")).any(has_delta);
        if is_filter || self.is_body || !chunk.is_completion() || chunk.error().is_some() {
            return;
        }
        self.head(chunk, findings);
        let payload = Value::from_raw(chunk.payload());
        demand(&payload, "the chunk", &["choices"], &rules::CHAT_MEMBER, findings);
        let usage = member(&payload, "usage");
        if self.usage.is_some() && (self.has_choices || usage.is_some()) {
            let what = if self.has_choices { "choices" } else { "usage" };
            findings
                .add(&rules::CHAT_USAGE_LAST, format_args!("a chunk with {what} came after the one with the usage"));
        }
        if let Some(usage) = usage {
            for count in COUNTS.iter().filter(|count| number(&usage, count).is_none()) {
                let found = member(&usage, count).map_or("none".into(), |value| format!("{value:?}"));
                findings.add(&rules::CHAT_USAGE, format_args!("`{count}` is {found}"));
            }
        }
        let is_legacy = chunk.object().is_some_and(|object| object == "text_completion");
        let content = if is_legacy { "text" } else { "delta" };
        for choice in elements(chunk.get("choices")) {
            let index = number(&choice, "index").and_then(|index| u32::try_from(index).ok()).unwrap_or_default();
            let is_new = !self.choices.contains_key(&index);
            if is_new && self.choices.len() == CHOICES {
                continue;
            }
            let known = self.choices.entry(index).or_default();
            demand(&choice, &format!("choice {index}"), &[content], &rules::CHAT_MEMBER, findings);
            if !matches!(choice.get("finish_reason"), Ok(Some(_))) {
                findings.add(&rules::CHAT_FINISH_MISSING, format_args!("choice {index} does not have it"));
            }
            let Some(delta) = member(&choice, "delta").filter(|_| !is_legacy) else { continue };
            let role = text(&delta, "role");
            let has_role = role.is_some();
            if let Some(role) = role.filter(|role| role != "assistant") {
                findings.add(&rules::CHAT_ROLE_OTHER, format_args!("the role of choice {index} is {role:?}"));
            }
            if is_new && !has_role {
                findings.add(&rules::CHAT_ROLE, format_args!("the first delta of choice {index} has no role"));
            } else if has_role && known.has_role && !known.repeats_role {
                known.repeats_role = true;
                findings.add(&rules::CHAT_ROLE_REPEATED, format_args!("choice {index} has a role once more"));
            }
            known.has_role |= has_role;
        }
    }

    /// What each chunk has and repeats.
    fn head(&mut self, chunk: &Chunk<'_>, findings: &mut Findings) {
        match chunk.id() {
            None => findings.add(&rules::CHAT_ID, "the chunk has no ID"),
            Some(id) => same(&mut self.id, id.to_string(), "the ID", &rules::CHAT_ID_CHANGED, findings),
        }
        match (chunk.created(), self.created) {
            (None, _) => findings.add(&rules::CHAT_CREATED, "the chunk has no time"),
            (Some(now), None) => self.created = Some(now),
            (Some(now), Some(first)) if now == first => {}
            (Some(now), Some(first)) => {
                findings.add(&rules::CHAT_CREATED_CHANGED, format_args!("`created` is {now}, and was {first}"));
            }
        }
        match chunk.model() {
            None => findings.add(&rules::CHAT_MODEL, "the chunk has no model"),
            Some(model) => same(&mut self.model, model.to_string(), "the model", &rules::CHAT_MODEL_CHANGED, findings),
        }
        match chunk.object() {
            Some(object) if object == "chat.completion.chunk" || object == "text_completion" => {
                same(&mut self.object, object.to_string(), "`object`", &rules::CHAT_OBJECT, findings);
            }
            Some(object) => findings.add(&rules::CHAT_OBJECT, format_args!("`object` is {object:?}")),
            None => findings.add(&rules::CHAT_OBJECT, "the chunk has no `object`"),
        }
    }

    pub(super) fn called(&mut self, choice: u32) {
        if let Some(choice) = self.choices.get_mut(&choice) {
            choice.has_call = true;
        }
    }

    pub(super) fn finished(&mut self, index: u32, reason: &FinishReason<'_>, findings: &mut Findings) {
        let Some(choice) = self.choices.get_mut(&index) else { return };
        choice.is_finished = true;
        let word = reason.text();
        // Words of the reference alone; `FinishReason::kind` also knows those of other servers.
        let is_known = reason.kind() != FinishKind::Error && reason.kind().word().is_some_and(|known| word == known);
        if !is_known {
            findings.add(&rules::CHAT_FINISH_UNKNOWN, format_args!("choice {index} finishes with {word:?}"));
        }
        if matches!(reason.kind(), FinishKind::ToolCalls | FinishKind::FunctionCall) && !choice.has_call {
            let found = format_args!("choice {index} finishes with {word:?}, and has no call");
            findings.add(&rules::CHAT_FINISH_CALL, found);
        }
    }

    pub(super) fn used(&mut self, usage: &Usage<'_>, findings: &mut Findings) {
        if self.is_body || usage.protocol() != Protocol::Chat {
            return;
        }
        if self.has_choices {
            findings.add(&rules::CHAT_USAGE_PLACE, "a chunk has usage and choices");
        } else {
            self.usage = Some(findings.event);
        }
        if let (Some(prompt), Some(completion), Some(total)) =
            (usage.prompt_tokens(), usage.completion_tokens(), usage.total_tokens())
        {
            if prompt.checked_add(completion) != Some(total) {
                let found = format_args!("{prompt} and {completion} tokens are {total} in total");
                findings.add(&rules::CHAT_USAGE_TOTAL, found);
            }
        }
    }

    pub(super) fn finish(&mut self, end: &End, findings: &mut Findings) {
        for (index, _) in self.choices.iter().filter(|(_, choice)| !choice.is_finished) {
            findings.add(&rules::CHAT_FINISH, format_args!("choice {index} has no finish reason"));
        }
        if let Some((missing, _)) = (0..).zip(self.choices.keys()).find(|(expected, index)| expected != *index) {
            findings
                .add(&rules::CHAT_INDEX, format_args!("there is a choice after {missing}, and no choice {missing}"));
        }
        // A stream that was cut is reported as such.
        if !end.done && end.verdict == Verdict::Finished {
            findings.add(&rules::CHAT_DONE, "[DONE] did not come");
        }
    }
}
