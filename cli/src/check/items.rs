//! OpenAI Responses: an output item, from its start to its end, with its parts and texts.

use super::findings::Findings;
use super::members::{demand, member, number, row, text};
use super::rules::{self, Rule};
use deltawire::json::Value;
use std::collections::BTreeMap;

/// How many items are known at a time, and how many parts and texts of each. Those beyond are not judged.
pub(super) const OPEN: usize = 1024;

/// What is written piece by piece: its list of parts, the type of the part, and the member that has it whole. An empty
/// list is that of the item itself.
struct Written {
    list: &'static str,
    part: &'static str,
    whole: &'static str,
}

const fn written(list: &'static str, part: &'static str, whole: &'static str) -> Written {
    Written { list, part, whole }
}

const WRITTEN: &[(&str, Written)] = &[
    ("output_text", written("content", "output_text", "text")),
    ("refusal", written("content", "refusal", "refusal")),
    ("reasoning_text", written("content", "reasoning_text", "text")),
    ("reasoning_summary_text", written("summary", "summary_text", "text")),
    ("function_call_arguments", written("", "", "arguments")),
    ("mcp_call_arguments", written("", "", "arguments")),
    ("custom_tool_call_input", written("", "", "input")),
    ("code_interpreter_call_code", written("", "", "code")),
];

/// The parts of a list.
const PARTS: &[(&str, &str)] = &[("content_part", "content"), ("reasoning_summary_part", "summary")];

/// The tools whose events name the item.
const TOOLS: &[&str] = &[
    "web_search_call",
    "file_search_call",
    "code_interpreter_call",
    "image_generation_call",
    "mcp_call",
    "mcp_list_tools",
];

/// The members of types of items, besides those of every tool call. A type that is not here is newer than this table.
const ITEMS: &[(&str, &[&str])] = &[
    ("message", &["id", "role", "content"]),
    ("reasoning", &["id", "summary"]),
    ("function_call", &["call_id", "arguments"]),
    ("custom_tool_call", &["call_id", "input"]),
    ("web_search_call", &["id"]),
    ("file_search_call", &["id"]),
    ("code_interpreter_call", &["id"]),
    ("image_generation_call", &["id"]),
    ("computer_call", &["id", "call_id"]),
    ("mcp_call", &["id"]),
    ("mcp_list_tools", &["id"]),
];

/// What an item keeps from start to end.
const KEPT: [&str; 3] = ["type", "call_id", "name"];

struct Part {
    is_open: bool,
    kind: Option<String>,
}

/// An item that was added and is not done.
#[derive(Default)]
pub(super) struct Item {
    index: u64,
    id: Option<String>,
    kept: [Option<String>; KEPT.len()],
    /// The parts by their list and index.
    parts: BTreeMap<(&'static str, u64), Part>,
    /// The texts that had a delta and are not done, by the name of their events and the index of their part.
    texts: BTreeMap<(&'static str, u64), &'static str>,
}

/// The name of the index in a list of parts.
fn place_of(list: &str) -> &'static [&'static str] {
    match list {
        "content" => &["content_index"],
        "summary" => &["summary_index"],
        _ => &[],
    }
}

/// Demands the members of an event of an item, as far as its type is known.
pub(super) fn demand_members(kind: &str, event: &Value<'_>, findings: &mut Findings) {
    let Some((what, step)) = kind.strip_prefix("response.").and_then(|kind| kind.rsplit_once('.')) else { return };
    let (list, own): (_, &[&str]) = match (row(WRITTEN, what), row(PARTS, what)) {
        (Some(written), _) if step == "delta" => (written.list, &["delta"]),
        (Some(written), _) if step == "done" => (written.list, &[written.whole]),
        (_, Some(list)) => (*list, &["part"]),
        _ if TOOLS.contains(&what) => ("", &[]),
        _ => return,
    };
    let what = format!("{kind:?}");
    for names in [&["item_id", "output_index"], place_of(list), own] {
        demand(event, &what, names, &rules::RESPONSES_MEMBER, findings);
    }
    if let Some(part) = member(event, "part") {
        demand(&part, "the part", &["type"], &rules::RESPONSES_MEMBER, findings);
    }
}

/// Demands the members of an item.
fn demand_item(event: &Value<'_>, findings: &mut Findings) {
    demand(event, "the event", &["item"], &rules::RESPONSES_MEMBER, findings);
    let Some(item) = member(event, "item") else { return };
    demand(&item, "the item", &["type"], &rules::RESPONSES_MEMBER, findings);
    let kind = text(&item, "type").unwrap_or_default();
    let names = row(ITEMS, &kind).copied().unwrap_or_default();
    demand(&item, &format!("the item of type {kind:?}"), names, &rules::RESPONSES_MEMBER, findings);
    if let Some(role) = text(&item, "role").filter(|role| kind == "message" && role != "assistant") {
        findings.add(&rules::RESPONSES_ITEM_ROLE, format_args!("it is {role:?}"));
    }
}

impl Item {
    /// The item of `response.output_item.added`.
    pub(super) fn added(index: u64, event: &Value<'_>, findings: &mut Findings) -> Self {
        demand_item(event, findings);
        let item = member(event, "item");
        let of = |name: &&str| item.as_ref().and_then(|item| text(item, name));
        Item { index, id: of(&"id"), kept: KEPT.each_ref().map(of), ..Item::default() }
    }

