//! Writes updates to a log.

use super::error::LogError;
use super::record::{kind, Fill, RecordKey};
use super::table::{flag, Live, LoggedChoice, Rows, Saved, Table};
use super::tokens;
use crate::chat::scalar::{member_of, text_of};
use crate::chat::{ApiError, CallUpdate, NamePiece, OtherMember, Update};
use crate::delta::Meta;
use crate::dialect::whole_number;
use crate::dialect::{is_piece, is_transcript, Protocol};
use crate::json::{self, Text, Value};
use crate::{Quirk, QuirkSet};

/// Rewrites an item of a list as strict JSON.
type RewriteFn<'r> = &'r mut dyn FnMut(&[u8], &mut dyn FnMut(&[u8]));

/// How many bytes the log may grow by, beyond twice its packed length, before replaced records are removed.
const SLACK: usize = 1024;

/// How many records the log reads for each byte of the `reasoning_details` of messages, to find whether it has some
/// already. Servers that repeat messages need far fewer, because the values grow with the log.
const READS: u32 = 16;

/// How many records the log reads beyond those: some milliseconds of work.
const MOST_READS: u32 = 1 << 22;

/// The state of a log without its buffer.
#[derive(Clone)]
pub(super) struct LogState<T: Rows + ?Sized> {
    pub(super) fill: Fill,
    /// Length in bytes of the texts and raw JSON that were not replaced.
    pub(super) live: usize,
    /// Whether a record in the log was replaced.
    pub(super) stale: bool,
    /// How many records the log has read to find whether it has `reasoning_details`, without those that the length of
    /// the values paid for.
    pub(super) reads: u32,
    /// Length of the log after it was packed last.
    packed: usize,
    /// Quirks of texts that no tracker reads, since the caller last took them.
    pub(super) quirks: QuirkSet,
    /// Why the current update was left out.
    fault: Option<LogError>,
    pub(super) table: Table<T>,
}

/// Everything in a state that one update can change.
pub(super) struct Rollback {
    fill: Fill,
    table: Saved,
    live: usize,
    stale: bool,
    reads: u32,
    quirks: QuirkSet,
}

impl<T: Rows> LogState<T> {
    pub(super) const fn new(table: Table<T>) -> Self {
        let quirks = QuirkSet::EMPTY;
        LogState { fill: Fill::EMPTY, live: 0, stale: false, reads: 0, packed: 0, quirks, fault: None, table }
    }
}

impl<T: Rows + ?Sized> LogState<T> {
    /// Returns to the start of a stream.
    pub(super) fn reset(&mut self) {
        (self.fill, self.live, self.stale, self.packed) = (Fill::EMPTY, 0, false, 0);
        (self.reads, self.quirks, self.fault) = (0, QuirkSet::EMPTY, None);
        self.table.reset();
    }

    /// Completes the log after an update was written. Returns the reason if the update was left out.
    #[inline]
    pub(super) fn settle(&mut self, buffer: &mut [u8]) -> Result<(), LogError> {
        self.fill.settle(buffer);
        if self.stale {
            self.pack(buffer);
        }
        self.take_fault()
    }

    /// Takes the reason why a part of the current update was left out.
    pub(super) fn take_fault(&mut self) -> Result<(), LogError> {
        self.fault.take().map_or(Ok(()), Err)
    }

    /// Whether the log may be read, to find whether it has such a value already, which messages repeat, or to join
    /// lists. A sender who repeats a short value in a long log would otherwise make each repetition cost the whole log.
    /// The value is then left out; a later one contains it again.
    #[cold]
    #[inline(never)]
    pub(super) fn may_read(&mut self, value: &[u8]) -> bool {
        let paid = u32::try_from(value.len()).unwrap_or(u32::MAX).saturating_mul(READS);
        self.reads = self.reads.saturating_sub(paid);
        let may = self.reads <= MOST_READS;
        if !may {
            self.fault.get_or_insert(LogError::TooLong);
        }
        may
    }

    /// Saves everything that an update of this choice, and of this call of it, can change.
    pub(super) fn save(&self, choice: u32, call: u32) -> Rollback {
        let LogState { fill, live, stale, reads, quirks, .. } = *self;
        Rollback { fill, table: self.table.save(choice, call), live, stale, reads, quirks }
    }

