//! What was found, and where.

use super::rules::{self, Rule, Severity};
use deltawire::stream::Protocol;
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
    /// Where the reference of the stream's protocol demands otherwise.
    pub reference: &'static str,
}

impl Finding {
    /// The code of the rule; of a quirk, with the code of its row in docs/quirks.md.
    pub fn code(&self) -> String {
        let quirk = self.quirk.map(|quirk| format!("-{}", quirk.code()));
        self.rule.code.to_owned() + quirk.as_deref().unwrap_or_default()
    }
}

/// The findings so far.
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
    /// The protocol of the last chunk.
    pub(super) protocol: Protocol,
    /// How many findings were listed before the event that is judged, if its place is not known yet.
    waits: Option<usize>,
}

impl Findings {
    /// No findings. Of each code, so many are listed.
    pub fn new(each: u64) -> Self {
        Findings {
            list: Vec::new(),
            counts: BTreeMap::new(),
            errors: 0,
            warnings: 0,
            each,
            event: 0,
            offset: 0,
            protocol: Protocol::Chat,
            waits: None,
        }
    }

    /// Begins an event whose place only the parser knows, after the event.
    pub(super) fn begin_unplaced(&mut self) {
        self.waits = Some(self.list.len());
    }

    /// Tells where the event began whose place was not known, if there is one.
    pub(super) fn place(&mut self, offset: u64) {
        let Some(before) = self.waits.take() else { return };
        self.offset = offset;
        for finding in self.list.iter_mut().skip(before) {
            finding.offset = offset;
        }
    }

    pub fn add(&mut self, rule: &'static Rule, found: impl Display) {
        self.add_at(self.offset, rule, None, found);
    }

    pub(super) fn add_quirk(&mut self, quirk: Quirk, offset: u64) {
        self.add_at(offset, &rules::QUIRK, Some(quirk), format_args!("{}: {quirk}", quirk.name()));
    }

    pub fn add_at(&mut self, offset: u64, rule: &'static Rule, quirk: Option<Quirk>, found: impl Display) {
        match rule.severity {
            Severity::Error => self.errors += 1,
            Severity::Warning => self.warnings += 1,
        }
        let (event, reference) = (self.event, rule.reference(self.protocol));
        let finding = Finding { rule, quirk, offset, event, found: found.to_string(), reference };
        let count = self.counts.entry(finding.code()).or_default();
        *count += 1;
        if *count <= self.each {
            self.list.push(finding);
        }
    }
}
