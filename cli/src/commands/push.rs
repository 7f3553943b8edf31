//! The common part of `text`, `events` and `convert`, which feed the input to a handler that writes each delta when it comes.

use crate::input::Input;
use crate::opening::Opening;
use crate::options::{Meaning, Reading};
use crate::output::{complain, Output};
use crate::report::{conclude, count, status_so_far, Failure, Met, TRUNCATED};
use deltawire::json::{JsonError, JsonErrorKind};
use deltawire::track::Tracker;
use deltawire::{Error, Flow, Growing, Handler, Parser, Stop};
use std::fmt::Display;
use std::io::{self, Write};

/// A parser with room for as many choices and tool calls as an assembler.
pub type Wide = Parser<Growing, 2, Tracker<128, 256>>;

/// Standard output and its first error. It also counts payloads that nest too deep, because only a handler sees these, and
/// what was lost.
pub struct Checked {
    out: Output,
    error: Option<io::Error>,
    too_deep: u64,
    /// What was lost: how often, and what else is to be said of it.
    lost: Vec<(String, u64, String)>,
}

impl Checked {
    pub fn new() -> Self {
        Checked { out: Output::new(), error: None, too_deep: 0, lost: Vec::new() }
    }

    pub fn is_terminal(&self) -> bool {
        self.out.is_terminal()
    }

    /// Calls `f` to write. After an error it writes nothing more, and tells the parser to stop.
    pub fn write(&mut self, f: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Flow {
        if self.error.is_none() {
            self.error = f(&mut self.out).err();
        }
        match self.error {
            None => Flow::Continue(()),
            Some(_) => Flow::Break(Stop::Abort),
        }
    }

    /// Notes the fault of a payload that could not be read.
    pub fn note(&mut self, fault: JsonError) {
        self.too_deep += u64::from(fault.kind == JsonErrorKind::TooDeep);
    }

    /// Notes that something was lost. Of each such text, `more` is what the first one says beside how often it was lost.
    pub fn lose(&mut self, text: impl Display, more: impl Display) {
        let text = text.to_string();
        match self.lost.iter_mut().find(|(known, ..)| *known == text) {
            Some((_, times, _)) => *times += 1,
            None => self.lost.push((text, 1, more.to_string())),
        }
    }

    /// Reports what was lost since the last report, each text once.
    pub fn report_lost(&mut self) {
        for (text, times, more) in self.lost.drain(..) {
            complain(format_args!("{text} ({}{more})", count(times, "time")));
        }
    }

    pub fn flush(&mut self) -> Flow {
        self.write(|out| out.flush())
    }

    pub fn check(&mut self) -> Result<(), Failure> {
        match self.error.take() {
            None => Ok(()),
            Some(error) => Err(Failure::Write(error)),
        }
    }
}

/// A handler that writes.
pub trait Printer: Handler {
    fn output(&mut self) -> &mut Checked;
    /// Ends the current line of the output on a terminal, before a line goes to standard error and at the end of the
    /// stream.
    fn end_line(&mut self) {}
}

/// Reads all of the input for `printer`. Returns the exit status.
pub fn print(reading: &Reading, meaning: &Meaning, printer: &mut impl Printer) -> Result<u8, Failure> {
    let mut parser: Wide = Parser::with_tracker(Growing::new(), meaning.config(reading.sizes.limits()), Tracker::new());
    let mut opening = Opening::default();
    let mut lost = false;
    let status = match read(reading, &mut parser, printer, &mut opening, &mut lost) {
        Ok(()) => {
            let too_deep = printer.output().too_deep;
            let met = Met { count: |quirk| u64::from(parser.quirk_count(quirk)), too_deep };
            let status = conclude(&parser.end(), &met, &opening);
            printer.output().report_lost();
            status
        }
        Err(failure) if failure.is_broken_pipe() => status_so_far(&parser.end()),
        Err(failure) => return Err(failure),
    };
    Ok(if status == 0 && lost { TRUNCATED } else { status })
}

fn read(
    reading: &Reading,
    parser: &mut Wide,
    printer: &mut impl Printer,
    opening: &mut Opening,
    lost: &mut bool,
) -> Result<(), Failure> {
    let mut input = Input::open(reading.file.as_deref(), reading.sizes.read_size)?;
    while let Some(slice) = input.next()? {
        opening.add(slice);
        let mut rest = slice;
        loop {
            let fed = parser.feed(rest, printer);
            rest = rest.get(fed.consumed..).unwrap_or_default();
            match fed.stop {
                None => break,
                Some(stop) => *lost |= has_lost(stop, printer)?,
            }
        }
        // Shows the output of this slice before waiting for the next one.
        let _ = printer.output().flush();
        printer.output().check()?;
    }
    while let Err(stop) = parser.finish_into(printer) {
        *lost |= has_lost(stop, printer)?;
    }
    printer.end_line();
    let _ = printer.output().flush();
    printer.output().check()
}

/// Notes why the parser stopped. Returns whether something was left out, or an error if the output cannot be written.
fn has_lost(stop: Stop, printer: &mut impl Printer) -> Result<bool, Failure> {
    // The only errors here are limits, because the config makes no quirk an error.
    if let Stop::Error(error) = stop {
        let (what, raise) = match error {
            Error::TooManyChoices { .. } => ("more choices than there is room for", "; no option raises that limit"),
            Error::TooManyCalls { .. } => ("more tool calls than there is room for", "; no option raises that limit"),
            _ => ("an index that is not an unsigned 32-bit integer", ""),
        };
        let choice = error.choice().map(|choice| format!(" at choice {choice},")).unwrap_or_default();
        let offset = error.offset();
        printer.output().lose(what, format_args!(", first{choice} in the event at byte {offset}{raise}"));
        return Ok(true);
    }
    printer.output().check()?;
    Ok(false)
}
