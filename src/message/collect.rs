//! Reads a completion from a log.

use super::completion::{Audio, Choice, Completion, Failure, FunctionCall, Logprobs, Member, ToolCall};
use super::error::AssembleError;
use super::log::MessageLogOf;
use super::members::Entry;
use super::raw::{RawJson, RawList};
use super::record::{kind, LogRecord, RecordKey};
use super::table::{flag, LoggedChoice, Rows};
use crate::chat::Owner;
use alloc::string::String;
use alloc::vec::Vec;

/// The result of a step. A step fails only if there is no memory.
type Done = Result<(), AssembleError>;

impl<T: Rows + ?Sized> MessageLogOf<T> {
    /// Returns the message so far.
    pub(super) fn completion(&self, buffer: &[u8]) -> Result<Completion, AssembleError> {
        let table = &self.state.table;
        let left_out = self.left_out().map(AssembleError::from);
        let mut completion = Completion { created: self.created(), left_out, ..Completion::default() };
        completion.error = self.failure(buffer, kind::ERROR_JSON, 0)?;
        reserve(&mut completion.choices, table.choices().len())?;
        for (place, row) in (0..).zip(table.choices()) {
            let mut choice = Choice { index: row.index, ..Choice::default() };
            self.begin_choice(place, row, &mut choice)?;
            choice.error = self.failure(buffer, kind::CHOICE_ERROR_JSON, place)?;
            if self.has_details(buffer, place) {
                choice.reasoning_details.append(&collected(|put| self.put_details(buffer, place, put))?)?;
            }
            completion.choices.push(choice);
        }
        for record in self.records(buffer).filter(|record| table.is_live(record)) {
            if record.key.kind() < kind::ROLE {
                add_to_completion(&mut completion, &record)?;
            } else if let Some(choice) = completion.choices.get_mut(usize::from(record.key.choice())) {
                add_to_choice(choice, &record)?;
            }
        }
        for entry in self.entries(buffer) {
            if let Some(members) = members_of(&mut completion, &entry) {
                reserve_more(members, 1)?;
                members.push(Member { name: string(entry.name)?, value: RawJson::of(entry.value)? });
            }
        }
        for (place, choice) in (0..).zip(&mut completion.choices) {
            let half = self.lone_half(RecordKey::new(kind::AUDIO_TRANSCRIPT, place, 0));
            if let Some(audio) = choice.audio.as_mut().filter(|_| !half.is_empty()) {
                append(&mut audio.transcript, half.as_bytes())?;
            }
        }
        if self.is_native() {
            self.native(buffer, &mut completion)?;
        }
        completion.choices.sort_unstable_by_key(|choice| choice.index);
        Ok(completion)
    }

    /// Returns the first error of the API, or of a choice.
    fn failure(&self, buffer: &[u8], json: u8, place: u16) -> Result<Option<Failure>, AssembleError> {
        Ok(match self.error(buffer, json, place) {
            Some(Ok(raw)) => Some(Failure::Json(RawJson::of(raw)?)),
            Some(Err(text)) => Some(Failure::Text(string(text)?)),
            None => None,
        })
    }

    /// Reads the parts that only a message of another protocol has: usage under two sets of names, and arguments that
    /// came without a text.
    fn native(&self, buffer: &[u8], completion: &mut Completion) -> Done {
        completion.is_native = true;
        let raw = |bytes: Vec<u8>| (!bytes.is_empty()).then(|| RawJson::of(&bytes)).transpose();
        completion.usage = raw(collected(|put| {
            self.put_usage(buffer, put);
        })?)?;
        completion.native_usage = raw(collected(|put| {
            self.put_native_usage(buffer, put);
        })?)?;
        for choice in &mut completion.choices {
            let Some(place) = self.state.table.place(choice.index) else { continue };
            for call in choice.tool_calls.iter_mut().filter(|call| !call.custom && call.arguments.is_none()) {
                let key = RecordKey::new(kind::CALL_ARGUMENTS, place, call.number);
                let arguments = collected(|put| self.put_arguments(buffer, key, put))?;
                append(&mut call.arguments, &arguments)?;
            }
        }
        Ok(())
    }

    /// Sets the fields of a choice that are not texts, and adds its calls in the order in which they are listed.
    fn begin_choice(&self, place: u16, row: &LoggedChoice, choice: &mut Choice) -> Done {
        choice.function_call = row.has(flag::FUNCTION).then(FunctionCall::default);
        choice.logprobs = row.has(flag::LOGPROBS).then(Logprobs::default);
        if row.has(flag::AUDIO) {
            let expires_at = row.has(flag::AUDIO_EXPIRES).then_some(row.expires_at);
            choice.audio = Some(Audio { expires_at, ..Audio::default() });
        }
        if let Some(logprobs) = &mut choice.logprobs {
            for (list, to) in (0..).zip(logprobs.lists()) {
                *to = row.has(flag::LISTS.wrapping_shl(list)).then(RawList::default);
            }
        }
        let calls = || self.state.table.calls().iter().filter(|call| call.choice == place);
        reserve(&mut choice.tool_calls, calls().count())?;
        choice.tool_calls.extend(calls().map(|call| {
            let (index, number) = (call.index, call.number);
            ToolCall { index, number, ..ToolCall::default() }
        }));
        choice.tool_calls.sort_unstable_by_key(|call| row.rank(call.index, call.number));
        Ok(())
    }
}

