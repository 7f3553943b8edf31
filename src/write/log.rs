//! The log: what has to be written later, in the memory that the caller lends.

use super::out::{Frame, Written};
use super::WriteError;

/// The records in the lent memory, behind what every event repeats.
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
    /// The signature of a call.
    Signature = 7,
}

/// Length of a record without its bytes.
const HEADER: usize = 9;

/// Returns the tag, the next record and the bytes of a record.
fn record(memory: &[u8], at: u32) -> Option<(u8, u32, &[u8])> {
    let (header, rest) = memory.get(at as usize..)?.split_first_chunk::<HEADER>()?;
    let [tag, n0, n1, n2, n3, len @ ..] = *header;
    let bytes = rest.get(..u32::from_le_bytes(len) as usize)?;
    (at > 0).then_some((tag, u32::from_le_bytes([n0, n1, n2, n3]), bytes))
}

fn set_word(memory: &mut [u8], at: usize, word: u32) {
    if let Some(to) = memory.get_mut(at..).and_then(|rest| rest.first_chunk_mut()) {
        *to = word.to_le_bytes();
    }
}

impl Chain {
    /// Whether the chain has no record.
    pub(super) fn is_empty(&self) -> bool {
        self.first == 0
    }

    /// Returns the place behind the last byte.
    pub(super) fn end(&self, memory: &[u8]) -> Mark {
        Mark { record: self.last, at: record(memory, self.last).map_or(0, |(.., bytes)| bytes.len() as u32) }
    }

    /// Removes the first record.
    pub(super) fn pop(&mut self, memory: &[u8]) {
        self.first = record(memory, self.first).map_or(0, |(_, next, _)| next);
        if self.first == 0 {
            *self = Chain::default();
        }
    }

    /// Returns the tag and the bytes of each record.
    pub(super) fn records<'m>(&self, memory: &'m [u8]) -> impl Iterator<Item = (u8, &'m [u8])> {
        let mut rest = self.first;
        core::iter::from_fn(move || {
            let (tag, next, bytes) = record(memory, rest)?;
            rest = next;
            Some((tag, bytes))
        })
    }

    /// Returns the bytes behind `mark` that lie together, at most `left`, and moves the mark behind them. Returns none at
    /// the end of the chain.
    pub(super) fn next<'m>(&self, memory: &'m [u8], mark: &mut Mark, left: u64) -> &'m [u8] {
        loop {
            let (next, bytes) = record(memory, mark.record).map_or((self.first, &[][..]), |(_, next, all)| (next, all));
            let rest = bytes.get(mark.at as usize..).unwrap_or_default();
            if !rest.is_empty() {
                let len = rest.len().min(usize::try_from(left).unwrap_or(usize::MAX));
                mark.at = mark.at.saturating_add(len as u32);
                return rest.get(..len).unwrap_or_default();
            }
            if next == 0 {
                return &[];
            }
            *mark = Mark { record: next, at: 0 };
        }
    }
}

impl Mark {
    /// Returns the place `len` bytes earlier, which is in the same record.
    pub(super) fn back(self, len: u64) -> Mark {
        Mark { at: self.at.saturating_sub(u32::try_from(len).unwrap_or(u32::MAX)), ..self }
    }
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

    /// Appends what `write` writes to the chain. Bytes with the tag [`Joined`](Tag::Joined) continue the last record of
    /// the chain if nothing lies behind it. Returns how many bytes.
    ///
    /// Nothing is changed if the memory is too small, or if a value is not JSON.
    pub(super) fn append(
        &mut self,
        memory: &mut [u8],
        chain: &mut Chain,
        tag: Tag,
        write: impl FnOnce(&mut Frame<'_>),
    ) -> Written<usize> {
        let size = memory.len().min(u32::MAX as usize);
        let memory = memory.get_mut(..size).unwrap_or_default();
        let last = chain.last as usize;
        let last_len = record(memory, chain.last).map_or(0, |(.., bytes)| bytes.len());
        let last_end = last.saturating_add(HEADER).saturating_add(last_len);
        let joins = tag == Tag::Joined && !chain.is_empty() && last_end == self.len;
        let start = if joins { self.len } else { self.len.saturating_add(HEADER) };
        let (used, free) = memory.split_at_mut_checked(start).ok_or(WriteError::NeedMemory { need: start })?;
        let room = free.len();
        let mut frame = Frame::new(free, used);
        write(&mut frame);
        let len = frame.end()?;
        let end = start.saturating_add(len);
        if len > room {
            return Err(WriteError::NeedMemory { need: end });
        }
        if joins {
            set_word(memory, last.saturating_add(5), last_len.saturating_add(len) as u32);
        } else {
            let record = self.len as u32;
            memory.get_mut(self.len).into_iter().for_each(|to| *to = tag as u8);
            set_word(memory, self.len.saturating_add(1), 0);
            set_word(memory, self.len.saturating_add(5), len as u32);
            if chain.is_empty() {
                chain.first = record;
            } else {
                set_word(memory, last.saturating_add(1), record);
            }
            chain.last = record;
        }
        self.len = end;
        Ok(len)
    }

    /// Takes `len` bytes behind the last record into the log. [`seal`](Self::seal) makes them part of that record.
    #[inline(always)]
    pub(super) fn extend(&mut self, len: usize) {
        self.len = self.len.wrapping_add(len);
    }

    /// Makes all bytes up to the end of the log part of the last record, which is the last of this chain. Returns how many
    /// it has more now.
    pub(super) fn seal(&self, memory: &mut [u8], chain: Chain) -> usize {
        let old = record(memory, chain.last).map_or(0, |(.., bytes)| bytes.len());
        let len = self.len.saturating_sub(chain.last as usize).saturating_sub(HEADER);
        set_word(memory, (chain.last as usize).saturating_add(5), len as u32);
        len.saturating_sub(old)
    }
}
