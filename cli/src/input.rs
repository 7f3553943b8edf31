//! Reads the bytes of a file or a pipe, slice by slice.

use crate::report::Failure;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

/// How many bytes a slice has at most, unless an option sets another size.
const READ: usize = 64 * 1024;

/// A file or standard input, which is read to its end.
pub struct Input {
    name: String,
    reader: Box<dyn Read>,
    /// How many bytes each slice except the last has, if an option sets that.
    size: Option<u64>,
    buffer: Vec<u8>,
}

impl Input {
    /// Opens a file, or standard input if it is missing or `-`.
    pub fn open(file: Option<&Path>, size: Option<u64>) -> Result<Input, Failure> {
        let file = file.filter(|file| *file != Path::new("-"));
        let name = file.map_or_else(|| "standard input".into(), |file| file.display().to_string());
        let source: Box<dyn Read> = match file.map(File::open) {
            None => Box::new(io::stdin().lock()),
            Some(Ok(file)) => Box::new(file),
            Some(Err(error)) => return Err(Failure::Read(name, error)),
        };
        let reader = match size {
            Some(_) => Box::new(BufReader::with_capacity(READ, source)),
            None => source,
        };
        Ok(Input { name, reader, size, buffer: Vec::new() })
    }

    /// The name of the file, or `standard input`.
    pub fn name(&self) -> &str {
        &self.name
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
            Ok(0) => Ok(None),
            Ok(len) => Ok(self.buffer.get(..len)),
            Err(error) => Err(Failure::Read(self.name.clone(), error)),
        }
    }
}
