//! Reads the texts of a log.

use super::log::MessageLogOf;
use super::record::{copy, kind, Key, Records};
use super::table::{flag, Rows, Slot};
use crate::chat::ApiError;
use crate::json::{TextFlags, Value};

/// A text of a message, to be asked for with [`MessageLog::text`](super::MessageLog::text).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Field {
    /// `id`.
    Id,
    /// `object`, as sent.
    Object,
    /// `model`.
    Model,
    /// `system_fingerprint`.
    SystemFingerprint,
    /// `service_tier`.
    ServiceTier,
    /// `provider` (OpenRouter).
    Provider,
    /// `usage` as raw JSON: the last that was not empty. Of another protocol than chat completions: its counts under the names
    /// of those.
    Usage,
    /// Of another protocol: its usage under its own names, as raw JSON.
    NativeUsage,
    /// The first error that the API reported: raw JSON, or plain text.
    Error,
    /// What happened, in words.
    ErrorMessage,
    /// The code of that error.
    ErrorCode,
    /// The type of that error.
    ErrorType,

    /// Of a choice: the role of its author.
    Role,
    /// Of a choice: its content.
    Content,
    /// Of a choice: its refusal.
    Refusal,
    /// Of a choice: its reasoning.
    Reasoning,
    /// Of a choice: the name of the member that its first reasoning was in: `reasoning_content`, `reasoning`, `thinking` or
    /// `thought`. Reasoning in `reasoning_details` or in parts of the content has none.
    ReasoningName,
    /// Of a choice: `reasoning_details`, an array. `text` and `summary` of consecutive entries of equal type and index are
    /// joined, other members of them are the last that are not null. An entry with `data` stays as it is, and so does one
    /// without an index.
    ReasoningDetails,
    /// Of a choice: why it finished; the last reason counts.
    FinishReason,
    /// Of a choice: the finish reason of the model's own provider.
    NativeFinishReason,
    /// Of a choice of another protocol: an array of signatures, and of reasoning that is encrypted.
    Signatures,
    /// Of a choice of another protocol: an array of the parts that no other field has.
    NativeContent,
    /// Of a choice: the first error of it alone, as raw JSON.
    ChoiceError,
    /// Of a choice: what happened, in words.
    ChoiceErrorMessage,
    /// Of a choice: the code of that error.
    ChoiceErrorCode,
    /// Of a choice: the type of that error.
    ChoiceErrorType,
    /// Of a choice: the name of the function that it calls (deprecated form).
    FunctionName,
    /// Of a choice: the arguments of that function.
    FunctionArguments,
    /// Of a choice: the ID of its audio.
    AudioId,
    /// Of a choice: its audio, an array of the pieces that came, each base64. Each may be encoded by itself, with padding at its
    /// end: decode each, then join the bytes.
    AudioData,
    /// Of a choice: the transcript of its audio.
    AudioTranscript,

    /// Of a call: its ID.
    CallId,
    /// Of a call: its type, as sent.
    CallType,
    /// Of a call: the name of the function or tool.
    CallName,
    /// Of a call: its arguments (of a custom tool: its input).
    CallArguments,
}

impl Field {
    /// The kind of its records; of an error that of raw JSON.
    fn kind(self) -> u8 {
        match self {
            Field::Id => kind::ID,
            Field::Object => kind::OBJECT,
            Field::Model => kind::MODEL,
            Field::SystemFingerprint => kind::SYSTEM_FINGERPRINT,
            Field::ServiceTier => kind::SERVICE_TIER,
            Field::Provider => kind::PROVIDER,
            Field::ReasoningName => kind::REASONING_NAME,
            Field::Usage | Field::NativeUsage => kind::USAGE,
            Field::Signatures => kind::SIGNATURES,
            Field::NativeContent => kind::PARTS,
            Field::Error | Field::ErrorMessage | Field::ErrorCode | Field::ErrorType => kind::ERROR_JSON,
            Field::Role => kind::ROLE,
            Field::Content => kind::CONTENT,
            Field::Refusal => kind::REFUSAL,
            Field::Reasoning => kind::REASONING,
            Field::ReasoningDetails => kind::DETAILS,
            Field::FinishReason => kind::FINISH_REASON,
            Field::NativeFinishReason => kind::NATIVE_FINISH_REASON,
            Field::ChoiceError | Field::ChoiceErrorMessage | Field::ChoiceErrorCode | Field::ChoiceErrorType => {
                kind::CHOICE_ERROR_JSON
            }
            Field::FunctionName => kind::FUNCTION_NAME,
            Field::FunctionArguments => kind::FUNCTION_ARGUMENTS,
            Field::AudioId => kind::AUDIO_ID,
            Field::AudioData => kind::AUDIO_DATA,
            Field::AudioTranscript => kind::AUDIO_TRANSCRIPT,
            Field::CallId => kind::CALL_ID,
            Field::CallType => kind::CALL_TYPE,
            Field::CallName => kind::CALL_NAME,
            Field::CallArguments => kind::CALL_ARGUMENTS,
        }
    }
}

