//! Translates a response: what a parser reads of one protocol becomes the stream of another.

use super::head::Head;
use super::out::{is_json, Out};
use super::state::{bit, State};
use super::thoughts::{text_of, Thought};
use super::{WriteError, Writer};
use crate::chat::{detail_text, ApiError, Chunk, DeltaCursor, FinishReason, OtherMember, Owner, Update};
use crate::delta::{Delta, FinishKind, Kind};
use crate::json::Text;
use crate::stream::{Context, Emitter, Outcome, Parser, Protocol, Put, ShortText, Sink, Stop, Track};
use crate::{Error, Storage};

/// How many choices a stream may have.
const CHOICES: usize = 64;

/// A finish reason that is no word of chat completions.
type OwnReason = (u32, FinishKind, ShortText<40>);

/// Translates one response: a [`Writer`] that also knows what only a whole response tells.
///
/// - The ID, the model and the time are those of the response, if the head has none (0). If the response has none either,
///   they are `response`, `unknown` and 0.
/// - A finish reason waits for the end of the stream, because some servers send more after one. A choice without one
///   finished with `stop`, or with `tool_calls` if it has a call, if the response [is whole](crate::End::is_complete). Any
///   other response ends with an error event.
/// - Signatures and redacted reasoning keep their place, whatever a protocol calls them.
/// - What has no place is [counted](Self::left_out).
///
/// Bytes go in, bytes come out, in the caller's memory. The results do not depend on how either is cut.
///
/// ```
/// use deltawire::stream::Protocol;
/// use deltawire::write::{Head, Out, Translator, WriteError};
/// use deltawire::Parser;
///
/// let read = b"data: {\"id\":\"c1\",\"choices\":[{\"delta\":{\"content\":\"Hi\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
/// let mut parser = Parser::new([0; 4096]); // an event that is longer is skipped: the response is not complete
/// let mut translator = Translator::new(Protocol::Anthropic, &Head::new("", "", 0), [0; 1024])?;
/// let mut buffer = [0; 2048];
/// let mut out = Out::new(&mut buffer);
/// translator.feed(&mut parser, &mut &read[..], &mut out)?;
/// translator.finish(&mut parser, &mut out)?;
/// assert!(out.written().ends_with(b"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"));
/// # Ok::<(), WriteError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Translator<M> {
    writer: Writer<M>,
    emitter: Emitter,
    /// Whether ID, model and time are those of the response, and did not come yet.
    takes: [bool; 3],
    /// Whether they are settled, because an update followed.
    is_named: bool,
    /// The choices that came, as bits.
    seen: u64,
    /// Whether a choice came that the protocol has a place for.
    has_choice: bool,
    /// Whether a text or a part of a call was lost.
    is_broken: bool,
    /// The number of the finish reason of each choice, or 0.
    reasons: [u8; CHOICES],
    own_reasons: [Option<OwnReason>; 4],
    without_place: u64,
    lost: u64,
    /// 0, or one more than the updates of the members of the present chunk that were written; and which choices came before it.
    written: u32,
    before: u64,
    /// The choices whose reasoning of the present chunk was written with its signatures, and those that had signatures.
    skips: u64,
    signed: u64,
}

impl<M: AsMut<[u8]>> Translator<M> {
    /// Creates a translator to chat completions, Responses or Anthropic Messages. The memory is that of a
    /// [`Writer`].
    ///
    /// # Errors
    ///
    /// Those of [`Writer::new`].
    pub fn new(protocol: Protocol, head: &Head<'_>, memory: M) -> Result<Self, WriteError> {
        Ok(Translator {
            writer: Writer::new(protocol, head, memory)?,
            emitter: Emitter::new(),
            takes: [head.id.is_empty(), head.model.is_empty(), head.created == 0],
            is_named: false,
            seen: 0,
            has_choice: false,
            is_broken: false,
            reasons: [0; CHOICES],
            own_reasons: [None; 4],
            without_place: 0,
            lost: 0,
            written: 0,
            before: 0,
            skips: 0,
            signed: 0,
        })
    }

