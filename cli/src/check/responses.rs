//! OpenAI Responses: lifecycle, sequence numbers, and what the whole output repeats.

use super::findings::Findings;
use super::items::{self, Item, OPEN};
use super::members::{demand, elements, member, name, number, same, text};
use super::rules;
use deltawire::chat::Chunk;
use deltawire::json::Value;
use std::collections::BTreeMap;

/// The events that have the response.
const LIFECYCLE: &[&str] = &[
    "response.created",
    "response.queued",
    "response.in_progress",
    "response.completed",
    "response.incomplete",
    "response.failed",
];

/// What the response has.
const HEAD: &[&str] = &["id", "model", "created_at", "output"];

#[derive(Default)]
pub(super) struct Responses {
    /// How long an event may be that is whole.
    max_event_len: u64,
    /// Whether the parser left out of the event what other events report.
    is_reduced: bool,
    is_started: bool,
    is_created: bool,
    /// The type of the event that ended the response.
    ended: Option<String>,
    sequence: Option<u64>,
    id: Option<String>,
    model: Option<String>,
    created_at: Option<String>,
    open: BTreeMap<u64, Item>,
    /// The index that the next item has.
    next: u64,
    done: u64,
    /// The IDs of items that are done, by index.
    ids: BTreeMap<u64, String>,
}

impl Responses {
    pub(super) fn new(max_event_len: u32) -> Self {
        Responses { max_event_len: max_event_len.into(), ..Responses::default() }
    }

    pub(super) fn event(&mut self, chunk: &Chunk<'_>, findings: &mut Findings) {
        let wire = chunk.wire_range();
        self.is_reduced = wire.end.saturating_sub(wire.start) > self.max_event_len;
        let event = Value::from_raw(chunk.payload());
        let Some(kind) = text(&event, "type") else { return };
        name(chunk, &kind, [&rules::RESPONSES_NAME, &rules::RESPONSES_NAME_DIFFERS], findings);
        self.number(&event, findings);
        if let Some(ended) = &self.ended {
            return findings.add(&rules::RESPONSES_AFTER_END, format_args!("{kind:?} came after {ended:?}"));
        }
        if kind == "error" {
            return;
        }
        if !self.is_started && !matches!(&*kind, "response.created" | "response.queued") {
            findings.add(&rules::RESPONSES_START, format_args!("{kind:?} came before it"));
        }
        if kind == "response.created" && std::mem::replace(&mut self.is_created, true) {
            findings.add(&rules::RESPONSES_START_TWICE, "it came once more");
        }
        self.is_started = true;
        if LIFECYCLE.contains(&&*kind) {
            demand(&event, &format!("{kind:?}"), &["response"], &rules::RESPONSES_MEMBER, findings);
        }
        items::demand_members(&kind, &event, findings);
        if let Some(response) = member(&event, "response") {
            self.response(&kind, &response, findings);
        } else if kind == "response.output_item.added" {
            self.add(&event, findings);
        } else if let Some(index) = number(&event, "output_index") {
            self.inside(index, &kind, &event, findings);
        }
    }

    /// A keep-alive has a number, too.
    pub(super) fn keep_alive(&mut self, event: &Value<'_>, findings: &mut Findings) {
        if number(event, "sequence_number").is_some() {
            self.number(event, findings);
        }
    }

    fn number(&mut self, event: &Value<'_>, findings: &mut Findings) {
        let Some(number) = number(event, "sequence_number") else {
            return findings.add(&rules::RESPONSES_SEQUENCE, "the event has none");
        };
        match self.sequence.replace(number) {
            Some(before) if before.checked_add(1) != Some(number) => {
                findings.add(&rules::RESPONSES_SEQUENCE_ORDER, format_args!("{number} came after {before}"));
            }
            _ => {}
        }
    }

