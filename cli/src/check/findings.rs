//! What was found, and where.

use super::rules::{Rule, Severity};
use deltawire::Quirk;
use std::collections::BTreeMap;
use std::fmt::Display;

/// A place where a stream does not do what a rule demands.
pub struct Finding {
    pub rule: &'static Rule,
    /// The quirk, if the rule is that there is none.
    pub quirk: Option<Quirk>,
    /// Where the event begins, in bytes from the beginning of the stream; at the end of the stream, its length.
    pub offset: u64,
    /// The number of the event, from 1, counted as `Meter::events` does; 0 if no event came.
    pub event: u64,
    /// What was found there.
    pub found: String,
}

impl Finding {
    /// The code of the rule; of a quirk, with the code of its row in docs/quirks.md.
    pub fn code(&self) -> String {
        let quirk = self.quirk.map(|quirk| format!("-{}", quirk.code()));
        self.rule.code.to_owned() + quirk.as_deref().unwrap_or_default()
    }
}

/// The findings so far.
#[derive(Default)]
pub struct Findings {
    /// Those that were not taken yet.
    pub list: Vec<Finding>,
    /// How many there are of each code. Those over the limit are only counted.
    pub counts: BTreeMap<String, u64>,
    pub errors: u64,
    pub warnings: u64,
    /// How many findings of a code are listed.
    each: u64,
    /// The number and the place of the event that is judged.
    pub(super) event: u64,
    pub(super) offset: u64,
}

impl Findings {
    /// No findings. Of each code, so many are listed.
    pub fn new(each: u64) -> Self {
        Findings { each, ..Findings::default() }
    }

    pub fn add(&mut self, rule: &'static Rule, found: impl Display) {
        self.add_at(self.offset, rule, None, found);
    }

    pub fn add_at(&mut self, offset: u64, rule: &'static Rule, quirk: Option<Quirk>, found: impl Display) {
        match rule.severity {
            Severity::Error => self.errors += 1,
            Severity::Warning => self.warnings += 1,
        }
        let finding = Finding { rule, quirk, offset, event: self.event, found: found.to_string() };
        let count = self.counts.entry(finding.code()).or_default();
        *count += 1;
        if *count <= self.each {
            self.list.push(finding);
        }
    }
}
