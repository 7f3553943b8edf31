//! Reads the bytes of a file or a pipe, slice by slice; of a recording, those that were recorded. Those of a recording and
//! of a pipe have times.

use crate::output::StatusLine;
use crate::recording::{Recording, MAGIC};
use crate::report::Failure;
use std::fs::{File, Metadata};
use std::io::{self, BufRead, BufReader, Cursor, IsTerminal, Read};
use std::path::Path;
use std::time::{Duration, Instant};

/// How many bytes a slice has at most, unless an option sets another size.
const READ: usize = 64 * 1024;

/// How long a file is read without a word.
const PATIENCE: Duration = Duration::from_secs(1);

/// A file or standard input, which is read to its end.
pub struct Input {
    name: String,
    /// How many bytes the input has, if it is a plain file.
    len: Option<u64>,
    reader: Reader,
    /// How many bytes came, and the line that says so while a large file is read.
    read: u64,
    progress: StatusLine,
    /// How many bytes each slice except the last has, if an option sets that.
    size: Option<u64>,
    buffer: Vec<u8>,
    /// When reading began, and when the last slice, or the end, came.
    began: Instant,
    at: Option<Duration>,
}

/// Where the bytes are from.
enum Reader {
    /// Nothing was read yet, so it may be a recording.
    New(Box<dyn BufRead>),
    Plain(Box<dyn BufRead>),
    Recorded(Recording),
}

/// Bytes that came at once, and when; a plain file has no times.
pub struct Timed<'a> {
    pub at: Option<Duration>,
    pub bytes: &'a [u8],
}

impl Input {
    /// Opens a file, or standard input if it is missing or `-`. What begins like a recording is one.
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
        let (reader, buffer) = (Reader::New(reader), Vec::new());
        Ok(Input { name, len, reader, read: 0, progress, size, buffer, began: Instant::now(), at: None })
    }

    /// Standard input as it comes, also if it is a recording.
    pub fn unchanged() -> Result<Input, Failure> {
        let input = Input::open(None, None)?;
        let reader = match input.reader {
            Reader::New(reader) => Reader::Plain(reader),
            known => known,
        };
        Ok(Input { reader, ..input })
    }

    /// The input for a command that writes only whole lines, so the progress may be shown between them.
    pub fn with_progress(self) -> Input {
        Input { progress: StatusLine::after(PATIENCE, self.len.is_some()), ..self }
    }

    /// The input with the times of a pipe from this moment on.
    pub fn since(self, began: Instant) -> Input {
        Input { began, ..self }
    }

    /// Whether the input is a plain file, which can be read again.
    pub fn is_file(&self) -> bool {
        self.len.is_some()
    }

    /// The name of the file, or `standard input`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// When the last slice came; after the last one, when the end came.
    pub fn at(&self) -> Option<Duration> {
        self.at
    }

    /// Returns the next slice as soon as there is one, or `None` at the end.
    pub fn next(&mut self) -> Result<Option<&[u8]>, Failure> {
        let len = self.fill().map_err(|error| Failure::Read(self.name.clone(), error))?;
        if len == 0 {
            StatusLine::clear();
            return Ok(None);
        }
        let (read, all) = (self.read, self.len.unwrap_or(0));
        let percent = u128::from(read) * 100 / u128::from(all.max(1));
        self.progress.show(|| format!("{percent} % of {} MiB", all >> 20));
        Ok(self.buffer.get(..len))
    }

    /// As [`next`](Self::next), with the time.
    pub fn next_timed(&mut self) -> Result<Option<Timed<'_>>, Failure> {
        let len = self.next()?.map(<[u8]>::len);
        let bytes = len.and_then(|len| self.buffer.get(..len));
        Ok(bytes.map(|bytes| Timed { at: self.at, bytes }))
    }

    /// Reads the next slice into the buffer. Returns its length.
    fn fill(&mut self) -> io::Result<usize> {
        if let Reader::New(reader) = &mut self.reader {
            let reader = std::mem::replace(reader, Box::new(io::empty()));
            self.reader = recognize(&self.name, reader)?;
        }
        let reader: &mut dyn Read = match &mut self.reader {
            Reader::New(reader) | Reader::Plain(reader) => reader,
            Reader::Recorded(recording) => recording,
        };
        let len = match self.size {
            Some(size) => {
                self.buffer.clear();
                reader.take(size).read_to_end(&mut self.buffer)?
            }
            None => {
                self.buffer.resize(READ, 0);
                read_once(reader, &mut self.buffer)?
            }
        };
        (self.read, self.at) = match &self.reader {
            Reader::Recorded(recording) => (recording.consumed(), Some(recording.at())),
            _ => (self.read.saturating_add(len as u64), (!self.is_file()).then(|| self.began.elapsed())),
        };
        Ok(len)
    }
}

/// Knows a recording by what it begins with. What was read to know that comes first, as it was read.
fn recognize(name: &str, mut reader: Box<dyn BufRead>) -> io::Result<Reader> {
    let (mut ahead, mut len) = (vec![0; READ], 0);
    loop {
        let read = read_once(&mut reader, ahead.get_mut(len..).unwrap_or_default())?;
        len += read;
        if read == 0 {
            // A terminal would have to end twice.
            reader = Box::new(io::empty());
        }
        if read == 0 || len >= MAGIC.len() || !MAGIC.starts_with(ahead.get(..len).unwrap_or_default()) {
            break;
        }
    }
    ahead.truncate(len);
    let is_recording = ahead.starts_with(MAGIC);
    let whole = Box::new(Cursor::new(ahead).chain(reader));
    Ok(if is_recording { Reader::Recorded(Recording::new(name.to_owned(), whole)) } else { Reader::Plain(whole) })
}

fn read_once(reader: &mut (impl Read + ?Sized), buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        match reader.read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            read => return read,
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
