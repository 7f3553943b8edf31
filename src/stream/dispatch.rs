//! The end of a block, where the machine decides what the payload is: a chunk, `[DONE]`, a keep-alive, or malformed.

use super::config::{Framing, Payload, Validate};
use super::end::{Pending, DONE};
use super::facts::{Evidence, Failed, RawKind};
use super::found::{Found, Place, Span};
use super::glued::{self, Glued, Lines};
use super::machine::{AfterPiece, Machine};
use super::memo::READ_AHEAD;
use super::state::{After, Ending, EventBlock, StreamState};
use crate::chat::index::{top, ChoiceSet, Hint, Read, SeenChoices};
use crate::chat::read::{plain_text, read};
use crate::chat::Index;
use crate::dialect::{self, Protocol, ReadEvent};
use crate::json::{members_of, JsonError, JsonErrorKind, Text, Value, ValueKind};
use crate::visits::visit;
use crate::{Quirk, Storage};

impl<const SLOTS: usize> Machine<SLOTS> {
    /// Ends the block at a blank line.
    pub(super) fn blank<S: Storage + ?Sized>(&mut self, storage: &mut S, window: &[u8], end: usize) -> AfterPiece {
        if !self.block.open {
            return AfterPiece::Go;
        }
        if self.block.raw && (self.facts.evidence == Evidence::Unknown || self.holds_value_back()) {
            return AfterPiece::Go;
        }
        let end = self.offset.saturating_add(end as u64);
        if self.block.skipping {
            self.end_skipped_block();
            storage.shrink(self.buffer.lasting());
            return self.end_empty_block(end);
        }
        if self.block.skim.is_on() && !self.block.skim.is_over() {
            // The event ended inside the JSON that was reduced.
            let found = self.too_long();
            self.index.frame.1 = end;
            return AfterPiece::Found(self.conclude(found));
        }
        if self.buffer.has_data() {
            self.buffer.adopt(storage);
            return AfterPiece::Found(self.dispatch(storage, window, end, false));
        }
        // A block without data is not an event, but its ID becomes the last event ID.
        let found = if self.buffer.has_id() { Found::LastEventId } else { Found::NeedMore };
        self.buffer.end();
        self.index.frame = (self.block.start, end);
        self.name = Span::EMPTY;
        match self.conclude(found) {
            Found::NeedMore => {
                self.after = After::Nothing;
                self.block = EventBlock::NEW;
                self.end_empty_block(end)
            }
            found => AfterPiece::Found(found),
        }
    }

    /// Ends the block and counts its quirks. Returns `found`, or [`Found::Error`] if one of the quirks is configured as
    /// an error.
    pub(super) fn conclude(&mut self, found: Found) -> Found {
        let quirks = self.block.quirks;
        self.count(quirks);
        if self.after == After::Nothing {
            self.after = After::Release;
        }
        let quirk = if quirks.is_empty() { None } else { quirks.and(self.config.errors).iter().next() };
        match quirk {
            Some(quirk) => {
                self.after = After::Release;
                self.facts.broke_off = true;
                Found::Error(quirk)
            }
            None => found,
        }
    }

    /// Concludes a block whose payload is `[DONE]`.
    pub(super) fn conclude_done(&mut self) -> Found {
        self.flag_event_after_done();
        self.facts.done = true;
        self.conclude(Found::Done)
    }

    /// Flags an event that comes after `[DONE]`.
    fn flag_event_after_done(&mut self) {
        if self.facts.done {
            self.block.quirks.insert(Quirk::EventAfterDone);
        }
    }