    /// Reads the bytes of the response, and writes what becomes of them. `input` becomes what was not read.
    ///
    /// # Errors
    ///
    /// After [`NeedRoom`](WriteError::NeedRoom) send what `out` has, and after [`NeedMemory`](WriteError::NeedMemory) give
    /// the writer longer [memory](Self::writer_mut). Then call again with the same input, which more bytes may follow. Input
    /// after the end, and other input than the call before left, is [`Ended`](WriteError::Ended). There are no other
    /// errors: what cannot be written is [counted](Self::left_out).
    pub fn feed<S: Storage, T: Track, const SLOTS: usize>(
        &mut self,
        parser: &mut Parser<S, SLOTS, T>,
        input: &mut &[u8],
        out: &mut Out<'_>,
    ) -> Result<(), WriteError> {
        while self.emit(out, |emitter, sink| {
            let (consumed, outcome) = parser.emit(emitter, input, sink);
            let before = core::mem::take(input);
            *input = before.get(consumed..).unwrap_or_default();
            outcome
        })? {}
        Ok(())
    }

    /// Ends the stream as the response ended.
    ///
    /// # Errors
    ///
    /// As [`feed`](Self::feed): call again.
    pub fn finish<S: Storage, T: Track, const SLOTS: usize>(
        &mut self,
        parser: &mut Parser<S, SLOTS, T>,
        out: &mut Out<'_>,
    ) -> Result<(), WriteError> {
        while self.emit(out, |emitter, sink| parser.emit_end(emitter, sink))? {}
        match self.end(out, parser.end().is_complete()) {
            Err(error) if error.is_need() => Err(error),
            _ => Ok(()),
        }
    }

    /// Calls the emitter. Returns whether an event that is an error stopped it.
    #[inline(never)]
    fn emit(
        &mut self,
        out: &mut Out<'_>,
        emit: impl FnOnce(&mut Emitter, &mut TranslateSink<'_, '_, M>) -> Outcome,
    ) -> Result<bool, WriteError> {
        let mut emitter = core::mem::take(&mut self.emitter);
        let mut sink = self.sink(out);
        let outcome = emit(&mut emitter, &mut sink);
        let need = sink.need();
        self.emitter = emitter;
        match outcome {
            Outcome::Resume | Outcome::Stopped(Stop::Error(Error::Finished { .. })) => Err(WriteError::Ended),
            _ => need.map_or(Ok(matches!(outcome, Outcome::Stopped(_))), Err),
        }
    }

    /// Returns the sink that writes to `out`, for an [`Emitter`].
    pub fn sink<'t, 'b>(&'t mut self, out: &'t mut Out<'b>) -> TranslateSink<'t, 'b, M> {
        TranslateSink { translator: self, out, need: None }
    }

    /// Takes from a chunk what is no update: the names of the response, and the members that no update is made of.
    /// [`feed`](Self::feed) does this; a program that has a [handler](crate::Handler) calls it for each chunk,
    /// [`put`](Self::put) for each update, and [`end`](Self::end).
    ///
    /// # Errors
    ///
    /// [`NeedRoom`](WriteError::NeedRoom) and [`NeedMemory`](WriteError::NeedMemory): call again.
    #[inline(always)]
    pub fn chunk(&mut self, out: &mut Out<'_>, chunk: &Chunk<'_>) -> Result<(), WriteError> {
        if self.is_named && self.skips == 0 && !chunk.index().facts.others {
            return Ok(());
        }
        self.begin(out, chunk)
    }

    #[inline(never)]
    fn begin(&mut self, out: &mut Out<'_>, chunk: &Chunk<'_>) -> Result<(), WriteError> {
        if !self.is_named && !chunk.index().facts.is_foreign() {
            self.name(chunk)?;
        }
        if self.written == 0 {
            (self.before, self.skips, self.written) = (self.seen, 0, 1);
        }
        let (mut place, mut skips, mut signed) = (1, 0, 0);
        // Events that are none of a response have nothing to leave out.
        for member in chunk.other_members().filter(|_| chunk.is_completion()) {
            let own = bit(member.choice);
            if member.owner != Owner::Delta || member.name != "reasoning_details" {
                self.write(out, &mut place, member.choice, &Update::Member(member))?;
            } else if !member.in_message || (self.signed | signed) & own == 0 {
                let is_new = !member.in_message || self.before & own == 0;
                if self.details(out, &mut place, chunk, &member, is_new)? {
                    (skips, signed) = (skips | if is_new { own } else { 0 }, signed | own);
                }
            }
        }
        (self.written, self.skips, self.signed) = (0, skips, self.signed | signed);
        Ok(())
    }

