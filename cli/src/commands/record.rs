//! `deltawire record`: passes standard input on, and keeps it with the times at which it came.

use crate::input::Input;
use crate::interrupt;
use crate::options::Record;
use crate::output::{complain, Output};
use crate::recording::Recorder;
use crate::report::Failure;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// The file that is written without an option. It is not written over.
const NAME: &str = "recording.jsonl";

pub fn run(options: &Record) -> Result<u8, Failure> {
    let began = Instant::now();
    let path = options.output.as_deref().unwrap_or(Path::new(NAME));
    let failed = |error| Failure::Read(path.display().to_string(), error);
    let file = if options.output.is_some() { File::create(path) } else { File::create_new(path) };
    let recorder = Arc::new(Mutex::new(Recorder::begin(file.map_err(failed)?).map_err(failed)?));
    let over = Arc::new(AtomicBool::new(false));
    let at_interrupt = recorder.clone();
    interrupt::conclude_by(&over, move || {
        // Nothing is written any more, and the last line is whole, because this holds the recorder until the process ends.
        std::mem::forget(at_interrupt.lock());
        complain("interrupted: the recording has what came so far");
        Ok(())
    })?;
    let mut input = Input::unchanged()?;
    let mut out = Output::new();
    while let Some(bytes) = input.next()? {
        let at = began.elapsed();
        // First the reader behind this command, which must not wait for a disk.
        let passed = out.write_all(bytes).and_then(|()| out.flush());
        let mut recorder = recorder.lock().unwrap_or_else(PoisonError::into_inner);
        recorder.read(at, bytes).map_err(failed)?;
        match passed.map_err(Failure::Write) {
            Err(failure) if failure.is_broken_pipe() => return Ok(0),
            passed => passed?,
        }
    }
    over.store(true, Ordering::SeqCst);
    let ended = began.elapsed();
    recorder.lock().unwrap_or_else(PoisonError::into_inner).end(ended).map_err(failed)?;
    Ok(0)
}
