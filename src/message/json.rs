//! Writes a log as JSON, in the shape of a `chat.completion` that was not streamed.

use super::log::MessageLogOf;
use super::read::Out;
use super::record::{kind, RecordKey};
use super::table::{flag, LoggedChoice, Rows};
use super::tokens::LISTS;
use crate::chat::Owner;
use crate::json;
use crate::shown::put_number;

/// Which members the JSON of a message has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Detail {
    /// The members of the API's reference. `data` of audio is one string, in which the pieces follow one another.
    #[default]
    Standard,
    /// Also the members that only gateways and providers send: `provider`, the `native_finish_reason` of a choice,
    /// `reasoning_details`, and any other [member](MessageLogOf::members) of the chunks, of a choice and of its deltas.
    /// The reasoning is under its name in the stream ([`Field::ReasoningName`](super::Field::ReasoningName)), and
    /// `data` of audio is an array of its pieces.
    Extended,
}

impl<T: Rows + ?Sized> MessageLogOf<T> {
    /// Writes the message as JSON without whitespace, and returns its length in bytes. Writes only as much as `out` has
    /// room for: call it with an empty `out` first, then with an `out` of the returned length.
    ///
    /// The message is the object of the API's reference: absent members are
    /// left out, `message.content` is null if there is none, `reasoning_content` is the reasoning, and `object` is
    /// `chat.completion` whatever was streamed. A tool call keeps its other members (`extra_content`), which must be
    /// sent back with the call. [`Detail::Extended`] adds what only gateways and providers send.
    ///
    /// The output is always one strict JSON value. Raw JSON (usage, errors, annotations, log probabilities) is written
    /// as sent if it is strict. Otherwise it is written without whitespace, each container up to its first fault, with
    /// null for values that nest deeper than 1024 levels. The log is read once for each text.
    ///
    /// `buffer` is the buffer that [`put`](Self::put) was given last, or its first [`len`](Self::len) bytes.
    pub fn json(&self, buffer: &[u8], detail: Detail, out: &mut [u8]) -> usize {
        self.json_with(buffer, detail, &[], out)
    }

    /// Does what [`json`](Self::json) does, but writes the given texts for these keys instead of those of the log.
    pub(super) fn json_with(
        &self,
        buffer: &[u8],
        detail: Detail,
        texts: &[(RecordKey, &str)],
        out: &mut [u8],
    ) -> usize {
        let mut json = Json { log: self, buffer, texts, out: Out { bytes: out, len: 0 }, comma: false };
        json.completion(detail == Detail::Extended);
        json.out.len
    }
}

struct Json<'l, 'o, T: Rows + ?Sized> {
    log: &'l MessageLogOf<T>,
    buffer: &'l [u8],
    /// Texts that replace those of the log.
    texts: &'l [(RecordKey, &'l str)],
    out: Out<'o>,
    /// Whether the current container already has an element, so that the next one needs a comma.
    comma: bool,
}

/// A set of kinds of records, one bit each.
#[derive(Clone, Copy)]
struct RecordKinds(u64);

impl RecordKinds {
    fn has(self, kind: u8) -> bool {
        self.0 >> (kind % 64) & 1 != 0
    }
}

impl<T: Rows + ?Sized> Json<'_, '_, T> {
    fn completion(&mut self, extended: bool) {
        let is_native = self.log.is_native();
        let extended = extended || is_native;
        let kinds = self.kinds(|key| key.kind() < kind::ROLE);
        let key = |kind: u8| RecordKey::new(kind, 0, 0);
        self.open(b"{");
        self.some("id", kinds, key(kind::ID));
        self.known("object", "chat.completion");
        if let Some(created) = self.log.created() {
            self.name("created");
            self.number(created);
        }
        self.some("model", kinds, key(kind::MODEL));
        if extended {
            self.some("provider", kinds, key(kind::PROVIDER));
        }
        self.name("choices");
        self.open(b"[");
        let mut next = self.log.state.table.next_choice(None);
        while let Some(index) = next {
            self.choice(index, extended);
            next = self.log.state.table.next_choice(next);
        }
        self.close(b"]");
        if is_native || self.log.has_added_usage(self.buffer) {
            self.joined("usage", |log, buffer, put| log.put_text(buffer, key(kind::USAGE), put));
            self.joined("native_usage", |log, buffer, put| log.put_native_usage(buffer, put));
        } else {
            self.some("usage", kinds, key(kind::USAGE));
        }
        self.some("service_tier", kinds, key(kind::SERVICE_TIER));
        self.some("system_fingerprint", kinds, key(kind::SYSTEM_FINGERPRINT));
        self.error(kind::ERROR_JSON, 0);
        if extended {
            self.members(Owner::Chunk, 0, 0);
        }
        self.close(b"}");
    }

