//! The log: what has to be written later, in the memory that the caller lends.

use super::out::Frame;
use super::WriteError;

/// The records in the lent memory, behind what every event repeats. Texts in the log are escaped already.
///
/// A record is a tag, the offset of the next record of its chain (4 bytes), the length of its bytes (4 bytes), and these
/// bytes. Offset 0 is no record, because the memory begins with what every event repeats.
#[derive(Clone, Copy, Debug)]
pub(super) struct Log {
    /// Where the records begin.
    base: usize,
    /// Where they end.
    len: usize,
}

/// A range of the lent memory.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Span {
    pub(super) start: u32,
    pub(super) len: u32,
}

impl Span {
    #[inline(always)]
    pub(super) fn of(self, memory: &[u8]) -> &[u8] {
        let start = self.start as usize;
        memory.get(start..start.saturating_add(self.len as usize)).unwrap_or_default()
    }
}

/// Records that belong together, in their order.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Chain {
    first: u32,
    last: u32,
}

/// A place in a chain: behind the first `at` bytes of a record, or before the first record if that is 0.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Mark {
    record: u32,
    at: u32,
}

/// What a record has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Tag {
    /// The ID of a call.
    Id = 1,
    /// The name of a call, or a piece of it.
    Name = 2,
    /// The name of a call, which replaces the name so far.
    NewName = 3,
    /// A fragment of arguments.
    Arguments = 4,
    /// Bytes of a text that is whole only once all records are joined.
    Joined = 5,
    /// A list of arguments with their paths.
    Paths = 6,
}

/// Length of a record without its bytes.
const HEADER: usize = 9;

impl Chain {
    pub(super) const NONE: Chain = Chain { first: 0, last: 0 };

    /// Whether the chain has no record.
    pub(super) fn is_empty(&self) -> bool {
        self.first == 0
    }

    /// Returns the place behind the last byte.
    pub(super) fn end(&self, memory: &[u8]) -> Mark {
        let len = bytes_of(memory, self.last).map_or(0, <[u8]>::len);
        Mark { record: self.last, at: len as u32 }
    }

    /// Returns the tag and the bytes of the first record, or `None` if there is none.
    pub(super) fn first<'m>(&self, memory: &'m [u8]) -> Option<(u8, &'m [u8])> {
        let tag = *memory.get(self.first as usize)?;
        Some((tag, bytes_of(memory, self.first)?))
    }

    /// Removes the first record.
    pub(super) fn pop(&mut self, memory: &[u8]) {
        self.first = next_of(memory, self.first);
        if self.first == 0 {
            *self = Chain::NONE;
        }
    }

    /// Passes the bytes of each record with its tag to `each`.
    pub(super) fn each(&self, memory: &[u8], mut each: impl FnMut(u8, &[u8])) {
        let mut rest = *self;
        while let Some((tag, bytes)) = rest.first(memory) {
            each(tag, bytes);
            rest.pop(memory);
        }
    }

    /// Returns the bytes behind `mark` that lie together, at most `left`, and moves the mark behind them. Returns none at
    /// the end of the chain.
    pub(super) fn next<'m>(&self, memory: &'m [u8], mark: &mut Mark, left: u64) -> &'m [u8] {
        loop {
            let rest = bytes_of(memory, mark.record).unwrap_or_default().get(mark.at as usize..).unwrap_or_default();
            if !rest.is_empty() {
                let len = rest.len().min(usize::try_from(left).unwrap_or(usize::MAX));
                mark.at = mark.at.saturating_add(len as u32);
                return rest.get(..len).unwrap_or_default();
            }
            let next = if mark.record == 0 { self.first } else { next_of(memory, mark.record) };
            if next == 0 {
                return &[];
            }
            *mark = Mark { record: next, at: 0 };
        }
    }
}

impl Mark {
    /// The beginning of a chain.
    pub(super) const START: Mark = Mark { record: 0, at: 0 };

    /// Returns the place `len` bytes earlier, which is in the same record.
    pub(super) fn back(self, len: u64) -> Mark {
        Mark { at: self.at.saturating_sub(u32::try_from(len).unwrap_or(u32::MAX)), ..self }
    }
}

fn word(memory: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*memory.get(at..)?.first_chunk()?))
}

fn set_word(memory: &mut [u8], at: usize, word: u32) {
    if let Some(to) = memory.get_mut(at..).and_then(|rest| rest.first_chunk_mut()) {
        *to = word.to_le_bytes();
    }
}

fn next_of(memory: &[u8], record: u32) -> u32 {
    if record == 0 {
        return 0;
    }
    word(memory, (record as usize).saturating_add(1)).unwrap_or(0)
}

fn bytes_of(memory: &[u8], record: u32) -> Option<&[u8]> {
    if record == 0 {
        return None;
    }
    let at = record as usize;
    let len = word(memory, at.saturating_add(5))? as usize;
    memory.get(at.saturating_add(HEADER)..)?.get(..len)
}

impl Log {
    /// Returns an empty log in the memory behind the first `base` bytes, which is not 0.
    pub(super) fn new(base: usize) -> Self {
        Log { base, len: base }
    }

    /// Returns how many bytes of the memory are in use.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Removes all records.
    pub(super) fn clear(&mut self) {
        self.len = self.base;
    }

    /// Appends what `write` writes to the chain. `write` also gets the bytes of the memory in use. Bytes with the tag
    /// [`Joined`](Tag::Joined) continue the last record of the chain if nothing lies behind it.
    ///
    /// Nothing is changed if the memory is too small, or if `write` fails.
    pub(super) fn append(
        &mut self,
        memory: &mut [u8],
        chain: &mut Chain,
        tag: Tag,
        write: impl FnOnce(&mut Frame<'_>, &[u8]) -> Result<(), WriteError>,
    ) -> Result<usize, WriteError> {
        let size = memory.len().min(u32::MAX as usize);
        let memory = memory.get_mut(..size).unwrap_or_default();
        let last_len = bytes_of(memory, chain.last).map_or(0, <[u8]>::len);
        let last_end = (chain.last as usize).saturating_add(HEADER).saturating_add(last_len);
        let joins = tag == Tag::Joined && !chain.is_empty() && last_end == self.len;
        let header = if joins { 0 } else { HEADER };
        let start = self.len.saturating_add(header);
        let (used, free) =
            memory.split_at_mut_checked(start.min(size)).ok_or(WriteError::NeedMemory { need: start })?;
        let room = free.len();
        let mut frame = Frame::new(free);
        write(&mut frame, used)?;
        let len = frame.len();
        let end = start.saturating_add(len);
        if len > room || start > size {
            return Err(WriteError::NeedMemory { need: end });
        }
        if joins {
            set_word(memory, (chain.last as usize).saturating_add(5), last_len.saturating_add(len) as u32);
        } else {
            let record = self.len as u32;
            if let Some(to) = memory.get_mut(self.len) {
                *to = tag as u8;
            }
            set_word(memory, self.len.saturating_add(1), 0);
            set_word(memory, self.len.saturating_add(5), len as u32);
            if chain.is_empty() {
                chain.first = record;
            } else {
                set_word(memory, (chain.last as usize).saturating_add(1), record);
            }
            chain.last = record;
        }
        self.len = end;
        Ok(len)
    }
}
