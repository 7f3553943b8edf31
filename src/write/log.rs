//! The log: what has to be written later, in the memory that the caller lends.

use super::out::{Frame, Span, Written};
use super::WriteError;

/// The records in the lent memory, behind what every event repeats.
///
/// A record is its tag (1 byte), the place of its call (1 byte), the length of its bytes (4 bytes), and these bytes. The
/// last one goes on to the end of the log, and its length is written when the next one begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Log {
    /// Where the records begin, which is not 0.
    base: usize,
    /// Where the last one begins, if there is one.
    last: usize,
    /// Where they end.
    len: usize,
}

/// A place in the log: behind the first `taken` bytes of the record at `at`. 0 is no record.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Mark {
    pub(super) at: u32,
    pub(super) taken: u32,
}

/// What a record has. The output of Responses is the texts of all records up to [`ItemEnd`](Tag::ItemEnd), in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd)]
#[repr(u8)]
pub(super) enum Tag {
    /// What separates two items.
    Comma,
    /// The beginning of an item, and of its part.
    Item,
    Part,
    /// A piece of the text of the item.
    Text,
    /// The end of the part, and of the item.
    PartEnd,
    ItemEnd,
    /// An annotation of the open item.
    Note,
    /// The ID of a call.
    Id,
    /// The name of a call, or a piece of it.
    Name,
    /// A fragment of arguments.
    Arguments,
    /// A list of arguments with their paths.
    Paths,
    /// The signature of a call.
    Signature,
    /// The stop sequence.
    Stop,
}

/// Length of a record without its bytes.
const HEADER: usize = 6;

/// A record: where it begins, its tag as a number, the place of its call, and its bytes.
#[derive(Clone, Copy)]
pub(super) struct Record<'m> {
    pub(super) at: u32,
    tag: u8,
    pub(super) place: usize,
    bytes: &'m [u8],
}

fn header(memory: &mut [u8], at: usize) -> Option<&mut [u8; HEADER]> {
    memory.get_mut(at..)?.first_chunk_mut()
}

impl Record<'_> {
    pub(super) fn is(&self, tag: Tag) -> bool {
        self.tag == tag as u8
    }

    /// Whether the tag of the record is one from the first to the second.
    pub(super) fn is_in(&self, (first, last): (Tag, Tag)) -> bool {
        (first as u8..=last as u8).contains(&self.tag)
    }
}

impl Mark {
    /// Begins with this record, unless an earlier one is marked.
    pub(super) fn begin(&mut self, at: u32) {
        if self.at == 0 {
            self.at = at;
        }
    }

    /// Moves the mark in its record.
    pub(super) fn take(&mut self, len: u32) {
        self.taken = self.taken.saturating_add(len);
    }
}

impl Log {
    /// Returns an empty log in the memory behind the first `base` bytes, which is not 0.
    pub(super) fn new(base: usize) -> Self {
        Log { base, last: base, len: base }
    }

    /// Returns how many bytes of the memory are in use.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Removes all records.
    pub(super) fn clear(&mut self) {
        *self = Log::new(self.base);
    }

    /// Returns the records from this offset on, or none if it is 0.
    fn records(self, memory: &[u8], from: u32) -> impl Iterator<Item = Record<'_>> {
        let mut at = if from == 0 { self.len } else { self.base.max(from as usize) };
        core::iter::from_fn(move || {
            let (header, rest) = memory.get(at..self.len)?.split_first_chunk::<HEADER>()?;
            let [tag, place, len @ ..] = *header;
            let len = if at == self.last { rest.len() } else { u32::from_le_bytes(len) as usize };
            let record = Record { at: at as u32, tag, place: place.into(), bytes: rest.get(..len)? };
            at = at.saturating_add(HEADER).saturating_add(len);
            Some(record)
        })
    }

    /// Returns the bytes of each record with this tag and this place, from this offset on.
    pub(super) fn bytes(self, memory: &[u8], from: u32, (tag, place): (Tag, usize)) -> impl Iterator<Item = &[u8]> {
        let is_it = move |record: &Record<'_>| record.is(tag) && record.place == place;
        self.records(memory, from).filter(is_it).map(|record| record.bytes)
    }

    /// Moves the mark to the first bytes from there on whose record `is_it`. Returns where they lie.
    pub(super) fn next(self, memory: &[u8], mark: &mut Mark, is_it: impl Fn(&Record<'_>) -> bool) -> Option<Span> {
        let taken = |record: &Record<'_>, mark: &Mark| if record.at == mark.at { mark.taken } else { 0 };
        let mut records = self.records(memory, mark.at);
        let record = records.find(|record| taken(record, mark) < record.bytes.len() as u32 && is_it(record))?;
        *mark = Mark { at: record.at, taken: taken(&record, mark) };
        let start = record.at.saturating_add(HEADER as u32).saturating_add(mark.taken);
        Some(Span { start, len: (record.bytes.len() as u32).saturating_sub(mark.taken) })
    }

    /// Appends what `write` writes as a record. A text goes on with a text before it.
    ///
    /// Nothing is changed if the memory is too small, or if a value is not JSON.
    pub(super) fn append(
        &mut self,
        memory: &mut [u8],
        (tag, place): (Tag, usize),
        write: impl FnOnce(&mut Frame<'_>),
    ) -> Written {
        let size = memory.len().min(u32::MAX as usize);
        let memory = memory.get_mut(..size).unwrap_or_default();
        let joins = tag == Tag::Text && self.len > self.last && memory.get(self.last) == Some(&(tag as u8));
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
        if !joins {
            let last_len = self.len.saturating_sub(self.last).saturating_sub(HEADER) as u32;
            if let Some([_, _, old @ ..]) = header(memory, self.last).filter(|_| self.len > self.last) {
                *old = last_len.to_le_bytes();
            }
            if let Some([new, of, ..]) = header(memory, self.len) {
                (*new, *of, self.last) = (tag as u8, place as u8, self.len);
            }
        }
        self.len = end;
        Ok(())
    }

    /// Takes bytes that lie behind the last record into it.
    #[inline(always)]
    pub(super) fn extend(&mut self, len: usize) {
        self.len = self.len.wrapping_add(len);
    }
}