    /// Decides what the payload of a complete block is.
    pub(super) fn dispatch<S: Storage + ?Sized>(
        &mut self,
        storage: &mut S,
        window: &[u8],
        end: u64,
        unterminated: bool,
    ) -> Found {
        // A raw value that was held back is a body if the stream ends after it. A line that was cut does not count.
        let is_body = self.block.raw && self.ending == Ending::Over;
        if self.block.raw {
            let quirk = if self.facts.evidence != Evidence::Unknown {
                Quirk::JsonBetweenEvents
            } else if self.facts.raw_values == 0 {
                Quirk::JsonBody
            } else {
                Quirk::Ndjson
            };
            self.block.quirks.insert(quirk);
            self.count_raw_value();
        }
        if unterminated {
            self.block.quirks.insert(Quirk::UnterminatedEvent);
        }
        let frame = (self.block.start, end);
        self.index.frame = frame;
        // The ID of a block with several values waits for the block's end, so a client that reconnects loses none of them.
        let is_block_over = !self.block.quirks.contains(Quirk::SeveralValues);
        let ended = if is_block_over { self.buffer.end() } else { self.buffer.end_value() };
        let (mut data, name_span) = ended.unwrap_or((Span::EMPTY, Span::EMPTY));
        self.name = name_span;
        if self.config.payload == Payload::Opaque {
            self.facts.foreign = true;
            return self.conclude(Found::Sse(data));
        }
        let mut payload = data.of(window, storage);
        if let Some(len) = wrapped(payload).filter(|_| !self.block.raw && self.config.framing == Framing::Lenient) {
            self.block.quirks.insert(Quirk::SeveralValues);
            (_, data) = data.split(len);
            payload = data.of(window, storage);
        }
        let trimmed = payload.trim_ascii();
        visit!(payload.len() - trimmed.len() + 2);
        if trimmed == DONE {
            return self.conclude_done();
        }
        self.flag_event_after_done();
        let name = name_span.of(window, storage);
        let hint = match self.block.error_field || name == b"error" {
            true => Hint::Error,
            false if is_body => Hint::Body,
            false => Hint::None,
        };
        let is_strict = self.config.validate == Validate::Strict;
        if hint != Hint::Error && (trimmed.is_empty() || !is_strict && trimmed.first() == Some(&b':')) {
            self.block.quirks.insert(Quirk::KeepAliveData);
            return self.conclude(Found::KeepAlive(data));
        }
        self.read_payload(storage, window, (data, name_span), hint)
    }

