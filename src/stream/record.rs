//! Records: what a batch writes, and where.

use super::kind::Kind;
use super::{Frame, Machine};
use crate::chat::index::{top, Index};
use crate::json::{Text, TextFlags};

/// One thing of a batch: 64 bytes, no pointers, the layout of the C interface. Texts are offsets into the input or, where
/// a flag says so, into the scratch; one that is not there has length 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Record {
    /// A [`Kind`], by its number.
    pub kind: u16,
    /// `FLAG_*`.
    pub flags: u16,
    /// The index of the choice.
    pub choice: u32,
    /// The number of the tool call among those of its choice.
    pub call: u32,
    /// A finish reason, a quirk, a fault, a limit, a count of choices: by the kind.
    pub code: u32,
    /// A tool call's index, a time, an offset, a set of kinds: by the kind.
    pub number: u64,
    /// Offset of the text.
    pub text_off: u32,
    /// Its length.
    pub text_len: u32,
    /// Offset of the second text.
    pub aux_off: u32,
    /// Its length.
    pub aux_len: u32,
    /// Offset of the third text.
    pub extra_off: u32,
    /// Its length.
    pub extra_len: u32,
    /// Stream offset of its first byte.
    pub start: u64,
    /// One past its last byte.
    pub end: u64,
}

impl Record {
    /// All 0.
    const NONE: Record = Record {
        kind: 0,
        flags: 0,
        choice: 0,
        call: 0,
        code: 0,
        number: 0,
        text_off: 0,
        text_len: 0,
        aux_off: 0,
        aux_len: 0,
        extra_off: 0,
        extra_len: 0,
        start: 0,
        end: 0,
    };
}

/// The text lies in the scratch.
pub const FLAG_TEXT_SCRATCH: u16 = 1;
/// The second text lies in the scratch.
pub const FLAG_AUX_SCRATCH: u16 = 2;
/// The third text lies in the scratch.
pub const FLAG_EXTRA_SCRATCH: u16 = 4;
/// Another piece of the text follows.
pub const FLAG_MORE: u16 = 8;
/// The tool call opens.
pub const FLAG_OPENS: u16 = 16;
/// It opens under an index that an earlier call has.
pub const FLAG_REUSES: u16 = 32;
/// It is a call of a custom tool.
pub const FLAG_CUSTOM: u16 = 64;
/// The name replaces what came before.
pub const FLAG_REPLACES: u16 = 128;
/// The error is plain text.
pub const FLAG_PLAIN: u16 = 256;
/// [`Record::number`] says something.
pub const FLAG_NUMBER: u16 = 512;

/// The array or the scratch is full.
pub(super) struct Full;

/// The least of the scratch that a piece of text is put into.
const LEAST: usize = 16;

/// Not in the input.
const NOWHERE: u64 = u64::MAX;

/// Bytes, and their offset in the input if they lie there.
#[derive(Clone, Copy)]
pub(super) struct Bytes<'a> {
    pub(super) bytes: &'a [u8],
    /// The offset, or [`NOWHERE`]: one word, that it is read as it was written.
    place: u64,
}

impl<'a> Bytes<'a> {
    pub(super) const NONE: Bytes<'static> = Bytes { bytes: &[], place: NOWHERE };

    #[inline(always)]
    pub(super) fn new(bytes: &'a [u8], input: Option<u32>) -> Self {
        Bytes { bytes, place: input.map_or(NOWHERE, u64::from) }
    }

    /// Their offset in the input.
    #[inline(always)]
    fn input(&self) -> Option<u32> {
        u32::try_from(self.place).ok()
    }

    /// Where a text that is borrowed from them lies.
    #[inline(always)]
    fn offset_of(&self, text: Text<'_>) -> Option<u32> {
        let start = (text.raw().as_ptr() as usize).wrapping_sub(self.bytes.as_ptr() as usize);
        if start > self.bytes.len() {
            return None;
        }
        self.at(start)
    }

    /// Where a part of them that begins at `start` lies.
    #[inline]
    pub(super) fn at(&self, start: usize) -> Option<u32> {
        self.input().and_then(|input| u32::try_from(start).ok().and_then(|start| input.checked_add(start)))
    }
}

/// Where records and texts go.
pub struct Sink<'s> {
    records: &'s mut [Record],
    written: usize,
    scratch: &'s mut [u8],
    used: usize,
    need: usize,
    mask: u64,
}

