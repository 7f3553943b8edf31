//! Reads a completion from a log.

use super::completion::{Audio, Choice, Completion, Failure, FunctionCall, Logprobs, Member, RawJson, ToolCall};
use super::error::LogError;
use super::log::MessageLogOf;
use super::members::Entry;
use super::read::{put_list, Field};
use super::record::{kind, LogRecord, RecordKey};
use super::table::{flag, LoggedCall, LoggedChoice, Rows};
use super::tokens::LISTS;
use crate::chat::Owner;
use alloc::string::String;
use alloc::vec::Vec;

/// A log, and where the live records of each key are. A message may have hundreds of calls, each with a few texts in
/// thousands of pieces, so the log is not read again for each text.
struct Sorted<'b, T: Rows + ?Sized> {
    log: &'b MessageLogOf<T>,
    buffer: &'b [u8],
    /// The key of each live record and where the record begins, in ascending order.
    records: Vec<(RecordKey, u32)>,
}

impl<T: Rows + ?Sized> MessageLogOf<T> {
    /// Returns the message so far.
    ///
    /// # Errors
    ///
    /// [`OutOfMemory`](LogError::OutOfMemory).
    pub(super) fn completion(&self, buffer: &[u8]) -> Result<Completion, LogError> {
        let live = || self.records(buffer).filter(|record| self.state.table.is_live(record));
        let mut records = with_room(live().count())?;
        records.extend(live().map(|record| (record.key, record.at)));
        records.sort_unstable();
        Sorted { log: self, buffer, records }.completion()
    }
}

impl<'b, T: Rows + ?Sized> Sorted<'b, T> {
    fn completion(&self) -> Result<Completion, LogError> {
        let Sorted { log, .. } = self;
        let top = |kind: u8| self.text(RecordKey::new(kind, 0, 0));
        let rows = log.state.table.choices();
        let mut choices = with_room(rows.len())?;
        for (place, row) in (0..).zip(rows) {
            choices.push(self.choice(place, row)?);
        }
        let mut completion = Completion {
            id: top(kind::ID)?,
            object: top(kind::OBJECT)?,
            created: log.created(),
            model: top(kind::MODEL)?,
            system_fingerprint: top(kind::SYSTEM_FINGERPRINT)?,
            service_tier: top(kind::SERVICE_TIER)?,
            provider: top(kind::PROVIDER)?,
            choices,
            usage: self.raw(Field::Usage, kind::USAGE, 0)?,
            is_native: log.is_native(),
            native_usage: self.raw(Field::NativeUsage, kind::USAGE, 0)?,
            error: self.failure(kind::ERROR_JSON, 0)?,
            members: Vec::new(),
            left_out: log.left_out(),
        };
        for entry in log.entries(self.buffer) {
            if let Some(members) = members_of(&mut completion, &entry) {
                members.try_reserve(1).map_err(|_| LogError::OutOfMemory)?;
                members.push(Member { name: string([entry.name])?, value: RawJson { bytes: copied(entry.value)? } });
            }
        }
        completion.choices.sort_unstable_by_key(|choice| choice.index);
        Ok(completion)
    }