    /// Reads the payload of a block that is neither `[DONE]` nor a keep-alive.
    fn read_payload<S: Storage + ?Sized>(
        &mut self,
        storage: &mut S,
        window: &[u8],
        (data, name_span): (Span, Span),
        hint: Hint,
    ) -> Found {
        let (payload, name) = (data.of(window, storage), name_span.of(window, storage));
        let (frame, is_strict) = (self.index.frame, self.config.validate == Validate::Strict);
        let limits = self.config.limits;
        // Templates are only for an event that is alone in its block and whose framing gives no hint. A chunk of chat
        // completions must also have no name. An event of another protocol must not be a raw value, because its quirks
        // would depend on the values around it.
        let is_known = self.is_native();
        let is_for_template = hint == Hint::None
            && if is_known { !self.block.raw } else { name.is_empty() }
            && !self.block.quirks.contains(Quirk::SeveralValues);
        if SLOTS > 0 && is_for_template && data.place == Place::Input {
            if let (Some(start), Some(end)) = (frame.0.checked_sub(self.offset), frame.1.checked_sub(self.offset)) {
                let event = window.get(start as usize..end as usize).unwrap_or_default();
                let (data_start, len) = data.range();
                self.memo.note_envelope(event, data_start.wrapping_sub(start as usize), len, name);
            }
        }
        // The templates may have been compared with this event before.
        let unknown = self.unknown_at == self.block.start;
        let bytes = (data.with_more(window, storage.bytes(), READ_AHEAD), payload.len());
        let is_known_shape =
            is_for_template && !unknown && self.memo.recognize_payload(&mut self.index, bytes, name, limits.max_depth);
        let read = if is_known_shape && self.report_text(payload) {
            self.note_template_facts();
            self.restore_counts(payload);
            Ok(Read { end: payload.len(), seen: SeenChoices::default(), may_break: false })
        } else {
            self.memo.forget_current();
            let checked = match self.config.validate {
                Validate::Lazy => Ok(()),
                Validate::Strict => crate::json::validate(payload, limits.max_depth),
            };
            let (read, is_native) = match checked {
                Ok(()) if is_known && hint == Hint::None => match self.read_known(payload, name) {
                    Some(read) => (Ok(read), true),
                    None => self.read_any(payload, name, hint),
                },
                Ok(()) => self.read_any(payload, name, hint),
                Err(fault) => (Err(fault), false),
            };
            // Three kinds of events make no template, because their meaning depends on more than the payload: errors
            // without a field, which add another fact than errors in a field; JSON other than chunks, such as a
            // keep-alive or an event that comes before the protocol is known; and events of another protocol than the
            // stream's.
            let is_usual = if is_native { self.index.has_only_text() } else { self.index.facts.chat };
            let is_usual = is_usual && !self.block.quirks.contains(Quirk::ForeignEvent);
            let is_for_template = is_for_template && is_usual && !(self.block.raw && self.index.facts.error);
            let whole = read.as_ref().ok().filter(|read| is_for_template && read.end == payload.len());
            if let Some(Read { seen, .. }) = whole.filter(|_| self.memo.wants()) {
                self.memo.learn(&self.index, payload, name, is_strict, seen);
            }
            read
        };
        // Without strict validation the data of an error may be any text.
        let may_be_text = hint == Hint::Error && !is_strict;
        let lines = match may_be_text {
            true => Lines::Error,
            false if self.block.raw => Lines::Raw,
            false => Lines::Data,
        };
        let fault = read.as_ref().err();
        if let Some(glued) = fault.and_then(|fault| glued::find(payload, *fault, limits.max_depth, lines)) {
            if hint == Hint::Error && !may_be_text {
                self.note_error();
            }
            return self.conclude_broken(storage, window, (data, name_span), glued);
        }
        let mut choices = SeenChoices::default();
        let (found, trailing) = match read {
            Ok(Read { end, seen, .. }) => {
                choices = seen;
                let rest = payload.get(end..).unwrap_or(&[]);
                let more = rest.iter().position(|byte| !matches!(byte, b' ' | b'\t' | b'\n' | b'\r'));
                visit!(more.map_or(rest.len(), |more| more + 1));
                (Found::Chunk(data), more.map(|at| end.saturating_add(at)))
            }
            Err(_) if may_be_text => {
                plain_text(&mut self.index);
                (Found::Chunk(data), None)
            }
            Err(fault) => {
                if hint == Hint::Error {
                    self.note_error();
                }
                if self.block.raw {
                    self.facts.sniff.foreign(payload);
                    self.note_text();
                }
                self.facts.malformed = self.facts.malformed.saturating_add(1);
                (Found::Malformed(data, fault), None)
            }
        };
        if let Found::Chunk(_) = found {
            let facts = self.index.facts;
            if !facts.chat && !facts.error && is_keep_alive(&self.index, payload, name) {
                // Other protocols define such an event, so in them it is not a quirk.
                if !self.is_native() {
                    self.block.quirks.insert(Quirk::KeepAliveData);
                }
                return self.conclude(Found::KeepAlive(data));
            }
            let payload_is_null = self.index.quirks.contains(Quirk::NullChunk) && !facts.chat;
            if !facts.chat && !facts.error && !payload_is_null {
                self.facts.foreign = true;
            }
            if facts.chat && self.dialect.protocol.is_none() {
                self.dialect.protocol = Some(Protocol::Chat);
            }
            self.facts.own_event |= facts.chat;
            self.facts.own_named |= facts.chat && !name.is_empty();
            if facts.error {
                self.note_error();
            }
            if self.block.raw {
                self.facts.raw_kind = self.facts.raw_kind.max(self.raw_kind(payload));
            }
            self.note_choices(&choices);
            self.state.block.quirks |= self.index.quirks;
            if self.index.quirks != self.block.quirks {
                // The framing has quirks too. The index gets them, so it no longer matches a template.
                self.index.quirks = self.block.quirks;
                self.memo.forget_current();
            }
        } else if !name.is_empty() && Protocol::read_here(Protocol::of_type(name)).is_none() {
            self.facts.foreign = true;
            self.facts.protocol = self.facts.protocol.or_else(|| Protocol::of_type(name));
        }
        let Some(at) = trailing else { return self.conclude(found) };
        // The next step reports the bytes after the value. It gets another window, so the payload is stored.
        let Ok((data, name)) = self.buffer.hold(storage, window, (data, name_span)) else { return self.too_long() };
        self.name = name;
        self.facts.malformed = self.facts.malformed.saturating_add(1);
        let (value, rest) = data.split(at as u32);
        self.after = After::Trailing(rest);
        self.conclude(Found::Chunk(value))
    }