impl<'s> Sink<'s> {
    /// Records of the kinds of `mask` ([`Kind::bit`]) go to `records`; texts that the input does not have as they are,
    /// to `scratch`, of 64 bytes at least.
    pub fn new(records: &'s mut [Record], scratch: &'s mut [u8], mask: u64) -> Self {
        Sink { records, written: 0, scratch, used: 0, need: 0, mask }
    }

    /// How many records were written.
    pub fn written(&self) -> usize {
        self.written
    }

    /// How many bytes of the scratch were written.
    pub fn used(&self) -> usize {
        self.used
    }

    /// If not 0: the next record has texts that are never split, and needs so much scratch.
    pub fn need(&self) -> usize {
        self.need
    }

    #[inline]
    pub(super) fn wants(&self, kind: u16) -> bool {
        self.mask >> (kind & 63) & 1 != 0
    }

    fn has_slot(&self) -> bool {
        self.written < self.records.len()
    }

    fn room(&self) -> usize {
        self.scratch.len().saturating_sub(self.used)
    }

    /// A record without texts.
    pub(super) fn put(&mut self, record: Record) -> Result<(), Full> {
        if !self.wants(record.kind) {
            return Ok(());
        }
        match self.records.get_mut(self.written) {
            Some(slot) => {
                *slot = record;
                self.written = self.written.saturating_add(1);
                Ok(())
            }
            None => Err(Full),
        }
    }

    pub(super) fn frame(&mut self, frame: Frame) -> Result<(), Full> {
        let Frame { start, end, choices, kinds } = frame;
        self.put(Record { kind: Kind::Frame as u16, code: choices, number: kinds, start, end, ..Record::default() })
    }

    /// The record of a chunk with neither a name nor a quirk, if its ID and its model can be given as they stand in the
    /// input. `false`: nothing was written.
    #[inline(always)]
    pub(super) fn chunk<const SLOTS: usize>(
        &mut self,
        machine: &Machine<SLOTS>,
        payload: Bytes<'_>,
        (start, end): (u64, u64),
    ) -> bool {
        if !self.wants(Kind::Chunk as u16) {
            return true;
        }
        let index = machine.index();
        let (Some((text_off, text_len)), Some((aux_off, aux_len))) =
            (plain_member(index, payload, top::ID), plain_member(index, payload, top::MODEL))
        else {
            return false;
        };
        let created = match index.top(payload.bytes, top::CREATED) {
            None => None,
            Some(value) => match ten_digits(value.raw()) {
                None => machine.chunk(payload.bytes, b"").created(),
                number => number,
            },
        };
        let Some(slot) = self.records.get_mut(self.written) else { return false };
        *slot = Record {
            kind: Kind::Chunk as u16,
            flags: if created.is_some() { FLAG_NUMBER } else { 0 },
            choice: 0,
            call: 0,
            code: index.choices,
            number: created.unwrap_or(0),
            text_off,
            text_len,
            aux_off,
            aux_len,
            extra_off: 0,
            extra_len: 0,
            start,
            end,
        };
        self.written = self.written.saturating_add(1);
        true
    }

    /// A text as it stands in the input, or decoded, if all of it fits into one record. `false`: nothing was written.
    #[inline(always)]
    pub(super) fn put_now(
        &mut self,
        kind: Kind,
        choice: u32,
        call: u32,
        (start, end): (u64, u64),
        text: Text<'_>,
        payload: Bytes<'_>,
    ) -> bool {
        if !self.wants(kind as u16) {
            return true;
        }
        let stands = if stands(text) { payload.offset_of(text) } else { None };
        let (flags, text_off, text_len) = match stands {
            Some(off) => (0, off, text.raw().len() as u32),
            None => match self.decode(text) {
                Some((off, len)) => (FLAG_TEXT_SCRATCH, off, len),
                None => return false,
            },
        };
        let Some(slot) = self.records.get_mut(self.written) else { return false };
        let record = Record { kind: kind as u16, flags, choice, call, text_off, text_len, start, end, ..Record::NONE };
        *slot = record;
        self.written = self.written.saturating_add(1);
        self.used = self.used.saturating_add(if flags == 0 { 0 } else { text_len as usize });
        true
    }

    /// Decodes a text to the free part of the scratch, if all of it fits and a record is free.
    #[inline(never)]
    fn decode(&mut self, mut text: Text<'_>) -> Option<(u32, u32)> {
        if !self.has_slot() || self.room() < LEAST {
            return None;
        }
        let len = text.take_to(self.scratch.get_mut(self.used..)?);
        text.is_empty().then_some((self.used as u32, len as u32))
    }

