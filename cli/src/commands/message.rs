//! `deltawire message`: the finished response.

use crate::input::Input;
use crate::options::Message;
use crate::output::{complain, Output};
use crate::report::{conclude, Failure, TRUNCATED};
use deltawire::message::{AssembleError, Assembler};
use deltawire::{Error, Event, Growing, Parser};
use std::io::{self, Write};

/// A message, and what was lost of it.
struct Assembly {
    assembler: Assembler,
    /// The first thing that could not be kept.
    error: Option<AssembleError>,
}

impl Assembly {
    fn add(&mut self, event: &Event<'_>) {
        let added = self.assembler.add(event);
        self.note(added);
    }

    fn note(&mut self, added: Result<(), AssembleError>) {
        self.error = self.error.or(added.err());
    }
}

pub fn run(options: &Message) -> Result<u8, Failure> {
    let limits = options.reading.limits();
    let mut input = Input::open(&options.reading)?;
    let mut parser: Parser<Growing, 2, ()> = Parser::with_tracker(Growing::new(), options.meaning.config(limits), ());
    let mut assembly = Assembly {
        assembler: Assembler::with_limits(limits).drop_repeated_arguments(options.drop_repeated_arguments),
        error: None,
    };
    while let Some(mut slice) = input.next()? {
        while let Some(event) = some(parser.next(&mut slice)) {
            assembly.add(&event);
        }
    }
    while let Some(event) = some(parser.finish()) {
        assembly.add(&event);
    }
    let finished = assembly.assembler.finish();
    assembly.note(finished);

    let mut out = Output::new();
    let message = assembly.assembler.message().map_err(|_| Failure::Write(io::ErrorKind::OutOfMemory.into()))?;
    let written = if options.extended {
        serde_json::to_writer_pretty(&mut out, &message.extended())
    } else {
        serde_json::to_writer_pretty(&mut out, &message)
    };
    written.map_err(|error| Failure::Write(error.into()))?;
    writeln!(out).and_then(|()| out.flush()).map_err(Failure::Write)?;

    let status = conclude(&parser.end(), |quirk| {
        u64::from(parser.quirk_count(quirk)) + u64::from(assembly.assembler.quirk_count(quirk))
    });
    match assembly.error {
        None => Ok(status),
        Some(error) => {
            complain(format_args!("not all of the message could be kept: {error}"));
            Ok(if status == 0 { TRUNCATED } else { status })
        }
    }
}

/// Only quirks are errors here, and no quirk was made one.
fn some(event: Result<Option<Event<'_>>, Error>) -> Option<Event<'_>> {
    event.unwrap_or_default()
}