impl<T: Rows + ?Sized> MessageLogOf<T> {
    /// `created`, in seconds since 1970; never 0.
    pub fn created(&self) -> Option<u64> {
        self.state.table.top.created
    }

    /// How many choices there are.
    pub fn choices(&self) -> usize {
        self.state.table.slots().len()
    }

    /// The index of a choice; they are listed by ascending index, from 0.
    pub fn choice_index(&self, nth: usize) -> Option<u32> {
        core::iter::successors(self.state.table.next_choice(None), |&last| self.state.table.next_choice(Some(last)))
            .nth(nth)
    }

    /// How many tool calls are listed of the choice with this index; 0 if there is no such choice.
    pub fn calls(&self, choice: u32) -> u32 {
        self.slot(choice).map_or(0, |(_, slot)| slot.calls)
    }

    /// Whether a call (by its place in the list, from 0) is one of a custom tool.
    pub fn is_custom(&self, buffer: &[u8], choice: u32, call: u32) -> bool {
        let key = self.slot(choice).and_then(|(place, _)| self.call_key(kind::CALL_CUSTOM, place, call));
        key.is_some_and(|key| self.pieces(buffer, key).next().is_some())
    }

    /// Until when the audio of the choice with this index can be referred to, in seconds since 1970.
    pub fn audio_expires_at(&self, choice: u32) -> Option<u64> {
        self.slot(choice).filter(|(_, slot)| slot.has(flag::AUDIO_EXPIRES)).map(|(_, slot)| slot.expires_at)
    }

    /// Whether the error is raw JSON; if not, it is plain text. None: there is no error.
    pub fn error_is_json(&self, buffer: &[u8]) -> Option<bool> {
        self.error(buffer, kind::ERROR_JSON, 0).map(|error| error.is_ok())
    }

    /// How long a text is, in bytes of UTF-8 (or of the raw JSON as it came), and the text itself, if `out` has room for
    /// all of it; if not, nothing is written. None: there is none. A text is never empty, but for the plain text of an
    /// error without any.
    ///
    /// `buffer` is what [`put`](Self::put) was given last, or its first [`len`](Self::len) bytes. `choice` is the index
    /// of a choice and `call` the place of a call in its list, from 0: by ascending index, in order of appearance if
    /// two calls have one index. Both are ignored where they do not matter. The log is read once to measure, and once
    /// more to write.
    pub fn text(&self, buffer: &[u8], field: Field, choice: u32, call: u32, out: &mut [u8]) -> Option<usize> {
        let kind = field.kind();
        let place = if kind < kind::ROLE { 0 } else { self.slot(choice)?.0 };
        if matches!(kind, kind::ERROR_JSON | kind::CHOICE_ERROR_JSON) {
            return error_text(self.error(buffer, kind, place)?, field, out);
        }
        if kind == kind::USAGE && (self.is_native() || field == Field::NativeUsage) {
            return match (self.is_native(), field) {
                (false, _) => None,
                (_, Field::Usage) => written(|put| self.put_usage(buffer, put), out),
                _ => written(|put| self.put_native_usage(buffer, put), out),
            };
        }
        if kind == kind::DETAILS {
            let is_any = self.has_details(buffer, place);
            return is_any.then(|| array(|put| self.put_details(buffer, place, put), out));
        }
        if matches!(kind, kind::AUDIO_DATA | kind::SIGNATURES | kind::PARTS) {
            let items = || self.pieces(buffer, Key::new(kind, place, 0));
            items().next()?;
            return Some(array(|put| put_list(items(), put), out));
        }
        let key = if kind < kind::CALL_CUSTOM { Key::new(kind, place, 0) } else { self.call_key(kind, place, call)? };
        if kind == kind::CALL_ARGUMENTS && self.lacks_text(buffer, key) {
            let write = |put: &mut dyn FnMut(&[u8])| {
                self.put_no_text(buffer, key.choice(), key.call(), put);
                true
            };
            return written(write, out);
        }
        let pieces = || self.pieces(buffer, key).chain([self.lone_half(key).as_bytes()]);
        let len = pieces().fold(0usize, |len, piece| len.saturating_add(piece.len()));
        if let Some(bytes) = out.get_mut(..len) {
            let mut out = Out { bytes, len: 0 };
            pieces().for_each(|piece| out.put(piece));
        }
        (len > 0).then_some(len)
    }

    /// The choice with this index, and its place.
    fn slot(&self, index: u32) -> Option<(u16, &Slot)> {
        let place = self.state.table.place(index)?;
        Some((place, self.state.table.slot(place)?))
    }

    /// The key of a call, by its place in the list.
    fn call_key(&self, kind: u8, choice: u16, call: u32) -> Option<Key> {
        let table = &self.state.table;
        let mut calls =
            core::iter::successors(table.next_call(choice, None), |&last| table.next_call(choice, Some(last)));
        let (_, number) = calls.nth(usize::try_from(call).ok()?)?;
        Some(Key::new(kind, choice, number))
    }

