//! `deltawire stats`: what streams have, and how fast they come.

use super::files;
use super::push::Wide;
use crate::input::{Input, Timed};
use crate::interrupt;
use crate::opening::Opening;
use crate::options;
use crate::output::{complain, Output, StatusLine};
use crate::report::{is_foreign, status, Failure, UNREADABLE};
use crate::stats::{as_json, as_text, live_line, Stats};
use deltawire::Quirk;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A stream, as far as it was read.
struct Reading {
    name: String,
    parser: Wide,
    stats: Stats,
    opening: Opening,
    line: StatusLine,
}

impl Reading {
    fn new(options: &options::Stats, name: &str, is_live: bool) -> Self {
        Reading {
            name: name.to_owned(),
            parser: files::parser(&options.files),
            stats: Stats::new(options.plot.is_some()),
            opening: Opening::default(),
            line: StatusLine::after(Duration::ZERO, is_live),
        }
    }

    fn feed(&mut self, slice: &[u8]) {
        self.opening.add(slice);
        files::feed(&mut self.parser, slice, &mut self.stats);
    }

    /// Ends the stream, prints its statistics, and returns its exit status.
    fn conclude(&mut self, options: &options::Stats) -> Result<u8, Failure> {
        while self.parser.finish_into(&mut self.stats).is_err() {}
        let end = self.parser.end();
        let quirks = Quirk::ALL.iter().map(|quirk| (*quirk, u64::from(self.parser.quirk_count(*quirk))));
        let quirks = quirks.filter(|(_, times)| *times > 0).collect();
        StatusLine::clear();
        let mut out = Output::new();
        let text = if options.json {
            as_json(&self.name, &self.stats, &end, &quirks).to_string() + "\n"
        } else {
            as_text(&self.name, &self.stats, &end, &quirks)
        };
        out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(Failure::Write)?;
        if is_foreign(&end) {
            self.opening.name_foreign();
        }
        self.opening.name_http();
        self.plot(options)?;
        Ok(status(&end))
    }

    fn plot(&self, options: &options::Stats) -> Result<(), Failure> {
        let Some(file) = &options.plot else { return Ok(()) };
        let Some(svg) = self.stats.plot() else {
            complain("no plot: a plain file has no times (deltawire record keeps those of a pipe)");
            return Ok(());
        };
        std::fs::write(file, svg).map_err(|error| Failure::Read(file.display().to_string(), error))
    }
}

pub fn run(options: &options::Stats) -> Result<u8, Failure> {
    let began = Instant::now();
    let over = Arc::new(AtomicBool::new(false));
    let current = Arc::new(Mutex::new(Reading::new(options, "", false)));
    let (at_interrupt, options_then) = (current.clone(), options.clone());
    interrupt::conclude_by(&over, move || {
        complain("interrupted: these are the statistics so far");
        lock(&at_interrupt).conclude(&options_then).map(drop)
    })?;
    if options.plot.is_some() && options.files.files.len() > 1 {
        complain("--plot draws one stream");
        return Ok(UNREADABLE);
    }
    let status = files::each(&options.files, |file| read(options, file, began, &current))?;
    over.store(true, Ordering::SeqCst);
    Ok(status)
}

fn read(
    options: &options::Stats,
    file: Option<&Path>,
    began: Instant,
    current: &Mutex<Reading>,
) -> Result<u8, Failure> {
    let mut input = Input::open(file, options.files.sizes.read_size)?.with_progress().since(began);
    *lock(current) = Reading::new(options, input.name(), !input.is_file());
    while let Some(Timed { at, bytes }) = input.next_timed()? {
        let mut reading = lock(current);
        let tokens = reading.stats.meter.token_events;
        reading.feed(bytes);
        reading.stats.read(at, tokens);
        if let Some(at) = at {
            let Reading { stats, line, .. } = &mut *reading;
            line.show(|| live_line(stats, at));
        }
    }
    let ended = input.at();
    let mut reading = lock(current);
    reading.stats.end(ended);
    reading.conclude(options)
}

fn lock(reading: &Mutex<Reading>) -> MutexGuard<'_, Reading> {
    reading.lock().unwrap_or_else(PoisonError::into_inner)
}