    /// Writes the signatures and the redacted reasoning of `reasoning_details` and, if it `is_new`, the reasoning of the chunk,
    /// which they belong to. Returns `false`, with no effect, if there are none.
    fn details(
        &mut self,
        out: &mut Out<'_>,
        place: &mut u32,
        chunk: &Chunk<'_>,
        member: &OtherMember<'_>,
        is_new: bool,
    ) -> Result<bool, WriteError> {
        let choice = member.choice;
        let entries = || {
            let mut at = 0;
            core::iter::from_fn(move || member.value.element_at(&mut at))
        };
        if !entries().any(|entry| Thought::of(&Update::Native(entry)).is_some()) {
            return Ok(false);
        }
        let is_apart = !entries().any(|entry| detail_text(entry).is_some());
        let mut cursor = DeltaCursor::new();
        while let Some(delta) = cursor.next_of_any(chunk.payload(), chunk.index()).filter(|_| is_apart && is_new) {
            if (delta.kind, delta.choice) == (Kind::Reasoning, choice) {
                self.write(out, place, choice, &Update::Reasoning(delta.text.text(chunk.payload())))?;
            }
        }
        for entry in entries() {
            match detail_text(entry) {
                Some(text) => {
                    if is_new {
                        self.write(out, place, choice, &Update::Reasoning(text))?;
                    }
                    if let Some(signature) = text_of(entry, "signature") {
                        self.write(out, place, choice, &Update::Signature(signature))?;
                    }
                }
                None => self.write(out, place, choice, &Update::Native(entry))?,
            }
        }
        Ok(true)
    }

    /// Writes an update that a chunk's members make, unless it was written when the chunk came before. `place` counts them.
    fn write(
        &mut self,
        out: &mut Out<'_>,
        place: &mut u32,
        choice: u32,
        update: &Update<'_>,
    ) -> Result<(), WriteError> {
        *place = place.saturating_add(1);
        if *place <= self.written {
            return Ok(());
        }
        let has_place = match update {
            // What is no JSON is left out, not the end of the stream.
            Update::Native(entry) => self.state().protocol != Protocol::Chat || is_json(*entry),
            Update::Member(OtherMember { owner, name, value, .. }) => match self.state().protocol {
                Protocol::Chat => *owner != Owner::Chunk && is_json(*value),
                Protocol::Anthropic => *owner == Owner::Choice && *name == "stop_sequence",
                _ => false,
            },
            _ => true,
        };
        let result = if has_place { self.put_any(out, choice, update) } else { self.note(Err(WriteError::NoPlace)) };
        match result {
            Err(error) if error.is_need() => Err(error),
            _ => {
                self.written = *place;
                Ok(())
            }
        }
    }

    #[inline(never)]
    fn name(&mut self, chunk: &Chunk<'_>) -> Result<(), WriteError> {
        let Writer { memory, state } = &mut self.writer;
        let [id, model, created] = self.takes;
        let names = [chunk.id().filter(|_| id), chunk.model().filter(|_| model)];
        let names = names.map(|name| name.filter(|name| !name.is_empty()));
        let time = chunk.created().filter(|time| created && *time > 0);
        state.name(memory.as_mut(), names, time.unwrap_or(state.head.created))?;
        // The first of each counts.
        self.takes = [id && names[0].is_none(), model && names[1].is_none(), created && time.is_none()];
        Ok(())
    }

