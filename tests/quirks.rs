//! Runs the cases of every row of the table of quirks in every way.

use crate::common::case::{self, Case};
use crate::common::event_log::Logs;
use crate::common::read::{pull, push, How};
use crate::common::thin::thin;
use deltawire::{Quirk, QuirkSet};
use std::collections::BTreeSet;

/// Inputs shorter than this are cut at every pair of positions.
const PAIRS_UNDER: usize = 200;

#[derive(Default)]
struct Runs {
    runs: u64,
    wrong: Vec<String>,
}

impl Runs {
    /// Runs a case by push and by pull.
    fn run(&mut self, case: &Case, how: &How<'_>, wanted: &[String]) -> (Logs, bool) {
        let pushed = push(&case.input, how);
        let pulled = pull(&case.input, how);
        self.runs += 2;
        let lines = pulled.lines();
        let good = lines == wanted && pushed.events == pulled.events && pushed.end == pulled.end;
        if !good && self.wrong.len() < 200 {
            let difference = if lines == wanted {
                format!("push: {}", difference(&pushed.lines(), wanted))
            } else {
                format!("pull: {}", difference(&lines, wanted))
            };
            let title = case.title();
            self.wrong.push(format!("{title}\n  {:?} cut at {:?}\n  {difference}", how.store, how.cuts));
        }
        (pulled, good)
    }
}

fn difference(got: &[String], wanted: &[String]) -> String {
    let at = got.iter().zip(wanted).position(|(got, wanted)| got != wanted).unwrap_or(got.len().min(wanted.len()));
    let line = |lines: &[String]| lines.get(at).map_or("nothing".to_string(), Clone::clone);
    format!("line {}\n    got    {}\n    wanted {}", at + 1, line(got), line(wanted))
}

/// Calls `f` for every way to cut `len` bytes: whole, at each position, at each pair of positions, everywhere.
fn each_cut(len: usize, pairs: bool, mut f: impl FnMut(&[usize]) -> bool) {
    let every: Vec<usize> = (1..len).collect();
    if !f(&[]) || !f(&every) {
        return;
    }
    for first in (0..=len).step_by(thin()) {
        if !f(&[first]) {
            return;
        }
        for second in (first..if pairs { len } else { first }).step_by(thin()) {
            if !f(&[first, second]) {
                return;
            }
        }
    }
}

/// Returns how often each quirk was reported.
fn check(case: &Case, runs: &mut Runs) -> [u16; Quirk::ALL.len()] {
    let mut counts = [0; Quirk::ALL.len()];
    let strict = case.config.with_errors(QuirkSet::ALL);
    let strict_log = match &case.strict {
        None => case.log.clone(),
        Some(stop) => {
            // The log before the stop must be a prefix of the whole log; a run on the uncut input gives its length.
            let whole = pull(&case.input, &How::whole(case.stores()[0], strict)).lines();
            let before = whole.iter().position(|line| line.starts_with("stop F") || line.starts_with("stop C"));
            let mut log = case.log[..before.unwrap_or(0).min(case.log.len())].to_vec();
            log.push(stop.clone());
            log
        }
    };
    for store in case.stores() {
        each_cut(case.input.len(), case.input.len() < PAIRS_UNDER, |cuts| {
            let how = How { cuts, ..How::whole(store, case.config) };
            let (logs, good) = runs.run(case, &how, &case.log);
            counts = logs.counts;
            good
        });
        each_cut(case.input.len(), false, |cuts| {
            let how = How { cuts, ..How::whole(store, strict) };
            runs.run(case, &how, &strict_log).1
        });
        // After a pause the parser can report the range, so the whole log is compared.
        each_cut(case.input.len(), false, |cuts| {
            let how = How { cuts, pause: true, ..How::whole(store, case.config) };
            let paused = push(&case.input, &how).lines();
            runs.runs += 1;
            let good = paused == case.log;
            if !good {
                let difference = difference(&paused, &case.log);
                runs.wrong.push(format!("{}\n  {store:?} cut at {cuts:?}, pauses\n  {difference}", case.title()));
            }
            good
        });
    }
    counts
}

#[test]
fn every_case_in_every_way() {
    let only = std::env::var("ROW").ok();
    let cases: Vec<Case> =
        case::all().into_iter().filter(|case| only.as_ref().is_none_or(|o| *o == case.row)).collect();
    let mut runs = Runs::default();
    let mut raised = BTreeSet::new();
    for case in &cases {
        let counts = check(case, &mut runs);
        raised.extend(Quirk::ALL.iter().map(|quirk| *quirk as u8).filter(|quirk| counts[usize::from(*quirk)] > 0));
    }
    let bytes: usize = cases.iter().map(|case| case.input.len()).sum();
    println!("quirks: {} cases, {bytes} bytes, {} runs", cases.len(), runs.runs);
    for wrong in &runs.wrong {
        eprintln!("{wrong}\n");
    }
    assert!(runs.wrong.is_empty(), "{} runs were wrong", runs.wrong.len());
    if only.is_none() {
        // All cases of a row may be of a protocol whose reader is not compiled in.
        // The parser steps over log probabilities: only a message counts theirs (`message/tests.rs`).
        let by_parser = Quirk::ALL.iter().filter(|quirk| **quirk != Quirk::NotANumber);
        for quirk in by_parser.filter(|quirk| cases.iter().any(|case| case.row == quirk.code())) {
            assert!(raised.contains(&(*quirk as u8)), "no case raises {quirk:?}");
        }
    }
}

#[test]
fn every_row_has_cases_and_every_quirk_a_row() {
    let path = case::folder().join("../../docs/quirks.md");
    let table = std::fs::read_to_string(path).unwrap();
    let rows: Vec<(&str, &str)> = table
        .lines()
        .filter_map(|line| line.strip_prefix("| ")?.split_once(" |"))
        .filter(|(code, _)| {
            code.strip_prefix(['F', 'C']).is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
        })
        .collect();
    let files: BTreeSet<String> = case::rows();
    for (code, _) in &rows {
        assert!(files.contains(*code), "row {code} has no case file");
    }
    for file in &files {
        assert!(rows.iter().any(|(code, _)| code == file), "{file}.case has no row");
    }
    for quirk in Quirk::ALL {
        let row = rows.iter().find(|(code, _)| *code == quirk.code());
        let (_, text) = row.unwrap_or_else(|| panic!("{quirk:?} has no row {}", quirk.code()));
        assert!(text.contains(&format!("`{quirk:?}`")), "row {} does not name {quirk:?}", quirk.code());
    }
    // Each table counts from 1, without gaps.
    for table in ['F', 'C'] {
        let numbers: BTreeSet<usize> =
            rows.iter().filter_map(|(code, _)| code.strip_prefix(table)?.parse().ok()).collect();
        let count = rows.iter().filter(|(code, _)| code.starts_with(table)).count();
        assert!(count > 0 && numbers.into_iter().eq(1..=count), "{table}");
    }
    println!("quirks: {} rows, {} quirks", rows.len(), Quirk::ALL.len());
}
