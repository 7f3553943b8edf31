//! Finds the new part of a value that repeats everything sent so far: audio and `reasoning_details` of whole messages,
//! and their log probabilities.

use super::details::Listed;
use super::record::{kind, LogRecords, RecordKey};
use super::table::{LoggedChoice, Rows};
use super::write::LogWriter;
use crate::chat::OtherMember;
use crate::json::{self, Text, Value, ValueKind};

impl<T: Rows + ?Sized> LogWriter<'_, T> {
    fn records(&mut self) -> LogRecords<'_> {
        self.state.fill.settle(self.buffer);
        LogRecords::of(self.buffer.get(..self.state.fill.len).unwrap_or_default())
    }

    /// Whether these `reasoning_details` are new. Those of a whole `message` are not new if the choice already has
    /// some.
    pub(super) fn is_new_of_details(&mut self, member: &OtherMember<'_>) -> bool {
        let Some(place) = self.state.table.place(member.choice).filter(|_| member.in_message) else { return true };
        // An empty array, which many servers repeat, adds nothing.
        if is_empty(member.value) || !self.may_read(member.value.raw()) {
            return false;
        }
        let mut listed = Listed::of(self.records(), RecordKey::new(kind::DETAILS, place, 0));
        let (has_any, count) = (listed.next().is_some(), listed.records.count);
        self.count_reads(count);
        !has_any
    }

    /// Returns the offset in `array` after the elements that the log already has. Returns 0 if the array does not begin
    /// with these elements, because then all of its elements are new.
    #[cold]
    #[inline(never)]
    pub(super) fn known_of_list(&mut self, key: RecordKey, array: Value<'_>) -> usize {
        if is_empty(array) {
            return 0;
        }
        let mut known = Listed::of(self.records(), key);
        let (at, count) = (after_known(array, &mut known), known.records.count);
        self.count_reads(count);
        at.unwrap_or(0)
    }

    /// Returns the new part of the data of a choice's audio, which is all of it if it does not begin with the data in
    /// the log.
    #[cold]
    #[inline(never)]
    pub(super) fn new_in_data<'t>(&mut self, place: u16, data: Text<'t>) -> Text<'t> {
        let mut pieces = Listed::of(self.records(), RecordKey::new(kind::AUDIO_DATA, place, 0));
        let new = strip_known(data, pieces.by_ref().filter_map(|piece| piece.as_text()));
        let count = pieces.records.count;
        self.count_reads(count);
        new.unwrap_or(data)
    }

    /// Returns the new part of the transcript of a choice's audio, which is all of it if it does not begin with the
    /// transcript in the log.
    #[cold]
    #[inline(never)]
    pub(super) fn new_in_transcript<'t>(
        &mut self,
        place: u16,
        row: &mut LoggedChoice,
        transcript: Text<'t>,
    ) -> Text<'t> {
        let key = RecordKey::new(kind::AUDIO_TRANSCRIPT, place, 0);
        let mut records = self.records();
        let pieces = records.by_ref().filter(|record| record.key == key);
        let new = strip_known(transcript, pieces.map(|piece| Text::verbatim(piece.body)));
        let count = records.count;
        self.count_reads(count);
        let Some(new) = new else { return transcript };
        // The transcript repeats the half of a surrogate pair that was pending.
        row.transcript_half = None;
        new
    }
}

/// Whether a value is an array without elements.
#[cold]
fn is_empty(value: Value<'_>) -> bool {
    value.kind() == ValueKind::Array && value.element_at(&mut 0).is_none()
}

/// Returns the offset in `array` after the `known` elements. Returns `None` if the array does not begin with them.
#[cold]
fn after_known(array: Value<'_>, known: &mut Listed<'_>) -> Option<usize> {
    let mut at = 0;
    for known in known {
        let (item, is_strict) = json::element_at(array, &mut at)?;
        let mut left = Some(known.raw());
        let mut compare = |bytes: &[u8]| left = left.and_then(|left| left.strip_prefix(bytes));
        if is_strict {
            compare(item);
        } else {
            json::rewrite(item, &mut compare);
        }
        left.filter(|left| left.is_empty())?;
    }
    Some(at)
}

/// Returns the rest of a text after the `known` texts. Returns `None` if the text does not begin with them.
fn strip_known<'t, 'k>(mut text: Text<'t>, known: impl Iterator<Item = Text<'k>>) -> Option<Text<'t>> {
    for mut known in known {
        while !known.is_empty() {
            let (mut expected, mut found) = ([0; 64], [0; 64]);
            let len = known.take_to(&mut expected);
            if text.take_to(found.get_mut(..len)?) != len || found != expected {
                return None;
            }
        }
    }
    Some(text)
}