    /// Reports the front of a payload as malformed. The next step reads the event behind it.
    #[cold]
    fn conclude_broken<S: Storage + ?Sized>(
        &mut self,
        storage: &mut S,
        window: &[u8],
        (data, name): (Span, Span),
        glued: Glued,
    ) -> Found {
        self.facts.malformed = self.facts.malformed.saturating_add(1);
        // The next step gets another window, so the payload is stored.
        let Ok((data, name)) = self.buffer.hold(storage, window, (data, name)) else { return self.too_long() };
        // The name of an error belongs to the event behind it.
        self.name = if glued.is_error { Span::EMPTY } else { name };
        let (_, rest) = data.split(glued.start as u32);
        let (front, _) = data.split(glued.front as u32);
        self.after = After::Glued { payload: rest, is_error: glued.is_error };
        self.conclude(Found::Malformed(front, JsonError { kind: JsonErrorKind::UnexpectedEnd, offset: glued.front }))
    }

    /// Reads the event behind one that broke off in the same payload.
    #[cold]
    pub(super) fn read_glued<S: Storage + ?Sized>(&mut self, storage: &mut S, payload: Span, is_error: bool) -> Found {
        // The quirks of the block were emitted with its front.
        self.block.quirks = Quirk::SeveralValues.into();
        self.name = Span::EMPTY;
        self.flag_event_after_done();
        self.read_payload(storage, &[], (payload, Span::EMPTY), if is_error { Hint::Error } else { Hint::None })
    }

    /// Notes the choices of an event in the facts.
    #[inline(always)]
    pub(super) fn note_choices(&mut self, choices: &SeenChoices) {
        self.facts.seen.add(choices.all);
        self.facts.finished.add(choices.finished);
    }
}

impl StreamState {
    /// Notes the protocol of an event, unless that of an earlier one is known.
    pub(super) fn note_protocol(&mut self, protocol: Option<Protocol>) {
        if matches!(self.facts.protocol, None | Some(Protocol::Other)) {
            self.facts.protocol = protocol.or(self.facts.protocol);
        }
    }
}

impl<const SLOTS: usize> Machine<SLOTS> {
    /// Reads an event of any protocol. Also returns whether the stream is of another protocol than chat completions,
    /// and that protocol is read.
    fn read_any(&mut self, payload: &[u8], name: &[u8], hint: Hint) -> (Result<Read, JsonError>, bool) {
        let mut read = match read(&mut self.index, payload, hint, self.state.config.limits.max_depth) {
            Ok(read) => read,
            Err(fault) => return (Err(fault), false),
        };
        let mut is_native = false;
        if !self.index.has_choices() || self.is_native() {
            match self.read_native(payload, name, &mut read) {
                Ok(is) => is_native = is,
                Err(fault) => return (Err(fault), false),
            }
        }
        // Without choices nothing else says anything.
        let is_chat = !is_native && (self.index.facts.chat || self.dialect.protocol == Some(Protocol::Chat));
        let says_nothing = is_chat && self.index.choices == 0 && !self.index.facts.error && !self.block.raw;
        let has_kind = !name.is_empty() || self.index.top.has(top::TYPE) || has_usage(&self.index, payload);
        if says_nothing && !has_kind && says_more(payload) {
            self.index.quirks.insert(Quirk::UnknownText);
        }
        (Ok(read), is_native)
    }