    /// Writes an update of a choice, or keeps it for the end.
    ///
    /// # Errors
    ///
    /// As [`Writer::put`]. What is left out is also counted.
    #[inline(always)]
    pub fn put(&mut self, out: &mut Out<'_>, choice: u32, update: &Update<'_>) -> Result<(), WriteError> {
        let is_text = matches!(update, Update::Content(_) | Update::Reasoning(_) | Update::CallArguments { .. });
        if is_text && self.is_named && self.seen & !self.skips & bit(choice) != 0 {
            let result = self.writer.put(out, choice, update);
            return if result.is_ok() { result } else { self.note_part(result) };
        }
        if matches!(update, Update::Reasoning(_)) && self.skips & bit(choice) != 0 {
            return Ok(());
        }
        self.put_any(out, choice, update)
    }

    #[inline(never)]
    fn put_any(&mut self, out: &mut Out<'_>, choice: u32, update: &Update<'_>) -> Result<(), WriteError> {
        let place = (choice as usize).min(CHOICES);
        let is_written = choice == 0 || self.state().protocol == Protocol::Chat;
        match (update, self.reasons.get_mut(place).filter(|_| is_written)) {
            (Update::Usage(_) | Update::Error(_) | Update::CallEnd { .. }, _) | (_, None) => {}
            (Update::ChoiceError(_), Some(_)) => (self.seen, self.has_choice) = (self.seen & !bit(choice), true),
            (Update::Finish(reason), Some(_)) => {
                self.hold(choice, reason);
                return Ok(());
            }
            (_, Some(held)) => {
                if matches!(update, Update::Call(_)) && *held == 0 {
                    *held = FinishKind::ToolCalls as u8;
                }
                (self.seen, self.has_choice) = (self.seen | bit(choice), true);
            }
        }
        let result = self.open().and_then(|()| self.writer.put(out, choice, update));
        match update {
            Update::Content(_) | Update::Reasoning(_) | Update::Refusal(_) => self.note_part(result),
            Update::Call(_) | Update::CallName { .. } | Update::CallArguments { .. } => self.note_part(result),
            _ => self.note(result),
        }
    }

    /// Counts a part of the response that was left out. If it is lost, the response cannot end as a whole one.
    #[inline(never)]
    fn note_part(&mut self, result: Result<(), WriteError>) -> Result<(), WriteError> {
        let before = self.lost;
        let result = self.note(result);
        self.is_broken |= self.lost > before;
        result
    }

    /// Names a response that has no names, before the first event.
    fn open(&mut self) -> Result<(), WriteError> {
        if !self.is_named {
            let Writer { memory, state } = &mut self.writer;
            let or = |len: u32, name: &'static str| (len == 0).then_some(Text::verbatim(name.as_bytes()));
            let names = [or(state.id.len, "response"), or(state.model.len, "unknown")];
            state.name(memory.as_mut(), names, state.head.created)?;
            self.is_named = true;
        }
        Ok(())
    }

    /// Keeps the finish reason of a choice for the end of the stream.
    fn hold(&mut self, choice: u32, reason: &FinishReason<'_>) {
        let (kind, is_chat) = (reason.kind(), self.state().protocol == Protocol::Chat);
        let word = if is_chat { reason.in_message() } else { reason.text() };
        (self.seen, self.has_choice) = (self.seen | bit(choice), true);
        if let Some(held) = self.reasons.get_mut(choice as usize) {
            *held = kind as u8;
        }
        let own = kind.word().is_none_or(|usual| word != usual).then(|| (choice, kind, ShortText::of(&word)));
        let is_its = |row: &&mut Option<OwnReason>| row.as_ref().is_some_and(|(of, ..)| *of == choice);
        let rows = &mut self.own_reasons;
        if let Some(row) = rows.iter_mut().find(is_its) {
            *row = own;
        } else if let Some(row) = rows.iter_mut().find(|row| row.is_none()) {
            *row = own;
        }
    }

