//! Reads a completion from a log.

use super::completion::{Audio, Choice, Completion, Failure, FunctionCall, Logprobs, Member, RawJson, ToolCall};
use super::error::LogError;
use super::log::MessageLogOf;
use super::members::Entry;
use super::record::{kind, RecordKey};
use super::table::{flag, LoggedCall, LoggedChoice, Rows};
use super::tokens::LISTS;
use crate::chat::Owner;
use alloc::string::String;
use alloc::vec::Vec;

/// The top level of a message, a choice, or a call: where its texts are in a log.
struct Part<'l, T: Rows + ?Sized> {
    log: &'l MessageLogOf<T>,
    buffer: &'l [u8],
    /// The place of the choice, or 0.
    place: u16,
    /// The number of the call, or 0.
    call: u32,
}

impl<T: Rows + ?Sized> MessageLogOf<T> {
    /// Returns the message so far.
    ///
    /// # Errors
    ///
    /// [`OutOfMemory`](LogError::OutOfMemory).
    pub(super) fn completion(&self, buffer: &[u8]) -> Result<Completion, LogError> {
        let top = Part { log: self, buffer, place: 0, call: 0 };
        let rows = self.state.table.choices();
        let mut choices = with_room(rows.len())?;
        for (place, row) in (0..).zip(rows) {
            choices.push(Part { place, ..top }.choice(row)?);
        }
        let native_usage = collected(|put| self.put_native_usage(buffer, put))?;
        let mut completion = Completion {
            id: top.text(kind::ID)?,
            object: top.text(kind::OBJECT)?,
            created: self.created(),
            model: top.text(kind::MODEL)?,
            system_fingerprint: top.text(kind::SYSTEM_FINGERPRINT)?,
            service_tier: top.text(kind::SERVICE_TIER)?,
            provider: top.text(kind::PROVIDER)?,
            choices,
            usage: top.raw(kind::USAGE)?,
            is_native: self.is_native(),
            native_usage: native_usage.map(|bytes| RawJson { bytes }),
            error: top.failure(kind::ERROR_JSON)?,
            members: Vec::new(),
            left_out: self.left_out(),
        };
        for entry in self.entries(buffer) {
            if let Some(members) = members_of(&mut completion, &entry) {
                members.try_reserve(1).map_err(|_| LogError::OutOfMemory)?;
                members.push(Member { name: string(entry.name)?, value: RawJson { bytes: copied(entry.value)? } });
            }
        }
        completion.choices.sort_unstable_by_key(|choice| choice.index);
        Ok(completion)
    }
}