    fn choice(&mut self, index: u32, extended: bool) {
        let log = self.log;
        let Some(place) = log.state.table.place(index) else { return };
        let Some(row) = log.state.table.choice(place) else { return };
        let own = |key: RecordKey| key.choice() == place;
        let kinds = self.kinds(|key| (kind::ROLE..kind::CALL_CUSTOM).contains(&key.kind()) && own(key));
        let key = |kind: u8| RecordKey::new(kind, place, 0);
        self.element();
        self.open(b"{");
        self.name("index");
        self.number(u64::from(index));
        self.name("message");
        self.message(place, row, kinds, extended);
        self.name("finish_reason");
        self.text_or_null(kinds, key(kind::FINISH_REASON));
        if extended {
            self.some("native_finish_reason", kinds, key(kind::NATIVE_FINISH_REASON));
        }
        if row.has(flag::LOGPROBS) {
            self.name("logprobs");
            self.open(b"{");
            for (list, name) in (0u8..).zip(LISTS) {
                if row.has(flag::LISTS.wrapping_shl(u32::from(list))) {
                    self.name(name);
                    self.value(key(kind::LISTS.wrapping_add(list)));
                }
            }
            self.close(b"}");
        }
        self.error(kind::CHOICE_ERROR_JSON, place);
        if extended {
            self.members(Owner::Choice, place, 0);
        }
        self.close(b"}");
    }

    fn message(&mut self, place: u16, row: &LoggedChoice, kinds: RecordKinds, extended: bool) {
        let key = |kind: u8| RecordKey::new(kind, place, 0);
        self.open(b"{");
        self.name("role");
        self.value(key(kind::ROLE));
        self.name("content");
        self.text_or_null(kinds, key(kind::CONTENT));
        self.some("refusal", kinds, key(kind::REFUSAL));
        let log = self.log;
        let name = log.pieces(self.buffer, key(kind::REASONING_NAME)).next().filter(|_| extended);
        let name = name.and_then(|name| core::str::from_utf8(name).ok());
        self.some(name.unwrap_or("reasoning_content"), kinds, key(kind::REASONING));
        if row.calls > 0 {
            self.name("tool_calls");
            self.open(b"[");
            let mut next = self.log.state.table.next_call(place, None);
            while let Some((_, number)) = next {
                self.call(place, number);
                next = self.log.state.table.next_call(place, next);
            }
            self.close(b"]");
        }
        if row.has(flag::FUNCTION) {
            self.name("function_call");
            self.called(key(kind::FUNCTION_NAME), "arguments", key(kind::FUNCTION_ARGUMENTS));
            self.close(b"}");
        }
        if row.has(flag::AUDIO) {
            self.name("audio");
            self.open(b"{");
            self.some("id", kinds, key(kind::AUDIO_ID));
            if extended {
                self.some("data", kinds, key(kind::AUDIO_DATA));
            } else if kinds.has(kind::AUDIO_DATA) {
                self.name("data");
                let Json { log, buffer, out, .. } = self;
                out.put(b"\"");
                let pieces = log.listed(buffer, key(kind::AUDIO_DATA)).filter_map(|piece| piece.as_text());
                pieces.for_each(|piece| out.put(piece.raw()));
                out.put(b"\"");
            }
            if kinds.has(kind::AUDIO_TRANSCRIPT) || row.transcript_half.is_some() {
                self.name("transcript");
                self.value(key(kind::AUDIO_TRANSCRIPT));
            }
            if row.has(flag::AUDIO_EXPIRES) {
                self.name("expires_at");
                self.number(row.expires_at);
            }
            self.close(b"}");
        }
        self.some("annotations", kinds, key(kind::ANNOTATIONS));
        self.some("signatures", kinds, key(kind::SIGNATURES));
        if extended {
            self.some("native_content", kinds, key(kind::PARTS));
            if self.log.is_native() {
                self.joined("reasoning_details", |log, buffer, put| log.put_text(buffer, key(kind::DETAILS), put));
            } else {
                self.some("reasoning_details", kinds, key(kind::DETAILS));
            }
            self.members(Owner::Delta, place, 0);
        }
        self.close(b"}");
    }

    /// Writes the members of an owner that have no field of their own. `place` is the place of the choice and `call` the
    /// number of the call; each is 0 if the owner is in none.
    fn members(&mut self, owner: Owner, place: u16, call: u32) {
        let log = self.log;
        for entry in log.entries(self.buffer).filter(|entry| entry.is_of(owner, place, call)) {
            self.element();
            self.out.put(b"\"");
            json::escape(entry.name, |bytes| self.out.put(bytes));
            self.out.put(b"\":");
            json::rewrite(entry.value, &mut |bytes| self.out.put(bytes));
        }
    }

