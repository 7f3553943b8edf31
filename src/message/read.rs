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
    /// `usage` as raw JSON: the last that was not empty. For another protocol than chat completions, its counts under the
    /// names of chat completions.
    Usage,
    /// For another protocol, its usage under its own names, as raw JSON.
    NativeUsage,
    /// The first error that the API reported: raw JSON, or plain text.
    Error,
    /// The message of that error: what happened, in words.
    ErrorMessage,
    /// The code of that error.
    ErrorCode,
    /// The type of that error.
    ErrorType,

    /// A choice's role.
    Role,
    /// A choice's content.
    Content,
    /// A choice's refusal.
    Refusal,
    /// A choice's reasoning.
    Reasoning,
    /// The name of the member that a choice's first reasoning was in: `reasoning_content`, `reasoning`, `thinking` or
    /// `thought`. Reasoning in `reasoning_details` or in parts of the content has none.
    ReasoningName,
    /// A choice's `reasoning_details`, an array. Consecutive entries of equal type and index are one: their `text` and
    /// `summary` are joined, and of any other member the last value that is not null counts. An entry with `data` stays as
    /// it is, and so does one without an index.
    ReasoningDetails,
    /// Why a choice finished. The last reason counts.
    FinishReason,
    /// A choice's finish reason from the model's own provider. For another protocol, the reason as sent.
    NativeFinishReason,
    /// For another protocol, an array of a choice's signatures and its encrypted reasoning.
    Signatures,
    /// For another protocol, an array of the parts of a choice that no other field has.
    NativeContent,
    /// The first error of a choice alone: raw JSON, or plain text.
    ChoiceError,
    /// The message of a choice's error: what happened, in words.
    ChoiceErrorMessage,
    /// The code of a choice's error.
    ChoiceErrorCode,
    /// The type of a choice's error.
    ChoiceErrorType,
    /// The name of the function that a choice calls (deprecated form).
    FunctionName,
    /// The arguments of the function that a choice calls (deprecated form).
    FunctionArguments,
    /// The ID of a choice's audio.
    AudioId,
    /// A choice's audio: an array of the pieces that came, each base64. Each may be encoded by itself, with padding at its
    /// end: decode each, then join the bytes.
    AudioData,
    /// The transcript of a choice's audio.
    AudioTranscript,

    /// A call's ID.
    CallId,
    /// A call's type, as sent.
    CallType,
    /// The name of the function or tool of a call.
    CallName,
    /// A call's arguments, or the input of a custom tool.
    CallArguments,
}

impl Field {
    /// Returns the kind of the field's records. For an error, that is the kind of raw JSON.
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
    /// Returns `created`, in seconds since 1970; never 0.
    pub fn created(&self) -> Option<u64> {
        self.state.table.top.created
    }

    /// Returns how many choices there are.
    pub fn choices(&self) -> usize {
        self.state.table.slots().len()
    }

    /// Returns the index of the `nth` choice, counted from 0 by ascending index.
    pub fn choice_index(&self, nth: usize) -> Option<u32> {
        core::iter::successors(self.state.table.next_choice(None), |&last| self.state.table.next_choice(Some(last)))
            .nth(nth)
    }

    /// Returns how many tool calls are listed of the choice with this index, or 0 if there is no such choice.
    pub fn calls(&self, choice: u32) -> u32 {
        self.slot(choice).map_or(0, |(_, slot)| slot.calls)
    }

    /// Whether a call (by its place in the list, from 0) calls a custom tool.
    pub fn is_custom(&self, buffer: &[u8], choice: u32, call: u32) -> bool {
        let key = self.slot(choice).and_then(|(place, _)| self.call_key(kind::CALL_CUSTOM, place, call));
        key.is_some_and(|key| self.pieces(buffer, key).next().is_some())
    }

