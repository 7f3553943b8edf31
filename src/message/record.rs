//! The records of a log, which lie one after the other. Each has a header and a body.

use crate::json::Text;
use crate::visits::visit;

/// What a record holds. Records from [`ROLE`](kind::ROLE) on belong to a choice; those from
/// [`CALL_CUSTOM`](kind::CALL_CUSTOM) on belong to a call.
pub(super) mod kind {
    use crate::delta::Meta;

    // Up to `MODEL`: texts of the top level. If the text is a `Meta`, the kind has the number of that `Meta`.
    pub(in crate::message) const ID: u8 = 0;
    pub(in crate::message) const OBJECT: u8 = Meta::Object as u8;
    pub(in crate::message) const SYSTEM_FINGERPRINT: u8 = Meta::SystemFingerprint as u8;
    pub(in crate::message) const SERVICE_TIER: u8 = Meta::ServiceTier as u8;
    pub(in crate::message) const PROVIDER: u8 = Meta::Provider as u8;
    pub(in crate::message) const MODEL: u8 = 5;
    /// Raw JSON.
    pub(in crate::message) const USAGE: u8 = 6;
    /// Raw JSON.
    pub(in crate::message) const ERROR_JSON: u8 = 7;
    pub(in crate::message) const ERROR_TEXT: u8 = 8;
    /// A member of a provider, of any owner ([`Entry`](super::super::members::Entry)).
    pub(in crate::message) const MEMBER: u8 = 9;
    /// A member that another value replaced.
    pub(in crate::message) const DEAD: u8 = 10;

    pub(in crate::message) const ROLE: u8 = 11;
    pub(in crate::message) const FINISH_REASON: u8 = 12;
    pub(in crate::message) const NATIVE_FINISH_REASON: u8 = 13;
    /// Raw JSON.
    pub(in crate::message) const CHOICE_ERROR_JSON: u8 = 14;
    pub(in crate::message) const CHOICE_ERROR_TEXT: u8 = 15;
    /// A list. Each list is strict JSON with commas between the items.
    pub(in crate::message) const ANNOTATIONS: u8 = 16;
    /// The list of the entries of `reasoning_details`. It may contain halves of surrogate pairs, which join when it is
    /// read.
    pub(in crate::message) const DETAILS: u8 = 17;
    /// The list of the pieces of audio, which are strings.
    pub(in crate::message) const AUDIO_DATA: u8 = 18;
    /// The first of six lists of log probabilities.
    pub(in crate::message) const LISTS: u8 = 19;

    /// The list of signatures, which are strings.
    pub(in crate::message) const SIGNATURES: u8 = 25;
    /// The list of the parts of another protocol that have no kind of their own.
    pub(in crate::message) const PARTS: u8 = 26;

    pub(in crate::message) const CONTENT: u8 = 27;
    pub(in crate::message) const REFUSAL: u8 = 28;
    pub(in crate::message) const REASONING: u8 = 29;
    pub(in crate::message) const FUNCTION_NAME: u8 = 30;
    pub(in crate::message) const FUNCTION_ARGUMENTS: u8 = 31;
    pub(in crate::message) const AUDIO_ID: u8 = 32;
    pub(in crate::message) const AUDIO_TRANSCRIPT: u8 = 33;
    /// The name of the member that contains the first reasoning.
    pub(in crate::message) const REASONING_NAME: u8 = 34;

    /// An empty record, which marks the call as one of a custom tool.
    pub(in crate::message) const CALL_CUSTOM: u8 = 35;
    pub(in crate::message) const CALL_ID: u8 = 36;
    pub(in crate::message) const CALL_TYPE: u8 = 37;
    pub(in crate::message) const CALL_NAME: u8 = 38;
    pub(in crate::message) const CALL_ARGUMENTS: u8 = 39;
    /// The list of Gemini's `partialArgs`: the arguments of a call that came by path.
    pub(in crate::message) const CALL_PARTIALS: u8 = 40;

    /// Returns the kind of an error in plain text that corresponds to this kind of one in raw JSON.
    pub(in crate::message) const fn error_text(json: u8) -> u8 {
        if json == ERROR_JSON {
            ERROR_TEXT
        } else {
            CHOICE_ERROR_TEXT
        }
    }
}

/// The kind of a record, and the choice or call that it belongs to. Records with the same key are pieces of one text or
/// list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RecordKey(u64);

