//! What a chunk puts into a log. Each step does what the assembler does with its message.

use super::log::LogError;
use super::log_record::{kind, Fill, Key};
use super::log_table::{flag, Slot, Table};
use crate::chat::{ApiError, Audio, CallUpdate, Chunk, Logprobs, Message, Update};
use crate::delta::Meta;
use crate::json::{self, Text, Value};

/// Bytes that may be replaced before anything is thrown out.
const SLACK: usize = 1024;

/// What is kept beside the buffer, apart from the tracker whose updates change it.
#[derive(Clone, Debug)]
pub(super) struct Kept<const CHOICES: usize, const CALLS: usize> {
    pub(super) fill: Fill,
    pub(super) table: Table<CHOICES, CALLS>,
    /// Something in the log was replaced.
    stale: bool,
    /// How long the log was when it was packed last.
    packed: usize,
    /// The first thing that went wrong with the chunk at hand.
    fault: Option<LogError>,
}

impl<const CHOICES: usize, const CALLS: usize> Kept<CHOICES, CALLS> {
    pub(super) const EMPTY: Self =
        Kept { fill: Fill::EMPTY, table: Table::EMPTY, stale: false, packed: 0, fault: None };

    /// Makes the log whole, and gives the fault of the chunk.
    pub(super) fn settle(&mut self, buffer: &mut [u8]) -> Result<(), LogError> {
        self.fill.settle(buffer);
        if self.stale && self.fill.len > self.packed.saturating_mul(2).saturating_add(SLACK) {
            let table = &self.table;
            self.fill.pack(buffer, |record| table.is_live(record));
            self.table.all_live();
            self.stale = false;
            self.packed = self.fill.len;
        }
        match self.fault.take() {
            Some(fault) => Err(fault),
            None => Ok(()),
        }
    }
}

/// Writes to a log.
pub(super) struct Pen<'w, const CHOICES: usize, const CALLS: usize> {
    pub(super) kept: &'w mut Kept<CHOICES, CALLS>,
    pub(super) buffer: &'w mut [u8],
}