    /// Undoes an update.
    pub(super) fn restore(&mut self, before: Rollback, buffer: &mut [u8]) {
        let Rollback { fill, table, live, stale, reads, quirks } = before;
        (self.fill, self.live, self.stale, self.reads) = (fill, live, stale, reads);
        (self.quirks, self.fault) = (quirks, None);
        self.table.restore(table);
        // If the last record grew, its length was overwritten.
        self.fill.settle(buffer);
    }

    /// Removes replaced records once the log is twice as long as after the last removal, so that the total time stays
    /// linear.
    #[inline(never)]
    fn pack(&mut self, buffer: &mut [u8]) {
        if self.fill.len <= self.packed.saturating_mul(2).saturating_add(SLACK) {
            return;
        }
        let table = &self.table;
        self.fill.pack(buffer, |record| table.is_live(record));
        self.table.all_live();
        self.place_members(buffer);
        self.stale = false;
        self.packed = self.fill.len;
    }
}

/// A piece of a text that is only appended to.
pub(super) struct AppendedText<'a> {
    /// The kind of its records.
    pub(super) kind: u8,
    /// The number of its call, or 0 if the text belongs to no call.
    pub(super) call: u32,
    pub(super) text: Text<'a>,
}

impl<'a> AppendedText<'a> {
    /// Returns the piece that an update appends, if it appends a text.
    #[inline(always)]
    pub(super) fn of(update: &Update<'a>) -> Option<Self> {
        let (kind, call, text) = match update {
            Update::Content(text) => (kind::CONTENT, 0, *text),
            Update::Reasoning(text) => (kind::REASONING, 0, *text),
            Update::Refusal(text) => (kind::REFUSAL, 0, *text),
            Update::CallArguments { call, text } => (kind::CALL_ARGUMENTS, *call, *text),
            Update::FunctionArguments(text) => (kind::FUNCTION_ARGUMENTS, 0, *text),
            _ => return None,
        };
        Some(AppendedText { kind, call, text })
    }

    /// Returns the key of its records. `place` is the place of its choice.
    #[inline(always)]
    pub(super) fn key(&self, place: u16) -> RecordKey {
        RecordKey::new(self.kind, place, self.call)
    }
}

/// Whether an update appends to a text or a list. If such an update is left out, later ones must be left out, too, so
/// that no text has a gap.
pub(super) fn appends(update: &Update<'_>) -> bool {
    match update {
        Update::CallName { piece, .. } | Update::FunctionName { piece, .. } => *piece == NamePiece::Appends,
        Update::Content(_)
        | Update::Reasoning(_)
        | Update::Refusal(_)
        | Update::CallArguments { .. }
        | Update::FunctionArguments(_)
        | Update::Audio(_)
        | Update::Annotations(_)
        | Update::Signature(_)
        | Update::Media(_)
        | Update::Native(_)
        | Update::Logprobs(_) => true,
        _ => false,
    }
}

/// Writes to a log.
pub(super) struct LogWriter<'w, T: Rows + ?Sized> {
    pub(super) state: &'w mut LogState<T>,
    pub(super) buffer: &'w mut [u8],
}