    fn choice(&self, place: u16, row: &LoggedChoice) -> Result<Choice, LogError> {
        let key = |kind: u8| RecordKey::new(kind, place, 0);
        let text = |kind: u8| self.text(key(kind));
        let mut lists: [Option<RawJson>; LISTS.len()] = Default::default();
        for (list, to) in (0u8..).zip(&mut lists) {
            if row.has(flag::LISTS.wrapping_shl(list.into())) {
                *to = Some(self.list(key(kind::LISTS.wrapping_add(list)))?);
            }
        }
        let [content, refusal, tokens, token_logprobs, top_logprobs, text_offset] = lists;
        let logprobs = Logprobs { content, refusal, tokens, token_logprobs, top_logprobs, text_offset };
        let function_call =
            FunctionCall { name: text(kind::FUNCTION_NAME)?, arguments: text(kind::FUNCTION_ARGUMENTS)? };
        let half = self.log.implied(key(kind::AUDIO_TRANSCRIPT)).as_bytes();
        let role = self.log.implied(key(kind::ROLE)).as_bytes();
        let audio = Audio {
            id: text(kind::AUDIO_ID)?,
            data: self.some_list(key(kind::AUDIO_DATA))?,
            transcript: some_string(self.pieces(key(kind::AUDIO_TRANSCRIPT)).chain([half]))?,
            expires_at: row.has(flag::AUDIO_EXPIRES).then_some(row.expires_at),
        };
        Ok(Choice {
            index: row.index,
            role: some_string(self.pieces(key(kind::ROLE)).chain([role]))?,
            content: text(kind::CONTENT)?,
            refusal: text(kind::REFUSAL)?,
            reasoning: text(kind::REASONING)?,
            reasoning_name: text(kind::REASONING_NAME)?,
            function_call: row.has(flag::FUNCTION).then_some(function_call),
            tool_calls: self.calls(place, row)?,
            audio: row.has(flag::AUDIO).then_some(audio),
            annotations: self.some_list(key(kind::ANNOTATIONS))?,
            signatures: self.some_list(key(kind::SIGNATURES))?,
            native_content: self.raw(Field::NativeContent, kind::PARTS, place)?,
            reasoning_details: self.raw(Field::ReasoningDetails, kind::DETAILS, place)?,
            finish_reason: text(kind::FINISH_REASON)?,
            native_finish_reason: text(kind::NATIVE_FINISH_REASON)?,
            logprobs: row.has(flag::LOGPROBS).then_some(logprobs),
            error: self.failure(kind::CHOICE_ERROR_JSON, place)?,
            members: Vec::new(),
            message_members: Vec::new(),
        })
    }

    /// Returns the calls of a choice in the order in which they are listed.
    fn calls(&self, place: u16, row: &LoggedChoice) -> Result<Vec<ToolCall>, LogError> {
        let rows = || self.log.state.table.calls().iter().filter(|call| call.choice == place);
        let mut calls = with_room(rows().count())?;
        for &LoggedCall { index, number, .. } in rows() {
            let key = |kind: u8| RecordKey::new(kind, place, number);
            let custom = self.pieces(key(kind::CALL_CUSTOM)).next().is_some();
            let mut arguments = self.text(key(kind::CALL_ARGUMENTS))?;
            if self.log.lacks_text(self.buffer, key(kind::CALL_ARGUMENTS)) {
                let put =
                    |put: &mut dyn FnMut(&[u8])| self.log.put_arguments(self.buffer, key(kind::CALL_ARGUMENTS), put);
                arguments = some_string([&*collected(put)?])?;
            }
            let (id, kind) = (self.text(key(kind::CALL_ID))?, self.text(key(kind::CALL_TYPE))?);
            let name = self.text(key(kind::CALL_NAME))?;
            let (members, function_members) = (Vec::new(), Vec::new());
            calls.push(ToolCall { index, id, kind, custom, name, arguments, members, function_members, number });
        }
        calls.sort_unstable_by_key(|call| row.rank(call.index, call.number));
        Ok(calls)
    }

    /// Returns the first error of the API, or of a choice.
    fn failure(&self, json: u8, place: u16) -> Result<Option<Failure>, LogError> {
        Ok(match self.log.error(self.buffer, json, place) {
            Some(Ok(raw)) => Some(Failure::Json(RawJson { bytes: copied(raw)? })),
            Some(Err(text)) => Some(Failure::Text(string([text])?)),
            None => None,
        })
    }