impl RecordKey {
    /// Creates a key. `choice` is a place in the table of choices, and `call` the number of a call; each is 0 if the
    /// record belongs to none.
    #[inline]
    pub(super) fn new(kind: u8, choice: u16, call: u32) -> Self {
        RecordKey(u64::from(kind) | u64::from(choice) << 16 | u64::from(call) << 32)
    }

    #[inline]
    pub(super) fn kind(self) -> u8 {
        self.0 as u8
    }

    #[inline]
    pub(super) fn choice(self) -> u16 {
        (self.0 >> 16) as u16
    }

    #[inline]
    pub(super) fn call(self) -> u32 {
        (self.0 >> 32) as u32
    }

    /// Returns the key with this rank, which only [members](super::members::Entry) have.
    pub(super) fn with_rank(self, rank: u8) -> Self {
        RecordKey(self.0 | u64::from(rank) << 8)
    }

    pub(super) fn rank(self) -> u8 {
        (self.0 >> 8) as u8
    }

    /// Whether its records contain a list of log probabilities.
    pub(super) fn is_of_logprobs(self) -> bool {
        (kind::LISTS..kind::SIGNATURES).contains(&self.kind())
    }

    /// Whether its records contain items of a list, with commas between them.
    pub(super) fn is_list(self) -> bool {
        (kind::ANNOTATIONS..kind::CONTENT).contains(&self.kind()) || self.kind() == kind::CALL_PARTIALS
    }
}

/// Length of a header in bytes: the key, and the length of the body.
pub(super) const HEADER: usize = 12;

/// How far the buffer is filled. Bytes that do not fit are counted, too. Then `len` exceeds the length of the buffer,
/// and the writer must roll back.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fill {
    pub(super) len: usize,
    /// A running count, modulo 2^32, of the bytes written to bodies, without the commas between items. The difference
    /// of two counts is how many bytes an update wrote.
    pub(super) texts: u32,
    /// The last record, if it may still grow.
    tail: Option<Tail>,
}

#[derive(Clone, Copy, Debug)]
struct Tail {
    key: RecordKey,
    /// Length of its body in bytes. The body ends where the filled part of the buffer ends.
    len: u32,
}

impl Tail {
    /// Writes its length to its header. `end` is where its body ends. Does nothing for a record that does not fit,
    /// because the writer will roll back.
    #[inline(always)]
    fn settle(&self, buffer: &mut [u8], end: usize) -> Option<()> {
        let (before, _) = buffer.get_mut(..end)?.split_at_mut_checked(end.checked_sub(self.len as usize)?)?;
        *before.last_chunk_mut()? = self.len.to_le_bytes();
        Some(())
    }
}

impl Fill {
    pub(super) const EMPTY: Fill = Fill { len: 0, texts: 0, tail: None };

    /// Begins a record, or continues the last one if it has this key.
    #[inline]
    pub(super) fn begin(&mut self, buffer: &mut [u8], key: RecordKey) {
        match &self.tail {
            Some(tail) if tail.key == key => {
                if key.is_list() && tail.len > 0 {
                    let texts = self.texts;
                    self.put(buffer, b",");
                    self.texts = texts;
                }
            }
            _ => self.begin_new(buffer, key),
        }
    }

    #[inline(never)]
    fn begin_new(&mut self, buffer: &mut [u8], key: RecordKey) {
        self.settle(buffer);
        let at = self.len;
        let header = buffer.get_mut(at..at.saturating_add(HEADER)).unwrap_or_default();
        copy(header, &key.0.to_le_bytes());
        self.len = at.saturating_add(HEADER);
        self.tail = Some(Tail { key, len: 0 });
    }

    /// Appends a text, decoded, to the last record, if that record has this key and all of the text fits before `end`.
    /// Returns how many bytes it appended.
    #[inline]
    pub(super) fn extend(&mut self, buffer: &mut [u8], end: usize, key: RecordKey, text: Text<'_>) -> Option<usize> {
        self.tail.as_ref().filter(|tail| tail.key == key)?;
        let room = buffer.get_mut(self.len..end)?;
        let len = match text.copy_unchanged(room) {
            Some(len) => len,
            None => Some(text.copy_to(room)).filter(|copied| copied.complete)?.written,
        };
        self.grow(len);
        self.settle(buffer);
        Some(len)
    }

    /// Appends bytes to the last record.
    #[inline]
    pub(super) fn put(&mut self, buffer: &mut [u8], bytes: &[u8]) {
        visit!(bytes.len());
        let end = self.len.saturating_add(bytes.len());
        if let Some(room) = buffer.get_mut(self.len..end) {
            copy(room, bytes);
        }
        self.grow(bytes.len());
    }

