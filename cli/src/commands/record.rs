//! `deltawire record`: passes standard input on, and keeps it with the times at which it came.

use crate::input::Input;
use crate::interrupt;
use crate::options::Record;
use crate::output::{complain, Output};
use crate::recording::Recorder;
use crate::report::Failure;
use std::fs::File;
use std::io::{Error, ErrorKind, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// The file that is written without an option.
const NAME: &str = "recording.jsonl";

pub fn run(options: &Record) -> Result<u8, Failure> {
    let began = Instant::now();
    let path = options.output.as_deref().unwrap_or(Path::new(NAME));
    let failed = |error| Failure::Read(path.display().to_string(), error);
    let recorder = Arc::new(Mutex::new(Recorder::begin(create(path)?).map_err(failed)?));
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

/// Creates the file. A plain file is never written over, because a recording cannot be had again.
fn create(path: &Path) -> Result<File, Failure> {
    let refused = |name: &str, why: &str| Err(Failure::Read(name.into(), Error::other(why)));
    if path == Path::new("-") {
        return refused("-o -", "standard output has the stream, so the recording needs a file");
    }
    let name = path.display().to_string();
    match File::create_new(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists && path.is_file() => {
            refused(&name, "it is there already, and is not written over (-o names another file)")
        }
        // Nothing is lost in a pipe or a device.
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            File::create(path).map_err(|error| Failure::Read(name, error))
        }
        created => created.map_err(|error| Failure::Read(name, error)),
    }
}