    /// Room in the scratch for all of these, and beside them for `more`.
    fn reserve(&mut self, len: usize, more: usize) -> Result<(), Full> {
        if len.saturating_add(more) <= self.room() {
            return Ok(());
        }
        if len.saturating_add(more) > self.scratch.len() {
            self.need = len.saturating_add(more);
        }
        Err(Full)
    }

    /// Copies bytes to the scratch, as many as fit: where they are.
    fn copy(&mut self, bytes: &[u8]) -> (u32, u32) {
        let at = self.used;
        let len = bytes.len().min(self.room());
        match (self.scratch.get_mut(at..at.saturating_add(len)), bytes.get(..len)) {
            (Some(to), Some(from)) if to.len() == from.len() => {
                to.copy_from_slice(from);
                self.used = at.saturating_add(len);
                (at as u32, len as u32)
            }
            _ => (0, 0),
        }
    }

    /// A record with up to three texts that are not split.
    pub(super) fn put_whole(
        &mut self,
        mut record: Record,
        text: Whole<'_>,
        aux: Whole<'_>,
        extra: Whole<'_>,
    ) -> Result<(), Full> {
        if !self.wants(record.kind) {
            return Ok(());
        }
        if !self.has_slot() {
            return Err(Full);
        }
        self.reserve(text.scratch().saturating_add(aux.scratch()).saturating_add(extra.scratch()), 0)?;
        self.lay(&mut record, 0, &text);
        self.lay(&mut record, 1, &aux);
        self.lay(&mut record, 2, &extra);
        self.put(record)
    }

    /// Puts one of a record's texts where it belongs.
    fn lay(&mut self, record: &mut Record, which: u32, whole: &Whole<'_>) {
        let (off, len, flag) = match *whole {
            Whole::Input(off, len) => (off, len, 0),
            Whole::Bytes(bytes) => {
                let (off, len) = self.copy(bytes);
                (off, len, FLAG_TEXT_SCRATCH << which)
            }
            Whole::Text(mut text, _) => {
                let at = self.used;
                let len = text.take_to(self.scratch.get_mut(at..).unwrap_or_default());
                self.used = at.saturating_add(len);
                (at as u32, len as u32, FLAG_TEXT_SCRATCH << which)
            }
        };
        record.flags |= flag;
        let (to_off, to_len) = match which {
            0 => (&mut record.text_off, &mut record.text_len),
            1 => (&mut record.aux_off, &mut record.aux_len),
            _ => (&mut record.extra_off, &mut record.extra_len),
        };
        (*to_off, *to_len) = (off, len);
    }

    /// Bytes, in pieces if they have to go to the scratch, with two texts that are not split in each. `taken` is how many
    /// were given before.
    pub(super) fn put_bytes(
        &mut self,
        record: Record,
        source: Bytes<'_>,
        taken: &mut usize,
        aux: &Whole<'_>,
        extra: &Whole<'_>,
    ) -> Result<(), Full> {
        if !self.wants(record.kind) {
            return Ok(());
        }
        loop {
            if !self.has_slot() {
                return Err(Full);
            }
            let beside = aux.scratch().saturating_add(extra.scratch());
            let mut record = record;
            if let Some(off) = source.input() {
                self.reserve(beside, 0)?;
                self.lay(&mut record, 0, &Whole::Input(off, source.bytes.len() as u32));
                self.lay(&mut record, 1, aux);
                self.lay(&mut record, 2, extra);
                return self.put(record);
            }
            let rest = source.bytes.get(*taken..).unwrap_or_default();
            // A piece is no shorter than what is copied beside it, so that the copying stays linear.
            self.reserve(beside, rest.len().min(beside.max(LEAST)))?;
            self.lay(&mut record, 1, aux);
            self.lay(&mut record, 2, extra);
            let (off, len) = self.copy(rest);
            record.flags |= FLAG_TEXT_SCRATCH;
            (record.text_off, record.text_len) = (off, len);
            *taken = taken.saturating_add(len as usize);
            let more = *taken < source.bytes.len();
            if more {
                record.flags |= FLAG_MORE;
            }
            self.put(record)?;
            if !more {
                return Ok(());
            }
        }
    }