    /// An event that has the response.
    fn response(&mut self, kind: &str, response: &Value<'_>, findings: &mut Findings) {
        if let Some(id) = text(response, "id") {
            same(&mut self.id, id, "the ID", &rules::RESPONSES_ID_CHANGED, findings);
        }
        if !self.is_reduced {
            demand(response, "the response", HEAD, &rules::RESPONSES_MEMBER, findings);
        }
        let time = member(response, "created_at").map(|time| String::from_utf8_lossy(time.raw()).into_owned());
        for (first, now, what) in
            [(&mut self.model, text(response, "model"), "`model`"), (&mut self.created_at, time, "`created_at`")]
        {
            if let Some(now) = now {
                same(first, now, what, &rules::RESPONSES_CHANGED, findings);
            }
        }
        let (status, named) = (text(response, "status"), kind.trim_start_matches("response."));
        let expected: &[&str] = match named {
            "created" => &["in_progress", "queued"],
            "in_progress" | "queued" | "completed" | "incomplete" | "failed" => &[named],
            _ => return,
        };
        if !expected.contains(&status.as_deref().unwrap_or_default()) {
            findings.add(&rules::RESPONSES_STATUS, format_args!("{kind:?} has the status {status:?}"));
        }
        if !matches!(named, "completed" | "incomplete" | "failed") {
            return;
        }
        self.ended = Some(kind.to_owned());
        if named != "completed" {
            return;
        }
        for index in self.open.keys() {
            findings.add(&rules::RESPONSES_ITEM_OPEN, format_args!("item {index} is open"));
        }
        if let Some(output) = member(response, "output").filter(|_| !self.is_reduced) {
            self.output(output, findings);
        }
        let Some(usage) = member(response, "usage") else {
            return findings.add(&rules::RESPONSES_USAGE, "it has none");
        };
        let [input, output, total] = ["input_tokens", "output_tokens", "total_tokens"].map(|name| number(&usage, name));
        if let (Some(input), Some(output), Some(total)) = (input, output, total) {
            if input.checked_add(output) != Some(total) {
                let found = format_args!("{input} and {output} tokens are {total} in total");
                findings.add(&rules::RESPONSES_USAGE_TOTAL, found);
            }
        }
    }

    /// Compares the whole output with the items that were done.
    fn output(&self, output: Value<'_>, findings: &mut Findings) {
        let mut items = 0;
        for item in elements(Some(output)) {
            if let (Some(id), Some(done)) = (text(&item, "id"), self.ids.get(&items)) {
                if id != *done {
                    findings.add(&rules::RESPONSES_OUTPUT, format_args!("item {items} is {id:?}, and was {done:?}"));
                }
            }
            items += 1;
        }
        if items != self.done {
            let done = self.done;
            findings.add(&rules::RESPONSES_OUTPUT, format_args!("it has {items} items, and {done} were done"));
        }
    }

    fn add(&mut self, event: &Value<'_>, findings: &mut Findings) {
        let expected = self.next;
        let index = number(event, "output_index").unwrap_or(expected);
        if index < expected {
            findings.add(&rules::RESPONSES_ITEM_TWICE, format_args!("item {index} is added once more"));
        } else if index > expected || member(event, "output_index").is_none() {
            findings.add(&rules::RESPONSES_ITEM_INDEX, format_args!("the item after {expected} others has {index}"));
        }
        self.next = expected.max(index.saturating_add(1));
        let item = Item::added(index, event, findings);
        if self.open.len() < OPEN {
            self.open.insert(index, item);
        }
    }

    /// An event of an item.
    fn inside(&mut self, index: u64, kind: &str, event: &Value<'_>, findings: &mut Findings) {
        let Some(item) = self.open.get_mut(&index) else {
            return findings.add(&rules::RESPONSES_ITEM_NOT_ADDED, format_args!("{kind:?} came for item {index}"));
        };
        if kind != "response.output_item.done" {
            return item.event(kind, event, findings);
        }
        item.done(event, findings);
        self.open.remove(&index);
        self.done += 1;
        if let Some(id) = member(event, "item").and_then(|item| text(&item, "id")) {
            if self.ids.len() < OPEN {
                self.ids.insert(index, id);
            }
        }
    }

    /// `[DONE]` is the end of chat completions.
    pub(super) fn done(&mut self, findings: &mut Findings) {
        if self.ended.is_some() {
            findings.add(&rules::RESPONSES_AFTER_END, "[DONE] came");
        }
    }
}
