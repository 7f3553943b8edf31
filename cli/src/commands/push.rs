//! The common part of `text`, `events` and `convert`, which feed the input to a handler that writes each delta when it comes.

use crate::input::Input;
use crate::opening::Opening;
use crate::options::{Meaning, Reading};
use crate::output::{complain, Output};
use crate::report::{conclude, status_so_far, Failure, Met, TRUNCATED};
use deltawire::json::{JsonError, JsonErrorKind};
use deltawire::track::Tracker;
use deltawire::{Error, Flow, Growing, Handler, Parser, Stop};
use std::io::{self, Write};

/// A parser with room for as many choices and tool calls as an assembler.
pub type Wide = Parser<Growing, 2, Tracker<128, 256>>;

/// Standard output and its first error. It also counts payloads that nest too deep, because only a handler sees these.
pub struct Checked {
    out: Output,
    error: Option<io::Error>,
    too_deep: u64,
}

impl Checked {
    pub fn new() -> Self {
        Checked { out: Output::new(), error: None, too_deep: 0 }
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
            conclude(&parser.end(), &met, &opening)
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

/// Reports why the parser stopped. Returns whether something was left out, or an error if the output cannot be written.
fn has_lost(stop: Stop, printer: &mut impl Printer) -> Result<bool, Failure> {
    // The only errors here are limits, because the config makes no quirk an error.
    if let Stop::Error(error) = stop {
        printer.end_line();
        let what = match error {
            Error::TooManyChoices { .. } => "choices",
            Error::TooManyCalls { .. } => "tool calls",
            error => {
                complain(error);
                return Ok(true);
            }
        };
        let (choice, offset) = (error.choice().unwrap_or_default(), error.offset());
        complain(format_args!(
            "more {what} than there is room for, at choice {choice}, in the event at byte {offset}; no option raises that limit"
        ));
        return Ok(true);
    }
    printer.output().check()?;
    Ok(false)
}
