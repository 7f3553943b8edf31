//! Reads the bytes of a file or a pipe, slice by slice.

use crate::output::StatusLine;
use crate::recording::Recording;
use crate::report::Failure;
use std::fs::{File, Metadata};
use std::io::{self, BufRead, BufReader, IsTerminal, Read};
use std::path::Path;
use std::time::Duration;

/// How many bytes a slice has at most, unless an option sets another size.
const READ: usize = 64 * 1024;

/// How long a file is read without a word.
const PATIENCE: Duration = Duration::from_secs(1);

/// A file or standard input, which is read to its end.
pub struct Input {
    name: String,
    /// How many bytes the input has, if it is a plain file.
    len: Option<u64>,
    reader: Box<dyn BufRead>,
    /// How many bytes came, and the line that says so while a large file is read.
    read: u64,
    progress: StatusLine,
    /// How many bytes each slice except the last has, if an option sets that.
    size: Option<u64>,
    buffer: Vec<u8>,
}

impl Input {
    /// Opens a file, or standard input if it is missing or `-`.
    pub fn open(file: Option<&Path>, size: Option<u64>) -> Result<Input, Failure> {
        let file = file.filter(|file| *file != Path::new("-"));
        let name = file.map_or_else(|| "standard input".into(), |file| file.display().to_string());
        let plain = |file: &File| file.metadata().ok().filter(Metadata::is_file).map(|plain| plain.len());
        let (len, reader): (_, Box<dyn BufRead>) = match file.map(File::open) {
            None => (stdin().as_ref().and_then(plain), Box::new(io::stdin().lock())),
            // A read into a buffer of this length goes past the reader's own.
            Some(Ok(file)) => (plain(&file), Box::new(BufReader::with_capacity(READ, file))),
            Some(Err(error)) => return Err(Failure::Read(name, error)),
        };
        // Standard output on the same terminal may be inside a line.
        let progress = StatusLine::after(PATIENCE, len.is_some() && !io::stdout().is_terminal());
        Ok(Input { name, len, reader, read: 0, progress, size, buffer: Vec::new() })
    }

    /// The input for a command that writes only whole lines, so the progress may be shown between them.
    pub fn with_progress(self) -> Input {
        Input { progress: StatusLine::after(PATIENCE, self.len.is_some()), ..self }
    }

    /// How many bytes the input has, if it is a plain file.
    pub fn len(&self) -> Option<u64> {
        self.len
    }

    /// The name of the file, or `standard input`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether the input begins so. Asks for no more than one read, which of a plain file is enough.
    pub fn begins_with(&mut self, start: &[u8]) -> Result<bool, Failure> {
        let ahead = self.reader.fill_buf().map_err(|error| Failure::Read(self.name.clone(), error))?;
        Ok(ahead.starts_with(start))
    }

    pub fn into_recording(self) -> Recording {
        Recording::new(self.name, self.reader)
    }

    /// Returns the next slice as soon as there is one, or `None` at the end.
    pub fn next(&mut self) -> Result<Option<&[u8]>, Failure> {
        let read = match self.size {
            Some(size) => {
                self.buffer.clear();
                (&mut self.reader).take(size).read_to_end(&mut self.buffer)
            }
            None => {
                self.buffer.resize(READ, 0);
                loop {
                    match self.reader.read(&mut self.buffer) {
                        Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                        read => break read,
                    }
                }
            }
        };
        match read {
            Ok(0) => {
                StatusLine::clear();
                Ok(None)
            }
            Ok(len) => {
                self.read = self.read.saturating_add(len as u64);
                let (read, all) = (self.read, self.len.unwrap_or(0));
                let percent = u128::from(read) * 100 / u128::from(all.max(1));
                self.progress.show(|| format!("{percent} % of {} MiB", all >> 20));
                Ok(self.buffer.get(..len))
            }
            Err(error) => Err(Failure::Read(self.name.clone(), error)),
        }
    }
}

/// Standard input as a file, to ask what it is.
fn stdin() -> Option<File> {
    #[cfg(unix)]
    return std::os::fd::AsFd::as_fd(&io::stdin()).try_clone_to_owned().ok().map(File::from);
    #[cfg(not(unix))]
    None
}
