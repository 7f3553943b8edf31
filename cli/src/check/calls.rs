//! Tool calls: a name, an ID, arguments that are JSON, and an end.

use super::findings::Findings;
use super::rules;
use deltawire::chat::CallUpdate;
use deltawire::delta::FinishKind;
use deltawire::stream::Protocol;
use deltawire::{Limits, Update};
use serde::de::IgnoredAny;
use std::collections::BTreeMap;

/// How many IDs are known. Those of later calls are not compared.
const IDS: usize = 1024;

/// A call whose choice has not finished.
#[derive(Default)]
struct Call {
    has_id: bool,
    has_name: bool,
    has_kind: bool,
    is_custom: bool,
    is_over: bool,
    /// Some of the arguments are not kept.
    is_cut: bool,
    arguments: String,
}

/// The calls of choices that have not finished, by choice and number. What comes after a finish reason is judged at the next
/// one or at the end.
#[derive(Default)]
pub(super) struct Calls {
    open: BTreeMap<(u32, u32), Call>,
    /// The number of the call that first had an ID, by choice and ID.
    ids: BTreeMap<(u32, String), u32>,
    /// How many bytes of arguments are kept.
    kept: usize,
}

impl Calls {
    pub(super) fn update(&mut self, choice: u32, update: &Update<'_>, findings: &mut Findings) {
        let protocol = findings.protocol;
        match update {
            Update::Call(CallUpdate { call, index, opens, id, kind, custom, .. }) => {
                if protocol == Protocol::Chat && *opens && *index != Some(*call) {
                    let index = index.map_or("none".into(), |index| index.to_string());
                    let found = format_args!("call {call} of choice {choice} has the index {index}");
                    findings.add(&rules::CHAT_CALL_INDEX, found);
                }
                if let Some(id) = id.filter(|_| self.ids.len() < IDS) {
                    let first = *self.ids.entry((choice, id.to_string())).or_insert(*call);
                    if first != *call {
                        let found = format_args!("call {call} of choice {choice} has {id:?}, as call {first} has");
                        findings.add(&rules::CALL_ID_TWICE, found);
                    }
                }
                let call = self.open.entry((choice, *call)).or_default();
                call.has_id |= id.is_some();
                call.has_kind |= kind.is_some();
                call.is_custom |= custom;
            }
            Update::CallName { call, text, .. } => {
                let Some(known) = self.open.get_mut(&(choice, *call)) else { return };
                if std::mem::replace(&mut known.has_name, true) {
                    let found = format_args!("call {call} of choice {choice} has a name, and then {text:?}");
                    findings.add(&rules::CALL_NAME_PIECES, found);
                }
            }
            Update::CallArguments { call, text } => {
                let Some(call) = self.open.get_mut(&(choice, *call)) else { return };
                let text = text.to_cow();
                call.is_cut |= self.kept + text.len() > Limits::DEFAULT.max_message_len();
                if !call.is_cut {
                    self.kept += text.len();
                    call.arguments += &text;
                }
            }
            Update::CallEnd { call, .. } => {
                if let Some(call) = self.open.get_mut(&(choice, *call)) {
                    call.is_over = true;
                }
            }
            Update::Finish(reason) => {
                // What such a reason cut may be no JSON.
                let may_cut = [FinishKind::Length, FinishKind::ContentFilter, FinishKind::Error];
                let is_whole = !may_cut.contains(&reason.kind());
                self.judge(|(of, _)| *of == choice, is_whole, findings);
            }
            _ => {}
        }
    }

    pub(super) fn finish(&mut self, is_whole: bool, findings: &mut Findings) {
        for (choice, number) in self.open.iter().filter(|(_, call)| !call.is_over).map(|(key, _)| key) {
            findings.add(&rules::CALL_OPEN, format_args!("call {number} of choice {choice} is open"));
        }
        self.judge(|_| true, is_whole, findings);
    }

    /// Judges these calls, and forgets them.
    fn judge(&mut self, is_judged: impl Fn(&(u32, u32)) -> bool, is_whole: bool, findings: &mut Findings) {
        let protocol = findings.protocol;
        let kept = &mut self.kept;
        self.open.retain(|key, call| {
            if !is_judged(key) {
                return true;
            }
            let (choice, number) = key;
            let mut find = |rule, found: &str| {
                findings.add(rule, format_args!("call {number} of choice {choice} {found}"));
            };
            if !call.has_name {
                find(&rules::CALL_NAME, "has no name");
            }
            if !call.has_id && protocol != Protocol::Gemini {
                find(&rules::CALL_ID, "has no ID");
            }
            if !call.has_kind && protocol == Protocol::Chat {
                find(&rules::CHAT_CALL_TYPE, "has no type");
            }
            // A function without parameters may have no arguments. Those of a call that is open are not whole anyway.
            let is_json = call.is_custom || call.is_cut || !call.is_over || call.arguments.trim().is_empty();
            if is_whole && !is_json {
                if let Err(error) = serde_json::from_str::<IgnoredAny>(&call.arguments) {
                    find(&rules::CALL_NOT_JSON, &format!("has arguments that are no JSON: {error}"));
                }
            }
            *kept -= call.arguments.len();
            false
        });
    }
}