    /// Writes a call. `number` is its number among the calls of the choice at `place`.
    fn call(&mut self, place: u16, number: u32) {
        let of_call = |key: RecordKey| key.kind() >= kind::CALL_CUSTOM && key.choice() == place && key.call() == number;
        let kinds = self.kinds(of_call);
        let key = |kind: u8| RecordKey::new(kind, place, number);
        let (known, input) = if kinds.has(kind::CALL_CUSTOM) { ("custom", "input") } else { ("function", "arguments") };
        self.element();
        self.open(b"{");
        self.some("id", kinds, key(kind::CALL_ID));
        if kinds.has(kind::CALL_TYPE) {
            self.some("type", kinds, key(kind::CALL_TYPE));
        } else {
            self.known("type", known);
        }
        self.name(known);
        self.called(key(kind::CALL_NAME), input, key(kind::CALL_ARGUMENTS));
        self.members(Owner::Function, place, number);
        self.close(b"}");
        self.members(Owner::Call, place, number);
        self.close(b"}");
    }

    /// Begins the object of a called function or tool, with its name and its input. Both are always written.
    fn called(&mut self, name: RecordKey, input: &str, text: RecordKey) {
        self.open(b"{");
        self.name("name");
        self.value(name);
        self.name(input);
        self.value(text);
    }

    fn error(&mut self, json: u8, place: u16) {
        let Some(error) = self.log.error(self.buffer, json, place) else { return };
        self.name("error");
        self.value(RecordKey::new(if error.is_ok() { json } else { kind::error_text(json) }, place, 0));
    }

    /// Returns the kinds of the live records whose keys satisfy `of`.
    fn kinds(&self, of: impl Fn(RecordKey) -> bool) -> RecordKinds {
        let table = &self.log.state.table;
        let records = self.log.records(self.buffer).filter(|record| of(record.key) && table.is_live(record));
        RecordKinds(records.fold(0, |kinds, record| kinds | 1 << (record.key.kind() % 64)))
    }

    fn open(&mut self, bracket: &[u8]) {
        self.out.put(bracket);
        self.comma = false;
    }

    fn close(&mut self, bracket: &[u8]) {
        self.out.put(bracket);
        self.comma = true;
    }

    /// Begins an element: writes the comma before it, unless it is the first element.
    fn element(&mut self) {
        if core::mem::replace(&mut self.comma, true) {
            self.out.put(b",");
        }
    }

    /// Begins a member. `name` must not need an escape.
    fn name(&mut self, name: &str) {
        self.element();
        self.out.put(b"\"");
        self.out.put(name.as_bytes());
        self.out.put(b"\":");
    }

    /// Writes a text member. `text` must not need an escape.
    fn known(&mut self, name: &str, text: &str) {
        self.name(name);
        self.out.put(b"\"");
        self.out.put(text.as_bytes());
        self.out.put(b"\"");
    }

    /// Writes a member, unless it is absent.
    fn some(&mut self, name: &str, kinds: RecordKinds, key: RecordKey) {
        if kinds.has(key.kind()) {
            self.name(name);
            self.value(key);
        }
    }

    fn text_or_null(&mut self, kinds: RecordKinds, key: RecordKey) {
        if kinds.has(key.kind()) {
            self.value(key);
        } else {
            self.out.put(b"null");
        }
    }

    /// Writes a member that is put together from several records, unless it is absent. `write` puts it if it is present.
    fn joined(&mut self, name: &str, write: impl Fn(&MessageLogOf<T>, &[u8], &mut dyn FnMut(&[u8])) -> bool) {
        if write(self.log, self.buffer, &mut |_| {}) {
            self.name(name);
            let out = &mut self.out;
            write(self.log, self.buffer, &mut |bytes| out.put(bytes));
        }
    }

    /// Writes a list, raw JSON, or a text, which is an empty string if there is none.
    fn value(&mut self, key: RecordKey) {
        let Json { log, buffer, texts, out, .. } = self;
        if key.is_list() {
            return log.put_array(buffer, key, &mut |bytes| out.put(bytes));
        }
        if matches!(key.kind(), kind::USAGE | kind::ERROR_JSON | kind::CHOICE_ERROR_JSON) {
            return log.pieces(buffer, key).for_each(|raw| json::rewrite(raw, &mut |bytes| out.put(bytes)));
        }
        out.put(b"\"");
        let mut escape = |bytes: &[u8]| json::escape(bytes, |bytes| out.put(bytes));
        if let Some((_, text)) = texts.iter().find(|(own, _)| *own == key) {
            escape(text.as_bytes());
        } else {
            log.put_text(buffer, key, &mut escape);
        }
        out.put(b"\"");
    }

    fn number(&mut self, number: u64) {
        let out = &mut self.out;
        put_number(number, &mut |bytes| out.put(bytes));
    }
}