    /// Reads an event of the stream's known protocol. Returns `None` if the event may be of another protocol.
    #[inline(never)]
    fn read_known(&mut self, payload: &[u8], name: &[u8]) -> Option<Read> {
        let max_depth = self.config.limits.max_depth;
        let mut seen = SeenChoices::default();
        let mut choice = |index, finished| seen.add(index, finished);
        let mut event = ReadEvent::default();
        let end = dialect::read_known(&mut self.dialect, payload, name, max_depth, &mut choice, &mut event)?;
        self.state.note_protocol(self.state.dialect.protocol);
        self.index.clear();
        self.take(payload, &event);
        Some(Read { end, seen, may_break: true })
    }

    /// Fills the index with an event of another protocol than chat completions, and notes the facts that the event
    /// adds.
    fn take(&mut self, payload: &[u8], event: &ReadEvent<'_>) {
        if event.begins {
            self.facts.finished = ChoiceSet::EMPTY;
        }
        if event.forgets {
            self.memo.forget(event.quirks.contains(Quirk::OddItemIndex));
        }
        self.facts.changed = self.facts.changed.saturating_add(event.changes.into());
        self.block.quirks |= event.quirks;
        self.index.take(payload, event);
        self.facts.ended = Some(self.dialect.ended);
        if self.dialect.protocol == Some(Protocol::Gemini) && self.in_array {
            // Gemini streams as an array where the client did not ask for events.
            self.block.quirks.remove(Quirk::JsonBody);
            self.block.quirks.remove(Quirk::Ndjson);
        }
        if event.fails {
            self.dialect.failed = true;
            self.note_error();
        }
        if self.block.raw && event.is_body && !self.in_array {
            self.facts.raw_kind = self.facts.raw_kind.max(RawKind::Body);
        }
    }

    /// Reads the token counts of an event that a template recognized.
    #[inline]
    pub(super) fn restore_counts(&mut self, payload: &[u8]) {
        // Only templates of Gemini have holes for counts: few events of the other protocols have token counts.
        if self.index.plan.protocol() == Some(Protocol::Gemini) {
            if let Some(counts) = self.memo.counts(&self.index, payload) {
                self.dialect.usage = counts;
            }
        }
    }