impl<T: Rows + ?Sized> Part<'_, T> {
    fn choice(&self, row: &LoggedChoice) -> Result<Choice, LogError> {
        let mut lists: [Option<RawJson>; LISTS.len()] = Default::default();
        for (list, to) in (0u8..).zip(&mut lists) {
            if row.has(flag::LISTS.wrapping_shl(list.into())) {
                let key = self.key(kind::LISTS.wrapping_add(list));
                let bytes = collected(|put| {
                    self.log.put_array(self.buffer, key, put);
                    true
                })?;
                *to = bytes.map(|bytes| RawJson { bytes });
            }
        }
        let [content, refusal, tokens, token_logprobs, top_logprobs, text_offset] = lists;
        let logprobs = Logprobs { content, refusal, tokens, token_logprobs, top_logprobs, text_offset };
        let function_call =
            FunctionCall { name: self.text(kind::FUNCTION_NAME)?, arguments: self.text(kind::FUNCTION_ARGUMENTS)? };
        let audio = Audio {
            id: self.text(kind::AUDIO_ID)?,
            data: self.raw(kind::AUDIO_DATA)?,
            transcript: self.text(kind::AUDIO_TRANSCRIPT)?,
            expires_at: row.has(flag::AUDIO_EXPIRES).then_some(row.expires_at),
        };
        Ok(Choice {
            index: row.index,
            role: self.text(kind::ROLE)?,
            content: self.text(kind::CONTENT)?,
            refusal: self.text(kind::REFUSAL)?,
            reasoning: self.text(kind::REASONING)?,
            reasoning_name: self.text(kind::REASONING_NAME)?,
            function_call: row.has(flag::FUNCTION).then_some(function_call),
            tool_calls: self.calls(row)?,
            audio: row.has(flag::AUDIO).then_some(audio),
            annotations: self.raw(kind::ANNOTATIONS)?,
            signatures: self.raw(kind::SIGNATURES)?,
            native_content: self.raw(kind::PARTS)?,
            reasoning_details: self.raw(kind::DETAILS)?,
            finish_reason: self.text(kind::FINISH_REASON)?,
            native_finish_reason: self.text(kind::NATIVE_FINISH_REASON)?,
            logprobs: row.has(flag::LOGPROBS).then_some(logprobs),
            error: self.failure(kind::CHOICE_ERROR_JSON)?,
            members: Vec::new(),
            message_members: Vec::new(),
        })
    }

    /// Returns the calls of a choice in the order in which they are listed.
    fn calls(&self, row: &LoggedChoice) -> Result<Vec<ToolCall>, LogError> {
        let rows = || self.log.state.table.calls().iter().filter(|call| call.choice == self.place);
        let mut calls = with_room(rows().count())?;
        for &LoggedCall { index, number, .. } in rows() {
            let call = Part { call: number, ..*self };
            calls.push(ToolCall {
                index,
                id: call.text(kind::CALL_ID)?,
                kind: call.text(kind::CALL_TYPE)?,
                custom: self.log.pieces(self.buffer, call.key(kind::CALL_CUSTOM)).next().is_some(),
                name: call.text(kind::CALL_NAME)?,
                arguments: call.text(kind::CALL_ARGUMENTS)?,
                members: Vec::new(),
                function_members: Vec::new(),
                number,
            });
        }
        calls.sort_unstable_by_key(|call| row.rank(call.index, call.number));
        Ok(calls)
    }

    /// Returns the first error of the API, or of a choice.
    fn failure(&self, json: u8) -> Result<Option<Failure>, LogError> {
        Ok(match self.log.error(self.buffer, json, self.place) {
            Some(Ok(raw)) => Some(Failure::Json(RawJson { bytes: copied(raw)? })),
            Some(Err(text)) => Some(Failure::Text(string(text)?)),
            None => None,
        })
    }

    fn key(&self, kind: u8) -> RecordKey {
        RecordKey::new(kind, self.place, self.call)
    }

    fn bytes(&self, kind: u8) -> Result<Option<Vec<u8>>, LogError> {
        collected(|put| self.log.put_text(self.buffer, self.key(kind), put))
    }

    fn text(&self, kind: u8) -> Result<Option<String>, LogError> {
        Ok(self.bytes(kind)?.and_then(|bytes| String::from_utf8(bytes).ok()))
    }

    /// Returns a list or raw JSON.
    fn raw(&self, kind: u8) -> Result<Option<RawJson>, LogError> {
        Ok(self.bytes(kind)?.map(|bytes| RawJson { bytes }))
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

/// Returns everything that `write` puts, or `None` if it returns `false`.
fn collected(write: impl FnOnce(&mut dyn FnMut(&[u8])) -> bool) -> Result<Option<Vec<u8>>, LogError> {
    let (mut bytes, mut done) = (Vec::new(), Ok(()));
    let is_any = write(&mut |piece| {
        done = done.and(bytes.try_reserve(piece.len()).map_err(|_| LogError::OutOfMemory));
        if done.is_ok() {
            bytes.extend_from_slice(piece);
        }
    });
    done.map(|()| is_any.then_some(bytes))
}

fn copied(bytes: &[u8]) -> Result<Vec<u8>, LogError> {
    let mut copy = with_room(bytes.len())?;
    copy.extend_from_slice(bytes);
    Ok(copy)
}

/// Copies a text, which is valid UTF-8.
fn string(text: &[u8]) -> Result<String, LogError> {
    Ok(String::from_utf8(copied(text)?).unwrap_or_default())
}
