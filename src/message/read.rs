//! Reads the texts of a log.

use super::log::MessageLogOf;
use super::record::{copy, kind, LogRecords, RecordKey};
use super::table::{flag, LoggedChoice, Rows};
use crate::chat::ApiError;
use crate::json::{TextFlags, Value};

/// Defines [`Field`] from one table of names, numbers in the C interface, and kinds of records. The kind of an error is
/// that of raw JSON.
macro_rules! fields {
    ($($(#[$doc:meta])* $name:ident = $number:literal, $kind:ident;)*) => {
        /// A text of a message, for [`MessageLog::text`](super::MessageLog::text).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Field {
            $($(#[$doc])* $name = $number,)*
        }

        impl Field {
            /// Returns the field with this number in the C interface.
            pub fn from_number(number: u32) -> Option<Field> {
                match number {
                    $($number => Some(Field::$name),)*
                    _ => None,
                }
            }

            /// Returns the kind of the field's records.
            fn kind(self) -> u8 {
                match self {
                    $(Field::$name => kind::$kind,)*
                }
            }
        }
    };
}

fields! {
    /// `id`.
    Id = 0, ID;
    /// `object`, as sent.
    Object = 1, OBJECT;
    /// `model`.
    Model = 2, MODEL;
    /// `system_fingerprint`.
    SystemFingerprint = 3, SYSTEM_FINGERPRINT;
    /// `service_tier`.
    ServiceTier = 4, SERVICE_TIER;
    /// `provider` (OpenRouter).
    Provider = 5, PROVIDER;
    /// `usage` as raw JSON: the last that was not empty, with the members of later ones that have none of
    /// `prompt_tokens`, `completion_tokens` and `total_tokens`. The counts of another protocol have the names of chat
    /// completions.
    Usage = 6, USAGE;
    /// For another protocol, its usage under its own names, as raw JSON.
    NativeUsage = 32, USAGE;
    /// The first error that the API reported: raw JSON, or plain text.
    Error = 7, ERROR_JSON;
    /// The message of that error, for people to read.
    ErrorMessage = 8, ERROR_JSON;
    /// The code of that error.
    ErrorCode = 9, ERROR_JSON;
    /// The type of that error.
    ErrorType = 10, ERROR_JSON;

    /// A choice's role; `assistant` if none was sent.
    Role = 11, ROLE;
    /// A choice's content.
    Content = 12, CONTENT;
    /// A choice's refusal.
    Refusal = 13, REFUSAL;
    /// A choice's reasoning.
    Reasoning = 14, REASONING;
    /// The name of the member that contained a choice's first reasoning: `reasoning_content`, `reasoning`, `thinking`,
    /// `thought` or `reasoning_text`. Reasoning in `reasoning_details` or in parts of the content has no such name.
    ReasoningName = 31, REASONING_NAME;
    /// A choice's `reasoning_details`, an array. Consecutive entries of equal type and index become one entry: their
    /// `text` and `summary` are joined, and for every other member the last value that is not null counts. Entries with
    /// `data` and entries without an index stay as they are. For Anthropic, its signed and redacted thinking blocks in
    /// the same form (`reasoning.text`, `reasoning.encrypted`).
    ReasoningDetails = 30, DETAILS;
    /// Why a choice finished. The last reason counts.
    FinishReason = 15, FINISH_REASON;
    /// A choice's finish reason from the model's own provider (`native_finish_reason` of OpenRouter). For another
    /// protocol, the reason as sent.
    NativeFinishReason = 16, NATIVE_FINISH_REASON;
    /// For another protocol, an array of a choice's signatures and its encrypted reasoning.
    Signatures = 33, SIGNATURES;
    /// For another protocol, an array of the parts of a choice that no other field contains. The pieces of the input of
    /// a server's tool are joined: `input` is their JSON value or, if they join to none, their text.
    NativeContent = 34, PARTS;
    /// The first error that belongs to a choice: raw JSON, or plain text.
    ChoiceError = 17, CHOICE_ERROR_JSON;
    /// The message of a choice's error, for people to read.
    ChoiceErrorMessage = 18, CHOICE_ERROR_JSON;
    /// The code of a choice's error.
    ChoiceErrorCode = 19, CHOICE_ERROR_JSON;
    /// The type of a choice's error.
    ChoiceErrorType = 20, CHOICE_ERROR_JSON;
    /// The name of the function that a choice calls (deprecated form).
    FunctionName = 21, FUNCTION_NAME;
    /// The arguments of the function that a choice calls (deprecated form).
    FunctionArguments = 22, FUNCTION_ARGUMENTS;
    /// The ID of a choice's audio.
    AudioId = 23, AUDIO_ID;
    /// A choice's audio: an array of the pieces as sent, each in base64. A piece may have padding at its end, so decode
    /// each piece, then join the bytes.
    AudioData = 24, AUDIO_DATA;
    /// The transcript of a choice's audio.
    AudioTranscript = 25, AUDIO_TRANSCRIPT;

    /// A call's ID.
    CallId = 26, CALL_ID;
    /// A call's type, as sent.
    CallType = 27, CALL_TYPE;
    /// The name of the function or tool of a call.
    CallName = 28, CALL_NAME;
    /// A call's arguments, or the input of a custom tool.
    CallArguments = 29, CALL_ARGUMENTS;
}

impl<T: Rows + ?Sized> MessageLogOf<T> {
    /// Returns `created`, in seconds since 1970; never 0.
    pub fn created(&self) -> Option<u64> {
        self.state.table.top.created
    }

    /// Returns how many choices there are.
    pub fn choices(&self) -> usize {
        self.state.table.choices().len()
    }

    /// Returns the index of the `nth` choice, counted from 0 by ascending index.
    pub fn choice_index(&self, nth: usize) -> Option<u32> {
        core::iter::successors(self.state.table.next_choice(None), |&last| self.state.table.next_choice(Some(last)))
            .nth(nth)
    }

    /// Returns how many tool calls the choice with this index has, or 0 if there is no such choice.
    pub fn calls(&self, choice: u32) -> u32 {
        self.row(choice).map_or(0, |(_, row)| row.calls)
    }

    /// Whether a call, given by its position in the choice's list, calls a custom tool.
    pub fn is_custom(&self, buffer: &[u8], choice: u32, call: u32) -> bool {
        let key = self.row(choice).and_then(|(place, _)| self.call_key(kind::CALL_CUSTOM, place, call));
        key.is_some_and(|key| self.pieces(buffer, key).next().is_some())
    }

    /// Returns when the audio of the choice with this index expires, in seconds since 1970.
    pub fn audio_expires_at(&self, choice: u32) -> Option<u64> {
        self.row(choice).filter(|(_, row)| row.has(flag::AUDIO_EXPIRES)).map(|(_, row)| row.expires_at)
    }

    /// Whether the error is raw JSON; otherwise it is plain text. Returns `None` if there is no error.
    pub fn error_is_json(&self, buffer: &[u8]) -> Option<bool> {
        self.error(buffer, kind::ERROR_JSON, 0).map(|error| error.is_ok())
    }

    /// Returns the length of a text in bytes of UTF-8 (or of raw JSON as sent), and writes the text to `out` if there
    /// is room for all of it; otherwise writes nothing. Returns `None` if there is no such text. A text is never empty,
    /// except for an error in plain text that was sent empty.
    ///
    /// `buffer` is the buffer that [`put`](Self::put) was given last, or its first [`len`](Self::len) bytes. `choice`
    /// is the index of a choice and `call` the position of a call in its list, from 0. Calls are listed by ascending
    /// index, or in order of appearance if two calls have the same index or the protocol is not chat completions.
    /// `choice` and `call` are ignored for fields that do not belong to one. The log is read once to measure the text,
    /// and once more to write it.
    pub fn text(&self, buffer: &[u8], field: Field, choice: u32, call: u32, out: &mut [u8]) -> Option<usize> {
        let kind = field.kind();
        let place = if kind < kind::ROLE { 0 } else { self.row(choice)?.0 };
        let key =
            if kind < kind::CALL_CUSTOM { RecordKey::new(kind, place, 0) } else { self.call_key(kind, place, call)? };
        let mut len = 0usize;
        self.put_field(buffer, field, key, &mut |bytes| len = len.saturating_add(bytes.len()))?;
        if let Some(bytes) = out.get_mut(..len) {
            let mut out = Out { bytes, len: 0 };
            self.put_field(buffer, field, key, &mut |bytes| out.put(bytes));
        }
        Some(len)
    }

    /// Puts the text of a field whose records have this key. Returns `None` if there is no such text.
    fn put_field(&self, buffer: &[u8], field: Field, key: RecordKey, put: &mut dyn FnMut(&[u8])) -> Option<()> {
        match key.kind() {
            json @ (kind::ERROR_JSON | kind::CHOICE_ERROR_JSON) => {
                put_error(self.error(buffer, json, key.choice())?, field, put)
            }
            kind::USAGE if field == Field::NativeUsage => self.put_native_usage(buffer, put).then_some(()),
            _ => self.put_text(buffer, key, put).then_some(()),
        }
    }

    /// Puts the text, list or raw JSON with this key. Returns `false` if there is none, or only an empty one.
    pub(super) fn put_text(&self, buffer: &[u8], key: RecordKey, put: &mut dyn FnMut(&[u8])) -> bool {
        let mut is_any = true;
        match key.kind() {
            kind::USAGE if self.is_native() => is_any = self.put_usage(buffer, put),
            kind::DETAILS if self.is_native() => is_any = self.put_thoughts(buffer, key.choice(), put),
            kind::USAGE if self.has_added_usage(buffer) => self.put_added_usage(buffer, put),
            _ if key.is_list() => {
                is_any = self.pieces(buffer, key).next().is_some();
                self.put_array(buffer, key, put);
            }
            _ if self.lacks_text(buffer, key) => self.put_arguments(buffer, key, put),
            _ => {
                is_any = false;
                for piece in self.pieces(buffer, key).chain([self.implied(key).as_bytes()]) {
                    is_any |= !piece.is_empty();
                    put(piece);
                }
            }
        }
        is_any
    }

    /// Puts a list as an array of strict JSON.
    pub(super) fn put_array(&self, buffer: &[u8], key: RecordKey, put: &mut dyn FnMut(&[u8])) {
        put(b"[");
        match key.kind() {
            kind::DETAILS => self.put_details(buffer, key.choice(), &mut *put),
            kind::PARTS => self.put_parts(buffer, key.choice(), put),
            _ => {
                for (place, items) in self.pieces(buffer, key).enumerate() {
                    if place > 0 {
                        put(b",");
                    }
                    put(items);
                }
            }
        }
        put(b"]");
    }

    /// Returns the choice with this index, and its place in the table.
    fn row(&self, index: u32) -> Option<(u16, &LoggedChoice)> {
        let place = self.state.table.place(index)?;
        Some((place, self.state.table.choice(place)?))
    }

    /// Returns the key of a call, by its position in the list.
    fn call_key(&self, kind: u8, choice: u16, call: u32) -> Option<RecordKey> {
        let table = &self.state.table;
        let mut calls =
            core::iter::successors(table.next_call(choice, None), |&last| table.next_call(choice, Some(last)));
        let (_, number) = calls.nth(usize::try_from(call).ok()?)?;
        Some(RecordKey::new(kind, choice, number))
    }

    /// Returns the number of a call, by its position in the list of the choice with this index.
    pub(super) fn call_number(&self, choice: u32, call: u32) -> Option<u32> {
        Some(self.call_key(0, self.row(choice)?.0, call)?.call())
    }

    /// Returns the records in use.
    pub(super) fn records<'b>(&self, buffer: &'b [u8]) -> LogRecords<'b> {
        LogRecords::of(buffer.get(..self.state.fill.len).unwrap_or_default())
    }

    /// Returns the pieces of one text or list, in order.
    pub(super) fn pieces<'b>(&'b self, buffer: &'b [u8], key: RecordKey) -> impl Iterator<Item = &'b [u8]> {
        let begin = self.state.table.begin(key);
        self.records(buffer).filter(move |record| record.key == key && record.at >= begin).map(|record| record.body)
    }

    /// Returns the end of a text that no record has: U+FFFD if the text ends in a high surrogate whose other half did
    /// not come yet, `assistant` for a role that was never sent, otherwise nothing.
    fn implied(&self, key: RecordKey) -> &'static str {
        let row = self.state.table.choice(key.choice());
        if key.kind() == kind::ROLE && row.is_some_and(|row| row.role.len == 0) {
            return "assistant";
        }
        if key.kind() == kind::AUDIO_TRANSCRIPT && row.is_some_and(|row| row.transcript_half.is_some()) {
            "\u{fffd}"
        } else {
            ""
        }
    }

    /// Returns an error: `Ok` with raw JSON, or `Err` with plain text. Returns `None` if there is no error.
    pub(super) fn error<'b>(&'b self, buffer: &'b [u8], json: u8, place: u16) -> Option<Result<&'b [u8], &'b [u8]>> {
        let failed = match json {
            kind::ERROR_JSON => self.state.table.knows(json),
            _ => self.state.table.choice(place)?.has(flag::ERROR),
        };
        if !failed {
            return None;
        }
        let raw = self.pieces(buffer, RecordKey::new(json, place, 0)).next();
        let plain = || self.pieces(buffer, RecordKey::new(kind::error_text(json), place, 0)).next();
        Some(raw.ok_or_else(|| plain().unwrap_or_default()))
    }
}

/// Output memory: counts all bytes, and writes as many as there is room for.
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

/// Puts a text of an error. Returns `None` if there is no such text.
fn put_error(error: Result<&[u8], &[u8]>, field: Field, put: &mut dyn FnMut(&[u8])) -> Option<()> {
    let api = match error {
        Ok(raw) => ApiError::of(Value::from_span(raw, TextFlags::UNKNOWN)),
        Err(text) => ApiError::plain(text),
    };
    let text = match field {
        Field::ErrorMessage | Field::ChoiceErrorMessage => api.message()?,
        Field::ErrorCode | Field::ChoiceErrorCode => api.code()?,
        Field::ErrorType | Field::ChoiceErrorType => api.kind()?,
        _ => {
            put(error.unwrap_or_else(|text| text));
            return Some(());
        }
    };
    text.fragments().for_each(|fragment| put(fragment.encode(&mut [0; 4]).as_bytes()));
    Some(())
}