    /// Returns until when the audio of the choice with this index can be referred to, in seconds since 1970.
    pub fn audio_expires_at(&self, choice: u32) -> Option<u64> {
        self.slot(choice).filter(|(_, slot)| slot.has(flag::AUDIO_EXPIRES)).map(|(_, slot)| slot.expires_at)
    }

    /// Whether the error is raw JSON; otherwise it is plain text. Returns `None` if there is no error.
    pub fn error_is_json(&self, buffer: &[u8]) -> Option<bool> {
        self.error(buffer, kind::ERROR_JSON, 0).map(|error| error.is_ok())
    }

    /// Returns the length of a text in bytes of UTF-8 (or of the raw JSON as it came), and writes the text to `out` if there
    /// is room for all of it; otherwise it writes nothing. Returns `None` if there is no such text. A text is never empty,
    /// except for an error in plain text without any.
    ///
    /// `buffer` is the one that [`put`](Self::put) was given last, or its first [`len`](Self::len) bytes. `choice` is the
    /// index of a choice and `call` the place of a call in its list, from 0: by ascending index, or in order of appearance
    /// if two calls have one index or the protocol is not chat completions. Both are ignored where they do not matter. The log
    /// is read once to measure the text, and once more to write it.
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

    /// Returns the choice with this index, and its place.
    fn slot(&self, index: u32) -> Option<(u16, &Slot)> {
        let place = self.state.table.place(index)?;
        Some((place, self.state.table.slot(place)?))
    }

    /// Returns the key of a call, by its place in the list.
    fn call_key(&self, kind: u8, choice: u16, call: u32) -> Option<Key> {
        let table = &self.state.table;
        let mut calls =
            core::iter::successors(table.next_call(choice, None), |&last| table.next_call(choice, Some(last)));
        let (_, number) = calls.nth(usize::try_from(call).ok()?)?;
        Some(Key::new(kind, choice, number))
    }

    /// Returns the number of a call, by its place in the list of the choice with this index.
    pub(super) fn call_number(&self, choice: u32, call: u32) -> Option<u32> {
        Some(self.call_key(0, self.slot(choice)?.0, call)?.call())
    }

    /// Returns the records in use.
    pub(super) fn records<'b>(&self, buffer: &'b [u8]) -> Records<'b> {
        Records::of(buffer.get(..self.state.fill.len).unwrap_or_default())
    }

    /// Returns the pieces of one text or list, in order.
    pub(super) fn pieces<'b>(&'b self, buffer: &'b [u8], key: Key) -> impl Iterator<Item = &'b [u8]> {
        let begin = self.state.table.begin(key);
        self.records(buffer).filter(move |record| record.key == key && record.at >= begin).map(|record| record.body)
    }

    /// Returns U+FFFD if the text ends in a high surrogate whose other half did not come so far, otherwise nothing.
    pub(super) fn lone_half(&self, key: Key) -> &'static str {
        let slot = self.state.table.slot(key.choice());
        let ends_in_half = |slot: &Slot| slot.transcript_half.is_some() || slot.has(flag::LONE_HALF);
        if key.kind() == kind::AUDIO_TRANSCRIPT && slot.is_some_and(ends_in_half) {
            "\u{fffd}"
        } else {
            ""
        }
    }

    /// Returns an error: `Ok` with raw JSON, or `Err` with plain text. Returns `None` if there is no error.
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

/// Where bytes are written: they are counted, and written as long as there is room.
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

/// Puts items that lie in several pieces, with commas between the pieces.
pub(super) fn put_list<'b>(pieces: impl Iterator<Item = &'b [u8]>, put: &mut dyn FnMut(&[u8])) {
    for (place, items) in pieces.enumerate() {
        if place > 0 {
            put(b",");
        }
        put(items);
    }
}

/// Returns the length of what `write` writes, in brackets, and writes that to `out` if there is room for all of it.
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

/// Returns the length of what `write` writes, and writes that to `out` if there is room for all of it. Returns `None` if
/// `write` returns that there is nothing.
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

/// Returns the length of a text of an error, and writes the text to `out` if there is room for all of it.
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