/// Returns everything that `write` puts.
fn collected(write: impl FnOnce(&mut dyn FnMut(&[u8]))) -> Result<Vec<u8>, AssembleError> {
    let (mut bytes, mut done) = (Vec::new(), Ok(()));
    write(&mut |piece| {
        done = done.and(reserve_more(&mut bytes, piece.len()));
        if done.is_ok() {
            bytes.extend_from_slice(piece);
        }
    });
    done.map(|()| bytes)
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

/// Adds a record of the top level to the completion.
fn add_to_completion(completion: &mut Completion, record: &LogRecord<'_>) -> Done {
    let text = match record.key.kind() {
        kind::ID => &mut completion.id,
        kind::OBJECT => &mut completion.object,
        kind::MODEL => &mut completion.model,
        kind::SYSTEM_FINGERPRINT => &mut completion.system_fingerprint,
        kind::SERVICE_TIER => &mut completion.service_tier,
        kind::PROVIDER => &mut completion.provider,
        kind::USAGE => {
            completion.usage = Some(RawJson::of(record.body)?);
            return Ok(());
        }
        _ => return Ok(()),
    };
    append(text, record.body)
}

/// Adds a record of a choice, or of one of its calls, to the choice.
fn add_to_choice(choice: &mut Choice, record: &LogRecord<'_>) -> Done {
    if record.key.kind() >= kind::CALL_CUSTOM {
        return add_to_call(choice, record);
    }
    let function = |choice: &mut Choice, of: fn(&mut FunctionCall) -> &mut Option<String>| {
        choice.function_call.as_mut().map_or(Ok(()), |call| append(of(call), record.body))
    };
    let audio = |choice: &mut Choice, of: fn(&mut Audio) -> &mut Option<String>| {
        choice.audio.as_mut().map_or(Ok(()), |audio| append(of(audio), record.body))
    };
    match record.key.kind() {
        kind::ROLE => append(&mut choice.role, record.body),
        kind::FINISH_REASON => append(&mut choice.finish_reason, record.body),
        kind::NATIVE_FINISH_REASON => append(&mut choice.native_finish_reason, record.body),
        kind::ANNOTATIONS => choice.annotations.append(record.body),
        kind::SIGNATURES => choice.signatures.append(record.body),
        kind::PARTS => choice.native_content.append(record.body),
        kind::CHOICE_ERROR_JSON | kind::CHOICE_ERROR_TEXT | kind::DETAILS => Ok(()),
        kind::CONTENT => append(&mut choice.content, record.body),
        kind::REFUSAL => append(&mut choice.refusal, record.body),
        kind::REASONING => append(&mut choice.reasoning, record.body),
        kind::REASONING_NAME => append(&mut choice.reasoning_name, record.body),
        kind::FUNCTION_NAME => function(choice, |call| &mut call.name),
        kind::FUNCTION_ARGUMENTS => function(choice, |call| &mut call.arguments),
        kind::AUDIO_ID => audio(choice, |audio| &mut audio.id),
        kind::AUDIO_DATA => choice.audio.as_mut().map_or(Ok(()), |audio| audio.data.append(record.body)),
        kind::AUDIO_TRANSCRIPT => audio(choice, |audio| &mut audio.transcript),
        list => {
            let lists = choice.logprobs.as_mut().map(Logprobs::lists);
            let list = usize::from(list.saturating_sub(kind::LISTS));
            match lists.and_then(|lists| lists.into_iter().nth(list)) {
                Some(to) => to.get_or_insert_with(RawList::default).append(record.body),
                None => Ok(()),
            }
        }
    }
}

/// Adds a record of a call to that call.
fn add_to_call(choice: &mut Choice, record: &LogRecord<'_>) -> Done {
    let number = record.key.call();
    // Search from the end, because records nearly always belong to the call that was opened last.
    let Some(call) = choice.tool_calls.iter_mut().rfind(|call| call.number == number) else { return Ok(()) };
    match record.key.kind() {
        kind::CALL_CUSTOM => {
            call.custom = true;
            Ok(())
        }
        kind::CALL_ID => append(&mut call.id, record.body),
        kind::CALL_TYPE => append(&mut call.kind, record.body),
        kind::CALL_NAME => append(&mut call.name, record.body),
        kind::CALL_PARTIALS => Ok(()),
        _ => append(&mut call.arguments, record.body),
    }
}

fn reserve<T>(list: &mut Vec<T>, len: usize) -> Done {
    list.try_reserve_exact(len).map_err(|_| AssembleError::OutOfMemory)
}

fn reserve_more<T>(list: &mut Vec<T>, len: usize) -> Done {
    list.try_reserve(len).map_err(|_| AssembleError::OutOfMemory)
}

/// Appends a piece, which must not be empty and must be valid UTF-8.
fn append(text: &mut Option<String>, piece: &[u8]) -> Done {
    let Ok(piece) = core::str::from_utf8(piece) else { return Ok(()) };
    let mut fresh = String::new();
    let to = text.as_mut().unwrap_or(&mut fresh);
    to.try_reserve(piece.len()).map_err(|_| AssembleError::OutOfMemory)?;
    to.push_str(piece);
    if text.is_none() {
        *text = Some(fresh);
    }
    Ok(())
}

fn string(text: &[u8]) -> Result<String, AssembleError> {
    let mut string = None;
    append(&mut string, text)?;
    Ok(string.unwrap_or_default())
}
