//! `deltawire check`: judges streams by what the references of their protocols demand.

use super::files;
use super::push::Wide;
use crate::check::rules::{Rule, Severity, ALL};
use crate::check::{Checker, Finding};
use crate::input::Input;
use crate::interrupt;
use crate::opening::Opening;
use crate::options::Check;
use crate::output::{complain, escape, Output, Style};
use crate::report::{count, is_foreign, status, verdict, Failure, FOUND};
use clap::ColorChoice;
use deltawire::End;
use serde_json::{json, Value as Json};
use std::io::{self, Write};
use std::path::Path;

pub fn run(options: &Check, color: ColorChoice) -> Result<u8, Failure> {
    let mut out = Output::with_color(color);
    if options.rules {
        return match print_rules(&mut out) {
            Err(failure) if !failure.is_broken_pipe() => Err(failure),
            _ => Ok(0),
        };
    }
    interrupt::conclude_by(&Default::default(), || {
        complain("interrupted: these are the findings so far");
        Ok(())
    })?;
    files::each(&options.files, |file| judge(options, file, &mut out))
}

/// Judges one stream. Returns the exit status that it alone would have.
fn judge(options: &Check, file: Option<&Path>, out: &mut Output) -> Result<u8, Failure> {
    let mut input = Input::open(file, options.files.sizes.read_size)?.with_progress();
    let name = input.name().to_owned();
    let mut checker = Checker::new(options.each, &options.files.sizes.limits());
    let mut parser = files::parser(&options.files);
    let mut opening = Opening::default();
    while let Some(slice) = input.next()? {
        opening.add(slice);
        feed(&mut parser, slice, &mut checker);
        print(options, &name, &mut checker, out)?;
    }
    while parser.finish_into(&mut checker).is_err() {
        checker.place(parser.wire_range().start);
    }
    let end = parser.end();
    checker.finish(&end);
    print(options, &name, &mut checker, out)?;
    summarize(options, &name, &checker, &end, out)?;
    if is_foreign(&end) {
        opening.name_foreign();
    }
    opening.name_http();
    let findings = &checker.findings;
    Ok(match status(&end) {
        0 if findings.errors + findings.warnings > 0 => FOUND,
        status => status,
    })
}

/// Feeds all of a slice. The parser stops after an event that has to be placed, and goes on after a limit.
fn feed(parser: &mut Wide, slice: &[u8], checker: &mut Checker) {
    let mut rest = slice;
    loop {
        let fed = parser.feed(rest, checker);
        rest = rest.get(fed.consumed..).unwrap_or_default();
        checker.place(parser.wire_range().start);
        if fed.stop.is_none() {
            return;
        }
    }
}

/// Prints the findings that were not printed yet.
fn print(options: &Check, name: &str, checker: &mut Checker, out: &mut Output) -> Result<(), Failure> {
    for finding in checker.findings.list.drain(..) {
        let printed =
            if options.json { writeln!(out, "{}", as_json(name, &finding)) } else { print_text(name, &finding, out) };
        printed.map_err(Failure::Write)?;
    }
    out.flush().map_err(Failure::Write)
}

fn as_json(name: &str, finding: &Finding) -> Json {
    let Finding { rule, quirk, offset, event, found, reference } = finding;
    json!({
        "file": name, "offset": offset, "event": event, "severity": rule.severity.word(), "code": finding.code(),
        "found": found, "demand": rule.demand, "reference": reference, "quirk": quirk.map(|quirk| quirk.name()),
    })
}

/// Prints a finding in two lines. Texts of the stream are escaped in a file, too, because each finding must stay two lines.
fn print_text(name: &str, finding: &Finding, out: &mut Output) -> io::Result<()> {
    let Finding { rule, offset, event, found, reference, .. } = finding;
    let style = match rule.severity {
        Severity::Error => Style::Error,
        Severity::Warning => Style::Warning,
    };
    write!(out, "{}: byte {offset}, event {event}: ", escape(name, &[]))?;
    out.paint(style, rule.severity.word())?;
    out.write_all(b" ")?;
    out.paint(Style::Strong, &finding.code())?;
    writeln!(out, ": {}", escape(found, &[]))?;
    out.paint(Style::Faint, &format!("  demanded: {} ({})", rule.demand, reference))?;
    out.write_all(b"\n")
}

fn summarize(options: &Check, name: &str, checker: &Checker, end: &End, out: &mut Output) -> Result<(), Failure> {
    let findings = &checker.findings;
    let protocol = end.protocol.map(|protocol| protocol.text());
    let line = if options.json {
        let summary = json!({
            "file": name, "summary": true, "protocol": protocol, "verdict": verdict(end),
            "complete": end.is_complete(), "events": checker.events(), "bytes": end.offset,
            "errors": findings.errors, "warnings": findings.warnings, "codes": findings.counts,
        });
        summary.to_string()
    } else {
        let found = match (findings.errors, findings.warnings) {
            (0, 0) => "nothing found".into(),
            (errors, warnings) => format!("{}, {}", count(errors, "error"), count(warnings, "warning")),
        };
        let mut line = format!(
            "{}: {found}; {}, {}, {}; verdict: {}",
            escape(name, &[]),
            protocol.unwrap_or("no protocol"),
            count(checker.events(), "event"),
            count(end.offset, "byte"),
            escape(&verdict(end), &[]),
        );
        for (code, times) in findings.counts.iter().filter(|(_, times)| **times > options.each) {
            line += &format!("\n  {} more of {code}", times - options.each);
        }
        line
    };
    writeln!(out, "{line}").and_then(|()| out.flush()).map_err(Failure::Write)
}

/// Prints the table of docs/check.md.
fn print_rules(out: &mut Output) -> Result<(), Failure> {
    let mut print = || {
        writeln!(out, "| Code | Severity | The reference demands | Reference |\n| --- | --- | --- | --- |")?;
        for rule in ALL {
            let Rule { code, severity, demand, references } = rule;
            writeln!(out, "| `{code}` | {} | {demand} | {} |", severity.word(), references.join("; "))?;
        }
        out.flush()
    };
    print().map_err(Failure::Write)
}