    /// A text, in pieces if it has to go to the scratch. What is left of it is kept in `text`. `input` is where its bytes
    /// lie in the input, if they may be given as they are.
    pub(super) fn put_text(&mut self, mut record: Record, text: &mut Text<'_>, input: Option<u32>) -> Result<(), Full> {
        if !self.wants(record.kind) {
            return Ok(());
        }
        if !self.has_slot() {
            return Err(Full);
        }
        if let Some(off) = input {
            if let Some(str) = text.as_str() {
                (record.text_off, record.text_len) = (off, str.len() as u32);
                return self.put(record);
            }
        }
        loop {
            if !self.has_slot() {
                return Err(Full);
            }
            self.reserve(0, LEAST)?;
            let at = self.used;
            let len = text.take_to(self.scratch.get_mut(at..).unwrap_or_default());
            self.used = at.saturating_add(len);
            let more = if text.is_empty() { 0 } else { FLAG_MORE };
            let flags = record.flags | FLAG_TEXT_SCRATCH | more;
            self.put(Record { flags, text_off: at as u32, text_len: len as u32, ..record })?;
            if more == 0 {
                return Ok(());
            }
        }
    }
}

/// Where a member of the top level lies in the input, between its quotes: if it is a string that stands for itself, or is
/// not there or empty.
#[inline(always)]
fn plain_member(index: &Index, payload: Bytes<'_>, member: usize) -> Option<(u32, u32)> {
    let Some(value) = index.top(payload.bytes, member) else { return Some((0, 0)) };
    let text = value.as_text()?;
    if text.is_empty() {
        return Some((0, 0));
    }
    stands(text).then_some((payload.offset_of(text)?, text.raw().len() as u32))
}

/// The number that ten digits are: a time in seconds has as many until the year 2286.
#[inline(always)]
fn ten_digits(raw: &[u8]) -> Option<u64> {
    let [a, b, c, d, e, f, g, h, tens, ones] = *<&[u8; 10]>::try_from(raw).ok()?;
    let digits = u64::from_le_bytes([a, b, c, d, e, f, g, h]) ^ 0x3030_3030_3030_3030;
    let (tens, ones) = (tens ^ b'0', ones ^ b'0');
    // A byte of 10 or more has a bit in its upper half, or gets one by 6 more.
    let odd = (digits.wrapping_add(0x0606_0606_0606_0606) | digits) & 0xf0f0_f0f0_f0f0_f0f0;
    if odd != 0 || tens > 9 || ones > 9 {
        return None;
    }
    // Two digits side by side, then four, then eight.
    let twos = digits.wrapping_mul(10).wrapping_add(digits >> 8) & 0x00ff_00ff_00ff_00ff;
    let fours = twos.wrapping_mul(100).wrapping_add(twos >> 16) & 0x0000_ffff_0000_ffff;
    let eights = fours.wrapping_mul(10_000).wrapping_add(fours >> 32) & 0xffff_ffff;
    Some(eights.wrapping_mul(100).wrapping_add(u64::from(tens) * 10).wrapping_add(u64::from(ones)))
}

/// Whether a text can be given as its bytes stand.
#[inline(always)]
fn stands(text: Text<'_>) -> bool {
    text.parts() == (TextFlags::PLAIN, 0) || text.as_str().is_some()
}

/// A text that is not split.
#[derive(Clone, Copy)]
pub(super) enum Whole<'a> {
    /// As it is in the input.
    Input(u32, u32),
    /// To be copied.
    Bytes(&'a [u8]),
    /// To be decoded, to so many bytes.
    Text(Text<'a>, usize),
}

impl<'a> Whole<'a> {
    pub(super) const NONE: Whole<'static> = Whole::Input(0, 0);

    pub(super) fn bytes(bytes: Bytes<'a>) -> Self {
        match bytes.input() {
            _ if bytes.bytes.is_empty() => Whole::NONE,
            Some(off) => Whole::Input(off, bytes.bytes.len() as u32),
            None => Whole::Bytes(bytes.bytes),
        }
    }

    /// A text whose bytes lie at `input` in the input, if they lie there.
    pub(super) fn text(text: Option<Text<'a>>, input: impl FnOnce(&[u8]) -> Option<u32>) -> Self {
        let Some(text) = text else { return Whole::NONE };
        if let (Some(str), Some(off)) = (text.as_str(), input(text.raw())) {
            return Whole::Input(off, str.len() as u32);
        }
        Whole::Text(text, text.decoded_len())
    }

    fn scratch(&self) -> usize {
        match self {
            Whole::Input(..) => 0,
            Whole::Bytes(bytes) => bytes.len(),
            Whole::Text(_, len) => *len,
        }
    }
}

#[cfg(test)]
mod tests;