    /// Judges `response.output_item.done`.
    pub(super) fn done(&self, event: &Value<'_>, findings: &mut Findings) {
        let index = self.index;
        demand_item(event, findings);
        if let Some(item) = member(event, "item") {
            self.compare_id(text(&item, "id"), findings);
            for (name, before) in KEPT.iter().zip(&self.kept) {
                let now = text(&item, name);
                if before.is_some() && now.is_some() && *before != now {
                    let found = format_args!("`{name}` of item {index} is {now:?}, and was {before:?}");
                    findings.add(&rules::RESPONSES_ITEM_CHANGED, found);
                }
            }
        }
        for (what, at) in self.texts.keys() {
            findings.add(&rules::RESPONSES_TEXT_OPEN, format_args!("{what} {at} of item {index} is open"));
        }
        for ((list, part), _) in self.parts.iter().filter(|(_, part)| part.is_open) {
            let found = format_args!("part {part} of the {list} of item {index} is open");
            findings.add(&rules::RESPONSES_PART_OPEN, found);
        }
    }

    /// Judges any other event of the item.
    pub(super) fn event(&mut self, kind: &str, event: &Value<'_>, findings: &mut Findings) {
        self.compare_id(text(event, "item_id"), findings);
        let Some((what, step)) = kind.strip_prefix("response.").and_then(|kind| kind.rsplit_once('.')) else { return };
        if let Some(&list) = row(PARTS, what) {
            let at = place_of(list).first().and_then(|place| number(event, place)).unwrap_or_default();
            let kind_of_part = member(event, "part").and_then(|part| text(&part, "type"));
            match step {
                "added" => self.add_part((list, at), kind_of_part, findings),
                "done" => self.end_part((list, at), kind, kind_of_part, findings),
                _ => {}
            }
        } else if let Some((what, written)) = WRITTEN.iter().find(|(of, _)| *of == what) {
            let list = written.list;
            let at = place_of(list).first().and_then(|place| number(event, place)).unwrap_or_default();
            match step {
                "delta" if self.texts.len() < OPEN => drop(self.texts.insert((what, at), list)),
                "done" => drop(self.texts.remove(&(*what, at))),
                _ => return,
            }
            if !list.is_empty() && self.is_open((list, at), kind, findings) {
                self.compare_part((list, at), Some(written.part), findings);
            }
        }
    }

    fn add_part(&mut self, key: (&'static str, u64), kind: Option<String>, findings: &mut Findings) {
        let (list, at) = key;
        let expected = self.parts.keys().filter(|(of, _)| *of == list).count() as u64;
        if self.parts.contains_key(&key) {
            findings.add(&rules::RESPONSES_PART_TWICE, format_args!("part {at} of the {list} came once more"));
        } else if self.parts.len() < OPEN {
            if at != expected {
                let found = format_args!("the part after {expected} others of the {list} has {at}");
                findings.add(&rules::RESPONSES_PART_INDEX, found);
            }
            self.parts.insert(key, Part { is_open: true, kind });
        }
    }

    fn end_part(&mut self, key: (&'static str, u64), event: &str, kind: Option<String>, findings: &mut Findings) {
        let (list, at) = key;
        for ((what, _), _) in self.texts.iter().filter(|((_, of), own)| (**own, *of) == key) {
            let found = format_args!("{what} of part {at} of the {list} is open");
            findings.add(&rules::RESPONSES_TEXT_OPEN, found);
        }
        self.texts.retain(|(_, of), own| (*own, *of) != key);
        if self.is_open(key, event, findings) {
            self.compare_part(key, kind.as_deref(), findings);
        }
        if self.parts.len() < OPEN {
            self.parts.insert(key, Part { is_open: false, kind });
        }
    }

    /// Whether this part is open, for an event that demands it.
    fn is_open(&self, key: (&'static str, u64), event: &str, findings: &mut Findings) -> bool {
        let is_open = self.parts.get(&key).is_some_and(|part| part.is_open);
        if !is_open && self.parts.len() < OPEN {
            let ((list, at), index) = (key, self.index);
            let found = format_args!("{event:?} came for part {at} of the {list} of item {index}");
            findings.add(&rules::RESPONSES_PART_NOT_ADDED, found);
        }
        is_open
    }

    fn compare_part(&self, key: (&'static str, u64), now: Option<&str>, findings: &mut Findings) {
        let known = self.parts.get(&key).and_then(|part| part.kind.as_deref());
        self.compare(&rules::RESPONSES_PART_TYPE, "the type of the part", known, now, findings);
    }

    fn compare_id(&self, now: Option<String>, findings: &mut Findings) {
        self.compare(&rules::RESPONSES_ITEM_ID, "it", self.id.as_deref(), now.as_deref(), findings);
    }

    /// Adds a finding if both are there and differ.
    fn compare(
        &self,
        rule: &'static Rule,
        what: &str,
        known: Option<&str>,
        now: Option<&str>,
        findings: &mut Findings,
    ) {
        if let (Some(known), Some(now)) = (known, now) {
            if known != now {
                let index = self.index;
                findings.add(rule, format_args!("{what} is {now:?}, and that of item {index} is {known:?}"));
            }
        }
    }
}