impl<const CHOICES: usize, const CALLS: usize> Pen<'_, CHOICES, CALLS> {
    pub(super) fn fail(&mut self, fault: LogError) {
        self.kept.fault.get_or_insert(fault);
    }

    /// Puts a text behind what is there of its key.
    fn text(&mut self, key: Key, text: Text<'_>) {
        if text.is_empty() {
            return;
        }
        let fill = &mut self.kept.fill;
        fill.begin(self.buffer, key);
        for fragment in text.fragments() {
            fill.put(self.buffer, fragment.encode(&mut [0; 4]).as_bytes());
        }
    }

    /// Keeps a value as it came.
    fn raw(&mut self, key: Key, value: Value<'_>) {
        self.kept.fill.begin(self.buffer, key);
        self.kept.fill.put(self.buffer, value.raw());
    }

    /// Puts the elements of `array` behind the others.
    fn list(&mut self, key: Key, array: Value<'_>) {
        let fill = &mut self.kept.fill;
        for item in array.elements().map_while(Result::ok) {
            fill.begin(self.buffer, key);
            json::rewrite(item.raw(), |bytes| fill.put(self.buffer, bytes));
        }
    }

    /// Where the records that replace others begin.
    fn mark(&mut self, replaces: bool) -> u32 {
        self.kept.stale |= replaces;
        self.kept.fill.seal(self.buffer)
    }

    /// The members of the top level: the first that says something.
    pub(super) fn head(&mut self, chunk: &Chunk<'_>) {
        self.first(kind::ID, || chunk.id());
        self.first(kind::OBJECT, || chunk.object());
        self.first(kind::MODEL, || chunk.model());
        self.first(kind::SYSTEM_FINGERPRINT, || chunk.system_fingerprint());
        self.first(kind::SERVICE_TIER, || chunk.service_tier());
        self.first(kind::PROVIDER, || chunk.provider());
        if self.kept.table.created.is_none() {
            self.kept.table.created = chunk.created().filter(|&created| created > 0);
        }
    }

    fn first<'t>(&mut self, kind: u8, text: impl FnOnce() -> Option<Text<'t>>) {
        if self.kept.table.knows(kind) {
            return;
        }
        if let Some(text) = text() {
            self.kept.table.know(kind);
            self.text(Key::new(kind, 0, 0), text);
        }
    }

    /// The choice with this index, a new one if there is none.
    fn slot(&mut self, index: u32) -> Option<(u16, Slot)> {
        let table = &mut self.kept.table;
        let found = table.place_or_new(index).and_then(|place| Some((place, *table.slot(place)?)));
        if found.is_none() {
            self.fail(LogError::TooManyChoices);
        }
        found
    }

    fn put(&mut self, place: u16, slot: Slot) {
        if let Some(old) = self.kept.table.slot_mut(place) {
            *old = slot;
        }
    }

    pub(super) fn update(&mut self, choice: u32, update: &Update<'_>) {
        match update {
            Update::Usage(usage) => {
                let replaces = self.kept.table.know(kind::USAGE);
                self.kept.table.usage = self.mark(replaces);
                self.raw(Key::new(kind::USAGE, 0, 0), usage.value());
            }
            Update::Error(error) => {
                if !self.kept.table.know(kind::ERROR_JSON) {
                    self.failure(kind::ERROR_JSON, kind::ERROR_TEXT, 0, error);
                }
            }
            _ => {
                if let Some((place, mut slot)) = self.slot(choice) {
                    self.choice(place, &mut slot, update);
                    self.put(place, slot);
                }
            }
        }
    }

    fn failure(&mut self, json: u8, text: u8, place: u16, error: &ApiError<'_>) {
        match (error.value(), error.message()) {
            (Some(value), _) => self.raw(Key::new(json, place, 0), value),
            (None, Some(message)) => self.text(Key::new(text, place, 0), message),
            (None, None) => {}
        }
    }

    fn choice(&mut self, place: u16, slot: &mut Slot, update: &Update<'_>) {
        let key = |kind: u8| Key::new(kind, place, 0);
        match update {
            // None of these is what a message says too.
            Update::Role(text) => {
                slot.role = self.mark(slot.has(flag::ROLE));
                slot.set(flag::ROLE);
                return self.text(key(kind::ROLE), *text);
            }
            Update::Finish(reason) => {
                slot.finish_reason = self.mark(slot.has(flag::FINISH_REASON));
                slot.set(flag::FINISH_REASON);
                return self.text(key(kind::FINISH_REASON), reason.text());
            }
            Update::ChoiceError(error) => {
                if !slot.set(flag::ERROR) {
                    self.failure(kind::CHOICE_ERROR_JSON, kind::CHOICE_ERROR_TEXT, place, error);
                }
                return;
            }
            Update::Logprobs(logprobs) => return self.logprobs(place, slot, logprobs),
            Update::Message(message) => return self.message(place, slot, message),
            Update::Meta(Meta::NativeFinishReason, reason) => {
                slot.native_finish_reason = self.mark(slot.has(flag::NATIVE_FINISH_REASON));
                slot.set(flag::NATIVE_FINISH_REASON);
                return self.text(key(kind::NATIVE_FINISH_REASON), *reason);
            }
            Update::Annotations(items) => return self.list(key(kind::ANNOTATIONS), *items),
            _ => {}
        }
        self.drop_message(slot);
        match update {
            Update::Content(text) => self.text(key(kind::CONTENT), *text),
            Update::Reasoning(text) => self.text(key(kind::REASONING), *text),
            Update::Refusal(text) => self.text(key(kind::REFUSAL), *text),
            Update::FunctionName { text, replaces } => {
                let had = slot.set(flag::FUNCTION);
                if *replaces {
                    slot.function = self.mark(had);
                }
                self.text(key(kind::FUNCTION_NAME), *text);
            }
            Update::FunctionArguments(text) => {
                slot.set(flag::FUNCTION);
                self.text(key(kind::FUNCTION_ARGUMENTS), *text);
            }
            Update::Call(call) => self.call(place, slot, call),
            Update::CallName { call: number, text, replaces } => {
                if *replaces {
                    let named = self.kept.table.call_mut(place, *number).is_some_and(|call| call.named);
                    let begin = self.mark(named);
                    if let Some(call) = self.kept.table.call_mut(place, *number) {
                        call.name = begin;
                        call.named = true;
                    }
                }
                self.text(Key::new(kind::CALL_NAME, place, *number), *text);
            }
            Update::CallArguments { call, text } => self.text(Key::new(kind::CALL_ARGUMENTS, place, *call), *text),
            Update::Audio(audio) => self.audio(place, slot, audio),
            _ => {}
        }
    }

    fn call(&mut self, place: u16, slot: &mut Slot, update: &CallUpdate<'_>) {
        let CallUpdate { call: number, index, opens, reuses, id, kind, custom } = *update;
        let index = index.unwrap_or(0);
        if opens {
            if self.kept.table.open_call(place, number, index).is_none() {
                return self.fail(LogError::TooManyCalls);
            }
            slot.calls = slot.calls.saturating_add(1);
            if reuses {
                slot.set(flag::REUSED);
            }
        }
        self.call_facts(place, number, custom, id, kind);
    }

    fn call_facts(&mut self, place: u16, number: u32, custom: bool, id: Option<Text<'_>>, kind: Option<Text<'_>>) {
        if custom {
            self.kept.fill.begin(self.buffer, Key::new(kind::CALL_CUSTOM, place, number));
        }
        if let Some(id) = id {
            self.text(Key::new(kind::CALL_ID, place, number), id);
        }
        if let Some(kind) = kind {
            self.text(Key::new(kind::CALL_TYPE, place, number), kind);
        }
    }

    fn audio(&mut self, place: u16, slot: &mut Slot, audio: &Audio<'_>) {
        slot.set(flag::AUDIO);
        if !slot.has(flag::AUDIO_ID) {
            if let Some(id) = audio.id() {
                slot.set(flag::AUDIO_ID);
                self.text(Key::new(kind::AUDIO_ID, place, 0), id);
            }
        }
        if let Some(text) = audio.data() {
            self.text(Key::new(kind::AUDIO_DATA, place, 0), text);
        }
        if let Some(text) = audio.transcript() {
            self.text(Key::new(kind::AUDIO_TRANSCRIPT, place, 0), text);
        }
        slot.expires_at = audio.expires_at().or(slot.expires_at);
    }

    fn logprobs(&mut self, place: u16, slot: &mut Slot, logprobs: &Logprobs<'_>) {
        let lists = logprobs.lists();
        if lists.any {
            slot.set(flag::LOGPROBS);
        }
        for (list, array) in (0u8..).zip(lists.known) {
            if let Some(array) = array {
                slot.set(flag::LISTS.wrapping_shl(u32::from(list)));
                self.list(Key::new(kind::LISTS.wrapping_add(list), place, 0), array);
            }
        }
    }

    /// The whole message so far, in the place of an earlier one. If it has too many calls, the earlier one stays.
    fn message(&mut self, place: u16, slot: &mut Slot, message: &Message<'_>) {
        let body = self.mark(false);
        let before = self.kept.fill;
        let mut new = Slot { body, calls: 0, expires_at: None, flags: slot.flags & !flag::BODY | flag::WHOLE, ..*slot };
        let key = |kind: u8| Key::new(kind, place, 0);
        for part in message.deltas() {
            match part {
                // A role that was said before stays.
                Update::Role(_) if new.has(flag::ROLE) => {}
                Update::Role(text) => {
                    new.set(flag::ROLE);
                    self.text(key(kind::ROLE), text);
                }
                Update::Content(text) => self.text(key(kind::CONTENT), text),
                Update::Reasoning(text) => self.text(key(kind::REASONING), text),
                Update::Refusal(text) => self.text(key(kind::REFUSAL), text),
                Update::FunctionName { text, .. } => {
                    new.set(flag::FUNCTION);
                    self.text(key(kind::FUNCTION_NAME), text);
                }
                Update::FunctionArguments(text) => {
                    new.set(flag::FUNCTION);
                    self.text(key(kind::FUNCTION_ARGUMENTS), text);
                }
                // A call of a whole message is listed where it stands.
                Update::Call(CallUpdate { call, id, kind, custom, .. }) => {
                    if usize::try_from(call).is_ok_and(|call| call >= CALLS) {
                        self.kept.fill = before;
                        return self.fail(LogError::TooManyCalls);
                    }
                    self.call_facts(place, call, custom, id, kind);
                    new.calls = new.calls.saturating_add(1);
                }
                Update::CallName { call, text, .. } => self.text(Key::new(kind::CALL_NAME, place, call), text),
                Update::CallArguments { call, text } => self.text(Key::new(kind::CALL_ARGUMENTS, place, call), text),
                Update::Audio(audio) => self.audio(place, &mut new, &audio),
                _ => {}
            }
        }
        if let Ok(Some(items)) = message.value().get("annotations") {
            let begin = self.mark(false);
            self.list(key(kind::ANNOTATIONS), items);
            if self.kept.fill.len > begin as usize {
                new.annotations = begin;
            }
        }
        self.kept.stale |= slot.has(flag::WHOLE);
        *slot = new;
    }

    /// Deltas came after all: what messages said no longer counts.
    fn drop_message(&mut self, slot: &mut Slot) {
        if !slot.has(flag::WHOLE) {
            return;
        }
        slot.body = self.mark(true);
        slot.flags &= !flag::BODY;
        slot.calls = 0;
        slot.expires_at = None;
    }
}
