//! `deltawire message`: prints the finished response, or at Ctrl-C the response so far.

use crate::input::Input;
use crate::interrupt;
use crate::opening::Opening;
use crate::options::Message;
use crate::output::{complain, Output};
use crate::report::{conclude, is_foreign, Failure, Met, TRUNCATED};
use deltawire::json::JsonErrorKind;
use deltawire::message::{Assembler, Detail, LogError};
use deltawire::track::Tracker;
use deltawire::{Event, Growing, Parser, Pulled};
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The message so far, and what was lost of it.
struct Kept {
    assembler: Assembler,
    /// Payloads that nest too deep.
    too_deep: u64,
}

impl Kept {
    fn add(&mut self, event: Pulled<'_, Tracker<128, 256>>) {
        if let Event::Malformed(malformed) = *event {
            self.too_deep += u64::from(malformed.fault().kind == JsonErrorKind::TooDeep);
        }
        // The first error stays in the assembler.
        let _ = self.assembler.add(event);
    }
}

/// The parser, and what it kept of the stream.
struct Assembly {
    /// It has as much room as the assembler.
    parser: Parser<Growing, 2, Tracker<128, 256>>,
    kept: Kept,
    opening: Opening,
    extended: bool,
}

impl Assembly {
    fn new(options: &Message) -> Self {
        let limits = options.reading.sizes.limits().with_max_message_len(options.max_message_len);
        let assembler = Assembler::with_limits(limits);
        let assembler = if options.drop_repeated_arguments { assembler.drop_repeated_arguments() } else { assembler };
        Assembly {
            parser: Parser::with_tracker(Growing::new(), options.meaning.config(limits), Tracker::new()),
            kept: Kept { assembler, too_deep: 0 },
            opening: Opening::default(),
            extended: options.extended,
        }
    }

    fn feed(&mut self, mut slice: &[u8]) {
        self.opening.add(slice);
        // The parser's error is a full table, which the end reports.
        while let Some(event) = self.parser.next(&mut slice).transpose() {
            event.into_iter().for_each(|event| self.kept.add(event));
        }
    }

    /// Ends the input, prints the message and the report, and returns the exit status.
    fn conclude(&mut self) -> Result<u8, Failure> {
        while let Some(event) = self.parser.finish().transpose() {
            event.into_iter().for_each(|event| self.kept.add(event));
        }
        let end = self.parser.end();
        // A page of HTML or a stream of another protocol is not printed as a response.
        if !is_foreign(&end) {
            match self.print() {
                Err(failure) if failure.is_broken_pipe() => {}
                printed => printed?,
            }
        }
        let Kept { assembler, too_deep } = &self.kept;
        let count = |quirk| u64::from(self.parser.quirk_count(quirk)) + u64::from(assembler.quirk_count(quirk));
        let status = conclude(&end, &Met { count, too_deep: *too_deep }, &self.opening);
        let Some(error) = assembler.error() else { return Ok(status) };
        let raise = match error {
            LogError::TooLong => " (--max-message-len raises the limit; at most 256 members of providers are kept)",
            LogError::TooManyChoices | LogError::TooManyCalls => "; no option raises that limit",
            _ => "",
        };
        complain(format_args!("not all of the message could be kept: {error}{raise}"));
        Ok(if status == 0 { TRUNCATED } else { status })
    }

    fn print(&self) -> Result<(), Failure> {
        let mut out = Output::new();
        let json = self.kept.assembler.json(if self.extended { Detail::Extended } else { Detail::Standard });
        let json = json.map_err(|_| Failure::Write(io::ErrorKind::OutOfMemory.into()))?;
        writeln!(out, "{}", pretty(&String::from_utf8_lossy(json.as_bytes())))
            .and_then(|()| out.flush())
            .map_err(Failure::Write)
    }
}

/// Returns strict JSON with each member and element on a separate line. This works on the text, because parsing and
/// writing numbers would change them.
fn pretty(json: &str) -> String {
    let mut pretty = String::with_capacity(json.len() + json.len() / 2);
    let (mut depth, mut in_string, mut is_escaped) = (0_usize, false, false);
    let line = |pretty: &mut String, depth| {
        pretty.push('\n');
        pretty.extend(std::iter::repeat_n("  ", depth));
    };
    for c in json.chars() {
        if in_string {
            in_string = c != '"' || is_escaped;
            is_escaped = c == '\\' && !is_escaped;
            pretty.push(c);
            continue;
        }
        let is_open = pretty.ends_with(['{', '[']);
        match c {
            ' ' | '\t' | '\n' | '\r' => continue,
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                if !is_open {
                    line(&mut pretty, depth);
                }
            }
            _ if is_open => line(&mut pretty, depth),
            _ => {}
        }
        in_string = c == '"';
        pretty.push(c);
        match c {
            '{' | '[' => depth += 1,
            ',' => line(&mut pretty, depth),
            ':' => pretty.push(' '),
            _ => {}
        }
    }
    pretty
}

pub fn run(options: &Message) -> Result<u8, Failure> {
    let mut input = Input::open(options.reading.file.as_deref(), options.reading.sizes.read_size)?.with_progress();
    let assembly = Arc::new(Mutex::new(Assembly::new(options)));
    let over = Arc::new(AtomicBool::new(false));
    let at_interrupt = assembly.clone();
    interrupt::conclude_by(&over, move || {
        let mut assembly = lock(&at_interrupt);
        complain("interrupted: this is the response so far");
        assembly.conclude().map(drop)
    })?;
    while let Some(slice) = input.next()? {
        lock(&assembly).feed(slice);
    }
    let mut assembly = lock(&assembly);
    over.store(true, Ordering::SeqCst);
    assembly.conclude()
}

fn lock(assembly: &Mutex<Assembly>) -> MutexGuard<'_, Assembly> {
    assembly.lock().unwrap_or_else(PoisonError::into_inner)
}