    /// Returns the pieces of a text or a list, in order.
    fn pieces(&self, key: RecordKey) -> impl Iterator<Item = &'b [u8]> + Clone + use<'_, 'b, T> {
        let from = self.records.partition_point(|(own, _)| *own < key);
        let own = self.records.get(from..).unwrap_or_default().iter().take_while(move |(own, _)| *own == key);
        own.filter_map(|(_, at)| Some(LogRecord::at(self.buffer, usize::try_from(*at).ok()?)?.body))
    }

    fn text(&self, key: RecordKey) -> Result<Option<String>, LogError> {
        some_string(self.pieces(key))
    }

    /// Returns a list as a JSON array.
    fn list(&self, key: RecordKey) -> Result<RawJson, LogError> {
        let bytes = collected(|put| {
            put(b"[");
            put_list(self.pieces(key), put);
            put(b"]");
        });
        bytes.map(|bytes| RawJson { bytes })
    }

    /// Returns a list as a JSON array, or `None` if nothing was listed.
    fn some_list(&self, key: RecordKey) -> Result<Option<RawJson>, LogError> {
        self.pieces(key).next().map(|_| self.list(key)).transpose()
    }

    /// Returns a field of raw JSON that has no key of its own, or is put together from several records.
    fn raw(&self, field: Field, kind: u8, place: u16) -> Result<Option<RawJson>, LogError> {
        let mut is_any = false;
        let key = RecordKey::new(kind, place, 0);
        let bytes = collected(|put| is_any = self.log.put_text(self.buffer, field, key, put).is_some())?;
        Ok(is_any.then_some(RawJson { bytes }))
    }
}

/// Returns the list for the members of an entry's owner.
fn members_of<'c>(completion: &'c mut Completion, entry: &Entry<'_>) -> Option<&'c mut Vec<Member>> {
    let owner = Owner::from_number(entry.owner.into())?;
    match owner {
        Owner::Chunk => return Some(&mut completion.members),
        // Merged usage is read as a whole.
        Owner::Usage => return None,
        _ => {}
    }
    let choice = completion.choices.get_mut(usize::from(entry.place))?;
    if owner.is_call() {
        let call = choice.tool_calls.iter_mut().find(|call| call.number == entry.call)?;
        return Some(if owner == Owner::Call { &mut call.members } else { &mut call.function_members });
    }
    Some(if owner == Owner::Choice { &mut choice.members } else { &mut choice.message_members })
}

fn with_room<I>(len: usize) -> Result<Vec<I>, LogError> {
    let mut list = Vec::new();
    list.try_reserve_exact(len).map_err(|_| LogError::OutOfMemory)?;
    Ok(list)
}

/// Returns everything that `write` puts.
fn collected(write: impl FnOnce(&mut dyn FnMut(&[u8]))) -> Result<Vec<u8>, LogError> {
    let (mut bytes, mut done) = (Vec::new(), Ok(()));
    write(&mut |piece| {
        done = done.and(bytes.try_reserve(piece.len()).map_err(|_| LogError::OutOfMemory));
        if done.is_ok() {
            bytes.extend_from_slice(piece);
        }
    });
    done.map(|()| bytes)
}

fn copied(bytes: &[u8]) -> Result<Vec<u8>, LogError> {
    let mut copy = with_room(bytes.len())?;
    copy.extend_from_slice(bytes);
    Ok(copy)
}

/// Joins the pieces of a text, which are valid UTF-8.
fn string<'p>(pieces: impl IntoIterator<Item = &'p [u8], IntoIter: Clone>) -> Result<String, LogError> {
    let pieces = pieces.into_iter();
    let mut bytes = with_room(pieces.clone().fold(0, |len: usize, piece| len.saturating_add(piece.len())))?;
    pieces.for_each(|piece| bytes.extend_from_slice(piece));
    Ok(String::from_utf8(bytes).unwrap_or_default())
}

/// Joins the pieces of a text, or returns `None` if it is empty.
fn some_string<'p>(pieces: impl IntoIterator<Item = &'p [u8], IntoIter: Clone>) -> Result<Option<String>, LogError> {
    string(pieces).map(|text| Some(text).filter(|text| !text.is_empty()))
}
