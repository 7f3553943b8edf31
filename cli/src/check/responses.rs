//! OpenAI Responses: lifecycle, sequence numbers, output items and their parts.

use super::findings::Findings;
use super::members::{elements, member, name, number, same, text};
use super::rules;
use deltawire::chat::Chunk;
use deltawire::json::Value;
use std::collections::BTreeMap;

/// How many items are known at a time, and how many parts of each. Those beyond are not judged.
const OPEN: usize = 1024;

/// An item that was added and is not done.
#[derive(Default)]
struct Item {
    id: Option<String>,
    /// The parts by their list and index: whether the part is open.
    parts: BTreeMap<(&'static str, u64), bool>,
}

#[derive(Default)]
pub(super) struct Responses {
    is_started: bool,
    /// The type of the event that ended the response.
    ended: Option<String>,
    sequence: Option<u64>,
    id: Option<String>,
    open: BTreeMap<u64, Item>,
    /// The index that the next item has.
    next: u64,
    done: u64,
}

/// What an event does to a part.
enum Step {
    Add,
    Go,
    End,
}

/// The list of parts that an event is about, with the member that has the index there.
fn part_of(kind: &str) -> Option<(&'static str, &'static str, Step)> {
    const TEXTS: [&str; 3] = ["output_text", "refusal", "reasoning_text"];
    let (list, step) = kind.strip_prefix("response.")?.rsplit_once('.')?;
    let step = match step {
        "added" => Step::Add,
        "delta" => Step::Go,
        "done" => Step::End,
        _ => return None,
    };
    match (list, step) {
        ("content_part", step @ (Step::Add | Step::End)) => Some(("content", "content_index", step)),
        ("reasoning_summary_part", step @ (Step::Add | Step::End)) => Some(("summary", "summary_index", step)),
        // The end of a text comes before that of its part.
        (list, Step::Go | Step::End) if TEXTS.contains(&list) => Some(("content", "content_index", Step::Go)),
        ("reasoning_summary_text", Step::Go | Step::End) => Some(("summary", "summary_index", Step::Go)),
        _ => None,
    }
}

impl Responses {
    pub(super) fn event(&mut self, chunk: &Chunk<'_>, findings: &mut Findings) {
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
        self.is_started = true;
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
        let output = elements(member(response, "output")).count() as u64;
        if output != self.done {
            let done = self.done;
            findings.add(&rules::RESPONSES_OUTPUT, format_args!("it has {output} items, and {done} were done"));
        }
        if member(response, "usage").is_none() {
            findings.add(&rules::RESPONSES_USAGE, "it has none");
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
        if self.open.len() < OPEN {
            let id = member(event, "item").and_then(|item| text(&item, "id"));
            self.open.insert(index, Item { id, ..Item::default() });
        }
    }

    /// An event of an item.
    fn inside(&mut self, index: u64, kind: &str, event: &Value<'_>, findings: &mut Findings) {
        let Some(item) = self.open.get_mut(&index) else {
            return findings.add(&rules::RESPONSES_ITEM_NOT_ADDED, format_args!("{kind:?} came for item {index}"));
        };
        let is_done = kind == "response.output_item.done";
        let id =
            if is_done { member(event, "item").and_then(|item| text(&item, "id")) } else { text(event, "item_id") };
        if let Some(id) = id.filter(|id| item.id.as_ref().is_some_and(|known| known != id)) {
            let known = item.id.as_deref().unwrap_or_default();
            findings
                .add(&rules::RESPONSES_ITEM_ID, format_args!("it is {id:?}, and that of item {index} is {known:?}"));
        }
        if is_done {
            for ((list, part), _) in item.parts.iter().filter(|(_, is_open)| **is_open) {
                findings.add(
                    &rules::RESPONSES_PART_OPEN,
                    format_args!("part {part} of the {list} of item {index} is open"),
                );
            }
            self.open.remove(&index);
            self.done += 1;
            return;
        }
        let Some((list, place, step)) = part_of(kind) else { return };
        let part = number(event, place).unwrap_or_default();
        let known = item.parts.get(&(list, part)).copied();
        match step {
            Step::Add if known.is_some() => {
                findings.add(&rules::RESPONSES_PART_TWICE, format_args!("part {part} of the {list} came once more"));
            }
            Step::Add if item.parts.len() < OPEN => drop(item.parts.insert((list, part), true)),
            Step::Add => {}
            Step::Go | Step::End if known != Some(true) && item.parts.len() < OPEN => {
                let found = format_args!("{kind:?} came for part {part} of the {list} of item {index}");
                findings.add(&rules::RESPONSES_PART_NOT_ADDED, found);
            }
            Step::Go => {}
            Step::End => drop(item.parts.insert((list, part), false)),
        }
    }

    /// `[DONE]` is the end of chat completions.
    pub(super) fn done(&mut self, findings: &mut Findings) {
        if self.ended.is_some() {
            findings.add(&rules::RESPONSES_AFTER_END, "[DONE] came");
        }
    }
}