    /// Reads an event that is not a chunk, or that came in a stream of another protocol than chat completions. Returns
    /// whether the stream is of such a protocol, and that protocol is read.
    ///
    /// # Errors
    /// An error inside an object that only the reader of that protocol enters.
    #[cold]
    #[inline(never)]
    fn read_native(&mut self, payload: &[u8], name: &[u8], read: &mut Read) -> Result<bool, JsonError> {
        let has_error = self.index.facts.error;
        self.dialect.failed |= has_error;
        let may_be_own = !self.index.has_choices() && !self.index.facts.error_is_whole;
        let own = if may_be_own { Protocol::of(payload, name) } else { None };
        // An event of any protocol may have an error, so an error does not show the protocol.
        let is_known = match own {
            None | Some(Protocol::Other) => self.index.has_choices(),
            own => self.dialect.protocol.is_some() || Protocol::read_here(own).is_some(),
        };
        if has_error && !is_known {
            if self.is_native() {
                // The index has members of a chunk. The protocol in the plan shows that the event is not a chunk.
                self.index.plan.protocol = self.dialect.protocol;
            }
            return Ok(self.is_native());
        }
        if !has_error && is_keep_alive(&self.index, payload, name) {
            return Ok(self.is_native());
        }
        if !self.index.facts.chat && self.index.quirks.contains(Quirk::NullChunk) {
            return Ok(false);
        }
        // An event without choices is a chunk only in a stream of chunks, and not if its object, its type or its other
        // members are of another protocol. Its name is a type, too, unless chunks before it had names: events of chat
        // completions have none.
        let object = self.index.object(payload);
        let is_bare = !self.index.top.has(top::CHOICES)
            && !object.starts_with(b"chat.completion")
            && object != b"text_completion";
        let has_usage = self.index.top.has(top::USAGE);
        let is_named = !matches!(name, b"" | b"message" | b"usage") && !self.facts.own_named;
        let has_kind = is_bare
            && (is_named || !object.is_empty() && !self.block.raw || has_usage && says_more(payload))
            || self.index.top(payload, top::TYPE).and_then(|kind| kind.as_text()).is_some_and(|kind| !kind.is_empty());
        let is_other = is_bare && (has_kind || !self.facts.own_event && (self.facts.foreign || !self.block.raw));
        let is_chunk = self.index.facts.chat && !is_other && matches!(own, None | Some(Protocol::Other));
        let known = if is_chunk { Some(Protocol::Chat) } else { own };
        self.index.facts.chat = is_chunk;
        if !is_chunk {
            self.note_protocol(known);
        }
        // A gateway may send the ID, the model and the time of the response before its first event, but no usage.
        let is_nobodys = is_other && (has_kind || has_usage && !self.block.raw);
        if is_nobodys && !self.is_native() && matches!(own, None | Some(Protocol::Other)) {
            self.index.keep_error();
        }
        let known = known.filter(|known| *known != Protocol::Other);
        // If the protocol is still unknown, the next event may show it.
        let Some(protocol) = self.dialect.protocol.or(known) else { return Ok(false) };
        if self.dialect.protocol.is_none() {
            self.dialect.protocol = Some(protocol);
            // The templates so far were learned without a protocol.
            self.memo.forget(false);
        }
        if known.is_some_and(|known| known != protocol) {
            self.block.quirks.insert(Quirk::ForeignEvent);
            // The deltas and members of such an event do not belong to the response.
            self.index.keep_error();
            if self.is_native() {
                read.seen = SeenChoices::default();
            }
            return Ok(self.is_native());
        }
        if !self.is_native() || !protocol.is_read() {
            return Ok(false);
        }
        let kind = self.index.top(payload, top::TYPE).and_then(|kind| kind.as_text());
        let kind = kind.filter(|kind| !kind.is_empty()).unwrap_or(Text::verbatim(name));
        let seen = &mut read.seen;
        let mut choice = |index, finished| seen.add(index, finished);
        let mut event = ReadEvent::default();
        dialect::read(&mut self.dialect, payload, kind, &mut choice, &mut event)?;
        if has_error {
            event.error = self.index.top(payload, top::ERROR);
        }
        self.take(payload, &event);
        Ok(true)
    }

    /// Decides what a raw JSON value is, by its members.
    fn raw_kind(&self, payload: &[u8]) -> RawKind {
        if self.index.plan.protocol().is_some() {
            return RawKind::Unknown;
        }
        let object = self.index.object(payload);
        if self.index.facts.message && !self.index.facts.delta
            || matches!(object, b"chat.completion" | b"text_completion")
        {
            RawKind::Body
        } else if object.starts_with(b"chat.completion") {
            RawKind::Chunk
        } else {
            RawKind::Unknown
        }
    }

    /// Notes that the event has an error.
    fn note_error(&mut self) {
        let failed = if self.block.raw { Failed::Raw } else { Failed::Field };
        self.facts.failed = self.facts.failed.max(failed);
    }

    /// Whether a payload broke off and has another event behind it.
    fn has_glued(&self, payload: &[u8], lines: Lines) -> bool {
        let max_depth = self.config.limits.max_depth;
        let fault = crate::json::validate(payload, max_depth).err();
        fault.and_then(|fault| glued::find(payload, fault, max_depth, lines)).is_some()
    }