    /// Appends a text, decoded, to the last record.
    pub(super) fn put_text(&mut self, buffer: &mut [u8], text: Text<'_>) {
        let copied = text.copy_to(buffer.get_mut(self.len..).unwrap_or_default());
        self.grow(if copied.complete { copied.written } else { text.decoded_len() });
    }

    /// Counts bytes that were appended to the last record.
    #[inline(always)]
    pub(super) fn grow(&mut self, len: usize) {
        self.len = self.len.saturating_add(len);
        self.texts = self.texts.wrapping_add(len as u32);
        if let Some(tail) = &mut self.tail {
            tail.len = tail.len.saturating_add(u32::try_from(len).unwrap_or(u32::MAX));
        }
    }

    /// Writes the length of the last record to its header.
    #[inline(always)]
    pub(super) fn settle(&self, buffer: &mut [u8]) {
        self.tail.as_ref().and_then(|tail| tail.settle(buffer, self.len));
    }

    /// Ends the last record. Returns where the next one begins.
    pub(super) fn seal(&mut self, buffer: &mut [u8]) -> u32 {
        self.settle(buffer);
        self.tail = None;
        u32::try_from(self.len).unwrap_or(u32::MAX)
    }

    /// Removes the records that are not `live`, and joins pieces that become neighbors.
    pub(super) fn pack(&mut self, buffer: &mut [u8], live: impl Fn(&LogRecord<'_>) -> bool) {
        self.settle(buffer);
        let (end, mut from) = (self.len, 0);
        *self = Fill::EMPTY;
        while let Some(record) = LogRecord::at(buffer.get(..end).unwrap_or_default(), from) {
            let body = from.saturating_add(HEADER);
            let (key, len, keep) = (record.key, record.body.len(), live(&record));
            from = body.saturating_add(len);
            if !keep {
                continue;
            }
            // A header or a comma takes no more bytes than the old header, so nothing is overwritten before it is read.
            self.begin(buffer, key);
            let (mut source, mut left) = (body, len);
            let gap = source.saturating_sub(self.len);
            if gap == 0 {
                self.grow(len);
                continue;
            }
            while left > 0 {
                let step = left.min(gap);
                let Some((before, after)) = buffer.split_at_mut_checked(source) else { return };
                self.put(before, after.get(..step).unwrap_or_default());
                source = source.saturating_add(step);
                left = left.saturating_sub(step);
            }
        }
        self.settle(buffer);
    }
}

/// Copies as many bytes as both slices have.
#[inline]
pub(super) fn copy(to: &mut [u8], from: &[u8]) {
    let len = to.len().min(from.len());
    if let (Some(to), Some(from)) = (to.get_mut(..len), from.get(..len)) {
        to.copy_from_slice(from);
    }
}

/// A record.
#[derive(Clone, Copy)]
pub(super) struct LogRecord<'b> {
    /// The offset at which it begins.
    pub(super) at: u32,
    pub(super) key: RecordKey,
    pub(super) body: &'b [u8],
}

impl<'b> LogRecord<'b> {
    pub(super) fn at(log: &'b [u8], at: usize) -> Option<Self> {
        visit!(HEADER);
        let (key, rest) = log.get(at..)?.split_first_chunk::<8>()?;
        let (len, rest) = rest.split_first_chunk::<4>()?;
        let body = rest.get(..usize::try_from(u32::from_le_bytes(*len)).ok()?)?;
        Some(LogRecord { at: u32::try_from(at).ok()?, key: RecordKey(u64::from_le_bytes(*key)), body })
    }
}

/// The records of a log, in order.
#[derive(Clone)]
pub(super) struct LogRecords<'b> {
    log: &'b [u8],
    at: usize,
    /// How many records were read.
    pub(super) count: u32,
}

impl<'b> LogRecords<'b> {
    pub(super) fn of(log: &'b [u8]) -> Self {
        LogRecords { log, at: 0, count: 0 }
    }
}

impl<'b> Iterator for LogRecords<'b> {
    type Item = LogRecord<'b>;

    fn next(&mut self) -> Option<LogRecord<'b>> {
        let record = LogRecord::at(self.log, self.at)?;
        self.at = self.at.saturating_add(HEADER).saturating_add(record.body.len());
        self.count = self.count.saturating_add(1);
        Some(record)
    }
}