/// Whether a part is a piece of what a tool of the server does, in Responses. The item has all of it when it is done.
fn is_piece_of_tool(part: Value<'_>) -> bool {
    let member = |name| part.get(name).ok().flatten();
    let kind = member("type").and_then(|kind: Value<'_>| kind.as_text());
    // If only the name of the event has its type, its index tells it from an item.
    Protocol::HAS_READERS && kind.map_or_else(|| member("output_index").is_some(), is_piece)
}

impl<T: Rows + ?Sized> LogWriter<'_, T> {
    fn fail(&mut self, fault: LogError) {
        self.state.fault.get_or_insert(fault);
    }

    /// Appends with `write`, and counts the bytes as live. Returns how many bytes of text it wrote.
    #[inline]
    fn append(&mut self, write: impl FnOnce(&mut Fill, &mut [u8])) -> usize {
        let LogState { fill, live, .. } = &mut *self.state;
        let before = fill.texts;
        write(fill, self.buffer);
        let len = fill.texts.wrapping_sub(before) as usize;
        *live = live.saturating_add(len);
        len
    }

    #[inline]
    fn text(&mut self, key: RecordKey, text: Text<'_>) -> usize {
        if text.is_empty() {
            return 0;
        }
        self.append(|fill, buffer| {
            fill.begin(buffer, key);
            fill.put_text(buffer, text);
        })
    }

    /// Appends a text that no tracker reads, and counts its quirks.
    fn untracked(&mut self, key: RecordKey, text: Text<'_>) -> usize {
        self.state.quirks |= text.quirks();
        self.text(key, text)
    }

    /// Appends a value as sent.
    fn raw(&mut self, key: RecordKey, value: Value<'_>) -> usize {
        self.append(|fill, buffer| {
            fill.begin(buffer, key);
            fill.put(buffer, value.raw());
        })
    }

    /// Appends the elements of an array, rewritten. A value that is not an array becomes one item. Among log
    /// probabilities a bare `NaN` is an element, too.
    fn list(&mut self, key: RecordKey, array: Value<'_>, rewrite: RewriteFn<'_>) {
        if array.kind() != json::ValueKind::Array {
            return self.item(key, array, rewrite);
        }
        self.append(|fill, buffer| {
            let mut at = 0;
            let mut next = || {
                let before = at;
                let item = array.element_at(&mut at).map(|item| item.raw());
                if item.is_none() && key.is_of_logprobs() {
                    at = before;
                    return json::not_a_number_at(array, &mut at);
                }
                item
            };
            while let Some(item) = next() {
                fill.begin(buffer, key);
                rewrite(item, &mut |bytes| fill.put(buffer, bytes));
            }
        });
    }

    /// Appends a value, rewritten, as one item.
    fn item(&mut self, key: RecordKey, value: Value<'_>, rewrite: RewriteFn<'_>) {
        self.append(|fill, buffer| {
            fill.begin(buffer, key);
            rewrite(value.raw(), &mut |bytes| fill.put(buffer, bytes));
        });
    }

    /// Appends a text as one item.
    fn text_item(&mut self, key: RecordKey, text: Text<'_>) {
        self.state.quirks |= text.quirks();
        self.append(|fill, buffer| {
            fill.begin(buffer, key);
            fill.put(buffer, b"\"");
            json::escape_text(text, |bytes| fill.put(buffer, bytes));
            fill.put(buffer, b"\"");
        });
    }

    /// Appends arguments of a call that came by path.
    pub(super) fn partials(&mut self, member: &OtherMember<'_>) {
        let Some(place) = self.state.table.place(member.choice) else { return };
        if self.state.table.call_mut(place, member.call).is_some() {
            self.list(RecordKey::new(kind::CALL_PARTIALS, place, member.call), member.value, &mut json::rewrite);
        }
    }

    /// Notes that the live records of a text are replaced. Returns the new live records, which are empty yet.
    fn replace(&mut self, old: Live) -> Live {
        self.state.stale |= old.len > 0;
        self.state.live = self.state.live.saturating_sub(usize::try_from(old.len).unwrap_or(usize::MAX));
        Live { begin: self.state.fill.seal(self.buffer), len: 0 }
    }

    /// Writes a text in place of another.
    fn replace_text(&mut self, live: &mut Live, key: RecordKey, text: Text<'_>) {
        *live = self.replace(*live);
        live.grow(self.text(key, text));
    }

    /// Writes a member of the top level. The first that is not empty counts.
    pub(super) fn first(&mut self, kind: u8, text: Text<'_>) {
        if !text.is_empty() && !self.state.table.know(kind) {
            self.untracked(RecordKey::new(kind, 0, 0), text);
        }
    }

    /// Appends the entries of `reasoning_details`, or a single entry that is not in an array, if they are new.
    pub(super) fn details(&mut self, member: &OtherMember<'_>) {
        if !self.is_new_of_details(member) {
            return;
        }
        if member.choice == u32::MAX {
            return self.fail(LogError::BadIndex);
        }
        let Some(place) = self.state.table.place_or_new(member.choice) else {
            return self.fail(LogError::TooManyChoices);
        };
        self.list(RecordKey::new(kind::DETAILS, place, 0), member.value, &mut json::rewrite_keeping_halves);
    }

    pub(super) fn put(&mut self, choice: u32, update: &Update<'_>) {
        match update {
            Update::Usage(usage) => {
                let protocol = usage.protocol();
                self.state.table.top.protocol = (protocol != Protocol::Chat).then_some(protocol);
                let mut live = self.replace(self.state.table.top.usage);
                live.grow(self.raw(RecordKey::new(kind::USAGE, 0, 0), usage.value()));
                self.state.table.top.usage = live;
            }
            Update::Error(error) => {
                if !self.state.table.know(kind::ERROR_JSON) {
                    self.failure(kind::ERROR_JSON, 0, error);
                }
            }
            Update::Meta(meta, text) if Meta::ONCE.contains(meta) => self.first(*meta as u8, *text),
            _ => {
                let Some(place) = self.state.table.place_or_new(choice) else {
                    return self.fail(LogError::TooManyChoices);
                };
                let Some(&(mut row)) = self.state.table.choice(place) else { return };
                self.choice(place, &mut row, update);
                if let Some(old) = self.state.table.choice_mut(place) {
                    *old = row;
                }
            }
        }
    }

    fn failure(&mut self, json: u8, place: u16, error: &ApiError<'_>) {
        match (error.value(), error.message()) {
            (Some(value), _) => self.raw(RecordKey::new(json, place, 0), value),
            (None, Some(message)) => self.text(RecordKey::new(kind::error_text(json), place, 0), message),
            (None, None) => 0,
        };
    }

    fn choice(&mut self, place: u16, row: &mut LoggedChoice, update: &Update<'_>) {
        let key = |kind: u8| RecordKey::new(kind, place, 0);
        match update {
            // The roles of other protocols have other names, such as `model`.
            Update::Role(_) if self.state.table.top.is_native => {
                self.replace_text(&mut row.role, key(kind::ROLE), Text::verbatim(b"assistant"));
            }
            Update::Role(text) => self.replace_text(&mut row.role, key(kind::ROLE), *text),
            Update::Finish(reason) => {
                self.replace_text(&mut row.finish_reason, key(kind::FINISH_REASON), reason.in_message());
                // Why a prompt was refused is in the feedback on the prompt, which is not a finish reason.
                if reason.is_native() && !reason.is_of_prompt() {
                    let native = key(kind::NATIVE_FINISH_REASON);
                    self.replace_text(&mut row.native_finish_reason, native, reason.text());
                }
            }
            Update::Meta(Meta::NativeFinishReason, reason) => {
                self.replace_text(&mut row.native_finish_reason, key(kind::NATIVE_FINISH_REASON), *reason);
            }
            Update::Meta(Meta::ReasoningName, name) => {
                if !row.set(flag::REASONING_NAME) {
                    self.untracked(key(kind::REASONING_NAME), *name);
                }
            }
            Update::ChoiceError(error) => {
                if !row.set(flag::ERROR) {
                    self.failure(kind::CHOICE_ERROR_JSON, place, error);
                }
            }
            Update::Logprobs(logprobs) => self.logprobs(place, row, *logprobs),
            Update::Annotations(items) => self.list(key(kind::ANNOTATIONS), *items, &mut json::rewrite),
            Update::Signature(text) => self.text_item(key(kind::SIGNATURES), *text),
            Update::Native(part) if is_piece_of_tool(*part) => {}
            Update::Media(part) | Update::Native(part) => {
                self.item(key(kind::PARTS), *part, &mut json::rewrite);
            }
            Update::FunctionName { text, piece } => {
                row.set(flag::FUNCTION);
                self.name(&mut row.function, key(kind::FUNCTION_NAME), *text, *piece);
            }
            Update::FunctionArguments(text) => {
                row.set(flag::FUNCTION);
                self.text(key(kind::FUNCTION_ARGUMENTS), *text);
            }
            Update::Call(call) => self.call(place, row, call),
            // Ignore updates of a call that was left out.
            Update::CallName { call: number, text, piece } => {
                let Some(mut live) = self.state.table.call_mut(place, *number).map(|call| call.name) else { return };
                self.name(&mut live, RecordKey::new(kind::CALL_NAME, place, *number), *text, *piece);
                if let Some(call) = self.state.table.call_mut(place, *number) {
                    call.name = live;
                }
            }
            Update::CallArguments { call, text } => {
                if self.state.table.call_mut(place, *call).is_some() {
                    self.text(RecordKey::new(kind::CALL_ARGUMENTS, place, *call), *text);
                }
            }
            Update::CallEnd { call, .. } => {
                self.state.table.call_mut(place, *call).into_iter().for_each(|call| call.ended = true);
            }
            Update::Audio(audio) => self.audio(place, row, *audio),
            _ => {
                if let Some(AppendedText { kind, text, .. }) = AppendedText::of(update) {
                    self.text(key(kind), text);
                }
            }
        }
    }

    /// Writes a name, or a piece of one.
    fn name(&mut self, live: &mut Live, key: RecordKey, text: Text<'_>, piece: NamePiece) {
        if piece == NamePiece::Replaces {
            *live = self.replace(*live);
        }
        live.grow(self.text(key, text));
    }

    fn call(&mut self, place: u16, row: &mut LoggedChoice, update: &CallUpdate<'_>) {
        let CallUpdate { call: number, index, opens, reuses, id, kind, custom, empty_arguments } = *update;
        if opens {
            if self.state.table.open_call(place, number, index.unwrap_or(0)).is_none() {
                return self.fail(LogError::TooManyCalls);
            }
            row.calls = row.calls.saturating_add(1);
            if reuses || self.state.table.top.is_native {
                row.set(flag::AS_THEY_CAME);
            }
        }
        // Ignore updates of a call that was left out.
        let Some(call) = self.state.table.call_mut(place, number) else { return };
        call.sent_empty |= empty_arguments;
        if custom {
            self.state.fill.begin(self.buffer, RecordKey::new(kind::CALL_CUSTOM, place, number));
        }
        for (of, text) in [(kind::CALL_ID, id), (kind::CALL_TYPE, kind)] {
            text.map(|text| self.text(RecordKey::new(of, place, number), text));
        }
    }

    fn audio(&mut self, place: u16, row: &mut LoggedChoice, audio: Value<'_>) {
        let text_at = |name| member_of(audio, name).and_then(text_of);
        // In Responses the event itself is the audio, or a piece of the transcript.
        let is_event = Protocol::HAS_READERS && self.state.table.top.is_native;
        let is_transcript = is_event && text_at("type").is_some_and(is_transcript);
        let [data, transcript] = match (is_event, is_transcript) {
            (false, _) => [text_at("data"), text_at("transcript")],
            (true, false) => [text_at("delta"), None],
            (true, true) => [None, text_at("delta")],
        };
        row.set(flag::AUDIO);
        if !row.has(flag::AUDIO_ID) {
            if let Some(id) = text_at("id") {
                row.set(flag::AUDIO_ID);
                self.untracked(RecordKey::new(kind::AUDIO_ID, place, 0), id);
            }
        }
        if let Some(text) = data {
            self.text_item(RecordKey::new(kind::AUDIO_DATA, place, 0), text);
        }
        if let Some(text) = transcript {
            let text = row.transcript_half.take().map_or(text, |half| text.with_lead(half));
            row.transcript_half = text.trailing_half();
            self.untracked(RecordKey::new(kind::AUDIO_TRANSCRIPT, place, 0), text.without_trailing_half());
        }
        if let Some(time) = member_of(audio, "expires_at").and_then(whole_number) {
            row.set(flag::AUDIO_EXPIRES);
            row.expires_at = time;
        }
    }

    fn logprobs(&mut self, place: u16, row: &mut LoggedChoice, logprobs: Value<'_>) {
        if let Some((items, commas)) = tokens::usual_items(logprobs.raw()) {
            row.flags |= flag::LOGPROBS | flag::LISTS;
            self.append(|fill, buffer| {
                fill.begin(buffer, RecordKey::new(kind::LISTS, place, 0));
                fill.put(buffer, items);
                fill.texts = fill.texts.wrapping_sub(commas);
            });
            return;
        }
        let lists = tokens::lists(logprobs);
        if lists.any {
            row.set(flag::LOGPROBS);
        }
        for (list, array) in (0u8..).zip(lists.known) {
            if let Some(array) = array {
                row.set(flag::LISTS.wrapping_shl(u32::from(list)));
                let key = RecordKey::new(kind::LISTS.wrapping_add(list), place, 0);
                let mut is_odd = false;
                self.list(key, array, &mut |raw, put| is_odd |= json::rewrite_not_numbers(raw, put));
                if is_odd {
                    self.state.quirks.insert(Quirk::NotANumber);
                }
            }
        }
    }
}