    /// Decides whether the block in which the stream ended is an event. If not, the block is pending.
    pub(super) fn last_block<S: Storage + ?Sized>(&mut self, storage: &mut S) -> Option<Found> {
        if !self.block.open {
            if self.in_array && self.facts.raw_values > 0 {
                self.facts.pending = Pending::Json;
            }
            return None;
        }
        self.buffer.adopt(storage);
        let payload = self.buffer.data_span().of(&[], storage);
        if self.holds_value_back() {
            return Some(self.dispatch_held_value(storage, &[]));
        }
        if self.block.raw {
            self.facts.sniff.foreign(payload);
            // A value that broke off inside a text may have an error behind it.
            if self.has_glued(payload, Lines::Raw) {
                return Some(self.dispatch(storage, &[], self.offset, true));
            }
            self.facts.pending = Pending::Json;
            return None;
        }
        let pending = core::mem::replace(&mut self.facts.pending, Pending::Event);
        let drops = self.config.framing == Framing::Spec || self.config.payload == Payload::Opaque;
        let is_cut = self.block.skim.is_on() && !self.block.skim.is_over();
        if drops || is_cut || self.block.skipping || !self.buffer.has_data() {
            return None;
        }
        let trimmed = payload.trim_ascii();
        visit!(payload.len() - trimmed.len() + 2);
        let is_error = self.block.error_field || self.buffer.name_span().of(&[], storage) == b"error";
        let whole = trimmed == DONE
            || is_error && !trimmed.is_empty() && (!is_cut_json(trimmed) || self.has_glued(payload, Lines::Error))
            || !is_error && {
                self.memo.forget_current();
                let read = read(&mut self.index, payload, Hint::None, self.state.config.limits.max_depth);
                match read {
                    Ok(read) => payload.get(read.end..).unwrap_or(&[]).trim_ascii().is_empty(),
                    // An event that broke off may have a whole one behind it.
                    Err(fault) => glued::find(payload, fault, self.config.limits.max_depth, Lines::Data).is_some(),
                }
            };
        if !whole {
            return None;
        }
        self.facts.pending = pending;
        Some(self.dispatch(storage, &[], self.offset, true))
    }
}

/// Returns how much of a payload is the name of a field: a proxy wrapped the line of a server once more.
fn wrapped(payload: &[u8]) -> Option<u32> {
    let value = payload.strip_prefix(b"data:")?.trim_ascii_start();
    let is_value = value.first() == Some(&b'{') || value == DONE;
    is_value.then_some(payload.len().saturating_sub(value.len()) as u32)
}

/// Whether an event has token counts.
fn has_usage(index: &Index, payload: &[u8]) -> bool {
    index.top(payload, top::USAGE).is_some_and(|usage| usage.kind() == ValueKind::Object)
}

/// Whether an event without choices has a text under a name that other protocols use for one.
#[cold]
fn says_more(payload: &[u8]) -> bool {
    let names = ["output", "result", "response", "text", "content", "message", "delta", "answer"];
    let says = |value: Value<'_>| match value.kind() {
        ValueKind::String | ValueKind::Object | ValueKind::Array => !matches!(value.raw(), b"\"\"" | b"{}" | b"[]"),
        _ => false,
    };
    members_of(Value::of_payload(payload), names).into_iter().flatten().any(says)
}

/// Whether an event only keeps the connection alive, by its type or, without a type, by its name.
fn is_keep_alive(index: &Index, payload: &[u8], name: &[u8]) -> bool {
    let kind = index.top(payload, top::TYPE).and_then(|kind| kind.as_text());
    kind.unwrap_or(Text::verbatim(name)).is_one_of("ping keepalive keep-alive heartbeat")
}

/// Whether an error's payload is JSON that ended too early. Plain text never counts as cut, because nothing shows where
/// it should end.
fn is_cut_json(payload: &[u8]) -> bool {
    let is_cut = |fault: JsonError| fault.kind == JsonErrorKind::UnexpectedEnd;
    matches!(payload.first(), Some(b'{' | b'[' | b'"')) && crate::json::parse_lazy(payload).is_err_and(is_cut)
}