    /// The number of a call, by its place in the list of the choice with this index.
    pub(super) fn call_number(&self, choice: u32, call: u32) -> Option<u32> {
        Some(self.call_key(0, self.slot(choice)?.0, call)?.call())
    }

    /// The records in use.
    pub(super) fn records<'b>(&self, buffer: &'b [u8]) -> Records<'b> {
        Records::of(buffer.get(..self.state.fill.len).unwrap_or_default())
    }

    /// The pieces of one thing, in order.
    pub(super) fn pieces<'b>(&'b self, buffer: &'b [u8], key: Key) -> impl Iterator<Item = &'b [u8]> {
        let begin = self.state.table.begin(key);
        self.records(buffer).filter(move |record| record.key == key && record.at >= begin).map(|record| record.body)
    }

    /// What stands at the end of a text for a high surrogate whose other half did not come so far.
    pub(super) fn lone_half(&self, key: Key) -> &'static str {
        let slot = self.state.table.slot(key.choice());
        let ends_in_half = |slot: &Slot| slot.transcript_half.is_some() || slot.has(flag::LONE_HALF);
        if key.kind() == kind::AUDIO_TRANSCRIPT && slot.is_some_and(ends_in_half) {
            "\u{fffd}"
        } else {
            ""
        }
    }

    /// An error: raw JSON, or else plain text. None: there is no error.
    pub(super) fn error<'b>(&'b self, buffer: &'b [u8], json: u8, place: u16) -> Option<Result<&'b [u8], &'b [u8]>> {
        let failed = match json {
            kind::ERROR_JSON => self.state.table.knows(json),
            _ => self.state.table.slot(place)?.has(flag::ERROR),
        };
        if !failed {
            return None;
        }
        let raw = self.pieces(buffer, Key::new(json, place, 0)).next();
        let plain = || self.pieces(buffer, Key::new(kind::error_text(json), place, 0)).next();
        Some(raw.ok_or_else(|| plain().unwrap_or_default()))
    }
}

/// Where the bytes go: counted, and written as long as there is room.
pub(super) struct Out<'o> {
    pub(super) bytes: &'o mut [u8],
    pub(super) len: usize,
}

impl Out<'_> {
    pub(super) fn put(&mut self, bytes: &[u8]) {
        if let Some(room) = self.bytes.get_mut(self.len..) {
            copy(room, bytes);
        }
        self.len = self.len.saturating_add(bytes.len());
    }
}

/// Puts items that lie in several pieces, with commas between these.
pub(super) fn put_list<'b>(pieces: impl Iterator<Item = &'b [u8]>, put: &mut dyn FnMut(&[u8])) {
    for (place, items) in pieces.enumerate() {
        if place > 0 {
            put(b",");
        }
        put(items);
    }
}

/// What `write` writes, in brackets: how long that is, and itself if `out` has room for all of it.
fn array(write: impl Fn(&mut dyn FnMut(&[u8])), out: &mut [u8]) -> usize {
    let mut len = 2usize;
    write(&mut |bytes| len = len.saturating_add(bytes.len()));
    if let Some([open, bytes @ .., close]) = out.get_mut(..len) {
        (*open, *close) = (b'[', b']');
        let mut out = Out { bytes, len: 0 };
        write(&mut |bytes| out.put(bytes));
    }
    len
}

/// What `write` writes: how long that is, and itself if `out` has room for all of it. None: it answers that there is nothing.
fn written(write: impl Fn(&mut dyn FnMut(&[u8])) -> bool, out: &mut [u8]) -> Option<usize> {
    let mut len = 0usize;
    if !write(&mut |bytes| len = len.saturating_add(bytes.len())) {
        return None;
    }
    if let Some(bytes) = out.get_mut(..len) {
        let mut out = Out { bytes, len: 0 };
        write(&mut |bytes| out.put(bytes));
    }
    Some(len)
}

/// A text of an error.
fn error_text(error: Result<&[u8], &[u8]>, field: Field, out: &mut [u8]) -> Option<usize> {
    let api = match error {
        Ok(raw) => ApiError::of(Value::from_span(raw, TextFlags::UNKNOWN)),
        Err(text) => ApiError::plain(text),
    };
    let text = match field {
        Field::ErrorMessage | Field::ChoiceErrorMessage => api.message()?,
        Field::ErrorCode | Field::ChoiceErrorCode => api.code()?,
        Field::ErrorType | Field::ChoiceErrorType => api.kind()?,
        _ => {
            let bytes = error.unwrap_or_else(|text| text);
            copy(out.get_mut(..bytes.len()).unwrap_or_default(), bytes);
            return Some(bytes.len());
        }
    };
    let len = text.decoded_len();
    if let Some(room) = out.get_mut(..len) {
        text.copy_to(room);
    }
    Some(len)
}