    /// Ends the stream: with the finish reasons if the response is complete, and nothing of its texts and calls was lost,
    /// else with an error event. Writes nothing if the response has nothing.
    ///
    /// # Errors
    ///
    /// As [`put`](Self::put).
    pub fn end(&mut self, out: &mut Out<'_>, is_complete: bool) -> Result<(), WriteError> {
        if !self.is_named && self.seen == 0 {
            return Ok(());
        }
        self.open()?;
        let fault: &[u8] = match (is_complete, self.is_broken, self.has_choice) {
            (false, ..) => b"the response is not complete",
            (_, true, _) => b"a part of the response could not be written",
            (.., false) => b"the response has no choice that could be written",
            (true, false, true) => b"",
        };
        if !fault.is_empty() {
            let result = self.writer.fail(out, &ApiError::plain(fault));
            return self.note(result);
        }
        let mut left_out = Ok(());
        while self.seen != 0 {
            let choice = self.seen.trailing_zeros();
            let result = self.finish_choice(out, choice);
            match self.note(result) {
                Err(error) if error.is_need() => return Err(error),
                result => left_out = left_out.and(result),
            }
            self.seen &= !bit(choice);
        }
        let result = self.writer.finish(out);
        left_out.and(self.note(result))
    }

    fn finish_choice(&mut self, out: &mut Out<'_>, choice: u32) -> Result<(), WriteError> {
        let own = self.own_reasons.iter().flatten().find(|(of, ..)| *of == choice);
        let reason = match own {
            Some((_, kind, word)) => {
                let text = Text::verbatim(word.as_str().as_bytes());
                match self.writer.state.protocol {
                    Protocol::Chat => FinishReason::of(text),
                    _ => FinishReason::native(text, kind.number(), false),
                }
            }
            // `[DONE]` ends a response whose choices have no finish reason, too.
            None => FinishReason::new(match self.reasons.get(choice as usize) {
                None | Some(0) => FinishKind::Stop,
                Some(kind) => FinishKind::from_number(u32::from(*kind)),
            }),
        };
        self.writer.put(out, choice, &Update::Finish(reason))
    }

    /// Counts what was left out. What follows an error that ended the stream is none of that.
    #[inline(never)]
    fn note(&mut self, result: Result<(), WriteError>) -> Result<(), WriteError> {
        match result {
            Err(WriteError::Ended) => return Ok(()),
            Err(WriteError::NoPlace) => self.without_place = self.without_place.saturating_add(1),
            Err(error) if !error.is_need() => self.lost = self.lost.saturating_add(1),
            _ => {}
        }
        result
    }

    fn state(&self) -> &State {
        &self.writer.state
    }

    /// Returns how many updates were left out: those that the protocol [has no place](WriteError::NoPlace) for, and those
    /// that could not be written for another reason, which are lost.
    pub fn left_out(&self) -> (u64, u64) {
        (self.without_place, self.lost)
    }

    /// Returns the writer.
    pub fn writer(&self) -> &Writer<M> {
        &self.writer
    }

    /// Returns the writer, for its [memory](Writer::memory_mut), to [keep the connection alive](Writer::keep_alive), or to
    /// [end the stream](Writer::fail) with an error of the program's own.
    pub fn writer_mut(&mut self) -> &mut Writer<M> {
        &mut self.writer
    }
}

/// The sink of a [`Translator`], for the deltas of an [`Emitter`].
#[derive(Debug)]
pub struct TranslateSink<'t, 'b, M> {
    translator: &'t mut Translator<M>,
    out: &'t mut Out<'b>,
    need: Option<WriteError>,
}

impl<M> TranslateSink<'_, '_, M> {
    /// Returns what the sink needs, if it is full: [`NeedRoom`](WriteError::NeedRoom) or
    /// [`NeedMemory`](WriteError::NeedMemory).
    pub fn need(&self) -> Option<WriteError> {
        self.need
    }
}

impl<M: AsMut<[u8]>> Sink for TranslateSink<'_, '_, M> {
    #[inline(always)]
    fn wants(&self, kind: Kind) -> bool {
        !matches!(kind, Kind::Frame | Kind::Payload | Kind::Meta)
    }

    #[inline(always)]
    fn put(&mut self, context: &Context<'_>, delta: &Delta, _: &mut usize) -> Put {
        let result = if delta.kind == Kind::Chunk {
            context.chunk().map_or(Ok(()), |chunk| self.translator.chunk(self.out, chunk))
        } else {
            match Update::of(delta, context.payload()) {
                Some(update) => self.translator.put(self.out, delta.choice, &update),
                None => Ok(()),
            }
        };
        match result {
            Err(error) if error.is_need() => {
                self.need = Some(error);
                Put::Full
            }
            _ => Put::Go,
        }
    }
}
